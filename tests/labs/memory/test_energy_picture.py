"""The picture of what AXPY, GEMV and GEMM pay for: its bars, its crossing, its words."""

from __future__ import annotations

from typing import Any

import pytest

import rooflab as rl
from rooflab.labs.memory.energies.picture import EDGE, SIZES
from tests.support.scenes import named, some_states, texts


@pytest.fixture(scope="module")
def picture() -> Any:
    return rl.memory.energy_bars(start=1024)


@pytest.mark.parametrize("sheet", [0, 1])
def test_a_bar_is_cut_by_the_shares_of_the_bill(picture: Any, sheet: int) -> None:
    scene = picture.sheets[sheet]
    room = scene.width - 2 * EDGE
    make = (lambda n: rl.axpy(n * n), lambda n: rl.gemv(n, n), lambda n: rl.gemm(n, n, n))
    for state in some_states(scene):
        n, way = SIZES[state["n"]], state["paid"]
        paid = {
            "dram": {}, "l1": {"operands": "l1"}, "instructions": {"operands": "l1", "lanes": 1},
            "simd": {"operands": "l1", "lanes": 16},
        }[way]  # fmt: skip
        for row, op in enumerate(one(n) for one in make):
            bill, left = rl.memory.energy(op, **paid), float(EDGE)
            for part in ("dram", "l1", "arithmetic", "instructions"):
                x, _, long, _ = scene.value(named(scene, f"bar {part}")[row], "box", **state)
                assert (x, long) == pytest.approx((left, room * bill.share(part)), abs=1e-6)
                left += long
            assert left == pytest.approx(EDGE + room)


def test_where_gemms_arithmetic_overtakes_dram(picture: Any) -> None:
    """3 · 650 pJ of DRAM words against 4.6 pJ a multiply-add: N = 424; by the ladder 392."""
    assert "they are equal at N = 424." in picture.sentence
    assert "equal at N = 424" in texts(picture, "named")
    assert "N = 392." in rl.memory.energy_bars("rounded-45nm").sentence
    small, large = (picture.scene.sentence(n=n) for n in (0, len(SIZES) - 1))
    assert "arithmetic costs less than its bytes" in small
    assert "arithmetic costs more than its bytes" in large


def test_operands_from_l1_make_moving_dear_however_large_a_product_is(picture: Any) -> None:
    """What lesson 06 says of the button + L1 at the largest N."""
    assert SIZES[-1] == 8192
    assert "81 % of GEMM's" in picture.scene.sentence(n=len(SIZES) - 1, paid="l1")


def test_its_sentence_is_the_bill_in_words(picture: Any) -> None:
    assert picture.sentence == (
        "N = 1024. Paid for: DRAM, arithmetic. Moving data takes 99.76 % of AXPY's 2.05 mJ, "
        "99 % of GEMV's 688 µJ and 29 % of GEMM's 6.98 mJ. GEMM's arithmetic costs more than its "
        "bytes from DRAM: they are equal at N = 424."
    )


def test_a_table_without_instructions_has_two_buttons() -> None:
    seven = rl.memory.energy_bars("tpuv4i-7nm", "bf16")
    (choice,) = [one for one in seven.scene.controls if one["kind"] == "choice"]
    assert choice["labels"] == ["DRAM", "+ L1"]
    assert not [mark for mark in seven.scene.marks if "instructions" in mark.name]


def test_the_slider_starts_at_the_nearest_size() -> None:
    assert SIZES[rl.memory.energy_bars(start=1000).n] == 1024
    assert SIZES[rl.memory.energy_bars(start=1).n] == 16


def test_bad_input() -> None:
    for given, said in [
        ({"start": 0}, "start=0"), ({"lanes": 0}, "lanes=0"), ({"dtype": "fp64"}, "dtype='fp64'"),
        ({"table": "x"}, "table='x'"),
    ]:  # fmt: skip
        with pytest.raises(ValueError, match=said):
            rl.memory.energy_bars(**given)

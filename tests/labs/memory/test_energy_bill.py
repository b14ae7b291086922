"""The energy bill: published sums first, then what must hold for every operation."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import rooflab as rl
from tests.support.rows import each_row

PJ, UJ = 1e-12, 1e-6
LADDER = "rounded-45nm"  # Dally's 640, 50, 5 pJ for a word; Horowitz's arithmetic rounded


# What was published, and what follows from it by hand.


def test_a_sum_from_dram_is_nearly_all_movement() -> None:
    """Three words of 640 pJ and an addition of 0.9: 1920.9 pJ, arithmetic 0.047 %."""
    bill = rl.memory.energy(rl.elementwise("add", 1), LADDER, arithmetic="add")
    assert bill.joules == pytest.approx(1920.9 * PJ)
    assert bill.share("arithmetic") == pytest.approx(0.00047, abs=5e-6)
    assert bill.share_of_movement == pytest.approx(1920 / 1920.9)


@each_row((100, 19.2, 4.9), (1024, 2013, 5261))
def test_gemm_with_ideal_reuse(n: int, dram: float, arithmetic: float) -> None:
    """3N² words from DRAM, N³ multiply-adds; microjoules as published, to four digits."""
    bill = rl.memory.energy(rl.gemm(n, n, n), LADDER)
    assert bill.parts == pytest.approx({"dram": dram * UJ, "arithmetic": arithmetic * UJ}, rel=3e-4)


def test_without_reuse_gemm_pays_two_words_for_every_multiply_add() -> None:
    """N = 100: 2 million words of 640 pJ are 1280 µJ; the published 1293 adds C's two trips."""
    op = rl.gemm(100, 100, 100)
    bill = rl.memory.energy(op, LADDER, operands="dram")
    assert bill.parts["dram"] == pytest.approx(1280 * UJ)
    stated = rl.memory.energy(op, LADDER, traffic={"dram": 4 * (2 * 100**3 + 2 * 100**2)})
    assert stated.parts["dram"] == pytest.approx(1293 * UJ, rel=2e-4)


def test_an_instruction_dwarfs_the_addition_it_does() -> None:
    """70 pJ around 0.1: the arithmetic of a 32-bit integer addition is 0.14 %, of fp32 1.3 %."""
    for dtype, share in (("int32", 0.0014), ("fp32", 0.0127)):
        op = rl.elementwise("add", 1000, dtype)
        bill = rl.memory.energy(op, "horowitz-45nm", arithmetic="add", lanes=1)
        core = bill.parts["arithmetic"] / (bill.parts["arithmetic"] + bill.parts["instructions"])
        assert core == pytest.approx(share, abs=5e-5)


def test_lanes_divide_the_instructions_and_nothing_else() -> None:
    one, sixteen = (rl.memory.energy(rl.axpy(1600), lanes=lanes) for lanes in (1, 16))
    assert one.parts["instructions"] == pytest.approx(1600 * 70 * PJ)
    assert sixteen.parts["instructions"] == pytest.approx(100 * 70 * PJ)
    for part in ("dram", "arithmetic"):
        assert one.parts[part] == sixteen.parts[part]


def test_a_token_of_gpt2_from_hbm2_is_paid_by_its_bytes() -> None:
    """One token reads all weights and the cache once, in bf16: 250 pJ for 64 bits."""
    step = rl.model("gpt2").decode(1, 1024)
    bill = rl.memory.energy_of([(one.op, one.count) for one in step.steps], "tpuv4i-7nm")
    assert bill.parts["dram"] == pytest.approx(step.bytes * 250 * PJ / 8)
    assert bill.flops == step.flops
    assert bill.share_of_movement > 0.99


# What must hold for every operation.

SIZES = st.integers(1, 5000)
OPS = st.one_of(
    st.builds(rl.axpy, SIZES),
    st.builds(rl.gemv, SIZES, SIZES),
    st.builds(rl.gemm, SIZES, SIZES, SIZES),
)


@given(OPS, st.sampled_from(["horowitz-45nm", LADDER, "tpuv4i-7nm"]))
def test_a_bill_is_the_sum_of_its_parts(op: rl.Operation, table: str) -> None:
    bill, costs = rl.memory.energy(op, table), rl.memory.energy_table(table)
    by_hand = op.bytes * costs.per_byte("dram") + op.flops / 2 * costs.per_operation("fp32")
    assert bill.joules == pytest.approx(by_hand)
    assert bill.share_of_movement + bill.share("arithmetic") == pytest.approx(1)
    assert sum(bill.share(part) for part in bill.parts) == pytest.approx(1)
    assert bill.per_flop * op.flops == pytest.approx(bill.joules)


@given(OPS, OPS)
def test_energies_add_up(first: rl.Operation, second: rl.Operation) -> None:
    both = rl.memory.energy_of([first, (second, 2)])
    one, other = rl.memory.energy(first), rl.memory.energy(second)
    assert both.joules == pytest.approx(one.joules + 2 * other.joules)
    assert both.flops == first.flops + 2 * second.flops


@given(OPS)
def test_operands_from_a_level_are_never_less_than_the_minimum(op: rl.Operation) -> None:
    bill = rl.memory.energy(op, operands="l1")
    moved = bill.parts["l1"] / rl.memory.energy_table().per_byte("l1")
    assert moved == pytest.approx(max(op.bytes, 4 * op.flops))  # two words for two FLOP


def test_traffic_that_is_stated_is_what_is_paid() -> None:
    op = rl.gemm(64, 64, 64).with_traffic({"l2": 100_000, "dram": 60_000})
    table = rl.memory.energy_table()
    bill = rl.memory.energy(op, traffic={"dram": 70_000}, operands="l2")
    assert bill.parts["l2"] == pytest.approx(100_000 * table.per_byte("l2"))
    assert bill.parts["dram"] == pytest.approx(70_000 * table.per_byte("dram"))
    assert [*bill.parts] == ["dram", "l2", "arithmetic"]  # far memory first


def test_a_copy_costs_bytes_and_no_arithmetic() -> None:
    x = rl.Operand("x", (1000,), "fp32", reads=1, writes=1)
    bill = rl.memory.energy(rl.Operation("copy", {"n": 1000}, (x,), 0, "fp64"))
    assert bill.parts["arithmetic"] == 0
    assert bill.per_flop == math.inf
    assert "a FLOP" not in str(bill)


def test_words() -> None:
    bill = rl.memory.energy(rl.gemm(1024, 1024, 1024), LADDER)
    assert (
        str(bill) == "gemm 1024×1024×1024 fp32: 7.27 mJ, 3.39 pJ a FLOP, 28 % of it for moving data"
    )
    lines = repr(bill).splitlines()
    assert lines[0].endswith("(rounded-45nm)")
    assert [line.split()[0] for line in lines[1:]] == ["dram", "arithmetic"]
    nearly = rl.memory.energy(rl.elementwise("add", 1), LADDER, arithmetic="add")
    assert "99.95 %" in str(nearly)


# Bad input.

OP = rl.axpy(10)


@each_row(
    (lambda: rl.memory.energy("axpy"), TypeError, "op='axpy' must be an Operation"),
    (lambda: rl.memory.energy(OP, "nope"), ValueError, "table='nope' is unknown"),
    (lambda: rl.memory.energy(OP, lanes=0), ValueError, "lanes=0"),
    (lambda: rl.memory.energy(OP, lanes=True), TypeError, "lanes=True is a bool"),
    (lambda: rl.memory.energy(OP, "tpuv4i-7nm", lanes=1), ValueError, "leave lanes out"),
    (lambda: rl.memory.energy(OP, arithmetic="div"), ValueError, "arithmetic='div'"),
    (lambda: rl.memory.energy(OP, operands="l9"), ValueError, "level='l9'"),
    (lambda: rl.memory.energy(OP, operands="l3"), ValueError, "no figure for it"),
    (lambda: rl.memory.energy(OP, traffic={"l1": -1}), ValueError, r"traffic\['l1'\]=-1"),
    (lambda: rl.memory.energy(OP, traffic=5), TypeError, "traffic=5 must be a mapping"),
    (lambda: rl.memory.energy(rl.axpy(10, "fp64")), ValueError, "dtype='fp64'"),
    (lambda: rl.memory.energy_of(OP), TypeError, "goes to energy"),
    (lambda: rl.memory.energy_of([]), ValueError, "ops is empty"),
    (lambda: rl.memory.energy_of([(OP, 0)]), ValueError, "count=0"),
    (lambda: rl.memory.energy_of([1]), TypeError, "op=1 must be an Operation"),
    (lambda: rl.memory.energy(OP).share("l7"), ValueError, "part='l7'"),
    (lambda: rl.memory.Energy({"l7": 1.0}, 1), ValueError, "parts='l7'"),
    (lambda: rl.memory.Energy({"l1": -1.0}, 1), ValueError, "0 or more"),
)
def test_bad_input(make: Any, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        make()

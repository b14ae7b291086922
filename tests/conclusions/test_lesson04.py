"""The sentences of lesson 04: chosen on simulated machines, and on clocks made to need each one."""

from __future__ import annotations

from dataclasses import replace

import pytest

import rooflab as rl
from rooflab.conclusions import conclude
from rooflab.measure.measurement import Measurement
from rooflab.predict.roofline import Roofline
from tests.conclusions.machines import HYBRID, MACHINES, MiB, Simulated, Trial, core, faults, unsaid
from tests.support.rows import each_row

TOKENS = (1, 2, 4, 8, 16, 32, 64, 128)
EDGES = ((1024, 1024, 1024), (128, 4096, 2048), (16, 8192, 8192), (8192, 8192, 16))
GPU = Roofline("h200-sxm", "bf16")


def up(tokens: int, dtype: str = "fp32") -> rl.Operation:
    """The layer of the lesson."""
    return rl.gemv(11008, 4096, dtype, batch=tokens, shared=("a",))


def roof(on: Simulated) -> Roofline:
    return Roofline(on.machine, "fp32")


def walk(on: Simulated, share: float = 0.9, **shares: float) -> dict[int, Measurement]:
    """The lesson's walk at ``share`` of the roof of reading; ``t2=0.1``: another share for two."""
    found = {}
    for tokens in TOKENS:
        seconds = roof(on).time(up(tokens)) / shares.get(f"t{tokens}", share)
        found[tokens] = Measurement(up(tokens), on.machine.id, "cpu", "cold", 1, (seconds,) * 3)
    return found


def bounds(on: Simulated) -> dict[int, float]:
    return {tokens: roof(on).time(up(tokens)) for tokens in TOKENS}


def at_roof(op: rl.Operation, on: Simulated, share: float = 0.9) -> Measurement:
    return Measurement(op, "simulated", "cpu", "cold", 1, (roof(on).time(op) / share,) * 3)


def thin(on: Simulated) -> tuple[Measurement, Measurement, Roofline]:
    ops = [rl.gemm(*edges) for edges in EDGES]
    return at_roof(ops[0], on), at_roof(ops[2], on), roof(on)


EVERYWHERE = tuple(MACHINES)
TABLE: dict[str, Trial] = {
    "04-second-token": (lambda on: (walk(on),), dict.fromkeys(EVERYWHERE, "free")),
    "04-sides": (
        lambda on: ((up(64), roof(on)), (up(64, "bf16"), GPU)),
        dict.fromkeys(EVERYWHERE, "compute, memory"),
    ),
    "04-gaps": (lambda on: (walk(on), bounds(on), roof(on)), dict.fromkeys(EVERYWHERE, "near")),
    "04-beyond": (lambda on: (walk(on), roof(on)), dict.fromkeys(EVERYWHERE, "flat")),
    "04-thin-sides": (
        lambda on: ([rl.gemm(*edges) for edges in EDGES], roof(on)),
        # thin: 7.97 FLOP/byte; ridges 3.4, 13.75 (the matrix unit), 8, 13.7, 13.9
        {"hybrid laptop": "all right of it", "M-series Mac": "thin left of it",
         "4 MB of L3": "thin left of it", "300 MB of L3": "thin left of it",
         "H200": "thin left of it"},
    ),
    "04-thin": (thin, dict.fromkeys(EVERYWHERE, "roof")),
    "04-padding": (
        lambda on: (at_roof(rl.gemm(1000, 1000, 1000), on), at_roof(rl.gemm(1024, 1024, 1024), on)),
        dict.fromkeys(EVERYWHERE, "loses"),  # at the roof padding is 7.4 per cent more work
    ),
}  # fmt: skip


def test_every_machine_gets_its_sentence():
    assert faults("04", TABLE) == []


LAPTOP = MACHINES["hybrid laptop"]


@each_row((0.9, "free"), (0.5, "paid"), (0.15, "jump"))
def test_the_second_token_by_what_it_costs(share, case):
    said = conclude("04-second-token", walk(LAPTOP, t2=share))
    assert said.case == case
    assert f"{round(0.9 / share, 1):g}" in said.text


@each_row(
    ({"t2": 1 / 5.4, "t4": 1 / 5.5, "t8": 1 / 6.84}, "middle", "6.84 times its bound with 8"),
    ({"t1": 0.2}, "end", "with 1 token: 5 times it"),
    ({"t128": 0.2}, "end", "with 128 tokens: 5 times it"),
    ({"t64": 1.3}, "above", "With 64 tokens your clock is faster"),
    ({"t64": 9, "t128": 10}, "above", "With 64 and 128 tokens"),
    ({}, "near", "1.11 times its bound"),
    (
        {f"t{n}": 0.1 for n in TOKENS} | {"t1": 0.2},
        "far",
        "at 1 token, and even there it takes 5 times",
    ),
)
def test_the_gap_is_told_as_it_is_and_where_it_is(shares, case, words):
    """Also above 1: a library on a matrix unit passes the roof of a core's vector unit."""
    said = conclude("04-gaps", walk(LAPTOP, **shares), bounds(LAPTOP), roof(LAPTOP))
    assert said.case == case and words in said.text


def test_a_vector_roof_below_a_matrix_unit_is_called_too_low():
    """An M-series Mac whose roof has no matrix unit, and a library that computes in it."""
    mac = MACHINES["M-series Mac"]
    vector = {key: figure for key, figure in mac.machine.peaks.items() if "tensor" not in key}
    low = Roofline(replace(mac.machine, peaks=vector), "fp32")
    lows = {tokens: low.time(up(tokens)) for tokens in TOKENS}
    assert conclude("04-gaps", walk(mac), lows, low).case == "above"


def gap(on: Simulated, share: float = 0.9, **shares: float):
    return conclude("04-gaps", walk(on, share, **shares), bounds(on), roof(on))


@each_row(
    ((1, 2), "4, 8, 16, 32, 64 and 128 tokens too; it has 1 and 2"),
    ((), "1, 2, 4, 8, 16, 32, 64 and 128 tokens too; it has none")
)  # fmt: skip
def test_a_bound_that_is_missing_is_named(there, words):
    with pytest.raises(ValueError, match=f"bounds must have {words}"):
        conclude("04-gaps", walk(LAPTOP), dict.fromkeys(there, 1.0), roof(LAPTOP))


def test_a_second_token_that_was_not_measured_is_named():
    with pytest.raises(ValueError, match="walk must have 2 tokens too; it has 1"):
        conclude("04-second-token", {1: walk(LAPTOP)[1]})


@each_row((64, "2.1 %"), (128, "4.3 %"), (2, "0.033 %"))
def test_bytes_beside_those_of_one_token_are_counted(tokens, more):
    """No "2 per cent" for 128 tokens: (64 − 1) × 15 104 numbers beside 45 million."""
    for layer in (up(tokens, "bf16"), rl.gemm(tokens, 11008, 4096, "bf16")):
        said = conclude("04-sides", (up(64), roof(LAPTOP)), (layer, GPU)).text
        assert said.endswith(
            f"time is bytes: {more} more bytes than for one token, {more} more time."
        )
    alone = conclude("04-sides", (up(64), roof(LAPTOP)), (up(1, "bf16"), GPU)).text
    assert alone.endswith("and time is bytes.")


@each_row(({"t8": 0.3, "t16": 0.3}, "goes on"), ({"t128": 0.3}, "rises"), ({}, "flat"))
def test_squares_beyond_the_knee(shares, case):
    assert conclude("04-beyond", walk(LAPTOP, **shares), roof(LAPTOP)).case == case


@each_row(
    (48, 96, "compute, memory"), (48, 768, "compute, compute"), (1, 96, "memory, memory"),
    (1, 768, "memory, compute")
)  # fmt: skip
def test_sides_say_the_tokens_and_the_machine_that_they_were_given(here, there, case):
    a100 = Roofline("a100-sxm-80", "bf16")
    said = conclude("04-sides", (up(here), roof(LAPTOP)), (up(there, "bf16"), a100))
    assert said.case == case
    assert ("48 tokens are" if here > 1 else "1 token is") in said.text
    assert f"{there} tokens are" in said.text and a100.machine.name in said.text
    assert "64" not in said.text and "H200" not in said.text


def test_a_product_of_a_layer_may_be_a_gemm_and_nothing_but_a_product():
    right = (rl.gemm(300, 4096, 4096), roof(LAPTOP))
    assert "300 tokens" in conclude("04-sides", right, (up(96, "bf16"), GPU)).text
    with pytest.raises(ValueError, match="axpy 9 fp32 is no product"):
        conclude("04-sides", (rl.axpy(9), roof(LAPTOP)), right)


@each_row((0.3, "library"), (0.9, "roof"), (1.5, "faster"))
def test_a_thin_product_is_blamed_on_the_library_only_beyond_the_roof(share, case):
    for on in (LAPTOP, MACHINES["300 MB of L3"]):  # by their roofs 1 and 1.72 times the cube
        cube, sheet = (rl.gemm(*EDGES[place]) for place in (0, 2))
        said = conclude("04-thin", at_roof(cube, on), at_roof(sheet, on, share), roof(on))
        assert said.case == case


def test_thin_sides_count_and_name_the_products_that_they_were_given():
    ops = [rl.gemm(256, 256, 256), rl.gemm(32, 2048, 256), rl.gemm(2, 2048, 4096)]
    xeon, five = roof(MACHINES["300 MB of L3"]), [rl.gemm(2048, 2048, 2048)] * 5
    said = conclude("04-thin-sides", ops, xeon)
    longer = xeon.time(ops[2]) / xeon.time(ops[0])
    assert said.case == "thin left of it" and ops[1].label not in said.text
    assert f"By the roof, `{ops[2].label}` takes {longer:.3g} times as long" in said.text
    assert "All 5 lie right of it" in conclude("04-thin-sides", five, xeon).text


def test_a_product_that_writes_gets_the_slope_of_writing():
    """8192×8192×16 is 99.6 % writing: 1.12 times the cube where a copy moves 20 GB/s, not 1.69."""
    copies = core(
        "writes", peaks={"fp32": 187e9}, dram=(13.9e9, 20e9, 21e9, 24e9),
        caches={"l3": (4 * MiB, 5e10)},
    )  # fmt: skip
    reading = Roofline(copies, "fp32")
    cube, thin_sum = (rl.gemm(*EDGES[place]) for place in (0, 3))
    assert reading.time(thin_sum) / reading.time(cube) == pytest.approx(1.69, abs=0.01)
    said = conclude("04-thin-sides", [cube, rl.gemm(*EDGES[2]), thin_sum], reading)
    assert f"`{thin_sum.label}` takes 1.12 times" in said.text
    assert f"`{rl.gemm(*EDGES[2]).label}` takes 1.69 times" in said.text
    assert "between 8.9 and 13.5 FLOP/byte" in said.text
    clock = conclude("04-thin", at_roof(cube, LAPTOP), at_roof(thin_sum, LAPTOP), reading)
    assert "by the roof 1.12 times" in clock.text


def padded(samples):
    return Measurement(rl.gemm(1024, 1024, 1024), "simulated", "cpu", "warm", 1, samples)


@each_row(
    ((0.8, 0.8, 0.8), "pays"), ((1.2, 1.2, 1.2), "loses"), ((1.03, 1.03, 1.03), "neither"),
    ((0.5, 0.9, 1.3), "neither")
)  # fmt: skip
def test_padding_pays_only_beyond_the_spread(samples, case):
    bare = Measurement(rl.gemm(1000, 1000, 1000), "simulated", "cpu", "warm", 1, (1.0, 1.0, 1.0))
    assert conclude("04-padding", bare, padded(samples)).case == case


def test_a_warning_is_passed_on():
    """A noisy value must not make the lesson lie."""
    noisy = {t: replace(one, warnings=("noisy",)) for t, one in walk(LAPTOP).items()}
    for said in (
        conclude("04-second-token", noisy),
        conclude("04-gaps", noisy, bounds(LAPTOP), roof(LAPTOP)),
        conclude("04-beyond", noisy, roof(LAPTOP)),
        conclude("04-padding", noisy[1], noisy[2]),
        conclude("04-thin", noisy[1], noisy[2], roof(LAPTOP)),
    ):
        assert said.text.endswith(": noisy.*") and said.text.count("*Warning:") == 1
        assert "*Warning: gemv 11008×4096 " in said.text
    assert "*Warning:" not in conclude("04-gaps", walk(LAPTOP), bounds(LAPTOP), roof(LAPTOP)).text


def test_the_simulated_laptop_has_the_ridge_that_the_table_counts_with():
    assert Roofline(HYBRID, "fp32").ridge == pytest.approx(3.39, abs=0.01)


def second(on: Simulated, **shares: float):
    return conclude("04-second-token", walk(on, **shares))


def beside_a_cube(cube: rl.Operation, sheet: rl.Operation):
    given = at_roof(cube, LAPTOP), at_roof(sheet, LAPTOP, 0.3), roof(LAPTOP)
    return conclude("04-thin", *given)


XEON = MACHINES["300 MB of L3"]


@each_row(
    # Batches that share a matrix: the second one pays, and four take little more than two.
    (lambda: second(XEON, t2=0.5, t4=0.45, t8=0.2), "paid",
     ["nearly free on this core: 4 take 1.11 times"], []),
    (lambda: second(XEON, t2=0.5, t4=0.3), "paid", [], ["nearly free"]),
    # Two tokens in 0.8 times the time of one
    (lambda: second(LAPTOP, t2=0.9 / 0.8), "less", ["0.8 times"], ["free"]),
    (lambda: second(LAPTOP, t2=0.95), "free", ["as good as free"], []),
    # All at 3 times the bound: also an efficient core's walk under a fast core's roofs
    (lambda: gap(LAPTOP, 1 / 3), "far",
     ["core of another kind, as laptops have", "no good routine"], ["not the shape"]),
    # 180 MB of weights beside 300 MiB of L3: one token at half of its bound
    (lambda: gap(XEON, t1=2.0), "cache", ["With 1 token your clock", "180 MB", "315 MB"],
     ["matrix unit"]),
    # One token is left of the ridge: no unit carries bytes.
    (lambda: gap(LAPTOP, t1=2.0), "above", [], ["cache", "matrix unit"]),
    (lambda: gap(XEON, t1=2.0, t128=1.5), "above",
     ["With 128 tokens", "With 1 token ", "matrix unit", "315 MB"], []),
    # The laptop's knee is at 7 tokens, the Xeon's at 28.
    (lambda: gap(LAPTOP, t32=0.2), "middle", ["the peak there"], []),
    (lambda: gap(XEON, t16=0.2), "middle", ["too thin"], []),
    (lambda: gap(LAPTOP, t1=1 / 3, t8=1 / 3.2), "end", ["with 8 tokens: 3.2 times it"], []),
    (lambda: conclude("04-beyond", walk(LAPTOP), GPU), "not reached", ["128 tokens"], []),
    (lambda: beside_a_cube(rl.gemm(512, 512, 512), rl.gemm(2048, 32, 2048)), "library",
     ["`gemm 2048×32×2048 fp32` takes 3 times as long", "each copied number is used 512 times",
      "each of the 4,194,304 numbers", "used 32 times"], []),
    # 8192×8192×16 uses what it copies more often than the cube does.
    (lambda: beside_a_cube(rl.gemm(*EDGES[0]), rl.gemm(*EDGES[3])), "library",
     ["a sum of 16 products here, and of 1,024 in the cube"], ["copied"]),
    (lambda: conclude("04-thin-sides", [rl.gemm(64, 64, 64, "bf16"), rl.gemm(8, 512, 64, "bf16")],
                      GPU), "cube left of it", [], []),
)  # fmt: skip
def test_what_is_said_and_what_is_not(tell, case, words, never):
    assert not unsaid(tell(), case, words, never)

"""The sentences of lesson 04: drawn on simulated machines, and facts that they must say."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

import rooflab as rl
from rooflab.exercises.sentences import conclude
from rooflab.measure.measurement import Measurement
from rooflab.predict.roofline import Roofline
from tests.course.machines import MACHINES, MiB, Simulated, core, unsaid
from tests.support.rows import each_row

TOKENS = (1, 2, 4, 8, 16, 32, 64, 128)
EDGES = ((1024, 1024, 1024), (128, 4096, 2048), (16, 8192, 8192), (8192, 8192, 16))
GPU, A100 = (Roofline(name, "bf16") for name in ("h200-sxm", "a100-sxm-80"))


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


def padded(samples):
    return Measurement(rl.gemm(1024, 1024, 1024), "simulated", "cpu", "warm", 1, samples)


def any_shares(rng: random.Random) -> dict[str, float]:
    """Shares of the roof for each number of tokens: all alike, or one or all of them odd."""
    usual = rng.choice((0.9, 0.9, 0.3))
    odd = rng.choice((TOKENS, TOKENS[:1], TOKENS[1:2], TOKENS[-1:], TOKENS[3:5]))
    return dict.fromkeys((f"t{n}" for n in TOKENS), usual) | {
        f"t{n}": rng.choice((0.15, 0.3, 0.5, 0.7, 0.9, 1.2, 2)) * rng.uniform(0.9, 1.1) for n in odd
    }


TRIALS = {
    "04-second-token": lambda on, rng: (walk(on, **any_shares(rng)),),
    "04-sides": lambda on, rng: (
        (up(rng.choice(TOKENS)), roof(on)),
        (up(rng.choice((1, 2, 64, 300, 768)), "bf16"), rng.choice((GPU, A100)))),
    "04-gaps": lambda on, rng: (walk(on, **any_shares(rng)), bounds(on), roof(on)),
    "04-beyond": lambda on, rng: (walk(on, **any_shares(rng)), rng.choice((roof(on), GPU))),
    "04-thin-sides": lambda on, rng: (
        rng.choice(([rl.gemm(*edges) for edges in EDGES], [rl.gemm(64, 64, 64)] * 2,
                    [rl.gemm(8, 8, 8), rl.gemm(1, 8, 64)])), roof(on)),
    "04-thin": lambda on, rng: (
        at_roof(rl.gemm(*EDGES[0]), on, rng.uniform(0.3, 1)),
        at_roof(rl.gemm(*rng.choice(EDGES[1:])), on, rng.uniform(0.2, 1)), roof(on)),
    "04-padding": lambda on, rng: (
        at_roof(rl.gemm(1000, 1000, 1000), on),
        padded(tuple(rng.gauss(1, 0.1) * rng.choice((0.01, 0.015, 0.02)) for _ in range(5)))),
}  # fmt: skip


LAPTOP, XEON = MACHINES["hybrid laptop"], MACHINES["300 MB of L3"]


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


def test_a_product_of_a_layer_may_be_a_gemm_and_nothing_but_a_product():
    right = (rl.gemm(300, 4096, 4096), roof(LAPTOP))
    assert "300 tokens" in conclude("04-sides", right, (up(96, "bf16"), GPU)).text
    with pytest.raises(ValueError, match="axpy 9 fp32 is no product"):
        conclude("04-sides", (rl.axpy(9), roof(LAPTOP)), right)


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


@each_row(
    ((0.8, 0.8, 0.8), "pays"), ((1.2, 1.2, 1.2), "loses"), ((1.03, 1.03, 1.03), "neither"),
    ((0.5, 0.9, 1.3), "neither")
)  # fmt: skip
def test_padding_pays_only_beyond_the_spread(samples, case):
    bare = Measurement(rl.gemm(1000, 1000, 1000), "simulated", "cpu", "warm", 1, (1.0, 1.0, 1.0))
    assert conclude("04-padding", bare, padded(samples)).case == case


def test_a_vector_roof_below_a_matrix_unit_is_called_too_low():
    """An M-series Mac whose roof has no matrix unit, and a library that computes in it."""
    mac = MACHINES["M-series Mac"]
    vector = {key: figure for key, figure in mac.machine.peaks.items() if "tensor" not in key}
    low = Roofline(replace(mac.machine, peaks=vector), "fp32")
    lows = {tokens: low.time(up(tokens)) for tokens in TOKENS}
    assert conclude("04-gaps", walk(mac), lows, low).case == "above"


def gap(on: Simulated, share: float = 0.9, **shares: float):
    return conclude("04-gaps", walk(on, share, **shares), bounds(on), roof(on))


def second(on: Simulated, **shares: float):
    return conclude("04-second-token", walk(on, **shares))


def beside_a_cube(cube: rl.Operation, sheet: rl.Operation):
    given = at_roof(cube, LAPTOP), at_roof(sheet, LAPTOP, 0.3), roof(LAPTOP)
    return conclude("04-thin", *given)


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

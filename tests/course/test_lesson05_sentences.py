"""The sentences of lesson 05: decode loops of simulated machines, with losses put where we want."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache

import pytest

from rooflab.course.lesson05.sentences import weights_read
from rooflab.exercises.sentences import conclude
from rooflab.labs.llm.decode_loop import DecodeRun, ledger
from rooflab.labs.llm.decode_prediction import WEIGHED, DecodePrediction, bound
from rooflab.labs.llm.model import Model
from rooflab.labs.llm.transformer import SIZES, beyond
from rooflab.predict.machine import Machine
from tests.course.machines import MACHINES, Simulated, unsaid
from tests.course.trials import told
from tests.support.rows import each_row

BATCHES = (1, 2, 16, 64)
FORMS = ("gemv ×B", "gemv ×B on Wᵀ", "gemm", "gemm on Wᵀ")
NOISY = ("noisy",)


@cache
def roofs(machine: str, batch: int, middle: int) -> tuple[Model, dict[str, float]]:
    """The model of ``loop_model()`` there, four times the last-level cache, and by operation the
    seconds of a step at the roof."""
    on = MACHINES[machine]
    model = beyond(SIZES["small"], on.last_level)
    steps = ledger(model, batch, 1, middle, "fp32")
    return model, {s.name: s.count * bound(s.op, on.machine) or 1e-9 for s in steps}


def run(
    on: Simulated,
    batch: int = 1,
    context: int = 16,
    products: float = 0.9,
    rest: float = 0.9,
    trials: Mapping[str, float] | None = None,
    warnings: tuple[str, ...] = (),
) -> DecodeRun:
    """A run at a share of the roof: weight ``products`` at one, the ``rest`` at another."""
    model, roof = roofs(on.name, batch, context + 1)
    decode = {name: (s / (products if name in WEIGHED else rest),) for name, s in roof.items()}
    return DecodeRun(
        model=model, batch=batch, context=context, steps=1, dtype="fp32", backend="cpu", threads=1,
        machine=on.machine.id, sequences=1, forms={}, tokens=((1, 2),) * batch, warnings=warnings,
        trials={"up": trials or {}}, prefill=decode, decode=decode,
    )  # fmt: skip


def loop(on: Simulated, **how: object) -> tuple[DecodeRun, Machine]:
    return run(on, **how), on.machine


def slower(one: DecodeRun, factor: float, *names: str) -> DecodeRun:
    """``one`` with the operations of these names, or all of them, slower by ``factor``."""
    slow = {name: (factor * one.decode[name][0],) for name in names or one.operations}
    return replace(one, decode={**one.decode, **slow})


def beside(on: Simulated, over: Mapping[int, float]) -> tuple[dict[int, DecodeRun], Machine]:
    """Runs that take ``over`` times what the roof says of them, by batch."""
    return {b: run(on, b, products=1 / x, rest=1 / x) for b, x in over.items()}, on.machine


def holding(on: Simulated, size: float) -> Machine:
    """The machine there with a cache of ``size`` bytes; 0: with none that is told of."""
    return replace(on.machine, capacities={"l3": size, "dram": 1e10} if size else {"dram": 1e10})


def alone(on: Simulated, share: float, part: float) -> tuple[DecodeRun, Machine]:
    """A run of one at ``share`` of bandwidth ÷ weights, and a cache of that ``part`` of them."""
    one = run(on)
    factor = weights_read(one) / on.machine.bandwidth() / share / one.step_s
    return slower(one, factor), holding(on, part * weights_read(one))


def pair(on: Simulated, longer: float) -> tuple[DecodeRun, DecodeRun]:
    """A run of one, and one of two that takes ``longer`` times as long."""
    one, two = run(on, 1), run(on, 2)
    return one, slower(two, longer * one.step_s / two.step_s)


def ways(batch: int, *seconds: float) -> tuple[DecodeRun]:
    """A run whose forms took ``seconds``, in the order of FORMS; 0: that one was not timed."""
    trials = {form: s for form, s in zip(FORMS, seconds, strict=True) if s}
    return (run(LAPTOP, batch, trials=trials),)


def pasts(on: Simulated, rate: float, part: float, products: float = 0.9):
    """A short past, a long one whose KV caches come at ``rate`` × memory, a cache of a ``part``."""
    short, long = (run(on, 16, context, products=products) for context in (16, 1024))
    size = long.model.kv_bytes(16, long.middle, "fp32")
    factor = size / on.machine.bandwidth() / rate / long.seconds("attention")
    return short, slower(long, factor, "scores", "softmax", "values"), holding(on, part * size)


def foreseen(on: Simulated, *factors: float):
    """Predictions that are ``factors`` times too long, and their runs."""
    runs = {batch: run(on, batch) for batch in BATCHES[: len(factors)]}
    guesses = {}
    for (batch, one), factor in zip(runs.items(), factors, strict=True):
        seconds = {name: factor * rows[0] for name, rows in one.decode.items()}
        guesses[batch] = DecodePrediction("decode", batch, 17, batch, seconds, seconds)
    return guesses, runs


def middle(on: Simulated, first: float, last: float, batch: int = 32, **how: float):
    """Batches 1 and 64 at ``first`` and ``last`` times their roofs, and one run between them."""
    runs, machine = beside(on, {1: first, 64: last})
    return {**runs, batch: run(on, batch, **how)}, machine


TRIALS = {
    "05-one": lambda on, rng: rng.choice((
        loop(on, products=rng.choice((0.25, 0.5, 0.6, 0.9)), rest=rng.choice((0.002, 0.006, 0.9))),
        alone(on, rng.uniform(0.8, 1.6), rng.choice((0, 0.1, 0.25))))),
    "05-second": lambda on, rng: pair(on, rng.uniform(0.6, 2.4)),
    "05-many": lambda on, rng: beside(on, {
        1: 1.2, rng.choice((4, 16)): rng.uniform(1, 1.6), 64: rng.uniform(1, 1.6)}),
    "05-ways": lambda on, rng: (run(on, rng.choice((1, 2, 16)), trials={
        f: rng.choice((3, 10, 10.5, 30)) for f in rng.sample(FORMS, rng.choice((0, 1, 4)))}),),
    "05-long": lambda on, rng: pasts(
        on, rng.choice((0.05, 0.3, 0.95, 1.5, 3)), rng.choice((0, 0.2, 0.8)),
        rng.choice((0.3, 0.9))),
    "05-predicted": lambda on, rng: foreseen(
        on, *(rng.choice((0.5, 1, 2)) * rng.uniform(0.9, 1.1) for _ in range(rng.randint(1, 3)))),
    "05-worst": lambda on, rng: middle(
        on, rng.uniform(1, 3), rng.uniform(1, 3), products=rng.choice((0.2, 0.8)),
        rest=rng.choice((0.002, 0.8))),
}  # fmt: skip


LAPTOP, XEON = MACHINES["hybrid laptop"], MACHINES["300 MB of L3"]


@each_row(*MACHINES.values())
def test_a_loop_model_is_too_large_for_the_caches_that_are_told(on):
    """300 MB of L3 hold a fixed model of 290 MB; a loop's is four times the cache there."""
    assert weights_read(run(on)) > 3 * on.last_level


def test_no_sentence_of_the_loop_calls_an_estimate_a_bound():
    """ "Bound" is what ``Workload.bound`` says, and nothing else."""
    assert not [said for _, _, said in told("05", 9) if "bound" in said.text]


@each_row(
    ("05-many", lambda: beside(LAPTOP, {1: 1, 2: 1}), "quarter of it or less; there are: 1, 2$"),
    ("05-many", lambda: ({}, LAPTOP.machine), "there are: none$"),
    ("05-ways", lambda: (run(LAPTOP, 2), "upp"), "product='upp' is unknown; did you mean 'up'"),
    ("05-predicted", lambda: ({}, {}), "guesses must have a prediction of one batch at least"),
    ("05-predicted", lambda: (foreseen(LAPTOP, 1, 1, 1)[0], foreseen(LAPTOP, 1, 1)[1]),
     "each batch that was predicted: batch 16 too"),
    ("05-worst", lambda: ({}, LAPTOP.machine), "one batch at least"),
)  # fmt: skip
def test_what_is_missing_is_named(name, given, words):
    with pytest.raises(ValueError, match=words):
        conclude(name, *given())


@each_row(
    # A loop at 43 % whose GEMVs are at 60 % does not show how the GEMV uses memory.
    ("05-one", lambda: loop(LAPTOP, products=0.6, rest=0.006), "both", ["43 %", "alone 60 %"], []),
    ("05-one", lambda: loop(LAPTOP, products=0.97, rest=0.002), "between", ["alone 97 %"], []),
    # Less than a third of bandwidth ÷ weights, or a warning, points at the computer.
    ("05-one", lambda: loop(LAPTOP, products=0.5), "GEMV", ["alone 50 %"], ["busy"]),
    ("05-one", lambda: loop(LAPTOP, products=0.2), "GEMV", ["alone 20 %", "busy"], []),
    ("05-one", lambda: loop(LAPTOP, warnings=NOISY), "near", ["busy"], []),
    # Three quarters of weights four times the cache come from memory: ×1.33 at most.
    ("05-one", lambda: alone(LAPTOP, 1.3, 0.25), "cache", [], ["busy", "too low"]),
    ("05-one", lambda: alone(LAPTOP, 1.4, 0.25), "above", ["bandwidth is too low", "busy"], []),
    ("05-one", lambda: alone(LAPTOP, 1.9, 1.2), "cache", ["176 MB", "211 MB"], ["busy"]),
    ("05-one", lambda: alone(LAPTOP, 1.4, 0), "above", ["of which the system does not tell"], []),
    ("05-second", lambda: pair(LAPTOP, 0.56), "less", ["0.56 times"], ["free"]),
    ("05-second", lambda: pair(LAPTOP, 1.8), "part", ["80 % of the price"], []),
    ("05-second", lambda: pair(LAPTOP, 1.95), "full price", ["95 % of that"], []),
    ("05-second", lambda: pair(LAPTOP, 2.1), "dip", ["2.1 times", "*fewer*"], []),
    # By the roof the Xeon gains ×1.69: a clock of ×2.45 has ×1.45 from elsewhere.
    ("05-many", lambda: beside(XEON, {1: 1.3, 16: 3.8, 64: 3.8 / 1.45}), "the loop's",
     ["a factor of 2.45. By the roof it would be 1.69. The rest, a factor of 1.45,"], []),
    ("05-many", lambda: beside(XEON, {16: 1.5, 64: 2.5}), "less", [], []),
    ("05-many", lambda: beside(LAPTOP, {16: 1, 64: 1}), "no gain", ["by a factor of 1. "], []),
    ("05-many", lambda: beside(LAPTOP, {1: 1, 4: 1}), "the roof's", ["From 1 sequence to 4"], []),
    # The better form of each way counts.
    ("05-ways", lambda: ways(2, 9, 9, 31, 28), "GEMV", ["3.11 times as long as 2 GEMVs"], []),
    ("05-ways", lambda: ways(2, 30, 9, 3, 4), "GEMM", ["3 times as fast as 2 GEMVs"], []),
    ("05-ways", lambda: ways(2, 10, 11, 10, 12), "alike", ["to a tenth"], []),
    ("05-ways", lambda: ways(1, 9, 9, 31, 28), "GEMV", ["With 1 vector a", "as 1 GEMV."], []),
    ("05-ways", lambda: ways(2, 0, 0, 1, 2), "one way", ["only the GEMM had"], ["same time"]),
    ("05-ways", lambda: ways(2, 1, 0, 0, 0), "one way", ["only the GEMVs had"], ["same time"]),
    ("05-ways", lambda: (replace(run(LAPTOP), trials={}),), "no way", ["told which one"], []),
    ("05-long", lambda: pasts(XEON, 0.95, 0), "as the bytes",
     ["60.3 times as much to read", "13.3 GB/s, 95 % of what your memory carries. So"], []),
    ("05-long", lambda: pasts(XEON, 0.1, 0), "more", ["10 % of", "nearer to the bytes"], []),
    ("05-long", lambda: pasts(XEON, 0.9, 0, 0.1), "less", ["With 16 sequences"], []),
    # KV caches that are read faster than memory carries lie in a cache, or a part of them does.
    ("05-long", lambda: pasts(LAPTOP, 2.73, 0.8), "less", ["273 % of what", "may stay there"], []),
    ("05-long", lambda: pasts(LAPTOP, 2.73, 0.2), "less", ["No cache of this processor"], []),
    # How far a prediction is off is never understated; a perfect one does not agree to 0 %.
    ("05-predicted", lambda: foreseen(LAPTOP, 1), "agree", ["agree to 1 % or better"], []),
    ("05-predicted", lambda: foreseen(LAPTOP, 1.124), "agree", ["agree to 13 % or better"], []),
    ("05-predicted", lambda: foreseen(LAPTOP, 1 / 1.195), "agree", ["to 20 % or better"], []),
    ("05-predicted", lambda: foreseen(LAPTOP, 0.5, 0.6), "slower", ["up to 2. "], ["agree"]),
    ("05-predicted", lambda: foreseen(LAPTOP, 2, 1.5), "faster", ["up to 2. "], ["agree"]),
    ("05-predicted", lambda: foreseen(LAPTOP, 0.5, 2), "scattered", ["up to 2. "], ["agree"]),
    ("05-worst", lambda: beside(LAPTOP, {1: 3, 8: 2, 64: 1.5}), "few", ["1: a step takes 3 "], []),
    ("05-worst", lambda: beside(LAPTOP, {1: 1.2, 8: 2, 64: 2.1}), "many", ["takes 2.1 times"], []),
    # One that loses nothing to speak of is not explained.
    ("05-worst", lambda: beside(LAPTOP, {1: 0.9, 8: 1.2, 64: 0.9}), "middle",
     ["batch 8: a step takes 1.2 times", "At both ends it is nearer."], ["lost", "loses"]),
    # Beyond the knee, 27 there, a product is not thin: its routine loses time, or something else.
    ("05-worst", lambda: middle(XEON, 1, 1, products=0.26), "middle",
     ["lost in the products with weights: 32 vectors"], ["thin"]),
    ("05-worst", lambda: middle(XEON, 1, 1, rest=0.01), "middle", ["lost elsewhere than in"], []),
)  # fmt: skip
def test_what_is_said_and_what_is_not(name, given, case, words, never):
    assert not unsaid(conclude(name, *given()), case, words, never)

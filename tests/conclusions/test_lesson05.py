"""The sentences of lesson 05: decode loops of simulated machines, with losses put where we want."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

import rooflab as rl
from rooflab.conclusions import conclude
from rooflab.conclusions.lesson05 import by_the_roof, weights_read
from rooflab.count.si import percent
from rooflab.labs.llm.decode_loop import PHASES, DecodeRun, ledger
from rooflab.labs.llm.decode_prediction import WEIGHED, DecodePrediction, bound
from rooflab.labs.llm.transformer import SIZES, beyond
from tests.conclusions.machines import MACHINES, Simulated, Trial, faults, unsaid
from tests.support.rows import each_row

LAPTOP = MACHINES["hybrid laptop"]
BATCHES = (1, 2, 16, 64)
FORMS = ("gemv ×B", "gemv ×B on Wᵀ", "gemm", "gemm on Wᵀ")


def run(
    on: Simulated,
    batch: int = 1,
    context: int = 16,
    products: float = 0.9,
    rest: float = 0.9,
    trials: Mapping[str, float] | None = None,
    warnings: tuple[str, ...] = (),
) -> DecodeRun:
    """A run at a share of the roof: weight ``products`` at one, the ``rest`` at another.

    The model is that of ``loop_model()`` there: four times the last-level cache.
    """
    model = beyond(SIZES["small"], on.last_level)
    seconds = {}
    for phase, queries, rows in zip(PHASES, (context, 1), (1, batch), strict=True):
        steps = ledger(model, rows, queries, context + 1, "fp32")
        seconds[phase] = {
            s.name: (s.count * bound(s.op, on.machine)
                     / (products if s.name in WEIGHED else rest) or 1e-9,)
            for s in steps
        }  # fmt: skip
    return DecodeRun(
        model=model, batch=batch, context=context, steps=1, dtype="fp32", backend="cpu", threads=1,
        machine=on.machine.id, sequences=1, forms={}, tokens=((1, 2),) * batch, warnings=warnings,
        trials={"up": dict(trials or dict.fromkeys(FORMS, 1e-3))}, **seconds,
    )  # fmt: skip


def walk(on: Simulated, products: float = 0.9) -> dict[int, DecodeRun]:
    return {batch: run(on, batch, products=products) for batch in BATCHES}


def said(on: Simulated, factor: float) -> dict[int, DecodePrediction]:
    """Predictions ``factor`` times too long for :func:`walk`."""
    found = {}
    for batch, each in walk(on).items():
        seconds = {name: factor * rows[0] for name, rows in each.decode.items()}
        found[batch] = DecodePrediction("decode", batch, 17, batch, seconds, seconds)
    return found


EVERYWHERE = tuple(MACHINES)
TABLE: dict[str, Trial] = {
    "05-one": (lambda on: (run(on), on.machine), dict.fromkeys(EVERYWHERE, "near")),
    "05-second": (lambda on: (run(on, 1), run(on, 2)), dict.fromkeys(EVERYWHERE, "free")),
    "05-many": (
        lambda on: (walk(on), on.machine),
        # ridge × 2: batch 6.8 and 16 are passed at 16 sequences; 27.4 to 27.9 are not
        {"hybrid laptop": "no gain", "4 MB of L3": "no gain", "M-series Mac": "the roof's",
         "300 MB of L3": "the roof's", "H200": "the roof's"},
    ),
    "05-ways": (lambda on: (run(on, 2),), dict.fromkeys(EVERYWHERE, "alike")),
    "05-long": (
        lambda on: (run(on, 16, 16), run(on, 16, 1024), on.machine),
        # 16 sequences are beyond the laptop's knee: its step is arithmetic, and a cache adds less
        dict.fromkeys(EVERYWHERE, "as the bytes") | {"hybrid laptop": "less"},
    ),
    "05-predicted": (lambda on: (said(on, 1), walk(on)), dict.fromkeys(EVERYWHERE, "agree")),
    "05-worst": (
        lambda on: ({b: run(on, b, products=0.2 + b / 100) for b in BATCHES}, on.machine),
        dict.fromkeys(EVERYWHERE, "few"),
    ),
}  # fmt: skip


def test_every_machine_gets_its_sentence():
    assert faults("05", TABLE) == []


@each_row(*MACHINES.values())
def test_a_loop_model_is_too_large_for_the_caches_that_are_told(on):
    """300 MB of L3 hold a fixed model of 290 MB; a loop's is four times the cache there."""
    assert weights_read(run(on)) > 3 * on.last_level


@each_row((0.5, 0.9, "GEMV"), (0.97, 0.002, "between"), (0.6, 0.006, "both"), (0.95, 0.9, "near"))
def test_what_is_lost_is_put_where_it_was_lost(products, rest, case):
    """A loop at 50 % whose GEMVs are at 74 % does not show how the GEMV uses memory."""
    one = run(LAPTOP, products=products, rest=rest)
    found = conclude("05-one", one, LAPTOP.machine)
    assert found.case == case, found
    shortest = weights_read(one) / LAPTOP.machine.bandwidth()
    assert f"{100 * shortest / one.step_s:.0f} % of bandwidth ÷ weights" in found.text


@each_row((0.9, "free"), (0.62, "part"), (0.52, "part"), (0.47, "full price"), (0.3, "dip"))
def test_a_second_sequence_by_its_price(share, case):
    """The dip at batch 2, 175 against 124 rows a second, stays in the picture and is explained."""
    found = conclude("05-second", run(LAPTOP, 1), run(LAPTOP, 2, products=share, rest=share))
    assert found.case == case
    if case in ("part", "full price"):
        longer = run(LAPTOP, 2, products=share, rest=share).step_s / run(LAPTOP, 1).step_s
        assert f"{100 * (longer - 1):.0f} % of" in found.text


def stretched(one: DecodeRun, seconds: float) -> DecodeRun:
    """``one`` with every operation slower by the same factor, so that a step takes ``seconds``."""
    factor = seconds / one.step_s
    return replace(one, decode={name: (factor * s[0],) for name, s in one.decode.items()})


def beside_the_roof(on: Simulated, over: Mapping[int, float]) -> dict[int, DecodeRun]:
    """Runs that take ``over`` times what the roof says of them. By batch."""
    runs = {batch: run(on, batch) for batch in over}
    return {
        batch: stretched(one, over[batch] * sum(by_the_roof(one, on.machine).values()))
        for batch, one in runs.items()
    }


def test_a_gain_is_divided_between_the_roof_and_the_loop():
    """By the roof 36.5 → 88.0 ms is ×1.66; a clock of ×2.40 has ×1.45 from elsewhere."""
    xeon = MACHINES["300 MB of L3"]
    runs = beside_the_roof(xeon, {1: 1.3, 16: 3.8, 64: 3.8 / 1.45})
    found = conclude("05-many", runs, xeon.machine)
    few, many = (sum(by_the_roof(runs[b], xeon.machine).values()) for b in (16, 64))
    by_roof = 4 * few / many
    assert found.case == "the loop's" and 1.3 < by_roof < 2
    assert f"By the roof it would be {by_roof:.3g}. The rest, a factor of 1.45," in found.text
    assert f"a factor of {1.45 * by_roof:.3g}. By" in found.text and "expected" not in found.text
    worse = beside_the_roof(xeon, {16: 1.5, 64: 2.5})
    assert conclude("05-many", worse, xeon.machine).case == "less"


@each_row(((1, 2), "1, 2"), ((8,), "8"), ((), "none"))
def test_batches_that_are_too_few_to_compare_are_named(there, words):
    with pytest.raises(ValueError, match=f"a quarter of it or less; there are: {words}$"):
        conclude("05-many", {batch: run(LAPTOP, batch) for batch in there}, LAPTOP.machine)


@each_row((1.2, "cache"), (1.3, "cache"), (1.4, "above"))
def test_weights_four_times_the_cache_may_beat_their_trip_by_a_third(share, case):
    """Three quarters of them come from memory at least: up to ×1.33 no bandwidth is too low."""
    one = run(LAPTOP)
    cache = LAPTOP.machine.capacities["l3"]
    inside = replace(LAPTOP.machine, capacities={"l3": weights_read(one) / 4, "dram": 1e10})
    shortest = weights_read(one) / LAPTOP.machine.bandwidth()
    found = conclude("05-one", stretched(one, shortest / share), inside)
    assert found.case == case and ("busy" in found.text) == (case == "above")
    assert ("bandwidth is too low" in found.text) == (case == "above")
    assert weights_read(one) > 3 * cache, "the model that the loop takes is as large as that"


def test_no_sentence_of_the_loop_calls_an_estimate_a_bound():
    """ "Bound" is what ``Workload.bound`` says, and nothing else."""
    runs = walk(LAPTOP)
    for found in (
        conclude("05-one", runs[1], LAPTOP.machine),
        conclude("05-one", stretched(runs[1], runs[1].step_s / 2), LAPTOP.machine),
        conclude("05-many", runs, LAPTOP.machine),
        conclude("05-worst", runs, LAPTOP.machine),
    ):
        assert "bound" not in found.text


def fast_attention(factor: float) -> tuple[DecodeRun, DecodeRun]:
    """16 sequences with a short and a long past; the long one reads at ``factor`` × memory."""
    short, long = run(LAPTOP, 16), run(LAPTOP, 16, 1024)
    seconds = long.model.kv_bytes(16, long.middle, "fp32") / LAPTOP.machine.bandwidth() / factor
    now = long.seconds("attention")
    decode = {
        name: (s[0] * seconds / now,) if name in ("scores", "softmax", "values") else s
        for name, s in long.decode.items()
    }
    return short, replace(long, decode=decode)


def test_caches_read_faster_than_memory_carries_are_said_to_lie_in_a_cache():
    """273 per cent of what memory carries: the KV caches or a part of them lay in a cache."""
    short, long = fast_attention(2.73)
    cached = long.model.kv_bytes(16, long.middle, "fp32")
    big = replace(LAPTOP.machine, capacities={"l3": cached * 0.8, "dram": 1e10})
    found = conclude("05-long", short, long, big)
    assert "273 % of what your memory carries. All of them have" in found.text
    assert "part of them may stay there" in found.text
    small = replace(LAPTOP.machine, capacities={"l3": cached * 0.2, "dram": 1e10})
    assert "No cache of this processor holds enough" in conclude("05-long", short, long, small).text
    calm = conclude("05-long", *fast_attention(0.5), big).text
    assert "may stay there" not in calm and "No cache" not in calm


@each_row((1, "1 %"), (1.124, "13 %"), (1 / 1.195, "20 %"))
def test_how_far_a_prediction_is_off_is_never_understated(factor, share):
    """And a perfect one does not agree to 0 % or better."""
    found = conclude("05-predicted", said(LAPTOP, factor), walk(LAPTOP))
    assert f"agree to {share} or better" in found.text


def test_a_prediction_without_its_run_is_named():
    runs = walk(LAPTOP)
    del runs[16]
    with pytest.raises(ValueError, match="each batch that was predicted: batch 16 too"):
        conclude("05-predicted", said(LAPTOP, 1), runs)


@each_row(
    ((9, 9, 31, 28), "GEMV", "3.11 times as long as 2 GEMVs"),
    ((30, 9, 3, 4), "GEMM", "3 times as fast as 2 GEMVs"),
    ((10, 11, 10, 12), "alike", "to a tenth")
)  # fmt: skip
def test_two_ways_are_compared_by_the_better_form_of_each(seconds, case, words):
    tried = {form: 1e-4 * s for form, s in zip(FORMS, seconds, strict=True)}
    found = conclude("05-ways", run(LAPTOP, 2, trials=tried))
    assert found.case == case and words in found.text


@each_row((0.9, 0.9, "as the bytes"), (0.1, 0.9, "less"), (0.9, 0.1, "more"))
def test_a_long_past_beside_what_its_bytes_say(products, rest, case):
    on = MACHINES["300 MB of L3"]
    short = run(on, 16, products=products)
    long = run(on, 16, 1024, products=products, rest=rest)
    found = conclude("05-long", short, long, on.machine)
    assert found.case == case, found
    rate = long.model.kv_bytes(16, long.middle, "fp32") / long.seconds("attention")
    share = percent(rate / on.machine.bandwidth())
    assert f"{rl.si(rate, 'B/s')}, {share} of what your memory carries" in found.text
    assert "times as much to read" in found.text


@each_row((1, "agree"), (0.5, "slower"), (2, "faster"))
def test_a_prediction_is_praised_only_where_it_was_right(factor, case):
    found = conclude("05-predicted", said(LAPTOP, factor), walk(LAPTOP))
    assert found.case == case and ("agree" in found.text) == (case == "agree")


@each_row(
    ({1: 2.1, 8: 5.5, 64: 2.2}, "middle"), ({1: 3, 8: 2, 64: 1.5}, "few"),
    ({1: 1.2, 8: 2, 64: 2.1}, "many")
)  # fmt: skip
def test_the_batch_furthest_from_its_roof(over, case):
    found = conclude("05-worst", beside_the_roof(LAPTOP, over), LAPTOP.machine)
    worst = max(over, key=over.get)
    assert found.case == case and f"batch {worst}: a step takes {over[worst]:g} times" in found.text


def test_a_worst_batch_that_loses_nothing_is_not_explained():
    found = conclude("05-worst", beside_the_roof(LAPTOP, {1: 0.9, 8: 1.2, 64: 0.9}), LAPTOP.machine)
    assert found.case == "middle" and found.text.endswith("At both ends it is nearer.")
    with pytest.raises(ValueError, match="one batch at least"):
        conclude("05-worst", {}, LAPTOP.machine)


def test_a_warning_is_passed_on():
    noisy = {batch: run(LAPTOP, batch, warnings=("noisy",)) for batch in BATCHES}
    for found in (
        conclude("05-second", noisy[1], noisy[2]),
        conclude("05-many", noisy, LAPTOP.machine),
        conclude("05-ways", noisy[2]),
        conclude("05-predicted", said(LAPTOP, 1), noisy),
        conclude("05-worst", noisy, LAPTOP.machine),
    ):
        assert found.text.endswith(" at context 16: noisy.*") and "*Warning: batch " in found.text
    assert "Warning" not in conclude("05-second", run(LAPTOP, 1), run(LAPTOP, 2)).text


@each_row(
    ({"gemm": 1.0, "gemm on Wᵀ": 2.0}, "one way", "only the GEMM had been timed"),
    ({"gemv ×B": 1.0}, "one way", "only the GEMVs had been timed")
)  # fmt: skip
def test_a_way_that_was_not_tried_is_not_compared(tried, case, words):
    found = conclude("05-ways", run(LAPTOP, 2, trials=tried))
    assert found.case == case and words in found.text and "same time" not in found.text


def test_a_product_that_the_model_has_not_is_unknown():
    with pytest.raises(ValueError, match="product='upp' is unknown; did you mean 'up'"):
        conclude("05-ways", run(LAPTOP, 2), "upp")


XEON = MACHINES["300 MB of L3"]
SMALL = replace(XEON, told={"l3": 16_000_000})  # the model that 16 MB ask for: in the Xeon's cache
BARE = replace(LAPTOP.machine, capacities={"dram": 1e10})
BATTERY = ("on battery",)


def one(on: Simulated = LAPTOP, **how: object):
    """What is said of one sequence that ran there."""
    return conclude("05-one", run(on, **how), (XEON if on is SMALL else on).machine)


def ways(batch: int, *seconds: float):
    tried = {form: 1e-4 * s for form, s in zip(FORMS, seconds, strict=True)}
    return conclude("05-ways", run(LAPTOP, batch, trials=tried))


def worst(changed: DecodeRun):
    """Batches of the Xeon, and one of 32 beyond its knee at 27."""
    return conclude("05-worst", {**walk(XEON), 32: changed}, XEON.machine)


@each_row(
    (lambda: one(SMALL, products=1.9), "cache", [], ["busy"]),
    (lambda: conclude("05-one", run(SMALL, products=1.9), LAPTOP.machine), "above", [], []),
    (lambda: one(products=1.5), "above", ["refresh=True"], []),
    # A third of the bound or a warning points at the computer.
    (lambda: one(products=0.2), "GEMV", ["Something else"], []),
    (lambda: one(warnings=("noisy",)), "near", ["Something else"], []),
    (lambda: one(products=0.6), "GEMV", [], ["Something else"]),
    # A chip's system cache is told of by no call.
    (lambda: conclude("05-one", stretched(run(LAPTOP), run(LAPTOP).step_s / 2), BARE), "above",
     ["a cache of which the system does not tell"], []),
    # The warnings of its run
    (lambda: one(warnings=BATTERY), "near", ["*Warning: batch 1 at context 16: on battery.*"], []),
    (lambda: one(products=0.5, warnings=BATTERY), "GEMV", ["16: on battery.*"], []),
    (lambda: one(products=1.5, warnings=BATTERY), "above", ["16: on battery.*"], []),
    (lambda: one(SMALL, products=1.9, warnings=BATTERY), "cache", [": on battery.*"], []),
    (lambda: conclude("05-long", run(LAPTOP, 16), run(LAPTOP, 16, 1024, warnings=("noisy",)),
                      LAPTOP.machine), "less", ["*Warning: batch 16 at context 1024: noisy.*"], []),
    # A step for two in 0.56 times the time of a step for one
    (lambda: conclude("05-second", run(LAPTOP, 1),
                      stretched(run(LAPTOP, 2), 0.56 * run(LAPTOP, 1).step_s)), "less",
     ["0.56 times"], ["free"]),
    (lambda: conclude("05-many", {1: run(LAPTOP, 1), 4: run(LAPTOP, 4)}, LAPTOP.machine),
     "the roof's", ["From 1 sequence to 4"], []),
    (lambda: ways(1, 9, 9, 31, 28), "GEMV",
     ["With 1 vector a GEMM takes", "as long as 1 GEMV."], []),
    # decode_loop(…, forms="gemm") times no way beside another.
    (lambda: conclude("05-ways", replace(run(LAPTOP, 2), trials={})), "no way",
     ["told which one"], []),
    (lambda: conclude("05-predicted", {**said(LAPTOP, 2), 1: said(LAPTOP, 0.5)[1]}, walk(LAPTOP)),
     "scattered", [], []),
    # Beyond the knee the product is not thin: its routine loses the time, or something else does.
    (lambda: worst(run(XEON, 32, products=0.26)), "middle",
     ["lost in the products with weights: 32 vectors"], ["thin"]),
    (lambda: worst(run(XEON, 32, rest=0.01)), "middle",
     ["lost elsewhere than in the products"], []),
)  # fmt: skip
def test_what_is_said_and_what_is_not(tell, case, words, never):
    assert not unsaid(tell(), case, words, never)


def test_the_model_that_a_cache_holds_is_in_the_cache():
    assert weights_read(run(SMALL, products=1.9)) < 2 * 300 * 2**20

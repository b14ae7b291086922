"""Lesson 05: what the decode loop of the machine that was measured says, and why."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import ceil, nan

from rooflab.count.validation import unknown
from rooflab.exercises.sentences import Conclusion, Rows, choose, largest_cache
from rooflab.labs.llm.decode_loop import DecodeRun
from rooflab.labs.llm.decode_prediction import WEIGHED, DecodePrediction, bound
from rooflab.predict.machine import Machine

FASTER = 1.05  # times what memory carries: beyond the noise of a quiet computer
LESS = 0.9  # of a time, for more work: beyond the noise too
LITTLE_LOST = 0.85  # of bandwidth ÷ weights: from there on hardly anything is lost
NEAR_ITS_ROOF = 1.3  # times the roof: what lies below it has lost nothing to speak of
APART = 1.15  # two ratios of steps, each of which is good to a few per cent
ALIKE = 1.1  # two times or two rates within this factor are called alike
FREE, FULL_PRICE, DIP = 1.2, 1.85, 2.05  # times a step for one: where a step for two changes name
FORESEEN = 1.25  # a prediction within this factor of the clock agrees with it
BUSY = (
    "Something else may have kept the computer busy during one of the two measurements. Close it, "
    "and run these cells again, `here` with `refresh=True`."
)


def weights_read(run: DecodeRun) -> int:
    """Bytes of weights that a step of ``run`` reads: of the table of embeddings only its rows."""
    return sum(step.bytes_of("weights") for step in run.ledger())


def by_the_roof(run: DecodeRun, machine: Machine) -> dict[str, float]:
    """Seconds of each operation in a step of ``run`` at the roof, as the request film has them."""
    return {step.name: step.count * bound(step.op, machine) for step in run.ledger()}


# excess: bytes that the cache cannot hold; traffic: bytes that memory carries in the time
ABOVE: Rows = (
    ("cache", lambda excess, traffic: excess <= traffic,
     "The weights have {size:B}, and the largest cache of this processor {cache:B}. So part of "
     "them may stay there from token to token, and need not come from memory."),
    ("above", lambda cache: not cache,
     "The weights have {size:B}. Either a cache that the system does not report keeps part of "
     f"them, or the bandwidth is too low. {BUSY}"),
    ("above", lambda excess, traffic, cache: cache and excess > traffic,
     "The weights have {size:B}, and a cache of {cache:B} does not explain it: what it cannot hold "
     f"has to come from memory in every step. So the bandwidth is too low. {BUSY}"),
)
REACHED = "The loop reaches {share:percent} of bandwidth ÷ weights, its GEMVs alone {gemv:percent}"
LOST: Rows = (
    ("near", lambda share: share >= LITTLE_LOST, ": hardly anything is lost."),
    ("between", lambda share, lost, between: share < LITTLE_LOST and between > 2 / 3 * lost,
     ". Most is lost between them: calls, small operations, choosing a token."),
    ("GEMV", lambda share, lost, between: share < LITTLE_LOST and between < lost / 3,
     ". So most is lost there: the library draws no more from your memory."),
    ("both", lambda share, lost, between: (
        share < LITTLE_LOST and lost / 3 <= between <= 2 / 3 * lost),
     ". Both lose: of {step:s} a step the GEMVs take {products:s}. Calls, small operations and "
     "choosing a token take the rest."),
)
DISTRUST: Rows = (("", lambda share, warnings: share < 1 / 3 or warnings, BUSY),)


def one_sequence(run: DecodeRun, machine: Machine) -> Conclusion:
    """Where a step of batch 1 spends what it takes beyond weights ÷ bandwidth.

    ``machine`` gives the bandwidth of reading, and the size of its last cache.
    """
    size, step, cache = weights_read(run), run.step_s, largest_cache(machine)
    shortest = size / machine.bandwidth()
    products = sum(run.seconds(name) for name in WEIGHED if name in run.operations)
    share = shortest / step
    if share > FASTER:
        return choose(
            "The clock beats bandwidth ÷ weights, {share:percent} of it.", ABOVE, of=(run,),
            share=share, size=size, cache=cache, excess=size - cache, traffic=size / share,
        )
    return choose(
        REACHED, LOST, DISTRUST, of=(run,), share=share, gemv=shortest / products, step=step,
        products=products, lost=step - shortest, between=step - products, warnings=run.warnings,
    )


SECOND: Rows = (
    ("less", lambda longer: longer < LESS,
     "With the same routines, more work cannot take less time. Either something disturbed the run "
     "of one, or the library's routine for one vector is worse than the one for two. Run both "
     "again and see whether it stays."),
    ("free", lambda longer: LESS <= longer <= FREE, "The second sequence is as good as free."),
    ("part", lambda longer: FREE < longer <= FULL_PRICE,
     "The second sequence pays {price:percent} of the price of the first, although hardly a byte "
     "more has to travel."),
    ("full price", lambda longer: FULL_PRICE < longer <= DIP,
     "The second sequence costs about as much as the first, {price:percent} of its price, "
     "although hardly a byte more has to travel."),
    ("dip", lambda longer: longer > DIP,
     "Two sequences together get *fewer* tokens a second than one alone. That is no mistake of "
     "yours. The next section says where the time goes."),
)


def second_sequence(one: DecodeRun, two: DecodeRun) -> Conclusion:
    """What a second sequence costs."""
    longer = two.step_s / one.step_s
    return choose(
        "A step for two takes {longer:times} as long as a step for one.", SECOND, of=(one, two),
        longer=longer, price=longer - 1,
    )


GROWTH = (
    "From {quarter:of sequence} to {most} a step takes {longer:times} as long, so there are "
    "{gain:times} as many tokens a second. By the roof it would be {by_roof:times}"
)
MANY: Rows = (
    ("the loop's", lambda rest: rest > APART,
     ". The rest, a factor of {rest:3}, is that with few sequences the loop is further from its "
     "roof than with many."),
    ("less", lambda rest: rest < 1 / APART,
     ", but with {most} the loop is further from its roof."),
    ("no gain", lambda rest, gain: 1 / APART <= rest <= APART and gain < ALIKE,
     ": the gain has ended."),
    ("the roof's", lambda rest, gain: 1 / APART <= rest <= APART and gain >= ALIKE,
     ", about as much."),
)


def many_sequences(runs: Mapping[int, DecodeRun], machine: Machine) -> Conclusion:
    """What the largest batch gains beside a quarter of it, and how much of that is the roof's.

    ``runs``: batch → run. ``machine`` has the roofs of this core.
    """
    most = max(runs, default=0)
    quarter = max((batch for batch in runs if 4 * batch <= most), default=0)
    if not quarter:
        there = ", ".join(map(str, sorted(runs))) or "none"
        raise ValueError(
            f"runs must have a batch and one of a quarter of it or less; there are: {there}"
        )
    longer = runs[most].step_s / runs[quarter].step_s
    few, many = (sum(by_the_roof(runs[b], machine).values()) for b in (quarter, most))
    gain, by_roof = most / quarter / longer, most / quarter * few / many
    return choose(
        GROWTH, MANY, of=(runs[quarter], runs[most]), quarter=quarter, most=most, longer=longer,
        gain=gain, by_roof=by_roof, rest=gain / by_roof,
    )


WAYS: Rows = (
    ("no way", lambda ways: not ways,
     "no way was timed beside another: the run was told which one to take."),
    ("one way", lambda ways: ways == ["gemm"],
     "only the GEMM had been timed here and not the GEMVs, so nothing can be said about which is "
     "quicker."),
    ("one way", lambda ways: ways == ["gemv"],
     "only the GEMVs had been timed here and not the GEMM, so nothing can be said about which is "
     "quicker."),
    ("GEMV", lambda longer: longer > ALIKE,
     "a GEMM takes {longer:times} as long as {batch:of GEMV}. It usually begins by *packing*: it "
     "copies the matrix, piece by piece, into an order in which its arithmetic runs well. With so "
     "few vectors you pay for the copy and get next to nothing."),
    ("GEMM", lambda longer: longer < 1 / ALIKE,
     "a GEMM is {faster:times} as fast as {batch:of GEMV}. Each GEMV reads the whole matrix."),
    ("alike", lambda longer: 1 / ALIKE <= longer <= ALIKE,
     "both ways take the same time to within a tenth."),
)


def two_ways(run: DecodeRun, product: str = "up") -> Conclusion:
    """Which way a product was quicker with the batch of ``run``: GEMV after GEMV, or a GEMM.

    Raises ValueError for a product that the model of ``run`` has not.
    """
    there = [each.name for each in run.model.products]
    if product not in there:
        raise unknown("product", product, there)
    quickest: dict[str, float] = {}
    for form, seconds in run.trials.get(product, {}).items():
        way = form.split()[0]
        quickest[way] = min(seconds, quickest.get(way, seconds))
    gemm, gemv = (quickest.get(way, nan) for way in ("gemm", "gemv"))  # nan: that was not timed
    return choose(
        "With {batch:of vector}", WAYS, of=(run,), batch=run.batch, ways=list(quickest),
        longer=gemm / gemv, faster=gemv / gemm,
    )


LONG = (
    "There are {bytes_say:times} the bytes to read, and the step takes {clock:times} as long. "
    "Attention alone has {reads:times} as much to read and takes {waits:times} as long. With the "
    "long past it reads its KV caches at {speed:B/s}, {rate:percent} of what your memory carries."
)
QUICK: Rows = (
    ("", lambda rate, excess, traffic: rate > FASTER and excess <= traffic,
     "Together they have {caches:B}, and the largest cache of this processor {cache:B}: part of "
     "them may stay there."),
    ("", lambda rate, excess, traffic: rate > FASTER and excess > traffic,
     f"No cache of this processor holds enough of them to explain that. {BUSY}"),
)
PAST: Rows = (
    ("more", lambda over: over > APART, "That is more than the bytes say."),
    ("less", lambda over: over < 1 / APART, "That is less than the bytes say."),
    ("as the bytes", lambda over: 1 / APART <= over <= APART, "So the bytes decide."),
)
REASON: Rows = (
    ("", lambda over, rate: over > APART and rate < 1 / APART,
     "This loop does attention in several operations, each with its own trips to memory; a routine "
     "made for it would come nearer to the bytes."),
    ("", lambda over, trips: over < 1 / APART and trips > APART,
     "With {batch:of sequence} the step was longer than the trip of the weights to begin with, and "
     "that part does not grow with the past."),
)


def long_past(short: DecodeRun, long: DecodeRun, machine: Machine) -> Conclusion:
    """How a long context makes a step longer, beside what the bytes say.

    ``machine`` has the bandwidth of reading, beside which attention's bytes a second are put.
    """
    few, caches = (run.model.kv_bytes(run.batch, run.middle, run.dtype) for run in (short, long))
    small, large = weights_read(short) + few, weights_read(long) + caches
    attention, cache = long.seconds("attention"), largest_cache(machine)
    bytes_say, clock, speed = large / small, long.step_s / short.step_s, caches / attention
    rate = speed / machine.bandwidth()
    return choose(
        LONG, QUICK, PAST, REASON, of=(short, long), bytes_say=bytes_say, clock=clock,
        over=clock / bytes_say, reads=caches / few, waits=attention / short.seconds("attention"),
        caches=caches, cache=cache, speed=speed, rate=rate, excess=caches - cache,
        traffic=caches / rate, trips=short.step_s * machine.bandwidth() / small, batch=short.batch,
    )


OFF = (
    "by a factor of up to {worst:3}. Both columns need a quiet computer. If yours was quiet both "
    "times, the shares that were learned on one model do not carry over to this one as they should."
)
PREDICTED: Rows = (
    ("agree", lambda worst: worst <= FORESEEN,
     "The two columns agree to {error:percent} or better. A roofline says what the machine "
     "allows; what the library makes of it was measured once, on another model."),
    ("slower", lambda worst, least: worst > FORESEEN and least > 1,
     f"Every step took longer than was predicted, {OFF}"),
    ("faster", lambda worst, most: worst > FORESEEN and most < 1,
     f"Every step was quicker than was predicted, {OFF}"),
    ("scattered", lambda worst, least, most: worst > FORESEEN and least <= 1 <= most,
     f"The clock scatters around what was predicted, {OFF}"),
)


def predicted(guesses: Mapping[int, DecodePrediction], runs: Mapping[int, DecodeRun]) -> Conclusion:
    """How well the clock was predicted. By batch: predictions, and the runs they are of."""
    if not guesses:
        raise ValueError("guesses must have a prediction of one batch at least")
    missing = ", ".join(str(batch) for batch in sorted(guesses) if batch not in runs)
    if missing:
        raise ValueError(f"runs must have each batch that was predicted: batch {missing} too")
    ratios = [runs[batch].step_s / guess.total_s for batch, guess in guesses.items()]
    worst = max(max(ratio, 1 / ratio) for ratio in ratios)
    return choose(
        PREDICTED, of=[runs[batch] for batch in guesses], least=min(ratios), most=max(ratios),
        worst=worst, error=max(1, ceil(100 * worst - 100)) / 100,
    )


FURTHEST = (
    "The loop is furthest from its roof at batch {batch}: a step takes {longer:times} as long as "
    "by the roof"
)
WORST: Rows = (
    ("middle", lambda longer, few, many: longer > APART * max(few, many),
     ". At both ends it is nearer."),
    ("many", lambda longer, few, many: longer <= APART * many and many >= few, "."),
    ("few", lambda longer, few, many: longer <= APART * few and few > many,
     ". A larger batch brings it nearer."),
)
LOSS: Rows = (
    ("", lambda share: share < 1 / 2,
     "Most of what it loses is lost outside the products with weights."),
    ("", lambda share: share >= 1 / 2,
     "{share:percent} of what it loses is lost in the products with weights: {batch} vectors are "
     "too many for a GEMV, and too few for a GEMM at its best."),
)


def worst_batch(runs: Mapping[int, DecodeRun], machine: Machine) -> Conclusion:
    """At which batch the loop is furthest from its roof. ``runs``: batch → run."""
    if not runs:
        raise ValueError("runs must have a run of one batch at least")
    roofs = {batch: by_the_roof(run, machine) for batch, run in runs.items()}
    over = {batch: run.step_s / sum(roofs[batch].values()) for batch, run in runs.items()}
    worst, few, many = max(over, key=over.__getitem__), over[min(over)], over[max(over)]
    limit = max(NEAR_ITS_ROOF, APART * few, APART * many)
    return choose(
        FURTHEST, WORST, "{loss}", of=runs.values(), batch=worst, longer=over[worst], few=few,
        many=many, loss=_loss(runs[worst], roofs[worst]) if over[worst] > limit else "",
    )


def _loss(run: DecodeRun, roof: Mapping[str, float]) -> str:
    """Where a step of ``run`` loses what it takes beyond its ``roof``, seconds by operation."""
    products = [name for name in WEIGHED if name in run.operations]
    lost = sum(run.seconds(name) - roof[name] for name in products)
    share = min(1.0, lost / (run.step_s - sum(roof.values())))
    return choose(LOSS, share=share, batch=run.batch).text


CONCLUSIONS: Mapping[str, Callable[..., Conclusion]] = {
    "05-one": one_sequence, "05-second": second_sequence, "05-many": many_sequences,
    "05-ways": two_ways, "05-long": long_past, "05-predicted": predicted, "05-worst": worst_batch,
}

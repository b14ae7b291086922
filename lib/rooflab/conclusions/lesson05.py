"""Lesson 05: what the decode loop of the machine that was measured says, and why."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import ceil

from rooflab.conclusions import Conclusion, cautions, fold, largest_cache
from rooflab.count.si import percent, plain, several, si
from rooflab.count.validation import unknown
from rooflab.labs.llm.decode_loop import DecodeRun
from rooflab.labs.llm.decode_prediction import WEIGHED, DecodePrediction, bound
from rooflab.predict.machine import Machine

FASTER = 1.05  # times what memory carries: beyond the noise of a quiet computer
LESS = 0.9  # of a time, for more work: beyond the noise too
NEAR_ITS_ROOF = 1.3  # times the roof: what lies below it has lost nothing to speak of
APART = 1.15  # two ratios of steps, each of which is good to a few per cent
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


def one_sequence(run: DecodeRun, machine: Machine) -> Conclusion:
    """Where a step of batch 1 spends what it takes beyond weights ÷ bandwidth.

    ``machine`` gives the bandwidth of reading, and the size of its last cache.
    """
    read = weights_read(run)
    shortest = read / machine.bandwidth()
    products = sum(run.seconds(name) for name in WEIGHED if name in run.operations)
    share, gemv = shortest / run.step_s, shortest / products
    if share > FASTER:
        case, text = _above(share, read, largest_cache(machine))
        return Conclusion(case, text + cautions(run))
    text = (
        f"The loop reaches {percent(share)} of bandwidth ÷ weights, its GEMVs alone {percent(gemv)}"
    )
    lost, between = run.step_s - shortest, run.step_s - products
    if share >= 0.85:
        case, text = "near", f"{text}: hardly anything is lost."
    elif between > 2 / 3 * lost:
        case = "between"
        text = f"{text}. Most is lost between them: calls, small operations, choosing a token."
    elif between < lost / 3:
        case = "GEMV"
        text = f"{text}. So most is lost there: the library draws no more from your memory."
    else:
        case = "both"
        text = (
            f"{text}. Both lose: of {si(run.step_s, 's')} a step the GEMVs take "
            f"{si(products, 's')}. Calls, small operations and choosing a token take the rest."
        )
    if share < 1 / 3 or run.warnings:
        text = f"{text} {BUSY}"
    return Conclusion(case, text + cautions(run))


def _above(share: float, read: int, cache: float) -> tuple[str, str]:
    """Why a step beats bandwidth ÷ weights: ``read`` bytes of them, the largest ``cache``."""
    said = f"The clock beats bandwidth ÷ weights, {percent(share)} of it."
    if read - cache <= read / share:  # what the cache cannot hold came in time
        return "cache", (
            f"{said} The weights have {si(read, 'B')}, and the largest cache of this processor "
            f"{si(cache, 'B')}. So part of them may stay there from token to token, and need not "
            "come from memory."
        )
    if not cache:
        return "above", (
            f"{said} The weights have {si(read, 'B')}. Either a cache of which the system does not "
            f"tell keeps part of them, or the bandwidth is too low. {BUSY}"
        )
    return "above", (
        f"{said} The weights have {si(read, 'B')}, and a cache of {si(cache, 'B')} does not "
        "explain it: what it cannot hold has to come from memory in every step. So the bandwidth "
        f"is too low. {BUSY}"
    )


def second_sequence(one: DecodeRun, two: DecodeRun) -> Conclusion:
    """What a second sequence costs."""
    longer = two.step_s / one.step_s
    said = f"A step for two takes {fold(longer)} as long as a step for one."
    if longer < LESS:
        case = "less"
        text = (
            f"{said} With the same routines, more work cannot take less time. Either something "
            "disturbed the run of one, or the library's routine for one vector is worse than that "
            "for two. Run both again and see whether it stays."
        )
    elif longer > 2.05:
        case = "dip"
        text = (
            f"{said} Two sequences together get *fewer* tokens a second than one alone. It is no "
            "mistake of yours. The next section says where the time goes."
        )
    elif longer > 1.85:
        case = "full price"
        text = (
            f"{said} The second sequence pays about the full price, {percent(longer - 1)} of "
            "that of the first, although hardly a byte more has to travel."
        )
    elif longer > 1.2:
        case = "part"
        text = (
            f"{said} The second sequence pays {percent(longer - 1)} of the price of the first, "
            "although hardly a byte more has to travel."
        )
    else:
        case, text = "free", f"{said} The second sequence is as good as free."
    return Conclusion(case, text + cautions(one, two))


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
    said = (
        f"From {several(quarter, 'sequence')} to {most} a step takes {fold(longer)} as long, so "
        f"the tokens a second grow by a factor of {plain(gain, 3)}. By the roof it would be "
        f"{plain(by_roof, 3)}"
    )
    if gain > APART * by_roof:
        case = "the loop's"
        text = (
            f"{said}. The rest, a factor of {plain(gain / by_roof, 3)}, is that with few sequences "
            "the loop is further from its roof than with many."
        )
    elif gain < by_roof / APART:
        case, text = "less", f"{said}, but with {most} the loop is further from its roof."
    elif gain < 1.1:
        case, text = "no gain", f"{said}: the gain has ended."
    else:
        case, text = "the roof's", f"{said}, about as much."
    return Conclusion(case, text + cautions(runs[quarter], runs[most]))


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
    case, text = _way(run.batch, quickest.get("gemv"), quickest.get("gemm"))
    return Conclusion(case, text + cautions(run))


def _way(batch: int, gemv: float | None, gemm: float | None) -> tuple[str, str]:
    """Case and sentence from the seconds of the quickest form; None where no form was timed."""
    said, gemvs = f"With {several(batch, 'vector')}", several(batch, "GEMV")
    if gemv is None and gemm is None:
        return "no way", (
            f"{said} no way was timed beside another: the run was told which one to take."
        )
    if gemv is None or gemm is None:
        tried, other = ("GEMM", "GEMVs") if gemv is None else ("GEMVs", "GEMM")
        return "one way", (
            f"{said} only the {tried} had been timed here and not the {other}, so nothing can be "
            "said of which is quicker."
        )
    if gemm > 1.1 * gemv:
        return "GEMV", (
            f"{said} a GEMM takes {fold(gemm / gemv)} as long as {gemvs}. It usually "
            "begins by *packing*: it copies the matrix, piece by piece, into an order in which its "
            "arithmetic runs well. With so few vectors you pay for the copy and get next to "
            "nothing."
        )
    if gemv > 1.1 * gemm:
        return "GEMM", (
            f"{said} a GEMM is {fold(gemv / gemm)} as fast as {gemvs}. Each GEMV "
            "meets the whole matrix."
        )
    return "alike", f"{said} both ways take the same time, to a tenth."


def long_past(short: DecodeRun, long: DecodeRun, machine: Machine) -> Conclusion:
    """How a long context makes a step longer, beside what the bytes say.

    ``machine`` has the bandwidth of reading, beside which attention's bytes a second are put.
    """
    moved = [weights_read(run) + _cache_bytes(run) for run in (short, long)]
    bytes_say, clock = moved[1] / moved[0], long.step_s / short.step_s
    reads, waits = _cache_bytes(long) / _cache_bytes(short), _attention(long) / _attention(short)
    rate = _cache_bytes(long) / _attention(long) / machine.bandwidth()
    said = (
        f"There are {fold(bytes_say)} the bytes to read, and the step takes {fold(clock)} as "
        f"long. Attention alone has {fold(reads)} as much to read and takes {fold(waits)} as "
        f"long. With the long past it reads its KV caches at "
        f"{si(rate * machine.bandwidth(), 'B/s')}, {percent(rate)} of what your memory carries."
    )
    if rate > FASTER:
        said = f"{said} {_quick(rate, _cache_bytes(long), largest_cache(machine))}"
    if clock > APART * bytes_say:
        case, text = "more", f"{said} That is more than the bytes say."
        if rate * APART < 1:
            text = (
                f"{text} This loop does attention in several operations, each with its own trips "
                "to memory; a routine made for it would come nearer to the bytes."
            )
    elif clock < bytes_say / APART:
        case, text = "less", f"{said} That is less than the bytes say."
        if short.step_s > APART * moved[0] / machine.bandwidth():
            text = (
                f"{text} With {several(short.batch, 'sequence')} the step was longer than the trip "
                "of the weights to begin with, and that part does not grow with the past."
            )
    else:
        case, text = "as the bytes", f"{said} So the bytes decide."
    return Conclusion(case, text + cautions(short, long))


def _quick(rate: float, cached: int, cache: float) -> str:
    """Why KV caches of ``cached`` bytes are read at ``rate`` times the bandwidth of memory."""
    if cached - cache <= cached / rate:  # what the cache cannot hold came in time
        return (
            f"All of them have {si(cached, 'B')}, and the largest cache of this processor "
            f"{si(cache, 'B')}: part of them may stay there."
        )
    return f"No cache of this processor holds enough of them to explain that. {BUSY}"


def _cache_bytes(run: DecodeRun) -> int:
    return run.model.kv_bytes(run.batch, run.middle, run.dtype)


def _attention(run: DecodeRun) -> float:
    return run.seconds("attention")


def predicted(guesses: Mapping[int, DecodePrediction], runs: Mapping[int, DecodeRun]) -> Conclusion:
    """How well the clock was predicted. By batch: predictions, and the runs they are of."""
    if not guesses:
        raise ValueError("guesses must have a prediction of one batch at least")
    missing = ", ".join(str(batch) for batch in sorted(guesses) if batch not in runs)
    if missing:
        raise ValueError(f"runs must have each batch that was predicted: batch {missing} too")
    off = [runs[batch].step_s / guess.total_s for batch, guess in guesses.items()]
    worst = max(max(ratio, 1 / ratio) for ratio in off)
    if worst <= 1.25:
        case = "agree"
        text = (
            f"The two columns agree to {percent(max(1, ceil(100 * worst - 100)) / 100)} or better. "
            "A roofline says what the machine allows; what the library makes of it was measured "
            "once, on another model."
        )
    else:
        case = "slower" if min(off) > 1 else "faster" if max(off) < 1 else "scattered"
        text = {
            "slower": "Every step took longer than was predicted",
            "faster": "Every step was quicker than was predicted",
            "scattered": "The clock scatters around what was predicted",
        }[case]
        text = (
            f"{text}, by a factor of up to {plain(worst, 3)}. Both columns need a quiet computer. "
            "If yours was quiet both times, the shares that were learned on one model do not carry "
            "over to this one as they should."
        )
    return Conclusion(case, text + cautions(*(runs[batch] for batch in guesses)))


def worst_batch(runs: Mapping[int, DecodeRun], machine: Machine) -> Conclusion:
    """At which batch the loop is furthest from its roof. ``runs``: batch → run."""
    if not runs:
        raise ValueError("runs must have a run of one batch at least")
    roofs = {batch: by_the_roof(run, machine) for batch, run in runs.items()}
    over = {batch: run.step_s / sum(roofs[batch].values()) for batch, run in runs.items()}
    worst = max(over, key=over.__getitem__)
    ends = max(over[min(over)], over[max(over)])
    said = (
        f"The loop is furthest from its roof at batch {worst}: a step takes {fold(over[worst])} as "
        "long as by the roof"
    )
    if over[worst] > APART * ends:
        case, text = "middle", f"{said}. At both ends it is nearer."
        if over[worst] > NEAR_ITS_ROOF:
            text = f"{text} {_loss(runs[worst], roofs[worst])}"
    elif over[max(over)] >= over[min(over)]:
        case, text = "many", f"{said}."
    else:
        case, text = "few", f"{said}. A larger batch brings it nearer."
    return Conclusion(case, text + cautions(*runs.values()))


def _loss(run: DecodeRun, roof: Mapping[str, float]) -> str:
    """Where a step of ``run`` loses what it takes beyond its ``roof``, seconds by operation."""
    products = [name for name in WEIGHED if name in run.operations]
    lost = sum(run.seconds(name) - roof[name] for name in products)
    share = min(1.0, lost / (run.step_s - sum(roof.values())))
    if share < 1 / 2:
        return "Most of what it loses is lost elsewhere than in the products with weights."
    return (
        f"{percent(share)} of what it loses is lost in the products with weights: {run.batch} "
        "vectors are too many for a GEMV, and too few for a GEMM at its best."
    )


CONCLUSIONS: Mapping[str, Callable[..., Conclusion]] = {
    "05-one": one_sequence,
    "05-second": second_sequence,
    "05-many": many_sequences,
    "05-ways": two_ways,
    "05-long": long_past,
    "05-predicted": predicted,
    "05-worst": worst_batch,
}

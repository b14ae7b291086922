"""Lesson 05: what the decode loop of the machine that was measured says, and why."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from rooflab.conclusions import Conclusion, cautions, fold
from rooflab.count.dtypes import dtype as _dtype
from rooflab.count.si import percent, plain, si
from rooflab.count.suggest import unknown
from rooflab.measure.decode_predict import WEIGHED, DecodePrediction
from rooflab.measure.decode_run import DecodeRun
from rooflab.predict.machine import Machine
from rooflab.predict.roofline import Roofline

BUSY = (
    "Something else may have kept the computer busy during one of the two measurements. Close it, "
    "and run these cells again, `here` with `refresh=True`."
)


def weights_read(run: DecodeRun) -> int:
    """Bytes of weights that a step of ``run`` reads: of the table of embeddings only its rows."""
    return sum(step.bytes_of("weights") for step in run.ledger())


def one_sequence(run: DecodeRun, machine: Machine) -> Conclusion:
    """Where a step of batch 1 spends what it takes beyond weights ÷ bandwidth.

    ``machine`` gives the bandwidth of reading, and the size of its last cache.
    """
    read = weights_read(run)
    shortest = read / machine.bandwidth()
    products = sum(run.seconds(name) for name in WEIGHED if name in run.operations)
    share, gemv = shortest / run.step_s, shortest / products
    cache = max((n for level, n in machine.capacities.items() if level != "dram"), default=0)
    if share > 1.05:
        return _above(share, read, cache, cautions(run))
    text = f"The loop reaches {percent(share)} of the bound, its GEMVs alone {percent(gemv)}"
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


def _above(share: float, read: int, cache: int, doubts: str) -> Conclusion:
    """Why a step beats its bound: ``read`` bytes of weights, the last ``cache`` in bytes."""
    if read < 2 * cache:
        return Conclusion(
            "cache",
            f"The clock beats the bound, {percent(share)} of it. The weights, {si(read, 'B')}, "
            f"are hardly larger than a cache of this processor, {si(cache, 'B')}. So part of them "
            f"stays there from token to token, and does not come from memory.{doubts}",
        )
    return Conclusion(
        "above",
        f"The clock beats the bound, {percent(share)} of it, and a bound that is right cannot be "
        f"beaten. The weights, {si(read, 'B')}, are too large for the caches that the system tells "
        f"of. So the bandwidth is too low. {BUSY}{doubts}",
    )


def second_sequence(one: DecodeRun, two: DecodeRun) -> Conclusion:
    """What a second sequence costs."""
    longer = two.step_s / one.step_s
    said = f"A step for two takes {fold(longer)} as long as a step for one."
    if longer > 2.05:
        case = "dip"
        text = (
            f"{said} Two sequences together get *fewer* tokens a second than one alone. It is no "
            "mistake of yours. The next section says where the time goes."
        )
    elif longer > 1.85:
        case = "full price"
        text = (
            f"{said} The second sequence pays nearly the full price, {percent(longer - 1)} of "
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
    """What the largest batch gains beside a quarter of it, and whether the roof expects that.

    ``runs``: batch → run. ``machine`` has the peak and the bandwidth of this core.
    """
    most = max(runs)
    dtype = runs[most].dtype
    quarter = max(batch for batch in runs if batch <= most // 4)
    longer = runs[most].step_s / runs[quarter].step_s
    gain = (most / quarter) / longer
    knee = Roofline(machine, dtype).ridge * _dtype(dtype).bits / 8 / 2
    said = (
        f"From {quarter} sequences to {most} a step takes {fold(longer)} as long, so the tokens "
        f"a second grow by a factor of {plain(gain, 3)}."
    )
    if gain < 1.1:
        case, text = "no gain", f"{said} The gain has ended."
    elif quarter < knee:
        case = "below the knee"
        text = (
            f"{said} By the roof the arithmetic of this core takes over at batch "
            f"{plain(knee, 2)}, so some gain was to be expected."
        )
    else:
        case = "beyond the knee"
        text = (
            f"{said} By the roof of this core the gain ends at batch {plain(knee, 2)}. It goes on "
            "because the library is far from its roof with few vectors, and comes nearer with "
            "every further one."
        )
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
    said = f"With {batch} vectors"
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
            f"{said} a GEMM takes {fold(gemm / gemv)} as long as {batch} GEMVs. It usually "
            "begins by *packing*: it copies the matrix, piece by piece, into an order in which its "
            "arithmetic runs well. With so few vectors you pay for the copy and get next to "
            "nothing."
        )
    if gemv > 1.1 * gemm:
        return "GEMM", (
            f"{said} a GEMM is {fold(gemv / gemm)} as fast as {batch} GEMVs, which meet the "
            "whole matrix once for each vector."
        )
    return "alike", f"{said} both ways take the same time, to a tenth."


def long_past(short: DecodeRun, long: DecodeRun, machine: Machine) -> Conclusion:
    """How a long context makes a step longer, beside what the bytes say.

    ``machine`` has the bandwidth of reading, beside which attention's bytes a second are put.
    """
    moved = [weights_read(run) + _cached(run) for run in (short, long)]
    bytes_say, clock = moved[1] / moved[0], long.step_s / short.step_s
    reads, waits = _cached(long) / _cached(short), _attention(long) / _attention(short)
    rate = _cached(long) / _attention(long)
    said = (
        f"There are {fold(bytes_say)} the bytes to read, and the step takes {fold(clock)} as "
        f"long. Attention alone has {fold(reads)} as much to read and takes {fold(waits)} as "
        f"long. With the long past it reads its caches at {si(rate, 'B/s')}, "
        f"{percent(rate / machine.bandwidth())} of what your memory carries."
    )
    if clock > 1.15 * bytes_say:
        case = "more"
        text = (
            f"{said} This loop does attention in several operations, each with its own trips to "
            "memory; a routine made for it would come nearer to the bytes."
        )
    elif clock < bytes_say / 1.15:
        case = "less"
        text = (
            f"{said} With {short.batch} sequences the step was longer than the trip of the weights "
            "to begin with, and that part has not changed."
        )
    else:
        case, text = "as the bytes", f"{said} So the bytes decide."
    return Conclusion(case, text + cautions(short, long))


def _cached(run: DecodeRun) -> int:
    return run.model.kv_bytes(run.batch, run.middle, run.dtype)


def _attention(run: DecodeRun) -> float:
    return run.seconds("attention")


def predicted(said: Mapping[int, DecodePrediction], runs: Mapping[int, DecodeRun]) -> Conclusion:
    """How well the clock was predicted. By batch: predictions, and the runs they are of."""
    off = [runs[batch].step_s / guess.total_s for batch, guess in said.items()]
    worst = max(max(ratio, 1 / ratio) for ratio in off)
    if worst <= 1.25:
        case = "agree"
        text = (
            f"The two columns agree to {percent(round(worst - 1, 2))} or better. A roofline says what the "
            "machine allows; what the library makes of it was measured once, on another model."
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
    return Conclusion(case, text + cautions(*(runs[batch] for batch in said)))


def worst_batch(runs: Mapping[int, DecodeRun], bounds: Mapping[int, float]) -> Conclusion:
    """At which batch the loop is furthest from its bound. By batch: runs, bounds in seconds."""
    over = {batch: run.step_s / bounds[batch] for batch, run in runs.items()}
    worst = max(over, key=over.__getitem__)
    ends = max(over[min(over)], over[max(over)])
    said = (
        f"The loop is furthest from its bound at batch {worst}: a step takes "
        f"{fold(over[worst])} as long"
    )
    if over[worst] > 1.15 * ends:
        case = "middle"
        text = f"{said}. At both ends it is nearer: few libraries have a routine for thin products."
    elif over[max(over)] >= over[min(over)]:
        case, text = "many", f"{said}."
    else:
        case, text = "few", f"{said}. A larger batch brings it nearer."
    return Conclusion(case, text + cautions(*runs.values()))


CONCLUSIONS: Mapping[str, Callable[..., Conclusion]] = {
    "05-one": one_sequence,
    "05-second": second_sequence,
    "05-many": many_sequences,
    "05-ways": two_ways,
    "05-long": long_past,
    "05-predicted": predicted,
    "05-worst": worst_batch,
}

"""Sentences of lesson 02, chosen from the times and bytes of the reader's own NumPy."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import pairwise

import numpy as np

from rooflab.conclusions import Conclusion, cautions, fold
from rooflab.count import axpy
from rooflab.count.si import plain, several, si
from rooflab.labs.golf.score import ChunkSweep, golf
from rooflab.measure.caches import FALLBACK, last_level_bytes, last_level_words, shown_bytes
from rooflab.measure.measurement import Measurement
from rooflab.predict.explain import Explanation

CLEARLY = 1.15  # two times that differ by less are the same, with the noise of a laptop
BETTER = 0.95  # times the row above: a smaller gain in score or time is none
LARGE = 2**18  # numbers of a vector that golf's cache does not hold


@cache
def counted() -> float:
    """Bytes that NumPy moves for ``0.5 * x + y``, as golf counts them, over those of AXPY."""
    ones = np.ones(LARGE)
    return golf(lambda x, y: 0.5 * x + y, ones, ones.copy()).bytes / axpy(LARGE, "fp64").bytes


def expression(numpy: Measurement, blas: Measurement) -> Conclusion:
    """NumPy's expression beside BLAS's AXPY: does the clock agree with the bytes?"""
    by_bytes = counted()
    ratio, doubts = numpy.median_s / blas.median_s, cautions(numpy, blas)
    said = (
        f"NumPy's line took {plain(ratio, 3)} times as long as AXPY; the bytes say "
        f"{fold(by_bytes)}."
    )
    if ratio > CLEARLY * by_bytes:
        return Conclusion(
            "more than the bytes",
            f"{said} So the bytes are not all of it. The next part finds out what the rest is."
            f"{doubts}",
        )
    if ratio * CLEARLY < by_bytes:
        return Conclusion(
            "less than the bytes",
            f"{said} Less than the bytes ask for: a cache held a part of them, or something else "
            f"was running while AXPY was timed. Measure again before you believe it.{doubts}",
        )
    return Conclusion("as counted", f"{said} The count explains it.{doubts}")


def out(numpy: Measurement, with_out: Measurement, blas: Measurement) -> Conclusion:
    """The one line, and the same two calls with ``out=``: does it help, and with what?"""
    one_line, two_calls = (m.median_s / blas.median_s for m in (numpy, with_out))
    by_bytes, doubts = counted(), cautions(numpy, with_out, blas)
    lines = [
        "| | times as long as AXPY | | |",
        "|---|---|---|---|",
        f"| the bytes ordered, 40 against 24 | {plain(by_bytes, 3)} | | counted |",
        _cause("with_out", two_calls, by_bytes, "**fetched lines**: most processors fetch "
               "a line before it is written over, which is one trip more, ×1.2", most=1.2),
        _cause("expression", one_line, two_calls, "**fresh memory**: the system has to find "
               "and to zero every new array"),
    ]  # fmt: skip
    table = "\n".join(lines)
    if one_line > CLEARLY * two_calls:
        case, said = (
            "helps",
            (
                "On this computer `out=` does help, and you know with what: **it saves the "
                "allocation, not the trips.**"
            ),
        )
    elif two_calls > CLEARLY * one_line:
        case, said = (
            "hurts",
            (
                "On this computer `out=` even takes longer than the one line. **It saves no "
                "trip**, and here it does not save time either."
            ),
        )
    else:
        case, said = (
            "no difference",
            (
                "On this computer `out=` makes hardly a difference: new memory is cheap here, and "
                "**the trips are the same.**"
            ),
        )
    return Conclusion(case, f"{table}\n\n{said}{doubts}")


def _cause(program: str, found: float, before: float, cause: str, most: float = math.inf) -> str:
    """A row of the table: ``cause`` where ``program`` takes clearly longer than the row above.

    ``most``: what the cause can account for; what is clearly more is said to be unexplained.
    """
    step = found / before
    if step * CLEARLY < 1:
        cause = "less than the row above: a cache held a part, or something else was running"
    elif step < CLEARLY:
        cause = "about the same as the row above"
    elif step > CLEARLY * most:
        cause += f"; ×{plain(step / most, 3)} is left unexplained"
    return f"| `{program}`, measured | {plain(found, 3)} | ×{plain(step, 3)} | {cause} |"


def pieces(sweep: ChunkSweep, unit: str = "numbers") -> Conclusion:
    """What the table of chunk sizes shows: where the bytes fall, and what calls cost.

    ``unit``: what a chunk is counted in; the last chunk is all of them at once.
    """
    sizes, seconds = sweep.chunks, sweep.seconds
    best = min(range(len(sizes)), key=seconds.__getitem__)
    large, small = (seconds[end] > CLEARLY * seconds[best] for end in (-1, 0))
    bytes_fall = _bytes_fall(sweep, unit)
    more, fall = _time_falls(sweep, best, unit)
    rule = "bytes plus calls, and the cache that a piece fits" if more else "bytes plus calls"
    largest = "the largest piece is hardly slower than the best one"
    if best == len(sizes) - 1:
        largest = "no smaller piece is faster than the largest"
    rounds = f"with pieces of {sizes[0]:,} {unit} there are {-(-sizes[-1] // sizes[0]):,} of them"
    if large and small:
        return Conclusion(
            f"a valley{more}",
            f"{bytes_fall} {fall} The best piece has {sizes[best]:,} {unit}. Smaller ones are "
            "slower again, though they move no more bytes: now Python is the cost. Each piece "
            f"takes some calls and some slicing, {si(_call(sweep, best), 's')} here, and "
            f"{rounds}. **The time is {rule}**; in between lies the best piece.",
        )
    if large:
        return Conclusion(
            f"bytes decide{more}",
            f"{bytes_fall} {fall} It stays low down to the smallest piece: Python's calls cost "
            f"little beside the bytes here, though {rounds}. **The time is {rule}**; still smaller "
            "pieces would show the calls.",
        )
    if small:
        return Conclusion(
            "calls decide",
            f"{bytes_fall} And yet {largest}: a cache is larger than golf was told, or the memory "
            "is fast. What you do see are the calls, for each piece takes several: "
            f"{rounds}. **In small pieces the calls decide**; what the bytes cost does not show.",
        )
    return Conclusion(
        "flat",
        f"{bytes_fall} The times hardly differ here, so neither the bytes nor the calls can be "
        "seen. Something else set the pace; close other programs and measure again.",
    )


def _time_falls(sweep: ChunkSweep, best: int, unit: str) -> tuple[str, str]:
    """How far the bytes explain the fall of the time, from all at once to the ``best`` piece.

    Returns the end of a case's name, "" where the bytes explain it, and the sentences.
    """
    seconds, per_element = sweep.seconds, [one.per_element for one in sweep.golfs]
    fewer, quicker = per_element[-1] / per_element[best], seconds[-1] / seconds[best]
    equal = [
        size
        for i, size in enumerate(sweep.chunks)
        if i > best and seconds[i] > CLEARLY * seconds[best] and per_element[i] <= per_element[best]
    ]
    said = (
        "From the largest piece to the best one the bytes fall by a factor of "
        f"{plain(fewer, 3)}, the time by {plain(quicker, 3)}."
    )
    if quicker <= CLEARLY * fewer and not equal:
        less = quicker * CLEARLY < fewer
        return "", f"{said} The time falls {'too, but less than' if less else 'with'} the bytes."
    case = ", a nearer cache"
    if quicker > CLEARLY * fewer:
        case = ", more than the bytes"
        share = "Most of that is not the bytes." if quicker > fewer**2 else "Not all is the bytes."
        said += f" {share} A large piece also needs a large `t`, and fresh memory costs extra."
    if equal:
        named = " and ".join(f"{size:,}" for size in equal)
        said += (
            f" Pieces of {named} {unit} move as few bytes as the best one and take longer. Smaller "
            "pieces may fit a nearer cache; or something else was running."
        )
    return case, said


def _call(sweep: ChunkSweep, best: int) -> float:
    """Seconds that a piece costs beyond its bytes: the smallest pieces beside the ``best`` ones."""
    rounds = [-(-sweep.chunks[-1] // size) for size in (sweep.chunks[0], sweep.chunks[best])]
    return (sweep.seconds[0] - sweep.seconds[best]) / (rounds[0] - rounds[1])


def _bytes_fall(sweep: ChunkSweep, unit: str) -> str:
    """From how many bytes a number to how many, and up to which piece."""
    per_element = [one.per_element for one in sweep.golfs]
    fewest = min(per_element)
    pairs = zip(sweep.chunks, per_element, strict=True)
    fitting = max(size for size, each in pairs if each < 1.2 * fewest)
    return (
        f"The largest piece moves {per_element[-1]:.0f} bytes for each number, and pieces of up to "
        f"{fitting:,} {unit} move {fewest:.0f}."
    )


def warm(why: Explanation, measured: Measurement) -> Conclusion:
    """Where AXPY on short vectors, again and again, lies beside the roof of memory.

    ``why``: what ``rl.explain`` says of ``measured``.
    """
    doubts = cautions(measured)
    where = f"`{why.op.label}` with {si(why.op.working_set, 'B')}"
    if why.share > CLEARLY:
        return Conclusion(
            "above the roof",
            f"The point of the short vectors, {where}, hangs *above* the roof, at "
            f"{plain(why.share, 3)} times its height. No memory can do that, and none did: they "
            f"lay in a cache, and a cache is what was timed.{doubts}",
        )
    if why.share * CLEARLY < 1:
        return Conclusion(
            "below the roof",
            f"The point of the short vectors, {where}, lies *below* the roof here, at "
            f"{plain(why.share, 3)} times its height: so short a call is partly the call itself. "
            f"They lay in a cache all the same.{doubts}",
        )
    return Conclusion(
        "at the roof",
        f"The point of the short vectors, {where}, lies about at the roof, at "
        f"{plain(why.share, 3)} times its height. "
        "That is chance: they lay in a cache, which is faster, and the call itself took a part of "
        f"the time.{doubts}",
    )


def holes(table: Sequence[tuple[str, float, float]]) -> Conclusion:
    """Whether a better score is also a better time.

    ``table``: hole, score and seconds of every way to play it, from the worst to the best.
    """
    rows = [(a, b) for a, b in pairwise(table) if a[0] == b[0] and b[1] < BETTER * a[1]]
    against = [b for a, b in rows if b[2] > BETTER * a[2]]
    if not rows:
        return Conclusion("nothing to compare", "No way has a better score than the one above it.")
    if not against:
        return Conclusion(
            "in order",
            "Wherever the score gets better from one row to the next, the time does too, by 5 % at "
            "least: the bytes set the order.",
        )
    named = "; ".join(f"{name}, {score:.2f}" for name, score, _ in against)
    return Conclusion(
        "not always",
        f"In {len(rows) - len(against)} of {len(rows)} rows with a better score than the one "
        "above, the time is better too, by 5 % at least. Not in these: "
        f"{named}.",
    )


def largest() -> Conclusion:
    """How large the largest cache is taken to be, and who says so."""
    used, shown = last_level_bytes(), shown_bytes()
    text = f"Your largest cache has {last_level_words()}."
    if shown is None and used == FALLBACK:
        return Conclusion("assumed", text)
    return Conclusion("shown" if used == shown else "told", text)


def types(wide: Measurement, narrow: Measurement) -> Conclusion:
    """Whether half the bytes take half the time: AXPY on as many numbers in fp64 and fp32."""
    ratio, doubts = wide.median_s / narrow.median_s, cautions(wide, narrow)
    said = f"fp64 takes {plain(ratio, 3)} times as long as fp32 here."
    if 2 / CLEARLY < ratio < 2 * CLEARLY:
        return Conclusion("half", f"{said} Half the bytes, half the time.{doubts}")
    if ratio <= 2 / CLEARLY:
        return Conclusion(
            "less",
            f"{said} The bytes say twice. Either something else was running, or the smaller "
            f"vectors are not limited by the memory alone.{doubts}",
        )
    return Conclusion(
        "more",
        f"{said} The bytes say twice. Either something else was running, or a cache holds a part "
        f"of the smaller vectors.{doubts}",
    )


def write_allocate(
    numpy: Measurement, with_out: Measurement, blas: Measurement, fresh: int
) -> Conclusion:
    """Whether the one line and the two calls take as long as their trips to memory say.

    ``fresh``: new arrays that the one line holds at a time.
    """
    one_line, two_calls = numpy.median_s / blas.median_s, with_out.median_s / blas.median_s
    trips = 5 + min(fresh, 2)
    doubts = cautions(numpy, with_out, blas)
    said = (
        f"The one line holds {several(fresh, 'new array')} at a time, so it makes "
        f"{trips} trips, {plain(trips / 3, 3)} times those of AXPY, and it took "
        f"{plain(one_line, 3)} times as long. With `out=` there are 6 trips, twice those of AXPY, "
        f"and it took {plain(two_calls, 3)} times as long."
    )
    cases, rest = [], one_line / two_calls * 6 / trips
    if two_calls * CLEARLY < 2:
        cases.append("fetching avoided")
        said += (
            " Fewer bytes than that travelled: your processor has got around the fetching, or "
            "something else was running while AXPY was timed."
        )
    if rest > CLEARLY:
        cases.append("fresh memory")
        said += (
            f" Beyond its trips, the one line takes {plain(rest, 3)} times as long as `out=`. That "
            "is the price of fresh memory, which only the one line asks for."
        )
    if two_calls > CLEARLY * 2:
        cases.append("more than the trips")
        said += (
            " That is more than their trips ask for, and `out=` asks for no memory. Something else "
            "was running, or NumPy's loops do not reach the bandwidth that AXPY does."
        )
    if rest * CLEARLY < 1:
        cases.append("out= slower")
        said += (
            f" For its trips, the one line is {plain(1 / rest, 3)} times as fast as `out=`: its "
            "new memory costs nothing here, and something else may have run beside `out=`."
        )
    if not cases:
        said += " As far as this clock can tell, both cost what their trips cost."
    return Conclusion(" and ".join(cases) or "the trips", said + doubts)


CONCLUSIONS: Mapping[str, Callable[..., Conclusion]] = {
    "02-cache": largest,
    "02-expression": expression,
    "02-out": out,
    "02-pieces": pieces,
    "02-warm": warm,
    "02-holes": holes,
    "02-types": types,
    "02-write-allocate": write_allocate,
}

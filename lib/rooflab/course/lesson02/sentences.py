"""Sentences of lesson 02, chosen from the times and bytes of the reader's own NumPy."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import pairwise

import numpy as np

from rooflab.count import axpy
from rooflab.exercises.sentences import Conclusion, Rows, choose
from rooflab.labs.golf.score import ChunkSweep, golf
from rooflab.measure.caches import FALLBACK, last_level_bytes, last_level_words, shown_bytes
from rooflab.measure.measurement import Measurement
from rooflab.predict.explain import Explanation

CLEARLY = 1.15  # two times that differ by less are the same, with the noise of a laptop
BETTER = 0.95  # times the row above: a smaller gain in score or time is none
LARGE = 2**18  # numbers of a vector that golf's cache does not hold
ONE_TRIP_MORE = 1.2  # times five trips: a line is fetched before it is written over


@cache
def counted() -> float:
    """Bytes that NumPy moves for ``0.5 * x + y``, as golf counts them, over those of AXPY."""
    ones = np.ones(LARGE)
    return golf(lambda x, y: 0.5 * x + y, ones, ones.copy()).bytes / axpy(LARGE, "fp64").bytes


def _alike(one: float, other: float) -> bool:
    """Whether neither is clearly more than the other."""
    return one <= CLEARLY * other and other <= CLEARLY * one


CLOCK_AND_BYTES = "NumPy's line took {ratio:times} as long as AXPY; the bytes say {by_bytes:times}."
EXPRESSION: Rows = (
    ("more than the bytes", lambda ratio, by_bytes: ratio > CLEARLY * by_bytes,
     "So the bytes are not all of it. The next part finds out what the rest is."),
    ("less than the bytes", lambda ratio, by_bytes: ratio * CLEARLY < by_bytes,
     "Less than the bytes ask for: a cache held a part of them, or something else was running "
     "while AXPY was timed. Measure again before you believe it."),
    ("as counted", None, "The count explains it."),
)


def expression(numpy: Measurement, blas: Measurement) -> Conclusion:
    """NumPy's expression beside BLAS's AXPY: does the clock agree with the bytes?"""
    ratio = numpy.median_s / blas.median_s
    return choose(CLOCK_AND_BYTES, EXPRESSION, of=(numpy, blas), ratio=ratio, by_bytes=counted())


TIMES_OF_AXPY = (
    "| | times as long as AXPY | | |\n|---|---|---|---|\n"
    "| the bytes ordered, 40 against 24 | {by_bytes:3} | | counted |\n{out}\n{line}\n\n"
)
OUT: Rows = (
    ("helps", lambda one_line, two_calls: one_line > CLEARLY * two_calls,
     "On this computer `out=` does help, and you know why: **it saves the allocation, not "
     "the trips.**"),
    ("hurts", lambda one_line, two_calls: two_calls > CLEARLY * one_line,
     "On this computer `out=` even takes longer than the one line. **It saves no trip**, and here "
     "it does not save time either."),
    ("no difference", None,
     "On this computer `out=` makes hardly a difference: new memory is cheap here, and **the trips "
     "are the same.**"),
)


def out(numpy: Measurement, with_out: Measurement, blas: Measurement) -> Conclusion:
    """The one line, and the same two calls with ``out=``: does it help, and with what?"""
    one_line, two_calls = (m.median_s / blas.median_s for m in (numpy, with_out))
    return choose(
        TIMES_OF_AXPY, OUT, of=(numpy, with_out, blas), one_line=one_line, two_calls=two_calls,
        by_bytes=counted(), out=_cause("with_out", two_calls, counted(), most=ONE_TRIP_MORE),
        line=_cause("expression", one_line, two_calls),
    )


CAUSES = {
    "with_out": "**fetched lines**: most processors fetch a line before it is written over, which "
                "is one trip more, ×1.2",
    "expression": "**fresh memory**: the system has to find and zero every new array",
}
CAUSE: Rows = (
    ("", lambda step: step * CLEARLY < 1,
     "less than the row above: a cache held a part, or something else was running"),
    ("", lambda step, most: CLEARLY <= step <= CLEARLY * most, "{cause}"),
    ("", lambda step, most: step > CLEARLY * most, "{cause}; ×{beyond:3} is left unexplained"),
    ("", None, "about the same as the row above"),
)


def _cause(program: str, ratio: float, above: float, most: float = math.inf) -> str:
    """A row of the table: its cause where ``program`` takes clearly longer than the row above.

    ``most``: what the cause can account for; what is clearly more is said to be unexplained.
    """
    step = ratio / above
    return choose(
        "| `{program}`, measured | {ratio:3} | ×{step:3} |", CAUSE, "|", program=program,
        ratio=ratio, step=step, most=most, beyond=step / most, cause=CAUSES[program],
    ).text


BYTES_FALL = (
    "The largest piece moves {most:.0f} bytes for each number, and pieces of up to {fitting:,} "
    "{unit} move {fewest:.0f}."
)
ROUNDS = "with pieces of {smallest:,} {unit} there are {rounds:,} of them"
PIECES: Rows = (
    ("a valley", lambda large, small: large and small,
     "{fall} The best piece has {best:,} {unit}. Smaller ones are slower again, though they move "
     "no more bytes: now Python is the cost. Each piece takes some calls and some slicing, "
     f"{{call:s}} here, and {ROUNDS}. **The time is bytes plus calls{{cache}}**; in between lies "
     "the best piece."),
    ("bytes decide", lambda large, small: large and not small,
     "{fall} It stays low down to the smallest piece: Python's calls cost little beside the bytes "
     f"here, though {ROUNDS}. **The time is bytes plus calls{{cache}}**; still smaller pieces "
     "would show the calls."),
    ("calls decide", lambda large, small: small and not large,
     "And yet {largest}: a cache is larger than golf assumed, or the memory is fast. What you do "
     f"see are the calls, for each piece takes several: {ROUNDS}. **In small pieces the calls "
     "decide**; what the bytes cost does not show."),
    ("flat", lambda large, small: not large and not small,
     "The times hardly differ here, so neither the bytes nor the calls can be seen. Something else "
     "set the pace; close other programs and measure again."),
)
LARGEST_PIECE = {
    True: "no smaller piece is faster than the largest",
    False: "the largest piece is hardly slower than the best one",
}


def pieces(sweep: ChunkSweep, unit: str = "numbers") -> Conclusion:
    """What the table of chunk sizes shows: where the bytes fall, and what calls cost.

    ``unit``: what a chunk is counted in; the last chunk is all of them at once.
    """
    sizes, seconds, per_element = sweep.chunks, sweep.seconds, _per_element(sweep)
    best, fewest = min(range(len(sizes)), key=seconds.__getitem__), min(per_element)
    large, small = (seconds[end] > CLEARLY * seconds[best] for end in (-1, 0))
    fall = _time_falls(sweep, best, unit)
    shape = choose(
        BYTES_FALL, PIECES, large=large, small=small, unit=unit, best=sizes[best], fewest=fewest,
        fitting=max(n for n, each in zip(sizes, per_element, strict=True) if each < 1.2 * fewest),
        most=per_element[-1], smallest=sizes[0], rounds=_rounds(sweep, 0), fall=fall.text,
        largest=LARGEST_PIECE[best == len(sizes) - 1], call=large and small and _call(sweep, best),
        cache=", and the cache that a piece fits" * bool(fall.case),
    )
    return replace(shape, case=f"{shape.case}, {fall.case}") if large and fall.case else shape


def _per_element(sweep: ChunkSweep) -> list[float]:
    return [one.per_element for one in sweep.golfs]


def _rounds(sweep: ChunkSweep, piece: int) -> int:
    """How many pieces there are, the last of which may be smaller."""
    return -(-sweep.chunks[-1] // sweep.chunks[piece])


def _call(sweep: ChunkSweep, best: int) -> float:
    """Seconds that a piece costs beyond its bytes: the smallest pieces beside the ``best`` ones."""
    return (sweep.seconds[0] - sweep.seconds[best]) / (_rounds(sweep, 0) - _rounds(sweep, best))


FACTORS = (
    "From the largest piece to the best one the bytes fall by a factor of {fewer:3}, the time by "
    "{quicker:3}."
)
LARGE_T = "A large piece also needs a large `t`, and fresh memory costs extra."
TIME_FALLS: Rows = (
    ("", lambda quicker, fewer, equal: quicker * CLEARLY < fewer and not equal,
     "The time falls too, but less than the bytes."),
    ("", lambda quicker, fewer, equal: _alike(quicker, fewer) and not equal,
     "The time falls with the bytes."),
    ("a nearer cache", lambda quicker, fewer, equal: quicker <= CLEARLY * fewer and equal, ""),
    ("more than the bytes", lambda quicker, fewer: CLEARLY * fewer < quicker <= fewer**2,
     f"Not all is the bytes. {LARGE_T}"),
    ("more than the bytes", lambda quicker, fewer: quicker > max(CLEARLY * fewer, fewer**2),
     f"Most of that is not the bytes. {LARGE_T}"),
)
EQUAL_BYTES: Rows = (
    ("", lambda equal: equal,
     "Pieces of {pieces} {unit} move as few bytes as the best one and take longer. Smaller pieces "
     "may fit a nearer cache; or something else was running."),
)


def _time_falls(sweep: ChunkSweep, best: int, unit: str) -> Conclusion:
    """How far the bytes explain the fall of the time, from all at once to the ``best`` piece.

    The case is "" where they explain it.
    """
    seconds, per_element = sweep.seconds, _per_element(sweep)
    equal = [
        f"{size:,}"
        for i, size in enumerate(sweep.chunks)
        if i > best and seconds[i] > CLEARLY * seconds[best] and per_element[i] <= per_element[best]
    ]
    return choose(
        FACTORS, TIME_FALLS, EQUAL_BYTES, quicker=seconds[-1] / seconds[best], equal=equal,
        fewer=per_element[-1] / per_element[best], pieces=" and ".join(equal), unit=unit,
    )


WHERE = "The point of the short vectors, `{op}` with {size:B},"
WARM: Rows = (
    ("above the roof", lambda share: share > CLEARLY,
     "hangs *above* the roof, at {share:times} its height. No memory can do that, and none did: "
     "they lay in a cache, and a cache is what was timed."),
    ("below the roof", lambda share: share * CLEARLY < 1,
     "lies *below* the roof here, at {share:times} its height: so short a call is partly the call "
     "itself. They lay in a cache all the same."),
    ("at the roof", None,
     "lies close to the roof, at {share:times} its height. That is chance: they lay in a cache, "
     "which is faster, and the call itself took a part of the time."),
)


def warm(why: Explanation, measured: Measurement) -> Conclusion:
    """Where AXPY on short vectors, again and again, lies beside the roof of memory.

    ``why``: what ``rl.explain`` says of ``measured``.
    """
    op = why.op
    return choose(WHERE, WARM, of=(measured,), op=op.label, size=op.working_set, share=why.share)


HOLES: Rows = (
    ("nothing to compare", lambda better: not better,
     "No way has a better score than the one above it."),
    ("in order", lambda better, against: better and not against,
     "Wherever the score gets better from one row to the next, the time does too, by 5 % at least: "
     "the bytes set the order."),
    ("not always", lambda against: against > 0,
     "In {in_order} of {better} rows with a better score than the one above, the time is better "
     "too, by 5 % at least. Not in these: {ways}."),
)


def holes(table: Sequence[tuple[str, float, float]]) -> Conclusion:
    """Whether a better score is also a better time.

    ``table``: hole, score and seconds of every way to play it, from the worst to the best.
    """
    better = [(a, b) for a, b in pairwise(table) if a[0] == b[0] and b[1] < BETTER * a[1]]
    against = [b for a, b in better if b[2] > BETTER * a[2]]
    return choose(
        HOLES, better=len(better), against=len(against), in_order=len(better) - len(against),
        ways="; ".join(f"{hole}, {score:.2f}" for hole, score, _ in against),
    )


def largest() -> Conclusion:
    """How large the largest cache is taken to be, and who says so."""
    used, shown = last_level_bytes(), shown_bytes()
    assumed = shown is None and used == FALLBACK
    case = "assumed" if assumed else "shown" if used == shown else "told"
    return Conclusion(case, f"Your largest cache has {last_level_words()}.")


TYPES: Rows = (
    ("half", lambda ratio: 2 / CLEARLY < ratio < 2 * CLEARLY, "Half the bytes, half the time."),
    ("less", lambda ratio: ratio <= 2 / CLEARLY,
     "The bytes say twice. Either something else was running, or the smaller vectors are not "
     "limited by the memory alone."),
    ("more", lambda ratio: ratio >= 2 * CLEARLY,
     "The bytes say twice. Either something else was running, or a cache holds a part of the "
     "smaller vectors."),
)


def types(wide: Measurement, narrow: Measurement) -> Conclusion:
    """Whether half the bytes take half the time: AXPY on as many numbers in fp64 and fp32."""
    return choose(
        "fp64 takes {ratio:times} as long as fp32 here.", TYPES, of=(wide, narrow),
        ratio=wide.median_s / narrow.median_s,
    )


TRIPS = (
    "The one line holds {fresh:of new array} at a time, so it makes {trips} trips, {more:times} "
    "those of AXPY, and it took {one_line:times} as long. With `out=` there are 6 trips, twice "
    "those of AXPY, and it took {two_calls:times} as long."
)
FETCHING: Rows = (
    ("fetching avoided", lambda two_calls: two_calls * CLEARLY < 2,
     "Fewer bytes than that travelled: your processor has got around the fetching, or something "
     "else was running while AXPY was timed."),
)
FRESH: Rows = (
    ("fresh memory", lambda rest: rest > CLEARLY,
     "Beyond its trips, the one line takes {rest:times} as long as `out=`. That is the price of "
     "fresh memory, which only the one line asks for."),
)
BEYOND_TRIPS: Rows = (
    ("more than the trips", lambda two_calls: two_calls > CLEARLY * 2,
     "That is more than their trips ask for, and `out=` asks for no memory. Something else was "
     "running, or NumPy's loops do not reach the bandwidth that AXPY does."),
)
OUT_SLOWER: Rows = (
    ("out= slower", lambda rest: rest * CLEARLY < 1,
     "For its trips, the one line is {as_fast:times} as fast as `out=`: its new memory costs "
     "nothing here, and something else may have run beside `out=`."),
    ("the trips", lambda rest, two_calls: _alike(rest, 1) and _alike(two_calls, 2),
     "As far as this clock can tell, both cost what their trips cost."),
)


def write_allocate(
    numpy: Measurement, with_out: Measurement, blas: Measurement, fresh: int
) -> Conclusion:
    """Whether the one line and the two calls take as long as their trips to memory say.

    ``fresh``: new arrays that the one line holds at a time.
    """
    one_line, two_calls = numpy.median_s / blas.median_s, with_out.median_s / blas.median_s
    trips = 5 + min(fresh, 2)
    rest = one_line / two_calls * 6 / trips
    return choose(
        TRIPS, FETCHING, FRESH, BEYOND_TRIPS, OUT_SLOWER, of=(numpy, with_out, blas), fresh=fresh,
        trips=trips, more=trips / 3, one_line=one_line, two_calls=two_calls, rest=rest,
        as_fast=1 / rest,
    )


CONCLUSIONS: Mapping[str, Callable[..., Conclusion]] = {
    "02-cache": largest, "02-expression": expression, "02-out": out, "02-pieces": pieces,
    "02-warm": warm, "02-holes": holes, "02-types": types, "02-write-allocate": write_allocate,
}

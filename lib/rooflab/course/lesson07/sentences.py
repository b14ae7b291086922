"""Sentences of lesson 07, chosen from the times of the reader's own loops, tiled and not."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence

from rooflab.count.si import times
from rooflab.exercises.sentences import ABOVE_THE_PEAK, Conclusion, Rows, choose, speed_table
from rooflab.labs.cache.hierarchy import Cache
from rooflab.labs.cache.two_costs import TurnCost
from rooflab.measure.measurement import Measurement
from rooflab.predict.machine import Machine

NO_TILE, LIBRARY, TURNED = "no tile", "library", "j inside"
FAR = 2  # times as fast as three loops: a library that gains less is no good one
GOOD = 1.3  # times: a prediction that is off by less is a good one
CLEARLY = 1.15  # times: a smaller gain is none, with the noise of a laptop

LOOPS_AND_LIBRARY = (
    "The textbook's loops took {slow:s}, the library {fast:s}: it is {ratio:times} as fast. It "
    "reaches {fast_share:percent} of this core's peak, the loops reach {slow_share:percent}."
)
TEXTBOOK: Rows = (
    ("alike", lambda ratio: ratio < FAR,
     "That is little. Perhaps the library is a simple one, or the compiler has reordered the "
     "loops."),
    ("far", lambda ratio: ratio >= FAR,
     "Both do the same multiply-adds on the same numbers."),
)


def textbook(slow: Measurement, fast: Measurement, core: Machine) -> Conclusion:
    """Three loops beside the library, and what share of the core's peak each reaches."""
    peak = core.peak(slow.op.compute_dtype.name)
    return choose(
        LOOPS_AND_LIBRARY, ABOVE_THE_PEAK, TEXTBOOK, of=(slow, fast),
        ratio=slow.median_s / fast.median_s, share=fast.flop_per_s / peak,
        slow=slow.median_s, slow_share=slow.flop_per_s / peak,
        fast=fast.median_s, fast_share=fast.flop_per_s / peak,
    )


OF_TILES: Rows = (
    ("tiles help", lambda gain: gain > CLEARLY,
     "The best tile, {tile}, makes the same loops {gain:times} as fast. A tile moves fewer bytes "
     "and waits less, because its sums are short and a core can begin the next while one ends. "
     "These times cannot separate the two. What limits the tiles is the order of the "
     "work: numbers are added one at a time, and within a sum each addition waits for the one "
     "before it."),
    ("tiles do not help", lambda gain: gain < 1 / CLEARLY,
     "Tiles alone cost time here: the best of them, {tile}, takes {loss:times} as long as the "
     "loops without tiles. Short loops begin and end more often, and the caches of this machine "
     "needed no help."),
    ("tiles do not help", lambda gain: 1 / CLEARLY <= gain <= CLEARLY,
     "Tiles alone gain nothing here that stands out from the noise. The caches of this machine are "
     "fast enough for the loops without tiles, and the order of the work limits both: numbers are "
     "added one at a time, and within a sum each addition waits for the one before."),
)
OF_ORDER: Rows = (
    ("order helps", lambda turned_gain: turned_gain > CLEARLY,
     "With j inside, the best tile is {turned_gain:times} as fast as that: neighbours are added "
     "side by side, and no sum waits for itself."),
    ("order costs", lambda turned_gain: turned_gain < 1 / CLEARLY,
     "With j inside the best of them takes {turned_loss:times} as long as that. Measure once more "
     "with nothing else running."),
    ("order does not", lambda turned_gain: 1 / CLEARLY <= turned_gain <= CLEARLY,
     "With j inside it is no faster. That is unusual: either the compiler has not used the vector "
     "units, or it had used them before. Measure once more with nothing else running."),
)
OF_LIBRARY: Rows = (
    ("", lambda library_gain: library_gain > CLEARLY,
     "The library is still {library_gain:times} as fast. Libraries keep a whole tile of sums in "
     "registers or in a matrix unit, and most of them pack A and B. Lesson 09 lets the machine "
     "find that."),
    ("", lambda library_gain: library_gain < 1 / CLEARLY,
     "The best with j inside is {library_loss:times} as fast as the library."),
    ("", lambda library_gain: 1 / CLEARLY <= library_gain <= CLEARLY,
     "The best with j inside is as fast as the library."),
)


def tiles(timed: Mapping[str, Measurement], core: Machine) -> Conclusion:
    """The ways by time, and what tiles and the order within them brought on this machine."""
    seconds = {name: one.median_s for name, one in timed.items()}
    turned = {name: s for name, s in seconds.items() if TURNED in name}
    tiled = {name: s for name, s in seconds.items() if name not in (NO_TILE, LIBRARY, *turned)}
    best, best_turned = min(tiled, key=tiled.__getitem__), min(turned.values())
    gain, library_gain = seconds[NO_TILE] / seconds[best], best_turned / seconds[LIBRARY]
    return choose(
        "{table}\n\n", ABOVE_THE_PEAK, OF_TILES, OF_ORDER, OF_LIBRARY, of=timed.values(),
        share=max(one.flop_per_s / core.peak(one.op.compute_dtype.name) for one in timed.values()),
        table="\n".join(speed_table("", timed, core)), tile=best, gain=gain, loss=1 / gain,
        turned_gain=seconds[best] / best_turned, turned_loss=best_turned / seconds[best],
        library_gain=library_gain, library_loss=1 / library_gain,
    )


COSTS: Rows = (
    ("", lambda bytes_ns: bytes_ns == 0,
     "Without tiles, a turn costs {turn_ns:2} ns here, and bytes cost nothing measurable."),
    ("", lambda turn_ns: turn_ns == 0,
     "Without tiles, 64 bytes that are fetched cost {bytes_ns:2} ns here, and turns cost nothing "
     "measurable."),
    ("", lambda bytes_ns, turn_ns: bytes_ns != 0 != turn_ns,
     "Without tiles, a turn costs {turn_ns:2} ns here, and 64 bytes that are fetched cost "
     "{bytes_ns:2} ns more."),
)
MISSES: Rows = (
    ("near", lambda error: error <= GOOD,
     "The prediction is off by a factor of {error:.2f} at most."),
    ("near but for one", lambda outlier: outlier,
     "For N = {worst} the prediction is off by a factor of {error:3}; for all others by {others:3} "
     "at most. At that size a column of B lies in only {sets} of the {all_sets} sets of the "
     "simulated cache, fewer than at any other size here. The two costs count turns and bytes, "
     "not what so few sets cost on top."),
    ("off", lambda error, outlier: error > GOOD and not outlier,
     "The prediction is off by a factor of {error:3}. Two costs were not enough here: perhaps a "
     "larger matrix leaves a cache that the small ones were in, or something else ran meanwhile."),
)
PLAIN_LOOPS: Rows = (
    ("", lambda outlier, longer: outlier and longer > 1,
     "The loops without tiles took longer there than predicted."),
    ("", lambda outlier, longer: outlier and longer < 1,
     "The loops without tiles took less time there than predicted: perhaps this machine's cache "
     "spreads a column better than the simulated one."),
)


def unseen(
    predicted: Mapping[int, Sequence[float]],
    measured: Mapping[int, Sequence[float]],
    plain_loops: TurnCost,
    cache: Cache,
) -> Conclusion:
    """Speed-ups by tiles, predicted from small sizes and measured on larger ones.

    Each value is the seconds without tiles and with them, by N, of matrices in fp32.
    ``plain_loops``: what was found of the program without tiles. ``cache``: the first one.
    """
    rows, errors = ["| N | speed-up from tiles, predicted | measured |", "|---|---|---|"], {}
    for N in measured:
        told, found = (seconds[N][0] / seconds[N][1] for seconds in (predicted, measured))
        rows.append(f"| {N} | {times(told)} | {times(found)} |")
        errors[N] = max(told / found, found / told)
    worst = max(errors, key=errors.__getitem__)
    others = max((errors[N] for N in errors if worst != N), default=math.inf)
    longer = measured[worst][0] / predicted[worst][0]
    # sets say nothing of it where only the loops with tiles are off
    plain_are_off = max(longer, 1 / longer) > CLEARLY
    outlier = others <= GOOD < errors[worst] and plain_are_off and _few_sets(worst, errors, cache)
    return choose(
        "{table}\n\n", COSTS, MISSES, PLAIN_LOOPS, table="\n".join(rows),
        turn_ns=plain_loops.turn_s * 1e9, bytes_ns=plain_loops.byte_s * 64e9,
        worst=worst, error=errors[worst], others=others, outlier=outlier, longer=longer,
        sets=column_sets(worst, cache), all_sets=cache.sets,
    )


def _few_sets(N: int, sizes: Iterable[int], cache: Cache) -> bool:
    """Whether a column lies in fewer sets at ``N`` than at every other size."""
    return all(column_sets(N, cache) < column_sets(one, cache) for one in sizes if one != N)


def column_sets(rows: int, cache: Cache, itemsize: int = 4) -> int:
    """In how many sets of a cache a column of a square matrix lies."""
    return len({row * rows * itemsize // cache.line % cache.sets for row in range(rows)})


CONCLUSIONS: Mapping[str, Callable[..., Conclusion]] = {
    "07-textbook": textbook, "07-tiles": tiles, "07-unseen": unseen,
}

"""Sentences of lesson 07, chosen from the times of the reader's own loops, tiled and not."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence

from rooflab.conclusions import Conclusion, cautions, fold, speed_table
from rooflab.count.si import percent, plain, si
from rooflab.labs.cache.hierarchy import Cache
from rooflab.labs.cache.two_costs import TurnCost
from rooflab.measure.measurement import Measurement
from rooflab.predict.machine import Machine

NO_TILE, LIBRARY, TURNED = "no tile", "library", "j inside"
GOOD = 1.3  # times: a prediction that is off by less is a good one
CLEARLY = 1.15  # times: a smaller gain is none, with the noise of a laptop


def textbook(slow: Measurement, fast: Measurement, core: Machine) -> Conclusion:
    """Three loops beside the library, and what share of the core's peak each reaches."""
    ratio, peak = slow.median_s / fast.median_s, core.peak(slow.op.compute_dtype.name)
    shares = [one.flop_per_s / peak for one in (fast, slow)]
    said = (
        f"The textbook's loops took {si(slow.median_s, 's')}, the library "
        f"{si(fast.median_s, 's')}: it is {fold(ratio)} as fast. It reaches {percent(shares[0])} "
        f"of this core's peak, the loops reach {percent(shares[1])}."
    )
    doubts = cautions(slow, fast)
    if ratio < 2:
        return Conclusion(
            "alike",
            f"{said} That is little. Perhaps the library is a simple one, or the compiler has "
            f"turned the loops round.{doubts}",
        )
    return Conclusion("far", f"{said} Both use every number of A and B equally often.{doubts}")


def tiles(timed: Mapping[str, Measurement], core: Machine) -> Conclusion:
    """The ways by time, and what tiles and the order within them brought on this machine."""
    rows = speed_table("", timed, core)
    seconds = {name: one.median_s for name, one in timed.items()}
    turned = {name: s for name, s in seconds.items() if TURNED in name}
    plain_tiles = {
        name: s for name, s in seconds.items() if name not in (NO_TILE, LIBRARY, *turned)
    }
    best, best_turned = min(plain_tiles, key=plain_tiles.__getitem__), min(turned.values())
    gain, more = seconds[NO_TILE] / seconds[best], seconds[best] / best_turned
    said = [_of_tiles(best, gain), _of_order(more), _of_library(best_turned / seconds[LIBRARY])]
    case = f"{'tiles help' if gain > CLEARLY else 'tiles do not help'}, " + (
        "order helps" if more > CLEARLY else "order does not"
    )
    return Conclusion(case, "\n".join([*rows, "", " ".join(said)]) + cautions(*timed.values()))


def _of_tiles(best: str, gain: float) -> str:
    if gain > CLEARLY:
        return (
            f"The best tile, {best}, makes the same loops {fold(gain)} as fast. What limits them "
            "now is hardly the bytes, but the order of the work: numbers are added one at a time, "
            "and within a sum each addition waits for the one before it. Part of the gain may not "
            "be the bytes' either: in a tile the sums are short, and a core can begin the next "
            "while one ends."
        )
    if gain < 1 / CLEARLY:
        return (
            f"Tiles alone cost time here: the best of them, {best}, takes {fold(1 / gain)} as long "
            "as the loops without tiles. Short loops begin and end more often, and the caches of "
            "this machine needed no help."
        )
    return (
        "Tiles alone bring nothing here that could be told from noise. The caches of this machine "
        "are fast enough for the loops without tiles, and the order of the work limits both: "
        "numbers are added one at a time, and within a sum each addition waits for the one before."
    )


def _of_order(more: float) -> str:
    if more > CLEARLY:
        return (
            f"With j inside, the best of them is {fold(more)} as fast as that: neighbours are "
            "added side by side, and no sum waits for itself."
        )
    return (
        "With j inside it is no faster. That is unusual: either the compiler has not used the "
        "vector units, or it had used them before. Measure once more with nothing else running."
    )


def _of_library(left: float) -> str:
    if left > CLEARLY:
        return (
            f"The library is still {fold(left)} as fast. Libraries keep a whole tile of sums in "
            "registers or in a matrix unit, and most of them pack A and B. Lesson 09 lets the "
            "machine find that."
        )
    if left < 1 / CLEARLY:
        return (
            f"The best with j inside is {fold(1 / left)} as fast as the library: NumPy here may "
            "have a simple one."
        )
    return "The best with j inside is as fast as the library."


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
    rows, errors = ["| N | tiles bring, predicted | measured |", "|---|---|---|"], {}
    for N in measured:
        told, found = (times[N][0] / times[N][1] for times in (predicted, measured))
        rows.append(f"| {N} | ×{plain(told, 3)} | ×{plain(found, 3)} |")
        errors[N] = max(told / found, found / told)
    longer = {N: measured[N][0] / predicted[N][0] for N in measured}
    case, said = _how_far_off(errors, longer, cache)
    return Conclusion(case, "\n".join([*rows, "", f"{_of_costs(plain_loops)} {said}"]))


def _of_costs(loops: TurnCost) -> str:
    """What a turn of the loops without tiles costs, and 64 bytes."""
    turn, moved = loops.turn_s * 1e9, loops.byte_s * 64e9
    if not moved:
        return (
            f"Without tiles, a turn costs {plain(turn, 2)} ns here, and bytes cost nothing that "
            "could be seen."
        )
    return (
        f"Without tiles, a turn costs {plain(turn, 2)} ns here, and 64 bytes that are fetched cost "
        f"{plain(moved, 2)} ns more."
    )


def _how_far_off(
    errors: Mapping[int, float], longer: Mapping[int, float], cache: Cache
) -> tuple[str, str]:
    """The case and the sentences for factors by which predictions are off, by N.

    ``longer``: how many times as long as predicted the loops without tiles took.
    """
    worst = max(errors, key=errors.__getitem__)
    off = plain(errors[worst], 3)
    others = max((errors[N] for N in errors if worst != N), default=math.inf)
    if errors[worst] <= GOOD:
        return "near", f"The prediction is off by a factor of {off} at most."
    own = max(longer[worst], 1 / longer[worst])
    # sets say nothing of it where only the loops with tiles are off
    if others <= GOOD and own > CLEARLY and _few_sets(worst, errors, cache):
        return "near but for one", (
            f"For N = {worst} the prediction is off by a factor of {off}; for all others by "
            f"{plain(others, 3)} at most. {_of_sets(worst, longer[worst], cache)}"
        )
    return "off", (
        f"The prediction is off by a factor of {off}. Two costs were not enough here: perhaps a "
        "larger matrix leaves a cache that the small ones were in, or something else ran meanwhile."
    )


def _of_sets(N: int, longer: float, cache: Cache) -> str:
    """What there is to say of loops without tiles whose column of B lies in few sets."""
    said = (
        f"There a column of B lies in {column_sets(N, cache)} of the {cache.sets} sets of the "
        "simulated cache, and at no other of these sizes in so few. The two costs count turns and "
        "bytes, and do not know what so few sets cost besides."
    )
    if longer > 1:
        return f"{said} The loops without tiles took longer there than predicted."
    return (
        f"{said} The loops without tiles took less time there than predicted: perhaps this "
        "machine's cache spreads a column better than the simulated one."
    )


def _few_sets(N: int, sizes: Iterable[int], cache: Cache) -> bool:
    """Whether a column lies in fewer sets at ``N`` than at every other size."""
    return all(column_sets(N, cache) < column_sets(one, cache) for one in sizes if one != N)


def column_sets(rows: int, cache: Cache, itemsize: int = 4) -> int:
    """In how many sets of a cache a column of a square matrix lies."""
    return len({row * rows * itemsize // cache.line % cache.sets for row in range(rows)})


CONCLUSIONS: Mapping[str, Callable[..., Conclusion]] = {
    "07-textbook": textbook,
    "07-tiles": tiles,
    "07-unseen": unseen,
}

"""Our check of a schedule's legality beside isl's: do they agree, and how long does each take?

Random small nests say whether they agree. A product of 1024 in eight loops says how long a check
takes that a search makes for every candidate. Both ways run in turn.

    python -m benchmarks.loop_legality [--nests 300] [--rounds 9]
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable

from benchmarks.report import in_turn, save, spread, table
from rooflab.labs.loops.nest import Nest
from tests.labs.loops.support.isl import polyhedral
from tests.labs.loops.support.random_nests import scheduled

WAYS = {"rooflab": Nest.check, "isl": polyhedral}


def product(n: int = 1024) -> Nest:
    """A product in eight loops, with registers, lanes and threads."""
    nest = Nest({"i": n, "j": n, "k": n}, "C[i,j] += A[i,k]*B[k,j]")
    split = nest.split("j", n // 4).split("ji", 32).split("i", n // 8).split("ii", 8)
    ordered = split.split("k", n // 4).reorder("io", "jo", "ko", "jio", "iio", "ki", "iii", "jii")
    return ordered.unroll("iii").vectorize("jii").parallel("io")


def stencil(n: int = 1000) -> Nest:
    """A recurrence along diagonals, skewed and tiled: its tiles are not separable."""
    nest = Nest({"i": (1, n + 1), "j": n}, "A[i,j] = A[i-1,j+1]*0.5")
    return nest.skew("j", "i").tile({"i": 32, "j": 32})


def agreement(nests: int) -> tuple[int, int]:
    """How many verdicts agree, and of how many."""
    found = [
        Nest.check(nest, mode).ok == polyhedral(nest, mode)[0]
        for nest in map(scheduled, range(nests))
        for mode in (True, False)
    ]
    return sum(found), len(found)


def timed(way: Callable[..., object], nest: Nest) -> Callable[[], float]:
    """The seconds of one check."""

    def once() -> float:
        start = time.perf_counter()
        way(nest, True)
        return time.perf_counter() - start

    return once


def main(arguments: list[str] | None = None) -> dict[str, object]:
    """Compare, print the table, keep the result."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nests", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=9)
    asked = parser.parse_args(arguments)
    agree, verdicts = agreement(asked.nests)
    nests = {"product of 1024, 8 loops": product(), "skewed and tiled, 1000 × 1000": stencil()}
    ways = {
        f"{name}: {who}": timed(way, nest)
        for name, nest in nests.items()
        for who, way in WAYS.items()
    }
    seconds = in_turn(ways, asked.rounds)
    rows = [(name, *spread(times, 1e3)) for name, times in seconds.items()]
    table(("check", "median ms", "lowest", "highest"), rows)
    print(f"{agree} of {verdicts} verdicts on {asked.nests} random schedules agree with isl")
    medians = {name: statistics.median(times) for name, times in seconds.items()}
    result = {"agree": agree, "verdicts": verdicts, "median_s": medians, "seconds": seconds}
    save("loop_legality", result)
    return result


if __name__ == "__main__":
    main()

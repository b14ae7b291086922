"""How well are tiles' speed-ups predicted on sizes that were never run? Lesson 07's two costs.

Small sizes, timed with and without tiles of 80, give the cost of a turn and of a byte. They predict
the gain on larger sizes, which are then timed. All runs of a round are taken in turn.

    python -m benchmarks.blocked_gemm [--rounds 5]
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Callable

import rooflab as rl
from benchmarks.report import in_turn, save, spread, table
from rooflab.course.lesson07.sentences import column_sets
from rooflab.labs.loops.nest import Nest

TILE = 80
SMALL, UNSEEN = (160, 240, 320, 400, 480), tuple(range(560, 1121, TILE))
WAYS = ("no tile", "tiles")


def programs(n: int) -> tuple[Nest, Nest]:
    """The textbook's product, and the same in tiles with j inside."""
    plain = Nest({"i": n, "j": n, "k": n}, "C[i,j] += A[i,k]*B[k,j]")
    return plain, plain.tile(dict.fromkeys("ijk", TILE)).interchange("ji", "ki")


def moved(n: int, cache: rl.cache.Cache) -> tuple[float, float]:
    """Bytes of the first cache: simulated on some rows of C, and by the formula for tiles."""
    rows = 4
    plain = rl.cache.simulate(rl.cache.gemm_stream(rows, n, n), cache).bytes() * n / rows
    formula = rl.cache.tile_ledger(rl.cache.gemm_stream(n, n, n, tile=TILE), depth=3)
    return plain, float(sum(one.bytes for one in formula.values()))


def timed(nest: Nest, n: int) -> Callable[[], float]:
    """The seconds of some runs of a nest."""
    op = rl.gemm(n, n, n, accumulate=True)
    return lambda: nest.measure(op, samples=1, seconds=0.01).median_s


def show(rows: list[list[object]]) -> list[float]:
    """Print the table; return by what factors the predictions are off, the least first."""
    head = ["N", "sets of a column", "gain, predicted", "measured", "off by", "ms, no tile",
            "ms, tiles"]  # fmt: skip
    table(head, rows)
    off = sorted(float(str(row[4])) for row in rows)
    print(
        f"off by a factor of {statistics.median(off):.2f} in the median, {off[-1]:.2f} at most "
        "(asked: 1.3)"
    )
    return off


def main(arguments: list[str] | None = None) -> dict[str, object]:
    """Measure, predict, print the table, keep the result."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args(arguments).rounds
    cache = rl.cache.Hierarchy.like(rl.this_machine(threads=1)).caches[0]
    runs = {
        f"{n} {way}": timed(nest, n)
        for n in (*SMALL, *UNSEEN)
        for way, nest in zip(WAYS, programs(n))
    }
    samples = in_turn(runs, rounds)
    seconds = {name: statistics.median(each) for name, each in samples.items()}
    traffic = {n: moved(n, cache) for n in (*SMALL, *UNSEEN)}
    costs = [
        rl.cache.turn_cost(
            [n**3 for n in SMALL],
            [traffic[n][at] for n in SMALL],
            [seconds[f"{n} {way}"] for n in SMALL],
        )
        for at, way in enumerate(WAYS)
    ]
    rows: list[list[object]] = []
    for n in UNSEEN:
        said = [cost.seconds(n**3, b) for cost, b in zip(costs, traffic[n])]
        gain = said[0] / said[1]
        found = seconds[f"{n} no tile"] / seconds[f"{n} tiles"]
        spreads = [spread(samples[f"{n} {way}"], 1e3) for way in WAYS]
        rows.append([n, column_sets(n, cache), gain, found, max(gain / found, found / gain),
                     *(f"{low:.3g} to {high:.3g}" for _, low, high in spreads)])  # fmt: skip
    off = show(rows)
    result = {"seconds": seconds, "off": off, "rows": rows,
              "costs": [[cost.turn_s, cost.byte_s] for cost in costs]}  # fmt: skip
    save("blocked_gemm", result)
    return result


if __name__ == "__main__":
    main()

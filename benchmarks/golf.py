"""Does time follow the score, and what does tracing cost?

Every variant of the five holes, fp64, one thread, arrays well beyond the last-level cache, with the
pieces that the holes have by default, the variants of a hole timed in turns.

First the rank correlation (Spearman) between the score and the measured seconds, within each hole
and over all variants of all holes. There both are divided by their geometric mean over the hole,
for seconds of two holes compare arithmetic too.

Then by how much par is beaten: of the variants with a worse score than the best, the one that is
quickest beside it. Golf promises that none is quicker by more than 10 %.

Last the overhead of tracing: ``rl.golf(f, …)`` against ``f(…)``, in turns, for functions of few
steps on 1e7 elements. In-place functions pay for the copy that spares the caller's array; it is in
the overhead.

    python -m benchmarks.golf [--elements 20000000] [--rounds 7]
"""

from __future__ import annotations

import argparse
import gc
import statistics
import time
from collections.abc import Callable

import numpy as np
from scipy.stats import spearmanr

import rooflab as rl
from benchmarks.report import in_turn, save, table
from rooflab.labs.golf import CACHE, HOLES, Limits, score
from rooflab.measure.caches import last_level_bytes
from rooflab.measure.threads import thread_limit

TRACED = 10_000_000  # elements for the overhead
LONG = Limits(seconds=120.0)  # of a traced run
PROMISED = 1.10  # times as quick as par: what a worse score may be at most
CLEARLY = 1.02  # a score so many times another is worse


def scores_and_seconds(elements: int, rounds: int) -> list[dict]:
    """One row a variant: hole, score, bytes an element, seconds."""
    rows = []
    for hole in HOLES.values():
        arguments = hole.make(elements)
        fewest = hole.minimum(*arguments)
        golfs = [
            rl.golf(f, *arguments, minimum=fewest, limits=LONG) for f in hole.variants.values()
        ]
        seconds = score.in_turn(golfs, rounds=rounds)
        rows += [
            {
                "hole": hole.name, "variant": name, "score": one.score, "bytes": one.bytes,
                "minimum": fewest, "per_element": one.per_element, "seconds": taken,
            }
            for name, one, taken in zip(hole.variants, golfs, seconds, strict=True)
        ]  # fmt: skip
    return rows


def par_beaten(rows: list[dict]) -> tuple[float, str]:
    """The largest ratio of par's seconds to those of a variant with a worse score, and which.

    Par is the quickest of the variants with the best score of its hole. Up to 1, par wins.
    """
    worst = (0.0, "")
    for hole in {row["hole"] for row in rows}:
        group = [row for row in rows if row["hole"] == hole]
        best = min(row["score"] for row in group)
        par = min(row["seconds"] for row in group if row["score"] <= CLEARLY * best)
        for row in group:
            if row["score"] > CLEARLY * best:
                worst = max(worst, (par / row["seconds"], f"{hole} {row['variant']}"))
    return worst


def follows(rows: list[dict]) -> float:
    """Rank correlation of score and seconds, each relative to its geometric mean in the hole."""
    pairs = []
    for hole in {row["hole"] for row in rows}:
        group = [row for row in rows if row["hole"] == hole]
        means = [statistics.geometric_mean(r[key] for r in group) for key in ("score", "seconds")]
        pairs += [(r["score"] / means[0], r["seconds"] / means[1]) for r in group]
    return float(spearmanr(*zip(*pairs, strict=True)).statistic)


def told(rows: list[dict]) -> dict[str, object]:
    """Print the rows, the correlations and how par does; the same for the file."""
    lines = [
        (r["hole"], r["variant"], r["score"], r["per_element"], 1e3 * r["seconds"],
         r["seconds"] / r["bytes"] * 1e9) for r in rows
    ]  # fmt: skip
    table(("hole", "variant", "score", "B/element", "ms", "ns/B moved"), lines)
    within = {name: follows([r for r in rows if r["hole"] == name]) for name in HOLES}
    print(f"rank correlation over all variants: {follows(rows):.3f}")
    print("within each hole: " + ", ".join(f"{k} {v:.2f}" for k, v in within.items()))
    ratio, which = par_beaten(rows)
    kept = "kept" if ratio <= PROMISED else "BROKEN"
    print(f"par beaten by: {ratio:.2f} ({which}); at most {PROMISED} is promised: {kept}")
    return {
        "correlation": follows(rows), "within": within, "par_beaten": ratio, "by": which,
        "rows": rows,
    }  # fmt: skip


def overhead(rounds: int) -> dict[str, float]:
    """Median seconds that tracing adds, for variants of few steps on 1e7 elements."""
    added = {}
    for hole in HOLES.values():
        for name, function in hole.variants.items():
            if "chunk" in function.__code__.co_varnames:
                continue  # thousands of steps: a sweep traces these on fewer elements
            arguments = hole.make(TRACED)
            plain, traced = _ways(function, arguments)
            seconds = in_turn({"plain": plain, "traced": traced}, rounds)
            pairs = zip(seconds["traced"], seconds["plain"], strict=True)
            added[f"{hole.name} {name}"] = statistics.median(a - b for a, b in pairs)
    return added


def _ways(function: Callable, arguments: tuple) -> tuple[Callable, Callable]:
    mine = [np.copy(a) if isinstance(a, np.ndarray) else a for a in arguments]

    def timed(call: Callable) -> float:
        gc.collect()
        start = time.perf_counter()
        call()
        return time.perf_counter() - start

    return lambda: timed(lambda: function(*mine)), lambda: timed(
        lambda: rl.golf(function, *arguments)
    )


def main(arguments: list[str] | None = None) -> dict[str, object]:
    """Measure, print the tables, keep the result."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--elements", type=int, default=20_000_000)
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args(arguments)
    times = 8 * options.elements / last_level_bytes()
    print(f"an array is {times:.1f} times the last-level cache")
    result: dict[str, object] = {"elements": options.elements, "rounds": options.rounds}
    result["cache"] = CACHE
    result |= told(scores_and_seconds(options.elements, options.rounds))
    with thread_limit(1):
        added = overhead(options.rounds)
    table(("tracing adds", "ms"), [(name, 1e3 * value) for name, value in added.items()])
    result["overhead_s"] = added
    save("golf", result)
    return result


if __name__ == "__main__":
    main()

"""Does time follow the score, and what does tracing cost?

Every variant of the five holes, fp64, one thread, arrays well beyond the last-level cache, timed in
turns: the rank correlation (Spearman) between the score and the measured seconds, within each hole
and over all variants of all holes, where both are divided by their geometric mean over the hole
(seconds of two holes compare arithmetic too: a division costs more than an addition). Twice: with
pieces of 32 KiB, golf's own rule, in which Python's calls cost much beside the bytes; and with pieces
of 256 KiB, counted with a cache of that size, in which they cost little. Then the overhead of tracing: ``rl.golf(f, …)`` against ``f(…)``, in turns, for functions of few steps on 1e7 elements.
In-place functions pay for the copy that spares the caller's array; it is in the overhead.

    python -m benchmarks.golf [--elements 20000000] [--rounds 7]
"""

from __future__ import annotations

import argparse
import functools
import gc
import inspect
import statistics
import time
from collections.abc import Callable

import numpy as np
from scipy.stats import spearmanr

import rooflab as rl
from benchmarks.report import in_turn, save, table
from rooflab.golf import CACHE, HOLES, stopwatch
from rooflab.measure.caches import last_level_bytes
from rooflab.measure.threads import thread_limit

TRACED = 10_000_000  # elements for the overhead
PIECES = (CACHE,)


def in_pieces(function: Callable, times: int) -> Callable:
    """``function`` with pieces ``times`` as long, if it works in pieces."""
    if "chunk" not in inspect.signature(function).parameters:
        return function
    return functools.partial(function, chunk=times * function.__defaults__[-1])


def scores_and_seconds(elements: int, rounds: int, cache: int) -> list[dict]:
    """One row a variant, in pieces of ``cache`` bytes: hole, score, bytes an element, seconds."""
    rows = []
    for hole in HOLES.values():
        arguments = hole.make(elements)
        fewest = hole.minimum(*arguments)
        ways = [in_pieces(f, cache // CACHE) for f in hole.variants.values()]
        golfs = [rl.golf(f, *arguments, minimum=fewest, cache=cache) for f in ways]
        seconds = stopwatch.in_turn(golfs, rounds=rounds)
        rows += [
            {
                "hole": hole.name, "variant": name, "score": one.score, "bytes": one.bytes,
                "minimum": fewest, "per_element": one.per_element, "seconds": taken,
            }
            for name, one, taken in zip(hole.variants, golfs, seconds, strict=True)
        ]  # fmt: skip
    return rows


def follows(rows: list[dict]) -> float:
    """Rank correlation of score and seconds, each relative to its geometric mean in the hole."""
    pairs = []
    for hole in {row["hole"] for row in rows}:
        group = [row for row in rows if row["hole"] == hole]
        means = [statistics.geometric_mean(r[key] for r in group) for key in ("score", "seconds")]
        pairs += [(r["score"] / means[0], r["seconds"] / means[1]) for r in group]
    return float(spearmanr(*zip(*pairs, strict=True)).statistic)


def told(rows: list[dict], cache: int) -> dict[str, object]:
    """Print the rows in pieces of ``cache`` bytes; rows and correlations for the file."""
    lines = [
        (r["hole"], r["variant"], r["score"], r["per_element"], 1e3 * r["seconds"],
         r["seconds"] / r["bytes"] * 1e9) for r in rows
    ]  # fmt: skip
    print(f"pieces of {cache // 1024} KiB")
    table(("hole", "variant", "score", "B/element", "ms", "ns/B moved"), lines)
    within = {name: follows([r for r in rows if r["hole"] == name]) for name in HOLES}
    print(f"rank correlation over all variants: {follows(rows):.3f}")
    print("within each hole: " + ", ".join(f"{k} {v:.2f}" for k, v in within.items()))
    return {"correlation": follows(rows), "within": within, "rows": rows}


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
    for cache in PIECES:
        rows = scores_and_seconds(options.elements, options.rounds, cache)
        result[f"{cache // 1024} KiB"] = told(rows, cache)
    with thread_limit(1):
        added = overhead(options.rounds)
    table(("tracing adds", "ms"), [(name, 1e3 * value) for name, value in added.items()])
    result["overhead_s"] = added
    save("golf", result)
    return result


if __name__ == "__main__":
    main()

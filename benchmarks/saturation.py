"""Our e-graph and the library egglog on chains of matrices: seconds to the cheapest order.

Ours is written to be read, in Python, and looks at everything again in each round. The library's
engine is compiled; it pays to hand each rule, and each price, from one language to the other.

    python -m benchmarks.saturation [--longest 14] [--rounds 5]
"""

from __future__ import annotations

import argparse
import random
from functools import partial, reduce
from time import perf_counter

import rooflab as rl
from benchmarks.report import in_turn, save, spread, table
from rooflab.labs.search.rewrite.expression import Expression
from tests.labs.search.support.egglog_graph import cheapest

COST = "flops"


def chain(length: int) -> Expression:
    """The product, from the left, of ``length`` matrices of random sizes."""
    rng = random.Random(length)
    sizes = [rng.randint(8, 2048) for _ in range(length + 1)]
    matrices = [rl.search.matrix(f"A{n}", sizes[n], sizes[n + 1]) for n in range(length)]
    return reduce(lambda one, other: one @ other, matrices)


def ours(product: Expression, rounds: int) -> float:
    """Seconds of our saturation and choice."""
    start = perf_counter()
    rl.search.simplify(product, "associate", COST, rounds=rounds)
    return perf_counter() - start


def library(product: Expression, rounds: int) -> float:
    """Seconds of egglog's."""
    start = perf_counter()
    cheapest(product, ["associate"], COST, rounds=rounds)
    return perf_counter() - start


def main(arguments: list[str] | None = None) -> dict[str, object]:
    """Measure, print the table, keep the result."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--longest", type=int, default=14)
    parser.add_argument("--rounds", type=int, default=5)
    asked = parser.parse_args(arguments)
    rows, kept = [], {}
    for length in range(4, asked.longest + 1, 2):
        product = chain(length)
        found = rl.search.simplify(product, "associate", COST, rounds=length)
        theirs = cheapest(product, ["associate"], COST, rounds=length)
        assert rl.search.total(theirs, COST) == found.cost_after, (found, theirs)
        ways = {"ours": partial(ours, product, length), "egglog": partial(library, product, length)}
        seconds = in_turn(ways, asked.rounds)
        medians = {way: spread(times, 1e3)[0] for way, times in seconds.items()}
        rows.append((length, found.growth[-1].nodes, *medians.values(),
                     medians["ours"] / medians["egglog"]))  # fmt: skip
        kept[str(length)] = seconds
    table(("matrices", "nodes", "ours ms", "egglog ms", "ours / egglog"), rows)
    result: dict[str, object] = {"cost": COST, "seconds": kept}
    save("saturation", result)
    return result


if __name__ == "__main__":
    main()

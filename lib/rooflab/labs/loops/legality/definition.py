"""Legality by its definition, in plain Python, for small nests.

Two iterations depend on each other if both touch a cell and one of them writes it. A schedule is
legal if the one that ran first still does. The turns of a parallel or vector loop have no order,
so no two dependent iterations may differ in it while all outer loops agree.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rooflab.labs.loops.legality.points import count, iterations, time_of, touched, unordered
from rooflab.labs.loops.legality.verdict import LEGAL, REORDERED, Verdict, broken, kind_of

if TYPE_CHECKING:
    from rooflab.labs.loops.nest import Nest

MOST = 4096  # iterations: pairs grow with the square


def brute(nest: Nest, reassociate: bool) -> Verdict:
    """Try all pairs of iterations in their original order."""
    if count(nest) > MOST:
        raise ValueError(
            f"the nest has {count(nest):,} iterations; brute() tries the pairs of {MOST:,} at "
            "most. check() decides larger nests"
        )
    runs = []
    for one in nest.statements:
        for values in iterations(nest, one.name):
            old, new = (time_of(tree, one.name, values) for tree in (nest.original, nest.tree))
            for access, writes, sums in touched(one):
                cell = access.array, access.cell(values)
                runs.append((old, new, (one.name, tuple(values.values())), cell, writes, sums))
    runs.sort(key=lambda run: run[0])
    same_cell: dict[object, list[int]] = {}
    for at, (_, _, _, cell, _, _) in enumerate(runs):
        same_cell.setdefault(cell, []).append(at)
    reordered = False
    for at, (_, new, first, cell, writes, sums) in enumerate(runs):
        for later in same_cell[cell]:
            _, then, second, _, writes_too, sums_too = runs[later]
            if later <= at or first == second or not (writes or writes_too):
                continue
            kind = kind_of(writes, writes_too)
            free = reassociate and sums and sums_too and first[0] == second[0]
            if new > then and not free:
                return broken(nest, kind, first, second, cell)
            reordered = reordered or new > then
            loop = unordered(nest, first[0], new, second[0], then)
            if loop:
                return broken(nest, kind, first, second, cell, loop)
    return REORDERED if reordered else LEGAL

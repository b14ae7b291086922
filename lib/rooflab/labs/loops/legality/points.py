"""Iterations as points: when each runs, which of them depend on each other.

For small nests and for pictures. ``separation`` decides large ones without listing their points.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rooflab.labs.loops.language import tree as trees
from rooflab.labs.loops.language.statement import Access, Statement, accesses
from rooflab.labs.loops.language.tree import Tree
from rooflab.labs.loops.legality.verdict import (
    LEGAL,
    REORDERED,
    Cell,
    Iteration,
    Verdict,
    broken,
    kind_of,
)

if TYPE_CHECKING:
    from rooflab.labs.loops.nest import Nest

MOST = 4096  # iterations that are tried in pairs, which grow with the square
MARKS = ("parallel", "vectorize")  # loops whose turns have no order among themselves


@dataclass(frozen=True)
class Instance:
    """One iteration of one statement.

    ``time``: when it runs. Position among siblings and value of each loop alternate, from the
    root of the tree on; times are compared from left to right.
    """

    statement: str
    iteration: tuple[int, ...]
    time: tuple[int, ...]


@dataclass(frozen=True)
class Arrow:
    """A dependence: ``first`` must run before ``second``. ``loop``: what leaves them unordered."""

    first: Iteration
    second: Iteration
    cell: Cell
    kind: str
    ok: bool
    loop: str = ""


def time_of(tree: Tree, statement: str, values: Mapping[str, int]) -> tuple[int, ...]:
    """When the iteration of ``statement`` with these values of its dimensions runs in ``tree``."""
    for leaf, around, places in trees.leaves(tree):
        if leaf.statement == statement:
            told = [int(leaf.time[loop.name].at(values)) for loop in around]
            return (*itertools.chain.from_iterable(zip(places, told)), places[-1])
    raise KeyError(statement)


def count(nest: Nest) -> int:
    """How many iterations all statements have together."""
    total = 0
    for statement in nest.statements:
        product = 1
        for dim in nest.dims(statement.name):
            product *= nest.extents[dim][1] - nest.extents[dim][0]
        total += product
    return total


def few(nest: Nest, limit: int) -> None:
    """Refuse a nest with more than ``limit`` iterations."""
    if count(nest) > limit:
        raise ValueError(f"the nest has {count(nest):,} iterations; limit={limit:,} is too few")


def iterations(nest: Nest, statement: str) -> Iterator[dict[str, int]]:
    """The values of a statement's dimensions in each of its iterations."""
    dims = nest.dims(statement)
    for point in itertools.product(*(range(*nest.extents[dim]) for dim in dims)):
        yield dict(zip(dims, point))


def instances(nest: Nest, limit: int) -> list[Instance]:
    """The iterations in the order of the schedule."""
    few(nest, limit)
    found = [
        Instance(one.name, tuple(values.values()), time_of(nest.tree, one.name, values))
        for one in nest.statements
        for values in iterations(nest, one.name)
    ]
    return sorted(found, key=lambda instance: instance.time)


@dataclass(frozen=True)
class _Touch:
    """An iteration's access to a cell."""

    name: str
    iteration: tuple[int, ...]
    new: tuple[int, ...]
    writes: bool
    sums: bool  # it is a reduction's own target


def arrows(nest: Nest, reassociate: bool, limit: int) -> list[Arrow]:
    """Every dependence with its fate, in the original order of its iterations."""
    found: dict[tuple[Iteration, Iteration, Cell], Arrow] = {}
    for arrow, free, _ in _dependences(nest, reassociate, limit):
        if not (free and arrow.ok):
            known = found.setdefault((arrow.first, arrow.second, arrow.cell), arrow)
            if known.ok and not arrow.ok:
                found[arrow.first, arrow.second, arrow.cell] = arrow
    return list(found.values())


def brute(nest: Nest, reassociate: bool) -> Verdict:
    """Legality by its definition, in plain Python: try all pairs of iterations.

    Two iterations depend on each other if both touch a cell and one of them writes it. A schedule
    is legal if the one that ran first still does. The turns of a parallel or vector loop have no
    order, so no two dependent iterations may differ in it while all outer loops agree.
    """
    if count(nest) > MOST:
        raise ValueError(
            f"the nest has {count(nest):,} iterations; brute() tries the pairs of {MOST:,} at "
            "most. check() decides larger nests"
        )
    order = enumerate(instances(nest.untouched(), MOST))
    rank = {(one.statement, one.iteration): at for at, one in order}
    least, one, reordered = (len(rank), 0), None, False
    for arrow, free, late in _dependences(nest, reassociate, MOST):
        reordered |= free and late
        if not arrow.ok and (place := (rank[arrow.first], rank[arrow.second])) < least:
            least, one = place, arrow
    if one is None:
        return REORDERED if reordered else LEGAL
    return broken(nest, one.kind, one.first, one.second, one.cell, one.loop)


def _dependences(nest: Nest, reassociate: bool, limit: int) -> Iterator[tuple[Arrow, bool, bool]]:
    """Yield every dependence, cell by cell, by the original order of its iterations.

    With each: whether it may be broken, as in a sum, and whether the schedule breaks it.
    """
    statements = {one.name: one for one in nest.statements}
    cells: dict[Cell, list[_Touch]] = {}
    for one in instances(nest.untouched(), limit):
        values = dict(zip(nest.dims(one.statement), one.iteration))
        when = time_of(nest.tree, one.statement, values)
        for access, writes, sums in touched(statements[one.statement]):
            touch = _Touch(one.statement, one.iteration, when, writes, sums)
            cells.setdefault((access.array, access.cell(values)), []).append(touch)
    for cell, touches in cells.items():
        for first, second in itertools.combinations(touches, 2):
            ends = (first.name, first.iteration), (second.name, second.iteration)
            if not (first.writes or second.writes) or ends[0] == ends[1]:
                continue
            late = first.new > second.new
            free = reassociate and first.sums and second.sums and first.name == second.name
            loop = unordered(nest, first.name, first.new, second.name, second.new)
            kind, ok = kind_of(first.writes, second.writes), not loop and (free or not late)
            yield Arrow(*ends, cell, kind, ok, loop if free or not late else ""), free, late


def touched(statement: Statement) -> Iterator[tuple[Access, bool, bool]]:
    """A statement's accesses in order: which, whether it writes, whether a reduction's own.

    A statement such as C[i] += C[i]*C[i] only looks like a reduction: its order matters.
    """
    adds = bool(statement.reduction) and statement.target not in accesses(statement.value)
    for access in statement.reads:
        yield access, False, adds and access == statement.target
    yield statement.target, True, adds


def unordered(
    nest: Nest, first: str, one: tuple[int, ...], second: str, other: tuple[int, ...]
) -> str:
    """The parallel or vector loop in which two times differ while all outer ones agree, or ""."""
    around = {leaf.statement: loops for leaf, loops, _ in trees.leaves(nest.tree)}
    for depth, (a, b) in enumerate(zip(around[first], around[second])):
        here = 2 * depth + 1
        if one[:here] != other[:here]:
            return ""
        if a is b and a.kind in MARKS and one[here] != other[here]:
            return a.name
    return ""

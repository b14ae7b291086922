"""Iterations as points: when each runs, which of them depend on each other.

For small nests and for pictures. ``separation`` decides large ones without listing their points.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rooflab.labs.loops.language import tree as trees
from rooflab.labs.loops.language.statement import Access, Statement, accesses
from rooflab.labs.loops.language.tree import Tree
from rooflab.labs.loops.legality.verdict import Cell, Iteration, kind_of

if TYPE_CHECKING:
    from rooflab.labs.loops.nest import Nest

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
    turns = {dim: end - first for dim, (first, end) in nest.extents.items()}
    each = (nest.dims(one.name) for one in nest.statements)
    return sum(math.prod(turns[dim] for dim in dims) for dims in each)


def instances(nest: Nest, limit: int) -> list[Instance]:
    """The iterations in the order of the schedule. Raises ValueError for more than ``limit``."""
    if count(nest) > limit:
        raise ValueError(f"the nest has {count(nest):,} iterations; limit={limit:,} is too few")
    found = []
    for one in nest.statements:
        dims = nest.dims(one.name)
        for point in itertools.product(*(range(*nest.extents[dim]) for dim in dims)):
            when = time_of(nest.tree, one.name, dict(zip(dims, point)))
            found.append(Instance(one.name, point, when))
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
    """Every dependence with its fate, in the original order of its iterations.

    Two iterations depend on each other if both touch a cell and one of them writes it. A schedule
    keeps that if the one that ran first still does. The turns of a parallel or vector loop have no
    order, so dependent iterations must not differ in it while all outer loops agree.
    """
    found: dict[tuple[Iteration, Iteration, Cell], Arrow] = {}
    for cell, touches in _touches(nest, limit).items():
        for first, second in itertools.combinations(touches, 2):
            ends = (first.name, first.iteration), (second.name, second.iteration)
            if not (first.writes or second.writes) or ends[0] == ends[1]:
                continue
            loop = unordered(nest, first.name, first.new, second.name, second.new)
            free = reassociate and first.sums and second.sums and first.name == second.name
            if free and not loop:
                continue
            late = first.new > second.new and not free
            kind, ok = kind_of(first.writes, second.writes), not loop and not late
            arrow = Arrow(*ends, cell, kind, ok, "" if late else loop)
            known = found.setdefault((*ends, cell), arrow)
            if known.ok and not ok:
                found[*ends, cell] = arrow
    return list(found.values())


def _touches(nest: Nest, limit: int) -> dict[Cell, list[_Touch]]:
    """The accesses to each cell, by the original order of the iterations."""
    statements = {one.name: one for one in nest.statements}
    cells: dict[Cell, list[_Touch]] = {}
    for one in instances(nest.untouched(), limit):
        values = dict(zip(nest.dims(one.statement), one.iteration))
        when = time_of(nest.tree, one.statement, values)
        for access, writes, sums in touched(statements[one.statement]):
            touch = _Touch(one.statement, one.iteration, when, writes, sums)
            cells.setdefault((access.array, access.cell(values)), []).append(touch)
    return cells


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

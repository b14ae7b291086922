"""Legality of a listed nest: all iterations as NumPy arrays, sorted by the cell that they touch.

Along one cell in the original order, an access must run after all that it depends on: a read after
every earlier write, a write after every earlier access. Running maxima of the new times say so for
all cells at once.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rooflab.labs.loops.language import tree as trees
from rooflab.labs.loops.language.tree import Loop, Tree
from rooflab.labs.loops.legality.points import MARKS, touched
from rooflab.labs.loops.legality.verdict import LEGAL, REORDERED, Cell, Verdict, broken, kind_of

if TYPE_CHECKING:
    from rooflab.labs.loops.nest import Nest

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class _Events:
    """Accesses sorted by cell, then by original time. ``run``: the iteration that makes each."""

    run: Array
    cell: Array
    writes: Array
    sums: Array  # the reduction whose own target it is, or -1
    old: Array  # rank of the iteration in the original order
    new: Array  # rank in the schedule


def listed(nest: Nest, reassociate: bool) -> Verdict:
    """Decide by listing every iteration."""
    values = {one.name: grid_of(nest, one.name) for one in nest.statements}
    starts, total = {}, 0
    for name, grid in values.items():
        starts[name] = total
        total += length(grid)
    old = ranks(times_of(nest.original, values))
    times = times_of(nest.tree, values)
    events = _events(nest, values, starts, old, ranks(times))
    found = _late(events, reassociate)
    if found:
        return _said(nest, values, starts, events, *found)
    for loop, around in trees.loops(nest.tree):
        if loop.kind in MARKS:
            found = _together(events, _under(nest, loop, values, total), times, 2 * len(around) + 1)
            if found:
                return _said(nest, values, starts, events, *found, loop.name)
    return REORDERED if reassociate and _late(events, False) else LEGAL


def grid_of(nest: Nest, statement: str) -> dict[str, Array]:
    """The values of a statement's dimensions in all its iterations, each a flat array."""
    dims = nest.dims(statement)
    axes = [np.arange(*nest.extents[dim]) for dim in dims]
    return {dim: axis.ravel() for dim, axis in zip(dims, np.meshgrid(*axes, indexing="ij"))}


def length(grid: dict[str, Array]) -> int:
    """How many iterations a grid has."""
    return len(next(iter(grid.values()))) if grid else 1


def times_of(tree: Tree, values: dict[str, dict[str, Array]]) -> Array:
    """A row of time for each iteration, in the order of the statements."""
    found = {leaf.statement: (leaf, around, places) for leaf, around, places in trees.leaves(tree)}
    width = max(2 * len(around) + 1 for _, around, _ in found.values())
    blocks = []
    for name, grid in values.items():
        leaf, around, places = found[name]
        block = np.zeros((width, length(grid)), dtype=np.int64)
        block[: 2 * len(places) : 2] = np.array(places)[:, None]
        for depth, loop in enumerate(around):
            block[2 * depth + 1] = leaf.time[loop.name].at(grid)
        blocks.append(block)
    return np.concatenate(blocks, axis=1).T


def ranks(rows: Array) -> Array:
    """The place of each row when the rows are sorted; equal rows have equal places."""
    rows = rows - rows.min(axis=0, initial=0)
    sizes = rows.max(axis=0, initial=0) + 1
    if math.prod(sizes.tolist()) < 2**62:  # a row fits into one number, which is sorted sooner
        rows = np.ravel_multi_index(tuple(rows.T), tuple(sizes))
    places: Array = np.unique(rows, axis=0 if rows.ndim > 1 else None, return_inverse=True)[1]
    return places.ravel()


def _events(
    nest: Nest, values: dict[str, dict[str, Array]], starts: dict[str, int], old: Array, new: Array
) -> _Events:
    first, total = {}, 0
    for array, sizes in nest.shapes.items():
        first[array] = total
        total += int(np.prod(sizes))
    parts = []
    for number, one in enumerate(nest.statements):
        grid = values[one.name]
        run = starts[one.name] + np.arange(length(grid))
        for access, writes, sums in touched(one):
            cell = np.zeros(len(run), dtype=np.int64)
            for subscript, room in zip(access.subscripts, nest.shapes[access.array]):
                cell = cell * room + subscript.at(grid)
            same = np.ones(len(run), dtype=np.int64)
            columns = [run, cell + first[access.array], writes * same]
            parts.append(np.stack([*columns, (number if sums else -1) * same]))
    run, cell, writes, own = np.concatenate(parts, axis=1)
    order = np.lexsort((writes, old[run], cell))
    run = run[order]
    return _Events(run, cell[order], writes[order] > 0, own[order], old[run], new[run])


def _before(events: _Events, counts: Array) -> Array:
    """For each event the latest new time of the earlier events of its cell that ``counts``."""
    segment = np.cumsum(np.concatenate([[0], np.diff(events.cell) != 0]))
    step = int(events.new.max()) + 2
    level = np.maximum.accumulate(np.where(counts, events.new, -1) + segment * step)
    shifted = np.concatenate([[-1], level[:-1]]) - segment * step
    latest: Array = np.maximum(shifted, -1)
    return latest


def _late(events: _Events, reassociate: bool) -> tuple[int, int] | None:
    """Two events of a cell that run in the wrong order, or None."""
    every = np.ones(len(events.run), dtype=bool)
    wrong = (
        np.where(events.writes, _before(events, every), _before(events, events.writes)) > events.new
    )
    if reassociate:
        for own in np.unique(events.sums[events.sums >= 0]):
            mine = events.sums == own
            other = np.where(
                events.writes, _before(events, ~mine), _before(events, events.writes & ~mine)
            )
            wrong[mine] = (other > events.new)[mine]
    if not wrong.any():
        return None
    second = int(np.flatnonzero(wrong)[np.argmin(events.old[wrong])])
    earlier = np.flatnonzero(events.cell[:second] == events.cell[second])
    counts = (events.new[earlier] > events.new[second]) & (
        events.writes[earlier] | events.writes[second]
    )
    if reassociate and events.sums[second] >= 0:
        counts &= events.sums[earlier] != events.sums[second]
    return int(earlier[counts][0]), second


def _under(nest: Nest, loop: Loop, values: dict[str, dict[str, Array]], total: int) -> Array:
    """Which iterations run inside ``loop``."""
    inside = trees.inside(loop)
    flags = [np.full(length(grid), name in inside) for name, grid in values.items()]
    return np.concatenate(flags)[:total]


def _together(events: _Events, under: Array, times: Array, column: int) -> tuple[int, int] | None:
    """Two events of a cell with equal time outside of a loop and different time in it."""
    chosen = np.flatnonzero(under[events.run])
    if not len(chosen):
        return None
    outer = ranks(times[:, :column])[events.run[chosen]]
    here = times[events.run[chosen], column]
    order = np.lexsort((events.old[chosen], outer, events.cell[chosen]))
    chosen, outer, here = chosen[order], outer[order], here[order]
    cells = events.cell[chosen]
    fresh = np.concatenate([[True], (np.diff(cells) != 0) | (np.diff(outer) != 0)])
    starts = np.flatnonzero(fresh)
    spread = np.maximum.reduceat(here, starts) != np.minimum.reduceat(here, starts)
    wrong = spread & np.logical_or.reduceat(events.writes[chosen], starts)
    if not wrong.any():
        return None
    ends = np.append(starts[1:], len(chosen))
    group = min(np.flatnonzero(wrong), key=lambda g: int(events.old[chosen[starts[g]]]))
    members = chosen[starts[group] : ends[group]]
    values = here[starts[group] : ends[group]]
    # The group holds a write and two different turns, so one of the first members has a partner.
    for at, one in enumerate(members):
        later = members[at + 1 :][
            (values[at + 1 :] != values[at])
            & (events.writes[members[at + 1 :]] | events.writes[one])
        ]
        if len(later):
            return int(one), int(later[0])
    return None


def _said(
    nest: Nest, values: dict[str, dict[str, Array]], starts: dict[str, int], events: _Events,
    first: int, second: int, loop: str = "",
) -> Verdict:  # fmt: skip
    def iteration(event: int) -> tuple[str, tuple[int, ...]]:
        run = int(events.run[event])
        name = max((n for n in starts if starts[n] <= run), key=lambda n: starts[n])
        return name, tuple(int(v[run - starts[name]]) for v in values[name].values())

    kind = kind_of(bool(events.writes[first]), bool(events.writes[second]))
    return broken(
        nest, kind, iteration(first), iteration(second), _cell(nest, int(events.cell[second])), loop
    )


def _cell(nest: Nest, number: int) -> Cell:
    """The array element that has this number among the elements of all arrays."""
    for array, sizes in nest.shapes.items():
        room = int(np.prod(sizes))
        if number < room:
            return array, tuple(int(i) for i in np.unravel_index(number, sizes))
        number -= room
    raise IndexError(number)

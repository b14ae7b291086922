"""A schedule's accesses for the cache simulator: an affine stream, or a list of addresses.

The stream has what registers leave over, and takes no memory. Some schedules have none: those with
skewed loops, or with several nests. The list has every access of every iteration, in the order in
which any schedule runs them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rooflab.labs.cache.stream import AccessStream, Guard, Reference
from rooflab.labs.loops.code.packing import packed_access, stored_shape
from rooflab.labs.loops.code.program import Assign, For, Load, Ops, Store, When, each_op, program
from rooflab.labs.loops.language import tree as trees
from rooflab.labs.loops.language.expression import Affine, variable
from rooflab.labs.loops.language.statement import Access, accesses
from rooflab.labs.loops.legality.enumeration import grid_of, length, ranks, times_of
from rooflab.labs.loops.legality.points import count, touched

if TYPE_CHECKING:
    from rooflab.labs.loops.nest import Nest

Array = np.ndarray[Any, Any]
PAGE = 4096  # bytes: every array begins at a page of its own
MOST_TRACED = 2_000_000  # iterations; half a gigabyte while they are put in order


@dataclass(frozen=True)
class _Made:
    """An access and where it stands: inside ``depth`` loops, before or after the next one in."""

    access: Access
    depth: int
    write: bool
    lanes: int
    when: str


@dataclass
class _Walk:
    """What is met on the way down a chain of loops."""

    loops: list[tuple[str, int, int]] = field(default_factory=list)  # name, lower, extent
    guards: list[Affine] = field(default_factory=list)
    made: list[_Made] = field(default_factory=list)

    def down(self, ops: Ops, depth: int) -> None:
        when = "before"
        for op in ops:
            if isinstance(op, For):
                if when == "after":
                    raise ValueError(f"loop {op.name!r} follows another one: fuse them first")
                self.enter(op)
                self.down(op.body, depth + 1)
                when = "after"
            elif isinstance(op, When):
                if len(ops) > 1:
                    raise ValueError("some statements are guarded and others not: no single stream")
                self.guards += op.guards
                self.down(op.body, depth)
            elif isinstance(op, Load):
                lanes = 1 if op.spread else op.lanes
                self.made.append(_Made(op.access, depth, False, lanes, when))
            elif isinstance(op, Store):
                self.made.append(_Made(op.access, depth, True, op.lanes, when))
            elif isinstance(op, Assign):
                for access, write in _touched(op):
                    self.made.append(_Made(access, depth, write, 1, when))

    def enter(self, op: For) -> None:
        lower, upper = op.lower[0].constant, op.upper[0].constant
        self.loops.append((op.name, lower, upper - lower))
        self.guards += [variable(op.name) - bound for bound in op.lower[1:]]
        self.guards += [bound - 1 - variable(op.name) for bound in op.upper[1:]]


def stream(nest: Nest, itemsize: int) -> AccessStream:
    """The accesses of one chain of loops; the docstring of ``Nest.stream`` says which."""
    ops = program(nest)
    if any(isinstance(op, When) and op.otherwise for op in each_op(ops)):
        ops = program(nest, registers=False)
    walk = _Walk()
    walk.down(ops, 0)
    bases = _bases(nest, itemsize)
    names = [name for name, _, _ in walk.loops]
    lower = {name: low for name, low, _ in walk.loops}
    extents = tuple(extent for _, _, extent in walk.loops)
    references = []
    for one in walk.made:
        array = one.access.array.removesuffix("_packed")
        place = _linear(one.access.number(stored_shape(nest, array)), array)
        strides = tuple(place.factor(name) * itemsize for name in names)
        offset = bases[array] + place.at(lower) * itemsize
        references.append(
            Reference(array, offset, strides, one.depth, one.write, one.lanes * itemsize, one.when)
        )
    guards = tuple(_guard(_linear(each, "a guard"), names, lower) for each in walk.guards)
    return AccessStream(extents, _raised(references, extents), guards)


def _bases(nest: Nest, itemsize: int) -> dict[str, int]:
    """The address at which each array begins."""
    start, bases = 0, {}
    for array in nest.shapes:
        bases[array] = start
        start += -(-math.prod(stored_shape(nest, array)) * itemsize // PAGE) * PAGE
    return bases


def _raised(references: list[Reference], extents: tuple[int, ...]) -> tuple[Reference, ...]:
    """The references, whole pages higher if a corner of the loops lies below address 0.

    No iteration runs there: guards see to it. But an address is never negative.
    """
    lowest = min(
        one.offset + sum(min(0, step * (n - 1)) for step, n in zip(one.strides, extents))
        for one in references
    )
    up = max(0, -(lowest // PAGE) * PAGE)
    return tuple(replace(one, offset=one.offset + up) for one in references)


def _touched(op: Assign) -> Iterator[tuple[Access, bool]]:
    new = dict(op.names)
    for access in dict.fromkeys(accesses(op.value)):
        yield access.replace(new), False
    if op.reduction:
        yield op.target.replace(new), False
    yield op.target.replace(new), True


def _linear(value: Affine, what: str) -> Affine:
    if not value.linear:
        raise ValueError(f"{what} is at {value}, which is no sum of loops: no affine stream")
    return value


def _guard(guard: Affine, names: list[str], lower: Mapping[str, int]) -> Guard:
    """A guard that must not be negative, for loops that count from 0."""
    steps = tuple(-guard.factor(name) for name in names)
    limit = int(guard.at(lower)) + 1
    if min(steps) < 0 or limit < 1:
        raise ValueError(
            f"the nest runs where {guard} is not negative, but a stream's loops all begin at their "
            "first turn: it knows no skewed loop, and no reversed one that does not divide"
        )
    return Guard(steps, limit)


# The list of all accesses.


def trace(nest: Nest, itemsize: int) -> tuple[Array, Array]:
    """Addresses and whether each is written; the docstring of ``Nest.trace`` says more."""
    if count(nest) > MOST_TRACED:
        raise ValueError(
            f"the nest has {count(nest):,} iterations; up to {MOST_TRACED:,} are listed"
        )
    bases = _bases(nest, itemsize)
    grids = {one.name: grid_of(nest, one.name) for one in nest.statements}
    placed = {leaf.statement: (leaf, around) for leaf, around, _ in trees.leaves(nest.tree)}
    blocks, stores = [], []
    for one in nest.statements:
        grid, (leaf, around) = grids[one.name], placed[one.name]
        columns = []
        for access, _, _ in touched(one):
            array, at = access.array, grid
            if array in nest.packed:
                access = packed_access(access, leaf, around)
                at = {loop.name: leaf.time[loop.name].at(grid) for loop in around}
            flat = access.number(stored_shape(nest, array)).at(at)
            columns.append(np.broadcast_to(flat * itemsize + bases[array], length(grid)))
        blocks.append(np.stack(columns, axis=1))
        stores.append([writes for _, writes, _ in touched(one)])
    return _in_order(blocks, stores, ranks(times_of(nest.tree, grids)))


def _in_order(blocks: list[Array], stores: list[list[bool]], rank: Array) -> tuple[Array, Array]:
    """The accesses of all statements' iterations, each a row of its block, sorted by rank."""
    many = np.concatenate([np.full(len(one), one.shape[1]) for one in blocks])
    in_turn = np.empty_like(many)
    in_turn[rank] = many
    starts = (np.cumsum(in_turn) - in_turn)[rank]
    addresses, writes = np.empty(int(many.sum()), dtype=np.int64), np.zeros(int(many.sum()), bool)
    first = 0
    for block, stored in zip(blocks, stores):
        at = starts[first : first + len(block)]
        for column, write in enumerate(stored):
            addresses[at + column] = block[:, column]
            writes[at + column] = write
        first += len(block)
    return addresses, writes

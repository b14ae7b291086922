"""Moves: what a search may do to a schedule in one step.

A move is a function of a nest that yields nests. Splitting a loop alone makes nothing faster, so a
move splits one, puts its parts where they belong and marks one of them. A tile in registers takes
several moves, each of which pays. A search takes any functions of this form in place of those here.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rooflab.count.validation import size
from rooflab.labs.loops.language import tree as trees
from rooflab.labs.loops.language.tree import Leaf, Loop

if TYPE_CHECKING:
    from rooflab.labs.loops.nest import Nest

Move = Callable[["Nest"], Iterable["Nest"]]

LANES = (16,)  # of fp32; LLVM splits what is wider than the processor's vectors
TURNS = (2, 3)  # written one after the other; twice 2 are 4
TILES = (8, 16, 32, 64, 128, 256, 512)
MARKED = ("unroll", "vectorize")


def lanes(nest: Nest) -> Iterator[Nest]:
    """Yield the nest with its innermost loop in lanes, where that is along the rows of results.

    The loops that a sum runs over stay where they are, or stand right outside of the lanes, so that
    the sums stay in registers while they run.
    """
    chain = _Chain.of(nest)
    if chain is None or chain.marked or chain.parallel or not chain.plain:
        return
    loop = chain.plain[-1]
    for many in _dividing(loop, LANES) if chain.dim(loop) in chain.rows else ():
        made = nest.split(loop.name, many).vectorize(f"{loop.name}i")
        outer = [*chain.names[:-1], f"{loop.name}o"]
        sums = [one.name for one in chain.plain if chain.dim(one) not in chain.results]
        yield made
        if sums:
            yield made.reorder(*(one for one in outer if one not in sums), *sums)


def unrolled(nest: Nest) -> Iterator[Nest]:
    """Yield the nest with a few turns of one more loop written one after the other inside."""
    chain = _Chain.of(nest)
    if chain is None or not chain.marked:
        return
    inner = [loop.name for loop in chain.marked]
    for loop in chain.plain[int(chain.parallel) :]:
        for turns in _dividing(loop, TURNS):
            made = nest.split(loop.name, turns)
            outer = _exchanged(chain.names, loop.name, f"{loop.name}o")
            made = made.reorder(*outer, f"{loop.name}i", *inner)
            yield made.unroll(f"{loop.name}i")


def cache_tiles(nest: Nest) -> Iterator[Nest]:
    """Yield the nest with a loop in two: the one over chunks outermost, or where it was.

    A parallel loop stays outermost.
    """
    chain = _Chain.of(nest)
    if chain is None or not chain.marked:
        return
    names, first = chain.names, int(chain.parallel)
    for place, loop in enumerate(chain.plain[first:], first):
        if sum(chain.dim(other) == chain.dim(loop) for other in chain.plain) > 1:
            continue
        for tile in _dividing(loop, TILES):
            within = _exchanged(names, loop.name, f"{loop.name}i")
            for at in sorted({first, place}):
                made = nest.split(loop.name, tile)
                order = [*within[:at], f"{loop.name}o", *within[at:]]
                yield made.reorder(*order)


def interchanges(nest: Nest) -> Iterator[Nest]:
    """Yield the nest with two loops outside of its register tile swapped."""
    chain = _Chain.of(nest)
    if chain is not None:
        for first, second in itertools.combinations(chain.names[int(chain.parallel) :], 2):
            yield nest.interchange(first, second)


def packed_operands(nest: Nest) -> Iterator[Nest]:
    """Yield the nest with one more operand copied into the order in which it is read."""
    chain = _Chain.of(nest)
    if chain is None or not chain.marked:
        return
    for array in nest.arrays:
        if array not in nest.packed and array not in nest.written:
            with suppress(ValueError):  # it is read in several places: no one order
                yield nest.pack(array)


def parallel_loops(nest: Nest) -> Iterator[Nest]:
    """Yield the nest with its outermost loop shared among threads."""
    chain = _Chain.of(nest)
    if chain is not None and not chain.parallel and chain.plain:
        yield nest.parallel(chain.plain[0].name)


def space(threads: int = 1) -> tuple[Move, ...]:
    """Return the moves of a search that is given no others: functions of a nest that yield nests.

    With more than one of ``threads``, loops are shared among them too. A function of your own can
    stand beside them.

    >>> def backwards(nest):
    ...     yield nest.reverse(nest.loops[0])
    >>> moves = (*rl.search.space(), backwards)
    >>> len(moves)
    6
    """
    every = interchanges, lanes, unrolled, cache_tiles, packed_operands
    return (*every, parallel_loops) if size("threads", threads) > 1 else every


@dataclass(frozen=True)
class _Chain:
    """A nest whose loops stand one in another, those of the register tile innermost."""

    nest: Nest
    leaf: Leaf
    plain: tuple[Loop, ...]
    marked: tuple[Loop, ...]

    @classmethod
    def of(cls, nest: Nest) -> _Chain | None:
        """The nest as a chain, or None where it is none."""
        every = list(trees.leaves(nest.tree))
        leaf, around, _ = every[0]
        if any(loops != around for _, loops, _ in every):
            return None
        plain = tuple(itertools.takewhile(lambda loop: loop.kind not in MARKED, around))
        marked = around[len(plain) :]
        if any(loop.kind not in MARKED for loop in marked):
            return None
        return cls(nest, leaf, plain, marked)

    @property
    def names(self) -> list[str]:
        """The loops outside of the register tile."""
        return [loop.name for loop in self.plain]

    @property
    def parallel(self) -> bool:
        """Whether threads share a loop."""
        return any(loop.kind == "parallel" for loop in self.plain)

    def dim(self, loop: Loop) -> str:
        """The dimension that a loop is a part of, "" if it is a part of several."""
        found = [dim for dim, place in self.leaf.index.items() if loop.name in place.names()]
        return found[0] if len(found) == 1 else ""

    @property
    def results(self) -> set[str]:
        """Dimensions along which results differ; over the others a loop sums."""
        every = [one for each in self.nest.statements for one in each.target.subscripts]
        return {dim for dim in self.nest.extents if any(dim in one.names() for one in every)}

    @property
    def rows(self) -> set[str]:
        """Dimensions along which all results are adjacent in memory."""
        last = [one.target.subscripts[-1] for one in self.nest.statements]
        return {dim for dim in self.nest.extents if all(e.factor(dim) == 1 for e in last)}


def _exchanged(names: list[str], old: str, new: str) -> list[str]:
    return [new if name == old else name for name in names]


def _dividing(loop: Loop, factors: Iterable[int]) -> list[int]:
    """The factors that divide a loop; where none does, those that are shorter than it.

    A last chunk that is shorter then runs as plain loops, which the score takes into account.
    """
    shorter = [factor for factor in factors if factor < loop.extent]
    return [factor for factor in shorter if loop.extent % factor == 0] or shorter

"""A schedule at work: compiled, bound to arrays, its outermost loop shared among threads."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from rooflab.count.validation import size
from rooflab.labs.loops.code.execution import Team, fitting, spans
from rooflab.labs.loops.code.llvm import compiled
from rooflab.labs.loops.code.packing import packed, packed_axes
from rooflab.labs.loops.code.program import outer_turns, program, shared_turns
from rooflab.labs.loops.language import tree as trees
from rooflab.labs.loops.language.expression import Affine
from rooflab.measure.operands import aligned
from rooflab.measure.timing import quickest
from rooflab.optional import installed

if TYPE_CHECKING:
    from rooflab.labs.loops.nest import Nest

Array = np.ndarray[Any, np.dtype[np.float32]]
Clock = Callable[[], float]

SLICE_S = 3e-3  # a slice of the outermost loop runs at least so long
SLICES = 7  # of a schedule that may be the best
PROMISING = 2.5  # times the best so far: slower than that is timed once


class Kernel:
    """A nest compiled for this processor by LLVM, for fp32 arrays.

    An outermost loop that is parallel is shared among threads. Raises ValueError for marks that no
    code can follow, and for another parallel loop.

    >>> import numpy as np
    >>> nest = rl.loops.Nest({"i": 64}, "B[i] = 2*A[i]").split("i", 16).vectorize("ii")
    >>> rl.search.Kernel(nest).run(A=np.ones(64, np.float32))["B"].sum().item()
    128.0
    """

    nest: Nest
    turns: tuple[int, int]
    parallel: bool

    def __init__(self, nest: Nest) -> None:
        self.nest = nest
        ops = program(nest)
        self.turns = outer_turns(ops)
        self.parallel = shared_turns(ops) is not None
        marked = [loop.name for loop, _ in trees.loops(nest.tree) if loop.kind == "parallel"]
        if len(marked) > self.parallel:
            raise ValueError(f"loop {marked[-1]!r} is parallel; only an outermost loop can be")
        with installed("rooflab.search.Kernel"):
            self._function = compiled(nest, "float32")

    def run(self, threads: int = 1, **arrays: Any) -> dict[str, Array]:
        """Run the schedule on copies of ``arrays``; those that are not given are zeros.

        Returns the arrays that were written. Raises ValueError for an array of another shape, an
        unknown name, and for several threads where no loop is parallel.
        """
        count = size("threads", threads)
        if count > 1 and not self.parallel:
            raise ValueError(f"threads={count}: the outermost loop is not parallel")
        fitting(self.nest, arrays)
        given = {name: room(shape) for name, shape in self.nest.shapes.items()}
        for name, values in arrays.items():
            given[name][...] = values
        with Team(count) as team:
            self.bind(given, team)()
        return {name: given[name] for name in self.nest.written}

    def bind(self, arrays: Mapping[str, Array], team: Team) -> Bound:
        """The kernel on these very arrays, with room for the packed copies."""
        copies = {name: _Copy.of(self.nest, name, arrays[name]) for name in self.nest.packed}
        used = {name: copies[name].room if name in copies else arrays[name] for name in arrays}
        ordered = tuple(used[name] for name in self.nest.arrays)
        return Bound(self, ordered, tuple(copies.values()), team)

    def call(self, arrays: tuple[Array, ...], start: int, stop: int) -> None:
        """Run turns of the outermost loop."""
        self._function(*(one.ctypes.data for one in arrays), start, stop)


@dataclass(frozen=True)
class Bound:
    """A kernel on arrays. A call packs and runs it all."""

    kernel: Kernel
    arrays: tuple[Array, ...]
    copies: tuple[_Copy, ...]
    team: Team

    def __call__(self) -> None:
        self.pack()
        self.run(self.longest)

    @property
    def spans(self) -> list[tuple[int, int]]:
        """The turns of each thread."""
        start, stop = self.kernel.turns
        parts = self.team.size if self.kernel.parallel else 1
        return spans(start, stop, parts)

    @property
    def longest(self) -> int:
        """Turns of the thread that has most."""
        return max(stop - start for start, stop in self.spans)

    def pack(self) -> None:
        """Fill the packed copies."""
        for copy in self.copies:
            copy.fill(self.team)

    def run(self, most: int) -> None:
        """Run the first turns of every thread, ``most`` of them or all."""
        spans = [(start, min(stop, start + most)) for start, stop in self.spans]
        self.team.share(lambda start, stop: self.kernel.call(self.arrays, start, stop), spans)

    def seconds(self, best: float, clock: Clock = perf_counter) -> float:
        """Seconds of a whole call, judged by a slice that grows until it takes ``SLICE_S``.

        The median of the three quickest of several slices, or one where that is far slower than
        ``best``: what else runs only ever slows a slice. The time for packing is added whole.
        """
        self.pack()  # so that the room has been touched
        packing = min(clocked(self.pack, clock) for _ in range(2)) if self.copies else 0.0
        whole, most = self.longest, 1
        self.run(most)
        while (spent := clocked(partial(self.run, most), clock)) < SLICE_S and most < whole:
            grown = 1.3 * most * SLICE_S / max(spent, 1e-7)
            most = min(whole, max(2 * most, int(grown)))
        found = [spent]
        if packing + spent * whole / most < PROMISING * best:
            found += [clocked(partial(self.run, most), clock) for _ in range(SLICES - 1)]
        return packing + quickest(found) * whole / most


def clocked(call: Callable[[], None], clock: Clock) -> float:
    """Seconds that a call takes."""
    start = clock()
    call()
    return clock() - start


def room(shape: tuple[int, ...]) -> Array:
    """Zeros that begin at a cache line."""
    count = int(np.prod(shape))
    found: Array = aligned(4 * count)[: 4 * count].view(np.float32).reshape(shape)
    found[...] = 0
    return found


@dataclass(frozen=True)
class _Copy:
    """An array, room for its packed copy, and the array as the copy's axes see it if they can."""

    nest: Nest
    name: str
    source: Array
    room: Array
    view: Array | None

    @classmethod
    def of(cls, nest: Nest, name: str, source: Array) -> _Copy:
        """Room for the copy of ``source``. Where every split divides, a copy is a transposition."""
        access, leaf, axes = packed_axes(nest, name)
        shape = tuple(loop.extent for loop in axes)
        flat = Affine()
        for subscript, sizes in zip(access.subscripts, source.shape):
            flat = flat * sizes + subscript.replace(leaf.index)
        simple = flat.linear and not leaf.guards and not any(loop.lower for loop in axes)
        view = None
        if simple and not flat.constant and np.prod(shape) == source.size:
            strides = tuple(4 * flat.factor(loop.name) for loop in axes)
            view = np.lib.stride_tricks.as_strided(source, shape, strides, writeable=False)
        return cls(nest, name, source, room(shape), view)

    def fill(self, team: Team) -> None:
        """Copy. Threads share the first axis."""
        view = self.view
        if view is None:
            self.room[...] = packed(self.nest, self.name, self.source)
            return
        team.share(
            lambda low, high: np.copyto(self.room[low:high], view[low:high]),
            spans(0, len(view), team.size),
        )

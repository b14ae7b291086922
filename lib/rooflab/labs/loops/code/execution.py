"""Generated code at work: compiled, given arrays, its parallel loop shared among threads."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from rooflab.count.operation import as_operation
from rooflab.count.validation import unknown
from rooflab.labs.loops.code.llvm import compiled
from rooflab.labs.loops.code.packing import packed, stored_shape
from rooflab.labs.loops.code.printer import code
from rooflab.labs.loops.code.program import outer_turns, program, shared_turns
from rooflab.labs.loops.legality.points import count
from rooflab.measure.measure import measure
from rooflab.measure.operands import aligned
from rooflab.measure.settings import fewer

if TYPE_CHECKING:
    from rooflab.count.operation import Operation
    from rooflab.labs.loops.nest import Nest
    from rooflab.measure.measurement import Measurement

Array = np.ndarray[Any, Any]
BACKENDS = ("llvm", "python")
MOST_PYTHON = 300_000  # iterations; a second or so
FORMATS = {"fp32": "float32", "fp64": "float64"}


def run(nest: Nest, backend: str, threads: int, given: Mapping[str, Array]) -> dict[str, Array]:
    """Run a schedule on copies of the arrays; those that are not given are zeros."""
    if backend not in BACKENDS:
        raise unknown("backend", backend, BACKENDS)
    arrays = operands(nest, given)
    if backend == "python":
        if threads > 1:
            raise ValueError(f"threads={threads}: backend='python' has one; take llvm")
        if count(nest) > MOST_PYTHON:
            raise ValueError(
                f"backend='python': {count(nest):,} iterations are too many to interpret; up to "
                f"{MOST_PYTHON:,} are, and llvm runs more"
            )
        _interpreted(nest, arrays)
    else:
        kernel = Kernel(nest, str(next(iter(arrays.values())).dtype))
        if threads > 1 and not kernel.parallel:
            raise ValueError(
                f"threads={threads}: the outermost loop is not parallel; reorder one to the "
                "outside, and mark it with parallel()"
            )
        with Team(threads) as team:
            kernel.bind(arrays, team)()
    return {name: arrays[name] for name in nest.written}


def operands(nest: Nest, given: Mapping[str, Array]) -> dict[str, Array]:
    """Copies of the given arrays, and zeros for the others, checked once."""
    for name, value in given.items():
        if name not in nest.shapes:
            raise unknown("array", name, nest.arrays)
        if np.shape(value) != nest.shapes[name]:
            wanted = nest.shapes[name]
            raise ValueError(f"{name} has shape {np.shape(value)}; the nest needs {wanted}")
    kinds = {str(np.asarray(one).dtype) for one in given.values()} or {"float32"}
    if len(kinds) > 1 or not kinds <= set(FORMATS.values()):
        said = ", ".join(sorted(kinds))
        raise ValueError(f"arrays are of {said}; give all as float32 or all as float64")
    kind, found = kinds.pop(), {}
    for name, sizes in nest.shapes.items():
        found[name] = room(sizes, kind)
        found[name][...] = given.get(name, 0)
    return found


def room(shape: tuple[int, ...], dtype: str = "float32") -> Array:
    """Zeros that begin at a cache line."""
    nbytes = int(np.prod(shape)) * np.dtype(dtype).itemsize
    found: Array = aligned(nbytes)[:nbytes].view(dtype).reshape(shape)
    found[...] = 0
    return found


def _interpreted(nest: Nest, arrays: Mapping[str, Array]) -> None:
    """Run a nest in Python. No text of a user is in what is run, only our printing."""
    space: dict[str, Any] = {}
    exec(compile(code(nest), "<loop nest>", "exec"), space)
    values = (packed(nest, n, one)() if n in nest.packed else one for n, one in arrays.items())
    space["nest"](*values)


class Kernel:
    """A nest compiled for this processor and arrays of one format; see ``compiled``."""

    def __init__(self, nest: Nest, dtype: str = "float32", freely: bool = False) -> None:
        ops = program(nest)
        self.nest, self.turns = nest, outer_turns(ops)
        self.parallel = shared_turns(ops) is not None
        self.function = compiled(nest, dtype, freely)

    def bind(self, arrays: Mapping[str, Array], team: Team) -> Bound:
        """The kernel on these very arrays, with room for packed copies; see ``operands``."""
        return Bound(self, arrays, team)


class Bound:
    """A kernel on arrays. A call packs and runs it all."""

    def __init__(self, kernel: Kernel, arrays: Mapping[str, Array], team: Team) -> None:
        nest, parts = kernel.nest, team.size if kernel.parallel else 1
        self.kernel, self.team, self.spans = kernel, team, spans(*kernel.turns, parts)
        used = dict(arrays)
        for name in nest.packed:
            used[name] = room(stored_shape(nest, name), str(arrays[name].dtype))
        self.copies = [(used[name], packed(nest, name, arrays[name])) for name in nest.packed]
        self.arrays = [used[name] for name in nest.arrays]
        if not all(one.flags.c_contiguous for one in self.arrays):
            raise ValueError("arrays must lie in memory row by row")
        self.places = [one.ctypes.data for one in self.arrays]

    def __call__(self) -> None:
        self.pack()
        self.run(self.longest)

    @property
    def longest(self) -> int:
        """Turns of the outermost loop for the thread that has most."""
        return max(stop - start for start, stop in self.spans)

    def pack(self) -> None:
        """Fill the packed copies. Threads share the first axis."""
        for copy, read in self.copies:
            self.team.share(partial(_fill, copy, read()), spans(0, len(copy), self.team.size))

    def run(self, most: int) -> None:
        """Run the first turns of every thread, ``most`` of them or all."""
        function, places = self.kernel.function, self.places
        parts = [(start, min(stop, start + most)) for start, stop in self.spans]
        self.team.share(lambda start, stop: function(*places, start, stop), parts)


def _fill(copy: Array, values: Array, start: int, stop: int) -> None:
    np.copyto(copy[start:stop], values[start:stop])


def timed(nest: Nest, op: Operation, samples: int, seconds: float) -> Measurement:
    """Time a nest that adds a product of square matrices to a third, warm and on one thread.

    Operands that are measured lie by columns, as BLAS reads them. By rows the same memory holds
    the transposed matrices, and those of C + A·B are those of C + B·A.
    """
    names = dict(zip(("a", "b", "c"), ("B", "A", "C")))
    op = as_operation("op", op)
    sides = {side for operand in op.operands for side in operand.shape}
    shapes = dict.fromkeys("ABC", tuple(sides) * 2)
    if op.name != "gemm" or op.batch > 1 or not op.operands[-1].reads or len(sides) > 1:
        raise ValueError(
            f"op={op.label!r} must add a product of square matrices, such as "
            "rl.gemm(512, 512, 512, accumulate=True)"
        )
    if dict(nest.shapes) != shapes or nest.written != ("C",):
        raise ValueError(f"op={op.label!r} needs a nest on A, B and C of {shapes['A']}")
    kinds = {operand.dtype.name for operand in op.operands}
    if len(kinds) > 1 or not kinds <= FORMATS.keys():
        raise ValueError(f"op={op.label!r} must be in one format, fp32 or fp64")
    kernel, alone = Kernel(nest, FORMATS[kinds.pop()], freely=True), Team(1)

    def loops(*given: Array) -> None:
        by_rows = {names[o.name]: array.T for o, array in zip(op.operands, given)}
        kernel.bind(by_rows, alone)()

    return measure(op, loops, backend="cpu", cache="warm", threads=1, samples=fewer(samples),
                   seconds=seconds)  # fmt: skip


def spans(start: int, stop: int, parts: int) -> list[tuple[int, int]]:
    """The turns from ``start`` to ``stop`` in at most so many parts, none of them empty."""
    cuts = [start + (stop - start) * part // parts for part in range(parts + 1)]
    return [span for span in zip(cuts, cuts[1:]) if span[1] > span[0]]


class Team:
    """Threads that wait for work; the caller is one of them. A context manager."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._pool = ThreadPoolExecutor(size - 1) if size > 1 else None

    def __enter__(self) -> Team:
        return self

    def __exit__(self, *_: object) -> None:
        if self._pool:
            self._pool.shutdown()

    def share(self, work: Callable[[int, int], object], spans: list[tuple[int, int]]) -> None:
        """Work on each span in a thread of its own.

        The caller takes the first: were it asleep, a worker might wake up on its core.
        """
        rest = [self._pool.submit(work, *span) for span in spans[1:]] if self._pool else []
        work(*spans[0])
        for one in rest:
            one.result()

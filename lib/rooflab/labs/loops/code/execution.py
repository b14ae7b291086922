"""Generated code at work: compiled, given arrays, its parallel loop shared among threads."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np

from rooflab.count.operation import as_operation
from rooflab.count.validation import unknown
from rooflab.labs.loops.code.llvm import compiled
from rooflab.labs.loops.code.packing import packed
from rooflab.labs.loops.code.printer import code
from rooflab.labs.loops.code.program import lanes, outer_turns, program, shared_turns
from rooflab.labs.loops.legality.points import count
from rooflab.measure.measure import measure
from rooflab.measure.settings import fewer

if TYPE_CHECKING:
    from rooflab.count.operation import Operation
    from rooflab.labs.loops.nest import Nest
    from rooflab.measure.measurement import Measurement

Array = np.ndarray[Any, Any]
BACKENDS = ("numba", "llvm", "python")
MOST_PYTHON = 300_000  # iterations; a second or so
_FORMATS = {"fp32": "float32", "fp64": "float64"}
TYPES = tuple(_FORMATS.values())


def run(nest: Nest, backend: str, threads: int, given: Mapping[str, Array]) -> dict[str, Array]:
    """Run a schedule on copies of the arrays; those that are not given are zeros."""
    if backend not in BACKENDS:
        raise unknown("backend", backend, BACKENDS)
    arrays = operands(nest, given)
    if backend == "python":
        if threads > 1:
            raise ValueError(f"threads={threads}: backend='python' has one; take numba or llvm")
        if count(nest) > MOST_PYTHON:
            raise ValueError(
                f"backend='python': {count(nest):,} iterations are too many to interpret; up to "
                f"{MOST_PYTHON:,} are, and numba runs more"
            )
        _interpreted(code(nest, "python"))(*_packed(nest, arrays))
    else:
        call = bind(nest, arrays, backend)
        turns = shared_turns(program(nest))
        if turns is None:
            if threads > 1:
                raise ValueError(
                    f"threads={threads}: the outermost loop is not parallel; reorder one to the "
                    "outside, and mark it with parallel()"
                )
            call()
        else:
            with Team(threads) as team:
                team.share(call, spans(*turns, threads))
    return {name: arrays[name] for name in nest.written}


def fitting(nest: Nest, given: Mapping[str, Array]) -> None:
    """Raise ValueError for an array that the nest does not have, and for one of another shape."""
    for name, value in given.items():
        if name not in nest.shapes:
            raise unknown("array", name, nest.arrays)
        if np.shape(value) != nest.shapes[name]:
            wanted = nest.shapes[name]
            raise ValueError(f"{name} has shape {np.shape(value)}; the nest needs {wanted}")


def operands(nest: Nest, given: Mapping[str, Array]) -> dict[str, Array]:
    """Copies of the given arrays, and zeros for the others, checked once."""
    fitting(nest, given)
    kinds = {str(np.asarray(one).dtype) for one in given.values()} or {"float32"}
    if len(kinds) > 1 or not kinds <= set(TYPES):
        said = ", ".join(sorted(kinds))
        raise ValueError(f"arrays are of {said}; give all as float32 or all as float64")
    kind, found = kinds.pop(), {}
    for name, sizes in nest.shapes.items():
        value = given.get(name)
        found[name] = np.zeros(sizes, kind) if value is None else np.array(value, order="C")
    return found


def bind(nest: Nest, arrays: Mapping[str, Array], backend: str = "numba") -> Callable[..., None]:
    """The compiled nest on these very arrays, packed once.

    It is called with the first turn and the end where the outermost loop is parallel, else with
    nothing. ``arrays``: all of them, contiguous, as ``operands`` gives them.
    """
    values = _packed(nest, arrays)
    kind = str(values[0].dtype)
    if backend == "llvm":
        kernel, places = compiled(nest, kind), [one.ctypes.data for one in values]
        first, end = outer_turns(program(nest))

        def call(start: int = first, stop: int = end, alive: object = values) -> None:
            kernel(*places, start, stop)

        return call
    function = _numba(nest, values)
    return lambda *some: function(*some, *values)


def _numba(nest: Nest, values: Sequence[Array]) -> Callable[..., None]:
    """The nest compiled by numba, for arrays like ``values``, in the order of its names."""
    kind, ranks = str(values[0].dtype), tuple(one.ndim for one in values)
    shared = shared_turns(program(nest)) is not None
    return _compiled(code(nest, "numba"), lanes(program(nest)), kind, ranks, shared)


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
    if shared_turns(program(nest)) is not None:
        raise ValueError("the outermost loop is parallel, and one thread is timed")
    kinds = {operand.dtype.name for operand in op.operands}
    if len(kinds) > 1 or not kinds <= _FORMATS.keys():
        raise ValueError(f"op={op.label!r} must be in one format, fp32 or fp64")
    kind = _FORMATS[kinds.pop()]
    zeros = operands(nest, {"A": np.zeros(nest.shapes["A"], kind)})
    function = _numba(nest, _packed(nest, zeros))

    def loops(*given: Array) -> None:
        by_rows = {names[o.name]: array.T for o, array in zip(op.operands, given)}
        function(*_packed(nest, {name: by_rows[name] for name in nest.arrays}))

    return measure(op, loops, backend="cpu", cache="warm", threads=1, samples=fewer(samples),
                   seconds=seconds)  # fmt: skip


def _packed(nest: Nest, arrays: Mapping[str, Array]) -> list[Array]:
    return [
        packed(nest, name, values) if name in nest.packed else values
        for name, values in arrays.items()
    ]


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

    def share(self, work: Callable[[int, int], None], spans: list[tuple[int, int]]) -> None:
        """Work on each span in a thread of its own.

        The caller takes the first: were it asleep, a worker might wake up on its core.
        """
        rest = [self._pool.submit(work, *span) for span in spans[1:]] if self._pool else []
        work(*spans[0])
        for one in rest:
            one.result()


def _function(text: str, names: dict[str, Any]) -> Any:
    """The function in a page of generated code. No text of a user is in it, only our printing."""
    space = dict(names)
    exec(compile(text, "<loop nest>", "exec"), space)
    return space["nest"]


@functools.lru_cache(maxsize=64)
def _interpreted(text: str) -> Callable[..., None]:
    made: Callable[..., None] = _function(text, {})
    return made


@functools.lru_cache(maxsize=256)
def _compiled(
    text: str, width: int, kind: str, ranks: tuple[int, ...], shared: bool
) -> Callable[..., None]:
    import numba

    from rooflab.labs.loops.code.simd import intrinsics

    names = intrinsics(width, kind) if width > 1 else {}
    function = _function(text, {**names, "real": np.dtype(kind).type})
    real = getattr(numba, kind)
    arrays = [numba.types.Array(real, rank, "C") for rank in ranks]
    turns = [numba.int64, numba.int64] if shared else []
    made: Callable[..., None] = numba.njit([numba.void(*turns, *arrays)], nogil=True)(function)
    return made

"""Launch a kernel written in Python on all threads of a grid, count its traffic, find its faults.

:mod:`interpreter` makes NumPy of it over all :mod:`threads` at once, under a mask where they
diverge (:mod:`execution`). Arrays count sectors and bank conflicts (:mod:`memory`), and find
:mod:`races`.
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from rooflab.count import validation
from rooflab.labs.cuda.emulator import arithmetic, report
from rooflab.labs.cuda.emulator.execution import Execution
from rooflab.labs.cuda.emulator.interpreter import Program, program_of
from rooflab.labs.cuda.emulator.memory import Array
from rooflab.labs.cuda.emulator.races import Marks
from rooflab.labs.cuda.emulator.report import Point, Run, SharedTraffic, Traffic
from rooflab.labs.cuda.emulator.threads import WARP

# CUDA C++ Programming Guide, technical specifications per compute capability
MOST_BLOCK, MOST_THREADS = (1024, 1024, 64), 1024
MOST_GRID = (2**31 - 1, 65535, 65535)
MOST_EMULATED = 1 << 22  # threads of all blocks, in whole warps
MOST_STEPS = 500_000


def launch(
    kernel: Callable[..., Any] | str, grid: Any, block: Any, *args: Any, max_steps: int = MOST_STEPS
) -> Run:
    """Execute a kernel for every thread of a grid, and return what it counted.

    Parameters
    ----------
    kernel
        A Python function of one thread, in the words of ``numba.cuda``, or its source text (the
        last function of it is the kernel).
    grid, block
        Blocks of the grid and threads of a block: an integer, or a tuple (x, y, z).
    *args
        NumPy arrays, which the kernel reads and writes in place and which count as aligned, and
        numbers. Python's floats, here and in the text, are float32 unless an array is float64.
    max_steps
        Work after which a launch is endless, in steps of up to 10 µs; and a quarter one a thread.

    Returns
    -------
    Run
        Traffic by array and by line, shared memory, FLOPs, barriers.

    Raises
    ------
    KernelFault
        At the first race, access out of bounds, divergent barrier, ….

    Examples
    --------
    >>> import numpy as np
    >>> from rooflab.labs.cuda.emulator import launch
    >>> A, kernel = np.ones(100, np.float32), '''
    ... def double(A, n):
    ...     i = cuda.grid(1)
    ...     if i < n: A[i] = 2 * A[i]
    ... '''
    >>> run = launch(kernel, 4, 32, A, 100)
    >>> float(A.sum()), run.flops, run.global_loads.sectors
    (200.0, 100, 13)
    """
    grid = _sizes("grid", grid, MOST_GRID)
    block = _sizes("block", block, MOST_BLOCK)
    if math.prod(block) > MOST_THREADS:
        raise ValueError(f"block={block} must have at most {MOST_THREADS} threads")
    if math.prod(grid) * max(math.prod(block), WARP) > MOST_EMULATED:
        raise ValueError(f"grid={grid} must have at most {MOST_EMULATED:,} threads in all")
    program = program_of(kernel)
    given = program.bound(args)
    _refuse_overlaps(given, program.written)
    double = any(isinstance(a, np.ndarray) and a.dtype == np.float64 for a in args)
    real = np.float64 if double else np.float32
    values = {name: _argument(name, value, program, real) for name, value in given.items()}
    steps = validation.size("max_steps", max_steps) + math.prod(grid + block) // 4
    state = Execution(grid, block, real, steps)
    state.enter(program, values)
    state.run(program.body)
    return _run([name for name, v in values.items() if isinstance(v, Array)], state, program.file)


def _sizes(name: str, value: Any, most: Point) -> Point:
    sizes = validation.shape(name, value)
    x, y, z = (*sizes, 1, 1)[:3]
    if len(sizes) > 3 or x > most[0] or y > most[1] or z > most[2]:
        raise ValueError(f"{name}={value!r} must be an integer, or (x, y, z), at most {most}")
    return x, y, z


def _refuse_overlaps(args: Mapping[str, Any], written: frozenset[str]) -> None:
    arrays = [(name, array) for name, array in args.items() if isinstance(array, np.ndarray)]
    for (one, a), (other, b) in itertools.combinations(arrays, 2):
        if {one, other} & written and np.may_share_memory(a, b):
            raise ValueError(f"{one} and {other} lie at the same place; pass a copy of one")


def _argument(name: str, value: Any, program: Program, real: type) -> Any:
    """Return an argument as the kernel has it."""
    if isinstance(value, np.ndarray) and value.ndim:
        known = value.dtype in map(np.dtype, arithmetic.DTYPES.values())
        if not (known and value.size and value.flags.c_contiguous):
            raise ValueError(
                f"{name} has dtype {value.dtype} and shape {value.shape}; a kernel takes arrays of "
                f"float32, int32 and such, not empty, as np.ascontiguousarray({name}) has them"
            )
        marks = Marks(value.size) if name in program.written else None
        return Array(name, value.shape, value.reshape(-1), marks=marks)
    if isinstance(value, bool | int | float | np.generic):
        return arithmetic.literal(value, real)
    kind = type(value).__name__
    raise TypeError(f"{name} is a {kind}; a kernel takes NumPy arrays and numbers")


def _run(arrays: list[str], state: Execution, file: str) -> Run:
    traffic: defaultdict[Any, Traffic] = defaultdict(Traffic)
    for (place, *key), total in state.traffic.items():
        for each in (place, tuple(key), key[1]):
            traffic[each] += total
    places = {place for place, *_ in state.traffic} | {*state.banks}
    lines: dict[int | str, report.LineTraffic] = {}
    for place in sorted(places, key=lambda place: (place.file != file, place.line)):
        key = place.line if place.file == file else f"{place.function}:{place.line}"
        moved, banks = traffic[place], state.banks[place]
        lines[key] = report.LineTraffic(
            place.text, moved.requests, moved.sectors, banks.requests, banks.wavefronts
        )
    kinds = ("loads", "stores", "atomics")
    return Run(
        {name: report.ArrayTraffic(*(traffic[name, kind] for kind in kinds)) for name in arrays},
        sum(state.banks.values(), SharedTraffic()), lines, state.flops, state.barriers,
        state.atomics, *(traffic[kind] for kind in kinds),
    )  # fmt: skip

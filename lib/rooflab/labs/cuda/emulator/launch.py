"""Launch a kernel written in Python on all threads of a grid, count its traffic, find its faults.

The kernel is rewritten into NumPy over all threads at once (:mod:`rewrite`, :mod:`threads`), under
a mask where they diverge (:mod:`execution`). Arrays count sectors and bank conflicts
(:mod:`memory`) and find races (:mod:`races`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from rooflab.count import validation
from rooflab.labs.cuda.emulator import arithmetic
from rooflab.labs.cuda.emulator.execution import Counts, Execution, Faults, Variable
from rooflab.labs.cuda.emulator.memory import Array
from rooflab.labs.cuda.emulator.races import Marks, Order
from rooflab.labs.cuda.emulator.report import (
    ArrayTraffic,
    KernelFault,
    LineTraffic,
    Point,
    Run,
    SharedTraffic,
    Traffic,
)  # fmt: skip
from rooflab.labs.cuda.emulator.rewrite import Program, program_of
from rooflab.labs.cuda.emulator.threads import Geometry, chunks

# CUDA C++ Programming Guide, technical specifications per compute capability
MOST_BLOCK, MOST_THREADS = (1024, 1024, 64), 1024
MOST_GRID = (2**31 - 1, 65535, 65535)
SHARED_LIMIT, MOST_SHARED = 48 * 1024, 227 * 1024  # bytes a block: without opting in, and with
MOST_STEPS = 500_000


def launch(
    kernel: Callable[..., Any] | str, grid: Any, block: Any, *args: Any, on_fault: str = "raise",
    shared_limit: int = SHARED_LIMIT, max_steps: int = MOST_STEPS,
) -> Run:  # fmt: skip
    """Execute a kernel for every thread of a grid, and return what it counted.

    Parameters
    ----------
    kernel
        A Python function of one thread, in the words of ``numba.cuda``, or its source text (the
        last function of it is the kernel).
    grid, block
        Blocks of the grid and threads of a block: an integer, or a tuple (x, y, z).
    *args
        NumPy arrays, which the kernel reads and writes in place, and numbers.
    on_fault
        ``"raise"``: raise KernelFault at the first fault; ``"collect"``: go on, and list them.
    shared_limit
        Bytes of shared memory a block may have, up to 227 KiB.
    max_steps
        Iterations of loops, and accesses (4 each), after which a loop counts as endless.

    Returns
    -------
    Run
        Traffic by array and by line, shared memory, FLOPs, barriers, faults.

    Raises
    ------
    KernelFault
        At the first race, access out of bounds, divergent barrier, … of the kernel.

    Examples
    --------
    >>> import numpy as np
    >>> from rooflab.labs.cuda.emulator import launch
    >>> kernel = '''
    ... def double(A, n):
    ...     i = cuda.grid(1)
    ...     if i < n:
    ...         A[i] = 2 * A[i]
    ... '''
    >>> A = np.ones(100, np.float32)
    >>> run = launch(kernel, 4, 32, A, 100)
    >>> float(A.sum()), run.flops, run.global_loads.sectors
    (200.0, 100, 13)
    """
    grid = _sizes("grid", grid, MOST_GRID)
    block = _sizes("block", block, MOST_BLOCK)
    if np.prod(block) > MOST_THREADS:
        raise ValueError(f"block={block} must have at most {MOST_THREADS} threads")
    if on_fault not in ("raise", "collect"):
        raise validation.unknown("on_fault", on_fault, ("raise", "collect"))
    limit = validation.size("shared_limit", shared_limit)
    if limit > MOST_SHARED:
        raise ValueError(f"shared_limit={limit} must be at most {MOST_SHARED} bytes (227 KiB)")
    program = program_of(kernel)
    values = _arguments(program, program.bound(args))
    counts = Counts(validation.size("max_steps", max_steps), limit)
    faults = Faults(program.file, on_fault == "collect")
    _execute(program, grid, block, values, counts, faults)
    return _run(values, counts, faults)


def _sizes(name: str, value: Any, most: Point) -> Point:
    sizes = validation.shape(name, value)
    if len(sizes) > 3:
        raise ValueError(f"{name}={value!r} must be an integer, or up to three: (x, y, z)")
    x, y, z = (*sizes, 1, 1)[:3]
    if x > most[0] or y > most[1] or z > most[2]:
        raise ValueError(f"{name}={value!r} must be at most {most}")
    return x, y, z


def _arguments(program: Program, args: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments by name, arrays as those of the emulator."""
    values = dict(args)
    arrays = {name: a for name, a in args.items() if isinstance(a, np.ndarray) and a.ndim}
    marks: dict[int, Marks] = {}  # by address
    for name, array in arrays.items():
        _check_array(name, array)
        for other in program.written & {*arrays}:
            if not np.may_share_memory(array, arrays[other]):
                continue
            same = [(a.ctypes.data, a.nbytes, a.dtype) for a in (array, arrays[other])]
            if same[0] != same[1]:
                raise ValueError(f"{name} and {other} overlap in part; pass copies")
            marks.setdefault(array.ctypes.data, Marks(array.size, False))
    for name, value in args.items():
        if name in arrays:
            here = marks.get(value.ctypes.data)
            values[name] = Array(name, value.shape, value.reshape(-1), here)
        elif not isinstance(value, bool | int | float | np.generic):
            kind = type(value).__name__
            raise TypeError(f"{name} is a {kind}; a kernel takes NumPy arrays and numbers")
        else:
            values[name] = arithmetic.literal(value)
    return values


def _check_array(name: str, array: np.ndarray) -> None:
    if array.dtype not in (*map(np.dtype, arithmetic.DTYPES.values()),):
        raise TypeError(f"{name} has dtype {array.dtype}; a kernel takes float32, int32 and such")
    if not array.flags.c_contiguous:
        raise ValueError(f"{name} is not contiguous; pass np.ascontiguousarray({name})")
    if not array.size:
        raise ValueError(f"{name} of shape {array.shape} is empty")


def _execute(
    program: Program, grid: Point, block: Point, values: Mapping[str, Any], counts: Counts,
    faults: Faults,
) -> None:  # fmt: skip
    order = Order(int(np.prod(grid)), int(np.prod(block)))
    double = any(isinstance(a, Array) and a.data.dtype == np.float64 for a in values.values())
    try:
        for first, box in chunks(grid, int(np.prod(block))):
            counts.steps, geometry = 0, Geometry(grid, block, first, box)
            real = np.float64 if double else np.float32
            state = Execution(geometry, order, faults, counts, real)
            state.names = program.names
            state.variables = {name: Variable(v, geometry.all) for name, v in values.items()}
            with np.errstate(all="ignore"):
                program.body(state)
    except KernelFault:
        if not faults.collect:
            raise
    except (ArithmeticError, AttributeError, TypeError) as error:  # of what Python did not like
        raise ValueError(f"{state.place}: {error}") from error


def _run(values: Mapping[str, Any], counts: Counts, faults: Faults) -> Run:
    traffic: defaultdict[Any, Traffic] = defaultdict(Traffic)
    lines: defaultdict[Any, list[Any]] = defaultdict(lambda: ["", 0, 0, 0, 0])
    rows = [(place, (*total[:2], 0, 0)) for (place, *_), total in counts.traffic.items()]
    rows += [(place, (0, 0, *total[:2])) for place, total in counts.banks.items()]
    for (_, array, what), total in counts.traffic.items():
        traffic[array, what] += Traffic(*total)
    for place, row in rows:
        line = lines[faults.key(place)]
        line[:] = [place.text, *(a + b for a, b in zip(line[1:], row))]
    arrays = {
        name: ArrayTraffic(*(traffic[name, what] for what in ("loads", "stores", "atomics")))
        for name, value in values.items()
        if isinstance(value, Array)
    }
    ordered = sorted(lines, key=lambda line: (isinstance(line, str), line))
    shared = SharedTraffic(*map(sum, zip(*counts.banks.values())))
    return Run(
        arrays, shared, {key: LineTraffic(*lines[key]) for key in ordered}, counts.flops,
        counts.barriers, counts.atomics, tuple(faults.seen.values()),
    )  # fmt: skip

"""Launch a kernel written in Python on all threads of a grid, count its traffic, find its faults.

:mod:`rewrite` makes NumPy of it over all :mod:`threads` at once, under a mask where they diverge
(:mod:`execution`). Arrays count sectors and bank conflicts (:mod:`memory`), and find :mod:`races`.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from rooflab.count import validation
from rooflab.labs.cuda.emulator import arithmetic, report
from rooflab.labs.cuda.emulator.execution import Counts, Execution, Faults, Variable
from rooflab.labs.cuda.emulator.memory import Array
from rooflab.labs.cuda.emulator.races import Marks, Order
from rooflab.labs.cuda.emulator.report import KernelFault, Point, Run, Traffic
from rooflab.labs.cuda.emulator.rewrite import Program, program_of
from rooflab.labs.cuda.emulator.threads import WARP, Geometry, chunks

# CUDA C++ Programming Guide, technical specifications per compute capability
MOST_BLOCK, MOST_THREADS = (1024, 1024, 64), 1024
MOST_GRID = (2**31 - 1, 65535, 65535)
SHARED_LIMIT, MOST_SHARED = 48 * 1024, 227 * 1024  # bytes a block: without opting in, and with
MOST_EMULATED = 1 << 27
_KINDS = ("loads", "stores", "atomics")
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
        NumPy arrays, which the kernel reads and writes in place, and numbers. Their floats, and
        those in the text, are float32 to the kernel unless an array is float64. What NumPy
        allocates counts as aligned to 256 bytes.
    on_fault
        ``"raise"``: raise KernelFault at the first race, access out of bounds, divergent barrier,
        …; ``"collect"``: go on, and list them.
    shared_limit
        Bytes of shared memory a block may have, up to 227 KiB.
    max_steps
        Work after which a launch is endless, in steps of up to 10 µs; and a quarter one a thread.

    Returns
    -------
    Run
        Traffic by array and by line, shared memory, FLOPs, barriers, faults.

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
    if on_fault not in (ways := ("raise", "collect")):
        raise validation.unknown("on_fault", on_fault, ways)
    if (limit := validation.size("shared_limit", shared_limit)) > MOST_SHARED:
        raise ValueError(f"shared_limit={limit} must be at most {MOST_SHARED} bytes (227 KiB)")
    program = program_of(kernel)
    values = _arguments(program, program.bound(args))
    steps = validation.size("max_steps", max_steps) + math.prod(grid + block) // 4
    counts = Counts(steps, limit)
    faults = Faults(program.file, on_fault == "collect")
    _execute(program, (grid, block), values, counts, faults)
    return _run(values, counts, faults)


def _sizes(name: str, value: Any, most: Point) -> Point:
    sizes = validation.shape(name, value)
    x, y, z = (*sizes, 1, 1)[:3]
    if len(sizes) > 3 or x > most[0] or y > most[1] or z > most[2]:
        raise ValueError(f"{name}={value!r} must be an integer, or (x, y, z), at most {most}")
    return x, y, z


def _arguments(program: Program, args: Mapping[str, Any]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    arrays = {name: a for name, a in args.items() if isinstance(a, np.ndarray) and a.ndim}
    marks: dict[int, Marks] = {}  # by address
    for name, array in arrays.items():
        _check_array(name, array)
        for other in program.written & {*arrays}:
            if np.may_share_memory(array, arrays[other]):
                same = [(a.ctypes.data, a.nbytes, a.dtype) for a in (array, arrays[other])]
                if same[0] != same[1]:
                    raise ValueError(f"{name} and {other} overlap in part; pass copies")
                marks.setdefault(array.ctypes.data, Marks(array.size))
    for name, value in args.items():
        if name in arrays:
            here = marks.get(value.ctypes.data)
            base = value
            while isinstance(base.base, np.ndarray):
                base = base.base
            start = value.ctypes.data - base.ctypes.data
            values[name] = Array(name, value.shape, value.reshape(-1), here, start=start)
        elif isinstance(value, bool | int | float | np.generic):
            values[name] = arithmetic.literal(value)
        else:
            kind = type(value).__name__
            raise TypeError(f"{name} is a {kind}; a kernel takes NumPy arrays and numbers")
    return values


def _check_array(name: str, array: np.ndarray) -> None:
    if array.dtype not in map(np.dtype, arithmetic.DTYPES.values()):
        raise TypeError(f"{name} has dtype {array.dtype}; a kernel takes float32, int32 and such")
    if not array.flags.c_contiguous:
        raise ValueError(f"{name} is not contiguous; pass np.ascontiguousarray({name})")
    if not array.size:
        raise ValueError(f"{name} of shape {array.shape} is empty")


def _execute(program: Program, sizes: Any, values: Any, counts: Counts, faults: Faults) -> None:
    grid, block = sizes
    order = Order(math.prod(grid), math.prod(block))
    double = any(isinstance(a, Array) and a.data.dtype == np.float64 for a in values.values())
    try:
        for first, box in chunks(grid, math.prod(block)):
            geometry, real = Geometry(grid, block, first, box), np.float64 if double else np.float32
            counts.steps += 16
            state = Execution(geometry, order, faults, counts, real)
            state.names = program.names
            state.variables = {name: Variable(v, geometry.all) for name, v in values.items()}
            state.run(program.body)
    except KernelFault:
        if not faults.collect:
            raise


def _run(values: Mapping[str, Any], counts: Counts, faults: Faults) -> Run:
    traffic: defaultdict[Any, Traffic] = defaultdict(Traffic)
    lines: defaultdict[Any, list[Any]] = defaultdict(lambda: ["", 0, 0, 0, 0])
    rows = [(place, (*total[:2], 0, 0)) for (place, *_), total in counts.traffic.items()]
    rows += [(place, (0, 0, *total[:2])) for place, total in counts.banks.items()]
    for (_, array, what), total in counts.traffic.items():
        traffic[array, what] += Traffic(*total)
        traffic[what] += Traffic(*total)
    for place, row in rows:
        line = lines[faults.key(place)]
        line[:] = [place.text, *(a + b for a, b in zip(line[1:], row))]
    names, kinds = (n for n, a in values.items() if isinstance(a, Array)), _KINDS
    ordered = sorted(lines, key=lambda line: (isinstance(line, str), line))
    return Run(
        {name: report.ArrayTraffic(*(traffic[name, what] for what in kinds)) for name in names},
        report.SharedTraffic(*map(sum, zip(*counts.banks.values()))),
        {key: report.LineTraffic(*lines[key]) for key in ordered}, counts.flops, counts.barriers,
        counts.atomics, tuple(faults.seen.values()), *(traffic[what] for what in kinds),
    )  # fmt: skip

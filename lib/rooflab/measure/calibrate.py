"""Time the library's routines at a few fitting sizes, for the estimate of :mod:`rooflab.predict`.

At most four sizes a routine and dtype, chosen from this machine's caches, so that one lies in each
level. None is a size that anybody reports (no power of two, no round number): what is fitted is
never what is scored (benchmarks/prediction.py asserts it).

On a CPU all points are timed in turn, round after round, and the fastest samples count: what
another program does for a second then disturbs one round of a point, not the point. A GPU is this
program's alone, as a rule, so there each point is timed once. What it loses by a call is the time
of a kernel with nothing to do, because Python's part is hidden while the queue is full.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from statistics import median

from rooflab.count import Operation, axpy, dot, dtype, gemm, gemv, ger, scale
from rooflab.measure.backend import Backend, select
from rooflab.measure.caches import FALLBACK
from rooflab.measure.ceiling import quickest
from rooflab.measure.cold import evictor
from rooflab.measure.kernels import kernel_for
from rooflab.measure.memory import available_bytes, needed_bytes
from rooflab.measure.operands import copies, make
from rooflab.measure.threads import thread_limit
from rooflab.measure.timing import Call, time_cold, time_warm
from rooflab.measure.told import fewer
from rooflab.predict.estimate import mix_of, peak_of
from rooflab.predict.machine import Machine
from rooflab.predict.routines import routine, smallest

DTYPES = {"cpu": ("fp32", "fp64"), "gpu": ("fp32", "fp64", "tf32", "bf16", "fp16")}
TINY = 6
PRODUCTS = (22, 90, 710)
THIN = ((1, 907, 907), (5, 907, 907), (21, 907, 907))
GPU_PRODUCTS = (90, 710)  # and one that takes PRODUCT_S, because GPUs differ a hundredfold
GPU_THIN = ((1, 3608, 3608), (21, 3608, 3608), (119, 3608, 3608))
PRODUCT_S, LARGEST_PRODUCT = 2e-3, 8200
GPU_L2, GPU_MEMORY = 1 / 3, 8.0  # times the L2 cache: well inside it, and well beyond it
ROUNDS = 4
SECONDS, SETTLE = 0.008, 0.002  # a point in a round: timed, and run untimed before
GPU_SAMPLES, GPU_SECONDS, GPU_WARM_UP = fewer(10), 0.02, 0.01
COPIES = 15  # cold calls in a row, as measure() times them: operands cold, the routine's code not


@dataclass(frozen=True)
class Fit:
    """A routine: the tiny call that gives its overhead, and one operation a point.

    ``levels`` says in which memory level each point's operands lie; empty for matrix products,
    whose points differ by their smallest dimension.
    """

    tiny: Operation
    points: tuple[Operation, ...] = ()
    levels: tuple[str, ...] = ()


def calibrate(m: Machine, dtypes: tuple[str, ...] | None = None) -> dict[str, object]:
    """Return ``Machine.routines`` for ``m``, whose roofs are measured already, on its backend.

    Keys are those of :func:`rooflab.predict.routines.routine`; an entry is {"overhead_s",
    "cold_overhead_s", "points": [{"dims", "seconds", "efficiency", and "level" or "smallest"}]}.
    What a GPU has no routine or no room for is left out. Raises RuntimeError for a GPU's machine
    without a GPU.
    """
    backend = select(m.backend)
    found: dict[str, object] = {}
    for kind in dtypes or DTYPES[m.backend]:
        # One dtype at a time: the operands of all would fill a small machine.
        fits = _fits(m, kind)
        if backend.is_gpu:
            warm, cold = _timed_on_gpu(fits, backend)
        else:
            warm, cold = _timed(fits, m.threads)
        for fit in fits:
            if fit.tiny not in warm:
                continue
            found[routine((*fit.points, fit.tiny)[0], m.backend)] = {
                "overhead_s": warm[fit.tiny],
                "cold_overhead_s": cold[fit.tiny],
                "points": [
                    _point(m, op, level, warm[op], warm[fit.tiny])
                    for op, level in itertools.zip_longest(fit.points, fit.levels)
                    if op in warm
                ],
            }
    return found


def _fits(m: Machine, kind: str) -> list[Fit]:
    product = gemm(TINY, TINY, TINY, kind)
    square, thin = _products(m, product)
    products = [
        Fit(product, tuple(gemm(n, n, n, kind) for n in square)),
        Fit(product, tuple(gemm(*shape, kind) for shape in thin)),
    ]
    if kind == "tf32":  # a mode of products, that no other routine has
        return products if m.has_peak(kind) else []
    itemsize = dtype(kind).bits / 8
    levels, sizes = zip(*_working_sets(m), strict=True)
    return [
        Fit(
            axpy(TINY, kind),
            tuple(axpy(_uneven(nbytes / 2 / itemsize), kind) for nbytes in sizes),
            levels,
        ),
        Fit(
            gemv(TINY, TINY, kind),
            tuple(gemv(*[_uneven(math.sqrt(nbytes / itemsize))] * 2, kind) for nbytes in sizes),
            levels,
        ),
        *(products if m.has_peak(kind) else ()),
        *(Fit(tiny) for tiny in (dot(TINY, kind), scale(TINY, kind), ger(TINY, TINY, kind))),
    ]


def _products(m: Machine, op: Operation) -> tuple[tuple[int, ...], tuple[tuple[int, ...], ...]]:
    """Sizes of square products and shapes of thin ones for the dtype of ``op``."""
    if m.backend != "gpu":
        return PRODUCTS, THIN
    if not m.has_peak(op.compute_dtype):
        return (), ()
    large = _uneven(min((PRODUCT_S * peak_of(op, m)[0] / 2) ** (1 / 3), LARGEST_PRODUCT))
    return (*GPU_PRODUCTS, *([large] if large > 2 * GPU_PRODUCTS[-1] else [])), GPU_THIN


def _uneven(size: float) -> int:
    """A size near ``size`` that no one reports: 8 more than a multiple of 16."""
    return int(size) // 16 * 16 + 8


def _working_sets(m: Machine) -> list[tuple[str, float]]:
    """One working set in each level from l2 on: between the level below and its own size."""
    if m.backend == "gpu":
        last = m.capacities["l2"]
        beyond = min(GPU_MEMORY * last, m.capacities.get("dram", math.inf) / 16)
        return [("l2", GPU_L2 * last), ("dram", beyond)]
    names = [name for name in m.levels if name != "dram"]
    sizes = [m.capacities[name] for name in names]
    inside = [
        (name, math.sqrt(low * high))
        for name, low, high in zip(names[1:], sizes[:-1], sizes[1:], strict=True)
    ]
    last = sizes[-1] if sizes else FALLBACK
    return [*inside[-2:], ("dram", min(2.6 * last, m.capacities.get("dram", math.inf) / 8))]


def _point(
    m: Machine, op: Operation, level: str | None, seconds: float, overhead: float
) -> dict[str, object]:
    """A fitting size with its efficiency: the share of the roof that the work itself reached."""
    if level is None:
        at_the_roof, where = op.flops / peak_of(op, m)[0], {"smallest": smallest(op, m.backend)}
    else:
        bandwidth = m.bandwidth(level, mix_of(op, m, level))
        at_the_roof, where = op.bytes / bandwidth, {"level": level}
    working = max(seconds - overhead, 0.1 * seconds)
    share = at_the_roof / working
    return {"dims": dict(op.dims), "seconds": seconds, "efficiency": share, **where}


def _timed(
    fits: list[Fit], threads: int | None
) -> tuple[dict[Operation, float], dict[Operation, float]]:
    """Seconds of one call of every operation, warm, and of the tiny ones cold as well."""
    calls = {op: _bound(op)[0] for fit in fits for op in (fit.tiny, *fit.points)}
    tiny = {fit.tiny: _bound(fit.tiny, COPIES) for fit in fits}
    evict = evictor(0, threads or 1)
    warm: dict[Operation, list[float]] = {op: [] for op in calls}
    cold: dict[Operation, list[float]] = {op: [] for op in tiny}
    with thread_limit(threads):
        for _ in range(ROUNDS):
            for op, call in calls.items():
                warm[op] += time_warm(call, samples=4, seconds=SECONDS, settle_s=SETTLE).samples
            for op, copied in tiny.items():
                timing = time_cold(copied, evict, samples=COPIES, settle_s=0)
                cold[op].append(median(timing.samples))
    return _fastest(warm), _fastest(cold)


def _timed_on_gpu(
    fits: list[Fit], backend: Backend
) -> tuple[dict[Operation, float], dict[Operation, float]]:
    """As :func:`_timed`, without operations that this GPU cannot do."""
    from rooflab.measure.gpu import l2_flush, time_gpu

    xp, flush = backend.xp, l2_flush(backend.xp)
    limits = {"samples": GPU_SAMPLES, "seconds": GPU_SECONDS, "warm_up_s": GPU_WARM_UP}
    tiny = {fit.tiny for fit in fits}
    warm: dict[Operation, float] = {}
    cold: dict[Operation, float] = {}
    for op in dict.fromkeys(op for fit in fits for op in (fit.tiny, *fit.points)):
        if needed_bytes(op, backend) > available_bytes(backend) / 2:
            continue
        try:
            call = kernel_for(op, backend).bind(make(op, backend))
            warm[op] = quickest(time_gpu(xp, call, cache="warm", **limits).samples)
            if op in tiny:
                cold[op] = time_gpu(xp, call, cache="cold", flush=flush, **limits).median_s
        except (ValueError, MemoryError, RuntimeError):  # CuPy's errors are RuntimeErrors
            warm.pop(op, None)
    return warm, cold


def _fastest(samples: dict[Operation, list[float]]) -> dict[Operation, float]:
    return {op: quickest(each) for op, each in samples.items()}


def _bound(op: Operation, count: int = 1) -> list[Call]:
    """Calls of ``op`` on ``count`` sets of operands."""
    backend = select("cpu")
    kernel = kernel_for(op, backend)
    return [kernel.bind(each) for each in copies(make(op, backend), count)]

"""Time the library's routines at a few fitting sizes, for the estimate of :mod:`rooflab.predict`.

At most four sizes a routine and dtype, chosen from this machine's caches, so that one lies in each
level. None is a size that anybody reports (no power of two, no round number): what is fitted is
never what is scored (benchmarks/prediction.py asserts it).

All points are timed in turn, round after round, and the fastest samples count: what another
program does for a second then disturbs one round of a point, not the point.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from statistics import median

from rooflab.count import Operation, axpy, dot, dtype, gemm, gemv, ger, scale
from rooflab.measure.backend import select
from rooflab.measure.caches import FALLBACK
from rooflab.measure.ceiling import quickest
from rooflab.measure.cold import evictor
from rooflab.measure.kernels import kernel_for
from rooflab.measure.operands import copies, make
from rooflab.measure.threads import thread_limit
from rooflab.measure.timing import Call, time_cold, time_warm
from rooflab.predict.estimate import mix_of
from rooflab.predict.machine import Machine
from rooflab.predict.routines import routine, smallest

DTYPES = ("fp32", "fp64")
TINY = 6
PRODUCTS = (22, 90, 710)
THIN = ((1, 907, 907), (5, 907, 907), (21, 907, 907))
ROUNDS = 4
SECONDS, SETTLE = 0.008, 0.002  # a point in a round: timed, and run untimed before
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


def calibrate(m: Machine, dtypes: tuple[str, ...] = DTYPES) -> dict[str, object]:
    """Return ``Machine.routines`` for the CPU machine ``m``, whose roofs are measured already.

    Keys are those of :func:`rooflab.predict.routines.routine`; an entry is {"overhead_s",
    "cold_overhead_s", "points": [{"dims", "seconds", "efficiency", and "level" or "smallest"}]}.
    """
    found: dict[str, object] = {}
    for kind in dtypes:  # one dtype at a time: the operands of both would fill a small machine
        fits = _fits(m, kind)
        warm, cold = _timed(fits, m.threads)
        for fit in fits:
            name = routine((*fit.points, fit.tiny)[0])
            found[name] = {
                "overhead_s": warm[fit.tiny],
                "cold_overhead_s": cold[fit.tiny],
                "points": [
                    _point(m, op, level, warm[op], warm[fit.tiny])
                    for op, level in itertools.zip_longest(fit.points, fit.levels)
                ],
            }
    return found


def _fits(m: Machine, kind: str) -> list[Fit]:
    itemsize = dtype(kind).bits / 8
    levels, sizes = zip(*_working_sets(m), strict=True)
    product = gemm(TINY, TINY, TINY, kind)
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
        Fit(product, tuple(gemm(n, n, n, kind) for n in PRODUCTS)),
        Fit(product, tuple(gemm(*shape, kind) for shape in THIN)),
        *(Fit(tiny) for tiny in (dot(TINY, kind), scale(TINY, kind), ger(TINY, TINY, kind))),
    ]


def _uneven(size: float) -> int:
    """A size near ``size`` that no one reports: 8 more than a multiple of 16."""
    return int(size) // 16 * 16 + 8


def _working_sets(m: Machine) -> list[tuple[str, float]]:
    """One working set in each level from l2 on: between the level below and its own size."""
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
        at_the_roof, where = op.flops / m.peak(op.compute_dtype), {"smallest": smallest(op)}
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


def _fastest(samples: dict[Operation, list[float]]) -> dict[Operation, float]:
    return {op: quickest(each) for op, each in samples.items()}


def _bound(op: Operation, count: int = 1) -> list[Call]:
    """Calls of ``op`` on ``count`` sets of operands."""
    backend = select("cpu")
    kernel = kernel_for(op, backend)
    return [kernel.bind(each) for each in copies(make(op, backend), count)]

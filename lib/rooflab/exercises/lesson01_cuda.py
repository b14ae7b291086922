"""Exercises of lesson 01 that time AXPY, GEMV and GEMM with CUDA events.

Each mistake is a whole timing function, so that the tests can prove that it gives a wrong number
and is recognised from the log; all of them are variations of :func:`timing_with`.
"""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from rooflab.cuda import Device
from rooflab.exercises import timing_mistakes as mistakes
from rooflab.exercises.exercise import Case, Exercise, Misconception
from rooflab.exercises.timing import operation, reordered, sizes
from rooflab.predict.catalogue import machine
from rooflab.predict.machine import Machine

GPUS = ("h200-sxm", "a100-sxm-80", "h100-pcie")  # those whose L2 bandwidth somebody measured

Launch = Callable[[], object]
Clock = Callable[..., float]  # clock(cp, launch) → seconds
Answer = Callable[..., object]  # what a learner writes
Shares = tuple[float, float, float]
Share = Callable[[float, float], float]  # of a rate and its roof


def timing_with(
    cp: Any,
    launch: Launch,
    *,
    warm_up: bool = True,
    flush: str = "",
    queue: int = 1,
    synchronise: bool = True,
    unit: float = 1e-3,
    divide: bool = True,
    samples: int = 7,
    backwards: bool = False,
) -> float:
    """Median seconds of ``launch`` by CUDA events; every argument's default is the right way.

    ``flush``, which reads a buffer of 4 × L2: "before" each start, "inside" the timed region,
    "waiting" for it before the start; "written": it overwrites the buffer instead.
    """
    size = cp.cuda.Device().attributes["L2CacheSize"] if flush else 1
    big, total = cp.ones(size, dtype=cp.float32), cp.zeros((), dtype=cp.float32)
    if warm_up:
        launch()
    times = []
    for _ in range(samples):
        start, stop = cp.cuda.Event(), cp.cuda.Event()
        if flush in ("before", "waiting"):
            big.sum(out=total)
        elif flush == "written":
            big.fill(0)
        if flush == "waiting":
            cp.cuda.Device().synchronize()
        start.record()
        if flush == "inside":
            big.sum(out=total)
        for _ in range(queue):
            launch()
        stop.record()
        if synchronise:
            stop.synchronize()
        marks = (stop, start) if backwards else (start, stop)
        times.append(cp.cuda.get_elapsed_time(*marks) * unit / (queue if divide else 1))
    return statistics.median(times)


def _host_timed(cp: Any, launch: Launch, *, synchronise: bool) -> float:
    launch()
    began = time.perf_counter()
    for _ in range(20):
        launch()
    if synchronise:
        cp.cuda.runtime.deviceSynchronize()
    return (time.perf_counter() - began) / 20


def _axpy(clock: Clock) -> Answer:
    return lambda cp, x, y, a: clock(cp, lambda: cp.cublas.axpy(a, x, y))


def _share(rate: float, roof: float) -> float:
    return rate / roof


def _gemv(
    clock: Clock, nbytes: Callable[..., float] | None = None, share: Share = _share
) -> Answer:
    def answer(cp: Any, matrix: Any, x: Any, y: Any, bandwidth: float) -> Shares:
        seconds = clock(cp, lambda: cp.matmul(matrix, x, out=y))
        size = nbytes(matrix, x, y) if nbytes else matrix.nbytes + x.nbytes + y.nbytes
        rate = size / seconds
        return seconds, rate, share(rate, bandwidth)

    return answer


def _gemm(
    clock: Clock, flops: Callable[[int], float] | None = None, share: Share = _share
) -> Answer:
    def answer(cp: Any, a: Any, b: Any, c: Any, peak: float) -> Shares:
        seconds = clock(cp, lambda: cp.matmul(a, b, out=c))
        rate = (flops(a.shape[0]) if flops else 2 * a.shape[0] ** 3) / seconds
        return seconds, rate, share(rate, peak)

    return answer


_QUEUED = partial(timing_with, queue=10)
_COLD = partial(timing_with, flush="before")
_LONG = partial(timing_with, queue=2)


def _procedural(time_of: Callable[[Clock], Answer], right: Clock) -> tuple[Misconception, ...]:
    """The mistakes that all three exercises share, all but one: see :func:`_cold_start`."""
    return (
        Misconception(
            "no synchronise", time_of(partial(right, synchronise=False)),
            "the launches were only queued; wait for the stop event before you read the time.",
            mistakes.not_synchronised),
        Misconception(
            "host timer", time_of(partial(_host_timed, synchronise=True)),
            "no time was read from two cp.cuda.Event; the host's clock also counts Python and the "
            "wait.",
            mistakes.host_timer),
        Misconception(
            "events exchanged", time_of(partial(right, backwards=True)),
            "a time that runs backwards is negative: the earlier event comes first in "
            "get_elapsed_time.", mistakes.exchanged_events),
        Misconception(
            "events beside the work", time_of(partial(right, queue=0, divide=False)),
            "nothing was launched between your two events: record one before the launches and one "
            "after them.", mistakes.beside_the_work),
        Misconception(
            "samples added up", time_of(partial(right, unit=7e-3)),
            "you added up several samples; take their median.", mistakes.added_up),
        Misconception(
            "milliseconds", time_of(partial(right, unit=1.0)),
            "get_elapsed_time gives milliseconds; seconds are wanted.", mistakes.milliseconds),
        Misconception(
            "divided too often", time_of(partial(right, unit=1e-4)),
            "you divided by more launches than stand between your two events.",
            mistakes.divided_again),
    )  # fmt: skip


def _power_of_ten(time_of: Callable[[Clock], Answer], right: Clock, units: str) -> Misconception:
    """Named after the units that have a name of their own."""
    return Misconception(
        "a power of ten", time_of(partial(right, unit=1e-6)),
        f"is there a milli, kilo, giga or tera in it, or a zero too many? {units} are wanted.",
        mistakes.power_of_ten,
    )  # fmt: skip


def _another_order(answer: Answer, returns: Sequence[str]) -> Misconception:
    return Misconception(
        "another order", lambda *given: answer(*given)[::-1],
        f"these are the right values in another order: {', '.join(returns)}.",
        reordered,
    )  # fmt: skip


def _cold_start(time_of: Callable[[Clock], Answer], right: Clock) -> Misconception:
    """Named after other work in the timed region, which would be in its first use too."""
    return Misconception(
        "no warm-up", time_of(partial(right, warm_up=False, samples=1)),
        "the first launch also compiles and sets up the library; run it once before you time.",
        mistakes.no_warm_up,
    )  # fmt: skip


BYTES, FLOPS = (("seconds", rate, "share of the roof") for rate in ("byte/s", "FLOP/s"))
_NEW_ARRAY = (
    "but your product made a new array between the two events: with out={} it writes into one "
    "that is there, and a real GPU need not wait until memory is found"
)
_TOTAL = "your number is for the whole queue; divide by the number of launches."
_INSIDE = "something else ran between your two events; only the operation may be there."


def _one_of(device: Device, rng: random.Random) -> Device:
    """A device slower than published, by shares that can be timed and not looked up."""
    carrying, computing = rng.uniform(0.5, 0.9), rng.uniform(0.5, 0.9)
    return replace(
        device, bandwidth=carrying * device.bandwidth,
        l2_bandwidth=carrying * device.l2_bandwidth,
        peak={kind: computing * peak for kind, peak in device.peak.items()},
    )  # fmt: skip


def _cases(op: str, roof: Callable[[Machine], float] | None, rng: random.Random) -> list[Case]:
    drawn = []
    for name in rng.sample(GPUS, 2):
        hidden = machine(name)
        device = _one_of(Device.from_machine(hidden), rng)
        case = {"op": op, "device": device.to_dict(), **sizes(op, device.l2_bytes)}
        drawn.append(case if roof is None else {**case, "roof": float(roof(hidden))})
    return drawn


AXPY = Exercise(
    "01-cuda-axpy", "Time AXPY on a GPU", 2,
    "Return the seconds of one cp.cublas.axpy(a, x, y), by CUDA events; x and y are far beyond L2.",
    "time_axpy(cp, x, y, a)", _axpy(_QUEUED), kind="timing", timed="axpy", lines=8,
    returns=("seconds",), cases=partial(_cases, "axpy", None), tolerance=0.1,
    remarks=(
        ("but you were asked to queue ten launches between the two events: on a real GPU the start "
         "of a single one counts", mistakes.few_launches),
        ("but Python waited inside the queue: wait once, after the stop event, or the GPU idles "
         "between two launches", mistakes.waited_inside),
    ),
    misconceptions=(
        *_procedural(_axpy, _QUEUED),
        Misconception("whole queue", _axpy(partial(_QUEUED, divide=False)), _TOTAL,
                      mistakes.not_divided),
        Misconception(
            "two kernels",
            lambda cp, x, y, a: _QUEUED(cp, lambda: cp.add(cp.multiply(a, x), y, out=y)),
            "a*x + y is two kernels with a stored temporary: five trips, not three. "
            "Use cp.cublas.axpy.", mistakes.other_work),
        _cold_start(_axpy, _QUEUED),
        _power_of_ten(_axpy, _QUEUED, "Seconds"),
    ),
)  # fmt: skip


def _rate(scale: float = 1.0, elements: bool = False) -> mistakes.Shows:
    """Wrong byte rates of a GEMV, from the learner's own seconds."""

    def wrong(case: Case, seconds: float) -> float:
        op = operation(case)
        return op.bytes / (4 if elements else 1) * scale / seconds

    return mistakes.part(1, wrong)


GEMV = Exercise(
    "01-cuda-gemv", "Time GEMV on a GPU, cold", 3,
    "Return seconds, byte/s and the share of the bandwidth roof of one cp.matmul(A, x, out=y) that "
    "finds nothing in L2, although A would fit.",
    "gemv_share(cp, A, x, y, bandwidth)", _gemv(_COLD), kind="timing", timed="gemv", lines=11,
    returns=BYTES, tolerance=0.1, cases=partial(_cases, "gemv", lambda gpu: gpu.bandwidth()),
    remarks=(
        (_NEW_ARRAY.format("y"), mistakes.new_array),
        ("but your flush carries less than 4 × L2: this cache forgets the oldest first, and a real "
         "one need not", mistakes.small_flush),
    ),
    misconceptions=(
        _another_order(_gemv(_COLD), BYTES),
        *_procedural(_gemv, _COLD),
        Misconception("flush inside", _gemv(partial(timing_with, flush="inside")), _INSIDE,
                      mistakes.other_work),
        _cold_start(_gemv, _COLD),
        Misconception(
            "warm L2", _gemv(partial(timing_with, queue=10)),
            "the matrix was still in L2 from the launch before; read a buffer of 4 × L2 before "
            "each start.", mistakes.warm_cache),
        Misconception(
            "written flush", _gemv(partial(timing_with, flush="written")),
            "your flush wrote its buffer, and L2 kept what was written; your launch then paid for "
            "carrying it to memory. Read the buffer instead.", mistakes.written_flush),
        Misconception(
            "idle GPU", _gemv(partial(timing_with, flush="waiting")),
            "the GPU waited for Python between your events; queue the launch while it is still "
            "busy with the flush.", mistakes.idle_gpu),
        Misconception("elements for bytes", _gemv(_COLD, lambda a, x, y: a.size + x.size + y.size),
                      "you counted elements; each has itemsize bytes.", _rate(elements=True)),
        Misconception("vectors like a matrix", _gemv(_COLD, lambda a, x, y: 3 * a.nbytes),
                      "x and y are vectors, with far fewer numbers than the matrix.",
                      mistakes.part(1, lambda c, s: 12 * c["m"] * c["n"] / s)),
        Misconception("2-byte elements",
                      _gemv(_COLD, lambda a, x, y: 2 * (a.size + x.size + y.size)),
                      "that is 2-byte elements; yours have 4.", _rate(scale=0.5)),
        Misconception("GB/s",
                      _gemv(_COLD, lambda a, x, y: (a.nbytes + x.nbytes + y.nbytes) / 1e9),
                      "that is in GB/s; byte/s are wanted, no prefix.", _rate(scale=1e-9)),
        Misconception("share in per cent", _gemv(_COLD, share=lambda rate, roof: 100 * rate / roof),
                      "a share is between 0 and 1; that is in per cent.",
                      mistakes.part(2, lambda c, s: 100 * operation(c).bytes / s / c["roof"])),
        Misconception("share upside down", _gemv(_COLD, share=lambda rate, roof: roof / rate),
                      "the share is your rate divided by the roof.",
                      mistakes.part(2, lambda c, s: c["roof"] / (operation(c).bytes / s))),
        _power_of_ten(_gemv, _COLD, "Seconds and byte/s"),
    ),
)  # fmt: skip

GEMM = Exercise(
    "01-cuda-gemm", "Time GEMM on a GPU", 3,
    "Return seconds, FLOP/s and the share of the compute roof of one cp.matmul(A, B, out=C).",
    "gemm_share(cp, A, B, C, peak)", _gemm(_LONG), kind="timing", timed="gemm", lines=9,
    returns=FLOPS, tolerance=0.1,
    cases=partial(_cases, "gemm", lambda gpu: gpu.peak("fp32", "vector")),
    remarks=((_NEW_ARRAY.format("C"), mistakes.new_array),),
    misconceptions=(
        _another_order(_gemm(_LONG), FLOPS),
        *_procedural(_gemm, _LONG),
        Misconception("whole queue", _gemm(partial(_LONG, divide=False)), _TOTAL,
                      mistakes.not_divided),
        _cold_start(_gemm, _LONG),
        Misconception("multiply-adds", _gemm(_LONG, lambda n: n**3),
                      "you counted multiply-adds; each is 2 FLOPs.",
                      mistakes.part(1, lambda c, s: operation(c).flops / 2 / s)),
        Misconception("n² for n³", _gemm(_LONG, lambda n: 2 * n**2),
                      "GEMM has n × n results, and each is a sum over n products.",
                      mistakes.part(1, lambda c, s: 2 * c["n"] ** 2 / s)),
        Misconception("bytes for FLOPs", _gemm(_LONG, lambda n: 12 * n**2),
                      "that is byte/s; the compute roof counts FLOP/s.",
                      mistakes.part(1, lambda c, s: operation(c).bytes / s)),
        Misconception("GFLOP/s", _gemm(_LONG, lambda n: 2 * n**3 / 1e9),
                      "that is in GFLOP/s; FLOP/s are wanted, no prefix.",
                      mistakes.part(1, lambda c, s: operation(c).flops / 1e9 / s)),
        Misconception("share in per cent", _gemm(_LONG, share=lambda rate, roof: 100 * rate / roof),
                      "a share is between 0 and 1; that is in per cent.",
                      mistakes.part(2, lambda c, s: 100 * operation(c).flops / s / c["roof"])),
        Misconception("share upside down", _gemm(_LONG, share=lambda rate, roof: roof / rate),
                      "the share is your rate divided by the roof.",
                      mistakes.part(2, lambda c, s: c["roof"] / (operation(c).flops / s))),
        _power_of_ten(_gemm, _LONG, "Seconds and FLOP/s"),
    ),
)  # fmt: skip

EXERCISES = (AXPY, GEMV, GEMM)

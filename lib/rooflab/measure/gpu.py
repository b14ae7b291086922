"""The GPU's clock and its description. Calls are queued between CUDA events, and waited for once.

Host clocks would time the launch. Waiting after every call would leave the GPU idle when the next
start event is stamped, so that Python's launch is timed too (CuPy's own benchmark() does that).
A call that is shorter than its launch leaves the GPU idle as well, unless all calls are queued
before the first one starts: see gate.py.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from functools import partial
from types import ModuleType
from typing import Any

import numpy as np

from rooflab.measure.backend import Backend
from rooflab.measure.gate import Gate
from rooflab.measure.nvml import nvidia_smi
from rooflab.measure.timing import FEWEST, SAMPLES, SECONDS, STEPS, Call, Timing, undisturbed

WARM_UP_S = 0.2  # compilation, cuBLAS's heuristics, and clocks that rise only under load
EVENT_STEP_S = 0.5e-6
"""Resolution of an elapsed time between events (CUDA runtime API, cudaEventElapsedTime): "around
0.5 microseconds". Many GPUs are finer, see :func:`event_step_s`."""
FLUSH_MARGIN = 4
LEAST_FLUSH = 256 << 20
_PROBES, _CYCLES = 16, 60  # kernels that find the events' step, each so many cycles longer
_SAME_S = 1e-9  # closer elapsed times are one: CUDA gives them as a float of milliseconds


def time_gpu(
    xp: ModuleType,
    call: Call,
    *,
    cache: str = "cold",
    samples: int = SAMPLES,
    seconds: float = SECONDS,
    warm_up_s: float = WARM_UP_S,
    flush: Call | None = None,
    while_busy: Callable[[], None] | None = None,
) -> Timing:
    """Time ``call``, which queues work on the current stream of CuPy (``xp``).

    Cold: before every start event a buffer of 4 × the L2 cache is read, which empties L2 of the
    operands (``flush``, by default what :func:`l2_flush` makes). Warm: an untimed call of the same
    work stands there. All is queued behind a gate, so that the GPU runs from one call to the next
    without waiting for Python. ``while_busy`` runs after the last launch, before the GPU is waited
    for.
    """
    stream = xp.cuda.get_current_stream()
    before = (flush or l2_flush(xp)) if cache == "cold" else call
    each = warm_up(call, before, stream, warm_up_s)
    count = max(min(samples, int(seconds / each)), FEWEST)
    events = [(xp.cuda.Event(), xp.cuda.Event()) for _ in range(count)]
    turns = [partial(_turn, before, call, stream, *pair) for pair in events]
    with undisturbed():
        queueing_s = Gate(xp).run(turns, while_busy)
    times = tuple(xp.cuda.get_elapsed_time(start, stop) * 1e-3 for start, stop in events)
    fine = np.median(times) < STEPS * EVENT_STEP_S
    return Timing(times, 1, "CUDA events", event_step_s(xp) if fine else EVENT_STEP_S, queueing_s)


def _turn(before: Call, call: Call, stream: Any, start: Any, stop: Any) -> None:
    before()
    start.record(stream)
    call()
    stop.record(stream)


def event_step_s(xp: ModuleType) -> float:
    """The step of the current GPU's events in seconds, measured once in a process."""
    return _event_step_s(xp, int(xp.cuda.Device().id))


@functools.lru_cache(maxsize=16)
def _event_step_s(xp: ModuleType, _device: int) -> float:
    """The smallest difference between elapsed times that this GPU's events show.

    Kernels of slightly different lengths are timed; what two of them differ by is a step or some.
    The documented 0.5 µs where all seem equally long, and at most.
    """
    gate, stream = Gate(xp), xp.cuda.get_current_stream()
    events = [(xp.cuda.Event(), xp.cuda.Event()) for _ in range(_PROBES)]

    def turn(number: int) -> None:
        start, stop = events[number]
        start.record(stream)
        gate.spin(0.0, _CYCLES * number)
        stop.record(stream)

    gate.run([partial(turn, number) for number in range(_PROBES)])
    times = sorted(xp.cuda.get_elapsed_time(start, stop) * 1e-3 for start, stop in events)
    apart = [step for step in np.diff(times) if step > _SAME_S]
    return float(min([EVENT_STEP_S, *apart]))


def warm_up(call: Call, before: Call, stream: Any, seconds: float) -> float:
    """Run ``before`` and ``call`` for ``seconds``, three times at least; return seconds a turn."""
    turns, start = 0, time.perf_counter()
    while True:
        before()
        call()
        stream.synchronize()
        turns += 1
        elapsed = time.perf_counter() - start
        if turns >= FEWEST and elapsed >= seconds:
            return max(elapsed / turns, 1e-9)


def l2_flush(xp: ModuleType) -> Call:
    """Return a function that queues a read of 4 × the L2 cache, 256 MiB at least.

    It reads: a memset would leave L2 full of dirty lines, whose writing back the timed call pays.
    """
    size = flush_bytes(xp)
    buffer = xp.ones(size // 4, dtype=xp.float32)
    total = xp.zeros((), dtype=xp.float32)

    def flush() -> None:
        buffer.sum(out=total)

    return flush


def flush_bytes(xp: ModuleType) -> int:
    """Bytes that a flush of the L2 cache reads, and holds."""
    return max(LEAST_FLUSH, FLUSH_MARGIN * l2_bytes(xp))


def l2_bytes(xp: ModuleType) -> int:
    """Bytes of the current GPU's L2 cache."""
    return int(xp.cuda.Device().attributes["L2CacheSize"])


def describe(backend: Backend) -> dict[str, Any]:
    """Return the current GPU as plain JSON data: name, memory, versions, highest clocks, ECC."""
    xp = backend.xp
    device, runtime = xp.cuda.Device(), xp.cuda.runtime
    return {
        "name": backend.device,
        "compute_capability": str(device.compute_capability),
        "multiprocessors": int(device.attributes["MultiProcessorCount"]),
        "memory": int(device.mem_info[1]),
        "l2": l2_bytes(xp),
        "cupy": str(xp.__version__),
        "cuda_driver": int(runtime.driverGetVersion()),
        "cuda_runtime": int(runtime.runtimeGetVersion()),
        **_drivers_facts(device.pci_bus_id),
    }


@functools.cache  # they stay as they are, and asking takes as long as many measurements
def _drivers_facts(pci_bus_id: str) -> dict[str, str]:
    return nvidia_smi(
        pci_bus_id, "driver_version", "clocks.max.sm", "clocks.max.mem", "power.limit",
        "ecc.mode.current",
    )  # fmt: skip

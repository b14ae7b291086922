"""The GPU's clock and its description. Calls are queued between CUDA events, and waited for once.

Host clocks would time the launch. Waiting after every call would leave the GPU idle when the next
start event is stamped, so that Python's launch is timed too (CuPy's own benchmark() does that).
A call that is shorter than its launch leaves the GPU idle as well, unless all calls are queued
before the first one starts: see :class:`Gate`.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Sequence
from functools import partial
from statistics import median
from time import perf_counter
from types import ModuleType
from typing import Any

import numpy as np

from rooflab.measure.backend import Backend
from rooflab.measure.settings import briefer, printed
from rooflab.measure.timing import (
    FEWEST,
    SAMPLES,
    SECONDS,
    STEPS,
    Call,
    Timing,
    settle,
    undisturbed,
)

# What NVIDIA's driver tells about a GPU: its facts, its clock, and what slows it down.
#
# While something is timed, the package nvidia-ml-py asks the driver's library, NVML: it has an
# answer in microseconds, while the GPU still works. The program nvidia-smi takes 20 to 300 ms to
# start, so it is asked for what does not change.


SLOWED_BY = {  # bits of nvmlClocksEventReasons (nvml.h) that mean "slower than it could be"
    0x04: "power limit", 0x08: "hardware slowdown", 0x20: "heat (driver)",
    0x40: "heat (hardware)", 0x80: "power brake",
}  # fmt: skip
COUNTERS = {  # NVML_FI_DEV_CLOCKS_EVENT_REASON_… (nvml.h): times that only grow
    74: "power limit", 269: "heat (driver)", 270: "heat (hardware)", 271: "power brake",
}  # fmt: skip
_SM_CLOCK = 1  # NVML_CLOCK_SM
_ANSWER_S = 10.0  # nvidia-smi has an answer by then, or none


class ClockWatch:
    """Looks whether a GPU is slowed down, from here to :meth:`reasons`.

    ``pci_bus_id`` as CuPy gives it. Call :meth:`look` while the GPU works. A cause counts if it is
    active then, or if the time that the driver counts for it has grown since the watch began.
    """

    def __init__(self, pci_bus_id: str) -> None:
        self._nvml = _device(pci_bus_id)
        self._began = _counted(*self._nvml) if self._nvml else {}
        self._active: set[str] = set()
        self.clock: str | None = None
        """The multiprocessors' clock while the GPU worked, such as "1980 MHz", if NVML tells."""

    def look(self) -> None:
        """Ask NVML what slows the GPU at this moment, and for its clock; nothing without NVML."""
        if self._nvml is None:
            return
        library, device = self._nvml
        bits = _told(lambda: library.nvmlDeviceGetCurrentClocksEventReasons(device)) or 0
        self._active |= {name for bit, name in SLOWED_BY.items() if bits & bit}
        clock = _told(lambda: library.nvmlDeviceGetClockInfo(device, _SM_CLOCK))
        self.clock = f"{clock} MHz" if clock else self.clock

    def reasons(self) -> str | None:
        """Return what slowed the GPU, None if nothing did or nobody tells."""
        ended = _counted(*self._nvml) if self._nvml else {}
        grown = {name for name, at in ended.items() if at > self._began.get(name, at)}
        return ", ".join(n for n in SLOWED_BY.values() if n in self._active | grown) or None


def nvidia_smi(pci_bus_id: str, *fields: str) -> dict[str, str]:
    """Ask nvidia-smi for ``fields`` of one GPU; fields that it cannot tell are left out."""
    text = printed(
        "nvidia-smi", f"--id={pci_bus_id}", f"--query-gpu={','.join(fields)}",
        "--format=csv,noheader", seconds=_ANSWER_S,
    )  # fmt: skip
    values = [value.strip() for value in text.split(",")]
    if len(values) != len(fields):
        return {}
    return {k: v for k, v in zip(fields, values, strict=True) if v and not v.startswith("[")}


@functools.cache
def _device(pci_bus_id: str) -> tuple[ModuleType, Any] | None:
    """NVML and its handle of the GPU; None where the package or the driver's library is missing."""
    try:
        library = importlib.import_module("pynvml")  # of nvidia-ml-py, where a GPU is wanted
    except ImportError:
        return None

    def handle() -> Any:
        library.nvmlInit()
        return library.nvmlDeviceGetHandleByPciBusId(pci_bus_id)

    device = _told(handle)
    return None if device is None else (library, device)


def _told(ask: Callable[[], Any]) -> Any:
    """NVML's answer; None where it has none: an old driver, a slice of a GPU, a missing right."""
    try:
        return ask()
    except Exception:  # NVMLError has a subclass for each cause, and an old package other errors
        return None


def _counted(library: ModuleType, device: Any) -> dict[str, int]:
    """The driver's counters of time spent slowed down, by cause; those that this GPU has."""
    values = _told(lambda: library.nvmlDeviceGetFieldValues(device, list(COUNTERS))) or ()
    return {COUNTERS[v.fieldId]: int(v.value.ullVal) for v in values if v.nvmlReturn == 0}


# A gate in the GPU's queue: a kernel that only waits, and holds back what is queued behind it.
#
# Python takes some microseconds to queue a kernel. A GPU that has finished by then waits for the
# next one, and a clock that runs between two kernels shows Python's time. Behind a gate all work is
# queued before its first kernel starts, so the clock shows the GPU's time, however short.


MOST_S = 20e-3  # that a gate stays shut: nobody notices, and no driver takes it for a hang
LEAST_S = 50e-6
MARGIN = 1.5  # times what queueing is expected to take
QUEUE = 1000  # kernels that a queue holds (1024 today) before queueing one more has to wait
QUICKEST_S = 1.5e-6  # no way of queueing a kernel through CuPy is faster
GROUP_S = QUEUE * QUICKEST_S
"""Seconds of queueing behind one gate: in less time than this no queue can be filled."""
TRIES = 3  # turns that are timed to learn how long queueing takes; gates, each longer

SPIN = r"""
// Waits until both have passed: nanoseconds of the GPU's own time, and cycles of its clock.
extern "C" __global__ void rooflab_spin(unsigned long long nanoseconds, long long cycles) {
    unsigned long long began, now;
    const long long first = clock64();
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(began));
    do { asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now)); }
    while (now - began < nanoseconds || clock64() - first < cycles);
}
"""


class Gate:
    """A gate in the current stream of CuPy (``xp``); it is compiled when it is made."""

    def __init__(self, xp: ModuleType) -> None:
        self._stream = xp.cuda.get_current_stream()
        self._kernel = xp.RawKernel(SPIN, "rooflab_spin")
        self._elapsed = xp.cuda.get_elapsed_time
        self._shut, self._passed, self._finished = (xp.cuda.Event() for _ in range(3))
        self.close(0.0)

    def close(self, seconds: float) -> None:
        """Queue a gate that opens ``seconds`` after the GPU has come to it, MOST_S at most."""
        self.spin(min(seconds, MOST_S))
        self._passed.record(self._stream)

    def spin(self, seconds: float, cycles: int = 0) -> None:
        """Queue the waiting kernel for ``seconds`` and for ``cycles`` of the GPU's clock."""
        self._kernel((1,), (1,), (np.uint64(round(seconds * 1e9)), np.int64(cycles)))

    @property
    def is_open(self) -> bool:
        """Whether the GPU has come through the gate closed last."""
        return bool(self._passed.done)

    def run(self, turns: Sequence[Call], while_busy: Call | None = None) -> float:
        """Queue ``turns`` behind gates, as many behind each as a queue holds, and wait for them.

        ``while_busy`` is called when the last one is queued. Returns 0.0 if the GPU never had to
        wait for Python, else the seconds that Python takes for a turn.
        """
        each = self._queueing_s(turns)
        size = max(1, int(GROUP_S / each))
        late = False
        for first in range(0, len(turns), size):
            last = first + size >= len(turns)
            late |= not self._group(turns[first : first + size], each, while_busy if last else None)
        return each if late else 0.0

    def _queueing_s(self, turns: Sequence[Call]) -> float:
        """Seconds of Python for one of ``turns``, of which a few run untimed."""
        took: list[float] = []
        while len(took) < min(len(turns), TRIES) and sum(took) < GROUP_S:
            began = perf_counter()
            turns[len(took)]()
            took.append(perf_counter() - began)
        self._stream.synchronize()
        return max(median(took), 1e-9)

    def _group(self, turns: Sequence[Call], each: float, while_busy: Call | None) -> bool:
        """Run ``turns`` behind one gate, again behind a longer one if it opened too early.

        Returns whether the GPU was kept busy: the gate was still shut when all were queued, or
        the GPU had as much work left then as queueing had taken. The GPU's own clock tells how
        long it worked in all, whatever Python did meanwhile.
        """
        seconds = max(LEAST_S, MARGIN * each * len(turns))
        for _ in range(TRIES):
            began = perf_counter()
            self._shut.record(self._stream)
            self.close(seconds)
            for turn in turns:
                turn()
            self._finished.record(self._stream)
            queueing_s, ahead = perf_counter() - began, not self.is_open
            if while_busy is not None:
                while_busy()
            self._stream.synchronize()
            if ahead or 1e-3 * self._elapsed(self._shut, self._finished) >= 2 * queueing_s:
                return True
            if seconds >= MOST_S:
                break
            seconds *= 2
        return False


WARM_UP_S = briefer(0.2)  # compilation, cuBLAS's heuristics, clocks that rise only under load
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
    work takes the place of that read. All is queued behind a gate, so that the GPU runs from one
    call to the next without waiting for Python. ``while_busy`` runs after the last launch, before
    the GPU is waited for.
    """
    stream = xp.cuda.get_current_stream()
    before = (flush or l2_flush(xp)) if cache == "cold" else call

    def untimed() -> None:
        before()
        call()
        stream.synchronize()

    count = max(min(samples, int(seconds / settle([untimed], warm_up_s, FEWEST))), FEWEST)
    events = [(xp.cuda.Event(), xp.cuda.Event()) for _ in range(count)]
    turns = [partial(_turn, before, call, stream, *pair) for pair in events]
    with undisturbed():
        queueing_s = Gate(xp).run(turns, while_busy)
    times = tuple(xp.cuda.get_elapsed_time(*pair) * 1e-3 for pair in events)
    fine = np.median(times) < STEPS * EVENT_STEP_S
    step_s = event_step_s(xp, int(xp.cuda.Device().id)) if fine else EVENT_STEP_S
    return Timing(times, 1, "CUDA events", step_s, queueing_s)


def _turn(before: Call, call: Call, stream: Any, start: Any, stop: Any) -> None:
    before()
    start.record(stream)
    call()
    stop.record(stream)


@functools.lru_cache(maxsize=16)
def event_step_s(xp: ModuleType, _device: int) -> float:
    """The smallest difference in seconds between elapsed times that this GPU's events show.

    It is measured once in a process for each ``_device``, which must be the current one. Kernels
    of slightly different lengths are timed: two of their times differ by whole steps. The
    documented 0.5 µs is taken where all seem equally long, and where that is less.
    """
    gate, stream = Gate(xp), xp.cuda.get_current_stream()
    events = [(xp.cuda.Event(), xp.cuda.Event()) for _ in range(_PROBES)]
    spins = [partial(gate.spin, 0.0, _CYCLES * number) for number in range(_PROBES)]
    gate.run(
        [partial(_turn, lambda: None, spin, stream, *pair) for spin, pair in zip(spins, events)]
    )
    times = [xp.cuda.get_elapsed_time(*pair) * 1e-3 for pair in events]
    apart = [step for step in np.diff(sorted(times)) if step > _SAME_S]
    return float(min([EVENT_STEP_S, *apart]))


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

"""The pretended GPU behind the fake: one queue, a clock of its own, events, streams, a device.

Time. A launch costs the host ``call_s`` and begins on the GPU when both are free: the GPU idles
where Python is slower than the kernels, as a real one does. What a kernel takes follows from its
bytes and FLOP and the ``rates``, or is ``kernel_s`` for all of them. Nothing depends on how long
NumPy takes, so every run shows the same times. All streams share the one queue.
"""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Mapping, MutableMapping

RATES = {
    "l2": 5.5e10, "dram": 3.3e10, "fp32": 6.0e11, "fp64": 3.0e11, "fp64_tensor": 5.5e11,
    "tf32": 4.0e12, "fp16": 6.5e12, "bf16": 6.5e12,
}  # fmt: skip
"""FLOP/s by number type, byte/s by level: a hundredth of an H100's, so that NumPy can follow."""
FLOOR_S = 2e-6  # of the shortest kernel
CALL_S = 4e-6  # of Python and the driver for one launch
RECORD_S = 1e-6
TF32_MATH, FULL_SUMS_MATH = 3, 16
TOOLKIT = 'Failure finding "libnvrtc.so.13 or libnvrtc.so.12"'


class CUDARuntimeError(RuntimeError):
    """As cupy.cuda.runtime raises it."""


class CUDADriverError(RuntimeError):
    """As cupy.cuda.driver raises it."""


class DynamicLibNotFoundError(RuntimeError):
    """As cuda.pathfinder raises it."""


class Gpu:
    """All state of the fake. ``log`` lists launches, records and waits in order; ``fault`` breaks
    it in one way: "driver", "devices", "toolkit" or "wrong"."""

    def __init__(self) -> None:
        self.reset()

    def reset(
        self,
        *,
        fault: str = "",
        name: str = "NVIDIA Fake H100",
        capability: str = "90",
        l2: int = 4 << 20,
        multiprocessors: int = 4,
        free: int = 1 << 30,
        total: int = 0,
        call_s: float = CALL_S,
        floor_s: float = FLOOR_S,
        kernel_s: float | None = None,
        rates: Mapping[str, float] = RATES,
    ) -> None:
        """Become a new GPU with an empty queue, at time 0. Bytes, seconds, FLOP/s and byte/s."""
        self.fault, self.name, self.capability = fault, name, capability
        self.l2, self.multiprocessors, self.free, self.total = l2, multiprocessors, free, total
        self.call_s, self.floor_s, self.kernel_s = call_s, floor_s, kernel_s
        self.flush_s: float | None = None  # of a sum into an array, where given
        self.rates = dict(rates)
        self.log: list[str] = []
        self.host_s = self.device_s = 0.0
        self.math_mode = 0

    def seconds(self, nbytes: float, flop: float = 0.0, kind: str = "fp32") -> float:
        """How long a kernel takes that moves ``nbytes`` and does ``flop`` in ``kind``."""
        if self.kernel_s is not None:
            return self.kernel_s
        level = "l2" if nbytes <= self.l2 else "dram"
        return max(self.floor_s, nbytes / self.rates[level], flop / self.rates[kind])

    def launch(self, name: str, seconds: float, *, logged: bool = True) -> None:
        """Queue a kernel of ``seconds``; element-wise operations of arrays are not ``logged``."""
        if logged:
            self.log.append(name)
        self.host_s += self.call_s
        self.device_s = max(self.device_s, self.host_s) + seconds

    def elementwise(self, nbytes: float) -> None:
        """Queue what CuPy makes of an operator or a function on arrays."""
        if self.kernel_s is None:
            self.launch("elementwise", self.seconds(nbytes), logged=False)

    def wait(self, name: str = "", until: float | None = None) -> None:
        """Let the host wait for the queue, or for what was queued ``until`` a moment."""
        if name:
            self.log.append(name)
        self.host_s = max(self.host_s, self.device_s if until is None else until)


gpu = Gpu()
"""The one GPU of this process."""


# What CUDA's own functions know an event or a stream by: its handle, ``ptr``.
_numbers = itertools.count(16)  # smaller ones are streams that CUDA has names for
events: MutableMapping[int, Event] = weakref.WeakValueDictionary()
streams: MutableMapping[int, Stream] = weakref.WeakValueDictionary()


class Event:
    """cupy.cuda.Event: stamped when the queue reaches it."""

    def __init__(
        self, block: bool = False, disable_timing: bool = False, interprocess: bool = False
    ) -> None:
        self._at: float | None = None
        self._timed = not disable_timing
        self.ptr = next(_numbers)
        events[self.ptr] = self

    def record(self, stream: Stream | None = None) -> None:
        if stream is not None and not isinstance(stream, Stream):
            raise TypeError(f"stream={stream!r} is no cupy.cuda.Stream")
        gpu.log.append("record")
        gpu.host_s += RECORD_S if gpu.call_s else 0.0
        gpu.device_s = self._at = max(gpu.device_s, gpu.host_s)

    def synchronize(self) -> None:
        gpu.wait("event.synchronize", until=self._at or 0.0)

    @property
    def done(self) -> bool:
        """Whether the GPU has reached it. Asking takes the host a microsecond."""
        gpu.host_s += 1e-6
        return self._at is None or self._at <= gpu.host_s


def get_elapsed_time(start_event: Event, end_event: Event) -> float:
    """Milliseconds between two events that both lie behind the GPU already."""
    both = (start_event, end_event)
    if any(event._at is None or not event._timed for event in both):
        raise CUDARuntimeError("cudaErrorInvalidResourceHandle: invalid resource handle")
    if any(event._at > gpu.host_s for event in both):
        raise CUDARuntimeError("cudaErrorNotReady: device not ready")
    return (end_event._at - start_event._at) * 1e3


class Stream:
    """cupy.cuda.Stream."""

    null: Stream

    def __init__(
        self,
        null: bool = False,
        non_blocking: bool = False,
        ptds: bool = False,
        priority: int | None = None,
    ) -> None:
        self.is_non_blocking = non_blocking
        self.ptr = 0 if null else next(_numbers)
        streams[self.ptr] = self

    def synchronize(self) -> None:
        gpu.wait("stream.synchronize")

    def record(self, event: Event | None = None) -> Event:
        event = event or Event()
        event.record(self)
        return event

    def wait_event(self, event: Event) -> None:
        """One queue: what is queued later runs later anyway."""

    def use(self) -> Stream:
        _current[:] = [self]
        return self

    @property
    def done(self) -> bool:
        gpu.host_s += 1e-6
        return gpu.device_s <= gpu.host_s

    def __enter__(self) -> Stream:
        _current.append(self)
        return self

    def __exit__(self, *_: object) -> None:
        _current.remove(self)


Stream.null = Stream(null=True)
_current = [Stream.null]


def get_current_stream(device_id: int | None = None) -> Stream:
    """The stream in use."""
    return _current[-1]


class Device:
    """cupy.cuda.Device; there is one, with number 0."""

    cublas_handle = 7
    pci_bus_id = "0000:00:04.0"

    def __init__(self, device: int | Device = 0) -> None:
        self.id = int(getattr(device, "id", device))
        if self.id != 0:
            raise CUDARuntimeError("cudaErrorInvalidDevice: invalid device ordinal")

    @property
    def compute_capability(self) -> str:
        return gpu.capability

    @property
    def attributes(self) -> dict[str, int]:
        return {
            "L2CacheSize": gpu.l2, "MultiProcessorCount": gpu.multiprocessors, "WarpSize": 32,
            "MaxThreadsPerBlock": 1024, "MaxThreadsPerMultiProcessor": 2048,
            "MaxRegistersPerMultiprocessor": 65536,
        }  # fmt: skip

    @property
    def mem_info(self) -> tuple[int, int]:
        return (gpu.free, gpu.total or 2 * gpu.free)

    def synchronize(self) -> None:
        gpu.wait("device.synchronize")

    def use(self) -> Device:
        return self

    def __enter__(self) -> Device:
        return self

    def __exit__(self, *_: object) -> None:
        pass

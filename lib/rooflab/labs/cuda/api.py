"""``cp.cuda`` of the stand-in: events, streams, the device, and CUDA's own functions."""

from __future__ import annotations

from functools import partial

from rooflab.labs.cuda.device import NO_HANDLE, CUDARuntimeError, SimulatedGpu
from rooflab.labs.cuda.modules import Namespace

_L2_CACHE_SIZE = 38  # cudaDevAttrL2CacheSize of the CUDA Runtime API


class Cuda(Namespace):
    """``cp.cuda``."""

    _called, _listed = "cp.cuda", "cupy.cuda"

    def __init__(self, gpu: SimulatedGpu) -> None:
        self._gpu, self.runtime, self.Stream = gpu, Runtime(gpu), Streams(self)
        self._current = [self.Stream.null]  # the last one is, and the others were before it
        self.Event, self.Device = partial(Event, self), partial(DeviceHandle, gpu)

    def get_current_stream(self) -> Stream:
        return self._current[-1]

    def get_elapsed_time(self, start_event: Event, end_event: Event) -> float:
        """Milliseconds between two recorded and finished events."""
        return self.runtime.eventElapsedTime(start_event.ptr, end_event.ptr)


class Event(Namespace):
    """``cp.cuda.Event``. ``ptr`` is its handle for ``cp.cuda.runtime``."""

    _called, _listed = "Event()", "cupy.cuda.Event"

    def __init__(self, cuda: Cuda) -> None:
        self._cuda, self.ptr = cuda, cuda.runtime.eventCreate()

    def record(self, stream: Stream | None = None) -> None:
        on = self._cuda.get_current_stream() if stream is None else stream
        self._cuda.runtime.eventRecord(self.ptr, on.ptr)

    def synchronize(self) -> None:
        self._cuda.runtime.eventSynchronize(self.ptr)

    @property
    def done(self) -> bool:
        """Whether the device has come past; asking takes the host a little time."""
        gpu = self._cuda._gpu
        return gpu.look() >= gpu.stamps.get(self.ptr, 0.0)


class Stream(Namespace):
    """``cp.cuda.Stream``: also a context that makes it the current stream."""

    _called, _listed = "Stream()", "cupy.cuda.Stream"

    def __init__(self, cuda: Cuda, ptr: int) -> None:
        self._cuda, self.ptr = cuda, ptr

    def __enter__(self) -> Stream:
        self._cuda._current.append(self)
        return self

    def __exit__(self, *exc: object) -> None:
        self._cuda._current.pop()

    def record(self, event: Event | None = None) -> Event:
        event = self._cuda.Event() if event is None else event
        event.record(self)
        return event

    def synchronize(self) -> None:
        self._cuda._gpu.wait_stream(self.ptr)

    @property
    def done(self) -> bool:
        """Whether synchronize() would return at once; asking takes the host a little time."""
        gpu = self._cuda._gpu
        return gpu.look() >= gpu.free_at(self.ptr)


class Streams(Namespace):
    """Makes streams when called; ``.null`` is the default one."""

    _called, _listed = "cp.cuda.Stream", "cupy.cuda.Stream"

    def __init__(self, cuda: Cuda) -> None:
        self._cuda, self.null = cuda, Stream(cuda, 0)

    def __call__(self, *, non_blocking: bool = False) -> Stream:
        return Stream(self._cuda, self._cuda._gpu.new_stream(not non_blocking))


class DeviceHandle(Namespace):
    """``cp.cuda.Device``: of another number than 0 nothing can be asked."""

    _called, _listed = "Device()", "cupy.cuda.Device"

    def __init__(self, gpu: SimulatedGpu, device: int | None = None) -> None:
        self._gpu, self.id = gpu, device or 0

    @property
    def attributes(self) -> Figures:
        self.use()
        return Figures(L2CacheSize=self._gpu.device.l2_bytes)

    def __enter__(self) -> DeviceHandle:
        self.use()
        return self

    def __exit__(self, *exc: object) -> None:
        return None

    def use(self) -> DeviceHandle:
        if self.id != 0:
            raise CUDARuntimeError("cudaErrorInvalidDevice: invalid device ordinal")
        return self

    def synchronize(self) -> None:
        self.use()
        self._gpu.wait_all()


class Figures(dict):
    """A simulated device's figures; one that is not among them raises a KeyError that says so."""

    def __missing__(self, name: object) -> object:
        raise KeyError(f"{name} is not a figure of this stand-in for CuPy")


class Runtime(Namespace):
    """``cp.cuda.runtime``: CUDA's own functions, which take handles (``ptr``), not objects."""

    _called = "cp.cuda.runtime"
    CUDARuntimeError = CUDARuntimeError
    cudaDevAttrL2CacheSize = _L2_CACHE_SIZE

    def __init__(self, gpu: SimulatedGpu) -> None:
        self._gpu, self._events = gpu, 0

    def deviceSynchronize(self) -> None:
        self._gpu.wait_all()

    def deviceGetAttribute(self, attrib: int, device: int) -> int:
        figures = {_L2_CACHE_SIZE: DeviceHandle(self._gpu, device).attributes["L2CacheSize"]}
        return Figures(figures)[attrib]

    def eventCreate(self) -> int:
        self._events += 1
        return self._events

    def eventRecord(self, event: int, stream: int) -> None:
        on = _handle(stream, range(len(self._gpu.blocking)))
        self._gpu.record(self._event(event), on)

    def eventSynchronize(self, event: int) -> None:
        self._gpu.wait_event(self._event(event))

    def eventElapsedTime(self, start: int, end: int) -> float:
        """Milliseconds between two events."""
        return self._gpu.elapsed(self._event(start), self._event(end))

    def _event(self, handle: int) -> int:
        return _handle(handle, range(1, self._events + 1))


def _handle(value: int, known: range) -> int:
    """Return a handle that CUDA gave out, as a number; an error of CuPy's for everything else."""
    if not isinstance(value, int):
        raise TypeError(f"an integer is required, not {type(value).__name__}")
    if value not in known:
        raise CUDARuntimeError(NO_HANDLE)
    return value

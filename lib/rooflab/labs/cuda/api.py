"""``cp.cuda`` of the stand-in: events, streams, the device, and CUDA's own functions."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TypeVar

from rooflab.labs.cuda.device import CUDARuntimeError, SimulatedGpu, Stream
from rooflab.labs.cuda.modules import Namespace

_Handle = TypeVar("_Handle")
_L2_CACHE_SIZE = 38  # cudaDevAttrL2CacheSize of the CUDA Runtime API
_NO_HANDLE = "cudaErrorInvalidResourceHandle: invalid resource handle"


class Cuda(Namespace):
    """``cp.cuda``."""

    _called, _listed = "cp.cuda", "cupy.cuda"
    _inside = frozenset(("current",))

    def __init__(self, gpu: SimulatedGpu) -> None:
        self._gpu = gpu
        self._events: list[Event] = []
        self._stack = [StreamHandle(self, gpu.null)]
        self.Event = lambda block=False, disable_timing=False, interprocess=False: Event(
            self, disable_timing
        )
        self.Stream = StreamFactory(self)
        self.Device = lambda device=None: DeviceHandle(gpu, device)
        self.runtime = Runtime(self)
        self.stream = SimpleNamespace(  # the module in which CuPy keeps what cp.cuda hands on
            Event=self.Event, Stream=self.Stream, get_current_stream=self.get_current_stream,
            get_elapsed_time=self.get_elapsed_time,
        )  # fmt: skip

    @property
    def current(self) -> StreamHandle:
        return self._stack[-1]

    def get_current_stream(self, device_id: int = -1) -> StreamHandle:
        return self.current

    def get_elapsed_time(self, start_event: Event, end_event: Event) -> float:
        """Milliseconds between two recorded and finished events."""
        for name, event in (("start_event", start_event), ("end_event", end_event)):
            if _given(name, event, Event).stamp is None or event.disabled:
                raise CUDARuntimeError(_NO_HANDLE)
        return self._gpu.elapsed(start_event.ptr, end_event.ptr)

    def is_available(self) -> bool:
        return True


class Event(Namespace):
    """``cp.cuda.Event``. ``ptr`` is its handle for ``cp.cuda.runtime``."""

    _called, _listed = "Event()", "cupy.cuda.Event"
    _inside = frozenset(("disabled", "stamp"))

    def __init__(self, cuda: Cuda, disabled: bool) -> None:
        cuda._events.append(self)
        self._cuda, self.ptr, self.disabled = cuda, len(cuda._events), disabled

    @property
    def stamp(self) -> float | None:
        """Device time at which it is reached; None before it was recorded."""
        return self._cuda._gpu.stamp(self.ptr)

    def record(self, stream: StreamHandle | None = None) -> None:
        on = self._cuda.current if stream is None else _given("stream", stream, StreamHandle)
        self._cuda._gpu.record(self.ptr, on.stream)

    def synchronize(self) -> None:
        self._cuda._gpu.wait_event(self.ptr)

    @property
    def done(self) -> bool:
        """Whether the device has come past; asking takes the host a little time."""
        self._cuda._gpu.look()
        return self.stamp is None or self.stamp <= self._cuda._gpu.now


class StreamHandle(Namespace):
    """``cp.cuda.Stream``: also a context that makes it the current stream."""

    _called, _listed = "Stream()", "cupy.cuda.Stream"
    _inside = frozenset(("stream",))

    def __init__(self, cuda: Cuda, stream: Stream) -> None:
        self._cuda, self.stream, self.ptr = cuda, stream, stream.number

    def __enter__(self) -> StreamHandle:
        self._cuda._stack.append(self)
        return self

    def __exit__(self, *exc: object) -> None:
        self._cuda._stack.pop()

    def use(self) -> StreamHandle:
        self._cuda._stack[-1] = self
        return self

    def record(self, event: Event | None = None) -> Event:
        event = self._cuda.Event() if event is None else _given("event", event, Event)
        event.record(self)
        return event

    def synchronize(self) -> None:
        self._cuda._gpu.wait_stream(self.stream)

    def wait_event(self, event: Event) -> None:
        """Wait with what comes next until ``event`` is over; never recorded, it is over."""
        self._cuda._gpu.hold(self.stream, _given("event", event, Event).ptr)

    @property
    def done(self) -> bool:
        """Whether synchronize() would return at once; asking takes the host a little time."""
        self._cuda._gpu.look()
        return self._cuda._gpu.over(self.stream)


class StreamFactory(Namespace):
    """Makes streams when called; ``.null`` is the default one."""

    _called, _listed = "cp.cuda.Stream", "cupy.cuda.Stream"

    def __init__(self, cuda: Cuda) -> None:
        self._cuda, self.null = cuda, cuda.current

    def __call__(
        self, null: bool = False, non_blocking: bool = False, ptds: bool = False,
        priority: int | None = None,
    ) -> StreamHandle:  # fmt: skip
        if null:
            return self.null
        return StreamHandle(self._cuda, self._cuda._gpu.new_stream(not non_blocking))


class DeviceHandle(Namespace):
    """``cp.cuda.Device``: of another number than 0 nothing can be asked."""

    _called, _listed = "Device()", "cupy.cuda.Device"

    def __init__(self, gpu: SimulatedGpu, device: int | None = None) -> None:
        self._gpu, self.id = gpu, 0 if device is None else int(device)

    compute_capability = property(lambda self: self.use() and "90")

    @property
    def attributes(self) -> Figures:
        self.use()
        return Figures(L2CacheSize=self._gpu.device.l2_bytes)

    def __enter__(self) -> DeviceHandle:
        return self.use()

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
        has = ", ".join(map(str, self))
        raise KeyError(f"{name} is not a figure of this stand-in for CuPy, which has {has}")


class Runtime(Namespace):
    """``cp.cuda.runtime``: CUDA's own functions, which take handles (``ptr``), not objects."""

    _called = "cp.cuda.runtime"
    CUDARuntimeError = CUDARuntimeError
    cudaDevAttrL2CacheSize = _L2_CACHE_SIZE

    def __init__(self, cuda: Cuda) -> None:
        self._cuda, self._gpu = cuda, cuda._gpu

    def deviceSynchronize(self) -> None:
        self._gpu.wait_all()

    def getDeviceCount(self) -> int:
        return 1

    def getDeviceProperties(self, device: int) -> dict[str, object]:
        DeviceHandle(self._gpu, device).use()
        figures = self._gpu.device
        return Figures(name=figures.name.encode(), l2CacheSize=figures.l2_bytes)

    def deviceGetAttribute(self, attrib: int, device: int) -> int:
        DeviceHandle(self._gpu, device).use()
        return Figures({_L2_CACHE_SIZE: self._gpu.device.l2_bytes})[attrib]

    def eventCreate(self) -> int:
        return self._cuda.Event().ptr

    def eventRecord(self, event: int, stream: int) -> None:
        on = self._gpu.stream(stream)
        if on is None:
            raise CUDARuntimeError(_NO_HANDLE)
        self._event(event).record(StreamHandle(self._cuda, on))

    def eventSynchronize(self, event: int) -> None:
        self._event(event).synchronize()

    def eventElapsedTime(self, start: int, end: int) -> float:
        """Milliseconds between two events, given by their handles."""
        return self._cuda.get_elapsed_time(self._event(start), self._event(end))

    def _event(self, handle: int) -> Event:
        events = self._cuda._events
        if not isinstance(handle, int):
            raise TypeError(f"an integer is required, not {type(handle).__name__}")
        if not 1 <= handle <= len(events):
            raise CUDARuntimeError(_NO_HANDLE)
        return events[handle - 1]


def _given(name: str, value: object, kind: type[_Handle]) -> _Handle:
    """Return ``value``; TypeError unless it is this stand-in's own, as for CuPy's handles."""
    if type(value) is not kind:
        what = "cp.cuda.Event()" if kind is Event else "cp.cuda.Stream()"
        raise TypeError(f"{name} must be made by {what}, not a {type(value).__name__}")
    return value

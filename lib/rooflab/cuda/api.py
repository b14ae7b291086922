"""``cp.cuda`` of the stand-in: events, streams, device."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TypeVar

from rooflab.cuda.device import CUDARuntimeError, SimulatedGpu, Stream

_Handle = TypeVar("_Handle")


class Cuda:
    """``cp.cuda``."""

    def __init__(self, gpu: SimulatedGpu) -> None:
        self._gpu = gpu
        self._events = 0
        self._stack = [StreamHandle(self, gpu.null)]
        self.Event = lambda block=False, disable_timing=False, interprocess=False: Event(
            self, disable_timing
        )
        self.Stream = StreamFactory(self)
        self.stream = SimpleNamespace(get_current_stream=self.get_current_stream, Event=self.Event)
        self.Device = lambda device=0: DeviceHandle(gpu)
        self.runtime = Runtime(gpu)

    @property
    def current(self) -> StreamHandle:
        return self._stack[-1]

    def get_current_stream(self, device_id: int = -1) -> StreamHandle:
        return self.current

    def get_elapsed_time(self, start_event: Event, end_event: Event) -> float:
        """Milliseconds between two recorded and finished events."""
        for name, event in (("start_event", start_event), ("end_event", end_event)):
            if _given(name, event, Event).stamp is None or event.disabled:
                raise CUDARuntimeError("cudaErrorInvalidResourceHandle: invalid resource handle")
        return self._gpu.elapsed(
            start_event.number, start_event.stamp, end_event.number, end_event.stamp
        )

    def is_available(self) -> bool:
        return True

    def __getattr__(self, name: str) -> object:
        raise AttributeError(f"the stand-in for CuPy has no cp.cuda.{name}; real CuPy may have it")


class Event:
    """``cp.cuda.Event``."""

    def __init__(self, cuda: Cuda, disabled: bool) -> None:
        cuda._events += 1
        self._cuda, self.number, self.disabled = cuda, cuda._events, disabled
        self.stamp: float | None = None

    def record(self, stream: StreamHandle | None = None) -> None:
        on = self._cuda.current if stream is None else _given("stream", stream, StreamHandle)
        self.stamp = self._cuda._gpu.record(self.number, on.stream)

    def synchronize(self) -> None:
        self._cuda._gpu.wait("event", self.stamp or 0.0)

    @property
    def done(self) -> bool:
        return self.stamp is None or self.stamp <= self._cuda._gpu.now


class StreamHandle:
    """``cp.cuda.Stream``: also a context that makes it the current stream."""

    def __init__(self, cuda: Cuda, stream: Stream) -> None:
        self._cuda, self.stream = cuda, stream
        self.ptr = stream.number

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
        self.stream.free_at = max(self.stream.free_at, _given("event", event, Event).stamp or 0.0)

    @property
    def done(self) -> bool:
        return self.stream.free_at <= self._cuda._gpu.now


class StreamFactory:
    """Makes streams when called; ``.null`` is the default one."""

    def __init__(self, cuda: Cuda) -> None:
        self._cuda, self.null = cuda, cuda.current

    def __call__(self, null: bool = False, non_blocking: bool = False, **_: object) -> StreamHandle:
        if null:
            return self.null
        return StreamHandle(self._cuda, self._cuda._gpu.new_stream(not non_blocking))


class DeviceHandle:
    """``cp.cuda.Device``."""

    id = 0
    compute_capability = "90"

    def __init__(self, gpu: SimulatedGpu) -> None:
        self._gpu = gpu
        self.attributes = {"L2CacheSize": gpu.device.l2_bytes}

    def __enter__(self) -> DeviceHandle:
        return self

    def __exit__(self, *exc: object) -> None:
        return None

    def use(self) -> DeviceHandle:
        return self

    def synchronize(self) -> None:
        self._gpu.wait_all()


class Runtime:
    """``cp.cuda.runtime``."""

    CUDARuntimeError = CUDARuntimeError

    def __init__(self, gpu: SimulatedGpu) -> None:
        self._gpu = gpu

    def deviceSynchronize(self) -> None:
        self._gpu.wait_all()

    def getDeviceCount(self) -> int:
        return 1

    def getDevice(self) -> int:
        return 0

    def getDeviceProperties(self, device: int) -> dict[str, object]:
        device = self._gpu.device
        return {"name": device.name.encode(), "l2CacheSize": device.l2_bytes}


def _given(name: str, value: object, kind: type[_Handle]) -> _Handle:
    """Return ``value``; TypeError unless it is this stand-in's own, as for CuPy's handles."""
    if type(value) is not kind:
        what = "cp.cuda.Event()" if kind is Event else "cp.cuda.Stream()"
        raise TypeError(f"{name} must be made by {what}, not a {type(value).__name__}")
    return value

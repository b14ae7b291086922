"""cupy.cuda.runtime: functions of the CUDA runtime. They take handles (``ptr``), not objects."""

from __future__ import annotations

from typing import Any

from .._gpu import CUDARuntimeError, Device, Event, events, get_elapsed_time, gpu, streams

# Numbers of CUDA's enum cudaDeviceAttr.
cudaDevAttrMaxThreadsPerBlock = 1
cudaDevAttrWarpSize = 10
cudaDevAttrMultiProcessorCount = 16
cudaDevAttrL2CacheSize = 38
cudaDevAttrMaxThreadsPerMultiProcessor = 39
cudaDevAttrMaxRegistersPerMultiprocessor = 82
eventDisableTiming = 2
_NAMES = {
    cudaDevAttrMaxThreadsPerBlock: "MaxThreadsPerBlock",
    cudaDevAttrWarpSize: "WarpSize",
    cudaDevAttrMultiProcessorCount: "MultiProcessorCount",
    cudaDevAttrL2CacheSize: "L2CacheSize",
    cudaDevAttrMaxThreadsPerMultiProcessor: "MaxThreadsPerMultiProcessor",
    cudaDevAttrMaxRegistersPerMultiprocessor: "MaxRegistersPerMultiprocessor",
}
_created: dict[int, Event] = {}  # by eventCreate(), until they are destroyed


def getDeviceCount() -> int:
    if gpu.fault == "driver":
        raise CUDARuntimeError("cudaErrorInsufficientDriver: CUDA driver version is too old")
    return 0 if gpu.fault == "devices" else 1


def getDevice() -> int:
    return 0


def setDevice(device: int) -> None:
    Device(device)


def getDeviceProperties(device: int) -> dict[str, Any]:
    """Some of the device's properties, by CUDA's names; CuPy's has all of them."""
    figures = Device().attributes
    return {
        "name": gpu.name.encode(),
        "totalGlobalMem": memGetInfo()[1],
        "l2CacheSize": figures["L2CacheSize"],
        "multiProcessorCount": figures["MultiProcessorCount"],
        "warpSize": figures["WarpSize"],
        "maxThreadsPerBlock": figures["MaxThreadsPerBlock"],
        "maxThreadsPerMultiProcessor": figures["MaxThreadsPerMultiProcessor"],
    }


def deviceGetAttribute(attrib: int, device: int) -> int:
    name = _NAMES.get(attrib)
    if name is None:
        raise NotImplementedError(f"the fake CuPy has no device attribute {attrib!r}")
    return Device(device).attributes[name]


def deviceSynchronize() -> None:
    gpu.wait("device.synchronize")


def memGetInfo() -> tuple[int, int]:
    return Device().mem_info


def driverGetVersion() -> int:
    return 13020


def runtimeGetVersion() -> int:
    return 13020


def streamSynchronize(stream: int) -> None:
    _known(streams, stream).synchronize()


def eventCreate() -> int:
    return eventCreateWithFlags(0)


def eventCreateWithFlags(flag: int) -> int:
    event = Event(disable_timing=bool(flag & eventDisableTiming))
    _created[event.ptr] = event
    return event.ptr


def eventDestroy(event: int) -> None:
    _known(events, event)
    _created.pop(event, None)


def eventRecord(event: int, stream: int) -> None:
    _known(events, event).record(_known(streams, stream))


def eventSynchronize(event: int) -> None:
    _known(events, event).synchronize()


def eventElapsedTime(start: int, end: int) -> float:
    """Milliseconds between two events."""
    return get_elapsed_time(_known(events, start), _known(events, end))


def _known(made: Any, handle: int) -> Any:
    if not isinstance(handle, int):
        raise TypeError("an integer is required")
    if handle not in made:
        raise CUDARuntimeError("cudaErrorInvalidResourceHandle: invalid resource handle")
    return made[handle]

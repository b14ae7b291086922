"""cupy.cuda: the device, its streams and events, and CUDA's own functions."""

import types as _types

from .. import _gpu
from .._gpu import Device, Event, Stream, get_current_stream, get_elapsed_time
from . import runtime, stream

__all__ = [
    "Device", "Event", "Stream", "cublas", "driver", "get_current_stream", "get_elapsed_time",
    "is_available", "runtime", "stream",
]  # fmt: skip


def is_available() -> bool:
    """Whether a GPU is here."""
    return runtime.getDeviceCount() > 0


def _set_math_mode(handle: int, mode: int) -> None:
    if handle != Device.cublas_handle:
        raise RuntimeError("CUBLAS_STATUS_NOT_INITIALIZED")
    if mode not in (0, 1, 2, _gpu.TF32_MATH, _gpu.FULL_SUMS_MATH):
        raise RuntimeError("CUBLAS_STATUS_INVALID_VALUE")
    _gpu.gpu.math_mode = mode


def _occupancy(function: int, threads: int, shared: int) -> int:
    """Blocks a multiprocessor: by threads, and by the registers that ``function`` stands for."""
    registers = -(-function // 8) * 8
    return min(2048 // threads, 65536 // (registers * threads))


driver = _types.SimpleNamespace(
    CUDADriverError=_gpu.CUDADriverError, occupancyMaxActiveBlocksPerMultiprocessor=_occupancy
)
# The library's module has no name for tf32's mode, and none for the one without 16-bit sums.
cublas = _types.SimpleNamespace(
    CUBLAS_DEFAULT_MATH=0,
    CUBLAS_TENSOR_OP_MATH=1,
    setMathMode=_set_math_mode,
    getMathMode=lambda handle: _gpu.gpu.math_mode,
)

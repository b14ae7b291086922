"""What each CUDA kernel of rooflab does, in NumPy, in the order of its arguments.

A test that brings a kernel adds it to the ``kernels`` of its CuPy. (That the CUDA itself is right
is another matter: tests/measure/test_cuda_blocks.py runs it, test_nvrtc.py compiles it.)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from rooflab.labs.cuda import Device

from .raw_kernels import Launch

Effect = Callable[[Launch, Device], float]
"""Does what a kernel does to its arrays; returns the seconds that it takes on the device."""
CLOCK_HZ = 1.7e9


def _carried(device: Device, nbytes: float, held: float) -> float:
    """Seconds for ``nbytes`` of arrays that are ``held`` bytes large: L2's, if they fit."""
    rate = device.l2_bandwidth if held <= device.l2_bytes else device.bandwidth
    return device.kernel_s + nbytes / rate


def _fma_roof(launch: Launch, device: Device) -> float:
    out, turns, a, b = launch.args
    assert out.dtype == a.dtype == b.dtype, "REAL is one type"
    assert out.size == launch.threads, "each thread stores one number"
    chains, unroll = int(launch.macros["CHAINS"]), int(launch.macros["UNROLL"])
    steps = int(turns) * unroll
    x = np.arange(256.0)[:, None] + np.arange(chains)
    limit = b / (1 - a) if a != 1 else 0.0
    x = (x - limit) * float(a) ** min(steps, 2000) + limit if a != 1 else x + steps * float(b)
    out[...] = np.resize(x.sum(axis=1), out.size)
    return device.kernel_seconds(2.0 * launch.threads * chains * steps, out.dtype.name, 0)


def _stream(loads: int, stores: int, arrays: int, effect: Callable[..., None]) -> Effect:
    """A kernel (x, y, n float4s, passes, a) that loads and stores so many arrays."""

    def run(launch: Launch, device: Device) -> float:
        x, y, n, passes, a = launch.args
        assert (type(n), type(passes), type(a)) == (np.int64, np.int32, np.float32)
        assert 4 * n <= x.size and (arrays == 1 or 4 * n <= y.size)
        effect(x[: 4 * n], y[: 4 * n], int(passes), a)
        return _carried(device, 16.0 * n * passes * (loads + stores), 16 * n * arrays)

    return run


def _copy(x: np.ndarray, y: np.ndarray, passes: int, a: Any) -> None:
    y[...] = x


def _update(x: np.ndarray, y: np.ndarray, passes: int, a: Any) -> None:
    if a != 1:
        x *= a**passes


def _axpy(x: np.ndarray, y: np.ndarray, passes: int, a: Any) -> None:
    y += np.float32(a * passes) * x


def _half(launch: Launch, *arrays: np.ndarray) -> None:
    kind = {"0": "float16", "1": "bfloat16"}[launch.macros["BF16"]]
    assert all(str(a.dtype) == kind and a.flags.c_contiguous for a in arrays), kind


def _narrow(values: np.ndarray, kind: np.dtype) -> np.ndarray:
    """fp32 rounded to a half; above the largest one it is infinite, as on a GPU."""
    with np.errstate(over="ignore"):
        return values.astype(np.float32).astype(kind)


def _half_axpy(launch: Launch, device: Device) -> float:
    x, y, a, n = launch.args
    _half(launch, x, y)
    assert (type(a), type(n)) == (np.float32, np.int64)
    y[:n] = _narrow(a * x[:n].astype("f") + y[:n].astype("f"), y.dtype)
    return _carried(device, 3 * y[:n].nbytes, 2 * y[:n].nbytes)


def _half_scale(launch: Launch, device: Device) -> float:
    x, a, n = launch.args
    _half(launch, x)
    assert (type(a), type(n)) == (np.float32, np.int64)
    x[:n] = _narrow(a * x[:n].astype("f"), x.dtype)
    return _carried(device, 2 * x[:n].nbytes, x[:n].nbytes)


def _half_dot(launch: Launch, device: Device) -> float:
    x, y, r, n, partial, arrived = launch.args
    _half(launch, x, y, r)
    assert type(n) is np.int64
    assert partial.dtype == np.float32 and partial.size * 256 >= launch.threads
    assert arrived.dtype == np.uint32 and arrived[0] == 0, "counted from 0"
    total = np.sum(x[:n].astype("f") * y[:n].astype("f"), dtype="f")
    r.ravel()[:1] = _narrow(np.asarray([total]), r.dtype)
    return _carried(device, 2 * x[:n].nbytes, 2 * x[:n].nbytes)


def _half_ger(launch: Launch, device: Device) -> float:
    a, x, y, rows, columns = launch.args
    _half(launch, a, x, y)
    assert a.shape == (rows, columns) and (type(rows), type(columns)) == (np.int64, np.int64)
    a[...] = _narrow(np.outer(x.astype("f"), y.astype("f")) + a.astype("f"), a.dtype)
    return _carried(device, 2 * a.nbytes, a.nbytes)


def _spin(launch: Launch, device: Device) -> float:
    """Waits for nanoseconds and for cycles of the clock, whichever end later."""
    nanoseconds, cycles = launch.args
    return max(float(nanoseconds) * 1e-9, float(cycles) / CLOCK_HZ)


def _saxpy(launch: Launch, device: Device) -> float:
    """y += 2 x, the learner's kernel of tests/measure/test_gpu.py."""
    x, y, n = launch.args
    y[:n] += 2 * x[:n]
    return _carried(device, 3 * x[:n].nbytes, 2 * x[:n].nbytes)


KERNELS: dict[str, Effect] = {
    "rooflab_spin": _spin,
    "saxpy": _saxpy,
    "fma_roof": _fma_roof,
    "read_roof": _stream(1, 0, 1, lambda x, y, passes, a: None),
    "copy_roof": _stream(1, 1, 2, _copy),
    "update_roof": _stream(1, 1, 1, _update),
    "axpy_roof": _stream(2, 1, 2, _axpy),
    "half_axpy": _half_axpy,
    "half_scale": _half_scale,
    "half_dot": _half_dot,
    "half_ger": _half_ger,
}
"""Kernel name → what it does."""

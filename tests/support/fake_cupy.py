"""CuPy of tests/strict_cupy as a fixture: a fresh GPU that tells what it was asked for, in order.

Every kernel takes ``kernel_s`` and Python no time, so a test can say what a time must be. ``log``
names routines, kernels, records and waits; element-wise operations are not in it.
"""

from __future__ import annotations

import types
from dataclasses import replace
from math import inf
from typing import Any

from rooflab.labs.cuda import Device
from rooflab.labs.cuda.device import CUDARuntimeError
from tests.strict_cupy.cupy.strict import Array, Cupy, Gpu

TOOLKIT = 'Failure finding "libnvrtc.so.13 or libnvrtc.so.12"'
STEADY = Device(
    "Stand-in GPU", inf, inf, 1 << 20, {"float32": inf}, launch_s=0.0, record_s=0.0,
    kernel_s=10e-6, setup_s=0.0,
)  # fmt: skip


class DynamicLibNotFoundError(RuntimeError):
    """As cuda.pathfinder raises it."""


class Told(Gpu):
    """A simulated GPU that also keeps ``told``, its log as short texts."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.told: list[str] = []

    def launch(self, kernel: str, stream: int, **how: Any) -> None:
        self.told += [f"{kernel} {how['dtype']}"] if how["library"] else []
        super().launch(kernel, stream, **how)

    def run(self, kernel: str, stream: int, seconds: float) -> None:
        self.told.append(kernel)
        super().run(kernel, stream, seconds)

    def record(self, event: int, stream: int) -> None:
        self.told.append("record")
        super().record(event, stream)

    def _wait(self, what: str, until: float) -> None:
        self.told.append(f"{what}.synchronize")
        super()._wait(what, until)


def _figure(name: str) -> Any:
    """A property that reads and writes a figure of the device."""

    def change(fake: FakeCupy, value: float) -> None:
        fake.gpu.device = replace(fake.gpu.device, **{name: value})

    return property(lambda fake: getattr(fake.gpu.device, name), change)


class Quiet(Array):
    """What an operator asks for is not told: with it results are checked."""

    def __matmul__(self, other: Any) -> Any:
        made = super().__matmul__(other)
        self._cp.gpu.told.pop()
        return made


class FakeCupy(Cupy):
    """The module ``cupy`` with a new GPU. ``fault`` breaks it in one way: "driver", "devices",
    "toolkit" or "wrong"; ``l2`` and ``free`` in bytes."""

    ndarray = Quiet
    l2, kernel_s = _figure("l2_bytes"), _figure("kernel_s")
    log = property(lambda fake: fake.gpu.told)
    device_s = property(lambda fake: fake.gpu._busy_until)

    def __init__(
        self, fault: str = "", l2: int = 1 << 20, free: int = 1 << 33, device: Device = STEADY
    ) -> None:
        device = replace(device, l2_bytes=l2)
        super().__init__(device, Told(device))
        self.free, self.fault = free, fault
        self.cuda.runtime.getDeviceCount = self._count

    def _count(self) -> int:
        if self.fault == "driver":
            raise CUDARuntimeError("cudaErrorInsufficientDriver: CUDA driver version is too old")
        return int(self.fault != "devices")

    def arange(self, *args: Any, **more: Any) -> Any:
        if self.fault == "toolkit":  # the first that needs a kernel
            raise DynamicLibNotFoundError(TOOLKIT)
        return super().arange(*args, **more)

    def asnumpy(self, a: Any, *args: Any, **more: Any) -> Any:
        self.gpu.told += ["asnumpy"] if isinstance(a, self.ndarray) else []
        return super().asnumpy(a, *args, **more) + (1 if self.fault == "wrong" else 0)

    def reduced(self, name: str, a: Any, *how: Any, out: Any = None, **more: Any) -> Any:
        self.gpu.told += [] if out is None else [f"{name} {a.nbytes}"]  # a flush of L2
        return super().reduced(name, a, *how, out=out, **more)

    def wait(self) -> None:
        super().wait()
        self.gpu.told.pop()  # nobody asked for it

    def modules(self) -> dict[str, types.ModuleType]:
        """What to put into sys.modules."""
        parts = {"cupy.cuda": self.cuda, "cupy.cuda.runtime": self.cuda.runtime}
        return {"cupy": self, "cupy.cublas": self._cublas, **parts}

    def launch(self, name: str, seconds: float | None = None) -> None:
        """Queue work of a test's own."""
        self.gpu.run(name, 0, self.kernel_s if seconds is None else seconds)

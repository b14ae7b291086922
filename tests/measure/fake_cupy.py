"""A stand-in for CuPy that computes with NumPy and logs what a GPU would be told, in order.

It has what rooflab.measure uses and no more. Work takes time on its own clock (`device_s`), events
are stamped when the queue reaches them, and asking for a time before waiting is an error, as it is
on a GPU.
"""

from __future__ import annotations

import types
from typing import Any

import numpy as np

TOOLKIT = 'Failure finding "libnvrtc.so.13 or libnvrtc.so.12"'


class DynamicLibNotFoundError(RuntimeError):
    """As cuda.pathfinder raises it."""


class CUDARuntimeError(RuntimeError):
    """As cupy.cuda.runtime raises it."""


class Logged(np.ndarray):
    """An array whose products and sums are logged as launches."""

    gpu: FakeCupy | None = None

    def __array_finalize__(self, parent: Any) -> None:
        self.gpu = getattr(parent, "gpu", None)

    def sum(self, *args: Any, **kwargs: Any) -> Any:
        if self.gpu is not None and kwargs.get("out") is not None:
            self.gpu.launch(f"sum {self.nbytes}", self.gpu.flush_s)
        return super().sum(*args, **kwargs)


class Event:
    """A CUDA event."""

    def __init__(self, gpu: FakeCupy) -> None:
        self.gpu, self.time, self.known = gpu, None, False

    def record(self, stream: Any = None) -> None:
        self.gpu.log.append("record")
        self.time, self.known = self.gpu.device_s, False
        self.gpu.pending.append(self)

    def synchronize(self) -> None:
        self.gpu.wait("event.synchronize")

    @property
    def done(self) -> bool:
        return self.known


class FakeCupy(types.ModuleType):
    """The module. ``log`` lists launches, records and waits; ``fault`` breaks it in one way:
    "driver", "devices", "toolkit" or "wrong"."""

    __version__ = "14.2.0"
    ndarray = np.ndarray

    def __init__(self, fault: str = "", l2: int = 1 << 20, free: int = 1 << 33) -> None:
        super().__init__("cupy")
        self.fault, self.l2, self.free = fault, l2, free
        self.log: list[str] = []
        self.pending: list[Event] = []
        self.device_s, self.kernel_s, self.flush_s = 0.0, 10e-6, 50e-6
        self.math_mode = 0
        self.cuda = self._cuda()
        self.cublas = Cublas(self)

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)

    def modules(self) -> dict[str, types.ModuleType]:
        """What to put into sys.modules."""
        return {"cupy": self, "cupy.cublas": self.cublas}

    def launch(self, name: str, seconds: float | None = None) -> None:
        self.log.append(name)
        self.device_s += self.kernel_s if seconds is None else seconds

    def wait(self, name: str) -> None:
        self.log.append(name)
        for event in self.pending:
            event.known = True
        self.pending.clear()

    # arrays

    def asarray(self, a: Any, dtype: Any = None) -> np.ndarray:
        return np.asarray(a, dtype=dtype)

    def asnumpy(self, a: Any) -> np.ndarray:
        self.wait("asnumpy")
        return np.asarray(a) + (1 if self.fault == "wrong" else 0)

    def arange(self, *args: Any, **kwargs: Any) -> np.ndarray:
        if self.fault == "toolkit":
            raise DynamicLibNotFoundError(TOOLKIT)
        return np.arange(*args, **kwargs)

    def ones(self, *args: Any, **kwargs: Any) -> np.ndarray:
        made = np.ones(*args, **kwargs).view(Logged)
        made.gpu = self
        return made

    def matmul(self, a: Any, b: Any, *, out: Any = None) -> Any:
        half = a.dtype.itemsize == 2
        assert a.dtype == b.dtype and (out is None or out.dtype == a.dtype)
        assert not half or a.ndim <= 2 >= b.ndim, "CuPy 14.2 has no honest batched half product"
        self.launch(f"matmul {a.dtype}")
        found = np.matmul(a.astype(np.float32), b.astype(np.float32)) if half else np.matmul(a, b)
        if out is None:
            return found.astype(a.dtype)
        assert out.flags.c_contiguous
        out[...] = found.astype(out.dtype)
        return out

    def ElementwiseKernel(self, inputs: str, outputs: str, body: str, name: str) -> Any:
        bodies = {
            "rooflab_half_axpy": lambda x, a, y: x.astype("f") * a + y.astype("f"),
            "rooflab_half_scale": lambda a, x: x.astype("f") * a,
            "rooflab_half_ger": lambda x, y, a: x.astype("f") * y.astype("f") + a.astype("f"),
        }

        def kernel(*args: Any) -> None:
            self.launch(name)
            args[-1][...] = bodies[name](*args).astype(args[-1].dtype)

        return kernel

    def ReductionKernel(self, *texts: str, reduce_type: str) -> Any:
        assert reduce_type == "float", "halves must be summed in fp32"

        def kernel(x: Any, y: Any, out: Any) -> None:
            self.launch(texts[6])
            out[...] = (x.astype("f") * y.astype("f")).sum(dtype="f").astype(out.dtype)

        return kernel

    def RawKernel(self, code: str, name: str, options: tuple[str, ...] = ()) -> Any:
        assert f"void {name}(" in code and name == "rooflab_spin", name

        def kernel(grid: Any, block: Any, args: Any) -> None:
            self.launch(name, float(args[0]) * 1e-9)

        return kernel

    def get_default_memory_pool(self) -> Any:
        return types.SimpleNamespace(free_bytes=lambda: 0)

    # cuda

    def _cuda(self) -> Any:
        stream = types.SimpleNamespace(synchronize=lambda: self.wait("stream.synchronize"))
        backends = types.SimpleNamespace(CUBLAS_DEFAULT_MATH=0, setMathMode=self._set_math_mode)
        return types.SimpleNamespace(
            runtime=types.SimpleNamespace(
                getDeviceCount=self._count,
                getDeviceProperties=lambda i: {"name": b"Stand-in GPU"},
                driverGetVersion=lambda: 13020,
                runtimeGetVersion=lambda: 13020,
            ),
            Device=lambda: types.SimpleNamespace(
                id=0,
                attributes={"L2CacheSize": self.l2, "MultiProcessorCount": 4},
                compute_capability="90",
                mem_info=(self.free, 2 * self.free),
                pci_bus_id="0000:00:00.0",
                cublas_handle=7,
            ),
            Event=lambda: Event(self),
            get_current_stream=lambda: stream,
            get_elapsed_time=self._elapsed,
            cublas=backends,
        )

    def _count(self) -> int:
        if self.fault == "driver":
            raise CUDARuntimeError("cudaErrorInsufficientDriver: CUDA driver version is too old")
        return 0 if self.fault == "devices" else 1

    def _set_math_mode(self, handle: int, mode: int) -> None:
        assert handle == 7
        self.math_mode = mode

    def _elapsed(self, start: Event, stop: Event) -> float:
        if not (start.known and stop.known):
            raise CUDARuntimeError("cudaErrorNotReady: device not ready")
        return (stop.time - start.time) * 1e3


class Cublas(types.ModuleType):
    """cupy.cublas, with the signatures of CuPy 14.2."""

    def __init__(self, gpu: FakeCupy) -> None:
        super().__init__("cupy.cublas")
        self.gpu = gpu

    def _launch(self, name: str, *arrays: Any) -> None:
        kind = arrays[0].dtype
        assert kind.char in "fd" and all(a.dtype == kind for a in arrays)
        assert all(a.flags.c_contiguous or a.flags.f_contiguous for a in arrays), "CuPy would copy"
        self.gpu.launch(f"{name} {kind}" + (" tf32" if self.gpu.math_mode == 3 else ""))

    def axpy(self, a: Any, x: Any, y: Any) -> None:
        self._launch("axpy", x, y)
        y += a * x

    def dot(self, x: Any, y: Any, out: Any = None) -> Any:
        self._launch("dot", x, y, out)
        out[...] = np.dot(x.astype(float), y.astype(float))
        return out

    def scal(self, a: Any, x: Any) -> None:
        self._launch("scal", x)
        x *= a

    def ger(self, alpha: Any, x: Any, y: Any, a: Any) -> None:
        self._launch("ger", a, x, y)
        a += alpha * np.outer(x, y)

    def gemv(self, transa: str, alpha: Any, a: Any, x: Any, beta: Any, y: Any) -> None:
        assert transa == "N"
        self._launch("gemv", a, x, y)
        y[...] = alpha * (a @ x) + (beta * y if beta else 0)

    def gemm(
        self, transa: str, transb: str, a: Any, b: Any, out: Any, alpha: Any, beta: Any
    ) -> Any:
        assert transa == "N" and a.ndim == b.ndim == out.ndim == 2
        self._launch("gemm", a, b, out)
        out[...] = alpha * (a @ (b.T if transb == "T" else b)) + (beta * out if beta else 0)
        return out

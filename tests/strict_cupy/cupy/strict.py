"""The class behind the strict CuPy: the course's stand-in, with more of CuPy. See __init__.py."""

from __future__ import annotations

import operator
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np

from rooflab.labs.cuda import Device, SimulatedGpu, StandIn
from rooflab.labs.cuda.api import DeviceHandle
from rooflab.labs.cuda.arrays import ndarray, of_the_gpu_or_numbers
from rooflab.labs.cuda.modules import Namespace, cupys_names

from .kernels import KERNELS
from .raw_kernels import CUDADriverError, RawKernel, RawModule

TF32_MATH, FULL_SUMS_MATH = 3, 16  # of cublas_api.h; CuPy has no names for them
CARD = Device(  # a thousandth of an H100, so that NumPy can follow
    "NVIDIA Fake H100", 3.3e9, 5.5e9, 4 << 20,
    {"float32": 6e10, "float64": 3e10, "tf32": 4e11, "float16": 6.5e11, "bfloat16": 6.5e11},
    kernel_s=2e-6, setup_s=0.0,
)  # fmt: skip


def host(value: Any) -> Any:
    """What NumPy may compute with in place of ``value``; a NumPy array is refused."""
    if isinstance(value, (list, tuple)):
        return type(value)(map(host, value))
    if isinstance(value, np.ndarray):
        of_the_gpu_or_numbers(value)
    return value.values() if isinstance(value, ndarray) else value


class Array(ndarray):
    """With CuPy's other methods, and indices that pick elements."""

    def __getattr__(self, name: str) -> Any:
        listed = name in cupys_names("cupy.ndarray")
        if listed and name in ("transpose", "swapaxes", "squeeze", "view"):
            view = self.writable() if name == "view" else self._view
            return lambda *args: self._seen(getattr(view, name)(*args))
        if listed and callable(method := getattr(np.ndarray, name, None)):
            return partial(self._cp.computed, method, self)
        return super().__getattr__(name)

    def __getitem__(self, index: Any) -> ndarray:
        try:
            return super().__getitem__(index)
        except NotImplementedError:
            return self._cp.computed(operator.getitem, self, index)

    def __setitem__(self, index: Any, value: Any) -> None:
        try:
            super().__setitem__(index, value)
        except NotImplementedError:
            self.writable()[host(index)] = host(value)


class Gpu(SimulatedGpu):
    """With kernels of which only the time is known."""

    def run(self, kernel: str, stream: int, seconds: float) -> None:
        """Queue one kernel that takes ``seconds``, whatever it does; it goes by L2."""
        self._queue(
            kernel, stream, kernel, seconds, flops=0, bytes=0, l2_bytes=0, written_back=0,
            library="", apart=True,
        )  # fmt: skip


class Card(DeviceHandle):
    """With the figures that rooflab.measure asks for."""

    pci_bus_id, cublas_handle, compute_capability = "0000:00:04.0", 7, "90"
    mem_info = property(lambda self: (self.cp.free, self.cp.total or 2 * self.cp.free))

    def __init__(self, cp: Cupy, device: int | None = None) -> None:
        super().__init__(cp.gpu, device)
        self.cp = cp

    @property
    def attributes(self) -> dict[str, int]:
        return super().attributes | {
            "MultiProcessorCount": self.cp.multiprocessors, "WarpSize": 32,
            "MaxThreadsPerBlock": 1024, "MaxThreadsPerMultiProcessor": 2048,
        }  # fmt: skip


class Generator(Namespace):
    """cupy.random.default_rng(seed): its numbers are NumPy's."""

    def __init__(self, cp: Cupy, seed: Any = None) -> None:
        self._cp, self._rng = cp, np.random.default_rng(seed)

    def __getattr__(self, name: str) -> Any:
        return lambda *args, **kw: self._cp.asarray(getattr(self._rng, name)(*args, **kw))


class Cupy(StandIn):
    """The module ``cupy`` on a GPU of its own: ``free`` and ``total`` bytes of memory."""

    __name__, __version__ = "cupy", "14.2.0"
    ndarray, largest = Array, 1 << 36
    free, total, multiprocessors, math_mode = 1 << 30, 0, 4, 0
    fuse = staticmethod(lambda function, kernel_name=None: function)
    get_default_memory_pool = staticmethod(
        lambda: SimpleNamespace(free_bytes=lambda: 0, free_all_blocks=lambda: None)
    )

    def __init__(self, device: Device = CARD, gpu: Gpu | None = None) -> None:
        super().__init__(device, gpu or Gpu(device))
        self.kernels = {
            name: lambda launch, effect=effect: effect(launch, self.gpu.device)
            for name, effect in KERNELS.items()
        }
        self._cublas = self.__dict__.pop("cublas")  # a module that `import cupy` does not load
        self.RawKernel, self.RawModule = partial(RawKernel, self), partial(RawModule, self)
        self.random.default_rng = partial(Generator, self)
        cuda, runtime = self.cuda, self.cuda.runtime
        cuda.Device = partial(Card, self)
        runtime.driverGetVersion = runtime.runtimeGetVersion = lambda: 13020
        runtime.getDeviceCount = lambda: 1
        runtime.getDeviceProperties = lambda number: {"name": self.gpu.device.name.encode()}
        cuda.driver = SimpleNamespace(
            CUDADriverError=CUDADriverError,
            occupancyMaxActiveBlocksPerMultiprocessor=lambda registers, threads, shared: min(
                2048 // threads, 65536 // (registers * threads)
            ),
        )
        cuda.cublas = SimpleNamespace(
            CUBLAS_DEFAULT_MATH=0, CUBLAS_TENSOR_OP_MATH=1, setMathMode=self._set_math_mode
        )

    def __getattr__(self, name: str) -> Any:
        try:
            return super().__getattr__(name)
        except AttributeError:
            if name in cupys_names("cupy") and callable(function := getattr(np, name, None)):
                return partial(self.computed, function)
            raise

    def computed(self, function: Any, *args: Any, out: ndarray | None = None, **more: Any) -> Any:
        """Run ``function`` of NumPy on arrays of the GPU as one kernel."""
        result = function(*map(host, args), **{name: host(value) for name, value in more.items()})
        if not isinstance(result, (np.ndarray, np.generic)):
            return tuple(map(self.array, result)) if isinstance(result, tuple) else result
        made = self.new(np.asarray(result), None) if out is None else out
        self.run(f"numpy {function.__name__}", lambda *_: np.asarray(result), [], made)
        return made

    def reduced(
        self, name: str, a: Any, axis: Any = None, *, out: Any = None, keepdims: bool = False
    ) -> Any:
        if axis is None and not keepdims:
            return super().reduced(name, a, out=out)
        return self.computed(getattr(np, name), a, axis=axis, out=out, keepdims=keepdims)

    def _set_math_mode(self, handle: int, mode: int) -> None:
        if handle != Card.cublas_handle or mode not in (0, 1, 2, TF32_MATH, FULL_SUMS_MATH):
            raise RuntimeError("CUBLAS_STATUS_INVALID_VALUE")
        self.math_mode = mode

    def _in_tf32(self, kind: np.dtype) -> bool:
        return self.math_mode == TF32_MATH and kind == np.float32

    def blas(self, name: str, compute: Any, inputs: Any, out: ndarray, *, flops: float) -> None:
        dtype = "tf32" if self._in_tf32(out.dtype) else ""
        self.run(name, compute, inputs, out, flops=flops, library="cublas", dtype=dtype)

    def multiplied(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        if self._in_tf32(x.dtype):  # 11 significant bits
            x, y = ((np.array(m).view("u4") + 0x1000 & 0xFFFFE000).view("f4") for m in (x, y))
        elif x.dtype.itemsize == 2 and x.dtype.kind not in "iu":  # halves, in fp32
            x, y = x.astype(np.float32), y.astype(np.float32)
        return x @ y

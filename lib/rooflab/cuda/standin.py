"""A small CuPy on a simulated GPU: the same names, so that one program runs on both.

``StandIn(device)`` is used where ``import cupy as cp`` would be. Everything that reaches the GPU
is logged in ``cp.gpu.log``. Names follow CuPy 14's documentation (docs.cupy.dev).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import ModuleType

import numpy as np
from numpy.typing import DTypeLike

from rooflab.cuda.api import Cuda
from rooflab.cuda.arrays import LARGEST_REAL, Buffer, ndarray, of_the_gpu
from rooflab.cuda.cublas import Cublas
from rooflab.cuda.device import Device, SimulatedGpu
from rooflab.cuda.elementwise import ElementwiseKernel
from rooflab.cuda.modules import Namespace

_DTYPES = (
    "float16", "float32", "float64", "int8", "int16", "int32", "int64",
    "uint8", "uint16", "uint32", "uint64", "dtype", "inf", "nan", "pi",
)  # fmt: skip
_TILE = 1 << 20  # random numbers after which a large array repeats
Shape = int | Sequence[int]
Operand = ndarray | float


class StandIn(Namespace):
    """The part of CuPy that timing AXPY, GEMV and GEMM needs; the rest is an AttributeError."""

    _inside = frozenset(("gpu", "is_stand_in", "run", "ufunc", "wait_for_copy"))
    ndarray = ndarray
    is_stand_in = True
    __name__ = "cupy (stand-in)"

    def __init__(self, device: Device) -> None:
        self.gpu = SimulatedGpu(device)
        self.cuda = Cuda(self.gpu)
        self.cublas = Cublas(self)
        self.random = Random(self)

    def __getattr__(self, name: str) -> object:
        return getattr(np, name) if name in _DTYPES else super().__getattr__(name)

    def ElementwiseKernel(
        self, in_params: str, out_params: str, operation: str, name: str = "kernel", **_: object
    ) -> ElementwiseKernel:
        """One assignment as a kernel; CuPy's further options change nothing here."""
        return ElementwiseKernel(self, in_params, out_params, operation, name)

    # Creation

    def full(
        self, shape: Shape, fill_value: object, dtype: DTypeLike = None, order: str = "C"
    ) -> ndarray:
        kind = np.dtype(dtype) if dtype is not None else np.asarray(fill_value).dtype
        sizes = (shape,) if np.ndim(shape) == 0 else tuple(shape)
        size = int(np.prod(sizes, dtype=np.int64))
        return ndarray(self, Buffer(self.gpu, size, kind.type(fill_value)), 0, sizes)

    def empty(self, shape: Shape, dtype: DTypeLike = float, order: str = "C") -> ndarray:
        return self.full(shape, 0, dtype)

    def zeros(self, shape: Shape, dtype: DTypeLike = float, order: str = "C") -> ndarray:
        made = self.full(shape, 0, dtype)
        made.fill(0)
        return made

    def ones(self, shape: Shape, dtype: DTypeLike = float, order: str = "C") -> ndarray:
        made = self.full(shape, 0, dtype)
        made.fill(1)
        return made

    def empty_like(self, a: ndarray, dtype: DTypeLike = None) -> ndarray:
        return self.empty(a.shape, dtype or a.dtype)

    def zeros_like(self, a: ndarray, dtype: DTypeLike = None) -> ndarray:
        return self.zeros(a.shape, dtype or a.dtype)

    def ones_like(self, a: ndarray, dtype: DTypeLike = None) -> ndarray:
        return self.ones(a.shape, dtype or a.dtype)

    def full_like(self, a: ndarray, fill_value: object, dtype: DTypeLike = None) -> ndarray:
        return self.full(a.shape, fill_value, dtype or a.dtype)

    def arange(self, *args: float, dtype: DTypeLike = None) -> ndarray:
        return self.array(np.arange(*args, dtype=dtype))

    def array(
        self, obj: object, dtype: DTypeLike = None, copy: bool = True, order: str = "K"
    ) -> ndarray:
        if isinstance(obj, ndarray):
            made = self.empty(obj.shape, dtype or obj.dtype)
            self.copyto(made, obj)
            return made
        values = np.asarray(obj, dtype=dtype)
        made = self.empty(values.shape, values.dtype)
        made.store(values, values.size == 1)
        return made

    def asarray(self, a: object, dtype: DTypeLike = None, order: str | None = None) -> ndarray:
        same = isinstance(a, ndarray) and dtype in (None, a.dtype)
        return a if same else self.array(a, dtype)

    ascontiguousarray = asarray

    def asnumpy(self, a: object) -> np.ndarray:
        return a.get() if isinstance(a, ndarray) else np.asarray(a)

    def copyto(self, dst: ndarray, src: object) -> None:
        if isinstance(src, ndarray) and isinstance(dst, ndarray) and dst.repeats(src):
            self._launch("copy", dst, [src])
        elif isinstance(src, ndarray):
            self.run("copy", dst, [src], lambda: src.values(), src.constant)
        else:
            dst.fill(src)

    def size(self, a: ndarray) -> int:
        return a.size

    def ndim(self, a: ndarray) -> int:
        return a.ndim

    def shape(self, a: ndarray) -> tuple[int, ...]:
        return a.shape

    def get_array_module(self, *args: object) -> StandIn | ModuleType:
        return self if any(isinstance(a, ndarray) for a in args) else np

    # Arithmetic: one kernel each

    def add(self, x1: Operand, x2: Operand, out: ndarray | None = None) -> ndarray:
        return self.ufunc("add", x1, x2, out)

    def subtract(self, x1: Operand, x2: Operand, out: ndarray | None = None) -> ndarray:
        return self.ufunc("subtract", x1, x2, out)

    def multiply(self, x1: Operand, x2: Operand, out: ndarray | None = None) -> ndarray:
        return self.ufunc("multiply", x1, x2, out)

    def divide(self, x1: Operand, x2: Operand, out: ndarray | None = None) -> ndarray:
        return self.ufunc("divide", x1, x2, out)

    def ufunc(self, name: str, x1: Operand, x2: Operand, out: ndarray | None) -> ndarray:
        """Run a two-operand element-wise kernel; without ``out`` it fills a new array."""
        of_the_gpu(*(x for x in (x1, x2) if getattr(x, "shape", ())))
        arrays = [x for x in (x1, x2) if isinstance(x, ndarray)]
        small = [np.ones(1, x.dtype) if isinstance(x, ndarray) else x for x in (x1, x2)]
        shape = np.broadcast_shapes(*(a.shape for a in arrays))
        dtype = getattr(np, name)(*small).dtype
        made = self.empty(shape, dtype) if out is None else out
        constant = all(a.constant for a in arrays)

        def compute() -> np.ndarray:
            values = [
                (x.values().flat[:1] if constant else x.values()) if isinstance(x, ndarray) else x
                for x in (x1, x2)
            ]
            with np.errstate(all="ignore"):
                return getattr(np, name)(*values)

        self.run(name, made, arrays, compute, constant, flops=made.size)
        return made

    def sum(
        self, a: ndarray, axis: None = None, dtype: DTypeLike = None, out: ndarray | None = None,
        keepdims: bool = False,
    ) -> ndarray:  # fmt: skip
        return self._reduced("sum", a, axis, out, keepdims, dtype)

    def max(
        self, a: ndarray, axis: None = None, out: ndarray | None = None, keepdims: bool = False
    ) -> ndarray:
        return self._reduced("max", a, axis, out, keepdims)

    def min(
        self, a: ndarray, axis: None = None, out: ndarray | None = None, keepdims: bool = False
    ) -> ndarray:
        return self._reduced("min", a, axis, out, keepdims)

    amax, amin = max, min

    def _reduced(
        self, name: str, a: ndarray, axis: None, out: ndarray | None, keepdims: bool,
        dtype: DTypeLike = None,
    ) -> ndarray:  # fmt: skip
        """Reduce a whole array to one number by one kernel."""
        of_the_gpu(a)
        if axis is not None or keepdims:
            raise NotImplementedError(
                f"the stand-in's {name} is of all elements: no axis, keepdims"
            )
        kind = getattr(np, name)(np.ones(1, dtype or a.dtype)).dtype
        made = self.empty((), kind) if out is None else out
        if made.shape != ():
            raise ValueError(f"out has shape {made.shape}; a sum, max or min has shape ()")

        def compute() -> np.ndarray:
            return np.full(1, a.reduced(name, kind), kind)

        self.run(name, made, [a], compute, True, flops=a.size)
        return made

    def matmul(
        self, x1: ndarray, x2: ndarray, *positional: object, out: ndarray | None = None
    ) -> ndarray:
        if positional:
            raise TypeError("matmul() got multiple values for argument 'out'; write out=C, as CuPy")
        return self.cublas.product(x1, x2, out)

    def dot(self, a: ndarray, b: ndarray, out: ndarray | None = None) -> ndarray:
        return self.cublas.product(a, b, out)

    # The one way onto the device

    def run(
        self,
        kernel: str,
        out: ndarray,
        inputs: Sequence[ndarray],
        compute: Callable[[], np.ndarray],
        constant: bool,
        *,
        flops: float = 0,
        library: str = "",
    ) -> None:
        """Launch one kernel on the current stream: reads ``inputs``, writes ``out``."""
        if not isinstance(out, ndarray):
            raise TypeError(f"out={type(out).__name__} must be an array on the GPU")
        self._launch(kernel, out, inputs, flops=flops, library=library)
        out.store(compute(), constant)

    def _launch(
        self,
        kernel: str,
        out: ndarray,
        inputs: Sequence[ndarray],
        *,
        flops: float = 0,
        library: str = "",
    ) -> None:
        """Log and time a kernel whose result is stored already."""
        self.gpu.launch(
            kernel, self.cuda.current.stream, flops=flops, dtype=out.dtype.name,
            reads=[a.span for a in inputs], writes=[out.span], library=library,
        )  # fmt: skip

    def wait_for_copy(self) -> None:
        """A copy to the host waits for the current stream."""
        self.gpu.wait_stream(self.cuda.current.stream)


class Random(Namespace):
    """``cp.random``: uniform numbers in [0, 1). Large arrays repeat the first million of theirs."""

    _called = "cp.random"

    def __init__(self, cp: StandIn, seed: int | None = 0) -> None:
        self._cp, self._rng = cp, np.random.default_rng(seed)

    def default_rng(self, seed: int | None = None) -> Random:
        """Return a generator of its own: ``default_rng(1).random(n, dtype=cp.float32)``."""
        return Random(self._cp, seed)

    def random(self, size: Shape | None = None, dtype: DTypeLike = float) -> ndarray:
        """Return an array of shape ``size``, filled by one kernel."""
        cp, kind = self._cp, np.dtype(dtype)
        sizes = () if size is None else (size,) if np.ndim(size) == 0 else tuple(size)
        count = int(np.prod(sizes, dtype=np.int64))
        large = count * kind.itemsize > LARGEST_REAL
        values = self._rng.random(_TILE if large else count, dtype=kind)
        made = ndarray(cp, Buffer(cp.gpu, count, kind.type(0), values if large else None), 0, sizes)
        if large:
            cp._launch("random", made, [])
        else:
            cp.run("random", made, [], lambda: values.reshape(sizes), False)
        return made

    random_sample = random

    def rand(self, *sizes: int) -> ndarray:
        """Return fp64 numbers; the sizes are separate arguments, as NumPy's rand takes them."""
        return self.random(sizes or None)

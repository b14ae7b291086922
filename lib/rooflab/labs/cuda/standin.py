"""A small CuPy on a simulated GPU: the same names, so that one program runs on both.

``StandIn(device)`` is used where ``import cupy as cp`` would be. Everything that reaches the GPU
is logged in ``cp.gpu.log``. Names follow CuPy 14's documentation (docs.cupy.dev).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from operator import attrgetter
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from rooflab.labs.cuda.api import Cuda
from rooflab.labs.cuda.arrays import Memory, can_hold, ndarray, of_the_gpu, of_the_gpu_or_numbers
from rooflab.labs.cuda.device import Device, SimulatedGpu
from rooflab.labs.cuda.modules import Namespace, cupys_names
from rooflab.labs.cuda.user_kernels import Effect, ElementwiseKernel, RawKernel, RawModule

Shape = int | Sequence[int]
_TYPES = np.generic, np.dtype  # which are NumPy's own in CuPy too
_PRODUCTS = {2: "gemm", 1: "gemv", 0: "dot"}  # what cuBLAS calls one with so many dimensions


class StandIn(Namespace):
    """The part of CuPy that timing AXPY, GEMV and GEMM needs, and kernels of one's own.

    Every ufunc of NumPy that CuPy has too is one kernel. ``kernels`` says what a RawKernel of a
    name does; ``largest``: bytes of an array whose elements may differ.
    """

    _listed = "cupy"
    _inside = frozenset(
        ("assign", "blas", "gpu", "kernels", "largest", "multiplied", "new", "product", "run",
         "wait")
    )  # fmt: skip
    __name__ = "cupy (stand-in)"
    ndarray: type[ndarray] = ndarray
    largest = 64 << 20

    def __init__(self, device: Device, gpu: SimulatedGpu | None = None) -> None:
        self.gpu = gpu or SimulatedGpu(device)
        self.kernels: dict[str, Effect] = {}
        self.cuda, self.cublas, self.random = Cuda(self.gpu), Cublas(self), Random(self)
        self.ElementwiseKernel = partial(ElementwiseKernel, self)
        self.RawKernel, self.RawModule = partial(RawKernel, self), partial(RawModule, self)

    def __getattr__(self, name: str) -> Any:
        theirs = getattr(np, name, None) if name in cupys_names("cupy") else None
        if isinstance(theirs, np.ufunc) and theirs.nout == 1:
            return partial(self._ufunc, theirs)
        if isinstance(theirs, float) or (isinstance(theirs, type) and issubclass(theirs, _TYPES)):
            return theirs
        if name in ("size", "ndim", "shape"):
            return attrgetter(name)
        return super().__getattr__(name)

    # Creation

    def new(self, room: np.ndarray, same: np.generic | None) -> ndarray:
        """Return the array of new memory at ``room``, all of whose elements are ``same``."""
        return self.ndarray(self, Memory(self, room, same), room)

    def empty(self, shape: Shape, dtype: DTypeLike = float, order: str = "C") -> ndarray:
        room = np.empty(shape, dtype, order)
        return self.new(room, room.dtype.type(0))

    def full(
        self, shape: Shape, fill_value: object, dtype: DTypeLike = None, order: str = "C"
    ) -> ndarray:
        made = self.empty(shape, np.asarray(fill_value).dtype if dtype is None else dtype, order)
        made.fill(fill_value)
        return made

    def zeros(self, shape: Shape, dtype: DTypeLike = float, order: str = "C") -> ndarray:
        return self.full(shape, 0, dtype, order)

    def ones(self, shape: Shape, dtype: DTypeLike = float, order: str = "C") -> ndarray:
        return self.full(shape, 1, dtype, order)

    def empty_like(self, prototype: ndarray, dtype: DTypeLike = None) -> ndarray:
        return self.empty(prototype.shape, dtype or prototype.dtype)

    def zeros_like(self, a: ndarray, dtype: DTypeLike = None) -> ndarray:
        return self.zeros(a.shape, dtype or a.dtype)

    def ones_like(self, a: ndarray, dtype: DTypeLike = None) -> ndarray:
        return self.ones(a.shape, dtype or a.dtype)

    def arange(self, *args: float, dtype: DTypeLike = None) -> ndarray:
        return self.array(np.arange(*args, dtype=dtype))

    def array(
        self, obj: Any, dtype: DTypeLike = None, copy: bool = True, order: str = "K"
    ) -> ndarray:
        if not isinstance(obj, ndarray):
            return self.new(np.array(obj, dtype, order=order), None)
        room = np.empty_like(obj._view, dtype or obj.dtype, order=order)
        made = self.new(room, room.dtype.type(0))
        self.assign(made, obj)
        return made

    def asarray(self, a: Any, dtype: DTypeLike = None, order: str | None = None) -> ndarray:
        same = isinstance(a, ndarray) and dtype in (None, a.dtype) and order in (None, "K", "A")
        return a if same else self.array(a, dtype, order=order or "K")

    def ascontiguousarray(self, a: Any, dtype: DTypeLike = None) -> ndarray:
        here = self.asarray(a, dtype)
        return here if here.flags.c_contiguous else self.array(here, order="C")

    def asnumpy(self, a: Any, stream: None = None, order: str = "C") -> np.ndarray:
        return a.get(order=order) if isinstance(a, ndarray) else np.asarray(a, order=order)

    def copyto(self, dst: ndarray, src: Any) -> None:
        of_the_gpu(dst)
        of_the_gpu_or_numbers(src)
        given = np.zeros((), src.dtype) if isinstance(src, ndarray) else src
        np.copyto(np.empty((), dst.dtype), given, casting="same_kind")  # refuses as CuPy does
        self.assign(dst, src)

    def assign(self, dst: ndarray, src: Any) -> None:
        """Put ``src``, an array or a number, into all of ``dst``, whatever their types."""
        of_the_gpu_or_numbers(src)
        if not isinstance(src, ndarray):
            dst.fill(src)
            return
        shape = src.shape[max(0, src.ndim - dst.ndim) :]  # without axes of length 1 in front
        if src.size != np.prod(shape) or np.broadcast_shapes(shape, dst.shape) != dst.shape:
            raise ValueError(f"could not broadcast from shape {src.shape} into shape {dst.shape}")
        self.run("copy", lambda x: x.reshape(shape) if x.ndim else x, [src], dst)

    def get_array_module(self, *args: object) -> StandIn | ModuleType:
        return self if any(isinstance(a, ndarray) for a in args) else np

    # Arithmetic: one kernel each

    def _ufunc(self, function: np.ufunc, *operands: Any, out: ndarray | None = None) -> ndarray:
        operands, out = operands[: function.nin], [*operands[function.nin :], out][0]
        of_the_gpu_or_numbers(*operands)
        shape = np.broadcast_shapes(*(np.shape(x) for x in operands))
        with np.errstate(all="ignore"):
            ones = (np.ones((), x.dtype) if isinstance(x, ndarray) else x for x in operands)
            dtype = function(*ones).dtype
        made = self.empty(shape, dtype) if out is None else out
        can_hold(made, shape, dtype)
        self.run(function.__name__, function, operands, made, flops=made.size)
        return made

    def sum(
        self, a: ndarray, axis: None = None, dtype: DTypeLike = None, out: ndarray | None = None,
        keepdims: bool = False,
    ) -> ndarray:  # fmt: skip
        kind = np.dtype(dtype or np.ones(1, of_the_gpu(a).dtype).sum().dtype)

        def compute(x: np.ndarray) -> np.ndarray:
            return x.sum(dtype=kind) if x.ndim else repeated(x.astype(kind), a.size)

        return self._reduced("sum", compute, kind, a, axis, out, keepdims)

    def max(
        self, a: ndarray, axis: None = None, out: ndarray | None = None, keepdims: bool = False
    ) -> ndarray:
        return self._reduced("max", np.max, of_the_gpu(a).dtype, a, axis, out, keepdims)

    def min(
        self, a: ndarray, axis: None = None, out: ndarray | None = None, keepdims: bool = False
    ) -> ndarray:
        return self._reduced("min", np.min, of_the_gpu(a).dtype, a, axis, out, keepdims)

    amax, amin = max, min

    def _reduced(
        self, name: str, compute: Any, kind: np.dtype, a: ndarray, axis: Any, out: Any,
        keepdims: bool,
    ) -> ndarray:  # fmt: skip
        """Reduce a whole array to one number by one kernel."""
        if axis is not None or keepdims:
            raise NotImplementedError("the stand-in reduces to one number, without axis, keepdims")
        made = self.empty((), kind) if out is None else out
        can_hold(made, (), kind)
        self.run(name, compute, [a], made, flops=a.size)
        return made

    def matmul(
        self, x1: ndarray, x2: ndarray, *positional: object, out: ndarray | None = None
    ) -> ndarray:
        if positional:
            raise TypeError("matmul() got multiple values for argument 'out'; write out=C, as CuPy")
        return self.product(x1, x2, out)

    def dot(self, a: ndarray, b: ndarray, out: ndarray | None = None) -> ndarray:
        return self.product(a, b, out)

    def product(
        self, a: ndarray, b: ndarray, out: ndarray | None = None, alpha: float = 1.0,
        beta: float = 0.0,
    ) -> ndarray:  # fmt: skip
        """alpha·a@b + beta·out by one kernel of cuBLAS; a new array without ``out``."""
        of_the_gpu(a, b)
        if a.dtype != b.dtype:
            raise NotImplementedError("the stand-in multiplies arrays of one dtype")
        if a.dtype.name in ("float16", "bfloat16") and max(a.ndim, b.ndim) > 2:
            raise TypeError("CuPy 14.2 has no honest batched product of halves")
        if not a.ndim or not b.ndim or a.shape[-1] != b.shape[-2:][0]:
            raise ValueError(f"shapes {a.shape} and {b.shape} do not fit a product")
        lead = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
        shape = (*lead, *a.shape[-2:-1], *(b.shape[-1:] if b.ndim > 1 else ()))
        if out is None:
            out, beta = self.empty(shape, a.dtype), 0.0
        can_hold(out, shape, a.dtype)
        scale, kept, k = _number(alpha, out), _number(beta, out), a.shape[-1]

        def compute(x: np.ndarray, y: np.ndarray, *old: np.ndarray) -> np.ndarray:
            many = self.multiplied(x, y) if x.ndim else repeated(_wide(x) * _wide(y), k)
            scaled = many.astype(a.dtype, copy=False) * scale if scale != 1 else many
            return scaled + kept * old[0] if old else scaled

        name = _PRODUCTS[min(len(shape), 2)]
        self.blas(name, compute, [a, b, out] if beta else [a, b], out, flops=2 * out.size * k)
        return out

    def multiplied(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Return x @ y, of halves in fp32."""
        if x.dtype.itemsize == 2 and x.dtype.kind not in "iu":
            x, y = x.astype(np.float32), y.astype(np.float32)
        return x @ y

    # The one way onto the device

    def run(
        self, kernel: str, compute: Callable[..., Any], operands: Sequence[Any], out: ndarray, *,
        flops: float = 0, library: str = "", dtype: str = "",
    ) -> None:  # fmt: skip
        """Launch a kernel on the current stream, which leaves in ``out`` what ``compute`` returns.

        ``compute`` gets ``operands``, with the values of arrays: where all elements of each are
        equal one number each, of shape (), for one number. ``dtype``: in which the kernel computes,
        if not in that of ``out``. Nothing is launched for a result without elements.
        """
        of_the_gpu(out)
        if out.size == 0:
            return
        arrays = [a for a in operands if isinstance(a, ndarray)]
        self.gpu.launch(
            kernel, self.cuda.current.stream, flops=flops, dtype=dtype or out.dtype.name,
            reads=[a.span for a in arrays], writes=[out.span], library=library,
        )  # fmt: skip
        equal = all(a.constant for a in arrays)
        try:
            if not equal and out.nbytes > self.largest:
                raise MemoryError
            values = (a.one() if equal else a.values() for a in arrays)
            given = [next(values) if isinstance(x, ndarray) else x for x in operands]
            with np.errstate(all="ignore"):  # a GPU warns of nothing
                out.store(np.asarray(compute(*given)))
        except MemoryError:  # what nobody computes here, nobody knows
            out.forget()

    def blas(self, name: str, compute: Any, operands: Any, out: ndarray, *, flops: float) -> None:
        """Launch a kernel of cuBLAS."""
        self.run(name, compute, operands, out, flops=flops, library="cublas")

    def wait(self) -> None:
        """A copy to the host waits for the current stream."""
        self.gpu.wait_stream(self.cuda.current.stream)


class Random(Namespace):
    """``cp.random``: uniform numbers in [0, 1); of a large array nobody knows them."""

    _called = "cp.random"

    def __init__(self, cp: StandIn) -> None:
        self._cp, self._rng = cp, np.random.default_rng(0)

    def random(self, size: Shape | None = None, dtype: DTypeLike = float) -> ndarray:
        made = self._cp.empty(() if size is None else size, dtype)

        def numbers() -> np.ndarray:
            if made.nbytes > self._cp.largest:
                raise MemoryError
            return np.asarray(self._rng.random(made.shape, made.dtype))

        self._cp.run("random", numbers, [], made)
        return made

    def rand(self, *size: int, dtype: DTypeLike = float) -> ndarray:
        return self.random(size or None, dtype)


class Cublas(Namespace):
    """``cp.cublas``, of real CuPy a module that ``import cupy`` does not load."""

    _called = "cp.cublas"

    def __init__(self, cp: StandIn) -> None:
        self._cp = cp

    def axpy(self, a: float, x: ndarray, y: ndarray) -> None:
        """y += a·x."""
        _for_blas(x, y)
        if x.ndim != 1 or x.shape != y.shape:
            raise TypeError(f"x {x.shape} and y {y.shape} must be alike vectors")
        a = _number(a, y)
        self._cp.blas("axpy", lambda v, w: w + a * v, [x, y], y, flops=2 * x.size)

    def scal(self, a: float, x: ndarray) -> None:
        """x *= a."""
        _for_blas(x)
        a = _number(a, x)
        self._cp.blas("scal", lambda v: v * a, [x], x, flops=x.size)

    def dot(self, x: ndarray, y: ndarray, out: ndarray | None = None) -> ndarray:
        """xᵀy, into ``out`` of one element if it is given."""
        _for_blas(x, y)
        total = self._cp.product(x, y, None if out is None else out.reshape(()))
        return total if out is None else out

    def ger(self, alpha: float, x: ndarray, y: ndarray, a: ndarray) -> None:
        """a += alpha·xyᵀ."""
        _for_blas(x, y, a)
        if a.shape != (x.size, y.size):
            raise ValueError(f"x {x.shape} and y {y.shape} do not make a {a.shape}")
        alpha = _number(alpha, a)

        def compute(v: np.ndarray, w: np.ndarray, old: np.ndarray) -> np.ndarray:
            return old + alpha * (np.outer(v, w) if v.ndim else v * w)

        self._cp.blas("ger", compute, [x, y, a], a, flops=2 * a.size)

    def gemv(
        self, transa: str | int, alpha: float, a: ndarray, x: ndarray, beta: float, y: ndarray
    ) -> None:
        """y = alpha·op(a)·x + beta·y."""
        _for_blas(a, x, y)
        if (a.ndim, x.ndim, y.ndim) != (2, 1, 1):
            raise ValueError(f"a {a.shape}, x {x.shape}, y {y.shape}: a matrix and two vectors")
        self._cp.product(_turned(a, transa), x, y, alpha, beta)

    def gemm(
        self, transa: str | int, transb: str | int, a: ndarray, b: ndarray,
        out: ndarray | None = None, alpha: float = 1.0, beta: float = 0.0,
    ) -> ndarray:  # fmt: skip
        """out = alpha·op(a)·op(b) + beta·out."""
        _for_blas(a, b, *([] if out is None else [out]))
        if (a.ndim, b.ndim) != (2, 2):
            raise ValueError(f"a {a.shape}, b {b.shape}: two matrices are wanted")
        return self._cp.product(_turned(a, transa), _turned(b, transb), out, alpha, beta)


def _for_blas(*arrays: ndarray) -> None:
    """Refuse what cuBLAS has no routine for, and what CuPy would have to copy first."""
    of_the_gpu(*arrays)
    names = sorted({array.dtype.name for array in arrays})
    if names not in (["float32"], ["float64"]):
        raise TypeError(f"invalid dtype {', '.join(names)}: cp.cublas takes float32 or float64")
    if not all(array.flags.forc for array in arrays):
        raise NotImplementedError("CuPy would copy an array that is not contiguous first")


def _number(value: Any, like: ndarray) -> np.generic:
    """``value``, which scales an array, in that array's type."""
    if isinstance(value, ndarray):
        raise NotImplementedError("the stand-in scales by numbers only, CuPy also by its arrays")
    return like.dtype.type(value)


def _turned(a: ndarray, trans: str | int) -> ndarray:
    if trans not in ("N", "T", "H", 0, 1, 2):  # H and 2: and conjugated
        raise TypeError(f"invalid trans (actual: {trans}); 'N', 'T' or 'H' is wanted")
    return a if trans in ("N", 0) else a.T


def _wide(one: np.ndarray) -> np.ndarray:
    return one if one.dtype.kind in "iu" else one.astype(float)


def repeated(one: np.ndarray, times: int) -> np.ndarray:
    """Return the sum of ``times`` times ``one``: a whole number wraps, as on a GPU."""
    if one.dtype.kind in "iu":
        return one * np.asarray(times).astype(one.dtype)
    return (_wide(one) * times).astype(one.dtype)

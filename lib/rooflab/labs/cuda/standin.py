"""A small CuPy on a simulated GPU: the same names, so that one program runs on both.

``StandIn(device)`` is used where ``import cupy as cp`` would be. Everything that reaches the GPU
is logged in ``cp.gpu.log``. Names follow CuPy 14's documentation (docs.cupy.dev).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from rooflab.labs.cuda.api import Cuda
from rooflab.labs.cuda.arrays import (
    UNKNOWN,
    Memory,
    can_hold,
    ndarray,
    of_the_gpu,
    of_the_gpu_or_numbers,
)
from rooflab.labs.cuda.device import Device, SimulatedGpu
from rooflab.labs.cuda.modules import Namespace, cupys_names

Shape = int | Sequence[int]
_TYPES = np.generic, np.dtype  # which are NumPy's own in CuPy too
_ASSIGNMENT = re.compile(r"\s*(\w+)\s*([-+*/]?)=(?!.*\*\*)([\w\s.+*/()-]+);?\s*")
_PRODUCTS = {2: "gemm", 1: "gemv", 0: "dot"}  # what cuBLAS calls one with so many dimensions


class StandIn(Namespace):
    """The part of CuPy that timing AXPY, GEMV and GEMM needs.

    Every ufunc of NumPy that CuPy has too is one kernel. ``largest``: bytes of an array whose
    elements may differ.
    """

    _listed = "cupy"
    __name__ = "cupy (stand-in)"
    ndarray: type[ndarray] = ndarray
    largest = 64 << 20

    def __init__(self, device: Device, gpu: SimulatedGpu | None = None) -> None:
        self.gpu = gpu or SimulatedGpu(device)
        self.cuda, self.cublas, self.random = Cuda(self.gpu), Cublas(self), Random(self)
        self.ElementwiseKernel = partial(ElementwiseKernel, self)
        self.sum, self.max, self.min = (partial(self.reduced, n) for n in ("sum", "max", "min"))

    def __getattr__(self, name: str) -> Any:
        theirs = getattr(np, name, None) if name in cupys_names("cupy") else None
        if isinstance(theirs, np.ufunc) and theirs.nout == 1:
            return partial(self._ufunc, theirs)
        if isinstance(theirs, float) or (isinstance(theirs, type) and issubclass(theirs, _TYPES)):
            return theirs
        return super().__getattr__(name)

    # Creation

    def new(self, room: np.ndarray, same: np.generic | None) -> ndarray:
        """Return the array of new memory at ``room``, all of whose elements are ``same``."""
        return self.ndarray(self, Memory(self, room, same), room)

    def empty(self, shape: Shape, dtype: DTypeLike = float) -> ndarray:
        room = np.empty(shape, dtype)
        return self.new(room, room.dtype.type(0))

    def full(self, shape: Shape, fill_value: object, dtype: DTypeLike = None) -> ndarray:
        made = self.empty(shape, np.asarray(fill_value).dtype if dtype is None else dtype)
        made.fill(fill_value)
        return made

    def zeros(self, shape: Shape, dtype: DTypeLike = float) -> ndarray:
        return self.full(shape, 0, dtype)

    def ones(self, shape: Shape, dtype: DTypeLike = float) -> ndarray:
        return self.full(shape, 1, dtype)

    def empty_like(self, prototype: ndarray, dtype: DTypeLike = None) -> ndarray:
        return self.empty(prototype.shape, dtype or prototype.dtype)

    def zeros_like(self, a: ndarray, dtype: DTypeLike = None) -> ndarray:
        return self.zeros(a.shape, dtype or a.dtype)

    def ones_like(self, a: ndarray, dtype: DTypeLike = None) -> ndarray:
        return self.ones(a.shape, dtype or a.dtype)

    def arange(self, *args: float, dtype: DTypeLike = None) -> ndarray:
        return self.array(np.arange(*args, dtype=dtype))

    def array(self, obj: Any, dtype: DTypeLike = None, *, order: str = "K") -> ndarray:
        if not isinstance(obj, ndarray):
            return self.new(np.array(obj, dtype, order=order), None)
        room = np.empty_like(obj._view, dtype or obj.dtype, order=order)
        made = self.new(room, room.dtype.type(0))
        self.assign(made, obj)
        return made

    def asarray(self, a: Any, dtype: DTypeLike = None) -> ndarray:
        return a if isinstance(a, ndarray) and dtype in (None, a.dtype) else self.array(a, dtype)

    def asnumpy(self, a: Any) -> np.ndarray:
        return a.get() if isinstance(a, ndarray) else np.asarray(a)

    def copyto(self, dst: ndarray, src: Any) -> None:
        self.assign(of_the_gpu(dst), src)

    def assign(self, dst: ndarray, src: Any) -> None:
        """Put ``src``, an array or a number, into all of ``dst``, whatever their types."""
        of_the_gpu_or_numbers(src)
        if not isinstance(src, ndarray):
            dst.fill(src)
            return
        if np.broadcast_shapes(src.shape, dst.shape) != dst.shape:
            raise ValueError(f"could not broadcast from shape {src.shape} into shape {dst.shape}")
        self.run("copy", lambda x: x, [src], dst)

    # Arithmetic: one kernel each

    def _ufunc(self, function: np.ufunc, *operands: Any, out: ndarray | None = None) -> ndarray:
        operands, out = operands[: function.nin], [*operands[function.nin :], out][0]
        of_the_gpu_or_numbers(*operands)
        shape = np.broadcast_shapes(*(getattr(x, "shape", ()) for x in operands))
        with np.errstate(all="ignore"):
            ones = (np.ones((), x.dtype) if isinstance(x, ndarray) else x for x in operands)
            dtype = function(*ones).dtype
        made = self.empty(shape, dtype) if out is None else out
        can_hold(made, shape, dtype)
        self.run(function.__name__, function, operands, made, flops=made.size)
        return made

    def reduced(
        self, name: str, a: ndarray, axis: Any = None, *, out: ndarray | None = None,
        keepdims: bool = False,
    ) -> ndarray:  # fmt: skip
        """Reduce a whole array to one number by one kernel: the "sum", "max" or "min"."""
        if axis is not None or keepdims:
            raise NotImplementedError("the stand-in reduces to one number, without axis, keepdims")
        function, times = getattr(np, name), of_the_gpu(a).size if name == "sum" else 1
        kind = function(np.ones(1, a.dtype)).dtype
        made = self.empty((), kind) if out is None else out
        can_hold(made, (), kind)
        self.run(
            name, lambda x: function(x) if x.ndim else repeated(x.astype(kind), times), [a], made,
            flops=a.size,
        )  # fmt: skip
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
        beta: float = 0.0, name: str = "",
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
        alpha, beta, k = np.asarray(alpha, a.dtype), np.asarray(beta, a.dtype), a.shape[-1]

        def compute(x: np.ndarray, y: np.ndarray, *old: np.ndarray) -> np.ndarray:
            made = self.multiplied(x, y) if x.ndim else repeated(_wide(x) * _wide(y), k)
            scaled = alpha * made.astype(a.dtype)
            return scaled + beta * old[0] if old else scaled

        name = name or _PRODUCTS[min(len(shape), 2)]
        self.blas(name, compute, [a, b, out] if beta else [a, b], out, flops=2 * out.size * k)
        return out

    def multiplied(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
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
            kernel, self.cuda.get_current_stream().ptr, flops=flops, dtype=dtype or out.dtype.name,
            reads=[a.span for a in arrays], writes=[out.span], library=library,
        )  # fmt: skip
        equal = all(a.constant for a in arrays)
        if not equal and max(a.nbytes for a in [*arrays, out]) > self.largest:
            out.store(UNKNOWN)
            return
        values = (a.one() if equal else a.values() for a in arrays)
        given = [next(values) if isinstance(x, ndarray) else x for x in operands]
        with np.errstate(all="ignore"):  # a GPU warns of nothing
            out.store(np.asarray(compute(*given)))

    def blas(self, name: str, compute: Any, operands: Any, out: ndarray, *, flops: float) -> None:
        """Launch a kernel of cuBLAS."""
        self.run(name, compute, operands, out, flops=flops, library="cublas")

    def wait(self) -> None:
        """A copy to the host waits for the current stream."""
        self.gpu.wait_stream(self.cuda.get_current_stream().ptr)


class Random(Namespace):
    """``cp.random``: uniform numbers in [0, 1); of a large array nobody knows them."""

    _called = "cp.random"

    def __init__(self, cp: StandIn) -> None:
        self._cp, self._rng = cp, np.random.default_rng(0)

    def rand(self, *size: int, dtype: DTypeLike = float) -> ndarray:
        made = self._cp.empty(size, dtype)
        known = made.nbytes <= self._cp.largest
        numbers = self._rng.random(size, made.dtype) if known else UNKNOWN
        self._cp.run("rand", lambda: numbers, [], made)
        return made


class Cublas(Namespace):
    """``cp.cublas``, of real CuPy a module that ``import cupy`` does not load."""

    _called = "cp.cublas"

    def __init__(self, cp: StandIn) -> None:
        self._cp = cp

    def axpy(self, a: float, x: ndarray, y: ndarray) -> None:
        """y += a·x."""
        _for_blas(x, y)
        can_hold(y, x.shape, x.dtype)
        a = np.asarray(a, y.dtype)
        self._cp.blas("axpy", lambda v, w: w + a * v, [x, y], y, flops=2 * x.size)

    def scal(self, a: float, x: ndarray) -> None:
        """x *= a."""
        _for_blas(x)
        a = np.asarray(a, x.dtype)
        self._cp.blas("scal", lambda v: v * a, [x], x, flops=x.size)

    def dot(self, x: ndarray, y: ndarray, out: ndarray | None = None) -> ndarray:
        """xᵀy, into ``out`` of one element if it is given."""
        _for_blas(x, y)
        total = self._cp.product(x, y, None if out is None else out.reshape(()))
        return total if out is None else out

    def ger(self, alpha: float, x: ndarray, y: ndarray, a: ndarray) -> None:
        """a += alpha·xyᵀ."""
        _for_blas(x, y, a)
        self._cp.product(x[:, None], y[None], a, alpha, 1.0, "ger")

    def gemv(
        self, transa: str | int, alpha: float, a: ndarray, x: ndarray, beta: float, y: ndarray
    ) -> None:
        """y = alpha·op(a)·x + beta·y."""
        _for_blas(a, x, y)
        self._cp.product(_turned(a, transa), x, y, alpha, beta)

    def gemm(
        self, transa: str | int, transb: str | int, a: ndarray, b: ndarray,
        out: ndarray | None = None, alpha: float = 1.0, beta: float = 0.0,
    ) -> ndarray:  # fmt: skip
        """out = alpha·op(a)·op(b) + beta·out."""
        _for_blas(a, b, *([] if out is None else [out]))
        return self._cp.product(_turned(a, transa), _turned(b, transb), out, alpha, beta)


class ElementwiseKernel(Namespace):
    """One assignment of + − * / and numbers, such as ``y += a * x``, run as one kernel."""

    _called = "ElementwiseKernel()"

    def __init__(
        self, cp: StandIn, in_params: str, out_params: str, operation: str, name: str = "kernel"
    ) -> None:
        self._cp, self.name = cp, name
        self._names = [part.split()[-1] for part in f"{in_params}, {out_params}".split(",")]
        parts = _ASSIGNMENT.fullmatch(operation)
        target, sign, right = parts.groups() if parts else ("", "", "0")
        tree = ast.parse(f"{target} {sign} ({right})" if sign else right.strip(), mode="eval")
        nodes = list(ast.walk(tree))
        used = {node.id for node in nodes if isinstance(node, ast.Name)}
        if target != self._names[-1] or not used <= {*self._names}:
            raise NotImplementedError(
                f"{operation!r}: of kernels this stand-in runs one assignment to the one output, "
                "of + - * / on the parameters and numbers; on a GPU it works"
            )
        self._reads_target, self._code = target in used, compile(tree, name, "eval")
        self._flops = sum(isinstance(node, ast.BinOp) for node in nodes)

    def __call__(self, *args: Any) -> ndarray:
        *inputs, out = args if len(args) == len(self._names) else (*args, None)
        of_the_gpu_or_numbers(*inputs)
        arrays = [a for a in inputs if isinstance(a, ndarray)]
        shape = np.broadcast_shapes(*(a.shape for a in arrays))
        out = self._cp.empty(shape, arrays[0].dtype) if out is None else out
        can_hold(out, shape, of_the_gpu(out).dtype)
        given = [a if isinstance(a, ndarray) else out.dtype.type(a) for a in inputs]
        self._cp.run(
            self.name, lambda *values: eval(self._code, {}, dict(zip(self._names, values))),
            [*given, out] if self._reads_target else given, out, flops=self._flops * out.size,
        )  # fmt: skip
        return out


def _for_blas(*arrays: ndarray) -> None:
    """Refuse what cuBLAS has no routine for, and what CuPy would have to copy first."""
    of_the_gpu(*arrays)
    names = sorted({array.dtype.name for array in arrays})
    if names not in (["float32"], ["float64"]):
        raise TypeError(f"invalid dtype {', '.join(names)}: cp.cublas takes float32 or float64")
    if not all(array.flags.forc for array in arrays):
        raise NotImplementedError("CuPy would copy an array that is not contiguous first")


def _turned(a: ndarray, trans: str | int) -> ndarray:
    if trans not in ("N", "T", "H", 0, 1, 2):  # H and 2: and conjugated
        raise TypeError(f"invalid trans (actual: {trans}); 'N', 'T' or 'H' is wanted")
    return a if trans in ("N", 0) else a.T


def _wide(one: np.ndarray) -> np.ndarray:
    return one.astype(np.int64 if one.dtype.kind in "biu" else float)


def repeated(one: np.ndarray, times: int) -> np.ndarray:
    """Return the sum of ``times`` times ``one``: a whole number wraps, as on a GPU."""
    return (_wide(one) * times).astype(one.dtype)

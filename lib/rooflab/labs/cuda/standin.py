"""A small CuPy on a simulated GPU: the same names, so that one program runs on both.

``StandIn(device)`` is used where ``import cupy as cp`` would be. Everything that reaches the GPU
is logged in ``cp.gpu.log``. Names follow CuPy 14's documentation (docs.cupy.dev).
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from types import ModuleType
from typing import NoReturn

import numpy as np
from numpy.typing import DTypeLike

from rooflab.labs.cuda.api import Cuda
from rooflab.labs.cuda.device import Device, SimulatedGpu, Span
from rooflab.labs.cuda.modules import Namespace

# Arrays of the stand-in: real values where they are small or constant, real addresses always.
#
# A freshly filled array is one number with a shape, so a gigabyte costs nothing here and the
# simulated GPU can be given the sizes of a real one. Everything computed from constants stays
# exact. A large array of random numbers repeats some of them.


LARGEST_REAL = 64 * 2**20  # bytes; beyond this only constant arrays are kept


class DeviceBuffer:
    """Device memory of ``size`` elements: pieces of one number each, or real values.

    With ``tile`` the values are those of it, over and over.
    """

    def __init__(
        self, gpu: SimulatedGpu, size: int, constant: np.generic, tile: np.ndarray | None = None
    ) -> None:
        self.number = gpu.new_buffer()
        self.size, self.dtype = size, constant.dtype
        self._pieces: list[tuple[int, int, np.generic]] = [(0, size, constant)]
        self._values: np.ndarray | None = None
        self._tile = tile

    def constant(self, start: int, size: int) -> bool:
        """Whether ``size`` elements from ``start`` on are known to be one number."""
        if self._values is not None or self._tile is not None:
            return size == 1
        return size <= 1 or any(a <= start and start + size <= b for a, b, _ in self._pieces)

    def read(self, start: int, size: int) -> np.ndarray:
        """Return ``size`` elements; a read-only view of one number where they are constant."""
        if self._values is not None:
            return self._values[start : start + size]
        if self._tile is not None:
            self._afford(size)
            return self._tile[np.arange(start, start + size) % self._tile.size]
        inside = [
            (min(b, start + size) - max(a, start), value)
            for a, b, value in self._pieces
            if a < start + size and start < b
        ]
        if len(inside) == 1:
            return np.broadcast_to(np.full(1, inside[0][1], self.dtype), (size,))
        self._afford(size)
        return np.concatenate([np.full(0, 0, self.dtype), *(np.full(n, v) for n, v in inside)])

    @property
    def tile(self) -> np.ndarray | None:
        """The numbers that this memory repeats, None if it is no repetition."""
        return self._tile

    def repeat(self, tile: np.ndarray) -> None:
        """Fill all of it with the numbers of ``tile``, over and over."""
        self._tile, self._values = tile.astype(self.dtype), None

    def reduced(self, name: str, start: int, size: int, dtype: np.dtype) -> np.generic:
        """Return the "sum", "max" or "min" of ``size`` elements from ``start`` on.

        A sum is added up in ``dtype``; a highest or lowest one stays as it is.
        """
        reduce = partial(np.sum, dtype=dtype) if name == "sum" else getattr(np, name)
        if self.constant(start, size):
            one = self.read(start, 1)
            return reduce(one) * size if name == "sum" else reduce(one)
        whole = self._tile is not None and (start, size) == (0, self.size)
        if not whole or self._tile.size > size:
            return reduce(self.read(start, size))
        times, rest = divmod(size, self._tile.size)
        if name == "sum":
            return times * reduce(self._tile) + reduce(self._tile[:rest])
        return reduce(self._tile)

    def write(self, start: int, values: np.ndarray, constant: bool) -> None:
        """Store ``values`` from ``start`` on; constant ones stay one number."""
        end = start + values.size
        if values.size == 0:
            return
        varied = self._values is not None or self._tile is not None
        if constant and (not varied or values.size == self.size):
            kept = [] if varied else self._pieces
            before = [(a, min(b, start), v) for a, b, v in kept if a < start]
            after = [(max(a, end), b, v) for a, b, v in kept if b > end]
            self._pieces = [*before, (start, end, values.flat[0]), *after]
            self._values = self._tile = None
            return
        if self._values is None:
            self._afford(self.size)
            self._values, self._tile = np.array(self.read(0, self.size)), None
        self._values[start:end] = values

    def _afford(self, size: int) -> None:
        if size * self.dtype.itemsize > LARGEST_REAL:
            raise MemoryError(
                "the stand-in keeps different values in arrays of at most "
                f"{LARGEST_REAL >> 20} MiB; larger ones hold one number"
            )


class MemoryPointer(Namespace):
    """``array.data``: the array's memory, which can be set byte by byte."""

    _called = "array.data"

    def __init__(self, array: ndarray) -> None:
        self._array = array

    def memset(self, value: int, size: int) -> None:
        """Set the first ``size`` bytes to ``value``."""
        self.memset_async(value, size)

    def memset_async(self, value: int, size: int, stream: object = None) -> None:
        """Set the first ``size`` bytes to ``value``, on ``stream`` or the current one."""
        array, cp = self._array, self._array._cp
        count, rest = divmod(size, array.itemsize)
        if rest or count > array.size:
            raise ValueError(f"size={size}: {array.nbytes} bytes, or whole elements of them")
        one = np.full(array.itemsize, value, np.uint8).view(array.dtype)
        target = ndarray(cp, array._buffer, array._start, (count,))
        with stream or cp.cuda.get_current_stream():
            cp.run("memset", target, [], lambda: one, True)


class ndarray(Namespace):
    """A contiguous array on the simulated GPU, or the transpose of one."""

    _called = "array"
    _inside = frozenset(("span", "constant", "values", "reduced", "repeats", "store"))

    def __init__(
        self,
        cp: StandIn,
        buffer: DeviceBuffer,
        start: int,
        shape: Sequence[int],
        flipped: bool = False,
    ) -> None:
        self._cp, self._buffer, self._start, self._flipped = cp, buffer, start, flipped
        self.shape = tuple(shape)

    dtype = property(lambda self: self._buffer.dtype)
    ndim = property(lambda self: len(self.shape))
    size = property(lambda self: int(np.prod(self.shape, dtype=np.int64)))
    itemsize = property(lambda self: self.dtype.itemsize)
    nbytes = property(lambda self: self.size * self.itemsize)

    @property
    def T(self) -> ndarray:
        if self.ndim < 2:
            return self
        return ndarray(self._cp, self._buffer, self._start, self.shape[::-1], not self._flipped)

    @property
    def span(self) -> Span:
        """The bytes that a kernel touches when it passes over the array."""
        return Span(self._buffer.number, self._start * self.itemsize, self.nbytes)

    @property
    def constant(self) -> bool:
        return self._buffer.constant(self._start, self.size)

    def values(self) -> np.ndarray:
        """Return the values as the device sees them, without waiting for it."""
        shape = self.shape[::-1] if self._flipped else self.shape
        found = self._buffer.read(self._start, self.size).reshape(shape)
        return found.T if self._flipped else found

    def repeats(self, source: ndarray) -> bool:
        """Take over the numbers that a large random ``source`` repeats; False if it is none."""
        tile, size = source._buffer.tile, self._buffer.size
        if tile is None or {source._buffer.size, source.size, self.size} != {size}:
            return False
        self._buffer.repeat(tile)
        return True

    def reduced(self, name: str, dtype: np.dtype) -> np.generic:
        """Return the "sum" (added up in ``dtype``), "max" or "min" of all values, as the device
        sees them."""
        return self._buffer.reduced(name, self._start, self.size, dtype)

    def store(self, values: np.ndarray, constant: bool) -> None:
        """Put the result of a kernel here."""
        if constant:
            flat = np.broadcast_to(values.flat[0], (self.size,))
        else:
            spread = np.broadcast_to(values, self.shape)
            flat = np.ascontiguousarray(spread.T if self._flipped else spread).reshape(-1)
        self._buffer.write(self._start, flat.astype(self.dtype, copy=False), constant)

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of unsized object")
        return self.shape[0]

    def __getitem__(self, index: object) -> ndarray:
        if index is Ellipsis or index == slice(None):
            return self
        if self._flipped or not self.shape or isinstance(index, (tuple, list, ndarray)):
            raise NotImplementedError(
                "the stand-in takes a[i] and a[i:j] along the first axis only"
            )
        inner = self.size // max(1, self.shape[0])
        if isinstance(index, slice):
            begin, end, step = index.indices(self.shape[0])
            if step != 1:
                raise NotImplementedError("the stand-in takes slices of step 1 only")
            shape = (max(0, end - begin), *self.shape[1:])
            return ndarray(self._cp, self._buffer, self._start + begin * inner, shape)
        place = range(self.shape[0])[operator.index(index)]
        return ndarray(self._cp, self._buffer, self._start + place * inner, self.shape[1:])

    def __setitem__(self, index: object, value: object) -> None:
        target = self[index]
        if value is not target:
            self._cp.copyto(target, value)

    def __iter__(self) -> Iterator[ndarray]:
        return (self[i] for i in range(len(self)))

    def reshape(self, *shape: int | Sequence[int]) -> ndarray:
        """Return the same memory with another shape."""
        wanted = shape[0] if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape
        if self._flipped:
            raise NotImplementedError("the stand-in does not reshape a transpose")
        new = np.broadcast_to(0, self.shape).reshape(wanted).shape
        return ndarray(self._cp, self._buffer, self._start, new)

    def ravel(self) -> ndarray:
        return self.reshape(-1)

    def fill(self, value: object) -> None:
        self._cp.run("fill", self, [], lambda: np.full(1, value, self.dtype), True)

    def copy(self) -> ndarray:
        return self._cp.array(self)

    __copy__ = copy

    def __deepcopy__(self, memo: object) -> ndarray:
        return self.copy()

    def astype(self, dtype: object, copy: bool = True) -> ndarray:
        if not copy and self.dtype == np.dtype(dtype):
            return self
        return self._cp.array(self, dtype=dtype)

    def sum(
        self, axis: None = None, dtype: object = None, out: ndarray | None = None,
        keepdims: bool = False,
    ) -> ndarray:  # fmt: skip
        return self._cp.sum(self, axis, dtype, out, keepdims)

    def max(self, axis: None = None, out: ndarray | None = None, keepdims: bool = False) -> ndarray:
        return self._cp.max(self, axis, out, keepdims)

    def min(self, axis: None = None, out: ndarray | None = None, keepdims: bool = False) -> ndarray:
        return self._cp.min(self, axis, out, keepdims)

    @property
    def data(self) -> MemoryPointer:
        return MemoryPointer(self)

    def dot(self, other: ndarray, out: ndarray | None = None) -> ndarray:
        return self._cp.dot(self, other, out=out)

    def get(self) -> np.ndarray:
        """Bring the values to the host: waits for the device, like CuPy."""
        if not self.constant or self.nbytes <= LARGEST_REAL:
            self._cp.wait_for_copy()
            return np.array(self.values())
        raise MemoryError(f"{self.nbytes} bytes: the stand-in copies at most {LARGEST_REAL} back")

    def item(self) -> object:
        if self.size != 1:
            raise ValueError("can only convert an array of size 1 to a Python scalar")
        return self.get().item()

    # NumPy's own functions on these arrays are the GPU's, as with CuPy.

    def __array_ufunc__(
        self,
        ufunc: np.ufunc,
        method: str,
        *inputs: object,
        out: tuple[object, ...] | None = None,
        **kwargs: object,
    ) -> object:
        if method != "__call__" or getattr(np, ufunc.__name__, None) is not ufunc:
            return NotImplemented
        where = {} if out is None else {"out": out[0]}
        return getattr(self._cp, ufunc.__name__)(*inputs, **where, **kwargs)

    def __array_function__(
        self,
        func: Callable[..., object],
        types: object,
        args: Sequence[object],
        kwargs: dict[str, object],
    ) -> object:
        if getattr(np, func.__name__, None) is not func:
            return NotImplemented
        return getattr(self._cp, func.__name__)(*args, **kwargs)

    def __array__(self, *args: object, **kwargs: object) -> NoReturn:
        raise TypeError(
            "Implicit conversion to a NumPy array is not allowed. "
            "Please use `.get()` to construct a NumPy array explicitly."
        )

    __float__ = lambda self: float(self.item())  # noqa: E731
    __int__ = lambda self: int(self.item())  # noqa: E731
    __bool__ = lambda self: bool(self.item())  # noqa: E731

    def __repr__(self) -> str:
        shape = "×".join(map(str, self.shape)) or "0-d"
        return f"<array {shape} {self.dtype} on the stand-in>"

    def __matmul__(self, other: ndarray) -> ndarray:
        return self._cp.matmul(self, other)

    def __imatmul__(self, other: object) -> NoReturn:
        raise TypeError("use cp.matmul(a, b, out=c)")


def of_the_gpu(*operands: object) -> None:
    """Raise CuPy's TypeError unless all operands are arrays of the stand-in."""
    for operand in operands:
        if not isinstance(operand, ndarray):
            raise TypeError(f"Unsupported type {type(operand)}; an array on the GPU is wanted")


Operator = Callable[[ndarray, "ndarray | float"], ndarray]


def _binary(name: str) -> Operator:
    return lambda self, other: getattr(self._cp, name)(self, other)


def _reflected(name: str) -> Operator:
    return lambda self, other: getattr(self._cp, name)(other, self)


def _in_place(name: str) -> Operator:
    return lambda self, other: getattr(self._cp, name)(self, other, out=self)


def _give_operators(**ufuncs: str) -> None:
    """Let ``ndarray`` compute x + y, 2 + y and x += y, each by the ufunc that CuPy uses."""
    for sign, name in ufuncs.items():
        setattr(ndarray, f"__{sign}__", _binary(name))
        setattr(ndarray, f"__r{sign}__", _reflected(name))
        setattr(ndarray, f"__i{sign}__", _in_place(name))


_give_operators(add="add", sub="subtract", mul="multiply", truediv="divide")

# ``cp.cublas`` of the stand-in, and the one product that all of it and ``cp.matmul`` run on.


Transposed = str | int  # "T", "t" or 1, as cuBLAS and CuPy take it; anything else: as it is


class Cublas(Namespace):
    """``cp.cublas``: axpy, scal, dot, gemv, gemm with CuPy's argument order.

    Of real CuPy this is a module that ``import cupy`` does not load.
    """

    _called = "cp.cublas"
    _inside = frozenset(("product",))

    def __init__(self, cp: StandIn) -> None:
        self._cp = cp

    def axpy(self, a: float, x: ndarray, y: ndarray) -> None:
        """y += a·x."""
        of_the_gpu(x, y)
        if x.ndim != 1 or x.shape != y.shape or x.dtype != y.dtype:
            raise TypeError(
                f"x {x.shape} {x.dtype} and y {y.shape} {y.dtype} must be alike vectors"
            )
        constant = x.constant and y.constant
        self._blas(
            "axpy", y, [x, y], lambda: _few(y, constant) + y.dtype.type(a) * _few(x, constant),
            constant, 2 * x.size,
        )  # fmt: skip

    def scal(self, a: float, x: ndarray) -> None:
        """x *= a."""
        of_the_gpu(x)
        self._blas(
            "scal", x, [x], lambda: _few(x, x.constant) * x.dtype.type(a), x.constant, x.size
        )

    def dot(self, x: ndarray, y: ndarray, out: ndarray | None = None) -> ndarray:
        """xᵀy."""
        return self.product(x, y, out)

    def gemv(
        self, transa: Transposed, alpha: float, a: ndarray, x: ndarray, beta: float, y: ndarray
    ) -> None:
        """y = alpha·op(a)·x + beta·y."""
        of_the_gpu(a, x, y)
        self.product(_turned(a, transa), x, y, alpha, beta)

    def gemm(
        self,
        transa: Transposed,
        transb: Transposed,
        a: ndarray,
        b: ndarray,
        out: ndarray | None = None,
        alpha: float = 1.0,
        beta: float = 0.0,
    ) -> ndarray:
        """out = alpha·op(a)·op(b) + beta·out."""
        of_the_gpu(a, b)
        return self.product(_turned(a, transa), _turned(b, transb), out, alpha, beta)

    def product(
        self,
        a: ndarray,
        b: ndarray,
        out: ndarray | None = None,
        alpha: float = 1.0,
        beta: float = 0.0,
    ) -> ndarray:
        """alpha·a@b + beta·out by one library kernel; a new array without ``out``."""
        of_the_gpu(a, b)
        if a.dtype != b.dtype or a.ndim > 2 or b.ndim > 2:
            raise NotImplementedError("the stand-in multiplies vectors and matrices of one dtype")
        probe = np.broadcast_to(np.ones(1, a.dtype), a.shape) if a.ndim else None
        if probe is None or not b.ndim or a.shape[-1] != b.shape[0]:
            raise ValueError(f"shapes {a.shape} and {b.shape} do not fit a product")
        shape = a.shape[:-1] + b.shape[1:]
        if out is None:
            out, beta = self._cp.empty(shape, a.dtype), 0.0
        if out.shape != shape:
            raise ValueError(f"out has shape {out.shape}; {shape} is wanted")
        k, constant = a.shape[-1], a.constant and b.constant and (beta == 0 or out.constant)
        inputs = [a, b] if beta == 0 else [a, b, out]

        def compute() -> np.ndarray:
            many = _few(a, True) * _few(b, True) * k if constant else a.values() @ b.values()
            old = 0 if beta == 0 else out.dtype.type(beta) * _few(out, constant)
            return np.asarray(out.dtype.type(alpha) * many + old, dtype=out.dtype).reshape(
                -1 if constant else shape
            )

        name = {2: "gemm", 1: "gemv", 0: "dot"}[len(shape)]
        self._blas(name, out, inputs, compute, constant, 2 * out.size * k)
        return out

    def _blas(
        self,
        name: str,
        out: ndarray,
        inputs: Sequence[ndarray],
        compute: Callable[[], np.ndarray],
        constant: bool,
        flops: float,
    ) -> None:
        self._cp.run(name, out, inputs, compute, constant, flops=flops, library="cublas")


def _turned(a: ndarray, transposed: Transposed) -> ndarray:
    return a.T if transposed in ("T", "t", 1) else a


def _few(array: ndarray, constant: bool) -> np.ndarray:
    """The values, or just one of them when all are equal."""
    return array.values().reshape(-1)[:1] if constant else array.values()


# ``cp.ElementwiseKernel`` of the stand-in, for operations made of + − * / on its parameters.


_SIGNS = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
}  # fmt: skip


class ElementwiseKernel:
    """One assignment such as ``y = a * x + y`` or ``y += a * x``, run as one kernel."""

    def __init__(
        self, cp: StandIn, in_params: str, out_params: str, operation: str, name: str
    ) -> None:
        self._cp, self.name = cp, name
        self._inputs, self._outputs = _names(in_params), _names(out_params)
        self._target, self._expression = _parse(operation)
        if self._outputs != [self._target]:
            raise NotImplementedError("the stand-in takes one output and one assignment to it")
        used = {n.id for n in ast.walk(self._expression) if isinstance(n, ast.Name)}
        unknown = used - {*self._inputs, self._target}
        if unknown:
            raise ValueError(f"{operation!r} uses {', '.join(sorted(unknown))}, not a parameter")
        self._reads_target = self._target in used
        self._flops = sum(isinstance(n, ast.BinOp) for n in ast.walk(self._expression))

    def __call__(self, *args: object) -> ndarray:
        given = dict(zip([*self._inputs, self._target], args, strict=False))
        arrays = [v for n, v in given.items() if isinstance(v, ndarray) and n != self._target]
        out = given.get(self._target)
        if out is None:
            out = self._cp.empty_like(arrays[0])
            given[self._target] = out
        reads = arrays + ([out] if self._reads_target else [])
        constant = all(a.constant for a in reads)

        def compute() -> np.ndarray:
            values = {
                n: v.values().reshape(-1)[:1] if constant and isinstance(v, ndarray)
                else v.values() if isinstance(v, ndarray) else out.dtype.type(v)
                for n, v in given.items()
            }  # fmt: skip
            return np.asarray(_evaluate(self._expression, values), dtype=out.dtype)

        self._cp.run(self.name, out, reads, compute, constant, flops=self._flops * out.size)
        return out


def _names(params: str) -> list[str]:
    """Names from "float32 a, raw T x": the last word of each."""
    return [part.split()[-1] for part in params.split(",") if part.strip()]


def _parse(operation: str) -> tuple[str, ast.expr]:
    try:
        body = ast.parse(operation.strip().rstrip(";")).body
    except SyntaxError:
        body = []
    if (
        len(body) == 1
        and isinstance(body[0], ast.Assign)
        and isinstance(body[0].targets[0], ast.Name)
    ):
        target, expression = body[0].targets[0].id, body[0].value
    elif (
        len(body) == 1
        and isinstance(body[0], ast.AugAssign)
        and isinstance(body[0].target, ast.Name)
    ):
        target = body[0].target.id
        expression = ast.BinOp(ast.Name(target), body[0].op, body[0].value)
    else:
        raise NotImplementedError(
            f"the stand-in cannot run {operation!r}; one assignment is wanted"
        )
    allowed = (ast.BinOp, ast.Name, ast.Constant, ast.Load, ast.UnaryOp, ast.USub, *_SIGNS)
    if not all(isinstance(node, allowed) for node in ast.walk(expression)):
        raise NotImplementedError(f"the stand-in knows + - * / only, not all of {operation!r}")
    return target, expression


def _evaluate(node: ast.expr, values: dict[str, object]) -> object:
    if isinstance(node, ast.BinOp):
        return _SIGNS[type(node.op)](_evaluate(node.left, values), _evaluate(node.right, values))
    if isinstance(node, ast.UnaryOp):
        return -_evaluate(node.operand, values)
    return values[node.id] if isinstance(node, ast.Name) else node.value


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
        return ndarray(self, DeviceBuffer(self.gpu, size, kind.type(fill_value)), 0, sizes)

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
        made = ndarray(
            cp, DeviceBuffer(cp.gpu, count, kind.type(0), values if large else None), 0, sizes
        )
        if large:
            cp._launch("random", made, [])
        else:
            cp.run("random", made, [], lambda: values.reshape(sizes), False)
        return made

    random_sample = random

    def rand(self, *sizes: int) -> ndarray:
        """Return fp64 numbers; the sizes are separate arguments, as NumPy's rand takes them."""
        return self.random(sizes or None)

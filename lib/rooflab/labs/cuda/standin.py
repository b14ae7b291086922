"""A small CuPy on a simulated GPU: the same names, so that one program runs on both.

``StandIn(device)`` is used where ``import cupy as cp`` would be. Everything that reaches the GPU
is logged in ``cp.gpu.log``. Names follow CuPy 14's documentation (docs.cupy.dev).
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import ModuleType

import numpy as np
from numpy.typing import DTypeLike

from rooflab.labs.cuda.api import Cublas, Cuda
from rooflab.labs.cuda.arrays import (
    LARGEST_REAL,
    DeviceBuffer,
    can_hold,
    few,
    ndarray,
    of_the_gpu,
    of_the_gpu_or_numbers,
)
from rooflab.labs.cuda.device import Device, SimulatedGpu
from rooflab.labs.cuda.modules import Namespace

# ``cp.ElementwiseKernel`` of the stand-in, for operations made of + − * / on its parameters, of
# numbers and of C++'s casts float(x), double(x) and int(x).


_SIGNS = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
}  # fmt: skip
_CASTS = {"float": np.float32, "double": np.float64, "int": np.int32}
_FLOAT = re.compile(  # 2.0f, a float of C; without the f it is a double
    r"(?<![\w.])((?:\d+\.\d*|\.\d+)(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+)[fF]\b"
)


@dataclass(frozen=True)
class _Parameter:
    """One of a kernel's parameters; its ``dtype`` is None where it has a letter for a type."""

    kind: str
    name: str
    dtype: np.dtype | None

    @classmethod
    def listed(cls, text: str) -> list[_Parameter]:
        """Read "T x, float64 y"."""
        return [cls._of(part.split()) for part in text.split(",") if part.strip()]

    @classmethod
    def _of(cls, words: list[str]) -> _Parameter:
        if len(words) != 2:
            raise NotImplementedError(
                f"the stand-in takes parameters such as T x, not {' '.join(words)!r}; real CuPy "
                "may have more"
            )
        kind, name = words
        if name == "i":
            raise ValueError("Can not use 'i' as a parameter name")
        return cls(kind, name, None if len(kind) == 1 else np.dtype(kind))


class ElementwiseKernel:
    """One assignment such as ``y = a * x + y`` or ``y += a * x``, run as one kernel."""

    def __init__(
        self, cp: StandIn, in_params: str, out_params: str, operation: str, name: str
    ) -> None:
        self._cp, self.name = cp, name
        self._inputs, self._outputs = map(_Parameter.listed, (in_params, out_params))
        self._target, self._expression = _parse(operation)
        if [out.name for out in self._outputs] != [self._target]:
            raise NotImplementedError("the stand-in takes one output and one assignment to it")
        nodes = list(ast.walk(self._expression))
        casts = [n.func for n in nodes if isinstance(n, ast.Call)]
        used = {n.id for n in nodes if isinstance(n, ast.Name) and n not in casts}
        unknown = used - {*(p.name for p in self._inputs), self._target}
        if unknown:
            raise ValueError(f"{operation!r} uses {', '.join(sorted(unknown))}, not a parameter")
        self._reads_target = self._target in used
        self._flops = sum(isinstance(n, ast.BinOp) for n in nodes)

    def __call__(self, *args: object) -> ndarray:
        many = len(self._inputs)
        if len(args) not in (many, many + 1):
            raise TypeError(
                f"Wrong number of arguments for {self.name!r}. It must be either {many} or "
                f"{many + 1} (with outputs), but given {len(args)}."
            )
        of_the_gpu_or_numbers(*args[:many])
        of_the_gpu(*args[many:])
        shape = np.broadcast_shapes(*(a.shape for a in args if isinstance(a, ndarray)))
        kinds = self._types(args)
        out = args[many] if args[many:] else self._cp.empty(shape, kinds[-1])
        can_hold(out, shape, kinds[-1])
        arrays = [a for a in args[:many] if isinstance(a, ndarray)]
        reads = arrays + ([out] if self._reads_target else [])
        constant = all(a.constant for a in reads)
        names = [p.name for p in (*self._inputs, *self._outputs)]

        def compute() -> np.ndarray:
            values = {
                name: few(value, constant) if isinstance(value, ndarray) else kind.type(value)
                for name, value, kind in zip(names, (*args[:many], out), kinds, strict=True)
            }
            return np.asarray(_evaluate(self._expression, values)).astype(out.dtype)

        self._cp.run(self.name, out, reads, compute, constant, flops=self._flops * out.size)
        return out

    def _types(self, args: Sequence[object]) -> list[np.dtype]:
        """The types of all parameters: arrays say what a letter stands for, the output first."""
        parameters, letters = [*self._inputs, *self._outputs], {}
        given = [(p, a) for p, a in zip(parameters, args, strict=False) if isinstance(a, ndarray)]
        if not given:
            raise ValueError("Loop size is undecided: one argument at least must be an array")
        for p, array in sorted(given, key=lambda pair: pair[0] not in self._outputs):
            wanted = p.dtype or letters.setdefault(p.kind, array.dtype)
            if array.dtype != wanted:
                raise TypeError(f"Type is mismatched. {p.name} {array.dtype} {wanted} {p.kind}")
        for p in parameters:
            if p.dtype is None and p.kind not in letters:
                raise TypeError(f"{p.kind} {p.name}: no array says what {p.kind} stands for")
        return [p.dtype or letters[p.kind] for p in parameters]


def _parse(operation: str) -> tuple[str, ast.expr]:
    try:
        body = ast.parse(_FLOAT.sub(r"float(\1)", operation).strip().rstrip(";")).body
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
    if not all(map(_known, ast.walk(expression))):
        raise NotImplementedError(f"the stand-in knows + - * / only, not all of {operation!r}")
    return target, expression


def _known(node: ast.AST) -> bool:
    if isinstance(node, ast.Constant):
        return type(node.value) in (int, float)
    if isinstance(node, ast.Call):
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        return name in _CASTS and len(node.args) == 1 and not node.keywords
    allowed = (ast.BinOp, ast.Name, ast.Load, ast.UnaryOp, ast.USub, *_SIGNS)
    return isinstance(node, allowed)


def _evaluate(node: ast.expr, values: dict[str, np.ndarray]) -> np.ndarray:
    """The value of an expression, computed in the types in which C computes it."""
    if isinstance(node, ast.Name):
        return values[node.id]
    if isinstance(node, ast.Constant):
        wide = isinstance(node.value, float) or node.value >= 1 << 31
        return np.asarray(node.value, None if wide else np.int32)
    if isinstance(node, ast.Call):
        return _evaluate(node.args[0], values).astype(_CASTS[node.func.id])
    if isinstance(node, ast.UnaryOp):
        one = _evaluate(node.operand, values)
        return -one.astype(_c_type(one.dtype))
    sides = [_evaluate(side, values) for side in (node.left, node.right)]
    kind = _c_type(*(side.dtype for side in sides))
    left, right = (side.astype(kind) for side in sides)
    if isinstance(node.op, ast.Div) and kind.kind != "f":
        return (left - np.fmod(left, right)) // right  # C cuts off, Python would round down
    return _SIGNS[type(node.op)](left, right)


def _c_type(*kinds: np.dtype) -> np.dtype:
    """The type in which C computes with these: the widest floating one, if any, of at least 32
    bits; else the widest of whole numbers, unsigned if one of that width is, and at least int."""
    if floats := [kind for kind in kinds if kind.kind == "f"]:
        return np.result_type(np.float32, *floats)
    width = max(4, *(kind.itemsize for kind in kinds))
    unsigned = any(kind.kind == "u" and kind.itemsize == width for kind in kinds)
    return np.dtype(f"{'u' if unsigned else 'i'}{width}")


_DTYPES = (
    "float16", "float32", "float64", "int8", "int16", "int32", "int64",
    "uint8", "uint16", "uint32", "uint64", "dtype", "inf", "nan", "pi",
)  # fmt: skip
_TILE = 1 << 20  # random numbers after which a large array repeats
Shape = int | Sequence[int]
Operand = ndarray | float


class StandIn(Namespace):
    """The part of CuPy that timing AXPY, GEMV and GEMM needs; the rest is an AttributeError."""

    _inside = frozenset(("assign", "gpu", "run", "ufunc", "wait_for_copy"))
    ndarray = ndarray
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

    def empty_like(self, prototype: ndarray, dtype: DTypeLike = None) -> ndarray:
        return self.empty(prototype.shape, dtype or prototype.dtype)

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
            self.assign(made, obj)
            return made
        values = np.asarray(obj, dtype=dtype)
        made = self.empty(values.shape, values.dtype)
        made.store(values, values.size == 1)
        return made

    def asarray(self, a: object, dtype: DTypeLike = None, order: str | None = None) -> ndarray:
        same = isinstance(a, ndarray) and dtype in (None, a.dtype)
        return a if same else self.array(a, dtype)

    def ascontiguousarray(self, a: object, dtype: DTypeLike = None) -> ndarray:
        return self.asarray(a, dtype)

    def asnumpy(self, a: object) -> np.ndarray:
        return a.get() if isinstance(a, ndarray) else np.asarray(a)

    def copyto(self, dst: ndarray, src: object) -> None:
        of_the_gpu(dst)
        src = src.item() if isinstance(src, np.ndarray) and src.size == 1 else src
        of_the_gpu_or_numbers(src)
        given = np.zeros((), src.dtype) if isinstance(src, ndarray) else src
        np.copyto(np.empty((), dst.dtype), given, casting="same_kind")  # refuses as CuPy does
        self.assign(dst, src)

    def assign(self, dst: ndarray, src: object) -> None:
        """Put ``src``, an array or a number, into all of ``dst``, whatever their types."""
        of_the_gpu_or_numbers(src)
        if not isinstance(src, ndarray):
            dst.fill(src)
            return
        shape = src.shape[max(0, src.ndim - dst.ndim) :]  # without axes of length 1 in front
        if src.size != np.prod(shape) or any(
            n not in (1, wanted) for n, wanted in zip(shape[::-1], dst.shape[::-1], strict=False)
        ):
            raise ValueError(
                f"could not broadcast input array from shape {src.shape} into shape {dst.shape}"
            )
        if dst.repeats(src):
            self._launch("copy", dst, [src])
        else:
            self.run("copy", dst, [src], lambda: src.values().reshape(shape), src.constant)

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
        of_the_gpu_or_numbers(x1, x2)
        arrays = [x for x in (x1, x2) if isinstance(x, ndarray)]
        small = [np.ones(1, x.dtype) if isinstance(x, ndarray) else x for x in (x1, x2)]
        shape = np.broadcast_shapes(*(a.shape for a in arrays))
        dtype = getattr(np, name)(*small).dtype
        made = self.empty(shape, dtype) if out is None else out
        can_hold(made, shape, dtype)
        constant = all(a.constant for a in arrays)

        def compute() -> np.ndarray:
            values = [
                (x.values().flat[:1] if constant else x.values()) if isinstance(x, ndarray) else x
                for x in (x1, x2)
            ]
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
        kind = np.dtype(dtype or getattr(np, name)(np.ones(1, a.dtype)).dtype)
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
        """Launch one kernel on the current stream: reads ``inputs``, writes ``out``.

        Nothing is launched for a result without elements.
        """
        if not isinstance(out, ndarray):
            raise TypeError(f"out={type(out).__name__} must be an array on the GPU")
        if out.size == 0:
            return
        self._launch(kernel, out, inputs, flops=flops, library=library)
        with np.errstate(all="ignore"):  # a GPU warns of nothing
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

    def rand(self, *size: int, **kwarg: DTypeLike) -> ndarray:
        """Return fp64 numbers, or those of ``dtype``; the sizes are separate arguments."""
        dtype = kwarg.pop("dtype", float)
        if kwarg:
            raise TypeError(f"rand() got unexpected keyword arguments {', '.join(kwarg)}")
        return self.random(size or None, dtype)

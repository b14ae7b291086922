"""Six chains of operations: each once, as NumPy statements, from which all else follows.

A chain runs in three ways. "temporaries": step by step, each result in a new array. "buffers": the
same calls with ``out=``, in arrays that are there already. "fused": one loop, in which no
intermediate result leaves the core. The ledgers of all three are ``rl.chain`` of the same steps.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np

from rooflab.count import DType, Operand, Operation, chain, dtype
from rooflab.count.dtypes import DTypeLike
from rooflab.count.validation import size, unknown
from rooflab.measure.timing import Call
from rooflab.optional import installed

WAYS = ("temporaries", "buffers", "fused")
DTYPES = {"fp32": np.dtype("float32"), "fp64": np.dtype("float64")}
ACROSS = "axis=1, keepdims=True"
#: Shapes of a chain's arrays by kind, from the rows and columns of its input.
SHAPES: Mapping[str, Callable[[int, int], tuple[int, ...]]] = MappingProxyType({
    "whole": lambda rows, columns: (rows, columns),
    "row": lambda rows, columns: (columns,),
    "column": lambda rows, columns: (rows, 1),
    "half": lambda rows, columns: (rows // 2, columns),
    "quarter": lambda rows, columns: (rows // 2, columns // 2),
})  # fmt: skip


@dataclass(frozen=True)
class Step:
    """One NumPy call: ``target`` = ``statement``, or the same with ``out=buffer``.

    ``function`` names what is computed of each element; a step across rows begins with "row".
    """

    target: str
    function: str
    statement: str
    buffer: str

    def reads(self, arrays: Sequence[str]) -> list[str]:
        """Return the arrays that the statement reads, each once."""
        words = re.findall(r"\b[a-z]+\b", self.statement)
        return list(dict.fromkeys(word for word in words if word in arrays))


@dataclass(frozen=True)
class Chain:
    """Steps from the inputs ``x`` (and a row of weights) to ``y``.

    Attributes
    ----------
    name, title : str
        What it is called in code and in words.
    inputs : tuple of str
        Its arrays in the order in which ``run`` takes them.
    steps : tuple of Step
        Its NumPy calls.
    kinds : Mapping
        Kind of shape of each array that is not as large as x: "row", "column", "half", "quarter".
    low, high : float
        Where the numbers lie that :meth:`example` draws.

    Examples
    --------
    >>> chain = rl.fusion.chains()["sin_sqrt"]
    >>> [chain.ledger(1000, 1000, way=way).bytes for way in ("temporaries", "fused")]
    [16000000, 8000000]
    >>> print(chain.source("buffers"))
    def sin_sqrt(x, y):
        np.sin(x, out=y)
        np.sqrt(y, out=y)
        return y
    """

    name: str
    title: str
    steps: tuple[Step, ...]
    inputs: tuple[str, ...] = ("x",)
    kinds: Mapping[str, str] = field(default_factory=dict)
    low: float = -1.0
    high: float = 1.0

    @property
    def arrays(self) -> tuple[str, ...]:
        """Names of the inputs and of what the steps make."""
        return (*self.inputs, *(step.target for step in self.steps))

    def shape(self, array: str, rows: int, columns: int) -> tuple[int, ...]:
        """Return the shape of one of its arrays where x has ``rows`` and ``columns``."""
        rows, columns = self._sizes(rows, columns)
        return SHAPES[self.kinds.get(array, "whole")](rows, columns)

    def operations(
        self, rows: int, columns: int, kind: DTypeLike = "fp32", *, way: str = "temporaries"
    ) -> tuple[Operation, ...]:
        """Return the operations that run one after the other: one a step, or the fused one."""
        if (way := _way(way)) == "fused":
            return (self.ledger(rows, columns, kind, way=way),)
        number = _format(kind)
        return tuple(
            self._operation(step, rows, columns, number, way == "buffers") for step in self.steps
        )

    def ledger(
        self, rows: int, columns: int, kind: DTypeLike = "fp32", *, way: str = "temporaries"
    ) -> Operation:
        """Return the whole chain as one Operation; fused, intermediate results are dropped.

        Every array counts once a step. A row that a fused loop passes over several times stays in
        a cache, which counts as one read.
        """
        fused = _way(way) == "fused"
        steps = self.operations(rows, columns, kind, way="temporaries" if fused else way)
        return chain(*steps, fused=fused)

    def source(self, way: str = "temporaries") -> str:
        """Return the NumPy program of a way, as it runs; the fused loop is numba's."""
        if (way := _way(way)) == "fused":
            import inspect

            return inspect.getsource(_kernel(self.name).py_func)
        lines = [f"def {self.name}({', '.join((*self.inputs, *self.buffers(way)))}):"]
        buffer: dict[str, str] = {}
        for step in self.steps:
            call = re.sub(r"\b[a-z]+\b", lambda w: buffer.get(w[0], w[0]), step.statement)
            buffer[step.target] = step.buffer
            new = way == "temporaries"  # an array that is not needed any more is freed at once
            lines.append(
                f"{step.buffer} = {call}" if new else f"{call[:-1]}, out={step.buffer})"
            )
        return "\n    ".join([*lines, "return y"])

    def buffers(self, way: str) -> tuple[str, ...]:
        """Return the arrays that have to be there before a way begins, y first."""
        names = {"temporaries": (), "fused": ("y",)}.get(way, [s.buffer for s in self.steps])
        return tuple(sorted(set(names), key=lambda name: (name != "y", name)))

    def example(
        self, rows: int, columns: int, kind: DTypeLike = "fp32"
    ) -> tuple[np.ndarray, ...]:
        """Return inputs of ordinary size: x, and a row of weights where there is one."""
        random, real = np.random.default_rng(10), _numpy(kind)
        arrays = []
        for name in self.inputs:
            shape = self.shape(name, rows, columns)
            some = random.uniform(self.low, self.high, min(1 << 20, math.prod(shape)))
            arrays.append(np.resize(some.astype(real), shape))
        return tuple(arrays)

    def bind(self, way: str, inputs: Sequence[Any], xp: Any = np) -> Call:
        """Return a call without arguments that computes y of ``inputs``, buffers made already.

        ``xp``: NumPy, or CuPy, which has no fused way here.
        """
        arrays = self._checked(inputs, xp)
        rows, columns = arrays[0].shape
        buffers = []
        for name in self.buffers(_way(way)):
            buffers.append(xp.empty(self.shape(name, rows, columns), arrays[0].dtype))
            buffers[-1].fill(0)  # its pages are there before anything is timed
        function = self._function(way, xp)
        if way == "fused":
            return lambda: function(*arrays, *buffers) or buffers[0]
        return functools.partial(function, *arrays, *buffers)

    def run(self, way: str, *inputs: Any, xp: Any = np) -> Any:
        """Return y of the ``inputs``: x, two-dimensional, fp32 or fp64, and a row of weights."""
        with np.errstate(all="ignore"):
            return self.bind(way, inputs, xp)()

    def _function(self, way: str, xp: Any) -> Callable[..., Any]:
        if way == "fused":
            if xp is not np:
                raise ValueError("xp: the fused way is numba's, which runs on the CPU only")
            return _kernel(self.name)
        names: dict[str, Any] = {"np": xp}
        exec(compile(self.source(way), f"<{self.name}, {way}>", "exec"), names)
        function: Callable[..., Any] = names[self.name]
        return function

    def _checked(self, inputs: Sequence[Any], xp: Any) -> tuple[Any, ...]:
        if len(inputs) != len(self.inputs):
            wanted = ", ".join(self.inputs)
            raise TypeError(f"inputs: {self.name} takes {wanted}, not {len(inputs)} arrays")
        for name, array in zip(self.inputs, inputs):
            if not isinstance(array, xp.ndarray) or array.dtype not in DTYPES.values():
                found = getattr(array, "dtype", type(array).__name__)
                raise TypeError(f"{name} is {found}; it must be an array of float32 or float64")
            if array.dtype != inputs[0].dtype:
                raise TypeError(f"{name} is {array.dtype}; it must be {inputs[0].dtype}, as x is")
        x = inputs[0]
        if x.ndim != 2 or not x.size or not x.flags.c_contiguous:
            raise ValueError(
                f"x of shape {x.shape} must have two dimensions, one element at least, and lie by "
                "rows"
            )
        for name, array in zip(self.inputs[1:], inputs[1:]):
            if array.shape != (wanted := self.shape(name, *x.shape)):
                raise ValueError(f"{name} has shape {array.shape}; x of {x.shape} needs {wanted}")
        self._sizes(*x.shape)
        return tuple(inputs)

    def _sizes(self, rows: object, columns: object) -> tuple[int, int]:
        rows, columns = size("rows", rows), size("columns", columns)
        if "quarter" in self.kinds.values() and (rows % 2 or columns % 2):
            raise ValueError(f"rows={rows}, columns={columns}: windows of 2 × 2 need even numbers")
        return rows, columns

    def flops(self, step: Step, rows: int, columns: int) -> int:
        """Return the FLOPs of a step: one an element of what it makes, or of the rows it sums."""
        across = step.function.startswith("row ")
        array = step.reads(self.arrays)[0] if across else step.target
        return math.prod(self.shape(array, rows, columns))

    def _operation(
        self, step: Step, rows: int, columns: int, kind: DType, buffered: bool
    ) -> Operation:
        name = {s.target: s.buffer for s in self.steps} if buffered else {}
        reads = step.reads(self.arrays)
        read = [name.get(array, array) for array in reads]
        written = name.get(step.target, step.target)
        operands = tuple(
            Operand(
                array, self.shape(array, rows, columns), kind, reads=read.count(array),
                writes=int(array == written),
            )
            for array in dict.fromkeys([*read, written])
        )  # fmt: skip
        flops = self.flops(step, rows, columns)
        return Operation(step.function, {"m": rows, "n": columns}, operands, flops, kind)


def _way(way: object) -> str:
    if way not in WAYS:
        raise unknown("way", way, WAYS)
    return str(way)


def _format(kind: DTypeLike) -> DType:
    if (number := dtype(kind)).name not in DTYPES:
        raise unknown("kind", number.name, DTYPES)
    return number


def _numpy(kind: DTypeLike) -> np.dtype[Any]:
    return DTYPES[_format(kind).name]


def _kernel(name: str) -> Any:
    with installed(f"rooflab.fusion: the fused way of {name}"):
        from rooflab.labs.fusion import kernels

    return getattr(kernels, name)


_CHAINS = {one.name: one for one in (
    Chain("sin_sqrt", "sin, then sqrt", (
        Step("s", "sin", "np.sin(x)", "y"),
        Step("y", "sqrt", "np.sqrt(s)", "y"),
    ), low=0.0, high=3.14),
    Chain("l2_norm", "L2 norm of rows", (
        Step("q", "square", "np.square(x)", "y"),
        Step("s", "row sum", f"np.sum(q, {ACROSS})", "s"),
        Step("t", "add", "np.add(s, 1e-12)", "s"),
        Step("r", "sqrt", "np.sqrt(t)", "s"),
        Step("y", "div", "np.divide(x, r)", "y"),
    ), kinds=dict.fromkeys("str", "column")),
    Chain("softmax", "softmax of rows", (
        Step("m", "row max", f"np.max(x, {ACROSS})", "m"),
        Step("d", "sub", "np.subtract(x, m)", "y"),
        Step("e", "exp", "np.exp(d)", "y"),
        Step("s", "row sum", f"np.sum(e, {ACROSS})", "m"),
        Step("y", "div", "np.divide(e, s)", "y"),
    ), kinds=dict.fromkeys("ms", "column"), low=-8.0, high=8.0),
    Chain("rms_norm", "RMSNorm", (
        Step("q", "square", "np.square(x)", "y"),
        Step("s", "row sum", f"np.mean(q, {ACROSS})", "s"),
        Step("t", "add", "np.add(s, 1e-6)", "s"),
        Step("r", "sqrt", "np.sqrt(t)", "s"),
        Step("z", "div", "np.divide(x, r)", "y"),
        Step("y", "mul", "np.multiply(z, w)", "y"),
    ), inputs=("x", "w"), kinds=dict.fromkeys("str", "column") | {"w": "row"}),
    Chain("bias_gelu", "bias and GELU", (
        Step("u", "add", "np.add(x, b)", "u"),
        Step("q", "square", "np.square(u)", "y"),
        Step("k", "mul", "np.multiply(q, u)", "y"),
        Step("a", "mul", "np.multiply(k, 0.044715)", "y"),
        Step("i", "add", "np.add(a, u)", "y"),
        Step("h", "mul", "np.multiply(i, 0.7978845608028654)", "y"),
        Step("t", "tanh", "np.tanh(h)", "y"),
        Step("g", "add", "np.add(t, 1.0)", "y"),
        Step("o", "mul", "np.multiply(g, u)", "y"),
        Step("y", "mul", "np.multiply(o, 0.5)", "y"),
    ), inputs=("x", "b"), kinds={"b": "row"}, low=-4.0, high=4.0),
    Chain("max_pool", "max-pool 2 × 2", (
        Step("m", "max", "np.maximum(x[0::2], x[1::2])", "m"),
        Step("y", "max of pairs", "np.maximum(m[:, 0::2], m[:, 1::2])", "y"),
    ), kinds={"m": "half", "y": "quarter"}),
)}  # fmt: skip


def chains() -> Mapping[str, Chain]:
    """Return the six chains by name.

    Returns
    -------
    Mapping of str to Chain
        "sin_sqrt", "l2_norm", "softmax", "rms_norm", "bias_gelu", "max_pool".

    Examples
    --------
    >>> softmax = rl.fusion.chains()["softmax"]
    >>> softmax.run("fused", *softmax.example(2, 100)).sum(axis=1)
    array([1., 1.], dtype=float32)
    """
    return MappingProxyType(_CHAINS)

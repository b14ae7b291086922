"""Six chains of operations: each once, as NumPy calls (chains.yaml), from which all else follows.

A chain runs in three ways. "temporaries": call by call, each result in a new array. "buffers": the
same calls with ``out=``, in arrays that are there already. "fused": one loop, in which no
intermediate result leaves the core. The ledgers of all three are ``rl.chain`` of the same steps.
"""

from __future__ import annotations

import functools
import inspect
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from rooflab.count import Operand, Operation, chain, dtype
from rooflab.count.dtypes import DTypeLike
from rooflab.count.validation import size, unknown
from rooflab.measure.timing import Call
from rooflab.optional import installed
from rooflab.predict.catalogue import tables

WAYS = ("temporaries", "buffers", "fused")
DTYPES: Mapping[str, np.dtype[Any]] = {"fp32": np.dtype("float32"), "fp64": np.dtype("float64")}
_NAME = re.compile(r"\b[a-z]+\b")


class Step(NamedTuple):
    """One call: ``target`` = ``statement``, or the same with ``out=buffer``."""

    target: str
    function: str
    statement: str
    buffer: str


@dataclass(frozen=True)
class Chain:
    """Steps from the inputs, x and perhaps a row of weights, to y.

    ``kinds`` says which arrays are smaller than x: "row", "column", "half" or "quarter". The
    numbers of an :meth:`example` lie between ``low`` and ``high``.

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

    def __hash__(self) -> int:
        return hash(self.name)

    def shape(self, array: str, rows: int, columns: int) -> tuple[int, ...]:
        """Return the shape of one of its arrays where x has ``rows`` and ``columns``."""
        m, n = size("rows", rows), size("columns", columns)
        if "quarter" in self.kinds.values() and (m % 2 or n % 2):
            raise ValueError(f"rows={m}, columns={n}: windows of 2 × 2 need even numbers")
        shapes = {"row": (n,), "column": (m, 1), "half": (m // 2, n), "quarter": (m // 2, n // 2)}
        return shapes.get(self.kinds.get(array, "whole"), (m, n))

    def reads(self, step: Step) -> list[str]:
        """Return the arrays that a step reads, each once."""
        known = {*self.inputs, *(each.target for each in self.steps)}
        return [name for name in dict.fromkeys(_NAME.findall(step.statement)) if name in known]

    def flops(self, step: Step, rows: int, columns: int) -> int:
        """Return the FLOPs of a step: one an element of what it makes, or of the rows it sums."""
        array = self.reads(step)[0] if step.function.startswith("row ") else step.target
        return math.prod(self.shape(array, rows, columns))

    def operations(
        self, rows: int, columns: int, kind: DTypeLike = "fp32", *, way: str = "temporaries"
    ) -> tuple[Operation, ...]:
        """Return the operations that run one after the other: one a step, or the fused one.

        Every array counts once a step. A row that a fused loop passes over several times counts as
        one read: it stays in a cache. That a longer row is read again is not counted.
        """
        number = format_name(kind)
        name = {s.target: s.buffer if _way(way) == "buffers" else s.target for s in self.steps}
        each = []
        for step in self.steps:
            read = [name.get(array, array) for array in self.reads(step)]
            operands = tuple(
                Operand(a, self.shape(a, rows, columns), number, int(a in read),
                        int(a == name[step.target]))
                for a in dict.fromkeys([*read, name[step.target]])
            )  # fmt: skip
            flops, dims = self.flops(step, rows, columns), {"m": rows, "n": columns}
            each.append(Operation(step.function, dims, operands, flops, dtype(number)))
        return (chain(*each, fused=True),) if way == "fused" else tuple(each)

    def ledger(
        self, rows: int, columns: int, kind: DTypeLike = "fp32", *, way: str = "temporaries"
    ) -> Operation:
        """Return the whole chain as one Operation."""
        each = self.operations(rows, columns, kind, way=way)
        return each[0] if way == "fused" else chain(*each)

    def buffers(self, way: str) -> tuple[str, ...]:
        """Return the arrays that have to be there before a way begins, y first."""
        names = {"temporaries": [], "fused": ["y"]}.get(_way(way), [s.buffer for s in self.steps])
        return tuple(sorted(set(names), key=lambda name: (name != "y", name)))

    def source(self, way: str = "temporaries") -> str:
        """Return the program of a way as it runs: NumPy's calls, or the fused loop."""
        if _way(way) == "fused":
            return inspect.getsource(_loop(self.name).py_func)
        lines = [f"def {self.name}({', '.join((*self.inputs, *self.buffers(way)))}):"]
        buffer: dict[str, str] = {}
        for step in self.steps:
            call = _NAME.sub(lambda word: buffer.get(word[0], word[0]), step.statement)
            buffer[step.target] = step.buffer
            new = way == "temporaries"  # an array that is not needed any more is freed at once
            lines.append(f"{step.buffer} = {call}" if new else f"{call[:-1]}, out={step.buffer})")
        return "\n    ".join([*lines, "return y"])

    def example(self, rows: int, columns: int, kind: DTypeLike = "fp32") -> tuple[np.ndarray, ...]:
        """Return inputs of ordinary size: x, and a row of weights where there is one."""
        real, number = DTYPES[format_name(kind)], np.random.default_rng(10)
        shapes = [self.shape(name, rows, columns) for name in self.inputs]
        some = (number.uniform(self.low, self.high, min(1 << 20, math.prod(s))) for s in shapes)
        return tuple(np.resize(a.astype(real), s) for a, s in zip(some, shapes))

    def bind(self, way: str, inputs: Sequence[Any]) -> Call:
        """Return a call without arguments that computes y of ``inputs``, buffers made already."""
        self._check(inputs)
        x, *_ = inputs
        # Filled, so that their pages are there before anything is timed.
        buffers = [np.full(self.shape(b, *x.shape), 0, x.dtype) for b in self.buffers(way)]
        if way == "fused":
            loop = _loop(self.name)
            return lambda: loop(*inputs, *buffers) or buffers[0]
        names: dict[str, Any] = {"np": np}
        exec(compile(self.source(way), f"<{self.name}, {way}>", "exec"), names)
        return functools.partial(names[self.name], *inputs, *buffers)

    def run(self, way: str, *inputs: Any) -> Any:
        """Return y of the ``inputs``: x, two-dimensional, fp32 or fp64, and a row of weights."""
        with np.errstate(all="ignore"):
            return self.bind(way, inputs)()

    def _check(self, inputs: Sequence[Any]) -> None:
        if len(inputs) != len(self.inputs):
            wanted = ", ".join(self.inputs)
            raise TypeError(f"inputs: {self.name} takes {wanted}, not {len(inputs)} arrays")
        for name, array in zip(self.inputs, inputs):
            require_floats(name, array)
            if array.dtype != inputs[0].dtype:
                raise TypeError(f"{name} is {array.dtype}; it must be {inputs[0].dtype}, as x is")
            if name == "x" and (array.ndim != 2 or not array.size or not array.flags.c_contiguous):
                raise ValueError(f"x of shape {array.shape} must have two dimensions, one element "
                                 "at least, and lie by rows")  # fmt: skip
            if array.shape != (needed := self.shape(name, *inputs[0].shape)):
                raise ValueError(f"{name} has shape {array.shape}; with this x it must be {needed}")


def _way(way: object) -> str:
    if way not in WAYS:
        raise unknown("way", way, WAYS)
    return str(way)


def format_name(kind: DTypeLike) -> str:
    """Return "fp32" or "fp64"; ValueError for another format."""
    if (name := dtype(kind).name) not in DTYPES:
        raise unknown("kind", name, DTYPES)
    return name


def require_floats(name: str, array: Any) -> None:
    """Raise TypeError if ``array`` is none of NumPy's, of a format of the lab."""
    if not isinstance(array, np.ndarray) or array.dtype not in DTYPES.values():
        kind = getattr(array, "dtype", type(array).__name__)
        raise TypeError(f"{name} is {kind}; it must be an array of float32 or float64")


def _loop(name: str) -> Any:
    with installed(f"rooflab.fusion: the fused way of {name}"):
        from rooflab.labs.fusion import kernels
    return getattr(kernels, name)


@functools.cache
def chains() -> Mapping[str, Chain]:
    """Return the six chains by name.

    Returns
    -------
    Mapping of str to Chain
        "sin_sqrt", "l2_norm", "softmax", "rms_norm", "bias_gelu", "max_pool".

    Examples
    --------
    >>> softmax = rl.fusion.chains()["softmax"]
    >>> softmax.run("fused", *softmax.example(2, 100)).sum(axis=1).round(5)
    array([1., 1.], dtype=float32)
    """
    made: dict[str, Chain] = {}
    for name, entry in tables("labs.fusion", "chains").items():
        steps = tuple(Step(*step) for step in entry["steps"])
        rest = {**entry, "steps": steps, "inputs": tuple(entry.get("inputs", ("x",)))}
        made[name] = Chain(name, **rest)
    return made


def as_chain(chain: Chain | str) -> Chain:
    """Return ``chain``, or the one of that name."""
    if isinstance(chain, Chain):
        return chain
    if chain not in chains():
        raise unknown("chain", chain, chains())
    return chains()[chain]

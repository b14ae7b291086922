"""The operand ledger: an operation is its FLOPs and the list of arrays that it reads and writes.

Everything else (bytes, intensity, working set) follows from the ledger, here and nowhere else.
Bytes are the minimum traffic: every operand crosses the memory bus once per read or write, as if
the cache were perfect. A real program moves at least this much.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from numbers import Integral
from reprlib import repr as short
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from rooflab.count.dtypes import DType, DTypeLike, as_dtype, dtype_from_dict
from rooflab.count.si import si
from rooflab.count.validation import amount, size, unknown
from rooflab.count.validation import shape as _shape

LEVELS = ("l1", "l2", "l3", "dram")
UNITS = ("vector", "tensor")


def level(name: object) -> str:
    """Return ``name`` as one of l1, l2, l3, dram; raise ValueError with suggestions otherwise."""
    key = str(name).strip().lower()
    if key not in LEVELS:
        raise unknown("level", name, LEVELS)
    return key


@dataclass(frozen=True)
class Operand:
    """An array of an operation: ``shape``, ``dtype``, and how often it is read and written.

    Parameters
    ----------
    name : str
        Its letter or word, such as "x".
    shape : tuple of int
        Elements along each axis; a lone integer is a vector.
    dtype : str, DType or a dtype of NumPy or PyTorch
        Format of an element.
    reads : int, default 1
        How often all of it is read.
    writes : int, default 0
        How often all of it is written.
    axis : int, default -1
        The axis that is summed over; blocks that share a scale run along it.
    touched : int, optional
        Elements that are moved, where the operation skips some, as a strided convolution does. By
        default it is all of them.

    Examples
    --------
    >>> y = rl.Operand("y", (1000,), "fp32", reads=1, writes=1)
    >>> y.nbytes, y.bytes
    (4000, 8000)
    """

    name: str
    shape: tuple[int, ...]
    dtype: DType
    reads: int = 1
    writes: int = 0
    axis: int = -1
    touched: int | None = None

    if TYPE_CHECKING:  # what is taken is more than what is kept

        def __init__(
            self, name: str, shape: int | Sequence[int], dtype: DTypeLike, reads: int = 1,
            writes: int = 0, axis: int = -1, touched: int | None = None,
        ) -> None: ...  # fmt: skip

    def __post_init__(self) -> None:
        object.__setattr__(self, "dtype", as_dtype("dtype", self.dtype))
        passes = (self.reads, self.writes, 0 if self.touched is None else self.touched)
        numbers = (*self.shape, *passes) if type(self.shape) is tuple and self.shape else (None,)
        if set(map(type, numbers)) == {int} and min(self.shape) > 0 and min(passes) >= 0:
            return  # rooflab's own operations have checked their sizes: the quick way for them
        object.__setattr__(self, "shape", _shape("shape", self.shape))
        for name, number in zip(("reads", "writes", "touched"), passes, strict=True):
            size(name, number, 0)

    @property
    def elements(self) -> int:
        """Elements that the operation touches: ``touched``, or the product of the shape."""
        return math.prod(self.shape) if self.touched is None else self.touched

    @property
    def nbytes(self) -> int:
        """Bytes of one pass over the operand: packed elements plus their scales."""
        kind = self.dtype
        total = -(-kind.bits * self.elements // 8) + kind.tensor_bytes
        if kind.group:
            length = self.shape[self.axis]
            blocks = self.elements // length * -(-length // kind.group)
            total += -(-kind.scale_bits * blocks // 8)
        return total

    @property
    def bytes(self) -> int:
        """Bytes that cross the bus: ``nbytes`` per read and per write."""
        return self.nbytes * (self.reads + self.writes)


@dataclass(frozen=True)
class Operation:
    """An operation with its ledger. Make one with ``axpy``, ``gemv``, ``gemm``, … .

    ``dims`` are its sizes by their usual letters, ``operands`` every array that it reads or writes,
    ``flops`` count a fused multiply-add as 2. ``unit`` is "tensor" when a matrix unit can do it.
    ``batch`` problems are independent and share the operands named in ``shared``. ``accumulate``
    says that the output is read too. ``traffic`` is what an implementation moves, see
    :meth:`with_traffic`. ``bytes``, the minimum traffic, and ``intensity``, FLOP per byte, follow.

    >>> x = rl.Operand("x", (1000,), "fp32")
    >>> total = rl.Operand("sum", (1,), "fp32", reads=0, writes=1)
    >>> op = rl.Operation("sum", {"n": 1000}, (x, total), 999, "fp32")
    >>> op.bytes, op.intensity
    (4004, 0.2495004995004995)
    """

    name: str
    dims: Mapping[str, int]
    operands: tuple[Operand, ...]
    flops: int
    compute_dtype: DType
    unit: str = "vector"
    batch: int = 1
    shared: tuple[str, ...] = ()
    accumulate: bool = False
    traffic: Mapping[str, float] = field(default_factory=dict)

    if TYPE_CHECKING:  # what is taken is more than what is kept

        def __init__(
            self, name: str, dims: Mapping[str, int], operands: tuple[Operand, ...], flops: int,
            compute_dtype: DTypeLike, unit: str = "vector", batch: int = 1,
            shared: tuple[str, ...] = (), accumulate: bool = False,
            traffic: Mapping[str, float] = {},
        ) -> None: ...  # fmt: skip

    def __post_init__(self) -> None:
        if not self.operands:
            raise ValueError(f"operands={self.operands!r} is empty; give at least one Operand")
        if type(self.flops) is not int or self.flops < 0:
            object.__setattr__(self, "flops", size("flops", self.flops, 0))
        if type(self.compute_dtype) is not DType:
            kind = as_dtype("compute_dtype", self.compute_dtype)
            object.__setattr__(self, "compute_dtype", kind)
        if self.unit not in UNITS:
            raise unknown("unit", self.unit, UNITS)
        object.__setattr__(self, "dims", MappingProxyType(dict(self.dims)))
        object.__setattr__(self, "traffic", MappingProxyType(dict(self.traffic)))

    def __hash__(self) -> int:
        return hash((self.name, self.operands, self.flops))  # a mapping proxy does not hash

    def __reduce__(self) -> tuple[object, ...]:
        return (Operation.from_dict, (self.to_dict(),))  # a mapping proxy does not pickle

    @cached_property
    def bytes(self) -> int:
        """Minimum traffic in bytes: what the operands of the ledger move, added up."""
        return sum(operand.bytes for operand in self.operands)

    @cached_property
    def working_set(self) -> int:
        """Bytes that must be resident at once: every operand once, however often it is passed."""
        return sum(operand.nbytes for operand in self.operands)

    @cached_property
    def intensity(self) -> float:
        """FLOP per byte of minimum traffic."""
        return self.flops / self.bytes

    def with_traffic(self, traffic: Mapping[str, float]) -> Operation:
        """Return the same operation with an implementation's ``traffic``: bytes per level.

        Levels are l1, l2, l3 and dram. One that is not named keeps its bytes.
        """
        if not isinstance(traffic, Mapping):
            raise TypeError(f"traffic={traffic!r} must be a mapping, such as {{'dram': 1_000_000}}")
        checked = dict(self.traffic)
        for name, moved in traffic.items():
            key = level(name)
            nbytes = amount(f"traffic[{key!r}]", moved, "a positive number of bytes")
            checked[key] = int(moved) if isinstance(moved, Integral) else nbytes
        return replace(self, traffic=checked)

    def bytes_at(self, where: str) -> float:
        """Bytes that cross ``where`` (l1, l2, l3, dram): stated traffic, else the minimum."""
        return self.traffic.get(level(where), self.bytes)

    def intensity_at(self, where: str) -> float:
        """FLOP per byte that crosses ``where`` (l1, l2, l3, dram)."""
        return self.flops / self.bytes_at(where)

    @property
    def label(self) -> str:
        """Short name: ``gemm 8×11008×4096 bf16``."""
        sizes = "×".join(str(n) for n in self.dims.values())
        many = f"×{self.batch}" if self.batch > 1 else ""
        return " ".join(filter(None, (self.name, sizes, many, str(self.compute_dtype))))

    def __str__(self) -> str:
        return (
            f"{self.label}: {si(self.flops, 'FLOP')}, {si(self.bytes, 'B')}, "
            f"{self.intensity:.4g} FLOP/B"
        )

    def __repr__(self) -> str:
        rows = [str(self)]
        for o in self.operands:
            trips = " and ".join(
                word if count == 1 else f"{word} ×{count}"
                for word, count in (("read", o.reads), ("written", o.writes))
                if count
            )
            shape = "×".join(map(str, o.shape))
            rows.append(f"  {o.name:<4}{shape:>16} {o.dtype!s:<9}{si(o.bytes, 'B'):>9}  {trips}")
        return "\n".join(rows)

    def to_dict(self) -> dict[str, object]:
        """Return the whole ledger as plain JSON data."""
        operands = [
            {
                "name": o.name, "shape": list(o.shape), "dtype": o.dtype.to_dict(),
                "reads": o.reads, "writes": o.writes, "axis": o.axis, "touched": o.touched,
            }
            for o in self.operands
        ]  # fmt: skip
        return {
            "name": self.name, "dims": dict(self.dims), "operands": operands,
            "flops": self.flops, "compute_dtype": self.compute_dtype.to_dict(),
            "unit": self.unit, "batch": self.batch, "shared": list(self.shared),
            "accumulate": self.accumulate, "traffic": dict(self.traffic),
        }  # fmt: skip

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Operation:
        """Inverse of :meth:`to_dict`; raises ValueError for data that is no operation."""
        try:
            operands = tuple(
                Operand(**{**o, "shape": tuple(o["shape"]), "dtype": dtype_from_dict(o["dtype"])})
                for o in data["operands"]
            )
            return cls(**{
                **data, "operands": operands, "shared": tuple(data["shared"]),
                "compute_dtype": dtype_from_dict(data["compute_dtype"]),
            })  # fmt: skip
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            said = f"{type(error).__name__} {error}"
            raise ValueError(f"data: no operation that rooflab wrote ({said})") from error


def as_operation(argument: str, value: object) -> Operation:
    """Return ``value`` if it is an Operation; ``argument`` is what the error calls it."""
    if not isinstance(value, Operation):
        raise TypeError(
            f"{argument}={short(value)} must be an Operation, such as rl.axpy(1_000_000)"
        )
    return value


def as_timeable(argument: str, value: object) -> Operation:
    """Return ``value`` if it is an Operation whose FLOPs and bytes are not beyond a float."""
    op = as_operation(argument, value)
    most = max(op.flops, op.bytes, *op.traffic.values())
    if most > sys.float_info.max:
        raise ValueError(
            f"{argument}: {op.name} of {si(most, '')} FLOP or bytes is beyond any time"
        )
    return op

"""References: what an operation must give, in fp64, block by block so that they stay small.

Tolerances. The inputs are taken as stored. Sums of products may be taken in any order, in fp32 or
wider (fp64 for fp64): |error| ≤ (8 + √k)·u·‖a‖·‖b‖ for k products of a row and a column with these
norms, plus two roundings of the output. The worst case is k·u·Σ|ab|; errors of different signs grow
like √k (Higham, Accuracy and Stability of Numerical Algorithms, 2002, §2.8 and §3.1). tf32 rounds
or truncates its inputs to 11 significant bits, which adds 2⁻¹⁰·‖a‖·‖b‖.

On a GPU a product of halves may be split along k, and its parts stored and added in 16 bits: what
cuBLAS calls a reduced precision reduction. Each of a few parts is then rounded, and each partial
sum of them. A sum of k products of either sign has a size of ‖a‖·‖b‖/√k. Rounding a number is off
by about 0.4 u of it; over sixteen parts, whose partial sums grow, that adds up like random signs to
1.3 u of the whole. Six times as much is what the worst of millions of elements shows: 8 u.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from rooflab.count import DType, Operation

BLOCK = 1 << 19  # elements of a reference held at once: 4 MB, which a cache may hold
_ROUNDING = {
    "fp64": 2.0**-53, "fp32": 2.0**-24, "tf32": 2.0**-24, "fp16": 2.0**-11, "bf16": 2.0**-8,
    "fp8_e4m3": 2.0**-4, "fp8_e5m2": 2.0**-3,
}  # fmt: skip
# Spacing of the subnormal numbers, where rounding is no longer relative to the value.
_FLOOR = {"fp16": 2.0**-24, "fp8_e4m3": 2.0**-9, "fp8_e5m2": 2.0**-16}


@dataclass(frozen=True)
class Mismatch:
    """The first element that is wrong: its index, what it is, and what it should have been."""

    index: tuple[int, ...]
    found: float
    expected: float
    tolerance: float = 0.0
    note: str = ""


@dataclass(frozen=True)
class Case:
    """A finished call: ``arrays`` by operand name, ``before`` what they were, the ``result``."""

    op: Operation
    xp: Any
    arrays: Mapping[str, Any]
    before: Mapping[str, Any]
    result: Any

    @property
    def stored_rounding(self) -> float:
        """Unit roundoff of the output; 0 for integers, which must be exact."""
        return rounding(next(o for o in self.op.operands if o.writes).dtype)

    @property
    def floor(self) -> float:
        """Smallest error that means anything in the output: one subnormal step."""
        return _FLOOR.get(next(o for o in self.op.operands if o.writes).dtype.name, 0.0)

    @property
    def sum_rounding(self) -> float:
        """Unit roundoff of the sums: fp64's for fp64, else fp32's."""
        return _ROUNDING["fp64" if self.op.compute_dtype.name == "fp64" else "fp32"]

    @property
    def part_rounding(self) -> float:
        """Error of a sum whose parts may be kept in 16 bits, as a share of the sum's size."""
        halves = self.op.compute_dtype.name in ("fp16", "bf16")
        return 8 * self.stored_rounding if halves and self.xp is not np else 0.0

    def sum_tolerance(self, terms: int) -> float:
        """Largest error of a sum of ``terms`` products, as a share of ‖a‖·‖b‖."""
        truncated = 2.0**-10 if self.op.compute_dtype.name == "tf32" else 0.0
        return (8 + math.sqrt(terms)) * self.sum_rounding + truncated


Reference = Callable[[Case], Mismatch | None]
"""Finds the first wrong element of a finished call."""


def rounding(kind: DType) -> float:
    """Unit roundoff of a stored format; 0 for integers."""
    return _ROUNDING.get(kind.name, 0.0)


def wide(xp: Any, array: Any) -> Any:
    """``array`` in fp64."""
    return array.astype(xp.float64)


def blocks(length: int, width: int = 1) -> Iterator[slice]:
    """Slices of an axis of ``length``, each with BLOCK elements if one step of it has ``width``."""
    step = max(1, BLOCK // max(1, width))
    return (slice(start, min(start + step, length)) for start in range(0, length, step))


def first_wrong(
    case: Case, found: Any, expected: Any, tolerance: Any, at: Callable[[tuple[int, ...]], tuple]
) -> Mismatch | None:
    """Return the first element of ``found`` farther than ``tolerance`` from ``expected`` (NaN is);
    ``at`` turns its place in the block into its index in the result."""
    xp = case.xp
    allowed = xp.broadcast_to(xp.asarray(tolerance, dtype=xp.float64) + case.floor, found.shape)
    wrong = ~(abs(found - expected) <= allowed)
    if not bool(wrong.any()):
        return None
    here = tuple(int(i) for i in np.unravel_index(int(wrong.ravel().argmax()), found.shape))
    return Mismatch(at(here), float(found[here]), float(expected[here]), float(allowed[here]))

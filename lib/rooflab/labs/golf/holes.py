"""The five holes of byte golf: what is to be computed, and the fewest bytes that takes.

Bytes an element are for fp64; every trip scales with the width of the dtype (masks stay one byte).
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy import ndarray

COLUMNS = 512  # of the holes on matrices: a row of fp64 is 4 KiB
A, B = 0.5, 3.0  # the factors


@dataclass(frozen=True)
class Hole:
    """One hole: ``text`` says what to compute, ``trips`` how often an element must travel.

    Its function takes so many ``factors``, then so many ``arrays``: vectors, or a ``matrix`` and a
    row.
    """

    name: str
    text: str
    trips: int
    factors: int = 0
    arrays: int = 1
    matrix: bool = False

    def make(
        self, n: int = 10_000_000, dtype: Any = np.float64, seed: int = 0,
        a: float = A, b: float = B,
    ) -> tuple[Any, ...]:  # fmt: skip
        """Return the arguments, with arrays of about ``n`` elements."""
        drawn = (_matrix if self.matrix else _vectors)(n, dtype, seed)
        return *(a, b)[: self.factors], *drawn[: self.arrays]

    @property
    def reference(self) -> Callable[..., Any]:
        """The function that gives the right answer, in as many passes as it takes."""
        return self.variants["expression"]

    @property
    def variants(self) -> Mapping[str, Callable[..., Any]]:
        """Ways to compute it, from the most bytes to the fewest."""
        try:
            from rooflab.labs.golf.solutions import VARIANTS
        except ImportError:  # the module is not there then
            raise RuntimeError("holes have no answers while notebooks are graded") from None
        return VARIANTS[self.name]

    @property
    def says(self) -> dict[str, str]:
        """What each variant does, in a phrase: the first clause of its docstring."""
        return {
            name: (way.__doc__ or name).partition(":")[0] for name, way in self.variants.items()
        }

    def ways(self, chunk: int) -> dict[str, Callable[..., Any]]:
        """The variants, those in pieces with pieces of ``chunk`` numbers, in whole rows."""
        step = max(1, chunk // self.row)
        return {
            name: functools.partial(way, chunk=step)
            if "chunk" in inspect.signature(way).parameters
            else way
            for name, way in self.variants.items()
        }

    @property
    def row(self) -> int:
        """Numbers that a step along the first axis is long."""
        return next(a.size // len(a) for a in self.make(COLUMNS) if isinstance(a, ndarray))

    def minimum(self, *arrays: Any) -> int:
        """The fewest bytes for these arguments: the trips of the largest array."""
        return self.trips * max(a.nbytes for a in arrays if isinstance(a, ndarray))


def _vectors(n: int, dtype: Any, seed: int) -> list[ndarray]:
    random = np.random.default_rng(seed)
    return [random.standard_normal(n).astype(dtype) for _ in range(2)]


def _matrix(n: int, dtype: Any, seed: int) -> list[ndarray]:
    random, shapes = np.random.default_rng(seed), ((max(1, n // COLUMNS), COLUMNS), COLUMNS)
    return [random.standard_normal(shape).astype(dtype) for shape in shapes]


# In the order of lesson 02's exercises: hole 1 is axpy.
_ALL = (
    Hole("axpy", "Return a·x + y. You may write over y.", 3, factors=1, arrays=2),
    Hole("sum-of-squares", "Return Σx² as one number.", 1),
    Hole("row-l2-norm", "Divide every row of x by its length √Σx². You may write over x.", 2,
         matrix=True),
    Hole("bias-relu",
         "Add b to every row of x, then set what is negative to zero. You may write over x.", 2,
         arrays=2, matrix=True),
    Hole("scale-add-scale", "Return b·(a·x + y). You may write over y.", 3, factors=2, arrays=2),
)  # fmt: skip
HOLES: Mapping[str, Hole] = MappingProxyType({hole.name: hole for hole in _ALL})

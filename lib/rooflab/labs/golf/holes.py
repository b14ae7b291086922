"""The five holes of byte golf: what is to be computed, the fewest bytes, and ways to do it.

``variants`` go from the worst to the best. Bytes an element below are for fp64; every trip scales
with the width of the dtype (masks stay one byte).
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

from rooflab.labs.golf import solutions as ways

COLUMNS = 512  # of the holes on matrices: a row of fp64 is 4 KiB
A, B = 0.5, 3.0  # the factors


@dataclass(frozen=True)
class Hole:
    """One hole: ``text`` says what to compute, ``trips`` how often an element must travel.

    ``make(n, dtype, seed)`` gives the arguments, arrays of about ``n`` elements; ``reference``
    the right answer for them; ``variants`` ways to compute it, worst first.
    """

    name: str
    text: str
    trips: int
    make: Callable[..., tuple[Any, ...]]
    reference: Callable[..., Any]
    variants: Mapping[str, Callable[..., Any]]

    @property
    def says(self) -> dict[str, str]:
        """What each variant does, in a phrase: the first clause of its docstring."""
        return {
            name: (way.__doc__ or name).partition(":")[0] for name, way in self.variants.items()
        }

    @property
    def minimum_per_element(self) -> int:
        """The fewest bytes an element in fp64."""
        return 8 * self.trips

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
    shape = (max(1, n // COLUMNS), COLUMNS)
    random = np.random.default_rng(seed)
    return [
        random.standard_normal(shape).astype(dtype),
        random.standard_normal(COLUMNS).astype(dtype),
    ]


def _axpy(n: int = 10_000_000, dtype: Any = np.float64, seed: int = 0) -> tuple[Any, ...]:
    return A, *_vectors(n, dtype, seed)


def _scale_add_scale(
    n: int = 10_000_000, dtype: Any = np.float64, seed: int = 0
) -> tuple[Any, ...]:
    return A, B, *_vectors(n, dtype, seed)


def _rows(n: int = 10_000_000, dtype: Any = np.float64, seed: int = 0) -> tuple[Any, ...]:
    return (_matrix(n, dtype, seed)[0],)


def _bias(n: int = 10_000_000, dtype: Any = np.float64, seed: int = 0) -> tuple[Any, ...]:
    return tuple(_matrix(n, dtype, seed))


def _one(n: int = 10_000_000, dtype: Any = np.float64, seed: int = 0) -> tuple[Any, ...]:
    return (_vectors(n, dtype, seed)[0],)


# In the order of lesson 02's exercises: hole 1 is axpy.
_ALL = (
    Hole(
        "axpy", "Return a·x + y. You may write over y.", 3, _axpy,
        lambda a, x, y: a * x + y, ways.AXPY,
    ),
    Hole(
        "sum-of-squares", "Return Σx² as one number.", 1, _one,
        lambda x: np.sum(x * x), ways.SUM_OF_SQUARES,
    ),
    Hole(
        "row-l2-norm", "Divide every row of x by its length √Σx². You may write over x.", 2, _rows,
        lambda x: x / np.sqrt(np.sum(x * x, axis=1, keepdims=True)), ways.ROW_L2_NORM,
    ),
    Hole(
        "bias-relu",
        "Add b to every row of x, then set what is negative to zero. You may write over x.",
        2, _bias, lambda x, b: np.maximum(x + b, 0), ways.BIAS_RELU,
    ),
    Hole(
        "scale-add-scale", "Return b·(a·x + y). You may write over y.", 3, _scale_add_scale,
        lambda a, b, x, y: b * (a * x + y), ways.SCALE_ADD_SCALE,
    ),
)  # fmt: skip
HOLES: Mapping[str, Hole] = MappingProxyType({hole.name: hole for hole in _ALL})

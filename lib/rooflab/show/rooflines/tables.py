"""What a live roofline is made of: sliders, operations that they move, machines on offer.

*Batch* means vectors that share one matrix. So GEMV with a batch is a matrix product and walks
right, while AXPY and independent products do the same FLOPs per byte whatever the batch is.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from rooflab.count import blas
from rooflab.count.dtypes import DType, DTypeLike
from rooflab.count.operation import Operation
from rooflab.count.validation import unknown
from rooflab.show.canvas import ABOVE, decades_for
from rooflab.show.rooflines import ceiling_lines
from rooflab.show.rooflines.machine_choices import Offer

if TYPE_CHECKING:
    from rooflab.measure.measurement import Measurement
    from rooflab.show.box import Solid

Build = Callable[[int, int, DTypeLike], Operation]
FACTORS = tuple(2 ** (n / 2) for n in range(-2, 5))  # of next year's machine
KNOBS = (-1.4, 4.4)  # decades of FLOP/byte at which slope and flat roof can be grabbed


@dataclass(frozen=True)
class Slider:
    """A slider of a live picture: what it is called, its values, where it starts (an index)."""

    label: str
    values: Sequence[int]
    start: int


@dataclass(frozen=True)
class Series:
    """One moving marker: ``build(i-value, j-value, k-value, dtype)`` gives its operation.

    ``tags`` and ``why`` are its label and its reason at each value of the second slider;
    ``spread``: its place depends on that second slider; ``estimated``: predict() is asked for it
    at the first value of the second slider (a single problem), on machines with routines.
    """

    name: str
    label: str
    build: Callable[[int, int, int, DTypeLike], Operation]
    tags: Sequence[str]
    why: Sequence[str]
    spread: bool
    estimated: bool = True


@dataclass(frozen=True)
class Tables:
    """A live picture before it is packed: sliders (three), series, dtypes, machines on offer."""

    sliders: tuple[Slider, ...]
    series: tuple[Series, ...]
    dtypes: tuple[DType, ...]
    offers: tuple[Offer, ...]
    overhead: bool = False  # whether lines show what a call costs, where calls were timed
    band: tuple[float, float] | None = None  # intensities of a thumb rule
    mix: str = ceiling_lines.MIX  # of reading and writing, for which the memory roofs are drawn
    ladder: bool = False  # whether a ladder shows where the time goes
    solids: tuple[Solid, ...] = ()  # of the series, where a box stands beside the axes
    rungs: Mapping[str, Measurement] = field(default_factory=dict)  # measurements with a name

    @property
    def limits(self) -> tuple[float, float]:
        """The decades of FLOP/s at the ends of axes that hold every machine on offer."""
        ends = [end for one in self.offers if one.machine for end in self.limits_of(one)]
        return (min(ends), max(ends)) if ends else decades_for(())

    def limits_of(self, offer: Offer) -> tuple[float, float]:
        """Those of axes that fit ``offer``: its roofs in every dtype, what was measured on it."""
        if offer.machine is None:
            return self.limits
        rates = offer.rates(self.dtypes)
        rates.append(max(rates, default=0) * FACTORS[-1] / 10**ABOVE)  # a peak that is pulled up
        if "dram" in offer.machine.levels:  # the slope's handle, with the least bandwidth
            rates.append(0.9 * offer.machine.bandwidth() * 10 ** KNOBS[0] * FACTORS[0])
        if self.overhead and offer.machine.routines:
            rates.append(ceiling_lines.LOWEST)
        return decades_for(rates)

    def points(self) -> Iterable[tuple[int, int, int]]:
        """Every combination of slider values, in table order."""
        i, j, k = (slider.values for slider in self.sliders)
        return itertools.product(i, j, k)


@dataclass(frozen=True)
class Family:
    """An operation as a function of ``n``, ``batch`` and dtype.

    ``edges`` are the M, N, K of its box; ``faces`` say what is painted on faces A (M×K), B (K×N)
    and C (M×N), with the operand's name in the ledger ("" if it is not moved). ``why`` says in a
    template of {batch} and {n} what a batch does to it.
    """

    name: str
    build: Build
    edges: Callable[[int, int], tuple[int, int, int]]
    faces: tuple[tuple[str, str], ...]
    why: str

    @property
    def spread(self) -> bool:
        """Whether a batch moves its point: only where the batch shares an operand."""
        return bool(self.build(2, 2, "fp32").shared)

    @property
    def label(self) -> str:
        """The name as BLAS writes it: ``GEMM``."""
        return self.name.upper()


# The next picture of a lesson has the same operations.
remember: Callable[[Build], Build] = lru_cache(1 << 13, typed=True)  # type: ignore[assignment]
FAMILIES = {
    "axpy": Family(
        "axpy",
        remember(lambda n, batch, kind: blas.axpy(n * n * batch, kind)),
        lambda n, batch: (1, n * n, 1),
        (("α, one number", ""), ("x", "x"), ("y, read and written: twice", "y")),
        "AXPY stays: each of the {batch} has vectors of its own, so it is {batch} times the FLOPs "
        "on {batch} times the bytes.",
    ),
    "gemv": Family(
        "gemv",
        remember(lambda n, batch, kind: blas.gemv(n, n, kind, batch=batch, shared=("a",))),
        lambda n, batch: (n, batch, n),
        (("A, the matrix", "a"), ("x", "x"), ("y", "y")),
        "{batch} vectors share one matrix, which is read once: "
        "this is the matrix product {n}×{batch}×{n}, and the point walks right.",
    ),
    "gemm": Family(
        "gemm",
        remember(lambda n, batch, kind: blas.gemm(n, n, n, kind, batch=batch)),
        lambda n, batch: (n, n, n),
        (("A", "a"), ("B", "b"), ("C", "c")),
        "GEMM stays: each of the {batch} products has matrices of its own, so it is {batch} times "
        "the FLOPs on {batch} times the bytes.",
    ),
}


def families(names: Iterable[str] | str) -> tuple[Family, ...]:
    """Return the families called ``names``; an unknown one raises ValueError with suggestions."""
    listed = (names,) if isinstance(names, str) else tuple(names)
    if not listed:
        raise ValueError(f"ops={names!r} is empty; give some of {', '.join(FAMILIES)}")
    for name in listed:
        if name not in FAMILIES:
            raise unknown("ops", name, FAMILIES)
    return tuple(FAMILIES[name] for name in dict.fromkeys(listed))


def as_measured(family: Family, ops: Iterable[Operation]) -> Family:
    """``family``; products that read C, too, if those among ``ops`` do."""
    own = [op for op in ops if op.name == family.name == "gemm"]
    if own and all(op.accumulate for op in own):
        build = remember(
            lambda n, batch, kind: blas.gemm(n, n, n, kind, batch=batch, accumulate=True)
        )
        return replace(family, build=build)
    return family


def sizes(lo: int = 64, hi: int = 16384) -> tuple[int, ...]:
    """Return the N of the slider: eight steps to every doubling from ``lo`` to ``hi``."""
    every = (lo * 2**e * (8 + step) // 8 for e in range(hi.bit_length()) for step in range(8))
    return tuple(dict.fromkeys([*(n for n in every if n < hi), hi]))


def batches(hi: int = 4096) -> tuple[int, ...]:
    """Return the batches of the slider: the powers of two up to ``hi``."""
    return tuple(2**e for e in range(hi.bit_length()))

"""The operations that the sliders move: each a function of one size N and a batch.

*Batch* means vectors that share one matrix. So GEMV with a batch is a matrix product and walks
right, while AXPY and independent products do the same FLOPs per byte whatever the batch is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import lru_cache

from rooflab.count import blas
from rooflab.count.dtypes import DTypeLike
from rooflab.count.operation import Operation
from rooflab.count.validation import unknown

Build = Callable[[int, int, DTypeLike], Operation]


@dataclass(frozen=True)
class Family:
    """An operation as a function of ``n``, ``batch`` and dtype.

    ``edges`` are the M, N, K of its box; ``faces`` say what is painted on faces A (M×K), B (K×N)
    and C (M×N), with the operand's name in the ledger ("" if it is not moved). ``why`` says in a
    template of {batch} and {n} what a batch does to it, ``stays`` why it does not move its point.
    """

    name: str
    build: Build
    edges: Callable[[int, int], tuple[int, int, int]]
    faces: tuple[tuple[str, str], ...]
    why: str
    stays: str = ""

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
        (("α, one number", ""), ("x", "x"), ("y: counted twice, read and written", "y")),
        "AXPY stays: each of the {batch} has vectors of its own, so it is {batch} times the FLOPs "
        "on {batch} times the bytes.",
        "AXPY stays: each has vectors of its own.",
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
        "GEMM stays: each product has matrices of its own.",
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
    found = []
    base = lo
    while base < hi:
        found += [n for n in (base * (8 + step) // 8 for step in range(8)) if n <= hi]
        base *= 2
    return tuple(dict.fromkeys([*found, hi]))


def batches(hi: int = 4096) -> tuple[int, ...]:
    """Return the batches of the slider: the powers of two up to ``hi``."""
    return tuple(2**e for e in range(hi.bit_length()) if 2**e <= hi)

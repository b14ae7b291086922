"""A small product that many tests measure, its operands, and NumPy's way to compute it."""

from __future__ import annotations

import numpy as np

import rooflab.count as rl

GEMM = rl.gemm(12, 10, 8)
F = np.asfortranarray


def gemm_arrays() -> list[np.ndarray]:
    """Operands a, b, c of GEMM, stored by columns, with random numbers in them."""
    random = np.random.default_rng(1)
    return [F(random.random(shape).astype(np.float32)) for shape in ((12, 8), (8, 10), (12, 10))]


def numpy_gemm(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> None:
    """C ← AB by NumPy."""
    np.matmul(a, b, out=c)

"""Explicit loops that touch what NumPy calls touch, element by element, on the cache simulator.

Each takes the cache and returns nothing; beside it, in ``PAIRS``, stands the NumPy function.
"""

from __future__ import annotations

import numpy as np

from rooflab.golf.holes import HOLES
from tests.golf.conftest import COLUMNS, ROWS, N
from tests.golf.lru import Cache, Vector

CHUNK = 1024  # 8 KiB: a temporary that stays in 32 KiB while the long arrays stream past


def elementwise(cache: Cache, reads: list[Vector], write: Vector, n: int = N) -> None:
    for i in range(n):
        for array in reads:
            cache.read(array, i)
        cache.write(write, i)


def total(cache: Cache, array: Vector, n: int = N) -> None:
    for i in range(n):
        cache.read(array, i)


def axpy_expression(cache: Cache) -> None:
    x, y, t, z = (cache.array(N) for _ in range(4))
    elementwise(cache, [x], t)
    elementwise(cache, [t, y], z)


def axpy_in_place(cache: Cache) -> None:
    x, y, t = (cache.array(N) for _ in range(3))
    elementwise(cache, [x], t)
    elementwise(cache, [y, t], y)


def axpy_chunks(cache: Cache, chunk: int = CHUNK) -> None:
    x, y, t = cache.array(N), cache.array(N), cache.array(chunk)
    for start in range(0, N, chunk):
        for i in range(chunk):
            cache.read(x, start + i)
            cache.write(t, i)
        for i in range(chunk):
            cache.read(y, start + i)
            cache.read(t, i)
            cache.write(y, start + i)


def sum_of_squares(cache: Cache) -> None:
    x, t = cache.array(N), cache.array(N)
    elementwise(cache, [x], t)
    total(cache, t)


def sum_of_squares_dot(cache: Cache) -> None:
    total(cache, cache.array(N))


def normalised_rows(cache: Cache) -> None:
    x, t, z, length = cache.array(N), cache.array(N), cache.array(N), cache.array(ROWS)
    elementwise(cache, [x], t)
    total(cache, t)
    for row in range(ROWS):
        for i in range(COLUMNS):
            cache.read(x, row * COLUMNS + i)
            cache.read(length, row)
            cache.write(z, row * COLUMNS + i)


def normalised_rows_in_chunks(cache: Cache, rows: int = 2) -> None:
    x, z, t = cache.array(N), cache.array(N), cache.array(rows * COLUMNS)
    for start in range(0, N, rows * COLUMNS):
        for i in range(rows * COLUMNS):
            cache.read(x, start + i)
            cache.write(t, i)
        for i in range(rows * COLUMNS):
            cache.read(t, i)
        for i in range(rows * COLUMNS):
            cache.read(t, i)
            cache.write(z, start + i)


def bias_relu(cache: Cache) -> None:
    x, b, t, z = cache.array(N), cache.array(COLUMNS), cache.array(N), cache.array(N)
    for i in range(N):
        cache.read(x, i)
        cache.read(b, i % COLUMNS)
        cache.write(t, i)
    elementwise(cache, [t], z)


def choose(cache: Cache) -> None:
    x, y, mask, z = cache.array(N), cache.array(N), cache.array(N, 1), cache.array(N)
    elementwise(cache, [x, y], mask)
    elementwise(cache, [mask, x, y], z)


def single_precision(cache: Cache) -> None:
    f, t, z = (cache.array(N, 4) for _ in range(3))
    elementwise(cache, [f], t)
    elementwise(cache, [t], z)


def variance(cache: Cache) -> None:
    x, t = cache.array(N), cache.array(N)
    total(cache, x)
    elementwise(cache, [x], t)
    elementwise(cache, [t], t)
    total(cache, t)


def matrix_vector(cache: Cache) -> None:
    m, b, z = cache.array(N), cache.array(COLUMNS), cache.array(ROWS)
    for row in range(ROWS):
        for i in range(COLUMNS):
            cache.read(m, row * COLUMNS + i)
            cache.read(b, i)
        cache.write(z, row)


PAIRS = {  # name: (loops, NumPy function)
    "a·x + y": (axpy_expression, lambda x, y: 0.5 * x + y),
    "y += a·x": (axpy_in_place, lambda x, y: np.add(y, 0.5 * x, out=y)),
    "y += a·x in chunks": (
        axpy_chunks,
        lambda x, y: HOLES["axpy"].variants["chunks"](0.5, x, y, chunk=CHUNK),
    ),
    "sum of squares": (sum_of_squares, lambda x: (x * x).sum()),
    "dot": (sum_of_squares_dot, lambda x: np.dot(x, x)),
    "normalised rows": (normalised_rows, HOLES["row-l2-norm"].variants["expression"]),
    "normalised rows in chunks": (
        normalised_rows_in_chunks,
        lambda m: HOLES["row-l2-norm"].variants["chunks"](m, chunk=2),
    ),
    "bias and relu": (bias_relu, HOLES["bias-relu"].variants["expression"]),
    "choose": (choose, lambda x, y: np.where(x > y, x, y)),
    "fp32": (single_precision, lambda f: np.sqrt(np.abs(f))),
    "variance": (variance, lambda x: x.var()),
    "matrix · vector": (matrix_vector, lambda m, b: m @ b),
}

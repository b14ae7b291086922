"""Random NumPy programs on two vectors, a matrix, indices and a mask, for properties of golf.

A program is a list of numbers; each picks an operation and the arrays it works on, so that
hypothesis can shrink it. Every array that was made stays alive and may be used or returned.
"""

from __future__ import annotations

import numpy as np

N = 600  # elements: 4.8 kB of fp64, against a cache of 1 KiB


def inputs(seed: int) -> tuple[np.ndarray, ...]:
    """x, y: N fp64; m: N fp64 in 20 rows; i: N indices, some twice; k: a mask; s: small."""
    random = np.random.default_rng(seed)
    x, y, m = (random.random(N) for _ in range(3))
    i = random.integers(0, N, N)
    return x, y, m.reshape(20, -1), i, random.random(N) < 0.3, random.random(16)


def _scatter(np, a, b, i, k, p):
    a[i[: len(a)] % len(a)] = p


def _masked(np, a, b, i, k, p):
    a[a < p] = 0


def _into(np, a, b, i, k, p):
    n = min(len(a), len(b))
    a[:n] = b[:n] + p


def _at(np, a, b, i, k, p):
    np.add.at(a, i[: p + 1] % len(a), 1.0)


def _in_place(np, a, b, i, k, p):
    a *= 0.5


# Each gets numpy from f, where golf has its stand-in: it does not look into a tuple of functions.
OPERATIONS = (
    lambda np, a, b, i, k, p: a * 0.5,
    lambda np, a, b, i, k, p: a[: min(len(a), len(b))] + b[: min(len(a), len(b))],
    lambda np, a, b, i, k, p: a[p % len(a) :: 1 + p % 3],
    lambda np, a, b, i, k, p: a[: 1 + p % len(a)],
    lambda np, a, b, i, k, p: a[::-1],
    lambda np, a, b, i, k, p: a[i[: 1 + p] % len(a)],
    lambda np, a, b, i, k, p: np.take(a, i[::7] % len(a)),
    lambda np, a, b, i, k, p: a[np.arange(0, len(a), 1 + p % 8)],
    lambda np, a, b, i, k, p: a[k[: len(a)]] if len(a) <= N else None,
    lambda np, a, b, i, k, p: np.where(a > p, a, 0.0),
    lambda np, a, b, i, k, p: np.zeros(1 + p),
    lambda np, a, b, i, k, p: np.zeros_like(a),
    lambda np, a, b, i, k, p: np.concatenate([a, b])[:N],
    lambda np, a, b, i, k, p: [a[c : c + 100] * 2 for c in range(0, len(a), 100)][-1],
    lambda np, a, b, i, k, p: a.sum(),
    lambda np, a, b, i, k, p: a[p % len(a)],
    lambda np, a, b, i, k, p: a @ a,
    lambda np, a, b, i, k, p: np.cumsum(a),
    _scatter, _masked, _into, _at, _in_place,
)  # fmt: skip


def program(picks: list[tuple[int, int, int, int]], returned: list[int]):
    """Return the function that works through ``picks`` and gives back some of its arrays."""

    def f(x, y, m, i, k, s):
        arrays = [x, y, m.ravel(), m[:, 3], s]
        for operation, one, other, p in picks:
            a, b = arrays[one % len(arrays)], arrays[other % len(arrays)]
            made = OPERATIONS[operation](np, a, b, i, k, p)
            if isinstance(made, np.ndarray) and len(made):
                arrays.append(made)
        return [arrays[place % len(arrays)] for place in returned]

    return f

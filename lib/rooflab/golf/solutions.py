"""Ways to play each hole, worst first. The comment is the ledger: fp64 bytes an element."""

from __future__ import annotations

import numpy as np

CHUNK = 16_384
"""Elements in a chunk: a quarter of golf's cache in fp64. Two of them stay near, and some spare."""
ROWS = 32
"""Rows in a chunk of a matrix of 512 columns."""


def axpy_copies(a, x, y):
    """Copy both, scale, add: 16 + 16 + 16 + 24 = 72."""
    scaled, result = x.copy(), y.copy()
    scaled = a * scaled
    return result + scaled


def axpy_expression(a, x, y):
    """Two passes, the product in a temporary: 16 + 24 = 40."""
    return a * x + y


def axpy_out(a, x, y):
    """With out= for the sum; the product is a new array, the same bytes: 16 + 24 = 40."""
    t = np.multiply(x, a)
    return np.add(t, y, out=y)


def axpy_chunks(a, x, y, chunk=CHUNK):
    """The product of a chunk stays in the cache: 8 + 16 = 24."""
    t = np.empty(min(chunk, len(x)), x.dtype)
    for i in range(0, len(x), chunk):
        part = y[i : i + chunk]
        np.add(part, np.multiply(x[i : i + chunk], a, out=t[: len(part)]), out=part)
    return y


def scale_add_scale_factored_out(a, b, x, y):
    """Multiplied out, b meets both: 16 + 16 + 16 + 24 = 72."""
    return b * (a * x) + b * y


def scale_add_scale_expression(a, b, x, y):
    """Three passes: 16 + 24 + 16 = 56."""
    return b * (a * x + y)


def scale_add_scale_half_chunked(a, b, x, y, chunk=CHUNK):
    """The sum in chunks, the last factor in a pass of its own: 24 + 16 = 40."""
    t = np.empty(min(chunk, len(x)), x.dtype)
    for i in range(0, len(x), chunk):
        part = y[i : i + chunk]
        np.add(part, np.multiply(x[i : i + chunk], a, out=t[: len(part)]), out=part)
    y *= b
    return y


def scale_add_scale_chunks(a, b, x, y, chunk=CHUNK):
    """All three in chunks: 8 + 8 + 8 = 24."""
    t = np.empty(min(chunk, len(x)), x.dtype)
    for i in range(0, len(x), chunk):
        part = y[i : i + chunk]
        both = np.multiply(x[i : i + chunk], a, out=t[: len(part)])
        np.multiply(np.add(both, part, out=both), b, out=part)
    return y


def row_l2_norm_broadcast(x):
    """The lengths, repeated for every element: 16 + 8 + 8 + 24 = 56."""
    length = np.sqrt((x * x).sum(axis=1))
    return x / np.repeat(length, x.shape[1]).reshape(x.shape)


def row_l2_norm_expression(x):
    """Square, sum, divide: 16 + 8 + 16 = 40."""
    return x / np.sqrt((x * x).sum(axis=1, keepdims=True))


def row_l2_norm_einsum(x):
    """Square and sum in one pass: 8 + 16 = 24."""
    return x / np.sqrt(np.einsum("ij,ij->i", x, x))[:, None]


def row_l2_norm_chunks(x, chunk=ROWS):
    """Some rows at a time, still in the cache when they are divided: 8 + 8 = 16."""
    for i in range(0, len(x), chunk):
        rows = x[i : i + chunk]
        np.divide(rows, np.sqrt(np.vecdot(rows, rows))[:, None], out=rows)
    return x


def bias_relu_abs(x, b):
    """Half of t + |t| in four passes: 16 + 16 + 24 + 16 = 72."""
    t = x + b
    return (t + np.abs(t)) * 0.5


def bias_relu_copy(x, b):
    """Copy, add, cut off: 16 + 16 + 16 = 48."""
    t = x.copy()
    return np.maximum(t + b, 0)


def bias_relu_expression(x, b):
    """Add, then the maximum: 16 + 16 = 32."""
    return np.maximum(x + b, 0)


def bias_relu_chunks(x, b, chunk=ROWS):
    """Some rows at a time, still in the cache for the second call: 8 + 8 = 16."""
    for i in range(0, len(x), chunk):
        part = x[i : i + chunk]
        np.maximum(np.add(part, b, out=part), 0, out=part)
    return x


def sum_of_squares_abs(x):
    """The sizes, their squares, the sum: 16 + 16 + 8 = 40."""
    return (np.abs(x) ** 2).sum()


def sum_of_squares_expression(x):
    """The squares, the sum: 16 + 8 = 24."""
    return (x * x).sum()


def sum_of_squares_chunks(x, chunk=CHUNK):
    """The squares of a chunk stay in the cache: 8."""
    t, total = np.empty(min(chunk, len(x)), x.dtype), 0.0
    for i in range(0, len(x), chunk):
        part = x[i : i + chunk]
        total += np.add.reduce(np.multiply(part, part, out=t[: len(part)]))
    return total


def sum_of_squares_dot(x):
    """One pass: 8."""
    return np.dot(x, x)


AXPY = {
    "copies": axpy_copies, "expression": axpy_expression, "out": axpy_out, "chunks": axpy_chunks,
}  # fmt: skip
SCALE_ADD_SCALE = {
    "multiplied-out": scale_add_scale_factored_out, "expression": scale_add_scale_expression,
    "half-chunked": scale_add_scale_half_chunked, "chunks": scale_add_scale_chunks,
}  # fmt: skip
ROW_L2_NORM = {
    "repeat": row_l2_norm_broadcast, "expression": row_l2_norm_expression,
    "einsum": row_l2_norm_einsum, "chunks": row_l2_norm_chunks,
}  # fmt: skip
BIAS_RELU = {
    "abs": bias_relu_abs, "copy": bias_relu_copy, "expression": bias_relu_expression,
    "chunks": bias_relu_chunks,
}  # fmt: skip
SUM_OF_SQUARES = {
    "abs": sum_of_squares_abs, "expression": sum_of_squares_expression,
    "chunks": sum_of_squares_chunks, "dot": sum_of_squares_dot,
}  # fmt: skip

"""Ways to play each hole, worst first. The comment is the ledger: fp64 bytes an element."""

from __future__ import annotations

from collections.abc import Iterator

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


def axpy_reference(a, x, y):
    return a * x + y


def sum_of_squares_reference(x):
    return np.sum(x * x)


def row_l2_norm_reference(x):
    return x / np.sqrt(np.sum(x * x, axis=1, keepdims=True))


def bias_relu_reference(x, b):
    return np.maximum(x + b, 0)


def scale_add_scale_reference(a, b, x, y):
    return b * (a * x + y)


REFERENCES = {
    "axpy": axpy_reference, "sum-of-squares": sum_of_squares_reference,
    "row-l2-norm": row_l2_norm_reference, "bias-relu": bias_relu_reference,
    "scale-add-scale": scale_add_scale_reference,
}  # fmt: skip
VARIANTS = {
    "axpy": {
        "copies": axpy_copies, "expression": axpy_expression, "out": axpy_out,
        "chunks": axpy_chunks,
    },
    "sum-of-squares": {
        "abs": sum_of_squares_abs, "expression": sum_of_squares_expression,
        "chunks": sum_of_squares_chunks, "dot": sum_of_squares_dot,
    },
    "row-l2-norm": {
        "repeat": row_l2_norm_broadcast, "expression": row_l2_norm_expression,
        "einsum": row_l2_norm_einsum, "chunks": row_l2_norm_chunks,
    },
    "bias-relu": {
        "abs": bias_relu_abs, "copy": bias_relu_copy, "expression": bias_relu_expression,
        "chunks": bias_relu_chunks,
    },
    "scale-add-scale": {
        "multiplied-out": scale_add_scale_factored_out, "expression": scale_add_scale_expression,
        "half-chunked": scale_add_scale_half_chunked, "chunks": scale_add_scale_chunks,
    },
}  # fmt: skip

# Ways to play the five holes, right and wrong: the answers and the mistakes of lesson 02's golf.
#
# The right ones work in pieces whose temporary stays in the cache. With ``chunk`` too large, or
# without the ``tail`` that does not fill a chunk, they are wrong as well.


def _pieces(x, chunk: int = CHUNK, tail: bool = True) -> Iterator[slice]:
    for i in range(0, len(x) if tail else len(x) // chunk * chunk, chunk):
        yield slice(i, i + chunk)


def _overlapping(x, chunk: int = CHUNK) -> Iterator[slice]:
    for i in range(0, len(x), chunk - 1):
        yield slice(i, i + chunk)


def axpy(a, x, y, chunk=CHUNK, tail=True):
    """Right, or with too large a chunk, or without what does not fill one."""
    out = np.empty_like(y)
    for p in _pieces(x, chunk, tail):
        np.add(a * x[p], y[p], out=out[p])
    return out


def axpy_through_a_temporary(a, x, y):
    t = np.empty_like(x)
    np.multiply(x, a, out=t)
    np.add(t, y, out=t)
    return t


def axpy_in_place(a, x, y):
    x *= a
    x += y
    return x


def axpy_copied(a, x, y):
    out = y.copy()
    for p in _pieces(x):
        out[p] += a * x[p]
    return out


def axpy_scratch(a, x, y):
    for p in _pieces(x):
        x[p] *= a
        y[p] += x[p]
    return y


def axpy_filled(a, x, y):
    out = np.zeros_like(y)
    for p in _pieces(x):
        out[p] = a * x[p] + y[p]
    return out


def axpy_joined(a, x, y):
    return np.concatenate([a * x[p] + y[p] for p in _pieces(x)])


def axpy_overlapping(a, x, y):
    for p in _overlapping(x):
        y[p] += a * x[p]
    return y


def axpy_of_one_piece(a, x, y):
    for p in _pieces(x):
        return a * x[p] + y[p]


def axpy_outside(a, x, y):
    x *= a
    for p in _pieces(x):
        y[p] += x[p]
    return y


def axpy_in_two_loops(a, x, y):
    out = np.empty_like(y)
    for p in _pieces(x):
        out[p] = a * x[p]
    for p in _pieces(x):
        out[p] += y[p]
    return out


def axpy_in_one_large_piece(a, x, y):
    for p in _pieces(x, 2 * len(x)):
        y[p] += a * x[p]
    return y


def scale_add_scale(a, b, x, y, chunk=CHUNK, tail=True):
    """Right, or with too large a chunk, or without what does not fill one."""
    out = np.empty_like(y)
    for p in _pieces(x, chunk, tail):
        np.multiply(a * x[p] + y[p], b, out=out[p])
    return out


def scale_out(a, b, x, y):
    t = np.multiply(x, a)
    np.add(t, y, out=t)
    np.multiply(t, b, out=t)
    return t


def scale_in_place(a, b, x, y):
    x *= a
    x += y
    x *= b
    return x


def scale_copied(a, b, x, y):
    out = y.copy()
    for p in _pieces(x):
        out[p] = b * (a * x[p] + out[p])
    return out


def scale_scratch(a, b, x, y):
    for p in _pieces(x):
        x[p] *= a
        y[p] = b * (x[p] + y[p])
    return y


def scale_filled(a, b, x, y):
    out = np.zeros_like(y)
    for p in _pieces(x):
        out[p] = b * (a * x[p] + y[p])
    return out


def scale_joined(a, b, x, y):
    return np.concatenate([b * (a * x[p] + y[p]) for p in _pieces(x)])


def scale_overlapping(a, b, x, y):
    for p in _overlapping(x):
        y[p] = b * (a * x[p] + y[p])
    return y


def scale_of_one_piece(a, b, x, y):
    for p in _pieces(x):
        return b * (a * x[p] + y[p])


def scale_outside(a, b, x, y):
    for p in _pieces(x):
        y[p] += a * x[p]
    y *= b
    return y


def scale_in_two_loops(a, b, x, y):
    for p in _pieces(x):
        y[p] += a * x[p]
    for p in _pieces(x):
        y[p] *= b
    return y


def scale_in_one_large_piece(a, b, x, y):
    for p in _pieces(x, 2 * len(x)):
        y[p] = b * (a * x[p] + y[p])
    return y


def squares(x, chunk=CHUNK, tail=True):
    """Right in pieces; np.dot(x, x) does as well."""
    total = x.dtype.type(0)
    for p in _pieces(x, chunk, tail):
        total += np.sum(x[p] * x[p])
    return total


def squares_of_last_piece(x):
    total = 0
    for p in _pieces(x):
        total = np.dot(x[p], x[p])
    return total


def squares_overlapping(x):
    return sum(np.dot(x[p], x[p]) for p in _overlapping(x))


def squares_of_one_piece(x):
    for p in _pieces(x):
        return np.dot(x[p], x[p])


def squares_in_one_large_piece(x):
    return sum(np.sum(x[p] ** 2) for p in _pieces(x, 2 * len(x)))


def squares_in_place(x):
    x *= x
    return np.sum(x)


def squares_out(x):
    t = x.copy()
    np.multiply(t, t, out=t)
    return np.sum(t)


def bias_relu(x, b, chunk=ROWS, tail=True):
    """Right, or with too many rows, or without those that are left over."""
    out = np.empty_like(x)
    for p in _pieces(x, chunk, tail):
        np.maximum(x[p] + b, 0, out=out[p])
    return out


def relu_lost(x, b):
    for p in _pieces(x, ROWS):
        x[p] += b
        np.maximum(x[p], 0)
    return x


def relu_overlapping(x, b):
    for p in _overlapping(x, ROWS):
        x[p] = np.maximum(x[p] + b, 0)
    return x


def relu_of_one_piece(x, b):
    for p in _pieces(x, ROWS):
        x[p] = np.maximum(x[p] + b, 0)
        return x


def relu_outside(x, b):
    x += b
    for p in _pieces(x, ROWS):
        np.maximum(x[p], 0, out=x[p])
    return x


def relu_in_two_loops(x, b):
    for p in _pieces(x, ROWS):
        x[p] += b
    for p in _pieces(x, ROWS):
        np.maximum(x[p], 0, out=x[p])
    return x


def relu_in_one_large_piece(x, b):
    for p in _pieces(x, 2 * len(x)):
        x[p] = np.maximum(x[p] + b, 0)
    return x


def relu_out(x, b):
    t = x + b
    np.maximum(t, 0, out=t)
    return t


def relu_in_place(x, b):
    x += b
    np.maximum(x, 0, out=x)
    return x


def relu_copied(x, b):
    out = x.copy()
    for p in _pieces(x, ROWS):
        out[p] = np.maximum(out[p] + b, 0)
    return out


def relu_mask(x, b):
    t = x + b
    return t * (t > 0)


def relu_filled(x, b):
    out = np.zeros_like(x)
    for p in _pieces(x, ROWS):
        out[p] = np.maximum(x[p] + b, 0)
    return out


def relu_joined(x, b):
    return np.concatenate([np.maximum(x[p] + b, 0) for p in _pieces(x, ROWS)])


def squares_in_passes(x):
    """What the variance leaves out, put back."""
    return np.var(x) * len(x) + np.sum(x) ** 2 / len(x)


def lengths(rows):
    return np.sqrt(np.einsum("ij,ij->i", rows, rows))[:, None]


def row_norm(x, chunk=ROWS, tail=True):
    """Right, or with too many rows, or without those that are left over."""
    out = np.empty_like(x)
    for p in _pieces(x, chunk, tail):
        np.divide(x[p], lengths(x[p]), out=out[p])
    return out


def norm_of_one_piece(x):
    for p in _pieces(x, ROWS):
        x[p] /= lengths(x[p])
        return x


def norm_of_blocks(x):
    for p in _pieces(x, ROWS):
        x[p] /= np.linalg.norm(x[p])
    return x


def norm_of_columns_of_blocks(x):
    for p in _pieces(x, ROWS):
        x[p] /= np.linalg.norm(x[p], axis=0)
    return x


def norm_in_one_large_piece(x):
    for p in _pieces(x, 2 * len(x)):
        x[p] /= lengths(x[p])
    return x


def norm_filled(x):
    return np.apply_along_axis(lambda row: row / np.sqrt(np.dot(row, row)), 1, x)


def norm_joined(x):
    return np.concatenate([x[p] / lengths(x[p]) for p in _pieces(x, ROWS)])


def norm_copied(x):
    out = x.copy()
    for p in _pieces(out, ROWS):
        out[p] /= lengths(out[p])
    return out

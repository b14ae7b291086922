"""Ways to play the five holes, right and wrong: the answers and the mistakes of lesson 02's golf.

The right ones work in pieces whose temporary stays in the cache. With ``chunk`` too large, or
without the ``tail`` that does not fill a chunk, they are wrong as well.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

CHUNK = 16_384  # numbers: 128 KiB of fp64
ROWS = 32  # of 512 numbers


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


def axpy_out(a, x, y):
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

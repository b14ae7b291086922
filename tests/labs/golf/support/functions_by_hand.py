"""Functions and their ledgers by hand: bytes an element, one number a step that moves memory.

x, y, z: vectors of N fp64; m, w: matrices of as many elements, 640 rows; b: one row of 512, which
the cache of 32 KiB holds; f: N fp32; i: N indices of 8 bytes; k: a mask that is true for a quarter.
Written down before the code was run. 8 = a trip of an fp64 array; 4 of fp32; 1 of a mask.
"""

from __future__ import annotations

import numpy as np


def in_chunks(x, y, chunk=1024):
    t = np.empty(chunk)
    for start in range(0, len(x), chunk):
        part = np.multiply(x[start : start + chunk], 0.5, out=t)
        y[start : start + chunk] += part
    return y


def twice_in_pieces(x, chunk=1024):
    for start in range(0, len(x), chunk):
        part = x[start : start + chunk]
        part *= 2.0
        part += 1.0
    return x


def row_by_row(m):
    out = np.zeros(len(m))
    for number, row in enumerate(m):
        out[number] = row @ row
    return out


def buffer_of_its_own(x, y):
    t = np.empty(len(x))
    np.multiply(x, 0.5, out=t)
    t += y
    return t


def in_place(x):
    x *= 2.0
    x += 1.0


def swap_halves(x):
    half = len(x) // 2
    return np.concatenate([x[half:], x[:half]])


def scatter_add(x, i):
    out = np.zeros(len(x))
    np.add.at(out, i, x)
    return out


def with_copyto(x, y):
    np.copyto(y, x)
    return y


def masked_copyto(x, y, k):
    np.copyto(y, x, where=k)
    return y


def through_asarray(x):
    import numpy

    return numpy.asarray(x) + numpy.array(x)


BY_HAND = {  # name: (function, bytes an element of every step)
    # element-wise
    "a·x + y": (lambda x, y: 0.5 * x + y, (16, 24)),
    "x·x, x once": (lambda x: x * x, (16,)),
    "x·y": (lambda x, y: x * y, (24,)),
    "x²": (lambda x: x**2, (16,)),
    "√|x|": (lambda x: np.sqrt(np.abs(x)), (16, 16)),
    "a·x + b·y": (lambda x, y: 2 * x + 3 * y, (16, 16, 24)),
    "x + y + z": (lambda x, y, z: x + y + z, (24, 24)),
    "comparison": (lambda x, y: x > y, (17,)),
    "not": (lambda k: ~k, (2,)),
    "fp32": (lambda f: f * np.float32(2), (8,)),
    "fp32 + fp64, cast in a buffer": (lambda f, x: f + x, (20,)),
    "fp32·int, still fp32": (lambda f: 3 * f, (8,)),
    "two outputs": (lambda x: np.modf(x), (24,)),
    "where= reads the mask": (lambda x, y, k: np.add(x, y, out=y, where=k), (25,)),
    # in place and out=
    "in place": (in_place, (16, 16)),
    "own buffer, out=": (buffer_of_its_own, (16, 24)),
    "out= is the input": (lambda x: np.square(x, out=x), (16,)),
    # views
    "views only": (lambda x: x[::2].reshape(-1, 4).T[1:], ()),
    "every second, in whole lines": (lambda x: 2 * x[::2], (12,)),
    "every ninth, a line for each": (lambda x: 2 * x[::9], (64 / 9 + 8 / 9,)),
    "half of every row": (lambda m: m[:, :256] * 2, (8,)),
    "neighbours share their bytes": (lambda x: x[1:] + x[:-1], (16,)),
    "sum of the two halves": (lambda x: x[: len(x) // 2] + x[len(x) // 2 :], (12,)),
    "transposed": (lambda m: m.T * 2, (16,)),
    "reshape of a transpose copies, a line for each": (lambda m: m.T.reshape(-1), (72,)),
    "ravel is a view": (lambda m: m.ravel() + 1, (16,)),
    "flatten copies": (lambda m: m.flatten(), (16,)),
    "in chunks": (in_chunks, (8, 16)),
    "a view is near when it was just touched": (twice_in_pieces, (8, 8)),
    "np.asarray keeps the trace": (through_asarray, (16, 24)),
    # broadcasting
    "bias from the cache": (lambda m, b: m + b, (16,)),
    "outer product from the cache": (lambda b, m: np.outer(np.ones(len(m)), b) + m, (8, 24)),
    "relu": (lambda m, b: np.maximum(m + b, 0), (16, 16)),
    # reductions
    "sum": (lambda x: x.sum(), (8,)),
    "sum of squares": (lambda x: np.sum(x * x), (16, 8)),
    "dot with itself": (lambda x: np.dot(x, x), (8,)),
    "dot": (lambda x, y: x @ y, (16,)),
    "mean": (lambda x: x.mean(), (8,)),
    "mean of columns": (lambda m: m.mean(axis=0), (8,)),
    "variance": (lambda x: np.var(x), (8, 16, 16, 8)),
    "standard deviation of rows": (lambda m: m.std(axis=1), (8, 16, 16, 8)),
    "running sum": (lambda x: np.cumsum(x), (16,)),
    "largest": (lambda x: np.maximum.reduce(x), (8,)),
    "any": (lambda k: k.any(), (1,)),
    "place of the largest": (lambda x: x.argmax(), (8,)),
    # linear algebra
    "norm": (lambda x: np.linalg.norm(x), (8,)),
    "norm of rows": (lambda m: np.linalg.norm(m, axis=1), (16, 8)),
    "vector norm, never a dot": (lambda x: np.linalg.vector_norm(x), (16, 8)),
    "vector norm of everything": (lambda m: np.linalg.vector_norm(m, keepdims=True), (16, 8)),
    "vector norm of rows": (
        lambda m: m / np.linalg.vector_norm(m, axis=1, keepdims=True),
        (16, 8, 16),
    ),
    "vecdot of np.linalg": (lambda m, w: np.linalg.vecdot(m, w), (16,)),
    "matmul of np.linalg": (lambda m, b: np.linalg.matmul(m, b), (8,)),
    "tensordot of np.linalg": (lambda x: np.linalg.tensordot(x, x, axes=1), (8,)),
    "einsum of rows": (lambda m: np.einsum("ij,ij->i", m, m), (8,)),
    "matrix · vector": (lambda m, b: m @ b, (8,)),
    "row by row": (row_by_row, (8,)),
    "normalised rows": (lambda m: m / np.sqrt((m * m).sum(axis=1, keepdims=True)), (16, 8, 16)),
    "softmax of rows": (
        lambda m: (e := np.exp(m - m.max(axis=1, keepdims=True))) / e.sum(axis=1, keepdims=True),
        (8, 16, 16, 8, 16),
    ),
    # copies
    "astype": (lambda x: x.astype(np.float32), (12,)),
    "copy": (lambda x: x.copy(), (16,)),
    "choose": (lambda x, y: np.where(x > y, x, y), (17, 25)),
    "choose a number": (lambda x: np.where(x > 0, x, 0.0), (9, 17)),
    "concatenate": (lambda x, y: np.concatenate([x, y]), (32,)),
    "stack": (lambda x, y: np.stack([x, y], axis=1), (32,)),
    "array of a list": (lambda x, y: np.array([x, y]), (32,)),
    "asarray of a tuple": (lambda x, y: np.asarray((x, y)), (32,)),
    "largest of a list": (lambda x, y: np.max([x, y], axis=0), (32, 24)),
    "mean of a list": (lambda x, y: np.mean([x, y, x], axis=0), (40, 32, 16)),
    "along the rows": (lambda m: np.apply_along_axis(lambda r: r * 2, 1, m), (8, 8, 8)),
    "along the columns": (lambda m: np.apply_along_axis(lambda c: c.sum(), 0, m), (64,)),
    "two halves swapped": (swap_halves, (16,)),
    "clip": (lambda x: np.clip(x, -1, 1), (16,)),
    "fill": (lambda x: np.full_like(x, 3.0) * x, (8, 24)),
    "np.full": (lambda x: np.full(len(x), 3.0) * x, (8, 24)),
    "np.ones": (lambda x: np.ones(len(x)) + x, (8, 24)),
    "zeros are not written": (lambda x: np.zeros(len(x)) + x, (24,)),
    "copyto": (with_copyto, (16,)),
    "copyto with a mask": (masked_copyto, (17,)),
    "differences": (lambda x: np.diff(x), (16,)),
    # index arrays and masks
    "gather": (lambda x, i: x[i], (24,)),
    "take": (lambda x, i: x.take(i), (24,)),
    "scatter": (lambda x, y, i: y.__setitem__(i, x), (24,)),
    "add.at": (scatter_add, (32,)),
    "a quarter by mask": (lambda x, k: x[k], (1 + 2 + 2,)),
}

"""Ways to play each hole, worst first. The comment is the ledger: fp64 bytes an element."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from inspect import Signature, signature
from typing import Any

import numpy as np

CHUNK = 16_384
"""Elements in a chunk: a quarter of golf's cache in fp64. Two of them stay near, and some spare."""
ROWS = 32
"""Rows in a chunk of a matrix of 512 columns."""
Way = Callable[..., Any]


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


def _pieces(x, chunk: int = 0, tail: bool = True, overlap: int = 0) -> Iterator[slice]:
    chunk = chunk or (CHUNK if x.ndim == 1 else ROWS)
    for i in range(0, len(x) if tail else len(x) // chunk * chunk, chunk - overlap):
        yield slice(i, i + chunk)


def _by_pieces(whole: Way, into: Way | None = np.empty_like, pieces: Way = _pieces) -> Way:
    """Return a way that does ``whole`` on piece after piece, of ``chunk`` numbers or rows.

    ``into``: makes the array to write to, from the last input; None writes over that.
    """

    def way(*given, chunk=0, tail=True):
        *_, last = _large(given)
        out = given[last] if into is None else into(given[last])
        if into is np.copy:
            given = (*given[:last], out, *given[last + 1 :])
        for p in pieces(out, chunk, tail):
            out[p] = whole(*_cut(given, p))
        return out

    kinds = [*signature(whole).parameters.values(), *signature(way).parameters.values()]
    way.__signature__ = Signature([k for k in kinds if k.name != "given"])  # type: ignore[attr-defined]
    return way


def _joined(whole: Way) -> Way:
    """Return a way that keeps the pieces to the end, and joins them there."""

    def way(*given):
        return np.concatenate([whole(*_cut(given, p)) for p in _pieces(given[_large(given)[0]])])

    way.__signature__ = signature(whole)  # type: ignore[attr-defined]
    return way


def _in_turn(first: Way, then: Way, outside: bool = False) -> Way:
    """Return a way of two loops over the pieces; ``outside``: the first is a call on the whole."""

    def way(*given):
        x = given[_large(given)[0]]
        for p in [slice(None)] if outside else _pieces(x):
            first(*_cut(given, p))
        for p in _pieces(x):
            then(*_cut(given, p))
        return x

    way.__signature__ = signature(first)  # type: ignore[attr-defined]
    return way


def mistakes(whole: Way, without: Collection[str] = ()) -> dict[str, Way]:
    """Return wrong ways of the work of ``whole``, by the names of lesson 02's hints."""
    made = {
        "copied": _by_pieces(whole, np.copy), "filled": _by_pieces(whole, np.zeros_like),
        "joined": _joined(whole),
        "overlapping": _by_pieces(whole, None, lambda x, *_: _pieces(x, overlap=1)),
        "one_piece": _by_pieces(whole, None, lambda x, *_: [next(_pieces(x))]),
        "one_large": _by_pieces(whole, None, lambda x, *_: _pieces(x, 2 * len(x))),
    }  # fmt: skip
    return {name: way for name, way in made.items() if name not in without}


def _large(given) -> list[int]:
    """Return the places of the arrays that are cut: those as large as the largest."""
    sizes = [getattr(one, "size", 1) for one in given]
    return [n for n, size in enumerate(sizes) if size == max(sizes)]


def _cut(given, p) -> list[Any]:
    large = _large(given)
    return [one[p] if n in large else one for n, one in enumerate(given)]


def axpy_through_a_temporary(a, x, y):
    t = np.empty_like(x)
    np.multiply(x, a, out=t)
    np.add(t, y, out=t)
    return t


def axpy_in_place(a, x, y):
    x *= a
    x += y
    return x


def axpy_scratch(a, x, y):
    for p in _pieces(x):
        x[p] *= a
        y[p] += x[p]
    return y


AXPY = (lambda a, x, y: np.multiply(x, a, out=x)), (lambda a, x, y: np.add(x, y, out=x))
axpy_in_two_loops, axpy_outside = _in_turn(*AXPY), _in_turn(*AXPY, outside=True)
axpy = _by_pieces(axpy_expression)


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


def scale_scratch(a, b, x, y):
    for p in _pieces(x):
        x[p] *= a
        y[p] = b * (x[p] + y[p])
    return y


SCALE = (
    lambda a, b, x, y: np.multiply(x, a, out=x),
    lambda a, b, x, y: np.multiply(np.add(x, y, out=x), b, out=x),
)
scale_in_two_loops, scale_outside = _in_turn(*SCALE), _in_turn(*SCALE, outside=True)
scale_add_scale = _by_pieces(scale_add_scale_expression)


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
    return sum(np.dot(x[p], x[p]) for p in _pieces(x, overlap=1))


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


def squares_in_passes(x):
    """What the variance leaves out, put back."""
    return np.var(x) * len(x) + np.sum(x) ** 2 / len(x)


def relu_lost(x, b):
    for p in _pieces(x):
        x[p] += b
        np.maximum(x[p], 0)
    return x


def relu_out(x, b):
    t = x + b
    np.maximum(t, 0, out=t)
    return t


def relu_in_place(x, b):
    x += b
    np.maximum(x, 0, out=x)
    return x


def relu_mask(x, b):
    t = x + b
    return t * (t > 0)


RELU = (lambda x, b: np.add(x, b, out=x)), (lambda x, b: np.maximum(x, 0, out=x))
relu_in_two_loops, relu_outside = _in_turn(*RELU), _in_turn(*RELU, outside=True)
bias_relu = _by_pieces(bias_relu_expression)


def lengths(rows):
    return np.sqrt(np.einsum("ij,ij->i", rows, rows))[:, None]


def norm_filled(x):
    return np.apply_along_axis(lambda row: row / np.sqrt(np.dot(row, row)), 1, x)


norm_of_blocks = _by_pieces(lambda x: x / np.linalg.norm(x), None)
norm_of_columns_of_blocks = _by_pieces(lambda x: x / np.linalg.norm(x, axis=0), None)
row_norm = _by_pieces(row_l2_norm_einsum)

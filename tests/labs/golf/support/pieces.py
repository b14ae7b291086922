"""Programs that keep things in a cache, or do not: whole arrays, pieces, rows, columns, lists.

They take x, y (vectors) or m (a matrix of 512 columns) and b (a row), and a piece is a part of a
cache of 32 KiB.
"""

from __future__ import annotations

import inspect

import numpy as np

P = 1024  # elements of a piece: 8 KiB, a quarter of the cache


def inputs(function, n: int) -> list:
    """The arrays that ``function`` names, of about ``n`` elements."""
    random = np.random.default_rng(3)
    found = {
        "x": random.standard_normal(n), "y": random.standard_normal(n),
        "m": random.standard_normal((n // 512, 512)), "b": random.standard_normal(512),
        "f": random.standard_normal(n).astype(np.float32),
    }  # fmt: skip
    return [found[name] for name in inspect.signature(function).parameters if name in found]


def cut(x, piece=P):
    return [slice(at, at + piece) for at in range(0, len(x), piece)]


def in_place_in_pieces(x, piece=P):
    for p in cut(x, piece):
        x[p] *= 2.0
        x[p] += 1.0
        x[p] *= 3.0
    return x


def result_as_scratch(x, y):
    out = np.empty_like(x)
    for p in cut(x):
        np.multiply(x[p], 0.5, out=out[p])
        out[p] += y[p]
    return out


def input_as_scratch(x, y):
    for p in cut(x):
        x[p] *= 0.5
        y[p] += x[p]
    return y


def copied_first(x, y):
    out = y.copy()
    for p in cut(x):
        out[p] += 0.5 * x[p]
    return out


def list_of_pieces(x, y):
    kept = [0.5 * x[p] for p in cut(x)]
    for p, piece in zip(cut(x), kept):
        y[p] += piece
    return y


def backwards(x):
    for p in cut(x):
        x[p] += 1.0
    for p in reversed(cut(x)):
        x[p] *= 2.0
    return x


def three_times_the_last(x):
    for p in cut(x):
        x[p] += 1.0
    for _ in range(3):
        x[-3 * P :] *= 2.0
    return x


def rows_twice(m):
    for row in m:
        row /= np.sqrt(np.dot(row, row))
    return m


def rows_to_a_result(m):
    out = np.empty_like(m)
    for i in range(0, len(m), 2):
        rows = m[i : i + 2]
        np.divide(rows, np.sqrt(np.vecdot(rows, rows))[:, None], out=out[i : i + 2])
    return out


def rows_copied(m):
    for i in range(len(m)):
        rows = m[i : i + 1].copy()
        m[i : i + 1] = rows / np.sqrt(np.vecdot(rows, rows))[:, None]
    return m


def columns_twice(m):
    """A block of 64 columns has 128 KiB here: too large to stay."""
    for j in range(0, 512, 64):
        block = m[:, j : j + 64]
        block *= 2.0
        block += 1.0
    return m


def column_by_column(m, b):
    """The lines of a column are the lines of its neighbours, and the cache holds them here."""
    few = m[:128]
    for j in range(512):
        column = few[:, j]
        column += b[j]
        np.maximum(column, 0, out=column)
    return few


def part_of_rows(m):
    """Of 8 rows the left half, which the cache holds for the second call."""
    for i in range(0, len(m), 8):
        block = m[i : i + 8, :128]
        block *= 2.0
        block += 1.0
    return m


def sum_of_pieces(x):
    return sum(float(np.dot(x[p], x[p])) for p in cut(x))


def two_passes(x):
    middle = sum(float(x[p].sum()) for p in cut(x)) / len(x)
    return sum(float(np.square(x[p] - middle).sum()) for p in cut(x, P // 2))


def two_statistics(x):
    """Sum and sum of squares of a piece while it is there."""
    total = squares = 0.0
    for p in cut(x):
        total += x[p].sum()
        squares += np.dot(x[p], x[p])
    return total, squares


def one_piece_for_all(x):
    """A piece used in every turn stays; the others pass by."""
    first = x[:P]
    for p in cut(x)[1:]:
        x[p] += first
    return x


def neighbours(x, y):
    for p in cut(x):
        y[p] = x[p]
        y[p] += x[p][::-1]
    return y


def large_temporary(x, y, piece=8 * P):
    t = np.empty(piece)
    for p in cut(x, piece):
        np.multiply(x[p], 0.5, out=t)
        np.add(t, y[p], out=y[p])
    return y


def larger_of_two(m, b):
    """In each turn a list of two rows becomes a small array."""
    for i in range(len(m)):
        t = m[i] + b
        m[i] = np.max([t, 0 * t], axis=0)
    return m


def normalised(row):
    return row / np.sqrt(np.dot(row, row))


PROGRAMS = {
    "a·x + y": lambda x, y: 0.5 * x + y,
    "y += a·x": lambda x, y: np.add(y, 0.5 * x, out=y),
    "fp32 + fp64": lambda f, x: f + x,
    "every fourth, summed": lambda x: x[::4].sum(),
    "a line for each": lambda x: x[::16].sum(),
    "bias": lambda m, b: m + b,
    "normalised rows": lambda m: m / np.sqrt(np.vecdot(m, m))[:, None],
    "differences of rows": lambda m: m[1:] - m[:-1],
    "left half of rows": lambda m: m[:, :256] * 2,
    "in place in pieces": in_place_in_pieces,
    "in place in large pieces": lambda x: in_place_in_pieces(x, 8 * P),
    "in place in tiny pieces": lambda x: in_place_in_pieces(x, P // 8),
    "result as scratch": result_as_scratch,
    "input as scratch": input_as_scratch,
    "copied first": copied_first,
    "list of pieces": list_of_pieces,
    "backwards": backwards,
    "three times the last": three_times_the_last,
    "rows twice": rows_twice,
    "rows to a result": rows_to_a_result,
    "rows copied": rows_copied,
    "columns twice": columns_twice,
    "column by column": column_by_column,
    "part of rows": part_of_rows,
    "sum of pieces": sum_of_pieces,
    "two passes": two_passes,
    "two statistics": two_statistics,
    "one piece for all": one_piece_for_all,
    "neighbours": neighbours,
    "large temporary": large_temporary,
    "array of a list of rows": lambda m: np.array([normalised(row) for row in m]),
    "array of a list of vectors": lambda x, y: np.array([x, y, 2 * x]),
    "stack of rows": lambda m: np.stack([normalised(row) for row in m]),
    "vstack of pieces": lambda m, b: np.vstack([m[p] + b for p in cut(m, 2)]),
    "concatenate of pieces": lambda m, b: np.concatenate([m[p] + b for p in cut(m, 2)]),
    "largest of a list": larger_of_two,
    "largest of a long list": lambda x, y: np.max([x, y], axis=0),
    "along the rows": lambda m: np.apply_along_axis(normalised, 1, m),
    "a number of every row": lambda m: np.apply_along_axis(lambda row: np.dot(row, row), 1, m),
}

"""What golf says NumPy makes on the side is what NumPy really asks the system for."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from rooflab.labs.golf import golf
from tests.support.rows import each_row

N, ROWS, COLUMNS = 200_000, 400, 500
SLACK = 200_000  # bytes: buffers of 8192 elements, small results


def vector(dtype=np.float64):
    return np.random.default_rng(1).standard_normal(N + 1).astype(dtype)


def matrix(dtype=np.float64):
    return np.random.default_rng(2).standard_normal((ROWS, COLUMNS)).astype(dtype)


def strided():
    return np.random.default_rng(3).standard_normal((ROWS, 2 * COLUMNS))[:, ::2]


CALLS = {
    "mean of integers": (lambda x: x.mean(), [vector().astype(np.int32)]),
    "sum in a wider dtype": (lambda f: f.sum(dtype=np.float64), [vector(np.float32)]),
    "variance": (np.var, [vector()]),
    "variance of columns": (lambda m: m.var(axis=0), [matrix()]),
    "norm": (np.linalg.norm, [vector()]),
    "norm of a strided matrix": (np.linalg.norm, [strided()]),
    "norm of rows": (lambda m: np.linalg.norm(m, axis=1), [strided()]),
    "vector norm": (np.linalg.vector_norm, [vector()]),
    "vector norm of rows": (lambda m: np.linalg.vector_norm(m, axis=1), [strided()]),
    "vecdot of np.linalg": (lambda m: np.linalg.vecdot(m, m), [strided()]),
    "absolute norm of rows": (lambda m: np.linalg.norm(m, 1, axis=1), [matrix()]),
    "matmul, two dtypes": (lambda m, w: m @ w.T, [matrix(np.float32), matrix()]),
    "dot, two dtypes": (lambda m, w: np.dot(m, w.T), [matrix(np.float32), matrix()]),
    "dot of a strided matrix": (lambda m, w: np.dot(m, w.T), [strided(), matrix()]),
    "matmul of a strided matrix": (lambda m, w: m @ w.T, [strided(), matrix()]),
    "dot of strided vectors": (lambda x: np.dot(x[::2], x[::2]), [vector()]),
    "einsum": (lambda m: np.einsum("ij,ij->i", m, m), [strided()]),
    "add, out= after the input": (lambda x: np.add(x[1:], x[:-1], out=x[1:]), [vector()]),
    "add, out= before the input": (lambda x: np.add(x[1:], x[:-1], out=x[:-1]), [vector()]),
    "add, out= reversed": (lambda x: np.add(x, 1, out=x[::-1]), [vector()]),
    "rows moved up": (lambda m: np.add(m[1:], 1, out=m[:-1]), [matrix()]),
    "rows moved down": (lambda m: np.add(m[:-1], 1, out=m[1:]), [matrix()]),
    "columns moved": (lambda m: np.add(m[:, 1:], 1, out=m[:, :-1]), [matrix()]),
    "slice onto its neighbour": (lambda x: x.__setitem__(slice(1, None), x[:-1]), [vector()]),
    "rows onto their neighbours": (lambda m: m.__setitem__(slice(1, None), m[:-1]), [matrix()]),
    "slice reversed onto itself": (lambda x: x.__setitem__(slice(None), x[::-1]), [vector()]),
    "fp32 + fp64": (lambda f, x: f + x, [vector(np.float32), vector()]),
    "take by short integers": (
        lambda x, i: np.take(x, i), [vector(), np.arange(N, dtype=np.int32)],
    ),
    "gather": (lambda x, i: x[i], [vector(), np.arange(N)]),
    "place of the largest, strided": (lambda x: np.argmax(x[::2]), [vector()]),
    "running sum": (np.cumsum, [vector()]),
    "differences": (np.diff, [vector()]),
    "roll": (lambda x: np.roll(x, 3), [vector()]),
    "outer product": (lambda a, b: np.outer(a[:ROWS], b[:COLUMNS]), [vector(), vector()]),
    "reshape of a transpose": (lambda m: m.T.reshape(-1), [matrix()]),
    "array of a list": (lambda x, y: np.array([x, y]), [vector(), vector()]),
    "largest of a list": (lambda x, y: np.max([x, y], axis=0), [vector(), vector()]),
    "a slice in place": (lambda x: x[100:].__iadd__(1.0), [vector()]),
}  # fmt: skip


def asked_for(function, inputs) -> int:
    function(*[array.copy() for array in inputs])  # caches of NumPy's own
    mine = [np.lib.stride_tricks.as_strided(a, a.shape, a.strides) for a in inputs]
    tracemalloc.start()
    try:
        kept = function(*mine)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
        del kept


@each_row(*CALLS)
def test_temporaries(name):
    function, inputs = CALLS[name]
    steps = golf(function, *inputs).steps
    made = {
        trip.name: trip.bytes
        for step in steps
        for trip in step.operands
        if trip.way == "write" and trip.where == "memory"
        if trip.name.startswith(("tmp", "result"))
    }
    assert sum(made.values()) == pytest.approx(asked_for(function, inputs), abs=SLACK, rel=0.05)

"""Methods of arrays and rarer NumPy functions: the bytes they move, or a refusal by name."""

from __future__ import annotations

import copy
import functools

import numpy as np
import pytest

from rooflab.labs.golf import GolfError, Untraceable
from rooflab.labs.golf import golf as with_its_own_cache
from tests.support.rows import each_row

golf = functools.partial(with_its_own_cache, cache=4096)
N = 10_000
X = np.arange(1.0, N + 1)
I = np.arange(1, N + 1)  # noqa: E741
Z = X + 1j
H = X.astype(np.float16)
M = np.ones((100, 100))


def filled(x):
    x.fill(3)
    return x


@each_row(
    (filled, X, 8, ["setitem"]), (lambda x: 3.0 in x, X, 8 + 1 + 1, ["equal", "logical_or.reduce"]),
    (lambda x: x**2, X, 16, ["square"]), (lambda x: x**0.5, X, 16, ["sqrt"]),
    (lambda x: x**-1, X, 16, ["reciprocal"]), (lambda x: x**3, X, 16, ["power"]),
    (lambda i: i**2, I, 16, ["power"]), (lambda x: x.clip(max=2), X, 16, ["clip"]),
    (lambda x: x.conj(), X, 0, []), (lambda z: z.conj(), Z, 32, ["conjugate"]),
    (lambda x: copy.copy(x), X, 16, ["copy"]), (lambda m: m.transpose(1, 0), M, 0, []),
    (lambda x: x.view(np.int64), X, 0, []), (lambda x: np.dot(x, 2.0), X, 16, ["multiply"]),
    (lambda x: np.dot(x, 2.0, out=x), X, 16, ["multiply"]),
    (lambda x: np.clip(x[1:], 0, 9, out=x[:-1]), X, 16, ["clip"]),
    (lambda i: np.linalg.norm(i), I, 8 + 8 + 8, ["astype", "dot"]),
    (lambda x: np.linalg.norm(x, np.inf), X, 24, ["absolute", "maximum.reduce"]),
    (lambda m: np.tensordot(m, m, axes=1), M, 8 + 8, ["dot"]),
    (lambda m: np.tensordot(m, m[0], axes=1), M, 8 + 0.08, ["dot"]),
    (lambda x: x[I[::2] - 1], X, 8 - 8 / N + 4 + 4 + 4 + 4, ["subtract", "getitem"]),
    (lambda x: np.mean(x, dtype=np.float32), X, 8, ["add.reduce"]),
    (lambda h: np.mean(h), H, 2, ["add.reduce"]),
)  # fmt: skip
def test_what_a_method_moves_and_gives(function, given, moved, calls):
    done = golf(function, given)
    assert done.per_element == pytest.approx(moved)
    assert [step.call for step in done.steps] == calls
    np.testing.assert_allclose(done.result, function(given.copy()), rtol=1e-3)


@each_row(int, float, complex, bool)
def test_python_takes_one_number_out_of_an_array_of_one(kind):
    done = golf(lambda x: kind(x[5:6]), X)
    assert done.result == kind(6.0) and type(done.result) is kind
    assert done.bytes == 8 and [step.call for step in done.steps] == ["item"]


@each_row(
    (lambda x: 1 if x > 0 else 2, r"truth value of an array .* ambiguous"),
    (lambda x: int(x), r"int\(\) .* take one number, and this array has 10000"),
    (lambda x: list(x[:1].reshape(())), "iteration over a 0-d array"),
    (lambda x: np.apply_along_axis(np.sum, 1, x[:0].reshape(0, 5)), "iteration dimensions"),
)
def test_what_numpy_itself_refuses_is_refused_in_its_words(function, words):
    with pytest.raises(GolfError, match=words):
        golf(function, X)


@each_row(
    (lambda x: x.view(np.ndarray), X, "view takes the numbers out"),
    (lambda x: np.clip(x[:-1], 0, 1, out=x[1:]), X, "clip with an out= that overlaps"),
    (lambda x: np.round(x[::-1], 1, out=x), X, "round with an out= that overlaps"),
    (lambda x: np.copyto(x[1:], x[:-1]), X, "np.copyto between overlapping views"),
    (lambda x: np.putmask(x, x > 5, x), X, "np.putmask with an array of values"),
    (lambda x: np.take(x, [1, 2], mode="clip"), X, "np.take with out= or mode="),
    (lambda x: np.diff(x, prepend=0.0), X, "np.diff with prepend="),
    (lambda x: np.diff(x > 5), X, "or of booleans"),
    (lambda x: np.var(x, where=x > 1), X, "np.var and np.std with where="),
    (lambda z: np.std(z), Z, "of complex numbers"),
    (lambda z: np.linalg.norm(z), Z, "np.linalg.norm of complex numbers"),
    (lambda m: np.linalg.norm(m, 1), M, "np.linalg.norm of a matrix with ord=1"),
    (lambda m: np.tensordot(m, m, axes=([0], [0])), M, "np.tensordot with axes="),
    (lambda m: np.dot(m, m), np.ones((9, 9, 9), int), "np.dot of integers in more than two"),
)
def test_what_has_no_count_is_refused_by_name(function, given, named):
    with pytest.raises(Untraceable, match=named):
        golf(function, given)


def test_masked_numbers_are_written_where_the_mask_says_so():
    def cut(x):
        np.putmask(x, x > 5, 0.0)
        return x

    done = golf(cut, X)
    np.testing.assert_array_equal(done.result, np.where(X > 5, 0, X))
    assert done.steps[1].bytes == pytest.approx(8 * (N - 5) + N, rel=0.01), "the mask is read"

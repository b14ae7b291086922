"""Programs: values of every kind come through, and what no recorder wrote is refused.

A program comes back from a student's process, so what it may name is a short list.
"""

from __future__ import annotations

import decimal
import functools
import json

import numpy as np
import pytest

from rooflab.labs.golf import GolfError, golf, sweep
from rooflab.labs.golf.replay import function_of
from tests.support.rows import each_row

X = np.random.default_rng(3).uniform(0.5, 2.0, 20_000)
Y = np.random.default_rng(4).uniform(0.5, 2.0, 20_000)
WHOLE = "Python made a whole number or a bool of it"


def parts(x):
    return (np.sum(part) for part in (x[:100], x[100:]))


@each_row(
    lambda x: x[..., 3:] * 2, lambda x: np.add(x, 1, where=np.True_, out=x),
    lambda x: x * np.bool_(True), lambda x: x * round(np.sum(x), 1),
    lambda x: x * isinstance(np.add, np.ufunc), lambda x: np.fromiter(parts(x), float) * 2,
    lambda x: np.fromiter(parts(x), float, count=1) * 2, lambda x: x * np.max([np.sum(x), 1.0]),
    lambda x: x * np.where(True, np.sum(x), 0), lambda x: x * np.clip(np.sum(x), 0, 5),
    lambda x: np.sum(x) * x, lambda x: x * np.median([np.sum(x), 2.0, 3.0]),
    lambda x: x * np.add.reduce([np.sum(x), 1.0]), lambda x: x * divmod(np.sum(x), 3.0)[1],
    lambda x: x * max([1, 2], key=lambda value: -value),
    lambda x: x * float(decimal.Decimal("2.5")), lambda x: x.astype("f4"),
    lambda x: np.minimum(x, np.inf), lambda x: x + np.array([1.0]),
)  # fmt: skip
def test_it_does_the_same_with_other_numbers_and_nothing_left(function):
    written = json.loads(json.dumps(golf(function, X.copy(), record=True).program))
    again, outside = function_of(written, 1)
    np.testing.assert_allclose(golf(again, Y.copy(), *outside).result, function(Y.copy()))
    assert written["left"] == []


@each_row(lambda x: x * round(np.sum(x)), lambda x: x[: np.argmax(x).item() + 1].sum())
def test_a_whole_number_made_by_python_is_seen_to_leave(function):
    assert golf(function, X.copy(), record=True).program["left"] == [WHOLE]


@each_row(
    None, {}, {"inputs": [["x", 0, 1]]}, {"inputs": [["x", 3, 1]], "calls": [], "answer": None},
    {"inputs": [["x", {"rope": 1}, 1]], "calls": [], "answer": None},
    {"inputs": [["x", {"array": ["O", [1], [1]]}, 1]], "calls": [], "answer": None},
    {"inputs": [["x", {"zeros": ["U9", [1]]}, 1]], "calls": [], "answer": None},
)  # fmt: skip
def test_what_is_no_program_is_said_to_be_none(program):
    with pytest.raises(ValueError, match="no program of golf's"):
        function_of(program, 1)


@each_row(
    "os.system", "operator.attrgetter", "add.__class__", "load.__call__", ".tofile", "eval",
    "math.__loader__", "np.load", "builtins.open", "linalg.svd"
)  # fmt: skip
def test_a_program_names_nothing_but_numbers_and_arrays(name):
    call = [name, [{"at": 1}], {}, 2]
    again, _ = function_of({"inputs": [["x", 0, 1]], "calls": [call], "answer": {"at": 2}}, 1)
    with pytest.raises(ValueError, match=f"'{name}' is nothing that golf can do"):
        again(X[:3])


@each_row({"at": 9}, {"the": "end"})
def test_a_value_that_nobody_computed_is_missed(value):
    call = ["add.__call__", [value, 1], {}, 2]
    again, _ = function_of({"inputs": [["x", 0, 1]], "calls": [call], "answer": {"at": 2}}, 1)
    with pytest.raises(KeyError):
        again(X[:3])


def circular(x):
    held: list = []
    held.append(held)
    return held


def test_what_golf_is_given_may_be_numpys_own_and_partial():
    assert golf(np.sqrt, X).per_element == 16
    assert golf(np.dot, X, X).per_element == 8
    half = golf(functools.partial(np.multiply, 0.5), X)
    assert half.per_element == 16 and half.name == "multiply"
    np.testing.assert_array_equal(half.result, X / 2)


def test_an_array_of_another_package_is_told_how_to_become_numpys():
    tensor = type("Tensor", (), {"__module__": "torch"})()
    with pytest.raises(TypeError, match=r"x is a torch Tensor.*give x\.numpy\(\)"):
        golf(lambda x: x, tensor)


def test_what_cannot_end_or_is_over_is_refused():
    with pytest.raises(GolfError, match="gives a list that holds itself; return an array"):
        golf(circular, X)
    kept: list = []
    golf(lambda x: kept.append(x), X)
    with pytest.raises(GolfError, match="belongs to a golf run that is over"):
        golf(lambda x: np.add(x, kept[0]), X)
    with pytest.raises(TypeError, match="at least one array with an axis to cut into chunks"):
        sweep(lambda x, chunk: x, 3.0, chunks=[4], rounds=0)

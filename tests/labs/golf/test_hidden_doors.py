"""Ways to the numbers behind a traced array, past the count: every one is shut."""

from __future__ import annotations

import functools

import numpy as np
import pytest

from rooflab.labs.golf import Untraceable, golf
from tests.support.rows import each_row

X = np.arange(20_000.0)


class AsksUfunc:
    """Wants to do NumPy's ufuncs itself, and sees their other arguments."""

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        raise AssertionError(f"it was handed {inputs}")


class AsksFunction:
    """The same for the functions that are no ufuncs."""

    def __array_function__(self, function, types, args, kwargs):
        raise AssertionError(f"it was handed {args}")


class Wraps(np.ndarray):
    """Sees the arguments of a call when its result is wrapped."""

    def __array_wrap__(self, made, context=None, scalar=False):
        raise AssertionError(f"it was handed {context}")


class Listens:
    """No number: NumPy would hand it every element, one by one."""

    def __add__(self, other):
        raise AssertionError(f"it was handed {other}")

    __radd__ = __lt__ = __gt__ = __rmul__ = __add__


class Listed(list):
    """A list that might look at what is taken out of it."""


ONE = [np.ones(1).view(Wraps)]  # in a list: golf looks at names, not into lists


@each_row(
    lambda x: np.add(x, AsksUfunc()), lambda x: np.add.reduce(x, where=AsksUfunc()),
    lambda x: np.where(x, AsksFunction(), 0), lambda x: np.concatenate([x, AsksFunction()]),
    lambda x: np.maximum(x, ONE[0]), lambda x: x * ONE[0], lambda x: np.maximum(x, 0, out=ONE[0]),
    lambda x: x.view(f"V{x.nbytes}")[0], lambda x: x.view("M8[s]"),
    lambda x: x.view([("a", "f8", (x.size,))])[0], lambda x: np.array(x, dtype=object),
    lambda x: np.array([x], dtype=object), lambda x: np.array([x, ONE[0]]),
    lambda x: np.array(Listed([x])), lambda x: np.sum([[x], [x]], dtype=object),
    lambda x: np.sum(Listed([x, x])),
    lambda x: np.apply_along_axis(lambda row: np.array(None), 0, x),
    lambda x: np.apply_along_axis(lambda row: AsksFunction(), 0, x),
    lambda x: np.asarray(x, dtype="S8"), lambda x: x * Listens(), lambda x: x > Listens(),
    lambda x: np.add.reduce(x, dtype=object, initial=Listens()),
    lambda x: np.add.reduce(x, dtype=object), lambda x: np.add(x, 1, signature="OO->O"),
    lambda x: np.add.at(x, [0], Listens()), lambda x: np.where(True, x, None),
    lambda x: np.multiply([x], 2, out=np.empty_like(x)[None]),
)  # fmt: skip
def test_nothing_gets_the_numbers_but_numpy(function):
    with pytest.raises(Untraceable):
        golf(function, X)


@each_row(repr, str, format, "{0}".format, "%s".__mod__)
def test_an_array_in_a_text_does_not_show_its_numbers(say):
    said = golf(lambda x: [print_kept(say(x[5:9])), x * 2][1], X)
    assert said.result[3] == 6
    assert KEPT[-1] == "<traced array 4 float64>"


KEPT: list[str] = []
print_kept = functools.partial(list.append, KEPT)


def test_views_as_other_numbers_are_free():
    assert golf(lambda x: x.view(complex).view("i8"), X).bytes == 0


def test_an_element_that_becomes_an_index_is_read():
    """``hex`` and ``range`` ask for an index, and would read every number unseen."""
    bits = np.arange(20_000)
    read = golf(lambda x: np.full(1, len(range(x[7, ...]))), bits)
    assert read.result[0] == 7 and [step.call for step in read.steps] == ["item", "full"]
    assert read.steps[0].bytes == bits.itemsize


def fill(rows):
    def f(x):
        out = np.empty_like(x)
        out[None][:] = rows(x)
        return out

    return f


def test_a_list_that_is_stored_is_read():
    assert golf(fill(lambda x: [x]), X).bytes == golf(fill(lambda x: x), X).bytes == 2 * X.nbytes
    with pytest.raises(Untraceable, match="not seen being made"):
        golf(fill(lambda x: [0.5] * x.size), X)

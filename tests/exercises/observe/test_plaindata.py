"""Answers become plain data by the built-in types' own rules, whatever they pretend to be."""

from __future__ import annotations

import gc
from decimal import Decimal
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rooflab.exercises.observe.plaindata import Unreadable, to_plain

scalars = st.none() | st.booleans() | st.integers(-(2**4000), 2**4000) | st.floats() | st.text()
data = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(data)
def test_plain_data_stays_what_it_is(value):
    assert repr(to_plain(value)) == repr(value)


def test_numbers_of_other_libraries_are_numbers():
    for answer, plain in (
        (np.float32(0.5), 0.5),
        (np.longdouble(2), 2.0),
        (np.uint64(2**63), 2**63),
        (np.bool_(True), True),
        (np.array(4), 4),
        (np.array([[4.5]]), 4.5),
        (np.array([0.5, Fraction(1, 2), "memory"], dtype=object), [0.5, 0.5, "memory"]),
        (np.array("axpy", dtype=object), "axpy"),
        (np.array([0.5, 2], dtype=ml_dtypes.bfloat16), [0.5, 2.0]),
        (Fraction(6, 2), 3),
        (Decimal("0.5"), 0.5),
        (Decimal("1e-1000000000"), 0.0),
        (Decimal("Infinity"), float("inf")),
        ((1, (2, 3)), [1, [2, 3]]),
    ):
        assert to_plain(answer) == plain
        assert type(to_plain(answer)) is type(plain)


class LyingInt(int):
    __add__ = __eq__ = __index__ = __int__ = lambda self, *_: 10**9
    __hash__ = int.__hash__


class LyingFloat(float):
    __float__ = __eq__ = lambda self, *_: 10.0**9
    __hash__ = float.__hash__


class LyingList(list):
    def __iter__(self):
        return iter([1, 2, 3])


class LyingDict(dict):
    def items(self):
        return [("a", 99)]


def test_a_subclass_is_read_as_what_it_really_holds():
    assert to_plain(LyingInt(3)) == 3 and type(to_plain(LyingInt(3))) is int
    assert to_plain(LyingFloat(0.5)) == 0.5 and type(to_plain(LyingFloat(0.5))) is float
    assert to_plain(LyingList([7])) == [7]
    assert to_plain(LyingDict(a=1)) == {"a": 1}


class AlwaysEqual:
    def __eq__(self, other):
        return True

    def __float__(self):
        return 1.0


def nested(levels):
    return 1 if levels == 0 else [nested(levels - 1)]


def test_what_is_not_plain_is_refused_with_the_reason():
    for answer, why in (
        (AlwaysEqual(), "AlwaysEqual"),
        (np.complex128(1), "complex"),
        (np.array([AlwaysEqual()]), "AlwaysEqual"),
        (np.array([3, len], dtype=object), "call it"),
        (2**4096, "4097 bits"),
        ("x" * 10_001, "10001 characters"),
        ([0] * 20_000, "more than 10000 items"),
        (np.zeros(20_000), "20000 elements"),
        (nested(7), "nested deeper"),
        ({1: 2}, "keys"),
        (len, r"the function len itself; call it: len\(…\)"),
        (lambda: 1, "the function itself; call it$"),
        (Fraction(10**400, 3), "too large"),
        (Decimal("1e1000000000"), "too large"),  # before it becomes an integer
        (Decimal("-3e999999"), "too large"),
        ((i for i in range(3)), "generator"),
        (np.zeros(3, dtype="datetime64[s]"), "an array of datetime64"),
        (np.zeros(3, dtype=[("a", float)]), "an array of numbers is wanted"),
    ):
        with pytest.raises(Unreadable, match=why):
            to_plain(answer)


def test_the_largest_answers_are_read():
    for answer in (2**4096 - 1, "x" * 10_000, [0] * 9999, nested(6)):
        assert to_plain(answer) == answer
    assert to_plain(np.ones(9999)) == [1.0] * 9999


def test_the_items_of_arrays_count_like_those_of_lists():
    assert len(to_plain([np.zeros(4000), np.zeros(4000)])) == 2
    for answer in ([np.zeros(6000), np.zeros(6000)], [np.ones(9998), 1, 2]):
        with pytest.raises(Unreadable, match="more than 10000 items"):
            to_plain(answer)
    assert to_plain(np.ones((1,) * 20)) == 1.0
    with pytest.raises(Unreadable, match="nested deeper than 6 levels"):
        to_plain(np.ones((1,) * 20 + (2,)))


@pytest.mark.filterwarnings("error")
def test_an_async_function_is_told_to_be_none():
    async def number():
        return 3

    async def numbers():
        yield 3

    for answer in (number(), numbers()):
        with pytest.raises(Unreadable, match="write def, not async def"):
            to_plain(answer)
    gc.collect()  # nobody is warned of what was never awaited


def test_an_array_that_lies_about_itself_is_read_as_it_is():
    class Liar(np.ndarray):
        dtype = property(lambda self: np.dtype(object))
        size = property(lambda self: 1)

    liar = np.array([1.0, 2.0]).view(Liar)
    assert to_plain(liar) == [1.0, 2.0]

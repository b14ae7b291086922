"""Numbers agree within a relative tolerance; NaN never, infinity only with itself."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rooflab.exercises.compare import (
    as_text,
    by_name,
    close,
    flaw,
    in_single,
    nearly,
    parts,
    reordered,
    same,
    show,
)

numbers = st.integers(-(10**400), 10**400) | st.floats(allow_nan=False, allow_infinity=False)


@given(numbers)
def test_every_number_agrees_with_itself(x):
    assert close(x, x, 0) and same(x, x, 1e-9)


@given(st.floats(1e-300, 1e300), st.floats(1e-6, 0.5))
def test_the_tolerance_is_relative(x, tolerance):
    assert close(x, x * (1 + tolerance / 2), tolerance)
    assert not close(x, x * (1 + 3 * tolerance), tolerance)


@given(st.integers(2**80, 2**90))
def test_integers_beyond_a_float_are_compared_exactly(n):
    assert not close(n, n + 1, 0) and close(n, n + 1, 1e-9)


def test_nothing_else_passes_for_one():
    for bad in (math.nan, math.inf, -math.inf, True, "1", None, [1, 1], {"a": 1}):
        assert not same(1, bad, 0.1)
    assert same([7], 7, 0) and not same([7, 8], 7, 0)  # an array of one is read as its number


def test_words_agree_however_they_are_joined():
    for mine in ("in_order", "In-Order", " IN  ORDER ", "in order"):
        assert same("in order", mine, 0) and same(mine, "in order", 0)
        assert not same("in order", mine + "s", 0) and not same("in order", "inorder", 0)
    assert same("A, B, C read", "a,b,c read", 0)
    assert not same("A, B, C read", "A B C read", 0)


def test_shapes_must_fit_but_one_in_a_list_is_one():
    assert same((1, 2), [1, 2], 0) and not same((1, 2), [1, 2, 3], 0) and not same((1, 2), 1, 0)
    assert parts(5, [5]) == [(5, 5)] and parts(5, [5, 5]) is None
    assert same({"a": 1, "b": "yes"}, {"b": " YES ", "a": 1.0}, 0)
    assert not same({"a": 1}, {"b": 1}, 0)


def test_groups_of_numbers_count_as_the_numbers_in_a_row():
    assert same((1, 2, 3, 4, 5, 6), [[1, 2, 3], [4, 5, 6]], 0)
    assert not same((1, 2, 3, 4), [[1, 2], [4, 3]], 0)
    assert not same((1, 2, 3, 4), [[1, 2], [3]], 0) and not same((1, 2), [[1, 2, 3]], 0)


def test_one_and_zero_are_truth_values_where_one_is_wanted_and_nowhere_else():
    assert same(True, 1, 0) and same(False, 0, 0) and same((True, False), [1, 0], 0)
    assert not same(True, 0, 0) and not same(True, 2, 0) and not same(True, 1.0, 0)
    assert not same(True, "True", 0) and not same(1, True, 0) and not same(0, False, 0)


def test_flaws_are_named():
    assert "NaN" in flaw(math.nan) and "infinite" in flaw(math.inf) and "True" in flaw(True)
    assert flaw(0) is None


def test_values_are_written_briefly():
    for value, text in (
        (1, "1"), (1 / 3, "0.333333"), (10**30, "about 10^30"), ((1, 2.5), "(1, 2.5)"),
        ("a", "'a'"), ({"a": 1}, "{a: 1}"), (list(range(10)), "(0, 1, 2, …, 8, 9)"),
        (None, "None"),
    ):  # fmt: skip
        assert show(value) == text


def test_long_whole_numbers_are_rounded_where_that_is_asked():
    for value, text in (
        (4361318615, "4.36e9"), (9_999_999, "9999999"), (10**7, "1e7"), (-123456789, "-1.23e8"),
        ([43613186150, 2.5], "(4.36e10, 2.5)"), ({"l3": 33554432}, "{l3: 3.36e7}"), (True, "True"),
    ):  # fmt: skip
        assert show(value, exact=7) == text


def test_single_precision_is_enough():
    third, large = float(np.float32(1 / 3)), float(np.float32(319_428_001))
    assert same(1 / 3, third, 1e-9) and same(319_428_001, large, 1e-12)
    assert not same(1 / 3, 0.33333, 1e-9) and not same(1 / 3, 0.33334, 1e-9)
    assert nearly([(319_428_001, 319_430_001.0, 1e-12)]) and not nearly([(1000, 1001, 1e-9)])
    assert nearly([(1 / 3, 0.3333333, 1e-9)]) is False, "that one is right"
    assert nearly([(1 / 3, 0.33334, 1e-9)]) and not nearly([(1 / 3, 0.335, 1e-9)])


def test_what_single_precision_has_spoilt_is_told_from_what_was_rounded():
    squares = np.float32(0.1) ** 2 * np.float32(100_000)
    for right, mine in ((1000.003, float(squares)), (1 / 3, float(np.float32(1 / 3) * 1.00003))):
        kept = float(np.float32(mine))
        assert in_single([(right, kept, 1e-9)]) and nearly([(right, kept, 1e-9)])
    half = float(np.float16(1 / 3))
    assert nearly([(1 / 3, half, 1e-9)]) and not in_single([(1 / 3, half, 1e-9)])
    assert nearly([(1365.3333, 1365.25, 1e-9)]) and not in_single([(1365.3333, 1365.25, 1e-9)])
    assert not in_single([(1 / 3, 0.33334, 1e-9)]) and not in_single([(1 / 3, 0.5, 1e-9)])
    assert not in_single([(1e300, 1.0001e300, 1e-9)]) and not in_single([(1.5, "1.5", 1e-9)])


def test_digits_in_a_text_are_told_from_words():
    assert as_text([(1.5, "1.5", 0), (2, "3e8", 0), (4, 4, 0)])
    assert not as_text([(1.5, "memory", 0)]) and not as_text([("2", "3", 0)])
    assert not as_text([(1.5, "nan", 0)]) and not as_text([(1.5, 1.5, 0)])


@given(st.permutations(["FLOPs", "bytes", "intensity"]))
def test_a_dictionary_is_read_by_its_keys(order):
    value = {"FLOPs": 1, "bytes": 2, "intensity": 3}
    assert by_name({key: value[key] for key in order}, tuple(value)) == [1, 2, 3]


def test_a_key_fits_one_label_or_the_dictionary_stays_what_it_is():
    for value, read in (
        ({"axpy": 1, "GEMV intensity": 2}, [1, 2]),
        ({"Gemv_Intensity": 2, "AXPY": 1}, [1, 2]),
        ({"intensity": 1, "axpy": 2}, [2, 1]),  # the first fits both labels, the second one
        ({"axpy": 1}, None),
        ({"gemm": 2, "axpy": 1}, [1, 2]),  # the place that is left
        ({"x": 1, "y": 2}, [1, 2]),
        ({"gemvs": 1, "y": 2}, [2, 1]),
        ({"axpy": 1, "axpy intensity": 2}, None),
        ([2, 1], None),
        (7, None),
    ):
        labels = ("AXPY intensity", "GEMV intensity")
        assert by_name(value, labels) == (value if read is None else read)
        assert by_name(value, ()) == value


def test_a_key_that_tells_nothing_gets_the_place_that_is_left():
    for value, read in (
        ({"a": 1, "b": 2, "c": 3}, [1, 2, 3]),
        ({"a": 1, "bytes": 2, "c": 3}, [1, 2, 3]),
        ({"bytes": 1, "b": 2, "c": 3}, None),  # which of the others is the first?
        ({"intensity": 1, "work": 2, "byte": 3}, [2, 3, 1]),
        ({"work": 1, "bytes": 2, "FLOPs per byte": 3}, [1, 2, 3]),
        ({"flop": 1, "flops": 2, "c": 3}, None),
        ({"a": 1, "b": 2}, None),
    ):
        assert by_name(value, ("FLOPs", "bytes", "intensity")) == (read or value)


@given(st.integers(2**24, 2**90))
def test_a_whole_number_may_be_kept_in_single_precision(count):
    kept = float(np.float32(count))
    assert same(count, kept, 1e-9) and not same(count, kept * (1 + 2e-6), 1e-9)
    assert not same(count, count + max(1, count // 10**8), 0), "a count itself is exact"
    assert not same(1000, 1000.001, 1e-9)


def test_words_in_another_order_are_just_wrong():
    words = [[("a", "b", 0), ("b", "a", 0)]]
    assert not reordered(words) and reordered([[(1, 2, 0), (2, 1, 0)]])
    moved = [[(1, "a", 0), (2, 1, 0), ("a", 2, 0)], [(3, "b", 0), (4, 3, 0), ("b", 4, 0)]]
    assert reordered(moved), "a word in the place of a number is in another place"
    assert not reordered([[(1, "b", 0), (2, 1, 0), ("a", 2, 0)]])


def test_another_order_is_the_same_one_in_every_case():
    def rows(*given):
        rights = ((1.0, 2.0, "x"), (3.0, 5.0, "y"))
        return [
            [(right, mine, 1e-9) for right, mine in zip(right, mine, strict=True)]
            for right, mine in zip(rights, given, strict=True)
        ]

    assert reordered(rows((2.0, 1.0, "x"), (5.0, 3.0, "y")))
    assert not reordered(rows((1.0, 2.0, "x"), (3.0, 5.0, "y")))  # the right one
    assert not reordered(rows((2.0, 1.0, "x"), (3.0, 5.0, "y")))
    assert not reordered(rows((2.0, 1.0, "y"), (5.0, 3.0, "x")))
    assert not reordered([]) and not reordered([[(1.0, 2.0, 1e-9)]])

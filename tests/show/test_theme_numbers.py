"""Numbers as pictures write them: things counted, ridges, factors."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import rooflab as rl
from rooflab.show import captions, theme
from rooflab.show.falls import factor_text


def test_things_are_counted_in_words_from_a_million_on() -> None:
    for value, text in [
        (1, "1"), (9999, "9999"), (10_000, "10\u202f000"), (999_999, "999\u202f999"),
        (10**6, "1.00 million"), (999_400_000, "999 million"), (999_700_000, "1.00 billion"),
        (999_700_000_000, "1.00 trillion"), (15 * 10**14, "1.50 quadrillion"),
        (10**18, "1.00e+18"), (12_345 * 10**400, "1.23e+404"),
    ]:  # fmt: skip
        assert theme.count(value) == text


@given(st.integers(10**6, 10**18 - 1))
def test_a_count_in_words_is_the_number_to_three_digits(value: int) -> None:
    number, word = theme.count(value).split() if value < 9.995e17 else ("1000", "quadrillion")
    scale = {"million": 1e6, "billion": 1e9, "trillion": 1e12, "quadrillion": 1e15}[word]
    assert float(number) * scale == pytest.approx(value, rel=0.0051)


def test_a_size_just_below_a_billion_has_one_unit() -> None:
    assert captions.short(rl.axpy(999_999_999)) == "AXPY 1.00 billion"


def test_a_ridge_has_three_digits_and_no_prefix() -> None:
    for value, text in [
        (0.504, "0.504"), (0.00123, "0.00123"), (1.0, "1.00"), (13.94, "13.9"), (295.2, "295"),
        (999.4, "999"), (1000.2, "1000"), (1365.3, "1365"), (12_345.0, "12\u202f345"),
    ]:  # fmt: skip
        assert theme.ridge(value) == text


def test_a_factor_has_at_most_eight_letters() -> None:
    for factor, text in [
        (1.0, "×1"), (1.13, "×1.13"), (12_300.0, "×12\u202f300"), (1e-4, "×0.0001"),
        (1.2e-9, "×1.2e-9"), (3e7, "×3.0e7"), (float("inf"), "×inf"),
    ]:  # fmt: skip
        assert factor_text(factor) == text and len(text) <= 8

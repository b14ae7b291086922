"""Numbers as people read them."""

from __future__ import annotations

import math
import re
from decimal import Decimal

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import rooflab as rl
from rooflab.count.si import grouped, percent, plain, several, times
from tests.support.rows import each_row

SCALE = {"a": -18, "f": -15, "p": -12, "n": -9, "µ": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9,
         "T": 12, "P": 15, "E": 18, "Z": 21, "Y": 24, "R": 27, "Q": 30}  # fmt: skip


@each_row(
    (2.9168e12, "B/s", "2.92 TB/s"), (31e-6, "s", "31.0 µs"), (999.7e9, "FLOP", "1.00 TFLOP"),
    (999.4, "B", "999 B"), (0, "s", "0 s"), (3.6e-12, "s", "3.60 ps"), (-1500, "B", "-1.50 kB"),
    (1, "", "1.00"), (2e30, "FLOP", "2.00 QFLOP"), (2e33, "FLOP", "2.00e+33 FLOP"),
    (10**400, "B", "1e400 B"), (math.inf, "s", "inf s"), (math.nan, "s", "nan s"),
)  # fmt: skip
def test_three_digits_and_a_prefix(value, unit, text):
    assert rl.si(value, unit) == text


@given(st.floats(1e-17, 1e32), st.integers(2, 6))
def test_what_is_printed_is_what_was_given(value, digits):
    number, prefix = re.fullmatch(r"([\d.]+) ?(\D?)", rl.si(value, digits=digits)).groups()
    assert float(number) * 10.0 ** SCALE[prefix] == pytest.approx(value, rel=10.0 ** (1 - digits))
    assert 1 <= float(number) < 1000


@given(st.integers(309, 3000), st.integers(-1, 1), st.integers(1, 9))
@example(512, 0, 1)
@example(1024, 0, 1)
def test_beyond_a_float_the_power_of_ten_is_exact(power, beside, leading):
    value = leading * 10**power + beside
    assert rl.si(value, "B") == f"1e{len(str(value)) - 1} B"
    assert rl.si(-value) == f"-1e{len(str(value)) - 1}"


def test_ratios_and_shares():
    assert [times(f) for f in (1.2367, 310, 12345)] == ["×1.24", "×310", "×12\u202f300"]
    assert times(999.7) == "×1000"  # not ×1e+03
    assert [percent(s) for s in (0.87, 1.434, 0.0123, 0.0995)] == ["87 %", "143 %", "1.2 %", "10 %"]


@given(st.floats(1e-3, 1e6), st.integers(1, 5))
def test_plain_numbers_have_no_exponent_and_keep_their_digits(value, digits):
    text = plain(value, digits)
    assert re.fullmatch(r"[\d\u202f]+(\.\d+)?", text)
    near = max(10.0 ** (1 - digits), 0.0 if value < 1000 else 0.5 / value)
    assert float(text.replace("\u202f", "")) == pytest.approx(value, rel=near)


@given(st.floats(1e-7, 1e9), st.integers(1, 9))
@example(1001.46875, 5)
@example(999.996, 5)
@example(99999.7, 5)
def test_a_plain_number_is_rounded_once(value, digits):
    """However it is written, it is the nearest number with as many places."""
    place = Decimal(value).adjusted() - digits + 1  # of the last digit
    shown = Decimal(plain(value, digits).replace("\u202f", ""))
    if abs(shown) >= 1000:
        place = max(place, 0)
    assert abs(shown - Decimal(value)) <= Decimal(10) ** place / 2


@given(st.floats(1e-17, 1e32), st.integers(2, 6))
def test_a_number_with_a_prefix_is_rounded_once(value, digits):
    number, prefix = re.fullmatch(r"([\d.]+) ?(\D?)", rl.si(value, digits=digits)).groups()
    shown = Decimal(number).scaleb(SCALE[prefix])
    place = Decimal(value).adjusted() - digits + 1
    assert abs(shown - Decimal(value)) <= Decimal(10) ** place / 2


def test_plain_numbers_say_what_they_always_said():
    texts = [plain(v) for v in (0, 0.5, 12.0, 100, 4096, -0.25, 1e-5, 12345.6)]
    assert texts == ["0", "0.5", "12", "100", "4096", "-0.25", "0.00001", "12\u202f350"]
    assert [plain(1001.46875, 5), plain(math.inf), plain(math.nan)] == ["1001", "inf", "nan"]


def test_a_ratio_may_have_fewer_digits():
    assert [times(f, digits=2) for f in (1.234, 199.0, 4321)] == ["×1.2", "×200", "×4300"]


def test_one_is_the_singular_and_nothing_else_is():
    assert [several(n, "file") for n in (0, 1, 1200, 12_000)] == [
        "0 files", "1 file", "1200 files", "12\u202f000 files",
    ]  # fmt: skip


def test_a_number_is_grouped_from_ten_thousand_on_and_never_breaks_there():
    assert [grouped(n) for n in (0, 9999, 10_000, -16_384, 268_435_456)] == [
        "0", "9999", "10\u202f000", "-16\u202f384", "268\u202f435\u202f456",
    ]  # fmt: skip
    assert "\N{NARROW NO-BREAK SPACE}" in grouped(16_384)

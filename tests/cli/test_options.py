"""Options as people write them: times, sizes."""

from __future__ import annotations

import pytest

import rooflab as rl
from rooflab.cli.options import operation
from rooflab.cli.terminal import doubt, seconds
from tests.support.rows import each_row

TIMES = {
    "31us": 31e-6, "31µs": 31e-6, "31μs": 31e-6, "1.2ms": 1.2e-3, "3s": 3.0, "31e-6": 31e-6,
    " 7 ns ": 7e-9, ".5ms": 5e-4, "2.S": 2.0, "1E-3ms": 1e-6, "31US": 31e-6,
}  # fmt: skip


@each_row(*TIMES.items())
def test_times_as_people_write_them(text, value):
    assert seconds(text) == pytest.approx(value, rel=1e-12)


@each_row("", "fast", "31 parsecs", "us", "1,2ms", "1.2.3s", "nan", "inf", "0x1f", "3min", "3MS")
def test_what_is_no_time_is_named(text):
    with pytest.raises(ValueError, match="--time=.* is not a time; write 31us"):
        seconds(text)


@each_row("0s", "-3ms", "1e400", "0")
def test_times_are_positive_and_finite(text):
    with pytest.raises(ValueError, match="more than zero and finite"):
        seconds(text)


def test_sizes_left_out_are_those_of_n():
    assert operation("gemm", n=64).dims == {"m": 64, "n": 64, "k": 64}
    assert operation("gemm", m=8, n=64).dims == {"m": 8, "n": 64, "k": 64}
    assert operation("GEMV", n=64).dims == {"m": 64, "n": 64}
    assert operation("gemv", n=64, batch=3) == rl.gemv(64, 64, batch=3)
    assert operation("axpy", n=10, dtype="fp64") == rl.axpy(10, "fp64")


@each_row(
    ("31", 40e-6, "31 without a unit is 31 seconds; write 31us"), ("1.2", 1e-3, "write 1.2ms"),
    ("250", 3e-7, "write 250ns"), ("31us", 40e-9, ""), ("31s", 40e-6, ""), ("31e-6", 40e-6, ""),
    ("2", 0.5, ""), (" 31 us ", 40e-6, ""),
)  # fmt: skip
def test_a_time_without_a_unit_is_doubted_where_it_is_absurd(text, expected, said):
    assert said in doubt(text, expected)
    assert bool(said) == bool(doubt(text, expected))


def test_nothing_is_doubted_where_nothing_is_expected():
    assert doubt("31", 0.0) == ""


def test_a_duration_may_be_nothing():
    for nothing in ("0", "0s", "0us", "0 s", "0.0", " 0.000ms"):
        assert seconds(nothing, "--overhead", zero=True) == 0.0
    assert seconds("2us", "--overhead", zero=True) == pytest.approx(2e-6)
    with pytest.raises(ValueError, match="--overhead='-1us' must be zero or more"):
        seconds("-1us", "--overhead", zero=True)

"""The estimator of a roof: what only slows a slice must not lower it."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from rooflab.measure.timing import robust_peak, spread

RATES = st.lists(st.floats(1e6, 1e15), min_size=3, max_size=40)


@given(RATES, st.lists(st.floats(0.01, 0.99), max_size=40))
def test_slices_that_are_only_slower_do_not_lower_the_ceiling(rates, slowdowns):
    disturbed = [min(rates) * slow for slow in slowdowns]
    assert robust_peak(rates + disturbed) == robust_peak(rates)


@given(RATES)
def test_the_ceiling_is_the_second_fastest_of_three_or_more(rates):
    assert robust_peak(rates) == sorted(rates)[-2]


@given(RATES, st.integers(-20, 20))
def test_the_ceiling_scales_with_the_unit_and_the_spread_does_not(rates, power):
    scaled = [math.ldexp(rate, power) for rate in rates]
    assert robust_peak(scaled) == math.ldexp(robust_peak(rates), power)
    assert spread(scaled) == spread(rates)


def test_one_slip_of_the_clock_is_not_believed():
    assert robust_peak([100.0, 99.0, 98.0, 500.0]) == 100.0
    assert spread([100.0, 99.0, 98.0, 500.0]) > 0.5
    assert spread([100.0, 100.0]) == math.inf

"""The clocks: how much is sampled, what is warm and cold, and what is evicted."""

from __future__ import annotations

import gc
import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rooflab.measure import timing
from rooflab.measure.operands import copies
from rooflab.measure.timing import copies_needed, evictor, robust_peak, spread, time_cold, time_warm
from tests.support.rows import each_row


class Clock:
    """A host clock that only calls move."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, call_s: float) -> None:
        self.now, self.calls, self.call_ns = 0, 0, round(call_s * 1e9)
        monkeypatch.setattr(timing, "perf_counter_ns", lambda: self.now)
        monkeypatch.setattr(timing, "clock_step_s", lambda: 1e-8)

    def call(self) -> None:
        self.calls += 1
        self.now += self.call_ns


@each_row(1e-6, 1e-4, 3e-3)
def test_warm_samples_are_long_enough_for_the_clock(call_s, monkeypatch):
    clock = Clock(monkeypatch, call_s)
    found = time_warm(clock.call, sample_s=2e-3)
    assert len(found.samples) == 20
    assert found.inner * call_s >= 2e-3 > (found.inner - 1) * call_s
    assert found.median_s == pytest.approx(call_s) and timing.iqr(found.samples) == pytest.approx(
        0, abs=1e-15
    )


@each_row((0.06, 9), (0.3, 3), (40.0, 3))
def test_slow_calls_stop_after_the_time_with_three_samples_at_least(call_s, expected, monkeypatch):
    clock = Clock(monkeypatch, call_s)
    assert len(time_warm(clock.call, seconds=0.5).samples) == expected
    assert clock.calls == expected + 1  # and one to warm up
    assert len(time_cold([clock.call], lambda: None, seconds=0.5).samples) == expected


@settings(max_examples=50)
@given(samples=st.integers(1, 60), seconds=st.floats(1e-3, 2), call_s=st.floats(1e-5, 0.5))
def test_never_fewer_than_three_never_many_more_than_asked(samples, seconds, call_s):
    with pytest.MonkeyPatch.context() as monkeypatch:
        found = time_warm(
            Clock(monkeypatch, call_s).call, samples=samples, seconds=seconds, sample_s=1e-4
        )
    assert 3 <= len(found.samples) <= max(3, samples)


def test_the_pools_of_other_libraries_are_outlasted(monkeypatch):
    """OpenBLAS's idle threads spin for 2**26 cycles: 34 ms at 2 GHz."""
    clock = Clock(monkeypatch, 1e-3)
    timing.settle([clock.call], timing.SETTLE_S)
    assert clock.now >= 2**26 / 2e9 * 1e9


def test_cold_goes_round_the_copies_and_evicts_before_every_round(monkeypatch):
    clock = Clock(monkeypatch, 1e-4)
    log: list[str] = []

    def call(name: str):
        return lambda: (log.append(name), clock.call())

    found = time_cold([call("a"), call("b")], lambda: log.append("|"), samples=5, settle_s=1e-4)
    assert log == ["a", "b", "|", "a", "b", "|", "a", "b", "|", "a"]
    assert len(found.samples) == 5 and found.inner == 1


def test_the_collector_rests_while_sampling_and_works_again_after():
    seen = set()
    time_warm(lambda: seen.add(gc.isenabled()), samples=3, sample_s=1e-5, settle_s=0)
    assert False in seen and gc.isenabled()
    with pytest.raises(ZeroDivisionError):
        time_cold([lambda: 1 // 0], lambda: None, settle_s=0)
    assert gc.isenabled()


@given(st.integers(1, 1 << 34), st.integers(0, 1 << 36))
def test_copies_pass_four_caches_unless_room_or_64_end_it(working_set, room):
    level = 32 << 20
    count = copies_needed(working_set, room, level)
    assert 1 <= count <= 64
    assert count == 1 or count * working_set <= room
    if count * working_set < 4 * level:
        assert count == 64 or (count + 1) * working_set > room


def test_there_are_no_more_copies_than_calls():
    assert copies_needed(1 << 20, 1 << 40, 32 << 20, calls=20) == 20
    assert copies_needed(64 << 20, 1 << 40, 32 << 20, calls=20) == 2


def test_a_large_cache_is_emptied_by_all_cores(monkeypatch):
    monkeypatch.setattr(timing, "available_cores", lambda: 4)
    monkeypatch.setattr(timing, "A_CORE", 1 << 16)
    monkeypatch.setattr(timing, "_read_in_parts", len)
    assert [evictor(0, 1, level << 14)() for level in (2, 3, 50)] == [2, 3, 4]


def test_copies_are_copies_in_the_same_order_and_apart():
    a, x = np.asfortranarray(np.arange(6.0).reshape(2, 3)), np.arange(3.0)
    sets = copies((a, x), 3)
    assert sets[0] == (a, x)
    for one, other in itertools.combinations(sets, 2):
        assert not any(np.shares_memory(p, q) for p, q in zip(one, other, strict=True))
    for b, y in sets[1:]:
        assert b.flags.f_contiguous and (b == a).all() and (y == x).all()
        assert b.ctypes.data % 64 == y.ctypes.data % 64 == 0


def test_eviction_reads_a_buffer_of_four_caches_and_writes_nothing():
    level = 1 << 16
    evict = evictor(0, 1, level)
    assert evict() == 4 * level // 8  # the sum of that many ones: all of them were read
    assert evict() == 4 * level // 8  # and none was changed
    assert evictor(0, 3, level)() == 4 * level // 8


def test_operands_that_pass_the_caches_by_themselves_need_no_eviction():
    assert evictor(4 << 16, 1, 1 << 16)() is None


def test_the_clock_has_a_step():
    assert 1e-9 <= timing.clock_step_s() < 1e-3


# The estimator of a roof: what only slows a slice must not lower it.

RATES = st.lists(st.floats(1e6, 1e15), min_size=3, max_size=40)


@given(RATES, st.lists(st.floats(0.01, 0.99), max_size=40))
def test_slices_that_are_only_slower_do_not_lower_the_ceiling(rates, slowdowns):
    disturbed = [min(rates) * slow for slow in slowdowns]
    assert robust_peak(rates + disturbed) == robust_peak(rates) == sorted(rates)[-2]


@given(RATES, st.integers(-20, 20))
def test_the_ceiling_scales_with_the_unit_and_the_spread_does_not(rates, power):
    scaled = [math.ldexp(rate, power) for rate in rates]
    assert robust_peak(scaled) == math.ldexp(robust_peak(rates), power)
    assert spread(scaled) == spread(rates)


def test_one_slip_of_the_clock_is_not_believed():
    assert robust_peak([100.0, 99.0, 98.0, 500.0]) == 100.0
    assert spread([100.0, 99.0, 98.0, 500.0]) > 0.5
    assert spread([100.0, 100.0]) == math.inf

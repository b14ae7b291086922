"""What is said about a measurement that should not be trusted, and when nothing is."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import rooflab.count as rl
from rooflab.measure import measure as doubts
from rooflab.measure.measure import caveats, launch_bound, unpaid_writes
from rooflab.measure.timing import Timing
from tests.support.rows import each_row


def taken(*samples: float, inner: int = 1, step: float = 1e-9) -> Timing:
    return Timing(samples, inner, "a clock", step)


def test_steady_samples_carry_no_warning():
    assert caveats(taken(*[1.0, 1.01, 0.99] * 7), threads=2, cores=2, power="mains") == ()


def test_every_doubt_is_said():
    fast = taken(*[2e-7] * 20, step=1e-7)
    assert "below the timer's resolution: 200 ns a sample" in caveats(fast)[0]
    assert (
        "more threads than cores: 4 threads share 2" in caveats(taken(1.0), threads=4, cores=2)[0]
    )
    assert "on battery" in caveats(taken(1.0), power="battery")[0]
    assert caveats(taken(1.0), throttled="power limit") == ("throttled: power limit",)


def test_an_inner_loop_lifts_a_short_call_over_the_resolution():
    assert doubts.below_resolution(taken(1e-7, inner=10_000, step=1e-7)) is None


@given(st.lists(st.floats(1e-9, 1e3), min_size=3, max_size=40))
def test_noisy_is_ten_percent_of_the_median(samples):
    low, middle, high = np.percentile(samples, [25, 50, 75])
    assert (doubts.noisy(samples) is not None) == (high - low > 0.10 * middle)


@given(st.integers(4, 16), st.floats(1.2, 10), st.randoms())
def test_two_clusters_are_bimodal(low, factor, random):
    samples = [1.0] * low + [factor] * (20 - low)
    samples = [s * random.uniform(0.995, 1.005) for s in samples]
    random.shuffle(samples)
    assert doubts.bimodal(samples).startswith(f"bimodal: {low} samples around")


@each_row(*range(20))
def test_one_cluster_is_not_bimodal(seed):
    random = np.random.default_rng(seed)
    assert doubts.bimodal(random.normal(1, 0.1, 20)) is None
    assert doubts.bimodal(random.uniform(1, 2, 40)) is None
    assert doubts.bimodal([1.0] * 19 + [5.0]) is None  # one outlier is no mode


def test_slowing_down_is_a_trend_not_a_jump_back():
    assert "×1.50" in doubts.slowing_down([1.0] * 10 + [1.5] * 10)
    assert doubts.slowing_down([1.0, 1.5] * 10) is None
    assert doubts.slowing_down([1.5] * 10 + [1.0] * 10) is None


MB = 1e6
STREAM = rl.axpy(1 << 24)  # results of 67 MB, 134 MB of operands


def test_results_that_stay_in_a_large_cache_are_not_in_the_time():
    told = unpaid_writes(STREAM, "cpu", 5e-3, STREAM.working_set, 300 * MB)
    assert told == (
        "its results, 67.1 MB, may stay in the 300 MB cache: writing them back to memory is not "
        "in this time"
    )
    found = caveats(taken(*[5e-3] * 10), unpaid=told)
    assert found == (told,)


@each_row(
    (STREAM, 5e-3, 0, 300 * MB),  # a steady stream of calls: each carries another's results
    (STREAM, 5e-3, STREAM.working_set, 4 * MB),  # the next ones push them out
    (rl.axpy(1000), 1e-6, 8e3, 300 * MB),  # a few kilobytes
    (rl.gemv(4096, 4096), 3e-3, 67e6, 300 * MB),  # as many, of sixty megabytes
    (rl.gemm(1024, 1024, 1024), 2e-2, 12.6e6, 300 * MB),  # arithmetic takes the time
    (rl.dot(1 << 24), 5e-3, 134e6, 300 * MB),  # one number
)
def test_results_that_are_carried_or_small_are_no_caveat(op, seconds, passing, cache):
    assert unpaid_writes(op, "cpu", seconds, passing, cache) is None


def test_a_gpu_that_waits_for_python_is_launch_bound():
    late = Timing((5e-6,) * 10, 1, "CUDA events", 1e-8, 20e-6)
    (told,) = caveats(late)
    assert told.startswith(
        "launch-bound: Python takes 20.0 µs to queue the work of a sample of 5.0"
    )
    assert launch_bound(replace(late, queueing_s=4e-6)) is None

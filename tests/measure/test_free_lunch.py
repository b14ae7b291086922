"""The free-lunch curve: what its two ends mean, and that real ones have the right shape."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rooflab.measure import free_lunch as freelunch
from rooflab.measure.backend import available_cores, host_id
from rooflab.measure.caches import cache_levels
from rooflab.measure.free_lunch import FreeLunch, free_lunch
from rooflab.measure.roof_kernels import host, lunch_block
from tests.support.rows import each_row

K = freelunch.K


def ideal(bandwidth: float, peak: float, n: int = 1 << 25, itemsize: int = 4) -> FreeLunch:
    """A machine that overlaps perfectly: the longer of carrying and computing is the time."""
    seconds = tuple(max(2 * n * itemsize / bandwidth, 2 * k * n / peak) for k in K)
    return FreeLunch(K, seconds, (0.0,) * len(K), n, itemsize, 1)


@given(st.floats(5e9, 5e11), st.floats(2, 100), st.sampled_from([4, 8]))
def test_the_ends_of_an_ideal_curve_are_its_bandwidth_and_peak(bandwidth, bend, itemsize):
    """`bend`: the k at which both take equally long; the ridge is there, 2k FLOP for 2 items."""
    peak = bend * bandwidth / itemsize
    curve = ideal(bandwidth, peak, itemsize=itemsize)
    assert curve.bandwidth == pytest.approx(bandwidth, rel=0.05)
    assert curve.peak == pytest.approx(peak, rel=1e-9)
    assert curve.ridge == pytest.approx(bend / itemsize, rel=0.05)


def test_a_constant_cost_does_not_move_the_slope():
    """Whatever is added to every pass, the slope is the arithmetic alone."""
    curve = ideal(2e10, 1e11)
    slower = replace(curve, seconds=tuple(s + 1e-3 for s in curve.seconds))
    assert slower.peak == pytest.approx(curve.peak)


def test_a_curve_that_never_rises_gives_the_best_rate_seen():
    curve = ideal(2e10, 1e15)
    assert curve.peak == max(curve.flop_per_s) == curve.flop_per_s[-1]


def test_noise_in_one_flat_point_does_not_move_the_bandwidth():
    curve = ideal(2e10, 1e11)
    disturbed = (curve.seconds[0] * 1.8, *curve.seconds[1:])
    assert replace(curve, seconds=disturbed).bandwidth == pytest.approx(2e10)


@each_row((257, 1.001), (129, 1.25))
def test_one_bad_point_of_two_moves_the_peak_only_as_far_as_the_curve_allows(bad, most):
    """Bend at 43, so only 129 and 257 rise. ×1.3 on 257 alone would give 140 of 225 GFLOP/s."""
    curve = ideal(2.1e10, 2.25e11)
    seconds = [s * (1.3 if k == bad else 1) for k, s in zip(K, curve.seconds, strict=True)]
    disturbed = replace(curve, seconds=tuple(seconds))
    assert disturbed.rising == (129, 257)
    assert 0.999 < disturbed.peak / curve.peak < most


@given(st.floats(1, 2), st.sampled_from(K), st.floats(2, 90))
def test_one_bad_point_never_halves_or_doubles_the_peak(factor, bad, bend):
    curve = ideal(2e10, bend * 2e10 / 4)
    seconds = [s * (factor if k == bad else 1) for k, s in zip(K, curve.seconds, strict=True)]
    assert 0.5 < replace(curve, seconds=tuple(seconds)).peak / curve.peak < 2


def test_a_point_slower_than_one_with_more_work_is_measured_again():
    assert freelunch._disturbed([4.0, 4.3, 4.1, 9.0, 5.0, 10.0]) == [3]
    assert freelunch._disturbed(list(ideal(2e10, 1e11).seconds)) == []
    assert freelunch._disturbed([9.0, 9.0, 1.0]) == [0, 1]


def test_a_curve_survives_json():
    curve = replace(ideal(2e10, 1e11), warnings=("memory is short",), machine="host")
    again = FreeLunch.from_dict(json.loads(json.dumps(curve.to_dict())))
    assert again == curve
    assert FreeLunch.from_dict({**curve.to_dict(), "later": 1}) == curve


@pytest.fixture
def hurried(monkeypatch):
    monkeypatch.setattr(freelunch, "BUDGET", 0.0)


@each_row(*sorted({1, available_cores()}))
@each_row(("fp32", 4), ("fp64", 8))
def test_a_real_curve_has_a_point_for_each_k(dtype, itemsize, threads, hurried):
    curve = free_lunch((1, 4, 300), n=100_000, dtype=dtype, threads=threads)
    assert curve.k.tolist() == [1, 4, 300]
    assert (curve.itemsize, curve.threads, curve.dtype) == (itemsize, threads, dtype)
    assert curve.machine == host_id()
    assert len(curve.seconds) == len(curve.iqr) == 3
    assert all(s > 0 for s in curve.seconds)
    step = freelunch.PARTS * threads * lunch_block(host()) // itemsize
    assert curve.n % step == 0
    assert 0 <= curve.n - 100_000 < step
    assert curve.bytes == 2 * itemsize * curve.n
    assert curve.warnings == ()


def test_a_curve_is_arithmetic_with_arrays_that_nobody_can_spoil():
    curve = ideal(2e10, 1e11)
    assert max(2 * curve.k * curve.n / curve.seconds) == max(curve.flop_per_s)
    assert curve == FreeLunch.from_dict(curve.to_dict()) != ideal(3e10, 1e11)
    assert json.loads(json.dumps(curve.to_dict()))["k"] == list(K)
    for column in (curve.k, curve.seconds, curve.iqr):
        with pytest.raises(ValueError, match="read-only"):
            column[0] = 7


def test_every_part_of_the_array_is_worked_on(hurried, monkeypatch):
    """Every element has left its start, 1, on its way to 2: no part is timed but not touched."""
    kept = []
    real = freelunch.aligned
    monkeypatch.setattr(freelunch, "aligned", lambda n: kept.append(real(n)) or kept[-1])
    free_lunch((1, 60), n=50_000, threads=1)
    values = kept[0].view(np.float32)
    assert ((values > 1) & (values <= 2)).all()


def test_short_memory_shrinks_the_array_with_a_warning(hurried, monkeypatch):
    monkeypatch.setattr(freelunch, "available_bytes", lambda backend: 1 << 20)
    with pytest.warns(UserWarning, match="memory is short: measured on 0 MB instead of"):
        curve = free_lunch((1, 2))
    assert curve.n * curve.itemsize < (1 << 20)
    assert len(curve.warnings) == 1


MiB = 2**20


@each_row(
    ({"l1": MiB // 32, "l2": 2 * MiB, "l3": 4 * MiB}, 16 * MiB),
    ({"l1": MiB // 32, "l2": 2 * MiB, "l3": 300 * MiB}, 1200 * MiB),
    ({"l1": MiB // 8, "l2": 16 * MiB, "l3": None}, 128 * MiB),  # a system cache, not told of
    ({"l1": MiB // 16, "l2": 64 * MiB, "l3": None}, 256 * MiB),
    ({"l1": None, "l2": None, "l3": None}, 128 * MiB),
)
def test_the_array_is_four_times_what_the_caches_may_hold(told, expected):
    assert freelunch._beyond(cache_levels(told, 1, {})) == expected


@each_row(
    ({"k": "12"}, TypeError, "k='12': give several"),
    ({"k": (1,)}, ValueError, "at least two counts"),
    ({"k": (3, 2)}, ValueError, "each larger than the one before"),
    ({"k": (0, 2)}, ValueError, r"k\[0\]=0 must be a positive integer"),
    ({"k": (1, 2.5)}, TypeError, r"k\[1\]=2\.5 is a float"),
    ({"n": 0}, ValueError, "n=0 must be a positive integer"),
    ({"n": 10**12}, ValueError, r"n=1000000000000: .* more than a quarter of the free"),
    ({"dtype": "fp16"}, ValueError, "dtype='fp16' has no vector multiply-add on a CPU"),
    ({"threads": 0}, ValueError, "threads=0"),
)
def test_bad_arguments_name_themselves(arguments, error, told):
    with pytest.raises(error, match=told):
        free_lunch(**arguments)

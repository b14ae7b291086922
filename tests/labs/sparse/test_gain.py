"""Limits that can be worked out by hand, products that are really timed."""

from __future__ import annotations

import pytest

import rooflab as rl
from rooflab.measure.timing import time_warm
from tests.labs.sparse.conftest import COSTS, GAIN

MEASURE = GAIN.measured_weights
DRAM = 2e10  # byte/s of the test machine


def test_the_ledgers_are_the_bytes_of_the_field():
    """A weight of 4, 1, 1/2 and 17/8 bytes; a scale of two bytes for 128 weights; x and y."""
    m, k = 64, 1024
    each = {"fp32": 4, "blas": 4, "int8": 1 + 2 / 128, "int4": 0.5 + 2 / 128, "2:4": 17 / 8}
    for kind, nbytes in each.items():
        op, arrays = GAIN.product(kind, m, k)
        assert op.bytes == nbytes * m * k + 4 * (m + k), kind
        assert op.flops == m * k * (1 if kind == "2:4" else 2)
        assert [a.nbytes for a in arrays] == [o.nbytes for o in op.operands]


def test_every_product_that_is_timed_is_right():
    exact = GAIN.compute("fp32", *GAIN.product("fp32", 40, 256)[1])
    for kind, near in {"fp32": 0, "blas": 1e-3, "int8": 1, "int4": 12, "2:4": 40}.items():
        y = GAIN.compute(kind, *GAIN.product(kind, 40, 256)[1])
        assert abs(y - exact).max() <= near and (y[:8] == y[32:]).all(), kind


def test_the_longer_of_bytes_and_instructions_decides():
    gain = rl.sparse.gemv_gain(("int4", "2:4"), (64, 1024), rounds=1, progress=False)
    for kind, limits in gain.predicted.items():
        moved = gain.measured[kind].op.bytes / DRAM
        assert limits == pytest.approx((moved, COSTS[kind] * 64 * 1024))
        assert limits.seconds == max(limits)
    assert gain.predicted["int4"].seconds == gain.predicted["int4"].instructions
    assert gain.expected("int4") == pytest.approx(4 / DRAM / 1e-10, rel=0.02)
    ratio = gain.measured["blas"].median_s / gain.measured["int4"].median_s
    assert gain.gain("int4", "blas") == ratio
    off = gain.expected("int4", "blas") / ratio
    assert gain.off("int4", "blas") == max(off, 1 / off)
    for taken in gain.measured.values():
        assert (taken.cache, taken.threads) == ("cold", 1)
    assert f"predicted {gain.expected():.2f}, measured {gain.gain():.2f}" in repr(gain)


def test_a_matrix_by_default_is_larger_than_the_caches(monkeypatch):
    seen = []
    monkeypatch.setattr(GAIN, "last_level_bytes", lambda: 1 << 20)
    monkeypatch.setattr(GAIN, "in_turns", lambda calls, *_: seen.append(calls["fp32"][0]) or 1 / 0)
    with pytest.raises(ZeroDivisionError):
        rl.sparse.gemv_gain("int8", progress=False)
    assert seen[0].dims["k"] == 4096 and seen[0].operands[0].nbytes >= 1 << 20


def test_calibration_measures_every_kernel(monkeypatch):
    quick = {"samples": 2, "seconds": 1e-4, "sample_s": 1e-6, "settle_s": 0.0}
    monkeypatch.setattr(GAIN, "time_warm", lambda call, **_: time_warm(call, **quick))
    monkeypatch.setattr(GAIN, "COLUMNS", 256)
    monkeypatch.setattr(GAIN, "TURNS", 1)
    costs = MEASURE()
    assert costs.keys() == set(GAIN.KINDS) and all(0 < cost < 1e-4 for cost in costs.values())


def test_bad_input_is_named():
    for kind, message, call in (
        (ValueError, "kind='int3'.*did you mean", lambda: rl.sparse.gemv_gain("int3")),
        (ValueError, "kind='fp32'", lambda: rl.sparse.gemv_gain("fp32")),
        (ValueError, r"shape=\(8,\)", lambda: rl.sparse.gemv_gain("int8", (8,))),
        (ValueError, "multiple of 4", lambda: rl.sparse.gemv_gain("2:4", (8, 6))),
        (MemoryError, "choose smaller sizes", lambda: rl.sparse.gemv_gain("int8", (1 << 40, 8))),
    ):
        with pytest.raises(kind, match=message):
            call()

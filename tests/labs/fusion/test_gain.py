"""Terms that can be worked out by hand, costs that are kept, and ways that are really timed."""

from __future__ import annotations

import json

import pytest

import rooflab as rl
from rooflab.labs.fusion.chains import WAYS
from tests.labs.fusion.support import CALIBRATION, COSTS, KEYS, MACHINE, calibrate_at_once

MEASURE = CALIBRATION.measured_costs

N = 4096 * 4096
DRAM = 2e10  # byte/s of the test machine, whatever the mix


def predicted(name, way, rows=4096, **changes):
    known = {"machine": MACHINE, "costs": COSTS, **changes}
    return rl.fusion.predict_chain(name, rows, 4096, way=way, **known)


def test_the_terms_of_sine_and_root():
    new, there, fused = (predicted("sin_sqrt", way) for way in WAYS)
    assert new.bytes == there.bytes == pytest.approx(16 * N / DRAM)
    assert fused.bytes == pytest.approx(8 * N / DRAM)
    assert new.faults == pytest.approx(2 * 4 * N * 2e-10), "two new arrays"
    assert there.faults == fused.faults == 0
    assert (new.calls, fused.calls) == (2e-6, 1e-6)
    assert fused.arithmetic == 0, "0.3 ns an element hide behind 0.4 ns of bytes"
    assert fused.seconds == fused.bytes + fused.calls


def test_arithmetic_counts_as_far_as_it_is_longer_than_the_bytes():
    slow = rl.fusion.Costs(COSTS.calls, dict.fromkeys(KEYS, 1e-9), 1 << 20, 0.0)
    fused = predicted("sin_sqrt", "fused", costs=slow)
    assert fused.arithmetic == pytest.approx((1e-9 - 8 / DRAM) * N)


def test_small_new_arrays_have_no_faults():
    assert predicted("softmax", "temporaries", rows=64).faults == 0
    assert COSTS.faults(31 << 20) == 0 < COSTS.faults((31 << 20) + 1)


def test_costs_are_measured_once_and_kept(tmp_path, monkeypatch):
    assert rl.fusion.costs(progress=False) == COSTS
    monkeypatch.setattr(CALIBRATION, "measured_costs", lambda progress: pytest.fail("again"))
    assert rl.fusion.costs(progress=False) == COSTS
    (file,) = tmp_path.glob("fusion-*.json")
    calibrate_at_once(monkeypatch)
    for key, value in (("schema", 99), ("elements", None), ("calls", {})):
        whole = json.loads(file.read_text("utf-8"))
        file.write_text(json.dumps({**whole, key: value}), "utf-8")
        with pytest.warns(UserWarning, match="damaged"):
            assert rl.fusion.costs(progress=False) == COSTS


def test_other_programs_have_costs_of_their_own(tmp_path, monkeypatch):
    rl.fusion.costs(progress=False)
    for name in ("kernels.py", "chains.yaml"):
        (tmp_path / name).write_text("another")
    monkeypatch.setattr(CALIBRATION, "files", lambda package: tmp_path)
    rl.fusion.costs(progress=False)
    assert len(list(tmp_path.glob("fusion-*.json"))) == 2


def test_calibration_measures_every_cost(monkeypatch):
    monkeypatch.setattr(CALIBRATION, "TURNS", 1)
    monkeypatch.setattr(CALIBRATION, "QUICK", {"samples": 2, "seconds": 1e-4, "sample_s": 1e-6,
                                               "settle_s": 0.0})  # fmt: skip
    costs = MEASURE()
    assert costs["calls"].keys() == costs["elements"].keys() == set(KEYS)
    assert all(1e-8 < seconds < 1 for seconds in costs["calls"].values())
    assert CALIBRATION._problem({**costs, "schema": CALIBRATION.SCHEMA}) == ""


def test_ways_are_timed_and_beside_their_prediction():
    found = rl.fusion.gain("rms_norm", 32, 64, rounds=3, progress=False)
    for way, taken in found.measured.items():
        assert taken.op == rl.fusion.chains()["rms_norm"].ledger(32, 64, way=way)
        assert (len(taken.samples), taken.threads, taken.cache) == (3, 1, "warm")
        assert taken.environment["page_faults"] == pytest.approx(0, abs=1)
    ratio = found.measured["temporaries"].median_s / found.measured["fused"].median_s
    assert found.gain() == ratio
    assert found.off() == pytest.approx(max(found.expected() / ratio, ratio / found.expected()))
    assert f"one loop over new arrays: predicted ×{found.expected():.2g}" in repr(found)


def test_one_way_alone_has_no_gain_over_another_and_what_fits_no_memory_is_refused():
    found = rl.fusion.gain("sin_sqrt", 8, 8, ways=("fused",), rounds=2, progress=False)
    assert found.gain() == found.off() == 1 and "one loop over one loop" in repr(found)
    with pytest.raises(MemoryError, match="choose smaller sizes"):
        rl.fusion.gain("sin_sqrt", 1 << 40, rounds=2, progress=False)
    with pytest.raises(MemoryError, match="choose smaller sizes"):
        rl.fusion.attention_gain(1 << 24, progress=False)


def test_bad_input_is_named():
    for kind, message, call in (
        (ValueError, "chain='sofmax'.*softmax", lambda: rl.fusion.gain("sofmax")),
        (ValueError, "ways=", lambda: rl.fusion.gain("softmax", 4, ways=("fast",))),
        (ValueError, "ways=", lambda: rl.fusion.gain("softmax", 4, ways=())),
        (ValueError, "rounds=0", lambda: rl.fusion.gain("softmax", 4, rounds=0)),
        (ValueError, "rows=-1", lambda: predicted("softmax", "fused", rows=-1)),
        (TypeError, "refresh=1", lambda: rl.fusion.costs(refresh=1)),
    ):
        with pytest.raises(kind, match=message):
            call()

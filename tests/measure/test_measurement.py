"""A measurement says everything about itself, and survives JSON."""

from __future__ import annotations

import copy
import json
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rooflab.count as rl
from rooflab.measure.measurement import Measurement
from tests.support.rows import each_row

OP = rl.gemm(4096, 4096, 4096, "fp64")


def taken(samples=(1.0, 2.0, 4.0), **changed):
    usual = {
        "op": OP, "machine": "a-machine", "backend": "cpu", "cache": "cold", "threads": 4,
        "samples": samples, "warnings": ("noisy: much",), "environment": {"cpu": "A CPU"},
    }  # fmt: skip
    return Measurement(**{**usual, **changed})


def test_rates_come_from_the_ledger_and_the_median():
    found = taken((0.5, 2.0, 1.0))
    assert found.median_s == 1.0
    assert found.flop_per_s == 2 * 4096**3
    assert found.byte_per_s == 3 * 4096**2 * 8
    assert found.flop_per_s / found.byte_per_s == pytest.approx(OP.intensity)


def test_repr_is_two_lines_with_everything():
    first, second = repr(taken((1e-3, 1.1e-3, 1.2e-3, 1.3e-3))).split("\n")
    for part in ("gemm 4096×4096×4096 fp64", "a-machine", "cpu", "cold", "4 threads", "1.15 ms"):
        assert part in first
    assert "IQR 13.0 %" in first and "n = 4" in first
    assert "120 TFLOP/s" in second and "350 GB/s" in second and "warning: noisy: much" in second


def test_repr_of_the_plain_case():
    quiet = taken(warnings=(), threads=1)
    assert ", 1 thread)" in repr(quiet) and repr(quiet).endswith("no warnings")
    on_gpu = taken(backend="gpu", threads=None, warnings=("first\nline", "second"))
    assert "thread" not in repr(on_gpu)
    assert len(repr(on_gpu).split("\n")) == 2 and "first line; second" in repr(on_gpu)


@given(st.lists(st.floats(1e-9, 1e4), min_size=1, max_size=50))
def test_json_round_trip_keeps_every_sample(samples):
    found = taken(tuple(samples))
    again = Measurement.from_dict(json.loads(json.dumps(found.to_dict())))
    assert again == found == pickle.loads(pickle.dumps(found)) == copy.deepcopy(found)
    assert again.samples == tuple(samples)
    low, high = np.percentile(samples, [25, 75])
    assert found.iqr_s == pytest.approx(high - low, abs=1e-12)


def test_it_cannot_be_changed():
    found = taken()
    with pytest.raises(AttributeError):
        found.cache = "warm"
    with pytest.raises(TypeError):
        found.environment["cpu"] = "another"


@each_row(((),), ((0.0,),), ((-1.0, 1.0),), ((float("nan"),),), ((float("inf"),),))
def test_samples_are_positive_seconds(samples):
    with pytest.raises(ValueError, match="samples="):
        taken(samples)


@each_row((2, "is newer"), (None, "is unknown"), ("1", "is unknown"), (0, "is unknown"))
def test_another_schema_is_refused_by_name(schema, told):
    with pytest.raises(ValueError, match=f"schema={schema!r} {told}"):
        Measurement.from_dict({**taken().to_dict(), "schema": schema})


@each_row(
    ("machine", 3), ("backend", "tpu"), ("cache", "hot"), ("threads", 0), ("threads", True),
    ("samples", "abc"), ("samples", [True]), ("warnings", [3]), ("environment", 3),
)  # fmt: skip
def test_impossible_entries_are_named(entry, value):
    with pytest.raises(ValueError, match=f"data: {entry}=.* cannot be that of a measurement"):
        Measurement.from_dict({**taken().to_dict(), entry: value})


def test_data_of_another_kind_and_missing_entries_are_named():
    data = taken().to_dict()
    del data["samples"], data["cache"]
    with pytest.raises(ValueError, match="needs cache, samples"):
        Measurement.from_dict(data)
    with pytest.raises(TypeError, match="data=3 must be a dict"):
        Measurement.from_dict(3)
    with pytest.raises(ValueError, match="data: no operation that rooflab wrote"):
        Measurement.from_dict({**taken().to_dict(), "op": None})

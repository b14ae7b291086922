"""The benchmark of the loop, on models of a moment: its rows, its means, its own doubts."""

from __future__ import annotations

import json

import pytest

import rooflab as rl
from benchmarks import decode as bench
from benchmarks import report
from rooflab.labs.llm import decode_loop, decode_prediction
from tests.labs.llm.support.plain_transformer import SMALL
from tests.labs.llm.test_decode_prediction import HERE, habits


@pytest.fixture
def tiny(monkeypatch, tmp_path):
    """Small models, an invented machine, and a results folder of its own."""
    monkeypatch.setattr(report, "RESULTS", tmp_path)
    monkeypatch.setattr(bench, "loop_model", lambda size: SMALL)
    monkeypatch.setattr(bench, "loop_efficiency", lambda *_, **__: habits())
    monkeypatch.setattr(rl, "this_machine", lambda *_, **__: HERE)
    monkeypatch.setattr(decode_loop, "SETTLE_S", 0.0)
    monkeypatch.setattr(bench, "BATCHES", (1, 3))
    monkeypatch.setattr(bench, "CONTEXT", 6)
    monkeypatch.setattr(bench, "PROMPTS", (5,))
    return tmp_path


def test_rows_means_and_file(tiny, capsys):
    result = bench.main(["--quick"])
    out = capsys.readouterr().out
    assert [row["batch"] for row in result["decode"]] == [1, 3]
    for row in result["decode"]:
        middle, low, high = row["loop_s"]
        assert low <= middle <= high and row["measured_s"] == middle
        assert row["tokens_per_s"] == pytest.approx(row["batch"] / middle)
        assert row["blas_share"] > 0 and 0 < row["core_share"] <= 1
    errors = result["errors"]["decode"]
    assert errors["estimate"] >= 1 <= errors["bound"]
    assert "BLAS share" in out and "prompt" in out
    kept = json.loads((tiny / "decode-1t.json").read_text())
    assert kept["benchmark"] == "decode-1t" and len(kept["prefill"]) == 1


def test_the_means_are_geometric():
    rows = [{"measured_s": 1.0, "bound_s": 0.5}, {"measured_s": 1.0, "bound_s": 8.0}]
    assert bench.mean_error(rows, "bound_s") == pytest.approx(4)


def test_a_shared_machine_is_named(tiny, capsys, monkeypatch):
    monkeypatch.setattr(bench, "OURS", 1.1)
    bench.main(["--quick"])
    assert "these are not the machine's figures" in capsys.readouterr().out


def test_no_shape_of_the_benchmark_was_calibrated():
    calibrated = {(p.outputs, p.inputs) for p in decode_prediction.ODD.products}
    for size in ("small", "large"):
        shapes = {(p.outputs, p.inputs) for p in rl.loop_model(size).products}
        assert not shapes & calibrated
    assert bench.BATCHES == (1, 2, 4, 8, 16, 64)

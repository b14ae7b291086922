"""Decode runs as a file: recorded in one call, replayed from any folder."""

from __future__ import annotations

import json

import pytest

import rooflab as rl
from rooflab.labs.llm import decode_loop
from rooflab.labs.llm.decode_prediction import DecodeRecording
from tests.labs.llm.support.plain_transformer import SMALL


@pytest.fixture
def recorded(tmp_path, monkeypatch) -> DecodeRecording:
    monkeypatch.setenv("ROOFLAB_RECORDINGS", str(tmp_path))
    monkeypatch.setattr(decode_loop, "SETTLE_S", 0.0)
    runs = [
        rl.decode_loop(SMALL, batch, context=4, steps=3, backend="cpu", dtype=dtype)
        for dtype in ("fp32", "fp64")
        for batch in (1, 2)
    ]
    return rl.record_decode("my-laptop", runs)


def test_a_recording_is_found_by_its_name(recorded, tmp_path):
    again = rl.decode_recording("my-laptop")
    assert again.recorded_on == recorded.recorded_on
    for old, new in zip(recorded.runs, again.runs, strict=True):
        assert new.tokens == old.tokens and new.forms == old.forms and new.model == old.model
        assert new.samples() == pytest.approx(old.samples(), rel=1e-3)
    assert "my-laptop" not in rl.recordings()  # a machine's recording is another thing


def test_a_renamed_file_is_a_renamed_recording(recorded, tmp_path):
    file = tmp_path / "decode" / "my-laptop.json"
    file.rename(file.with_name("desk.json"))
    again = rl.decode_recording("desk")
    assert again.name == "desk" == again.runs[0].machine


def test_runs_are_selected(recorded):
    assert len(recorded.runs) == 4
    assert [run.batch for run in recorded.select(dtype="fp64")] == [1, 2]
    (run,) = recorded.select("small", 2, "fp32")
    assert run.machine == "my-laptop" and run.batch == 2


def test_nothing_of_the_host_is_published(recorded, tmp_path):
    text = (tmp_path / "decode" / "my-laptop.json").read_text()
    assert "host" not in json.loads(text)["environment"]
    assert str(tmp_path) not in text


def test_a_recording_needs_a_name_of_its_own_and_runs(recorded):
    for name, runs, said in (
        ("my-laptop", recorded.runs, "exists; choose another name"),
        ("My Laptop", recorded.runs, "lower-case"),
        ("other", [], "runs is empty"),
    ):
        with pytest.raises(ValueError, match=said):
            rl.record_decode(name, runs)


def test_unknown_and_damaged_recordings_are_named(recorded, tmp_path):
    for name in ("my-laptp", 5):
        with pytest.raises(ValueError, match="is unknown; .*my-laptop"):
            rl.decode_recording(name)
    file = tmp_path / "decode" / "my-laptop.json"
    for content in ("{", "[]", '{"schema": 1, "name": "x", "environment": 3}', "[" * 10**5):
        file.write_text(content)
        with pytest.raises(ValueError, match=r"my-laptop\.json: .*record it again"):
            rl.decode_recording("my-laptop")

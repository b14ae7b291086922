"""Decode runs as a file: recorded in one call, replayed from any folder."""

from __future__ import annotations

import json

import pytest

import rooflab as rl
from rooflab.labs.llm import decode_loop
from rooflab.labs.llm import decode_prediction as room
from rooflab.labs.llm.decode_prediction import DecodeRecording
from rooflab.measure import recording
from rooflab.measure.operands import OperandsTooLarge
from tests.labs.llm.support.plain_transformer import SMALL
from tests.support.rows import each_row


@pytest.fixture
def recorded(tmp_path, monkeypatch) -> DecodeRecording:
    monkeypatch.setenv("ROOFLAB_RECORDINGS", str(tmp_path))
    monkeypatch.setattr(decode_loop, "SETTLE_S", 0.0)
    return rl.record_decode(
        "my-laptop", [SMALL], (1, 2), context=4, steps=3, backend="cpu",
        dtypes=("fp32", "fp64"), progress=False,
    )  # fmt: skip


def test_a_recording_is_found_by_its_name(recorded, tmp_path):
    assert rl.decode_recordings()[0] == "my-laptop"
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


def test_where_nothing_is_recorded_it_is_said(monkeypatch):
    monkeypatch.setattr(recording, "folders", tuple)
    with pytest.raises(ValueError, match="nothing is recorded; see rl.record_decode"):
        rl.decode_recording("my-laptop")
    with pytest.raises(TypeError, match="name=5 must be the name of a recording"):
        rl.decode_recording(5)


def test_runs_are_selected(recorded):
    assert len(recorded.runs) == 4
    assert [run.batch for run in recorded.select(dtype="fp64")] == [1, 2]
    (run,) = recorded.select("small", 2, "fp32")
    assert run.machine == "my-laptop" and run.batch == 2


def test_nothing_of_the_host_is_published(recorded, tmp_path):
    text = (tmp_path / "decode" / "my-laptop.json").read_text()
    assert "host" not in json.loads(text)["environment"]
    assert rl.this_machine.__name__ and recorded.runs[0].machine not in ("", None)
    assert str(tmp_path) not in text


def test_a_name_that_is_taken_is_refused_before_measuring(recorded, monkeypatch):
    monkeypatch.setattr(room, "decode_loop", lambda *_: pytest.fail("measured"))
    with pytest.raises(ValueError, match="exists; choose another name"):
        rl.record_decode("my-laptop", [SMALL], (1,), backend="cpu", progress=False)
    for name in ("My Laptop", "schema", ""):
        with pytest.raises(ValueError, match="lower-case"):
            rl.record_decode(name, [SMALL], (1,), backend="cpu", progress=False)
    with pytest.raises(ValueError, match=r"batches\[1\]=0"):
        rl.record_decode("other", [SMALL], (1, 0), backend="cpu", progress=False)


def test_unknown_and_damaged_recordings_are_named(recorded, tmp_path):
    with pytest.raises(ValueError, match="my-laptop"):
        rl.decode_recording("my-laptp")
    file = tmp_path / "decode" / "my-laptop.json"
    for content in (
        "{",
        "[]",
        '{"schema": 1}',
        '{"schema": 1, "name": "x", "environment": 3}',
        "[" * 10**5,
    ):
        file.write_text(content)
        with pytest.raises(ValueError, match=r"my-laptop\.json: "):
            rl.decode_recording("my-laptop")


@each_row(
    ({"models": "small"}, TypeError, "models='small' must be a list"),
    ({"dtypes": "fp32"}, TypeError, "dtypes='fp32' must be a list"),
    ({"batches": 4}, TypeError, "batches=4 must be a list"),
    ({"models": []}, ValueError, r"models=\[\] is empty; give at least one"),
    ({"models": ["tiny"]}, ValueError, "which='tiny' is unknown"),
    ({"models": [SMALL, 3]}, TypeError, "model=3 is a int"),
    ({"models": [SMALL, rl.model("mixtral-8x7b")]}, ValueError, "has experts=8"),
    ({"models": [SMALL, rl.model("gpt2")], "context": 1022}, ValueError, "must be at most 1024"),
    ({"dtypes": ["fp32", "fp16"]}, ValueError, "dtype='fp16': the loop runs in"),
    ({"context": 0}, ValueError, "context=0"),
    ({"steps": "3"}, TypeError, "steps='3' is a str"),
    ({"batches": (1, 10**9)}, OperandsTooLarge, "batch=1000000000"),
)
def test_the_last_run_is_refused_before_the_first_is_measured(
    wrong, error, said, monkeypatch, tmp_path
):
    monkeypatch.setattr(room, "decode_loop", lambda *_: pytest.fail("measured"))
    given = {"models": [SMALL], "batches": (1,), "steps": 3, "backend": "cpu", **wrong}
    with pytest.raises(error, match=said):
        rl.record_decode("other", **given, folder=tmp_path, progress=False)
    assert not list(tmp_path.rglob("*.json"))

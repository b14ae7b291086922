"""Recordings: what is written is read back, and a file that cannot be right is refused by name."""

from __future__ import annotations

import copy
import json
import os
from pathlib import Path

import pytest

import rooflab as rl
from rooflab.measure import recording as room
from rooflab.measure.recording import Recording
from rooflab.predict.roofline import Roofline
from tests.support.recording import ASSETS, CPU, document, schema
from tests.support.rows import each_row


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv(room.ENV, str(tmp_path))
    return tmp_path


@pytest.fixture
def written(folder):
    path = folder / "example.json"
    path.write_text(room.text(Recording.from_dict(document())), encoding="utf-8")
    return path


def shipped() -> list[Path]:
    return sorted(path for path in ASSETS.glob("*.json") if path.name != "schema.json")


def test_a_recorded_machine_is_a_machine(written):
    machine = room.recording("example").machine
    assert Roofline(machine, "fp32").ridge == pytest.approx(4e11 / 3e10)  # the most threads
    assert rl.predict(rl.gemm(256, 256, 256), machine).seconds >= 2 * 256**3 / 4e11
    assert rl.machine(machine) is machine
    assert machine.origin == "measured"
    assert machine.recorded_on == "2026-11-21T10:00:00Z"


def test_every_thread_count_has_its_own_roofs(written):
    found = room.recording("example")
    assert float(found.at(1).peak("fp32")) == 1e11
    assert float(found.at(4).peak("fp32")) == 4e11
    with pytest.raises(ValueError, match=r"threads=2 was not recorded.*1, 4"):
        found.at(2)


def test_what_is_written_is_read_back(written):
    found = room.recording("example")
    again = Recording.from_dict(json.loads(room.text(found)))
    assert again.to_dict() == found.to_dict()
    assert [m.op for m in again.measurements] == [m.op for m in found.measurements]
    assert found.measurements[0].samples == (1e-5, 1.1e-5, 1.2e-5)
    assert dict(found.measurements[0].environment) == {
        **CPU, "kernel": "a kernel", "clock": "a clock"
    }  # fmt: skip


def test_a_renamed_file_is_a_renamed_recording(written):
    written.rename(written.with_name("other.json"))
    assert room.recordings()[0] == "other"
    found = room.recording("other")
    assert {m.machine for m in found.measurements} == {found.machine.id} == {"other"}


def test_select_narrows_down(written):
    found = room.recording("example")
    assert len(found.measurements) == 12
    assert len(found.select("gemm")) == 4
    assert {str(m.op.compute_dtype) for m in found.select(dtype="fp64")} == {"fp64"}
    (one,) = found.select("axpy", "float32", "warm", 4)
    assert (one.op.name, one.cache, one.threads) == ("axpy", "warm", 4)


def test_the_shared_surroundings_are_written_once(written):
    data = json.loads(written.read_text(encoding="utf-8"))
    assert set(data["measurements"][0]["environment"]) == {"kernel", "clock"}
    assert "machine" not in data["measurements"][0]


@each_row(*shipped())
def test_shipped_recordings_are_sound(path):
    text = path.read_text(encoding="utf-8")
    data = json.loads(text)
    schema().validate(data)
    assert path.stat().st_size < 1_000_000
    for private in ("/home/", "/root/", "/usr/", "\\\\", "@"):
        assert private not in text
    found = room.read(path)
    names = {m.op.name for m in found.measurements}
    assert {"axpy", "gemv", "gemm"} <= names
    # No measurement beats the arithmetic of its machine by more than its noise.
    for m in found.measurements:
        if m.threads is None or str(m.op.compute_dtype) in found.at(m.threads).peaks:
            peak = found.at(m.threads).peak(m.op.compute_dtype)
            assert m.op.flops / max(m.samples) < 1.1 * peak, m


def test_schema_refuses_a_host_and_a_wrong_unit():
    wrong = document()
    wrong["environment"] = {**CPU, "host": "somebody-laptop-12ab34"}
    assert not schema().is_valid(wrong)
    wrong = document()
    wrong["roofs"][0]["peak"]["fp32"]["value"] = -1
    assert not schema().is_valid(wrong)


def test_published_surroundings_name_nobody():
    told = room.published(
        {"host": "amd-epyc-2c-3fa2b1", "system": "Linux 6.8.0-45-mine", "cpu": "X"}
    )
    assert told == {"system": "Linux 6.8.0", "cpu": "X"}


def test_unknown_names_come_with_suggestions(written):
    with pytest.raises(ValueError, match=r"name='exmple' is unknown; did you mean 'example'"):
        room.recording("exmple")
    with pytest.raises(ValueError, match="name=3 is unknown"):
        room.recording(3)


def test_the_first_folder_wins_and_one_that_is_missing_or_cannot_be_read_is_skipped(
    tmp_path, monkeypatch, written
):
    other = tmp_path / "ünother folder"
    other.mkdir()
    (other / "example.json").write_text("{}", encoding="utf-8")
    unread = "x" * 5000  # too long a name for any file system
    places = [tmp_path / "nowhere", unread, tmp_path, other]
    monkeypatch.setenv(room.ENV, os.pathsep.join(map(str, places)))
    assert room.recordings().count("example") == 1
    assert room.recording("example").name == "example"


def test_the_course_s_own_folder_is_found():
    assert ASSETS in room.folders()
    assert "schema" not in room.recordings()


def broken(change) -> str:
    data = copy.deepcopy(document())
    change(data)
    return json.dumps(data)


DAMAGED = {
    "bytes": (b"\xff\xfe\x00{", "damaged or cut off"),
    "cut off": (json.dumps(document())[:5000], "damaged or cut off"),
    "not an object": ("[1, 2]", "no schema version"),
    "a schema in words": (broken(lambda d: d.update(schema="one")), "no schema version"),
    "newer": (broken(lambda d: d.update(schema=2)), "newer rooflab .*update rooflab"),
    "older": (broken(lambda d: d.update(schema=0)), "no schema version; .*record again"),
    "no roofs": (broken(lambda d: d.pop("roofs")), "damaged: KeyError 'roofs'"),
    "empty roofs": (broken(lambda d: d.update(roofs=[])), "damaged: IndexError"),
    "measurements of another kind": (broken(lambda d: d.update(measurements=3)), "damaged"),
    "no bandwidth": (broken(lambda d: d["roofs"][0].pop("bandwidth")), "bandwidth"),
    "an impossible roof": (
        broken(lambda d: d["roofs"][0]["peak"]["fp32"].update(value=-5.0)),
        r"peaks\['fp32'\]=-5.0 must be a positive rate",
    ),
    "a negative time": (broken(lambda d: d["measurements"][0].update(samples=[-1.0])), "samples"),
    "words for times": (broken(lambda d: d["measurements"][0].update(samples=["x"])), "damaged"),
    "an operation without operands": (
        broken(lambda d: d["measurements"][0]["op"].pop("operands")), "operands",
    ),
    "brackets only": ("[" * 99_999, "damaged or cut off"),
    "a level without bandwidths": (
        broken(lambda d: d["roofs"][0]["bandwidth"].update(l1={})), "has no l1 bandwidth",
    ),
    "routines of a level that is not there": (
        broken(lambda d: d["roofs"][0].update(routines={"axpy/fp32": {
            "overhead_s": 0.0, "cold_overhead_s": 0.0,
            "points": [{"level": "l2", "efficiency": 1.0}],
        }})), "the routines of",
    ),
    "an unknown cache": (
        broken(lambda d: d["measurements"][0].update(cache="hot")), "cache='hot' cannot be",
    ),
}  # fmt: skip


@each_row(*DAMAGED.values())
def test_damaged_files_are_refused_with_the_file_and_a_way_out(content, says, folder):
    path = folder / "wrong.json"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(ValueError, match=says) as caught:
        room.recording("wrong")
    assert str(path) in str(caught.value)
    assert "update rooflab" in str(caught.value) or "rooflab record wrong" in str(caught.value)

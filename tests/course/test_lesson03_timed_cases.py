"""03-predict is frozen: what was recorded since, or how noisily, changes nothing in it."""

from __future__ import annotations

import json
import random

import pytest

import rooflab as rl
from rooflab.course.lesson03 import exercises as lesson03
from rooflab.course.lesson03.exercises import (
    FROZEN,
    KINDS,
    LENGTH,
    MATMULS,
    PREDICT,
    STREAMS,
    TimedProduct,
    found_in,
    recorded,
    timed,
    timed_elsewhere,
)
from rooflab.course.timed_cases import timed_cases_text
from rooflab.grade.pipeline import code_digest
from rooflab.grade.sandbox_copy import copy_package
from rooflab.measure import recording as room
from tools import freeze

NAME = "epyc-2core-vm"
HERE = {"flops": 2 * 10**9, "bytes": 10**6, "peak": 1e12, "bandwidth": [1e11, 1e10],
        "capacity": [10**5, 10**9], "call": 0.0}  # fmt: skip


@pytest.fixture
def noisy(tmp_path, monkeypatch):
    """The shipped recording in the way of a busy machine: every sample later, by up to double."""
    rng = random.Random(1)
    data = json.loads(room.files()[NAME].read_text(encoding="utf-8"))
    data["recorded_on"] = "2031-01-01T00:00:00Z"
    for measured in data["measurements"]:
        measured["samples"] = [s * rng.uniform(1, 2) for s in measured["samples"]]
    (tmp_path / f"{NAME}.json").write_text(json.dumps(data), encoding="utf-8")
    monkeypatch.setenv(room.ENV, str(tmp_path))
    return rl.recording(NAME)


def asked(seeds=range(20)) -> str:
    """All that ``seeds`` ask, allow and count as right, read afresh."""
    recorded.cache_clear()
    timed.cache_clear()
    cases = [case for seed in seeds for case in PREDICT.draw(seed)]
    right = [(PREDICT.reference(*c.values()), PREDICT.allowed(c)) for c in cases]
    return json.dumps([cases, right])


def test_a_noisier_recording_of_the_same_name_changes_nothing(noisy):
    assert noisy.recorded_on.startswith("2031"), "it is in front of the shipped one"
    found = {entry.seconds for entry in found_in(noisy)}
    assert len(found) < len(recorded()) and not found & {e.seconds for e in recorded()}
    with_it = asked()
    with pytest.MonkeyPatch.context() as patched:
        patched.delenv(room.ENV)
        assert asked() == with_it
        patched.setattr(room, "folders", tuple)  # no recording anywhere
        assert asked() == with_it


def test_the_frozen_file_says_what_it_is_and_its_entries_are_fair():
    data = json.loads(FROZEN.read_text(encoding="utf-8"))
    assert data["recording"] == NAME and data["recorded_on"].startswith("20")
    assert data["environment"]["cpu"] and data["environment"]["blas"]
    assert "host" not in data["environment"], "what is published names no host"
    assert len(recorded()) == len(data["asked"]) and all(e.fair for e in recorded())
    for kind in KINDS:
        assert sum(e.kind == kind for e in recorded()) >= 2


def test_freezing_writes_what_the_rule_finds_and_reads_it_back(tmp_path, monkeypatch, capsys):
    target = tmp_path / FROZEN.name
    monkeypatch.setattr(lesson03, "FROZEN", target)
    kept = room.recording(NAME)
    status = freeze.main(["03-predict", NAME])
    if status:  # the shipped recording may be a noisy one; then it is said, and nothing is written
        assert "record again" in capsys.readouterr().out and not target.exists()
        target.write_text(timed_cases_text(kept, found_in(kept)), encoding="utf-8")
    assert recorded.__wrapped__() == found_in(kept)


def test_a_recording_too_noisy_to_draw_from_is_refused(noisy, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(lesson03, "FROZEN", tmp_path / "kept.json")
    assert freeze.main(["03-predict", NAME]) == 1
    assert "fair to ask are only" in capsys.readouterr().out
    assert not (tmp_path / "kept.json").exists()


def test_another_schema_is_refused_by_name(tmp_path, monkeypatch):
    path = tmp_path / "later.json"
    path.write_text(json.dumps({"schema": 2}), encoding="utf-8")
    monkeypatch.setattr(lesson03, "FROZEN", path)
    with pytest.raises(ValueError, match=r"later\.json: schema 2; this rooflab reads 1"):
        recorded.__wrapped__()


@pytest.mark.parametrize(
    ("change", "seconds", "fair"),
    [
        ({}, 2e-3, True),
        ({}, 2e-3 * 1.2, True),
        ({}, 2e-3 * 1.5, False),  # the model is a third off
        ({"bytes": 10**5 + 1}, 2e-3, False),  # beyond the cache, and not by far
        ({"bytes": 90_000}, 2e-3, False),  # in the cache, and nearly filling it
        ({"bytes": 40_000}, 2e-3, True),
        ({"bytes": 18 * 10**6}, 2e-3, True),  # both as long: the clock tells 2 ms from 3.8 ms
        ({"bytes": 9 * 10**6}, 2.45e-3, False),  # 2 ms or 2.9 ms: the clock is between them
    ],
)
def test_the_rule_of_what_is_fair(change, seconds, fair):
    assert TimedProduct({**HERE, **change}, seconds, 0.0, "an operation", "a machine").fair is fair


@pytest.mark.parametrize(("name", "shape", "rate"), MATMULS)
def test_published_products_are_those_of_the_catalogue(name, shape, rate):
    m = rl.machine(name)
    assert float(m.measured["bf16"]) == rate < float(m.peak("bf16"))


def test_published_streams_stay_below_the_bandwidth_and_come_from_memory():
    for name, _, rate in STREAMS:
        m = rl.machine(name)
        assert 0.6 < rate / float(m.bandwidth()) < 1
        assert m.capacities["l2"] < 8 * LENGTH / 4


def test_what_is_asked_from_elsewhere_is_from_eight_machines_of_three_makers():
    names = {entry.machine for entry in timed_elsewhere()}
    assert len(names) == 8
    makers = {rl.machine(name).id.partition("-")[0] for name in names}
    assert makers == {"nvidia", "amd", "intel"}


def test_the_answers_are_not_in_the_sandbox_and_count_for_what_is_finished(tmp_path, monkeypatch):
    assert not list(copy_package(tmp_path / "course").rglob(FROZEN.name))
    digest, here = code_digest.__wrapped__(), FROZEN.read_bytes()
    read = type(FROZEN).read_bytes
    monkeypatch.setattr(
        type(FROZEN), "read_bytes", lambda path: b"" if path == FROZEN else read(path)
    )
    assert here and code_digest.__wrapped__() != digest

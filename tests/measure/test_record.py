"""The recorder: what is measured is kept, and nothing finished is ever lost."""

from __future__ import annotations

import functools
import json
import subprocess
import sys
import textwrap
import types

import pytest

import rooflab as rl
from rooflab.measure import gpu, operands, timing
from rooflab.measure import measure as timed_room
from rooflab.measure import record as recorder
from rooflab.measure import recording as shelf
from rooflab.measure.measurement import Measurement
from tests.support.recording import ASSETS, roofs, schema, small_campaign


@pytest.fixture(autouse=True)
def small(monkeypatch, tmp_path):
    """Two sizes an operation, short samples, roofs that were measured earlier."""
    monkeypatch.setenv("ROOFLAB_BACKEND", "cpu")
    monkeypatch.setenv(shelf.ENV, str(tmp_path))
    small_campaign(monkeypatch, axpy=10, gemv=7, gemm=5)
    warm = functools.partial(timing.time_warm, sample_s=1e-5, settle_s=0.0)
    monkeypatch.setattr(timed_room, "time_warm", warm)
    monkeypatch.setattr(timed_room, "time_cold", functools.partial(timing.time_cold, settle_s=0.0))
    monkeypatch.setattr(timed_room, "evictor", lambda passing, threads: lambda: None)


def record(name="mine", **other):
    usual = {"threads": (1,), "dtypes": ("fp32",), "progress": False}
    return recorder.record(name, **{**usual, **other})


def keys(found) -> set[tuple]:
    return {(m.op.label, m.cache, m.threads) for m in found.measurements}


def test_every_size_is_measured_cold_and_warm(tmp_path):
    found = record()
    assert keys(found) == {
        (op.label, cache, 1)
        for op in (rl.axpy(256), rl.axpy(1024), rl.gemv(64, 64), rl.gemv(128, 128),
                   rl.gemm(16, 16, 16), rl.gemm(32, 32, 32))
        for cache in ("cold", "warm")
    }  # fmt: skip
    assert found.left_out == ()
    assert {m.environment["kernel"] for m in found.select("gemm")} == {"scipy.linalg.blas.sgemm"}
    assert [path.name for path in tmp_path.iterdir()] == ["mine.json"]


def test_the_file_fits_the_schema_and_reads_back(tmp_path):
    found = record()
    text = (tmp_path / "mine.json").read_text(encoding="utf-8")
    schema().validate(json.loads(text))
    again = shelf.recording("mine")
    assert shelf.text(again) == text
    assert keys(again) == keys(found)
    assert "host" not in again.environment
    assert all("host" not in m.environment for m in again.measurements)


def test_threads_and_dtypes_multiply():
    found = record(dtypes=("fp32", "float64"))
    assert {str(m.op.compute_dtype) for m in found.measurements} == {"fp32", "fp64"}
    assert len(found.measurements) == 24


class Kill(BaseException):
    """What no ordinary `except` catches."""


def test_a_killed_process_loses_only_the_measurement_it_was_at(tmp_path):
    """A real process that dies without any cleaning up."""
    script = textwrap.dedent("""
        import os, sys
        sys.path.insert(0, sys.argv[1])
        import pytest
        from rooflab.measure import record
        from tests.support.recording import small_campaign
        small_campaign(pytest.MonkeyPatch(), axpy=10, gemv=7, gemm=5)
        real, count = record.measurement_step, [0]
        def dies(task, backend, name, tries):
            count[0] += 1
            if count[0] > 3:
                os._exit(9)
            return real(task, backend, name, tries)
        record.measurement_step = dies
        record.record("mine", threads=(1,), dtypes=("fp32",), progress=False)
    """)
    command = [sys.executable, "-c", script, str(ASSETS.parents[1])]
    assert subprocess.run(command, cwd=tmp_path, check=False).returncode == 9
    lines = (tmp_path / "mine.journal").read_text(encoding="utf-8").splitlines()
    assert sum("samples" in (json.loads(line).get("found") or {}) for line in lines) == 3
    assert len(record().measurements) == 12


@pytest.mark.parametrize("other", [{"dtypes": ("fp64",)}, {"minutes": 3}])
def test_other_options_do_not_mix_into_an_unfinished_recording(monkeypatch, tmp_path, other):
    def interrupted(task, backend, name, tries):
        raise Kill

    with monkeypatch.context() as patch:
        patch.setattr(recorder, "measurement_step", interrupted)
        with pytest.raises(Kill):
            record()
    option = next(iter(other))
    with pytest.raises(ValueError, match=f"{option}=.*restart=True"):
        record(**other)
    assert (tmp_path / "mine.journal").exists()  # nothing lost by asking
    assert len(record(**other, restart=True).measurements) > 0


def test_a_finished_recording_is_not_replaced_by_accident(tmp_path):
    record()
    before = (tmp_path / "mine.json").read_bytes()
    with pytest.raises(ValueError, match=r"mine\.json exists.*overwrite=True"):
        record()
    assert (tmp_path / "mine.json").read_bytes() == before
    assert record(overwrite=True).recorded_on >= json.loads(before)["recorded_on"]


def test_what_cannot_be_measured_is_named(monkeypatch):
    def fails(op, **options):
        if op.name == "gemv":
            raise MemoryError("no room today")
        return real(op, **options)

    real = timed_room.measure
    monkeypatch.setattr(timed_room, "measure", fails)
    found = record()
    assert {m.op.name for m in found.measurements} == {"axpy", "gemm"}
    assert len(found.left_out) == 4
    assert all(entry["reason"] == "no room today" for entry in found.left_out)


def test_noisy_samples_are_taken_again_and_the_quietest_kept(monkeypatch):
    spreads = iter([0.5, 0.2, 0.3, *[0.0] * 100])

    def noisy(op, **options):
        t, spread = 1e-5, next(spreads)
        samples = (t, t, t * (1 + spread), t * (1 + spread))
        return Measurement(op, "x", "cpu", options["cache"], 1, samples, (), {"kernel": "none"})

    monkeypatch.setattr(timed_room, "measure", noisy)
    found = record()
    assert [m.environment["tries"] for m in found.measurements] == [3] + [1] * 11
    assert max(found.measurements[0].samples) == pytest.approx(1.2e-5)
    spreads = iter([0.5] * 100)
    hurried = record("hurried", minutes=0.125)  # just enough time for each of them once
    assert hurried.measurements[0].environment["tries"] == 1
    assert len(hurried.measurements) == 12


@pytest.fixture
def now(monkeypatch):
    """Time passes only in measurements, a second in each."""
    real, now = recorder.measurement_step, [0.0]
    monkeypatch.setattr(recorder, "time", types.SimpleNamespace(monotonic=lambda: now[0]))

    def slow(*task):
        now[0] += 1.0
        return real(*task)

    monkeypatch.setattr(recorder, "measurement_step", slow)
    return now


def test_a_run_that_has_to_stop_is_taken_up_by_the_next(now, tmp_path):
    for number in (1, 2):
        with pytest.raises(
            recorder.RecordingStopped, match="stopped after 5 s with .* steps kept in .*mine"
        ):
            record(stop_after=5)
        assert now[0] == 5 * number
        assert not (tmp_path / "mine.json").exists()
    found = record(stop_after=5)
    assert now[0] == 12  # what was kept was not measured again
    assert len(found.measurements) == 12
    assert [path.name for path in tmp_path.iterdir()] == ["mine.json"]


def test_what_there_is_no_time_for_is_named_and_the_time_of_earlier_runs_counts(now):
    with pytest.raises(recorder.RecordingStopped):
        record(minutes=8 / 60, stop_after=3)
    found = record(minutes=8 / 60)
    assert now[0] == len(found.measurements) == 8
    assert len(found.left_out) == 4
    assert all("s of the 8 s for everything" in entry["reason"] for entry in found.left_out)
    largest = max(m.op.bytes for m in found.measurements)
    assert rl.gemv(128, 128).bytes > largest  # what is dearest goes first


def test_what_memory_cannot_hold_is_named(monkeypatch):
    monkeypatch.setattr(recorder, "LARGEST", {"cpu": {"axpy": 26, "gemv": 6, "gemm": 4}})
    monkeypatch.setattr(operands, "available_bytes", lambda backend: 1 << 28)
    found = record(quick=True)
    large = rl.axpy(2**26).label
    assert {entry["what"] for entry in found.left_out} == {
        f"{large}, cold, 1 thread", f"{large}, warm, 1 thread"
    }  # fmt: skip
    assert all("of memory" in entry["reason"] for entry in found.left_out)


def test_progress_is_told_from_start_to_end():
    told = []
    record(progress=told.append)
    assert told[0] == 0.0 and told[-1] == 1.0
    assert told == sorted(told) and len(told) > 12


def test_one_small_recording_for_real(monkeypatch, tmp_path):
    """Roofs, free lunch and calibration as on a learner's machine, on two tiny sizes."""
    monkeypatch.undo()
    monkeypatch.setenv("ROOFLAB_BACKEND", "cpu")
    monkeypatch.setattr(recorder, "LARGEST", {"cpu": {"axpy": 8, "gemv": 6, "gemm": 4}})
    found = record(folder=tmp_path)
    assert len(found.measurements) == 6
    assert found.free_lunch.k[0] == 1 and found.free_lunch.machine == "mine"
    assert {"axpy/fp32", "gemv/fp32", "gemm/fp32"} <= set(found.machine.routines)
    assert found.machine.bandwidth("dram") < found.machine.bandwidth("l1")
    schema().validate(json.loads((tmp_path / "mine.json").read_text(encoding="utf-8")))
    assert rl.predict(rl.gemm(512, 512, 512), found.machine).seconds > 0


def test_a_gpu_is_recorded_with_its_own_dtypes_and_no_threads(monkeypatch, tmp_path, fake):
    """On a stand-in for CuPy: the path is the GPU's, the arithmetic NumPy's."""
    freed = []
    pool = types.SimpleNamespace(free_bytes=lambda: 0, free_all_blocks=lambda: freed.append(1))
    monkeypatch.setattr(fake, "get_default_memory_pool", lambda: pool)
    monkeypatch.setattr(gpu, "LEAST_FLUSH", 1 << 16)
    monkeypatch.setitem(gpu.time_gpu.__kwdefaults__, "warm_up_s", 0.0)
    monkeypatch.setattr(gpu, "nvidia_smi", lambda *_, **__: {})
    monkeypatch.setattr(recorder, "LARGEST", {"gpu": {"axpy": 8, "gemv": 6, "gemm": 4}})
    roof = {**roofs(None), "backend": "gpu"}
    monkeypatch.setattr(recorder, "measured_roofs", lambda *_: roof)
    found = record(threads=None, dtypes=None)
    kinds = {str(m.op.compute_dtype) for m in found.measurements}
    assert kinds | {entry["what"].split(", ")[0].split()[-1] for entry in found.left_out} == {
        "fp32", "fp64", "tf32", "bf16", "fp16"
    }  # fmt: skip
    assert {m.threads for m in found.measurements} == {None}
    steps = len(found.measurements) + len(found.left_out)
    assert len(freed) == steps  # room for the next one
    assert found.machine.kind == "gpu" and found.machine.threads is None
    assert found.machine.name == found.environment["gpu"]["name"]
    assert found.environment["cpu"]  # the host's part in it is told too
    schema().validate(json.loads((tmp_path / "mine.json").read_text(encoding="utf-8")))
    with pytest.raises(ValueError, match="a GPU is recorded as a whole"):
        record("other", threads=(1,))

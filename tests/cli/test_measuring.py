"""``rooflab measure`` and ``rooflab record``, really run on tiny sizes."""

from __future__ import annotations

import functools
import json
import sys
import warnings

import pytest
from typer.testing import CliRunner

import rooflab as rl
from rooflab.cli import app, measuring
from rooflab.measure import measure as timed_room
from rooflab.measure import record, this_machine, timing
from rooflab.measure import recording as shelf
from rooflab.predict.machine import Machine
from tests.support.recording import roofs, small_campaign

PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture(autouse=True)
def quick(monkeypatch, tmp_path):
    """Roofs measured earlier, short samples, and nothing kept from the user's own runs."""
    monkeypatch.setenv("ROOFLAB_BACKEND", "cpu")
    monkeypatch.setenv(shelf.ENV, str(tmp_path))
    monkeypatch.chdir(tmp_path)
    for name in ("COLUMNS", "FORCE_COLOR", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)

    def here(backend="auto", threads=None, **_):
        return Machine.from_roofs(roofs(threads or 2), id="here", name="this computer")

    monkeypatch.setattr(this_machine, "this_machine", here)
    monkeypatch.setattr(measuring, "LARGEST", 1024)
    warm = functools.partial(timing.time_warm, sample_s=1e-5, settle_s=0.0)
    monkeypatch.setattr(timed_room, "time_warm", warm)
    monkeypatch.setattr(timed_room, "time_cold", functools.partial(timing.time_cold, settle_s=0.0))
    monkeypatch.setattr(timed_room, "evictor", lambda passing, threads: lambda: None)


def run(*arguments: str) -> str:
    result = CliRunner().invoke(app, list(arguments))
    assert result.exit_code == 0, result.output
    assert "\x1b[" not in result.stdout
    # A path is never broken, so a line that holds nothing else may be longer.
    lines = [line for line in result.stdout.splitlines() if " " in line.strip()]
    assert max(map(len, lines)) <= 80
    return " ".join(result.stdout.split())


def test_bound_prediction_measurement_explanation_and_picture(tmp_path):
    text = run("measure", "gemm", "--n", "200", "--threads", "1", "--cache", "warm")
    for word in ("bound", "predicted", "measured", "rate", "roof"):
        assert word in text
    bound = rl.si(2 * 200**3 / 1e11, "s")  # the roof of the fixture: 100 GFLOP/s
    assert f"gemm 200³ fp32 33.33 {bound}" in text
    assert f"{rl.gemm(200, 200, 200)} gemm 200×200×200 fp32 in" in text
    assert "unexplained" in text
    assert text.endswith("Picture: roofline-gemm-200x200x200-fp32.png")
    assert (tmp_path / "roofline-gemm-200x200x200-fp32.png").read_bytes().startswith(PNG)


def test_without_an_operation_all_three_are_measured(tmp_path):
    text = run("measure", "--threads", "1", "--cache", "warm", "--picture", "all.svg")
    for row in ("axpy 1048576 fp32 0.1667", "gemv 1024² fp32 0.499", "gemm 1024³ fp32 170.7"):
        assert row in text
    assert text.count(" on this computer: ") == 3  # one sentence each
    assert "<svg" in (tmp_path / "all.svg").read_text(encoding="utf-8")


def test_no_picture(tmp_path):
    assert "Picture" not in run("measure", "axpy", "--n", "1000", "--threads", "1", "--no-picture")
    assert list(tmp_path.iterdir()) == []


def test_batches_and_dtypes_reach_the_measurement():
    text = run("measure", "gemm", "--m", "8", "--n", "4", "--k", "16", "--batch", "3", "--dtype",
               "float64", "--threads", "1", "--no-picture")  # fmt: skip
    assert str(rl.gemm(8, 4, 16, "fp64", batch=3)) in text


def test_a_folder_without_write_permission_costs_the_picture_only(monkeypatch):
    def read_only(*_, **__):
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr("matplotlib.figure.Figure.savefig", read_only)
    arguments = ["measure", "axpy", "--n", "1000", "--threads", "1"]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0
    assert "no picture: roofline-axpy-1000-fp32.png cannot be written" in result.stderr
    asked = CliRunner().invoke(app, [*arguments, "--picture", "mine.png"])
    assert asked.exit_code == 2  # who names a file wants it
    assert "--picture='mine.png' cannot be written (Read-only file system)" in asked.stderr


def test_a_picture_that_cannot_be_written_is_told_before_measuring(monkeypatch, tmp_path):
    monkeypatch.setattr(measuring, "_measured", lambda *_: pytest.fail("measured"))
    (tmp_path / "taken.png").mkdir()
    result = CliRunner().invoke(app, ["measure", "--picture", str(tmp_path / "taken.png")])
    assert result.exit_code == 2
    assert "cannot be written (" in result.stderr


def test_asking_for_a_picture_leaves_no_empty_file_behind(monkeypatch, tmp_path):
    def stopped(*_):
        raise RuntimeError("stopped")

    monkeypatch.setattr(measuring, "_measured", stopped)
    (tmp_path / "old.png").write_bytes(b"old")
    for name in ("new.png", "old.png"):
        arguments = ["measure", "axpy", "--n", "9", "--threads", "1"]
        CliRunner().invoke(app, [*arguments, "--picture", str(tmp_path / name)])
    assert not (tmp_path / "new.png").exists()
    assert (tmp_path / "old.png").read_bytes() == b"old"


def test_warnings_go_to_stderr(monkeypatch):
    monkeypatch.setattr(timed_room, "caveats", lambda *_, **__: ("noisy: a test",))
    result = CliRunner().invoke(app, ["measure", "axpy", "--n", "99", "--threads", "1"])
    assert "rooflab: axpy 99 fp32: noisy: a test" in result.stderr
    assert "noisy" not in result.stdout


def test_a_cache_directory_that_cannot_be_written_to_costs_one_line(monkeypatch):
    machine = this_machine.this_machine(threads=1)

    def warns(*_, **__):
        warnings.warn("cannot write to the cache directory:\n kept until Python ends", stacklevel=2)
        return machine

    monkeypatch.setattr(this_machine, "this_machine", warns)
    result = CliRunner().invoke(app, ["measure", "axpy", "--n", "9", "--threads", "1"])
    assert result.exit_code == 0
    line = "rooflab: cannot write to the cache directory: kept until Python ends"
    assert line in result.stderr.splitlines()


def test_the_three_operations_are_beyond_the_last_level_cache(monkeypatch):
    monkeypatch.setattr(measuring, "LARGEST", 1 << 20)
    big = roofs()
    big["capacity"] = {"l1": 1 << 15, "l3": 1 << 27, "dram": 1 << 40}
    machine = Machine.from_roofs(big, id="x", name="x")
    axpy, gemv, gemm = measuring._beyond_caches(machine, "fp64")
    n = gemv.dims["n"]
    assert gemv.operands[0].nbytes > 1 << 27
    assert axpy == rl.axpy(n * n, "fp64") and gemm == rl.gemm(n, n, n, "fp64")


@pytest.fixture
def tiny(monkeypatch):
    small_campaign(monkeypatch, axpy=8, gemv=6, gemm=4)


def test_record_writes_lists_and_explains(tiny, tmp_path):
    text = run("record", "mine", "--threads", "1", "--dtypes", "fp32", "--quick")
    assert "6 measurements in" in text and "mine.json" in text
    data = json.loads((tmp_path / "mine.json").read_text(encoding="utf-8"))
    assert data["quick"] is True and len(data["measurements"]) == 6
    assert "mine" in run("recordings")
    again = CliRunner().invoke(app, ["record", "mine", "--threads", "1"])
    assert again.exit_code == 2 and "--overwrite" in again.stderr


def test_record_names_what_it_left_out(tiny):
    text = run("record", "mine", "--threads", "1", "--dtypes", "fp32", "--minutes", "0.001")
    assert "left out" in text
    assert "for everything" in text


def test_record_stops_after_some_seconds_and_goes_on(tiny, tmp_path):
    options = ["record", "mine", "--threads", "1", "--dtypes", "fp32", "--quick"]
    result = CliRunner().invoke(app, [*options, "--stop-after", "1e-9"])
    assert result.exit_code == 75
    assert "with 0 steps kept in" in " ".join(result.stdout.split())
    assert list(tmp_path.rglob("mine.json")) == []
    assert "measurements in" in " ".join(run(*options).split())
    assert len(list(tmp_path.rglob("mine.json"))) == 1


def test_ctrl_c_while_recording_says_that_nothing_is_lost(tiny, monkeypatch, tmp_path):
    def interrupted(task, backend, name, tries):
        raise KeyboardInterrupt

    monkeypatch.setattr(record, "measurement_step", interrupted)
    result = CliRunner().invoke(app, ["record", "mine", "--threads", "1"])
    assert result.exit_code == 130
    assert "nothing is lost" in result.stderr
    assert (tmp_path / "mine.journal").exists()


def test_a_bar_is_drawn_on_a_terminal_only(monkeypatch):
    class Terminal:
        encoding = "utf-8"

        def __init__(self):
            self.shown = ""

        def write(self, text):
            self.shown += text

        def flush(self):
            pass

        def isatty(self):
            return True

    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    list(measuring._measured([rl.axpy(100)], "cpu", "warm", 1))
    assert "axpy 100 fp32" in screen.shown

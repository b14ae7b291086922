"""The terminal as a reader meets it: facts printed, one-line errors, plain text in a pipe."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys

import pytest
from typer.testing import CliRunner

import rooflab as rl
from rooflab.cli import app
from rooflab.cli.catalogue import machines
from rooflab.cli.terminal import one_line, plain_letters_where_needed
from rooflab.measure import recording as shelf
from rooflab.measure.recording import Recording
from tests.support.recording import document
from tests.support.rows import each_row

EXPLAIN = ["explain", "gemm", "--m", "8", "--n", "11008", "--k", "4096", "--dtype", "bf16"]


@pytest.fixture(autouse=True)
def no_recordings(monkeypatch, tmp_path):
    monkeypatch.setenv(shelf.ENV, str(tmp_path))
    monkeypatch.setenv("ROOFLAB_BACKEND", "cpu")
    monkeypatch.chdir(tmp_path)
    for name in ("COLUMNS", "FORCE_COLOR", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)


def run(*arguments: str):
    return CliRunner().invoke(app, list(arguments))


def flat(text: str) -> str:
    return " ".join(text.split())


def succeeded(result) -> str:
    assert result.exit_code == 0, result.output
    assert "\x1b[" not in result.stdout  # no colour codes in a pipe
    assert max(map(len, result.stdout.splitlines())) <= 80
    return result.stdout


def test_the_published_decode_example():
    """8 tokens through a 4096×11008 bf16 weight in 31 µs on an H100: 87 % of the memory roof."""
    text = flat(succeeded(run(*EXPLAIN, "--machine", "h100-sxm", "--time", "31us")))
    assert "2.92 TB/s, 87 % of the datasheet roof; limited by memory" in text
    assert "roofline bound 27.0 µs" in text
    assert "unexplained 31.0 µs" in text


def test_a_time_that_only_a_cache_can_do_names_the_cache():
    """A 4096² bf16 weight in 7 µs would be 4.8 TB/s: more than the H100's HBM has."""
    text = flat(succeeded(run(
        "explain", "gemv", "--n", "4096", "--dtype", "bf16", "--machine", "H100-SXM",
        "--time", "7µs",
    )))  # fmt: skip
    assert "fits the 50 MB L2: you timed L2" in text


def test_one_machine_with_sources_and_disputes():
    text = flat(succeeded(run("machines", "h100-sxm")))
    assert "peak bf16 989.4 TFLOP/s tensor" in text
    assert "1.979 PFLOP/s (ptdevinfo)" in text and "1979 is with 2:4 sparsity" in text
    assert "glenn_h100 H100 (digital garden) (Glenn K. Lockwood) restated" in text


@each_row(*list(rl.machines()))
def test_every_machine_prints_every_figure_with_its_source(name, capsys):
    from rooflab.predict.catalogue import record

    machines(name)
    text = capsys.readouterr().out
    assert max(map(len, text.splitlines())) <= 80
    row = record(name)
    cited = {key for figure in row["peak_flops"].values() for key in figure["source"]}
    for key in cited:
        assert re.search(rf"^ {key} ", text, re.MULTILINE), key  # listed among the sources
    for block in ("disputed", "unsourced", "note"):
        if block == "note" and block in row:
            assert flat(row["note"]) in flat(text)


def test_recordings_are_machines_too(tmp_path):
    (tmp_path / "example.json").write_text(
        shelf.text(Recording.from_dict(document())), encoding="utf-8"
    )
    assert "example" in succeeded(run("recordings"))
    assert "12" in succeeded(run("recordings"))
    assert re.search(r"^ example +cpu +30\.0 GB/s", succeeded(run("machines")), re.MULTILINE)
    assert "peak fp32 400 GFLOP/s" in flat(succeeded(run("machines", "example")))
    text = run("explain", "axpy", "--n", "1000000", "--machine", "example", "--time", "1ms")
    assert "measured roof" in flat(succeeded(text))


@each_row(((),), (("--help",),))
def test_without_a_command_the_help_lists_all(arguments):
    text = run(*arguments).output
    for command in ("measure", "explain", "machines", "record", "recordings"):
        assert re.search(rf"^\s+{command}\b", text, re.MULTILINE)


def test_a_stranger_error_says_what_it_is():
    assert one_line(KeyError("x")) == "KeyError: 'x'"
    assert one_line(ValueError("a\n  b")) == "a b"
    assert one_line(MemoryError()) == "not enough memory"


def python_m(*arguments: str, encoding: str):
    command = [sys.executable, "-m", "rooflab", *arguments]
    told = {**os.environ, "PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"}
    return subprocess.run(command, capture_output=True, env=told, check=False, timeout=60)


@each_row("ascii", "cp437")
def test_any_console_can_print_it(encoding):
    done = python_m(*EXPLAIN, "--machine", "h100-sxm", "--time", "31us", encoding=encoding)
    assert (done.returncode, done.stderr) == (0, b"")
    text = done.stdout.decode(encoding)
    letter = "us" if encoding == "ascii" else "µs"
    assert f"27.0 {letter}" in text
    assert "?" not in text


def test_a_terminal_without_width_prints_all():
    words = [*EXPLAIN, "--machine", "h100-sxm", "--time", "31us"]
    lines = CliRunner().invoke(app, words, env={"COLUMNS": "0"}).stdout.splitlines()
    assert any("roofline bound" in line for line in lines)
    assert max(map(len, lines)) <= 80


def test_errors_survive_any_console_too():
    done = python_m("explain", "gemm", "--n", "8", "--time", "31µx", "--machine", "l4",
                    encoding="ascii")  # fmt: skip
    assert done.returncode == 2
    assert b"is not a time; write 31us, 31us" in done.stderr


def test_only_letters_that_are_missing_are_replaced(monkeypatch):
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding="cp1252"))
    plain_letters_where_needed()
    print("4096² × 31 µs → ≥ β ☃")
    sys.stdout.flush()
    assert raw.getvalue().decode("cp1252").strip() == "4096² × 31 µs -> >= beta ?"


def test_help_starts_without_the_heavy_packages():
    code = (
        "import sys; import rooflab.cli; "
        "print(sorted({'scipy', 'matplotlib', 'numba', 'ipywidgets', 'anywidget', 'cupy', 'numpy', "
        "'pandas'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"

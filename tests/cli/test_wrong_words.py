"""Wrong words at every command: one line on stderr, exit code 2, and nothing is done or shown."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from rooflab.cli import app
from rooflab.measure import recording as shelf
from tests.support.rows import each_row

EXPLAIN = ["explain", "axpy", "--n", "8", "--machine", "h100-sxm"]
# A line: what is typed after `rooflab`, an arrow, what the message says.
LINES = Path(__file__).with_name("wrong_words.txt").read_text("utf-8").splitlines()
WRONG = [
    *((shlex.split(typed), said) for typed, said in (line.split("  → ") for line in LINES)),
    (["release", "--out", "pack", "--title", "a\nb"], "must be one line of text"),
    (["explain", "gemm", "--n", "9" * 200, *EXPLAIN[4:], "--time", "1s"], "is beyond any time"),
]
DESK = {"hw.ipynb": "no notebook", "a file": "", "bad.json": "{", "old.json": '{"schema": 0}'}


@pytest.fixture(autouse=True)
def desk(monkeypatch, tmp_path):
    """A folder that holds a few files that are no good, and no recordings anywhere."""
    monkeypatch.setenv(shelf.ENV, str(tmp_path / "recordings"))
    monkeypatch.setenv("ROOFLAB_BACKEND", "cpu")
    monkeypatch.chdir(tmp_path)
    for name, text in DESK.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "here.png").mkdir()
    return tmp_path


@each_row(*WRONG)
def test_one_line_and_exit_code_2(words, said, desk):
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    (line,) = result.stderr.splitlines()
    assert line.startswith("rooflab: ") and said.lower() in line.lower()
    assert len(line) < 600
    assert {path.name for path in desk.iterdir()} == {*DESK, "here.png"}, "nothing written"


@each_row("1e300", "1e-300", "1e30", "1e9s")
def test_the_strangest_times_are_explained_all_the_same(seconds):
    result = CliRunner().invoke(app, [*EXPLAIN, "--time", seconds])
    assert result.exit_code == 0 and "limited by memory" in " ".join(result.stdout.split())
    assert "nan" not in result.stdout


@each_row(
    ["machines", " H100-SXM "], ["model", " LLAMA-2-7B "], [*EXPLAIN, "--time", " 1 MS ".lower()],
    ["explain", "AXPY", *EXPLAIN[2:], "--time", "1ms", "--cache", "WARM", "--dtype", "Float32"]
)  # fmt: skip
def test_capitals_and_blanks_around_a_name_do_no_harm(words):
    assert CliRunner().invoke(app, words).exit_code == 0

"""Screens of every kind: narrow ones, pipes that close, full disks, colours that are not wanted."""

from __future__ import annotations

import io
import os
import pty
import re
import subprocess
import sys
from contextlib import redirect_stdout

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import rooflab as rl
from rooflab.cli import app
from rooflab.cli.terminal import complain, rows, say, table, waterfall
from rooflab.measure import recording as shelf
from rooflab.predict.explain import explain
from rooflab.show.falls import of_explanation
from tests.support.rows import each_row

EXPLAIN = ["explain", "gemm", "--n", "4096", "--machine", "h100-sxm", "--time", "9ms"]
COMMANDS = {
    "machines": ["machines"],
    "one machine": ["machines", "h100-sxm"],
    "models": ["model"],
    "a step": ["model", "llama-2-7b"],
    "a step explained": ["model", "llama-2-7b", "--machine", "h100-sxm", "--measured", "80"],
    "explain": EXPLAIN,
    "recordings": ["recordings"],
}
WORD = re.compile(r"[\w./+-]+")


@pytest.fixture(autouse=True)
def no_recordings(monkeypatch, tmp_path):
    monkeypatch.setenv(shelf.ENV, str(tmp_path))
    for name in ("COLUMNS", "FORCE_COLOR", "NO_COLOR", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)


def printed(command: list[str], columns: int) -> str:
    result = CliRunner().invoke(app, command, env={"COLUMNS": str(columns)})
    assert result.exit_code == 0, result.output
    assert result.stderr == ""
    return result.stdout


# A number that is cut short is a wrong number: "15.7 T" must not become "15".


@each_row(1, 40, 60, 79)
@each_row("machines", "models")
def test_a_list_says_on_a_narrow_screen_what_it_says_on_a_wide_one(name, columns):
    wide, narrow = (printed(COMMANDS[name], width) for width in (300, columns))
    assert WORD.findall(narrow) == WORD.findall(wide)


@each_row(1, 20, 60)
@each_row("a step explained", "explain", "one machine", "recordings")
def test_no_number_is_lost_on_a_narrow_screen(name, columns):
    """Notes wrap, so words stand in another order: their letters are counted."""
    wide, narrow = (printed(COMMANDS[name], width) for width in (300, columns))
    assert letters(wide) == letters(narrow)


def letters(text: str) -> list[str]:
    """All that is printed but blanks, lines and bars."""
    return sorted(letter for letter in text if not letter.isspace() and letter not in "─│█▒▶◀◆")


@each_row(80, 120)
@each_row(*COMMANDS)
def test_it_fits_a_screen_of_usual_width(name, columns):
    lines = [line for line in printed(COMMANDS[name], columns).splitlines() if " " in line.strip()]
    assert max(map(len, lines)) <= columns  # a path alone on its line may be longer


CELLS = st.text(st.sampled_from("abc 019.µ×é"), max_size=12)


@settings(max_examples=40)
@given(st.lists(st.tuples(CELLS, CELLS, CELLS), min_size=1, max_size=4), st.integers(1, 90))
def test_what_a_table_must_keep_stands_whole_on_one_line(cells, columns):
    """Columns 0 and 1 are kept; column 2 may be broken anywhere, and loses nothing either."""
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(io.StringIO()) as out:
        patch.setenv("COLUMNS", str(columns))
        table(("one", "two", "three"), cells, right=(1,))
    lines = out.getvalue().splitlines()
    for first, second, _ in cells:
        pattern = re.escape(first.rstrip()) + r"\s+" + re.escape(second.strip())
        assert any(re.search(pattern, line) for line in lines), (first, second, lines)
    given_letters = "onetwothree" + "".join(map("".join, cells))
    assert letters(out.getvalue()) == letters(given_letters)


@settings(max_examples=40)
@given(
    st.sampled_from([rl.axpy(10**6), rl.gemv(512, 512), rl.gemm(64, 64, 64)]),
    st.floats(1e-9, 1e3),
    st.integers(1, 60),
)
def test_times_and_factors_of_a_waterfall_are_never_cut(op, seconds, columns):
    fall = of_explanation(explain(op, "h100-sxm", seconds))
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(io.StringIO()) as out:
        patch.setenv("COLUMNS", str(columns))
        waterfall(fall, notes=False, key=False)
    lines = out.getvalue().splitlines()
    wanted = [row.plain[:37].rstrip() for row in rows(fall, 12)]
    assert [line[:37].rstrip() for line in lines if line.strip()] == wanted


@each_row("7", "30", "80")
def test_paragraphs_break_between_words_and_never_in_a_path(columns, monkeypatch, capsys):
    path = "/a/folder-with-hyphens/and/a/name.json"
    monkeypatch.setenv("COLUMNS", columns)
    say(f"It was written to {path} and that is all of it.")
    lines = capsys.readouterr().out.splitlines()
    assert path in lines or any(path in line for line in lines)
    assert " ".join(lines) == f"It was written to {path} and that is all of it."
    assert all(len(line) <= int(columns) or " " not in line for line in lines)


def test_a_complaint_is_one_line_on_stderr(capsys):
    complain("two\n  lines\tof text")
    assert capsys.readouterr() == ("", "rooflab: two lines of text\n")


def test_brackets_and_colons_are_text_and_no_markup(capsys):
    say("a[bold]b[/bold] :smile: [link=x]y")
    table(("what",), [("[red]x[/red]",), (":tada:",)])
    shown = capsys.readouterr().out
    for text in ("a[bold]b[/bold] :smile: [link=x]y", "[red]x[/red]", ":tada:"):
        assert text in shown


# Real processes: pipes, disks and terminals.


def process(*words: str, **given):
    command = [sys.executable, "-m", "rooflab", *words]
    return subprocess.run(command, stderr=subprocess.PIPE, timeout=60, check=False, **given)


def test_a_reader_who_leaves_gets_no_traceback():
    """As in `rooflab machines | head -1`: whoever reads has seen enough."""
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = process("machines", stdout=writing)
    finally:
        os.close(writing)
    assert done.stderr == b"" and done.returncode != 0


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full on this system")
def test_a_full_disk_is_one_line_and_exit_code_2():
    with open("/dev/full", "w") as full:
        done = process("model", stdout=full)
    assert done.returncode == 2
    assert done.stderr.decode().splitlines() == [
        "rooflab: OSError: [Errno 28] No space left on device"
    ]


def on_a_terminal(*words: str, **environment: str) -> str:
    """What ``rooflab`` writes to a terminal of 80 columns."""
    ours, theirs = pty.openpty()
    told = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "80", **environment}
    told = {name: value for name, value in told.items() if value}
    try:
        process(*words, stdout=theirs, env=told)
    finally:
        os.close(theirs)
    shown = b""
    while True:
        try:
            part = os.read(ours, 1 << 16)
        except OSError:  # Linux ends a closed terminal so
            part = b""
        if not part:
            os.close(ours)
            return shown.decode().replace("\r\n", "\n")
        shown += part


def test_colours_are_for_terminals_that_want_them():
    coloured = on_a_terminal(*EXPLAIN)
    assert "\x1b[" in coloured
    without = on_a_terminal(*EXPLAIN, NO_COLOR="1")
    assert not re.search(r"\x1b\[[\d;]*3[0-7]", without), "no colour where nobody wants one"
    plain = re.sub(r"\x1b\[[\d;]*m", "", coloured)
    assert plain == re.sub(r"\x1b\[[\d;]*m", "", without)
    assert plain == printed(EXPLAIN, 80)

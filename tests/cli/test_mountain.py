"""``rooflab mountain``: the levels as a table, kept in a file, shown again; errors in one line."""

from __future__ import annotations

import json
import sys

import pytest

import rooflab as rl
from rooflab.cli import main
from tests.labs.memory.support.synthetic import KIB, MIB, mountain, zen

TOLD = {"l1": 48 * KIB, "l2": MIB, "l3": 480 * MIB}


@pytest.fixture(autouse=True)
def made(monkeypatch):
    """A mountain at once, and what it was asked for."""
    asked = []

    def measured(threads, **_):
        asked.append(threads)
        return mountain(zen(64 * MIB), TOLD, name="A core", warnings=("on battery",),
                        measured_on="2026-11-23T10:00:00Z")  # fmt: skip

    monkeypatch.setattr(sys.modules[rl.memory.mountain.__module__], "mountain", measured)
    return asked


def told(monkeypatch, capsys, *arguments: str) -> tuple[int, str, str]:
    monkeypatch.setattr("sys.argv", ["rooflab", "mountain", *arguments])
    with pytest.raises(SystemExit) as end:
        main()
    return end.value.code, *capsys.readouterr()


def test_a_row_a_level_and_a_sentence_for_each(monkeypatch, capsys, made):
    code, out, errors = told(monkeypatch, capsys)
    assert code == 0 and made == [1]
    assert [line.split()[0] for line in out.splitlines() if "ns" in line and "/s" in line] == [
        "L1", "L2", "L3", "memory",
    ]  # fmt: skip
    assert "503 MB" in out and "gets only a part of it" in " ".join(out.split())
    assert max(map(len, out.splitlines())) <= 80
    assert errors == "rooflab: on battery\n"


def test_kept_and_shown_again(monkeypatch, capsys, tmp_path, made):
    path = tmp_path / "here.json"
    _, first, _ = told(monkeypatch, capsys, "--threads", "2", "--json", str(path))
    assert made == [2] and json.loads(path.read_text())["schema"] == 1
    code, again, _ = told(monkeypatch, capsys, "--replay", str(path))
    assert (code, again, made) == (0, first, [2])


def test_a_file_that_cannot_be_written_does_not_lose_the_table(monkeypatch, capsys, tmp_path):
    code, out, errors = told(monkeypatch, capsys, "--json", str(tmp_path))
    assert code == 0 and "memory" in out and "cannot be written" in errors

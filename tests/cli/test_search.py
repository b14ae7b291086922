"""``rooflab search``: the records as a table, the best schedule, files; errors in one line."""

from __future__ import annotations

import dataclasses
import json
import sys

import pytest

import rooflab as rl
from rooflab.cli import main
from rooflab.cli.search import _show
from rooflab.labs.search.schedules.result import Search
from tests.labs.search.support.machines import PLAIN
from tests.labs.search.support.searches import searched


@pytest.fixture(autouse=True)
def asked(monkeypatch):
    """A search that measures nothing: a schedule's predicted seconds are its measured ones."""
    found = []
    real = rl.search.search

    def searched(n, threads, **options):
        found.append((n, threads, options["seconds"], options["width"]))
        options["progress"] = False
        options["measure"] = lambda nest: 1 / (1 + min(len(nest.log), 3))
        return dataclasses.replace(real(n, threads, machine=PLAIN, **options), timed=True)

    monkeypatch.setattr(sys.modules[real.__module__], "search", searched)
    return found


def told(monkeypatch, capsys, *arguments: str) -> tuple[int, str, str]:
    monkeypatch.setattr("sys.argv", ["rooflab", "search", *arguments])
    with pytest.raises(SystemExit) as end:
        main()
    return end.value.code, *capsys.readouterr()


def test_records_and_the_best_schedule(monkeypatch, capsys, asked):
    code, out, errors = told(monkeypatch, capsys, "gemm", "--n", "32", "--width", "1")
    assert (code, errors, asked) == (0, "", [(32, 1, 60.0, 1)])
    assert "i j k" in out and ".vectorize('ji')" in out
    assert "schedules measured" in out and ".split('j', 16)" in out
    assert max(map(len, out.splitlines())) <= 80


def test_a_file_keeps_the_result(monkeypatch, capsys, tmp_path, asked):
    path = tmp_path / "here.json"
    options = ("gemm", "--n", "16", "--width", "1", "--threads", "1", "--seconds", "9")
    code, out, _ = told(monkeypatch, capsys, *options, "--json", str(path))
    assert code == 0 and asked == [(16, 1, 9.0, 1)]
    found = Search.from_dict(json.loads(path.read_text()))
    assert f"of {len(found.candidates)} schedules measured" in out


def test_a_file_that_cannot_be_written_does_not_lose_the_table(monkeypatch, capsys, tmp_path):
    options = ("gemm", "--n", "16", "--width", "1", "--json", str(tmp_path))
    code, out, errors = told(monkeypatch, capsys, *options)
    assert code == 0 and "best:" in out and "cannot be written" in errors


def test_a_machine_without_caches_has_a_dash_in_place_of_their_bytes(capsys):
    found = searched(1, 16)
    with pytest.raises(ValueError, match="tells no size"):
        rl.cache.Hierarchy.like(rl.Machine("bare", peaks={"fp32": 1e11}))
    bare = tuple(dataclasses.replace(one, bytes={}) for one in found.candidates)
    _show(dataclasses.replace(found, candidates=bare))
    (row,) = [line for line in capsys.readouterr().out.splitlines() if "i j k" in line]
    assert row.split().count("–") == 2


@pytest.mark.parametrize("command", ["search", "mountain"])
def test_help_tells_one_default_of_threads(monkeypatch, capsys, command):
    monkeypatch.setattr("sys.argv", ["rooflab", command, "--help"])
    with pytest.raises(SystemExit):
        main()
    said = " ".join(capsys.readouterr().out.split())
    assert "by default" not in said and "CPU threads. [default: 1]" in said

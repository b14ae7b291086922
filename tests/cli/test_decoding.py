"""``rooflab decode``: a table of real runs, a recording in one command, errors in one line."""

from __future__ import annotations

import json

import pytest

from rooflab.cli import main
from rooflab.labs.llm import decode_loop, transformer
from tests.labs.llm.support.plain_transformer import SMALL


@pytest.fixture(autouse=True)
def tiny(monkeypatch, tmp_path):
    monkeypatch.setitem(transformer.SIZES, "small", SMALL)
    monkeypatch.setattr(transformer, "beyond", lambda model, *_: model)
    monkeypatch.setattr(decode_loop, "SETTLE_S", 0.0)
    monkeypatch.setenv("ROOFLAB_RECORDINGS", str(tmp_path))
    monkeypatch.setenv("COLUMNS", "160")


def told(monkeypatch, capsys, *arguments: str) -> tuple[int, str, str]:
    monkeypatch.setattr("sys.argv", ["rooflab", "decode", *arguments])
    with pytest.raises(SystemExit) as end:
        main()
    return end.value.code, *capsys.readouterr()


SIZES = ("--context", "4", "--steps", "3", "--backend", "cpu")


def test_a_row_a_batch(monkeypatch, capsys):
    code, out, _ = told(monkeypatch, capsys, "--batch", "1,2", *SIZES)
    assert code == 0 and "tokens/s" in out and "gem" in out
    assert [line.split()[0] for line in out.splitlines() if line[:6].strip().isdigit()]
    assert "hardly larger than the last-level cache" in out


def test_one_command_records(monkeypatch, capsys, tmp_path):
    code, _, _ = told(monkeypatch, capsys, "--batch", "1", *SIZES, "--record", "mine")
    assert code == 0
    kept = json.loads((tmp_path / "decode" / "mine.json").read_text())
    assert [run["batch"] for run in kept["runs"]] == [1]

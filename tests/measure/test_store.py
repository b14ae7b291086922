"""Stored results survive kills, damage and read-only directories."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import warnings

import pytest

from rooflab.measure import store
from tests.support.rows import each_row


def fine(document) -> str:
    return ""


@pytest.fixture(autouse=True)
def directory(tmp_path, monkeypatch):
    monkeypatch.setenv(store.ENV, str(tmp_path / "cäche of mine"))
    monkeypatch.setattr(store, "_unwritten", {})
    return tmp_path / "cäche of mine"


def test_the_environment_names_the_directory(directory, monkeypatch):
    assert store.cache_dir() == directory
    monkeypatch.setenv(store.ENV, "~/mine")
    assert store.cache_dir() == store.Path.home() / "mine"
    monkeypatch.setenv(store.ENV, "  ")
    assert store.cache_dir().name.lower() in ("rooflab", "cache")


def test_nothing_stored_is_no_surprise():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert store.load("roofs", fine) is None


def test_what_is_saved_comes_back(directory):
    assert store.save("roofs", {"a": [1, 2.5]})
    assert store.load("roofs", fine) == {"a": [1, 2.5]}
    assert [path.name for path in directory.iterdir()] == ["roofs.json"]


@each_row(b"", b"{", b"\xff\xfe", b'{"a": 1', b"nonsense", b"[" * 99_999)
def test_a_damaged_file_gives_one_warning_and_nothing(text, directory):
    directory.mkdir(exist_ok=True)
    (directory / "roofs.json").write_bytes(text)
    with pytest.warns(UserWarning, match=r"roofs\.json is not used, it is not JSON: meas") as told:
        assert store.load("roofs", fine) is None
    assert len(told) == 1


def test_a_wrong_document_is_named_and_can_be_replaced():
    store.save("roofs", {"schema": 99})
    with pytest.warns(UserWarning, match="a newer version wrote it: measuring again"):
        assert store.load("roofs", lambda document: "a newer version wrote it") is None
    store.save("roofs", {"schema": 1})
    assert store.load("roofs", fine) == {"schema": 1}


def test_a_file_that_cannot_be_read_is_like_a_damaged_one(directory):
    (directory / "roofs.json").mkdir(parents=True)
    with pytest.warns(UserWarning, match=r"cannot be read"):
        assert store.load("roofs", fine) is None


def test_where_nothing_can_be_written_memory_does(directory, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv(store.ENV, str(tmp_path / "file" / "inside"))  # even root cannot write here
    with pytest.warns(UserWarning, match=r"cannot write to .*set ROOFLAB_CACHE") as told:
        assert not store.save("roofs", {"a": 1})
    assert len(told) == 1
    assert store.load("roofs", fine) == {"a": 1}
    monkeypatch.setenv(store.ENV, str(directory))
    assert store.load("roofs", fine) is None  # another directory, another memory


def test_a_read_only_directory_is_no_crash(directory, monkeypatch):
    def refuse(*args, **kwargs):
        raise PermissionError(13, "Permission denied")

    store.save("roofs", {"a": 1})
    monkeypatch.setattr(store.os, "replace", refuse)
    with pytest.warns(UserWarning, match=r"Permission denied"):
        assert not store.save("roofs", {"a": 2})
    assert store.load("roofs", fine) == {"a": 2}
    assert json.loads((directory / "roofs.json").read_text()) == {"a": 1}


@pytest.mark.skipif(os.name == "nt", reason="needs SIGKILL")
def test_a_kill_while_writing_leaves_a_whole_file(directory):
    """A process stores ever larger documents, and is killed while it does."""
    code = (
        "from rooflab.measure import store\n"
        "for i in range(1, 10**9):\n"
        "    store.save('roofs', {'i': i, 'filler': [i] * 20000})\n"
        "    i == 5 and print('going', flush=True)\n"
    )
    child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    assert child.stdout.readline().strip() == b"going"
    child.send_signal(signal.SIGKILL)
    child.wait()
    child.stdout.close()
    found = store.load("roofs", fine)
    assert found["i"] >= 5
    assert found["filler"] == [found["i"]] * 20000

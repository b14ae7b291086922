"""A file is replaced in one step or not at all."""

from __future__ import annotations

import os
import stat
import threading

import pytest

from rooflab.measure import store
from rooflab.measure.store import replace_file
from tests.support.rows import each_row


def test_the_text_arrives_as_it_is(tmp_path):
    replace_file(tmp_path / "ä b.txt", "ünï\ncode\n")
    assert (tmp_path / "ä b.txt").read_bytes() == "ünï\ncode\n".encode()


@each_row("fsync", "replace")
@each_row(OSError(28, "No space left on device"), KeyboardInterrupt())
def test_the_old_file_stays_until_the_new_one_is_whole(fault, step, tmp_path, monkeypatch):
    path = tmp_path / "a.json"
    replace_file(path, "old")

    def fail(*_):
        raise fault

    monkeypatch.setattr(store.os, step, fail)
    with pytest.raises(type(fault)):
        replace_file(path, "new")
    monkeypatch.undo()
    assert path.read_text(encoding="utf-8") == "old"
    assert [each.name for each in tmp_path.iterdir()] == ["a.json"]


@pytest.mark.skipif(os.name == "nt", reason="needs POSIX permissions")
def test_permissions_are_those_of_the_old_file_or_of_any_new_one(tmp_path):
    path, usual = tmp_path / "mine.py", tmp_path / "usual"
    usual.touch()
    replace_file(path, "one")
    assert path.stat().st_mode == usual.stat().st_mode
    path.chmod(stat.S_IRUSR | stat.S_IWUSR | stat.S_IRGRP)
    replace_file(path, "two")
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_two_that_write_at_once_leave_one_whole_file(tmp_path):
    path = tmp_path / "a.json"
    texts = [letter * 100_000 for letter in "ab"]
    writers = [
        threading.Thread(target=lambda text=text: [replace_file(path, text) for _ in range(20)])
        for text in texts
    ]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert path.read_text(encoding="utf-8") in texts

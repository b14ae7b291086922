"""The store of guesses: nothing is ever lost, and bad surroundings cost a warning at most."""

from __future__ import annotations

import json
import multiprocessing
import os

import pytest

from rooflab.exercises import guesses
from rooflab.exercises.guesses import get, guess, outcome, record

ID = "01-speed-ratio"
pytestmark = pytest.mark.usefixtures("home")


def test_a_read_only_directory_keeps_guesses_in_memory_with_one_warning(tmp_path, monkeypatch):
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    monkeypatch.setenv("ROOFLAB_HOME", str(blocked))  # a file: nothing can be made below it
    guesses._store.cache_clear()  # like a restarted kernel
    with pytest.warns(RuntimeWarning, match="this session only.*ROOFLAB_HOME") as seen:
        [guess(ID, 5), guess(ID, 6), outcome(ID, 10)]
    assert len(seen) == 1
    assert (get(ID).value, get(ID).later, get(ID).off_by) == (5, (6,), 2)


@pytest.mark.parametrize(
    "text",
    ["{", "[]", '{"schema": 1}',
     '{"schema": 1, "id": "01-speed-ratio", "what": "guess", "value": -4, "at_ns": 1}',
     '{"schema": 1, "id": "01-speed-ratio", "what": "bribe", "value": 4, "at_ns": 1}',
     '{"schema": 1, "id": "01-speed-ratio", "what": "guess", "value": 4, "at_ns": 1e999}',
     '{"schema": 1, "id": "01-speed-ratio", "what": "guess", "value": null, "at_ns": 1}',
     '{"schema": "1", "id": "01-speed-ratio", "what": "guess", "value": 4, "at_ns": 1}',
     "[" * 100_000],
)  # fmt: skip
def test_a_corrupt_file_is_set_aside_and_nothing_else_is_lost(home, text):
    guess(ID, 5)
    (home / "broken.json").write_text(text, encoding="utf-8")
    with pytest.warns(RuntimeWarning, match="broken.json.*kept as broken.json.bak") as seen:
        assert [get(ID).value, get(ID).value] == [5, 5]
    assert len(seen) == 1
    assert (home / "broken.json.bak").read_text(encoding="utf-8") == text


def test_a_newer_record_is_left_as_it_is(home):
    guess(ID, 5)
    newer = home / "newer.json"
    newer.write_text(json.dumps({"schema": 3, "id": ID, "says": "something else"}))
    with pytest.warns(RuntimeWarning, match="newer rooflab; left as it is"):
        assert get(ID).value == 5
    assert newer.exists()


def test_a_record_without_a_schema_number_is_read(home):
    home.mkdir(parents=True)
    (home / "old.json").write_text(json.dumps({"id": ID, "what": "guess", "value": 3, "at_ns": 1}))
    assert get(ID).value == 3


def test_a_kernel_killed_while_writing_leaves_no_record(home, monkeypatch):
    def killed(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", killed)
    with pytest.raises(KeyboardInterrupt):
        guess(ID, 5)
    monkeypatch.undo()
    monkeypatch.setenv("ROOFLAB_HOME", str(home.parent))
    assert list(home.iterdir()) == [] and get(ID) is None


def _guess_many(home, start):
    os.environ["ROOFLAB_HOME"] = str(home)
    for k in range(25):
        record(ID, start + k)


def test_two_kernels_writing_at_once_lose_nothing(home):
    spawn = multiprocessing.get_context("spawn")
    kernels = [spawn.Process(target=_guess_many, args=(home.parent, s)) for s in (1000, 2000)]
    [k.start() for k in kernels], [k.join() for k in kernels]
    assert [k.exitcode for k in kernels] == [0, 0]
    known = get(ID)
    assert {known.value, *known.later} == {*range(1000, 1025), *range(2000, 2025)}

"""Folders that environment variables name: a home that nobody has is told by its variable."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

import rooflab as rl
from rooflab.exercises.guesses import home
from rooflab.measure.record import target_of
from rooflab.measure.recording import folders
from rooflab.measure.settings import briefer, fewer, path_setting, path_settings, user_folder
from rooflab.measure.store import cache_dir
from tests.support.rows import each_row

READERS = {
    "ROOFLAB_HOME": home, "ROOFLAB_CACHE": cache_dir, "ROOFLAB_RECORDINGS": folders,
    "ROOFLAB_MINE": lambda: rl.mine.path,
}  # fmt: skip


@each_row(*READERS)
def test_a_home_that_nobody_has_is_told_by_its_variable(variable: str, monkeypatch) -> None:
    monkeypatch.setenv(variable, "~no-such-person/x")
    with pytest.raises(ValueError, match=f"{variable}='~no-such-person/x' names a home folder"):
        READERS[variable]()


@each_row(*READERS)
def test_every_variable_is_used_and_knows_your_home(variable: str, monkeypatch) -> None:
    monkeypatch.setenv(variable, "~/rooflab-elsewhere")
    found = READERS[variable]()
    assert Path.home() / "rooflab-elsewhere" in (found if isinstance(found, tuple) else (found,))


def test_nothing_said_is_nothing_told(monkeypatch) -> None:
    monkeypatch.setenv("ROOFLAB_X", "  ")
    assert path_setting("ROOFLAB_X") is None and path_settings("ROOFLAB_X") == ()
    monkeypatch.setenv("ROOFLAB_X", os.pathsep.join(["a", "", " b "]))
    assert path_settings("ROOFLAB_X") == (Path("a"), Path("b"))


def test_a_folder_that_was_given_is_named_as_such() -> None:
    with pytest.raises(ValueError, match="folder='~no-such-person' names a home folder"):
        target_of("name", "~no-such-person", False)


def test_who_is_in_a_hurry_gets_a_quarter_of_the_samples(monkeypatch) -> None:
    for told, samples in (("", 20), ("0", 20), ("1", 5)):
        monkeypatch.setenv("ROOFLAB_QUICK", told)
        assert fewer(20) == samples and briefer(2.0) == samples / 10
    assert fewer(5) == 2


@pytest.fixture
def without_platformdirs(monkeypatch):
    monkeypatch.setitem(sys.modules, "platformdirs", None)  # importing it now fails
    for name in ("ROOFLAB_HOME", "ROOFLAB_CACHE", "XDG_CACHE_HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    return monkeypatch


@each_row("linux", "darwin", "win32")
def test_without_platformdirs_there_still_is_a_folder(system, without_platformdirs):
    without_platformdirs.setattr(sys, "platform", system)
    usual = {"linux": (".cache/rooflab", ".local/share/rooflab")}
    cache, data = usual.get(system, (".rooflab/cache", ".rooflab/data"))
    assert cache_dir() == Path.home() / cache
    assert home() == Path.home() / data
    assert folders()[-1] == Path.home() / data / "recordings"


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="XDG is Linux's")
@pytest.mark.parametrize("told", [None, "/somewhere/else"])
def test_on_linux_it_is_the_folder_that_platformdirs_names(without_platformdirs, told):
    if told:
        without_platformdirs.setenv("XDG_CACHE_HOME", told)
        without_platformdirs.setenv("XDG_DATA_HOME", told)
    own = user_folder("cache"), user_folder("data")
    without_platformdirs.delitem(sys.modules, "platformdirs")
    assert own == (user_folder("cache"), user_folder("data"))

"""A home of its own for every test of guesses, and golf's arrays drawn once for all answers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from rooflab.exercises import ending
from rooflab.exercises.kinds import golf as golf_judge
from rooflab.exercises.observe import golf
from tests.support.golf_arrays import drawn_once


@pytest.fixture(scope="module", autouse=True)
def golf_arrays() -> Iterator[None]:
    """A module's answers play the same cases: their arrays are drawn once, and copied."""
    with drawn_once():
        yield


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the guesses; its name has a space and a letter that is not ASCII."""
    monkeypatch.setenv("ROOFLAB_HOME", str(tmp_path / "höme mit Leerzeichen"))
    return tmp_path / "höme mit Leerzeichen" / "guesses"


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """An answer has a minute: a busy machine is slow, not wrong."""
    monkeypatch.setattr(ending, "LIMIT_S", 60)
    limits = replace(golf.LIMITS, seconds=60)
    monkeypatch.setattr(golf, "LIMITS", limits)
    monkeypatch.setattr(golf_judge, "AGAIN", limits)


@pytest.fixture
def here(patient: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Answers run in this process: a thousand forks would take minutes."""
    monkeypatch.setattr(ending, "possible", lambda: False)

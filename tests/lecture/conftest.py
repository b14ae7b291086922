"""Each test of a lecture has a home of its own, and leaves this process in no lecture."""

from __future__ import annotations

from pathlib import Path

import pytest

from rooflab.exercises.guesses import GUESSES


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the lecturer's own guesses."""
    monkeypatch.setenv("ROOFLAB_HOME", str(tmp_path / "home"))
    monkeypatch.setenv(GUESSES, "")  # so that what a lecture sets is taken back
    return tmp_path / "home" / "guesses"

"""The annotations of the rooms that pyproject.toml lists are true, and seen from outside."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.notebook
def test_the_rooms_are_typed_strictly_and_public_names_seen_from_outside(
    repository: Path, tmp_path: Path
) -> None:
    def checked(*paths: Path) -> str:
        command = [sys.executable, "-m", "mypy", *map(str, paths)]  # with one cache, so in turn
        done = subprocess.run(command, capture_output=True, text=True, cwd=repository, check=False)
        return done.stdout + done.stderr

    assert checked().startswith("Success: ")
    text = (repository / "tests" / "support" / "outside.py").read_text("utf-8")
    (script := tmp_path / "script.py").write_text(text, "utf-8")
    *found, _ = checked(script).splitlines()
    last = len(text.splitlines())  # the planted ones
    assert [line.split(":")[1] for line in found] == [str(last - 1), str(last)], found

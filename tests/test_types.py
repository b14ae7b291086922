"""The annotations of the rooms that pyproject.toml lists for mypy are true: strict."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def test_the_listed_rooms_are_typed_strictly(repository: Path) -> None:
    command = [sys.executable, "-m", "mypy"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=repository, check=False)
    assert done.returncode == 0, done.stdout + done.stderr

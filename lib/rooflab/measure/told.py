"""What environment variables tell: folders (ROOFLAB_HOME, ROOFLAB_CACHE), and ROOFLAB_QUICK."""

from __future__ import annotations

import os
from pathlib import Path


def fewer(samples: int) -> int:
    """Return ``samples``, or a quarter of them, 2 at least, where ROOFLAB_QUICK is set.

    For seeing whether a lesson runs; its numbers are then worth little.
    """
    hurried = os.environ.get("ROOFLAB_QUICK", "").strip() not in ("", "0")
    return max(2, samples // 4) if hurried else samples


def told_path(variable: str) -> Path | None:
    """Return the path that the environment ``variable`` names, or None; ``~`` is your home."""
    text = os.environ.get(variable, "").strip()
    return expanded(variable, text) if text else None


def told_paths(variable: str) -> tuple[Path, ...]:
    """Return the paths that ``variable`` lists, separated as in PATH."""
    parts = os.environ.get(variable, "").split(os.pathsep)
    return tuple(expanded(variable, part.strip()) for part in parts if part.strip())


def expanded(name: str, text: str) -> Path:
    """Return ``text`` with its ``~``; ValueError naming ``name`` if nobody has that home."""
    try:
        return Path(text).expanduser()
    except RuntimeError as error:
        raise ValueError(
            f"{name}={text!r} names a home folder that does not exist here; give a full path"
        ) from error

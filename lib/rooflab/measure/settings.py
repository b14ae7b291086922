"""What the environment tells: folders, ROOFLAB_QUICK, what the system's programs print."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path


def _hurried() -> bool:
    """Whether ROOFLAB_QUICK is set: to see whether a lesson runs. Its numbers are worth little."""
    return os.environ.get("ROOFLAB_QUICK", "").strip() not in ("", "0")


def fewer(samples: int) -> int:
    """Return ``samples``, or a quarter of them, 2 at least, where ROOFLAB_QUICK is set."""
    return max(2, samples // 4) if _hurried() else samples


def briefer(seconds: float) -> float:
    """Return ``seconds``, or a quarter of them where ROOFLAB_QUICK is set."""
    return seconds / 4 if _hurried() else seconds


def printed(*command: str, seconds: float = 5.0) -> str:
    """Return what ``command`` prints; "" if it fails, is not there or takes longer than that."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds, check=False)
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def path_setting(variable: str) -> Path | None:
    """Return the path that the environment ``variable`` names, or None; ``~`` is your home."""
    text = os.environ.get(variable, "").strip()
    return expanded(variable, text) if text else None


def path_settings(variable: str) -> tuple[Path, ...]:
    """Return the paths that ``variable`` lists, separated as in PATH."""
    parts = os.environ.get(variable, "").split(os.pathsep)
    return tuple(expanded(variable, part.strip()) for part in parts if part.strip())


def user_folder(kind: str) -> Path:
    """Where this user's "cache" or "data" of rooflab lies when nobody says otherwise.

    Without the package platformdirs it is where Linux has it, or ~/.rooflab on other systems.
    """
    with suppress(ImportError):
        import platformdirs

        ask = {"cache": platformdirs.user_cache_dir, "data": platformdirs.user_data_dir}[kind]
        return Path(ask("rooflab", appauthor=False))
    if not sys.platform.startswith("linux"):
        return Path.home() / ".rooflab" / kind
    variable, usual = {
        "cache": ("XDG_CACHE_HOME", ".cache"),
        "data": ("XDG_DATA_HOME", ".local/share"),
    }[kind]
    return (path_setting(variable) or Path.home() / usual) / "rooflab"


def expanded(name: str, text: str) -> Path:
    """Return ``text`` with its ``~``; ValueError naming ``name`` if nobody has that home."""
    try:
        return Path(text).expanduser()
    except RuntimeError as error:
        raise ValueError(
            f"{name}={text!r} names a home folder that does not exist here; give a full path"
        ) from error

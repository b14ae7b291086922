"""Scratch folders of workshops: short paths, and those of killed graders are cleared away."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows has none, and no sandbox: there this module need only be read
    fcntl = None

PREFIX = "rooflab-grade-"
LONGEST = 60  # characters of a folder for temporary files: a socket's path may have 107 in all
_LOCK = "lock"


@dataclass(frozen=True)
class Scratch:
    """A folder that counts as in use while ``descriptor``, of its lock, is open somewhere."""

    path: Path
    descriptor: int

    def remove(self) -> None:
        """Remove the folder and give up the lock."""
        shutil.rmtree(self.path, ignore_errors=True)
        with contextlib.suppress(OSError):
            os.close(self.descriptor)


def make_scratch() -> Scratch:
    """Make a folder, after removing those that killed graders of the same user have left."""
    usual = tempfile.gettempdir()
    top = Path(usual if len(usual) <= LONGEST else "/tmp")
    for old in top.glob(f"{PREFIX}*"):
        _remove_if_left(old)
    path = Path(tempfile.mkdtemp(prefix=PREFIX, dir=top))
    descriptor = os.open(path / _LOCK, os.O_RDWR | os.O_CREAT, 0o600)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    return Scratch(path, descriptor)


def _remove_if_left(folder: Path) -> None:
    try:
        if folder.is_symlink() or folder.stat().st_uid != os.getuid():
            return
        descriptor = os.open(folder / _LOCK, os.O_RDWR)
    except OSError:  # somebody is making or removing it right now
        return
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(folder, ignore_errors=True)
    except OSError:
        pass  # in use
    finally:
        os.close(descriptor)

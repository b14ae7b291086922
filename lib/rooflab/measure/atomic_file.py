"""Write a file in one step: a reader, or a kill at any moment, finds the old one or the new one."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
from pathlib import Path


def replace_file(path: Path, text: str) -> None:
    """Write ``text`` (UTF-8, lines ending in LF) beside ``path``, then move it there.

    The folder must exist. Raises OSError when it cannot be written; the old file is then whole.
    """
    # A name of its own: two processes that write at once must not write into one file.
    fresh = path.with_name(f"{path.name}.{secrets.token_hex(4)}.new")
    try:
        with fresh.open("x", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())  # the content first, then the name
        if path.exists():
            shutil.copymode(path, fresh)
        os.replace(fresh, path)
    except BaseException:
        with contextlib.suppress(OSError):
            fresh.unlink(missing_ok=True)
        raise

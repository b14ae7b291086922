"""What this machine has been measured to do, kept between sessions: one JSON file a subject.

Files live in the user's cache directory, or where ROOFLAB_CACHE says. Where nothing can be written,
results last as long as the process.
"""

from __future__ import annotations

import contextlib
import fnmatch
import json
import os
import secrets
import shutil
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from rooflab.measure.settings import path_setting, user_folder

ENV = "ROOFLAB_CACHE"
_unwritten: dict[Path, dict[str, Any]] = {}  # documents for which there was no place on disk


def replace_file(path: Path, text: str) -> None:
    """Write ``text`` (UTF-8, lines ending in LF) beside ``path``, then move it there.

    A reader, or a kill at any moment, finds the old file or the new one. The folder must exist.
    Raises OSError when it cannot be written; the old file is then whole.
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


def cache_dir() -> Path:
    """The directory of stored results; it need not exist."""
    return path_setting(ENV) or user_folder("cache")


def names(pattern: str) -> tuple[str, ...]:
    """Names of the stored documents that ``pattern`` fits, such as "roofs-*-gpu", in order."""
    kept = {path.stem for path in _unwritten if path.parent == cache_dir()}
    try:
        found = {path.stem for path in cache_dir().glob("*.json")}
    except OSError:  # a directory that may not be read holds nothing
        found = set()
    return tuple(sorted(fnmatch.filter(kept | found, pattern)))


def save(name: str, document: Mapping[str, Any]) -> bool:
    """Store `document` (plain JSON data) as `name`; False, with a warning, if only in memory."""
    path = cache_dir() / f"{name}.json"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, json.dumps(document))
    except OSError as error:
        _unwritten[path] = dict(document)
        warnings.warn(
            f"cannot write to {path.parent} ({error.strerror}): this result is kept until Python "
            f"ends, then measured again; set {ENV} to a directory you may write to",
            stacklevel=4,
        )
        return False
    _unwritten.pop(path, None)
    return True


def load(name: str, problem: Callable[[Any], str]) -> dict[str, Any] | None:
    """The document stored as `name`, or None.

    `problem(document)` says what is wrong with it, "" if nothing is. A file that is unreadable or
    wrong is announced with one warning, and None returned: it will be replaced.
    """
    path = cache_dir() / f"{name}.json"
    if path in _unwritten:
        return _unwritten[path]
    try:
        document: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        wrong = problem(document)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        wrong = f"it cannot be read ({error.strerror})"
    except (ValueError, RecursionError):  # broken JSON, broken UTF-8, brackets only
        wrong = "it is not JSON"
    if not wrong:
        return document
    warnings.warn(f"{path} is not used, {wrong}: measuring again", stacklevel=4)
    return None

"""Where guesses are kept: one small JSON file a record, under the user's data directory.

One file a record means that nothing is ever rewritten: two kernels that guess at the same moment
both keep what they wrote, without a lock, on any file system. A file appears in one step, so a
killed kernel leaves none half-written.
"""

from __future__ import annotations

import json
import os
import secrets
import time
import warnings
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path

from rooflab.measure.atomic import replace_file
from rooflab.measure.settings import told_path, user_folder

SCHEMA = 1
GUESSES = "ROOFLAB_GUESSES"  # another folder for guesses alone, such as that of one lecture
WHATS = ("guess", "shown", "outcome")


@dataclass(frozen=True)
class Record:
    """Something that happened to a guess: "guess", "shown" (without a guess) or "outcome"."""

    id: str
    what: str
    value: float | None
    at_ns: int

    def to_dict(self) -> dict[str, object]:
        """Return the record as it is stored."""
        return {"schema": SCHEMA, **asdict(self)}


@dataclass
class Store:
    """Records of one directory, and those of this session that could not be written there."""

    directory: Path
    unwritten: list[Record] = field(default_factory=list)
    _told: set[str] = field(default_factory=set)

    def add(self, id: str, what: str, value: float | None = None) -> Record:
        """Keep a record; in memory, with one warning, where the directory cannot be written."""
        record = Record(id, what, value, time.time_ns())
        try:
            self._write(record)
        except OSError as error:
            self.unwritten.append(record)
            self._tell(
                "unwritten",
                f"guesses are kept for this session only: {self.directory} cannot be written "
                f"({error.strerror or type(error).__name__}); set ROOFLAB_HOME to another folder",
            )
        return record

    def records(self) -> list[Record]:
        """Return all records, oldest first."""
        try:
            paths = sorted(self.directory.glob("*.json"))
        except OSError:
            paths = []
        found = [record for path in paths if (record := self._read(path)) is not None]
        return sorted([*found, *self.unwritten], key=lambda record: record.at_ns)

    def _write(self, record: Record) -> None:
        self.directory.mkdir(parents=True, exist_ok=True)
        name = f"{record.id}.{record.at_ns}.{secrets.token_hex(4)}.json"
        replace_file(self.directory / name, json.dumps(record.to_dict()))

    def _read(self, path: Path) -> Record | None:
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
            if isinstance(data, dict) and _newer(data):
                self._tell(path.name, f"{path} was written by a newer rooflab; left as it is")
                return None
            return _parse(data)
        except FileNotFoundError:
            return None  # set aside by another kernel since it was listed
        except OSError as error:
            self._tell(path.name, f"{path} cannot be read ({error.strerror}); skipped")
            return None
        except (ValueError, TypeError, KeyError, OverflowError, RecursionError):
            self._set_aside(path)
            return None

    def _set_aside(self, path: Path) -> None:
        kept = path.with_name(path.name + ".bak")
        try:
            os.replace(path, kept)
            where = f"kept as {kept.name}"
        except OSError:
            where = "left where it is"
        self._tell(path.name, f"{path} is not a guess that rooflab can read; {where}")

    def _tell(self, about: str, message: str) -> None:
        if about not in self._told:
            self._told.add(about)
            warnings.warn(message, RuntimeWarning, stacklevel=2)


def _newer(data: Mapping[str, object]) -> bool:
    schema = data.get("schema")
    return isinstance(schema, int) and not isinstance(schema, bool) and schema > SCHEMA


def _parse(data: object) -> Record:
    """Read a record; one without a schema number is taken for schema 1 if it has its fields."""
    if not isinstance(data, dict) or data.get("schema", SCHEMA) != SCHEMA:
        raise ValueError("no record")
    value = data["value"]
    number = None if value is None else float(value)
    record = Record(str(data["id"]), data["what"], number, int(data["at_ns"]))
    sound = record.value is None or 0 < record.value < float("inf")
    if record.what not in WHATS or not sound or (record.value is None) != (record.what == "shown"):
        raise ValueError("no record")
    return record


def home() -> Path:
    """Directory of the learner's data: ROOFLAB_HOME, else the platform's own place for it."""
    return told_path("ROOFLAB_HOME") or user_folder("data")


@cache
def _store(directory: Path) -> Store:
    return Store(directory)


def store() -> Store:
    """Return the store of ROOFLAB_GUESSES, else that of the current home.

    There is one object a directory, so that warnings come once.
    """
    return _store(told_path(GUESSES) or home() / "guesses")

"""A journal beside a recording in the making: a step that is finished is never lost.

One JSON object a line. A line is written with a single call, flushed and synced to disk before the
next step starts; a process that is killed leaves at most one torn line at the end, which the next
run drops and measures again.
"""

from __future__ import annotations

import json
import math
import os
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from rooflab.measure.atomic import replace_file

VERSION = 1


class Stopped(RuntimeError):
    """The time for this run is over; what is finished is in the journal."""


class Journal:
    """Finished steps of one recording: ``journal[key]`` is what a step found.

    ``path``: the file; ``campaign``: what is being recorded and where, as plain JSON data. A file
    that holds another campaign raises ValueError, unless ``restart`` throws it away. After
    ``stop_after`` seconds :meth:`once` begins no further step.
    """

    def __init__(
        self, path: Path, campaign: Mapping[str, Any], *, restart: bool = False,
        stop_after: float = math.inf,
    ) -> None:  # fmt: skip
        self.path, self._stop_after = path, stop_after
        self._latest = time.monotonic() + stop_after
        self._found: dict[str, Any] = {}
        header = {"journal": VERSION, "campaign": dict(campaign)}
        kept = [] if restart else self._read()
        if len(kept) > 1:  # a header alone holds nothing that could be lost
            self._same(kept[0], header)
            self._found = {line["step"]: line["found"] for line in kept[1:]}
        self.resumed = len(self._found)
        # Written anew on every start: a torn line at the end must not swallow the next one.
        replace_file(path, "".join(map(_line, [header, *_lines(self._found)])))
        self._file = path.open("a", encoding="utf-8", newline="\n")

    def __contains__(self, step: str) -> bool:
        return step in self._found

    def __getitem__(self, step: str) -> Any:
        return self._found[step]

    def once(self, step: str, work: Callable[[], Any]) -> Any:
        """Return what ``step`` found, doing its ``work`` unless it is kept already.

        Raises Stopped instead of beginning a step when the time is over.
        """
        if step not in self:
            if time.monotonic() >= self._latest:
                raise Stopped(
                    f"stopped after {self._stop_after:.0f} s with {len(self._found)} steps kept in "
                    f"{self.path}; record again with the same options to go on from there"
                )
            self.add(step, work())
        return self[step]

    def add(self, step: str, found: Any) -> None:
        """Keep what a finished ``step`` found (plain JSON data); on disk when this returns."""
        self._file.write(_line({"step": step, "found": found}))
        self._file.flush()
        os.fsync(self._file.fileno())
        self._found[step] = found

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file, which stays for the next run."""
        self._file.close()

    def remove(self) -> None:
        """Throw the journal away: the recording is written."""
        self.close()
        self.path.unlink(missing_ok=True)

    def _read(self) -> list[dict[str, Any]]:
        try:
            text = self.path.read_text(encoding="utf-8", errors="replace")
        except FileNotFoundError:
            return []
        lines = text.split("\n")
        if lines[-1] == "":
            lines.pop()
        found = []
        for number, line in enumerate(lines, start=1):
            try:
                found.append(_parsed(line, header=number == 1))
            except (ValueError, TypeError, KeyError, RecursionError):
                if number == len(lines):
                    break  # torn by the kill: this step is measured again
                raise ValueError(
                    f"{self.path}: line {number} is damaged, so the recording in the making cannot "
                    "be resumed; delete the file, or record with restart=True (--restart)"
                ) from None
        return found

    def _same(self, old: Mapping[str, Any], new: Mapping[str, Any]) -> None:
        if old.get("journal") != VERSION or not isinstance(old.get("campaign"), dict):
            raise ValueError(
                f"{self.path}: not a journal that this version of rooflab can resume; delete the "
                "file, or record with restart=True (--restart)"
            )
        differing = [
            key for key, value in new["campaign"].items() if old["campaign"].get(key) != value
        ]
        if differing:
            key = differing[0]
            raise ValueError(
                f"{self.path}: a recording in the making has {key}={old['campaign'].get(key)!r}, "
                f"not {new['campaign'][key]!r}; finish that one with the same options and on the "
                "same machine, or record with restart=True (--restart) to throw it away"
            )


def _parsed(line: str, *, header: bool) -> dict[str, Any]:
    entry = json.loads(line)
    if not isinstance(entry, dict):
        raise TypeError("a line of something else")
    if not header:
        entry["step"], entry["found"]  # raises for one too
    return entry


def _lines(found: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    return ({"step": step, "found": what} for step, what in found.items())


def _line(entry: Mapping[str, Any]) -> str:
    return json.dumps(entry, ensure_ascii=False, separators=(",", ":")) + "\n"

"""``rooflab grade`` as a process of its own: watched, killed at random moments, started again."""

from __future__ import annotations

import contextlib
import os
import random
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.grade.support.watching import Watched, watch

TABLES = ("results.json", "grades.csv", "index.html")


@dataclass(frozen=True)
class Kill:
    """When to kill: ``seconds`` after so many more submissions are ``finished``."""

    finished: int
    seconds: float


@dataclass(frozen=True)
class Run:
    """One start of the grader: what was ``seen``, submissions ``finished`` in it, entries of the
    journal that it wrote ``again``, and the longest time without a finished one (seconds)."""

    seen: Watched
    finished: int
    again: int
    still: float


def grade(
    files: Path, out: Path, scratch: Path, *words: str, kill: Kill | None = None,
    memory: bool = True,
) -> Run:  # fmt: skip
    """Run ``rooflab grade files --out out …`` and watch it; ``scratch``: for its own use."""
    scratch.mkdir(parents=True, exist_ok=True)
    before = written(out)
    last, still, due = (len(before), 0.0), 0.0, None

    def look(now: float) -> bool:
        nonlocal last, still, due
        if (count := len(written(out))) != last[0]:
            last = count, now
        still = max(still, now - last[1])
        if kill and due is None and count >= len(before) + kill.finished:
            due = now + kill.seconds
        return due is not None and now >= due

    command = [sys.executable, "-m", "rooflab", "grade", str(files), "--out", str(out), *words]
    seen = watch(command, mark=scratch, memory=memory, look=look)
    after = written(out)
    again = sum(after.get(name) != stamp for name, stamp in before.items())
    return Run(seen, len(after) - len(before), again, still)


def kills(count: int, times: int, seed: int = 0) -> list[Kill]:
    """Draw ``times`` random moments, so that they fall into all parts of a class of ``count``.

    What is under way is done anew after a kill, so that moments by the clock alone would fall on
    the same few submissions on a slow machine. Every fourth is early, while the grader starts.
    """
    draw = random.Random(f"kill {seed}")
    most = max(1, round(1.6 * count / (times + 1)))
    return [
        Kill(draw.randint(1, most) if n % 4 else 0, draw.uniform(0.0, 4.0)) for n in range(times)
    ]


def killed_runs(
    files: Path, out: Path, scratch: Path, *words: str, moments: Sequence[Kill],
    memory: bool = True,
) -> Iterator[Run]:  # fmt: skip
    """Kill the grader at each of ``moments``, then let it end; yield every run."""
    for kill in moments:
        yield grade(files, out, scratch, *words, kill=kill, memory=False)
    yield grade(files, out, scratch, *words, memory=memory)


def written(out: Path) -> dict[str, int]:
    """Entries of the journal → when each was written (ns)."""
    found = {}
    with contextlib.suppress(OSError), os.scandir(out / "journal") as entries:
        for entry in entries:
            if entry.name.endswith(".json") and entry.name != "seed.json":
                with contextlib.suppress(OSError):
                    found[entry.name] = entry.stat().st_mtime_ns
    return found


def tables(out: Path) -> dict[str, bytes]:
    """Return what a class ends in, tables and pages: file → bytes."""
    pages = sorted((out / "students").glob("*.html"))
    return {str(p.relative_to(out)): p.read_bytes() for p in [*(out / n for n in TABLES), *pages]}


def differing(one: Path, other: Path) -> list[str]:
    """Return the files of two finished classes that are not the same, byte for byte."""
    first, second = tables(one), tables(other)
    return sorted(k for k in first.keys() | second.keys() if first.get(k) != second.get(k))

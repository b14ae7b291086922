"""Seconds a submission: ``rooflab grade`` beside nbgrader and otter-grader, and who is fooled.

All three grade the same answers to lesson 00's six exercises in turn, round after round. Then each
gets the same hostile submissions, one wrong answer in each, and the points for those are counted.
The two are installed into an environment of their own on the first run (.cache/graders, 700 MB).
What could hurt the machine (fork bombs, kill -9 everybody) is left to benchmarks/grading_class.py:
only rooflab has a sandbox for it.

    python -m benchmarks.grading [--count 40] [--rounds 3] [--no-hostile]
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.grading_hostile import AT, hostile
from benchmarks.grading_peers import LESSON, ORDER, Nbgrader, Otter, environment, right, variables
from benchmarks.report import in_turn, save, spread, table
from tests.grade.support.notebooks import REPOSITORY, changed, put
from tests.grade.support.watching import Watched, watch

SEED = 5
HUNG = 75.0  # seconds, for one submission
TARGET = 1 / 3


@dataclass
class Grader:
    """One of the three: how it is started on the honest class; what was seen of it."""

    name: str
    command: list[str]
    more: Mapping[str, str] = field(default_factory=dict)
    runs: list[Watched] = field(default_factory=list)

    def seconds(self) -> float:
        """Grade the honest class once more; RuntimeError if that fails."""
        seen = watch(self.command, more=self.more)
        if seen.code:
            raise RuntimeError(f"{self.name} ended with {seen.code}: {seen.said[-2000:]}")
        self.runs.append(seen)
        return seen.seconds

    @property
    def peak(self) -> int:
        """Most bytes of memory at a time, all its processes together."""
        return max(seen.outside + seen.inside for seen in self.runs)


def ours(files: Path, out: Path, jobs: int) -> list[str]:
    """The command of ``rooflab grade``."""
    words = [str(files), "--out", str(out), "--seed", str(SEED), "--jobs", str(jobs)]
    return [sys.executable, "-c", "import shutil, sys; shutil.rmtree(sys.argv[4], True);"
            "from rooflab.cli import main; main()", "grade", *words]  # fmt: skip


def honest(folder: Path, python: Path, count: int, rounds: int) -> dict[str, object]:
    """Time all of them in turn on ``count`` right submissions; print and return the table."""
    for number in range(count):
        put(folder / "in" / f"s{number}.ipynb", changed({}, LESSON))
    first = Nbgrader(python, folder / "nbgrader", SEED)
    second = Otter(python, folder / "otter", SEED)
    students = [f"s{number}" for number in range(count)]
    for student in students:
        first.hand_in(student, right())
        second.hand_in(student, right())
    place = variables(python)
    ways = [
        Grader("rooflab --jobs 2", ours(folder / "in", folder / "out2", 2)),
        Grader("rooflab --jobs 1", ours(folder / "in", folder / "out1", 1)),
        Grader("nbgrader autograde", first.command(), place),
        Grader("otter-grader (API)", second.command(*students), place),
    ]
    times = in_turn({way.name: way.seconds for way in ways}, rounds)
    each = {name: [t / count for t in found] for name, found in times.items()}
    _all_right(_scores(folder / "out2"), first.scores(), second.scores(), count)
    rows = [(way.name, *spread(each[way.name]), way.peak / 1e6) for way in ways]
    table(("grader", "s a submission", "lowest", "highest", "peak MB"), rows)
    # Of each round its own ratio: a busy minute slows both.
    pairs = zip(each["rooflab --jobs 2"], each["nbgrader autograde"])
    ratios = [mine / theirs for mine, theirs in pairs]
    ratio = statistics.median(ratios)
    verdict = "reached" if ratio <= TARGET else "missed"
    print(f"rooflab --jobs 2 / nbgrader: {ratio:.2f} ({min(ratios):.2f} to {max(ratios):.2f}),"
          f" target {TARGET:.2f}: {verdict}")  # fmt: skip
    peaks = {way.name: way.peak / 1e6 for way in ways}
    return {"count": count, "seconds": each, "ratio": ratio, "ratios": ratios, "peak_mb": peaks}


def fooled(folder: Path, python: Path) -> dict[str, object]:
    """Give each of them the hostile submissions; count what they passed, lost and left running."""
    left: dict[str, int] = {}
    hung: dict[str, int] = {}
    for number, answers in enumerate(hostile(REPOSITORY).values()):
        put(folder / "in" / f"s{number}.ipynb", changed(answers, LESSON))
    put(folder / "in" / "honest.ipynb", changed({}, LESSON))
    seen = watch(ours(folder / "in", folder / "out", 2), kill_after=40 * HUNG)
    left["rooflab"], hung["rooflab"] = seen.left, int(seen.killed)

    first = Nbgrader(python, folder / "nbgrader", SEED)
    for number, answers in enumerate(hostile(first.course).values()):
        first.hand_in(f"s{number}", answers)
    first.hand_in("honest", right())
    seen = watch(first.command(), more=variables(python), kill_after=40 * HUNG)
    left["nbgrader"], hung["nbgrader"] = seen.left, int(seen.killed)

    second = Otter(python, folder / "otter", SEED)
    left["otter-grader"] = hung["otter-grader"] = 0
    for number, answers in enumerate(hostile(second.folder).values()):
        second.hand_in(f"s{number}", answers)
        seen = watch(second.command(f"s{number}"), more=variables(python), kill_after=HUNG)
        left["otter-grader"] += seen.left
        hung["otter-grader"] += seen.killed
    scores = {
        "rooflab": _scores(folder / "out"), "nbgrader": first.scores(),
        "otter-grader": second.scores(),
    }  # fmt: skip
    return _told(scores, hung, left)


def _told(
    scores: Mapping[str, Mapping[str, Mapping[str, float]]],
    hung: Mapping[str, int],
    left: Mapping[str, int],
) -> dict[str, object]:
    """Print and return what each grader made of the hostile submissions."""
    names = list(hostile(Path()))
    rows, passed = [], {}
    for grader, found in scores.items():
        marks = {name: found.get(f"s{number}") for number, name in enumerate(names)}
        passed[grader] = [name for name, mark in marks.items() if mark and mark.get(AT)]
        lost = sum(not mark for mark in marks.values())
        rows.append((grader, len(passed[grader]), hung[grader], lost, left[grader]))
    columns = ("wrongly passed", "hung", "without a result", "processes left")
    print(f"\n{len(names)} hostile submissions that harm nobody else:")
    table(("grader", *columns), rows)
    for grader, which in passed.items():
        print(f"{grader} passed: {', '.join(which) or 'none'}")
    counts = {row[0]: dict(zip(columns, row[1:], strict=True)) for row in rows}
    return {"submissions": len(names), "counts": counts, "wrongly_passed": passed}


def _scores(out: Path) -> dict[str, dict[str, float]]:
    """Ours: student → exercise → points."""
    document = json.loads((out / "results.json").read_text("utf-8"))
    return {
        one["student"]: {id: mark["points"] for id, mark in one["exercises"].items()}
        for one in document["submissions"]
    }


def _all_right(*scores: Mapping[str, Mapping[str, float]] | int) -> None:
    """A comparison of times means nothing unless all graders gave all points."""
    *tables, count = scores
    for found in tables:
        full = [
            marks for marks in found.values() if set(marks) == set(ORDER) and all(marks.values())
        ]
        if len(full) != count:
            raise RuntimeError(f"an honest submission did not get its points: {found}")


def main(arguments: Iterable[str] | None = None) -> dict[str, object]:
    """Measure, print the tables, keep the result."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--no-hostile", action="store_true")
    parser.add_argument("--python", type=Path, help="of an environment that has both graders")
    options = parser.parse_args(arguments)
    python = options.python or environment()
    with tempfile.TemporaryDirectory() as folder:
        result = honest(Path(folder) / "honest", python, options.count, options.rounds)
        save("grading", result)  # the hostile ones take long, and may be stopped
        if not options.no_hostile:
            result["hostile"] = fooled(Path(folder) / "hostile", python)
    save("grading", result)
    return result


if __name__ == "__main__":
    main()

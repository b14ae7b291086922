"""A class of 200 with every attack in it: graded, killed with -9 twenty times, resumed.

Made by tests/grade/support/classroom.py: honest, partly right, every attack of the tests, every
bad file. It is graded once without a break and once with twenty; both must end in the same bytes.

    python -m benchmarks.grading_class [--count 200] [--kills 20] [--jobs 2] [--seed 1]
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

from benchmarks.report import save, table
from tests.grade.support.classroom import HandedIn, classroom, faults, hand_in, tally
from tests.grade.support.interrupted import Run, differing, grade, killed_runs, kills
from tests.grade.support.pupils import ATTACKS

TIMEOUT = 20.0  # seconds for a submission
MOST_STILL = 3 * TIMEOUT  # seconds without a finished submission that count as hanging
MOST_MEMORY = 500e6  # bytes, of the grader's own processes


def report(pupils: list[HandedIn], files: Path, out: Path, runs: list[Run]) -> dict[str, object]:
    """Return what a finished class shows, in one table row's worth of numbers."""
    document = json.loads((out / "results.json").read_text("utf-8"))
    found = faults(pupils, files, document)
    counts = tally(pupils, found)
    return {
        "seconds": sum(run.seen.seconds for run in runs),
        "killed": sum(run.seen.killed for run in runs),
        "wrongly passed": counts["wrongly passed"],
        "neighbours lost": counts["lost"] + counts["no row"],
        "mistakes not named": counts["not named"],
        "secrets reached": counts["reached"],
        "hung": sum(run.still > MOST_STILL for run in runs),
        "graded again": sum(run.again for run in runs),
        "processes left": sum(run.seen.left for run in runs),
        "grader's peak MB": max(run.seen.outside for run in runs) / 1e6,
        "sandboxes' peak MB": max(run.seen.inside for run in runs) / 1e6,
        "faults": found,
    }


def unequal(pupils: list[HandedIn], whole: Path, resumed: Path) -> dict[str, list[str]]:
    """Return the files that differ, and the submissions whose rows in results.json do."""
    first, second = (
        json.loads((out / "results.json").read_text("utf-8"))["submissions"]
        for out in (whole, resumed)
    )
    rows = [Path(one["file"]).name for one, two in zip(first, second, strict=True) if one != two]
    stories = {one.file: one.story for one in pupils}
    return {
        "files": differing(whole, resumed),
        "rows": [f"{file} ({stories[file] or 'no attack'})" for file in rows],
        "points": [
            Path(one["file"]).name for one, two in zip(first, second, strict=True)
            if one["points"] != two["points"]
        ],
    }  # fmt: skip


def main(arguments: Iterable[str] | None = None) -> dict[str, object]:
    """Grade the class twice, print the table, keep the result."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    pupils = classroom(options.count, options.seed)
    with tempfile.TemporaryDirectory() as folder:
        top = Path(folder)
        files = hand_in(pupils, top / "in")
        words = ("--seed", str(options.seed), "--jobs", str(options.jobs))
        words += ("--timeout", str(TIMEOUT))
        whole = [grade(files, top / "whole", top / "scratch1", *words)]
        seconds = whole[0].seen.seconds
        print(f"{options.count} submissions, {len(ATTACKS)} of them attacks: {seconds:.0f} s")
        resumed = []
        moments = kills(options.count, options.kills, options.seed)
        for run in killed_runs(files, top / "out", top / "scratch2", *words, moments=moments):
            resumed.append(run)
            print(
                f"  {'killed' if run.seen.killed else 'ended'} after {run.seen.seconds:.1f} s:"
                f" {run.finished} finished, {run.seen.left} processes left",
                flush=True,
            )
        columns = {
            "without a break": report(pupils, files, top / "whole", whole),
            f"killed {options.kills} times": report(pupils, files, top / "out", resumed),
        }
        other = unequal(pupils, top / "whole", top / "out")
    return _told(options, pupils, columns, other, resumed)


def _told(
    options: argparse.Namespace, pupils: list[HandedIn], columns: dict[str, dict[str, object]],
    other: dict[str, list[str]], resumed: list[Run],
) -> dict[str, object]:  # fmt: skip
    """Print the two columns and what differs, keep them, and say whether all is well."""
    lines = [name for name in next(iter(columns.values())) if name != "faults"]
    table(("", *columns), [(name, *(one[name] for one in columns.values())) for name in lines])
    faulty = [fault for one in columns.values() for fault in one["faults"]]
    print(*faulty, sep="\n")
    print(f"the same bytes: {'no: ' + '; '.join(other['files']) if other['files'] else 'yes'}")
    print(f"rows that differ: {len(other['rows'])}")
    result = {
        "count": options.count, "jobs": options.jobs, "seed": options.seed,
        "class": tally(pupils, []), "columns": columns, "different": other,
        "kills": [{"seconds": run.seen.seconds, "finished": run.finished} for run in resumed],
        "limits": {"timeout": TIMEOUT, "most_memory": MOST_MEMORY},
    }  # fmt: skip
    save("grading_class", result)
    unwell = any(
        one["processes left"] or one["hung"] or one["grader's peak MB"] > MOST_MEMORY / 1e6
        for one in columns.values()
    )
    if faulty or other["rows"] or unwell:
        sys.exit("not as it must be: see above")
    return result


if __name__ == "__main__":
    main()

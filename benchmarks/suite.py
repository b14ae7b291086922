"""CPU-seconds of the test suite by room: where its minutes go. No peer; the budget is DESIGN's.

Workers add up their own time and that of the processes they have waited for.

    python -m benchmarks.suite [--all] [PATH …]
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.report import save, table
from tools.budget import room

FOLDER = "ROOFLAB_SUITE_CPU"  # tells the workers where to write
MINUTES = 10
seconds: dict[str, float] = defaultdict(float)


def cpu() -> float:
    """CPU-seconds of this process and of its children that have ended."""
    return sum(os.times()[:4])


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Add what a test takes, its fixtures included, to its file."""
    start = cpu()
    outcome = yield
    seconds[item.location[0]] += cpu() - start
    return outcome


def pytest_sessionfinish() -> None:
    """Write what this worker took; ``collecting`` is all that belongs to no test."""
    if (folder := os.environ.get(FOLDER)) and seconds:
        rest = {"collecting": cpu() - sum(seconds.values())}
        (Path(folder) / f"{os.getpid()}.json").write_text(json.dumps({**seconds, **rest}))


def main(arguments: list[str]) -> dict[str, object]:
    """Run the tests, print CPU-seconds a room and the ten dearest files, keep the result."""
    files: dict[str, float] = defaultdict(float)
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "course.py", "test", "-q", "-p", "benchmarks.suite", *arguments]
        status = subprocess.run(command, env={**os.environ, FOLDER: folder}).returncode
        for part in Path(folder).iterdir():
            for file, took in json.loads(part.read_text()).items():
                files[file] += took
    wall = time.perf_counter() - start
    rooms: dict[str, float] = defaultdict(float)
    for file, took in files.items():
        rooms[file if file == "collecting" else room(Path(file))] += took
    dearest = sorted(files.items(), key=lambda one: -one[1])[:10]
    for name, rows in (("room", sorted(rooms.items(), key=lambda r: -r[1])), ("file", dearest)):
        table((name, "CPU s"), rows)
    total = sum(files.values())
    print(f"{total:.0f} CPU-seconds, {wall / 60:.1f} minutes; {MINUTES} are the aim")
    return save("suite", {"status": status, "wall_s": wall, "cpu_s": total, "rooms": dict(rooms)})


if __name__ == "__main__":
    main(sys.argv[1:])

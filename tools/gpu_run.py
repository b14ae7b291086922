"""`python course.py gpu`: all that needs a GPU, most important first, until the time is over.

    python course.py gpu --out DIR [--resume DIR] [--minutes 8.7] [--only facts,tests]
                         [--again tests] [--quick]

It is made for a GPU that is at hand for minutes: a rented machine, without a network perhaps, which
keeps nothing. So it runs in the Python that it is started with and installs nothing. Every stage is
a process of its own, because one illegal address ends a CUDA context for good, and stops at its
limit. Every finding is a line of DIR/results.jsonl, synced to the disk at once. What is there
already, from the same code and the same GPU, is not found again: a run that is cut off goes on with
--resume. Nothing leaves the machine, and at most six files are written.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parent.parent
RESULTS, LOG = "results.jsonl", "log.txt"
AGAIN = "again/"  # a key with it cancels the earlier lines of the stage that it names
CODE = (
    ("lib", "*.py"), ("lib", "*.yaml"), ("tools", "*.py"), ("tests/measure", "test_gpu.py"),
    ("notebooks/solutions", "*.ipynb"),
)  # fmt: skip
MINUTES = 8.7  # a lent machine often ends a command after ten
UNFINISHED = 75  # exit status of a stage that ended itself in time and goes on next time
SPARE_S = 5.0  # of the time, to end a stage and to print the table
_WHICH_GPU = "from rooflab.measure.backend import select; print(select('gpu').device)"


@dataclass(frozen=True)
class Stage:
    """A part of the run: what it does, the seconds it needs at least and may take at most."""

    name: str
    work: Callable[[Run], bool | None]  # False: not finished, goes on next time
    least: float
    most: float


class Findings:
    """results.jsonl: key → value, of one ``run`` (code and GPU); lines of other runs stay."""

    def __init__(self, folder: Path, run: str) -> None:
        self.path, self.run = folder / RESULTS, run
        self.found: dict[str, Any] = {}
        text = self.path.read_text("utf-8") if self.path.exists() else ""
        self._torn = bool(text) and not text.endswith("\n")
        for line in text.splitlines():
            try:
                entry = json.loads(line)
            except ValueError:  # torn when a run was cut off
                continue
            if isinstance(entry, dict) and entry.get("run") == run:
                self._take(entry["key"], entry["value"])

    def _take(self, key: str, value: Any) -> None:
        if key.startswith(AGAIN):
            stage = key.removeprefix(AGAIN)
            self.found = {k: v for k, v in self.found.items() if k.partition("/")[0] != stage}
            self.found.pop(f"done/{stage}", None)
        else:
            self.found[key] = value

    def again(self, stage: str) -> None:
        """Forget what ``stage`` has found, so that it is found again; the lines stay."""
        self.add(f"{AGAIN}{stage}", True)

    def add(self, key: str, value: object) -> None:
        """Write ``value`` down for good, and show it."""
        at = time.strftime("%FT%TZ", time.gmtime())
        entry = {"key": key, "value": value, "run": self.run, "at": at}
        with self.path.open("a", encoding="utf-8") as file:
            file.write("\n" * self._torn + json.dumps(entry, default=str) + "\n")
            file.flush()
            os.fsync(file.fileno())
        self._torn = False
        self._take(key, json.loads(json.dumps(value, default=str)))
        print(f"{key:56} {json.dumps(value, default=str)[:150]}", flush=True)

    def once(self, key: str, work: Callable[[], object]) -> None:
        """Find ``key`` unless it is known. An error is written down too, and tried again."""
        if key in self.found and not _is_error(self.found[key]):
            return
        try:
            self.add(key, work())
        except Exception as error:  # whatever a GPU may raise: the next finding may still succeed
            self.add(key, {"error": f"{type(error).__name__}: {error}"[:400]})

    def errors(self) -> list[str]:
        """The keys whose last value is an error."""
        return [key for key, value in self.found.items() if _is_error(value)]


@dataclass(frozen=True)
class Run:
    """What a stage works with: its findings, its folder, its seconds, and whether to be quick."""

    findings: Findings
    out: Path
    seconds: float
    quick: bool = False

    def once(self, key: str, work: Callable[[], object]) -> None:
        """:meth:`Findings.once`."""
        self.findings.once(key, work)


def _is_error(value: object) -> bool:
    return isinstance(value, dict) and "error" in value


def code_version() -> str:
    """A short hash of what is run: a copy of the tree may have no history.

    The package, these tools, the tests of a GPU and the lessons' solutions.
    """
    digest = hashlib.sha256()
    for folder, pattern in CODE:
        for path in sorted((REPOSITORY / folder).rglob(pattern)):
            digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


def device() -> tuple[str, str]:
    """The GPU's name, or "" and why there is none; asked in a process of its own."""
    done = subprocess.run([sys.executable, "-c", _WHICH_GPU], capture_output=True, text=True)
    lines = (done.stderr if done.returncode else done.stdout).strip().splitlines() or [""]
    return ("", lines[-1]) if done.returncode else (lines[-1], "")


def run_stage(stage: Stage, options: argparse.Namespace, run: str, seconds: float) -> str:
    """Run one stage in a process of its own and return how it ended: "done", or why not."""
    what = ["--out", str(options.out), "--stage", stage.name, "--run", run]
    what += ["--seconds", f"{seconds:.0f}", *(["--quick"] if options.quick else [])]
    command = [sys.executable, "-m", "tools.gpu_run", *what]
    with (options.out / LOG).open("a", encoding="utf-8") as log:
        log.write(f"\n==== {stage.name}\n")
        log.flush()
        child = subprocess.Popen(
            command, stdout=log, stderr=subprocess.STDOUT, cwd=REPOSITORY, start_new_session=True
        )  # a session of its own, so that its children end with it
        before = signal.signal(signal.SIGTERM, lambda *_: (_end(child), sys.exit(143)))
        try:
            status = child.wait(seconds)
        except subprocess.TimeoutExpired:
            return "cut off; it goes on next time"
        finally:
            _end(child)
            signal.signal(signal.SIGTERM, before)
    if status == UNFINISHED:
        return "not finished; it goes on next time"
    return "done" if status == 0 else f"failed ({status}); {LOG} says why"


def _end(child: subprocess.Popen[bytes]) -> None:
    """End a process and all of its children."""
    if os.name == "nt":
        child.kill()
    else:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
    child.wait()


def run_all(
    stages: Iterable[Stage], options: argparse.Namespace, run: str
) -> list[tuple[str, str, float]]:
    """Run the stages that there is time for; (name, how it ended, seconds) for each."""
    end = time.monotonic() + 60 * options.minutes
    rows = []
    for stage in stages:
        left = end - time.monotonic() - SPARE_S
        began, findings = time.monotonic(), Findings(options.out, run)
        if stage.name in options.again:
            findings.again(stage.name)
        if f"done/{stage.name}" in findings.found:
            state = "done before"
        elif left < stage.least:
            state = f"no time: {max(left, 0):.0f} s left, {stage.least:.0f} s needed"
        else:
            state = run_stage(stage, options, run, min(stage.most, left))
        spent = time.monotonic() - began
        if state == "done":
            Findings(options.out, run).add(f"done/{stage.name}", round(spent, 1))
        rows.append((stage.name, state, spent))
    return rows


def report(rows: Iterable[tuple[str, str, float]], findings: Findings) -> int:
    """Print how the stages ended and which findings are errors; 0 if all is well."""
    print("\nstage        seconds  how it ended")
    for name, state, spent in rows:
        print(f"{name:12} {spent:7.1f}  {state}")
    errors = findings.errors()
    print("findings with errors:", ", ".join(errors) if errors else "none")
    return 0 if not errors and all(state.startswith("done") for _, state, _ in rows) else 1


def _names(text: str) -> list[str]:
    from tools.gpu_stages import STAGES

    known = [stage.name for stage in STAGES]
    names = [name.strip() for name in text.split(",") if name.strip()]
    for name in names:
        if name not in known:
            raise argparse.ArgumentTypeError(f"{name!r} is no stage; there are {', '.join(known)}")
    return names


def _arguments(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser("course.py gpu", description=__doc__.splitlines()[0])
    parser.add_argument(
        "--out", type=Path, default=Path("gpu-run"), help="folder for what is found"
    )
    parser.add_argument("--resume", type=Path, help="folder of an earlier run to go on from")
    parser.add_argument("--minutes", type=float, default=MINUTES, help="for everything")
    parser.add_argument("--only", type=_names, default=[], help="these stages, with commas")
    parser.add_argument(
        "--again", type=_names, default=[], help="these stages though they are done"
    )
    parser.add_argument("--quick", action="store_true", help="few sizes: to see whether it runs")
    for hidden in ("--stage", "--run"):
        parser.add_argument(hidden, help=argparse.SUPPRESS)
    parser.add_argument("--seconds", type=float, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if not options.minutes > 0:
        parser.error(f"--minutes {options.minutes} must be more than 0")
    if options.resume and not options.resume.is_dir():
        parser.error(f"--resume {options.resume} is no folder")
    return options


def main(arguments: list[str] | None = None) -> int:
    """Run the command; 0 if every stage that was asked for is done and no finding is an error."""
    from tools.gpu_stages import STAGES

    options = _arguments(arguments)
    options.out = options.out.resolve()
    options.out.mkdir(parents=True, exist_ok=True)
    if options.stage:
        (stage,) = (stage for stage in STAGES if stage.name == options.stage)
        findings = Findings(options.out, options.run)
        finished = stage.work(Run(findings, options.out, options.seconds, options.quick))
        return UNFINISHED if finished is False else 0
    if options.resume and options.resume.resolve() != options.out:
        shutil.copytree(
            options.resume, options.out, dirs_exist_ok=True, copy_function=shutil.copyfile
        )
    name, reason = device()
    if not name:
        print(f"course.py gpu: {reason}")
        return 1
    run = f"{code_version()} on {name}{', quick' if options.quick else ''}"
    print(f"course.py gpu: {run}", flush=True)
    wanted = [stage for stage in STAGES if not options.only or stage.name in options.only]
    return report(run_all(wanted, options, run), Findings(options.out, run))


if __name__ == "__main__":
    sys.exit(main())

"""Grading without a sandbox and without a kernel, for submissions that a test wrote itself."""

from __future__ import annotations

import re
from contextlib import nullcontext

import pytest

from rooflab.cli import grading
from rooflab.exercises.observe.collect import collect
from rooflab.exercises.observe.observation import describe
from rooflab.exercises.registry import exercise
from rooflab.grade import pipeline
from rooflab.grade.inside.limits import Limits
from rooflab.grade.inside.protocol import settled
from rooflab.grade.locked_notebook import ANSWER, CHECK, Locked, Outcome
from rooflab.grade.pipeline import Runner
from tests.support.cells import run_cell


def run(locked: Locked, limits: Limits | None = None) -> Outcome:
    """Run the cells of ``locked`` here and now; a cell that raises is passed over, as in nbval."""
    names: dict[str, object] = {"__name__": "__main__"}
    observations, reasons, printed, again = {}, {}, {}, {}
    tried: dict[str, list[object]] = {}  # answers that raised nothing: not run a second time
    for cell in locked.notebook.cells:
        mark = cell.metadata["rooflab"]
        if mark["role"] == CHECK:
            id = mark["exercise"]
            name = re.search(r"lambda: (\w+)(, again=True)?\)$", cell.source)[1]
            number = mark.get("try", 0)
            if name in names:
                if number and any(names[name] is one for one in tried.get(id, ())):
                    continue  # as the sandbox's kernel does
                seen = collect(exercise(id).kind, locked.cases[id], names[name])
                if settled(seen):
                    tried.setdefault(id, []).append(names[name])
                if number:
                    again.setdefault(id, {})[number] = seen
                else:
                    observations[id] = seen
            elif not number:
                reasons[id] = f"there is no {name}"
            continue
        if "rooflab.grade.inside.kernel" in cell.source:
            continue  # it locks functions, but not in the test's own process
        try:
            run_cell(cell.source, names)
        except Exception as error:
            if mark["role"] == ANSWER:
                printed[mark["exercise"]] = describe(error)
    return Outcome(observations, reasons, printed, None, again)


def grade(files, out, seed=7, runner=run, **more):
    """Grade ``files`` with ``runner`` in place of a NotebookRunner's."""
    out.mkdir(exist_ok=True)
    return pipeline.grade(files, out, seed, lambda: nullcontext(runner), limits=Limits(), **more)


def counting(calls):
    """A runner that appends the lesson of every submission to ``calls``."""

    def counted(locked, limits):
        if len(locked.cases) > 1:  # not the known right answer that is run first
            calls.append(locked.lesson)
        return run(locked)

    return counted


def instead_of_the_sandbox(monkeypatch: pytest.MonkeyPatch, instead: Runner | None = run) -> None:
    """Let ``rooflab grade`` run submissions by ``instead``, right here."""
    monkeypatch.setattr(grading, "open_runner", lambda *_: nullcontext(instead))

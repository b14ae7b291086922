"""Small locked notebooks, with limits that end soon, and what is left of a run."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Iterable

import pytest
from nbformat.v4 import new_code_cell, new_notebook

from rooflab.exercises.exercise import Exercise
from rooflab.grade.inside import limits
from rooflab.grade.inside.limits import MIB, Limits
from rooflab.grade.launch import NotebookRunner
from rooflab.grade.locked_notebook import ANSWER, CHECK, GIVEN, Locked, check_source

CASES = ({"m": 2, "n": 3}, {"m": 5, "n": 7})
RIGHT = [{"value": 6}, {"value": 35}]
SOON = Limits(
    wall=8, cell=1, cpu=5, memory=512 * MIB, processes=15, threads=60, files=4 * MIB,
    shown=64 << 10,
    shown_in_all=512 << 10,
)  # fmt: skip


def locked(*answers: str, given: str = "import numpy as np", kind: str = "function") -> Locked:
    """Return a notebook with one exercise an answer, 01-e0, 01-e1 …; each asks for f0, f1 …"""
    names = [f"01-e{number}" for number in range(len(answers))]
    made = Locked(new_notebook(), "01", dict.fromkeys(names, CASES), nonce="not to be told")
    made.notebook.cells.append(_cell(given, GIVEN))
    for number, (name, source) in enumerate(zip(names, answers, strict=True)):
        made.notebook.cells.append(_cell(source, ANSWER, name))
        check = check_source(made.word(name), name, kind, CASES, f"f{number}")
        made.notebook.cells.append(_cell(check, CHECK, name))
    return made


def _cell(source: str, role: str, exercise: str | None = None):
    mark = {"role": role} if exercise is None else {"role": role, "exercise": exercise}
    return new_code_cell(source, metadata={"rooflab": mark})


def honest(number: int) -> str:
    """The right answer of exercise ``number``."""
    return f"def f{number}(m, n):\n    return m * n"


def shared(attacks: Iterable[str], **changes: str) -> Locked:
    """Return one submission with every attack, written as f1 of 01-e1, and an honest answer behind.

    Attack number k, from 0, is exercise 2k + 1.
    """
    answers = [honest(0)]
    for source in attacks:
        number = len(answers)

        def exercise(found: re.Match[str], number: int = number) -> str:
            return f"01-e{number + int(found[1]) - 1}"

        own = re.sub(r"\b01-e([12])\b", exercise, re.sub(r"\bf1\b", f"f{number}", source))
        answers += [own, honest(number + 1)]
    return locked(*answers, **changes)


def left_over(runner: NotebookRunner, seconds: float = 2.0) -> int:
    """Return how many processes a runner has beyond its own: the fork server and bubblewrap's two.

    Processes that were killed may take a moment to go.
    """
    until = time.monotonic() + seconds
    while True:
        found = limits.below(limits.processes(), runner.process_id)
        extra = len(found) - (3 if runner.nested else 0)
        if extra <= 0 or time.monotonic() > until:
            return extra
        threading.Event().wait(0.02)  # a look costs processor time that they need to end


def one_long_case(patch: pytest.MonkeyPatch) -> None:
    """Play golf and time kernels on one case each, where it is not the numbers that matter."""
    drawn = Exercise.draw

    def draw(self: Exercise, seed: object = 0) -> list:
        return drawn(self, seed)[: 1 if self.kind in ("golf", "timing") else None]

    patch.setattr(Exercise, "draw", draw)

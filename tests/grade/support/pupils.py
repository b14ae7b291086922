"""How pupils of a made class answer: right, with a usual mistake, wrongly, not at all; or attack.

Everything is the source of an answer cell. Right answers are those of the committed solutions.
"""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from rooflab.exercises.registry import exercise
from rooflab.grade import lesson_notebook
from tests.grade.attacks import answers as attacks
from tests.grade.attacks import probes
from tests.grade.support.notebooks import REPOSITORY, answer, solution, without_outputs

# exercise → what is changed in the right answer, and the misconception that this is
MISTAKES: Mapping[str, tuple[str, str, str]] = {
    "00-bandwidth": ("2 * n", "n", "the return trip forgotten"),
    "00-peak": ("2 * n", "n", "multiply-adds"),
    "00-time": ("max(", "min(", "min for max"),
    "00-lunch": ("flat * fast[1] / 2", "flat * slow[1] / 2", "its own bend"),
    "01-product": ("2 * m", "m", "multiply-adds"),
    "01-witnesses": ("2 * n**3", "n**3", "multiply-adds"),
    "01-name": ("2 * adds + 2 * edge", "adds + 2 * edge + 1", "dot and outer share an intensity"),
    "01-speed-limit": ("3 * itemsize", "3 * 4", "4 bytes always"),
    "02-claim-bias": ("2 * matrix + row", "2 * matrix", "the row forgotten"),
    "02-pooling": ("k * k - 1", "k * k", "K² comparisons"),
    "03-ridge-grew": ("m * 4096 / (2 * m + 4096)", "m", "the rows are the intensity"),
    "03-time": ("max(flops / peak, bytes / bandwidth)", "flops / peak + bytes / bandwidth",
                "sum for max"),
    "03-predict": ("call + ", "", "the call is free"),
}  # fmt: skip
SPOILED = """
def _spoiled(value):
    if isinstance(value, (tuple, list)):
        return [_spoiled(each) for each in value]
    if isinstance(value, bool):
        return not value
    return "no idea" if isinstance(value, str) else 3 * value + 1
"""
ATTACKS: Mapping[str, str] = {
    f"{name} ({kind})": source
    for kind, table in (
        ("ends the kernel", attacks.ENDS_THE_KERNEL),
        ("may end the kernel", attacks.MAY_END_THE_KERNEL),
        ("costs one exercise", attacks.COSTS_ONE_EXERCISE),
        ("tampers", probes.TAMPERS),
        ("probe", probes.PROBES),
    )
    for name, source in table.items()
}


@dataclass(frozen=True)
class Answered:
    """A whole notebook: ``passes`` must get their points, ``fails`` none, the rest is open.

    ``mistakes``: exercise → the misconception by whose name it must be rejected.
    """

    notebook: dict[str, Any]
    passes: frozenset[str]
    fails: frozenset[str] = frozenset()
    mistakes: Mapping[str, str] | None = None


def honest(lesson: str) -> Answered:
    """Everything right."""
    return Answered(solution(lesson), frozenset(lesson_notebook.lesson(lesson).order))


def nothing(lesson: str) -> Answered:
    """The lesson as it is given out."""
    file = next((REPOSITORY / "notebooks").glob(f"{lesson}_*.ipynb"))
    return Answered(
        without_outputs(file), frozenset(), frozenset(lesson_notebook.lesson(lesson).order)
    )


def partly(lesson: str, draw: random.Random) -> Answered:
    """Some answers right; others with a usual mistake, wrong in a way of their own, or missing."""
    notebook, order = solution(lesson), lesson_notebook.lesson(lesson).order
    untouched = _untouched(lesson)
    passes, mistakes = [], {}
    for id in order:
        cell, fate = answer(notebook, id), draw.random()
        right = "".join(cell["source"])
        if fate < 0.55:
            passes.append(id)
        elif fate < 0.8 and id in MISTAKES:
            cell["source"] = mistaken(id, right)
            mistakes[id] = MISTAKES[id][2]
        elif fate < 0.9:
            cell["source"] = untouched[id]
        else:
            cell["source"] = spoiled(id, right)
    fails = frozenset(order) - frozenset(passes)
    return Answered(notebook, frozenset(passes), fails, mistakes)


def attacked(lesson: str, attack: str, at: int, here: str) -> Answered:
    """An attack instead of answer number ``at``; every other answer is right.

    What came before keeps its points; what comes after may be lost with the kernel. ``here``: the
    folder that the probes look for.
    """
    order = lesson_notebook.lesson(lesson).order
    id = order[at]
    notebook = solution(lesson)
    answer(notebook, id)["source"] = aimed(ATTACKS[attack], id, here)
    return Answered(notebook, frozenset(order[:at]), frozenset([id]))


def targets(lesson: str) -> list[int]:
    """Numbers of the answers that an attack may take the place of: functions of plain data."""
    order = lesson_notebook.lesson(lesson).order
    return [n for n, id in enumerate(order) if exercise(id).kind == "function" and n > 0]


def aimed(source: str, id: str, here: str) -> str:
    """Return the source of an attack, written for 01-e1, as an answer to exercise ``id``."""
    name = lesson_notebook.lesson(id[:2]).names[id]
    source = source.replace("def f1(m, n)", f"def {name}(m=0, n=0, *more)").replace("01-e1", id)
    source = re.sub(r"\bf1\b", name, source)
    return f"import numpy as np\nHERE, PORT = {here!r}, 9\n{source}"


def mistaken(id: str, right: str) -> str:
    """The right answer with the usual mistake of MISTAKES in it."""
    old, new, _ = MISTAKES[id]
    if old not in right:
        raise ValueError(f"{old!r} is not in the answer to {id}; MISTAKES must say what is")
    return right.replace(old, new, 1)


def spoiled(id: str, right: str) -> str:
    """The right answer with its result made wrong in a way that nobody has a name for."""
    name = lesson_notebook.lesson(id[:2]).names[id]
    if exercise(id).kind == "value":
        return f"{right}\n{SPOILED}\n{name} = _spoiled({name})"
    return (
        f"{right}\n"
        f"{SPOILED}\n"
        f"_own = {name}\n"
        f"def {name}(*inputs):\n"
        "    return _spoiled(_own(*inputs))"
    )


@cache
def _untouched(lesson: str) -> Mapping[str, str]:
    notebook = nothing(lesson).notebook
    order = lesson_notebook.lesson(lesson).order
    return {id: "".join(answer(notebook, id)["source"]) for id in order}

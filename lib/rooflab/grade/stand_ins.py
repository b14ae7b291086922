"""Right answers that take the place of a learner's own, each as plain Python.

A later answer may call an earlier one. Where that is wrong, the right one takes its place at the
end of the run: the mistake has cost its points. And ``rl.mine.time`` finds in the grade what it
finds in a notebook without a mine.py, but never the answer to an exercise of the same lesson.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Mapping

from rooflab.exercises.registry import exercises
from rooflab.grade.given import Lesson
from rooflab.grade.intake import CodeCell

RIGHT: Mapping[str, str] = {  # exercise → its answer
    "01-product": """
def answer(m, n, k, itemsize, accumulate=False):
    flops = 2 * m * n * k
    moved = (m * k + k * n + (2 if accumulate else 1) * m * n) * itemsize
    return flops, moved, flops / moved""",
    "03-time": """
def answer(flops, bytes, peak, bandwidth):
    return max(flops / peak, bytes / bandwidth)""",
    "04-layer": """
def answer(tokens, inputs, outputs, itemsize, peak, bandwidth):
    flops = 2 * tokens * inputs * outputs
    numbers = tokens * inputs + inputs * outputs + tokens * outputs
    return max(flops / peak, numbers * itemsize / bandwidth)""",
    "04-knee": """
def answer(inputs, outputs, itemsize, peak, bandwidth):
    return 1 / (2 * bandwidth / (itemsize * peak) - 1 / inputs - 1 / outputs)""",
    "05-decode": """
def answer(parameters, itemsize, kv, batch, context, peak, bandwidth):
    products = max(2 * parameters * batch / peak, parameters * itemsize / bandwidth)
    return batch / (products + kv * context * batch / bandwidth)""",
}
WRITTEN: Mapping[str, str] = {  # functions that a lesson writes down itself
    "ridge": """
def answer(peak, bandwidth):
    return peak / bandwidth""",
    "attainable": """
def answer(intensity, peak, bandwidth):
    return min(peak, intensity * bandwidth)""",
}
_ASKED = re.compile(r"\bmine\s*\.\s*(\w+)")


def right(exercise: str, name: str) -> str:
    """Return the right answer to ``exercise`` under the name ``name``; "" if there is none."""
    return _named(RIGHT[exercise], name) if exercise in RIGHT else ""


def mine_source(lesson: Lesson, cells: Iterable[CodeCell]) -> str:
    """Return the source of a cell that gives ``rl.mine`` what ``cells`` ask of it; "" if nothing.

    Answers to exercises of ``lesson`` are not given away: there the learner's own function counts.
    """
    asked = {name for cell in cells for name in _ASKED.findall(cell.source)}
    # Nor those of later lessons, in which they may be hidden.
    earlier = [id for id in RIGHT if id[:2] < lesson.number]
    named = {exercises()[id].mine: RIGHT[id] for id in earlier}
    texts = {name: text for name, text in {**named, **WRITTEN}.items() if name in asked}
    if not texts:
        return ""
    functions = [textwrap.indent(_named(text, name), "    ") for name, text in texts.items()]
    table = ", ".join(f"{name!r}: {name}" for name in texts)
    return "\n\n".join([
        "def _mine():", *functions, f"    return {{{table}}}\n",
        "from rooflab.exercises.mine import mine as _own\n_own.stand_in(_mine())\ndel _mine, _own",
    ])  # fmt: skip


def _named(text: str, name: str) -> str:
    return text.strip().replace("def answer(", f"def {name}(", 1)

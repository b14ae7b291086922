"""The house rules of a lesson, checked on its source: what a reader and a grader rely on."""

from __future__ import annotations

import ast
import difflib
import re
from collections import Counter
from collections.abc import Iterator
from statistics import median

from nbformat import NotebookNode

from tools.lesson import Lesson

MEDIAN_LINES, MOST_LINES = 5, 12
CHECKED_OUTPUTS = 3
# "pause": in a lecture the output has a step of its own, after the question that it answers.
TAGS = (
    *("core", "deep", "answer", "pause"),
    *("nbval-check-output", "nbval-ignore-output", "nbval-skip"),
)
DRAWING = {"matplotlib", "ipywidgets", "anywidget", "IPython", "pylab", "plotly", "bqplot"}
CLOCKS = {"time", "timeit"}
EXERCISE = re.compile(r"\d\d-[a-z0-9]+(-[a-z0-9]+)*")
CHECK = re.compile(r"\brl\.check\(\s*(?:[\"']([^\"']*)[\"'])?")


def broken_rules(lesson: Lesson) -> list[str]:
    """Every broken rule as one sentence that names the lesson's source and the cell."""
    cells = list(enumerate(lesson.solution.cells))
    messages = [*_length(cells), *_tags(cells), *_imports(cells), *_exercises(cells, lesson.number)]
    return [f"{lesson.name}.py, {message}" for message in messages]


Cells = list[tuple[int, NotebookNode]]


def _code(cells: Cells) -> Cells:
    return [(number, cell) for number, cell in cells if cell.cell_type == "code"]


def _length(cells: Cells) -> Iterator[str]:
    """Code cells stay short: the solution's lines count, blank ones do not."""
    lengths = {
        number: sum(1 for line in cell.source.split("\n") if line.strip())
        for number, cell in _code(cells)
    }
    for number, length in lengths.items():
        if length > MOST_LINES:
            yield f"cell {number}: {length} lines of code, at most {MOST_LINES}"
    if lengths and median(lengths.values()) > MEDIAN_LINES:
        yield (
            f"all cells: the median code cell has {median(lengths.values()):g} lines, "
            f"at most {MEDIAN_LINES}"
        )


def _tags(cells: Cells) -> Iterator[str]:
    for number, cell in cells:
        tags = cell.metadata.tags
        for tag in tags:
            if tag not in TAGS:
                near = difflib.get_close_matches(tag, TAGS, n=1)
                hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(TAGS)}"
                yield f"cell {number}: unknown tag {tag!r}; {hint}"
        if {"core", "deep"} <= set(tags):
            yield f"cell {number}: tagged both core and deep; choose one"
    checked = sum(1 for _, cell in _code(cells) if "nbval-check-output" in cell.metadata.tags)
    if checked < CHECKED_OUTPUTS:
        yield (
            f"all cells: {checked} code cells tagged nbval-check-output, "
            f"at least {CHECKED_OUTPUTS} (deterministic claims that nbval compares)"
        )


def _imports(cells: Cells) -> Iterator[str]:
    """No drawing code in a lesson; a clock only where timing is the exercise."""
    for number, cell in _code(cells):
        for module in _imported(cell.source):
            if module in DRAWING:
                yield f"cell {number}: imports {module}; pictures come from rl.show and rl.live"
            if module in CLOCKS and "answer" not in cell.metadata.tags:
                yield f"cell {number}: imports {module}; outside timing exercises use rl.measure"


def _imported(code: str) -> Iterator[str]:
    lines = (line for line in code.split("\n") if not line.lstrip().startswith(("%", "!")))
    try:
        tree = ast.parse("\n".join(lines))
    except SyntaxError:
        return  # a cell magic; running the notebook will say if it is wrong
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module.split(".")[0]


def _exercises(cells: Cells, lesson_number: str) -> Iterator[str]:
    """Answer cells carry tag and exercise id; each has one check cell, one check a cell."""
    answers: Counter[str] = Counter()
    checks: set[str] = set()
    for number, cell in cells:
        exercise = cell.metadata.get("rooflab", {}).get("exercise")
        if ("answer" in cell.metadata.tags) != (exercise is not None):
            yield (
                f"cell {number}: an answer cell needs both the tag 'answer' and "
                'rooflab={"exercise": "NN-slug"}'
            )
        if exercise is not None:
            answers[exercise] += 1
            if not EXERCISE.fullmatch(exercise) or exercise[:2] != lesson_number:
                yield f"cell {number}: exercise id {exercise!r}, expected {lesson_number}-slug"
        if cell.cell_type == "code":
            found = CHECK.findall(cell.source)
            if len(found) > 1:
                yield f"cell {number}: {len(found)} calls of rl.check, one a cell"
            if "" in found:
                yield f'cell {number}: write the exercise id out: rl.check("NN-slug", …)'
            checks.update(found)
    for exercise, count in answers.items():
        if count > 1:
            yield f"all cells: exercise {exercise!r} has {count} answer cells, one is allowed"
        if exercise not in checks:
            yield f'all cells: exercise {exercise!r} has no rl.check("{exercise}", …) cell'
    for exercise in sorted(checks - set(answers) - {""}):
        yield f"all cells: rl.check({exercise!r}) has no answer cell"

"""``rl.check``: the verdict on an answer, in the notebook."""

from __future__ import annotations

import ast
import contextlib
import linecache
import re
import sys
import traceback
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from types import FunctionType, MappingProxyType
from typing import Any

from rooflab.exercises import course
from rooflab.exercises.ending import BUTTON, Ending
from rooflab.exercises.exercise import Case, Exercise
from rooflab.exercises.handed_in import statements_of, warning
from rooflab.exercises.judge import drawn, judge
from rooflab.exercises.observe.observation import describe
from rooflab.exercises.registry import exercise, exercises
from rooflab.exercises.verdict import Verdict
from rooflab.optional import installed

# The latest verdict on each exercise in this kernel; a restart forgets them.
_LATEST: dict[str, Verdict] = {}


def keep(verdict: Verdict) -> Verdict:
    """Keep ``verdict`` as the latest one on its exercise, and return it."""
    _LATEST[verdict.exercise] = verdict
    return verdict


def verdicts() -> Mapping[str, Verdict]:
    """Return exercise id → the latest verdict, of all lessons."""
    return MappingProxyType(_LATEST)


def forget() -> None:
    """Begin anew, as after a restart of the kernel."""
    _LATEST.clear()


# Whether an answer is older than its cell: edited, run again, and that run failed.
#
# A check then judges the answer of an earlier run, which is no longer what stands in the notebook.
# IPython keeps the text of every cell that was run, also of those that failed. Outside IPython
# nothing is known, and nothing is said.
STALE = "This judges the version that you ran before: the last run of its cell failed."
RENAMED = "This judges the `{}` that you ran before: a later cell defines `{}`, another name."
SHORT = "The call is shortened here. `_.case`, in a cell of your own below, is all of it."
ALIKE = 0.8  # of two names: what SequenceMatcher says of one letter left out


def stale(answer: object) -> bool:
    """Whether the latest cell that makes ``answer`` failed before it made it."""
    cells = _cells()
    if type(answer) is FunctionType:
        own = _text(answer.__code__.co_filename)
        latest = _latest(cells, answer.__code__.co_name)
        return own in cells and latest not in (None, own)
    _, latest = _answered(cells)
    return latest is not None and latest != cells[-1] and _failed(cells, latest)


def misspelt(answer: object, known: Collection[str]) -> str:
    """The name, much like that of ``answer``, of a like function in a later cell; "" if none.

    ``known``: names that are no slips of the pen.
    """
    if type(answer) is not FunctionType:
        return ""
    cells, name, count = _cells(), answer.__code__.co_name, answer.__code__.co_argcount
    latest = _latest(cells, name)
    if latest is None or _text(answer.__code__.co_filename) not in cells:
        return ""
    later = cells[len(cells) - cells[::-1].index(latest) :]
    found = [other for text in later for other in _functions(text, count) if other not in known]
    return next((o for o in reversed(found) if SequenceMatcher(None, o, name).ratio() >= ALIKE), "")


def _shell() -> Any:
    """IPython's shell, None outside IPython."""
    ipython = sys.modules.get("IPython")
    return ipython.get_ipython() if ipython else None


def _cells() -> list[str]:
    """The text of every cell that was run; none outside IPython."""
    shell = _shell()
    return [text.strip() for text in shell.history_manager.input_hist_parsed] if shell else []


def _answered(cells: list[str]) -> tuple[str | None, str | None]:
    """Name of the answer that the last of ``cells`` checks, and the cell that makes it."""
    name = _checked(cells[-1]) if cells else None
    return name, _latest(cells, name) if name else None


def _functions(cell: str, count: int) -> list[str]:
    """Names of the functions of ``count`` arguments that a cell defines."""
    try:
        body = ast.parse(cell).body
    except SyntaxError:
        return []
    return [
        node.name
        for node in body
        if isinstance(node, ast.FunctionDef) and len(node.args.args) == count
    ]


def _text(file: str) -> str:
    return "".join(linecache.getlines(file)).strip()


def _latest(cells: list[str], name: str) -> str | None:
    """The last cell that has a definition of ``name`` or an assignment to it."""
    made = re.compile(
        rf"^(?:(?:async )?def {name}\b|class {name}\b|{name}\s*(?::[^=]*)?=[^=])", re.M
    )
    return next((text for text in reversed(cells) if made.search(text)), None)


def _checked(cell: str) -> str | None:
    """Name of the answer in ``rl.check("03-log", name)``, if the cell has one such call."""
    try:
        calls = [node for node in ast.walk(ast.parse(cell)) if isinstance(node, ast.Call)]
    except SyntaxError:
        return None
    names = [
        call.args[1].id
        for call in calls
        if getattr(call.func, "attr", getattr(call.func, "id", "")) == "check"
        and len(call.args) == 2
        and isinstance(call.args[1], ast.Name)
    ]
    return names[0] if len(names) == 1 else None


def _failed(cells: list[str], cell: str) -> bool:
    """Whether ``cell`` is no Python, or raised what was raised last and was not run again."""
    try:
        ast.parse(cell)
    except SyntaxError:
        return True
    error = getattr(sys, "last_value", None)
    frames = traceback.walk_tb(error.__traceback__) if error is not None else ()
    raised = any(_text(frame.f_code.co_filename) == cell for frame, _ in frames)
    return raised and cells.count(cell) == 1


PUBLIC_SEED = 0  # a grader draws other cases


class Interrupted(KeyboardInterrupt):
    """The stop button, passed on, so that the cells that wait behind this one stop too."""

    def _render_traceback_(self) -> list[str]:
        return ["KeyboardInterrupt: stopped; the cells that were waiting have not been run"]


@installed("rooflab.check")
def check(id: str, answer: object = ...) -> Verdict:
    """Judge ``answer``, a value or a function, to exercise ``id``: ``check("01-product", f)``.

    An answer that does not end is stopped after 10 s of computing, one that waits after 60 s.

    Parameters
    ----------
    id : str
        The exercise's lesson and name, such as "01-product".
    answer : object
        A value, or a function written with def. ``...`` is an answer that was not given yet.

    Returns
    -------
    Verdict
        It says what is wrong with the first failing case and, when the mistake is a known one,
        names it. An unknown id, an unanswered cell (``...``) and an answer that fails are verdicts
        too.

    Raises
    ------
    KeyboardInterrupt
        When a stop button was pressed, after showing the verdict. Nothing else is raised.

    Notes
    -----
    On Linux a function runs in a copy of this process, which can be stopped whatever it does: what
    the function changes in the notebook stays as it was. On macOS and Windows, and while this
    process uses a GPU, it runs in this process: then one long call into C is stopped only when it
    returns.

    Examples
    --------
    >>> rl.check("01-product", ...)
    ○ 01-product · 0 of 4 points: not answered yet: ours has 4 lines
    >>> rl.check("00-bandwidth", lambda seconds, n, itemsize: 1).passed
    False
    """
    try:
        found = exercise(id)
    except (TypeError, ValueError) as error:
        return Verdict(str(id)[:60] if isinstance(id, str) else "?", False, 0, 0, str(error))
    ending = Ending()
    verdict = keep(course.weighed(_verdict(found, answer, ending), course.here().points))
    if ending.pressed:
        _show(verdict)
        raise Interrupted from None
    return verdict


def _verdict(found: Exercise, answer: object, ending: Ending) -> Verdict:
    try:
        cases = found.draw(PUBLIC_SEED)
        observations = ending.observe(found.kind, cases, answer)
        verdict = judge(found, cases, observations)
        verdict = replace(verdict, picture=drawn(found, cases, observations))
    except Exception as error:  # a fault of ours must not stop the learner's notebook
        reason = f"the checker itself failed ({describe(error)}); please report it"
        return Verdict(found.id, False, 0, found.points, reason)
    if found.kind == "timing" and verdict.passed:
        verdict = _confirmed(found, answer, verdict, ending)
    if verdict.passed:
        verdict = _warned(found, answer, cases, verdict, ending)
    return _noted(verdict, answer)


def _warned(
    found: Exercise, answer: object, cases: Sequence[Case], verdict: Verdict, ending: Ending
) -> Verdict:
    """Add what would cost a right answer its points where it is graded."""
    with contextlib.suppress(Exception):  # a warning that cannot be had must not cost the verdict
        made = _made() if found.kind == "value" else ast.Module([], [])
        said = warning(found, answer, cases, ending.observe, made)
        return replace(verdict, note=" ".join(filter(None, (said, verdict.note))) or None)
    return verdict


def _made() -> ast.Module:
    """The statements that make the value which the running cell checks, where that is known."""
    name, cell = _answered(_cells())
    return statements_of(name, cell) if name and cell else ast.Module([], [])


def _confirmed(found: Exercise, answer: object, verdict: Verdict, ending: Ending) -> Verdict:
    """Run a timing on this machine's GPU too, if it has one and there is time left."""
    from rooflab.exercises.on_gpu import confirm

    seen = verdict
    with ending.watching():
        seen = confirm(found, answer, verdict)
    why = BUTTON if ending.pressed else ending.over
    return replace(verdict, note=f"Not compared on the GPU: it {why}.") if why else seen


def _noted(verdict: Verdict, answer: object) -> Verdict:
    """Add what is to know besides: that the answer's cell has failed since, or another name."""
    with contextlib.suppress(Exception):  # a note must not cost the verdict
        other = misspelt(answer, {found.name for found in exercises().values()})
        said = RENAMED.format(answer.__name__, other) if other else STALE if stale(answer) else ""
        short = SHORT if verdict.case and "…" in verdict.reason else ""
        return replace(verdict, note=" ".join(filter(None, (verdict.note, said, short))) or None)
    return verdict


def _show(verdict: Verdict) -> None:
    if _shell() is None:
        print(verdict)
        return
    from IPython.display import display

    display(verdict)

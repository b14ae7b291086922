"""One locked notebook through pytest and nbval; what its check cells printed comes out as events.

Runs in a process of its own (worker.py) that ends afterwards. An event is plain data: ``{"id": …,
"observations": [...]}``, ``{"id": …, "reason": …}``, ``{"id": …, "printed": …}`` or
``{"stopped": why}``.
"""

from __future__ import annotations

import functools
import json
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import nbval.plugin
import pytest

from rooflab.grade.inside import MARK
from rooflab.grade.keeper import Setting
from rooflab.grade.limits import Limits
from rooflab.grade.locked import ANSWER, CHECK
from rooflab.grade.names import COLOUR
from rooflab.grade.provisioner import kernel_spec
from rooflab.grade.watched import WatchedKernel

_NOT_NEEDED = ("cacheprovider", "unraisableexception", "threadexception", "faulthandler", "doctest",
               "junitxml", "pastebin", "stepwise", "logging", "warnings")  # fmt: skip
STOPPED = "it took too long and was stopped"
LONGEST_SHOWN = 4000  # characters of an answer cell's output that the learner sees again
LAST_SHOWN = 1000  # of these, from the end, where the error is
SHARES = 2  # of a submission's time one half is kept for the exercises that are still to come
Event = Mapping[str, Any]


class Reporter:
    """A pytest plugin that reads the result line of every check cell as soon as it has run."""

    def __init__(self, words: Mapping[str, str], limits: Limits, tell: Callable[[Event], None]):
        self.words, self.limits, self.tell = words, limits, tell
        self.left, self.end = {*words}, time.monotonic() + limits.wall

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: Any) -> Any:
        """Run the cell; tell what came of it, however it ended."""
        item.output_timeout = min(item.output_timeout, self.limits.cell)
        item.config.option.nbval_cell_timeout = self._seconds()
        try:
            return (yield)
        finally:
            self._told(item)
            if item.parent.kernel.why:
                self.tell({"stopped": item.parent.kernel.why})

    def _seconds(self) -> float:
        """What a cell may take: a share stays for every exercise that was not checked yet.

        So answers that do not end cost their own points, and no others.
        """
        share = self.limits.wall / SHARES / max(1, len(self.words))
        left = self.end - time.monotonic() - share * max(0, len(self.left) - 1)
        return max(min(self.limits.cell, left), min(share, self.limits.cell))

    def _told(self, item: Any) -> None:
        about = item.cell.metadata.get("rooflab") or {}
        role, exercise = about.get("role"), about.get("exercise")
        outputs = item.test_outputs if isinstance(item.test_outputs, list) else []
        if role == ANSWER:
            self.tell({"id": exercise, "printed": shown(outputs)})
        if role != CHECK:
            return
        number = about.get("try", 0)
        found = result_lines(outputs, self.words[exercise], exercise)
        self.left.discard(exercise)
        if len(found) == 1 and (seen := parsed(found[0])) is not None:
            self.tell({"id": exercise, "observations": seen, "try": number})
        elif not number:
            self.tell({"id": exercise, "reason": self._why(item, found)})

    def _why(self, item: Any, found: Sequence[str]) -> str:
        kernel = item.parent.kernel
        if kernel is not None and kernel.why:
            return str(kernel.why)
        if len(found) > 1:
            return "the answer printed a result line of its own"
        if found:
            return "what came back cannot be read"
        if kernel is not None and kernel.flooded:
            return f"it printed more than {self.limits.shown >> 10} KiB"
        if item.parent.timed_out:
            return STOPPED
        return "no result came back"


def result_lines(outputs: Sequence[Any], word: str, exercise: str) -> list[str]:
    """Return the data of every line that carries the right word."""
    start = f"{MARK} {word} {exercise} "
    text = "".join(
        each.text for each in outputs
        if each.get("output_type") == "stream" and isinstance(each.get("text"), str)
    )  # fmt: skip
    return [line[len(start) :] for line in text.split("\n") if line.startswith(start)]


def parsed(text: str) -> list[Event] | None:
    """Return the observations of a result line, or None when they are no plain list of them."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
        return None
    return found


def shown(outputs: Sequence[Any]) -> str:
    """Return what a cell showed, as plain text without colours, cut."""
    parts = []
    for each in outputs:
        if each.get("output_type") == "stream":
            parts.append(each.get("text"))
        elif each.get("output_type") == "error":
            parts.append(f"{each.get('ename')}: {each.get('evalue')}\n")
        elif isinstance(each.get("data"), dict):
            parts.append(f"{each['data'].get('text/plain', '')}\n")
    text = "".join(part for part in parts if isinstance(part, str))
    text = COLOUR.sub("", text.encode("utf-8", "replace").decode("utf-8"))
    if len(text) <= LONGEST_SHOWN:
        return text
    return f"{text[: LONGEST_SHOWN - LAST_SHOWN]}\n…\n{text[-LAST_SHOWN:]}"


def run_notebook(
    path: Path,
    words: Mapping[str, str],
    limits: Limits,
    kernel: tuple[int, Setting],
    tell: Callable[[Event], None],
) -> None:
    """Run the notebook at ``path`` and tell the events.

    ``words``: exercise id → the word that its result line must carry; ``kernel``: the control
    socket of a keeper (-1: start one) and the setting.
    """
    spec = kernel_spec(kernel[0], str(path.parent), kernel[1], limits)
    nbval.plugin.RunningKernel = functools.partial(_started, spec, limits, tell)
    nbval.plugin.comment_markers = {}  # "# NBVAL_SKIP" in an answer is a remark like any other
    reporter = Reporter(words, limits, tell)
    pytest.main(
        [*(f"-pno:{name}" for name in _NOT_NEEDED), "--nbval", "--nbval-kernel-name", "sandbox",
         "--nbval-cell-timeout", str(limits.cell),
         "-p", "nbval.plugin", "-c", "/dev/null", "--color=no", "-q",
         "--rootdir", str(path.parent), "--tb=no", str(path)],
        plugins=[reporter],
    )  # fmt: skip


def _started(
    spec: Any, limits: Limits, tell: Callable[[Event], None], *_: object, **__: object
) -> WatchedKernel:
    try:
        return WatchedKernel(spec, limits)
    except Exception as error:
        tell({"stopped": f"no kernel: {error}"})
        raise

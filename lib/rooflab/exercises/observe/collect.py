"""Run an answer on the cases and write down, as plain data, what came out.

This is the half that runs the learner's code; the verdict is computed from the observations alone
(judge.py), so a grader can do that in another process.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from functools import partial
from types import FunctionType

from rooflab.exercises.observe.observation import Case, Observation, observe, stopped

#: Kinds of exercises whose answer is a function; a module beside this one runs it.
RUNNERS = ("function", "arrays", "timing", "golf", "schedule", "prediction", "kernel")


def _never(seen: Observation) -> str:
    return ""


def collect(
    kind: str, cases: Sequence[Case], answer: object, over: Callable[[Observation], str] = _never
) -> list[Observation]:
    """Return one observation a case. Never raises, whatever ``answer`` does.

    After each case ``over(seen)`` gets what was seen of it. It returns nothing, or says that the
    answer was stopped: then no further case is run.
    """
    if answer is ...:
        return [{"missing": True} for _ in cases]
    if kind == "value":
        return [observe(lambda: answer)]
    if not callable(answer):
        why = "a function is wanted, not its value: define it with def, and hand in its name "
        why += "without brackets"
        return [{"unreadable": why} for _ in cases]
    run = runner(kind)
    if kind == "function":
        run = partial(_called, run, [name for case in cases for name in case])
    seen = until_stopped(lambda case: run(case, answer), cases, over)
    if untouched(answer) or not all(each.get("missing") for each in seen):
        return seen
    nothing = {"unreadable": "it returned None for every case; does it reach a return?"}
    return [{**{key: each[key] for key in each if key != "missing"}, **nothing} for each in seen]


def _called(
    run: Callable[..., Observation], names: Sequence[str], case: Case, answer: Callable[..., object]
) -> Observation:
    """Run an answer on a case that may leave out some of ``names``, which are False by default.

    An answer that cannot do without them gets them.
    """
    seen, left_out = run(case, answer), {name: False for name in names if name not in case}
    return run({**case, **left_out}, answer) if left_out and "error" in seen else seen


def runner(kind: str) -> Callable[[Case, Callable[..., object]], Observation]:
    """Return what runs an answer on a case, with all that it needs imported."""
    module, name = ("function", "run_with_arrays") if kind == "arrays" else (kind, "run")
    return getattr(importlib.import_module(f"rooflab.exercises.observe.{module}"), name)


def untouched(answer: object) -> bool:
    """Whether ``answer`` is a function that has nothing in it but ``...``."""
    if type(answer) is not FunctionType:  # of anything else no attribute may be asked for
        return False
    return len(answer.__code__.co_code) == len(_nothing.__code__.co_code)


def _nothing() -> None: ...


def until_stopped(
    run: Callable[[Case], Observation], cases: Sequence[Case], over: Callable[[Observation], str]
) -> list[Observation]:
    """Run the cases in order; after one was stopped, by the learner or because it would not end,
    the rest count as stopped too."""
    seen: list[Observation] = []
    for case in cases:
        error = str(seen[-1].get("error", "")) if seen else ""
        over_already = stopped(error)
        seen.append(seen[-1] if over_already else run(case))
        if not over_already and (why := over(seen[-1])):  # it may have swallowed what stopped it
            seen[-1] = {"error": f"Stopped: {why}"}
    return seen

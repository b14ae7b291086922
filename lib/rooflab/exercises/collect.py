"""Run an answer on the cases and write down, as plain data, what came out.

This is the half that runs the learner's code; the verdict is computed from the observations alone
(judge.py), so a grader can do that in another process. An observation is one of
``{"value": …}``, ``{"error": "ZeroDivisionError: …"}``, ``{"unreadable": why}`` or
``{"missing": True}``; a timing exercise adds ``"log"``, golf the trips that its trace saw. An error
of a call that did not fit the answer's arguments has ``"entered": False`` beside it.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from types import FunctionType

from rooflab.exercises.exercise import Case, Observation
from rooflab.exercises.plaindata import Unreadable, to_plain

LONGEST_MESSAGE = 320
_TRACEBACK = BaseException.__dict__["__traceback__"].__get__  # past a subclass that hides it
STOPPED = (" was stopped after ", " took longer than ")  # says golf of what does not end


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
    seen = until_stopped(lambda case: run(case, answer), cases, over)
    if untouched(answer) or not all(each.get("missing") for each in seen):
        return seen
    nothing = {"unreadable": "it returned None for every case; does it reach a return?"}
    return [{**{key: each[key] for key in each if key != "missing"}, **nothing} for each in seen]


def runner(kind: str) -> Callable[[Case, Callable[..., object]], Observation]:
    """Return what runs an answer on a case, with all that it needs imported."""
    if kind == "timing":
        from rooflab.exercises.timing import run

        return run
    if kind == "golf":
        from rooflab.exercises.golfing import run

        return run
    if kind == "arrays":
        import numpy  # noqa: F401, for _call_with_arrays

        return _call_with_arrays
    return _call


def untouched(answer: object) -> bool:
    """Whether ``answer`` is a function that has nothing in it but ``...``."""
    if type(answer) is not FunctionType:  # of anything else no attribute may be asked for
        return False
    return len(answer.__code__.co_code) == len(_nothing.__code__.co_code)


def _nothing() -> None: ...


def _call(case: Case, answer: Callable[..., object]) -> Observation:
    given = dict(copy.deepcopy(case))
    named = {name: given.pop(name) for name in _keyword_only(answer) if name in given}
    return observe(lambda: answer(*given.values(), **named))


def _call_with_arrays(case: Case, answer: Callable[..., object]) -> Observation:
    from numpy import array

    return _call({n: array(v) if isinstance(v, list) else v for n, v in case.items()}, answer)


def _keyword_only(answer: Callable[..., object]) -> Sequence[str]:
    """Names of the arguments that a function takes by name alone."""
    if type(answer) is not FunctionType:
        return ()
    code = answer.__code__
    return code.co_varnames[code.co_argcount :][: code.co_kwonlyargcount]


def stopped(error: str) -> bool:
    """Whether ``error``, what an observation says, is that the answer was stopped."""
    return error.startswith("KeyboardInterrupt") or any(said in error for said in STOPPED)


def until_stopped(
    run: Callable[[Case], Observation],
    cases: Sequence[Case],
    over: Callable[[Observation], str] = _never,
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


def observe(produce: Callable[[], object]) -> Observation:
    """Return the observation of what ``produce()`` returns or raises."""
    try:
        value = produce()
    except BaseException as error:  # SystemExit and a pressed stop button must not end the check
        return {"error": describe(error)} | ({} if _entered(error) else {"entered": False})
    if value is ... or value is None:
        return {"missing": True}
    try:
        return {"value": to_plain(value)}
    except Unreadable as why:
        return {"unreadable": str(why)}
    except BaseException as error:  # a hostile object may raise anything from any method
        return {"unreadable": f"something that cannot be read ({_kind(error)})"}


def _entered(error: BaseException) -> bool:
    """Whether ``error`` was raised below the call of an answer, and not by the call itself."""
    trace = _TRACEBACK(error)
    return trace is None or trace.tb_next is None or trace.tb_next.tb_next is not None


def describe(error: BaseException) -> str:
    """Return "Type: message" on one line, also for an error whose message cannot be had."""
    try:
        message = " ".join(str(error).split())
    except BaseException:
        message = ""
    short = message if len(message) <= LONGEST_MESSAGE else message[: LONGEST_MESSAGE - 1] + "…"
    return f"{_kind(error)}: {short}" if short else _kind(error)


def _kind(error: BaseException) -> str:
    """Name of the error's class, read past a metaclass that hides it or raises."""
    return str(type.__dict__["__name__"].__get__(type(error)))

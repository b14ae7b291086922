"""Cases and observations: what an answer is given, and what came out of it, both as plain data.

An observation is one of ``{"value": …}``, ``{"error": "ZeroDivisionError: …"}``,
``{"unreadable": why}`` or ``{"missing": True}``; a timing exercise adds the ``"commands"`` to its
device, golf the trips that its trace saw and the program of its NumPy calls. The value of a
schedule is the log of its transformations. An error of a call
that did not fit the answer's arguments has ``"entered": False`` beside it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from rooflab.exercises.observe.plaindata import Plain, Unreadable, to_plain

Case = Mapping[str, Plain]  # the inputs in the order of the function's arguments
Observation = Mapping[str, Plain]  # what came out of one case

LONGEST_MESSAGE = 320
WAITED = ": it waited most of that time"  # of an answer that was interrupted
WAITS_S = 0.5
_TRACEBACK = BaseException.__dict__["__traceback__"].__get__  # past a subclass that hides it
STOPPED = (" was stopped after ", " took longer than ")  # says golf of what does not end


def observe(produce: Callable[[], object]) -> Observation:
    """Return the observation of what ``produce()`` returns or raises."""
    clock, computed = time.monotonic(), time.thread_time()
    try:
        value = produce()
    except BaseException as error:  # SystemExit and a pressed stop button must not end the check
        waited = time.monotonic() - clock - 2 * (time.thread_time() - computed) > WAITS_S
        told = WAITED if waited and type(error) is KeyboardInterrupt else ""
        entered = {} if _entered(error) else {"entered": False}
        return {"error": describe(error) + told} | entered
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


def stopped(error: str) -> bool:
    """Whether ``error``, what an observation says, is that the answer was stopped."""
    return error.startswith("KeyboardInterrupt") or any(said in error for said in STOPPED)

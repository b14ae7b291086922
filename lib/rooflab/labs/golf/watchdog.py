"""Stopping a function that never ends, even one that calls nothing.

Its own processor time is what counts, so that a busy machine stops nobody; what only waits is
stopped by the clock. In the main thread of a POSIX system an interval timer raises Stopped between
two bytecodes, and also ends a sleep. Elsewhere (other threads, Windows) a second thread asks the
interpreter to raise it, which happens between two bytecodes as well. What neither can stop is one
long call into C, such as a product of two huge matrices or ``10**10**9``: it is stopped when that
call returns. The exception comes again every ``AGAIN_S``, and the timer's then at short, irregular
times, so that one of them falls outside the ``try`` of a loop with a bare ``except:``. The timer
does not interrupt code that is not the function's own. A function that takes the alarm away
(``signal.signal``) is not stopped by it: what means harm belongs in a process of its own.
"""

from __future__ import annotations

import contextlib
import ctypes
import dis
import random
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from time import monotonic
from types import CodeType, FrameType, FunctionType

from rooflab.labs.golf.buffers import Stopped
from rooflab.labs.golf.trace import nested

AGAIN_S = 0.25
SOON_S = 2e-5  # about what a few lines of Python take
LOOK_S = 0.02  # a shorter time is not waited for
PATIENCE = 6  # times its limit that a function may take by the clock
MOST_S = 60.0  # but no longer than that, unless its limit is
LEAST_S = 2.0  # nor shorter: for moments a process may not have its turn


def by_the_clock(seconds: float) -> float:
    """Return how long something may take by the clock that may compute for ``seconds``."""
    return max(seconds, LEAST_S, min(PATIENCE * seconds, MOST_S))


class Used:
    """The processor time that this thread has used since, or another with its number.

    Where that cannot be had, it is the whole process's.
    """

    def __init__(self, thread: int | None = None) -> None:
        number = getattr(time, "pthread_getcpuclockid", None)
        self._clock = None if thread is None or number is None else number(thread)
        self._own = thread is None
        self._cpu, self._wall = self._now(), monotonic()

    def _now(self) -> float:
        if self._clock is not None:
            return time.clock_gettime(self._clock)
        return time.thread_time() if self._own else time.process_time()

    def seconds(self) -> float:
        """Return it; never more than has passed by the clock."""
        return min(self._now() - self._cpu, monotonic() - self._wall)

    def left(self, seconds: float) -> float:
        """Return the seconds until ``seconds`` may be used up; 0 when they are, or it waited."""
        passed = by_the_clock(seconds) - (monotonic() - self._wall)
        return max(0.0, min(seconds - self.seconds(), passed))


@dataclass(frozen=True)
class Watch:
    """``seconds`` of processor time for a function; when they are over, ``tell(reason)`` is called.

    After :func:`by_the_clock` of these, ``tell(waited)`` is called instead. ``inside`` says of the
    frame that runs whether it is the function, and not our code around it.
    """

    seconds: float
    reason: str
    waited: str
    inside: Callable[[FrameType | None], bool]
    tell: Callable[[str], None]

    def over(self, used: Used) -> str:
        """Call ``tell`` and return what was told."""
        reason = self.reason if used.seconds() >= self.seconds else self.waited
        self.tell(reason)
        return reason


def limited(watch: Watch) -> contextlib.AbstractContextManager[None]:
    """Raise Stopped in the body, with the watch's reason, once its seconds are used up."""
    in_main = threading.current_thread() is threading.main_thread()
    return (_by_signal if in_main and hasattr(signal, "setitimer") else _by_thread)(watch)


@contextmanager
def _by_signal(watch: Watch) -> Iterator[None]:
    times, busy, ended, reason, used = 0, False, False, "", Used()

    def stop(_: int, frame: FrameType | None) -> None:
        nonlocal times, busy, reason
        if busy or ended:
            return
        if not times and (left := used.left(watch.seconds)):
            signal.setitimer(signal.ITIMER_REAL, max(left, LOOK_S), AGAIN_S)
            return
        busy, times = True, times + 1
        reason = reason or watch.over(used)
        ours = not watch.inside(frame)
        if ours or times > 1:
            soon = SOON_S * random.random()
            signal.setitimer(signal.ITIMER_REAL, soon + 1e-6, 10 * soon + SOON_S)
        busy = False
        if not ours:
            raise Stopped(reason)

    start = monotonic()
    usual = signal.signal(signal.SIGALRM, stop)
    left, every = signal.setitimer(signal.ITIMER_REAL, watch.seconds, AGAIN_S)
    try:
        yield
    finally:
        ended = True
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, usual)
        if left:  # somebody else's alarm goes on
            signal.setitimer(signal.ITIMER_REAL, max(left - (monotonic() - start), 1e-3), every)


@contextmanager
def _by_thread(watch: Watch) -> Iterator[None]:
    done, watched_thread = threading.Event(), ctypes.c_ulong(threading.get_ident())
    used = Used(threading.get_ident())
    gate = threading.Lock()  # nothing is raised any more once the body has ended

    def wait_and_stop() -> None:
        wait, told = watch.seconds, False
        while not done.wait(wait):
            if not told and (left := used.left(watch.seconds)):
                wait = max(left, LOOK_S)
                continue
            wait = AGAIN_S
            with gate:
                if not done.is_set():
                    told = told or bool(watch.over(used))
                    _raise_in(watched_thread, ctypes.py_object(Stopped))

    watcher = threading.Thread(target=wait_and_stop, name="golf-watchdog", daemon=True)
    try:
        watcher.start()
    except RuntimeError:  # no threads here, as with Python in a browser: nobody watches
        yield
        return
    try:
        yield
    finally:
        with gate:
            done.set()
            _settle(watched_thread)
        watcher.join()


class _Settled(BaseException):
    """Takes the place of what was asked for and not yet raised."""


def _settle(thread: ctypes.c_ulong) -> None:
    """Take back what was asked for in this thread, by an exception of our own that is caught.

    Asking for None would take it back too. But CPython then goes on looking for it before every
    call, and a debugger's trace function never gets past that.
    """
    with contextlib.suppress(_Settled):
        _raise_in(thread, ctypes.py_object(_Settled))
        for _ in range(1_000_000):  # it comes at the end of the first turn
            pass


def _raise_in(thread: ctypes.c_ulong, exception: object) -> None:
    ctypes.pythonapi.PyThreadState_SetAsyncExc(thread, exception)


# Whether a function that did not end has a loop that may be the reason.


def may_loop(function: object) -> bool:
    """Whether ``function``, or one of its own module that it calls, has a loop.

    What is no plain function may have one.
    """
    return not isinstance(function, FunctionType) or any(
        "JUMP_BACKWARD" in step.opname for code in _codes(function) for step in dis.Bytecode(code)
    )


def _codes(function: FunctionType) -> set[CodeType]:
    """The code of ``function``, of what is defined in it and of what it calls in its module."""
    seen: set[CodeType] = set()
    waiting = [function.__code__]
    while waiting:
        codes = nested(waiting.pop()) - seen
        seen |= codes
        called = (function.__globals__.get(name) for code in codes for name in code.co_names)
        waiting += [
            each.__code__
            for each in called
            if isinstance(each, FunctionType) and each.__module__ == function.__module__
        ]
    return seen

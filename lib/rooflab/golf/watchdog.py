"""Stopping a function that never ends, even one that calls nothing.

In the main thread of a POSIX system an interval timer raises Stopped between two bytecodes, and
also ends a sleep. Elsewhere (other threads, Windows) a second thread asks the interpreter to raise
it, which happens between two bytecodes as well. What neither can stop is one long call into C,
such as a product of two huge matrices or ``10**10**9``: it is stopped when that call returns.
The exception comes again every ``AGAIN_S``, and the timer's then at short, irregular times, so
that one of them falls outside the ``try`` of a loop with a bare ``except:``; every further call
that golf sees raises it too. The timer does not interrupt our own code around it. A function that
takes the alarm away (``signal.signal``) is not stopped by it: what means harm belongs in a process
of its own.
"""

from __future__ import annotations

import contextlib
import ctypes
import random
import signal
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from types import FrameType

from rooflab.golf.errors import Stopped
from rooflab.golf.trace import Trace

AGAIN_S = 0.25
SOON_S = 2e-5  # about what a few lines of Python take
_OURS = (str(Path(__file__).parent), str(weakref.__file__))
_CALLS_F = str(Path(__file__).with_name("run.py"))


@dataclass(frozen=True)
class Watch:
    """``seconds`` for a function; when they are over, ``tell(reason)`` is called.

    ``inside`` says of the frame that runs whether it is the function, and not our code around it.
    """

    seconds: float
    reason: str
    inside: Callable[[FrameType | None], bool]
    tell: Callable[[str], None]


def watched(trace: Trace) -> contextlib.AbstractContextManager[None]:
    """Raise Stopped in the body once ``trace.limits.seconds`` are over."""

    def tell(reason: str) -> None:
        trace.stop_reason = reason

    seconds = trace.limits.seconds
    return limited(Watch(seconds, f"{seconds:g} s", _inside_f, tell))


def limited(watch: Watch) -> contextlib.AbstractContextManager[None]:
    """Raise Stopped in the body, with the watch's reason, once its seconds are over."""
    in_main = threading.current_thread() is threading.main_thread()
    return (_by_signal if in_main and hasattr(signal, "setitimer") else _by_thread)(watch)


@contextmanager
def _by_signal(watch: Watch) -> Iterator[None]:
    times, busy, ended = 0, False, False

    def stop(_: int, frame: FrameType | None) -> None:
        nonlocal times, busy
        if busy or ended:
            return
        busy, times = True, times + 1
        watch.tell(watch.reason)
        ours = not watch.inside(frame)
        if ours or times > 1:
            soon = SOON_S * random.random()
            signal.setitimer(signal.ITIMER_REAL, soon + 1e-6, 10 * soon + SOON_S)
        busy = False
        if not ours:
            raise Stopped(watch.reason)

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


def _inside_f(frame: FrameType | None) -> bool:
    """Whether f runs, and not golf's own code or what that calls, such as a weakref's callback."""
    if frame is not None and frame.f_code.co_filename == contextlib.__file__:
        return False  # perhaps on the way into or out of ``watched``
    top = frame
    while frame is not None and not frame.f_code.co_filename.startswith(_OURS):
        frame = frame.f_back
    return frame is not None and frame is not top and frame.f_code.co_filename == _CALLS_F


@contextmanager
def _by_thread(watch: Watch) -> Iterator[None]:
    done, watched_thread = threading.Event(), ctypes.c_ulong(threading.get_ident())
    gate = threading.Lock()  # nothing is raised any more once the body has ended

    def wait_and_stop() -> None:
        wait = watch.seconds
        while not done.wait(wait):
            wait = AGAIN_S
            with gate:
                if not done.is_set():
                    watch.tell(watch.reason)
                    _raise_in(watched_thread, ctypes.py_object(Stopped))

    watcher = threading.Thread(target=wait_and_stop, name="golf-watchdog", daemon=True)
    watcher.start()
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

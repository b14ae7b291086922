"""Stopping a function that never ends, even one that calls nothing.

In the main thread of a POSIX system an interval timer raises Stopped between two bytecodes, and
also ends a sleep. Elsewhere (other threads, Windows) a second thread asks the interpreter to raise
it, which happens between two bytecodes as well. What neither can stop is one long call into C,
such as a product of two huge matrices or ``10**10**9``: it is stopped when that call returns.
The exception comes again every ``AGAIN_S``, so that a bare ``except:`` does not keep it.
"""

from __future__ import annotations

import ctypes
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic

from rooflab.golf.errors import Stopped
from rooflab.golf.trace import Trace

AGAIN_S = 0.25


@contextmanager
def watched(trace: Trace) -> Iterator[None]:
    """Raise Stopped in the body once ``trace.limits.seconds`` are over."""
    in_main = threading.current_thread() is threading.main_thread()
    watch = _by_signal if in_main and hasattr(signal, "setitimer") else _by_thread
    with watch(trace):
        yield


def _reason(trace: Trace) -> str:
    return f"{trace.limits.seconds:g} s"


@contextmanager
def _by_signal(trace: Trace) -> Iterator[None]:
    def stop(*_: object) -> None:
        trace.stop_reason = _reason(trace)
        raise Stopped(trace.stop_reason)

    start = monotonic()
    usual = signal.signal(signal.SIGALRM, stop)
    left, every = signal.setitimer(signal.ITIMER_REAL, trace.limits.seconds, AGAIN_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, usual)
        if left:  # somebody else's alarm goes on
            signal.setitimer(signal.ITIMER_REAL, max(left - (monotonic() - start), 1e-3), every)


@contextmanager
def _by_thread(trace: Trace) -> Iterator[None]:
    done, watched_thread = threading.Event(), ctypes.c_ulong(threading.get_ident())
    gate = threading.Lock()  # nothing is raised any more once the body has ended

    def watch() -> None:
        wait = trace.limits.seconds
        while not done.wait(wait):
            wait = AGAIN_S
            with gate:
                if not done.is_set():
                    trace.stop_reason = _reason(trace)
                    _raise_in(watched_thread, ctypes.py_object(Stopped))

    watcher = threading.Thread(target=watch, name="golf-watchdog", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        with gate:
            done.set()
            _raise_in(watched_thread, None)  # takes back what was asked for and not yet raised
        watcher.join()


def _raise_in(thread: ctypes.c_ulong, exception: object) -> None:
    ctypes.pythonapi.PyThreadState_SetAsyncExc(thread, exception)

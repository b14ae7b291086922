"""A cluster's worker: a workshop of its own, opened for the first job and closed when idle.

A job comes as bytes and its answer goes back as bytes (run.packed, run.unpacked): no folder has
to be shared with the machine that grades. What reads files and judges answers stays over there.
"""

from __future__ import annotations

import threading
from functools import cache
from pathlib import Path

import rooflab
from rooflab.grade import given, sandbox
from rooflab.grade.journal import code_digest
from rooflab.grade.limits import Limits
from rooflab.grade.pipeline import prove
from rooflab.grade.run import Workshop

IDLE = 600.0  # seconds without a job after which a workshop is closed
_ONE = threading.Lock()  # a worker's threads must not make two places of one kind


class Place:
    """Where a worker runs submissions; its threads use it at the same time."""

    def __init__(self, unsafe: bool, hidden: tuple[str, ...]) -> None:
        self._unsafe, self._hidden = unsafe, hidden
        self._lock = threading.Lock()
        self._shop: Workshop | None = None
        self._busy = 0
        self._timer: threading.Timer | None = None

    def ask(self, job: bytes, seconds: float) -> bytes:
        """Run one job; b"" when what ran it was killed.

        Raises NoSandbox, or RuntimeError when a known right answer does not pass here.
        """
        with self._lock:
            self._forget_timer()
            self._shop = self._shop or self._opened()
            self._busy += 1
            shop = self._shop
        try:
            return shop.ask(job, seconds)
        finally:
            with self._lock:
                self._busy -= 1
                self._timer = threading.Timer(IDLE, self.rest)
                self._timer.daemon = True
                self._timer.start()

    def rest(self) -> None:
        """Close the workshop, unless somebody is using it; the next job opens another one."""
        with self._lock:
            if self._busy == 0 and self._shop is not None:
                self._forget_timer()
                self._shop.close()
                self._shop = None

    def _forget_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def _opened(self) -> Workshop:
        hidden = [given.folder(), *map(Path, self._hidden)]
        shop = Workshop(unsafe=self._unsafe, hidden=hidden)
        try:
            prove(shop.run, Limits())
        except BaseException:
            shop.close()
            raise
        return shop


def answer(job: bytes, seconds: float, unsafe: bool, hidden: tuple[str, ...]) -> bytes:
    """Run one job in this worker's place; see :meth:`Place.ask`."""
    return _place(unsafe, hidden).ask(job, seconds)


def rest(unsafe: bool, hidden: tuple[str, ...]) -> None:
    """Close this worker's place if nobody is using it."""
    _place(unsafe, hidden).rest()


def about() -> dict[str, str | None]:
    """Return what the grader must know of a worker: version, digest, what the sandbox lacks."""
    return {"version": rooflab.__version__, "code": code_digest(), "missing": sandbox.missing()}


def _place(unsafe: bool, hidden: tuple[str, ...]) -> Place:
    with _ONE:
        return _made(unsafe, hidden)


@cache
def _made(unsafe: bool, hidden: tuple[str, ...]) -> Place:
    return Place(unsafe, hidden)

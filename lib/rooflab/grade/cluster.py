"""Run submissions on the workers of a dask.distributed cluster: ``rooflab grade --scheduler``.

Only running moves there. Files are read, cases drawn, answers judged and rows kept on the machine
that grades, so a cluster gives the same results.json as one machine, and resumes the same way.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.metadata
import logging
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import rooflab
from rooflab.grade import launch, lesson_notebook
from rooflab.grade.inside.limits import Limits
from rooflab.grade.launch import GRACE, NotebookRunner, packed, read_outcome
from rooflab.grade.locked_notebook import Locked, Outcome
from rooflab.grade.pipeline import NoRunner, code_digest, prove

# A worker of the cluster has a NotebookRunner of its own. A job comes as bytes and its answer goes
# back as bytes, so the workers need share no folder with the machine that grades.


IDLE = 600.0  # seconds without a job after which a runner is closed


class Place:
    """Where a worker runs submissions; its threads use it at the same time."""

    def __init__(self, unsafe: bool, hidden: tuple[str, ...]) -> None:
        self._unsafe, self._hidden = unsafe, hidden
        self._lock = threading.Lock()
        self._runner: NotebookRunner | None = None
        self._busy = 0
        self._timer: threading.Timer | None = None

    def ask(self, job: bytes, seconds: float) -> bytes:
        """Run one job; b"" when what ran it was killed.

        Raises NoSandbox, or RuntimeError when a known right answer does not pass here.
        """
        with self._lock:
            self._forget_timer()
            self._runner = self._runner or self._opened()
            self._busy += 1
            runner = self._runner
        try:
            return runner.ask(job, seconds)
        finally:
            with self._lock:
                self._busy -= 1
                self._timer = threading.Timer(IDLE, self.rest)
                self._timer.daemon = True
                self._timer.start()

    def rest(self) -> None:
        """Close the runner, unless somebody is using it; the next job opens another one."""
        with self._lock:
            if self._busy == 0 and self._runner is not None:
                self._forget_timer()
                self._runner.close()
                self._runner = None

    def _forget_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def _opened(self) -> NotebookRunner:
        hidden = [lesson_notebook.folder(), *map(Path, self._hidden)]
        runner = NotebookRunner(unsafe=self._unsafe, hidden=hidden)
        try:
            prove(runner.run, Limits())
        except BaseException:
            runner.close()
            raise
        return runner


def answer(job: bytes, seconds: float, unsafe: bool, hidden: tuple[str, ...]) -> bytes:
    """Run one job in this worker's place; see :meth:`Place.ask`."""
    return _place(unsafe, hidden).ask(job, seconds)


def rest(unsafe: bool, hidden: tuple[str, ...]) -> None:
    """Close this worker's place if nobody is using it."""
    _place(unsafe, hidden).rest()


def about() -> dict[str, str | None]:
    """Return what the grader must know of a worker: version, digest, what the sandbox lacks."""
    return {"version": rooflab.__version__, "code": code_digest(), "missing": launch.missing()}


_PLACES: dict[tuple[bool, tuple[str, ...]], Place] = {}


def _place(unsafe: bool, hidden: tuple[str, ...]) -> Place:
    """Return this worker's place, the same one to all of its threads."""
    return _PLACES.setdefault((unsafe, hidden), Place(unsafe, hidden))


MOST_SENT = 128  # submissions that wait at the scheduler or run, unless told otherwise
CONNECT = 10.0  # seconds for the scheduler to answer
JOIN = 60.0  # seconds for a first worker to be there
LOOK = 5.0  # seconds between two looks at whether anybody still works
PATIENCE = 300.0  # seconds without any worker after which grading ends


@contextmanager
def cluster(
    address: str, *, unsafe: bool = False, hidden: Iterable[Path] = ()
) -> Iterator[Cluster]:
    """Connect to the scheduler at ``address``; what comes back runs locked notebooks (``run``).

    ``unsafe``, ``hidden``: as for a NotebookRunner; a hidden folder is hidden on each worker that
    has it.
    Raises RuntimeError with one line when dask.distributed is missing, no scheduler answers, no
    worker is there, or one of them cannot grade: without rooflab, with another version of it, or
    without a sandbox.
    """
    try:
        dask = importlib.import_module("distributed")
    except ImportError:
        raise RuntimeError(
            "--scheduler needs dask.distributed; install it here and on the workers: "
            "pip install distributed"
        ) from None
    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # told here, in one line
    client = _connected(dask, address)
    folders = tuple(sorted(str(Path(path).absolute()) for path in hidden))
    try:
        _check_workers(client, address, unsafe)
        yield Cluster(client, dask, address, unsafe, folders)
        with contextlib.suppress(Exception):  # they close by themselves when idle for long
            client.run(rest, unsafe, folders, on_error="ignore")
    finally:
        with contextlib.suppress(Exception):
            client.close(timeout=2)


@dataclass
class Cluster:
    """A connected cluster. ``run`` may be called from several threads at once."""

    client: Any
    dask: ModuleType
    address: str
    unsafe: bool
    hidden: tuple[str, ...]
    _looked: float = field(default_factory=time.monotonic)
    _seen: float = field(default_factory=time.monotonic)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def run(self, locked: Locked, limits: Limits) -> Outcome:
        """Run one locked notebook on some worker; on another one if that worker dies.

        After too many workers that die its outcome is LOST, as by a NotebookRunner. Raises
        NoRunner when scheduler or workers are gone, or a worker cannot grade.
        """
        try:
            future = self.client.submit(
                answer, packed(locked, limits), limits.wall + GRACE, self.unsafe,
                self.hidden, pure=False,
            )  # fmt: skip
            return read_outcome(self._answer(future), locked.cases)
        except self.dask.CancelledError:
            raise self._gone("no longer knows what it was asked") from None
        except OSError as error:
            raise self._gone(f"does not answer any more ({error})") from None

    def _answer(self, future: Any) -> bytes:
        while True:
            try:
                error = future.exception(timeout=LOOK)
                if error is None:
                    return future.result(timeout=LOOK)
            except TimeoutError:
                self._look()
                continue
            if isinstance(error, self.dask.KilledWorker):
                return b""
            raise NoRunner(f"a worker of {self.address!r} cannot grade: {error}")

    def _look(self) -> None:
        """Raise NoRunner when there has been no worker for too long."""
        with self._lock:
            now = time.monotonic()
            if now - self._looked < LOOK:
                return
            self._looked = now
            if self.client.status != "running":
                raise self._gone("does not answer any more")
            if self.client.nthreads():
                self._seen = now
            elif now - self._seen > PATIENCE:
                raise self._gone(f"has had no worker for {PATIENCE:g} s")

    def _gone(self, what: str) -> NoRunner:
        return NoRunner(f"the scheduler at {self.address!r} {what}")


def _connected(dask: ModuleType, address: str) -> Any:
    try:
        return dask.Client(address, timeout=CONNECT, set_as_default=False, name="rooflab-grade")
    except (OSError, ValueError, TypeError, RuntimeError) as error:
        told = " ".join(str(error).split()) or type(error).__name__
        raise RuntimeError(
            f"--scheduler={address!r}: no scheduler answers there ({told}); start one with "
            "`dask scheduler`, and give the address that it prints, such as tcp://host:8786"
        ) from None


def _check_workers(client: Any, address: str, unsafe: bool) -> None:
    """Wait for a first worker, then refuse if any of them cannot grade."""
    try:
        client.wait_for_workers(1, timeout=JOIN)
    except TimeoutError:
        raise RuntimeError(
            f"--scheduler={address!r}: no worker joined it in {JOIN:g} s; start some with "
            f"`dask worker {address}`"
        ) from None
    # First something that any Python can do: where rooflab is missing, its functions are too.
    found = client.run(importlib.metadata.version, "rooflab", on_error="return")
    _refuse_if(found, lambda seen: "has no rooflab" if isinstance(seen, Exception) else None)
    found = client.run(about, on_error="return")
    _refuse_if(found, lambda seen: _problem(seen, unsafe))


def _refuse_if(found: Mapping[str, Any], problem: Callable[[Any], str | None]) -> None:
    bad = {worker: told for worker, seen in sorted(found.items()) if (told := problem(seen))}
    if bad:
        worker, told = next(iter(bad.items()))
        more = f" ({len(bad)} of {len(found)} workers cannot grade)" if len(found) > 1 else ""
        if "rooflab" in told:
            told += f"; install rooflab {rooflab.__version__} there, the same as here"
        raise RuntimeError(f"worker {worker}: {told}{more}")


def _problem(seen: Mapping[str, Any] | Exception, unsafe: bool) -> str | None:
    if isinstance(seen, Exception):
        return f"cannot load rooflab ({' '.join(str(seen).split())})"
    if seen["version"] != rooflab.__version__:
        return f"has rooflab {seen['version']}"
    if seen["code"] != code_digest():
        return f"has other files in its rooflab {seen['version']}"
    return None if unsafe else seen["missing"]

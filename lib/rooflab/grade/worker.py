"""The runner's process: loaded once, it forks a supervisor and a worker for every submission.

``python -m rooflab.grade.worker CONTROL_FD SETTING``. A request is one packet on the control
socket; it carries a stream socket. The job comes on that one as JSON, and the answer goes back on
it. The supervisor keeps time and kills. The worker, its child, runs pytest and nbval. Each of them
kills its descendants before it ends, so that no process is left.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import gc
import json
import os
import select
import shutil
import signal
import socket
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NoReturn

import nbval.plugin
import pytest

from rooflab.grade.display_names import COLOUR
from rooflab.grade.inside import limits as process_tree
from rooflab.grade.inside import namespaces
from rooflab.grade.inside.limits import Limits
from rooflab.grade.inside.protocol import settled
from rooflab.grade.kernel_client import WatchedKernel, kernel_spec
from rooflab.grade.launch import Child, NoSandbox, Setting, start_fork_server
from rooflab.grade.locked_notebook import (
    ANSWER,
    CHECK,
    ENDED,
    FOLLOW,
    LOST,
    OWN,
    lock_source,
    parsed,
    result_lines,
)
from rooflab.labs.golf.watchdog import by_the_clock

# The worker: it runs one locked notebook by pytest and nbval, and turns what the check cells print
# into events. An event is plain data: ``{"id": …, "observations": [...]}``, ``{"id": …, "reason":
# …}``, ``{"id": …, "printed": …}`` or ``{"stopped": why}``.
#
# A cell may end the kernel, by a crash or on purpose. The notebook then goes on in a new kernel, in
# the time that is left. The earlier cells are first run again there, without those that ended a
# kernel or took too long. Nothing is checked a second time.


_NOT_NEEDED = ("cacheprovider", "unraisableexception", "threadexception", "faulthandler", "doctest",
               "junitxml", "pastebin", "stepwise", "logging", "warnings")  # fmt: skip
STOPPED = "it took too long and was stopped"
UNLOCK = lock_source(())
LONGEST_SHOWN = 4000  # characters of an answer cell's output that the learner sees again
LAST_SHOWN = 1000  # of these, from the end, where the error is
SHARES = 2  # half of a submission's time is kept for the exercises that are still to come
Event = Mapping[str, Any]


class Reporter:
    """A pytest plugin that reads the result line of every check cell as soon as it has run.

    ``start`` gives a new kernel, which stops at the time ``end``. Cells: ``ran``, those so far;
    ``shut``, the sources of those that ended a kernel; ``slow``, the sources of those that took
    too long. Exercises: ``settled``, those whose answer was checked and raised nothing; ``ended``,
    those that ended a kernel; ``closed``, those that are not checked any more.
    """

    def __init__(
        self, words: Mapping[str, str], limits: Limits, tell: Callable[[Event], None],
        start: Callable[[float], WatchedKernel],
    ) -> None:  # fmt: skip
        self.words, self.limits, self.tell = words, limits, tell
        self.left, self.end = {*words}, time.monotonic() + limits.wall
        self._start, self.restarts, self.ran = start, 0, list[Any]()
        self.shut, self.slow = set[str](), set[str]()
        self.settled, self.ended, self.closed = set[str](), set[str](), set[str]()

    def start(self, *_: object, **__: object) -> WatchedKernel:
        """Start a kernel, as nbval does; tell when there is none to be had."""
        try:
            return self._start(self.end)
        except Exception as error:
            self.tell({"stopped": f"no kernel: {error}"})
            raise

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: Any) -> Any:
        """Run the cell; tell what came of it, however it ended."""
        item.output_timeout = min(item.output_timeout, self.limits.cell)
        role, exercise = _about(item)
        with contextlib.suppress(Exception):  # without a kernel the cell fails, and says so
            self._go_on(item)
        asked = role == CHECK and self._asked(item)
        if role == CHECK and not asked:
            item.cell.source = UNLOCK
        elif item.cell.source in self.shut and _number(item) != FOLLOW:
            item.cell.source = "pass"
        gone = item.parent.kernel.why
        self._prepare(item)
        try:
            return (yield)
        finally:
            if role == ANSWER or asked:
                self._told(item, gone)
            if role == CHECK:
                self.left.discard(exercise)
                item.cell.source = UNLOCK
            self._ended(item, gone)
            self.ran.append(item)

    def _asked(self, item: Any) -> bool:
        """Whether a check is run.

        Of a closed exercise only one is: the check with right answers in place of the other
        exercises' answers, because one of those may have ended the kernel.
        """
        exercise = _about(item)[1]
        return exercise not in self.closed or (_number(item) == FOLLOW and self.ended != {exercise})

    def _prepare(self, item: Any) -> None:
        longest = self._seconds(by_the_clock(self.limits.cell))
        item.config.option.nbval_cell_timeout = min(self.limits.cell, longest)
        item.parent.kernel.longest = longest
        item.parent.timed_out = False

    def _go_on(self, item: Any) -> None:
        """Where the kernel has ended, start a new one and bring it to where the last one was."""
        if not item.parent.kernel.is_alive():
            item.parent.kernel.stop()  # it says why
        while item.parent.kernel.why and self._may_go_on():
            self.restarts += 1
            self.closed |= self.settled
            kernel = item.parent.kernel = self.start()
            for earlier in self.ran:
                if earlier.cell.source in self.shut | self.slow or kernel.why:
                    continue
                self._prepare(earlier)
                with contextlib.suppress(Exception):
                    earlier.runtest()
                self._ended(earlier)

    def _may_go_on(self) -> bool:
        return time.monotonic() < self.end and self.restarts < len(self.words)

    def _ended(self, item: Any, gone: str | None = None) -> None:
        """Remember a cell that took too long or ended the kernel; the latter costs its exercise.

        ``gone``: why there was no kernel before the cell, if there was none.
        """
        kernel, (role, exercise) = item.parent.kernel, _about(item)
        if role in (ANSWER, OWN) and (kernel.why or item.parent.timed_out):
            (self.shut if kernel.why else self.slow).add(item.cell.source)
        if kernel.why and not gone and exercise not in self.closed | {None}:
            self.closed.add(exercise)
            self.ended.add(exercise)
            self.tell({"id": exercise, "reason": self._how(kernel.why)})
        if kernel.why and not self._may_go_on():
            self.tell({"stopped": kernel.why})

    def _how(self, why: str) -> str:
        """Say that a cell ended the kernel, unless the submission's time was over."""
        return ENDED.format(why) if time.monotonic() < self.end else why

    def _seconds(self, most: float) -> float:
        """Seconds by the clock that a cell may take, ``most`` of them if there is time.

        A share stays for each exercise that is not checked yet. An answer that does not end then
        costs its own points, and no others.
        """
        share = self.limits.wall / SHARES / max(1, len(self.words))
        left = self.end - time.monotonic() - share * max(0, len(self.left) - 1)
        return max(min(most, left), min(share, most))

    def _told(self, item: Any, gone: str | None) -> None:
        role, exercise = _about(item)
        outputs = item.test_outputs if isinstance(item.test_outputs, list) else []
        if role == ANSWER:
            self.tell({"id": exercise, "printed": shown(outputs)})
            return
        number = _number(item)
        text = "".join(
            each.text for each in outputs
            if each.get("output_type") == "stream" and isinstance(each.get("text"), str)
        )  # fmt: skip
        found = result_lines(text, self.words[exercise], exercise)
        if len(found) == 1 and (seen := parsed(found[0])) is not None:
            self.tell({"id": exercise, "observations": seen, "try": number})
            self.settled |= {exercise} if settled(seen) else set()
        elif not number:
            self.tell({"id": exercise, "reason": gone or self._why(item, found)})

    def _why(self, item: Any, found: Sequence[str]) -> str:
        kernel = item.parent.kernel
        if kernel is not None and kernel.why:
            return self._how(kernel.why)
        if len(found) > 1:
            return "the answer printed a result line of its own"
        if found:
            return "what came back cannot be read"
        if kernel is not None and kernel.flooded:
            return f"it printed more than {self.limits.shown >> 10} KiB"
        if item.parent.timed_out:
            return STOPPED
        return "no result came back"


def _about(item: Any) -> tuple[str | None, str | None]:
    """The part of a cell, and the exercise that it answers or checks."""
    about = item.cell.metadata.get("rooflab") or {}
    return about.get("role"), about.get("exercise")


def _number(item: Any) -> int:
    """The number of the try that a cell belongs to."""
    return (item.cell.metadata.get("rooflab") or {}).get("try", 0)


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
    socket of a fork server, or -1 to start one, and the setting.
    """
    spec = kernel_spec(kernel[0], str(path.parent), kernel[1], limits)
    reporter = Reporter(words, limits, tell, functools.partial(WatchedKernel, spec, limits))
    nbval.plugin.RunningKernel = reporter.start
    nbval.plugin.comment_markers = {}  # "# NBVAL_SKIP" in an answer is a remark like any other
    pytest.main(
        [*(f"-pno:{name}" for name in _NOT_NEEDED), "--nbval", "--nbval-kernel-name", "sandbox",
         "--nbval-cell-timeout", str(limits.cell),
         "-p", "nbval.plugin", "-c", "/dev/null", "--color=no", "-q",
         "--rootdir", str(path.parent), "--confcutdir", str(path.parent), "--noconftest",
         "--tb=no", str(path)],
        plugins=[reporter],
    )  # fmt: skip


LATE = 10.0  # seconds beyond the wall limit after which the supervisor kills
WORKER_MEMORY = 3 << 30
MOST_SAID = 64 << 20


def main(arguments: list[str]) -> None:
    """Start the fork server, then serve requests until the control socket is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    control = socket.socket(fileno=int(arguments[0]))
    setting = Setting(**json.loads(arguments[1]))
    for theirs in ("PYTEST_ADDOPTS", "PYTEST_PLUGINS"):  # meant for other tests than ours
        os.environ.pop(theirs, None)
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    folder = Path(tempfile.mkdtemp(prefix="", dir=Path.cwd()))  # in the runner's own
    over = False
    try:
        fork_server = _shared_fork_server(setting, folder)
        setting = dataclasses.replace(setting, nested=fork_server is not None)
        control.send(json.dumps({"nested": setting.nested}).encode())
        gc.collect()
        gc.freeze()
        serve(control, setting, fork_server, folder)
        over = True  # the grader is done, or was killed; nobody needs the runner's folder
    except NoSandbox as error:
        control.send(json.dumps({"error": str(error)}).encode())
    finally:
        process_tree.kill_below(os.getpid())
        shutil.rmtree(folder.parent if over else folder, ignore_errors=True)


def _shared_fork_server(setting: Setting, folder: Path) -> Child | None:
    """The fork server that all submissions share, where nested namespaces are allowed.

    None elsewhere: each submission then gets a fork server of its own.
    """
    if setting.unsafe or not setting.nested:
        return None
    try:
        return start_fork_server(setting, folder)
    except NoSandbox as error:
        if "refused" in str(error):
            return None
        raise


def serve(
    control: socket.socket, setting: Setting, fork_server: Child | None, folder: Path
) -> None:
    """Fork a supervisor for every request; each gets a folder of its own in ``folder``."""
    while True:
        data, descriptors, _, _ = socket.recv_fds(control, 64, 1)
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        if not data:
            return
        if os.fork() == 0:
            control.close()
            own = Path(tempfile.mkdtemp(prefix="", dir=folder))
            supervise(Connection(descriptors[0]), setting, fork_server, own)
        os.close(descriptors[0])


def supervise(
    client: Connection, setting: Setting, fork_server: Child | None, folder: Path
) -> NoReturn:
    """Run one job in a worker below; answer with its events and why it was killed, if so."""
    killed, said = "the job did not arrive", b""
    try:
        namespaces.die_with_parent()
        namespaces.adopt_orphans()
        job = json.loads(client.recv_bytes())
        limits = Limits(**job["limits"])
        reading, writing = os.pipe()
        worker = os.fork()
        if worker == 0:
            client.close()
            os.close(reading)
            work(job, folder, limits, setting, fork_server, writing)
        os.close(writing)
        said, killed = _listen(reading, client, limits.wall + LATE)
        if killed is None and os.waitpid(worker, 0)[1] != 0:
            killed = LOST  # it did not come to its end: short of memory, for instance
    finally:
        process_tree.kill_below(os.getpid())
        shutil.rmtree(folder, ignore_errors=True)
        with contextlib.suppress(OSError):
            head = json.dumps({"killed": killed, "size": len(said)})
            client.send_bytes(head.encode() + b"\n" + said)
        os._exit(0)


def _listen(reading: int, client: Connection, seconds: float) -> tuple[bytes, str | None]:
    """Collect what the worker says until it ends, time is over, or nobody waits any more."""
    said, until = b"", time.monotonic() + seconds
    while len(said) < MOST_SAID:
        left = until - time.monotonic()
        if left <= 0:
            return said, f"stopped after {seconds:g} s"
        ready = select.select([reading, client], [], [], left)[0]
        if client in ready:  # nothing comes behind a job
            return said, "nobody waits for it"
        if reading in ready:
            part = os.read(reading, 1 << 20)
            if not part:
                return said, None
            said += part
    return said, "it said too much"


def work(
    job: dict[str, Any], folder: Path, limits: Limits, setting: Setting,
    fork_server: Child | None, writing: int,
) -> NoReturn:  # fmt: skip
    """The worker: pytest with nbval, outside; its kernel inside the sandbox."""
    code = 1
    try:
        import resource  # not at the top: Windows has none, and must read this module all the same

        namespaces.die_with_parent()
        memory = WORKER_MEMORY + limits.memory  # a fork server below it needs that much too
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
        null = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2):
            os.dup2(null, descriptor)
        os.chdir(folder)
        path = folder / "locked.ipynb"
        path.write_text(job["notebook"], encoding="utf-8")
        out = os.fdopen(writing, "w", encoding="ascii", buffering=1)
        kernel = (fork_server.control.fileno() if fork_server else -1, setting)
        tell = functools.partial(print, file=out, flush=True)
        run_notebook(path, job["words"], limits, kernel, lambda event: tell(json.dumps(event)))
        code = 0
    finally:
        os._exit(code)


if __name__ == "__main__":
    main(sys.argv[1:])

"""The fork server in the sandbox: it forks a loaded kernel for each submission and watches it.

bubblewrap starts it before any learner's code is there:
``python -m rooflab.grade.inside.fork_server``. It has two modes:

- "nested": it serves many submissions, also several at once. Each gets namespaces, empty folders
  and a process table of its own, so it sees neither the fork server nor another submission.
- "single": it serves one submission and ends. This is for systems that refuse nested namespaces,
  and for grading without a sandbox.

A request is one packet on the control socket. It holds "connection" and "limits" as JSON, and the
descriptors of the kernel's four listening sockets and of the submission's lifeline. The lifeline
is a socket, on which the fork server says how the submission ended, and answers every packet with
the processor time that the submission has used. When the other side closes the lifeline, the fork
server kills everything that belongs to the submission.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import selectors
import signal
import socket
import sys
from dataclasses import dataclass

from rooflab.grade.inside import limits as process_tree
from rooflab.grade.inside import namespaces
from rooflab.grade.inside.limits import Limits
from rooflab.grade.inside.namespaces import run_submission

WATCH = 0.05  # seconds between two looks at the processes
PACKET = 1 << 16
_NEEDED = (
    "unicodedata", "stack_data", "pygments.formatters.terminal256", "tornado.platform.asyncio",
    "IPython.core.completerlib", "IPython.core.debugger", "IPython.core.oinspect",
    "IPython.extensions.storemagic", "rooflab.measure.this_machine",
    "rooflab.exercises.observe.golf", "rooflab.exercises.observe.schedule",
    "rooflab.exercises.observe.timing",
    "rooflab.grade.inside.kernel",
)  # fmt: skip
OWN = 256 << 20  # bytes that a kernel has before any answer runs, generously


@dataclass
class Submission:
    """One submission: the root of its process tree, its lifeline and its limits."""

    root: int
    lifeline: socket.socket
    limits: Limits
    why: str | None = None

    def exceeded(self, used: process_tree.Used) -> str | None:
        """Say which limit is exceeded, if one is.

        Linux itself refuses a thread beyond the limit, in the cell that asks for it. Threads are
        counted here for systems where it does not (namespaces.py). Processes are checked first: a
        fork bomb may also use up the memory, and should be told the same thing in every run.
        """
        if used.processes > self.limits.processes:
            return f"it started too many processes (at most {self.limits.processes} are allowed)"
        if used.threads > 2 * self.limits.threads:
            return f"it started too many threads (at most {self.limits.threads} are allowed)"
        if used.memory > self.limits.memory + OWN:
            return f"it used more than {self.limits.memory >> 20} MiB of memory"
        return None


class ForkServer:
    """The loop of the fork server. ``nested``: each submission gets namespaces of its own."""

    def __init__(self, control: socket.socket, nested: bool) -> None:
        self.control, self.nested = control, nested
        self.submissions: dict[int, Submission] = {}
        self.waiting = selectors.DefaultSelector()
        self.waiting.register(control, selectors.EVENT_READ)

    def run(self) -> None:
        """Serve until the control socket is closed; in single mode, until one submission ends."""
        served = False
        while self.control.fileno() >= 0 or self.submissions:
            for key, _ in self.waiting.select(WATCH if self.submissions else None):
                if key.fileobj is self.control:
                    served = self._request() or served
                else:
                    self._answer(key.data)
            self._reap()
            self._enforce_limits()
            if served and not self.nested and not self.submissions:
                break
        process_tree.kill_below(os.getpid())

    def _request(self) -> bool:
        """Fork for a new submission; False where the control socket was closed instead."""
        data, descriptors, _, _ = socket.recv_fds(self.control, PACKET, 8)
        if not data:
            self.waiting.unregister(self.control)
            self.control.close()
            for submission in self.submissions.values():
                self._kill(submission)
            return False
        *listening, lifeline_fd = descriptors
        request = json.loads(data)
        limits = Limits(**request["limits"])
        root = os.fork()
        if root == 0:
            run_submission(request["connection"], listening, limits, self.nested)
        for descriptor in listening:
            os.close(descriptor)
        lifeline = socket.socket(fileno=lifeline_fd)
        submission = self.submissions[root] = Submission(root, lifeline, limits)
        self.waiting.register(lifeline, selectors.EVENT_READ, submission)
        return True

    def _top(self, submission: Submission) -> int:
        """The process below which all of ``submission`` runs.

        In single mode, orphans become children of the fork server itself.
        """
        return submission.root if self.nested else os.getpid()

    def _answer(self, submission: Submission) -> None:
        """Say what a submission has used; kill it where nobody asks any more."""
        if not submission.lifeline.recv(PACKET):
            self._kill(submission)
            return
        used = process_tree.used(process_tree.processes(), self._top(submission))
        with contextlib.suppress(OSError):  # nobody waits for it any more
            submission.lifeline.send(json.dumps({"seconds": used.seconds}).encode())

    def _kill(self, submission: Submission) -> None:
        """Kill every process of a submission; :meth:`_reap` then finds its root ended."""
        process_tree.kill_below(self._top(submission))
        process_tree.kill(submission.root)

    def _reap(self) -> None:
        """Reap the processes that have ended; a submission ends with its root."""
        while self.submissions or not self.nested:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            if pid in self.submissions:
                self._ended(self.submissions.pop(pid), os.waitstatus_to_exitcode(status))

    def _enforce_limits(self) -> None:
        """Kill the submissions that use more than they may."""
        if not self.submissions:
            return
        table = process_tree.processes()
        for submission in self.submissions.values():
            used = process_tree.used(table, self._top(submission))
            submission.why = submission.why or submission.exceeded(used)
            if submission.why:
                self._kill(submission)

    def _ended(self, submission: Submission, code: int) -> None:
        """Say on the lifeline how a submission ended."""
        if not self.nested:
            process_tree.kill_below(os.getpid())
        self.waiting.unregister(submission.lifeline)
        with contextlib.suppress(OSError):  # nobody waits for it any more
            submission.lifeline.send(json.dumps({"why": submission.why, "code": code}).encode())
        submission.lifeline.close()


def preload() -> None:
    """Import what every submission needs, so that a fork has it already."""
    sys.modules["debugpy"] = None  # type: ignore[assignment]  # half a second, for nothing
    for name in _NEEDED:
        importlib.import_module(name)
    gc.collect()
    gc.freeze()  # a collection in a child does not copy the shared pages


def main(arguments: list[str]) -> None:
    """``fork_server.py CONTROL_FD nested|single``"""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    namespaces.adopt_orphans()
    namespaces.unreadable()
    control = socket.socket(fileno=int(arguments[0]))
    preload()
    nested = arguments[1] == "nested"
    if nested and not can_nest():
        sys.exit("nested namespaces are refused")
    control.send(b"ready")
    ForkServer(control, nested).run()


def can_nest() -> bool:
    """Try whether nested namespaces can be had here, in a child that ends right away."""
    child = os.fork()
    if child == 0:
        code = 1
        with contextlib.suppress(BaseException):
            namespaces.unshare()
            if first := os.fork():
                code = os.waitstatus_to_exitcode(os.waitpid(first, 0)[1])
            else:
                namespaces.mount_folders(PACKET)
                namespaces.drop_rights()
                code = 0
        os._exit(code)
    return os.waitpid(child, 0)[1] == 0


if __name__ == "__main__":
    main(sys.argv[1:])

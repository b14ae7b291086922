"""The keeper inside the sandbox: forks a preloaded kernel for each submission and watches over it.

Started by bubblewrap before any learner's code is there (``python -m rooflab.grade.inside.fork_server``). In
"nest" mode it serves one submission after the other, or several at once; each gets namespaces,
empty folders and a process table of its own, so it sees neither the keeper nor a neighbour. In
"single" mode (nested namespaces refused, or no sandbox at all) it serves one and ends.

A request is one packet on the control socket: JSON with "connection" and "limits", and the
descriptors of the four listening sockets and of the submission's life line. The life line says
how it ended; when the other side closes it, the submission is over and everything of it is killed.
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

from rooflab.grade.inside import limits as tree
from rooflab.grade.inside import namespaces
from rooflab.grade.inside.limits import Limits
from rooflab.grade.inside.namespaces import give_birth

WATCH = 0.05  # seconds between two looks at the processes
PACKET = 1 << 16
_NEEDED = (
    "unicodedata", "stack_data", "pygments.formatters.terminal256", "tornado.platform.asyncio",
    "IPython.core.completerlib", "IPython.core.debugger", "IPython.core.oinspect",
    "IPython.extensions.storemagic", "rooflab.measure.this_machine", "rooflab.exercises.observe.golf",
    "rooflab.exercises.observe.timing", "rooflab.grade.inside.kernel", "rooflab.grade.inside.kernel",
)  # fmt: skip
OWN = 256 << 20  # bytes that a kernel has before any answer runs, generously


@dataclass
class Ward:
    """One submission: the process at the root of it, its life line and its limits."""

    root: int
    life: socket.socket
    limits: Limits
    why: str | None = None

    def over(self, used: tree.Used) -> str | None:
        """Say which limit is exceeded, if one is.

        The system itself refuses a thread beyond the limit, in the cell that asks for it; here
        threads count only where it does not (namespaces.py). Processes come first: a fork bomb may
        reach the memory before them, and is told the same in every run.
        """
        if used.processes > self.limits.processes:
            return f"it started too many processes (at most {self.limits.processes} are allowed)"
        if used.threads > 2 * self.limits.threads:
            return f"it started too many threads (at most {self.limits.threads} are allowed)"
        if used.memory > self.limits.memory + OWN:
            return f"it used more than {self.limits.memory >> 20} MiB of memory"
        return None


class Keeper:
    """The loop of the keeper. ``nested``: whether every submission gets a nest of its own."""

    def __init__(self, control: socket.socket, nested: bool) -> None:
        self.control, self.nested = control, nested
        self.wards: dict[int, Ward] = {}
        self.waiting = selectors.DefaultSelector()
        self.waiting.register(control, selectors.EVENT_READ)

    def run(self) -> None:
        """Serve until the control socket is closed; in single mode until the one ward is done."""
        served = False
        while self.control.fileno() >= 0 or self.wards:
            for key, _ in self.waiting.select(WATCH if self.wards else None):
                if key.fileobj is self.control:
                    served = self._request() or served
                else:
                    self._end(key.data)
            self._look()
            if served and not self.nested and not self.wards:
                break
        tree.kill_below(os.getpid())

    def _request(self) -> bool:
        data, descriptors, _, _ = socket.recv_fds(self.control, PACKET, 8)
        if not data:
            self.waiting.unregister(self.control)
            self.control.close()
            for ward in self.wards.values():
                self._end(ward)
            return False
        *listening, life_fd = descriptors
        request = json.loads(data)
        limits = Limits(**request["limits"])
        root = os.fork()
        if root == 0:
            give_birth(request["connection"], listening, limits, self.nested)
        for descriptor in listening:
            os.close(descriptor)
        life = socket.socket(fileno=life_fd)
        ward = self.wards[root] = Ward(root, life, limits)
        self.waiting.register(life, selectors.EVENT_READ, ward)
        return True

    def _end(self, ward: Ward) -> None:
        """Kill everything of a submission; :meth:`_look` finds it dead."""
        tree.kill_below(ward.root if self.nested else os.getpid())
        tree.kill(ward.root)

    def _look(self) -> None:
        """Bury who has ended, stop who uses too much."""
        while self.wards or not self.nested:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                break
            if pid == 0:
                break
            if pid in self.wards:
                self._bury(self.wards.pop(pid), os.waitstatus_to_exitcode(status))
        if not self.wards:
            return
        table = tree.processes()
        for ward in self.wards.values():
            used = tree.used(table, ward.root if self.nested else os.getpid())
            ward.why = ward.why or ward.over(used)
            if ward.why:
                self._end(ward)

    def _bury(self, ward: Ward, code: int) -> None:
        if not self.nested:
            tree.kill_below(os.getpid())
        self.waiting.unregister(ward.life)
        with contextlib.suppress(OSError):  # nobody waits for it any more
            ward.life.send(json.dumps({"why": ward.why, "code": code}).encode())
        ward.life.close()


def preload() -> None:
    """Import what every submission needs, so that a fork has it already."""
    sys.modules["debugpy"] = None  # type: ignore[assignment]  # half a second, for nothing
    for name in _NEEDED:
        importlib.import_module(name)
    gc.collect()
    gc.freeze()  # a collection in a child does not copy the shared pages


def main(arguments: list[str]) -> None:
    """``fork_server.py CONTROL_FD nest|single``"""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    namespaces.adopt_orphans()
    namespaces.unreadable()
    control = socket.socket(fileno=int(arguments[0]))
    preload()
    nested = arguments[1] == "nest"
    if nested and not nests():
        sys.exit("nested namespaces are refused")
    control.send(b"ready")
    Keeper(control, nested).run()


def nests() -> bool:
    """Try whether a nest can be made here, in a child that ends right away."""
    child = os.fork()
    if child == 0:
        code = 1
        with contextlib.suppress(BaseException):
            namespaces.unshare()
            if first := os.fork():
                code = os.waitstatus_to_exitcode(os.waitpid(first, 0)[1])
            else:
                namespaces.furnish(PACKET)
                namespaces.drop_rights()
                code = 0
        os._exit(code)
    return os.waitpid(child, 0)[1] == 0


if __name__ == "__main__":
    main(sys.argv[1:])

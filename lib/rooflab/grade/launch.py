"""Run locked notebooks: ``with NotebookRunner() as runner: outcome = runner.run(locked)``.

A runner keeps a loaded process and a loaded sandbox, so that a submission starts in a fraction of
a second. Several threads may call its ``run`` at once.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import site
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import nbformat
from filelock import FileLock, Timeout

import rooflab
from rooflab.grade.inside.limits import ONE_THREAD, Limits
from rooflab.grade.locked_notebook import LOST, Locked, Outcome
from rooflab.grade.sandbox_copy import copy_package

# Scratch folders: short paths, and those that killed graders left behind are removed.


PREFIX = "rooflab-grade-"
LONGEST = 60  # characters of a folder for temporary files: a socket's path may have 107 in all
_LOCK = "lock"


@dataclass(frozen=True)
class Scratch:
    """A folder that is in use for as long as a process holds its ``lock``."""

    path: Path
    lock: FileLock

    def remove(self) -> None:
        """Remove the folder and release the lock."""
        shutil.rmtree(self.path, ignore_errors=True)
        self.lock.release()


def make_scratch() -> Scratch:
    """Make a folder, after removing those that killed graders of the same user left behind."""
    usual = tempfile.gettempdir()
    top = Path(usual if len(usual) <= LONGEST else "/tmp")
    for old in top.glob(f"{PREFIX}*"):
        _remove_if_left(old)
    path = Path(tempfile.mkdtemp(prefix=PREFIX, dir=top))
    lock = _lock_of(path)
    lock.acquire()
    return Scratch(path, lock)


def _remove_if_left(folder: Path) -> None:
    """Remove the folder of a grader that was killed: nobody holds its lock any more."""
    with contextlib.suppress(OSError):  # somebody else is making or removing it right now
        ours = not folder.is_symlink() and folder.stat().st_uid == os.getuid()
        if not ours or not (folder / _LOCK).exists():
            return
        lock = _lock_of(folder)
        with contextlib.suppress(Timeout), lock.acquire(blocking=False):
            shutil.rmtree(folder, ignore_errors=True)


def _lock_of(folder: Path) -> FileLock:
    """Return the lock of a folder; whichever thread ends the sandbox may release it."""
    return FileLock(folder / _LOCK, thread_local=False, fallback_to_soft=False)


# The bubblewrap command line: what the sandbox sees, and whether there is a sandbox at all.


COURSE = "/course"  # where the copy of rooflab is mounted
HOME = "/box"
NOBODY = "65534"
OUTER_SIZE = 1 << 20  # bytes of each outer folder, where nested namespaces have their own
_ENVIRONMENT = {
    "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONNOUSERSITE": "1", "PYTHONSAFEPATH": "1", **ONE_THREAD,
    "MPLBACKEND": "module://matplotlib_inline.backend_inline",
    "PYDEVD_DISABLE_FILE_VALIDATION": "1",
}  # fmt: skip


class NoSandbox(RuntimeError):
    """Learners' code cannot be locked in here; the message says what to install."""


def missing() -> str | None:
    """Return why no sandbox can be had on this machine and what to install, or None."""
    if sys.platform != "linux":
        return (
            f"grading needs bubblewrap, which exists for Linux only (this is {sys.platform}); "
            "grade on a Linux machine, in a virtual machine or in WSL 2"
        )
    if shutil.which("bwrap") is None:
        return (
            "grading needs bubblewrap to lock in what learners hand in; install bubblewrap "
            "(Debian, Ubuntu: apt install bubblewrap; Fedora: dnf install bubblewrap)"
        )
    return _refused()


@cache
def _refused() -> str | None:
    """Try an empty sandbox once; say what the system answers if it refuses."""
    command = ["bwrap", "--unshare-all", "--ro-bind", "/", "/", "--proc", "/proc", "true"]
    try:
        done = subprocess.run(command, capture_output=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"bubblewrap is installed but does not start ({error})"
    if done.returncode == 0:
        return None
    said = done.stderr.decode("utf-8", "replace").strip().splitlines()
    return (
        f"bubblewrap is installed, but this system refuses it ({said[-1] if said else 'no reason'})"
        "; allow unprivileged user namespaces (sysctl kernel.unprivileged_userns_clone=1, or on "
        "Ubuntu 24.04 kernel.apparmor_restrict_unprivileged_userns=0; in Docker "
        "--security-opt seccomp=unconfined --security-opt systempaths=unconfined)"
    )


def command(
    course: Path, inner: Sequence[str], limits: Limits | None = None, hidden: Iterable[Path] = ()
) -> list[str]:
    """Return the command that runs ``inner`` in a new sandbox.

    ``course``: folder of the copy of rooflab. ``limits``: of the one submission that runs right in
    it; None where submissions get nested namespaces. ``hidden``: folders that must not be seen
    even if they lie within what is mounted, such as the submissions.
    """
    size = str(limits.files if limits else OUTER_SIZE)
    words = ["bwrap", "--unshare-all", "--die-with-parent", "--new-session", "--clearenv"]
    words += ["--cap-drop", "ALL", "--uid", NOBODY, "--gid", NOBODY, "--hostname", "sandbox"]
    words += ["--proc", "/proc", "--dev", "/dev"]
    for folder in ("/tmp", HOME, "/dev/shm"):
        words += ["--size", size, "--tmpfs", folder]
    shown = _shown()
    for path in shown:
        link = ["--symlink", os.readlink(path), path] if os.path.islink(path) else []
        words += link or ["--ro-bind", path, path]
    for path in _masked(hidden, shown):
        words += ["--tmpfs", path, "--remount-ro", path]
    words += ["--ro-bind", str(course), COURSE]
    for name, value in inner_environment(COURSE, HOME).items():
        words += ["--setenv", name, value]
    outer = () if limits else ("/tmp", HOME, "/dev/shm")  # nested namespaces mount their own
    for path in ("/dev", "/", *outer):
        words += ["--remount-ro", path]
    return [*words, "--chdir", HOME, "--", *inner]


def inner_environment(course: str, home: str) -> dict[str, str]:
    """Return the whole environment of what runs inside."""
    folders = {"HOME": home, "TMPDIR": home, "IPYTHONDIR": f"{home}/.ipython",
               "MPLCONFIGDIR": f"{home}/.matplotlib", "PYTHONPATH": course}  # fmt: skip
    return {**_ENVIRONMENT, **folders}


def _shown() -> list[str]:
    """Folders and files that Python needs, outer ones first."""
    system = ["/usr", "/lib", "/lib64", "/lib32", "/bin", "/sbin", "/etc/ld.so.cache",
              "/etc/alternatives", "/etc/localtime", "/nix/store"]  # fmt: skip
    packages = [p for p in site.getsitepackages() if os.path.isdir(p)]
    pythons = [sys.prefix, sys.base_prefix, sys.exec_prefix, *packages]
    found: list[str] = []
    for path in [*system, *sorted(pythons, key=len)]:
        inside = any(Path(path).is_relative_to(have) for have in found)
        if os.path.lexists(path) and not inside:
            found.append(path)
    return found


def _masked(hidden: Iterable[Path], shown: Iterable[str]) -> list[str]:
    """Folders within what is shown that are covered with an empty one."""
    here = Path(rooflab.__file__).resolve().parent
    repository = next((p for p in here.parents if (p / "pyproject.toml").is_file()), here)
    found = []
    for path in {here, repository, *(Path(h).resolve() for h in hidden)}:
        within = any(path.is_relative_to(Path(s).resolve()) for s in shown)
        around = any(Path(s).is_relative_to(path) for s in shown)
        if path.is_dir() and within and not around:
            found.append(str(path))
    return sorted(found)


# Start the fork server (fork_server.py) and the process that runs notebooks (worker.py).


PACKET = 1 << 16
HELLO_S = 60.0  # seconds until the fork server must have said hello


@dataclass(frozen=True)
class Setting:
    """How learners' code is locked in.

    ``course``: folder with the copy of rooflab; ``nested``: one fork server serves all
    submissions, each in namespaces of its own; ``unsafe``: no sandbox; ``hidden``: folders that
    must not be seen in the sandbox.
    """

    course: str
    nested: bool = True
    unsafe: bool = False
    hidden: tuple[str, ...] = ()


@dataclass
class Child:
    """A running process of ours and the control socket to send requests to."""

    process: subprocess.Popen[bytes]
    control: socket.socket

    def stop(self) -> None:
        """Close the control socket, and wait until the process and its descendants have ended."""
        self.control.close()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def _child(
    words: Callable[[str], list[str]], seconds: float, **options: Any
) -> tuple[Child, bytes | None]:
    """Start a process; return it with what it says first: b"" if it ends, None if it is silent.

    ``words``: descriptor of its control socket → its command; ``options``: of Popen.
    """
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        process = subprocess.Popen(
            words(str(theirs.fileno())), pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, **options,
        )  # fmt: skip
    ours.settimeout(seconds)
    hello = None
    with contextlib.suppress(OSError):
        hello = ours.recv(PACKET)
    ours.settimeout(None)
    return Child(process, ours), hello


def start_fork_server(setting: Setting, home: Path, limits: Limits | None = None) -> Child:
    """Start a fork server, in bubblewrap or without any protection; wait until it is loaded.

    ``limits``: of the one submission that it serves in single mode; ``home``: an empty folder, the
    learner's where there is no sandbox. Raises NoSandbox when it does not come up.
    """
    mode = "nested" if setting.nested and not setting.unsafe else "single"
    module = "rooflab.grade.inside.fork_server"  # of this Python, whose path holds inside too

    def words(descriptor: str) -> list[str]:
        inner = [sys.executable, "-P", "-s", "-m", module, descriptor, mode]
        course, hidden = Path(setting.course), map(Path, setting.hidden)
        return inner if setting.unsafe else command(course, inner, limits, hidden)

    environment = inner_environment(setting.course, str(home)) if setting.unsafe else None
    server, hello = _child(words, HELLO_S, env=environment, cwd=home, stderr=subprocess.PIPE)
    if hello:
        return server
    server.process.kill()
    said = server.process.communicate()[1].decode("utf-8", "replace").strip().splitlines()
    server.control.close()
    raise NoSandbox(f"the sandbox does not start: {said[-1] if said else 'no reason'}")


def request(
    control: socket.socket, connection: dict[str, object], limits: Limits, sockets: Sequence[int]
) -> None:
    """Ask the fork server for a kernel on the listening ``sockets``, the lifeline last."""
    packet = json.dumps({"connection": connection, "limits": vars(limits)}).encode("utf-8")
    socket.send_fds(control, [packet], list(sockets))


DEFAULT = Limits()
GRACE = 60.0  # seconds beyond the wall limit after which the runner itself counts as dead
LOADED_S = 120.0
LONGEST_TEXT = 500_000  # characters; a golf program of some ten thousand calls has 100 000
MOST_LEVELS = 12
MOST_TRIES = 100  # numbers of tries go no higher


class NotebookRunner(contextlib.AbstractContextManager["NotebookRunner"]):
    """Runs submissions in a sandbox.

    ``unsafe``: without a sandbox; learners' code can then do whatever you can. ``hidden``: folders
    that must not be seen in the sandbox, such as the submissions. ``nested``: try to share one
    sandbox. Raises NoSandbox with what to install where there is none and ``unsafe`` is not set.
    """

    def __init__(
        self, *, unsafe: bool = False, hidden: Iterable[Path] = (), nested: bool = True
    ) -> None:
        if not unsafe and (why := missing()):
            raise NoSandbox(why)
        self._scratch = make_scratch()
        course = copy_package(self._scratch.path / "course")
        paths = tuple(str(Path(path).resolve()) for path in hidden)
        self._setting = Setting(str(course), nested, unsafe, paths)
        self._lock = threading.Lock()
        self._child: Child | None = None
        self._closed = False
        self.nested = False
        try:
            self._started()
        except BaseException:
            self.close()
            raise

    @property
    def process_id(self) -> int:
        """The process below which everything runs."""
        return self._child.process.pid

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the runner's processes and remove its folder; what still runs is lost."""
        with self._lock:  # nobody may start a process again behind our back
            self._closed = True
            self._ended()
        self._scratch.remove()

    def run(self, locked: Locked, limits: Limits = DEFAULT) -> Outcome:
        """Run one locked notebook until it ends or exceeds a limit.

        Never raises for anything that the learner's code does.
        """
        return read_outcome(self.ask(packed(locked, limits), limits.wall + GRACE), locked.cases)

    def ask(self, job: bytes, seconds: float) -> bytes:
        """Return the answer to a ``job``; b"" if the runner's process died or was closed."""
        try:
            answer = self._ask(job, seconds)
        except (OSError, EOFError):
            answer = b""
        child = self._child
        if not answer and child is not None:  # let it be dead before the next one asks
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.process.wait(1)
        return answer

    def _ask(self, job: bytes, seconds: float) -> bytes:
        ours, theirs = socket.socketpair()
        with Connection(ours.detach()) as asked:
            with theirs, self._lock:
                if self._closed:
                    raise EOFError("the runner is closed")
                self._started()
                socket.send_fds(self._child.control, [b"job"], [theirs.fileno()])
            asked.send_bytes(job)
            return asked.recv_bytes() if asked.poll(seconds) else b""

    def _started(self) -> None:
        """Start the runner's process, or start it again if something killed it."""
        if self._child is not None and self._child.process.poll() is None:
            return
        self._ended()
        setting = json.dumps(vars(self._setting))
        self._child, hello = _child(
            lambda control: [sys.executable, "-P", "-m", "rooflab.grade.worker", control, setting],
            LOADED_S, cwd=self._scratch.path, start_new_session=True,
        )  # fmt: skip
        if hello is None:
            raise TimeoutError("the process that runs notebooks says nothing")
        told = json.loads(hello or b'{"error": "the process that runs notebooks does not start"}')
        if "error" in told:
            raise NoSandbox(told["error"])
        self.nested = told["nested"]

    def _ended(self) -> None:
        if self._child is not None:
            self._child.stop()
            self._child = None


def packed(locked: Locked, limits: Limits) -> bytes:
    """Return all that a runner needs in order to run ``locked``, here or on another machine."""
    words = {exercise: locked.word(exercise) for exercise in locked.cases}
    told = {"notebook": nbformat.writes(locked.notebook), "words": words, "limits": vars(limits)}
    return json.dumps(told).encode("utf-8")


def read_outcome(answer: bytes, exercises: Collection[str]) -> Outcome:
    """Return what a runner's ``answer`` says; nothing in it is trusted to be well-formed.

    An answer that was cut off counts as none: what is missing is nobody's mistake.
    """
    head, _, rest = answer.partition(b"\n")
    told = _object(head)
    whole = bool(head) and told.get("size", len(rest)) == len(rest)
    killed, rest = (told.get("killed"), rest) if whole else (LOST, b"")
    observations: dict[str, Any] = {}
    again: dict[str, dict[int, Any]] = {}
    reasons: dict[str, str] = {}
    printed: dict[str, str] = {}
    for line in rest.splitlines():
        event = _object(line)
        exercise = event.get("id")
        if "stopped" in event:
            killed = killed or event["stopped"]
        if exercise not in exercises:
            continue
        if isinstance(event.get("observations"), list):
            seen = [_clean(each, MOST_LEVELS) for each in event["observations"]]
            number = event.get("try", 0)
            if number == 0:
                observations[exercise] = seen
            elif isinstance(number, int) and number <= MOST_TRIES:
                again.setdefault(exercise, {})[number] = seen
        elif "reason" in event:
            reasons[exercise] = _text(event["reason"])
        elif "printed" in event:
            printed[exercise] = _text(event["printed"])
    late = _text(killed) if killed else "the run ended before this exercise"
    reasons = {id: reasons.get(id, late) for id in exercises if id not in observations}
    return Outcome(observations, reasons, printed, _text(killed) if killed else None, again)


def _object(line: bytes) -> Mapping[str, Any]:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _text(value: object) -> str:
    return str(value)[:LONGEST_TEXT].encode("utf-8", "replace").decode("utf-8")


def _clean(value: Any, levels: int) -> Any:
    """Plain data without what cannot be written as UTF-8 JSON again, and not too deep."""
    if levels == 0:
        return None
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, list):
        return [_clean(each, levels - 1) for each in value]
    if isinstance(value, dict):
        return {_text(key): _clean(each, levels - 1) for key, each in value.items()}
    return value

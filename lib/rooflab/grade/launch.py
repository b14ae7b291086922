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
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
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
    command = [_bwrap(), "--unshare-all", "--ro-bind", "/", "/", "--proc", "/proc", "true"]
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
    words = [_bwrap(), "--unshare-all", "--die-with-parent", "--new-session", "--clearenv"]
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


def _bwrap() -> str:
    return shutil.which("bwrap") or "bwrap"


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


# Start the fork server (fork_server.py) from outside: in bubblewrap, or without any protection.


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
class ForkServerProcess:
    """A running fork server: its process and the control socket to send requests to."""

    process: subprocess.Popen[bytes]
    control: socket.socket

    def stop(self) -> None:
        """Close the control socket, and wait until the process and its descendants have ended."""
        self.control.close()
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def start_fork_server(
    setting: Setting, home: Path, limits: Limits | None = None
) -> ForkServerProcess:
    """Start a fork server and wait until it has loaded everything.

    ``limits``: of the one submission that it serves in single mode; ``home``: an empty folder, the
    learner's where there is no sandbox. Raises NoSandbox when it does not come up.
    """
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    mode = "nested" if setting.nested and not setting.unsafe else "single"
    module = "rooflab.grade.inside.fork_server"  # of this Python, whose path holds inside too
    inner = [sys.executable, "-P", "-s", "-m", module, str(theirs.fileno()), mode]
    environment = None
    if setting.unsafe:
        words = inner
        environment = inner_environment(setting.course, str(home))
    else:
        hidden = [Path(path) for path in setting.hidden]
        words = command(Path(setting.course), inner, limits, hidden)
    process = subprocess.Popen(
        words, env=environment, cwd=home, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
    )  # fmt: skip
    theirs.close()
    return _greeted(ForkServerProcess(process, ours))


def _greeted(fork_server: ForkServerProcess) -> ForkServerProcess:
    """Wait for its hello; NoSandbox with what it said instead."""
    fork_server.control.settimeout(HELLO_S)
    try:
        hello = fork_server.control.recv(PACKET)
    except OSError:
        hello = b""
    fork_server.control.settimeout(None)
    if hello:
        return fork_server
    fork_server.process.kill()
    said = fork_server.process.communicate()[1].decode("utf-8", "replace").strip().splitlines()
    fork_server.control.close()
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


class NotebookRunner:
    """Runs submissions in a sandbox; a context manager.

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
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
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
        return self._process.pid

    def __enter__(self) -> NotebookRunner:
        return self

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
        return unpacked(locked, self.ask(packed(locked, limits), limits.wall + GRACE))

    def ask(self, job: bytes, seconds: float) -> bytes:
        """Return the answer to a ``job``; b"" if the runner's process died or was closed."""
        try:
            answer = self._ask(job, seconds)
        except (OSError, EOFError):
            answer = b""
        process = self._process
        if not answer and process is not None:  # let it be dead before the next one asks
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(1)
        return answer

    def _ask(self, job: bytes, seconds: float) -> bytes:
        ours, theirs = socket.socketpair()
        with ours:
            with theirs, self._lock:
                if self._closed:
                    raise EOFError("the runner is closed")
                self._started()
                socket.send_fds(self._control, [b"job"], [theirs.fileno()])
            ours.settimeout(seconds)
            ours.sendall(len(job).to_bytes(8, "big") + job)
            parts = []
            while part := ours.recv(1 << 20):
                parts.append(part)
            return b"".join(parts)

    def _started(self) -> None:
        """Start the runner's process, or start it again if something killed it."""
        if self._process is not None and self._process.poll() is None:
            return
        self._ended()
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        command = [sys.executable, "-P", "-m", "rooflab.grade.worker", str(theirs.fileno())]
        self._process = subprocess.Popen(
            [*command, json.dumps(vars(self._setting))], pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, cwd=self._scratch.path,
            start_new_session=True,
        )  # fmt: skip
        theirs.close()
        self._control = ours
        ours.settimeout(LOADED_S)
        hello = json.loads(
            ours.recv(1 << 16) or b'{"error": "the process that runs notebooks does not start"}'
        )
        ours.settimeout(None)
        if "error" in hello:
            raise NoSandbox(hello["error"])
        self.nested = hello["nested"]

    def _ended(self) -> None:
        if self._control is not None:
            self._control.close()
            self._control = None
        if self._process is not None:
            try:
                self._process.wait(10)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
            self._process = None


def packed(locked: Locked, limits: Limits) -> bytes:
    """Return all that a runner needs in order to run ``locked``, here or on another machine."""
    words = {exercise: locked.word(exercise) for exercise in locked.cases}
    told = {"notebook": nbformat.writes(locked.notebook), "words": words, "limits": vars(limits)}
    return json.dumps(told).encode("utf-8")


def unpacked(locked: Locked, answer: bytes) -> Outcome:
    """Return the outcome that a runner's ``answer`` stands for."""
    return read_outcome(answer, tuple(locked.cases))


def read_outcome(answer: bytes, exercises: Iterable[str]) -> Outcome:
    """Put the worker's events together; nothing in them is trusted to be well-formed.

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
    known = tuple(exercises)
    for line in rest.splitlines():
        event = _object(line)
        exercise = event.get("id")
        if "stopped" in event:
            killed = killed or event["stopped"]
        if exercise not in known:
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
    for exercise in known:
        if exercise not in observations:
            reasons.setdefault(exercise, late)
    reasons = {exercise: why for exercise, why in reasons.items() if exercise not in observations}
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

"""A forked copy of the notebook's process: an answer runs in it, and it can be killed.

No exception gets into a long call into C, such as ``sum(range(10**12))``: it keeps the interpreter
to itself until it returns. Only another process can stop that. A fork has everything that the
answer needs, its globals too, within milliseconds; what the answer changes there is gone with it.

The child speaks through a pipe, a line of JSON a message: what the answer prints, what it displays,
and what our own code says of it. What it says is plain data and is never run.

A fork has one thread only, and no GPU. So :func:`possible` is False while a GPU is in use, where a
library is loaded whose threads do not survive a fork (GNU's OpenMP, say), and under a debugger. On
macOS a fork is not safe, because of Apple's BLAS; Windows has none.
"""

from __future__ import annotations

import base64
import builtins
import contextlib
import ctypes
import gc
import io
import json
import os
import select
import signal
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NoReturn

import psutil

try:
    import resource
except ImportError:  # Windows has none, and no fork: there this module need only be read
    resource = None

Say = Callable[[str, object], None]  # (word, plain data)

MOST_PRINTED = 100_000  # characters
LONGEST = 8 << 20  # bytes of one message; a longer one is lost
ROOM = 0.5  # of the free memory that an answer may take
LOOK_S = 0.05  # between two looks at the stop button and at the child
_SHOWN = {"transient", "update"}  # what display() says besides the data
_MAPPED = Path("/proc/self/maps")
_GPUS = ("/dev/nv", "/dev/kfd", "/dev/dxg")  # NVIDIA (/dev/nvidia0, /dev/nvmap), AMD, WSL
_THREADED = {"jaxlib", "polars", "tensorflow"}  # their threads are missed, and waited for
_PARENT = 1  # PR_SET_PDEATHSIG: the death of the thread that has forked


def possible() -> bool:
    """Whether an answer can run in a fork of this process."""
    if sys.platform != "linux" or not _THREADED.isdisjoint(sys.modules) or _debugged():
        return False
    try:
        opened = [_target(entry) for entry in Path("/proc/self/fd").iterdir()]
        mapped = _MAPPED.read_text(errors="replace")
    except OSError:
        return False
    return "libgomp" not in mapped and not any(path.startswith(_GPUS) for path in opened)


def _target(link: Path) -> str:
    try:
        return os.readlink(link)
    except OSError:  # closed by now
        return ""


def _debugged() -> bool:
    """Whether a debugger holds this process: a break point in an answer must stay one."""
    monitoring = getattr(sys, "monitoring", None)  # from Python 3.12 on
    return sys.gettrace() is not None or bool(
        monitoring and monitoring.get_tool(monitoring.DEBUGGER_ID)
    )


class Child:
    """A child that does ``work(say)`` and ends. As a context, it ends with the context.

    ``late``: whether its time was over. ``ended``: what it died of, if it died by itself. Raises
    OSError where the system grants no process.
    """

    def __init__(self, work: Callable[[Say], None]) -> None:
        self.late, self.ended = False, ""
        kill_with = ctypes.CDLL(None).prctl  # found here: a child had better load nothing
        self._reading, writing = os.pipe()
        parent = os.getpid()
        try:
            with warnings.catch_warnings():  # that there are threads is known
                warnings.simplefilter("ignore")
                self.pid = os.fork()
        except OSError:
            os.close(self._reading)
            os.close(writing)
            raise
        if self.pid == 0:
            os.close(self._reading)
            with contextlib.suppress(BaseException):  # it dies then, and the parent says so
                kill_with(_PARENT, signal.SIGKILL)
                if os.getppid() == parent:
                    _live(work, writing)
            os._exit(1)
        os.close(writing)

    def __enter__(self) -> Child:
        return self

    def __exit__(self, *_: object) -> None:
        """Kill the child and all that it has started, and bury it."""
        for kill in (os.killpg, os.kill):  # it may not have a group of its own yet
            with contextlib.suppress(OSError):
                kill(self.pid, signal.SIGKILL)
        with contextlib.suppress(OSError):
            os.waitpid(self.pid, 0)
        os.close(self._reading)

    def messages(self, until: float, pressed: Callable[[], bool]) -> Iterator[tuple[str, Any]]:
        """Yield what it says, until it ends, ``pressed()`` or the monotonic time is ``until``."""
        rest, pipe = b"", select.poll()  # which, unlike select, knows descriptors beyond 1023
        pipe.register(self._reading, select.POLLIN)
        while not pressed():
            left = until - time.monotonic()
            if left <= 0:
                self.late = True
                return
            ready = pipe.poll(1000 * min(left, LOOK_S))
            part = os.read(self._reading, 1 << 16) if ready else b""
            *lines, rest = (rest + part).split(b"\n")
            for line in lines:
                yield from _understood(line)
            if len(rest) > LONGEST:
                rest = b""
            if not part and (ready or self._dead()):
                self.ended = self._death()
                return

    def _dead(self) -> bool:
        """Whether it has ended, even if a process of its own still holds the pipe."""
        try:
            return os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
        except ChildProcessError:  # somebody else has buried it
            return True

    def _death(self) -> str:
        """Say what it died of, once it has closed the pipe."""
        with contextlib.suppress(ChildProcessError):
            for _ in range(100):
                status = os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
                if status is None:
                    time.sleep(LOOK_S / 10)
                elif status.si_code == os.CLD_EXITED:
                    return f"with exit code {status.si_status}"
                else:
                    return _signal(status.si_status)
        return "without giving a reason"


def _signal(number: int) -> str:
    if number == signal.SIGKILL:
        return "SIGKILL: perhaps the memory was used up"
    try:
        return f"{signal.Signals(number).name}: {signal.strsignal(number)}"
    except ValueError:
        return f"signal {number}"


def _understood(line: bytes) -> Iterator[tuple[str, Any]]:
    """Yield the message on a line; nothing if it is none: an answer may write to the pipe too."""
    with contextlib.suppress(ValueError, RecursionError):
        message = json.loads(line)
        if isinstance(message, list) and len(message) == 2 and isinstance(message[0], str):
            yield message[0], message[1]


def show(word: str, what: Any) -> None:
    """Print or display in the notebook what an answer has printed or displayed in the child."""
    with contextlib.suppress(Exception):  # a closed stream must not cost the verdict
        if word == "displayed":
            data, metadata, more = what
            sys.modules["IPython"].get_ipython().display_pub.publish(data, metadata, **more)
        elif word in ("stdout", "stderr"):
            getattr(sys, word).write(what)


def _live(work: Callable[[Say], None], writing: int) -> NoReturn:
    """The child's life: a group of its own, streams into the pipe, less memory; then ``work``."""
    os.setsid()
    gc.freeze()  # what is the parent's is not collected here
    signal.set_wakeup_fd(-1)  # which would wake the parent
    signal.signal(signal.SIGINT, signal.default_int_handler)
    _limit_memory()
    me = os.getpid()

    def say(word: str, what: object) -> None:
        # The line before takes away what another message, broken off, has left.
        data = memoryview(f"\n{_json([word, what])}\n".encode())
        while data:
            data = data[os.write(writing, data) :]

    def report(word: str, what: object) -> None:
        if os.getpid() != me:  # the answer has forked, and this is not the one that is waited for
            os._exit(0)
        say(word, what)

    _redirect(say)
    work(report)
    os._exit(0)


def _limit_memory() -> None:
    """Let a greedy answer meet a MemoryError, and be the first to go if the memory is used up."""
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
        Path("/proc/self/oom_score_adj").write_text("1000")
    with contextlib.suppress(OSError, ValueError, psutil.Error):
        most = psutil.Process().memory_info().vms + int(ROOM * psutil.virtual_memory().available)
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (most, hard))


def _redirect(say: Say) -> None:
    """Send what is printed or displayed into the pipe, and let nobody wait for the keyboard."""
    sys.stdout, sys.stderr = _Stream("stdout", 1, say), _Stream("stderr", 2, say)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    sys.stdin = io.StringIO()
    builtins.input = _nobody_answers
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    if shell is not None:
        shell.display_pub.publish = lambda data, metadata=None, **more: say(
            "displayed", [data, metadata or {}, {k: more[k] for k in _SHOWN & more.keys()}]
        )


def _nobody_answers(prompt: object = "") -> NoReturn:
    raise EOFError("nobody answers an input() while rl.check runs; the inputs are arguments")


class _Stream(io.TextIOBase):
    """Standard output or error of the child."""

    encoding = "utf-8"

    def __init__(self, name: str, number: int, say: Say) -> None:
        self._name, self._number, self._say, self._room = name, number, say, MOST_PRINTED

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        """For a program that the answer starts."""
        return self._number

    def write(self, text: str) -> int:
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        if self._room > 0 and text:
            self._say(self._name, text[: self._room])
            self._room -= len(text)
            if self._room <= 0:
                self._say(self._name, "\n… (the rest of what it printed is left out)\n")
        return len(text)


def _plain(value: object) -> str:
    """Pictures travel as Jupyter sends them."""
    return base64.b64encode(value).decode() if isinstance(value, bytes) else str(value)


_json = json.JSONEncoder(default=_plain).encode

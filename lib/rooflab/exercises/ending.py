"""An answer that ``rl.check`` runs comes to an end: by itself, by the clock, or by the stop button.

Its time is what it computes; only one that waits is stopped by the clock, six times later. Where a
fork is safe, on Linux, the answer runs in a child process, which is killed when its time is over
(below). That ends everything, also one long call into C. Elsewhere, and while a GPU is in
use, the answer runs here, beside a watchdog; labs/golf/watchdog.py says what that can stop.
The grader has limits of its own, around the whole process.
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
import threading
import time
import warnings
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

from rooflab.exercises.exercise import Case, Observation
from rooflab.exercises.observe import collect, plaindata
from rooflab.labs.golf.buffers import Stopped
from rooflab.labs.golf.watchdog import Used, Watch, by_the_clock, limited, may_loop

# A forked copy of the notebook's process: an answer runs in it, and it can be killed.
#
# No exception gets into a long call into C, such as ``sum(range(10**12))``: it keeps the
# interpreter to itself until it returns. Only another process can stop that. A fork has everything
# that the answer needs, its globals too, within milliseconds; what the answer changes there is gone
# with it.
#
# The child speaks through a pipe, a line of JSON a message: what the answer prints, what it
# displays, and what our own code says of it. What it says is plain data and is never run.
#
# A fork has one thread only, and no GPU. So :func:`possible` is False while a GPU is in use, where
# a library is loaded whose threads do not survive a fork (GNU's OpenMP, say), and under a debugger.
# On macOS a fork is not safe, because of Apple's BLAS; Windows has none.


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
_CLOCK = 2  # CPUCLOCK_SCHED: with a process's number, its processor time
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

    ``late``: whether its time was over. ``used``: seconds of processor time that it has taken, its
    own programs not counted. ``ended``: what it died of, if it died by itself. Raises OSError where
    the system grants no process.
    """

    def __init__(self, work: Callable[[Say], None]) -> None:
        self.late, self.ended, self.used = False, "", 0.0
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

    def messages(
        self, seconds: float, until: float, pressed: Callable[[], bool]
    ) -> Iterator[tuple[str, Any]]:
        """Yield what it says, until it ends, ``pressed()``, or its time is over.

        That is when it has used ``seconds`` of processor time, or the monotonic time is ``until``.
        """
        rest, pipe = b"", select.poll()  # which, unlike select, knows descriptors beyond 1023
        pipe.register(self._reading, select.POLLIN)
        began = time.monotonic()
        while not pressed():
            left = until - time.monotonic()
            if left <= 0 or self.used >= seconds:
                self.late = True
                return
            ready = pipe.poll(1000 * min(left, LOOK_S))
            part = os.read(self._reading, 1 << 16) if ready else b""
            self.used = min(self._computed(), time.monotonic() - began)  # threads count as one
            *lines, rest = (rest + part).split(b"\n")
            for line in lines:
                yield from _understood(line)
            if len(rest) > LONGEST:
                rest = b""
            if not part and (ready or self._dead()):
                self.ended = self._death()
                return

    def _computed(self) -> float:
        try:
            return time.clock_gettime(~self.pid << 3 | _CLOCK)
        except OSError:  # it has ended, and is buried
            return self.used

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
    try:
        import psutil
    except ImportError:  # nobody knows how much is free: the answer's memory has no limit
        return
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
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
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

LIMIT_S = 10.0  # of processor time, for all that a check runs of an answer, together
LEAST_S = 0.01
SLOW = "took longer than"  # for "was stopped after", where there is no loop
BUTTON = "was stopped by the stop button"
ENDED = "ended the process in which rl.check ran it"
_OURS = tuple(module.__file__ for module in (collect, plaindata, contextlib, weakref))


@dataclass
class Ending:
    """How a check has ended: ``over`` says why the answer was stopped, ``pressed`` that a stop
    button was. The time of all its runs together begins with the first: ``used``, of the processor,
    and ``until``, on the monotonic clock."""

    over: str = ""
    pressed: bool = False
    used: float = 0.0
    until: float | None = None

    def observe(self, kind: str, cases: Sequence[Case], answer: object) -> list[Observation]:
        """Return what :func:`rooflab.exercises.observe.collect.collect` does, in the time left.

        Cases that had come to their end keep what they gave.
        """
        seen = self._observe(kind, cases, answer)
        if self.over != _too_long() or may_loop(answer):
            return seen
        late, said = {"error": f"Stopped: {self.over}"}, f"Stopped: {SLOW} {LIMIT_S:g} s"
        return [{"error": said} if each == late else each for each in seen]

    def _observe(self, kind: str, cases: Sequence[Case], answer: object) -> list[Observation]:
        if kind == "value" or not callable(answer):  # nothing runs
            return collect.collect(kind, cases, answer)
        collect.runner(kind)  # what is imported here need not be in every child
        if possible():
            with contextlib.suppress(OSError):  # no process is to be had
                return self._in_child(kind, cases, answer)
        return self._here(kind, cases, answer)

    def _in_child(self, kind: str, cases: Sequence[Case], answer: object) -> list[Observation]:
        def work(say: Say) -> None:
            seen = collect.collect(kind, cases, answer, lambda case: say("case", case) or "")
            say("all", seen)

        seen: list[Observation] = []
        with self._button(self._press), Child(work) as running:
            began = self.used
            for word, what in running.messages(self._left(), self._until(), lambda: self.pressed):
                self.used = began + running.used
                if word == "all" and isinstance(what, list):
                    return what
                if word == "case":
                    seen.append(what)
                else:
                    show(word, what)
            self.used = began + running.used
        if self.pressed:
            self.over = BUTTON
        else:
            self.over = self._late() if running.late else f"{ENDED} ({running.ended})"
        return [*seen, *({"error": f"Stopped: {self.over}"} for _ in cases)][: len(cases)]

    def _here(self, kind: str, cases: Sequence[Case], answer: object) -> list[Observation]:
        golf = kind == "golf"  # it has a watch of its own
        seen: list[Observation] = []
        with self.pressing() if golf else self.watching():
            seen = collect.collect(kind, cases, answer, lambda _: self.over)
        if not seen:  # what stopped it came between two cases
            seen = [{"error": f"Stopped: {self.over or BUTTON}"} for _ in cases]
        return [self._told(each) for each in seen]

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Stop what runs of an answer in the body, in this process, when the time is over."""
        used = Used()
        watch = Watch(self._left(), _too_long(), _waited(), _inside, self._tell)
        try:
            with self.pressing(), limited(watch):
                yield
        finally:
            self.used += used.seconds()

    @contextmanager
    def pressing(self) -> Iterator[None]:
        """Let the stop button end the body."""
        usual = signal.getsignal(signal.SIGINT)

        def pressed(number: int, frame: FrameType | None) -> None:
            self._press()
            usual(number, frame)

        with contextlib.suppress(Stopped, KeyboardInterrupt), self._button(pressed):
            yield

    def _left(self) -> float:
        return max(LIMIT_S - self.used, LEAST_S)

    def _until(self) -> float:
        if self.until is None:
            self.until = time.monotonic() + by_the_clock(LIMIT_S)
        return self.until

    def _late(self) -> str:
        return _too_long() if self.used >= LIMIT_S else _waited()

    def _press(self, *_: object) -> None:
        self.pressed = True

    def _tell(self, reason: str) -> None:
        self.over = reason

    def _told(self, seen: Observation) -> Observation:
        by_hand = self.pressed and str(seen.get("error", "")).startswith("KeyboardInterrupt")
        return {"error": f"Stopped: {BUTTON}"} if by_hand else seen

    @contextmanager
    def _button(self, pressed: Callable[[int, FrameType | None], object]) -> Iterator[None]:
        """Notice an interrupt from outside, which an answer cannot raise itself."""
        usual = signal.getsignal(signal.SIGINT)
        if threading.current_thread() is not threading.main_thread() or not callable(usual):
            yield
            return
        signal.signal(signal.SIGINT, pressed)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, usual)


def _too_long() -> str:
    return f"was stopped after {LIMIT_S:g} s"


def _waited() -> str:
    return f"{SLOW} {by_the_clock(LIMIT_S):g} s and waited most of that time"


def _inside(frame: FrameType | None) -> bool:
    """Whether an answer runs, and not our own code around it."""
    if frame is None or frame.f_code.co_filename in _OURS:
        return False
    while frame is not None and frame.f_code is not collect.observe.__code__:
        frame = frame.f_back
    return frame is not None

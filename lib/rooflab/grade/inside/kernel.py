"""The kernel process inside the sandbox: an IPython kernel on sockets that were opened outside.

It listens on inherited sockets and reads its connection from the request, so the sandbox shares
no folder with the outside: there is nothing to write to, and no socket to replace.
"""

from __future__ import annotations

import contextlib
import io
import json
import linecache
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stdout
from typing import Any

import zmq
from ipykernel.displayhook import ZMQShellDisplayHook
from ipykernel.iostream import OutStream
from ipykernel.ipkernel import IPythonKernel
from ipykernel.kernelapp import IPKernelApp
from ipykernel.zmqshell import ZMQDisplayPublisher, ZMQInteractiveShell
from traitlets import observe
from traitlets.config import Config

from rooflab.exercises.observe.collect import collect
from rooflab.exercises.observe.lock import lock_functions, with_kin
from rooflab.exercises.observe.observation import Case, Observation, describe
from rooflab.grade.inside.protocol import MARK, settled

# What check cells call inside the sandbox: run the answer, print one line of plain data.
#
# The line comes from the learner's own process. Outside it counts as no more than a claim of what
# was observed, and is judged there. All that this code needs was imported before the learner's code
# ran, so a learner who replaced ``print``, ``json`` or ``sys.stdout`` still gets a fair verdict.


LONGEST = 2_000_000  # characters of a result line
_texts = linecache.cache  # file name → its text; IPython puts every cell there
_dumps = json.JSONEncoder(ensure_ascii=True, separators=(",", ":")).encode


_stream: list[Any] = []
_cell: list[Callable[[], object]] = []
_locked: list[Callable[[], None]] = []
_tried: dict[str, list[tuple[object, bool]]] = {}


def write_to(stream: Any, cell: Callable[[], object] | None = None) -> None:
    """Remember the notebook's own output ``stream`` before the learner can replace it.

    ``cell()`` returns the header of the running cell. The stream needs it where it was replaced,
    because ipykernel then tells the header to the other stream only.
    """
    _stream[:] = [stream]
    _cell[:] = [cell] if cell else []


def keep_streams(shell: ZMQInteractiveShell) -> None:
    """Undo at the end of each cell what it put in place of the streams of ``shell``'s kernel.

    Without these streams ipykernel does not reply, and nbclient waits for the reply.
    """
    streams = sys.stdout, sys.stderr

    def restore(_: object) -> None:
        sys.stdout, sys.stderr = streams

    shell.events.register("post_run_cell", restore)


def lock(names: Sequence[str]) -> None:
    """Lock functions of the library until the next check cell is through."""
    unlock()
    _locked.append(lock_functions(with_kin(names)))


def unlock() -> None:
    """Open all locks."""
    while _locked:
        _locked.pop()()


def report(
    word: str, exercise: str, kind: str, cases: Sequence[Case], answer: Callable[[], object],
    again: bool = False,
) -> None:  # fmt: skip
    """Run the answer that ``answer()`` names on the cases and print the observations.

    ``again``: print nothing for the object of an earlier try, unless that try raised an error: what
    the answer calls may be defined by now. First the text of the check cell is removed from
    IPython's cache, so that no later cell can print the cases in it.
    """
    _texts.pop(sys._getframe(1).f_code.co_filename, None)
    try:
        found = _found(answer)
        if again and any(found[0] is one and done for one, done in _tried.get(exercise, ())):
            unlock()
            return
        seen = _observe(kind, cases, found)
        _tried.setdefault(exercise, []).append((found[0], settled(seen)))
        text = _dumps(seen)
    except BaseException as error:  # the learner's objects may raise anything from anywhere
        text = _dumps([{"unreadable": f"it cannot be read ({describe(error)})"} for _ in cases])
    finally:
        unlock()
    if len(text) > LONGEST:
        text = _dumps([{"unreadable": "far more than an answer needs"} for _ in cases])
    if _cell:
        _stream[0].set_parent(_cell[0]())
    _stream[0].write(f"\n{MARK} {word} {exercise} {text}\n")
    _stream[0].flush()


def _found(answer: Callable[[], object]) -> tuple[object, str | None]:
    """Return the answer, or what it raises: its cell may have failed before it defined it."""
    try:
        return answer(), None
    except Exception as error:
        return None, describe(error)


def _observe(
    kind: str, cases: Sequence[Case], found: tuple[object, str | None]
) -> Sequence[Observation]:
    if found[1] is not None:
        return [{"error": found[1]} for _ in cases]
    with redirect_stdout(_Unheard()):  # a print in a loop may say megabytes
        return collect(kind, cases, found[0])


class _Unheard(io.TextIOBase):
    """A stream for what an answer prints while it is checked: nobody reads it."""

    def write(self, text: str) -> int:
        return len(text)


# An IPython kernel that cuts what it shows.
#
# This helps an honest answer that shows a huge value or fails with a huge message: if more than the
# limit arrives outside, the submission loses the rest of its notebook. It is no protection; attacks
# are stopped outside.


MOST = 4000  # characters of an error's message, and of its traceback
LARGEST = 1 << 20  # characters of a shown value's form
LINES = 40  # of a traceback: the last ones say what was raised


def cut(text: str) -> str:
    """Return ``text``, or its two ends where it is long."""
    return text if len(text) <= MOST else f"{text[: MOST // 2]} … {text[-MOST // 2 :]}"


def shown(forms: Mapping[str, Any]) -> dict[str, Any]:
    """Return the forms of a value (by MIME type), long texts cut."""
    return {
        kind: cut(form) if isinstance(form, str) and len(form) > LARGEST else form
        for kind, form in forms.items()
    }


class BriefHook(ZMQShellDisplayHook):
    """Shows the value of a cell's last line."""

    def write_format_data(
        self, format_dict: Mapping[str, Any], md_dict: Mapping[str, Any] | None = None
    ) -> None:
        """Add the forms of a value to the message, long texts cut."""
        super().write_format_data(shown(format_dict), md_dict)


class BriefPublisher(ZMQDisplayPublisher):
    """Shows what a cell displays."""

    def publish(self, data: Mapping[str, Any], *args: Any, **kwargs: Any) -> None:
        """Send the forms of a value, long texts cut."""
        super().publish(shown(data), *args, **kwargs)


class BriefShell(ZMQInteractiveShell):
    """Shows the last lines of a traceback, and little of a long message or value."""

    displayhook_class = BriefHook
    display_pub_class = BriefPublisher

    @observe("exit_now")
    def _update_exit_now(self, change: object) -> None:
        """Do nothing: a shutdown takes effect 0.1 s later, and would end another cell."""

    def _showtraceback(self, etype: type, evalue: Any, stb: Sequence[str]) -> None:
        lines = cut("\n".join(cut(line) for line in stb[-LINES:])).split("\n")
        super()._showtraceback(etype, cut(str(evalue)), lines)


class BriefKernel(IPythonKernel):
    """Replies with as little as it shows."""

    shell_class = BriefShell

    async def do_execute(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """Run a cell as any IPython kernel does; of a long error message, return the ends.

        What a cell put in place of the streams is undone: without them ipykernel does not reply.
        """
        sys.stdout, sys.stderr = self._stdout, self._stderr
        try:
            reply = await super().do_execute(*args, **kwargs)
        finally:
            sys.stdout, sys.stderr = self._stdout, self._stderr
        if "evalue" in reply:
            reply["evalue"] = cut(reply["evalue"])
        return reply


class SandboxKernelApp(IPKernelApp):
    """IPKernelApp that takes over listening sockets instead of binding paths."""

    listening: Sequence[int] = ()
    connection: Mapping[str, object] = {}

    def init_connection_file(self) -> None:
        """Take the connection from the request; no file lies in the sandbox."""
        self.load_connection_info(dict(self.connection))

    def write_connection_file(self, **kwargs: object) -> None:
        """There is nobody to write it for."""

    def parse_command_line(self, argv: object = None) -> None:
        """There is none, and making the parser takes a third of the start."""

    def init_heartbeat(self) -> None:
        """Whether the kernel lives is known from its process, not from a heartbeat."""

    def log_connection_info(self) -> None:
        """Nobody reads a terminal here."""

    def _try_bind_socket(self, s: zmq.Socket, port: int) -> int:
        s.setsockopt(zmq.USE_FD, self.listening[port - 1])
        s.bind(f"ipc://{self.ip}-{port}")
        return port


class CappedStream(OutStream):
    """What ``print`` writes to: a cell that prints without end gets an error early.

    This helps a learner who printed too much by mistake; what arrives is counted outside as well.
    """

    most = 1 << 20
    written = 0

    def set_parent(self, parent: object) -> None:
        """A new cell starts to write."""
        self.written = 0
        super().set_parent(parent)

    def write(self, string: str) -> int | None:
        """Write, or raise RuntimeError when this cell has written enough."""
        if isinstance(string, str):
            self.written += len(string)
            if self.written > self.most:
                raise RuntimeError(f"this cell printed more than {self.most >> 10} KiB")
        return super().write(string)


def serve(
    connection: Mapping[str, object], listening: Sequence[int], most_shown: int = 1 << 20
) -> None:
    """Be a kernel until told to shut down. ``listening``: a descriptor for each of CHANNELS."""
    CappedStream.most = most_shown
    SandboxKernelApp.listening = listening
    SandboxKernelApp.connection = connection
    config = Config()
    config.HistoryManager.enabled = False
    config.IPCompleter.use_jedi = False
    config.InteractiveShell.automagic = False  # "time f()" is read as Python, and run as it is read
    config.InteractiveShell.colors = "nocolor"
    config.InteractiveShell.xmode = "Plain"  # a deep traceback in full takes longer than a cell may
    config.IPKernelApp.kernel_class = f"{BriefKernel.__module__}.{BriefKernel.__name__}"
    config.IPKernelApp.outstream_class = f"{__name__}.{CappedStream.__name__}"
    config.IPKernelApp.capture_fd_output = False  # what C code prints goes nowhere, cheaply
    app = SandboxKernelApp.instance(config=config)
    app.initialize([])
    # exit() would end the kernel a few cells later; how many depends on the load of the machine.
    app.shell.ask_exit = lambda: None
    write_to(sys.stdout, app.kernel.get_parent)
    with contextlib.suppress(KeyboardInterrupt):
        app.start()
    sys.stdout = sys.stderr = None
    os._exit(0)

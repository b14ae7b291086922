"""The kernel process inside the sandbox: an IPython kernel on sockets that were opened outside.

It listens on inherited sockets and reads its connection from the request, so the sandbox shares
no folder with the outside: there is nothing to write to, and no socket to replace.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Mapping, Sequence

import zmq
from ipykernel.iostream import OutStream
from ipykernel.kernelapp import IPKernelApp
from traitlets.config import Config

from rooflab.grade import inside
from rooflab.grade.brief import BriefKernel


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
    """What ``print`` writes to: a cell that prints without end gets an error, early and cheaply.

    Only a courtesy to who printed too much by mistake; what arrives is counted outside as well.
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
    config.InteractiveShell.automagic = False  # gate.py takes "time f()" for what it looks like
    config.InteractiveShell.colors = "nocolor"
    config.InteractiveShell.xmode = "Plain"  # a deep traceback in full takes longer than a cell may
    config.IPKernelApp.kernel_class = f"{BriefKernel.__module__}.{BriefKernel.__name__}"
    config.IPKernelApp.outstream_class = f"{__name__}.{CappedStream.__name__}"
    config.IPKernelApp.capture_fd_output = False  # what C code prints goes nowhere, cheaply
    app = SandboxKernelApp.instance(config=config)
    app.initialize([])
    # exit() would end the kernel some cells later: how many depends on how busy the machine is.
    app.shell.ask_exit = lambda: None
    inside.write_to(sys.stdout, app.kernel.get_parent)
    with contextlib.suppress(KeyboardInterrupt):
        app.start()
    sys.stdout = sys.stderr = None
    os._exit(0)

"""nbval's running kernel, with limits: what it prints is counted, its time ends, its death is told.

Everything that arrives here comes from a process that is not trusted.
"""

from __future__ import annotations

import contextlib
import time
from collections import deque
from queue import Empty
from typing import Any, NoReturn

import zmq
from jupyter_client.blocking import BlockingKernelClient
from jupyter_client.kernelspec import KernelSpec, KernelSpecManager
from jupyter_client.manager import KernelManager
from nbval.kernel import RunningKernel

from rooflab.grade import provisioner
from rooflab.grade.limits import Limits

STEP = 0.1  # seconds between two looks at whether the kernel lives
LAST_WAIT = 5.0  # seconds for everything in a sandbox to be gone
A_MESSAGE = 512  # bytes that count for a message besides its own
DISCARDED = 32  # times what may be kept in all: whoever sends more is stopped
TOO_MUCH = "it printed more than {} KiB in all"
TOO_LONG = "it sent a message of more than {} KiB"
DYING = 2.0  # seconds in which a kernel whose connection broke turns out to be dead
AT_ONCE = 64  # messages that may wait in a queue of ours
SHOWN = ("stream", "display_data", "execute_result", "error", "update_display_data")


class Stopped(Exception):
    """The kernel was stopped or died; the message is the reason for the learner."""


class OneSpec(KernelSpecManager):
    """A spec manager that knows one spec, by any name."""

    def __init__(self, spec: KernelSpec) -> None:
        super().__init__()
        self.spec = spec

    def get_kernel_spec(self, kernel_name: str) -> KernelSpec:
        """Return the one spec."""
        return self.spec


class WatchedKernel(RunningKernel):
    """A kernel under limits. ``why``: the reason for which it was stopped or died.

    ``end``: when its time is over, by the monotonic clock.
    """

    def __init__(self, spec: KernelSpec, limits: Limits, end: float) -> None:
        self.limits, self.why, self.flooded = limits, None, False
        self.shown = self.kept = self.received = 0
        self.waiting: deque[dict[str, Any]] = deque()
        self.end = end
        self.km = KernelManager(kernel_name="sandbox", kernel_spec_manager=OneSpec(spec))
        self.km.start_kernel()
        self.kc: BlockingKernelClient = self.km.client()
        self.kc.context.setsockopt(zmq.MAXMSGSIZE, 2 * limits.shown_in_all)  # of sockets to come:
        self.kc.context.setsockopt(zmq.RCVHWM, AT_ONCE)  # once connected they take no limits
        self.kc.start_channels(stdin=False, hb=False)
        self.broken = [
            channel.socket.get_monitor_socket(zmq.EVENT_DISCONNECTED)
            for channel in (self.kc.shell_channel, self.kc.iopub_channel)
        ]
        self._ready()

    def _ready(self) -> None:
        """Wait until the kernel answers and its output is heard."""
        while True:
            asked = self.kc.kernel_info()
            self.await_reply(asked, timeout=self.limits.wall)
            with contextlib.suppress(Empty):
                self.await_idle(asked, STEP)
                return

    def execute_cell_input(self, cell_input: str, allow_stdin: bool | None = None) -> str:
        """Run a cell; what it prints is counted anew."""
        self.shown, self.flooded = 0, False
        return super().execute_cell_input(cell_input, allow_stdin=False)

    def get_message(self, stream: str, timeout: float | None = None) -> dict[str, Any]:
        """Return the next message of ``stream``; Empty after ``timeout`` seconds.

        Raises Stopped when the submission's time is over, it printed too much, or it died.
        """
        until = time.monotonic() + (self.limits.wall if timeout is None else timeout)
        while True:
            if stream == "iopub" and self.waiting:
                return self.waiting.popleft()
            now = time.monotonic()
            if now > self.end:
                self.stop_because(f"stopped after {self.limits.wall:g} s")
            if now > until:
                raise Empty
            found = self._poll(stream, min(STEP, until - now))
            if found is not None:
                return found

    def _poll(self, stream: str, seconds: float) -> dict[str, Any] | None:
        shell, iopub = self.kc.shell_channel.socket, self.kc.iopub_channel.socket
        poller = zmq.Poller()
        poller.register(iopub, zmq.POLLIN)
        if stream == "shell":
            poller.register(shell, zmq.POLLIN)
        for monitor in self.broken:
            poller.register(monitor, zmq.POLLIN)
        ready = dict(poller.poll(max(1, int(seconds * 1000))))
        if any(monitor in ready for monitor in self.broken):
            self._broken()
        if iopub in ready:
            message = self._receive(iopub, counted=True)
            if message is not None:
                self.waiting.append(message)
        if shell in ready:
            return self._receive(shell, counted=False)
        if not ready and not self.is_alive():
            self.stop_because(self._cause())
        return None

    def _broken(self) -> NoReturn:
        """End a kernel whose connection broke: it died, or sent a message that no socket takes.

        Going on over a new connection would lose some cells' results in some runs.
        """
        until = time.monotonic() + DYING
        while self.is_alive() and time.monotonic() < until:
            time.sleep(STEP)
        too_long = TOO_LONG.format(2 * self.limits.shown_in_all >> 10)
        self.stop_because(too_long if self.is_alive() else self._cause())

    def _receive(self, channel: zmq.Socket, counted: bool) -> dict[str, Any] | None:
        """Take one message from a socket; None for what is malformed or beyond the limit."""
        frames = channel.recv_multipart(zmq.NOBLOCK)
        size = sum(map(len, frames)) + A_MESSAGE
        self.received += size
        if self.received > DISCARDED * self.limits.shown_in_all:
            self.stop_because(TOO_MUCH.format(self.limits.shown_in_all >> 10))
        try:
            _, parts = self.kc.session.feed_identities(frames)
            message = self.kc.session.deserialize(parts)
            kind = message["header"]["msg_type"]
            message["parent_header"].get("msg_id")
        except (Exception, RecursionError):
            return None
        return None if counted and kind in SHOWN and self._too_much(size) else message

    def _too_much(self, size: int) -> bool:
        """Count what a cell shows; beyond its limit nothing is kept, and it is interrupted."""
        self.shown += size
        if self.shown <= self.limits.shown:
            self.kept += size
            if self.kept > self.limits.shown_in_all:
                self.stop_because(TOO_MUCH.format(self.limits.shown_in_all >> 10))
            return False
        if not self.flooded:
            self.flooded = True
            self.interrupt()
        return True

    def _cause(self) -> str:
        told = self.km.provisioner
        if told is not None and told.why:
            return f"the kernel was stopped: {told.why}"
        code = getattr(told, "code", None)
        how = f" (code {code})" if code and code > 0 else ""
        return f"the kernel died{how}"

    def stop_because(self, why: str) -> NoReturn:
        """Stop the kernel for good and raise Stopped with the reason."""
        self.why = self.why or why
        self.stop()
        raise Stopped(self.why)

    def stop(self) -> None:
        """Stop kernel and channels, once."""
        if not hasattr(self, "km"):
            return
        if self.why is None:
            deaf = f"a cell ran for more than {self.limits.cell:g} s and could not be interrupted"
            self.why = deaf if self.is_alive() else self._cause()
        kc, km = self.kc, self.km
        del self.km
        for channel in (kc.shell_channel, kc.iopub_channel):
            channel.socket.disable_monitor()
        with contextlib.suppress(Exception):
            kc.stop_channels()
        with contextlib.suppress(Exception):
            km.provisioner.end(LAST_WAIT)
        with contextlib.suppress(Exception):
            km.cleanup_resources()


provisioner.register()

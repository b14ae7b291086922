"""The kernel as the worker sees it: started in the sandbox, watched by limits."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import select
import socket
import time
from collections import deque
from importlib.metadata import EntryPoint
from pathlib import Path
from queue import Empty
from typing import Any, NoReturn

import zmq
from jupyter_client.blocking import BlockingKernelClient
from jupyter_client.kernelspec import KernelSpec, KernelSpecManager
from jupyter_client.manager import KernelManager
from jupyter_client.provisioning import KernelProvisionerBase, KernelProvisionerFactory
from nbval.kernel import RunningKernel
from traitlets import Dict, Integer, Unicode

from rooflab.grade.inside.limits import Limits
from rooflab.grade.inside.protocol import CHANNELS
from rooflab.grade.launch import PACKET, Child, Setting, request, start_fork_server

NAME = "rooflab-sandbox"
ANSWER = 5.0  # seconds in which a fork server answers: it may be short of a processor itself


class SandboxProvisioner(KernelProvisionerBase):
    """By it jupyter_client, and so nbval, starts its kernel in the sandbox.

    It opens the sockets outside and sends them to the fork server, which forks a kernel that
    listens on them. Its configuration comes with the kernel spec.
    """

    control = Integer(-1, help="descriptor of a fork server's control socket; -1 starts one").tag(
        config=True
    )
    folder = Unicode(help="an empty folder for the sockets, outside").tag(config=True)
    setting = Dict(help="fields of launch.Setting").tag(config=True)
    limits = Dict(help="fields of Limits").tag(config=True)

    lifeline: socket.socket | None = None
    fork_server: Child | None = None
    code: int | None = None
    why: str | None = None
    seconds: float = 0.0

    @property
    def has_process(self) -> bool:
        """Whether a kernel was started and not yet cleaned up."""
        return self.lifeline is not None

    async def pre_launch(self, **kwargs: Any) -> dict[str, Any]:
        """Choose the addresses: sockets in a folder of ours, never a port of this machine."""
        manager = self.parent
        manager.transport, manager.ip = "ipc", f"{self.folder}/s"
        manager.connection_file = f"{self.folder}/connection.json"
        for number, channel in enumerate((*CHANNELS, "hb"), start=1):
            setattr(manager, f"{channel}_port", number)
        self.connection_info = manager.get_connection_info()
        return await super().pre_launch(cmd=[], **kwargs)

    async def launch_kernel(self, cmd: list[str], **kwargs: Any) -> dict[str, Any]:
        """Open the sockets and ask the fork server for a kernel on them."""
        limits = Limits(**self.limits)
        control = self._control(limits)
        listening = []
        for number, _ in enumerate(CHANNELS, start=1):
            opened = socket.socket(socket.AF_UNIX)
            Path(f"{self.folder}/s-{number}").unlink(missing_ok=True)  # an earlier kernel's
            opened.bind(f"{self.folder}/s-{number}")
            opened.listen(8)
            listening.append(opened)
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        known = {k: v.decode() if isinstance(v, bytes) else v
                 for k, v in self.connection_info.items()}  # fmt: skip
        try:
            sockets = [each.fileno() for each in (*listening, theirs)]
            request(control, known, limits, sockets)
        finally:
            for each in (*listening, theirs):
                each.close()
        self.lifeline, self.code, self.why, self.seconds = ours, None, None, 0.0
        return self.connection_info

    def _control(self, limits: Limits) -> socket.socket:
        if self.control >= 0:
            return socket.socket(fileno=os.dup(self.control))
        home = Path(self.folder) / "home"
        home.mkdir(exist_ok=True)
        self.fork_server = start_fork_server(Setting(**self.setting), home, limits)
        return self.fork_server.control

    async def poll(self) -> int | None:
        """Return None while the kernel lives, then the code with which it ended."""
        if self.lifeline is None:
            return 0
        if self.code is None and select.select([self.lifeline], [], [], 0)[0]:
            self._read_end()
        return self.code

    def _read_end(self) -> float | None:
        """Read what the fork server says: the seconds that were asked for, or how it ended."""
        try:
            said = json.loads(self.lifeline.recv(PACKET) or b"{}")
        except (OSError, ValueError):
            said = {}
        if "seconds" in said:
            return float(said["seconds"])
        self.code, self.why = said.get("code", -1), said.get("why")
        return None

    def computed(self) -> float:
        """Seconds of processor time that everything in the sandbox has used so far."""
        if self.lifeline is not None and self.code is None:
            with contextlib.suppress(OSError):
                self.lifeline.send(b"?")
                while select.select([self.lifeline], [], [], ANSWER)[0] and self.code is None:
                    if (seconds := self._read_end()) is not None:
                        self.seconds = seconds
                        break
        return self.seconds

    async def wait(self) -> int | None:
        """Wait until the kernel has ended."""
        while await self.poll() is None:
            await asyncio.sleep(0.01)
        return self.code

    async def send_signal(self, signum: int) -> None:
        """Only an end is sent from here; interrupts go through the control channel."""
        if signum in (9, 15):
            await self.kill()

    async def kill(self, restart: bool = False) -> None:
        """Cut the lifeline, and wait for nothing."""
        self.end(0)

    def end(self, seconds: float) -> None:
        """Cut the lifeline: the fork server kills everything in the sandbox.

        Wait until it says that nothing is left; at most ``seconds``.
        """
        if self.lifeline is None or self.code is not None:
            return
        with contextlib.suppress(OSError):
            self.lifeline.shutdown(socket.SHUT_WR)
        if select.select([self.lifeline], [], [], seconds)[0]:
            self._read_end()

    terminate = kill  # nothing in the sandbox needs time to end by itself

    async def cleanup(self, restart: bool = False) -> None:
        """Close the lifeline, and stop the fork server if it is ours."""
        if self.lifeline is not None:
            self.lifeline.close()
            self.lifeline = None
        if self.fork_server is not None:
            self.fork_server.stop()
            self.fork_server = None


def kernel_spec(control: int, folder: str, setting: Setting, limits: Limits) -> KernelSpec:
    """Return the spec of a sandboxed kernel with these settings."""
    config = {"control": control, "folder": folder, "setting": vars(setting),
              "limits": vars(limits)}  # fmt: skip
    return KernelSpec(
        argv=[], display_name="rooflab sandbox", language="python", interrupt_mode="message",
        metadata={"kernel_provisioner": {"provisioner_name": NAME, "config": config}},
    )  # fmt: skip


STEP = 0.1  # seconds between two looks at whether the kernel lives
LAST_WAIT = 5.0  # seconds for everything in a sandbox to be gone
A_MESSAGE = 512  # bytes that each message counts beside its own
DISCARDED = 32  # times the limit on what is kept; a kernel that sends more is stopped
TOO_MUCH = "it printed more than {} KiB in all"
TOO_LONG = "it sent a message of more than {} KiB"
DYING = 2.0  # seconds for a kernel whose connection broke to be seen as dead
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
    """nbval's running kernel with limits on its time and on what it prints.

    Everything that arrives here comes from a process that is not trusted. ``why``: the reason for
    which it was stopped or died.

    ``end``: when its time is over, by the monotonic clock. ``longest``: seconds by the clock that
    the next cell may take, if it only waits; its limit itself counts processor time.
    """

    def __init__(self, spec: KernelSpec, limits: Limits, end: float) -> None:
        self.limits, self.why, self.flooded = limits, None, False
        self.shown = self.kept = self.received = 0
        self.waiting: deque[dict[str, Any]] = deque()
        self.end, self.longest = end, limits.cell
        self.begun: tuple[float, float] | None = None  # of a cell: the clock, seconds computed
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
        self.begun = time.monotonic(), self.computed()
        return super().execute_cell_input(cell_input, allow_stdin=False)

    def computed(self) -> float:
        """Seconds of processor time that the kernel and its children have used so far."""
        return self.km.provisioner.computed() if self.is_alive() else 0.0

    def await_reply(self, msg_id: str, timeout: float | None = None) -> None:
        """Wait for the end of a cell; Empty when it has computed for ``timeout`` seconds, or waited
        for the ``longest`` time that it may take."""
        if self.begun is None or timeout is None:
            super().await_reply(msg_id, timeout)
            return
        (clock, computed), left = self.begun, timeout
        while True:
            try:
                return super().await_reply(msg_id, left)
            except Empty:
                passed = time.monotonic() - clock
                left = min(timeout - self.computed() + computed, self.longest - passed)
                if left <= 0:
                    raise
                left = max(left, STEP)

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
        """End a kernel whose connection broke: it died, or sent a message that was too long.

        A new connection would lose some cells' results in some runs, so there is none.
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


# Known to jupyter_client in this process.
KernelProvisionerFactory.instance().provisioners[NAME] = EntryPoint(
    NAME, f"{__name__}:{SandboxProvisioner.__name__}", KernelProvisionerFactory.GROUP_NAME
)

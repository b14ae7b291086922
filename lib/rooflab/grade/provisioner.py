"""The kernel provisioner: a kernel for jupyter_client (and so for nbval) that lives in the sandbox.

It opens the sockets outside and hands them to the keeper, which forks a kernel onto them.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import select
import socket
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

from jupyter_client.kernelspec import KernelSpec
from jupyter_client.provisioning import KernelProvisionerBase, KernelProvisionerFactory
from traitlets import Dict, Integer, Unicode

from rooflab.grade.inside import CHANNELS
from rooflab.grade.keeper import PACKET, Keeper, Setting, request, start_keeper
from rooflab.grade.limits import Limits

NAME = "rooflab-sandbox"


class SandboxProvisioner(KernelProvisionerBase):
    """Starts a kernel through a keeper; its configuration comes with the kernel spec."""

    control = Integer(-1, help="descriptor of a keeper's control socket; -1 starts one").tag(
        config=True
    )
    folder = Unicode(help="an empty folder for the sockets, outside").tag(config=True)
    setting = Dict(help="fields of keeper.Setting").tag(config=True)
    limits = Dict(help="fields of Limits").tag(config=True)

    life: socket.socket | None = None
    keeper: Keeper | None = None
    code: int | None = None
    why: str | None = None

    @property
    def has_process(self) -> bool:
        """Whether a kernel was started and not yet cleaned up."""
        return self.life is not None

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
        """Open the sockets and ask the keeper for a kernel on them."""
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
        self.life, self.code, self.why = ours, None, None
        return self.connection_info

    def _control(self, limits: Limits) -> socket.socket:
        if self.control >= 0:
            return socket.socket(fileno=os.dup(self.control))
        home = Path(self.folder) / "home"
        home.mkdir(exist_ok=True)
        self.keeper = start_keeper(Setting(**self.setting), home, limits)
        return self.keeper.control

    async def poll(self) -> int | None:
        """Return None while the kernel lives, then the code with which it ended."""
        if self.life is None:
            return 0
        if self.code is None and select.select([self.life], [], [], 0)[0]:
            self._read_end()
        return self.code

    def _read_end(self) -> None:
        try:
            said = json.loads(self.life.recv(PACKET) or b"{}")
        except (OSError, ValueError):
            said = {}
        self.code, self.why = said.get("code", -1), said.get("why")

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
        """Cut the life line: the keeper kills everything in the sandbox."""
        if self.life is not None:
            with contextlib.suppress(OSError):
                self.life.shutdown(socket.SHUT_WR)

    def end(self, seconds: float) -> None:
        """Kill, and wait until the keeper says that nothing is left; at most ``seconds``."""
        if self.life is None or self.code is not None:
            return
        with contextlib.suppress(OSError):
            self.life.shutdown(socket.SHUT_WR)
        if select.select([self.life], [], [], seconds)[0]:
            self._read_end()

    async def terminate(self, restart: bool = False) -> None:
        """The same; nothing in there is worth a polite request."""
        await self.kill(restart)

    async def cleanup(self, restart: bool = False) -> None:
        """Close the life line, and stop the keeper if it is ours."""
        if self.life is not None:
            self.life.close()
            self.life = None
        if self.keeper is not None:
            self.keeper.stop()
            self.keeper = None


def register() -> None:
    """Make the provisioner known to jupyter_client in this process."""
    value = f"{__name__}:{SandboxProvisioner.__name__}"
    entry = EntryPoint(NAME, value, KernelProvisionerFactory.GROUP_NAME)
    KernelProvisionerFactory.instance().provisioners[NAME] = entry


def kernel_spec(control: int, folder: str, setting: Setting, limits: Limits) -> KernelSpec:
    """Return the spec of a sandboxed kernel with these settings."""
    config = {"control": control, "folder": folder, "setting": vars(setting),
              "limits": vars(limits)}  # fmt: skip
    return KernelSpec(
        argv=[], display_name="rooflab sandbox", language="python", interrupt_mode="message",
        metadata={"kernel_provisioner": {"provisioner_name": NAME, "config": config}},
    )  # fmt: skip

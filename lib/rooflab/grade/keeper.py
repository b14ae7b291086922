"""Start the keeper (zygote.py) from outside: in bubblewrap, or without any protection."""

from __future__ import annotations

import json
import socket
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rooflab.grade import sandbox
from rooflab.grade.limits import Limits

PACKET = 1 << 16
START = 60.0  # seconds until the keeper must have said hello


@dataclass(frozen=True)
class Setting:
    """How learners' code is locked in. ``course``: folder with the trimmed rooflab.

    ``nested``: one keeper serves everybody, each in a nest of its own; ``unsafe``: no sandbox.
    ``hidden``: folders that must not be seen in the sandbox.
    """

    course: str
    nested: bool = True
    unsafe: bool = False
    hidden: tuple[str, ...] = ()


@dataclass
class Keeper:
    """A running keeper: its process and the control socket to send requests to."""

    process: subprocess.Popen[bytes]
    control: socket.socket

    def stop(self) -> None:
        """Close the control socket and see the process end, with everything below it."""
        self.control.close()
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def start_keeper(setting: Setting, home: Path, limits: Limits | None = None) -> Keeper:
    """Start a keeper and wait until it has loaded everything.

    ``limits``: of the one submission that a keeper without nests serves; ``home``: an empty
    folder, the learner's in unsafe mode. Raises NoSandbox when it does not come up.
    """
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    mode = "nest" if setting.nested and not setting.unsafe else "single"
    inner = sandbox.python(
        "-P", "-s", "-m", "rooflab.grade.zygote", str(theirs.fileno()), mode,
    )  # fmt: skip
    environment = None
    if setting.unsafe:
        words = inner
        environment = sandbox.environment(setting.course, str(home))
    else:
        hidden = [Path(path) for path in setting.hidden]
        words = sandbox.command(Path(setting.course), inner, limits, hidden)
    process = subprocess.Popen(
        words, env=environment, cwd=home, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
    )  # fmt: skip
    theirs.close()
    return _greeted(Keeper(process, ours))


def _greeted(keeper: Keeper) -> Keeper:
    keeper.control.settimeout(START)
    try:
        hello = keeper.control.recv(PACKET)
    except OSError:
        hello = b""
    keeper.control.settimeout(None)
    if hello:
        return keeper
    keeper.process.kill()
    said = keeper.process.communicate()[1].decode("utf-8", "replace").strip().splitlines()
    keeper.control.close()
    raise sandbox.NoSandbox(f"the sandbox does not start: {said[-1] if said else 'no reason'}")


def request(
    control: socket.socket, connection: dict[str, object], limits: Limits, sockets: Sequence[int]
) -> None:
    """Ask the keeper for a kernel on the listening ``sockets``, the life line last."""
    packet = json.dumps({"connection": connection, "limits": vars(limits)}).encode("utf-8")
    socket.send_fds(control, [packet], list(sockets))

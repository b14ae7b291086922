"""The workshop's process: loaded once, it forks a supervised worker for every submission.

``python -m rooflab.grade.worker CONTROL_FD SETTING``. A request is one packet on the control
socket that carries a stream socket; on it comes the job as JSON, and the answer goes back. For
each there are two processes: a supervisor, which keeps time and kills, and the worker below it, in
which pytest and nbval run. Whoever ends takes what is below along; nothing is left behind.
"""

from __future__ import annotations

import contextlib
import dataclasses
import gc
import json
import os
import select
import shutil
import signal
import socket
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NoReturn

from rooflab.grade import nest, quick, tree  # noqa: F401, quick comes before nbformat
from rooflab.grade.keeper import Keeper, Setting, start_keeper
from rooflab.grade.limits import Limits
from rooflab.grade.locked import LOST
from rooflab.grade.nbval_run import run_notebook
from rooflab.grade.sandbox import NoSandbox

try:
    import resource
except ImportError:  # Windows has none, and no sandbox: there this module need only be read
    resource = None

LATE = 10.0  # seconds beyond the wall limit after which the supervisor kills
WORKER_MEMORY = 3 << 30
MOST_SAID = 64 << 20


def main(arguments: list[str]) -> None:
    """Start the keeper, then serve requests until the control socket is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    control = socket.socket(fileno=int(arguments[0]))
    setting = Setting(**json.loads(arguments[1]))
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    folder = Path(tempfile.mkdtemp(prefix="", dir=Path.cwd()))  # in the workshop's own
    over = False
    try:
        keeper = _keeper(setting, folder)
        setting = dataclasses.replace(setting, nested=keeper is not None)
        control.send(json.dumps({"nested": setting.nested}).encode())
        gc.collect()
        gc.freeze()
        serve(control, setting, keeper, folder)
        over = True  # the grader is done, or was killed; nobody needs the workshop's folder
    except NoSandbox as error:
        control.send(json.dumps({"error": str(error)}).encode())
    finally:
        tree.kill_below(os.getpid())
        shutil.rmtree(folder.parent if over else folder, ignore_errors=True)


def _keeper(setting: Setting, folder: Path) -> Keeper | None:
    """The keeper that all share, where nests can be had; None where each gets its own."""
    if setting.unsafe or not setting.nested:
        return None
    try:
        return start_keeper(setting, folder)
    except NoSandbox as error:
        if "refused" in str(error):
            return None
        raise


def serve(control: socket.socket, setting: Setting, keeper: Keeper | None, folder: Path) -> None:
    """Fork a supervisor for every request; each gets a folder of its own in ``folder``."""
    while True:
        data, descriptors, _, _ = socket.recv_fds(control, 64, 1)
        while True:
            with contextlib.suppress(ChildProcessError):
                if os.waitpid(-1, os.WNOHANG)[0]:
                    continue
            break
        if not data:
            return
        if os.fork() == 0:
            control.close()
            own = Path(tempfile.mkdtemp(prefix="", dir=folder))
            supervise(socket.socket(fileno=descriptors[0]), setting, keeper, own)
        os.close(descriptors[0])


def supervise(
    client: socket.socket, setting: Setting, keeper: Keeper | None, folder: Path
) -> NoReturn:
    """Run one job in a worker below; answer with its events and why it was killed, if so."""
    killed, said = "the job did not arrive", b""
    try:
        nest.die_with_parent()
        nest.adopt_orphans()
        job = json.loads(_all_of(client))
        limits = Limits(**job["limits"])
        reading, writing = os.pipe()
        worker = os.fork()
        if worker == 0:
            client.close()
            os.close(reading)
            work(job, folder, limits, setting, keeper, writing)
        os.close(writing)
        said, killed = _listen(reading, client, limits.wall + LATE)
        if killed is None and os.waitpid(worker, 0)[1] != 0:
            killed = LOST  # it did not come to its end: short of memory, for instance
    finally:
        tree.kill_below(os.getpid())
        shutil.rmtree(folder, ignore_errors=True)
        with contextlib.suppress(OSError):
            head = json.dumps({"killed": killed, "size": len(said)})
            client.sendall(head.encode() + b"\n" + said)
        os._exit(0)


def _listen(reading: int, client: socket.socket, seconds: float) -> tuple[bytes, str | None]:
    """Collect what the worker says until it ends, time is over, or nobody waits any more."""
    said, until = b"", time.monotonic() + seconds
    while len(said) < MOST_SAID:
        left = until - time.monotonic()
        if left <= 0:
            return said, f"stopped after {seconds:g} s"
        ready = select.select([reading, client], [], [], left)[0]
        if client in ready and not client.recv(1):
            return said, "nobody waits for it"
        if reading in ready:
            part = os.read(reading, 1 << 20)
            if not part:
                return said, None
            said += part
    return said, "it said too much"


def work(
    job: dict[str, Any], folder: Path, limits: Limits, setting: Setting,
    keeper: Keeper | None, writing: int,
) -> NoReturn:  # fmt: skip
    """The worker: pytest with nbval, outside; its kernel inside the sandbox."""
    code = 1
    try:
        nest.die_with_parent()
        memory = WORKER_MEMORY + limits.memory  # a keeper below it needs that much too
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
        null = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2):
            os.dup2(null, descriptor)
        os.chdir(folder)
        path = folder / "locked.ipynb"
        path.write_text(job["notebook"], encoding="utf-8")
        out = os.fdopen(writing, "w", encoding="ascii", buffering=1)
        kernel = (keeper.control.fileno() if keeper else -1, setting)
        run_notebook(path, job["words"], limits, kernel, lambda event: _say(out, event))
        code = 0
    finally:
        os._exit(code)


def _say(out: Any, event: Any) -> None:
    out.write(json.dumps(event, ensure_ascii=True) + "\n")
    out.flush()


def _all_of(client: socket.socket) -> bytes:
    """Read a job: 8 bytes of length, then that much."""
    size = int.from_bytes(_exactly(client, 8), "big")
    return _exactly(client, size)


def _exactly(client: socket.socket, size: int) -> bytes:
    parts = bytearray()
    while len(parts) < size:
        part = client.recv(min(1 << 20, size - len(parts)))
        if not part:
            raise EOFError("the job ended early")
        parts += part
    return bytes(parts)


if __name__ == "__main__":
    main(sys.argv[1:])

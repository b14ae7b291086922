"""Run a locked notebook in a kernel of one's own, without a sandbox: for ``rooflab check`` only.

It runs what the learner wrote, on the learner's machine, as opening the notebook does. Works
wherever Jupyter does; never used for what others handed in.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from jupyter_client.blocking import BlockingKernelClient
from jupyter_client.manager import KernelManager

from rooflab.exercises.exercise import Observation
from rooflab.grade.display_names import COLOUR
from rooflab.grade.gate import gated
from rooflab.grade.inside.kernel import MARK
from rooflab.grade.locked_notebook import ANSWER, CHECK, Locked, Outcome

SECONDS = 60.0  # of one cell
START = 60.0  # seconds in which a kernel has to be there
PATIENCE = 10.0  # seconds in which an interrupted kernel has to listen again
GLANCE = 0.5  # seconds between two looks at whether it lives
MOST_SHOWN = 10_000  # characters that are kept of what an answer cell printed
LONGEST_PATH = 100  # of a Unix socket; Linux allows 107, macOS 103
_FIRST = """import sys
from rooflab.grade.inside.kernel import write_to
write_to(sys.stdout)
get_ipython().automagic = False"""  # as in the grader's kernel


class _Gone(Exception):
    """The kernel died, or does not even hear the stop button; the message says which."""


def run(locked: Locked, folder: Path, seconds: float = SECONDS) -> Outcome:
    """Run ``locked`` with ``folder`` as the working directory; ``seconds``: limit of one cell.

    A cell that takes longer is interrupted and costs its exercise; a kernel that does not listen,
    or dies, ends the run. Raises RuntimeError when no kernel starts.
    """
    observations: dict[str, list[Observation]] = {}
    again: dict[str, dict[int, list[Observation]]] = {}
    reasons: dict[str, str] = {}
    printed: dict[str, str] = {}
    stopped = None
    with _kernel(folder) as (manager, client):
        _shown(manager, client, _FIRST, START)
        for cell in locked.notebook.cells:
            part, id = cell.metadata["rooflab"]["role"], cell.metadata["rooflab"].get("exercise")
            try:
                shown = None if stopped else _shown(manager, client, cell.source, seconds)
            except _Gone as gone:
                stopped, shown = str(gone), None
            if part == ANSWER and shown:
                printed[id] = (printed.get(id, "") + shown)[:MOST_SHOWN]
            if part == CHECK:
                found = None if shown is None else _result(shown, locked.word(id), id)
                if number := cell.metadata["rooflab"].get("try", 0):
                    again.setdefault(id, {}).update({number: found} if found is not None else {})
                elif found is None:
                    late = f"it took longer than {seconds:g} s"
                    reasons[id] = stopped or (late if shown is None else "no result came back")
                else:
                    observations[id] = found
    return gated(locked, Outcome(observations, reasons, printed, stopped, again))


@contextlib.contextmanager
def _kernel(folder: Path) -> Iterator[tuple[KernelManager, BlockingKernelClient]]:
    """Start a kernel of this Python; it is gone afterwards, whatever happened."""
    manager = KernelManager(kernel_name="python3")
    quiet = subprocess.DEVNULL
    with tempfile.TemporaryDirectory(prefix="rooflab-") as sockets:
        without_ports(manager, sockets)
        manager.start_kernel(cwd=str(folder), stdout=quiet, stderr=quiet)
        client = manager.blocking_client()
        try:
            client.start_channels()
            client.wait_for_ready(timeout=START)
            yield manager, client
        finally:
            client.stop_channels()
            manager.shutdown_kernel(now=True)


def without_ports(manager: KernelManager, folder: str) -> KernelManager:
    """Let a kernel that is to be started be reached by files in ``folder``, where that works.

    A port is chosen before the kernel takes it; of several that start at once, one may lose its own
    to another, and never answers.
    """
    where = f"{folder}/k"
    if os.name == "posix" and len(f"{where}-5") <= LONGEST_PATH:
        manager.transport, manager.ip = "ipc", where
    return manager


def _shown(
    manager: KernelManager, client: BlockingKernelClient, source: str, seconds: float
) -> str | None:
    """Run ``source``; return what it printed and raised, None if it took too long."""
    texts = _until_idle(manager, client, source, seconds)
    if texts is not None:
        return "".join(texts)
    manager.interrupt_kernel()
    if _until_idle(manager, client, "", PATIENCE) is None:
        raise _Gone(f"stopped: a cell took longer than {seconds:g} s")
    return None


def _until_idle(
    manager: KernelManager, client: BlockingKernelClient, source: str, seconds: float
) -> list[str] | None:
    """Run ``source`` and collect its texts; None when ``seconds`` are over before its end."""
    asked = client.execute(source, allow_stdin=False, stop_on_error=False)
    deadline = time.monotonic() + seconds
    texts: list[str] = []
    while (left := deadline - time.monotonic()) > 0:
        try:
            message = client.get_iopub_msg(timeout=min(left, GLANCE))
        except queue.Empty:
            if not manager.is_alive():
                raise _Gone("the kernel died") from None
            continue
        kind, content = message["msg_type"], message["content"]
        if message["parent_header"].get("msg_id") != asked:
            continue
        if kind == "status" and content["execution_state"] == "idle":
            return texts
        if kind == "stream":
            texts.append(content["text"])
        elif kind == "error":
            texts.append(f"\n{content['ename']}: {COLOUR.sub('', content['evalue'])}\n")
    return None


def _result(shown: str, word: str, exercise: str) -> list[Observation] | None:
    """Return the observations that a check cell printed, None if it printed none."""
    begin = f"{MARK} {word} {exercise} "
    for line in shown.splitlines():
        if line.startswith(begin):
            with contextlib.suppress(ValueError):
                found = json.loads(line[len(begin) :])
                return found if isinstance(found, list) else None
    return None

"""Run a locked notebook in a kernel of one's own, without a sandbox: for ``rooflab check`` only.

It runs what the learner wrote, on the learner's machine, as opening the notebook does. Works
wherever Jupyter does; never used for what others handed in.
"""

from __future__ import annotations

import contextlib
import copy
import os
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from jupyter_client.manager import AsyncKernelManager, KernelManager
from nbclient import NotebookClient
from nbclient.exceptions import CellTimeoutError, DeadKernelError
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell

from rooflab.exercises.exercise import Observation
from rooflab.grade.display_names import COLOUR
from rooflab.grade.locked_notebook import ANSWER, CHECK, Locked, Outcome, parsed, result_lines

START = 60  # seconds in which a kernel has to be there
PATIENCE = 10  # seconds in which an interrupted kernel has to listen again
MOST_SHOWN = 10_000  # characters that are kept of what an answer cell printed
LONGEST_PATH = 100  # of a Unix socket; Linux allows 107, macOS 103
_LATE = "rooflab: too late"  # what nbclient reports as the name of the error of a late cell
_FIRST = """import sys
from rooflab.grade.inside.kernel import keep_streams, write_to
write_to(sys.stdout)
keep_streams(get_ipython())
get_ipython().automagic = False"""  # as in the grader's kernel


def run(locked: Locked, folder: Path, seconds: float) -> Outcome:
    """Run ``locked`` with ``folder`` as the working directory; ``seconds``: limit of one cell.

    A cell that takes longer is interrupted and costs its exercise; a kernel that does not listen,
    or dies, ends the run. Raises RuntimeError when no kernel starts.
    """
    observations: dict[str, list[Observation]] = {}
    again: dict[str, dict[int, list[Observation]]] = {}
    reasons: dict[str, str] = {}
    printed: dict[str, str] = {}
    stopped = None
    with _started(locked.notebook, folder, seconds) as client:
        for place, cell in enumerate(client.nb.cells[1:], start=1):
            part, id = cell.metadata["rooflab"]["role"], cell.metadata["rooflab"].get("exercise")
            try:
                shown = None if stopped else _shown(client, place)
            except DeadKernelError:
                stopped, shown = "the kernel died", None
            except CellTimeoutError:  # it was interrupted, and did not even hear that
                stopped, shown = f"stopped: a cell took longer than {seconds:g} s", None
            if part == ANSWER and shown:
                printed[id] = (printed.get(id, "") + shown)[:MOST_SHOWN]
            if part == CHECK:
                lines = result_lines(shown or "", locked.word(id), id)
                found = next((seen for seen in map(parsed, lines) if seen is not None), None)
                if number := cell.metadata["rooflab"].get("try", 0):
                    again.setdefault(id, {}).update({number: found} if found is not None else {})
                elif found is None:
                    late = f"it took longer than {seconds:g} s"
                    reasons[id] = stopped or (late if shown is None else "no result came back")
                else:
                    observations[id] = found
    return Outcome(observations, reasons, printed, stopped, again)


@contextlib.contextmanager
def _started(notebook: NotebookNode, folder: Path, seconds: float) -> Iterator[NotebookClient]:
    """Start a kernel of this Python for a copy of ``notebook``, and run ``_FIRST`` in front of it.

    A late cell is interrupted. If the kernel is not idle PATIENCE seconds later, nbclient raises
    CellTimeoutError. The kernel is gone afterwards, whatever happened.
    """
    whole = copy.deepcopy(notebook)
    first = new_code_cell(_FIRST)
    whole.cells.insert(0, first)
    late = {"ename": _LATE, "evalue": "", "traceback": []}
    quiet = subprocess.DEVNULL
    with tempfile.TemporaryDirectory(prefix="rooflab-") as sockets:
        manager = without_ports(AsyncKernelManager(kernel_name="python3"), sockets)
        client = NotebookClient(
            whole, manager, allow_errors=True, startup_timeout=START,
            timeout_func=lambda cell: START if cell is first else seconds,
            interrupt_on_timeout=True, error_on_timeout=late, iopub_timeout=PATIENCE,
            raise_on_iopub_timeout=True, shutdown_kernel="immediate", record_timing=False,
        )  # fmt: skip
        with client.setup_kernel(cleanup_kc=True, cwd=str(folder), stdout=quiet, stderr=quiet):
            client.execute_cell(first, 0)
            yield client


def without_ports(manager: KernelManager, folder: str) -> KernelManager:
    """Let a kernel that is to be started be reached by files in ``folder``, where that works.

    A port is chosen before the kernel takes it; of several that start at once, one may lose its own
    to another, and never answers.
    """
    where = f"{folder}/k"
    if os.name == "posix" and len(f"{where}-5") <= LONGEST_PATH:
        manager.transport, manager.ip = "ipc", where
    return manager


def _shown(client: NotebookClient, place: int) -> str | None:
    """Run the cell at ``place``; return what it printed and raised, None if it took too long."""
    replies = []
    client.on_cell_executed = lambda execute_reply, **_: replies.append(execute_reply)
    cell = client.execute_cell(client.nb.cells[place], place)
    if any(reply["content"].get("ename") == _LATE for reply in replies):
        return None
    return "".join(map(_text, cell.outputs))


def _text(output: NotebookNode) -> str:
    if output.output_type == "error":
        return f"\n{output.ename}: {COLOUR.sub('', output.evalue)}\n"
    return output.text if output.output_type == "stream" else ""

"""Run a notebook from a fresh kernel, in a home of its own.

Guesses and answers that a lesson stores go to a temporary directory, so that a build neither
reads nor changes what the person building has done. Measured roofs live in one cache that all
lessons of a build share (``ROOFLAB_CACHE`` if it is set, else ``.cache/roofs`` in the
repository), because measuring them once is enough.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbformat import NotebookNode

from rooflab.grade.local_kernel import without_ports

REPOSITORY = Path(__file__).resolve().parent.parent
SECONDS_PER_CELL = 300


@contextmanager
def lesson_environment() -> Iterator[dict[str, str]]:
    """The environment lessons run in: a throw-away ROOFLAB_HOME, a shared ROOFLAB_CACHE."""
    cache = os.environ.get("ROOFLAB_CACHE") or str(REPOSITORY / ".cache" / "roofs")
    with tempfile.TemporaryDirectory(prefix="rooflab-home-") as home:
        yield {
            **os.environ,
            "ROOFLAB_HOME": home,
            "ROOFLAB_CACHE": cache,
            "JUPYTER_PLATFORM_DIRS": "1",
            "PYDEVD_DISABLE_FILE_VALIDATION": "1",
        }


def run_notebook(notebook: NotebookNode, name: str, folder: Path) -> NotebookNode:
    """Execute `notebook` in place in a fresh kernel started in `folder`; widget state is kept.

    The kernel is this interpreter, whatever kernels are registered on the machine. Raises
    RuntimeError naming the lesson and the cell when a cell fails.
    """
    with lesson_environment() as environment:
        client = NotebookClient(
            notebook,
            timeout=SECONDS_PER_CELL,
            store_widget_state=True,
            record_timing=False,
            coalesce_streams=True,  # a progress bar leaves its last line, not every step
            resources={"metadata": {"path": str(folder)}},
        )
        without_ports(client.create_kernel_manager(), environment["ROOFLAB_HOME"])
        kernel = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
        client.km.kernel_spec.argv = [*kernel, "--log-level=ERROR"]
        try:
            client.execute(env=environment)
        except CellExecutionError as error:
            failed = (
                number
                for number, cell in enumerate(notebook.cells)
                if any(output.output_type == "error" for output in cell.get("outputs", []))
            )
            told = f"{name}, cell {next(failed, '?')}: the cell fails\n{error}"
            raise RuntimeError(told) from None
    return notebook

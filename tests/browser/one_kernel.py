"""One kernel for the cells of all static pages: a new one would import the course each time."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from nbclient import NotebookClient
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_notebook

from rooflab.grade.local_kernel import without_ports
from tools.execute import SECONDS_PER_CELL, lesson_environment

#: What makes a kernel as it was when it began, but for the modules that it has imported.
AS_NEW = """import os, ipywidgets, psutil
ipywidgets.Widget.close_all()
os.environ.pop("ROOFLAB_GUESSES", None)
os.environ["ROOFLAB_HOME"] = psutil.Process().environ()["ROOFLAB_HOME"]
get_ipython().reset()"""


@contextmanager
def one_kernel(folder: Path) -> Iterator[Callable[..., NotebookNode]]:
    """``run(*cells)`` runs cells as a notebook of their own, and returns that with its widgets."""
    with lesson_environment() as environment, ThreadPoolExecutor(1) as thread:

        def client(*cells: str) -> NotebookClient:
            return NotebookClient(
                new_notebook(cells=[new_code_cell(cell) for cell in cells]),
                timeout=SECONDS_PER_CELL,
                store_widget_state=True,
                resources={"metadata": {"path": str(folder)}},
            )

        first = client()
        manager = without_ports(first.create_kernel_manager(), environment["ROOFLAB_HOME"])
        start = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
        manager.kernel_spec.argv = [*start, "--log-level=ERROR"]

        def execute(one: NotebookClient, last: bool = False) -> NotebookNode:
            one.km, one.kc = first.km, first.kc
            # In a thread that no event loop runs in: the browser's runs in this one.
            return thread.submit(one.execute, env=environment, cleanup_kc=last).result()

        def run(*cells: str) -> NotebookNode:
            done = execute(client(*cells))
            execute(client(AS_NEW))
            return done

        execute(first)
        try:
            yield run
        finally:
            execute(first, last=True)

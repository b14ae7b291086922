"""A pytest plugin: what nbval runs also becomes an executed notebook with its widgets' state.

nbval compares a kernel's messages with a notebook and forgets them. Here nbclient hears each of
them too, as if it had run the cells.
"""

from __future__ import annotations

import contextlib
import os
from copy import deepcopy

import nbformat
import nbval.kernel
import nbval.plugin
import pytest
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionComplete

from tests.support.nbval_run import PATH


class Overheard(nbval.kernel.RunningKernel):
    """nbval's kernel, whose messages go to ``client`` as well."""

    client: NotebookClient | None = None

    def __init__(self, *args: object, **options: object) -> None:
        self.place = 0  # of the cell that runs, among all cells
        self.places: dict[str, int] = {}  # of cells, by the id of the message that ran them
        super().__init__(*args, **options)

    def listen(self, notebook: nbformat.NotebookNode) -> None:
        """From now on the messages become outputs of a copy of ``notebook``."""
        copy = deepcopy(notebook)
        for cell in copy.cells:
            if cell.cell_type == "code":
                cell.outputs = []
        self.client = NotebookClient(copy, store_widget_state=True, record_timing=False)
        self.client.reset_execution_trackers()
        self.client.kc = self.kc

    def execute_cell_input(self, cell_input: str, allow_stdin: bool | None = None) -> str:
        """Run a cell as nbval does, and remember which one."""
        id = super().execute_cell_input(cell_input, allow_stdin)
        self.places[id] = self.place
        self.client.clear_before_next_output = False  # as nbclient itself begins a cell
        return id

    def get_message(self, stream: str, timeout: float | None = None) -> dict:
        """The next message, for nbval; nbclient has heard it first."""
        message = super().get_message(stream, timeout)
        place = self.places.get(message["parent_header"].get("msg_id"))
        if stream == "iopub" and place is not None:
            with contextlib.suppress(CellExecutionComplete):
                self.client.process_message(message, self.client.nb.cells[place], place)
        return message


nbval.plugin.RunningKernel = Overheard


def pytest_runtest_call(item: pytest.Item) -> None:
    """Before a cell runs: say which one it is."""
    file, kernel = item.parent, item.parent.kernel
    if kernel.client is None:
        kernel.listen(file.nb)
    kernel.place = next(n for n, cell in enumerate(file.nb.cells) if cell is item.cell)


def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """After the last cell: write the notebook."""
    if nextitem is None and item.parent.kernel.client:
        client = item.parent.kernel.client
        client.set_widgets_metadata()
        for cell in client.nb.cells:
            if cell.cell_type == "code":
                cell.outputs = nbval.plugin.coalesce_streams(cell.outputs)
        nbformat.write(client.nb, os.environ[PATH])

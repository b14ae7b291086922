"""A notebook under nbval, in a kernel of its own: run once for all tests that want to see it.

Cells tagged nbval-check-output must show what they show in the file; the others must only run. A
notebook is copied away first, so that what it writes stays out of the tree.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import nbformat
from filelock import FileLock

from tools.execute import lesson_environment

REPOSITORY = Path(__file__).resolve().parents[2]
FAKE_GPU = REPOSITORY / "tests" / "strict_cupy"
SECONDS = 300  # of one cell
PATH = "EXECUTED_NOTEBOOK"  # tells the plugin tests/notebooks/executed.py where to write
PLUGINS = ("tests.notebooks.ports", "nbval.plugin", "tests.notebooks.executed", "no:cacheprovider")


@dataclass(frozen=True)
class NbvalRun:
    """How it went: pytest's exit ``status`` and ``output``, and the ``executed`` notebook's path.

    There is no such file where not even the last cell was reached.
    """

    status: int
    output: str
    executed: Path

    def notebook(self) -> nbformat.NotebookNode:
        """The executed notebook; AssertionError with nbval's words where a cell failed."""
        assert self.status == 0, self.output[-6000:]
        return nbformat.read(self.executed, as_version=4)


def run(notebook: Path, folder: Path, *, gpu: bool = False) -> NbvalRun:
    """Run a notebook with nbval in ``folder``, where CuPy is missing or (``gpu``) the strict fake.

    The executed notebook lies there as executed.ipynb.
    """
    copy, executed = Path(shutil.copy(notebook, folder)), folder / "executed.ipynb"
    with lesson_environment() as environment:
        # This pytest is a worker of another one; the inner one must not think the same of itself.
        clean = {k: v for k, v in environment.items() if not k.startswith("PYTEST_")}
        clean |= {"PYTHONPATH": str(REPOSITORY), "ROOFLAB_QUICK": "1", "ROOFLAB_BACKEND": "cpu"}
        clean |= {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", PATH: str(executed)}  # nbval is named
        if gpu:
            clean["PYTHONPATH"] += os.pathsep + str(FAKE_GPU)
            clean["ROOFLAB_BACKEND"] = "auto"
        command = [sys.executable, "-m", "pytest", "--nbval-lax", "--nbval-current-env", copy.name]
        command += [part for name in PLUGINS for part in ("-p", name)]
        done = subprocess.run(
            [*command, "--rootdir=.", f"--nbval-cell-timeout={SECONDS}"],
            capture_output=True, text=True, cwd=folder, env=clean,
        )  # fmt: skip
    return NbvalRun(done.returncode, done.stdout + done.stderr, executed)


def run_once(notebook: Path, shared: Path, *, gpu: bool = False) -> NbvalRun:
    """What `run` found, by whichever process that knows the folder ``shared`` asks first."""
    folder = shared / f"{notebook.parent.name}-{notebook.stem}"
    with FileLock(f"{folder}.lock"):
        found = folder / "found.json"
        if not found.exists():
            folder.mkdir(exist_ok=True)
            ran = run(notebook, folder, gpu=gpu)
            found.write_text(json.dumps([ran.status, ran.output]))
        return NbvalRun(*json.loads(found.read_text()), folder / "executed.ipynb")

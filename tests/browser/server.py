"""A Jupyter server with settings and a cache of its own, for browser tests and benchmarks."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import nbformat

from course import OURS, SETTINGS


@dataclass(frozen=True)
class Server:
    """A running Jupyter server: its ``url``, and the ``folder`` it serves."""

    url: str
    folder: Path

    def write(self, name: str, *cells: str | nbformat.NotebookNode) -> None:
        """Write a notebook into the folder; a text among ``cells`` is a code cell."""
        spec = {"name": "python3", "display_name": "Python 3", "language": "python"}
        notebook = nbformat.v4.new_notebook(
            cells=[nbformat.v4.new_code_cell(c) if isinstance(c, str) else c for c in cells],
            metadata={"kernelspec": spec},
        )
        nbformat.write(notebook, self.folder / name)

    def save(self, name: str, notebook: nbformat.NotebookNode) -> None:
        """Save a notebook as a front end does: it is signed, and `course.OURS` see it."""
        self.api(f"contents/{name}", "PUT", {"type": "notebook", "content": notebook})

    def api(self, path: str, method: str = "GET", body: dict | None = None) -> object:
        """Call the server's REST interface."""
        data = json.dumps(body).encode() if body else None
        kind = {"Content-Type": "application/json"}  # else it is read as the fields of a form
        request = urllib.request.Request(f"{self.url}/api/{path}", data, kind, method=method)
        with urllib.request.urlopen(request, timeout=60) as answer:
            text = answer.read()
        return json.loads(text) if text else None

    def stop_kernels(self) -> int:
        """Shut every kernel down and return how many there were."""
        running = self.api("sessions")
        for session in running:
            self.api(f"sessions/{session['id']}", "DELETE")
        return len(running)

    def hand_on(self, path: str) -> None:
        """Make the kernel that runs that of the notebook at ``path``, which is not open yet."""
        for session in self.api("sessions"):
            self.api(f"sessions/{session['id']}", "PATCH", {"path": path})


@contextmanager
def jupyter_server(home: Path, *, ports: bool = True) -> Iterator[Server]:
    """Serve Lab and Notebook 7 from the empty folder ``home`` until the block ends.

    ``ports=False``: its kernels are reached by files, and so take no port from one another.
    """
    folder = home / "notebooks"
    folder.mkdir()
    settings = _settings(home / "settings")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = {
        **os.environ,
        **{
            f"JUPYTER_{kind}_DIR": str(home / kind.lower())
            for kind in ("CONFIG", "DATA", "RUNTIME")
        },
        "IPYTHONDIR": str(home / "ipython"),
        "ROOFLAB_CACHE": str(home / "cache"),
        "ROOFLAB_HOME": str(home / "home"),
        "JUPYTER_PREFER_ENV_PATH": "1",
    }
    command = [
        sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--ip=127.0.0.1",
        f"--port={port}", "--ServerApp.port_retries=0", "--IdentityProvider.token=",
        "--ServerApp.password=", "--ServerApp.disable_check_xsrf=True", "--LabApp.news_url=",
        "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
        "--LabApp.expose_app_in_browser=True", "--JupyterNotebookApp.expose_app_in_browser=True",
        f"--ServerApp.root_dir={folder}", f"--LabApp.app_settings_dir={settings}",
        f"--JupyterNotebookApp.app_settings_dir={settings}", OURS[1],
    ]  # fmt: skip
    with ExitStack() as at_the_end, (home / "server.log").open("w") as log:
        if not ports:  # the path of a socket may have 107 characters, and `home` is long
            short = at_the_end.enter_context(TemporaryDirectory(prefix="rooflab-"))
            environment["JUPYTER_RUNTIME_DIR"] = short
            command.append("--KernelManager.transport=ipc")
        process = subprocess.Popen(
            command, env=environment, cwd=folder, stdout=log, stderr=subprocess.STDOUT
        )
        try:
            yield Server(_wait(process, f"http://127.0.0.1:{port}", home / "server.log"), folder)
        finally:
            process.terminate()
            process.wait(20)


def _settings(folder: Path) -> Path:
    """The course's own settings of Lab and Notebook 7, as ``course.py lab`` writes them."""
    folder.mkdir()
    (folder / "overrides.json").write_text(json.dumps(SETTINGS))
    return folder


def _wait(process: subprocess.Popen, url: str, log: Path) -> str:
    for _ in range(1200):
        if process.poll() is not None:
            raise RuntimeError(f"the Jupyter server ended: {log.read_text()[-2000:]}")
        try:
            urllib.request.urlopen(f"{url}/api/status", timeout=5).close()
            return url
        except (urllib.error.URLError, OSError):
            time.sleep(0.1)
    raise RuntimeError(f"the Jupyter server does not answer: {log.read_text()[-2000:]}")

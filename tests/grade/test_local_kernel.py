"""How ``rooflab check`` reaches its kernel."""

from __future__ import annotations

import sys
import tempfile

import pytest
from jupyter_client.manager import KernelManager

from rooflab.grade import local_kernel
from rooflab.grade.local_kernel import run, without_ports
from tests.grade.support.small import honest, locked


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has ports only")
def test_two_kernels_that_start_at_once_share_no_address():
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as other:
        managers = [without_ports(KernelManager(), folder) for folder in (one, other)]
        for manager in managers:
            manager.write_connection_file()
        infos = [manager.get_connection_info() for manager in managers]
        for manager in managers:
            manager.cleanup_connection_file()
    assert {info["transport"] for info in infos} == {"ipc"}
    assert infos[0]["ip"].startswith(one) and infos[1]["ip"].startswith(other)


def test_a_folder_too_deep_for_a_socket_leaves_ports():
    assert without_ports(KernelManager(), "/d" * 60).transport == "tcp"


def test_a_cell_that_raises_or_is_late_or_silences_itself_is_judged_all_the_same(tmp_path):
    """As in the grader: ipykernel answers no cell whose stream is gone, or cannot be flushed."""
    silent = "import io, sys\nclass Silent: pass\nsys.stdout = "
    streams = enumerate(["None", "io.StringIO()", "Silent()"], 2)
    sources = ["print('one'); print('two')\n1 / 0", "import time\ntime.sleep(60)"]
    sources += [f"{honest(n)}\n{silent}{stream}" for n, stream in streams]
    outcome = run(locked(*sources, honest(5)), tmp_path, 2)
    assert (outcome.stopped, outcome.reasons, len(outcome.observations)) == (None, {}, 6)
    assert outcome.printed["01-e0"] == "one\ntwo\n\nZeroDivisionError: division by zero\n"


DEAF = (
    "while True:\n    try:\n        import time; time.sleep(9)\n    except KeyboardInterrupt: pass"
)


def test_a_cell_that_does_not_end(monkeypatch, tmp_path):
    monkeypatch.setattr(local_kernel, "PATIENCE", 1)
    outcome = run(locked(DEAF, honest(1)), tmp_path, 1)
    assert outcome.stopped == "stopped: a cell took longer than 1 s"
    assert outcome.reasons == dict.fromkeys(["01-e0", "01-e1"], outcome.stopped)

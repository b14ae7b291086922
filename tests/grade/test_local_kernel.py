"""How ``rooflab check`` reaches its kernel."""

from __future__ import annotations

import sys
import tempfile

import pytest
from jupyter_client.manager import KernelManager

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


def test_a_silent_cell_is_not_called_slow(tmp_path):
    silent = f"{honest(0)}\nimport sys\nsys.stdout = None"
    outcome = run(locked(silent, honest(1)), tmp_path, 60)
    assert outcome.reasons == dict.fromkeys(["01-e0", "01-e1"], "no result came back")

"""The scratch folders of runners."""

import os
import signal
import tempfile
from pathlib import Path

import pytest

from rooflab.grade import launch
from rooflab.grade.launch import LONGEST, PREFIX, NotebookRunner, make_scratch
from tests.grade.support.small import RIGHT, SOON, honest, left_over, locked


@pytest.fixture(autouse=True)
def top(monkeypatch, tmp_path):
    """A folder for temporary files of the test's own, with a short name."""
    with tempfile.TemporaryDirectory(dir="/tmp") as short:
        monkeypatch.setattr(tempfile, "tempdir", short)
        yield short


def test_a_folder_in_use_stays_and_one_left_behind_goes():
    used, left = make_scratch(), make_scratch()
    left.lock.release()  # as the end of its process does
    third = make_scratch()
    assert used.path.is_dir()
    assert not left.path.exists()
    for scratch in (used, third):
        scratch.remove()
        assert not scratch.path.exists()


def test_what_is_not_a_runner_s_folder_stays(top):
    os.mkdir(f"{top}/{PREFIX}mine")
    os.symlink("/etc", f"{top}/{PREFIX}link")
    make_scratch().remove()
    assert sorted(os.listdir(top)) == [f"{PREFIX}link", f"{PREFIX}mine"]


def test_a_long_path_is_avoided(monkeypatch, tmp_path):
    long = tmp_path / ("x" * LONGEST)
    long.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(long))
    scratch = make_scratch()
    scratch.remove()
    assert len(str(scratch.path)) < LONGEST


@pytest.mark.skipif(launch.missing() is not None, reason="no sandbox")
def test_a_runner_starts_again_and_its_pytest_heeds_no_settings_of_others(top, monkeypatch):
    """Nor a conftest.py, which runs outside the sandbox: folders for temporary files are open."""
    monkeypatch.setenv("PYTEST_ADDOPTS", "--no-such-option")
    monkeypatch.setenv("PYTEST_PLUGINS", "no_such_plugin")
    Path(top, "conftest.py").write_text(f"open({top + '/was-run'!r}, 'w')")
    with NotebookRunner() as runner:
        os.kill(runner.process_id, signal.SIGKILL)
        outcomes = [runner.run(locked(honest(0)), SOON) for _ in range(2)]
        assert outcomes[-1].observations == {"01-e0": RIGHT}
        assert left_over(runner) == 0
    assert not Path(top, "was-run").exists()

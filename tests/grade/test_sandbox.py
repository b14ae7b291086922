"""The command line of the sandbox, and what is said where there is none."""

import subprocess
import sys
from pathlib import Path

import pytest

from rooflab.grade import launch
from rooflab.grade.launch import NotebookRunner
from tests.support.rows import each_row


@each_row(
    ("darwin", "Linux only", "WSL 2"), ("linux", "install bubblewrap", "apt install bubblewrap")
)
def test_without_linux_or_bubblewrap_it_says_what_to_do(system, why, way, monkeypatch):
    monkeypatch.setattr(sys, "platform", system)
    monkeypatch.setenv("PATH", "/nowhere")
    assert why in launch.missing()
    with pytest.raises(launch.NoSandbox, match=way):
        NotebookRunner()


def test_a_system_that_refuses_is_quoted(monkeypatch, tmp_path):
    fake = tmp_path / "bwrap"
    fake.write_text("#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n")
    fake.chmod(0o755)
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("PATH", str(tmp_path))
    launch._refused.cache_clear()
    said = launch.missing()
    launch._refused.cache_clear()
    assert "No permissions to create new namespace" in said
    assert "user namespaces" in said


def test_everything_is_unshared_and_every_right_dropped(tmp_path):
    words = launch.command(tmp_path, ["true"])
    assert {"--unshare-all", "--die-with-parent", "--new-session", "--clearenv"} <= set(words)
    assert words[words.index("--cap-drop") + 1] == "ALL"
    assert "--share-net" not in words
    assert not {"--bind", "--dev-bind"} & set(words), "nothing outside can be written to"


def test_the_course_and_hidden_folders_are_covered_where_they_would_show(monkeypatch, tmp_path):
    (tmp_path / "lib" / "class").mkdir(parents=True)
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    words = launch.command(tmp_path, ["true"], hidden=[tmp_path / "lib" / "class", Path("/proc")])
    place = words.index(str(tmp_path / "lib" / "class"))
    assert words[place - 1] == "--tmpfs"
    assert words.index(str(tmp_path)) < place, "covered after what it lies in is mounted"
    assert words.count("/proc") == 1


def test_a_hidden_folder_is_empty_inside(monkeypatch, tmp_path):
    if why := launch.missing():
        pytest.skip(why)
    secret = tmp_path / "site" / "secret"
    secret.mkdir(parents=True)
    (secret / "solution.ipynb").touch()
    (tmp_path / "course").mkdir()
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "site"))
    words = launch.command(tmp_path / "course", ["/bin/ls", str(secret)], hidden=[secret])
    done = subprocess.run(words, capture_output=True, text=True, check=True, timeout=20)
    assert done.stdout == ""

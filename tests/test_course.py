"""course.py: what it says and does when something is missing, old or half-made."""

from __future__ import annotations

import ast
import importlib.util
import json
import subprocess
import sys
import venv
from argparse import Namespace
from pathlib import Path
from types import ModuleType

import pytest

SOURCE = Path(__file__).resolve().parent.parent / "course.py"
OPTIONS = {"cpu": True, "no_browser": False, "port": None, "notebook": False}


@pytest.fixture
def course(tmp_path: Path) -> ModuleType:
    """The script as a module whose environment would be in a fresh, awkwardly named folder."""
    spec = importlib.util.spec_from_file_location("course", SOURCE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.HERE = tmp_path / "Kurs für Anfänger"
    module.HERE.mkdir()
    module.VENV = module.HERE / ".venv"
    for name in ("requirements.txt", "requirements-test.txt", "pyproject.toml"):
        (module.HERE / name).write_text(f"# {name}")
    return module


def test_is_short_and_needs_only_python() -> None:
    text = SOURCE.read_text("utf-8")
    modules = {
        alias.name
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Import)
        for alias in node.names
    }
    assert modules <= sys.stdlib_module_names
    assert len(text.splitlines()) <= 240


def test_an_old_python_can_still_read_the_advice() -> None:
    ast.parse(SOURCE.read_text("utf-8"), feature_version=(3, 7))


def test_old_python_is_told_what_it_needs(course: ModuleType, monkeypatch, capsys) -> None:
    monkeypatch.setattr(course, "OLDEST", (99, 0))
    assert course.main(["lab"]) == 1
    said = capsys.readouterr().out
    assert "{}.{}".format(*sys.version_info) in said and "needs 3.11 or newer" in said


@pytest.mark.parametrize(
    ("raised", "advice"),
    [
        (subprocess.CalledProcessError(1, "ensurepip"), "sudo apt install python3"),
        (ImportError("ensurepip"), "-venv"),
        (PermissionError("read-only"), "cannot make"),
        (ValueError("path holds the separator"), "cannot make"),
    ],
)
def test_no_environment_possible(course, monkeypatch, capsys, raised, advice) -> None:
    def fail(*_: object) -> None:
        raise raised

    monkeypatch.setattr(venv.EnvBuilder, "create", fail)
    assert course.main(["test"]) == 1
    assert advice in capsys.readouterr().out


def test_half_made_environment_is_made_again(course, capsys) -> None:
    python = course.interpreter()
    python.parent.mkdir(parents=True)
    python.write_text("an interruption left this")
    course.make_venv()
    assert course.works()
    assert "incomplete" in capsys.readouterr().out
    course.make_venv()
    assert capsys.readouterr().out == ""  # a second start finds it whole


class Recorder:
    """Stands in for subprocess.run; answers with a status and remembers the commands."""

    def __init__(self, status: int = 0, stdout: str = "") -> None:
        self.commands: list[list[str]] = []
        self.answer = Namespace(returncode=status, stdout=stdout)

    def __call__(self, command: list[str], **_: object) -> Namespace:
        self.commands.append(command)
        return self.answer


def test_installs_only_when_something_changed(course, monkeypatch) -> None:
    course.VENV.mkdir()
    pip = Recorder()
    monkeypatch.setattr(course.subprocess, "run", pip)
    course.install("requirements.txt", "small")
    course.install("requirements.txt", "small")
    assert len(pip.commands) == 1
    (course.HERE / "pyproject.toml").write_text("one more dependency")
    course.install("requirements.txt", "small")
    assert len(pip.commands) == 2
    (course.HERE / "requirements-test.txt").write_text("no business of the learner's")
    course.install("requirements.txt", "small")
    assert len(pip.commands) == 2


def test_a_failed_installation_is_not_taken_for_done(course, monkeypatch) -> None:
    course.VENV.mkdir()
    pip = Recorder(status=1)
    monkeypatch.setattr(course.subprocess, "run", pip)
    for _ in range(2):
        with pytest.raises(course.Problem, match="Without a network"):
            course.install("requirements.txt", "small")
    assert len(pip.commands) == 2


class NvidiaSmi:
    """Stands in for subprocess.run where only nvidia-smi is asked, one field at a time."""

    def __init__(self, driver: str, capability: str) -> None:
        self.answers = {"driver_version": driver, "compute_cap": capability}

    def __call__(self, command: list[str], **_: object) -> Namespace:
        return Namespace(stdout=self.answers[command[1].removeprefix("--query-gpu=")])


NO_FIELD = 'Field "compute_cap" is not a valid field to query.\n\n'


@pytest.mark.parametrize(
    ("driver", "capability", "file"),
    [
        ("580.65.06\n", "9.0\n", "requirements-gpu.txt"),
        ("595.10\n595.10\n", "8.9\n8.9\n", "requirements-gpu.txt"),
        ("580.65.06\n", "7.5\n", "requirements-gpu.txt"),  # Turing: a T4
        ("610.10\n", "12.0\n", "requirements-gpu.txt"),  # not older than 7.5 as text would be
        ("580.65.06\n", "7.0\n", "requirements-gpu-cuda12.txt"),  # Volta: a V100
        ("580.65.06\n", "6.1\n", "requirements-gpu-cuda12.txt"),  # Pascal: a GTX 1080
        ("580.65.06\n580.65.06\n", "8.6\n6.1\n", "requirements-gpu-cuda12.txt"),
        ("580.65.06\n", NO_FIELD, "requirements-gpu.txt"),
        ("550.54.15\n", "9.0\n", "requirements-gpu-cuda12.txt"),
        ("525.60.13\n", "8.0\n", "requirements-gpu-cuda12.txt"),
        ("525.60.13\n", "3.7\n", None),  # Kepler: a K80
        ("470.256.02\n", "3.7\n", None),
        ("NVIDIA-SMI has failed because it couldn't communicate with the driver\n", "", None),
        ("", "", None),
    ],
)
def test_driver_and_gpu_choose_the_cuda_generation(course, monkeypatch, driver, capability, file):
    monkeypatch.setattr(course.subprocess, "run", NvidiaSmi(driver, capability))
    assert course.gpu_requirements() == file


def test_the_gpu_run_keeps_the_interpreter_and_installs_nothing(course, monkeypatch) -> None:
    ran = Recorder(status=3)
    monkeypatch.setattr(course.subprocess, "run", ran)
    assert course.main(["gpu", "--minutes", "2"]) == 3
    assert course.main(["gpu", "--help"]) == 3
    assert ran.commands == [
        [sys.executable, "-m", "tools.gpu_run", *words]
        for words in (["--minutes", "2"], ["--help"])
    ]


def test_no_nvidia_smi_means_no_gpu(course, monkeypatch) -> None:
    monkeypatch.setenv("PATH", str(course.HERE))
    assert course.gpu_requirements() is None


def test_a_gpu_package_that_fails_leaves_the_cpu(course, monkeypatch, capsys) -> None:
    def install(name: str, size: str) -> None:
        if "gpu" in name:
            raise course.Problem("pip could not install")

    monkeypatch.setattr(course, "make_venv", lambda: None)
    monkeypatch.setattr(course, "install", install)
    monkeypatch.setattr(course, "gpu_requirements", lambda: "requirements-gpu.txt")
    course.prepare(Namespace(cpu=False))
    assert "Going on with the CPU" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, ["jupyterlab", "--LabApp.default_url=/lab/tree/notebooks/00_free_lunch.ipynb"]),
        (
            {"notebook": True},
            ["notebook", "--JupyterNotebookApp.default_url=/notebooks/notebooks/"],
        ),
        (
            {"port": 9123, "no_browser": True},
            ["--port=9123", "--no-browser", "NoDelay", "--ip=::1"],
        ),
    ],
)
def test_lab_opens_the_first_lesson(course, monkeypatch, options, expected) -> None:
    commands: list[tuple[str, ...]] = []
    monkeypatch.setattr(course, "prepare", lambda *_: None)
    monkeypatch.setattr(course, "run", lambda *command: commands.append(command) or 0)
    assert course.lab(Namespace(**{**OPTIONS, **options}), ["--ip=::1"]) == 0
    for part in expected:
        assert any(part in word for word in commands[0]), part


def test_lab_saves_the_pictures_state_and_leaves_the_users_own_settings_alone(
    course, monkeypatch, tmp_path
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("JUPYTER_CONFIG_DIR", str(tmp_path / "home" / "jupyter"))
    monkeypatch.setattr(course, "prepare", lambda *_: None)
    monkeypatch.setattr(course, "run", lambda *command: 0)
    course.lab(Namespace(**OPTIONS), [])
    written = json.loads((course.VENV / "share/jupyter/lab/settings/overrides.json").read_text())
    assert written["@jupyter-widgets/jupyterlab-manager:plugin"] == {"saveState": True}
    assert not (tmp_path / "home").exists()
    schema = Path(sys.prefix, "share/jupyter/labextensions/@jupyter-widgets/jupyterlab-manager")
    known = json.loads(next(schema.rglob("plugin.json")).read_text())["properties"]
    assert "saveState" in known, "the setting that is written is one that Lab knows"


def test_test_hands_its_arguments_to_pytest(course, monkeypatch) -> None:
    commands: list[tuple[str, ...]] = []
    monkeypatch.setattr(course, "prepare", lambda *_: None)
    monkeypatch.setattr(course, "run", lambda *command: commands.append(command) or 5)
    assert course.main(["test", "-k", "gemm"]) == 5
    assert commands[0][:2] == ("-m", "pytest") and commands[0][-2:] == ("-k", "gemm")


@pytest.mark.parametrize("name", ["PYTHONPATH", "PYTHONDONTWRITEBYTECODE"])
def test_what_would_slow_or_mix_up_python_stays_outside(
    course, monkeypatch, tmp_path, name
) -> None:
    monkeypatch.setattr(course, "interpreter", lambda: Path(sys.executable))
    monkeypatch.setenv(name, str(tmp_path))
    code = f"import os, sys; sys.exit(7 if {name!r} in os.environ else 3)"
    monkeypatch.setattr(course.signal, "signal", lambda *_: None)
    assert course.run("-c", code) == 3


def test_unknown_command_lists_the_known(course, capsys) -> None:
    with pytest.raises(SystemExit):
        course.main(["lap"])
    assert "lab" in capsys.readouterr().err

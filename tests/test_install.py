"""Installing in layers: what each layer can do alone, and what it says of the others."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from rooflab.optional import EXTRA, installed

OPTIONAL = sorted(EXTRA)
# An import of a package whose entry is None fails as if it were not installed.
WITHOUT = "import sys; sys.modules.update(dict.fromkeys({}))\nimport rooflab as rl\n"
# As Python in a browser: no thread starts, no process does, nothing rings.
BARE = """
import os, signal, subprocess, sys, sysconfig, threading
sysconfig.get_config_vars()
def refuse_thread(self):
    raise RuntimeError("can't start new thread")
def refuse_process(*args, **more):
    raise OSError(138, "emscripten does not support processes.")
threading.Thread.start = refuse_thread
subprocess.Popen.__init__ = subprocess.run = refuse_process
del os.fork, signal.setitimer
sys.platform = "emscripten"
"""
TIME = (
    "time = lambda k, n, itemsize, peak, bandwidth: "
    "max(2 * n * itemsize / bandwidth, 2 * k * n / peak)\n"
)


def run(code: str, home: Path) -> str:
    """What ``code`` prints in a fresh Python; its error's last line if it ends in one."""
    environment = {**os.environ, "PYTHONUTF8": "1", "ROOFLAB_CACHE": str(home)}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment, cwd=home
    )
    return (done.stdout if done.returncode == 0 else done.stderr).strip().splitlines()[-1]


# What the core does alone.


def test_the_core_needs_nothing_else(tmp_path: Path) -> None:
    asked = {
        "rl.gemm(8, 8, 8).flops": "1024",
        "rl.Roofline(rl.machine('h100-sxm'), 'bf16').limit(rl.axpy(9))": "memory",
        "rl.predict(rl.axpy(9), rl.machine('h100-sxm')).seconds > 0": "True",
        "rl.model('llama-3-8b').decode(1, 512).flops > 1e9": "True",
        "rl.memory.energy(rl.axpy(9)).joules > 0": "True",
        "rl.memory.joules(0).used.seconds": "0.0",
        "rl.recording(rl.recordings()[0]).machine.kind": "cpu",
        "all(hasattr(rl, name) for name in rl.__all__ if name != 'lecture')": "True",
    }
    code = f"print(*[{', '.join(asked)}])"
    assert run(WITHOUT.format(OPTIONAL) + code, tmp_path).split() == [*asked.values()]


def test_the_core_needs_no_threads_and_no_processes(tmp_path: Path) -> None:
    code = "print(rl.predict(rl.axpy(9), rl.machine('h100-sxm')).seconds > 0)"
    assert run(BARE + WITHOUT.format(OPTIONAL) + code, tmp_path) == "True"


@pytest.mark.slow
def test_answers_are_checked_without_threads_and_processes(tmp_path: Path) -> None:
    code = f"import rooflab as rl\n{TIME}print(rl.check('00-time', time).passed)"
    assert run(BARE + code, tmp_path) == "True"


@pytest.mark.slow
def test_a_machine_is_waited_for_where_there_are_no_threads(tmp_path: Path) -> None:
    code = (
        "import importlib, rooflab as rl\n"
        "here = importlib.import_module('rooflab.measure.this_machine')\n"
        "here.this_machine = lambda *args, **more: 'measured'\n"
        "print(rl.this_machine_async(progress=False).done())"
    )
    assert run(BARE + code, tmp_path) == "True"


# What a missing package is told by.


@pytest.mark.slow
@pytest.mark.parametrize(
    ("missing", "code", "what", "extra"),
    [
        ("scipy", "rl.measure(rl.axpy(9), backend='cpu')", "rooflab.measure", "measure"),
        ("psutil", "rl.measure(rl.axpy(9), backend='cpu')", "rooflab.measure", "measure"),
        ("threadpoolctl", "rl.measure(rl.axpy(9), backend='cpu')", "rooflab.measure", "measure"),
        ("llvmlite", "rl.free_lunch()", "rooflab.free_lunch", "measure"),
        ("llvmlite", "rl.this_machine('cpu')", "rooflab.this_machine", "measure"),
        ("psutil", "rl.this_machine_async('cpu').result()", "rooflab.this_machine", "measure"),
        ("psutil", "rl.loop_weights(rl.loop_model())", "rooflab.loop_weights", "measure"),
        ("matplotlib", "rl.show.roofline", "rooflab.show.roofline", "plot"),
        ("matplotlib", "rl.show.tokens", "rooflab.show.tokens", "plot"),
        ("ipywidgets", "rl.live.roofline", "rooflab.live.roofline", "course"),
        ("matplotlib", "rl.show.waterfall", "rooflab.show.waterfall", "plot"),
        ("anywidget", "rl.live.morph", "rooflab.live.morph", "course"),
        ("anywidget", "rl.memory.energy_bars", "rooflab.memory.energy_bars", "course"),
        ("anywidget", "rl.lecture()", "rooflab.lecture", "course"),
        ("anywidget", "rl.ask('00-nine', 1.0)", "rooflab.ask", "course"),
        ("anywidget", "rl.sort('x', [rl.axpy(9)])", "rooflab.sort", "course"),
    ],
)
def test_a_missing_package_is_told_in_one_sentence(
    missing: str, code: str, what: str, extra: str, tmp_path: Path
) -> None:
    assert run(WITHOUT.format([missing]) + code, tmp_path) == (
        f"ModuleNotFoundError: {what} needs {missing}, which is not installed here: "
        f'pip install "rooflab[{extra}]"'
    )


@pytest.mark.slow
def test_measuring_goes_on_without_its_bar(tmp_path: Path) -> None:
    code = "print(rl.measure(rl.axpy(1000), backend='cpu', threads=1).median_s > 0)"
    assert (
        run(WITHOUT.format(["tqdm", "matplotlib", "IPython", "numba"]) + code, tmp_path) == "True"
    )


def test_other_missing_modules_are_not_ours_to_explain() -> None:
    with pytest.raises(ModuleNotFoundError, match="No module named 'nowhere'"), installed("this"):
        raise ModuleNotFoundError("No module named 'nowhere'", name="nowhere")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("missing", "arguments", "said"),
    [
        ("typer", "machines", "The command rooflab needs typer"),
        ("rich", "machines", "This command needs rich"),
        ("scipy", "measure axpy --n 1000 --backend cpu", "This command needs scipy"),
        ("nbformat", "grade . --out out", "This command needs nbformat"),
    ],
)
def test_a_command_says_what_it_needs(
    missing: str, arguments: str, said: str, tmp_path: Path
) -> None:
    code = (
        f"import sys; sys.modules[{missing!r}] = None; sys.argv[1:] = {arguments.split()}\n"
        "from rooflab.__main__ import main; main()"
    )
    told = run(code, tmp_path)
    assert told.startswith(f"rooflab: {said}, which is not installed here: pip install")
    assert f'"rooflab[{EXTRA[missing]}]"' in told


# The lists in pyproject.toml.


def extras(repository: Path) -> dict[str, set[str]]:
    """Extra → the packages that it names itself, as they are imported."""
    project = tomllib.loads((repository / "pyproject.toml").read_text("utf-8"))["project"]
    imported = {"markdown-it-py": "markdown_it", "ipython": "IPython", "pyzmq": "zmq"}
    return {
        extra: {imported.get(name, name.replace("-", "_")) for name in names}
        for extra, listed in project["optional-dependencies"].items()
        if (names := {Requirement(line).name for line in listed})
    }


def test_every_sentence_names_an_extra_that_brings_the_package(repository: Path) -> None:
    brings = extras(repository)
    assert {p: extra for p, extra in EXTRA.items() if p not in brings[extra]} == {}


def test_every_optional_package_that_we_import_has_its_sentence(repository: Path) -> None:
    core = {"numpy", "yaml", "rooflab"}
    elsewhere = {"cupy", "pynvml", "platformdirs"}  # each is guarded where it is imported
    found = set()
    for path in (repository / "lib").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and node.module and not node.level:
                names = [node.module]
            found |= {name.partition(".")[0] for name in names}
    assert found - set(sys.stdlib_module_names) - core - elsewhere - EXTRA.keys() == set()


def test_the_course_is_everything_that_requirements_txt_installs(repository: Path) -> None:
    text = (repository / "requirements.txt").read_text("utf-8")
    asked = re.search(r"^-e \.\[(.+)\]$", text, re.M)
    assert asked is not None
    assert set(asked[1].split(",")) == {"course", "grade"}


@pytest.mark.parametrize("pins", ["serving", "colab"])
def test_lower_bounds_admit_what_was_tried(pins: str, repository: Path) -> None:
    lines = (repository / "tools" / "pins" / f"{pins}.txt").read_text("utf-8").splitlines()
    tried = [Requirement(line) for line in lines if line and line[0] != "#"]
    versions = {r.name.lower().replace("_", "-"): r for r in tried}
    project = tomllib.loads((repository / "pyproject.toml").read_text("utf-8"))["project"]
    optional = project["optional-dependencies"]
    layers = (
        []
        if pins == "serving"
        else [*optional["measure"], *optional["plot"], *optional["terminal"]]
    )
    wanted = [Requirement(line) for line in [*project["dependencies"], *layers]]
    assert {r.name.lower().replace("_", "-") for r in wanted} <= versions.keys()
    for bound in wanted:
        (pin,) = versions[bound.name.lower().replace("_", "-")].specifier
        assert bound.specifier.contains(pin.version), f"{bound} refuses {pin.version}"


# A wheel.


@pytest.fixture(scope="module")
def wheel(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """The names of the files in a wheel that is built from a copy, without a network."""
    home = tmp_path_factory.mktemp("wheel")
    copy = home / "copy"
    for name in ("lib/rooflab", "assets/recordings"):
        shutil.copytree(
            repository / name, copy / name, ignore=shutil.ignore_patterns("__pycache__")
        )
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE", "LICENSE-TEXT"):
        shutil.copyfile(repository / name, copy / name)
    old = copy / "build/lib/rooflab/removed_since.py"
    old.parent.mkdir(parents=True)
    old.touch()
    offline = ["--no-build-isolation", "--no-deps", "--no-index", "--quiet"]
    done = subprocess.run(
        [sys.executable, "-m", "pip", "wheel", *offline, "--wheel-dir", str(home), str(copy)],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    (built,) = home.glob("*.whl")
    return set(zipfile.ZipFile(built).namelist())


@pytest.mark.slow
def test_a_wheel_carries_every_file_of_the_package(repository: Path, wheel: set[str]) -> None:
    paths = [p for p in (repository / "lib" / "rooflab").rglob("*") if p.is_file()]
    written = [p for p in paths if p.parent.name != "__pycache__"]  # there numba keeps its code
    ours = {p.relative_to(repository / "lib").as_posix() for p in written}
    assert {Path(name).suffix for name in ours} >= {".py", ".js", ".css", ".yaml", ".json"}
    assert "rooflab/py.typed" in ours
    assert ours - wheel == set()


@pytest.mark.slow
def test_a_wheel_carries_the_recordings(repository: Path, wheel: set[str]) -> None:
    folder = repository / "assets" / "recordings"
    recorded = {p.relative_to(folder).as_posix() for p in folder.rglob("*.json")}
    assert {"schema.json", "epyc-2core-vm.json", "decode/epyc-2core-vm.json"} <= recorded
    assert {n.removeprefix("rooflab/recordings/") for n in wheel if "/recordings/" in n} == recorded


@pytest.mark.slow
def test_a_wheel_carries_nothing_that_an_older_build_left(wheel: set[str]) -> None:
    assert "rooflab/removed_since.py" not in wheel


@pytest.mark.slow
def test_an_installed_package_finds_the_recordings_beside_its_modules(
    repository: Path, tmp_path: Path
) -> None:
    shutil.copytree(
        repository / "lib/rooflab", tmp_path / "site/rooflab",
        ignore=shutil.ignore_patterns("__pycache__"),
    )  # fmt: skip
    shutil.copytree(repository / "assets/recordings", tmp_path / "site/rooflab/recordings")
    code = (
        f"import sys; sys.path.insert(0, {str(tmp_path / 'site')!r}); import rooflab as rl\n"
        "print(rl.recordings(), rl.decode_recording('epyc-2core-vm').name)"
    )
    assert run(code, tmp_path) == "('epyc-2core-vm',) epyc-2core-vm"

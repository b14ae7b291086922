"""Who may import whom, and what `import rooflab` may not load."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from importlinter.cli import lint_imports

HEAVY = ("scipy", "matplotlib", "ipywidgets", "anywidget", "numba", "llvmlite", "cupy")


def python(code: str, *, path: Path, cwd: Path | None = None) -> str:
    """Run code in a fresh interpreter that finds rooflab in `path`; return what it prints."""
    environment = {**os.environ, "PYTHONPATH": str(path), "PYTHONUTF8": "1"}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment, cwd=cwd
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_rooms_import_only_to_their_left(repository: Path) -> None:
    assert lint_imports(str(repository / "pyproject.toml"), cache_dir=None) == 0


def test_an_import_to_the_right_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for room, code in {"count": "from twisted_rooms import show", "show": ""}.items():
        (tmp_path / "twisted_rooms" / room).mkdir(parents=True)
        (tmp_path / "twisted_rooms" / room / "__init__.py").write_text(code)
    (tmp_path / "twisted_rooms" / "__init__.py").touch()
    config = tmp_path / ".importlinter"
    config.write_text(
        "[importlinter]\nroot_package = twisted_rooms\n[importlinter:contract:1]\n"
        "name = order\ntype = layers\nlayers =\n  twisted_rooms.show\n  twisted_rooms.count\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    assert lint_imports(str(config), cache_dir=None) == 1


def test_every_room_has_a_place_in_the_order(repository: Path) -> None:
    settings = tomllib.loads((repository / "pyproject.toml").read_text("utf-8"))
    layers = " ".join(settings["tool"]["importlinter"]["contracts"][0]["layers"])
    rooms = {p.parent.name for p in (repository / "lib/rooflab").glob("*/__init__.py")}
    assert {room for room in rooms if f"rooflab.{room}" not in layers} == set()


def test_import_is_light(repository: Path) -> None:
    code = f"import rooflab, sys; print([m for m in {HEAVY} if m in sys.modules])"
    assert python(code, path=repository / "lib").strip() == "[]"


def test_counting_and_predicting_stay_light(repository: Path) -> None:
    code = (
        "import rooflab as rl, sys; op = rl.gemm(8, 8, 8)\n"
        "rl.Roofline(rl.machine('h100-sxm'), 'bf16').time(op)\n"
        f"print([m for m in {HEAVY} if m in sys.modules])"
    )
    assert python(code, path=repository / "lib").strip() == "[]"


def test_a_check_loads_nothing_of_the_grader(repository: Path) -> None:
    """What it says of a hand-in is said without nbformat, which takes a second."""
    code = (
        "import sys, rooflab as rl\n"
        "time = lambda k, n, itemsize, peak, bandwidth: max(2 * n * itemsize / bandwidth, "
        "2 * k * n / peak)\n"
        "passed = rl.check('00-time', time).passed\n"
        "print(passed, [m for m in sys.modules if m.startswith(('rooflab.grade', 'nbformat'))])"
    )
    assert python(code, path=repository / "lib").splitlines()[-1] == "True []"


@pytest.mark.parametrize("module", ["pipeline", "worker", "local_kernel", "release"])
def test_no_grading_process_compiles_a_grammar_that_nobody_asks_for(
    module: str, repository: Path
) -> None:
    """It once came back with a merge of modules, and cost every process most of a second."""
    code = f"import sys, rooflab.grade.{module}\n"
    code += "print(sys.modules.get('rfc3987_syntax.syntax_helpers'))"
    assert python(code, path=repository / "lib").splitlines()[-1] == "None"

"""The package where Unix-only parts of Python are absent, and from awkward folders."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

# fcntl and resource are missing on Windows, os.sched_getaffinity there and on macOS. Other
# packages may import them on this system, so only rooflab's own imports are refused.
MASK = """
import builtins, os, sys
if hasattr(os, "sched_getaffinity"):
    del os.sched_getaffinity
original = builtins.__import__
def without_unix(name, globals=None, *rest, **named):
    importer = (globals or {}).get("__name__", "")
    if name in ("fcntl", "resource") and importer.split(".")[0] in ("rooflab", "__main__"):
        raise ImportError("no module named " + name + " on this system")
    return original(name, globals, *rest, **named)
builtins.__import__ = without_unix
"""
EVERY_MODULE = """
import importlib, pkgutil, rooflab
names = [m.name for m in pkgutil.walk_packages(rooflab.__path__, "rooflab.")]
for name in names:
    if not name.endswith("__main__"):
        importlib.import_module(name)
print(len(names))
"""
MEASURE = """
import rooflab as rl
m = rl.measure(rl.axpy(1000), backend="cpu", cache="warm", threads=1)
print(m.median_s > 0)
"""


def run(code: str, cwd: Path, path: Path | None = None) -> str:
    environment = {**os.environ, "PYTHONUTF8": "1", "ROOFLAB_CACHE": str(cwd / "cache")}
    if path is not None:
        environment["PYTHONPATH"] = str(path)
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment, cwd=cwd
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_the_mask_masks(tmp_path: Path) -> None:
    code = "try:\n    import fcntl\nexcept ImportError:\n    print('absent')"
    assert run(MASK + code, tmp_path) == "absent"
    assert run(MASK + "print(hasattr(os, 'sched_getaffinity'))", tmp_path) == "False"


def test_every_module_imports_without_unix_parts(tmp_path: Path) -> None:
    assert int(run(MASK + EVERY_MODULE, tmp_path)) > 20


def test_measuring_works_without_unix_parts(tmp_path: Path) -> None:
    assert run(MASK + MEASURE, tmp_path) == "True"


def test_package_works_from_a_path_with_spaces_and_umlauts(
    tmp_path: Path, repository: Path
) -> None:
    home = tmp_path / "Kurs für Anfänger ✓"
    leave = shutil.ignore_patterns("__pycache__")
    shutil.copytree(repository / "lib" / "rooflab", home / "rooflab", ignore=leave)
    where = "import rooflab; print(rooflab.__file__)"
    assert run(where, home, home).startswith(str(home))
    assert int(run(EVERY_MODULE, home, home)) > 20
    assert run(MEASURE, home, home) == "True"

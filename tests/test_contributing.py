"""CONTRIBUTING and docs/extending.md, done literally in a copy; then what comes out."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def follow(copy: Path, kind: str, text: str) -> None:
    """Do what a block of code says: a new file, more at the end of one, or a changed line."""
    first, _, rest = text.partition("\n")
    path = copy / first.strip().removeprefix("# ")
    if kind == "diff":
        lines = rest.splitlines()
        old = "\n".join(line[1:] for line in lines if line[0] in " -")
        new = "\n".join(line[1:] for line in lines if line[0] in " +")
        before = path.read_text("utf-8")
        assert before.count(old) == 1, f"{first}: {old!r} stands there {before.count(old)} times"
        path.write_text(before.replace(old, new), "utf-8")
    elif path.exists():
        path.write_text(path.read_text("utf-8") + rest, "utf-8")
    else:
        path.parent.mkdir(exist_ok=True)
        path.write_text(rest, "utf-8")


@pytest.fixture(scope="module")
def copy(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The repository with all that the pages tell to add."""
    copy = tmp_path_factory.mktemp("newcomer")
    ignore = shutil.ignore_patterns("*.egg-info")  # but not what was compiled
    for name in ("lib", "tools", "assets", "tests/course", "tests/support"):
        shutil.copytree(repository / name, copy / name, ignore=ignore)
    (copy / "notebooks" / "source").mkdir(parents=True)
    shutil.copy(repository / "pyproject.toml", copy)
    pages = (repository / name for name in ("CONTRIBUTING.md", "docs/extending.md"))
    blocks = [block for page in pages for block in BLOCK.findall(page.read_text("utf-8"))]
    assert len(blocks) > 12
    for kind, text in blocks:
        follow(copy, kind, text)
    return copy


def run(copy: Path, *command: str, timeout: float = 120) -> str:
    """What a command prints in the copy; ``python`` and its tools are those of the tests."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    own = {"PATH": path, "PYTHONPATH": str(copy / "lib"), "ROOFLAB_HOME": str(copy / "home")}
    done = subprocess.run(
        command, cwd=copy, env=os.environ | own, capture_output=True, text=True, timeout=timeout
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def python(copy: Path, program: str) -> str:
    return run(copy, sys.executable, "-c", f"import rooflab as rl\n{program}")


def test_a_machine_and_an_operation(copy: Path) -> None:
    program = "print(rl.Roofline(rl.machine('example-1'), 'fp32').ridge)\n"
    program += "op = rl.triad(1000)\nprint(op.flops, op.bytes, op)\n"
    program += "assert rl.predict(rl.triad(9, 'fp32'), rl.machine('example-1')).seconds > 0"
    ridge, said = python(copy, program).splitlines()
    assert "20" in ridge and said.startswith("2000 24000 ")
    assert "Example 1" in run(copy, "rooflab", "machines", "example-1")


def test_a_lab_and_a_picture(copy: Path) -> None:
    program = "p = rl.stream.bars(['example-1', 'h100-sxm'])\n"
    program += "p.size = 3\nprint(p.sentence)\n"
    program += "print(len(p._repr_mimebundle_()[0]['image/png']) > 1000)\n"
    program += "print(p.scene.value(p.scene.marks[1], 'box', size=3)[2])"
    said, drawn, length = python(copy, program).splitlines()
    assert said.startswith("8.59 GB: Example 1 needs 172 ms; NVIDIA H100") and drawn == "True"
    assert float(length) == pytest.approx(420 * 2**33 / 2**37)


def test_the_imports_still_run_one_way(copy: Path) -> None:
    assert "0 broken" in run(copy, "lint-imports", "--no-cache")


def test_facts_and_sentences_of_a_lesson(copy: Path) -> None:
    files = [f"tests/course/test_{name}.py" for name in ("sentences", "lesson90")]
    told = run(copy, sys.executable, "-m", "pytest", "-q", "-k90", "-pno:cacheprovider", *files)
    assert "3 passed" in told


@pytest.mark.notebook
def test_a_lesson_and_a_kind_of_exercise(copy: Path, tmp_path: Path) -> None:
    build = "from tools.build_notebooks import main\nmain(['90_stream']) and exit('not built')\n"
    python(copy, f"{build}main(['--check', '90_stream']) and exit('not as the source says')")
    solved = copy / "notebooks" / "solutions" / "90_stream.ipynb"
    checks = [
        "".join(output["data"]["text/plain"])
        for cell in json.loads(solved.read_text("utf-8"))["cells"]
        for output in cell.get("outputs", ())
        if "rl.check" in "".join(cell["source"])
    ]
    assert len(checks) == 2 and all("✓" in check for check in checks), checks
    late = tmp_path / "late.ipynb"
    late.write_text(solved.read_text("utf-8").replace("value = 1", "value = base"), "utf-8")
    right = shutil.copy(solved, tmp_path / "right.ipynb")
    out = tmp_path / "out"
    run(copy, "rooflab", "grade", str(right), str(late), "--out", str(out))
    results = json.loads((out / "results.json").read_text("utf-8"))
    points = {row["student"]: row["points"] for row in results["submissions"]}
    assert points == {"right": 3, "late": 2}
    assert "begins late" in json.dumps(results)

"""The house rules of the repository itself: form, size, names, requirements, links."""

from __future__ import annotations

import ast
import functools
import re
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import rooflab
from tools.build_notebooks import main as build_notebooks

REPOSITORY = Path(__file__).resolve().parent.parent
DRAWERS = re.compile(r"(utils?|helpers?|common|misc|manager)\.py")
MOST_LINES, MOST_FUNCTION_LINES = 800, 40
LONGER = {  # modules that are one subject at more than MOST_LINES, and as long as they may become
    **{f"lib/rooflab/course/lesson0{n}/exercises.py": 1030 for n in (1, 2, 3, 5, 9)}  # tables
}
CODE = sorted(
    path
    for folder in ("lib", "tools", "tests", "benchmarks")
    for path in (REPOSITORY / folder).rglob("*.py")
) + [REPOSITORY / "course.py"]
PAGES = [*REPOSITORY.glob("*.md"), *(REPOSITORY / "docs").rglob("*.md")]


def name(path: Path) -> str:
    return path.relative_to(REPOSITORY).as_posix()


def ruff(*arguments: str) -> None:
    command = [sys.executable, "-m", "ruff", *arguments, "."]
    done = subprocess.run(command, capture_output=True, text=True, cwd=REPOSITORY)
    assert done.returncode == 0, f"python course.py fmt mends most of this:\n{done.stdout}"


def test_code_has_no_lint() -> None:
    ruff("check")


def test_code_has_its_standard_form() -> None:
    ruff("format", "--check")


def test_notebooks_match_their_sources(capsys: pytest.CaptureFixture[str]) -> None:
    assert build_notebooks(["--check"]) == 0, capsys.readouterr().out


@functools.cache
def facts(path: Path) -> tuple[int, dict[str, int], set[str]]:
    """Lines of a file and of each function, without docstrings, and the modules it imports."""
    text, functions, found, docstrings = path.read_text("utf-8"), {}, set[str](), 0
    for node in ast.walk(ast.parse(text)):
        docstrings += (told := docstring_lines(node))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = node.end_lineno - node.lineno + 1 - told
            functions[f"{node.name} in line {node.lineno}"] = lines
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            found.add(node.module)
    return len(text.splitlines()) - docstrings, functions, found


def test_files_are_short() -> None:
    lines = {name(path): facts(path)[0] for path in CODE}
    assert {file: n for file, n in lines.items() if n > LONGER.get(file, MOST_LINES)} == {}


def docstring_lines(node: ast.AST) -> int:
    """Lines of a function's or a class's docstring, which may take the room that it needs."""
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return 0
    said = node.body[0] if ast.get_docstring(node) else None
    return said.end_lineno - said.lineno + 1 if said else 0


def test_nothing_is_cited_that_is_not_here() -> None:
    """A claim is cited by its public page, never by a number in a list that nobody can read."""
    ledger = re.compile(r"\bC\d{3}-\d+\b|\bfacts/\d{3}\b")
    cited = {name(path): ledger.findall(path.read_text("utf-8")) for path in CODE}
    assert {file: found for file, found in cited.items() if found} == {}


def test_functions_are_short() -> None:
    lines = {f"{name(path)}: {f}": n for path in CODE for f, n in facts(path)[1].items()}
    assert {function: n for function, n in lines.items() if n > MOST_FUNCTION_LINES} == {}


def test_no_file_is_a_drawer() -> None:
    assert [name(path) for path in CODE if DRAWERS.fullmatch(path.name)] == []


def test_versions_agree() -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))["project"]
    newest = re.search(
        r"^## \[(\d[^\]]*)\]", (REPOSITORY / "CHANGELOG.md").read_text("utf-8"), re.M
    )
    assert newest is not None
    assert project["version"] == rooflab.__version__ == newest.group(1)


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text("utf-8"))
    local = [link for link in links if not link.startswith(("http://", "https://", "mailto:"))]
    assert [link for link in local if not (page.parent / link).exists()] == []


def gpu_packages(file: str, system: str) -> list[Requirement]:
    lines = (REPOSITORY / file).read_text("utf-8").splitlines()
    found = [Requirement(line) for line in lines if line and line[0] not in "#-"]
    return [r for r in found if r.marker is None or r.marker.evaluate({"sys_platform": system})]


@pytest.mark.parametrize(
    ("file", "package"),
    [("requirements-gpu.txt", "cupy-cuda13x"), ("requirements-gpu-cuda12.txt", "cupy-cuda12x")],
)
def test_gpu_requirements_fit_each_system(file: str, package: str) -> None:
    assert gpu_packages(file, "darwin") == []  # CuPy has no wheels there, its source cannot build
    for system in ("linux", "win32"):
        cupy, nvml = gpu_packages(file, system)
        assert nvml.name == "nvidia-ml-py"  # not its namesake pynvml, which is deprecated
        assert (cupy.name, cupy.extras) == (package, {"ctk"})
        assert not cupy.specifier.contains("14.1.0")  # RAPIDS rules it out
        assert cupy.specifier.contains("14.2.0") and not cupy.specifier.contains("15.0.0")


def layers() -> dict[str, list[Requirement]]:
    """What each layer of the package asks for itself: "core" and each extra but those of tests."""
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))["project"]
    listed = {"core": project["dependencies"], **project["optional-dependencies"]}
    found = {name: [Requirement(line) for line in lines] for name, lines in listed.items()}
    return {name: [r for r in lines if r.name != "rooflab"] for name, lines in found.items()}


def test_the_course_needs_neither_a_gpu_nor_torch() -> None:
    names = {r.name for layer, listed in layers().items() if layer != "test" for r in listed}
    assert not {n for n in names if n.startswith(("cupy", "torch", "nvidia"))}
    assert {"numpy", "scipy", "jupyterlab", "anywidget"} <= names


def test_the_core_is_small_and_each_package_stands_in_one_layer() -> None:
    assert {r.name for r in layers()["core"]} == {"numpy", "pyyaml"}
    names = [r.name for listed in layers().values() for r in listed]
    assert [name for name, times in Counter(names).items() if times > 1] == []


def test_every_dependency_has_both_bounds_and_a_reason() -> None:
    reasons = (REPOSITORY / "docs" / "extending.md").read_text("utf-8")
    for requirement in (each for listed in layers().values() for each in listed):
        operators = {part.operator for part in requirement.specifier}
        assert operators == {">=", "<"}, requirement
        assert f"`{requirement.name}`" in reasons, f"{requirement.name}: why is it needed?"


def imported(*folders: str) -> set[str]:
    """Packages that the code in ``folders`` imports, at the top of a file or inside a function."""
    paths = (path for folder in folders for path in (REPOSITORY / folder).rglob("*.py"))
    found = set().union(*(facts(path)[2] for path in paths))
    ours = {"course", "rooflab", "tests", "tools", "benchmarks"}
    return {name.partition(".")[0] for name in found} - ours - set(sys.stdlib_module_names)


def test_everything_that_is_imported_is_declared() -> None:
    named = {layer: {r.name for r in listed} for layer, listed in layers().items()}
    extra = named.pop("test")
    del named["cluster"]  # imported by its name alone, where it is there
    base = set().union(*named.values())

    def declared_as(package: str) -> str:
        known = {
            "markdown_it": "markdown-it-py",
            "yaml": "pyyaml",
            "zmq": "pyzmq",
            "importlinter": "import-linter",
            "ml_dtypes": "ml_dtypes",
            "PIL": "pillow",
            "cachesim": "pycachesim",
        }
        return known.get(package, package.lower().replace("_", "-"))

    assert {p for p in imported("lib") if declared_as(p) not in base} == set()
    beside_a_gpu = {"cupy", "torch", "triton"}  # nobody without one has them; named by the GPU run
    everything = imported("lib", "tests", "tools", "benchmarks") - beside_a_gpu
    assert {p for p in everything if declared_as(p) not in base | extra} == set()
    run_not_imported = {
        "ipympl", "jupyterlab", "mypy", "notebook", "nvidia-cuda-nvdisasm",
        "nvidia-cuda-nvrtc", "nvidia-ml-py", "pre-commit", "pytest-xdist", "ruff",
        "setuptools", "types-PyYAML",
    }  # fmt: skip
    assert (base | extra) - {declared_as(p) for p in everything} == run_not_imported

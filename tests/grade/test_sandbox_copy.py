"""The copy of rooflab in the sandbox: what is in it, and what is not."""

import ast
import re
import subprocess
import sys

import pytest

from rooflab.exercises.registry import exercises
from rooflab.grade.notebook_code import Needs
from rooflab.grade.sandbox_copy import copy_package


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    return copy_package(tmp_path_factory.mktemp("course")) / "rooflab"


def run(copy, program):
    """Run a program in a fresh Python that finds the copy and nothing else of rooflab."""
    command = [sys.executable, "-P", "-c", program]
    return subprocess.run(command, env={"PYTHONPATH": str(copy.parent)}, capture_output=True,
                          text=True, timeout=60, check=False)  # fmt: skip


def test_no_exercise_and_no_judge_is_in_it(copy):
    rooms = ("exercises", "grade", "labs/golf")
    names = {path.stem for room in rooms for path in (copy / room).rglob("*.py")}
    assert not {name for name in names if re.match("lesson|golf_|timing_mist|judge", name)}
    assert not {"registry", "verdict", "hole_variants", "merge", "verdicts", "worker"} & names


def test_no_reference_can_be_found_in_its_text(copy):
    text = "\n".join(path.read_text("utf-8") for path in copy.rglob("*.py"))
    for exercise in exercises().values():
        assert exercise.question not in text
        assert all(m.hint not in text for m in exercise.misconceptions)
    assert not (copy / "labs" / "golf" / "solutions.py").exists()


def test_it_runs_answers_of_every_kind(copy):
    program = """
import rooflab, rooflab.grade.inside.fork_server as z
z.preload()
from rooflab.exercises.observe.collect import collect
assert "course" in rooflab.__file__
case = {"hole": "axpy", "n": 65536, "dtype": "float64", "seed": 1}
(seen,) = collect("golf", [case], lambda a, x, y: a * x + y)
assert seen["bytes"] > 0 and len(seen["value"]["sums"]) == 256, seen
nest = {"extents": {"i": 8}, "text": "B[i] = 2*A[i]", "caches": []}
assert collect("schedule", [nest], lambda nest: nest.split("i", 4)) == [
    {"value": [["split", ["i", 4]]]}
]
assert collect("function", [{"m": 2}], lambda m: m + 1) == [{"value": 3}]
assert repr(rooflab.check("01-product", 1)) and not rooflab.check("01-product", 1)
def product(): return "own"
assert rooflab.mine.product() == "own", "the notebook's own function"
rooflab.mine.stand_in({"product": lambda: "stands in"})
assert rooflab.mine.product() == "stands in"
try: rooflab.mine.layer
except AttributeError: print("done")
"""
    done = run(copy, program)
    assert done.stdout == "done\n", done.stderr


def test_every_module_in_it_finds_what_it_imports(copy):
    program = """
import importlib, pkgutil, rooflab
def walk(package):
    for found in pkgutil.iter_modules(package.__path__, package.__name__ + "."):
        module = None if found.name == "rooflab.__main__" else importlib.import_module(found.name)
        if found.ispkg: walk(module)
walk(rooflab)
print("done")
"""
    done = run(copy, program)
    assert done.stdout == "done\n", done.stderr


def test_what_is_asked_of_rooflab_in_vain_is_told(copy):
    assert not [path for path in copy.rglob("*.py") if path.stem.startswith("lesson")]
    program = """
import rooflab as rl
from rooflab.labs.golf import HOLES
for ask in (lambda: HOLES["axpy"].reference, lambda: rl.conclude("01-ratio", 1)):
    try: ask()
    except RuntimeError as why: print(why)
"""
    done = run(copy, program)
    holes, conclusions = done.stdout.splitlines() or [done.stderr, ""]
    assert holes == "holes have no answers while notebooks are graded"
    assert "while notebooks are graded" in conclusions


def test_a_conclusion_beside_an_answer_is_not_run_with_it():
    text = (
        "import rooflab as rl\nn = 3\nrl.conclude('01-ratio', n)\nsaid = rl.conclude('01-ratio', n)"
    )
    found = Needs(ast.parse(text).body).of(["rl", "n", "said"])
    assert [ast.unparse(one) for one in found] == ["import rooflab as rl", "n = 3"]


def test_it_is_never_written_to_by_two_at_once(tmp_path):
    copy_package(tmp_path)
    with pytest.raises(FileExistsError):
        copy_package(tmp_path)

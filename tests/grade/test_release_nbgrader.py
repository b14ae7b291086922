"""The export for nbgrader: its metadata by nbgrader's own schema, its tests, its solutions."""

from __future__ import annotations

import json
import re
from importlib import import_module
from importlib.util import find_spec

import jsonschema
import nbformat
import pytest
from typer.testing import CliRunner

from rooflab.cli import app
from rooflab.exercises import registry
from rooflab.exercises.course import read
from rooflab.exercises.hidden_cases import hidden
from rooflab.grade import intake, pipeline
from rooflab.grade.inside.limits import Limits
from rooflab.grade.release import exercise_of, marked
from tests.grade.support import in_process
from tests.grade.support.notebooks import REPOSITORY

SCHEMA = json.loads((REPOSITORY / "assets" / "vendor" / "nbgrader" / "v3.json").read_text("utf-8"))
LESSONS = sorted(path.name[:2] for path in (REPOSITORY / "notebooks").glob("*.ipynb"))
REGION = re.compile(r"[^\n]*### BEGIN SOLUTION\n.*?### END SOLUTION", re.S)


@pytest.fixture(scope="module")
def export(tmp_path_factory):
    out = tmp_path_factory.mktemp("release") / "nb"
    words = ["release", "--out", str(out), "--format", "nbgrader", "--points", "00-peak=5"]
    words += ["01-product=0", "--due", "2026-12-01", "--seed", "7"]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 0, result.output
    return out


@pytest.fixture(scope="module")
def notebooks(export):
    found = sorted((export / "source").glob("*/*.ipynb"))
    return {path.stem[:2]: nbformat.read(path, as_version=4) for path in found}


def learners(number, solved=False):
    """The lesson as the course has it, or its solution."""
    folder = REPOSITORY / "notebooks" / ("solutions" if solved else ".")
    return nbformat.read(next(folder.glob(f"{number}_*.ipynb")), as_version=4)


def marks(notebook):
    return {
        cell.metadata.nbgrader.grade_id: (cell, cell.metadata.nbgrader)
        for cell in notebook.cells
        if "nbgrader" in cell.metadata
    }


def students(notebook):
    """The students' version, made as nbgrader makes it: no solutions, no hidden tests."""
    made = nbformat.from_dict(notebook)
    for cell in made.cells:
        cell.source = REGION.sub("    ", cell.source)
        cell.source = re.sub(r"\n### BEGIN HIDDEN.*END HIDDEN TESTS", "", cell.source, flags=re.S)
    return made


def test_its_metadata_fit_nbgraders_schema(notebooks):
    for notebook in notebooks.values():
        nbformat.validate(notebook)
        seen = [c.metadata.nbgrader for c in notebook.cells if "nbgrader" in c.metadata]
        for told in seen:
            jsonschema.validate(json.loads(json.dumps(told)), SCHEMA)
            assert {"grade_id", "task"} <= set(told) and ("points" in told) == told.grade
        ids = [told.grade_id for told in seen]
        assert len(set(ids)) == len(ids)
        if find_spec("nbgrader"):  # its own validator checks the same, and what no schema can say
            import_module("nbgrader.nbgraderformat.v3").MetadataValidatorV3().validate_nb(notebook)


def test_the_schema_can_fail():
    wrong = {"schema_version": 3, "grade": True, "locked": True, "solution": False, "grade_id": "ä"}
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(wrong, SCHEMA)


def test_every_exercise_is_a_solution_and_a_test_worth_its_points(notebooks, export):
    points = read(export / "course.json").points
    for number, notebook in notebooks.items():
        found = marks(notebook)
        for e in registry.lesson(number):
            cell, told = found[e.id]
            assert (told.solution, told.locked, told.grade) == (True, False, False)
            assert cell.metadata.rooflab.exercise == e.id
            test, told = found[f"check-{e.id}"]
            assert (told.solution, told.locked, told.grade) == (False, True, True)
            assert told.points == points[e.id]
            assert f'rl.check("{e.id}", ' in test.source and f'hidden("{e.id}", ' in test.source
    assert points["00-peak"] == 5 and points["01-product"] == 0


def test_it_says_when_and_how(export, notebooks):
    readme = (export / "README.md").read_text("utf-8")
    assert 'assignment add 00_free_lunch --duedate "2026-12-01 23:59"' in readme
    compile((export / "nbgrader_config.py").read_text("utf-8"), "config", "exec")
    for notebook in notebooks.values():
        assert "Due on 1 December 2026" in notebook.cells[1].source
        assert not [c for c in notebook.cells if c.get("outputs")]
    beside = [path.parent / "course.json" for path in (export / "source").glob("*/*.ipynb")]
    assert all(path.is_file() for path in beside)


def graded(notebook, path):
    path.write_text(nbformat.writes(notebook), "utf-8")
    read_in = intake.read(path)
    return pipeline.one(read_in, 3, Limits(), in_process.run)


@pytest.mark.parametrize("number", LESSONS)
def test_its_solutions_are_right_and_its_students_version_is_unanswered(
    notebooks, number, tmp_path
):
    full = graded(notebooks[number], tmp_path / "a.ipynb")
    assert full.points == full.max > 0, [v.reason for v in full.verdicts.values() if not v.passed]
    empty = graded(students(notebooks[number]), tmp_path / "b.ipynb")
    assert empty.points == 0 and all(v.unanswered for v in empty.verdicts.values())


def test_the_students_version_keeps_no_solution_and_no_seed(notebooks):
    for notebook in notebooks.values():
        text = "\n".join(cell.source for cell in students(notebook).cells)
        assert "SOLUTION" not in text and "HIDDEN" not in text and "hidden(" not in text
        for cell in students(notebook).cells:
            if exercise_of(cell):
                compile(cell.source, "cell", "exec")


def test_the_hidden_cases_hang_on_the_seed(export, tmp_path):
    words = ["release", "--format", "nbgrader", "--lessons", "00", "--out"]
    for name, seed in (("same", ["--seed", "7"]), ("other", ["--seed", "8"]), ("drawn", [])):
        assert CliRunner().invoke(app, [*words, str(tmp_path / name), *seed]).exit_code == 0
    name = "source/00_free_lunch/00_free_lunch.ipynb"
    seeds = [
        re.findall(r'hidden\(\\"[^)]*, \\"(\w+)\\"\)', (folder / name).read_text("utf-8"))
        for folder in (export, *(tmp_path / name for name in ("same", "other", "drawn")))
    ]
    assert len(seeds[0]) == 4 and seeds[0] == seeds[1]
    assert len({tuple(each) for each in seeds}) == 3


@pytest.mark.parametrize("id", ["00-peak", "01-product", "02-golf-squares"])
def test_hidden_cases_are_others_than_those_of_the_check(id):
    asked = registry.exercise(id)
    assert asked.draw("a secret") != asked.draw(0)
    with pytest.raises(AssertionError, match=f"{id} · 0 of "):
        hidden(id, lambda *a: 1, "a secret")
    with pytest.raises(AssertionError, match="not answered"):
        hidden(id, ..., "a secret")


def test_who_learned_the_public_cases_by_heart_does_not_pass():
    asked = registry.exercise("01-product")
    known = {tuple(case.values()): asked.reference(*case.values()) for case in asked.draw(0)}
    with pytest.raises(AssertionError, match="KeyError"):
        hidden("01-product", lambda *inputs: known[inputs], "a secret")
    hidden("01-product", asked.reference, "a secret")


def test_an_answer_cell_is_the_learners_and_below_it_the_solution(notebooks):
    for number, notebook in notebooks.items():
        cells = {
            part: {exercise_of(c): c.source for c in made.cells if exercise_of(c)}
            for part, made in (("learner", learners(number)), ("solved", learners(number, True)))
        }
        for cell in filter(exercise_of, notebook.cells):
            id = exercise_of(cell)
            learner = cells["learner"][id]
            assert cell.source == marked(learner, cells["solved"][id])
            assert re.sub(rf"\n{REGION.pattern}", "", cell.source, flags=re.S) == learner

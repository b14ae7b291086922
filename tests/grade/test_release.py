"""A course pack: what is in it, what is not, and what its points are good for."""

from __future__ import annotations

import csv
import hashlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from typer.testing import CliRunner

from rooflab.cli import app
from rooflab.exercises import registry
from rooflab.exercises.course import read
from rooflab.grade import intake, local_kernel, release
from rooflab.grade.inside.limits import Limits
from rooflab.grade.release import OWN, exercise_of
from tests.grade.support import in_process
from tests.grade.support.notebooks import REPOSITORY, answer, changed, put, solution

WORDS = ["--lessons", "00", "01", "--points", "00-bandwidth=5", "01-product=0"]
WORDS += ["--due", "2026-12-01", "01=2026-12-08", "--title", "Wärme I"]


def rooflab(*words, code=0):
    result = CliRunner().invoke(app, list(map(str, words)))
    assert result.exit_code == code, result.output
    assert "Traceback" not in result.output
    return result.output


@pytest.fixture(scope="module")
def pack(tmp_path_factory):
    out = tmp_path_factory.mktemp("release") / "für alle"
    rooflab("release", "--out", out, *WORDS)
    return out


@pytest.fixture(scope="module")
def learner(pack):
    files = sorted((pack / "notebooks").iterdir())
    return {path.name[:2]: nbformat.read(path, as_version=4) for path in files}


def texts(notebook, kind="markdown"):
    return "\n".join(cell.source for cell in notebook.cells if cell.cell_type == kind)


def test_it_holds_the_chosen_lessons_and_what_they_need(pack):
    assert {p.name[:2] for p in (pack / "notebooks").iterdir()} == {"00", "01"}
    names = {"README.md", "course.json", "course.py", "requirements.txt", "pyproject.toml", "lib",
             "LICENSE", "LICENSE-TEXT", "assets", "notebooks", "setup.py"}  # fmt: skip
    assert names <= {path.name for path in pack.iterdir()}
    assert not [p for p in pack.rglob("*") if p.name in ("__pycache__", "solutions", "source")]
    assert oct(pack.stat().st_mode)[-3:] == "755"


def test_no_solution_is_in_its_notebooks(learner):
    for number, notebook in learner.items():
        for exercise in registry.lesson(number):
            cell = next(c for c in notebook.cells if exercise_of(c) == exercise.id)
            assert "...  # your code; ours has " in cell.source
            assert cell.source != answer(solution(number), exercise.id)["source"]


def test_its_notebooks_are_the_course_s_but_for_the_notes(learner):
    for number, notebook in learner.items():
        nbformat.validate(notebook)
        (file,) = (REPOSITORY / "notebooks").glob(f"{number}_*.ipynb")
        given = nbformat.read(file, as_version=4)
        kept = [c for c in notebook.cells if not c.id.startswith(("due-", "points-"))]
        answers = [c for c in kept if "rooflab" in c.metadata]
        assert answers and not any(c.metadata.pop("deletable") for c in answers)
        assert [(c.id, c.source, c.metadata) for c in kept] == [
            (c.id, c.source, c.metadata) for c in given.cells
        ]
        assert not [c for c in kept if OWN.search(c.source) and c.get("outputs")]
        assert notebook.metadata == given.metadata


def test_points_and_due_dates_stand_in_the_notebooks(learner, pack):
    assert learner["00"].cells[1].source.startswith("**Due on 1 December 2026. 12 points in this")
    assert learner["01"].cells[1].source.startswith("**Due on 8 December 2026. 24 points in this")
    for number, notebook in learner.items():
        for exercise in registry.lesson(number):
            place = [exercise_of(c) for c in notebook.cells].index(exercise.id)
            above = notebook.cells[place - 1].source
            assert f"`{exercise.id}`" in above and exercise.title in above
    assert "**5 points** · " in texts(learner["00"])
    assert "**Voluntary, no points** · A product, counted" in texts(learner["01"])
    readme = (pack / "README.md").read_text("utf-8")
    assert readme.startswith("# Wärme I\n") and "| 24 | 8 December 2026 |" in readme


def test_students_and_teachers_read_the_time_limits_of_the_grader(pack):
    readme = " ".join((pack / "README.md").read_text("utf-8").split())
    cell, whole = f"{Limits().cell:g}", f"{Limits().wall:g}"
    assert f"at most {cell} seconds in the grader" in readme
    assert f"The whole notebook has {whole}," in readme
    assert f"`rooflab check --timeout {cell}`" in readme
    teachers, students = (" ".join(rooflab(each, "--help").split()) for each in ("grade", "check"))
    assert f"a cell may compute for {cell}. [default: {Limits().wall}]" in teachers
    assert f"your teacher's grader gives it {cell}." in students


def test_links_of_its_readme_lead_somewhere(pack):
    links = re.findall(r"\]\(([^)]+)\)", (pack / "README.md").read_text("utf-8"))
    assert len(links) == 2 and all((pack / link).is_file() for link in links)


def test_an_answered_copy_is_read_as_a_submission_of_its_lesson(pack):
    for path in (pack / "notebooks").iterdir():
        found = intake.read(path)
        assert isinstance(found, intake.Submission) and found.lesson == path.name[:2]
        asked = {cell.exercise for cell in found.cells if cell.exercise}
        assert asked == {e.id for e in registry.lesson(found.lesson)} and not found.remarks


def test_the_package_in_it_knows_the_points_of_the_course(pack):
    program = """
import rooflab as rl
right = rl.check("00-bandwidth", lambda s, n, itemsize: 2 * n * itemsize / min(s))
print(right.points, rl.progress("00").points, rl.progress("00").max, rl.__file__)
from rooflab.measure.recording import recordings
assert recordings()
"""
    environment = {**os.environ, "PYTHONPATH": str(pack / "lib"), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run([sys.executable, "-c", program], cwd=pack / "notebooks", env=environment,
                          capture_output=True, text=True, encoding="utf-8", check=True)  # fmt: skip
    said = done.stdout.split(" ", 3)
    assert said[:3] == ["5", "5", "12"] and Path(said[3].strip()).is_relative_to(pack)


def test_grading_counts_the_points_of_the_course(pack, tmp_path, monkeypatch):
    in_process.instead_of_the_sandbox(monkeypatch)
    put(tmp_path / "in" / "ann.ipynb", solution("00"))
    wrong = {"00-bandwidth": "def bandwidth(seconds, n, itemsize):\n    return n"}
    put(tmp_path / "in" / "bob.ipynb", changed(wrong, "00"))
    put(tmp_path / "in" / "cem.ipynb", solution("01"))
    out, words = tmp_path / "out", ["--seed", 3, "--points", pack / "course.json"]
    rooflab("grade", tmp_path / "in", "--out", out, *words)
    with (out / "grades.csv").open(encoding="utf-8") as file:
        rows = {row["student"]: row for row in csv.DictReader(file)}
    assert [(r["points"], r["max"]) for r in rows.values()] == [
        ("12", "12"),
        ("7", "12"),
        ("24", "24"),
    ]
    assert rows["ann"]["00-bandwidth"] == "5" and rows["cem"]["01-product"] == "0"
    page = next((out / "students").glob("bob-*")).read_text("utf-8")
    assert "7 of 12 points" in page and "0 of 5 points" in page
    page = next((out / "students").glob("cem-*")).read_text("utf-8")
    assert "✓ right · voluntary" in page and "0 of 0" not in page
    # Other points, and nothing is run again.
    in_process.instead_of_the_sandbox(monkeypatch, None)
    rooflab("grade", tmp_path / "in", "--out", out, "--seed", 3)
    told = json.loads((out / "results.json").read_text("utf-8"))["submissions"]
    assert [(one["points"], one["max"]) for one in told] == [(8, 8), (7, 8), (28, 28)]


def test_a_check_of_the_file_counts_them_too(pack, tmp_path, monkeypatch):
    monkeypatch.setattr(local_kernel, "run", lambda locked, *_: in_process.run(locked))
    course = tmp_path / "course.json"
    course.write_bytes((pack / "course.json").read_bytes())
    path = put(tmp_path / "notebooks" / "00_free_lunch.ipynb", solution("00"))
    assert "12 of 12 points" in rooflab("check", path)


def test_the_same_words_give_the_same_pack(tmp_path):
    def digest(out):
        rooflab("release", "--out", out, *WORDS)
        files = sorted(p for p in out.rglob("*") if p.is_file())
        told = [(p.relative_to(out).as_posix(), p.read_bytes()) for p in files]
        return hashlib.sha256(repr(told).encode()).hexdigest()

    assert digest(tmp_path / "a") == digest(tmp_path / "b")


def test_without_a_choice_it_is_the_whole_course(tmp_path):
    rooflab("release", "--out", tmp_path / "all")
    course = read(tmp_path / "all" / "course.json")
    numbers = {p.name[:2] for p in (REPOSITORY / "notebooks").glob("*.ipynb")}
    assert set(course.lessons) == numbers & {e.lesson for e in registry.exercises().values()}
    assert course.due == {}
    assert all(course.points[e.id] == e.points for n in course.lessons for e in registry.lesson(n))
    note = nbformat.read(sorted((tmp_path / "all" / "notebooks").iterdir())[0], 4).cells[1]
    assert "Due" not in note.source and "8 points in this lesson" in note.source


def test_nothing_is_overwritten(tmp_path):
    (tmp_path / "out").mkdir()
    rooflab("release", "--out", tmp_path / "out", "--lessons", "00")  # empty: it may be used
    before = (tmp_path / "out" / "README.md").read_bytes()
    assert "there already" in rooflab("release", "--out", tmp_path / "out", code=2)
    file = put(tmp_path / "file", {})
    assert "there already" in rooflab("release", "--out", file, code=2)
    assert (tmp_path / "out" / "README.md").read_bytes() == before


def test_an_error_half_way_leaves_nothing(tmp_path):
    def fill(folder):
        (folder / "half").mkdir()
        raise OSError("no space left on device")

    with pytest.raises(OSError, match="no space"):
        release.in_one_step(tmp_path / "out", fill)
    assert list(tmp_path.iterdir()) == []


def test_a_package_without_its_course_says_so(tmp_path, monkeypatch):
    monkeypatch.setenv("ROOFLAB_NOTEBOOKS", str(tmp_path))
    said = rooflab("release", "--out", tmp_path / "out", code=2)
    assert "run this in the course" in said and not (tmp_path / "out").exists()


def test_a_damaged_course_stops_grading_before_anything_runs(tmp_path):
    path = put(tmp_path / "in" / "ann.ipynb", solution("00"))
    words = ["--points", tmp_path / "course.json", "--out", tmp_path / "out"]
    for text in (None, "{", '{"points": {"00-rigde": 1}}'):
        if text is not None:
            (tmp_path / "course.json").write_text(text)
        assert "course.json" in rooflab("grade", path, *words, code=2)
        assert not (tmp_path / "out").exists()


def test_a_pack_opens_on_its_own_first_lesson(tmp_path):
    rooflab("release", "--out", tmp_path / "p", "--lessons", "2,03")
    words = [sys.executable, "-c", "import course; print(course.LESSON)"]
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        words, cwd=tmp_path / "p", env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "notebooks/02_bytes.ipynb"
    assert read(tmp_path / "p" / "course.json").lessons == ("02", "03")

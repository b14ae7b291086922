"""Odd files, names and numbers: one clear line for each, and nobody else is touched by them."""

from __future__ import annotations

import csv
import io
import os
import sys

import pytest

from rooflab.exercises.registry import exercises
from rooflab.grade import display_names, intake, report, results
from rooflab.grade.intake import Refused
from rooflab.grade.results import Results, Row
from tests.grade.support.notebooks import put, solution

UNSEEN = ("\u3164", "\u115f\u1160", "\u2800", "\ufe0f", "\u034f", "\u200d", "\uffa0", " \u17b4 ")


def test_lines_may_end_as_on_any_computer(tmp_path):
    plain = intake.read(put(tmp_path / "y.ipynb", solution("00")))
    for ending in ("\r\n", "\r"):
        notebook = solution("00")
        for cell in notebook["cells"]:
            cell["source"] = "".join(cell["source"]).replace("\n", ending)
        assert intake.read(put(tmp_path / "x.ipynb", notebook)).cells == plain.cells


@pytest.fixture
def deep(tmp_path):
    """A folder with a file at a depth that no function reaches by calling itself."""
    inner, depth = os.open(tmp_path, os.O_RDONLY), sys.getrecursionlimit() + 100
    for _ in range(depth):
        os.mkdir("d", dir_fd=inner)
        outer, inner = inner, os.open("d", os.O_RDONLY, dir_fd=inner)
        os.close(outer)
    os.close(os.open("deep.ipynb", os.O_CREAT | os.O_WRONLY, dir_fd=inner))
    os.close(inner)
    yield tmp_path
    os.unlink(f"{tmp_path}/{'d/' * depth}deep.ipynb")
    for level in range(depth, 0, -1):  # pytest's own clearing would call itself too deeply
        os.rmdir(f"{tmp_path}/{'d/' * level}")


def test_a_deep_folder_is_looked_through(deep):
    put(deep / "flat.ipynb", solution("00"))
    assert [path.name for path in intake.found([deep])] == ["deep.ipynb", "flat.ipynb"]


def test_a_link_to_a_folder_is_not_followed(tmp_path):
    put(tmp_path / "in" / "ann.ipynb", solution("00"))
    (tmp_path / "in" / "again").symlink_to(tmp_path / "in")
    assert [path.name for path in intake.found([tmp_path / "in"])] == ["ann.ipynb"]


def test_a_name_that_nobody_sees_is_none(tmp_path):
    notebook = solution("00")
    for name in UNSEEN:
        assert display_names.clean(name) == ""
        notebook["metadata"]["rooflab"]["student"] = name
        assert intake.read(put(tmp_path / "x.ipynb", notebook)).student is None
        assert display_names.stem(f"hw/{name}.ipynb") == "unnamed"


def test_marks_do_not_cover_the_lines_around_and_names_keep_theirs():
    assert len(display_names.clean("e" + "\u0301" * 70)) < 7
    for name in ("Nguyễn Thị Hồng", "त्रिशा", "กุ้งนี้", "נָעֳמִי"):
        assert display_names.clean(name) == " ".join(name.split())


def test_two_paths_never_have_one_text():
    texts = {
        display_names.file_text(os.fsdecode(raw))
        for raw in (b"a\xff", rb"a\xff", rb"a\x5cxff", b"a")
    }
    assert len(texts) == 4


def test_no_mark_of_a_file_name_is_a_row_or_a_command(tmp_path):
    odd = "in/x\rann\x1b[2J\x07\x85.ipynb"
    rows = [Row(odd, error="no"), Row("in/ok.ipynb", error="no")]
    found = results.text(Results.of(1, rows))
    assert len(list(csv.reader(io.StringIO(found, newline="")))) == 3
    assert len(found.splitlines()) == 3
    assert all(letter.isprintable() or letter == "\n" for letter in found)
    page = report.class_page(Results.of(1, rows))
    assert "<bdi>x\ufffdann\ufffd[2J\ufffd\ufffd.ipynb</bdi>" in page


def test_every_lesson_is_far_below_what_is_read():
    for lesson in sorted({one.lesson for one in exercises().values()}):
        cells = solution(lesson)["cells"]
        code = sum(len("".join(c["source"])) for c in cells if c["cell_type"] == "code")
        assert 10 * code < intake.MOST_CODE


def test_what_is_no_notebook_has_its_line_too(tmp_path):
    kinds = {"hw.zip": b"PK\x03\x04\x00\xff", "solution.py": b"x = 1", "essay.docx": b"PK\xff",
             "page.html": b"<html>", "notes": b"hello"}  # fmt: skip
    for name, raw in kinds.items():
        (tmp_path / name).write_bytes(raw)
    put(tmp_path / "ann.ipynb", solution("00"))
    for beside in ("mine.py", ".DS_Store", "__pycache__/x.pyc", ".git/config", "Thumbs.db"):
        (tmp_path / beside).parent.mkdir(exist_ok=True)
        (tmp_path / beside).write_bytes(b"x")
    found = intake.found([tmp_path])
    assert [path.name for path in found] == sorted(["ann.ipynb", *kinds])
    reasons = {path.name: intake.read(path) for path in found if path.name in kinds}
    assert all(isinstance(one, Refused) for one in reasons.values())
    assert "but a file of the kind .zip; unpack it" in reasons["hw.zip"].reason
    assert (
        "but a file of the kind .py; hand in the lesson's .ipynb" in reasons["solution.py"].reason
    )
    assert "without an ending" in reasons["notes"].reason

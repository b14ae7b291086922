"""Whatever is handed in: a submission, or one clear line. Nothing raises, nothing waits."""

from __future__ import annotations

import json
import os
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rooflab.grade import display_names, intake
from rooflab.grade.intake import Refused, Submission
from tests.grade.support.notebooks import code, put, solution


def refused(path) -> str:
    found = intake.read(path)
    assert isinstance(found, Refused)
    assert "\n" not in found.reason and 5 < len(found.reason) < 120
    return found.reason


def test_a_lesson_is_read(tmp_path):
    notebook = solution("01")
    notebook["metadata"]["rooflab"]["student"] = "Ann"
    found = intake.read(put(tmp_path / "ann.ipynb", notebook))
    assert isinstance(found, Submission)
    assert (found.lesson, found.student, found.remarks) == ("01", "Ann", ())
    asked = [cell.exercise for cell in found.cells if cell.exercise]
    assert asked[0] == "01-product" and len(asked) == 10
    assert not any("outputs" in vars(cell) for cell in found.cells)


RAW = {
    "truncated": (b'{"cells": [{"cell_type": "code", "sou', "ends too early"),
    "empty": (b"", "empty"),
    "blank": (b" \n\n", "empty"),
    "latin-1": ('{"nbformat": 4, "cells": [], "x": "é"}'.encode("latin-1"), "not UTF-8"),
    "utf-16": ('{"nbformat": 4}'.encode("utf-16"), "not UTF-8"),
    "a picture": (b"\x89PNG\r\n\x1a\n\x00\x00", "not UTF-8"),
    "html": (b"<!DOCTYPE html><html></html>", "not a notebook"),
    "a list": (b"[1, 2]", "no nbformat"),
    "a number": (b"4", "no nbformat"),
    "deep lists": (b'{"nbformat": 4, "cells": ' + b"[" * 100_000, "deep"),
    "deep objects": (b'{"nbformat": 4, "x":' + b'{"a":' * 50_000, "deep"),
    "a bomb of lists": (b'{"nbformat": 4, "cells": [' + b"[]," * 400_000 + b"1]}", "more lists"),
    "a long number": (
        b'{"nbformat": 4, "x": ' + b"9" * 10_000 + b"}",
        "a number of thousands of digits is in it",
    ),
    "cut in a text": (b'{"nbformat": 4, "cells": "' + b"x" * 300, "ends too early"),
    "more behind it": (b'{"nbformat": 4, "cells": []}\n}', "something stands behind its end"),
    "nbformat large": (
        b'{"nbformat": ' + b"9" * 4000 + b"}",
        "nbformat 9999999999999999999… is newer",
    ),
    "nbformat low": (
        b'{"nbformat": -' + b"9" * 4000 + b"}",
        "nbformat -999999999999999999… is too old",
    ),
    "nbformat 3": (b'{"nbformat": 3, "worksheets": [{"cells": []}]}', "nbformat 3"),
    "nbformat 5": (b'{"nbformat": 5, "cells": []}', "nbformat 5"),
    "nbformat true": (b'{"nbformat": true, "cells": []}', "not a number"),
    "no cells": (b'{"nbformat": 4}', "not a list"),
    "cells of text": (b'{"nbformat": 4, "cells": ["x"]}', "cell 1 is not a cell"),
    "source a number": (
        b'{"nbformat": 4, "cells": [{"cell_type": "code", "source": 3}]}',
        "cell 1",
    ),
    "another notebook": (b'{"nbformat": 4, "cells": []}', "no exercise of the course"),
}


def test_what_is_no_notebook_is_refused_in_one_line(tmp_path):
    for kind, (raw, told) in RAW.items():
        (tmp_path / "x.ipynb").write_bytes(raw)
        assert told in refused(tmp_path / "x.ipynb"), kind


def test_a_byte_order_mark_is_no_fault(tmp_path):
    text = json.dumps(solution("00"))
    (tmp_path / "x.ipynb").write_text(text, encoding="utf-8-sig")
    assert isinstance(intake.read(tmp_path / "x.ipynb"), Submission)


def test_half_a_character_is_refused_wherever_it_would_travel_on(tmp_path):
    for kind in ("code", "markdown", "name"):
        notebook = solution("00")
        if kind == "name":
            notebook["metadata"]["rooflab"]["student"] = "A\ud800nn"
        else:
            cell = next(cell for cell in notebook["cells"] if cell["cell_type"] == kind)
            cell["source"] = "x = '\ud800'"
        assert "half a character" in refused(put(tmp_path / "x.ipynb", notebook)), kind


def test_60_mb_are_refused_and_not_read(tmp_path):
    with (tmp_path / "x.ipynb").open("wb") as file:
        file.truncate(60_000_000)
        file.write(b"{")
    assert "larger than 20 MB" in refused(tmp_path / "x.ipynb")


def test_a_huge_cell_and_too_many_cells_are_refused(tmp_path):
    notebook = solution("00")
    notebook["cells"][1]["source"] = "#" * 200_000
    assert "200000 characters" in refused(put(tmp_path / "a.ipynb", notebook))
    notebook["cells"] = [code("1")] * 3_000
    assert "3000 cells" in refused(put(tmp_path / "b.ipynb", notebook))
    notebook["cells"] = [code("x = 1\n" * 9_000)] * 20
    assert "characters of code" in refused(put(tmp_path / "c.ipynb", notebook))


def test_what_is_no_file_is_refused(tmp_path):
    (tmp_path / "folder.ipynb").mkdir()
    assert "folder" in refused(tmp_path / "folder.ipynb")
    assert "no such file" in refused(tmp_path / "nothing.ipynb")
    assert intake.read("nul\0.ipynb").reason


@pytest.mark.skipif(sys.platform == "win32", reason="links and pipes need rights there")
def test_links_and_pipes_are_refused_without_opening_them(tmp_path):
    target = put(tmp_path / "secret" / "solution.ipynb", solution("00"))
    (tmp_path / "link.ipynb").symlink_to(target)
    (tmp_path / "nowhere.ipynb").symlink_to(tmp_path / "nothing")
    os.mkfifo(tmp_path / "pipe.ipynb")
    assert "symbolic link" in refused(tmp_path / "link.ipynb")
    assert "symbolic link" in refused(tmp_path / "nowhere.ipynb")
    assert "pipe" in refused(tmp_path / "pipe.ipynb")
    assert "device" in refused("/dev/zero")


def test_a_newer_python_leaves_a_remark(tmp_path):
    notebook = solution("01")
    for version in ("3.99.1", "3.11.0", "2.7.18", "3.x", 3.99):
        notebook["metadata"]["language_info"] = {"name": "python", "version": version}
        remarks = intake.read(put(tmp_path / "a.ipynb", notebook)).remarks
        told = any("written with Python 3.99; here Python 3." in each for each in remarks)
        assert told is (version == "3.99.1"), version


def test_a_kernel_of_another_name_is_a_remark_and_another_language_a_refusal(tmp_path):
    notebook = solution("00")
    notebook["metadata"]["kernelspec"] = {"name": "my-venv", "language": "python"}
    assert "my-venv" in intake.read(put(tmp_path / "a.ipynb", notebook)).remarks[0]
    notebook["metadata"]["kernelspec"] = {"name": "ir", "language": "R"}
    assert "Python is wanted" in refused(put(tmp_path / "b.ipynb", notebook))
    notebook["metadata"] = {"kernelspec": ["no"], "language_info": 3, "rooflab": "x"}
    assert intake.read(put(tmp_path / "c.ipynb", notebook)).lesson == "00"


def test_the_lesson_is_the_one_whose_exercises_are_there(tmp_path):
    notebook = solution("03")
    notebook["metadata"]["rooflab"]["lesson"] = "00_free_lunch"
    assert intake.read(put(tmp_path / "x.ipynb", notebook)).lesson == "03"
    del notebook["metadata"]["rooflab"]
    assert intake.read(put(tmp_path / "x.ipynb", notebook)).lesson == "03"


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_no_damage_to_the_bytes_raises(tmp_path_factory, data):
    raw = bytearray(json.dumps(solution("00"))[:4000], "utf-8")
    for _ in range(data.draw(st.integers(0, 5))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    path = tmp_path_factory.mktemp("damaged") / "x.ipynb"
    path.write_bytes(raw[: data.draw(st.integers(0, len(raw)))])
    assert isinstance(intake.read(path), Refused)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inside: (
        st.lists(inside, max_size=3)
        | st.dictionaries(
            st.sampled_from(["cells", "metadata", "nbformat", "source", "cell_type", "rooflab"]),
            inside,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@settings(max_examples=150, deadline=None)
@given(JSON, JSON)
def test_no_shape_of_json_raises(tmp_path_factory, cells, metadata):
    path = tmp_path_factory.mktemp("shapes") / "x.ipynb"
    path.write_text(json.dumps({"nbformat": 4, "cells": cells, "metadata": metadata}), "utf-8")
    assert isinstance(intake.read(path), (Refused, Submission))


def test_names_keep_what_is_seen_and_lose_what_turns_a_line_around():
    assert display_names.clean('O\'Brien "Bob" / Ümit') == 'O\'Brien "Bob" / Ümit'
    assert display_names.clean("a\u202eb\u200fc\x00d\n\te\u2028f") == "abc d e f"
    assert display_names.clean("\u0646\u0645\u06cc\u200c\u062e") == "\u0646\u0645\u06cc\u200c\u062e"
    assert len(display_names.clean("x" * 10**6)) == display_names.LONGEST
    assert display_names.clean("e\u0301") == "é"


def test_equal_stems_are_told_apart_by_folder_and_own_names_stay():
    found = ["x/mon/hw.ipynb", "x/fri/hw.ipynb", "x/ann.ipynb", "b/c/hw.ipynb"]
    assert display_names.students(found, [None, None, None, "Cem"]) == [
        "mon/hw",
        "fri/hw",
        "ann",
        "Cem",
    ]
    assert display_names.students(["a/m/hw.ipynb", "b/m/hw.ipynb"], [None] * 2) == [
        "a/m/hw",
        "b/m/hw",
    ]
    assert len(set(display_names.students(["a/hw.ipynb"] * 3, [None] * 3))) == 3
    assert display_names.students(["a/1.ipynb", "a/2.ipynb"], ["Ann", "Ann"]) == ["Ann", "Ann"]
    assert display_names.students(["a/ann.ipynb", "c/x.ipynb"], [None, "ann"]) == ["a/ann", "ann"]
    assert display_names.students(["ann.ipynb", "x.ipynb"], [None, "ann"]) == ["ann (2)", "ann"]


@given(st.lists(st.text("ab/.\u202e", max_size=9), max_size=6))
def test_students_named_by_file_always_differ(paths):
    found = display_names.students([f"{path}.ipynb" for path in paths], [None] * len(paths))
    assert len(set(found)) == len(paths)


def test_page_names_are_plain_and_differ(tmp_path):
    for student in ("../../etc/passwd", "", "نام", 'x" onload="', "CON", "a" * 300):
        page = display_names.page_name(student, "f.ipynb")
        assert page.isascii() and "/" not in page and len(page) < 64 and page.endswith(".html")
    assert display_names.page_name("Ann", "1.ipynb") != display_names.page_name("Ann", "2.ipynb")


def test_a_folder_stands_for_the_files_in_it(tmp_path):
    for each in ("b.ipynb", "a.ipynb", "deep/c.ipynb", ".ipynb_checkpoints/a.ipynb"):
        put(tmp_path / "in" / each, {})
    (tmp_path / "in" / "notes.txt").touch()
    (tmp_path / "in" / "trap.ipynb").mkdir()
    listed = intake.found([tmp_path / "in", tmp_path / "in" / "b.ipynb"])
    assert [path.name for path in listed] == [
        "a.ipynb", "b.ipynb", "c.ipynb", "notes.txt", "trap.ipynb",
    ]  # fmt: skip
    (tmp_path / "none").mkdir()
    assert intake.found([tmp_path / "none"]) == [tmp_path / "none"]


def test_a_notebook_by_another_ending_is_not_passed_over(tmp_path):
    for name in ("A.IPYNB", "b.ipynb.txt", "c.ipynb.json", "d.json", "e.txt"):
        put(tmp_path / name, solution("00"))
    listed = intake.found([tmp_path])
    assert [path.name for path in listed] == [
        "A.IPYNB", "b.ipynb.txt", "c.ipynb.json", "d.json", "e.txt",
    ]  # fmt: skip
    assert all(isinstance(intake.read(path), Submission) for path in listed)

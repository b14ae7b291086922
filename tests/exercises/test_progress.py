"""What stands at the end of a lesson: points so far, what is missing, and nothing that raises."""

from __future__ import annotations

import json
import re
from datetime import date
from html.parser import HTMLParser
from pathlib import Path

import nbformat
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rooflab as rl
from rooflab.exercises import check, registry
from rooflab.exercises.course import Course, beside, read, weighed
from rooflab.exercises.verdict import Verdict
from tools.outputs import settle
from tools.slides import BACKSTAGE

SOURCES = sorted((Path(__file__).resolve().parents[2] / "notebooks" / "source").glob("*.py"))
LESSONS = sorted({e.lesson for e in registry.exercises().values()})


@pytest.fixture(autouse=True)
def _new_kernel(tmp_path, monkeypatch):
    check.forget()
    (tmp_path / "notebooks").mkdir()
    monkeypatch.chdir(tmp_path / "notebooks")
    yield
    check.forget()


class Reader(HTMLParser):
    """Refuses tags that do not pair up."""

    def __init__(self):
        super().__init__()
        self.open, self.words = [], []

    def handle_starttag(self, tag, attrs):
        self.open += [] if tag == "br" else [tag]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)


def page(shown):
    reader = Reader()
    reader.feed(shown._repr_html_())
    assert reader.open == []
    return " ".join(reader.words)


def test_before_any_check_everything_is_missing():
    for lesson in LESSONS:
        shown = rl.progress(lesson)
        assert shown.points == 0 < shown.max == sum(e.points for e in registry.lesson(lesson))
        assert shown.missing == tuple(e.id for e in registry.lesson(lesson))
        assert "No check cell was run" in repr(shown) and f"0 of {shown.max} points" in page(shown)


def right(seconds, n, itemsize):
    """The answer to 00-bandwidth."""
    return 2 * n * itemsize / min(seconds)


def test_what_was_checked_is_what_it_shows():
    rl.check("00-bandwidth", right)
    rl.check("00-time", lambda k, n, i, p, b: k * i)
    rl.check("00-lunch")
    rl.check("01-speed-limit", lambda p, b, s: p / b)  # another lesson's
    text = repr(rl.progress("00"))
    assert text.splitlines()[0] == "Lesson 00: 1 of 8 points, 1 of 4 exercises right"
    for mark, id in (("✓", "00-bandwidth"), ("✗", "00-time"), ("○", "00-lunch"), ("·", "00-peak")):
        assert re.search(rf"^{mark} {id} ", text, re.M), text
    assert "01-speed-limit" not in text and "run the check cells again" in text
    assert "not right: the ridge alone" in repr(rl.progress("01"))


def test_the_last_check_counts_also_when_it_is_worse():
    for answer, points in ((right, 1), (lambda s, n, i: n, 0), (right, 1)):
        rl.check("00-bandwidth", answer)
        assert rl.progress("00").points == points


@pytest.mark.parametrize("lesson", LESSONS)
def test_a_finished_lesson_misses_nothing(lesson):
    for e in registry.lesson(lesson):
        check.keep(Verdict(e.id, True, e.points, e.points, "right"))
    shown = rl.progress(lesson)
    assert shown.missing == () and shown.points == shown.max
    assert "Nothing is missing" in repr(shown) and "#009E73" in shown._repr_html_()


def test_the_lesson_may_be_named_in_several_ways():
    for told in ("02", 2, " 02 ", "2", "02_bytes", "02_bytes.ipynb"):
        assert rl.progress(told).lesson == "02"


def test_an_unknown_lesson_is_named_with_those_that_exist():
    for told in ("77", "", None, "bytes", -1, [], 2.5e300):
        with pytest.raises(ValueError, match=r"lesson=.*00, 01"):
            rl.progress(told)


@given(st.lists(st.sampled_from(list(registry.exercises())), max_size=8), st.data())
def test_points_and_missing_always_add_up(ids, data):
    check.forget()
    for id in ids:
        most = registry.exercise(id).points
        right = data.draw(st.booleans())
        said = data.draw(st.sampled_from(["not answered yet: 1 line", "<b>no</b>"]))
        check.keep(Verdict(id, right, most * right, most, said, misconception=said))
    for lesson in LESSONS:
        shown = rl.progress(lesson)
        right = {e.id for e in registry.lesson(lesson)} - set(shown.missing)
        assert right <= set(ids)
        assert shown.points == sum(registry.exercise(id).points for id in right)
        assert "<b>no</b>" not in shown._repr_html_()
        page(shown)


def test_it_lists_the_exercises_as_the_lesson_asks_them():
    for source in SOURCES:
        text, shown = source.read_text("utf-8"), rl.progress(source.name[:2])
        asked = re.findall(r'rooflab=\{"exercise": "([^"]+)"', text)
        listed = [line.exercise.id for line in shown.lines]
        assert listed == asked, "put the ids into registry._ORDER as the lesson has them"
        numbers = re.findall(r"^# ### Exercise (\d+) ·", text, re.M)
        for number, line in zip(numbers, shown.lines, strict=True):
            assert f" {number} · {line.exercise.title}" in page(shown)


def test_every_lesson_ends_with_its_progress():
    for source in SOURCES:
        last = source.read_text("utf-8").split("# %%")[-1]
        assert f'rl.progress("{source.name[:2]}")' in last


def test_a_course_says_what_an_exercise_is_worth(tmp_path):
    course = Course(points={"00-bandwidth": 5, "00-time": 0})
    (tmp_path / "course.json").write_text(json.dumps(course.to_dict()))
    assert rl.check("00-bandwidth", right).points == 5
    shown = rl.progress("00")
    assert (shown.points, shown.max) == (5, 5 + 0 + 2 + 3)
    assert rl.check("00-time", lambda *a: 1).max == 0


def test_a_damaged_course_is_named_by_the_grader_and_ignored_by_a_check(tmp_path):
    for text, told in (
        ("{", "not JSON"),
        ("[]", '"points" is wanted'),
        ('{"points": []}', "must be a table"),
        ('{"points": {"00-peek": 1}}', "did you mean '00-peak'"),
        ('{"points": {"00-bandwidth": 1.5}}', "whole number"),
        ('{"points": {"00-bandwidth": -1}}', "whole number"),
        ('{"schema": 9, "points": {}}', "schema 9"),
        ("[" * 100_000, "course.json"),
        ('{"points": {}, "lessons": "01"}', '"lessons" must be a list of their numbers'),
        ('{"points": {}, "lessons": {"01": true}}', '"lessons" must be a list'),
        ('{"points": {}, "due": ["2026-12-01"]}', '"due" must be a table'),
        ('{"points": {}, "due": {"01": 5}}', '"due" of 01: 5 must be a date, "2026-12-01"'),
        ('{"points": {}, "due": {"01": "next week"}}', "of 01: 'next week' must be a date"),
    ):
        file = tmp_path / "course.json"
        file.write_text(text)
        with pytest.raises(ValueError, match=re.escape(told)) as raised:
            read(file)
        assert "course.json" in str(raised.value) and len(str(raised.value).splitlines()) == 1
        assert beside(tmp_path) == Course()
        assert rl.check("00-bandwidth", right).points == 1


def test_a_lesson_worth_nothing_is_refused():
    with pytest.raises(ValueError, match="nothing in lesson 00"):
        Course(points={e.id: 0 for e in registry.lesson("00")})


def test_a_course_survives_its_file(tmp_path):
    course = Course("Wärme & Flüsse", ("00", "01"), {"00-bandwidth": 4}, {"00": date(2026, 12, 1)})
    (tmp_path / "c.json").write_text(json.dumps(course.to_dict()), "utf-8")
    assert read(tmp_path / "c.json") == course
    assert Course.from_dict({"points": {}}) == Course(), "what need not be said"
    told = Course.from_dict({"points": {}, "lessons": ["01", 2], "due": {"01": "2026-12-01"}})
    assert (told.lessons, told.due) == (("01", "2"), {"01": date(2026, 12, 1)})


def test_a_verdict_is_weighed_as_a_whole():
    good, wrong = Verdict("00-bandwidth", True, 1, 1, ""), Verdict("00-time", False, 0, 2, "")
    points = {"00-bandwidth": 3, "00-time": 5}
    assert (weighed(good, points).points, weighed(good, points).max) == (3, 3)
    assert (weighed(wrong, points).points, weighed(wrong, points).max) == (0, 5)
    assert weighed(good, {}) is good


def test_a_page_and_a_lecture_show_nobodys_points():
    cell = nbformat.v4.new_code_cell('rl.progress("00")')
    cell.outputs = [nbformat.v4.new_output("execute_result", {"text/plain": "0 of 7 points"})]
    notebook = nbformat.v4.new_notebook(cells=[cell])
    settle(notebook)
    assert "0 of 7" not in str(notebook.cells[0].outputs)
    assert "Your own points stand here" in str(notebook.cells[0].outputs)
    assert BACKSTAGE.match(cell.source)


def test_a_working_directory_that_is_gone_stops_nothing(tmp_path, monkeypatch):
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    try:
        gone.rmdir()
    except OSError:  # Windows keeps the folder that somebody is in
        return
    assert rl.check("00-bandwidth", right).passed
    assert rl.progress("00").points == 1

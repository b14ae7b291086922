"""A course file that a teacher may have written by hand: what is wrong with it is said."""

from __future__ import annotations

from datetime import date

import pytest

from rooflab.exercises.course import Course


def test_what_is_wrong_with_a_course_is_told():
    for wrong, said in (
        ({"lessons": "01"}, r'"lessons" must be a list of their numbers'),
        ({"lessons": {"01": True}}, r'"lessons" must be a list'),
        ({"due": ["2026-12-01"]}, r'"due" must be a table'),
        ({"due": {"01": 5}}, r'"due" of 01: 5 must be a date, "2026-12-01"'),
        ({"due": {"01": "next week"}}, r"\"due\" of 01: 'next week' must be a date"),
    ):
        with pytest.raises(ValueError, match=said):
            Course.from_dict({"points": {}, **wrong})


def test_what_a_teacher_need_not_say_has_its_usual_value():
    assert Course.from_dict({"points": {}}) == Course()
    told = Course.from_dict({"points": {}, "lessons": ["01", 2], "due": {"01": "2026-12-01"}})
    assert (told.lessons, told.due) == (("01", "2"), {"01": date(2026, 12, 1)})

"""The timeline below a timing verdict: what the simulated GPU did, drawn from its log."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from rooflab.exercises.check import check
from rooflab.exercises.registry import exercise


@pytest.fixture(autouse=True)
def no_gpu(monkeypatch):
    monkeypatch.setenv("ROOFLAB_BACKEND", "cpu")


def mistaken(id, name):
    return next(m.wrong for m in exercise(id).misconceptions if m.name == name)


def test_the_words_say_what_lies_between_the_events():
    for id, mistake, said in (
        ("01-cuda-axpy", "no synchronise", "before the GPU had come to the second event"),
        ("01-cuda-axpy", "two kernels", "20 other kernels"),
        ("01-cuda-gemv", "warm L2", "100 % of the bytes came from L2"),
    ):
        assert said in check(id, mistaken(id, mistake)).picture.words


def test_the_time_above_the_two_lines_is_what_the_answer_read():
    verdict = check("01-cuda-gemv", exercise("01-cuda-gemv").reference)
    assert "29.0 µs" in ElementTree.fromstring(verdict.picture.svg).itertext()


def test_the_picture_is_no_part_of_the_data():
    verdict = check("01-cuda-axpy", exercise("01-cuda-axpy").reference)
    assert "picture" not in verdict.to_dict() and "<svg" not in repr(verdict)
    assert "<svg" in verdict._repr_html_()


def test_without_a_launch_there_is_nothing_to_draw():
    for answer in (..., 3, lambda *given: 1 / 0, lambda *given: 1e-3):
        assert check("01-cuda-axpy", answer).picture is None

"""The timeline below a timing verdict: what the simulated GPU did, drawn from its log."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from rooflab.exercises.check import check
from rooflab.exercises.registry import exercise
from rooflab.labs.cuda.timeline import HEIGHT, WIDTH

TIMED = ("01-cuda-axpy", "01-cuda-gemv", "01-cuda-gemm")


@pytest.fixture(autouse=True)
def no_gpu(monkeypatch):
    monkeypatch.setenv("ROOFLAB_BACKEND", "cpu")


def mistaken(id, name):
    return next(m.wrong for m in exercise(id).misconceptions if m.name == name)


def boxes(picture):
    svg = ElementTree.fromstring(picture.svg)
    return [
        {k: float(box.get(k)) for k in ("x", "y", "width", "height")} | {"fill": box.get("fill")}
        for box in svg.iter()
        if box.tag.endswith("rect")
    ]


def test_every_way_of_the_exercise_is_drawn_inside_the_frame():
    for id in TIMED:
        known = exercise(id)
        for answer in (known.reference, *(m.wrong for m in known.misconceptions)):
            picture = check(id, answer).picture
            assert picture.words in picture._repr_html_()
            for box in boxes(picture):
                assert box["x"] >= 0 and box["x"] + box["width"] <= WIDTH + 1
                assert box["y"] >= 0 and box["y"] + box["height"] <= HEIGHT
            for word in ElementTree.fromstring(picture.svg).itertext():
                assert "nan" not in word


def test_the_words_say_what_lies_between_the_events():
    for id, mistake, said in (
        ("01-cuda-axpy", "no synchronise", "before the GPU had come to the second event"),
        ("01-cuda-axpy", "host timer", "You read no two events"),
        ("01-cuda-axpy", "no warm-up", "sets things up"),
        ("01-cuda-axpy", "two kernels", "20 other kernels"),
        ("01-cuda-gemv", "warm L2", "100 % of the bytes came from L2"),
        ("01-cuda-gemv", "written flush", "left dirty in L2"),
        ("01-cuda-gemv", "idle GPU", "the GPU waited for Python"),
        ("01-cuda-gemv", "flush inside", "1 other kernel ran"),
    ):
        assert said in check(id, mistaken(id, mistake)).picture.words


def test_of_a_right_timing_only_launches_and_seconds_are_told():
    for id in TIMED:
        words = check(id, exercise(id).reference).picture.words
        assert re.fullmatch(r"Between your last two events: \d+ launch(es)? of the operation, .+ "
                            r"[mµ]s\.",
                            words)  # fmt: skip


def test_the_time_above_the_two_lines_is_what_the_answer_read():
    verdict = check("01-cuda-gemv", exercise("01-cuda-gemv").reference)
    assert "29.0 µs" in ElementTree.fromstring(verdict.picture.svg).itertext()


def test_a_wait_of_the_gpu_is_a_dashed_frame_as_wide_as_the_wait():
    picture = check("01-cuda-gemv", mistaken("01-cuda-gemv", "no warm-up")).picture
    frame = next(box for box in boxes(picture) if box["fill"] == "none")
    between = WIDTH * 0.9 / (1 + 0.45 + 0.12)
    assert frame["width"] == pytest.approx(between, rel=0.05)


def test_the_picture_is_no_part_of_the_data():
    verdict = check("01-cuda-axpy", exercise("01-cuda-axpy").reference)
    assert "picture" not in verdict.to_dict() and "<svg" not in repr(verdict)
    assert "<svg" in verdict._repr_html_()


def test_without_a_launch_there_is_nothing_to_draw():
    for answer in (..., 3, lambda *given: 1 / 0, lambda *given: 1e-3):
        assert check("01-cuda-axpy", answer).picture is None


def test_swapped_events_are_drawn_and_told():
    def swapped(cp, x, y, a):
        cp.cublas.axpy(a, x, y)
        start, stop = cp.cuda.Event(), cp.cuda.Event()
        start.record()
        cp.cublas.axpy(a, x, y)
        stop.record()
        stop.synchronize()
        return cp.cuda.get_elapsed_time(stop, start) / 1e3

    assert "in the wrong order" in check("01-cuda-axpy", swapped).picture.words

"""Byte golf as an exercise: any right way within par passes, and the verdict needs only numbers."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from rooflab.course.lesson02 import exercises as lesson02
from rooflab.exercises.check import check
from rooflab.exercises.exercise import Exercise
from rooflab.exercises.judge import judge
from rooflab.exercises.kinds.golf import sound
from rooflab.exercises.observe import golf as golfing
from rooflab.exercises.observe.collect import collect
from rooflab.exercises.observe.golf import arrays, digest
from rooflab.exercises.registry import exercise, lesson
from rooflab.labs.golf import CACHE, HOLES
from rooflab.labs.golf.buffers import LINE
from tests.exercises.support.quick_verdict import quick_verdict

FIVE = [e for e in lesson("02") if e.kind == "golf"]
HOLE_OF = {e.id: e.draw(0)[0]["hole"] for e in FIVE}


def names(found: Exercise) -> str:
    return found.id


def axpy_with_scratch(a, x, y):
    out, t = np.empty_like(x), np.empty(4096, x.dtype)
    for i in range(0, len(x), 4096):
        part = t[: len(x[i : i + 4096])]
        np.multiply(x[i : i + 4096], a, out=part)
        np.add(part, y[i : i + 4096], out=out[i : i + 4096])
    return out


def norm_of_views(x):
    for i in range(0, len(x), 8):
        rows = x[i : i + 8]
        rows /= np.sqrt(np.einsum("ij,ij->i", rows, rows))[:, None]
    return x


def relu_on_views(x, b):
    for i in range(0, len(x), 8):
        part = x[i : i + 8]
        part += b
        np.maximum(part, 0, out=part)
    return x


def scale_on_views(a, b, x, y):
    for i in range(0, len(x), 4096):
        part = y[i : i + 4096]
        part += a * x[i : i + 4096]
        part *= b
    return y


OTHER_WAYS = [
    ("02-golf-axpy", axpy_with_scratch),
    ("02-golf-squares", lambda x: np.vdot(x, x)),
    ("02-golf-row-norm", norm_of_views),
    ("02-golf-bias-relu", relu_on_views),
    ("02-golf-scale-add-scale", scale_on_views),
]


@pytest.mark.parametrize(("id", "way"), OTHER_WAYS)
def test_other_right_ways_within_par_pass(patient, id, way):
    """On a third of the numbers that a check draws: still much more than the cache holds."""
    found = exercise(id)
    cases = [{**case, "n": 512 * 421} for case in found.draw(0)]
    verdict = judge(found, cases, collect("golf", cases, way))
    assert verdict.passed, verdict
    assert "score 1.0" in verdict.reason


def test_hidden_cases_have_several_sizes_and_types_and_leave_a_short_last_piece():
    for found in FIVE:
        for seed in range(20):
            cases = found.draw(seed)
            assert len(cases) >= 3 and {c["dtype"] for c in cases} == {"float32", "float64"}
            assert len({c["n"] for c in cases}) > 1
            for case in cases:
                assert case["n"] % 4096 and (case["n"] % 512 or case["n"] // 512 % 8)
                assert case["n"] * 4 > 4 * CACHE, "much of it might fit the cache"


def test_a_column_of_lines_fits_the_cache_in_the_sizes_that_a_check_draws():
    """So a walk by columns is right there: the neighbours find their lines (see tests/golf)."""
    for seed in range(20):
        for case in exercise("02-golf-bias-relu").draw(seed):
            x, _ = arrays(case)
            assert len(x) * LINE < CACHE / 4


def test_the_holes_are_numbered_as_the_exercises_are():
    written = Path(__file__).resolve().parents[3] / "notebooks" / "source" / "02_bytes.py"
    order = re.findall(r'"exercise": "(02-golf-[a-z-]+)"', written.read_text(encoding="utf-8"))
    assert [HOLE_OF[id] for id in order] == list(HOLES)


def test_every_variant_says_in_a_phrase_what_it_does():
    for hole in HOLES.values():
        assert list(hole.says) == list(hole.variants)
        assert all(5 < len(phrase) <= 70 and ":" not in phrase for phrase in hole.says.values())


def test_the_verdict_needs_only_plain_json():
    found = exercise("02-golf-row-norm")
    cases = found.draw("secret")
    seen = json.loads(json.dumps(collect("golf", cases, found.reference)))
    assert judge(found, json.loads(json.dumps(cases)), seen).passed
    assert not judge(found, cases, seen[:-1]).passed
    wrong = json.loads(json.dumps(collect("golf", cases, lambda x: x / np.abs(x).max())))
    assert "not right" in judge(found, cases, wrong).reason


def forged(**changes):
    cases = exercise("02-golf-squares").draw(0)
    seen = collect("golf", cases, lambda x: np.dot(x, x))
    return cases, [{**one, **changes} for one in seen]


def test_a_forged_trace_fails_and_breaks_nothing():
    for changes in (
        {"bytes": 1}, {"bytes": True}, {"bytes": None}, {"trips": 3}, {"trips": [None]},
        {"trips": [{}]}, {"size": 0}, {"size": "x"}, {"value": 7},
    ):  # fmt: skip
        cases, seen = forged(**changes)
        assert not judge(exercise("02-golf-squares"), cases, seen).passed


def test_the_result_and_the_bytes_that_came_back_are_not_believed():
    for changes in ({"trips": [], "bytes": 0}, {"value": {}}, {"value": {"sums": ["1"]}}):
        cases, seen = forged(**changes)
        verdict = judge(exercise("02-golf-squares"), cases, seen)
        assert verdict.passed and "4 bytes for every" in verdict.reason  # what its program moves
    cases = exercise("02-golf-squares").draw(0)
    wasteful = collect("golf", cases, lambda x: np.sum(x * x))
    verdict = judge(exercise("02-golf-squares"), cases, [{**s, "bytes": s["size"], "trips": [
        {**s["trips"][0], "moved": s["size"]}]} for s in wasteful])  # fmt: skip
    assert not verdict.passed and "score 3" in verdict.reason


def test_forged_names_of_calls_break_nothing():
    for calls in (3, None, [], [[]], {"maximum": 1}):
        found = exercise("02-golf-bias-relu")
        cases = found.draw(0)
        seen = collect("golf", cases, lambda x, b: x + b)
        verdict = judge(found, cases, [{**one, "calls": calls, "loops": "yes"} for one in seen])
        assert not verdict.passed and verdict.misconception == "no ReLU"


def test_the_reason_says_what_is_wrong(patient):
    for answer, words in (
        (lambda a, x, y: 3, "the shape of one number"),
        (lambda a, x, y: (a * x + y)[:-1], ", not "),
        (lambda a, x, y: x.nonsense(), "no attribute 'nonsense'"),
        (lambda a, x, y: (a * x + y).astype(np.float64), "float64; the inputs are float32"),
        (lambda a, x, y: a * x - y, "the numbers are not right"),
        (lambda a, x, y: "text", "an array of numbers is wanted"),
        (lambda a, x: x, "3 inputs"),
        (np.zeros(3), "a function is wanted, not its value"),
        (lambda a, x, y: list(x.tolist()), "tolist takes the numbers out"),
    ):
        verdict = check("02-golf-axpy", answer)
        assert not verdict.passed and words in verdict.reason, verdict


def test_a_loop_over_elements_is_stopped_once_and_not_for_every_case(capsys, monkeypatch):
    monkeypatch.setattr(golfing, "LIMITS", replace(golfing.LIMITS, steps=5000))

    def by_element(a, x, y):
        print("called")
        for i in range(len(x)):
            y[i] += a * x[i]
        return y

    verdict = check("02-golf-axpy", by_element)
    assert "was stopped after" in verdict.reason and "larger chunks" in verdict.reason
    assert capsys.readouterr().out == "called\n"


def test_one_wrong_number_among_many_is_noticed():
    right = np.linspace(1, 2, 300_007)
    wrong = right.copy()
    wrong[-1] += 0.01
    sums, others = (np.array(digest(a, 5)["sums"]) for a in (right, wrong))
    assert np.count_nonzero(sums != others) == 1
    assert abs(others[-1] - sums[-1]) > 1e-9 * sums[-1] * 100


def norm_in_large_pieces(x):
    for i in range(0, len(x), 400):
        rows = x[i : i + 400]
        rows /= np.sqrt(np.einsum("ij,ij->i", rows, rows))[:, None]
    return x


def norm_in_two_loops(x):
    lengths = [np.sqrt(np.dot(row, row)) for row in x]
    for row, length in zip(x, lengths):
        row /= length
    return x


def relu_stacked(x, b):
    return np.vstack([np.maximum(x[i : i + 8] + b, 0) for i in range(0, len(x), 8)])


def by_variance(x):
    return np.var(x) * len(x) + x.mean() ** 2 * len(x)


def test_the_mistake_is_named(patient):
    for id, way, mistake in (
        ("02-golf-row-norm", norm_in_large_pieces, "piece larger than the cache"),
        ("02-golf-row-norm", norm_in_two_loops, "two passes over the whole array"),
        ("02-golf-row-norm", lambda x: np.divide(x, np.linalg.norm(x, axis=1)[:, None], out=x),
         "the plain expression"),
        ("02-golf-bias-relu", relu_stacked, "pieces joined at the end"),
        ("02-golf-squares", by_variance, "several passes in one call"),
    ):  # fmt: skip
        verdict = quick_verdict(exercise(id), exercise(id).draw(0), way)
        assert not verdict.passed and verdict.misconception == mistake, verdict


def test_a_mistake_is_seen_only_where_it_was_made():
    cases = exercise("02-golf-axpy").draw(0)
    shown = {
        name: getattr(lesson02, name)
        for name in ("wider", "tail_forgotten", "mask", "works_in_place", "out_again",
                     "joins_pieces",
                     "large_piece", "whole_temporary", "passes", "copied_first",
                     "input_as_scratch", "pieces_overlap", "does_one_piece", "calls_outside_loop",
                     "two_loops",
                     "filled_first")
    }  # fmt: skip
    for case, seen in zip(cases, collect("golf", cases, axpy_with_scratch), strict=True):
        assert sound(seen)
        assert [name for name, shows in shown.items() if shows(case, seen)] == []

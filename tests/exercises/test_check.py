"""What a learner sees: a verdict, always, and the same one every time."""

from __future__ import annotations

import json
import math
import sys

import numpy as np
import pytest

from rooflab.exercises.check import check
from rooflab.exercises.judge import judge
from rooflab.exercises.observe.collect import collect
from rooflab.exercises.registry import exercise, exercises


class AlwaysEqual:
    def __eq__(self, other):
        return True


class Explosive:
    def __getattribute__(self, name):
        raise RuntimeError("boom")


class Exiting:
    """Ends the interpreter, or so it hopes, whatever it is asked for."""

    def __getattribute__(self, name):
        raise SystemExit

    def __call__(self, *_):
        return self


class Nameless(Exception):
    def __str__(self):
        raise RuntimeError


class Hidden(type):
    @property
    def __name__(cls):
        raise KeyboardInterrupt


class Classless(Exception, metaclass=Hidden):
    pass


def raising(error):
    def answer(*_):
        raise error

    return answer


HOSTILE = [
    ..., None, 3, "text", math.nan, math.inf, True, [1, 2], {"a": 1}, 10**5000, AlwaysEqual(),
    Explosive(), np.zeros(3), np.array([AlwaysEqual()]), len, int, lambda: 1,
    lambda *a: AlwaysEqual(), lambda *a: Explosive(), lambda *a: math.nan, lambda *a: 10**5000,
    lambda *a: 2**1000, lambda *a: np.nan, lambda *a: True, lambda *a: (1, 2), lambda *a: a,
    lambda *a: "6", lambda *a: ..., lambda *a: (x for x in a), lambda *a: sys.exit(3),
    raising(ZeroDivisionError("x")), raising(KeyboardInterrupt()), raising(Nameless()),
    raising(RecursionError()), raising(MemoryError()), raising(SystemExit(0)),
    Exiting(), lambda *a: Exiting(), raising(Classless()), lambda *a: Classless(),
]  # fmt: skip


IDS = {  # whether the answers also run in a child
    "01-speed-limit": True, "01-product": False, "01-claim-1365": False, "00-peak": False,
    "01-cuda-gemv": False, "02-golf-squares": True,
}  # fmt: skip


@pytest.mark.parametrize("id", IDS)
def test_nothing_raises_and_nothing_wrong_passes(id, monkeypatch):
    """Without a child as on a Mac, or with a GPU open: the answer runs in this very process."""
    for number, answer in enumerate(HOSTILE):
        for forks in {False, IDS[id]}:
            if not forks:
                monkeypatch.setattr("rooflab.exercises.ending.possible", lambda: False)
            verdict = check(id, answer)
            assert not verdict.passed and not verdict and verdict.points == 0 < verdict.max, number
            mark = "○" if verdict.unanswered else "✗"
            assert repr(verdict).startswith(f"{mark} {id} · 0 of "), number
            again = repr(check(id, answer))
            assert again == repr(verdict), (number, "the same answer, another text")
            monkeypatch.undo()


def test_an_unknown_id_is_a_verdict_too():
    for id in ("01-produce", "", 17, None, [], AlwaysEqual()):
        verdict = check(id, 1)
        assert not verdict.passed and verdict.max == 0
        if isinstance(id, str) and id:
            assert "did you mean '01-product'" in verdict.reason


def test_an_untouched_cell_says_how_much_there_is_to_write():
    assert check("00-bandwidth").reason == "not answered yet: ours has 1 line"
    assert check("01-product", lambda *a: ...).reason == "not answered yet: ours has 4 lines"

    def stub(m, n, k, itemsize, accumulate=False): ...

    assert "not answered yet" in check("01-product", stub).reason


def counted(m, n, k, itemsize, accumulate, flops=2, extra=0):
    """A product with `flops` for each multiply-add and `extra` bytes, divided as they are."""
    work = flops * m * n * k
    moved = (m * k + k * n + (1 + accumulate) * m * n) * itemsize + extra
    return work, moved, work / moved


def test_a_known_mistake_is_named_and_the_right_value_is_not():
    verdict = check("01-product", lambda *inputs: counted(*inputs, flops=1))
    assert verdict.misconception == "multiply-adds" and "each is 2 FLOPs" in verdict.hint
    m, n, k, *_ = verdict.case.values()
    assert str(m * n * k) in verdict.reason and str(2 * m * n * k) not in repr(verdict)
    assert f"product(m={m}, n={n}, k={k}, " in verdict.reason


def test_an_unknown_mistake_shows_the_failing_case_and_which_part():
    verdict = check("01-product", lambda *inputs: counted(*inputs, extra=1))
    assert verdict.misconception is None and verdict.hint is None
    assert (
        verdict.reason.startswith("the bytes of `product(m=")
        and "that is not right" in verdict.reason
    )


@pytest.mark.parametrize(
    ("id", "answer", "words"),
    [
        ("01-speed-limit", lambda p, b, s: math.nan, "not a number (NaN)"),
        ("01-speed-limit", lambda p, b, s: "12", "one number is wanted"),
        ("01-speed-limit", lambda p, b: 1, "raised TypeError"),
        ("01-speed-limit", lambda p, b, s: None if s > 3 else p, "returned None for this case"),
        ("01-speed-limit", 12, "a function is wanted, not its value"),
        ("01-product", lambda *a: 2, "3 values are wanted: FLOPs, bytes, intensity"),
        ("01-claim-1365", lambda: 1, "call it"),
        ("01-claim-1365", (682.67, 4), "element size: your answer is 4"),
    ],
)
def test_the_reason_says_what_is_wrong(id, answer, words):
    verdict = check(id, answer)
    assert words in verdict.reason or words in str(verdict.yours), verdict


def test_a_curve_comes_as_arrays_and_what_is_made_of_all_its_points_is_named():
    """With lists, 2 * k * n would be a list of a thousand million numbers."""
    for id, answer in (
        ("00-peak", lambda k, seconds, n: 2 * k * n / seconds),
        ("00-bandwidth", lambda seconds, n, itemsize: 2 * n * itemsize / seconds),
    ):
        verdict = check(id, answer)
        assert verdict.misconception == "a value for each point" and "which point" in verdict.hint
    verdict = check("00-peak", lambda k, seconds, n: 2 * n / list(seconds))
    assert verdict.misconception == "a list for a number"


def test_a_call_that_does_not_fit_is_told_apart_from_an_error_inside():
    case = [{"a": 1, "b": 2}]

    def inside(a, b):
        return inside(a)

    for answer in (lambda a: a, lambda a, b, c: a, lambda: 1, lambda a, *, c: a):
        (seen,) = collect("function", case, answer)
        assert seen["entered"] is False and seen["error"].startswith("TypeError")
    for answer in (inside, lambda a, b: a + "x", raising(TypeError("takes 2 arguments"))):
        (seen,) = collect("function", case, answer)
        assert "entered" not in seen and seen["error"].startswith("TypeError")
    assert collect("function", case, lambda a, *, b: a + b) == [{"value": 3}]
    assert collect("function", case, lambda *, b, a: b - a) == [{"value": 1}]


def test_lists_come_as_arrays_only_where_the_exercise_says_so():
    case = [{"k": [1, 2, 3], "n": 2}]
    assert collect("function", case, lambda k, n: k * n) == [{"value": [1, 2, 3, 1, 2, 3]}]
    assert collect("arrays", case, lambda k, n: k * n) == [{"value": [2, 4, 6]}]
    assert {e.id for e in exercises().values() if e.kind == "arrays"} == {"00-bandwidth", "00-peak"}


def test_the_learner_cannot_change_the_cases_of_others():
    def greedy(k, seconds, n):
        peak = 2 * n * (k[-1] - k[-2]) / (seconds[-1] - seconds[-2])
        k[:], seconds[:] = 0, 0
        return peak

    assert check("00-peak", greedy).passed and check("00-peak", greedy).passed


def test_a_pressed_stop_button_ends_all_cases_at_once(capsys):
    def answer(*inputs):
        print("called")
        raise KeyboardInterrupt

    assert "KeyboardInterrupt" in check("01-product", answer).reason
    assert capsys.readouterr().out == "called\n"


def test_the_verdict_can_be_computed_elsewhere_from_plain_json():
    found = exercise("01-product")
    cases = found.draw("secret")
    seen = json.loads(json.dumps(collect(found.kind, cases, found.reference)))
    assert judge(found, json.loads(json.dumps(cases)), seen).passed
    assert not judge(found, cases, seen[:-1]).passed
    for broken in ({}, None, 7, {"value": None}, {"error": 3}, {"missing": True, "value": "x"}):
        assert not judge(found, cases, [broken for _ in cases]).passed
    assert json.loads(json.dumps(judge(found, cases, [{} for _ in cases]).to_dict()))["max"] == 4


def test_html_shows_the_same_and_escapes():
    verdict = check("01-product", raising(ValueError("<script>alert(1)</script>")))
    page = verdict._repr_html_()
    assert "<script>" not in page and "&lt;script&gt;" in page and "#D55E00" in page
    assert "#009E73" in check("01-product", counted)._repr_html_()


def test_html_has_the_verdict_in_bold_the_call_in_monospace_and_a_paragraph_for_the_hint():
    page = check("01-product", lambda *inputs: counted(*inputs, flops=1))._repr_html_()
    assert "<b>✗ not right</b> · 01-product · 0 of 4 points<div" in page and "`" not in page
    assert "the FLOPs of <code>product(m=" in page and "</code> gave " in page
    assert page.index("A usual mistake, “multiply-adds”: you counted") > page.rindex("<div")
    page = check("01-product")._repr_html_()
    assert "<b>○ not answered yet</b>" in page and ">ours has 4 lines<" in page


def test_a_right_answer_is_told_what_it_means_and_a_wrong_one_is_not():
    right, wrong = check("01-product", counted), check("01-product", lambda *inputs: 1)
    assert right.insight in repr(right) and right.insight in right._repr_html_()
    assert "Your machine" in right.insight and wrong.insight is None


def test_every_exercise_but_those_that_are_timed_says_what_its_number_means():
    asked = [e for e in exercises().values() if e.kind != "timing"]
    assert len(asked) >= 50 and all(e.insight.endswith((".", "?")) for e in asked)
    assert len({e.insight for e in asked}) == len(asked)
    assert all(e.insight.count(".") + e.insight.count("?") <= 2 for e in asked), "a line or two"

"""Predictions of a whole table: right by their quantiles, and the nearest mistake has its name."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rooflab.exercises.exercise import Exercise, Misconception
from rooflab.exercises.judge import judge
from rooflab.exercises.kinds.prediction import FAR, off, quantiles
from rooflab.exercises.observe.collect import collect

ROWS = [[n] for n in range(1, 21)]
ASKED = Exercise(
    "90-fall", "Fall", 2, "", "fall(n)", lambda n: n * n,
    tuple(Misconception(f"{by} times", lambda n, by=by: by * n * n, "") for by in (3, 6, 9)),
    cases=lambda rng: [{"rows": ROWS}], kind="prediction", par=1.25,
)  # fmt: skip


def verdict(answer):
    return judge(ASKED, ASKED.draw(), collect(ASKED.kind, ASKED.draw(), answer))


@given(st.lists(st.floats(1, 1e6), min_size=1, max_size=70), st.floats(1.01, 50))
def test_quantiles_are_factors_of_the_table_and_grow_with_it(factors, by):
    half, most = quantiles(factors)
    assert half in factors and most in factors and half <= most
    assert sum(one <= half for one in factors) >= len(factors) / 2
    assert sum(one <= most for one in factors) >= 0.9 * len(factors)
    assert quantiles([by * one for one in factors]) == (by * half, by * most)


@given(st.floats(1e-6, 1e6), st.floats(1e-6, 1e6))
def test_too_short_is_as_far_off_as_too_long(one, other):
    assert off(one, other) == off(other, one) >= 1


def test_half_and_nine_of_ten_decide():
    for beyond, passes in ((0, True), (2, True), (3, False)):  # of 20 rows
        assert verdict(lambda n, b=beyond: n * n * (1.2 if n > b else 9)).passed is passes
    assert verdict(lambda n: n * n / 1.24).passed
    assert not verdict(lambda n: n * n / 1.26).passed and FAR > 1.26


def test_the_nearest_mistake_has_its_name_and_the_furthest_row_is_shown():
    told = verdict(lambda n: 6.3 * n * n)
    assert told.misconception == "6 times" and "far too long: `fall(" in told.reason
    assert verdict(lambda n: 7.3 * n * n).misconception is None
    short = verdict(lambda n: n * n / (40 if n == 7 else 2))
    assert short.case == {"n": 7} and "far too short: `fall(7)` gave 1.225" in short.reason
    assert "49" not in repr(short)  # the right value is not told


def test_what_is_no_prediction_is_named():
    for answer, words in (
        (lambda n: -n, "one number above 0 is wanted: `fall(1)` gave -1"),
        (lambda n: n > 3, "`fall(1)` gave False"), (lambda n: n / 0, "raised ZeroDivisionError"),
        (lambda n: None if n < 5 else n, "gave None"), (lambda n: object(), "`fall`"),
        (lambda: 1, "raised TypeError"), (7, "a function is wanted"),
    ):  # fmt: skip
        told = verdict(answer)
        assert not told.passed and words in told.reason, told
    assert verdict(...).unanswered
    forged = judge(ASKED, ASKED.draw(), [{"value": [1.0]}])
    assert "one number is wanted for each of 20 calls" in forged.reason

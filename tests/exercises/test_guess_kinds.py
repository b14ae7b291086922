"""Guesses that are no plain number: a share, one of several answers, an order."""

from __future__ import annotations

import json

import pytest

import rooflab as rl
from rooflab.exercises import guesses
from rooflab.exercises.guesses import choice, order, share
from tests.support.rows import each_row

RATES = ("AXPY", "GEMV", "GEMM")
ASKED = (
    choice("01-who", "Which of them is the fastest?", *RATES),
    order("01-order", "Which rates, from low to high?", *RATES),
    share("01-share", "What share of the peak does GEMM reach?"),
)


@pytest.fixture(autouse=True)
def asked(home, monkeypatch):
    monkeypatch.setattr(guesses, "of_lesson", lambda number, *_: ASKED if number == "01" else ())
    guesses.questions.cache_clear()
    yield home
    guesses.questions.cache_clear()


@each_row(
    ("01-who", "GEMV", "GEMM", "You guessed GEMV, it is GEMM."),
    ("01-who", "GEMM", "GEMM", "You guessed GEMM, and so it is."),
    ("01-order", ["AXPY", "GEMM", "GEMV"], list(RATES),
     "You guessed AXPY < GEMM < GEMV, it is AXPY < GEMV < GEMM: 1 pair of 3 the other way round."),
    ("01-order", "GEMM < GEMV < AXPY", list(RATES), "3 pairs of 3 the other way round."),
    ("01-share", 30, 60, "You guessed 30 %, it is 60 %: off by ×2, too low."),
)  # fmt: skip
def test_a_guess_is_kept_and_held_against_what_was_measured(id, mine, right, said, asked):
    for file in asked.glob("*"):
        file.unlink()
    assert rl.ask(id, right).covered
    assert repr(rl.guess(id, mine)).endswith(said)
    axis = rl.ask(id, right)
    assert not axis.covered and axis.value in (mine, " < ".join(mine if id[3] == "o" else ()))
    kept = [json.loads(file.read_text()) for file in asked.glob("*.json")]
    numbers = id == "01-share"
    assert {one["schema"] for one in kept} == {1 if numbers else 2}, "0.2.0 leaves 2 alone"
    assert rl.my_guesses().off_by == ({id: 2.0} if numbers else {})
    assert said in repr(rl.my_guesses())


@each_row(
    ("01-who", "AXPI", "guess='AXPI' must be one of AXPY, GEMV, GEMM"),
    ("01-order", ["AXPY"], "must be one of AXPY < GEMV < GEMM, AXPY < GEMM < GEMV"),
    ("01-share", 130, "guess=130 must be a share above 0 and at most 100 %"),
)
def test_what_no_guess_is_says_what_one_would_be(id, value, words):
    with pytest.raises(ValueError, match=words):
        rl.guess(id, value)


def test_an_order_of_many_is_for_cards():
    with pytest.raises(ValueError, match="rl.sort has cards for more"):
        order("01-order", "Which?", *"abcd")

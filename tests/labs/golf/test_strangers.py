"""Arrays that golf has not seen being made: how much may be written to them, and what a program
keeps of those that stand outside the function."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest

from rooflab.labs.golf import GolfError, Limits, Untraceable, golf
from rooflab.labs.golf.replay import function_of
from tests.support.rows import each_row

X = np.arange(20_000.0)
SMALL, LARGE, ROOM = np.arange(4.0), np.ones(5000), np.zeros(5000)
random = np.random.default_rng(0)
PIECE = 100 * X.itemsize


def into_a_stranger(x, times=3):
    made = random.random(100)
    for _ in range(times):
        np.multiply(x[:100], 2, out=made)
    return made.sum()


def and_swallows_the_refusal(x):
    made = random.random(100)
    for _ in range(9):
        with contextlib.suppress(GolfError):
            np.multiply(x[:100], 2, out=made)
    return x


@each_row(None, 3 * PIECE)
def test_a_little_may_be_written_to_a_stranger(unseen) -> None:
    done = golf(into_a_stranger, X, limits=Limits(unseen=unseen))
    assert done.result == pytest.approx(2 * X[:100].sum())


@each_row(
    (into_a_stranger, PIECE - 1, 1),
    (into_a_stranger, 3 * PIECE - 1, 3),
    (and_swallows_the_refusal, PIECE, 2),
)
def test_more_than_that_is_refused_even_where_the_refusal_is_swallowed(function, unseen, step):
    named = rf"at step {step}, .*multiply writes to an array that golf has not seen being made"
    with pytest.raises(Untraceable, match=named):
        golf(function, X, limits=Limits(unseen=unseen))


def test_what_golf_saw_being_made_is_no_stranger() -> None:
    def into_its_own(x):
        made = np.empty(100)
        for _ in range(9):
            np.multiply(x[:100], 2, out=made)
        return made

    assert golf(into_its_own, X, limits=Limits(unseen=0)).result[1] == 2


def test_a_maker_of_arrays_is_over_with_its_run() -> None:
    kept: list = []
    golf(lambda x: kept.append(np.empty), X)
    with pytest.raises(GolfError, match="empty: this golf run is over"):
        kept[0](3)


def outside_of(function) -> tuple[list, list]:
    program = golf(function, X, record=True).program
    return program["inputs"][1], program["left"]


def test_small_numbers_outside_the_function_are_part_of_its_program() -> None:
    function = lambda x: x[:4] + SMALL  # noqa: E731
    (name, told, _), left = outside_of(function)
    assert (name, left) == ("SMALL", [])
    assert told == {"array": ["<f8", [4], [0.0, 1.0, 2.0, 3.0]]}
    again, outside = function_of(golf(function, X, record=True).program, 1)
    assert golf(again, X, *outside).result == pytest.approx(X[:4] + SMALL)


def test_room_outside_the_function_is_made_again_and_many_numbers_are_not() -> None:
    def in_room(x):
        np.multiply(x[:5000], 2, out=ROOM)
        return ROOM.sum()

    assert outside_of(in_room) == (["ROOM", {"zeros": ["<f8", [5000]]}, 2], [])
    (name, *_), left = outside_of(lambda x: x[:5000] + LARGE)
    assert name == "LARGE"
    assert left == ["an array of 40,000 bytes outside the function has numbers in it"]

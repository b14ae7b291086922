"""The iteration space under named schedules: points in their order, arrows, the verdict."""

from __future__ import annotations

import pytest

from rooflab.labs.loops.nest import Nest
from rooflab.labs.loops.pictures.space import space
from rooflab.show.scene import drawn
from rooflab.show.scene.player import Player
from tests.support.scenes import named


def diagonal() -> Nest:
    return Nest({"i": (1, 5), "j": 5}, "A[i,j] = A[i-1,j+1]*0.5")


def offered(nest: Nest) -> Player:
    schedules = {
        "as written": nest,
        "interchange": nest.interchange("i", "j"),
        "tiles": nest.tile({"i": 2, "j": 2}),
        "skew": nest.skew("j", "i"),
        "skew, interchange": nest.skew("j", "i").interchange("i", "j"),
        "skew, tiles": nest.skew("j", "i").tile({"i": 2, "j": 2}),
        "reverse j": nest.reverse("j"),
        "rows in parallel": nest.parallel("i"),
    }
    return space(nest, schedules)


def seen(picture: Player, name: str, **state: object) -> int:
    marks = named(picture.scene, name)
    return sum(1 for mark, _ in drawn(picture.scene, **state) if mark in marks)


def drawn_so(picture: Player, name: str, channel: str, value: str, **state: object) -> int:
    """How many marks of that name a channel shows so: red arrows, filled points."""
    marks = named(picture.scene, name)
    every = [held for mark, held in drawn(picture.scene, **state) if mark in marks]
    return sum(1 for held in every if held[channel] == value)


def red(picture: Player, **state: object) -> int:
    return drawn_so(picture, "arrow", "ink", "warn", **state)


def test_interchange_breaks_every_arrow_of_a_diagonal_and_skewing_none() -> None:
    picture = offered(diagonal())
    arrows = 3 * 4  # from each point but those of the last row and the first column
    assert seen(picture, "arrow", schedule="as written") == arrows
    assert red(picture, schedule="as written") == 0
    for illegal in ("interchange", "rows in parallel"):
        assert red(picture, schedule=illegal) == arrows
        assert seen(picture, "arrow", schedule=illegal) == arrows
        assert seen(picture, "pair", schedule=illegal) == 2
    for legal in ("skew", "skew, interchange", "skew, tiles", "reverse j"):
        assert red(picture, schedule=legal) == seen(picture, "pair", schedule=legal) == 0


def test_every_state_has_its_sentence() -> None:
    picture = offered(diagonal())
    assert picture.scene.sentence(schedule="as written", step=0) == (
        "as written: legal. Nothing has run yet."
    )
    assert picture.scene.sentence(schedule="interchange", step=3) == (
        "interchange: not legal. S(1,1) writes A[1,1] and S(2,0) reads it, so S(1,1) must run "
        "first. In the new order S(2,0) runs first. 3 of 20 iterations have run, S(3,0) last."
    )
    assert "Loop i is to run in parallel" in picture.scene.sentence(schedule="rows in parallel")


def test_the_code_of_every_schedule_has_room_for_the_longest() -> None:
    picture = offered(diagonal())
    ((code, table, _),) = [note for note in picture.scene.notes if note[0] == "code"]
    assert {text.count("\n") for text in table.values} == {7 - 1}
    assert table.values[0].splitlines()[0] == "for i in range(1, 5):"
    assert table.values[1].splitlines()[0] == "for j in range(5):"


def test_arrows_that_follow_from_others_are_left_out() -> None:
    total = Nest({"i": 2, "j": 5}, "C[i] += A[i,j]")
    assert seen(space(total, {"as written": total}), "arrow") == 2 * 4


def test_a_schedule_of_another_nest_is_refused() -> None:
    with pytest.raises(ValueError, match="schedules\\['mine'\\] is of another nest"):
        space(diagonal(), {"mine": Nest({"i": 4, "j": 4}, "A[i,j] = B[i,j]")})


def test_what_cannot_be_drawn_is_refused() -> None:
    for nest in [
        Nest({"i": 4}, "B[i] = A[i]"),
        Nest({"i": 13, "j": 2}, "B[i,j] = A[i,j]"),
        Nest({"i": 4, "j": 4}, "B[i,j] = A[i,j]; C[i,j] = B[i,j]"),
    ]:
        with pytest.raises(ValueError, match="one statement in two loops of at most 12 turns"):
            space(nest)

"""The iteration space that is pulled: every state against brute force, and what is seen of it."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rooflab.labs.loops.nest import Nest
from rooflab.labs.loops.pictures.fates import ORDERS, Choice, counted
from rooflab.labs.loops.pictures.space import space
from rooflab.show.scene import drawn
from rooflab.show.scene.player import Player
from tests.support.scenes import named, some_states

Point = tuple[int, ...]


def stencil(a: int, b: int, rows: int = 5, columns: int = 5) -> Nest:
    """A nest in which iteration (i, j) needs (i-a, j-b): its distance vector is (a, b)."""
    return Nest({"i": (9, 9 + rows), "j": (9, 9 + columns)}, f"A[i,j] = A[i-{a},j-{b}]*0.5")


field = cache(lambda a, b: space(stencil(a, b)))


def states(picture: Player) -> Iterator[dict[str, Any]]:
    dims = [picture.scene.dim(name) for name in ("skew", "tile", "order")]
    for place in itertools.product(*(one.names for one in dims)):
        yield dict(zip(("skew", "tile", "order"), place))


def seen(picture: Player, name: str, **state: Any) -> list[dict[str, Any]]:
    marks = named(picture.scene, name)
    return [held for mark, held in drawn(picture.scene, **state) if mark in marks]


def red(picture: Player, **state: Any) -> list[dict[str, Any]]:
    """The arrows that are drawn as broken: they are red, and they are dashed."""
    arrows = seen(picture, "arrow", **state)
    assert all((held["ink"] == "warn") == bool(held["dash"]) for held in arrows)
    return [held for held in arrows if held["ink"] == "warn"]


def done(picture: Player, **state: Any) -> list[dict[str, Any]]:
    """The points that are filled."""
    return [held for held in seen(picture, "iteration", **state) if held["fill"] == "ink"]


def in_order(points: list[Point], skew: int, tile: int, columns: bool) -> list[Point]:
    """The points by their tile, then by their place in it; i and the skewed j count from 0."""
    first, start = points[0]

    def time(point: Point) -> tuple[int, ...]:
        place = [point[0] - first, point[1] - start + skew * (point[0] - first)]
        place = place[::-1] if columns else place
        return (*(at // tile for at in place), *(at % tile for at in place))

    return sorted(points, key=time)


# What the field says of a dependence of distance (a, b).


def test_columns_first_is_legal_where_the_skewed_distance_is_not_negative() -> None:
    """Skewing by f makes (a, b) into (a, b + f·a). Wolf and Lam 1991."""
    for a, b in [(1, -1), (1, -2), (1, 1), (0, 1), (1, 0), (2, -1)]:
        picture = field(a, b)
        for skew in picture.scene.dim("skew").names:
            legal = (b + skew * a, a) >= (0, 0)
            broken = red(picture, skew=skew, order="columns first") if b < 0 else []
            assert (not broken) == legal, skew
            assert (": legal," in picture.scene.sentence(skew=skew, order="columns first")) == legal


def test_tiles_are_legal_where_no_distance_is_negative() -> None:
    for a, b in [(1, -1), (1, -2), (1, 1), (0, 1)]:
        picture = field(a, b)
        for skew, order in itertools.product(picture.scene.dim("skew").names, ORDERS):
            if b + skew * a >= 0:
                for tile in (2, 3, 4):
                    said = picture.scene.sentence(skew=skew, tile=tile, order=order)
                    assert ": legal," in said
        if b < 0:
            assert red(picture, tile=2, skew=0)


def test_the_textbook_case_of_three_points_of_the_row_before() -> None:
    """Time tiling of a stencil needs a skew of 1 and no more."""
    nest = Nest({"t": (1, 6), "x": (1, 7)}, "A[t,x] = A[t-1,x-1] + A[t-1,x] + A[t-1,x+1]")
    picture = space(nest)
    assert len(red(picture, skew=0, tile=2)) == 4  # leftwards into the tile before
    assert picture.scene.dim("skew").names == (0, 1) and not red(picture, skew=1, tile=2)


# Every state against other ways to know it.


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 2), st.integers(-2, 2), st.integers(1, 5), st.integers(1, 5))
def test_the_red_arrows_are_those_whose_order_is_broken(
    a: int, b: int, rows: int, columns: int
) -> None:
    found = counted(stencil(a, b, rows, columns))
    points = list(itertools.product(range(9, 9 + rows), range(9, 9 + columns)))
    needs = {
        pair
        for pair in itertools.combinations(points, 2)
        if (pair[1][0] - pair[0][0], pair[1][1] - pair[0][1]) in ((a, b), (-a, -b))
    }
    assert set(found.arrows) == needs - ({(p, p) for p in points} if (a, b) == (0, 0) else set())
    for place, fate in found.fates.items():
        choice = found.choices[place]
        assert list(fate.order) == in_order(points, choice.skew, choice.tile, choice.columns)
        late = {pair for pair in needs if fate.order.index(pair[0]) > fate.order.index(pair[1])}
        assert fate.broken == late
        assert fate.legal == (not late)
        made = choice.of(found.nest)
        assert bool(made.check(reassociate=False)) == fate.legal
        assert fate.pair is None or fate.pair in late


def test_a_chain_of_arrows_stands_for_all_that_follow_from_it() -> None:
    """A sum over j: each iteration needs all before it, and one arrow a neighbour says so."""
    nest = Nest({"i": 3, "j": 4}, "C[i] += A[i,j]")
    found = counted(nest)
    assert len(found.arrows) == 3 * 3
    for place, fate in found.fates.items():
        assert fate.legal == bool(found.choices[place].of(nest).check(reassociate=False))


# What is seen.


def test_marks_and_sentence_say_what_was_counted() -> None:
    nest = stencil(1, -1)
    picture, found = space(nest), counted(nest)
    for place, state in zip(found.fates, states(picture)):
        fate = found.fates[place]
        assert len(red(picture, **state)) == len(fate.broken)
        assert len(seen(picture, "arrow", **state)) == len(found.arrows)
        assert len(seen(picture, "pair", **state)) == (0 if fate.legal else 2)
        said = picture.scene.sentence(**state)
        assert fate.why in said
        assert ("not legal" in said) == bool(fate.broken)
        if fate.pair:
            rings = [tuple(held["at"][:2]) for held in seen(picture, "pair", **state)]
            assert rings == [spot(picture, point, **state) for point in fate.pair]


def spot(picture: Player, point: Point, **state: Any) -> tuple[float, float]:
    """Where an iteration of a 5×5 nest that begins at (9, 9) stands."""
    number = 5 * (point[0] - 9) + point[1] - 9
    return tuple(seen(picture, "iteration", **state)[number]["at"][:2])


def test_the_points_run_one_by_one_inside_the_tile_that_runs() -> None:
    picture = space(stencil(1, -1))
    found = counted(stencil(1, -1))
    state: dict[str, Any] = {"skew": 1, "tile": 3, "order": "columns first"}
    order = found.fates[1, 2, 1].order
    for step in (0, 1, 9, 25):
        assert len(done(picture, step=step, **state)) == step
        (*now,) = seen(picture, "now", step=step, **state)
        (*running,) = seen(picture, "running", step=step, **state)
        assert len(now) == len(running) == (step > 0)
        if step:
            x, y = now[0]["at"][:2]
            assert (x, y) == pytest.approx(spot(picture, order[step - 1], **state))
            left, top, wide, high = running[0]["box"]
            assert left < x < left + wide and top < y < top + high
    assert not seen(picture, "running", tile=1)


def test_the_calls_in_the_notes_make_the_schedule_that_is_drawn() -> None:
    nest = stencil(1, -2, 4, 4)
    found = counted(nest)
    for place, choice in found.choices.items():
        made = eval(choice.text(("i", "j")), {"nest": nest})
        assert [one.iteration for one in made.instances()] == list(found.fates[place].order)


def test_it_is_set_from_python_and_says_so() -> None:
    picture = space(stencil(1, -2))
    assert (picture.skew, picture.tile, picture.order, picture.step) == (0, 1, "rows first", 25)
    picture.order, picture.step = "columns first", 2
    assert picture.sentence == (
        "Columns first: not legal, 12 of 12 arrows are red. S(9,11) writes A[9,11] and S(10,9) "
        "reads it, so S(9,11) must run first. In the new order S(10,9) runs first. 2 of 25 "
        "iterations have run, S(10,9) last."
    )
    picture.skew, picture.tile = 2, 4
    assert picture.sentence.startswith("Columns first, j skewed by 2·i, in tiles of 4×4: legal, ")
    assert Choice(0, 1, False).words(("i", "j")) == "Rows first"
    free = space(Nest({"i": 4, "j": 4}, "B[i,j] = A[i,j]"))
    assert free.sentence.startswith("Rows first: legal, no iteration needs another.")


# Its size, and what does not fit.


def test_nothing_is_counted_twice_and_the_largest_fits_into_a_megabyte() -> None:
    nest = Nest({"i": 12, "j": (2, 14)}, "A[i+1,j] = A[i,j-1] + A[i,j+1] + A[i,j-2]")
    picture = space(nest)
    assert counted(nest) is counted(nest)
    assert len(picture.scenes.encode()) + len(picture.numbers) + len(picture.exact) < 2**20
    for scene in picture.sheets:
        for state in some_states(scene, limit=8):
            for mark, held in drawn(scene, **state):
                if mark.kind == "dot":
                    assert 0 < held["at"][0] < scene.width and 0 < held["at"][1] < scene.height


def test_what_can_be_chosen_depends_on_the_room() -> None:
    for rows, columns, skews, tiles in [
        (1, 6, (0,), (1,)), (6, 1, (0, 1), (1,)), (2, 3, (0, 1), (1, 2)),
        (12, 12, (0, 1), (1, 2, 3, 4)),
    ]:  # fmt: skip
        nest = Nest({"i": rows, "j": columns}, "B[i,j] = A[i,j]")
        picture, found = space(nest), counted(nest)
        assert (found.skews, found.tiles) == (skews, tiles)
        pulled = {name for grip in picture.scene.grips for name in grip["dims"]}
        several = {name for name, all in (("skew", skews), ("tile", tiles)) if len(all) > 1}
        assert pulled == {"step"} | several


def test_a_pair_of_ones_own_is_ringed_wherever_its_points_go_and_the_sentence_orders_it() -> None:
    picture = space(stencil(1, -1), pair=[[11, 10], [10, 11]])
    for state in states(picture):
        ringed = {tuple(held["at"]) for held in seen(picture, "own", **state)}
        points = {tuple(held["at"]) for held in seen(picture, "iteration", **state)}
        assert len(ringed) == 2
        assert ringed <= points
    assert "Yours: S(10,11) runs first." in picture.scene.sentence(order="rows first")
    assert "Yours: S(11,10) runs first." in picture.scene.sentence(order="columns first")


def test_what_cannot_be_drawn_is_refused() -> None:
    for nest in [
        Nest({"i": 4}, "B[i] = A[i]"),
        Nest({"i": 13, "j": 2}, "B[i,j] = A[i,j]"),
        Nest({"i": 4, "j": 4}, "B[i,j] = A[i,j]; C[i,j] = B[i,j]"),
    ]:
        with pytest.raises(ValueError, match="one statement in two loops of at most 12 turns"):
            space(nest)
    for pair in [((9, 9), (8, 10)), ((9, 9),), (9, 10), 3]:
        with pytest.raises(ValueError, match="must be two iterations of the nest"):
            space(stencil(1, -1), pair=pair)

"""The guess axis: what is covered, what reaches the store, what the words say."""

from __future__ import annotations

import re
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rooflab.show.guess_axis import CLICK, MOVE, PLACES, guess
from rooflab.show.scene import drawn
from tests.support.scenes import named

QUESTION = "One multiply-add takes 3.7 ms. How long do seventeen take?"


class Store:
    """A store that remembers what it was told."""

    def __init__(self, **known: float | None) -> None:
        self.known = {id: SimpleNamespace(value=value) for id, value in known.items()}
        self.told: list[tuple] = []

    def get(self, id: str) -> SimpleNamespace | None:
        return self.known.get(id)

    def record(self, id: str, value: float) -> None:
        self.told.append((id, value))

    def reveal_without_guess(self, id: str) -> None:
        self.told.append((id, "looked"))


def ask(**changed):
    given = {"result": 4.3, "unit": "ms", "low": 1, "high": 200} | changed
    return guess("seventeen", QUESTION, **given)


def from_browser(axis, **state) -> None:
    """What the browser sends: all changes in one message."""
    axis.set_state(state)


def test_run_all_leaves_it_covered_and_tells_nobody() -> None:
    store = Store()
    axis = ask(store=store)
    data, _ = axis._repr_mimebundle_()
    assert axis.covered and axis.value is None and store.told == []
    assert data["text/plain"] == QUESTION and data["image/png"]


def test_a_click_records_the_guess_once_in_the_axis_unit() -> None:
    store = Store()
    axis = ask(store=store)
    from_browser(axis, guess_at=120, covered=False)
    assert store.told == [("seventeen", axis.value)]
    # The middle of a log axis is the geometric mean of its ends.
    assert axis.value == pytest.approx((1 * 200) ** 0.5, rel=0.01)


def test_show_me_is_recorded_as_looking() -> None:
    store = Store()
    axis = ask(store=store)
    from_browser(axis, covered=False)
    assert store.told == [("seventeen", "looked")] and axis.value is None


def test_a_place_that_does_not_exist_is_no_guess() -> None:
    store = Store()
    from_browser(ask(store=store), guess_at=99999, covered=False)
    assert store.told == [("seventeen", "looked")]


def test_a_stored_guess_shows_uncovered_with_its_own_value() -> None:
    store = Store(seventeen=63.7)
    axis = ask(store=store)
    assert not axis.covered and axis.value == 63.7 and axis.guess_at == PLACES
    assert axis._repr_mimebundle_()[0]["text/plain"].endswith("off by ×15, too high.")
    assert store.told == []
    assert axis.still() != ask().still()


def test_who_only_looked_sees_it_uncovered_without_a_marker() -> None:
    axis = ask(store=Store(seventeen=None))
    assert not axis.covered and axis.value is None and axis.guess_at == -1
    assert "without a guess" in axis._repr_mimebundle_()[0]["text/plain"]


@settings(deadline=None, max_examples=10)
@given(result=st.floats(1e-3, 1e6), spread=st.floats(1.3, 1e3))
def test_off_by_is_the_same_factor_above_and_below(result: float, spread: float) -> None:
    plan = ask(result=result, low=result / 2, high=result * 2).plan
    high, low = plan.verdict(result * spread), plan.verdict(result / spread)
    factor = [float(re.search(r"×([\d,.]+)", v)[1].replace(",", "")) for v in (high, low)]
    assert factor[0] == pytest.approx(factor[1], rel=0.051)
    assert factor[0] == pytest.approx(spread, rel=0.051)
    assert "too high" in high and "too low" in low


def test_a_close_guess_is_spot_on() -> None:
    assert ask().plan.verdict(4.5).endswith("spot on.")


def spots(axis, mark: str, dim: str, stops) -> list[float]:
    """The x of a mark at some stops of a dimension, for who has guessed."""
    (found,) = named(axis.scene, mark)
    return [axis.scene.value(found, "at", covered=False, **{dim: one})[0] for one in stops]


def test_an_axis_too_short_for_the_result_grows_to_hold_it() -> None:
    axis = ask(result=900.0)
    low, high = spots(axis, "mine", "guess_at", (0, PLACES - 1))
    (truth,) = spots(axis, "truth", "guess_at", (-1,))
    assert low < truth < high


def test_a_hand_and_its_ghost_are_no_answer_and_the_truth_comes_from_the_guess() -> None:
    axis = ask()
    scene = axis.scene
    seen = {state: {mark.name for mark, _ in drawn(scene, **dict(state))} for state in STATES}
    nothing, over, placed, moved, answered, looked = seen.values()
    assert not nothing & {"hovered", "placed", "mine", "truth"}
    assert "hovered" in over and "placed" not in over and "truth" not in over
    assert "placed" in placed and "placed" in moved and "hovered" not in moved
    assert {"mine", "truth", "gap"} <= answered and "placed" not in answered
    assert "truth" in looked and not looked & {"mine", "placed", "hovered"}
    (truth,), (mine,) = named(scene, "truth"), named(scene, "mine")
    begins = scene.value(truth, "at", guess_at=100)
    assert begins.tolist() == scene.value(mine, "at", guess_at=100).tolist()


STATES = (
    (),
    (("over", 50),),
    (("placed", 120),),
    (("placed", 120), ("over", 50)),
    (("placed", 120), ("guess_at", 119), ("covered", False)),
    (("placed", 120), ("covered", False)),
)


def test_it_says_what_to_do_and_then_how_far_off_it_was() -> None:
    scene = ask().scene
    assert scene.sentence() == CLICK and scene.sentence(placed=3) == MOVE
    assert scene.sentence(placed=3, covered=False) == "It is 4.3 ms (shown without a guess)."
    assert scene.sentence(guess_at=120, covered=False).startswith("You guessed 14 ms, it is 4.3")
    assert len(scene.notes) == 1 and scene.notes[0][:2] == ("title", QUESTION)


def test_its_button_commits_the_place_and_the_other_none() -> None:
    scene = ask().scene
    mine, skip, again = scene.controls
    stops = [scene.settled(mine["sets"]["guess_at"], {"placed": n}) for n in (1, PLACES)]
    assert stops == [1, PLACES] and mine["sets"]["covered"] == 1
    assert skip["sets"] == {"covered": 1}
    assert again["sets"] == {"placed": 0, "guess_at": 0, "covered": 0}
    assert not scene.settled(mine["enabled"], {"placed": 0})


def test_a_cell_that_is_run_again_opens_what_waits_for_its_first_axis() -> None:
    first, store = ask(), Store()
    again = ask(store=store)
    from_browser(again, guess_at=120, covered=False)
    assert not first.covered and first.value == again.value
    assert store.told == [("seventeen", again.value)], "and is recorded once"
    again.placed = 7
    again.forget()
    assert again.placed == 0
    assert first.covered and first.value is None


def test_what_is_known_already_is_marked_on_the_axis() -> None:
    marked = ask(marks={"one multiply-add": 3.7})
    assert marked.still() != ask().still() and len(named(marked.scene, "known-says")) == 1
    wanted = QUESTION + " Marked on the axis: one multiply-add, 3.7 ms."
    assert marked.scene.grips[0]["label"] == wanted
    assert marked._repr_mimebundle_()[0]["text/plain"] == wanted
    assert ask().scene.grips[0]["label"] == QUESTION
    g = ask(marks={"far out": 900.0}).geometry
    assert max(g["values"]) == pytest.approx(1800), "the axis grows to hold the mark"


def test_a_usual_slip_is_named_after_the_guess_and_not_before() -> None:
    axis = ask(slips={"You multiplied.": 62.9})
    assert "multiplied" not in axis._repr_mimebundle_()[0]["text/plain"]
    assert axis.plan.verdict(70).endswith("too high. You multiplied.")
    assert axis.plan.verdict(55).endswith("too high. You multiplied.")
    assert axis.plan.verdict(30).endswith("too high.")
    assert axis.plan.verdict(80).endswith("too high.")
    spot_on = ask(result=62.9, slips={"You multiplied.": 62.9}).plan
    assert spot_on.verdict(63).endswith("spot on."), "on such a machine it was right to multiply"


def test_bad_arguments_are_named() -> None:
    for changed, words in [
        ({"result": 0.0}, r"result=0\.0 must be a positive number"),
        ({"low": -1}, "low=-1 must be a positive"),
        ({"high": float("inf")}, "high=inf must be a positive number"),
        ({"low": 200, "high": 1}, "low=200 must be below high=1"),
        ({"result": "4 ms"}, "result='4 ms' must be a positive number"),
        ({"marks": {"one": 0}}, "one=0 must be a positive"),
        ({"slips": {"You multiplied.": "62"}}, r"You multiplied\.='62' must be a positive"),
    ]:
        with pytest.raises(ValueError, match=words):
            ask(**changed)


def test_an_empty_question_is_refused() -> None:
    with pytest.raises(ValueError, match="question=''"):
        guess("id", "", result=1, low=1, high=2)

"""Guesses placed in the page: what the morph waits for, and where each of them will hang."""

from __future__ import annotations

import pytest

from rooflab.show.guess_axis import PLACES, GuessAxis, guess
from rooflab.show.measured_points import SECONDS
from rooflab.show.scene import drawn
from rooflab.show.sort_cards import Deck, Face, SortCards
from rooflab.show.time_to_roofline import Morph, morph
from tests.support.morph_example import HERE, MEASURED, OPS, bound, point

BIG = OPS[8]  # GEMM 1024³
FEW = MEASURED[8:]  # that, and a GEMV of 64 vectors


def axis(unit: str = "ms", op=BIG) -> GuessAxis:
    truth = bound(op) / SECONDS.get(unit, 1.0)
    return guess("morph", "How long?", result=truth, unit=unit, low=truth / 99, high=truth * 99)


def place(asked: GuessAxis, at: int) -> None:
    """What the browser sends when a guess is confirmed."""
    with asked.hold_sync():
        asked.guess_at, asked.covered = at, False


def asked_of(picture: Morph) -> dict:
    return point(picture, "GEMM 1024³")["asked"]


def test_every_place_of_the_axis_hangs_where_the_same_guess_in_seconds_does() -> None:
    asked = axis()
    live = morph(FEW, machine=HERE, after={BIG: asked})
    places = asked_of(live)
    assert len(places["y"]) == len(places["says"]) == PLACES
    for at in (40, 121, 200):
        seconds = 1e-3 * asked.geometry["values"][at]
        fixed = morph(FEW, machine=HERE, guesses={BIG: seconds})
        same = point(fixed, "GEMM 1024³")
        off, wanted = (text.rstrip(" ↑↓") for text in (places["says"][at], same["guess"]["says"]))
        assert off == wanted, "axes of its own may hold what lies beyond others"
        assert same["says"].endswith(places["told"][at]) and off in places["told"][at]
        heights = [y for _, y in same["guess"]["at"]]
        assert places["y"][at][:2] == pytest.approx(heights[:2], abs=0.2)


def test_it_opens_when_all_guesses_are_placed_or_shown() -> None:
    first, second = axis(), axis("µs", OPS[9])
    picture = morph(FEW, machine=HERE, after=[first, second])
    assert picture.covered and picture.waits == [first.model_id, second.model_id]
    assert picture.words == picture.sentence == picture.cover
    assert picture.cover == "Covered until you have placed your two guesses above."
    place(first, 100)
    assert picture.covered
    second.covered = False
    assert not picture.covered and "crushed" in picture.sentence


def test_a_guess_placed_later_is_in_the_words_and_in_the_still_picture() -> None:
    asked = axis()
    picture = morph(FEW, machine=HERE, after={BIG: asked})
    asked.covered = False
    before = picture.still()
    assert "You guessed" not in picture.words
    place(asked, 200)
    assert "You guessed" in picture.words and "off by" in picture.words
    assert picture.still() != before


def test_a_guess_that_is_not_confirmed_yet_hangs_nowhere() -> None:
    """What it is off by would give the answer away."""
    asked = axis()
    picture = morph(FEW, machine=HERE, guesses={BIG: asked})
    assert not picture.covered and picture.waits == []
    asked.guess_at = 160
    assert "You guessed" not in picture.words
    seen = {mark.name for mark, _ in drawn(picture.scene, **picture.state)}
    assert not seen & {"guess", "gap", "off"}
    asked.covered = False
    assert "You guessed" in picture.words
    seen = {mark.name for mark, _ in drawn(picture.scene, **(picture.state | {"at": 2}))}
    assert {"guess", "gap", "off"} <= seen


def test_cards_to_sort_can_be_waited_for_too() -> None:
    deck = Deck((Face("one", 0, "", ""),), "", ("memory", "compute", "overhead"), "", "")
    cards = SortCards(deck, None, "one")
    picture = morph(FEW, machine=HERE, after=[axis(), cards])
    assert picture.cover == "Covered until you have placed your guess and sorted the cards above."
    only = morph(FEW, machine=HERE, after=cards)
    assert only.cover == "Covered until you have sorted the cards above."
    cards.covered = False
    assert not only.covered and picture.covered


def test_bad_input_is_named() -> None:
    for bad in ("03-tiny", 3, [axis(), 3], {BIG: 3}):
        with pytest.raises(
            TypeError, match=r"after=.* is no guess axis; pass what rl.ask returned"
        ):
            morph(FEW, machine=HERE, after=bad)
    with pytest.raises(ValueError, match="did you mean"):
        morph(FEW, machine=HERE, after={"gemm 1025×1024×1024 fp32": axis()})
    with pytest.raises(TypeError, match="guesses=3 must be a dict"):
        morph(FEW, machine=HERE, guesses=3, after={BIG: axis()})

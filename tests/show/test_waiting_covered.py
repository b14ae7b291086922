"""Pictures of several widgets that wait for a guess: covered before it, whole after it."""

from __future__ import annotations

from base64 import b64decode

import pytest

import rooflab as rl
from rooflab.show.waiting import covered
from tests.show.test_waiting import axis

COVERED = "Covered until you have placed your guess above."
PICTURES = {
    "roofline": lambda after: rl.live.roofline(
        "h100-sxm", ops="axpy", dtypes=("fp32",), waterfall=True, after=after
    ),
    "layer": lambda after: rl.live.layer(machines="h100-sxm", dtypes=("fp32",), after=after),
}


@pytest.mark.parametrize("make", PICTURES.values(), ids=PICTURES)
def test_before_the_guess_the_output_shows_only_what_it_waits_for(make) -> None:
    live = make(axis())
    data, told = live._repr_mimebundle_()
    assert data["text/plain"] == live.sentence == COVERED
    assert b64decode(data["image/png"]) == covered(COVERED)
    assert told["image/png"]["alt"] == COVERED
    assert told["rooflab"]["under"]["alt"] == "The live roofline, uncovered."


@pytest.mark.parametrize("make", PICTURES.values(), ids=PICTURES)
def test_after_the_guess_it_is_the_picture_that_never_waited(make) -> None:
    asked = axis()
    live, plain = make(asked), make(None)
    under = live._repr_mimebundle_()[1]["rooflab"]["under"]["png"]
    asked.covered = False
    (data, told), (wanted, said) = live._repr_mimebundle_(), plain._repr_mimebundle_()
    assert (data["image/png"], data["text/plain"]) == (wanted["image/png"], wanted["text/plain"])
    assert told == said and "under" not in told.get("rooflab", {})
    assert under == data["image/png"], "a lecture uncovers this one"
    assert live.sentence == plain.sentence and plain.cover is None


def test_it_waits_for_every_guess_and_is_covered_with_the_first_again() -> None:
    both = axis("one"), axis("two")
    live = rl.live.roofline("h100-sxm", ops="axpy", after=both)
    assert "your two guesses" in live.sentence and live.covered
    both[0].covered = False
    assert live.covered
    both[1].covered = False
    assert not live.covered
    both[0].covered = True
    assert live.covered, "who guesses again must not read the answer below"


def test_it_waits_for_cards_too() -> None:
    here = rl.recording("epyc-2core-vm").machine
    cards = rl.sort("03-ten", [rl.axpy(256), rl.gemm(64, 64, 64)], machine=here)
    live = rl.live.roofline("h100-sxm", ops="axpy", after={"one": axis(), "cards": cards})
    assert live.sentence == "Covered until you have placed your guess and sorted the cards above."


@pytest.mark.parametrize("draw", [rl.live.roofline, rl.live.layer])
def test_what_is_never_covered_is_named(draw) -> None:
    with pytest.raises(TypeError, match="after=3 is no guess axis; pass what rl.ask returned"):
        draw(machines="h100-sxm", after=3)

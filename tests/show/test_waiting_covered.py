"""Every picture that waits for a guess: covered before it, after it as if it had never waited."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

import rooflab as rl
from rooflab.show import waiting
from tests.labs.memory.support.synthetic import MIB, mountain, zen
from tests.labs.search.support.searches import PLAIN, searched
from tests.show.test_free_lunch_picture import CURVE
from tests.show.test_waiting import axis
from tests.support.film_example import SMALL
from tests.support.morph_example import HERE, MEASURED

COVERED = "Covered until you have placed your guess above."
ONES = np.ones(1000)
PICTURES = {
    "roofline": lambda after: rl.live.roofline(
        "h100-sxm", ops="axpy", dtypes=("fp32",), ladder=True, after=after
    ),
    "free lunch": lambda after: rl.live.free_lunch(CURVE, after=after),
    "golf": lambda after: rl.live.golf(rl.golf(lambda x: 2 * x, ONES), after=after),
    "film": lambda after: rl.live.film(SMALL, "h100-sxm", weights="bf16", kv="bf16", after=after),
    "morph": lambda after: rl.live.morph(MEASURED[:3], machine=HERE, after=after),
    "trail": lambda after: rl.search.trail(searched(1), PLAIN, after=after),
    "mountain": lambda after: rl.live.mountain(mountain(zen(MIB), {}), after=after),
}


def output(picture: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """What a notebook keeps of it, but for the widget's name."""
    data, about = picture._repr_mimebundle_()
    return {kind: data[kind] for kind in ("text/plain", "image/png")}, about


@pytest.mark.parametrize("name", PICTURES)
def test_it_is_covered_until_the_guess_and_then_the_picture_that_never_waited(name: str) -> None:
    asked = axis()
    picture, plain = PICTURES[name](asked), PICTURES[name](None)
    (data, about), (wanted, words) = output(picture), output(plain)
    assert data["text/plain"] == picture.sentence == COVERED == about["image/png"]["alt"]
    under = about["rooflab"]["under"]
    assert data["image/png"] != wanted["image/png"] == under["png"], "a lecture uncovers this one"
    assert under["alt"] in wanted["text/plain"]
    asked.covered = False
    assert output(picture) == (wanted, words) and "under" not in words.get("rooflab", {})
    assert picture.sentence == plain.sentence


def test_what_is_never_covered_is_named() -> None:
    for name in PICTURES:
        with pytest.raises(TypeError, match="after=3 is no guess axis; pass what rl.ask returned"):
            PICTURES[name](3)


def test_a_cover_has_axes_and_the_question_and_nothing_of_what_it_covers() -> None:
    slower = dataclasses.replace(CURVE, seconds=tuple(9 * one for one in CURVE.seconds))
    covers = [rl.live.free_lunch(one, after=axis()) for one in (CURVE, slower)]
    stills = [one.still() for one in covers]
    assert stills[0] == stills[1] != waiting.covered(COVERED)
    assert waiting.covered(COVERED, "?", "free-lunch") != stills[0] != waiting.covered(COVERED)
    assert covers[0].sketch == covers[1].sketch
    words = [text for tag, _, text in covers[0].sketch if tag == "text"]
    assert words == ["time", "multiply-adds on each number", "?"]
    assert rl.live.free_lunch(CURVE).sketch == []


def test_every_sketch_is_of_a_kind_of_picture() -> None:
    known = {PICTURES[name](None).cover_of for name in PICTURES}
    more = (
        rl.live.free_lunch(CURVE, view="rate"), rl.memory.energy_bars(),
        rl.live.layer(1, machines=["h100-sxm"]),
    )  # fmt: skip
    assert set(waiting.SKETCHES) <= known | {one.cover_of for one in more}

"""Words that wait for a guess: nothing of them is seen before, all of them after."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

import rooflab as rl
from rooflab.exercises.sentences import Conclusion
from rooflab.show.guess_axis import guess
from rooflab.show.waiting import say

SENTENCE = Conclusion("flat", "It took **1.2 times** the time.\n\n*Warning: noisy.*")


def axis(id: str = "nine", **changed):
    given = {"result": 4.3, "unit": "ms", "low": 1, "high": 200} | changed
    return guess(id, "How long?", **given)


def shown(said) -> dict:
    return said._repr_mimebundle_()[0]


def test_before_the_guess_the_output_holds_nothing_of_it() -> None:
    said = say("9: 6.6 ms", SENTENCE, after=axis())
    data, told = said._repr_mimebundle_()
    assert data["text/plain"] == "Covered until you have placed your guess above."
    assert "text/markdown" not in data and told == {"rooflab": {"waits": True}}
    assert "6.6" not in str(data) + repr(said) and "1.2" not in str(data) + repr(said)


def test_after_the_guess_it_is_there_as_text_for_every_reader() -> None:
    asked = axis()
    said = say("9: <6.6> ms", "17: 6.8 ms", SENTENCE, after=asked)
    asked.covered = False
    assert not said.covered
    assert shown(said)["text/plain"].startswith("9: <6.6> ms\n17: 6.8 ms\nIt took")
    assert shown(said)["text/markdown"] == (
        "```text\n9: <6.6> ms\n17: 6.8 ms\n```\n\n" + SENTENCE.text
    )
    assert said.page == (
        "<pre>9: &lt;6.6&gt; ms\n"
        "17: 6.8 ms</pre><p>It took <strong>1.2 times</strong> the time.</p>\n"
        "<p><em>Warning: noisy.</em></p>\n"
    )


def test_it_waits_for_every_guess_and_is_covered_with_the_first_again() -> None:
    both = axis("one"), axis("two")
    said = say("all of them", after=both)
    assert "your two guesses" in repr(said)
    both[0].covered = False
    assert said.covered
    both[1].covered = False
    assert not said.covered
    both[0].covered = True
    assert said.covered, "who guesses again must not read the answer below"


def test_a_picture_is_shown_with_its_words() -> None:
    picture = rl.show.roofline(rl.machine("h100-sxm"), [rl.gemm(64, 64, 64)], dtype="fp32")
    asked = axis()
    said = say(picture, after=asked)
    assert "<img" not in str(shown(said)) and picture.words not in str(shown(said))
    asked.covered = False
    image = ElementTree.fromstring(said.page.replace('">', '"/>'))
    assert image.get("alt").split() == picture.words.split()
    assert shown(said)["text/markdown"] == picture.words
    assert image.get("src").startswith("data:image/png;base64,iVBOR")


def test_bad_input_is_named() -> None:
    with pytest.raises(TypeError, match="what: give at least one"):
        say(after=axis())
    with pytest.raises(TypeError, match="after=3"):
        say("x", after=3)
    with pytest.raises(TypeError, match="after=None must be what rl.ask returned"):
        say("x", after=None)

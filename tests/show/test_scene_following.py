"""What a scene packs for a browser: words by state, dimensions that follow, tables kept once."""

from __future__ import annotations

import numpy as np
import pytest

from rooflab.show.scene import By, Dim, Fill, Scene, pack, sheets
from rooflab.show.scene.player import Player


def test_the_template_of_a_sentence_may_depend_on_the_state() -> None:
    scene = Scene(100, 100, [Dim("kind", ["none", "some"]), Dim("n", ["one", "two"])])
    words = By("kind", ["There is nothing.", "There are {n}."])
    scene.says = Fill(words, n=By("n", ["1", "2"]))
    assert scene.sentence(kind=0, n=1) == "There is nothing."
    assert scene.sentence(kind=1, n=1) == "There are 2."
    packed = pack(scene)[0]["says"]
    assert packed["template"]["dims"] == [0] and packed["holes"]["n"]["dims"] == [1]


def follower() -> Scene:
    """Whether two switches agree decides where a bar ends."""
    same = Dim("same", ["no", "yes"], of=By("a b", [[1, 0], [0, 1]]))
    scene = Scene(100, 100, [Dim("a", ["off", "on"]), Dim("b", ["off", "on"]), same])
    scene.rect(0, 0, By("same", [10, 90]), 10)
    scene.says = By("same", ["They differ.", "They agree."])
    return scene


def test_a_dimension_may_follow_from_others() -> None:
    for a, b in [(0, 0), (0, 1), (1, 0), (1, 1)]:
        scene = follower()
        assert scene.sentence(a=a, b=b) == ("They agree." if a == b else "They differ.")
        assert scene.value(scene.marks[0], "box", a=a, b=b)[2] == (90 if a == b else 10)


def test_a_widget_holds_only_what_a_hand_moves() -> None:
    player = Player(follower(), stem="follower", b=1)
    assert player.state == {"a": 0, "b": 1} and player.sentence == "They differ."
    assert not player.has_trait("same")
    of = [dim["of"] for dim in pack(player.scene)[0]["dims"]]
    assert of[:2] == [None, None] and of[2]["dims"] == [0, 1]


def test_where_it_lies_must_be_said_for_every_place() -> None:
    with pytest.raises(ValueError, match=r"By\('a'\) holds \(3,\) values; \(2,\) are needed"):
        Scene(9, 9, [Dim("a", ["off", "on"]), Dim("b", ["x", "y"], of=By("a", [0, 1, 1]))])


def test_what_is_pulled_must_not_follow() -> None:
    scene = follower()
    with pytest.raises(ValueError, match="a grip lies where a hand puts it; same follows"):
        scene.grip("a", By("same", [0, 1]), 5, area=(0, 0, 10, 10))


def columns(track: dict) -> list[object]:
    """Where each number of a mark comes from: a number, or the place of its table."""
    parts = [
        part[0] if isinstance(part, list) else ("table", part["at"]) for part in track["parts"]
    ]
    return [parts[n] for n in track["of"]]


def test_marks_that_share_a_place_keep_it_once() -> None:
    scene = Scene(100, 100, [Dim("i", [str(n) for n in range(50)])])
    at, end = By("i", np.arange(50) ** 1.5), By("i", 90 - np.arange(50) ** 0.5)
    scene.line([(at, 10), (end, 10), (end, 20), (at, 20)], fill="ink")
    scene.line([(end, 10), (end, 40)])
    scene.text(at, 50, "here")
    packed = pack(scene)[0]
    bar, link, text = (columns(next(iter(mark["channels"].values()))) for mark in packed["marks"])
    start, stop = bar[0], bar[2]
    assert bar == [start, 10, stop, 10, stop, 20, start, 20] and start != stop
    assert link == [stop, 10, stop, 40] and text == [start, 50, 0]
    assert len(packed["buffer"]) == 2 * 2 * 50


def test_the_sheets_of_a_picture_share_words_and_tables() -> None:
    def sheet(wide: float) -> Scene:
        scene = Scene(wide, 100, [Dim("i", ["one", "two"])])
        scene.text(By("i", [10, 20]), 10, By("i", ["left", "right"]))
        return scene

    first, second = sheets(sheet(200), sheet(100))
    assert first["texts"] == ["left", "right"] and first["buffer"] and "texts" not in second
    assert first["marks"] == second["marks"] and first["width"] != second["width"]
    assert first["buffer"] == pack(sheet(200))[0]["buffer"]


def test_a_dimension_named_like_something_of_every_player_is_refused() -> None:
    for name in ["classes", "state", "layout"]:
        scene = Scene(100, 100, [Dim(name, ["a", "b"])])
        scene.says = "A picture."
        with pytest.raises(ValueError, match=f"'{name}' would hide the player's own '{name}'"):
            Player(scene, stem="clash")

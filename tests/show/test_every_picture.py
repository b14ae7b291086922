"""Every picture made of a scene, in states spread over all: its words have room, and say something.

Where words stand is worked out from the widths of their letters. In a browser
tests/browser/test_scenes.py looks at the states in which they are closest.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from rooflab.show.scene import Scene
from rooflab.show.scene.player import Player
from tests.support.pictures import PICTURES, made
from tests.support.scene_texts import faults
from tests.support.scenes import some_states

LIMIT = 1_000_000  # bytes of a saved picture


def wrong(scene: Scene, state: dict[str, Any]) -> list[str]:
    """What is wrong with a sheet in a state."""
    said = scene.sentence(**state)
    bad = not said.endswith((".", "?", "″", "”", ")")) or "{" in said or " nan" in said
    return faults(scene, **state)[0] + [said] * bad


@pytest.mark.parametrize("name", PICTURES)
def test_no_text_lies_on_another_or_is_cut_off_and_every_state_has_its_sentence(name: str) -> None:
    found = {
        (scene.width, *state.items()): words
        for scene in made(name).sheets for state in some_states(scene, limit=16)
        if (words := wrong(scene, state))
    }  # fmt: skip
    assert not found


def saved(picture: Player) -> int:
    """Bytes of what a notebook keeps of a picture."""
    packed = [len(json.dumps({**one, "buffer": "", "exact": ""})) for one in picture.packed]
    tables = [len(one.get(key, b"")) for one in picture.packed for key in ("buffer", "exact")]
    return sum(packed) + sum(tables) * 4 // 3


def test_a_saved_picture_stays_below_a_megabyte() -> None:
    sizes = {name: saved(made(name)) for name in PICTURES}
    assert {name: size for name, size in sizes.items() if size > LIMIT} == {}


def test_words_that_overlap_or_are_cut_off_are_found() -> None:
    """Else the first test would prove nothing."""
    scene = Scene(100, 100, [])
    scene.text(10, 50, "one")
    assert faults(scene)[0] == []
    scene.text(20, 55, "two", turn=-30)
    scene.text(90, 90, "three")
    assert faults(scene)[0] == ["two lies on one", "three is cut off"]

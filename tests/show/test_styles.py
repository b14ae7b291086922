"""Style sheets of pictures that stand on the same page leave each other alone."""

from __future__ import annotations

import re

import pytest

from rooflab.labs.golf import live as golf
from rooflab.show import canvas

SHARED = {"bars"}  # styled alike in every picture, by overlay.css
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
BARE = re.compile(r"\s*\.rl-pic\s+(?:>\s*)?\.([\w-]+)")
CLASSES = re.compile(r"""class(?:=|: )["'`]([^"'`]*)["'`]""")


def styled(sheet: str) -> set[str]:
    """Classes that a sheet styles in every picture (``.rl-pic .this``), whatever the element."""
    rules = re.findall(r"([^{}]+)\{", COMMENT.sub("", canvas.source(sheet, beside=golf.__file__)))
    found = (BARE.match(one) for rule in rules for one in rule.split(","))
    return {one[1] for one in found if one}


def used(script: str) -> set[str]:
    return set(" ".join(CLASSES.findall(canvas.source(script))).split())


@pytest.mark.parametrize("other", ["guess.js", "lunch.js", "morph.js", "sort_cards.js"])
def test_the_golf_picture_styles_nothing_in_its_neighbours(other: str) -> None:
    """A line colour meant for its own axis once framed every guess in the lesson."""
    assert {"lane", "trip"} <= styled("golf.css") and used(other)
    assert styled("golf.css") & used(other) <= SHARED

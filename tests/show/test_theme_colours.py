"""The one language of colour can be read, and told apart by eyes that lack a cone."""

from __future__ import annotations

import itertools
import re

import numpy as np
import pytest

from rooflab.show import theme

#: What sees colours without the long, the middle or the short cone: Machado, Oliveira and
#: Fernandes 2009, "A Physiologically-based Model for Simulation of Color Vision Deficiency".
SEEN = {
    "all cones": np.eye(3),
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "tritanopia": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}
PAPER = {False: "#FFFFFF", True: "#111111"}
TO_XYZ = [
    [0.4124564, 0.3575761, 0.1804375],
    [0.2126729, 0.7151522, 0.0721750],
    [0.0193339, 0.1191920, 0.9503041],
]
WHITE = [0.95047, 1, 1.08883]


def linear(colour: str) -> np.ndarray:
    shares = np.array([int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)])
    return np.where(shares <= 0.04045, shares / 12.92, ((shares + 0.055) / 1.055) ** 2.4)


def lab(rgb: np.ndarray) -> np.ndarray:
    """CIELAB of a linear colour; 20 apart is told apart at a glance."""
    xyz = np.array(TO_XYZ) @ np.clip(rgb, 0, 1) / WHITE
    root = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * root[1] - 16, 500 * (root[0] - root[1]), 200 * (root[1] - root[2])])


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("eyes", SEEN)
def test_the_three_colours_are_told_apart(eyes: str, dark: bool) -> None:
    found = {
        name: lab(np.array(SEEN[eyes]) @ linear(theme.colour(name, dark=dark)))
        for name in ("carrying", "computing", "overhead")
    }
    for one, other in itertools.combinations(found, 2):
        assert np.linalg.norm(found[one] - found[other]) > 18, (one, other)


def contrast(one: str, other: str) -> float:
    """The contrast of two colours as WCAG 2.2 defines it, from 1 to 21."""
    low, high = sorted(float(linear(each) @ TO_XYZ[1]) for each in (one, other))
    return (high + 0.05) / (low + 0.05)


def test_contrast_is_wcags() -> None:
    for colour, known in [("#000000", 21), ("#FFFFFF", 1), ("#767676", 4.54), ("#D55E00", 3.87)]:
        assert contrast(colour, "#FFFFFF") == pytest.approx(known, abs=0.01)


@pytest.mark.parametrize("dark", [False, True])
def test_letters_stand_out_by_4_5_and_marks_by_3(dark: bool) -> None:
    for name in ("ink", "soft", "carrying", "computing", "overhead", "mine-says", "key", "warn"):
        assert contrast(theme.colour(name, dark=dark), PAPER[dark]) >= 4.5, name
    # The guess is always drawn with an edge of ink.
    assert contrast(theme.colour("ink", dark=dark), PAPER[dark]) >= 3


def test_a_browser_gets_every_colour_for_light_and_dark() -> None:
    light, dark = theme.css().splitlines()
    assert light.startswith(".rl-pic {") and dark.startswith(".rl-pic.rl-dark {")
    for text, number in ((light, 0), (dark, 1)):
        found = dict(re.findall(r"--([\w-]+): (#\w{6});", text))
        assert found == {name: both[number] for name, both in theme.COLOURS.items()}

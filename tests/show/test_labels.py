"""Words in a drawn picture never lie on each other, whatever crowd of points stands in it."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import TextPath

import rooflab as rl
from rooflab.show.canvas import figure
from rooflab.show.labels import SIZE, Crowd, Room, Spot, spots_around, width
from tests.support.text_overlap import overlapping, written


@pytest.fixture
def crowd() -> Crowd:
    """An empty axes, 0 to 500 both ways, a pixel to each unit."""
    ax = figure(500, 500).add_axes((0, 0, 1, 1))
    ax.set(xlim=(0, 500), ylim=(0, 500))
    return Crowd(ax)


def spoken(crowd: Crowd) -> list[str]:
    return [text.get_text() for text in crowd.ax.texts]


def test_a_text_is_as_wide_as_the_curves_of_its_letters() -> None:
    for text in ["gemm 96×96×96, 7.11 FLOP/byte", *"oOCeg3%S@&?×→µ²÷≥·…“é"]:
        outline = TextPath((0, 0), text, size=SIZE, prop=FontProperties("DejaVu Sans"))
        assert width(text) == pytest.approx(outline.get_extents().x1)


def test_a_label_takes_the_free_place(crowd: Crowd) -> None:
    crowd.add_disc(300, 300, 60)
    crowd.write("here", [Spot(300, 300), Spot(400, 200)])
    assert np.hypot(*np.subtract(crowd.room.taken[-1][:2], (300, 300))) > 60


def test_a_label_would_rather_stand_farther_off_than_on_a_line(crowd: Crowd) -> None:
    crowd.add_line([(250, 0), (250, 500)])
    crowd.write("word", [Spot(240, 100), Spot(260, 100)])
    assert crowd.room.taken[-1][0] > 250


def test_a_label_stands_at_its_own_marker(crowd: Crowd) -> None:
    for x in (100, 140):
        crowd.add_disc(x, 100, 8)
    crowd.write("word", spots_around(100, 100, 11), [(100, 100)])
    left, low, right, high = crowd.room.taken[-1]
    middle = ((left + right) / 2, (low + high) / 2)
    assert np.hypot(middle[0] - 100, middle[1] - 100) < np.hypot(middle[0] - 140, middle[1] - 100)


def test_without_a_place_a_label_is_left_out_unless_it_must_be_written(crowd: Crowd) -> None:
    crowd.room.taken.append((0, 0, 500, 500))
    assert not crowd.write("nowhere", [Spot(100, 100)], forced=False)
    assert spoken(crowd) == []
    assert crowd.write("somewhere", [Spot(100, 100)]) and spoken(crowd) == ["somewhere"]


def test_words_keep_off_a_slanted_text(crowd: Crowd) -> None:
    crowd.write("along a slope", [Spot(250, 250, "center", "bottom", 45)])
    for x, y in itertools.product(range(200, 301, 20), range(200, 301, 20)):
        crowd.write(f"{x}", [Spot(x, y)], forced=False)
    assert len(spoken(crowd)) > 4 and overlapping(crowd.ax.figure) == []


def test_the_less_a_forced_text_covers_the_better() -> None:
    room = Room((0, 0, 100, 100), taken=[(0, 0, 60, 60), (0, 0, 20, 20)])
    places = [[(0, 0, 10, 10)], [(30, 30, 40, 40)], [(95, 95, 130, 99)]]
    assert room.choose(places) is None and room.choose(places, forced=True)[1] == 1


@pytest.mark.parametrize("cache", ["cold", "both"])
def test_a_crowd_names_whom_it_can_and_counts_the_rest(cache: str) -> None:
    here = rl.recording("epyc-2core-vm")
    picture = rl.show.roofline(here.machine, here.measurements[::7], cache=cache)
    assert overlapping(picture) == []
    said = [text.get_text() for text in written(picture)]
    assert sum(text.startswith("GEMM") for text in said) > 5
    assert any(text.endswith("labels left out") for text in said)

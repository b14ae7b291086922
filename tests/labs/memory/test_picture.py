"""The picture of a mountain: which level a working set lies in, in words and on the sheet."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

import rooflab as rl
from rooflab.labs.memory.picture import home, sentence
from rooflab.show.scene import drawn
from tests.labs.memory.support.synthetic import KIB, MIB, SIZES, curves, mountain, zen

TOLD = {"l1": 48 * KIB, "l2": MIB, "l3": 480 * MIB}


@pytest.fixture(scope="module")
def made():
    return mountain(zen(24 * MIB), TOLD, name="A core", warnings=("on battery",))


def test_every_working_set_has_its_level(made):
    for nbytes, levels in [
        (4 * KIB, "L1 L1"), (256 * KIB, "L2 L2"), (8 * MIB, "L3 L3"),
        (256 * MIB, "memory memory"), (30 * MIB, "L3 memory"), (1, "L1 L1"),
        (2**40, "memory memory"),
    ]:  # fmt: skip
        assert [level.name for level in home(made, made.at(nbytes))] == levels.split()


def test_the_sentence_says_level_rates_and_latency(made):
    """And not the lines in flight, which lesson 06 asks for later."""
    assert sentence(made, made.at(8 * MIB)) == (
        "A working set of 8.4 MB lies in L3: it is read at 70.0 GB/s and copied at 56.0 GB/s. A "
        "hop takes 14.0 ns."
    )
    assert "lies in main memory" in sentence(made, len(SIZES) - 1)
    assert "lies between L3 and main memory" in sentence(made, made.at(30 * MIB))


def test_a_cache_that_nobody_tells_of():
    shape = curves((1 * MIB,), (2e-9, 90e-9), (100e9, 10e9))
    assert "does not report" in sentence(mountain(shape, {}), 3)


def test_a_stream_that_is_still_fast_where_hops_are_slow_is_said(made):
    """From 24 to 100 MiB the memory answers a hop, and a stream gets what it got from the L3."""
    shape = zen(24 * MIB)
    read = [70e9 if 24 * MIB < nbytes < 100 * MIB else rate
            for nbytes, rate in zip(shape.sizes, shape.read)]  # fmt: skip
    found = mountain(replace(shape, read=tuple(read)), TOLD)
    said = [sentence(found, found.at(size * MIB)) for size in (8, 60, 200)]
    assert [("disagree" in one, "fast as in L3" in one) for one in said] == [
        (False, False), (True, True), (False, False)]  # fmt: skip


def test_bands_are_what_was_found_and_dots_lie_on_the_curves(made):
    picture = rl.live.mountain(made, start=8 * MIB)
    assert picture.sentence == sentence(made, made.at(8 * MIB))
    for scene in picture.sheets:
        bands = [mark for mark, _ in drawn(scene, i=0) if mark.name == "band"]
        assert len(bands) == 2 * len(made.levels) / 2  # every other level, in both panels
        told = [mark for mark, _ in drawn(scene, i=0) if mark.name == "dotted"]
        assert len(told) == 2 * 2  # the third lies beyond the axis
        for number in (0, 30, len(SIZES) - 1):
            now = [held["at"] for mark, held in drawn(scene, i=number) if mark.name == "now"]
            marks = [*drawn(scene, i=number)]
            lines = {mark.name: held["points"] for mark, held in marks if mark.kind == "line"}
            for place, name in zip(now, ("copy", "read", "latency")):
                x, y = lines[name][2 * number : 2 * number + 2]
                assert math.isclose(place[0], x) and math.isclose(place[1], y)


def test_warnings_stand_below_the_picture(made):
    (note,) = rl.live.mountain(made).scene.notes
    assert "on battery" in note[1] and "A core, 1 thread" in note[1]


def test_what_is_no_mountain_is_refused(made):
    with pytest.raises(TypeError, match="found="):
        rl.live.mountain({"sizes": [1, 2]})
    with pytest.raises(TypeError, match="after="):
        rl.live.mountain(made, after=3)
    with pytest.raises(ValueError, match="start=0"):
        rl.live.mountain(made, start=0)

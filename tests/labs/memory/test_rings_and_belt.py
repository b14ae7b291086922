"""Rings of a shuffle, and lines in flight: facts of permutations and of Little's law."""

from __future__ import annotations

from collections import Counter
from itertools import permutations

import pytest

import rooflab as rl
from rooflab.labs.memory.belt import BUFFERS, MEMORIES
from rooflab.labs.memory.rings import RINGS, SHUFFLES, parts, walk
from rooflab.show.scene import drawn


def test_of_720_fillings_of_six_boxes_120_are_one_ring():
    """(n - 1)! of n! permutations are one cycle; every length of a walk is equally likely."""
    every = [*permutations(range(6))]
    assert sum(len(parts(follows)) == 1 for follows in every) == 120
    lengths = Counter(len(walk(follows)) for follows in every)
    assert lengths == dict.fromkeys(range(1, 7), 120)


def test_shuffles_fall_apart_and_rings_do_not():
    assert all(len(parts(follows)) > 1 for follows in SHUFFLES)
    assert all(len(parts(follows)) == 1 for follows in RINGS)


def test_a_walk_touches_its_ring_alone():
    picture = rl.memory.rings(shuffle=True)
    for way, follows in enumerate((*SHUFFLES, *RINGS)):
        touched = [
            mark for mark, _ in drawn(picture.scene, way=way, hop=6) if mark.name == "touched"
        ]
        assert len(touched) == len(walk(follows))


def test_what_is_not_read_yet_is_hidden():
    held = [value["text"] for mark, value in drawn(rl.memory.rings().scene, hop=2)
            if mark.name in ("number", "note")]  # fmt: skip
    assert held.count("?") == 6 and "→ 2" in held


def test_as_many_dots_are_on_the_belt_as_littles_law_says():
    """In flight = rate × latency ÷ bytes of a line, and as many arrive in a latency."""
    scene = rl.memory.belt().scene
    for m, memory in enumerate(MEMORIES):
        for n, buffers in enumerate(BUFFERS):
            wanted = memory.rate(buffers) * memory.latency / 64
            for t in (0, 17, 40):
                marks = drawn(scene, buffers=n, memory=m, t=t)
                dots = sum(mark.name == "line" for mark, _ in marks)
                assert abs(dots - wanted) <= 1


def test_twice_the_bandwidth_gives_ten_buffers_nothing_and_half_the_latency_all():
    same, wider, nearer = (one.rate(10) for one in MEMORIES)
    assert same == wider == pytest.approx(6.4e9) and nearer == pytest.approx(12.8e9)

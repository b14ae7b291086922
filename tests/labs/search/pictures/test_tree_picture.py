"""A beam in a small graph as a picture: what is kept, and what is never timed."""

from __future__ import annotations

import rooflab as rl
from rooflab.course.lesson09.exercises import BEAM, WIDTH
from rooflab.labs.search.pictures.tree import CHILDREN, SECONDS, Beam
from tests.support.scenes import named, some_states


def test_the_graph_of_the_exercises_is_found_by_width_2_and_lost_by_width_3() -> None:
    """What comes out of the picture is the answer to the exercises' example."""
    for width, (found, timed) in enumerate([("a", 5), ("g", 6), ("f", 7), ("g", 8)], 1):
        one = Beam(width)
        assert BEAM.reference(CHILDREN, SECONDS, "s", width) == (found, timed)
        assert (one.kept(99)[0], len(one.timed[-1])) == (found, timed)
    assert WIDTH.reference(CHILDREN, SECONDS, "s") == 2
    assert BEAM.example == (CHILDREN, SECONDS, "s", 2)


def test_as_many_are_marked_as_kept_as_the_beam_is_wide() -> None:
    picture = rl.search.tree()
    for state in some_states(picture.scene):
        marks = named(picture.scene, "kept")
        kept = sum(picture.scene.value(one, "opacity", **state) for one in marks)
        assert kept == (min(state["width"], 4) if state["round"] else 1)
        assert picture.scene.sentence(**state).startswith(f"Width {state['width']}")

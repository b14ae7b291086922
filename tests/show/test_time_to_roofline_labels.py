"""The names in the morph: apart from each other, and nearer to their own point than to another."""

from __future__ import annotations

import math
from itertools import product

from hypothesis import given, settings
from hypothesis import strategies as st

import rooflab as rl
from rooflab.show.guess_axis import guess
from rooflab.show.labels import apart
from rooflab.show.scene import Scene
from rooflab.show.time_to_roofline import Morph, morph
from tests.support.machine import measurement
from tests.support.morph_example import HERE, LESSON, THERE, bound, points
from tests.support.pictures import made
from tests.support.scene_texts import faults, words
from tests.support.scenes import named

SIZES = st.integers(1, 4096)
SOME = st.one_of(
    st.builds(rl.axpy, st.integers(1, 10**8)), st.builds(rl.gemv, SIZES, SIZES),
    st.builds(rl.gemm, SIZES, SIZES, SIZES),
)  # fmt: skip


@settings(max_examples=3, deadline=None)
@given(st.lists(st.tuples(SOME, st.floats(1, 100)), min_size=6, max_size=12))
def test_whatever_was_measured_names_keep_apart_and_points_stay_inside(slowed: list) -> None:
    picture = morph(
        [measurement(op, "here", bound(op) * factor) for op, factor in slowed], machine=HERE
    )
    for scene, at in product(picture.sheets, range(4)):
        assert faults(scene, at=at, seen=True)[0] == []
    left, top, right, bottom = 76, 34, 704, 436  # the axes on the wide sheet
    for x, y in (spot for one in points(picture) for spot in one["at"]):
        assert left - 0.1 <= x <= right + 0.1 and top - 0.1 <= y <= bottom + 0.1


def lesson_with_guesses() -> Morph:
    """The lesson's measurements, two of them with axes on which a guess is asked for."""
    axes = {}
    for n in (4, 9):
        ms = 1e3 * LESSON[n].median_s
        axes[LESSON[n].op] = guess(f"l{n}", "?", result=ms, unit="ms", low=ms / 30, high=ms * 30)
    return morph(LESSON, machine=THERE, guesses=axes)


def names_at(picture: Morph, scene: Scene, at: int) -> dict[int, tuple[float, ...]]:
    """Number of a point → the box of its name, or of its number, of all that have one at a stop."""
    names = [{dot.label, str(n)} for n, dot in enumerate(picture.dots, 1)]
    found = {}
    for text, b in words(scene, at=at):
        found |= {n: (*b.min(axis=0), *b.max(axis=0)) for n, its in enumerate(names) if text in its}
    return found


def test_in_decades_every_point_has_its_name_or_number_and_it_is_nearest_to_its_own() -> None:
    for picture in (made("morph"), lesson_with_guesses()):
        for scene, at in product(picture.sheets, (2, 3)):
            marks = [tuple(scene.value(m, "at", at=at).tolist()) for m in named(scene, "point")]
            found = names_at(picture, scene, at)
            assert sorted(found) == [*range(len(marks))]
            for n, box in found.items():
                others = [m for m in marks if math.dist(m, marks[n]) > 16]  # else on each other
                near = min(apart(box, m) for m in others)
                assert apart(box, marks[n]) < near or near > 20, (scene.width, at, n)

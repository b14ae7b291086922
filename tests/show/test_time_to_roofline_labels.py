"""The words in the morph keep out of each other's way at every named stop."""

from __future__ import annotations

import math
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rooflab as rl
from rooflab.show.guess_axis import guess
from rooflab.show.labels import Room, apart, width
from rooflab.show.name_places import Name, put_names
from rooflab.show.scene import Scene, drawn
from rooflab.show.time_to_roofline import Morph, morph
from tests.support.machine import measurement
from tests.support.morph_example import (
    HERE,
    LESSON,
    MEASURED,
    OPS,
    THERE,
    bound,
    lines,
    point,
    points,
    written,
)
from tests.support.scenes import named

PLOT = (76, 34, 704, 436)  # left, top, right and bottom of the axes on the wide sheet


@pytest.fixture(scope="module")
def picture() -> Morph:
    return morph(MEASURED, machine=HERE, guesses={"gemm 1024×1024×1024 fp32": 0.2})


def boxes(scene: Scene, k: int) -> list[tuple[str, float, float, float, float]]:
    """Every label at stop k, but those of the axes, with the room that its text takes."""
    found = []
    for mark, held in drawn(scene, at=k, seen=True):
        if mark.kind == "text" and not mark.name.startswith(("tick", "axis")):
            found += spans(held["text"], held["at"].tolist())
    return found


def spans(text: str, at: list[float]) -> list[tuple[str, float, float, float, float]]:
    """The box of a level label, or small ones along the middle of a slanted one."""
    half = width(text) / 2
    if not at[2]:
        return [(text, at[0] - half, at[1] - 12, at[0] + half, at[1] + 4)]
    turn = math.radians(at[2])
    along, down = (math.cos(turn), math.sin(turn)), (-math.sin(turn), math.cos(turn))
    middles = [
        (at[0] + s * along[0] - 4 * down[0], at[1] + s * along[1] - 4 * down[1])
        for s in np.linspace(-half, half, 12)
    ]
    return [(text, x - 5, y - 5, x + 5, y + 5) for x, y in middles]


def assert_apart(picture: Morph) -> None:
    for scene, k in product(picture.sheets, range(4)):
        for a, b in combinations(boxes(scene, k), 2):
            if a[0] == b[0] and max(a[3] - a[1], b[3] - b[1]) < 10.1:
                continue  # two pieces of one slanted label
            clear = a[3] <= b[1] or b[3] <= a[1] or a[4] <= b[2] or b[4] <= a[2]
            assert clear, (scene.width, k, a, b)
        for text, left, top, right, bottom in boxes(scene, k):
            inside = left >= 0 and right <= scene.width and top >= 15
            assert inside and bottom <= scene.height - 86, (scene.width, text)


def test_labels_keep_apart_at_every_stop(picture: Morph) -> None:
    assert_apart(picture)


def test_in_decades_every_point_has_its_name(picture: Morph) -> None:
    every = set(written(picture.scene, "name")) | set(written(picture.scene, "apart"))
    seen = {text for text, *_ in boxes(picture.scene, 2)}
    assert seen & every == {dot.label for dot in picture.dots}


SIZES = st.integers(1, 4096)
SOME = st.one_of(
    st.builds(rl.axpy, st.integers(1, 10**8)), st.builds(rl.gemv, SIZES, SIZES),
    st.builds(rl.gemm, SIZES, SIZES, SIZES),
)  # fmt: skip


@settings(max_examples=12, deadline=None)
@given(st.lists(st.tuples(SOME, st.floats(1, 100)), min_size=1, max_size=12))
def test_whatever_was_measured_labels_keep_apart_and_points_stay_inside(slowed: list) -> None:
    seen = [measurement(op, "here", bound(op) * factor) for op, factor in slowed]
    picture = morph(seen, machine=HERE)
    assert_apart(picture)
    left, top, right, bottom = PLOT
    for p in points(picture):
        for x, y in p["at"]:
            assert left - 0.1 <= x <= right + 0.1 and top - 0.1 <= y <= bottom + 0.1


def test_memory_is_named_along_its_slope_and_the_caches_left_of_theirs(picture: Morph) -> None:
    scene = picture.scene
    label = written(scene, "roof-says")["memory 20.0 GB/s"]
    at = scene.value(label, "at", at=2).tolist()
    slope = lines(scene, "roof main")[0]
    (x0, y0), *_, (x1, y1) = scene.value(slope, "points", at=2).reshape(-1, 2)
    assert scene.value(label, "fill") == "carrying" == scene.value(slope, "ink")
    slant = math.degrees(math.atan2(y1 - y0, x1 - x0))
    assert at[2] == pytest.approx(slant, abs=0.5)
    turn = math.radians(slant)
    off = abs(-(at[0] - x0) * math.sin(turn) + (at[1] - y0) * math.cos(turn))
    assert off < 22, "right at the slope, not at another one"
    assert x0 < at[0] < x1


@settings(max_examples=12, deadline=None)
@given(st.lists(st.sampled_from(range(10)), min_size=1, max_size=3, unique=True), st.floats(-1, 1))
def test_the_gap_of_a_guess_runs_through_no_name_that_could_stand_elsewhere(
    which: list[int], decades: float
) -> None:
    guesses = {OPS[i].label: bound(OPS[i]) * 10**decades for i in which}
    picture = morph(MEASURED, machine=HERE, guesses=guesses)
    found = written(picture.scene, "name").items()
    placed = [(name, picture.scene.value(mark, "at", at=2)) for name, mark in found]
    crossed = set()
    for p in (p for p in points(picture) if "guess" in p):
        x = p["at"][2][0]
        low, high = sorted((p["at"][2][1], p["guess"]["at"][2][1]))
        for name, at in placed:
            wide = abs(at[0] - x) < width(name) / 2
            if wide and at[1] - 12 < high and at[1] + 4 > low:
                crossed.add(name)
    assert len(crossed) <= 1, "at most where a crowd leaves no other room"


def test_without_roofs_labels_keep_apart_too() -> None:
    assert_apart(morph(MEASURED, machine="h100-sxm"))


def test_a_label_stands_beside_its_own_marker_or_nowhere() -> None:
    room, marks = Room((0, 0, 400, 200)), ((100, 100), (118, 100), (136, 100))
    for mark in marks:
        room.add_marker(*mark)
    found = put_names(room, [Name(text, own) for text, own in zip("abc", marks)], lines=False)
    assert any(found)
    for own, place in zip(marks, found):
        if place is not None:
            assert min(marks, key=lambda mark: apart(place.box, mark)) == own


# What a reader sees must tell whose name a name is.


@pytest.fixture(scope="module", params=["exact", "lesson", "guessed", "asked"])
def shown(request: pytest.FixtureRequest) -> Morph:
    """Measurements on their roof, and those of the lesson, without and with guesses."""
    if request.param == "exact":
        return morph(MEASURED, machine=HERE)
    off = {4: 1.4, 6: 3.0, 9: 0.4}
    guesses: dict = {LESSON[i].op: factor * LESSON[i].median_s for i, factor in off.items()}
    if request.param == "asked":
        for i in off:
            ms = 1e3 * LESSON[i].median_s
            axis = guess(f"l{i}", "?", result=ms, unit="ms", low=ms / 30, high=ms * 30)
            guesses[LESSON[i].op] = axis
    return morph(LESSON, machine=THERE, guesses=None if request.param == "lesson" else guesses)


def marks_at(scene: Scene, k: int) -> list[tuple[float, float]]:
    """Middles of all points at a stop, in the order measured."""
    return [tuple(scene.value(mark, "at", at=k).tolist()) for mark in named(scene, "point")]


def names_at(picture: Morph, scene: Scene, k: int) -> list[tuple[int, tuple[float, ...], bool]]:
    """Number of a point, box of its name, and whether it stands apart, at a stop."""
    numbered = any(kind == "names" for kind, *_ in scene.notes)
    names = [str(n + 1) if numbered else dot.label for n, dot in enumerate(picture.dots)]
    found = []
    for mark, held in drawn(scene, at=k):
        if mark.name in ("name", "apart") and held["text"] in names:
            (_, *box), *_ = spans(held["text"], held["at"].tolist())
            found.append((names.index(held["text"]), tuple(box), mark.name == "apart"))
    return found


def test_a_name_is_nearer_to_its_own_point_than_to_any_other(shown: Morph) -> None:
    for scene, k in product(shown.sheets, range(4)):
        marks, seen = marks_at(scene, k), names_at(shown, scene, k)
        assert len(seen) == len(marks) or k < 2, "in decades each point has its name"
        for n, box, on_line in seen:
            others = [
                m for m in marks if math.dist(m, marks[n]) > 16
            ]  # else they lie on each other
            near = min((apart(box, m) for m in others), default=999)
            if on_line:
                assert k < 2 or near > 20, (k, n)
            else:
                assert apart(box, marks[n]) < min(near, 20), (scene.width, k, n)


def test_names_of_a_column_stand_in_the_order_of_their_points(shown: Morph) -> None:
    for scene, k in product(shown.sheets, (2, 3)):
        marks = marks_at(scene, k)
        for (a, box, _), (b, other, _) in combinations(names_at(shown, scene, k), 2):
            (ax, ay), (bx, by) = marks[a], marks[b]
            if abs(ax - bx) < 30 and abs(ay - by) > 4:
                assert (ay - by) * (box[1] - other[1]) >= 0, (scene.width, a, b)


def test_no_thin_line_passes_another_point(shown: Morph) -> None:
    for scene in shown.sheets:
        marks = marks_at(scene, 2)
        for leader in lines(scene, "leader"):
            if scene.value(leader, "opacity", at=2) > 0:
                a, b = scene.value(leader, "points", at=2).reshape(-1, 2)
                own = min(marks, key=lambda m: math.dist(m, b))
                assert math.dist(own, b) < 11, "it ends at a point"
                for mark in (m for m in marks if math.dist(m, own) > 16):
                    near = min(math.dist(a + t * (b - a), mark) for t in np.linspace(0, 1, 50))
                    assert near > 10


def test_off_by_stands_next_to_its_orange_mark(shown: Morph) -> None:
    for scene in shown.sheets:
        for n, (dot, mark) in enumerate(zip(shown.dots, marks_at(scene, 2))):
            others = [m for m in marks_at(scene, 2) if m != mark]
            found = point(shown, dot.label, scene)
            labels: list = []
            if "guess" in found and found["off"]:
                x, y = scene.value(found["off"], "at", at=2).tolist()[:2]
                labels = [(found["guess"]["says"], found["guess"]["at"][2], [x, y, "middle"])]
            if "asked" in found:
                held = found["asked"]
                places = [(mark[0], row[2]) for row in held["y"]]
                labels = [one for one in zip(held["says"], places, held["label"]) if one[2]]
            for text, place, (x, y, anchor) in labels:
                half = {"start": 1, "middle": 0, "end": -1}[anchor] * width(text) / 2
                (_, *box), *_ = spans(text, [x + half, y, 0])
                assert apart(box, place) < min(45, *(apart(box, m) for m in others)), (n, text)


def test_text_is_as_wide_as_its_letters() -> None:
    assert width("") == 0 < width("i") < width("m") < width("mm")
    assert 100 < width("AXPY 16.8 million") < 160


RATES = (3.68e9, 8.77e9, 5.65e9, 21.5e9, 40.1e9, 3.52e9, 11.9e9, 96.7e9, 88.4e9, 70e9)  # of OPS


def test_wherever_a_guess_will_hang_its_words_keep_off_all_names() -> None:
    """A crowd, measured once: some of its names stand aside, at the ends of thin lines."""
    crowd = [measurement(op, "here", op.flops / r) for op, r in zip(OPS, RATES, strict=True)]
    asked = guess("tiny", "How long?", result=180, unit="ns", low=1, high=10_000)
    picture = morph(crowd, machine=HERE, after={OPS[2]: asked})
    places = next(p["asked"] for p in points(picture) if "asked" in p)
    words = [one for one in zip(places["says"], places["label"], strict=True) if one[1]]
    assert len(words) > 200 and written(picture.scene, "apart")
    for name, *box in boxes(picture.scene, 2):
        for text, (x, y, anchor) in words:
            half = {"start": 1, "end": -1}[anchor] * width(text) / 2
            (_, left, top, right, bottom) = spans(text, [x + half, y, 0])[0]
            clear = right <= box[0] or box[2] <= left or bottom <= box[1] or box[3] <= top
            assert clear, (name, text)


def test_the_words_of_two_guesses_never_meet() -> None:
    """Both operations have the same intensity: their guesses hang on one line."""
    asked = {}
    for i in (4, 6):
        ms = 1e3 * MEASURED[i].median_s
        asked[OPS[i]] = guess(f"m{i}", "How long?", result=ms, unit="ms", low=ms / 9, high=ms * 9)
    picture = morph(MEASURED, machine=HERE, after=asked)
    own = [p["asked"] for p in points(picture) if "asked" in p]
    rooms = []
    for one in own:
        held = []
        for text, spot in zip(one["says"], one["label"], strict=True):
            if spot:
                half = {"start": 1, "end": -1}[spot[2]] * width(text) / 2
                held.append(spans(text, [spot[0] + half, spot[1], 0])[0][1:])
        rooms.append(held)
    assert all(rooms)
    for a, b in product(*rooms):
        assert a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1]


def test_no_name_lies_where_a_guess_may_come_to_hang() -> None:
    crowd = [measurement(op, "here", op.flops / r) for op, r in zip(OPS, RATES, strict=True)]
    asked = {}
    for i in (4, 9):
        ms = 1e3 * crowd[i].median_s
        asked[OPS[i]] = guess(f"q{i}", "How long?", result=ms, unit="ms", low=ms / 50, high=60 * ms)
    picture = morph(crowd, machine=HERE, after=asked)
    names = {dot.label for dot in picture.dots}
    for k in range(3):
        found = [box for box in boxes(picture.scene, k) if box[0] in names]
        for p in (p for p in points(picture) if "asked" in p):
            x = p["at"][k][0]
            for y in (row[k] for row in p["asked"]["y"]):
                under = [
                    name for name, left, top, right, bottom in found
                    if left < x + 8 and x - 8 < right and top < y + 8 and y - 8 < bottom
                ]  # fmt: skip
                assert under == [], (k, p["name"])

"""The words in the morph keep out of each other's way at every named stop."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rooflab as rl
from rooflab.show.morph import Morph, morph
from rooflab.show.morph_axes import PLOT
from rooflab.show.morph_room import Room, width
from tests.show.conftest import measurement
from tests.show.morph_example import HERE, MEASURED, bound


@pytest.fixture(scope="module")
def picture() -> Morph:
    return morph(MEASURED, machine=HERE, guesses={"gemm 1024×1024×1024 fp32": 0.2})


def boxes(geometry: dict, k: int) -> list[tuple[str, float, float, float, float]]:
    """Every label of layout k with the room its text takes."""
    found = [(p["name"], p["label"][k]) for p in geometry["points"]]
    found += [
        (p["guess"]["says"], p["guess"]["label"][k]) for p in geometry["points"] if "guess" in p
    ]
    found += [(one["text"], one["at"]) for one in geometry["notes"][k]["marks"]]
    if k == 2:
        found += [tuple(label) for line in geometry["roofs"] for label in line["labels"]]
        found += [(line["says"], line["label"]) for line in geometry["calls"]]
    elif k == 0 and "floor" in geometry["notes"][0]:
        found.append(tuple(geometry["notes"][0]["floor"]))
    return [
        (text, at[0] - width(text) / 2, at[1] - 12, at[0] + width(text) / 2, at[1] + 4)
        for text, at in found if at
    ]  # fmt: skip


def assert_apart(geometry: dict) -> None:
    for k in range(3):
        for a, b in combinations(boxes(geometry, k), 2):
            clear = a[3] <= b[1] or b[3] <= a[1] or a[4] <= b[2] or b[4] <= a[2]
            assert clear, (k, a, b)
        for text, left, top, right, bottom in boxes(geometry, k):
            assert left >= 0 and right <= 720 and top >= 15 and bottom <= PLOT[3], text


def test_labels_keep_apart_at_every_stop(picture: Morph) -> None:
    assert_apart(picture.geometry)


def test_in_decades_every_point_has_its_name(picture: Morph) -> None:
    named = {p["name"] for p in picture.geometry["points"] if p["label"][2]}
    named |= {one["text"] for one in picture.geometry["notes"][2]["marks"]}
    assert named == {p["name"] for p in picture.geometry["points"]}


SIZES = st.integers(1, 4096)
SOME = st.one_of(
    st.builds(rl.axpy, st.integers(1, 10**8)), st.builds(rl.gemv, SIZES, SIZES),
    st.builds(rl.gemm, SIZES, SIZES, SIZES),
)  # fmt: skip


@settings(max_examples=12, deadline=None)
@given(st.lists(st.tuples(SOME, st.floats(1, 100)), min_size=1, max_size=12))
def test_whatever_was_measured_labels_keep_apart_and_points_stay_inside(slowed: list) -> None:
    seen = [measurement(op, "here", bound(op) * factor) for op, factor in slowed]
    geometry = morph(seen, machine=HERE).geometry
    assert_apart(geometry)
    left, top, right, bottom = PLOT
    for p in geometry["points"]:
        for x, y in p["at"]:
            assert left - 0.1 <= x <= right + 0.1 and top - 0.1 <= y <= bottom + 0.1


def test_without_roofs_labels_keep_apart_too() -> None:
    assert_apart(morph(MEASURED, machine="h100-sxm").geometry)


def test_a_label_stands_beside_its_own_marker_or_nowhere() -> None:
    room = Room((0, 0, 400, 200))
    for x in (100, 118, 136):
        room.add_marker(x, 100)
    names = [("first", (100, 100)), ("second", (118, 100)), ("third", (136, 100))]
    for (_, own), at in zip(names, room.put_all(names), strict=True):
        if at is not None:
            nearest = min((100, 118, 136), key=lambda x: abs(x - at[0]))
            assert nearest == own[0]


def test_text_is_as_wide_as_its_letters() -> None:
    assert width("") == 0 < width("i") < width("m") < width("mm")
    assert 100 < width("AXPY 16.8 million") < 160

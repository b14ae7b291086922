"""The box: geometry that is the same for picture and browser, and counts that are the ledger's."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rooflab as rl
from rooflab.show import box, theme

EDGE = st.integers(0, 14).map(lambda e: 2**e)


@given(EDGE, EDGE, EDGE, st.sampled_from(box.SCALES))
def test_it_fits_the_picture(m: int, n: int, k: int, scale: str) -> None:
    faces = box.corners(box.edge_lengths((m, n, k), scale))
    points = np.array([corner for face in faces.values() for corner in face])
    left, top, right, bottom = box.AREA
    assert left <= points[:, 0].min() and points[:, 0].max() <= right
    assert top <= points[:, 1].min() and points[:, 1].max() <= bottom


@given(EDGE, EDGE, EDGE, st.sampled_from(box.SCALES))
def test_the_names_of_the_edges_fit_and_step_on_nothing(m: int, n: int, k: int, scale: str) -> None:
    from rooflab.show.canvas import figure as blank

    fig = blank(box.WIDTH, box.HEIGHT)
    box.draw(fig, 0, "GEMM: a cube", (m, n, k), scale, box.SCALE_WORDS[scale])
    fig.draw_without_rendering()
    boxes = [t.get_window_extent() for t in fig.axes[0].texts if len(t.get_text()) > 1]
    assert all(b.x0 >= 0 and b.x1 <= box.WIDTH and b.y0 >= 0 for b in boxes)
    assert not any(a.overlaps(b) for a, b in itertools.combinations(boxes, 2))


@given(EDGE, EDGE)
def test_a_doubling_adds_the_same_length(small: int, large: int) -> None:
    def length(edge: int) -> float:
        return box.edge_lengths((edge, 1, 1), "log")[0]

    assert length(2 * small) - length(small) == pytest.approx(length(2 * large) - length(large))


def test_true_proportions_are_true_until_a_line_would_vanish() -> None:
    assert box.edge_lengths((64, 128, 64), "true") == (75, 150, 75)
    assert min(box.edge_lengths((1, 16384, 1), "true")) > 1


def test_faces_share_edges() -> None:
    faces = box.corners((50, 60, 70))
    shared = [set(faces[a]) & set(faces[b]) for a, b in (("A", "B"), ("A", "C"), ("B", "C"))]
    assert [len(points) for points in shared] == [2, 2, 2]


def test_the_longest_stick_of_the_roofline_fits() -> None:
    lengths = box.edge_lengths((1, 16384**2, 1), "log")
    assert max(x for face in box.corners(lengths).values() for x, _ in face) <= box.WIDTH


def test_painted_faces_are_the_operands() -> None:
    view = rl.live.box(m=64, n=128, k=32, machine="h100-sxm").box
    table = view.data["solids"][0]["tables"]
    at = (view.i * 15 + view.j) * 15 + view.k

    def text(name: str) -> str:
        return view.data["texts"][np.frombuffer(table[name], "<u2")[at]]

    assert [text(face) for face in "ABC"] == [theme.count(v) for v in (64 * 32, 32 * 128, 64 * 128)]
    assert text("volume") == theme.count(64 * 128 * 32)


def test_axpys_alpha_is_not_moved() -> None:
    view = rl.live.roofline(machine="h100-sxm", box=True, ops="axpy").box
    table = view.data["solids"][0]["tables"]
    index = np.frombuffer(table["A"], "<u2")
    assert {view.data["texts"][i] for i in index} == {"not moved"}
    assert "is a stick of 1×" in view.sentence

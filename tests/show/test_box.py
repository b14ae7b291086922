"""The box: geometry that keeps its proportions, and counts that are the ledger's."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rooflab as rl
from rooflab.show import box, labels, theme
from rooflab.show.scene import Scene, drawn
from tests.support.scenes import named, some_states

EDGE = st.integers(0, 14).map(lambda e: 2**e)
LONGEST = 2**14
VIEW = rl.live.box(m=64, n=128, k=32, machine="h100-sxm").box
SCENE = VIEW.scene
BOTH = rl.live.roofline(machine="h100-sxm", box=True).box


def corners(scene: Scene, face: str, **state: object) -> np.ndarray:
    (mark,) = named(scene, f"face-{face}")
    return scene.value(mark, "points", **state).reshape(-1, 2)


@given(EDGE, EDGE)
def test_a_doubling_adds_the_same_length(small: int, large: int) -> None:
    def length(edge: int) -> float:
        return box.edge_lengths((edge, 1, 1), "log", LONGEST)[0]

    assert length(2 * small) - length(small) == pytest.approx(length(2 * large) - length(large))


def test_true_proportions_are_true_until_a_line_would_vanish() -> None:
    m, n, k = box.edge_lengths((64, 128, 64), "true", LONGEST)
    assert m == k == n / 2
    assert min(box.edge_lengths((1, 16384, 1), "true", LONGEST)) > 1


def test_each_solid_has_its_own_doubling_so_that_axpys_stick_fits() -> None:
    longest = BOTH.scene.dim("i").size - 1  # AXPY of 16384² numbers
    x = corners(BOTH.scene, "C", op="axpy", i=longest)[:, 0]
    assert x.max() < box.WIDTH and np.ptp(x) == pytest.approx(
        np.ptp(corners(BOTH.scene, "C", op="gemm", i=longest)[:, 0])
    )


@pytest.mark.parametrize("scene", [SCENE, BOTH.scene], ids=["product", "families"])
def test_it_fits_its_sheet(scene: Scene) -> None:
    for state in some_states(scene, 3):
        for mark, held in drawn(scene, **state):
            if mark.kind == "line":
                x, y = held["points"][::2], held["points"][1::2]
                assert x.min() >= 0 and x.max() <= box.WIDTH, (mark.name, state)
                assert y.min() >= 0 and y.max() <= box.HEIGHT, (mark.name, state)


def test_faces_share_edges() -> None:
    faces = {face: {tuple(p) for p in corners(SCENE, face).round(6)} for face in "ABC"}
    for one, other in (("A", "B"), ("A", "C"), ("B", "C")):
        assert len(faces[one] & faces[other]) == 2


def test_an_edge_that_grows_leaves_the_others_alone() -> None:
    before, after = (corners(SCENE, "C", i=4, j=7, k=k) for k in (2, 9))
    np.testing.assert_allclose(before, after)  # C is M×N
    wide, wider = (corners(SCENE, "C", i=4, j=j, k=2) for j in (7, 8))
    assert np.ptp(wide[:, 1]) == pytest.approx(np.ptp(wider[:, 1]))
    assert np.ptp(wider[:, 0]) > np.ptp(wide[:, 0])


def counted(scene: Scene, kind: str, **state: object) -> list[str]:
    return [scene.value(mark, "text", **state) for mark in named(scene, f"count-{kind}")]


def test_painted_faces_are_the_operands() -> None:
    state = VIEW.state
    said = [counted(SCENE, face, **state)[0] for face in "ABC"]
    assert said == [theme.count(v) for v in (64 * 32, 32 * 128, 64 * 128)]
    assert counted(SCENE, "inside", **state) == [theme.count(64 * 128 * 32)]
    op = rl.gemm(64, 128, 32)
    assert counted(SCENE, "total", **state)[-1] == f"{theme.intensity(op.intensity)} FLOP/byte"


def test_axpys_alpha_is_not_moved() -> None:
    scene = BOTH.scene
    stops = range(0, scene.dim("i").size, 9)
    assert {counted(scene, "A", op="axpy", i=i)[0] for i in stops} == {"not moved"}
    assert "is a stick of 1×" in scene.sentence(op="axpy")


def test_pointing_lights_what_a_part_of_c_needs() -> None:
    """Row 3 of 8 lies as high on A as on C, and the column as far right on B as on C."""
    state = {"i": 10, "j": 8, "k": 12, "row": 3, "column": 2}

    def lit(name: str) -> np.ndarray:
        (mark,) = named(SCENE, name)
        return SCENE.value(mark, "points", **state).reshape(-1, 2)

    cell, row, column = (lit(f"needs-{face}") for face in "CAB")
    front = corners(SCENE, "C", **state)
    assert np.ptp(cell[:, 0]) == pytest.approx(np.ptp(front[:, 0]) / 8)
    assert np.ptp(cell[:, 1]) == pytest.approx(np.ptp(front[:, 1]) / 8)
    np.testing.assert_allclose(sorted(row[:2, 1]), sorted({*cell[:, 1]}))
    np.testing.assert_allclose(sorted(column[:2, 0]), sorted({*cell[:, 0]}))
    rod = lit("rod")
    assert {tuple(p) for p in cell.round(6)} & {tuple(p) for p in rod.round(6)}


@pytest.mark.parametrize(("m", "rows"), [(0, 1), (1, 2), (2, 4), (3, 8), (9, 8)])
def test_no_more_rows_can_be_pointed_at_than_there_are(m: int, rows: int) -> None:
    (mark,) = named(SCENE, "needs-A")
    shown = [
        not np.isnan(SCENE.value(mark, "points", i=m, row=row, column=1)).any()
        for row in range(box.CELLS + 1)
    ]
    assert shown == [0 < row <= rows for row in range(box.CELLS + 1)]


def test_a_batch_that_thickens_nothing_says_why() -> None:
    (stays,) = named(BOTH.scene, "stays")
    assert BOTH.scene.value(stays, "text", op="gemm", j=3).startswith("GEMM stays:")
    assert BOTH.scene.value(stays, "text", op="gemm", j=0) == ""
    assert "1024×8×1024" in BOTH.scene.sentence(op="gemv", i=BOTH.i, j=3)


@pytest.mark.parametrize("scene", [SCENE, BOTH.scene], ids=["product", "families"])
def test_handles_keep_apart_and_words_stay_on_the_sheet(scene: Scene) -> None:
    ends = [(0, scene.dim(one).size - 1) for one in "ijk"]
    for *place, scale in itertools.product(*ends, box.SCALES):
        found = list(drawn(scene, **dict(zip("ijk", place, strict=True)), scale=scale))
        knobs = [np.array(held["at"][:2]) for mark, held in found if mark.name == "knob"]
        for one, other in itertools.combinations(knobs, 2):
            assert np.hypot(*(one - other)) > 2 * (9 + 1.5), "radius and half a line"
        edges = [held for mark, held in found if str(mark.name).startswith("edge-")]
        assert len(edges) == 3
        for held, part in zip(edges, (0.5, 1, 0), strict=True):  # of its width, left of its place
            wide = labels.width(held["text"]) * box.LETTERS / labels.SIZE
            left = held["at"][0] - part * wide
            assert left >= 0 and left + wide <= box.WIDTH, held["text"]


def test_letters_are_large_enough_on_a_phone() -> None:
    """A page 390 pixels wide leaves a picture 374."""
    sizes = [mark.look["size"] for mark in SCENE.marks if mark.kind == "text"]
    assert min(sizes) * 374 / box.WIDTH >= 12


def test_a_sentence_has_a_subject() -> None:
    assert SCENE.sentence().startswith("This product is a ")
    assert BOTH.scene.sentence(op="axpy").startswith("AXPY is a ")
    layer = rl.live.layer(machines=["h100-sxm"], dtype="bf16").box
    assert layer.sentence.startswith("This layer is a ")


def test_its_state_is_small() -> None:
    for view in (VIEW, BOTH):
        (packed,) = view.packed
        assert len(json.dumps({**packed, "buffer": ""})) + len(packed["buffer"]) * 4 / 3 < 300e3

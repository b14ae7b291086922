"""The box: geometry that keeps its proportions, and counts that are the ledger's."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rooflab as rl
from rooflab.show import box, theme
from rooflab.show.scene import Scene
from tests.show.test_waiting import axis
from tests.support.pictures import beside, product
from tests.support.scenes import named

EDGE = st.integers(0, 14).map(lambda e: 2**e)
LONGEST = 2**14


@given(EDGE, EDGE)
def test_a_doubling_adds_the_same_length(small: int, large: int) -> None:
    def length(edge: int) -> float:
        return box.edge_lengths((edge, 1, 1), "log", LONGEST)[0]

    assert length(2 * small) - length(small) == pytest.approx(length(2 * large) - length(large))


def test_true_proportions_are_true_until_a_line_would_vanish() -> None:
    m, n, k = box.edge_lengths((64, 128, 64), "true", LONGEST)
    assert m == k == n / 2
    assert min(box.edge_lengths((1, 16384, 1), "true", LONGEST)) > 0.005


def counted(scene: Scene, kind: str, **state: object) -> list[str]:
    return [scene.value(mark, "text", **state) for mark in named(scene, f"count-{kind}")]


def test_painted_faces_are_the_operands() -> None:
    state = product().state | {"i": 6, "j": 7, "k": 5}
    said = [counted(product().scene, face, **state)[0] for face in "ABC"]
    assert said == [theme.count(v) for v in (64 * 32, 32 * 128, 64 * 128)]
    assert counted(product().scene, "inside", **state) == [theme.count(64 * 128 * 32)]
    op = rl.gemm(64, 128, 32)
    per_element = op.flops / 2 / (64 * 32 + 32 * 128 + 64 * 128)
    found = [theme.intensity(one) for one in (per_element, op.intensity)]
    assert counted(product().scene, "total", **state)[-2:] == found


def test_axpys_alpha_is_not_moved() -> None:
    scene = beside().scene
    stops = range(0, scene.dim("i").size, 9)
    assert {counted(scene, "A", op="axpy", i=i)[0] for i in stops} == {"not moved"}
    assert "is a stick" in scene.sentence(op="axpy")


def test_no_more_rows_can_be_pointed_at_than_there_are() -> None:
    for m, rows in [(0, 1), (1, 2), (2, 4), (3, 8), (9, 8)]:
        (mark,) = named(product().scene, "needs-A")
        shown = [
            not np.isnan(product().scene.value(mark, "points", i=m, row=row, column=1)).any()
            for row in range(box.CELLS + 1)
        ]
        assert shown == [0 < row <= rows for row in range(box.CELLS + 1)]


def test_a_sentence_has_a_subject() -> None:
    assert product().scene.sentence().startswith("This product is a ")
    assert beside().scene.sentence(op="axpy").startswith("AXPY is a ")
    layer = rl.live.layer(machines="h100-sxm", dtypes=("fp32",), after=axis())
    assert layer.covered and layer.scene.sentence().startswith("This layer is a ")

"""What a hand finds in the live roofline in every state: handles on the axes, names, ridges."""

from __future__ import annotations

import re

import numpy as np
import pytest

import rooflab as rl
from rooflab.show.rooflines.tables import FACTORS
from rooflab.show.rooflines.values import AS_IT_IS
from rooflab.show.scene import drawn
from tests.support.scenes import named, texts, values

MACHINES = ["epyc-2core-vm", "h100-sxm", "h200-sxm", "a100-sxm-80", "rtx-4090", "apple-m1"]


@pytest.fixture(scope="module")
def view():
    return rl.live.roofline(MACHINES, machine="epyc-2core-vm", cache="warm", n=64).view


@pytest.fixture(scope="module")
def ids(view) -> dict[str, str]:
    return dict(zip(MACHINES, view.scene.dim("machine").names))


@pytest.fixture(autouse=True)
def _as_it_was(view):
    start = view.state
    yield
    for name, value in start.items():
        setattr(view, name, value)


@pytest.mark.parametrize("sheet", [0, 1])
def test_both_handles_lie_on_the_axes_whatever_was_pulled(view, ids, sheet) -> None:
    scene = view.sheets[sheet]
    for name in ("knob memory", "knob arithmetic"):
        (knob,) = named(scene, name)
        for machine in ids.values():
            for same in (False, True):
                places = [
                    scene.value(knob, "at", machine=machine, same_axes=same, memory=m, arithmetic=a)
                    for m in range(len(FACTORS)) for a in (0, AS_IT_IS, len(FACTORS) - 1)
                ]  # fmt: skip
                left, top, right, bottom = knob.look["clip"]
                for x, y in places:
                    assert left < x < right and top < y < bottom - 10, (machine, same)
                heights = {round(float(y), 1) for _, y in places}
                assert len(heights) == len(FACTORS) if "memory" in name else len(heights) == 3


def test_the_ridge_drawn_is_the_one_that_the_sentence_names(view, ids) -> None:
    for machine in ("epyc-2core-vm", "h100-sxm"):
        for cache in ("cold", "warm"):
            for touched in view.scene.dim("touched").names:
                view.machine, view.cache, view.touched = ids[machine], cache, touched
                said = re.search(r"the ridge \(([^)]*)\)", view.sentence)
                (drawn,) = texts(view, "ridge")
                assert said and drawn.endswith(f"ridge {said[1]}"), (drawn, view.sentence)


def test_a_pulled_roof_is_said_in_the_picture_and_the_next_machine_is_as_it_is(view) -> None:
    assert not texts(view, "what-if")
    view.memory = len(FACTORS) - 1
    assert texts(view, "what-if") == ["what if: bandwidth ×4, peak ×1"]
    (press,) = view.scene.presses
    assert press["sets"] == {"memory": AS_IT_IS, "arithmetic": AS_IT_IS}
    (menu,) = [one for one in view.scene.controls if one.get("label") == "machine"]
    assert menu["also"] == press["sets"]


@pytest.mark.parametrize(("machine", "before", "same", "words"), [
    ("h100-sxm", "epyc-2core-vm", True, "AMD EPYC, 2 threads"),
    ("h100-sxm", "apple-m1", False, "Apple M1 (8-core GPU)"),
    ("epyc-2core-vm", "h100-sxm", False, "NVIDIA H100 SXM5 80 GB lies above"),
    ("h100-sxm", "h200-sxm", False, None),
])  # fmt: skip
def test_the_machine_before_has_its_name(view, ids, machine, before, same, words) -> None:
    view.machine, view.same_axes = ids[machine], same
    found = [
        held["text"] for mark, held in drawn(view.scene, **view.state | {"before": ids[before]})
        if mark.name == "before" and held.get("text")
    ]  # fmt: skip
    assert found == ([words] if words else [])


@pytest.mark.parametrize("sheet", [0, 1])
def test_the_names_of_gemm_and_gemv_part_where_their_dots_meet(view, sheet) -> None:
    scene = view.sheets[sheet]
    labels = {name: named(scene, f"label {name} cold")[0] for name in ("gemv", "gemm")}
    dots = {name: named(scene, f"bound {name}_cold")[0] for name in ("gemv", "gemm")}
    met = 0
    for i in values(scene.dim("i"))[::6]:
        for j in values(scene.dim("j")):
            spots = {name: np.asarray(scene.value(dot, "at", i=i, j=j))
                     for name, dot in dots.items()}  # fmt: skip
            if abs(spots["gemm"] - spots["gemv"])[0] > 30:
                continue
            met += 1
            assert scene.value(labels["gemm"], "anchor", i=i, j=j) == "end"
    assert met > 5

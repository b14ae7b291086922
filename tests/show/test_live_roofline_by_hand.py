"""What a hand finds in the live roofline in every state: handles on the axes, names, ridges."""

from __future__ import annotations

import re

import pytest

import rooflab as rl
from rooflab.show.rooflines.tables import FACTORS
from rooflab.show.rooflines.values import AS_IT_IS
from rooflab.show.scene import drawn
from tests.support.scenes import texts

MACHINES = ["epyc-2core-vm", "h100-sxm", "h200-sxm", "apple-m1"]


@pytest.fixture(scope="module")
def view():
    few = {"dtypes": ("fp32",), "n": 64}
    return rl.live.roofline(MACHINES, machine="epyc-2core-vm", cache="warm", **few)


@pytest.fixture(scope="module")
def ids(view) -> dict[str, str]:
    return dict(zip(MACHINES, view.scene.dim("machine").names))


@pytest.fixture(autouse=True)
def _as_it_was(view):
    start = view.state
    yield
    for name, value in start.items():
        setattr(view, name, value)


def test_the_ridge_drawn_is_the_one_that_the_sentence_names(view, ids) -> None:
    for machine in ("epyc-2core-vm", "h100-sxm"):
        for cache in ("cold", "warm"):
            for op in view.scene.dim("op").names:
                view.machine, view.cache, view.op = ids[machine], cache, op
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
    ("h100-sxm", "h200-sxm", False, None),
])  # fmt: skip
def test_the_machine_before_has_its_name(view, ids, machine, before, same, words) -> None:
    view.machine, view.same_axes = ids[machine], same
    found = [
        held["text"] for mark, held in drawn(view.scene, **view.state | {"before": ids[before]})
        if mark.name == "before" and held.get("text")
    ]  # fmt: skip
    assert found == ([words] if words else [])

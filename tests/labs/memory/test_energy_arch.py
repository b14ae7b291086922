"""The picture of the energy roofline: its arch, the roof of time beside it, its words."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rooflab as rl
from rooflab.labs.memory.energies.arch import examples, stops
from tests.support.scenes import named, texts

CHIP = rl.machines()["nvidia-a100-sxm-80"]


@pytest.fixture(scope="module")
def picture() -> Any:
    return rl.memory.energy_arch(machine=CHIP)


def share(scene: Any, y: float) -> float:
    """What a height stands for, by the ticks at 10 % and 100 %."""
    marks = {scene.value(m, "text"): m for m in scene.marks if m.kind == "text"}
    tenth, whole = (scene.value(marks[word], "at")[1] - 5 for word in ("10 %", "100 %"))
    return float(10 ** ((whole - y) / (tenth - whole)))


@pytest.mark.parametrize("sheet", [0, 1])
def test_the_rings_are_what_the_arch_computes(picture: Any, sheet: int) -> None:
    arch, scene = rl.memory.energy_roofline(machine=CHIP), picture.sheets[sheet]
    at = stops(arch, examples("fp32"))
    for i in range(0, len(at), 5):
        joule = arch.efficiency(at[i]) / arch.best
        second = min(1.0, at[i] * CHIP.bandwidth("dram") / CHIP.peak("fp32"))
        for ring, right in zip(named(scene, "now"), (joule, second), strict=True):
            height = scene.value(ring, "at", i=i)[1]
            assert share(scene, height) == pytest.approx(right, rel=1e-6)


def test_at_the_balance_half_of_the_best_is_reached(picture: Any) -> None:
    scene = picture.scene
    x, y = scene.value(named(scene, "equal at 70.7")[0], "at")[:2]
    assert share(scene, y) == pytest.approx(0.5)
    assert "equal at 70.7" in texts(picture, "named")
    before, after = (np.reshape(scene.value(line, "points"), (-1, 2))
                     for line in named(scene, "FLOP a joule"))  # fmt: skip
    assert before[-1] == pytest.approx((x, y)) == after[0]
    assert [scene.value(line, "ink") for line in named(scene, "FLOP a joule")] == [
        "carrying",
        "computing",
    ]


def test_words(picture: Any) -> None:
    assert picture.sentence == (
        "At 0.5 FLOP/byte a joule buys 3.06 GFLOP, 0.7 % of the most that it buys. Carrying takes "
        "99 % of the energy. In time, carrying takes longer than computing: 5.2 % of the peak can "
        "be reached."
    )
    last = picture.scene.sentence(i=len(stops(rl.memory.energy_roofline(machine=CHIP),
                                              examples("fp32"))) - 1)  # fmt: skip
    assert "In time, computing takes longer: 100 % of the peak can be reached." in last
    alone = rl.memory.energy_arch()
    assert "In time" not in alone.sentence
    assert "FLOP a second" not in [mark.name for mark in alone.scene.marks]


def test_bad_input() -> None:
    for given, said in [
        ({"start": 0}, "start=0"), ({"start": float("nan")}, "start=nan"),
        ({"start": "1"}, "start="), ({"dtype": "fp64"}, "dtype='fp64'"),
        ({"table": "x"}, "table='x'"), ({"machine": "zzz"}, "zzz"),
    ]:  # fmt: skip
        with pytest.raises((TypeError, ValueError), match=said):
            rl.memory.energy_arch(**given)

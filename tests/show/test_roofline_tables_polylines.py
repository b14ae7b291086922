"""Interpolating a roof's polyline gives what the roofline formula gives."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import rooflab as rl
from rooflab.show.canvas import Frame
from rooflab.show.ceiling_lines import ceilings, lines, missing

FRAME = Frame(8, 17)


def on_line(corners: list[float], x: float) -> float:
    """What the browser does: linear interpolation between three corners."""
    x0, y0, x1, y1, x2, y2 = corners
    if x < x1:
        return y0 + (x - x0) / (x1 - x0) * (y1 - y0)
    return y1 + (x - x1) / (x2 - x1) * (y2 - y1)


@given(
    st.floats(0.04, 2e4),
    st.sampled_from(["h100-sxm", "mi300x", "raspberry-pi-5", "tpu-v5e", "rtx-4090"]),
    st.sampled_from(["fp64", "fp32", "bf16", "fp8"]),
)
def test_the_polyline_is_the_roofline(intensity: float, name: str, kind: str) -> None:
    machine = rl.machine(name)
    if missing(machine, kind, "cold"):
        return
    (line,) = lines(machine, rl.dtype(kind), "cold", FRAME)
    wanted = FRAME.y(rl.Roofline(machine, kind).attainable(intensity))
    assert on_line(line["corners"], FRAME.x(intensity)) == pytest.approx(wanted, abs=0.01)


def test_warm_has_one_roof_a_level_and_one_peak(here: rl.Machine) -> None:
    found = lines(here, rl.dtype("fp32"), "warm", FRAME)
    assert [line["level"] for line in found] == ["l1", "l2", "l3", "dram"]
    assert len({line["corners"][3] for line in found}) == 1
    assert found[0]["corners"][1] < found[3]["corners"][1], "a nearer level is higher up"


@pytest.mark.parametrize(
    ("name", "kind", "cache", "reason"),
    [
        ("apple-m1", "fp64", "cold", "no fp64 figure"),
        ("h100-sxm", "fp32", "warm", "no cache bandwidth"),
        ("h100-sxm", "fp32", "cold", ""),
    ],
)
def test_a_missing_figure_is_named(name: str, kind: str, cache: str, reason: str) -> None:
    machine = rl.machine(name)
    assert missing(machine, kind, cache) == reason
    if reason:
        with pytest.raises(ValueError, match=f"{machine.name.split('(')[0]}.*{reason}"):
            ceilings(machine, kind, cache)


def test_labels_carry_units() -> None:
    (line,) = lines(rl.machine("h200-sxm"), rl.dtype("bf16"), "cold", FRAME)
    assert (line["slope"], line["flat"], line["ridge"]) == (
        "memory 4.80 TB/s", "bf16 989 TFLOP/s", "206",
    )  # fmt: skip

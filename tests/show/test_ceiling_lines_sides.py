"""Cold and warm side by side: each against its own roof, and the trap of more than 100 %."""

from __future__ import annotations

import dataclasses
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.colors import to_hex

import rooflab as rl
from rooflab.count.operation import LEVELS
from rooflab.predict.machine import Figure
from rooflab.show import captions, theme
from rooflab.show.rooflines import ceiling_lines
from tests.support.machine import measurement
from tests.support.scenes import seen
from tests.support.scenes import texts as written

OP = rl.axpy(8192)  # 64 KiB: in the L2 of the test machine, whose DRAM roof allows 20e9 / 6


def taken(op: rl.Operation, share: float, cache: str) -> object:
    """A measurement of ``op`` at ``share`` of the test machine's DRAM roof."""
    made = measurement(op, "here", op.bytes / 2e10 / share)
    return dataclasses.replace(made, cache=cache)


def texts(figure) -> list[str]:
    return [text.get_text() for text in figure.axes[0].texts]


def fills(figure) -> list[str]:
    """What the markers of one point each are filled with: ink (measured) or paper."""
    lines = [line for line in figure.axes[0].lines if len(line.get_xdata()) == 1]
    return [to_hex(line.get_markerfacecolor()).upper() for line in lines]


def sides_said(figure) -> list[str]:
    """The sides that stand beside markers."""
    return [side for text in texts(figure) for side in ("cold", "warm")
            if text.partition("\n")[0].endswith(side)]  # fmt: skip


@pytest.mark.parametrize("cache", ["cold", "warm", "both"])
def test_a_warm_rate_above_the_dram_roof_is_marked_with_its_cache(here, cache: str) -> None:
    pair = [taken(OP, 0.5, "cold"), taken(OP, 1.8, "warm")]
    figure = rl.show.roofline(here, pair, cache=cache)
    assert "warm\n×1.8 of memory: L2" in texts(figure)
    assert "more than 100 %: it is read from L2, not from memory" in figure.words
    assert fills(figure) == [theme.INK] * 2, "both were measured"
    assert sides_said(figure) == ["cold", "warm"]


def test_the_trap_is_not_sprung_by_cold_or_slow_measurements(here: rl.Machine) -> None:
    for share, cache in ((0.9, "warm"), (1.0, "warm"), (1.8, "cold")):
        figure = rl.show.roofline(here, [taken(OP, share, cache)])
        assert "100 %" not in figure.words and not any("DRAM" in text for text in texts(figure))
        assert fills(figure) == [theme.INK] and sides_said(figure) == [], "one side alone"


def test_what_fits_no_cache_is_said_to_come_from_one_in_part(here: rl.Machine) -> None:
    figure = rl.show.roofline(here, [taken(rl.axpy(2**24), 1.2, "warm")])
    assert "AXPY 16.8 million\n×1.2 of memory: partly a cache" in texts(figure)
    assert "some of it is read from a cache" in figure.words


def test_an_operation_has_two_bounds_where_both_are_shown(here: rl.Machine) -> None:
    figure = rl.show.roofline(here, OP, cache="both")
    assert sides_said(figure) == ["cold", "warm"] and fills(figure) == [theme.PAPER] * 2
    assert "3.33 GFLOP/s" in figure.words and "25.0 GFLOP/s" in figure.words


@given(st.floats(1e-3, 1e3), st.sampled_from(["cold", "warm"]))
def test_what_is_said_is_the_ratio(share: float, side: str) -> None:
    roof = rl.Roofline("h200-sxm", "fp32")
    op = rl.axpy(2**20)
    said = ceiling_lines.sides_words(side, op, share * roof.attainable(op.intensity), roof)
    ratio = float(re.search(r"×([\d,.]+)", said)[1].replace(",", ""))
    assert ratio == pytest.approx(max(share, 1 / share), rel=0.006)
    assert ("above" in said) == (share > 1) or share == pytest.approx(1)
    assert said.startswith(f" {side.capitalize()}: measured")


@given(st.floats(1e-3, 1e3))
def test_over_is_empty_up_to_the_roof(share: float) -> None:
    machine, op = rl.machine("h200-sxm"), rl.axpy(2**20)
    rate = share * rl.Roofline(machine, "fp32").attainable(op.intensity)
    found = ceiling_lines.over(op, rate, machine)
    assert bool(found) == (share > 1.005) or share == pytest.approx(1.005)


def test_every_level_and_template_has_its_words() -> None:
    for level in LEVELS:
        assert ceiling_lines.place(level) and ceiling_lines.source(level)
        assert ceiling_lines.roof_word(level).endswith(" roof")
    assert not set(ceiling_lines.SAY_SIDES) & set(captions.SAY)


def live(here: rl.Machine) -> object:
    pair = [taken(OP, 0.5, "cold"), taken(OP, 1.8, "warm")]
    own = rl.axpy(64 * 64)
    pair += [taken(own, 0.25, "cold"), taken(own, 2.5, "warm")]
    few = {"ops": "axpy", "dtypes": ("fp32",), "n": 64}
    return rl.live.roofline(here, measurements=pair, cache="both", **few)


def test_the_live_still_splits_the_dot(here: rl.Machine) -> None:
    picture = live(here)
    assert "Cold: measured 833 MFLOP/s, ×4 below the memory roof." in picture.sentence
    assert (
        "That is ×2.5 of the memory roof, more than 100 %: it is read from L1" in picture.sentence
    )
    found = seen(picture)
    for side in ("cold", "warm"):
        assert {f"bound axpy_{side}", f"measured axpy_{side}", f"thread axpy_{side}"} <= set(found)
    assert written(picture, "label axpy cold") == ["AXPY"]


def test_without_a_warm_figure_both_is_cold(here: rl.Machine) -> None:
    bare = dataclasses.replace(here, bandwidths={"dram": {"read": Figure(2e10)}})
    picture = live(bare)
    assert "left of the ridge" in picture.sentence and "Cold:" not in picture.sentence
    assert not [name for name in seen(picture) if name.endswith("_warm")]
    assert not [one for one in picture.scene.controls if one.get("dim") == "cache"]
    with pytest.raises(ValueError, match="no cache bandwidth, so there is no warm roof"):
        rl.show.roofline(bare, OP, cache="both")

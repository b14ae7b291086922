"""One layer under two roofs, side by side: same axes, same walk, another ridge."""

from __future__ import annotations

import pytest

import rooflab as rl
from rooflab.labs.llm.layer_walk import TOKENS
from rooflab.measure.measurement import Measurement
from rooflab.show import theme

CORE = rl.Roofline(rl.recording("epyc-2core-vm").at(threads=1), "fp32")
H200, PI = rl.Roofline("h200-sxm", "bf16"), rl.Roofline("raspberry-pi-5", "fp32")


def timed(tokens, share, outputs=11008, inputs=4096):
    op = rl.gemv(outputs, inputs, batch=tokens, shared=("a",))
    return Measurement(op, "here", "cpu", "cold", 1, (op.flops / (share * CORE.peak),) * 3)


def dots(ax, marker):
    return [tuple(map(float, line.get_xydata()[0])) for line in ax.lines
            if line.get_marker() == marker and len(line.get_xydata()) == 1]  # fmt: skip


def test_points_are_those_of_the_roofline():
    for roof, ax in zip((CORE, H200), rl.show.walk(4096, 11008, [CORE, H200]).axes, strict=True):
        for tokens, (x, y) in zip(TOKENS, dots(ax, "D"), strict=True):
            op = rl.gemm(tokens, 11008, 4096, roof.dtype)
            assert x == pytest.approx(op.intensity)
            assert y == pytest.approx(op.flops / roof.time(op) / roof.peak)


def test_the_words_say_the_ridges_and_where_the_walk_turns():
    words = rl.show.walk(4096, 11008, [CORE, H200], [timed(1, 0.12), timed(64, 0.64)]).words
    assert "ridge at 3.38 FLOP/byte" in words and "ridge at 206 FLOP/byte" in words
    assert "tokens 1, 4 are limited by memory" in words
    assert "tokens 1, 4, 16, 64 are limited by memory" in words
    assert "The ridges are 61 times apart." in words
    assert words.endswith("1: 12%, 64: 64%.") and "(datasheet)" in words


def test_measured_points_stand_under_the_first_roof_only():
    marks = [timed(1, 0.1), timed(2, 0.05), timed(64, 0.6)]
    left, right = rl.show.walk(4096, 11008, [CORE, H200], marks).axes
    filled, none = (
        [line for line in ax.lines
         if line.get_marker() == "D" and line.get_markerfacecolor() == theme.INK]
        for ax in (left, right)
    )  # fmt: skip
    assert list(filled[0].get_ydata()) == pytest.approx([0.1, 0.05, 0.6])
    assert not none
    said = [["measured" in text.get_text() for text in ax.texts] for ax in (left, right)]
    assert [sum(one) for one in said] == [2, 0], "in the heading, and beside a point"


def test_bad_input_is_named():
    for arguments, error, said in [
        ((0, 11008, [CORE, H200]), ValueError, "inputs"),
        ((4096, "many", [CORE, H200]), TypeError, "outputs"),
        ((4096, 11008, CORE), ValueError, "1 given; two"),
        ((4096, 11008, [CORE] * 3), ValueError, "3 given; two"),
        ((4096, 11008, [CORE, "h200-sxm"]), TypeError, "rl.Roofline"),
        ((4096, 11008, [CORE, H200], [timed(1, 0.1, 300, 300)]), ValueError, "no layer 4096"),
    ]:
        with pytest.raises(error, match=said):
            rl.show.walk(*arguments)

"""A model's step on a roofline: what has no FLOP is named beside the axis."""

from __future__ import annotations

from matplotlib.text import Text

import rooflab as rl

STEP = rl.model("llama-3-8b").decode(64, 2048)


def test_a_step_stands_as_one_run_of_each_of_its_operations():
    for points in (STEP, STEP.operations):
        panel = rl.show.roofline("h100-sxm", points)
        *_, last = panel.words.splitlines()
        assert last.startswith("embed: 0 FLOP over ") and "no place on this axis" in last
        drawn = [text.get_text() for text in panel.figure.findobj(Text)]
        assert "0 FLOP: embed" in drawn
    alone = rl.show.roofline("h100-sxm", STEP).words
    assert "Q 64×4096×4096 in bf16" in alone and "batch" not in alone  # its 32 layers are no batch


def test_an_operation_without_flops_alone_leaves_the_roofs():
    alone = rl.show.roofline("h100-sxm", STEP.operations[0])
    assert "ridge at 20.0" in alone.words and "0 FLOP over" in alone.words

"""The picture of a layer over its tokens, and the box of a layer."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from ipywidgets import Widget
from ipywidgets.embed import embed_data

import rooflab as rl
from rooflab.labs.llm.layer_time import MOST, TOKENS, WIDTHS, _bound, knee
from rooflab.measure.measurement import Measurement
from rooflab.show import theme
from tests.support.rows import each_row
from tests.support.scenes import texts

H200, MI300X = rl.Roofline("h200-sxm", "bf16"), rl.Roofline("mi300x", "fp16")


def timed(tokens, seconds, outputs=11008, inputs=4096):
    op = rl.gemv(outputs, inputs, batch=tokens, shared=("a",))
    return Measurement(op, "here", "cpu", "cold", 1, (seconds,) * 3)


@each_row(
    ((4096, 11008), H200, 221.4), ((768, 3072), MI300X, 412.0), ((4096, 14336), MI300X, 267.3)
)
def test_knees_are_the_published_ones(layer, roof, published):
    assert knee(*layer, roof) == pytest.approx(published, rel=1e-3)
    assert knee(*layer, roof) == pytest.approx(knee(*layer[::-1], roof))


def test_a_thin_layer_has_no_knee():
    assert math.isinf(knee(4096, 16, H200))
    assert "never end up limited by computing" in rl.show.tokens(4096, 16, H200).words


@each_row(1, 7, 64, 221, 222, 1000)
def test_the_curve_is_what_the_roofline_says_of_the_product(tokens):
    times = H200.time(rl.gemm(tokens, 11008, 4096, "bf16")) / H200.time(
        rl.gemm(1, 11008, 4096, "bf16")
    )
    assert _bound(4096, 11008, H200, tokens, False) == pytest.approx(times)
    assert _bound(4096, 11008, H200, tokens, True) == pytest.approx(times / tokens)


def test_the_words_name_roofs_knees_and_measurements():
    one = H200.time(rl.gemm(1, 11008, 4096, "bf16"))
    measured = [timed(1, 2 * one), timed(8, 4 * one), timed(64, 22 * one)]
    words = rl.show.tokens(4096, 11008, [H200, MI300X], measured).words
    assert "(datasheet): time bends at 221 tokens." in words and "269 tokens" in words
    assert words.endswith("bound for one token (NVIDIA H200 SXM 141 GB): 1: 2, 8: 4, 64: 22.")
    gemm = rl.gemm(8, 11008, 4096)
    same = Measurement(gemm, "here", "cpu", "cold", 1, (4 * one,) * 3)
    again = rl.show.tokens(4096, 11008, [H200, MI300X], [measured[0], same, measured[2]])
    assert again.words == words


@each_row(False, True)
@each_row(1, 64, 1000)
def test_what_runs_as_fast_as_the_roof_allows_lies_on_its_line(tokens, each):
    """In units of a measured token, a slow first one would put the others below the bound."""
    exact = timed(tokens, H200.time(rl.gemm(tokens, 11008, 4096, "bf16")))
    slow = timed(1 if tokens > 1 else 2, 1.0)
    (ax,) = rl.show.tokens(4096, 11008, H200, [slow, exact], each=each).axes
    points = dict(zip(*ax.lines[-1].get_data(), strict=True))
    assert points[tokens] == pytest.approx(_bound(4096, 11008, H200, tokens, each))


CORE = rl.Roofline(rl.recording("epyc-2core-vm").at(threads=1), "fp32")
MARKS = [timed(1, 0.01), timed(16, 0.02), timed(128, 0.1)]


@each_row(7.6, 3.3)
@each_row(False, True)
def test_every_curve_is_named_at_its_right_end_in_its_own_colour(each, width):
    figure = rl.show.tokens(4096, 11008, [CORE, H200], MARKS, each=each, width=width)
    (ax,), drawn = figure.axes, figure.canvas.get_renderer()
    names = [one for one in ax.texts if "(" in one.get_text()]
    assert [one.get_text().split()[0] for one in names] == (
        ["NVIDIA", "AMD"] if _bound(4096, 11008, CORE, MOST, each) > 0.05 else ["AMD", "NVIDIA"]
    )
    assert {one.get_color() for one in names} == {theme.COMPUTING}
    ends = sorted(float(line.get_ydata()[-1]) for line in ax.lines if line.get_xdata()[-1] == MOST)
    for name, y in zip(names, ends, strict=True):
        box, (x, y) = name.get_window_extent(drawn), ax.transData.transform((MOST, y))
        assert x < box.x0 < x + 20 and box.y0 - 1 <= y <= box.y1 + 1
    thin = rl.show.tokens(4096, 16, H200).axes[0]
    assert [one.get_color() for one in thin.texts if "(" in one.get_text()] == [theme.CARRYING]


@each_row(7.6, 3.3)
@each_row(False, True)
def test_no_line_passes_through_the_words_at_a_knee(each, width):
    figure = rl.show.tokens(4096, 11008, [CORE, H200], MARKS, each=each, width=width)
    (ax,) = figure.axes
    said = [one.get_window_extent() for one in ax.texts if one.get_text().startswith("knee at")]
    bounds = [line for line in ax.lines if line.get_linestyle() != "None"]
    assert (len(said), len(bounds)) == (2, 4), "each bound is two lines, carrying and computing"
    for line in bounds:
        line = ax.transData.transform(np.column_stack(line.get_data()))
        steps = np.linspace(0, len(line) - 1, 4000)
        x, y = (np.interp(steps, range(len(line)), line[:, axis]) for axis in (0, 1))
        for box in said:
            assert not ((x > box.x0) & (x < box.x1) & (y > box.y0) & (y < box.y1)).any()


def test_a_product_is_a_diamond_when_measured_and_a_knee_is_a_stroke():
    (ax,) = rl.show.tokens(4096, 11008, [CORE, H200], MARKS).axes
    assert [line.get_marker() for line in ax.lines if line.get_marker() != "None"] == [
        "|", "|", theme.style("gemm").marker,
    ]  # fmt: skip
    left, _ = rl.show.walk(4096, 11008, [CORE, H200], MARKS).axes
    marked = [line for line in left.lines if line.get_marker() != "None"]
    assert {line.get_marker() for line in marked} == {theme.style("gemm").marker}
    (filled,) = (line for line in marked if line.get_markerfacecolor() == theme.INK)
    assert len(filled.get_xdata()) == len(MARKS)


@each_row(
    ((0, 11008, H200), ValueError, "inputs"),
    ((4096, "many", H200), TypeError, "outputs"),
    ((4096, 11008, "h200-sxm"), TypeError, "roofs"),
    ((4096, 11008, [rl.machine("h200-sxm")]), TypeError, "rl.Roofline"),
    ((4096, 11008, []), ValueError, "0 given"),
    ((4096, 11008, [H200] * 5), ValueError, "5 given"),
    ((4096, 11008, H200, [3]), TypeError, "rl.measure"),
    ((4096, 11008, H200, [timed(1, 0.1, 300, 300)]), ValueError, "no layer 4096 → 11008"),
)
def test_bad_input_is_named(arguments, error, said):
    with pytest.raises(error, match=said):
        rl.show.tokens(*arguments)


def test_the_box_of_a_layer_has_tokens_as_its_thickness():
    live = rl.live.layer(machines=["h200-sxm"], dtype="bf16")
    assert edges(live) == {"tokens": 64, "outputs": 11008, "inputs": 4096}
    assert "This layer is a slab" in live.sentence and "62.66 FLOP/byte" in live.sentence
    one = rl.live.layer(1, machines=["h200-sxm"], dtype="bf16")
    assert "This layer is a sheet" in one.sentence and "left of the ridge" in one.sentence


def test_the_box_of_a_layer_has_the_roof_that_the_lesson_computes_with():
    """Weights are read: the same ridge as rl.Roofline, in the page and in its still picture."""
    core = rl.recording("epyc-2core-vm").at(threads=1)
    live = rl.live.layer(machines=[core], dtypes=["fp32"])
    assert texts(live, "ridge") == ["ridge 3.38"]
    assert rl.Roofline(core, "fp32").ridge == pytest.approx(3.38, abs=0.005)
    assert "right of the ridge (3.38)" in live.sentence


def test_the_box_of_a_layer_starts_at_the_nearest_sizes_and_stays_small():
    Widget.close_all()
    live = rl.live.layer(70, 700, 3000, machines=["h200-sxm"])
    assert edges(live) == {"tokens": 64, "outputs": 3072, "inputs": 768}
    assert TOKENS[0] == 1 and TOKENS[-1] == 4096 and MOST in TOKENS
    assert {768, 3072, 4096, 11008, 14336} < set(WIDTHS)
    state = embed_data(views=[live])["manager_state"]["state"]
    assert max(len(json.dumps(one)) for one in state.values()) < 1_000_000


def edges(live):
    """What its sliders stand at, by their names."""
    found = zip("ijk", live.spec.sliders)
    return {
        slider.label.split(",")[0]: slider.values[getattr(live, letter)] for letter, slider in found
    }

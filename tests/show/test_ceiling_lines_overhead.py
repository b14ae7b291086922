"""The overhead line is FLOP ÷ call time, up to the roof; small sizes slide down along it."""

from __future__ import annotations

import math

import pytest

import rooflab as rl
from rooflab.show import theme
from rooflab.show.rooflines import ceiling_lines
from rooflab.show.rooflines.ceiling_lines import roof
from tests.support.machine import ROOFS
from tests.support.scenes import named, seen, texts

CALL = 2e-6
ROUTINES = {
    f"{name}/fp32": {"overhead_s": CALL, "cold_overhead_s": 4 * CALL, "points": []}
    for name in ("axpy", "gemv", "gemm", "dot")
}
TIMED = rl.Machine.from_roofs(ROOFS, id="here", name="A test machine", routines=ROUTINES)
BUILDS = {
    "axpy": lambda n: rl.axpy(n * n), "gemv": lambda n: rl.gemv(n, n),
    "gemm": lambda n: rl.gemm(n, n, n),
}  # fmt: skip


@pytest.mark.parametrize("name", BUILDS)
@pytest.mark.parametrize("cache", ["cold", "warm"])
def test_every_point_is_flop_over_call_time_until_the_roof(name: str, cache: str) -> None:
    build = BUILDS[name]
    line = ceiling_lines.call_line(build, TIMED, cache)
    call = CALL if cache == "warm" else 4 * CALL
    assert line.seconds == call and line.label == f"{name.upper()} call {rl.si(call, 's')}"
    assert line.points[0] == (build(1).intensity, build(1).flops / call)
    top = max(roof(TIMED, "fp32", level).attainable(1e9) for level in TIMED.levels)
    assert all(rate <= top * 1.001 for _, rate in line.points)
    last_x, last_rate = line.points[-1]
    if cache == "cold":  # one roof: the line ends on it
        assert last_rate == pytest.approx(roof(TIMED, "fp32").attainable(last_x), rel=0.05)


def test_gemm_climbs_three_decades_a_decade_and_axpy_straight_up() -> None:
    (x0, y0), (x1, y1) = ceiling_lines.call_line(BUILDS["gemm"], TIMED, "warm").points[5:7]
    assert math.log(y1 / y0) / math.log(x1 / x0) == pytest.approx(3, rel=0.01)
    upward = ceiling_lines.call_line(BUILDS["axpy"], TIMED, "warm").points[:-1]
    assert len({x for x, _ in upward}) == 1


def test_without_timed_calls_there_is_no_line(here: rl.Machine) -> None:
    assert ceiling_lines.call_line(BUILDS["gemm"], here, "cold") is None
    assert ceiling_lines.call_line(BUILDS["gemm"], rl.machine("h100-sxm"), "cold") is None
    live = rl.live.roofline([here, "h100-sxm"], ops="axpy", dtypes=("fp32",), overhead=True)
    assert "call" not in seen(live)
    picture = rl.show.roofline("h100-sxm", [rl.gemm(8, 8, 8)], overhead=True)
    assert not any("call" in text.get_text() for text in picture.axes[0].texts)


def test_a_batch_that_shares_its_matrix_has_lines_of_its_own() -> None:
    view = rl.live.roofline(TIMED, dtypes=("fp32",), overhead=True)
    lines = [mark for mark in named(view.scene, "call") if mark.kind == "line"]
    before, after = (
        [view.scene.value(one, "points", j=j).tolist() for one in lines] for j in (0, 3)
    )
    assert len(lines) == 3 and before[0] == after[0] and before[2] == after[2]
    assert before[1] != after[1]
    for view.op in ("axpy", "gemv", "gemm"):
        assert texts(view, "call") == [f"usual cold {view.op.upper()} call 8.00 µs"]


def test_what_is_mostly_call_says_so() -> None:
    live = rl.live.roofline(TIMED, overhead=True, cache="warm", n=16, ops="gemm", dtypes=("fp32",))
    assert "More than half of that time is the call itself, 2.00 µs." in live.sentence
    live.cache = "both"
    assert "the call itself, 8.00 µs with its operands in memory." in live.sentence
    live.i = len(live.spec.sliders[0].values) - 1
    assert "call itself" not in live.sentence


def test_the_static_figure_draws_one_line_a_routine() -> None:
    ops = [rl.gemm(16, 16, 16), rl.gemm(64, 64, 64), rl.axpy(256)]
    picture = rl.show.roofline(TIMED, ops, overhead=True)
    dashed = [line for line in picture.axes[0].lines if line.get_linestyle() == "--"]
    assert len(dashed) == 2
    assert {line.get_color() for line in dashed} == {theme.OVERHEAD}
    said = [text for text in picture.axes[0].texts if "call" in text.get_text()]
    assert [text.get_text() for text in said] == ["GEMM call 8.00 µs", "AXPY call 8.00 µs"]
    assert [text.get_color() for text in said] == [theme.OVERHEAD] * 2
    assert picture.axes[0].get_legend() is None

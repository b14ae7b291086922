"""Whole sentences of the pictures, word by word, on a machine whose figures are round."""

from __future__ import annotations

import numpy as np
import pytest

import rooflab as rl
from rooflab.show.falls import factor_text, of_prediction
from rooflab.show.rooflines import ceiling_lines
from tests.support.machine import measurement
from tests.support.morph_example import HERE
from tests.support.pictures import product
from tests.support.scenes import named

ORIGIN = "Roofs of A test machine, a recording of 2026-11-21."


def said(**options) -> list[str]:
    return rl.live.roofline(HERE, dtypes=["fp32"], **options).words.splitlines()


def test_a_single_problem_has_its_bound_and_its_estimate() -> None:
    assert said(ops="gemv", n=1024) == [
        "GEMV 1024×1024 in fp32: 2.10 MFLOP over 4.20 MB is 0.499 FLOP/byte, left of the ridge "
        "(6.00). Memory is the limit: by this roof 9.98 GFLOP/s, 8.3 % of the peak. Predicted "
        "9.79 GFLOP/s.",
        ORIGIN,
    ]


def test_a_batch_has_a_reason_and_no_estimate() -> None:
    assert said(ops="gemv", n=1024, batch=4)[0] == (
        "GEMV 1024×1024, batch 4, in fp32: 8.39 MFLOP over 4.23 MB is 1.984 FLOP/byte, left of the "
        "ridge (6.00). Memory is the limit: by this roof 39.7 GFLOP/s, 33 % of the peak. 4 vectors "
        "share one matrix, which is read once: this is the matrix product 1024×4×1024, and the "
        "point walks right."
    )
    assert said(ops="gemm", n=1024, batch=4)[0].endswith(
        "Arithmetic is the limit: by this roof 120 GFLOP/s, the peak. GEMM stays: each of the 4 "
        "products has matrices of its own, so it is 4 times the FLOPs on 4 times the bytes."
    )


def test_both_sides_are_said_each_with_its_own_roof() -> None:
    assert said(ops="gemv", n=1024, cache="both")[0].partition(". ")[2] == (
        "Cold: predicted 9.79 GFLOP/s, ×1.02 below the memory roof. Warm: predicted 29.9 GFLOP/s, "
        "×1 below the L3 roof. That is ×2.99 of the memory roof, more than 100 %: it is read from "
        "L3, not from memory."
    )


def test_the_cost_of_a_call_is_said_where_it_is_most_of_the_time_and_drawn() -> None:
    (axpy, gemv, _) = said(ops=("axpy", "gemv"), n=16, overhead=True)
    assert axpy.endswith(
        "Predicted 238 MFLOP/s. More than half of that time is the call itself, 2.00 µs with its "
        "operands in memory."
    )
    assert gemv.endswith("the call itself, 4.00 µs with its operands in memory.")
    assert "the call itself" not in said(ops="axpy", n=16)[0], "its line is not drawn"
    assert "the call itself" not in said(ops="axpy", n=4096, overhead=True)[0]
    assert said(ops="axpy", n=16, overhead=True, cache="warm")[0].endswith("call itself, 100 ns.")


def test_the_box_says_its_solid_and_how_many_there_are() -> None:
    for name, sentence in [
        (
            "axpy",
            "AXPY is a stick, 8 of them: 32\u202f768 multiply-adds inside, 98\u202f304 elements "
            "moved through its faces, 0.3333 multiply-adds for each. AXPY of 32\u202f768 in fp32: "
            "65.5 kFLOP over 393 kB is 0.1667 FLOP/byte",
        ),
        (
            "gemv",
            "GEMV is a slab: 32\u202f768 multiply-adds inside, 5120 elements moved through its "
            "faces, 6.4 multiply-adds for each. GEMV 64×64, batch 8, in fp32: 65.5 kFLOP over "
            "20.5 kB is 3.2 FLOP/byte",
        ),
        (
            "gemm",
            "GEMM is a cube, 8 of them: 2.10 million multiply-adds inside, 98\u202f304 elements "
            "moved through its faces, 21.33 multiply-adds for each. GEMM 64×64×64, batch 8, in "
            "fp32: 4.19 MFLOP over 393 kB is 10.67 FLOP/byte",
        ),
    ]:
        live = rl.live.roofline(HERE, ops=name, n=64, batch=8, box=True, dtypes=["fp32"])
        assert live.sentence.startswith(sentence)


def test_the_face_of_c_says_whether_it_is_read_as_well() -> None:
    both = rl.live.box(machines=HERE, dtypes=["fp32"], accumulate=True)
    for live, times, face in [
        (product(), 1, "C"), (both, 2, "C, read and written: twice"),
    ]:  # fmt: skip
        scene = live.scene
        names = [scene.value(named(scene, f"name-{one}")[0], "text") for one in "ABC"]
        assert names == ["A", "B", face] and "is a cube: " in live.sentence
        moved = 8 * 32 + 32 * 16 + 8 * 16 * times
        assert f" {moved} elements moved" in scene.sentence(i=3, j=4, k=5)
    assert "0.1667 FLOP/byte" in both.scene.sentence(i=0, j=14, k=0), "y ← αx + y"


def test_the_waterfall_of_an_estimate_line_by_line() -> None:
    op = rl.gemv(64, 64)
    assert of_prediction(op, HERE, rl.predict(op, HERE)).words.splitlines() == [
        "GEMV 64×64 in fp32 on A test machine: the roofline allows 845 ns, 4.84 µs is predicted "
        "(×5.73). Nothing was measured at this size, so the waterfall stops at the prediction.",
        "roofline bound: 845 ns (120 GFLOP/s peak, 20.0 GB/s memory, measured on 2026-11-21).",
        "level and mix ×1: 845 ns (16.9 kB moved, operands in DRAM, roof of reading only).",
        "call overhead ×5.73: 4.84 µs (4.00 µs a cold call).",
        "routine efficiency ×1: 4.84 µs (then 100 % of the roof (gemv/fp32)).",
        "predicted: 4.84 µs, ×5.73 the bound (the bound is that of memory).",
    ]


@pytest.mark.parametrize("cache", ["cold", "warm"])
def test_the_factors_of_a_ladder_make_its_gap(cache: str) -> None:
    """And its bars lead from the roof to the time, each from where the last one ended."""
    view = rl.live.roofline(HERE, ops="gemv", dtypes=("fp32",), cache=cache, ladder=True)
    scene = view.scene
    words, steps = named(scene, "ladder"), ("level and mix", "call overhead", "routine efficiency")
    bars = [named(scene, f"bar {one}")[0] for one in ("allowed", *steps, "predicted")]
    (title,) = (said for kind, said, _ in scene.notes if kind == "title")
    for i, n in enumerate(view.spec.sliders[0].values[::5]):
        op, state = rl.gemv(n, n), {"i": 5 * i}
        roof = ceiling_lines.roof(HERE, "fp32", ceiling_lines.home(op, HERE, cache))
        bound, terms = roof.time(op), rl.predict(op, HERE, cache=cache).terms[1:]
        times = [bound, *(one.seconds for one in terms)]
        factors = [factor_text(after / before) for before, after in zip(times, times[1:])]
        said = [scene.value(one, "text", **state) for one in words]
        assert [one for one in said if one[:1] == "×"] == factors
        assert [one for one in said if one in steps] == [*steps]
        assert rl.si(times[0], "s") in said and rl.si(times[-1], "s") in said
        whole = f"{times[-1] / times[0]:.3g} times the {rl.si(times[0], 's')}"
        assert whole in scene.settled(title, scene.places(**state))
        largest, step = max(zip(factors, steps), key=lambda one: float(one[0][1:]))
        tail = "" if largest == "×1" else f" The largest factor is {step}, {largest}."
        assert scene.sentence(**state).endswith(tail)
        ends = np.array([scene.value(one, "points", **state)[[0, 2]] for one in bars])
        scale = (ends[-1][1] - ends[0][0]) / times[-1]
        starts = [0, *times[:-1], 0]
        right = ends[0][0] + scale * np.transpose([starts, [*times, times[-1]]])
        assert ends == pytest.approx(right)
    for state in ({"j": 3}, {"memory": 4}):  # not of several problems, and of no machine to come
        assert " times the " not in scene.settled(title, scene.places(**state))


def test_the_static_picture_says_its_roofs_and_every_point() -> None:
    op = rl.gemv(64, 64)
    points = [measurement(op, "here", 1e-5), rl.show.Point(op, 1e9, "predicted")]
    assert rl.show.roofline(HERE, points).words.splitlines() == [
        ORIGIN,
        "A test machine, fp32: 20.0 GB/s from memory, 120 GFLOP/s at the peak, ridge at 6.00 "
        "FLOP/byte.",
        "GEMV 64×64 in fp32: 8.19 kFLOP over 16.9 kB is 0.4848 FLOP/byte. Measured 819 MFLOP/s, "
        "×11.8 below this roof.",
        "GEMV 64×64 in fp32: predicted 1.00 GFLOP/s.",
    ]


@pytest.mark.parametrize("given", [None, 2e10])
def test_a_points_gap_goes_up_to_the_roof_or_to_what_was_given(given) -> None:
    op = rl.gemv(64, 64)
    allowed = rl.Roofline(HERE, "fp32").attainable(op.intensity)
    figure = rl.show.roofline(HERE, rl.show.Point(op, 1e9, allowed=given))
    dotted = [line.get_ydata() for line in figure.axes[0].lines if line.get_linestyle() == ":"]
    tops = [top for foot, top in dotted if foot == 1e9]
    assert tops == [pytest.approx(given or allowed)]
    assert f"×{(given or allowed) / 1e9:.3g} below this roof" in figure.words


def test_only_a_warm_rate_above_the_memory_roof_needs_a_cache_to_explain_it() -> None:
    op = rl.gemv(64, 64)
    fast = measurement(op, "here", op.bytes / 4e10)  # twice the bandwidth of memory, cold
    live = rl.live.roofline(
        HERE, ops="gemv", n=64, cache="both", measurements=[fast], dtypes=["fp32"]
    )
    cold, warm = live.sentence.splitlines()[0].split(" Warm: ")
    assert cold.endswith("Cold: measured 19.4 GFLOP/s, ×2 above the memory roof.")
    assert "more than 100 %: it is read from L1" in warm

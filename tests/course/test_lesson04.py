"""Lesson 04: the facts behind its answers and its prose, and that other right answers pass."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rooflab as rl
from rooflab.course.drawing import peak_and_bandwidth
from rooflab.course.lesson04.exercises import LAYERS, MACHINES
from rooflab.exercises.check import check
from rooflab.exercises.judge import judge
from rooflab.exercises.observe.collect import collect
from rooflab.exercises.registry import exercise

SEEDS = [0, *range(300, 325)]
shape, intensities, layer, knee, convicts = (
    exercise(f"04-{name}").reference
    for name in ("shapes", "intensities", "layer", "knee", "convicts")
)
edges = st.integers(1, 20_000)
MI300X, RTX_4090, H100, H200 = (
    peak_and_bandwidth(*which)
    for which in (("mi300x", "fp16"), ("rtx-4090", "fp16"), ("h100-sxm", "fp16"),
                  ("h200-sxm", "fp16"))
)  # fmt: skip


def verdict(id, answer, seed):
    found = exercise(id)
    cases = found.draw(seed)
    return judge(found, cases, collect(found.kind, cases, answer))


def test_shapes_of_llama_2_in_both_phases():
    """Facts 001: prefill 8×2048 tokens is M = 16384; in decode the length does not matter."""
    assert shape(8, 2048, 4096, 11008, False) == (16384, 11008, 4096)
    assert {shape(8, n, 4096, 11008, True) for n in (1, 100, 2048)} == {(8, 11008, 4096)}


def test_the_layers_of_the_lesson_are_those_of_the_models_it_names():
    for name, layer in (
        ("llama-2-7b", (4096, 11008)), ("llama-3-8b", (4096, 14336)), ("gpt-2", (768, 3072)),
    ):  # fmt: skip
        found = rl.model(name)
        assert (found.hidden, found.intermediate) == layer and layer in LAYERS


def test_intensities_of_the_up_projection_are_the_published_ones():
    for tokens, published in (
        (1, 1.000),
        (8, 7.979),
        (64, 62.66),
        (256, 235.8),
        (2048, 1215),
        (16384, 2525),
    ):
        assert intensities(tokens, 1, 4096, 11008, 2)[0] == pytest.approx(published, rel=5e-4)
        ledger = rl.gemm(tokens, 11008, 4096, "bf16").intensity
        assert intensities(tokens, 1, 4096, 11008, 2)[0] == pytest.approx(ledger)


@given(m=edges, n=edges, k=edges, size=st.sampled_from([1, 2, 4, 8]))
def test_intensity_is_symmetric_and_ruled_by_the_smallest_edge(m, n, k, size):
    def of(m, n, k):
        return intensities(1, m, k, n, size)[0]

    assert of(m, n, k) == pytest.approx(of(k, m, n)) == pytest.approx(of(n, m, k))
    assert of(m, n, k) == pytest.approx(2 / size / (1 / m + 1 / n + 1 / k))
    assert 2 / size * min(m, n, k) / 3 <= of(m, n, k) * (1 + 1e-12) < 2 / size * min(m, n, k)


def test_knees_are_the_published_ones():
    for inputs, outputs, machine, published in (
        (4096, 11008, MI300X, 268.8), (4096, 11008, RTX_4090, 173.4), (4096, 11008, H100, 327.6),
        (4096, 11008, H200, 221.4), (4096, 14336, MI300X, 267.3), (4096, 14336, H200, 220.4),
        (768, 3072, MI300X, 412.0), (768, 3072, RTX_4090, 223.4), (768, 3072, H100, 568.3),
        (768, 3072, H200, 310.2),
    ):  # fmt: skip
        assert knee(inputs, outputs, 2, *machine) == pytest.approx(published, rel=1e-3)


def test_the_shortcut_gives_247_where_412_is_right():
    wrong = next(
        m for m in exercise("04-knee").misconceptions if m.name == "large-layer shortcut"
    ).wrong
    assert round(wrong(768, 3072, 2, *MI300X)) == 247
    assert int(knee(768, 3072, 2, *MI300X)) == 412


def test_every_layer_has_a_knee_and_rooflab_changes_its_verdict_there():
    for which in MACHINES:
        for wide in LAYERS:
            name, kind, size = which
            peak, bandwidth = peak_and_bandwidth(name, kind)
            assert size == rl.dtype(kind).bits // 8
            at = knee(*wide, size, peak, bandwidth)
            roof = rl.Roofline(name, kind, unit="vector" if kind == "fp64" else None)
            for tokens, limit in ((int(at), "memory"), (int(at) + 1, "compute")):
                if tokens and abs(tokens - at) > 1e-9:
                    assert roof.limit(rl.gemm(tokens, wide[1], wide[0], kind)) == limit


@given(tokens=st.integers(1, 5000), wide=st.sampled_from(LAYERS), which=st.sampled_from(MACHINES))
def test_the_time_of_a_layer_is_the_bound_of_its_product(tokens, wide, which):
    name, kind, size = which
    peak, bandwidth = peak_and_bandwidth(name, kind)
    roof = rl.Roofline(name, kind, unit="vector" if kind == "fp64" else None)
    seconds = layer(tokens, *wide, size, peak, bandwidth)
    assert seconds == pytest.approx(roof.time(rl.gemm(tokens, wide[1], wide[0], kind)))
    assert seconds <= layer(tokens + 1, *wide, size, peak, bandwidth), "more is never faster"
    assert layer(2 * tokens, *wide, size, peak, bandwidth) <= 2 * seconds * (1 + 1e-12)


def test_sixty_four_tokens_cost_two_per_cent_more_on_an_h200():
    one, many = (layer(t, 4096, 11008, 2, *H200) for t in (1, 64))
    assert many / one == pytest.approx(1.02, abs=0.005)


def test_one_thing_at_a_time_on_an_h200():
    """In fp32 64 tokens take 2.30 times as long; bf16 has 15 times the peak, 4.5 the speed."""
    vector = peak_and_bandwidth("h200-sxm", "fp32")
    one, many = (layer(t, 4096, 11008, 4, *vector) for t in (1, 64))
    assert many / one == pytest.approx(2.30, abs=0.005)
    assert H200[0] / vector[0] == pytest.approx(14.8, abs=0.05)
    assert many / layer(64, 4096, 11008, 2, *H200) == pytest.approx(4.5, abs=0.05)


def test_the_last_of_llama_3_8b_on_an_h100():
    """Knees 345, 462, 326 and 319; a batch of 128 fills 41 % of the peak with 4096², 256 77 %."""
    last = exercise("04-last").reference
    square = [(4096, 4096)]
    for batch, share in ((128, 0.41), (256, 0.77), (346, 1.0)):
        assert last(square, batch, 2, *H100)[2] == pytest.approx(share, abs=0.005)
    assert last(square, 1, 2, *H100)[1] == 346
    found = [(4096, outputs) for outputs in (4096, 1024, 14336, 128_256)]
    assert last(found, 400, 2, *H100)[:2] == (1, 462)
    waiting = [knee(i, o, 2, *H100) > 400 for i, o in found]
    assert waiting == [False, True, False, False]


def test_the_output_says_itself_where_the_last_one_is():
    for seed in SEEDS:
        for case in exercise("04-last").draw(seed):
            place, batch, share = exercise("04-last").reference(*case.values())
            assert 0 <= place < len(case["products"]) and 0 < share <= 1
            assert (share == 1) == (case["batch"] >= batch)


def test_groups_and_ones_and_zeros_are_understood():
    assert check("04-gradients", lambda m, n, k: ((m, k, n), (n, k, m))).passed
    mixed = check("04-gradients", lambda m, n, k: ((m, n, k), (n, k, m)))
    assert not mixed.passed
    assert check("04-swapped", (0, 0, 0, 0, 1, 1)).passed
    assert check("04-swapped", (1,) * 6).misconception == "everything notices"


@given(m=edges, n=edges, k=edges)
def test_a_shape_convicts_the_repeated_face_when_the_counts_differ(m, n, k):
    assert convicts(m, n, k) == (m * k + k * n + m * k != rl.gemm(m, n, k, "fp8").bytes)


def test_the_repeated_face_costs_63_per_cent_in_prefill_and_the_parentheses_a_factor_of_4():
    """62.66 → 63.26 at M = 64, 2525.1 → 4120.0 at M = 16384; by the letter 250.6."""

    def claimed(m, n, k):
        return 2 * m * n * k / (m * k + k * n + m * k) / 2

    assert claimed(64, 11008, 4096) == pytest.approx(63.26, abs=0.01)
    assert claimed(16384, 11008, 4096) == pytest.approx(4120, abs=0.5)
    op = rl.gemm(64, 11008, 4096, "bf16")
    assert op.flops / (op.bytes / 2) * 2 == pytest.approx(250.6, abs=0.1) == 4 * op.intensity


def test_only_two_of_the_six_checks_notice_exchanged_edges():
    right, swapped = rl.gemm(8, 11008, 4096, "bf16"), rl.gemm(8, 4096, 11008, "bf16")
    weights = [op.operands[1].elements for op in (right, swapped)]
    seen = (
        right.flops != swapped.flops, right.bytes != swapped.bytes,
        right.intensity != swapped.intensity, weights[0] != weights[1],
        right.operands[-1].shape != swapped.operands[-1].shape,
        right.dims["k"] != swapped.dims["k"],
    )  # fmt: skip
    assert seen == exercise("04-swapped").reference()
    assert right.intensity == pytest.approx(7.979, abs=5e-4)


def shape_of_arrays(batch, length, inputs, outputs, decode):
    rows = np.zeros((batch, 1 if decode else length, 1)).reshape(-1, 1).shape[0]
    return np.array([rows, outputs, inputs])


def knee_by_bisection(inputs, outputs, itemsize, peak, bandwidth):
    low, high = 0.0, 1e6
    for _ in range(200):
        at = (low + high) / 2
        computing = 2 * at * inputs * outputs / peak
        carrying = (at * (inputs + outputs) + inputs * outputs) * itemsize / bandwidth
        low, high = (at, high) if computing < carrying else (low, at)
    return low


def last_by_trying(products, batch, itemsize, peak, bandwidth):
    """Without a formula for the knee: batches in turn, until the last product is computed."""

    def share(at, inputs, outputs):
        numbers = at * inputs + inputs * outputs + at * outputs
        intensity = 2 * at * inputs * outputs / (numbers * itemsize)
        return min(1.0, intensity * bandwidth / peak)

    waiting, at = dict(enumerate(products)), 0
    while waiting:
        at, place = at + 1, max(waiting)
        for number in list(waiting):
            if share(at, *waiting[number]) == 1:
                place = number
                del waiting[number]
    return place, at, share(batch, *products[place])


OTHER_WAYS = {
    "04-shapes": shape_of_arrays,
    "04-intensities": lambda b, n, i, o, s: [
        2 / s / (Fraction(1, m) + Fraction(1, i) + Fraction(1, o)) for m in (b * n, b)
    ],
    "04-layer": lambda t, i, o, s, p, b: float(
        np.max([2 * t * i * o / p, s * (t * (i + o) + i * o) / b])
    ),
    "04-knee": knee_by_bisection,
    "04-convicts": lambda m, n, k: np.bool_(m * k + k * n + m * k != m * k + k * n + m * n),
    "04-swapped": [False, False, False, np.False_, True, np.True_],
    "04-predict": lambda t, i, o, first, again, copy, peak: float(
        i * o * np.minimum(first + again * (t - 1), copy + 2 * t / peak)
    ),
    "04-ceiling": lambda i, o, s: 2 * i * o / (s * (i + o)),
    "04-last": last_by_trying,
    "04-gradients": lambda m, n, k: [*(m, k, n), *(n, k, m)],
}


def test_other_ways_to_the_right_answer_are_accepted():
    for id in OTHER_WAYS:
        for seed in SEEDS:
            seen = verdict(id, OTHER_WAYS[id], seed)
            assert seen.passed, seen

"""Lesson 04, deeper: facts behind ceiling, padding, gradients, and the bytes per FLOP of models."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rooflab as rl
from rooflab.course.drawing import peak_and_bandwidth
from rooflab.exercises.registry import exercise

intensities, ceiling, gradients = (
    exercise(f"04-{name}").reference for name in ("intensities", "ceiling", "gradients")
)
edges = st.integers(1, 20_000)


@given(n=edges, k=edges, size=st.sampled_from([1, 2, 4, 8]))
def test_no_number_of_tokens_reaches_the_ceiling(n, k, size):
    most = ceiling(k, n, size)
    assert most > intensities(10**6, 1, k, n, size)[0]
    assert intensities(10**15, 1, k, n, size)[0] == pytest.approx(most, rel=1e-6)


def test_a_low_rank_adapter_has_no_knee_on_an_h200():
    peak, bandwidth = peak_and_bandwidth("h200-sxm", "fp16")
    assert ceiling(4096, 16, 2) == pytest.approx(15.94, abs=0.01)
    assert peak / bandwidth / ceiling(4096, 16, 2) == pytest.approx(13, abs=0.1)


def test_padding_adds_work_and_lowers_the_useful_intensity():
    """50 304 is the multiple of 64 above 50 257; 1000 → 1024 in all edges is 7.4 % more work."""
    assert 50_304 % 64 == 0 and 50_304 - 64 < 50_257
    more = rl.gemm(1024, 1024, 1024).flops / rl.gemm(1000, 1000, 1000).flops
    assert more - 1 == pytest.approx(0.074, abs=5e-4)
    useful = rl.gemm(1000, 1000, 1000).flops / rl.gemm(1024, 1024, 1024).bytes
    assert useful == pytest.approx(158.9, abs=0.05)
    assert useful < rl.gemm(1000, 1000, 1000).intensity


def test_gradients_have_the_shapes_of_what_they_belong_to():
    """And dW is right: its effect on a loss is seen by finite differences, M=3, N=2, K=4."""
    m, n, k = 3, 2, 4
    rng = np.random.default_rng(4)
    x, w, dy = rng.normal(size=(m, k)), rng.normal(size=(n, k)), rng.normal(size=(m, n))
    dx, dw = dy @ w, dy.T @ x
    assert gradients(m, n, k) == (*dx.shape, n, *dw.shape, m)
    nudged = w.copy()
    nudged[1, 2] += 1e-6
    assert np.sum((x @ nudged.T - x @ w.T) * dy) / 1e-6 == pytest.approx(dw[1, 2], rel=1e-4)
    found = gradients(16384, 11008, 4096)
    ops = [rl.gemm(*three, "bf16") for three in ((16384, 11008, 4096), found[:3], found[3:])]
    assert len({(op.flops, op.bytes) for op in ops}) == 1
    assert ops[0].intensity == pytest.approx(2525.1, abs=0.05)


def resnet50():
    """(size, in, out, kernel, stride) of its convolutions, the stride in the 3×3 ones."""
    found, size, into = [(224, 3, 64, 7, 2)], 56, 64
    for stage, (middle, blocks) in enumerate(((64, 3), (128, 4), (256, 6), (512, 3))):
        for block in range(blocks):
            stride = 2 if stage and not block else 1
            found += [(size, into, middle, 1, 1), (size, middle, middle, 3, stride)]
            found += [] if block else [(size, into, 4 * middle, 1, stride)]
            size, into = size // stride, 4 * middle
            found.append((size, middle, into, 1, 1))
    return found


def test_resnet_50_does_twice_the_flops_that_were_printed():
    """4 089 184 256 multiply-adds, 25 557 032 weights, 11.1 million numbers between."""
    convs = [rl.conv2d(1, s, s, i, o, k, stride=t, padding=k // 2) for s, i, o, k, t in resnet50()]
    assert sum(op.flops for op in convs) + 2 * 2048 * 1000 == 2 * 4_089_184_256
    assert sum(op.operands[-1].elements for op in convs) == 11_113_984
    norms = 2 * sum(o for _, _, o, _, _ in resnet50())
    weights = sum(op.operands[1].elements for op in convs) + 2048 * 1000 + 1000
    assert weights + norms == 25_557_032


def test_the_bytes_per_flop_of_gpt_2_mix_two_contexts():
    """The claim: FLOPs of 1024 earlier tokens over the bytes of none."""
    matrices, kept = 12 * 12 * 768 * 768 + 50257 * 768, 2 * 1024 * 768 * 12
    assert matrices == 123_532_032 and 2 * (matrices + kept) == 284_812_800
    assert 124_337_664 / (matrices + kept) == pytest.approx(0.873, abs=5e-4)

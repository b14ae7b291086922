"""Attention in blocks is attention: masks, large logits, NaN and all; and where it should win."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rooflab as rl
from tests.labs.fusion.support import COSTS, MACHINE

attend = rl.fusion.attend


def reference(q, k, v, mask=0.0):
    scores = q @ k.T / np.sqrt(q.shape[1]) + mask
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    return weights @ v / weights.sum(axis=1, keepdims=True)


@settings(max_examples=50)
@given(st.data())
def test_blocks_change_nothing(data):
    m, n, d, e = (data.draw(st.integers(1, most)) for most in (20, 30, 8, 5))
    random = np.random.default_rng(data.draw(st.integers(0, 99)))
    q, k, v = (random.normal(size=shape) for shape in ((m, d), (n, d), (n, e)))
    q *= data.draw(st.sampled_from([1.0, 1e3, 1e-300]))
    mask = np.where(
        random.random((m, n)) < data.draw(st.sampled_from([0.0, 0.5, 0.95])), -np.inf, 0
    )
    block = data.draw(st.tuples(st.integers(1, 8), st.integers(1, 8)))
    with np.errstate(all="ignore"):
        right = reference(q, k, v, mask)
    for streamed in (True, False):
        seen = attend(q, k, v, mask=mask, streamed=streamed, block=block)
        np.testing.assert_allclose(seen, right, rtol=1e-10, atol=1e-12)


def test_infinite_scores_and_nans_spoil_the_same_rows():
    q, k, v = np.random.default_rng(2).normal(size=(3, 9, 4))
    q[1, 0], q[4, 2] = np.inf, np.nan
    one, other = (attend(q, k, v, streamed=way, block=(4, 2)) for way in (True, False))
    np.testing.assert_allclose(one, other, rtol=1e-12)
    assert np.isnan(one).any(axis=1).tolist() == [row in (1, 4) for row in range(9)]


def test_bad_input_is_named():
    q = np.ones((3, 4))
    for kind, message, call in (
        (TypeError, "q is list", lambda: attend([1.0], q, q)),
        (ValueError, r"k of shape \(0, 4\)", lambda: attend(q, q[:0], q)),
        (ValueError, "k needs 4 columns", lambda: attend(q, q[:, :2], q)),
        (ValueError, "v as many rows", lambda: attend(q, q, q[:2])),
        (ValueError, r"mask has shape \(3, 4\)", lambda: attend(q, q, q, mask=q)),
        (ValueError, r"block\[1\]=0", lambda: attend(q, q, q, block=(4, 0))),
    ):
        with pytest.raises(kind, match=message):
            call()


def test_streaming_pays_where_the_scores_leave_the_caches():
    """The same FLOPs at the same rate: before, calls cost it; beyond, bytes and pages are saved."""
    known = {"machine": MACHINE, "costs": COSTS}
    small, large = (
        [rl.fusion.predict_attention(n, streamed=way, **known) for way in (True, False)]
        for n in (256, 16384)
    )
    assert small[0].seconds > small[1].seconds
    assert large[0].seconds < large[1].seconds
    assert large[0].bytes < large[1].bytes / 5
    assert large[1].faults == pytest.approx(4 * 16384**2 * COSTS.fresh)


def test_both_ways_are_timed():
    found = rl.fusion.attention_gain(64, rounds=3, progress=False)
    assert list(found.measured) == ["materialised", "streamed"]
    whole, streamed = (m.op for m in found.measured.values())
    assert whole.flops == streamed.flops == 4 * 64**3
    assert whole.bytes - streamed.bytes == 4 * 64 * 64 * 4  # scores: written, read, written, read

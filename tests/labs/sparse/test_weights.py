"""2:4 and groups with scales: bytes of the field, round trips, bounds of errors, bad input."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import rooflab as rl

prune, pack, quantise = rl.sparse.prune, rl.sparse.pack, rl.sparse.quantise_weights
FORMATS = st.sampled_from([np.float16, np.float32, np.float64, np.int8])
SEVEN = np.float32([[7, -7, 3, 0]])
#: Often with zeros and equal magnitudes.
VALUES = st.sampled_from([0, -0.0, 1, -1, 2, 3, -128, 100, 7])
FOURS = arrays.arrays(np.float64, st.tuples(st.integers(1, 4), st.integers(1, 9), st.just(4)),
                      elements=VALUES)  # fmt: skip


def test_bytes_are_those_of_the_field():
    """9/16 of fp16 and 5/8 of 8 bits for 2:4; 4 bits with fp16 scales a group of 128: 4.125."""
    w = np.random.default_rng(0).normal(size=(16, 512))
    for kind, share in (("float16", 9 / 16), ("int8", 5 / 8), ("float32", 17 / 32)):
        dense = (100 * w).astype(kind)
        assert pack(prune(dense)).bytes == share * dense.nbytes, kind
    for bits, group, each in ((8, 128, 8.125), (4, 128, 4.125), (4, 64, 4.25), (8, 32, 8.5)):
        q = quantise(w, bits, group)
        assert (q.bits_a_value, q.bytes) == (each, each * w.size / 8)


@settings(max_examples=60)
@given(FOURS, FORMATS)
def test_pruning_leaves_the_two_largest_of_each_four_and_packing_changes_nothing(fours, kind):
    w = fours.reshape(len(fours), -1).astype(kind)
    pruned = prune(w)
    assert pruned.dtype == w.dtype and pruned.shape == w.shape and pruned is not w
    fours, left = (abs(a.reshape(-1, 4).astype(float)) for a in (w, pruned))
    np.testing.assert_array_equal(left.sum(axis=1), np.sort(fours)[:, 2:].sum(axis=1))
    np.testing.assert_array_equal(prune(pruned), pruned)
    p = pack(pruned)  # which refuses three of four
    assert p.positions.shape == (len(w), -(-w.shape[1] // 8))
    np.testing.assert_array_equal(p.unpack(), pruned)


def test_of_equal_magnitudes_the_first_stay():
    np.testing.assert_array_equal(prune(np.float32([2, -2, 2, -2])), [2, -2, 0, 0])
    np.testing.assert_array_equal(prune(np.int8([1, 127, -128, 2])), [0, 127, -128, 0])
    cube = np.arange(48.0).reshape(2, 3, 8)
    np.testing.assert_array_equal(prune(cube)[1, 2], prune(cube[1, 2]))


@settings(max_examples=60)
@given(
    arrays.arrays(np.float32, st.tuples(st.integers(1, 4), st.integers(1, 40)),
                  elements=st.floats(-1e4, 1e4, width=32)),
    st.sampled_from([8, 4]), st.integers(1, 30).map(lambda half: 2 * half),
)  # fmt: skip
def test_a_weight_is_off_by_half_a_scale(w, bits, group):
    """By what rounding the scale to fp16 does to the largest, too."""
    q, most = quantise(w, bits, group), {8: 127, 4: 7}[bits]
    assert q.scales.shape == (len(w), -(-w.shape[1] // group)) and q.scales.dtype == np.float16
    assert q.values.shape == (len(w), -(-w.shape[1] * bits // 8)) and q.shape == w.shape
    scales = np.repeat(q.scales.astype(np.float64), group, axis=1)[:, : w.shape[1]]
    off, rounded = abs(q.unpack() - w), most * (scales * 2.0**-11 + 2.0**-25)
    assert (off <= scales / 2 + rounded + 1e-6 * abs(w)).all()


def test_groups_do_not_touch_each_other():
    w = np.zeros((2, 300), np.float32)
    w[1, 299] = 5
    for bits in (8, 4):
        q = quantise(w, bits)
        assert q.scales.tolist()[0] == [0, 0, 0] and q.scales[1, 2] > 0 == q.scales[1, :2].max()
        assert abs(q.unpack() - w).max() <= 5 * 2**-11
    np.testing.assert_array_equal(quantise(SEVEN, 4).unpack(), SEVEN)
    assert quantise(np.full((1, 4), 1e-9, np.float32)).scales[0, 0] == 0, "less than fp16 has"


def test_bad_input_is_named():
    nan, dense = np.ones((3, 8), np.float32), np.zeros((2, 8), np.float16)
    nan[2, 5], dense[1, 4:] = np.nan, [1, 0, 2, 3]
    infinite = np.where(np.isnan(nan), np.inf, nan)
    for kind, message, call in (
        (ValueError, r"w\[1, 4:8\] is \[1.0, 0.0, 2.0, 3.0\].*2:4", lambda: pack(dense)),
        (ValueError, "k = 6 columns; k must be a multiple of 4", lambda: prune(np.ones((2, 6)))),
        (ValueError, r"w has shape \(4,\)", lambda: pack(np.ones(4))),
        (TypeError, "w is list", lambda: prune([1, 2, 3, 4])),
        (TypeError, "w is int8; .*float16", lambda: quantise(np.ones((1, 4), np.int8))),
        (ValueError, "bits=3 must be", lambda: quantise(SEVEN, 3)),
        (ValueError, "group=3 must be even", lambda: quantise(SEVEN, 4, 3)),
        (ValueError, r"w\[0, 3\] is 4.6e\+05.*458528", lambda: quantise(
            np.float32([[1, 1, 1, 4.6e5]]), 4, 2)),
        *((ValueError, r"w\[2, 5\] is (nan|inf); all", lambda f=f, w=w: f(w))
          for f in (prune, pack, quantise) for w in (nan, infinite)),
        *((ValueError, r"w has shape \(0, 8\)", lambda f=f: f(nan[:0]))
          for f in (prune, pack, quantise)),
    ):  # fmt: skip
        with pytest.raises(kind, match=message):
            call()

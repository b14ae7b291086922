"""Blocks of shared scales: worked by hand, counted in bits, and never beyond what a scale holds."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import rooflab as rl
from rooflab.labs.precision.blocks import BLOCKS

FORMATS = rl.precision.formats()
block_quantise = rl.precision.block_quantise
MX = {name: element for name, (_, element) in BLOCKS.items() if name.startswith("mx")}
X = np.random.default_rng(5).standard_normal((6, 96))


def test_bits_a_value_are_counted_with_the_scales():
    """OCP MX v1.0: 8 + 8/32 and 4 + 8/32; NVFP4: 4 + 8/16, and 32 for a tensor."""
    wanted = {
        "mxfp8_e4m3": 8.25, "mxfp8_e5m2": 8.25, "mxfp6_e2m3": 6.25, "mxfp6_e3m2": 6.25,
        "mxfp4": 4.25, "nvfp4": 4.5 + 32 / 576, "int8": 8 + 16 / 96, "int4": 4 + 16 / 96,
    }  # fmt: skip
    assert {name: block_quantise(X, name).bits_a_value for name in wanted} == wanted
    assert block_quantise(X, "int4", group=32).bits_a_value == 4.5
    assert block_quantise(X, "int4", group="tensor").bits_a_value == 4 + 16 / 576
    assert block_quantise(X[:, :33], "mxfp4").bytes == 6 * 33 // 2 + 6 * 2


def test_the_scale_of_mx_is_a_power_of_two_by_the_standard():
    largest = np.abs(X.reshape(6, 3, 32)).max(-1)
    for name, element in MX.items():
        q, emax = block_quantise(X, name), np.floor(np.log2(FORMATS[element].largest))
        assert np.array_equal(q.scales, 2.0 ** (np.floor(np.log2(largest)) - emax)), name
        wide = np.repeat(q.scales, 32, 1)
        assert np.array_equal(q.elements, rl.precision.quantise(X / wide, element, saturate=True))
        assert np.array_equal(q.values, q.elements * wide)
    # 7.9 of a block whose scale is 1 saturates at 6; ties go to even
    assert block_quantise([7.9, 2.5, 0.25, -5.0], "mxfp4").values.tolist() == [6, 2, 0, -4]


def test_nvfp4_and_integers_by_hand():
    x = np.zeros((2, 32))
    x[0, 0], x[0, 16:18], x[1, 3] = 2688, (3, 1), 6 * 448
    q = block_quantise(x, "nvfp4")
    assert q.tensor_scale == 1 and q.scales.tolist() == [[448, 0.5], [448, 0]]
    assert q.elements[0, 16:18].tolist() == [6, 2] and np.array_equal(q.values, x)
    q = block_quantise([[-127.0, 63.4, 0.5], [254.0, 3.0, 1.0]], "int8")
    assert q.elements.tolist() == [[-127, 63, 0], [127, 2, 0]] and q.scales.tolist() == [[1], [2]]
    assert block_quantise([[7.0, 1.4]], "int4", group=1).elements.tolist() == [[7, 7]]
    q = block_quantise([[7.0, 1.4], [14.0, 2.0]], "int4", group="tensor")
    assert q.elements.tolist() == [[4, 1], [7, 1]] and q.scales.tolist() == [2]
    assert block_quantise([1e9, 1.0], "int8").scales == 65504  # the largest fp16


def test_short_blocks_zeros_and_values_that_are_not_finite():
    """An infinity or NaN makes its block NaN, and no other."""
    for name, (dtype, _) in BLOCKS.items():
        own = rl.dtype(dtype).group
        group, how = own or 16, {} if own else {"group": 16}
        zeros = block_quantise(np.zeros((2, 40)), name, **how)
        assert not zeros.values.any() and np.isfinite(zeros.scales).all(), name
        assert len(block_quantise(X[0, :70], name, **how).scales) == -(-70 // group)
        for special in (np.nan, np.inf, -np.inf):
            x = np.where(np.arange(70) == 1, special, X[0, :70])
            q = block_quantise(x, name, **how)
            assert np.isnan(q.scales[0]) and np.isnan(q.values[:group]).all(), name
            assert np.isfinite(q.values[group:]).all(), name


@given(
    st.sampled_from(sorted(BLOCKS)),
    st.lists(st.floats(-(2.0**127), 2.0**127, width=32), min_size=1, max_size=70),
)
def test_scales_and_values_never_overflow(name, x):
    q = block_quantise(np.float32(x), name)
    assert np.isfinite(q.scales).all() and np.isfinite(q.values).all() and (q.scales >= 0).all()
    if name in MX:
        assert np.isin(np.log2(q.scales), np.arange(-127, 128)).all()
        assert np.abs(q.elements).max() <= FORMATS[MX[name]].largest
        assert np.array_equal(block_quantise(q.values, name).values, q.values)

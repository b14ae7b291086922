"""Convolution and pooling: touched elements against brute force, known layers, special cases."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import rooflab as rl
from tests.support.rows import each_row


def touched_along(length, kernel, stride, padding, dilation):
    """Output positions along one axis, and the real elements that any window covers."""
    span = dilation * (kernel - 1) + 1
    starts = range(-padding, length + padding - span + 1, stride)
    taps = {start + tap * dilation for start in starts for tap in range(kernel)}
    return len(starts), {i for i in taps if 0 <= i < length}


axis = st.tuples(
    st.integers(1, 14), st.integers(1, 5), st.integers(1, 6), st.integers(0, 4), st.integers(1, 4)
)


@given(axis, axis, st.integers(1, 3), st.integers(1, 3), st.integers(1, 3))
def test_input_bytes_are_the_distinct_elements_touched(rows, cols, batch, c_in, c_out):
    for length, kernel, _, padding, dilation in (rows, cols):
        assume(dilation * (kernel - 1) + 1 <= length + 2 * padding)
    (height, r, sy, py, dy), (width, s, sx, px, dx) = rows, cols
    op = rl.conv2d(batch, height, width, c_in, c_out, (r, s),
                   stride=(sy, sx), padding=(py, px), dilation=(dy, dx))  # fmt: skip
    (out_y, seen_y), (out_x, seen_x) = touched_along(*rows), touched_along(*cols)
    seen = set(product(range(batch), seen_y, seen_x, range(c_in)))
    assert op.operands[0].elements == len(seen)
    assert op.operands[2].elements == batch * out_y * out_x * c_out
    assert op.flops == 2 * batch * out_y * out_x * c_out * c_in * r * s


@given(axis, st.integers(1, 3))
def test_pooling_touches_what_a_convolution_touches(rows, channels):
    length, kernel, stride, padding, _ = rows
    assume(kernel <= length + 2 * padding)
    shape = {"stride": stride, "padding": padding}
    pool = rl.pool2d(2, length, length, channels, kernel, **shape)
    conv = rl.conv2d(2, length, length, channels, channels, kernel, **shape)
    assert [o.elements for o in pool.operands] == [conv.operands[i].elements for i in (0, 2)]


@given(st.integers(1, 40), st.integers(1, 40), st.integers(1, 99), st.integers(1, 99))
def test_one_by_one_convolution_is_a_matrix_product(height, width, c_in, c_out):
    conv = rl.conv2d(1, height, width, c_in, c_out, 1)
    product_ = rl.gemm(height * width, c_out, c_in)
    assert (conv.flops, conv.bytes) == (product_.flops, product_.bytes)


@given(st.integers(1, 20), st.integers(1, 99), st.integers(1, 99))
def test_a_kernel_as_large_as_the_image_is_a_fully_connected_layer(size, c_in, c_out):
    conv = rl.conv2d(8, size, size, c_in, c_out, size)
    dense = rl.gemm(8, c_out, c_in * size * size)
    assert (conv.flops, conv.bytes) == (dense.flops, dense.bytes)


@each_row(
    # AlexNet's first layer (Krizhevsky 2012, 227×227 input), VGG-16's first two (Simonyan 2015)
    (rl.conv2d(1, 227, 227, 3, 96, 11, stride=4), 105_415_200, 34_848),
    (rl.conv2d(1, 224, 224, 3, 64, 3, padding=1), 86_704_128, 1_728),
    (rl.conv2d(1, 224, 224, 64, 64, 3, padding=1), 1_849_688_064, 36_864),
    # ResNet's stem (He 2016) and a depthwise layer of MobileNet (Howard 2017)
    (rl.conv2d(1, 224, 224, 3, 64, 7, stride=2, padding=3), 118_013_952, 9_408),
    (rl.conv2d(1, 112, 112, 32, 32, 3, padding=1, groups=32), 3_612_672, 288),
    # AlexNet's second layer, in two groups
    (rl.conv2d(1, 27, 27, 96, 256, 5, padding=2, groups=2), 223_948_800, 307_200),
)
def test_known_layers(layer, multiply_adds, weights):
    assert layer.flops == 2 * multiply_adds
    assert layer.operands[1].elements == weights


def test_depthwise_convolution_has_little_to_reuse():
    depthwise = rl.conv2d(1, 112, 112, 32, 32, 3, padding=1, groups=32)
    full = rl.conv2d(1, 112, 112, 32, 32, 3, padding=1)
    assert full.flops == 32 * depthwise.flops
    assert depthwise.intensity < 9 * 2 / 8  # 9 multiply-adds over one fp32 read and one write


def test_pixels_that_a_stride_jumps_over_are_not_read():
    assert rl.conv2d(1, 56, 56, 64, 128, 1, stride=2).operands[0].elements == 28 * 28 * 64


@each_row(1, 2)
def test_window_sizes_have_no_upper_limit(dilation):
    n = 10**30
    op = rl.conv2d(1, n, n, 3, 8, 3 if dilation > 1 else 10**20, padding=1, dilation=dilation)
    assert op.operands[0].elements == 3 * n * n
    assert rl.pool2d(1, n, n, 1, n).operands[0].elements == n * n


def test_pooling_conventions():
    strict, nvidia = (rl.pool2d(1, 8, 8, 1, 2, convention=c) for c in ("strict", "nvidia"))
    assert (strict.flops, nvidia.flops) == (16 * 3, 16 * 4)
    assert rl.pool2d(1, 8, 8, 1, 2, kind="mean").flops == 16 * 4
    assert rl.pool2d(1, 8, 8, 1, 1).flops == 0  # the maximum of one number compares nothing
    assert rl.pool2d(1, 9, 9, 1, 3).dims["h"] == 9


def test_scales_of_block_formats_run_along_the_channels():
    x, w, _ = rl.conv2d(1, 10, 10, 64, 8, 3, "mxfp4").operands
    assert x.nbytes == 10 * 10 * (64 // 2 + 64 // 32)
    assert w.nbytes == 3 * 3 * 8 * (64 // 2 + 64 // 32)
    skipping = rl.conv2d(1, 10, 10, 64, 8, 1, "mxfp4", stride=2).operands[0]
    assert skipping.nbytes == 5 * 5 * (64 // 2 + 64 // 32)


@each_row(
    (lambda: rl.conv2d(1, 8, 8, 3, 4, 9), ValueError, "window of 9 does not fit height=8"),
    (lambda: rl.conv2d(1, 8, 2, 3, 4, 3), ValueError, "does not fit width=2 with padding=0"),
    (lambda: rl.conv2d(1, 8, 8, 3, 4, 3, groups=2), ValueError, "groups=2 must divide c_in=3"),
    (lambda: rl.conv2d(1, 8, 8, 4, 4, (3, 3, 3)), ValueError, r"kernel=\(3, 3, 3\) must be one"),
    (lambda: rl.conv2d(1, 8, 8, 4, 4, 3, stride=0), ValueError, "stride=0 must be a positive"),
    (lambda: rl.conv2d(1, 8, 8, 4, 4, 3, padding=-1), ValueError, "padding=-1 .* 0 or more"),
    (lambda: rl.conv2d(1, 8, 8, 4, 4, 3, padding="same"), TypeError, "padding='same' is a str"),
    (lambda: rl.conv2d(1, 8, 8, 4, 4, 3, padding=True), TypeError, "padding=True is a bool"),
    (lambda: rl.conv2d(1, 8, 8, 4, 4, 3, dilation=1.5), TypeError, r"dilation=1\.5 is a float"),
    (lambda: rl.conv2d(1, 8, 8, 4, 4, None), TypeError, "kernel=None"),
    (lambda: rl.conv2d(0, 8, 8, 4, 4, 3), ValueError, "batch=0"),
    (lambda: rl.conv2d(1, "8", 8, 4, 4, 3), TypeError, "height='8' is a str"),
    (lambda: rl.conv2d(1, 8, True, 4, 4, 3), TypeError, "width=True is a bool"),
    (lambda: rl.conv2d(1, 8, 8, -4, 4, 3), ValueError, "c_in=-4"),
    (lambda: rl.conv2d(1, 8, 8, 4, 4.0, 3), TypeError, r"c_out=4\.0 is a float"),
    (lambda: rl.pool2d(1, 8, 8, 0, 2), ValueError, "channels=0"),
    (lambda: rl.pool2d(1, 8, 8, 4, 2, kind="avg"), ValueError, "kind='avg' .* max, mean"),
    (lambda: rl.pool2d(1, 8, 8, 4, 2, convention="nvida"), ValueError, "mean 'nvidia'"),
    (lambda: rl.pool2d(1, 8, 8, 4, 2, "fp5"), ValueError, "dtype='fp5' is unknown"),
)
def test_bad_windows_are_named(make, error, message):
    with pytest.raises(error, match=message):
        make()

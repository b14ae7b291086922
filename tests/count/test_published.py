"""Counts that have been published, or worked out by hand, to their printed precision."""

from __future__ import annotations

import pytest

import rooflab as rl
from tests.support.rows import each_row


@each_row(
    (8192, 128, 8192, 124.1),  # NVIDIA, "Matrix Multiplication Background User's Guide"
    (8192, 8192, 8192, 2730.7),
    (512, 4096, 1024, 315.1),  # its linear layer: 4096 outputs, 1024 inputs, batch 512
    (1, 4096, 1024, 1.0),
    (4096, 4096, 4096, 1365.3),
    (1024, 1024, 1024, 341.3),
    (64, 11008, 4096, 62.66),
)
def test_intensity_of_fp16_products(m, n, k, printed):
    decimals = len(str(printed).partition(".")[2])
    assert round(rl.gemm(m, n, k, "fp16").intensity, decimals) == printed


@each_row(("fp64", 8), ("fp32", 4), ("fp16", 2), ("bf16", 2), ("fp8_e4m3", 1))
@each_row(16, 1000, 4096)
def test_the_blas_table(n, dtype, itemsize):
    s = itemsize
    assert rl.axpy(n, dtype).intensity == pytest.approx(2 / (3 * s))
    assert rl.scale(n, dtype).intensity == pytest.approx(1 / (2 * s))
    assert rl.dot(n, dtype).intensity == pytest.approx(2 * n / (s * (2 * n + 1)))
    assert rl.gemm(n, n, n, dtype).intensity == pytest.approx(2 * n / (3 * s))
    assert rl.gemm(n, n, n, dtype, accumulate=True).intensity == pytest.approx(n / (2 * s))


def test_saxpy_is_one_sixth_and_daxpy_one_twelfth():
    assert rl.axpy(10**6).intensity == 1 / 6
    assert rl.axpy(10**6, "fp64").intensity == 1 / 12


@each_row(
    ("fp64", 0.24988, 0.24982), ("fp32", 0.49976, 0.49963), ("fp16", 0.99951, 0.99927),
    ("fp8_e4m3", 1.99902, 1.99854)
)  # fmt: skip
def test_gemv_at_4096(dtype, overwrite, accumulate):
    assert round(rl.gemv(4096, 4096, dtype).intensity, 5) == overwrite
    assert round(rl.gemv(4096, 4096, dtype, accumulate=True).intensity, 5) == accumulate


def test_element_counts_of_every_vector_and_matrix_operation():
    m, n, k = 3, 5, 7
    ledger = {  # operation: (FLOP, elements moved)
        rl.axpy(n): (2 * n, 3 * n),
        rl.dot(n): (2 * n, 2 * n + 1),
        rl.scale(n): (n, 2 * n),
        rl.ger(m, n): (2 * m * n, 2 * m * n + m + n),
        rl.gemv(m, n): (2 * m * n, m * n + n + m),
        rl.gemv(m, n, accumulate=True): (2 * m * n, m * n + n + 2 * m),
        rl.gemm(m, n, k): (2 * m * n * k, m * k + k * n + m * n),
        rl.gemm(m, n, k, accumulate=True): (2 * m * n * k, m * k + k * n + 2 * m * n),
    }
    assert {op: (op.flops, op.bytes / 4) for op in ledger} == ledger


@each_row(
    (1, 9.018e7, 9.021e7, 1.000), (8, 7.214e8, 9.042e7, 7.979), (64, 5.771e9, 9.211e7, 62.66),
    (256, 2.309e10, 9.791e7, 235.8), (269, 2.426e10, 9.830e7, 246.8),
    (2048, 1.847e11, 1.520e8, 1215), (16384, 1.477e12, 5.851e8, 2525),
)  # fmt: skip
def test_up_projection_of_llama_2_7b(batch, flops, nbytes, intensity):
    op = rl.gemm(batch, 11008, 4096, "fp16")
    assert op.flops == pytest.approx(flops, rel=5e-4)
    assert op.bytes == pytest.approx(nbytes, rel=5e-4)
    assert op.intensity == pytest.approx(intensity, rel=5e-4)


def test_backward_products_have_the_forward_ledger():
    m, n, k = 16384, 11008, 4096
    forward, x_grad, w_grad = (rl.gemm(*dims, "fp16") for dims in [(m, n, k), (m, k, n), (n, k, m)])
    assert forward.flops == x_grad.flops == w_grad.flops
    assert forward.bytes == x_grad.bytes == w_grad.bytes
    assert forward.intensity == pytest.approx(2525.1, abs=0.05)


def test_weight_gradient_kept_in_fp32_costs_intensity():
    written = rl.gemm(11008, 4096, 16384, "bf16", c="fp32")
    accumulated = rl.gemm(11008, 4096, 16384, "bf16", c="fp32", accumulate=True)
    assert written.intensity == pytest.approx(2187.9, abs=0.05)
    assert accumulated.intensity == pytest.approx(1726.7, abs=0.05)
    assert written.compute_dtype == accumulated.compute_dtype == "bf16"


def test_bias_add_is_neither_axpy_nor_vector_add():
    bias = rl.elementwise("add", (4096, 4096), inputs={"a": (4096, 4096), "bias": (4096,)})
    assert round(bias.intensity, 5) == 0.12498
    assert rl.elementwise("add", 4096).intensity == 1 / 12


def test_relu_of_halves_is_a_quarter():
    assert rl.elementwise("relu", 10**6, "fp16").intensity == 0.25  # NVIDIA, performance guide


def test_three_by_three_max_pooling_of_halves():
    """NVIDIA's guide prints 2.25 for unit stride: 9 FLOP a window over one read and one write."""
    op = rl.pool2d(1, 56, 56, 64, 3, "fp16", stride=1, padding=1, convention="nvidia")
    assert op.intensity == 2.25


@each_row(
    (57, 2, 1, 602_112, 1_634_560, 0.368),
    (58, 3, 1, 1_605_632, 1_664_000, 0.965),
    (56, 2, 2, 150_528, 1_003_520, 0.15),
)
def test_max_pooling_of_64_channels(size, kernel, stride, flops, nbytes, intensity):
    op = rl.pool2d(1, size, size, 64, kernel, stride=stride)
    assert (op.flops, op.bytes) == (flops, nbytes)
    assert op.intensity == pytest.approx(intensity, abs=5e-4)


def test_convolution_of_a_resnet_block():
    op = rl.conv2d(1, 58, 58, 64, 64, 3)
    assert (op.flops, op.bytes) == (231_211_008, 1_811_456)
    assert op.intensity == pytest.approx(127.6, abs=0.05)


def test_sin_then_sqrt_fused_moves_half_the_bytes():
    ops = (
        rl.elementwise("sin", 10**6, output="y"),
        rl.elementwise("sqrt", 10**6, inputs=("y",), output="z"),
    )
    apart, together = rl.chain(*ops), rl.chain(*ops, fused=True)
    assert (apart.bytes, together.bytes) == (16 * 10**6, 8 * 10**6)
    assert (apart.intensity, together.intensity) == (0.125, 0.25)


def test_fused_query_key_value_projection():
    """One product three times as wide reads the activations once instead of three times."""
    for m, three, one in [(4096, 1365, 1755), (16, 15.88, 15.92)]:
        assert rl.gemm(m, 4096, 4096, "bf16").intensity == pytest.approx(three, rel=5e-4)
        assert rl.gemm(m, 3 * 4096, 4096, "bf16").intensity == pytest.approx(one, rel=5e-4)


def test_gpt2_matrix_weights_are_half_the_flops_of_a_token():
    layer = [(2304, 768), (768, 768), (3072, 768), (768, 3072)]
    flops = 12 * sum(rl.gemv(*shape).flops for shape in layer) + rl.gemv(50257, 768).flops
    assert flops == 2 * 123_532_032


def test_resnet_50_is_eight_gigaflop_not_four():
    """4 089 184 256 multiply-adds (stride in the 3×3); many tables print those as FLOP."""
    flops = rl.conv2d(1, 224, 224, 3, 64, 7, stride=2, padding=3).flops
    flops += rl.gemv(1000, 2048).flops
    c_in, size = 64, 56
    for blocks, width, stride in [(3, 64, 1), (4, 128, 2), (6, 256, 2), (3, 512, 2)]:
        for block in range(blocks):
            step = stride if block == 0 else 1
            flops += rl.conv2d(1, size, size, c_in, width, 1).flops
            flops += rl.conv2d(1, size, size, width, width, 3, stride=step, padding=1).flops
            if block == 0:
                flops += rl.conv2d(1, size, size, c_in, 4 * width, 1, stride=step).flops
            size //= step
            flops += rl.conv2d(1, size, size, width, 4 * width, 1).flops
            c_in = 4 * width
    assert flops == 2 * 4_089_184_256

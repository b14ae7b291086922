"""What has no kernel is refused with the reason, and with the way to bring one."""

from __future__ import annotations

import numpy as np
import pytest

import rooflab.count as rl
from rooflab.measure.backend import Backend
from rooflab.measure.kernels import kernel_for
from tests.support.rows import each_row

CPU = Backend("cpu", np, "a test")


@each_row(
    (rl.gemm(4, 4, 4, "bf16"), "fp32 and fp64 only, not for bf16"),
    (rl.gemm(4, 4, 4, "fp32", compute="tf32"), "not for fp32 with tf32"),
    (rl.axpy(4, "fp8"), "not for fp8_e4m3"),
    (rl.gemm(4, 4, 4, a="fp64"), "not for fp32 with fp64"),
)
def test_the_cpu_refuses_what_its_blas_lacks(op, reason):
    with pytest.raises(ValueError, match=reason) as raised:
        kernel_for(op, CPU)
    assert "pass run=" in str(raised.value) and op.label in str(raised.value)


@each_row(
    (rl.gemm(4, 4, 4, "int8"), "wraps its sums at 8 bits"),
    (rl.gemm(4, 4, 4, "fp8"), "no fp8_e4m3 arithmetic"),
    (rl.gemm(4, 4, 4, "nvfp4"), "no nvfp4 arithmetic"),
    (rl.gemm(4, 4, 4, "fp16", accumulate=True), "adds to its output"),
    (rl.gemm(4, 4, 4, "fp16", c="fp32"), "fp16 with fp32"),
    (rl.gemv(4, 4, "tf32"), "only products of matrices"),
)
def test_the_gpu_refuses_what_cupy_lacks(op, reason, fake):
    with pytest.raises(ValueError, match=reason) as raised:
        kernel_for(op, Backend("gpu", fake, "a test"))
    assert "pass run=" in str(raised.value)


@each_row(
    rl.elementwise("relu", 8), rl.pool2d(1, 8, 8, 1, 2), rl.conv2d(1, 8, 8, 3, 4, 3),
    rl.chain(rl.scale(8), rl.axpy(8)),
)  # fmt: skip
@each_row(False, True)
def test_operations_without_a_routine_say_how_to_bring_one(gpu, op, fake):
    with pytest.raises(ValueError, match="no default kernel for .*pass run=, a function of"):
        kernel_for(op, Backend("gpu", fake, "a test") if gpu else CPU)


def test_sizes_beyond_32_bits_are_refused_before_they_wrap():
    with pytest.raises(ValueError, match="above 2147483647"):
        kernel_for(rl.axpy(2**31), CPU)


def test_run_must_be_callable():
    with pytest.raises(TypeError, match="run=3 is a int; it must be callable"):
        kernel_for(rl.axpy(4), CPU, 3)

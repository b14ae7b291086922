"""On a real GPU with CuPy: the kernels, the clock and the description. Skipped elsewhere."""

from __future__ import annotations

import json

import numpy as np
import pytest

import rooflab.count as rl
from rooflab.measure.backend import probe_gpu, select
from rooflab.measure.kernels import kernel_for
from rooflab.measure.measure import measure
from rooflab.measure.operands import OperandsTooLarge, make
from tests.support.rows import each_row

_CUPY, _REASON = probe_gpu()
pytestmark = [pytest.mark.gpu, pytest.mark.skipif(_CUPY is None, reason=_REASON)]

DTYPES = ("fp64", "fp32", "fp16", "bf16")
ROUTINES = [(rl.axpy, (100_003,)), (rl.dot, (100_003,)), (rl.scale, (100_003,)),
            (rl.ger, (300, 200)), (rl.gemv, (300, 200)), (rl.gemm, (300, 200, 104))]  # fmt: skip


@each_row("cold", "warm")
@each_row(*DTYPES)
@each_row(*ROUTINES)
def test_every_routine_is_right_and_timed(operation, sizes, dtype, cache):
    """measure() checks the result against fp64 before it times."""
    found = measure(operation(*sizes, dtype), backend="gpu", cache=cache)
    assert found.backend == "gpu" and len(found.samples) >= 3 and min(found.samples) > 0
    assert found.environment["gpu"]["name"] == select("gpu").device
    json.dumps(found.to_dict())


@each_row(*DTYPES)
@each_row(((),), (("a",),), (("b",),), (("a", "b"),))
def test_batches(shared, dtype):
    measure(rl.gemm(64, 48, 32, dtype, batch=5, shared=shared), backend="gpu", samples=3)


@each_row(*DTYPES)
def test_vectors_that_share_a_matrix(dtype):
    measure(rl.gemv(64, 48, dtype, batch=5, shared="a"), backend="gpu", samples=3)


@each_row("fp64", "fp32")
@each_row(((),), (("a",),), (("b",),), (("c",),))
def test_adding_to_the_output(shared, dtype):
    op = rl.gemm(64, 48, 32, dtype, batch=5, shared=shared, accumulate=True)
    measure(op, backend="gpu", samples=3)


def test_a_large_product_is_right_and_a_spoilt_one_is_not():
    op = rl.gemm(2048, 2048, 2048, "fp16")
    measure(op, backend="gpu", samples=3)

    def spoilt(a, b, c):
        _CUPY.matmul(a, b, out=c)
        c[1500, 1200] += 8

    with pytest.raises(ValueError, match=r"c\[1500, 1200\] is"):
        measure(op, spoilt, backend="gpu")


def test_tf32_rounds_its_inputs_and_fp32_does_not():
    backend = select("gpu")
    if int(_CUPY.cuda.Device().compute_capability) < 80:
        pytest.skip("tf32 needs compute capability 8.0")
    errors = {}
    for dtype in ("tf32", "fp32"):
        op = rl.gemm(512, 512, 512, dtype)
        a, b, c = operands = make(op, backend)
        kernel_for(op, backend).bind(operands)()
        exact = _CUPY.asnumpy(a).astype(float) @ _CUPY.asnumpy(b).astype(float)
        errors[dtype] = np.abs(_CUPY.asnumpy(c) - exact).max()
    assert errors["tf32"] > 20 * errors["fp32"]


def test_a_raw_kernel_can_be_measured():
    code = r"""
    extern "C" __global__ void saxpy(const float* x, float* y, int n) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i < n) y[i] += 2.0f * x[i];
    }"""
    kernel = _CUPY.RawKernel(code, "saxpy")

    def run(x, y):
        kernel(((x.size + 255) // 256,), (256,), (x, y, np.int32(x.size)))

    assert measure(rl.axpy(1 << 20), run, backend="gpu").environment["kernel"] == "run: run"


def test_more_than_the_gpu_holds_is_refused():
    with pytest.raises(OperandsTooLarge, match="GPU memory"):
        measure(rl.gemm(10**6, 10**6, 10**6), backend="gpu")

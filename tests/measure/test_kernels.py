"""Kernels really compute the operation, in place and without copies; what cannot is refused."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import rooflab.count as rl
from rooflab.measure import verify
from rooflab.measure.backend import Backend
from rooflab.measure.kernels import ALPHA, SCALE, kernel_for
from rooflab.measure.operands import make
from rooflab.measure.verify import prepare, verdict
from rooflab.predict.estimate import one_product, overhead
from rooflab.predict.machine import Machine
from tests.support.fake_cupy import FakeCupy
from tests.support.rows import each_row

CPU = Backend("cpu", np, "a test")


def on_gpu(fake: FakeCupy) -> Backend:
    return Backend("gpu", fake, "a test", "Stand-in GPU")


def computed(op: rl.Operation, backend: Backend):
    """Run the default kernel once; return (operands before, operands after, what it returned)."""
    operands = make(op, backend)
    old = [array.copy() for array in operands]
    before = prepare(op, operands)
    kernel = kernel_for(op, backend)
    returned = kernel.bind(operands)()
    assert verdict(op, backend, operands, before, returned if kernel.returns else None) is None
    return old, operands, returned


def on_host(found, backend: Backend):
    """What computed() returned, with NumPy's arrays."""
    old, after, returned = found
    return [backend.to_numpy(a) for a in old], [backend.to_numpy(a) for a in after], returned


def close(found, expected, dtype="fp32"):
    eps = {"fp64": 1e-13, "fp32": 1e-5, "fp16": 2e-2, "bf16": 1e-1}[dtype]
    np.testing.assert_allclose(
        np.asarray(found, float), np.asarray(expected, float), rtol=eps, atol=eps
    )


PLAIN = [
    rl.axpy(1000), rl.dot(1000), rl.scale(1000), rl.ger(30, 20), rl.gemv(30, 20),
    rl.gemm(30, 20, 10), rl.gemv(30, 20, accumulate=True), rl.gemm(30, 20, 10, accumulate=True),
    rl.gemm(1, 7, 5), rl.gemm(6, 1, 5), rl.gemv(1, 9), rl.gemv(9, 1), rl.axpy(1),
]  # fmt: skip
BATCHED = [
    rl.gemv(6, 5, batch=4), rl.gemv(6, 5, batch=4, shared="a"), rl.gemv(6, 5, batch=4, shared="x"),
    rl.gemv(6, 5, batch=4, shared=("a", "x")), rl.gemv(6, 5, batch=4, shared="a", accumulate=True),
    rl.gemm(6, 5, 3, batch=4), rl.gemm(6, 5, 3, batch=4, shared="a"),
    rl.gemm(6, 5, 3, batch=4, shared="b"), rl.gemm(6, 5, 3, batch=4, shared=("a", "b")),
    rl.gemm(6, 5, 3, batch=4, shared="a", accumulate=True),
    rl.gemm(6, 5, 3, batch=4, shared="b", accumulate=True),
    rl.gemm(6, 5, 3, batch=4, accumulate=True),
]  # fmt: skip


def test_blas_level_one_as_defined():
    (x, y), (_, after), _ = computed(rl.axpy(1000), CPU)
    close(after, ALPHA * x + y)
    (x,), (after,), _ = computed(rl.scale(1000, "fp64"), CPU)
    close(after, SCALE * x, "fp64")
    (x, y, _), _, found = computed(rl.dot(1000), CPU)
    assert found == pytest.approx(float(x.astype(float) @ y.astype(float)), rel=1e-5)


def test_blas_level_two_and_three_as_defined():
    (a, x, y), (after, *_), _ = computed(rl.ger(30, 20, "fp64"), CPU)
    close(after, a + np.outer(x, y), "fp64")
    (a, x, y), (*_, after), _ = computed(rl.gemv(30, 20, "fp64", accumulate=True), CPU)
    close(after, a @ x + y, "fp64")
    (a, b, _), (*_, after), _ = computed(rl.gemm(30, 20, 10, "fp64"), CPU)
    close(after, a @ b, "fp64")


@each_row(*PLAIN)
@each_row("fp32", "fp64")
def test_the_output_shares_memory_with_its_operand(dtype, op):
    """scipy copies silently what it cannot use in place (C order, other dtype, no overwrite)."""
    same = {"accumulate": True} if op.accumulate else {}
    op = getattr(rl, op.name)(*op.dims.values(), dtype, **same)
    operands = make(op, CPU)
    returned = kernel_for(op, CPU).bind(operands)()
    if op.name == "dot":
        assert isinstance(returned, float)
        return
    output = next(a for o, a in zip(op.operands, operands, strict=True) if o.writes)
    assert np.shares_memory(returned, output) and returned.shape == output.shape


@each_row(*BATCHED)
def test_batches_on_the_gpu(op, fake):
    backend = on_gpu(fake)
    (a, b, c), (*_, after), _ = on_host(computed(op, backend), backend)
    if op.name == "gemv":
        expected = (np.broadcast_to(a, (4, 6, 5)) @ np.broadcast_to(b, (4, 5))[..., None])[..., 0]
    else:
        expected = np.broadcast_to(a, (4, 6, 3)) @ np.broadcast_to(b, (4, 3, 5))
    close(after, expected + (c if op.accumulate else 0))


@each_row(False, True)
@each_row("cpu", "gpu")
def test_a_shared_output_is_the_sum_of_the_batch(backend, accumulate, fake):
    op = rl.gemm(6, 5, 3, "fp64", batch=4, shared="c", accumulate=accumulate)
    chosen = CPU if backend == "cpu" else on_gpu(fake)
    (a, b, c), (*_, after), _ = on_host(computed(op, chosen), chosen)
    close(after, (a @ b).sum(axis=0) + (c if accumulate else 0), "fp64")


def test_vectors_that_share_a_matrix_are_one_gemm(fake):
    op = rl.gemv(6, 5, batch=4, shared="a")
    assert kernel_for(op, CPU).name == "scipy.linalg.blas.sgemm"
    computed(op, on_gpu(fake))
    assert fake.log == ["gemm float32"]


def test_products_with_a_shared_factor_are_one_call_where_the_layout_allows(fake):
    computed(rl.gemm(6, 5, 3, batch=4, shared="b"), on_gpu(fake))
    assert fake.log == ["gemm float32"]
    one = kernel_for(rl.gemm(6, 5, 3, batch=4, shared="a"), CPU)
    operands = make(rl.gemm(6, 5, 3, batch=4, shared="a"), CPU)
    assert one.bind(operands)().shape == (6, 20)


GEMM, GEMV = partial(rl.gemm, 6, 5, 3), partial(rl.gemv, 6, 5)


@each_row((GEMM, ()), (GEMM, "a"), (GEMM, "b"), (GEMV, ()), (GEMV, "a"), (GEMV, "x"))
@each_row("fp32", "fp16")
def test_a_batch_is_charged_as_many_calls_as_it_launches(dtype, of, shared, fake):
    fake.log.clear()
    op = of(dtype, batch=7, shared=shared)
    computed(op, on_gpu(fake))
    calls = 1 if one_product(op, "gpu") else op.batch
    assert len(fake.log) == calls
    known = {"overhead_s": 1.0, "cold_overhead_s": 1.0, "points": []}
    routines = {f"{name}/{dtype}": known for name in ("gemm", "gemv")}
    m = Machine("one", backend="gpu", routines=routines)
    assert overhead(op, m) == calls


@each_row(*PLAIN)
@each_row("fp32", "fp64")
def test_gpu_makes_one_launch_of_the_right_routine(dtype, op, fake):
    fake.log.clear()
    same = {"accumulate": True} if op.accumulate else {}
    op = getattr(rl, op.name)(*op.dims.values(), dtype, **same)
    computed(op, on_gpu(fake))
    routine = {"scale": "scal"}.get(op.name, op.name)
    assert fake.log == [f"{routine} float{dtype[2:]}"]


@each_row("fp16", "bf16")
@each_row(rl.axpy(99), rl.dot(99), rl.scale(99), rl.ger(6, 5), rl.gemv(6, 5), rl.gemm(6, 5, 3))
def test_gpu_halves_compute_in_fp32(op, dtype, fake):
    fake.log.clear()
    op = getattr(rl, op.name)(*op.dims.values(), dtype)
    computed(op, on_gpu(fake))
    assert len(fake.log) == 1


def test_gpu_tf32_is_cublas_math_mode_for_the_call_only(fake):
    computed(rl.gemm(6, 5, 3, "tf32"), on_gpu(fake))
    computed(rl.gemm(6, 5, 3, "fp32", compute="tf32"), on_gpu(fake))
    computed(rl.gemm(6, 5, 3, "fp32"), on_gpu(fake))
    assert fake.log == ["gemm tf32", "gemm tf32", "gemm float32"]
    assert fake.math_mode == 0


sizes = st.integers(1, 24)


@settings(max_examples=40)
@given(m=sizes, n=sizes, k=sizes, batch=st.integers(1, 4), accumulate=st.booleans(),
       shared=st.sets(st.sampled_from("abc")), dtype=st.sampled_from(["fp32", "fp64"]))  # fmt: skip
@example(m=9, n=15, k=1, batch=3, accumulate=True, shared={"a", "b", "c"}, dtype="fp32")
def test_gemm_of_any_shape_batch_and_sharing_is_right(m, n, k, batch, accumulate, shared, dtype):
    """... and the reference lets it pass: sums stored in between are rounded more often."""
    computed(rl.gemm(m, n, k, dtype, batch=batch, shared=shared, accumulate=accumulate), CPU)


@settings(max_examples=40)
@given(m=sizes, n=sizes, k=sizes, batch=st.integers(1, 3), accumulate=st.booleans())
def test_row_by_row_comparison_lets_right_products_pass(m, n, k, batch, accumulate):
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(verify, "WHOLE", 1)  # as if every product were large
        computed(rl.gemm(m, n, k, batch=batch, accumulate=accumulate), CPU)
        shared = rl.gemm(m, n, k, batch=batch, shared="c", accumulate=accumulate)
        computed(shared, CPU)


@settings(max_examples=40)
@given(m=sizes, n=sizes, batch=st.integers(1, 4), accumulate=st.booleans(),
       shared=st.sets(st.sampled_from("ax")), dtype=st.sampled_from(["fp32", "fp64"]))  # fmt: skip
def test_gemv_of_any_shape_batch_and_sharing_is_right(m, n, batch, accumulate, shared, dtype):
    computed(rl.gemv(m, n, dtype, batch=batch, shared=shared, accumulate=accumulate), CPU)


def test_the_matrix_that_vectors_share_lies_by_rows():
    """As the weights of a linear layer do: libraries are quicker on it than by columns."""
    op = rl.gemv(30, 20, batch=3, shared="a")
    a, x, y = make(op, CPU)
    assert a.flags.c_contiguous and x.shape == (3, 20) and y.shape == (3, 30)
    kernel_for(op, CPU).bind((a, x, y))()
    np.testing.assert_allclose(y, x @ a.T, rtol=1e-5, atol=1e-5)


# What has no kernel is refused with the reason, and with the way to bring one.


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

"""cuBLAS's routines and kernels of one's own: values against NumPy, and what is logged."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rooflab.labs.cuda import StandIn
from rooflab.labs.cuda.user_kernels import CUDADriverError
from tests.labs.cuda.conftest import DEVICE
from tests.support.rows import each_row

KINDS = st.sampled_from([np.float32, np.float64])
SIDES = st.integers(1, 5)
ALPHAS = st.sampled_from([1.0, 0.0, -1.0, 0.5, 2, np.array(3.0)])
CONSTANT = st.tuples(st.booleans(), st.booleans(), st.booleans())
TURNS = st.sampled_from(["N", "T", "H", 0, 1, 2])


def filled(cp, shape, kind, constant: bool, seed: int):
    values = np.random.default_rng(seed).integers(-3, 4, shape).astype(kind)
    if constant:
        values = np.full(shape, seed - 1.5, kind)
        return cp.full(shape, seed - 1.5, dtype=kind), values
    return cp.asarray(values), values


def last(cp, kernel: str, flops: int, numbers: int, kind) -> None:
    """The last launch is that kernel of cuBLAS, and moves so many numbers."""
    entry = [e for e in cp.gpu.log if e["what"] == "launch"][-1]
    moved = np.dtype(kind).itemsize * numbers
    assert (entry["kernel"], entry["library"]) == (kernel, "cublas")
    assert (entry["flops"], entry["bytes"]) == (flops, moved)


@given(SIDES, SIDES, SIDES, KINDS, CONSTANT, ALPHAS, ALPHAS, TURNS, TURNS, st.booleans())
def test_gemm_is_alpha_op_a_op_b_plus_beta_out(
    m, n, k, kind, constant, alpha, beta, ta, tb, given_out
):
    cp = StandIn(DEVICE)
    a, left = filled(cp, (m, k) if ta in ("N", 0) else (k, m), kind, constant[0], 0)
    b, other = filled(cp, (k, n) if tb in ("N", 0) else (n, k), kind, constant[1], 1)
    out, old = filled(cp, (m, n), kind, constant[2], 2)
    left, other = left if ta in ("N", 0) else left.T, other if tb in ("N", 0) else other.T
    expected = alpha * left @ other + (beta * old if given_out else 0)
    more = {"out": out} if given_out else {}
    made = cp.cublas.gemm(ta, tb, a, b, alpha=alpha, beta=beta, **more)
    assert made.dtype == kind and (made is out) is given_out
    np.testing.assert_array_equal(made.get(), expected.astype(kind))
    written = 2 if given_out and beta else 1
    last(cp, "gemm", 2 * m * n * k, m * k + k * n + written * m * n, kind)


@given(SIDES, SIDES, KINDS, CONSTANT, ALPHAS, ALPHAS, TURNS)
def test_routines_on_vectors_are_those_of_blas(m, n, kind, constant, alpha, beta, trans):
    cp = StandIn(DEVICE)
    a, matrix = filled(cp, (m, n), kind, constant[0], 0)
    left = matrix if trans in ("N", 0) else matrix.T
    x, right_x = filled(cp, left.shape[1:], kind, constant[1], 1)
    y, right_y = filled(cp, left.shape[:1], kind, constant[2], 2)
    cp.cublas.gemv(trans, alpha, a, x, beta, y)
    expected = (alpha * left @ right_x + beta * right_y).astype(kind)
    np.testing.assert_array_equal(y.get(), expected)
    last(cp, "gemv", 2 * m * n, m * n + x.size + y.size * (2 if beta else 1), kind)
    z, right_z = filled(cp, x.shape, kind, constant[0], 2)
    assert cp.cublas.axpy(alpha, x, z) is None
    np.testing.assert_array_equal(z.get(), right_z + kind(alpha) * right_x)
    last(cp, "axpy", 2 * x.size, 3 * x.size, kind)
    total = cp.cublas.dot(x, z)
    assert total.shape == () and total.dtype == kind
    np.testing.assert_allclose(total.get(), np.dot(x.get(), z.get()))
    assert cp.cublas.dot(x, z, out=total) is total
    cp.cublas.scal(alpha, x)
    np.testing.assert_array_equal(x.get(), kind(alpha) * right_x)
    last(cp, "scal", x.size, 2 * x.size, kind)
    v, right_v = filled(cp, (m,), kind, constant[1], 3)
    w, right_w = filled(cp, (n,), kind, constant[2], 4)
    cp.cublas.ger(alpha, v, w, a)
    np.testing.assert_array_equal(a.get(), matrix + kind(alpha) * np.outer(right_v, right_w))
    last(cp, "ger", 2 * m * n, m + n + 2 * m * n, kind)


@given(
    st.sampled_from([(3,), (2, 3), (3, 2), (4, 2, 3), (2, 0)]),
    st.sampled_from([(3,), (3, 4), (2, 3), (1, 3, 2), (0, 3)]),
    st.sampled_from([np.float32, np.float64, np.int8]), st.booleans(),
)  # fmt: skip
def test_a_product_has_numpys_shape_and_values_or_numpys_refusal(left, right, kind, equal):
    cp = StandIn(DEVICE)
    a, mine = filled(cp, left, kind, equal, 0)
    b, other = filled(cp, right, kind, equal, 3)
    ways = [lambda: a @ b, lambda: cp.matmul(a, b), lambda: np.matmul(a, b)]
    ways += [lambda: cp.dot(a, b), lambda: a.dot(b), lambda: np.dot(a, b)]
    try:
        expected = mine @ other
    except ValueError:
        for way in ways:
            with pytest.raises(ValueError, match="do not fit a product"):
                way()
        return
    for way in ways:
        made = way()
        assert made.shape == expected.shape and made.dtype == expected.dtype
        np.testing.assert_array_equal(made.get(), expected)
    into = cp.empty(expected.shape, dtype=kind)
    assert cp.matmul(a, b, out=into) is into
    np.testing.assert_array_equal(into.get(), expected)


@each_row(
    (lambda b, v, m: b.axpy(1, v, np.ones(3)), TypeError, "Unsupported type"),
    (lambda b, v, m: b.axpy(1, m, m), TypeError, r"x \(2, 3\) and y .* alike vectors"),
    (lambda b, v, m: b.axpy(1, v, v.astype("f4")), TypeError, "invalid dtype float32, float64"),
    (lambda b, v, m: b.gemv("N", 1, m, v[:2], 0, v), ValueError, "do not fit a product"),
    (lambda b, v, m: b.gemv("N", 1, m, v, 0, v), ValueError, r"out has shape \(3,\); \(2,\)"),
    (lambda b, v, m: b.gemv("N", 1, m, m, 0, m), ValueError, "a matrix and two vectors"),
    (lambda b, v, m: b.gemm("N", "N", m, v), ValueError, "two matrices are wanted"),
    (lambda b, v, m: b.gemm("N", "N", m, m), ValueError, r"\(2, 3\) and \(2, 3\) do not fit"),
    (lambda b, v, m: b.gemm("N", "T", m, m, out=m), ValueError, r"\(2, 2\) is wanted"),
    (lambda b, v, m: b.gemm("N", "t", m, m), TypeError, r"invalid trans \(actual: t\)"),
    (lambda b, v, m: b.gemm("N", "T", m, m[:, ::2]), NotImplementedError, "CuPy would copy"),
    (lambda b, v, m: b.ger(1, v, v, m), ValueError, "do not make"),
    (lambda b, v, m: b.scal(2, 3.0), TypeError, "Unsupported type <class 'float'>"),
    (lambda b, v, m: b.scal(v.sum(), v), NotImplementedError, "scales by numbers only"),
    (lambda b, v, m: b.dot(v, v[:2]), ValueError, "do not fit a product"),
    (lambda b, v, m: b.scal(2, v.astype("float16")), TypeError, "invalid dtype float16"),
    (lambda b, v, m: b.dot(v.astype("int32"), v.astype("int32")), TypeError, "invalid dtype int32"),
    (lambda b, v, m: m @ m.T.astype("f4"), NotImplementedError, "of one dtype"),
    (lambda b, v, m: m.astype("float16")[None] @ m.T.astype("float16"), TypeError, "of halves"),
)
def test_operands_that_do_not_fit_are_named_and_nothing_runs(use, error, told, cp):
    vector, matrix = cp.full(3, 2.0), cp.full((2, 3), 1.0)
    with pytest.raises(error, match=told):
        use(cp.cublas, vector, matrix)
    ran = {e["kernel"] for e in cp.gpu.log if e["what"] == "launch"}
    assert ran <= {"fill", "copy", "sum"}  # of full(), astype() and sum()


# Kernels of one's own.


@each_row(np.float32, np.float64)
@each_row(False, True)
@each_row(
    ("y = a * x + y", 2, 4), ("y += a * x", 2, 4), ("y = (x - z) / -a;", 2, 3),
    (" y=0.5*x ", 1, 3), ("y *= y", 1, 4), ("y = x", 0, 3),
)  # fmt: skip
def test_a_small_kernel_computes_and_is_logged_as_its_text_says(text, flops, moved, constant, kind):
    cp = StandIn(DEVICE)
    (x, right_x), (z, right_z), (y, right_y) = (
        filled(cp, (4,), kind, constant, seed) for seed in (1, 3, 4)
    )
    names = {"x": right_x, "z": right_z, "y": right_y.copy(), "a": kind(2)}
    exec(text.strip(), {}, names)
    assert cp.ElementwiseKernel("T x, T z, T a", "T y", text, "mine")(x, z, 2, y) is y
    np.testing.assert_array_equal(y.get(), names["y"])
    (entry,) = [e for e in cp.gpu.log if e["what"] == "launch" and e["kernel"] == "mine"]
    assert (entry["flops"], entry["bytes"]) == (4 * flops, moved * x.nbytes)
    made = cp.ElementwiseKernel("T x, T z", "T y", "y = x - z")(x, z)
    np.testing.assert_array_equal(made.get(), right_x - right_z)


@each_row(
    "y = sqrt(x)", "y = x ** 2", "y = x[0]", "y = x > 0", "y = x.real", "y = x; y = x", "y[0] = x",
    "import os", "", "y = ", "x = y", "y = x * w", "y = 2f * x",
)  # fmt: skip
def test_more_than_one_assignment_of_plain_arithmetic_is_refused(text, cp):
    with pytest.raises(NotImplementedError, match="this stand-in runs one assignment"):
        cp.ElementwiseKernel("T x", "T y", text, "k")


def test_a_small_kernel_takes_arrays_of_the_gpu_that_fit(cp):
    kernel, row = cp.ElementwiseKernel("T x, T z", "T y", "y = x + z", "k"), cp.arange(3.0)
    assert kernel(row, cp.ones((2, 3))).get().tolist() == [[1, 2, 3]] * 2
    for args, error, told in (
        ((row, cp.arange(4.0)), ValueError, "shape mismatch"),
        ((row, row, cp.empty(1)), ValueError, r"out has shape \(1,\); \(3,\) is wanted"),
        ((row, np.ones(3)), TypeError, "Unsupported type"), ((row,), TypeError, "'k' takes"),
        ((1.0, 2.0), TypeError, "an array among them"), ((row, row, 1.0), TypeError, "Unsupported"),
    ):  # fmt: skip
        with pytest.raises(error, match=told):
            kernel(*args)


MINE = 'extern "C" __global__ void mine(float* x, int n) {} __global__ void empty() {}'


def test_launches_of_cuda_kernels_are_logged_and_do_what_is_said_of_them(cp):
    x, launches = cp.zeros(8, dtype=cp.float32), []

    def effect(launch):
        launches.append(launch)
        launch.args[0][: launch.args[1]] += float(launch.macros.get("BY", 2))
        return 1e-3

    cp.kernels["mine"] = effect
    stream = cp.cuda.Stream(non_blocking=True)
    module = cp.RawModule(code=MINE, options=("-DBY=2", "-lineinfo"))
    with stream:
        module.get_function("mine")((2, 3), (32,), (x[2:], np.int32(4)))
    assert x.get().tolist() == [0, 0, 2, 2, 2, 2, 0, 0]
    entry = [e for e in cp.gpu.log if e["what"] == "launch"][-1]
    assert (entry["kernel"], entry["stream"]) == ("mine", stream.ptr)
    assert entry["end"] - entry["begin"] == pytest.approx(1e-3)
    assert (launches[0].threads, launches[0].grid) == (192, (2, 3))
    cp.RawModule(path="a.cubin").get_function("mine")((1,), (1,), (x, np.int32(1)))
    assert x[0].item() == 2 and cp.gpu.log[-2]["kernel"] == "mine"
    cp.RawKernel(MINE, "empty")((1,), (1,), ())  # it has nothing that it could write
    assert cp.gpu.log[-1]["kernel"] == "empty"


@each_row(
    (lambda cp, k: k((1,), (32,), (cp.zeros(4), 4)), NotImplementedError, "compiles no CUDA"),
    (lambda cp, k: k((1,), (32,), (np.zeros(4), 4)), TypeError, "Unsupported type"),
    (lambda cp, k: k((1,), (2048,), ()), CUDADriverError, "INVALID_VALUE"),
    (lambda cp, k: k((0,), (1,), ()), CUDADriverError, "INVALID_VALUE"),
    (lambda cp, k: k((1, 1, 1, 1), (1,), ()), CUDADriverError, "INVALID_VALUE"),
    (lambda cp, k: cp.RawKernel(MINE, "none")((1,), (1,), ()), CUDADriverError, "NOT_FOUND"),
    (lambda cp, k: cp.RawKernel(MINE, "mine", ["-O3"]), TypeError, "must be a tuple"),
)
def test_what_cuda_would_not_launch_is_refused(use, error, told, cp):
    with pytest.raises(error, match=told):
        use(cp, cp.RawKernel(MINE, "mine"))

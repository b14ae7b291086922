"""cuBLAS's routines and ElementwiseKernel: values against NumPy, and what is logged."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rooflab.labs.cuda import StandIn
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
    (lambda b, v, m: b.axpy(1, v, v[:2]), ValueError, r"out has shape \(2,\); \(3,\) is wanted"),
    (lambda b, v, m: b.axpy(1, v, v.astype("f4")), TypeError, "invalid dtype float32, float64"),
    (lambda b, v, m: b.gemv("N", 1, m, v[:2], 0, v), ValueError, "do not fit a product"),
    (lambda b, v, m: b.gemv("N", 1, m, v, 0, v), ValueError, r"out has shape \(3,\); \(2,\)"),
    (lambda b, v, m: b.gemm("N", "N", m, m), ValueError, r"\(2, 3\) and \(2, 3\) do not fit"),
    (lambda b, v, m: b.gemm("N", "T", m, m, out=m), ValueError, r"\(2, 2\) is wanted"),
    (lambda b, v, m: b.gemm("N", "t", m, m), TypeError, r"invalid trans \(actual: t\)"),
    (lambda b, v, m: b.gemm("N", "T", m, m[:, ::2]), NotImplementedError, "CuPy would copy"),
    (lambda b, v, m: b.ger(1, v, v, m), ValueError, r"out has shape \(2, 3\); \(3, 3\)"),
    (lambda b, v, m: b.scal(2, 3.0), TypeError, "Unsupported type <class 'float'>"),
    (lambda b, v, m: b.scal(v.sum(), v), TypeError, "Implicit conversion"),
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
    "y = sqrt(x)", "y = x ** 2", "y = x[0]", "y = x > 0", "y = x; y = x", "y[0] = x", "import os",
    "", "x = y", "y = x * w",
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
        ((row, np.ones(3)), TypeError, "Unsupported type"),
        ((row, row, 1.0), TypeError, "Unsupported type"),
    ):  # fmt: skip
        with pytest.raises(error, match=told):
            kernel(*args)

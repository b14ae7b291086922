"""Kernels of one's own and cuBLAS's routines: values against NumPy, and what they are said to do.

``cp.ElementwiseKernel`` gets random expressions, which Python computes with NumPy's arrays.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, reject
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from rooflab.labs.cuda import StandIn
from tests.labs.cuda.conftest import DEVICE
from tests.support.rows import each_row

KINDS = st.sampled_from([np.float32, np.float64])
SIDES = st.integers(1, 5)


# Expressions of + − * /, of parentheses and signs, of names and numbers.

LEAVES = st.sampled_from(["a", "x", "z", "y", "2.0", "0.5", "3.0"])
EXPRESSIONS = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["+", "-", "*", "/"]), inner).map(
            lambda t: f"({t[0]} {t[1]} {t[2]})"
        ),
        inner.map(lambda one: f"(-{one})"),
    ),
    max_leaves=8,
)
WRITTEN = st.sampled_from(["y = {}", "y = {};", "  y={}  ", "y += {}", "y -= {};", "y *= {}"])


def operands(cp, kind, constant: bool):
    """x, z and y on the stand-in and the same for NumPy, of one number each or of several."""
    fixed = [np.full(4, v, kind) for v in (1.5, -2.0, 4.0)]
    varied = [np.array(v, kind) for v in ([1, 2, -3, 4], [5, 0.5, 1, -1], [2, 3, 5, 7])]
    theirs = fixed if constant else varied
    ours = [cp.full(4, v[0], dtype=kind) if constant else cp.asarray(v) for v in theirs]
    return ours, theirs


@given(EXPRESSIONS, WRITTEN, KINDS, st.booleans(), st.sampled_from([2.0, -0.25]))
def test_a_kernel_computes_what_its_expression_says(expression, written, kind, constant, a):
    cp, text = StandIn(DEVICE), written.format(expression)
    (x, z, y), (right_x, right_z, right_y) = operands(cp, kind, constant)
    kernel = cp.ElementwiseKernel("T a, T x, T z", "T y", text, "mine")
    names = {"a": kind(a), "x": right_x, "z": right_z, "y": right_y.copy()}
    with np.errstate(all="ignore"):
        try:
            exec(text.strip(), {}, names)
        except ZeroDivisionError:
            reject()  # a number divided by zero in the text itself
        assert kernel(a, x, z, y) is y
    right = np.broadcast_to(np.asarray(names["y"], kind), (4,))
    np.testing.assert_allclose(y.get(), right, rtol=1e-6)
    assert y.dtype == kind
    np.testing.assert_array_equal(x.get(), right_x)
    np.testing.assert_array_equal(z.get(), right_z)


@given(EXPRESSIONS, WRITTEN)
def test_a_kernel_is_logged_with_the_flops_and_bytes_of_its_text(expression, written):
    """A sign is no FLOP. Inputs are read even where the text does not use them, as a kernel's
    pointers are; the output is read where the text uses it."""
    cp, text = StandIn(DEVICE), written.format(expression)
    (x, z, y), _ = operands(cp, np.float32, constant=True)
    kernel = cp.ElementwiseKernel("T a, T x, T z", "T y", text, "mine")
    try:
        with np.errstate(all="ignore"):
            kernel(2.0, x, z, y)
    except ZeroDivisionError:
        reject()  # a number divided by zero in the text itself
    launch = cp.gpu.log[-1]
    in_place = written.strip()[2:4] in ("+=", "-=", "*=")
    signs = sum(expression.count(f" {sign} ") for sign in "+-*/") + in_place
    reads_y = in_place or "y" in expression
    assert launch["kernel"] == "mine" and launch["library"] == ""
    assert launch["flops"] == 4 * signs
    assert launch["bytes"] == 16 * (3 + reads_y)


def test_a_kernel_runs_on_the_current_stream_and_is_compiled_once(cp):
    kernel = cp.ElementwiseKernel("T x", "T y", "y = x + x", "twice")
    stream, x = cp.cuda.Stream(non_blocking=True), cp.ones(8)
    with stream:
        kernel(x), kernel(x)
    kernel(x)
    launches = [e for e in cp.gpu.log if e["what"] == "launch" and e["kernel"] == "twice"]
    assert [e["stream"] for e in launches] == [stream.ptr, stream.ptr, 0]
    assert [e["setup"] for e in launches] == [True, False, False]


@each_row(
    ("y = sqrt(x)", NotImplementedError, r"knows \+ - \* / only, not all of 'y = sqrt\(x\)'"),
    ("y = x ** 2", NotImplementedError, "knows"), ("y **= x", NotImplementedError, "knows"),
    ("y = x[0]", NotImplementedError, "knows"), ("y = x > 0", NotImplementedError, "knows"),
    ("y = x if x else x", NotImplementedError, "knows"),
    ("y = (z := x)", NotImplementedError, "knows"), ("y = x.real", NotImplementedError, "knows"),
    ("y = [x]", NotImplementedError, "knows"),
    ("y = x; y = x", NotImplementedError, "one assignment is wanted"),
    ("y[0] = x", NotImplementedError, "one assignment is wanted"),
    ("import os", NotImplementedError, "one assignment is wanted"),
    ("", NotImplementedError, "one assignment is wanted"),
    ("y = ", NotImplementedError, "one assignment is wanted"),
    ("x = y", NotImplementedError, "one output and one assignment to it"),
    ("y = x * w", ValueError, "uses w, not a parameter"),
    ("y = q * x + p", ValueError, "uses p, q, not a parameter"),
)  # fmt: skip
def test_a_text_that_cannot_be_run_is_refused_before_it_runs(text, error, told, cp):
    with pytest.raises(error, match=told):
        cp.ElementwiseKernel("T x", "T y", text, "k")
    assert cp.gpu.log == []


def test_two_outputs_are_refused(cp):
    with pytest.raises(NotImplementedError, match="one output"):
        cp.ElementwiseKernel("T x", "T y, T z", "y = x", "k")


# cuBLAS's routines, and products.


def filled(cp, shape, kind, constant: bool, seed: int):
    values = np.random.default_rng(seed).integers(-3, 4, shape).astype(kind)
    if constant:
        values = np.full(shape, seed - 1.5, kind)
        return cp.full(shape, seed - 1.5, dtype=kind), values
    return cp.asarray(values), values


ALPHAS = st.sampled_from([1.0, 0.0, -1.0, 0.5, 2])


CONSTANT = st.tuples(st.booleans(), st.booleans(), st.booleans())


@given(SIDES, SIDES, SIDES, KINDS, CONSTANT, ALPHAS, ALPHAS, st.sampled_from("NTH"),
       st.sampled_from("NT"), st.booleans())  # fmt: skip
def test_gemm_is_alpha_op_a_op_b_plus_beta_out(
    m, n, k, kind, constant, alpha, beta, ta, tb, given_out
):
    cp = StandIn(DEVICE)
    a, right_a = filled(cp, (m, k) if ta == "N" else (k, m), kind, constant[0], 0)
    b, right_b = filled(cp, (k, n) if tb == "N" else (n, k), kind, constant[1], 1)
    out, right = filled(cp, (m, n), kind, constant[2], 2)
    left = right_a if ta == "N" else right_a.T
    expected = alpha * left @ (right_b if tb == "N" else right_b.T)
    if given_out:
        found = cp.cublas.gemm(ta, tb, a, b, out=out, alpha=alpha, beta=beta)
        assert found is out
        expected = expected + beta * right
    else:
        found = cp.cublas.gemm(ta, tb, a, b, alpha=alpha, beta=beta)
    assert found.dtype == kind and found.shape == (m, n)
    np.testing.assert_array_equal(found.get(), expected.astype(kind))
    launch = [e for e in cp.gpu.log if e["what"] == "launch"][-1]
    written = 2 if given_out and beta else 1
    assert (launch["kernel"], launch["library"]) == ("gemm", "cublas")
    assert launch["flops"] == 2 * m * n * k
    assert launch["bytes"] == np.dtype(kind).itemsize * (m * k + k * n + written * m * n)


@given(SIDES, SIDES, KINDS, CONSTANT, ALPHAS, ALPHAS, st.sampled_from("NT"))
def test_gemv_is_alpha_op_a_x_plus_beta_y(m, n, kind, constant, alpha, beta, trans):
    cp = StandIn(DEVICE)
    a, right_a = filled(cp, (m, n), kind, constant[0], 0)
    x, right_x = filled(cp, (n if trans == "N" else m,), kind, constant[1], 1)
    y, right_y = filled(cp, (m if trans == "N" else n,), kind, constant[2], 2)
    cp.cublas.gemv(trans, alpha, a, x, beta, y)
    left = right_a if trans == "N" else right_a.T
    np.testing.assert_array_equal(y.get(), (alpha * left @ right_x + beta * right_y).astype(kind))
    launch = [e for e in cp.gpu.log if e["what"] == "launch"][-1]
    assert (launch["kernel"], launch["flops"]) == ("gemv", 2 * m * n)
    moved = m * n + x.size + y.size * (2 if beta else 1)
    assert launch["bytes"] == np.dtype(kind).itemsize * moved


@given(st.integers(1, 9), KINDS, st.booleans(), st.booleans(), ALPHAS)
def test_axpy_scal_and_dot_are_those_of_blas(n, kind, constant_x, constant_y, a):
    cp = StandIn(DEVICE)
    x, right_x = filled(cp, (n,), kind, constant_x, 0)
    y, right_y = filled(cp, (n,), kind, constant_y, 1)
    size = np.dtype(kind).itemsize
    for work, flops, moved, expected, target in (
        (lambda: cp.cublas.axpy(a, x, y), 2 * n, 3 * n, right_y + kind(a) * right_x, y),
        (lambda: cp.cublas.scal(a, x), n, 2 * n, kind(a) * right_x, x),
    ):
        cp.gpu.log.clear()
        assert work() is None
        (launch,) = cp.gpu.log
        assert (launch["flops"], launch["bytes"]) == (flops, moved * size)
        np.testing.assert_array_equal(target.get(), expected)
    total = cp.cublas.dot(x, y)
    assert total.shape == () and total.dtype == kind
    np.testing.assert_allclose(total.get(), np.dot(x.get(), y.get()))
    assert cp.cublas.dot(x, y, out=total) is total


@given(st.sampled_from([(3,), (2, 3), (3, 2)]), st.sampled_from([(3,), (3, 4), (2, 3)]), KINDS)
def test_a_product_has_numpys_shape_and_values_or_numpys_refusal(left, right, kind):
    cp = StandIn(DEVICE)
    a, mine = filled(cp, left, kind, False, 0)
    b, other = filled(cp, right, kind, False, 1)
    ways = [lambda: a @ b, lambda: cp.matmul(a, b), lambda: cp.dot(a, b), lambda: a.dot(b),
            lambda: np.matmul(a, b), lambda: np.dot(a, b)]  # fmt: skip
    try:
        expected = mine @ other
    except ValueError:
        for way in ways:
            with pytest.raises(ValueError, match="do not fit a product"):
                way()
        return
    for way in ways:
        found = way()
        assert found.shape == expected.shape and found.dtype == expected.dtype
        np.testing.assert_array_equal(found.get(), expected)
        into = cp.empty(expected.shape, dtype=kind)
        assert cp.matmul(a, b, out=into) is into
        np.testing.assert_array_equal(into.get(), expected)


@given(arrays.array_shapes(min_dims=2, max_dims=2, max_side=4), KINDS)
def test_a_product_of_views_is_the_product_of_their_values(shape, kind):
    cp = StandIn(DEVICE)
    a, right = filled(cp, shape, kind, False, 0)
    np.testing.assert_array_equal((a @ a.T).get(), right @ right.T)
    np.testing.assert_array_equal((a.T @ a).get(), right.T @ right)
    np.testing.assert_array_equal((a[0] @ a.T).get(), right[0] @ right.T)
    np.testing.assert_array_equal((a[:1] @ a.T).get(), right[:1] @ right.T)


@each_row(
    (lambda b, v, m: b.axpy(1, v, np.ones(3)), TypeError, "Unsupported type"),
    (lambda b, v, m: b.axpy(1, m, m), TypeError, r"x \(2, 3\) float64 and y .* alike vectors"),
    (lambda b, v, m: b.axpy(1, v, v.astype("f4")), TypeError, "alike vectors"),
    (lambda b, v, m: b.gemv("N", 1, m, v[:2], 0, v), ValueError, "do not fit a product"),
    (lambda b, v, m: b.gemv("T", 1, m, v, 0, v), ValueError, "do not fit a product"),
    (lambda b, v, m: b.gemv("N", 1, m, v, 0, v), ValueError, r"out has shape \(3,\); \(2,\)"),
    (lambda b, v, m: b.gemm("N", "N", m, m), ValueError, r"\(2, 3\) and \(2, 3\) do not fit"),
    (lambda b, v, m: b.gemm("N", "T", m, m, out=m), ValueError, r"\(2, 2\) is wanted"),
    (lambda b, v, m: b.gemm("N", "T", m, m.astype("f4")), NotImplementedError, "of one dtype"),
    (lambda b, v, m: b.scal(2, 3.0), TypeError, "Unsupported type <class 'float'>"),
    (lambda b, v, m: b.dot(v, v[:2]), ValueError, "do not fit a product"),
)
def test_operands_that_do_not_fit_are_named_and_nothing_runs(use, error, told, cp):
    vector, matrix = cp.full(3, 2.0), cp.full((2, 3), 1.0)
    with pytest.raises(error, match=told):
        use(cp.cublas, vector, matrix)
    assert {e["kernel"] for e in cp.gpu.log if e["what"] == "launch"} <= {"copy"}  # of astype()
    assert vector.get().tolist() == [2.0] * 3

"""What ``run=`` may be: right ones are timed, wrong ones refused with their first wrong element."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import blas

import rooflab.count as rl
from rooflab.measure import verify
from rooflab.measure.measure import measure
from tests.support.products import GEMM, F, numpy_gemm
from tests.support.rows import each_row

pytestmark = pytest.mark.usefixtures("quick")


@each_row(
    (GEMM, numpy_gemm), (GEMM, lambda a, b, c: a @ b),
    (GEMM, lambda a, b, c: blas.sgemm(1.0, a, b, 0.0, c, 0, 0, 1)),
    (rl.axpy(500), lambda x, y: blas.saxpy(x, y, a=3.0)), (rl.axpy(500), lambda x, y: 2 * x + y),
    (rl.axpy(500), lambda x, y: np.add(x, y, out=y)),
    (rl.axpy(500, "fp16"), lambda x, y: np.float16(2) * x + y),
    (rl.scale(500), lambda x: np.multiply(x, np.float32(0.5), out=x)),
    (rl.dot(500), lambda x, y, r: x @ y), (rl.dot(500), lambda x, y, r: float(x @ y)),
    (rl.dot(500), lambda x, y, r: np.sum(x * y, keepdims=True, out=r)),
    (rl.ger(9, 7), lambda a, x, y: a + np.outer(x, y)),
    (rl.gemm(9, 7, 5, "bf16"), lambda a, b, c: (a.astype("f") @ b.astype("f")).astype(a.dtype)),
    (rl.gemm(9, 7, 5, "int8", c="int32"), lambda a, b, c: a.astype("i4") @ b.astype("i4")),
    (rl.elementwise(("sin", "sqrt"), 40), lambda x, y: np.sqrt(np.sin(x), out=y)),
    (rl.elementwise("add", (6, 4), inputs={"a": (6, 4), "b": 4}), lambda a, b, y: a + b),
    (rl.elementwise("relu", 40, output="x"), lambda x: np.maximum(x, 0, out=x)),
)  # fmt: skip
def test_a_right_run_is_timed(op, run):
    found = measure(op, run, threads=1, samples=3, cache="warm")
    assert found.environment["kernel"] == f"run: {run.__name__}"
    assert not any("not checked" in text for text in found.warnings)


@each_row(rl.conv2d(1, 8, 8, 3, 4, 3), rl.chain(rl.scale(8), rl.axpy(8)), rl.pool2d(1, 8, 8, 1, 2))
def test_what_has_no_reference_is_timed_with_a_warning(op):
    found = measure(op, lambda *operands: None, threads=1, samples=3)
    assert found.warnings[0] == f"result not checked: rooflab has no reference for {op.name!r}"


def wrong_corner(a, b, c):
    numpy_gemm(a, b, c)
    c[3, 4] += 1


def without_last_term(a, b, c):
    np.matmul(a[:, :-1], b[:-1], out=c)


@each_row(
    (GEMM, wrong_corner, r"gemm 12×10×8 fp32 wrongly: c\[3, 4\] is .*, expected "),
    (GEMM, without_last_term, r"c\[0, 0\] is"),
    (GEMM, lambda a, b, c: None, r"c\[0, 0\] is nan, .*run must write every element of 'c'"),
    (GEMM, lambda a, b, c: np.add(c, a @ b, out=c), r"c\[0, 0\] is nan"),
    (GEMM, lambda a, b, c: (a @ b).T, r"c\[0, 0\] is nan, .*it returned a .* of shape \(10, 12\)"),
    (GEMM, lambda a, b, c: (a @ b).tolist(), "or return the result, but it returned a list$"),
    (GEMM, lambda a, b, c: (a @ b).astype(complex), "returned complex128 for gemm"),
    (GEMM, lambda a, b, c: (a @ b).astype(str), "returned <U.* real numbers are wanted"),
    (GEMM, lambda a, b, c: (a @ b).astype(object), "returned object for gemm"),
    (rl.dot(300), lambda x, y, r: 10**400, "returned object for dot"),
    (rl.axpy(300), lambda x, y: None, r"y\[0\] is .*nothing has changed"),
    (rl.axpy(300), lambda x, y: np.add(x[:200], y[:200], out=y[:200]), r"y\[200\] is"),
    (rl.axpy(300), lambda x, y: np.multiply(x, y, out=y), r"y\["),
    (rl.scale(300), lambda x: None, "nothing has changed"),
    (rl.scale(300), lambda x: np.multiply(x[1:], 2, out=x[1:]), r"x\[0\] is"),
    (rl.dot(300), lambda x, y, r: np.sum(x), r"r\[0\] is"),
    (rl.gemv(20, 30), lambda a, x, y: np.dot(a, x[::-1]), r"y\[0\] is"),
    (rl.ger(20, 30), lambda a, x, y: np.outer(x, y), r"a\[0, 0\] is"),
    (rl.gemv(6, 5, batch=3), lambda a, x, y: np.einsum("bij,cj->bi", a, x), r"y\[0, 0\] is"),
    (rl.gemm(6, 5, 4, "fp64", batch=3), lambda a, b, c: a[0] @ b, r"c\[1, 0, 0\] is"),
    (rl.elementwise("sqrt", 40), lambda x, y: np.sin(x, out=y), r"y\[0\] is"),
    (rl.gemm(6, 5, 4, "int8", c="int32"), lambda a, b, c: (a @ b).astype("i4") + 1, "c"),
)
def test_a_wrong_run_is_refused_with_its_first_wrong_element(op, run, told):
    with pytest.raises(ValueError, match=told):
        measure(op, run, threads=1)


@each_row("cold", "warm")
def test_a_run_that_fails_later_is_named_too(cache):
    calls = []

    def run(a, b, c):
        calls.append(1)
        if len(calls) > 2:
            raise LookupError("third call")
        return a @ b

    with pytest.raises(ValueError, match=r"run\(a, b, c\) raised LookupError: third call"):
        measure(GEMM, run, threads=1, cache=cache)


@each_row(((0, 0),), ((517, 389),), ((599, 511),))
def test_one_wrong_element_of_a_large_product_is_found_and_named(place):
    op = rl.gemm(600, 512, 640)

    def run(a, b, c):
        numpy_gemm(a, b, c)
        c[place] += 0.05

    with pytest.raises(ValueError, match=rf"c\[{place[0]}, {place[1]}\] is"):
        measure(op, run, threads=1)


def wrong_tile(a, b, c):
    c += a @ b
    c[320:336, 16:32] += 0.05


def without_last_row(a, b, c):
    c[:-1] += a[:-1] @ b


@each_row(
    (wrong_tile, r"c\[3[23]\d, 16\] is"),
    (without_last_row, r"c\[639, 0\] is"),
    (lambda a, b, c: c + a @ b.T, r"c\[\d, 0\] is"),
    (lambda a, b, c: a @ b, r"c\[\d, 0\] is"),
)
def test_rows_spread_over_a_huge_product_show_what_is_wrong(run, told, monkeypatch):
    monkeypatch.setattr(verify, "WHOLE", 1)  # as if it were too large to be computed again
    with pytest.raises(ValueError, match=told):
        measure(rl.gemm(640, 64, 64, accumulate=True), run, threads=1)


@each_row("fp32", "fp64")
def test_a_right_large_product_passes(dtype):
    op = rl.gemm(600, 512, 640, dtype, accumulate=True)
    assert len(measure(op, threads=1, samples=3).samples) == 3


def test_less_precise_sums_than_fp32_are_noticed():
    def in_halves(a, b, c):
        c[...] = (a.astype("e")[:, :, None] * b.astype("e")[None]).sum(axis=1)

    with pytest.raises(ValueError, match=r"c\["):
        measure(rl.gemm(16, 16, 64), in_halves, threads=1)


def test_a_run_that_spoils_its_inputs_is_refused():
    def run(x, y):
        x *= 2
        y += x

    with pytest.raises(ValueError, match="run= changes its input 'x'"):
        measure(rl.axpy(300), run, threads=1)


def test_a_run_that_raises_is_chained():
    def run(a, b, c):
        raise IndexError("tile 7 is outside")

    with pytest.raises(ValueError, match=r"run\(a, b, c\) raised IndexError: tile 7") as raised:
        measure(GEMM, run, threads=1)
    assert isinstance(raised.value.__cause__, IndexError)


def test_results_among_the_subnormals_of_fp16_are_right():
    """There rounding is a step of 2⁻²⁴, however small the number."""
    random = np.random.default_rng(3)
    a = F((1e-3 * random.random((40, 3))).astype("e"))
    x = (1e-2 * random.random(3)).astype("e")
    y = np.zeros(40, "e")
    measure(rl.gemv(40, 3, "fp16"), lambda a, x, y: a @ x, lambda: (a, x, y), threads=1, samples=3)

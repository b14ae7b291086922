"""Expressions: shapes, and costs as rooflab.count has them."""

from __future__ import annotations

import pytest
from hypothesis import given

import rooflab as rl
from rooflab.labs.search.rewrite.expression import Transpose
from tests.labs.search.support.expressions import expressions
from tests.support.rows import each_row

S = rl.search


# Costs.


def test_a_product_costs_what_its_shape_says() -> None:
    n = 64
    a, v, w = S.matrix("a", n, 2 * n), S.vector("v", 2 * n), S.vector("w", n)
    known = [
        (a @ v, rl.gemv(n, 2 * n)),
        (w.T @ a, rl.gemv(2 * n, n)),
        (a @ S.matrix("b", 2 * n, n), rl.gemm(n, n, 2 * n)),
        (w @ v.T, rl.outer(n, 2 * n)),
        (v.T @ v, rl.dot(2 * n)),
    ]
    for expression, operation in known:
        # A transpose is a copy here, without a FLOP; that of a vector is paid, too.
        transposes = [one for one in expression.subterms() if one.op == Transpose()]
        copies = sum(2 * 4 * max(one.shape) for one in transposes)
        assert S.total(expression, "flops") == operation.flops
        assert S.total(expression, "bytes") == operation.bytes + copies


def test_a_scaled_sum_in_one_pass_is_axpy() -> None:
    x, y = S.vector("x", 1000), S.vector("y", 1000)
    found = S.simplify(2 * x + y)
    assert str(found.after) == "fused[mul 2, add](x, y)"
    assert found.cost_after == rl.axpy(1000).bytes
    assert S.total(found.after, "flops") == rl.axpy(1000).flops


def test_a_shared_term_is_paid_once() -> None:
    a, b = S.matrix("a", 8, 8), S.matrix("b", 8, 8)
    assert S.total(a @ b + a @ b, "flops") == 2 * 8**3 + 8**2


def test_seconds_are_those_of_predict() -> None:
    a, v = S.matrix("a", 4096, 4096, "bf16"), S.vector("v", 4096, "bf16")
    operation = rl.gemv(4096, 4096, "bf16")
    assert S.total(a @ v, "h100-sxm") == rl.predict(operation, "h100-sxm").seconds
    assert S.total(a @ v, rl.machine("h100-sxm")) == S.total(a @ v, "h100-sxm")


# What people read.


@given(expressions())
def test_the_text_of_an_expression_is_python(expression) -> None:
    names = {str(one): one for one in expression.subterms() if not one.args}
    relu = {"relu": lambda a: S.elementwise("relu", a)}
    assert eval(str(expression), {"__builtins__": {}}, {**names, **relu}) == expression


# Refusals.


@each_row(
    (lambda a, b: a @ a, ValueError, "4×8 times 4×8 does not fit"),
    (lambda a, b: a + b, ValueError, "does not fit 8×8 element by element"),
    (lambda a, b: a @ 3, TypeError, "@: 3 must be an expression"),
    (lambda a, b: a * "x", TypeError, "must be an expression"),
    (lambda a, b: a / 0, ValueError, "no division by 0"),
    (lambda a, b: float("nan") * a, ValueError, "finite"),
    (lambda a, b: a << 1, ValueError, "fp32 has no bits to shift"),
    (lambda a, b: S.vector("i", 8, "int32") * 0.5, ValueError, "whole numbers only"),
    (lambda a, b: S.elementwise("exp", S.vector("i", 8, "int32")), ValueError, "exp: int32"),
    (lambda a, b: S.elementwise("rleu", a), ValueError, "did you mean 'relu'"),
    (lambda a, b: S.elementwise("add", a), TypeError, "add takes 2"),
    (lambda a, b: a + S.matrix("c", 4, 8, "fp16"), ValueError, "fp32 and fp16 meet"),
    (lambda a, b: S.matrix("", 4, 8), TypeError, "name=''"),
    (lambda a, b: S.matrix("c", 0, 8), ValueError, "rows=0"),
    (lambda a, b: S.total(a, "joules"), ValueError, "cost='joules'"),
    (lambda a, b: S.total(a, 3), TypeError, "cost=3"),
)
def test_what_does_not_fit_is_refused(make, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        make(S.matrix("a", 4, 8), S.matrix("b", 8, 4))

"""Rules: true of random matrices, or refused; read from text."""

from __future__ import annotations

import numpy as np
import pytest

import rooflab as rl
from rooflab.labs.search.rewrite.egraph import EGraph
from rooflab.labs.search.rewrite.expression import Expression
from tests.labs.search.support.expressions import arrays_for
from tests.support.rows import each_row

S = rl.search
A, B, C = (S.matrix(name, 3, 3, "fp64") for name in "ABC")
ROW = S.matrix("r", 1, 3, "fp64")
NUMBERS = S.matrix("N", 3, 3, "int32")


def rewritten(rule: str, expression: Expression) -> list[Expression]:
    """What a rule of the course says that the whole ``expression`` may be replaced by."""
    return rewritten_by(S.rules()[rule], expression)


def rewritten_by(rule: S.Rule, expression: Expression) -> list[Expression]:
    graph = EGraph()
    root = graph.add(expression)
    (node,) = graph.nodes(root)
    return [graph.extract(graph.add(term)) for term in rule.terms(graph, root, node)]


#: What each rule makes of something that it fits.
MADE = {
    "associate": ((A @ B) @ C, A @ (B @ C)),
    "distribute": ((A + B) @ C, A @ C + B @ C),
    "distribute-left": (A @ (B + C), A @ B + A @ C),
    "transpose-twice": (A.T.T, A),
    "transpose-product": ((A @ B).T, B.T @ A.T),
    "transpose-sum": ((A + B).T, A.T + B.T),
    "transpose-scale": ((3 * A).T, 3 * A.T),
    "scale-product": (3 * (A @ B), (3 * A) @ B),
    "scale-product-right": (3 * (A @ B), A @ (3 * B)),
    "scale-sum": (3 * (A + B), 3 * A + 3 * B),
    "scale-twice": (2 * (3 * A), 6 * A),
    "multiply-divide": ((3 * A) / 2, 1.5 * A),
    "divide-multiply": (3 * (A / 2), 1.5 * A),
    "once": (1 * A, A),
    "twice": (A + A, 2 * A),
    "shift": (2 * NUMBERS, NUMBERS << 1),
    "collect": (2 * A + 3 * A, 5 * A),
    "commute": (A + B, B + A),
    "associate-sum": ((A + B) + C, A + (B + C)),
    "fuse": (S.elementwise("relu", A + ROW), "fused[add, relu](A, r)"),
}


def test_every_rule_is_tried_here() -> None:
    assert MADE.keys() == S.rules().keys()


@each_row(*MADE)
def test_a_rule_makes_what_it_says_and_that_is_equal(rule: str) -> None:
    expression, wanted = MADE[rule]
    made = rewritten(rule, expression)
    assert wanted in made or wanted in map(str, made)
    arrays = arrays_for(expression)
    for one in made:
        np.testing.assert_allclose(one.value(arrays), expression.value(arrays), atol=1e-12)


def test_rules_of_floats_are_not_those_of_integers() -> None:
    # With integers (N / 2) · 2 drops the last bit, and half of three is no integer.
    assert rewritten("divide-multiply", 2 * (NUMBERS / 2)) == []
    assert rewritten("multiply-divide", (3 * NUMBERS) / 2) == []
    assert rewritten("multiply-divide", (6 * NUMBERS) / 2) == [3 * NUMBERS]
    assert rewritten("shift", 2 * A) == []


def test_a_rule_of_ones_own_is_used() -> None:
    mine = S.rule("A @ B + A @ C -> A @ (B + C)", "factor")
    found = S.simplify(A @ B + A @ C, [mine], cost="flops")
    assert found.after == A @ (B + C) and found.rules == ("factor",)


def test_functions_go_through_transposes() -> None:
    assert S.rule("relu(A).T = relu(A.T)").says == "relu(A).T = relu(A.T)"


@each_row(
    "A @ B -> B @ A",
    "(A @ B).T = A.T @ B.T",
    "A - B = B - A",
    "relu(A + B) = relu(A) + relu(B)",
    "s * (A @ B) = (s * A) @ (s * B)",
    "(s * A) / t -> (t / s) * A",
    "A + A -> 3 * A",
    "relu(s * A) = s * relu(A)",
    "max(s * A, s * B) = s * max(A, B)",
    "s * (A / s) -> A",
    "A / s + B / s = (A + B) / s",
)
def test_what_is_not_true_is_refused(wrong: str) -> None:
    with pytest.raises(ValueError, match=r"is not true: element \(\d, \d\) of random matrices"):
        S.rule(wrong)


@each_row(
    (3, TypeError, "rule=3 must be text"),
    ("A + B", ValueError, "two patterns with"),
    ("A + -> B", ValueError, "is no Python"),
    ("A -> A + A - A", ValueError, "a lone letter"),
    ("A + A = 2 * A + B - B", ValueError, "does not say what B is"),
    ("A + A -> s * A", ValueError, "does not say what s is"),
    ("A[0] -> A", ValueError, "is no pattern"),
    ("foo(A) -> A", ValueError, "is no pattern"),
    ("A << B -> A", ValueError, "is no pattern"),
    ("relu(A, B) -> A", TypeError, "relu takes 1"),
    ("A = B = C", ValueError, "two patterns"),
)
def test_what_is_no_rule_is_refused(text: object, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        S.rule(text)


def test_what_is_not_true_of_integers_may_be_true_of_floats() -> None:
    assert S.rule("s * (A / s) -> A", only="float").only == "float"
    assert rewritten_by(S.rule("A / 2 -> 0.5 * A"), A / 2) == [0.5 * A]
    assert rewritten_by(S.rule("A / 2 -> 0.5 * A"), NUMBERS / 2) == []
    shift, relu = S.rule("2 * A -> A << 1"), S.rule("max(A, A) -> relu(A) + A - relu(A)")
    assert rewritten_by(shift, 2 * A) == [] != rewritten_by(shift, 2 * NUMBERS)
    assert rewritten_by(relu, S.elementwise("max", A, A)) != []
    assert rewritten_by(relu, S.elementwise("max", NUMBERS, NUMBERS)) == []


@each_row("s * A -> (s / 0) * A", "s * A -> (s / (2 - 2)) * A")
def test_a_rule_that_divides_by_zero_says_nothing(wrong: str) -> None:
    with pytest.raises(ValueError, match="says nothing of any number"):
        S.rule(wrong)


def test_a_number_that_a_rule_would_divide_by_zero_for_is_left_alone() -> None:
    mine = S.rule("s * A -> ((s * (s - 1)) * A) / (s - 1)", only="float")
    assert rewritten_by(mine, 3 * A) == [(6 * A) / 2]
    assert rewritten_by(mine, 1 * A) == []


def test_a_rule_is_for_known_numbers() -> None:
    with pytest.raises(ValueError, match="only='complex'"):
        S.rule("A + A -> 2 * A", only="complex")

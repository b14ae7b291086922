"""Rules: what each makes of what it fits, and that this is true of random matrices."""

from __future__ import annotations

import numpy as np

import rooflab as rl
from rooflab.labs.search.rewrite.egraph import EGraph
from rooflab.labs.search.rewrite.expression import Expression
from tests.labs.search.support.expressions import arrays_for, value
from tests.support.rows import each_row

S = rl.search
A, B, C = (S.matrix(name, 3, 3, "fp64") for name in "ABC")
ROW = S.matrix("r", 1, 3, "fp64")
NUMBERS = S.matrix("N", 3, 3, "int32")


def rewritten(rule: str, expression: Expression) -> list[Expression]:
    """What a rule of the course says that the whole ``expression`` may be replaced by."""
    graph = EGraph()
    root = graph.add(expression)
    (node,) = graph.nodes(root)
    return [graph.extract(graph.add(term)) for term in S.rules()[rule].terms(graph, root, node)]


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
        np.testing.assert_allclose(value(one, arrays), value(expression, arrays), atol=1e-12)


def test_rules_of_floats_are_not_those_of_integers() -> None:
    # With integers (N / 2) · 2 drops the last bit, and half of three is no integer.
    assert rewritten("divide-multiply", 2 * (NUMBERS / 2)) == []
    assert rewritten("multiply-divide", (3 * NUMBERS) / 2) == []
    assert rewritten("multiply-divide", (6 * NUMBERS) / 2) == [3 * NUMBERS]
    assert rewritten("shift", 2 * A) == []

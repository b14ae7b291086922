"""The e-graph: nothing twice, congruence, the cheapest term; and what the library egglog says."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import rooflab as rl
from rooflab.labs.search.rewrite.cost import price_of
from rooflab.labs.search.rewrite.egraph import EGraph
from rooflab.labs.search.rewrite.expression import Expression
from rooflab.labs.search.rewrite.rules import as_rules
from rooflab.labs.search.rewrite.simplify import saturation
from tests.labs.search.support.egglog_graph import cheapest
from tests.labs.search.support.expressions import expressions, tree_cost, written

S = rl.search
A, B, C = (S.matrix(name, 3, 3, "fp64") for name in "ABC")
LAWS = [name for name in S.rules() if name != "fuse"]


@given(expressions())
def test_what_is_there_is_not_added_again(expression) -> None:
    graph = EGraph()
    number = graph.add(expression)
    size = graph.size()
    assert size == (len(list(expression.subterms())),) * 2
    assert graph.add(expression) == number and graph.size() == size
    assert graph.form(number) == expression.form
    assert graph.extract(number, price_of("bytes")) == expression


def saturated(expression: Expression, rules: list[str]) -> tuple[EGraph, int]:
    """A graph to which these rules add nothing more, and the class of ``expression`` in it."""
    graph = EGraph()
    root = graph.add(expression)
    *_, (_, _, ended) = saturation(graph, as_rules(rules), 99, 10**6)
    assert ended == "saturated"
    return graph, root


def test_equal_arguments_make_equal_results() -> None:
    graph = EGraph()
    one, other = graph.add((A @ B).T + C), graph.add((A @ C).T + C)
    assert graph.find(one) != graph.find(other)
    assert graph.merge(graph.add(B), graph.add(C))
    graph.rebuild()
    assert graph.find(one) == graph.find(other)
    assert not graph.merge(one, other)  # known by now
    assert graph.size() == (6, 5)  # A, {B, C}, the product, the transpose, the sum


def test_a_chain_of_consequences_is_followed() -> None:
    graph = EGraph()
    towers = []
    for one in (A, B):
        for _ in range(20):
            one = one.T @ C
        towers.append(graph.add(one))
    graph.merge(graph.add(B), graph.add(A))
    graph.rebuild()
    assert graph.find(towers[0]) == graph.find(towers[1])


def test_a_class_may_contain_itself() -> None:
    graph = EGraph()
    root = graph.add(1 * A)
    graph.merge(root, graph.add(A))
    graph.rebuild()
    assert len(graph.nodes(root)) == 2
    assert graph.extract(root, price_of("bytes")) == A


def test_what_has_another_shape_is_never_equal() -> None:
    graph = EGraph()
    with pytest.raises(ValueError, match=r"\(3, 3\) and \(3, 1\) are never equal"):
        graph.merge(graph.add(A), graph.add(S.vector("v", 3, "fp64")))


@settings(max_examples=12, deadline=None)
@given(
    st.lists(st.integers(1, 9), min_size=4, max_size=5),
    st.sampled_from(["bytes", "flops", "h100-sxm"]),
)
def test_the_cheapest_of_all_terms_is_extracted(sizes: list[int], cost: str) -> None:
    first, *others = (S.matrix(f"A{n}", *pair) for n, pair in enumerate(itertools.pairwise(sizes)))
    for one in others:
        first = first @ one
    graph, root = saturated(first, ["associate"])
    terms = written(graph, root, 4)
    assert len(terms) == {3: 2, 4: 5}[len(sizes) - 1]  # Catalan's numbers
    best = tree_cost(graph.extract(root, price_of(cost)), cost)
    assert best == pytest.approx(min(tree_cost(one, cost) for one in terms), rel=1e-12)


# The library.


@settings(max_examples=12, deadline=None)
@given(expressions(depth=2), st.sampled_from(["bytes", "flops"]))
def test_the_library_finds_nothing_cheaper_and_nothing_dearer(expression, cost: str) -> None:
    graph_ = S.simplify(expression, LAWS, cost, rounds=8, nodes=400)
    assume(graph_.ended == "saturated")
    ours, root = saturated(expression, LAWS)
    best = tree_cost(ours.extract(root, price_of(cost)), cost)
    theirs = cheapest(expression, cost=cost, rounds=9)
    assert tree_cost(theirs, cost) == pytest.approx(best, rel=1e-12)
    assert theirs.form == expression.form


def test_the_library_knows_integers() -> None:
    a = S.vector("a", 8, "int32")
    assert cheapest(2 * a / 2) == a
    assert cheapest(3 * a / 2) == 3 * a / 2
    assert cheapest(6 * a / 2) == 3 * a

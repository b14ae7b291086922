"""Equality saturation: what it must find, that it stays equal, and what it costs."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rooflab as rl
from tests.labs.search.support.expressions import arrays_for, expressions, tree_cost, value
from tests.support.rows import each_row

S = rl.search


def chain(sizes: list[int]) -> list[object]:
    """Matrices of a chain: the n-th is ``sizes[n]`` × ``sizes[n + 1]``."""
    return [S.matrix(f"A{n}", *pair) for n, pair in enumerate(pairwise(sizes))]


def from_the_left(matrices: list[object]) -> object:
    product = matrices[0]
    for one in matrices[1:]:
        product = product @ one
    return product


# Published, or known by hand.


def test_the_first_product_decides() -> None:
    n = 1024
    a, b, v = S.matrix("A", n, n), S.matrix("B", n, n), S.vector("v", n)
    found = S.simplify((a @ b) @ v, cost="flops")
    assert str(found.after) == "A @ (B @ v)"
    assert found.cost_before == 2 * n**3 + 2 * n**2
    assert found.cost_after == 4 * n**2
    assert found.factor == 512.5
    in_bytes = S.simplify((a @ b) @ v)
    assert in_bytes.after == found.after
    assert in_bytes.cost_before == 4 * (3 * n**2 + n**2 + 2 * n)
    assert in_bytes.cost_after == 4 * (2 * n**2 + 4 * n)
    in_seconds = S.simplify((a @ b) @ v, cost="h100-sxm")
    assert in_seconds.after == found.after
    # 64 times fewer FLOP are no 64 times less time: what is left is bound by memory.
    assert 1 < in_seconds.factor < found.factor


def test_greedy_rewriting_gets_stuck_where_saturation_does_not() -> None:
    a = S.vector("a", 1000, "int32")
    rules = ["shift", "multiply-divide", "once"]
    path = S.greedy(2 * a / 2, rules)
    assert [str(one) for one in path] == ["(2 * a) / 2", "(a << 1) / 2"]
    found = S.simplify(2 * a / 2, rules)
    assert found.after == a and found.cost_after == 0
    assert found.ended == "saturated"
    # In the other order greedy is lucky.
    assert S.greedy(2 * a / 2, rules[::-1])[-1] == a


def test_the_order_of_the_textbook() -> None:
    # Cormen et al., Introduction to Algorithms, section on matrix chains: 15 125 multiplications.
    matrices = chain([30, 35, 15, 5, 10, 20, 25])
    found = S.simplify(from_the_left(matrices), ["associate"], cost="flops")
    assert found.cost_after == 2 * 15_125
    assert str(found.after) == "(A0 @ (A1 @ A2)) @ ((A3 @ A4) @ A5)"


def best_order(sizes: list[int], price) -> float:
    """Dynamic programming over where the last product of each part cuts it."""
    count = len(sizes) - 1
    best = {(n, n): 0.0 for n in range(count)}
    for length in range(1, count):
        for first in range(count - length):
            last = first + length
            best[first, last] = min(
                best[first, cut] + best[cut + 1, last]
                + price(sizes[first], sizes[last + 1], sizes[cut + 1])
                for cut in range(first, last)
            )  # fmt: skip
    return best[0, count - 1]


@settings(max_examples=25)
@given(st.lists(st.integers(2, 60), min_size=3, max_size=7))
def test_matrix_chains_agree_with_dynamic_programming(sizes: list[int]) -> None:
    product = from_the_left(chain(sizes))
    flops = best_order(sizes, lambda m, n, k: 2 * m * n * k)
    assert S.simplify(product, "associate", "flops").cost_after == flops
    moved = best_order(sizes, lambda m, n, k: 4 * (m * k + k * n + m * n))
    assert S.simplify(product, "associate", "bytes").cost_after == moved


def test_fewest_flops_are_not_fewest_bytes_nor_the_shortest_time() -> None:
    product = from_the_left(chain([256, 4096, 256, 64, 64]))
    costs = ("flops", "bytes", "h100-sxm")
    found = {cost: S.simplify(product, "associate", cost).after for cost in costs}
    assert len(set(found.values())) == 3
    for cost in costs:
        assert min(found.values(), key=lambda one: S.total(one, cost)) == found[cost]


def test_recomputing_costs_flops_and_saves_bytes() -> None:
    a, bias = S.matrix("A", 64, 1000), S.matrix("bias", 1, 1000)
    whole = a + S.elementwise("exp", bias)
    found = S.simplify(whole)
    assert str(found.after) == "fused[exp, add](bias, A)"
    assert S.total(found.after, "flops") - S.total(whole, "flops") == 63 * 1000
    assert S.total(whole) - found.cost_after == 2 * 4 * 1000
    assert S.simplify(whole, cost="flops").after == whole


@each_row(2, 3, 5)
def test_a_fused_chain_is_read_and_written_once(functions: int) -> None:
    x = S.vector("x", 1000)
    y = x
    for _ in range(functions):
        y = S.elementwise("tanh", y)
    found = S.simplify(y)
    assert found.cost_before == functions * 8000 and found.cost_after == 8000
    steps = [
        rl.elementwise("tanh", 1000, inputs=(f"x{n}",), output=f"x{n + 1}")
        for n in range(functions)
    ]
    assert found.cost_after == rl.chain(*steps, fused=True).bytes
    assert S.total(found.after, "flops") == rl.chain(*steps, fused=True).flops


# Whatever is given.


@settings(max_examples=40, deadline=None)
@given(expressions(), st.sampled_from(["bytes", "flops", "h100-sxm"]))
def test_what_is_found_is_equal_and_no_dearer(expression, cost: str) -> None:
    found = S.simplify(expression, cost=cost, rounds=4, nodes=300)
    arrays = arrays_for(expression)
    exact, cheaper = value(expression, arrays), value(found.after, arrays)
    assert cheaper.shape == exact.shape
    room = 1e-12 * max(1.0, np.abs(exact).max(), _largest(expression, arrays))
    np.testing.assert_allclose(cheaper, exact, rtol=1e-9, atol=room)
    assert found.cost_after == S.total(found.after, cost) <= found.cost_before
    assert found.cost_before == S.total(expression, cost)


def _largest(expression, arrays) -> float:
    """The largest intermediate result: rounding is relative to it where terms cancel."""
    return max(float(np.abs(value(one, arrays)).max()) for one in expression.subterms())


@settings(max_examples=25, deadline=None)
@given(expressions(depth=2))
def test_each_step_of_greedy_is_equal(expression) -> None:
    arrays = arrays_for(expression)
    path = S.greedy(expression, steps=6)
    for one in path:
        np.testing.assert_allclose(
            value(one, arrays), value(expression, arrays), rtol=1e-9, atol=1e-9
        )
    assert path[0] == expression and len(set(path)) == len(path)


def test_growth_is_told_round_by_round() -> None:
    a, b, c = (S.matrix(name, 8, 8) for name in "ABC")
    found = S.simplify((a @ b) @ c, "associate")
    assert [one.round for one in found.growth] == [0, 1, 2]
    assert (found.growth[0].nodes, found.growth[0].classes) == (5, 5)
    assert (found.growth[1].nodes, found.growth[1].classes) == (7, 6)
    assert found.growth[1].joined == {"associate": 1} and not found.growth[2].joined
    assert found.rules == ("associate",) and found.ended == "saturated"


def test_limits_end_it() -> None:
    product = from_the_left(chain([3] * 9))
    short = S.simplify(product, rounds=1)
    assert short.ended == "rounds" and len(short.growth) == 2
    assert S.simplify(product, nodes=40).ended == "nodes"


def test_the_number_of_orders_is_in_the_graph() -> None:
    # n matrices have Catalan(n - 1) orders and n(n + 1)/2 parts: as many classes.
    found = S.simplify(from_the_left(chain([3] * 7)), "associate")
    n = 6
    assert found.growth[-1].classes == n * (n + 1) // 2
    assert found.growth[-1].nodes == n + sum((n - k) * k for k in range(1, n))
    assert math.comb(2 * (n - 1), n - 1) // n == 42  # which the graph holds in 41 nodes


def test_the_answer_is_told_in_words() -> None:
    a, v = S.matrix("A", 64, 64), S.vector("v", 64)
    assert "nothing cheaper was found" in repr(S.simplify(a @ v))
    assert "→ A @ (A @ v)" in repr(S.simplify((a @ a) @ v))
    assert "nothing is left to do" in repr(S.simplify(1 * a))


@each_row(
    (lambda a: S.simplify("A @ B"), TypeError, "expression='A @ B'"),
    (lambda a: S.simplify(a, ["asociate"]), ValueError, "did you mean 'associate'"),
    (lambda a: S.simplify(a, cost="watts"), ValueError, "cost='watts'"),
    (lambda a: S.greedy(3), TypeError, "expression=3"),
)
def test_bad_input_is_refused(call, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        call(S.matrix("A", 4, 4))


def test_a_shared_product_is_not_torn_apart() -> None:
    # AB is used twice. Paid twice, A (B V) is cheaper; paid once, as it runs, AB is.
    n, m = 8, 6
    a, b = S.matrix("A", n, n), S.matrix("B", n, n)
    v, w = S.matrix("V", n, m), S.matrix("W", n, m)
    shared, torn = (a @ b) @ v + (a @ b) @ w, a @ (b @ v) + a @ (b @ w)
    assert tree_cost(torn, "flops") < tree_cost(shared, "flops")
    assert S.total(shared, "flops") == 2 * n**3 + 4 * n**2 * m + n * m
    assert S.total(torn, "flops") == 8 * n**2 * m + n * m > S.total(shared, "flops")
    assert S.simplify(shared, "associate", "flops").after == shared


def test_a_row_or_column_that_is_repeated_stays_a_sum() -> None:
    a, c = S.matrix("A", 4, 8, "fp64"), S.matrix("C", 8, 2, "fp64")
    for added in (S.vector("b", 4, "fp64"), S.matrix("r", 1, 8, "fp64")):
        whole = (a + added) @ c
        found = S.simplify(whole, cost="flops")
        arrays = arrays_for(whole)
        np.testing.assert_allclose(value(found.after, arrays), value(whole, arrays))
        assert all(one.shape == whole.shape for one in S.greedy(whole))

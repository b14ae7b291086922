"""An e-graph as a picture: what its boxes hold is equal, and what it stands for is counted."""

from __future__ import annotations

import math

import numpy as np
import pytest

import rooflab as rl
from rooflab.labs.search.pictures.stages import Stage, counts, many, stages
from rooflab.labs.search.rewrite.egraph import EGraph
from rooflab.labs.search.rewrite.expression import Expression, elementwise, matrix, vector
from rooflab.labs.search.rewrite.rules import as_rules
from rooflab.labs.search.rewrite.simplify import saturation
from tests.labs.search.support.expressions import arrays_for, value, written
from tests.support.scenes import named

A, B, C, D, E = (matrix(name, 8, 8) for name in "ABCDE")
V, X = vector("v", 8), vector("x", 1000)


def filled(
    expression: Expression, rules: object, rounds: int = 8
) -> tuple[EGraph, int, list[Stage]]:
    graph = EGraph()
    root = graph.add(expression)
    return graph, root, [*stages(graph, root, saturation(graph, as_rules(rules), rounds, 300))]


# What it stands for.


def test_a_chain_of_products_stands_for_as_many_as_catalan_counted() -> None:
    """n matrices can be multiplied in C(n-1) orders: 1, 2, 5, 14."""
    for factors, ways in [(2, 1), (3, 2), (4, 5), (5, 14)]:
        chain = A
        for one in (B, C, D, E)[: factors - 1]:
            chain = chain @ one
        graph, root, found = filled(chain, ["associate"])
        plural = "" if ways == 1 else "s"
        assert found[-1].many == many(graph, root) == f"{ways} expression{plural}"
        assert ways == math.comb(2 * factors - 2, factors - 1) // factors


def test_a_sum_of_four_stands_for_every_tree_and_every_order() -> None:
    """Five trees of four leaves, and twelve orders of A, B, C and A."""
    _, _, found = filled(A + B + C + A, ["commute", "associate-sum"])
    assert found[-1].many == "60 expressions"


def test_twice_and_half_stands_for_infinitely_many() -> None:
    """c₁ = c₂ / 2 = 1 · c₁ = a and c₂ = 2 · c₁ = c₁ << 1, so w(n) = w(n-1) + 2 w(n-2)."""
    a = vector("a", 8, "int32")
    graph, root, found = filled(2 * a / 2, ["shift", "multiply-divide", "once"])
    ways = [1, 1]
    while len(ways) <= 10:
        ways.append(ways[-1] + 2 * ways[-2])
    assert counts(graph, root, 10) == ways
    assert found[-1].many == f"infinitely many expressions, {sum(ways)} of at most 10 operations"


# What its boxes say.


def test_every_row_of_a_box_is_equal() -> None:
    graph, root, _ = filled((A @ V) + (B @ V), None)
    for number, _ in graph.classes():
        every = sorted(written(graph, number, 3), key=str)
        values = [value(one, arrays_for((A @ V) + (B @ V))) for one in every]
        for one in values:
            np.testing.assert_allclose(one, values[0], rtol=1e-9)


def test_the_first_box_is_the_whole_and_its_nodes_lead_to_the_others() -> None:
    _, _, found = filled((A @ B) @ V, None)
    rows = [{label: [(row.text, row.args) for row in rows] for label, rows in one.boxes.items()}
            for one in found]  # fmt: skip
    leaves = {2: [("v", ())], 3: [("A", ())], 4: [("B", ())]}
    old, new = ("(A @ B) @ v", (1, 2)), ("A @ (B @ v)", (3, 5))
    assert rows[0] == leaves | {0: [old], 1: [("A @ B", (3, 4))]}
    assert rows[1] == rows[0] | {0: [old, new], 5: [("B @ v", (4, 2))]}
    names = [str(one) for one in found[-1].origins]
    assert names == ["(A @ B) @ v", "A @ B", "v", "A", "B", "B @ v"]


def test_the_cheapest_is_in_colour_at_the_end() -> None:
    wide = [matrix(name, 1024, 1024) for name in "AB"]
    scene = rl.search.growth((wide[0] @ wide[1]) @ vector("v", 1024), cost="flops").scene
    end = {"round": len(scene.dim("round").stops) - 1}
    assert scene.sentence(**end) == (
        "The cheapest is A @ (B @ v): 4.19 MFLOP instead of 2.15 GFLOP, 512 times less."
    )
    inks = {one: scene.value(one, "fill", **end) for one in named(scene, "term")}
    assert sorted(scene.value(one, "text", **end) for one, ink in inks.items() if ink == "key") == [
        "A", "A @ (B @ v)", "B", "B @ v", "v"]  # fmt: skip
    lines = [scene.value(one, "ink", **end) for one in named(scene, "needs")]
    assert lines.count("key") == 4 and len(lines) == 8
    bills = [scene.value(one, "text", **end) for one in named(scene, "bill")]
    assert sorted(filter(None, bills)) == ["2.10 MFLOP"] * 3 + ["2.15 GFLOP"]


def test_no_line_passes_under_a_frame_that_it_does_not_end_at() -> None:
    A, B, C = (matrix(name, 1024, 1024) for name in "ABC")
    for product in ((A @ B) @ vector("v", 1024), ((A @ B) @ C) @ vector("v", 1024)):
        scene = rl.search.growth(product, cost="flops").scene
        frames = [scene.value(one, "box", round=2) for one in named(scene, "class")]
        for one in named(scene, "needs"):
            corners = scene.value(one, "points", round=2).reshape(-1, 2)
            (x, y), end = corners[2], corners[-1]
            for left, top, wide, high in frames:
                if y < top + high < end[1]:  # what it comes down beside
                    assert not left < x < left + wide


def test_lines_to_classes_that_are_joined_lead_to_one_frame() -> None:
    scene = rl.search.growth().scene
    ends = [{tuple(scene.value(one, "points", round=at)[-2:]) for one in named(scene, "needs")
             if scene.value(one, "opacity", round=at)} for at in (1, 2)]  # fmt: skip
    assert (len(ends[0]), len(ends[1])) == (3, 2)
    frames = named(scene, "class")
    assert [sum(scene.value(one, "opacity", round=at) for one in frames) for at in (1, 2)] == [3, 2]


def test_what_is_cheap_already_stays() -> None:
    picture = rl.search.growth(A @ V)
    assert picture.scene.sentence(round=2) == "Nothing cheaper than A @ v is in it: 320 B."


def test_a_choice_is_that_of_simplify() -> None:
    expression = elementwise("relu", 2 * X + 3 * X)
    found = rl.search.simplify(expression)
    picture = rl.search.growth(expression)
    last = len(picture.scene.dim("round").stops) - 1
    assert f"is {found.after}: " in picture.scene.sentence(round=last)
    for at, one in enumerate(found.growth):
        assert f"{one.nodes} nodes in {one.classes} class" in picture.scene.sentence(round=at)


# Where they stand.


def test_every_round_has_its_sentence() -> None:
    picture = rl.search.growth()
    said = [picture.scene.sentence(round=at) for at in range(5)]
    assert said[0] == "At the start, 3 nodes in 3 classes stand for 1 expression."
    assert said[1].startswith("Round 1: shift adds a << 1 to 2 * a; multiply-divide adds 1 * a to ")
    assert said[2].startswith("Round 2: once joins (2 * a) / 2 and a. 5 nodes in 2 classes")
    assert said[3].startswith("Round 3: nothing new. ")
    assert said[3].endswith("No rule has anything to add.")
    assert said[4] == "The cheapest is a: 0 B instead of 16.0 kB."


def test_a_limit_is_said() -> None:
    picture = rl.search.growth(A + B + C + A, ["commute", "associate-sum"], rounds=2)
    assert picture.scene.sentence(round=2).endswith("There were no more rounds to go.")
    assert picture.still().startswith(b"\x89PNG")


# What cannot be drawn.


def test_what_is_too_large_is_refused() -> None:
    with pytest.raises(ValueError, match="after round 2 its e-graph has .* at most 40 in 14 can"):
        rl.search.growth(A + B + C + D, ["commute", "associate-sum"])

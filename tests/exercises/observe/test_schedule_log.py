"""The runner of schedules: the log of what came back, in plain data, or what came back instead."""

from __future__ import annotations

import json

from rooflab.exercises.observe.schedule import nest_of, run
from rooflab.labs.loops.nest import Nest

PRODUCT = {"extents": {"i": 8, "j": 8, "k": 8}, "text": "C[i,j] += A[i,k]*B[k,j]"}
PAIR = {"extents": {"i": [1, 9]}, "text": "B[i] = A[i]*2; D[i] = B[i-1] + 1", "order": "nests"}


def test_a_log_is_plain_and_leads_to_the_same_nest():
    def answer(nest):
        tiled = nest.tile({"i": 4, "j": 2}).strip_mine("k", 4).skew("ji", "ii").reverse("ko")
        return tiled.shift("ki", 1).unroll("ki").pack("B").coalesce("io", "jo")

    seen = run(PRODUCT, answer)
    assert json.loads(json.dumps(seen)) == seen
    log = [(name, tuple(arguments)) for name, arguments in seen["value"]]
    assert nest_of(PRODUCT).replay(log).tree == answer(nest_of(PRODUCT)).tree


def test_two_nests_come_and_go_too():
    seen = run(PAIR, lambda nest: nest.fuse("S", "T"))
    assert seen == {"value": [["fuse", ["S", "T", None]]]}
    assert run(PAIR, lambda nest: nest) == {"value": []}


def test_an_array_may_be_larger_than_what_is_accessed():
    case = {**PRODUCT, "shapes": {"A": [8, 9]}}
    assert nest_of(case).shapes["A"] == (8, 9)
    assert nest_of(case, {"i": 2, "j": 2, "k": 2}).shapes["A"] == (2, 2)


def test_nothing_and_errors_are_seen_as_of_any_function():
    for answer, seen in (
        (lambda nest: None, {"missing": True}),
        (lambda nest: ..., {"missing": True}),
        (lambda nest: 1 / 0, {"error": "ZeroDivisionError: division by zero"}),
    ):
        assert run(PRODUCT, answer) == seen


def test_what_is_no_nest_is_told_apart():
    for answer, words in (
        (lambda nest: nest.code(), "a text came back"),
        (lambda nest: nest.check(), "the verdict of check()"),
        (lambda nest: nest.reference(), "a dictionary came back, as run() gives it"),
        (lambda nest: (nest, nest), "a tuple came back"),
        (lambda nest: nest.tile, "call it"),
        (lambda nest: 8, "of type int"),
        (lambda nest: nest.stream(), "of type AccessStream"),
    ):
        assert words in run(PRODUCT, answer)["unreadable"]


def test_a_nest_of_another_problem_is_not_taken():
    case = PRODUCT
    for other, word in (
        (Nest({"i": 8, "j": 8, "k": 4}, case["text"]), "extents"),
        (Nest({"i": 8, "j": 8, "k": 8}, "C[i,j] += A[i,k]"), "statements"),
        (Nest({"i": 8, "j": 8, "k": 8}, case["text"], order="nests"), "order"),
        (Nest({"i": 8, "j": 8, "k": 8}, case["text"], shapes={"A": (9, 9)}), "shapes"),
    ):
        seen = run(case, lambda nest, other=other: other)
        assert "a nest of another problem" in seen["unreadable"] and word in seen["unreadable"]
    again = Nest({"i": 8, "j": 8, "k": 8}, case["text"])
    assert run(case, lambda nest: again.reverse("k")) == {"value": [["reverse", ["k"]]]}


def test_an_object_that_lies_is_told_apart():
    class Liar:
        log = (("reverse", ("k",)),)

        @property
        def __class__(self):
            return Nest

        def __getattr__(self, name):
            raise SystemExit(name)

    seen = run(PRODUCT, lambda nest: Liar())
    assert "value" not in seen and set(seen) <= {"error", "unreadable"}

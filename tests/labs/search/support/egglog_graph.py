"""The same saturation by the library egglog, an engine of its own: it says whether ours is right.

It is given the rules that are patterns, and expressions of single steps on matrices of one shape.
Y. Zhang et al., "Better together: unifying Datalog and equality saturation", PLDI 2023.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import egglog

import rooflab as rl
from rooflab.labs.search.rewrite.cost import price_of
from rooflab.labs.search.rewrite.expression import (
    Array,
    Expression,
    Function,
    Map,
    Product,
    Transpose,
    make,
)
from rooflab.labs.search.rewrite.rules import Pattern, Rule, Scaled


class Matrix(egglog.Expr):
    def __init__(self, name: egglog.StringLike) -> None: ...


# Only the annotations count: egglog writes the functions itself.
@egglog.function
def product(a: Matrix, b: Matrix) -> Matrix: ...


@egglog.function
def transpose(a: Matrix) -> Matrix: ...


@egglog.function
def scaled(name: egglog.StringLike, number: egglog.f64Like, a: Matrix) -> Matrix: ...


@egglog.function
def map1(name: egglog.StringLike, a: Matrix) -> Matrix: ...


@egglog.function
def map2(name: egglog.StringLike, a: Matrix, b: Matrix) -> Matrix: ...


@dataclass(frozen=True, order=True)
class Best:
    """What egglog compares: a cost, then a number of operations. The value goes along."""

    cost: float
    operations: int
    value: Any = field(compare=False)


def cheapest(
    expression: Expression, names: Sequence[str] = (), cost: str = "bytes", rounds: int = 10
) -> Expression:
    """The cheapest expression that egglog finds; a term that occurs twice is paid twice."""
    kind = expression.dtype.kind
    known = [one for name, one in rl.search.rules().items() if not names or name in names]
    rules = [one for one in known if one.sides and one.only in ("", kind)]
    graph = egglog.EGraph()
    root = graph.let("root", written(expression))
    graph.run(egglog.ruleset(*(one for rule in rules for one in rewrites(rule, kind))) * rounds)
    leaves = {str(one): one for one in expression.subterms() if isinstance(one.op, Array)}
    price = price_of(cost)

    def model(_: Any, term: Any, below: Sequence[Best]) -> Best:
        if not isinstance(term, Matrix):
            return Best(0.0, 0, term.value)  # a name or a number
        one = read([best.value for best in below], leaves)
        own = price(one.op, [arg.form for arg in one.args], one.args)
        operations = 1 + sum(best.operations for best in below)
        return Best(own + sum(best.cost for best in below), operations, one)

    _, best = graph.extract(root, include_cost=True, cost_model=model)
    return best.value


def step(op: object, args: Sequence[Any]) -> Any:
    """A product, a transpose or a pass without a number, in egglog's words."""
    if isinstance(op, Map):
        return (map1, map2)[len(args) - 1](op.functions[0].name, *args)
    return transpose(*args) if isinstance(op, Transpose) else product(*args)


def written(one: Expression) -> Any:
    """An expression of ours as one of egglog's."""
    if isinstance(one.op, Array):
        return Matrix(one.op.name)
    args = [written(arg) for arg in one.args]
    if isinstance(one.op, Map) and one.op.functions[0].number is not None:
        return scaled(one.op.functions[0].name, one.op.functions[0].number, *args)
    return step(one.op, args)


def read(values: Sequence[Any], leaves: dict[str, Expression]) -> Expression:
    """An expression of egglog's as one of ours, its arguments being read already."""
    args = [value for value in values if isinstance(value, Expression)]
    literals = [value for value in values if not isinstance(value, Expression)]
    if not args:
        return leaves[literals[0]]
    if literals:
        return make(Map((Function(*literals),)), *args)
    return make(Transpose() if len(args) == 1 else Product(), *args)


def rewrites(rule: Rule, kind: str) -> Iterator[Any]:
    """The rule, once for each direction; of integers, each division leaves nothing over."""
    for left, right in rule.sides:
        whole = []
        match right:
            case Scaled(number=ast.BinOp(left=over, op=ast.Div(), right=by)) if kind != "float":
                rest = number(over) % number(by)
                whole = [egglog.eq(rest).to(egglog.f64(0.0))]
        yield egglog.rewrite(pattern(left)).to(pattern(right), *whole)


def pattern(one: Pattern) -> Any:
    """A pattern of ours as one of egglog's."""
    if isinstance(one, str):
        return egglog.var(one, Matrix)
    if isinstance(one, Scaled):
        return scaled(one.function, number(one.number), pattern(one.arg))
    return step(one.op, [pattern(arg) for arg in one.args])


def number(tree: ast.expr) -> Any:
    """The number of a pattern, with its letters as variables."""
    if isinstance(tree, ast.Constant):
        return egglog.f64(float(ast.literal_eval(tree)))
    names = {
        one.id: egglog.var(one.id, egglog.f64)
        for one in ast.walk(tree)
        if isinstance(one, ast.Name)
    }
    return eval(compile(ast.Expression(tree), "rule", "eval"), {"__builtins__": {}}, names)

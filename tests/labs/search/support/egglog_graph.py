"""The same saturation by the library egglog, an engine of its own: it says whether ours is right.

It is given the rules that are patterns, and expressions of single steps on matrices of one shape.
Y. Zhang et al., "Better together: unifying Datalog and equality saturation", PLDI 2023.
"""

from __future__ import annotations

import ast
import operator
import re
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
from rooflab.labs.search.rewrite.rules import Rule


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
    rules = [one for one in known if one.name != "fuse" and one.only in ("", kind)]
    graph = egglog.EGraph()
    root = graph.let("root", written(expression))
    graph.run(egglog.ruleset(*(one for rule in rules for one in rewrites(rule, kind))) * rounds)
    leaves = {str(one): one for one in expression.subterms() if isinstance(one.op, Array)}
    price = price_of(cost)

    def model(_: Any, term: Any, below: Sequence[Best]) -> Best:
        if not isinstance(term, Matrix):
            return Best(0.0, 0, term.value)  # a name or a number
        one = read([best.value for best in below], leaves)
        operations = 1 + sum(best.operations for best in below)
        return Best(price(one) + sum(best.cost for best in below), operations, one)

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


SIGNS = {
    ast.Add: ("add", operator.add), ast.Mult: ("mul", operator.mul),
    ast.Div: ("div", operator.truediv), ast.LShift: ("shift", None), ast.MatMult: ("@", None),
}  # fmt: skip


def rewrites(rule: Rule, kind: str) -> Iterator[Any]:
    """The rule, once for each direction; of integers, each division leaves nothing over."""
    left, right = (ast.parse(side.strip()).body[0].value for side in re.split("->|=", rule.says))
    whole = []
    match right:
        case ast.BinOp(left=ast.BinOp(left=over, op=ast.Div(), right=by)) if kind != "float":
            whole = [egglog.eq(pattern(over) % pattern(by)).to(egglog.f64(0.0))]
    yield egglog.rewrite(pattern(left)).to(pattern(right), *whole)
    if "=" in rule.says:
        yield egglog.rewrite(pattern(right)).to(pattern(left))


def pattern(tree: ast.expr) -> Any:
    """A side of a rule, or a part of it, as egglog's."""
    match tree:
        case ast.Name(id=name):
            return egglog.var(name, Matrix if name.isupper() else egglog.f64)
        case ast.Constant(value=value):
            return egglog.f64(float(value))
        case ast.Attribute(value=inner):
            return transpose(pattern(inner))
    args = pattern(tree.left), pattern(tree.right)
    name, apply = SIGNS[type(tree.op)]
    numbers = [one for one in args if not isinstance(one, Matrix)]
    if len(numbers) == 2:
        return apply(*args)
    if numbers:
        return scaled(name, *numbers, *(one for one in args if isinstance(one, Matrix)))
    return product(*args) if name == "@" else map2(name, *args)

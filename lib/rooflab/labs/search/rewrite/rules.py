"""Rules: two forms of one thing, such as (A @ B) @ C = A @ (B @ C), written as text.

A rule is a pattern and what may stand for it. Capital letters are any matrices, small letters any
numbers. ``->`` works in one direction, ``=`` in both. What a pattern cannot say, such as "any two
passes over elements", is a function.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from types import CodeType, MappingProxyType
from typing import NamedTuple, TypeAlias

from rooflab.count.validation import unknown
from rooflab.labs.search.rewrite.egraph import EGraph, Node
from rooflab.labs.search.rewrite.expression import Expression, Map, Op, Product, Transpose, make

# Patterns.


class Pattern(NamedTuple):
    """An operation on patterns or any matrices; a function of an element is its name.

    ``number`` is that of the function: a value, or the letter of any number.
    """

    op: Op | str
    args: tuple[Pattern | str, ...]
    number: str | float | None = None


#: What letters stand for: a class for a matrix, a value for a number.
Bound: TypeAlias = Mapping[str, float]


def _parse(tree: ast.expr) -> Pattern | str:
    match tree:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=inner, attr="T"):
            return Pattern(Transpose(), (_parse(inner),))
        case ast.BinOp(left=left, op=ast.MatMult(), right=right):
            return Pattern(Product(), (_parse(left), _parse(right)))
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return Pattern("add", (_parse(left), _parse(right)))
        case ast.BinOp(left=number, op=ast.Mult(), right=right):
            return Pattern("mul", (_parse(right),), _number(number))
        case ast.BinOp(left=left, op=ast.Div(), right=number):
            return Pattern("div", (_parse(left),), _number(number))
    raise ValueError(f"rule: {ast.unparse(tree)!r} is no pattern")


def _number(tree: ast.expr) -> str | float:
    return ast.literal_eval(tree) if isinstance(tree, ast.Constant) else ast.unparse(tree)


def _matches(graph: EGraph, pattern: Pattern | str, number: int, bound: Bound) -> Iterator[Bound]:
    """Every way to read class ``number`` as ``pattern``: what its letters stand for."""
    if isinstance(pattern, Pattern):
        for node in graph.nodes(number):
            yield from _node_matches(graph, pattern, node, bound)
    elif bound.get(pattern, graph.find(number)) == graph.find(number):
        yield {**bound, pattern: graph.find(number)}


def _node_matches(graph: EGraph, pattern: Pattern, node: Node, bound: Bound) -> Iterator[Bound]:
    name: Op | str = node.op
    value: float | None = None
    if isinstance(node.op, Map) and len(node.op.functions) == 1:
        (function,) = node.op.functions
        name, value = function.name, function.number
    wanted = pattern.number
    if isinstance(wanted, str) and value is not None:
        bound = {wanted: value, **bound}
        wanted = bound[wanted]
    if (name, value) != (pattern.op, wanted):
        return
    found = [bound]
    for inner, arg in zip(pattern.args, node.args, strict=True):
        found = [two for one in found for two in _matches(graph, inner, arg, one)]
    yield from found


# Rules.

#: All terms that equal a node of a class, which is given by its number.
Rewrites: TypeAlias = Callable[[EGraph, int, Node], Iterator[Expression | None]]


@dataclass(frozen=True)
class Rule:
    """A rule that expressions may be rewritten by.

    ``rewrites`` gives all terms that a node of an e-graph may be replaced by, and None for one that
    does not exist; ``only`` is "float" or "int" for a rule that is true of these alone.
    """

    name: str
    says: str
    rewrites: Rewrites
    only: str = ""

    def __repr__(self) -> str:
        return f"<Rule {self.name}: {self.says}>"

    def terms(self, graph: EGraph, number: int, node: Node) -> Iterator[Expression]:
        """Terms that equal ``node`` of class ``number``, where the rule holds for its numbers."""
        form = graph.form(number)
        if self.only not in ("", form.dtype.kind):
            return
        for term in self.rewrites(graph, number, node):
            # A row that was repeated for a sum has no product, and no shape of the sum's.
            if term is not None and term.form == form:
                yield term


def _rule(name: str, says: str, only: str) -> Rule:
    """The rule that two patterns say with ``->`` or ``=`` between them."""
    left, right = (ast.parse(side.strip(), mode="eval") for side in re.split("->|=", says))
    ways = [(left, right)] if "->" in says else [(left, right), (right, left)]
    known = [(_parse(one.body), compile(other, "rule", "eval")) for one, other in ways]

    def rewrites(graph: EGraph, _: int, node: Node) -> Iterator[Expression | None]:
        for pattern, code in known:
            assert isinstance(pattern, Pattern)
            for bound in _node_matches(graph, pattern, node, {}):
                yield _filled(code, graph, bound)

    return Rule(name, says, rewrites, only)


def _filled(code: CodeType, graph: EGraph, bound: Bound) -> Expression | None:
    """The expression; None where matrices do not fit, or numbers do not exist."""
    letters = {
        letter: graph.member(int(value)) if letter.isupper() else value
        for letter, value in bound.items()
    }
    try:
        return eval(code, {"__builtins__": {}}, letters)  # type: ignore[no-any-return]
    except (ValueError, ArithmeticError):
        return None


# What no pattern says.


def _fuse(graph: EGraph, number: int, node: Node) -> Iterator[Expression]:
    """A pass over elements whose first operand comes from another pass: one pass does both."""
    if not isinstance(node.op, Map):
        return
    first = node.args[0]
    for inner in graph.nodes(first):
        if isinstance(inner.op, Map) and len(inner.op.functions + node.op.functions) <= LONGEST:
            args = (*inner.args, *node.args[1:])
            if number not in args and first not in inner.args:  # those only go round in a circle
                yield make(Map(inner.op.functions + node.op.functions), *map(graph.member, args))


LONGEST = 8  # functions of a fused pass

_PATTERNS = (
    ("associate", "(A @ B) @ C = A @ (B @ C)", ""),
    ("distribute", "(A + B) @ C = A @ C + B @ C", ""),
    ("distribute-left", "A @ (B + C) = A @ B + A @ C", ""),
    ("transpose-twice", "A.T.T -> A", ""),
    ("transpose-product", "(A @ B).T = B.T @ A.T", ""),
    ("transpose-sum", "(A + B).T = A.T + B.T", ""),
    ("transpose-scale", "(s * A).T = s * A.T", ""),
    ("scale-product", "s * (A @ B) = (s * A) @ B", ""),
    ("scale-product-right", "s * (A @ B) = A @ (s * B)", ""),
    ("scale-sum", "s * (A + B) = s * A + s * B", ""),
    ("scale-twice", "s * (t * A) -> (s * t) * A", ""),
    ("multiply-divide", "(s * A) / t -> (s / t) * A", ""),
    ("divide-multiply", "s * (A / t) -> (s / t) * A", "float"),
    ("once", "1 * A -> A", ""),
    ("twice", "A + A -> 2 * A", ""),
    ("shift", "2 * A -> A << 1", "int"),
    ("collect", "s * A + t * A -> (s + t) * A", ""),
    ("commute", "A + B -> B + A", ""),
    ("associate-sum", "(A + B) + C = A + (B + C)", ""),
)


@cache
def rules() -> Mapping[str, Rule]:
    """List the rules of the course by name.

    ``fuse`` chooses a pass that does more at once; the others are laws of real numbers:
    floating-point results differ in their last digits, and integers are taken not to overflow.

    >>> print(rl.search.rules()["fuse"].says)
    one pass over the elements after another -> both in one pass
    """
    found = {name: _rule(name, says, only) for name, says, only in _PATTERNS}
    says = "one pass over the elements after another -> both in one pass"
    found["fuse"] = Rule("fuse", says, _fuse)
    return MappingProxyType(found)


#: Names of rules; None for all of the course's.
Rules: TypeAlias = Iterable[str] | None


def as_rules(given: Rules) -> list[Rule]:
    """The rules of these names, in their order."""
    known, names = rules(), (given,) if isinstance(given, str) else given
    for name in names or ():
        if name not in known:
            raise unknown("rules", name, known)
    return list(known.values()) if names is None else [known[name] for name in names]

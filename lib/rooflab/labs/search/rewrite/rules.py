"""Rules: two forms of one thing, such as (A @ B) @ C = A @ (B @ C), written as text.

A rule is a pattern and what may stand for it. Capital letters are any matrices, small letters any
numbers. ``->`` works in one direction, ``=`` in both. A rule that is not true of random matrices is
refused. What a pattern cannot say, such as "any two passes over elements", is a function.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial
from types import CodeType, MappingProxyType
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from rooflab.count.elementwise import ARITY
from rooflab.count.validation import unknown
from rooflab.labs.search.rewrite.egraph import EGraph, Node
from rooflab.labs.search.rewrite.expression import (
    Expression,
    Map,
    Op,
    Product,
    Transpose,
    elementwise,
    make,
    matrix,
)

# Patterns.


class Pattern(NamedTuple):
    """An operation on patterns or any matrices; a function of an element is its name.

    ``number`` is that of the function: a value, or the letter of any number.
    """

    op: Op | str
    args: tuple[Pattern | str, ...]
    number: str | float | None = None


class Side(NamedTuple):
    """A side of a rule: what to look for, and Python that makes it of what letters stand for."""

    pattern: Pattern | str
    code: CodeType
    letters: frozenset[str]

    def filled(self, letters: Mapping[str, Any]) -> Expression | None:
        """The expression; None where matrices do not fit, or numbers do not exist."""
        try:
            return eval(self.code, _FUNCTIONS, dict(letters))  # type: ignore[no-any-return]
        except (ValueError, ArithmeticError):
            return None


_FUNCTIONS = {"__builtins__": {}, **{name: partial(elementwise, name) for name in ARITY}}
_SIGNS = {ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "div"}
#: What letters stand for: a class for a matrix, a value for a number.
Bound: TypeAlias = Mapping[str, float]


def _side(text: str) -> Side:
    tree = ast.parse(text.strip(), mode="eval")
    names = {one.id for one in ast.walk(tree) if isinstance(one, ast.Name)}
    pattern = _parse(tree.body)
    return Side(pattern, compile(tree, "rule", "eval"), frozenset(names - ARITY.keys()))


def _parse(tree: ast.expr) -> Pattern | str:
    match tree:
        case ast.Name(id=name) if name.isupper():
            return name
        case ast.Attribute(value=inner, attr="T"):
            return Pattern(Transpose(), (_parse(inner),))
        case ast.BinOp(left=left, op=ast.MatMult(), right=right):
            return Pattern(Product(), (_parse(left), _parse(right)))
        case ast.BinOp(left=left, op=ast.LShift(), right=bits) if _is_number(bits):
            return Pattern("shift", (_parse(left),), _number(bits))
        case ast.BinOp(left=number, op=ast.Mult(), right=right) if _is_number(number):
            return Pattern("mul", (_parse(right),), _number(number))
        case ast.BinOp(left=left, op=ast.Div(), right=number) if _is_number(number):
            return Pattern("div", (_parse(left),), _number(number))
        case ast.BinOp(left=left, op=sign, right=right) if type(sign) in _SIGNS:
            return Pattern(_SIGNS[type(sign)], (_parse(left), _parse(right)))
        case ast.Call(func=ast.Name(id=name), args=args) if name in ARITY:
            return Pattern(name, tuple(map(_parse, args)))
    raise ValueError(f"rule: {ast.unparse(tree)!r} is no pattern; see rl.search.rules()")


def _is_number(tree: ast.expr) -> bool:
    if isinstance(tree, ast.BinOp):
        return type(tree.op) in _SIGNS and _is_number(tree.left) and _is_number(tree.right)
    return isinstance(tree, ast.Constant) or (isinstance(tree, ast.Name) and tree.id.islower())


def _number(tree: ast.expr) -> str | float:
    match tree:
        case ast.Constant(value=int() | float() as value):
            return value
        case ast.Name(id=name):
            return name
    return math.nan  # a sum, say, is for the other side: no number is read as one


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
    """A rule that expressions may be rewritten by. Make one of your own with :func:`rule`.

    ``rewrites`` gives all terms that a node of an e-graph may be replaced by, and None for one that
    does not exist; ``only`` is "float" or "int" for a rule that is true of these alone.

    >>> rl.search.rules()["associate"]
    <Rule associate: (A @ B) @ C = A @ (B @ C)>
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


def rule(says: str, name: str = "", only: str = "") -> Rule:
    """Make a rule, such as ``rule("A @ B + A @ C = A @ (B + C)")``; an untrue one is refused.

    Two patterns with ``->`` or ``=`` between them. Capital letters are matrices, small ones are
    numbers. Operators are those of Python: ``@``, ``+``, ``-``, ``*``, ``/``, ``<<``, ``.T``, and
    functions by their names. ``only`` limits it to "float" or "int".

    >>> rl.search.rule("A @ B -> B @ A")
    Traceback (most recent call last):
    ...
    ValueError: rule: A @ B -> B @ A is not true: element (0, 0) of random matrices is ...
    """
    if not isinstance(says, str):
        raise TypeError(f"rule={says!r} must be text, such as 'A + A -> 2 * A'")
    if only not in ("", "float", "int"):
        raise unknown("only", only, ("float", "int"))
    directions = _directions(says)
    for left, right in directions:
        if isinstance(left.pattern, str):
            raise ValueError(f"rule: the left of {says!r} is a lone letter and fits everything")
        if extra := right.letters - left.letters:
            raise ValueError(f"rule: {says!r} does not say what {min(extra)} is")
    _require_truth(says, *directions[0], only)

    def rewrites(graph: EGraph, _: int, node: Node) -> Iterator[Expression | None]:
        for left, right in directions:
            assert isinstance(left.pattern, Pattern)
            for bound in _node_matches(graph, left.pattern, node, {}):
                yield right.filled({
                    letter: graph.member(int(value)) if letter.isupper() else value
                    for letter, value in bound.items()
                })  # fmt: skip

    return Rule(name or says, says, rewrites, only)


def _directions(says: str) -> list[tuple[Side, Side]]:
    both = "->" not in says
    parts = says.split("=" if both else "->")
    if len(parts) != 2:
        raise ValueError(f"rule={says!r} must be two patterns with '->' or '=' between them")
    try:
        left, right = map(_side, parts)
    except SyntaxError as error:
        raise ValueError(f"rule={says!r} is no Python: {error.msg}") from None
    return [(left, right), (right, left)] if both else [(left, right)]


# Whether a rule is true.

DRAWS = 64  # of the numbers in a rule, each out of
_TRIED = (-4, -3, -2, -1, 1, 2, 3, 6)
_FORMATS = {"float": ("fp64", "float64"), "int": ("int32", "int32")}
SIDE = 3  # of the matrices that a rule is tried on


@np.errstate(all="ignore")  # what has no value has none on both sides
def _require_truth(says: str, left: Side, right: Side, only: str) -> None:
    """Raise ValueError where the two sides differ on random matrices.

    What a format cannot say on both sides, such as half of an integer, is left out.
    """
    rng = np.random.default_rng(0)
    letters = [name for name in sorted(left.letters) if name.islower()]
    draws = rng.choice(_TRIED, (DRAWS if letters else 1, len(letters))).tolist()
    tried = 0
    for dtype, numpys in (_FORMATS[kind] for kind in _FORMATS if only in ("", kind)):
        names = sorted(left.letters - {*letters})
        arrays = {name: rng.integers(-9, 9, (SIDE, SIDE)).astype(numpys) for name in names}
        of: dict[str, Any] = {name: matrix(name, SIDE, SIDE, dtype) for name in names}
        for numbers in (dict(zip(letters, drawn)) for drawn in draws):
            one, other = (side.filled(of | numbers) for side in (left, right))
            if one is None or other is None:
                continue
            tried += 1
            here, there = one.value(arrays), other.value(arrays)
            for at in map(tuple, np.argwhere(~np.isclose(here, there, equal_nan=True)).tolist()):
                given = ", ".join([dtype, *(f"{name} = {numbers[name]:g}" for name in numbers)])
                raise ValueError(
                    f"rule: {says} is not true: element {at} of random matrices is {here[at]:g} on "
                    f"the left and {there[at]:g} on the right ({given})"
                )
    if not tried:
        raise ValueError(f"rule: {says} says nothing of any number that was tried")


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
    found = {name: rule(says, name, only) for name, says, only in _PATTERNS}
    says = "one pass over the elements after another -> both in one pass"
    found["fuse"] = Rule("fuse", says, _fuse)
    return MappingProxyType(found)


#: Names of rules, rules, or both; None for all of the course's.
Rules: TypeAlias = Iterable[str | Rule] | None


def as_rules(given: Rules) -> list[Rule]:
    """The rules that are ``given``, in their order; ValueError for a name that is none."""
    known = rules()
    if given is None:
        return list(known.values())
    found = []
    for one in (given,) if isinstance(given, (str, Rule)) else given:
        if isinstance(one, str) and one not in known:
            raise unknown("rules", one, known)
        if not isinstance(one, (str, Rule)):
            raise TypeError(f"rules: {one!r} must be the name of a rule, or a rule")
        found.append(known[one] if isinstance(one, str) else one)
    return found

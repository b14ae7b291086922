"""Rules: two forms of one thing, such as (A @ B) @ C = A @ (B @ C), written as text.

A rule is a pattern and what may stand for it. Capital letters are any matrices, small letters any
numbers. ``->`` works in one direction, ``=`` in both. A rule that is not true of random matrices is
refused. What a pattern cannot say, such as "any two passes over elements", is a function.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias

from rooflab.count.dtypes import as_dtype
from rooflab.count.elementwise import ARITY
from rooflab.count.validation import unknown
from rooflab.labs.search.rewrite.egraph import EGraph, Node, Plan, Term
from rooflab.labs.search.rewrite.expression import (
    ON_INTEGERS,
    Expression,
    Form,
    Function,
    Map,
    Op,
    Product,
    Transpose,
    infer,
    make,
    matrix,
)

# Patterns.


class Apply(NamedTuple):
    """A pattern: an operation on patterns."""

    op: Op
    args: tuple[Pattern, ...]


class Scaled(NamedTuple):
    """A pattern: a function with a number, such as s * A; the number may be a small sum."""

    function: str
    number: ast.expr
    arg: Pattern


Pattern: TypeAlias = str | Apply | Scaled  # text is a variable, any matrix
Bound: TypeAlias = Mapping[str, int | float]  # a class for a matrix, a float for a number
_OPERATORS = {ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "div"}
_ARITHMETIC: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
}  # fmt: skip


def _parse(tree: ast.expr) -> Pattern:
    match tree:
        case ast.Name(id=name) if name.isupper():
            return name
        case ast.Attribute(value=inner, attr="T"):
            return Apply(Transpose(), (_parse(inner),))
        case ast.BinOp(left=left, op=ast.MatMult(), right=right):
            return Apply(Product(), (_parse(left), _parse(right)))
        case ast.BinOp(left=left, op=ast.LShift(), right=bits):
            return Scaled("shift", bits, _parse(left))
        case ast.BinOp(left=number, op=ast.Mult(), right=right) if _is_number(number):
            return Scaled("mul", number, _parse(right))
        case ast.BinOp(left=left, op=ast.Div(), right=number) if _is_number(number):
            return Scaled("div", number, _parse(left))
        case ast.BinOp(left=left, op=sign, right=right) if type(sign) in _OPERATORS:
            function = Function(_OPERATORS[type(sign)])
            return Apply(Map((function,)), (_parse(left), _parse(right)))
        case ast.Call(func=ast.Name(id=name), args=args) if name in ARITY:
            return Apply(Map((Function(name),)), tuple(map(_parse, args)))
    raise ValueError(f"rule: {ast.unparse(tree)!r} is no pattern; see rl.search.rules()")


def _is_number(tree: ast.expr) -> bool:
    names = [one.id for one in ast.walk(tree) if isinstance(one, ast.Name)]
    return all(name.islower() for name in names) and not isinstance(tree, ast.Call)


def _number(tree: ast.expr, bound: Bound) -> float:
    match tree:
        case ast.Constant(value=int() | float() as value):
            return float(value)
        case ast.Name(id=name):
            return float(bound[name])
        case ast.BinOp(left=left, op=sign, right=right) if type(sign) in _ARITHMETIC:
            return _ARITHMETIC[type(sign)](_number(left, bound), _number(right, bound))
    raise ValueError(f"rule: {ast.unparse(tree)!r} is no number")


def _names(pattern: Pattern) -> set[str]:
    if isinstance(pattern, str):
        return {pattern}
    if isinstance(pattern, Scaled):
        numbers = {one.id for one in ast.walk(pattern.number) if isinstance(one, ast.Name)}
        return _names(pattern.arg) | numbers
    return set().union(*map(_names, pattern.args))


def _matches(graph: EGraph, pattern: Pattern, number: int, bound: Bound) -> Iterator[Bound]:
    """Every way to read class ``number`` as ``pattern``: what its letters stand for."""
    if isinstance(pattern, str):
        known = bound.get(pattern)
        if known is None:
            yield {**bound, pattern: graph.find(number)}
        elif known == graph.find(number):
            yield bound
        return
    for node in graph.nodes(number):
        yield from _node_matches(graph, pattern, node, bound)


def _node_matches(
    graph: EGraph, pattern: Apply | Scaled, node: Node, bound: Bound
) -> Iterator[Bound]:
    if isinstance(pattern, Apply):
        if node.op == pattern.op:
            found: Sequence[Bound] = [bound]
            for inner, arg in zip(pattern.args, node.args, strict=True):
                found = [two for one in found for two in _matches(graph, inner, arg, one)]
            yield from found
        return
    if not isinstance(node.op, Map) or len(node.op.functions) > 1:
        return
    (function,) = node.op.functions
    if function.name != pattern.function or function.number is None:
        return
    match pattern.number:
        case ast.Name(id=name) if bound.get(name, function.number) == function.number:
            yield from _matches(graph, pattern.arg, node.args[0], {**bound, name: function.number})
        case ast.Constant(value=value) if value == function.number:
            yield from _matches(graph, pattern.arg, node.args[0], bound)


def _plan(pattern: Pattern, bound: Bound) -> Term:
    """What ``pattern`` says with its letters filled in."""
    if isinstance(pattern, str):
        return int(bound[pattern])
    if isinstance(pattern, Apply):
        return Plan(pattern.op, tuple(_plan(arg, bound) for arg in pattern.args))
    function = Function(pattern.function, _number(pattern.number, bound))
    return Plan(Map((function,)), (_plan(pattern.arg, bound),))


# Rules.

#: All terms that equal a node of a class, which is given by its number.
Rewrites: TypeAlias = Callable[[EGraph, int, Node], Iterator[Term]]


@dataclass(frozen=True)
class Rule:
    """A rule that expressions may be rewritten by. Make one of your own with :func:`rule`.

    ``rewrites`` gives all terms that a node of an e-graph may be replaced by; ``sides`` are the
    patterns, none for a function; ``only`` is "float" or "int" for one that is true of these alone.

    >>> rl.search.rules()["associate"]
    <Rule associate: (A @ B) @ C = A @ (B @ C)>
    """

    name: str
    says: str
    rewrites: Rewrites
    sides: tuple[tuple[Pattern, Pattern], ...] = ()
    only: str = ""

    def __repr__(self) -> str:
        return f"<Rule {self.name}: {self.says}>"

    def terms(self, graph: EGraph, number: int, node: Node) -> Iterator[Term]:
        """Terms that equal ``node`` of class ``number``, where the rule holds for its numbers."""
        form = graph.form(number)
        if self.only not in ("", form.dtype.kind):
            return
        for term in self.rewrites(graph, number, node):
            # A row that was repeated for a sum has no product, and no shape of the sum's.
            if _form(graph, term) == form:
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
    sides = _sides(says)
    for left, right in sides:
        if isinstance(left, str):
            raise ValueError(f"rule: the left of {says!r} is a lone letter and fits everything")
        if extra := _names(right) - _names(left):
            raise ValueError(f"rule: {says!r} does not say what {min(extra)} is")
    _require_truth(says, sides, only)

    def rewrites(graph: EGraph, _: int, node: Node) -> Iterator[Term]:
        for left, right in sides:
            assert not isinstance(left, str)
            for bound in _node_matches(graph, left, node, {}):
                try:
                    term = _plan(right, bound)
                except ZeroDivisionError:
                    continue  # the rule says nothing of this number
                if _exists(term, graph.form(node.args[0]).dtype.kind):
                    yield term

    return Rule(name or says, says, rewrites, sides, only)


def _sides(says: str) -> tuple[tuple[Pattern, Pattern], ...]:
    both = "->" not in says
    parts = says.split("=" if both else "->")
    if len(parts) != 2:
        raise ValueError(f"rule={says!r} must be two patterns with '->' or '=' between them")
    try:
        left, right = (_parse(ast.parse(part.strip(), mode="eval").body) for part in parts)
    except SyntaxError as error:
        raise ValueError(f"rule={says!r} is no Python: {error.msg}") from None
    return ((left, right), (right, left)) if both else ((left, right),)


def _form(graph: EGraph, term: Term) -> Form | None:
    """Shape and format of a term, or None where its parts do not fit each other."""
    if isinstance(term, int):
        return graph.form(term)
    args = [_form(graph, arg) for arg in term.args]
    known = [arg for arg in args if arg is not None]
    try:
        return infer(term.op, known) if len(known) == len(args) else None
    except ValueError:
        return None


def _exists(term: Term, kind: str) -> bool:
    """Whether numbers of this kind can say it: there is no half of an integer."""
    if isinstance(term, int):
        return True
    functions = term.op.functions if isinstance(term.op, Map) else ()
    whole = all(_possible(one.name, one.number, kind) for one in functions)
    return whole and all(_exists(arg, kind) for arg in term.args)


def _possible(function: str, number: float | None, kind: str) -> bool:
    """Whether a function can take a number, of this kind: nothing is divided by 0."""
    if number is None:
        return True
    least = 0.0 if function == "shift" else -math.inf
    if not least <= number < math.inf or (function == "div" and not number):
        return False
    return kind == "float" or number == int(number)


# Whether a rule is true.

DRAWS = 64  # of the numbers in a rule, each out of
_TRIED = (-4.0, -3.0, -2.0, -1.0, 1.0, 2.0, 3.0, 6.0)
_FORMATS = {"": ("fp64", "int32"), "float": ("fp64",), "int": ("int32",)}


def _require_truth(says: str, sides: Sequence[tuple[Pattern, Pattern]], only: str) -> None:
    """Raise ValueError where the two sides differ on random matrices.

    A format that has not the functions on the left never meets the rule. Numbers that it cannot
    say, such as half of an integer, are left out.
    """
    import numpy as np

    left, right = sides[0]
    rng = np.random.default_rng(0)
    letters = [name for name in sorted(_names(left)) if name.islower()]
    drawn = rng.choice(_TRIED, (DRAWS if letters else 1, len(letters))).tolist()
    draws = [dict(zip(letters, numbers)) for numbers in drawn]
    tried = 0
    for dtype in _FORMATS[only]:
        kind = as_dtype("dtype", dtype).kind
        for one, other in sides:
            if not _lacking(one, kind) and (lacking := _lacking(other, kind)):
                raise ValueError(f"rule: {says} is not true of {dtype}, which has no {lacking}")
        if _lacking(left, kind):
            continue
        matrices = {
            name: rng.integers(-9, 9, (SIDE, SIDE)).astype(_NUMPY[dtype])
            for name in sorted(_names(left)) if name.isupper()
        }  # fmt: skip
        for numbers in draws:
            if _sayable(left, numbers, kind) and _sayable(right, numbers, kind):
                _require_equal(says, left, right, matrices, numbers, dtype)
                tried += 1
    if not tried:
        raise ValueError(f"rule: {says} says nothing of any number that was tried")


SIDE = 3  # of the matrices that a rule is tried on
_NUMPY = {"fp64": "float64", "int32": "int32"}


def _require_equal(
    says: str, left: Pattern, right: Pattern, matrices: Mapping[str, Any], numbers: Bound,
    dtype: str,
) -> None:  # fmt: skip
    import numpy as np

    of = {name: matrix(name, SIDE, SIDE, dtype) for name in matrices}
    with np.errstate(all="ignore"):  # what has no value has none on both sides
        one, other = (_filled(side, of, numbers).value(matrices) for side in (left, right))
        differs = np.argwhere(~np.isclose(one, other, equal_nan=True))
    if len(differs):
        row, column = (int(at) for at in differs[0])
        given = ", ".join([dtype, *(f"{name} = {value:g}" for name, value in numbers.items())])
        raise ValueError(
            f"rule: {says} is not true: element ({row}, {column}) of random matrices is "
            f"{one[row, column]:g} on the left and {other[row, column]:g} on the right ({given})"
        )


def _lacking(pattern: Pattern, kind: str) -> str:
    """A function in a pattern that numbers of this kind do not have, or ""."""
    if isinstance(pattern, str):
        return ""
    if isinstance(pattern, Scaled):
        names, args = [pattern.function], [pattern.arg]
    else:
        functions = pattern.op.functions if isinstance(pattern.op, Map) else ()
        names, args = [one.name for one in functions], [*pattern.args]
    for name in names:
        if name not in ON_INTEGERS if kind == "int" else name == "shift":
            return name
    return next(filter(None, (_lacking(arg, kind) for arg in args)), "")


def _sayable(pattern: Pattern, numbers: Bound, kind: str) -> bool:
    """Whether every number in a pattern exists, and is one of this kind."""
    if isinstance(pattern, str):
        return True
    if isinstance(pattern, Apply):
        return all(_sayable(arg, numbers, kind) for arg in pattern.args)
    try:
        number = _number(pattern.number, numbers)
    except ZeroDivisionError:
        return False
    return _possible(pattern.function, number, kind) and _sayable(pattern.arg, numbers, kind)


def _filled(pattern: Pattern, of: Mapping[str, Expression], numbers: Bound) -> Expression:
    if isinstance(pattern, str):
        return of[pattern]
    if isinstance(pattern, Scaled):
        function = Function(pattern.function, _number(pattern.number, numbers))
        return make(Map((function,)), _filled(pattern.arg, of, numbers))
    return make(pattern.op, *(_filled(arg, of, numbers) for arg in pattern.args))


# What no pattern says.


def _fuse(graph: EGraph, number: int, node: Node) -> Iterator[Term]:
    """A pass over elements whose first operand comes from another pass: one pass does both."""
    if not isinstance(node.op, Map):
        return
    first = node.args[0]
    for inner in graph.nodes(first):
        if isinstance(inner.op, Map) and len(inner.op.functions + node.op.functions) <= LONGEST:
            args = (*inner.args, *node.args[1:])
            if number not in args and first not in inner.args:  # those only go round in a circle
                yield Plan(Map(inner.op.functions + node.op.functions), args)


def _read_transposed(graph: EGraph, _: int, node: Node) -> Iterator[Term]:
    """A product of a transpose: the routine reads the matrix the other way, without a copy."""
    if not isinstance(node.op, Product):
        return
    for at, flag in enumerate(("left_transposed", "right_transposed")):
        for inner in graph.nodes(node.args[at]):
            if isinstance(inner.op, Transpose):
                args = list(node.args)
                args[at] = inner.args[0]
                flipped = replace(node.op, **{flag: not getattr(node.op, flag)})
                yield Plan(flipped, tuple(args))


def _accumulate(graph: EGraph, _: int, node: Node) -> Iterator[Term]:
    """A product and then a sum: the routine adds to what C holds."""
    if node.op != Map((Function("add"),)):
        return
    for at, other in ((0, 1), (1, 0)):
        if graph.form(node.args[at]).shape != graph.form(node.args[other]).shape:
            continue
        for inner in graph.nodes(node.args[at]):
            if isinstance(inner.op, Product) and not inner.op.adds:
                yield Plan(replace(inner.op, adds=True), (*inner.args, node.args[other]))


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

    ``fuse``, ``accumulate`` and ``read-transposed`` choose a routine that does more at once; the
    others are laws of real numbers: floating-point results differ in their last digits, and
    integers are taken not to overflow.

    >>> print(rl.search.rules()["fuse"].says)
    one pass over the elements after another -> both in one pass
    """
    found = {name: rule(says, name, only) for name, says, only in _PATTERNS}
    for name, says, rewrites in (
        ("fuse", "one pass over the elements after another -> both in one pass", _fuse),
        ("accumulate", "A @ B + C -> gemm(A, B, C)", _accumulate),
        ("read-transposed", "A.T @ B -> gemm(A.T, B)", _read_transposed),
    ):
        found[name] = Rule(name, says, rewrites)
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

"""Statements of a loop nest, read from text: ``C[i,j] += A[i,k]*B[k,j]``.

The text is parsed by Python's ``ast`` and never run. What is understood: one assignment to an array
element; whole multiples of loops as subscripts; numbers, array elements, + - * / and the functions
of ``FUNCTIONS`` on the right.
"""

from __future__ import annotations

import ast
import keyword
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

from rooflab.labs.loops.language.expression import Affine, constant, variable

FUNCTIONS = {"sqrt": 1, "sin": 1, "exp": 1, "max": 2, "min": 2}
_OPERATORS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}
_UPDATES = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*"}
_REDUCTIONS = ("+", "*", "max", "min")
NAMES = "STUVWXYZ"
_TAKEN = {*FUNCTIONS, "backend", "nest", "range", "self", "threads"}  # by code, and by Nest.run


@dataclass(frozen=True)
class Access:
    """One element of an array, by its subscripts."""

    array: str
    subscripts: tuple[Affine, ...]

    def text(self) -> str:
        """The access as it is written: ``A[i + 1, j]``."""
        return f"{self.array}[{', '.join(map(str, self.subscripts))}]"

    def cell(self, values: Mapping[str, int]) -> tuple[int, ...]:
        """The element's index where the loops have ``values``."""
        return tuple(int(e.at(values)) for e in self.subscripts)

    def number(self, shape: Sequence[int]) -> Affine:
        """The element's number in an array of this shape, whose rows lie one after the other."""
        total = Affine()
        for subscript, room in zip(self.subscripts, shape):
            total = total * room + subscript
        return total

    def replace(self, new: Mapping[str, Affine]) -> Access:
        """The access with loop variables replaced."""
        return Access(self.array, tuple(e.replace(new) for e in self.subscripts))


@dataclass(frozen=True)
class Apply:
    """An operator or function on values: ``+ - * /``, "negative", or one of ``FUNCTIONS``."""

    function: str
    arguments: tuple[Value, ...]


Value = float | Access | Apply


@dataclass(frozen=True)
class Statement:
    """An assignment. A reduction joins ``value`` to what ``target`` holds, by its operator.

    It may be spelled ``s += a``, ``s = a + s``, ``s = s + a + b`` or ``s -= a``, with -a as value.
    """

    name: str
    text: str
    target: Access
    value: Value
    reduction: str = ""  # "", "+", "*", "max" or "min"

    @property
    def reads(self) -> tuple[Access, ...]:
        """What is read, the target of a reduction last."""
        found = tuple(dict.fromkeys(accesses(self.value)))
        return (*found, self.target) if self.reduction else found

    @property
    def flops(self) -> int:
        """FLOP of one iteration: one for each operation and function, and for a reduction.

        A sign costs one too, as ``neg`` does in ``rl.elementwise``, but not that of a number.
        """
        return _operations(self.whole)

    @property
    def names(self) -> set[str]:
        """The loops that subscripts mention."""
        every = (self.target, *accesses(self.value))
        return {name for one in every for e in one.subscripts for name in e.names()}

    @property
    def whole(self) -> Value:
        """All that is assigned: a reduction's own target with its value."""
        value = self.value
        if self.reduction == "+" and isinstance(value, Apply) and value.function == "negative":
            return Apply("-", (self.target, *value.arguments))
        return Apply(self.reduction, (self.target, value)) if self.reduction else value


def nameable(name: str) -> bool:
    """Whether an array or a loop may have this name in generated code."""
    ours = name.startswith(("acc_", "reg_", "_")) or name.endswith("_packed")
    return name.isidentifier() and not keyword.iskeyword(name) and name not in _TAKEN and not ours


def accesses(value: Value) -> Iterator[Access]:
    """Every access in a value, from left to right."""
    if isinstance(value, Access):
        yield value
    elif isinstance(value, Apply):
        for argument in value.arguments:
            yield from accesses(argument)


def _operations(value: Value) -> int:
    if not isinstance(value, Apply):
        return 0
    signed = value.function == "negative" and isinstance(value.arguments[0], float)
    return (not signed) + sum(map(_operations, value.arguments))


def statements(text: object, loops: tuple[str, ...]) -> tuple[Statement, ...]:
    """Read statements separated by ";" over these loops.

    Raises TypeError for what is no text and ValueError with the place of what is not understood.
    """
    if not isinstance(text, str):
        raise TypeError(f"text={text!r} must be statements such as 'C[i,j] += A[i,k]*B[k,j]'")
    parts = [part.strip() for part in text.split(";") if part.strip()]
    if not parts:
        raise ValueError("text='' holds no statement; write one such as 'B[i] = 2*A[i]'")
    if len(parts) > len(NAMES):
        raise ValueError(f"text has {len(parts)} statements; {len(NAMES)} are the most")
    return tuple(_Reader(part, loops).statement(name) for name, part in zip(NAMES, parts))


def _reduced(target: Access, value: Value) -> tuple[Value, str]:
    """Return what is joined to ``target`` and by what; ``value`` and "" if it is no reduction."""
    for operator in _REDUCTIONS:
        terms = list(_terms(value, operator))
        rest = [one for one in terms if one != (1, target)]
        alone = len(rest) == len(terms) - 1 and rest
        if alone and not any(target in accesses(term) for _, term in rest):
            return _joined(rest, operator), operator
    return value, ""


def _terms(value: Value, operator: str, sign: int = 1) -> Iterator[tuple[int, Value]]:
    """The values that ``operator`` joins, each with its sign."""
    function = value.function if isinstance(value, Apply) else ""
    if not isinstance(value, Apply) or function not in (operator, *("-" * (operator == "+"))):
        yield sign, value
        return
    first, second = value.arguments
    yield from _terms(first, operator, sign)
    yield from _terms(second, operator, -sign if function == "-" else sign)


def _joined(terms: Sequence[tuple[int, Value]], operator: str) -> Value:
    """Join values again: first those that are added, then those that are taken away."""

    def join(function: str, values: Iterable[Value]) -> Value:
        return reduce(lambda one, other: Apply(function, (one, other)), values)

    added = [term for sign, term in terms if sign > 0]
    less = [term for sign, term in terms if sign < 0]
    if not added:
        return Apply("negative", (join(operator, less),))
    return join("-", [join(operator, added), *less])


@dataclass(frozen=True)
class _Reader:
    """One statement's text, and how its parts become ours."""

    text: str
    loops: tuple[str, ...]

    def wrong(self, node: ast.AST, why: str) -> ValueError:
        column = getattr(node, "col_offset", 0)
        part = ast.get_source_segment(self.text, node) or self.text[column:]
        return ValueError(f"{self.text!r}, column {column + 1}, {part!r}: {why}")

    def statement(self, name: str) -> Statement:
        try:
            body = ast.parse(self.text).body
        except (SyntaxError, RecursionError, MemoryError) as error:
            column = getattr(error, "offset", None) or 1
            raise ValueError(f"{self.text!r}, column {column}: this is no assignment") from None
        node = body[0]
        if len(body) > 1:
            raise self.wrong(body[1], "this is a second statement; write ';' between two")
        if isinstance(node, ast.AugAssign):
            if type(node.op) not in _UPDATES:
                raise self.wrong(node, "of the updates, +=, -= and *= are understood")
            target, value, update = self.access(node.target), self.value(node.value), type(node.op)
            if update is ast.Sub:
                return Statement(name, self.text, target, Apply("negative", (value,)), "+")
            return Statement(name, self.text, target, value, _UPDATES[update])
        if not isinstance(node, ast.Assign) or len(node.targets) != 1:
            raise self.wrong(node, "write one assignment, such as B[i] = 2*A[i]")
        target, value = self.access(node.targets[0]), self.value(node.value)
        return Statement(name, self.text, target, *_reduced(target, value))

    def access(self, node: ast.AST) -> Access:
        if not isinstance(node, ast.Subscript) or not isinstance(node.value, ast.Name):
            raise self.wrong(node, "an array element is wanted here, such as A[i, j]")
        if node.value.id in self.loops or not nameable(node.value.id):
            raise self.wrong(node, f"{node.value.id!r} cannot name an array")
        index = node.slice
        parts = index.elts if isinstance(index, ast.Tuple) else [index]
        if not parts:
            raise self.wrong(node, "at least one subscript is wanted")
        return Access(node.value.id, tuple(self.subscript(part) for part in parts))

    def subscript(self, node: ast.AST) -> Affine:
        if isinstance(node, ast.Name):
            if node.id not in self.loops:
                raise self.wrong(node, f"no loop has this name; there are {', '.join(self.loops)}")
            return variable(node.id)
        if isinstance(node, ast.Constant) and type(node.value) is int:
            return constant(node.value)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return -self.subscript(node.operand)
        if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub, ast.Mult)):
            left, right = self.subscript(node.left), self.subscript(node.right)
            if isinstance(node.op, ast.Add):
                return left + right
            if isinstance(node.op, ast.Sub):
                return left - right
            for one, other in ((left, right), (right, left)):
                if not one.terms:
                    return other * one.constant
        raise self.wrong(node, "a subscript is a sum of loops times whole numbers, such as 2*i + 1")

    def value(self, node: ast.AST) -> Value:
        if isinstance(node, ast.Subscript):
            return self.access(node)
        if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
            return self.number(node, node.value)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return Apply("negative", (self.value(node.operand),))
        if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
            both = self.value(node.left), self.value(node.right)
            return Apply(_OPERATORS[type(node.op)], both)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
            known = FUNCTIONS.get(node.func.id)
            if known == len(node.args):
                return Apply(node.func.id, tuple(self.value(each) for each in node.args))
        said = ", ".join(FUNCTIONS)
        raise self.wrong(node, f"array elements, numbers, + - * / and {said} are understood here")

    def number(self, node: ast.AST, value: float) -> float:
        """A number as floating point has it; True and False are none."""
        try:
            found = float(value)
        except OverflowError:
            found = math.inf
        if isinstance(value, bool) or math.isinf(found):
            raise self.wrong(node, "floating point has no such number")
        return found

"""A schedule printed as Python: loops and assignments, to be read and to be run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rooflab.labs.loops.code.packing import arguments
from rooflab.labs.loops.code.program import Assign, For, Ops, When, program
from rooflab.labs.loops.language.expression import Affine
from rooflab.labs.loops.language.statement import Access, Value

if TYPE_CHECKING:
    from rooflab.labs.loops.nest import Nest

_RANK = {"+": 1, "-": 1, "*": 2, "/": 2}


def code(nest: Nest) -> str:
    """A nest as the text of one function called ``nest``; marked loops are plain loops in it."""
    body = list(_lines(program(nest, registers=False), 1))
    used = [name for name in ("sqrt", "sin", "exp") if any(f"{name}(" in one for one in body)]
    head = [f"from numpy import {', '.join(used)}", "", ""] if used else []
    return "\n".join([*head, f"def nest({', '.join(arguments(nest))}):", *body, ""])


def _lines(ops: Ops, depth: int) -> Iterator[str]:
    margin = "    " * depth
    for op in ops:
        if isinstance(op, For):
            low, high = _extreme(op.lower, "max"), _extreme(op.upper, "min")
            said = high if low == "0" else f"{low}, {high}"
            mark = "  # parallel" if op.kind == "parallel" else ""
            yield f"{margin}for {op.name} in range({said}):{mark}"
            yield from _lines(op.body, depth + 1)
        elif isinstance(op, When):
            yield f"{margin}if {' and '.join(map(_guard, op.guards))}:"
            yield from _lines(op.body, depth + 1)
        elif isinstance(op, Assign):
            yield from (f"{margin}{name} = {place}" for name, place in op.names)
            target, value = op.target.text(), _value(op.value)
            if op.reduction in ("max", "min"):
                yield f"{margin}{target} = {op.reduction}({target}, {value})"
            else:
                yield f"{margin}{target} {op.reduction}= {value}"


def _extreme(bounds: tuple[Affine, ...], function: str) -> str:
    """The greatest or the least of the bounds as text."""
    text, *others = dict.fromkeys(map(str, bounds))
    for each in others:
        text = f"{function}({text}, {each})"
    return text


def _guard(guard: Affine) -> str:
    """A guard as a comparison: 8*io + ii <= 29."""
    positive = Affine(tuple((a, f) for a, f in guard.terms if f > 0), max(guard.constant, 0))
    return f"{positive - guard} <= {positive}"


def _value(value: Value, rank: int = 0) -> str:
    """A value as text, with as few parentheses as its operators need."""
    if isinstance(value, Access):
        return value.text()
    if isinstance(value, float):
        return f"{value:g}" if float(f"{value:g}") == value else repr(value)
    if value.function == "negative":
        return f"(-{_value(value.arguments[0], 3)})"
    if value.function not in _RANK:
        return f"{value.function}({', '.join(map(_value, value.arguments))})"
    own = _RANK[value.function]
    left, right = _value(value.arguments[0], own), _value(value.arguments[1], own + 1)
    text = f"{left}{value.function}{right}" if own == 2 else f"{left} {value.function} {right}"
    return f"({text})" if own < rank else text

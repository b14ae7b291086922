"""The operations of a schedule, printed as Python, as numba or as C, to be read and to be run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rooflab.count.validation import unknown
from rooflab.labs.loops.code.packing import packed_shape
from rooflab.labs.loops.code.program import (
    Assign,
    Compute,
    For,
    Load,
    Op,
    Ops,
    Store,
    When,
    each_op,
    lanes,
    program,
    shared_turns,
)
from rooflab.labs.loops.language.expression import Affine
from rooflab.labs.loops.language.statement import Access, Value

if TYPE_CHECKING:
    from rooflab.labs.loops.nest import Nest

LANGUAGES = ("python", "numba", "c")
_VECTOR = {
    "+": "vadd", "-": "vsub", "*": "vmul", "/": "vdiv", "fma": "vfma", "max": "vmax", "min": "vmin",
}  # fmt: skip
_RANK = {"+": 1, "-": 1, "*": 2, "/": 2}
_C_FUNCTIONS = {"max": "fmaxf", "min": "fminf", "sqrt": "sqrtf", "sin": "sinf", "exp": "expf"}


def code(nest: Nest, language: str) -> str:
    """A nest as the text of one function called ``nest``.

    Where the outermost loop is parallel, the function runs its turns from ``start`` to ``stop``.
    Raises ValueError for a language that is not known.
    """
    if language not in LANGUAGES:
        raise unknown("language", language, LANGUAGES)
    ops = program(nest, registers=language != "python")
    shared = shared_turns(ops) is not None
    if language == "c":
        return _C(nest, lanes(ops)).text(ops, shared)
    return _Python(nest, language, lanes(ops)).text(ops, shared and language == "numba")


def names(nest: Nest) -> list[str]:
    """The arguments of the function: arrays, packed ones in place of their originals."""
    return [f"{name}_packed" if name in nest.packed else name for name in nest.arrays]


def _span(op: For, style: str) -> tuple[str, str]:
    """Both ends of a loop as text."""

    def joined(bounds: tuple[Affine, ...], function: str) -> str:
        plain = list(dict.fromkeys(bound.text(style) for bound in bounds))
        text = plain[0]
        for each in plain[1:]:
            text = f"{function}({text}, {each})"
        return text

    return joined(op.lower, "max"), joined(op.upper, "min")


@dataclass(frozen=True)
class _Python:
    nest: Nest
    language: str
    lanes: int

    def text(self, ops: Ops, shared: bool) -> str:
        arguments = [*(["start", "stop"] if shared else []), *names(self.nest)]
        body = list(self.lines(ops, 1, shared))
        used = [name for name in ("sqrt", "sin", "exp") if any(f"{name}(" in one for one in body)]
        head = [f"from numpy import {', '.join(used)}", "", ""] if used else []
        return "\n".join([*head, f"def nest({', '.join(arguments)}):", *body, ""])

    def lines(self, ops: Ops, depth: int, shared: bool = False) -> Iterator[str]:
        margin = "    " * depth
        for op in ops:
            if isinstance(op, For):
                low, high = ("start", "stop") if shared else _span(op, "python")
                said = high if low == "0" else f"{low}, {high}"
                mark = "  # parallel" if op.kind == "parallel" else ""
                yield f"{margin}for {op.name} in range({said}):{mark}"
                yield from self.lines(op.body, depth + 1)
            elif isinstance(op, When):
                yield f"{margin}if {' and '.join(_guard(g, 'python') for g in op.guards)}:"
                yield from self.lines(op.body, depth + 1)
                if op.otherwise:
                    yield f"{margin}else:"
                    yield from self.lines(op.otherwise, depth + 1)
            else:
                yield from (margin + line for line in self.line(op))

    def number(self, value: float) -> str:
        plain = f"{value:g}" if float(f"{value:g}") == value else repr(value)
        return f"real({plain})" if self.language == "numba" else plain

    def line(self, op: Op) -> Iterator[str]:
        if isinstance(op, Assign):
            for name, place in op.names:
                yield f"{name} = {place}"
            target, value = op.target.text(), _value(op.value, self.access, self.number)
            if op.reduction in ("max", "min"):
                yield f"{target} = {op.reduction}({target}, {value})"
            else:
                yield f"{target} {op.reduction}= {value}"
        elif isinstance(op, Load):
            if op.lanes == 1:
                yield f"{op.register} = {op.access.text()}"
            elif op.spread:
                yield f"{op.register} = vsplat({op.access.text()})"
            else:
                yield f"{op.register} = vload({op.access.array}, {_index(op.access)})"
        elif isinstance(op, Store):
            if op.lanes == 1:
                yield f"{op.access.text()} = {op.register}"
            else:
                yield f"vstore({op.access.array}, {_index(op.access)}, {op.register})"
        elif isinstance(op, Compute):
            yield f"{op.register} = {self.compute(op)}"

    def access(self, access: Access) -> str:
        return access.text()

    def compute(self, op: Compute) -> str:
        told = [one if isinstance(one, str) else self.number(one) for one in op.operands]
        if op.lanes > 1:
            spread = [
                one if isinstance(one, str) else f"vsplat({self.number(one)})"
                for one in op.operands
            ]
            return f"{_VECTOR[op.function]}({', '.join(spread)})"
        if op.function == "fma":
            return f"{told[2]} + {told[0]}*{told[1]}"
        if op.function == "negative":
            return f"-{told[0]}"
        if op.function in _RANK:
            return f"{told[0]} {op.function} {told[1]}"
        return f"{op.function}({', '.join(told)})"


def _index(access: Access) -> str:
    """The subscripts as a tuple."""
    said = [e.text() for e in access.subscripts]
    return f"({', '.join(said)}{',' * (len(said) == 1)})"


def _guard(guard: Affine, style: str) -> str:
    """A guard as a comparison: 8*io + ii <= 29."""
    positive = Affine(tuple((a, f) for a, f in guard.terms if f > 0), max(guard.constant, 0))
    negative = positive - guard
    return f"{negative.text(style)} <= {positive.text(style)}"


def _value(
    value: Value, access: Callable[[Access], str], number: Callable[[float], str],
    functions: dict[str, str] | None = None, rank: int = 0,
) -> str:  # fmt: skip
    """A value as text, with as few parentheses as its operators need."""
    if isinstance(value, Access):
        return access(value)
    if isinstance(value, float):
        return number(value)
    if value.function == "negative":
        return f"(-{_value(value.arguments[0], access, number, functions, 3)})"
    if value.function not in _RANK:
        said = [_value(each, access, number, functions) for each in value.arguments]
        return f"{(functions or {}).get(value.function, value.function)}({', '.join(said)})"
    own = _RANK[value.function]
    left = _value(value.arguments[0], access, number, functions, own)
    right = _value(value.arguments[1], access, number, functions, own + 1)
    text = f"{left}{value.function}{right}" if own == 2 else f"{left} {value.function} {right}"
    return f"({text})" if own < rank else text


@dataclass(frozen=True)
class _C:
    nest: Nest
    lanes: int

    def text(self, ops: Ops, shared: bool) -> str:
        arguments = ["long start, long stop"] if shared else []
        for name, argument in zip(self.nest.arrays, names(self.nest)):
            sizes = packed_shape(self.nest, name) if name in self.nest.packed else None
            axes = "".join(f"[{size}]" for size in (sizes or self.nest.shapes[name]))
            arguments.append(f"float {argument}{axes}")
        head = []
        bounds = [len(op.lower) + len(op.upper) for op in each_op(ops) if isinstance(op, For)]
        if max(bounds, default=0) > 2:
            head += ["static long min(long a, long b) { return a < b ? a : b; }"]
            head += ["static long max(long a, long b) { return a > b ? a : b; }"]
        if self.lanes > 1:
            size = 4 * self.lanes
            head.append(f"typedef float lanes __attribute__((vector_size({size}), aligned(4)));")
            called = {op.function for op in each_op(ops) if isinstance(op, Compute)}
            head += [self.lanewise(name) for name in ("max", "min") if name in called]
        lines = [f"void nest({', '.join(arguments)}) {{", *self.lines(ops, 1, shared), "}", ""]
        return "\n".join(["#include <math.h>", *head, "", *lines])

    def lines(self, ops: Ops, depth: int, shared: bool = False) -> Iterator[str]:
        margin = "    " * depth
        for op in ops:
            if isinstance(op, For):
                low, high = ("start", "stop") if shared else _span(op, "c")
                mark = "  // parallel" if op.kind == "parallel" else ""
                name = op.name
                yield f"{margin}for (long {name} = {low}; {name} < {high}; {name}++) {{{mark}"
                yield from self.lines(op.body, depth + 1)
                yield f"{margin}}}"
            elif isinstance(op, When):
                yield f"{margin}if ({' && '.join(_guard(g, 'c') for g in op.guards)}) {{"
                yield from self.lines(op.body, depth + 1)
                if op.otherwise:
                    yield f"{margin}}} else {{"
                    yield from self.lines(op.otherwise, depth + 1)
                yield f"{margin}}}"
            elif isinstance(op, Assign) and op.names and len(ops) > 1:  # names for itself
                yield f"{margin}{{ {' '.join(f'{line};' for line in self.line(op))} }}"
            else:
                yield from (f"{margin}{line};" for line in self.line(op))

    def lanewise(self, function: str) -> str:
        """A function of two vectors, which C has no operator for; compilers know the loop."""
        said = f"a[n] = {_C_FUNCTIONS[function]}(a[n], b[n])"
        loop = f"for (int n = 0; n < {self.lanes}; n++) {said};"
        return f"static lanes v{function}(lanes a, lanes b) {{ {loop} return a; }}"

    def number(self, value: float) -> str:
        return f"{value!r}f"

    def access(self, access: Access) -> str:
        return access.text("c")

    def line(self, op: Op) -> Iterator[str]:
        if isinstance(op, Assign):
            yield from self.assign(op)
        elif isinstance(op, (Load, Store)):
            there, register = op.access.text("c"), op.register
            kind = "float" if op.lanes == 1 else "lanes"
            if op.lanes > 1 and not (isinstance(op, Load) and op.spread):
                there = f"*(lanes *)&{there}"
            elif op.lanes > 1:
                there = f"(lanes){{}} + {there}"
            yield (
                f"{there} = {register}" if isinstance(op, Store) else f"{kind} {register} = {there}"
            )
        elif isinstance(op, Compute):
            told = [one if isinstance(one, str) else self.number(one) for one in op.operands]
            kind = "" if op.register in op.operands else "float " if op.lanes == 1 else "lanes "
            if op.lanes > 1:
                told = [f"((lanes){{}} + {one})" if one[0].isdigit() else one for one in told]
            if op.function == "fma":
                said = f"{told[2]} + {told[0]}*{told[1]}"
            elif op.function in _RANK:
                said = f"{told[0]} {op.function} {told[1]}"
            elif op.function == "negative":
                said = f"-{told[0]}"
            else:
                names = _C_FUNCTIONS if op.lanes == 1 else _VECTOR
                said = f"{names[op.function]}({', '.join(told)})"
            yield f"{kind}{op.register} = {said}"

    def assign(self, op: Assign) -> Iterator[str]:
        for name, value in op.names:
            yield f"long {name} = {value.text('c')}"
        target = op.target.text("c")
        said = _value(op.value, self.access, self.number, _C_FUNCTIONS)
        if op.reduction in ("max", "min"):
            yield f"{target} = {_C_FUNCTIONS[op.reduction]}({target}, {said})"
        else:
            yield f"{target} {op.reduction}= {said}"

"""Run CUDA C++ text in the emulator: preprocess it, parse it as C, rewrite it into its steps.

Types are C's: integers of 32 bits unless they are declared longer (``size_t`` counts as signed),
division toward zero, a literal 1.0 is double. Faults and traffic name the lines of the text.
"""

from __future__ import annotations

import ast
import functools
import operator
import re
from collections import ChainMap
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from rooflab.labs.cuda.emulator import arithmetic, memory
from rooflab.labs.cuda.emulator.execution import Counts, Execution, Faults, Place, Variable
from rooflab.labs.cuda.emulator.intrinsics import SHUFFLES, Call, call_builtin, nearest
from rooflab.labs.cuda.emulator.launch import launch
from rooflab.labs.cuda.emulator.races import Order
from rooflab.labs.cuda.emulator.report import Fault, KernelFault, Run
from rooflab.labs.cuda.emulator.rewrite import Program, Rewriter, Step, operate
from rooflab.labs.cuda.emulator.threads import SPECIAL, Geometry
from rooflab.labs.cuda.kernels import source_of, spec_of
from rooflab.optional import installed

POSSIBLE = (
    "Possible are numbers, float4 and such, pointers, __shared__ and local arrays, if, for, while, "
    "?:, __device__ functions, [&] lambdas, #define, shuffles, barriers, atomicAdd"
)
LONGEST = 100_000  # characters of a text


@dataclass(frozen=True)
class Type:
    """A number, a vector of ``width`` of them, or a pointer to such, or to arrays with axes."""

    dtype: str
    width: int = 1
    pointer: bool = False
    axes: int = 0
    const: bool = False

    def __str__(self) -> str:
        plain = Type(self.dtype, self.width)
        name = next(name for name, each in TYPES.items() if each == plain)
        return f"{'const ' * self.const}{name}{'*' * self.pointer}"


class Value(NamedTuple):
    """An expression: what computes it and, if it can be assigned, where that is."""

    type: Type
    get: Step
    where: Step | None = None


@dataclass(frozen=True, eq=False)
class Symbol:
    """A variable. An array, a vector and a shared number are in memory, at the address it has."""

    name: str
    type: Type
    in_memory: bool = False
    constant: Any = None

    def home(self, s: Execution) -> Any:
        """Return where the value is: the symbol itself, or an address."""
        return s.variables[self].value if self.in_memory else self


@dataclass(eq=False)
class Function:
    """A function or lambda; its type is None as long as a lambda has no return."""

    name: str
    type: Type | None
    params: list[tuple[Symbol, Step]]
    body: Step | None = None

    def bind(self, s: Execution, values: list[Any], place: Place) -> None:
        """Give the parameters their values."""
        for value, (symbol, make) in zip(values, self.params):
            make(s)
            put(s, symbol.home(s), value, symbol.type, place)


VOID, BOOL, INT, UNSIGNED, LONG, FLOAT, DOUBLE = map(
    Type, ("void", "bool", "int32", "uint32", "int64", "float32", "float64")
)
_RANKS = ("bool", "int8", "uint8", "int32", "uint32", "int64", "float32", "float64")
TYPES: Mapping[str, Type] = MappingProxyType(
    {"void": VOID, "bool": BOOL, "char": Type("int8"), "int": INT, "unsigned": UNSIGNED,
     "long": LONG, "float": FLOAT, "double": DOUBLE, "size_t": LONG, "auto_": VOID}
    | {f"{name}_t": Type(name) for name in ("int8", "uint8", "int32", "uint32", "int64")}
    | {f"{name}{width}": Type(dtype, width) for width in (2, 4)
       for name, dtype in (("float", "float32"), ("int", "int32"), ("uint", "uint32"))}
)  # fmt: skip
#: Function of CUDA → the emulator's, types of the arguments, that of the result. None: what comes.
FUNCTIONS: Mapping[str, tuple[str, list[Type | None], Type | None]] = MappingProxyType(
    {f"{name}f": (f"math.{name}", [FLOAT], FLOAT) for name in arithmetic.MATH}
    | {name: (f"math.{name}", [DOUBLE], DOUBLE) for name in arithmetic.MATH}
    | {f"__{name}f": (f"math.{name}", [FLOAT], FLOAT) for name in ("exp", "log", "sin", "cos")}
    | {f"__{way}": (f"cuda.{way}", [UNSIGNED, None, INT], None) for way in SHUFFLES}
    | {f"f{name}f": (name, [FLOAT] * 2, FLOAT) for name in ("min", "max")}
    | {name: (name, [None] * 2, None) for name in ("min", "max")}
    | {"fmaf": ("cuda.fma", [FLOAT] * 3, FLOAT), "fma": ("cuda.fma", [DOUBLE] * 3, DOUBLE),
       "rsqrtf": ("rsqrt", [FLOAT], FLOAT), "abs": ("abs", [None], None),
       "__syncthreads": ("cuda.syncthreads", [], VOID), "__syncwarp": ("cuda.syncwarp", [], VOID)}
)  # fmt: skip
_OPERATORS: Mapping[str, Callable[..., Any]] = MappingProxyType({
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv,
    "%": operator.mod, "<<": operator.lshift, ">>": operator.rshift, "&": operator.and_,
    "|": operator.or_, "^": operator.xor, "<": operator.lt, "<=": operator.le, ">": operator.gt,
    ">=": operator.ge, "==": operator.eq, "!=": operator.ne,
})  # fmt: skip

# ---- From CUDA C++ to C --------------------------------------------------------------------------
_INSIDE = "[^()]*+"  # of parentheses, with up to 8 pairs of them in one another
for _ in range(8):
    _INSIDE = rf"[^()]*+(?:\({_INSIDE}\)[^()]*+)*+"
_CALL = re.compile(rf"\b([A-Za-z_]\w*)(\s*\({_INSIDE}\))?")
_ARGUMENT = re.compile(rf"(?:[^(),]|\({_INSIDE}\))+")
_TO_C = tuple((re.compile(pattern), to) for pattern, to in (
    (r'extern\s*"C"', ""),
    (rf"\b(?:__launch_bounds__|__align__)\s*\({_INSIDE}\)", ""),
    (r"\b(?:__global__|__device__|__forceinline__|__restrict__|inline|static)\b", ""),
    (r"\bconstexpr\b", "const"),
    (r"\b__shared__\b", "register"),  # a word of C that stands at the same place
    (r"\bauto\s+(\w+)\s*=\s*\[&\]\s*\(([^()]*)\)\s*{", r"lambda: { void \1(\2);"),
    (r"\bauto\b", "auto_"),
    (r"\b(float|double|int|unsigned|size_t|bool)\s*\(", r"(\1)("),
))  # fmt: skip
_CAST = re.compile(rf"\b(?:reinterpret|static|const)_cast\s*<([^<>]*)>\s*(\({_INSIDE}\))")
_PRELUDE = f"typedef int {', '.join(filter(re.compile('bool|.*[0-9_]').match, TYPES))};"


def preprocessed(text: str, macros: Mapping[str, object]) -> tuple[str, list[str]]:
    """Return C with every line where it was, and the names of the kernels."""
    text = re.sub(r"(?s)//[^\n]*|/\*.*?\*/", _blank, text)
    text = re.sub(r"(?:.*\\\n)+.*", lambda m: m[0].replace("\\\n", " ") + _blank(m), text)
    text = _expanded(*_directives(text, macros))
    while (cast := _CAST.sub(r"((\1)\2)", text)) != text:
        text = cast
    kernels = re.findall(rf"\b__global__\s+void\s+(?:__\w+__\s*\({_INSIDE}\)\s*)?(\w+)", text)
    for pattern, to in _TO_C:
        text = pattern.sub(lambda m, to=to: m.expand(to) + _blank(m), text)
    return _PRELUDE + text, kernels


def _blank(match: re.Match[str]) -> str:
    return "\n" * match[0].count("\n") or " "


def _directives(text: str, macros: Mapping[str, object]) -> tuple[str, dict[str, Any]]:
    """Return the text without directives, and parameters and body of each macro."""
    known: dict[str, Any] = {name: (None, str(value)) for name, value in macros.items()}
    known |= {"true": (None, "1"), "false": (None, "0")}
    lines, on = [], [True]
    for number, line in enumerate(text.split("\n"), 1):
        directive = re.match(r"\s*#\s*(\w+)\s*(\w*)(?:\(([^()]*)\))?\s*(.*)", line)
        lines.append(line if all(on) and not directive else "")
        word, name, params, body = directive.groups() if directive else ("pragma", "", None, "")
        if word in ("ifdef", "ifndef"):
            on.append((name in known) == (word == "ifdef"))
        elif word in ("else", "endif") and len(on) > 1:
            on[-1:] = [not on[-1]] if word == "else" else []
        elif word == "define" and all(on):
            known[name] = params if params is None else re.findall(r"\w+", params), body
        elif word not in ("define", "pragma", "include"):
            raise ValueError(f"line {number} ({line.strip()}): #{word} is not possible. {POSSIBLE}")
    return "\n".join(lines), known


def _expanded(text: str, macros: Mapping[str, Any], hidden: frozenset[str] = frozenset()) -> str:
    """Return the text with its macros expanded; one is hidden within what it stands for."""

    def expand(match: re.Match[str]) -> str:
        name, call = match[1], _expanded(match[2] or "", macros, hidden)
        params, body = macros.get(name, (None, None))
        if body is None or name in hidden or (params is not None and not call):
            return name + call
        if params is not None:
            args = _ARGUMENT.findall(call.replace("\n", " ").strip()[1:-1])
            values, call = dict(zip(params, args)), "\n" * call.count("\n")
            body = re.sub(r"\b[A-Za-z_]\w*", lambda m: values.get(m[0], m[0]), body)
        return _expanded(body, macros, hidden | {name}) + call

    result = _CALL.sub(expand, text)
    if len(result) > LONGEST:
        raise ValueError(f"macros expand to more than {LONGEST:,} characters")
    return result


# ---- Memory: an address is an array and an index -------------------------------------------------
def moved(address: tuple[Any, Any], by: Any, type: Type) -> tuple[Any, Any]:
    """Return the address of the entry that is ``by`` further on."""
    array, index = address
    axis = len(index) - 1 - type.axes
    step = by if type.axes else by * type.width
    return array, (*index[:axis], index[axis] + step, *index[axis + 1 :])


def fetch(s: Execution, where: Any, type: Type, place: Place) -> Any:
    """Return what a variable or an address holds."""
    if isinstance(where, Symbol):
        return s.read(s.variables, where, where.name, place)
    if type.width == 1:
        return memory.load(s, *where, place)
    if isinstance(where[0], memory.LocalArray):
        cells = (moved(where, i, FLOAT) for i in range(type.width))
        return tuple(memory.load(s, *cell, place) for cell in cells)
    return memory.load_vector(s, *where, place, type.width)


def put(s: Execution, where: Any, value: Any, type: Type, place: Place) -> None:
    """Let the active threads write to a variable or to an address."""
    values = value if type.width > 1 else (value,)
    if isinstance(where, Symbol):
        s.assign(s.variables, where, value)
    elif isinstance(where[0], memory.LocalArray):
        for i, each in enumerate(values):
            memory.store(s, *moved(where, i, FLOAT), each, place)
    elif where[0].marks is None:
        raise ValueError(f"{place}: {where[0].name} is const")
    else:
        memory.store_vector(s, *where, values, place)


# ---- Rewriting -----------------------------------------------------------------------------------
class CudaRewriter(Rewriter):
    """Rewrites the syntax tree of pycparser as its base does Python's: ``_for`` for a For."""

    def __init__(self, name: str, lines: Mapping[int, str]) -> None:
        super().__init__(name, "", lines, (), [])
        self.names: ChainMap[str, Any] = ChainMap({"warpSize": Symbol("warpSize", INT, False, 32)})
        self.function: Function | None = None  # which is being rewritten

    def place(self, node: Any) -> Place:
        """Return the line of a node, one object for each line."""
        line = node.coord.line
        text = self.lines.get(line, "").partition("//")[0].strip()
        return self.places.setdefault(line, Place(line, text, self.name, self.file))

    def refused(self, node: Any, what: str = "") -> ValueError:
        """Return the error for what is not possible here."""
        what = what or f"{type(node).__name__.lower()} is not possible here"
        return ValueError(f"{self.place(node)}: {what}. {POSSIBLE}")

    def made(self, node: Any) -> Any:
        """Return the Value of an expression, the Step of a statement."""
        try:
            return getattr(self, f"_{type(node).__name__.lower()}")(node)
        except (AttributeError, IndexError, TypeError) as error:  # parts that no method expects
            raise self.refused(node) from error

    def _rewrite(self, node: Any) -> Step:
        made = node if callable(node) else self.made(node)
        return made.get if isinstance(made, Value) else made

    @contextmanager
    def scope(self) -> Iterator[None]:
        """Forget at the end what is declared within."""
        outer, self.names = self.names, self.names.new_child()
        yield
        self.names = outer

    # Types.

    def type(self, node: Any) -> Type:
        """Return the type that a declaration gives; a parameter that is an array is a pointer."""
        kind, axes = type(node).__name__, 0
        while kind == type(node.type).__name__ == "ArrayDecl":
            node, axes = node.type, axes + 1
        if kind in ("PtrDecl", "ArrayDecl"):
            inner = self.type(node.type)
            if inner.pointer:
                raise self.refused(node, "a pointer to pointers is not possible")
            return replace(inner, pointer=True, axes=axes)
        names = getattr(node.type, "names", ["struct"])
        name = next((n for n in ("long", "unsigned") if n in names), names[-1])
        name = "uint8_t" if names == ["unsigned", "char"] else name.replace("_Bool", "bool")
        if name not in TYPES:
            raise self.refused(node, f"{' '.join(names)} is no type here")
        return replace(TYPES[name], const="const" in node.quals)

    def common(self, node: Any, *types: Type) -> Type:
        """Return the type in which C computes with numbers of these types."""
        for each in types:
            if each.pointer or each.width > 1 or each.dtype == "void":
                raise self.refused(node, f"a number is wanted, not {each}")
        return Type(_RANKS[max(map(_RANKS.index, ("int32", *(t.dtype for t in types))))])

    def conversion(self, given: Type, to: Type, node: Any) -> Callable[[Any], Any]:
        """Return what makes a value of type ``to`` of one of type ``given``."""
        same = replace(given, const=to.const) == to and not (to.pointer and given.const > to.const)
        numbers = not (given.pointer or to.pointer or given.width + to.width > 2)
        if "void" in (given.dtype, to.dtype) or not (same or numbers):
            raise self.refused(node, f"{given} is given where {to} is wanted")
        whole = np.dtype(given.dtype).kind + np.dtype(to.dtype).kind in ("ii", "uu", "ui")
        if same or (whole and np.can_cast(given.dtype, to.dtype)):
            return lambda value: value
        return arithmetic.truth if to.dtype == "bool" else lambda value: _cast(value, to)

    def converted(self, value: Value, to: Type, node: Any) -> Step:
        """Return what computes an expression as a value of that type."""
        convert, get = self.conversion(value.type, to, node), value.get
        return lambda s: convert(get(s))

    def constant(self, get: Step) -> Any:
        """Return the number that an expression is before any launch, else None."""
        geometry = Geometry((1, 1, 1), (1, 1, 1), (0, 0, 0), (1, 1, 1))
        faults, counts = Faults("", False), Counts(1000, 0)
        state = Execution(geometry, Order(1, 1), faults, counts, np.float64)
        state.special = {}
        try:
            return get(state)
        except (KernelFault, KeyError, ArithmeticError):
            return None

    # Declarations and functions.

    def introduced(
        self, node: Any, type: Type, shape: tuple[int, ...] = (), shared: bool = False
    ) -> tuple[Symbol, Step]:
        """Return a new variable, and what makes it anew where it is declared."""
        in_memory = bool(shape) or type.width > 1 and not type.pointer or shared
        if type.pointer and in_memory:
            raise self.refused(node, "an array of pointers is not possible")
        to = replace(type, pointer=True, axes=len(shape) - 1) if shape else type
        symbol, place = Symbol(node.name, to, in_memory), self.place(node)
        self.names[node.name] = symbol
        maker, (*sizes, last) = f"cuda.{'shared' if shared else 'local'}.array", shape or (1,)
        whole, dtype = (*sizes, last * type.width), np.dtype(type.dtype)

        def make(s: Execution) -> None:
            s.variables.pop(symbol, None)
            if in_memory:
                array = call_builtin(Call(s, place, id(symbol)), maker, (whole, dtype))
                array.name = node.name
                s.variables[symbol] = Variable((array, (0,) * len(whole)), s.geometry.all)

        return symbol, make

    def _decl(self, node: Any) -> Step:
        dims, kind, shared, init = [], node.type, "register" in node.storage, node.init
        while type(kind).__name__ == "ArrayDecl":
            dims.append(kind.dim and self.constant(self._rewrite(kind.dim)))
            kind = kind.type
        to, place, braces = self.type(kind), self.place(node), type(init).__name__ == "InitList"
        if None in dims or "extern" in node.storage or (shared and init):
            raise self.refused(node, f"give {node.name} a constant size, and no values if shared")
        if braces and not dims and to.width == 1:
            raise self.refused(node, "braces are for arrays and vectors")
        values = [self.made(each) for each in (init.exprs if braces else [init] if init else [])]
        if "auto_" in getattr(kind.type, "names", ()):
            to = replace(values[0].type, const=to.const or values[0].type.const)
        each = Type(to.dtype) if braces else to
        gets = [self.converted(value, each, node) for value in values]
        symbol, make = self.introduced(node, to, tuple(dims), shared)
        if not init:
            return make
        if to.const and not symbol.in_memory and (number := self.constant(gets[0])) is not None:
            self.names[node.name] = replace(symbol, constant=number)

        def run(s: Execution) -> None:
            values = [get(s) for get in gets]
            make(s)
            if not braces:
                put(s, symbol.home(s), *values, to, place)
                return
            array, _ = symbol.home(s)
            for i, cell in enumerate(np.ndindex(array.shape)):  # zeros after the values
                memory.store(s, array, cell, values[i] if i < len(values) else 0, place)

        return run

    def defined(self, name: str, declarator: Any, to: Type | None, items: Any) -> Function:
        """Return a function, whose name is known from here on."""
        params = declarator.args.params if declarator.args else []
        outer = self.function, self.loops
        with self.scope():
            pairs = [self.introduced(p, self.type(p.type)) for p in params if p.name]
            self.function = made = Function(name, to, pairs)
            self.loops = 0
            made.body = self.block(items or [])
        self.function, self.loops = outer
        self.names[name] = made
        return made

    def _funcdef(self, node: Any) -> Step:
        head, items = node.decl, node.body.block_items
        self.defined(head.name, head.type, self.type(head.type.type), items)
        return self._pass(node)

    def _label(self, node: Any) -> Step:
        head, *items = node.stmt.block_items
        self.defined(head.name, head.type, None, items)
        return self._pass(node)

    def _inlined(self, function: Function, args: list[Value], node: Any) -> Value:
        """Return a call: the body executes among the caller's variables."""
        place, to, params = self.place(node), function.type or VOID, function.params
        if len(args) != len(params):
            raise self.refused(node, f"{function.name}() takes {len(params)} arguments")
        gets = [self.converted(arg, symbol.type, node) for arg, (symbol, _) in zip(args, params)]

        def run(s: Execution) -> Any:  # None, where the function is void
            function.bind(s, [get(s) for get in gets], place)
            s.variables.pop(function, None)
            before = s.active, s.loops
            s.loops, s.depth = [], s.depth + 1
            function.body(s)
            s.depth -= 1
            s.active, s.loops = before
            if to.dtype != "void":
                return s.read(s.variables, function, f"what {function.name} returns", place)

        return Value(to, run)

    # Statements.

    _emptystatement = Rewriter._pass

    def _compound(self, node: Any) -> Step:
        with self.scope():
            return self.block(node.block_items or [])

    def _decllist(self, node: Any) -> Step:
        return self.block(node.decls)

    def _if(self, node: Any) -> Step:
        test = self.test(node.cond)
        yes, no = (self.block([part] if part else []) for part in (node.iftrue, node.iffalse))
        return lambda s: s.branch(test(s), yes, no)

    def _for(self, node: Any) -> Step:
        place, (init, step) = self.place(node), (getattr(node, n, None) for n in ("init", "next"))
        with self.scope():
            begin = self.block([init] if init else [])
            test = self.test(node.cond) if node.cond else lambda s: True
            onward = self.block([step] if step else [])
            self.loops += 1
            body = self.block([node.stmt])
            self.loops -= 1

        def iteration(s: Execution) -> None:
            before, loop, g = s.active, s.loops[-1], s.geometry
            body(s)
            s.active, loop.continued = g.same(g.either(s.active, loop.continued), before), g.none
            if s.active.count:
                onward(s)

        def run(s: Execution) -> None:
            begin(s)
            s.repeat(test, iteration, place)

        return run

    _while = _for

    def _return(self, node: Any) -> Step:
        function, value = self.function, node.expr and self.made(node.expr)
        function.type = function.type or (value.type if value else VOID)
        if value and function.type.dtype == "void":
            raise self.refused(node, f"{function.name} returns nothing")
        get = value and self.converted(value, function.type, node)

        def run(s: Execution) -> None:
            if get:
                s.assign(s.variables, function, get(s))
            s.leave("return")

        return run

    # Expressions.

    def _constant(self, node: Any) -> Value:
        text, suffix = node.value, node.value.lower()[-3:]
        if node.type in ("float", "double"):
            to = FLOAT if node.type == "float" else DOUBLE
            number = _cast(float(text.rstrip("fFlL")), to)
        elif "int" in node.type:
            text = text.rstrip("uUlL")
            number = int(text, 8 if text[0] == "0" and text.isdigit() else 0)
            to = LONG if "l" in suffix or number >= 2**32 else INT
            to = UNSIGNED if to is INT and ("u" in suffix or number >= 2**31) else to
        else:
            raise self.refused(node, f"{text} is no number")
        return Value(to, lambda s: number)

    def _id(self, node: Any) -> Value:
        place, name, symbol = self.place(node), node.name, self.names.get(node.name)
        if not isinstance(symbol, Symbol):
            raise self.refused(node, f"{name} is no variable here; {nearest(name, self.names)}")
        if symbol.constant is not None:
            return Value(symbol.type, lambda s: symbol.constant)

        def read(s: Execution) -> Any:
            return s.read(s.variables, symbol, name, place)

        if not symbol.in_memory:
            return Value(symbol.type, read, lambda s: symbol)
        return Value(symbol.type, read) if symbol.type.pointer else _cell(symbol.type, read, place)

    def _entry(self, pointer: Value, by: Value, node: Any) -> Value:
        to = pointer.type
        if not to.pointer or "int" not in by.type.dtype:
            raise self.refused(node, "an index is an integer, after an array or a pointer")
        one, place = replace(to, pointer=False), self.place(node)
        return _cell(one, lambda s: moved(pointer.get(s), by.get(s), to), place)

    def _arrayref(self, node: Any) -> Value:
        return self._entry(self.made(node.name), self.made(node.subscript), node)

    def _structref(self, node: Any) -> Value:
        part, place = node.field.name, self.place(node)
        special = f"cuda.{getattr(node.name, 'name', '')}.{part}"
        if special in SPECIAL:
            return Value(UNSIGNED, lambda s: s.special[special])
        value = self.made(node.name)
        if value.type.pointer or part not in "xyzw"[: value.type.width] or value.type.width == 1:
            raise self.refused(node, f".{part} is not known here")
        to, i = replace(value.type, width=1), "xyzw".index(part)
        if value.where:
            return _cell(to, lambda s: moved(value.where(s), i, to), place)
        return Value(to, lambda s: value.get(s)[i])

    def _cast(self, node: Any) -> Value:
        to, value = self.type(node.to_type.type), self.made(node.expr)
        if to.pointer and replace(value.type, width=to.width, const=to.const) == to:
            return Value(to, value.get)
        return Value(to, self.converted(value, to, node))

    def _exprlist(self, node: Any) -> Value:
        values = [self.made(each) for each in node.exprs]
        return Value(values[-1].type, lambda s: [value.get(s) for value in values][-1])

    def _ternaryop(self, node: Any) -> Value:
        yes, no = self.made(node.iftrue), self.made(node.iffalse)
        whole = yes.type.pointer or yes.type.width > 1
        to = (no if no.type.const else yes).type if whole else self.common(node, yes.type, no.type)
        gets = [self.converted(part, to, node) for part in (yes, no)]
        return Value(to, self._ifexp(ast.IfExp(node.cond, *gets)))

    def _binaryop(self, node: Any) -> Value:
        if node.op in ("&&", "||"):
            both = ast.And() if node.op == "&&" else ast.Or()
            return Value(BOOL, self._boolop(ast.BoolOp(both, [node.left, node.right])))
        a, b = self.made(node.left), self.made(node.right)
        to, compute = self.operation(node.op, a.type, b.type, node)
        return Value(to, lambda s: compute(s, a.get(s), b.get(s)))

    def operation(self, op: str, a: Type, b: Type, node: Any) -> tuple[Type, Callable[..., Any]]:
        """Return the type of ``a op b``, and what computes it from two values."""
        place, sign = self.place(node), -1 if op == "-" else 1
        if a.pointer and op in "+-" and "int" in b.dtype and not b.pointer:
            return a, lambda s, x, y: moved(x, sign * y, a)
        if b.pointer and op == "+" and "int" in a.dtype and not a.pointer:
            return b, lambda s, x, y: moved(y, x, b)
        to = self.common(node, *([a] if op in ("<<", ">>") else [a, b]))
        whole, function = "int" in to.dtype, _OPERATORS[op]
        if not whole and op in ("%", "<<", ">>", "&", "|", "^"):
            raise self.refused(node, f"{op} is for integers")
        left, right = (self.conversion(each, to, node) for each in (a, b))

        def compute(s: Execution, x: Any, y: Any) -> Any:
            x, y = left(x), y & 63 if op in ("<<", ">>") else right(y)
            if whole and op in "/%":  # cut off toward zero; the rest has the sign of x
                part, negative = operator.mod, x < 0
                if op == "/":
                    part, negative = operator.floordiv, negative ^ (y < 0)
                return operate(s, part, abs(x), abs(y), place) * (1 - 2 * negative)
            result = operate(s, function, x, y, place)
            return _cast(result, to) if whole and op in ("+", "-", "*", "<<") else result

        return BOOL if op in ("<", "<=", ">", ">=", "==", "!=") else to, compute

    def _unaryop(self, node: Any) -> Value:
        op = node.op
        if op in ("++", "--", "p++", "p--"):
            return self._changed(node.expr, op[-1], Value(INT, lambda s: 1), op[0] == "p")
        value = self.made(node.expr)
        if op == "*":
            return self._entry(value, Value(INT, lambda s: 0), node)
        if op == "&":
            symbol = self.names.get(getattr(node.expr, "name", None), node)
            if value.where is None or value.type.pointer or not getattr(symbol, "in_memory", True):
                raise self.refused(node, "& takes an entry of an array, as in &A[i]")
            return Value(replace(value.type, pointer=True), value.where)
        if op == "!":
            test = self.test(value.get)
            return Value(BOOL, lambda s: test(s) ^ True)
        change = {"-": operator.neg, "+": operator.pos, "~": operator.invert}.get(op)
        to = self.common(node, value.type)
        if change is None or (op == "~" and "int" not in to.dtype):
            raise self.refused(node, f"{op} is not possible")
        get = self.converted(value, to, node)
        return Value(to, lambda s: _cast(change(get(s)), to))

    def _assignment(self, node: Any) -> Value:
        return self._changed(node.lvalue, node.op[:-1], self.made(node.rvalue))

    def _changed(self, node: Any, op: str, value: Value, before: bool = False) -> Value:
        """Return ``target = value``, or ``target op= value`` whose address is computed once."""
        target, place = self.made(node), self.place(node)
        to, where = target.type, target.where
        if where is None or (to.const and not to.pointer):
            raise self.refused(node, "what is assigned is const, or no variable")
        made, compute = self.operation(op, to, value.type, node) if op else (value.type, None)
        convert = self.conversion(made, to, node)

        def run(s: Execution) -> Any:
            if not compute:
                result = convert(value.get(s))
                put(s, where(s), result, to, place)
                return result
            here = where(s)
            old = fetch(s, here, to, place)
            result = convert(compute(s, old, value.get(s)))
            put(s, here, result, to, place)
            return old if before else result

        return Value(to, run)

    # Calls.

    def _funccall(self, node: Any) -> Any:
        name, nodes = getattr(node.name, "name", ""), node.args.exprs if node.args else []
        if name == "static_assert":
            if not self.constant(self._rewrite(nodes[0])):
                raise self.refused(node, f"static_assert: {nodes[-1].value}")
            return self._pass(node)
        args, vector = [self.made(each) for each in nodes], TYPES.get(name.removeprefix("make_"))
        if isinstance(function := self.names.get(name), Function):
            return self._inlined(function, args, node)
        if name == "atomicAdd" and len(args) == 2:
            to, place = args[0].type, self.place(node)
            if not to.pointer or to.const or to.width > 1:
                raise self.refused(node, "atomicAdd takes the address of a number: &y[i]")
            at, get = args[0].get, self.converted(args[1], Type(to.dtype), node)
            return Value(VOID, lambda s: memory.atomic_add(s, *at(s), get(s), place))
        if name == "__ldg" and len(args) == 1:
            return self._entry(args[0], Value(INT, lambda s: 0), node)
        if name.startswith("make_") and vector and vector.width == len(args):
            gets = [self.converted(arg, Type(vector.dtype), node) for arg in args]
            return Value(vector, lambda s: tuple(get(s) for get in gets))
        if name not in FUNCTIONS:
            known = [*FUNCTIONS, "atomicAdd", "make_float4"]
            raise self.refused(node, f"{name}() is not known here; {nearest(name, known)}")
        return self._builtin(name, args, node)

    def _builtin(self, name: str, args: list[Value], node: Any) -> Value:
        function, types, result = FUNCTIONS[name]
        if len(args) != len(types):
            raise self.refused(node, f"{name}() takes {len(types)} arguments, not {len(args)}")
        place, pairs = self.place(node), [*zip(args, types)]
        generic = self.common(node, *(arg.type for arg, to in pairs if to is None))
        to = result or generic
        gets = [self.converted(arg, each or generic, node) for arg, each in pairs]

        def run(s: Execution) -> Any:
            values = tuple(get(s) for get in gets)
            if function == "rsqrt":
                return _cast(1 / np.sqrt(values[0]), to)
            given = call_builtin(Call(s, place, 0), function, values)
            return given if to is VOID else _cast(given, to)

        return Value(to, run)


def _cell(to: Type, where: Step, place: Place) -> Value:
    """Return what lies at an address: an entry, or an array, which is an address again."""
    if to.axes:
        return Value(replace(to, pointer=True, axes=to.axes - 1), where)
    return Value(to, lambda s: fetch(s, where(s), to, place), where)


def _cast(value: Any, to: Type) -> Any:
    return arithmetic.cast(value, to.dtype)


# ---- Launch --------------------------------------------------------------------------------------
@functools.lru_cache(256)
@installed("emulate")
def translated(
    text: str, kernel: str | None, macros: tuple[tuple[str, object], ...]
) -> tuple[Program, tuple[Type, ...]]:
    """Return a kernel of a text, the only one unless it is named, and its parameters' types."""
    from pycparser.c_parser import CParser, ParseError

    lines = dict(enumerate(text.splitlines(), 1))
    c, kernels = preprocessed(text, dict(macros))
    name = kernel or (kernels[0] if len(kernels) == 1 else None)
    if name not in kernels:
        has = ", ".join(kernels) or "none"
        raise ValueError(f"kernel={kernel!r} must name a __global__ void function; there is {has}")
    parser = CParser()
    try:
        tree = parser.parse(c, "")
    except (ParseError, AttributeError) as error:
        start = re.search(r":(\d+):", str(error))  # which "Invalid expression" lacks
        line = int(start[1]) if start else getattr(parser._peek(), "lineno", len(lines))
        place, what = f"line {line} ({lines.get(line, '').strip()})", str(error).rpartition(": ")[2]
        raise ValueError(f"{place}: not possible, at {what}. {POSSIBLE}") from None
    rewriter = CudaRewriter(name, lines)
    for node in tree.ext:
        other = getattr(getattr(node, "decl", None), "name", name) in {*kernels} - {name}
        if type(node).__name__ != "Typedef" and not other:
            rewriter.made(node)
    return _program(rewriter.names[name])


def _program(function: Function) -> tuple[Program, tuple[Type, ...]]:
    """Return what launches a function as a kernel."""
    names = tuple(symbol.name for symbol, _ in function.params)
    types = tuple(symbol.type for symbol, _ in function.params)
    written = {name for name, to in zip(names, types) if to.pointer and not to.const}

    def run(s: Execution) -> None:
        given = [s.variables.pop(name).value for name in names]
        values = [(v, (0,)) if to.pointer else _cast(v, to) for v, to in zip(given, types)]
        function.bind(s, values, Place(0, "", function.name, ""))
        function.body(s)

    return Program(function.name, "", names, frozenset(written), run, {}), types


def emulate(
    source: str, grid: Any, block: Any, *args: Any, kernel: str | None = None,
    macros: Mapping[str, object] | None = None, **launch_options: Any,
) -> Run:  # fmt: skip
    """Execute CUDA C++ for every thread of a grid, and return what it counted.

    Parameters
    ----------
    source
        CUDA C++, or the name of a kernel of the catalogue.
    grid, block
        Blocks of the grid and threads of a block: an integer, or a tuple (x, y, z).
    *args
        NumPy arrays (a matrix counts as its numbers, row by row) and numbers, in the order of the
        kernel's parameters. Arrays are written in place.
    kernel
        Which ``__global__`` function, if there are several.
    macros
        Values of ``-D``, such as ``{"TILE": 16}``.
    **launch_options
        ``on_fault``, ``shared_limit`` and ``max_steps`` of :func:`rl.cuda.launch`.

    Returns
    -------
    Run
        Traffic by array and by line, shared memory, FLOPs, barriers, faults.

    Examples
    --------
    >>> import numpy as np
    >>> x, y = np.ones(100, np.float32), np.ones(100, np.float32)
    >>> run = rl.cuda.emulate("axpy_scalar", 1, 256, x, y, 2.0, 100)
    >>> float(y.sum()), run.flops, run.global_loads.sectors
    (300.0, 200, 26)
    """
    if not isinstance(source, str):
        raise TypeError(f"source={source!r} must be CUDA C++ or a kernel's name, as text")
    if "__global__" not in source and "\n" not in source:
        source = source_of(spec_of(source, macros).name)
    program, types = translated(source, kernel, tuple(sorted((macros or {}).items())))
    values = [_argument(*pair, to) for pair, to in zip(program.bound(args).items(), types)]
    try:
        run = launch(program, grid, block, *values, **launch_options)
    except KernelFault as error:
        raise KernelFault(_in_cuda(error.fault)) from None
    return replace(run, faults=tuple(map(_in_cuda, run.faults)))


def _argument(name: str, value: Any, to: Type) -> Any:
    """Return an argument of a launch: a number, or an array, which is flat."""
    if to.pointer:
        given = getattr(value, "dtype", type(value).__name__)
        if not isinstance(value, np.ndarray) or given != to.dtype:
            raise TypeError(f"{name} is {given}; {to} takes a NumPy array of {to.dtype}")
        return value.reshape(-1) if value.flags.c_contiguous else value
    whole = int | np.integer
    if not isinstance(value, whole if "int" in to.dtype else whole | float | np.floating):
        raise TypeError(f"{name}={value!r} must be a number, as {to}")
    return value


def _in_cuda(fault: Fault) -> Fault:
    """Return a fault in CUDA's words."""
    message = fault.message.replace("cuda.atomic.add", "atomicAdd").replace("cuda.", "__")
    return replace(fault, message=message)

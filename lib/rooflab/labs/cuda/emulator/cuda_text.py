"""Run CUDA C++ text in the emulator: preprocess it, parse it as C, execute its syntax tree.

Types are C's: integers of 32 bits unless they are declared longer (``size_t`` counts as signed),
division toward zero, a literal 1.0 is double. Faults and traffic name the lines of the text.
"""

from __future__ import annotations

import functools
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from rooflab.labs.cuda.emulator import arithmetic, memory
from rooflab.labs.cuda.emulator.execution import Execution, Place
from rooflab.labs.cuda.emulator.interpreter import Program, operate
from rooflab.labs.cuda.emulator.intrinsics import SHUFFLES, Call, call_builtin, nearest
from rooflab.labs.cuda.emulator.launch import launch
from rooflab.labs.cuda.emulator.report import Fault, KernelFault, Run
from rooflab.labs.cuda.kernels import source_of, spec_of
from rooflab.optional import installed

POSSIBLE = (
    "Write it with numbers, float4, pointers, __shared__ and local arrays, if, for, while, ?:, "
    "__device__ functions, #define, __shfl_…_sync, __syncthreads and atomicAdd"
)
LONGEST, MOST_NESTED = 100_000, 16  # characters of a text; macros in one another
#: C's numbers, each of which converts to those after it, and NumPy's name of it.
NUMBERS: Mapping[str, str] = MappingProxyType({
    "bool": "bool", "int": "int32", "unsigned": "uint32", "long": "int64", "size_t": "int64",
    "float": "float32", "double": "float64",
})  # fmt: skip
WHOLE = ("bool", "int", "unsigned", "long", "size_t")
#: Function of CUDA → the emulator's, types of the arguments, that of the result. None: what comes.
FUNCTIONS: Mapping[str, tuple[str, list[str | None], str | None]] = MappingProxyType(
    {f"{name}f": (f"math.{name}", ["float"], "float") for name in arithmetic.MATH}
    | {name: (f"math.{name}", ["double"], "double") for name in arithmetic.MATH}
    | {f"__{way}": (f"cuda.{way}", ["unsigned", None, "int"], None) for way in SHUFFLES}
    | {f"f{name}f": (name, ["float"] * 2, "float") for name in ("min", "max")}
    | {name: (name, [None] * 2, None) for name in ("min", "max")}
    | {"abs": ("abs", [None], None), "fmaf": ("cuda.fma", ["float"] * 3, "float"),
       "__expf": ("math.exp", ["float"], "float"), "make_float4": ("", ["float"] * 4, "float4"),
       "__syncthreads": ("cuda.syncthreads", [], "void"),
       "__syncwarp": ("cuda.syncwarp", [], "void")}
)  # fmt: skip
_OPERATORS: Mapping[str, Callable[..., Any]] = MappingProxyType({
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv,
    "%": operator.mod, "<<": operator.lshift, ">>": operator.rshift, "&": operator.and_,
    "|": operator.or_, "^": operator.xor, "<": operator.lt, "<=": operator.le, ">": operator.gt,
    ">=": operator.ge, "==": operator.eq, "!=": operator.ne,
})  # fmt: skip
_COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")


def refusal(what: str) -> ValueError:
    """Return the error for what is C++, but not the emulator's."""
    return ValueError(f"{what} is not in the emulator's C++. {POSSIBLE}")


# ---- From CUDA C++ to C: every line stays where it is --------------------------------------------
_INSIDE = "[^()]*+"  # of parentheses, with up to 8 pairs of them in one another
for _ in range(8):
    _INSIDE = rf"[^()]*+(?:\({_INSIDE}\)[^()]*+)*+"
_ARGUMENT = re.compile(rf"(?:[^(),]|\({_INSIDE}\))+")
_COMMENT = re.compile(r"(?s)//[^\n]*|/\*.*?\*/")
_GUARDED = re.compile(r"(?m)^#ifndef (\w+)\n(#define \1\b.*\n)#endif")
_DIRECTIVE = re.compile(r"\s*#\s*(\w+)\s*(\w*)(?:\(([^()]*)\))?\s*(.*)")
#: CUDA's words as macros: parameters, if it has some, and what stands for it in C.
_WORDS: Mapping[str, tuple[list[str] | None, str]] = MappingProxyType(
    dict.fromkeys(("__device__", "__forceinline__", "__restrict__", "inline", "static"), (None, ""))
    | dict.fromkeys(("__launch_bounds__", "__align__"), ([], ""))
    | {"constexpr": (None, "const"), "__shared__": (None, "register"),  # which stands there in C
       "true": (None, "1"), "false": (None, "0"), "warpSize": (None, "32"),
       "rsqrtf": (["x"], "(1 / sqrtf(x))")}
)  # fmt: skip
_TO_C = (
    (r'extern\s*"C"', ""),
    (r"\bauto\s+(\w+)\s*=\s*\[&\]\s*\(([^()]*)\)\s*{", r"lambda: { void \1(\2);"),
    (rf"\b(?:reinterpret|static)_cast\s*<([^<>]*)>\s*(\({_INSIDE}\))", r"((\1)\2)"),
    (r"\b(float|double|int|unsigned|size_t|bool)\s*\(", r"(\1)("),
)


def preprocessed(text: str, macros: Mapping[str, object]) -> str:
    """Return C, and ``__global__``, with every line where it was."""
    known: dict[str, Any] = {**_WORDS, **{name: (None, str(macros[name])) for name in macros}}
    lines = _GUARDED.sub(r"\n\2", text).split("\n")
    for number, line in enumerate(lines):
        if directive := _DIRECTIVE.match(line):
            word, name, params, body = directive.groups()
            if word == "define":  # what the caller gives comes first
                known.setdefault(name, (params and re.findall(r"\w+", params), body))
            elif word not in ("pragma", "include"):
                raise refusal(f"line {number + 1} ({line.strip()}): #{word}")
            lines[number] = ""
    text = _expanded("\n".join(lines), known)
    for pattern, to in _TO_C:
        text = re.sub(pattern, lambda m, to=to: m.expand(to) + _blank(m), text)
    return f"typedef int bool, size_t, float4; {text}"


def _blank(match: re.Match[str]) -> str:
    return "\n" * match[0].count("\n") or " "


def _expanded(text: str, macros: Mapping[str, Any]) -> str:
    """Return the text with its macros expanded, and those that they stand for."""
    used = re.compile(rf"\b({'|'.join(macros)})\b(\s*\({_INSIDE}\))?")

    def expand(match: re.Match[str]) -> str:
        (params, body), call = macros[match[1]], match[2] or ""
        if params is None:
            return body + call
        values = dict(zip(params, _ARGUMENT.findall(call.replace("\n", " ").strip()[1:-1])))
        return re.sub(r"\b\w+", lambda m: values.get(m[0], m[0]), body) + "\n" * call.count("\n")

    for _ in range(MOST_NESTED):
        text = used.sub(expand, text)
        if len(text) > LONGEST:
            raise ValueError(f"macros expand to more than {LONGEST:,} characters")
    return text


# ---- Types and values ----------------------------------------------------------------------------
class Value(NamedTuple):
    """A number of all threads, a float4 as a tuple of four, or an address.

    An address, whose type ends in ``*``, is an array and an index. It is that of an array again as
    long as the index lacks axes. ``const``: a number is known before any launch, and what lies at
    an address may not be written.
    """

    type: str
    data: Any
    const: bool = False

    def cast(self, to: str) -> Value:
        """Return the value as one of type ``to``."""
        if self.type == to and ("*" not in to or self.entry):
            return self
        if not {self.type, to} <= {*NUMBERS}:
            raise ValueError(f"{self.type} is given where {to} is wanted")
        return Value(to, arithmetic.cast(self.data, NUMBERS[to]), self.const)

    @property
    def entry(self) -> bool:
        """Whether an address is that of an entry."""
        array, index = self.data
        return len(index) == len(array.shape)

    def moved(self, by: Value) -> Value:
        """Return the address that is ``by`` further on."""
        if "*" not in self.type or by.type not in WHOLE:
            raise ValueError("an index is an integer, after an array or a pointer")
        array, (*outer, last) = self.data
        step = 4 * by.data if self.type == "float4*" and self.entry else by.data
        return self._replace(data=(array, (*outer, last + step)))

    def parts(self) -> list[Value]:
        """Return the addresses of the numbers that lie there, of a float4 four."""
        if self.type != "float4*":
            return [self]
        return [self._replace(type="float*").moved(Value("int", i)) for i in range(4)]


class Register(memory.LocalArray):
    """A variable of each thread: an array without axes."""

    def load(self, s: Execution, index: memory.Index) -> Any:
        return s.read(self.data, 0, self.name)

    def store(self, s: Execution, index: memory.Index, value: Any) -> None:
        s.assign(self.data, 0, value)


def common(*values: Value) -> str:
    """Return the type in which C computes with numbers."""
    for each in values:
        if each.type not in NUMBERS:
            raise ValueError(f"a number is wanted, not {each.type}")
    return max(["int", *(each.type for each in values)], key=[*NUMBERS].index)


def type_of(node: Any) -> str:
    """Return the type that a declaration gives."""
    if type(node).__name__ in ("PtrDecl", "ArrayDecl"):  # the latter as a parameter
        return f"{type_of(node.type)}*"
    names = getattr(node.type, "names", ["struct"])
    name = next((n for n in ("long", "unsigned") if n in names), names[-1])
    if name not in (*NUMBERS, "float4", "void") or "char" in names:
        raise ValueError(f"{' '.join(names)} is no type here")
    return name


@functools.cache
def literal(kind: str, text: str) -> Value:
    """Return the number that a text is."""
    if kind in ("float", "double"):
        return Value("double", float(text.rstrip("fFlL")), const=True).cast(kind)
    number = int(text.rstrip("uUlL"), 0)
    to = "unsigned" if "unsigned" in kind or number >= 2**31 else "int"
    return Value("long" if "long" in kind or number >= 2**32 else to, number, const=True)


# ---- Execution -----------------------------------------------------------------------------------
class Interpreter:
    """Executes the syntax tree of pycparser by all threads at once: ``_for`` a For, and so on.

    What a method raises gets its line from the Execution.
    """

    def __init__(self, s: Execution, places: Mapping[int, Place]) -> None:
        self.s, self.places = s, places
        self.names: dict[str, Any] = {}  # addresses, constants and functions
        self.result = Value("void*", None)  # the address of what the function returns

    def execute(self, *nodes: Any) -> None:
        """Execute statements, as long as threads are active."""
        for node in nodes:
            if node and self.s.active.count:
                self.s.place = self.places[node.coord.line]
                self.s.work(1)
                self.value(node)

    def value(self, node: Any) -> Any:
        """Return the Value of an expression, or execute a statement."""
        kind = type(node).__name__.lower()
        if not (method := getattr(self, f"_{kind}", None)):
            raise refusal(kind)
        return method(node)

    def truth(self, node: Any) -> Any:
        """Return a condition."""
        return self.value(node).cast("bool").data

    # Declarations and functions.

    def _decl(self, node: Any) -> None:
        sizes, kind, init, shared = [], node.type, node.init, "register" in node.storage
        while type(kind).__name__ == "ArrayDecl":
            sizes.append(self.value(kind.dim) if kind.dim else Value("", 0))
            kind = kind.type
        if not all(size.const for size in sizes) or (shared and init):
            raise ValueError(f"{node.name} needs a constant size, and no values if it is shared")
        if init and bool(sizes) != (type(init).__name__ == "InitList"):
            raise ValueError("values in braces are for an array, and only they")
        to, given = type_of(kind), (init.exprs if sizes else [init]) if init else []
        values = [self.value(each).cast(to) for each in given]
        if "const" in node.quals and to in NUMBERS and not sizes and init and values[0].const:
            self.names[node.name] = values[0]
            return
        shape = [size.data for size in sizes]
        address = self.new(node, to, shape, "shared" if shared else "local")
        if init and not sizes:
            self.put(address, *values)
        elif init:
            for i, cell in enumerate(np.ndindex(*shape)):  # zeros after the values
                value = values[i] if i < len(values) else Value(to, 0)
                self.put(address._replace(data=(address.data[0], cell)), value)

    def new(self, node: Any, to: str, sizes: Sequence[int] = (), where: str = "local") -> Value:
        """Return the address of a new variable or array, which has a name from here on."""
        array: Any = Register(node.name, (), {})
        if sizes or where == "shared" or to == "float4":
            *outer, last = sizes or [1]
            shape = (*outer, 4 * last if to == "float4" else last)
            call = Call(self.s, (self.s.place, node.name))
            dtype = np.dtype(NUMBERS.get(to, "float32"))
            array = call_builtin(call, f"cuda.{where}.array", (shape, dtype))
            array.name = node.name
        address = Value(f"{to}*", (array, () if sizes else (0,) * len(array.shape)))
        const = "const" in node.quals and "*" not in to
        self.names[node.name] = address._replace(const=const)
        return address

    def _funcdef(self, node: Any) -> None:
        function = functools.partial(self.call, node.decl, node.body.block_items or [], self.names)
        self.names[node.decl.name] = function

    def _label(self, node: Any) -> None:  # of a lambda
        head, *items = node.stmt.block_items
        self.names[head.name] = functools.partial(self.call, head, items, self.names)

    def call(self, head: Any, body: list[Any], names: dict[str, Any], *values: Value) -> Value:
        """Return what a function, with these names around it, returns to the active threads."""
        s, params = self.s, parameters(head)
        if len(values) != len(params):
            raise ValueError(f"{head.name}() takes {len(params)} arguments, not {len(values)}")
        outer, self.names = (self.names, self.result, s.active, s.place), dict(names)
        self.result = result = self.new(head, type_of(head.type.type))  # so it cannot call itself
        result.data[0].name = f"what {head.name} returns"
        for node, value in zip(params, values):
            address = self.new(node, type_of(node.type))
            self.put(address, value.cast(address.type[:-1]))
        s.depth += 1
        self.execute(*body)
        s.depth -= 1
        self.names, self.result, s.active, s.place = outer
        return Value("void", None) if result.type == "void*" else self.fetch(result)

    # Statements.

    def _compound(self, node: Any) -> None:
        outer, self.names = self.names, dict(self.names)
        self.execute(*node.block_items or [])
        self.names = outer

    def _decllist(self, node: Any) -> None:
        self.execute(*node.decls)

    def _emptystatement(self, node: Any) -> None:
        pass

    def _if(self, node: Any) -> None:
        yes, no = (lambda s, part=part: self.execute(part) for part in (node.iftrue, node.iffalse))
        self.s.branch(self.truth(node.cond), yes, no)

    def _for(self, node: Any) -> None:
        def iteration(s: Execution) -> None:
            before, loop, g = s.active, s.loops[-1], s.geometry
            self.execute(node.stmt)
            s.active, loop.continued = g.same(g.either(s.active, loop.continued), before), g.none
            self.execute(getattr(node, "next", None))

        outer, self.names = self.names, dict(self.names)
        self.execute(getattr(node, "init", None))
        test = (lambda s: self.truth(node.cond)) if node.cond else lambda s: True
        self.s.repeat(test, iteration)
        self.names = outer

    _while = _for

    def _break(self, node: Any) -> None:
        if not self.s.loops:
            raise ValueError("this stands outside of a loop")
        self.s.leave(type(node).__name__.lower())

    _continue = _break

    def _return(self, node: Any) -> None:
        if node.expr:
            self.put(self.result, self.value(node.expr).cast(self.result.type[:-1]))
        self.s.leave("return")

    # Variables and addresses.

    def where(self, node: Any) -> Value:
        """Return the address that an expression stands for, or a constant."""
        kind, name = type(node).__name__, getattr(node, "name", "this")
        if kind == "ID" and isinstance(known := self.names.get(name), Value):
            return known
        if kind == "ArrayRef":
            return self.value(name).moved(self.value(node.subscript))
        if kind == "UnaryOp" and node.op == "*":
            return self.value(node.expr).moved(Value("int", 0))
        if kind != "StructRef":
            raise ValueError(f"{name} is no variable here; {nearest(str(name), self.names)}")
        part = node.field.name
        special = f"cuda.{getattr(name, 'name', '')}.{part}"
        if special in self.s.special:
            return Value("unsigned", self.s.special[special])
        if (address := self.where(name)).type == "float4*" and part in [*"xyzw"]:
            return address.parts()["xyzw".index(part)]
        raise ValueError(f".{part} is not known here")

    def fetch(self, address: Value) -> Value:
        """Return what lies at an address; an array is the address of its first entry."""
        s, (array, index), to = self.s, address.data, address.type[:-1]
        if not address.entry:
            return Value(address.type, (array, (*index, 0)), address.const)
        if to == "float4" and not isinstance(array, memory.LocalArray):
            return Value(to, memory.load_vector(s, array, index))
        data = [array.load(s, part.data[1]) for part in address.parts()]
        return Value(to, tuple(data) if to == "float4" else data[0])

    def put(self, address: Value, value: Value) -> None:
        """Let the active threads write to an address."""
        s, (array, index) = self.s, address.data
        values = value.data if value.type == "float4" else (value.data,)
        if isinstance(array, memory.LocalArray):
            for part, data in zip(address.parts(), values):
                array.store(s, part.data[1], data)
        elif array.marks is None:
            raise ValueError(f"{array.name} is const")
        else:
            memory.store_vector(s, array, index, values)

    def _id(self, node: Any) -> Value:
        there = self.where(node)
        return self.fetch(there) if "*" in there.type else there

    _arrayref = _structref = _id

    # Expressions.

    def _constant(self, node: Any) -> Value:
        return literal(node.type, node.value)

    def _cast(self, node: Any) -> Value:
        to, value = type_of(node.to_type.type), self.value(node.expr)
        if {to, value.type} <= {"float*", "float4*"} and value.entry:
            return value._replace(type=to)
        return value.cast(to)

    def _exprlist(self, node: Any) -> Value:
        return [self.value(each) for each in node.exprs][-1]

    def _ternaryop(self, node: Any) -> Value:
        return self.choice(node.cond, node.iftrue, node.iffalse)

    def choice(self, test: Any, *parts: Any) -> Value:
        """Return the first part for the threads of a test, the second one for the others."""
        s, g, values = self.s, self.s.geometry, []
        chosen = g.both(s.active, self.truth(test))
        others = g.minus(s.active, chosen)
        for mask, part in zip((chosen, others), parts):
            with s.narrowed(mask):  # of nobody, too: the value has a type
                values.append(part if isinstance(part, Value) else self.value(part))
        to = values[0].type if values[0].type == "float4" else common(*values)
        yes, no = (each.cast(to).data for each in values)
        if chosen.count and others.count:
            return Value(to, arithmetic.join(chosen.bits, yes, no))
        return Value(to, yes if chosen.count else no)

    def _binaryop(self, node: Any) -> Value:
        if node.op == "&&":
            return self.choice(node.left, node.right, Value("bool", False)).cast("bool")
        if node.op == "||":
            return self.choice(node.left, Value("bool", True), node.right).cast("bool")
        return self.operation(node.op, self.value(node.left), self.value(node.right))

    def operation(self, op: str, a: Value, b: Value) -> Value:
        """Return ``a op b``."""
        if "*" in a.type and op in "+-":
            return a.moved(self.operation(op, Value("int", 0), b))
        s, shift = self.s, op in ("<<", ">>")
        to = common(a) if shift else common(a, b)
        whole = to in WHOLE and b.type in WHOLE
        if not whole and op in ("%", "&", "|", "^", "<<", ">>"):
            raise ValueError(f"{op} is for integers")
        x, y = a.cast(to).data, b.data if shift else b.cast(to).data
        if whole and op in "/%":  # cut off toward zero; the rest has the sign of x
            negative = (x < 0) ^ (y < 0) if op == "/" else x < 0
            divide = operator.floordiv if op == "/" else operator.mod
            result = operate(s, divide, abs(x), abs(y)) * (1 - 2 * negative)
        else:
            result = operate(s, _OPERATORS[op], x, y)
        to = "bool" if op in _COMPARISONS else to
        data = arithmetic.cast(result, NUMBERS[to]) if whole else result  # within 32 bits
        return Value(to, data, a.const and b.const)

    def _unaryop(self, node: Any) -> Value:
        op = node.op
        if op in ("++", "--", "p++", "p--"):
            return self.change(node.expr, op[-1], Value("int", 1), op[0] == "p")
        if op == "*":
            return self._id(node)
        if op == "&":
            address = self.where(node.expr)
            if "*" not in address.type or isinstance(address.data[0], Register):
                raise ValueError("& takes an entry of an array, as in &A[i]")
            return address
        value = self.value(node.expr)
        if op == "!":
            return self.operation("==", value, Value("int", 0))
        if op == "~":
            return self.operation("^", value, Value("int", -1))
        if op != "-":
            raise refusal(op)
        number = value.cast(common(value))  # whose sign costs no FLOP
        return number._replace(data=arithmetic.cast(-number.data, NUMBERS[number.type]))

    def _assignment(self, node: Any) -> Value:
        return self.change(node.lvalue, node.op[:-1], self.value(node.rvalue))

    def change(self, target: Any, op: str, value: Value, before: bool = False) -> Value:
        """Do ``target = value``, or ``target op= value`` whose address is computed once."""
        address = self.where(target)
        if "*" not in address.type or address.const or not address.entry:
            raise ValueError("what is assigned is const, or no variable")
        old = self.fetch(address) if op else value
        result = (self.operation(op, old, value) if op else value).cast(address.type[:-1])
        self.put(address, result)
        return old if before else result

    def _funccall(self, node: Any) -> Value | None:
        name, nodes = str(getattr(node.name, "name", "")), node.args.exprs if node.args else []
        if name == "static_assert":
            if not self.truth(nodes[0]):
                raise ValueError(f"static_assert: {nodes[-1].value}")
            return None
        own = self.names.get(name)
        if not callable(own) and name not in (*FUNCTIONS, "atomicAdd"):
            close = nearest(name, [*FUNCTIONS, "atomicAdd", *self.names])
            raise ValueError(f"{name}() is not known here; {close}")
        values, s = [self.value(each) for each in nodes], self.s
        if callable(own):
            return own(*values)
        if name == "atomicAdd" and len(values) == 2 and "*" in values[0].type:
            value = values[1].cast(values[0].type[:-1])
            return Value(value.type, memory.atomic_add(s, *values[0].data, value.data))
        function, types, result = FUNCTIONS[name]
        if len(values) != len(types):
            raise ValueError(f"{name}() takes {len(types)} arguments, not {len(values)}")
        generic = common(*(value for value, to in zip(values, types) if to is None))
        args = tuple(value.cast(to or generic).data for value, to in zip(values, types))
        if result == "float4":
            return Value(result, args)
        data, to = call_builtin(Call(s, 0), function, args), result or generic
        return Value(to, data if to == "void" else arithmetic.cast(data, NUMBERS[to]))


# ---- Launch --------------------------------------------------------------------------------------
def parameters(head: Any) -> list[Any]:
    """Return the declarations of a function's parameters."""
    return [each for each in (head.type.args.params if head.type.args else []) if each.name]


@functools.lru_cache(256)
@installed("emulate")
def translated(text: str, macros: tuple[tuple[str, object], ...]) -> tuple[Program, list[str]]:
    """Return the kernel of a text, and its parameters' types."""
    from pycparser.c_parser import CParser, ParseError

    text = _COMMENT.sub(_blank, text)
    lines = dict(enumerate(text.splitlines(), 1))
    c = preprocessed(text, dict(macros))
    kernels = re.findall(r"\b__global__\s+void\s+(\w+)", c)
    if len(kernels) != 1:
        names = ", ".join(kernels) or "none"
        raise ValueError(f"one kernel, a __global__ void function, is wanted; there is {names}")
    parser = CParser()
    try:
        nodes = parser.parse(c.replace("__global__", ""), "").ext
        return _program(kernels[0], [n for n in nodes if type(n).__name__ != "Typedef"], lines)
    except (ParseError, AttributeError, AssertionError, LookupError) as error:
        start = re.search(r":(\d+):", str(error))  # which "Invalid expression" lacks
        line = int(start[1]) if start else getattr(parser._peek(), "lineno", len(lines))
        place, what = f"line {line} ({lines.get(line, '').strip()})", str(error).rpartition(": ")[2]
        raise refusal(f"{place}: this ({what})") from None


def _program(kernel: str, nodes: list[Any], lines: Mapping[int, str]) -> tuple[Program, list[str]]:
    """Return what executes a kernel, and its parameters' types."""
    heads = {each.decl.name: each.decl for each in nodes if type(each).__name__ == "FuncDef"}
    params = parameters(heads[kernel])
    names, types = tuple(each.name for each in params), [type_of(each.type) for each in params]
    written = frozenset(each.name for each in params if "const" not in each.quals)
    places = {line: Place(line, text.strip(), kernel, "") for line, text in lines.items()}

    def run(s: Execution) -> None:
        interpreter, values = Interpreter(s, places), []
        for name, to in zip(names, types):
            data = s.variables.pop(name).value
            values.append(
                Value(to, (data, (0,)) if "*" in to else arithmetic.cast(data, NUMBERS[to]))
            )
        interpreter.execute(*nodes)
        s.depth = -1  # a kernel is not called: its return is the end of a thread
        interpreter.names[kernel](*values)

    return Program(kernel, "", names, written, run, {}), types


def emulate(
    source: str, grid: Any, block: Any, *args: Any, macros: Mapping[str, object] | None = None,
    **launch_options: Any,
) -> Run:  # fmt: skip
    """Execute CUDA C++ for every thread of a grid, and return what it counted.

    ``source`` has one kernel, or is the name of one in the catalogue; ``macros`` are values of -D,
    such as ``{"TILE": 16}``. The rest is as in :func:`rl.cuda.launch`: blocks and threads are
    integers or (x, y, z), arrays are written in place. A matrix counts as its numbers, row by row.

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
    program, types = translated(source, tuple(sorted((macros or {}).items())))
    values = [_argument(*pair, to) for pair, to in zip(program.bound(args).items(), types)]
    try:
        return launch(program, grid, block, *values, **launch_options)
    except KernelFault as error:
        raise KernelFault(_in_cuda(error.fault)) from None


def _argument(name: str, value: Any, to: str) -> Any:
    """Return an argument of a launch: a number, or an array, which is flat."""
    given, dtype = np.asarray(value), np.dtype(NUMBERS[to.removesuffix("*")])
    fits = given.dtype == dtype if "*" in to else np.can_cast(given.dtype, dtype, "same_kind")
    if not fits or isinstance(value, np.ndarray) != ("*" in to):
        kind = "an array" if "*" in to else "a number"
        raise TypeError(f"{name} is {given.dtype} of shape {given.shape}, not {kind} of {dtype}")
    return value.reshape(-1) if "*" in to and value.flags.c_contiguous else value


def _in_cuda(fault: Fault) -> Fault:
    """Return a fault in CUDA's words."""
    message = fault.message.replace("cuda.atomic.add", "atomicAdd").replace("cuda.", "__")
    return replace(fault, message=message)

"""Rewrite a kernel, statement by statement, into functions over all threads of an Execution."""

from __future__ import annotations

import ast
import inspect
import math
import operator
import re
import textwrap
from collections import ChainMap
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from types import CodeType, FunctionType, MappingProxyType
from typing import Any

import numpy as np

from rooflab.labs.cuda.emulator import arithmetic, memory
from rooflab.labs.cuda.emulator.execution import Counts, Execution, Faults, Place, Step
from rooflab.labs.cuda.emulator.intrinsics import CALLS, Call, call_builtin, nearest
from rooflab.labs.cuda.emulator.races import Order
from rooflab.labs.cuda.emulator.report import KernelFault
from rooflab.labs.cuda.emulator.threads import SPECIAL, Geometry

POSSIBLE = (
    "A kernel may use numbers, arrays, if, for … in range(), while, break, continue, return, calls "
    "of functions written like it, math, min, max, abs, and cuda's names"
)
_OPERATORS: Mapping[type, Callable[..., Any]] = MappingProxyType({
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.Pow: operator.pow,
    ast.LShift: operator.lshift, ast.RShift: operator.rshift, ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_, ast.BitXor: operator.xor, ast.Lt: operator.lt, ast.LtE: operator.le,
    ast.Gt: operator.gt, ast.GtE: operator.ge, ast.Eq: operator.eq, ast.NotEq: operator.ne,
    ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Invert: operator.invert,
})  # fmt: skip
_SLOW = (operator.floordiv, operator.mod, operator.pow)
_CONSTANTS = MappingProxyType({f"math.{name}": getattr(math, name) for name in ("inf", "pi", "e")})
MOST_CHARACTERS, MOST_WORD = 20_000, 120  # of a kernel's text, and of a name in it
_CONSTRUCTS = MappingProxyType({
    "ListComp": "a list comprehension", "List": "a list", "Dict": "a dictionary", "Set": "a set",
    "JoinedStr": "text", "FunctionDef": "a function in a function", "GeneratorExp": "a generator",
    "ClassDef": "a class", "Slice": "a slice", "NamedExpr": ":=", "Starred": "a * argument",
    "AnnAssign": "a variable's type (write t = 3)",
})  # fmt: skip


@dataclass(frozen=True)
class Program:
    """A rewritten function: parameters, those it may write, its body, the names around it."""

    name: str
    file: str
    params: tuple[str, ...]
    written: frozenset[str]
    body: Step
    names: Mapping[str, Any]

    def bound(self, args: tuple[Any, ...]) -> dict[str, Any]:
        if (n := len(self.params)) != len(args):
            params = ", ".join(self.params[:9])
            raise ValueError(f"{self.name} takes {n} arguments ({params}), not {len(args)}")
        return dict(zip(self.params, args))


def program_of(kernel: Any) -> Program:
    """Return the rewritten form of a function, or of a text whose last function is the kernel."""
    if isinstance(kernel, Program):
        return kernel
    if isinstance(kernel, str):
        return _from_text(textwrap.dedent(kernel))
    function = getattr(kernel, "py_func", kernel)  # of Numba's dispatcher
    if not isinstance(function, FunctionType):
        kind = type(kernel).__name__
        raise TypeError(f"kernel is a {kind}; it must be a function of one thread, or its text")
    code, cells = function.__code__, function.__closure__ or ()
    closure = {name: cell.cell_contents for name, cell in zip(code.co_freevars, cells)}
    return Program(*_from_code(code, code.co_filename), ChainMap(closure, function.__globals__))


def _parsed(text: str) -> ast.Module:
    """Return the tree of a text; ValueError for what is no Python, or too much of it."""
    if len(text) > MOST_CHARACTERS or re.search(rf"\w{{{MOST_WORD + 1}}}", text):
        most = f"{MOST_CHARACTERS:,} characters, and {MOST_WORD} in a name"
        raise ValueError(f"kernel has {len(text):,} characters; at most {most}, are possible")
    try:
        return ast.parse(text)
    except (SyntaxError, RecursionError, MemoryError) as error:
        what = getattr(error, "msg", "it is nested too deeply")
        line = getattr(error, "lineno", None) or 1
        raise ValueError(f"kernel, line {line}: this is no Python: {what}") from None


@cache
def _from_code(code: CodeType, file: str) -> tuple[Any, ...]:
    try:
        lines, first = inspect.getsourcelines(code)
    except OSError:
        raise ValueError(f"the source of {code.co_name} is lost; pass the kernel as text") from None
    tree = _parsed(textwrap.dedent("".join(lines)))
    ast.increment_lineno(tree, max(first, 1) - 1)
    node = tree.body[0]
    if not isinstance(node, ast.FunctionDef):
        raise ValueError(f"{code.co_name} must be defined by def, not by lambda")
    return _rewritten(node, file, dict(enumerate(lines, max(first, 1))))


def _rewritten(node: ast.FunctionDef, file: str, lines: Mapping[int, str]) -> tuple[Any, ...]:
    given = node.args
    params = tuple(each.arg for each in (*given.posonlyargs, *given.args))
    rewriter = Rewriter(node.name, file, lines, params, node.body)
    if given.vararg or given.kwarg or given.kwonlyargs or given.defaults:
        raise rewriter.refused(node, "a kernel has plain parameters, without defaults and stars")
    return node.name, file, params, rewriter.written, rewriter.block(node.body)


@lru_cache(256)
def _from_text(text: str) -> Program:
    tree = _parsed(text)
    lines = dict(enumerate(text.splitlines(), 1))
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    if not functions:
        raise ValueError("kernel has no function; it must be the text of one: def kernel(A, n): …")
    constants = [node for node in tree.body if isinstance(node, ast.Assign)]
    geometry = Geometry((1, 1, 1), (1, 1, 1), (0, 0, 0), (1, 1, 1))
    counts, faults = Counts(MOST_CHARACTERS, 0), Faults("", False)
    state = Execution(geometry, Order(1, 1), faults, counts, np.float64)
    rewriter = Rewriter("kernel", "", lines, (), constants)
    for node in (node for node in rewriter.names if node.id == "cuda"):
        raise rewriter.refused(node, "cuda's names stand inside of a kernel")
    try:
        state.run(rewriter.block(constants))
    except KernelFault as error:
        raise ValueError(str(error)) from None
    names = {name: variable.value for name, variable in state.variables.items()}
    for node in functions:
        names[node.name] = Program(*_rewritten(node, "", lines), names)
    return names[functions[-1].name]


def operate(s: Execution, op: Callable[..., Any], a: Any, b: Any, place: Place) -> Any:
    """Return ``a op b`` by the active threads, as CUDA computes it."""
    a, b = arithmetic.promoted(a, b, s.real)
    floats = op is operator.truediv or "f" in (arithmetic.kind(a), arithmetic.kind(b))
    if floats:
        s.counts.flops += s.active.count * (op in arithmetic.FLOPS)
        if op is operator.truediv:
            a, b = arithmetic.as_real(a, s.real), arithmetic.as_real(b, s.real)
    elif (wrong := arithmetic.undefined(op, a, b)) and np.any(wrong[2]):
        s.fault(*wrong[:2], place, wrong[2], (b,))
        b = arithmetic.normal(np.where(wrong[2], 1, b)[()])
    shared = floats and not (hasattr(a, "dtype") or hasattr(b, "dtype"))
    result = op(s.real(a), s.real(b)).item() if shared else op(a, b)
    s.work(1, getattr(result, "size", 1) << 3 * (op in _SLOW))
    return arithmetic.bounded(arithmetic.normal(result))


def dotted(node: ast.AST) -> str:
    """Return ``cuda.atomic.add`` for that expression, "" for what is no such name."""
    if isinstance(node, ast.Attribute):
        owner = dotted(node.value)
        return f"{owner}.{node.attr}".removeprefix("numba.") if owner else ""
    return node.id if isinstance(node, ast.Name) else ""


class Rewriter:
    """Rewrites the syntax of one function: ``_for`` makes a Step of ast.For, and so on."""

    def __init__(
        self, name: str, file: str, lines: Mapping[int, str], params: Any, body: list[Any]
    ) -> None:
        self.name, self.file, self.lines = name, file, lines
        self.places: dict[int, Place] = {}
        self.loops = 0
        nodes = [node for statement in body for node in ast.walk(statement)]
        self.names: Any = [node for node in nodes if isinstance(node, ast.Name)]
        stored = {node.id for node in self.names if isinstance(node.ctx, ast.Store)}
        self.local = stored.union(params)
        # Arrays may be written wherever their name stands outside of A[i], A.shape, load4(A, i).
        entries = [node for node in nodes if isinstance(node, ast.Subscript)]
        reads = {id(_base(node)) for node in entries if isinstance(node.ctx, ast.Load)}
        reads -= {id(_base(node)) for node in entries if isinstance(node.ctx, ast.Store)}
        reads |= {id(node.value) for node in nodes if isinstance(node, ast.Attribute)}
        calls = [node for node in nodes if isinstance(node, ast.Call) and node.args]
        reads |= {id(node.args[0]) for node in calls if dotted(node.func) == "cuda.load4"}
        self.written = frozenset(name.id for name in self.names if id(name) not in reads)

    def place(self, node: Any) -> Place:
        text = self.lines.get(node.lineno, "").partition(" #")[0].strip()
        return self.places.setdefault(node.lineno, Place(node.lineno, text, self.name, self.file))

    def refused(self, node: Any, what: str = "") -> ValueError:
        kind = type(node).__name__
        what = what or f"{_CONSTRUCTS.get(kind, kind.lower())} is not possible in a kernel here"
        return ValueError(f"{self.place(node)} of {self.name}: {what[:200]}. {POSSIBLE}")

    def _rewrite(self, node: Any) -> Step:
        rewrite = getattr(self, f"_{type(node).__name__.lower()}", None)
        if rewrite is None:
            raise self.refused(node)
        step: Step = rewrite(node)
        return step

    # Statements: each is executed by the threads that are active.

    def block(self, statements: list[Any]) -> Step:
        steps: list[tuple[Step, Place]] = []
        try:
            for each in statements:
                steps.append((self._rewrite(each), self.place(each)))
        except RecursionError:
            raise self.refused(statements[len(steps)], "this is too long") from None

        def run(s: Execution) -> None:
            for step, place in steps:
                s.place = place
                s.work(1)
                step(s)
                if not s.active.count:
                    return

        return run

    def _expr(self, node: ast.Expr) -> Step:
        step = self._rewrite(node.value)
        if not isinstance(node.value, ast.Call | ast.Constant):  # a docstring
            raise self.refused(node, "this line has no effect")
        return step

    def _pass(self, node: ast.stmt) -> Step:
        return lambda s: None

    _import = _importfrom = _pass

    def _assign(self, node: ast.Assign) -> Step:
        value, targets = self._rewrite(node.value), [self.target(each) for each in node.targets]

        def run(s: Execution) -> None:
            result = value(s)
            for target in targets:
                target(s, result)

        return run

    def target(self, node: ast.expr) -> Callable[[Execution, Any], None]:
        place = self.place(node)
        if isinstance(node, ast.Name):
            return lambda s, value: s.assign(s.variables, node.id, value)
        if isinstance(node, ast.Subscript):
            array, index = self.entry(node)
            return lambda s, value: memory.store(s, array(s), index(s), value, place)
        if not isinstance(node, ast.Tuple):
            raise self.refused(node)
        targets = [self.target(each) for each in node.elts]

        def run(s: Execution, value: Any) -> None:
            if not isinstance(value, tuple) or len(value) != len(targets):
                raise ValueError(f"{len(targets)} names need as many values")
            for target, each in zip(targets, value):
                target(s, each)

        return run

    def _augassign(self, node: ast.AugAssign) -> Step:
        place, op, value = self.place(node), self.operator(node.op, node), self._rewrite(node.value)
        if not isinstance(node.target, ast.Subscript):
            read, target = self._rewrite(node.target), self.target(node.target)
            return lambda s: target(s, operate(s, op, read(s), value(s), place))
        array, index = self.entry(node.target)

        def change(s: Execution) -> None:
            to, at = array(s), index(s)
            result = operate(s, op, memory.load(s, to, at, place), value(s), place)
            memory.store(s, to, at, result, place)

        return change

    def _if(self, node: ast.If) -> Step:
        test, yes, no = self.test(node.test), self.block(node.body), self.block(node.orelse)
        return lambda s: s.branch(test(s), yes, no)

    def _while(self, node: ast.While) -> Step:
        test, place, body = self.test(node.test), self.place(node), self._loop_body(node)
        return lambda s: s.repeat(test, body, place)

    def _loop_body(self, node: ast.While | ast.For) -> Step:
        if node.orelse:
            raise self.refused(node, "else after a loop is not possible in a kernel here")
        self.loops += 1
        body = self.block(node.body)
        self.loops -= 1
        return body

    def _for(self, node: ast.For) -> Step:
        call, place, target = node.iter, self.place(node), node.target
        named = isinstance(call, ast.Call) and dotted(call.func) == "range"
        if not named or not isinstance(target, ast.Name) or len(call.args) not in (1, 2, 3):
            raise self.refused(node, "a for loop is: for i in range(start, stop, step)")
        ends, body = [self._rewrite(each) for each in call.args], self._loop_body(node)

        def run(s: Execution) -> None:
            values = [end(s) for end in ends]
            now, stop, step = (0, *values, 1) if len(values) == 1 else (*values, 1)[:3]
            if any(arithmetic.kind(value) != "i" for value in values) or np.any(step == 0):
                raise ValueError("range() takes integers (write // for /, or int()), no step of 0")

            def iteration(s: Execution) -> None:
                nonlocal now
                s.assign(s.variables, target.id, now)
                now = now + step
                body(s)

            s.repeat(
                lambda _: (step > 0) & (now < stop) | (step < 0) & (now > stop), iteration, place
            )

        return run

    def _break(self, node: ast.Break | ast.Continue) -> Step:
        way = type(node).__name__.lower()
        if not self.loops:
            raise self.refused(node, f"{way} stands outside a loop")
        return lambda s: s.leave(way)

    _continue = _break

    def _return(self, node: ast.Return) -> Step:
        value = node.value and self._rewrite(node.value)

        def run(s: Execution) -> None:
            if value:
                if not s.depth:
                    raise ValueError("a kernel returns nothing; write results into an array")
                s.assign(s.variables, "return", value(s))
            s.leave("return")

        return run

    # Expressions.

    def test(self, node: ast.expr) -> Step:
        value = self._rewrite(node)
        return lambda s: arithmetic.truth(value(s))

    def operator(self, op: ast.AST, node: ast.AST) -> Callable[..., Any]:
        if type(op) not in _OPERATORS:
            raise self.refused(node, f"the operator {type(op).__name__} is not possible here")
        return _OPERATORS[type(op)]

    def _constant(self, node: ast.Constant) -> Step:
        return lambda s: arithmetic.bounded(node.value)

    def _tuple(self, node: ast.Tuple) -> Step:
        parts = [self._rewrite(each) for each in node.elts]
        return lambda s: arithmetic.bounded(tuple(part(s) for part in parts))

    def _name(self, node: ast.Name) -> Step:
        name, place = node.id, self.place(node)
        if name not in self.local:
            return lambda s: constant(name, s.names)
        return lambda s: s.read(s.variables, name, name, place)

    def _attribute(self, node: ast.Attribute) -> Step:
        name = dotted(node)
        if node.attr in arithmetic.DTYPES and name.count(".") < 2:  # np.float32
            return lambda s: np.dtype(arithmetic.DTYPES[node.attr])
        if node.attr == "shape":
            array = self._rewrite(node.value)
            return lambda s: memory.array_of(array(s)).shape
        if name in CALLS:
            raise self.refused(node, f"call it: {name}()")
        if name in _CONSTANTS:
            return lambda s: _CONSTANTS[name]
        if name not in SPECIAL:
            raise self.refused(node, f"{name or 'this'} is not known; {nearest(name, SPECIAL)}")
        return lambda s: s.special[name]

    def _binop(self, node: ast.BinOp) -> Step:
        op, place = self.operator(node.op, node), self.place(node)
        left, right = self._rewrite(node.left), self._rewrite(node.right)
        return lambda s: operate(s, op, left(s), right(s), place)

    def _unaryop(self, node: ast.UnaryOp) -> Step:
        if isinstance(node.op, ast.Not):
            test = self.test(node.operand)
            return lambda s: arithmetic.normal(np.logical_not(test(s)))
        value, sign = self._rewrite(node.operand), self.operator(node.op, node)
        return lambda s: sign(arithmetic.promoted(value(s), 0, s.real)[0])

    def _boolop(self, node: ast.BoolOp) -> Step:
        c = not isinstance(node.values[0], ast.expr)  # C's && gives a bool, Python's a value
        made = self.test if c else self._rewrite
        parts, both = [made(each) for each in node.values], isinstance(node.op, ast.And)

        def run(s: Execution) -> Any:
            """Evaluate each part only by the threads that need it, as Python does."""
            result = parts[0](s)
            for part in parts[1:]:
                truth = arithmetic.truth(result)
                undecided = s.geometry.both(s.active, truth if both else np.logical_not(truth))
                s.work(1, undecided.bits.size << 1)
                if not undecided.count:
                    break
                with s.narrowed(undecided):
                    value = part(s)
                if undecided is not s.active:
                    value = arithmetic.join(undecided.bits, value, result, s.real)
                result = value
            return result

        return run

    def _compare(self, node: ast.Compare) -> Step:
        place = self.place(node)
        ops = [self.operator(op, node) for op in node.ops]
        parts = [self._rewrite(each) for each in (node.left, *node.comparators)]
        if len(ops) == 1:
            return lambda s: operate(s, ops[0], parts[0](s), parts[1](s), place)

        def run(s: Execution) -> Any:
            left, result, live = parts[0](s), True, s.active
            for op, part in zip(ops, parts[1:]):
                with s.narrowed(live):
                    right = part(s)
                    result = operate(s, op, left, right, place) & result
                left, live = right, s.geometry.both(live, result)
                if not live.count:
                    break
            return result

        return run

    def _ifexp(self, node: ast.IfExp) -> Step:
        test, *parts = self.test(node.test), self._rewrite(node.body), self._rewrite(node.orelse)

        def run(s: Execution) -> Any:
            chosen = s.geometry.both(s.active, test(s))
            s.work(1, chosen.bits.size << 2)
            values = []
            for mask, part in zip((chosen, s.geometry.minus(s.active, chosen)), parts):
                if mask.count:
                    with s.narrowed(mask):
                        values.append(part(s))
            return values[0] if len(values) < 2 else arithmetic.join(chosen.bits, *values, s.real)

        return run

    def entry(self, node: ast.Subscript) -> tuple[Step, Callable[[Execution], tuple[Any, ...]]]:
        """Return what gives the array of ``A[i, j]`` or ``A[i][j]``, and the index."""
        base, flat = node, []
        while isinstance(base, ast.Subscript):
            flat[:0] = base.slice.elts if isinstance(base.slice, ast.Tuple) else [base.slice]
            base = base.value
        indices = [self._rewrite(each) for each in flat]
        return self._rewrite(base), lambda s: tuple(index(s) for index in indices)

    def _subscript(self, node: ast.Subscript) -> Step:
        array, index, place = *self.entry(node), self.place(node)

        def run(s: Execution) -> Any:
            owner, at = array(s), index(s)
            if not isinstance(owner, tuple):
                return memory.load(s, owner, at, place)
            if len(at) != 1 or type(at[0]) is not int or not 0 <= at[0] < len(owner):
                raise ValueError(f"the index is 0 to {len(owner) - 1}, the same for all threads")
            return owner[at[0]]

        return run

    def _call(self, node: ast.Call) -> Step:
        name, place = dotted(node.func), self.place(node)
        last = name.rpartition(".")[2]
        dtype = last in arithmetic.DTYPES and name.count(".") < 2
        if not name or ("." in name and name not in CALLS and not dtype):
            raise self.refused(node, f"{name}() is not known; {nearest(name, CALLS)}")
        if [k.arg for k in node.keywords] != ["shape", "dtype"][-len(node.keywords) or 2 :]:
            raise self.refused(node, "arguments are given in their order, without names")
        nodes = [*node.args, *(k.value for k in node.keywords)]
        parts = [self._rewrite(each) for each in nodes]
        for each in ast.walk(nodes[0]) if nodes and last == "array" else ():
            if getattr(each, "id", "") in self.local or isinstance(each, ast.Attribute | ast.Call):
                raise self.refused(node, "a shape is of constants: numbers, or names from outside")

        def run(s: Execution) -> Any:
            args = tuple(part(s) for part in parts)
            function = s.names.get(name)
            function = getattr(function, "py_func", function)
            if isinstance(function, Program | FunctionType):
                return s.call(program_of(function), args, place)
            return call_builtin(Call(s, place, node.col_offset), _dtype(function) or name, args)

        return run


def _base(node: Any) -> Any:
    return _base(node.value) if isinstance(node, ast.Subscript) else node


def _dtype(value: Any) -> str:
    """Return the name of a dtype of NumPy's or Numba's, "" for what is none."""
    name = str(getattr(value, "__name__", value))
    return name if name in arithmetic.DTYPES else ""


def constant(name: str, names: Mapping[str, Any]) -> Any:
    """Return what a name from outside the kernel stands for: a number, a tuple, a dtype."""
    value = names.get(name, arithmetic.DTYPES.get(name))
    if isinstance(value, np.generic | bool | int | float | tuple):
        return arithmetic.literal(value)
    if dtype := _dtype(value):
        return np.dtype(arithmetic.DTYPES[dtype])
    kind = f"a {type(value).__name__} from outside" if name in names else "not known here"
    raise ValueError(f"{name} is {kind}; assign it, or pass it as an argument")

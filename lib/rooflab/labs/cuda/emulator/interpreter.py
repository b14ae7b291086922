"""Execute the syntax of a kernel, node by node, by all threads of an Execution at once."""

from __future__ import annotations

import ast
import inspect
import operator
import textwrap
from collections import ChainMap
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from types import CodeType, FunctionType, MappingProxyType
from typing import Any

import numpy as np

from rooflab.labs.cuda.emulator import arithmetic, memory
from rooflab.labs.cuda.emulator.execution import MOST_SHOWN, Execution, Place, Step
from rooflab.labs.cuda.emulator.intrinsics import CALLS, Call, call_builtin, nearest
from rooflab.labs.cuda.emulator.threads import SPECIAL

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
_FLOPS = (operator.add, operator.sub, operator.mul, operator.truediv)
_DIVISIONS, _SHIFTS = (operator.floordiv, operator.mod), (operator.lshift, operator.rshift)
TEXT_STEPS = 20_000  # for the numbers of a text, outside of its functions


@dataclass(frozen=True)
class Program:
    """A function: its parameters, those it may write, its body, the names around it."""

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
    """Return the program of a function, or of a text whose last function is the kernel."""
    if isinstance(kernel, Program):
        return kernel
    if isinstance(kernel, str):
        return _from_text(textwrap.dedent(kernel))
    function = getattr(kernel, "py_func", kernel)  # of Numba's dispatcher
    if not isinstance(function, FunctionType):
        raise TypeError(f"kernel={kernel!r} must be a function of one thread, or its text")
    code, cells = function.__code__, function.__closure__ or ()
    closure = {name: cell.cell_contents for name, cell in zip(code.co_freevars, cells)}
    return Program(*_from_code(code, code.co_filename), ChainMap(closure, function.__globals__))


def _parsed(text: str) -> ast.Module:
    try:
        return ast.parse(text)
    except (SyntaxError, RecursionError, MemoryError) as error:
        what = getattr(error, "msg", "it is nested too deeply")
        line = getattr(error, "lineno", None) or 1
        raise ValueError(f"kernel, line {line}: this is no Python: {what}") from None


@cache
def _from_code(code: CodeType, file: str) -> tuple[Any, ...]:
    lines, first = inspect.getsourcelines(code)
    tree = _parsed(textwrap.dedent("".join(lines)))
    ast.increment_lineno(tree, max(first, 1) - 1)
    return _function(tree.body[0], file, dict(enumerate(lines, max(first, 1))))


def _function(node: Any, file: str, lines: Mapping[int, str]) -> tuple[Any, ...]:
    if not isinstance(node, ast.FunctionDef):
        raise ValueError(f"line {node.lineno}: a kernel is defined by def, not by lambda")
    params = tuple(each.arg for each in (*node.args.posonlyargs, *node.args.args))
    interpreter = Interpreter(node.name, file, lines, params, node.body)
    return node.name, file, params, interpreter.written, partial(interpreter.block, node.body)


@lru_cache(256)
def _from_text(text: str) -> Program:
    tree = _parsed(text)
    lines = dict(enumerate(text.splitlines(), 1))
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    if not functions:
        raise ValueError("kernel has no function; it must be the text of one: def kernel(A, n): …")
    constants = [node for node in tree.body if isinstance(node, ast.Assign)]
    state = Execution((1, 1, 1), (1, 1, 1), np.float64, TEXT_STEPS)
    state.special = {}  # cuda's names stand inside of a kernel
    state.run(partial(Interpreter("kernel", "", lines, (), constants).block, constants))
    names = {name: variable.value for name, variable in state.variables.items()}
    for node in functions:
        names[node.name] = Program(*_function(node, "", lines), names)
    return names[functions[-1].name]


def operate(s: Execution, op: Callable[..., Any], a: Any, b: Any) -> Any:
    """Return ``a op b`` by the active threads, as CUDA computes it."""
    a, b = arithmetic.promoted(a, b)
    if op is operator.truediv:
        a, b = arithmetic.as_real(a, s.real), arithmetic.as_real(b, s.real)
    if "f" in (arithmetic.kind(a), arithmetic.kind(b)):
        s.flops += s.active.count * (op in _FLOPS)
    elif op in _DIVISIONS:
        s.check("division by zero", "an integer is divided by 0", b == 0)
        b = b + (b == 0)  # of threads that are not active
    elif op in (*_SHIFTS, operator.pow):
        message = "shifts and powers of integers are by 0 to 63, not by {at}"
        s.check("undefined", message, (b < 0) | (b > 63), (b,))
        b = b & 63
    result = op(a, b)
    s.work(1, getattr(result, "size", 1) << 3 * (op in (*_DIVISIONS, operator.pow)))
    return arithmetic.bounded(arithmetic.normal(result))


def dotted(node: ast.AST) -> str:
    """Return ``cuda.atomic.add`` for that expression, "" for what is no such name."""
    if isinstance(node, ast.Attribute):
        owner = dotted(node.value)
        return f"{owner}.{node.attr}".removeprefix("numba.") if owner else ""
    return node.id if isinstance(node, ast.Name) else ""


class Interpreter:
    """Executes the syntax of one function by the active threads: ``_for`` a For, and so on."""

    def __init__(
        self, name: str, file: str, lines: Mapping[int, str], params: Any, body: list[Any]
    ) -> None:
        self.places = {
            number: Place(number, line.partition(" #")[0].strip(), name, file)
            for number, line in lines.items()
        }
        nodes = [node for statement in body for node in ast.walk(statement)]
        for node in nodes:
            if isinstance(node, ast.For | ast.While) and node.orelse:
                raise self.refused(node, "else after a loop is not possible in a kernel here")
        names = [node for node in nodes if isinstance(node, ast.Name)]
        self.local = {node.id for node in names if isinstance(node.ctx, ast.Store)}.union(params)
        # Arrays may be written wherever their name stands outside of A[i], A.shape, load4(A, i).
        reads = {
            id(node.value) for node in nodes
            if isinstance(node, ast.Subscript | ast.Attribute) and isinstance(node.ctx, ast.Load)
        }  # fmt: skip
        calls = [node for node in nodes if isinstance(node, ast.Call) and node.args]
        reads |= {id(node.args[0]) for node in calls if dotted(node.func) == "cuda.load4"}
        reads -= {
            id(_base(node)) for node in nodes if isinstance(getattr(node, "ctx", 0), ast.Store)
        }
        self.written = frozenset(name.id for name in names if id(name) not in reads)

    def refused(self, node: Any, what: str = "") -> ValueError:
        what = what or f"{ast.unparse(node)[:MOST_SHOWN]} is not possible in a kernel here"
        return ValueError(f"{self.places[node.lineno]}: {what}. {POSSIBLE}")

    def block(self, statements: list[Any], s: Execution) -> None:
        """Execute statements, as long as threads are active."""
        for node in statements:
            if not s.active.count:
                return
            s.place = self.places[node.lineno]
            s.work(1)
            self.value(node, s)

    def value(self, node: Any, s: Execution) -> Any:
        """Return the value of an expression, or execute a statement."""
        method = getattr(self, f"_{type(node).__name__.lower()}", None)
        if method is None:
            raise self.refused(node)
        return method(node, s)

    def truth(self, node: ast.expr, s: Execution) -> Any:
        return arithmetic.truth(self.value(node, s))

    # Statements: each is executed by the threads that are active.

    def _expr(self, node: ast.Expr, s: Execution) -> None:
        self.value(node.value, s)

    def _pass(self, node: ast.stmt, s: Execution) -> None:
        pass

    _import = _importfrom = _pass

    def _assign(self, node: ast.Assign, s: Execution) -> None:
        value = self.value(node.value, s)
        for target in node.targets:
            self.assign(target, value, s)

    def assign(self, node: ast.expr, value: Any, s: Execution) -> None:
        """Assign to a name, to an entry of an array, or to as many of them as there are values."""
        if isinstance(node, ast.Name):
            if isinstance(value, memory.Array):
                value.name = value.name or node.id
            s.assign(s.variables, node.id, value)
        elif isinstance(node, ast.Subscript):
            array, index = self.entry(node, s)
            memory.array_of(array).store(s, index, value)
        elif not isinstance(node, ast.Tuple):
            raise self.refused(node)
        elif not isinstance(value, tuple) or len(value) != len(node.elts):
            raise ValueError(f"{len(node.elts)} names need as many values")
        else:
            for each, part in zip(node.elts, value):
                self.assign(each, part, s)

    def _augassign(self, node: ast.AugAssign, s: Execution) -> None:
        op = self.operator(node.op, node)
        if isinstance(node.target, ast.Name):
            result = operate(s, op, self._name(node.target, s), self.value(node.value, s))
            self.assign(node.target, result, s)
            return
        array, index = self.entry(node.target, s)
        old = memory.array_of(array).load(s, index)
        array.store(s, index, operate(s, op, old, self.value(node.value, s)))

    def _if(self, node: ast.If, s: Execution) -> None:
        bodies = (partial(self.block, body) for body in (node.body, node.orelse))
        s.branch(self.truth(node.test, s), *bodies)

    def _while(self, node: ast.While, s: Execution) -> None:
        s.repeat(partial(self.truth, node.test), partial(self.block, node.body))

    def _for(self, node: ast.For, s: Execution) -> None:
        call, target = node.iter, node.target
        named = isinstance(call, ast.Call) and dotted(call.func) == "range"
        if not named or not isinstance(target, ast.Name) or len(call.args) not in (1, 2, 3):
            raise self.refused(node, "a for loop is: for i in range(start, stop, step)")
        values = [self.value(each, s) for each in call.args]
        now, stop, step = (0, *values, 1) if len(values) == 1 else (*values, 1)[:3]
        if any(arithmetic.kind(value) != "i" for value in values) or np.any(step == 0):
            raise ValueError("range() takes integers (write // for /, or int()), no step of 0")

        def going(s: Execution) -> Any:
            return (step > 0) & (now < stop) | (step < 0) & (now > stop)

        def iteration(s: Execution) -> None:
            nonlocal now
            s.assign(s.variables, target.id, now)
            now = now + step
            self.block(node.body, s)

        s.repeat(going, iteration)

    def _break(self, node: ast.Break | ast.Continue, s: Execution) -> None:
        s.leave(type(node).__name__.lower())

    _continue = _break

    def _return(self, node: ast.Return, s: Execution) -> None:
        if node.value and not s.depth:
            raise ValueError("a kernel returns nothing; write results into an array")
        if node.value:
            s.assign(s.variables, "return", self.value(node.value, s))
        s.leave("return")

    # Expressions.

    def operator(self, op: ast.AST, node: ast.AST) -> Callable[..., Any]:
        if type(op) not in _OPERATORS:
            raise self.refused(node)
        return _OPERATORS[type(op)]

    def _constant(self, node: ast.Constant, s: Execution) -> Any:
        return arithmetic.literal(node.value, s.real)

    def _tuple(self, node: ast.Tuple, s: Execution) -> tuple[Any, ...]:
        values = tuple(self.value(each, s) for each in node.elts)
        if any(isinstance(value, tuple) for value in values):
            raise ValueError("a tuple in a tuple is not possible in a kernel here")
        return values

    def _name(self, node: ast.Name, s: Execution) -> Any:
        local = node.id in self.local
        return s.read(s.variables, node.id, node.id) if local else constant(node.id, s)

    def _attribute(self, node: ast.Attribute, s: Execution) -> Any:
        name = dotted(node)
        if node.attr == "shape":
            return memory.array_of(self.value(node.value, s)).shape
        if name in CALLS:
            raise ValueError(f"call it: {name}()")
        return s.special[name] if name in s.special else constant(name, s)

    def _binop(self, node: ast.BinOp, s: Execution) -> Any:
        left, right = self.value(node.left, s), self.value(node.right, s)
        return operate(s, self.operator(node.op, node), left, right)

    def _unaryop(self, node: ast.UnaryOp, s: Execution) -> Any:
        if isinstance(node.op, ast.Not):
            return arithmetic.normal(np.logical_not(self.truth(node.operand, s)))
        sign = self.operator(node.op, node)
        return sign(arithmetic.promoted(self.value(node.operand, s), 0)[0])

    def _boolop(self, node: ast.BoolOp, s: Execution) -> Any:
        """Evaluate each part only by the threads that need it, as Python does."""
        result = self.value(node.values[0], s)
        for part in node.values[1:]:
            ways = [partial(self.value, part), lambda s, so_far=result: so_far]
            if isinstance(node.op, ast.Or):
                ways.reverse()
            result = s.select(arithmetic.truth(result), *ways)
        return result

    def _compare(self, node: ast.Compare, s: Execution) -> Any:
        left, result = self.value(node.left, s), True
        for op, part in zip(node.ops, node.comparators):
            undecided = s.geometry.both(s.active, result)
            if not undecided.count:
                break
            with s.narrowed(undecided):
                right = self.value(part, s)
                result = operate(s, self.operator(op, node), left, right) & result
            left = right
        return result

    def _ifexp(self, node: ast.IfExp, s: Execution) -> Any:
        ways = (partial(self.value, part) for part in (node.body, node.orelse))
        return s.select(self.truth(node.test, s), *ways)

    def entry(self, node: ast.Subscript, s: Execution) -> tuple[Any, tuple[Any, ...]]:
        """Return the array of ``A[i, j]`` or ``A[i][j]``, and the index."""
        base, flat = node, []
        while isinstance(base, ast.Subscript):
            flat[:0] = base.slice.elts if isinstance(base.slice, ast.Tuple) else [base.slice]
            base = base.value
        return self.value(base, s), tuple(self.value(each, s) for each in flat)

    def _subscript(self, node: ast.Subscript, s: Execution) -> Any:
        owner, at = self.entry(node, s)
        return owner[at[0]] if isinstance(owner, tuple) else memory.array_of(owner).load(s, at)

    def _call(self, node: ast.Call, s: Execution) -> Any:
        name = dotted(node.func)
        if [k.arg for k in node.keywords] != ["shape", "dtype"][-len(node.keywords) or 2 :]:
            raise self.refused(node, "arguments are given in their order, without names")
        nodes = [*node.args, *(k.value for k in node.keywords)]
        for each in ast.walk(nodes[0]) if nodes and name.endswith("array") else ():
            if getattr(each, "id", "") in self.local or isinstance(each, ast.Attribute | ast.Call):
                raise self.refused(node, "a shape is of constants: numbers, or names from outside")
        args = tuple(self.value(each, s) for each in nodes)
        function = s.names.get(name)
        function = getattr(function, "py_func", function)
        if isinstance(function, Program | FunctionType):
            return s.call(program_of(function), args)
        return call_builtin(Call(s, id(node)), _dtype(function) or name, args)


def _base(node: Any) -> Any:
    return _base(node.value) if isinstance(node, ast.Subscript) else node


def _dtype(value: Any) -> str:
    """Return the name of a dtype of NumPy's or Numba's, "" for what is none."""
    name = str(getattr(value, "__name__", value))
    return name if name in arithmetic.DTYPES else ""


def constant(name: str, s: Execution) -> Any:
    """Return what a name from outside the kernel stands for: a number, a tuple, a dtype."""
    value = s.names.get(name, arithmetic.CONSTANTS.get(name))
    if isinstance(value, np.generic | bool | int | float | tuple):
        return arithmetic.literal(value, s.real)
    if dtype := _dtype(value):
        return np.dtype(arithmetic.DTYPES[dtype])
    if value is not None:
        raise ValueError(f"{name} is a {type(value).__name__} from outside; pass it as an argument")
    hint = nearest(name, SPECIAL) if "." in name else "assign it, or pass it as an argument"
    raise ValueError(f"{name or 'this'} is not known here; {hint}")

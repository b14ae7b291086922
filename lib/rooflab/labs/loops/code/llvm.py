"""The operations of a schedule as LLVM IR, compiled in a few milliseconds."""

from __future__ import annotations

import ctypes
import itertools
from collections.abc import Callable
from typing import TYPE_CHECKING

from rooflab.labs.loops.code.packing import arguments, stored_shape
from rooflab.labs.loops.code.program import Assign, Compute, For, Load, Ops, Store, When, program
from rooflab.labs.loops.language.expression import Affine, Quotient
from rooflab.labs.loops.language.statement import Access, Apply, Value

if TYPE_CHECKING:
    from rooflab.labs.loops.nest import Nest

_REAL = {"float32": ("float", "f32", 4), "float64": ("double", "f64", 8)}
_INSTRUCTION = {"+": "fadd", "-": "fsub", "*": "fmul", "/": "fdiv"}
_INTRINSIC = {"sqrt": "sqrt", "sin": "sin", "exp": "exp", "max": "maxnum", "min": "minnum"}


def ir(nest: Nest, dtype: str) -> str:
    """The page of LLVM IR of one function ``kernel``: the arrays, then its first turn and end."""
    return _Page(nest, dtype).text(program(nest))


def compiled(nest: Nest, dtype: str, freely: bool) -> Callable[..., object]:
    """The nest as a function of the arrays' addresses, and of the turns of its outermost loop
    that it runs: the first one and the one after the last.

    A compiler works ``freely``: it vectorises and unrolls loops that nobody has marked. Otherwise
    what runs is what the schedule says, and no lucky guess.
    """
    from rooflab.measure.roof_kernels import compile_kernel

    kinds = (*[ctypes.c_void_p] * len(nest.arrays), ctypes.c_int64, ctypes.c_int64)
    return compile_kernel(_simplified(ir(nest, dtype), freely), kinds)


def _simplified(page: str, freely: bool) -> str:
    """The page after LLVM's passes."""
    import llvmlite.binding as llvm

    from rooflab.measure.roof_kernels import host, target_machine

    generator = target_machine(host())
    module = llvm.parse_assembly(page)
    module.verify()
    options = llvm.create_pipeline_tuning_options(speed_level=2)
    options.loop_vectorization = options.slp_vectorization = freely
    options.loop_unrolling = options.loop_interleaving = freely
    builder = llvm.create_pass_builder(generator, options)
    builder.getModulePassManager().run(module, builder)
    return str(module)


class _Page:
    """Lines of IR as they are written. Registers are slots of the stack, which LLVM lifts."""

    def __init__(self, nest: Nest, dtype: str) -> None:
        self.nest = nest
        self.real, self.short, self.size = _REAL[dtype]
        self.slots: list[str] = []
        self.lines: list[str] = []
        self.declared: set[str] = set()
        self.widths: dict[str, int] = {}
        self.count = itertools.count()

    def text(self, ops: Ops) -> str:
        self.ops(ops, {}, len(ops) == 1)
        arrays = ", ".join(f"ptr noalias {_place(name)}" for name in arguments(self.nest))
        # A schedule's vectors of 64 bytes stay whole; LLVM's own have 32, as compilers choose.
        head = f"define void @kernel({arrays}, i64 %start, i64 %stop) "
        width = '"min-legal-vector-width"="512" "prefer-vector-width"="256" {'
        body = [*self.slots, *self.lines, "  ret void", "}"]
        return "\n".join([*sorted(self.declared), head + width, "entry:", *body])

    def new(self, said: str) -> str:
        name = f"%v{next(self.count)}"
        self.lines.append(f"  {name} = {said}")
        return name

    def kind(self, lanes: int) -> str:
        return self.real if lanes == 1 else f"<{lanes} x {self.real}>"

    def ops(self, ops: Ops, at: dict[str, str], shared: bool = False) -> None:
        for op in ops:
            if isinstance(op, For):
                self.loop(op, at, shared)
            elif isinstance(op, When):
                self.when(op, at)
            elif isinstance(op, Assign):
                self.assign(op, at)
            elif isinstance(op, Load):
                self.set(op.register, self.load(op.access, at, op.lanes, op.spread), op.lanes)
            elif isinstance(op, Store):
                self.store(self.get(op.register), op.access, at, op.lanes)
            elif isinstance(op, Compute):
                told = [self.operand(one, op.lanes) for one in op.operands]
                self.set(op.register, self.compute(op.function, told, op.lanes), op.lanes)

    def loop(self, op: For, at: dict[str, str], shared: bool) -> None:
        mark = next(self.count)
        slot = f"%i{mark}"
        self.slots.append(f"  {slot} = alloca i64")
        low = "%start" if shared else self.extreme(op.lower, at, "smax")
        high = "%stop" if shared else self.extreme(op.upper, at, "smin")
        self.lines += [f"  store i64 {low}, ptr {slot}", f"  br label %test{mark}", f"test{mark}:"]
        turn = self.new(f"load i64, ptr {slot}")
        more = self.new(f"icmp slt i64 {turn}, {high}")
        self.lines += [f"  br i1 {more}, label %turn{mark}, label %done{mark}", f"turn{mark}:"]
        self.ops(op.body, {**at, op.name: turn})
        after = self.new(f"add nsw i64 {turn}, 1")
        self.lines += [f"  store i64 {after}, ptr {slot}", f"  br label %test{mark}"]
        self.lines.append(f"done{mark}:")

    def when(self, op: When, at: dict[str, str]) -> None:
        mark = next(self.count)
        true = "true"
        for guard in op.guards:
            good = self.new(f"icmp sge i64 {self.integer(guard, at)}, 0")
            true = good if true == "true" else self.new(f"and i1 {true}, {good}")
        self.lines += [f"  br i1 {true}, label %then{mark}, label %else{mark}", f"then{mark}:"]
        self.ops(op.body, at)
        self.lines += [f"  br label %end{mark}", f"else{mark}:"]
        self.ops(op.otherwise, at)
        self.lines += [f"  br label %end{mark}", f"end{mark}:"]

    def assign(self, op: Assign, at: dict[str, str]) -> None:
        at = {**at, **{name: self.integer(value, at) for name, value in op.names}}
        value = self.value(op.value, at)
        if op.reduction:
            value = self.compute(op.reduction, [self.load(op.target, at), value], 1)
        self.store(value, op.target, at, 1)

    # Whole numbers.

    def extreme(self, bounds: tuple[Affine, ...], at: dict[str, str], function: str) -> str:
        values = [self.integer(bound, at) for bound in dict.fromkeys(bounds)]
        while len(values) > 1:
            one, other, *rest = values
            self.declared.add(f"declare i64 @llvm.{function}.i64(i64, i64)")
            values = [self.new(f"call i64 @llvm.{function}.i64(i64 {one}, i64 {other})"), *rest]
        return values[0]

    def integer(self, value: Affine, at: dict[str, str]) -> str:
        total = str(value.constant)
        for atom, factor in value.terms:
            part = self.quotient(atom, at) if isinstance(atom, Quotient) else at[atom]
            if factor != 1:
                part = self.new(f"mul nsw i64 {part}, {factor}")
            total = part if total == "0" else self.new(f"add nsw i64 {total}, {part}")
        return total

    def quotient(self, atom: Quotient, at: dict[str, str]) -> str:
        """As in C: what is divided is never negative where it is used."""
        operation = "srem" if atom.remainder else "sdiv"
        return self.new(f"{operation} i64 {self.integer(atom.inner, at)}, {atom.divisor}")

    # Numbers.

    def pointer(self, access: Access, at: dict[str, str]) -> str:
        shape = stored_shape(self.nest, access.array.removesuffix("_packed"))
        place, offset = _place(access.array), self.integer(access.number(shape), at)
        return self.new(f"getelementptr inbounds {self.real}, ptr {place}, i64 {offset}")

    def load(self, access: Access, at: dict[str, str], lanes: int = 1, spread: bool = False) -> str:
        kind = self.real if spread else self.kind(lanes)
        value = self.new(f"load {kind}, ptr {self.pointer(access, at)}, align {self.size}")
        return self.spread(value, lanes) if spread else value

    def store(self, value: str, access: Access, at: dict[str, str], lanes: int) -> None:
        place = self.pointer(access, at)
        self.lines.append(f"  store {self.kind(lanes)} {value}, ptr {place}, align {self.size}")

    def spread(self, value: str, lanes: int) -> str:
        kind = self.kind(lanes)
        first = self.new(f"insertelement {kind} poison, {self.real} {value}, i32 0")
        zeros = f"<{lanes} x i32> zeroinitializer"
        return self.new(f"shufflevector {kind} {first}, {kind} poison, {zeros}")

    def set(self, register: str, value: str, lanes: int) -> None:
        slot = f"  %{register}.{lanes} = alloca {self.kind(lanes)}"
        if slot not in self.slots:  # another statement may use the name with other lanes
            self.slots.append(slot)
        self.widths[register] = lanes
        self.lines.append(f"  store {self.kind(lanes)} {value}, ptr %{register}.{lanes}")

    def get(self, register: str) -> str:
        lanes = self.widths[register]
        return self.new(f"load {self.kind(lanes)}, ptr %{register}.{lanes}")

    def operand(self, one: str | float, lanes: int) -> str:
        if isinstance(one, str):
            return self.get(one)
        return self.number(one) if lanes == 1 else self.spread(self.number(one), lanes)

    def number(self, value: float) -> str:
        """A number, rounded to the type of the arrays."""
        return self.new(f"fptrunc double {value!r} to float") if self.size == 4 else repr(value)

    def value(self, value: Value, at: dict[str, str]) -> str:
        if isinstance(value, Access):
            return self.load(value, at)
        if isinstance(value, Apply):
            told = [self.value(one, at) for one in value.arguments]
            return self.compute(value.function, told, 1)
        return self.number(value)

    def compute(self, function: str, told: list[str], lanes: int) -> str:
        kind = self.kind(lanes)
        if function in _INSTRUCTION:
            return self.new(f"{_INSTRUCTION[function]} {kind} {told[0]}, {told[1]}")
        if function == "negative":
            return self.new(f"fneg {kind} {told[0]}")
        if function == "fma" and lanes == 1:  # rounds twice, as the text says
            return self.compute("+", [told[2], self.compute("*", told[:2], 1)], 1)
        suffix = self.short if lanes == 1 else f"v{lanes}{self.short}"
        name = f"@llvm.{_INTRINSIC.get(function, function)}.{suffix}"
        self.declared.add(f"declare {kind} {name}({', '.join([kind] * len(told))})")
        return self.new(f"call {kind} {name}({', '.join(f'{kind} {one}' for one in told)})")


def _place(array: str) -> str:
    """The argument that says where an array lies. No other name has a space in it."""
    return f'%"at {array}"'

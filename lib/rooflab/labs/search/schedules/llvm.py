"""The operations of a schedule, printed as LLVM IR and compiled for the processor at hand.

The IR says which vectors are loaded, multiplied and stored, so the schedule alone decides what
runs. LLVM assigns registers, moves addresses out of loops and splits vectors that are wider than
the processor's. Its own vectoriser and unroller stay off: with them a plain loop is fast by luck,
and a search stops there.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rooflab.labs.loops.code import names
from rooflab.labs.loops.expression import Affine
from rooflab.labs.loops.packing import packed_shape
from rooflab.labs.loops.program import (
    Assign,
    Compute,
    For,
    Load,
    Op,
    Ops,
    Store,
    When,
    each_op,
    program,
)
from rooflab.labs.loops.statement import Access, Value
from rooflab.measure.roof_kernels import host, target_machine

if TYPE_CHECKING:
    from rooflab.labs.loops.nest import Nest

_BINARY = {"+": "fadd", "-": "fsub", "*": "fmul", "/": "fdiv"}
_LIBRARY = ("sqrt", "sin", "exp")
WIDEST = 512  # bits: said, or LLVM may split the widest vectors in two


def turns(ops: Ops) -> tuple[int, int]:
    """First turn of the outermost loop and the end; (0, 1) where one loop does not hold all."""
    if len(ops) != 1 or not isinstance(ops[0], For):
        return 0, 1
    low = max(bound.constant for bound in ops[0].lower)
    return low, min(bound.constant for bound in ops[0].upper)


def llvm(nest: Nest) -> str:
    """Return a nest as a page of LLVM IR: the function ``kernel`` of fp32 arrays.

    Its arguments are a pointer for each array, packed ones in place of their originals, and the
    turns of the outermost loop that it runs: the first one and the one after the last.

    Parameters
    ----------
    nest : Nest
        A nest with its schedule.

    Returns
    -------
    str
        The page.

    Raises
    ------
    ValueError
        For marks that no code can follow, such as two vector loops in one another.

    Examples
    --------
    >>> nest = rl.loops.Nest({"i": 64}, "B[i] = 2*A[i]").split("i", 16).vectorize("ii")
    >>> [line.strip() for line in rl.search.llvm(nest).splitlines() if "store" in line]
    ['store <16 x float> %v5, ptr %v6, align 4']
    """
    ops = program(nest)
    page = _Page(nest, ops)
    page.body(ops)
    arguments = ", ".join(f"ptr noalias %{name}" for name in names(nest))
    head = f"define void @kernel({arguments}, i64 %start, i64 %stop)"
    return "\n".join([
        *page.declared, f'{head} "min-legal-vector-width"="{WIDEST}" {{', "entry:",
        *page.slots, *page.lines, "  ret void", "}", "",
    ])  # fmt: skip


def compiled(page: str, pointers: int) -> Callable[..., object]:
    """The function ``kernel`` of a page, callable; its code lives as long as the callable.

    It is called with ``pointers`` addresses and two turns. It runs without the GIL.
    """
    import llvmlite.binding as binding

    generator = target_machine(host())
    module = binding.parse_assembly(page)
    module.verify()
    options = binding.create_pipeline_tuning_options(speed_level=2)
    options.loop_vectorization = options.slp_vectorization = False
    options.loop_unrolling = options.loop_interleaving = False
    passes = binding.create_pass_builder(generator, options)
    passes.getModulePassManager().run(module, passes)
    engine = binding.create_mcjit_compiler(module, generator)
    engine.finalize_object()
    arguments = [ctypes.c_void_p] * pointers + [ctypes.c_int64] * 2
    function = ctypes.CFUNCTYPE(None, *arguments)(engine.get_function_address("kernel"))
    # The code is freed with its engine. ctypes lets its functions carry attributes.
    function.engine = engine  # type: ignore[attr-defined]  # typeshed knows no attributes of them
    return function


def _number(value: float) -> str:
    """An fp32 constant: LLVM writes it as the bits of the fp64 number that equals it."""
    single = struct.unpack("f", struct.pack("f", value))[0]
    return f"0x{struct.pack('>d', single).hex().upper()}"


class _Page:
    """The lines of one function as they are written."""

    def __init__(self, nest: Nest, ops: Ops) -> None:
        self.nest, self.ops = nest, ops
        self.declared: dict[str, None] = {}
        self.slots: list[str] = []
        self.lines: list[str] = []
        self.count = 0
        self.block = "entry"
        self.whole: dict[str, str] = {}  # loops and dimensions → their names here
        self.known: dict[str, str] = {}  # instructions on whole numbers → the name of the result
        self.real: dict[str, str] = {}  # registers → names here
        self.sums = {
            op.register
            for op in each_op(ops)
            if isinstance(op, Compute) and op.register in op.operands
        }

    # Instructions.

    def fresh(self, instruction: str) -> str:
        """The name of an instruction's result."""
        self.count += 1
        self.lines.append(f"  %v{self.count} = {instruction}")
        return f"%v{self.count}"

    def once(self, instruction: str) -> str:
        """The same for whole numbers: written again only where the first is out of reach."""
        if instruction not in self.known:
            self.known[instruction] = self.fresh(instruction)
        return self.known[instruction]

    def begin(self, label: str) -> None:
        """Begin a block."""
        self.lines.append(f"{label}:")
        self.block = label

    @contextmanager
    def inside(self) -> Iterator[None]:
        """What is computed in here cannot be used behind it."""
        kept = dict(self.known), dict(self.whole)
        yield
        self.known, self.whole = kept

    # Whole numbers.

    def place(self, value: Affine) -> str:
        """A sum of loops, of quotients and of remainders."""
        total = "" if value.terms else str(value.constant)
        for atom, factor in value.terms:
            if isinstance(atom, str):
                part = self.whole[atom]
            else:
                inner = self.place(atom.inner)
                part = self.divided(inner, atom.divisor, atom.remainder)
            part = part if factor == 1 else self.once(f"mul nsw i64 {part}, {factor}")
            total = self.once(f"add nsw i64 {total}, {part}") if total else part
        if value.terms and value.constant:
            total = self.once(f"add nsw i64 {total}, {value.constant}")
        return total

    def divided(self, value: str, divisor: int, remainder: bool) -> str:
        """Quotient or remainder, rounded down; the processor's instruction rounds to zero."""
        rest = self.once(f"srem i64 {value}, {divisor}")
        below = self.once(f"icmp slt i64 {rest}, 0")
        if remainder:
            higher = self.once(f"add nsw i64 {rest}, {divisor}")
            return self.once(f"select i1 {below}, i64 {higher}, i64 {rest}")
        whole = self.once(f"sdiv i64 {value}, {divisor}")
        borrow = self.once(f"zext i1 {below} to i64")
        return self.once(f"sub nsw i64 {whole}, {borrow}")

    def end(self, bounds: Iterable[Affine], compare: str) -> str:
        """The greatest ("sgt") or the least ("slt") of some bounds."""
        bounds = list(dict.fromkeys(bounds))
        fixed = [bound.constant for bound in bounds if not bound.terms]
        texts = [self.place(bound) for bound in bounds if bound.terms]
        if fixed:
            texts.append(str(max(fixed) if compare == "sgt" else min(fixed)))
        total = texts[0]
        for text in texts[1:]:
            better = self.once(f"icmp {compare} i64 {text}, {total}")
            total = self.once(f"select i1 {better}, i64 {text}, i64 {total}")
        return total

    # Loops and conditions.

    def body(self, ops: Ops) -> None:
        """Operations one after the other."""
        for op in ops:
            if isinstance(op, For):
                self.loop(op)
            elif isinstance(op, When):
                self.when(op)
            else:
                self.single(op)

    def loop(self, op: For) -> None:
        """A loop that asks at its end whether to go on, and before its first turn if it may
        have none."""
        if len(self.ops) == 1 and op is self.ops[0]:
            low, high = "%start", "%stop"
        else:
            low, high = self.end(op.lower, "sgt"), self.end(op.upper, "slt")
        self.count += 1
        top, after, own = f"L{self.count}", f"E{self.count}", f"%{op.name}.{self.count}"
        if all(text.lstrip("-").isdigit() for text in (low, high)) and int(low) < int(high):
            self.lines.append(f"  br label %{top}")
        else:
            some = self.fresh(f"icmp slt i64 {low}, {high}")
            self.lines.append(f"  br i1 {some}, label %{top}, label %{after}")
        before = self.block
        with self.inside():
            self.begin(top)
            at = len(self.lines)
            self.whole[op.name] = own
            self.body(op.body)
            following = self.fresh(f"add nsw i64 {own}, 1")
            more = self.fresh(f"icmp slt i64 {following}, {high}")
            self.lines.append(f"  br i1 {more}, label %{top}, label %{after}")
            came = f"[{low}, %{before}], [{following}, %{self.block}]"
            self.lines.insert(at, f"  {own} = phi i64 {came}")
        self.begin(after)

    def when(self, op: When) -> None:
        """Two ways, of which the second may be empty."""
        holds = ""
        for guard in op.guards:
            one = self.once(f"icmp sge i64 {self.place(guard)}, 0")
            holds = self.once(f"and i1 {holds}, {one}") if holds else one
        self.count += 1
        ways, after = [f"T{self.count}", f"F{self.count}"], f"J{self.count}"
        second = ways[1] if op.otherwise else after
        self.lines.append(f"  br i1 {holds}, label %{ways[0]}, label %{second}")
        for label, ops in zip(ways, (op.body, op.otherwise)):
            if ops:
                with self.inside():
                    self.begin(label)
                    self.body(ops)
                    self.lines.append(f"  br label %{after}")
        self.begin(after)

    # Arrays and arithmetic.

    def address(self, access: Access) -> str:
        """Where an element lies: the loops' part first, which neighbours share."""
        array = access.array.removesuffix("_packed")
        packed = access.array != array and array in self.nest.packed
        shape = packed_shape(self.nest, array) if packed else self.nest.shapes[access.array]
        flat = Affine()
        for subscript, room in zip(access.subscripts, shape):
            flat = flat * room + subscript
        place = f"%{access.array}"
        if flat.terms:
            offset = self.place(Affine(flat.terms))
            place = self.once(f"getelementptr inbounds float, ptr {place}, i64 {offset}")
        if flat.constant or not flat.terms:
            place = self.once(f"getelementptr inbounds float, ptr {place}, i64 {flat.constant}")
        return place

    def single(self, op: Op) -> None:
        """An operation that is neither a loop nor a condition."""
        if isinstance(op, Load):
            kind = _kind(1 if op.spread else op.lanes)
            value = self.fresh(f"load {kind}, ptr {self.address(op.access)}, align 4")
            self.keep(op.register, self.spread(value, op.lanes) if op.spread else value, op.lanes)
        elif isinstance(op, Store):
            kind, value = _kind(op.lanes), self.held(op.register, op.lanes)
            self.lines.append(f"  store {kind} {value}, ptr {self.address(op.access)}, align 4")
        elif isinstance(op, Compute):
            values = [self.held(operand, op.lanes) for operand in op.operands]
            self.keep(op.register, self.computed(op.function, values, op.lanes), op.lanes)
        elif isinstance(op, Assign):
            self.assign(op)

    def spread(self, value: str, lanes: int) -> str:
        """One number in all lanes."""
        if lanes == 1:
            return value
        kind = _kind(lanes)
        first = self.fresh(f"insertelement {kind} undef, float {value}, i32 0")
        zeros = f"<{lanes} x i32> zeroinitializer"
        return self.fresh(f"shufflevector {kind} {first}, {kind} undef, {zeros}")

    def keep(self, register: str, value: str, lanes: int) -> None:
        """Give a register its value. A sum lies in a slot of the stack that LLVM removes."""
        if register not in self.sums:
            self.real[register] = value
            return
        slot = f"  %{register}.{lanes} = alloca {_kind(lanes)}"
        if slot not in self.slots:
            self.slots.append(slot)
        self.lines.append(f"  store {_kind(lanes)} {value}, ptr %{register}.{lanes}")

    def held(self, operand: str | float, lanes: int) -> str:
        """The value of a register, or a number in all lanes."""
        if not isinstance(operand, str):
            text = f"float {_number(operand)}"
            return _number(operand) if lanes == 1 else f"<{', '.join([text] * lanes)}>"
        if operand in self.sums:
            return self.fresh(f"load {_kind(lanes)}, ptr %{operand}.{lanes}")
        return self.real[operand]

    def computed(self, function: str, values: list[str], lanes: int) -> str:
        """The result of an operator or a function."""
        kind = _kind(lanes)
        if function in _BINARY:
            return self.fresh(f"{_BINARY[function]} contract {kind} {values[0]}, {values[1]}")
        if function in ("max", "min"):  # as Python's, whose first argument stays where both equal
            compare = "ogt" if function == "max" else "olt"
            better = self.fresh(f"fcmp {compare} {kind} {values[1]}, {values[0]}")
            which = "i1" if lanes == 1 else f"<{lanes} x i1>"
            return self.fresh(f"select {which} {better}, {kind} {values[1]}, {kind} {values[0]}")
        if function == "negative":
            return self.fresh(f"fneg {kind} {values[0]}")
        if function == "fma":  # one instruction where the processor has it
            return self.fresh(self.call("fmuladd", values, lanes))
        if function in _LIBRARY:
            return self.fresh(self.call(function, values, lanes))
        raise ValueError(f"{function!r} has no instruction here")

    def call(self, function: str, values: list[str], lanes: int) -> str:
        """A call of one of LLVM's own functions."""
        kind = _kind(lanes)
        name = f"@llvm.{function}.{'f32' if lanes == 1 else f'v{lanes}f32'}"
        self.declared[f"declare {kind} {name}({', '.join([kind] * len(values))})"] = None
        return f"call contract {kind} {name}({', '.join(f'{kind} {one}' for one in values)})"

    def assign(self, op: Assign) -> None:
        """A statement as it was written."""
        with self.inside():
            for name, place in op.names:
                self.whole[name] = self.place(place)
            value = self.value(op.value)
            target = self.address(op.target)
            if op.reduction:
                before = self.fresh(f"load float, ptr {target}, align 4")
                value = self.computed(op.reduction, [before, value], 1)
            self.lines.append(f"  store float {value}, ptr {target}, align 4")

    def value(self, value: Value) -> str:
        """What stands on the right of an assignment."""
        if isinstance(value, float):
            return _number(value)
        if isinstance(value, Access):
            return self.fresh(f"load float, ptr {self.address(value)}, align 4")
        return self.computed(value.function, [self.value(one) for one in value.arguments], 1)


def _kind(lanes: int) -> str:
    return "float" if lanes == 1 else f"<{lanes} x float>"


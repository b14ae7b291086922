"""A schedule as a short list of operations, to be printed, compiled and counted.

Where no loop is unrolled or vectorised, the list is loops and assignments. Around marked innermost
loops it says what stays in registers: each load, each multiply-add, each store. A tile of the
result that the next loops out only add to is loaded before them and stored after them. A tile that
does not fill its registers, at the end of a loop that does not divide, runs as plain loops.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rooflab.labs.loops.code.packing import packed_access
from rooflab.labs.loops.language import tree as trees
from rooflab.labs.loops.language.expression import Affine, constant, variable
from rooflab.labs.loops.language.statement import Access, Apply, Statement, Value, accesses
from rooflab.labs.loops.language.tree import Leaf, Loop, Tree

if TYPE_CHECKING:
    from rooflab.labs.loops.nest import Nest

TILED = ("unroll", "vectorize")
MOST_REGISTERS = 1024  # of one tile: more is a mistake, and would compile for minutes
_IN_LANES = ("+", "-", "*", "/", "max", "min")


@dataclass(frozen=True)
class For:
    """A loop from the greatest of ``lower`` up to, not including, the least of ``upper``."""

    name: str
    lower: tuple[Affine, ...]
    upper: tuple[Affine, ...]
    body: Ops
    kind: str = "for"


@dataclass(frozen=True)
class When:
    """``body`` where none of the guards is negative, ``otherwise`` elsewhere."""

    guards: tuple[Affine, ...]
    body: Ops
    otherwise: Ops = ()


@dataclass(frozen=True)
class Assign:
    """A statement as it was written, after the values of its dimensions in ``names``."""

    names: tuple[tuple[str, Affine], ...]
    target: Access
    value: Value
    reduction: str = ""


@dataclass(frozen=True)
class Load:
    """``register`` gets an element, ``lanes`` adjacent ones, or one in all lanes (``spread``)."""

    register: str
    access: Access
    lanes: int = 1
    spread: bool = False


@dataclass(frozen=True)
class Compute:
    """``register`` gets a function of registers and numbers; "fma" is the first two's product
    plus the third."""

    register: str
    function: str
    operands: tuple[str | float, ...]
    lanes: int = 1


@dataclass(frozen=True)
class Store:
    """An element, or ``lanes`` adjacent ones, get ``register``."""

    register: str
    access: Access
    lanes: int = 1


Op = For | When | Assign | Load | Compute | Store
Ops = tuple[Op, ...]


def program(nest: Nest, registers: bool = True) -> Ops:
    """The operations of a nest's schedule; without ``registers`` marked loops are plain loops."""
    return _Lowering(nest, registers).nodes(nest.tree, (), ())


def each_op(ops: Ops) -> Iterator[Op]:
    """Every operation, those inside loops and conditions too."""
    for op in ops:
        yield op
        if isinstance(op, For):
            yield from each_op(op.body)
        elif isinstance(op, When):
            yield from each_op((*op.body, *op.otherwise))


def lanes(ops: Ops) -> int:
    """The vector width of a program, 1 for none; ValueError for two widths."""
    found = {op.lanes for op in each_op(ops) if isinstance(op, (Load, Compute, Store))} - {1}
    if len(found) > 1:
        said = " and ".join(map(str, sorted(found)))
        raise ValueError(f"vectorize: loops of {said} lanes in one nest; use one width")
    return found.pop() if found else 1


def outer_turns(ops: Ops) -> tuple[int, int]:
    """First turn of the outermost loop and its end; (0, 1) where one loop does not hold all."""
    if len(ops) != 1 or not isinstance(ops[0], For):
        return 0, 1
    low = max(bound.constant for bound in ops[0].lower)
    return low, min(bound.constant for bound in ops[0].upper)


def shared_turns(ops: Ops) -> tuple[int, int] | None:
    """First turn and end of an outermost parallel loop that is all of the program, or None."""
    parallel = len(ops) == 1 and isinstance(ops[0], For) and ops[0].kind == "parallel"
    return outer_turns(ops) if parallel else None


@dataclass(frozen=True)
class _Lowering:
    nest: Nest
    registers: bool

    def statement(self, leaf: Leaf) -> Statement:
        return next(one for one in self.nest.statements if one.name == leaf.statement)

    def nodes(self, tree: Tree, around: tuple[Loop, ...], done: tuple[Affine, ...]) -> Ops:
        found: list[Op] = []
        for node in tree:
            if isinstance(node, Leaf):
                found.extend(self.leaf(node, around, done))
            else:
                found.extend(self.loop(node, around, done))
        return tuple(found)

    def leaf(self, leaf: Leaf, around: tuple[Loop, ...], done: tuple[Affine, ...]) -> Ops:
        """The assignment, behind the guards that no loop's bounds have taken care of."""
        names = {loop.name for loop in around}
        one = self.statement(leaf)
        used = {dim: e for dim, e in leaf.index.items() if dim in one.names and e != variable(dim)}
        inline = {dim: e for dim, e in used.items() if dim in names}
        lets = tuple((dim, e) for dim, e in used.items() if dim not in names)

        def place(access: Access) -> Access:
            if access.array in self.nest.packed:
                return packed_access(access, leaf, around)
            return access.replace(inline)

        value = _exchanged(one.value, place)
        assign = Assign(lets, one.target.replace(inline), value, one.reduction)
        left = tuple(g for g in trees.live_guards(leaf, around) if g not in done)
        return (When(left, (assign,)),) if left else (assign,)

    def loop(self, loop: Loop, around: tuple[Loop, ...], done: tuple[Affine, ...]) -> Ops:
        tile = self.tile(loop, around, done) if self.registers else None
        return tile or (self.plain(loop, around, done),)

    def plain(
        self, loop: Loop, around: tuple[Loop, ...], done: tuple[Affine, ...], body: Ops = ()
    ) -> For:
        """The loop with the guards that all its statements share as bounds."""
        inside = (*around, loop)
        found = [
            trees.live_guards(leaf, (*around, *rest)) for leaf, rest, _ in trees.leaves((loop,))
        ]
        shared = [g for g in found[0] if g not in done and all(g in other for other in found[1:])]
        lower, upper = [constant(loop.lower)], [constant(loop.upper)]
        for guard in shared:
            bound = _bound(guard, inside)
            if bound is not None:
                (upper if guard.factor(loop.name) < 0 else lower).append(bound)
                done = (*done, guard)
        body = body or self.nodes(loop.children, inside, done)
        kind = loop.kind if loop.kind == "parallel" else "for"
        return For(loop.name, tuple(lower), tuple(upper), body, kind)

    def tile(self, loop: Loop, around: tuple[Loop, ...], done: tuple[Affine, ...]) -> Ops | None:
        """Marked innermost loops in registers, with the loops around them that add to one tile.

        None if ``loop`` is not the outermost of all these.
        """
        chain = _chain(loop)
        marked = tuple(itertools.takewhile(lambda one: one.kind in TILED, reversed(chain)))[::-1]
        if not marked:
            return None
        adding, inside = chain[: len(chain) - len(marked)], (*around, *chain)
        body = tuple(leaf for leaf in chain[-1].children if isinstance(leaf, Leaf))
        each = [set(trees.live_guards(leaf, inside)) - set(done) for leaf in body]
        names = {one.name for one in marked}
        mixed = [g for g in trees.live_guards(body[0], inside) if names & set(g.names())]
        rest = each[0] - set(mixed)
        bounds = {
            g
            for at, one in enumerate(adding)
            for g in rest
            if _bound(g, (*around, *adding[: at + 1])) is not None
        }
        if rest - bounds or any(own != each[0] for own in each) or not all(g.linear for g in mixed):
            return None
        tile = _Tile(self, marked, inside, body)
        if adding and not (tile.keeps and tile.apart(adding, mixed)):
            return None
        before, ops, after = tile.ops()
        for at in reversed(range(len(adding))):
            ops = (self.plain(adding[at], (*around, *adding[:at]), (*done, *mixed), ops),)
        whole = (*before, *ops, *after)
        if not mixed:
            return whole
        other = _Lowering(self.nest, False).nodes((loop,), around, done)
        return (When(tuple(_corner(g, marked) for g in mixed), whole, other),)


@dataclass(frozen=True)
class _Tile:
    """The statements inside marked loops, as loads, arithmetic and stores of registers."""

    lowering: _Lowering
    marked: tuple[Loop, ...]
    inside: tuple[Loop, ...]
    body: tuple[Leaf, ...]

    @property
    def keeps(self) -> bool:
        """Whether there is one statement and it only adds to its target (or multiplies it).

        Two turns of the tile that write their targets differently must not meet in one element:
        each would go on from what was loaded, and the last one stored would win.
        """
        one = self.lowering.statement(self.body[0])
        again = any(a.array == one.target.array for a in accesses(one.value))
        sums = len(self.body) == 1 and one.reduction in ("+", "*") and not again
        names = {loop.name for loop in self.marked}
        target = self.access(one.target, self.body[0])
        return sums and all(_tells_apart(each, names) for each in target.subscripts)

    def apart(self, adding: Sequence[Loop], mixed: Sequence[Affine]) -> bool:
        """Whether the tile is the same in all turns of these loops."""
        target = self.access(self.lowering.statement(self.body[0]).target, self.body[0])
        touched = {name for e in (*target.subscripts, *mixed) for name in e.names()}
        return all(loop.kind == "for" and loop.name not in touched for loop in adding)

    def access(self, access: Access, leaf: Leaf) -> Access:
        if access.array in self.lowering.nest.packed:
            return packed_access(access, leaf, self.inside)
        return access.replace(leaf.index)

    def vector(self) -> Loop | None:
        """The vector loop, if every access in it is to adjacent elements or to a single one."""
        found = [loop for loop in self.marked if loop.kind == "vectorize"]
        if len(found) > 1:
            raise ValueError(f"loops {found[0].name} and {found[1].name}: vectorize one of them")
        if not found:
            return None
        for leaf in self.body:
            one = self.lowering.statement(leaf)
            spreads = [_steps(self.access(a, leaf), found[0].name) for a in accesses(one.value)]
            target = _steps(one.target.replace(leaf.index), found[0].name)
            if target != 1 or None in spreads or not _functions(one.whole) <= set(_IN_LANES):
                return None
        return found[0]

    def ops(self) -> tuple[Ops, Ops, Ops]:
        """The operations before, in and after the loops that add to the tile."""
        vector = self.vector()
        unrolled = [loop for loop in self.marked if loop is not vector]
        turns = list(itertools.product(*(range(loop.lower, loop.upper) for loop in unrolled)))
        if len(turns) * len(self.body) > MOST_REGISTERS:
            names = ", ".join(loop.name for loop in unrolled)
            raise ValueError(
                f"unroll: loops {names} make {len(turns):,} copies; {MOST_REGISTERS:,} are the "
                "most, so split them first"
            )
        registers = _Registers(vector.extent if vector else 1, vector.name if vector else "")
        for turn in turns:
            at = {loop.name: constant(value) for loop, value in zip(unrolled, turn)}
            start = {vector.name: constant(vector.lower)} if vector else {}
            for leaf in self.body:
                registers.statement(self, leaf, at, start, self.keeps)
        return tuple(registers.before), tuple(registers.ops), tuple(registers.after)


class _Registers:
    """The operations of one tile, as they are written."""

    def __init__(self, lanes: int, vector: str) -> None:
        self.lanes, self.vector = lanes, vector
        self.before: list[Op] = []
        self.ops: list[Op] = []
        self.after: list[Op] = []
        self.loaded: dict[Access, str] = {}
        self.sums: dict[Access, str] = {}
        self.numbers = itertools.count()

    def statement(
        self, tile: _Tile, leaf: Leaf, at: dict[str, Affine], start: dict[str, Affine], keeps: bool
    ) -> None:
        def place(access: Access) -> Access:
            return tile.access(access, leaf).replace(at)

        one = tile.lowering.statement(leaf)
        target = place(one.target).replace(start)
        if keeps:
            if target not in self.sums:
                name = self.sums[target] = f"acc_{len(self.sums)}"
                self.before.append(Load(name, target, self.lanes))
                self.after.append(Store(name, target, self.lanes))
            self.add(self.sums[target], one, place, start)
            return
        whole = one.whole
        register = self.value(whole, place, start)
        self.ops.append(Store(self.held(register), target, self.lanes))
        self.loaded = {a: r for a, r in self.loaded.items() if a.array != target.array}

    def add(self, total: str, one: Statement, place: Place, start: dict[str, Affine]) -> None:
        """Join a value to a register that stays."""
        value = one.value
        if one.reduction == "+" and isinstance(value, Apply) and value.function == "*":
            both = tuple(self.value(each, place, start) for each in value.arguments)
            self.ops.append(Compute(total, "fma", (*both, total), self.lanes))
        else:
            operands = total, self.value(value, place, start)
            self.ops.append(Compute(total, one.reduction, operands, self.lanes))

    def value(self, value: Value, place: Place, start: dict[str, Affine]) -> str | float:
        """The register or the number that a value is in."""
        if isinstance(value, Access):
            moving = place(value)
            access = moving.replace(start)
            if access not in self.loaded:
                spread = self.lanes > 1 and not _steps(moving, self.vector)
                self.loaded[access] = f"reg_{next(self.numbers)}"
                self.ops.append(Load(self.loaded[access], access, self.lanes, spread))
            return self.loaded[access]
        if isinstance(value, Apply):
            operands = tuple(self.value(each, place, start) for each in value.arguments)
            register = f"reg_{next(self.numbers)}"
            self.ops.append(Compute(register, value.function, operands, self.lanes))
            return register
        return value

    def held(self, value: str | float) -> str:
        """The register of a value, a new one for a number."""
        if isinstance(value, str):
            return value
        register = f"reg_{next(self.numbers)}"
        self.ops.append(Compute(register, "+", (value, 0.0), self.lanes))
        return register


Place = Callable[[Access], Access]


def _exchanged(value: Value, place: Place) -> Value:
    """The value with each access where ``place`` puts it."""
    if isinstance(value, Access):
        return place(value)
    if isinstance(value, Apply):
        return Apply(value.function, tuple(_exchanged(each, place) for each in value.arguments))
    return value


def _functions(value: Value) -> set[str]:
    if not isinstance(value, Apply):
        return set()
    return {value.function}.union(*(_functions(each) for each in value.arguments))


def _tells_apart(subscript: Affine, loops: set[str]) -> bool:
    """Whether a subscript differs wherever it is written differently in turns of these loops.

    A sum of two of them, or a quotient, is the same number in several turns.
    """
    inside = {
        name for a, _ in subscript.terms if not isinstance(a, str) for name in a.inner.names()
    }
    return len(loops & set(subscript.names())) <= 1 and not loops & inside


def _steps(access: Access, loop: str) -> int | None:
    """Elements from one turn of ``loop`` to the next: 0, 1, or None for anything else."""
    *outer, last = access.subscripts
    if any(loop in e.names() for e in outer):
        return None
    if loop not in last.names():
        return 0
    plain = all(isinstance(a, str) or loop not in a.inner.names() for a, _ in last.terms)
    return 1 if plain and last.factor(loop) == 1 else None


def _chain(loop: Loop) -> tuple[Loop, ...]:
    """``loop`` and the loops inside it, one in another, down to statements; or nothing."""
    chain = [loop]
    while len(chain[-1].children) == 1 and isinstance(chain[-1].children[0], Loop):
        chain.append(chain[-1].children[0])
    only = all(isinstance(one, Leaf) for one in chain[-1].children)
    return tuple(chain) if only else ()


def _bound(guard: Affine, inside: tuple[Loop, ...]) -> Affine | None:
    """The bound of the innermost loop that a guard is, or None if it is none."""
    loop = inside[-1].name
    names = {one.name for one in inside}
    plain = all(isinstance(a, str) or loop not in a.inner.names() for a, _ in guard.terms)
    factor = guard.factor(loop)
    if not set(guard.names()) <= names or not plain or not factor:
        return None
    rest = guard - variable(loop) * factor
    if factor == 1:
        return -rest
    # Languages round a negative quotient in different ways.
    if factor == -1 or (factor < 0 and rest.bounds(trees.ranges(inside))[0] >= 0):
        return rest // -factor + 1
    return None


def _corner(guard: Affine, marked: Sequence[Loop]) -> Affine:
    """The least value of a linear guard in a tile."""
    corner = {
        one.name: constant(one.lower if guard.factor(one.name) > 0 else one.upper - 1)
        for one in marked
    }
    return guard.replace(corner)

"""What a schedule should take: its byte ledger at every level, and the machine's roofs.

A loop nest touches boxes of memory. The ledger asks, for each cache, how many loops must stay
outside so that what the others touch fits, and how often that is loaded. It is the formula of
``rl.cache.tile_ledger`` with boxes counted in closed form and in whole cache lines, and with the
sets that they can use, so that a schedule is judged in a millisecond.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rooflab.labs.cache.formula import groups
from rooflab.labs.cache.hierarchy import LINE, Cache, Hierarchy
from rooflab.labs.cache.stream import AccessStream, Reference
from rooflab.labs.loops.code.program import Assign, Compute, For, Ops, When, each_op, program
from rooflab.labs.loops.language import tree as trees
from rooflab.labs.loops.language.statement import Apply, Statement, Value
from rooflab.labs.search.statement import Access, compared, footprint
from rooflab.measure.roof_kernels import Target

if TYPE_CHECKING:
    from rooflab.labs.loops.nest import Nest
    from rooflab.predict.machine import Machine

FULL = 0.75  # of a cache: old lines take the rest, as least-recently-used keeps them


@dataclass(frozen=True)
class Prediction:
    """What a schedule should take on a machine.

    ``seconds`` are those of arithmetic or of what the program asks for, whichever takes longer, and
    the traffic of every level below as if that did not overlap: it ranks schedules better than the
    longest alone. ``bytes`` come from each level: "l1" is what the program asks for, "dram" what
    crosses the border of the last cache.
    """

    seconds: float
    flops: int
    bytes: Mapping[str, float]


def predicted(nest: Nest, machine: Machine, target: Target) -> Prediction:
    """The prediction of a schedule on ``machine``, whose vectors are those of ``target``."""
    whole = padded(nest)
    stream = whole.stream()
    moved = ledger(stream, Hierarchy.like(machine))
    parallel = any(loop.kind == "parallel" for loop, _ in trees.loops(nest.tree))
    share = 1 if parallel else 1 / (machine.threads or 1)
    peak = share * machine.peak("fp32")
    # A load or store takes its turn whether or not it fills a vector.
    width = target.vector_bytes
    issued = sum(
        stream.times(one.depth) * width * math.ceil(one.bytes / width) for one in stream.references
    )
    seconds = _vectors(program(whole), target) * 2 * width / 4 / peak
    if "l1" in machine.bandwidths:
        seconds = max(seconds, issued / (share * machine.bandwidth("l1", "read")))
    for level, amount in moved.items():
        if level != "l1" and level in machine.bandwidths:
            seconds += amount / (share * machine.bandwidth(level, "read"))
    copies = sum(8 * math.prod(nest.shapes[name]) for name in nest.packed)
    seconds += copies / (share * machine.bandwidth("dram", "copy"))
    return Prediction(seconds, flops(nest), moved)


def flops(nest: Nest) -> int:
    """Operations of all statements, as :func:`rl.search.operator` counts them: a multiply-add is
    two, and a largest one of n takes n - 1 comparisons."""
    return sum(_flops(nest, one) for one in nest.statements)


def _flops(nest: Nest, one: Statement) -> int:
    dims = nest.extents if nest.order == "body" else nest.dims(one.name)
    points = math.prod(nest.extents[dim][1] - nest.extents[dim][0] for dim in dims)
    elements = 0
    if one.reduction in ("max", "min"):
        lengths = {dim: stop - start for dim, (start, stop) in nest.extents.items()}
        target = Access(one.target.array, one.target.subscripts, nest.shapes[one.target.array])
        elements = footprint([target], lengths)
        elements *= set(dims) > set(target.loops) or points > elements  # where points meet in one
    return compared(points, one.flops, elements, one.reduction)


def padded(nest: Nest) -> Nest:
    """The nest with loops so long that every split divides; the same one where all do."""
    from rooflab.labs.loops.nest import Nest

    rooms = {}
    for leaf, around, _ in trees.leaves(nest.tree):
        if not trees.live_guards(leaf, around):
            continue
        extents = {loop.name: loop.extent for loop in around}
        for dim, place in leaf.index.items():
            lower, upper = nest.extents[dim]
            if place.linear:
                room = math.prod(extents[name] for name in place.names())
                rooms[dim] = lower, lower + max(upper - lower, room)
    if not rooms:
        return nest
    text = "; ".join(one.text for one in nest.statements)
    return Nest({**nest.extents, **rooms}, text, order=nest.order).replay(nest.log)


def sums(ops: Ops, target: Target) -> int:
    """Vector registers that hold sums, the largest number at once."""
    found = {
        op.register: math.ceil(4 * op.lanes / target.vector_bytes)
        for op in each_op(ops)
        if isinstance(op, Compute) and op.register in op.operands
    }
    return sum(found.values())


def misfit(nest: Nest, target: Target) -> str:
    """Why a schedule cannot be fast on any data, or "": too many registers, too long a body."""
    ops = program(nest)
    # AVX-512 and arm64 (the one whose short vectors are fused) have 32 vector registers, other
    # processors 16. Four hold operands.
    many = target.vector_bytes == 64 or (target.fused and target.vector_bytes == 16)
    most = 28 if many else 12
    held = sums(ops, target)
    if held > most:
        return f"{held} vectors of sums do not fit into registers: {most} do"
    body = sum(
        math.ceil(4 * op.lanes / target.vector_bytes)
        for op in each_op(ops)
        if isinstance(op, Compute)
    )
    return f"{body} vector operations in one turn: more than {LONGEST}" if body > LONGEST else ""


LONGEST = 96  # vector operations in one turn of a loop


def _instructions(value: Value) -> int:
    """Operations that the processor is given, those on numbers alone too."""
    if not isinstance(value, Apply):
        return 0
    return 1 + sum(map(_instructions, value.arguments))


def _vectors(ops: Ops, target: Target) -> float:
    """Multiply-adds of whole vectors that the arithmetic takes the time of.

    A scalar takes the time of a vector. Additions to few registers wait for each other.
    """
    independent = sums(ops, target)
    wait = max(1.0, target.chains / independent) if independent else 1.0

    def walk(ops: Ops, times: int, loop: str) -> float:
        total = 0.0
        for op in ops:
            if isinstance(op, For):
                turns = op.upper[0].constant - op.lower[0].constant
                total += walk(op.body, times * turns, op.name)
            elif isinstance(op, When):
                total += walk(op.body, times, loop)
            elif isinstance(op, Compute):
                own = wait if op.register in op.operands else 1.0
                total += own * times * math.ceil(4 * op.lanes / target.vector_bytes)
            elif isinstance(op, Assign):
                moves = any(loop in e.names() for e in op.target.subscripts)
                own = target.chains if op.reduction and not moves else 1.0
                total += own * times * max(1, _instructions(op.value))
        return total

    return walk(ops, 1, "")


# The ledger in closed form.


def ledger(stream: AccessStream, caches: Hierarchy) -> dict[str, float]:
    """Bytes that come from each level.

    "l1" is what the program asks for. The level below each cache serves what it cannot keep; the
    one below the last is "dram".
    """
    found = {"l1": float(sum(stream.requested.values()))}
    below = [cache.name.lower() for cache in caches.caches[1:]]
    for cache, name in zip(caches.caches, [*below, "dram"]):
        depth = 0
        while depth < len(stream.extents) and FULL * cache.capacity < sum(
            _room(stream, group, depth, cache) for group in groups(stream)
        ):
            depth += 1
        found[name] = float(traffic(stream, depth))
    return found


def traffic(stream: AccessStream, depth: int) -> int:
    """Bytes that move if a cache holds what the loops from ``depth`` inwards touch."""
    return sum(_moved(stream, group, depth) for group in groups(stream))


Box = tuple[int, list[tuple[int, int]]]  # contiguous bytes; steps and how many of each


def _boxes(stream: AccessStream, group: list[Reference], loops: Iterable[int]) -> list[Box]:
    """What a group touches while ``loops`` run once."""
    one, runs = group[0], _runs(group)
    steps = [(abs(one.strides[at]), stream.extents[at]) for at in loops if one.strides[at]]
    gaps = {after - before for (before, _), (after, _) in zip(runs, runs[1:])}
    if len(gaps) == 1 and len({length for _, length in runs}) == 1:
        steps.append((gaps.pop(), len(runs)))  # rows of a register tile: one more loop
        runs = runs[:1]
    return [_dense(length, sorted(steps)) for _, length in runs]


def _dense(length: int, steps: list[tuple[int, int]]) -> Box:
    """The box with as many contiguous bytes as there are. Pieces in one line are contiguous."""
    apart = []
    for step, extent in steps:
        if step <= _whole(length):
            length += step * (extent - 1)
        else:
            apart.append((step, extent))
    return length, apart


def _whole(length: int) -> int:
    """Bytes of whole lines."""
    return -(-length // LINE) * LINE


def _lines(boxes: list[Box]) -> int:
    """Bytes of boxes in whole lines."""
    return sum(_whole(length) * math.prod(n for _, n in steps) for length, steps in boxes)


def _room(stream: AccessStream, group: list[Reference], depth: int, cache: Cache) -> float:
    """Bytes of a cache that the loops from ``depth`` keep busy for a group.

    More than the lines where steps are powers of two: then the pieces compete for a few sets, and
    the others stay empty.
    """
    way, busy = cache.sets * LINE, 0.0
    for length, steps in _boxes(stream, group, range(depth, group[0].depth)):
        crowd = 1.0
        for step, extent in steps:
            places = way // math.gcd(step, way)
            if extent > places:
                crowd = max(crowd, way / (places * _whole(length)))
        busy += crowd * _lines([(length, steps)])
    return busy


def _runs(group: list[Reference]) -> list[tuple[int, int]]:
    """Contiguous bytes that a group touches in one turn: where they begin, and how many."""
    runs: list[tuple[int, int]] = []
    for offset, length in sorted({(one.offset, one.bytes) for one in group}):
        if runs and offset <= sum(runs[-1]):
            start, before = runs[-1]
            runs[-1] = start, max(before, offset + length - start)
        else:
            runs.append((offset, length))
    return runs


def _moved(stream: AccessStream, group: list[Reference], depth: int) -> int:
    """Bytes that a group loads, box by box, and writes back where it writes.

    A box stays while the next loop out does not move it. Where that loop moves it by less than a
    line, the next box has most of its lines.
    """
    one = group[0]
    outer, inner = list(range(min(depth, one.depth))), list(range(depth, one.depth))
    while outer and not one.strides[outer[-1]]:
        outer.pop()
    while outer and 0 < abs(one.strides[outer[-1]]) < LINE:
        inner.append(outer.pop())
    times = math.prod(stream.extents[loop] for loop in outer)
    directions = 1 + any(each.write for each in group)
    return directions * times * _lines(_boxes(stream, group, inner))

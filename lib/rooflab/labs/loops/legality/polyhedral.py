"""Legality by isl, the integer set library, where islpy is installed.

isl decides every nest of this language exactly and without listing iterations. It is the peer that
tests compare with, and the way out for large nests that ``legality`` cannot take apart.
"""

from __future__ import annotations

import importlib
import importlib.util
import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from rooflab.labs.loops.language import tree as trees
from rooflab.labs.loops.language.statement import Access, Statement
from rooflab.labs.loops.language.tree import Tree
from rooflab.labs.loops.legality.points import MARKS, touched
from rooflab.labs.loops.legality.verdict import (
    LEGAL,
    REORDERED,
    Iteration,
    Verdict,
    broken,
    kind_of,
)

if TYPE_CHECKING:
    from rooflab.labs.loops.nest import Nest


def available() -> bool:
    """Whether islpy is installed."""
    return importlib.util.find_spec("islpy") is not None


def _isl() -> Any:
    """islpy, by its name alone: there is none for Windows."""
    return importlib.import_module("islpy")


def polyhedral(nest: Nest, reassociate: bool) -> Verdict:
    """The verdict on a nest's schedule, by integer sets."""
    isl = _isl()

    domain = isl.UnionSet(_union(_domain(nest, one) for one in nest.statements))
    old = isl.UnionMap(_times(nest, nest.original)).intersect_domain(domain)
    new = isl.UnionMap(_times(nest, nest.tree)).intersect_domain(domain)
    before = old.lex_lt_union_map(old)
    late = new.lex_ge_union_map(new)
    marked, reordered = list(_marked(nest)), False
    for kind, one, a, other, b, free in _pairs(nest, reassociate):
        first = isl.UnionMap(_access(nest, one, a))
        second = isl.UnionMap(_access(nest, other, b))
        pairs = first.apply_range(second.reverse()).intersect(before)
        wrong = pairs.intersect(late)
        if not wrong.is_empty():
            if not free:
                return _said(nest, wrong, kind, a)
            reordered = True
        for name, inside, relation in marked:
            if one.name in inside and other.name in inside:
                apart = new.apply_range(isl.UnionMap(relation)).apply_range(new.reverse())
                wrong = pairs.intersect(apart)
                if not wrong.is_empty():
                    return _said(nest, wrong, kind, a, name)
    return REORDERED if reordered else LEGAL


def _union(parts: Iterator[str]) -> str:
    return "{" + "; ".join(parts) + "}"


def _tuple(nest: Nest, statement: Statement) -> str:
    return f"{statement.name}[{', '.join(nest.dims(statement.name))}]"


def _domain(nest: Nest, one: Statement) -> str:
    extents = [(dim, *nest.extents[dim]) for dim in nest.dims(one.name)]
    limits = " and ".join(f"{low} <= {dim} < {high}" for dim, low, high in extents)
    return f"{_tuple(nest, one)} : {limits or 'true'}"


def _times(nest: Nest, tree: Tree) -> str:
    """Each statement's time, filled up with zeros to a common length."""
    found = {leaf.statement: (leaf, around, places) for leaf, around, places in trees.leaves(tree)}
    width = _width(tree)
    parts = []
    for one in nest.statements:
        leaf, around, places = found[one.name]
        told = [leaf.time[loop.name].text("isl") for loop in around]
        row = [*itertools.chain.from_iterable(zip(map(str, places), told)), str(places[-1])]
        row += ["0"] * (width - len(row))
        parts.append(f"{_tuple(nest, one)} -> [{', '.join(row)}]")
    return _union(iter(parts))


def _width(tree: Tree) -> int:
    return max(2 * len(around) + 1 for _, around, _ in trees.leaves(tree))


def _access(nest: Nest, one: Statement, access: Access) -> str:
    index = ", ".join(e.text("isl") for e in access.subscripts)
    limits = _domain(nest, one).partition(" : ")[2]
    return f"{{{_tuple(nest, one)} -> {access.array}[{index}] : {limits}}}"


def _pairs(
    nest: Nest, reassociate: bool
) -> Iterator[tuple[str, Statement, Access, Statement, Access, bool]]:
    """Pairs of accesses to one array of which one writes, and whether their order is free."""
    every = [(one, *each) for one in nest.statements for each in touched(one)]
    for (one, a, writes, sums), (other, b, writes_too, sums_too) in itertools.product(every, every):
        if a.array == b.array and (writes or writes_too):
            free = reassociate and sums and sums_too and one is other
            yield kind_of(writes, writes_too), one, a, other, b, free


def _marked(nest: Nest) -> Iterator[tuple[str, set[str], str]]:
    """Loops without an order: name, statements inside, and times that differ in that loop first."""
    width = _width(nest.tree)
    for loop, around in trees.loops(nest.tree):
        if loop.kind in MARKS:
            inside = {leaf.statement for leaf, _, _ in trees.leaves((loop,))}
            one, other = ([f"{c}{at}" for at in range(width)] for c in "ab")
            here = 2 * len(around) + 1
            same = [f"{x} = {y}" for x, y in zip(one[:here], other[:here])]
            apart = " and ".join([*same, f"{one[here]} != {other[here]}"])
            yield loop.name, inside, f"{{[{', '.join(one)}] -> [{', '.join(other)}] : {apart}}}"


def _said(nest: Nest, wrong: Any, kind: str, access: Access, loop: str = "") -> Verdict:
    """The verdict with the first pair of a set of pairs."""
    isl = _isl()

    pair = wrong.get_map_list().get_at(0)
    source = pair.domain().lexmin().sample_point()
    target = isl.Set.from_point(source).apply(pair).lexmin().sample_point()

    def iteration(point: Any) -> Iteration:
        name = point.get_space().get_tuple_name(isl.dim_type.set)
        places = range(len(nest.dims(name)))
        return name, tuple(
            int(str(point.get_coordinate_val(isl.dim_type.set, at))) for at in places
        )

    first, second = iteration(source), iteration(target)
    cell = access.cell(dict(zip(nest.dims(first[0]), first[1])))
    return broken(nest, kind, first, second, (access.array, cell), loop)

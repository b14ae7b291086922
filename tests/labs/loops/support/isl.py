"""Legality by isl, the integer set library: the peer that our own check is compared with."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import islpy as isl

from rooflab.labs.loops.language import tree as trees
from rooflab.labs.loops.language.expression import Affine, Quotient
from rooflab.labs.loops.language.statement import Access, Statement
from rooflab.labs.loops.language.tree import Tree
from rooflab.labs.loops.legality.points import MARKS, touched
from rooflab.labs.loops.nest import Nest


def polyhedral(nest: Nest, reassociate: bool) -> tuple[bool, bool]:
    """Whether a nest's schedule is legal, and if so whether a reduction is reordered."""
    domain = isl.UnionSet(_union(_domain(nest, one) for one in nest.statements))
    old = isl.UnionMap(_times(nest, nest.original)).intersect_domain(domain)
    new = isl.UnionMap(_times(nest, nest.tree)).intersect_domain(domain)
    before, late = old.lex_lt_union_map(old), new.lex_ge_union_map(new)
    marked, reordered = list(_marked(nest)), False
    for one, a, other, b, free in _pairs(nest, reassociate):
        first, second = (isl.UnionMap(_access(nest, *end)) for end in ((one, a), (other, b)))
        pairs = first.apply_range(second.reverse()).intersect(before)
        if not pairs.intersect(late).is_empty():
            if not free:
                return False, False
            reordered = True
        for inside, relation in marked:
            if one.name in inside and other.name in inside:
                apart = new.apply_range(isl.UnionMap(relation)).apply_range(new.reverse())
                if not pairs.intersect(apart).is_empty():
                    return False, False
    return True, reordered


def _union(parts: Iterator[str]) -> str:
    return "{" + "; ".join(parts) + "}"


def _text(value: Affine) -> str:
    parts = [str(value.constant)]
    for atom, factor in value.terms:
        name = atom
        if isinstance(atom, Quotient):
            inner, divisor = _text(atom.inner), atom.divisor
            name = f"(({inner}) mod {divisor})" if atom.remainder else f"floor(({inner})/{divisor})"
        parts.append(f"{factor}*{name}")
    return " + ".join(parts)


def _domain(nest: Nest, one: Statement) -> str:
    dims = nest.dims(one.name)
    limits = " and ".join("{1} <= {0} < {2}".format(dim, *nest.extents[dim]) for dim in dims)
    return f"{one.name}[{', '.join(dims)}] : {limits or 'true'}"


def _width(tree: Tree) -> int:
    return max(2 * len(around) + 1 for _, around, _ in trees.leaves(tree))


def _times(nest: Nest, tree: Tree) -> str:
    """Each statement's time, filled up with zeros to a common length."""
    parts = []
    for leaf, around, places in trees.leaves(tree):
        told = [_text(leaf.time[loop.name]) for loop in around]
        row = [*itertools.chain.from_iterable(zip(map(str, places), told)), str(places[-1])]
        row += ["0"] * (_width(tree) - len(row))
        dims = ", ".join(nest.dims(leaf.statement))
        parts.append(f"{leaf.statement}[{dims}] -> [{', '.join(row)}]")
    return _union(iter(parts))


def _access(nest: Nest, one: Statement, access: Access) -> str:
    index = ", ".join(map(_text, access.subscripts))
    point, _, limits = _domain(nest, one).partition(" : ")
    return f"{{{point} -> {access.array}[{index}] : {limits}}}"


def _pairs(
    nest: Nest, reassociate: bool
) -> Iterator[tuple[Statement, Access, Statement, Access, bool]]:
    """Pairs of accesses to one array of which one writes, and whether their order is free."""
    every = [(one, *each) for one in nest.statements for each in touched(one)]
    for (one, a, writes, sums), (other, b, writes_too, sums_too) in itertools.product(every, every):
        if a.array == b.array and (writes or writes_too):
            yield one, a, other, b, reassociate and sums and sums_too and one is other


def _marked(nest: Nest) -> Iterator[tuple[set[str], str]]:
    """Loops without an order: the statements inside, and times that differ in that loop first."""
    for loop, around in trees.loops(nest.tree):
        if loop.kind in MARKS:
            one, other = ([f"{c}{at}" for at in range(_width(nest.tree))] for c in "ab")
            here = 2 * len(around) + 1
            same = [f"{x} = {y}" for x, y in zip(one[:here], other[:here])]
            apart = " and ".join([*same, f"{one[here]} != {other[here]}"])
            yield trees.inside(loop), f"{{[{', '.join(one)}] -> [{', '.join(other)}] : {apart}}}"

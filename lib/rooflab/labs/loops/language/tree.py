"""A schedule as a tree of loops, and the transformations that turn one tree into another.

One idea carries all of them. A leaf is a statement with two maps and some guards:

* ``index`` gives each dimension of the statement as an expression of the loops around it,
* ``time`` gives each of these loops as an expression of the statement's dimensions,
* ``guards`` are expressions of the loops that must not be negative for the statement to run.

Splitting ``i`` by 8 makes ``i = 8*io + ii`` in the one map, ``io = i//8`` and ``ii = i % 8`` in
the other, and the guard ``n - 1 - (8*io + ii)`` where 8 does not divide. Skewing, shifting,
reversing and coalescing are other such pairs of expressions. Interchange, fusion and distribution
only move nodes. When an iteration runs is read off the tree: positions among siblings and values
of ``time``, from the root to the leaf, compared from left to right.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from operator import is_

from rooflab.labs.loops.language.expression import Affine, constant, variable


@dataclass(frozen=True)
class Leaf:
    """A statement's place in the tree. The three maps are explained above."""

    statement: str
    index: Mapping[str, Affine]
    time: Mapping[str, Affine]
    guards: tuple[Affine, ...] = ()


@dataclass(frozen=True)
class Loop:
    """A loop from ``lower`` up to, not including, ``upper``.

    ``kind``: "for", "unroll", "vectorize" or "parallel".
    """

    name: str
    lower: int
    upper: int
    children: tuple[Node, ...] = field(repr=False)
    kind: str = "for"

    @property
    def extent(self) -> int:
        """How often it runs."""
        return self.upper - self.lower


Node = Loop | Leaf
Tree = tuple[Node, ...]


def leaves(tree: Tree) -> Iterator[tuple[Leaf, tuple[Loop, ...], tuple[int, ...]]]:
    """Every leaf, the loops around it, and its positions among siblings, from the root on."""
    for place, node in enumerate(tree):
        if isinstance(node, Leaf):
            yield node, (), (place,)
        else:
            for leaf, loops, places in leaves(node.children):
                yield leaf, (node, *loops), (place, *places)


def loops(tree: Tree) -> Iterator[tuple[Loop, tuple[Loop, ...]]]:
    """Every loop with the loops around it, outermost first."""
    for node in tree:
        if isinstance(node, Loop):
            yield node, ()
            for inner, around in loops(node.children):
                yield inner, (node, *around)


def inside(loop: Loop) -> set[str]:
    """The statements in a loop."""
    return {leaf.statement for leaf, _, _ in leaves((loop,))}


def exchange(tree: Tree, old: Node, new: Tree) -> Tree:
    """The tree with the node ``old`` replaced by ``new`` nodes."""
    grown: list[Node] = []
    for node in tree:
        if node is old:
            grown.extend(new)
        elif isinstance(node, Loop):
            inner = exchange(node.children, old, new)
            same = len(inner) == len(node.children) and all(map(is_, inner, node.children))
            grown.append(node if same else replace(node, children=inner))
        else:
            grown.append(node)
    return tuple(grown)


def each_leaf(tree: Tree, change: Callable[[Leaf], Leaf]) -> Tree:
    """The tree with every leaf changed."""
    return tuple(
        replace(node, children=each_leaf(node.children, change))
        if isinstance(node, Loop)
        else change(node)
        for node in tree
    )


def _change(leaf: Leaf, old: Mapping[str, Affine], new: Mapping[str, Affine]) -> Leaf:
    """The leaf where ``old`` loops are expressions of new ones, whose values are ``new``."""
    time = {name: e for name, e in leaf.time.items() if name not in old}
    return replace(
        leaf,
        index={dim: e.replace(old) for dim, e in leaf.index.items()},
        time={**time, **new},
        guards=tuple(guard.replace(old) for guard in leaf.guards),
    )


def _within(value: Affine, lower: int, upper: int) -> tuple[Affine, Affine]:
    """The two guards that say lower <= value < upper."""
    return value - lower, constant(upper - 1) - value


def split(tree: Tree, loop: Loop, factor: int, outer: str, inner: str) -> Tree:
    """``loop`` in chunks of ``factor``; a last chunk that is shorter is guarded.

    A parallel loop stays parallel over its chunks, an unrolled or vector loop is one in a chunk.
    """
    whole = variable(outer) * factor + variable(inner) + loop.lower

    def change(leaf: Leaf) -> Leaf:
        run = leaf.time[loop.name] - loop.lower
        new = _change(leaf, {loop.name: whole}, {outer: run // factor, inner: run % factor})
        if loop.extent % factor:
            new = replace(new, guards=(*new.guards, constant(loop.upper - 1) - whole))
        return new

    children = each_leaf(loop.children, change)
    kinds = (loop.kind, "for") if loop.kind == "parallel" else ("for", loop.kind)
    within = Loop(inner, 0, factor, children, kinds[1])
    return exchange(tree, loop, (Loop(outer, 0, -(-loop.extent // factor), (within,), kinds[0]),))


def reverse(tree: Tree, loop: Loop) -> Tree:
    """``loop`` from its last value to its first."""
    ends = constant(loop.lower + loop.upper - 1)
    old = {loop.name: ends - variable(loop.name)}

    def change(leaf: Leaf) -> Leaf:
        return _change(leaf, old, {loop.name: ends - leaf.time[loop.name]})

    return exchange(tree, loop, (replace(loop, children=each_leaf(loop.children, change)),))


def skew(tree: Tree, loop: Loop, by: Loop, factor: int) -> Tree:
    """``loop`` counts its value plus ``factor`` times the value of the loop ``by``."""
    slant = variable(by.name) * factor
    ends = sorted((by.lower * factor, (by.upper - 1) * factor))
    plain = variable(loop.name) - slant

    def change(leaf: Leaf) -> Leaf:
        later = leaf.time[loop.name] + leaf.time[by.name] * factor
        new = _change(leaf, {loop.name: plain}, {loop.name: later})
        return replace(new, guards=(*new.guards, *_within(plain, loop.lower, loop.upper)))

    lower, upper = loop.lower + ends[0], loop.upper + ends[1]
    children = each_leaf(loop.children, change)
    return exchange(tree, loop, (Loop(loop.name, lower, upper, children, loop.kind),))


def shift(tree: Tree, loop: Loop, by: int, statement: str | None) -> Tree:
    """Run one statement (or all) ``by`` turns of ``loop`` later."""
    chosen = inside(loop) if statement is None else {statement}
    everything = inside(loop) <= chosen
    lower = loop.lower + (by if everything else min(by, 0))
    upper = loop.upper + (by if everything else max(by, 0))

    def change(leaf: Leaf) -> Leaf:
        step = by if leaf.statement in chosen else 0
        own = variable(loop.name) - step
        new = _change(leaf, {loop.name: own}, {loop.name: leaf.time[loop.name] + step})
        if everything:
            return new
        return replace(new, guards=(*new.guards, *_within(own, loop.lower, loop.upper)))

    children = each_leaf(loop.children, change)
    return exchange(tree, loop, (Loop(loop.name, lower, upper, children, loop.kind),))


def coalesce(tree: Tree, outer: Loop, inner: Loop, name: str) -> Tree:
    """One loop in place of ``outer`` and its only child ``inner``, in the same order."""
    run = variable(name)
    old = {
        outer.name: run // inner.extent + outer.lower,
        inner.name: run % inner.extent + inner.lower,
    }

    def change(leaf: Leaf) -> Leaf:
        first, second = leaf.time[outer.name] - outer.lower, leaf.time[inner.name] - inner.lower
        return _change(leaf, old, {name: first * inner.extent + second})

    children = each_leaf(inner.children, change)
    return exchange(tree, outer, (Loop(name, 0, outer.extent * inner.extent, children),))


def reorder(tree: Tree, chain: list[Loop], names: list[str]) -> Tree:
    """The loops of ``chain``, each the only child of the one before, in the order of ``names``."""
    by_name = {loop.name: loop for loop in chain}
    inside: Tree = chain[-1].children
    for name in reversed(names):
        inside = (replace(by_name[name], children=inside),)
    return exchange(tree, chain[0], inside)


def fuse(tree: Tree, first: Loop, second: Loop) -> Tree:
    """One loop that runs the bodies of two adjacent siblings, under the first one's name."""
    lower, upper = min(first.lower, second.lower), max(first.upper, second.upper)

    def into(loop: Loop) -> Tree:
        def change(leaf: Leaf) -> Leaf:
            own = variable(first.name)
            old = {loop.name: own}
            new = _change(leaf, old, {first.name: leaf.time[loop.name]})
            if (loop.lower, loop.upper) == (lower, upper):
                return new
            return replace(new, guards=(*new.guards, *_within(own, loop.lower, loop.upper)))

        return each_leaf(loop.children, change)

    both = Loop(first.name, lower, upper, (*into(first), *into(second)), first.kind)
    return exchange(exchange(tree, second, ()), first, (both,))


def distribute(tree: Tree, loop: Loop) -> Tree:
    """A loop of its own for each child of ``loop``."""
    return exchange(tree, loop, tuple(replace(loop, children=(one,)) for one in loop.children))


def mark(tree: Tree, loop: Loop, kind: str) -> Tree:
    """``loop`` as another kind of loop."""
    return exchange(tree, loop, (replace(loop, kind=kind),))


def ranges(around: tuple[Loop, ...]) -> dict[str, tuple[int, int]]:
    """First and last value of each loop."""
    return {loop.name: (loop.lower, loop.upper - 1) for loop in around}


def live_guards(leaf: Leaf, around: tuple[Loop, ...]) -> tuple[Affine, ...]:
    """The guards of a leaf that its loops do not satisfy on their own, each once."""
    box = ranges(around)
    return tuple(dict.fromkeys(g for g in leaf.guards if g.bounds(box)[0] < 0))

"""An e-graph round by round: its classes as rows of nodes, what is new, what it stands for."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce

import numpy as np

from rooflab.count.si import grouped, several
from rooflab.labs.search.rewrite.egraph import EGraph, Member, Node
from rooflab.labs.search.rewrite.expression import Array, Expression, make
from rooflab.labs.search.rewrite.simplify import Growth, Join

FEW = 3  # equalities that a sentence names
DEEP = 10  # operations of the expressions that are counted where there are infinitely many
WHY = {
    "saturated": "No rule has anything to add.",
    "rounds": "There were no more rounds to go.",
    "nodes": "It is as large as it may become.",
}


@dataclass(frozen=True)
class Row:
    """A node of a class, as a ``term`` of the classes that it needs, and the labels of those."""

    node: Node
    term: Expression
    args: tuple[int, ...]
    new: bool = False

    @property
    def text(self) -> str:
        """The term in a picture."""
        return str(self.term)


@dataclass(frozen=True)
class Stage:
    """An e-graph after a round.

    ``boxes`` are the rows of each class by its label, 0 for the whole expression; ``origins`` says
    what each was at first: its name.
    """

    growth: Growth
    boxes: Mapping[int, tuple[Row, ...]]
    events: tuple[str, ...]
    many: str
    ended: str
    origins: tuple[Expression, ...]

    @property
    def size(self) -> str:
        """Its nodes and classes."""
        return (
            f"{several(self.growth.nodes, 'node')} in {self.growth.classes} "
            f"class{'es' * (self.growth.classes != 1)}"
        )

    @property
    def said(self) -> str:
        """What the rules did in this round, and what the graph stands for."""
        held = f"{self.size} stand for {self.many}."
        if not self.growth.round:
            return f"At the start, {held}"
        shown, more = self.events[:FEW], len(self.events) - FEW
        told = "; ".join([*shown, *([f"{more} more like these"] if more > 0 else [])])
        done = [f"Round {self.growth.round}: {told or 'nothing new'}."]
        return " ".join([*done, held, *([WHY[self.ended]] if self.ended else [])])


@dataclass
class Labels:
    """Labels of classes and the order of nodes, which stay while the graph grows."""

    graph: EGraph
    root: int
    first: list[int] = field(default_factory=list)  # the class of each label, as it began
    origins: list[Expression] = field(default_factory=list)  # what that was
    of: dict[int, int] = field(default_factory=dict)  # class of today → label
    home: dict[Node, int] = field(default_factory=dict)  # node → label, in the order they came

    def __post_init__(self) -> None:
        waiting = [self.root]
        while waiting:  # the whole expression first, then what it is made of
            one = waiting.pop(0)
            if self._label(one):
                waiting += [arg for node in self.graph.nodes(one) for arg in node.args]

    def _label(self, number: int) -> bool:
        """Label a class; False where it has one."""
        if number in self.of:
            return False
        self.of[number] = len(self.first)
        self.first.append(number)
        self.origins.append(self.graph.extract(number))
        return True

    def follow(self) -> None:
        """Take over what was merged, and label what is new."""
        today = list(map(self.graph.find, self.first))
        self.of = {number: label for label, number in reversed([*enumerate(today)])}
        for number, _ in self.graph.classes():
            self._label(number)

    def rows(self) -> dict[int, tuple[Row, ...]]:
        """The rows of each class in the order in which they came there."""
        before: dict[Node, int] = {}
        for node, label in self.home.items():
            before.setdefault(Node(node.op, tuple(map(self.graph.find, node.args))), label)
        now = {node: self.of[number] for number, nodes in self.graph.classes() for node in nodes}
        stay = [node for node in before if before[node] == now[node]]
        self.home = dict.fromkeys([*stay, *now], 0) | now
        found = defaultdict(list)
        for node, label in self.home.items():
            args = tuple(self.of[self.graph.find(arg)] for arg in node.args)
            forms = map(self.graph.form, node.args)
            slots = (make(Array(self._name(arg), form)) for arg, form in zip(args, forms))
            found[label].append(Row(node, make(node.op, *slots), args, node not in before))
        return {label: tuple(rows) for label, rows in found.items()}

    def _name(self, label: int) -> str:
        """A class in the text of a node that needs it: the shortest that was joined to it."""
        today = (self.of[self.graph.find(one)] for one in self.first)
        every = (str(origin) for one, origin in zip(today, self.origins) if one == label)
        name = min(every, key=len)
        return f"({name})" if " " in name else name

    def events(
        self, joins: Sequence[Join], before: Mapping[int, int], new: set[Node]
    ) -> Iterator[str]:
        """What the rules did; ``before``: labels of the classes before that; ``new`` nodes."""
        for join in joins:
            ends = sorted({before[one] for one in (join.one, join.other) if one in before})
            if len(ends) == 2:
                first, second = (self.origins[one] for one in ends)
                yield f"{join.rule} joins {first} and {second}"
            elif not isinstance(join.term.op, Member):
                args = [self.graph.find(self.graph.add(arg)) for arg in join.term.args]
                if Node(join.term.op, tuple(args)) in new:
                    said = make(join.term.op, *(self.origins[self.of[arg]] for arg in args))
                    home = self.origins[self.of[self.graph.find(join.one)]]
                    yield f"{join.rule} adds {said} to {home}"


def stages(
    graph: EGraph, root: int, rounds: Iterator[tuple[Growth, list[Join], str]]
) -> Iterator[Stage]:
    """What the graph is at the start and after each of the ``rounds`` that fill it."""
    labels = Labels(graph, root)
    for growth, joins, ended in rounds:
        before = dict(labels.of)
        labels.follow()
        rows = labels.rows()
        new = {row.node for every in rows.values() for row in every if row.new}
        events = tuple(dict.fromkeys(labels.events(joins, before, new)))  # each once
        origins = tuple(labels.origins)
        yield Stage(growth, rows, events, many(graph, root), ended, origins)


# How many expressions there are.


def many(graph: EGraph, root: int) -> str:
    """How many different expressions class ``root`` stands for, in words."""
    found: dict[int, float] = {}

    def ways(number: int) -> float:
        if number not in found:
            found[number] = math.inf  # of a class that is part of itself, as a = 1 · a
            args = [map(graph.find, node.args) for node in graph.nodes(number)]
            found[number] = sum(math.prod(map(ways, one)) for one in args)
        return found[number]

    total = ways(graph.find(root))
    if isinstance(total, int):
        return several(total, "expression")
    small = grouped(sum(counts(graph, root, DEEP)))
    return f"infinitely many expressions, {small} of at most {DEEP} operations"


def counts(graph: EGraph, root: int, most: int) -> list[int]:
    """How many expressions of 0, 1, …, ``most`` operations class ``root`` stands for.

    An expression belongs to one node of one class, so none is counted twice. Counts of a node are
    the product of its arguments' as polynomials; each sweep makes one more coefficient true.
    """
    every = dict(graph.classes())
    found = {number: np.zeros(most + 1, object) for number in every}

    def ways(node: Node) -> np.ndarray:
        own = np.array([n == bool(node.args) for n in range(most + 1)], object)
        factors = [found[graph.find(arg)] for arg in node.args]
        return reduce(lambda one, other: np.convolve(one, other)[: most + 1], factors, own)

    for _ in range(most + 1):
        found = {number: np.sum([*map(ways, nodes)], 0) for number, nodes in every.items()}
    return list(found[graph.find(root)])

"""An e-graph round by round: its classes as lists of terms, what is new, what it stands for."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from rooflab.count.si import grouped, several
from rooflab.labs.search.rewrite.egraph import EGraph, Node, Plan
from rooflab.labs.search.rewrite.expression import Array, Expression, Form, Op, text
from rooflab.labs.search.rewrite.simplify import Growth, Join

FEW = 3  # equalities that a sentence names
DEEP = 10  # operations of the expressions that are counted where there are infinitely many
LOW = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
WHY = {
    "saturated": "No rule has anything to add.",
    "rounds": "There were no more rounds to go.",
    "nodes": "It is as large as it may become.",
}


def called(label: int) -> str:
    """The name of a class: c₁ for label 0."""
    return f"c{label + 1}".translate(LOW)


@dataclass(frozen=True)
class Row:
    """A term of a class. ``new``: it was not there before. ``moved``: its class was another."""

    node: Node
    text: str
    new: bool = False
    moved: bool = False


@dataclass(frozen=True)
class Stage:
    """An e-graph after a round.

    ``boxes`` are the rows of each class by its label, 0 for the whole expression. ``joined`` says
    of a label that was absorbed which one took it, ``origins`` what each was at first.
    """

    growth: Growth
    boxes: Mapping[int, tuple[Row, ...]]
    joined: Mapping[int, int]
    events: tuple[str, ...]
    many: str
    ended: str
    origins: tuple[str, ...]

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


class Labels:
    """Labels of classes and ranks of nodes, which stay while the graph grows."""

    def __init__(self, graph: EGraph, root: int) -> None:
        self.graph, self.root = graph, root
        self.of: dict[int, int] = {}  # class → label
        self.joined: dict[int, int] = {}
        self.ranks: dict[Node, int] = {}  # node → how early it came
        self.home: dict[Node, int] = {}  # node → label of its class
        self.fresh: set[Node] = set()  # nodes that were not there in the round before
        self.origins: list[str] = []  # what each class was at first, by label
        waiting = [root]
        while waiting:  # the whole expression first, then what it is made of
            one = waiting.pop(0)
            if one not in self.of:
                self._label(one)
                waiting += [arg for node in graph.nodes(one) for arg in node.args]

    def _label(self, number: int) -> None:
        self.of[number] = len(self.origins)
        self.origins.append(str(self.graph.extract(number, _one_each)))

    def today(self, node: Node) -> Node:
        """A node with the classes of today."""
        return Node(node.op, tuple(map(self.graph.find, node.args)))

    def follow(self) -> None:
        """Take over what has been merged, and label what is new."""
        found: dict[int, int] = {}
        for number, label in sorted(self.of.items(), key=lambda pair: pair[1]):
            keeper = found.setdefault(self.graph.find(number), label)
            if keeper != label:
                self.joined[label] = keeper
        self.joined = {old: self.joined.get(new, new) for old, new in self.joined.items()}
        self.of = found
        for number, _ in self.graph.classes():
            if number not in self.of:
                self._label(number)

    def rows(self) -> dict[int, tuple[Row, ...]]:
        """The rows of each class in the order in which they came there."""
        ranks: dict[Node, int] = {}
        homes: dict[Node, int] = {}
        for node, rank in sorted(self.ranks.items(), key=lambda pair: pair[1]):
            homes.setdefault(self.today(node), self.home[node])
            ranks.setdefault(self.today(node), rank)
        self.fresh = {node for node in self._nodes() if node not in ranks}
        moved = {
            node
            for node, label in homes.items()
            if label != self.label(self.graph.add(Plan(*node)))
        }
        late = (node for node in self._nodes() if node in moved or node in self.fresh)
        ranks |= {node: max(self.ranks.values(), default=0) + n for n, node in enumerate(late, 1)}
        found = {}
        for number, nodes in self.graph.classes():
            found[self.of[number]] = tuple(
                Row(node, self.term(node), node in self.fresh, node in moved)
                for node in sorted(nodes, key=ranks.__getitem__)
            )
        self.ranks = ranks
        self.home = {node: self.label(self.graph.add(Plan(*node))) for node in self._nodes()}
        return found

    def _nodes(self) -> Iterator[Node]:
        for _, nodes in self.graph.classes():
            yield from nodes

    def term(self, node: Node) -> str:
        """A node as text: classes stand for its arguments."""
        if isinstance(node.op, Array):
            return node.op.name

        def whole(number: int) -> Expression:
            form: Form = self.graph.form(number)
            return Expression(Array(f"_{self.label(number)}_", form), (), form)

        args = tuple(map(whole, node.args))
        said = text(Expression(node.op, args, args[0].form))
        return re.sub(r"\b_(\d+)_\b", lambda found: called(int(found[1])), said)

    def label(self, number: int) -> int:
        """The label of a class."""
        return self.of[self.graph.find(number)]

    def events(self, joins: Sequence[Join], before: Mapping[int, int]) -> Iterator[str]:
        """What the rules did, each thing once; ``before``: labels of the classes before that."""
        seen = set()
        for join in joins:
            ends = sorted({before[one] for one in (join.one, join.other) if one in before})
            if len(ends) == 2:
                one, other = map(called, ends)
                told = f"{join.rule} joins {one} and {other}"
            elif isinstance(join.term, Plan):
                node = Node(join.term.op, tuple(map(self.graph.add, join.term.args)))
                if node not in self.fresh:
                    continue
                told = f"{join.rule} adds {self.term(node)} to {called(self.label(join.one))}"
            else:
                continue
            if told not in seen:
                seen.add(told)
                yield told


def stages(
    graph: EGraph, root: int, rounds: Iterator[tuple[Growth, list[Join], str]]
) -> Iterator[Stage]:
    """What the graph is at the start and after each of the ``rounds`` that fill it."""
    labels: Labels | None = None
    for growth, joins, ended in rounds:
        if labels is None:
            labels = Labels(graph, root)
        before = dict(labels.of)
        labels.follow()
        rows = labels.rows()
        events = tuple(labels.events(joins, before))
        held, origins = dict(labels.joined), tuple(labels.origins)
        yield Stage(growth, rows, held, events, many(graph, root), ended, origins)


def _one_each(op: Op, *_: object) -> float:
    """A price by which the smallest expression is the cheapest."""
    return float(not isinstance(op, Array))


# How many expressions there are.


def many(graph: EGraph, root: int) -> str:
    """How many different expressions class ``root`` stands for, in words."""
    if not _circular(graph, graph.find(root)):
        return several(_total(graph, root), "expression")
    found = grouped(sum(counts(graph, root, DEEP)))
    return f"infinitely many expressions, {found} of at most {DEEP} operations"


def _total(graph: EGraph, root: int) -> int:
    @cache
    def ways(number: int) -> int:
        return sum(math.prod(map(ways, node.args)) for node in graph.nodes(number))

    return ways(graph.find(root))


def counts(graph: EGraph, root: int, most: int) -> list[int]:
    """How many expressions of 0, 1, …, ``most`` operations class ``root`` stands for.

    An expression belongs to one node of one class, so none is counted twice.
    """

    @cache
    def ways(number: int, operations: int) -> int:
        return sum(
            split(node.args, operations - 1) if node.args else operations == 0
            for node in graph.nodes(number)
        )

    @cache
    def split(args: tuple[int, ...], operations: int) -> int:
        if not args:
            return operations == 0
        return sum(
            ways(graph.find(args[0]), part) * split(args[1:], operations - part)
            for part in range(operations + 1)
        )

    return [ways(graph.find(root), operations) for operations in range(most + 1)]


def _circular(graph: EGraph, root: int) -> bool:
    """Whether a class is part of itself, as α = 1 · α."""
    below: set[int] = set()
    done: set[int] = set()

    def walk(number: int) -> bool:
        if number in below:
            return True
        if number in done:
            return False
        below.add(number)
        found = any(walk(graph.find(arg)) for node in graph.nodes(number) for arg in node.args)
        below.discard(number)
        done.add(number)
        return found

    return walk(root)

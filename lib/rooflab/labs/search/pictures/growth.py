"""An e-graph as it grows: a frame for each class, its nodes side by side, a slider over rounds.

A line leads from a node to each class that it needs. A frame keeps its place. Where two classes are
found to be equal, one of the frames goes, and what led to it leads to the other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest

import numpy as np

from rooflab.count.si import plain, si
from rooflab.count.validation import size
from rooflab.labs.search.pictures.stages import Row, Stage, stages
from rooflab.labs.search.rewrite.cost import measure_of, price_of
from rooflab.labs.search.rewrite.egraph import EGraph, Node
from rooflab.labs.search.rewrite.expression import Expression, vector
from rooflab.labs.search.rewrite.rules import Rules, as_rules
from rooflab.labs.search.rewrite.simplify import cheapest, saturation
from rooflab.optional import installed
from rooflab.predict.machine import Machine
from rooflab.show.labels import width
from rooflab.show.scene import By, Dim, Scene
from rooflab.show.scene.axes import LETTERS
from rooflab.show.scene.player import Player

CLASSES, NODES = 14, 40  # that can be drawn, the joined ones too
WIDE, NARROW = 720, 400
EDGE, GAP, LAYER = 10, 14, 44  # pixels around frames, between them, and between layers of them
NODE, HEAD, PAD = 28, 24, 8  # pixels of a node's height, of the name above, around nodes
BILL = 18  # pixels of what a node costs, below it
HIGH = HEAD + NODE + BILL + PAD  # of a frame
PALE = 0.3
PACE = 900  # milliseconds of a round
EXAMPLE_RULES = ("shift", "multiply-divide", "once")


@installed("rooflab.search.growth")
def growth(
    expression: Expression | None = None,
    rules: Rules = None,
    cost: str | Machine = "bytes",
    rounds: int = 8,
) -> Player:
    """Show how an e-graph grows by rules, round by round, and what is the cheapest in it.

    Parameters
    ----------
    expression : Expression, optional
        What is computed now; None takes (2 * a) / 2 with integers.
    rules : iterable of str, optional
        As in :func:`simplify`. None takes all of them, and for the example the three that it
        needs: "shift", "multiply-divide" and "once".
    cost : {"bytes", "flops"} or Machine or str, default "bytes"
        What the choice at the end makes small, as in :func:`simplify`.
    rounds : int, default 8
        How often, at most, all rules are applied to everything.

    Returns
    -------
    Player
        A widget. ``round`` is the stop of its slider, the last of which marks the cheapest
        expression. ``sentence`` says what the rules did.

    Examples
    --------
    >>> picture = rl.search.growth()
    >>> for picture.round in range(3):
    ...     print(picture.sentence)
    At the start, 3 nodes in 3 classes stand for 1 expression.
    Round 1: shift adds a << 1 to 2 * a; multiply-divide adds 1 * a to (2 * a) / 2. 5 nodes in 3 \
classes stand for 3 expressions.
    Round 2: once joins (2 * a) / 2 and a. 5 nodes in 2 classes stand for infinitely many \
expressions, 1365 of at most 10 operations.
    """
    if expression is None:
        expression = 2 * vector("a", 1000, "int32") / 2
        rules = EXAMPLE_RULES if rules is None else rules
    found = _grown(expression, rules, cost, size("rounds", rounds))
    return Player(*(_Sheet(found, wide).scene for wide in (WIDE, NARROW)), stem="growth")


@dataclass(frozen=True)
class _Grown:
    """An e-graph at each stop, the last round twice, and the nodes that were chosen at the end."""

    stages: tuple[Stage, ...]
    chosen: frozenset[Node]
    last: str  # the sentence at the end
    bills: Mapping[Node, str]  # what each node costs by itself, "" for what is given


def _grown(expression: Expression, rules: Rules, cost: str | Machine, rounds: int) -> _Grown:
    applied, (_, unit) = as_rules(rules), measure_of(cost)
    graph = EGraph()
    root = graph.add(expression)
    found: list[Stage] = []
    for stage in stages(graph, root, saturation(graph, applied, rounds, NODES + 1)):
        many = len(stage.origins)
        if stage.growth.nodes > NODES or many > CLASSES:
            raise ValueError(
                f"expression={str(expression)!r}: after round {stage.growth.round} its e-graph has "
                f"{stage.growth.nodes} nodes, and {many} classes until then; at most "
                f"{NODES} in {CLASSES} can be drawn. Give fewer rules, or fewer rounds"
            )
        found.append(stage)
    price, bills = price_of(cost), dict[Node, str]()
    for rows in (one for stage in found for one in stage.boxes.values()):
        costs = ((row.node, price(row.term)) for row in rows)
        bills |= {node: si(cost, unit) if cost else "" for node, cost in costs}
    after, least, whole = cheapest(graph, root, expression, cost)
    chosen = {Node(one.op, tuple(map(graph.add, one.args))) for one in after.subterms()}
    bill = si(whole, unit), si(least, unit)
    less = f", {plain(whole / least, 3)} times less" if least else ""
    last = f"The cheapest is {after}: {bill[1]} instead of {bill[0]}{less}."
    if after == expression:
        last = f"Nothing cheaper than {expression} is in it: {bill[0]}."
    return _Grown((*found, found[-1]), frozenset(chosen), last, bills)


class _Sheet:
    """The picture on a sheet of one width."""

    def __init__(self, found: _Grown, wide: float) -> None:
        self.found, self.stages, self.last = found, found.stages, len(found.stages) - 1
        labels = range(len(self.stages[-1].origins))
        heights = [_height(one) for one in self.stages[-1].origins]
        layers = [[one for one in labels if heights[one] == height]
                  for height in range(max(heights), -1, -1)]  # fmt: skip
        self.sides = [self._side(label) for label in labels]
        needs = [sum(self.sides[one] + GAP for one in layer) - GAP for layer in layers]
        wide = max(wide, max(needs) + 2 * EDGE)
        self.spots: dict[int, tuple[float, float]] = {}
        for at, (layer, need) in enumerate(zip(layers, needs)):
            left = float(EDGE)
            spare = (wide - 2 * EDGE - need) / (len(layer) + 1)
            for label in sorted(layer, key=self._middle):
                left += spare
                self.spots[label] = left, EDGE + at * (HIGH + LAYER)
                left += self.sides[label] + GAP
        stops = ["start", *map(str, range(1, self.last)), "cheapest"]
        high = 2 * EDGE + len(layers) * (HIGH + LAYER) - LAYER
        self.scene = scene = Scene(wide, high, [
            Dim("round", stops, glide=PACE)])  # fmt: skip
        for draw in (self.draw_lines, self.draw_frame, self.draw_nodes):
            for label in labels:
                draw(label)
        scene.play("round")
        scene.slider("round", "rounds of rules")
        scene.says = By("round", [*(stage.said for stage in self.stages[:-1]), found.last])
        scene.note("A frame is a class: all of its nodes give the same result. Its name is what it "
                   "was at first. A line leads from a node to what it needs; the number below is "
                   "its own cost. Filled: new in this round. At the end, the cheapest is blue."
                   )  # fmt: skip

    def _rows(self, label: int) -> list[tuple[Row, ...]]:
        """The nodes of a class at each stop; none before it is there and after it was joined."""
        return [stage.boxes.get(label, ()) for stage in self.stages]

    def _widths(self, label: int) -> list[float]:
        """Pixels of each node of a class, enough for what stands there at any stop."""
        columns = zip_longest(*self._rows(label))
        texts = ([word for row in column if row for word in (row.text, self.found.bills[row.node])]
                 for column in columns)  # fmt: skip
        return [18 + max(width(one, LETTERS) for one in every) for every in texts]

    def _side(self, label: int) -> float:
        """Pixels of the width of a frame."""
        name = width(str(self.stages[-1].origins[label]), LETTERS)
        return 2 * PAD + max(name, sum(one + PAD for one in self._widths(label)) - PAD)

    def _middle(self, label: int) -> float:
        """Where those stand, on average, that need a class: below them is its place."""
        users = [
            self.spots[one][0] + self.sides[one] * (at + 0.5) / len(row.args)
            for stage in self.stages for one, rows in stage.boxes.items() if one in self.spots
            for row in rows for at, arg in enumerate(row.args) if arg == label
        ]  # fmt: skip
        return sum(users) / len(users) if users else 0.0

    def _lefts(self, label: int) -> list[float]:
        """The left end of each node of a class."""
        every = self._widths(label)
        return [self.spots[label][0] + PAD + sum(one + PAD for one in every[:at])
                for at in range(len(every))]  # fmt: skip

    def _seen(self, rows: Sequence[Row | None]) -> tuple[By, bool]:
        """How clearly a node is seen at each stop, and whether it is chosen at the end."""
        chosen = rows[-1] is not None and rows[-1].node in self.found.chosen
        there = np.array([row is not None for row in rows], float)
        there[-1] *= 1 if chosen else PALE
        return By("round", there), chosen

    # What is drawn.

    def draw_frame(self, label: int) -> None:
        """A class: its frame and its name."""
        x, y = self.spots[label]
        there = np.array([bool(rows) for rows in self._rows(label)], float)
        there[-1] *= 1 if any(row.node in self.found.chosen for row in self._rows(label)[-1]) else (
            PALE)  # fmt: skip
        seen = By("round", there)
        self.scene.rect(x, y, self.sides[label], HIGH, "paper", ink="soft", radius=8,
                        dash=(5, 4), opacity=seen, name="class")  # fmt: skip
        self.scene.text(x + PAD, y + 17, str(self.stages[-1].origins[label]), "soft", size=LETTERS,
                        opacity=seen, name="name")  # fmt: skip

    def draw_nodes(self, label: int) -> None:
        """The nodes of a class; filled where they are new, and in colour where they are chosen."""
        y, every = self.spots[label][1] + HEAD, zip_longest(*self._rows(label))
        for rows, x, wide in zip(every, self._lefts(label), self._widths(label)):
            seen, chosen = self._seen(rows)
            new = [row is not None and row.new and 0 < at < self.last
                   for at, row in enumerate(rows)]  # fmt: skip
            inks = ["ink"] * self.last + ["key" if chosen else "ink"]
            fills = ["ink" if one else "paper" for one in new]
            self.scene.rect(x, y, wide, NODE, By("round", fills), ink=By("round", inks), width=2,
                            radius=6, opacity=seen, name="node")  # fmt: skip
            words = [row.text if row else "" for row in rows]
            letters = ["paper" if one else ink for one, ink in zip(new, inks)]
            self.scene.text(x + wide / 2, y + 19, By("round", words), By("round", letters),
                            size=LETTERS, anchor="middle", opacity=seen, name="term")  # fmt: skip
            bill = [self.found.bills[row.node] if row else "" for row in rows]
            self.scene.text(x + wide / 2, y + NODE + 15, By("round", bill), By("round", inks),
                            size=13, anchor="middle", opacity=seen, name="bill")  # fmt: skip

    def draw_lines(self, label: int) -> None:
        """From each node of a class to the classes that it needs."""
        y, every = self.spots[label][1] + HEAD + NODE + BILL, zip_longest(*self._rows(label))
        for rows, x, wide in zip(every, self._lefts(label), self._widths(label)):
            seen, chosen = self._seen(rows)
            many = max(len(row.args) for row in rows if row)
            inks = By("round", ["soft"] * self.last + ["key" if chosen else "soft"])
            for at in range(many):
                start = x + wide * (at + 1) / (many + 1), y
                aims = [row.args[at] if row and at < len(row.args) else None for row in rows]
                known = next(one for one in aims if one is not None)
                paths = []
                for aim in aims:
                    known = known if aim is None else aim
                    paths.append(self._path(start, label, known))
                self.scene.line(By("round", paths), inks, 1.8, opacity=seen, name="needs")

    def _lane(self, y: float, end: tuple[float, float]) -> float:
        """The x nearest to ``end`` at which a line from ``y`` on passes no frame."""
        inside = [one for one, (_, top) in self.spots.items() if y < top < end[1]]
        sides = [(self.spots[one][0] - 8, self.spots[one][0] + self.sides[one] + 8)
                 for one in inside]  # fmt: skip
        free = [x for x in (end[0], *(edge for both in sides for edge in both))
                if not any(low < x < high for low, high in sides)]  # fmt: skip
        return min(free, key=lambda x: abs(x - end[0]))

    def _path(self, start: tuple[float, float], label: int, aim: int) -> list[float]:
        """Corners from a node down to a class, or round its own frame to one that is not below."""
        (x, y), (left, top) = start, self.spots[aim]
        right = left + self.sides[aim]
        if top > y:
            end = min(max(x, left + 14), right - 14), top
            lane, over = self._lane(y, end), y + PAD + LAYER < top  # over other frames
            turns = [lane, y + LAYER, lane, top - LAYER / 3] if over else [*end, *end]
            return [x, y, *turns, *end, *end]
        under, side = y + PAD + 12, max(right, self.spots[label][0] + self.sides[label]) + 8
        middle = top + HEAD / 2
        return [x, y, x, under, side, under, side, middle, right, middle]


def _height(one: Expression) -> int:
    """How many operations lie on the longest way through an expression."""
    return max((1 + _height(arg) for arg in one.args), default=0)

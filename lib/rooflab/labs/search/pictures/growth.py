"""An e-graph as it grows: a box for each class, a row for each of its terms, a slider over rounds.

A box keeps its place from its first round to the last, and a class that is joined to another
leaves an empty box with the name of the one that took its terms. So nothing ever jumps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from rooflab.count.si import si, times
from rooflab.count.validation import size
from rooflab.labs.search.pictures.stages import Row, Stage, called, stages
from rooflab.labs.search.rewrite.cost import measure_of, price_of, total
from rooflab.labs.search.rewrite.egraph import EGraph, Node
from rooflab.labs.search.rewrite.expression import Expression, vector
from rooflab.labs.search.rewrite.rules import Rules, as_rules
from rooflab.labs.search.rewrite.simplify import saturation
from rooflab.optional import installed
from rooflab.predict.machine import Machine
from rooflab.show.labels import width
from rooflab.show.scene import FONT, By, Dim, Scene
from rooflab.show.scene.axes import LETTERS
from rooflab.show.scene.player import Player

MOST_CLASSES, MOST_NODES = 14, 40  # that can be drawn, the joined ones too
WIDE, NARROW = 720, 400
EDGE, GAP, ROW, HEAD, PAD = 10, 14, 22, 26, 8  # pixels of boxes: around, between, inside
TOP = 78  # pixels of the rows over the boxes
COLUMNS = 4
ROOMY = 150  # pixels of a title that a box is made wider for
PALE = 0.35
PACE = 700  # milliseconds of a round
EXAMPLE_RULES = ("shift", "multiply-divide", "once")
Look: TypeAlias = dict[str, Any]


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
    rules : iterable of str or Rule, optional
        As in :func:`simplify`. None takes all of the course's, and for the example the three that
        it needs: "shift", "multiply-divide" and "once".
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
    Round 1: shift adds c₃ << 1 to c₂; multiply-divide adds 1 * c₃ to c₁. 5 nodes in 3 classes \
stand for 3 expressions.
    Round 2: once joins c₁ and c₃. 5 nodes in 2 classes stand for infinitely many expressions, \
1365 of at most 10 operations.
    """
    if expression is None:
        expression = 2 * vector("a", 1000, "int32") / 2
        rules = EXAMPLE_RULES if rules is None else rules
    if not isinstance(expression, Expression):
        raise TypeError(f"expression={expression!r} must be an expression, such as A @ B")
    found = _grown(expression, rules, cost, size("rounds", rounds))
    return Player(*(_Sheet(found, wide).scene for wide in (WIDE, NARROW)), stem="growth")


@dataclass(frozen=True)
class _Grown:
    """An e-graph at every stage, and the nodes that were chosen at the end."""

    before: Expression
    after: Expression
    costs: tuple[float, float]
    unit: str
    stages: tuple[Stage, ...]
    chosen: frozenset[Node]

    @property
    def labels(self) -> list[int]:
        """Of all classes that there ever were."""
        return sorted({label for stage in self.stages for label in stage.boxes})

    @property
    def bill(self) -> tuple[str, str]:
        """What the expression costs that was given, and the cheapest."""
        given, least = (si(cost, self.unit) for cost in self.costs)
        return given, least

    def rows(self, label: int, stage: int) -> tuple[Row, ...]:
        """The rows of a class; none before it is there and after it was joined."""
        return self.stages[min(stage, len(self.stages) - 1)].boxes.get(label, ())

    def heir(self, label: int, stage: int) -> int | None:
        """The class that took this one."""
        return self.stages[min(stage, len(self.stages) - 1)].joined.get(label)

    def origin(self, label: int) -> str:
        """What a class was at first, "" for a matrix that is given: its row says that."""
        found = self.stages[-1].origins[label]
        return "" if found.isidentifier() else found

    @property
    def last(self) -> str:
        """The sentence at the end."""
        given, least = self.bill
        if self.after == self.before:
            return f"Nothing cheaper than {self.before} is in it: {given}."
        less = f", {times(self.costs[0] / self.costs[1])} less" if self.costs[1] else ""
        return f"The cheapest in c₁ is {self.after}: {least} instead of {given}{less}."


def _grown(expression: Expression, rules: Rules, cost: str | Machine, rounds: int) -> _Grown:
    applied, (_, unit) = as_rules(rules), measure_of(cost)
    graph = EGraph()
    root = graph.add(expression)
    found: list[Stage] = []
    for stage in stages(graph, root, saturation(graph, applied, rounds, MOST_NODES + 1)):
        many = max([*stage.boxes, *stage.joined]) + 1
        if stage.growth.nodes > MOST_NODES or many > MOST_CLASSES:
            raise ValueError(
                f"expression={str(expression)!r}: after round {stage.growth.round} its e-graph has "
                f"{stage.growth.nodes} nodes, and {many} classes until then; at most "
                f"{MOST_NODES} in {MOST_CLASSES} can be drawn. Give fewer rules, or fewer rounds"
            )
        found.append(stage)
    after = graph.extract(root, price_of(cost))
    costs = total(expression, cost), total(after, cost)
    if not costs[1] < costs[0]:
        after, costs = expression, (costs[0], costs[0])
    chosen = {Node(one.op, tuple(map(graph.add, one.args))) for one in after.subterms()}
    return _Grown(expression, after, costs, unit, tuple(found), frozenset(chosen))


class _Sheet:
    """The picture on a sheet of one width."""

    def __init__(self, found: _Grown, wide: float) -> None:
        self.found, self.count = found, len(found.stages)
        widest = max(map(self._width, found.labels))
        wide = max(wide, widest + 2 * EDGE)
        fits = int((wide - 2 * EDGE + GAP) // (widest + GAP))
        self.columns = min(fits, COLUMNS, len(found.labels))
        self.side = min((wide - 2 * EDGE + GAP) / self.columns - GAP, 2 * widest)
        spots, foot = self._spots()
        stops = ["start", *(str(n) for n in range(1, self.count)), "cheapest"]
        self.scene = Scene(wide, foot, [Dim("round", stops, glide=PACE)])
        self.draw_head()
        for label, (x, y) in zip(found.labels, spots):
            self.draw_box(label, x, y)
        scene = self.scene
        scene.play("round", "▶ grow")
        scene.slider("round", "rounds of rules")
        scene.says = By("round", [*(stage.said for stage in found.stages), found.last])
        scene.note(str(found.before), "title", above=True)
        scene.note(
            "A box is a class: all of its nodes are equal; beside its name stands what it was at "
            "first. ● is new in this round, ○ came with a "
            "class that was joined. At the end, the nodes of the cheapest are framed."
        )

    def _width(self, label: int) -> float:
        """Pixels that a class needs."""
        found = self.found
        texts = [row.text for n in range(self.count) for row in found.rows(label, n)]
        texts += [self._title(label, n) for n in range(self.count)]
        widest = max([*map(width, texts), min(self._first(label), ROOMY)])
        return 40 + widest * LETTERS / FONT

    def _first(self, label: int) -> float:
        """Pixels of the longest title of a class and of what it was at first."""
        titles = [width(self._title(label, n)) for n in range(self.count)]
        return max(titles) + 12 + width(self.found.origin(label))

    def _high(self, label: int, stage: int) -> float:
        return HEAD + ROW * len(self.found.rows(label, stage)) + PAD

    def _spots(self) -> tuple[list[tuple[float, float]], float]:
        """Corners of the boxes, each in the column that is shortest so far; and the foot of all.

        A box keeps the room that it needs when it is longest.
        """
        feet, found = [float(TOP)] * self.columns, []
        for label in self.found.labels:
            column = feet.index(min(feet))
            found.append((EDGE + column * (self.side + GAP), feet[column]))
            feet[column] += GAP + max(self._high(label, n) for n in range(self.count))
        return found, max(feet)

    def _title(self, label: int, stage: int) -> str:
        """The name of a class, and of those that it took, or of the one that took it."""
        heir = self.found.heir(label, stage)
        if heir is not None:
            return f"{called(label)} = {called(heir)}"
        took = [one for one in self.found.labels if self.found.heir(one, stage) == label]
        return " = ".join(map(called, [label, *took]))

    # What is drawn.

    def by(self, values: Sequence[Any]) -> By:
        """A value for each stop."""
        return By("round", list(values))

    @property
    def stops(self) -> range:
        return range(self.count + 1)

    def draw_head(self) -> None:
        """Rows over the boxes: size, what the graph stands for, costs."""
        stages = [self.found.stages[min(n, self.count - 1)] for n in self.stops]
        many = [f"stand for {stage.many.partition(',')[0]}" for stage in stages]
        given, least = self.found.bill
        bill = [f"{given} as written"] * self.count + [f"{least} at best, {given} as written"]
        for row, words in enumerate(([stage.size for stage in stages], many, bill)):
            self.scene.text(EDGE, 18 + ROW * row, self.by(words), size=LETTERS,
                            bold=row == 2, name="head")  # fmt: skip

    def draw_box(self, label: int, x: float, y: float) -> None:
        scene, found = self.scene, self.found
        there = [bool(found.rows(label, n)) for n in self.stops]
        used = any(row.node in found.chosen for row in found.rows(label, self.count))
        clear = [1.0 if used or n < self.count else PALE for n in self.stops]
        high = self.by([self._high(label, n) for n in self.stops])
        seen = self.by([one * pale for one, pale in zip(there, clear)])
        scene.rect(x, y, self.side, high, "paper", ink="ink", opacity=seen, name="class")
        joined = [float(found.heir(label, n) is not None) for n in self.stops]
        if any(joined):
            scene.rect(x, y, self.side, HEAD + PAD, None, ink="soft", dash=(4, 4),
                       opacity=self.by(joined), name="joined")  # fmt: skip
        shown = [one or bool(ghost) for one, ghost in zip(there, joined)]
        title = [self._title(label, n) if one else "" for n, one in enumerate(shown)]
        ink = ["soft" if ghost else "ink" for ghost in joined]
        scene.text(x + 10, y + 19, self.by(title), self.by(ink), bold=True, size=LETTERS,
                   opacity=self.by(clear), name="title")  # fmt: skip
        if found.origin(label) and self._first(label) * LETTERS / FONT < self.side - 16:
            first = self.by([found.origin(label) if one else "" for one in there])
            scene.text(x + self.side - 8, y + 19, first, "soft", size=LETTERS, anchor="end",
                       opacity=self.by(clear), name="first")  # fmt: skip
        for row in range(max(len(found.rows(label, n)) for n in self.stops)):
            self.draw_row(label, row, x, y + HEAD + ROW * row, clear)

    def draw_row(self, label: int, row: int, x: float, y: float, clear: Sequence[float]) -> None:
        """A term: its words, a mark where it is new, a frame where it was chosen."""
        scene, found = self.scene, self.found
        every = [found.rows(label, n)[row : row + 1] for n in self.stops]
        known = [one[0] if one else None for one in every]
        words = [one.text if one else "" for one in known]
        scene.text(x + 26, y + 16, self.by(words), size=LETTERS, opacity=self.by(clear),
                   name="term")  # fmt: skip
        grows = [0 < n < self.count for n in self.stops]
        new = [float(g and one is not None and one.new) for g, one in zip(grows, known)]
        moved = [float(g and one is not None and one.moved) for g, one in zip(grows, known)]
        for marked, fill, name in ((new, "ink", "new"), (moved, "paper", "moved")):
            if any(marked):
                scene.dot(x + 15, y + 11, size=4, fill=fill, ink="ink", opacity=self.by(marked),
                          name=name)  # fmt: skip
        last = known[-1]
        if last is not None and last.node in found.chosen:
            framed = self.by([0.0] * self.count + [1.0])
            scene.rect(x + 6, y + 1, self.side - 12, ROW - 2, None, ink="key", width=2.5,
                       opacity=framed, name="chosen")  # fmt: skip

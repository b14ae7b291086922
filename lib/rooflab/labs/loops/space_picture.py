"""The iterations of two loops as points, in the order in which a schedule runs them.

Arrows are dependences: the iteration at an arrow's tail must run before the one at its head.
Buttons choose a schedule. An arrow that the schedule breaks is red and dashed.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rooflab.labs.loops.legality.points import Arrow
from rooflab.show.scene import By, Dim, Mark, Scene
from rooflab.show.scene.player import Player

if TYPE_CHECKING:
    from rooflab.labs.loops.nest import Nest

NARROW = 400
MOST = 12  # turns of a loop that still leave room for arrows
LEFT, RIGHT, TOP, FOOT, CELL = 64, 16, 56, 16, 46
DOT, HEAD = 6, 8  # pixels


def space(nest: Nest, schedules: Mapping[str, Nest] | None = None) -> Player:
    """Show two loops' iterations, the order in which schedules run them, and what that breaks.

    Parameters
    ----------
    nest : Nest
        One statement in two loops of at most 12 turns each.
    schedules : mapping of str to Nest, optional
        The schedules on offer, by the words on their buttons. By default the nest as it is and
        after interchange, reversal, skewing and tiling.

    Returns
    -------
    Player
        A widget; ``sentence`` says what it shows.

    Raises
    ------
    ValueError
        For a nest with more statements, loops or turns, and for a schedule of another nest.

    Examples
    --------
    >>> nest = rl.loops.Nest({"i": (1, 7), "j": 6}, "A[i,j] = A[i-1,j+1]*0.5")
    >>> picture = rl.loops.space(nest)
    >>> picture.schedule = "interchange"
    >>> print(picture.sentence)
    interchange: not legal. S(1,1) writes A[1,1] and S(2,0) reads it, so S(1,1) must run first. ...
    """
    dims = nest.dims("S")
    sizes = [nest.extents[dim][1] - nest.extents[dim][0] for dim in dims]
    if len(nest.statements) != 1 or len(dims) != 2 or max(sizes) > MOST:
        raise ValueError(f"nest: one statement in two loops of at most {MOST} turns can be drawn")
    offered = dict(schedules) if schedules is not None else usual(nest)
    for name, one in offered.items():
        if (one.extents, one.statements) != (nest.extents, nest.statements):
            raise ValueError(f"schedules[{name!r}] is of another nest: {one.statements[0].text}")
    wide = LEFT + CELL * sizes[1] + RIGHT
    widths = (wide, NARROW) if wide > NARROW else (wide,)
    return Player(*(_Sheet(nest, offered, each).scene for each in widths), stem="loops")


def usual(nest: Nest) -> dict[str, Nest]:
    """The nest as it was written, and what a compiler would try first."""
    i, j = nest.dims("S")
    plain = nest.untouched()
    skewed = plain.skew(j, i)
    tiles = {i: min(2, plain.loop(i)[0].extent), j: min(2, plain.loop(j)[0].extent)}
    return {
        "as written": plain,
        "interchange": plain.interchange(i, j),
        f"reverse {i}": plain.reverse(i),
        "tiles": plain.tile(tiles),
        "skew": skewed,
        "skew, interchange": skewed.interchange(i, j),
        "skew, tiles": skewed.tile(tiles),
    }


@dataclass(frozen=True)
class _Fate:
    """What one schedule does: its iterations in order, and which arrows it breaks."""

    name: str
    order: list[tuple[int, ...]]
    broken: set[tuple[tuple[int, ...], tuple[int, ...]]]
    why: str


class _Sheet:
    """The picture on a sheet of one width."""

    def __init__(self, nest: Nest, schedules: Mapping[str, Nest], wide: float) -> None:
        self.nest, self.dims = nest, nest.dims("S")
        self.box = [nest.extents[dim] for dim in self.dims]
        rows, columns = (upper - lower for lower, upper in self.box)
        self.cell = min(CELL, (wide - LEFT - RIGHT) / columns)
        self.fates = [_fate(name, one) for name, one in schedules.items()]
        count = rows * columns
        steps = [f"{step} of {count}" for step in range(count + 1)]
        names = list(schedules)
        held = [Dim("schedule", names, names), Dim("step", steps, start=count)]
        self.scene = Scene(wide, TOP + rows * self.cell + FOOT, held)
        self.draw_axes()
        self.draw_path()
        self.draw_arrows()
        grabbed = self.draw_points()
        self.scene.choice("schedule", "schedule", names)
        self.scene.slider("step", "iterations run")
        self.scene.play("step")
        self.scene.grip("step", *self.now, area=grabbed)
        self.scene.says = self.scene.each("schedule step", self.said)
        for words in self.code([one.code() for one in schedules.values()]):
            self.scene.note(words, "code")
        self.scene.note(f"{nest.statements[0].text}. An arrow's tail must run before its head.")

    def x(self, j: float) -> float:
        return LEFT + (j - self.box[1][0] + 0.5) * self.cell

    def y(self, i: float) -> float:
        return TOP + (i - self.box[0][0] + 0.5) * self.cell

    def code(self, texts: list[str]) -> list[By]:
        """The lines of each schedule's loops. The spaces in front of a line are to be seen."""
        lines = [text.partition("):\n")[2].splitlines() for text in texts]
        most = max(map(len, lines))
        rows = [[one.replace("    ", "\u2003\u2003", 9)[2:] for one in each] for each in lines]
        full = [[*each, *[""] * (most - len(each))] for each in rows]
        return [By("schedule", [each[row] for each in full]) for row in range(most)]

    @property
    def now(self) -> tuple[By, By]:
        """Where the iteration is that runs last so far, in pixels."""

        def at(schedule: int, step: int, axis: int) -> float:
            if not step:
                return math.nan
            point = self.fates[schedule].order[step - 1]
            return self.y(point[0]) if axis == 0 else self.x(point[1])

        down, across = (
            self.scene.each("schedule step", functools.partial(at, axis=axis)) for axis in (0, 1)
        )
        return across, down

    def draw_axes(self) -> None:
        scene, (rows, columns) = self.scene, self.box
        scene.text(LEFT - 40, TOP - 12, f"{self.dims[0]} ↓", bold=True)
        scene.text(LEFT + 4, TOP - 34, f"{self.dims[1]} →", bold=True)
        for j in range(*columns):
            scene.text(self.x(j), TOP - 12, str(j), "soft", anchor="middle")
        for i in range(*rows):
            scene.text(LEFT - 14, self.y(i) + 5, str(i), "soft", anchor="end")

    def draw_path(self) -> None:
        """The way through the points, in the order of the schedule."""
        ways = [[(self.x(j), self.y(i)) for i, j in fate.order] for fate in self.fates]
        self.scene.line(By("schedule", ways), "grid", 2, name="path")

    def draw_arrows(self) -> None:
        arrows = _direct(self.nest.untouched().arrows(reassociate=False))
        for one in sorted(arrows):
            fates = [float(one in fate.broken) for fate in self.fates]
            ends = [(self.x(j), self.y(i)) for i, j in one]
            line, head = _arrow(*ends)
            ink = By("schedule", ["warn" if broken else "soft" for broken in fates])
            kept = By("schedule", [1 - broken for broken in fates])
            self.scene.line(line, "soft", 1.5, opacity=kept, name="arrow")
            if any(fates):
                broken = By("schedule", fates)
                self.scene.line(line, "warn", 2.5, dash=(4, 3), opacity=broken, name="broken")
            self.scene.line(head, ink, 1, fill=ink, name="head")

    def draw_points(self) -> Mark:
        """The iterations: open until they have run. The last one so far has a ring."""
        scene = self.scene
        for i in range(*self.box[0]):
            for j in range(*self.box[1]):
                ranks = [fate.order.index((i, j)) for fate in self.fates]
                x, y = self.x(j), self.y(i)
                scene.dot(x, y, size=DOT, fill="paper", ink="ink", name="iteration")

                def done(schedule: int, step: int, ranks: list[int] = ranks) -> float:
                    return float(step > ranks[schedule])

                seen = scene.each("schedule step", done)
                scene.dot(x, y, size=DOT, fill="ink", ink="ink", opacity=seen, name="done")
        return scene.dot(*self.now, size=DOT + 5, fill=None, ink="key", width=3, name="now")

    def said(self, schedule: int, step: int) -> str:
        fate, count = self.fates[schedule], len(self.fates[schedule].order)
        if not step:
            return f"{fate.name}: {fate.why} Nothing has run yet."
        i, j = fate.order[step - 1]
        return f"{fate.name}: {fate.why} {step} of {count} iterations have run, S({i},{j}) last."


def _fate(name: str, nest: Nest) -> _Fate:
    verdict = nest.check(reassociate=False)
    arrows = nest.arrows(reassociate=False)
    broken = {(one.first[1], one.second[1]) for one in arrows if not one.ok}
    why = "legal." if verdict else f"not legal. {verdict.why}"
    return _Fate(name, [one.iteration for one in nest.instances()], broken, why)


def _direct(arrows: list[Arrow]) -> set[tuple[tuple[int, ...], tuple[int, ...]]]:
    """The arrows without those that follow from two others."""
    pairs = {(one.first[1], one.second[1]) for one in arrows}
    after: dict[tuple[int, ...], set[tuple[int, ...]]] = {}
    for first, second in pairs:
        after.setdefault(first, set()).add(second)
    return {
        (first, second)
        for first, second in pairs
        if not any(second in after.get(middle, ()) for middle in after[first])
    }


def _arrow(tail: tuple[float, float], tip: tuple[float, float]) -> tuple[Any, Any]:
    """The line between two points, short of both, and the triangle at its end."""
    across, down = tip[0] - tail[0], tip[1] - tail[1]
    length = math.hypot(across, down)
    u, v = across / length, down / length
    start = tail[0] + u * (DOT + 2), tail[1] + v * (DOT + 2)
    end = tip[0] - u * (DOT + 2), tip[1] - v * (DOT + 2)
    neck = end[0] - u * HEAD, end[1] - v * HEAD
    wide = HEAD / 2.5
    head = [end, (neck[0] - v * wide, neck[1] + u * wide), (neck[0] + v * wide, neck[1] - u * wide)]
    return [start, neck], head

"""A sheet with an iteration space: points that fill as they run, arrows, the way through them.

Rows lean and tiles grow under two knobs, and arrows that this breaks are red.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rooflab.labs.loops.pictures.fates import ORDERS, Fate, Pair, Place, Point, Space, times_of
from rooflab.show.scene import By, Dim, Fill, Scene
from rooflab.show.scene.graph import Above, Either, Less

NARROW = 400  # a sheet for phones
WIDE = 760  # of a wide sheet, left of the code
CODE, APART = 344, 40  # pixels of the code beside the space, and between them
LINE, LETTERS, LONGEST = 20, 14, 40  # pixels of a line of code, of its letters; letters of one
TOP, FOOT = 56, 34
CELL = 60  # pixels of a cell, at most
HIGH = 360  # all rows together, at most
HEAD = 8  # pixels of an arrow's head
DASH = 8  # pixels of a dash and the gap after it, about
TURN = 90  # milliseconds from one iteration to the next
SLIDE = 160  # milliseconds in which rows and tiles take their new places
MOST_SLIDING = 64  # points; more of them would slide in jerks, so they jump
KNOB, FINGER = 8, 13  # pixels, half as wide as what is seen, and as what can be touched
OVER = "skew tile order"


class Sheet:
    """The picture on a sheet of one width, with the rings of a ``pair`` of somebody's own.

    ``leans``: by how many columns a row stands further right than the row above it, at each place
    of the dimension "skew".
    """

    def __init__(self, space: Space, wide: float, pair: Sequence[Point]) -> None:
        nest, leans, phone = space.nest, space.skews, wide <= NARROW
        self.space, self.fates, self.leans, self.pair = space, space.fates, leans, pair
        i, j = self.names = nest.dims("S")
        (self.low, upper), (self.first, end) = (nest.extents[name] for name in self.names)
        self.rows, self.columns = upper - self.low, end - self.first
        columns = self.columns + max(leans) * (self.rows - 1)
        edge = 40 if phone else 56  # left of the space, and half as much right of it
        self.across = min(CELL, (wide - 1.6 * edge) / columns)
        self.down = min(46 if phone else CELL, HIGH / self.rows)
        room = (wide - 1.6 * edge - columns * self.across) / 2
        self.left = edge + max(0, room) if phone else edge
        self.dot = min(6, 0.28 * self.across)
        rows, across = range(self.low, upper), range(self.first, end)
        self.points = [(i, j) for i in rows for j in across]  # as they were written
        count = len(self.points)
        slide = SLIDE if count <= MOST_SLIDING else 0
        counts = [f"{j} + {times_of(skew, i)}" if skew else j for skew in leans]
        sides = ["no tiles" if tile == 1 else f"tiles of {tile}×{tile}" for tile in space.tiles]
        steps = [f"{step} of {count}" for step in range(count + 1)]
        dims = [
            Dim("skew", counts, leans, glide=slide),
            Dim("tile", sides, space.tiles, glide=slide),
            Dim("order", ORDERS, ORDERS, glide=2 * slide),
            Dim("step", steps, start=count, glide=TURN, even=True),
        ]
        self.sizes = len(leans), len(space.tiles), len(ORDERS)
        ends = [self.columns + lean * (self.rows - 1) for lean in leans]
        places = [self.left + end * self.across + APART for end in ends]
        self.code_at = None if phone else max(places)  # where it stays, however far rows lean
        high = round(TOP + self.rows * self.down + FOOT)
        self.scene = Scene(wide if phone else round(max(places) + CODE), high, dims)
        self.draw()
        if len(space.tiles) > 1:
            self.draw_tile_knob(sides)
        if len(leans) > 1:
            self.draw_skew_knob(counts)
        self.tell()

    def tell(self) -> None:
        """The controls, the sentence, and the loops of each schedule."""
        scene = self.scene
        scene.choice("order", "order", ORDERS)
        scene.play("step")
        scene.slider("step", "iterations run")
        scene.says = self.says()
        calls = {place: one.text(self.names) for place, one in self.space.choices.items()}
        self.draw_code(calls)
        scene.note(self.each(lambda place, _: calls[place]), "more code")
        scene.note(self.code(), "more code")
        scene.note(
            f"{self.space.nest.statements[0].text}. A point is an iteration. An arrow's tail must "
            "run before its head. The blue line is the order in which the points run. Rings are "
            "around the two iterations of which the sentence speaks."
        )

    # Where things stand.

    def x(self, j: float, i: float, lean: int) -> float:
        """The middle of column j in row i, in pixels."""
        return self.left + (j - self.first + lean * (i - self.low) + 0.5) * self.across

    def y(self, i: float) -> float:
        """The middle of row i, in pixels."""
        return TOP + (i - self.low + 0.5) * self.down

    def leaning(self, values: Sequence[Any]) -> Any:
        """A value for each of the leans."""
        return By("skew", values)

    def spot(self, point: Point) -> tuple[Any, float]:
        """Where an iteration stands."""
        i, j = point
        return self.leaning([self.x(j, i, lean) for lean in self.leans]), self.y(i)

    def each(self, value: Any) -> By:
        """``value(place, fate)`` at every place, as a By."""
        found = [value(place, self.fates[place]) for place in np.ndindex(*self.sizes)]
        table = np.array(found, object if isinstance(found[0], str) else float)
        return By(OVER, table.reshape(self.sizes + table.shape[1:]))

    def lean(self, place: Place) -> int:
        """By how much rows lean at a place."""
        return self.leans[place[0]]

    def way(self, place: Place, fate: Fate) -> list[tuple[float, float]]:
        """The pixels of the iterations, in the order in which they run."""
        lean = self.lean(place)
        return [(self.x(j, i, lean), self.y(i)) for i, j in fate.order]

    # What is drawn.

    def draw(self) -> None:
        """All of the space. The iteration that ran last lies on top, and can be pulled."""
        self.draw_cards()
        self.draw_tiles()
        self.scene.line(self.each(self.way), "key", 3, opacity=0.35, name="path")
        self.draw_arrows()
        self.draw_points()
        self.draw_pair()
        ways = [[[math.nan] * 2, *self.way(place, fate)] for place, fate in self.fates.items()]
        x, y = self.by_step(ways, 2)
        now = self.scene.dot(x, y, size=self.dot + 3, fill="key", ink="paper", width=2, name="now")
        self.scene.grip("step", x, y, area=now)

    def by_step(self, values: Sequence[Any], width: int) -> list[By]:
        """``width`` numbers for each step of each schedule, as one By a number."""
        table = np.array(values).reshape((*self.sizes, len(self.points) + 1, width))
        return [By(f"{OVER} step", table[..., n]) for n in range(width)]

    def draw_cards(self) -> None:
        """A card behind each row, and the numbers of rows and columns."""
        scene, half = self.scene, self.across / 2
        for i in range(self.low, self.low + self.rows):
            left = self.leaning([self.x(self.first, i, lean) - half for lean in self.leans])
            box = left, self.y(i) - self.down / 2 + 2, self.columns * self.across, self.down - 4
            scene.rect(*box, "soft", radius=6, opacity=0.07, name="card")
            if len(self.leans) > 1:  # where a pull would bring it
                there = self.x(self.first, i, self.leans[-1]) - half, *box[1:]
                seen = By("skew tile", np.zeros(self.sizes[:2]))
                seen.values[0, 0] = 0.7  # until something is pulled
                scene.rect(*there, None, ink="soft", width=1, radius=6, dash=(3, 5), opacity=seen,
                           name="pulled")  # fmt: skip
            scene.text(self.left - 10, self.y(i) + 5, str(i), "soft", anchor="end")
        ends = [self.first + self.columns + lean * (self.rows - 1) for lean in self.leans]
        each = math.ceil((10 * len(str(max(ends) - 1)) + 2) / self.across)
        for j in range(self.first, max(ends), each):  # in a skewed space there are more columns
            shown = self.leaning([float(j < end) for end in ends])
            scene.text(self.x(j, self.low, 0), TOP - 14, str(j), "soft", anchor="middle",
                       opacity=shown)  # fmt: skip
        scene.text(self.left - 12, TOP - 14, f"{self.names[1]} →", bold=True, anchor="end")
        foot = self.scene.height - FOOT + 20
        scene.text(self.left - 10, foot, f"{self.names[0]} ↓", bold=True, anchor="end")

    def draw_tiles(self) -> None:
        """The edges of the tiles that hold points, and a tint on the one that runs."""
        boxes = [
            [self.boxes(lean, tile) if tile > 1 else [] for tile in self.space.tiles]
            for lean in self.leans
        ]
        nowhere = [math.nan] * 4
        for number in range(max(len(found) for row in boxes for found in row)):
            table = np.array(
                [[[*found, *[nowhere] * (number + 1)][number] for found in row] for row in boxes]
            )
            x, y, w, h = (By("skew tile", table[..., side]) for side in range(4))
            self.scene.rect(x, y, w, h, None, ink="soft", width=1.25, radius=4, name="tile")
        walks = [self.walk(place, one) for place, one in self.fates.items()]
        x, y, w, h = self.by_step(walks, 4)
        self.scene.rect(x, y, w, h, "key", radius=4, opacity=0.16, name="running")

    def box(self, point: tuple[int, ...], lean: int, tile: int) -> tuple[float, ...]:
        """Left, top, width and height of the tile in which an iteration lies."""
        i = point[0] - self.low
        row, column = i // tile * tile, (point[1] - self.first + lean * i) // tile * tile
        high = min(tile, self.rows - row)  # the last ones may be shorter
        wide = min(tile, self.columns + lean * (self.rows - 1) - column)
        left, top = self.left + column * self.across, TOP + row * self.down
        return left, top, wide * self.across, high * self.down

    def boxes(self, lean: int, tile: int) -> list[tuple[float, ...]]:
        """The tiles that hold points."""
        return sorted({self.box(point, lean, tile) for point in self.points})

    def walk(self, place: Place, one: Fate) -> list[Any]:
        """The tile of the last iteration after each step. Without tiles there is none."""
        tile, lean = self.space.choices[place].tile, self.lean(place)
        nowhere = [math.nan] * 4
        if tile == 1:
            return [nowhere] * (len(one.order) + 1)
        return [nowhere, *(self.box(point, lean, tile) for point in one.order)]

    def draw_tile_knob(self, sides: list[str]) -> None:
        """The first tile, and a knob at its corner: pulled sideways, it makes tiles larger."""
        scene, tiles = self.scene, np.array(self.space.tiles)
        side, high = By("tile", tiles * self.across), By("tile", tiles * self.down)
        scene.rect(self.left, TOP, side, high, None, ink="key", width=2, radius=4, name="first")
        x = By("tile", self.left + tiles * self.across)
        words = By("tile", ["↔ pull to tile", *(f"↔ {side}" for side in sides[1:])])
        scene.text(By("tile", x.values - KNOB), TOP - 36, words, "key", name="tile-words")
        self.knob("tile", x, TOP)

    def draw_skew_knob(self, counts: list[str]) -> None:
        """A knob at the end of the last row: pulled sideways, it makes the rows lean."""
        scene, last = self.scene, self.low + self.rows - 1
        ends = [self.x(self.first + self.columns, last, lean) for lean in self.leans]
        x = By("skew", np.array(ends) - self.across / 2 + KNOB + 4)
        words = By("skew", ["↔ pull to skew", *(f"↔ skew: {count}" for count in counts[1:])])
        high = scene.height - 14
        scene.text(By("skew", x.values + KNOB), high, words, "key", anchor="end", name="skew-words")
        self.knob("skew", x, self.y(last))

    def knob(self, name: str, x: By, y: float) -> None:
        """Something to pull at. The place for a finger is larger than what is seen."""
        scene = self.scene
        scene.dot(x, y, size=KNOB, fill="paper", ink="key", width=3, name=f"{name}-knob")
        area = scene.dot(x, y, size=FINGER, fill=None, name=f"{name}-finger")
        scene.grip(name, x, y, area=area, label=name, glide=True)

    def draw_arrows(self) -> None:
        """An arrow for each dependence, red and dashed where it is broken."""
        for arrow in self.space.arrows:
            self.draw_arrow(arrow)

    def draw_arrow(self, arrow: Pair) -> None:
        """One arrow. It is one mark, as the fewer there are, the better it follows a hand."""
        (i, j), (k, m) = arrow
        ways = {
            lean: _arrow((self.x(j, i, lean), self.y(i)), (self.x(m, k, lean), self.y(k)), self.dot)
            for lean in self.leans
        }
        dashes = {lean: _dashes(math.dist(*way[:2])) for lean, way in ways.items()}

        def dash(place: Place, fate: Fate) -> str:
            return dashes[self.lean(place)] if arrow in fate.broken else ""

        ink = self.each(lambda place, fate: "warn" if arrow in fate.broken else "soft")
        self.scene.line(
            self.leaning([*ways.values()]), ink, 2, dash=self.each(dash), fill=ink, closed=False,
            name="arrow",
        )  # fmt: skip

    def draw_points(self) -> None:
        """The iterations: open until they have run."""
        scene = self.scene
        step = By("step", np.arange(len(self.points) + 1.0))
        for point in self.points:
            x, y = self.spot(point)
            rank = self.each(lambda place, fate, point=point: fate.order.index(point))
            fill = Either(Above(Less(step, rank)), ("paper", "ink"))
            scene.dot(x, y, size=self.dot, fill=fill, ink="ink", name="iteration")

    def draw_pair(self) -> None:
        """Red rings around the two iterations of which the sentence speaks."""

        def at(place: Place, fate: Fate, end: int) -> list[float]:
            if fate.pair is None:
                return [math.nan, math.nan]
            i, j = fate.pair[end]
            return [self.x(j, i, self.lean(place)), self.y(i)]

        for end in (0, 1):
            found = np.asarray(self.each(lambda place, fate, end=end: at(place, fate, end)).values)
            x, y = (By(OVER, found[..., axis]) for axis in (0, 1))
            if not np.isnan(found).all():
                self.scene.dot(
                    x, y, size=self.dot + 4, fill=None, ink="warn", width=2.5, name="pair"
                )
        for point in self.pair:
            own, foot = self.spot(point)
            self.scene.dot(own, foot, size=self.dot + 8, fill=None, ink="mine", width=3, name="own")

    # What is said.

    def said(self, place: Place, one: Fate) -> str:
        """What is said of one choice."""
        words, many = self.space.choices[place].words(self.names), len(self.space.arrows)
        own = ""
        if self.pair:
            i, j = min(self.pair, key=one.order.index)
            own = f" Yours: S({i},{j}) runs first."
        if not one.legal:
            red = f"{len(one.broken)} of {many} arrows are red"
            return f"{words}: not legal, {red}. {one.why}{own}"
        kept = f"all {many} arrows keep their order" if many else "no iteration needs another"
        return f"{words}: legal, {kept}.{own}"

    def says(self) -> Fill:
        """The sentence: what is said of each schedule, and how far it has run."""
        count = len(self.points)
        some = f"{{fate}} {{n}} of {count} iterations have run, {{last}} last."
        ran = By("step", ["{fate} Nothing has run yet.", *[some] * count])
        last = np.array(
            [["", *(f"S({i},{j})" for i, j in fate.order)] for fate in self.fates.values()], object
        ).reshape((*self.sizes, count + 1))
        steps = By("step", [str(step) for step in range(count + 1)])
        return Fill(ran, fate=self.each(self.said), n=steps, last=By(f"{OVER} step", last))

    def code(self) -> By:
        """The loops of each schedule, all with as many lines as the longest."""
        most = max(len(fate.code.splitlines()) for fate in self.fates.values())

        def block(place: Place, fate: Fate) -> str:
            lines = [line[4:] for line in fate.code.splitlines()]
            return "\n".join([*lines, *[" "] * (most - len(lines))])  # an empty line has no height

        return self.each(block)

    def draw_code(self, calls: Mapping[Place, str]) -> None:
        """The schedule and its loops beside the space, and whether they are legal."""
        if self.code_at is None:
            return
        blocks = {
            place: [*calls[place].replace(").", ")\n    .").split("\n"), "", *_lines_of(fate.code)]
            for place, fate in self.fates.items()
        }
        most = max(map(len, blocks.values()))
        look: dict[str, Any] = {"size": LETTERS, "mono": True, "name": "code"}
        for n in range(most):
            words = self.each(lambda place, _, n=n: [*blocks[place], *[""] * most][n])
            self.scene.text(self.code_at, TOP + n * LINE, words, **look)
        for stamp, ink, legal in (("✓ legal", "carrying", True), ("✗ broken", "warn", False)):
            seen = self.each(lambda _, fate, legal=legal: float(fate.legal is legal))
            self.scene.text(self.code_at, TOP - 20, stamp, ink, size=20, bold=True, opacity=seen,
                            name="stamp")  # fmt: skip


def _lines_of(code: str) -> list[str]:
    """Lines of code with two spaces for each loop; a line that is too long goes on in the next."""
    lines = []
    for line in code.splitlines():
        text = line[4:].lstrip()
        pad = (len(line) - 4 - len(text)) // 2
        lines += textwrap.wrap(text, LONGEST - pad, initial_indent=" " * pad,
                               subsequent_indent=" " * (pad + 4))  # fmt: skip
    return lines


def _arrow(tail: tuple[float, float], tip: tuple[float, float], dot: float) -> list[Any]:
    """The corners of an arrow between two points, short of both: its line, then around its head."""
    across, down = tip[0] - tail[0], tip[1] - tail[1]
    length = math.hypot(across, down)
    u, v = across / length, down / length
    short = min(dot + 2, length / 4)
    start = tail[0] + u * short, tail[1] + v * short
    end = tip[0] - u * short, tip[1] - v * short
    head = min(HEAD, length / 3)
    neck = end[0] - u * head, end[1] - v * head
    wide = head / 2.5
    left = neck[0] - v * wide, neck[1] + u * wide
    right = neck[0] + v * wide, neck[1] - u * wide
    return [start, neck, left, end, right, neck]


def _dashes(length: float) -> str:
    """Dashes for the line of an arrow, with a last one that goes all around its head."""
    many = max(1, round(length / DASH))
    each = length / many
    return f"{0.6 * each:.1f} {0.4 * each:.1f} " * many + "99"

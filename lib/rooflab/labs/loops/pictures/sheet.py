"""A sheet with an iteration space: points that fill as they run, arrows, the way through them."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rooflab.labs.loops.pictures.fates import Fate, Pair, Point
from rooflab.show.scene import By, Dim, Fill, Scene
from rooflab.show.scene.graph import Above, Either, Less

if TYPE_CHECKING:
    from rooflab.labs.loops.nest import Nest

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

Place = tuple[int, ...]


class Sheet:
    """The marks that all pictures of an iteration space have.

    ``fates``: what happens at each place along the dimensions ``over``. ``leans``: by how many
    columns a row stands further right than the row above it, at each place of the dimension "skew";
    without that dimension it is (0,).
    """

    def __init__(
        self, nest: Nest, arrows: Sequence[Pair], dims: Sequence[Dim],
        fates: Mapping[Place, Fate], leans: Sequence[int], wide: float,
    ) -> None:  # fmt: skip
        self.nest, self.arrows, self.fates, self.leans = nest, arrows, fates, leans
        self.over = " ".join(one.name for one in dims)
        self.sizes = tuple(len(one.stops) for one in dims)
        self.names = nest.dims("S")
        (self.low, upper), (self.first, end) = (nest.extents[name] for name in self.names)
        self.rows, self.columns = upper - self.low, end - self.first
        columns = self.columns + max(leans) * (self.rows - 1)
        edge = 40 if wide <= NARROW else 56  # left of the space, and half as much right of it
        phone = wide <= NARROW
        self.across = min(CELL, (wide - 1.6 * edge) / columns)
        self.down = min(46 if phone else CELL, HIGH / self.rows)
        room = (wide - 1.6 * edge - columns * self.across) / 2
        self.left = edge + max(0, room) if phone else edge
        self.dot = min(6, 0.28 * self.across)
        self.points = [
            (i, j) for i in range(self.low, upper) for j in range(self.first, end)
        ]  # as they were written: rows first
        count = len(self.points)
        steps = [f"{step} of {count}" for step in range(count + 1)]
        held = [*dims, Dim("step", steps, start=count, glide=TURN, even=True)]
        ends = [self.columns + lean * (self.rows - 1) for lean in leans]
        places = [self.left + end * self.across + APART for end in ends]
        self.code_at = None if phone else self.leaning(places)
        high = round(TOP + self.rows * self.down + FOOT)
        self.scene = Scene(wide if phone else round(max(places) + CODE), high, held)

    # Where things stand.

    def x(self, j: float, i: float, lean: int) -> float:
        """The middle of column j in row i, in pixels."""
        return self.left + (j - self.first + lean * (i - self.low) + 0.5) * self.across

    def y(self, i: float) -> float:
        """The middle of row i, in pixels."""
        return TOP + (i - self.low + 0.5) * self.down

    def leaning(self, values: Sequence[Any]) -> Any:
        """A value for each of the leans: a By of the skew, or the only one."""
        return values[0] if len(self.leans) == 1 else By("skew", values)

    def spot(self, point: Point) -> tuple[Any, float]:
        """Where an iteration stands."""
        i, j = point
        return self.leaning([self.x(j, i, lean) for lean in self.leans]), self.y(i)

    def each(self, value: Any) -> By:
        """``value(place, fate)`` at every place, as a By."""
        found = [value(place, self.fates[place]) for place in np.ndindex(*self.sizes)]
        table = np.array(found, object if isinstance(found[0], str) else float)
        return By(self.over, table.reshape(self.sizes + table.shape[1:]))

    def lean(self, place: Place) -> int:
        """By how much rows lean at a place. The skew is the first dimension, where there is one."""
        return self.leans[place[0]] if len(self.leans) > 1 else self.leans[0]

    def way(self, place: Place, fate: Fate) -> list[tuple[float, float]]:
        """The pixels of the iterations, in the order in which they run."""
        lean = self.lean(place)
        return [(self.x(j, i, lean), self.y(i)) for i, j in fate.order]

    # What is drawn.

    def draw(self) -> None:
        """All of the space. The iteration that ran last lies on top, and can be pulled."""
        self.draw_cards()
        self.scene.line(self.each(self.way), "soft", 4, opacity=0.25, name="path")
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
        return [By(f"{self.over} step", table[..., n]) for n in range(width)]

    def draw_cards(self) -> None:
        """A card behind each row, and the numbers of rows and columns."""
        scene, half = self.scene, self.across / 2
        for i in range(self.low, self.low + self.rows):
            left = [self.x(self.first, i, lean) - half for lean in self.leans]
            scene.rect(
                self.leaning(left), self.y(i) - self.down / 2 + 2,
                self.columns * self.across, self.down - 4, "soft", radius=6, opacity=0.1,
                name="card",
            )  # fmt: skip
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

    def draw_arrows(self) -> None:
        """An arrow for each dependence, red and dashed where it is broken."""
        for arrow in self.arrows:
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
            x, y = (By(self.over, found[..., axis]) for axis in (0, 1))
            if not np.isnan(found).all():
                self.scene.dot(
                    x, y, size=self.dot + 4, fill=None, ink="warn", width=2.5, name="pair"
                )

    # What is said.

    def says(self, fates: By) -> Fill:
        """The sentence: what is said of each schedule, and how far it has run."""
        count = len(self.points)
        some = f"{{fate}} {{n}} of {count} iterations have run, {{last}} last."
        ran = By("step", ["{fate} Nothing has run yet.", *[some] * count])
        last = np.array(
            [["", *(f"S({i},{j})" for i, j in fate.order)] for fate in self.fates.values()], object
        ).reshape((*self.sizes, count + 1))
        steps = By("step", [str(step) for step in range(count + 1)])
        return Fill(ran, fate=fates, n=steps, last=By(f"{self.over} step", last))

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

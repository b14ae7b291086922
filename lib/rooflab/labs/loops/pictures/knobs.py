"""The iteration space with its knobs: rows lean, tiles grow, and arrows that this breaks are red.

A state is a skew, a tile and an order. What each does is counted in advance by the same check and
the same code as for any other schedule.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rooflab.labs.loops.pictures.fates import Fate, Pair, Point, direct, fate
from rooflab.labs.loops.pictures.sheet import NARROW, TOP, WIDE, Place, Sheet
from rooflab.show.scene import By, Dim, Scene

if TYPE_CHECKING:
    from rooflab.labs.loops.nest import Nest

ORDERS = ("rows first", "columns first")
MOST_SKEW, MOST_TILE = 2, 4
MOST_COLUMNS = 23  # that a phone has room for
SLIDE = 160  # milliseconds in which rows and tiles take their new places
MOST_SLIDING = 64  # points; more of them would slide in jerks, so they jump
KNOB, FINGER = 8, 13  # pixels, half as wide as what is seen, and as what can be touched


@dataclass(frozen=True)
class Choice:
    """A schedule: j counts ``skew`` times i more, then tiles, then rows or columns first."""

    skew: int
    tile: int
    columns: bool

    def of(self, nest: Nest) -> Nest:
        """The nest in this schedule."""
        i, j = nest.dims("S")
        made = nest.untouched()
        if self.skew:
            made = made.skew(j, i, self.skew)
        if self.columns:
            made = made.interchange(i, j)
        if self.tile > 1:
            made = made.tile(dict.fromkeys((j, i) if self.columns else (i, j), self.tile))
        return made

    def words(self, names: tuple[str, ...]) -> str:
        """The schedule in words; ``names`` are those of the loops."""
        i, j = names
        said = ORDERS[self.columns].capitalize()
        if self.skew:
            said += f", {j} skewed by {_times(self.skew, i)}"
        return said + (f", in tiles of {self.tile}×{self.tile}" if self.tile > 1 else "")

    def text(self, names: tuple[str, ...]) -> str:
        """The calls that make the schedule."""
        i, j = names
        said = f'.skew("{j}", "{i}", {self.skew})' if self.skew else ""
        said += f'.interchange("{i}", "{j}")' if self.columns else ""
        if self.tile > 1:
            first, second = (j, i) if self.columns else (i, j)
            said += f'.tile({{"{first}": {self.tile}, "{second}": {self.tile}}})'
        return f"nest{said}"


@dataclass(frozen=True)
class Space:
    """The choices that a picture offers, with what each does to the iterations of ``nest``."""

    nest: Nest
    skews: tuple[int, ...]
    tiles: tuple[int, ...]
    arrows: tuple[Pair, ...]
    choices: dict[Place, Choice]
    fates: dict[Place, Fate]

    @property
    def points(self) -> set[Point]:
        """All iterations."""
        return set(next(iter(self.fates.values())).order)


@functools.lru_cache(maxsize=4)
def counted(nest: Nest) -> Space:
    """All choices for a nest of two loops. A nest does not change, so it is counted once."""
    rows, columns = (end - first for first, end in (nest.extents[d] for d in nest.dims("S")))
    i, j = nest.dims("S")
    arrows = direct(nest)
    leans = [math.ceil((m - n) / (k - h)) for (h, m), (k, n) in arrows if k > h]
    most = min(MOST_SKEW, max(1, *leans, 0)) if rows > 1 else 0  # so much repairs all of them
    fits = max(1, (MOST_COLUMNS - columns) // max(1, rows - 1))
    skews = tuple(range(min(most, fits) + 1))
    taken = {i, j, *nest.shapes} & {f"{name}{end}" for name in (i, j) for end in "oi"}
    most = 1 if taken else min(rows, columns, MOST_TILE)  # the names that a tile's loops would have
    tiles = tuple(range(1, most + 1))
    choices: dict[Place, Choice] = {}
    fates: dict[Place, Fate] = {}
    for place in itertools.product(range(len(skews)), range(len(tiles)), range(len(ORDERS))):
        one = choices[place] = Choice(skews[place[0]], tiles[place[1]], place[2] == 1)
        fates[place] = fate(one.of(nest), arrows)
    return Space(nest, skews, tiles, arrows, choices, fates)


def scenes(nest: Nest, pair: Sequence[Point] = ()) -> list[Scene]:
    """The sheets of the picture, the widest first; ``pair`` is somebody's own."""
    space = counted(nest)
    return [_Knobs(space, wide, pair).scene for wide in (WIDE, NARROW)]


class _Knobs(Sheet):
    """A sheet with two knobs to pull, and the tiles."""

    def __init__(self, space: Space, wide: float, pair: Sequence[Point]) -> None:
        i, j = space.nest.dims("S")
        counts = [f"{j} + {_times(skew, i)}" if skew else j for skew in space.skews]
        sides = ["no tiles" if tile == 1 else f"tiles of {tile}×{tile}" for tile in space.tiles]
        few = len(space.points) <= MOST_SLIDING
        slide = SLIDE if few else 0
        dims = [
            Dim("skew", counts, space.skews, glide=slide),
            Dim("tile", sides, space.tiles, glide=slide),
            Dim("order", ORDERS, ORDERS, glide=2 * slide),
        ]
        super().__init__(space.nest, space.arrows, dims, space.fates, space.skews, wide)
        self.space, self.pair = space, pair
        self.draw()
        for point in pair:
            x, y = self.spot(point)
            self.scene.dot(x, y, size=self.dot + 8, fill=None, ink="mine", width=3, name="own")
        self.scene.choice("order", "order", ORDERS)
        self.scene.play("step")
        self.scene.slider("step", "iterations run")
        if len(space.tiles) > 1:
            self.draw_tile_knob(sides)
        if len(space.skews) > 1:
            self.draw_skew_knob(counts)
        self.scene.says = self.says(self.each(self.said))
        calls = {place: one.text(self.names) for place, one in space.choices.items()}
        self.draw_code(calls)
        self.scene.note(self.each(lambda place, _: calls[place]), "more code")
        self.scene.note(self.code(), "more code")
        self.scene.note(
            f"{self.nest.statements[0].text}. A point is an iteration. An arrow's tail must run "
            "before its head. The grey band is the order in which the points run. Rings are around "
            "the two iterations of which the sentence speaks."
        )

    def draw_cards(self) -> None:
        """The tiles lie on the cards, and under all else."""
        super().draw_cards()
        self.draw_tiles()

    def draw_tiles(self) -> None:
        """The edges of the tiles that hold points, and a tint on the one that runs."""
        boxes = [
            [self.boxes(lean, tile) if tile > 1 else [] for tile in self.space.tiles]
            for lean in self.space.skews
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
        ends = [self.x(self.first + self.columns, last, lean) for lean in self.space.skews]
        x = By("skew", np.array(ends) - self.across / 2 + KNOB + 4)
        words = By("skew", ["↔ pull to skew", *(f"↔ skew: {count}" for count in counts[1:])])
        high = scene.height - FOOT_OF_WORDS
        scene.text(By("skew", x.values + KNOB), high, words, "key", anchor="end", name="skew-words")
        self.knob("skew", x, self.y(last))

    def knob(self, name: str, x: By, y: float) -> None:
        """Something to pull at. The place for a finger is larger than what is seen."""
        scene = self.scene
        scene.dot(x, y, size=KNOB, fill="paper", ink="key", width=3, name=f"{name}-knob")
        area = scene.dot(x, y, size=FINGER, fill=None, name=f"{name}-finger")
        scene.grip(name, x, y, area=area, label=name, glide=True)

    def said(self, place: Place, one: Fate) -> str:
        """What is said of one choice."""
        words, many = self.space.choices[place].words(self.names), len(self.arrows)
        own = ""
        if self.pair:
            i, j = min(self.pair, key=one.order.index)
            own = f" Yours: S({i},{j}) runs first."
        if not one.legal:
            red = f"{len(one.broken)} of {many} arrows are red"
            return f"{words}: not legal, {red}. {one.why}{own}"
        kept = f"all {many} arrows keep their order" if many else "no iteration needs another"
        return f"{words}: legal, {kept}.{own}"


FOOT_OF_WORDS = 14  # pixels from the foot of the sheet to the words of the lower knob


def _times(factor: int, name: str) -> str:
    return name if factor == 1 else f"{factor}·{name}"

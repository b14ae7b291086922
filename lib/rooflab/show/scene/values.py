"""What the marks of a scene hold: values by state, dimensions of the states, and the marks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from rooflab.count.validation import unknown

#: Glyphs of markers as outlines around (0, 0), about 16 pixels wide; a circle is a circle.
GLYPHS: dict[str, list[tuple[float, float]]] = {
    "circle": [],
    "square": [(-7, -7), (7, -7), (7, 7), (-7, 7)],
    "diamond": [(0, -9.5), (9.5, 0), (0, 9.5), (-9.5, 0)],
    "triangle": [(0, -9), (8.5, 7), (-8.5, 7)],
    "down": [(0, 9), (8.5, -7), (-8.5, -7)],
    "cross": [(-8, -5), (-5, -8), (0, -3), (5, -8), (8, -5), (3, 0),  # of what others published
              (8, 5), (5, 8), (0, 3), (-5, 8), (-8, 5), (-3, 0)],
    "hexagon": [(-9, 0), (-4.5, -8), (4.5, -8), (9, 0), (4.5, 8), (-4.5, 8)],
}  # fmt: skip
GLYPH = 8  # the size in which they are given
FONT = 15  # pixels of a letter where nothing else is said


@dataclass(frozen=True)
class Dim:
    """A dimension of the states, with what stands at each of its stops.

    ``stops`` are the texts of the places where it can rest, which a slider says. ``names`` are what
    the widget's trait of this name holds there, texts, truths or numbers; None: the stop's number.
    ``start``: where it begins, the number of a stop.

    ``glide``: milliseconds of a change from one stop to another; 0 is at once. With ``keys`` the
    way from one stop to the next leads through more places than the two: ``keys[s]`` is the number
    of the place at which stop s lies, and ``glide`` is the time from one place to the next.
    ``free``: a hand may also rest between two stops. ``even``: the way along the places has one
    speed, instead of a slow start and a slow end.

    ``of``: its place at each place of dimensions before it, or a :class:`Sum` that counts, or what
    is worked out. Then it follows from those: no hand moves it, and if its stops have names its
    trait says where it is. What many states share is said once for each of its stops.

    ``trail``: the name of a dimension before it: it takes the stop which that one has just left.
    """

    name: str
    stops: Sequence[str]
    names: Sequence[Any] | None = None
    start: int = 0
    glide: float = 0
    keys: Sequence[int] | None = None
    free: bool = False
    even: bool = False
    of: By | Sum | Made | None = None
    trail: str = ""
    once: str = ""

    @property
    def size(self) -> int:
        """How many places it has."""
        return len(self.stops) if self.keys is None else self.keys[-1] + 1

    @property
    def path(self) -> bool:
        """Whether it is walked along, so that positions between two places are seen."""
        return self.keys is not None or self.free

    def index(self, value: Any) -> int:
        """The place of a stop, given as the trait of its widget holds it.

        Between two stops it is the nearest place on the way from one to the other.
        """
        last = len(self.stops) - 1
        if self.free and isinstance(value, float) and 0 <= value <= last:
            ways = self.keys if self.keys is not None else range(last + 1)
            return round(float(np.interp(value, range(last + 1), ways)))
        known = self.names if self.names is not None else range(len(self.stops))
        if value not in known:
            raise unknown(self.name, value, [str(one) for one in known])
        stop = list(known).index(value)
        return self.keys[stop] if self.keys is not None else stop


@dataclass(frozen=True)
class By:
    """A value for each place along some dimensions: ``By("view k", table)``.

    ``values[i, j, …]`` belongs to the places i, j, … of ``dims`` in the order written; more axes
    behind them hold the numbers of one value (x and y of points). Texts stand for words. A
    dimension with keys may be given by its stops alone: numbers go straight from one to the next,
    words change half-way.
    """

    dims: str
    values: Any

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its dimensions."""
        return tuple(self.dims.split())


@dataclass(frozen=True)
class Sum:
    """Numbers that add up, each part by its own dimensions: a table for each, and none for all."""

    parts: tuple[Any, ...]

    def __init__(self, *parts: Any) -> None:
        object.__setattr__(self, "parts", parts)


@dataclass(frozen=True)
class Times:
    """``matrix`` times ``vector``: places that follow a few lengths in fixed directions.

    The matrix has a row for each number of the place, one after the other.
    """

    matrix: Any
    vector: Any


class Made:
    """A value that is worked out of others where it is shown: see :mod:`rooflab.show.scene.graph`.

    ``kind`` names the work in player.js that :meth:`work` is in Python. Its parts are exact: they
    are 32-bit numbers in a browser.
    """

    kind: str

    @property
    def parts(self) -> tuple[Any, ...]:
        """The values that it is made of: its fields, the last of which may hold several."""
        *before, last = vars(self).values()
        return (*before, *last) if isinstance(last, tuple) else (*before, last)

    def work(self, *parts: np.ndarray) -> np.ndarray | str:
        """The value, given those of its parts in one state."""
        raise NotImplementedError

    @property
    def longest(self) -> str:
        """The longest words that it can be, where it is words."""
        return ""


@dataclass(frozen=True)
class Fill:
    """Words with holes: ``Fill("{n} of {all}", n=By("n", …), all="12")``.

    The template may be a By as well; each of its texts has some of the holes.
    """

    template: str | By
    holes: Mapping[str, Any]

    def __init__(self, template: str | By, **holes: Any) -> None:
        object.__setattr__(self, "template", template)
        object.__setattr__(self, "holes", holes)


Words: TypeAlias = "str | By | Fill | Made"
Number: TypeAlias = "float | By"
Value: TypeAlias = "np.ndarray | By | Sum | Times | Made"
Place: TypeAlias = "Number | Sum | Times | Made"  # an x, or x and y in one: then there is no y
WHOLE = (Sum, Times, Made)  # both x and y, or all numbers of a line


@dataclass(eq=False)
class Mark:
    """One thing on the sheet: its kind, its channels, and what never changes of its look."""

    kind: str
    channels: dict[str, Any]
    look: dict[str, Any] = field(default_factory=dict)
    name: str = ""

    @property
    def clip(self) -> tuple[float, float, float, float] | None:
        """Left, top, right and bottom of what is seen of it, or None for all."""
        clip: tuple[float, float, float, float] | None = self.look.get("clip")
        return clip


def outline(shape: str, size: float) -> str:
    """A glyph of :data:`GLYPHS` as the path of an SVG, ``size`` pixels from middle to edge."""
    if shape == "circle":
        return f"M{-size} 0a{size} {size} 0 1 0 {2 * size} 0a{size} {size} 0 1 0 {-2 * size} 0z"
    corners = " ".join(f"{x * size / GLYPH:g} {y * size / GLYPH:g}" for x, y in GLYPHS[shape])
    return f"M{corners}z"


def parts_of(value: Any) -> list[Any]:
    """The values that one of a channel is made of."""
    if isinstance(value, Fill):
        return [one for part in (value.template, *value.holes.values()) for one in parts_of(part)]
    if isinstance(value, (Sum, Made)):
        return [one for part in value.parts for one in parts_of(part)]
    return [*parts_of(value.matrix), value.vector] if isinstance(value, Times) else [value]


def words_in(values: Any) -> bool:
    """Whether a table holds words."""
    first = values
    while isinstance(first, (list, tuple, np.ndarray)):
        if len(first) == 0:
            raise ValueError("a By needs a value for each place; it has none")
        first = first[0]
    return isinstance(first, str)


def between(table: np.ndarray, axis: int, keys: Sequence[int], words: bool) -> np.ndarray:
    """One value a place from one a stop: straight between numbers, half-way for words."""
    places = np.arange(keys[-1] + 1)
    stop = np.interp(places, keys, np.arange(len(keys)))
    if words:
        return np.take(table, np.floor(stop + 0.5).astype(int), axis)
    low = np.minimum(np.floor(stop).astype(int), len(keys) - 2)
    share = (stop - low).reshape([-1 if a == axis else 1 for a in range(table.ndim)])
    a, b = np.take(table, low, axis), np.take(table, low + 1, axis)
    return np.asarray(np.where(share == 0, a, np.where(share == 1, b, a + (b - a) * share)))

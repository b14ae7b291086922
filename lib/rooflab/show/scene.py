"""A picture as data: marks on a sheet, whose places and words depend on a state.

A state has a position along each *dimension*: where a slider stands, which button is pressed, which
step of a program has been reached. A mark has *channels*: its points, its opacity, its words. What
a channel shows is the same in every state, or one value a position (:class:`By`). Python counts,
places and formats all of them. ``player.js`` looks them up and moves the marks in a browser;
:mod:`rooflab.show.painter` draws the marks of one state with Matplotlib.

>>> from rooflab.show.scene import By, Dim, Scene
>>> scene = Scene(200, 100, [Dim("n", ["one", "two", "four"])])
>>> bar = scene.rect(10, 40, By("n", [20, 40, 80]), 20, fill="carrying")
>>> scene.slider("n", "how many")
>>> scene.says = By("n", ["It is short.", "It is longer.", "It is the longest."])
>>> scene.sentence(n=2), scene.value(bar, "box", n=2).tolist()
('It is the longest.', [10.0, 40.0, 80.0, 20.0])
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
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
}
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
    """A value that is worked out of others where it is shown: see :mod:`rooflab.show.graph`.

    ``kind`` names the work in player.js that :meth:`work` is in Python. Its parts are exact: they
    are 32-bit numbers in a browser.
    """

    kind: str

    @property
    def parts(self) -> tuple[Any, ...]:
        """The values that it is made of."""
        raise NotImplementedError

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


@dataclass
class Scene:
    """A sheet of ``width`` × ``height`` CSS pixels, y downwards; marks lie in the order made.

    Colours are names of :data:`rooflab.show.theme.COLOURS`. Opacity 0 hides a mark, and so does a
    place that is not a number.
    """

    width: float
    height: float
    dims: Sequence[Dim]
    marks: list[Mark] = field(default_factory=list)
    controls: list[dict[str, Any]] = field(default_factory=list)
    grips: list[dict[str, Any]] = field(default_factory=list)
    says: Words = ""
    notes: list[tuple[str, Words, bool]] = field(default_factory=list)
    presses: list[dict[str, Any]] = field(default_factory=list)
    #: CSS classes of the whole picture, each with 1 or 0 in every state.
    classes: dict[str, Number] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for one in self.dims:
            self._check(one.of)
            if one.once:
                self.dim(one.once)

    @property
    def given(self) -> list[Dim]:
        """The dimensions that a hand or a widget moves; the others follow from them."""
        return [one for one in self.dims if one.of is None]

    @property
    def told(self) -> list[Dim]:
        """The dimensions that a widget has traits for: those given, and those with names."""
        return [one for one in self.dims if one.of is None or one.names is not None]

    # Marks.

    def line(
        self, points: Any, ink: Words | None = "ink", width: float = 1.5, *,
        dash: Sequence[float] = (), fill: Words | None = None, closed: bool = False, **more: Any,
    ) -> Mark:  # fmt: skip
        """A line through ``points``: pairs of numbers (or :class:`By`), or one By of pairs.

        A :class:`Sum` or :class:`Times` stands for all numbers in a row.

        ``fill`` paints the area inside, ``closed`` joins its ends, ``dash`` are lengths on and off.
        """
        if not isinstance(points, (By, *WHOLE)):
            points = self._stack(*(part for point in points for part in point))
        look = {"width": width, "dash": list(dash), "closed": closed or fill is not None}
        return self._add("line", {"points": points, "ink": ink, "fill": fill}, look, more)

    def rect(
        self, x: Number, y: Number, w: Number, h: Number, fill: Words | None = "ink", *,
        ink: Words | None = None, width: float = 1.5, radius: float = 2,
        dash: Sequence[float] = (), **more: Any,
    ) -> Mark:  # fmt: skip
        """A rectangle from its upper left corner, ``radius`` pixels round."""
        look = {"width": width, "radius": radius, "dash": list(dash)}
        channels = {"box": self._stack(x, y, w, h), "fill": fill, "ink": ink}
        return self._add("rect", channels, look, more)

    def dot(
        self, x: Place, y: Number | None, shape: str = "circle", size: float = 8, *,
        fill: Words | None = "ink", ink: Words | None = None, width: float = 1.5, **more: Any,
    ) -> Mark:  # fmt: skip
        """A marker of :data:`GLYPHS`, ``size`` pixels from its middle to its edge.

        ``x`` may be a :class:`Sum` or :class:`Times` of both x and y; so it may in a text.
        """
        if shape not in GLYPHS:
            raise unknown("shape", shape, GLYPHS)
        look = {"shape": shape, "size": size, "width": width}
        channels = {"at": self._stack(x, y), "fill": fill, "ink": ink}
        return self._add("dot", channels, look, more)

    def text(
        self, x: Place, y: Number | None, words: Words, ink: Words = "ink", *, size: float = FONT,
        bold: bool = False, mono: bool = False, anchor: Words = "start", halo: bool = False,
        turn: Number = 0, **more: Any,
    ) -> Mark:  # fmt: skip
        """Words on the baseline at (x, y): "start", "middle" or "end" of them stands there.

        ``turn``: degrees, clockwise. ``halo``: an edge in the colour of the paper around letters.
        ``mono``: in the letters of code.
        """
        look = {"size": size, "bold": bold, "mono": mono, "halo": halo}
        turned = isinstance(x, WHOLE) and isinstance(turn, By)
        channels = {"turn": self._stack(turn)} if turned else {}  # before the place, which needs it
        channels |= {"at": self._stack(x, y, turn), "text": words, "fill": ink, "anchor": anchor}
        return self._add("text", channels, look, more)

    def _add(
        self, kind: str, channels: dict[str, Any], look: dict[str, Any], more: dict[str, Any]
    ) -> Mark:
        wrong = set(more) - {"opacity", "clip", "name"}
        if wrong:
            raise TypeError(f"{kind}() has no argument {', '.join(sorted(wrong))}")
        channels["opacity"] = more.get("opacity", 1)
        if more.get("clip") is not None:
            look["clip"] = tuple(more["clip"])
        kept = {key: value for key, value in channels.items() if value is not None}
        mark = Mark(kind, kept, look, more.get("name", ""))
        for value in kept.values():
            self._check(value)
        self.marks.append(mark)
        return mark

    # What moves it.

    def slider(
        self, dim: str, label: str, *, at: Sequence[float] | None = None, y: float = 0,
        more: bool = False,
    ) -> None:  # fmt: skip
        """A slider over the stops of ``dim``, below the sheet.

        ``at``: the x of each stop, for a slider that lies on the sheet, with its middle at ``y``.
        """
        found = self.dim(dim)
        if at is not None and len(at) != len(found.stops):
            raise ValueError(f"at has {len(at)} places; {dim} has {len(found.stops)} stops")
        places = None if at is None else [round(float(x), 2) for x in at]
        self.controls.append(
            {"kind": "slider", "dim": dim, "label": label, "at": places, "y": y, "above": False,
             "more": more}
        )  # fmt: skip

    def choice(
        self, dim: str, legend: str, labels: Sequence[str], *, off: Number = 0, above: bool = True
    ) -> None:
        """A row of buttons, one a stop of ``dim``; ``legend`` names the row for screen readers.

        ``off`` is 1 at the stops of ``dim`` that cannot be pressed in a state.
        """
        if len(labels) != len(self.dim(dim).stops):
            raise ValueError(f"labels={list(labels)!r} must be one a stop of {dim}")
        self._check(off)
        self.controls.append(
            {"kind": "choice", "dim": dim, "label": legend, "labels": [*labels], "off": off,
             "above": above}
        )  # fmt: skip

    def menu(
        self, dim: str, label: str, labels: Sequence[Words], *, groups: Sequence[str] = (),
        enabled: Sequence[Number] = (), also: Mapping[str, Number] | None = None,
    ) -> None:  # fmt: skip
        """A list that opens over the sheet, an entry a stop of ``dim``.

        ``groups``: the heading under which each entry stands. ``enabled``: 1 where it can be
        chosen, 0 where it is greyed. ``also``: dimensions that are then brought to these stops,
        numbers or By of numbers, read after the choice.
        """
        many, also = len(self.dim(dim).stops), dict(also or {})
        for name, found in (("labels", labels), ("groups", groups), ("enabled", enabled)):
            if len(found) != many and (found or name == "labels"):
                raise ValueError(f"{name}={list(found)!r} must be one a stop of {dim}")
        for value in (*labels, *enabled, *also.values()):
            self._check(value)
        for name in also:
            self.dim(name)
        self.controls.append(
            {"kind": "menu", "dim": dim, "label": label, "labels": [*labels], "above": True,
             "groups": [*groups], "enabled": [*enabled] or [1] * many, "also": also}
        )  # fmt: skip

    def switch(
        self, dim: str, label: str, *, above: bool = True, more: bool = False,
        sets: Mapping[str, int] | None = None,
    ) -> None:  # fmt: skip
        """A button that turns ``dim`` from its first stop to its second and back.

        ``sets``: dimension → stop, what it brings about besides. ``more``: it is folded away
        until somebody asks for more.
        """
        if len(self.dim(dim).stops) != 2:
            raise ValueError(f"{dim} has {len(self.dim(dim).stops)} stops; a switch turns two")
        for name in sets or {}:
            self.dim(name)
        self.controls.append(
            {"kind": "switch", "dim": dim, "label": label, "above": above, "more": more,
             "sets": dict(sets or {})}
        )  # fmt: skip

    def play(
        self, dim: str, run: str = "▶ run", stop: str = "❚❚ stop", again: str = "↺ again"
    ) -> None:
        """A button that walks through all stops of ``dim``; its words before, during and after."""
        labels = [run, stop, again]
        self.controls.append({"kind": "play", "dim": dim, "labels": labels, "above": True})

    def button(
        self, label: Words, sets: Mapping[str, Number], *, shown: Number = 1, enabled: Number = 1,
        pressed: Number | None = None, row: str = "", kind: str = "", key: str = "",
        above: bool = False,
    ) -> None:  # fmt: skip
        """A button that brings dimensions to the stops ``sets``, each a number or By of numbers.

        ``shown``, ``enabled`` and ``pressed`` are 1 or 0 in every state; ``kind`` is its CSS class.
        Buttons of one ``row`` stand in a line of their own, behind these words. ``key`` presses it
        too, anywhere in the picture: the name that a browser gives the key.
        """
        for value in (label, shown, enabled, pressed, *sets.values()):
            self._check(value)
        for name in sets:
            self.dim(name)
        self.controls.append(
            {"kind": "button", "label": label, "sets": dict(sets), "shown": shown, "row": row,
             "enabled": enabled, "pressed": pressed, "class": kind, "above": above, "key": key}
        )  # fmt: skip

    def grip(
        self, dims: str, x: Place, y: Number | None, *, area: Sequence[float] | Mark,
        hover: bool = False, label: str = "", ghost: str = "", enabled: Number = 1,
        spring: bool = False, sets: Mapping[str, int] | None = None,
    ) -> None:  # fmt: skip
        """Make ``area`` (left, top, right, bottom, or a mark) a place to pull at.

        While it is pulled, the stops of ``dims`` become those at which (x, y) lies nearest to the
        pointer; where that is not a number, nothing can be pulled to. ``hover``: pointing is
        enough, and what is left goes back to its first stop. ``label``: a name for the keyboard,
        for a grip of one dimension that has no slider. Arrow keys then move it, and Enter presses
        the first button of the kind "confirm". ``ghost``: a dimension with as many stops as the
        grip's own, which takes the stop that is only pointed at, and 0 when nothing is. ``enabled``
        is 1 or 0 in every state. ``spring``: what is pulled gives a little, and goes back when it
        is let go; it has no dims. ``sets``: dimension → stop, set at each touch.
        """
        for name in (*dims.split(), *ghost.split(), *(sets or {})):
            self.dim(name)
        found: Any = self.marks.index(area) if isinstance(area, Mark) else [*map(float, area)]
        grip = {
            "dims": dims.split(),
            "area": found,
            "hover": hover,
            "at": self._stack(x, y),
            "label": label,
            "spring": spring,
            "sets": dict(sets or {}),
            "ghost": ghost,
            "enabled": enabled,
        }
        for value in (grip["at"], enabled):
            self._check(value)
        found = grip["at"].names if isinstance(grip["at"], By) else ()
        wrong = [name for name in found if self.dim(name).of is not None]
        if wrong:
            raise ValueError(f"a grip lies where a hand puts it; {', '.join(wrong)} follows")
        self.grips.append(grip)

    def point(self, mark: Mark, says: Words) -> None:
        """Let ``mark`` be pointed at and focused: it then says its own sentence."""
        self._check(says)
        mark.look["point"] = says

    def press(
        self, mark: Mark, sets: Mapping[str, Number], label: Words, *, enabled: Number = 1,
        key: str = "", says: Words = "",
    ) -> None:  # fmt: skip
        """Let ``mark`` be pressed like a button that is called ``label``; see :meth:`button`.

        ``says``: what a screen reader hears of the press, before the sentence.
        """
        for value in (label, enabled, says, *sets.values()):
            self._check(value)
        for name in sets:
            self.dim(name)
        self.presses.append(
            {"mark": self.marks.index(mark), "sets": dict(sets), "label": label,
             "enabled": enabled, "key": key, "says": says}
        )  # fmt: skip

    def note(self, words: Words, kind: str = "origin", *, above: bool = False) -> None:
        """A line under the sentence, or ``above`` the sheet; empty words take no room.

        ``kind`` is its CSS class: "origin" is small, "title" bold, "code" in the letters of code,
        "more" stands with the controls that are folded away.
        """
        self._check(words)
        self.notes.append((kind, words, above))

    # States.

    def dim(self, name: str) -> Dim:
        """The dimension of that name; an unknown one raises ValueError with suggestions."""
        for one in self.dims:
            if one.name == name:
                return one
        raise unknown("dim", name, [one.name for one in self.dims])

    def each(self, dims: str, value: Callable[..., Any]) -> By:
        """``value(i, j, …)`` at every place of ``dims``, as a :class:`By`."""
        ranges = [range(self.dim(name).size) for name in dims.split()]
        found = [value(*place) for place in itertools.product(*ranges)]
        shape = tuple(len(one) for one in ranges)
        if isinstance(found[0], str):
            return By(dims, np.array(found, dtype=object).reshape(shape))
        table = np.array(found, float)
        return By(dims, table.reshape(shape + table.shape[1:]))

    def places(self, **state: Any) -> dict[str, int]:
        """The place along every dimension: that of ``state``, else where it starts."""
        for name in state:
            self.dim(name)
        found = {
            one.name: one.index(
                state.get(one.name, one.start if one.names is None else one.names[one.start])
            )
            for one in self.given
        }
        for one in self.dims:
            if one.of is not None:
                place = np.ravel(self.settled(one.of, found))[0]
                found[one.name] = 0 if np.isnan(place) else int(place)
        return found

    def value(self, mark: Mark, channel: str, **state: Any) -> Any:
        """What a channel of ``mark`` holds in a state: an array of numbers, or words."""
        return self.settled(mark.channels[channel], self.places(**state))

    def sentence(self, **state: Any) -> str:
        """The sentence of a state."""
        return str(self.settled(self.says, self.places(**state)))

    def settled(self, value: Any, places: Mapping[str, int]) -> Any:
        """A value of a channel at ``places``."""
        if isinstance(value, Fill):
            holes = {key: self.settled(hole, places) for key, hole in value.holes.items()}
            return self.settled(value.template, places).format(**holes)
        if isinstance(value, Sum):
            return sum(self.settled(part, places) for part in value.parts)
        if isinstance(value, Times):
            vector = self.settled(value.vector, places)
            return self.settled(value.matrix, places).reshape(-1, len(vector)) @ vector
        if isinstance(value, Made):
            return value.work(*(np.atleast_1d(self.settled(part, places)) for part in value.parts))
        if isinstance(value, By):
            found = self.table(value)[tuple(places[name] for name in value.names)]
            return str(found) if isinstance(found, str) else np.asarray(found, float)
        return value if isinstance(value, str) else np.asarray(value, float)

    def table(self, by: By) -> np.ndarray:
        """The values of ``by`` with one entry a place; stops alone are filled up to all places."""
        words = _words(by.values)
        found = np.asarray(by.values, object if words else float)
        for axis, name in enumerate(by.names):
            one = self.dim(name)
            if one.keys is not None and found.shape[axis] == len(one.stops) != one.size:
                found = _between(found, axis, one.keys, words)
        return found

    def longest(self, words: Words, many: int = 3) -> list[str]:
        """The longest texts that ``words`` can be: they need the most room."""
        if isinstance(words, Made):
            return [words.longest]
        if isinstance(words, Fill):
            holes = {key: self.longest(hole, 1)[0] for key, hole in words.holes.items()}
            return [one.format(**holes) for one in self.longest(words.template, many)]
        if isinstance(words, str):
            return [words]
        return sorted(set(np.ravel(words.values).tolist()), key=len, reverse=True)[:many]

    def _check(self, value: Any) -> None:
        """A clear error for a By whose table does not fit its dimensions, and for a hole's."""
        for one in _parts(value):
            if not isinstance(one, By):
                continue
            wanted = tuple(self.dim(name).size for name in one.names)
            found = self.table(one).shape[: len(wanted)]
            if found != wanted:
                raise ValueError(f"By({one.dims!r}) holds {found} values; {wanted} are needed")

    def _stack(self, *parts: Any) -> Any:
        """Numbers that are said one by one, as one value: each may depend on other dimensions."""
        if isinstance(parts[0], WHOLE):  # which are whole places
            return parts[0]
        by = [part for part in parts if isinstance(part, By)]
        for part in by:
            self._check(part)
        if not by:
            return np.array(parts, float)
        asked = {name for part in by for name in part.names}
        for name in asked:
            self.dim(name)
        names = [one.name for one in self.dims if one.name in asked]
        spread = [self._spread(part, names) for part in parts]
        return By(" ".join(names), np.stack(np.broadcast_arrays(*spread), axis=-1))

    def _spread(self, part: Any, names: Sequence[str]) -> np.ndarray:
        """A number's table with one axis for each of ``names``."""
        if not isinstance(part, By):
            return np.asarray(part, float).reshape((1,) * len(names))
        order = [part.names.index(name) for name in names if name in part.names]
        table = self.table(part).transpose(order)
        sizes = [self.dim(name).size if name in part.names else 1 for name in names]
        return np.broadcast_to(table.reshape(sizes), sizes)


def _parts(value: Any) -> list[Any]:
    """The values that one of a channel is made of."""
    if isinstance(value, Fill):
        return [one for part in (value.template, *value.holes.values()) for one in _parts(part)]
    if isinstance(value, (Sum, Made)):
        return [one for part in value.parts for one in _parts(part)]
    return [*_parts(value.matrix), value.vector] if isinstance(value, Times) else [value]


def _words(values: Any) -> bool:
    """Whether a table holds words."""
    first = values
    while isinstance(first, (list, tuple, np.ndarray)):
        if len(first) == 0:
            raise ValueError("a By needs a value for each place; it has none")
        first = first[0]
    return isinstance(first, str)


def _between(table: np.ndarray, axis: int, keys: Sequence[int], words: bool) -> np.ndarray:
    """One value a place from one a stop: straight between numbers, half-way for words."""
    places = np.arange(keys[-1] + 1)
    stop = np.interp(places, keys, np.arange(len(keys)))
    if words:
        return np.take(table, np.floor(stop + 0.5).astype(int), axis)
    low = np.minimum(np.floor(stop).astype(int), len(keys) - 2)
    share = (stop - low).reshape([-1 if a == axis else 1 for a in range(table.ndim)])
    a, b = np.take(table, low, axis), np.take(table, low + 1, axis)
    return np.asarray(np.where(share == 0, a, np.where(share == 1, b, a + (b - a) * share)))


# What the browser gets: every table once, as whole numbers in one buffer.
#
# A table loses each dimension along which nothing changes. Rows that are alike are kept once. On a
# path only the places are kept between which a straight line would lead astray. Where few numbers
# of a mark change, each of them is a table of its own: marks that share one keep it once. The
# sheets of a picture share one buffer and one pool of words.

SCALE = {  # steps of a unit
    "points": 16, "box": 16, "at": 16, "turn": 100, "opacity": 1000, "stop": 1, "matrix": 1000,
    "vector": 64,
}  # fmt: skip
MISSING = -32768  # a place that is not a number: the mark is not there
LONG = 90  # letters of a part from which it is kept once
_MOST = 32767
_LONG = 64  # numbers of a matrix that stays the same, from which on it is a table
_FEW = 3  # numbers of a mark that change, at most, for each to be a table of its own


class Packer:
    """Turns the channels of a scene into tables in one buffer, and its words into one pool."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.texts: dict[str, int] = {}
        self.rulers: dict[str, Any] = {}
        self._exact: list[np.ndarray] = []
        self._parts: list[np.ndarray] = []
        self._packed_words: dict[int, tuple[By, Any]] = {}
        self._where: dict[tuple[bool, bytes], int] = {}
        self._lengths = {False: 0, True: 0}  # of the buffer, and of the one of exact numbers

    @property
    def buffer(self) -> bytes:
        """All tables, as little-endian 16-bit integers."""
        return np.concatenate([np.zeros(0, "<i2"), *self._parts]).astype("<i2").tobytes()

    @property
    def exact(self) -> bytes:
        """Tables of exact numbers, as little-endian 32-bit floats."""
        return np.concatenate([np.zeros(0, "<f4"), *self._exact]).astype("<f4").tobytes()

    def track(self, value: Any, channel: str) -> Any:
        """What a browser reads a channel from: a constant, a table, or a template with holes."""
        if isinstance(value, Fill):
            holes = {key: self.track(hole, "text") for key, hole in value.holes.items()}
            return {"template": self.track(value.template, "text"), "holes": holes}
        if isinstance(value, Made):
            return self._made(value)
        if isinstance(value, Sum):
            return {"sum": [self.track(part, channel) for part in value.parts]}
        if isinstance(value, Times):
            matrix, vector = self.track(value.matrix, "matrix"), self.track(value.vector, "vector")
            return {"matrix": matrix, "vector": vector}
        if isinstance(value, str):
            return value
        if not isinstance(value, By):
            digits = 6 if channel == "exact" else 3
            if channel == "matrix" and np.size(value) > _LONG:  # shorter as bytes than as JSON
                codes = _coded(np.ravel(value), 0, SCALE[channel])
                return self._packed(codes, [], False, SCALE[channel])
            return [None if np.isnan(v) else round(v, digits) for v in np.ravel(value).tolist()]
        table = self.scene.table(value)
        words = table.dtype == object
        if channel == "exact" and not words:
            return self._packed_exact(value, table)
        if words:  # those that are used again and again are looked through once
            if id(value) not in self._packed_words:
                found = self._packed(self._words(table), list(value.names), True, 1)
                self._packed_words[id(value)] = value, found
            return self._packed_words[id(value)][1]
        codes, scale = _coded(table, len(value.names), SCALE[channel]), SCALE[channel]
        parts, of = _columns(codes)
        if not parts:
            return self._packed(codes, list(value.names), False, scale)
        found = [
            [part.flat[0] / scale]
            if (part == part.flat[0]).all()
            else self._packed(part, list(value.names), False, scale)
            for part in parts
        ]
        return {"parts": found, "of": of}

    def _made(self, value: Made) -> dict[str, Any]:
        found: dict[str, Any] = {"made": value.kind}
        ruler = getattr(value, "ruler", None)
        if ruler is not None:
            self.rulers.setdefault(ruler.name, ruler.packed())
            found["ruler"] = ruler.name
        return found | {"from": [self.track(part, "exact") for part in value.parts]}

    def _packed_exact(self, value: By, table: np.ndarray) -> dict[str, Any]:
        order = [one.name for one in self.scene.dims]
        many = len(value.names)
        data = table.astype("<f4").reshape((*table.shape[:many], -1))
        found = {
            "exact": self._put(data, self._exact), "n": data.shape[-1],
            "dims": [order.index(name) for name in value.names], "shape": [*data.shape[:-1]],
        }  # fmt: skip
        return found

    def _words(self, table: np.ndarray) -> np.ndarray:
        index = [self.texts.setdefault(text, len(self.texts)) for text in table.ravel()]
        if len(self.texts) > 2 * _MOST:
            raise ValueError(f"more than {2 * _MOST} different texts; give fewer states")
        return np.array(index, "<u2").view("<i2").reshape((*table.shape, 1))

    def _packed(self, codes: np.ndarray, names: list[str], words: bool, scale: int) -> Any:
        for axis in reversed(range(len(names))):
            if (codes == codes.take([0], axis)).all():
                codes, _ = codes.take(0, axis), names.pop(axis)
        found: dict[str, Any] = {"n": codes.shape[-1]}
        found |= {"words": True} if words else {"scale": scale}
        keys = {}
        for axis, name in enumerate(names):
            if self.scene.dim(name).path and codes.shape[axis] > 2:
                kept = _kept(np.moveaxis(codes, axis, 0), words)
                if len(kept) < codes.shape[axis]:
                    codes, keys[name] = codes.take(kept, axis), kept
        order = [one.name for one in self.scene.dims]
        found |= {"dims": [order.index(n) for n in names], "shape": [*codes.shape[:-1]]}
        if keys:
            found["keys"] = [keys.get(name) for name in names]
        return found | self._rows(codes)

    def _rows(self, codes: np.ndarray) -> dict[str, int]:
        """Where the table lies; rows along its last dimension are kept once if that is shorter."""
        if codes.ndim < 3:
            return {"at": self._put(codes)}
        rows = codes.reshape(-1, codes.shape[-2] * codes.shape[-1])
        kept, index = np.unique(rows, axis=0, return_inverse=True)
        if kept.size + index.size < 0.8 * rows.size and len(kept) <= _MOST:
            return {"rows": self._put(index.astype("<i2")), "at": self._put(kept)}
        return {"at": self._put(codes)}

    def _put(self, codes: np.ndarray, home: list[np.ndarray] | None = None) -> int:
        exact, home = home is not None, self._parts if home is None else home
        data = np.ascontiguousarray(codes, "<f4" if exact else "<i2").ravel()
        key = (exact, data.tobytes())
        if key not in self._where:
            self._where[key] = self._lengths[exact]
            home.append(data)
            self._lengths[exact] += data.size
        return self._where[key]


def _coded(table: np.ndarray, dims: int, scale: int) -> np.ndarray:
    """A table of numbers as whole steps of 1/scale, one axis for each dimension and one more."""
    flat = table.reshape((*table.shape[:dims], -1))
    steps = np.clip(np.rint(np.nan_to_num(flat, nan=0.0) * scale), -_MOST, _MOST)
    return np.where(np.isnan(flat), MISSING, steps).astype("<i2")


def _columns(codes: np.ndarray) -> tuple[list[np.ndarray], list[int]]:
    """The different numbers of a mark, and which of them each number is; none if many change."""
    many = codes.shape[-1]
    columns = codes.reshape(-1, many)
    if many == 1 or (columns == MISSING).all(axis=0).any():
        return [], []
    different: dict[bytes, int] = {}
    of = [different.setdefault(columns[:, n].tobytes(), len(different)) for n in range(many)]
    kept = [codes[..., of.index(n), None] for n in range(len(different))]
    if sum(bool((part != part.flat[0]).any()) for part in kept) > _FEW:
        return [], []
    return kept, of


def _kept(codes: np.ndarray, words: bool) -> list[int]:
    """The places along the first axis that are needed: between them all lies on a line.

    For words, the places at which they change.
    """
    flat = codes.reshape(len(codes), -1).astype(float)
    last = len(flat) - 1
    changes = np.flatnonzero((flat[1:] != flat[:-1]).any(1)).tolist()  # the place before each
    if words:
        return [0, *(place + 1 for place in changes)]
    kept, start = [0], 0
    while start < last:
        steady = next((place for place in changes if place >= start), last)
        end = max(start + 1, steady)
        while end < last and _straight(flat, start, end + 1):
            end += 1
        kept.append(end)
        start = end
    return kept


def _straight(flat: np.ndarray, start: int, end: int) -> bool:
    if ((flat[start : end + 1] == MISSING) != (flat[start] == MISSING)).any():
        return False
    share = np.linspace(0, 1, end - start + 1)[:, None]
    return bool(
        (abs(flat[start] + share * (flat[end] - flat[start]) - flat[start : end + 1]) < 1).all()
    )


def pack(scene: Scene) -> dict[str, Any]:
    """Return ``scene`` as the player reads it: JSON values, and tables as bytes."""
    return _packed([scene])[0]


def sheets(*scenes: Scene) -> list[dict[str, Any]]:
    """Return the sheets of a picture for a browser; the first one holds what all share.

    That is words, tables, rulers, and in ``pool`` each long part that is said more than once.
    """
    pool: dict[str, int] = {}
    shared = ("texts", "buffer", "exact")
    found = [
        {key: one[key] if key in shared else _pooled(one[key], pool) for key in one}
        for one in _packed(scenes)
    ]
    found[0]["pool"] = [json.loads(one) for one in pool]
    return found


def _packed(scenes: Sequence[Scene]) -> list[dict[str, Any]]:
    packer = Packer(scenes[0])
    found = [_sheet(scene, packer) for scene in scenes]
    found[0] |= {"texts": list(packer.texts), "buffer": packer.buffer}
    if packer.rulers or packer.exact:
        found[0] |= {"rulers": packer.rulers, "exact": packer.exact}
    return found


def _pooled(node: Any, pool: dict[str, int]) -> Any:
    """The same, with each long part of it kept once, in ``pool``: {"ref": its number}."""
    if isinstance(node, list):
        return [_pooled(one, pool) for one in node]
    if not isinstance(node, dict):
        return node
    found = {key: _pooled(one, pool) for key, one in node.items()}
    if len(text := json.dumps(found)) < LONG:
        return found
    return {"ref": pool.setdefault(text, len(pool))}


_GRIP = {"at": "at", "enabled": "stop"}  # what a grip's values are packed as


def _sheet(scene: Scene, packer: Packer) -> dict[str, Any]:
    marks = [_mark(mark, packer) for mark in scene.marks]
    grips = [
        {
            **one,
            "at": packer.track(one["at"], "at"),
            "enabled": packer.track(one["enabled"], "stop"),
        }
        for one in scene.grips
    ]
    presses = [_press(one, packer) for one in scene.presses]
    classes = {name: packer.track(value, "stop") for name, value in scene.classes.items()}
    notes = [[kind, packer.track(words, "text"), above] for kind, words, above in scene.notes]
    controls = [_control(one, packer) for one in scene.controls]
    return {
        "width": scene.width, "height": scene.height,
        "dims": [_dim(one, packer) for one in scene.dims],
        "marks": marks, "controls": controls, "grips": grips, "presses": presses,
        "classes": classes,
        "says": packer.track(scene.says, "text"), "longest": _longest(scene), "notes": notes,
    }  # fmt: skip


def _longest(scene: Scene) -> list[str]:
    """The sentences that need the most room, so that the picture can keep it."""
    points = [mark.look["point"] for mark in scene.marks if "point" in mark.look]
    every = {text for words in (scene.says, *points) for text in scene.longest(words)}
    return sorted(every, key=len, reverse=True)[:3]


def _dim(one: Dim, packer: Packer) -> dict[str, Any]:
    return ({"trail": one.trail} if one.trail else {}) | {
        "name": one.name, "stops": [*one.stops], "names": one.names and [*one.names],
        "keys": one.keys and [*one.keys], "glide": one.glide, "free": one.free, "even": one.even,
        "once": one.once,
        "of": None if one.of is None else packer.track(one.of, "stop"),
    }  # fmt: skip


def _control(one: dict[str, Any], packer: Packer) -> dict[str, Any]:
    if one["kind"] == "choice":
        return {**one, "off": packer.track(one["off"], "stop")}
    if one["kind"] == "menu":
        labels = [packer.track(words, "text") for words in one["labels"]]
        enabled = [packer.track(number, "stop") for number in one["enabled"]]
        also = {name: packer.track(value, "stop") for name, value in one["also"].items()}
        return {**one, "labels": labels, "enabled": enabled, "also": also}
    if one["kind"] != "button":
        return one
    states = [key for key in ("shown", "enabled", "pressed") if one[key] is not None]
    numbers = {key: packer.track(one[key], "stop") for key in states}
    return {**_press(one, packer), **numbers}


def _press(one: dict[str, Any], packer: Packer) -> dict[str, Any]:
    """A button or a mark that is pressed, with what both have."""
    words: dict[str, Any] = {
        key: packer.track(one[key], "text") for key in ("label", "says") if key in one
    }
    sets = {name: packer.track(value, "stop") for name, value in one["sets"].items()}
    return {**one, **words, "sets": sets, "enabled": packer.track(one["enabled"], "stop")}


def _mark(mark: Mark, packer: Packer) -> dict[str, Any]:
    look = {key: value for key, value in mark.look.items() if value not in ([], None, False)}
    if "point" in look:
        look["point"] = packer.track(look["point"], "text")
    if mark.kind == "dot":
        look["outline"] = outline(mark.look["shape"], mark.look["size"])
    channels = {name: packer.track(value, name) for name, value in mark.channels.items()}
    return {"kind": mark.kind, "name": mark.name, "look": look, "channels": channels}


def outline(shape: str, size: float) -> str:
    """A glyph of :data:`GLYPHS` as the path of an SVG, ``size`` pixels from middle to edge."""
    if shape == "circle":
        return f"M{-size} 0a{size} {size} 0 1 0 {2 * size} 0a{size} {size} 0 1 0 {-2 * size} 0z"
    corners = " ".join(f"{x * size / GLYPH:g} {y * size / GLYPH:g}" for x, y in GLYPHS[shape])
    return f"M{corners}z"


def drawn(scene: Scene, **state: Any) -> Iterable[tuple[Mark, dict[str, Any]]]:
    """The marks that are seen in a state, with what their channels hold there."""
    places = scene.places(**state)
    for mark in scene.marks:
        held = {name: scene.settled(value, places) for name, value in mark.channels.items()}
        opacity = held["opacity"] = float(held["opacity"])
        spot = next(held[name] for name in ("points", "box", "at") if name in held)
        if opacity > 0 and not np.isnan(spot).any():
            yield mark, held

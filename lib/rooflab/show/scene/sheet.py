"""A sheet with marks, what moves them, and what they are in each state."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rooflab.count.validation import unknown
from rooflab.show.scene.values import (
    FONT,
    GLYPHS,
    WHOLE,
    By,
    Dim,
    Fill,
    Made,
    Mark,
    Number,
    Place,
    Sum,
    Times,
    Words,
    between,
    parts_of,
    words_in,
)


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
        dash: Sequence[float] | By = (), fill: Words | None = None, closed: bool | None = None,
        **more: Any,
    ) -> Mark:  # fmt: skip
        """A line through ``points``: pairs of numbers (or :class:`By`), or one By of pairs.

        A :class:`Sum` or :class:`Times` stands for all numbers in a row.

        ``fill`` paints the area inside. ``closed`` joins its ends, as it does by default where
        there is a fill. ``dash`` are lengths on and off; a By holds them as words, "4 3", or none.
        """
        if not isinstance(points, (By, *WHOLE)):
            points = self._stack(*(part for point in points for part in point))
        joined = fill is not None if closed is None else closed
        lengths, changing = ([], dash) if isinstance(dash, By) else ([*dash], None)
        look = {"width": width, "dash": lengths, "closed": joined}
        channels = {"points": points, "ink": ink, "fill": fill, "dash": changing}
        return self._add("line", channels, look, more)

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
        self._check(*kept.values())
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
        self._control("slider", dim=dim, label=label, at=places, y=y, above=False, more=more)

    def choice(self, dim: str, legend: str, labels: Sequence[str], *, off: Number = 0) -> None:
        """A row of buttons, one a stop of ``dim``; ``legend`` names the row for screen readers.

        ``off`` is 1 at the stops of ``dim`` that cannot be pressed in a state.
        """
        if len(labels) != len(self.dim(dim).stops):
            raise ValueError(f"labels={list(labels)!r} must be one a stop of {dim}")
        self._check(off)
        self._control("choice", dim=dim, label=legend, labels=[*labels], off=off)

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
        self._check(*labels, *enabled, **also)
        usable = [*enabled] or [1] * many
        self._control("menu", dim=dim, label=label, labels=[*labels], groups=[*groups],
                      enabled=usable, also=also)  # fmt: skip

    def switch(self, dim: str, label: str, *, more: bool = False) -> None:
        """A button that turns ``dim`` from its first stop to its second and back.

        ``more``: it is folded away until somebody asks for more.
        """
        if len(self.dim(dim).stops) != 2:
            raise ValueError(f"{dim} has {len(self.dim(dim).stops)} stops; a switch turns two")
        self._control("switch", dim=dim, label=label, more=more)

    def play(self, dim: str) -> None:
        """A button that walks through all stops of ``dim``."""
        self._control("play", dim=dim, labels=["▶ run", "❚❚ stop", "↺ again"])

    def button(
        self, label: Words, sets: Mapping[str, Number], *, shown: Number = 1, enabled: Number = 1,
        kind: str = "", key: str = "", above: bool = False,
    ) -> None:  # fmt: skip
        """A button that brings dimensions to the stops ``sets``, each a number or By of numbers.

        ``shown`` and ``enabled`` are 1 or 0 in every state; ``kind`` is its CSS class. ``key``
        presses it too, anywhere in the picture: the name that a browser gives the key.
        """
        self._check(label, shown, enabled, **sets)
        self._control("button", label=label, sets=dict(sets), shown=shown, enabled=enabled,
                      above=above, key=key, **{"class": kind})  # fmt: skip

    def _control(self, kind: str, **more: Any) -> None:
        """Add a control of that kind, which stands above the sheet where it does not say so."""
        self.controls.append({"kind": kind, "above": True, **more})

    def grip(
        self, dims: str, x: Place, y: Number | None, *, area: Sequence[float] | Mark,
        hover: bool = False, label: str = "", ghost: str = "", enabled: Number = 1,
        spring: bool = False, glide: bool = False, sets: Mapping[str, int] | None = None,
    ) -> None:  # fmt: skip
        """Make ``area`` (left, top, right, bottom, or a mark) a place to pull at.

        While it is pulled, the stops of ``dims`` become those at which (x, y) lies nearest to the
        pointer; where that is not a number, nothing can be pulled to. ``hover``: pointing is
        enough, and what is left goes back to its first stop. ``label``: a name for the keyboard,
        for a grip of one dimension that has no slider. Arrow keys then move it, and Enter presses
        the first button of the kind "confirm". ``ghost``: a dimension with as many stops as the
        grip's own, which takes the stop that is only pointed at, and 0 when nothing is. ``enabled``
        is 1 or 0 in every state. ``spring``: what is pulled gives a little, and goes back when it
        is let go; it has no dims. ``glide``: from stop to stop it takes the time of its dimension,
        also in a hand. ``sets``: dimension → stop, set at each touch.
        """
        for name in (*dims.split(), *ghost.split(), *(sets or {})):
            self.dim(name)
        found: Any = self.marks.index(area) if isinstance(area, Mark) else [*map(float, area)]
        grip = {
            "dims": dims.split(), "area": found, "at": self._stack(x, y), "label": label,
            "sets": dict(sets or {}), "ghost": ghost, "hover": hover, "spring": spring,
            "glide": glide, "enabled": enabled,
        }  # fmt: skip
        self._check(grip["at"], enabled)
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
        self._check(label, enabled, says, **sets)
        self.presses.append(
            {"mark": self.marks.index(mark), "sets": dict(sets), "label": label,
             "enabled": enabled, "key": key, "says": says}
        )  # fmt: skip

    def note(self, words: Words, kind: str = "origin", *, above: bool = False) -> None:
        """A line under the sentence, or ``above`` the sheet; empty words take no room.

        ``kind`` is its CSS class: "origin" is small, "title" bold, "code" in the letters of code,
        "more" stands with the controls that are folded away, and so does "more code".
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
        words = words_in(by.values)
        found = np.asarray(by.values, object if words else float)
        for axis, name in enumerate(by.names):
            one = self.dim(name)
            if one.keys is not None and found.shape[axis] == len(one.stops) != one.size:
                found = between(found, axis, one.keys, words)
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

    def _check(self, *values: Any, **sets: Any) -> None:
        """Raise ValueError for a By that does not fit its dimensions, or an unknown dimension."""
        for name in sets:
            self.dim(name)
        for one in (part for value in (*values, *sets.values()) for part in parts_of(value)):
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
        self._check(*by)
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


def drawn(scene: Scene, **state: Any) -> Iterable[tuple[Mark, dict[str, Any]]]:
    """The marks that are seen in a state, with what their channels hold there."""
    places = scene.places(**state)
    for mark in scene.marks:
        held = {name: scene.settled(value, places) for name, value in mark.channels.items()}
        opacity = held["opacity"] = float(np.ravel(held["opacity"])[0])
        spot = next(held[name] for name in ("points", "box", "at") if name in held)
        if opacity > 0 and not np.isnan(spot).any():
            yield mark, held

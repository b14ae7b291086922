"""The waterfall: from the roofline's bound, factor by factor, to the measured time.

Rows on a sheet, from the bound down to the time.
"""

from __future__ import annotations

import itertools
import math
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from reprlib import repr as short
from typing import TYPE_CHECKING, Any

import numpy as np

from rooflab.count.operation import Operation
from rooflab.count.si import times
from rooflab.measure.this_machine import explain as explain_here
from rooflab.predict.explain import NEW_PAGES, Explanation
from rooflab.predict.machine import Machine
from rooflab.show import figures
from rooflab.show.falls import BOUND, REST, Fall, of_explanation, seconds_of, window
from rooflab.show.figures import Panel, Picture
from rooflab.show.scene import Scene
from rooflab.show.scene.axes import Scale

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from rooflab.measure.measurement import Measurement

KEY = {"slower": "longer", "faster": "shorter", "rest": "unexplained"}
LOOKS = {"slower": ("ink", "ink"), "faster": ("ink", "paper"), "rest": ("soft", "paper")}
RULE = "Each bar starts where the last one ended."
AXIS = "times the bound (equal factors, equal lengths)"
NAMES, TIMES, LANE = 293, 92, 12  # pixels: where names end, room of the times, beside the bars
STACKED = 560  # pixels of a sheet on which bars begin to have room beside their names
LINE, BAR, NOTE = 17, 20, 13  # pixels of a line of notes, of a bar's height, of a note's letters
STRIP = 11  # pixels above and below the middle of a bar that are free of words
WRAP = 36  # letters of a line of notes on a figure
TICK = 64  # pixels at least between two ticks, which are these multiples of powers of ten
MULTIPLES = (1, 1.2, 1.5, 2, 3, 5, 7), (1, 1.5, 2, 3, 5), (1, 2, 5)
WITH_RULE = 700  # pixels of the narrowest sheet whose key has room for the rule beside it
ARROWS = {"slower": " →", "faster": " ←", "same": ""}
#: What the time of a step goes into. The roofs are ink, as everywhere; the rest is not known.
INKS = {
    "measured roof": "ink", "level and mix": "carrying", "call overhead": "overhead",
    "routine efficiency": "computing", NEW_PAGES: "overhead", REST: "soft",
}  # fmt: skip


@dataclass(frozen=True)
class Row:
    """What stands in a row: words, and both ends of its ``bar``, if it has one.

    Places are decades from the bound. ``end``: where the next row begins. ``ink`` is the colour of
    the bar's edge and of the factor, ``fill`` the bar's own.
    """

    name: str
    time: str
    notes: Sequence[str] = ()
    factor: str = ""
    ink: str = "ink"
    fill: str = "ink"
    bar: tuple[float, float] | None = None
    end: float = 0.0


class Sheet:
    """The rows of a waterfall on a scene, the first of them at ``top``.

    ``ends``: those of the axis, in decades.
    """

    def __init__(
        self, scene: Scene, rows: Sequence[Row], top: float, ends: tuple[float, float]
    ) -> None:
        self.scene, self.rows, self.stacked = scene, rows, scene.width < STACKED
        highs = (
            LINE * len(row.notes) + (47 if self.stacked else max(30, 36 - LINE * len(row.notes)))
            for row in rows
        )
        #: The upper edge of every row, and the lower edge of the last.
        self.tops = [*itertools.accumulate(highs, initial=top)]
        scene.height = self.tops[-1] + 44
        self.x = Scale(*ends, *lane(scene.width))

    def middle(self, number: int) -> float:
        """The height at which the bar of a row lies."""
        top, bottom = self.tops[number : number + 2]
        return top + 34 if self.stacked else (top + bottom) / 2

    def draw(self) -> None:
        """Key, axis and rows."""
        self._key()
        self._axis()
        scene, last = self.scene, len(self.rows) - 1
        for number, row in enumerate(self.rows[1:-1], 1):
            self._upright(row.end, self.middle(number), self.middle(number + 1), "soft", 1.2)
        for number, row in enumerate(self.rows):
            self._words(number, row)
            if row.bar is not None:
                begin, end = map(self.x, row.bar)
                corners = box(begin, end, self.middle(number), BAR)
                self._bar(corners, row.ink, row.fill, f"bar {row.name.replace(' ', '-')}")
        scene.dot(self.x(0), self.middle(0), "diamond", name="stop bound")
        end = self.x(self.rows[last].end)
        scene.dot(end, self.middle(last), "diamond", ink="ink", name="stop end")

    def _axis(self) -> None:
        """The lines of round factors, and of the bound."""
        scene, top, bottom, x = self.scene, self.tops[0], self.tops[-1], self.x
        look: dict[str, Any] = {"size": NOTE, "anchor": "middle"}
        for place, label in _ticks(x):
            if place:
                scene.line([(x(place), top), (x(place), bottom)], "grid", 1, name="grid")
                scene.text(x(place), bottom + 17, label, name="tick", **look)
        self._upright(0, top, bottom, "ink", 1.6)
        scene.text(x(0), bottom + 17, "×1", bold=True, name="tick", **look)
        scene.text((x.start + x.end) / 2, bottom + 37, AXIS, "soft", name="axis", **look)

    def _upright(self, place: float, top: float, bottom: float, ink: str, width: float) -> None:
        """A line at a decade; on a narrow sheet, its parts beside the bars, that meet no words."""
        middles, x = map(self.middle, range(len(self.rows))), self.x(place)
        strips = (
            [(one - STRIP, one + STRIP) for one in middles] if self.stacked else [(top, bottom)]
        )
        for up, low in strips:
            if max(top, up) < min(bottom, low):
                self.scene.line([(x, max(top, up)), (x, min(bottom, low))], ink, width)

    def _key(self) -> None:
        """What the looks of bars mean, over the first row; on a narrow sheet below the rule."""
        scene, y, x = self.scene, self.tops[0] - 9, 8.0
        first = y - 19 if self.stacked else y
        look: dict[str, Any] = {"size": NOTE, "name": "key"}
        for kind, word in KEY.items():
            self._bar(box(x, x + 22, y - 4.5, 14), *LOOKS[kind], "key")
            label = word + ARROWS.get(kind, "")
            scene.text(x + 28, y, label, **look)
            x += 28 + 0.62 * NOTE * len(label) + 12
        if self.stacked or scene.width >= WITH_RULE:
            scene.text(8 if self.stacked else x, first, RULE, "soft", **look)
        scene.text(scene.width - 8, first, "time so far", "soft", anchor="end", **look)

    def _words(self, number: int, row: Row) -> None:
        scene, y, right = self.scene, self.tops[number], self.scene.width - 8
        scene.line([(8, y), (right, y)], "grid", 1, name="rule")
        y += 19
        scene.text(8, y, row.name, bold=True, halo=True, name="name")
        look: dict[str, Any] = {"bold": True, "anchor": "end", "halo": self.stacked}
        at = right - 100 if self.stacked else NAMES
        scene.text(at, y, row.factor, row.ink, name="factor", **look)
        last = number == len(self.rows) - 1
        below = y if self.stacked else self.middle(number) + 5
        scene.text(right, below, row.time, anchor="end", bold=last, halo=True, name="time")
        first = y + 38 if self.stacked else y + LINE
        for line, note in enumerate(row.notes):
            scene.text(8, first + LINE * line, note, "soft", size=NOTE, halo=True, name="note")

    def _bar(self, corners: Any, ink: str, fill: str, name: str) -> None:
        """A closed line; around what is not known it is dashed."""
        dash = (4, 3) if ink == INKS[REST] else ()
        self.scene.line(corners, ink, 2, fill=fill, closed=True, dash=dash, name=name)


def _ticks(x: Scale) -> list[tuple[float, str]]:
    """Decades of round factors with their labels, as many as have room beside each other."""
    decade, tens = x(1.0) - x(0.0), range(math.floor(x.lo), math.ceil(x.hi))
    for multiples in MULTIPLES:
        if decade * np.diff(np.log10([*multiples, 10])).min() >= TICK:
            ticks = [(n + math.log10(m), times(m * 10.0**n, 2)) for n in tens for m in multiples]
            return [(place, label) for place, label in ticks if x.lo <= place <= x.hi]
    every = math.ceil(TICK / decade)
    powers = [n for n in tens if n >= x.lo and n % every == 0]
    return [(n, times(10.0**n, 2) if abs(n) <= 3 else f"×1e{n}") for n in powers]


def box(begin: float, end: float, middle: float, high: float) -> list[tuple[float, float]]:
    """The corners of a bar."""
    up, low = middle - high / 2, middle + high / 2
    return [(begin, up), (end, up), (end, low), (begin, low)]


def lane(wide: float) -> tuple[float, float]:
    """Left and right edge of the bars on a sheet ``wide`` pixels wide."""
    return (20, wide - 20) if wide < STACKED else (NAMES + LANE, wide - TIMES)


# The still picture: ``rl.show.waterfall(measurement)``, from the bound to the measured time.


def waterfall(
    measured: Measurement | Operation,
    machine: Machine | str | None = None,
    seconds: float | None = None,
    *,
    cache: str | None = None,
    ax: Axes | None = None,
    width: float | None = None,
) -> Picture | Panel:
    """Draw where a measured time went: a bar a factor, from the roofline's bound to the time.

    The axis is logarithmic, so equal factors have equal lengths. The arguments are those of
    ``rl.explain``; ``ax`` draws into axes of yours, ``width`` is in inches: 3.3 for a paper's
    column, 7 for a post. The ``words`` of what comes back say what it shows, ``save(path)`` writes
    a pdf, svg or png.

    >>> op = rl.gemm(4096, 4096, 4096, "fp16")
    >>> print(rl.show.waterfall(op, "H100-SXM", seconds=200e-6).words)
    GEMM 4096×4096×4096 fp16 in 200 µs on NVIDIA H100 SXM5 80 GB: 687 TFLOP/s, 69 % of the ...
    roofline bound: 139 µs (989 TFLOP/s peak, 3.35 TB/s memory, datasheet).
    unexplained ×1.44: 200 µs (what none of the steps above accounts for).
    measured: 200 µs, ×1.44 the bound (the bound is that of the peak).
    """
    if isinstance(measured, Explanation):
        given = {"machine": machine, "seconds": seconds, "cache": cache}
        for name, value in given.items():
            if value is not None:
                raise TypeError(f"{name}={value!r}: an Explanation already has its own")
        fall = of_explanation(measured)
    elif isinstance(getattr(measured, "op", measured), Operation):
        fall = of_explanation(explain_here(measured, machine, seconds, cache=cache))
    else:
        raise TypeError(
            f"measured={short(measured)} is a {type(measured).__name__}; "
            "give a Measurement, an Explanation, or an Operation with machine= and seconds="
        )
    return figures.painted(partial(fall_scene, fall), fall.words, ax, width)


def fall_scene(fall: Fall, width: float = 760) -> Scene:
    """The picture of one waterfall, its sentence above it."""
    scene = Scene(width, 0, [], says=fall.words)
    lines = textwrap.wrap(fall.sentence, int((width - 16) / 9.2))
    for number, line in enumerate(lines):
        scene.text(8, 22 + 20 * number, line, name="say")
    rows = [Row(BOUND, seconds_of(fall.start), textwrap.wrap(fall.note, WRAP))]
    for step in fall.steps:
        begin, end = step.start - fall.start, step.end - fall.start
        ink = INKS.get(step.name, "ink")
        hollow = step.kind == "faster" or not step.explained
        rows.append(
            Row(step.name, step.seconds, textwrap.wrap(step.note, WRAP),
                step.factor + ARROWS[step.kind], ink, "paper" if hollow else ink, (begin, end), end)
        )  # fmt: skip
    total = f"{fall.reached}: {fall.total} the bound"
    rows.append(Row(total, seconds_of(fall.end), [fall.roof], end=rows[-1].end))
    lo, hi = window(fall.places, 0.06)
    top = 20 * len(lines) + (57 if width < STACKED else 38)
    Sheet(scene, rows, top, (lo - fall.start, hi - fall.start)).draw()
    return scene

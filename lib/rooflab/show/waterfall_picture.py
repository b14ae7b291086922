"""The waterfall: from the roofline's bound, factor by factor, to the measured time."""

from __future__ import annotations

import dataclasses
import io
import math
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import product, zip_longest
from typing import TYPE_CHECKING, Any

import ipywidgets
import numpy as np
from matplotlib.figure import Figure
from matplotlib.image import imread, imsave

from rooflab.count.dtypes import DType
from rooflab.count.operation import Operation
from rooflab.count.si import si
from rooflab.measure.this_machine import explain as explain_here
from rooflab.predict.estimate import CACHES, peak_of, predict
from rooflab.predict.explain import Explanation, explain
from rooflab.predict.machine import Machine
from rooflab.show import canvas, captions, figures
from rooflab.show.falls import (
    ALLOWED,
    BOUND,
    EXPECTED,
    REST,
    ROOF,
    SAID_BOUND,
    SAID_END,
    SAID_STEP,
    UNTIMED,
    Fall,
    WaterfallStep,
    of_bound,
    of_explanation,
    of_prediction,
    seconds_of,
    ticks,
    why_it_stops,
    window,
)
from rooflab.show.figures import Panel, Picture
from rooflab.show.rooflines.ceiling_lines import CHOICES, missing
from rooflab.show.rooflines.machine_choices import Offer
from rooflab.show.rooflines.tables import Series, Tables
from rooflab.show.scene import By, Dim, Fill, Number, Scene, Words, painter
from rooflab.show.scene.axes import Scale
from rooflab.show.scene.player import Player

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from rooflab.measure.measurement import Measurement
    from rooflab.show.box import BoxView

# The picture: rows on a sheet, from the bound down to the time. What stands in a row comes from one
# Fall or, in the live picture, from the tables of many: each place and each word is a plain value
# or one by state. One drawing serves both.


SINGLE = "The steps are worked out for a single problem: set the batch to 1."
SIDE = {"cold": "This is the cold side.", "warm": "This is the warm side."}
KEY = {"slower": "longer", "faster": "shorter", "rest": "unexplained"}
LOOKS = {"slower": ("ink", "ink"), "faster": ("ink", "paper"), "rest": ("soft", "paper")}
RULE = "Each bar starts where the last one ended."
AXIS = "times the bound (equal factors, equal lengths)"
NAMES, TIMES, LANE = 293, 92, 12  # pixels: where names end, room of the times, beside the bars
WIDE, NARROW = 720, 400  # pixels of the two live sheets; on the narrow one bars lie below names
LINE, BAR, NOTE = 17, 20, 13  # pixels of a line of notes, of a bar's height, of a note's letters
TICK = 64  # pixels at least between two ticks
WITH_RULE = 700  # pixels of the narrowest sheet whose key has room for the rule beside it
FAINT = 0.45  # how clear the name of a step is that is not there
ARROWS = {"slower": " →", "faster": " ←", "same": ""}
#: What the time of a step goes into. The roofs are ink, as everywhere; the rest is not known.
INKS = {
    "measured roof": "ink", "level and mix": "carrying", "call overhead": "overhead",
    "routine efficiency": "computing", REST: "soft",
}  # fmt: skip


@dataclass(frozen=True)
class Row:
    """What stands in a row: words, and both ends of its ``bar``, if it has one.

    ``end``: where the next row begins. ``ink`` is the colour of the bar's edge and of the factor,
    ``fill`` the bar's own. ``shown``: how clear the name is.
    """

    name: Words
    time: Words
    notes: Sequence[Words] = ()
    factor: Words = ""
    ink: str = "ink"
    fill: Words = "ink"
    bar: tuple[Number, Number] | None = None
    end: Number = math.nan
    shown: Number = 1


@dataclass(frozen=True)
class Sheet:
    """The rows of a waterfall on a scene, the first of them at ``top``."""

    scene: Scene
    rows: Sequence[Row]
    top: float

    @property
    def stacked(self) -> bool:
        """Whether bars lie below their names, for want of room beside them."""
        return stacks(self.scene.width)

    @property
    def tops(self) -> list[float]:
        """The upper edge of every row, and the lower edge of the last."""
        found = [self.top]
        for row in self.rows:
            lines = LINE * len(row.notes)
            found.append(found[-1] + (47 if self.stacked else max(30, 36 - lines)) + lines)
        return found

    def middle(self, number: int) -> float:
        """The height at which the bar of a row lies."""
        top, bottom = self.tops[number : number + 2]
        return top + 34 if self.stacked else (top + bottom) / 2

    def draw(self, ticks: Sequence[tuple[Number, Words]], hollow: Words = "ink") -> None:
        """All of it: key, axis, rows. ``hollow`` is what the mark of the last row is filled with.

        It ends 44 pixels below the last row.
        """
        self._key()
        scene, bottom, last = self.scene, self.tops[-1], len(self.rows) - 1
        zero = self.rows[0].end
        for x, label in ticks:
            scene.line([(x, self.top), (x, bottom)], "grid", 1, name="grid")
            scene.text(x, bottom + 17, label, size=NOTE, anchor="middle", name="tick")
        scene.line([(zero, self.top), (zero, bottom)], "ink", 1.6, name="one")
        scene.text(zero, bottom + 17, "×1", anchor="middle", bold=True, size=NOTE, name="tick")
        middle = sum(lane(scene.width)) / 2
        scene.text(middle, bottom + 37, AXIS, "soft", size=NOTE, anchor="middle", name="axis")
        for number, row in enumerate(self.rows[1:-1], 1):
            points = [(row.end, self.middle(number)), (row.end, self.middle(number + 1))]
            scene.line(points, "soft", 1.2, name="link")
        for number, row in enumerate(self.rows):
            self._words(number, row)
            if row.bar is not None:
                name = f"bar {str(row.name).replace(' ', '-')}"
                self._box(row.bar, self.middle(number), BAR, row.ink, row.fill, name)
        scene.dot(zero, self.middle(0), "diamond", name="stop bound")
        if last:
            end = self.rows[last].end
            scene.dot(end, self.middle(last), "diamond", fill=hollow, ink="ink", name="stop end")

    def _key(self) -> None:
        """What the looks of bars mean, over the first row; on a narrow sheet below the rule."""
        scene, y, x = self.scene, self.top - 9, 8.0
        right, first = scene.width - 8, y - 19 if self.stacked else y
        for kind, word in KEY.items():
            ink, fill = LOOKS[kind]
            self._box((x, x + 22), y - 4.5, 14, ink, fill, "key")
            said = word + ARROWS.get(kind, "")
            scene.text(x + 28, y, said, size=NOTE, name="key")
            x += 28 + 0.62 * NOTE * len(said) + 12
        if self.stacked or scene.width >= WITH_RULE:
            scene.text(8 if self.stacked else x, first, RULE, "soft", size=NOTE, name="key")
        scene.text(right, first, "time so far", "soft", size=NOTE, anchor="end", name="key")

    def _words(self, number: int, row: Row) -> None:
        scene, y, right = self.scene, self.tops[number], self.scene.width - 8
        scene.line([(8, y), (right, y)], "grid", 1, name="rule")
        y += 19
        scene.text(8, y, row.name, bold=True, halo=True, opacity=row.shown, name="name")
        at = right - 100 if self.stacked else NAMES
        scene.text(
            at, y, row.factor, row.ink, bold=True, anchor="end", halo=self.stacked, name="factor"
        )
        last = number == len(self.rows) - 1
        below = y if self.stacked else self.middle(number) + 5
        scene.text(right, below, row.time, anchor="end", bold=last, halo=True, name="time")
        first = y + 38 if self.stacked else y + LINE
        for line, note in enumerate(row.notes):
            scene.text(8, first + LINE * line, note, "soft", size=NOTE, halo=True, name="note")

    def _box(
        self, ends: tuple[Number, Number], y: float, high: float, ink: str, fill: Words, name: str
    ) -> None:
        """A bar between two places; the edge of what is not known is dashed."""
        (begin, end), low, up = ends, y + high / 2, y - high / 2
        corners = [(begin, up), (end, up), (end, low), (begin, low)]
        dash = (4, 3) if ink == INKS[REST] else ()
        self.scene.line(corners, ink, 2, fill=fill, closed=True, dash=dash, name=name)


def fill_of(step: WaterfallStep) -> str:
    """What a bar is filled with: what makes the time shorter is hollow, as is what is not known."""
    hollow = step.kind == "faster" or not step.explained
    return "paper" if hollow else INKS.get(step.name, "ink")


def stacks(wide: float) -> bool:
    """Whether a sheet ``wide`` pixels wide has its bars below their names."""
    return wide < 560


def lane(wide: float) -> tuple[float, float]:
    """Left and right edge of the bars on a sheet ``wide`` pixels wide."""
    return (20, wide - 20) if stacks(wide) else (NAMES + LANE, wide - TIMES)


def ticks_of(lo: float, hi: float, wide: float) -> list[tuple[float, str]]:
    """Pixels and labels of the ticks between ``lo`` and ``hi`` decades, the bound left out."""
    left, right = lane(wide)
    scale = Scale(lo, hi, left, right)
    found = ticks(lo, hi, (right - left) / TICK)
    return [(scale(at), label) for at, label in found if at != 0]


def bars(
    ends: np.ndarray, lo: Any, hi: Any, wide: float
) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Both ends of each bar in pixels, and where the next one begins, one entry a state.

    ``ends``: decades from the bound, with the steps along the last axis; a step that is not there
    is not a number. ``lo`` and ``hi``: the window.
    """
    left, right = lane(wide)
    per = (right - left) / (np.asarray(hi, float) - lo)
    places = left + (ends - np.asarray(lo)[..., None]) * per[..., None]
    here, found = left - np.asarray(lo) * per, []
    for end in np.moveaxis(places, -1, 0):
        begin = np.where(np.isnan(end), math.nan, here)
        here = np.where(np.isnan(end), here, end)
        found.append((begin, end, here))
    return found


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
    ``rl.explain``.

    Parameters
    ----------
    measured : Measurement, Explanation or Operation
        What was measured; an Operation took ``seconds`` on ``machine``.
    machine : Machine or str, optional
        None: the machine of the measurement.
    seconds : float, optional
        The time that an Operation took; None: the time measured.
    cache : {"cold", "warm"}, optional
        Where the operands lay; None: where they lay in the measurement, else "cold".
    ax : matplotlib.axes.Axes, optional
        Axes to draw into, where they are. None: a figure of its own.
    width : float, optional
        Inches: 3.3 for a paper's column, 7 for a post, 7.6 by default.

    Returns
    -------
    Picture or Panel
        A figure, or what was drawn into ``ax``. Its ``words`` say what it shows, and ``save(path)``
        writes a pdf, svg or png.

    Raises
    ------
    TypeError or ValueError
        Naming the argument.

    Examples
    --------
    >>> op = rl.gemm(4096, 4096, 4096, "fp16")
    >>> print(rl.show.waterfall(op, "H100-SXM", seconds=200e-6).words)
    gemm 4096×4096×4096 fp16 in 200 µs on NVIDIA H100 SXM5 80 GB: 687 TFLOP/s, 69 % of the ...
    roofline bound: 139 µs (989 TFLOP/s peak, 3.35 TB/s DRAM, datasheet).
    unexplained ×1.44: 200 µs (what none of the steps above accounts for).
    measured: 200 µs, ×1.44 the bound.
    """
    if isinstance(measured, Explanation):
        given = {"machine": machine, "seconds": seconds, "cache": cache}
        for name, value in given.items():
            if value is not None:
                raise TypeError(f"{name}={value!r}: an Explanation already has its own")
        return draw(of_explanation(measured), ax, width)
    if not isinstance(getattr(measured, "op", measured), Operation):
        raise TypeError(
            f"measured={measured!r} is a {type(measured).__name__}; "
            "give a Measurement, an Explanation, or an Operation with machine= and seconds="
        )
    return draw(of_explanation(explain_here(measured, machine, seconds, cache=cache)), ax, width)


def draw(fall: Fall, ax: Axes | None = None, width: float | None = None) -> Picture | Panel:
    """Draw ``fall`` as a figure, as high as it needs; ``words`` say it."""
    return figures.painted(partial(fall_scene, fall), fall.words, ax, width)


def fall_scene(fall: Fall, width: float = 760) -> Scene:
    """The picture of one waterfall, its sentence above it."""
    said = textwrap.wrap(fall.sentence, int((width - 16) / 9.2))
    top = 20 * len(said) + (57 if stacks(width) else 38)
    lo, hi = (limit - fall.start for limit in window(fall.places, 0.06))
    placed = bars(np.array([step.end - fall.start for step in fall.steps]), lo, hi, width)
    zero = bars(np.zeros(1), lo, hi, width)[0][2].item()
    rows = [Row(BOUND, seconds_of(fall.start), _wrapped(fall.note), end=zero)]
    for step, places in zip(fall.steps, placed):
        begin, end, _ = (place.item() for place in places)
        rows.append(
            Row(step.name, step.seconds, _wrapped(step.note), step.factor + ARROWS[step.kind],
                INKS.get(step.name, "ink"), fill_of(step), (begin, end), end)
        )  # fmt: skip
    if fall.reached:
        total = f"{fall.reached}: {fall.total} the bound"
        rows.append(Row(total, seconds_of(fall.end), end=rows[-1].end))
    scene = Scene(width, 0, [])
    sheet = Sheet(scene, rows, top)
    scene.height, scene.says = sheet.tops[-1] + 44, fall.words
    for number, line in enumerate(said):
        scene.text(8, 22 + 20 * number, line, name="say")
    sheet.draw(ticks_of(lo, hi, width), "ink" if fall.reached == "measured" else "paper")
    return scene


def _wrapped(note: str) -> list[str]:
    return textwrap.wrap(note, 36)


# The live waterfall, below the live roofline on the same sliders and choices. Its tables have a row
# for each *case*: a machine, a number type, an operation and a side of which more than the bound is
# known. Case 0 is that nothing is.


STEPS = ("level and mix", "call overhead", "routine efficiency", REST)
KINDS = ("no figure", "batch", "bound", "predicted", "measured")  # what can be shown
_SIDES = (0.25, 0.6, 1.2, 2.2, 4, 8), (0.5, 1.1, 2.2, 3.2, 5, 8)  # decades left, right of the bound
NOT_THERE = "nothing was measured at this size"


def fall_at(op: Operation, m: Machine, timed: Measurement | None, cache: str) -> Fall:
    """The waterfall of ``op`` on one side: of its time there, else of what is predicted."""
    if timed is not None:
        return of_explanation(explain(timed, m))
    return of_prediction(op, m, predict(op, m, cache=cache)) if m.routines else of_bound(op, m)


def of_both(cold: Fall, warm: Fall) -> tuple[Fall, str]:
    """Of both sides the one that was measured, first cold; and the words that say which it is."""
    side = "warm" if warm.reached == "measured" != cold.reached else "cold"
    found = warm if side == "warm" else cold
    return found, f" {SIDE[side]}" if found.reached else ""


def timed_on(offer: Offer) -> dict[tuple[str, str], Measurement]:
    """What was measured, by operation and side; the first of several counts."""
    return {(m.op.label, m.cache): m for m in reversed(offer.measurements)}


def windows() -> list[tuple[float, float]]:
    """Every window of the axis in decades from the bound, narrowest first: the first that fits."""
    return sorted(((-a, b) for a, b in product(*_SIDES)), key=lambda one: one[1] - one[0])


class Cases:
    """The waterfalls of a live picture, and their numbers and words as tables by case and size.

    ``case[m, d, o, c]``: the number for a machine, a dtype, an operation and a choice of side.
    """

    def __init__(self, tables: Tables) -> None:
        self.tables = tables
        self.ops = [[ops_of(s, tables, kind) for s in tables.series] for kind in tables.dtypes]
        self.many = len(tables.sliders[0].values)
        shape = (len(tables.offers), len(tables.dtypes), len(tables.series), len(CHOICES))
        self.case = np.zeros(shape, int)
        self.falls: list[Sequence[tuple[Fall | None, str]]] = [[(None, "")] * self.many]
        for place in np.ndindex(shape[:3]):
            self._add(*place)
        self.window, self.windows = self._windows()

    def _add(self, m: int, d: int, o: int) -> None:
        """Number the cases of a machine, a dtype and an operation, if any are known."""
        offer, ops = self.tables.offers[m], self.ops[d][o]
        if offer.machine is None or lacks(offer, self.tables.dtypes[d]):
            return
        if not offer.machine.routines and not offer.measurements:
            return
        timed = timed_on(offer)
        here = {cache: [timed.get((op.label, cache)) for op in ops] for cache in CACHES}
        cold, warm = (
            [fall_at(op, offer.machine, one, cache) for op, one in zip(ops, here[cache])]
            for cache in CACHES
        )
        rows = {"cold": [(f, "") for f in cold], "warm": [(f, "") for f in warm]}
        rows["both"] = [of_both(*pair) for pair in zip(cold, warm)]
        for c, choice in enumerate(CHOICES):
            self.case[m, d, o, c] = len(self.falls)
            self.falls.append(rows[choice])

    def numbers(self, value: Callable[[Fall], float]) -> np.ndarray:
        """A number of each waterfall, by case and size."""
        return np.array([[math.nan if f is None else value(f) for f, _ in row]
                         for row in self.falls])  # fmt: skip

    def words(self, value: Callable[[Fall], str], none: str = "") -> By:
        """A text of each waterfall, by case and size."""
        found = [[none if f is None else value(f) for f, _ in row] for row in self.falls]
        return By("case i", np.array(found, object))

    def step(self, name: str, value: Callable[[WaterfallStep], str], none: str = "") -> By:
        """A text of a step of each waterfall, or ``none`` where the step is not there."""
        return self.words(lambda f: next((value(s) for s in f.steps if s.name == name), none), none)

    @cached_property
    def reached(self) -> np.ndarray:
        """0 where only the bound is known, 1 where it ends at a prediction, 2 at a time."""
        found = self.numbers(lambda f: KINDS.index(f.reached or "bound") - 2)
        return np.where(np.isnan(found), 0, found)

    @cached_property
    def ends(self) -> np.ndarray:
        """Decades from the bound to the end of each of STEPS; not a number if it is not there."""

        def end(name: str) -> np.ndarray:
            return self.numbers(
                lambda f: next((s.end - f.start for s in f.steps if s.name == name), math.nan)
            )

        return np.stack([end(name) for name in STEPS], axis=-1)

    def _windows(self) -> tuple[np.ndarray, list[tuple[float, float]]]:
        """The number of each state's window, and the windows that are used."""
        every = windows()
        held = np.concatenate([np.zeros((*self.ends.shape[:2], 1)), self.ends], axis=-1)
        least, most = np.nanmin(held, axis=-1), np.nanmax(held, axis=-1)
        found = np.full(least.shape, len(every) - 1)
        for number, (lo, hi) in reversed([*enumerate(every)]):
            free = 0.06 * (hi - lo)
            found[(lo + free <= least) & (most <= hi - free)] = number
        used = np.unique([0, *found.flat])
        return np.searchsorted(used, found), [every[number] for number in used]

    def measured(self) -> list[list[int]]:
        """The places of the sizes that were measured, for each case."""
        return [np.flatnonzero(row == 2).tolist() for row in self.reached]


def lacks(offer: Offer, kind: DType) -> str:
    """Why there is no waterfall for a number type on a machine, or nothing."""
    return missing(offer.machine, kind, "cold") if offer.machine else offer.reason


def ops_of(series: Series, tables: Tables, kind: DType) -> list[Operation]:
    """The single problems of ``series``: one operation a value of the first slider."""
    i, j, k = (slider.values for slider in tables.sliders)
    return [series.build(n, j[0], k[0], kind) for n in i]


def dims_of(cases: Cases, start: Mapping[str, Any]) -> list[Dim]:
    """The dimensions of the live picture: what is chosen, and what follows from it."""
    tables = cases.tables
    names = {
        "machine": [offer.id for offer in tables.offers],
        "dtype": [str(kind) for kind in tables.dtypes],
        "op": [series.name for series in tables.series],
        "cache": list(CHOICES),
    }
    given = [Dim(key, held, held, held.index(start[key]), 250) for key, held in names.items()]
    i, j = (
        Dim(key, [str(value) for value in slider.values], start=start[key])
        for key, slider in zip("ij", tables.sliders)
    )
    many, windows = np.arange(len(cases.falls)), np.arange(len(cases.windows))
    there = [[not lacks(offer, kind) for kind in tables.dtypes] for offer in tables.offers]
    batch = np.arange(len(j.stops))[:, None] > 0
    kind = np.where(batch, 1, [2, 3, 4]) * np.array([0, 1])[:, None, None]
    axis = np.where(np.arange(len(KINDS))[:, None] < 2, 0, 1 + windows)
    return [
        *given,
        j,
        _following("there", 2, "machine dtype", there),
        _following("spot", len(many), "machine dtype op cache", cases.case),
        _following("case", len(many), "j spot", np.where(batch, 0, many)),
        i,
        _following("reached", 3, "case i", cases.reached),
        _following("kind", len(KINDS), "there j reached", kind),
        _following("window", len(windows), "case i", cases.window),
        _following("axis", 1 + len(windows), "kind window", axis),
    ]


def _following(name: str, stops: int, dims: str, of: Any) -> Dim:
    return Dim(name, [""] * stops, of=By(dims, of))


def _part(n: int, step: WaterfallStep) -> str:
    """Of the note on level and mix: the bytes, where they lay, or the roof."""
    return step.note.split(", ", 2)[n]


class Wording:
    """The words of the live picture by state: what its rows say, and all of it in sentences."""

    def __init__(self, cases: Cases) -> None:
        self.cases = cases
        known = [offer.machine for offer in cases.tables.offers]
        self.bound, peak = self._bounds()
        self.roof = {
            "peak": peak,
            "bandwidth": By("machine", [
                si(m.bandwidth("dram", "best"), "B/s") if m and "dram" in m.levels else ""
                for m in known
            ]),
            "provenance": By("machine", [m.provenance if m else "" for m in known]),
        }  # fmt: skip
        self.mix = {key: cases.step(STEPS[0], partial(_part, n))
                    for n, key in enumerate(("moved", "where", "roof"))}  # fmt: skip
        self.notes = [cases.step(name, lambda step: step.note) for name in STEPS[1:]]
        self.times = [cases.step(name, lambda step: step.seconds) for name in STEPS]
        self.factors = [cases.step(name, lambda step: step.factor) for name in STEPS]
        self.arrows = [cases.step(name, lambda step: ARROWS[step.kind]) for name in STEPS]
        self.fills = [cases.step(name, fill_of, "paper") for name in STEPS]
        self.end = cases.words(lambda fall: seconds_of(fall.end) if fall.reached else "")
        self.total = cases.words(lambda fall: fall.total if fall.reached else "")

    def _bounds(self) -> tuple[By, By]:
        """The bound and the peak of every machine, dtype and operation."""
        tables, shape = self.cases.tables, self.cases.case.shape[:3]
        times = np.full((*shape, self.cases.many), "", object)
        peaks = np.full(shape, "", object)
        said: dict[Any, list[str]] = {}
        every = self.cases.ops
        work = [[np.array([float(op.flops) for op in ops]) for ops in row] for row in every]
        moved = [
            [np.array([float(op.bytes_at("dram")) for op in ops]) for ops in row] for row in every
        ]
        for m, d, o in np.ndindex(shape):
            machine, ops = tables.offers[m].machine, every[d][o]
            if machine is None or lacks(tables.offers[m], tables.dtypes[d]):
                continue
            peak, bandwidth = peak_of(ops[0], machine)[0], machine.bandwidth("dram", "best")
            key = (ops[0].name, moved[d][o][0], float(peak), float(bandwidth))
            if key not in said:
                bounds = np.maximum(work[d][o] / peak, moved[d][o] / bandwidth)
                said[key] = [si(seconds, "s") for seconds in bounds.tolist()]
            times[m, d, o], peaks[m, d, o] = said[key], si(peak, "FLOP/s")
        return By("machine dtype op i", times), By("machine dtype op", peaks)

    def where(self, step: int, template: str) -> By:
        """A template where a step is there, else nothing."""
        there = ~np.isnan(self.cases.ends[..., step])
        return By("case i", np.where(there, template, "").astype(object))

    def rows(self, wide: float) -> list[Row]:
        """The rows of a sheet ``wide`` pixels wide."""
        cases = self.cases
        lo, hi = np.array(cases.windows)[cases.window].transpose(2, 0, 1)
        placed = bars(cases.ends, lo, hi, wide)
        going = np.where(cases.reached > 0, 0.0, math.nan)
        time = By("kind", ["", "", "{time}", "{time}", "{time}"])
        found = [Row(BOUND, Fill(time, time=self.bound), self._roof(), end=self._zero(wide))]
        for n, (name, notes) in enumerate(zip(STEPS, self._notes(stacks(wide)))):
            begin, end, after = placed[n]
            bar = By("case i", begin), By("case i", end)
            shown = By("case i", np.where(np.isnan(end), FAINT, 1.0))
            factor = Fill("{factor}{arrow}", factor=self.factors[n], arrow=self.arrows[n])
            found.append(
                Row(name, self.times[n], notes, factor, INKS[name], self.fills[n], bar,
                    By("case i", after + going), shown)
            )  # fmt: skip
        last = By("kind", ["measured"] * 3 + [f"{kind}: {{total}} the bound" for kind in KINDS[3:]])
        shown = By("kind", [FAINT] * 3 + [1, 1])
        found.append(Row(Fill(last, total=self.total), self.end, end=found[-1].end, shown=shown))
        return found

    def _zero(self, wide: float) -> By:
        """Where the bound lies, in pixels."""
        left, right = lane(wide)
        places = [Scale(lo, hi, left, right)(0) for lo, hi in self.cases.windows]
        return By("axis", [math.nan, *places])

    def _roof(self) -> list[Words]:
        lines = ["{peak} peak, {bandwidth} DRAM,", "{provenance}"]
        return [Fill(By("kind", ["", "", line, line, line]), **self.roof) for line in lines]

    def _notes(self, stacked: bool) -> list[list[Words]]:
        """The lines of every step's note."""
        lines = ["{moved},", "{where},", "{roof}"]
        mixed = [f"{lines[0]} {lines[1]}", lines[2]] if stacked else lines
        rest = self.cases.words(
            lambda fall: NOT_THERE if fall.reached == "predicted" else fall.steps[-1].note
            if fall.steps else ""
        )  # fmt: skip
        call, routine, _ = self.notes
        first: list[Words] = [Fill(self.where(0, line), **self.mix) for line in mixed]
        return [first, [call], [routine], [rest]]

    @cached_property
    def says(self) -> Words:
        """The sentence."""
        cases, offers = self.cases, self.cases.tables.offers
        estimate = f"{EXPECTED} {UNTIMED}{{side}}"
        no = [[f"{one.name}: {lacks(one, kind)}." for kind in cases.tables.dtypes]
              for one in offers]  # fmt: skip
        return Fill(
            By("kind", ["{no}", SINGLE, f"{ALLOWED} {{why}}", estimate, "{measured}{side}"]),
            no=By("machine dtype", no),
            what=self._what(),
            machine=By("machine", [one.name for one in offers]),
            why=By("machine", [why_it_stops(one.machine) if one.machine else "" for one in offers]),
            bound=self.bound,
            end=self.end,
            total=self.total,
            measured=cases.words(lambda f: f.sentence if f.reached == "measured" else ""),
            side=By("case i", [[side for _, side in row] for row in cases.falls]),
        )

    def _what(self) -> Words:
        """The operation as a sentence names it."""
        first = self.cases.ops[0]
        kinds = [str(kind) for kind in self.cases.tables.dtypes]
        return Fill(
            captions.WHAT,
            name=By("op", [row[0].name.upper() for row in first]),
            sizes=By("op i", [[captions.sizes(op) for op in row] for row in first]),
            batch="",
            dtype=By("dtype", kinds),
        )

    @cached_property
    def steps(self) -> Words:
        """The rows as sentences, as in :attr:`Fall.words`."""
        notes = [Fill("{moved}, {where}, {roof}", **self.mix), *self.notes]
        bound = Fill(SAID_BOUND, name=BOUND, time=self.bound, note=Fill(ROOF, **self.roof))
        rows = {
            f"step{n}": Fill(self.where(n, f" {SAID_STEP}"), name=STEPS[n], factor=self.factors[n],
                             time=self.times[n], note=notes[n])
            for n in range(len(STEPS))
        }  # fmt: skip
        end = Fill(f" {SAID_END}", reached=By("kind", KINDS), time=self.end, total=self.total)
        every = "{bound}{step0}{step1}{step2}{step3}"
        words = By("kind", ["", "", "{bound}", f"{every}{{end}}", f"{every}{{end}}"])
        return Fill(words, bound=bound, end=end, **rows)


def live_scene(words: Wording, wide: float, start: Mapping[str, Any]) -> Scene:
    """The live picture on a sheet ``wide`` pixels wide."""
    cases = words.cases
    scene = Scene(wide, 0, dims_of(cases, start))
    sheet = Sheet(scene, words.rows(wide), 34 if wide >= WITH_RULE else 54)
    scene.height = sheet.tops[-1] + 44
    every = [[], *(ticks_of(lo, hi, wide) for lo, hi in cases.windows)]
    ticks = []
    for slot in zip_longest(*every, fillvalue=(math.nan, "")):
        places, labels = zip(*slot)
        ticks.append((By("axis", places), By("axis", labels)))
    sheet.draw(ticks, By("kind", ["paper"] * 4 + ["ink"]))
    series = cases.tables.series
    if len(series) > 1:
        scene.choice("op", "operation in the waterfall", [one.label for one in series])
    _jumps(scene, cases)
    scene.says = words.says
    scene.note(words.steps, "aside steps")
    return scene


def _jumps(scene: Scene, cases: Cases) -> None:
    """Buttons for the sizes that were measured: they move the slider."""
    sizes, slider = cases.measured(), cases.tables.sliders[0]
    at = np.arange(cases.many)
    for n in range(max(map(len, sizes))):
        goal = np.array([one[n] if n < len(one) else -1 for one in sizes])
        label = [str(slider.values[i]) if i >= 0 else "" for i in goal]
        scene.button(
            By("spot", label), {"i": By("spot", np.maximum(goal, 0)), "j": 0},
            shown=By("spot", goal >= 0), pressed=By("case i", goal[:, None] == at),
            row=f"measured at {slider.name} =", kind="jump",
        )  # fmt: skip


class WaterfallView(Player):
    """Where the time goes: from the bound of one operation, factor by factor, to its time.

    Where the roofline shows both sides, the one that was measured at this size is explained.

    ``i`` and ``j`` are the sliders' indices; ``machine``, ``dtype``, ``cache`` and ``op`` are what
    is explained. A machine of which only the roofs are known stops at the bound, a size that was
    never measured at the prediction.
    """

    def __init__(self, tables: Tables, **start: Any) -> None:
        self.tables = tables
        words = Wording(Cases(tables))
        scenes = [live_scene(words, wide, start) for wide in (WIDE, NARROW)]
        whole = ipywidgets.Layout(width="100%", margin="0")
        super().__init__(*scenes, stem="waterfall", kind="rl-fall", layout=whole, **start)

    @property
    def fall(self) -> Fall | str:
        """The waterfall as it is now, or the reason why there is none."""
        offer = next(one for one in self.tables.offers if one.id == self.machine)
        kind = next(one for one in self.tables.dtypes if str(one) == self.dtype)
        m = offer.machine
        if m is None or lacks(offer, kind):
            return f"{offer.name}: {lacks(offer, kind)}."
        if self.j:
            return SINGLE
        series = next(one for one in self.tables.series if one.name == self.op)
        op, timed = ops_of(series, self.tables, kind)[self.i], timed_on(offer)
        found = {c: fall_at(op, m, timed.get((op.label, c)), c) for c in CACHES}
        if self.cache != "both":
            return found[self.cache]
        fall, side = of_both(found["cold"], found["warm"])
        return dataclasses.replace(fall, sentence=fall.sentence + side)

    @property
    def words(self) -> str:
        """The waterfall as text: its sentence, then a line a bar."""
        now = self.fall
        return now.words if isinstance(now, Fall) else now

    def picture(self) -> Figure | None:
        """The still waterfall as it is now; None where there is none."""
        return painter.figure(self.scene, [self.state]) if isinstance(self.fall, Fall) else None


def waterfall_of(
    tables: Tables, start: Mapping[str, Any], box: BoxView | None = None
) -> WaterfallView:
    """The waterfall of ``tables``, where its sliders stand, with the choices of ``start``.

    It begins with the operation of ``box``, else with the first one that was measured there.
    """
    i, j, _ = (slider.start for slider in tables.sliders)
    choices = {key: start[key] for key in ("machine", "dtype", "cache")}
    view = WaterfallView(tables, i=i, j=j, op=tables.series[0].name, **choices)
    if box is not None:
        view.op = box.op
        return view
    for series in tables.series:
        view.op = series.name
        if isinstance(view.fall, Fall) and view.fall.reached == "measured":
            return view
    view.op = tables.series[0].name
    return view


_NO_SOFTWARE: dict[str, Any] = {"Software": None}  # matplotlib would write its version there


def stacked(pictures: Sequence[Figure]) -> bytes:
    """One PNG of several figures, the first on top; the same figures give the same bytes."""
    images = [imread(io.BytesIO(canvas.png(one, transparent=False)))[..., :3] for one in pictures]
    wide = max(image.shape[1] for image in images)
    page = [np.pad(i, ((0, 0), (0, wide - i.shape[1]), (0, 0)), constant_values=1) for i in images]
    file = io.BytesIO()
    imsave(file, np.concatenate(page), format="png", metadata=_NO_SOFTWARE)
    return file.getvalue()

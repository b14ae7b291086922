"""The morph: the learner's own points from time against work to the roofline, on one slider.

``rl.live.morph(measurements)``: time against work (nearly all points crushed into a corner), speed
against intensity, the same in factors of ten under the machine's roof, and last what a call costs.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import anywidget
import traitlets
from matplotlib import rc_context
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.patheffects import withStroke

from rooflab.count.operation import Operation
from rooflab.count.si import percent, plain, si, times
from rooflab.count.validation import unknown
from rooflab.measure.measurement import Measurement
from rooflab.predict.catalogue import machine as _machine
from rooflab.predict.estimate import Prediction, homes, overhead, predict
from rooflab.predict.machine import Machine
from rooflab.show import canvas, captions, ceiling_lines, theme
from rooflab.show.ceiling_lines import CallLine, Ceiling, missing, roof
from rooflab.show.labels import Box, Room, width
from rooflab.show.waiting import awaited, covered, is_axis, waiting_sentence

# The points of the morph: the learner's own measurements, read, named and put into words.
#
# One point is one measurement, with the learner's guess of its time beside it where there is one.


SECONDS = {"s": 1.0, "ms": 1e-3, "µs": 1e-6, "ns": 1e-9}
LIMITS = {"memory": "memory", "compute": "arithmetic", "overhead": "the cost of the call"}


@dataclass(frozen=True)
class Dot:
    """A measured operation: ``seconds`` a call, the learner's ``guess`` of them, and its words.

    ``asked``: the axis on which that guess has yet to be placed.
    """

    op: Operation
    cache: str
    seconds: float
    label: str
    sentence: str
    guess: float | None = None
    asked: TimeAxis | None = None

    @property
    def rate(self) -> float:
        """FLOP/s measured."""
        return self.op.flops / self.seconds

    @property
    def guessed_rate(self) -> float | None:
        """FLOP/s that the guess amounts to."""
        return None if self.guess is None else self.op.flops / self.guess

    @property
    def off_by(self) -> str:
        """ "off by ×k" of the guess, "" without one."""
        if self.guess is None:
            return ""
        factor = max(self.guess / self.seconds, self.seconds / self.guess)
        return "spot on" if factor < 1.1 else f"off by {times(factor, digits=2)}"

    @property
    def guess_told(self) -> str:
        """The guess as the last sentence about the point, "" without one."""
        return "" if self.guess is None else f" You guessed {si(self.guess, 's')}: {self.off_by}."

    def at_guess(self, seconds: float) -> Dot:
        """The same point with ``seconds`` guessed."""
        return replace(self, guess=seconds)


def dots(
    measurements: object, machine: Machine | None, guesses: Mapping[Any, Any] | None
) -> tuple[Dot, ...]:
    """Read ``measurements`` into points; one that was measured again counts once, the last time.

    ``guesses``: label of an operation (or the Operation) → seconds, or what ``rl.guess`` or
    ``rl.ask`` returned; a guess axis that is still covered makes an ``asked`` point.
    Raises TypeError or ValueError naming the argument.
    """
    seen = _read(measurements)
    wanted = _guesses(guesses, seen)
    labels = _labels(seen)
    found = []
    for i, m in enumerate(seen):
        given = wanted.get(i)
        guess, asked = (None, given) if isinstance(given, TimeAxis) else (given, None)
        dot = Dot(m.op, m.cache, m.median_s, labels[i], _sentence(m, machine), guess, asked)
        found.append(replace(dot, sentence=dot.sentence + dot.guess_told))
    return tuple(found)


def _read(measurements: object) -> list[Measurement]:
    if isinstance(measurements, Measurement):
        measurements = [measurements]
    if not isinstance(measurements, Iterable) or isinstance(measurements, (str, Mapping)):
        raise TypeError(
            f"measurements={measurements!r} must be a list of what rl.measure(op) returned"
        )
    found = list(measurements)
    for one in found:
        if not isinstance(one, Measurement):
            raise TypeError(f"measurements: {one!r} is no Measurement; rl.measure(op) makes one")
        if one.op.flops <= 0:
            raise ValueError(f"measurements: {one.op.label} does no FLOP, so it has no rate")
    if not found:
        raise ValueError("measurements is empty; give one measured operation at least")
    return list({(m.op, m.cache): m for m in found}.values())


def _labels(seen: list[Measurement]) -> list[str]:
    """Short names, each as long as it must be to be the only one."""
    short = [_short(m.op) for m in seen]
    for more in (lambda m: str(m.op.compute_dtype), lambda m: m.cache):
        again = Counter(short)
        short = [
            f"{name}, {more(m)}" if again[name] > 1 else name
            for name, m in zip(short, seen, strict=True)
        ]
    return short


def _short(op: Operation) -> str:
    """``GEMM 1024³`` for a cube, else what every picture writes: ``GEMV 4096×4096``."""
    edges = set(op.dims.values())
    if op.name == "gemm" and len(edges) == 1 and op.batch == 1:
        return f"GEMM {edges.pop()}³"
    return captions.short(op).replace(" million", "\u202fM").replace(" billion", "\u202fG")


def _guesses(
    guesses: Mapping[Any, Any] | None, seen: list[Measurement]
) -> dict[int, float | TimeAxis]:
    """Place of a point → guessed seconds, or where they are asked for."""
    if guesses is None:
        return {}
    if not isinstance(guesses, Mapping):
        raise TypeError(f"guesses={guesses!r} must be a dict: an operation's label → seconds")
    places: dict[str, int] = {}
    for i, (m, label) in enumerate(zip(seen, _labels(seen), strict=True)):
        for name in (m.op.label, f"{m.op.label} {m.cache}", captions.short(m.op), label):
            places.setdefault(name.lower(), i)
    found = {}
    for key, value in guesses.items():
        name = key.label if isinstance(key, Operation) else str(key)
        if name.strip().lower() not in places:
            raise unknown("guesses: the operation", name, [m.op.label for m in seen])
        seconds = _on_axis(name, value) if is_axis(value) else _seconds(name, value)
        if seconds is not None:
            found[places[name.strip().lower()]] = seconds
    return found


def _on_axis(name: str, axis: Any) -> float | TimeAxis | None:
    """The seconds on a guess axis; None after a look without a guess, where it is while covered."""
    if axis.unit not in SECONDS:
        raise ValueError(f"guesses[{name!r}] is in {axis.unit!r}; a guess here is a time")
    if axis.covered:
        values = axis.geometry["values"]
        return TimeAxis(axis.model_id, tuple(SECONDS[axis.unit] * v for v in values))
    return None if axis.value is None else SECONDS[axis.unit] * axis.value


def _seconds(name: str, value: Any) -> float | None:
    """Seconds of a guess: a number, or a Guess in a unit of time; None where nothing was
    guessed."""
    unit = getattr(getattr(value, "question", None), "unit", "s")
    if hasattr(value, "question"):
        value = getattr(value, "value", None)
        if value is None:
            return None
    if unit not in SECONDS:
        raise ValueError(f"guesses[{name!r}] is in {unit!r}; a guess here is a time, in seconds")
    wrong = f"guesses[{name!r}]={value!r} must be a positive number of seconds"
    if isinstance(value, bool):
        raise ValueError(wrong)
    try:
        seconds = float(value) * SECONDS[unit]
    except (TypeError, ValueError, OverflowError):
        raise ValueError(wrong) from None
    if not 0 < seconds < float("inf"):
        raise ValueError(wrong)
    return seconds


def _sentence(m: Measurement, machine: Machine | None) -> str:
    text = (
        f"{captions.what(m.op)}, {m.cache}: {si(m.op.flops, 'FLOP')} over {si(m.op.bytes, 'B')} is "
        f"{theme.intensity(m.op.intensity)} FLOP/byte. Measured {si(m.median_s, 's')}: "
        f"{si(m.flop_per_s, 'FLOP/s')}."
    )
    estimate = estimate_of(m, machine)
    if estimate is not None:
        limit, _, level = estimate.limit.partition(":")
        where = f", served by {captions.level_word(level)}" if level not in ("", "dram") else ""
        text += f" The limit is {LIMITS[limit]}{where.replace('The', 'the')}."
    return text


def estimate_of(m: Measurement, machine: Machine | None) -> Prediction | None:
    """What predict() says of a measured operation on ``machine``; None where it cannot."""
    if machine is None or not machine.has_peak(m.op.compute_dtype) or "dram" not in machine.levels:
        return None
    return predict(m.op, machine, cache=m.cache)


# What stands still in the morph: the machine's roofs, and the lines on which a call is all cost.
#
# A call that does nothing still takes the time of a call. Over work that time is a floor; as a rate
# it is FLOP ÷ call time, a line that small problems climb before they reach the roof.


def ceilings(dots: Sequence[Dot], machine: Machine | None) -> tuple[Ceiling, ...]:
    """Roofs to draw: memory's for every dtype that is there, and the caches that feed a warm point.

    Empty without a machine, and for a dtype that it has no figure for.
    """
    if machine is None:
        return ()
    kinds = list(dict.fromkeys(dot.op.compute_dtype for dot in dots))
    found = [
        Ceiling("dram", roof(machine, kind)) for kind in kinds if not missing(machine, kind, "cold")
    ]
    if found:
        kind = found[0].roof.dtype
        levels = {next(iter(homes(dot.op.working_set, machine, dot.cache))) for dot in dots}
        caches = [level for level in machine.levels if level in levels - {"dram"}]
        found += [Ceiling(level, roof(machine, kind, level)) for level in caches]
    return tuple(found)


def call_lines(dots: Sequence[Dot], machine: Machine | None) -> tuple[CallLine, ...]:
    """The overhead lines of the routines whose call decides for one of ``dots``.

    If it decides for none, of all routines that are there. The warm call is taken, the cheapest
    there is, so that nothing can lie above its line. Empty where no call was calibrated.
    """
    if machine is None or not machine.routines:
        return ()
    usable = [
        dot for dot in dots
        if dot.op.name in ceiling_lines.ROUTINES and overhead(dot.op, machine) > 0
        and not missing(machine, dot.op.compute_dtype, "cold")
    ]  # fmt: skip
    small = [d for d in usable if predict(d.op, machine, cache=d.cache).limit == "overhead"]
    routines = dict.fromkeys((d.op.name, d.op.compute_dtype) for d in small or usable)
    lines = (ceiling_lines.call_line(ceiling_lines.square(*key), machine, None) for key in routines)
    return tuple(line for line in lines if line)


# Axes of the morph at its three layouts, as numbers for a browser: scales, ticks, names.
#
# Layout 0 is time against work, 1 rate against intensity (both from zero), 2 the same in decades.
# From 1 to 2 a place moves along its own axis only: what stands above another stays above it.


WIDTH, HEIGHT = 720, 490
PLOT = (76, 34, 704, 436)  # left, top, right, bottom
NAMES = (
    ("work in one call (FLOP)", "time of one call"),
    ("intensity: FLOP per byte moved", "FLOP per second"),
    ("intensity: FLOP per byte moved", "FLOP per second, each step a factor of ten"),
)


@dataclass(frozen=True)
class Scale:
    """Values to pixels along one axis, from ``lo`` at ``start`` to ``hi`` at ``end``."""

    lo: float
    hi: float
    start: float
    end: float
    log: bool = False

    def __call__(self, value: float) -> float:
        """Pixels of ``value``; what is off a log scale stays within reach of a screen."""
        if self.log:
            floor = self.lo / 1e3
            share = math.log(max(value, floor) / self.lo) / math.log(self.hi / self.lo)
        else:
            share = (value - self.lo) / (self.hi - self.lo)
        return round(self.start + min(max(share, -9), 9) * (self.end - self.start), 1)

    def ticks(self) -> list[float]:
        """Round values within the limits: decades, or about five steps."""
        if not self.log:
            from matplotlib.ticker import MaxNLocator

            found = MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]).tick_values(self.lo, self.hi)
            return [float(v) for v in found if self.lo <= v <= self.hi]
        first, last = math.ceil(math.log10(self.lo)), math.floor(math.log10(self.hi))
        skip = 1 + (last - first) // 8
        return [10.0**e for e in range(first, last + 1, skip)]


@dataclass(frozen=True)
class Layout:
    """Both scales at one layout; ``index`` 0, 1 or 2."""

    index: int
    x: Scale
    y: Scale

    def place(self, intensity: float, flops: float, seconds: float) -> list[float]:
        """Pixels [x, y] of something that does ``flops`` in ``seconds``."""
        if self.index == 0:
            return [self.x(flops), self.y(seconds)]
        return [self.x(intensity), self.y(flops / seconds)]


def layouts(
    dots: Sequence[Dot], roofs: Sequence[Ceiling], calls: Sequence[CallLine]
) -> tuple[Layout, Layout, Layout]:
    """The three layouts that hold all ``dots``, and in decades the roofs and call lines as well."""
    left, top, right, bottom = PLOT
    flops, seconds = [d.op.flops for d in dots], [d.seconds for d in dots]
    intensity, rate = [d.op.intensity for d in dots], [d.rate for d in dots]
    peaks = [c.roof.peak for c in roofs]
    ridges = [c.roof.ridge for c in roofs]

    def linear(values: Sequence[float], start: float, end: float) -> Scale:
        return Scale(0, 1.09 * max(values), start, end)

    slow = [min(max(d.guessed_rate or d.rate, min(rate) / 30), max(rate) * 30) for d in dots]
    slow += [d.rate / 10 for d in dots if d.asked is not None]  # room for what will be guessed
    low_x = min(intensity) / 4  # room for names on the left as well
    high_x = max(*intensity, *(3 * r for r in ridges), 10 * low_x) * 3
    low_y, high_y = min(*rate, *slow) / 3, max(*rate, *slow, *peaks) * 3
    return (
        Layout(0, linear(flops, left, right), linear(seconds, bottom, top)),
        Layout(1, linear(intensity, left, right), linear(rate, bottom, top)),
        Layout(2, Scale(low_x, high_x, left, right, True), Scale(low_y, high_y, bottom, top, True)),
    )


def axes(three: Sequence[Layout]) -> list[dict[str, Any]]:
    """Ticks of each layout: [text, pixel here, pixel in the other layout of the same quantity]."""
    partner = {0: 0, 1: 2, 2: 1}
    found = []
    for layout in three:
        other = three[partner[layout.index]]
        unit = "s" if layout.index == 0 else ""
        found.append(
            {
                "names": list(NAMES[layout.index]),
                "x": _ticks(layout.x, other.x, "" if layout.index == 0 else None),
                "y": _ticks(layout.y, other.y, unit),
            }
        )
    return found


def _ticks(scale: Scale, other: Scale, unit: str | None) -> list[list[Any]]:
    """``unit`` None writes an intensity, anything else a value in that unit with its prefix."""
    said = theme.intensity if unit is None else lambda value: short(value, unit)
    return [
        [said(v) if v else "0", scale(v), min(max(other(v), -400.0), 1200.0)] for v in scale.ticks()
    ]


def short(value: float, unit: str) -> str:
    """``5 ms``, ``2.5 G``: an SI number without the zeros that say nothing."""
    number, _, rest = si(value, unit).partition(" ")
    return f"{float(number):g} {rest}".rstrip()


# Where the words of the morph stand: names of points, roofs and call lines, in each layout.
#
# A point that finds no room for its name gets it at the end of a thin line; where whole crowds of
# points lie on each other, one note counts them.


GAP = 40  # how much worse words where a guess will hang are than on a roof
BELOW_BEND = 45  # pixels between the flat part of a roof and the words at its slope


def write(
    layout: Layout, points: list[Placed], roofs: Sequence[Ceiling],
    roof_lines: list[Placed], calls: Sequence[CallLine], call_paths: list[Placed],
) -> Placed:  # fmt: skip
    """Find room for every label of ``layout``; returns the notes beside them."""
    k, (left, top, right, bottom) = layout.index, PLOT
    room = Room((left + 4, top - 4, right + 12, bottom - 3))
    for marker in (*points, *(p["guess"] for p in points if "guess" in p)):
        room.add_marker(*marker["at"][k])
    if k == 2:
        for line in (*roof_lines, *call_paths):
            room.add_line(inside(line["path"][k]))
    for p in points:
        if "guess" in p:
            room.add_line([p["guess"]["at"][k], p["at"][k]], weight=GAP)
        if "asked" in p:
            x = p["at"][k][0]
            room.add_line([[x, top], [x, bottom]], radius=9, weight=GAP)
    if k == 2:
        _name_roofs(room, roofs, roof_lines, layout)
    note: Placed = {}
    if k == 0 and calls:
        text = f"the floor: no call below {si(min(c.seconds for c in calls), 's')}"
        note["floor"] = [text, room.put(text, [(x, bottom - 9) for x in (590, 480, 370, 260)])]
    room.taken += _hanging(points, k)
    guesses = [p["guess"] for p in points if "guess" in p]
    named = [(p["name"], p["at"][k]) for p in points]
    if k == 2:  # only there is the gap of a guess long enough to carry words
        named += [(guess["says"], guess["at"][k]) for guess in guesses]
    places = room.put_all(named) + [None] * len(guesses)
    for marker, place in zip((*points, *guesses), places):
        marker["label"].append(place)
    if k == 2:
        _name_calls(room, call_paths)
    hidden = [p for p in points if p["label"][k] is None]
    marks = _aside(room, hidden, layout)
    if k == 2:  # last: a guess's words must keep off all names
        for mark in marks:
            room.add_line(mark["lead"])
        write_labels(room, points, k)
    return note | {"hidden": len(hidden), "marks": marks}


def _hanging(points: list[Placed], k: int) -> list[Box]:
    """Where guesses that have yet to be made may come to hang: no name lies there."""
    asked = [(p["at"][k][0], [row[k] for row in p["asked"]["y"]]) for p in points if "asked" in p]
    return [(x - 9, min(heights) - 9, x + 9, max(heights) + 9) for x, heights in asked]


def _aside(room: Room, hidden: Sequence[Placed], layout: Layout) -> list[Placed]:
    """Names at the end of a thin line, or in layouts 0 and 1 one note that counts the points."""
    k, named = layout.index, []
    if k == 2 or len(hidden) == 1:
        named = [(p["name"], p["at"][k], p) for p in hidden]
    elif hidden:
        x, y = (sum(p["at"][k][axis] for p in hidden) / len(hidden) for axis in (0, 1))
        named = [(f"no room for {len(hidden)} more names", [x, y], {})]
    found = []
    for text, own, p in named:
        near = 24 if p else 45  # a crowd's middle is not a marker
        clear = [spot for spot in _rings(*own) if room.sees(spot, own, near)]
        at = room.put(text, clear) or room.put(text, _rings(*own))
        if at is not None:
            end = min(max(own[0], at[0] - width(text) / 2 - 4), at[0] + width(text) / 2 + 4)
            foot = at[1] - 5 if end != own[0] else at[1] + (6 if at[1] < own[1] else -16)
            lead = _stop_short([end, foot], own)
            found.append(
                {
                    "text": text,
                    "at": at,
                    "lead": lead,
                    "look": p.get("look", ""),
                    "colour": p.get("colour", ""),
                }
            )
    return found


def _rings(x: float, y: float) -> list[tuple[float, float]]:
    """Places around (x, y), nearer ones first."""
    return [
        (x + 1.6 * far * math.cos(math.pi * turn / 8), y - far * math.sin(math.pi * turn / 8))
        for far in (35, 50, 65, 80, 100, 120, 145, 170)
        for turn in (1, 0.5, 2, 0, -1, 3, 4, -2, -3, -4, 5, 6, 7, 7.5, 8)
    ]


def _stop_short(start: Sequence[float], own: Sequence[float]) -> list[list[float]]:
    """The line from a label to its marker, ending 10 pixels before the marker's middle."""
    dx, dy = own[0] - start[0], own[1] - start[1]
    share = max(0.0, 1 - 10 / max(math.hypot(dx, dy), 10))
    return [
        [round(v, 1) for v in start],
        [round(start[0] + share * dx, 1), round(start[1] + share * dy, 1)],
    ]


def inside(path: Sequence[Sequence[float]]) -> list[list[float]]:
    left, top, right, bottom = PLOT
    return [[x, y] for x, y in path if left <= x <= right and top <= y <= bottom]


def _name_roofs(
    room: Room, roofs: Sequence[Ceiling], roof_lines: list[Placed], layout: Layout
) -> None:
    """Memory's bandwidth along its slope, the peaks at theirs, the caches in one label."""
    caches = [(c, line) for c, line in zip(roofs, roof_lines, strict=True) if c.level != "dram"]
    for ceiling, line in zip(roofs, roof_lines, strict=True):
        if ceiling.level == "dram":
            y, bend = layout.y(ceiling.roof.peak), layout.x(ceiling.roof.ridge)
            flat = [
                (x, y + dy) for dy in (-8, 22) for x in range(int(PLOT[2]) - 60, int(bend), -20)
            ]
            line["labels"].append([ceiling.flat_text, room.put(ceiling.flat_text, flat)])
            slope = [[x, y] for x, y in inside(line["path"][2]) if x <= bend]
            text = ceiling.slope_text
            along = room.put_along(text, slope) or room.put_along(text, slope, -1)
            if along is not None:
                line["labels"].append([text, along])
            else:
                _name_slope(room, ceiling.slope_text, line, bend, 1)
    if caches:
        text = caches[0][0].slope_text if len(caches) == 1 else _span(c for c, _ in caches)
        _name_slope(room, text, caches[-1][1], layout.x(caches[-1][0].roof.ridge), -1)


def _span(caches: Iterable[Ceiling]) -> str:
    """``caches 60.0 to 400 GB/s``, ``caches 368 GB/s to 1.12 TB/s``."""
    rates = sorted(ceiling.roof.bandwidth for ceiling in caches)
    slow, fast = (si(rate, "B/s") for rate in (rates[0], rates[-1]))
    number, unit = slow.split()
    return f"caches {number if fast.endswith(f' {unit}') else slow} to {fast}"


def _name_calls(room: Room, call_paths: list[Placed]) -> None:
    """What a call costs, beside its line."""
    for line in call_paths:
        half = width(line["says"]) / 2 + 13
        path = inside(line["path"][2])
        line["label"] = room.put(
            line["says"], [(x + d, y + 5) for x, y in path for d in (half, -half)]
        )


def _name_slope(room: Room, text: str, line: Placed, bend: float, side: int) -> None:
    """Write ``text`` beside the slanted part of a roof: below it (side 1) or above it (-1)."""
    half = width(text) / 2 + 8
    slanted = [(x, y) for x, y in inside(line["path"][2]) if x <= bend][::-1]
    if side > 0:  # clear of the flat part, which has a name of its own
        slanted = [(x, y) for x, y in slanted if y > slanted[0][1] + BELOW_BEND] or slanted
    spots = [(x + side * half, y + side * 5 + 4) for x, y in slanted]
    if side > 0:
        spots += [(x - half, y - 1) for x, y in slanted]
    spots += [(PLOT[0] + half + 6 + dx, y - 10) for dx in (0, 30, 60) for _, y in slanted]
    line["labels"].append([text, room.put(text, spots)])


# Guesses that are placed in the page: what the morph waits for, and where each guess would hang.
#
# A guess axis is a fixed row of places. The morph knows each of them beforehand, so that a guess
# placed in the browser hangs at its point at once, without a kernel too.


Placed = dict[str, Any]  # a point of the picture's geometry, in pixels


@dataclass(frozen=True)
class TimeAxis:
    """A guess axis about the time of an operation: its widget's id, the seconds at its places."""

    id: str
    seconds: tuple[float, ...]


def places_of_guess(
    dot: Dot, asked: TimeAxis, three: Sequence[Layout], plot: Sequence[int]
) -> Placed:
    """The guess at every place of the axis: heights in the three layouts, words; no label yet."""
    _, top, _, bottom = plot
    guesses = [dot.at_guess(seconds) for seconds in asked.seconds]
    heights = [
        [lay.place(dot.op.intensity, dot.op.flops, seconds)[1] for lay in three]
        for seconds in asked.seconds
    ]
    return {
        "id": asked.id,
        "y": [[min(max(y, top), bottom) for y in row] for row in heights],
        "says": [g.off_by for g in guesses],
        "told": [g.guess_told for g in guesses],
        "label": [],
    }


def write_labels(room: Room, points: Sequence[Placed], k: int) -> None:
    """Find room beside every place for its words; what another guess's words take is seen later."""
    from rooflab.show.labels import around

    for p in (p for p in points if "asked" in p):
        x, asked = p["at"][k][0], p["asked"]
        for row, text in zip(asked["y"], asked["says"], strict=True):
            asked["label"].append(room.try_put(text, around(x, row[k], text)))


def resolved(geometry: dict[str, Any], axes: Mapping[str, Any]) -> dict[str, Any]:
    """``geometry`` with the guesses that the axes hold now in their points, for a still picture."""
    return geometry | {"points": [_resolved(p, axes) for p in geometry["points"]]}


def _resolved(p: Placed, axes: Mapping[str, Any]) -> Placed:
    axis = axes.get(p["asked"]["id"]) if "asked" in p else None
    at = axis.guess_at if axis is not None and not axis.covered else -1
    if not 0 <= at < (len(p["asked"]["y"]) if axis is not None else 0):
        return p
    asked = p["asked"]
    guess = {
        "at": [[x, y] for (x, _), y in zip(p["at"], asked["y"][at], strict=True)],
        "label": [None, None, asked["label"][at]],
        "says": asked["says"][at],
    }
    return p | {"guess": guess, "says": p["says"] + asked["told"][at]}


# The morph in pixels and words: all that the browser needs to move, and nothing to compute.


STOPS = ("time against work", "speed against intensity", "the roofline", "the cost of a call")
LAST = 100 * (len(STOPS) - 1)
DECADES = 185  # from here on the axes are seen in factors of ten
STEPS = 40  # points of a roof between its ends, so that it bends as the axes do


def stop_of(at: int) -> int:
    """The named stop whose words belong to the slider at ``at``: the nearest.

    On the way into decades it is the one before until the axes read decades.
    """
    return 1 if 100 <= at < DECADES else round(at / 100)


def geometry(dots: Sequence[Dot], machine: Machine | None) -> dict[str, Any]:
    """Everything placed, as plain JSON: axes, points, roofs, call lines, labels, sentences."""
    roofs, calls = ceilings(dots, machine), call_lines(dots, machine)
    three = layouts(dots, roofs, calls)
    roof_lines = [_roof(ceiling, three) for ceiling in roofs]
    call_paths = [_call(line, dots, three) for line in calls]
    points = [_point(dot, three) for dot in dots]
    notes = []
    for layout in three:
        notes.append(write(layout, points, roofs, roof_lines, calls, call_paths))
    return {
        "width": WIDTH, "height": HEIGHT, "plot": list(PLOT), "stops": list(STOPS),
        "axes": axes(three), "points": points, "roofs": roof_lines, "calls": call_paths,
        "notes": notes, "says": _says(dots, machine, roofs, calls), "decades": DECADES,
        "origin": captions.origin(machine) if machine else "",
    }  # fmt: skip


def _point(dot: Dot, three: Sequence[Layout]) -> dict[str, Any]:
    look = theme.style(dot.op.name)
    left, top, right, bottom = PLOT
    found: dict[str, Any] = {
        "name": dot.label, "look": dot.op.name, "shape": look.shape, "colour": look.colour,
        "marker": look.marker, "says": dot.sentence,
        "at": [lay.place(dot.op.intensity, dot.op.flops, dot.seconds) for lay in three],
        "label": [],
    }  # fmt: skip
    if dot.guess is not None:
        places = [lay.place(dot.op.intensity, dot.op.flops, dot.guess) for lay in three]
        inside = [[x, min(max(y, top), bottom)] for x, y in places]
        arrows = ["↑" if y < top else "↓" if y > bottom else "" for _, y in places]
        found["guess"] = {"at": inside, "arrow": arrows, "says": dot.off_by, "label": []}
    if dot.asked is not None:
        found["asked"] = places_of_guess(dot, dot.asked, three, PLOT)
    return found


def _roof(ceiling: Ceiling, three: Sequence[Layout]) -> dict[str, Any]:
    """The roof in layouts 1 and 2; over work it is no line, so layout 0 repeats layout 1."""
    lo, hi, ridge = three[2].x.lo, three[2].x.hi, ceiling.roof.ridge
    grid = sorted({lo * (hi / lo) ** (i / STEPS) for i in range(STEPS + 1)} | {ridge})
    seen = [(x, ceiling.roof.attainable(x)) for x in grid]
    lines = [[[lay.x(x), lay.y(y)] for x, y in seen] for lay in three[1:]]
    return {
        "level": ceiling.level, "main": ceiling.level == "dram",
        "path": [lines[0], lines[0], lines[1]], "labels": [],
    }  # fmt: skip


def _call(line: CallLine, dots: Sequence[Dot], three: Sequence[Layout]) -> dict[str, Any]:
    """The floor over work, and the line that the same calls are as a rate."""
    left, _, right, _ = PLOT
    count = len(line.points)
    floor = three[0].y(line.seconds)
    path = [
        [[round(left + (right - left) * i / max(1, count - 1), 1), floor] for i in range(count)]
    ]
    path += [[[lay.x(x), lay.y(y)] for x, y in line.points] for lay in three[1:]]
    look = theme.style(line.name)
    return {"look": line.name, "colour": look.colour, "path": path, "label": [], "says": line.label}


def _says(
    dots: Sequence[Dot], machine: Machine | None, roofs: Sequence[Ceiling],
    calls: Sequence[CallLine],
) -> list[str]:  # fmt: skip
    """A sentence for each named stop."""
    stops = [_roof_says(dots, machine, roofs), _call_says(machine, calls)]
    if len(dots) == 1:
        (dot,) = dots
        time = (
            f"Your own measurement, time against work: {dot.label} takes {si(dot.seconds, 's')}. "
            "One point alone does not say whether that is fast."
        )
        rate = (
            "The same point, divided: FLOP by bytes, FLOP by seconds. Now height is speed: "
            f"{si(dot.rate, 'FLOP/s')}."
        )
        return [time, rate, *stops]
    longest = max(dots, key=lambda d: d.seconds)
    shortest = min(dots, key=lambda d: d.seconds)
    near = sum(d.seconds < 0.05 * longest.seconds for d in dots)
    ratio = plain(longest.seconds / shortest.seconds, 2)
    time = (
        f"Your own {len(dots)} measurements, time against work. {longest.label} takes "
        f"{si(longest.seconds, 's')}, {ratio} times as long as {shortest.label}; {near} of "
        f"{len(dots)} points are crushed into the lowest 5 % of the picture. Nothing can be read "
        "there."
    )
    best = max(dots, key=lambda d: d.rate)
    rate = (
        f"The same points, each divided: FLOP by bytes, FLOP by seconds. Now height is speed: "
        f"{best.label} is the fastest, {si(best.rate, 'FLOP/s')}. To the left they still stick "
        "together."
    )
    return [time, rate, *stops]


def _roof_says(dots: Sequence[Dot], machine: Machine | None, roofs: Sequence[Ceiling]) -> str:
    every = "every point has" if len(dots) > 1 else "the point has"
    room = f"Each step is now a factor of ten, and {every} its room."
    if machine is None or not roofs:
        return f"{room} The roofs of the machine they come from are not known here; pass machine=."
    roof = roofs[0].roof
    share = max(d.rate / roof.peak for d in dots)
    return (
        f"{room} The line is the roof of {machine.name}: {si(roof.bandwidth, 'B/s')} from memory, "
        f"then {si(roof.peak, 'FLOP/s')}, with the ridge at {theme.ridge(roof.ridge)} FLOP/byte. "
        f"Your {'best ' if len(dots) > 1 else ''}point reaches {percent(share)} of the peak."
    )


def _call_says(machine: Machine | None, calls: Sequence[CallLine]) -> str:
    if not calls:
        return "What a call costs was not measured on this machine, so there is no line to draw."
    cheapest, dearest = (f(calls, key=lambda c: c.seconds) for f in (min, max))
    span = f"{si(cheapest.seconds, 's')}"
    if dearest is not cheapest:
        span += f" to {si(dearest.seconds, 's')}"
    return (
        f"A call alone costs {span} here, even if it does nothing. FLOP ÷ call time is the dashed "
        "line: small problems climb it before they reach the roof. Slide back, and it is a floor "
        "under the times."
    )


# The morph as one PNG: its first and its last stop, one below the other, drawn by matplotlib.


SMALLER = 72 / canvas.DPI  # points in a CSS pixel


def still(geometry: dict[str, Any]) -> bytes:
    """PNG of the geometry of :mod:`rooflab.show.time_to_roofline`: time against work, and the
    roofline."""
    width, height = geometry["width"], geometry["height"]
    with rc_context(theme.RC):
        figure = Figure((width / canvas.DPI, 2 * height / canvas.DPI), dpi=canvas.DPI)
        FigureCanvasAgg(figure)
        for row, layout in enumerate((0, 2)):
            ax = figure.add_axes((0, 0.5 - row / 2, 1, 0.5))
            ax.set(xlim=(0, width), ylim=(height, 0))
            ax.axis("off")
            _axes(ax, geometry, layout)
            if layout == 2:
                _lines(ax, geometry)
            _points(ax, geometry, layout)
        return canvas.png(figure, transparent=False)


def _write(ax: Any, text: str, at: Any, **look: Any) -> None:
    look = {"ha": "center", "color": theme.INK, "size": 15 * SMALLER} | look
    x, y, *slant = at  # in degrees, clockwise as in the browser
    ax.text(
        x,
        y,
        text,
        rotation=-slant[0] if slant else 0,
        rotation_mode="anchor",
        va="baseline",
        path_effects=[withStroke(linewidth=3, foreground="white")],
        **look,
    )


def _axes(ax: Any, geometry: dict[str, Any], layout: int) -> None:
    left, top, right, bottom = geometry["plot"]
    axis = geometry["axes"][layout]
    ax.plot([left, left, right], [top, bottom, bottom], color=theme.CEILING, lw=0.8)
    for text, x, _ in axis["x"]:
        ax.plot([x, x], [top, bottom], color=theme.GRID, lw=0.8, zorder=0)
        _write(ax, text, (x, bottom + 20))
    for text, y, _ in axis["y"]:
        ax.plot([left, right], [y, y], color=theme.GRID, lw=0.8, zorder=0)
        _write(ax, text, (left - 7, y + 5), ha="right")
    _write(ax, axis["names"][0], (right, bottom + 44), ha="right")
    _write(ax, axis["names"][1], (left - 60, top - 14), ha="left")


def _lines(ax: Any, geometry: dict[str, Any]) -> None:
    left, top, right, bottom = geometry["plot"]
    room = Rectangle((left, top), right - left, bottom - top, transform=ax.transData)
    for line in (*geometry["roofs"], *geometry["calls"]):
        call = "colour" in line
        look = {"color": line["colour"], "ls": (0, (5, 3)), "lw": 1.8} if call else {
            "color": "#444444" if line["main"] else theme.CEILING,
            "lw": 2.4 if line["main"] else 1.2,
        }  # fmt: skip
        ax.plot(*zip(*line["path"][2], strict=True), **look)[0].set_clip_path(room)
        texts = [[line["says"], line["label"]]] if call else line["labels"]
        for text, at in texts:
            if at:
                _write(ax, text, at, color=line["colour"] if call else "#333333")


def _points(ax: Any, geometry: dict[str, Any], layout: int) -> None:
    for p in geometry["points"]:
        (x, y), guess = p["at"][layout], p.get("guess")
        if guess:
            gx, gy = guess["at"][layout]
            ax.plot([x, gx], [y, gy], ":", color=p["colour"], lw=1.6)
            ax.plot(gx, gy, p["marker"], ms=9, mfc="white", mec=p["colour"], mew=2)
            if guess["label"][layout]:
                _write(ax, guess["says"], guess["label"][layout], color=p["colour"])
        ax.plot(x, y, p["marker"], ms=9, mfc=p["colour"], mec="white", mew=0.8, zorder=5)
        if p["label"][layout]:
            _write(ax, p["name"], p["label"][layout], color=p["colour"], zorder=6)
    for note in geometry["notes"][layout]["marks"]:
        ax.plot(*zip(*note["lead"], strict=True), color=theme.CEILING, lw=0.8)
        _write(ax, note["text"], note["at"], color=note["colour"] or theme.CEILING)


class Morph(anywidget.AnyWidget):
    """The picture with its slider; ``at`` is 0 to 300, a hundred to each named stop.

    ``after``: what has to be uncovered first, guess axes above all.
    """

    _esm = canvas.source("overlay.js", "reading.js", "morph.js")
    _css = canvas.source("overlay.css", "morph.css")
    uid = traitlets.Unicode().tag(sync=True)
    geometry = traitlets.Dict().tag(sync=True)
    at = traitlets.Int(0, min=0, max=LAST).tag(sync=True)
    #: Ids of the widgets that it waits for, and of those that its guesses are placed on.
    waits = traitlets.List(traitlets.Unicode()).tag(sync=True)
    cover = traitlets.Unicode().tag(sync=True)
    covered = traitlets.Bool(False).tag(sync=True)

    def __init__(self, after: Sequence[Any], axes: Sequence[Any], **traits: Any) -> None:
        self.after = tuple(after)
        self.axes = {axis.model_id: axis for axis in axes}
        super().__init__(
            waits=[one.model_id for one in self.after],
            cover=waiting_sentence(self.after) if self.after else "",
            covered=any(one.covered for one in self.after),
            **traits,
        )
        for one in self.after:
            one.observe(self._look, "covered")

    def _look(self, change: Any) -> None:
        self.covered = any(one.covered for one in self.after)

    @property
    def sentence(self) -> str:
        """What the picture says at the named stop that is nearest, or what it waits for."""
        return self.cover if self.covered else self.geometry["says"][stop_of(self.at)]

    @property
    def words(self) -> str:
        """The whole picture in words: the named stops, then every point."""
        if self.covered:
            return self.cover
        seen = resolved(self.geometry, self.axes)
        return "\n".join([*seen["says"], *(p["says"] for p in seen["points"])])

    def still(self) -> bytes:
        """First and last stop as one PNG, drawn by matplotlib."""
        if self.covered:
            return covered(self.cover)
        return self._drawn()

    def _drawn(self) -> bytes:
        return still(resolved(self.geometry, self.axes))

    def _repr_mimebundle_(self, **kwargs: Any) -> canvas.Bundle:
        under = (self._drawn(), "First and last stop, uncovered.") if self.covered else None
        live = super()._repr_mimebundle_(**kwargs)
        return canvas.mimebundle(live, self.still(), self.words, under, cut=0.5)


def morph(
    measurements: Iterable[Measurement] | Measurement,
    *,
    machine: Machine | str | None = None,
    guesses: Mapping[Any, Any] | None = None,
    after: Any = None,
) -> Morph:
    """Show ``measurements`` (from ``rl.measure``) on one slider from their times to the roofline.

    Nothing is measured, and everything moves in the browser.

    Parameters
    ----------
    measurements : Measurement or iterable of Measurement
        The points.
    machine : Machine or str, optional
        Whose roof and call cost are drawn; None takes the machine they were measured on, if its
        roofs are stored or recorded.
    guesses : mapping, optional
        Operation, or its label → guessed seconds, or what ``rl.guess`` or ``rl.ask`` returned; each
        hangs as a hollow marker with "off by ×k". None draws no guesses.
    after : GuessAxis, SortCards, iterable or mapping of them, optional
        What ``rl.ask`` (or ``rl.sort``) returned, one or several: the picture stays covered until
        all of them are uncovered. As a dict, operation → what ``rl.ask`` returned, it gives the
        guesses as well. None covers nothing.

    Returns
    -------
    Morph
        A widget; ``sentence`` says what it shows at the nearest of its named stops.

    Raises
    ------
    TypeError or ValueError
        For what is no measurement, for a guess about an operation that is not among them, for one
        that is no positive number of seconds, and for an ``after`` that is never covered.

    Examples
    --------
    >>> morph = rl.live.morph(rl.recording("epyc-2core-vm").measurements[:2])
    >>> morph.sentence.split(", ")[0]
    'Your own 2 measurements'
    """
    from rooflab.measure.this_machine import machine_of

    things = awaited(after)
    if isinstance(after, Mapping):
        if guesses is not None and not isinstance(guesses, Mapping):
            raise TypeError(f"guesses={guesses!r} must be a dict: an operation's label → seconds")
        axes = {key: one for key, one in after.items() if is_axis(one)}
        guesses = {**axes, **(guesses or {})}
    if isinstance(measurements, Iterable) and not isinstance(measurements, (str, Mapping)):
        measurements = list(measurements)
    seen = dots(measurements, None, guesses)
    where = _machine(machine) if machine is not None else machine_of(_listed(measurements))
    seen = dots(measurements, where, guesses)
    uid = canvas.free_model_id("rooflab-morph")
    asking = [one for one in (guesses or {}).values() if is_axis(one)]
    return Morph(things, asking, geometry=geometry(seen, where), uid=f"{uid}-clip", model_id=uid)


def _listed(measurements: Any) -> list[Measurement]:
    return [measurements] if isinstance(measurements, Measurement) else measurements

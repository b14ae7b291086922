"""The waterfall: from the roofline's bound, factor by factor, to the measured time."""

from __future__ import annotations

import dataclasses
import io
import math
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

import anywidget
import ipywidgets
import numpy as np
import traitlets
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.image import imread, imsave
from matplotlib.patches import Rectangle

from rooflab.count.dtypes import DType
from rooflab.count.operation import Operation
from rooflab.count.si import rounded, si, times
from rooflab.measure.this_machine import explain as explain_here
from rooflab.predict.estimate import CACHES, Prediction, peak_of, predict
from rooflab.predict.explain import Explanation, Factor, explain
from rooflab.predict.machine import Machine
from rooflab.show import canvas, captions, theme
from rooflab.show import scene as ruler
from rooflab.show.canvas import DPI
from rooflab.show.ceiling_lines import missing
from rooflab.show.machine_choices import Offer
from rooflab.show.roofline_figure import Picture
from rooflab.show.scene import Ledgers, Pool, Scene, Series

if TYPE_CHECKING:
    from rooflab.measure.measurement import Measurement
    from rooflab.show.box import BoxView

# The waterfall as places on a log axis: from the roofline's bound, factor by factor, to the time.
#
# On a log axis a factor is a length. Each bar starts where the last one ended, so the bars' lengths
# add up to the distance from the bound to the measured time: their product is measured / bound.
# One geometry serves the figure, the terminal and the browser.


BOUND, REST = "roofline bound", "unexplained"
ALLOWED = "{what} on {machine}: the roofline allows {bound}."
EXPECTED = ALLOWED.removesuffix(".") + ", {end} is predicted (×{factor})."
UNTIMED = "Nothing was measured at this size, so the waterfall stops at the prediction."
DATASHEET = (
    "A datasheet knows no caches, calls and routines: the waterfall stops at the bound. "
    "Choose a measured machine to go on."
)
NO_ROUTINES = "Its calls and routines were never timed: the waterfall stops at the bound."
SINGLE = "The steps are worked out for a single problem: set the batch to 1."
SIDE = {"cold": "This is the cold side.", "warm": "This is the warm side."}
_TICKS = (  # within a decade, and the decades between the two nearest of them
    ((1, 1.2, 1.5, 2, 3, 5, 7), math.log10(1.2)),
    ((1, 1.5, 2, 3, 5), math.log10(2 / 1.5)),
    ((1, 2, 5), math.log10(2)),
)
KEY = {"slower": "longer", "faster": "shorter", "rest": "unexplained"}
RULE = "Each bar starts where the last one ended."


@dataclass(frozen=True)
class WaterfallStep:
    """One bar, from ``start`` to ``end`` (log10 of seconds); ``note`` says why it is there."""

    name: str
    start: float
    end: float
    factor: str
    note: str

    @property
    def kind(self) -> str:
        """ "slower", "faster" or "same" (a factor that three digits write as ×1)."""
        if self.factor == "×1":
            return "same"
        return "slower" if self.end > self.start else "faster"

    @property
    def explained(self) -> bool:
        """Whether a known step made it."""
        return self.name != REST

    @property
    def seconds(self) -> str:
        """The time so far, formatted."""
        return seconds_of(self.end)


@dataclass(frozen=True)
class Fall:
    """A waterfall: the ``sentence`` above it, its ``start`` (log10 s) and the ``steps`` from there.

    ``reached``: "measured", "predicted", or "" when it stops at the bound; ``note``: which roof
    the bound comes from.
    """

    sentence: str
    note: str
    start: float
    steps: tuple[WaterfallStep, ...]
    reached: str

    @property
    def end(self) -> float:
        """Where it ends, log10 of seconds."""
        return self.steps[-1].end if self.steps else self.start

    @property
    def total(self) -> str:
        """The product of all factors, formatted."""
        return factor_text(_power(self.end - self.start))

    @property
    def places(self) -> tuple[float, ...]:
        """Start and end of every bar, log10 of seconds."""
        return (self.start, *(step.end for step in self.steps))

    @property
    def words(self) -> str:
        """The whole picture as text: the sentence, then a line a bar."""
        lines = [self.sentence, f"{BOUND}: {seconds_of(self.start)} ({self.note})."]
        lines += [f"{s.name} {s.factor}: {s.seconds} ({s.note})." for s in self.steps]
        if self.reached:
            lines.append(f"{self.reached}: {seconds_of(self.end)}, {self.total} the bound.")
        return "\n".join(lines)


def of_explanation(e: Explanation) -> Fall:
    """The waterfall of a measured time: its last bar ends at the time itself."""
    start = math.log10(e.bound)
    steps: list[WaterfallStep] = []
    place = start
    for factor in e.factors[:-1]:
        begin, place = place, place + math.log10(factor.factor)
        # What was never timed multiplies by exactly one: no bar, or it would look like a finding.
        if e.machine.routines or factor.factor != 1:
            steps.append(_step(factor, begin, place))
    steps.append(_step(e.factors[-1], place, math.log10(e.seconds)))
    return Fall(e.sentence, roof_of(e.op, e.machine), start, tuple(steps), "measured")


def of_prediction(op: Operation, machine: Machine, predicted: Prediction) -> Fall:
    """The waterfall of a predicted time, where nothing was measured."""
    first, *stages = predicted.terms
    ends = [math.log10(stage.seconds) for stage in predicted.terms]
    steps = tuple(
        WaterfallStep(stage.name, start, end, factor_text(_power(end - start)), stage.note)
        for stage, start, end in zip(stages, ends, ends[1:])
    )
    said = EXPECTED.format(**said_of(op, machine, first.seconds), end=si(predicted.seconds, "s"),
                           factor=times(predicted.seconds / first.seconds)[1:])  # fmt: skip
    return Fall(f"{said} {UNTIMED}", roof_of(op, machine), ends[0], steps, "predicted")


def of_bound(op: Operation, machine: Machine) -> Fall:
    """The waterfall of a machine of which only the roofs are known: it stops at the bound."""
    bound = predict(op, machine).bound
    said = f"{ALLOWED.format(**said_of(op, machine, bound))} {why_it_stops(machine)}"
    return Fall(said, roof_of(op, machine), math.log10(bound), (), "")


def roof_of(op: Operation, machine: Machine) -> str:
    """The two figures that the bound comes from, and where they come from."""
    peak, _ = peak_of(op, machine)
    bandwidth = machine.bandwidth("dram", "best")
    return f"{si(peak, 'FLOP/s')} peak, {si(bandwidth, 'B/s')} DRAM, {machine.provenance}"


def why_it_stops(machine: Machine) -> str:
    """Why the waterfall of ``machine`` ends at the bound."""
    return DATASHEET if machine.origin == "datasheet" else NO_ROUTINES


def said_of(op: Operation, machine: Machine, bound: float) -> dict[str, str]:
    """Values of the sentences: what, on which machine, and the bound in seconds."""
    return {"what": captions.what(op), "machine": machine.name, "bound": si(bound, "s")}


def window(places: Sequence[float], pad: float) -> tuple[float, float]:
    """Limits in decades that hold ``places``, ``pad`` (a share of the width) free on each side.

    Half a decade at least, so that a factor of 1.02 does not fill the picture.
    """
    lo, hi = min(places), max(places)
    width = max(0.5, hi - lo)
    slack = (width - (hi - lo)) / 2 + pad * width
    return lo - slack, hi + slack


def ticks(lo: float, hi: float, most: float = 9) -> tuple[tuple[float, str], ...]:
    """Ticks between ``lo`` and ``hi``, decades from the bound, each with its factor: ``×2``.

    As many as are useful, with at least a share 1/``most`` of the width between neighbours.
    """
    least = (hi - lo) / most
    for mantissas, gap in _TICKS:
        if gap >= least:
            marks = ((d + math.log10(m), times(m * 10.0**d, 2))
                     for d in range(math.floor(lo), math.ceil(hi)) for m in mantissas)  # fmt: skip
            return tuple((at, label) for at, label in marks if lo <= at <= hi)
    every = math.ceil(least)
    first = math.ceil(lo / every - 1e-9) * every
    return tuple((float(d), _factor(d)) for d in range(first, math.floor(hi) + 1, every))


def seconds_of(decades: float) -> str:
    """Format 10**decades seconds, also beyond what a float holds."""
    return si(10.0**decades, "s") if -300 < decades < 300 else f"1e{decades:.0f} s"


def _step(factor: Factor, start: float, end: float) -> WaterfallStep:
    return WaterfallStep(factor.name, start, end, factor_text(factor.factor), factor.note)


def factor_text(factor: float) -> str:
    """Format a factor in at most eight letters: ``×1.13``, ``×12,300``, ``×1.2e-9``."""
    if 1e-4 <= factor < 1e6 or not math.isfinite(factor):
        return times(factor)
    mantissa, _, exponent = f"{factor:.1e}".partition("e")
    return f"×{mantissa}e{int(exponent)}"


def _power(decades: float) -> float:
    return math.pow(10.0, min(decades, 308.0))


def _factor(decade: int) -> str:
    return times(10.0**decade, 1) if abs(decade) <= 3 else f"×1e{decade}"


# What the live waterfall gets: every step of every slider value, placed and formatted.
#
# Places are log10 of seconds as 16-bit integers; each lies where a ruler reads the same three
# digits that Python writes. Texts are 16-bit indices into one pool.


PER_DECADE, LOWEST = 4000, -12  # 16-bit places from 1 ps to 24 000 s, finer than three digits
NOTHING = 65535
_SIDES = (0.25, 0.6, 1.2, 2.2, 4, 8), (0.5, 1.1, 2.2, 3.2, 5, 8)  # decades left, right of the bound


def place(seconds: float) -> int:
    """The 16-bit place of a time, rounded to the three digits that are written."""
    code = round((math.log10(rounded(seconds, 3)) - LOWEST) * PER_DECADE)
    return min(max(code, 0), NOTHING - 1)


def windows() -> list[dict[str, Any]]:
    """Every window of the axis, narrowest first: the browser takes the first that fits."""
    found = [
        {"lo": -left, "hi": right, "ticks": [[at, label] for at, label in ticks(-left, right)]}
        for left, right in product(*_SIDES)
    ]
    return sorted(found, key=lambda one: one["hi"] - one["lo"])


def pack(scene: Scene) -> dict[str, object]:
    """Return the waterfalls of a scene as the browser wants them: JSON values and bytes.

    They are those of single problems, the first value of the second and third slider.
    """
    pool = Pool()
    ledgers = {
        (series.name, kind): ops_of(series, scene, kind)
        for series in scene.series
        for kind in scene.dtypes
    }
    first = scene.dtypes[0]
    return {
        "ops": [
            {
                "name": s.name, "label": s.label, "ink": theme.style(s.name).ink,
                "sizes": pool.table(captions.sizes(op) for op in ledgers[s.name, first]),
                "curves": {str(kind): _curves(ledgers[s.name, kind]) for kind in scene.dtypes},
            }
            for s in scene.series
        ],
        "many": len(scene.sliders[0].values),
        "sizes": [str(value) for value in scene.sliders[0].values],
        "machines": {offer.id: _offer(offer, scene, ledgers, pool) for offer in scene.offers},
        "windows": windows(),
        "seconds": ruler.seconds(), "perDecade": PER_DECADE, "lowest": LOWEST,
        "steps": ["level and mix", "call overhead", "routine efficiency"],
        "say": {
            "what": captions.WHAT, "allowed": ALLOWED, "expected": f"{EXPECTED} {UNTIMED}",
            "single": SINGLE, "bound": BOUND, "rest": REST, "rule": RULE, **KEY, **SIDE,
            "jumps": f"measured at {scene.sliders[0].name} =",
            "jump": f"go to {scene.sliders[0].name} =",
        },
        "texts": pool.texts,
    }  # fmt: skip


def ops_of(series: Series, scene: Scene, kind: DType) -> list[Operation]:
    """The single problems of ``series``: one operation a value of the first slider."""
    i, j, k = (slider.values for slider in scene.sliders)
    return [series.build(n, j[0], k[0], kind) for n in i]


def _offer(offer: Offer, scene: Scene, ledgers: Ledgers, pool: Pool) -> dict[str, object]:
    m = offer.machine
    if m is None:
        return {"name": offer.name, "kinds": [], "no": offer.reason}
    kinds = [kind for kind in scene.dtypes if not missing(m, kind, "cold")]
    ops = [ledgers[series.name, kind] for kind in kinds for series in scene.series]
    packed: dict[str, object] = {
        "name": offer.name, "kinds": [str(kind) for kind in kinds], "no": "no figure",
        "bound": [_bound(some, m) for some in ops],
        "notes": [pool.add(roof_of(some[0], m)) for some in ops],
        "why": why_it_stops(m),
    }  # fmt: skip
    timed = _timed(offer, scene, kinds, ledgers, pool)
    if m.routines or timed:
        packed["rows"] = {cache: _rows(ops, m, cache, pool) for cache in CACHES}
        packed["predicts"] = bool(m.routines)
        packed["measured"] = timed
    return packed


def _curves(ops: Sequence[Operation]) -> dict[str, bytes]:
    """log10 of the bytes and of the FLOPs of ``ops``: the shapes that every bound is made of."""
    moved, work = (np.log10([float(x) for x in xs]) for xs in (
        (op.bytes_at("dram") for op in ops), (op.flops for op in ops)
    ))  # fmt: skip
    return {"carry": moved.astype("<f4").tobytes(), "compute": work.astype("<f4").tobytes()}


def _bound(ops: Sequence[Operation], m: Machine) -> list[float]:
    """The bounds of ``ops``, growing in size: so many follow the one curve, the others the other.

    [how many, shift of those, shift of the others]; a curve and its shift add up to the log10 of
    predict()'s bound in seconds. Ten times smaller than the bounds of 40 machines themselves.
    """
    bandwidth, peak = m.bandwidth("dram", "best"), peak_of(ops[0], m)[0]
    carried = sum(op.bytes_at("dram") / bandwidth >= op.flops / peak for op in ops)
    return [carried, round(-math.log10(bandwidth), 6), round(-math.log10(peak), 6)]


def _rows(ops: Sequence[Sequence[Operation]], m: Machine, cache: str, pool: Pool) -> bytes:
    """Ten numbers an operation: three places, three factors, three notes, the product."""
    found = [_row(op, m, cache, pool) for some in ops for op in some]
    return np.array(found, "<u2").tobytes()


def _row(op: Operation, m: Machine, cache: str, pool: Pool) -> list[int]:
    terms = predict(op, m, cache=cache).terms
    reached = [term.seconds for term in terms]
    factors = [factor_text(after / before) for before, after in zip(reached, reached[1:])]
    factors.append(factor_text(reached[-1] / reached[0]))
    notes = [pool.add(term.note) for term in terms[1:]]
    factor = [pool.add(text) for text in factors]
    return [*(place(s) for s in reached[1:]), *factor[:3], *notes, factor[3]]


def _timed(
    offer: Offer, scene: Scene, kinds: Sequence[DType], ledgers: Ledgers, pool: Pool
) -> dict[str, dict[str, dict[str, dict[str, list[int]]]]]:
    """cache → dtype → operation → slider value → its last bar: place, factor, product, sentence."""
    index = {
        (name, str(kind), tuple(op.dims.items()), op.batch): at
        for (name, kind), ops in ledgers.items()
        for at, op in enumerate(ops)
    }
    found: dict[str, dict[str, dict[str, dict[str, list[int]]]]] = {}
    for m in offer.measurements:
        kind = str(m.op.compute_dtype)
        at = index.get((m.op.name, kind, tuple(m.op.dims.items()), m.op.batch))
        if at is None or kind not in map(str, kinds):
            continue
        e = explain(m, offer.machine)
        last = [pool.add(text) for text in (
            factor_text(e.factors[-1].factor), factor_text(e.seconds / e.bound), e.sentence,
            e.factors[-1].note,
        )]  # fmt: skip
        there = found.setdefault(m.cache, {}).setdefault(kind, {}).setdefault(m.op.name, {})
        there.setdefault(str(at), [place(e.seconds), *last])
    return found


# The static waterfall: ``rl.show.waterfall(measurement)``, from the bound to the measured time.


NAMES, TIMES = 282, 92  # pixels for the names and notes on the left, the times on the right
LINE, BAR = 19, 24  # pixels of a line of text, of a bar's height
SLOWER, FASTER, SAME = "#7B3294", "#00713A", theme.CEILING  # told apart by every kind of eye
WITH_RULE = 740  # pixels of the narrowest picture whose key has room for the rule
TICK = 64  # pixels at least between two ticks
LEAST = 3  # pixels of the shortest bar, so that ×1 is seen to be a step


def waterfall(
    measured: Measurement | Operation,
    machine: Machine | str | None = None,
    seconds: float | None = None,
    *,
    cache: str | None = None,
    width: int = 760,
) -> Picture:
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
    width : int
        Pixels at 100 dpi, 560 to 4000.

    Returns
    -------
    Picture
        A figure whose ``words`` say what it shows.

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
    if isinstance(width, bool) or not isinstance(width, int):
        raise TypeError(f"width={width!r} must be a whole number of pixels")
    if not 560 <= width <= 4000:
        raise ValueError(f"width={width} must be 560 to 4000 pixels")
    if isinstance(measured, Explanation):
        given = {"machine": machine, "seconds": seconds, "cache": cache}
        for name, value in given.items():
            if value is not None:
                raise TypeError(f"{name}={value!r}: an Explanation already has its own")
        return draw(of_explanation(measured), width)
    if not isinstance(getattr(measured, "op", measured), Operation):
        raise TypeError(
            f"measured={measured!r} is a {type(measured).__name__}; "
            "give a Measurement, an Explanation, or an Operation with machine= and seconds="
        )
    return draw(of_explanation(explain_here(measured, machine, seconds, cache=cache)), width)


@dataclass(frozen=True)
class Lane:
    """The part of the picture that holds the bars: decades to pixels."""

    x0: float
    x1: float
    lo: float
    hi: float

    def x(self, place: float) -> float:
        """Pixels from the left edge for ``place`` (log10 of seconds)."""
        return self.x0 + (place - self.lo) / (self.hi - self.lo) * (self.x1 - self.x0)

    @property
    def decade(self) -> float:
        """Pixels of a factor of ten."""
        return (self.x1 - self.x0) / (self.hi - self.lo)


def lane_of(fall: Fall, width: int = 760) -> Lane:
    """The lane of a picture ``width`` pixels wide."""
    return Lane(NAMES, width - TIMES, *window(fall.places, 0.06))


def bar_of(step: WaterfallStep, lane: Lane) -> tuple[float, float]:
    """Left and right edge of a bar in pixels."""
    left, right = sorted((lane.x(step.start), lane.x(step.end)))
    return left, right


@dataclass(frozen=True)
class _Page:
    """An axes in pixels, y downwards."""

    ax: Axes

    def text(self, x: float, y: float, text: str, **look: Any) -> None:
        self.ax.text(x, y, text, **{"va": "center", "fontsize": theme.SMALL, **look})


def draw(fall: Fall, width: int = 760) -> Picture:
    """Draw ``fall`` as a figure ``width`` pixels wide, as high as it needs; ``words`` say it."""
    said = textwrap.wrap(fall.sentence, int((width - 16) / 9.1))
    notes = [_wrapped(note) for note in (fall.note, *(step.note for step in fall.steps))]
    heights = [max(2, 1 + len(lines)) * LINE + 12 for lines in notes] + [LINE + 14]
    top = 10 + LINE * len(said) + 6 + LINE + 10
    height = top + sum(heights if fall.reached else heights[:-1]) + 46
    with rc_context(theme.RC):
        figure = Picture((width / DPI, height / DPI), dpi=DPI)
        FigureCanvasAgg(figure)
        ax = figure.add_axes((0, 0, 1, 1))
        ax.set(xlim=(0, width), ylim=(height, 0))
        ax.axis("off")
        page, lane = _Page(ax), lane_of(fall, width)
        for number, line in enumerate(said):
            page.text(8, 10 + LINE * (number + 0.5), line, fontsize=theme.FONT)
        _key(page, top - 10 - LINE / 2)
        _axis(page, fall, lane, top, height - 46)
        _figure_rows(page, fall, lane, notes, top, heights)
    figure.words = fall.words
    return figure


def _wrapped(note: str) -> list[str]:
    return textwrap.wrap(note, 33)


def _key(page: _Page, y: float) -> None:
    x = 8.0
    for kind, word in KEY.items():
        colour = {"slower": SLOWER, "faster": FASTER}.get(kind, SLOWER)
        page.ax.add_patch(Rectangle((x, y - 7), 22, 14, **_look(colour, kind != "rest")))
        page.text(x + 28, y, word)
        x += 28 + 9 * len(word) + 16
    if page.ax.get_xlim()[1] >= WITH_RULE:
        page.text(x, y, RULE, color="#555555")


def _axis(page: _Page, fall: Fall, lane: Lane, top: float, bottom: float) -> None:
    for at, label in ticks(lane.lo - fall.start, lane.hi - fall.start, (lane.x1 - lane.x0) / TICK):
        x = lane.x(fall.start + at)
        bound = at == 0
        page.ax.plot([x, x], [top, bottom], lw=1.6 if bound else 0.9, zorder=0,
                     color=theme.INK if bound else theme.GRID)  # fmt: skip
        page.text(x, bottom + 12, label, ha="center", weight="bold" if bound else "normal")
    page.text(
        (lane.x0 + lane.x1) / 2, bottom + 33, "times the bound (equal factors, equal lengths)",
        ha="center", color="#555555",
    )  # fmt: skip


def _figure_rows(
    page: _Page,
    fall: Fall,
    lane: Lane,
    notes: Sequence[Sequence[str]],
    top: float,
    heights: Sequence[float],
) -> None:
    right = page.ax.get_xlim()[1] - 8
    y, middle = top, top + heights[0] / 2
    _name(page, BOUND, notes[0], y)
    _stop(page, lane.x(fall.start), middle)
    page.text(right, top + 6 + LINE / 2, "time so far", ha="right", color="#555555")
    page.text(right, max(middle, top + 6 + LINE * 1.5), seconds_of(fall.start), ha="right")
    for step, lines, above, own in zip(fall.steps, notes[1:], heights, heights[1:]):
        y += above
        _name(page, step.name, lines, y)
        x = lane.x(step.start)
        page.ax.plot([x, x], [middle, y + own / 2], color="#777777", lw=1.1, zorder=1)
        middle = y + own / 2
        _bar(page, step, lane, middle)
        page.text(right, middle, step.seconds, ha="right")
    if fall.reached:
        y += heights[len(fall.steps)]
        x, last = lane.x(fall.end), y + heights[-1] / 2
        page.ax.plot([x, x], [middle, last], color="#777777", lw=1.1, zorder=1)
        _name(page, f"{fall.reached}: {fall.total} the bound", (), y)
        _stop(page, x, last, filled=fall.reached == "measured")
        page.text(right, last, seconds_of(fall.end), ha="right", weight="bold")


def _name(page: _Page, name: str, lines: Sequence[str], y: float) -> None:
    page.ax.plot([8, page.ax.get_xlim()[1] - 8], [y, y], color=theme.GRID, lw=0.9, zorder=0)
    page.text(8, y + 6 + LINE / 2, name, weight="bold", fontsize=theme.FONT)
    for number, line in enumerate(lines, 1):
        page.text(8, y + 6 + LINE * (number + 0.5), line, color="#555555")


def _stop(page: _Page, x: float, y: float, filled: bool = True) -> None:
    page.ax.plot([x], [y], "D", ms=9, mfc=theme.INK if filled else theme.PAPER, mec=theme.INK,
                 mew=1.8, zorder=4)  # fmt: skip


def _look(colour: str, solid: bool) -> dict[str, Any]:
    look: dict[str, Any] = {
        "facecolor": colour if solid else theme.PAPER,
        "edgecolor": colour,
        "lw": 1.4,
    }
    return look if solid else {**look, "hatch": "////"}


def _bar(page: _Page, step: WaterfallStep, lane: Lane, y: float) -> None:
    colour = {"slower": SLOWER, "faster": FASTER, "same": SAME}[step.kind]
    left, right = bar_of(step, lane)
    wide = max(right - left, LEAST)
    middle = (left + right) / 2
    page.ax.add_patch(
        Rectangle((middle - wide / 2, y - BAR / 2), wide, BAR, zorder=3,
                  **_look(colour, step.explained))
    )  # fmt: skip
    x, align, inside = _label_place(left, right, 10.5 * len(step.factor), lane, step.kind)
    back = (
        {"fc": theme.PAPER, "ec": "none", "pad": 1.5} if not inside or not step.explained else None
    )
    page.text(x, y, step.factor, ha=align, weight="bold", fontsize=theme.FONT, zorder=5, bbox=back,
              color=theme.PAPER if inside and step.explained else colour)  # fmt: skip


def _label_place(
    left: float, right: float, need: float, lane: Lane, kind: str
) -> tuple[float, str, bool]:
    """Where a bar's ×k stands: beyond its tip, else at its other end, else on it."""
    after, before = (right + 8, "left", False), (left - 8, "right", False)
    fits = {True: right + 8 + need <= lane.x1 + 6, False: left - 8 - need >= lane.x0 - 6}
    first, second = (after, before) if kind != "faster" else (before, after)
    for place, free in ((first, fits[first is after]), (second, fits[second is after])):
        if free:
            return place
    return (left + right) / 2, "center", True


# The live waterfall, below the live roofline on the same sliders and choices.


class WaterfallView(anywidget.AnyWidget):
    """Where the time goes: from the bound of one operation, factor by factor, to its time.

    Where the roofline shows both sides, the one that was measured at this size is explained.

    ``i`` and ``j`` are the sliders' indices; ``machine``, ``dtype``, ``cache`` and ``op`` are what
    is explained. A machine of which only the roofs are known stops at the bound, a size that was
    never measured at the prediction.
    """

    _esm = canvas.source("overlay.js", "reading.js", "waterfall.js")
    _css = canvas.source("live.css", "waterfall.css")
    data = traitlets.Dict().tag(sync=True)
    # Ticks are the browser's own: the kernel need not send them back.
    i = traitlets.Int(0).tag(sync=True, echo_update=False)
    j = traitlets.Int(0).tag(sync=True, echo_update=False)
    machine = traitlets.Unicode().tag(sync=True)
    dtype = traitlets.Unicode().tag(sync=True)
    cache = traitlets.Unicode("cold").tag(sync=True)
    op = traitlets.Unicode().tag(sync=True)

    def __init__(self, scene: Scene, **start: Any) -> None:
        self.scene = scene
        whole = ipywidgets.Layout(width="100%", margin="0")
        super().__init__(data=pack(scene), layout=whole, **start)

    @property
    def state(self) -> str:
        """ "cold" or "warm": what is explained; of both the one that was measured, first cold."""
        if self.cache != "both":
            return self.cache
        offer, op = self._offer, self._op
        timed = {m.cache for m in offer.measurements if m.op.label == op.label}
        return "warm" if timed == {"warm"} else "cold"

    @property
    def _offer(self) -> Offer:
        return next(one for one in self.scene.offers if one.id == self.machine)

    @property
    def _op(self) -> Operation:
        kind = next(d for d in self.scene.dtypes if str(d) == self.dtype)
        series = next(s for s in self.scene.series if s.name == self.op)
        return ops_of(series, self.scene, kind)[self.i]

    @property
    def fall(self) -> Fall | str:
        """The waterfall as it is now, or the reason why there is none."""
        found = self._fall()
        if self.cache != "both" or not isinstance(found, Fall) or not found.reached:
            return found
        return dataclasses.replace(found, sentence=f"{found.sentence} {SIDE[self.state]}")

    def _fall(self) -> Fall | str:
        offer = self._offer
        m, kind = offer.machine, self.dtype
        reason = offer.reason if m is None else missing(m, kind, "cold")
        if m is None or reason:
            return f"{offer.name}: {reason}."
        if self.j:
            return SINGLE
        op = self._op
        for timed in offer.measurements:
            if timed.op.label == op.label and timed.cache == self.state:
                return of_explanation(explain(timed, m))
        return (
            of_prediction(op, m, predict(op, m, cache=self.state))
            if m.routines
            else of_bound(op, m)
        )

    @property
    def sentence(self) -> str:
        """What the waterfall shows now, in words."""
        now = self.fall
        return now.words if isinstance(now, Fall) else now

    def picture(self, width: int = 760) -> Picture | None:
        """The still waterfall as it is now, ``width`` pixels wide; None where there is none."""
        now = self.fall
        return draw(now, width) if isinstance(now, Fall) else None


def waterfall_of(
    scene: Scene, start: Mapping[str, Any], box: BoxView | None = None
) -> WaterfallView:
    """The waterfall of ``scene``, where its sliders stand, with the choices of ``start``.

    It begins with the operation of ``box``, else with the first one that was measured there.
    """
    i, j, _ = (slider.start for slider in scene.sliders)
    choices = {key: start[key] for key in ("machine", "dtype", "cache")}
    view = WaterfallView(scene, i=i, j=j, op=scene.series[0].name, **choices)
    if box is not None:
        view.op = box.op
        return view
    for series in scene.series:
        view.op = series.name
        if isinstance(view.fall, Fall) and view.fall.reached == "measured":
            return view
    view.op = scene.series[0].name
    return view


def link_waterfall(
    waterfall: WaterfallView,
    sliders: Sequence[ipywidgets.Widget],
    roofline: ipywidgets.Widget,
    box: ipywidgets.Widget | None,
) -> None:
    """Tie ``waterfall`` to the sliders and choices of a live roofline, in the browser."""
    for letter, slider in zip("ij", sliders):
        ipywidgets.jslink((slider, "index"), (waterfall, letter))
    for choice in ("machine", "dtype", "cache"):
        ipywidgets.jslink((roofline, choice), (waterfall, choice))
    if box is not None:
        ipywidgets.jslink((box, "op"), (waterfall, "op"))


_NO_SOFTWARE: dict[str, Any] = {"Software": None}  # matplotlib would write its version there


def stacked(pictures: Sequence[Figure]) -> bytes:
    """One PNG of several figures, the first on top; the same figures give the same bytes."""
    images = [imread(io.BytesIO(canvas.png(one, transparent=False)))[..., :3] for one in pictures]
    wide = max(image.shape[1] for image in images)
    page = [np.pad(i, ((0, 0), (0, wide - i.shape[1]), (0, 0)), constant_values=1) for i in images]
    file = io.BytesIO()
    imsave(file, np.concatenate(page), format="png", metadata=_NO_SOFTWARE)
    return file.getvalue()

"""The free lunch, live: how much arithmetic fits into the time of carrying a number there and back.

``free_lunch(curve)`` shows the learner's own measured curve. A slider moves over it, two bars
(carrying, computing) fill, and the longer one is the time; a toggle redraws the same points as
work per second, where the same two lines are a roof. Everything moves in the browser.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import anywidget
import ipywidgets as widgets
import numpy as np
import traitlets
from matplotlib import rc_context
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullLocator

from rooflab.count.si import several, si
from rooflab.count.validation import unknown
from rooflab.show import canvas, theme
from rooflab.show.guess_axis import MINE

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from rooflab.show.guess_axis import GuessAxis

# A measured free-lunch curve: its two ends, its bend, and what to say at every point of it.


@dataclass(frozen=True)
class LunchSweep:
    """A measured curve with its two ends, as the picture needs it.

    k: multiply-adds on each of n numbers; seconds: time of one pass, for each k; flops: FLOP of
    one multiply-add on all numbers; carried: bytes there and back; bandwidth in byte/s from the
    flat end, peak in FLOP/s from the rising end; origin: where and when it was measured.
    """

    k: tuple[int, ...]
    seconds: tuple[float, ...]
    n: int
    flops: float
    carried: float
    bandwidth: float
    peak: float
    origin: str = ""

    @property
    def carry_s(self) -> float:
        """Seconds that carrying all numbers there and back takes."""
        return self.carried / self.bandwidth

    @property
    def compute_s(self) -> float:
        """Seconds that one multiply-add on every number takes."""
        return self.flops / self.peak

    @property
    def bend(self) -> float:
        """The k at which carrying and computing take equally long."""
        return self.carry_s / self.compute_s

    @property
    def ridge(self) -> float:
        """FLOP/byte of the bend."""
        return self.peak / self.bandwidth

    def rate(self, k: Any, seconds: Any) -> Any:
        """FLOP/s when k multiply-adds on each number take that long."""
        return self.flops * np.asarray(k) / np.asarray(seconds)


def ms(seconds: float) -> str:
    """Milliseconds with two significant digits, in the one unit the whole picture uses."""
    value = 1e3 * seconds
    decimals = max(0, 1 - math.floor(math.log10(value)))
    return f"{value:.{decimals}f} ms"


def stops(sweep: LunchSweep) -> list[int]:
    """The k the slider stops at: whole, even on the log axis, every measured one among them."""
    first, last = sweep.k[0], sweep.k[-1]
    between = np.rint(np.geomspace(first, last, 150)).astype(int)
    return sorted({*between.tolist(), *sweep.k})


def sentences(sweep: LunchSweep, k: int) -> tuple[str, str]:
    """What the picture says at k: of the time, and of the work per second."""
    carry, compute = sweep.carry_s, k * sweep.compute_s
    moral, verdict = _moral(compute / carry)
    adds = "1 multiply-add" if k == 1 else f"{k} multiply-adds"
    slower = max(carry, compute)
    time = f"{adds}: carrying {ms(carry)}, computing {ms(compute)} → {ms(slower)}. {moral}"
    by_carry, by_compute, least = (_rate(sweep, k, t) for t in (carry, compute, slower))
    rate = (
        f"{adds} ({k * sweep.flops / sweep.n:g} FLOP): carrying allows {by_carry}, "
        f"computing {by_compute} → {least}. {verdict}"
    )
    seen = dict(zip(sweep.k, sweep.seconds, strict=True)).get(k)
    if seen is None:
        return time, rate
    return f"{time} You measured {ms(seen)}.", f"{rate} You measured {_rate(sweep, k, seen)}."


def _rate(sweep: LunchSweep, k: int, seconds: float) -> str:
    return si(float(sweep.rate(k, seconds)), "FLOP/s")


def _moral(share: float) -> tuple[str, str]:
    """The lesson where computing takes ``share`` of carrying: for the time, for the rate."""
    if share < 0.8:
        return "The arithmetic is free.", "Carrying decides."
    if share <= 1.25:
        return "Both take about as long: here the curve bends.", "Here the roof bends."
    return "Now you pay for the arithmetic, and the carrying is free.", "Computing decides."


def read_curve(curve: Any) -> LunchSweep:
    """Read a measured curve (:class:`rooflab.measure.free_lunch.FreeLunch`, or one like it).

    Raises TypeError if it lacks something, ValueError if it cannot be drawn.
    """
    needed = ("k", "seconds", "n", "flops", "bytes", "bandwidth", "peak")
    missing = [name for name in needed if name not in dir(curve)]
    if missing:
        raise TypeError(
            f"curve={curve!r} has no {', '.join(missing)}; pass a measured free-lunch curve"
        )
    k = tuple(int(v) for v in curve.k)
    seconds = tuple(float(v) for v in curve.seconds)
    if len(k) != len(seconds) or len(k) < 2:
        raise ValueError(f"curve has {len(k)} k and {len(seconds)} seconds; give 2 or more of both")
    if k[0] < 1 or any(a >= b for a, b in itertools.pairwise(k)):
        raise ValueError(f"curve.k={k} must rise and start at 1 or more")
    if not all(math.isfinite(t) and t > 0 for t in seconds):
        raise ValueError(f"curve.seconds={seconds} must be positive times in seconds")
    return LunchSweep(
        k, seconds, int(curve.n), curve.flops[0] / k[0], curve.bytes,
        curve.bandwidth, curve.peak, _origin(curve),
    )  # fmt: skip


def _origin(curve: Any) -> str:
    """Whose curve this is: processor, threads, dtype, day; and what was wrong while measuring."""
    threads = getattr(curve, "threads", None)
    parts = [
        getattr(curve, "name", ""),
        several(threads, "thread") if threads else "",
        getattr(curve, "dtype", ""),
        getattr(curve, "measured_on", "")[:10],
        *getattr(curve, "warnings", ()),
    ]
    return " · ".join(part for part in parts if part)


# The free-lunch picture in numbers and pixels: every line, dot, bar and sentence, computed once.
#
# Two views of the same points over k, the multiply-adds done on each number: the time, where the
# line is flat and then rises, and the work per second, where the same line rises and is then flat.


WIDTH, HEIGHT = 720, 390
INSET = (92, 32, 18, 50)
#: The carrying bar's share of the room for bars. It never changes while k moves: that is the point.
#: A computing bar that needs more than the room runs off the edge and says so.
CARRY_SHARE = 0.3


def _limits(sweep: LunchSweep) -> dict[str, tuple[float, float]]:
    """y limits of both views: all dots, the roof, and a piece of each line beyond the bend."""
    t, k = np.asarray(sweep.seconds), np.asarray(sweep.k)
    rate = sweep.rate(k, t)
    low_t, high_t = min(t.min(), sweep.carry_s), max(t.max(), sweep.compute_s * sweep.k[-1])
    low_r = min(rate.min(), float(sweep.rate(sweep.k[0], sweep.carry_s)))
    high_r = max(rate.max(), sweep.peak)
    return {
        "time": (low_t / 5 * 1e3, high_t * 1.5 * 1e3),
        "rate": (low_r / 1.5 / 1e9, high_r * 5 / 1e9),
    }


def empty(sweep: LunchSweep, view: str) -> tuple[Figure, Axes]:
    """The empty log-log axes of a view: ms or GFLOP/s over multiply-adds per number."""
    with rc_context(theme.RC):
        figure, axes = canvas.empty_axes(WIDTH, HEIGHT, INSET)
        axes.set(xscale="log", yscale="log", ylim=_limits(sweep)[view])
        axes.set_xlim(sweep.k[0] / 1.15, sweep.k[-1] * 1.15)
        lo, hi = (math.log2(v) for v in axes.get_xlim())
        axes.xaxis.set_major_locator(
            FixedLocator([2**e for e in range(math.ceil(lo), math.floor(hi) + 1)])
        )
        axes.xaxis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:g}"))
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.yaxis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:g}"))
        axes.xaxis.set_minor_locator(NullLocator())
        axes.yaxis.set_minor_locator(NullLocator())
        what = "multiply-adds on each number" + ("" if view == "time" else " (2 FLOP each)")
        axes.set_xlabel(what, loc="left")
        note = "both axes: each step is a factor"
        axes.annotate(
            note, (1, 0), xycoords=("axes fraction", axes.xaxis.label), color=theme.CEILING,
            ha="right", va="bottom", size=theme.SMALL,
        )  # fmt: skip
        label = "time (ms)" if view == "time" else "work per second (GFLOP/s)"
        axes.annotate(label, (0, 1), (4, 7), "axes fraction", "offset points", va="bottom")
        axes.grid(color="black", alpha=0.1, lw=0.8)
        axes.set_axisbelow(True)
        axes.tick_params(length=3)
    return figure, axes


def values(sweep: LunchSweep, view: str, k: Any, seconds: Any) -> Any:
    """y of a view in its unit: ms, or GFLOP/s."""
    return np.asarray(seconds) * 1e3 if view == "time" else sweep.rate(k, seconds) / 1e9


def _place(sweep: LunchSweep, view: str, shown: Sequence[int], axes: Axes) -> dict[str, Any]:
    """Pixels of everything in one view."""
    k = np.asarray(shown)
    ends = np.array([axes.get_xlim()[0], axes.get_xlim()[1]])
    through = np.array([ends[0], sweep.bend, ends[1]])

    def at(x: Any, seconds: Any) -> list[list[float]]:
        return canvas.pixels(axes, x, values(sweep, view, x, seconds))

    carry = at(ends, np.full(2, sweep.carry_s))
    compute = at(ends, ends * sweep.compute_s)
    corner = at(through, np.maximum(sweep.carry_s, through * sweep.compute_s))
    slope = {
        name: round(math.degrees(math.atan2(b[1] - a[1], b[0] - a[0])), 1)
        for name, (a, b) in {"carry": carry, "compute": compute}.items()
    }
    return {
        "track": [y for _, y in at(k, np.maximum(sweep.carry_s, k * sweep.compute_s))],
        "dots": at(np.asarray(sweep.k), np.asarray(sweep.seconds)),
        "roof": [v for point in corner for v in point],
        "carry": [v for point in carry for v in point],
        "compute": [v for point in compute for v in point],
        "labels": _labels(view, axes, corner[1], slope),
    }


def guess_spots(sweep: LunchSweep, k: int, seconds: Sequence[float]) -> dict[str, list[Any]]:
    """Where guessed times at k lie in both views: [x, y, arrow] each.

    A guess beyond the axes sits at their edge, and its arrow says on which side it really is.
    """
    spots = {}
    for view in ("time", "rate"):
        axes = empty(sweep, view)[1]
        true = values(sweep, view, k, seconds)
        low, high = axes.get_ylim()
        placed = canvas.pixels(axes, k, np.clip(true, low, high))
        arrows = ["↑" if v > high else "↓" if v < low else "" for v in true]
        spots[view] = [[*spot, arrow] for spot, arrow in zip(placed, arrows, strict=True)]
    return spots


def _labels(view: str, axes: Axes, corner: list[float], slope: dict[str, float]) -> dict[str, Any]:
    """Where the names of the two lines stand: on the dotted ends, where no dot ever lies."""
    box = axes.get_window_extent()
    left, right, top, bottom = box.x0, box.x1, HEIGHT - box.y1, HEIGHT - box.y0
    x, y = corner
    lift = 8.0
    steep = "compute" if view == "time" else "carry"
    up = math.tan(math.radians(slope[steep]))
    if view == "time":  # the flat line goes on to the right, the steep one down to the left
        foot = min(x, max(left, x + (bottom - y) / up)) if up else x
        middle = ((foot + x) / 2, y + up * ((foot + x) / 2 - x))
        flat = (right - 6, y - lift)
    else:  # the flat line goes on to the left, the steep one up to the right
        head = min(right, max(x, x + (top - y) / up)) if up else x
        middle = ((x + head) / 2, y + up * ((x + head) / 2 - x))
        flat = (left + 10, y - lift)
    normal = math.radians(slope[steep])
    away = 17.0 if view == "time" else -lift
    spots = {
        steep: [
            middle[0] - away * math.sin(normal),
            middle[1] + away * math.cos(normal),
            slope[steep],
        ],
        ("carry" if view == "time" else "compute"): [*flat, 0.0],
    }
    return {name: [round(v, 1) for v in spot] for name, spot in spots.items()}


def lunch_geometry(sweep: LunchSweep) -> dict[str, Any]:
    """All that the browser needs, as plain JSON: pixels and words, nothing to compute."""
    k = stops(sweep)
    figures = {view: empty(sweep, view) for view in ("time", "rate")}
    axes = figures["time"][1]
    seen = dict(zip(sweep.k, sweep.seconds, strict=True))
    room = WIDTH - INSET[0] - INSET[2]
    scale = CARRY_SHARE * room / sweep.carry_s
    said = [sentences(sweep, stop) for stop in k]
    trio = [(sweep.carry_s, stop * sweep.compute_s, seen.get(stop)) for stop in k]
    box = axes.get_window_extent()
    views = {view: _place(sweep, view, k, ax) for view, (_, ax) in figures.items()}
    for index, view in enumerate(("time", "rate")):
        views[view]["says"] = [pair[index] for pair in said]
    return {
        "width": WIDTH,
        "height": HEIGHT,
        "plot": [round(v, 1) for v in (box.x0, HEIGHT - box.y1, box.x1, HEIGHT - box.y0)],
        "k": k,
        "x": [x for x, _ in canvas.pixels(axes, k, axes.get_ylim()[0])],
        "views": views,
        "bars": [
            [None if t is None else min(room, round(t * scale, 1)) for t in three] for three in trio
        ],
        "bar_says": [["" if t is None else ms(t) for t in three] for three in trio],
        "origin": sweep.origin,
        "words": {"carry": "carrying", "compute": "computing"},
        "names": {
            "carry": f"bandwidth {si(sweep.bandwidth, 'B/s')}",
            "compute": f"peak {si(sweep.peak, 'FLOP/s')}",
            "ridge": f"ridge: {sweep.bend:.3g} multiply-adds = {sweep.ridge:.3g} FLOP/byte",
        },
    }


# The free-lunch picture as one PNG: what a saved notebook, GitHub or a printer shows of it.


# The same colours as in overlay.css, where they are lighter on a dark page.
CARRY, COMPUTE, KEY = "#007D5C", "#A8327E", "#0B5CAD"
MINE_SAYS = "#7A5400"  # MINE is too light for letters on white


def still(
    sweep: LunchSweep,
    view: str,
    k: int | None,
    *,
    names: bool = False,
    guess: tuple[int, float] | None = None,
) -> bytes:
    """PNG of a view ("time" or "rate") with the marker at k, or covered where k is None.

    guess: (k, seconds) of the learner's guess, drawn orange and at the axes' edge if beyond it.
    """
    with rc_context(theme.RC):
        figure, axes = empty(sweep, view)
        if k is None:
            axes.text(
                0.5, 0.5, "covered until you have guessed", color=theme.CEILING, ha="center",
                va="center", transform=axes.transAxes,
            )  # fmt: skip
            return canvas.png(figure, transparent=False)

        def draw(at: Any, seconds: Any, **look: Any) -> None:
            axes.plot(at, values(sweep, view, at, seconds), **look)

        _roof(sweep, axes.get_xlim(), draw)
        draw(sweep.k, sweep.seconds, color=theme.INK, ls="", marker="o", ms=6)
        ring = {"ls": "", "marker": "o", "mfc": "none", "mec": KEY, "ms": 13, "mew": 2.2}
        draw([k], [max(sweep.carry_s, k * sweep.compute_s)], **ring)
        if guess is not None:
            low, high = axes.get_ylim()
            y = min(max(float(values(sweep, view, *guess)), low), high)
            axes.plot(guess[0], y, "o", ms=10, mfc=MINE, mec=theme.INK, mew=1.2, clip_on=False)
            at_top = y > (low * high) ** 0.5
            axes.annotate("your guess", (guess[0], y), (0, -16 if at_top else 10), ha="center",
                          textcoords="offset points", color=MINE_SAYS, weight="bold")  # fmt: skip
        _legend(sweep, view, names, axes)
        axes.annotate(
            sweep.origin, (1, 1), (0, 7), "axes fraction", "offset points", ha="right",
            color=theme.CEILING, size=theme.SMALL - 1,
        )  # fmt: skip
    return canvas.png(figure, transparent=False)


def _roof(sweep: LunchSweep, ends: tuple[float, float], draw: Any) -> None:
    """Both lines: solid where they are the roof, dotted where the other one is slower."""
    left, right = ends
    bend, carry, compute = sweep.bend, sweep.carry_s, sweep.compute_s
    for solid, x, seconds, colour in (
        (True, (left, bend), (carry, carry), CARRY),
        (False, (bend, right), (carry, carry), CARRY),
        (True, (bend, right), (carry, compute * right), COMPUTE),
        (False, (left, bend), (compute * left, carry), COMPUTE),
    ):
        if x[0] < x[1]:
            draw(x, seconds, color=colour, lw=2.4 if solid else 1.2, ls="-" if solid else ":")


def _legend(sweep: LunchSweep, view: str, names: bool, axes: Any) -> None:
    """The names of the lines, in the corner that the roof leaves empty."""
    words = {"carrying": CARRY, "computing": COMPUTE}
    if names:
        words = {
            f"bandwidth {si(sweep.bandwidth, 'B/s')}": CARRY,
            f"peak {si(sweep.peak, 'FLOP/s')}": COMPUTE,
            f"ridge {sweep.ridge:.3g} FLOP/byte": theme.CEILING,
        }
    least = "longer" if view == "time" else "lower"
    words |= {"dots: measured": theme.INK, f"line: the {least} of the two": theme.INK}
    for row, (text, colour) in enumerate(words.items()):
        x, top, side = (0.02, 0.93, "left") if view == "time" else (0.98, 0.38, "right")
        look = {"color": colour, "weight": "bold", "ha": side}
        axes.text(x, top - 0.08 * row, text, transform=axes.transAxes, **look)


VIEWS = ("time", "rate")
SECONDS = {"s": 1.0, "ms": 1e-3, "µs": 1e-6}


class LunchView(anywidget.AnyWidget):
    """The part that moves: axes as PNG, an SVG over them, two bars, a sentence."""

    _esm = canvas.source("overlay.js", "lunch.js")
    _css = canvas.source("overlay.css")
    uid = traitlets.Unicode().tag(sync=True)
    axes_time = traitlets.Bytes(b"").tag(sync=True)
    axes_rate = traitlets.Bytes(b"").tag(sync=True)
    geometry = traitlets.Dict().tag(sync=True)
    i = traitlets.Int(0).tag(sync=True)
    view = traitlets.Enum(VIEWS, "time").tag(sync=True)
    names = traitlets.Bool(False).tag(sync=True)
    covered = traitlets.Bool(False).tag(sync=True)
    #: The guess that uncovers the picture: where each place on its axis lies here, and which it is.
    guesses = traitlets.Dict().tag(sync=True)
    guess_at = traitlets.Int(-1).tag(sync=True)
    #: Ids of the widgets that a drag changes: the kernel hears of them when the hand rests.
    hushed = traitlets.List(traitlets.Unicode()).tag(sync=True)


class FreeLunchPicture(widgets.VBox):  # type: ignore[misc]  # ipywidgets has no types
    """A slider and the picture it moves; ``sweep`` is the curve, ``live`` the moving part."""

    def __init__(
        self,
        sweep: LunchSweep,
        *,
        names: bool,
        after: GuessAxis | None,
        guess_k: int | None,
        start: int,
        view: str,
    ) -> None:
        self.sweep, self._after, self._guess_k = sweep, after, guess_k
        uid = canvas.free_model_id("free-lunch-names" if names else "free-lunch")
        self._stops = (geometry := lunch_geometry(sweep))["k"]
        index = min(range(len(self._stops)), key=lambda i: abs(self._stops[i] - start))
        self.live = LunchView(
            uid=f"{uid}-plot",
            geometry=geometry,
            i=index,
            view=view,
            names=names,
            covered=after is not None and after.covered,
            guesses=_guesses(sweep, after, guess_k),
            guess_at=after.guess_at if after is not None else -1,
            axes_time=canvas.png(empty(sweep, "time")[0], transparent=True),
            axes_rate=canvas.png(empty(sweep, "rate")[0], transparent=True),
        )
        self.slider = widgets.SelectionSlider(
            options=[str(k) for k in self._stops],
            index=index,
            readout=False,  # the picture tells the number, where the handle is
            layout={"width": "auto", "margin": "0"},
        )
        self.live.hushed = [self.slider.model_id, self.live.model_id]
        super().__init__([self.live, self.slider], model_id=uid)
        self.add_class("rl-lunch")
        # All three run in the browser: no kernel is needed to move, to compare or to uncover.
        widgets.jslink((self.slider, "index"), (self.live, "i"))
        if after is not None:
            widgets.jslink((after, "guess_at"), (self.live, "guess_at"))
            widgets.jslink((after, "covered"), (self.live, "covered"))

    @property
    def sentence(self) -> str:
        """What the picture says now (as far as the kernel knows where the slider stands)."""
        if self.live.covered:
            return "The free lunch: covered until you have placed your guess."
        return self._said()

    def _said(self) -> str:
        time, rate = sentences(self.sweep, self._stops[self.live.i])
        return time if self.live.view == "time" else rate

    def still(self) -> bytes:
        """The whole picture as one PNG, drawn by matplotlib."""
        live = self.live
        if live.covered:
            return still(self.sweep, live.view, None, names=live.names)
        return self._drawn()

    def _drawn(self) -> bytes:
        live = self.live
        at = self._stops[live.i]
        return still(self.sweep, live.view, at, names=live.names, guess=self._guess())

    def _guess(self) -> tuple[int, float] | None:
        if self._after is None or self._guess_k is None or self._after.value is None:
            return None
        return self._guess_k, SECONDS[self._after.unit] * self._after.value

    def _repr_mimebundle_(self, **kwargs: Any) -> canvas.Bundle:
        live = super()._repr_mimebundle_(**kwargs)
        under = (self._drawn(), self._said()) if self.live.covered else None
        return canvas.mimebundle(live, self.still(), self.sentence, under)


def free_lunch(
    curve: Any,
    *,
    names: bool = False,
    after: GuessAxis | None = None,
    guess_k: int | None = None,
    start: int | None = None,
    view: str = "time",
) -> FreeLunchPicture:
    """Show a measured free-lunch curve with its slider, its two bars and its roof.

    Parameters
    ----------
    curve : FreeLunch
        This machine's or a recorded one.
    names : bool
        Also write bandwidth, peak and ridge at the lines; leave it out before the reveal.
    after : GuessAxis, optional
        What ``rl.ask`` returned: the picture stays covered until that guess is placed. None covers
        nothing.
    guess_k : int, optional
        The k that guess is about (its unit then is s, ms or µs): it stays as an orange marker. None
        draws no guess.
    start : int, optional
        The k at which the slider stands first; None: the smallest measured one.
    view : {"time", "rate"}
        What it shows first, the time or the work per second; the reader can change it.

    Returns
    -------
    FreeLunchPicture
        A widget; its ``sentence`` says what the picture shows.

    Raises
    ------
    TypeError
        For something that is no such curve.
    ValueError
        For a curve that cannot be drawn, for a start or guess_k outside it, and for another view.

    Examples
    --------
    >>> import numpy as np
    >>> k = np.array([1, 2, 4, 8, 16, 32, 64])
    >>> seconds = np.maximum(10e-3, 1e-3 * k)  # 10 ms of carrying, 1 ms for each multiply-add
    >>> curve = rl.FreeLunch(k, seconds, 0 * seconds, n=10_000_000, itemsize=4, threads=1)
    >>> print(rl.live.free_lunch(curve, start=64).sentence.split(". ")[0])
    64 multiply-adds: carrying 10 ms, computing 64 ms → 64 ms
    """
    if view not in VIEWS:
        raise unknown("view", view, VIEWS)
    sweep = read_curve(curve)
    if start is not None and not sweep.k[0] <= start <= sweep.k[-1]:
        raise ValueError(
            f"start={start!r} is outside the sweep: take {sweep.k[0]} to {sweep.k[-1]}"
        )
    if after is not None and not hasattr(after, "covered"):
        raise TypeError(f"after={after!r} is no guess axis; pass what rl.ask returned")
    if guess_k is not None and (after is None or after.unit not in SECONDS):
        raise ValueError(
            f"guess_k={guess_k!r} needs after=, a guess axis in one of {list(SECONDS)}"
        )
    if guess_k is not None and not sweep.k[0] <= guess_k <= sweep.k[-1]:
        raise ValueError(f"guess_k={guess_k!r} is outside the sweep: {sweep.k[0]} to {sweep.k[-1]}")
    first = sweep.k[0] if start is None else start
    return FreeLunchPicture(
        sweep, names=bool(names), after=after, guess_k=guess_k, start=first, view=view
    )


def _guesses(sweep: LunchSweep, after: GuessAxis | None, k: int | None) -> dict[str, Any]:
    if after is None or k is None:
        return {}
    seconds = [SECONDS[after.unit] * value for value in after.geometry["values"]]
    return {**guess_spots(sweep, k, seconds), "says": after.geometry["says"]}

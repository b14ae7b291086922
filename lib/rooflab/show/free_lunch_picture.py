"""The free lunch, live: how much arithmetic fits into the time of carrying a number there and back.

``free_lunch(curve)`` shows the learner's own measured curve. A slider moves over it, two bars
(carrying, computing) fill, and the longer one is the time; a toggle redraws the same points as
work per second, where the same two lines are a roof. Everything moves in the browser.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rooflab.count.si import several, si
from rooflab.count.validation import unknown
from rooflab.measure.free_lunch import FreeLunch
from rooflab.show.labels import width
from rooflab.show.measured_points import SECONDS
from rooflab.show.scene import By, Dim, Scene, Sum
from rooflab.show.scene.axes import LETTERS, Frame, Scale
from rooflab.show.scene.player import Player

if TYPE_CHECKING:
    from rooflab.show.guess_axis import GuessAxis

# The words.


def ms(seconds: float) -> str:
    """Milliseconds with two significant digits, in the one unit the whole picture uses."""
    value = 1e3 * seconds
    decimals = max(0, 1 - math.floor(math.log10(value)))
    return f"{value:.{decimals}f} ms"


def stops(curve: FreeLunch) -> list[int]:
    """The k the slider stops at: whole, even on the log axis, every measured one among them."""
    between = np.rint(np.geomspace(curve.k[0], curve.k[-1], 150)).astype(int)
    return sorted({*between.tolist(), *curve.k.tolist()})


def sentences(curve: FreeLunch, k: int) -> tuple[str, str]:
    """What the picture says at k: of the time, and of the work per second."""
    carry, compute = curve.carry_s, k * curve.compute_s
    moral, verdict = _moral(compute / carry)
    adds, times = several(k, "multiply-add"), (carry, compute, max(carry, compute))
    carrying, computing, longer = map(ms, times)
    by_carry, by_compute, least = (rate_text(curve, k, t) for t in times)
    allowed = f"carrying allows {by_carry}, computing {by_compute} → {least}, the smaller one"
    time = f"{adds}: carrying {carrying}, computing {computing} → {longer}. {moral}"
    rate = f"{adds} ({2 * k} FLOP): {allowed}. {verdict}"
    if k not in curve.k:
        return time, rate
    seen = float(curve.seconds[curve.k == k][0])
    return f"{time} Measured: {ms(seen)}.", f"{rate} Measured: {rate_text(curve, k, seen)}."


def rate_of(curve: FreeLunch, k: Any, seconds: Any) -> Any:
    """FLOP/s when k multiply-adds on each number take that long."""
    return 2 * curve.n * np.asarray(k) / np.asarray(seconds)


def rate_text(curve: FreeLunch, k: int, seconds: float) -> str:
    """The work per second when k multiply-adds on each number take that long."""
    return si(float(rate_of(curve, k, seconds)), "FLOP/s")


def _moral(share: float) -> tuple[str, str]:
    """The lesson where computing takes ``share`` of carrying: for the time, for the rate."""
    if share < 0.8:
        return "The arithmetic is free.", "Carrying decides."
    if share <= 1.25:
        return "Both take about as long: here the curve bends.", "Here the roof bends."
    return "Now you pay for the arithmetic, and the carrying is free.", "Computing decides."


# The picture: two views of the same points over k, the multiply-adds done on each number. As time,
# the line is flat and then rises; as work per second, the same line rises and is then flat.

VIEWS = ("time", "rate")
WIDE, NARROW, HEIGHT = 720, 400, 532
LEFT, PLOT_TOP, PLOT_BOTTOM = 100, 34, 330
BOLD = 1.1  # bold letters are so much wider
SLIDER, BARS = 412, 448  # where the slider lies, below both scales, and where the bars begin
#: The share of the room for bars that the one takes which never changes while k moves. The other
#: bar may need more than the room: then it runs off the edge and says so.
SHARE = 0.3


def lunch_scene(
    sweep: FreeLunch, wide: int, *, names: bool = False, start: int = 0, view: str = "time",
    guess: tuple[int, GuessAxis] | None = None,
) -> Scene:  # fmt: skip
    """The picture of ``sweep`` on a sheet ``wide`` pixels wide.

    ``guess``: a k and the axis on which the seconds at it were guessed.
    """
    k, labels = stops(sweep), ["time", "work per second"]
    dims = [
        Dim("view", labels, VIEWS, VIEWS.index(view), 300, keys=(0, 3)),
        Dim("i", [several(one, "multiply-add") for one in k], start=start),
    ]
    if names:
        dims.append(Dim("names", ["off", "on"], start=1))
    if guess is not None:
        dims.append(Dim("guess", ["none", *guess[1].geometry["says"]], start=0))
    sheet = _Sheet(sweep, Scene(wide, HEIGHT, dims), names)
    sheet.draw_axes()
    sheet.draw_roof()
    sheet.draw_labels()
    sheet.draw_dots()
    if guess is not None:
        sheet.draw_guess(*guess)
    sheet.draw_marker(k)
    sheet.draw_bars(k)
    scene = sheet.scene
    scene.choice("view", "what the picture shows", labels)
    if names:
        scene.switch("names", "names")
    scene.says = By("view i", [*zip(*(sentences(sweep, one) for one in k))])
    whose = (sweep.name, several(sweep.threads, "thread"), sweep.dtype, sweep.measured_on[:10])
    origin = " · ".join(filter(None, (*whose, *sweep.warnings)))
    scene.note(f"Dots: measured. Line: the slower of the two. {origin}")
    return scene


class _Sheet:
    """A sweep on a sheet of one width: its scene, and the scales of both views."""

    def __init__(self, sweep: FreeLunch, scene: Scene, names: bool) -> None:
        self.sweep, self.scene, self.names = sweep, scene, names
        self.frame = Frame(LEFT, PLOT_TOP, scene.width - 14, PLOT_BOTTOM)
        #: k → pixels, the same in both views; milliseconds or GFLOP/s → pixels.
        self.x = self.frame.x(sweep.k[0] / 1.15, sweep.k[-1] * 1.15)
        self.y = {view: self._scale(view) for view in VIEWS}

    def _scale(self, view: str) -> Scale:
        """Room for all dots, the roof, and a piece beyond."""
        sweep = self.sweep
        seen = self.value(view, sweep.k, sweep.seconds)
        flat, last = self.value(view, sweep.k[0], sweep.carry_s), sweep.k[-1]
        end = self.value(view, last, last * sweep.compute_s)
        below, above = (5, 1.5) if view == "time" else (1.5, 5)
        return self.frame.y(min(seen.min(), flat) / below, max(seen.max(), end) * above)

    def value(self, view: str, k: Any, seconds: Any) -> Any:
        """Milliseconds, or GFLOP/s of k multiply-adds on each number in ``seconds``."""
        return (
            np.asarray(seconds) * 1e3 if view == "time" else rate_of(self.sweep, k, seconds) / 1e9
        )

    def height(self, view: str, k: Any, seconds: Any) -> Any:
        """Pixels of what takes ``seconds`` with k multiply-adds on each number."""
        return self.y[view](self.value(view, k, seconds))

    def heights(self, k: Any, seconds: Any) -> By:
        """The height of one point in both views."""
        return By("view", [float(self.height(view, k, seconds)) for view in VIEWS])

    def draw_axes(self) -> None:
        """Ticks and names of both views: k below, and with the rate FLOP/byte as well."""
        scene, frame, x, foot = self.scene, self.frame, self.x, self.frame.bottom
        early, late = By("view", [1, 0, 0, 0]), By("view", [0, 0, 0, 1])
        for y, name, shown in zip(
            self.y.values(), ("time (ms)", "work per second (GFLOP/s)"), (early, late)
        ):
            values = y.steps() if y.hi < 300 * y.lo else y.decades()
            frame.y_ticks(scene, y, values, "{:g}".format, opacity=shown)
            scene.text(8, frame.top - 14, name, size=LETTERS, opacity=shown)
        twos = [2.0**e for e in range(math.ceil(math.log2(x.lo)), math.floor(math.log2(x.hi)) + 1)]
        frame.x_ticks(scene, x, twos, "{:g}".format)
        per = 2 * self.sweep.n / self.sweep.bytes  # FLOP/byte of one multiply-add on each number
        frame.x_ticks(
            scene, x, twos, lambda v: f"{v * per:.3g}", opacity=late, below=54, grid=False
        )
        look: dict[str, Any] = {"size": 13.5, "anchor": "end"}
        scene.text(frame.left - 8, foot + 20, "×", size=LETTERS, anchor="end")
        scene.text(frame.right, foot + 37, "multiply-adds on each number", "soft", **look)
        scene.text(frame.left - 8, foot + 54, "FLOP/byte", "soft", opacity=late, **look)
        frame.draw(scene)

    def draw_roof(self) -> None:
        """Both lines: solid where they are the roof, dotted where the other one is slower."""
        sweep, x = self.sweep, self.x
        bend, carry, compute = sweep.bend, sweep.carry_s, sweep.compute_s
        for name, look in (("beyond", {"width": 1.6, "dash": (2, 5)}), ("roof", {"width": 3})):
            low, high = (x.lo, x.hi) if name == "roof" else (x.hi, x.lo)
            for ink, far, most in (("carrying", low, carry), ("computing", high, compute * high)):
                points = [(x(k), self.heights(k, s)) for k, s in ((far, most), (bend, carry))]
                self.scene.line(points, ink, clip=self.frame.box, name=f"{name} {ink}", **look)
        if self.names:
            self._ridge()

    def _ridge(self) -> None:
        scene, frame, sweep, on = self.scene, self.frame, self.sweep, By("names", [0, 1])
        x, y = self.x(sweep.bend), self.heights(sweep.bend, sweep.carry_s)
        scene.line([(x, y), (x, frame.bottom)], "soft", dash=(1, 4), opacity=on)
        short = f"ridge: {sweep.ridge:.3g} FLOP/byte"
        long = short.replace(":", f": {sweep.bend:.3g} multiply-adds =")
        room = frame.right - x - 12
        words = next((one for one in (long, short) if width(one) < room), short.split(" FLOP")[0])
        beside, away = ("start", 6) if width(words) < room else ("end", -6)
        scene.text(x + away, frame.bottom - 28, words, "soft", size=14, halo=True, opacity=on,
                   anchor=beside, name="ridge-says")  # fmt: skip

    def draw_labels(self) -> None:
        """The names of the two lines: above the slope, and on the flat line's end without dots."""
        bandwidth, peak = si(self.sweep.bandwidth, "B/s"), si(self.sweep.peak, "FLOP/s")
        long = [f"bandwidth {bandwidth}", f"{bandwidth} × FLOP/byte"], [f"peak {peak}"] * 2
        for ink, figure, said in zip(("carrying", "computing"), (bandwidth, peak), long):
            found = [[self._label(view, [ink], ink) for view in VIEWS]]
            if self.names:
                both = zip(VIEWS, said)
                found.append([self._label(view, [one, figure], ink) for view, one in both])
            table = np.array(found if self.names else found[0], object)
            dims = "names view" if self.names else "view"
            place = Sum(By(dims, table[..., :3].astype(float)))
            self.scene.text(place, None, By(dims, table[..., 3]), ink, anchor="middle", bold=True,
                            halo=True, name=f"label {ink}")  # fmt: skip

    def _label(self, view: str, words: Sequence[str], ink: str) -> tuple[float, float, float, str]:
        """Middle of the baseline, slant and text of a label: the first of ``words`` with room."""
        sweep, frame, time = self.sweep, self.frame, view == "time"
        bend, level = self.x(sweep.bend), self.height(view, sweep.bend, sweep.carry_s)
        if (ink == "carrying") == time:  # the flat line
            text = _fitting(words, frame.right - bend if time else bend - frame.left)
            half = width(text) * BOLD / 2 + 4
            x = max(bend, frame.right - half) if time else min(bend, frame.left + half)
            return x, level - 8, 0.0, text
        # The slope, where it is solid: right of the bend in the time, left of it in the rate.
        end, to = (self.x.hi, frame.top) if time else (self.x.lo, frame.bottom)
        x, y = self.x(end), self.height(view, end, end * sweep.compute_s if time else sweep.carry_s)
        share = min(1.0, (to - level) / (y - level))  # of the way that is in the picture
        wide, high = share * abs(x - bend), share * abs(level - y)
        turn, side = -math.atan2(high, wide), 1 if time else -1
        middle = (bend + side * wide / 2 + 12 * math.sin(turn),
                  level - side * high / 2 - 12 * math.cos(turn))  # fmt: skip
        return *middle, math.degrees(turn), _fitting(words, math.hypot(wide, high))

    def draw_dots(self) -> None:
        """What was measured."""
        for k, seconds in zip(self.sweep.k, self.sweep.seconds, strict=True):
            self.scene.dot(self.x(k), self.heights(k, seconds), size=4.2, name="measured")

    def draw_guess(self, k: int, axis: GuessAxis) -> None:
        """The learner's guess. Beyond the axes it stands at their edge, and an arrow says where."""
        scene, frame, places = self.scene, self.frame, axis.geometry
        seconds = [SECONDS[axis.unit] * value for value in places["values"]]
        free = np.array([self.height(view, k, seconds) for view in VIEWS])
        arrows = np.where(free < frame.top, " ↑", np.where(free > frame.bottom, " ↓", ""))
        told = [places["says"], [rate_text(self.sweep, k, s) for s in seconds]]
        says = [["", *(f"your guess: {one}{arrow}" for one, arrow in zip(*both))]
                for both in zip(told, arrows)]  # fmt: skip
        y = np.insert(np.clip(free, frame.top, frame.bottom), 0, math.nan, axis=1)
        x, half = self.x(k), 70
        scene.dot(x, By("view guess", y), size=7.5, fill="mine", ink="ink", name="mine")
        lift = np.where(y < frame.bottom - 40, 24, -14)
        middle = min(max(x, frame.left + half), frame.right - half)
        scene.text(middle, By("view guess", y + lift), By("view guess", says), "mine-says",
                   anchor="middle", bold=True, halo=True, name="mine-says")  # fmt: skip

    def draw_marker(self, k: Sequence[int]) -> None:
        """The ring on the roof, its two guide lines, and how far along it stands."""
        scene, frame, sweep, at = self.scene, self.frame, self.sweep, np.asarray(k, float)
        slower = np.maximum(sweep.carry_s, at * sweep.compute_s)
        x = By("i", self.x(at))
        y = By("view i", [self.height(view, at, slower) for view in VIEWS])
        scene.line([(x, frame.bottom), (x, y), (frame.left, y)], "key", 1.5, dash=(3, 3))
        scene.dot(x, y, size=9, fill=None, ink="key", width=3, name="now")
        scene.text(x, frame.bottom - 8, By("i", [str(one) for one in k]), anchor="middle",
                   bold=True, halo=True, size=16, name="at")  # fmt: skip
        scene.grip("i", x, 0, area=frame.box)
        scene.slider("i", "multiply-adds on each number", at=self.x(at), y=SLIDER)

    def draw_bars(self, k: Sequence[int]) -> None:
        """What carrying and computing need, and what was measured.

        The longer of two times decides, and the lower of two rates.
        """
        scene, frame, sweep, at = self.scene, self.frame, self.sweep, np.asarray(k, float)
        room, seen = frame.right - frame.left, dict(zip(sweep.k.tolist(), sweep.seconds.tolist()))
        measured = [seen.get(one, math.nan) for one in k]
        time = np.array([np.full(len(at), sweep.carry_s), at * sweep.compute_s, measured])
        both = np.stack([time, rate_of(sweep, at, time)])  # view, bar, i
        long = both / np.array([sweep.carry_s, sweep.peak])[:, None, None] * SHARE * room
        wide = frame.left + np.minimum(long, room)
        end = np.stack([wide[0, :2].max(0), wide[1, :2].min(0)])
        for n, word in enumerate(("carrying", "computing", "measured")):
            bar, top, x, cut = n < 2, BARS + 28 * n, wide[:, n], long[:, n] >= room
            faint = abs(x - end) > 0.01  # it is the other one that decides
            foot = By("view", [top + 15, top + (9 if bar else 15)])
            scene.text(frame.left - 8, foot, word, word if bar else "ink", anchor="end", bold=bar)
            if bar:
                scene.text(frame.left - 8, top + 22, "allows", word, anchor="end", size=13.5,
                           opacity=By("view", [0, 1]), name="allows")  # fmt: skip
                scene.rect(frame.left, top, room, 20, "soft", opacity=0.12, name="bed")
                look: Any = {"opacity": By("view i", 1 - 0.55 * faint), "name": f"bar {word}"}
                scene.rect(frame.left, top, By("view i", x - frame.left), 20, word, **look)
                self._cut(top, cut)
            else:
                scene.dot(By("view i", np.where(cut, math.nan, x)), top + 10, size=4.2)
            rows = zip(VIEWS, both[:, n], cut)
            words = [[_bar_words(view, *one) for one in zip(*row)] for view, *row in rows]
            plain = "ink" if bar else np.where(np.isnan(x), "soft", "ink")
            beyond = bar & (x < end) & (x > end - 90)  # keep clear of the finish line
            inside, spot = (
                x > frame.right - 110,
                np.where(beyond, end, np.nan_to_num(x, nan=frame.left)),
            )
            scene.text(
                By("view i", np.where(inside, x - 10, spot + 10)), top + 15, By("view i", words),
                By("view i", np.where(inside & bar & ~faint, "paper", plain)),
                anchor=By("view i", np.where(inside, "end", "start")), name=f"value {word}",
            )  # fmt: skip
        line = By("view i", np.where(end < frame.right, end, math.nan))
        scene.line([(line, BARS - 4), (line, BARS + 76)], dash=(4, 3), name="finish")

    def _cut(self, top: float, cut: np.ndarray) -> None:
        """Two slanted gaps in a bar that goes on beyond the room."""
        for gap in (140, 128):
            x = np.where(cut, self.frame.right - gap, math.nan)
            points = [(By("view i", x), top - 2), (By("view i", x - 8), top + 22)]
            self.scene.line(points, "paper", 4, name="cut")


def _bar_words(view: str, value: float, cut: bool) -> str:
    """A bar's time or rate, with an arrow where it goes on."""
    if math.isnan(value):
        return "not measured here"
    return (ms(value) if view == "time" else si(value, "FLOP/s")) + (" →" if cut else "")


def _fitting(words: Sequence[str], room: float) -> str:
    """The first of some bold words for which there is room, or the last."""
    return next((one for one in words if width(one) * BOLD < room), words[-1])


class FreeLunchPicture(Player):
    """The picture of a measured curve, ``sweep``; ``i`` is where its slider stands."""

    def __init__(
        self, sweep: FreeLunch, after: GuessAxis | None, guess_k: int | None, **look: Any
    ) -> None:
        self.sweep = sweep
        guess = None if after is None or guess_k is None else (guess_k, after)
        follows = {"guess": (after.model_id, "guess_at", 1)} if guess and after else {}
        scenes = [lunch_scene(sweep, wide, guess=guess, **look) for wide in (WIDE, NARROW)]
        super().__init__(*scenes, stem="free-lunch", kind="rl-lunch", after=after, follows=follows)
        if guess and after:
            self.guess = after.guess_at + 1
            after.observe(lambda change: setattr(self, "guess", change["new"] + 1), "guess_at")


def _check(curve: Any) -> None:
    """Raise TypeError for what is no measured curve, ValueError for one that cannot be drawn."""
    if not isinstance(curve, FreeLunch):
        raise TypeError(f"curve={curve!r} is no measured curve; pass what rl.free_lunch() returned")
    k, seconds = np.asarray(curve.k), np.asarray(curve.seconds)
    if not (len(k) == len(seconds) > 1 and k[0] >= 1 and (np.diff(k) > 0).all()):
        raise ValueError(f"curve.k={k.tolist()} must rise from 1 or more, with a time for each")
    if not (np.isfinite(seconds) & (seconds > 0)).all():
        raise ValueError(f"curve.seconds={seconds.tolist()} must be positive times in seconds")


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
        The k that guess is about (its unit then is a time): it stays as an orange marker. None
        draws no guess.
    start : int, optional
        The k at which the slider stands first; None: the smallest measured one.
    view : {"time", "rate"}
        What it shows first, the time or the work per second; the reader can change it.

    Returns
    -------
    FreeLunchPicture
        A widget; its ``sentence`` says what the picture shows.

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
    _check(curve)
    if after is not None and not hasattr(after, "covered"):
        raise TypeError(f"after={after!r} is no guess axis; pass what rl.ask returned")
    if guess_k is not None and (after is None or after.unit not in SECONDS):
        units = list(SECONDS)
        raise ValueError(f"guess_k={guess_k!r} needs after=, a guess axis in one of {units}")
    for name, k in (("start", start), ("guess_k", guess_k)):
        if k is not None and not curve.k[0] <= k <= curve.k[-1]:
            raise ValueError(f"{name}={k!r} is outside the sweep: {curve.k[0]} to {curve.k[-1]}")
    first = curve.k[0] if start is None else start
    near = [abs(k - first) for k in stops(curve)]
    look = {"names": bool(names), "start": near.index(min(near)), "view": view}
    return FreeLunchPicture(curve, after, guess_k, **look)

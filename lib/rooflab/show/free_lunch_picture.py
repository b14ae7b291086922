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

import numpy as np

from rooflab.count.si import several, si
from rooflab.count.validation import unknown
from rooflab.measure.free_lunch import FreeLunch
from rooflab.show.labels import width
from rooflab.show.scene import By, Dim, Scene
from rooflab.show.scene.axes import LETTERS, Frame, Scale
from rooflab.show.scene.player import Player

if TYPE_CHECKING:
    from rooflab.show.guess_axis import GuessAxis


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
    adds = several(k, "multiply-add")
    slower = max(carry, compute)
    time = f"{adds}: carrying {ms(carry)}, computing {ms(compute)} → {ms(slower)}. {moral}"
    by_carry, by_compute, least = (_rate_text(curve, k, t) for t in (carry, compute, slower))
    rate = (
        f"{adds} ({2 * k} FLOP): carrying allows {by_carry}, "
        f"computing {by_compute} → {least}. {verdict}"
    )
    seen = _seen(curve).get(k)
    if seen is None:
        return time, rate
    return f"{time} You measured {ms(seen)}.", f"{rate} You measured {_rate_text(curve, k, seen)}."


def _seen(curve: FreeLunch) -> dict[int, float]:
    return dict(zip(curve.k.tolist(), curve.seconds.tolist(), strict=True))


def _rate(curve: FreeLunch, k: Any, seconds: Any) -> Any:
    """FLOP/s when k multiply-adds on each number take that long."""
    return 2 * curve.n * np.asarray(k) / np.asarray(seconds)


def _rate_text(curve: FreeLunch, k: int, seconds: float) -> str:
    return si(float(_rate(curve, k, seconds)), "FLOP/s")


def _moral(share: float) -> tuple[str, str]:
    """The lesson where computing takes ``share`` of carrying: for the time, for the rate."""
    if share < 0.8:
        return "The arithmetic is free.", "Carrying decides."
    if share <= 1.25:
        return "Both take about as long: here the curve bends.", "Here the roof bends."
    return "Now you pay for the arithmetic, and the carrying is free.", "Computing decides."


def _check(curve: Any) -> None:
    """Raise TypeError for what is no measured curve, ValueError for one that cannot be drawn."""
    if not isinstance(curve, FreeLunch):
        raise TypeError(f"curve={curve!r} is no measured curve; pass what rl.free_lunch() returned")
    k, seconds = curve.k.tolist(), curve.seconds.tolist()
    if len(k) != len(seconds) or len(k) < 2:
        raise ValueError(f"curve has {len(k)} k and {len(seconds)} seconds; give 2 or more of both")
    if k[0] < 1 or any(a >= b for a, b in itertools.pairwise(k)):
        raise ValueError(f"curve.k={tuple(k)} must rise and start at 1 or more")
    if not all(math.isfinite(t) and t > 0 for t in seconds):
        raise ValueError(f"curve.seconds={tuple(seconds)} must be positive times in seconds")


def _origin(curve: FreeLunch) -> str:
    """Whose curve this is: processor, threads, dtype, day; and what was wrong while measuring."""
    whose = (curve.name, several(curve.threads, "thread"), curve.dtype, curve.measured_on[:10])
    return " · ".join(filter(None, (*whose, *curve.warnings)))


# The picture: two views of the same points over k, the multiply-adds done on each number. As time,
# the line is flat and then rises; as work per second, the same line rises and is then flat.

VIEWS = ("time", "rate")
SECONDS = {"s": 1.0, "ms": 1e-3, "µs": 1e-6}
WIDE, NARROW, HEIGHT = 720, 400, 516
LEFT, PLOT_TOP, PLOT_BOTTOM = 100, 34, 330
BOLD = 1.1  # bold letters are so much wider
SLIDER, BARS = 396, 432  # where the slider lies, and where the bars begin
#: The share of the room for bars that the one takes which never changes while k moves. The other
#: bar may need more than the room: then it runs off the edge and says so.
SHARE = 0.3


@dataclass(frozen=True)
class _Drawing:
    """A sweep on a sheet of one width: its scene, and the scales of both views."""

    sweep: FreeLunch
    scene: Scene
    frame: Frame

    @property
    def x(self) -> Scale:
        """k → pixels, the same in both views."""
        k = self.sweep.k
        return self.frame.x(k[0] / 1.15, k[-1] * 1.15)

    def y(self, view: str) -> Scale:
        """Milliseconds or GFLOP/s → pixels: room for all dots, the roof, and a piece beyond."""
        sweep, t, k = self.sweep, np.asarray(self.sweep.seconds), np.asarray(self.sweep.k)
        if view == "time":
            low, high = min(t.min(), sweep.carry_s), max(t.max(), sweep.compute_s * k[-1])
            return self.frame.y(low / 5 * 1e3, high * 1.5 * 1e3)
        rate = _rate(sweep, k, t)
        low = min(rate.min(), float(_rate(sweep, k[0], sweep.carry_s)))
        return self.frame.y(low / 1.5 / 1e9, max(rate.max(), sweep.peak) * 5 / 1e9)

    def height(self, view: str, k: Any, seconds: Any) -> Any:
        """Pixels of what takes ``seconds`` with k multiply-adds on each number."""
        seen = np.asarray(seconds) * 1e3 if view == "time" else _rate(self.sweep, k, seconds) / 1e9
        return self.y(view)(seen)

    def points(self, k: Any, seconds: Any) -> By:
        """Points at k that take ``seconds``, in both views."""
        x = self.x(np.asarray(k, float))
        both = [np.column_stack([x, self.height(view, k, seconds)]) for view in VIEWS]
        return By("view", np.stack(both))

    def heights(self, k: Any, seconds: Any) -> By:
        """The height of one point in both views."""
        return By("view", [float(self.height(view, k, seconds)) for view in VIEWS])


def lunch_scene(
    sweep: FreeLunch, wide: int, *, names: bool = False, start: int = 0, view: str = "time",
    guess: tuple[int, GuessAxis] | None = None,
) -> Scene:  # fmt: skip
    """The picture of ``sweep`` on a sheet ``wide`` pixels wide.

    ``guess``: a k and the axis on which the seconds at it were guessed.
    """
    k = stops(sweep)
    adds = [several(one, "multiply-add") for one in k]
    dims = [
        Dim("view", ["time", "work per second"], VIEWS, VIEWS.index(view), 300, keys=(0, 3)),
        Dim("i", adds, start=start),
    ]
    if names:
        dims.append(Dim("names", ["off", "on"], start=1))
    if guess is not None:
        dims.append(Dim("guess", ["none", *guess[1].geometry["says"]], start=0))
    scene = Scene(wide, HEIGHT, dims)
    frame = Frame(LEFT, PLOT_TOP, wide - 14, PLOT_BOTTOM)
    drawing = _Drawing(sweep, scene, frame)
    _axes(drawing)
    _roof(drawing, names)
    for seen, seconds in zip(sweep.k, sweep.seconds, strict=True):
        scene.dot(drawing.x(seen), drawing.heights(seen, seconds), size=4.2, name="measured")
    if guess is not None:
        _guess(drawing, *guess)
    _marker(drawing, k)
    _bars(drawing, k)
    scene.choice("view", "what the picture shows", ["time", "work per second"])
    if names:
        scene.switch("names", "names")
    said = [sentences(sweep, one) for one in k]
    scene.says = By("view i", [[pair[n] for pair in said] for n in range(2)])
    scene.note("Dots: measured. Line: the slower of the two. " + _origin(sweep))
    return scene


def _axes(drawing: _Drawing) -> None:
    scene, frame, sweep, x = drawing.scene, drawing.frame, drawing.sweep, drawing.x
    for view, name in zip(VIEWS, ("time (ms)", "work per second (GFLOP/s)"), strict=True):
        shown = By("view", [1, 0, 0, 0] if view == "time" else [0, 0, 0, 1])
        y = drawing.y(view)
        frame.y_ticks(
            scene, y, y.steps() if y.hi < 300 * y.lo else y.decades(), _plain, opacity=shown
        )
        scene.text(frame.left - 60, frame.top - 14, name, size=LETTERS, opacity=shown)
    lo, hi = math.ceil(math.log2(x.lo)), math.floor(math.log2(x.hi))
    twos = [2.0**e for e in range(lo, hi + 1)]
    frame.x_ticks(scene, x, twos, _plain)
    below = By("view", [0, 0, 0, 1])
    per = 2 * sweep.n / sweep.bytes  # FLOP/byte of one multiply-add on each number
    frame.x_ticks(scene, x, twos, lambda v: f"{v * per:.3g}", opacity=below, below=54, grid=False)
    foot = frame.bottom
    scene.text(frame.left - 8, foot + 20, "×", size=LETTERS, anchor="end")
    scene.text(
        frame.right, foot + 37, "multiply-adds on each number", "soft", size=13, anchor="end"
    )
    scene.text(frame.left - 8, foot + 54, "FLOP/byte", "soft", size=13, anchor="end", opacity=below)
    frame.draw(scene)


def _plain(value: float) -> str:
    return f"{value:g}"


def _roof(drawing: _Drawing, names: bool) -> None:
    """Both lines: solid where they are the roof, dotted where the other one is slower."""
    scene, frame, sweep, x = drawing.scene, drawing.frame, drawing.sweep, drawing.x
    bend, carry, compute = sweep.bend, sweep.carry_s, sweep.compute_s
    for solid, ends, seconds, ink in (
        (False, (bend, x.hi), (carry, carry), "carrying"),
        (False, (x.lo, bend), (compute * x.lo, carry), "computing"),
        (True, (x.lo, bend), (carry, carry), "carrying"),
        (True, (bend, x.hi), (carry, compute * x.hi), "computing"),
    ):
        if ends[0] < ends[1]:
            look: dict[str, Any] = {"width": 3} if solid else {"width": 1.6, "dash": (2, 5)}
            points = drawing.points(ends, seconds)
            scene.line(
                points, ink, clip=frame.box, name=f"{'roof' if solid else 'beyond'} {ink}", **look
            )
    if names:
        _ridge(drawing)
    _labels(drawing, names)


def _ridge(drawing: _Drawing) -> None:
    scene, frame, sweep, on = drawing.scene, drawing.frame, drawing.sweep, By("names", [0, 1])
    x, y = drawing.x(sweep.bend), drawing.heights(sweep.bend, sweep.carry_s)
    scene.line([(x, y), (x, frame.bottom)], "soft", dash=(1, 4), opacity=on)
    short = f"ridge: {sweep.ridge:.3g} FLOP/byte"
    long = short.replace(":", f": {sweep.bend:.3g} multiply-adds =")
    words = long if x + 12 + width(long) < frame.right else short
    fits = x + 12 + width(words) < frame.right
    left, foot = (x + 6, frame.bottom - 28) if fits else (frame.left + 6, frame.top + 16)
    scene.text(left, foot, words, "soft", size=14, halo=True, opacity=on, name="ridge-says")


def _labels(drawing: _Drawing, names: bool) -> None:
    """The names of the two lines: on the dotted ends, where no dot ever lies."""
    sweep = drawing.sweep
    bandwidth, peak = si(sweep.bandwidth, "B/s"), si(sweep.peak, "FLOP/s")
    long = {
        "carrying": {"time": [f"bandwidth {bandwidth}"], "rate": [f"{bandwidth} × FLOP/byte"]},
        "computing": {"time": [f"peak {peak}"], "rate": [f"peak {peak}"]},
    }
    for ink, figure in (("carrying", bandwidth), ("computing", peak)):
        spots = []
        for shown in ([[ink]] * 2, [[*long[ink][view], figure] for view in VIEWS])[: 1 + names]:
            spots.append([_label(drawing, *one, ink) for one in zip(VIEWS, shown, strict=True)])
        dims = "names view" if names else "view"
        table = spots if names else spots[0]
        x, y, turn = (By(dims, np.array(table, object)[..., n].astype(float)) for n in range(3))
        words = By(dims, np.array(table, object)[..., 3])
        look: dict[str, Any] = {
            "anchor": "middle",
            "bold": True,
            "halo": True,
            "name": f"label {ink}",
        }
        drawing.scene.text(x, y, words, ink, turn=turn, **look)


def _label(
    drawing: _Drawing, view: str, words: Sequence[str], ink: str
) -> tuple[float, float, float, str]:
    """Middle of the baseline, slant and text of a label: the first of ``words`` with room."""
    sweep, frame = drawing.sweep, drawing.frame
    bend, level = drawing.x(sweep.bend), drawing.height(view, sweep.bend, sweep.carry_s)
    if (ink == "carrying") == (view == "time"):  # the flat line
        room = frame.right - bend if view == "time" else bend - frame.left
        text = next((one for one in words if width(one) * BOLD < room), words[-1])
        half = width(text) * BOLD / 2 + 4
        x = max(bend, frame.right - half) if view == "time" else min(bend, frame.left + half)
        return x, level - 8, 0.0, text
    end = sweep.k[0] / 1.15  # the slope: dotted below the bend of the time, solid in the rate
    seconds = end * sweep.compute_s if view == "time" else sweep.carry_s
    x, y = drawing.x(end), drawing.height(view, end, seconds)
    share = min(1.0, (frame.bottom - level) / (y - level))  # of the way that lies in the picture
    x, y = bend + share * (x - bend), level + share * (y - level)
    room = math.hypot(x - bend, y - level)
    text = next((one for one in words if width(one) * BOLD < room), words[-1])
    turn = math.atan2(level - y, bend - x)
    away = 17.0 if view == "time" else -12.0  # below the rising time, above the rising rate
    middle = (bend + x) / 2 - away * math.sin(turn), (level + y) / 2 + away * math.cos(turn)
    return *middle, math.degrees(turn), text


def _guess(drawing: _Drawing, k: int, axis: GuessAxis) -> None:
    """The learner's guess; beyond the axes it stands at their edge, and an arrow says where."""
    scene, frame, sweep = drawing.scene, drawing.frame, drawing.sweep
    seconds = [SECONDS[axis.unit] * value for value in axis.geometry["values"]]
    x, heights, says = drawing.x(k), [], []
    for view in VIEWS:
        free = [float(drawing.height(view, k, s)) for s in seconds]
        heights.append([math.nan, *np.clip(free, frame.top, frame.bottom)])
        told = (
            axis.geometry["says"] if view == "time" else [_rate_text(sweep, k, s) for s in seconds]
        )
        arrows = [" ↑" if y < frame.top else " ↓" if y > frame.bottom else "" for y in free]
        says.append(["", *(f"your guess: {one}{arrow}" for one, arrow in zip(told, arrows))])
    y = np.array(heights)
    scene.dot(x, By("view guess", y), size=7.5, fill="mine", ink="ink", name="mine")
    lift = np.where(y < frame.bottom - 40, 24, -14)
    half = 70
    middle = min(max(x, frame.left + half), frame.right - half)
    scene.text(middle, By("view guess", y + lift), By("view guess", says), "mine-says",
               anchor="middle", bold=True, halo=True, name="mine-says")  # fmt: skip


def _marker(drawing: _Drawing, k: Sequence[int]) -> None:
    """The ring on the roof, its two guide lines, and how far along it stands."""
    scene, frame, sweep = drawing.scene, drawing.frame, drawing.sweep
    at = np.asarray(k, float)
    slower = np.maximum(sweep.carry_s, at * sweep.compute_s)
    x, y = (
        By("i", drawing.x(at)),
        By("view i", [drawing.height(view, at, slower) for view in VIEWS]),
    )
    scene.line([(x, frame.bottom), (x, y), (frame.left, y)], "key", 1.5, dash=(3, 3))
    scene.dot(x, y, size=9, fill=None, ink="key", width=3, name="now")
    scene.text(x, frame.bottom - 8, By("i", [str(one) for one in k]), anchor="middle", bold=True,
               halo=True, size=16, name="at")  # fmt: skip
    scene.grip("i", x, 0, area=frame.box)
    scene.slider("i", "multiply-adds on each number", at=drawing.x(at), y=SLIDER)


def _bars(drawing: _Drawing, k: Sequence[int]) -> None:
    """What carrying and computing need, and what was measured: the longer time, the lower rate."""
    scene, frame, sweep = drawing.scene, drawing.frame, drawing.sweep
    room, at, seen = frame.right - frame.left, np.asarray(k, float), _seen(sweep)
    measured = [seen.get(one, math.nan) for one in k]
    time = np.array([np.full(len(at), sweep.carry_s), at * sweep.compute_s, measured])
    rate = _rate(sweep, at, time)
    long = np.stack([time / sweep.carry_s, rate / sweep.peak]) * SHARE * room  # view, bar, i
    wide = np.minimum(long, room)
    end = frame.left + np.stack([wide[0, :2].max(0), wide[1, :2].min(0)])
    for n, word in enumerate(("carrying", "computing", "measured")):
        top, x = BARS + 28 * n, frame.left + wide[:, n]
        ink = word if n < 2 else "ink"
        scene.text(frame.left - 8, top + 15, word, ink, anchor="end", bold=n < 2)
        if n == 2:
            there = np.where(wide[:, n] < room, x, math.nan)
            scene.dot(By("view i", there), top + 10, size=4.2)
        else:
            shown = np.where(abs(x - end) > 0.01, 0.45, 1.0)  # the other one decides
            length, strength = By("view i", wide[:, n]), By("view i", shown)
            scene.rect(frame.left, top, room, 20, "soft", opacity=0.12, name="bed")
            scene.rect(frame.left, top, length, 20, word, opacity=strength, name=f"bar {word}")
            _cut(scene, frame, top, long[:, n] >= room)
        said = np.array(
            [[_text(v, t) for t in both[n]] for v, both in zip(VIEWS, (time, rate))], object
        )
        said = said + np.where(long[:, n] >= room, " →", "").astype(object)
        inside = x > frame.right - 110
        beyond = (x < end) & (x > end - 90) & (n < 2)  # keep clear of the finish line
        spot = By("view i", np.where(inside, x - 10, np.where(beyond, end, x) + 10))
        look = By("view i", np.where(inside & (n < 2), "paper", "ink"))
        anchor = By("view i", np.where(inside, "end", "start"))
        scene.text(spot, top + 15, By("view i", said), look, anchor=anchor, name=f"value {word}")
    line = By("view i", np.where(end < frame.right, end, math.nan))
    scene.line([(line, BARS - 4), (line, BARS + 76)], dash=(4, 3), name="finish")


def _text(view: str, value: float) -> str:
    """A bar's time or rate; nothing for what was not measured."""
    if math.isnan(value):
        return ""
    return ms(value) if view == "time" else si(value, "FLOP/s")


def _cut(scene: Scene, frame: Frame, top: float, cut: np.ndarray) -> None:
    """Two slanted gaps in a bar that goes on beyond the room."""
    for gap in (140, 128):
        x = By("view i", np.where(cut, frame.right - gap, math.nan))
        lean = By("view i", np.where(cut, frame.right - gap - 8, math.nan))
        scene.line([(x, top - 2), (lean, top + 22)], "paper", 4, name="cut")


class FreeLunchPicture(Player):
    """The picture of a measured curve, ``sweep``; ``i`` is where its slider stands."""

    def __init__(
        self, sweep: FreeLunch, *, names: bool, after: GuessAxis | None, guess_k: int | None,
        start: int, view: str,
    ) -> None:  # fmt: skip
        self.sweep = sweep
        near = stops(sweep)
        index = min(range(len(near)), key=lambda i: abs(near[i] - start))
        guess = None if after is None or guess_k is None else (guess_k, after)
        follows = {"guess": (after.model_id, "guess_at", 1)} if guess and after else {}
        scenes = (
            lunch_scene(sweep, width, names=names, start=index, view=view, guess=guess)
            for width in (WIDE, NARROW)
        )
        super().__init__(*scenes, stem="free-lunch", kind="rl-lunch", after=after, follows=follows)
        if guess and after:
            self.guess = after.guess_at + 1
            after.observe(lambda change: setattr(self, "guess", change["new"] + 1), "guess_at")


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
    _check(curve)
    if start is not None and not curve.k[0] <= start <= curve.k[-1]:
        raise ValueError(
            f"start={start!r} is outside the sweep: take {curve.k[0]} to {curve.k[-1]}"
        )
    if after is not None and not hasattr(after, "covered"):
        raise TypeError(f"after={after!r} is no guess axis; pass what rl.ask returned")
    if guess_k is not None and (after is None or after.unit not in SECONDS):
        raise ValueError(
            f"guess_k={guess_k!r} needs after=, a guess axis in one of {list(SECONDS)}"
        )
    if guess_k is not None and not curve.k[0] <= guess_k <= curve.k[-1]:
        raise ValueError(f"guess_k={guess_k!r} is outside the sweep: {curve.k[0]} to {curve.k[-1]}")
    first = curve.k[0] if start is None else start
    return FreeLunchPicture(
        curve, names=bool(names), after=after, guess_k=guess_k, start=first, view=view
    )

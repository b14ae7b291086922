"""A guess before the measurement: an empty log axis to click on, and a result that waits under it.

A click places the guess, another moves it, a button or Enter makes it count. Everything is prepared
here and covered in the page, so that this works without a kernel too.
With a kernel, the guess also reaches ``store``: anything with ``get(id)``, ``record(id, value)``
and ``reveal_without_guess(id)``; this module keeps no guesses itself.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Protocol

import anywidget
import numpy as np
import traitlets
from matplotlib import rc_context
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from rooflab.count.si import times
from rooflab.show import canvas, theme

WIDTH, HEIGHT = 720, 140
INSET = (40, 76, 40, 58)
#: Places on the axis where a guess can be put: about every third pixel.
PLACES = 241
#: The learner's own guess, in every picture.
MINE = "#E69F00"
SAME_AS_SLIP = 1.2  # times the value that a slip leads to: nearer, and that slip was made
_WORDS = {"×": "times"}  # a unit as a sentence says it, where that is not the sign itself


class GuessStore(Protocol):
    """Where guesses are kept. ``get``: None, or something with ``value`` (None: only looked)."""

    def get(self, id: str) -> Any: ...
    def record(self, id: str, value: float) -> Any: ...
    def reveal_without_guess(self, id: str) -> Any: ...


class GuessAxis(anywidget.AnyWidget):
    """The axis, the guess on it and the covered result. Make one with ``guess``."""

    _esm = canvas.source("overlay.js", "guess.js")
    _css = canvas.source("overlay.css")
    question = traitlets.Unicode().tag(sync=True)
    axis_png = traitlets.Bytes(b"").tag(sync=True)
    geometry = traitlets.Dict().tag(sync=True)
    picture = traitlets.Bytes(b"").tag(sync=True)
    sentence = traitlets.Unicode().tag(sync=True)
    #: Which of the places holds the guess; -1 while there is none.
    guess_at = traitlets.Int(-1).tag(sync=True)
    covered = traitlets.Bool(True).tag(sync=True)

    def __init__(self, plan: _Plan, store: GuessStore | None, **traits: Any) -> None:
        self.plan, self.store = plan, store
        stored = store.get(plan.id) if store is not None else None
        value = getattr(stored, "value", None)
        if value is not None:
            traits["guess_at"] = PLACES
        super().__init__(
            question=plan.question,
            axis_png=canvas.png(plan.axes()[0], transparent=True),
            geometry=plan.geometry(value),
            covered=stored is None,
            model_id=canvas.free_model_id(f"guess-{plan.id}"),
            **traits,
        )
        self.observe(self._tell, "covered")

    @property
    def value(self) -> float | None:
        """The guess in the axis' unit, or None."""
        places = self.geometry["values"]
        return places[self.guess_at] if 0 <= self.guess_at < len(places) else None

    @property
    def unit(self) -> str:
        """The unit of the axis, of the guess and of the result."""
        return self.plan.unit

    def _tell(self, change: Any) -> None:
        # The browser sends the place of the guess and the uncovering in one message.
        if self.store is not None and not change["new"]:
            if self.value is None:
                self.store.reveal_without_guess(self.plan.id)
            else:
                self.store.record(self.plan.id, self.value)
        for twin in canvas.twins(self, GuessAxis, lambda axis: axis.plan.key):
            twin.guess_at, twin.covered = self.guess_at, self.covered

    def cover(self) -> None:
        """Cover the result again, as if nobody had guessed; what ``store`` has stays there."""
        self.guess_at = -1
        self.covered = True

    def still(self) -> bytes:
        """One PNG on white: the question over its axis, and what is uncovered of the answer."""
        return self.plan.still(self.value, self.covered)

    def _repr_mimebundle_(self, **kwargs: Any) -> canvas.Bundle:
        text = self.plan.asked if self.covered else self.plan.verdict(self.value)
        live = super()._repr_mimebundle_(**kwargs)
        if not self.covered:
            return canvas.mimebundle(live, self.still(), text)
        shown = self.plan.verdict(None)
        if not self.picture:
            under = (self.plan.still(None, False), shown)
            return canvas.mimebundle(live, self.still(), text, under)
        # The picture is what the guess was asked for; the number is said beside it.
        under = (self.picture, self.sentence or shown)
        return canvas.mimebundle(live, self.still(), text, under, says=shown)


class _Plan:
    """A question with its result and the axis it is asked on."""

    def __init__(
        self,
        id: str,
        question: str,
        result: float,
        unit: str,
        ends: tuple[float, float],
        marks: Mapping[str, float],
        slips: Mapping[str, float],
    ) -> None:
        self.id, self.question, self.result, self.unit = id, question, result, unit
        self.marks, self.slips = dict(marks), dict(slips)
        # A machine nobody thought of must not stop a lesson: the axis grows to hold all of it.
        self.low = min(ends[0], *(value / 2 for value in (result, *self.marks.values())))
        self.high = max(ends[1], *(value * 2 for value in (result, *self.marks.values())))

    @property
    def key(self) -> tuple[str, str, str]:
        """What two axes share that ask the same."""
        return self.id, self.question, self.unit

    @property
    def asked(self) -> str:
        """The question, and what is marked on its axis."""
        seen = "; ".join(f"{words}, {self.number(value)}" for words, value in self.marks.items())
        return f"{self.question} Marked on the axis: {seen}." if seen else self.question

    def number(self, value: float) -> str:
        """The value with two digits and its unit."""
        digits = max(0, 1 - math.floor(math.log10(value)))
        short = round(value, 1 - math.floor(math.log10(value)))
        written = theme.intensity(short) if short > 999 else f"{short:.{digits}f}"
        return f"{written} {_WORDS.get(self.unit, self.unit)}".rstrip()

    def verdict(self, value: float | None) -> str:
        """How far off a guess is; None stands for looking without guessing."""
        truth = self.number(self.result)
        if value is None:
            return f"It is {truth} (shown without a guess)."
        off = max(value / self.result, self.result / value)
        if off < 1.05:
            return f"You guessed {self.number(value)}, it is {truth}: spot on."
        side = "too high" if value > self.result else "too low"
        how_far = f"off by {times(float(f'{off:.2g}'))}, {side}"
        return f"You guessed {self.number(value)}, it is {truth}: {how_far}.{self._slip(value)}"

    def _slip(self, value: float) -> str:
        """What led to a guess of ``value``, if that is known."""
        for words, at in self.slips.items():
            if max(value / at, at / value) < SAME_AS_SLIP:
                return f" {words}"
        return ""

    def axes(self) -> tuple[Any, Any]:
        """The empty axis, one line with its ticks."""
        with rc_context(theme.RC):
            figure, axes = canvas.empty_axes(WIDTH, HEIGHT, INSET)
            axes.set(xscale="log", xlim=(self.low, self.high), ylim=(0, 1))
            decades = math.log10(self.high / self.low)
            axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if decades < 3.2 else (1,)))
            axes.xaxis.set_major_formatter(FuncFormatter(lambda v, _: theme.intensity(v)))
            axes.xaxis.set_minor_locator(
                LogLocator(subs=range(1, 10)) if decades < 8 else NullLocator()
            )
            axes.xaxis.set_minor_formatter(FuncFormatter(lambda v, _: ""))
            axes.yaxis.set_visible(False)
            axes.spines["left"].set_visible(False)
            axes.tick_params(which="major", length=6)
            axes.tick_params(which="minor", length=3)
            # Below the axis: beside it a long unit would be cut off.
            axes.set_xlabel(_WORDS.get(self.unit, self.unit))
            for words, value in self.marks.items():
                self._mark(axes, words, value)
        return figure, axes

    def _mark(self, axes: Any, words: str, value: float) -> None:
        """A short stroke on the axis, named at its left, where there is room."""
        stroke = axes.get_xaxis_transform()
        axes.plot([value, value], [0, 2], color=theme.INK, lw=2, transform=stroke, clip_on=False)
        left = value / self.low > (self.high / self.low) ** 0.2
        axes.annotate(
            words, (value, 0), xycoords=stroke, xytext=(-4 if left else 4, 1),
            textcoords="offset points", ha="right" if left else "left", va="bottom",
            size=theme.SMALL, color=theme.INK,
        )  # fmt: skip

    def geometry(self, stored: float | None) -> dict[str, Any]:
        """Places on the axis with their values, words and verdicts; a stored guess comes last."""
        axes = self.axes()[1]
        values = [float(f"{v:.4g}") for v in np.geomspace(self.low, self.high, PLACES)]
        values += [] if stored is None else [float(stored)]
        inside = np.clip([*values, self.result], self.low, self.high)
        x = [px for px, _ in canvas.pixels(axes, inside, 0)]
        return {
            "width": WIDTH,
            "height": HEIGHT,
            "plot": [INSET[0], INSET[1], WIDTH - INSET[2], HEIGHT - INSET[3]],
            "places": PLACES,
            "values": values,
            "x": x[:-1],
            "says": [self.number(v) for v in values],
            "verdicts": [self.verdict(v) for v in values],
            "truth": [x[-1], self.number(self.result)],
            "asked": self.asked,
            "shown": self.verdict(None),
        }

    def still(self, value: float | None, covered: bool) -> bytes:
        with rc_context(theme.RC):
            figure, axes = self.axes()
            figure.text(0.02, 0.97, self.question, weight="bold", va="top", wrap=True)
            if covered:
                hint = (
                    "Run this cell, then click on the axis: the result is covered until you guess."
                )
                figure.text(0.02, 0.65, hint, color=theme.CEILING, va="top", size=theme.SMALL)
            else:
                figure.text(0.02, 0.65, self.verdict(value), va="top")
                axes.plot(self.result, 0, "o", color=theme.INK, ms=9, clip_on=False)
            if value is not None:
                at = min(max(value, self.low), self.high)
                axes.plot(at, 0, "o", mfc=MINE, mec=theme.INK, mew=1.2, ms=11, clip_on=False)
        return canvas.png(figure, transparent=False)


def guess(
    id: str,
    question: str,
    *,
    result: float,
    unit: str = "",
    low: float,
    high: float,
    picture: bytes = b"",
    sentence: str = "",
    store: GuessStore | None = None,
    marks: Mapping[str, float] = MappingProxyType({}),
    slips: Mapping[str, float] = MappingProxyType({}),
) -> GuessAxis:
    """Ask for a guess on an empty log axis from ``low`` to ``high``; ``result`` waits covered.

    id: the name under which ``store`` keeps the guess. result, low, high: in ``unit``.
    picture (PNG bytes) and sentence are uncovered together with the result.
    A guess that ``store`` already has is shown at once, uncovered.
    marks: words → what is known already, marked on the axis. slips: a sentence → the value that
    a usual slip leads to; who guesses that is told so afterwards. Both in ``unit``.

    Raises TypeError or ValueError naming the argument; an axis too short for the result grows.
    """
    for name, text in {"id": id, "question": question}.items():
        if not isinstance(text, str) or not text.strip():
            raise TypeError(f"{name}={text!r} must be a text that is not empty")
    numbers = {"result": result, "low": low, "high": high}
    for name, value in [*numbers.items(), *marks.items(), *slips.items()]:
        if isinstance(value, bool) or not isinstance(value, (int, float, np.number)):
            raise TypeError(f"{name}={value!r} must be a number")
        if not (math.isfinite(value) and value > 0):
            raise ValueError(
                f"{name}={value!r} must be positive and finite: the axis is logarithmic"
            )
    if low >= high:
        raise ValueError(f"low={low!r} must be below high={high!r}")
    if not isinstance(picture, bytes) or (picture and not picture.startswith(b"\x89PNG")):
        raise TypeError("picture must be the bytes of a PNG file (or empty)")
    plan = _Plan(id, question, float(result), unit, (float(low), float(high)), marks, slips)
    return GuessAxis(plan, store, picture=picture, sentence=sentence)

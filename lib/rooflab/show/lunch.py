"""The free lunch, live: how much arithmetic fits into the time of carrying a number there and back.

``free_lunch(curve)`` shows the learner's own measured curve. A slider moves over it, two bars
(carrying, computing) fill, and the longer one is the time; a toggle redraws the same points as
work per second, where the same two lines are a roof. Everything moves in the browser.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import anywidget
import ipywidgets as widgets
import traitlets

from rooflab.count.suggest import unknown
from rooflab.show import lunch_plot, overlay
from rooflab.show.lunch_curve import Sweep, sentences
from rooflab.show.lunch_curve import sweep as read
from rooflab.show.lunch_still import still

if TYPE_CHECKING:
    from rooflab.show.guess_axis import GuessAxis

VIEWS = ("time", "rate")
SECONDS = {"s": 1.0, "ms": 1e-3, "µs": 1e-6}


class LunchView(anywidget.AnyWidget):
    """The part that moves: axes as PNG, an SVG over them, two bars, a sentence."""

    _esm = overlay.source("overlay.js", "lunch.js")
    _css = overlay.source("overlay.css")
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


class FreeLunchPicture(widgets.VBox):
    """A slider and the picture it moves; ``sweep`` is the curve, ``live`` the moving part."""

    def __init__(
        self,
        sweep: Sweep,
        *,
        names: bool,
        after: GuessAxis | None,
        guess_k: int | None,
        start: int,
        view: str,
    ) -> None:
        self.sweep, self._after, self._guess_k = sweep, after, guess_k
        uid = overlay.free_model_id("free-lunch-names" if names else "free-lunch")
        self._stops = (geometry := lunch_plot.geometry(sweep))["k"]
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
            axes_time=overlay.png(lunch_plot.empty(sweep, "time")[0], transparent=True),
            axes_rate=overlay.png(lunch_plot.empty(sweep, "rate")[0], transparent=True),
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

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[dict, dict]:
        live = super()._repr_mimebundle_(**kwargs)
        under = (self._drawn(), self._said()) if self.live.covered else None
        return overlay.mimebundle(live, self.still(), self.sentence, under)


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

    curve: a :class:`rooflab.measure.freelunch.FreeLunch`, this machine's or a recorded one.
    names: also write bandwidth, peak and ridge at the lines; leave it out before the reveal.
    after: a guess axis; the picture stays covered until that guess is placed.
    guess_k: the k that guess is about (its unit then is s, ms or µs): it stays as an orange marker.
    start: the k at which the slider stands first (default: the smallest measured one).
    view: what it shows first, "time" or "rate" (work per second); the reader can change it.

    Raises TypeError for something that is no such curve, ValueError for one that cannot
    be drawn, for a start or guess_k outside it, and for another view.
    """
    if view not in VIEWS:
        raise unknown("view", view, VIEWS)
    sweep = read(curve)
    if start is not None and not sweep.k[0] <= start <= sweep.k[-1]:
        raise ValueError(
            f"start={start!r} is outside the sweep: take {sweep.k[0]} to {sweep.k[-1]}"
        )
    if after is not None and not hasattr(after, "covered"):
        raise TypeError(f"after={after!r} is no guess axis; pass what rl.live.guess returned")
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


def _guesses(sweep: Sweep, after: GuessAxis | None, k: int | None) -> dict[str, Any]:
    if after is None or k is None:
        return {}
    seconds = [SECONDS[after.unit] * value for value in after.geometry["values"]]
    return {**lunch_plot.guess_spots(sweep, k, seconds), "says": after.geometry["says"]}

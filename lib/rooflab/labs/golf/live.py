"""Byte golf, live: blocks cross the bus step by step, and a chunk size that spares some the trip.

``golf(run)`` has one slider, the step; ``golf(sweep)`` a second one, the chunk size, and the time
really measured with it. Everything is placed here and moves in the browser.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import anywidget
import ipywidgets as widgets
import traitlets

from rooflab.labs.golf import picture as golf_picture
from rooflab.labs.golf.picture import picture, story
from rooflab.show import canvas, theme
from rooflab.show.waiting import covered

if TYPE_CHECKING:
    from rooflab.show.guess_axis import GuessAxis

#: Milliseconds that one block needs over the bus, and a home from memory into the cache.
FLIGHT, DROP = 800, 450
COVERED = "Covered until you have placed your guess above."


class GolfView(anywidget.AnyWidget):
    """The part that moves: lanes, blocks, ledger and bars as one SVG, and the sentence."""

    _esm = canvas.source("overlay.js", "golf.js", beside=__file__)
    _css = canvas.source("overlay.css", "golf.css", beside=__file__)
    geometry = traitlets.Dict().tag(sync=True)
    #: The step, 0 before the start, and the place of the chunk size among those swept.
    i = traitlets.Int(0).tag(sync=True)
    c = traitlets.Int(0).tag(sync=True)
    covered = traitlets.Bool(False).tag(sync=True)
    #: Ids of the widgets that a drag changes: the kernel hears of them when the hand rests.
    hushed = traitlets.List(traitlets.Unicode()).tag(sync=True)


class GolfPicture(widgets.VBox):
    """The sliders and the picture they move; ``live`` is the moving part."""

    def __init__(self, given: Any, *, after: GuessAxis | None, start: int | None) -> None:
        self.sweep = golf_picture.sweep(given) if hasattr(given, "chunks") else None
        self.stories = (story(given),) if self.sweep is None else self.sweep.stories
        steps = max(len(one.stops) for one in self.stories)
        first = 0 if start is None else start
        if isinstance(first, bool) or not isinstance(first, int) or not 0 <= first <= steps:
            raise ValueError(f"start={start!r} must be a step from 0 (before the first) to {steps}")
        last = len(self.stories) - 1
        self.live = GolfView(
            geometry=_geometry(self), i=first, c=last, covered=bool(after and after.covered)
        )
        self.sliders = [_slider("step", [f"{n} of {steps}" for n in range(steps + 1)], first)]
        if self.sweep is not None:
            self.sliders.append(_slider("chunk", [theme.count(c) for c in self.sweep.chunks], last))
            self.sliders[1].add_class("rl-chunk")
        self.live.hushed = [*(s.model_id for s in self.sliders), self.live.model_id]
        super().__init__([self.live, *self.sliders], model_id=canvas.free_model_id("golf"))
        self.add_class("rl-golf")
        if self.sweep is not None:
            self.add_class("rl-sweep")
        for slider, name in zip(self.sliders, "ic"):
            widgets.jslink((slider, "index"), (self.live, name))
        if after is not None:
            widgets.jslink((after, "covered"), (self.live, "covered"))

    @property
    def sentence(self) -> str:
        """What the picture says now (as far as the kernel knows where the sliders stand)."""
        if self.live.covered:
            return f"Byte golf. {COVERED}"
        told = self.stories[self.live.c]
        said = told.sentence(min(self.live.i, len(told.stops)))
        return said if self.sweep is None else f"{said} {self.sweep.sentence(self.live.c)}"

    def still(self) -> bytes:
        """All steps as one PNG, drawn by matplotlib; with a sweep also its two bars."""
        return covered(COVERED) if self.live.covered else self._drawn()

    def _drawn(self) -> bytes:
        told = self.stories[self.live.c]
        return canvas.png(picture(told, sweep=self.sweep, at=self.live.c), transparent=False)

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[dict, dict]:
        live = super()._repr_mimebundle_(**kwargs)
        under = (self._drawn(), "Byte golf, uncovered.") if self.live.covered else None
        return canvas.mimebundle(live, self.still(), self.sentence, under)


def golf(
    golf_or_sweep: Any, *, after: GuessAxis | None = None, start: int | None = None
) -> GolfPicture:
    """Show a golf run crossing the bus step by step, or a sweep of it over chunk sizes.

    Parameters
    ----------
    golf_or_sweep : Golf or ChunkSweep
        What ``rl.golf`` or ``rooflab.labs.golf.sweep`` returned. A sweep starts at its largest
        chunk, and another chunk size shows all of its steps.
    after : GuessAxis, optional
        What ``rl.ask`` returned: the picture stays covered until that guess is placed. None covers
        nothing.
    start : int, optional
        The step shown first; None is 0, before the first step.

    Returns
    -------
    GolfPicture
        A widget; its ``sentence`` says what the picture shows.

    Raises
    ------
    TypeError
        For something that is neither.
    ValueError
        For a run without steps, a sweep that cannot be drawn, and for a start beyond the last step.

    Examples
    --------
    >>> import numpy as np
    >>> run = rl.golf(lambda x, y: 2 * x + y, np.ones(1_000_000), np.ones(1_000_000))
    >>> print(rl.live.golf(run, start=1).sentence)
    Step 1 of 2, multiply: x is read, tmp1 is written, 16 bytes an element.
    """
    if after is not None and not hasattr(after, "covered"):
        raise TypeError(f"after={after!r} is no guess axis; pass what rl.ask returned")
    return GolfPicture(golf_or_sweep, after=after, start=start)


def _geometry(shown: GolfPicture) -> dict[str, Any]:
    placed = golf_picture.geometry(shown.stories)
    placed |= {
        "height": golf_picture.HEIGHT, "letter": golf_picture.LETTER,
        "flight": FLIGHT, "drop": DROP,
        "begin": "before the first step", "origin": "", "sliders": ["step of the program"],
    }  # fmt: skip
    if shown.sweep is not None:
        rows = zip(("measured", "counted"), golf_picture.BARS, strict=True)
        timed = bool(shown.sweep.measured)
        placed["height"] = golf_picture.BARS_HEIGHT if timed else golf_picture.HEIGHT
        placed["sliders"] = [*placed["sliders"], "chunk size"]
        placed["chunks"] = [f"chunks of {theme.count(chunk)}" for chunk in shown.sweep.chunks]
        placed["bars"] = golf_picture.bars(shown.sweep, golf_picture.RIGHT - golf_picture.LEFT) | {
            "rows": [[name, *y] for name, y in rows] if timed else []
        }
    return placed


def _slider(name: str, labels: list[str], index: int) -> widgets.SelectionSlider:
    options = [(label, place) for place, label in enumerate(labels)]  # two may read alike
    return widgets.SelectionSlider(
        options=options, index=index, description=name, layout={"width": "auto", "margin": "0"}
    )

"""What stands in the place of a picture that waits: one sentence in a frame, still and live."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import anywidget
import traitlets
from matplotlib import rc_context
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch

from rooflab.show import overlay, theme

FILL = "#F3F3F3"
COUNTS = {2: "two", 3: "three", 4: "four", 5: "five", 6: "six"}


def is_axis(value: object) -> bool:
    """Whether ``value`` is a guess axis (what ``rl.ask`` returns)."""
    return hasattr(value, "covered") and hasattr(value, "unit") and hasattr(value, "geometry")


def awaited(after: object) -> tuple[Any, ...]:
    """What the picture waits for, as a tuple: one thing, several, or the values of a dict.

    Raises TypeError for anything that is never covered.
    """
    if after is None:
        return ()
    if isinstance(after, Mapping):
        after = after.values()
    single = hasattr(after, "covered") or isinstance(after, str) or not isinstance(after, Iterable)
    found = (after,) if single else tuple(after)
    for one in found:
        if not (hasattr(one, "covered") and hasattr(one, "model_id")):
            raise TypeError(
                f"after={one!r} is no guess axis; pass what rl.ask returned, one or several"
            )
    return found


def waiting_sentence(things: Sequence[Any]) -> str:
    """What has to be done before the picture opens."""
    axes = sum(is_axis(one) for one in things)
    todo = []
    if axes:
        todo.append(
            "placed your guess"
            if axes == 1
            else f"placed your {COUNTS.get(axes, str(axes))} guesses"
        )
    if axes < len(things):
        todo.append("sorted the cards")
    return f"Covered until you have {' and '.join(todo)} above."


class Waiting(anywidget.AnyWidget):
    """A widget that waits for ``after``, guess axes or sortings, one or more."""

    #: Ids of the widgets that it waits for.
    waits = traitlets.List(traitlets.Unicode()).tag(sync=True)
    #: What stands there until then.
    sentence = traitlets.Unicode().tag(sync=True)
    covered = traitlets.Bool().tag(sync=True)

    def __init__(self, after: Sequence[Any], **state: Any) -> None:
        self.after = tuple(after)
        super().__init__(
            waits=[one.model_id for one in self.after],
            sentence=waiting_sentence(self.after),
            covered=self._waits(),
            **state,
        )
        for one in self.after:
            one.observe(self._look, "covered")

    def _waits(self) -> bool:
        return any(one.covered for one in self.after)

    def _look(self, change: Any) -> None:
        self.covered = self._waits()


class Cover(Waiting):
    """Hides the widgets beside it, in one box, until all that it waits for is uncovered.

    It works in the browser, without a kernel too.
    """

    _esm = overlay.source("overlay.js", "cover.js")
    _css = overlay.source("cover.css")


def covered(sentence: str, width: int = 720, height: int = 220) -> bytes:
    """PNG of a framed box of ``width`` × ``height`` CSS pixels with ``sentence`` in it."""
    with rc_context(theme.RC):
        figure = Figure((width / overlay.DPI, height / overlay.DPI), dpi=overlay.DPI)
        FigureCanvasAgg(figure)
        axes = figure.add_axes((0, 0, 1, 1))
        axes.set(xlim=(0, width), ylim=(0, height))
        axes.axis("off")
        look = {"fc": FILL, "ec": theme.CEILING, "ls": "--", "lw": 1.1}
        round_ = "round,pad=0,rounding_size=10"
        axes.add_patch(FancyBboxPatch((6, 6), width - 12, height - 12, boxstyle=round_, **look))
        axes.text(width / 2, height / 2, sentence, ha="center", va="center")
        return overlay.png(figure, transparent=False)

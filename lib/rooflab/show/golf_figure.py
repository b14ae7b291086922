"""The golf picture as a figure: one row a step, one block a trip, as wide as its bytes an element.

Blocks that cross the bus stand one after the other on the axis, so their end is the total; blocks
that stay in cache stand apart on the left, hollow, and take nothing from the axis.
"""

from __future__ import annotations

from typing import Any

from matplotlib import rc_context
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.patches import Rectangle

from rooflab.show import theme
from rooflab.show.drawing import Picture
from rooflab.show.golf_bars import Sweep
from rooflab.show.golf_plot import colours, ink, longest, ticks
from rooflab.show.golf_steps import story
from rooflab.show.golf_story import Pass, Story, number
from rooflab.show.overlay import DPI

#: Rows of the figure; the rest of a long run becomes one more row.
ROWS = 12
_TEXT, _PAD, _ROW, _BLOCK = 236, 14, 46, 30
_TOP, _BOTTOM, _BARS = 66, 62, 84
_MOST_CODE = 23


def golf(golf: Any, *, title: str | None = None, width: int = 760) -> Picture:
    """Draw every trip of a :func:`rooflab.golf.golf` run as a block, step by step.

    golf: what ``rl.golf`` returned. title: default, the total against the minimum. width: pixels
    at 100 dpi, 560 or more. The figure's ``words`` say what it shows.

    Raises TypeError for something that is no Golf, ValueError for one without steps and for a
    width too small for its text.
    """
    if not isinstance(width, int) or isinstance(width, bool) or width < 560:
        raise ValueError(f"width={width!r} must be a whole number of pixels, 560 or more")
    return picture(story(golf, most=ROWS), title=title, width=width)


def picture(
    told: Story,
    *,
    title: str | None = None,
    width: int = 760,
    sweep: Sweep | None = None,
    at: int = 0,
) -> Picture:
    """The figure of a story; with ``sweep`` the two bars of its chunk size ``at`` stand below
    it."""
    extra = _BARS if sweep is not None and sweep.measured else 0
    height = _TOP + _ROW * len(told.stops) + _BOTTOM + extra
    with rc_context(theme.RC):
        figure = Picture((width / DPI, height / DPI), dpi=DPI)
        FigureCanvasAgg(figure)
        axes = figure.add_axes((0, 0, 1, 1))
        axes.set(xlim=(0, width), ylim=(height, 0))  # pixels, origin at the top left
        axes.axis("off")
        _Page(axes, told, width, height - extra).draw(title or told.verdict)
        if extra:
            _bars(axes, sweep, at, width, height - extra)
    said = [told.sentence(n) for n in range(1, len(told.stops) + 1)]
    figure.words = "\n".join([*said, *([sweep.sentence(at)] if sweep is not None else [])])
    return figure


class _Page:
    """A story on axes in pixels: text on the left, the cache beside it, then the bus."""

    def __init__(self, axes: Any, told: Story, width: int, height: int) -> None:
        self.axes, self.told = axes, told
        self.colours = colours(told.names)
        self.end = width - 24
        free = max(sum(t.per for t in s.trips if t.where == "cache") for s in told.stops)
        reach = longest([told])
        room = self.end - _TEXT - 3 * _PAD
        lane = max(free * room / (free + reach), 90.0)  # its title fits at least
        self.scale = min(room / (free + reach), (room - lane) / reach)
        self.cache = (_TEXT, _TEXT + lane + _PAD)
        self.bus = self.cache[1] + _PAD
        self.foot = height - _BOTTOM + 4
        self.foot_of_last, self.legend_end = 0.0, self.bus
        self.unnamed = dict.fromkeys(told.names)

    def x(self, per: float) -> float:
        return self.bus + per * self.scale

    def draw(self, title: str) -> None:
        self.axes.text(_PAD, 12, title, va="top", weight="bold", fontsize=theme.FONT + 1)
        self._lanes()
        crossed = 0.0
        for row, stop in enumerate(self.told.stops):
            y = _TOP + _ROW * row
            self._label(row, y)
            crossed = self._blocks(stop.trips, y, crossed)
        self._axis()
        self._legend()

    def _lanes(self) -> None:
        left, right = self.cache
        grey = {"color": theme.CEILING, "fontsize": theme.SMALL, "va": "bottom"}
        self.axes.add_patch(
            Rectangle((left, _TOP - 6), right - left, self.foot - _TOP + 6,
                      color=theme.GRID, lw=0, alpha=0.55)
        )  # fmt: skip
        self.axes.text((left + right) / 2, _TOP - 10, "cache: free", ha="center", **grey)
        self.axes.text(self.bus, _TOP - 10, "over the bus: → read, ← written", **grey)

    def _label(self, row: int, y: float) -> None:
        stop = self.told.stops[row]
        often = f"  ×{theme.count(stop.rounds)}" if stop.rounds > 1 else ""
        middle = y + _BLOCK / 2
        self.axes.text(
            _PAD, middle - 9, f"{row + 1}  {stop.call}{often}", va="center", weight="bold"
        )
        code = stop.code.removeprefix("return ")
        code = code if len(code) <= _MOST_CODE else code[: _MOST_CODE - 1] + "…"
        look = {"family": "DejaVu Sans Mono", "fontsize": 10.8, "color": theme.CEILING}
        self.axes.text(_PAD, middle + 10, code, va="center", **look)

    def _blocks(self, trips: tuple[Pass, ...], y: float, crossed: float) -> float:
        """Draw a row's blocks; return the bytes an element that have crossed after it."""
        free = self.cache[0] + _PAD / 2
        if any(trip.where == "memory" for trip in trips):
            if self.foot_of_last:  # a thin line carries the sum on from the block before
                line = {"color": theme.CEILING, "lw": 0.8}
                self.axes.plot([self.x(crossed)] * 2, [self.foot_of_last, y], **line)
            self.foot_of_last = y + _BLOCK
        for trip in trips:
            colour = self.colours[trip.name]
            size = trip.per * self.scale
            if trip.where == "cache":
                look = {"fc": "none", "ec": colour, "lw": 2.0}
                self._block(free, y, size, trip, theme.INK, look)
                free += size
            else:
                look = {"fc": colour, "ec": theme.PAPER, "lw": 1.5}
                self._block(self.x(crossed), y, size, trip, ink(colour), look)
                crossed += trip.per
        return crossed

    def _block(self, x: float, y: float, size: float, trip: Pass, letters: str, look: Any) -> None:
        size = max(size, 1.5)
        self.axes.add_patch(Rectangle((x, y), size, _BLOCK, **look))
        arrow = "→" if trip.way == "read" else "←"
        spot = (x + size / 2, y + _BLOCK / 2)
        look = {"ha": "center", "va": "center_baseline", "color": letters}
        for label in (f"{trip.name} {arrow}", trip.name, arrow):
            text = self.axes.text(*spot, label, **look)
            if text.get_window_extent().width + 5 <= size:
                if label != arrow:
                    self.unnamed.pop(trip.name, None)
                break
            text.remove()

    def _legend(self) -> None:
        """Names that fitted none of their blocks, left of the minimum as far as there is room."""
        x, y = _PAD, self.foot + 29
        for name in self.unnamed:
            text = self.axes.text(x + 20, y, name, va="top")
            end = x + 34 + text.get_window_extent().width
            if end > self.legend_end:
                text.remove()
                break
            self.axes.add_patch(Rectangle((x, y + 2), 14, 14, color=self.colours[name], lw=0))
            x = end

    def _axis(self) -> None:
        axes, foot, reach = self.axes, self.foot, longest([self.told])
        axes.plot([self.x(0), self.x(reach)], [foot, foot], color=theme.CEILING, lw=0.9)
        for tick in ticks(reach):
            axes.plot([self.x(tick)] * 2, [foot, foot + 4], color=theme.CEILING, lw=0.9)
            axes.text(self.x(tick), foot + 8, number(tick), ha="center", va="top")
        axes.text(_PAD, foot + 8, "bytes an element, sum", va="top", color=theme.CEILING)
        least, text = self.x(self.told.minimum), f"minimum {number(self.told.minimum)}"
        axes.plot([least] * 2, [_TOP - 6, foot + 5], color=theme.WARN, lw=1.8, ls=(0, (4, 3)))
        look = {"ha": "center", "va": "top", "color": theme.WARN, "weight": "bold"}
        said = axes.text(min(least, self.end - 42), foot + 28, text, **look)
        self.legend_end = said.get_window_extent().x0


def _bars(axes: Any, sweep: Sweep, at: int, width: int, top: int) -> None:
    """Measured and counted time at a chunk size, on one scale for the whole sweep."""
    room = width - _TEXT - _PAD - 110  # the rest is for the time behind the bar
    rows = (
        (f"chunk {theme.count(sweep.chunks[at])}: measured", theme.INK),
        ("counted from the bytes", theme.CEILING),
    )
    told = zip(rows, sweep.shares(at), sweep.labels(at), strict=True)
    for row, ((what, colour), share, says) in enumerate(told):
        y, size = top + 10 + 34 * row, share * room
        axes.text(_TEXT, y + 11, what, va="center", ha="right")
        axes.add_patch(Rectangle((_TEXT + _PAD, y), size, 22, color=colour, lw=0))
        axes.text(
            _TEXT + _PAD + size + 8, y + 11, says, va="center", weight="bold" if not row else None
        )

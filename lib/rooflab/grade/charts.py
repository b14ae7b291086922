"""The pictures of the class page, as PNG in the page itself: how many points, how hard what was."""

from __future__ import annotations

import base64
import io
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib import rc_context
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from rooflab.grade.page import text
from rooflab.show import theme

WIDTH = 9.0  # inches
DPI = 160  # twice what a screen shows: sharp in print
RIGHT, WRONG, OPEN = "#009E73", "#D55E00", "#C8C8C8"


@dataclass(frozen=True)
class Hard:
    """How an exercise went: counts of right, wrong and unanswered, and its most usual mistake."""

    id: str
    title: str
    right: int
    wrong: int
    open: int
    mistake: str = ""

    @property
    def share(self) -> float:
        """Share of the submissions that have it right."""
        return self.right / max(1, self.right + self.wrong + self.open)


def histogram(points: Sequence[int], most: int) -> str:
    """Return the histogram of points as an ``<img>`` whose text says the same."""
    counts = Counter(points)
    width = max(1, -(-(most + 1) // 40))  # 40 bars are enough
    bins = Counter(p // width for p in points)
    with rc_context(theme.RC):
        figure = _figure(2.9)
        ax = figure.add_axes((0.07, 0.2, 0.91, 0.75))
        ax.bar([b * width + (width - 1) / 2 for b in bins], list(bins.values()),
               width=0.86 * width, color="#0072B2")  # fmt: skip
        ax.set_xlim(-0.6, most + 0.6)
        ax.set_xlabel(f"points, of {most}")
        ax.set_ylabel("submissions")
        ax.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=20))
        ax.yaxis.set_major_locator(MaxNLocator(integer=True, nbins=6))
        _plain(ax, "y")
    listed = ", ".join(f"{count} with {p}" for p, count in sorted(counts.items()))
    return _image(figure, f"Histogram of points, of {most} possible. Submissions: {listed}.")


def hardest(rows: Sequence[Hard]) -> str:
    """Return bars of right, wrong and unanswered, one an exercise, as an ``<img>``."""
    with rc_context(theme.RC):
        tall = 0.34 * len(rows) + 0.95
        figure = _figure(tall)
        ax = figure.add_axes((0.26, 0.52 / tall, 0.72, 1 - 0.92 / tall))
        places = range(len(rows))
        left = [0.0] * len(rows)
        for kind, colour in (("right", RIGHT), ("wrong", WRONG), ("open", OPEN)):
            whole = [max(1, r.right + r.wrong + r.open) for r in rows]
            share = [100 * getattr(r, kind) / n for r, n in zip(rows, whole, strict=True)]
            label = {"open": "not answered", "wrong": "not right"}.get(kind, kind)
            hatch = "///" if kind == "wrong" else None  # told apart without colour as well
            ax.barh(places, share, left=left, color=colour, height=0.72, label=label,
                    hatch=hatch, edgecolor="white", linewidth=0.8)  # fmt: skip
            left = [a + b for a, b in zip(left, share, strict=True)]
        ax.set_yticks(list(places), [row.id for row in rows])
        ax.invert_yaxis()
        ax.set_xlim(0, 100)
        ax.set_xlabel("% of the submissions")
        _plain(ax, "x")
        figure.legend(loc="upper right", bbox_to_anchor=(0.985, 1), ncols=3, frameon=False)
    listed = "; ".join(f"{r.id} {100 * r.share:.0f} % right" for r in rows)
    return _image(figure, f"How the exercises went, hardest first: {listed}.")


def _figure(height: float) -> Figure:
    figure = Figure((WIDTH, height), dpi=DPI, facecolor="white")
    FigureCanvasAgg(figure)
    return figure


def _plain(ax, grid: str) -> None:
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(axis=grid, color=theme.GRID, lw=0.8)
    ax.set_axisbelow(True)
    ax.tick_params(length=0)


def _image(figure: Figure, said: str) -> str:
    out = io.BytesIO()
    figure.savefig(out, format="png", metadata={"Software": None})
    data = base64.b64encode(out.getvalue()).decode()
    width, height = (round(96 * inches) for inches in figure.get_size_inches())
    size = f'width="{width}" height="{height}"'
    return f'<img src="data:image/png;base64,{data}" {size} alt="{text(said)}">'

"""The still picture of something covered: a frame with the one sentence that tells what opens
it."""

from __future__ import annotations

from matplotlib import rc_context
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch

from rooflab.show import overlay, theme

FILL = "#F3F3F3"


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

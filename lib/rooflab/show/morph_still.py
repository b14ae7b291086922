"""The morph as one PNG: its first and its last stop, one below the other, drawn by matplotlib."""

from __future__ import annotations

from typing import Any

from matplotlib import rc_context
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.patheffects import withStroke

from rooflab.show import overlay, theme

SMALLER = 72 / overlay.DPI  # points in a CSS pixel


def still(geometry: dict[str, Any]) -> bytes:
    """PNG of the geometry of :mod:`rooflab.show.morph_plot`: time against work, and the
    roofline."""
    width, height = geometry["width"], geometry["height"]
    with rc_context(theme.RC):
        figure = Figure((width / overlay.DPI, 2 * height / overlay.DPI), dpi=overlay.DPI)
        FigureCanvasAgg(figure)
        for row, layout in enumerate((0, 2)):
            ax = figure.add_axes((0, 0.5 - row / 2, 1, 0.5))
            ax.set(xlim=(0, width), ylim=(height, 0))
            ax.axis("off")
            _axes(ax, geometry, layout)
            if layout == 2:
                _lines(ax, geometry)
            _points(ax, geometry, layout)
        return overlay.png(figure, transparent=False)


def _write(ax: Any, text: str, at: Any, **look: Any) -> None:
    look = {"ha": "center", "color": theme.INK, "size": 15 * SMALLER} | look
    x, y, *slant = at  # in degrees, clockwise as in the browser
    ax.text(
        x,
        y,
        text,
        rotation=-slant[0] if slant else 0,
        rotation_mode="anchor",
        va="baseline",
        path_effects=[withStroke(linewidth=3, foreground="white")],
        **look,
    )


def _axes(ax: Any, geometry: dict[str, Any], layout: int) -> None:
    left, top, right, bottom = geometry["plot"]
    axis = geometry["axes"][layout]
    ax.plot([left, left, right], [top, bottom, bottom], color=theme.CEILING, lw=0.8)
    for text, x, _ in axis["x"]:
        ax.plot([x, x], [top, bottom], color=theme.GRID, lw=0.8, zorder=0)
        _write(ax, text, (x, bottom + 20))
    for text, y, _ in axis["y"]:
        ax.plot([left, right], [y, y], color=theme.GRID, lw=0.8, zorder=0)
        _write(ax, text, (left - 7, y + 5), ha="right")
    _write(ax, axis["names"][0], (right, bottom + 44), ha="right")
    _write(ax, axis["names"][1], (left - 60, top - 14), ha="left")


def _lines(ax: Any, geometry: dict[str, Any]) -> None:
    left, top, right, bottom = geometry["plot"]
    room = Rectangle((left, top), right - left, bottom - top, transform=ax.transData)
    for line in (*geometry["roofs"], *geometry["calls"]):
        call = "colour" in line
        look = {"color": line["colour"], "ls": (0, (5, 3)), "lw": 1.8} if call else {
            "color": "#444444" if line["main"] else theme.CEILING,
            "lw": 2.4 if line["main"] else 1.2,
        }  # fmt: skip
        ax.plot(*zip(*line["path"][2], strict=True), **look)[0].set_clip_path(room)
        texts = [[line["says"], line["label"]]] if call else line["labels"]
        for text, at in texts:
            if at:
                _write(ax, text, at, color=line["colour"] if call else "#333333")


def _points(ax: Any, geometry: dict[str, Any], layout: int) -> None:
    for p in geometry["points"]:
        (x, y), guess = p["at"][layout], p.get("guess")
        if guess:
            gx, gy = guess["at"][layout]
            ax.plot([x, gx], [y, gy], ":", color=p["colour"], lw=1.6)
            ax.plot(gx, gy, p["marker"], ms=9, mfc="white", mec=p["colour"], mew=2)
            if guess["label"][layout]:
                _write(ax, guess["says"], guess["label"][layout], color=p["colour"])
        ax.plot(x, y, p["marker"], ms=9, mfc=p["colour"], mec="white", mew=0.8, zorder=5)
        if p["label"][layout]:
            _write(ax, p["name"], p["label"][layout], color=p["colour"], zorder=6)
    for note in geometry["notes"][layout]["marks"]:
        ax.plot(*zip(*note["lead"], strict=True), color=theme.CEILING, lw=0.8)
        _write(ax, note["text"], note["at"], color=note["colour"] or theme.CEILING)

"""A scene's still: the marks of one state, drawn by Matplotlib."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib import rc_context
from matplotlib.patches import FancyBboxPatch, Polygon, Rectangle
from matplotlib.path import Path
from matplotlib.text import Text

from rooflab.show import canvas, theme
from rooflab.show.labels import Haloed
from rooflab.show.scene import GLYPH, GLYPHS, Mark, Scene, drawn

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

POINTS = 72 / canvas.DPI  # points in a CSS pixel
ROW, LETTERS, MARGIN = 22, 15, 12  # pixels of the words around a sheet
_ANCHORS = {"start": "left", "middle": "center", "end": "right"}


def paint(axes: Axes, scene: Scene, share: float = 1.0, **state: Any) -> None:
    """Draw ``scene`` in a state on ``axes``, which become its sheet.

    ``share``: how large a pixel of the sheet is there, for letters and lines.
    """
    axes.set(xlim=(0, scene.width), ylim=(scene.height, 0))
    axes.axis("off")
    for order, (mark, held) in enumerate(drawn(scene, **state)):
        for artist in _DRAW[mark.kind](axes, mark, held, share * POINTS):
            artist.set(alpha=held["opacity"], zorder=2 + order / 1000)
            if mark.clip is None:
                artist.set_clip_on(False)
                continue
            left, top, right, bottom = mark.clip
            room = Rectangle((left, top), right - left, bottom - top, transform=axes.transData)
            artist.set_clip_path(room)


def still(scene: Scene, *states: Mapping[str, Any]) -> bytes:
    """The sheet in one state, or in several, one below the other: a PNG with two dots a pixel."""
    states = states or ({},)
    many = len(states)
    with rc_context(theme.RC):
        made = canvas.figure(round(scene.width), round(scene.height * many))
        for row, state in enumerate(states):
            paint(made.add_axes((0, 1 - (row + 1) / many, 1, 1 / many)), scene, **state)
    return canvas.png(made, transparent=False)


def page(scene: Scene, title: str, lines: Sequence[str], **state: Any) -> bytes:
    """A sheet as a PNG with the words that a browser sets around it: ``title`` above, ``lines``."""
    letters = int((scene.width - 2 * MARGIN) / (0.6 * LETTERS))
    above, below = _wrapped([title], letters), _wrapped(lines, letters)
    top, foot = ROW * len(above) + MARGIN, ROW * len(below) + MARGIN
    high = round(top + scene.height + foot)
    with rc_context(theme.RC):
        made = canvas.figure(round(scene.width), high)
        sheet = made.add_axes((0, foot / high, 1, scene.height / high))
        paint(sheet, scene, **state)
        for mark in sheet.get_children():  # a sheet may end above the last marks
            mark.set_clip_on(True)
        for first, rows, weight in ((0, above, "bold"), (high - foot, below, "normal")):
            for n, words in enumerate(rows, 1):
                made.text(
                    MARGIN / scene.width, 1 - (first + ROW * n) / high, words, weight=weight,
                    size=LETTERS * POINTS, parse_math=False,
                )  # fmt: skip
    return canvas.png(made, transparent=False)


def _wrapped(lines: Sequence[str], letters: int) -> list[str]:
    """Lines of at most so many letters; what continues one stands further in, as it begins."""
    found = []
    for line in lines:
        lead = " " * (len(line) - len(line.lstrip()))
        found += textwrap.wrap(line, letters, subsequent_indent=lead) or [""]
    return found


def _colour(name: str | None) -> str:
    return "none" if name is None else theme.colour(name)


def _pen(mark: Mark, held: Mapping[str, Any], unit: float) -> dict[str, Any]:
    """Edge, area and width of a mark, as patches take them."""
    width, dash = mark.look["width"] * unit, _dash(mark, held)
    style = (0, [length * unit / width for length in dash]) if dash else "-"
    return {
        "ec": _colour(held.get("ink")), "fc": _colour(held.get("fill")),
        "lw": width if held.get("ink") else 0, "ls": style,
    }  # fmt: skip


def _dash(mark: Mark, held: Mapping[str, Any]) -> Sequence[float]:
    """Lengths on and off, in pixels; none for a line without gaps."""
    return [float(length) for length in held.get("dash", "").split()] or mark.look.get("dash", ())


def _line(axes: Axes, mark: Mark, held: Mapping[str, Any], unit: float) -> list[Artist]:
    points, closed = np.reshape(held["points"], (-1, 2)), mark.look["closed"]
    pen = {"joinstyle": "round", "capstyle": "butt" if _dash(mark, held) else "round"}
    shape = Polygon(points, closed=closed, fill="fill" in held, **_pen(mark, held, unit), **pen)
    return [axes.add_patch(shape)]


def _rect(axes: Axes, mark: Mark, held: Mapping[str, Any], unit: float) -> list[Artist]:
    x, y, w, h = held["box"]
    if w <= 0 or h <= 0:
        return []
    radius = min(mark.look["radius"], w / 2, h / 2)
    style = f"round,pad=0,rounding_size={radius}" if radius else "square,pad=0"
    return [axes.add_patch(FancyBboxPatch((x, y), w, h, boxstyle=style, **_pen(mark, held, unit)))]


def _dot(axes: Axes, mark: Mark, held: Mapping[str, Any], unit: float) -> list[Artist]:
    (x, y), size, outline = held["at"], mark.look["size"], GLYPHS[mark.look["shape"]]
    shape = Path(np.array([*outline, outline[0]]) / GLYPH) if outline else Path.unit_circle()
    shape = Path(shape.vertices * size + (x, y), shape.codes)
    return [axes.add_patch(Polygon(shape.to_polygons()[0], closed=True, **_pen(mark, held, unit)))]


def _text(axes: Axes, mark: Mark, held: Mapping[str, Any], unit: float) -> list[Artist]:
    x, y, turn = (*held["at"], *np.ravel(held.get("turn", 0.0)))[:3]
    look: dict[str, Any] = {"outline": 4 * unit} if mark.look["halo"] else {}
    made = (Haloed if look else Text)(
        x, y, held["text"], color=_colour(held["fill"]), size=mark.look["size"] * unit,
        weight="bold" if mark.look["bold"] else "normal", ha=_ANCHORS[held["anchor"]],
        va="baseline", rotation=-turn, rotation_mode="anchor", parse_math=False, clip_on=False,
        family="DejaVu Sans Mono" if mark.look["mono"] else "DejaVu Sans", **look,
    )  # fmt: skip
    return [axes.add_artist(made)]


_DRAW = {"line": _line, "rect": _rect, "dot": _dot, "text": _text}

"""Whether the words of a drawn picture lie on each other: corners and middles, slanted ones too."""

from __future__ import annotations

import math

import numpy as np
from matplotlib.text import Text


def written(figure: object) -> list[Text]:
    """Every text of ``figure`` that is seen: labels, ticks, keys, headings."""
    return [
        text for text in figure.findobj(Text)
        if text.get_text().strip() and text.get_visible() and text.get_figure() is figure
    ]  # fmt: skip


def grid(text: Text) -> np.ndarray:
    """Points all over ``text``, in pixels; its edges are left out."""
    slant = text.get_rotation()
    if not slant:
        box = text.get_window_extent()
        xs, ys = np.linspace(box.x0 + 1, box.x1 - 1, 25), np.linspace(box.y0 + 2, box.y1 - 2, 7)
        return np.array([(x, y) for x in xs for y in ys])
    anchor = text.get_transform().transform(text.get_position())
    anchor = text.xy_pixels if hasattr(text, "xy_pixels") else anchor
    text.set_rotation(0)
    level = grid(text)
    text.set_rotation(slant)
    turn = math.radians(slant)
    rotation = np.array([[math.cos(turn), math.sin(turn)], [-math.sin(turn), math.cos(turn)]])
    return (level - anchor) @ rotation + anchor


def overlapping(figure: object) -> list[tuple[str, str]]:
    """Pairs of texts of which one has points inside the other."""
    figure.canvas.draw()
    texts = written(figure)
    boxes = [one.get_window_extent() for one in texts]
    grids = [grid(one) for one in texts]
    return [
        (a.get_text(), b.get_text())
        for i, a in enumerate(texts) for j, b in enumerate(texts)
        if i != j and not b.get_rotation() and boxes[i].overlaps(boxes[j])
        and any(boxes[j].contains(x, y) for x, y in grids[i])
    ]  # fmt: skip


def outside(figure: object, least: float = 6.0) -> list[str]:
    """Texts that leave ``figure``, or have letters of less than ``least`` points."""
    figure.canvas.draw()
    page = figure.bbox
    return [
        text.get_text() for text in written(figure)
        for points in [grid(text)]
        if text.get_fontsize() < least
        or points[:, 0].min() < page.x0 or points[:, 0].max() > page.x1
        or points[:, 1].min() < page.y0 or points[:, 1].max() > page.y1
    ]  # fmt: skip

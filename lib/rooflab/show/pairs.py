"""Pairs of factors on one axis: what was counted of each thing, and what was published of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rooflab.count.si import times
from rooflab.show.scene import Scene
from rooflab.show.scene.axes import Frame

NARROW, SMALL = 400, 14
COUNTED: Mapping[str, Any] = {"fill": "paper", "ink": "carrying", "width": 2.5}
TICKS = (0.5, 1, 2, 3, 5, 10, 20)


@dataclass(frozen=True)
class Pair:
    """A thing with the factor that was ``counted`` and the ``published`` one.

    ``conditions`` are said when the published one is pointed at.
    """

    title: str
    counted: float
    published: float
    conditions: str = ""


def pairs_scene(
    pairs: Sequence[Pair], wide: float, ends: tuple[float, float], says: str, note: str,
    names: tuple[str, str] = ("counted", "published"),
) -> Scene:  # fmt: skip
    """Return a row for each pair on an axis of factors, ``wide`` pixels wide.

    ``names``: what the two marks are called.

    >>> rows = [Pair("Swish", 2.5, 2.45)]
    >>> pairs_scene(rows, 720, (0.5, 5), "Close.", "Source").sentence()
    'Close.'
    """
    left, below = (250.0, 0) if wide > NARROW else (16.0, 20)
    row_high = 34 + below
    foot = 14 + row_high * len(pairs)
    scene = Scene(wide, foot + 74, [])
    frame = Frame(left, 8, wide - 24, foot)
    x = frame.x(*ends)
    frame.x_ticks(scene, x, [v for v in TICKS if ends[0] < v < ends[1]], times)
    frame.draw(scene)
    scene.line([(x(1), 8), (x(1), foot)], "soft", 1.5, dash=(4, 4))
    for n, pair in enumerate(pairs):
        y = 14 + row_high * n + 16 + below
        at = (left - 12, y + 5, "end") if not below else (left, y - 14, "start")
        scene.text(*at[:2], pair.title, anchor=at[2], size=SMALL, halo=True, name="operation")
        ends_ = [(x(pair.counted), y), (x(pair.published), y)]
        scene.line(ends_, "soft", 3, opacity=0.4, name="apart")
        scene.dot(*ends_[0], "diamond", 7, **COUNTED, name="counted")
        mark = scene.dot(*ends_[1], size=5.5, name="published")
        where = f" ({pair.conditions})" if pair.conditions else ""
        scene.point(mark, f"{pair.title}: {names[0]} {times(pair.counted, 3)}, {names[1]} "
                          f"{times(pair.published, 3)}{where}.")  # fmt: skip
    scene.dot(left + 8, foot + 56, "diamond", 7, **COUNTED)
    scene.text(left + 20, foot + 61, names[0], size=SMALL)
    scene.dot(left + 100, foot + 56, size=5.5)
    scene.text(left + 112, foot + 61, names[1], size=SMALL)
    scene.says = says
    scene.note(note)
    return scene

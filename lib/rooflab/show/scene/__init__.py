"""A picture as data: marks on a sheet, whose places and words depend on a state.

A state has a position along each *dimension*: where a slider stands, which button is pressed, which
step of a program has been reached. A mark has *channels*: its points, its opacity, its words. What
a channel shows is the same in every state, or one value a position (:class:`By`). Python counts,
places and formats all of them. ``player.js`` looks them up and moves the marks in a browser;
:mod:`rooflab.show.scene.painter` draws the marks of one state with Matplotlib.

>>> from rooflab.show.scene import By, Dim, Scene
>>> scene = Scene(200, 100, [Dim("n", ["one", "two", "four"])])
>>> bar = scene.rect(10, 40, By("n", [20, 40, 80]), 20, fill="carrying")
>>> scene.slider("n", "how many")
>>> scene.says = By("n", ["It is short.", "It is longer.", "It is the longest."])
>>> scene.sentence(n=2), scene.value(bar, "box", n=2).tolist()
('It is the longest.', [10.0, 40.0, 80.0, 20.0])
"""

from __future__ import annotations

from rooflab.show.scene.packing import MISSING, pack, sheets
from rooflab.show.scene.sheet import Scene, drawn
from rooflab.show.scene.values import (
    FONT,
    GLYPH,
    GLYPHS,
    By,
    Dim,
    Fill,
    Made,
    Mark,
    Number,
    Place,
    Sum,
    Times,
    Value,
    Words,
    outline,
)

__all__ = [
    "FONT", "GLYPH", "GLYPHS", "MISSING", "By", "Dim", "Fill", "Made", "Mark", "Number", "Place",
    "Scene", "Sum", "Times", "Value", "Words", "drawn", "outline", "pack", "sheets",
]  # fmt: skip

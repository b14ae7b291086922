"""How far off the guesses were: each on the axis it was made on, and all of them on one of ×k."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

from rooflab.count.si import times
from rooflab.show import guess_axis, labels
from rooflab.show.guess_axis import LETTERS, NARROW, WIDE
from rooflab.show.scene import Scene
from rooflab.show.scene.player import Player

ROW = 21  # pixels of a line of words
ABOVE, BELOW = 70, 30  # pixels of an axis with what stands on it, and of its numbers


@dataclass(frozen=True)
class Gauge:
    """A guess and what was measured, None for what is unknown, in ``unit``; above 0.

    ``low`` and ``high`` are the ends of the axis on which ``question`` was asked. ``sentence`` says
    what is known where that is not both.
    """

    question: str
    sentence: str
    unit: str
    low: float
    high: float
    guess: float | None
    truth: float | None

    @property
    def said(self) -> str:
        """How far off the guess was, as its own axis said it."""
        if self.guess is None or self.truth is None:
            return self.sentence
        return guess_axis.verdict(self.guess, self.truth, self.unit)


class Gauges(Player):
    """The gauges of ``rows``; with a ``summary``, all of them on one axis too.

    ``text``: the same in words.
    """

    def __init__(self, rows: Sequence[Gauge], summary: str, text: str) -> None:
        self.text = text
        scenes = [gauges_scene(rows, summary, wide) for wide in (WIDE, NARROW)]
        super().__init__(*scenes, stem="my-guesses", kind="rl-gauges rl-list")

    @property
    def words(self) -> str:
        """The whole picture in words."""
        return self.text


def gauges_scene(rows: Sequence[Gauge], summary: str, wide: float) -> Scene:
    """The scene on a sheet ``wide`` pixels wide; its height grows with the questions."""
    scene, top = Scene(wide, 0, []), 0.0
    for row in rows:
        top = _gauge(scene, row, _lines(scene, row.question, top, bold=True))
        top = _lines(scene, row.said, top) + 18
    if summary:
        _overview(scene, rows, top + 20)
        top += 20 + BELOW
    scene.height, scene.says = top, summary
    return scene


def _lines(scene: Scene, words: str, top: float, *, bold: bool = False) -> float:
    """Words below ``top``, in lines that fit the sheet; where they end."""
    per_letter = labels.width("n" * 20, LETTERS) / 20 * (1.1 if bold else 1.0)
    name = "question" if bold else "sentence"
    for line in textwrap.wrap(words, int(scene.width / per_letter), break_on_hyphens=False):
        scene.text(0, top + 16, line, size=LETTERS, bold=bold, name=name)
        top += ROW
    return top + 2


def _gauge(scene: Scene, row: Gauge, top: float) -> float:
    """The question's own axis; what lies beyond makes it longer. Where it ends."""
    marks = {"truth": row.truth, "mine": row.guess}
    known = {name: value for name, value in marks.items() if value is not None}
    if not known:
        return top
    base = top + ABOVE
    low, high = min(row.low, *known.values()), max(row.high, *known.values())
    x = guess_axis.draw_axis(scene, low, high, base)
    if len(known) == 2:
        scene.line([(x(one), base) for one in known.values()], "mine", 5, opacity=0.3, name="gap")
    for name, value in known.items():
        (beside,), (anchor,) = guess_axis.inwards(scene.width, [x(value)])
        words = ("your guess: " if name == "mine" else "") + guess_axis.number(value, row.unit)
        guess_axis.draw_flag(scene, x(value), beside, words, base, name, anchor=anchor)
    return base + BELOW


def _overview(scene: Scene, rows: Sequence[Gauge], y: float) -> None:
    """A mark for each guess. Questions have nothing to do with each other: no line joins them."""
    off = {row: guess_axis.off_by(row.guess, row.truth) for row in rows if row.guess and row.truth}
    x = guess_axis.draw_axis(scene, 1, max(10.0, *off.values()), y, times)
    for row, factor in off.items():
        mark = scene.dot(x(factor), y, size=7.5, fill="mine", ink="ink", name="mine")
        scene.point(mark, f"{row.question} {row.said}")

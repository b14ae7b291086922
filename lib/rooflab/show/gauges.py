"""How far off the guesses were: a gauge for each, and all of them on one axis of ×k."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

from rooflab.count.si import plain, times
from rooflab.show import labels
from rooflab.show.scene import Scene
from rooflab.show.scene.axes import Frame, Scale
from rooflab.show.scene.player import Player

#: The two sheets: a page's column, and a phone.
WIDE, NARROW = 720, 400
EDGE, ROW, LETTERS = 14, 21, 15  # pixels beside an axis, of a line of words, and of their letters
AXIS = 54  # pixels of an axis with its numbers
TICKS = (1, 2, 5, 10, 20, 50, 100, 1000, 1e4, 1e5, 1e6)


@dataclass(frozen=True)
class Gauge:
    """A guess and what was measured, None for what is unknown, in ``unit``; above 0.

    ``low`` and ``high`` are the ends of the axis on which ``question`` was asked. ``sentence`` says
    how far off the guess was.
    """

    question: str
    sentence: str
    unit: str
    low: float
    high: float
    guess: float | None
    truth: float | None

    @property
    def seen(self) -> list[float]:
        """The guess and the truth, as far as they are known."""
        return [value for value in (self.guess, self.truth) if value is not None]

    @property
    def off_by(self) -> float:
        """How many times too high or too low the guess was; 1 where that is unknown."""
        return max(self.seen) / min(self.seen) if len(self.seen) == 2 else 1.0


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
    scene = Scene(wide, 0, [])
    top = 0.0
    for row in rows:
        top = _lines(scene, row.question, top, bold=True)
        if row.seen:
            _gauge(scene, row, top + 20)
            top += AXIS
        top = _lines(scene, row.sentence, top) + 18
    if summary:
        _overview(scene, rows, top + 20)
        top += AXIS
    scene.height = top
    scene.says = summary
    return scene


def _lines(scene: Scene, words: str, top: float, *, bold: bool = False) -> float:
    """Words below ``top``, in lines that fit the sheet; where they end."""
    per_letter = labels.width("n" * 20) / 20 * LETTERS / labels.SIZE * (1.1 if bold else 1.0)
    found = textwrap.wrap(words, int(scene.width / per_letter), break_on_hyphens=False)
    for n, line in enumerate(found):
        name = "question" if bold else "sentence"
        scene.text(0, top + ROW * n + 16, line, size=LETTERS, bold=bold, name=name)
    return top + ROW * len(found) + 2


def _axis(scene: Scene, low: float, high: float, y: float) -> Scale:
    x = Frame(EDGE, 0, scene.width - EDGE, y).x(low, high)
    scene.line([(EDGE, y), (scene.width - EDGE, y)], "soft", 1, name="axis")
    return x


def _tick(scene: Scene, x: float, y: float, words: str, free: float = -EDGE) -> float:
    """A stroke and its number, if the room from ``free`` on is enough; where its room ends."""
    wide = labels.width(words) * 14 / labels.SIZE
    left = min(max(x - wide / 2, 0), scene.width - wide)
    if left < free + EDGE:
        return free
    scene.line([(x, y), (x, y + 6)], "soft", 1)
    scene.text(left + wide / 2, y + 22, words, "soft", size=14, anchor="middle", name="tick")
    return left + wide


def _gauge(scene: Scene, row: Gauge, y: float) -> None:
    """The guess and the truth on the question's own axis; what lies beyond makes it longer."""
    low, high = min(row.low, *row.seen), max(row.high, *row.seen)
    x = _axis(scene, low, high, y)
    _tick(scene, x(low), y, plain(low))
    _tick(scene, x(high), y, f"{plain(high)} {row.unit}")
    if row.guess is not None and row.truth is not None:
        scene.line([(x(row.guess), y), (x(row.truth), y)], "mine", 5, opacity=0.4, name="gap")
    if row.truth is not None:
        scene.dot(x(row.truth), y, size=5.5, name="truth")
    if row.guess is not None:
        _ring(scene, x(row.guess), y)


def _ring(scene: Scene, x: float, y: float, says: str = "") -> None:
    """The learner's own guess, hollow, so that a truth in the same place is seen."""
    scene.dot(x, y, size=9, fill=None, ink="ink", width=1)
    ring = scene.dot(x, y, size=7.5, fill=None, ink="mine", width=3, name="mine")
    if says:
        scene.point(ring, says)


def _overview(scene: Scene, rows: Sequence[Gauge], y: float) -> None:
    """A ring for each guess. Questions have nothing to do with each other: no line joins them."""
    known = [row for row in rows if len(row.seen) == 2]
    top = max(10.0, *(row.off_by for row in known))
    x = _axis(scene, 1, top, y)
    free = -float(EDGE)
    for tick in TICKS:
        if tick <= top:
            free = _tick(scene, x(tick), y, times(tick), free)
    for row in known:
        _ring(scene, x(row.off_by), y, f"{row.question} {row.sentence}")

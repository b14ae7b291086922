"""The time of a step over the context, as stacked bars.

The bars of all contexts are one outline for each part: a few heights in pixels, one on top of the
other. Near and far scales of time take turns, so that this bar is never too high.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from rooflab.count.si import si
from rooflab.labs.llm.film import captions as words
from rooflab.labs.llm.film.captions import written
from rooflab.labs.llm.film.grid import ATTENTION, COMPUTE, FEET, KV, NARROW, OTHER, WEIGHTS
from rooflab.labs.llm.film.roofline import SMALL, Look
from rooflab.labs.llm.film.tables import TOPS, FilmTables
from rooflab.show import labels, theme
from rooflab.show.scene import By, Scene, Sum, Times
from rooflab.show.scene.axes import Frame

LETTERS = 15  # pixels, like all that follow
#: What time goes into, each in its colour; two have an edge, and less or nothing inside.
INKS = {WEIGHTS: "carrying", KV: "carrying", COMPUTE: "computing", OTHER: "soft"}
CLEAR = {KV: 0.4, OTHER: 0.0}
TIME = 64  # of a time in bold letters
FADE = 8  # pixels in which a bar that goes on beyond the axis fades away


def area(scene: Scene, points: Any, part: str, on: Any = 1.0, **more: Any) -> None:
    """Draw an area of a part; ``on``: 1 where it is seen, or a table of that by :data:`NARROW`."""
    clear = CLEAR.get(part, 1.0)
    inside, edge = (By(on.dims, n * on.values) if isinstance(on, By) else n for n in (clear, 1.0))
    scene.line(points, None, fill=INKS[part], opacity=inside, **more)
    if part in CLEAR:
        scene.line(points, INKS[part], 1.3, closed=True, opacity=edge, **more)


@dataclass(frozen=True)
class FilmBars:
    """The bars of ``tables`` within a ``frame`` of ``scene``.

    ``total``: the time of a step in words; ``columns``: entries in a row of the key over the bars.
    """

    tables: FilmTables
    total: By
    scene: Scene
    frame: Frame
    columns: int

    def draw(self) -> None:
        """Key, axes, bars, and what stands over them; a hand pulls the context along them."""
        self._key()
        self._axes()
        self._bars()
        self._crossing()
        self._runs()
        self._now()
        place = By("context", self.centres)
        self.scene.grip("context", place, self.frame.bottom, area=self.frame.box)

    @cached_property
    def centres(self) -> np.ndarray:
        """x of the middle of each bar."""
        frame, many = self.frame, self.tables.shape[4]
        return frame.left + (frame.right - frame.left) * (np.arange(many) + 0.5) / many

    @property
    def half(self) -> float:
        """Pixels from the middle of a bar to its edge."""
        return float(0.37 * (self.centres[1] - self.centres[0]))

    @cached_property
    def turns(self) -> tuple[str, ...]:
        """What attention does, from the foot of a bar up."""
        return (COMPUTE, KV) if self.tables.computes(ATTENTION).any() else (KV,)

    @cached_property
    def heights(self) -> By:
        """Pixels of the parts below attention, and of its :attr:`turns` at each context."""
        t, high = self.tables, self.frame.bottom - self.frame.top
        per = high / TOPS[t.scale][..., None]  # pixels of a second, near and far
        computes, seconds = t.computes(ATTENTION), t.seconds[ATTENTION.name]
        turns = [np.where(computes == (part == COMPUTE), seconds, 0) for part in self.turns]
        parts = [t.feet[:, :, None, :, None], *(turn[..., None, :] for turn in turns)]
        heights = np.concatenate([part * per for part in parts], -1)
        return By("machine weights kv batch zoom", np.minimum(heights, 2 * high))

    def below(self, parts: int) -> np.ndarray:
        """Which of :attr:`heights` lie below the top of so many parts, for each context."""
        many, wide = len(self.centres), [*[1] * len(FEET), *[len(self.centres)] * len(self.turns)]
        own = np.hstack([np.ones((many, len(FEET))), *[np.eye(many)] * len(self.turns)])
        return own * (np.repeat(np.arange(len(wide)), wide) < parts)

    def corners(self, low: int, high: int, more: float = 0) -> tuple[np.ndarray, np.ndarray]:
        """Corners of bars from ``low`` to ``high`` parts: at their foot; per :attr:`heights`."""
        x = self.centres[:, None] + (self.half + more) * np.array([-1, -1, 1, 1])
        y = np.broadcast_to(self.frame.bottom - np.array([0, more, more, 0]), x.shape)
        edges = np.stack([self.below(n) for n in (low, high, high, low)], 1)
        return np.stack([x, y], -1), np.stack([0 * edges, -edges], 2)

    def _bars(self) -> None:
        """The bars, each part from the top of the last; what goes on beyond the axis fades."""
        frame = self.frame
        clip = (frame.left, frame.top - FADE, frame.right, frame.bottom)
        for n, part in enumerate((*FEET, *self.turns)):
            base, matrix = self.corners(n, n + 1)
            outline = Sum(base.ravel(), Times(matrix.ravel(), self.heights))
            area(self.scene, outline, part, clip=clip, name=f"part-{part}")
        look: Look = {"radius": 0, "opacity": 0.45, "name": "fade"}
        for high in range(2, FADE + 1, 2):
            self.scene.rect(frame.left, clip[1], frame.right - frame.left, high, "paper", **look)

    def _key(self) -> None:
        x, y = 8.0, self.frame.top - 37 - 18 * (len(words.PARTS) // self.columns - 1)
        for n, (part, said) in enumerate(words.PARTS.items()):
            if n and n % self.columns == 0:
                x, y = 8.0, y + 18
            corners = [(x, y - 11), (x + 12, y - 11), (x + 12, y + 1), (x, y + 1)]
            area(self.scene, corners, part, name="key")
            self.scene.text(x + 17, y, said, size=SMALL, name="key")
            x += 17 + SMALL / labels.SIZE * labels.width(said) + 10

    def _axes(self) -> None:
        scene, frame, t = self.scene, self.frame, self.tables
        look: Look = {"size": SMALL, "anchor": "end", "name": "time-tick"}
        for share in (0, 0.5, 1):
            y = frame.bottom - share * (frame.bottom - frame.top)
            scene.line([(frame.left, y), (frame.right, y)], "grid", 1)
            times = [si(share * top, "s", 2).replace(".0", "") if share else "0" for top in TOPS]
            scene.text(frame.left - 6, y + 5, By("scale", times), **look)
        contexts, limit = t.grid.contexts, t.grid.model.context
        look = {"size": SMALL, "anchor": "middle"}
        for j in range(0, len(contexts), 4 if self.columns == 4 else 6):
            said = theme.count(contexts[j])
            scene.text(self.centres[j], frame.bottom + 17, said, name="context", **look)
        said = "context, tokens"
        if limit:
            said += f" (| trained up to {theme.count(limit)})"
            inside = np.searchsorted(contexts, limit, "right") / len(contexts)
            edge = frame.left + inside * (frame.right - frame.left)
            scene.line(
                [(edge, frame.bottom - 7), (edge, frame.bottom + 4)], "ink", 2, name="trained"
            )
        scene.text((frame.left + frame.right) / 2, frame.bottom + 35, said, **look)

    def _crossing(self) -> None:
        """Mark the context at which attention takes as long as all the rest."""
        scene, frame, contexts = self.scene, self.frame, np.array(self.tables.grid.contexts)
        wide, at = "machine weights kv batch", self.tables.crossing
        at = np.where((at >= contexts[0]) & (at <= contexts[-1]), at, np.nan)
        x = np.interp(np.log(at), np.log(contexts), self.centres)
        ends = [(By(wide, x), frame.top - 14), (By(wide, x), frame.bottom)]
        scene.line(ends, "ink", 1.5, dash=(6, 4), name="crossing")
        said = written(at, lambda one: words.CROSSING.format(context=words.short(one)))
        half = SMALL / labels.SIZE / 2 * labels.width(words.CROSSING.format(context="100 000"))
        middle = By(wide, np.clip(x, frame.left + half, frame.right - half))
        look: Look = {"size": SMALL, "anchor": "middle", "halo": True, "name": "crossing-says"}
        scene.text(middle, frame.top - 18, By(wide, said), **look)

    def _runs(self) -> None:
        """A diamond where a real decode loop took its time."""
        frame, t = self.frame, self.tables
        look: Look = {"fill": "ink", "ink": "paper", "name": "ran"}
        for run in t.timed:
            x = float(np.interp(np.log(run.context), np.log(t.grid.contexts), self.centres))
            y = frame.bottom - (frame.bottom - frame.top) * np.minimum(run.seconds / TOPS, 1)
            self.scene.dot(x, By("scale", y), "diamond", 7, opacity=By(NARROW, t.at(run)), **look)

    def _now(self) -> None:
        """A frame around the bar of this context, and its time above it: over lower bars."""
        many, parts = len(self.centres), len(FEET) + len(self.turns)
        base, matrix = (By("context", one.reshape(many, -1)) for one in self.corners(0, parts, 2.5))
        points = Sum(base, Times(matrix, self.heights))
        self.scene.line(points, "key", 2.5, closed=True, name="now")
        timed, edge = bool(self.tables.timed), self.frame.left + TIME
        right = self.centres + (-11 if timed else self.half)  # or beside the diamond
        x = np.where(right < edge, self.centres + 11 + TIME if timed else edge, right)
        foot = By("context", np.stack([x, np.full(many, self.frame.bottom - 8)], -1))
        lift = By("context", self.corners(0, parts)[1][:, 1].reshape(many, -1))
        look: Look = {"bold": True, "halo": True, "anchor": "end", "name": "total"}
        place = Sum(foot, Times(lift, self.heights))
        self.scene.text(place, None, self.total, size=LETTERS, **look)

"""The time of a step over the context, as stacked bars.

The bars of all contexts are one outline for each part: a few heights in pixels, one on top of the
other. Near and far scales of time take turns, so that this bar is never too high.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from rooflab.labs.llm.film import words
from rooflab.labs.llm.film.captions import Captions
from rooflab.labs.llm.film.grid import COMPUTE, KV, NARROW, OTHER, WEIGHTS
from rooflab.labs.llm.film.roofline import SMALL, Look, shown
from rooflab.labs.llm.film.tables import SCALES, TOPS, FilmTables, written
from rooflab.show import labels, theme
from rooflab.show.scene import By, Number, Scene, Sum, Times, Words
from rooflab.show.scene.axes import Frame

LETTERS = 15  # pixels
#: What time goes into, each in its colour. The KV cache is carried, too: its areas are pale.
INKS = {WEIGHTS: "carrying", KV: "carrying", COMPUTE: "computing", OTHER: "soft"}
PALE = 0.4
# Pixels: the torn edge of a bar that goes on beyond the axis, and half the arrow over it.
ZIGZAG, ARROW = 5, 4.5


def area(scene: Scene, points: Any, part: str, clear: Number = 1.0, **more: Any) -> None:
    """An area of a part; a pale one has an edge."""
    if part != KV:
        scene.line(points, None, fill=INKS[part], opacity=clear, **more)
        return
    pale = By(clear.dims, PALE * np.asarray(clear.values)) if isinstance(clear, By) else PALE
    scene.line(points, None, fill=INKS[part], opacity=pale, **more)
    scene.line(points, INKS[part], 1.3, closed=True, opacity=clear, **more)


@dataclass(frozen=True)
class FilmBars:
    """The bars of ``captions``' film within a ``frame`` of ``scene``.

    ``key``: x of the key over them, and how many entries it has in a row.
    """

    captions: Captions
    scene: Scene
    frame: Frame
    key: tuple[float, int]

    @property
    def tables(self) -> FilmTables:
        """What they are drawn from."""
        return self.captions.tables

    def draw(self) -> None:
        """Key, bars, and what stands over them; a hand pulls the context along them."""
        self._key()
        self._bars()
        self._axis()
        self._crossing()
        self._ran_bars()
        self._bar_now()
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
    def heights(self) -> By:
        """Pixels of the three parts below attention, and of attention at each context.

        Attention stands there twice where it computes at some of them.
        """
        t, high = self.tables, self.frame.bottom - self.frame.top
        per = high / TOPS[t.scale]  # pixels of a second, near and far
        parts = np.stack([t.parts[part] for part in (WEIGHTS, COMPUTE, OTHER)], -1)
        low = parts[:, :, None, :, None, :] * per[..., None]
        turns = [t.attention[part][..., None, :] * per[..., None] for part in self.turns]
        found = np.minimum(np.nan_to_num(np.concatenate([low, *turns], -1)), 2 * high)
        return By("machine weights kv batch zoom", found)

    @cached_property
    def turns(self) -> tuple[str, ...]:
        """What attention does, from the foot of a bar up."""
        computes = self.tables.attention[COMPUTE]
        return (COMPUTE, KV) if np.nansum(computes) > 0 else (KV,)

    @cached_property
    def levels(self) -> list[tuple[str, np.ndarray]]:
        """The parts of the bars from the foot up; which of :attr:`heights` lie below their tops."""
        many, found = self.tables.shape[4], []
        below = np.zeros((many, 3 + many * len(self.turns)))
        for column, part in enumerate((WEIGHTS, COMPUTE, OTHER)):
            below[:, column] = 1
            found.append((part, below.copy()))
        for turn, part in enumerate(self.turns):
            below[:, 3 + turn * many : 3 + (turn + 1) * many] = np.eye(many)
            found.append((part, below.copy()))
        return found

    def corners(
        self, low: np.ndarray, high: np.ndarray, more: float = 0
    ) -> tuple[np.ndarray, np.ndarray]:
        """The four corners of every bar, ``more`` pixels around it: where its foot would be, and
        what times :attr:`heights` is added, from lower edges to upper ones.
        """
        base = np.empty((len(low), 4, 2))
        base[:, :, 0] = self.centres[:, None] + (self.half + more) * np.array([-1, -1, 1, 1])
        base[:, :, 1] = self.frame.bottom - np.array([0, more, more, 0])
        matrix = np.zeros((*base.shape, low.shape[-1]))
        matrix[:, :, 1] = 0 - np.stack([low, high, high, low], 1)
        return base, matrix

    def _bars(self) -> None:
        scene, frame = self.scene, self.frame
        used = [SCALES[int(n)] for n in scene.dim("scale").stops]
        for n in range(max(len(one.ticks) for one in used)):
            at = [one.ticks[min(n, len(one.ticks) - 1)] for one in used]
            share = np.array([tick / one.top for one, (tick, _) in zip(used, at)])
            y = frame.bottom - (frame.bottom - frame.top) * share
            clear = By("scale", [float(n < len(one.ticks)) for one in used])
            ends = [(x, By("scale", y)) for x in (frame.left, frame.right)]
            scene.line(ends, "grid", 1, opacity=clear)
            said = By("scale", [text for _, text in at])
            look: Look = {"size": SMALL, "anchor": "end", "opacity": clear, "name": "time-tick"}
            scene.text(frame.left - 6, By("scale", y + 5), said, **look)
        clip = (frame.left, frame.top - ZIGZAG - 3, frame.right, frame.bottom)
        low = np.zeros_like(self.levels[0][1])
        for part, high in self.levels:
            base, matrix = self.corners(low, high)
            outline = Sum(base.ravel(), Times(matrix.ravel(), self.heights))
            area(self.scene, outline, part, clip=clip, name=f"part-{part}")
            low = high
        xs = np.linspace(frame.left, frame.right, 4 * self.tables.shape[4] + 1)
        teeth = frame.top - ZIGZAG + 2.0 * (np.arange(len(xs)) % 2)
        scene.line(list(zip(xs.tolist(), teeth.tolist())), "paper", 3, name="torn")
        self._arrows()
        scene.line([(frame.left, frame.bottom), (frame.right, frame.bottom)], "soft", 1)

    def _arrows(self) -> None:
        """Over every bar that goes on beyond the axis: all of them are one outline."""
        many, foot = self.tables.shape[4], self.frame.top - ZIGZAG - 4
        one = np.array([(-ARROW, 0), (0, -1.3 * ARROW), (ARROW, 0)]) + (0, foot)
        every = one + np.stack([self.centres, np.zeros(many)], -1)[:, None]
        last = [np.maximum(np.arange(many), many - max(cut, 1)) for cut in range(many + 1)]
        outlines = np.stack([every[at] for at in last]).reshape(many + 1, -1)
        on = By("cut", np.arange(many + 1) > 0)
        self.scene.line(By("cut", outlines), None, fill="soft", opacity=on, name="goes-on")

    def _key(self) -> None:
        scene, (left, many) = self.scene, self.key
        x, y = left, self.frame.top - 37 - 18 * (4 // many - 1)
        for n, (part, said) in enumerate(words.PARTS.items()):
            if n and n % many == 0:
                x, y = left, y + 18
            corners = [(x, y - 11), (x + 12, y - 11), (x + 12, y + 1), (x, y + 1)]
            area(self.scene, [*corners], part, name="key")
            scene.text(x + 17, y, said, size=SMALL, name="key")
            x += 17 + SMALL / labels.SIZE * labels.width(said) + 12

    def _axis(self) -> None:
        scene, frame, t = self.scene, self.frame, self.tables
        contexts = t.grid.contexts
        look: Look = {"size": SMALL, "anchor": "middle"}
        for j in range(0, len(contexts), 4 if self.key[1] == 4 else 6):
            said = theme.count(contexts[j])
            scene.text(self.centres[j], frame.bottom + 17, said, name="context", **look)
        limit = t.grid.model.context
        said = "context, tokens"
        if limit:
            said += f" (| trained up to {theme.count(limit)})"
        scene.text((frame.left + frame.right) / 2, frame.bottom + 35, said, **look)
        inside = sum(context <= (limit or 0) for context in contexts)
        if 0 < inside < len(contexts):
            edge = float(self.centres[inside - 1 : inside + 1].mean())
            ends = [(edge, frame.bottom - 7), (edge, frame.bottom + 4)]
            scene.line(ends, "ink", 2, name="trained")

    def _crossing(self) -> None:
        """Mark the context at which attention takes as long as all the rest."""
        scene, frame, contexts = self.scene, self.frame, np.array(self.tables.grid.contexts)
        wide, at = "machine weights kv batch", self.tables.crossing
        at = np.where((at >= contexts[0]) & (at <= contexts[-1]), at, np.nan)
        x = np.interp(np.log(at), np.log(contexts), self.centres)
        ends = [(By(wide, x), frame.top - 14), (By(wide, x), frame.bottom)]
        scene.line(ends, "ink", 1.5, dash=(6, 4), name="crossing")
        said = written(at, lambda one: words.CROSSING.format(context=words.short(one)))
        half = SMALL / labels.SIZE / 2 * np.vectorize(lambda text: labels.width(str(text)))(said)
        middle = By(wide, np.clip(x, frame.left + half, frame.right - half))
        look: Look = {"size": SMALL, "anchor": "middle", "halo": True, "name": "crossing-says"}
        scene.text(middle, frame.top - 18, By(wide, said), **look)

    def _ran_bars(self) -> None:
        """A diamond where a real decode loop took its time."""
        frame, t = self.frame, self.tables
        tops = TOPS[[int(n) for n in self.scene.dim("scale").stops]]
        look: Look = {"fill": "ink", "ink": "paper", "name": "ran"}
        for m, one in ((m, one) for m, found in enumerate(t.timed) for one in found if one.i >= 0):
            now = np.zeros((t.shape[0], t.shape[1], t.shape[3]))
            now[m, one.w, one.i] = 1
            x = float(np.interp(np.log(one.context), np.log(t.grid.contexts), self.centres))
            y = frame.bottom - (frame.bottom - frame.top) * np.minimum(one.seconds / tops, 1)
            on = By(NARROW, now)
            self.scene.dot(x, By("scale", y), "diamond", 7, opacity=on, **look)

    def _bar_now(self) -> None:
        """A frame around the bar of this context, and its time above it."""
        frame, t, top = self.frame, self.tables, self.levels[-1][1]
        many, on = len(top), shown(t)
        base, matrix = self.corners(np.zeros_like(top), top, 2.5)
        around = By("context", base.reshape(many, 8)), By("context", matrix.reshape(many, -1))
        points = Sum(around[0], Times(around[1], self.heights))
        self.scene.line(points, "key", 2.5, closed=True, opacity=on, name="now")
        above = np.full((many, 2), frame.bottom - 8.0)
        above[:, 0] = np.clip(self.centres, frame.left + 30, frame.right - 30)
        anchor: Words = "middle"
        if any(t.timed):  # beside the diamond of what was measured
            late = np.arange(many) > many // 3
            above[:, 0] = self.centres + np.where(late, -11, 11)
            anchor = By("context", np.where(late, "end", "start").astype(object))
        lift = By("context", matrix[:, 1].reshape(many, -1))
        place = Sum(By("context", above), Times(lift, self.heights))
        look: Look = {"bold": True, "halo": True, "anchor": anchor, "opacity": on}
        self.scene.text(place, None, self.captions.total, size=LETTERS, name="total", **look)

"""The roofline of a film: a dot for each kind of operation, and what was measured below it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from rooflab.count.si import si
from rooflab.labs.llm.film.captions import written
from rooflab.labs.llm.film.grid import ALL, ATTENTION, KINDS, NARROW, PREFILL, REST, DotKind
from rooflab.labs.llm.film.tables import FilmTables, along
from rooflab.show import labels, theme
from rooflab.show.canvas import rate_tick
from rooflab.show.scene import By, Scene, Sum, Times
from rooflab.show.scene.axes import Frame, Scale

SMALL = 14  # pixels of letters
UNIT = 400  # of a frame's width or height are all of it
HEAD = 16  # pixels from the frame to the words above it
ROW = 14  # pixels from one name to the next above it
CLOSE = 38  # pixels between dots on a slope whose names are nearer than that
STEEP = 0.5  # pixels up for each to the right: about as much as the roofs
Look: TypeAlias = dict[str, Any]  # what several marks have in common


@dataclass(frozen=True)
class FilmRoofline:
    """The roofline of ``tables`` within a ``frame`` of ``scene``."""

    tables: FilmTables
    scene: Scene
    frame: Frame

    def draw(self) -> None:
        """Axes, roofs, dots with their names, measurements."""
        self._axes()
        self._roof()
        self._dots()
        self._runs()
        self._names_below()
        self._names_above()

    @cached_property
    def across(self) -> Scale:
        """FLOP/byte to pixels."""
        low, high = np.log10(self.tables.grid.ends)
        ends = np.floor(2 * low - 0.2) / 2, np.ceil(2 * high + 0.2) / 2
        return self.frame.x(10 ** ends[0], 10 ** ends[1])

    def up(self, rates: np.ndarray) -> np.ndarray:
        """FLOP/s to pixels, on each machine's own axis; the machine is the first axis."""
        low, high = (along(one, rates.ndim) for one in self.tables.decades.T)
        frame, share = self.frame, (np.log10(rates) - low) / (high - low)
        return np.asarray(frame.bottom - share * (frame.bottom - frame.top))

    def places(self, kind: DotKind) -> np.ndarray:
        """x and y of a dot."""
        x = self.across(self.tables.grid.intensities[kind.name])
        y = self.up(self.tables.on_roof(kind))
        return np.stack(np.broadcast_arrays(x[None], y), -1)

    def spot(self, kind: DotKind, *move: Any) -> Sum:
        """A place that is moved; its share of the frame is what all sheets have in common."""
        frame, places = self.frame, self.places(kind)
        size = frame.right - frame.left, frame.bottom - frame.top
        shares = UNIT * abs(places - (frame.left, frame.bottom)) / size
        pixels = Times([size[0] / UNIT, 0, 0, -size[1] / UNIT], By(kind.dims, shares))
        return Sum((frame.left, frame.bottom), pixels, *move)

    def _axes(self) -> None:
        scene, frame = self.scene, self.frame
        frame.x_ticks(scene, self.across, self.across.decades(), theme.intensity, below=18)
        middle = (frame.left + frame.right) / 2
        scene.text(middle, frame.bottom + 36, "FLOP per byte moved", size=SMALL, anchor="middle")
        scene.text(8, frame.top - HEAD, "FLOP/s", size=SMALL)
        low, high = self.tables.decades.T
        for decade in range(int(np.ceil(low.min())), int(np.floor(high.max())) + 1):
            y = self.up(np.full(len(low), 10.0**decade))
            inside = By("machine", (low - 1e-9 <= decade) & (decade <= high + 1e-9))
            ends = [(x, By("machine", y)) for x in (frame.left, frame.right)]
            scene.line(ends, "grid", 1, opacity=inside)
            look: Look = {"size": SMALL, "anchor": "end", "opacity": inside, "name": "tick"}
            scene.text(frame.left - 6, By("machine", y + 5), rate_tick(10.0**decade), **look)
        frame.draw(scene)

    def _roof(self) -> None:
        scene, frame, t, wide = self.scene, self.frame, self.tables, "machine weights"
        bandwidth, peak = t.roofs
        start, flat = (By(wide, self.up(one)) for one in (bandwidth * self.across.lo, peak))
        ridge = self.across(t.ridge)
        bend, y = (By(wide, ridge), flat), frame.top - HEAD
        scene.line([bend, (bend[0], frame.bottom)], "soft", 1.5, dash=(1, 4), name="ridge")
        scene.line([(frame.left, start), bend], "carrying", 3, clip=frame.box, name="slope")
        scene.line([bend, (frame.right, flat)], "computing", 3, clip=frame.box, name="flat")
        carried = written(bandwidth, lambda rate: f"memory {si(rate, 'B/s')}")
        computed = written(peak, lambda rate: si(rate, "FLOP/s"))
        kinds = np.array([f"{kind} " for kind in t.grid.computed], object)
        look: Look = {"size": SMALL, "bold": True, "name": "roof-says"}
        scene.text(frame.left + 14, y, By(wide, carried), "carrying", **look)
        flat_says = By(wide, np.where(computed == "", "", kinds + computed))
        scene.text(frame.right, y, flat_says, "computing", anchor="end", **look)
        beyond = np.nan_to_num(ridge) + 90 > frame.right
        foot = By(wide, ridge + np.where(beyond, -5, 5))
        anchor = By(wide, np.where(beyond, "end", "start").astype(object))
        said = By(wide, written(t.ridge, lambda ridge: f"ridge {theme.ridge(ridge)}"))
        look = {"size": SMALL, "anchor": anchor, "name": "ridge-says"}
        scene.text(foot, frame.bottom - 7, said, "soft", **look)

    def _dots(self) -> None:
        """The large ones first: what lies in one place is seen inside each other."""
        scene = self.scene
        for kind in sorted((*KINDS, PREFILL), key=lambda one: -one.size):
            ink = "key" if kind.name == "mlp" else "ink"  # the one that a hand can pull
            ring: Look = {"fill": "paper", "ink": ink, "width": 2.2, "name": f"op-{kind.name}"}
            mark = scene.dot(self.spot(kind), None, kind.shape, kind.size, **ring)
            if kind.name == "mlp":
                at = (By(NARROW, one) for one in np.moveaxis(self.places(kind), -1, 0))
                scene.grip("batch", *at, area=mark)

    def _name(self, kind: DotKind, said: str | By, *move: Any, anchor: str = "start") -> None:
        look: Look = {"size": SMALL, "bold": True, "halo": True, "name": f"name-{kind.name}"}
        self.scene.text(self.spot(kind, *move), None, said, anchor=anchor, **look)

    def _names_below(self) -> None:
        """Products with weights and the norms have their names right below, within the frame."""
        mlp, qkvo, head, other = REST
        self._name(other, other.label, (10, 28))
        first, second = self._near(mlp, qkvo), self._near(qkvo, head)
        both = np.where(second, "weights", f"{mlp.label}, {qkvo.label}")
        names = {
            mlp: np.where(first, both, mlp.label),
            qkvo: np.where(first, "", np.where(second, f"{qkvo.label}, {head.label}", qkvo.label)),
            head: np.where(second, "", head.label),
        }
        start = 10 if self.tables.timed else 0  # right of what hangs below the dots
        for kind, said in names.items():
            wide = np.vectorize(lambda text: labels.width(str(text)))(said)
            right = np.minimum(start, self.frame.right - wide - self.places(kind)[..., 0])
            move = np.stack(np.broadcast_arrays(right, 23.0), -1)
            self._name(kind, By(NARROW, said.astype(object)), By(NARROW, move))

    def _near(self, kind: DotKind, other: DotKind) -> np.ndarray:
        """Whether a name of ``kind`` would lie on that of ``other``, right of it."""
        apart = abs(self.places(kind) - self.places(other))
        return np.asarray((apart < (labels.width(kind.label) + 10, ROW)).all(-1))

    def _names_above(self) -> None:
        """Attention and the prefill have theirs left above: one where those would overlap."""
        attention, prefill = self.places(ATTENTION), self.places(PREFILL)[:, :, :, None]
        apart = prefill - attention
        near = (abs(apart) < (labels.width(ATTENTION.label) + 10, ROW)).all(-1)
        kinds = ((ATTENTION, PREFILL, attention, -apart), (PREFILL, ATTENTION, prefill, apart))
        for kind, other, place, beyond in kinds:
            last, both = beyond[..., 0] >= 0, f"{other.label}, {kind.label}"
            said = np.where(near, np.where(last, both, ""), kind.label).astype(object)
            # Where the frame begins it stands further right, and higher by as much as the roof.
            joined = last & (beyond[..., 0] < CLOSE)
            wide = np.where(joined, labels.width(both), labels.width(kind.label))[0]
            right = np.maximum(0, self.frame.left + wide - place[0, ..., 0])
            high = np.maximum(15, 5 + STEEP * (right + 4))
            move = By("weights kv batch context", np.stack([right + 4, -high], -1))
            self._name(kind, By(ALL, said), move, anchor="end")

    def _runs(self) -> None:
        """What was measured hangs below its roof: this batch large, the others small."""
        scene, t = self.scene, self.tables
        for run in t.timed:
            m, w, _ = run.place
            on, pale = By(NARROW, t.at(run)), np.zeros(t.shape[:2])
            pale[m, w] = 0.5
            bandwidth, peak = t.roofs[:, m, w]
            for name, (x, rate) in run.dots.items():
                shape = next(kind.shape for kind in KINDS if kind.name == name)
                rates = np.array([min(peak, x * bandwidth), rate])
                top, foot = self.up(np.tile(rates, (t.shape[0], 1)))[m].tolist()
                x = float(self.across(x))
                look: Look = {"dash": (2, 3), "opacity": on, "name": "trail"}
                scene.line([(x, top), (x, foot)], "ink", 2, **look)
                before = By("machine weights", pale)
                scene.dot(x, foot, shape, 3.2, opacity=before, name="ran-before")
                scene.dot(x, foot, shape, 6.5, opacity=on, name=f"ran-{name}")

"""The roofline of a film: a dot for each kind of operation, and what was measured below it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from rooflab.count.si import si
from rooflab.labs.llm.film.grid import ATTENTION, KINDS, NARROW, OTHER, PREFILL, WEIGHTS, DotKind
from rooflab.labs.llm.film.tables import FilmTables, written
from rooflab.show import labels, theme
from rooflab.show.canvas import rate_tick
from rooflab.show.scene import By, Number, Scene, Sum, Times
from rooflab.show.scene.axes import Frame, Scale

SMALL = 14  # pixels of letters
NEAR = 48  # pixels that a name may stand further from its dot
UNIT = 400  # of a frame's width or height are all of it
Look: TypeAlias = dict[str, Any]  # what several marks have in common
NAME: Look = {"size": SMALL, "bold": True, "halo": True}


def shown(tables: FilmTables, clear: float = 1.0) -> Number:
    """How clear a mark is: not at all where a machine has no figure."""
    return clear if tables.usable.all() else By("machine weights", clear * tables.usable)


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
        self._names()

    @cached_property
    def across(self) -> Scale:
        """FLOP/byte to pixels."""
        low, high = np.log10(self.tables.grid.ends)
        ends = np.floor(2 * low - 0.2) / 2, np.ceil(2 * high + 0.2) / 2
        return self.frame.x(10 ** ends[0], 10 ** ends[1])

    def up(self, rates: np.ndarray) -> np.ndarray:
        """FLOP/s to pixels, on each machine's own axis; the machine is the first axis."""
        low, high = (FilmTables.along(one, rates.ndim) for one in self.tables.decades.T)
        frame, share = self.frame, (np.log10(rates) - low) / (high - low)
        found: np.ndarray = frame.bottom - share * (frame.bottom - frame.top)
        return found

    def places(self, kind: DotKind) -> np.ndarray:
        """x and y of a dot."""
        x, y = self.across(self.tables.intensity(kind)), self.up(self.tables.on_roof(kind))
        return np.stack(np.broadcast_arrays(x[None], y), -1)

    def spot(self, kind: DotKind, move: Any = None) -> Sum:
        """The same as a place, with what is added to it.

        What changes is a share of the frame: sheets of all sizes have it in common.
        """
        frame, places = self.frame, self.places(kind)
        size = frame.right - frame.left, frame.bottom - frame.top
        shares = UNIT * abs(places - (frame.left, frame.bottom)) / size
        table = By(kind.dims, shares)
        pixels = Times([size[0] / UNIT, 0, 0, -size[1] / UNIT], table)
        return Sum((frame.left, frame.bottom), pixels, *([] if move is None else [move]))

    def _axes(self) -> None:
        scene, frame = self.scene, self.frame
        frame.x_ticks(scene, self.across, self.across.decades(), theme.intensity, below=18)
        middle = (frame.left + frame.right) / 2
        scene.text(middle, frame.bottom + 36, "FLOP per byte moved", size=SMALL, anchor="middle")
        scene.text(8, frame.top - 9, "FLOP per second", size=SMALL)
        low, high = self.tables.decades.T
        for decade in range(int(np.ceil(low.min())), int(np.floor(high.max())) + 1):
            rate = 10.0**decade
            y = self.up(np.full(len(low), rate))
            inside = By("machine", (low - 1e-9 <= decade) & (decade <= high + 1e-9))
            ends = [(x, By("machine", y)) for x in (frame.left, frame.right)]
            scene.line(ends, "grid", 1, opacity=inside)
            look: Look = {"size": SMALL, "anchor": "end", "opacity": inside, "name": "tick"}
            scene.text(frame.left - 6, By("machine", y + 5), rate_tick(rate), **look)
        frame.draw(scene)

    def _roof(self) -> None:
        scene, frame, t = self.scene, self.frame, self.tables
        bandwidth, peak = t.roofs
        ends = self.up(bandwidth * self.across.lo), self.up(peak)
        bend = By("machine weights", self.across(t.ridge)), By("machine weights", ends[1])
        slope = [(frame.left, By("machine weights", ends[0])), bend]
        flat = [bend, (frame.right, bend[1])]
        scene.line([bend, (bend[0], frame.bottom)], "soft", 1.5, dash=(1, 4), name="ridge")
        scene.line(slope, "carrying", 3, clip=frame.box, name="slope")
        scene.line(flat, "computing", 3, clip=frame.box, name="flat")
        said = [
            written(bandwidth, lambda rate: f"memory {si(rate, 'B/s')}"),
            np.array([[f"{kind} {si(rate, 'FLOP/s')}" for kind, rate in zip(t.grid.computed, row)]
                      for row in peak.tolist()], object),
            written(t.ridge, lambda ridge: f"ridge {theme.ridge(ridge)}"),
        ]  # fmt: skip
        slope_says, flat_says, ridge_says = (By("machine weights", one) for one in said)
        beyond = np.nan_to_num(self.across(t.ridge)) + 90 > frame.right
        foot = By("machine weights", self.across(t.ridge) + np.where(beyond, -5, 5))
        anchor = By("machine weights", np.where(beyond, "end", "start").astype(object))
        look: Look = {"size": SMALL, "opacity": shown(t), "bold": True, "name": "slope-says"}
        above = By("machine weights", self._above_slope(said[0]))
        scene.text(frame.left + 8, above, slope_says, "carrying", **look)
        look |= {"anchor": "end", "name": "flat-says"}
        scene.text(frame.right, frame.top - 9, flat_says, "computing", **look)
        look |= {"anchor": anchor, "bold": False, "name": "ridge-says"}
        scene.text(foot, frame.bottom - 7, ridge_says, "soft", **look)

    def _above_slope(self, said: np.ndarray) -> np.ndarray:
        """y of words over the left end of the slope: as low as its dots and attention's name let
        them lie.
        """
        wide = np.vectorize(lambda text: labels.width(str(text)))(said)
        start, end = self.frame.left + 8, self.frame.left + 8 + wide
        frame, across = self.frame, self.across
        share = (end - frame.left) / (frame.right - frame.left)
        low = self.up(self.tables.roofs[0] * across.lo * (across.hi / across.lo) ** share) - 16
        x, y = np.moveaxis(self.places(ATTENTION), -1, 0)
        half = labels.width(ATTENTION.label) / 2 + 4
        near = (x + half > start) & (x - half < FilmTables.along(end, x.ndim))
        lid = np.where(near, y - 28 - SMALL - 4, np.inf).min((2, 3, 4))
        found: np.ndarray = np.maximum(np.minimum(low, lid), self.frame.top + 13)
        return found

    def _dots(self) -> None:
        """The large ones first: what lies in one place is seen inside each other."""
        scene = self.scene
        for kind in sorted((*KINDS, PREFILL), key=lambda one: -one.size):
            ink = "key" if kind.name == "mlp" else "ink"  # the one that a hand can pull
            ring: Look = {"fill": "paper", "ink": ink, "width": 2.2, "name": f"op-{kind.name}"}
            mark = scene.dot(self.spot(kind), None, kind.shape, kind.size, **ring)
            if kind.name == "mlp":
                x, y = np.moveaxis(self.places(kind), -1, 0)
                at = (By(NARROW, one) for one in (x, y))
                scene.grip("batch", *at, area=mark)

    def _names(self) -> None:
        (other,) = (one for one in KINDS if one.part == OTHER)
        self._name_prefill()
        self._name_weights()
        for kind, move, anchor in ((ATTENTION, (0, -28), "middle"), (other, (-6, 24), "start")):
            look: Look = {"anchor": anchor, "name": f"name-{kind.name}"} | NAME
            self.scene.text(self.spot(kind, move), None, kind.label, **look)

    def _name_weights(self) -> None:
        """Products with weights share a name while their dots lie together.

        Names lie right below their dots, and none beyond the frame. One that would lie on the line
        of the ridge is shorter, and begins right of the line if that is near its dot. The MLP's is
        lower where its neighbour's is at the same height.
        """
        mlp, qkvo, head = (one for one in KINDS if one.part == WEIGHTS)
        x = np.stack([self.across(self.tables.intensity(one)) for one in (mlp, qkvo, head)])
        one_name = x.max(0) - x.min(0) <= 26
        two_names = abs(x[2] - x[1]) <= 80
        room = self._clear(x[0] + 10, labels.width("weight products"))
        names = {
            mlp: np.where(one_name, np.where(room, "weight products", "weights"), "MLP"),
            qkvo: np.where(one_name, "", np.where(two_names, "Q K V O, head", "Q K V O")),
            head: np.where(one_name | two_names, "", "head"),
        }
        near = np.where(one_name, NEAR, np.inf)  # names apart keep out of each other's way instead
        starts = [self._beside(at, found, near) for at, found in zip(x, names.values())]
        (first, wide), (second, _) = starts[:2]
        level = (self.places(mlp) - self.places(qkvo))[..., 1] < 16
        close = ~one_name & (second - first < wide + 8) & level
        for kind, at, found, (start, _) in zip(names, x, names.values(), starts):
            down = np.where(close & (kind is mlp), 36, 21)
            move = np.stack(np.broadcast_arrays(start - at, down), -1)
            place = self.spot(kind, By(NARROW, move))
            said = By(NARROW, np.broadcast_to(found, level.shape).astype(object))
            self.scene.text(place, None, said, name=f"name-{kind.name}", **NAME)

    def _clear(self, start: np.ndarray, wide: Any) -> np.ndarray:
        """Return whether names that begin at x ``start`` end before the frame, off the ridge."""
        ridge, end = self.across(self.tables.ridge)[..., None], start + wide
        found: np.ndarray = ((start >= ridge + 5) | (end <= ridge - 5)) & (end <= self.frame.right)
        return found

    def _beside(
        self, at: np.ndarray, said: np.ndarray, most: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Where names begin that belong to dots at x ``at``, and how long they are.

        One that would lie on the ridge begins right of it, unless that is further than ``most``.
        """
        wide = np.vectorize(lambda text: labels.width(str(text)))(said)
        start, beyond = at + 10, self.across(self.tables.ridge)[..., None] + 5
        near = (start < beyond) & (beyond - start <= most)
        moved = np.where(near & ~self._clear(start, wide), beyond, start)
        found = np.minimum(moved, self.frame.right - wide)
        return np.broadcast_to(found, np.broadcast_shapes(found.shape, wide.shape)), wide

    def _name_prefill(self) -> None:
        """Its name stands over the flat roof, and a thread leads to it."""
        frame, places = self.frame, self.places(PREFILL)
        # Where attention comes near this roof as well, its name has the row below.
        lid = self.up(self.tables.roofs[1]) - np.where(self.tables.crowded, 42, 13)
        lid = np.maximum(lid, frame.top + 8)
        lid = np.broadcast_to(FilmTables.along(lid, 4), places.shape[:-1])
        wide, x, y = PREFILL.dims, places[..., 0], places[..., 1]
        middle = np.clip(x, frame.left + 180, frame.right - 28)  # clear of the bandwidth
        ends = np.stack([x, np.maximum(y - 9, lid), middle, np.minimum(lid + 4, y - 9)], -1)
        self.scene.line(By(wide, ends), "soft", 1, dash=(2, 3), name="thread")
        place = Sum(By(wide, np.stack([middle, lid], -1)))
        self.scene.text(place, None, PREFILL.label, anchor="middle", name="name-prefill", **NAME)

    def _runs(self) -> None:
        """What was measured hangs below its roof: this batch large, the others small."""
        scene, t = self.scene, self.tables
        for m, one in ((m, one) for m, found in enumerate(t.timed) for one in found):
            now, pale = np.zeros((2, t.shape[0], t.shape[1], t.shape[3]))
            pale[m, one.w] = 0.5
            if one.i >= 0:
                pale[m, one.w, one.i], now[m, one.w, one.i] = 0, 1
            on, before = By(NARROW, now), By(NARROW, pale)
            bandwidth, peak = (float(roof[m, one.w]) for roof in t.roofs)
            for kind in (kind for kind in KINDS if kind.name in one.dots):
                x, rate = one.dots[kind.name]
                rates = np.array([min(peak, x * bandwidth), rate])
                top, foot = self.up(np.tile(rates, (t.shape[0], 1)))[m].tolist()
                x = float(self.across(x))
                look: Look = {"dash": (2, 3), "opacity": on, "name": "trail"}
                scene.line([(x, top), (x, foot)], "ink", 2, **look)
                scene.dot(x, foot, kind.shape, 6.5, opacity=on, name=f"ran-{kind.name}")
                scene.dot(x, foot, kind.shape, 3.2, opacity=before, name="ran-before")

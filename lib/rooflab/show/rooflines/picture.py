"""The live roofline as a scene: roofs, dots that walk along them, and hands that pull at both."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from rooflab.count.si import si
from rooflab.predict.estimate import CACHES
from rooflab.show import canvas, theme
from rooflab.show.labels import spread
from rooflab.show.rooflines import ceiling_lines
from rooflab.show.rooflines.controls import add_controls
from rooflab.show.rooflines.ladder import draw_ladder
from rooflab.show.rooflines.machine_choices import Offer
from rooflab.show.rooflines.tables import KNOBS, Series, Tables
from rooflab.show.rooflines.values import AS_IT_WAS, FAR, LEVELS, RooflineValues
from rooflab.show.rooflines.words import as_it_is, ridge_words, sentence
from rooflab.show.scene import By, Fill, Mark, Scene, Sum, Value, Words
from rooflab.show.scene.axes import Frame, Scale
from rooflab.show.scene.graph import Above, Along, Either, Less, OnAxes, Reading, rates

WIDE, NARROW = (690, 384), (400, 420)  # width and height of the two sheets
BESIDE, BELOW = 264, 164  # pixels that a ladder takes on the right of the axes, or below them
SLOPE, FLAT = slice(0, 4), slice(2, 6)  # the parts of a roof's six numbers
LETTERS = 14  # pixels of what stands at roofs and dots
NAMED = 118  # pixels from the left at which the name of the y axis has ended
FLIP = 110  # pixels from the right edge within which a label stands left of its dot
GAP = 15  # pixels from name to name of what was measured under names
FURTHEST = 1e6  # pixels: where a roof lies that is not there
FEW = 12  # measurements of an operation that are each worth a look
KEY = 92  # pixels of what the marks mean
HOLLOW: dict[str, Any] = {"size": 9, "fill": "paper", "width": 3}  # what a roof allows
SMALL: dict[str, Any] = {"size": 5, "fill": "paper", "ink": "ink", "width": 2}  # predicted
FULL: dict[str, Any] = {"size": 7, "fill": "ink", "ink": "ink", "width": 1.5}  # measured
SHOWN = {"cold": [1, 0, 1], "warm": [0, 1, 1]}  # a side's marks while cold, warm, both are chosen


def roofline_scenes(spec: Tables, start: dict[str, Any]) -> list[Scene]:
    """The picture on a wide and on a narrow sheet; with a ladder beside it on one more."""
    values = RooflineValues(spec, start)
    words = [sentence(values, series) for series in spec.series]
    sheets = (
        [(*WIDE, BESIDE), (*WIDE, 0), (*NARROW, 0)]
        if values.ladders
        else [(*WIDE, 0), (*NARROW, 0)]
    )
    return [Sheet(values, words, *size).scene for size in sheets]


class Sheet:
    """One sheet of the picture, drawn from back to front."""

    def __init__(
        self, values: RooflineValues, words: list[Words], wide: int, high: int, beside: int
    ) -> None:
        self.values, self.spec = values, values.spec
        below = BELOW if values.ladders and not beside else 0
        self.scene = Scene(wide + beside, high + below, values.dims)
        self.wide = wide > 500
        self.names = 32 if values.cached else 0  # pixels of the caches' names left of the axes
        left = self.names + (66 if self.wide else 54)
        self.frame = Frame(left, 50, wide - 14, high - 52)
        self.name_up = 14 if self.spec.band is None else 28  # above the names of the band
        self.axes = self._axes()
        self._grid()
        self._band()
        self._ghost()
        for level in reversed(LEVELS):
            self._roof(level)
        self._level_names()
        for series in self.spec.series:
            self._campaign(series)
        for row, series in enumerate(self.spec.series):
            self._calls(series, row)
        sides = [(row, s, side) for row, s in enumerate(self.spec.series) for side in CACHES]
        self._gap()
        for _, series, side in sides:
            self._dot_label(series, side)
        for row, series, side in sides:
            self._dot(series, row, side)
        for who, offer in enumerate(values.timed, 1):
            self._rungs(who, offer)
        self._key()
        if values.ladders and beside:
            draw_ladder(self.scene, values.ladders, (wide + 10, 62, beside - 18), stacked=True)
        elif values.ladders:
            draw_ladder(self.scene, values.ladders, (8, high + 14, wide - 22), stacked=False)
        self._knobs()
        add_controls(self.scene, values, words)

    # Axes.

    def _axes(self) -> By:
        f, (x_lo, x_hi) = self.frame, canvas.X_DECADES
        across = (f.right - f.left) / (x_hi - x_lo)
        return By("machine same_axes", [
            [[f.left, x_lo, across, f.bottom, lo, (f.bottom - f.top) / (hi - lo)]
             for lo, hi in row] for row in self.values.limits
        ])  # fmt: skip

    def at(self, *points: Value | float) -> OnAxes:
        """Pixels of points, given by their decades one after the other."""
        placed = tuple(np.array([p]) if isinstance(p, float) else p for p in points)
        return OnAxes(placed, self.axes)

    def near(self, place: OnAxes, dx: float | By, dy: float | np.ndarray) -> Sum:
        """A place some pixels from another."""
        if not isinstance(dx, By):
            return Sum(place, np.array([dx, dy]))
        moved = np.stack(np.broadcast_arrays(np.asarray(dx.values), dy), -1)
        return Sum(place, By(dx.dims, moved))

    @property
    def across(self) -> Scale:
        lo, hi = canvas.X_DECADES
        return self.frame.x(10.0**lo, 10.0**hi)

    def _grid(self) -> None:
        scene, f, across = self.scene, self.frame, self.across
        f.x_ticks(scene, across, across.decades(), theme.intensity)
        left, right = canvas.X_DECADES
        every = [limit for row in self.values.limits for limits in row for limit in limits]
        for decade in range(math.ceil(min(every)), math.floor(max(every)) + 1):
            line = self.at(left, float(decade), right, float(decade))
            inside = [[float(lo - 1e-9 <= decade <= hi + 1e-9) for lo, hi in row]
                      for row in self.values.limits]  # fmt: skip
            seen = By("machine same_axes", inside)
            scene.line(line, "grid", 1, opacity=seen, clip=f.box, name="grid")
            place = self.near(self.at(left, float(decade)), -7 - self.names, 5)
            words = canvas.rate_tick(10.0**decade)
            scene.text(place, None, words, size=LETTERS, anchor="end", opacity=seen, name="tick")
        f.draw(scene)
        middle = (f.left + f.right) / 2
        scene.text(middle, f.bottom + 42, canvas.X_NAME, size=LETTERS, anchor="middle", name="axis")
        scene.text(8, f.top - self.name_up, canvas.Y_NAME, size=LETTERS, name="axis")

    def _band(self) -> None:
        if self.spec.band is None:
            return
        f, (low, high) = self.frame, ceiling_lines.labels(self.spec.band)
        edges = (self.across(edge) for edge in self.spec.band)
        left, right = (min(max(edge, f.left), f.right) for edge in edges)
        self.scene.rect(left, f.top, right - left, f.bottom - f.top, "soft", opacity=0.18, radius=0,
                        name="band")  # fmt: skip
        y: float = f.top - 8
        look: dict[str, Any] = {"size": LETTERS - 1, "name": "thumb"}
        if not self.wide:  # a peak that is pulled to the top has its words there
            look["opacity"] = By("real", [0.0, 1.0])
        self.scene.text(left - 4, y, low, "soft", anchor="end", **look)
        self.scene.text(right + 4, y, high, "soft", **look)

    # Roofs.

    def _ghost(self) -> None:
        """The roof of the machine that was shown before, and its name where there is room."""
        values, scene, f = self.values, self.scene, self.frame
        other = 1 - np.eye(len(values.offers))
        line = self.at(values.line_before())
        scene.line(line, "soft", 2, opacity=By("machine before", 0.45 * other), clip=f.box,
                   name="before")  # fmt: skip
        names = [offer.name for offer in values.offers]
        off = [[f"{name} lies {where}" for where in ("above", "below")] for name in names]
        short = [float(7.2 * len(words[0]) < f.right - NAMED) for words in off]
        on, beyond = np.zeros((2, 2, 2, 2, 2))  # higher, lower, over the foot, under the top
        on[1, :, :, 1] = on[:, 1, 1, :] = 1
        beyond[1, :, :, 0] = beyond[:, 1, 0, :] = 1
        at = self.near(self.at(KNOBS[1], values.line_before(slice(5, 6))), 0, -8)
        corner = Sum(np.array([f.right, f.top - self.name_up]))
        for place, anchor, words, seen in (
            (at, "end", By("before", names), on),
            (corner, "end", By("before lower", np.array(off, object)), beyond),
        ):
            seen = np.multiply.outer(np.multiply.outer(short, seen), [0.0, 1.0])
            opacity = By("before higher lower over under real", seen)
            scene.text(place, None, words, "soft", size=LETTERS - 2, anchor=anchor, halo=True,
                       opacity=opacity, name="before")  # fmt: skip

    def _roof(self, level: str) -> None:
        values, scene, f = self.values, self.scene, self.frame
        main = level == "dram"
        if not main and not any(level in o.known.levels for o in values.cached):
            return
        seen = 1 if main else By("side", SHOWN["warm"])
        for part, ink, name in ((SLOPE, "carrying", "slope"), (FLAT, "computing", "flat")):
            line, width = self.at(values.line(level, part)), 3 if main else 1.6
            scene.line(line, ink, width, opacity=seen, clip=f.box, name=f"{name} {level}")
        if main:
            self._slope_label()
            self._ridge()
            self._flat_label()

    def _ridge(self) -> None:
        """The ridge that the sentence names: memory's, or that of the cache that holds it."""
        values, scene, series = self.values, self.scene, self.spec.series
        own = np.zeros((len(series), 3))
        own[:, 1] = range(1, len(series) + 1)  # only warm is shown: the level of what was touched
        which = By("focus side", own)
        names = ["" if level == "dram" else f"{ceiling_lines.LEVELS[level]} " for level in LEVELS]
        lines, words = [values.line("dram", slice(2, 4))], {}
        lines += [values.home_line(one, slice(2, 4)) for one in series]
        xs = [
            values.ridge(one, side)
            for side, one in [("cold", series[0])] + [("warm", s) for s in series]
        ]
        corner, x = Either(which, tuple(lines)), Either(which, tuple(xs))
        for n, at in enumerate(xs):
            home = f"home_{series[n - 1].name}"
            dims, level = (f"machine kind {home}", By(home, names)) if n else ("machine kind", "")
            read = ridge_words(values, dims, at, "" if n else "dram")
            words[f"ridge{n}"] = Fill("{level}ridge {at}", level=level, at=read)
        line = self.at(corner, x, values.floor)
        scene.line(line, "soft", 1.3, dash=(2, 4), clip=self.frame.box, name="ridge")
        templates = np.array([f"{{ridge{n:.0f}}}" for n in own.ravel()], object)
        up = 8 + (18 * len(series) if self.spec.overhead else 0)
        scene.text(self.near(self.at(x, values.floor), 6, -up), None,
                   Fill(By("focus side", templates.reshape(own.shape)), **words), "soft",
                   size=LETTERS - 1, halo=True, name="ridge")  # fmt: skip

    def _slope_label(self) -> None:
        """The memory's bandwidth along its slope: it is what FLOP/byte is multiplied by."""
        values, scene = self.values, self.scene
        x, turn, off, seen = self._slope_place()
        known = self._by_roof("dram", lambda roof: si(roof.bandwidth, "B/s"))
        line = values.line("dram", slice(0, 4))
        corner = values.line("dram", slice(3, 4)), values.line("dram", slice(2, 3))
        rate = Fill(By("memory", as_it_is()), known=known,
                    read=Reading(rates("B/s"), Less(*corner)))  # fmt: skip
        alone = "memory {rate}" + (" × FLOP/byte" if self.wide else "")
        words = Fill(By("side", np.array([alone, "memory", "memory"], object)), rate=rate)
        place = Sum(self.at(x, Along(x, line)), off)
        scene.text(place, None, words, "carrying", size=LETTERS - 1, anchor="middle", halo=True,
                   turn=turn, opacity=seen, name="bandwidth dram")  # fmt: skip

    def _level_names(self) -> None:
        """The caches' names at the left ends of their roofs, outside the axes."""
        values, x = self.values, np.array([canvas.X_DECADES[0]])
        levels = [n for n, one in enumerate(LEVELS)
                  if n and any(one in o.known.levels for o in values.cached)]  # fmt: skip
        if not levels:
            return
        ends = np.fmax.reduce(values.lines[:, :, levels, 1], axis=1) + x - FAR[0]
        heights = self._pixels(ends[:, None])  # by machine, same_axes and level
        known = np.nan_to_num(heights, nan=FURTHEST)
        moved = spread(known, LETTERS, self.frame.top, self.frame.bottom) - known
        inside = (heights > self.frame.top) & (heights < self.frame.bottom)
        for n, number in enumerate(levels):
            level, off = LEVELS[number], np.where(inside[..., n], moved[..., n], 0.0)
            at = self.at(x, Along(x, values.line(level, slice(0, 4))))
            seen = np.multiply.outer(inside[..., n], [0.0, 1.0, 1.0])
            look: dict[str, Any] = {"opacity": By("machine same_axes side", seen)}
            leader = np.stack([0 * off, 0 * off, 0 * off - 11, off], -1)
            self.scene.line(Sum(_two(at), By("machine same_axes", leader)), "carrying", 1,
                            name="leader", **look)  # fmt: skip
            left = By("machine same_axes", 0 * off - 13)
            words, beside = ceiling_lines.LEVELS[level], self.near(at, left, off + 4)
            self.scene.text(beside, None, words, "carrying", size=LETTERS - 1, anchor="end",
                            name="level", **look)  # fmt: skip

    def _pixels(self, decades: Any) -> np.ndarray:
        """Heights of rates, by machine, same_axes and their own last axis."""
        axes = np.asarray(self.axes.values)[..., None]
        foot, low, up = (axes[..., n, :] for n in (3, 4, 5))
        return np.asarray(foot - up * (decades - low), float)

    def _by_roof(self, level: str, words: Any) -> By:
        values = self.values
        found = [[values.roof(o, k, level) for k in values.kinds] for o in values.offers]
        table = [[words(roof) if roof else "" for roof in row] for row in found]
        return By("machine kind", np.array(table, object))

    def _slope_place(self) -> tuple[By, By, By, By]:
        """Middle of the slope's label in decades, turn, shift in pixels, and whether it fits."""
        half = np.array([104 if self.wide else 64, 26, 26])  # of the words, by side
        axes = np.asarray(self.axes.values)
        across, up = axes[..., 2], axes[..., 5]  # by machine and same_axes
        angle = np.arctan2(up, across)
        reach = half * (np.cos(angle) / across)[..., None] + 0.26  # decades from the left end
        middle = canvas.X_DECADES[0] + reach  # by machine, same_axes, side
        ridge = self.values.lines[:, :, 0, 2][:, :, None, None]
        seen = (middle + 0.4 * reach)[:, None] < np.nan_to_num(ridge, nan=-9)
        away = np.array([16, 12, 12])
        off = -np.stack([np.sin(angle), np.cos(angle)], -1)[:, :, None] * away[:, None]
        return (
            By("machine same_axes side", middle[..., None]),
            By("machine same_axes", -np.degrees(angle)),
            By("machine same_axes side", off),
            By("machine kind same_axes side", seen.astype(float)),
        )

    def _flat_label(self) -> None:
        values = self.values
        known = self._by_roof("dram", lambda roof: si(roof.peak, "FLOP/s"))
        rate = Fill(By("arithmetic", as_it_is()), known=known, read=Reading(rates(), values.peak()))
        words = Fill("{kind} {rate}", kind=By("kind", [str(k) for k in values.kinds]), rate=rate)
        limits = [[[high - 0.3] for _, high in row] for row in values.limits]
        close = Above(Less(values.peak(), By("machine same_axes", limits)))
        off = Either(close, (np.array([0, -28]), np.array([0, -20])))  # clear of the button
        place = Sum(self.at(KNOBS[1] - 0.15, values.peak()), off)
        self.scene.text(place, None, words, "computing", size=LETTERS, bold=True, anchor="end",
                        halo=True, name="peak")  # fmt: skip

    # Operations.

    def _campaign(self, series: Series) -> None:
        """Everything measured of an operation, small: a few plainly, many as a pale cloud."""
        values, look = self.values, theme.style(series.name)
        shows = f"shows_{series.name}"
        for s, side in enumerate(CACHES):
            points = values.hits(series, side).points
            of = Counter(who for who, *_ in points)
            for who, kind, x, rate in points:
                size, clear = (5, 0.8) if of[who] <= FEW else (3, 0.5)
                seen = np.zeros((len(values.timed) + 1, len(values.kinds), 3, 2))
                seen[who, values.kinds.index(kind), [s, 2], 1] = clear
                opacity = By(f"who kind side {shows}", seen)
                self.scene.dot(self.at(x, rate), None, look.shape, size, fill="soft",
                               opacity=opacity, clip=self.frame.box, name="campaign")  # fmt: skip

    def _rungs(self, who: int, offer: Offer) -> None:
        """What was measured under a name: its mark, and beside it the name, clear of the others."""
        values, own = self.values, self.values.rungs(offer)
        if not own:
            return
        points = [(math.log10(m.op.intensity), math.log10(m.flop_per_s)) for _, m in own]
        roof = min(math.log10(values.allowed(offer, m)) for _, m in own)
        heights = self._pixels([y for _, y in points])  # by machine, same_axes and name
        first = self._pixels([roof]) + GAP
        moved = spread(heights, GAP, first, self.frame.bottom - 8) - heights
        for n, ((name, m), (x, y)) in enumerate(zip(own, points)):
            seen = np.zeros((len(values.timed) + 1, len(values.kinds), 3, 2))
            seen[who, values.kinds.index(m.op.compute_dtype), [CACHES.index(m.cache), 2], 1] = 1
            look: dict[str, Any] = {"opacity": By(f"who kind side shows_{m.op.name}", seen)}
            at, off = self.at(x, y), moved[..., n]
            leader = np.stack([0 * off + 8, 0 * off, 0 * off + 20, off], -1)
            self.scene.line(Sum(_two(at), By("machine same_axes", leader)), "soft", 1, **look,
                            name="leader")  # fmt: skip
            self.scene.dot(at, None, theme.style(m.op.name).shape, 6, fill="ink", ink="paper",
                           width=1, name="rung", **look)  # fmt: skip
            rate = f"{si(m.flop_per_s, 'FLOP/s')}, " if self.wide else ""
            words = f"{name}  {rate}{values.share(offer, m)}"
            right = By("machine same_axes", 0 * off + 24)
            self.scene.text(self.near(at, right, off + 5), None, words, size=LETTERS - 1,
                            halo=True, name="rung name", **look)  # fmt: skip

    def _gap(self) -> None:
        """What the ladder explains, marked in the plot: from the bound to the time."""
        ladders = self.values.ladders
        if ladders:
            start, end = ladders.ends
            self.scene.line(self.at(ladders.x, start, ladders.x, end), "key", 22, opacity=0.25,
                            clip=self.frame.box, name="gap")  # fmt: skip

    def _key(self) -> None:
        """What the marks of an operation mean, in the corner where no roof comes."""
        values, series, f = self.values, self.spec.series, self.frame
        both = [values.hits(one, side) for one in series for side in CACHES]
        timed = {who for hits in both for who, *_ in hits.points}
        foreseen = {n for n, o in enumerate(values.timed, 1)
                    if o.known.routines and any(one.estimated for one in series)}  # fmt: skip
        every = {*range(len(values.timed) + 1)}
        rows: list[tuple[str, set[int], dict[str, Any]]] = [
            ("allowed", every, {**HOLLOW, "ink": "key" if self.pulled else "ink"}),
            ("predicted", foreseen, SMALL), ("measured", timed, FULL),
            ("another N", timed, {"size": 5, "fill": "soft"}),
        ]  # fmt: skip
        shape, left = theme.style(series[-1].name).shape, f.right - KEY
        for row, (words, own, look) in enumerate(rows):
            seen, y = By("who", [float(who in own) for who in every]), f.bottom - 34 - 18 * row
            if values.timed and own and not self.spec.rungs:
                self.scene.dot(left, y, shape, **look, opacity=seen, name="key")
                self.scene.text(left + 16, y + 4, words, "soft", size=LETTERS - 1, opacity=seen,
                                halo=True, name="key")  # fmt: skip

    def _seen(self, series: Series, side: str, *more: tuple[str, Any]) -> By:
        """Where the marks of an operation's side are shown; ``more``: dims, tables of 0 and 1."""
        table = np.multiply.outer([0, 1], SHOWN[side]).astype(float)
        names = f"shows_{series.name} side"
        for dims, shown in more:
            table, names = np.multiply.outer(table, shown), f"{names} {dims}"
        return By(names, table)

    def _dot(self, series: Series, row: int, side: str) -> None:
        values, scene, look = self.values, self.scene, theme.style(series.name)
        at, x, f = f"{series.name}_{side}", values.x(series), self.frame
        clip = f.left, f.top - 14, f.right, f.bottom  # a dot on the uppermost roof is whole
        roof, cold = values.roof_over(series, side), side == "cold"
        timed, foreseen = values.measured(series, side), values.predicted(series, side)
        seen, dash = self._seen(series, side), () if cold else (3, 3)
        can = self._seen(series, side, (f"can_{side}", [0, 1]))
        if series.estimated:
            scene.line(self.at(x, roof, x, foreseen), "soft", 2, dash=dash, opacity=can, clip=clip,
                       name="thread")  # fmt: skip
        scene.line(self.at(x, roof, x, timed), "ink", 2, dash=dash, opacity=seen, clip=clip,
                   name=f"thread {at}")  # fmt: skip
        more: dict[str, Any] = {"opacity": seen, "clip": clip}
        own = {"ink": "key" if self.pulled else "ink", "width": 3 if cold else 1.5}
        bound = scene.dot(self.at(x, roof), None, look.shape, **HOLLOW | own, **more,
                          name=f"bound {at}")  # fmt: skip
        if series.estimated:
            scene.dot(self.at(x, foreseen), None, look.shape, **SMALL, **{**more, "opacity": can},
                      name=f"predicted {at}")  # fmt: skip
        scene.dot(self.at(x, timed), None, look.shape, **FULL, **more, name=f"measured {at}")
        self._grip(series, row, bound, self.at(x, roof))

    def _dot_label(self, series: Series, side: str) -> None:
        values, name = self.values, series.name
        x, tags = values.x(series), By("j", np.array(series.tags, object))
        dims, places, flip = self._flipped(series)
        anchor = By(dims, np.where(flip, "end", "start").astype(object))
        dx, dy = np.where(flip, -12, 12)[..., None], np.array([20, 20])
        if name == "gemm":  # left of its dot, it stands above the words on the slope
            high = flip & (places < (self.frame.left + self.frame.right) / 2)
            dy = np.where(high[..., None], [-30, -10], -10)
        off = By(f"{dims} right_{name}_{side}", dx)
        place = self.near(self.at(x, values.roof_over(series, side)), off, dy)
        shown: list[Any] = [(tags, [1, 0, 1])]  # with both sides the name stands at the cold one
        if side == "warm":
            shown = [(tags, [0, 1, 0]), ("warm", [0, 0, int(self.wide)])]
        for words, sides in shown:
            more, table = "", np.multiply.outer([0.0, 1.0], sides)
            if words == "warm":
                more, table = f" apart_{name}", np.multiply.outer(table, [0.0, 1.0])
            seen, size = By(f"shows_{name} side{more}", table), LETTERS - (2 if more else 1)
            self.scene.text(place, None, words, size=size, bold=not more, anchor=anchor, halo=True,
                            opacity=seen, name=f"label {name} {side}")  # fmt: skip

    def _flipped(self, series: Series) -> tuple[str, np.ndarray, np.ndarray]:
        """The dot's pixels from the left, and where its name stands left of it.

        That is so near the right edge, and at GEMM with GEMV near it.
        """
        x = self.values.x(series)
        places = self.across(10.0 ** np.asarray(x.values)[..., 0])
        flip = places > self.frame.right - FLIP
        gemv = next((one for one in self.spec.series if one.name == "gemv" and one.spread), None)
        if series.name != "gemm" or gemv is None or "j" in x.names:
            return x.dims, places, flip
        other = self.across(10.0 ** np.asarray(self.values.x(gemv).values)[..., 0])
        places = places[:, :, None]  # kind, i, j, k
        return "kind i j k", places, flip[:, :, None] | (abs(other - places) < 40)

    @property
    def pulled(self) -> bool:
        """Whether dots can be pulled: not where three sliders and a box move them."""
        return len(self.spec.sliders[2].values) == 1

    def _grip(self, series: Series, row: int, bound: Mark, place: OnAxes) -> None:
        """Pull at a dot: N runs up, the batch grows, or it gives a little and springs back."""
        if not self.pulled:
            return
        first, second, _ = (len(slider.values) > 1 for slider in self.spec.sliders)
        dims = ""
        if series.name == "gemm" and first:
            dims = "i"
        elif series.spread and second:
            dims = "j"
        self.scene.grip(dims, place, None, area=bound, spring=not dims, sets={"touched": row})

    def _calls(self, series: Series, row: int) -> None:
        """FLOP ÷ call time, as far as the roof, with its name at the foot."""
        if not (self.spec.overhead and series.estimated and self.values.timed):
            return
        lines, labels, dims = self.values.calls(series)
        seen = By(f"shows_{series.name} real", [[0, 0], [0, 1]])
        f, values = self.frame, self.values
        self.scene.line(self.at(By(dims, lines)), "overhead", 1.8, dash=(7, 4), opacity=seen,
                        clip=f.box, name="call")  # fmt: skip
        start = By(dims, lines[..., :1])
        place = self.near(self.at(start, values.floor), 8, -8 - 18 * row)
        self.scene.text(place, None, By(dims, labels), "overhead", size=LETTERS - 1, halo=True,
                        opacity=seen, name="call")  # fmt: skip

    # What moves it.

    def _knobs(self) -> None:
        """Where the roofs can be grabbed: next year's machine."""
        values, scene, roof = self.values, self.scene, self.values.line("dram")
        rate = np.fmax.reduce(values.lines[:, :, 0, 3] - values.lines[:, :, 0, 2], axis=1)
        foot = np.asarray(values.floor.values)[..., 0] - rate[:, None]  # where the slope comes in
        least = foot + 0.5  # half the bandwidth takes 0.3 decades
        slope = By("machine same_axes", np.maximum(KNOBS[0], np.nan_to_num(least))[..., None])
        for dim, x, name in (
            ("memory", slope, "bandwidth"),
            ("arithmetic", np.array([KNOBS[1]]), "peak"),
        ):
            place = self.at(x, Along(x, roof))
            knob = scene.dot(place, None, "circle", 9, fill="paper", ink="key", width=2.5,
                             clip=self._reach(), name=f"knob {dim}")  # fmt: skip
            arrow = _twice(place, [0, -4, 0, 4])
            scene.line(arrow, "key", 2, clip=self._reach(), name=f"arrow {dim}")
            scene.grip(dim, place, None, area=knob, label=f"{name} of this machine, times")
        self._undo()

    def _undo(self) -> None:
        """What a hand has made of the machine, on a button that makes it what it is."""
        scene, f = self.scene, self.frame
        changed = By("real", [1.0, 0.0])
        left, wide = (130, 345) if self.wide else (NAMED, f.right - NAMED)
        look: dict[str, Any] = {"size": LETTERS - 1, "opacity": changed}
        button = scene.rect(left, 1, wide, 26, "paper", ink="key", width=1.5, radius=13,
                            opacity=changed, name="undo live-only")  # fmt: skip
        told = Fill(
            f"{'what if: ' * self.wide}bandwidth {{b}}, peak {{p}}",
            b=By("memory", scene.dim("memory").stops),
            p=By("arithmetic", scene.dim("arithmetic").stops),
        )
        scene.text(left + 11, 19, told, name="what-if", **look)
        scene.text(left + wide - 11, 19, "undo", "key", anchor="end", bold=True,
                   name="undo live-only", **look)  # fmt: skip
        scene.press(button, AS_IT_WAS, "undo: the machine as it is", enabled=changed)

    def _reach(self) -> tuple[float, float, float, float]:
        f = self.frame
        return f.left - 12, f.top - 30, f.right + 14, f.bottom + 10


def _twice(place: OnAxes, off: Sequence[float]) -> Sum:
    """The place two times over, each a little off: both ends of a short line."""
    return Sum(_two(place), np.array(off, float))


def _two(place: OnAxes) -> OnAxes:
    return OnAxes((*place.points, *place.points), place.axes)

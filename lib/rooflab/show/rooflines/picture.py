"""The live roofline as a scene: roofs, dots that walk along them, and hands that pull at both."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from itertools import chain, pairwise
from typing import Any

import numpy as np

from rooflab.count.si import plain, si, times
from rooflab.predict.estimate import CACHES
from rooflab.show import canvas, theme
from rooflab.show.box import WIDTH, BoxDrawing
from rooflab.show.labels import spread
from rooflab.show.rooflines import ceiling_lines
from rooflab.show.rooflines.controls import add_controls
from rooflab.show.rooflines.key import FULL, HOLLOW, SMALL, WARM, draw_bill, draw_drop, draw_key
from rooflab.show.rooflines.machine_choices import Offer
from rooflab.show.rooflines.tables import KNOBS, Series, Tables
from rooflab.show.rooflines.values import AS_IT_WAS, FAR, LEVELS, RooflineValues
from rooflab.show.rooflines.words import as_it_is, ridge_words, sentence
from rooflab.show.scene import By, Fill, Mark, Scene, Sum, Value, Words
from rooflab.show.scene.axes import Frame, Scale
from rooflab.show.scene.graph import Along, Either, Less, OnAxes, Reading, rates

WIDE, NARROW = (690, 384), (400, 420)  # width and height of the two sheets
SHORTER = 530  # width of the wide one left of a ladder: on a stage letters stay large
LADDER, BOX = (418, 234), (326, 366)  # pixels that they take right of the axes, or below them
EDGES = (140, 100)  # pixels of a box's longest edge there
SLOPE, FLAT = slice(0, 4), slice(2, 6)  # the parts of a roof's six numbers
LETTERS = 14  # pixels of what stands at roofs and dots
FLIP = 110  # pixels from the right edge within which a label stands left of its dot
GAP = 15  # pixels from name to name of what was measured under names
TRAIL = 3  # places of an operation, more of which make a line
JUMP = math.log10(4)  # decades from one to the next whose factor is said
FURTHEST = 1e6  # pixels: where a roof lies that is not there
RIDGE = 110  # pixels from the right edge within which a ridge is named on its left
SHOWN = {"cold": [1, 0, 1], "warm": [0, 1, 1]}  # a side's marks while cold, warm, both are chosen
BESIDES = {"cold": [1, 0, 1], "warm": [0, 1, 0]}  # the same of operations that are not looked at
PALE = 0.4  # opacity of what was measured of those


def roofline_scenes(spec: Tables, start: dict[str, Any]) -> list[Scene]:
    """The picture on its sheets, with a ladder or a box right of the axes or below them."""
    values = RooflineValues(spec, start)
    words = [sentence(values, series) for series in spec.series]
    sizes = [(*WIDE, 0, 0), (*NARROW, 0, 0)]
    if values.ladders:
        sizes = [(SHORTER, WIDE[1], LADDER[0], 0), (*WIDE, 0, LADDER[1]), (*NARROW, 0, LADDER[1])]
    elif values.boxes:
        sizes = [(WIDE[0], WIDE[1] + 24, BOX[0], 0), (*NARROW, 0, BOX[1])]
    return [Sheet(values, words, *size).scene for size in sizes]


class Sheet:
    """One sheet of the picture, drawn from back to front."""

    def __init__(
        self, values: RooflineValues, words: list[Words], wide: int, high: int, beside: int,
        below: int,
    ) -> None:  # fmt: skip
        self.values, self.spec = values, values.spec
        self.scene = Scene(wide + beside, high + below, values.dims)
        self.wide = wide > 500
        self.roomy = wide > SHORTER
        self.names = 58 if values.cached else 0  # pixels of the levels' names left of the axes
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
        if values.ladders:
            draw_drop(self, values.ladders)
        sides = [(row, s, side) for row, s in enumerate(self.spec.series) for side in CACHES]
        for row, series, side in sides:  # what is written lies under all marks, which stay whole
            self._dot_label(series, row, side)
        for row, series, side in sides:
            self._dot(series, row, side)
        for who, offer in enumerate(values.timed, 1):
            self._rungs(who, offer)
        self._companion(wide, high, beside)
        self._knobs()
        add_controls(self.scene, values, words)

    def _companion(self, wide: int, high: int, beside: int) -> None:
        """The key, with a ladder in it, or the box: right of the axes or below them."""
        ladders, boxes = self.values.ladders, self.values.boxes
        if ladders:
            place = (wide + 10, 62, beside - 24) if beside else (8, high + 14, wide - 22)
            draw_bill(self, ladders, place, 28 if beside else 22)
        else:
            draw_key(self)
        if boxes and beside:
            BoxDrawing(self.scene, boxes, wide + 6, 20, EDGES[0]).draw()
        elif boxes:
            BoxDrawing(self.scene, boxes, (wide - WIDTH) / 2, high + 16, EDGES[1]).draw()

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
        beside = self.names + 12 * (self.wide and self.names > 0)  # as wide as "memory"
        every = [limit for row in self.values.limits for limits in row for limit in limits]
        for decade in range(math.ceil(min(every)), math.floor(max(every)) + 1):
            line = self.at(left, float(decade), right, float(decade))
            inside = [[float(lo - 1e-9 <= decade <= hi + 1e-9) for lo, hi in row]
                      for row in self.values.limits]  # fmt: skip
            seen = By("machine same_axes", inside)
            scene.line(line, "grid", 1, opacity=seen, clip=f.box, name="grid")
            place = self.near(self.at(left, float(decade)), -7 - beside, 5)
            words = canvas.rate_tick(10.0**decade)
            scene.text(place, None, words, size=LETTERS, anchor="end", opacity=seen, name="tick")
        f.draw(scene)
        middle = (f.left + f.right) / 2
        scene.text(middle, f.bottom + 42, canvas.X_NAME, size=LETTERS, anchor="middle", name="axis")
        shown = By("real", [float(self.wide or self.spec.band is None), 1.0])
        scene.text(8, f.top - self.name_up, canvas.Y_NAME, size=LETTERS, opacity=shown, name="axis")

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
        names = By("before", [offer.name for offer in values.offers])
        seen = np.zeros((2, 2, 2, 2, 2))  # higher, lower, over the foot, under the top; as it is
        seen[1, :, :, 1, 1] = seen[:, 1, 1, :, 1] = 1
        at = self.near(self.at(KNOBS[1], values.line_before(slice(5, 6))), 0, -8)
        scene.text(at, None, names, "soft", size=LETTERS - 2, anchor="end", halo=True,
                   opacity=By("higher lower over under real", seen), name="before")  # fmt: skip

    def _roof(self, level: str) -> None:
        values, scene, f = self.values, self.scene, self.frame
        main = level == "dram"
        if not main and not any(level in o.known.levels for o in values.cached):
            return
        seen = 1 if main else By("side", SHOWN["warm"])
        for part, ink, name in ((SLOPE, "carrying", "slope"), (FLAT, "computing", "flat")):
            line = self.at(values.line(level, part))
            scene.line(line, ink, 1.6, opacity=seen, clip=f.box, name=f"{name} {level}")
            if main:
                over = Either(self.whose, self._over(partial(values.side_line, part=part)))
                scene.line(self.at(over), ink, 3, clip=f.box, name=f"{name} over")
        if main:
            self._slope_label()
            self._ridge()
            self._flat_label()

    @property
    def whose(self) -> By:
        """Which of :meth:`_over` is in force: where only warm is shown, that of the operation."""
        return By("op side", [[0, n, 0] for n, _ in enumerate(self.spec.series, 1)])

    def _over(self, value: Callable[[Series, str], Value]) -> tuple[Value, ...]:
        """A value of memory's roof, and of the warm roof of each operation."""
        series = self.spec.series
        return (value(series[0], "cold"), *(value(one, "warm") for one in series))

    def _ridge(self) -> None:
        """The ridge that the sentence names: memory's, or that of the cache that holds it."""
        values, scene, series = self.values, self.scene, self.spec.series
        names = ["" if level == "dram" else f"{ceiling_lines.LEVELS[level]} " for level in LEVELS]
        corner = Either(self.whose, self._over(partial(values.side_line, part=slice(2, 4))))
        xs, words = self._over(values.ridge), dict[str, Words]()
        own, x = np.asarray(self.whose.values), Either(self.whose, xs)
        for n, at in enumerate(xs):
            home = f"home_{series[n - 1].name}"
            dims, level = (f"machine kind {home}", By(home, names)) if n else ("machine kind", "")
            read = ridge_words(values, dims, at, "" if n else "dram")
            words[f"ridge{n}"] = Fill("{level}ridge {at}", level=level, at=read)
        line = self.at(corner, x, values.floor)
        scene.line(line, "soft", 1.3, dash=(2, 4), clip=self.frame.box, name="ridge")
        templates = np.array([f"{{ridge{n:.0f}}}" for n in own.ravel()], object)
        up = 26 if self.spec.overhead else 8
        far = self.across(10 ** np.nan_to_num(values.lines[:, :, 0, 2])) > self.frame.right - RIDGE
        off = By("machine kind", np.where(far, -6.0, 6.0))
        anchor = By("machine kind", np.where(far, "end", "start").astype(object))
        said = Fill(By("op side", templates.reshape(own.shape)), **words)
        scene.text(self.near(self.at(x, values.floor), off, -up), None, said, "soft",
                   size=LETTERS - 1, anchor=anchor, halo=True, name="ridge")  # fmt: skip

    def _slope_label(self) -> None:
        """The memory's bandwidth along its slope, where caches have no part in the picture.

        It is what FLOP/byte is multiplied by.
        """
        values, scene = self.values, self.scene
        x, turn, off, seen = self._slope_place()
        known = values.by_roof(lambda roof: si(roof.bandwidth, "B/s"))
        line = values.line("dram", slice(0, 4))
        corner = values.line("dram", slice(3, 4)), values.line("dram", slice(2, 3))
        rate = Fill(By("memory", as_it_is()), known=known,
                    read=Reading(rates("B/s"), Less(*corner)))  # fmt: skip
        alone = "memory {rate}" + (" × FLOP/byte" if self.wide else "")
        words = Fill(By("side", np.array([alone, "", ""], object)), rate=rate)
        place = Sum(self.at(x, Along(x, line)), off)
        scene.text(place, None, words, "carrying", size=LETTERS - 1, anchor="middle", halo=True,
                   turn=turn, opacity=seen, name="bandwidth dram")  # fmt: skip

    def _level_names(self) -> None:
        """The levels' names at the left ends of their roofs, outside the axes."""
        values, x = self.values, np.array([canvas.X_DECADES[0]])
        levels = [n for n, one in enumerate(LEVELS)
                  if any(one in o.known.levels for o in values.cached)]  # fmt: skip
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

    def _slope_place(self) -> tuple[By, By, By, By]:
        """Middle of the slope's label in decades, turn, shift in pixels, and whether it fits."""
        half = 104 if self.wide else 64  # of the words
        axes = np.asarray(self.axes.values)
        across, up = axes[..., 2], axes[..., 5]  # by machine and same_axes
        angle = np.arctan2(up, across)
        reach = half * np.cos(angle) / across + 0.26  # decades from the left end
        middle = canvas.X_DECADES[0] + reach
        ridge = self.values.lines[:, :, 0, 2][:, :, None]
        seen = (middle + 0.4 * reach)[:, None] < np.nan_to_num(ridge, nan=-9)
        off = -16 * np.stack([np.sin(angle), np.cos(angle)], -1)
        return (
            By("machine same_axes", middle[..., None]),
            By("machine same_axes", -np.degrees(angle)),
            By("machine same_axes", off),
            By("machine kind same_axes", seen.astype(float)),
        )

    def _flat_label(self) -> None:
        values = self.values
        known = values.by_roof(lambda roof: si(roof.peak, "FLOP/s"))
        rate = Fill(By("arithmetic", as_it_is()), known=known, read=Reading(rates(), values.peak()))
        kind = By("kind", [f"{kind} " if self.wide else "" for kind in values.kinds])
        words = Fill("{kind}{rate}", kind=kind, rate=rate)
        place = Sum(self.at(KNOBS[1] - 0.15, values.peak()), np.array([0, -28]))  # over a name
        self.scene.text(place, None, words, "computing", size=LETTERS, bold=True, anchor="end",
                        halo=True, name="peak")  # fmt: skip

    # Operations.

    def _campaign(self, series: Series) -> None:
        """Everything measured of an operation, small and pale.

        A line leads through it where the operation walks right as N grows.
        """
        values, shape, clip = self.values, theme.style(series.name).shape, self.frame.box
        for side, dash in (("cold", ()), ("warm", (3, 3))):
            for place, points in values.hits[series.name, side].points.items():
                own = np.zeros((len(values.timed) + 1, len(values.kinds)))
                own[place] = 0.7
                look: dict[str, Any] = {"opacity": self._seen(series, side, ("who kind", own))}
                for point in points:
                    self.scene.dot(self.at(*point), None, shape, 4, fill="soft", clip=clip,
                                   name="campaign", **look)  # fmt: skip
                if len({x for x, _ in points}) > TRAIL:
                    self.scene.line(self.at(*chain(*sorted(points))), "soft", 1, dash=dash,
                                    clip=clip, name="trail", **look)  # fmt: skip

    def _rungs(self, who: int, offer: Offer) -> None:
        """What was measured under names: marks, names left and rates right, clear of each other."""
        values, own = self.values, self.values.rungs(offer)
        if not own:
            return
        own.sort(key=lambda one: one[1].flop_per_s)
        points = [(math.log10(m.op.intensity), math.log10(m.flop_per_s)) for _, m in own]
        roof = min(math.log10(values.allowed(offer, m)) for _, m in own)
        heights = self._pixels([y for _, y in points])  # by machine, same_axes and name
        moved = spread(heights, GAP, self._pixels([roof]) + GAP, self.frame.bottom - 8) - heights
        scale = 1000.0 ** int(max(y for _, y in points) / 3)
        unit, digits = si(scale, "FLOP/s" if self.wide else "").split()[1], 3 if self.wide else 2
        for n, ((name, m), (x, y)) in enumerate(zip(own, points)):
            seen = np.zeros((len(values.timed) + 1, len(values.kinds), 3))
            seen[who, values.kinds.index(m.op.compute_dtype)] = SHOWN[m.cache]
            look: dict[str, Any] = {"opacity": By("who kind side", seen)}
            at, off = self.at(x, y), moved[..., n]
            rate = f"{plain(m.flop_per_s / scale, digits)} {unit}, {values.share(offer, m)}"
            for way, anchor, words in ((-1, "end", name), (1, "start", rate)):
                ends = np.stack([0 * off + 8 * way, 0 * off, 0 * off + 20 * way, off], -1)
                self.scene.line(Sum(_two(at), By("machine same_axes", ends)), "soft", 1, **look,
                                name="leader")  # fmt: skip
                beside = By("machine same_axes", 0 * off + 24 * way)
                self.scene.text(self.near(at, beside, off + 5), None, words, size=LETTERS - 1,
                                anchor=anchor, halo=True, name="rung name", **look)  # fmt: skip
            self.scene.dot(at, None, theme.style(m.op.name).shape, 5, fill="ink", ink="paper",
                           width=1.5, name="rung", **look)  # fmt: skip
        if values.extremes(offer):  # then look is that of them all
            self._apart(points, look)

    def _apart(self, points: list[tuple[float, float]], look: dict[str, Any]) -> None:
        """How far apart points are that lie one above the other: from one to the next, and all."""
        (x, slow), (_, fast) = points[0], points[-1]
        for (_, low), (_, high) in pairwise(points):
            if high - low > JUMP and len(points) > 2:
                middle = self.near(self.at(x, (low + high) / 2), 0, 4)
                self.scene.text(middle, None, times(10 ** (high - low), 2), "soft",
                                size=LETTERS - 1, anchor="middle", name="jump", **look)  # fmt: skip
        away, turn, off = (177, 0.0, (185.0, 6.0)) if self.wide else (112, 90.0, (118.0, -18.0))
        bracket = np.array([away - 6, 0, away, 0, away, 0, away - 6, 0], float)
        place = self.at(x, slow, x, slow, x, fast, x, fast)
        self.scene.line(Sum(place, bracket), "ink", 2, **look, name="apart")
        beside = Sum(self.at(x, (slow + fast) / 2), np.array(off))
        self.scene.text(beside, None, times(10 ** (fast - slow)), bold=True, size=LETTERS + 2,
                        turn=By("real", [turn, turn]), halo=True, name="apart", **look)  # fmt: skip

    def _seen(self, series: Series, side: str, *more: tuple[str, Any], others: float = 0) -> By:
        """How clear the marks of an operation's side are.

        ``others``: while another operation is looked at. ``more``: dims, and tables of factors.
        """
        every = self.spec.series
        table = np.outer(np.full(len(every), others), BESIDES[side])
        table[every.index(series)] = SHOWN[side]
        names = "op side"
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
        every, pale = self._seen(series, side, others=1), self._seen(series, side, others=PALE)
        can = self._seen(series, side, (f"can_{side}", [0, 1]))
        if series.estimated:
            scene.line(self.at(x, roof, x, foreseen), "soft", 2, dash=dash, opacity=can, clip=clip,
                       name="thread")  # fmt: skip
        scene.line(self.at(x, roof, x, timed), "ink", 2, dash=dash, opacity=seen, clip=clip,
                   name=f"thread {at}")  # fmt: skip
        own = {"ink": self._ink(row, "key" if self.pulled else "ink"), "width": 3 if cold else 1.5}
        bound = scene.dot(self.at(x, roof), None, look.shape, **HOLLOW | own, opacity=every,
                          clip=clip, name=f"bound {at}")  # fmt: skip
        if series.estimated:
            scene.dot(self.at(x, foreseen), None, look.shape, **SMALL, opacity=can, clip=clip,
                      name=f"predicted {at}")  # fmt: skip
        scene.dot(self.at(x, timed), None, look.shape, **FULL, opacity=pale, clip=clip,
                  name=f"measured {at}")  # fmt: skip
        if not cold:
            scene.dot(self.at(x, timed), None, **WARM, opacity=pale, clip=clip, name=f"eye {at}")
        self._grip(series, row, bound, self.at(x, roof))

    def _dot_label(self, series: Series, row: int, side: str) -> None:
        values, name = self.values, series.name
        x, tags = values.x(series), By("j", np.array(series.tags, object))
        flip = self.across(10.0 ** np.asarray(x.values)[..., 0]) > self.frame.right - FLIP
        anchor = By(x.dims, np.where(flip, "end", "start").astype(object))
        dx = np.where(flip, -12, 12)[..., None]
        dy = np.array([-14, -10] if name == "gemm" else [20, 20])
        off = By(f"{x.dims} right_{name}_{side}", dx)
        place = self.near(self.at(x, values.roof_over(series, side)), off, dy)
        look: dict[str, Any] = {"anchor": anchor, "halo": True, "name": f"label {name} {side}"}
        seen = By("side", BESIDES[side])  # with both sides the name stands at the cold one
        self.scene.text(place, None, tags, self._ink(row, "ink"), size=LETTERS - 1, bold=True,
                        opacity=seen, **look)  # fmt: skip

    def _ink(self, row: int, own: str) -> By:
        """The ink of an operation: its ``own`` while it is looked at, else grey."""
        return By("op", [own if n == row else "soft" for n in range(len(self.spec.series))])

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
        self.scene.grip(dims, place, None, area=bound, spring=not dims, sets={"op": row})

    def _calls(self, series: Series, row: int) -> None:
        """FLOP ÷ call time, as far as the roof, with its name at the foot."""
        if not (self.spec.overhead and series.estimated and self.values.timed):
            return
        lines, labels, dims = self.values.calls(series)
        own = np.zeros((len(self.spec.series), 2))
        own[row, 1] = 1
        seen = By("op real", own)
        f, values = self.frame, self.values
        self.scene.line(self.at(By(dims, lines)), "overhead", 1.8, dash=(7, 4), opacity=seen,
                        clip=f.box, name="call")  # fmt: skip
        start = By(dims, lines[..., :1])
        place = self.near(self.at(start, values.floor), 8, -8)
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
        f = self.frame
        reach = f.left - 12, f.top - 30, f.right + 14, f.bottom + 10
        for dim, x, name in (
            ("memory", slope, "bandwidth"),
            ("arithmetic", np.array([KNOBS[1]]), "peak"),
        ):
            place = self.at(x, Along(x, roof))
            knob = scene.dot(place, None, "circle", 9, fill="paper", ink="key", width=2.5,
                             clip=reach, name=f"knob {dim}")  # fmt: skip
            arrow = Sum(_two(place), np.array([0.0, -4, 0, 4]))
            scene.line(arrow, "key", 2, clip=reach, name=f"arrow {dim}")
            scene.grip(dim, place, None, area=knob, label=f"{name} of this machine, times")
        self._undo()

    def _undo(self) -> None:
        """What a hand has made of the machine, on a button that makes it what it is."""
        scene, changed = self.scene, By("real", [1.0, 0.0])
        left, wide = (130, 345) if self.roomy else (2, 246)  # left of the words of the peak
        look: dict[str, Any] = {"size": LETTERS - 1, "opacity": changed}
        button = scene.rect(left, 1, wide, 26, "paper", ink="key", width=1.5, radius=13,
                            opacity=changed, name="undo live-only")  # fmt: skip
        told = Fill(
            "what if: bandwidth {b}, peak {p}" if self.roomy else "memory {b}, peak {p}",
            b=By("memory", scene.dim("memory").stops),
            p=By("arithmetic", scene.dim("arithmetic").stops),
        )
        scene.text(left + 11, 19, told, name="what-if", **look)
        scene.text(left + wide - 11, 19, "undo", "key", anchor="end", bold=True,
                   name="undo live-only", **look)  # fmt: skip
        scene.press(button, AS_IT_WAS, "undo: the machine as it is", enabled=changed)


def _two(place: OnAxes) -> OnAxes:
    """The place two times over: both ends of a short line, to be moved a little."""
    return OnAxes((*place.points, *place.points), place.axes)

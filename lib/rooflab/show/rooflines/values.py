"""What a live roofline shows, as values of a scene: roofs, and where each operation lies.

Everything is in decades, the log10 of FLOP/byte and of FLOP/s. A machine, a number type and where
the operands lie pick the roofs; the sliders pick the operations. What follows from those is a
dimension too: the number type that a machine has a figure for, the cache that holds an operation,
whether something was measured there.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from rooflab.count.dtypes import DType
from rooflab.count.operation import Operation
from rooflab.count.si import plain
from rooflab.predict.estimate import CACHES, Prediction, predict
from rooflab.predict.machine import Machine
from rooflab.predict.roofline import Roofline
from rooflab.show.box import Boxes
from rooflab.show.rooflines import ceiling_lines
from rooflab.show.rooflines.ceiling_lines import CHOICES, missing
from rooflab.show.rooflines.ladder import Ladders
from rooflab.show.rooflines.machine_choices import Offer
from rooflab.show.rooflines.tables import FACTORS, Series, Tables
from rooflab.show.scene import By, Dim, Sum, Value
from rooflab.show.scene.graph import Above, Along, Either, Less

if TYPE_CHECKING:
    from rooflab.measure.measurement import Measurement

LEVELS = ("dram", "l3", "l2", "l1")  # of the roofs, from below
AS_IT_IS = FACTORS.index(1.0)
AS_IT_WAS = {"memory": AS_IT_IS, "arithmetic": AS_IT_IS}  # stops of a machine without what-if
CALL_POINTS = 24  # corners of a line of calls
FAR = (-3.0, 7.0)  # decades of FLOP/byte far beyond the axes, where a roof's lines end
NO = math.nan


class RooflineValues:
    """The dimensions of a live roofline, and its values by them: the same ones on every sheet."""

    def __init__(self, spec: Tables, start: dict[str, Any]) -> None:
        self.spec, self.offers, self.kinds = spec, spec.offers, spec.dtypes
        usable = [o for o in spec.offers if o.machine]
        self.timed = [o for o in usable if o.known.routines or o.measurements]
        self.cached = [o for o in usable if len(o.known.levels) > 1]
        self.dims = [*self._given(start), *self._derived()]
        for series in spec.series:
            self.dims += self._derived_of(series)
        self.ladders = Ladders(self) if spec.ladder and self.timed else None
        self.dims += self.ladders.dims if self.ladders else []
        self.boxes = Boxes(self, spec.solids) if spec.solids else None
        self.dims += self.boxes.dims if self.boxes else []

    # Dimensions that a hand moves, and those that follow.

    def _given(self, start: dict[str, Any]) -> list[Dim]:
        ids, names = [o.id for o in self.offers], [o.name for o in self.offers]
        first, kinds = ids.index(start["machine"]), [str(kind) for kind in self.kinds]
        cache, series = start.get("cache", "cold"), self.spec.series
        factors = [f"×{f:.2g}" for f in FACTORS]
        return [
            Dim("machine", names, ids, first, glide=280),
            Dim("before", names, ids, first, trail="machine"),
            Dim("dtype", kinds, kinds, kinds.index(start["dtype"]), glide=280),
            Dim("cache", CHOICES, CHOICES, CHOICES.index(cache), glide=280),
            Dim("same_axes", ["fit the machine", "the same for all"], [False, True], glide=280),
            *(Dim(letter, [str(v) for v in slider.values], start=slider.start)
              for letter, slider in zip("ijk", self.spec.sliders)),
            Dim("op", [s.label for s in series], [s.name for s in series], len(series) - 1),
            Dim("memory", factors, start=AS_IT_IS),
            Dim("arithmetic", factors, start=AS_IT_IS),
        ]  # fmt: skip

    def _derived(self) -> list[Dim]:
        kinds, many = [str(kind) for kind in self.kinds], len(FACTORS)
        as_it_is = np.zeros((many, many))
        as_it_is[AS_IT_IS, AS_IT_IS] = 1
        peak, before, far = self.peak(), self.line_before(slice(5, 6)), np.array([1.0])
        yes_no = ["no", "yes"]
        return [
            Dim("kind", kinds, kinds, of=By("machine dtype", self._kinds)),
            Dim("old_kind", kinds, of=By("before dtype", self._kinds)),
            Dim("side", CHOICES, of=By("machine kind cache", self._sides)),
            Dim("who", ["", *(o.name for o in self.timed)],
                of=By("machine", self._places(self.timed))),
            Dim("caches", ["", *(o.name for o in self.cached)],
                of=By("machine", self._places(self.cached))),
            Dim("real", ["what if", "as it is"], of=By("memory arithmetic", as_it_is)),
            *(Dim(f"can_{side}", yes_no, of=By("who kind j real", self._can(side)))
              for side in CACHES),
            # The peak of the machine before: a decade from this one's, and on the axes.
            Dim("higher", yes_no, of=Above(Less(Less(before, peak), far))),
            Dim("lower", yes_no, of=Above(Less(Less(peak, before), far))),
            Dim("over", yes_no, of=Above(Less(before, self.floor))),
            Dim("under", yes_no, of=Above(Less(self.top, before))),
        ]  # fmt: skip

    def _derived_of(self, series: Series) -> list[Dim]:
        name, yes_no = series.name, ["no", "yes"]
        found = [Dim(f"home_{name}", LEVELS, of=self._homes(series))]
        for side in CACHES:
            at, hits = f"{name}_{side}", self.hits[name, side]
            many = len(hits.rates)
            found.append(Dim(f"hit_{at}", [str(n) for n in range(many + 1)], of=hits.by))
            roof, timed = self.roof_over(series, side), self.measured(series, side)
            known, foreseen = self.known(series, side), self.predicted(series, side)
            has = [0.0, *[1.0] * many]
            can = [[0.0, 1.0 if series.estimated else 0.0], [2.0, 2.0]]
            found += [
                Dim(f"has_{at}", yes_no, of=By(f"hit_{at}", has)),
                Dim(f"how_{at}", ["bound", "predicted", "measured"],
                    of=By(f"has_{at} can_{side}", can)),
                Dim(f"right_{at}", yes_no,
                    of=Above(Less(self.x(series), self.ridge(series, side)))),
                Dim(f"over_{at}", yes_no, of=Above(Less(timed, roof))),
                Dim(f"out_{at}", yes_no, of=Above(Less(self.floor, timed))),
                Dim(f"low_{at}", yes_no, of=Above(Less(self.floor, foreseen))),
                Dim(f"known_over_{at}", yes_no, of=Above(Less(known, roof))),
                Dim(f"known_out_{at}", yes_no, of=Above(Less(self.floor, known))),
            ]  # fmt: skip
        memory, far = self.roof_over(series, "cold"), self.known(series, "warm")
        least = np.array([math.log10(1.005)])  # less is ×1 once it is rounded
        return [*found, Dim(f"trap_{name}", yes_no, of=Above(Less(Less(far, memory), least)))]

    @cached_property
    def _kinds(self) -> list[list[float]]:
        """The number type that each machine is shown in, for each that is asked for."""
        return [[float(self.kinds.index(self.kind(o, k))) for k in self.kinds] for o in self.offers]

    def kind(self, offer: Offer, wanted: DType) -> DType:
        """``wanted``, or one that the machine has a figure for: fp32 before others."""
        tried = [wanted, *(k for k in self.kinds if str(k) == "fp32"), *self.kinds]
        return next((k for k in tried if self.has(offer, k, "cold")), wanted)

    def has(self, offer: Offer, kind: DType, cache: str) -> bool:
        """Whether there is a roof to draw."""
        return offer.machine is not None and not missing(offer.machine, kind, cache)

    @cached_property
    def _sides(self) -> list[Any]:
        """Cold, warm or both; cold alone where no cache has a figure."""
        return [
            [[float(n if self.has(o, k, "warm") else 0) for n in range(3)] for k in self.kinds]
            for o in self.offers
        ]

    def _places(self, some: Sequence[Offer]) -> list[float]:
        return [float(some.index(o) + 1) if o in some else 0.0 for o in self.offers]

    def _can(self, side: str) -> np.ndarray:
        """Where a prediction is shown: of single problems, on machines whose routines are known."""
        many = len(self.timed) + 1, len(self.kinds), len(self.spec.sliders[1].values), 2
        found = np.zeros(many)
        for w, offer in enumerate(self.timed, 1):
            for k, kind in enumerate(self.kinds):
                found[w, k, 0, 1] = bool(offer.known.routines) and self.has(offer, kind, side)
        return found

    # Roofs.

    @cached_property
    def limits(self) -> list[list[tuple[float, float]]]:
        """Decades of FLOP/s on the axis of each machine: its own, and those that hold all."""
        return [[self.spec.limits_of(o), self.spec.limits] for o in self.offers]

    @property
    def floor(self) -> By:
        """The decade of FLOP/s at the foot of the axes."""
        return By("machine same_axes", [[[low] for low, _ in row] for row in self.limits])

    @property
    def top(self) -> By:
        """The one at their upper end."""
        return By("machine same_axes", [[[high] for _, high in row] for row in self.limits])

    def roof(self, offer: Offer, kind: DType, level: str) -> Roofline | None:
        """The roof of ``level``, or None where a figure is missing."""
        if level not in getattr(offer.machine, "levels", ()) or not self.has(offer, kind, "cold"):
            return None
        return ceiling_lines.roof(offer.known, kind, level, self.spec.mix)

    def by_roof(self, words: Callable[[Roofline], str], level: str = "dram") -> By:
        """Words about the roof of ``level``, by machine and number type; none where it has none."""
        roofs = [[self.roof(o, k, level) for k in self.kinds] for o in self.offers]
        table = [[words(roof) if roof else "" for roof in row] for row in roofs]
        return By("machine kind", np.array(table, object))

    def _corners(self, offer: Offer, kind: DType, level: str) -> list[float]:
        line = self.roof(offer, kind, level)
        if line is None:
            return [NO] * 6
        ridge, peak, (left, right) = math.log10(line.ridge), math.log10(line.peak), FAR
        return [left, peak - ridge + left, ridge, peak, right, peak]

    @cached_property
    def lines(self) -> np.ndarray:
        """Machine, number type and level → left end, ridge and right end of the roof."""
        return np.array([
            [[self._corners(o, k, level) for level in LEVELS] for k in self.kinds]
            for o in self.offers
        ])  # fmt: skip

    def line(self, level: str, part: slice = slice(None)) -> Value:
        """The corners of a level's roof, or a ``part`` of them, with what-if."""
        table = self.lines[:, :, LEVELS.index(level), part]
        return self._if(By("machine kind", table), part)

    def line_before(self, part: slice = slice(None)) -> Value:
        """The same for memory and the machine that was shown before."""
        return By("before old_kind", self.lines[:, :, 0, part])

    def _if(self, own: By, part: slice) -> Value:
        logs = [math.log10(f) for f in FACTORS]
        memory = np.array([[0, s, -s, 0, 0, 0] for s in logs])[:, part]
        arithmetic = np.array([[0, 0, s, s, 0, s] for s in logs])[:, part]
        return Sum(own, By("memory", memory), By("arithmetic", arithmetic))

    def side_line(self, series: Series, side: str, part: slice = slice(None)) -> Value:
        """The roof over an operation: memory's if it is cold, that of its home if it is warm."""
        if side == "cold":
            return self.line("dram", part)
        return self._if(By(f"machine kind home_{series.name}", self.lines[..., part]), part)

    def ridge(self, series: Series, side: str) -> Value:
        """The decade of the ridge of that roof."""
        return self.side_line(series, side, slice(2, 3))

    def peak(self) -> Value:
        """The decade of the flat roof."""
        return self.line("dram", slice(5, 6))

    # Operations.

    @cached_property
    def ledgers(self) -> dict[str, np.ndarray]:
        """Each series' operations by number type and the places of the three sliders."""
        shape = [len(slider.values) for slider in self.spec.sliders]
        ledgers = {}
        for series in self.spec.series:
            ops = np.empty((len(self.kinds), *shape), object)
            for k, kind in enumerate(self.kinds):
                for place, values in zip(np.ndindex(*shape), self.spec.points()):
                    ops[(k, *place)] = series.build(*values, kind)
            ledgers[series.name] = ops
        return ledgers

    def by_op(self, series: Series, value: Callable[[Operation], Any], dims: str) -> By:
        """A number or words of the operations of a series, by some of ``kind i j k``."""
        ops = self.ledgers[series.name]
        for axis, name in reversed(list(enumerate(["kind", "i", "j", "k"]))):
            if name not in dims.split():
                ops = ops.take(0, axis)
        found = [value(op) for op in ops.ravel()]
        table = np.array(found, object if isinstance(found[0], str) else float)
        return By(dims, table.reshape(ops.shape))

    def own(self, series: Series, dims: str = "kind i j k") -> str:
        """The ``dims`` on which its intensity depends: a batch that shares nothing is none."""
        return dims if series.spread else dims.replace(" j", "")

    def x(self, series: Series) -> By:
        """The decade of its intensity."""
        return self._intensities[series.name]

    @cached_property
    def _intensities(self) -> dict[str, By]:
        decades = {}
        for series in self.spec.series:
            one = self.by_op(series, lambda op: math.log10(op.intensity), self.own(series))
            decades[series.name] = By(one.dims, np.asarray(one.values)[..., None])
        return decades

    def roof_over(self, series: Series, side: str) -> Value:
        """The decade of FLOP/s that its roof allows."""
        return Along(self.x(series), self.side_line(series, side))

    def _homes(self, series: Series) -> By:
        """The level that holds its working set, on machines with caches."""
        held = self.by_op(series, lambda op: float(op.working_set), "kind i j k").values
        table = np.zeros((len(self.cached) + 1, *held.shape))
        for w, offer in enumerate(self.cached, 1):
            for level in LEVELS[1:]:  # the nearest level that fits wins
                if level in offer.known.levels:
                    table[w][held <= offer.known.capacities.get(level, 0)] = LEVELS.index(level)
        return By("caches kind i j k", table)

    @cached_property
    def hits(self) -> dict[tuple[str, str], Hits]:
        """What was measured, by the name of a series and a side."""
        every = itertools.product(self.spec.series, CACHES)
        return {(one.name, side): Hits(self, one, side) for one, side in every}

    def rungs(self, offer: Offer) -> list[tuple[str, Measurement]]:
        """Name and measurement of all that was timed on a machine under a name."""
        own = {id(m) for m in offer.measurements}
        return [
            (name, m) for name, m in self.spec.rungs.items()
            if id(m) in own and m.op.compute_dtype in self.kinds
        ]  # fmt: skip

    def extremes(self, offer: Offer) -> list[tuple[str, Measurement]]:
        """The slowest and the fastest of them; nothing if they are not of one kind."""
        every = sorted(self.rungs(offer), key=lambda one: one[1].flop_per_s)
        alike = len({(m.op, m.cache) for _, m in every}) == 1 and len(every) > 1
        return [every[0], every[-1]] if alike else []

    def share(self, offer: Offer, m: Measurement) -> str:
        """Per cent of what the roof of its side allows, formatted."""
        return f"{plain(100 * m.flop_per_s / self.allowed(offer, m), 2)} %"

    def allowed(self, offer: Offer, m: Measurement) -> float:
        """FLOP/s that the roof of its side allows to what was measured."""
        return self.roof_of(offer, m.op, m.cache)[1].attainable(m.op.intensity)

    def roof_of(self, offer: Offer, op: Operation, cache: str) -> tuple[str, Roofline]:
        """The level whose roof bounds an operation on one side, and that roof."""
        level = ceiling_lines.home(op, offer.known, cache)
        return level, ceiling_lines.roof(offer.known, op.compute_dtype, level, self.spec.mix)

    def measured(self, series: Series, side: str) -> Value:
        """The decade of FLOP/s that was measured of this very operation, if it was."""
        rates = self.hits[series.name, side].rates
        return By(f"hit_{series.name}_{side}", [[NO], *([rate] for rate in rates)])

    def predicted(self, series: Series, side: str) -> Value:
        """The decade of FLOP/s that is predicted of the single operation, if it can be."""
        return By("who kind i k", self._predicted[series.name, side][..., None])

    def estimates(self, series: Series, side: str, value: Callable[..., Any], none: Any) -> Any:
        """``value(op, prediction, machine)`` by who, kind, i, k: of single operations."""
        ops: Any = self.ledgers[series.name][:, :, 0]
        kind = object if isinstance(none, str) else float
        found = np.full((len(self.timed) + 1, *ops.shape), none, kind)
        for w, offer in enumerate(self.timed, 1):
            for place in np.ndindex(*ops.shape):
                usable = self.has(offer, self.kinds[place[0]], side)
                if usable and offer.known.routines and series.estimated:
                    op, machine = ops[place], offer.known
                    found[(w, *place)] = value(op, predict(op, machine, cache=side), machine)
        return found

    def calls(self, series: Series) -> tuple[np.ndarray, np.ndarray, str]:
        """Lines of FLOP ÷ call time, in decades, their names, and the dimensions of both."""
        batches = self.spec.sliders[1].values
        batches = batches if series.spread else batches[:1]
        shape = (len(self.timed) + 1, len(self.kinds), 3, len(batches))
        lines, labels = np.full((*shape, 2 * CALL_POINTS), NO), np.full(shape, "", object)
        for place in np.ndindex(*shape):
            w, k, side, b = place
            offer, kind = self.timed[w - 1], self.kinds[k]
            cache = "warm" if side == 1 else "cold"  # of both, the one that the ladder explains
            if not w or not offer.known.routines or not self.has(offer, kind, cache):
                continue

            def build(n: int, batch: int = batches[b], kind: Any = kind) -> Operation:
                return series.build(n, batch, 1, kind)

            found = ceiling_lines.call_line(build, offer.known, cache)
            if found:
                xs, ys = np.log10(found.points).T
                foot = np.interp(math.log10(ceiling_lines.LOWEST), ys, np.arange(len(ys)))
                even = np.linspace(foot, len(xs) - 1, CALL_POINTS)
                for axis, along in enumerate((xs, ys)):
                    lines[place][axis::2] = np.interp(even, np.arange(len(xs)), along)
                labels[place] = f"usual {cache} {found.label}"
        if series.spread:
            return lines, labels, "who kind side j"
        return lines[:, :, :, 0], labels[:, :, :, 0], "who kind side"

    @cached_property
    def _predicted(self) -> dict[tuple[str, str], np.ndarray]:
        def rate(op: Operation, found: Prediction, _: Machine) -> float:
            return math.log10(op.flops / found.seconds)

        every = itertools.product(self.spec.series, CACHES)
        return {(one.name, side): self.estimates(one, side, rate, NO) for one, side in every}

    def known(self, series: Series, side: str) -> Value:
        """What is best known of it: measured, else predicted, else what its roof allows."""
        which = By(f"how_{series.name}_{side}", [[0.0], [1.0], [2.0]])
        told = self.predicted(series, side), self.measured(series, side)
        return Either(which, (self.roof_over(series, side), *told))


class Hits:
    """The measurements of a series on one side: which of them is of the operation shown."""

    def __init__(self, values: RooflineValues, series: Series, side: str) -> None:
        self.rates: list[float] = []
        self.points: dict[tuple[int, int], list[tuple[float, float]]] = {}  # by who and kind
        ops: Any = values.ledgers[series.name]
        table = np.zeros((len(values.timed) + 1, *ops.shape))
        named = {id(m) for m in values.spec.rungs.values()}  # which are drawn as rungs
        where: dict[object, list[tuple[int, ...]]] = {}  # several places may hold one operation
        for place in np.ndindex(*ops.shape):
            where.setdefault(_key(ops[place]), []).append(place)
        for w, offer in enumerate(values.timed, 1):
            for m in offer.measurements:
                if m.op.name != series.name or m.cache != side or id(m) in named:
                    continue
                if m.op.compute_dtype not in values.kinds:
                    continue
                rate = math.log10(m.flop_per_s)
                spot = w, values.kinds.index(m.op.compute_dtype)
                self.points.setdefault(spot, []).append((math.log10(m.op.intensity), rate))
                self.rates.append(rate)
                for place in where.get(_key(m.op), ()):
                    table[(w, *place)] = len(self.rates)
        self.by = By("who kind i j k", table)


def _key(op: Operation) -> tuple[object, ...]:
    return str(op.compute_dtype), tuple(op.dims.items()), op.batch

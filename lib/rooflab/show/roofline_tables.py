"""The tables of a live roofline: every count made, every point placed, every number formatted.

A scene is plain data. The sliders give three indices (i, j, k); each table holds one entry an
index triple, row-major. Text tables are 16-bit indices into one pool of strings, positions are
32-bit pixels: exact enough that a ruler read in the browser agrees with Python to the last digit.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from rooflab.count.dtypes import DType, DTypeLike
from rooflab.count.operation import LEVELS, Operation
from rooflab.count.si import percent, si, times
from rooflab.predict.estimate import CACHES, predict
from rooflab.predict.machine import Machine
from rooflab.show import captions, ceiling_lines, theme
from rooflab.show.canvas import Frame, around, frame_for
from rooflab.show.machine_choices import Offer

# The texts of a packed picture, each kept once: tables in the browser are indices into them.


@dataclass
class Pool:
    """Strings, each kept once."""

    texts: list[str] = field(default_factory=list)
    _index: dict[str, int] = field(default_factory=dict)

    def add(self, text: str) -> int:
        """Return the index of ``text``."""
        if text not in self._index:
            self._index[text] = len(self.texts)
            self.texts.append(text)
        return self._index[text]

    def table(self, texts: Iterable[str]) -> bytes:
        """Return the indices of ``texts`` as little-endian 16-bit integers."""
        indices = [self.add(text) for text in texts]
        if len(self.texts) > 65536:
            raise ValueError("more than 65536 different texts; give fewer sizes or dtypes")
        return np.array(indices, "<u2").tobytes()


# Rulers: tables that read a distance on a log axis as a formatted number.
#
# The browser knows pixels only. To say "3.24 TFLOP/s" it lays a ruler on the axis: the marks are
# the places where the rounded number changes, and beside each mark stands the text that Python's
# own formatting gives. No value is computed or formatted in the browser.


def _ruler(
    digits: int, decades: range, label: Callable[[float], str], suffixes: tuple[str, ...] = ("",)
) -> dict[str, object]:
    """Marks within a decade, one label a mark over ``decades``, and a suffix each time they
    repeat."""
    lo, hi = 10 ** (digits - 1), 10**digits
    marks = [math.log10((mantissa + 0.5) / lo) for mantissa in range(lo, hi)]
    labels = [
        label(mantissa / lo * 10.0**decade) for decade in decades for mantissa in range(lo, hi)
    ]
    return {
        "marks": np.array(marks, "<f4").tobytes(),
        "labels": labels,
        "lo": decades.start,
        "suffixes": list(suffixes),
    }


def rates(unit: str = "FLOP/s") -> dict[str, object]:
    """Ruler from 1 to 10¹⁸ in ``unit``, three digits: the labels repeat every three decades."""
    suffixes = tuple(si(10.0**decade, unit).partition(" ")[2] for decade in range(0, 18, 3))
    return _ruler(3, range(3), si, tuple(f" {suffix}" for suffix in suffixes))


def seconds() -> dict[str, object]:
    """Ruler from 1 ps to 1 Ms, three digits: the labels repeat every three decades."""
    suffixes = tuple(si(10.0**decade, "s").partition(" ")[2] for decade in range(-12, 6, 3))
    return _ruler(3, range(3), si, tuple(f" {suffix}" for suffix in suffixes)) | {"lo": -12}


def shares() -> dict[str, object]:
    """Ruler of a share of the peak, from one millionth to ten times, two digits."""
    return _ruler(2, range(-6, 1), percent)


def gaps() -> dict[str, object]:
    """Ruler of a ratio from 1 to 99,900, three digits, without the × of :func:`times`."""
    return _ruler(3, range(5), lambda ratio: times(ratio).removeprefix("×"))


#: The operations of a series in a dtype, in table order.
Ledgers: TypeAlias = Mapping[tuple[str, DType], Sequence[Operation]]


@dataclass(frozen=True)
class Slider:
    """A slider of a live picture: what it is called, its values, where it starts (an index)."""

    name: str
    label: str
    values: Sequence[int]
    start: int

    @property
    def options(self) -> list[tuple[str, int]]:
        """Its values with their texts; none where there is nothing to choose."""
        return [(str(value), value) for value in self.values] if len(self.values) > 1 else []


@dataclass(frozen=True)
class Series:
    """One moving marker: ``build(i-value, j-value, k-value, dtype)`` gives its operation.

    ``tags`` and ``why`` are its label and its reason at each value of the second slider;
    ``spread``: its place depends on that second slider; ``estimated``: predict() is asked for it
    at the first value of the second slider (a single problem), on machines with routines.
    """

    name: str
    label: str
    build: Callable[[int, int, int, DTypeLike], Operation]
    tags: Sequence[str]
    why: Sequence[str]
    spread: bool
    estimated: bool = True


@dataclass(frozen=True)
class Tables:
    """A live picture before it is packed: sliders (three), series, dtypes, machines on offer."""

    sliders: tuple[Slider, ...]
    series: tuple[Series, ...]
    dtypes: tuple[DType, ...]
    offers: tuple[Offer, ...]
    overhead: bool = False  # whether lines show what a call costs, where calls were timed
    band: tuple[float, float] | None = None  # intensities of a thumb rule
    mix: str = ceiling_lines.MIX  # of reading and writing, for which the memory roofs are drawn

    @property
    def frame(self) -> Frame:
        """The sheet that everything is placed on: axes that hold every machine on offer."""
        own = [self.frame_of(offer) for offer in self.offers if offer.machine]
        return Frame(*around(*own)) if own else frame_for(())

    def frame_of(self, offer: Offer, locked: Sequence[float] = ()) -> Frame:
        """Axes that fit ``offer``: its roofs in every dtype, and what was measured on it.

        ``locked``: decades (lowest, highest) that the axes show as well, or none.
        """
        if offer.machine is None:
            return self.frame
        rates = offer.rates(self.dtypes)
        if self.overhead and offer.machine.routines:
            rates.append(ceiling_lines.LOWEST)
        own = frame_for(rates)
        return Frame(*around(own, Frame(locked[0], locked[1]))) if locked else own

    def points(self) -> Iterable[tuple[int, int, int]]:
        """Every combination of slider values, in table order."""
        i, j, k = (slider.values for slider in self.sliders)
        return itertools.product(i, j, k)

    def pack(self) -> dict[str, object]:
        """Return the whole scene as the browser wants it: JSON values and bytes."""
        frame, pool = self.frame, Pool()
        ledgers = {
            (series.name, kind): [series.build(*point, kind) for point in self.points()]
            for series in self.series
            for kind in self.dtypes
        }
        return {
            "frame": frame.as_data(),
            "ticks": frame.ticks(),
            "shape": [len(slider.values) for slider in self.sliders],
            "sliders": [
                {"label": s.label, "values": [str(v) for v in s.values]} for s in self.sliders
            ],
            "dtypes": [str(kind) for kind in self.dtypes],
            "levels": list(LEVELS),
            "levelWords": {level: captions.level_word(level) for level in LEVELS},
            "ops": [self._series(s, ledgers, frame, pool) for s in self.series],
            "machines": [self._offer(offer, ledgers, frame) for offer in self.offers],
            "rulers": {"rate": rates(), "share": shares(), "gap": gaps()},
            "say": {**captions.SAY, **ceiling_lines.SAY_SIDES, **ceiling_lines.SAY_OVERHEAD},
            "sides": ceiling_lines.pack_sides(LEVELS),
            "band": ceiling_lines.pack_band(self.band, frame),
            "texts": pool.texts,
        }

    def _series(
        self, series: Series, ledgers: Ledgers, frame: Frame, pool: Pool
    ) -> dict[str, object]:
        look, tables = theme.style(series.name), {}
        for kind in self.dtypes:
            ops = ledgers[series.name, kind]
            once = self._once(series, ops)
            tables[str(kind)] = {
                "bytes": pool.table(si(op.bytes, "B") for op in ops),
                "intensity": pool.table(theme.intensity(op.intensity) for op in once),
                "x": np.array([frame.x(op.intensity) for op in once], "<f4").tobytes(),
            }
        first = ledgers[series.name, self.dtypes[0]]
        second = first[:: self._inner][: len(self.sliders[1].values)]
        return {
            "name": series.name, "label": series.label,
            "colour": look.colour, "ink": look.ink, "shape": look.shape, "spread": series.spread,
            "sizes": pool.table(captions.sizes(op) for op in first),
            "flops": pool.table(si(op.flops, "FLOP") for op in first),
            "batch": [captions.batch(op) for op in second],
            "tags": list(series.tags), "why": list(series.why),
            "dtypes": tables,
        }  # fmt: skip

    @property
    def _inner(self) -> int:
        return len(self.sliders[2].values)

    def _once(self, series: Series, ops: Sequence[Operation]) -> Sequence[Operation]:
        """Without the second slider where it changes nothing: its first value stands for all."""
        return ops if series.spread else self._first_of_second(ops)

    def _first_of_second(self, ops: Sequence[Operation]) -> Sequence[Operation]:
        turn = self._inner * len(self.sliders[1].values)
        return [op for place, op in enumerate(ops) if place % turn < self._inner]

    def _batch_of(self, entry: tuple[int, Operation]) -> int:
        """Index of the second slider at an entry (position, operation) of a table."""
        return entry[0] // self._inner % len(self.sliders[1].values)

    def _offer(self, offer: Offer, ledgers: Ledgers, frame: Frame) -> dict[str, object]:
        packed: dict[str, Any] = {
            "id": offer.id, "name": offer.name, "group": offer.group, "origin": offer.says,
            "says": f"{offer.name} · {offer.machine.provenance}" if offer.machine else offer.name,
            "decades": around(self.frame_of(offer)), "roofs": {}, "no": {},
        }  # fmt: skip
        if offer.machine is None:
            packed["no"] = {"all": offer.reason}
            return packed
        for kind in self.dtypes:
            reasons = {c: ceiling_lines.missing(offer.machine, kind, c) for c in CACHES}
            packed["no"][str(kind)] = {cache: text for cache, text in reasons.items() if text}
            packed["roofs"][str(kind)] = {
                cache: ceiling_lines.lines(offer.machine, kind, cache, frame, self.mix)
                for cache, text in reasons.items()
                if not text
            }
        warm = [kind for kind in self.dtypes if "warm" in packed["roofs"][str(kind)]]
        if warm:
            packed["home"] = {
                str(kind): {
                    s.name: _homes(offer.machine, ledgers[s.name, kind]) for s in self.series
                }
                for kind in warm
            }
        if offer.machine.routines:
            packed["predicted"] = self._predicted(offer.machine, packed["roofs"], ledgers, frame)
            if self.overhead:
                packed["calls"] = self._calls(offer.machine, packed["roofs"], frame)
        if offer.measurements:
            packed["measured"] = self._measured(offer, ledgers, frame)
        return packed

    def _predicted(
        self, machine: Machine, roofs: Mapping[str, Any], ledgers: Ledgers, frame: Frame
    ) -> dict[str, dict[str, dict[str, bytes]]]:
        def row(series: Series, kind: DType, cache: str) -> bytes:
            single = self._first_of_second(ledgers[series.name, kind])
            rates = [op.flops / predict(op, machine, cache=cache).seconds for op in single]
            return np.array([frame.y(rate) for rate in rates], "<f4").tobytes()

        return {
            str(kind): {
                cache: {s.name: row(s, kind, cache) for s in self.series if s.estimated}
                for cache in roofs[str(kind)]
            }
            for kind in self.dtypes
            if roofs[str(kind)]
        }

    def _calls(self, machine: Machine, roofs: Mapping[str, Any], frame: Frame) -> dict[str, object]:
        firsts, batches = self.sliders[0].values, self.sliders[1].values

        def lines(series: Series, kind: DType, cache: str) -> dict[str, object] | None:
            builds = [
                lambda n, b=b: series.build(n, b, 1, kind)
                for b in (batches if series.spread else batches[:1])
            ]
            estimates = [predict(builds[0](n), machine, cache=cache) for n in firsts]
            return ceiling_lines.pack_overhead(builds, machine, cache, frame, estimates)

        return {
            str(kind): {
                cache: {s.name: lines(s, kind, cache) for s in self.series if s.estimated}
                for cache in roofs[str(kind)]
            }
            for kind in self.dtypes
        }

    def _measured(self, offer: Offer, ledgers: Ledgers, frame: Frame) -> dict[str, object]:
        # Several places may hold one operation: the last one written counts, with least batch.
        index = {
            (name, str(kind), tuple(op.dims.items()), op.batch): position
            for (name, kind), ops in ledgers.items()
            for position, op in sorted(enumerate(ops), key=self._batch_of, reverse=True)
        }
        found: dict[str, Any] = {}
        for m in offer.measurements:
            op, kind = m.op, str(m.op.compute_dtype)
            if kind not in map(str, self.dtypes) or op.name not in {s.name for s in self.series}:
                continue
            key = (op.name, kind, tuple(op.dims.items()), op.batch)
            place = found.setdefault(kind, {}).setdefault(m.cache, {}).setdefault(op.name, [])
            place.append({
                "x": round(frame.x(op.intensity), 2), "y": round(frame.y(m.flop_per_s), 4),
                "at": index.get(key, -1),
            })  # fmt: skip
        return found


def _homes(machine: Machine, ops: Sequence[Operation]) -> bytes:
    """Return :meth:`Machine.home` of every working set, as indices into LEVELS, one byte each."""
    held = np.array([float(op.working_set) for op in ops])
    homes = np.full(len(held), LEVELS.index("dram"), np.uint8)
    for level in reversed(machine.levels):  # the nearest level that fits wins
        if level != "dram":
            homes[held <= machine.capacities.get(level, 0)] = LEVELS.index(level)
    return homes.tobytes()

"""A machine as the roofline sees it: peaks, bandwidths and capacities, each figure with its source.

All figures are SI: FLOP/s, byte/s, bytes. ``origin`` says where they come from: "datasheet" for
the catalogue, "measured" for a machine whose roofs were timed.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from numbers import Real
from types import MappingProxyType
from typing import Any, TypeAlias

from rooflab.count.dtypes import DTypeLike, as_dtype
from rooflab.count.operation import LEVELS, UNITS, level
from rooflab.count.si import si
from rooflab.count.validation import As, amount, unknown

# What people call the memory that this course calls dram.
_DRAM = ("hbm", "gddr", "vram", "ddr", "memory")


class Figure(float):
    """A float that knows where it comes from: a rate in FLOP/s or byte/s.

    ``source`` are keys of the catalogue's sources, or "measured" and the day. A peak without a
    ``unit`` counts for both, vector and tensor. ``derived`` says how it was computed from sourced
    figures.

    >>> bandwidth = rl.machine("h100-sxm").bandwidth()
    >>> bandwidth / 1e12  # TB/s
    3.35
    >>> isinstance(bandwidth, rl.Figure), len(bandwidth.source) > 0
    (True, True)
    """

    source: tuple[str, ...]
    unit: str | None
    note: str | None
    derived: str | None

    def __new__(
        cls,
        value: float,
        source: tuple[str, ...] = (),
        unit: str | None = None,
        note: str | None = None,
        derived: str | None = None,
    ) -> Figure:
        figure = super().__new__(cls, value)
        figure.source, figure.unit = tuple(source), unit
        figure.note, figure.derived = note, derived
        return figure

    def __reduce__(self) -> tuple[object, ...]:
        return (Figure, (float(self), self.source, self.unit, self.note, self.derived))

    def to_dict(self) -> dict[str, Any]:
        """Return value, source and whatever else is known, as plain data."""
        known = {"unit": self.unit, "note": self.note, "derived": self.derived}
        more = {key: text for key, text in known.items() if text is not None}
        return {"value": float(self), "source": list(self.source), **more}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Figure:
        """Inverse of :meth:`to_dict`; unknown keys (samples, kernel) are ignored."""
        source, unit = tuple(data.get("source", ())), data.get("unit")
        return cls(data["value"], source, unit, data.get("note"), data.get("derived"))


Routine: TypeAlias = Mapping[str, Any]
"""How a library's routine behaves: "overhead_s", seconds that a call with warm operands costs,
"cold_overhead_s", and "points", the sizes timed. A point has the "efficiency", the share of the
roof that it reached, and the "level" where its operands lay, or for a product of matrices the
"smallest" dimension."""


def figures(table: str, given: Mapping[str, float]) -> dict[str, Figure]:
    """``given`` with every rate as a Figure; a rate must be a positive finite number."""
    for key, rate in _mapping(table, given, "{'bf16': 1e14}").items():
        amount(f"{table}[{key!r}]", rate, "a positive rate, in FLOP/s or byte/s")
    return {k: rate if isinstance(rate, Figure) else Figure(rate) for k, rate in given.items()}


def by_format(table: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """``given`` under the names of number formats as a machine lists them: bfloat16 is bf16, and
    fp8_e4m3 is of the family fp8. What names no format (``bf16_tensor``) is left as it is."""
    return {_listed(key): rate for key, rate in _mapping(table, given, "{'bf16': 1e14}").items()}


def _listed(key: str) -> str:
    try:
        return as_dtype("peak", key).family
    except (TypeError, ValueError):
        return key


def by_level(table: str, given: float | Mapping[str, Any]) -> dict[str, Any]:
    """``given`` for each level of memory; a lone number is that of DRAM, and HBM is DRAM too."""
    if isinstance(given, Real) and not isinstance(given, bool):
        return {"dram": given}
    rows = _mapping(table, given, "{'dram': 1e12}")
    return {"dram" if str(key).lower() in _DRAM else key: value for key, value in rows.items()}


def amounts(table: str, given: float | Mapping[str, float]) -> dict[str, float]:
    """Capacities in bytes for each level, 0 where there is none of it; see :func:`by_level`."""
    rows = by_level(table, given)
    for key, held in rows.items():
        amount(f"{table}[{key!r}]", held, "a positive number of bytes", zero=True)
    return rows


def _mapping(table: str, given: object, such_as: str) -> Mapping[str, Any]:
    if not isinstance(given, Mapping):
        raise TypeError(f"{table}={given!r} must be a mapping, such as {such_as}")
    return given


MIXES = ("read", "axpy", "copy", "update")


def _spill(level: str, pairs: Iterable[tuple[float, float]]) -> tuple[tuple[float, float], ...]:
    """Where ``level`` spills, checked: sizes that grow, and shares from 0 to 1."""
    try:
        points = tuple((float(size), float(share)) for size, share in pairs)
    except (TypeError, ValueError):
        points = ()
    sizes, shares = [size for size, _ in points], [share for _, share in points]
    grows = all(0 < a < b < math.inf for a, b in pairwise([*sizes, 2 * max(sizes, default=0)]))
    if not points or not grows or not all(0 <= share <= 1 for share in shares):
        raise ValueError(
            f"spills: {level!r} must have pairs (bytes, share of them from the next level) with "
            f"growing sizes and shares from 0 to 1, not {pairs!r}"
        )
    return points


Rates: TypeAlias = Mapping[str, float]


def _none() -> Any:
    return field(default_factory=dict)


@dataclass(frozen=True)
class Machine:
    """Peaks (FLOP/s per dtype), bandwidths (byte/s per level and mix), capacities (bytes).

    Plain numbers do for all of them.

    Parameters
    ----------
    id : str
        A short name, such as "nvidia-h100-sxm".
    name : str, default ``id``
        The name that people read.
    kind : str, default "gpu"
        What it is: "gpu", "cpu" or "tpu".
    origin : {"datasheet", "measured"}, default "datasheet"
        Where the figures come from.
    recorded_on : str, optional
        When a measured machine was measured, as an ISO date or time.
    threads : int, optional
        CPU threads that it was measured with; none for a GPU or a datasheet.
    peaks : mapping of str to float, default none
        FLOP/s per number format. A plain number, or a Figure without a unit, counts for both
        units, vector and tensor.
    bandwidths : float or mapping of str to (float or mapping of str to float), default none
        Byte/s per level (l1, l2, l3, dram) and mix of reads and writes. One number for a level
        counts for all mixes; one number in all is that of the DRAM. HBM and GDDR are "dram".
    capacities : float or mapping of str to float, default none
        Bytes per level; one number is that of the DRAM.
    measured : mapping of str to float, default none
        Achieved figures, keyed like the peaks plus "bandwidth_bytes_per_s"; published ones for a
        catalogue machine.
    routines : mapping of str to dict, default none
        How this machine's library routines behave, for :func:`rooflab.predict`. Empty for a
        catalogue machine.
    backend : {"cpu", "gpu"}, default "cpu"
        Whose routines those are.
    spills : mapping of str to pairs of float, default none
        For each cache, pairs of a working set in bytes and the share of it, 0 to 1, that the next
        level serves. Empty for a catalogue machine.
    notes : tuple of str, default none
        What to know about how it was measured, such as which kind of core.

    Examples
    --------
    >>> mine = rl.Machine("mine", peaks={"bf16": 1e14}, bandwidths=1e12, capacities=80e9)
    >>> mine
    Machine(mine, datasheet: bf16 100 TFLOP/s; dram 1.00 TB/s)
    >>> rl.Roofline(mine, "bf16").ridge  # FLOP/byte
    100.0
    """

    id: str
    name: str = ""
    kind: str = "gpu"
    origin: str = "datasheet"
    recorded_on: str | None = None
    threads: int | None = None
    peaks: As[Rates, Mapping[str, Figure]] = _none()
    bandwidths: As[float | Mapping[str, float | Rates], Mapping[str, Mapping[str, Figure]]] = (
        _none()
    )
    capacities: As[float | Rates, Mapping[str, float]] = _none()
    measured: As[Rates, Mapping[str, Figure]] = _none()
    routines: Mapping[str, Routine] = _none()
    backend: str = "cpu"
    spills: Mapping[str, tuple[tuple[float, float], ...]] = _none()
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", self.name or self.id)
        object.__setattr__(self, "notes", tuple(self.notes))
        tables: dict[str, Mapping[str, object]] = {
            "routines": dict(self.routines),
            "spills": {where: _spill(where, pairs) for where, pairs in self.spills.items()},
            "capacities": amounts("capacities", self.capacities),
            "bandwidths": {
                where: figures(where, mixes if isinstance(mixes, Mapping) else {"read": mixes})
                for where, mixes in by_level("bandwidths", self.bandwidths).items()
            },
        }
        for name in ("peaks", "measured"):
            tables[name] = figures(name, by_format(name, getattr(self, name)))
        for name, table in tables.items():
            object.__setattr__(self, name, MappingProxyType(table))

    def __hash__(self) -> int:
        return hash((self.id, self.recorded_on, self.threads))  # a mapping proxy does not hash

    def __reduce__(self) -> tuple[object, ...]:
        return (Machine.from_dict, (self.to_dict(),))  # a mapping proxy does not pickle

    def __repr__(self) -> str:
        peaks = ", ".join(f"{key} {si(value, 'FLOP/s')}" for key, value in self.peaks.items())
        rates = ", ".join(
            f"{where} {si(max(mixes.values()), 'B/s')}" for where, mixes in self.bandwidths.items()
        )
        return f"Machine({self.id}, {self.provenance}: {peaks}; {rates})"

    @property
    def provenance(self) -> str:
        """One phrase that every picture prints: where the figures come from."""
        if self.origin == "datasheet":
            return "datasheet"
        return f"measured on {self.recorded_on[:10]}" if self.recorded_on else "measured"

    def peak(self, kind: DTypeLike, unit: str | None = None) -> Figure:
        """Peak of dtype ``kind`` in FLOP/s.

        ``unit``: "vector", "tensor", or None for the highest dense figure that accumulates in
        fp32 or wider. Formats of a family share a figure (fp8_e4m3 and fp8_e5m2: fp8; mxfp4 and
        nvfp4: fp4). Raises ValueError naming what is there when the machine has no such figure.
        """
        found = self._peaks_of(kind, unit)
        if found:
            return max(found)
        what = " ".join(filter(None, (str(as_dtype("dtype", kind)), unit, "peak")))
        there = [f"{key} ({f.unit})" if f.unit else key for key, f in self.peaks.items()]
        raise ValueError(f"{self.id} has no {what}; it has {', '.join(there) or 'none'}")

    def has_peak(self, kind: DTypeLike, unit: str | None = None) -> bool:
        """Whether :meth:`peak` would answer; an unknown dtype or unit is an error here too."""
        return bool(self._peaks_of(kind, unit))

    def _peaks_of(self, kind: DTypeLike, unit: str | None) -> list[Figure]:
        if unit is not None and unit not in UNITS:
            raise unknown("unit", unit, UNITS)
        family = as_dtype("dtype", kind).family
        keys = (family, f"{family}_vector", f"{family}_tensor")
        return [
            f
            for key, f in self.peaks.items()
            if key in keys and (unit is None or f.unit in (None, unit))
        ]

    def bandwidth(self, where: str = "dram", mix: str = "read") -> Figure:
        """Bandwidth of level ``where`` in byte/s for a ``mix`` of reads and writes.

        Mixes are "read", "axpy" (two reads to a write), "copy" (a read to a write) and "update" (a
        read to a write in place). A catalogue machine has one figure a level for all of them.
        "best" is the highest of those that are there: the roof that no operation can pass. Levels
        are l1, l2, l3 and dram; GPU memory (HBM, GDDR) is "dram".
        """
        where = level(where)
        if mix not in (*MIXES, "best"):
            raise unknown("mix", mix, (*MIXES, "best"))
        mixes = self.bandwidths.get(where)
        if not mixes:
            there = ", ".join(self.bandwidths) or "none"
            raise ValueError(f"{self.id} has no {where} bandwidth; levels with one: {there}")
        if mix == "best":
            return max(mixes.values())
        if mix in mixes:
            return mixes[mix]
        if self.origin == "datasheet":
            return next(iter(mixes.values()))
        raise ValueError(f"{self.id} has no {mix} bandwidth of {where}; it has {', '.join(mixes)}")

    @property
    def levels(self) -> tuple[str, ...]:
        """Levels that have a bandwidth, nearest first."""
        return tuple(name for name in LEVELS if name in self.bandwidths)

    def home(self, nbytes: float) -> str:
        """Nearest level with a bandwidth whose capacity holds ``nbytes`` bytes; else dram."""
        for name in self.levels:
            if name != "dram" and nbytes <= self.capacities.get(name, 0):
                return name
        return "dram"

    def to_dict(self) -> dict[str, object]:
        """Return everything as plain JSON data, in FLOP/s, byte/s and bytes."""
        return {
            "id": self.id, "name": self.name, "kind": self.kind, "origin": self.origin,
            "recorded_on": self.recorded_on, "threads": self.threads, "backend": self.backend,
            "peaks": {key: f.to_dict() for key, f in self.peaks.items()},
            "bandwidths": {
                where: {mix: f.to_dict() for mix, f in mixes.items()}
                for where, mixes in self.bandwidths.items()
            },
            "capacities": dict(self.capacities),
            "measured": {key: f.to_dict() for key, f in self.measured.items()},
            "routines": dict(self.routines),
            "spills": {
                where: [list(pair) for pair in pairs] for where, pairs in self.spills.items()
            },
            **({"notes": list(self.notes)} if self.notes else {}),
        }  # fmt: skip

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Machine:
        """Inverse of :meth:`to_dict`."""
        figures = {
            name: {key: Figure.from_dict(f) for key, f in data[name].items()}
            for name in ("peaks", "measured")
        }
        bandwidths = {
            where: {mix: Figure.from_dict(f) for mix, f in mixes.items()}
            for where, mixes in data["bandwidths"].items()
        }
        return cls(**{**data, **figures, "bandwidths": bandwidths})

    @classmethod
    def from_roofs(
        cls,
        roofs: Mapping[str, Any],
        *,
        id: str,
        name: str,
        routines: Mapping[str, Routine] | None = None,
    ) -> Machine:
        """Machine whose figures are the measured ``roofs``: plain JSON data of measure/roofs.py.

        Rates are in FLOP/s and byte/s, capacities in bytes, as those of a Machine are.
        """
        gpu = roofs["backend"] == "gpu"
        source = (f"measured {roofs['measured_on'][:10]}",)
        peaks = {
            key: Figure(entry["value"], source, entry.get("unit", "vector"), entry.get("note"))
            for key, entry in roofs["peak"].items()
        }
        bandwidths = {
            where: {
                mix: Figure(entry["value"], source, note=entry.get("note"))
                for mix, entry in mixes.items()
            }
            for where, mixes in roofs["bandwidth"].items()
        }
        dram = bandwidths.get("dram", {})
        best = {"bandwidth_bytes_per_s": max(dram.values())} if dram else {}
        return cls(
            id=id, name=name, kind="gpu" if gpu else "cpu", origin="measured",
            recorded_on=roofs["measured_on"], threads=roofs.get("threads"), peaks=peaks,
            bandwidths=bandwidths, capacities=roofs["capacity"], measured={**peaks, **best},
            routines=routines or {}, backend=roofs["backend"], spills=roofs.get("spill", {}),
            notes=roofs.get("notes", ()),
        )  # fmt: skip

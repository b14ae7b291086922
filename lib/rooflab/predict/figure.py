"""A figure of a machine, a rate in FLOP/s or byte/s: a number that knows where it comes from."""

from __future__ import annotations

import math
from collections.abc import Mapping
from numbers import Real

from rooflab.count.dtypes import as_dtype

# What people call the memory that this course calls dram.
_DRAM = ("hbm", "gddr", "vram", "ddr", "memory")


class Figure(float):
    """A float that knows where it comes from.

    ``source``: keys of the catalogue's sources (or "measured here"); ``unit``: for a peak, the
    execution unit ("vector" or "tensor"); ``note`` and ``derived`` say what to know about it.
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

    def to_dict(self) -> dict[str, object]:
        """Return value, source and whatever else is known, as plain data."""
        extra = {"unit": self.unit, "note": self.note, "derived": self.derived}
        return {
            "value": float(self),
            "source": list(self.source),
            **{key: text for key, text in extra.items() if text is not None},
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, object]) -> Figure:
        """Inverse of :meth:`to_dict`; unknown keys (samples, kernel) are ignored."""
        return cls(
            data["value"],
            tuple(data.get("source", ())),
            *(data.get(key) for key in ("unit", "note", "derived")),
        )


def figures(table: str, given: Mapping[str, float]) -> dict[str, Figure]:
    """``given`` with every rate as a Figure; a rate must be a positive finite number."""
    for key, rate in _mapping(table, given, "{'bf16': 1e14}").items():
        _positive(f"{table}[{key!r}]", rate, "rate, in FLOP/s or byte/s")
    return {k: rate if isinstance(rate, Figure) else Figure(rate) for k, rate in given.items()}


def by_format(table: str, given: Mapping[str, float]) -> dict[str, float]:
    """``given`` under the names of number formats as a machine lists them: bfloat16 is bf16, and
    fp8_e4m3 is of the family fp8. What names no format (``bf16_tensor``) is left as it is."""
    return {_listed(key): rate for key, rate in _mapping(table, given, "{'bf16': 1e14}").items()}


def _listed(key: str) -> str:
    try:
        return as_dtype("peak", key).family
    except (TypeError, ValueError):
        return key


def by_level(table: str, given: object) -> dict[str, object]:
    """``given`` for each level of memory; a lone number is that of DRAM, and HBM is DRAM too."""
    if isinstance(given, Real) and not isinstance(given, bool):
        given = {"dram": given}
    rows = _mapping(table, given, "{'dram': 1e12}")
    return {"dram" if str(key).lower() in _DRAM else key: value for key, value in rows.items()}


def amounts(table: str, given: object) -> dict[str, float]:
    """Capacities in bytes for each level, 0 where there is none of it; see :func:`by_level`."""
    rows = by_level(table, given)
    for key, amount in rows.items():
        if amount != 0:
            _positive(f"{table}[{key!r}]", amount, "number of bytes")
    return rows


def _mapping(table: str, given: object, such_as: str) -> Mapping[str, object]:
    if not isinstance(given, Mapping):
        raise TypeError(f"{table}={given!r} must be a mapping, such as {such_as}")
    return given


def _positive(what: str, number: object, kind: str) -> None:
    if isinstance(number, bool) or not isinstance(number, Real) or not 0 < number < math.inf:
        error = ValueError if isinstance(number, Real) else TypeError
        raise error(f"{what}={number!r} must be a positive {kind}")

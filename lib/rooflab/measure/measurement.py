"""A measurement: the samples, what they were taken of, where, and how far to trust them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np

from rooflab.count import Operation, si
from rooflab.count.validation import saved
from rooflab.measure.threads import with_threads
from rooflab.measure.timing import iqr

SCHEMA = 1
# What the entries of stored data must be, beside the operation, which checks itself.
_FITS: Mapping[str, Callable[[Any], bool]] = {
    "machine": lambda value: isinstance(value, str),
    "backend": lambda value: value in ("cpu", "gpu"),
    "cache": lambda value: value in ("cold", "warm"),
    "threads": lambda value: value is None or (type(value) is int and value > 0),
    "samples": lambda value: isinstance(value, Sequence) and {*map(type, value)} <= {int, float},
    "warnings": lambda value: isinstance(value, (list, tuple)) and {*map(type, value)} <= {str},
    "environment": lambda value: isinstance(value, Mapping),
}


@dataclass(frozen=True, repr=False)
class Measurement:
    """Seconds per call of one operation on one machine, as :func:`rooflab.measure` returns them.

    Attributes
    ----------
    op : Operation
        What was timed.
    machine : str
        Id of the host, or of its GPU.
    backend : {"cpu", "gpu"}
        Where it ran.
    cache : {"cold", "warm"}
        Whether the caches were emptied of the operands before a call.
    threads : int or None
        CPU threads; None on a GPU.
    samples : tuple of float
        Seconds per call, one entry a sample.
    warnings : tuple of str
        What to distrust, in words.
    environment : Mapping
        The machine, the kernel and the clock, as plain data. On a CPU also "page_faults" a call,
        and "new_bytes", the size of their pages, where the system counts the faults of a thread.
    median_s, iqr_s : float
        Median and interquartile range of the samples, seconds.
    flop_per_s, byte_per_s : float
        The ledger's FLOP and bytes over the median. The bytes are the minimum traffic.

    Examples
    --------
    >>> rl.Measurement(rl.axpy(10**6), "my-laptop", "cpu", "cold", 1, (1.0e-3, 1.2e-3, 1.1e-3))
    axpy 1000000 fp32 on my-laptop (cpu, cold, 1 thread): 1.10 ms, IQR 9.1 %, n = 3
      1.82 GFLOP/s, 10.9 GB/s · no warnings
    """

    op: Operation
    machine: str
    backend: str
    cache: str
    threads: int | None
    samples: tuple[float, ...]
    warnings: tuple[str, ...] = ()
    environment: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "samples", tuple(float(s) for s in self.samples))
        object.__setattr__(self, "warnings", tuple(self.warnings))
        object.__setattr__(self, "environment", MappingProxyType(dict(self.environment)))
        if not self.samples or not all(0 < s < float("inf") for s in self.samples):
            raise ValueError(f"samples={self.samples!r} must be positive seconds, one at least")

    def __reduce__(self) -> tuple[object, ...]:
        return (Measurement.from_dict, (self.to_dict(),))  # a mapping proxy does not pickle

    @property
    def median_s(self) -> float:
        """Median seconds per call."""
        return float(np.median(self.samples))

    @property
    def iqr_s(self) -> float:
        """Interquartile range of the samples in seconds."""
        return iqr(self.samples)

    @property
    def flop_per_s(self) -> float:
        """FLOP of the ledger over median seconds."""
        return self.op.flops / self.median_s

    @property
    def byte_per_s(self) -> float:
        """Bytes of the ledger (the minimum traffic) over median seconds."""
        return self.op.bytes / self.median_s

    def __repr__(self) -> str:
        how = with_threads(f"{self.backend}, {self.cache}", self.threads)
        spread = 100 * self.iqr_s / self.median_s
        warned = "; ".join(" ".join(text.split()) for text in self.warnings)
        first = (
            f"{self.op.label} on {self.machine} ({how}): "
            f"{si(self.median_s, 's')}, IQR {spread:.1f} %, n = {len(self.samples)}"
        )
        second = (
            f"  {si(self.flop_per_s, 'FLOP/s')}, {si(self.byte_per_s, 'B/s')} · "
            f"{f'warning: {warned}' if warned else 'no warnings'}"
        )
        return f"{first}\n{second}"

    def to_dict(self) -> dict[str, Any]:
        """Return the measurement as plain JSON data, with the version of its schema."""
        data = {name: getattr(self, name) for name in _FITS}
        data |= {"samples": list(self.samples), "warnings": list(self.warnings)}
        data["environment"] = dict(self.environment)
        return {"schema": SCHEMA, "op": self.op.to_dict(), **data}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Measurement:
        """Inverse of :meth:`to_dict`; raises ValueError for another schema and a missing or
        impossible entry."""
        data = saved(data, "measurement", SCHEMA, ("op", *_FITS))
        for name, fits in _FITS.items():
            if not fits(data[name]):
                raise ValueError(f"data: {name}={data[name]!r} cannot be that of a measurement")
        return cls(Operation.from_dict(data["op"]), **{name: data[name] for name in _FITS})

"""The roofline: the bound that a machine's peak and bandwidth put on an operation.

Williams, Waterman, Patterson, "Roofline: an insightful visual performance model", CACM 52(4),
2009. Nothing here is fitted, and no overhead is added: time = max(FLOPs/peak, bytes/bandwidth).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from rooflab.count.dtypes import DTypeLike, dtype
from rooflab.count.operation import Operation, as_operation, as_timeable, level
from rooflab.count.validation import amount
from rooflab.predict.catalogue import machine as _machine
from rooflab.predict.machine import Machine


@dataclass(frozen=True)
class Roofline:
    """Roofline of machine ``m`` for ``dtype``, its slanted roof being memory ``level``.

    Parameters
    ----------
    m : Machine or str
        The machine, or its name in the catalogue.
    dtype : str, DType or a dtype of NumPy or PyTorch
        Format whose peak is the flat roof.
    level : {"dram", "l3", "l2", "l1"}, default "dram"
        Memory whose bandwidth is the slanted roof.
    unit : {"vector", "tensor"}, optional
        Unit of the peak; by default the one with the highest, see :meth:`Machine.peak`.
    mix : {"read", "axpy", "copy", "update", "best"}, default "read"
        Mix of reads and writes of the bandwidth, see :meth:`Machine.bandwidth`.

    Examples
    --------
    >>> r = rl.Roofline("h100-sxm", "bf16")
    >>> round(r.ridge, 1)  # FLOP/byte
    295.3
    >>> r.attainable(10) / 1e12  # TFLOP/s at 10 FLOP/byte
    33.5
    >>> r.limit(rl.gemv(4096, 4096, "bf16"))
    'memory'
    """

    m: Machine | str
    dtype: DTypeLike
    level: str = "dram"
    unit: str | None = None
    mix: str = "read"

    def __post_init__(self) -> None:
        object.__setattr__(self, "m", _machine(self.m))
        object.__setattr__(self, "dtype", dtype(self.dtype))
        object.__setattr__(self, "level", level(self.level))
        self.machine.peak(self.dtype, self.unit)  # a missing figure is told now, not at first use
        self.machine.bandwidth(self.level, self.mix)

    @property
    def machine(self) -> Machine:
        """The machine, also where ``m`` was given as a name."""
        return _machine(self.m)

    @property
    def peak(self) -> float:
        """Flat roof in FLOP/s."""
        return self.machine.peak(self.dtype, self.unit)

    @property
    def bandwidth(self) -> float:
        """Slope of the slanted roof in byte/s."""
        return self.machine.bandwidth(self.level, self.mix)

    @property
    def ridge(self) -> float:
        """Intensity in FLOP/byte at which the two roofs meet."""
        return self.peak / self.bandwidth

    def attainable(self, intensity: float) -> float:
        """Highest rate in FLOP/s at ``intensity`` FLOP/byte (0 or more)."""
        right = "a number of FLOP/byte, 0 or more"
        amount("intensity", intensity, right, zero=True, most=math.inf)
        return self.peak if intensity >= self.ridge else intensity * self.bandwidth

    def time(self, op: Operation) -> float:
        """Shortest time of ``op`` in seconds: the slower of computing and carrying."""
        as_timeable("op", op)
        return max(op.flops / self.peak, op.bytes_at(self.level) / self.bandwidth)

    def limit(self, op: Operation) -> str:
        """Return "memory" if the intensity of ``op`` is below the ridge, else "compute"."""
        as_operation("op", op)
        return "memory" if op.intensity_at(self.level) < self.ridge else "compute"


@dataclass(frozen=True)
class HierarchicalRoofline:
    """One roof a memory level of machine ``m``: the time is the slowest of all of them.

    Each level carries its own traffic (:meth:`Operation.with_traffic`); where none is stated the
    ledger's minimum is taken. A level whose bandwidth the machine does not have is left out, which
    keeps the time a lower bound.

    Parameters
    ----------
    m : Machine or str
        The machine, or its name in the catalogue.
    dtype : str, DType or a dtype of NumPy or PyTorch
        Format whose peak is the flat roof.
    unit : {"vector", "tensor"}, optional
        Unit of the peak; by default the one with the highest, see :meth:`Machine.peak`.
    mix : {"read", "axpy", "copy", "update", "best"}, default "read"
        Mix of reads and writes of every bandwidth, see :meth:`Machine.bandwidth`.

    Examples
    --------
    >>> m = rl.Machine("two levels", peaks={"fp32": 1e12}, bandwidths={"l2": 1e12, "dram": 1e11})
    >>> op = rl.axpy(1000).with_traffic({"l2": 240_000})  # an L2 that carries 20 times the minimum
    >>> roofs = rl.HierarchicalRoofline(m, "fp32")
    >>> roofs.time(op), roofs.limiting_level(op)
    (2.4e-07, 'l2')
    """

    m: Machine | str
    dtype: DTypeLike
    unit: str | None = None
    mix: str = "read"

    def __post_init__(self) -> None:
        object.__setattr__(self, "m", _machine(self.m))
        object.__setattr__(self, "dtype", dtype(self.dtype))
        levels = _machine(self.m).levels
        if not levels:
            raise ValueError(f"{_machine(self.m).id} has no memory level with a bandwidth")
        for name in levels:
            Roofline(self.m, self.dtype, name, self.unit, self.mix)

    def times(self, op: Operation) -> dict[str, float]:
        """Seconds that computing ("compute") and each level would take on its own."""
        m, op = _machine(self.m), as_timeable("op", op)
        carrying = {name: op.bytes_at(name) / m.bandwidth(name, self.mix) for name in m.levels}
        return {"compute": op.flops / m.peak(self.dtype, self.unit), **carrying}

    def time(self, op: Operation) -> float:
        """Shortest time of ``op`` in seconds."""
        return max(self.times(op).values())

    def limiting_level(self, op: Operation) -> str:
        """Return the level that takes longest (l1, l2, l3, dram), or "compute"."""
        times = self.times(op)
        return max(times, key=times.__getitem__)

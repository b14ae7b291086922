"""The energy roofline: joules a FLOP over intensity, an arch where the time's roofline has a bend.

J. W. Choi, D. Bedard, R. Fowler, R. Vuduc, "A roofline model of energy", IPDPS 2013. An algorithm
of W FLOP and Q bytes needs the energy

    E = W ε_flop + Q ε_mem + π₀ T,    T = max(W τ_flop, Q τ_mem).

Its times overlap, so the longer one is the time. Its energies add up, so there is no bend: at the
energy balance B_ε = ε_mem / ε_flop both cost the same, and half of the best efficiency is reached.
The constant power π₀ is paid as long as it takes, and that bends the arch a little.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from rooflab.count.dtypes import DTypeLike
from rooflab.count.operation import Operation, as_timeable
from rooflab.count.si import plain, si
from rooflab.labs.memory.energies.bill import ARITHMETIC, CONSTANT, Energy
from rooflab.labs.memory.energies.table import EnergyTable, energy_table
from rooflab.predict.machine import Machine
from rooflab.predict.roofline import Roofline


@dataclass(frozen=True)
class EnergyRoofline:
    """Joules a FLOP over intensity.

    ``per_flop`` is ε_flop, joules of half a multiply-add; ``per_byte`` is ε_mem. ``watts`` is π₀,
    power that is paid however little is done; it needs ``peak`` and ``bandwidth``, whose inverses
    are τ_flop and τ_mem.

    >>> arch = rl.memory.EnergyRoofline(25e-12, 360e-12)
    >>> round(arch.balance, 6)  # FLOP/byte
    14.4
    >>> arch.efficiency(arch.balance) == arch.best / 2
    True
    """

    per_flop: float
    per_byte: float
    watts: float = 0.0
    peak: float | None = None
    bandwidth: float | None = None
    name: str = ""

    def __post_init__(self) -> None:
        for key in ("per_flop", "per_byte", "peak", "bandwidth"):
            value = getattr(self, key)
            if value is not None or key.startswith("per"):
                _number(key, value, above=True)
        _number("watts", self.watts)
        if self.watts and (self.peak is None or self.bandwidth is None):
            raise ValueError(
                f"watts={self.watts!r} is paid for a time; peak= and bandwidth= say for how long"
            )

    @property
    def balance(self) -> float:
        """The energy balance B_ε in FLOP/byte: there bytes and FLOPs cost the same."""
        return self.per_byte / self.per_flop

    @property
    def time_balance(self) -> float:
        """The ridge B_τ of the time's roofline in FLOP/byte; infinity where no rates are known."""
        if self.peak is None or self.bandwidth is None:
            return math.inf
        return self.peak / self.bandwidth

    @property
    def best(self) -> float:
        """FLOP a joule that no intensity surpasses."""
        return 1 / (self.per_flop + self._constant)

    @property
    def _constant(self) -> float:
        """Joules of constant power in the time of a FLOP at the peak: ε₀ = π₀ τ_flop."""
        return self.watts / self.peak if self.peak is not None else 0.0

    def joules_per_flop(self, intensity: Any) -> Any:
        """Joules a FLOP at an ``intensity`` in FLOP/byte, or at an array of them."""
        at = _intensity(intensity)
        with np.errstate(divide="ignore"):
            late = np.maximum(1.0, self.time_balance / at) if self.watts else 1.0
            found = self.per_flop + self.per_byte / at + self._constant * late
        return float(found) if np.ndim(found) == 0 else found

    def efficiency(self, intensity: Any) -> Any:
        """FLOP a joule at an ``intensity`` in FLOP/byte, or at an array of them."""
        found = 1 / np.asarray(self.joules_per_flop(intensity))
        return float(found) if found.ndim == 0 else found

    def power(self, intensity: Any) -> Any:
        """Watts at an ``intensity``, if it runs as fast as the time's roofline allows."""
        if self.peak is None or self.bandwidth is None:
            raise ValueError("peak and bandwidth are not known, so nothing says how long it takes")
        rate = np.minimum(self.peak, _intensity(intensity) * self.bandwidth)
        found = rate * np.asarray(self.joules_per_flop(intensity))
        return float(found) if found.ndim == 0 else found

    def energy(self, op: Operation) -> Energy:
        """The bill of ``op``: its minimum bytes, its arithmetic, and constant power if any."""
        as_timeable("op", op)
        moved = op.bytes_at("dram")
        parts = {"dram": moved * self.per_byte, ARITHMETIC: op.flops * self.per_flop}
        if self.watts and self.peak is not None and self.bandwidth is not None:
            seconds = max(op.flops / self.peak, moved / self.bandwidth)
            parts[CONSTANT] = self.watts * seconds
        return Energy(parts, op.flops, op.label, self.name)

    def __repr__(self) -> str:
        called = f"{self.name}: " if self.name else ""
        constant = f", {si(self.watts, 'W')} always" if self.watts else ""
        return (
            f"<EnergyRoofline {called}{si(self.per_flop, 'J')} a FLOP, {si(self.per_byte, 'J')} "
            f"a byte{constant}; balance at {plain(self.balance, 3)} FLOP/byte>"
        )


def energy_roofline(
    table: str | EnergyTable = "horowitz-45nm",
    dtype: DTypeLike = "fp32",
    *,
    level: str = "dram",
    memory: str | float | None = None,
    machine: Machine | str | None = None,
    watts: float = 0.0,
) -> EnergyRoofline:
    """Return the energy roofline of a table of energies.

    Parameters
    ----------
    table : str or EnergyTable, default "horowitz-45nm"
        What a byte and a multiply-add cost, see :func:`energy_tables`.
    dtype : str, DType or a dtype of NumPy or PyTorch, default "fp32"
        Format that is computed in.
    level : {"dram", "l3", "l2", "l1"}, default "dram"
        Memory whose bytes are paid.
    memory : str or float, optional
        Another DRAM than the table's, as in :func:`energy`.
    machine : Machine or str, optional
        Whose peak and bandwidth say how long something takes. Constant power needs it.
    watts : float, default 0
        Constant power: what is paid for every second, whatever is done.

    Returns
    -------
    EnergyRoofline
        ``balance``, ``joules_per_flop(intensity)``, ``efficiency(intensity)``.

    Examples
    --------
    >>> rl.memory.energy_roofline("horowitz-45nm")
    <EnergyRoofline horowitz-45nm fp32: 2.30 pJ a FLOP, 163 pJ a byte; balance at 70.7 FLOP/byte>
    """
    costs = energy_table(table)
    if memory is not None:
        costs = costs.with_memory(memory)
    _number("watts", watts)
    if watts and machine is None:
        raise ValueError(f"watts={watts!r} is paid for a time; machine= says how long that is")
    roof = None if machine is None else Roofline(machine, dtype, level)
    return EnergyRoofline(
        costs.per_operation(dtype) / 2, costs.per_byte(level), watts,
        None if roof is None else roof.peak, None if roof is None else roof.bandwidth,
        f"{costs.id} {dtype}",
    )  # fmt: skip


def _number(name: str, value: object, *, above: bool = False) -> None:
    """Refuse what is no finite number of 0 or more; ``above``: 0 is refused too."""
    right = "a positive number" if above else "a number, 0 or more"
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name}={value!r} must be {right}")
    if not 0 <= float(value) < math.inf or (above and value == 0):
        raise ValueError(f"{name}={value!r} must be {right}")


def _intensity(value: float | Sequence[float] | np.ndarray) -> np.ndarray:
    try:
        found = np.asarray(value, float)
    except (TypeError, ValueError):
        raise TypeError(f"intensity={value!r} must be a number of FLOP/byte, or several") from None
    if not (found > 0).all():
        raise ValueError(f"intensity={value!r} must be above 0 FLOP/byte")
    return found

"""The energy roofline: joules a FLOP over intensity, an arch where the time's roofline has a bend.

J. W. Choi, D. Bedard, R. Fowler, R. Vuduc, "A roofline model of energy", IPDPS 2013. An algorithm
of W FLOP and Q bytes needs the energy

    E = W ε_flop + Q ε_mem,

and their constant power is left out here. Times overlap, so the longer one counts. Energies add up,
so there is no bend: at the energy balance B_ε = ε_mem / ε_flop both cost the same, and half of the
best efficiency is reached.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rooflab.count.dtypes import DTypeLike
from rooflab.count.si import plain, si
from rooflab.count.validation import amount
from rooflab.labs.memory.energies.table import EnergyTable, energy_table
from rooflab.predict.machine import Machine
from rooflab.predict.roofline import Roofline


@dataclass(frozen=True)
class EnergyRoofline:
    """Joules a FLOP over intensity.

    ``per_flop`` is ε_flop, joules of half a multiply-add; ``per_byte`` is ε_mem. ``peak`` and
    ``bandwidth`` are those of a machine.

    >>> arch = rl.memory.EnergyRoofline(25e-12, 360e-12)
    >>> round(arch.balance, 6)  # FLOP/byte
    14.4
    >>> arch.efficiency(arch.balance) == arch.best / 2
    True
    """

    per_flop: float
    per_byte: float
    peak: float | None = None
    bandwidth: float | None = None
    name: str = ""

    def __post_init__(self) -> None:
        for key in ("per_flop", "per_byte", "peak", "bandwidth"):
            value = getattr(self, key)
            if value is not None or key.startswith("per"):
                amount(key, value, "a positive number")

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
        return 1 / self.per_flop

    def joules_per_flop(self, intensity: Any) -> Any:
        """Joules a FLOP at an ``intensity`` in FLOP/byte, or at an array of them."""
        found = self.per_flop + self.per_byte / _intensity(intensity)
        return float(found) if np.ndim(found) == 0 else found

    def efficiency(self, intensity: Any) -> Any:
        """FLOP a joule at an ``intensity`` in FLOP/byte, or at an array of them."""
        return 1 / self.joules_per_flop(intensity)

    def __repr__(self) -> str:
        called = f"{self.name}: " if self.name else ""
        return (
            f"<EnergyRoofline {called}{si(self.per_flop, 'J')} a FLOP, {si(self.per_byte, 'J')} "
            f"a byte; balance at {plain(self.balance, 3)} FLOP/byte>"
        )


def energy_roofline(
    table: str | EnergyTable = "horowitz-45nm",
    dtype: DTypeLike = "fp32",
    *,
    machine: Machine | str | None = None,
) -> EnergyRoofline:
    """Return the energy roofline of a table of energies.

    Parameters
    ----------
    table : str or EnergyTable, default "horowitz-45nm"
        What a byte and a multiply-add cost, see :func:`energy_tables`.
    dtype : str, DType or a dtype of NumPy or PyTorch, default "fp32"
        Format that is computed in.
    machine : Machine or str, optional
        Whose peak and bandwidth say how long something takes.

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
    roof = None if machine is None else Roofline(machine, dtype, "dram")
    peak, bandwidth = (roof.peak, roof.bandwidth) if roof else (None, None)
    flop, byte = costs.per_operation(dtype) / 2, costs.per_byte("dram")
    return EnergyRoofline(flop, byte, peak, bandwidth, f"{costs.id} {dtype}")


def _intensity(value: float | Sequence[float] | np.ndarray) -> np.ndarray:
    try:
        found = np.asarray(value, float)
    except (TypeError, ValueError):
        raise TypeError(f"intensity={value!r} must be a number of FLOP/byte, or several") from None
    if not (found > 0).all():
        raise ValueError(f"intensity={value!r} must be above 0 FLOP/byte")
    return found

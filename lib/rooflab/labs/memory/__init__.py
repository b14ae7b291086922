"""Memory: where data lies, and what it costs in time and in energy to fetch it from there."""

from __future__ import annotations

import importlib

from rooflab.optional import installed

_HOME = {
    **dict.fromkeys(("Energy", "energy", "energy_of"), "rooflab.labs.memory.energies.bill"),
    **dict.fromkeys(
        ("EnergyTable", "energy_table", "energy_tables", "energy_memories"),
        "rooflab.labs.memory.energies.table",
    ),
    **dict.fromkeys(("EnergyRoofline", "energy_roofline"), "rooflab.labs.memory.energies.roofline"),
    **dict.fromkeys(("Joules", "joules"), "rooflab.labs.memory.energies.meter"),
    "energy_bars": "rooflab.labs.memory.energies.picture",
}
__all__ = [*_HOME]


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module 'rooflab.labs.memory' has no attribute {name!r}")
    with installed(f"rooflab.memory.{name}"):
        return getattr(importlib.import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])

"""Memory: where data lies, and what it costs in time and in energy to fetch it from there."""

from __future__ import annotations

import importlib
import sys
from types import ModuleType

from rooflab.optional import installed

_HOME = {
    **dict.fromkeys(("Bandwidths", "bandwidths"), "rooflab.labs.memory.bandwidths"),
    **dict.fromkeys(("Concurrency", "concurrency"), "rooflab.labs.memory.concurrency"),
    **dict.fromkeys(("Mountain", "mountain"), "rooflab.labs.memory.mountain"),
    **dict.fromkeys(("Energy", "energy", "energy_of"), "rooflab.labs.memory.energies.bill"),
    **dict.fromkeys(
        ("EnergyTable", "energy_table", "energy_tables", "energy_memories"),
        "rooflab.labs.memory.energies.table",
    ),
    **dict.fromkeys(("EnergyRoofline", "energy_roofline"), "rooflab.labs.memory.energies.roofline"),
    **dict.fromkeys(("Joules", "joules"), "rooflab.labs.memory.energies.meter"),
    "energy_arch": "rooflab.labs.memory.energies.arch",
    "energy_bars": "rooflab.labs.memory.energies.picture",
}
__all__ = [*_HOME]


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module 'rooflab.memory' has no attribute {name!r}")
    with installed(f"rooflab.memory.{name}"):
        found = getattr(importlib.import_module(_HOME[name]), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])


class _Lab(ModuleType):
    """The lab, in which ``rl.memory.mountain`` stays the function when its module loads."""

    def __setattr__(self, name: str, value: object) -> None:
        if not (name in _HOME and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Lab

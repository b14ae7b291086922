"""Memory: where data lies, and what it costs in time and in energy to fetch it from there."""

from __future__ import annotations

from rooflab.lazy import attach

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
__getattr__, __dir__, __all__ = attach(__name__, _HOME)

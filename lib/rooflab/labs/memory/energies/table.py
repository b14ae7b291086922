"""Published energies of operations and accesses, each with its source (energy.yaml).

A table belongs to one process node. Its figures are joules of an addition and a multiplication in a
number format, joules a byte at each level of memory, and joules of what a processor does for every
instruction besides the arithmetic.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from types import MappingProxyType
from typing import Any

from rooflab.count.dtypes import DTypeLike, as_dtype
from rooflab.count.operation import level as _level
from rooflab.count.si import si
from rooflab.count.validation import amount, unknown
from rooflab.predict.catalogue import tables
from rooflab.predict.machine import Figure

KINDS = ("fma", "add", "mult")
_PJ = 1e-12


@dataclass(frozen=True)
class EnergyTable:
    """What an operation and a byte cost in joules, in one technology.

    ``levels`` are joules a byte at l1, l2, l3 and dram, which is needed; ``operations`` number
    format → joules of an "add" and of a "mult"; ``instruction`` joules of one besides its
    arithmetic; ``caches`` bytes of a cache → joules a byte, for the sizes that were published.

    >>> fp32 = {"add": 1e-12, "mult": 3e-12}
    >>> mine = rl.memory.EnergyTable("mine", {"dram": 1e-10}, {"fp32": fp32})
    >>> mine.per_operation("fp32") * 1e12  # pJ of a multiply-add
    4.0
    """

    id: str
    levels: Mapping[str, float]
    operations: Mapping[str, Mapping[str, float]]
    instruction: float | None = None
    name: str = ""
    caches: Mapping[int, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        levels = {
            _level(key): _figure(f"levels[{key!r}]", value)
            for key, value in _rows("levels", self.levels).items()
        }
        if "dram" not in levels:
            raise ValueError(f"levels={dict(self.levels)!r} has no dram, where all bytes come from")
        operations = {
            as_dtype("operations", key).family: _kinds(key, row)
            for key, row in _rows("operations", self.operations).items()
        }
        if self.instruction is not None:
            object.__setattr__(self, "instruction", _figure("instruction", self.instruction))
        object.__setattr__(self, "name", self.name or self.id)
        for key, value in (("levels", levels), ("operations", operations), ("caches", self.caches)):
            object.__setattr__(self, key, MappingProxyType(dict(value)))

    def per_byte(self, level: str) -> float:
        """Joules a byte at ``level``; ValueError if the table does not have it."""
        key = _level(level)
        if key not in self.levels:
            known = ", ".join(self.levels)
            raise ValueError(f"level={level!r}: {self.id} has no figure for it, only for {known}")
        return self.levels[key]

    def per_operation(self, dtype: DTypeLike, kind: str = "fma") -> float:
        """Joules of an operation in ``dtype``; a multiply-add costs what its two parts cost.

        ``kind`` is "fma", "add" or "mult". ValueError if the table lacks the format or the kind.
        """
        if kind not in KINDS:
            raise unknown("kind", kind, KINDS)
        key = as_dtype("dtype", dtype).family
        if key not in self.operations:
            known = ", ".join(self.operations)
            raise ValueError(f"dtype={key!r}: {self.id} has no figure for it, only for {known}")
        row = self.operations[key]
        wanted = ("add", "mult") if kind == "fma" else (kind,)
        for one in wanted:
            if one not in row:
                raise ValueError(f"kind={kind!r}: {self.id} has no figure for {one} in {key}")
        return sum(row[one] for one in wanted)

    def with_memory(self, memory: str | float) -> EnergyTable:
        """Return the table with another DRAM: one of :func:`energy_memories`, or joules a byte."""
        if isinstance(memory, str):
            known = energy_memories()
            if memory.strip().lower() not in known:
                raise unknown("memory", memory, known)
            cost: float = known[memory.strip().lower()]
        else:
            cost = _figure("memory", memory)
        return replace(self, levels={**self.levels, "dram": cost})

    def __repr__(self) -> str:
        rows = [f"<EnergyTable {self.id}: {self.name}"]
        rows += [f"  {key:<6}{si(cost, 'J')} a byte" for key, cost in self.levels.items()]
        for key, row in self.operations.items():
            costs = ", ".join(f"{kind} {si(cost, 'J')}" for kind, cost in row.items())
            rows.append(f"  {key:<6}{costs}")
        if self.instruction is not None:
            rows.append(f"  an instruction {si(self.instruction, 'J')}")
        return "\n".join(rows) + ">"


def _rows(argument: str, given: object) -> Mapping[Any, Any]:
    if not isinstance(given, Mapping) or not given:
        raise TypeError(f"{argument}={given!r} must be a mapping with at least one entry")
    return given


def _kinds(dtype: str, row: object) -> Mapping[str, Figure]:
    """The joules of an addition and a multiplication in ``dtype``; either may be missing."""
    found = {}
    for kind, cost in _rows(f"operations[{dtype!r}]", row).items():
        if kind not in KINDS[1:]:
            raise unknown(f"operations[{dtype!r}]", kind, KINDS[1:])
        found[kind] = _figure(f"operations[{dtype!r}][{kind!r}]", cost)
    return MappingProxyType(found)


def _figure(argument: str, value: object) -> Figure:
    """``value`` in joules as a Figure."""
    joules = amount(argument, value, "a positive number of joules")
    return value if isinstance(value, Figure) else Figure(joules)


# The tables of energy.yaml.


@cache
def energy_tables() -> Mapping[str, EnergyTable]:
    """Return the published tables of energy.yaml: id → EnergyTable, the oldest node first.

    >>> list(rl.memory.energy_tables())
    ['horowitz-45nm', 'rounded-45nm', 'tpuv4i-7nm']
    """
    rows = tables("labs.memory.energies", "energy")["tables"]
    return MappingProxyType({row["id"]: _table(row) for row in rows})


@cache
def energy_memories() -> Mapping[str, Figure]:
    """Return joules a byte of kinds of DRAM, by name; ``note`` has a published range.

    >>> hbm2 = rl.memory.energy_memories()["hbm2"]
    >>> round(hbm2 * 1e12 / 8, 2)  # pJ a bit
    3.92
    """
    rows = tables("labs.memory.energies", "energy")["memories"]
    return MappingProxyType({key: _per_byte(row, row["name"]) for key, row in rows.items()})


def energy_table(name: str | EnergyTable = "horowitz-45nm") -> EnergyTable:
    """Return the published table ``name``.

    Parameters
    ----------
    name : str or EnergyTable, default "horowitz-45nm"
        One of :func:`energy_tables`. An EnergyTable is returned as it is.

    Returns
    -------
    EnergyTable
        Its figures in joules.

    Examples
    --------
    >>> table = rl.memory.energy_table("horowitz-45nm")
    >>> round(table.per_byte("dram") / table.per_byte("l1"))  # DRAM against a cache of 32 KiB
    65
    """
    if isinstance(name, EnergyTable):
        return name
    if not isinstance(name, str):
        raise TypeError(f"table={name!r} must be the name of a table or an EnergyTable")
    known = energy_tables()
    if name.strip().lower() not in known:
        raise unknown("table", name, known)
    return known[name.strip().lower()]


def _table(row: Mapping[str, Any]) -> EnergyTable:
    caches = {one["bytes"]: _per_byte(one, one.get("note")) for one in row["caches"]}
    levels = {key: caches[size] for key, size in row["levels"].items()}
    levels["dram"] = _per_byte(row["dram"], row["dram"].get("note"))
    operations = {
        dtype: {kind: _joules(one) for kind, one in kinds.items()}
        for dtype, kinds in row["operations"].items()
    }
    instruction = _joules(row["instruction"]) if "instruction" in row else None
    return EnergyTable(row["id"], levels, operations, instruction, row["name"], caches)


def _joules(entry: Mapping[str, Any]) -> Figure:
    return Figure(entry["pj"] * _PJ, tuple(entry["source"]), note=entry.get("note"))


def _per_byte(entry: Mapping[str, Any], note: str | None) -> Figure:
    """Joules a byte of an entry whose figure is for so many bits."""
    if "range" in entry:
        low, high = entry["range"]
        said = f"published as {low} to {high} pJ for {entry['bits']} bits; this is the lower end"
        note = f"{note}: {said}" if note else said
    return Figure(entry["pj"] * _PJ * 8 / entry["bits"], tuple(entry["source"]), note=note)

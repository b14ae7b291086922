"""The energy bill of an operation: what its bytes, its arithmetic and its instructions cost.

Energy adds up where time overlaps: bytes at a level × joules a byte, over all levels, plus
operations × joules of one, plus instructions × joules of one. The model is that of M. Horowitz,
"Computing's energy problem", ISSCC 2014. It knows no leakage, no clock and no idle part of a chip,
so a real machine needs more.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from rooflab.count.operation import LEVELS, Operation, as_timeable
from rooflab.count.operation import level as _level
from rooflab.count.si import percent, si
from rooflab.count.validation import size, unknown
from rooflab.labs.memory.energies.table import KINDS, EnergyTable, energy_table

ARITHMETIC, INSTRUCTIONS = "arithmetic", "instructions"
#: The parts of a bill in the order in which they are told: far memory first.
PARTS = (*reversed(LEVELS), ARITHMETIC, INSTRUCTIONS)


@dataclass(frozen=True)
class Energy:
    """An energy bill in joules, by what it is paid for.

    ``parts`` are joules of the bytes at dram, l3, l2 and l1, of "arithmetic" and of "instructions";
    ``flops`` were done for it, a fused multiply-add counting 2.

    >>> bill = rl.memory.energy(rl.gemv(4096, 4096))
    >>> sum(bill.parts.values()) == bill.joules
    True
    """

    parts: Mapping[str, float]
    flops: int
    label: str = "energy"
    table: str = ""

    def __post_init__(self) -> None:
        for name, joules in self.parts.items():
            if name not in PARTS:
                raise unknown("parts", name, PARTS)
            if not joules >= 0:
                raise ValueError(
                    f"parts[{name!r}]={joules!r} must be a number of joules, 0 or more"
                )
        told = {name: self.parts[name] for name in PARTS if name in self.parts}
        object.__setattr__(self, "parts", MappingProxyType(told))

    @property
    def joules(self) -> float:
        """All of it."""
        return sum(self.parts.values())

    @property
    def share_of_movement(self) -> float:
        """The share of all joules that moved data, from 0 to 1; 0 where nothing was paid."""
        moved = sum(joules for name, joules in self.parts.items() if name in LEVELS)
        return moved / self.joules if self.joules else 0.0

    @property
    def per_flop(self) -> float:
        """Joules a FLOP; infinity where no arithmetic was done."""
        return self.joules / self.flops if self.flops else math.inf

    def share(self, part: str) -> float:
        """The share of one part, from 0 to 1; 0 for one that is not paid."""
        if part not in PARTS:
            raise unknown("part", part, PARTS)
        return self.parts.get(part, 0.0) / self.joules if self.joules else 0.0

    def __str__(self) -> str:
        each = f", {si(self.per_flop, 'J')} a FLOP" if self.flops else ""
        moved = share_text(self.share_of_movement)
        return f"{self.label}: {si(self.joules, 'J')}{each}, {moved} of it for moving data"

    def __repr__(self) -> str:
        rows = [f"{self} ({self.table})" if self.table else str(self)]
        for name, joules in self.parts.items():
            rows.append(f"  {name:<15}{si(joules, 'J'):>9}  {share_text(self.share(name)):>7}")
        return "\n".join(rows)


def share_text(share: float) -> str:
    """A share of one in percent; one that is nearly all keeps what it lacks: ``"99.95 %"``."""
    return f"{100 * share:.4g} %" if 0.995 <= share < 1 else percent(share)


def energy(
    op: Operation,
    table: str | EnergyTable = "horowitz-45nm",
    *,
    traffic: Mapping[str, float] | None = None,
    operands: str | None = None,
    arithmetic: str = "fma",
    lanes: int | None = None,
) -> Energy:
    """Return what ``op`` costs in joules, by level of memory, arithmetic and instructions.

    Parameters
    ----------
    op : Operation
        What is done, such as ``rl.gemm(1024, 1024, 1024)``.
    table : str or EnergyTable, default "horowitz-45nm"
        What bytes and operations cost, see :func:`energy_tables`.
    traffic : mapping of str to float, optional
        Bytes at l1, l2, l3 and dram, on top of what ``op.with_traffic`` states.
    operands : {"l1", "l2", "l3", "dram"}, optional
        The level that every operation fetches its two operands from, where no traffic is stated for
        it: nothing is reused below it. By default they lie in registers, which the tables count
        with the arithmetic.
    arithmetic : {"fma", "add", "mult"}, default "fma"
        What its FLOPs are. Two FLOPs are one multiply-add.
    lanes : int, optional
        Operations that one instruction does; then each instruction is paid too. By default none
        is: a circuit that does only this needs no program.

    Returns
    -------
    Energy
        ``joules``, ``parts``, ``share_of_movement``, ``per_flop``.

    Notes
    -----
    Bytes at a level are the traffic stated for it. Where none is stated, DRAM carries the minimum,
    every operand once, and the caches cost nothing. So the bill is the least that must be paid.

    Examples
    --------
    >>> bill = rl.memory.energy(rl.axpy(1_000_000))
    >>> print(bill)
    axpy 1000000 fp32: 1.95 mJ, 977 pJ a FLOP, 99.76 % of it for moving data
    >>> rl.memory.energy(rl.gemm(1024, 1024, 1024)).share_of_movement < 0.5
    True
    """
    as_timeable("op", op)
    costs = energy_table(table)
    if arithmetic not in KINDS:
        raise unknown("arithmetic", arithmetic, KINDS)
    done = op if traffic is None else op.with_traffic(traffic)
    operations = done.flops / 2 if arithmetic == "fma" else done.flops
    moved = {"dram": done.bytes_at("dram"), **done.traffic}
    if operands is not None:
        fetched = 2 * operations * done.compute_dtype.bits / 8
        if _level(operands) not in done.traffic:
            moved[_level(operands)] = max(fetched, done.bytes)
    parts = {name: amount * costs.per_byte(name) for name, amount in moved.items()}
    parts[ARITHMETIC] = (
        operations * costs.per_operation(done.compute_dtype, arithmetic) if operations else 0.0
    )
    if lanes is not None:
        if costs.instruction is None:
            raise ValueError(f"lanes: {costs.id} has no figure for an instruction; leave lanes out")
        parts[INSTRUCTIONS] = operations / size("lanes", lanes) * costs.instruction
    return Energy(parts, done.flops, done.label, costs.id)


def energy_of(
    ops: Iterable[Operation | tuple[Operation, int]],
    table: str | EnergyTable = "horowitz-45nm",
    *,
    label: str = "",
) -> Energy:
    """Return the energy bill of several operations, added up.

    Parameters
    ----------
    ops : iterable of Operation or of (Operation, int)
        What is done; a pair says how often.
    table : str or EnergyTable, default "horowitz-45nm"
        As in :func:`energy`.
    label : str, optional
        What to call all of it; by default it says how many operations there are.

    Returns
    -------
    Energy
        Its parts are the sums of the operations' parts.

    Examples
    --------
    >>> step = rl.model("gpt2").decode(1, 1024)  # one token
    >>> runs = [(one.op, one.count) for one in step.steps]
    >>> token = rl.memory.energy_of(runs, "tpuv4i-7nm", label="a token of GPT-2")
    >>> print(token)
    a token of GPT-2: 8.98 mJ, 31.5 pJ a FLOP, 99 % of it for moving data
    """
    if isinstance(ops, (Operation, str)) or not isinstance(ops, Iterable):
        raise TypeError(f"ops={ops!r} must be several operations; one alone goes to energy()")
    parts: dict[str, float] = {}
    flops, many, costs = 0, 0, energy_table(table)
    for one in ops:
        op, count = one if isinstance(one, tuple) else (one, 1)
        times = size("count", count)
        bill = energy(op, costs)
        for name, joules in bill.parts.items():
            parts[name] = parts.get(name, 0.0) + times * joules
        flops, many = flops + times * bill.flops, many + times
    if not many:
        raise ValueError("ops is empty; give at least one operation")
    return Energy(parts, flops, label or f"{many} operations", costs.id)

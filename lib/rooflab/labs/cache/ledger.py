"""What a simulation counted: accesses, misses and bytes, for each level and operand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rooflab.count.operation import LEVELS, Operation, as_operation
from rooflab.count.si import grouped, si
from rooflab.count.validation import unknown
from rooflab.labs.cache.hierarchy import Hierarchy
from rooflab.labs.cache.stream import Integers

REGISTERS = "registers"
KINDS = ("accesses", "misses", "fetched", "written", "prefetched", "useful", "through", "stray")
"""What the last axis of the counts is, as in rooflab.labs.cache.engine."""


@dataclass(frozen=True)
class Traffic:
    """What one level saw of one operand, or of all of them: lines and bytes.

    Accesses come from the program at the first level, from the misses of the level above at every
    other. ``bytes_in`` came into the level from below, ``bytes_out`` left it downwards. Of
    ``prefetched`` lines, ``useful`` ones were asked for later; ``stray`` lines were written back
    from above when the level had lost them.
    """

    accesses: int
    misses: int
    bytes_in: int
    bytes_out: int
    prefetched: int
    useful: int
    stray: int

    @property
    def hits(self) -> int:
        """Accesses that found their line."""
        return self.accesses - self.misses

    @property
    def bytes(self) -> int:
        """Bytes that crossed the lower border of the level, in both directions."""
        return self.bytes_in + self.bytes_out


@dataclass(frozen=True, eq=False)
class Ledger:
    """The traffic of a simulated program, for each level of a hierarchy and each operand.

    The bytes of a level are those that cross its lower border: those of "L1" run between L1 and
    whatever lies below, those of the last level between it and memory. Those of "registers" are
    what the program asked for. ``counts`` are by operand, level and kind; :meth:`traffic` names
    them.

    >>> L1 = rl.cache.Cache("L1", 4096)
    >>> ledger = rl.cache.simulate(rl.cache.gemm_stream(100, 100, 100, "bf16"), L1)
    >>> ledger.bytes("registers"), ledger.bytes("L1")
    (4040000, 67854464)
    """

    hierarchy: Hierarchy
    operands: tuple[str, ...]
    requested: Mapping[str, int]
    counts: Integers

    def traffic(self, level: str | None = None, operand: str | None = None) -> Traffic:
        """Return what a ``level`` (default: the last) saw of an ``operand`` (default: of all)."""
        at = self.hierarchy.names.index(self._level(level))
        rows = self.counts if operand is None else self.counts[[self._operand(operand)]]
        found = dict(zip(KINDS, rows[:, at].sum(axis=0).tolist(), strict=True))
        line = self.hierarchy.line
        return Traffic(
            found["accesses"], found["misses"], line * found["fetched"],
            line * found["written"] + found["through"], found["prefetched"], found["useful"],
            found["stray"],
        )  # fmt: skip

    def bytes(self, level: str | None = None, operand: str | None = None) -> int:
        """Return the bytes below a ``level``, by default the last, in both directions.

        ``level`` may be "registers"; without an ``operand`` it is the sum of all.
        """
        if level == REGISTERS:
            names = self.operands if operand is None else (self.operands[self._operand(operand)],)
            return sum(self.requested[name] for name in names)
        return self.traffic(level, operand).bytes

    def bytes_per_flop(self, op: Operation, level: str | None = None) -> float:
        """Return the bytes below a ``level``, by default the last, for each FLOP of ``op``."""
        return self.bytes(level) / as_operation("op", op).flops

    def of(self, op: Operation) -> Operation:
        """Return ``op`` with the simulated traffic, so that a roofline can show it.

        Its l1 is what the program asked for. What crosses the lower border of a cache belongs to
        the level below, the last of which is dram. Raises ValueError if a cache below the first
        is not called L2 or L3, or if nothing crosses a border.
        """
        below = [name.lower() for name in self.hierarchy.names[1:]]
        for name in below:
            if name not in LEVELS[1:-1]:
                raise unknown("hierarchy: the name of a cache", name, ("L2", "L3"))
        amounts = {"l1": self.bytes(REGISTERS)}
        amounts |= {
            to: self.bytes(level)
            for level, to in zip(self.hierarchy.names, (*below, "dram"), strict=True)
        }
        return as_operation("op", op).with_traffic(amounts)

    def __str__(self) -> str:
        head = ("level", "operand", "accesses", "misses", "in", "out")
        rows = [head]
        for level in self.hierarchy.names:
            for operand in (*self.operands, None):
                seen = self.traffic(level, operand)
                rows.append((
                    level, operand or "all", grouped(seen.accesses), grouped(seen.misses),
                    si(seen.bytes_in, "B"), si(seen.bytes_out, "B"),
                ))  # fmt: skip
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        return "\n".join(
            "  ".join(
                cell.ljust(width) if place < 2 else cell.rjust(width)
                for place, (cell, width) in enumerate(zip(row, widths, strict=True))
            ).rstrip()
            for row in rows
        )

    __repr__ = __str__

    def _level(self, level: str | None) -> str:
        names = self.hierarchy.names
        if level is not None and level not in names:
            raise unknown("level", level, (REGISTERS, *names))
        return names[-1] if level is None else level

    def _operand(self, operand: str) -> int:
        if operand not in self.operands:
            raise unknown("operand", operand, self.operands)
        return self.operands.index(operand)

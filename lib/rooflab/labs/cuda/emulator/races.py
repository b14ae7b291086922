"""Races: which accesses to one cell nothing has put in order.

Accesses are events, numbered as they execute. Two of them to a cell are in order if one thread
makes both, if their block passed ``cuda.syncthreads()`` between, or they ``cuda.syncwarp()``. Of
those that no barrier has settled, a cell keeps the lowest and the highest thread's: whoever writes
what many have read differs from one, and if those are of several warps (blocks), so are the two.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from rooflab.labs.cuda.emulator.threads import WARP

_LOW = (1 << 32) - 1  # a stamp is event << 32 | thread number; -1 for none
CONFLICTS = MappingProxyType(
    {"read": ("write", "atomic"), "write": ("write", "read", "atomic"), "atomic": ("write", "read")}
)


class Order:
    """What barriers have settled: for each block and each warp the last event before one."""

    def __init__(self, blocks: int, block_threads: int) -> None:
        self.block_threads, self.block_warps = block_threads, -(-block_threads // WARP)
        self.places: list[Any] = []  # by event
        self.settled_blocks = np.full(blocks, -1)
        self.settled_warps = np.full(blocks * self.block_warps, -1)

    def settled(self, stamps: np.ndarray, threads: np.ndarray) -> np.ndarray:
        """Return which stamps come before what ``threads`` do now."""
        event, other = stamps >> 32, stamps & _LOW
        block, warp = self.home(threads)
        other_block, other_warp = self.home(other)
        by_block = (block == other_block) & (event <= self.settled_blocks[block])
        by_warp = (warp == other_warp) & (event <= self.settled_warps[warp])
        return (stamps < 0) | (other == threads) | by_block | by_warp

    def home(self, threads: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the numbers of the blocks and of the warps that threads are in."""
        block, inside = np.divmod(threads, self.block_threads)
        return block, block * self.block_warps + inside // WARP


class Conflict(NamedTuple):
    """Access number ``lane`` of those checked, and the ``thread`` and ``place`` of an earlier."""

    lane: int
    kind: str
    thread: int
    place: Any


class Marks:
    """Who has read, written or atomically added to each cell of one array."""

    def __init__(self, cells: int) -> None:
        self._cells = cells
        self._slots: dict[str, tuple[np.ndarray, np.ndarray]] = {}  # lowest, highest thread

    def conflict(
        self, kind: str, cells: Any, threads: Any, order: Order, equal: Any
    ) -> Conflict | None:
        """Return an earlier access not in order with one of these; two may write ``equal``."""
        slots = [(e, slot) for e in CONFLICTS[kind] for slot in self._slots.get(e, ())]
        for earlier, slot in slots:
            stamps = slot[cells]
            bad = (stamps & _LOW != threads) & (stamps >= 0)
            if bad.any():
                bad &= ~order.settled(stamps, threads)
            if equal is not None and earlier == "write":
                bad &= ~equal
            if bad.any():
                lane = int(bad.argmax())
                event, thread = divmod(int(stamps[lane]), 1 << 32)
                return Conflict(lane, earlier, thread, order.places[event])
        return None

    def record(self, kind: str, cells: Any, threads: Any, order: Order) -> None:
        """Note the last event; ``threads`` rise, so that the last of equal cells is the highest."""
        if kind not in self._slots:
            self._slots[kind] = (np.full(self._cells, -1), np.full(self._cells, -1))
        low, high = self._slots[kind]
        stamps = threads | len(order.places) - 1 << 32
        for slot, step in ((high, 1), (low, -1)):
            old = slot[cells]
            newer = old & _LOW <= threads if step == 1 else old & _LOW >= threads
            if not newer.all():
                newer |= order.settled(old, threads)
            slot[cells[newer][::step]] = stamps[newer][::step]

    def writer(self, cell: int) -> int:
        return int(self._slots["write"][1][cell]) & _LOW

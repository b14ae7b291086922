"""Races: which accesses to one cell nothing has put in order.

Accesses are events, numbered as they execute. Two of them to a cell are in order if one thread
makes both, if their block passed ``cuda.syncthreads()`` between, or their warp ``cuda.syncwarp()``.
Of the accesses that no barrier has settled, a cell keeps those of the lowest and of the highest
thread. That is enough: whoever writes what many have read differs from one of the two, and if
those many are of several warps (or blocks), so are the two.
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
        self.settled_lanes: np.ndarray | None = None  # by thread: event << 32 | mask of its warp
        self.floor = -1  # stamps up to it lie before a barrier of all blocks

    def event(self, place: Any) -> int:
        """Return the number of a new event at that place in the source."""
        self.places.append(place)
        return len(self.places) - 1

    def barrier(self, blocks: np.ndarray, every: bool) -> None:
        """Settle all accesses of these blocks so far; ``every``: no other block executes."""
        self.settled_blocks[blocks] = len(self.places) - 1
        if every:
            self.floor = (len(self.places) << 32) - 1

    def settle(self, threads: np.ndarray, masks: np.ndarray) -> None:
        """Settle what lanes of the same mask have accessed so far."""
        if self.settled_lanes is None:
            self.settled_lanes = np.full(len(self.settled_blocks) * self.block_threads, -1)
        self.settled_lanes[threads] = masks & _LOW | len(self.places) - 1 << 32

    def settled(self, stamps: np.ndarray, threads: np.ndarray) -> np.ndarray:
        """Return which stamps come before what ``threads`` do now."""
        event, other = stamps >> 32, stamps & _LOW
        block, inside = np.divmod(threads, self.block_threads)
        other_block, other_inside = np.divmod(other, self.block_threads)
        same = other_block == block
        warp = block * self.block_warps + inside // WARP
        same_warp = same & (inside // WARP == other_inside // WARP)
        lanes: Any = False
        if self.settled_lanes is not None:
            own = self.settled_lanes[threads]
            lanes = same_warp & (event <= own >> 32) & (own >> other_inside % WARP & 1 == 1)
        return (
            lanes
            | (stamps < 0)
            | (other == threads)
            | (same & (event <= self.settled_blocks[block]))
            | (same_warp & (event <= self.settled_warps[warp]))
        )


class Conflict(NamedTuple):
    """Access number ``lane`` of those checked, and the ``thread`` and ``place`` of an earlier."""

    lane: int
    kind: str
    thread: int
    place: Any


class Marks:
    """Who has read, written or atomically added to each cell of one array."""

    def __init__(self, cells: int, shared: bool) -> None:
        self._cells, self._shared = cells, shared
        self._slots: dict[str, tuple[np.ndarray, np.ndarray]] = {}  # lowest, highest thread

    def conflict(
        self, kind: str, cells: np.ndarray, threads: np.ndarray, order: Order, place: Any,
        equal: np.ndarray | None = None,
    ) -> Conflict | None:  # fmt: skip
        """Return an earlier access that is not in order with one of these, if there is any.

        ``equal``: where a write leaves the value that is there; the same line may do that.
        """
        floor = order.floor if self._shared else -1
        for earlier in CONFLICTS[kind]:
            for slot in self._slots.get(earlier, ()):
                stamps = slot[cells]
                if not stamps.size or stamps.max() <= floor:
                    continue
                bad = (stamps & _LOW != threads) & (stamps >= 0)
                if bad.any():
                    bad &= ~order.settled(stamps, threads)
                if equal is not None and earlier == "write":
                    events = stamps >> 32
                    here = [e for e in np.unique(events[bad & equal]) if order.places[e] is place]
                    bad &= ~equal | ~np.isin(events, here)
                if bad.any():
                    lane = int(bad.argmax())
                    event, thread = divmod(int(stamps[lane]), 1 << 32)
                    return Conflict(lane, earlier, thread, order.places[event])
        return None

    def record(
        self, kind: str, cells: np.ndarray, threads: np.ndarray, event: int, order: Order
    ) -> None:
        """Note accesses; ``threads`` rise, so that the last of equal cells is the highest."""
        if kind not in self._slots:
            self._slots[kind] = (np.full(self._cells, -1), np.full(self._cells, -1))
        low, high = self._slots[kind]
        stamps = threads | event << 32
        floor = order.floor if self._shared else -1
        for slot, step in ((high, 1), (low, -1)):
            old = slot[cells]
            if old.size and old.max() > floor:
                newer = old & _LOW <= threads if step == 1 else old & _LOW >= threads
                newer |= order.settled(old, threads)
                slot[cells[newer][::step]] = stamps[newer][::step]
            else:
                slot[cells[::step]] = stamps[::step]

    def writer(self, cell: int) -> int:
        """Return the thread whose write to the cell came last."""
        return int(self._slots["write"][1][cell]) & _LOW

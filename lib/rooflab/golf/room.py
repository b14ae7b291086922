"""How many small arrays the cache holds at once: the least recently touched one has to go.

A large array kept as a list of small ones is no smaller. What a function still holds in small
arrays has room up to ``CACHE_ROOM`` times the bytes that count as cache. Beyond that, the arrays
that were touched longest ago spill: what was written to them goes to memory now, in a step of its
own, and they count as memory from then on. Inputs take no room; neither does what is gone.
"""

from __future__ import annotations

from weakref import ref

from rooflab.golf.buffers import Buffer

CACHE_ROOM = 4
"""Small arrays of full size (4 × 32 KiB) that count as cache at the same time.

A pass over chunks holds three or four: two pieces, a temporary, the last round's result. The
cache behind the first level holds as many beside what streams past: 256 KiB and more per core.
"""


class Room:
    """The small arrays in the cache, least recently touched first. Spilled ones pass through."""

    def __init__(self, cache: int) -> None:
        self._cache, self._used = cache, 0
        self._held: dict[int, tuple[ref[Buffer], int]] = {}

    def touch(self, buffer: Buffer) -> list[Buffer]:
        """Make ``buffer`` the last one touched; return those that spill to make room for it."""
        nbytes = buffer.owner.nbytes
        if buffer.source or buffer.owner.ndim == 0 or nbytes > self._cache:
            return []
        self.leave(id(buffer))
        self._held[id(buffer)] = ref(buffer), nbytes
        self._used += nbytes
        spilled = []
        while self._used > CACHE_ROOM * self._cache:
            key = next(iter(self._held))
            oldest = self._held[key][0]()
            self.leave(key)
            if oldest is not None and oldest.where == "cache":
                oldest.where = "memory"
                spilled.append(oldest)
        return spilled

    def leave(self, key: int) -> None:
        """Give back the room of the buffer with this id, if it has any."""
        _, nbytes = self._held.pop(key, (None, 0))
        self._used -= nbytes

"""Caches as the simulator knows them: capacity, ways, line, and what each does on a miss."""

from __future__ import annotations

import math
from dataclasses import dataclass

from rooflab.count.si import grouped
from rooflab.count.validation import flag, size
from rooflab.measure.caches import SYSFS, cache_sizes
from rooflab.predict.machine import Machine

LINE = 64
USUAL_WAYS = {"l1": 8, "l2": 8, "l3": 16}
"""Ways assumed where the system does not tell them."""


@dataclass(frozen=True)
class Cache:
    """One cache: lines of equal length in sets, of which the least recently used one leaves.

    Parameters
    ----------
    name : str
        What the ledger calls it, such as "L1".
    capacity : int
        Bytes that it holds.
    ways : int, optional
        Lines in a set. By default every line may stand anywhere: the cache is fully associative.
    line : int, default 64
        Bytes of a line, a power of two.
    write_allocate : bool, default True
        Whether a store that misses fetches its line first. Otherwise the store goes past this
        cache to the level below, as a streaming store does.
    prefetch : bool, default False
        Whether a miss fetches the next line too.

    Examples
    --------
    >>> rl.cache.Cache("L1", 48 << 10, ways=12).sets
    64
    """

    name: str
    capacity: int
    ways: int | None = None
    line: int = LINE
    write_allocate: bool = True
    prefetch: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise TypeError(f"name={self.name!r} must be a name, such as 'L1'")
        for name in ("capacity", "line"):
            object.__setattr__(self, name, size(name, getattr(self, name)))
        for name in ("write_allocate", "prefetch"):
            object.__setattr__(self, name, flag(name, getattr(self, name)))
        if self.line & (self.line - 1):
            raise ValueError(f"line={self.line} must be a power of two, such as {LINE}")
        if self.ways is not None:
            object.__setattr__(self, "ways", size("ways", self.ways))
        unit = self.line * (self.ways or 1)
        if self.capacity % unit:
            ways = f" and {self.ways} ways" if self.ways else ""
            raise ValueError(
                f"capacity={self.capacity} must be a multiple of {unit} bytes, for lines of "
                f"{self.line} bytes{ways}"
            )

    @property
    def lines(self) -> int:
        """How many lines it holds."""
        return self.capacity // self.line

    @property
    def sets(self) -> int:
        """How many sets its lines are divided into, by their number: 1 if fully associative."""
        return self.lines // self.ways if self.ways else 1

    def __str__(self) -> str:
        kind = f"{self.ways}-way" if self.ways else "fully associative"
        return f"{self.name} {binary(self.capacity)}, {kind}, {self.line}-byte lines"


@dataclass(frozen=True, init=False)
class Hierarchy:
    """Caches one below the other, the first nearest to the processor.

    Parameters
    ----------
    *caches : Cache
        The levels, nearest first, all with lines of one length.
    inclusive : bool, default False
        Whether a line that leaves a level leaves all levels above it too.
    exclusive : bool, default False
        Whether the last level holds what the one above has lost, and nothing else: a victim cache.
        A line that is asked for moves up out of it, and everything that leaves the level above
        moves down into it, written or not, which counts as written back.

    Examples
    --------
    >>> Cache = rl.cache.Cache
    >>> two = rl.cache.Hierarchy(Cache("L1", 48 << 10, 12), Cache("L2", 1 << 20, 16))
    >>> print(two)
    L1 48 KiB, 12-way, 64-byte lines; L2 1 MiB, 16-way, 64-byte lines
    """

    caches: tuple[Cache, ...]
    inclusive: bool
    exclusive: bool

    def __init__(self, *caches: Cache, inclusive: bool = False, exclusive: bool = False) -> None:
        if not caches:
            raise ValueError("caches=() is empty; give at least one Cache")
        for place, cache in enumerate(caches):
            if not isinstance(cache, Cache):
                raise TypeError(f"caches[{place}]={cache!r} must be a Cache")
        lines = [cache.line for cache in caches]
        if len(set(lines)) > 1:
            raise ValueError(f"line: the caches have lines of {lines} bytes; give all of them one")
        names = [cache.name for cache in caches]
        if len(set(names)) < len(names):
            raise ValueError(f"name: the caches are called {names}; give each its own name")
        object.__setattr__(self, "caches", caches)
        object.__setattr__(self, "inclusive", flag("inclusive", inclusive))
        object.__setattr__(self, "exclusive", flag("exclusive", exclusive))
        if self.exclusive and (self.inclusive or len(caches) < 2):
            raise ValueError("exclusive=True: the last level holds what a level above lost, so "
                             "there must be one, and it cannot be inclusive=True, too")  # fmt: skip

    @property
    def line(self) -> int:
        """Bytes of a line, the same in every level."""
        return self.caches[0].line

    @property
    def period(self) -> int:
        """Lines after which all levels' sets come in the same order again."""
        return math.lcm(*(cache.sets for cache in self.caches))

    @property
    def names(self) -> tuple[str, ...]:
        """The levels' names, nearest first."""
        return tuple(cache.name for cache in self.caches)

    def __str__(self) -> str:
        kind = "; inclusive" * self.inclusive + "; the last one exclusive" * self.exclusive
        return "; ".join(map(str, self.caches)) + kind

    @classmethod
    def like(cls, machine: Machine | None = None) -> Hierarchy:
        """Return the caches of ``machine``, or of the machine that this runs on.

        Parameters
        ----------
        machine : Machine, optional
            One whose capacities name l1, l2 or l3. By default it is this machine, as the system
            describes it.

        Returns
        -------
        Hierarchy
            L1, L2 and L3, as far as they are known, with lines of 64 bytes. Ways that the system
            tells are kept. Where none are known they are 8, 8 and 16, or so many more that the
            number of sets is a power of two.

        Raises
        ------
        ValueError
            If the machine says no size of a cache.

        Examples
        --------
        >>> mine = rl.Machine("mine", peaks={"fp32": 1e11}, capacities={"l1": 32768})
        >>> print(rl.cache.Hierarchy.like(mine))
        L1 32 KiB, 8-way, 64-byte lines
        """
        if machine is not None and not isinstance(machine, Machine):
            raise TypeError(f"machine={machine!r} must be a Machine, such as rl.machine('a100')")
        capacities = cache_sizes() if machine is None else machine.capacities
        ways = _system_ways() if machine is None else {}
        caches = [
            _sized(name, int(capacity), ways.get(name, 0))
            for name in USUAL_WAYS
            if (capacity := capacities.get(name)) and capacity >= LINE
        ]
        if not caches:
            known = "this system" if machine is None else f"machine={machine.name!r}"
            raise ValueError(f"{known} tells no size of l1, l2 or l3; give Hierarchy(Cache(…), …)")
        return cls(*caches)


def as_hierarchy(value: object) -> Hierarchy:
    """Return a Hierarchy; a lone Cache is one of one level."""
    if isinstance(value, Cache):
        return Hierarchy(value)
    if not isinstance(value, Hierarchy):
        raise TypeError(f"hierarchy={value!r} must be a Hierarchy or a Cache")
    return value


def binary(count: int) -> str:
    """Bytes of a cache exactly, with a binary prefix where that is whole: ``"48 KiB"``."""
    for power, prefix in ((30, "Gi"), (20, "Mi"), (10, "Ki")):
        if count and count % (1 << power) == 0:
            return f"{grouped(count >> power)} {prefix}B"
    return f"{grouped(count)} B"


def _sized(level: str, capacity: int, ways: int) -> Cache:
    """A cache of this capacity with so many ways; 0, or what does not divide it: as usual."""
    lines, sets = capacity // LINE, 1
    if not ways or lines % ways:
        while lines % (2 * sets) == 0 and 2 * sets * USUAL_WAYS[level] <= lines:
            sets *= 2
        ways = lines // sets
    return Cache(level.upper(), lines * LINE, ways)


def _system_ways() -> dict[str, int]:
    """Ways of each data or unified cache, where Linux tells them."""
    found: dict[str, int] = {}
    for index in sorted(SYSFS.glob("index*")):
        try:
            level, kind, ways = (
                (index / name).read_text().strip()
                for name in ("level", "type", "ways_of_associativity")
            )
            if kind != "Instruction" and int(ways) > 0:
                found[f"l{level}"] = int(ways)
        except (OSError, ValueError):
            continue
    return {name: ways for name, ways in found.items() if name in USUAL_WAYS}

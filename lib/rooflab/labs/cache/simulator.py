"""Run an access stream, or a list of addresses, through simulated caches.

The compiled part is in engine.py. Here a stream becomes the arrays that it works on, and what it
counted becomes a ledger.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rooflab.count.si import grouped
from rooflab.count.validation import flag, size
from rooflab.labs.cache.hierarchy import Cache, Hierarchy, as_hierarchy
from rooflab.labs.cache.ledger import KINDS, Ledger
from rooflab.labs.cache.stream import AccessStream, Integers, Reference
from rooflab.optional import installed

if TYPE_CHECKING:
    from rooflab.labs.cache.engine import Caches, Walk

MOST_LINES = 1 << 25
"""Lines that may lie between the lowest and the highest address: 2 GiB of 64-byte lines."""
FEW_WAYS = 8
"""Up to here the oldest line of a set is found by its age, above by a linked list."""
TRACE = "trace"


@installed("rooflab.cache.simulate")
def simulate(
    stream: AccessStream | Sequence[AccessStream] | Sequence[int] | Integers,
    hierarchy: Hierarchy | Cache,
    *,
    writes: Sequence[bool] | np.ndarray[Any, Any] | None = None,
    width: int = 1,
    flush: bool = True,
    warm: bool = False,
) -> Ledger:
    """Count what the accesses of ``stream`` move between the levels of ``hierarchy``.

    Every level replaces the least recently used line of a set and writes dirty lines back when
    they leave. A line that is written back does not become newer in the level below.

    Parameters
    ----------
    stream : AccessStream, sequence of AccessStream, or array of int
        A loop nest; or several, one after the other; or byte addresses in the order of access.
    hierarchy : Hierarchy or Cache
        The caches. They are empty at the start.
    writes : sequence or array of bool, optional
        For addresses: which of them are stores. By default none is.
    width : int, default 1
        For addresses: the bytes that each access touches.
    flush : bool, default True
        Whether lines that are dirty at the end are written back, and counted.
    warm : bool, default False
        Whether the accesses run once before, uncounted, so that the caches are full.

    Returns
    -------
    Ledger
        Accesses, misses and bytes for each level and operand. Addresses are one operand, "trace".

    Examples
    --------
    Every element of a vector, twice. It fits into 4 KiB, and a line is fetched once:

    >>> x = rl.cache.Reference("x", 0, strides=(0, 4), depth=2)
    >>> twice = rl.cache.AccessStream((2, 1000), (x,))
    >>> ledger = rl.cache.simulate(twice, rl.cache.Cache("L1", 4096))
    >>> ledger.traffic("L1").misses, ledger.bytes("L1")
    (63, 4032)
    """
    caches = as_hierarchy(hierarchy)
    flush, warm = flag("flush", flush), flag("warm", warm)
    streams = as_streams(stream)
    if streams is None:
        return _of_addresses(stream, caches, writes, size("width", width), flush, warm)
    if writes is not None:
        raise TypeError("writes: an AccessStream says itself what it writes; leave it out")
    operands = tuple(dict.fromkeys(array for one in streams for array in one.arrays))
    shift = lowest_address(streams, caches.line * caches.period)
    state = empty_caches(caches, _lines(streams, shift, caches.line), len(operands))
    walks = [as_walk(one, operands, shift, caches.line) for one in streams]

    def once() -> None:
        from rooflab.labs.cache.engine import run

        for walk in walks:
            run(state, walk)

    _play(state, caches, once, flush, warm)
    requested = dict.fromkeys(operands, 0)
    for one in streams:
        for name, amount in one.requested.items():
            requested[name] += amount
    return _ledger(caches, operands, requested, state)


def _of_addresses(
    addresses: object,
    caches: Hierarchy,
    writes: Sequence[bool] | np.ndarray[Any, Any] | None,
    width: int,
    flush: bool,
    warm: bool,
) -> Ledger:
    """Simulate a list of addresses, all of one operand."""
    where = as_addresses("stream", addresses)
    stores = np.zeros(0 if writes is None else where.size, bool)
    if writes is not None:
        given = np.asarray(writes)
        if given.shape != where.shape or given.dtype != bool:
            raise ValueError(f"writes: {given.shape} {given.dtype} must be {where.size} bools")
        stores[:] = given
    period = caches.line * caches.period
    first = int(where.min(initial=1 << 62)) // period * period
    end = int(where.max(initial=first)) + width - first
    state = empty_caches(caches, -(-end // caches.line), 1)

    def once() -> None:
        from rooflab.labs.cache.engine import play

        play(*state, where - first, stores, width, caches.line.bit_length() - 1)

    _play(state, caches, once, flush, warm)
    return _ledger(caches, (TRACE,), {TRACE: width * where.size}, state)


def _play(state: Caches, caches: Hierarchy, once: Any, flush: bool, warm: bool) -> None:
    """Run the accesses, after an uncounted turn if the caches are to be warm."""
    if warm:
        once()
        state.counts[:] = 0
        from rooflab.labs.cache.engine import MARK

        state.slots[MARK] = 0
    once()
    if flush:
        write_dirty(state, len(caches.caches))


def write_dirty(state: Caches, levels: int) -> None:
    """Write dirty lines back to memory: each crosses every border below the one it is dirty in."""
    from rooflab.labs.cache.engine import DIRTY, FIRST_SLOT, MARK, TAG, WRITTEN

    dirty = np.zeros(state.where.shape[1], bool)
    ends = [*state.levels[1:, FIRST_SLOT].tolist(), state.slots.shape[1]]
    for level in range(levels):
        slots = state.slots[:, state.levels[level, FIRST_SLOT] : ends[level]]
        dirty[slots[TAG, slots[MARK] & DIRTY > 0]] = True
        owners = state.where[-1, dirty]
        state.counts[:, level, WRITTEN] += np.bincount(owners, minlength=len(state.counts))


def _ledger(
    caches: Hierarchy, operands: tuple[str, ...], requested: dict[str, int], state: Caches
) -> Ledger:
    state.counts.flags.writeable = False
    return Ledger(caches, operands, requested, state.counts)


# What a caller gives, as the arrays of the engine.


def as_streams(stream: object) -> list[AccessStream] | None:
    """Return the streams that a caller gives, or None if these are addresses."""
    if isinstance(stream, AccessStream):
        return [stream]
    if isinstance(stream, (list, tuple)) and stream and isinstance(stream[0], AccessStream):
        for place, one in enumerate(stream):
            if not isinstance(one, AccessStream):
                raise TypeError(f"stream[{place}]={one!r} must be an AccessStream like the first")
        return list(stream)
    return None


def as_addresses(name: str, values: object) -> Integers:
    """Return ``values`` as a vector of integers, none of them negative."""
    array = np.asarray(values)
    if array.size == 0 and array.ndim == 1:
        array = array.astype(np.int64)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        kind = type(values).__name__
        raise TypeError(f"{name}: a {kind} must be an AccessStream or a vector of byte addresses")
    array = array.astype(np.int64)
    if array.size and array.min() < 0:
        raise ValueError(f"{name}[{array.argmin()}]={array.min()} must be an address, 0 or more")
    return array


def lowest_address(streams: Sequence[AccessStream], period: int) -> int:
    """The lowest address of all, rounded down so that no line changes its set."""
    lows = [one.span(reference)[0] for one in streams for reference in one.references]
    return min(lows) // period * period


def _lines(streams: Sequence[AccessStream], shift: int, line: int) -> int:
    highs = [one.span(reference)[1] for one in streams for reference in one.references]
    return -(-(max(highs) - shift) // line)


def as_walk(stream: AccessStream, operands: Sequence[str], shift: int, line: int) -> Walk:
    """Return the engine's form of a stream whose addresses begin at ``shift``.

    Loops of one turn are left out: the engine is quick where its innermost loop is long.
    """
    from rooflab.labs.cache.engine import Walk

    loops = len(stream.extents)

    def ahead(reference: Reference) -> tuple[bool, int]:
        after = reference.when == "after"
        return (after and reference.depth < loops, -reference.depth if after else reference.depth)

    inside = [r for r in stream.references if r.depth == loops]
    inside.sort(key=lambda r: r.when == "after")  # a stable sort: the program's order stays
    outside = [r for r in stream.references if r.depth < loops]
    before = sorted((r for r in outside if r.when == "before"), key=ahead)
    after = sorted((r for r in outside if r.when == "after"), key=ahead)
    references = [*before, *inside, *after]

    repeats = [loop for loop, turns in enumerate(stream.extents) if turns > 1] or [0]
    depths = [sum(loop < r.depth for loop in repeats) for r in references]
    rows = [
        (r.offset - shift, depth, r.write, r.bytes, list(operands).index(r.array))
        for r, depth in zip(references, depths)
    ]
    guards = [(*guard.coefficients, guard.limit) for guard in stream.guards]
    innermost = [number for number, depth in enumerate(depths) if depth == len(repeats)]
    ends = (innermost[0], innermost[-1] + 1) if innermost else (len(before), len(before))
    return Walk(
        np.array(stream.extents, np.int64)[repeats],
        np.array(rows, np.int64),
        np.array([_outside(r) for r in references], np.int64)[:, repeats].copy(),
        np.array(guards, np.int64).reshape(-1, loops + 1)[:, [*repeats, loops]].copy(),
        np.array([*ends, line.bit_length() - 1], np.int64),
        np.zeros(len(repeats), np.int64),
        np.zeros(len(references), np.int64),
    )


def _outside(reference: Reference) -> tuple[int, ...]:
    """Its strides, but 0 for the loops inside it: they have run when what comes after them runs."""
    return tuple(
        step if loop < reference.depth else 0 for loop, step in enumerate(reference.strides)
    )


def empty_caches(caches: Hierarchy, lines: int, operands: int) -> Caches:
    """Empty caches, for addresses on ``lines`` lines."""
    from rooflab.labs.cache.engine import Caches

    if lines > MOST_LINES:
        raise ValueError(
            f"stream: its addresses lie on {grouped(lines)} lines from first to last, and at most "
            f"{grouped(MOST_LINES)} can be simulated; make it smaller or move its arrays closer"
        )
    rows, slot, group = [], 0, 0
    rooms = [_room(cache, lines) for cache in caches.caches]
    last = len(rooms) - 1
    for level, (cache, (sets, ways)) in enumerate(zip(caches.caches, rooms)):
        fills = level < last or not caches.exclusive  # by itself, not only by what others lose
        rows.append((
            slot, group, sets, ways, ways > FEW_WAYS, cache.write_allocate and fills,
            cache.prefetch and fills, caches.inclusive, caches.exclusive and level == last - 1,
            -1 if sets & (sets - 1) else sets - 1,
        ))  # fmt: skip
        slot, group = slot + sets * ways, group + sets
    where = np.full((len(rows) + 1, lines + 1), -1, np.int32)
    where[-1] = 0
    slots, ends = _lists(rooms)
    return Caches(
        where, slots, ends, np.array(rows, np.int64),
        np.zeros((operands, len(rows), len(KINDS)), np.int64), np.zeros(1, np.int64),
    )  # fmt: skip


def _room(cache: Cache, lines: int) -> tuple[int, int]:
    """Sets and ways of a cache that ``lines`` lines, and the one after them, can ever use.

    The others would stay empty, however large the cache is.
    """
    sets = min(cache.sets, 1 << lines.bit_length())
    return sets, min(cache.lines // cache.sets, -(-(lines + 1) // sets))


def _lists(rooms: Sequence[tuple[int, int]]) -> tuple[Integers, Integers]:
    """Empty slots, and sets that link their slots to a list, newest first."""
    from rooflab.labs.cache.engine import NEWER, NEWEST, OLDER, OLDEST, TAG

    slots = np.zeros((5, sum(sets * ways for sets, ways in rooms)), np.int64)
    ends = np.zeros((sum(sets for sets, _ in rooms), 2), np.int64)
    slots[TAG] = -1
    number = np.arange(slots.shape[1])
    slots[NEWER], slots[OLDER] = number - 1, number + 1
    slot = group = 0
    for sets, ways in rooms:
        first = slot + ways * np.arange(sets)
        slots[NEWER, first], slots[OLDER, first + ways - 1] = -1, -1
        rows = slice(group, group + sets)
        ends[rows, NEWEST], ends[rows, OLDEST] = first, first + ways - 1
        slot, group = slot + sets * ways, group + sets
    return slots, ends

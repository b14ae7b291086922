"""The compiled simulator: caches with least-recently-used replacement, and the walk of a loop nest.

numba compiles this module when the first simulation runs, and keeps the result on disk. A line of
memory is found by a table, ``where[level, line]``, so that a hit costs the same in a cache of any
number of ways. Only a miss looks for the oldest line of its set: by age where a set has few ways,
by a linked list where it has many.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

# What is counted for each operand and level.
ACCESS, MISS, FETCHED, WRITTEN, PREFETCHED, USEFUL, THROUGH, STRAY = range(8)
KINDS = 8

DIRTY, FRESH = 1, 2  # marks of a slot: written to; prefetched and not yet asked for


class Caches(NamedTuple):
    """The state of a hierarchy. A slot is a place for one line; levels lie one after the other."""

    where: np.ndarray  # int32 (level, line): the slot that holds the line, or -1
    owner: np.ndarray  # uint8 (line,): the operand that last asked for it
    tag: np.ndarray  # int64 (slot,): the line in it, or -1
    age: np.ndarray  # int64 (slot,): when it was last used, 0 for never
    mark: np.ndarray  # uint8 (slot,): DIRTY and FRESH
    newer: np.ndarray  # int32 (slot,): neighbours in the linked list of its set, or -1
    older: np.ndarray  # int32 (slot,)
    newest: np.ndarray  # int32 (set,): ends of that list
    oldest: np.ndarray  # int32 (set,)
    first_slot: np.ndarray  # int64 (level,)
    first_set: np.ndarray  # int64 (level,)
    sets: np.ndarray  # int64 (level,): a power of two
    ways: np.ndarray  # int64 (level,)
    linked: np.ndarray  # bool (level,)
    allocates: np.ndarray  # bool (level,): a store that misses fetches the line
    prefetches: np.ndarray  # bool (level,): a miss fetches the next line too
    inclusive: np.ndarray  # bool (1,): what a level loses, the levels above lose too
    clock: np.ndarray  # int64 (1,)
    counts: np.ndarray  # int64 (operand, level, kind)
    trace: np.ndarray  # int64 (n,): takes the lines in place of the caches, if it is not empty
    traced: np.ndarray  # int64 (1,): how many lines there were


class Walk(NamedTuple):
    """A loop nest: references before inner loops, then those of the innermost, then those after."""

    extents: np.ndarray  # int64 (loop,)
    offset: np.ndarray  # int64 (reference,): bytes
    stride: np.ndarray  # int64 (reference, loop): bytes
    depth: np.ndarray  # int64 (reference,)
    write: np.ndarray  # bool (reference,)
    length: np.ndarray  # int64 (reference,): bytes
    operand: np.ndarray  # int64 (reference,)
    inner: np.ndarray  # int64 (2,): first reference of the innermost loop, and the first after it
    coefficients: np.ndarray  # int64 (guard, loop)
    limits: np.ndarray  # int64 (guard,)
    shift: np.ndarray  # int64 (1,): logarithm of the line's bytes


@njit(cache=True)
def _unlink(caches, group, slot):
    newer, older = caches.newer[slot], caches.older[slot]
    if newer >= 0:
        caches.older[newer] = older
    else:
        caches.newest[group] = older
    if older >= 0:
        caches.newer[older] = newer
    else:
        caches.oldest[group] = newer


@njit(cache=True)
def _link_newest(caches, group, slot):
    second = caches.newest[group]
    caches.newer[slot], caches.older[slot] = -1, second
    caches.newest[group] = slot
    if second >= 0:
        caches.newer[second] = slot
    else:
        caches.oldest[group] = slot


@njit(cache=True)
def _link_oldest(caches, group, slot):
    last = caches.oldest[group]
    caches.newer[slot], caches.older[slot] = last, -1
    caches.oldest[group] = slot
    if last >= 0:
        caches.older[last] = slot
    else:
        caches.newest[group] = slot


@njit(cache=True)
def _group(caches, level, line):
    """The set of a level that a line belongs to."""
    return caches.first_set[level] + (line & (caches.sets[level] - 1))


@njit(cache=True)
def _use_linked(caches, level, line, slot):
    group = _group(caches, level, line)
    if caches.newest[group] != slot:
        _unlink(caches, group, slot)
        _link_newest(caches, group, slot)


@njit(cache=True, inline="always")
def _use(caches, level, line, slot, operand):
    """The program asks for a line that is there: it becomes the newest of its set."""
    if caches.mark[slot] & FRESH:
        caches.mark[slot] &= DIRTY
        caches.counts[operand, level, USEFUL] += 1
    if caches.linked[level]:
        _use_linked(caches, level, line, slot)
    else:
        caches.clock[0] += 1
        caches.age[slot] = caches.clock[0]


@njit(cache=True)
def _oldest_slot(caches, level, line):
    """The slot of the line's set that was used longest ago; an empty one comes first."""
    if caches.linked[level]:
        return np.int64(caches.oldest[_group(caches, level, line)])
    ways = caches.ways[level]
    start = caches.first_slot[level] + (line & (caches.sets[level] - 1)) * ways
    found = start
    for slot in range(start + 1, start + ways):
        if caches.age[slot] < caches.age[found]:
            found = slot
    return found


@njit(cache=True)
def _empty_above(caches, level, line):
    """Take a line out of the levels above; return whether one of them had written to it."""
    dirty = False
    for above in range(level):
        slot = caches.where[above, line]
        if slot >= 0:
            if caches.mark[slot] & DIRTY:
                dirty = True
            if dirty:  # what was written above crosses every boundary down to here
                caches.counts[caches.owner[line], above, WRITTEN] += 1
            caches.where[above, line] = -1
            caches.tag[slot], caches.age[slot], caches.mark[slot] = -1, 0, 0
            if caches.linked[above]:
                group = _group(caches, above, line)
                _unlink(caches, group, slot)
                _link_oldest(caches, group, slot)
    return dirty


@njit(cache=True)
def _place(caches, level, line):
    """Put a line into a level, the newest of its set; return the dirty line that left, or -1."""
    slot = _oldest_slot(caches, level, line)
    left = caches.tag[slot]
    dirty = False
    if left >= 0:
        dirty = (caches.mark[slot] & DIRTY) != 0
        caches.where[level, left] = -1
        if caches.inclusive[0] and _empty_above(caches, level, left):
            dirty = True
        if dirty:
            caches.counts[caches.owner[left], level, WRITTEN] += 1
    caches.tag[slot], caches.mark[slot] = line, 0
    caches.where[level, line] = slot
    caches.clock[0] += 1
    caches.age[slot] = caches.clock[0]
    if caches.linked[level]:
        _use_linked(caches, level, line, slot)
    return left if dirty else -1


@njit(cache=True)
def _write_back(caches, level, line):
    """A dirty line arrives from above. It is whole, so a level that lost it does not fetch it.

    It does not become newer by it: the program did not ask for it.
    """
    while line >= 0 and level < caches.sets.size:
        slot = caches.where[level, line]
        if slot >= 0:
            caches.mark[slot] |= DIRTY
            return
        caches.counts[caches.owner[line], level, STRAY] += 1
        left = _place(caches, level, line)
        caches.mark[caches.where[level, line]] |= DIRTY
        line, level = left, level + 1


@njit(cache=True)
def _bring(caches, level, line, operand):
    """Copy a line that ``level`` lacks from the nearest level below; return that level."""
    source = level + 1
    while source < caches.sets.size:
        caches.counts[operand, source, ACCESS] += 1
        slot = caches.where[source, line]
        if slot >= 0:
            _use(caches, source, line, slot, operand)
            break
        caches.counts[operand, source, MISS] += 1
        source += 1
    caches.owner[line] = operand
    for to in range(source - 1, level - 1, -1):
        caches.counts[operand, to, FETCHED] += 1
        _write_back(caches, to + 1, _place(caches, to, line))
    return source


@njit(cache=True)
def _miss(caches, line, operand, write, length):
    """The first level lacks a line that the program asks for."""
    level = 0
    caches.counts[operand, 0, MISS] += 1
    while write and not caches.allocates[level]:  # the store goes past this level
        caches.counts[operand, level, THROUGH] += length
        level += 1
        if level == caches.sets.size:
            return
        caches.counts[operand, level, ACCESS] += 1
        slot = caches.where[level, line]
        if slot >= 0:
            _use(caches, level, line, slot, operand)
            caches.mark[slot] |= DIRTY
            return
        caches.counts[operand, level, MISS] += 1
    source = _bring(caches, level, line, operand)
    if write:
        caches.mark[caches.where[level, line]] |= DIRTY
    for at in range(source - 1, level - 1, -1):
        if caches.prefetches[at] and caches.where[at, line + 1] < 0:
            caches.counts[operand, at, PREFETCHED] += 1
            _bring(caches, at, line + 1, operand)
            caches.mark[caches.where[at, line + 1]] |= FRESH


@njit(cache=True, inline="always")
def _touch(caches, line, operand, write, length):
    """One access to one line."""
    caches.counts[operand, 0, ACCESS] += 1
    slot = caches.where[0, line]
    if slot < 0:
        _miss(caches, line, operand, write, length)
    else:
        _use(caches, 0, line, slot, operand)
        if write:
            caches.mark[slot] |= DIRTY


@njit(cache=True)
def play(caches, lines, writes, lengths, operand):
    """Simulate a trace: arrays of lines, of whether each is a store, and of bytes."""
    for i in range(lines.size):
        _touch(caches, lines[i], operand, writes[i], lengths[i])


@njit(cache=True, inline="always")
def _refer(caches, walk, reference, address):
    """One access of a reference: the line or lines that its bytes lie on."""
    length, shift = walk.length[reference], walk.shift[0]
    last = (address + length - 1) >> shift
    if caches.trace.size:
        for line in range(address >> shift, last + 1):
            if caches.traced[0] < caches.trace.size:
                caches.trace[caches.traced[0]] = line
            caches.traced[0] += 1
        return
    operand, write = walk.operand[reference], walk.write[reference]
    for line in range(address >> shift, last + 1):
        start = max(address, line << shift)
        end = min(address + length, (line + 1) << shift)
        _touch(caches, line, operand, write, end - start)


@njit(cache=True)
def _allowed(walk, index, depth):
    """Whether the guards let an iteration run, the loops from ``depth`` on being at their start."""
    for guard in range(walk.limits.size):
        total = 0
        for loop in range(depth):
            total += walk.coefficients[guard, loop] * index[loop]
        if total >= walk.limits[guard]:
            return False
    return True


@njit(cache=True)
def _trips(walk, index):
    """How often the innermost loop runs now."""
    last = walk.extents.size - 1
    trips = walk.extents[last]
    for guard in range(walk.limits.size):
        left = walk.limits[guard]
        for loop in range(last):
            left -= walk.coefficients[guard, loop] * index[loop]
        step = walk.coefficients[guard, last]
        if left <= 0:
            return 0
        if step > 0:
            trips = min(trips, (left + step - 1) // step)
    return trips


@njit(cache=True)
def _steady(caches, walk, position, trips):
    """For how many iterations every reference of the innermost loop stays on its line.

    1 if one of them leaves it at once, or is not in the first level. Otherwise those iterations
    are hits, and they leave the caches as one of them does.
    """
    shift = walk.shift[0]
    last = walk.extents.size - 1
    for r in range(walk.inner[0], walk.inner[1]):
        step, start = walk.stride[r, last], position[r]
        end = start + walk.length[r] - 1
        line = start >> shift
        if line != end >> shift or caches.where[0, line] < 0:
            return 1
        if step > 0:
            trips = min(trips, (((line + 1) << shift) - 1 - end) // step + 1)
        elif step < 0:
            trips = min(trips, (start - (line << shift)) // -step + 1)
        if trips <= 1:
            return 1
    return trips


@njit(cache=True)
def _innermost(caches, walk, index, position):
    """Run the innermost loop once; ``position`` is back at its start afterwards."""
    last = walk.extents.size - 1
    trips = _trips(walk, index)
    done = 0
    while done < trips:
        for r in range(walk.inner[0], walk.inner[1]):
            _refer(caches, walk, r, position[r])
        steady = 1 if caches.trace.size else _steady(caches, walk, position, trips - done)
        for r in range(walk.inner[0], walk.inner[1]):
            caches.counts[walk.operand[r], 0, ACCESS] += steady - 1
            position[r] += steady * walk.stride[r, last]
        done += steady
    for r in range(walk.inner[0], walk.inner[1]):
        position[r] -= done * walk.stride[r, last]


@njit(cache=True)
def run(caches, walk):
    """Walk the nest once, from its first iteration to its last."""
    last = walk.extents.size - 1
    index = np.zeros(last + 1, np.int64)
    position = walk.offset.copy()
    advanced = -1  # the loop that has just moved on; -1 before the first iteration
    while True:
        for r in range(walk.inner[0]):
            if walk.depth[r] > advanced and _allowed(walk, index, walk.depth[r]):
                _refer(caches, walk, r, position[r])
        _innermost(caches, walk, index, position)
        advanced = last - 1
        while advanced >= 0 and index[advanced] + 1 == walk.extents[advanced]:
            advanced -= 1
        for r in range(walk.inner[1], walk.depth.size):
            if walk.depth[r] > advanced and _allowed(walk, index, walk.depth[r]):
                _refer(caches, walk, r, position[r])
        if advanced < 0:
            return
        for r in range(walk.depth.size):
            position[r] += walk.stride[r, advanced]
        index[advanced] += 1
        for loop in range(advanced + 1, last):
            for r in range(walk.depth.size):
                position[r] -= walk.stride[r, loop] * index[loop]
            index[loop] = 0


@njit(cache=True)
def distances(lines, number):
    """LRU stack distance of each access (-1: first touch), by a Fenwick tree over time.

    ``lines`` are numbered 0 … ``number`` - 1. The tree has a place for every line twice over; when
    it is full, the lines that are alive move to its start, in their order.
    """
    places = 2 * number + 2
    tree = np.zeros(places + 1, np.int64)
    place = np.full(number, -1, np.int64)  # where in the tree a line stands
    holder = np.full(places, -1, np.int64)
    found = np.empty(lines.size, np.int64)
    now, alive = 0, 0
    for i in range(lines.size):
        line = lines[i]
        was = place[line]
        if was < 0:
            found[i] = -1
            alive += 1
        else:
            before, x = 0, was + 1
            while x > 0:
                before += tree[x]
                x -= x & -x
            found[i] = alive - before
            x = was + 1
            while x <= places:
                tree[x] -= 1
                x += x & -x
            holder[was] = -1
        place[line], holder[now] = now, line
        x = now + 1
        while x <= places:
            tree[x] += 1
            x += x & -x
        now += 1
        if now == places:
            now = _squeeze(tree, place, holder)
    return found


@njit(cache=True)
def _squeeze(tree, place, holder):
    """Move the lines that are alive to the start of the tree; return how many there are."""
    alive = 0
    for old in range(holder.size):
        line = holder[old]
        if line >= 0:
            holder[old] = -1
            holder[alive], place[line] = line, alive
            alive += 1
    tree[:] = 0
    for x in range(1, tree.size):
        tree[x] += 1 if x <= alive else 0
        above = x + (x & -x)
        if above < tree.size:
            tree[above] += tree[x]
    return alive

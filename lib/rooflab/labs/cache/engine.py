"""The compiled simulator: caches with least-recently-used replacement, and the walk of a loop nest.

numba compiles this module when the first simulation runs, and keeps the result on disk. Without
``_nrt=False`` it would count who refers to every array at every call, which takes ten times as long
as a hit; such functions allocate nothing. A call passes every array in parts, which takes as long
as a miss itself, so most of what a miss does is inlined.

A line of memory is found by a table, ``where[level, line]``, so that a hit costs the same in a
cache of any number of ways. Only a miss looks for the oldest line of its set: by age where a set
has few ways, by a linked list where it has many.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numba
import numpy as np

njit: Any = numba.njit  # numba's own types know no _nrt
Array = np.ndarray[Any, np.dtype[Any]]

# What is counted for each operand and level.
ACCESS, MISS, FETCHED, WRITTEN, PREFETCHED, USEFUL, THROUGH, STRAY = range(8)
DIRTY, FRESH = 1, 2  # marks of a slot: written to; prefetched and not yet asked for

# Rows of the slots. A slot is a place for one line.
TAG, AGE, MARK, NEWER, OLDER = range(5)
# Columns of a set: the ends of the linked list of its slots.
NEWEST, OLDEST = range(2)
# Columns of a level.
FIRST_SLOT, FIRST_SET, SETS, WAYS, LINKED, ALLOCATES, PREFETCHES, INCLUSIVE = range(8)
VICTIMS = 8  # whether all that leaves it goes to the level below, which has nothing else
MASK = 9  # the sets less one where they are a power of two, which is quicker to take; else -1
# Columns of a reference.
OFFSET, DEPTH, WRITE, LENGTH, OPERAND = range(5)


class Caches(NamedTuple):
    """The state of a hierarchy. Functions below take its arrays one by one."""

    where: Array  # int32 (level, line): the slot that holds the line, or -1.
    # Its last row is the operand that last asked for the line.
    slots: Array  # int64 (TAG …, slot): those of the levels, one level after the other
    sets: Array  # int64 (set, NEWEST …)
    levels: Array  # int64 (level, FIRST_SLOT …)
    counts: Array  # int64 (operand, level, kind)
    clock: Array  # int64 (1,)


class Walk(NamedTuple):
    """A loop nest: references before inner loops, then those of the innermost, then those after."""

    extents: Array  # int64 (loop,)
    references: Array  # int64 (reference, OFFSET …)
    strides: Array  # int64 (reference, loop): bytes
    guards: Array  # int64 (guard, loop): coefficients, and the limit in the last column
    inner: Array  # int64 (3,): the first reference of the innermost loop, the first after it,
    # and the logarithm of the line's bytes
    turn: Array  # int64 (loop,): in which the walk keeps the turn that each loop is at
    position: Array  # int64 (reference,): and the address of every reference


#: What only compiled code calls needs no way in from Python, which would take half the compiling.
PART = {"cache": True, "_nrt": False, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}


@njit(**PART)
def _unlink(slots, sets, group, slot):
    newer, older = slots[NEWER, slot], slots[OLDER, slot]
    if newer >= 0:
        slots[OLDER, newer] = older
    else:
        sets[group, NEWEST] = older
    if older >= 0:
        slots[NEWER, older] = newer
    else:
        sets[group, OLDEST] = newer


@njit(**PART)
def _link_newest(slots, sets, group, slot):
    second = sets[group, NEWEST]
    slots[NEWER, slot], slots[OLDER, slot] = -1, second
    sets[group, NEWEST] = slot
    if second >= 0:
        slots[NEWER, second] = slot
    else:
        sets[group, OLDEST] = slot


@njit(**PART)
def _link_oldest(slots, sets, group, slot):
    last = sets[group, OLDEST]
    slots[NEWER, slot], slots[OLDER, slot] = last, -1
    sets[group, OLDEST] = slot
    if last >= 0:
        slots[OLDER, last] = slot
    else:
        sets[group, NEWEST] = slot


@njit(**PART, inline="always")
def _set(levels, level, line):
    """The set of a level that a line belongs to, from 0 on."""
    mask = levels[level, MASK]
    return line & mask if mask >= 0 else line % levels[level, SETS]


@njit(**PART, inline="always")
def _group(levels, level, line):
    """The same among the sets of all levels."""
    return levels[level, FIRST_SET] + _set(levels, level, line)


@njit(**PART)
def _use_linked(slots, sets, levels, level, line, slot):
    group = _group(levels, level, line)
    if sets[group, NEWEST] != slot:
        _unlink(slots, sets, group, slot)
        _link_newest(slots, sets, group, slot)


@njit(**PART, inline="always")
def _use(slots, sets, levels, counts, clock, level, line, slot, operand):
    """The program asks for a line that is there: it becomes the newest of its set."""
    if slots[MARK, slot] & FRESH:
        slots[MARK, slot] &= DIRTY
        counts[operand, level, USEFUL] += 1
    if levels[level, LINKED]:
        _use_linked(slots, sets, levels, level, line, slot)
    else:
        clock[0] += 1
        slots[AGE, slot] = clock[0]


@njit(**PART, inline="always")
def _oldest_slot(slots, sets, levels, level, line):
    """The slot of the line's set that was used longest ago; an empty one comes first."""
    if levels[level, LINKED]:
        found = sets[_group(levels, level, line), OLDEST]
    else:
        ways = levels[level, WAYS]
        found = levels[level, FIRST_SLOT] + _set(levels, level, line) * ways
        oldest = slots[AGE, found]
        for slot in range(found + 1, found + ways):
            age = slots[AGE, slot]
            found = slot if age < oldest else found
            oldest = min(oldest, age)
    return found


@njit(**PART)
def _drop(where, slots, sets, levels, level, line):
    """Take a line out of a level."""
    slot = where[level, line]
    where[level, line] = -1
    slots[TAG, slot], slots[AGE, slot], slots[MARK, slot] = -1, 0, 0
    if levels[level, LINKED]:
        group = _group(levels, level, line)
        _unlink(slots, sets, group, slot)
        _link_oldest(slots, sets, group, slot)


@njit(**PART)
def _empty_above(where, slots, sets, levels, counts, level, line):
    """Take a line out of the levels above; return whether one of them had written to it."""
    dirty = False
    for above in range(level):
        slot = where[above, line]
        if slot >= 0:
            if slots[MARK, slot] & DIRTY:
                dirty = True
            if dirty:  # what was written above crosses every boundary down to here
                counts[where[-1, line], above, WRITTEN] += 1
            _drop(where, slots, sets, levels, above, line)
    return dirty


@njit(**PART, inline="always")
def _place(where, slots, sets, levels, counts, clock, level, line):
    """Put a line into a level, the newest of its set; return what left, or -1, and if dirty."""
    slot = _oldest_slot(slots, sets, levels, level, line)
    left = slots[TAG, slot]
    dirty = False
    if left >= 0:
        dirty = (slots[MARK, slot] & DIRTY) != 0
        where[level, left] = -1
        if levels[0, INCLUSIVE] and _empty_above(where, slots, sets, levels, counts, level, left):
            dirty = True
        if dirty or levels[level, VICTIMS]:
            counts[where[-1, left], level, WRITTEN] += 1
    slots[TAG, slot], slots[MARK, slot] = line, 0
    where[level, line] = slot
    clock[0] += 1
    slots[AGE, slot] = clock[0]
    if levels[level, LINKED]:
        _use_linked(slots, sets, levels, level, line, slot)
    return left, dirty


@njit(**PART)
def _leave(where, slots, sets, levels, counts, clock, level, line, dirty):
    """A line has left a level: a dirty one arrives in the next, as every victim does there.

    It is whole, so a level that lost it does not fetch it. It does not become newer by it: the
    program did not ask for it.
    """
    while line >= 0 and level + 1 < len(levels) and (dirty or levels[level, VICTIMS]):
        victim, level = levels[level, VICTIMS], level + 1
        slot = where[level, line]
        if slot >= 0:
            slots[MARK, slot] |= DIRTY * dirty
            return
        if not victim:
            counts[where[-1, line], level, STRAY] += 1
        left, lost = _place(where, slots, sets, levels, counts, clock, level, line)
        slots[MARK, where[level, line]] |= DIRTY * dirty
        line, dirty = left, lost


@njit(**PART, inline="always")
def _bring(where, slots, sets, levels, counts, clock, level, line, operand):
    """Copy a line that ``level`` lacks from the nearest level below; return that level.

    A last level of victims has it no longer then, and gets none from memory.
    """
    source, dirty, last = level + 1, np.int64(0), len(levels) - 1
    while source < len(levels):
        counts[operand, source, ACCESS] += 1
        slot = where[source, line]
        if slot >= 0:
            _use(slots, sets, levels, counts, clock, source, line, slot, operand)
            break
        counts[operand, source, MISS] += 1
        source += 1
    where[-1, line] = operand
    if last and levels[last - 1, VICTIMS] and source >= last:
        if source == last:
            dirty = slots[MARK, where[last, line]] & DIRTY
            _drop(where, slots, sets, levels, last, line)
        else:
            counts[operand, last, FETCHED] += 1
        source = last
    for to in range(source - 1, level - 1, -1):
        counts[operand, to, FETCHED] += 1
        left, lost = _place(where, slots, sets, levels, counts, clock, to, line)
        if lost or levels[to, VICTIMS]:
            _leave(where, slots, sets, levels, counts, clock, to, left, lost)
    if dirty:
        slots[MARK, where[source - 1, line]] |= DIRTY
    return source


@njit(**PART)
def _miss(where, slots, sets, levels, counts, clock, line, operand, write, length):
    """The first level lacks a line that the program asks for."""
    level = 0
    counts[operand, 0, MISS] += 1
    while write and not levels[level, ALLOCATES]:  # the store goes past this level
        counts[operand, level, THROUGH] += length
        level += 1
        if level == len(levels):
            return
        counts[operand, level, ACCESS] += 1
        slot = where[level, line]
        if slot >= 0:
            _use(slots, sets, levels, counts, clock, level, line, slot, operand)
            slots[MARK, slot] |= DIRTY
            return
        counts[operand, level, MISS] += 1
    source = _bring(where, slots, sets, levels, counts, clock, level, line, operand)
    if write:
        slots[MARK, where[level, line]] |= DIRTY
    for at in range(source - 1, level - 1, -1):
        if levels[at, PREFETCHES] and where[at, line + 1] < 0:
            counts[operand, at, PREFETCHED] += 1
            _bring(where, slots, sets, levels, counts, clock, at, line + 1, operand)
            slots[MARK, where[at, line + 1]] |= FRESH


@njit(**PART, inline="always")
def _touch(where, slots, sets, levels, counts, clock, line, operand, write, length):
    """One access to one line."""
    counts[operand, 0, ACCESS] += 1
    slot = where[0, line]
    if slot < 0:
        _miss(where, slots, sets, levels, counts, clock, line, operand, write, length)
    else:
        _use(slots, sets, levels, counts, clock, np.int64(0), line, slot, operand)
        if write:
            slots[MARK, slot] |= DIRTY


@njit(**PART)
def _touch_each(where, slots, sets, levels, counts, clock, address, operand, write, length, shift):
    """One access to several lines, each by the bytes that lie on it."""
    for line in range(address >> shift, ((address + length - 1) >> shift) + 1):
        start = max(address, line << shift)
        end = min(address + length, (line + 1) << shift)
        _touch(where, slots, sets, levels, counts, clock, line, operand, write, end - start)


@njit(**PART, inline="always")
def _access(where, slots, sets, levels, counts, clock, address, operand, write, length, shift):
    """One access: to the line or the lines that its bytes lie on."""
    line, last = address >> shift, (address + length - 1) >> shift
    if line == last:
        _touch(where, slots, sets, levels, counts, clock, line, operand, write, length)
    else:
        _touch_each(
            where, slots, sets, levels, counts, clock, address, operand, write, length, shift
        )


@njit(cache=True, _nrt=False)
def play(where, slots, sets, levels, counts, clock, addresses, writes, width, shift):
    """Simulate a trace of one operand: addresses of ``width`` bytes, and which are stores.

    ``writes`` may be empty: nothing is stored then.
    """
    for i in range(addresses.size):
        write = writes.size > 0 and writes[i]
        at = addresses[i]
        _access(where, slots, sets, levels, counts, clock, at, 0, write, width, shift)


@njit(**PART, inline="always")
def _refer(where, slots, sets, levels, counts, clock, references, r, address, shift):
    """One access of a reference."""
    length, operand, write = references[r, LENGTH], references[r, OPERAND], references[r, WRITE]
    _access(where, slots, sets, levels, counts, clock, address, operand, write, length, shift)


@njit(**PART)
def _allowed(guards, index, depth):
    """Whether the guards let an iteration run, the loops from ``depth`` on being at their start."""
    for guard in range(len(guards)):
        total = 0
        for loop in range(depth):
            total += guards[guard, loop] * index[loop]
        if total >= guards[guard, -1]:
            return False
    return True


@njit(**PART)
def _trips(extents, guards, index):
    """How often the innermost loop runs now."""
    last = extents.size - 1
    trips = extents[last]
    for guard in range(len(guards)):
        left = guards[guard, -1]
        for loop in range(last):
            left -= guards[guard, loop] * index[loop]
        step = guards[guard, last]
        if left <= 0:
            return 0
        if step > 0:
            trips = min(trips, (left + step - 1) // step)
    return trips


@njit(**PART)
def _steady(where, references, steps, position, shift, trips):
    """For how many more iterations every reference of the innermost loop stays on its line.

    They are hits, if all those lines are in the first level, and they leave the caches as the
    iteration before them did, but for what is written: that iteration's store may have gone past
    the first level, while theirs hit the line that a later load has brought.
    """
    for r in range(len(references)):
        step, start = steps[r], position[r]
        last, end = start - step, start + references[r, LENGTH] - 1
        line = last >> shift
        if line != start >> shift or line != end >> shift or where[0, line] < 0:
            return 0
        if line != (end - step) >> shift:
            return 0
        if step > 0:
            trips = min(trips, (((line + 1) << shift) - 1 - end) // step + 1)
        elif step < 0:
            trips = min(trips, (start - (line << shift)) // -step + 1)
    return trips


@njit(**PART)
def _innermost(
    where, slots, sets, levels, counts, clock, references, steps, position, shift, trips
):
    """Run the innermost loop once; ``position`` is back at its start afterwards."""
    # Whether no iteration is like the one before: every step of a reference leaves its line, or a
    # prefetch may have put a line between theirs.
    leaves = levels[0, PREFETCHES] > 0
    for r in range(len(references)):
        leaves |= abs(steps[r]) >> shift > 0
    done = 0
    while done < trips:
        for r in range(len(references)):
            at = position[r]
            _refer(where, slots, sets, levels, counts, clock, references, r, at, shift)
            position[r] += steps[r]
        done += 1
        if not leaves and done < trips:
            turns = _steady(where, references, steps, position, shift, trips - done)
            for r in range(len(references)):
                if turns and references[r, WRITE]:
                    slots[MARK, where[0, position[r] >> shift]] |= DIRTY
                counts[references[r, OPERAND], 0, ACCESS] += turns
                position[r] += turns * steps[r]
            done += turns
    for r in range(len(references)):
        position[r] -= done * steps[r]


@njit(**PART)
def _around(
    where, slots, sets, levels, counts, clock, references, guards, shift, index, position,
    first, end, advanced,
):  # fmt: skip
    """The references ``first`` … ``end`` - 1, outside the innermost loop, that are made now."""
    for r in range(first, end):
        if references[r, DEPTH] > advanced and _allowed(guards, index, references[r, DEPTH]):
            at = position[r]
            _refer(where, slots, sets, levels, counts, clock, references, r, at, shift)


@njit(**PART)
def _advance(references, strides, index, position, loop):
    """Turn a loop on by one and set those inside it to their start; -1 sets all to their start."""
    if loop >= 0:
        index[loop] += 1
    for inside in range(loop + 1, index.size):
        index[inside] = 0
    for r in range(len(references)):
        position[r] = references[r, OFFSET]
        for outside in range(loop + 1):
            position[r] += strides[r, outside] * index[outside]


@njit(cache=True, _nrt=False)
def run(caches, walk):
    """Walk the nest once, from its first iteration to its last."""
    where, slots, sets, levels, counts, clock = caches
    extents, references, strides, guards, inner, index, position = walk
    last, first, end, shift = extents.size - 1, inner[0], inner[1], inner[2]
    steps = strides[first:end, last]
    advanced = np.int64(-1)  # the loop that has just moved on; -1 before the first iteration
    _advance(references, strides, index, position, advanced)
    while True:
        _around(
            where, slots, sets, levels, counts, clock, references, guards, shift, index,
            position, np.int64(0), first, advanced,
        )  # fmt: skip
        _innermost(
            where, slots, sets, levels, counts, clock, references[first:end], steps,
            position[first:end], shift, _trips(extents, guards, index),
        )  # fmt: skip
        advanced = last - 1
        while advanced >= 0 and index[advanced] + 1 == extents[advanced]:
            advanced -= 1
        _around(
            where, slots, sets, levels, counts, clock, references, guards, shift, index,
            position, end, len(references), advanced,
        )  # fmt: skip
        if advanced < 0:
            return
        _advance(references, strides, index, position, advanced)

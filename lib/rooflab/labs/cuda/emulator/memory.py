"""Arrays of a kernel: loads, stores and atomics, with sectors, bank conflicts and checks."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from rooflab.labs.cuda.emulator import arithmetic
from rooflab.labs.cuda.emulator.execution import Execution, Place, Variables
from rooflab.labs.cuda.emulator.races import Conflict, Marks
from rooflab.labs.cuda.emulator.report import SECTOR_BYTES
from rooflab.labs.cuda.emulator.threads import ONE, WARP, Mask

BANKS, BANK_BYTES = 32, 4
Index = tuple[Any, ...]  # one number an axis
_VERB = {"read": "reads", "write": "writes", "atomic": "atomically adds to"}


class Array:
    """An array in global memory, or one of every block in shared memory, block after block.

    ``marks``: its races, None if nobody writes. ``initialised``: by cell, None in global memory.
    ``start``: bytes from what NumPy has allocated, which counts as aligned.
    """

    def __init__(
        self, name: str, shape: tuple[int, ...], data: np.ndarray, marks: Marks | None,
        initialised: np.ndarray | None = None, start: int = 0,
    ) -> None:  # fmt: skip
        self.name, self.shape, self.data, self.marks = name, shape, data, marks
        self.initialised, self.start = initialised, start
        self.cells = math.prod(shape)

    def __str__(self) -> str:
        return f"the array {self.name}"


class LocalArray:
    """An array of every thread, in registers: each cell is a variable."""

    def __init__(self, name: str, shape: tuple[int, ...], dtype: Any) -> None:
        self.name, self.shape, self.dtype = name, shape, dtype
        self.table: Variables = {}

    def __str__(self) -> str:
        return f"the local array {self.name}"

    def _each(self, s: Execution, index: Index, place: Place) -> Iterator[int]:
        """Yield the cells that threads mean, while those threads are the active ones."""
        cell, active = locate(s, self, index, place)
        for one in np.unique(s.geometry.lanes(active, cell)[1][0]).tolist():
            s.work(1, active.bits.size << 1)
            with s.narrowed(s.geometry.both(active, cell == one)):
                yield one

    def load(self, s: Execution, index: Index, place: Place) -> Any:
        value = None
        for cell in self._each(s, index, place):
            entry = s.read(self.table, cell, f"{self.name}[{cell}]", place)
            value = entry if value is None else arithmetic.join(s.active.bits, entry, value, s.real)
        return 0 if value is None else value

    def store(self, s: Execution, index: Index, value: Any, place: Place) -> None:
        value = arithmetic.cast(value, self.dtype)
        for cell in self._each(s, index, place):
            s.assign(self.table, cell, value)


def array_of(value: Any) -> Any:
    if not isinstance(value, Array | LocalArray):
        raise ValueError(f"{arithmetic.words(value)} stands here where an array should")
    return value


def locate(s: Execution, array: Any, index: Index, place: Place, width: int = 1) -> Any:
    """Return the first cell that each thread means, in C order, and for which threads it exists."""
    axes, hint = len(array.shape), ""
    if len(index) == 1 and isinstance(index[0], tuple):
        index, hint = index[0], "; cuda.grid(2) gives two numbers: x, y = cuda.grid(2)"
    if len(index) != axes:
        raise ValueError(f"{array} has {axes} axes, here it gets {len(index)} indices{hint}")
    cell, active = 0, s.active
    for axis, (i, size) in enumerate(zip(index, array.shape)):
        if arithmetic.kind(i) != "i":
            raise ValueError(f"an index of {array} must be an integer; use // or int()")
        room = size - width + 1 if axis == axes - 1 else size
        lowest, highest = (i.min(), i.max()) if isinstance(i, np.ndarray) else (i, i)
        if lowest < 0 or highest >= room:
            bad = (i < 0) | (i >= room)
            entries = f", of {width} entries from there on," if width > 1 else ""
            message = f"{array.name}[{{at}}]{entries} is outside its shape {array.shape}; guard it"
            with s.narrowed(active):
                active = s.fault("out of bounds", f"{message} with an if", place, bad, index)
            i = i * ~bad if isinstance(i, np.ndarray) else 0
        cell = cell * size + i
    if width > 1:
        size = array.data.itemsize
        bad, of = (cell * size + array.start) % (width * size) != 0, f"of {width * size} bytes"
        message = f"{width} entries of {array.name} from number {{at}} on are at no multiple {of}"
        with s.narrowed(active):
            active = s.fault("misaligned", message, place, bad, (cell,))
    return cell, active


def count(
    s: Execution, array: Array, cell: Any, mask: Mask, place: Place, what: str, width: int
) -> None:
    """Count the requests of an access by active threads, and their sectors or wavefronts."""
    g, size = s.geometry, array.data.itemsize * width
    address = np.broadcast_to(cell, np.shape(cell) or ONE) * array.data.itemsize + array.start
    shape = np.broadcast_shapes(address.shape, mask.bits.shape)
    rows, active = g.warps(address, shape), None
    s.work(10, rows.size << 5)
    if mask is not g.all or g.padded:
        active = g.warps(mask.bits, shape)
    requests = len(rows) if active is None else np.count_nonzero(active.any(1))
    if array.initialised is None:
        total = s.counts.traffic[place, array.name, what]
        sectors = np.count_nonzero(_distinct(rows // SECTOR_BYTES, active)[1])
        counted: tuple[Any, ...] = (requests, sectors, 0)
        total[2] += size * mask.count
    else:
        total = s.counts.banks[place]
        counted = (requests, *bank_wavefronts(rows, active, size))
    warps = g.blocks * g.block_warps // len(rows)  # that one row stands for
    for i, number in enumerate(counted):
        total[i] += int(number) * warps


def _distinct(rows: np.ndarray, active: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """Return rows in rising order, and which entries differ from those before; -1 is nothing."""
    if active is not None:
        rows = np.where(active, rows, -1)
    step = np.diff(rows, axis=1)
    if step.size and step.min() < 0:
        rows = np.sort(rows, axis=1)
        step = np.diff(rows, axis=1)
    new = rows >= 0
    new[:, 1:] &= step != 0
    return rows, new


def bank_wavefronts(rows: np.ndarray, active: np.ndarray | None, size: int) -> tuple[int, int]:
    """Return wavefronts of rows of byte addresses, and the least possible without a conflict.

    Each serves one word a bank. 8 (16) bytes go by half (quarter) warps, as since Maxwell.
    """
    if (words := max(1, size // BANK_BYTES)) > 1:
        active = np.True_ if active is None else active
        rows, bits = (
            np.broadcast_to(part, (len(rows), WARP)).reshape(-1, WARP // words)
            for part in (rows, active)
        )
        rows = (rows[:, :, None] + np.arange(words) * BANK_BYTES).reshape(len(rows), -1)
        active = np.repeat(bits, words, axis=1)
    word, new = _distinct(rows // BANK_BYTES, active)
    bank = np.arange(len(word))[:, None] * BANKS + word % BANKS
    taken = np.bincount(bank[new], minlength=len(word) * BANKS).reshape(-1, BANKS)
    return int(taken.max(axis=1).sum()), int(np.count_nonzero(new.any(1)))


def load(s: Execution, array: Any, index: Index, place: Place) -> Any:
    """Return the entry that each active thread asks for."""
    local = isinstance(array, LocalArray)
    return array.load(s, index, place) if local else load_vector(s, array, index, place, 1)[0]


def load_vector(s: Execution, array: Array, index: Index, place: Place, width: int = 4) -> Any:
    """Return neighbours that each thread loads by one request."""
    flat, mask = _access(s, array, index, place, "loads", width)
    if mask.count:
        for i in range(width):
            _initialised(s, array, flat + i, mask, place)
            _ordered(s, array, "read", flat + i, mask, place)
    return tuple(arithmetic.normal(array.data[flat + i]) for i in range(width))


def store(s: Execution, array: Any, index: Index, value: Any, place: Place) -> None:
    """Let each active thread write an entry."""
    local = isinstance(array, LocalArray)
    array.store(s, index, value, place) if local else store_vector(s, array, index, (value,), place)


def store_vector(s: Execution, array: Array, index: Index, values: Any, place: Place) -> None:
    """Let each thread write neighbours by one request."""
    flat, mask = _access(s, array, index, place, "stores", len(values))
    if mask.count:
        for i, value in enumerate(values):
            value = arithmetic.cast(value, array.data.dtype)
            _ordered(s, array, "write", flat + i, mask, place, value)


def atomic_add(s: Execution, array: Any, index: Index, value: Any, place: Place) -> Any:
    """Add to an entry, one thread after the other; return what each has found there."""
    flat, mask = _access(s, array, index, place, "atomics", 1)
    if not mask.count:
        return 0
    s.counts.atomics += mask.count
    s.counts.flops += mask.count * (array.data.dtype.kind == "f")
    value = arithmetic.cast(value, array.data.dtype)
    _initialised(s, array, flat, mask, place)
    _ordered(s, array, "atomic", flat, mask, place)
    _, (cells, values) = s.geometry.lanes(mask, flat, value, full=True)
    s.work(4, len(cells) << 7)
    before = np.empty(len(cells), array.data.dtype)
    for lane, (one, added) in enumerate(zip(cells.tolist(), values)):
        before[lane] = array.data[one]
        array.data[one] += added
    result = np.zeros(s.geometry.shape, array.data.dtype)
    result[np.broadcast_to(mask.bits, result.shape)] = before
    return arithmetic.normal(result)


def _access(s: Execution, array: Any, index: Index, place: Place, what: str, width: int) -> Any:
    """Count an access to global or shared memory; return cells and the threads that have them."""
    if not isinstance(array_of(array), Array) or (width > 1 and array.data.itemsize > BANK_BYTES):
        kind = "of float32 " * (width > 1)
        raise ValueError(f"{array} should be an array {kind}in global or shared memory here")
    cell, mask = locate(s, array, index, place, width)
    if mask.count:
        count(s, array, cell, mask, place, what, width)
    shared = array.initialised is not None
    return cell + s.geometry.block_offset * array.cells if shared else cell, mask


def _initialised(s: Execution, array: Array, flat: Any, mask: Mask, place: Place) -> None:
    if array.initialised is not None and not (there := array.initialised[flat]).all():
        message = f"{array.name}[{{at}}] in shared memory is read, and nobody has written it"
        with s.narrowed(mask):
            index = np.unravel_index(flat % array.cells, array.shape)
            s.fault("uninitialised", message, place, ~there, index)


def _ordered(
    s: Execution, array: Array, kind: str, flat: Any, mask: Mask, place: Place, value: Any = 0
) -> None:
    """Note an access, write what is to be written, and find its races."""
    if (marks := array.marks) is None:
        return
    threads, (cells, values) = s.geometry.lanes(mask, flat, value)
    s.work(8, len(cells) << 6)
    event = s.order.event(place)
    equal = array.data[cells] == values if kind == "write" else None
    for ends in threads:
        conflict = marks.conflict(kind, cells, ends, s.order, place, equal)
        if conflict:
            _race(s, array, kind, int(cells[conflict.lane]), ends[conflict.lane], place, conflict)
    for ends in threads:
        marks.record(kind, cells, ends, event, s.order)
    if kind != "write":
        return
    array.data[cells] = values
    if array.initialised is not None:
        array.initialised[cells] = True
    left = array.data[cells]
    other = (left != values) & ((left == left) | (values == values))
    if other.any():  # two threads, two values, one cell
        lane = int(other.argmax())
        conflict = Conflict(lane, "write", marks.writer(int(cells[lane])), place)
        _race(s, array, kind, int(cells[lane]), threads[0][lane], place, conflict)


def _race(
    s: Execution, array: Array, kind: str, flat: int, number: int, place: Place, earlier: Conflict
) -> None:
    thread, other = s.geometry.thread(number), s.geometry.thread(earlier.thread)
    at = ", ".join(map(str, np.unravel_index(flat % array.cells, array.shape)))
    advice = "put cuda.syncthreads() between"
    if array.initialised is None and earlier.place is place:
        advice = "give each thread its own cell, or use cuda.atomic.add"
    elif thread.block != other.block:
        advice = "no barrier orders two blocks; split the work into two launches"
    elif kind == earlier.kind == "write":
        advice = "let one thread write, or put cuda.syncthreads() between"
    first = f"{other} {_VERB[earlier.kind]} {array.name}[{at}] at {earlier.place}"
    message = f"{first}, and {thread} {_VERB[kind]} it at {place}, in no order: {advice}"
    s.faults.add("race", message, (earlier.place, place), (other, thread))

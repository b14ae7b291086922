"""Arrays of a kernel: loads, stores and atomics, with sectors, bank conflicts and checks."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from rooflab.labs.cuda.emulator import arithmetic
from rooflab.labs.cuda.emulator.execution import Execution
from rooflab.labs.cuda.emulator.races import Conflict, Marks
from rooflab.labs.cuda.emulator.report import SECTOR_BYTES, SharedTraffic, Traffic, fault
from rooflab.labs.cuda.emulator.threads import ONE, WARP

BANKS, BANK_BYTES = 32, 4
Index = tuple[Any, ...]  # one number an axis
_NOWHERE = -BANKS  # an address below all others, whatever is added to it
_VERB = {"read": "reads", "write": "writes", "atomic": "atomically adds to"}


@dataclass(eq=False)
class Array:
    """An array in global memory, or those of all blocks in shared memory, one after the other.

    ``initialised``: by cell, None in global memory. ``offset``: where that of a block, or of a
    thread, begins. ``marks``: its races, None if nobody writes or it is a thread's own.
    """

    name: str
    shape: tuple[int, ...]
    data: np.ndarray
    initialised: np.ndarray | None = None
    offset: Any = 0
    marks: Marks | None = None

    def __str__(self) -> str:
        return f"the array {self.name}"

    def index(self, flat: Any) -> tuple[Any, ...]:
        return np.unravel_index(flat % math.prod(self.shape), self.shape)

    def load(self, s: Execution, index: Index) -> Any:
        """Return the entry that each active thread asks for."""
        return load_vector(s, self, index, 1)[0]

    def store(self, s: Execution, index: Index, value: Any) -> None:
        """Let each active thread write an entry."""
        store_vector(s, self, index, (value,))


class LocalArray(Array):
    """An array of every thread, in registers."""


def array_of(value: Any) -> Array:
    if not isinstance(value, Array):
        raise ValueError(f"{arithmetic.words(value)} stands here where an array should")
    return value


def locate(s: Execution, array: Array, index: Index, width: int) -> Any:
    """Return the first cell that each thread means, in C order."""
    axes, hint = len(array.shape), ""
    if len(index) == 1 and isinstance(index[0], tuple):
        index, hint = index[0], "; cuda.grid(2) gives two numbers: x, y = cuda.grid(2)"
    if len(index) != axes:
        raise ValueError(f"{array} has {axes} axes, here it gets {len(index)} indices{hint}")
    cell = 0
    for axis, (i, size) in enumerate(zip(index, array.shape)):
        if arithmetic.kind(i) != "i":
            raise ValueError(f"an index of {array} must be an integer; use // or int()")
        room = size - width + 1 if axis == axes - 1 else size
        lowest, highest = (i.min(), i.max()) if isinstance(i, np.ndarray) else (i, i)
        if lowest < 0 or highest >= room:
            bad = (i < 0) | (i >= room)
            entries = f", of {width} entries from there on," if width > 1 else ""
            message = f"{array.name}[{{at}}]{entries} is outside its shape {array.shape}; guard it"
            s.check("out of bounds", f"{message} with an if", bad, index)
            i = i * (1 - bad)  # of threads that are not active
        cell = cell * size + i
    if width > 1:
        of = f"of {width * array.data.itemsize} bytes"
        message = f"{width} entries of {array.name} from number {{at}} on are at no multiple {of}"
        s.check("misaligned", message, cell % width != 0, (cell,))
    return cell


def count(s: Execution, array: Array, cell: Any, what: str, width: int) -> None:
    """Count the requests of an access by active threads, and their sectors or wavefronts."""
    g, size = s.geometry, array.data.itemsize * width
    address = np.broadcast_to(cell, np.shape(cell) or ONE) * array.data.itemsize
    shape = np.broadcast_shapes(address.shape, s.active.bits.shape)
    rows = g.warps(address, shape)
    if s.active is not g.all or g.padded:
        rows = np.where(g.warps(s.active.bits, shape), rows, _NOWHERE)
    warps = g.blocks * g.block_warps // len(rows)  # that one row stands for
    requests = warps * int((rows >= 0).any(1).sum())
    if array.initialised is None:
        sectors = warps * int(_distinct(rows // SECTOR_BYTES)[1].sum())
        traffic = Traffic(requests, sectors, size * s.active.count)
        s.traffic[s.place, array.name, what] += traffic
    else:
        wavefronts, least = bank_wavefronts(rows, size)
        s.banks[s.place] += SharedTraffic(requests, warps * wavefronts, warps * least)


def _distinct(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return rows in rising order, and which entries differ from those before."""
    step = np.diff(rows, axis=1)
    if step.size and step.min() < 0:
        rows = np.sort(rows, axis=1)
        step = np.diff(rows, axis=1)
    new = rows >= 0
    new[:, 1:] &= step != 0
    return rows, new


def bank_wavefronts(rows: np.ndarray, size: int) -> tuple[int, int]:
    """Return wavefronts of rows of byte addresses, and the least possible without a conflict.

    Each serves one word a bank. 8 (16) bytes go by half (quarter) warps, as since Maxwell.
    """
    rows = rows // BANK_BYTES
    if (words := size // BANK_BYTES) > 1:
        rows = np.broadcast_to(rows, (len(rows), WARP)).reshape(-1, WARP // words, 1)
        rows = (rows + np.arange(words)).reshape(len(rows), -1)
    word, new = _distinct(rows)
    bank = np.arange(len(word))[:, None] * BANKS + word % BANKS
    taken = np.bincount(bank[new], minlength=len(word) * BANKS).reshape(-1, BANKS)
    return int(taken.max(axis=1).sum()), int(new.any(1).sum())


def load_vector(s: Execution, array: Any, index: Index, width: int = 4) -> Any:
    """Return neighbours that each thread loads by one request."""
    flat = _access(s, array, index, "loads", width)
    for i in range(width):
        _readable(s, array, flat + i, "read")
    return tuple(arithmetic.normal(array.data[flat + i]) for i in range(width))


def store_vector(s: Execution, array: Any, index: Index, values: Any) -> None:
    """Let each thread write neighbours by one request."""
    flat = _access(s, array, index, "stores", len(values))
    for i, value in enumerate(values):
        _write(s, array, flat + i, arithmetic.cast(value, array.data.dtype))


def atomic_add(s: Execution, array: Any, index: Index, value: Any) -> Any:
    """Add to an entry, one thread after the other; return what each has found there."""
    flat = _access(s, array, index, "atomics", 1)
    s.atomics += s.active.count
    s.flops += s.active.count * (array.data.dtype.kind == "f")
    _readable(s, array, flat, "atomic")
    value = arithmetic.cast(value, array.data.dtype)
    _, (cells, values) = s.geometry.lanes(s.active, flat, value, full=True)
    s.work(4, len(cells) << 7)
    before = np.empty(len(cells), array.data.dtype)
    for lane, (one, added) in enumerate(zip(cells.tolist(), values)):
        before[lane] = array.data[one]
        array.data[one] += added
    result = np.zeros(s.geometry.shape, array.data.dtype)
    result[np.broadcast_to(s.active.bits, result.shape)] = before
    return arithmetic.normal(result)


def _access(s: Execution, array: Any, index: Index, what: str, width: int) -> Any:
    """Count an access; return the cells, in the memory of all blocks and threads."""
    cell = locate(s, array_of(array), index, width)
    flat = cell + array.offset
    s.work(10, np.broadcast(flat, s.active.bits).size << 5)
    if not isinstance(array, LocalArray):
        count(s, array, cell, what, width)
    return flat


def _readable(s: Execution, array: Array, flat: Any, kind: str) -> None:
    """Check that cells have a value, which no other thread writes meanwhile."""
    if array.initialised is not None and not (there := array.initialised[flat]).all():
        message = f"{array.name}[{{at}}] is read, and nobody has written it"
        s.check("uninitialised", message, ~there, array.index(flat))
    if array.marks:
        threads, (cells, _) = s.geometry.lanes(s.active, flat, 0)
        _ordered(s, array, kind, cells, threads)


def _write(s: Execution, array: Array, flat: Any, value: Any) -> None:
    threads, (cells, values) = s.geometry.lanes(s.active, flat, value)
    if array.marks:
        _ordered(s, array, "write", cells, threads, array.data[cells] == values)
    array.data[cells] = values
    if array.initialised is not None:
        array.initialised[cells] = True
    left = array.data[cells]
    other = (left != values) & ((left == left) | (values == values))
    if array.marks and other.any():  # two threads, two values, one cell
        lane = int(other.argmax())
        conflict = Conflict(lane, "write", array.marks.writer(int(cells[lane])), s.place)
        _race(s, array, "write", int(cells[lane]), threads[0][lane], conflict)


def _ordered(
    s: Execution, array: Any, kind: str, cells: Any, threads: Any, equal: Any = None
) -> None:
    """Note an access; raise a fault if it is in no order with an earlier one."""
    s.work(8, len(cells) << 6)
    for ends in threads:
        conflict = array.marks.conflict(kind, cells, ends, s.order, equal)
        if conflict:
            _race(s, array, kind, int(cells[conflict.lane]), ends[conflict.lane], conflict)
    s.order.places.append(s.place)
    for ends in threads:
        array.marks.record(kind, cells, ends, s.order)


def _race(s: Execution, array: Array, kind: str, flat: int, number: int, earlier: Conflict) -> None:
    thread, other = s.geometry.thread(number), s.geometry.thread(earlier.thread)
    at = ", ".join(map(str, array.index(flat)))
    advice = "put cuda.syncthreads() between"
    if earlier.place is s.place and (array.initialised is None or kind == earlier.kind):
        advice = "give each thread its own cell, or use cuda.atomic.add"
    elif thread.block != other.block:
        advice = "no barrier orders two blocks; split the work into two launches"
    first = f"{other} {_VERB[earlier.kind]} {array.name}[{at}] at {earlier.place}"
    message = f"{first}, and {thread} {_VERB[kind]} it at {s.place}, in no order: {advice}"
    raise fault("race", message, (earlier.place, s.place), (other, thread))

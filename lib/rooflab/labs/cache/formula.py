"""The byte ledger of a tiled nest as a formula, and the least that any order could move.

The formula imagines a fast memory that holds exactly what the loops inside the tiles touch. It
loads a tile when the loops over the tiles come to it, and keeps it while they do not move it.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

from rooflab.count.dtypes import DTypeLike
from rooflab.count.dtypes import dtype as as_format
from rooflab.count.validation import size
from rooflab.labs.cache.stream import AccessStream, Reference

MOST_ELEMENTS = 10_000_000
"""Elements of a tile up to which those that two indices share are told apart."""


@dataclass(frozen=True)
class Moved:
    """Bytes of one operand that a formula says are fetched and written back."""

    bytes_in: int
    bytes_out: int

    @property
    def bytes(self) -> int:
        """Bytes in both directions."""
        return self.bytes_in + self.bytes_out


def unit(stream: AccessStream, most: int = 64) -> int:
    """Bytes of an element: the largest power of two that every address and length is made of."""
    numbers = [most]
    for reference in stream.references:
        numbers += [reference.offset, reference.bytes, *map(abs, reference.strides)]
    return reduce(math.gcd, numbers)


def footprint(stream: AccessStream, depth: int) -> dict[str, int]:
    """Return the bytes of each operand that the loops inside ``depth`` touch, at their first turn.

    Parameters
    ----------
    stream : AccessStream
        The nest.
    depth : int
        How many loops stand outside; 0 is the whole nest.

    Returns
    -------
    dict of str to int
        Bytes for each operand, each counted once.

    Raises
    ------
    TypeError, ValueError
        If ``stream`` is no AccessStream, or ``depth`` no integer from 0 to the number of loops.

    Examples
    --------
    >>> rl.cache.footprint(rl.cache.gemm_stream(100, 100, 100, tile=10), depth=3)
    {'C': 400, 'A': 400, 'B': 400}
    """
    depth = _depth(stream, depth)
    found = dict.fromkeys(stream.arrays, 0)
    for group in _groups(stream):
        found[group[0].array] += _distinct(stream, group, depth)
    return found


def tile_ledger(
    stream: AccessStream, depth: int, *, write_allocate: bool = True
) -> dict[str, Moved]:
    """Return the bytes that each operand moves if a memory holds what the inner loops touch.

    An operand is loaded for every iteration of the loops over tiles, except the innermost of them
    that do not move it. For a product C = A·B of m×k by k×n elements in tiles, with the loop over
    tiles along k innermost, A is read n/tn times, B is read m/tm times, C once.

    Parameters
    ----------
    stream : AccessStream
        The nest.
    depth : int
        How many loops run over tiles; the memory holds what those inside them touch. 0 is the
        compulsory traffic: every operand once.
    write_allocate : bool, default True
        Whether an operand that is only written is fetched too, line by line, as caches do.

    Returns
    -------
    dict of str to Moved
        Bytes in and out for each operand.

    Raises
    ------
    TypeError, ValueError
        If ``stream`` is no AccessStream, or ``depth`` no integer from 0 to the number of loops.

    Examples
    --------
    >>> stream = rl.cache.gemm_stream(100, 100, 100, tile=10)
    >>> ledger = rl.cache.tile_ledger(stream, depth=3)
    >>> [(name, moved.bytes) for name, moved in ledger.items()]
    [('C', 80000), ('A', 400000), ('B', 400000)]
    """
    depth = _depth(stream, depth)
    arrays = dict.fromkeys(stream.arrays, 0)
    into, out = dict(arrays), dict(arrays)
    for group in _groups(stream):
        stored = [reference for reference in group if reference.write]
        loaded = group if write_allocate else [r for r in group if not r.write]
        into[group[0].array] += _loads(stream, loaded, depth)
        out[group[0].array] += _loads(stream, stored, depth)
    return {name: Moved(into[name], out[name]) for name in arrays}


def fitting_depth(stream: AccessStream, capacity: int) -> int:
    """How many loops must stay outside so that what the others touch fits into ``capacity``."""
    for depth in range(len(stream.extents) + 1):
        if sum(footprint(stream, depth).values()) <= capacity:
            return depth
    return len(stream.extents)


def as_stream(stream: object) -> AccessStream:
    """Return a stream; TypeError for what is none."""
    if not isinstance(stream, AccessStream):
        raise TypeError(f"stream={stream!r} must be an AccessStream, such as rl.cache.gemm_stream")
    return stream


def _depth(stream: AccessStream, depth: object) -> int:
    as_stream(stream)
    number = size("depth", depth, 0)
    if number > len(stream.extents):
        raise ValueError(f"depth={number} must be at most {len(stream.extents)}, one for each loop")
    return number


def _groups(stream: AccessStream) -> list[list[Reference]]:
    """References that walk side by side over one array, such as a load and its store."""
    found: dict[Any, list[Reference]] = defaultdict(list)
    for reference in stream.references:
        moving = reference.strides[: reference.depth]
        found[reference.array, moving].append(reference)
    return list(found.values())


def _moving(reference: Reference, loops: range) -> list[int]:
    return [loop for loop in loops if loop < reference.depth and reference.strides[loop]]


def _loads(stream: AccessStream, group: list[Reference], depth: int) -> int:
    """Bytes that a group loads, tile by tile."""
    if not group:
        return 0
    one = group[0]
    outer = list(range(min(depth, one.depth)))
    while outer and not one.strides[outer[-1]]:
        outer.pop()  # the tile stays while this loop runs
    inner = _moving(one, range(depth, len(stream.extents)))
    # Tiles at the edge are smaller, which the iterations say; in the first some bytes are shared.
    tiles = stream.iterations([*outer, *inner]) / stream.iterations(inner)
    return round(tiles * _distinct(stream, group, depth))


def _distinct(stream: AccessStream, group: list[Reference], depth: int) -> int:
    """Bytes that a group touches while the loops from ``depth`` inwards run once, all told."""
    one = group[0]
    inner = _moving(one, range(depth, len(stream.extents)))
    grain = unit(AccessStream(stream.extents, tuple(group)))
    elements = stream.iterations(inner)
    pieces = sum(reference.bytes // grain for reference in group)
    if elements * pieces > MOST_ELEMENTS:
        return elements * max(reference.bytes for reference in group)
    starts = np.zeros(1, np.int64)
    for loops, guards in stream.groups(inner):
        steps = stream.indices(loops, guards) @ [one.strides[loop] for loop in loops]
        starts = np.unique((starts[:, None] + steps).ravel())
    touched = [
        starts + reference.offset + at
        for reference in group
        for at in range(0, reference.bytes, grain)
    ]
    return int(np.unique(np.concatenate(touched)).size) * grain


# The least that any order of the multiply-adds could move.


@dataclass(frozen=True)
class Bound:
    """A proven lower bound: who proved it, what is counted ("read" …), and the bytes."""

    name: str
    counts: str
    bytes: float


def gemm_bounds(
    m: int, n: int, k: int, capacity: int, dtype: DTypeLike = "fp32"
) -> tuple[Bound, ...]:
    """Return proven lower bounds of what a product of matrices moves, the highest last.

    They hold for every order of the m·n·k multiply-adds and any replacement, with a fast memory of
    S words. Hong and Kung proved the order mnk/√S in 1981; the others below proved constants:
    mnk/(2√2·√S) - S words in or out (Irony et al. 2004), 2mnk/√S - 2S words read (Smith et al.
    2017) and 2mnk/√S + mn words read or written (Kwasniewski et al. 2019, for S below each of mn,
    mk and nk). Each operand crosses at least once.

    Parameters
    ----------
    m, n, k : int
        Rows and columns of the result, and the length of the sums.
    capacity : int
        Bytes of the fast memory.
    dtype : str, DType or a dtype of NumPy or PyTorch, default "fp32"
        Format of the elements.

    Returns
    -------
    tuple of Bound
        Name, what is counted, and bytes. One that says nothing at this size is left out.

    Raises
    ------
    TypeError, ValueError
        If a size is no positive integer.

    References
    ----------
    .. [1] J.-W. Hong, H. T. Kung, "I/O complexity: the red-blue pebble game", STOC 1981.
    .. [2] D. Irony, S. Toledo, A. Tiskin, "Communication lower bounds for distributed-memory matrix
       multiplication", Journal of Parallel and Distributed Computing 64(9), 2004.
    .. [3] T. M. Smith, B. Lowery, J. Langou, R. A. van de Geijn, "A tight I/O lower bound for
       matrix multiplication", 2017 (arXiv 1702.02017).
    .. [4] G. Kwasniewski et al., "Red-blue pebbling revisited", SC 2019 (arXiv 1908.09606),
       theorem 1.

    Examples
    --------
    >>> for bound in rl.cache.gemm_bounds(100, 100, 100, 4 * 520):
    ...     print(bound.name, round(bound.bytes), bound.counts)
    Irony, Toledo, Tiskin 2004 59937 read or written
    every operand once 120000 read or written
    Smith et al. 2017 346663 read
    Kwasniewski et al. 2019 390823 read or written
    """
    m, n, k = size("m", m), size("n", n), size("k", k)
    width = as_format(dtype).bits / 8
    words = size("capacity", capacity) / width
    root, work = math.sqrt(words), m * n * k
    both = "read or written"
    found = [
        ("every operand once", both, m * k + k * n + m * n),
        ("Irony, Toledo, Tiskin 2004", both, work / (2 * math.sqrt(2) * root) - words),
        ("Smith et al. 2017", "read", 2 * work / root - 2 * words),
    ]
    if words < min(m * n, m * k, n * k):
        found.append(("Kwasniewski et al. 2019", both, 2 * work / root + m * n))
    bounds = [Bound(name, counts, width * least) for name, counts, least in found if least > 0]
    return tuple(sorted(bounds, key=lambda bound: bound.bytes))

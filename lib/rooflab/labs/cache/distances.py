"""Stack distances: the misses of a fully associative cache of every capacity, in one pass.

R. L. Mattson et al., "Evaluation techniques for storage hierarchies", IBM Systems Journal 9(2),
1970: in a cache that replaces the least recently used line, an access hits if fewer than
``capacity`` other lines were touched since the line was last used.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rooflab.count.si import grouped
from rooflab.count.validation import size
from rooflab.labs.cache.formula import as_stream, tile_ledger, unit
from rooflab.labs.cache.hierarchy import LINE, Cache, Hierarchy
from rooflab.labs.cache.simulator import (
    as_addresses,
    as_streams,
    as_walk,
    empty_caches,
    lowest_address,
)
from rooflab.labs.cache.stream import AccessStream, Integers
from rooflab.optional import installed

MOST_ACCESSES = 1 << 27
"""Accesses whose distances are kept at a time: 1 GiB of them."""


@installed("rooflab.cache.stack_distance")
def stack_distance(lines: AccessStream | Sequence[int] | Integers, line: int = LINE) -> Integers:
    """Return how many other lines were touched since each access's line was touched before.

    Parameters
    ----------
    lines : AccessStream, or array of int
        A loop nest, or the numbers of the lines in the order of access.
    line : int, default 64
        For a loop nest: bytes of a line.

    Returns
    -------
    ndarray of int
        One distance for each access, -1 where the line is touched for the first time.

    Raises
    ------
    TypeError, ValueError
        If ``lines`` is neither a stream nor a vector of integers, or has more than 2^27 accesses.

    References
    ----------
    .. [1] R. L. Mattson et al., "Evaluation techniques for storage hierarchies", IBM Systems
       Journal 9(2), 1970.

    Examples
    --------
    >>> rl.cache.stack_distance([7, 8, 9, 7, 7, 8])
    array([-1, -1, -1,  2,  0,  2])
    """
    from rooflab.labs.cache.engine import distances

    streams = as_streams(lines)
    numbers = as_addresses("lines", lines) if streams is None else _lines_of(streams, line)
    names, ranks = np.unique(numbers, return_inverse=True)
    found: Integers = distances(ranks.astype(np.int64), names.size)
    return found


def miss_curve(lines: AccessStream | Sequence[int] | Integers, line: int = LINE) -> Integers:
    """Return the misses of a fully associative cache of 0, 1, 2, … lines.

    Parameters
    ----------
    lines : AccessStream, or array of int
        A loop nest, or the numbers of the lines in the order of access.
    line : int, default 64
        For a loop nest: bytes of a line.

    Returns
    -------
    ndarray of int
        Element c is the number of misses with c lines. The last element is the number of lines
        that are touched at all; a larger cache has as many misses.

    Raises
    ------
    TypeError, ValueError
        As :func:`stack_distance` does.

    Examples
    --------
    >>> rl.cache.miss_curve([7, 8, 9, 7, 7, 8])
    array([6, 5, 5, 3])
    """
    found = stack_distance(lines, line)
    first = int((found < 0).sum())
    reuses = np.bincount(found[found >= 0], minlength=first)
    beyond = np.append(np.cumsum(reuses[::-1])[::-1], 0)
    curve: Integers = first + beyond
    return curve


def smallest_cache(stream: AccessStream, depth: int, line: int | None = None) -> int:
    """Return the smallest LRU cache, in bytes, in which a tiled nest meets its formula.

    The cache is fully associative. It meets the formula if it fetches no more bytes than
    :func:`tile_ledger` says for a memory that holds what the loops inside ``depth`` touch.

    Parameters
    ----------
    stream : AccessStream
        The nest.
    depth : int
        How many loops run over tiles: 3 for a tiled product.
    line : int, optional
        Bytes of a line. By default one element, so that lines cost nothing.

    Returns
    -------
    int
        Bytes, a multiple of the line.

    Raises
    ------
    TypeError, ValueError
        If an argument does not fit, or no cache is large enough, as with lines of which only a
        part is used.

    Examples
    --------
    Tiles of 10×10 words. Three of them are 300 words; the cache must be larger, since B's last
    tile and one of A's rows are still there when the next ones come in. With the loop over k
    outermost inside a tile, a column of A and a row of B are enough beside C:

    >>> stream = rl.cache.gemm_stream(100, 100, 100, tile=10)
    >>> rl.cache.smallest_cache(stream, depth=3) // 4
    410
    >>> stream = rl.cache.gemm_stream(100, 100, 100, tile=10, order="kij")
    >>> rl.cache.smallest_cache(stream, depth=3) // 4
    131
    """
    line = unit(as_stream(stream)) if line is None else size("line", line)
    goal = sum(moved.bytes_in for moved in tile_ledger(stream, depth).values())
    curve = miss_curve(stream, line)
    enough = np.flatnonzero(curve * line <= goal)
    if not enough.size:
        raise ValueError(
            f"line={line}: the nest touches {grouped(int(curve[-1]))} lines, which is more than "
            f"the {grouped(goal)} bytes of the formula; take shorter lines"
        )
    return int(enough[0]) * line


def _lines_of(streams: Sequence[AccessStream], line: int) -> Integers:
    """The numbers of the lines that streams touch, in their order."""
    from rooflab.labs.cache.engine import run

    cache = Hierarchy(Cache("one", size("line", line), line=line))
    operands = tuple(dict.fromkeys(array for one in streams for array in one.arrays))
    shift = lowest_address(streams, line)
    walks = [as_walk(one, operands, shift, line) for one in streams]
    counting = empty_caches(cache, 0, 1, trace=1)
    for walk in walks:
        run(counting, walk)
    number = int(counting.trace[0])
    if number > MOST_ACCESSES:
        raise ValueError(
            f"lines: the stream makes {grouped(number)} accesses, and at most "
            f"{grouped(MOST_ACCESSES)} can be kept; make it smaller"
        )
    keeping = empty_caches(cache, 0, 1, trace=number + 1)
    for walk in walks:
        run(keeping, walk)
    found: np.ndarray[Any, np.dtype[np.int64]] = keeping.trace[1:]
    return found

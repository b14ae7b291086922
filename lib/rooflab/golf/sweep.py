"""One function, many chunk sizes: bytes and real time of each."""

from __future__ import annotations

import functools
import inspect
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy import ndarray

from rooflab.golf.cache import CACHE
from rooflab.golf.score import Golf, golf
from rooflab.golf.trace import Limits
from rooflab.measure.told import fewer

CHUNKS = tuple(2**p for p in range(8, 23, 2))
ROUNDS = fewer(5)
LIMITS = Limits(seconds=60)  # thousands of steps, on a computer that is slow or busy
MOST_CHUNKS = 64  # that a traced run works through: more would only repeat the same steps
MOST_ROUNDS = 4096  # and never more, however large the cache is
MOST_CACHES = 8  # an array so many times the cache is memory, whatever the cache keeps of it


@dataclass(frozen=True)
class ChunkSweep:
    """Bytes and seconds of one function for each chunk size.

    ``golfs``: the traced runs without their arrays, which would fill the memory; those of small
    chunks on fewer elements, which changes no score (``scaled`` says for which). ``seconds``: medians of the untraced function on all
    ``elements``, all chunk sizes in turns; empty where nothing was timed.
    """

    chunks: tuple[int, ...]
    golfs: tuple[Golf, ...] = field(repr=False)
    seconds: tuple[float, ...]
    elements: int
    scaled: tuple[bool, ...] = ()

    @property
    def best(self) -> int:
        """The chunk size with the shortest time, with the lowest score where nothing was timed."""
        return min(zip(self.seconds or self.scores, self.chunks))[1]

    @property
    def scores(self) -> tuple[float, ...]:
        """Score for each chunk size."""
        return tuple(one.score for one in self.golfs)

    def __repr__(self) -> str:
        rows = [f"{self.golfs[0].name}, {self.elements:,} elements", "     chunk  B/element  score"]
        if self.seconds:
            rows[1] += "        ms"
        for i, (chunk, one) in enumerate(zip(self.chunks, self.golfs)):
            row = f"{chunk:>10,} {one.per_element:>10.4g} {one.score:>6.3g}"
            rows.append(row + (f" {1e3 * self.seconds[i]:>9.3g}" if self.seconds else ""))
        return "\n".join(rows)


def sweep(
    f: Callable[..., Any],
    *arrays: ndarray | float,
    chunks: Sequence[int] = CHUNKS,
    minimum: int | None = None,
    cache: int = CACHE,
    rounds: int = ROUNDS,
    threads: int | None = 1,
    limits: Limits = LIMITS,
) -> ChunkSweep:
    """Count and time ``f(*arrays, chunk=c)`` for every ``c`` in ``chunks``.

    ``f`` takes a keyword ``chunk``, a number of elements or rows along the first axis. Where that
    would make more than 64 chunks, the traced run gets the first 64 chunks of every array as long
    as the longest, and more of them while they are less than 8 times the cache. ``minimum`` is for
    all elements. ``rounds=0`` times nothing.
    ``limits``: when one traced run is stopped.

    Raises ValueError for chunks that are no positive whole numbers, and what golf raises.
    """
    sizes = _chunks(f, chunks)
    length = max((len(a) for a in arrays if isinstance(a, ndarray) and a.ndim), default=0)
    if not length:
        raise TypeError("sweep: give at least one array with an axis to cut into chunks")
    golfs, scaled = [], []
    for chunk in sizes:
        some = _fewer(arrays, length, chunk, cache)
        part = functools.partial(f, chunk=chunk)
        share = 1 if some is arrays else len(next(filter(_long(some), some))) / length
        fewest = None if minimum is None else max(1, round(minimum * share))
        one = golf(part, *some, minimum=fewest, cache=cache, limits=limits)
        golfs.append(replace(one, result=None, arguments=()))  # as large as the arrays
        scaled.append(some is not arrays)
    return ChunkSweep(
        sizes,
        tuple(golfs),
        _seconds(f, arrays, sizes, golfs, rounds, threads),
        max(a.size for a in arrays if isinstance(a, ndarray)),
        tuple(scaled),
    )


def _long(arrays: Sequence[Any]) -> Callable[[Any], bool]:
    longest = max(len(a) for a in arrays if isinstance(a, ndarray) and a.ndim)
    return lambda a: isinstance(a, ndarray) and a.ndim > 0 and len(a) == longest


def _fewer(arrays: tuple, length: int, chunk: int, cache: int) -> tuple:
    """The first chunks of every array of full length: enough for memory to stay memory."""
    long = [a for a in arrays if isinstance(a, ndarray) and a.ndim and len(a) == length]
    row = min(a.nbytes // length for a in long) or 1
    enough = min(-(-MOST_CACHES * cache // row // chunk), MOST_ROUNDS) * chunk
    rows = max(MOST_CHUNKS * chunk, enough)
    if rows >= length:
        return arrays
    # Copies, so that they are arrays of their own and not views of the large ones.
    return tuple(
        np.copy(a[:rows], order="K") if any(a is one for one in long) else a for a in arrays
    )


def _seconds(
    f: Callable, arrays: tuple, sizes: Sequence[int], golfs: Sequence[Golf], rounds: int,
    threads: int | None,
) -> tuple[float, ...]:  # fmt: skip
    from rooflab.golf.stopwatch import in_turn

    if not rounds:
        return ()
    whole = [
        replace(one, function=functools.partial(f, chunk=chunk), arguments=arrays)
        for one, chunk in zip(golfs, sizes)
    ]
    return in_turn(whole, rounds=rounds, threads=threads)


def _chunks(f: Callable, chunks: Sequence[int]) -> tuple[int, ...]:
    if "chunk" not in inspect.signature(f).parameters:
        name = getattr(f, "__name__", f)
        raise ValueError(f"f={name} has no parameter chunk; write def {name}(x, …, chunk=4096)")
    try:
        sizes = tuple(operator.index(chunk) for chunk in chunks)
    except TypeError:
        raise TypeError(f"chunks={chunks!r} must be whole numbers, such as (1024, 4096)") from None
    if not sizes or min(sizes) < 1:
        raise ValueError(f"chunks={chunks!r} must be positive whole numbers, one at least")
    return sizes

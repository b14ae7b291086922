"""Byte golf: how many bytes a NumPy function moves, against how few would do."""

from __future__ import annotations

import functools
import gc
import inspect
import math
import operator
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter_ns
from typing import Any

import numpy as np
from numpy import ndarray

from rooflab.count.si import plain, si
from rooflab.count.validation import size
from rooflab.labs.golf.cache import CACHE, MEMORIES
from rooflab.labs.golf.ledger import Step, table
from rooflab.labs.golf.run import run
from rooflab.labs.golf.trace import Limits
from rooflab.measure.settings import fewer
from rooflab.measure.threads import thread_limit
from rooflab.measure.timing import evictor, time_cold

# The real time of what was traced: untraced calls on cold arrays, set back after every call.


def prepared(
    golf: Golf, copies: dict[int, ndarray]
) -> tuple[Callable[[], Any], Callable[[], None]]:
    """Return a call of the untraced function and what sets its arrays back.

    Only the inputs that the traced run wrote to are copied, into ``copies`` (by id of the
    original), which functions that are called in turns share: set back before each call.
    """
    if golf.function is None:
        raise ValueError(f"{golf.name}: this Golf was made without its function; run rl.golf again")
    written = {id(golf.arguments[i]): golf.arguments[i] for i in golf.written}
    for key, original in written.items():
        if key not in copies:
            copies[key] = np.copy(original, order="K")
    mine = [copies[id(value)] if id(value) in written else value for value in golf.arguments]

    def call() -> Any:
        return golf.function(*mine)

    def set_back() -> None:
        for original, copy in zip(golf.arguments, mine):
            if isinstance(copy, ndarray) and copy is not original:
                np.copyto(copy, original)

    return call, set_back


def in_turn(golfs: Sequence[Golf], *, rounds: int) -> tuple[float, ...]:
    """Median seconds of each, timed in turns, so that a busy moment slows all of them alike."""
    with thread_limit(1):
        copies: dict[int, ndarray] = {}
        ready = [prepared(golf, copies) for golf in golfs]
        evict = evictor(0)
        found: list[list[float]] = [[] for _ in golfs]
        for call, set_back in ready:  # pages, threads and code before the clock
            set_back()
            call()
        for _ in range(rounds):
            for times, (call, set_back) in zip(found, ready):
                set_back()
                evict()
                gc.collect(0)
                start = perf_counter_ns()
                call()
                times.append((perf_counter_ns() - start) * 1e-9)
    return tuple(statistics.median(times) for times in found)


SAMPLES = max(3, fewer(7))
FITS = "Golf's cache holds all of these arrays; give larger ones"


@dataclass(frozen=True)
class Golf:
    """What a traced run of a function moved.

    ``bytes`` cross the memory bus in ``steps``, the NumPy calls, each with the bytes of its
    operands; ``minimum`` would do. ``result`` is what the function called ``name`` returned in that
    run, ``elements`` are those of the largest input, and ``changed`` names the inputs that were
    written to (copies of yours), of which ``written`` has the places among the ``arguments``.
    ``function`` is the function itself, which :meth:`time` runs untraced, ``cache`` the bytes of
    the near memory, and ``program`` the NumPy calls as plain data, if they were to be written down.

    Examples
    --------
    >>> import numpy as np
    >>> x, y = np.ones(1_000_000), np.ones(1_000_000)
    >>> golf = rl.golf(lambda x, y: 2 * x + y, x, y)
    >>> golf.bytes, golf.minimum, round(golf.score, 2)
    (40000000, 24000000, 1.67)
    """

    bytes: int
    minimum: int
    steps: tuple[Step, ...] = field(repr=False)
    result: Any = field(repr=False, compare=False)
    name: str = "f"
    elements: int = 1
    changed: tuple[str, ...] = ()
    function: Callable[..., Any] | None = field(default=None, repr=False, compare=False)
    arguments: tuple[Any, ...] = field(default=(), repr=False, compare=False)
    written: tuple[int, ...] = field(default=(), repr=False, compare=False)
    cache: int = CACHE
    program: dict[str, Any] | None = field(default=None, repr=False, compare=False)

    @property
    def fits(self) -> bool:
        """Whether the arrays given fit the cache, so that a score says nothing."""
        given = sum(getattr(a, "nbytes", 0) for a in self.arguments)
        return 0 < given <= self.cache

    @property
    def score(self) -> float:
        """``bytes`` ÷ ``minimum``: 1 is the best. 1.0 where nothing needs to move and nothing
        does."""
        if not self.minimum:
            return math.inf if self.bytes else 1.0
        return self.bytes / self.minimum

    @property
    def per_element(self) -> float:
        """Bytes per element of the largest input."""
        return self.bytes / self.elements

    @property
    def minimum_per_element(self) -> float:
        """The fewest bytes per element of the largest input."""
        return self.minimum / self.elements

    def time(self, *, samples: int = SAMPLES, seconds: float = 0.5) -> float:
        """Really time the function, untraced, on copies of the same arrays: median seconds.

        Arrays that it writes to are set back, and the caches emptied, before every call.
        """
        with thread_limit(1):
            call, set_back = prepared(self, {})
            evict = evictor(0)

            def before() -> None:
                set_back()
                evict()

            return time_cold([call], before, samples=samples, seconds=seconds).median_s

    def __repr__(self) -> str:
        head = (
            f"{plain(self.per_element)} B an element against {plain(self.minimum_per_element)}: "
            f"score {self.score:.3g}"
        )
        if not self.bytes:
            head = "nothing crosses the memory bus" if self.steps else "nothing moves: views only"
        elif self.fits:
            head += f". {FITS}"
        moved = f"{si(self.bytes, 'B')} in {len(self.steps):,} steps"
        about = f"{self.name}, {self.elements:,} elements, {moved}"
        return "\n".join([head, about, *table(self.steps, self.elements)])


def golf(
    f: Callable[..., Any],
    *arrays: ndarray | float,
    minimum: int | None = None,
    cache: int = CACHE,
    memory: str = "cache",
    limits: Limits | None = None,
    record: bool = False,
) -> Golf:
    """Run ``f(*arrays)`` once on traced arrays and count the bytes that cross the memory bus.

    A NumPy call reads every distinct input once and writes its output once. ``cache`` bytes are
    near: what was touched last, of whole arrays and of pieces alike. Bytes found there move
    nothing; what was touched longest ago leaves first, and moves if it was written. At the end
    everything that was written moves, but for arrays that are gone by then. Views move nothing, and
    single numbers count nothing.

    Parameters
    ----------
    f : callable
        A NumPy function of ``arrays``.
    *arrays : ndarray or float
        What ``f`` is called with. Your arrays are not changed: those that ``f`` writes to are
        copied first.
    minimum : int, optional
        Bytes to score against. None: the inputs that are read and the outputs (what is returned or
        an input, and was written), once each: never more than this very function moves.
    cache : int
        Bytes of the near memory, 0 or more; by default 512 KiB.
    memory : {"cache", "scratchpad"}
        "scratchpad" is the stricter rule of a GPU's shared memory: near are only arrays that the
        function makes, as long as they live and have room there together. An input is far, and so
        is every piece of it, however often it is read.
    limits : Limits, optional
        When a function that does not end is stopped. None: after 100 000 steps or 30 s.
    record : bool
        Whether the NumPy calls are written down as a ``program``, which can run elsewhere.

    Returns
    -------
    Golf
        The bytes moved, the minimum, the ``score`` (their ratio, 1 is the best) and every step.

    Raises
    ------
    GolfError
        For a function that raises, never ends, or does what cannot be counted.

    Notes
    -----
    Memory moves in lines of 64 bytes: a number of a view with gaps of a line or more counts one,
    and so does each number of a large matrix that is copied across its rows, unless the lines of a
    column stay in the cache until the next column wants them. The rule is kinder than a machine in
    a few places. Index arrays count the bytes that they name, not the lines around them. What is
    written is not fetched first. ``a @ a`` reads ``a`` once, though a large product passes over it
    many times. ``np.empty`` and ``np.zeros`` cost nothing: NumPy writes to neither, and the system
    clears a page when it is first written to. ``np.zeros_like`` writes its zeros: one trip.

    Examples
    --------
    >>> import numpy as np
    >>> x, y = np.ones(1_000_000), np.ones(1_000_000)
    >>> print(rl.golf(lambda x, y: 2 * x + y, x, y))
    40 B an element against 24: score 1.67
    the function, 1,000,000 elements, 40.0 MB in 2 steps
        1  multiply             16 B  read x 8, write tmp1 8
        2  add                  24 B  read tmp1 8, read y 8, write result 8
    """
    if memory not in MEMORIES:
        raise ValueError(f"memory={memory!r} must be one of {', '.join(map(repr, MEMORIES))}")
    near = MEMORIES[memory](size("cache", cache, 0))
    own = {} if minimum is None else {"minimum": size("minimum", minimum)}
    found = run(f, arrays, near, limits or Limits(), record) | own
    return Golf(**found, function=f, arguments=arrays, cache=near.size)


# One function, many chunk sizes: bytes and real time of each.


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
    chunks on fewer elements, which changes no score (``scaled`` says for which). ``seconds``:
    medians of the untraced function on all ``elements``, all chunk sizes in turns; empty where
    nothing was timed.
    """

    chunks: tuple[int, ...]
    golfs: tuple[Golf, ...] = field(repr=False)
    seconds: tuple[float, ...]
    elements: int

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
    golfs = []
    for chunk in sizes:
        some, share = _fewer(arrays, length, chunk, cache)
        part = functools.partial(f, chunk=chunk)
        fewest = None if minimum is None else max(1, round(minimum * share))
        one = golf(part, *some, minimum=fewest, cache=cache, limits=limits)
        golfs.append(replace(one, result=None, arguments=()))  # as large as the arrays
    whole = [replace(one, arguments=arrays) for one in golfs]
    seconds = in_turn(whole, rounds=rounds) if rounds else ()
    most = max(a.size for a in arrays if isinstance(a, ndarray))
    return ChunkSweep(sizes, tuple(golfs), seconds, most)


def _fewer(arrays: tuple, length: int, chunk: int, cache: int) -> tuple[tuple, float]:
    """The first chunks of every array of full length, enough for memory to stay memory; their
    share."""
    long = [a for a in arrays if isinstance(a, ndarray) and a.ndim and len(a) == length]
    row = min(a.nbytes // length for a in long) or 1
    enough = min(-(-MOST_CACHES * cache // row // chunk), MOST_ROUNDS) * chunk
    rows = max(MOST_CHUNKS * chunk, enough)
    if rows >= length:
        return arrays, 1
    # Copies, so that they are arrays of their own and not views of the large ones.
    some = (np.copy(a[:rows], order="K") if any(a is one for one in long) else a for a in arrays)
    return tuple(some), rows / length


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

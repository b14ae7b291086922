"""Byte golf: how many bytes a NumPy function moves, against how few would do."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any

import numpy as np
from numpy import ndarray

from rooflab.count.si import plain, si
from rooflab.golf.cache import CACHE, MEMORIES
from rooflab.golf.ledger import Step, table
from rooflab.golf.run import run
from rooflab.golf.trace import Limits
from rooflab.measure.told import fewer

SAMPLES = max(3, fewer(7))
FITS = "Golf's cache holds all of these arrays; give larger ones"


@dataclass(frozen=True)
class Golf:
    """What a traced run of a function moved.

    ``bytes``: bytes that cross the memory bus, in ``steps``; ``minimum``: the fewest that would
    do; ``result``: what the function returned, computed by the traced run; ``elements``: elements
    of the largest input; ``changed``: names of the inputs that were written to (copies of yours).
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

    @property
    def sentence(self) -> str:
        """One sentence: bytes, minimum, score, and what most of the extra bytes are."""
        if not self.bytes:
            return f"{self.name}: {self._nothing()}."
        head = (
            f"{self.name} moves {plain(self.per_element)} bytes an element, and "
            f"{plain(self.minimum_per_element)} would do: score {self.score:.3g}"
        )
        if self.fits:
            return f"{head}. {FITS}."
        made = self._made()
        extra = self.bytes - self.minimum
        if extra <= 0 or not made:
            return f"{head}."
        share = plain(made / self.elements)
        return f"{head}. {share} of them only carry temporaries out to memory and back."

    def _nothing(self) -> str:
        if not self.steps:
            return "nothing moves: views only"
        return "nothing crosses the memory bus"

    def _made(self) -> int:
        return sum(
            trip.moved
            for step in self.steps
            for trip in step.operands
            if trip.name.startswith("tmp")
        )

    def time(
        self, *, threads: int | None = 1, samples: int = SAMPLES, seconds: float = 0.5
    ) -> float:
        """Really time the function, untraced, on copies of the same arrays: median seconds.

        Arrays that it writes to are set back, and the caches emptied, before every call.
        """
        from rooflab.golf.stopwatch import timed

        return timed(self, threads=threads, samples=samples, seconds=seconds)

    def __repr__(self) -> str:
        head = (
            f"{plain(self.per_element)} B an element against {plain(self.minimum_per_element)}: "
            f"score {self.score:.3g}"
        )
        if not self.bytes:
            head = self._nothing()
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
) -> Golf:
    """Run ``f(*arrays)`` once on traced arrays and count the bytes that cross the memory bus.

    A NumPy call reads every distinct input once and writes its output once. ``cache`` bytes are
    near: what was touched last, of whole arrays and of pieces alike. Bytes found there move
    nothing; what was touched longest ago leaves first, and moves if it was written. At the end
    everything that was written moves, but for arrays that are gone by then. Views move nothing, and
    single numbers count nothing.

    ``memory="scratchpad"`` is the stricter rule of a GPU's shared memory: near are only arrays that
    the function makes, as long as they live and have room there together. An input is far, and
    so is every piece of it, however often it is read.

    The rule is kinder than a machine in a few places. Views with gaps of a line (64 bytes) or more
    and index arrays count the bytes that they name, not the lines around them. What is written is
    not fetched first. ``a @ a`` reads ``a`` once, though a large product passes over it many
    times. ``np.empty`` and ``np.zeros`` cost nothing: NumPy writes to neither, and the system
    clears a page when it is first written to. ``np.zeros_like`` writes its zeros: one trip.

    The arrays that you give are not changed: those that ``f`` writes to are copied first.

    ``minimum``: bytes to score against; by default the inputs that are read and the outputs
    (what is returned or an input, and was written), once each: never more than this very function
    moves. ``limits``: when a function that does not end is stopped.

    Raises TypeError for inputs that are no NumPy arrays or numbers, and GolfError, a ValueError,
    for a function that raises, never ends, or does what cannot be counted.
    """
    if memory not in MEMORIES:
        raise ValueError(f"memory={memory!r} must be one of {', '.join(map(repr, MEMORIES))}")
    near = MEMORIES[memory](_bytes("cache", cache, 0))
    fewest = None if minimum is None else _bytes("minimum", minimum, 1)
    done = run(f, arrays, near, limits or Limits())
    moved = sum(step.bytes for step in done.steps)
    return Golf(
        moved,
        done.minimum if fewest is None else fewest,
        done.steps,
        done.result,
        done.name,
        done.elements,
        done.changed,
        f,
        arrays,
        done.written,
        near.size,
    )


def _bytes(name: str, value: object, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, (Integral, np.integer)):
        raise TypeError(f"{name}={value!r} must be a whole number of bytes")
    if value < least:
        raise ValueError(f"{name}={value!r} must be {least} bytes or more")
    return int(value)

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
from rooflab.golf.ledger import CACHE, Step, table
from rooflab.golf.run import run
from rooflab.golf.trace import Limits
from rooflab.measure.told import fewer

SAMPLES = max(3, fewer(7))


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
        made = self._made()
        extra = self.bytes - self.minimum
        if extra <= 0 or not made:
            return f"{head}."
        share = plain(made / self.elements)
        return f"{head}. {share} of them only carry temporaries out to memory and back."

    def _nothing(self) -> str:
        if not self.steps:
            return "nothing moves: views only"
        return "nothing crosses the memory bus: every array fits the cache; give larger arrays"

    def _made(self) -> int:
        return sum(
            trip.bytes
            for step in self.steps
            for trip in step.operands
            if trip.where == "memory" and trip.name.startswith("tmp")
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
        moved = f"{si(self.bytes, 'B')} in {len(self.steps):,} steps"
        about = f"{self.name}, {self.elements:,} elements, {moved}"
        return "\n".join([head, about, *table(self.steps, self.elements)])


def golf(
    f: Callable[..., Any],
    *arrays: ndarray | float,
    minimum: int | None = None,
    cache: int = CACHE,
    limits: Limits | None = None,
) -> Golf:
    """Run ``f(*arrays)`` once on traced arrays and count the bytes that cross the memory bus.

    A NumPy call reads every distinct input once and writes its output once. Arrays of up to
    ``cache`` bytes count as cache; larger ones, and every view of them, as memory. Views move
    nothing, single numbers count nothing. What the real cache keeps by luck is not counted.
    Arrays in the cache have room up to 4 × ``cache`` bytes at a time: beyond that the one touched
    longest ago spills (a step of its own that writes it) and counts as memory from then on.
    Inputs that fit the cache take none of that room.

    The rule is kinder than a machine in a few places. Slices with a step and index arrays count
    the bytes that they name, not the lines of 64 bytes around them. ``a @ a`` reads ``a`` once,
    though a large product passes over it many times. ``np.empty`` and ``np.zeros`` cost nothing
    (the system hands out zeroed pages), ``np.zeros_like`` one write.

    The arrays that you give are not changed: those that ``f`` writes to are copied first.

    ``minimum``: bytes to score against; by default the inputs that are read and the outputs
    (what is returned or an input, and was written), once each, those in memory: never more than
    the trips of this very function. ``limits``: when a function that does not end is stopped.

    Raises TypeError for inputs that are no NumPy arrays or numbers, and GolfError, a ValueError,
    for a function that raises, never ends, or does what cannot be counted.
    """
    cache = _bytes("cache", cache, 0)
    fewest = None if minimum is None else _bytes("minimum", minimum, 1)
    done = run(f, arrays, cache, limits or Limits())
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
    )


def _bytes(name: str, value: object, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, (Integral, np.integer)):
        raise TypeError(f"{name}={value!r} must be a whole number of bytes")
    if value < least:
        raise ValueError(f"{name}={value!r} must be {least} bytes or more")
    return int(value)

"""The two bars of a chunk sweep: the time measured, and the time that the counted bytes promise.

The promise starts from one measured time, that of the largest chunk: half the bytes, half the
time. So both bars agree there, and elsewhere the gap between them is what bytes do not explain.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rooflab.count.si import percent, si, times
from rooflab.show import theme
from rooflab.show.golf_steps import story
from rooflab.show.golf_story import Story

#: From this gap on the sentence speaks of it; below it lies what timings scatter anyway.
WORTH_SAYING = 1.25
#: How much longer than the largest chunk's bar another may be before it is cut off.
ROOM_TO_GROW = 1.25


@dataclass(frozen=True)
class Sweep:
    """Chunk sizes in rising order with their stories, measured and counted seconds.

    Both are empty where nothing was timed: then there are no bars.
    """

    chunks: tuple[int, ...]
    stories: tuple[Story, ...]
    measured: tuple[float, ...]
    counted: tuple[float, ...]

    @property
    def reach(self) -> float:
        """Seconds that the bars' bed is long: the largest chunk's bar decides, longer ones run
        off."""
        return min(max(*self.measured, *self.counted), ROOM_TO_GROW * self.measured[-1])

    def shares(self, at: int) -> tuple[float, float]:
        """Both bars' parts of their bed, 0 to 1; what would be longer ends with the bed."""
        return tuple(min(1.0, s / self.reach) for s in (self.measured[at], self.counted[at]))

    def labels(self, at: int) -> tuple[str, str]:
        """The two times, with an arrow where the bar is cut off."""
        both = (self.measured[at], self.counted[at])
        return tuple(si(s, "s") + (" →" if s > self.reach else "") for s in both)

    def says(self, at: int) -> tuple[str, str]:
        """The two times in words."""
        return si(self.measured[at], "s"), si(self.counted[at], "s")

    def sentence(self, at: int) -> str:
        """What was measured with this chunk, what the bytes promise, and why they may differ."""
        if not self.measured:
            return f"Chunks of {theme.count(self.chunks[at])}."
        measured, counted = self.says(at)
        said = f"Chunks of {theme.count(self.chunks[at])}: measured {measured}"
        if at == len(self.chunks) - 1:
            return f"{said}; the counted bars of smaller chunks start from it."
        share = percent(self.stories[at].total / self.stories[-1].total)
        said += f", counted {counted} ({share} of the bytes)."
        gap = self.measured[at] / self.counted[at]
        if gap > WORTH_SAYING:
            why = f"{theme.count(self.stories[at].calls)} calls take time, too"
            return f"{said} {times(gap, 2)} more: {why}."
        if gap < 1 / WORTH_SAYING:
            why = "a larger cache kept some of them"
            return f"{said} {times(1 / gap, 2)} less: {why}."
        return said


def sweep(given: Any) -> Sweep:
    """Read a ChunkSweep, smallest chunk first.

    Raises TypeError for something that is none, ValueError for lengths that differ, a chunk
    that comes twice, times that are not positive, or a run that moved nothing.
    """
    missing = [name for name in ("chunks", "golfs", "seconds") if not hasattr(given, name)]
    if missing:
        raise TypeError(
            f"golf={given!r} has no {', '.join(missing)}; "
            "pass what rl.golf or rooflab.golf.sweep returned"
        )
    lengths = {len(given.chunks), len(given.golfs), len(given.seconds) or len(given.chunks)}
    if len(lengths) != 1 or lengths == {0}:
        raise ValueError(
            f"golf: {len(given.chunks)} chunks, {len(given.golfs)} golfs, "
            f"{len(given.seconds)} seconds; give one of each a chunk size"
        )
    if len(set(given.chunks)) != len(given.chunks):
        raise ValueError(f"golf: chunks={tuple(given.chunks)!r} has one size twice")
    order = sorted(range(len(given.chunks)), key=lambda i: given.chunks[i])
    seconds = [float(given.seconds[i]) for i in order if len(given.seconds)]
    if not all(math.isfinite(s) and s > 0 for s in seconds):
        raise ValueError(f"golf: seconds={tuple(given.seconds)!r} must all be positive")
    stories = tuple(story(given.golfs[i], fold=True, whole=_whole(given, i)) for i in order)
    if not all(one.total > 0 for one in stories):
        raise ValueError("golf: a run of the sweep moved no byte; take a larger array")
    counted = tuple(seconds[-1] * one.total / stories[-1].total for one in stories if seconds)
    return Sweep(tuple(given.chunks[i] for i in order), stories, tuple(seconds), counted)


def _whole(given: Any, at: int) -> float:
    """How many times as long the timed run is as the traced one: small chunks are traced on
    less."""
    elements, traced = (getattr(one, "elements", 0) for one in (given, given.golfs[at]))
    return elements / traced if elements and traced else 1.0


def bars(shown: Sweep, room: float) -> dict[str, Sequence[Any]]:
    """Lengths in pixels and labels of both bars at every chunk, for a bed ``room`` pixels long."""
    timed = range(len(shown.measured))
    return {
        "lengths": [[round(room * share, 1) for share in shown.shares(at)] for at in timed]
        or [[]] * len(shown.chunks),
        "says": [list(shown.labels(at)) for at in timed],
        "sentences": [shown.sentence(at) for at in range(len(shown.chunks))],
    }

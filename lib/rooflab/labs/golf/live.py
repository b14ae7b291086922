"""Byte golf, live: blocks cross the bus step by step, and a chunk size that spares some the trip.

``golf(run)`` has one slider, the step; ``golf(sweep)`` a second one, the chunk size.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rooflab.labs.golf.picture import NARROW, WIDE, golf_scene
from rooflab.labs.golf.story import sweep
from rooflab.show.scene.player import Player

if TYPE_CHECKING:
    from rooflab.show.guess_axis import GuessAxis


class GolfPicture(Player):
    """A run, or a sweep of it: ``step`` and ``chunk`` are where its sliders stand."""

    def states(self) -> Sequence[Mapping[str, Any]]:
        """Its still is the last step: there all blocks lie in the ledger."""
        return [{**self.state, "step": len(self.scene.dim("step").stops) - 1}]

    @property
    def words(self) -> str:
        """What its still shows."""
        return self.cover if self.covered else self.scene.sentence(**self.states()[-1])


def golf(
    golf_or_sweep: Any, *, after: GuessAxis | None = None, start: int | None = None
) -> GolfPicture:
    """Show a golf run crossing the bus step by step, or a sweep of it over chunk sizes.

    Parameters
    ----------
    golf_or_sweep : Golf or ChunkSweep
        What was counted. A sweep starts at its largest chunk.
    after : GuessAxis, optional
        What ``rl.ask`` returned: the picture stays covered until that guess is placed.
    start : int, optional
        The step shown first; None is 0, where the first block is on its way.

    Returns
    -------
    GolfPicture
        A widget; its ``sentence`` says what the picture shows.

    Examples
    --------
    >>> import numpy as np
    >>> run = rl.golf(lambda x, y: 2 * x + y, np.ones(1_000_000), np.ones(1_000_000))
    >>> print(rl.live.golf(run, start=1).sentence)
    Step 1 of 2, multiply: x is read, tmp1 is written, 16 bytes an element.
    """
    shown = sweep(golf_or_sweep)
    sheets = (golf_scene(shown, width) for width in (WIDE, NARROW))
    return GolfPicture(*sheets, stem="golf", kind="rl-golf", after=after, step=start or 0)

"""What a turn of a nest costs and what a byte costs that a cache fetches, found from measurements.

A nest that neither reaches the peak nor the bandwidth follows no roof. Its time is close to a sum
of two parts: the turns of its innermost loop, and the bytes that come from behind the cache.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rooflab.count.validation import amount

LEAST = 2  # measurements for two costs


@dataclass(frozen=True)
class TurnCost:
    """Two costs of a program, as :func:`turn_cost` finds them.

    ``turn_s`` is seconds of a turn of the innermost loop whose data are near, ``byte_s`` seconds on
    top for each byte that the cache fetches or writes back.

    >>> rl.cache.TurnCost(turn_s=0.5e-9, byte_s=2e-12).seconds(turns=1e9, moved=4e9)
    0.508
    """

    turn_s: float
    byte_s: float

    def seconds(self, turns: float, moved: float) -> float:
        """Return what so many turns take that move so many bytes."""
        return self.turn_s * turns + self.byte_s * moved


def turn_cost(turns: Sequence[float], moved: Sequence[float], seconds: Sequence[float]) -> TurnCost:
    """Find the two costs of a program from runs of several sizes.

    Parameters
    ----------
    turns : sequence of float
        How often the innermost loop turns, one number for each run.
    moved : sequence of float
        Bytes that the cache fetches and writes back in each run, simulated or by a formula.
    seconds : sequence of float
        What each run took.

    Returns
    -------
    TurnCost
        The costs, neither of them negative, with the least relative error.

    Notes
    -----
    The two costs can only be told apart if the bytes for a turn differ among the runs. Where they
    do not, the sum is still right for another run with as many bytes for a turn.

    Examples
    --------
    Costs of 1 ns and 0.1 ns per byte are found again:

    >>> found = rl.cache.turn_cost([1e6, 8e6], [4e6, 320e6], [1.4e-3, 40e-3])
    >>> round(found.turn_s * 1e9, 6), round(found.byte_s * 1e9, 6)
    (1.0, 0.1)
    """
    from scipy.optimize import nnls

    columns = {"turns": turns, "moved": moved, "seconds": seconds}
    for name, values in columns.items():
        for value in values:
            amount(name, value, "a positive number")
    if len(turns) < LEAST or len({len(one) for one in columns.values()}) > 1:
        sizes = ", ".join(f"{len(one)} {name}" for name, one in columns.items())
        raise ValueError(f"{sizes}: give as many of each, and {LEAST} or more")
    rows = np.column_stack([turns, moved]) / np.asarray(seconds, float)[:, None]
    scale = rows.max(axis=0)
    costs, _ = nnls(rows / scale, np.ones(len(rows)))
    return TurnCost(*(float(one) for one in costs / scale))

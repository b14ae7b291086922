"""The iterations of two loops as points, to be pulled at.

Arrows are dependences: the iteration at an arrow's tail must run before the one at its head. An
arrow that an order breaks is red and dashed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rooflab.labs.loops.pictures.fates import Pair, Point, counted
from rooflab.labs.loops.pictures.sheet import NARROW, WIDE, Sheet
from rooflab.show.scene.player import Player

if TYPE_CHECKING:
    from rooflab.labs.loops.nest import Nest

MOST = 12  # turns of a loop that still leave room for arrows


def space(nest: Nest, pair: Pair | None = None) -> Player:
    """Show two loops' iterations, the order in which they run, and the dependences that it breaks.

    The space is pulled: the knob at the end of the last row skews it, the one at the first tile
    makes tiles larger, and buttons say whether rows or columns run first. The traits ``skew``,
    ``tile``, ``order`` and ``step`` say the same from Python.

    Parameters
    ----------
    nest : Nest
        One statement in two loops of at most 12 turns each. Its original order is where the
        picture starts.
    pair : pair of pairs of int, optional
        Two iterations to mark as your own: one that waits, and the one that it waits for.

    Returns
    -------
    Player
        A widget; ``sentence`` says what it shows.

    Examples
    --------
    >>> nest = rl.loops.Nest({"i": (1, 7), "j": 6}, "A[i,j] = A[i-1,j+1]*0.5")
    >>> picture = rl.loops.space(nest, pair=((2, 0), (1, 1)))
    >>> picture.order = "columns first"
    >>> print(picture.sentence)
    Columns first: not legal, 25 of 25 arrows are red. S(1,1) writes A[1,1] and S(2,0) reads it, ...
    >>> picture.skew = 1
    >>> print(picture.sentence)
    Columns first, j skewed by i: legal, all 25 arrows keep their order. Yours: S(1,1) runs first...
    """
    dims = nest.dims("S")
    extents = [nest.extents[dim] for dim in dims]
    turns = max(end - first for first, end in extents)
    if len(nest.statements) != 1 or len(dims) != 2 or turns > MOST:
        raise ValueError(f"nest: one statement in two loops of at most {MOST} turns can be drawn")
    own: tuple[Point, ...] = ()
    if pair is not None:
        try:
            own = tuple(map(tuple, pair))
        except TypeError:
            own = ()
        if len(own) != 2 or not {*own} <= {*counted(nest).fates[0, 0, 0].order}:
            raise ValueError(f"pair={pair!r} must be two iterations of the nest, ((i, j), (i, j))")
    sheets = (Sheet(counted(nest), wide, own).scene for wide in (WIDE, NARROW))
    return Player(*sheets, stem="loops", kind="rl-wide")

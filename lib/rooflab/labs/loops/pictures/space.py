"""The iterations of two loops as points, to be pulled at, or under schedules with names.

Arrows are dependences: the iteration at an arrow's tail must run before the one at its head. An
arrow that a schedule breaks is red and dashed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rooflab.labs.loops.pictures import knobs
from rooflab.labs.loops.pictures.fates import Fate, Pair, direct, fate
from rooflab.labs.loops.pictures.sheet import NARROW, WIDE, Place, Sheet
from rooflab.show.scene import Dim, Scene
from rooflab.show.scene.player import Player

if TYPE_CHECKING:
    from rooflab.labs.loops.nest import Nest

MOST = 12  # turns of a loop that still leave room for arrows


def space(nest: Nest, schedules: Mapping[str, Nest] | None = None) -> Player:
    """Show two loops' iterations, the order in which they run, and the dependences that it breaks.

    By default the space is pulled: the knob at the end of the last row skews it, the one at the
    first tile makes tiles larger, and buttons say whether rows or columns run first. The traits
    ``skew``, ``tile``, ``order`` and ``step`` say the same from Python.

    Parameters
    ----------
    nest : Nest
        One statement in two loops of at most 12 turns each. Its original order is where the
        picture starts.
    schedules : mapping of str to Nest, optional
        Schedules to choose from instead, by the words on their buttons. The trait ``schedule``
        holds the one that is shown.

    Returns
    -------
    Player
        A widget; ``sentence`` says what it shows.

    Examples
    --------
    >>> nest = rl.loops.Nest({"i": (1, 7), "j": 6}, "A[i,j] = A[i-1,j+1]*0.5")
    >>> picture = rl.loops.space(nest)
    >>> picture.order = "columns first"
    >>> print(picture.sentence)
    Columns first: not legal, 25 of 25 arrows are red. S(1,1) writes A[1,1] and S(2,0) reads it, ...
    >>> picture.skew = 1
    >>> print(picture.sentence)
    Columns first, j skewed by i: legal, all 25 arrows keep their order. 36 of 36 iterations ...
    """
    dims = nest.dims("S")
    sizes = [nest.extents[dim][1] - nest.extents[dim][0] for dim in dims]
    if len(nest.statements) != 1 or len(dims) != 2 or max(sizes) > MOST:
        raise ValueError(f"nest: one statement in two loops of at most {MOST} turns can be drawn")
    if schedules is None:
        return Player(*knobs.scenes(nest), stem="loops", kind="rl-wide")
    for name, one in schedules.items():
        if (one.extents, one.statements) != (nest.extents, nest.statements):
            raise ValueError(f"schedules[{name!r}] is of another nest: {one.statements[0].text}")
    return Player(*_named(nest, schedules), stem="loops")


def _named(nest: Nest, schedules: Mapping[str, Nest]) -> list[Scene]:
    """The sheets with a button for each schedule, the widest first."""
    arrows = direct(nest)
    fates = [fate(one, arrows) for one in schedules.values()]
    return [_scene(nest, list(schedules), arrows, fates, wide) for wide in (WIDE, NARROW)]


def _scene(
    nest: Nest, names: Sequence[str], arrows: Sequence[Pair], found: Sequence[Fate], wide: float
) -> Scene:
    fates: dict[Place, Fate] = {(n,): one for n, one in enumerate(found)}
    sheet = Sheet(nest, arrows, [Dim("schedule", names, names, glide=250)], fates, (0,), wide)
    sheet.draw()
    scene = sheet.scene
    scene.choice("schedule", "schedule", names)
    scene.play("step")
    scene.slider("step", "iterations run")
    said = [
        f"{name}: legal." if one.legal else f"{name}: not legal. {one.why}"
        for name, one in zip(names, found)
    ]
    scene.says = sheet.says(sheet.each(lambda place, one: said[place[0]]))
    scene.note(sheet.code(), "code")
    scene.note(f"{nest.statements[0].text}. An arrow's tail must run before its head.")
    return scene

"""Guesses that are placed in the page: what the morph waits for, and where each guess would hang.

A guess axis is a fixed row of places. The morph knows each of them beforehand, so that a guess
placed in the browser hangs at its point at once, without a kernel too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rooflab.show.morph_axes import Layout
    from rooflab.show.morph_points import Dot
    from rooflab.show.room import Room

Placed = dict[str, Any]  # a point of the picture's geometry, in pixels
COUNTS = {2: "two", 3: "three", 4: "four", 5: "five", 6: "six"}


@dataclass(frozen=True)
class Asked:
    """A guess axis about the time of an operation: its widget's id, the seconds at its places."""

    id: str
    seconds: tuple[float, ...]


def is_axis(value: object) -> bool:
    """Whether ``value`` is a guess axis (what ``rl.ask`` returns)."""
    return hasattr(value, "covered") and hasattr(value, "unit") and hasattr(value, "geometry")


def awaited(after: object) -> tuple[Any, ...]:
    """What the picture waits for, as a tuple: one thing, several, or the values of a dict.

    Raises TypeError for anything that is never covered.
    """
    if after is None:
        return ()
    if isinstance(after, Mapping):
        after = after.values()
    single = hasattr(after, "covered") or isinstance(after, str) or not isinstance(after, Iterable)
    found = (after,) if single else tuple(after)
    for one in found:
        if not (hasattr(one, "covered") and hasattr(one, "model_id")):
            raise TypeError(
                f"after={one!r} is no guess axis; pass what rl.ask returned, one or several"
            )
    return found


def sentence(things: Sequence[Any]) -> str:
    """What has to be done before the picture opens."""
    axes = sum(is_axis(one) for one in things)
    todo = []
    if axes:
        todo.append(
            "placed your guess"
            if axes == 1
            else f"placed your {COUNTS.get(axes, str(axes))} guesses"
        )
    if axes < len(things):
        todo.append("sorted the cards")
    return f"Covered until you have {' and '.join(todo)} above."


def places(dot: Dot, three: Sequence[Layout], plot: Sequence[int]) -> Placed:
    """The guess at every place of the axis: heights in the three layouts, words; no label yet."""
    _, top, _, bottom = plot
    guesses = [dot.at_guess(seconds) for seconds in dot.asked.seconds]
    heights = [
        [lay.place(g.op.intensity, g.op.flops, g.guess)[1] for lay in three] for g in guesses
    ]
    return {
        "id": dot.asked.id,
        "y": [[min(max(y, top), bottom) for y in row] for row in heights],
        "says": [g.off_by for g in guesses],
        "told": [g.guess_told for g in guesses],
        "label": [],
    }


def write_labels(room: Room, points: Sequence[Placed], k: int) -> None:
    """Find room beside every place for its words; what another guess's words take is seen later."""
    from rooflab.show.room import around

    for p in (p for p in points if "asked" in p):
        x, asked = p["at"][k][0], p["asked"]
        for row, text in zip(asked["y"], asked["says"], strict=True):
            asked["label"].append(room.try_put(text, around(x, row[k], text)))


def resolved(geometry: dict[str, Any], axes: Mapping[str, Any]) -> dict[str, Any]:
    """``geometry`` with the guesses that the axes hold now in their points, for a still picture."""
    return geometry | {"points": [_resolved(p, axes) for p in geometry["points"]]}


def _resolved(p: Placed, axes: Mapping[str, Any]) -> Placed:
    axis = axes.get(p["asked"]["id"]) if "asked" in p else None
    at = axis.guess_at if axis is not None and not axis.covered else -1
    if not 0 <= at < (len(p["asked"]["y"]) if axis is not None else 0):
        return p
    asked = p["asked"]
    guess = {
        "at": [[x, y] for (x, _), y in zip(p["at"], asked["y"][at], strict=True)],
        "label": [None, None, asked["label"][at]],
        "says": asked["says"][at],
    }
    return p | {"guess": guess, "says": p["says"] + asked["told"][at]}

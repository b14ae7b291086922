"""Guesses that are placed in the page: what the morph waits for, and where each guess would hang.

A guess axis is a fixed row of places. The morph knows each of them beforehand, so that a guess
placed in the browser hangs at its point at once, without a kernel too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rooflab.show.morph_axes import Layout
    from rooflab.show.morph_points import Dot
    from rooflab.show.room import Room

Placed = dict[str, Any]  # a point of the picture's geometry, in pixels


@dataclass(frozen=True)
class Asked:
    """A guess axis about the time of an operation: its widget's id, the seconds at its places."""

    id: str
    seconds: tuple[float, ...]


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

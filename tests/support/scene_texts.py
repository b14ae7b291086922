"""Where the words of a scene stand, from the widths of their letters: what lies on what."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from rooflab.show.labels import SIZE, width
from rooflab.show.scene import Mark, Scene
from tests.support.scenes import some_states

RISE, FALL = 0.928, 0.236  # of a line of DejaVu Sans above and below its foot, in letter sizes
SIDE, LID = 1.5, 3.5  # pixels of its edge that a text may give away: a line is higher than letters
SHARE = {"start": 0.0, "middle": 0.5, "end": 1.0}


class Word(NamedTuple):
    text: str
    corners: np.ndarray


def words(scene: Scene, **state: Any) -> list[Word]:
    """All texts that are seen in a state, each with the four corners of its box."""
    found, places = [], scene.places(**state)
    for mark in scene.marks:
        if mark.kind == "text":
            held = {name: scene.settled(value, places) for name, value in mark.channels.items()}
            seen = float(np.ravel(held["opacity"])[0]) > 0.05 and not np.isnan(held["at"]).any()
            if seen and held["text"]:
                found.append(Word(str(held["text"]), _corners(mark, held)))
    return found


def _corners(mark: Mark, held: dict[str, Any]) -> np.ndarray:
    size, text = mark.look["size"], str(held["text"])
    wide = 0.602 * size * len(text) if mark.look["mono"] else width(text) / SIZE * size
    left, high, low = SIDE - SHARE[str(held["anchor"])] * wide, LID - RISE * size, FALL * size - LID
    right = left + wide - 2 * SIDE
    turn = math.radians((*held["at"], *np.ravel(held.get("turn", 0.0)))[2])
    spin = np.array([[math.cos(turn), math.sin(turn)], [-math.sin(turn), math.cos(turn)]])
    box = np.array([(left, high), (right, high), (right, low), (left, low)])
    return box @ spin + np.asarray(held["at"])[:2]


def gap(one: np.ndarray, other: np.ndarray) -> float:
    """Pixels between two boxes, along the edge that parts them best; negative where they meet."""
    best = -math.inf
    for box in (one, other):
        for a, b in ((box[0], box[1]), (box[1], box[2])):
            along = (b - a) / max(1e-9, math.hypot(*(b - a)))
            p, q = one @ along, other @ along
            best = max(best, q.min() - p.max(), p.min() - q.max())
    return best


def faults(scene: Scene, **state: Any) -> tuple[list[str], float]:
    """What is cut off or lies on another text; and the smallest gap that is left."""
    found, least, every = [], math.inf, words(scene, **state)
    corners = np.array([box for _, box in every]).reshape(-1, 4, 2)
    lows, highs = corners.min(axis=1), corners.max(axis=1)
    for n, (text, box) in enumerate(every):
        if (lows[n] < -1).any() or (highs[n] > (scene.width + 1, scene.height + 1)).any():
            found.append(f"{text} is cut off")
        # Only what lies nearer than a line of text, in the boxes around both, may be on it.
        near = ((lows[:n] < highs[n] + 20) & (highs[:n] > lows[n] - 20)).all(axis=1)
        for other in np.flatnonzero(near):
            least = min(least, left := gap(box, corners[other]))
            if left < 0:
                found.append(f"{text} lies on {every[other].text}")
    return found, least


def crowded(scene: Scene, many: int, looked_at: int = 24) -> list[dict[str, Any]]:
    """The first and the last of a scene's states, and those in which its words are closest."""
    every = [*some_states(scene, limit=looked_at)]
    last = {dim.name: [*dim.names][-1] if dim.names else len(dim.stops) - 1 for dim in scene.given}
    closest = sorted(every[1:], key=lambda state: faults(scene, **state)[1])
    return [every[0], last, *closest[:many]]

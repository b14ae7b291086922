"""A beam search in a graph so small that all of it can be seen, with its width on a slider."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np

from rooflab.count.si import plain, several
from rooflab.show.labels import spread
from rooflab.show.scene import By, Dim, Scene
from rooflab.show.scene.axes import LETTERS, Frame
from rooflab.show.scene.player import Player

Children: TypeAlias = Mapping[str, Sequence[str]]
Seconds: TypeAlias = Mapping[str, float]

#: Width 2 finds the fastest schedule; 1 is too narrow, and 3 keeps what leads nowhere.
CHILDREN: Children = {
    "s": ["a", "b", "c"], "a": ["d"], "b": [], "c": ["e", "f"], "d": ["g"], "e": [], "f": [],
    "g": [],
}  # fmt: skip
SECONDS: Seconds = {"s": 50, "a": 24, "b": 34, "c": 44, "d": 30, "e": 22, "f": 11, "g": 5}
WIDE, NARROW, HIGH = 720, 400, 330
LEFT, TOP, FOOT, RIGHT = 56, 34, 24, 36
WIDEST = 4  # width, at which all of them are timed
PACE = 800  # milliseconds of a round
PALE = 0.35


def tree() -> Player:
    """Show what a beam search times and keeps in a small graph of schedules, by its width.

    Returns
    -------
    Player
        A widget. ``width`` and ``round`` are the stops of its sliders.

    Examples
    --------
    >>> picture = rl.search.tree()
    >>> print(picture.sentence)
    Width 1 is done after round 2: it has timed 5 of 8 schedules and found a, 24 s. It never times \
g, the fastest of all, 5 s.
    """
    beams = [Beam(width) for width in range(1, WIDEST + 1)]
    return Player(*(_scene(beams, wide) for wide in (WIDE, NARROW)), stem="tree")


@dataclass(frozen=True)
class Beam:
    """A search of one width: what it has timed, and what it keeps, after each round."""

    width: int

    @cached_property
    def rounds(self) -> list[tuple[list[str], list[str]]]:
        """Names that are new in each round, and those that are kept after it."""
        found = [(["s"], ["s"])]
        while new := [
            name for one in found[-1][1] for name in CHILDREN[one]
            if not any(name in timed for timed, _ in found)
        ]:  # fmt: skip
            new = [*dict.fromkeys(new)]
            kept = sorted({*found[-1][1], *new}, key=SECONDS.__getitem__)
            found.append((new, kept[: self.width]))
        return found

    @cached_property
    def timed(self) -> list[set[str]]:
        """All that have been timed after each round."""
        return [{name for new, _ in self.rounds[: at + 1] for name in new}
                for at in range(len(self.rounds))]  # fmt: skip

    def at(self, round: int) -> int:
        """The round that is shown: the last one once the search is done."""
        return min(round, len(self.rounds) - 1)

    def kept(self, round: int) -> list[str]:
        """What is kept after a round, the fastest first."""
        return self.rounds[self.at(round)][1]

    def look(self, name: str, round: int) -> str:
        """What has become of a schedule: "kept", "dropped", or "" before it is timed."""
        if name in self.kept(round):
            return "kept"
        return "dropped" if name in self.timed[self.at(round)] else ""

    def tried(self, name: str, round: int) -> bool:
        """Whether the children of a schedule have been timed."""
        return any(name in kept for _, kept in self.rounds[: self.at(round)])

    def said(self, round: int) -> str:
        """What a round times and keeps, and at the end what has been found."""
        (new, kept), best = self.rounds[self.at(round)], self.kept(round)[0]
        if not round:
            return f"Width {self.width}: the search begins with {best}, {self._time(best)}."
        if round < len(self.rounds) - 1:
            return (
                f"Width {self.width}, round {round}: it times {', '.join(new)} and keeps "
                f"{', '.join(kept)}."
            )
        told = (
            f"Width {self.width} is done after round {len(self.rounds) - 1}: it has timed "
            f"{len(self.timed[-1])} of {several(len(SECONDS), 'schedule')} and found {best}, "
            f"{self._time(best)}."
        )
        goal = min(SECONDS, key=SECONDS.__getitem__)
        if goal == best:
            return f"{told} That is the fastest of all."
        return f"{told} It never times {goal}, the fastest of all, {self._time(goal)}."

    def _time(self, name: str) -> str:
        return f"{plain(SECONDS[name])} s"


def _columns() -> list[list[str]]:
    """Names by the steps that they are away from the start."""
    found = [["s"]]
    while below := [name for one in found[-1] for name in CHILDREN[one]]:
        found.append([*dict.fromkeys(below)])
    return found


def _draw_schedules(
    scene: Scene, columns: list[list[str]], places: Mapping[str, tuple[float, float]],
    by: Callable[..., By],
) -> None:  # fmt: skip
    """The schedules with their seconds, and the moves between them."""
    for name, below in CHILDREN.items():
        for child in below:
            seen = by(lambda beam, r, name=name: 1 if beam.tried(name, r) else PALE)
            scene.line([places[name], places[child]], "soft", 1.5, opacity=seen, name="move")
    for names in columns:
        feet = spread(np.array([places[name][1] - 15 for name in names]), LETTERS + 1)
        for name, foot in zip(names, feet.tolist()):
            x, y = places[name]
            inks = by(lambda beam, r, name=name: "soft" if beam.look(name, r) else "paper")
            scene.dot(x, y, size=5, fill=inks, ink="soft", name="schedule")
            kept = by(lambda beam, r, name=name: float(beam.look(name, r) == "kept"))
            scene.dot(x, y, size=9, fill="key", ink="paper", opacity=kept, name="kept")
            scene.text(x, foot, f"{name} {plain(SECONDS[name])}", size=LETTERS, halo=True,
                       anchor="middle", name="name")  # fmt: skip


def _scene(beams: Sequence[Beam], wide: int) -> Scene:
    """The picture on a sheet of one width."""
    rounds = max(len(beam.rounds) for beam in beams)
    widths, stops = [str(beam.width) for beam in beams], ["start", *map(str, range(1, rounds))]
    dims = [Dim("width", widths, [beam.width for beam in beams], glide=300),
            Dim("round", stops, start=rounds - 1, glide=PACE)]  # fmt: skip
    scene = Scene(wide, HIGH, dims)
    frame = Frame(LEFT, TOP, wide - RIGHT, HIGH - FOOT)
    up = frame.y(0, 1.1 * max(SECONDS.values()), log=False)
    frame.y_ticks(scene, up, up.even(), "{:g}".format)
    scene.text(8, TOP - 14, "seconds", size=LETTERS, name="axis")
    columns = _columns()
    places = {
        name: (LEFT + 24 + (frame.right - LEFT - 24) * at / max(1, len(columns) - 1),
               float(up(SECONDS[name])))
        for at, names in enumerate(columns) for name in names
    }  # fmt: skip

    def by(value: Callable[..., object]) -> By:
        return scene.each("width round", lambda w, r: value(beams[w], r))

    _draw_schedules(scene, columns, places, by)
    best = [[places[beam.kept(r)[0]] for r in range(rounds)] for beam in beams]
    across, down = (By("width round", np.array(best)[..., axis]) for axis in (0, 1))
    scene.dot(across, down, size=13, fill=None, ink="ink", width=2.4, name="best")
    scene.play("round")
    scene.slider("width", "width of the beam")
    scene.slider("round", "round")
    scene.says = by(lambda beam, r: beam.said(r))
    scene.note("Blue: kept in this round. Grey: timed, and dropped. Hollow: not timed. "
               "The ring: the fastest so far.")  # fmt: skip
    return scene

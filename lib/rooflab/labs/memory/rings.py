"""A treasure hunt: six boxes, in each the number of the next one, and the rings that they make.

A walk hops from box to box, and never leaves its ring.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from rooflab.count.si import several
from rooflab.show.scene import By, Dim, Scene
from rooflab.show.scene.player import Player
from rooflab.show.waiting import awaited

ONE_RING = (3, 5, 1, 4, 2, 0)  # the notes of boxes 0 to 5
SHUFFLES = ((3, 4, 1, 5, 2, 0), (2, 0, 4, 3, 1, 5), (4, 3, 5, 1, 2, 0), (1, 5, 4, 2, 3, 0))
RINGS = (ONE_RING, (4, 5, 0, 2, 1, 3))
BOXES = len(ONE_RING)
WIDE, NARROW, HEIGHT = 720, 400, 336
BOX, CELL = 38, 44  # pixels: of a box on a ring, of the height of a line in the array
GAPS = 0.66, 0.8  # boxes between the middle of a box and an arrow's beginning, and its end
MIDDLE, ARRAY, CORNERS = 116, 262, 16  # of the rings, of the array's upper edge; of an arrow


def rings(*, shuffle: bool = False, after: object = None) -> Player:
    """Show six boxes whose notes name the next box; a button hops.

    Parameters
    ----------
    shuffle : bool, optional
        False: the notes make one ring, and each is hidden until its box is reached. True: all can
        be read, and buttons shuffle the notes, or choose notes that make one ring.
    after : object, optional
        What ``rl.ask`` returned: the picture stays covered until that guess is placed.

    Returns
    -------
    Player
        A widget; its ``sentence`` says what the picture shows.

    Examples
    --------
    >>> print(rl.memory.rings().sentence)
    After 2 hops you are at box 4, and its note says 2. You have touched 3 of 6 lines.
    """
    ways = (*SHUFFLES, *RINGS) if shuffle else (ONE_RING,)
    scenes = (ring_scene(ways, wide) for wide in (WIDE, NARROW))
    return Player(*scenes, stem="rings", after=awaited(after))


def walk(follows: Sequence[int], start: int = 0) -> list[int]:
    """The boxes of the ring that ``start`` is in, from there on."""
    ring = [start]
    while follows[ring[-1]] != start:
        ring.append(follows[ring[-1]])
    return ring


def parts(follows: Sequence[int]) -> list[list[int]]:
    """The rings that ``follows`` makes, that of box 0 first."""
    return [walk(follows, at) for at in range(len(follows)) if at == min(walk(follows, at))]


def ring_scene(ways: Sequence[Sequence[int]], wide: float) -> Scene:
    """The picture of the fillings ``ways``, ``wide`` pixels wide; one alone is hidden at first."""
    every, hidden = range(BOXES + 1), len(ways) == 1
    hops = Dim("hop", [several(n, "hop") for n in every], start=2, glide=350)
    scene = Scene(wide, HEIGHT, [Dim("way", [*map(str, ways)], glide=500), hops])
    walks = [parts(follows) for follows in ways]
    spots = np.array([_spots(way, wide) for way in walks])
    there = np.array([[[box in way[0][: hop + 1] for box in range(BOXES)] for hop in every]
                      for way in walks], float)  # fmt: skip
    at = np.array([[way[0][hop % len(way[0])] for hop in every] for way in walks])
    read = there if hidden else np.ones_like(there)
    for box in range(BOXES):
        seen = By("way hop", read[:, :, box])
        _arrow_marks(scene, np.array([_arrow(way, box, wide) for way in walks]), seen, box)
    for box in range(BOXES):
        _box(scene, box, spots[:, box], there[:, :, box], read[:, :, box])
    left, top = (By("way hop", np.take_along_axis(spots[..., axis], at, 1) - BOX / 2 - 4)
                 for axis in (0, 1))  # fmt: skip
    scene.rect(left, top, BOX + 8, BOX + 8, None, ink="key", width=3, radius=7, name="walker")
    _array(scene, ways, at, there, read)
    _buttons(scene, len(ways))
    scene.says = scene.each("way hop", lambda way, hop: _sentence(walks[way], hop, hidden))
    return scene


def _circle(way: Sequence[Sequence[int]], number: int, wide: float) -> tuple[float, float]:
    """Middle and radius of a ring: rings stand beside each other, larger ones on more room."""
    radii = [0.0 if len(ring) == 1 else 30 + 9.5 * len(ring) for ring in way]
    rooms = [2 * max(radius, 30) + BOX + 14 for radius in radii]
    left = (wide - sum(rooms)) / 2 + sum(rooms[:number])
    return left + rooms[number] / 2, radii[number]


def _spots(way: Sequence[Sequence[int]], wide: float) -> list[tuple[float, float]]:
    """The middle of each box, by its number."""
    found = {}
    for number, ring in enumerate(way):
        x, radius = _circle(way, number, wide)
        for place, box in enumerate(ring):
            turn = 2 * math.pi * place / len(ring) - math.pi / 2
            found[box] = (x + radius * math.cos(turn), MIDDLE + radius * math.sin(turn))
    return [found[box] for box in range(BOXES)]


def _arrow(way: Sequence[Sequence[int]], box: int, wide: float) -> list[tuple[float, float]]:
    """Points along the arrow from ``box`` to the one that its note names."""
    number = next(n for n, ring in enumerate(way) if box in ring)
    ring, (x, radius) = way[number], _circle(way, number, wide)
    start, step, y = ring.index(box), 2 * math.pi / len(ring), float(MIDDLE)
    if len(ring) == 1:  # a loop above the box
        y, radius, (off, on), begin = MIDDLE - 27.0, 14.0, (0.8, 0.9), math.pi / 2
    else:
        (off, on), begin = (gap * BOX / radius for gap in GAPS), step * start - math.pi / 2
    turns = np.linspace(begin + off, begin + step - on, CORNERS)
    return [(x + radius * math.cos(turn), y + radius * math.sin(turn)) for turn in turns]


def _arrow_marks(scene: Scene, arrow: np.ndarray, seen: By, box: int) -> None:
    """A line along ``arrow`` (way, point, 2) with a head at its end."""
    tip, along = arrow[:, -1], arrow[:, -1] - arrow[:, -3]
    along /= np.linalg.norm(along, axis=1, keepdims=True)
    side, back = 6 * along[:, ::-1] * (-1, 1), tip - 5 * along
    head = np.stack([tip + 5 * along, back + side, back - side], axis=1)
    shaft, tips = (By("way", one.reshape(len(arrow), -1)) for one in (arrow, head))
    scene.line(shaft, "soft", 2, opacity=seen, name=f"arrow {box}")
    scene.line(tips, None, fill="soft", opacity=seen, name="head")


def _box(scene: Scene, box: int, at: np.ndarray, there: np.ndarray, read: np.ndarray) -> None:
    """A box on its ring; a box that nobody has read of shows no number."""
    left, top = By("way", at[:, 0] - BOX / 2), By("way", at[:, 1] - BOX / 2)
    scene.rect(left, top, BOX, BOX, "paper", ink="ink", radius=4, name=f"box {box}")
    tint = By("way hop", 0.3 * there)
    scene.rect(left, top, BOX, BOX, "carrying", radius=4, opacity=tint, name="touched")
    words = By("way hop", np.where(read > 0, str(box), "?").astype(object))
    x, foot = By("way", at[:, 0]), By("way", at[:, 1] + 6)
    scene.text(x, foot, words, size=17, bold=True, anchor="middle", name="number")


def _array(
    scene: Scene, ways: Sequence[Sequence[int]], at: np.ndarray, there: np.ndarray,
    read: np.ndarray,
) -> None:  # fmt: skip
    """The boxes as the lines of an array, each with its note, in the order of memory."""
    wide = min(84.0, (scene.width - 32) / BOXES)
    left = (scene.width - BOXES * wide) / 2
    scene.text(left, ARRAY - 10, "the boxes in memory", "soft", size=14)
    waits = [f"{several(n, 'hop')}: {n} × the latency" for n in range(BOXES + 1)]
    scene.text(left + 6 * wide, ARRAY - 10, By("hop", waits), "soft", size=14, anchor="end")
    for box, x in enumerate(left + wide * np.arange(BOXES)):
        notes = By("way hop", [[f"→ {follows[box]}" if known else "?" for known in row]
                               for follows, row in zip(ways, read[:, :, box])])  # fmt: skip
        scene.rect(x, ARRAY, wide, CELL, "paper", ink="ink", width=1, radius=0, name="line")
        tint = By("way hop", 0.3 * there[:, :, box])
        scene.rect(x, ARRAY, wide, CELL, "carrying", radius=0, opacity=tint, name="touched line")
        scene.text(x + wide / 2, ARRAY + 28, notes, size=17, anchor="middle", name="note")
        scene.text(x + wide / 2, ARRAY + CELL + 17, f"line {box}", "soft", size=14, anchor="middle")
    here = By("way hop", left + wide * at)
    scene.rect(here, ARRAY, wide, CELL, None, ink="key", width=3, radius=3, name="walker's line")


def _buttons(scene: Scene, ways: int) -> None:
    """Hop on, or begin again; each press of *shuffle* gives the next of some fillings."""
    on, more = [*range(1, BOXES + 1), BOXES], [*[1.0] * BOXES, 0.0]
    scene.button("hop", {"hop": By("hop", on)}, enabled=By("hop", more), above=True)
    scene.button("back to box 0", {"hop": 0}, above=True)
    if ways > 1:
        n = len(SHUFFLES)
        again = [(way + 1) % n if way < n else 0 for way in range(ways)]
        one = [n if way < n or way + 1 == ways else way + 1 for way in range(ways)]
        scene.button("shuffle", {"way": By("way", again), "hop": 0}, above=True)
        scene.button("one ring", {"way": By("way", one), "hop": 0}, above=True)


def _sentence(way: Sequence[Sequence[int]], hop: int, hidden: bool) -> str:
    at, note = (way[0][n % len(way[0])] for n in (hop, hop + 1))
    sizes = " and ".join(str(len(one)) for one in way)
    made = f"{len(way)} rings, of {sizes} boxes" if len(way) > 1 else f"one ring of {BOXES} boxes"
    home = " The walk is back where it began." if hop and at == 0 else ""
    return (
        f"{'' if hidden else f'The notes make {made}. '}After {several(hop, 'hop')} you are at box "
        f"{at}, and its note says {note}. You have touched {min(hop + 1, len(way[0]))} of {BOXES} "
        f"lines.{home}"
    )

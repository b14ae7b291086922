"""Tiles that are copied while others are computed: buffers and tensor cores over time."""

from __future__ import annotations

from typing import Any

import numpy as np

from rooflab.count.si import percent, plain, several
from rooflab.show.scene import By, Dim, Scene
from rooflab.show.scene.player import Player

TILES = 8
STAGES, COPIES, AT_ONCE = (1, 2, 3, 4), (0.5, 1.0, 1.5, 2.0, 3.0), (1, 4)
LENGTHS = ("half as long as", "as long as", "1.5 times as long as", "twice as long as",
           "3 times as long as")  # fmt: skip
ALL = "stages copy together"
WIDE, NARROW, SMALL, GLIDE = 720, 400, 14, 300
LEFT, TOP, ROW, BAR, CORES = 72, 30, 40, 28, 212  # pixels; where the lane of tensor cores lies


def schedule(
    tiles: int, stages: int, copy: float, compute: float, at_once: int = 1
) -> list[tuple[float, float, float, float]]:
    """Return begin and end of the copy, and begin and end of the arithmetic, of each tile.

    A copy begins once the buffer of the tile is free, which the tile ``stages`` before it had, and
    fewer than ``at_once`` copies are on their way. Tiles are computed one after the other.

    >>> schedule(2, 2, 1.0, 3.0)
    [(0.0, 1.0, 1.0, 4.0), (1.0, 2.0, 4.0, 7.0)]
    """
    times: list[tuple[float, float, float, float]] = []
    for tile in range(tiles):
        free = times[tile - stages][3] if tile >= stages else 0.0
        arrived = times[tile - at_once][1] if tile >= at_once else 0.0
        begin = max(free, arrived)
        start = max(begin + copy, times[-1][3] if times else 0.0)
        times.append((begin, begin + copy, start, start + compute))
    return times


def pipeline(after: Any = None) -> Player:
    """Show copies and arithmetic of eight tiles over time, with a slider for the buffers.

    Parameters
    ----------
    after : GuessAxis or iterable of them, optional
        What has to be guessed before the picture opens.

    Returns
    -------
    Player
        A widget; its ``sentence`` says what the picture shows.

    Examples
    --------
    >>> picture = rl.cuda.pipeline()
    >>> print(picture.sentence[:70])
    2 buffers, a copy takes as long as computing, one copy at a time: 8 ti
    """
    return Player(*(_scene(wide) for wide in (WIDE, NARROW)), stem="tile-pipeline", after=after)


def _scene(wide: float) -> Scene:
    """The picture, ``wide`` pixels wide."""
    times = np.array([[[schedule(TILES, s, c, 1.0, n) for n in AT_ONCE] for c in COPIES]
                      for s in STAGES])  # fmt: skip
    scene = Scene(wide, 300, [
        Dim("stages", [several(n, "buffer") for n in STAGES], STAGES, start=1, glide=GLIDE),
        Dim("copy", [f"× {plain(c)}" for c in COPIES], COPIES, start=1, glide=GLIDE),
        Dim("together", ["one copy at a time", "up to 4 at a time"], AT_ONCE, glide=GLIDE),
    ])  # fmt: skip
    scene.choice("together", "copies on their way", ["one copy at a time", "up to 4 at a time"])
    unit = (wide - LEFT - 16) / (TILES * (1 + np.array(COPIES)))  # pixels: one buffer fills it
    x = LEFT + times * unit[None, :, None, None, None]
    _rows(scene)
    _bars(scene, x, By("copy", np.where(unit > SMALL, 1.0, 0.0)))
    scene.line([(wide - 16, TOP - 8), (wide - 16, CORES + BAR + 6)], "soft", 1.5, dash=(4, 3),
               name="one buffer")  # fmt: skip
    scene.text(wide - 16, TOP - 14, "with one buffer", "soft", size=SMALL, anchor="end",
               name="one buffer")  # fmt: skip
    last = By(ALL, x[..., -1, 3])
    scene.line([(last, TOP - 8), (last, CORES + BAR + 6)], "ink", 2, name="end")
    _key(scene, CORES + BAR + 30)
    scene.slider("stages", "buffers")
    scene.slider("copy", "a copy, compared with computing")
    scene.says = scene.each(ALL, lambda s, c, n: _sentence(s, c, n, times[s, c, n]))
    return scene


def _rows(scene: Scene) -> None:
    """Names of the buffers and of the tensor cores, and the room of these."""
    for n in range(len(STAGES)):
        there = By("stages", [float(n < stages) for stages in STAGES])
        y = TOP + n * ROW
        scene.text(LEFT - 8, y + 19, f"buffer {n + 1}", size=SMALL, anchor="end", opacity=there,
                   name="buffer")  # fmt: skip
    scene.text(LEFT - 8, CORES + 12, "tensor", size=SMALL, anchor="end", bold=True, name="cores")
    scene.text(LEFT - 8, CORES + 27, "cores", size=SMALL, anchor="end", bold=True, name="cores")
    scene.rect(LEFT, CORES, scene.width - 16 - LEFT, BAR, None, ink="soft", dash=(3, 3), radius=0,
               name="idle")  # fmt: skip


def _bars(scene: Scene, x: np.ndarray, room: By) -> None:
    """Each tile in its buffer, first on its way, then used, and in the tensor cores.

    ``room``: 1 where its number has room, else 0.
    """
    for tile in range(TILES):
        begin, arrived, start, end = (By(ALL, x[..., tile, n]) for n in range(4))
        y = By("stages", [TOP + tile % stages * ROW for stages in STAGES])
        wait = By(ALL, x[..., tile, 2] - x[..., tile, 1])
        copy = By(ALL, x[..., tile, 1] - x[..., tile, 0] - 1)
        work = By(ALL, x[..., tile, 3] - x[..., tile, 2] - 1)
        scene.rect(begin, y, copy, BAR, "carrying", radius=0, name="copy")
        scene.rect(arrived, y, wait, BAR, "carrying", radius=0, opacity=0.25, name="waits")
        scene.rect(start, y, work, BAR, "computing", radius=0, opacity=0.35, name="used")
        scene.rect(start, CORES, work, BAR, "computing", radius=0, name="computed")
        middle = By(ALL, (x[..., tile, 2] + x[..., tile, 3]) / 2)
        scene.text(middle, CORES + 19, str(tile + 1), "paper", size=SMALL, anchor="middle",
                   bold=True, opacity=room, name="tile")  # fmt: skip


def _key(scene: Scene, foot: float) -> None:
    """What the bars stand for."""
    x = 16.0
    entries = (("copied", "carrying", 1.0), ("waits", "carrying", 0.25),
               ("in use", "computing", 0.35), ("computed", "computing", 1.0))  # fmt: skip
    for words, ink, opacity in entries:
        scene.rect(x, foot - 11, 14, 12, ink, radius=0, opacity=opacity, name="key")
        scene.text(x + 19, foot, words, size=SMALL, name="key")
        x += 42 + 7.4 * len(words)


def _sentence(stages: int, copy: int, together: int, times: np.ndarray) -> str:
    total, serial = float(times[-1, 3]), TILES * (1 + COPIES[copy])
    words = ("one copy at a time", "up to 4 copies at a time")[together]
    gain = "" if stages == 0 else (
        f" instead of {plain(serial)}, {plain(serial / total, 3)} times as fast"
    )  # fmt: skip
    return (
        f"{several(STAGES[stages], 'buffer')}, a copy takes {LENGTHS[copy]} computing, {words}: "
        f"{TILES} tiles take {plain(total)} units of time{gain}. The tensor cores are busy "
        f"{percent(TILES / total)} of the time."
    )

"""Tiles that are copied while others are computed: buffers and tensor cores over time."""

from __future__ import annotations

import numpy as np

from rooflab.count.si import percent, plain, several
from rooflab.labs.cuda.sheets import SMALL, key, picture
from rooflab.show.scene import By, Dim, Scene

TILES = 8
STAGES, COPIES, AT_ONCE = (1, 2, 3, 4), (0.5, 1.0, 1.5, 2.0, 3.0), (1, 4)
LENGTHS = ("half as long as", "as long as", "1.5 times as long as", "twice as long as",
           "3 times as long as")  # fmt: skip
COPYING = ("one copy at a time", "up to 4 at a time")
BARS = (("copied", "carrying", 1), ("waits", "carrying", 0.25), ("in use", "computing", 0.35),
        ("computed", "computing", 1))  # fmt: skip  # of a tile, one after the other
ALL, GLIDE = "stages copy together", 300
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


@picture("tile-pipeline")
def pipeline(wide: int) -> Scene:
    """Show copies and arithmetic of eight tiles over time, with a slider for the buffers.

    >>> picture = rl.cuda.pipeline()
    >>> print(picture.sentence[:70])
    2 buffers, a copy takes as long as computing, one copy at a time: 8 ti
    """
    times = np.array([[[schedule(TILES, s, c, 1.0, n) for n in AT_ONCE] for c in COPIES]
                      for s in STAGES])  # fmt: skip
    right, foot = wide - 16, CORES + BAR + 6
    scene = Scene(wide, 300, [
        Dim("stages", [several(n, "buffer") for n in STAGES], STAGES, start=1, glide=GLIDE),
        Dim("copy", [f"× {plain(c)}" for c in COPIES], COPIES, start=1, glide=GLIDE),
        Dim("together", COPYING, AT_ONCE, glide=GLIDE),
    ])  # fmt: skip
    scene.choice("together", "copies on their way", COPYING)
    unit = (right - LEFT) / (TILES * (1 + np.array(COPIES)))  # pixels: one buffer fills it
    x = LEFT + times * unit[:, None, None, None]
    _rows(scene, right)
    for tile in range(TILES):
        _tile(scene, tile, x[..., tile, :], By("copy", np.where(unit > SMALL, 1.0, 0.0)))
    scene.line([(right, TOP - 8), (right, foot)], "soft", 1.5, dash=(4, 3), name="one buffer")
    scene.text(right, TOP - 14, "with one buffer", "soft", size=SMALL, anchor="end")
    last = By(ALL, x[..., -1, 3])
    scene.line([(last, TOP - 8), (last, foot)], "ink", 2, name="end")
    key(scene, 16, foot + 24, BARS)
    scene.slider("stages", "buffers")
    scene.slider("copy", "a copy, compared with computing")
    scene.says = scene.each(ALL, lambda s, c, n: _sentence(s, c, n, times[s, c, n]))
    return scene


def _rows(scene: Scene, right: float) -> None:
    """Names of the buffers and of the tensor cores, and the room of these."""
    for n in range(len(STAGES)):
        there = By("stages", [float(n < stages) for stages in STAGES])
        scene.text(LEFT - 8, TOP + n * ROW + 19, f"buffer {n + 1}", size=SMALL, anchor="end",
                   opacity=there)  # fmt: skip
    for words, y in (("tensor", 12), ("cores", 27)):
        scene.text(LEFT - 8, CORES + y, words, size=SMALL, anchor="end", bold=True)
    scene.rect(LEFT, CORES, right - LEFT, BAR, None, ink="soft", dash=(3, 3), radius=0,
               name="idle")  # fmt: skip


def _tile(scene: Scene, tile: int, x: np.ndarray, room: By) -> None:
    """A tile in its buffer, on its way, then used, and in the tensor cores, where it has a number.

    ``x``: the pixels of its four times in all states; ``room``: 1 where the number has room, or 0.
    """
    begin, arrived, start, end = np.moveaxis(x, -1, 0)
    row = By("stages", [TOP + tile % stages * ROW for stages in STAGES])
    spans = ((begin, arrived - 1), (arrived, start), (start, end - 1), (start, end - 1))
    for (name, ink, opacity), (left, right) in zip(BARS, spans):
        y = CORES if name == "computed" else row
        scene.rect(By(ALL, left), y, By(ALL, right - left), BAR, ink, radius=0, opacity=opacity,
                   name=name)  # fmt: skip
    scene.text(By(ALL, (start + end) / 2), CORES + 19, str(tile + 1), "paper", size=SMALL,
               anchor="middle", bold=True, opacity=room)  # fmt: skip


def _sentence(stages: int, copy: int, together: int, times: np.ndarray) -> str:
    total, serial = float(times[-1, 3]), TILES * (1 + COPIES[copy])
    words = ("one copy at a time", "up to 4 copies at a time")[together]
    gain = f" instead of {plain(serial)}, {plain(serial / total, 3)} times as fast" * (stages > 0)
    return (
        f"{several(STAGES[stages], 'buffer')}, a copy takes {LENGTHS[copy]} computing, {words}: "
        f"{TILES} tiles take {plain(total)} units of time{gain}. The tensor cores are busy "
        f"{percent(TILES / total)} of the time."
    )

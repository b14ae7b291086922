"""The tiles of C that run at the same time, and the rows of A and columns of B that they share.

The product of the H100's staircase: 4096 × 4096 numbers in bf16, tiles of 128 × 256, so that C has
32 rows of 16 tiles. Kernels 7 and 8 as in pranjalssh/fast.cu, examples/matmul/matmul_6.cuh.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rooflab.count.si import si
from rooflab.labs.cuda.sheets import SMALL, WIDE, picture
from rooflab.show.scene import By, Dim, Scene

DOWN, ACROSS, TILE, K, BYTES = 32, 16, (128, 256), 4096, 2
SMS, WAVES, GROUP = 132, 4, (16, 8)
ORDERS = ("kernel 7", "row by row", "kernel 8")
GLIDE, BOTH = 300, "order wave"
LEFT, TOP, STRIP, LONG, HIGH = 60, 66, 24, 17, 7  # pixels, the last two of a tile


def tiles(order: str, wave: int) -> list[int]:
    """Return the tiles that run in a wave, numbered along the rows of C.

    >>> tiles("kernel 7", 0)[:4], tiles("kernel 8", 1)[:3]
    ([0, 4, 8, 12], [8, 9, 10])
    """
    count = DOWN * ACROSS
    if order == "row by row":
        return [*range(wave * SMS, min(count, (wave + 1) * SMS))]
    if order == "kernel 8":
        down, right = divmod(wave, ACROSS // GROUP[1])
        return [(down * GROUP[0] + row) * ACROSS + right * GROUP[1] + column
                for row in range(GROUP[0]) for column in range(GROUP[1])]  # fmt: skip
    each, more = divmod(count, SMS)  # neighbours for each SM; the first ones have one more
    starts = [sm * each + min(sm, more) for sm in range(SMS + 1)]
    return [start + wave for start, end in zip(starts, starts[1:]) if start + wave < end]


@picture("tile-order")
def order(wide: int) -> Scene:
    """Show which tiles of C run at the same time, and what of A and B they read from memory.

    >>> print(rl.cuda.order().sentence[:67])
    Kernel 7, wave 1: 132 tiles lie in 32 of 32 rows and 16 of 16 colum
    """
    scene = Scene(wide, TOP + DOWN * HIGH + 12, [
        Dim("order", ORDERS, ORDERS, glide=GLIDE),
        Dim("wave", [f"wave {n + 1}" for n in range(WAVES)], range(1, WAVES + 1), glide=GLIDE),
    ])  # fmt: skip
    scene.choice("order", "order of the tiles", ("kernel 7", "row by row", "kernel 8: 16 × 8"))
    runs = np.array([[np.isin(range(DOWN * ACROSS), tiles(one, wave)).reshape(DOWN, ACROSS)
                      for wave in range(WAVES)] for one in ORDERS])  # fmt: skip
    _fields(scene, runs)
    rows, columns = runs.any(axis=3).sum(axis=2), runs.any(axis=2).sum(axis=2)
    read = (rows * TILE[0] + columns * TILE[1]) * K * BYTES
    if wide == WIDE:  # beside the tiles is room
        now = scene.each(BOTH, lambda one, wave: si(read[one, wave], "B"))
        scene.text(420, 150, now, "carrying", size=30, bold=True)
        scene.text(420, 176, "of A and B from memory in this wave", size=SMALL)
        whole = scene.each("order", lambda one: si(read[one].sum(), "B"))
        scene.text(420, 226, whole, "carrying", size=22, bold=True)
        scene.text(420, 250, "in all four waves", size=SMALL)
    scene.slider("wave", "wave")
    scene.says = scene.each(BOTH, lambda one, wave: (
        f"{ORDERS[one].capitalize()}, wave {wave + 1}: {runs[one, wave].sum()} tiles lie in "
        f"{rows[one, wave]} of {DOWN} rows and {columns[one, wave]} of {ACROSS} columns. They need "
        f"{si(read[one, wave], 'B')} of A and B; all four waves need {si(read[one].sum(), 'B')}."
    ))  # fmt: skip
    return scene


def _fields(scene: Scene, runs: np.ndarray) -> None:
    """C, and the rows of A and columns of B beside it; ``runs``: order, wave, row, column."""
    left, middle = LEFT + STRIP, TOP + DOWN * HIGH / 2
    look: dict[str, Any] = {"size": SMALL, "bold": True}
    scene.text(left + ACROSS * LONG / 2, 16, "columns of B", "carrying", anchor="middle", **look)
    scene.text(LEFT - 8, middle, "rows", "carrying", anchor="end", **look)
    scene.text(LEFT - 8, middle + 17, "of A", "carrying", anchor="end", **look)

    def cell(x: float, y: float, long: float, high: float, ink: str, lit: Any) -> None:
        scene.rect(x, y, long, high, By(BOTH, np.where(lit, ink, "grid")), radius=0)

    for row in range(DOWN):
        y = TOP + row * HIGH
        cell(LEFT, y, STRIP - 8, HIGH - 1, "carrying", runs[:, :, row].any(axis=-1))
        for column in range(ACROSS):
            x = left + column * LONG
            cell(x, y, LONG - 1, HIGH - 1, "computing", runs[:, :, row, column])
    for column in range(ACROSS):
        cell(left + column * LONG, TOP - STRIP - 12, LONG - 1, STRIP, "carrying",
             runs[..., column].any(axis=-1))  # fmt: skip

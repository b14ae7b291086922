"""The tiles of C that run at the same time, and the rows of A and columns of B that they share.

The product of the H100's staircase: 4096 × 4096 numbers in bf16, tiles of 128 × 256, so that C has
32 rows of 16 tiles. Kernels 7 and 8 as in pranjalssh/fast.cu, examples/matmul/matmul_6.cuh.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rooflab.count.si import si
from rooflab.show.scene import By, Dim, Scene
from rooflab.show.scene.player import Player

DOWN, ACROSS, TILE, K, BYTES = 32, 16, (128, 256), 4096, 2
SMS, WAVES, GROUP = 132, 4, (16, 8)
ORDERS = ("kernel 7", "row by row", "kernel 8")
WIDE, NARROW, SMALL, GLIDE, BOTH = 720, 400, 14, 300, "order wave"
LEFT, TOP, STRIP, CELL = 60, 66, 24, (17, 7)  # pixels


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


def order(after: Any = None) -> Player:
    """Show which tiles of C run at the same time, and what of A and B they read from memory.

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
    >>> print(rl.cuda.order().sentence[:67])
    Kernel 7, wave 1: 132 tiles lie in 32 of 32 rows and 16 of 16 colum
    """
    return Player(*(_scene(wide) for wide in (WIDE, NARROW)), stem="tile-order", after=after)


def _scene(wide: float) -> Scene:
    """The picture, ``wide`` pixels wide."""
    scene = Scene(wide, TOP + DOWN * CELL[1] + 12, [
        Dim("order", ORDERS, ORDERS, glide=GLIDE),
        Dim("wave", [f"wave {n + 1}" for n in range(WAVES)], range(1, WAVES + 1), glide=GLIDE),
    ])  # fmt: skip
    scene.choice("order", "order of the tiles", ("kernel 7", "row by row", "kernel 8: 16 × 8"))
    running = np.array([[[n in tiles(one, wave) for n in range(DOWN * ACROSS)]
                         for wave in range(WAVES)] for one in ORDERS])  # fmt: skip
    field = running.reshape(len(ORDERS), WAVES, DOWN, ACROSS)
    long, high = CELL
    scene.text(LEFT + STRIP + ACROSS * long / 2, 16, "columns of B", "carrying", size=SMALL,
               anchor="middle", bold=True, name="B")  # fmt: skip
    scene.text(LEFT - 8, TOP + DOWN * high / 2, "rows", "carrying", size=SMALL, anchor="end",
               bold=True, name="A")  # fmt: skip
    scene.text(LEFT - 8, TOP + DOWN * high / 2 + 17, "of A", "carrying", size=SMALL, anchor="end",
               bold=True, name="A")  # fmt: skip
    for row, need in enumerate(np.moveaxis(np.asarray(field.any(axis=3)), 2, 0)):
        box = (LEFT, TOP + row * high, STRIP - 8, high - 1)
        _cell(scene, box, "carrying", need, "row")
    for column, need in enumerate(np.moveaxis(np.asarray(field.any(axis=2)), 2, 0)):
        box = (LEFT + STRIP + column * long, TOP - STRIP - 16 + 4, long - 1, STRIP)
        _cell(scene, box, "carrying", need, "column")
    for tile, runs in enumerate(np.moveaxis(running, 2, 0)):
        row, column = divmod(tile, ACROSS)
        box = (LEFT + STRIP + column * long, TOP + row * high, long - 1, high - 1)
        _cell(scene, box, "computing", runs, "tile")
    _bytes(scene, field, wide)
    scene.slider("wave", "wave")
    scene.says = scene.each(BOTH, lambda one, wave: _sentence(one, wave, field[one]))
    return scene


def _cell(
    scene: Scene, box: tuple[float, float, float, float], ink: str, lit: np.ndarray, name: str
) -> None:
    """A cell that is grey, and lit in some states."""
    fill = np.where(lit, ink, "grid").astype(object)
    scene.rect(*box, By(BOTH, fill), radius=0, name=name)


def _read(field: np.ndarray) -> int:
    """Bytes of the rows of A and columns of B that a wave touches."""
    rows, columns = int(field.any(axis=1).sum()), int(field.any(axis=0).sum())
    return (rows * TILE[0] + columns * TILE[1]) * K * BYTES


def _bytes(scene: Scene, field: np.ndarray, wide: float) -> None:
    """What the wave reads, beside the tiles where there is room."""
    if wide < WIDE:
        return
    x, words = 420, scene.each(BOTH, lambda one, wave: si(_read(field[one, wave]), "B"))
    scene.text(x, 150, words, "carrying", size=30, bold=True, name="bytes")
    scene.text(x, 176, "of A and B from memory in this wave", size=SMALL, name="words")
    whole = By("order", [si(sum(map(_read, one)), "B") for one in field])
    scene.text(x, 226, whole, "carrying", size=22, bold=True, name="whole")
    scene.text(x, 250, "in all four waves", size=SMALL, name="words")


def _sentence(one: int, wave: int, waves: np.ndarray) -> str:
    name, field = ORDERS[one].capitalize(), waves[wave]
    rows, columns = int(field.any(axis=1).sum()), int(field.any(axis=0).sum())
    return (
        f"{name}, wave {wave + 1}: {int(field.sum())} tiles lie in {rows} of {DOWN} rows and "
        f"{columns} of {ACROSS} columns. They need {si(_read(field), 'B')} of A and B; all four "
        f"waves need {si(sum(map(_read, waves)), 'B')}."
    )

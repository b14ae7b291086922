"""Attention as a matrix of scores: all of it at once, or a block at a time with three numbers."""

from __future__ import annotations

import numpy as np

from rooflab.count.si import si
from rooflab.labs.fusion.attention import BLOCK
from rooflab.show.scene import By, Dim, Scene
from rooflab.show.scene.player import Player

LENGTH, ITEMSIZE = 4096, 4  # of the lesson's measurement
DOWN, ACROSS = (LENGTH // side for side in BLOCK)  # blocks of queries, and of keys
WIDE, NARROW, TOP, SMALL = 720, 400, 26, 14
CELL, ROW = 34, 17  # pixels of a block: twice as many keys as queries
KEPT = ("largest so far", "sum of weights", "weighted values")


def blocks() -> Player:
    """Show a matrix of scores written out, and the same scores streamed in blocks.

    Returns
    -------
    Player
        A widget; its ``sentence`` says what the picture shows.

    Examples
    --------
    >>> print(rl.fusion.blocks().sentence)
    Streamed, block 20 of 128: it is all that exists of the scores, 524 kB of 67.1 MB.
    """
    return Player(*(blocks_scene(wide) for wide in (WIDE, NARROW)), stem="blocks")


def blocks_scene(wide: float) -> Scene:
    """The picture, ``wide`` pixels wide."""
    steps = DOWN * ACROSS
    scene = Scene(wide, TOP + ROW * DOWN + 12, [
        Dim("way", ("written out", "streamed"), ("written out", "streamed"), start=1, glide=400),
        Dim("t", [f"block {n + 1}" for n in range(steps)], start=19, glide=150),
    ])  # fmt: skip
    scene.choice("way", "where the scores are", ("written out", "streamed"))
    scene.play("t")
    left = 70.0 if wide > NARROW else 8.0
    scene.text(left, TOP - 10, "keys", "soft", size=SMALL)
    scene.text(left - 8, TOP + 22, "queries", "soft", size=SMALL, anchor="end",
               opacity=float(wide > NARROW))  # fmt: skip
    now = np.arange(steps)
    for n in range(steps):
        x, y = left + CELL * (n % ACROSS), TOP + ROW * (n // ACROSS)
        scene.rect(x, y, CELL - 3, ROW - 3, None, ink="soft", radius=2, name="empty")
        here = np.array([now >= n, now == n], float)
        scene.rect(x, y, CELL - 3, ROW - 3, "carrying", radius=2, opacity=By("way t", here),
                   name="scores")  # fmt: skip
    _kept(scene, left + CELL * ACROSS + 20)
    scene.slider("t", "blocks of scores")
    whole, block = si(ITEMSIZE * LENGTH**2, "B"), si(ITEMSIZE * BLOCK[0] * BLOCK[1], "B")
    scene.says = By("way t", [
        [f"Written out, block {n + 1} of {steps}: all scores stay in memory until the softmax has "
         f"read and written them, {whole} at the end." for n in range(steps)],
        [f"Streamed, block {n + 1} of {steps}: it is all that exists of the scores, {block} of "
         f"{whole}." for n in range(steps)],
    ])  # fmt: skip
    return scene


def _kept(scene: Scene, left: float) -> None:
    """What streaming keeps beside the block: three numbers for each query of its row."""
    there = By("way", [0.0, 1.0])
    row = np.minimum(np.arange(DOWN * ACROSS) // ACROSS, DOWN - 2)
    for n, name in enumerate(KEPT):
        y = TOP + ROW * row + 12 * n
        scene.rect(left, By("t", y), 26, 9, "computing", radius=2, opacity=there, name="kept")
        if scene.width > NARROW:
            scene.text(left + 34, By("t", y + 9), name, size=12, opacity=there, name="kept-says")

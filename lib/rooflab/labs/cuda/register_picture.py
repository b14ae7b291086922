"""A thread's tile in registers: what it reads from shared memory, and what it multiplies."""

from __future__ import annotations

import numpy as np

from rooflab.count.si import plain, several
from rooflab.labs.cuda.sheets import SMALL, WIDE, picture
from rooflab.show.scene import By, Dim, Scene

SIDES, CELL, TOP = (1, 2, 4, 8, 16), 14, 60  # pixels: of a number; above the tile
FMAS, WORDS = 128, 32  # of a multiprocessor in a clock: the A6000's arithmetic and shared memory


@picture("register tile")
def register_tile(wide: int) -> Scene:
    """Show r + r numbers read from shared memory, and the r × r multiply-adds done with them.

    >>> picture = rl.cuda.register_tile()
    >>> picture.side = 8
    >>> print(picture.sentence[:58])
    8 × 8: 16 numbers are read for 64 multiply-adds. If no thr
    """
    left, height, x, y, line = (150, 310, 420, 70, 24) if wide == WIDE else (60, 370, 16, 306, 20)
    scene = Scene(wide, height, [Dim("side", [*map(str, SIDES)], SIDES, glide=400)])
    sides = np.array(SIDES)
    length = By("side", sides * CELL - 2.0)
    scene.rect(left, TOP, length, length, "computing", radius=1, name="C")
    right, foot = (By("side", start + sides * CELL - 2.0) for start in (left, TOP))
    for n in range(max(SIDES)):
        at, there = CELL * n, By("side", np.where(n < sides, 1.0, 0.0))
        scene.rect(left - 26, TOP + at, CELL - 2, CELL - 2, "carrying", radius=1, opacity=there)
        scene.rect(left + at, TOP - 26, CELL - 2, CELL - 2, "carrying", radius=1, opacity=there)
        end = at + CELL - 1.0  # where a gap is between the numbers of C
        scene.line([(left, TOP + end), (right, TOP + end)], "paper", 2, opacity=there)
        scene.line([(left + end, TOP), (left + end, foot)], "paper", 2, opacity=there)
    scene.text(left - 34, TOP + 10, "A", "carrying", bold=True, anchor="end")
    scene.text(left - 8, TOP - 16, "B", "carrying", bold=True, anchor="end")
    for n, (ink, words) in enumerate(
        (("carrying", _reads), ("computing", _products), ("ink", _clocks))
    ):
        scene.text(x, y + line * n, By("side", [*map(words, SIDES)]), ink, size=SMALL)
    scene.slider("side", "side of the tile")
    scene.says = By("side", [*map(_sentence, SIDES)])
    return scene


def _reads(side: int) -> str:
    return f"{2 * side} numbers are read"


def _products(side: int) -> str:
    return several(side * side, "multiply-add")


def _clocks(side: int) -> str:
    return f"reading : arithmetic = {plain(_ratio(side), 3)} : 1"


def _ratio(side: int) -> float:
    """Time of reading over that of arithmetic, on a multiprocessor of an A6000."""
    return 2 * FMAS / side / WORDS


def _sentence(side: int) -> str:
    ratio = _ratio(side)
    waits = "Arithmetic" if ratio > 1 else "Reading"
    end = "Both take as long" if ratio == 1 else f"{waits} waits"
    return (
        f"{side} × {side}: {_reads(side)} for {_products(side)}. If no threads share what they "
        f"read, {_clocks(side)} on a multiprocessor of an A6000. {end}."
    )

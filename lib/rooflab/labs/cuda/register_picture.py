"""A thread's tile in registers: what it reads from shared memory, and what it multiplies."""

from __future__ import annotations

from typing import Any

import numpy as np

from rooflab.count.si import plain, several
from rooflab.show.scene import By, Dim, Scene
from rooflab.show.scene.player import Player

WIDE, NARROW, SMALL = 720, 400, 14
SIDES = (1, 2, 4, 8, 16)
FMAS, WORDS = 128, 32  # of a multiprocessor in a clock: the A6000's arithmetic and shared memory


def register_tile(after: Any = None) -> Player:
    """Show r + r numbers read from shared memory, and the r × r multiply-adds done with them.

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
    >>> picture = rl.cuda.register_tile()
    >>> picture.side = 8
    >>> print(picture.sentence[:58])
    8 × 8: 16 numbers are read for 64 multiply-adds. If no thr
    """
    return Player(*(_scene(wide) for wide in (WIDE, NARROW)), stem="register tile", after=after)


def _scene(wide: float) -> Scene:
    """The picture, ``wide`` pixels wide."""
    scene = Scene(
        wide,
        310 if wide == WIDE else 370,
        [Dim("side", [str(r) for r in SIDES], SIDES, start=0, glide=400)],
    )
    cell, left, top = 14, 60 if wide < WIDE else 150, 60
    shown = {n: By("side", [1.0 if n < r else 0.0 for r in SIDES]) for n in range(max(SIDES))}
    for n, opacity in shown.items():
        at = cell * n
        scene.rect(left - 26, top + at, cell - 2, cell - 2, "carrying", radius=1, opacity=opacity,
                   name="A")  # fmt: skip
        scene.rect(left + at, top - 26, cell - 2, cell - 2, "carrying", radius=1, opacity=opacity,
                   name="B")  # fmt: skip
    length = By("side", np.array(SIDES) * cell - 2.0)
    scene.rect(left, top, length, length, "computing", radius=1, name="C")
    for n in range(1, max(SIDES)):  # gaps between the numbers of C, as far as there are any
        place = n * cell - 1.0
        seen = By("side", [1.0 if n < r else 0.0 for r in SIDES])
        far = By("side", left + np.array(SIDES) * cell - 2.0)
        low = By("side", top + np.array(SIDES) * cell - 2.0)
        scene.line([(left, top + place), (far, top + place)], "paper", 2, opacity=seen)
        scene.line([(left + place, top), (left + place, low)], "paper", 2, opacity=seen)
    scene.text(left - 34, top + 10, "A", "carrying", bold=True, anchor="end", name="key")
    scene.text(left - 8, top - 16, "B", "carrying", bold=True, anchor="end", name="key")
    x, y = (left + 270, top + 10) if wide == WIDE else (16, top + 246)
    for n, words in enumerate((_reads, _products, _clocks)):
        ink = ("carrying", "computing", "ink")[n]
        line = By("side", list(map(words, SIDES)))
        scene.text(x, y + (24 if wide == WIDE else 20) * n, line, ink, size=SMALL, name="count")
    scene.slider("side", "side of the tile")
    scene.says = By("side", list(map(_sentence, SIDES)))
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

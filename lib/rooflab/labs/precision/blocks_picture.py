"""Numbers rounded to four bits in blocks that share a scale: where each of them may land."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rooflab.count.dtypes import dtype
from rooflab.count.si import plain
from rooflab.labs.precision.formats import formats, quantise
from rooflab.show.scene import By, Dim, Scene
from rooflab.show.scene.axes import Frame
from rooflab.show.scene.player import Player

MANY, SIZES = 64, (64, 32, 16, 8, 4)  # numbers; how many of them share a scale
WIDE, NARROW, SMALL = 720, 400, 14
KIND = dtype("mxfp4")


def example() -> np.ndarray:
    """A wave with some noise, a quiet part, and one number that is far too large."""
    noise = np.random.default_rng(4).standard_normal(MANY)
    place = np.arange(MANY)
    values = np.sin(place / 7) * np.where(place < 40, 1.9, 0.5) + 0.2 * noise
    values[21] = 8
    return np.asarray(values.round(2))


def shared(values: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the scale of each number and the number it becomes in E2M1, in blocks of ``size``."""
    most = np.abs(values.reshape(-1, size)).max(axis=1)
    scales = np.repeat(2.0 ** (np.floor(np.log2(most)) - 2), size)
    return scales, scales * quantise(values / scales, "fp4_e2m1", saturate=True)


def blocks() -> Player:
    """Show 64 numbers in four bits, with one scale for all of them or one for each small block.

    Returns
    -------
    Player
        A widget; its ``sentence`` says what the picture shows.

    Examples
    --------
    >>> print(rl.precision.blocks().sentence[:60])
    Blocks of 64 take 4.125 bits a number. The 64 numbers are of
    """
    return Blocks(*(_scene(wide) for wide in (WIDE, NARROW)), stem="blocks-of-four-bits")


class Blocks(Player):
    """The picture; its still shows one scale for all, and small blocks below."""

    def states(self) -> Sequence[Mapping[str, Any]]:
        return [{"size": SIZES[0]}, {"size": SIZES[3]}]


def _scene(wide: float) -> Scene:
    """The picture, ``wide`` pixels wide."""
    values = example()
    scene = Scene(wide, 344, [Dim("size", [str(size) for size in SIZES], SIZES, glide=500)])
    labels = [f"{SIZES[0]} share a scale", *map(str, SIZES[1:])]
    scene.choice("size", "numbers that share a scale", labels)
    frame = Frame(34, 16, wide - 12, 300)
    y, room = frame.y(-3.4, 8.6, log=False), (wide - 46) / MANY
    x = frame.left + room * (np.arange(MANY) + 0.5)
    for value in (-2, 0, 2, 4, 6, 8):  # without a grid: lines are where numbers may land
        scene.text(frame.left - 8, y(value) + 5, str(value), size=SMALL, anchor="end", name="tick")
    each = [shared(values, size) for size in SIZES]
    grid = np.unique(formats()["fp4_e2m1"].codes())
    for block in range(MANY // SIZES[-1]):
        first = block * SIZES[-1]
        last = first + SIZES[-1]
        begin = By("size", [x[first] - room / 2 + 1.5 * (first % size == 0) for size in SIZES])
        end = By("size", [x[last - 1] + room / 2 - 1.5 * (last % size == 0) for size in SIZES])
        for level in grid:
            heights = y(np.array([level * scales[first] for scales, _ in each]))
            at = By("size", heights)
            scene.line([(begin, at), (end, at)], "soft", 1, opacity=0.75, clip=frame.box,
                       name="level")  # fmt: skip
    landed = np.array([rounded for _, rounded in each])
    for place in range(MANY):
        to = By("size", y(landed[:, place]))
        scene.line([(x[place], y(values[place])), (x[place], to)], "overhead", 2, name="error")
        scene.dot(x[place], to, size=3.6, fill="computing", name="rounded")
        scene.dot(x[place], y(values[place]), size=3.2, fill="paper", ink="ink", width=1.2,
                  name="exact")  # fmt: skip
    _key(scene, frame.bottom + 32)
    errors = np.abs(landed - values).mean(axis=1)
    zeros = [int(((one == 0) & (values != 0)).sum()) for one in landed]
    scene.says = By("size", [
        f"Blocks of {size} take {KIND.bits + KIND.scale_bits / size:.4g} bits a number. "
        f"The {MANY} numbers are off by {plain(error, 2)} on average, and {none} of them became 0."
        for size, error, none in zip(SIZES, errors, zeros)
    ])  # fmt: skip
    return scene


def _key(scene: Scene, foot: float) -> None:
    scene.dot(38, foot - 5, size=3.2, fill="paper", ink="ink", width=1.2)
    scene.text(47, foot, "the number", size=SMALL)
    scene.dot(140, foot - 5, size=3.6, fill="computing")
    scene.text(149, foot, "in 4 bits", size=SMALL)
    scene.line([(222, foot - 5), (242, foot - 5)], "soft", 1, opacity=0.75)
    scene.text(248, foot, "where it may land", "soft", size=SMALL)

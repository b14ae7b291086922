"""What 32 lanes read at once: sectors of global memory, and banks of shared memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rooflab.count.si import several
from rooflab.labs.cuda.emulator.report import SECTOR_BYTES
from rooflab.labs.cuda.sheets import NARROW, SMALL, WIDE, key, picture
from rooflab.show.scene import By, Dim, Scene

LANES, WORD, BANKS = 32, 4, 32  # of a warp; bytes of a number; of shared memory
STRIDES, SECTORS = (1, 2, 3, 4, 8, 16, 32), 128  # numbers from lane to lane; sectors of the memory
NUMBERS = SECTOR_BYTES // WORD  # of a sector
LENGTHS = (32, 33, 34, 36, 40, 48, 64)  # numbers of a row of the tile in shared memory
READS = ("a column", "a row", "one number for all")
#: Memory of both sheets: lines in a row; pixels from line to line, sector to sector, row to row.
ROOM = {WIDE: (4, 168, 41, 23), NARROW: (2, 178, 43, 17)}
LEFT, TOP, GLIDE = 48, 96, 500  # pixels: where memory begins; milliseconds
MOVED, PADDING = 0.35, 0.4  # opacities


@picture("coalescing")
def coalescing(wide: int) -> Scene:
    """Show which sectors of memory a warp moves for the numbers that its lanes load.

    >>> print(rl.cuda.coalescing().sentence)
    Stride 2: 8 sectors, 256 bytes for the 128 that are asked for.
    """
    foot = _corners(SECTORS * NUMBERS, wide)[1]
    scene = Scene(wide, foot + 44, [
        Dim("stride", [*map(str, STRIDES)], STRIDES, start=1, glide=GLIDE),
        Dim("first", ("at a line", "1 number on"), (0, 1), glide=GLIDE),
    ])  # fmt: skip
    scene.choice("first", "where lane 0 begins", ("lane 0 begins a line", "1 number further on"))
    loaded = np.array([[range(first, first + LANES * stride, stride) for first in (0, 1)]
                       for stride in STRIDES])  # fmt: skip
    x, y = _corners(loaded, wide)
    long, high = (ROOM[wide][2] - 1) / NUMBERS, ROOM[wide][3] - 6  # of a number
    _lanes(scene, "32 lanes load a number each", (wide - LEFT - 4) / LANES, "stride first",
           x + long / 2, y == TOP)  # fmt: skip  # further down there is no wire
    scene.text(LEFT - 10, TOP - 5, "byte", "soft", size=SMALL, anchor="end")
    for sector in range(SECTORS):
        left, top = _corners(sector * NUMBERS, wide)
        moved = (loaded // NUMBERS == sector).any(axis=-1)
        scene.rect(left, top, NUMBERS * long, high, radius=0, name="sector",
                   fill=By("stride first", np.where(moved, "carrying", "grid")),
                   opacity=By("stride first", np.where(moved, MOVED, 1)))  # fmt: skip
        if left == LEFT:
            scene.text(left - 10, top + high - 1, str(sector * SECTOR_BYTES), "soft", size=SMALL,
                       anchor="end")  # fmt: skip
    for lane in range(LANES):
        scene.rect(By("stride first", x[..., lane]), By("stride first", y[..., lane]), long - 0.75,
                   high, "carrying", radius=0, name="used")  # fmt: skip
    key(scene, LEFT, foot + 20, [("used", "carrying", 1), ("moved", "carrying", MOVED),
                                 ("a sector of 32 bytes", "grid", 1)])  # fmt: skip
    scene.slider("stride", "stride, in numbers")
    scene.says = scene.each("stride first", lambda s, first: _coalesced(s, first, loaded[s, first]))
    scene.note("fp32: 4 bytes a number. Four sectors in a row are a line of 128 bytes.")
    return scene


def _corners(numbers: Any, wide: int) -> tuple[Any, Any]:
    """The x and y of numbers in memory: four sectors are a line, some lines are a row."""
    lines, line, sector, row = ROOM[wide]
    rows, part = np.divmod(np.floor_divide(numbers, NUMBERS), 4 * lines)
    inside = np.mod(numbers, NUMBERS) * (sector - 1) / NUMBERS
    return LEFT + part // 4 * line + part % 4 * sector + inside, TOP + row * rows


def _coalesced(stride: int, first: int, loaded: np.ndarray) -> str:
    many, on = len(np.unique(loaded // NUMBERS)), ", 1 number further on" if first else ""
    return (f"Stride {STRIDES[stride]}{on}: {several(many, 'sector')}, {many * SECTOR_BYTES} bytes "
            f"for the {LANES * WORD} that are asked for.")  # fmt: skip


def turns(words: Sequence[int]) -> list[int]:
    """Return the turn in which each lane gets its word: a bank gives one word a turn, to all."""
    queues: dict[int, list[int]] = {}
    for word in dict.fromkeys(words):
        queues.setdefault(word % BANKS, []).append(word)
    return [queues[word % BANKS].index(word) for word in words]


@picture("banks")
def banks(wide: int) -> Scene:
    """Show in how many turns the banks of shared memory give a warp a column of a tile.

    >>> print(rl.cuda.banks().sentence)
    Rows of 32 numbers: all 32 lanes want bank 0, in 32 different words: 32 turns.
    """
    pitch, row, turn = (9.5, 4, 8) if wide == WIDE else (10.9, 3, 4)
    long, foot = pitch * BANKS, TOP + row * max(LENGTHS)
    left, top = (wide - 4 - long, TOP) if wide == WIDE else (LEFT, foot + 78)
    scene = Scene(wide, foot + 50 if wide == WIDE else top + turn * LANES + 14, [
        Dim("read", READS, READS, glide=GLIDE),
        Dim("length", [*map(str, LENGTHS)], LENGTHS, glide=GLIDE),
    ])  # fmt: skip
    scene.choice("read", "what the lanes read", READS)
    steps = np.array([LENGTHS, np.ones_like(LENGTHS), np.zeros_like(LENGTHS)])  # lane to lane
    words = np.multiply.outer(steps, np.arange(LANES))
    when = np.array([[turns(each) for each in rows] for rows in words.tolist()])
    depth, bank = np.divmod(words, BANKS)
    x = pitch * bank + 0.5
    _lanes(scene, "32 lanes, 32 banks", pitch, "read length", LEFT + x + pitch / 2,
           np.ones_like(x))  # fmt: skip
    _tile(scene, pitch, row)
    for place in ((LEFT, TOP, long, foot - TOP), (left, top, long, turn * LANES)):
        scene.rect(*place, None, ink="soft", width=1, radius=0, name="places")
    count = scene.each("read length", lambda *at: several(int(when[at].max()) + 1, "turn"))
    scene.text(left, top - 14, count, bold=True)
    for n in (1, 8, 16, 24, 32):
        down = top + turn * (n - 0.5) + 5
        scene.text(left - 8, down, str(n), "soft", size=SMALL, anchor="end")
    for name, first, y, high in (
        ("word", LEFT, TOP + row * depth, row), ("served", left, top + turn * when, turn)
    ):  # fmt: skip
        for n in range(LANES):
            at = By("read length", first + x[..., n]), By("read length", y[..., n])
            scene.rect(*at, pitch - 1, high - 0.5, "carrying", radius=0, name=name)
    _numbers(scene, "bank", pitch, foot + 16)
    key(scene, LEFT, foot + 40, [("read", "carrying", 1), ("tile", "grid", 1),
                                 ("padding", "soft", PADDING)])  # fmt: skip
    scene.slider("length", "numbers in a row of the tile")
    scene.says = scene.each("read length", lambda r, n: _conflict(r, n, words[r, n]))
    return scene


def _tile(scene: Scene, pitch: float, row: float) -> None:
    """32 rows one after the other in the banks, each with its padding at its end."""
    lengths = np.array(LENGTHS)
    scene.rect(LEFT, TOP, pitch * BANKS, By("length", lengths * row), "grid", radius=0, name="tile")
    pad = pitch * (lengths - BANKS)
    for n in range(1, LANES + 1):  # padding ends where the next row begins
        down, along = np.divmod(n * lengths - 1, BANKS)
        x = By("length", LEFT + pitch * (along + 1) - pad)
        scene.rect(x, By("length", TOP + row * down), By("length", pad), row, "soft", radius=0,
                   opacity=PADDING, name="padding")  # fmt: skip


def _conflict(read: int, length: int, words: np.ndarray) -> str:
    if READS[read] == "one number for all":
        return f"One number for all: the {LANES} lanes want the same word of bank 0: 1 turn."
    used, most = len(np.unique(words % BANKS)), max(turns(words.tolist())) + 1
    rows, count = f"Rows of {LENGTHS[length]} numbers", several(most, "turn")
    if used == 1:
        return f"{rows}: all {LANES} lanes want bank 0, in {most} different words: {count}."
    each = "one word" if most == 1 else several(most, "word")
    return f"{rows}, {READS[read]}: the {LANES} lanes want {used} banks, {each} in each: {count}."


def _lanes(
    scene: Scene, title: str, pitch: float, dims: str, to: np.ndarray, seen: np.ndarray
) -> None:
    """The lanes of a warp in a row, each with a line ``to`` the x of what it reads, if ``seen``."""
    scene.text(LEFT, 16, title, bold=True)
    _numbers(scene, "lane", pitch, 36)
    for n in range(LANES):
        x = LEFT + n * pitch
        scene.rect(x + 0.75, 41, pitch - 1.5, 11, "paper", ink="ink", width=1.5, name="square")
        scene.line([(x + pitch / 2, 53), (By(dims, to[..., n]), TOP - 1)], "soft", 1,
                   opacity=By(dims, seen[..., n]), name="wire")  # fmt: skip


def _numbers(scene: Scene, name: str, pitch: float, y: float) -> None:
    scene.text(LEFT - 10, y, name, "soft", size=SMALL, anchor="end")
    for n in (0, 8, 16, 24, 31):
        x = LEFT + (n + 0.5) * pitch
        scene.text(x, y, str(n), "soft", size=SMALL, anchor="middle")

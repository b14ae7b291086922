"""What 32 lanes read at once: sectors of global memory, and banks of shared memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rooflab.count.si import several
from rooflab.labs.cuda.emulator.report import SECTOR_BYTES
from rooflab.show.scene import By, Dim, Number, Scene
from rooflab.show.scene.player import Player

LANES, WORD, BANKS = 32, 4, 32  # of a warp; bytes of a number; of shared memory
STRIDES, SECTORS = (1, 2, 3, 4, 8, 16, 32), 128  # numbers from lane to lane; sectors of the memory
NUMBERS = SECTOR_BYTES // WORD  # of a sector
LENGTHS = (32, 33, 34, 36, 40, 48, 64)  # numbers of a row of the tile in shared memory
READS = ("a column", "a row", "one number for all")
WIDE, NARROW, LEFT, SMALL = 720, 400, 48, 14
#: Memory of both sheets: lines in a row; pixels from line to line, sector to sector, row to row.
ROOM = {WIDE: (4, 168, 41, 23), NARROW: (2, 178, 43, 17)}
TOP, GLIDE = 96, 500  # pixels: where memory begins; milliseconds
MOVED, PADDING = 0.35, 0.4  # opacities


def coalescing(after: Any = None) -> Player:
    """Show which sectors of memory a warp moves for the numbers that its lanes load.

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
    >>> print(rl.cuda.coalescing().sentence)
    Stride 2: 8 sectors, 256 bytes for the 128 that are asked for.
    """
    scenes = (_coalescing(wide) for wide in (WIDE, NARROW))
    return Player(*scenes, stem="coalescing", after=after)


def banks(after: Any = None) -> Player:
    """Show in how many turns the banks of shared memory give a warp a column of a tile.

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
    >>> print(rl.cuda.banks().sentence)
    Rows of 32 numbers: all 32 lanes want bank 0, in 32 different words: 32 turns.
    """
    return Player(*(_banks(wide) for wide in (WIDE, NARROW)), stem="banks", after=after)


# Global memory.


def loaded(stride: int, first: int) -> list[int]:
    """Return the number that each lane loads, counted from the start of a line."""
    return [first + stride * lane for lane in range(LANES)]


def sectors(stride: int, first: int) -> set[int]:
    """Return the sectors that these numbers lie in."""
    return {number // NUMBERS for number in loaded(stride, first)}


def _corners(numbers: Any, wide: int) -> tuple[Any, Any]:
    """The x and y of numbers in memory: four sectors are a line, some lines are a row."""
    lines, line, sector, row = ROOM[wide]
    rows, part = np.divmod(np.floor_divide(numbers, NUMBERS), 4 * lines)
    inside = np.mod(numbers, NUMBERS) * (sector - 1) / NUMBERS
    return LEFT + part // 4 * line + part % 4 * sector + inside, TOP + row * rows


def _coalescing(wide: int) -> Scene:
    """The picture, ``wide`` pixels wide."""
    pitch, foot = (wide - LEFT - 4) / LANES, _corners(SECTORS * NUMBERS, wide)[1]
    scene = Scene(wide, foot + 44, [
        Dim("stride", [*map(str, STRIDES)], STRIDES, start=1, glide=GLIDE),
        Dim("first", ("at a line", "1 number on"), (0, 1), glide=GLIDE),
    ])  # fmt: skip
    scene.choice("first", "where lane 0 begins", ("lane 0 begins a line", "1 number further on"))
    _lanes(scene, "32 lanes load a number each", pitch)
    scene.text(LEFT - 10, TOP - 5, "byte", "soft", size=SMALL, anchor="end", name="byte")
    numbers = np.array([[loaded(stride, first) for first in (0, 1)] for stride in STRIDES])
    long, high = ROOM[wide][2] - 1, ROOM[wide][3] - 6
    for sector in range(SECTORS):
        x, y = _corners(sector * NUMBERS, wide)
        lit = (numbers // NUMBERS == sector).any(axis=-1)
        scene.rect(x, y, long, high, radius=0, name="sector",
                   fill=By("stride first", np.where(lit, "carrying", "grid")),
                   opacity=By("stride first", np.where(lit, MOVED, 1)))  # fmt: skip
        if x == LEFT:
            scene.text(x - 10, y + high - 1, str(sector * SECTOR_BYTES), "soft", size=SMALL,
                       anchor="end", name="byte")  # fmt: skip
    for lane in range(LANES):
        x, y = _corners(numbers[..., lane], wide)
        near = By("stride first", y == TOP)  # further down there is no wire
        _wire(scene, lane, pitch, By("stride first", x + long / NUMBERS / 2), near)
        scene.rect(By("stride first", x), By("stride first", y), long / NUMBERS - 0.75, high,
                   "carrying", radius=0, name="used")  # fmt: skip
    _key(scene, foot + 20, [("used", "carrying", 1), ("moved", "carrying", MOVED),
                            ("a sector of 32 bytes", "grid", 1)])  # fmt: skip
    scene.slider("stride", "stride, in numbers")
    scene.says = scene.each("stride first", lambda s, first: _coalesced(STRIDES[s], first))
    scene.note("fp32: 4 bytes a number. Four sectors in a row are a line of 128 bytes.")
    return scene


def _coalesced(stride: int, first: int) -> str:
    many, on = len(sectors(stride, first)), ", 1 number further on" if first else ""
    return (f"Stride {stride}{on}: {several(many, 'sector')}, {many * SECTOR_BYTES} bytes "
            f"for the {LANES * WORD} that are asked for.")  # fmt: skip


# Shared memory.


def turns(words: Sequence[int]) -> list[int]:
    """Return the turn in which each lane gets its word: a bank gives one word a turn, to all."""
    queues: dict[int, list[int]] = {}
    for word in dict.fromkeys(words):
        queues.setdefault(word % BANKS, []).append(word)
    return [queues[word % BANKS].index(word) for word in words]


def words_read(read: str, length: int) -> list[int]:
    """Return the word of each lane, in a tile with rows of so many numbers."""
    return [lane * {"a column": length, "a row": 1}.get(read, 0) for lane in range(LANES)]


def _banks(wide: float) -> Scene:
    """The picture, ``wide`` pixels wide."""
    pitch, row, turn = (9.5, 4, 8) if wide == WIDE else (10.9, 3, 4)
    foot = TOP + row * max(LENGTHS)
    left, top = (wide - 4 - pitch * BANKS, TOP) if wide == WIDE else (LEFT, foot + 78)
    scene = Scene(wide, foot + 50 if wide == WIDE else top + turn * LANES + 14, [
        Dim("read", READS, READS, glide=GLIDE),
        Dim("length", [*map(str, LENGTHS)], LENGTHS, glide=GLIDE),
    ])  # fmt: skip
    scene.choice("read", "what the lanes read", READS)
    each = [[words_read(read, length) for length in LENGTHS] for read in READS]
    when = np.array([[turns(words) for words in rows] for rows in each])
    depth, bank = np.divmod(each, BANKS)
    _lanes(scene, "32 lanes, 32 banks", pitch)
    _tile(scene, pitch, row)
    for place in ((LEFT, TOP, pitch * BANKS, foot - TOP), (left, top, pitch * BANKS, turn * 32)):
        scene.rect(*place, None, ink="soft", width=1, radius=0, name="places")
    count = scene.each("read length", lambda r, n: several(int(when[r, n].max()) + 1, "turn"))
    scene.text(left, top - 14, count, bold=True, name="turns")
    for n in (1, 8, 16, 24, 32):
        y = top + turn * n - turn / 2 + 5
        scene.text(left - 8, y, str(n), "soft", size=SMALL, anchor="end", name="turn")
    for n in range(LANES):
        x = pitch * bank[..., n] + 0.5
        in_tile = By("read length", LEFT + x), By("read length", TOP + row * depth[..., n])
        in_turn = By("read length", left + x), By("read length", top + turn * when[..., n])
        scene.rect(*in_tile, pitch - 1, row - 0.5, "carrying", radius=0, name="word")
        scene.rect(*in_turn, pitch - 1, turn - 0.5, "carrying", radius=0, name="served")
        _wire(scene, n, pitch, By("read length", LEFT + x + pitch / 2), 1)
    _numbers(scene, "bank", pitch, foot + 16)
    _key(scene, foot + 40, [("read", "carrying", 1), ("tile", "grid", 1),
                            ("padding", "soft", PADDING)])  # fmt: skip
    scene.slider("length", "numbers in a row of the tile")
    scene.says = scene.each("read length", lambda r, n: _conflict(READS[r], LENGTHS[n]))
    return scene


def _tile(scene: Scene, pitch: float, row: float) -> None:
    """32 rows one after the other in the banks, each with its padding at its end."""
    high = By("length", [length * row for length in LENGTHS])
    scene.rect(LEFT, TOP, pitch * BANKS, high, "grid", radius=0, name="tile")
    for n in range(1, LANES + 1):  # padding ends where the next row begins
        ends = [(n * length - 1) % BANKS + 1 for length in LENGTHS]
        more = [length - BANKS for length in LENGTHS]
        x = By("length", [LEFT + (end - pad) * pitch for end, pad in zip(ends, more)])
        y = By("length", [TOP + (n * length - 1) // BANKS * row for length in LENGTHS])
        long = By("length", [pad * pitch for pad in more])
        scene.rect(x, y, long, row, "soft", radius=0, opacity=PADDING, name="padding")


def _conflict(read: str, length: int) -> str:
    words = words_read(read, length)
    used, most = len({word % BANKS for word in words}), max(turns(words)) + 1
    if len(set(words)) == 1:
        return f"One number for all: the {LANES} lanes want the same word of bank 0: 1 turn."
    rows, count = f"Rows of {length} numbers", several(most, "turn")
    if used == 1:
        return f"{rows}: all {LANES} lanes want bank 0, in {most} different words: {count}."
    each = "one word" if most == 1 else several(most, "word")
    return f"{rows}, {read}: the {LANES} lanes want {used} banks, {each} in each: {count}."


# Both.


def _lanes(scene: Scene, title: str, pitch: float) -> None:
    """The lanes of a warp, in a row above memory."""
    scene.text(LEFT, 16, title, bold=True, name="heading")
    _numbers(scene, "lane", pitch, 36)
    for n in range(LANES):
        x = LEFT + n * pitch + 0.75
        scene.rect(x, 41, pitch - 1.5, 11, "paper", ink="ink", width=1.5, name="square")


def _numbers(scene: Scene, name: str, pitch: float, y: float) -> None:
    scene.text(LEFT - 10, y, name, "soft", size=SMALL, anchor="end", name=name)
    for n in (0, 8, 16, 24, 31):
        x = LEFT + (n + 0.5) * pitch
        scene.text(x, y, str(n), "soft", size=SMALL, anchor="middle", name=name)


def _wire(scene: Scene, lane: int, pitch: float, to: By, seen: Number) -> None:
    """A line from a lane to the x of what it reads."""
    scene.line([(LEFT + (lane + 0.5) * pitch, 53), (to, TOP - 1)], "soft", 1, opacity=seen,
               name="wire")  # fmt: skip


def _key(scene: Scene, y: float, entries: Sequence[tuple[str, str, float]]) -> None:
    x = float(LEFT)
    for words, ink, opacity in entries:
        scene.rect(x, y - 11, 12, 12, ink, radius=0, opacity=opacity, name="key")
        scene.text(x + 17, y, words, size=SMALL, name="key")
        x += 40 + 7.4 * len(words)

"""A tiled product as a picture: the tiles move over A, B and C, and cells in the cache are tinted.

A small roofline beside them shows the intensity that has been reached so far. What is in the cache
and what has been moved is counted by the simulator, access by access.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rooflab.count.si import plain, several, si
from rooflab.count.validation import size
from rooflab.labs.cache.hierarchy import Cache, Hierarchy
from rooflab.labs.cache.nests import gemm_stream
from rooflab.labs.cache.simulator import empty_caches, write_dirty
from rooflab.labs.cache.stream import AccessStream, Integers, Reference
from rooflab.optional import installed
from rooflab.show.scene import By, Dim, Scene
from rooflab.show.scene.axes import Scale
from rooflab.show.scene.player import Player

WIDTH, HEIGHT = 420, 548  # so narrow that its letters are large enough on a phone
LEFT, TOP, SIDE, GAP = 44.0, 58.0, 160.0, 34.0  # of the four quarters: roofline, B, A and C
WORD = 4  # bytes of an element
RIDGE = 0.5  # FLOP/byte of the machine that is drawn
MOMENTS = 32
LETTERS = 14
TINT = 0.55


@dataclass(frozen=True)
class Moment:
    """What has happened after some multiply-adds: bytes moved, and which words are in the cache.

    ``corner``: the indices i, j, k at which the current tile begins.
    """

    done: int
    moved: int
    held: Integers
    corner: tuple[int, int, int]


def accesses(stream: AccessStream) -> Iterator[tuple[Reference, int, tuple[int, ...]]]:
    """Every access of a stream without guards, in its order: reference, address, loop indices."""

    def made(index: tuple[int, ...], when: str) -> Iterator[tuple[Reference, int, tuple[int, ...]]]:
        for one in stream.references:
            if one.depth == len(index) and one.when == when:
                moved = sum(step * turn for step, turn in zip(one.strides, index))
                yield one, one.offset + moved, index

    def inside(index: tuple[int, ...]) -> Iterator[tuple[Reference, int, tuple[int, ...]]]:
        yield from made(index, "before")
        if len(index) < len(stream.extents):
            for turn in range(stream.extents[len(index)]):
                yield from inside((*index, turn))
        yield from made(index, "after")

    return inside(())


def film(n: int, words: int, side: int) -> list[Moment]:
    """The product of two n×n matrices in tiles, at evenly spaced moments; a side of 1 is no tile.

    The memory of ``words`` words is an LRU cache with lines of one word. What is dirty at the end
    is written back in the last moment.
    """
    from rooflab.labs.cache.engine import FETCHED, WRITTEN, play

    tile, order = (None, "ijk") if side == 1 else (side, "kij")
    area = WORD * n * n
    stream = gemm_stream(n, n, n, tile=tile, order=order, bases=[0, area, 2 * area])
    memory = Hierarchy(Cache("memory", WORD * words, line=WORD))
    state = empty_caches(memory, 3 * n * n, 1)
    every = list(accesses(stream))
    work = np.cumsum([one.array == "B" for one, _, _ in every])  # one access of B a multiply-add
    addresses = np.array([address for _, address, _ in every])
    writes = np.array([one.write for one, _, _ in every])
    ends = np.searchsorted(work, np.linspace(0, n**3, MOMENTS + 1), "left") + 1
    ends[0], ends[-1] = 0, len(every)
    found = []
    for start, end in zip([0, *ends[:-1]], ends, strict=True):
        play(*state, addresses[start:end], writes[start:end], WORD, WORD.bit_length() - 1)
        held = np.flatnonzero(state.where[0, :-1] >= 0)
        if end == len(every):
            write_dirty(state, 1)
        moved = WORD * int(state.counts[0, 0, [FETCHED, WRITTEN]].sum())
        now = min(max(end - 1, 0), len(every) - 1)
        done = int(work[now]) if end else 0
        found.append(Moment(done, moved, held, _corner(every[now][2], side)))
    return found


def _corner(index: tuple[int, ...], side: int) -> tuple[int, int, int]:
    """Where the tile of an iteration begins. Loops that have not begun stand at 0."""
    i, j, k = (*index, 0, 0, 0)[:3]
    return side * i, side * j, side * k


@installed("rooflab.cache.tiles")
def tiles(n: int = 8, words: int = 32, sides: Sequence[int] = (1, 2, 4, 8)) -> Player:
    """Show tiles moving over A, B and C, with what is in the cache and the intensity so far.

    One slider runs through the product, and buttons choose the tile.

    Parameters
    ----------
    n : int, default 8
        Rows and columns of the matrices, 4 to 16.
    words : int, default 32
        Words that the cache holds. It replaces the least recently used one.
    sides : sequence of int, default (1, 2, 4, 8)
        Sides of the tiles to choose from, which divide n. 1 stands for no tiles.

    Returns
    -------
    Player
        A widget; its ``sentence`` says what the picture shows.

    Examples
    --------
    >>> picture = rl.cache.tiles()
    >>> picture.tile, picture.moment = "4×4", 32
    >>> print(picture.sentence)
    In tiles of 4×4, 512 of 512 multiply-adds have moved 1.54 kB: 0.67 FLOP/byte, where the \
machine is limited by its peak.
    """
    n, words = size("n", n, 4), size("words", words)
    if n > 16:
        raise ValueError(f"n={n} must be at most 16, or the cells would be too small to see")
    found = [size(f"sides[{at}]", side) for at, side in enumerate(sides)]
    for side in found:
        if n % side:
            raise ValueError(f"sides: {side} does not divide n={n}")
    if len(found) < 2:
        raise ValueError(f"sides={sides!r} must be two or more, to choose from")
    films = [film(n, words, side) for side in found]
    return Player(_Drawing(n, words, found, films).scene(), stem="tiles", kind="rl-tiles")


@dataclass(frozen=True)
class _Drawing:
    """The scene of some films, one for each side of a tile."""

    n: int
    words: int
    sides: Sequence[int]
    films: Sequence[Sequence[Moment]]

    def by(self, value: Any) -> By:
        """``value(side, moment)`` in every state."""
        rows = [
            [value(side, moment) for moment in moments]
            for side, moments in zip(self.sides, self.films, strict=True)
        ]
        words = isinstance(rows[0][0], str)
        return By("tile moment", np.array(rows, object if words else float))

    def scene(self) -> Scene:
        """The whole picture."""
        names = ["no tiles" if side == 1 else f"{side}×{side}" for side in self.sides]
        done = [str(moment.done) for moment in self.films[0]]
        dims = [Dim("tile", names, names), Dim("moment", done, glide=90, even=True)]
        scene = Scene(WIDTH, HEIGHT, dims)
        title = f"C ← C + A·B, through a cache of {several(self.words, 'number')}"
        scene.text(WIDTH / 2, 24, title, anchor="middle", bold=True, size=16, name="title")
        far, low = LEFT + SIDE + GAP, TOP + SIDE + GAP
        self._matrix(scene, "A", 0, LEFT, low, (0, 2))
        self._matrix(scene, "B", 1, far, TOP, (2, 1))
        self._matrix(scene, "C", 2, far, low, (0, 1))
        self._roofline(scene)
        self._counts(scene)
        scene.choice("tile", "the tile", names)
        scene.play("moment")
        scene.slider("moment", "multiply-adds so far")
        scene.says = self.by(self._said)
        return scene

    def _matrix(
        self, scene: Scene, name: str, place: int, left: float, top: float, axes: tuple[int, int]
    ) -> None:
        """A matrix as cells, tinted where they are in the cache, and its current tile."""
        cell = SIDE / self.n
        first = place * self.n * self.n
        held = np.zeros((len(self.sides), MOMENTS + 1, 3 * self.n * self.n))
        for row, moments in enumerate(self.films):
            for turn, moment in enumerate(moments):
                held[row, turn, moment.held] = TINT
        for number in range(self.n * self.n):
            row, column = divmod(number, self.n)
            scene.rect(
                left + column * cell, top + row * cell, cell, cell, "carrying", radius=0,
                opacity=By("tile moment", held[:, :, first + number]), name=f"cell-{name}",
            )  # fmt: skip
        for line in range(self.n + 1):
            x, y = left + line * cell, top + line * cell
            scene.line([(x, top), (x, top + SIDE)], "grid", 1)
            scene.line([(left, y), (left + SIDE, y)], "grid", 1)
        down, across = axes
        side = self.by(lambda side, moment: cell * side)
        scene.rect(
            self.by(lambda side, moment: left + cell * moment.corner[across]),
            self.by(lambda side, moment: top + cell * moment.corner[down]),
            side, side, None, ink="ink", width=2.5, radius=0, name=f"tile-{name}",
        )  # fmt: skip
        scene.text(left + SIDE / 2, top - 7, name, anchor="middle", bold=True, name="matrix")

    def _roofline(self, scene: Scene) -> None:
        """FLOP/s over intensity so far, both on log axes, in the free quarter."""
        right, foot = LEFT + SIDE - 6, TOP + SIDE - 18
        x = Scale(0.1, 2.0, LEFT, right, log=True)
        y = Scale(0.1, 1.5, foot, TOP + 8, log=True)
        scene.line([(LEFT, TOP), (LEFT, foot), (right, foot)], "soft", 1, name="axes")
        ends = [(x(v), y(min(v / RIDGE, 1.0))) for v in (0.1, RIDGE, 2.0)]
        scene.line(ends[:2], "carrying", 2.5, name="memory")
        scene.line(ends[1:], "computing", 2.5, name="peak")
        for value in (0.1, RIDGE, 2.0):
            scene.line([(x(value), foot), (x(value), foot + 4)], "soft", 1)
            words = plain(value)
            scene.text(x(value), foot + 18, words, "soft", size=LETTERS, anchor="middle")
        scene.text(right, foot - 8, "FLOP/byte", "soft", size=LETTERS, anchor="end")
        scene.text(LEFT - 8, TOP - 7, "FLOP/s", "soft", size=LETTERS)
        scene.text(right, y(1.0) - 14, "peak", "computing", size=LETTERS, anchor="end")

        def place(axis: int, moment: Moment) -> float:
            reached = _intensity(moment)
            return float((x, y)[axis](reached if axis == 0 else min(reached / RIDGE, 1.0)))

        spot = [self.by(lambda side, moment, axis=axis: place(axis, moment)) for axis in (0, 1)]
        shown = self.by(lambda side, moment: float(moment.moved > 0))
        scene.dot(spot[0], spot[1], size=7, ink="paper", opacity=shown, name="so far")

    def _counts(self, scene: Scene) -> None:
        """What has been done and moved, below the matrices."""
        rows = [
            ("multiply-adds", lambda side, moment: f"{moment.done} of {self.n**3}"),
            ("moved, both ways", lambda side, moment: si(moment.moved, "B")),
            ("so far", lambda side, moment: f"{_said_intensity(moment)} FLOP/byte"),
            ("in the cache", lambda side, moment: several(len(moment.held), "number")),
        ]
        top = TOP + 2 * SIDE + GAP + 34
        for row, (name, value) in enumerate(rows):
            y = top + 22 * row
            scene.text(LEFT, y, name, "soft", size=15, name="count")
            scene.text(
                LEFT + 2 * SIDE + GAP, y, self.by(value), anchor="end", bold=True, name="count"
            )
        note = f"a machine that needs {plain(RIDGE)} FLOP/byte for its peak"
        scene.text(WIDTH / 2, HEIGHT - 8, note, "soft", size=LETTERS, anchor="middle", name="note")

    def _said(self, side: int, moment: Moment) -> str:
        how = "Without tiles" if side == 1 else f"In tiles of {side}×{side}"
        if not moment.done:
            return f"{how}, nothing has been moved yet."
        limit = "its peak" if _intensity(moment) >= RIDGE else "the memory"
        return (
            f"{how}, {moment.done} of {self.n**3} multiply-adds have moved "
            f"{si(moment.moved, 'B')}: {_said_intensity(moment)} FLOP/byte, where the machine is "
            f"limited by {limit}."
        )


def _intensity(moment: Moment) -> float:
    return 2 * moment.done / moment.moved if moment.moved else 0.1


def _said_intensity(moment: Moment) -> str:
    return plain(_intensity(moment), 2) if moment.moved else "0"

"""A tiled product as a picture: tiles that move over A, B and C, and the cache as the queue it is.

What is in the cache, in which order, and what has been moved is counted by the simulator, access by
access. Bars compare the tiles, and a small roofline shows the intensity that has been reached.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
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

WIDE, NARROW = 720, 400
WORD = 4  # bytes of an element
RIDGE = 0.5  # FLOP/byte of the machine that is drawn
MOMENTS = 32
ORDERS = ("kij", "ijk")  # of the loops inside a tile
HELD, NEW = 0.35, 1.0  # opacity of what is in the cache, and of what has just come in
LETTERS, ROW, SLOT = 14, 24, 26  # pixels: of letters, from bar to bar, from slots to slots below
ACROSS = 16  # slots beside each other


@dataclass(frozen=True)
class Moment:
    """What has happened after some multiply-adds: bytes moved, and the words in the cache.

    ``queue``: those words, touched last first; ``new``: which of them were not there a moment ago.
    ``corner``: the indices i, j, k at which the current tile begins.
    """

    how: str
    done: int
    moved: int
    queue: Integers
    new: np.ndarray
    corner: tuple[int, int, int]

    @property
    def intensity(self) -> float:
        """FLOP/byte so far; where nothing has been moved, the end of the axis."""
        return 2 * self.done / self.moved if self.moved else 0.1

    @property
    def reached(self) -> str:
        """The same in words."""
        return plain(self.intensity, 2) if self.moved else "0"


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


def film(n: int, words: int, side: int, inside: str = "kij") -> list[Moment]:
    """The product of two n×n matrices in tiles, at evenly spaced moments; a side of 1 is no tile.

    The memory of ``words`` words is an LRU cache with lines of one word; ``inside`` is the order of
    the loops in a tile. What is dirty at the end is written back in the last moment.
    """
    from rooflab.labs.cache.engine import FETCHED, WRITTEN, play

    tile, order = (None, "ijk") if side == 1 else (side, inside)
    how = f"In tiles of {side}×{side}, {inside} inside" if tile else "Without tiles"
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
    found, touched, before = [], np.zeros(3 * n * n, int), np.zeros(0, int)
    for start, end in zip([0, *ends[:-1]], ends, strict=True):
        play(*state, addresses[start:end], writes[start:end], WORD, WORD.bit_length() - 1)
        touched[addresses[start:end] // WORD] = np.arange(start, end)
        held = np.flatnonzero(state.where[0, :-1] >= 0)
        queue = held[np.argsort(-touched[held])]
        if end == len(every):
            write_dirty(state, 1)
        moved = WORD * int(state.counts[0, 0, [FETCHED, WRITTEN]].sum())
        now = min(max(end - 1, 0), len(every) - 1)
        done = int(work[now]) if end else 0
        i, j, k = (*every[now][2], 0, 0, 0)[:3]  # loops that have not begun stand at 0
        new = ~np.isin(queue, before)
        found.append(Moment(how, done, moved, queue, new, (side * i, side * j, side * k)))
        before = queue
    return found


@installed("rooflab.cache.tiles")
def tiles(n: int = 8, words: int = 32) -> Player:
    """Show tiles moving over A, B and C, the cache as a queue, and the bytes that each tile moves.

    One slider runs through the product. Buttons choose the tile and the order of the loops inside.

    Parameters
    ----------
    n : int, default 8
        Rows and columns of the matrices, an even number from 4 to 16.
    words : int, default 32
        Words that the cache holds, at most 64. It replaces the least recently used one.

    Returns
    -------
    Player
        A widget; its ``sentence`` says what the picture shows.

    Examples
    --------
    >>> picture = rl.cache.tiles()
    >>> picture.tile, picture.moment = "4×4", 32
    >>> print(picture.sentence)
    In tiles of 4×4, kij inside, 512 of 512 multiply-adds have moved 1.54 kB: 0.67 FLOP/byte, ...
    """
    n, words = size("n", n, 4), size("words", words)
    if n > 16 or n % 2:
        raise ValueError(f"n={n} must be an even number of at most 16")
    if words > 64:
        raise ValueError(f"words={words} must be at most 64, for its places to be seen")
    sides = [side for side in (1, 2, 4, 8) if n % side == 0]  # 1 stands for no tiles
    films = [[film(n, words, side, order) for order in ORDERS] for side in sides]
    sheets = (_Drawing(n, words, sides, films, wide).scene() for wide in (WIDE, NARROW))
    return Player(*sheets, stem="tiles")


@dataclass(frozen=True)
class _Drawing:
    """The scene of some films, one for each side of a tile and order inside it."""

    n: int
    words: int
    sides: Sequence[int]
    films: Sequence[Sequence[Sequence[Moment]]]
    wide: int

    def by(self, value: Callable[[Moment], Any]) -> By:
        """``value(moment)`` in every state."""
        rows = [[[value(one) for one in film] for film in two] for two in self.films]
        table = np.array(rows, object)
        words = isinstance(table.flat[0], str)
        return By("tile order moment", table if words else table.astype(float))

    @property
    def edge(self) -> float:
        """Pixels of the side of a matrix."""
        return 134 if self.wide == WIDE else 124

    def scene(self) -> Scene:
        """The whole picture: matrices and roofline, and beside or below them cache and bars."""
        names = ["no tiles" if side == 1 else f"{side}×{side}" for side in self.sides]
        done = [str(moment.done) for moment in self.films[0][0]]
        dims = [
            Dim("tile", names, names), Dim("order", ORDERS, ORDERS),
            Dim("moment", done, start=MOMENTS // 2, glide=90, even=True),
        ]  # fmt: skip
        gap, top, block, beside = 28.0, 28.0, 2 * self.edge + 28, self.wide == WIDE
        low, left = top + self.edge + gap, 26.0 if beside else (self.wide - block) / 2
        right = left + self.edge + gap
        x, y = (left + block + 44, 16.0) if beside else (8.0, low + self.edge + 34)
        bars = y + 76 + SLOT * -(-self.words // ACROSS)
        foot = bars + ROW * len(self.sides) + 52
        scene = Scene(self.wide, max(low + self.edge + 6, foot), dims)
        self._roofline(scene, left, top)
        for at, place in enumerate([(left, low, 0, 2), (right, top, 2, 1), (right, low, 0, 1)]):
            self._matrix(scene, at, *place)
        self._queue(scene, x, y)
        self._bars(scene, names, x, bars)
        scene.choice("tile", "the tile", names)
        scene.choice("order", "loops inside a tile", [f"{order} inside" for order in ORDERS],
                     off=By("tile order", [[side == 1] * 2 for side in self.sides]))  # fmt: skip
        scene.play("moment")
        scene.slider("moment", f"multiply-adds, of {self.n**3}")
        scene.says = self.by(self._said)
        return scene

    def _matrix(
        self, scene: Scene, at: int, left: float, top: float, down: int, across: int
    ) -> None:
        """A matrix as cells, tinted where they are in the cache, and its current tile."""
        name, count, cell = "ABC"[at], self.n * self.n, self.edge / self.n

        def shades(one: Moment) -> list[Any]:
            every = np.zeros(3 * count)
            every[one.queue] = np.where(one.new, NEW, HELD)
            return [*every[at * count : (at + 1) * count]]

        table = self.by(shades).values
        for number in range(count):
            row, column = divmod(number, self.n)
            shade = By("tile order moment", table[..., number])
            box = left + column * cell, top + row * cell, cell, cell
            scene.rect(*box, "carrying", radius=0, opacity=shade, name=f"cell-{name}")
        for line in range(self.n + 1):
            x, y = left + line * cell, top + line * cell
            scene.line([(x, top), (x, top + self.edge)], "grid", 1)
            scene.line([(left, y), (left + self.edge, y)], "grid", 1)
        side = By("tile", [cell * side for side in self.sides])
        at_x = self.by(lambda one: left + cell * one.corner[across])
        at_y = self.by(lambda one: top + cell * one.corner[down])
        scene.rect(
            at_x, at_y, side, side, None, ink="ink", width=2.5, radius=0, name=f"tile-{name}"
        )
        scene.text(left + self.edge / 2, top - 7, name, anchor="middle", bold=True, name="matrix")

    def _roofline(self, scene: Scene, left: float, top: float) -> None:
        """FLOP/s over intensity so far, both on log axes, in the free quarter."""
        right, foot = left + self.edge - 6, top + self.edge - 18
        x = Scale(0.1, 2.0, left, right, log=True)
        y = Scale(0.1, 1.5, foot, top + 8, log=True)
        scene.line([(left, top), (left, foot), (right, foot)], "soft", 1, name="axes")
        ends = [(x(v), y(min(v / RIDGE, 1.0))) for v in (0.1, RIDGE, 2.0)]
        scene.line(ends[:2], "carrying", 2.5, name="memory")
        scene.line(ends[1:], "computing", 2.5, name="peak")
        for value in (0.1, RIDGE, 2.0):
            scene.line([(x(value), foot), (x(value), foot + 4)], "soft", 1)
            scene.text(x(value), foot + 18, plain(value), "soft", size=LETTERS, anchor="middle")
        scene.text(right, foot - 8, "FLOP/byte", "soft", size=LETTERS, anchor="end")
        scene.text(left - 8, top - 7, "FLOP/s", "soft", size=LETTERS)
        scene.text(right, y(1.0) - 10, "peak", "computing", size=LETTERS, anchor="end")
        across = self.by(lambda one: float(x(one.intensity)))
        up = self.by(lambda one: float(y(min(one.intensity / RIDGE, 1.0))))
        shown = self.by(lambda one: float(one.moved > 0))
        scene.dot(across, up, size=7, ink="paper", opacity=shown, name="so far")

    def _queue(self, scene: Scene, x: float, y: float) -> None:
        """The cache: what was touched last comes first, and the one at the end leaves next."""
        title = f"the cache: {several(self.words, 'number')}, last touched first"
        scene.text(x, y, title, bold=True, name="title")
        wide, area = (self.wide - 8 - x) / ACROSS, self.n * self.n

        def slots(one: Moment, empty: Any, kinds: Callable[[int, bool], Any]) -> list[Any]:
            full = [kinds(word // area, new) for word, new in zip(one.queue, one.new)]
            return full + [empty] * (self.words - len(full))

        shade = self.by(lambda one: slots(one, 0.0, lambda _, new: NEW if new else HELD)).values
        ink = self.by(lambda one: slots(one, "ink", lambda _, new: "paper" if new else "ink"))
        word = self.by(lambda one: slots(one, "", lambda matrix, _: "ABC"[matrix]))
        for slot in range(self.words):
            left, top = x + slot % ACROSS * wide + 1, y + 12 + slot // ACROSS * SLOT
            box, now = (left, top, wide - 2, SLOT - 3), "tile order moment"
            seen = By(now, shade[..., slot])
            scene.rect(*box, "carrying", opacity=seen, name="held")
            scene.rect(*box, None, ink="soft", width=1, name="slot")
            words, inks = (
                By(now, np.asarray(one.values, object)[..., slot]) for one in (word, ink)
            )
            scene.text(left + wide / 2 - 1, top + 17, words, inks, size=LETTERS, anchor="middle",
                       name="word")  # fmt: skip
        low = y + 28 + SLOT * -(-self.words // ACROSS)
        for line, said in enumerate(
            ["the one at the end leaves next", "solid: fetched since the last stop"]
        ):
            scene.text(x, low + 18 * line, said, "soft", size=LETTERS)

    def _bars(self, scene: Scene, names: Sequence[str], x: float, y: float) -> None:
        """Bytes that each tile has moved so far, inside what it moves in all; below, FLOP/byte."""
        scene.text(x, y, "moved so far, in and out", bold=True)
        left, end = x + 70, self.wide - 8
        moved = np.array([[[one.moved for one in film] for film in two] for two in self.films])
        long = (end - 72 - left) / moved.max() * moved
        look: dict[str, Any] = {"size": LETTERS, "anchor": "end"}
        for n, name in enumerate(names):
            top = y + 10 + ROW * n
            here = [side == self.sides[n] for side in self.sides]
            ink = By("tile", ["ink" if one else "soft" for one in here])
            shade = By("tile", [1 if one else HELD for one in here])
            now, all_of_it = By("order moment", long[n]), By("order", long[n, :, -1])
            scene.text(left - 8, top + 15, name, ink, name="bar-name", **look)
            scene.rect(left, top, all_of_it, ROW - 5, None, ink="soft", width=1)
            scene.rect(left, top, now, ROW - 5, "carrying", opacity=shade, name="bar")
            words = [[si(bytes, "B") for bytes in film] for film in moved[n].tolist()]
            scene.text(end, top + 15, By("order moment", words), ink, name="bytes", **look)
        foot = y + 10 + ROW * len(names) + 32
        reached = self.by(lambda one: one.reached)
        scene.text(left - 8, foot, reached, size=26, bold=True, anchor="end", name="intensity")
        scene.text(left, foot, f"FLOP/byte; the peak needs {plain(RIDGE)}", size=LETTERS)

    def _said(self, one: Moment) -> str:
        if not one.done:
            return f"{one.how}, nothing has been moved yet."
        limit = "its peak" if one.intensity >= RIDGE else "the memory"
        a, b, c = np.bincount(one.queue // self.n**2, minlength=3)
        return (
            f"{one.how}, {one.done} of {self.n**3} multiply-adds have moved {si(one.moved, 'B')}: "
            f"{one.reached} FLOP/byte, where the machine is limited by {limit}. The cache holds "
            f"{a} of A, {b} of B, {c} of C."
        )

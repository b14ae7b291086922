"""Blocks in a cluster: the faces of the box that they share, and what that saves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rooflab.count.si import grouped, plain, several
from rooflab.count.validation import size
from rooflab.show.scene import By, Dim, Scene
from rooflab.show.scene.player import Player

SHAPES = ((1, 1), (1, 2), (2, 1), (2, 2), (1, 4), (2, 4), (1, 8), (4, 4), (2, 8), (1, 16))
TILES = ((128, 128), (128, 256))
GRID = 16  # blocks of C along each edge
WIDE, NARROW, SMALL, DEEP = 720, 400, 14, 46  # pixels: of the box's depth
LEFT, TOP = 14, 54
BAR, MOST = 22, 16  # pixels of a bar; the most blocks of a cluster
GLIDE = 450


def cluster_saving(a: int, b: int, tile: Sequence[int] = (128, 128)) -> float:
    """Return how many times fewer numbers a cluster fetches than its blocks would alone.

    Parameters
    ----------
    a, b : int
        Blocks below each other, and side by side.
    tile : pair of int, optional
        Rows and columns of C that a block computes.

    Returns
    -------
    float
        a·b·(rows + columns) ÷ (a·rows + b·columns); 2ab ÷ (a + b) for square tiles.

    Examples
    --------
    >>> rl.cuda.cluster_saving(4, 4), rl.cuda.cluster_saving(2, 1, (128, 256))
    (4.0, 1.5)
    """
    a, b, (rows, columns) = size("a", a), size("b", b), (size("tile", one) for one in tile)
    return a * b * (rows + columns) / (a * rows + b * columns)


def cluster(after: Any = None) -> Player:
    """Show a cluster in the box of a product: the faces that its blocks share are painted once.

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
    >>> print(rl.cuda.cluster().sentence)
    2 × 2: 2 rows and 2 columns of tiles. Alone, its blocks fetch 4 and 4: 2 times fewer.
    """
    return Player(*(_scene(wide) for wide in (WIDE, NARROW)), stem="cluster", after=after)


def _scene(wide: float) -> Scene:
    """The picture, ``wide`` pixels wide."""
    beside = wide == WIDE
    cell = 16 if beside else 14  # pixels of a block
    front = GRID * cell
    height = TOP + front + 10 + (0 if beside else 222)
    scene = Scene(wide, height, [
        Dim("shape", [f"{a} × {b}" for a, b in SHAPES], [f"{a}x{b}" for a, b in SHAPES],
            start=SHAPES.index((2, 2)), glide=GLIDE),
        Dim("tile", [f"{m} × {n}" for m, n in TILES], [f"{m}x{n}" for m, n in TILES], glide=GLIDE),
    ])  # fmt: skip
    scene.choice("tile", "the tile of a block", [f"tiles of {m} × {n}" for m, n in TILES])
    _box(scene, cell)
    _bars(scene, *((372, 66) if beside else (LEFT, TOP + front + 34)), wide - 20)
    scene.slider("shape", "blocks of a cluster")
    scene.says = scene.each("shape tile", lambda s, t: _sentence(SHAPES[s], TILES[t]))
    scene.note("Rows of blocks × blocks in a row. A cluster has at most 8 blocks, and 16 if the "
               "program asks for it.")  # fmt: skip
    return scene


def _box(scene: Scene, cell: float) -> None:
    """C as the front of the box, A on its right side and B on top, with one cluster painted."""
    front = GRID * cell
    high = By("tile", [cell * min(1, m / n) for m, n in TILES])  # of a block
    foot, right = TOP + front, LEFT + front
    back = np.array([DEEP, -0.86 * DEEP])
    top = By("tile", [foot - GRID * one for one in high.values])
    a, b = (np.array([shape[n] for shape in SHAPES], float) for n in (0, 1))
    tops = np.array(top.values)
    left_edge = By("shape", right - cell * b)
    low = By("shape tile", tops + np.multiply.outer(a, high.values))

    def behind(at: Any, axis: int) -> By:
        return By(at.dims, np.asarray(at.values) + back[axis])

    corner, edge = right + back[0], behind(top, 1)
    scene.rect(LEFT, top, front, By("tile", GRID * np.array(high.values)), "grid", radius=0,
               name="C")  # fmt: skip
    scene.line([(LEFT, top), (LEFT + back[0], edge), (corner, edge), (right, top)], None,
               fill="grid", name="B")  # fmt: skip
    scene.line([(right, top), (corner, edge), (corner, foot + back[1]), (right, foot)], None,
               fill="grid", name="A")  # fmt: skip
    behind_left = By("shape", right - cell * b + back[0])
    scene.line([(left_edge, top), (behind_left, edge), (corner, edge), (right, top)], None,
               fill="carrying", opacity=0.75, name="columns")  # fmt: skip
    scene.line([(right, top), (corner, edge), (corner, behind(low, 1)), (right, low)], None,
               fill="carrying", opacity=0.5, name="rows")  # fmt: skip
    tall = By("shape tile", np.multiply.outer(a, high.values))
    scene.rect(left_edge, top, By("shape", cell * b), tall, "computing", radius=0, opacity=0.75,
               name="cluster")  # fmt: skip
    for n in range(GRID + 1):
        x, y = LEFT + cell * n, By("tile", foot - n * np.array(high.values))
        for start, end in (((x, top), (x, foot)), ((LEFT, y), (right, y)),
                           ((x, top), (x + back[0], edge)),
                           ((right, y), (corner, behind(y, 1)))):  # fmt: skip
            scene.line([start, end], "paper", 1, name="grid")
    scene.text(LEFT + 6, By("tile", tops + 20), "C", bold=True, name="C")
    scene.text(LEFT + 0.62 * back[0] + 6, By("tile", tops + 0.62 * back[1] + 10), "B", bold=True,
               name="B")  # fmt: skip
    scene.text(right + 0.5 * back[0], foot + 0.5 * back[1] - 4, "A", bold=True, anchor="middle",
               name="A")  # fmt: skip


def _bars(scene: Scene, left: float, top: float, right: float) -> None:
    """The number of blocks, and how many times fewer numbers they fetch."""
    blocks = np.array([a * b for a, b in SHAPES], float)
    counts = np.array([[cluster_saving(*shape, tile) for tile in TILES] for shape in SHAPES])
    scene.text(left, top, "What sharing saves", bold=True, size=SMALL, name="title")
    for n, (words, values, ink, unit) in enumerate((
        ("number of blocks", By("shape", blocks), "soft", ""),
        ("times fewer numbers fetched", By("shape tile", counts), "carrying", "×"),
    )):  # fmt: skip
        y = top + 34 + 62 * n
        table = np.asarray(values.values)
        long = (right - left - 44) / MOST * table
        scene.text(left, y, words, ink, size=SMALL, name="bar")
        scene.rect(left, y + 8, By(values.dims, long), BAR, ink, radius=1, name="bar")
        number = np.vectorize(lambda v: plain(v, 3), otypes=[object])(table) + unit
        scene.text(By(values.dims, left + long + 6), y + 8 + 16, By(values.dims, number), ink,
                   size=SMALL, bold=True, name="times")  # fmt: skip
    for n, (what, axis) in enumerate((("rows of A", 0), ("columns of B", 1))):
        fetched = scene.each("shape tile", lambda s, t, what=what, axis=axis: (
            f"{what}: {grouped(SHAPES[s][0] * SHAPES[s][1] * TILES[t][axis])} alone, "
            f"{grouped(SHAPES[s][axis] * TILES[t][axis])} together"))  # fmt: skip
        scene.text(left, top + 158 + 22 * n, fetched, size=SMALL, name="fetched")


def _sentence(shape: tuple[int, int], tile: tuple[int, int]) -> str:
    a, b = shape
    saved = plain(cluster_saving(a, b, tile), 3)
    if a * b == 1:
        return "1 × 1: a block alone fetches the rows of A and the columns of B of its tile."
    rows, columns = several(a, "row"), several(b, "column")
    return (f"{a} × {b}: {rows} and {columns} of tiles. Alone, its blocks fetch {a * b} and "
            f"{a * b}: {saved} times fewer.")  # fmt: skip

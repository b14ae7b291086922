"""Blocks in a cluster: the faces of the box that they share, and what that saves."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from rooflab.count.si import grouped, plain, several
from rooflab.count.validation import size
from rooflab.labs.cuda.sheets import SMALL, WIDE, picture
from rooflab.show.scene import By, Dim, Scene

SHAPES = ((1, 1), (1, 2), (2, 1), (2, 2), (1, 4), (2, 4), (1, 8), (4, 4), (2, 8), (1, 16))
TILES = ((128, 128), (128, 256))
GRID = 16  # blocks of C along each edge
DEPTH = (46, -40)  # pixels from the front of the box to its back, to the right and down
LEFT, TOP, GLIDE, BOTH = 14, 54, 450, "shape tile"
BAR, MOST = 22, 16  # pixels of a bar; the most blocks of a cluster


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


@picture("cluster")
def cluster(wide: int) -> Scene:
    """Show a cluster in the box of a product: the faces that its blocks share are painted once.

    >>> print(rl.cuda.cluster().sentence)
    2 × 2: 2 rows and 2 columns of tiles. Alone, its blocks fetch 4 and 4: 2 times fewer.
    """
    beside = wide == WIDE
    cell = 16 if beside else 14  # pixels of a block
    foot = TOP + GRID * cell
    scene = Scene(wide, foot + (10 if beside else 232), [
        Dim("shape", [f"{a} × {b}" for a, b in SHAPES], [f"{a}x{b}" for a, b in SHAPES],
            start=SHAPES.index((2, 2)), glide=GLIDE),
        Dim("tile", [f"{m} × {n}" for m, n in TILES], [f"{m}x{n}" for m, n in TILES], glide=GLIDE),
    ])  # fmt: skip
    scene.choice("tile", "the tile of a block", [f"tiles of {m} × {n}" for m, n in TILES])
    _box(scene, cell)
    _bars(scene, *((372, 66) if beside else (LEFT, foot + 34)), wide - 20)
    scene.slider("shape", "blocks of a cluster")
    scene.says = scene.each(BOTH, lambda s, t: _sentence(SHAPES[s], TILES[t]))
    scene.note("Rows of blocks × blocks in a row. A cluster has at most 8 blocks, and 16 if the "
               "program asks for it.")  # fmt: skip
    return scene


def _box(scene: Scene, cell: float) -> None:
    """C as the front of the box, A on its right side and B on top, with one cluster painted."""
    high = np.array([cell * min(1, m / n) for m, n in TILES])  # of a block
    a, b = np.array(SHAPES).T[..., None]
    right, foot, (deep, up) = LEFT + GRID * cell, TOP + GRID * cell, DEPTH
    top = foot - GRID * high
    side, low = right - cell * b, top + a * high  # the left and lower edge of the cluster

    def by(number: Any) -> By:
        return By(BOTH, np.broadcast_to(number, (len(SHAPES), len(TILES))))

    def above(left: Any) -> list[tuple[Any, Any]]:
        return [(left, top), (left + deep, top + up), (right + deep, top + up), (right, top)]

    def beside(foot: Any) -> list[tuple[Any, Any]]:
        return [(right, top), (right + deep, top + up), (right + deep, foot + up), (right, foot)]

    scene.rect(LEFT, by(top), GRID * cell, by(foot - top), "grid", radius=0, name="C")
    for name, corners, ink, opacity in (
        ("B", above(LEFT), "grid", 1), ("A", beside(foot), "grid", 1),
        ("columns", above(side), "carrying", 0.75), ("rows", beside(low), "carrying", 0.5),
    ):  # fmt: skip
        points = [(by(x), by(y)) for x, y in corners]
        scene.line(points, None, fill=ink, opacity=opacity, name=name)
    scene.rect(by(side), by(top), by(cell * b), by(a * high), "computing", radius=0, opacity=0.75,
               name="cluster")  # fmt: skip
    for n in range(GRID + 1):
        x, y = LEFT + cell * n, foot - n * high
        for ends in (((x, top), (x, foot)), ((LEFT, y), (right, y)),
                     ((x, top), (x + deep, top + up)),
                     ((right, y), (right + deep, y + up))):  # fmt: skip
            scene.line([(by(x), by(y)) for x, y in ends], "paper", 1, name="grid")
    for name, x, y in (("C", LEFT + 6, top + 20), ("B", LEFT + 34, top - 14),
                       ("A", right + 18, np.full_like(top, foot - 24))):  # fmt: skip
        scene.text(x, by(y), name, bold=True)


def _bars(scene: Scene, left: float, top: float, right: float) -> None:
    """The number of blocks, and how many times fewer numbers they fetch."""
    scene.text(left, top, "What sharing saves", bold=True, size=SMALL)
    for y, words, ink, unit, values in (
        (34, "number of blocks", "soft", "", [[prod(shape)] * len(TILES) for shape in SHAPES]),
        (96, "times fewer numbers fetched", "carrying", "×",
         [[cluster_saving(*shape, tile) for tile in TILES] for shape in SHAPES]),
    ):  # fmt: skip
        long = (right - left - 44) / MOST * np.array(values)
        number = [[plain(value, 3) + unit for value in row] for row in values]
        scene.text(left, top + y, words, ink, size=SMALL)
        scene.rect(left, top + y + 8, By(BOTH, long), BAR, ink, radius=1, name="bar")
        scene.text(By(BOTH, left + long + 6), top + y + 24, By(BOTH, number), ink, size=SMALL,
                   bold=True)  # fmt: skip
    for axis, what in enumerate(("rows of A", "columns of B")):
        fetched = [[f"{what}: {grouped(prod(shape) * tile[axis])} alone, "
                    f"{grouped(shape[axis] * tile[axis])} together" for tile in TILES]
                   for shape in SHAPES]  # fmt: skip
        scene.text(left, top + 158 + 22 * axis, By(BOTH, fetched), size=SMALL)


def _sentence(shape: tuple[int, int], tile: tuple[int, int]) -> str:
    a, b = shape
    saved = plain(cluster_saving(a, b, tile), 3)
    if a * b == 1:
        return "1 × 1: a block alone fetches the rows of A and the columns of B of its tile."
    rows, columns = several(a, "row"), several(b, "column")
    return (f"{a} × {b}: {rows} and {columns} of tiles. Alone, its blocks fetch {a * b} and "
            f"{a * b}: {saved} times fewer.")  # fmt: skip

"""Which lane of a warp holds which numbers of an mma.sync m16n8k16, and what its sums need."""

from __future__ import annotations

from typing import Any

import numpy as np

from rooflab.show.scene import By, Dim, Scene
from rooflab.show.scene.player import Player

LANES = 32
SHAPES = {"A": (16, 16), "B": (16, 8), "C": (16, 8)}  # rows and columns
NUMBERS = {"A": 8, "B": 4, "C": 4}  # that a lane holds
INKS = {"A": "carrying", "B": "carrying", "C": "computing"}
TITLES = {"A": "A, 16 × 16, fp16", "B": "B, 16 × 8, fp16", "C": "C, 16 × 8, fp32"}
VIEWS = ("holds", "needs")
WIDE, NARROW, SMALL = 720, 400, 14
#: Left and top of each operand, pixels of a cell and of its letters, and the height of the sheet.
PLACES = {
    WIDE: ({"A": (28, 44), "B": (372, 44), "C": (558, 44)}, (20, 18, 12), 346),
    NARROW: ({"A": (28, 44), "B": (28, 350), "C": (226, 350)}, (21, 16, 14), 614),
}
Cell = tuple[int, int, int]
EXAMPLE, NEEDED = 5, 0.35  # the lane at the start; an opacity


def place(operand: str, lane: int, number: int) -> tuple[int, int]:
    """Return row and column of a number that a lane holds, from 0 (PTX ISA, mma.m16n8k16).

    >>> place("A", 5, 3)
    (9, 3)
    """
    group, pair = divmod(lane, 4)
    low, right = number // 2 % 2 * 8, number // 4 * 8
    inside = 2 * pair + number % 2
    return (inside + low, group) if operand == "B" else (group + low, inside + right)


def needed(lane: int) -> tuple[list[int], list[int]]:
    """Return the rows of A and the columns of B that the sums of a lane are made of."""
    cells = [place("C", lane, number) for number in range(NUMBERS["C"])]
    return sorted({row for row, _ in cells}), sorted({column for _, column in cells})


def holders(lane: int) -> set[int]:
    """Return the lanes that hold what the sums of a lane are made of."""
    rows, columns = needed(lane)
    wanted = {("A", row) for row in rows} | {("B", column) for column in columns}
    return {
        other for other in range(LANES) for operand, axis in (("A", 0), ("B", 1))
        for number in range(NUMBERS[operand])
        if (operand, place(operand, other, number)[axis]) in wanted
    }  # fmt: skip


def fragments(after: Any = None) -> Player:
    """Show which numbers of A, B and C each lane holds for one tensor-core instruction.

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
    >>> print(rl.cuda.fragments().sentence)
    Lane 5 holds 8 numbers of A, 4 of B and 4 of C, in 10 registers.
    """
    return Player(*(_scene(wide) for wide in (WIDE, NARROW)), stem="fragments", after=after)


def _scene(wide: int) -> Scene:
    """The picture, ``wide`` pixels wide."""
    places, cell, height = PLACES[wide]
    long, high, letters = cell
    scene = Scene(wide, height, [
        Dim("lane", [str(n) for n in range(LANES)], range(LANES), start=EXAMPLE),
        Dim("view", ("what it holds", "what its sums need"), VIEWS, glide=300),
    ])  # fmt: skip
    scene.choice("view", "what is shown of the lane", ("what it holds", "what its sums need"))
    for operand, (rows, columns) in SHAPES.items():
        left, top = places[operand]
        scene.text(left, 16 if top < 100 else top - 28, TITLES[operand], size=SMALL, bold=True,
                   name="title")  # fmt: skip
        for row in range(rows):
            scene.text(left - 5, top + row * high + high - 4, str(row), "soft", size=letters,
                       anchor="end", name="row")  # fmt: skip
        for column in range(columns):
            scene.text(left + (column + 0.5) * long, top - 4, str(column), "soft", size=letters,
                       anchor="middle", name="column")  # fmt: skip
        _grid(scene, left, top, (rows, columns), cell)
        _needs(scene, operand, (left, top), cell)
        _lanes(scene, operand, (left, top), cell)
        _holds(scene, operand, (left, top), cell)
    scene.slider("lane", "lane")
    scene.says = scene.each("lane view", lambda lane, view: _sentence(lane, VIEWS[view]))
    scene.note("Grey: the lane that holds a number. Coloured: the chosen lane's own numbers, "
               "counted from 0. Layout: PTX ISA, mma.m16n8k16.")  # fmt: skip
    return scene


def _grid(scene: Scene, left: float, top: float, shape: tuple[int, int], cell: Cell) -> None:
    """The lines between the numbers of an operand."""
    (rows, columns), (long, high, _) = shape, cell
    for row in range(rows + 1):
        y = top + row * high
        scene.line([(left, y), (left + columns * long, y)], "grid", 1, name="line")
    for column in range(columns + 1):
        x = left + column * long
        scene.line([(x, top), (x, top + rows * high)], "grid", 1, name="line")


def _lanes(scene: Scene, operand: str, at: tuple[float, float], cell: Cell) -> None:
    """The lane that holds each number."""
    for lane in range(LANES):
        for number in range(NUMBERS[operand]):
            row, column = place(operand, lane, number)
            scene.text(at[0] + (column + 0.5) * cell[0], at[1] + (row + 1) * cell[1] - 4,
                       str(lane), "soft", size=cell[2], anchor="middle", name="lane")  # fmt: skip


def _holds(scene: Scene, operand: str, at: tuple[float, float], cell: Cell) -> None:
    """The numbers of the chosen lane, each with its own number."""
    for number in range(NUMBERS[operand]):
        rows, columns = np.array([place(operand, lane, number) for lane in range(LANES)]).T
        x, y = at[0] + columns * cell[0], at[1] + rows * cell[1]
        scene.rect(By("lane", x + 0.5), By("lane", y + 0.5), cell[0] - 1, cell[1] - 1,
                   INKS[operand], radius=0, name="held")  # fmt: skip
        scene.text(By("lane", x + cell[0] / 2), By("lane", y + cell[1] - 4), str(number), "paper",
                   size=cell[2], bold=True, anchor="middle", name="number")  # fmt: skip


def _needs(scene: Scene, operand: str, at: tuple[float, float], cell: Cell) -> None:
    """The rows of A and columns of B that the lane's sums are made of."""
    if operand == "C":
        return
    rows, columns = SHAPES[operand]
    for which in range(2):
        line = np.array([needed(lane)[operand == "B"][which] for lane in range(LANES)])
        x = By("lane", at[0] + line * cell[0]) if operand == "B" else at[0]
        y = By("lane", at[1] + line * cell[1]) if operand == "A" else at[1]
        long, high = (cell[0], rows * cell[1]) if operand == "B" else (columns * cell[0], cell[1])
        scene.rect(x, y, long, high, INKS[operand], radius=0, opacity=By("view", [0, NEEDED]),
                   name="needed")  # fmt: skip


def _sentence(lane: int, view: str) -> str:
    if view == "holds":
        return f"Lane {lane} holds 8 numbers of A, 4 of B and 4 of C, in 10 registers."
    (first, second), (left, right) = needed(lane)
    return (
        f"The 4 sums of lane {lane} need rows {first} and {second} of A and columns {left} and "
        f"{right} of B. These numbers lie in the registers of {len(holders(lane))} lanes."
    )

"""Which lane of a warp holds which numbers of an mma.sync m16n8k16, and what its sums need."""

from __future__ import annotations

from typing import Any

import numpy as np

from rooflab.labs.cuda.sheets import NARROW, SMALL, WIDE, grid, picture
from rooflab.show.scene import By, Dim, Scene

LANES = 32
SHAPES = {"A": (16, 16), "B": (16, 8), "C": (16, 8)}  # rows and columns
NUMBERS = {"A": 8, "B": 4, "C": 4}  # that a lane holds
LOOKS = {"A": ("fp16", "carrying"), "B": ("fp16", "carrying"), "C": ("fp32", "computing")}
VIEWS = ("what it holds", "what its sums need")
#: Left and top of each operand, pixels of a cell and of its letters, and the height of the sheet.
PLACES = {
    WIDE: ({"A": (28, 44), "B": (372, 44), "C": (558, 44)}, (20, 18, 12), 346),
    NARROW: ({"A": (28, 44), "B": (28, 350), "C": (226, 350)}, (21, 16, 14), 614),
}
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
    rows, columns = zip(*(place("C", lane, number) for number in range(NUMBERS["C"])))
    return sorted({*rows}), sorted({*columns})


def holders(lane: int) -> set[int]:
    """Return the lanes that hold what the sums of a lane are made of."""
    rows, columns = needed(lane)
    return {
        other for other in range(LANES)
        if any(place("A", other, number)[0] in rows for number in range(NUMBERS["A"]))
        or any(place("B", other, number)[1] in columns for number in range(NUMBERS["B"]))
    }  # fmt: skip


@picture("fragments")
def fragments(wide: int) -> Scene:
    """Show which numbers of A, B and C each lane holds for one tensor-core instruction.

    >>> print(rl.cuda.fragments().sentence)
    Lane 5 holds 8 numbers of A, 4 of B and 4 of C, in 10 registers.
    """
    places, cell, height = PLACES[wide]
    scene = Scene(wide, height, [
        Dim("lane", [str(n) for n in range(LANES)], range(LANES), start=EXAMPLE),
        Dim("view", VIEWS, ("holds", "needs"), glide=300),
    ])  # fmt: skip
    scene.choice("view", "what is shown of the lane", VIEWS)
    for operand, at in places.items():
        _operand(scene, operand, at, cell)
    scene.slider("lane", "lane")
    scene.says = scene.each("lane view", _sentence)
    scene.note("Grey: the lane that holds a number. Coloured: the chosen lane's own numbers, "
               "counted from 0. Layout: PTX ISA, mma.m16n8k16.")  # fmt: skip
    return scene


def _operand(scene: Scene, operand: str, at: tuple[int, int], cell: tuple[int, int, int]) -> None:
    """A matrix, with the lane of each number, and the numbers of the chosen lane."""
    (left, top), (long, high, letters), (rows, columns) = at, cell, SHAPES[operand]
    dtype, ink = LOOKS[operand]
    scene.text(left, top - 28, f"{operand}, {rows} × {columns}, {dtype}", size=SMALL, bold=True)
    for row in range(rows):
        scene.text(left - 5, top + (row + 1) * high - 4, str(row), "soft", size=letters,
                   anchor="end")  # fmt: skip
    for column in range(columns):
        scene.text(left + (column + 0.5) * long, top - 4, str(column), "soft", size=letters,
                   anchor="middle")  # fmt: skip
    grid(scene, at, (rows, columns), (long, high), "grid", name="line")
    for which in range(2) if operand != "C" else ():  # rows of A, columns of B
        strip = np.array([needed(lane)[operand == "B"][which] for lane in range(LANES)])
        look: dict[str, Any] = {"radius": 0, "opacity": By("view", [0, NEEDED]), "name": "needed"}
        if operand == "A":
            scene.rect(left, By("lane", top + strip * high), columns * long, high, ink, **look)
        else:
            scene.rect(By("lane", left + strip * long), top, long, rows * high, ink, **look)
    for number in range(NUMBERS[operand]):
        down, along = np.array([place(operand, lane, number) for lane in range(LANES)]).T
        x, y = left + along * long, top + down * high
        for lane in range(LANES):
            scene.text(x[lane] + long / 2, y[lane] + high - 4, str(lane), "soft", size=letters,
                       anchor="middle")  # fmt: skip
        scene.rect(By("lane", x + 0.5), By("lane", y + 0.5), long - 1, high - 1, ink, radius=0,
                   name="held")  # fmt: skip
        scene.text(By("lane", x + long / 2), By("lane", y + high - 4), str(number), "paper",
                   size=letters, bold=True, anchor="middle")  # fmt: skip


def _sentence(lane: int, view: int) -> str:
    if VIEWS[view] == "what it holds":
        return f"Lane {lane} holds 8 numbers of A, 4 of B and 4 of C, in 10 registers."
    (first, second), (left, right) = needed(lane)
    return (
        f"The 4 sums of lane {lane} need rows {first} and {second} of A and columns {left} and "
        f"{right} of B. These numbers lie in the registers of {len(holders(lane))} lanes."
    )

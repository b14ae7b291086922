"""What three operations pay their joules for: carrying, computing, instructions, over their size.

``energy_bars()`` shows AXPY, GEMV and GEMM on the same N×N numbers, a bar each, cut by what is paid
for. Below them lie GEMM's joules a FLOP over N: what DRAM costs falls, what arithmetic costs stays,
and where the lines meet, computing overtakes carrying.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from rooflab.count.blas import axpy, gemm, gemv
from rooflab.count.dtypes import DTypeLike, as_dtype
from rooflab.count.operation import Operation
from rooflab.count.si import grouped, plain, si
from rooflab.count.validation import size
from rooflab.labs.memory.energies.bill import ARITHMETIC, INSTRUCTIONS, Energy, energy, share_text
from rooflab.labs.memory.energies.table import EnergyTable, energy_table
from rooflab.show.chart import Chart, Line, Panel, Point
from rooflab.show.labels import width
from rooflab.show.scene import By, Dim, Scene
from rooflab.show.scene.player import Player
from rooflab.show.waiting import awaited

SIZES = tuple(sorted({2**e for e in range(4, 14)} | {3 * 2**e for e in range(3, 12)}))
#: The operations on N×N numbers: AXPY's vectors have as many elements as the matrix of the others.
OPERATIONS: dict[str, Callable[[int, DTypeLike], Operation]] = {
    "AXPY": lambda n, kind: axpy(n * n, kind),
    "GEMV": lambda n, kind: gemv(n, n, kind),
    "GEMM": lambda n, kind: gemm(n, n, n, kind),
}
NUMBERS = {"AXPY": "N² long", "GEMV": "N×N", "GEMM": "N×N×N"}
#: What is paid for → its words, its colour, and how full the colour is.
PARTS = {
    "dram": ("DRAM", "carrying", 1.0),
    "l1": ("L1", "carrying", 0.35),
    ARITHMETIC: ("computing", "computing", 1.0),
    INSTRUCTIONS: ("instructions", "overhead", 1.0),
}
WIDE, NARROW, HEIGHT = 720, 400, 536
ROW, BAR, FIRST = 60, 24, 24  # pixels from bar to bar, of a bar's height, of the first words
KEY, TOP, BOTTOM, SLIDER = 212, 262, 462, 510  # the key, the plot, and the slider below it
EDGE, SMALL = 14, 14  # pixels left and right; of letters in a bar
NEARLY = 1.05  # times: lines closer than that hide each other's name
WAYS = ("dram", "l1", "instructions", "simd")  # of paying, each with more than the one before


def energy_bars(
    table: str | EnergyTable = "horowitz-45nm",
    dtype: DTypeLike = "fp32",
    *,
    lanes: int = 16,
    start: int = 256,
    after: object = None,
) -> Player:
    """Show what AXPY, GEMV and GEMM on N×N numbers pay their joules for; a slider moves N.

    Buttons add what is paid: first DRAM and arithmetic alone, then operands that come from L1, then
    an instruction for each operation, and one for ``lanes`` of them.

    Parameters
    ----------
    table : str or EnergyTable, default "horowitz-45nm"
        What bytes and operations cost, see :func:`energy_tables`. Without a figure for instructions
        there are two buttons.
    dtype : str, DType or a dtype of NumPy or PyTorch, default "fp32"
        Number format.
    lanes : int, default 16
        Operations that one SIMD instruction does.
    start : int, default 256
        Where the slider starts: at the nearest of its values of N.
    after : object, optional
        What :func:`rooflab.ask` returned, one or several: the picture stays covered until all
        are answered.

    Returns
    -------
    Player
        A widget; its ``sentence`` says what the picture shows.

    Examples
    --------
    >>> picture = rl.memory.energy_bars(start=1024)
    >>> print(picture.sentence)
    N = 1024. Paid for: DRAM, arithmetic. Moving data takes 99.76 % of AXPY's 2.05 mJ, 99 % of ...
    """
    costs, kind = energy_table(table), as_dtype("dtype", dtype)
    size("lanes", lanes), size("start", start)
    nearest = min(range(len(SIZES)), key=lambda i: abs(math.log(SIZES[i] / start)))
    story = Bills(costs, kind, lanes)
    scenes = (bars_scene(story, wide, nearest) for wide in (WIDE, NARROW))
    return Player(*scenes, stem="energy-bars", after=awaited(after))


class Bills:
    """The bills of all operations at all sizes, for each of the ways to pay."""

    def __init__(self, table: EnergyTable, kind: DTypeLike, lanes: int) -> None:
        self.table, self.kind = table, kind
        inner, paid = {"operands": "l1"}, "DRAM, arithmetic"
        ways: list[tuple[str, str, dict[str, Any]]] = [
            ("DRAM", paid, {}),
            ("+ L1", f"{paid}, operands from L1", inner),
        ]
        if table.instruction is not None:
            each = f"{paid}, operands from L1, an instruction for"
            ways.append(("+ instructions", f"{each} every operation", {**inner, "lanes": 1}))
            ways.append((f"SIMD ×{lanes}", f"{each} {lanes} operations", {**inner, "lanes": lanes}))
        self.buttons = [button for button, _, _ in ways]
        self.said = [said for _, said, _ in ways]
        self.all: dict[str, list[list[Energy]]] = {
            name: [[energy(make(n, kind), table, **how) for _, _, how in ways] for n in SIZES]
            for name, make in OPERATIONS.items()
        }

    @property
    def crossing(self) -> float:
        """The N at which GEMM's arithmetic costs what its bytes from DRAM do.

        Both grow with powers of N, 3N² numbers against N³ multiply-adds.
        """
        bill = self.all["GEMM"][0][0]
        return float(SIZES[0] * bill.parts["dram"] / bill.parts[ARITHMETIC])

    def each(self, name: str, value: Callable[[Energy], Any]) -> np.ndarray:
        """``value`` of a bill of the operation ``name``, by size and way to pay."""
        found = [[value(bill) for bill in row] for row in self.all[name]]
        return np.array(found, object if isinstance(found[0][0], str) else float)

    def shares(self, name: str, part: str) -> np.ndarray:
        """The share of ``part`` in the bills of the operation ``name``."""
        return self.each(name, lambda bill: bill.share(part))

    def per_flop(self, part: str) -> np.ndarray:
        """Picojoules a FLOP of GEMM that go to ``part``, by size and way to pay; NaN for none."""
        return self.each("GEMM", lambda bill: bill.parts.get(part, math.nan) / bill.flops * 1e12)

    def sentence(self, n: int, way: int) -> str:
        """What a state shows."""
        bills = {name: rows[n][way] for name, rows in self.all.items()}
        moved = [
            f"{share_text(bill.share_of_movement)} of {name}'s {si(bill.joules, 'J')}"
            for name, bill in bills.items()
        ]
        more = "more" if SIZES[n] > self.crossing else "less"
        return (
            f"N = {grouped(SIZES[n])}. Paid for: {self.said[way]}. "
            f"Moving data takes {', '.join(moved[:-1])} and {moved[-1]}. "
            f"GEMM's arithmetic costs {more} than its bytes from DRAM: they are equal at "
            f"N = {plain(self.crossing, 3)}."
        )


def bars_scene(story: Bills, wide: float, start: int) -> Scene:
    """The picture of ``story``, ``wide`` pixels wide; ``start`` is the slider's first stop."""
    stops = [f"N = {grouped(n)}" for n in SIZES]
    ways = Dim("paid", story.buttons, WAYS[: len(story.buttons)], glide=300)
    scene = Scene(wide, HEIGHT, [Dim("n", stops, start=start), ways])
    for row, name in enumerate(OPERATIONS):
        _bar(scene, story, name, FIRST + ROW * row)
    _key(scene, story)
    _plot(scene, story)
    scene.choice("paid", "what is paid for", story.buttons)
    scene.says = scene.each("n paid", story.sentence)
    scene.note(f"{story.table.name}, {story.kind}. From DRAM every operand comes once.")
    return scene


def _bar(scene: Scene, story: Bills, name: str, foot: float) -> None:
    """An operation's name and joules at ``foot``, and below them its bar, cut by what is paid."""
    room = scene.width - 2 * EDGE
    scene.text(EDGE, foot, name, bold=True, name="operation")
    scene.text(EDGE + 58, foot, NUMBERS[name], "soft", size=SMALL, name="numbers")
    said = story.each(name, lambda one: f"{si(one.joules, 'J')}, {si(one.per_flop, 'J')} a FLOP")
    scene.text(scene.width - EDGE, foot, By("n paid", said), anchor="end", name="joules")
    left = np.zeros((len(SIZES), len(story.buttons)))
    for part, (word, ink, full) in PARTS.items():
        shares = story.shares(name, part)
        long = room * shares
        if not long.any():
            continue
        box = By("n paid", EDGE + left), foot + 8, By("n paid", long), BAR
        there = long.any(axis=0).astype(float)
        scene.rect(*box, ink, radius=0, opacity=By("paid", full * there), name=f"bar {part}")
        words = np.array([[_share(word, *one) for one in zip(*row)] for row in zip(shares, long)])
        scene.text(
            By("n paid", EDGE + left + long / 2), foot + 25, By("n paid", words.astype(object)),
            "paper" if full == 1 else "ink", size=SMALL, anchor="middle",
            opacity=By("paid", there), name=f"share {part}",
        )  # fmt: skip
        left = left + long


def _share(word: str, share: float, room: float) -> str:
    """What stands in a piece of a bar that is ``room`` pixels long: as much as fits."""
    both = f"{word} {share_text(share)}", share_text(share), ""
    return next(one for one in both if not one or width(one, SMALL) + 8 < room)


def _key(scene: Scene, story: Bills) -> None:
    """Which colour is what, in a line."""
    x = float(EDGE)
    for part, (word, ink, full) in PARTS.items():
        ways = [part in row.parts for row in story.all["GEMM"][0]]
        if not any(ways):
            continue
        shown = np.array(ways, float)
        scene.rect(x, KEY - 11, 14, 14, ink, radius=0, opacity=By("paid", full * shown), name="key")
        scene.text(x + 20, KEY, word, size=SMALL, opacity=By("paid", shown), name="key")
        x += 20 + width(word, SMALL) + 18


def _plot(scene: Scene, story: Bills) -> None:
    """GEMM's joules a FLOP over N, a line for each thing that is paid for."""
    costs = {part: story.per_flop(part) for part in PARTS}
    dram, computing = costs["dram"][:, 0], costs[ARITHMETIC][:, 0]
    lines = [_line(part, costs) for part in PARTS if not np.isnan(costs[part]).all()]
    panel = Panel("GEMM, pJ a FLOP", "{:g}".format, lines, room=(4, 3))
    chart = Chart(
        scene, [panel], (SIZES[0] / 1.1, SIZES[-1] * 1.1), "N", lambda n: grouped(int(n)),
        ticks=[4**e for e in range(2, 7)], top=TOP, bottom=BOTTOM,
    )  # fmt: skip
    chart.draw()
    at = story.crossing
    if SIZES[0] < at < SIZES[-1]:
        words = f"equal at N = {plain(at, 3)}"
        chart.points([Point(words, at, computing[0], "diamond")])
    stops = [f"N = {grouped(n)}" for n in SIZES]
    chart.slider("n", "N", SIZES, [(0, dram), (0, computing)], stops, y=SLIDER)


def _line(part: str, costs: Mapping[str, np.ndarray]) -> Line:
    """What one part costs. A line that is not paid for yet is not seen, and lies ready."""
    word, ink, full = PARTS[part]
    cost, paid = costs[part], ~np.isnan(costs[part][0])
    cost = np.where(paid, cost, cost[:, [int(np.argmax(paid))]])
    lift: Any = -22.0 if part == "dram" else -8.0
    if part == INSTRUCTIONS:  # below arithmetic, which costs nearly the same with SIMD
        lift = np.where(cost[-1] < costs[ARITHMETIC][-1, 0] * NEARLY, 20.0, -8.0)
    return Line(word, ink, SIZES, cost, 2.6, () if full == 1 else (7, 4), "paid",
                By("paid", paid.astype(float)), lift)  # fmt: skip

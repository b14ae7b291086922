"""What three operations pay their joules for: carrying, computing, instructions, over their size.

``energy_bars()`` shows AXPY, GEMV and GEMM on the same N×N numbers, a bar each, cut by what is paid
for. Below them lie GEMM's joules a FLOP over N: what DRAM costs falls, what arithmetic costs stays,
and where the lines meet, computing overtakes carrying.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from rooflab.count.blas import axpy, gemm, gemv
from rooflab.count.dtypes import DTypeLike, as_dtype
from rooflab.count.operation import Operation
from rooflab.count.si import grouped, plain, si
from rooflab.count.validation import size
from rooflab.labs.memory.energies.bill import ARITHMETIC, INSTRUCTIONS, Energy, energy, share_text
from rooflab.labs.memory.energies.table import EnergyTable, energy_table
from rooflab.show.labels import SIZE, width
from rooflab.show.scene import By, Dim, Scene
from rooflab.show.scene.axes import LETTERS, Frame, Scale
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
            f"Moving data takes {_listed(moved)}. "
            f"GEMM's arithmetic costs {more} than its bytes from DRAM: they are equal at "
            f"N = {plain(self.crossing, 3)}."
        )


def _listed(parts: Sequence[str]) -> str:
    return f"{', '.join(parts[:-1])} and {parts[-1]}"


def bars_scene(story: Bills, wide: float, start: int) -> Scene:
    """The picture of ``story``, ``wide`` pixels wide; ``start`` is the slider's first stop."""
    stops = [f"N = {grouped(n)}" for n in SIZES]
    ways = Dim("paid", story.buttons, WAYS[: len(story.buttons)], glide=300)
    scene = Scene(wide, HEIGHT, [Dim("n", stops, start=start), ways])
    for row, name in enumerate(OPERATIONS):
        _bar(scene, story, name, FIRST + ROW * row)
    _key(scene, story)
    _Plot(scene, story).draw()
    scene.choice("paid", "what is paid for", story.buttons)
    scene.says = scene.each("n paid", story.sentence)
    scene.note(f"{story.table.name}, {story.kind}. From DRAM every operand comes once.")
    return scene


def _bar(scene: Scene, story: Bills, name: str, foot: float) -> None:
    """An operation's name and joules at ``foot``, and below them its bar, cut by what is paid."""
    room = scene.width - 2 * EDGE
    scene.text(EDGE, foot, name, bold=True, name="operation")
    scene.text(EDGE + 58, foot, NUMBERS[name], "soft", size=SMALL, name="numbers")
    said = story.each(name, lambda bill: f"{si(bill.joules, 'J')}, {_rate(bill)}")
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


def _rate(bill: Energy) -> str:
    return f"{si(bill.per_flop, 'J')} a FLOP"


def _share(word: str, share: float, room: float) -> str:
    """What stands in a piece of a bar that is ``room`` pixels long: as much as fits."""
    both = f"{word} {share_text(share)}", share_text(share), ""
    return next(one for one in both if not one or _wide(one) + 8 < room)


def _wide(words: str) -> float:
    """Pixels that words in a bar need."""
    return width(words) * SMALL / SIZE


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
        x += 20 + _wide(word) + 18


class _Plot:
    """GEMM's joules a FLOP over N, a line for each thing that is paid for."""

    def __init__(self, scene: Scene, story: Bills) -> None:
        self.scene, self.story = scene, story
        self.frame = Frame(56, TOP, scene.width - EDGE, BOTTOM)
        self.x = self.frame.x(SIZES[0] / 1.1, SIZES[-1] * 1.1)
        self.lines = {part: story.per_flop(part) for part in PARTS}
        every = np.concatenate([line.ravel() for line in self.lines.values()])
        self.y: Scale = self.frame.y(np.nanmin(every) / 4, np.nanmax(every) * 3)

    def draw(self) -> None:
        """Axes, lines, the place where two of them meet, and the size that is looked at."""
        scene, frame = self.scene, self.frame
        frame.y_ticks(scene, self.y, self.y.decades(), "{:g}".format)
        frame.x_ticks(scene, self.x, [4**e for e in range(2, 7)], lambda n: grouped(int(n)))
        scene.text(8, frame.top - 12, "GEMM, pJ a FLOP", "soft", size=LETTERS, name="axis")
        scene.text(frame.left - 15, frame.bottom + 20, "N", "soft", size=LETTERS, anchor="end")
        frame.draw(scene)
        self._marker()
        for part in PARTS:
            self._line(part)
        self._crossing()
        self._rings()

    def _line(self, part: str) -> None:
        """What one part costs. A line that is not paid for yet is not seen, and lies ready."""
        word, ink, full = PARTS[part]
        paid = ~np.isnan(self.lines[part][0])
        if not paid.any():
            return
        first = int(np.argmax(paid))
        heights = self.y(self.lines[part])
        heights[:, ~paid] = heights[:, [first]]
        shown = By("paid", paid.astype(float))
        points = [(self.x(n), By("paid", row)) for n, row in zip(SIZES, heights)]
        dash = () if full == 1 else (7, 4)
        scene = self.scene
        scene.line(points, ink, 2.6, dash=dash, opacity=shown, name=f"line {part}")
        end, lift = heights[-1], np.full(len(paid), -8.0)
        if part == "dram":
            lift -= 14
        if part == INSTRUCTIONS:  # below arithmetic, which costs nearly the same with SIMD
            lift = np.where(end > self.y(self.lines[ARITHMETIC][-1, 0]) - 2, 20.0, -8.0)
        scene.text(
            self.x(SIZES[-1]), By("paid", end + lift), word, ink, size=LETTERS, anchor="end",
            bold=True, halo=True, opacity=shown, name=f"name {part}",
        )  # fmt: skip

    def _crossing(self) -> None:
        """Where arithmetic overtakes DRAM."""
        at, scene = self.story.crossing, self.scene
        if not SIZES[0] < at < SIZES[-1]:
            return
        x, y = self.x(at), self.y(self.lines[ARITHMETIC][0, 0])
        scene.dot(x, y, "diamond", 7, fill="paper", ink="ink", width=2, name="crossing")
        scene.text(
            x - 8, y + 26, f"equal at N = {plain(at, 3)}", size=LETTERS, anchor="end", halo=True,
            name="crossing says",
        )  # fmt: skip

    def _marker(self) -> None:
        """The size that the slider is at, as a line with its number, and what moves it."""
        scene, frame = self.scene, self.frame
        along = np.array([self.x(n) for n in SIZES])
        x = By("n", along)
        scene.line([(x, frame.top), (x, frame.bottom)], "key", 1.5, dash=(3, 3), name="now")
        side = np.where(along > frame.right - 90, along - 5, along + 5)
        anchors = By("n", np.where(along > frame.right - 90, "end", "start").astype(object))
        scene.text(
            By("n", side), frame.top + 14, By("n", [f"N = {grouped(n)}" for n in SIZES]), "key",
            anchor=anchors, bold=True, halo=True, name="at",
        )  # fmt: skip
        scene.grip("n", x, 0, area=frame.box)
        scene.slider("n", "N", at=along.tolist(), y=SLIDER)

    def _rings(self) -> None:
        """What DRAM and arithmetic cost at the size that the slider is at."""
        x = By("n", np.array([self.x(n) for n in SIZES]))
        for part in ("dram", ARITHMETIC):
            y = By("n", self.y(self.lines[part][:, 0]))
            look: dict[str, Any] = {"size": 6, "fill": None, "ink": "key", "width": 2.5}
            self.scene.dot(x, y, **look, name=f"now {part}")

"""The hot loops of three kernels, instruction by instruction, as NVIDIA's compiler wrote them."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from itertools import groupby
from typing import Any

from rooflab.count.si import grouped, percent
from rooflab.count.validation import unknown
from rooflab.labs.cuda.compiler import compile
from rooflab.labs.cuda.cubin import hot_loop, instruction_counts, occupancy, sass
from rooflab.labs.cuda.kernels import spec_of
from rooflab.predict.catalogue import tables
from rooflab.show.scene import By, Dim, Fill, Scene
from rooflab.show.scene.player import Player

KERNELS = {
    "sgemm_shared": "a tile in shared memory",
    "sgemm_registers_2d": "8 × 8 numbers a thread",
    "sgemm_float4": "16 bytes a load",
}
KINDS = {  # a letter of listing.yaml: what it stands for, and its ink
    "f": ("multiply-adds", "computing"), "s": ("loads from shared memory", "carrying"),
    "m": ("loads from memory", "ink"), "r": ("the rest", "soft"),
}  # fmt: skip
ARCH = "sm_90a"
WIDE, NARROW, SMALL, LEFT, TOP = 720, 400, 14, 10, 56
WORK = 512  # multiply-adds of a thread, in as many turns of the loop as it takes
COLUMNS = {WIDE: 64, NARROW: 40}
GAP = 1.2  # pixels between two instructions


def listing(after: Any = None) -> Player:
    """Show the instructions for 512 multiply-adds of a thread, in their order and coloured by kind.

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
    >>> print(rl.cuda.listing().sentence[:55])
    sgemm_shared: 512 multiply-adds take 1520 instructions,
    """
    return Player(*(_scene(wide) for wide in (WIDE, NARROW)), stem="listing", after=after)


def loop_kinds(name: str) -> str:
    """Return the kinds of a hot loop's instructions, as they were recorded, a letter for each.

    Parameters
    ----------
    name : {"sgemm_shared", "sgemm_registers_2d", "sgemm_float4"}
        The kernel.

    Returns
    -------
    str
        f: multiply-add, s: load from shared memory, m: load from memory, r: another instruction.

    Examples
    --------
    >>> kinds = rl.cuda.loop_kinds("sgemm_shared")
    >>> kinds.count("f"), len(kinds)
    (32, 95)
    """
    if name not in KERNELS:
        raise unknown("name", name, KERNELS)
    runs: str = tables("labs.cuda", "listing")[name]
    return "".join(letter * int(many) for letter, many in re.findall(r"([a-z])(\d+)", runs))


def compiled_kinds(name: str) -> str:
    """Return the same, compiled now."""
    return "".join(map(_kind, hot_loop(sass(compile(name, ARCH)).lines)))


def recorded_text(names: Sequence[str]) -> str:
    """Return listing.yaml for these kernels: runs of the same kind, each with its length."""
    runs = {name: [(letter, len([*run])) for letter, run in groupby(compiled_kinds(name))]
            for name in names}  # fmt: skip
    return "".join(f"{name}: {' '.join(f'{a}{n}' for a, n in each)}\n"
                   for name, each in runs.items())  # fmt: skip


def _kind(line: str) -> str:
    """The letter of an instruction; none for a label and for padding."""
    for name in instruction_counts([line]):
        word = name.split(".")[0]
        return {"FFMA": "f", "LDS": "s", "LDG": "m"}.get(word, "r")
    return ""


def _scene(wide: float) -> Scene:
    """The picture, ``wide`` pixels wide."""
    loops = [_turns(loop_kinds(name)) for name in KERNELS]
    columns = COLUMNS[int(wide)]
    cell = (wide - 2 * LEFT) / columns
    rows = math.ceil(max(map(len, loops)) / columns)
    foot = TOP + rows * cell
    scene = Scene(wide, foot + (62 if wide == WIDE else 106), [
        Dim("kernel", ["tile", "8 × 8", "16 bytes"], [*KERNELS], glide=300),
    ])  # fmt: skip
    title = By("kernel", [f"{name}, {what}" for name, what in KERNELS.items()])
    scene.text(LEFT, 20, title, bold=True, size=SMALL, name="title")
    scene.text(LEFT, 42, _fit(), size=SMALL, name="fit")
    for n, loop in enumerate(loops):
        seen = By("kernel", [float(n == other) for other in range(len(loops))])
        for letter, (_, ink) in KINDS.items():
            here = [at for at, kind in enumerate(loop) if kind == letter]
            scene.line(_cells(here, columns, cell), None, fill=ink, opacity=seen, name=letter)
    _key(scene, foot + 24, wide == WIDE, [Counter(loop) for loop in loops])
    scene.slider("kernel", "kernel")
    scene.note("The hot loop, in as many turns as make 512 multiply-adds for a thread. Compiled "
               "for an H100 by NVRTC 13.5. Read it line by line.")  # fmt: skip
    scene.says = Fill("{what}. {fit}", what=By("kernel", [
        _sentence(name, loop) for name, loop in zip(KERNELS, loops)]), fit=_fit())  # fmt: skip
    return scene


def _turns(loop: str) -> str:
    """As many turns of a hot loop as make the multiply-adds of the picture."""
    return loop * (WORK // loop.count("f"))


def _cells(places: Sequence[int], columns: int, cell: float) -> list[tuple[float, float]]:
    """One outline around the cells at these places, row by row, along the feet of the cells."""
    outline: list[tuple[float, float]] = []
    size = cell - GAP
    for row, run in groupby(places, lambda place: place // columns):
        foot = round(TOP + row * cell + size, 1)
        outline.append((LEFT, foot))
        for place in run:
            x = round(LEFT + place % columns * cell, 1)
            y = round(foot - size, 1)
            outline += [(x, foot), (x, y), (round(x + size, 1), y), (round(x + size, 1), foot)]
        outline.append((LEFT, foot))
    return outline


def _fit() -> By:
    """Registers of each kernel, and how many of its blocks a multiprocessor holds."""
    words = []
    for name in KERNELS:
        row, spec = tables("labs.cuda", "summary")[name], spec_of(name)
        threads = math.prod(spec.counts(spec.block, {}))
        fit = occupancy(row["registers"], row["shared"], threads, ARCH)
        words.append(f"{row['registers']} registers a thread: {fit.blocks} blocks of "
                     f"{grouped(threads)} threads fit.")  # fmt: skip
    return By("kernel", words)


def _key(scene: Scene, foot: float, beside: bool, counts: Sequence[Counter[str]]) -> None:
    """What the colours stand for, and how many instructions of each kind there are."""
    for n, (letter, (words, ink)) in enumerate(KINDS.items()):
        x = LEFT + n % 2 * 240 if beside else LEFT
        y = foot + (n // 2 if beside else n) * 22
        scene.rect(x, y - 11, 12, 12, ink, radius=1, name="key")
        many = By("kernel", [f"{one[letter]} {words}" for one in counts])
        scene.text(x + 18, y, many, size=SMALL, name="key")


def _sentence(name: str, loop: str) -> str:
    counts = Counter(loop)
    share = percent(counts["f"] / len(loop))
    return (f"{name}: {counts['f']} multiply-adds take {grouped(len(loop))} instructions, a share "
            f"of {share}; {counts['s']} load from shared memory")  # fmt: skip

"""The hot loops of three kernels, instruction by instruction, as NVIDIA's compiler wrote them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from itertools import groupby

import numpy as np

from rooflab.count.si import grouped, percent
from rooflab.count.validation import unknown
from rooflab.labs.cuda.compiler import compile
from rooflab.labs.cuda.cubin import hot_loop, instruction_counts, occupancy, sass
from rooflab.labs.cuda.kernels import spec_of
from rooflab.labs.cuda.sheets import NARROW, SMALL, WIDE, picture
from rooflab.predict.catalogue import tables
from rooflab.show.scene import By, Dim, Fill, Scene

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
LEFT, TOP, GAP = 10, 56, 1.2  # pixels, the last between two instructions
WORK = 512  # multiply-adds of a thread, in as many turns of the loop as it takes
COLUMNS = {WIDE: 64, NARROW: 40}


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
    text: str = tables("labs.cuda", "listing")[name]
    return text.replace(" ", "")


def compiled_kinds(name: str) -> str:
    """Return the same, compiled now, as it was recorded in listing.yaml."""
    lines = hot_loop(sass(compile(name, ARCH)).lines)
    words = [word.split(".")[0] for line in lines for word in instruction_counts([line])]
    return "".join({"FFMA": "f", "LDS": "s", "LDG": "m"}.get(word, "r") for word in words)


@picture("listing")
def listing(wide: int) -> Scene:
    """Show the instructions for 512 multiply-adds of a thread, in their order and coloured by kind.

    >>> print(rl.cuda.listing().sentence[:55])
    sgemm_shared: 512 multiply-adds take 1520 instructions,
    """
    hot_loops = [loop_kinds(name) for name in KERNELS]
    loops = [loop * (WORK // loop.count("f")) for loop in hot_loops]
    counts, columns = [Counter(loop) for loop in loops], COLUMNS[wide]
    cell = (wide - 2 * LEFT) / columns
    foot = TOP + math.ceil(max(map(len, loops)) / columns) * cell + 24
    scene = Scene(wide, foot + (38 if wide == WIDE else 82), [
        Dim("kernel", ["tile", "8 × 8", "16 bytes"], [*KERNELS], glide=300),
    ])  # fmt: skip
    title = By("kernel", [f"{name}, {what}" for name, what in KERNELS.items()])
    fit = By("kernel", [*map(_fit, KERNELS)])
    scene.text(LEFT, 20, title, bold=True, size=SMALL)
    scene.text(LEFT, 42, fit, size=SMALL)
    for n, loop in enumerate(loops):
        seen = By("kernel", np.eye(len(loops))[n])
        for letter, (_, ink) in KINDS.items():
            here = [at for at, kind in enumerate(loop) if kind == letter]
            scene.line(_cells(here, columns, cell), None, fill=ink, opacity=seen, name=letter)
    for n, (letter, (words, ink)) in enumerate(KINDS.items()):
        down, along = divmod(n, 2) if wide == WIDE else (n, 0)
        x, y = LEFT + along * 240, foot + down * 22
        scene.rect(x, y - 11, 12, 12, ink, radius=1, name="key")
        many = By("kernel", [f"{one[letter]} {words}" for one in counts])
        scene.text(x + 18, y, many, size=SMALL)
    scene.slider("kernel", "kernel")
    scene.note("The hot loop, in as many turns as make 512 multiply-adds for a thread. Compiled "
               "for an H100 by NVRTC 13.5. Read it line by line.")  # fmt: skip
    what = By("kernel", [*map(_sentence, KERNELS, counts)])
    scene.says = Fill("{what}. {fit}", what=what, fit=fit)
    return scene


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


def _fit(name: str) -> str:
    """Registers of a kernel, and how many of its blocks a multiprocessor holds."""
    row, spec = tables("labs.cuda", "summary")[name], spec_of(name)
    threads = math.prod(spec.counts(spec.block, {}))
    fit = occupancy(row["registers"], row["shared"], threads, ARCH)
    return (f"{row['registers']} registers a thread: {fit.blocks} blocks of {grouped(threads)} "
            "threads fit.")  # fmt: skip


def _sentence(name: str, counts: Counter[str]) -> str:
    many, share = counts.total(), percent(counts["f"] / counts.total())
    return (f"{name}: {counts['f']} multiply-adds take {grouped(many)} instructions, a share "
            f"of {share}; {counts['s']} load from shared memory")  # fmt: skip

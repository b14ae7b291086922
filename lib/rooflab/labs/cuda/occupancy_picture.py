"""The blocks that a multiprocessor holds at once, and the resource that allows no further one."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from rooflab.count.si import grouped
from rooflab.labs.cuda.cubin import limits_of, occupancy
from rooflab.show.scene import By, Dim, Fill, Scene
from rooflab.show.scene.player import Player

GPUS = {"A100": 80, "RTX 3090": 86, "RTX 4090": 89, "H100": 90, "B200": 100}
STOPS: dict[str, tuple[Any, ...]] = {
    "registers": (*range(16, 255, 8), 255),  # of a thread; they are given out in eights
    "threads": (64, 128, 256, 512, 1024),
    "shared": (0, 8, 16, 32, 48, 64, 100),  # KiB of a block
    "gpu": tuple(GPUS),
}
START = {"registers": 96, "threads": 256, "shared": 0, "gpu": "H100"}
#: What a block takes a share of, and the dimensions that this depends on.
RESOURCES = {
    "threads": "threads gpu", "blocks": "gpu", "registers": "registers threads",
    "shared memory": "shared gpu",
}  # fmt: skip
NOUNS = ("threads", "places for blocks", "registers", "shared memory")
MOST, KIB = 32, 1024  # blocks of any multiprocessor
WIDE, NARROW, SMALL, LEFT, TOP, ROW, BAR = 720, 400, 14, 16, 46, 52, 20
BEYOND = 28  # pixels beyond the end of a bar in which the next block is seen
SHADES = (0.95, 0.6)  # of blocks in turn


def multiprocessor(after: Any = None) -> Player:
    """Show how many blocks of a kernel fit on a multiprocessor, and what runs out first.

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
    >>> print(rl.cuda.multiprocessor().sentence)
    96 registers, 256 threads: 2 blocks fit, 16 warps of 64; registers run out first.
    """
    return Player(*(_scene(wide) for wide in (WIDE, NARROW)), stem="occupancy", after=after)


@functools.cache
def _states() -> tuple[np.ndarray, np.ndarray]:
    """Blocks in every state, and what limits them: a bit for each of the resources."""
    rows = []
    for registers, threads, shared, gpu in itertools.product(*STOPS.values()):
        fit = occupancy(registers, shared * KIB, threads, GPUS[gpu])
        rows.append((fit.blocks, sum(2**n for n, name in enumerate(RESOURCES)
                                     if name in fit.limits)))  # fmt: skip
    table = np.array(rows, float).reshape(*map(len, STOPS.values()), 2)
    return table[..., 0], table[..., 1]


def share(
    resource: str, registers: int = 16, threads: int = 64, shared: int = 0, gpu: str = "A100"
) -> tuple[int, int]:
    """Return what a block takes of a resource, and what the multiprocessor has of it."""
    limits = limits_of(GPUS[gpu])
    return {
        "threads": (threads, limits.threads), "blocks": (1, limits.blocks),
        "registers": (-(-registers // 8) * 8 * threads, limits.registers),
        "shared memory": (shared + limits.reserved_bytes // KIB, limits.shared_bytes // KIB),
    }[resource]  # fmt: skip


def left_over(registers: int) -> float:
    """Return the share of registers in the four quarters that are too few for one more warp."""
    warp, quarter = share("registers", registers, 32)[0], share("registers")[1] // 4
    return quarter % warp / quarter


def _scene(wide: float) -> Scene:
    """The picture, ``wide`` pixels wide."""
    blocks, limits = (By(" ".join(STOPS), table) for table in _states())
    foot = TOP + ROW * len(RESOURCES)
    scene = Scene(wide, foot + 42, [
        *(Dim(name, [*map(str, stops)], stops, start=stops.index(START[name]))
          for name, stops in STOPS.items()),
        Dim("held", [str(n) for n in range(MOST + 1)], of=blocks),
        Dim("limits", [str(n) for n in range(2 ** len(RESOURCES))], of=limits),
    ])  # fmt: skip
    scene.choice("gpu", "GPU", STOPS["gpu"])
    first, *others = STOPS["threads"]
    scene.choice("threads", "threads of a block", [f"{first} threads", *map(str, others)])
    scene.rect(4, 4, wide - 8, foot, None, ink="soft", radius=8, name="multiprocessor")
    where = By("gpu", [f"multiprocessor, {gpu}" for gpu in GPUS])
    scene.text(LEFT, 26, where, "soft", size=SMALL, name="gpu")
    warps = {
        "warps": By("held threads", [[str(n * t // 32) for t in STOPS["threads"]]
                                     for n in range(MOST + 1)]),
        "most": By("gpu", [str(limits_of(cc).threads // 32) for cc in GPUS.values()]),
    }  # fmt: skip
    scene.text(wide - LEFT, 26, Fill("{warps} of {most} warps", **warps), bold=True, anchor="end",
               name="warps")  # fmt: skip
    for n, resource in enumerate(RESOURCES):
        _bar(scene, resource, n, TOP + ROW * n)
    _key(scene, foot + 28)
    scene.slider("registers", "registers of a thread")
    scene.slider("shared", "shared memory, KiB")
    scene.says = _sentence(warps)
    scene.note("The system takes 1 KiB of shared memory for each block. A warp lies in one of four "
               "quarters, with all its registers.")  # fmt: skip
    return scene


def _bar(scene: Scene, resource: str, number: int, top: float) -> None:
    """A resource as a bar: what each block takes of it, and what the next one would take."""
    dims, long, y = RESOURCES[resource], scene.width - 2 * LEFT - BEYOND, top + 20
    end = LEFT + long

    def by(value: Callable[[int, int], Any]) -> By:
        return scene.each(dims, lambda *at: value(*share(resource, **{
            name: STOPS[name][place] for name, place in zip(dims.split(), at)})))  # fmt: skip

    part = by(lambda taken, room: long * min(taken / room, 2))
    out = [bits >> number & 1 for bits in range(2 ** len(RESOURCES))]
    title = By("limits", [f"no more {NOUNS[number]}" if one else resource for one in out])
    ink, edge = (By("limits", ["warn" if one else other for one in out])
                 for other in ("ink", "soft"))  # fmt: skip
    scene.text(LEFT, top + 13, title, ink, size=SMALL, bold=True, name="resource")
    unit = " KiB" if resource == "shared memory" else ""
    words = by(lambda taken, room: f"each {grouped(taken)} of {grouped(room)}{unit}")
    scene.text(end, top + 13, words, "soft", size=SMALL, anchor="end", name="share")
    scene.rect(LEFT, y, long, BAR, "grid", radius=0, name="room")
    if resource == "registers":
        gone = [long * left_over(registers) for registers in STOPS["registers"]]
        scene.rect(By("registers", [end - one for one in gone]), y, By("registers", gone), BAR,
                   "soft", radius=0, opacity=0.5, name="left-over")  # fmt: skip
    for n in range(MOST):
        there = By("held", [SHADES[n % 2] * (n < held) for held in range(MOST + 1)])
        scene.rect(By(dims, LEFT + n * part.values), y, part, BAR, "computing", radius=0,
                   opacity=there, name="block")  # fmt: skip
    x = LEFT + np.multiply.outer(np.arange(MOST + 1), part.values)
    scene.rect(By(f"held {dims}", np.minimum(x, scene.width)), y, part, BAR, None, ink=edge,
               dash=(4, 3), radius=0, clip=(0, y - 2, end + BEYOND, y + BAR + 2),
               name="next")  # fmt: skip
    scene.line([(end, y - 3), (end, y + BAR + 3)], "ink", 2, name="end")


def _key(scene: Scene, foot: float) -> None:
    """What stands in the bars."""
    x = float(LEFT)
    for words, fill, opacity in (("blocks", "computing", SHADES[0]), ("the next one", None, 1),
                                 ("too few for a warp", "soft", 0.5)):  # fmt: skip
        edge, dash = (None, ()) if fill else ("soft", (4, 3))
        scene.rect(x, foot - 11, 16, 12, fill, ink=edge, dash=dash, radius=0, opacity=opacity,
                   name="key")  # fmt: skip
        scene.text(x + 21, foot, words, size=SMALL, name="key")
        x += 40 + 7.4 * len(words)


def _sentence(warps: dict[str, By]) -> Fill:
    ends = [""]
    for bits in range(1, 2 ** len(RESOURCES)):
        *before, last = (noun for n, noun in enumerate(NOUNS) if bits >> n & 1)
        verb = "runs" if (last, before) == (NOUNS[-1], []) else "run"
        ends.append(f"{', '.join(before)}{' and ' if before else ''}{last} {verb} out first")
    fits = ["no block fits", "1 block fits", *(f"{n} blocks fit" for n in range(2, MOST + 1))]
    memory = [f", {kib} KiB of shared memory" if kib else "" for kib in STOPS["shared"]]
    return Fill(
        "{registers} registers, {threads} threads{shared}: {fit}, {warps} warps of {most}; {end}.",
        **{name: By(name, [*map(str, STOPS[name])]) for name in ("registers", "threads")},
        shared=By("shared", memory), fit=By("held", fits), end=By("limits", ends), **warps,
    )  # fmt: skip

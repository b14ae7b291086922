"""The blocks that a multiprocessor holds at once, and the resource that allows no further one."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from rooflab.count.si import grouped
from rooflab.labs.cuda.cubin import limits_of, occupancy
from rooflab.labs.cuda.sheets import SMALL, key, picture
from rooflab.show.scene import By, Dim, Fill, Scene

GPUS = {"A100": 80, "RTX 3090": 86, "RTX 4090": 89, "H100": 90, "B200": 100}
STOPS: dict[str, tuple[Any, ...]] = {
    "registers": (*range(16, 255, 8), 255),  # of a thread; they are given out in eights
    "threads": (64, 128, 256, 512, 1024),
    "shared": (0, 8, 16, 32, 48, 64, 100),  # KiB of a block
    "gpu": tuple(GPUS),
}
START = {"registers": 96, "threads": 256, "shared": 0, "gpu": "H100"}
RESOURCES = {  # what a block takes a share of: in a bar, and in a sentence
    "threads": "threads", "blocks": "places for blocks", "registers": "registers",
    "shared memory": "shared memory",
}  # fmt: skip
MOST, KIB = 32, 1024  # blocks of any multiprocessor
LEFT, TOP, ROW, BAR = 16, 46, 52, 20
BEYOND = 28  # pixels beyond the end of a bar in which the next block is seen
SHADES = (0.95, 0.6)  # of blocks in turn
GONE = 0.5  # opacity of registers that are too few for one more warp


@functools.cache
def _states() -> tuple[np.ndarray, np.ndarray]:
    """Blocks in every state, and what limits them: a bit for each of the resources."""

    def state(registers: int, threads: int, shared: int, gpu: str) -> tuple[int, int]:
        fit = occupancy(registers, shared * KIB, threads, GPUS[gpu])
        return fit.blocks, sum(2**n for n, one in enumerate(RESOURCES) if one in fit.limits)

    blocks, limits = np.vectorize(state)(*np.meshgrid(*STOPS.values(), indexing="ij"))
    return blocks, limits


def _share(resource: str) -> tuple[str, np.ndarray, np.ndarray]:
    """The dimensions that it depends on, what a block takes, and what a multiprocessor has."""
    limits = [limits_of(capability) for capability in GPUS.values()]
    registers, threads, shared = (np.array(STOPS[name]) for name in list(STOPS)[:3])
    shares: dict[str, tuple[str, Any, Any]] = {
        "threads": ("threads gpu", threads[:, None], [one.threads for one in limits]),
        "blocks": ("gpu", 1, [one.blocks for one in limits]),
        "registers": ("registers threads", -(-registers[:, None] // 8) * 8 * threads,
                      limits[0].registers),
        "shared memory": ("shared gpu", shared[:, None] + limits[0].reserved_bytes // KIB,
                          [one.shared_bytes // KIB for one in limits]),
    }  # fmt: skip
    dims, *share = shares[resource]
    taken, room = np.broadcast_arrays(*share)
    return dims, taken, room


@picture("occupancy")
def multiprocessor(wide: int) -> Scene:
    """Show how many blocks of a kernel fit on a multiprocessor, and what runs out first.

    >>> print(rl.cuda.multiprocessor().sentence)
    96 registers, 256 threads: 2 blocks fit, 16 warps of 64; registers run out first.
    """
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
    scene.text(LEFT, 26, where, "soft", size=SMALL)
    warps = {
        "warps": By("held threads", [[str(n * t // 32) for t in STOPS["threads"]]
                                     for n in range(MOST + 1)]),
        "most": By("gpu", [str(limits_of(cc).threads // 32) for cc in GPUS.values()]),
    }  # fmt: skip
    scene.text(wide - LEFT, 26, Fill("{warps} of {most} warps", **warps), bold=True, anchor="end")
    for n, resource in enumerate(RESOURCES):
        _bar(scene, resource, n)
    key(scene, LEFT, foot + 28, [("blocks", "computing", SHADES[0]), ("the next one", None, 1),
                                 ("too few for a warp", "soft", GONE)])  # fmt: skip
    scene.slider("registers", "registers of a thread")
    scene.slider("shared", "shared memory, KiB")
    scene.says = _sentence(warps)
    scene.note("The system takes 1 KiB of shared memory for each block. A warp lies in one of four "
               "quarters, with all its registers.")  # fmt: skip
    return scene


def _bar(scene: Scene, resource: str, number: int) -> None:
    """A resource as a bar: what each block takes of it, and what the next one would take."""
    (dims, taken, room), y = _share(resource), TOP + ROW * number + 20
    long = scene.width - 2 * LEFT - BEYOND
    end, part = LEFT + long, long * np.minimum(taken / room, 2)
    out = [bits >> number & 1 for bits in range(2 ** len(RESOURCES))]
    title = By("limits", [f"no more {RESOURCES[resource]}" if one else resource for one in out])
    ink, edge = (By("limits", np.where(out, "warn", other)) for other in ("ink", "soft"))
    scene.text(LEFT, y - 7, title, ink, size=SMALL, bold=True)
    unit = " KiB" if resource == "shared memory" else ""
    words = [f"each {grouped(a)} of {grouped(b)}{unit}" for a, b in zip(taken.flat, room.flat)]
    scene.text(end, y - 7, By(dims, np.reshape(words, taken.shape)), "soft", size=SMALL,
               anchor="end")  # fmt: skip
    scene.rect(LEFT, y, long, BAR, "grid", radius=0, name="room")
    if resource == "registers":  # a quarter of them is too few for one more warp
        quarter, warp = room[:, 0] // 4, taken[:, 0] * 32 // STOPS["threads"][0]  # registers
        gone = long * (quarter % warp) / quarter
        scene.rect(By("registers", end - gone), y, By("registers", gone), BAR, "soft", radius=0,
                   opacity=GONE, name="left-over")  # fmt: skip
    for n in range(MOST):
        there = By("held", [SHADES[n % 2] * (n < held) for held in range(MOST + 1)])
        scene.rect(By(dims, LEFT + n * part), y, By(dims, part), BAR, "computing", radius=0,
                   opacity=there, name="block")  # fmt: skip
    x = LEFT + np.multiply.outer(np.arange(MOST + 1), part)
    scene.rect(By(f"held {dims}", np.minimum(x, scene.width)), y, By(dims, part), BAR, None,
               ink=edge, dash=(4, 3), radius=0, clip=(0, y - 2, end + BEYOND, y + BAR + 2),
               name="next")  # fmt: skip
    scene.line([(end, y - 3), (end, y + BAR + 3)], "ink", 2, name="end")


def _sentence(warps: dict[str, By]) -> Fill:
    ends = [""]
    for bits in range(1, 2 ** len(RESOURCES)):
        nouns = [noun for n, noun in enumerate(RESOURCES.values()) if bits >> n & 1]
        *before, last = nouns
        verb = "runs" if nouns == ["shared memory"] else "run"
        ends.append(f"{', '.join(before)}{' and ' if before else ''}{last} {verb} out first")
    fits = ["no block fits", "1 block fits", *(f"{n} blocks fit" for n in range(2, MOST + 1))]
    memory = [f", {kib} KiB of shared memory" if kib else "" for kib in STOPS["shared"]]
    return Fill(
        "{registers} registers, {threads} threads{shared}: {fit}, {warps} warps of {most}; {end}.",
        **{name: By(name, [*map(str, STOPS[name])]) for name in ("registers", "threads")},
        shared=By("shared", memory), fit=By("held", fits), end=By("limits", ends), **warps,
    )  # fmt: skip

"""A published staircase: what each kernel reached, what counting foretells, and where time goes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from rooflab.count.si import percent, si
from rooflab.labs.cuda.sheets import NARROW, SMALL, WIDE
from rooflab.labs.cuda.staircase import Rung, staircase
from rooflab.show.scene import By, Dim, Scene
from rooflab.show.scene.axes import Frame
from rooflab.show.scene.player import Player

PARTS = {  # of a prediction: its name in the picture, and its ink
    "compute": ("arithmetic", "computing"), "issue": ("other instructions", "overhead"),
    "shared": ("L1, shared memory", "carrying"), "l2": ("L2", "carrying"),
    "dram": ("memory", "carrying"),
    "spills": ("registers spilled", "warn"), "exposed latency": ("waiting", "warn"),
    "epilogue": ("writing the result", "overhead"),
}  # fmt: skip
FITTED = "The prediction has two constants, which were fitted to these ten kernels."
BLIND = "Predicted with the A6000's constants, before what was published was looked at."
GPUS = {  # what stands above the axes, and below the picture
    "a6000": ("RTX A6000, fp32", f"S. Boehm, SGEMM_CUDA, 4096 × 4096 numbers. {FITTED}"),
    "h100": ("H100, bf16",
             f"P. Shankhdhar, fast.cu and its worklog, 4096 × 4096 numbers. {BLIND}"),
    "b200": ("B200, fp16",
             f"JAX documentation, Pallas on Blackwell, 4096 × 8192 × 4096. {BLIND}"),
}  # fmt: skip


def stairs(gpu: str = "a6000", after: Any = None) -> Player:
    """Show a published staircase beside what was predicted of it, kernel by kernel.

    L1 and shared memory are one unit of a multiprocessor, and one bar.

    Parameters
    ----------
    gpu : {"a6000", "h100", "b200"}, optional
        Whose staircase.
    after : GuessAxis or iterable of them, optional
        What has to be guessed before the picture opens.

    Returns
    -------
    Player
        A widget; its ``sentence`` says what the picture shows.

    Examples
    --------
    >>> picture = rl.cuda.stairs()
    >>> picture.kernel = 2
    >>> print(picture.sentence[:72])
    3, shared memory tile: 2.98 TFLOP/s published, 2.81 predicted. By itself
    """
    return Player(_scene(gpu, WIDE), _scene(gpu, NARROW), stem="stairs", after=after)


def _scene(gpu: str, wide: int) -> Scene:
    """The picture, ``wide`` pixels wide."""
    steps = staircase(gpu)
    machine, count = steps.machine, len(steps.rungs)
    scene = Scene(wide, 500, [
        Dim("kernel", [str(n + 1) for n in range(count)], range(count), glide=400, even=True),
    ])  # fmt: skip
    peak = machine["sms"] * machine["flop_per_clock"] * machine["clock_hz"]
    speeds = [(rung.published, rung.flop_per_s) for rung in steps.rungs]
    low = 10 ** math.floor(math.log10(np.min(speeds)))
    frame = Frame(64, 36, wide - 16, 256)
    x, y = frame.x(0.5, count + 0.5, log=False), frame.y(low, 1.6 * peak)
    frame.x_ticks(scene, x, range(1, count + 1), str, grid=False)
    frame.y_ticks(scene, y, y.decades(), lambda v: si(v, "").replace(".00", "").replace(".0", ""))
    frame.draw(scene)
    scene.text(8, 20, "FLOP/s", size=SMALL)
    scene.text(frame.right, 20, GPUS[gpu][0], "soft", size=SMALL, anchor="end")
    scene.line([(frame.left, y(peak)), (frame.right, y(peak))], "computing", 2, name="peak")
    scene.text(frame.left + 6, y(peak) - 6, "peak", "computing", size=SMALL)
    for n, (published, predicted) in enumerate(speeds):
        chosen = By("kernel", np.where(np.arange(count) == n, 1.0, 0.35))
        step = [(x(n + 1 + half), y(published)) for half in (-0.42, 0.42)]
        scene.line(step, "ink", 4, opacity=chosen, name="published")
        scene.dot(x(n + 1), y(predicted), "diamond", 6, fill="paper", ink="carrying", width=2.5,
                  opacity=chosen, name="predicted")  # fmt: skip
    scene.text(frame.left, 302, "line: published", size=SMALL)
    scene.text(frame.left + 120, 302, "diamond: predicted", "carrying", size=SMALL)
    shares = [_shares(rung) for rung in steps.rungs]
    _parts(scene, Frame(150, 318, wide - 60, 494), shares)
    scene.slider("kernel", "kernel")
    scene.note(GPUS[gpu][1])
    scene.says = scene.each("kernel", lambda n: _sentence(n + 1, steps.rungs[n], shares[n]))
    return scene


def _shares(rung: Rung) -> dict[str, float]:
    """What each part would take by itself, as a share of all of a kernel's time."""
    terms = rung.predict()
    return {part: min(1.0, terms.parts.get(part, 0.0) / terms.seconds) for part in PARTS}


def _parts(scene: Scene, frame: Frame, shares: list[dict[str, float]]) -> None:
    """A bar for each part of the chosen kernel's time that is seen with any of them."""
    shown = [part for part in PARTS if max(share[part] for share in shares) >= 0.01]
    pitch = (frame.bottom - frame.top) / len(shown)
    for n, part in enumerate(shown):
        top, (words, ink) = frame.top + n * pitch, PARTS[part]
        length = np.array([share[part] for share in shares]) * (frame.right - frame.left)
        number = By("kernel", [percent(share[part]) if share[part] >= 0.001 else "0 %"
                               for share in shares])  # fmt: skip
        foot = top + 0.62 * pitch
        scene.text(frame.left - 8, foot, words, size=SMALL, anchor="end")
        scene.rect(frame.left, top + 3, By("kernel", length), pitch - 8, ink, radius=1, name="part")
        scene.text(By("kernel", frame.left + length + 6), foot, number, "soft", size=SMALL)
    scene.line([(frame.left, frame.top), (frame.left, frame.bottom)], "soft", 1, name="axis")


def _sentence(number: int, rung: Rung, shares: dict[str, float]) -> str:
    longest = max(shares, key=shares.__getitem__)
    speed = si(rung.published, "FLOP/s")
    return (
        f"{number}, {rung.title}: {speed} published, {si(rung.flop_per_s, '').split()[0]} "
        f"predicted. By itself {PARTS[longest][0]} would take {percent(shares[longest])} of "
        "the time. Parts overlap, so they can total more than 100 %."
    )

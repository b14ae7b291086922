"""A published staircase: what each kernel reached, what counting foretells, and where time goes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from rooflab.count.si import percent, si
from rooflab.labs.cuda.staircase import Rung, Staircase, staircase
from rooflab.show.scene import By, Dim, Scene
from rooflab.show.scene.axes import Frame
from rooflab.show.scene.player import Player

WIDE, NARROW, SMALL = 720, 400, 14
GPUS = {"a6000": "RTX A6000, fp32", "h100": "H100, bf16", "b200": "B200, fp16"}
PARTS = {  # of a prediction: its name in the picture, and its ink
    "compute": ("arithmetic", "computing"), "issue": ("other instructions", "overhead"),
    "shared": ("L1, shared memory", "carrying"), "l2": ("L2", "carrying"),
    "dram": ("memory", "carrying"),
    "spills": ("registers spilled", "warn"), "exposed latency": ("waiting", "warn"),
    "epilogue": ("writing the result", "overhead"),
}  # fmt: skip
FITTED = "The prediction has two constants, which were fitted to these ten kernels."
BLIND = "Predicted with the A6000's constants, before what was published was looked at."
NOTES = {
    "a6000": f"S. Boehm, SGEMM_CUDA, 4096 × 4096 numbers. {FITTED}",
    "h100": f"P. Shankhdhar, fast.cu and its worklog, 4096 × 4096 numbers. {BLIND}",
    "b200": f"JAX documentation, Pallas on Blackwell, 4096 × 8192 × 4096. {BLIND}",
}


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
    steps = staircase(gpu)
    scenes = (_scene(gpu, steps, wide) for wide in (WIDE, NARROW))
    return Player(*scenes, stem="stairs", after=after)


def _scene(gpu: str, steps: Staircase, wide: float) -> Scene:
    """The picture, ``wide`` pixels wide."""
    rungs, count = steps.rungs, len(steps.rungs)
    scene = Scene(wide, 500, [Dim("kernel", [str(n + 1) for n in range(count)], range(count),
                                  start=0, glide=400, even=True)])  # fmt: skip
    machine = steps.machine
    peak = machine["sms"] * machine["flop_per_clock"] * machine["clock_hz"]
    speeds = [[rung.published or 0, rung.flop_per_s] for rung in rungs]
    low = 10 ** math.floor(math.log10(min(map(min, speeds))))
    frame = Frame(64, 36, wide - 16, 256)
    x, y = frame.x(0.5, count + 0.5, log=False), frame.y(low, 1.6 * peak)
    frame.x_ticks(scene, x, range(1, count + 1), str, grid=False)
    frame.y_ticks(scene, y, y.decades(), lambda v: si(v, "").replace(".00", "").replace(".0", ""))
    frame.draw(scene)
    scene.text(8, 20, "FLOP/s", size=SMALL, name="axis")
    scene.text(frame.right, 20, GPUS[gpu], "soft", size=SMALL, anchor="end", name="gpu")
    scene.line([(frame.left, y(peak)), (frame.right, y(peak))], "computing", 2, name="peak")
    scene.text(frame.left + 6, y(peak) - 6, "peak", "computing", size=SMALL, name="peak")
    half = 0.42 * (x(1) - x(0))
    for n, (published, predicted) in enumerate(speeds, 1):
        chosen = By("kernel", np.where(np.arange(count) == n - 1, 1.0, 0.35))
        step = [(x(n) - half, y(published)), (x(n) + half, y(published))]
        scene.line(step, "ink", 4, opacity=chosen, name="published")
        scene.dot(x(n), y(predicted), "diamond", 6, fill="paper", ink="carrying", width=2.5,
                  opacity=chosen, name="predicted")  # fmt: skip
    scene.text(frame.left, 302, "line: published", size=SMALL, name="key")
    scene.text(frame.left + 120, 302, "diamond: predicted", "carrying", size=SMALL,
               name="key")  # fmt: skip
    _parts(scene, Frame(150, 318, wide - 60, 494), rungs)
    scene.slider("kernel", "kernel")
    scene.note(NOTES[gpu])
    scene.says = By("kernel", [_sentence(n, rung) for n, rung in enumerate(rungs, 1)])
    return scene


def _parts(scene: Scene, frame: Frame, rungs: tuple[Rung, ...]) -> None:
    """A bar for each part of the chosen kernel's time, as a share of all of it."""
    shares = {name: np.array([_share(rung, name) for rung in rungs]) for name in PARTS}
    shown = [name for name, values in shares.items() if values.max() >= 0.01]
    pitch = (frame.bottom - frame.top) / len(shown)
    for n, name in enumerate(shown):
        top, (words, ink) = frame.top + n * pitch, PARTS[name]
        length = By("kernel", shares[name] * (frame.right - frame.left))
        ends = By("kernel", frame.left + shares[name] * (frame.right - frame.left) + 6)
        scene.text(frame.left - 8, top + 0.62 * pitch, words, size=SMALL, anchor="end", name="part")
        scene.rect(frame.left, top + 3, length, pitch - 8, ink, radius=1, name="part")
        scene.text(ends, top + 0.62 * pitch, By("kernel", [_percent(s) for s in shares[name]]),
                   "soft", size=SMALL, name="share")  # fmt: skip
    scene.line([(frame.left, frame.top), (frame.left, frame.bottom)], "soft", 1, name="axis")


def _share(rung: Rung, part: str) -> float:
    terms = rung.predict()
    return min(1.0, terms.parts.get(part, 0.0) / terms.seconds)


def _percent(share: float) -> str:
    return percent(share) if share >= 0.001 else "0 %"


def _sentence(number: int, rung: Rung) -> str:
    longest = max(PARTS, key=lambda part: _share(rung, part))
    speed = si(rung.published or 0, "FLOP/s")
    return (
        f"{number}, {rung.title}: {speed} published, {si(rung.flop_per_s, '').split()[0]} "
        f"predicted. By itself {PARTS[longest][0]} would take {percent(_share(rung, longest))} of "
        "the time. Parts overlap, so they can total more than 100 %."
    )

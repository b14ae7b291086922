"""Formats on a GPU's roofline and on a scale of errors: what fewer bits gain, and what they cost.

Also the table of torchao: what was counted of a quantised layer, beside what was measured.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rooflab.count import Operation, gemm
from rooflab.count.si import plain, si
from rooflab.labs.precision.product import error, multiply
from rooflab.labs.precision.speedup import published
from rooflab.predict.catalogue import machine as _machine
from rooflab.predict.roofline import Roofline
from rooflab.show.pairs import Pair, pairs_scene
from rooflab.show.scene import By, Dim, Scene
from rooflab.show.scene.axes import Frame
from rooflab.show.scene.player import Player

SHOWN = ("fp32", "tf32", "bf16", "fp8_e4m3", "nvfp4")
GPU, SHAPE = "b200-sxm", (128, 4096, 4096)
WIDE, NARROW, SMALL = 720, 400, 14
X, Y, ERRORS = (0.5, 5000), (1e13, 2e16), (1e-7, 1.0)  # FLOP/byte, FLOP/s, of the result
TITLES = {"mxfp8_e4m3": "MXFP8", "nvfp4": "NVFP4"}
Errors = dict[str, float]


def ridge(after: Any = None) -> Player:
    """Show how the roof, a product under it and its error move with the format.

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
    >>> picture = rl.precision.ridge()
    >>> picture.format = "bf16"
    >>> print(picture.sentence[:56])
    bf16: the product has 120 FLOP/byte, the ridge is at 281
    """
    errors = product_errors()
    return Player(*(_scene(errors, wide) for wide in (WIDE, NARROW)), stem="ridge", after=after)


def product_errors() -> Errors:
    """Return the relative error of a product of 256 × 256 random numbers in each format."""
    a, b = np.random.default_rng(1).standard_normal((2, 256, 256))
    return {name: error(multiply(a, b, name), a @ b) for name in SHOWN}


def _scene(errors: Errors, wide: float) -> Scene:
    """The picture, ``wide`` pixels wide."""
    scene = Scene(wide, 430, [Dim("format", SHOWN, SHOWN, glide=600)])
    lines = [Roofline(_machine(GPU), name) for name in SHOWN]
    m, k, n = SHAPE
    # Narrow numbers are added up, and the result is written, in 16 bits at least.
    ops = [gemm(m, n, k, name, c="fp32" if "32" in name else "bf16") for name in SHOWN]
    _roofs(scene, Frame(66, 34, wide - 16, 290), lines, [op.intensity for op in ops])
    _errors(scene, Frame(66, 352, wide - 30, 396), errors)
    scene.slider("format", "format")
    wide_s = lines[0].time(ops[0])
    scene.says = By("format", [_sentence(name, line, op, wide_s, errors[name])
                               for name, line, op in zip(SHOWN, lines, ops)])  # fmt: skip
    scene.note(f"{_machine(GPU).name}, datasheet; {m} × {k} by {k} × {n} numbers. Errors: 256 × "
               "256 random numbers on this computer, added up in fp32.")  # fmt: skip
    return scene


def _sentence(name: str, line: Roofline, op: Operation, wide_s: float, off: float) -> str:
    """Where the product lies, what it takes beside the ``wide_s`` of fp32, and its error."""
    bound, seconds = "memory" if op.intensity < line.ridge else "computing", line.time(op)
    gain = f", {plain(wide_s / seconds, 3)} times as fast as fp32" if seconds != wide_s else ""
    return (
        f"{name}: the product has {plain(op.intensity, 3)} FLOP/byte, the ridge is at "
        f"{plain(line.ridge, 3)}, so it is bound by {bound}. It takes {si(seconds, 's')}{gain}. "
        f"Off by {plain(100 * off, 2)} %."
    )


def _roofs(scene: Scene, frame: Frame, lines: list[Roofline], points: list[float]) -> None:
    """The roofs of all formats, faint, and the one that is chosen with the product under it."""
    x, y = frame.x(*X), frame.y(*Y)
    frame.x_ticks(scene, x, x.decades(), lambda v: plain(v, 3))
    frame.y_ticks(scene, y, y.decades(), lambda v: si(v, ""))
    frame.draw(scene)
    scene.text(8, 20, "FLOP/s", size=SMALL, name="axis")
    scene.text(frame.right, frame.bottom + 38, "FLOP/byte", "soft", size=SMALL, anchor="end")
    slope = lines[0].attainable(X[0]) / X[0]
    ridges = np.array([line.ridge for line in lines])
    scene.line([(x(X[0]), y(slope * X[0])), (x(ridges[-1]), y(slope * ridges[-1]))], "carrying",
               2.5, clip=frame.box, name="bandwidth")  # fmt: skip
    for corner, name in zip(ridges, SHOWN):
        flat, right = y(slope * corner), frame.right
        scene.line([(x(corner), flat), (right, flat)], "computing", 1, opacity=0.35, name="peak")
        scene.text(right - 4, flat - 4, name.split("_")[0], "computing", size=12, anchor="end",
                   name="peak")  # fmt: skip
    at, high = By("format", x(ridges)), By("format", y(slope * ridges))
    scene.line([(at, high), (frame.right, high)], "computing", 3, name="chosen")
    scene.line([(at, high), (at, frame.bottom)], "soft", 1.5, dash=(3, 4), name="ridge")
    reached = np.array([line.attainable(point) for line, point in zip(lines, points)])
    spot = By("format", x(np.array(points))), By("format", y(reached))
    scene.line([(spot[0], spot[1]), (spot[0], frame.bottom)], "ink", 1, opacity=0.4, name="drop")
    scene.dot(*spot, "diamond", 9, name="product")


def _errors(scene: Scene, frame: Frame, errors: Errors) -> None:
    """An axis of errors with a dot for each format; names stand above and below in turn."""
    x, middle = frame.x(*ERRORS), (frame.top + frame.bottom) / 2
    frame.x_ticks(scene, x, [1e-6, 1e-4, 1e-2, 1.0], lambda v: f"{100 * v:g} %")
    scene.line([(frame.left, middle), (frame.right, middle)], "soft", 1, name="axis")
    scene.text(8, middle + 5, "error", size=SMALL, name="axis")
    for n, (name, error_) in enumerate(errors.items()):
        scene.dot(x(error_), middle, size=4, fill="soft", name="error")
        scene.text(x(error_), middle + (-11 if n % 2 else 24), name.split("_")[0], "soft",
                   size=12, anchor="middle", name="error")  # fmt: skip
    places = By("format", x(np.array([*errors.values()])))
    scene.dot(places, middle, size=8, fill="overhead", name="chosen")


def expectations(after: Any = None) -> Player:
    """Show torchao's table: the gain that was counted of a quantised layer, and the measured one.

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
    >>> print(rl.precision.expectations().sentence[:46])
    3 of 10 layers became slower than in bf16. The
    """
    rows = [row for row in published() if not row.static]
    pairs = [
        Pair(f"{TITLES[row.format]}, n = {row.mnk[0]}", row.expected, row.observed, row.conditions)
        for row in rows
    ]
    slower = [row for row in rows if row.observed < 1]
    best = max(rows, key=lambda row: row.observed)
    says = (
        f"{len(slower)} of {len(rows)} layers became slower than in bf16. The best one, "
        f"{TITLES[best.format]} with n = {best.mnk[0]}, was {plain(best.observed, 3)} times as "
        f"fast, and {plain(best.expected, 3)} times was expected."
    )
    note = f"A ReLU and a product of n × n matrices: times as fast as in bf16. {rows[0].source}"
    names = ("expected", "measured")
    scenes = (pairs_scene(pairs, wide, (0.3, 5), says, note, names) for wide in (WIDE, NARROW))
    return Player(*scenes, stem="expectations", after=after)

"""A running sum in narrow formats: where it stops, and how rounding by chance lets it go on."""

from __future__ import annotations

from reprlib import repr as short
from typing import Any

import numpy as np

from rooflab.count.si import plain
from rooflab.labs.precision.formats import running_sum
from rooflab.show.chart import Chart, Line, Panel
from rooflab.show.scene import By, Dim, Scene
from rooflab.show.scene.player import Player

SHOWN = {"bf16": "bf16", "fp16": "fp16", "fp8_e5m2": "fp8 E5M2"}
ROUNDINGS = {"nearest": "to the nearest", "stochastic": "by chance"}
WIDE, NARROW, HIGH = 720, 400, 380
MOST, LEAST, LARGEST = 20_000, 1e-4, 20_000  # numbers; of one of them; of their sum


def sums(numbers: Any, after: Any = None) -> Player:
    """Show the sum of ``numbers`` while it grows, in narrow formats and rounded in two ways.

    Parameters
    ----------
    numbers : array_like
        Positive numbers, 2 to 20,000, with a sum of 20,000 at most.
    after : GuessAxis or iterable of them, optional
        What has to be guessed before the picture opens.

    Returns
    -------
    Player
        A widget; its ``sentence`` says what the picture shows.

    Examples
    --------
    >>> print(rl.precision.sums([1.0] * 1000).sentence)
    In bf16, rounded to the nearest, the sum of 1,000 numbers is 256. It should be 1000.
    """
    values = np.asarray(numbers, float)
    if values.ndim != 1 or not 2 <= len(values) <= MOST or not (values >= LEAST).all():
        raise ValueError(f"numbers={short(numbers)} must be 2 to {MOST:,} numbers from {LEAST} on")
    if not values.sum() <= LARGEST:
        raise ValueError(f"numbers add up to {values.sum():g}; {LARGEST:,} at most fit all formats")
    rows = [[running_sum(values, form, how) for how in ROUNDINGS] for form in SHOWN]
    scenes = (_scene(np.cumsum(values), np.array(rows), wide) for wide in (WIDE, NARROW))
    return Player(*scenes, stem="sums", after=after)


def _scene(exact: np.ndarray, rounded: np.ndarray, wide: float) -> Scene:
    """The picture, ``wide`` pixels wide, of sums so far: ``rounded`` by format and rounding."""
    scene = Scene(wide, HIGH, [
        Dim("format", [*SHOWN.values()], [*SHOWN], glide=400),
        Dim("rounding", [*ROUNDINGS.values()], [*ROUNDINGS], glide=400),
    ])  # fmt: skip
    scene.choice("format", "format of the sum", [*SHOWN.values()])
    scene.choice("rounding", "rounded", [*ROUNDINGS.values()])
    many = len(exact)
    places = np.unique(np.geomspace(1, many, 60).astype(int))
    x = places.astype(float)
    lines = [
        Line("exact", "soft", x, exact[places - 1], dash=(6, 5)),
        Line("rounded", "computing", x, np.moveaxis(rounded[..., places - 1], -1, 0),
             by="format rounding"),
    ]  # fmt: skip
    panel = Panel("sum", lambda v: plain(v, 3), lines)
    ticks = [10.0**e for e in range(len(str(many)) - 1)]
    chart = Chart(scene, [panel], (1, float(many)), "numbers added", "{:g}".format, ticks=ticks)
    chart.draw()
    words = np.vectorize(lambda total: plain(total, 4), otypes=[object])(rounded[..., -1])
    scene.text(chart.frames[0].right - 6, chart.frames[0].bottom - 12, By("format rounding", words),
               "computing", size=20, bold=True, anchor="end", halo=True, name="sum")  # fmt: skip
    scene.says = scene.each("format rounding", lambda f, r: (
        f"In {[*SHOWN.values()][f]}, rounded {[*ROUNDINGS.values()][r]}, the sum of {many:,} "
        f"numbers is {plain(rounded[f, r, -1], 4)}. It should be {plain(exact[-1], 4)}."
    ))  # fmt: skip
    return scene

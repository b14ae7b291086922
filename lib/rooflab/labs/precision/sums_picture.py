"""A running sum in narrow formats: where it stops, and how rounding by chance lets it go on."""

from __future__ import annotations

from typing import Any

import numpy as np

from rooflab.count.si import plain
from rooflab.labs.precision.formats import running_sum
from rooflab.show.chart import Chart, Line, Panel
from rooflab.show.scene import By, Dim, Scene
from rooflab.show.scene.player import Player

SHOWN = ("bf16", "fp16", "fp8_e5m2")
ROUNDINGS = {"nearest": "to the nearest", "stochastic": "by chance"}
WIDE, NARROW, HIGH = 720, 400, 380


def sums(numbers: Any, after: Any = None) -> Player:
    """Show the sum of ``numbers`` while it grows, in narrow formats and rounded in two ways.

    Parameters
    ----------
    numbers : array_like
        Positive numbers, two or more.
    after : GuessAxis or iterable of them, optional
        What has to be guessed before the picture opens.

    Returns
    -------
    Player
        A widget; its ``sentence`` says what the picture shows.

    Examples
    --------
    >>> print(rl.precision.sums([1.0] * 1000).sentence)
    In bf16, rounded to the nearest, the sum of 1000 numbers is 256. It should be 1000.
    """
    values = np.asarray(numbers, float)
    if values.ndim != 1 or len(values) < 2 or not (np.isfinite(values) & (values > 0)).all():
        raise ValueError(f"numbers={numbers!r} must be two or more positive numbers")
    return Player(*(_scene(values, wide) for wide in (WIDE, NARROW)), stem="sums", after=after)


def _scene(values: np.ndarray, wide: float) -> Scene:
    """The picture, ``wide`` pixels wide."""
    scene = Scene(wide, HIGH, [
        Dim("format", SHOWN, SHOWN, glide=400),
        Dim("rounding", [*ROUNDINGS.values()], [*ROUNDINGS], glide=400),
    ])  # fmt: skip
    scene.choice("format", "format of the sum", SHOWN)
    scene.choice("rounding", "rounded", [*ROUNDINGS.values()])
    many = len(values)
    places = np.unique(np.geomspace(1, many, 60).astype(int))
    exact = np.cumsum(values)
    sums_ = np.array([[running_sum(values, form, rounding=rounding) for rounding in ROUNDINGS]
                      for form in SHOWN])  # fmt: skip
    x = places.astype(float)
    lines = [
        Line("exact", "soft", x, exact[places - 1], dash=(6, 5)),
        Line("rounded", "computing", x, np.moveaxis(sums_[..., places - 1], -1, 0),
             by="format rounding"),
    ]  # fmt: skip
    panel = Panel("sum", lambda v: plain(v, 3), lines)
    ticks = [10.0**e for e in range(len(str(many)) - 1)]
    chart = Chart(scene, [panel], (1, float(many)), "numbers added", "{:g}".format, ticks=ticks)
    chart.draw()
    end = chart.y[0](sums_[..., -1])
    scene.text(
        chart.x(many) - 6,
        By("format rounding", end - 10),
        By("format rounding", np.vectorize(lambda s: plain(s, 4), otypes=[object])(sums_[..., -1])),
        "computing",
        bold=True,
        anchor="end",
        halo=True,
        name="sum",
    )
    scene.says = scene.each("format rounding", lambda f, r: (
        f"In {SHOWN[f]}, rounded {[*ROUNDINGS.values()][r]}, the sum of {many} numbers is "
        f"{plain(sums_[f, r, -1], 4)}. It should be {plain(exact[-1], 4)}."))  # fmt: skip
    return scene

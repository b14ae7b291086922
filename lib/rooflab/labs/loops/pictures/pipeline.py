"""Sums under way in vector units: each multiply-add waits for the one before in its own sum."""

from __future__ import annotations

import numpy as np

from rooflab.count.si import several
from rooflab.show.scene import By, Dim, Scene
from rooflab.show.scene.player import Player

LATENCY = 4  # cycles from a multiply-add to its result
CYCLES = 4 * LATENCY  # that are drawn
SUMS, UNITS, BOTH = (1, 2, 3, 4, 6, 8), (1, 2), "sums units"
WIDE, NARROW, HEIGHT = 820, 400, 358
LEFT, FOOT, ROW = 88, 222, 23  # pixels: where cycle 0 begins, where the rows end, one row
UNIT, DEEP = FOOT + 14, 48  # the boxes of the units: where they begin, how high they are


def schedule(sums: int, units: int) -> list[list[float]]:
    """Return the cycles in which each sum begins, the longest ready first; NaN after the last."""
    begins: list[list[float]] = [[] for _ in range(SUMS[-1])]
    for cycle in range(CYCLES):
        ready = [own for own in begins[:sums] if not own or own[-1] + LATENCY <= cycle]
        for own in sorted(ready, key=lambda own: own[-1:])[:units]:
            own.append(cycle)
    return [own + [np.nan] * (CYCLES // LATENCY - len(own)) for own in begins]


def pipeline() -> Player:
    """Show the multiply-adds of several sums in a vector unit or two, with a slider for the sums.

    Returns
    -------
    Player
        A widget; its ``sentence`` says what the picture shows.

    Examples
    --------
    >>> print(rl.loops.pipeline().sentence[:65])
    One sum: each multiply-add waits 4 cycles for the one before, and
    """
    return Player(*(_scene(wide) for wide in (WIDE, NARROW)), stem="pipeline")


def _scene(wide: float) -> Scene:
    stops, names = [several(n, "sum") for n in SUMS], ["one unit", "two units"]
    dims = [Dim("sums", stops, SUMS, glide=250), Dim("units", names, UNITS, glide=250)]
    scene, cell = Scene(wide, HEIGHT, dims), (wide - LEFT - 10) / CYCLES
    begins = np.array([[schedule(n, u) for u in UNITS] for n in SUMS])
    scene.choice("units", "how many units", names)
    _units(scene, cell, begins)
    _rows(scene, cell, begins)
    rates = scene.each(BOTH, lambda n, u: f"{(begins[n, u] >= 0).sum() / CYCLES:g} of {UNITS[u]}")
    scene.text(150, HEIGHT - 12, rates, "computing", size=26, bold=True, anchor="end", name="rate")
    scene.text(160, HEIGHT - 13, "multiply-adds per cycle")
    scene.slider("sums", "sums under way")
    scene.says = scene.each(BOTH, lambda n, u: _sentence(SUMS[n], UNITS[u]))
    scene.note("Each sum is a vector of sums: a multiply-add works in all lanes of its unit.")
    return scene


def _units(scene: Scene, cell: float, begins: np.ndarray) -> None:
    """A box for each cycle of each unit, filled if a multiply-add begins, else a hole."""
    for y, words in ((UNIT + 20, ["the unit", "the units"]), (UNIT + 39, ["begins", "begin"])):
        scene.text(LEFT - 8, y, By("units", words), anchor="end", bold=True)
    foot, high = UNIT + DEEP + 20, By("units", [DEEP, DEEP / 2 - 2])
    scene.text(LEFT - 8, foot, "cycle", "soft", size=14, anchor="end")
    for cycle in range(CYCLES):
        x = LEFT + cell * cycle
        scene.line([(x, FOOT - ROW * SUMS[-1]), (x, FOOT)], "grid", 1)
        if cycle % LATENCY == 0 or cell > 30:
            scene.text(x + cell / 2, foot, str(cycle), "soft", size=14, anchor="middle")
        for unit in range(UNITS[-1]):
            box = (x + 1, UNIT + unit * (DEEP / 2 + 2), cell - 4, high)
            there = By("units", [unit < u for u in UNITS])
            full = By(BOTH, (begins == cycle).sum((2, 3)) > unit)
            scene.rect(*box, None, ink="soft", dash=(3, 3), opacity=there)
            scene.rect(*box, "computing", ink="computing", opacity=full, name="full")


def _rows(scene: Scene, cell: float, begins: np.ndarray) -> None:
    """The multiply-adds of each sum: filled in the cycle in which they begin, then on their way."""
    places, long, right = LEFT + cell * begins, cell * LATENCY - 2, LEFT + cell * CYCLES - 2
    for one in range(SUMS[-1]):
        y, there = FOOT - ROW * (one + 1) + 2, By("sums", [one < n for n in SUMS])
        scene.text(LEFT - 8, y + 15, f"sum {one + 1}", size=14, anchor="end", opacity=there)
        scene.line([(LEFT, y + 10), (right, y + 10)], "soft", dash=(2, 4), opacity=there)
        for x in (By(BOTH, places[:, :, one, k]) for k in range(CYCLES // LATENCY)):
            scene.rect(x, y, long + 2, ROW - 4, "paper", clip=(LEFT, 0, right, FOOT))
            scene.rect(x, y, long, ROW - 4, "computing", opacity=0.3, clip=(LEFT, 0, right, FOOT))
            scene.rect(x, y, cell - 2, ROW - 4, "computing", name="begins")
    last = places[range(len(SUMS)), :, np.array(SUMS) - 1, 0]
    x, end = By(BOTH, last), By(BOTH, last + long)
    low, top, foot = (By("sums", [FOOT - ROW * n - up for n in SUMS]) for up in (2, 8, 14))
    scene.line([(x, low), (x, top), (end, top), (end, low)], "soft")
    scene.text(x, foot, f"result after {LATENCY} cycles", size=14)


def _sentence(sums: int, units: int) -> str:
    words, room = "One sum" if sums == 1 else f"{sums} sums", LATENCY * units
    if sums > room:
        full = f"no faster, since the unit was full with {room}"
        return f"{words}: {full}. Each waits {sums - room} more cycles for its turn."
    if sums == room:
        busy = f"{('the unit is', 'both units are')[units - 1]} busy in every cycle"
        return f"{words}: while some wait for results, others begin, and {busy}."
    waits = f"each multiply-add waits {LATENCY} cycles for the one before"
    idle = ("the unit idles in {} of {} cycles", "the two units leave {} of {} boxes empty")
    own, idles = " in its sum" * (sums > 1), idle[units - 1].format(room - sums, room)
    return f"{words}: {waits}{own}, and {idles}."

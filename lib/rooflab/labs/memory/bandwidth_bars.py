"""The bandwidths of one core as bars: what a loop asks for, and what travels for it."""

from __future__ import annotations

from typing import Any

import numpy as np

from rooflab.count.si import si, times
from rooflab.labs.memory.bandwidths import TRAVEL, Bandwidth, Bandwidths
from rooflab.show.scene import By, Dim, Scene
from rooflab.show.scene.player import Player

NAMES = {
    "axpy": "AXPY",
    "update": "update in place",
    "chase": "one chase",
    "chases": "many chases",
    "all cores": "all cores read",
}
WAYS = ("asked for", "what travels")
WIDE, NARROW = 720, 400
EDGE, FIRST, ROW, BAR, OVER = 14, 18, 48, 18, 3  # pixels; OVER: of a mark above and below a bar
SMALL = 14


def bandwidth_bars(found: Bandwidths) -> Player:
    """Show what each loop asks for in a second, and what is fetched and written back for it.

    Parameters
    ----------
    found : Bandwidths
        From ``rl.memory.bandwidths()``.

    Returns
    -------
    Player
        A widget; its ``sentence`` says what the picture shows.

    Examples
    --------
    >>> rates = {"read": 20e9, "copy": 18e9, "update": 36e9, "axpy": 27e9}
    >>> core = rl.Machine("core", origin="measured", bandwidths={"dram": rates}, threads=1)
    >>> print(rl.memory.bandwidth_bars(rl.memory.bandwidths(core)).sentence)
    Fetched, the four loops differ by ×1.11: from 18.0 GB/s (copy) to 20.0 GB/s (read).
    """
    if not isinstance(found, Bandwidths):
        raise TypeError(f"found={found!r} must be what rl.memory.bandwidths() returned")
    return Player(*(bars_scene(found, wide) for wide in (WIDE, NARROW)), stem="bandwidths")


def bars_scene(found: Bandwidths, wide: float) -> Scene:
    """The picture of ``found``, ``wide`` pixels wide."""
    foot = FIRST + ROW * len(found.figures)
    scene = Scene(wide, foot + 10, [Dim("shown", WAYS, WAYS, start=1, glide=600)])
    alone = [one for one in found.figures if one.name != "all cores"]
    scale = (wide - 2 * EDGE) / max(max(one.bus, one.rate) for one in alone)
    for row, one in enumerate(found.figures):
        _words(scene, one, FIRST + ROW * row)
        _bar(scene, one, FIRST + ROW * row + 10, scale)
    _key(scene, foot)
    scene.choice("shown", "what is shown", WAYS)
    scene.says = By("shown", [_sentence(found, "rate"), _sentence(found, "fetched")])
    scene.note(f"{found.name}, in part measured at different moments.")
    return scene


def _words(scene: Scene, one: Bandwidth, foot: float) -> None:
    """A loop's name, and its figures in both states."""
    scene.text(EDGE, foot, NAMES.get(one.name, one.name), bold=True, size=SMALL, name="loop")
    most = "up to " if one.hidden > 0.01 * one.rate else ""
    travels = f"{most}{si(one.fetched, 'B/s')} fetched"
    travels += f", {si(one.written, 'B/s')} back" if one.written else ""
    words = By("shown", [si(one.rate, "B/s"), travels])
    scene.text(scene.width - EDGE, foot, words, size=SMALL, anchor="end", name="figures")


def _bar(scene: Scene, one: Bandwidth, top: float, scale: float) -> None:
    """Fetched, perhaps fetched, written back in a row; a mark at what was asked for."""
    sure = one.fetched - one.hidden
    pieces = np.array([[one.rate, 0, 0], [sure, one.hidden, one.written]])
    ends = np.minimum(np.cumsum(pieces, axis=1) * scale, scene.width - 2 * EDGE)
    starts = np.concatenate([np.zeros((2, 1)), ends[:, :-1]], axis=1)
    boxes = [
        (By("shown", EDGE + a), top, By("shown", b - a), BAR) for a, b in zip(starts.T, ends.T)
    ]
    scene.rect(*boxes[0], By("shown", ["soft", "carrying"]), radius=0, name="fetched")
    if one.hidden:
        scene.rect(*boxes[1], None, ink="carrying", dash=(5, 3), radius=0,
                   opacity=By("shown", [0, 1]), name="perhaps")  # fmt: skip
    if one.written:
        scene.rect(*boxes[2], "carrying", radius=0, opacity=0.35, name="written")
    x = EDGE + one.rate * scale
    if x > scene.width - EDGE + 1:  # all cores of a server: longer than there is room
        scene.text(scene.width - EDGE - 4, top + 14, "▸", "paper", anchor="end", name="longer")
        return
    scene.line([(x, top - OVER), (x, top + BAR + OVER)], "ink", 3, name="asked for")


def _key(scene: Scene, foot: float) -> None:
    x, there = float(EDGE), By("shown", [0, 1])
    looks: tuple[tuple[str, dict[str, Any]], ...] = (
        ("fetched", {"fill": "carrying"}),
        ("fetched, perhaps", {"fill": None, "ink": "carrying", "dash": (3, 2)}),
        ("back", {"fill": "carrying", "opacity": By("shown", [0, 0.35])}),
    )
    for words, look in looks:
        scene.rect(x, foot - 12, 14, 14, radius=0, **{"opacity": there, **look}, name="key")
        scene.text(x + 20, foot, words, size=SMALL, opacity=there, name="key")
        x += 32 + 7.6 * len(words)
    scene.line([(x, foot - 14), (x, foot + 4)], "ink", 3, name="key")
    scene.text(x + 8, foot, "asked for", size=SMALL, name="key")


def _sentence(found: Bandwidths, what: str) -> str:
    """How far the loops are apart in one of their figures."""
    loops = sorted((found[mix] for mix in TRAVEL), key=lambda one: getattr(one, what))
    least, most = loops[0], loops[-1]
    low, high = getattr(least, what), getattr(most, what)
    head = "Asked for" if what == "rate" else "Fetched"
    return (
        f"{head}, the four loops differ by {times(high / low)}: from {si(low, 'B/s')} "
        f"({NAMES.get(least.name, least.name)}) to {si(high, 'B/s')} "
        f"({NAMES.get(most.name, most.name)})."
    )

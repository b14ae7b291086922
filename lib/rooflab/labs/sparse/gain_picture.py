"""Products of one vector in several formats: what bytes and instructions take, and the clock."""

from __future__ import annotations

from typing import Any

from rooflab.count.si import si, times
from rooflab.count.validation import unknown
from rooflab.labs.sparse.gain import GemvGain
from rooflab.show.scene import Scene
from rooflab.show.scene.player import Player

WIDE, NARROW, SMALL = 720, 400, 14
LEFT, RIGHT, TOP, ROW, BAR = 84, 84, 10, 62, 15  # pixels: to the bars, of times, of a format


def bars(found: GemvGain, *kinds: str, after: Any = None) -> Player:
    """Show what bytes and instructions of products should take, and what the products took.

    Parameters
    ----------
    found : GemvGain
        What ``rl.sparse.gemv_gain`` measured.
    *kinds : str
        The formats to show, of those measured; all of them by default.
    after : GuessAxis or iterable of them, optional
        What has to be guessed before the picture opens.

    Returns
    -------
    Player
        A widget; its ``sentence`` says what the picture shows.

    Examples
    --------
    >>> found = rl.sparse.gemv_gain("int8", (64, 256), rounds=1, progress=False)
    >>> print(rl.sparse.bars(found, "fp32", "int8").sentence[:24])
    int8: 17.9 kB, predicted
    """
    for kind in kinds:
        if kind not in found.measured:
            raise unknown("kinds", kind, found.measured)
    chosen = kinds or tuple(found.measured)
    return Player(*(_scene(found, chosen, wide) for wide in (WIDE, NARROW)), stem="packed",
                  after=after)  # fmt: skip


def _name(kind: str) -> str:
    return "BLAS" if kind == "blas" else kind


def _scene(found: GemvGain, kinds: tuple[str, ...], wide: float) -> Scene:
    """The picture, ``wide`` pixels wide."""
    scene = Scene(wide, TOP + ROW * len(kinds) + 30, [])
    longest = max(max(*found.predicted[k], found.measured[k].median_s) for k in kinds)
    scale = (wide - LEFT - RIGHT) / longest
    for row, kind in enumerate(kinds):
        limits, taken = found.predicted[kind], found.measured[kind]
        y = TOP + ROW * row
        scene.text(LEFT - 10, y + 14, _name(kind), anchor="end", size=SMALL, bold=True)
        scene.text(LEFT - 10, y + 31, si(taken.op.bytes, "B"), "soft", anchor="end", size=SMALL)
        for n, (seconds, ink) in enumerate(zip(limits, ("carrying", "computing"))):
            scene.rect(LEFT, y + n * (BAR + 2), seconds * scale, BAR, ink, radius=0, name=ink)
        x = LEFT + taken.median_s * scale
        scene.dot(x, y + BAR + 1, size=6, ink="paper", name="measured")
        scene.text(x + 11, y + BAR + 6, si(taken.median_s, "s"), bold=True, size=SMALL, halo=True)
    foot, x = TOP + ROW * len(kinds) + 12.0, float(LEFT)
    for words, ink in (("bytes", "carrying"), ("instructions", "computing")):
        scene.rect(x, foot - 11, 12, 12, ink, radius=0, name="key")
        scene.text(x + 17, foot, words, size=SMALL, name="key")
        x += 36 + 7.4 * len(words)
    scene.dot(x + 6, foot - 5, size=6)
    scene.text(x + 17, foot, "measured", size=SMALL, name="key")
    first, *others = kinds
    scene.says = " ".join(
        f"{_name(kind)}: {si(found.measured[kind].op.bytes, 'B')}, predicted "
        f"{times(found.expected(kind, first), 3)} as fast as {_name(first)}, measured "
        f"{times(found.gain(kind, first), 3)}."
        for kind in others
    )
    return scene

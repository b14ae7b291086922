"""A chain in three ways: its steps over memory, which snap together, and the time of each way.

And the blind table: what was counted of nine operations, beside what others measured.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rooflab.count.si import several, si, times
from rooflab.labs.fusion.chains import WAYS, Chain, chains
from rooflab.labs.fusion.gain import LABELS, Gain
from rooflab.labs.fusion.table import blind_table
from rooflab.show.pairs import Pair, pairs_scene
from rooflab.show.scene import By, Dim, Scene
from rooflab.show.scene.player import Player

PIECES = {"bytes": "carrying", "arithmetic": "computing", "faults": "overhead", "calls": "overhead"}
NAMES = {"bytes": "bytes", "arithmetic": "computing", "faults": "new pages"}
WIDE, NARROW = 720, 400
TOP, BOX, DEEP, LINE = 8, 30, 44, 112  # pixels: of a step, down to memory, from line to line
GAP, ROW, BAR, HEAD = 9, 40, 14, 118  # between steps; of a bar's row; of a bar; of a way's name
SMALL = 14


def ways(*gains: Gain, after: Any = None) -> Player:
    """Show chains step by step and as one loop: what goes to memory, and the time of each way.

    Parameters
    ----------
    *gains : Gain
        What ``rl.fusion.gain`` measured, all three ways of each chain.
    after : GuessAxis or iterable of them, optional
        What has to be guessed before the picture opens.

    Returns
    -------
    Player
        A widget; its ``sentence`` says what the picture shows.

    Examples
    --------
    >>> found = rl.fusion.gain("l2_norm", 64, 256, rounds=3, progress=False)
    >>> print(rl.fusion.ways(found).sentence[:74])
    L2 norm of rows, new arrays: 5 calls move 20.1 bytes for each number of x.
    """
    if not gains or any(not isinstance(one, Gain) or set(one.measured) != {*WAYS} for one in gains):
        raise TypeError("gains: give one or more results of rl.fusion.gain, with all three ways")
    return Player(*(ways_scene(gains, wide) for wide in (WIDE, NARROW)), stem="fusion", after=after)


def _chain(one: Gain) -> Chain:
    return next(chain for chain in chains().values() if chain.title == one.title)


def ways_scene(gains: tuple[Gain, ...], wide: float) -> Scene:
    """The picture of ``gains``, ``wide`` pixels wide."""
    shown = [_chain(one) for one in gains]
    per = 10 if wide > NARROW else 5
    foot = TOP + LINE * -(-max(len(chain.steps) for chain in shown) // per) + 12
    titles = [chain.title for chain in shown]
    scene = Scene(wide, foot + 3 * ROW + 30, [
        Dim("chain", titles, [chain.name for chain in shown]),
        Dim("way", [*LABELS.values()], WAYS, glide=700),
    ])  # fmt: skip
    if len(gains) > 1:
        scene.menu("chain", "chain", titles)
    scene.choice("way", "how it runs", [*LABELS.values()])
    for chain in shown:
        there = np.array([chain is one for one in shown])
        for line in range(-(-len(chain.steps) // per)):
            _line(scene, chain, there, line, per)
    _bars(scene, gains, foot)
    scene.says = By("chain way", [[_sentence(one, way) for way in WAYS] for one in gains])
    first = next(iter(gains[0].measured.values()))
    scene.note(f"{first.op.compute_dtype}, one core; filled: predicted, dots: measured.")
    return scene


def _line(scene: Scene, chain: Chain, there: np.ndarray, line: int, per: int) -> None:
    """Steps of a chain beside each other, over memory; in one loop they touch."""
    steps = chain.steps[line * per : (line + 1) * per]
    room = min(150.0, scene.width / min(per, len(chain.steps)))
    top, shown = TOP + LINE * line, By("chain", 1.0 * there)
    left = (scene.width - room * len(steps)) / 2
    fused = (scene.width - (room - GAP) * len(steps)) / 2
    sea = top + BOX + DEEP
    scene.rect(0, sea, scene.width, 16, "soft", opacity=By("chain", 0.15 * there), name="memory")
    scene.text(4, sea + 30, "memory", "soft", size=SMALL, opacity=shown)
    for n, step in enumerate(steps):
        x = By("way", [left + room * n + GAP / 2] * 2 + [fused + (room - GAP) * n])
        scene.rect(x, top, room - GAP, BOX, "paper", ink="ink", radius=4, opacity=shown,
                   name="step")  # fmt: skip
        middle = By("way", x.values + np.array((room - GAP) / 2))
        scene.text(middle, top + 20, step.function, size=SMALL, anchor="middle", opacity=shown)
        _arrows(scene, chain, line * per + n, x.values, room - GAP, top, there)


def _arrows(
    scene: Scene, chain: Chain, n: int, left: list[float], room: float, top: float,
    there: np.ndarray,
) -> None:  # fmt: skip
    """What a step reads and writes: an arrow for each array, as thick as it is large."""
    op = chain.operations(64, 64)[n]
    whole = chain.ledger(64, 64, way="fused").operands
    stays = {(one.name, bool(one.reads)) for one in whole}
    seen = {o.name for earlier in chain.operations(64, 64)[:n] for o in earlier.operands}
    for k, operand in enumerate(op.operands):
        reads = bool(operand.reads)
        out = (operand.name, reads) in stays and not (reads and operand.name in seen)
        at = np.asarray(left) + room * (k + 1) / (len(op.operands) + 1)
        thick = 1.2 + 4.0 * min(1.0, operand.elements / 64**2)
        x, sea, foot = By("way", at), top + BOX + DEEP, top + BOX
        opacity = By("way chain", np.outer([1, 1, out], there).astype(float))
        begin, end = (sea, foot + 5) if reads else (foot, sea - 5)
        scene.line([(x, begin), (x, end)], "carrying", thick, opacity=opacity, name="array")
        point, side = (foot, 7) if reads else (sea, -7)
        base = [By("way", at + spread) for spread in (-3 - thick / 2, 3 + thick / 2)]
        corners = [(base[0], point + side), (x, point), (base[1], point + side)]
        scene.line(corners, None, 0, fill="carrying", opacity=opacity, name="point")
        if not reads:  # an array of its own, or one that is there
            new = By("way", ["overhead", "soft", "soft"])
            scene.rect(By("way", at - 8), sea, 16, 16, "paper", ink=new, width=2.5, opacity=opacity,
                       name="new")  # fmt: skip


def _bars(scene: Scene, gains: tuple[Gain, ...], foot: float) -> None:
    """A row for each way: what was predicted in pieces, and a dot at what was measured."""
    scale = [
        (scene.width - HEAD - 84) / max(
            s for way in WAYS for s in (one.predicted[way].seconds, one.measured[way].median_s))
        for one in gains
    ]  # fmt: skip
    for row, (way, label) in enumerate(LABELS.items()):
        y = foot + ROW * row
        mine = By("way", [1.0 if row == n else 0.45 for n in range(3)])
        scene.text(HEAD - 10, y + 13, label, anchor="end", size=SMALL, bold=True, opacity=mine)
        per = [_each(one, way) for one in gains]
        scene.text(HEAD - 10, y + 29, By("chain", [f"{b:.3g} B each" for b in per]), "soft",
                   anchor="end", size=SMALL)  # fmt: skip
        terms = [vars(one.predicted[way]) for one in gains]
        begin = np.full(len(gains), float(HEAD))
        for piece, ink in PIECES.items():
            long = np.array([t[piece] * k for t, k in zip(terms, scale)])
            scene.rect(By("chain", begin), y, By("chain", long), BAR, ink, radius=0, opacity=mine,
                       name=piece)  # fmt: skip
            begin = begin + long
        seconds = [one.measured[way].median_s for one in gains]
        at = [HEAD + s * k for s, k in zip(seconds, scale)]
        scene.dot(By("chain", at), y + BAR + 8, size=4.5, name="measured")
        words = By("chain", [si(s, "s") for s in seconds])
        scene.text(By("chain", [x + 9 for x in at]), y + BAR + 13, words, bold=True, size=SMALL,
                   name="seconds")  # fmt: skip
    x = float(HEAD)
    for piece, name in NAMES.items():
        scene.rect(x, foot + 3 * ROW + 4, 12, 12, PIECES[piece], radius=0, name="key")
        scene.text(x + 17, foot + 3 * ROW + 15, name, size=SMALL, name="key")
        x += 34 + 7.4 * len(name)


def _each(one: Gain, way: str) -> float:
    """Bytes that a way moves for each number of x."""
    op = one.measured[way].op
    return op.bytes / next(o.elements for o in op.operands if o.name == "x")


def _sentence(one: Gain, way: str) -> str:
    """What moves, what it takes, and in one loop the gain."""
    taken, steps = one.measured[way], len(_chain(one).steps)
    each = _each(one, way)
    what = "one loop moves" if way == "fused" else f"{several(steps, 'call')} move"
    words = (
        f"{one.title}, {LABELS[way]}: {what} {each:.3g} bytes for each number of x. "
        f"Predicted {si(one.predicted[way].seconds, 's')}, measured {si(taken.median_s, 's')}"
    )
    if way == "fused":
        by_bytes = one.measured["temporaries"].op.bytes / taken.op.bytes
        words += f": {times(one.gain())} as fast as with new arrays, where the bytes alone say "
        words += times(by_bytes)
    return f"{words}."


def bets(after: Any = None) -> Player:
    """Show the blind table: the factor that the bytes promise, and the one that was published.

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
    >>> print(rl.fusion.bets().sentence[:63])
    6 of 9 published factors lie within 1.2 times what was counted.
    """
    rows = [*blind_table().values()]
    pairs = [
        Pair(row.title, row.factor(row.machine), row.published.factor,
             f"{row.published.gpu}: {row.published.conditions}")
        for row in rows
    ]  # fmt: skip
    near = sum(max(p.counted / p.published, p.published / p.counted) <= 1.2 for p in pairs)
    apart = max(pairs, key=lambda pair: pair.published / pair.counted)
    slower = min(pairs, key=lambda pair: pair.published)
    says = (
        f"{near} of {len(rows)} published factors lie within 1.2 times what was counted. Furthest "
        f"off is {apart.title}: counted {times(apart.counted, 3)}, published "
        f"{times(apart.published, 3)}. Fused, {slower.title} takes "
        f"{times(1 / slower.published, 2)} as long."
    )
    sources = "; ".join(sorted({row.published.source for row in rows}))
    note = f"How many times as fast one kernel is. {sources}"
    scenes = (pairs_scene(pairs, wide, (0.3, 30), says, note) for wide in (WIDE, NARROW))
    return Player(*scenes, stem="bets", after=after)

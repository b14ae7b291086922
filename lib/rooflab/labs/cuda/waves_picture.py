"""Tiles dealt to the SMs of an H100 in waves: what they take by counting, and what was published.

One block of one kernel is on each SM. A wave lasts as long as one tile: its arithmetic, or its
bytes from L2, the longer of the two (figures of staircase.yaml). A library has many kernels and
chooses one for each shape; its published times are in waves.yaml.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from rooflab.count.si import plain, several, si
from rooflab.count.validation import unknown
from rooflab.labs.cuda.staircase import LAUNCH, Numbers, staircase
from rooflab.predict.catalogue import tables
from rooflab.show.scene import By, Dim, Scene
from rooflab.show.scene.axes import Frame
from rooflab.show.scene.player import Player

TILES = ((128, 256), (128, 128), (192, 192))
K, BYTES, COLUMNS = 4096, 2, (4096, 5120)
MOST, ACROSS, LAST = 6, 12, 2432  # waves that are drawn; SMs in a row of one; rows of C
BOTH = "columns rows tile"
WIDE, NARROW, SMALL, TOP, PLOT, HEIGHT = 720, 400, 14, 28, 150, 390
PAIR = 5  # pixels that 1,024 and 1,025 move apart, or one would hide the other


@functools.cache
def _machine() -> Numbers:
    return staircase("h100").machine


def tile_seconds(tile: tuple[int, int], k: int = K) -> float:
    """Return the seconds of a tile on one SM of an H100, in bf16: its FLOPs or its bytes from L2.

    >>> print(si(tile_seconds((128, 256)), "s"), si(tile_seconds((128, 128)), "s"))
    42.5 µs 28.4 µs
    """
    (m, n), machine = tile, _machine()
    flops = 2 * m * n * k / (machine["flop_per_clock"] * machine["unit_share"][128])
    carried = (m + n) * k * BYTES / machine["l2_bytes_per_clock"]
    return float(max(flops, carried) / machine["clock_hz"])


def wave_seconds(m: int, n: int, tile: tuple[int, int], k: int = K) -> tuple[int, float]:
    """Return how many tiles C has, and the seconds of all their waves, and of the launch."""
    count = math.ceil(m / tile[0]) * math.ceil(n / tile[1])
    waves = math.ceil(count / _machine()["sms"])
    return count, waves * tile_seconds(tile, k) + LAUNCH


def library_times(columns: int = 4096) -> Mapping[int, float]:
    """Return published seconds of a library's products on an H100, by the rows of A and C.

    They are in bf16, with 4096 numbers along k (waves.yaml has the source).

    Parameters
    ----------
    columns : {4096, 5120}, optional
        Columns of B and C.

    Returns
    -------
    Mapping of int to float
        Rows → seconds.

    Examples
    --------
    >>> times = rl.cuda.library_times()
    >>> round(times[1025] / times[1024], 2)
    1.01
    """
    data = tables("labs.cuda", "waves")
    if columns not in data["us"]:
        raise unknown("columns", columns, map(str, data["us"]))
    return {m: us / 1e6 for m, us in zip(data["rows"], data["us"][columns], strict=True)}


def waves(after: Any = None) -> Player:
    """Show the tiles of a product on the SMs of an H100, wave by wave, and published times.

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
    >>> print(rl.cuda.waves().sentence[:67])
    1,025 rows: 144 tiles, 2 waves; in the last one 12 of 132 SMs work.
    """
    return Player(*(_scene(wide) for wide in (WIDE, NARROW)), stem="waves", after=after)


def _scene(wide: float) -> Scene:
    """The picture, ``wide`` pixels wide."""
    published = np.array([[*library_times(n).values()] for n in COLUMNS])
    rows = [*library_times()]
    found = np.array([[[wave_seconds(m, n, tile) for tile in TILES] for m in rows]
                      for n in COLUMNS])  # fmt: skip
    scene = Scene(wide, HEIGHT, [
        Dim("columns", [f"{n} columns" for n in COLUMNS], COLUMNS),
        Dim("rows", [f"{m:,}" for m in rows], rows, start=rows.index(1025)),
        Dim("tile", [f"{m} × {n}" for m, n in TILES], [f"{m}x{n}" for m, n in TILES], glide=300),
    ])  # fmt: skip
    scene.choice("columns", "columns of C", [f"{n} columns" for n in COLUMNS])
    scene.choice("tile", "the tile of C", [f"tiles {m} × {n}" for m, n in TILES])
    sms = int(_machine()["sms"])
    _dealt(scene, found[..., 0], sms)
    _times(scene, rows, published, found[..., 1])
    scene.says = scene.each(BOTH, lambda n, m, t: _sentence(
        rows[m], float(found[n, m, t, 0]), float(found[n, m, t, 1]), float(published[n, m]), sms,
    ))  # fmt: skip
    scene.note("Published: NVIDIA, aiconfigurator, H100 SXM, bf16, k = 4096. 1,024 and 1,025 rows, "
               "and all such pairs, are drawn apart.")  # fmt: skip
    return scene


def _dealt(scene: Scene, count: np.ndarray, sms: int) -> None:
    """A field of SMs for each wave, filled with its tiles from the top left."""
    pitch = (scene.width - 32) / MOST
    cell = (pitch - 16) / ACROSS
    deep = sms // ACROSS
    for wave in range(MOST):
        left = 16 + wave * pitch
        tiles = np.clip(count - wave * sms, 0, sms)
        there = By(BOTH, np.where(tiles > 0, 1.0, 0.0))
        scene.text(left, TOP - 8, f"wave {wave + 1}", "soft", size=SMALL, opacity=there,
                   name="wave")  # fmt: skip
        high = deep * 9
        scene.rect(left, TOP, ACROSS * cell, high, "grid", radius=0, opacity=there, name="idle")
        for row in range(deep):
            long = By(BOTH, cell * np.clip(tiles - row * ACROSS, 0, ACROSS))
            scene.rect(left, TOP + row * 9, long, 9, "computing", radius=0, name="busy")
        for row in range(1, deep):
            y = TOP + row * 9
            scene.line([(left, y), (left + ACROSS * cell, y)], "paper", 1, opacity=there)
        for column in range(1, ACROSS):
            x = left + column * cell
            scene.line([(x, TOP), (x, TOP + high)], "paper", 1, opacity=there)


def _times(scene: Scene, rows: list[int], published: np.ndarray, counted: np.ndarray) -> None:
    """Published times over the rows, and the stairs of one kernel."""
    frame = Frame(64, PLOT + 12, scene.width - 16, HEIGHT - 52)
    x, y = frame.x(0, LAST, log=False), frame.y(0, 180e-6, log=False)
    places = [float(x(m)) + (PAIR if m % 2 else -PAIR) for m in rows]  # apart
    frame.x_ticks(scene, x, (512, 1024, 1536, 2048), lambda v: f"{v:,.0f}", grid=False)
    frame.y_ticks(scene, y, (50e-6, 100e-6, 150e-6), lambda v: si(v, "s", 2 + (v >= 1e-4)))
    frame.draw(scene)
    scene.text(frame.right, HEIGHT - 8, "rows of A and C", "soft", size=SMALL, anchor="end",
               name="axis")  # fmt: skip
    scene.text(frame.left + 10, PLOT + 4, "stairs: one kernel, by counting", "computing",
               size=SMALL, name="key")  # fmt: skip
    scene.text(frame.left + 10, PLOT + 22, "diamonds: a library, published", size=SMALL,
               name="key")  # fmt: skip
    for n, columns in enumerate(COLUMNS):
        for t, tile in enumerate(TILES):
            ends = range(tile[0], LAST + tile[0], tile[0])  # up to which a row of tiles is enough
            points = [
                (float(x(m)), float(y(wave_seconds(end, columns, tile)[1])))
                for end in ends for m in (end - tile[0], end)
            ]  # fmt: skip
            seen = np.zeros((len(COLUMNS), len(TILES)))
            seen[n, t] = 1
            scene.line(points, "computing", 2, opacity=By("columns tile", seen), clip=frame.box,
                       name="stairs")  # fmt: skip
    for n in range(len(rows)):
        chosen = By("rows", np.where(np.arange(len(rows)) == n, 1.0, 0.45))
        scene.dot(places[n], By("columns", y(published[:, n])), "diamond", 5, fill="paper",
                  ink="ink", opacity=chosen, name="published")  # fmt: skip
    scene.dot(By("rows", places), By(BOTH, y(counted)), size=5, fill="computing", name="counted")
    scene.slider("rows", "rows of A and C")


def _sentence(rows: int, count: float, seconds: float, published: float, sms: int) -> str:
    many = math.ceil(count / sms)
    last = int(count) - (many - 1) * sms
    work = f"all {sms} SMs work" if last == sms else f"{last} of {sms} SMs work"
    where = "in it" if many == 1 else "in the last one"
    return (
        f"{rows:,} rows: {several(int(count), 'tile')}, {several(many, 'wave')}; {where} {work}. "
        f"One kernel would take {plain(seconds * 1e6, 3)} µs by counting; a library took "
        f"{plain(published * 1e6, 3)} µs."
    )

"""Tiles dealt to the SMs of an H100 in waves: what they take by counting, and what was published.

One block of one kernel is on each SM. A wave lasts as long as one tile: its arithmetic, or its
bytes from L2, the longer of the two (figures of staircase.yaml). A library has many kernels and
chooses one for each shape; its published times are in waves.yaml.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from rooflab.count.si import plain, several, si
from rooflab.count.validation import unknown
from rooflab.labs.cuda.sheets import SMALL, grid, picture
from rooflab.labs.cuda.staircase import LAUNCH, staircase
from rooflab.predict.catalogue import tables
from rooflab.show.scene import By, Dim, Scene
from rooflab.show.scene.axes import Frame

MACHINE = staircase("h100").machine
SMS: int = MACHINE["sms"]
TILES = ((128, 256), (128, 128), (192, 192))
K, BYTES, COLUMNS = 4096, 2, (4096, 5120)
MOST, ACROSS, LAST, STEP = 6, 12, 2432, 64  # waves drawn; SMs in a row; rows of C; of each tile
BOTH = "columns rows tile"
TOP, SM, PLOT, HEIGHT = 28, 9, 150, 390  # pixels
PAIR = 5  # pixels that 1,024 and 1,025 move apart, or one would hide the other


def tile_seconds(tile: tuple[int, int]) -> float:
    """Return the seconds of a tile on one SM of an H100, in bf16: its FLOPs or its bytes from L2.

    >>> print(si(tile_seconds((128, 256)), "s"), si(tile_seconds((128, 128)), "s"))
    42.5 µs 28.4 µs
    """
    m, n = tile
    flops = 2 * m * n * K / (MACHINE["flop_per_clock"] * MACHINE["unit_share"][128])
    carried = (m + n) * K * BYTES / MACHINE["l2_bytes_per_clock"]
    return float(max(flops, carried) / MACHINE["clock_hz"])


def wave_seconds(m: int, n: int, tile: tuple[int, int]) -> tuple[int, float]:
    """Return how many tiles C has, and the seconds of all their waves, and of the launch."""
    count = math.ceil(m / tile[0]) * math.ceil(n / tile[1])
    return count, math.ceil(count / SMS) * tile_seconds(tile) + LAUNCH


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


@picture("waves")
def waves(wide: int) -> Scene:
    """Show the tiles of a product on the SMs of an H100, wave by wave, and published times.

    >>> print(rl.cuda.waves().sentence[:67])
    1,025 rows: 144 tiles, 2 waves; in the last one 12 of 132 SMs work.
    """
    published = np.array([[*library_times(n).values()] for n in COLUMNS])
    rows = [*library_times()]
    counted = np.array([[[wave_seconds(m, n, tile) for tile in TILES] for m in rows]
                        for n in COLUMNS])  # fmt: skip
    scene = Scene(wide, HEIGHT, [
        Dim("columns", [f"{n} columns" for n in COLUMNS], COLUMNS),
        Dim("rows", [f"{m:,}" for m in rows], rows, start=rows.index(1025)),
        Dim("tile", [f"{m} × {n}" for m, n in TILES], [f"{m}x{n}" for m, n in TILES], glide=300),
    ])  # fmt: skip
    scene.choice("columns", "columns of C", [f"{n} columns" for n in COLUMNS])
    scene.choice("tile", "the tile of C", [f"tiles {m} × {n}" for m, n in TILES])
    _dealt(scene, counted[..., 0])
    _times(scene, rows, published, counted[..., 1])
    scene.slider("rows", "rows of A and C")
    scene.says = scene.each(BOTH, lambda n, m, t: _sentence(
        rows[m], counted[n, m, t], float(published[n, m])))  # fmt: skip
    scene.note("Published: NVIDIA, aiconfigurator, H100 SXM, bf16, k = 4096. 1,024 and 1,025 rows, "
               "and all such pairs, are drawn apart.")  # fmt: skip
    return scene


def _dealt(scene: Scene, count: np.ndarray) -> None:
    """A field of SMs for each wave, filled with its tiles from the top left."""
    pitch = (scene.width - 32) / MOST
    cell, deep = (pitch - 16) / ACROSS, SMS // ACROSS
    for wave in range(MOST):
        left = 16 + wave * pitch
        tiles = np.clip(count - wave * SMS, 0, SMS)
        there = By(BOTH, np.where(tiles > 0, 1.0, 0.0))
        scene.text(left, TOP - 8, f"wave {wave + 1}", "soft", size=SMALL, opacity=there)
        scene.rect(left, TOP, ACROSS * cell, deep * SM, "grid", radius=0, opacity=there,
                   name="idle")  # fmt: skip
        for row in range(deep):
            long = By(BOTH, cell * np.clip(tiles - row * ACROSS, 0, ACROSS))
            scene.rect(left, TOP + row * SM, long, SM, "computing", radius=0, name="busy")
        grid(scene, (left, TOP), (deep, ACROSS), (cell, SM), "paper", opacity=there)


def _times(scene: Scene, rows: list[int], published: np.ndarray, counted: np.ndarray) -> None:
    """Published times over the rows, and the stairs of one kernel."""
    frame = Frame(64, PLOT + 12, scene.width - 16, HEIGHT - 52)
    x, y = frame.x(0, LAST, log=False), frame.y(0, 180e-6, log=False)
    places = [x(m) + (PAIR if m % 2 else -PAIR) for m in rows]  # apart
    frame.x_ticks(scene, x, (512, 1024, 1536, 2048), "{:,.0f}".format, grid=False)
    frame.y_ticks(scene, y, (50e-6, 100e-6, 150e-6), lambda v: si(v, "s", 2 + (v >= 1e-4)))
    frame.draw(scene)
    scene.text(frame.right, HEIGHT - 8, "rows of A and C", "soft", size=SMALL, anchor="end")
    scene.text(frame.left + 10, PLOT + 4, "stairs: one kernel, by counting", "computing",
               size=SMALL)  # fmt: skip
    scene.text(frame.left + 10, PLOT + 22, "diamonds: a library, published", size=SMALL)
    stairs = []
    for end in range(STEP, LAST + STEP, STEP):
        seconds = [[wave_seconds(end, n, tile)[1] for tile in TILES] for n in COLUMNS]
        stairs += [(x(m), By("columns tile", y(seconds))) for m in (end - STEP, end)]
    scene.line(stairs, "computing", 2, clip=frame.box, name="stairs")
    for n, place in enumerate(places):
        chosen = By("rows", np.where(np.arange(len(rows)) == n, 1.0, 0.45))
        scene.dot(place, By("columns", y(published[:, n])), "diamond", 5, fill="paper", ink="ink",
                  opacity=chosen, name="published")  # fmt: skip
    scene.dot(By("rows", places), By(BOTH, y(counted)), size=5, fill="computing", name="counted")


def _sentence(rows: int, counted: np.ndarray, published: float) -> str:
    count, seconds = int(counted[0]), counted[1]
    before, last = divmod(count - 1, SMS)
    work = f"{last + 1} of {SMS} SMs work" if last + 1 < SMS else f"all {SMS} SMs work"
    return (
        f"{rows:,} rows: {several(count, 'tile')}, {several(before + 1, 'wave')}; "
        f"{'in the last one' if before else 'in it'} {work}. "
        f"One kernel would take {plain(seconds * 1e6, 3)} µs by counting; a library took "
        f"{plain(published * 1e6, 3)} µs."
    )

"""Who gains from smaller weights: by the size of a layer, by the batch, and by the whole model."""

from __future__ import annotations

import itertools
from bisect import bisect_left
from functools import partial
from typing import Any

import numpy as np

from rooflab.count.dtypes import DTypeLike, dtype
from rooflab.count.si import plain, several, si, times
from rooflab.labs.llm.catalogue import model
from rooflab.labs.sparse.levers import ideal, published
from rooflab.predict.catalogue import machine as _machine
from rooflab.predict.machine import Machine
from rooflab.show.chart import Chart, Line, Panel, Point
from rooflab.show.scene import By, Dim, Scene
from rooflab.show.scene.axes import Frame
from rooflab.show.scene.player import Player

WIDE, NARROW, HIGH, SMALL = 720, 400, 400, 14
BATCHES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)
KERNELS = {"marlin": "Marlin", "torch_nightly": "PyTorch", "exllamav2": "ExLlamaV2", "awq": "AWQ"}
INKS = ("carrying", "computing", "overhead", "ink")
GPU, MODEL, CONTEXT = "h100-sxm", "llama-3.1-8b", 2048
INT4 = dtype("int4", group=128, scale="fp16")
WEIGHTS: dict[str, tuple[DTypeLike, str]] = {  # and of the KV cache
    "16 bits": ("fp16", "fp16"), "int8": ("int8", "fp16"), "int4": (INT4, "fp16"),
    "int4, KV int8": (INT4, "int8"),
}  # fmt: skip


def shapes() -> Player:
    """Show what int4 weights gained on an A100, by the size of their matrix.

    Returns
    -------
    Player
        A widget; its ``sentence`` says what the picture shows.

    Examples
    --------
    >>> print(rl.sparse.shapes().sentence[:40])
    1 vector: of 20 matrices 9 became slower
    """
    return Player(*(_shapes(wide) for wide in (WIDE, NARROW)), stem="shapes")


def _shapes(wide: float) -> Scene:
    table = published()["a100"]
    rows = sorted(table["rows"], key=lambda row: row[1] * row[2])
    counts = sorted({row[0] for row in rows})
    scene = Scene(wide, HIGH, [Dim("rows", [str(n) for n in counts], counts, glide=600)])
    scene.choice("rows", "vectors", [several(n, "vector") for n in counts])
    frame = Frame(52, 30, wide - 16, HIGH - 54)
    x, y = frame.x(1e4, 2e9), frame.y(0.2, 5)
    frame.x_ticks(scene, x, x.decades(), _round)
    frame.y_ticks(scene, y, [0.25, 0.5, 1, 2, 4], lambda v: plain(v, 2))
    frame.draw(scene)
    scene.text(8, 18, "times as fast as in bf16", size=SMALL, name="axis")
    scene.text(frame.right, HIGH - 14, "weights", "soft", size=SMALL, anchor="end", name="axis")
    scene.line([(frame.left, y(1)), (frame.right, y(1))], "soft", 1.5, dash=(4, 4), name="alike")
    for words, foot in (("faster", y(1) - 7), ("slower", y(1) + 18)):
        scene.text(frame.right - 6, foot, words, "soft", size=SMALL, anchor="end", halo=True,
                   name="side")  # fmt: skip
    gains = np.array([[row[3] / row[5] for row in rows if row[0] == n] for n in counts])
    sizes = [row[1] * row[2] for row in rows if row[0] == counts[0]]
    for size, column in zip(sizes, gains.T):
        scene.dot(x(size), By("rows", y(column)), size=6, fill="carrying", ink="paper",
                  name="matrix")  # fmt: skip
    scene.says = By("rows", [
        f"{several(n, 'vector')}: of {len(sizes)} matrices {(each < 1).sum()} became slower "
        f"with int4 weights. The largest gained {times(each[-1], 3)}."
        for n, each in zip(counts, gains)
    ])  # fmt: skip
    scene.note("20 of 288 matrices, drawn by chance. "
               f"{published()['sources'][table['source']]['title']}.")  # fmt: skip
    return scene


def _round(value: float) -> str:
    return si(value, "").replace(".00", "").replace(".0", "")


def marlin_batch(wanted: float) -> int:
    """Return the first batch for which Marlin's weights allow less than ``wanted`` times fp16.

    Parameters
    ----------
    wanted : float
        More than 1.

    Returns
    -------
    int
        By bytes and roofs, for the matrix and the A10 of Marlin's figure.

    Examples
    --------
    >>> rl.sparse.marlin_batch(3.0)
    70
    """
    if not wanted > 1:
        raise ValueError(f"wanted={wanted!r} must be more than 1")
    return next(batch for batch in itertools.count(1) if _ideal(batch) < wanted)


def _ideal(batch: int) -> float:
    table = published()["marlin"]
    roofs = table["machine"]
    a10 = Machine("a10", peaks={"fp16": roofs["fp16"]}, bandwidths=roofs["bandwidth"])
    n, k = table["shape"]
    return ideal(a10, n, k, batch)


def marlin(after: Any = None) -> Player:
    """Show what int4 weights allow, batch by batch, and what four kernels made of it.

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
    >>> picture = rl.sparse.marlin()
    >>> picture.batch = 64
    >>> print(picture.sentence)
    64 vectors: the roofs allow ×3.27. Marlin reached ×3.09.
    """
    return Player(*(_marlin(wide) for wide in (WIDE, NARROW)), stem="marlin", after=after)


def _marlin(wide: float) -> Scene:
    table = published()["marlin"]
    batches = BATCHES[:-2]
    scene = Scene(wide, HIGH, [Dim("batch", [str(n) for n in batches], batches, start=6)])
    every = range(1, batches[-1] + 1)
    curve = [_ideal(n) for n in every]
    allowed = [curve[n - 1] for n in batches]
    seen = {name: table["speedup"][key] for key, name in KERNELS.items()}
    x = [float(n) for n in batches]
    lines = [Line("allowed", "soft", [float(n) for n in every], curve, dash=(6, 5))]
    lines += [Line(name, ink, [float(n) for n in each], [*each.values()], lift=18)
              for (name, each), ink in zip(seen.items(), INKS)]  # fmt: skip
    panel = Panel("times as fast as fp16", lambda v: plain(v, 2), lines, room=(1.3, 1.3))
    chart = Chart(scene, [panel], (1, 128), "vectors", "{:g}".format, ticks=x)
    chart.draw()
    chart.points([Point(f"below 2 from {marlin_batch(2)} on", marlin_batch(2), 2.0, "diamond")])
    chart.slider("batch", "vectors", batches, [(0, np.array(allowed))])
    scene.says = By("batch", [
        f"{several(n, 'vector')}: the roofs allow {times(most, 3)}."
        + "".join(f" {name} reached {times(each[n], 3)}."
                  for name, each in seen.items() if n in each)
        for n, most in zip(batches, allowed)
    ])  # fmt: skip
    scene.note(f"{table['conditions']}; read off a chart. "
               f"{published()['sources'][table['source']]['title']}.")  # fmt: skip
    return scene


def serving(after: Any = None) -> Player:
    """Show how many tokens a second an H100 can make at most, by batch and format of the weights.

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
    >>> print(rl.sparse.serving().sentence[:47])
    8 sequences: at most 1570 tokens/s with 16 bits
    """
    return Player(*(_serving(wide) for wide in (WIDE, NARROW)), stem="serving", after=after)


def _serving(wide: float) -> Scene:
    gpu, llm = _machine(GPU), model(MODEL)
    scene = Scene(wide, HIGH, [Dim("batch", [str(n) for n in BATCHES], BATCHES, start=3)])
    rates: dict[str, dict[int, float]] = {}
    for name, (kind, kv) in WEIGHTS.items():
        step = partial(llm.decode, context=CONTEXT, weights=kind, kv=kv)
        most = bisect_left(range(1, 10_000), True, key=lambda n: not step(n).fits(gpu))
        rates[name] = {n: n / step(n).bound(gpu) for n in sorted({*BATCHES, most}) if n <= most}
    lines = [Line(name, ink, [float(n) for n in each], [*each.values()])
             for (name, each), ink in zip(rates.items(), INKS)]  # fmt: skip
    panel = Panel("tokens/s", _round, lines, room=(1.3, 1.3))
    ticks = [float(n) for n in BATCHES]
    chart = Chart(scene, [panel], (1, 1024), "sequences at once", "{:g}".format, ticks=ticks)
    chart.draw()
    ends = [[*each.items()][-1] for each in rates.values()]  # where the memory is full
    chart.points([Point(str(n), n, rate) for n, rate in ends])
    chart.slider("batch", "sequences at once", BATCHES)
    scene.says = scene.each("batch", lambda i: _sentence(BATCHES[i], rates))
    scene.note(f"{llm.name}, {CONTEXT} tokens each in the KV cache, on one {gpu.name}; datasheet.")
    return scene


def _sentence(n: int, rates: dict[str, dict[int, float]]) -> str:
    """Tokens a second of a batch, and what has no room for it."""
    there = [f"{plain(each[n], 3)} tokens/s with {name}" for name, each in rates.items()
             if n in each]  # fmt: skip
    absent = [name for name, each in rates.items() if n not in each]
    words = f"{several(n, 'sequence')}: at most {'; '.join(there)}."
    return words + (f" No room with {'; '.join(absent)}." if absent else "")

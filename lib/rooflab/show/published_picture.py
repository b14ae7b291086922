"""Published products under a roofline: a slider leaves those whose operands fit into so much."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rooflab.count.dtypes import DTypeLike, as_dtype
from rooflab.count.si import several, si
from rooflab.predict.machine import Machine
from rooflab.predict.published import FORMATS, PublishedRun, kinds
from rooflab.predict.published import published as _published
from rooflab.predict.roofline import Roofline
from rooflab.show.chart import Chart, Line, Panel
from rooflab.show.rooflines.roofs import short
from rooflab.show.scene import By, Dim, Scene
from rooflab.show.scene.axes import LETTERS
from rooflab.show.scene.player import Player

WIDE, NARROW, HEIGHT = 720, 400, 430
AXIS = (0.5, 2e4)  # FLOP/byte
BELOW = 200.0  # times: products that take as long as their launch lie so far below the roof
SIZES = [2.0 ** (step / 2) for step in range(34, 67)]  # bytes: 131 kB to 8.6 GB

Table = tuple[Roofline, Sequence[PublishedRun]]


def published(gpu: Machine | str = "h100-sxm", dtype: DTypeLike = "bf16", *,
              after: Any = None) -> Player:  # fmt: skip
    """Show published products under the roofline of their GPU, and those that fit a working set.

    Parameters
    ----------
    gpu : Machine or str
        The GPU that is shown first, one that :func:`rooflab.published` knows.
    dtype : str, DType or a dtype of NumPy or PyTorch
        Format of its factors, bf16 or fp8.
    after : GuessAxis or iterable of them, optional
        What has to be guessed before the picture opens.

    Returns
    -------
    Player
        A widget; its ``sentence`` says what the picture shows.

    Examples
    --------
    >>> picture = rl.show.published("h100-sxm")
    >>> picture.fits = "47.5 MB"
    >>> print(picture.sentence.partition(", and ")[2])
    45 of these lie above the memory roof. None of the larger ones does. The L2 cache has 52.4 MB.
    """
    start = f"{_published(gpu, dtype)[0].machine} {as_dtype('dtype', dtype).family}"
    tables = {
        f"{gpu} {kind}": (Roofline(gpu, FORMATS[kind]),  # runs above the roof lie on top
                          sorted(_published(gpu, kind), key=lambda run: run.above))
        for gpu, formats in kinds().items() for kind in formats
    }  # fmt: skip
    scenes = [published_scene(tables, wide) for wide in (WIDE, NARROW)]
    return Player(*scenes, stem="published", after=after, table=start)


def published_scene(tables: Mapping[str, Table], wide: int) -> Scene:
    """The picture of ``tables``, ``wide`` pixels wide."""
    names = [name.partition("-")[2].replace(" ", ", ") for name in tables]
    every, sizes = [*tables.values()], [si(size, "B") for size in SIZES]
    scene = Scene(wide, HEIGHT, [
        Dim("table", names, [*tables]), Dim("fits", sizes, sizes, start=len(sizes) - 1),
    ])  # fmt: skip
    scene.menu("table", "published runs", names)
    corners = sorted({*AXIS, *(roof.ridge for roof, _ in every)})
    allowed = [[roof.attainable(x) for roof, _ in every] for x in corners]
    roofs = [Line("roof", "computing", corners, allowed, by="table")]
    panel = Panel("FLOP/s", lambda rate: si(rate, digits=1), roofs, (BELOW, 1.6))
    chart = Chart(scene, [panel], AXIS, "FLOP/byte", panel.write, top=34, bottom=HEIGHT - 46)
    chart.axes()
    _cloud(scene, chart, [runs for _, runs in every])
    chart.lines()
    ridges, peaks = np.transpose([(roof.ridge, roof.peak) for roof, _ in every])
    y, slopes = chart.y[0], peaks / ridges * AXIS[0]
    ridge = By("table", chart.x(ridges)), By("table", y(peaks))
    scene.line([(chart.x.start, By("table", y(slopes))), ridge], "carrying", 2.4, name="memory")
    for words, ink, up in (("above the memory roof", "warn", 34), ("published", "soft", 14)):
        right, foot = chart.x.end, chart.frames[0].bottom - up
        scene.dot(right - 176, foot, "cross", 4.5, fill=ink, name="key")
        scene.text(right - 164, foot + 5, words, size=LETTERS, halo=True, name="key")
    scene.slider("fits", "working set up to")
    scene.says = By("table fits", np.array([_sentences(*table) for table in every], object))
    scene.note(By("table", [_origin(runs) for _, runs in every]))
    return scene


def _cloud(scene: Scene, chart: Chart, tables: Sequence[Sequence[PublishedRun]]) -> None:
    """A cross for each run; tables share their crosses, and one without as many runs hides some."""
    for number in range(max(map(len, tables))):
        places, inks, seen = [], [], []
        for runs in tables:
            run = runs[number] if number < len(runs) else None
            x, y = (run.op.intensity, run.flop_per_s) if run else (np.nan, np.nan)
            ink, opacity = ("warn", 0.9) if run and run.above else ("soft", 0.4)
            fits = np.array(SIZES) >= (run.op.working_set if run else np.inf)
            places.append((chart.x(x), chart.y[0](y)))
            inks.append(ink)
            seen.append(opacity * fits)
        xs, ys = np.transpose(places)
        scene.dot(By("table", xs), By("table", ys), "cross", 3.5, fill=By("table", inks),
                  opacity=By("table fits", seen), name="run")  # fmt: skip


def _sentences(roof: Roofline, runs: Sequence[PublishedRun]) -> list[str]:
    """Say for each of ``SIZES`` how many runs fit, and where those above the memory roof are."""
    sets, above = np.array([(run.op.working_set, run.above) for run in runs]).T
    name, sentences = f"{short(roof.machine)}, {as_dtype('dtype', roof.dtype).family}", []
    for size in SIZES:
        fit, within = (sets <= size).sum(), above[sets <= size].sum()
        beyond = above.sum() - within
        words = (
            f"{name}: {fit} of {several(len(runs), 'published run')} have working sets up to "
            f"{si(size, 'B')}, and {within or 'none'} of these {'lies' if within < 2 else 'lie'} "
            "above the memory roof."
        )
        if fit < len(runs):
            words += f" {beyond or 'None'} of the larger ones {'does' if beyond < 2 else 'do'}."
            if within and not beyond:
                words += f" The L2 cache has {si(roof.machine.capacities['l2'], 'B')}."
        sentences.append(words)
    return sentences


def _origin(runs: Sequence[PublishedRun]) -> str:
    chosen, first = sum(run.chosen for run in runs), runs[0]
    how = f"{len(runs) - chosen} drawn at random"
    how += f", {chosen} above the roof chosen" if chosen else ""
    return f"{how}. {first.conditions}. Source: {first.source}. Roof: datasheet."

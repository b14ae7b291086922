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
INKS = {False: "soft", True: "warn"}
SEEN = {False: 0.4, True: 0.9}  # opacity

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

    Raises
    ------
    ValueError
        For a GPU or a dtype without published runs; it names what there is.

    Examples
    --------
    >>> picture = rl.show.published("h100-sxm")
    >>> picture.fits = "47.5 MB"
    >>> print(picture.sentence.partition(", and ")[2])
    45 of these lie above the memory roof. None of the larger ones does. The L2 cache has 52.4 MB.
    """
    first = _published(gpu, dtype)[0]
    start = f"{first.machine} {as_dtype('dtype', dtype).family}"
    tables = {
        f"{machine} {kind}": (Roofline(machine, FORMATS[kind]), _published(machine, kind))
        for machine, formats in kinds().items() for kind in formats
    }  # fmt: skip
    scenes = [published_scene(tables, wide) for wide in (WIDE, NARROW)]
    return Player(*scenes, stem="published", after=after, table=start)


def published_scene(tables: Mapping[str, Table], wide: int) -> Scene:
    """The picture of ``tables``, ``wide`` pixels wide."""
    names = [name.partition("-")[2].replace(" ", ", ") for name in tables]
    sizes = [si(size, "B") for size in SIZES]
    scene = Scene(wide, HEIGHT, [
        Dim("table", names, [*tables]), Dim("fits", sizes, sizes, start=len(sizes) - 1),
    ])  # fmt: skip
    scene.menu("table", "published runs", names)
    every = [*tables.values()]
    corners = sorted({*AXIS, *(roof.ridge for roof, _ in every)})
    allowed = [[roof.attainable(x) for roof, _ in every] for x in corners]
    panel = Panel(
        "FLOP/s", lambda rate: si(rate, digits=1),
        [Line("roof", "computing", corners, allowed, by="table")], (BELOW, 1.6),
    )  # fmt: skip
    chart = Chart(scene, [panel], AXIS, "FLOP/byte", lambda x: si(x, digits=1), top=34,
                  bottom=HEIGHT - 46)  # fmt: skip
    chart.axes()
    _cloud(scene, chart, [_drawn_last(runs) for _, runs in every])
    chart.lines()
    ridges, peaks = np.transpose([(roof.ridge, roof.peak) for roof, _ in every])
    slopes = peaks / ridges * AXIS[0]
    ends = [(chart.x.start, By("table", chart.y[0](slopes))),
            (By("table", chart.x(ridges)), By("table", chart.y[0](peaks)))]  # fmt: skip
    scene.line(ends, "carrying", 2.4, name="memory roof")
    _key(scene, chart)
    scene.slider("fits", "working set up to")
    scene.says = By("table fits", np.array(
        [sentences(*table) for table in every], object))  # fmt: skip
    scene.note(By("table", [_origin(runs) for _, runs in every]))
    return scene


def _drawn_last(runs: Sequence[PublishedRun]) -> list[PublishedRun]:
    """The runs with those above the roof at the end: they lie on top."""
    return sorted(runs, key=lambda run: (run.above, run.op.working_set))


def _cloud(scene: Scene, chart: Chart, tables: Sequence[Sequence[PublishedRun]]) -> None:
    """A cross for each run; tables share their crosses, and one without as many runs hides some."""
    for number in range(max(map(len, tables))):
        places, inks, seen = [], [], []
        for runs in tables:
            run = runs[number] if number < len(runs) else None
            x, y = (run.op.intensity, run.flop_per_s) if run else (np.nan, np.nan)
            places.append((chart.x(x), chart.y[0](y)))
            inks.append(INKS[bool(run and run.above)])
            fits = np.array(SIZES) >= (run.op.working_set if run else np.inf)
            seen.append(fits * SEEN[bool(run and run.above)])
        xs, ys = np.transpose(places)
        scene.dot(By("table", xs), By("table", ys), "cross", 3.5, fill=By("table", inks),
                  opacity=By("table fits", seen), name="run")  # fmt: skip


def _key(scene: Scene, chart: Chart) -> None:
    """What the crosses are, in the corner under the peak."""
    frame = chart.frames[0]
    for row, (above, words) in enumerate(
        {True: "above the memory roof", False: "published"}.items()
    ):
        y = frame.bottom - 34 + 20 * row
        scene.dot(frame.right - 176, y, "cross", 4.5, fill=INKS[above], name="key")
        scene.text(frame.right - 164, y + 5, words, size=LETTERS, halo=True, name="key")


def sentences(roof: Roofline, runs: Sequence[PublishedRun]) -> list[str]:
    """Say for each of ``SIZES`` how many runs fit into it, and how many beat the memory roof."""
    sets = np.array([run.op.working_set for run in runs])
    above = sets[[run.above for run in runs]]
    cache, name = roof.machine.capacities.get("l2"), f"{short(roof.machine)}, {roof.dtype.family}"
    return [
        _sentence(name, (sets <= size).sum(), len(sets), (above <= size).sum(), len(above), size,
                  cache)
        for size in SIZES
    ]  # fmt: skip


def _sentence(
    name: str, fit: int, every: int, above: int, every_above: int, size: float, cache: float | None
) -> str:
    """Say how many runs fit into ``size`` bytes, and where those above the memory roof are."""
    beyond = every_above - above
    words = (
        f"{name}: {fit} of {several(every, 'published run')} have working sets up to "
        f"{si(size, 'B')}, and {above or 'none'} of these {'lies' if above < 2 else 'lie'} above "
        "the memory roof."
    )
    if fit == every:
        return words
    words += f" {beyond or 'None'} of the larger ones {'does' if beyond < 2 else 'do'}."
    return (
        f"{words} The L2 cache has {si(cache, 'B')}." if cache and above and not beyond else words
    )


def _origin(runs: Sequence[PublishedRun]) -> str:
    chosen = sum(run.chosen for run in runs)
    how = f"{len(runs) - chosen} drawn at random" + (
        f", {chosen} above the roof chosen" if chosen else ""
    )
    return f"{how}. {runs[0].conditions}. Source: {runs[0].source}. Roof: datasheet."

"""The request film: where the time of a language model's step goes, as batch and context slide.

``rl.live.film(model)``. Above, a roofline with one dot for each kind of operation of a decode step
and one for reading the prompt; below, the time of the step over the context. As in every live
picture, all is counted and placed here once, and moves without the kernel.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from rooflab.count.dtypes import DTypeLike, as_dtypes
from rooflab.count.dtypes import dtype as _dtype
from rooflab.count.validation import size
from rooflab.labs.llm.catalogue import model as _model
from rooflab.labs.llm.decode_loop import DecodeRun
from rooflab.labs.llm.film.captions import Captions
from rooflab.labs.llm.film.grid import BATCHES, CONTEXTS, Grid
from rooflab.labs.llm.film.picture import NARROW, WIDE, FilmSheet, Layout
from rooflab.labs.llm.film.runs import as_runs, home
from rooflab.labs.llm.film.tables import FilmTables, lacks, origin
from rooflab.labs.llm.model import Model
from rooflab.predict.machine import Machine
from rooflab.show.rooflines.machine_choices import (
    WELL_KNOWN,
    Offer,
    offers,
    well_known,
    with_figures,
)
from rooflab.show.scene import By, Scene
from rooflab.show.scene.player import Player

USUAL = (
    "nvidia-a100-sxm-80", WELL_KNOWN, "nvidia-h200-sxm", "nvidia-b200", "nvidia-l4",
    "nvidia-rtx-3090", "nvidia-rtx-4090", "amd-mi300x",
)  # fmt: skip


class Film(Player):
    """A film; ``machine``, ``weights``, ``kv``, ``batch`` and ``context`` are where it stands."""

    def __init__(self, tables: FilmTables, start: Mapping[str, int], after: Any = None) -> None:
        self.tables, captions = tables, Captions(tables)
        sheets = (film_scene(captions, layout, start) for layout in (WIDE, NARROW))
        super().__init__(*sheets, stem="film", kind="rl-film", after=after)


def film_scene(captions: Captions, layout: Layout, start: Mapping[str, int]) -> Scene:
    """A film on a sheet, with its choices, sliders and sentence."""
    sheet = FilmSheet(captions, layout, start)
    sheet.draw()
    scene, t = sheet.scene, captions.tables
    first = [next(iter(np.flatnonzero(row)), 0) for row in t.usable]
    wanted = np.where(t.usable, np.arange(t.shape[1]), np.array(first)[:, None])
    scene.menu(
        "machine", "machine",
        [_greyed(one.name, all(no) and no[0]) for one, no in zip(t.offers, t.no)],
        groups=[one.group for one in t.offers], enabled=t.usable.any(1).astype(int).tolist(),
        # One that lacks the format is shown in a format that it has.
        also={"weights": By("machine weights", wanted)},
    )  # fmt: skip
    kinds = [str(kind) for kind in t.grid.weights]
    scene.menu(
        "weights", "weights",
        [By("machine", [_greyed(kind, no[w]) for no in t.no]) for w, kind in enumerate(kinds)],
        enabled=[By("machine", t.usable[:, w]) for w in range(len(kinds))],
    )  # fmt: skip
    scene.menu("kv", "KV cache", [str(kind) for kind in t.grid.kvs])
    scene.slider("batch", "batch, sequences")
    scene.slider("context", "context, tokens")
    scene.says = captions.sentence
    scene.note(By("machine", [origin(offer) for offer in t.offers]))
    return scene


def _greyed(name: str, reason: str | bool) -> str:
    return f"{name} ({reason})" if reason else name


def film(
    model: Model | str,
    machines: Iterable[Machine | str] | Machine | str | None = None,
    *,
    machine: Machine | str | None = None,
    batch: int = 1,
    context: int = 1024,
    weights: DTypeLike | Sequence[DTypeLike] = ("bf16", "int8", "int4"),
    kv: DTypeLike | Sequence[DTypeLike] = ("bf16", "int8"),
    decode_run: DecodeRun | Sequence[DecodeRun] | None = None,
    after: Any = None,
) -> Film:
    """Return the request film of ``model``: what its decode steps move and take, over two sliders.

    The time is the estimate, an operation after the other; the prompt is one as long as the
    context.

    Parameters
    ----------
    model : Model or str
        A Model or a catalogue name.
    machines : Machine, str or iterable of these, optional
        The machines on offer. By default this computer if its roofs are stored, all recordings, and
        well known accelerators. A machine that has no figure for a format is greyed in it.
    machine : Machine or str, optional
        The machine shown first.
    batch : int, optional
        Where its slider starts: at the nearest of its values.
    context : int, optional
        Where its slider starts, likewise; tokens.
    weights : str, DType or sequence of these, optional
        The formats of weights on offer, the first one shown first.
    kv : str, DType or sequence of these, optional
        The formats of the KV cache on offer, the first one shown first.
    decode_run : DecodeRun or sequence of DecodeRun, optional
        Measured on a machine on offer, which is then shown first.
    after : object, optional
        What has to be uncovered first, above all a guess axis, which :func:`rooflab.ask` returned:
        the film stays covered until that guess is placed.

    Returns
    -------
    Film
        A widget; ``sentence`` says what it shows now.

    Examples
    --------
    >>> shown = rl.live.film("llama-2-7b", "h100-sxm", batch=8, context=1000)
    >>> shown.batch, shown.context
    (8, 1024)
    >>> print(shown.sentence.split(":")[0])
    A batch of 8 at context 1024
    """
    shown, formats = _model(model), (as_dtypes("weights", weights), as_dtypes("kv", kv))
    runs = as_runs(decode_run, shown)
    timed = dict.fromkeys(_dtype(run.dtype) for run in runs)
    kinds = [tuple(dict.fromkeys((*timed, *each))) for each in formats]
    grid = Grid(shown, kinds[0], kinds[1])
    offered, first = _on_offer(machines, machine, runs)
    grid = _with_fp32(grid, first)
    tables = FilmTables(grid, offered, runs)
    usable = [
        w
        for w in range(len(grid.weights))
        if not lacks(first.machine, grid.computed[w], first.reason)
    ]
    if not usable:
        raise ValueError(
            f"weights={[str(k) for k in grid.weights]}: {first.name} has a figure for none"
        )
    start = {
        "machine": offered.index(first), "weights": usable[0],
        "batch": _nearest("batch", batch, BATCHES),
        "context": _nearest("context", context, CONTEXTS),
    }  # fmt: skip
    return Film(tables, start, after)


def _nearest(argument: str, value: int, values: Sequence[int]) -> int:
    """The place of the slider value nearest to ``value``, a positive integer."""
    wanted = size(argument, value)
    return min(range(len(values)), key=lambda place: abs(values[place] - wanted))


def _usual() -> list[str]:
    from rooflab.measure.recording import recordings

    return ["this", *recordings(), *USUAL]


def _on_offer(
    machines: Iterable[Machine | str] | Machine | str | None,
    machine: Machine | str | None,
    runs: Sequence[DecodeRun],
) -> tuple[tuple[Offer, ...], Offer]:
    """The machines on offer and the one shown first.

    That is the one asked for, else the one that ``runs`` were measured on, else one well known.
    """
    from rooflab.measure.this_machine import machine_of

    offered = offers(_usual() if machines is None else machines)
    ran = machine_of(runs[:1]) if runs else None
    for one in (ran, machine):  # the last one comes first
        if one is not None:
            mine = offers([one])[0]
            offered = (mine, *(offer for offer in offered if offer.id != mine.id))
    measured = home(runs, offered)
    if machine is not None:
        return offered, offered[0]
    return offered, measured or well_known(with_figures(offered, machines))


def _with_fp32(grid: Grid, first: Offer) -> Grid:
    """Computers that were measured have fp32 only: it joins the formats where it must."""
    fp32, m = _dtype("fp32"), first.machine
    if m is None or any(map(m.has_peak, grid.computed)):
        return grid
    weights, kvs = (dict.fromkeys((fp32, *kinds)) for kinds in (grid.weights, grid.kvs))
    return replace(grid, weights=tuple(weights), kvs=tuple(kvs))

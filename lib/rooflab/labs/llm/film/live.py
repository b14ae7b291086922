"""The request film: where the time of a language model's step goes, as batch and context slide.

``rl.live.film(model)``. Above, a roofline with one dot for each kind of operation of a decode step
and one for reading the prompt; below, the time of the step over the context. As in every live
picture, all is counted and placed here once, and moves without the kernel.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from rooflab.count.dtypes import DTypeLike, as_dtypes
from rooflab.count.dtypes import dtype as _dtype
from rooflab.labs.llm.catalogue import model as _model
from rooflab.labs.llm.decode_loop import DecodeRun
from rooflab.labs.llm.film.captions import Captions
from rooflab.labs.llm.film.grid import BATCHES, CONTEXTS, Grid
from rooflab.labs.llm.film.picture import NARROW, WIDE, FilmSheet, Layout, film_dims
from rooflab.labs.llm.film.tables import FilmTables, ran_on
from rooflab.labs.llm.model import Model
from rooflab.labs.llm.step_time import sixteen_bits
from rooflab.predict.machine import Machine
from rooflab.show.rooflines.live import nearest
from rooflab.show.rooflines.machine_choices import Offer, offers, well_known, with_figures
from rooflab.show.scene import By, Scene, painter
from rooflab.show.scene.player import Player

USUAL = (
    "nvidia-a100-sxm-80", "nvidia-h100-sxm", "nvidia-h200-sxm", "nvidia-b200", "nvidia-l4",
    "nvidia-rtx-3090", "nvidia-rtx-4090", "amd-mi300x",
)  # fmt: skip
FREE = "What a call costs is not known here: counted as nothing."


class Film(Player):
    """A film; ``machine``, ``weights``, ``kv``, ``batch`` and ``context`` are where it stands."""

    def __init__(self, tables: FilmTables, start: Mapping[str, int], after: Any = None) -> None:
        self.tables, captions = tables, Captions(tables)
        sheets = (film_scene(captions, layout, start) for layout in (WIDE, NARROW))
        super().__init__(*sheets, stem="film", kind="rl-film", after=after)

    def drawn(self) -> bytes:
        """The PNG of what it shows, or would show, under what its menus say."""
        places = self.scene.places(**self.state)
        name, *kinds = (dim.stops[places[dim.name]] for dim in self.scene.dims[:3])
        title = "{} · weights {} · KV cache {}".format(name, *kinds)
        return painter.page(self.scene, title, [], **self.state)


def film_scene(captions: Captions, layout: Layout, start: Mapping[str, int]) -> Scene:
    """A film on a sheet, with its choices, sliders and sentence."""
    t = captions.tables
    scene = Scene(layout.width, layout.height, film_dims(t, start))
    FilmSheet(captions, layout, scene).draw()
    wanted = np.where(t.usable, np.arange(t.shape[1]), t.usable.argmax(1)[:, None])
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
    # Where the roofs come from, and what a call is taken to cost.
    known = [one.machine is None or bool(one.machine.routines) for one in t.offers]
    says = [one.says if calls else f"{one.says} {FREE}" for one, calls in zip(t.offers, known)]
    scene.note(By("machine", says))
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
    batch, context : int, optional
        Where the sliders start, at the nearest of their values: sequences, and tokens of each.
    weights, kv : str, DType or sequence of these, optional
        The formats of weights and KV cache on offer, the first ones shown first.
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
    runs = _runs(decode_run, shown)
    offered, first = _on_offer(machines, machine, runs)
    timed = [_dtype(run.dtype) for run in runs]
    computed, m = map(sixteen_bits, (*timed, *formats[0])), first.machine
    if m and not any(map(m.has_peak, computed)):  # computers that were measured have fp32 only
        timed.insert(0, _dtype("fp32"))
    kinds, kvs = (tuple(dict.fromkeys((*timed, *each))) for each in formats)
    batches = tuple(sorted({*BATCHES, *(run.batch for run in runs)}))
    grid = Grid(shown, kinds, kvs, batches)
    tables = FilmTables(grid, offered, runs)
    usable = tables.usable[offered.index(first)]
    if not usable.any():
        raise ValueError(
            f"weights={[str(k) for k in grid.weights]}: {first.name} has a figure for none"
        )
    start = {
        "machine": offered.index(first), "weights": int(usable.argmax()),
        "batch": nearest("batch", batch, batches),
        "context": nearest("context", context, CONTEXTS),
    }  # fmt: skip
    return Film(tables, start, after)


def _on_offer(
    machines: Iterable[Machine | str] | Machine | str | None,
    machine: Machine | str | None,
    runs: Sequence[DecodeRun],
) -> tuple[tuple[Offer, ...], Offer]:
    """The machines on offer, and the one shown first: asked for, else measured, else well known."""
    from rooflab.measure.recording import recordings
    from rooflab.measure.this_machine import machine_of

    offered = offers(["this", *recordings(), *USUAL] if machines is None else machines)
    for one in (machine_of(runs[:1]) if runs else None, machine):  # the last one comes first
        if one is not None:
            mine = offers([one])[0]
            offered = (mine, *(offer for offer in offered if offer.id != mine.id))
    measured = [offer for offer in offered for run in runs[:1] if ran_on(run, offer.machine)]
    if runs and not measured:
        raise ValueError(
            f"decode_run: it ran on {runs[0].machine} with {runs[0].threads} thread(s), and no "
            "machine on offer has those roofs; give machine=rl.this_machine()"
        )
    if machine is not None:
        return offered, offered[0]
    return offered, measured[0] if runs else well_known(with_figures(offered, machines))


def _runs(
    decode_run: DecodeRun | Iterable[DecodeRun] | None, model: Model
) -> tuple[DecodeRun, ...]:
    """``decode_run`` as a tuple of runs, all of ``model``."""
    if decode_run is None:
        return ()
    listed = tuple(decode_run) if isinstance(decode_run, Iterable) else (decode_run,)
    for one in listed:
        if not isinstance(one, DecodeRun):
            raise TypeError(
                f"decode_run={one!r} is no DecodeRun; pass what rl.decode_loop returned"
            )
        if one.model != model:
            raise ValueError(
                f"decode_run: it ran {one.model.name}, and the film is of {model.name}; both must "
                "be of one model"
            )
    return listed

"""The request film: where the time of a language model's step goes, as batch and context slide.

``rl.live.film(model)``. Above, a roofline with one dot for each kind of operation of a decode step
and one for reading the prompt; below, the time of the step over the context. As in every live
picture, all is counted and placed here once, and moves without the kernel.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import anywidget
import ipywidgets
import traitlets

from rooflab.count.dtypes import DType
from rooflab.count.dtypes import dtype as _dtype
from rooflab.count.sizes import size
from rooflab.measure.decode_run import DecodeRun
from rooflab.predict.machine import Machine
from rooflab.predict.workload_catalogue import model as _model
from rooflab.predict.workload_model import Model
from rooflab.show import film_pack, film_runs, film_still, overlay
from rooflab.show.axes import Frame
from rooflab.show.covered import covered
from rooflab.show.film_grid import BATCHES, CONTEXTS, Grid
from rooflab.show.film_now import Now
from rooflab.show.morph_roof import machine_of
from rooflab.show.offers import Offer, offers

COVERED = "Covered until you have placed your guess above."
WELL_KNOWN = "nvidia-h100-sxm"
USUAL = (
    "nvidia-a100-sxm-80", WELL_KNOWN, "nvidia-h200-sxm", "nvidia-b200", "nvidia-l4",
    "nvidia-rtx-3090", "nvidia-rtx-4090", "amd-mi300x",
)  # fmt: skip


class FilmView(anywidget.AnyWidget):
    """The part that moves: choices, roofline, bars, numbers and sentence."""

    _esm = overlay.source(
        "overlay.js", "reading.js", "live_axes.js", "live_roofs.js", "live_names.js",
        "film_pick.js", "film_dots.js", "film_bars.js", "film.js",
    )  # fmt: skip
    _css = overlay.source("live.css", "film.css")
    data = traitlets.Dict().tag(sync=True)
    # Ticks are the browser's own: the kernel need not send them back.
    i = traitlets.Int(0).tag(sync=True, echo_update=False)
    j = traitlets.Int(0).tag(sync=True, echo_update=False)
    machine = traitlets.Unicode().tag(sync=True)
    weights = traitlets.Unicode().tag(sync=True)
    kv = traitlets.Unicode().tag(sync=True)
    covered = traitlets.Bool(False).tag(sync=True)
    #: Ids of the widgets that a drag changes: the kernel hears of them when the hand rests.
    hushed = traitlets.List(traitlets.Unicode()).tag(sync=True)


class Film(ipywidgets.VBox):
    """Sliders for batch and context above, the film below; ``view`` is the part that moves."""

    def __init__(
        self,
        grid: Grid,
        offered: Sequence[Offer],
        start: dict[str, object],
        runs: Sequence[DecodeRun] = (),
        after: Any = None,
    ) -> None:
        self.grid, self.offers, self.runs = grid, tuple(offered), tuple(runs)
        self.frame = film_pack.sheet(grid, self.offers, self.runs)
        data = film_pack.pack(grid, self.offers, self.frame, self.runs) | {"covered": COVERED}
        self.view = FilmView(data=data, covered=bool(after and after.covered), **start)
        self.sliders = [
            _slider("batch", data["sliders"][0]["values"], self.view.i),
            _slider("context", data["sliders"][1]["values"], self.view.j),
        ]
        for letter, slider in zip("ij", self.sliders):
            ipywidgets.jslink((slider, "index"), (self.view, letter))
        if after is not None:
            ipywidgets.jslink((after, "covered"), (self.view, "covered"))
        self.view.hushed = [widget.model_id for widget in (*self.sliders, self.view)]
        super().__init__([*self.sliders, self.view], model_id=overlay.free_model_id("film"))
        for name in ("rooflab-live", "rooflab-film"):
            self.add_class(name)

    @property
    def now(self) -> Now:
        """What the film shows now: the machine, the step and its times."""
        v, names = self.view, ([str(k) for k in self.grid.weights], [str(k) for k in self.grid.kvs])
        offer = next(one for one in self.offers if one.id == v.machine)
        return Now(
            self.grid, offer, names[0].index(v.weights), names[1].index(v.kv), v.i, v.j, self.runs
        )

    @property
    def fitted(self) -> Frame:
        """The axes of the roofline, which fit the machine shown."""
        return film_pack.fitted(self.grid, self.now.offer, self.runs)

    @property
    def sentence(self) -> str:
        """What the film says now (as far as the kernel knows where the sliders stand)."""
        return f"The request film. {COVERED}" if self.view.covered else self.now.sentence

    def still(self) -> bytes:
        """The whole film as it is now, as one PNG."""
        return covered(COVERED) if self.view.covered else self._drawn()

    def _drawn(self) -> bytes:
        return overlay.png(film_still.draw(self.now, self.fitted), transparent=False)

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[dict, dict]:
        live = super()._repr_mimebundle_(**kwargs)
        under = (self._drawn(), self.now.sentence) if self.view.covered else None
        return overlay.mimebundle(live, self.still(), self.sentence, under)


def film(
    model: Model | str,
    machines: Iterable[Machine | str] | Machine | str | None = None,
    *,
    machine: Machine | str | None = None,
    batch: int = 1,
    context: int = 1024,
    weights: Sequence[object] | object = ("bf16", "int8", "int4"),
    kv: Sequence[object] | object = ("bf16", "int8"),
    decode_run: DecodeRun | Sequence[DecodeRun] | None = None,
    after: Any = None,
) -> Film:
    """Return the request film of ``model`` (a Model or a catalogue name).

    ``machines`` on offer (None: this computer if its roofs are stored, all recordings, and well
    known accelerators) and the one shown first, ``machine``. ``batch`` and ``context`` start at
    the nearest slider value; ``weights`` and ``kv`` are the formats on offer, the first one shown
    first. A machine that has no figure for a format is greyed in it.
    ``decode_run``: one or several, measured on a machine on offer, which is then shown first.
    ``after``: a guess axis; the film stays covered until that guess is placed. The time is
    the estimate, an operation after the other; the prompt is one as long as the context.
    """
    if after is not None and not hasattr(after, "covered"):
        raise TypeError(f"after={after!r} is no guess axis; pass what rl.live.guess returned")
    shown, formats = _model(model), (_kinds("weights", weights), _kinds("kv", kv))
    runs = film_runs.as_runs(decode_run, shown)
    timed = dict.fromkeys(_dtype(run.dtype) for run in runs)
    grid = Grid(shown, *(tuple(dict.fromkeys((*timed, *kinds))) for kinds in formats))
    offered, first = _on_offer(machines, machine, runs)
    grid = _with_fp32(grid, first)
    usable = [
        w for w in range(len(grid.weights))
        if not film_pack.lacks(first.machine, grid.computed[w], first.reason)
    ]  # fmt: skip
    if not usable:
        raise ValueError(
            f"weights={[str(k) for k in grid.weights]}: {first.name} has a figure for none"
        )
    start = {
        "i": _nearest("batch", batch, BATCHES), "j": _nearest("context", context, CONTEXTS),
        "machine": first.id, "weights": str(grid.weights[usable[0]]), "kv": str(grid.kvs[0]),
    }  # fmt: skip
    return Film(grid, offered, start, runs, after)


def _usual() -> list[str]:
    from rooflab.measure.recording import recordings

    return ["this", *recordings(), *USUAL]


def _kinds(argument: str, given: Sequence[object] | object) -> tuple[DType, ...]:
    several = given if isinstance(given, (list, tuple)) else [given]
    if not several:
        raise ValueError(f"{argument}={given!r} is empty; give at least one format")
    return tuple(dict.fromkeys(_dtype(kind) for kind in several))


def _on_offer(
    machines: Iterable[Machine | str] | Machine | str | None,
    machine: Machine | str | None,
    runs: Sequence[DecodeRun],
) -> tuple[tuple[Offer, ...], Offer]:
    """The machines on offer and the one shown first.

    That is the one asked for, else the one that ``runs`` were measured on, else one well known.
    """
    offered = offers(_usual() if machines is None else machines)
    ran = machine_of(runs[:1]) if runs else None
    for one in (ran, machine):  # the last one comes first
        if one is not None:
            mine = offers([one])[0]
            offered = (mine, *(offer for offer in offered if offer.id != mine.id))
    measured = film_runs.home(runs, offered)
    if machine is not None:
        return offered, offered[0]
    usable = [offer for offer in offered if offer.machine is not None]
    if not usable:
        raise ValueError(
            f"machines={machines!r}: none has figures; rl.this_machine() measures this one"
        )
    known = [offer for offer in usable if offer.id == WELL_KNOWN]
    return offered, measured or (known or usable)[0]


def _with_fp32(grid: Grid, first: Offer) -> Grid:
    """Computers that were measured have fp32 only: it joins the formats where it must."""
    fp32, m = _dtype("fp32"), first.machine
    if m is None or any(map(m.has_peak, grid.computed)):
        return grid
    weights, kvs = (dict.fromkeys((fp32, *kinds)) for kinds in (grid.weights, grid.kvs))
    return replace(grid, weights=tuple(weights), kvs=tuple(kvs))


def _nearest(argument: str, value: object, values: Sequence[int]) -> int:
    wanted = size(argument, value)
    return min(range(len(values)), key=lambda index: abs(values[index] - wanted))


def _slider(name: str, options: Sequence[str], index: int) -> ipywidgets.SelectionSlider:
    widget = ipywidgets.SelectionSlider(
        options=options, index=index, description=name, continuous_update=True,
        layout=ipywidgets.Layout(width="min(720px, 98%)"),
    )  # fmt: skip
    widget.add_class("rooflab-slider")
    return widget

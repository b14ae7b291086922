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
import numpy as np
import traitlets
from matplotlib import rc_context
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.patches import Rectangle

from rooflab.count.dtypes import DTypeLike, as_dtypes
from rooflab.count.dtypes import dtype as _dtype
from rooflab.labs.llm import film_tables
from rooflab.labs.llm import film_words as says
from rooflab.labs.llm.catalogue import model as _model
from rooflab.labs.llm.decode_loop import DecodeRun
from rooflab.labs.llm.film_tables import (
    BATCHES,
    COLOURS,
    COMPUTE,
    CONTEXTS,
    KINDS,
    PART_WORDS,
    PREFILL,
    WEIGHTS,
    DotKind,
    Grid,
    Now,
    fitting,
)
from rooflab.labs.llm.model import Model
from rooflab.labs.llm.step_time import MIX
from rooflab.predict.machine import Machine
from rooflab.show import canvas, theme
from rooflab.show.canvas import DPI, Frame, dress
from rooflab.show.ceiling_lines import ceilings
from rooflab.show.figures import Picture
from rooflab.show.labels import Crowd, Spot, spots_around
from rooflab.show.live_roofline import nearest, size_slider
from rooflab.show.machine_choices import WELL_KNOWN, Offer, offers, well_known, with_figures
from rooflab.show.roofs import draw_ceilings, label_machine
from rooflab.show.waiting import covered, waiting_sentence

# The request film as one PNG: what a saved notebook keeps of it.


WEIGHTED = [kind for kind in KINDS if kind.part == WEIGHTS]
BARS, ABOVE, SIDE = 250, 26, 330  # pixels of the parts below, above and beside the roofline


def draw(now: Now, frame: Frame) -> Picture:
    """The film as a figure: roofline, bars over context below it, the numbers beside both."""
    wide, high = frame.width + SIDE, frame.height + ABOVE + BARS
    figure = Picture((wide / DPI, high / DPI), dpi=DPI)
    FigureCanvasAgg(figure)
    with rc_context(theme.RC):
        _roofline(figure, now, frame)
        _bars(figure, now, frame.width / wide, BARS / high)
        _beside(figure, now, (frame.width + 18) / wide)
        kinds = f"weights {now.decode.formats.weights}, KV cache {now.decode.formats.kv}"
        title = f"{now.grid.model.name}, {kinds} · {now.offer.name} · {now.machine.provenance}"
        figure.text(8 / wide, 1 - 6 / high, title, va="top", weight="bold")
    figure.words = now.sentence
    return figure


def _roofline(figure: Picture, now: Now, frame: Frame) -> None:
    roofs = ceilings(now.machine, now.roof.dtype, "cold", MIX)
    w, h = frame.width + SIDE, frame.height + ABOVE + BARS
    left, foot = frame.left, frame.bottom + BARS
    size = (frame.width - left - frame.right, frame.height - frame.bottom - frame.top)
    ax = figure.add_axes((left / w, foot / h, size[0] / w, size[1] / h))
    dress(ax, (10**frame.x_lo, 10**frame.x_hi), (10**frame.y_lo, 10**frame.y_hi))
    crowd = Crowd(ax)
    draw_ceilings(crowd, roofs, {"dram"})
    dots = [(kind, x) for kind, _, x in now.kinds()] + [(PREFILL, now.prefill.intensity)]
    for kind, x in sorted(dots, key=lambda dot: -dot[0].scale):
        colour = COLOURS[kind.part]
        ax.plot(x, now.roof.attainable(x), kind.marker, ms=10 * kind.scale, mfc=theme.PAPER,
                mec=colour, mew=2.2, zorder=5)  # fmt: skip
        crowd.add_disc(*crowd.pixel(x, now.roof.attainable(x)), 10)
    for kind in KINDS:
        for x, rate in (one.dots[kind.name] for one in now.timed if kind.name in one.dots):
            ax.plot([x, x], [now.roof.attainable(x), rate], ":", color=COLOURS[kind.part], lw=1.6)
            ax.plot(x, rate, kind.marker, ms=9, color=COLOURS[kind.part], zorder=5)
            crowd.add_line([crowd.pixel(x, rate), crowd.pixel(x, now.roof.attainable(x))])
            crowd.add_disc(*crowd.pixel(x, rate), 9)
    label_machine(crowd, [roofs], {"dram"})
    for names, part, x in _named(dots):
        own = crowd.pixel(x, now.roof.attainable(x))
        crowd.write(
            names,
            spots_around(*own, 13),
            [own],
            color=theme.ink(COLOURS[part]),
            weight="bold",
            zorder=6,
        )


def _named(dots: list[tuple[DotKind, float]]) -> list[tuple[str, str, float]]:
    """(name, part, FLOP/byte) of the dots; those of one part that lie together share a name."""
    found: list[tuple[list[str], str, float]] = []
    for kind, x in sorted(dots, key=lambda dot: -dot[0].scale):
        near = next((one for one in found if one[1] == kind.part and 0.9 < x / one[2] < 1.1), None)
        if near:
            near[0].append(kind.label)
        else:
            found.append(([kind.label], kind.part, x))
    return [
        ("weight products" if len(names) == len(WEIGHTED) else ", ".join(names), part, x)
        for names, part, x in found
    ]


def _bars(figure: Picture, now: Now, width: float, height: float) -> None:
    ax = figure.add_axes((0.075 * width + 0.01, 0.24 * height, 0.89 * width, 0.5 * height))
    contexts, places = now.grid.contexts, range(len(now.grid.contexts))
    stacks = [now.parts(j) for j in places]
    steady = sum(seconds for kind, seconds, _ in now.kinds() if not kind.wide)
    scale = fitting(tallest(stacks, now, steady))
    top = scale["seconds"]
    ax.set(ylim=(0, top), xlim=(-0.6, len(contexts) - 0.4))
    low = np.zeros(len(contexts))
    for part, colour in COLOURS.items():
        tall = np.array([stack[part] for stack in stacks])
        ax.bar(places, tall, 0.74, low, color=colour, label=PART_WORDS[part])
        low += tall
    crowd = Crowd(ax)
    _tears(crowd, low, top)
    ax.bar([now.j], [min(low[now.j], top)], 0.94, fc="none", ec=theme.INK, lw=2)
    if now.crossing:
        _crossing(crowd, now, now.crossing, top)
    _values(crowd, now, min(low[now.j], top), top)
    ax.set_xticks(places[::4])
    ax.set_xticklabels([theme.count(c) for c in contexts[::4]])
    ax.set_yticks([share * top for share, _ in scale["ticks"]], [t for _, t in scale["ticks"]])
    ax.grid(True, axis="y", color=theme.GRID)
    ax.set_axisbelow(True)
    ax.set_xlabel("context, tokens")
    ax.legend(loc="lower left", bbox_to_anchor=(-0.03, 1.1), ncols=4, frameon=False,
              handlelength=0.8, handleheight=0.8, columnspacing=1.2, handletextpad=0.4)  # fmt: skip


def _tears(crowd: Crowd, heights: np.ndarray, top: float) -> None:
    """Tear the bars that are higher than the axis, and keep labels off all of them."""
    for place, height in enumerate(heights):
        crowd.add_line([crowd.pixel(place, 0), crowd.pixel(place, min(height, top))], 10)
        if height > 1.005 * top:
            xs = place + 0.5 * np.linspace(-1, 1, 5)
            ys = top * (0.93 + 0.04 * np.array([-1, 1, -1, 1, -1]))
            crowd.ax.plot(xs, ys, color=theme.PAPER, lw=2.5)


def _crossing(crowd: Crowd, now: Now, at: float, top: float) -> None:
    """Mark the context ``at`` which attention takes as long as all the rest."""
    ax, contexts = crowd.ax, now.grid.contexts
    x = np.interp(np.log(at), np.log(contexts), range(len(contexts)))
    ax.axvline(x, color=theme.INK, ls="--", lw=1.2)
    crowd.add_line([crowd.pixel(x, 0), crowd.pixel(x, top)])
    said = ax.annotate(says.CROSSING.format(context=says.short(at)), (x, top), (-3, 3),
                       textcoords="offset points", size=theme.SMALL,
                       ha="right" if x > len(contexts) / 2 else "left")  # fmt: skip
    box = said.get_window_extent()
    crowd.add_box((box.x0, box.y0, box.x1, box.y1))


def _values(crowd: Crowd, now: Now, height: float, top: float) -> None:
    """Write the time of the bar now, ``height`` seconds high, and what was measured."""
    ax, contexts = crowd.ax, now.grid.contexts
    timed = [(np.interp(np.log(one.context), np.log(contexts), range(len(contexts))),
              min(one.seconds, top), says.seconds(one.seconds)) for one in now.timed]  # fmt: skip
    for x, y, _ in timed:
        ax.plot(x, y, "D", ms=9, mfc=theme.INK, mec=theme.PAPER, clip_on=False)
        crowd.add_disc(*crowd.pixel(x, y), 7)
    middle, upper = crowd.pixel(now.j, height)
    spots = [Spot(middle + dx, upper + up, ha, "bottom")
             for up in (5, 22, 39, 56)
             for dx, ha in ((0, "center"), (-14, "left"), (14, "right"))]  # fmt: skip
    crowd.write(now.values["total"], spots, weight="bold", zorder=6)
    for x, y, value in timed:
        crowd.write(
            says.MEASURED.format(value=value), spots_around(*crowd.pixel(x, y), 12), zorder=6
        )


def tallest(stacks: list[dict[str, float]], now: Now, steady: float) -> float:
    """Seconds that the bars' axis holds: this bar, the crossing, what was measured."""
    here, last = (sum(stacks[j].values()) for j in (now.j, -1))
    return max(1.12 * here, min(2.4 * steady, 1.12 * last), *(1.1 * t.seconds for t in now.timed))


def _beside(figure: Picture, now: Now, left: float) -> None:
    values, line = now.values, 0.045
    figure.text(left, 0.93, values["rate"], size=20, weight="bold", va="top")
    for one in now.timed:
        figure.text(left, 0.874, one.rate, va="top", weight="bold")
    memory = says.SAY["needs" if now.fits is None else "held" if now.fits else "misfit"]
    shown = values | {"need": memory.format(**values)}
    y = 0.825 if now.timed else 0.855
    for key, label in says.FACTS:
        warn = key == "need" and now.fits is False
        figure.text(left, y, label, va="top")
        figure.text(0.985, y, shown[key].replace(": ", ":\n"), va="top", ha="right",
                    weight="bold", color=theme.WARN if warn else theme.INK)  # fmt: skip
        y -= line
    y -= 1.2 * line
    figure.text(left, y, says.HEADING, va="top", weight="bold")
    total = sum(seconds for _, seconds, _ in now.kinds())
    for kind, seconds, x in now.kinds():
        y -= 2.0 * line
        part = COMPUTE if x >= now.roof.ridge else kind.part
        figure.text(left, y + line, kind.label, va="top")
        figure.text(0.985, y + line, says.seconds(seconds), va="top", ha="right", weight="bold")
        figure.text(0.985, y + 0.003, says.LIMITS[part], va="center", ha="right", size=theme.SMALL)
        for share, colour in ((1, "#EFEFEF"), (max(seconds / total, 0.008), COLOURS[part])):
            box = ((left, y - 0.005), 0.44 * (0.985 - left) * share, 0.016)
            figure.patches.append(Rectangle(*box, transform=figure.transFigure, color=colour))


USUAL = (
    "nvidia-a100-sxm-80", WELL_KNOWN, "nvidia-h200-sxm", "nvidia-b200", "nvidia-l4",
    "nvidia-rtx-3090", "nvidia-rtx-4090", "amd-mi300x",
)  # fmt: skip


class FilmView(anywidget.AnyWidget):
    """The part that moves: choices, roofline, bars, numbers and sentence."""

    _esm = canvas.source(
        "overlay.js", "reading.js", "live_axes.js", "live_roofs.js", "live_names.js",
        "film_pick.js", "film_dots.js", "film_bars.js", "film.js", beside=__file__,
    )  # fmt: skip
    _css = canvas.source("live.css", "film.css", beside=__file__)
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


class Film(ipywidgets.VBox):  # type: ignore[misc]  # ipywidgets has no types
    """Sliders for batch and context above, the film below; ``view`` is the part that moves."""

    def __init__(
        self,
        grid: Grid,
        offered: Sequence[Offer],
        start: dict[str, Any],
        runs: Sequence[DecodeRun] = (),
        after: Any = None,
    ) -> None:
        self.grid, self.offers, self.runs = grid, tuple(offered), tuple(runs)
        self.waits = "" if after is None else waiting_sentence((after,))
        self.frame = film_tables.sheet(grid, self.offers, self.runs)
        data = film_tables.pack_film(grid, self.offers, self.frame, self.runs) | {
            "covered": self.waits
        }
        self.view = FilmView(data=data, covered=bool(after and after.covered), **start)
        self.sliders = [
            size_slider("batch", data["sliders"][0]["values"], self.view.i),
            size_slider("context", data["sliders"][1]["values"], self.view.j),
        ]
        for letter, slider in zip("ij", self.sliders):
            ipywidgets.jslink((slider, "index"), (self.view, letter))
        if after is not None:
            ipywidgets.jslink((after, "covered"), (self.view, "covered"))
        self.view.hushed = [widget.model_id for widget in (*self.sliders, self.view)]
        super().__init__([*self.sliders, self.view], model_id=canvas.free_model_id("film"))
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
        return film_tables.fitted(self.grid, self.now.offer, self.runs)

    @property
    def sentence(self) -> str:
        """What the film says now (as far as the kernel knows where the sliders stand)."""
        return f"The request film. {self.waits}" if self.view.covered else self.now.sentence

    def still(self) -> bytes:
        """The whole film as it is now, as one PNG."""
        return covered(self.waits) if self.view.covered else self._drawn()

    def _drawn(self) -> bytes:
        return canvas.png(draw(self.now, self.fitted), transparent=False)

    def _repr_mimebundle_(self, **kwargs: Any) -> canvas.Bundle:
        live = super()._repr_mimebundle_(**kwargs)
        under = (self._drawn(), self.now.sentence) if self.view.covered else None
        return canvas.mimebundle(live, self.still(), self.sentence, under)


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
        A guess axis, which :func:`rooflab.ask` returned: the film stays covered until that guess
        is placed.

    Returns
    -------
    Film
        A widget; ``sentence`` says what it shows now.

    Raises
    ------
    ValueError
        For an unknown model, machine or format, and for a first machine with no figure for any of
        the formats.
    TypeError
        For an argument of a wrong type.

    Examples
    --------
    >>> shown = rl.live.film("llama-2-7b", "h100-sxm", batch=8, context=1000)
    >>> [slider.value for slider in shown.sliders]
    ['8', '1024']
    >>> shown.now.values["rate"]
    '1,520 tokens/s'
    """
    if after is not None and not hasattr(after, "covered"):
        raise TypeError(f"after={after!r} is no guess axis; pass what rl.ask returned")
    shown, formats = _model(model), (as_dtypes("weights", weights), as_dtypes("kv", kv))
    runs = film_tables.as_runs(decode_run, shown)
    timed = dict.fromkeys(_dtype(run.dtype) for run in runs)
    kinds = [tuple(dict.fromkeys((*timed, *each))) for each in formats]
    grid = Grid(shown, kinds[0], kinds[1])
    offered, first = _on_offer(machines, machine, runs)
    grid = _with_fp32(grid, first)
    usable = [
        w for w in range(len(grid.weights))
        if not film_tables.lacks(first.machine, grid.computed[w], first.reason)
    ]  # fmt: skip
    if not usable:
        raise ValueError(
            f"weights={[str(k) for k in grid.weights]}: {first.name} has a figure for none"
        )
    start = {
        "i": nearest("batch", batch, BATCHES), "j": nearest("context", context, CONTEXTS),
        "machine": first.id, "weights": str(grid.weights[usable[0]]), "kv": str(grid.kvs[0]),
    }  # fmt: skip
    return Film(grid, offered, start, runs, after)


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
    measured = film_tables.home(runs, offered)
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

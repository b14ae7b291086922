"""The live roofline and the box: pictures that move in the browser and compute nothing there.

``rl.live.roofline()`` and ``rl.live.box()``. The kernel counts, places and formats everything
once; then sliders and choices work without it: after a restart, in a static page, offline. A
saved notebook keeps one still picture and its sentences.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import anywidget
import ipywidgets
import traitlets
from matplotlib import rc_context
from matplotlib.backends.backend_agg import FigureCanvasAgg

from rooflab.count import blas
from rooflab.count.dtypes import DType, DTypeLike, as_dtypes
from rooflab.count.dtypes import dtype as _dtype
from rooflab.count.operation import Operation
from rooflab.count.validation import size, unknown
from rooflab.predict.estimate import predict
from rooflab.predict.machine import Machine
from rooflab.show import canvas, captions, ceiling_lines, roofs, theme
from rooflab.show.box import BoxView, Solid, of_family
from rooflab.show.canvas import DPI, Frame, empty
from rooflab.show.ceiling_lines import CHOICES, MIX, Ceiling, as_band, ceilings, roof
from rooflab.show.families import Family, batches, families, sizes
from rooflab.show.figures import Picture
from rooflab.show.labels import Crowd
from rooflab.show.machine_choices import Offer, offers, well_known, with_figures
from rooflab.show.points import Point, label_points
from rooflab.show.roofline_figure import draw_marks
from rooflab.show.roofline_tables import Series, Slider, Tables
from rooflab.show.waiting import Cover, awaited, covered
from rooflab.show.waterfall_picture import WaterfallView, link_waterfall, stacked, waterfall_of

if TYPE_CHECKING:
    from rooflab.measure.measurement import Measurement

DTYPES = ("fp64", "fp32", "fp16", "bf16", "fp8_e4m3")
EDGES = tuple(2**e for e in range(15))
SMALLEST = 16  # N: an N×N matrix that lies in any L1
SMALLEST_CALL = 8  # N where the cost of a call is shown: below 64 it decides
_EDGE_WORDS = {
    "M": "rows of A and C",
    "N": "columns of B and C",
    "K": "the edge that is summed over",
}


def roofline(
    machines: Iterable[Machine | str] | Machine | str | None = None,
    *,
    machine: Machine | str | None = None,
    ops: Iterable[str] | str = ("axpy", "gemv", "gemm"),
    dtype: DTypeLike = "fp32",
    dtypes: Sequence[DTypeLike] = DTYPES,
    n: int | None = None,
    batch: int = 1,
    cache: str = "cold",
    measurements: Sequence[Measurement] = (),
    box: bool = False,
    waterfall: bool = False,
    overhead: bool = False,
    band: tuple[float, float] | None = None,
    after: Any = None,
) -> Live:
    """Return the live roofline: sliders for N and the batch, choices for everything else.

    Nothing is measured.

    Parameters
    ----------
    machines : Machine, str or iterable of them, optional
        The machines on offer. None: this computer if its roofs are stored, all recordings, the
        whole catalogue.
    machine : Machine or str, optional
        The one shown first.
    ops : str or iterable of str
        Some of "axpy", "gemv", "gemm". AXPY has N² numbers, as many as the others' N×N matrix.
    dtype : str or DType
        The number type shown first.
    dtypes : sequence of str or DType
        The number types on offer.
    n : int, optional
        N at the start, at the nearest slider value. None: where something was measured, else 1024.
    batch : int
        Vectors that share one matrix, at the nearest slider value.
    cache : {"cold", "warm", "both"}
        "both" splits every dot in two.
    measurements : sequence of Measurement
        They appear on the machine they were taken on; by default none.
    box : bool
        Draw the M×N×K box beside it.
    waterfall : bool
        Draw below it where the time of one operation goes, on the same sliders.
    overhead : bool
        Let N start small and draw FLOP ÷ call time where calls were timed.
    band : (float, float), optional
        Intensities of a thumb rule to shade, in FLOP/byte, e.g. (4, 8).
    after : GuessAxis, SortCards or iterable of them, optional
        What ``rl.ask`` or ``rl.sort`` returned, one or several: all is covered until they are
        uncovered. None covers nothing.

    Returns
    -------
    Live
        A widget; its ``sentence`` says what the picture shows.

    Raises
    ------
    TypeError or ValueError
        Naming the argument; an unknown name gets suggestions.

    Examples
    --------
    >>> live = rl.live.roofline("H100-SXM", ops="gemv")
    >>> print(live.sentence.splitlines()[0].split(". ")[0])
    GEMV 1024×1024 in fp32: 2.10 MFLOP over 4.20 MB is 0.499 FLOP/byte, left of the ridge (20.0)
    """
    things = awaited(after)
    shown = families(ops)
    if cache not in CHOICES:
        raise unknown("cache", cache, CHOICES)
    offered, first = on_offer(machines, machine, measurements)
    smallest = SMALLEST_CALL if overhead else SMALLEST
    first_n = _measured_n(shown, measurements, smallest) if n is None else n
    sliders = _size_sliders(first_n, batch, smallest)
    series = tuple(_series(family, sliders[1].values) for family in shown)
    first_kind = _dtype(dtype)
    kinds, kind = as_dtypes("dtypes", dtypes, first_kind), str(first_kind)
    scene = Tables(sliders, series, kinds, offered, overhead, as_band(band))
    start = {"machine": first.id, "dtype": kind, "cache": cache, "ops": [s.name for s in series]}
    beside = None
    if box:
        beside = _box_view([of_family(family) for family in shown], scene, kind)
    below = waterfall_of(scene, start, beside) if waterfall else None
    return Live(scene, "rooflab-roofline", start, beside, below, things)


def box(
    m: int = 1,
    n: int = 4096,
    k: int = 1,
    dtype: DTypeLike = "fp32",
    *,
    accumulate: bool = False,
    machine: Machine | str | None = None,
    machines: Iterable[Machine | str] | Machine | str | None = None,
    dtypes: Sequence[DTypeLike] = ("fp64", "fp32", "fp16"),
) -> Live:
    """Return the box with sliders for M, N and K, and beside it the roofline its point walks on.

    Nothing is measured.

    Parameters
    ----------
    m : int
        Rows of A and C at the start, at the nearest power of two up to 16 384.
    n : int
        Columns of B and C at the start, at the nearest power of two.
    k : int
        Columns of A, rows of B at the start, at the nearest power of two.
    dtype : str or DType
        The number type shown first.
    accumulate : bool
        C is read as well as written: then the stick M = K = 1 is AXPY.
    machine : Machine or str, optional
        The machine shown first, as in :func:`roofline`.
    machines : Machine, str or iterable of them, optional
        The machines on offer, as in :func:`roofline`.
    dtypes : sequence of str or DType
        The number types on offer.

    Returns
    -------
    Live
        A widget; its ``sentence`` says what the picture shows.

    Raises
    ------
    TypeError or ValueError
        Naming the argument; an unknown name gets suggestions.

    Examples
    --------
    >>> live = rl.live.box(64, 64, 64, machines="H100-SXM")
    >>> print(live.sentence.splitlines()[0].split(". ")[0])
    GEMM 64×64×64 in fp32: 524 kFLOP over 49.2 kB is 10.67 FLOP/byte, left of the ridge (20.0)
    """

    sliders = tuple(
        Slider(name, f"{name}, {_EDGE_WORDS[name]}", EDGES, nearest(name.lower(), value, EDGES))
        for name, value in zip("MNK", (m, n, k))
    )
    faces = (
        ("A", "a"),
        ("B", "b"),
        ("C: counted twice, read and written" if accumulate else "C", "c"),
    )
    offer = on_offer(machines, machine, ())
    return product_box("box", "product", sliders, faces, (dtypes, dtype), offer, accumulate)


def product_box(
    stem: str,
    label: str,
    sliders: tuple[Slider, ...],
    faces: tuple[tuple[str, str], ...],
    types: tuple[Sequence[DTypeLike], DTypeLike],
    offer: tuple[tuple[Offer, ...], Offer],
    accumulate: bool = False,
    letters: tuple[str, str, str] = ("A", "B", "C"),
    mix: str = MIX,
    after: Sequence[Any] = (),
) -> Live:
    """The box of one product whose three edges are ``sliders``, with its roofline."""

    def build(m: int, n: int, k: int, kind: DTypeLike) -> Operation:
        return blas.gemm(m, n, k, kind, accumulate=accumulate)

    unsaid = [""] * len(sliders[1].values)
    series = Series("gemm", "GEMM", build, unsaid, unsaid, spread=True, estimated=False)
    (offered, first), first_kind = offer, _dtype(types[1])
    scene = Tables(sliders, (series,), as_dtypes("dtypes", types[0], first_kind), offered, mix=mix)
    kind = str(first_kind)
    start = {"machine": first.id, "dtype": kind, "ops": ["gemm"]}
    solid = Solid("gemm", label, build, lambda *edges: edges, faces, letters=letters)
    beside = _box_view([solid], scene, kind)
    return Live(scene, f"rooflab-{stem}", start, beside, after=after)


def _measured_n(shown: Sequence[Family], measurements: Sequence[Measurement], smallest: int) -> int:
    """The largest N at which an operation shown was measured; 1024 if none was."""
    timed = {(m.op.name, *m.op.dims.values()) for m in measurements if m.op.batch == 1}

    def is_timed(n: int) -> bool:
        ops = (family.build(n, 1, "fp32") for family in shown)
        return any((op.name, *op.dims.values()) in timed for op in ops)

    return max((n for n in sizes(smallest) if timed and is_timed(n)), default=1024)


def _size_sliders(n: int, batch: int, smallest: int) -> tuple[Slider, Slider, Slider]:
    every_n, every_batch = sizes(smallest), batches()
    said = "batch, vectors that share one matrix"
    return (
        Slider("N", "N, the matrix size", every_n, nearest("n", n, every_n)),
        Slider("batch", said, every_batch, nearest("batch", batch, every_batch)),
        Slider(
            "", "", (1,), 0
        ),  # pictures have three sliders; one with a single value is not shown
    )


def _box_view(solids: Sequence[Solid], scene: Tables, kind: str) -> BoxView:
    start = {letter: slider.start for letter, slider in zip("ijk", scene.sliders)}
    return BoxView(solids, scene.sliders, scene.dtypes, dtype=kind, op=solids[-1].name, **start)


def _series(family: Family, every_batch: Sequence[int]) -> Series:
    moves = family.spread
    return Series(
        family.name,
        family.label,
        lambda n, batch, _, kind: family.build(n, batch, kind),
        [f"{family.label} ×{b}" if moves and b > 1 else family.label for b in every_batch],
        [family.why.replace("{batch}", str(b)) if b > 1 else "" for b in every_batch],
        moves,
    )


def nearest(argument: str, value: int, values: Sequence[int]) -> int:
    """Return the index of the slider value nearest to ``value``, a positive integer."""
    wanted = size(argument, value)
    return min(range(len(values)), key=lambda index: abs(values[index] - wanted))


def on_offer(
    machines: Iterable[Machine | str] | Machine | str | None,
    machine: Machine | str | None,
    measurements: Sequence[Measurement],
) -> tuple[tuple[Offer, ...], Offer]:
    """Return the machines on offer and the one shown first.

    First comes the one asked for, else this computer, else a recording, else one well known.
    """
    offered = offers(machines, measurements)
    if machine is not None:
        first = offers([machine], measurements)[0]
        if first.id not in {offer.id for offer in offered}:
            offered = (first, *offered)
        return offered, first
    usable = with_figures(offered, machines)
    here = (offer for offer in usable if offer.known.origin == "measured")
    return offered, next(here, None) or well_known(usable)


# The still picture of a live roofline: what a saved notebook, a printer or GitHub shows.


def still(scene: Tables, view: Overlay, box: BoxView | None = None) -> Picture:
    """Draw what ``view`` shows now of ``scene`` (and its ``box``); the picture has its
    ``words``."""
    offer = next((one for one in scene.offers if one.id == view.machine), scene.offers[0])
    frame, beside = scene.frame_of(offer, view.decades), 0 if box is None else box.width
    extra = 26  # a line above the axes for the machine's name
    figure = Picture(((frame.width + beside) / DPI, (frame.height + extra) / DPI), dpi=DPI)
    FigureCanvasAgg(figure)
    points = _points(scene, view, offer)
    with rc_context(theme.RC):
        ax = empty(figure, frame, beside, extra)
        crowd, drawn = Crowd(ax), _ceilings(scene, offer, view)
        lines = _call_lines(scene, view, offer) if drawn else {}
        if drawn:
            active = {_level(offer, p.side or view.cache, p.operation) for p in points}
            roofs.draw_ceilings(crowd, drawn, active)
            inside = [p for p in points if not _below(p, frame)]
            draw_marks(crowd, inside, lines)
            roofs.draw_band(crowd, scene.band)
            roofs.label_machine(crowd, [drawn], active)
            label_points(crowd, inside)
            roofs.label_overhead(crowd, lines)
        else:
            roofs.draw_band(crowd, scene.band)
        figure.text(
            8 / DPI / figure.get_figwidth(), 1 - 6 / DPI / figure.get_figheight(),
            f"{offer.name} · {view.dtype} · "
            f"{offer.machine.provenance if offer.machine else offer.reason}",
            va="top", weight="bold",
        )  # fmt: skip
        if box is not None:
            box.paint(figure, frame.width)
    figure.words = _words(scene, view, offer, points, frame)
    if box is not None:
        figure.words += "\n" + box.sentence
    return figure


def _shown(scene: Tables, view: Overlay) -> list[tuple[Series, Operation]]:
    at = (view.i, view.j, view.k)
    m, n, k = (slider.values[index] for slider, index in zip(scene.sliders, at))
    return [
        (series, series.build(m, n, k, _kind(scene, view)))
        for series in scene.series
        if series.name in view.ops
    ]


def _kind(scene: Tables, view: Overlay) -> DType:
    return next(kind for kind in scene.dtypes if str(kind) == view.dtype)


def _lacks(offer: Offer, view: Overlay) -> str:
    """What is missing for any roof, in a few words, or ""."""
    if offer.machine is None:
        return offer.reason
    return ceiling_lines.missing(offer.machine, view.dtype, "cold")


def _ceilings(scene: Tables, offer: Offer, view: Overlay) -> tuple[Ceiling, ...]:
    if _lacks(offer, view):
        return ()
    side = ceiling_lines.last(offer.known, view.dtype, view.cache)
    return ceilings(offer.known, view.dtype, side, scene.mix)


def _level(offer: Offer, side: str, op: Operation) -> str:
    return ceiling_lines.home(op, offer.known, side)


def _sides(offer: Offer, view: Overlay) -> tuple[str, ...]:
    return ceiling_lines.sides(offer.known, view.dtype, view.cache)


def _call_lines(
    scene: Tables, view: Overlay, offer: Offer
) -> dict[tuple[str, str], ceiling_lines.CallLine]:
    """Overhead lines of the operations shown, each with its batch."""
    if not (scene.overhead and offer.known.routines):
        return {}
    batch, kind = scene.sliders[1].values[view.j], _kind(scene, view)
    side = ceiling_lines.last(offer.known, kind, view.cache)
    lines = {
        (s.name, view.dtype): ceiling_lines.call_line(
            partial(_one_of, s, batch, kind), offer.known, side
        )
        for s in scene.series
        if s.name in view.ops and s.estimated
    }
    return {key: line for key, line in lines.items() if line}


def _one_of(series: Series, batch: int, kind: DType, n: int) -> Operation:
    return series.build(n, batch, 1, kind)


def _points(scene: Tables, view: Overlay, offer: Offer) -> list[Point]:
    points: list[Point] = []
    if _lacks(offer, view):
        return points
    shown = _sides(offer, view)
    if len(shown) > 1:
        split = (
            _split(scene, view, offer, series, op, side)
            for series, op in _shown(scene, view)
            for side in shown
        )
        return list(split)
    (side,) = shown
    for series, op in _shown(scene, view):
        roofline = roof(offer.known, view.dtype, _level(offer, side, op), scene.mix)
        allowed = roofline.attainable(op.intensity)
        tag = series.tags[view.j]
        points.append(Point(op, allowed, "bound", tag, allowed))
        if offer.known.routines and series.estimated and view.j == 0:
            seconds = predict(op, offer.known, cache=side).seconds
            points.append(Point(op, op.flops / seconds, "predicted", tag, allowed))
        points += [
            Point(op, m.flop_per_s, "measured", tag, allowed)
            for m in offer.measurements
            if m.op.label == op.label and m.cache == side
        ]
    return points


def _split(
    scene: Tables, view: Overlay, offer: Offer, series: Series, op: Operation, side: str
) -> Point:
    """What is best known of one side: measured, else predicted, else what its roof allows."""
    bound = roof(offer.known, view.dtype, _level(offer, side, op), scene.mix).attainable(
        op.intensity
    )
    rate, kind = bound, "bound"
    if offer.known.routines and series.estimated and view.j == 0:
        rate, kind = op.flops / predict(op, offer.known, cache=side).seconds, "predicted"
    for m in offer.measurements:
        if m.op.label == op.label and m.cache == side:
            rate, kind = m.flop_per_s, "measured"
            break
    note = ceiling_lines.mark(op, rate, offer.known) if side == "warm" else ""
    return Point(op, rate, kind, series.tags[view.j], bound, side, note)


def _below(point: Point, frame: Frame) -> bool:
    """Whether ``point`` lies below the axes; it is then said and not drawn."""
    return point.rate < 10**frame.y_lo


def _said(point: Point, cache: str) -> str:
    if point.kind == "predicted":
        return captions.predicted(point.rate)
    return captions.measured(point.rate, point.allowed or point.rate, cache)


def _words(scene: Tables, view: Overlay, offer: Offer, points: list[Point], frame: Frame) -> str:
    said = []
    for series, op in _shown(scene, view):
        mine = [p for p in points if p.operation.label == op.label]
        if not mine:
            said.append(captions.count(op))
            continue
        if mine[0].side:
            told = (_side_words(scene, offer, p, p.side, frame) for p in mine if p.side)
            line = captions.count(op) + "".join(told)
        else:
            line = _one_side(scene, view, offer, op, mine, frame)
        reason = series.why[view.j]
        said.append(
            f"{line} {reason}".replace("{n}", str(scene.sliders[0].values[view.i])).rstrip()
        )
    lacks = "" if offer.machine is None else _lacks(offer, view)
    why = f"{offer.name}: {lacks}, so there is no roof to draw." if lacks else ""
    return "\n".join(filter(None, [*said, why, ceiling_lines.band_words(scene.band), offer.says]))


def _one_side(
    scene: Tables, view: Overlay, offer: Offer, op: Operation, points: list[Point], frame: Frame
) -> str:
    (side,), mine = _sides(offer, view), {p.kind: p for p in points}
    line = captions.bound(op, roof(offer.known, view.dtype, _level(offer, side, op), scene.mix))
    for kind in ("predicted", "measured"):
        if kind in mine:
            below = _below(mine[kind], frame)
            line += (
                captions.outside(kind.capitalize(), mine[kind].rate)
                if below
                else _said(mine[kind], side)
            ) + _call(scene, offer, mine[kind], side)
    return line


def _side_words(scene: Tables, offer: Offer, p: Point, side: str, frame: Frame) -> str:
    if _below(p, frame):
        line = ceiling_lines.outside(side, p.kind, p.rate)
    else:
        level = _level(offer, side, p.operation)
        line = ceiling_lines.sides_words(
            side,
            p.kind,
            p.operation,
            p.rate,
            roof(offer.known, p.operation.compute_dtype, level, scene.mix),
        )
    trap = ceiling_lines.trap(p.operation, p.rate, offer.known) if side == "warm" else ""
    return line + trap + _call(scene, offer, p, side)


def _call(scene: Tables, offer: Offer, p: Point, side: str) -> str:
    """The cost of the call, where it is most of a predicted time and its line is drawn."""
    if not scene.overhead or p.kind != "predicted":
        return ""
    return ceiling_lines.overhead_words(p.operation, offer.known, side)


class Overlay(anywidget.AnyWidget):
    """The picture itself: axes, roofs, markers and sentences."""

    _esm = canvas.source(
        "overlay.js", "reading.js", "live_choice.js", "live_controls.js", "live_roofs.js",
        "live_names.js", "live_axes.js", "live_dots.js", "live.js",
    )  # fmt: skip
    _css = canvas.source("live.css")
    data = traitlets.Dict().tag(sync=True)
    # Ticks are the browser's own: the kernel need not send them back.
    i = traitlets.Int(0).tag(sync=True, echo_update=False)
    j = traitlets.Int(0).tag(sync=True, echo_update=False)
    k = traitlets.Int(0).tag(sync=True, echo_update=False)
    machine = traitlets.Unicode().tag(sync=True)
    dtype = traitlets.Unicode().tag(sync=True)
    cache = traitlets.Unicode("cold").tag(sync=True)
    ops = traitlets.List(traitlets.Unicode()).tag(sync=True)
    #: Decades of FLOP/s, lowest and highest, to which the axes are locked; none: they fit.
    decades = traitlets.List(traitlets.Float(), maxlen=2).tag(sync=True)
    #: Ids of the widgets that a drag changes: the kernel hears of them when the hand rests.
    hushed = traitlets.List(traitlets.Unicode()).tag(sync=True)


class Live(ipywidgets.VBox):  # type: ignore[misc]  # ipywidgets has no types
    """Sliders above, pictures below, tied together in the browser.

    ``view`` is the roofline's :class:`Overlay`: its ``machine``, ``dtype``, ``cache`` and ``ops``
    can be read and set from Python; ``sliders`` are ordinary ipywidgets. ``after``: guess axes or
    sortings; until all of them are uncovered, one sentence is shown and nothing else.
    """

    def __init__(
        self,
        scene: Tables,
        stem: str,
        start: Mapping[str, Any],
        box: BoxView | None = None,
        waterfall: WaterfallView | None = None,
        after: Sequence[Any] = (),
    ) -> None:
        self.scene, self.cover = scene, Cover(after) if after else None
        self.sliders = [size_slider(s.name, s.options, s.start) for s in scene.sliders if s.options]
        self.view = Overlay(
            data=scene.pack(),
            **{letter: slider.start for letter, slider in zip("ijk", scene.sliders)},
            **start,
        )
        self.box, self.waterfall = box, waterfall
        pictures = [self.view] if box is None else [box, self.view]
        for letter, slider in zip("ijk", self.sliders):
            for picture in pictures:
                ipywidgets.jslink((slider, "index"), (picture, letter))
        if box is not None:
            ipywidgets.jslink((self.view, "dtype"), (box, "dtype"))
        below = [] if waterfall is None else [waterfall]
        if waterfall is not None:
            link_waterfall(waterfall, self.sliders, self.view, box)
        moving = (*self.sliders, *pictures, *below)
        self.view.hushed = [widget.model_id for widget in moving]
        wide = "1100px" if box is None else "752px"  # beside the box the picture is at its own size
        self.view.layout = ipywidgets.Layout(flex="3 1 480px", max_width=wide, margin="0")
        row = ipywidgets.HBox(
            pictures, layout=ipywidgets.Layout(flex_flow="row wrap", grid_gap="8px")
        )
        over = [] if self.cover is None else [self.cover]
        super().__init__([*over, *self.sliders, row, *below], model_id=canvas.free_model_id(stem))
        self.add_class("rooflab-live")
        if box is None:
            self.add_class("rl-alone")

    @property
    def covered(self) -> bool:
        """Whether it still waits for a guess."""
        return self.cover is not None and self.cover.covered

    @property
    def sentence(self) -> str:
        """What the picture shows now, in words, or what it waits for."""
        if self.cover is not None and self.cover.covered:
            return str(self.cover.sentence)
        return self._said(still(self.scene, self.view, self.box).words)

    def _said(self, words: str) -> str:
        return words if self.waterfall is None else f"{words}\n{self.waterfall.words}"

    def _repr_mimebundle_(self, **kwargs: Any) -> canvas.Bundle:
        picture = still(self.scene, self.view, self.box)
        below = self.waterfall and self.waterfall.picture()
        words, live = self._said(picture.words), super()._repr_mimebundle_(**kwargs)
        png, cut = canvas.png(picture, transparent=False), None
        if below:
            png = stacked([picture, below])
            cut = picture.get_figheight() / (picture.get_figheight() + below.get_figheight())
        if self.cover is None or not self.cover.covered:
            return canvas.mimebundle(live, png, words, cut=cut)
        over, under = self.cover.sentence, (png, "The live roofline, uncovered.")
        return canvas.mimebundle(live, covered(over), over, under, cut)


def size_slider(
    name: str, options: Sequence[str | tuple[str, int]], index: int
) -> ipywidgets.SelectionSlider:
    """A slider as wide as a picture; ``options``: texts, or texts with their values."""
    widget = ipywidgets.SelectionSlider(
        options=options, index=index, description=name, continuous_update=True,
        layout=ipywidgets.Layout(width="min(720px, 98%)"),
    )  # fmt: skip
    widget.add_class("rooflab-slider")
    return widget

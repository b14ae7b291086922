"""The widget: sliders and pictures, tied together in the browser."""

from __future__ import annotations

from collections.abc import Sequence

import anywidget
import ipywidgets
import traitlets
from matplotlib import rc_context
from matplotlib.backends.backend_agg import FigureCanvasAgg

from rooflab.predict.estimate import predict
from rooflab.show import canvas, captions, ceiling_lines, theme
from rooflab.show.canvas import DPI, Frame, empty
from rooflab.show.ceiling_lines import ceilings, label_machine, roof
from rooflab.show.labels import Crowd
from rooflab.show.machine_choices import Offer
from rooflab.show.roofline_figure import (
    Picture,
    Point,
    draw_ceilings,
    draw_points,
    draw_splits,
    label_points,
    legend,
)
from rooflab.show.scene import Scene, Slider
from rooflab.show.waiting import Cover, covered
from rooflab.show.waterfall_picture import link_waterfall, stacked

# The still picture of a live roofline: what a saved notebook, a printer or GitHub shows.


def still(scene, view, box=None) -> Picture:
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
        legend(crowd, points, lines.values())
        if drawn:
            active = {_level(offer, p.side or view.cache, p.op) for p in points}
            draw_ceilings(crowd, drawn, active)
            inside = [p for p in points if not _below(p, frame)]
            draw_splits(crowd, inside)
            draw_points(crowd, inside)
            ceiling_lines.draw_overhead(crowd, lines)
            ceiling_lines.draw_band(crowd, scene.band)
            label_machine(crowd, [drawn], active)
            label_points(crowd, inside)
        else:
            ceiling_lines.draw_band(crowd, scene.band)
        figure.text(
            8 / DPI / figure.get_figwidth(), 1 - 6 / DPI / figure.get_figheight(),
            f"{offer.name} · {view.dtype} · "
            f"{offer.machine.provenance if offer.machine else offer.reason}",
            va="top", weight="bold",
        )  # fmt: skip
        if box is not None:
            box.draw(figure, frame.width)
    figure.words = _words(scene, view, offer, points, frame)
    if box is not None:
        figure.words += "\n" + box.sentence
    return figure


def _shown(scene, view) -> list:
    values = [s.values[index] for s, index in zip(scene.sliders, (view.i, view.j, view.k))]
    return [
        (series, series.build(*values, _kind(scene, view)))
        for series in scene.series
        if series.name in view.ops
    ]


def _kind(scene, view):
    return next(kind for kind in scene.dtypes if str(kind) == view.dtype)


def _ceilings(scene, offer: Offer, view) -> tuple:
    try:
        side = ceiling_lines.last(offer.machine, view.dtype, view.cache)
        return ceilings(offer.machine, view.dtype, side, scene.mix) if offer.machine else ()
    except ValueError:
        return ()  # the figure is missing; the words give the reason


def _level(offer: Offer, side: str, op) -> str:
    return ceiling_lines.home(op, offer.machine, side)


def _sides(offer: Offer, view) -> tuple[str, ...]:
    return ceiling_lines.sides(offer.machine, view.dtype, view.cache)


def _call_lines(scene, view, offer: Offer) -> dict[tuple[str, str], ceiling_lines.CallLine]:
    """Overhead lines of the operations shown, each with its batch."""
    if not (scene.overhead and offer.machine.routines):
        return {}
    batch, kind = scene.sliders[1].values[view.j], _kind(scene, view)
    side = ceiling_lines.last(offer.machine, kind, view.cache)
    lines = {
        (s.name, view.dtype): ceiling_lines.call_line(
            lambda n, s=s: s.build(n, batch, 1, kind), offer.machine, side
        )
        for s in scene.series
        if s.name in view.ops and s.estimated
    }
    return {key: line for key, line in lines.items() if line}


def _points(scene, view, offer: Offer) -> list[Point]:
    points = []
    if not _ceilings(scene, offer, view):
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
        roofline = roof(offer.machine, view.dtype, _level(offer, side, op), scene.mix)
        allowed = roofline.attainable(op.intensity)
        tag = series.tags[view.j]
        points.append(Point(op, allowed, "bound", tag, allowed))
        if offer.machine.routines and series.estimated and view.j == 0:
            seconds = predict(op, offer.machine, cache=side).seconds
            points.append(Point(op, op.flops / seconds, "predicted", tag, allowed))
        points += [
            Point(op, m.flop_per_s, "measured", tag, allowed)
            for m in offer.measurements
            if m.op.label == op.label and m.cache == side
        ]
    return points


def _split(scene, view, offer: Offer, series, op, side: str) -> Point:
    """What is best known of one side: measured, else predicted, else what its roof allows."""
    bound = roof(offer.machine, view.dtype, _level(offer, side, op), scene.mix).attainable(
        op.intensity
    )
    rate, kind = bound, "bound"
    if offer.machine.routines and series.estimated and view.j == 0:
        rate, kind = op.flops / predict(op, offer.machine, cache=side).seconds, "predicted"
    for m in offer.measurements:
        if m.op.label == op.label and m.cache == side:
            rate, kind = m.flop_per_s, "measured"
            break
    note = ceiling_lines.mark(op, rate, offer.machine) if side == "warm" else ""
    return Point(op, rate, kind, series.tags[view.j], bound, side, note)


def _below(point: Point, frame: Frame) -> bool:
    """Whether ``point`` lies below the axes; it is then said and not drawn."""
    return point.rate < 10**frame.y_lo


def _said(point: Point, cache: str) -> str:
    if point.kind == "predicted":
        return captions.predicted(point.rate)
    return captions.measured(point.rate, point.allowed, cache)


def _words(scene, view, offer: Offer, points: list[Point], frame: Frame) -> str:
    said = []
    for series, op in _shown(scene, view):
        mine = [p for p in points if p.op.label == op.label]
        if not mine:
            said.append(captions.count(op))
            continue
        if mine[0].side:
            line = captions.count(op) + "".join(_side_words(scene, offer, p, frame) for p in mine)
        else:
            line = _one_side(scene, view, offer, op, mine, frame)
        reason = series.why[view.j]
        said.append(
            f"{line} {reason}".replace("{n}", str(scene.sliders[0].values[view.i])).rstrip()
        )
    return "\n".join(filter(None, [*said, ceiling_lines.band_words(scene.band), offer.says]))


def _one_side(scene, view, offer: Offer, op, points: list[Point], frame: Frame) -> str:
    (side,), mine = _sides(offer, view), {p.kind: p for p in points}
    line = captions.bound(op, roof(offer.machine, view.dtype, _level(offer, side, op), scene.mix))
    for kind in ("predicted", "measured"):
        if kind in mine:
            below = _below(mine[kind], frame)
            line += (
                captions.outside(kind.capitalize(), mine[kind].rate)
                if below
                else _said(mine[kind], side)
            ) + _call(scene, offer, mine[kind], side)
    return line


def _side_words(scene, offer: Offer, p: Point, frame: Frame) -> str:
    if _below(p, frame):
        line = ceiling_lines.outside(p.side, p.kind, p.rate)
    else:
        level = _level(offer, p.side, p.op)
        line = ceiling_lines.sides_words(
            p.side, p.kind, p.op, p.rate, roof(offer.machine, p.op.compute_dtype, level, scene.mix)
        )
    trap = ceiling_lines.trap(p.op, p.rate, offer.machine) if p.side == "warm" else ""
    return line + trap + _call(scene, offer, p, p.side)


def _call(scene, offer: Offer, p: Point, side: str) -> str:
    """The cost of the call, where it is most of a predicted time and its line is drawn."""
    if not scene.overhead or p.kind != "predicted":
        return ""
    return ceiling_lines.overhead_words(p.op, offer.machine, side)


class Overlay(anywidget.AnyWidget):
    """The picture itself: axes, roofs, markers and sentences."""

    _esm = canvas.source(
        "overlay.js", "reading.js", "live_chosen.js", "live_controls.js", "live_roofs.js",
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


class Live(ipywidgets.VBox):
    """Sliders above, pictures below, tied together in the browser.

    ``view`` is the roofline's :class:`Overlay`: its ``machine``, ``dtype``, ``cache`` and ``ops``
    can be read and set from Python; ``sliders`` are ordinary ipywidgets. ``after``: guess axes or
    sortings; until all of them are uncovered, one sentence is shown and nothing else.
    """

    def __init__(
        self,
        scene: Scene,
        stem: str,
        start: dict[str, object],
        box=None,
        waterfall=None,
        after: Sequence[object] = (),
    ) -> None:
        self.scene, self.cover = scene, Cover(after) if after else None
        self.sliders = [_slider(slider) for slider in scene.sliders if len(slider.values) > 1]
        self.view = Overlay(
            data=scene.pack(),
            **{letter: slider.start for letter, slider in zip("ijk", scene.sliders)},
            **start,
        )
        self.box, self.waterfall = box, waterfall
        pictures = [self.view] if box is None else [self.view, box]
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
        if self.covered:
            return self.cover.sentence
        return self._said(still(self.scene, self.view, self.box).words)

    def _said(self, words: str) -> str:
        return words if self.waterfall is None else f"{words}\n{self.waterfall.sentence}"

    def _repr_mimebundle_(self, **kwargs: object) -> tuple[dict, dict]:
        picture = still(self.scene, self.view, self.box)
        below = self.waterfall and self.waterfall.picture(round(picture.get_figwidth() * DPI))
        words, live = self._said(picture.words), super()._repr_mimebundle_(**kwargs)
        png, cut = canvas.png(picture, transparent=False), None
        if below:
            png = stacked([picture, below])
            cut = picture.get_figheight() / (picture.get_figheight() + below.get_figheight())
        if not self.covered:
            return canvas.mimebundle(live, png, words, cut=cut)
        over, under = self.cover.sentence, (png, "The live roofline, uncovered.")
        return canvas.mimebundle(live, covered(over), over, under, cut)


def _slider(slider: Slider) -> ipywidgets.SelectionSlider:
    widget = ipywidgets.SelectionSlider(
        options=[(str(value), value) for value in slider.values],
        index=slider.start,
        description=slider.name,
        continuous_update=True,
        layout=ipywidgets.Layout(width="min(720px, 98%)"),
    )
    widget.add_class("rooflab-slider")
    return widget

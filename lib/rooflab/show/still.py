"""The still picture of a live roofline: what a saved notebook, a printer or GitHub shows."""

from __future__ import annotations

from matplotlib import rc_context
from matplotlib.backends.backend_agg import FigureCanvasAgg

from rooflab.predict.estimate import predict
from rooflab.show import calls, sides, theme, thumb, words
from rooflab.show.axes import DPI, Frame, empty
from rooflab.show.drawing import (
    Picture,
    Point,
    draw_ceilings,
    draw_points,
    draw_splits,
    label_points,
)
from rooflab.show.labels import Crowd
from rooflab.show.legend import legend
from rooflab.show.offers import Offer
from rooflab.show.polylines import ceilings, roof
from rooflab.show.roof_labels import label_machine


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
            calls.draw(crowd, lines)
            thumb.draw(crowd, scene.band)
            label_machine(crowd, [drawn], active)
            label_points(crowd, inside)
        else:
            thumb.draw(crowd, scene.band)
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
        side = sides.last(offer.machine, view.dtype, view.cache)
        return ceilings(offer.machine, view.dtype, side, scene.mix) if offer.machine else ()
    except ValueError:
        return ()  # the figure is missing; the words give the reason


def _level(offer: Offer, side: str, op) -> str:
    return sides.home(op, offer.machine, side)


def _sides(offer: Offer, view) -> tuple[str, ...]:
    return sides.sides(offer.machine, view.dtype, view.cache)


def _call_lines(scene, view, offer: Offer) -> dict[tuple[str, str], calls.CallLine]:
    """Overhead lines of the operations shown, each with its batch."""
    if not (scene.overhead and offer.machine.routines):
        return {}
    batch, kind = scene.sliders[1].values[view.j], _kind(scene, view)
    side = sides.last(offer.machine, kind, view.cache)
    lines = {
        (s.name, view.dtype): calls.call_line(
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
    note = sides.mark(op, rate, offer.machine) if side == "warm" else ""
    return Point(op, rate, kind, series.tags[view.j], bound, side, note)


def _below(point: Point, frame: Frame) -> bool:
    """Whether ``point`` lies below the axes; it is then said and not drawn."""
    return point.rate < 10**frame.y_lo


def _said(point: Point, cache: str) -> str:
    if point.kind == "predicted":
        return words.predicted(point.rate)
    return words.measured(point.rate, point.allowed, cache)


def _words(scene, view, offer: Offer, points: list[Point], frame: Frame) -> str:
    said = []
    for series, op in _shown(scene, view):
        mine = [p for p in points if p.op.label == op.label]
        if not mine:
            said.append(words.count(op))
            continue
        if mine[0].side:
            line = words.count(op) + "".join(_side_words(scene, offer, p, frame) for p in mine)
        else:
            line = _one_side(scene, view, offer, op, mine, frame)
        reason = series.why[view.j]
        said.append(
            f"{line} {reason}".replace("{n}", str(scene.sliders[0].values[view.i])).rstrip()
        )
    return "\n".join(filter(None, [*said, thumb.said(scene.band), offer.says]))


def _one_side(scene, view, offer: Offer, op, points: list[Point], frame: Frame) -> str:
    (side,), mine = _sides(offer, view), {p.kind: p for p in points}
    line = words.bound(op, roof(offer.machine, view.dtype, _level(offer, side, op), scene.mix))
    for kind in ("predicted", "measured"):
        if kind in mine:
            below = _below(mine[kind], frame)
            line += (
                words.outside(kind.capitalize(), mine[kind].rate)
                if below
                else _said(mine[kind], side)
            ) + _call(scene, offer, mine[kind], side)
    return line


def _side_words(scene, offer: Offer, p: Point, frame: Frame) -> str:
    if _below(p, frame):
        line = sides.outside(p.side, p.kind, p.rate)
    else:
        level = _level(offer, p.side, p.op)
        line = sides.said(
            p.side, p.kind, p.op, p.rate, roof(offer.machine, p.op.compute_dtype, level, scene.mix)
        )
    trap = sides.trap(p.op, p.rate, offer.machine) if p.side == "warm" else ""
    return line + trap + _call(scene, offer, p, p.side)


def _call(scene, offer: Offer, p: Point, side: str) -> str:
    """The cost of the call, where it is most of a predicted time and its line is drawn."""
    if not scene.overhead or p.kind != "predicted":
        return ""
    return calls.said(p.op, offer.machine, side)

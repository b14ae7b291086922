"""The morph: the learner's own points from time against work to the roofline, on one slider.

``rl.live.morph(measurements)``: time against work (nearly all points crushed into a corner), speed
against intensity, the same in factors of ten under the machine's roof, and last what a call costs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rooflab.count.si import si
from rooflab.measure.measurement import Measurement
from rooflab.predict.catalogue import machine as _machine
from rooflab.predict.machine import Machine
from rooflab.show import captions, theme
from rooflab.show.labels import width
from rooflab.show.layouts import Plan, Spot
from rooflab.show.measured_points import Dot, call_lines, ceilings, dots, read, stop_sentences
from rooflab.show.scene import By, Dim, Fill, Scene, Sum, Words
from rooflab.show.scene.axes import Frame, Scale
from rooflab.show.scene.player import Player
from rooflab.show.waiting import awaited, is_axis

STOPS = ("time against work", "speed against intensity", "the roofline", "the cost of a call")
LAYOUT = (0, 1, 2, 2)  # of each stop
WAY = 20  # places from one stop to the next
PLACE = 50  # milliseconds from one place to the next
DECADES = 1.85  # from here on the axes are seen in factors of ten
NAMES = (
    ("work in one call (FLOP)", "time of one call"),
    ("intensity: FLOP per byte moved", "FLOP per second"),
    ("intensity: FLOP per byte moved", "FLOP per second, each step a factor of ten"),
)
LETTERS = 16  # pixels; labels.py reckons with them
FAR = 400.0  # pixels beyond the axes at which a tick of another layout is far enough away
#: Sheets: width, height, and what the axes leave free at the left, top, right and bottom.
SHEETS = ((720, 522, (76, 34, 16, 86)), (440, 632, (76, 34, 16, 86)))
LINES = (3, 1)  # names that may stand apart on each sheet; with more, every name is a number
#: How far each place lies along the stops.
AT = np.arange(WAY * (len(STOPS) - 1) + 1) / WAY


def stop_of(at: float) -> int:
    """The stop whose words belong to the slider at ``at``: the nearest.

    On the way into decades it is the one before until the axes read decades.
    """
    return 1 if 1 <= at < DECADES else round(at)


def _ramp(start: float, end: float) -> np.ndarray:
    """An opacity at each place: 0 until ``start``, 1 from ``end`` on, or the other way round."""
    return np.clip((AT - start) / (end - start), 0, 1)


def _near(layout: int) -> np.ndarray:
    """How much of a layout's axes is seen: time and rate are never both there.

    A scale that turns into decades is seen while it turns.
    """
    return (_ramp(0.4, 0), np.minimum(_ramp(0.6, 1), _ramp(1.6, 1)), _ramp(1.4, 2))[layout]


def _there(shown: Sequence[bool]) -> np.ndarray:
    """How much of something is seen that is there in some of the three layouts.

    Between one of them and another that lacks it, it fades.
    """
    fades = np.where(shown, 1.0, [-1.5, -1.5, -1.5])
    return np.clip(np.interp(AT, (0, 1, 2), fades), 0, 1)


@dataclass(frozen=True)
class _Drawing:
    """A sheet: its scene, and all that it shows."""

    scene: Scene
    plan: Plan

    def along(self, three: Sequence[Any]) -> By:
        """What goes from layout to layout: a value of each of the three, or of the stops."""
        return By("at", [three[k] for k in LAYOUT])

    def words(self, text: Words, spots: Sequence[Spot | None], ink: str, **look: Any) -> None:
        """Words that stand at a spot in some layouts, travel between two and fade without one."""
        if not any(spots):
            return
        found = [spot for spot in spots if spot]
        first, last = found[0], found[-1]
        look.setdefault("opacity", By("at", _there([bool(spot) for spot in spots])))
        kept = [spots[0] or first, spots[1] or (first if spots[0] else last), spots[2] or last]
        x, y = (self.along([spot[axis] for spot in kept]) for axis in (0, 1))
        more: dict[str, Any] = {"size": LETTERS, "anchor": "middle", "halo": True, **look}
        self.scene.text(x, y, text, ink, turn=first[2] if len(first) > 2 else 0, **more)


def morph_scene(seen: Sequence[Dot], where: Machine | None, sheet: tuple[Any, ...]) -> Scene:
    """The points ``seen`` on a sheet, with the roofs of ``where``."""
    wide, high, (left, top, right, bottom) = sheet
    keys = tuple(range(0, len(AT), WAY))
    dims = [
        Dim("at", STOPS, glide=PLACE, keys=keys, free=True),
        Dim("seen", ["not yet", "seen"], [False, True], once="at"),
    ]
    for n, asked in enumerate(dot.asked for dot in seen if dot.asked is not None):
        dims.append(Dim(f"guess{n}", ["none", *(si(s, "s") for s in asked.seconds)]))
        dims.append(Dim(f"hidden{n}", ["no", "yes"], [False, True], start=1))
    scene = Scene(wide, high, dims)
    frame = Frame(left, top, wide - right, high - bottom)
    plan = Plan(frame, tuple(seen), ceilings(seen, where), call_lines(seen, where))
    if plan.crowded(LINES[wide < SHEETS[0][0]]):
        plan = replace(plan, numbered=True)
    drawing = _Drawing(scene, plan)
    for k in range(3):
        _axes(drawing, k)
    frame.draw(scene)
    _roofs(drawing)
    _calls(drawing)
    _asides(drawing)
    _points(drawing)
    told = stop_sentences(plan.dots, where, plan.roofs, plan.calls)
    scene.says = By("at", [told[stop_of(at)] for at in AT.tolist()])
    scene.choice("at", "named stops of the slider", STOPS)
    scene.play("at", "▶ play", again="↺ play")
    _slider(drawing)
    if plan.numbered:
        scene.note(
            ", ".join(f"{n}\u00a0{dot.label}" for n, dot in enumerate(seen, 1)) + ".", "names"
        )
    if where is not None:
        scene.note(captions.origin(where))
    return scene


def _slider(drawing: _Drawing) -> None:
    """The slider under the axes, with a notch at each stop."""
    scene, frame = drawing.scene, drawing.plan.frame
    at, y = np.linspace(frame.left, frame.right - 12, len(STOPS)).tolist(), scene.height - 20
    for x in at:
        scene.line([(x, y + 12), (x, y + 18)], "soft", 2, name="notch")
    scene.slider("at", "from time against work to the roofline", at=at, y=y)


def _axes(drawing: _Drawing, k: int) -> None:
    """Grid, ticks and names of a layout.

    Ticks travel along their axis while one scale turns into the other. Between time and rate they
    fade.
    """
    scene, frame = drawing.scene, drawing.plan.frame
    here, shown = drawing.plan.layouts[k], By("at", _near(k))
    other = drawing.plan.layouts[(0, 2, 1)[k]]
    look: dict[str, Any] = {"size": LETTERS, "opacity": shown}
    below: Any = (0, frame.bottom, scene.width, frame.bottom + 28)
    beside: Any = (0, frame.top - 12, frame.left, frame.bottom + 12)
    grid: dict[str, Any] = {"clip": frame.box, "opacity": shown}
    last = 0.0
    for value, text in _ticks(here.x, "" if k == 0 else None, 110 if k < 2 else 64):
        x, half = _way(k, here.x(value), other.x(value)), width(text) / 2 + 4
        scene.line([(x, frame.top), (x, frame.bottom)], "grid", 1, **grid)
        if here.x(value) - half > last and here.x(value) + half <= scene.width + 4:
            scene.text(x, frame.bottom + 20, text, anchor="middle", clip=below,
                       name=f"tick-{k} x", **look)  # fmt: skip
            last = here.x(value) + half
    for value, text in _ticks(here.y, "s" if k == 0 else "", 64):
        y, foot = (_way(k, here.y(value) + down, other.y(value) + down) for down in (0, 5))
        scene.line([(frame.left, y), (frame.right, y)], "grid", 1, **grid)
        scene.text(frame.left - 7, foot, text, anchor="end", clip=beside,
                   name=f"tick-{k} y", **look)  # fmt: skip
    across, up = NAMES[k]
    look |= {"name": f"axis-{k}"}
    scene.text(frame.right, frame.bottom + 44, across, anchor="end", **look)
    scene.text(8, frame.top - 14, up, **look)


def _way(k: int, here: float, other: float) -> By:
    """Pixels of a tick at the stops: its own, and those of its value in the other layout."""
    far = min(max(other, -FAR), 1200.0)
    return By("at", {0: [here] * 4, 1: [here, here, far, far], 2: [far, far, here, here]}[k])


def _ticks(scale: Scale, unit: str | None, room: float) -> list[tuple[float, str]]:
    """Round values with what stands there, ``room`` pixels apart.

    ``unit`` None writes an intensity, anything else a value in that unit with its prefix.
    """
    many = max(2, min(8 if scale.log else 5, int(abs(scale.end - scale.start) / room)))
    values = scale.decades() if scale.log else scale.even(many)
    if scale.log:
        values = values[:: 1 + (len(values) - 1) // many]
    said = theme.intensity if unit is None else lambda value: short(value, unit)
    return [(v, said(v) if v else "0") for v in values]


def short(value: float, unit: str) -> str:
    """``5 ms``, ``2.5 G``: an SI number without the zeros that say nothing."""
    number, _, rest = si(value, unit).partition(" ")
    return f"{float(number):g} {rest}".rstrip()


def _roofs(drawing: _Drawing) -> None:
    """The roofs and their names, from the middle of the way into decades on."""
    plan, shown = drawing.plan, By("at", _ramp(1.5, 2))
    for ceiling in plan.roofs:
        main = ceiling.level == "dram"
        for flat in (False, True) if main else (False,):
            paths = [plan.roof(ceiling, layout, flat) for layout in plan.layouts]
            drawing.scene.line(
                drawing.along([paths[1], paths[1], paths[2]]), "computing" if flat else "carrying",
                3 if main else 1.6, opacity=shown, clip=plan.frame.box,
                name=f"roof {'main' if main else 'cache'}",
            )  # fmt: skip
    for text, spot, carried in plan.words[2].roofs:
        ink = "carrying" if carried else "computing"
        drawing.words(text, [spot] * 3, ink, opacity=shown, name="roof-says")


def _calls(drawing: _Drawing) -> None:
    """What a call costs: a line in decades at the last stop.

    Once that was seen, it comes back as a floor under the times.
    """
    plan, late = drawing.plan, _ramp(2.05, 2.85)
    floor = np.stack([np.zeros(len(AT)), _ramp(0.4, 0)], axis=1)
    shown = By("at seen", np.maximum(floor, late[:, None]))
    for line, spot in zip(plan.calls, plan.words[2].calls, strict=True):
        paths = [plan.call(line, layout) for layout in plan.layouts]
        look: dict[str, Any] = {"dash": (9, 5), "clip": plan.frame.box, "opacity": shown}
        drawing.scene.line(drawing.along(paths), "overhead", 2.4, name="call", **look)
        look = {"opacity": By("at", late), "name": "call-says"}
        drawing.words(line.label, [spot] * 3, "overhead", **look)
    if plan.words[0].floor:
        text, spot = plan.words[0].floor
        look = {"opacity": By("at seen", floor), "name": "floor-says"}
        drawing.words(text, [spot] * 3, "overhead", **look)


def _asides(drawing: _Drawing) -> None:
    """Names that stand apart from their points, at the ends of thin lines."""
    for k, words in enumerate(drawing.plan.words):
        for one in words.asides:
            if one.lead:
                near = By("at", np.clip(1 - 2.5 * abs(np.minimum(AT, 2) - k), 0, 1))
                drawing.scene.line(one.lead, "soft", 1, opacity=near, name="leader")
            spots: list[Spot | None] = [None, None, None]
            spots[k] = one.at
            drawing.words(one.text, spots, "soft" if one.dot is None else "ink", name="apart")


def _points(drawing: _Drawing) -> None:
    """The points with their names, and the guesses that hang at them."""
    scene, plan = drawing.scene, drawing.plan
    asked = iter(range(len(plan.dots)))
    for n, dot in enumerate(plan.dots):
        shape, says = theme.style(dot.op.name).shape, Fill(dot.sentence)
        spots = [layout.place(dot) for layout in plan.layouts]
        if dot.guess is not None:
            _guess(drawing, n, None)
        elif dot.asked is not None:
            dim = next(asked)
            told = ["", *(dot.at_guess(s).guess_told for s in dot.guesses)]
            _guess(drawing, n, dim)
            table = np.array([told, [""] * len(told)], object)
            says = Fill(dot.sentence + "{told}", told=By(f"hidden{dim} guess{dim}", table))
        place = Sum(drawing.along(spots))
        mark = scene.dot(place, None, shape, 8, ink="paper", width=1.2, name="point")
        scene.point(mark, says)
        names = [words.names[n] for words in plan.words]
        drawing.words(plan.names[n], names, "ink", name="name")


def _guess(drawing: _Drawing, n: int, dim: int | None) -> None:
    """The guess of point ``n``, and what it is off by; ``dim`` says where it was placed."""
    scene, plan, dot = drawing.scene, drawing.plan, drawing.plan.dots[n]
    layouts = [plan.layouts[k] for k in LAYOUT]
    ends = np.array([[(*layout.place(dot), *layout.guess(dot, s)) for s in dot.guesses]
                     for layout in layouts])  # fmt: skip
    told = plan.layouts[2].said(dot)
    late, names = _there([False, False, True]), "at"
    shown, text = By("at", np.ones(len(AT))), Fill(told[0])
    if dim is None:
        ends, opacity = ends[:, 0], By("at", late)
    else:
        ends = np.concatenate([np.full_like(ends[:, :1], np.nan), ends], axis=1)
        names, shown = f"at guess{dim}", By(f"hidden{dim}", [1, 0])
        text = Fill("{told}", told=By(f"guess{dim}", ["", *told]))
        opacity = By(f"at hidden{dim}", np.outer(late, [1, 0]))
    scene.line(By(names, ends), "mine", 2, dash=(2, 4), opacity=shown, name="gap")
    look: dict[str, Any] = {"fill": "mine", "ink": "ink", "opacity": shown, "name": "guess"}
    scene.dot(Sum(By(names, ends[..., 2:])), None, theme.style(dot.op.name).shape, 8, **look)
    if n in plan.words[2].guesses:
        ends_at, at = plan.words[2].guesses[n]
        anchor: Words = ends_at[0]
        x, y = at[0].tolist()
        if dim is not None:
            x, y = (By(f"guess{dim}", [np.nan, *at[:, axis]]) for axis in (0, 1))
            anchor = By(f"guess{dim}", ["start", *ends_at])
        look = {"opacity": opacity, "anchor": anchor, "halo": True, "size": LETTERS, "name": "off"}
        scene.text(x, y, text, "mine-says", **look)


class Morph(Player):
    """The picture with its slider; ``at`` is 0 to 3, one to each named stop."""

    def __init__(self, seen: Sequence[Dot], where: Machine | None, axes: Sequence[Any],
                 after: Any) -> None:  # fmt: skip
        self.dots = tuple(seen)
        by_id = {axis.model_id: axis for axis in axes}
        asked = [by_id[dot.asked.id] for dot in seen if dot.asked is not None]
        follows: dict[str, tuple[str, str, int]] = {}
        for n, axis in enumerate(asked):
            follows[f"guess{n}"] = (axis.model_id, "guess_at", 1)
            follows[f"hidden{n}"] = (axis.model_id, "covered", 0)
        scenes = [morph_scene(seen, where, sheet) for sheet in SHEETS]
        look = {"stem": "rooflab-morph", "kind": "rl-morph", "after": after}
        super().__init__(*scenes, follows=follows, **look)
        for n, axis in enumerate(asked):
            self._take(n, axis)
            axis.observe(lambda _, n=n, axis=axis: self._take(n, axis), ["guess_at", "covered"])

    def _take(self, n: int, axis: Any) -> None:
        """Take the place of a guess from its axis; a browser does so by itself."""
        self.set_trait(f"guess{n}", axis.guess_at + 1)
        self.set_trait(f"hidden{n}", axis.covered)

    @property
    def words(self) -> str:
        """The whole picture in words: the named stops, then every point."""
        if self.covered:
            return self.cover
        told = [self.scene.sentence(**(self.state | {"at": at})) for at in range(len(STOPS))]
        points = [mark.look["point"] for mark in self.scene.marks if "point" in mark.look]
        places = self.scene.places(**self.state)
        return "\n".join([*told, *(str(self.scene.settled(says, places)) for says in points)])

    def states(self) -> Sequence[Mapping[str, Any]]:
        """The first and the last stop."""
        return [self.state | {"at": at} for at in (0, len(STOPS) - 1)]


def morph(
    measurements: Iterable[Measurement] | Measurement,
    *,
    machine: Machine | str | None = None,
    guesses: Mapping[Any, Any] | None = None,
    after: Any = None,
) -> Morph:
    """Show ``measurements`` (from ``rl.measure``) on one slider from their times to the roofline.

    Nothing is measured, and everything moves in the browser.

    Parameters
    ----------
    measurements : Measurement or iterable of Measurement
        The points.
    machine : Machine or str, optional
        Whose roof and call cost are drawn; None takes the machine they were measured on, if its
        roofs are stored or recorded.
    guesses : mapping, optional
        Operation, or its label → guessed seconds, or what ``rl.guess`` or ``rl.ask`` returned; each
        hangs as a hollow marker with "off by ×k". None draws no guesses.
    after : GuessAxis, SortCards, iterable or mapping of them, optional
        What ``rl.ask`` (or ``rl.sort``) returned, one or several: the picture stays covered until
        all of them are uncovered. As a dict, operation → what ``rl.ask`` returned, it gives the
        guesses as well. None covers nothing.

    Returns
    -------
    Morph
        A widget; ``sentence`` says what it shows at the nearest of its named stops.

    Examples
    --------
    >>> morph = rl.live.morph(rl.recording("epyc-2core-vm").measurements[:2])
    >>> morph.sentence.split(", ")[0]
    'Your own 2 measurements'
    """
    from rooflab.measure.this_machine import machine_of

    awaited(after)
    if isinstance(after, Mapping):
        if guesses is not None and not isinstance(guesses, Mapping):
            raise TypeError(f"guesses={guesses!r} must be a dict: an operation's label → seconds")
        axes = {key: one for key, one in after.items() if is_axis(one)}
        guesses = {**axes, **(guesses or {})}
    seen = read(measurements)
    where = _machine(machine) if machine is not None else machine_of(seen)
    points = dots(seen, where, guesses)
    asking = [one for one in (guesses or {}).values() if is_axis(one)]
    return Morph(points, where, asking, after)

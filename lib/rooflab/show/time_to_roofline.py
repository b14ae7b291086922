"""The morph: the learner's own points from time against work to the roofline, on one slider.

``rl.live.morph(measurements)``: time against work (nearly all points crushed into a corner), speed
against intensity, the same in factors of ten under the machine's roof, and last what a call costs.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from rooflab.count.si import si
from rooflab.measure.measurement import Measurement
from rooflab.predict.catalogue import machine as _machine
from rooflab.predict.machine import Machine
from rooflab.show import captions, theme
from rooflab.show.labels import SIZE, Room, width
from rooflab.show.layouts import Plan, Spot, name_points, name_roofs, off_by
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
WORDS: dict[str, Any] = {"size": SIZE, "anchor": "middle", "halo": True}
FAR = 400.0  # pixels beyond the axes at which a tick of another layout is far enough away
#: Sheets: width, height, and what the axes leave free at the left, top, right and bottom.
SHEETS = ((720, 522, (76, 34, 16, 86)), (440, 632, (76, 34, 16, 86)))
#: How far each place lies along the stops.
AT = np.arange(WAY * (len(STOPS) - 1) + 1) / WAY


def stop_of(at: float) -> int:
    """The stop whose words belong to ``at``: the nearest; decades only once the axes read them."""
    return 1 if 1 <= at < DECADES else round(at)


def _ramp(start: float, end: float) -> np.ndarray:
    """An opacity at each place: 0 until ``start``, 1 from ``end`` on, or the other way round."""
    return np.clip((AT - start) / (end - start), 0, 1)


def _near(layout: int) -> np.ndarray:
    """How much of a layout's axes is seen: decades while they turn, time and rate never both."""
    return (_ramp(0.4, 0), np.minimum(_ramp(0.6, 1), _ramp(1.6, 1)), _ramp(1.4, 2))[layout]


def _along(three: Sequence[Any]) -> By:
    """What goes from layout to layout: a value of each of the three."""
    return By("at", [three[k] for k in LAYOUT])


def _write(scene: Scene, spot: Spot | None, text: str, ink: str, **look: Any) -> None:
    """Words at a spot that they keep, if there is one."""
    if spot:
        x, y, *turn = spot
        scene.text(x, y, text, ink, turn=turn[0] if turn else 0, **WORDS, **look)


def morph_scene(seen: Sequence[Dot], where: Machine | None, sheet: tuple[Any, ...]) -> Scene:
    """The points ``seen`` on a sheet, with the roofs of ``where``."""
    wide, high, (left, top, right, bottom) = sheet
    keys = tuple(range(0, len(AT), WAY))
    dims = [
        Dim("at", STOPS, glide=PLACE, keys=keys, free=True),
        Dim("seen", ["not yet", "seen"], [False, True], once="at"),
    ]
    for n, dot in enumerate(dot for dot in seen if dot.asked):
        dims.append(Dim(f"guess{n}", ["none", *(si(s, "s") for s in dot.guesses)]))
        dims.append(Dim(f"hidden{n}", ["no", "yes"], [False, True], start=1))
    scene = Scene(wide, high, dims)
    frame = Frame(left, top, wide - right, high - bottom)
    plan = Plan(frame, tuple(seen), ceilings(seen, where), call_lines(seen, where))
    for k in range(3):
        _axes(scene, plan, k)
    frame.draw(scene)
    rooms = [plan.room(layout) for layout in plan.layouts]
    _roofs(scene, plan, rooms[2])
    says = off_by(rooms[2], plan, asked=False)
    texts, names = name_points(rooms, plan)
    _calls(scene, plan, rooms)
    _points(scene, plan, texts, names, says | off_by(rooms[2], plan, asked=True))
    told = stop_sentences(plan.dots, where, plan.roofs, plan.calls)
    scene.says = By("at", [told[stop_of(at)] for at in AT.tolist()])
    scene.choice("at", "named stops of the slider", STOPS)
    scene.play("at")
    at, y = np.linspace(left, frame.right - 12, len(STOPS)).tolist(), high - 20
    for x in at:
        scene.line([(x, y + 12), (x, y + 18)], "soft", 2, name="notch")
    scene.slider("at", "from time against work to the roofline", at=at, y=y)
    if key := [f"{n}\u00a0{one.label}" for n, one in zip(texts, seen) if n != one.label]:
        scene.note(", ".join(key) + ".", "names")
    if where is not None:
        scene.note(captions.origin(where))
    return scene


def _axes(scene: Scene, plan: Plan, k: int) -> None:
    """Grid, ticks and names of a layout; ticks travel while a scale turns into decades."""
    frame, shown = plan.frame, By("at", _near(k))
    here, other = plan.layouts[k], plan.layouts[(0, 2, 1)[k]]
    look: dict[str, Any] = {"size": SIZE, "opacity": shown}
    below: Any = (0, frame.bottom, scene.width, frame.bottom + 28)
    beside: Any = (0, frame.top - 12, frame.left, frame.bottom + 12)
    grid: dict[str, Any] = {"clip": frame.box, "opacity": shown}
    for value, text in _ticks(here.x, "" if k == 0 else None, 110 if k < 2 else 64):
        x = _way(k, here.x(value), other.x(value))
        scene.line([(x, frame.top), (x, frame.bottom)], "grid", 1, **grid)
        if here.x(value) + width(text) / 2 <= scene.width:
            scene.text(x, frame.bottom + 20, text, anchor="middle", clip=below,
                       name=f"tick-{k} x", **look)  # fmt: skip
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


def _roofs(scene: Scene, plan: Plan, room: Room) -> None:
    """The roofs and their names, from the middle of the way into decades on."""
    shown = By("at", _ramp(1.5, 2))
    for ceiling in plan.roofs:
        main = ceiling.level == "dram"
        for flat in (False, True) if main else (False,):
            paths = [plan.roof(ceiling, layout, flat) for layout in plan.layouts]
            scene.line(
                _along([paths[1], *paths[1:]]), "computing" if flat else "carrying",
                3 if main else 1.6, opacity=shown, clip=plan.frame.box,
                name=f"roof {'main' if main else 'cache'}",
            )  # fmt: skip
    for text, spot, ink in name_roofs(room, plan):
        _write(scene, spot, text, ink, opacity=shown, name="roof-says")


def _calls(scene: Scene, plan: Plan, rooms: Sequence[Room]) -> None:
    """What a call costs: a line at the last stop; once it was seen, a floor under the times."""
    late = _ramp(2.05, 2.85)
    floor = np.stack([np.zeros(len(AT)), _ramp(0.4, 0)], axis=1)
    shown = By("at seen", np.maximum(floor, late[:, None]))
    for line in plan.calls:
        paths, half = [plan.call(line, layout) for layout in plan.layouts], width(line.label) / 2
        look: dict[str, Any] = {"dash": (9, 5), "clip": plan.frame.box, "opacity": shown}
        scene.line(_along(paths), "overhead", 2.4, name="call", **look)
        on, sides = plan.layouts[2].inside(paths[2]), (half + 13, -half - 13)
        spot = rooms[2].put(line.label, [(x + far, y + 5) for x, y in on for far in sides])
        _write(scene, spot, line.label, "overhead", opacity=By("at", late), name="call-says")
    if plan.calls:
        text = f"the floor: no call below {si(min(line.seconds for line in plan.calls), 's')}"
        half, (left, _, right, bottom) = width(text) / 2 + 6, plan.frame.box
        ways = np.linspace(right - half, left + half, 4).tolist()
        spot = rooms[0].put(text, [(x, bottom - 9) for x in ways])
        _write(scene, spot, text, "overhead", opacity=By("at seen", floor), name="floor-says")


def _points(
    scene: Scene, plan: Plan, texts: Sequence[str], names: Sequence[Sequence[Spot | None]],
    off: Mapping[int, Sequence[tuple[float, float]]],
) -> None:  # fmt: skip
    """The points with guesses that hang at them, and names that fade where they have no room."""
    asked = itertools.count()
    for n, dot in enumerate(plan.dots):
        says: Words = dot.sentence
        dim = next(asked) if dot.asked else None
        if dot.guesses:
            _guess(scene, plan, dot, dim, off[n])
        if dot.asked:
            told = ["", *map(dot.guess_told, dot.guesses)]
            table = np.array([told, [""] * len(told)], object)
            says = Fill(dot.sentence + "{told}", told=By(f"hidden{dim} guess{dim}", table))
        places, shape = [one.place(dot) for one in plan.layouts], theme.style(dot.op.name).shape
        mark = scene.dot(Sum(_along(places)), None, shape, ink="paper", width=1.2, name="point")
        scene.point(mark, says)
        spots = [layout[n] for layout in names]
        if any(spots):
            at = Sum(_along([spot or place for spot, place in zip(spots, places)]))
            shown = np.interp(AT, (0, 1, 2), [1.0 if spot else -1.5 for spot in spots]).clip(0)
            scene.text(at, None, texts[n], opacity=By("at", shown), name="name", **WORDS)


def _guess(
    scene: Scene, plan: Plan, dot: Dot, dim: int | None, off: Sequence[tuple[float, float]]
) -> None:
    """The guess of a point, and what it is off by; ``dim`` says where it was placed."""

    def by(rows: Any, at: str = "") -> Any:
        """Return the row of the one guess there is, or of each that there may be; none before."""
        if dim is None:
            return By(at, rows[0]) if at else rows[0]
        none = rows[0] if isinstance(rows[0], str) else np.nan * rows[0]
        return By(f"guess{dim} {at}", np.array([none, *rows]))

    late, layouts = _ramp(1.6, 2), [plan.layouts[k] for k in LAYOUT]
    ends = np.array([[(*one.place(dot), x, y) for x, y, _ in one.guesses(dot)] for one in layouts])
    ends = ends.swapaxes(0, 1)  # of each guess at each stop
    shown = 1 if dim is None else By(f"hidden{dim}", [1, 0])
    opacity = By("at", late) if dim is None else By(f"at hidden{dim}", np.outer(late, [1, 0]))
    scene.line(by(ends, "at"), "mine", 2, dash=(2, 4), opacity=shown, name="gap")
    place, shape = Sum(by(ends[..., 2:], "at")), theme.style(dot.op.name).shape
    scene.dot(place, None, shape, fill="mine", ink="ink", opacity=shown, name="guess")
    x, y = np.array(off).T
    if not np.isnan(x).all():
        look = WORDS | {"anchor": by(np.where(x < ends[:, 2, 0], "end", "start").tolist())}
        texts = [text for *_, text in layouts[2].guesses(dot)]
        scene.text(by(x), by(y), by(texts), "mine-says", opacity=opacity, name="off", **look)


class Morph(Player):
    """The picture with its slider; ``at`` is 0 to 3, one to each named stop."""

    def __init__(self, seen: Sequence[Dot], where: Machine | None, axes: Sequence[Any],
                 after: Any) -> None:  # fmt: skip
        self.dots = tuple(seen)
        asked = [axis for dot in seen for axis in axes if axis.model_id == dot.asked]
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
    if isinstance(after, Mapping) and (guesses is None or isinstance(guesses, Mapping)):
        guesses = {key: one for key, one in after.items() if is_axis(one)} | dict(guesses or {})
    seen = read(measurements)
    where = _machine(machine) if machine is not None else machine_of(seen)
    points = dots(seen, where, guesses)
    asking = [one for one in (guesses or {}).values() if is_axis(one)]
    return Morph(points, where, asking, after)

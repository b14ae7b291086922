"""The trail of a search: its candidates one after the other, on the roofline and by prediction.

Up goes what was measured. Across goes what was predicted: FLOP per byte of a level of memory, or
FLOP/s. A slider replays the candidates in the order in which they were measured.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from numbers import Real
from typing import Any, TypeAlias

import numpy as np

from rooflab.count.si import several, si
from rooflab.labs.search.pictures.replay import Replay, numbers
from rooflab.labs.search.schedules.result import Search
from rooflab.measure.measurement import Measurement
from rooflab.measure.recording import recording, recordings
from rooflab.measure.this_machine import stored_machine
from rooflab.predict.catalogue import machine as _machine
from rooflab.predict.machine import Machine
from rooflab.show import theme
from rooflab.show.captions import origin
from rooflab.show.labels import Room, width
from rooflab.show.rooflines.ceiling_lines import LEVELS, Ceiling, ceilings, roof
from rooflab.show.scene import FONT, By, Dim, Scene
from rooflab.show.scene.axes import LETTERS, Frame, Scale
from rooflab.show.scene.player import Player
from rooflab.show.time_to_roofline import short

WIDE, NARROW, AXES = 720, 400, 336  # pixels: widths of the sheets, height of the axes
LEFT, RIGHT, FOOT, ROW = 62, 26, 50, 21
DOT, RECORD = 3.5, 6.5  # pixels
PALE = 0.5
DIFFERENT = 2.0  # times: intensities that differ by less stand in one column
PACE = 60  # milliseconds of a candidate in a replay
ROOM = 1.7  # how many times as far as its values a scale reaches
CLOSE, LID = 5.0, 1.25  # times below the fastest, and above everything, where it is seen closer
PREDICTION = "prediction"
Peer: TypeAlias = Measurement | float | Mapping[str, Measurement | float] | None
Look: TypeAlias = dict[str, Any]
FlatWords: TypeAlias = tuple[str, str, list[tuple[float, float]]]  # text, colour, and spots for it


def trail(
    found: Search | Mapping[int, Search],
    machine: Machine | str | None = None,
    *,
    peer: Peer = None,
    after: Any = None,
) -> Player:
    """Show the trail of a search on the roofline, candidate by candidate.

    Parameters
    ----------
    found : Search or mapping of int to Search
        What ``rl.search.search`` returned, or ``Search.from_dict`` of a kept one. With several,
        under the width of their beams, a row of buttons chooses between them.
    machine : Machine or str, optional
        Whose roofs are drawn. None takes the machine of the search if its roofs are stored or
        recorded; else there are none.
    peer : Measurement, float or mapping of str to them, optional
        What a library reaches, in FLOP/s if it is a number: a line, under its name.
    after : GuessAxis, optional
        What ``rl.ask`` returned: the picture stays covered until there is a guess.

    Returns
    -------
    Player
        A widget. ``candidate`` is the stop of its slider, ``across`` is "memory", "L3", "L2", "L1"
        or "prediction", ``beam`` is the width as text, ``near`` shows the fastest closer.
        ``sentence`` says what the picture shows.

    Notes
    -----
    At first the bytes are those of the first level, from the memory inwards, at which the schedules
    differ by more than a factor of two. A predicted rate is the FLOP over the predicted seconds. Of
    more than 150 candidates every second one is drawn, or every third. Each that was the fastest so
    far is drawn, and each that was predicted to be.

    Examples
    --------
    So that it comes out alike everywhere, the seconds are made up: the more transformations, the
    fewer. ``timed`` says that they are seconds.

    >>> from dataclasses import replace
    >>> def seconds(nest):
    ...     return 1e-5 / (1 + len(nest.log))
    >>> mine = rl.Machine("mine", kind="cpu", peaks={"fp32": 1e11}, bandwidths=1e10,
    ...                   capacities={"l1": 1024})
    >>> found = rl.search.search(24, measure=seconds, machine=mine, width=1, progress=False)
    >>> picture = rl.search.trail(replace(found, timed=True), mine, peer=4e10)
    >>> picture.candidate = 0
    >>> print(picture.sentence.partition(": ")[2][:12])
    2.76 GFLOP/s
    """
    searches = _searches(found)
    shown = _where(list(searches.values()), machine)
    replays = {str(name): Replay.of(one) for name, one in searches.items()}
    told = _Told(replays, shown, tuple(_levels(searches)), _peers(peer))
    sheets = (_Sheet(told, wide).scene for wide in (WIDE, NARROW))
    return Player(*sheets, stem="trail", after=after)


def _searches(found: object) -> dict[int, Search]:
    several = isinstance(found, Mapping)
    given = dict(found) if isinstance(found, Mapping) else {getattr(found, "width", 0): found}
    searches: dict[int, Search] = {}
    for name, one in given.items():
        if not isinstance(one, Search):
            which = f"found[{name!r}]" if several else "found"
            raise TypeError(f"{which}={one!r} is no search; pass what rl.search.search returned")
        if not one.timed:
            raise ValueError("found: another measure than time decided this search, and a roofline "
                             "shows FLOP/s; see its candidates instead")  # fmt: skip
        searches[name] = one
    if not searches:
        raise ValueError(f"found={found!r} is empty; give a search, or several under their widths")
    if len({(one.text, *sorted(one.extents.items())) for one in searches.values()}) > 1:
        raise ValueError("found: its searches are of different nests; show each on its own")
    return searches


def _levels(searches: Mapping[int, Search]) -> list[str]:
    """The levels of which bytes were predicted, the memory first."""
    tried = [one for found in searches.values() for one in found.measured]
    levels = [level for level in reversed(LEVELS) if any(one.bytes.get(level) for one in tried)]
    if not levels:
        raise ValueError(
            "found: its candidates have no predicted bytes, as with a score of one's own; "
            "only searches with the score of the course can be drawn on a roofline"
        )
    return levels


def _where(searches: Sequence[Search], machine: Machine | str | None) -> Machine | None:
    if machine is not None:
        given = _machine(machine)
        ceilings(given, "fp32", "cold")  # which says what is missing
        return given
    wanted = {(one.machine, one.threads) for one in searches}
    if len(wanted) != 1:
        return None
    ((name, threads),) = wanted
    try:
        here = stored_machine("cpu", threads)
    except ValueError:  # more threads than this computer has
        here = None
    kept = (one for known in recordings() for one in recording(known).machines)
    for known in (here, *kept):
        if known is not None and known.name == name and known.threads in (None, threads):
            return known
    return None


def _peers(peer: object) -> dict[str, float]:
    """Names and FLOP/s of the libraries to compare with."""
    if peer is None:
        return {}
    if isinstance(peer, Measurement):
        kernel = str(peer.environment.get("kernel", "")).rpartition(".")[2]
        return {kernel or peer.op.name.upper(): peer.flop_per_s}
    if isinstance(peer, Mapping):
        return {str(name): rate for name, one in peer.items() for rate in _peers(one).values()}
    if isinstance(peer, bool) or not isinstance(peer, Real):
        raise TypeError(f"peer={peer!r} must be a Measurement, FLOP/s, or both under their names")
    if not 0 < float(peer) < math.inf:
        raise ValueError(f"peer={peer!r} must be a positive number of FLOP/s")
    return {"library": float(peer)}


@dataclass(frozen=True)
class _Told:
    """What all sheets show: searches by name, their machine, the levels, the rates of libraries."""

    by_name: Mapping[str, Replay]
    machine: Machine | None
    levels: tuple[str, ...]
    peers: Mapping[str, float]

    @cached_property
    def replays(self) -> list[Replay]:
        return list(self.by_name.values())

    @cached_property
    def ceilings(self) -> dict[str, Ceiling]:
        """The roofs of the levels that the machine has."""
        where = self.machine
        if where is None:
            return {}
        known = [level for level in self.levels if level in where.levels]
        return {level: Ceiling(level, roof(where, "fp32", level)) for level in known}

    def said(self, replay: Replay, across: int, number: int) -> str:
        """The sentence of a state."""
        if across == len(self.levels):
            more = replay.said_of_hope(number)
        else:
            level = self.levels[across]
            found = self.ceilings.get(level)
            more = replay.said_of_bytes(number, level, found.roof if found else None)
        return f"{replay.said(number)} {more}"

    def notes(self, step: int) -> list[Any]:
        """What the dots are, which are left out, and where the roofs come from."""
        which = {1: "Each schedule that was measured", 2: "Every second schedule"}
        what = which.get(step, f"One in {step} schedules") + " is a dot"
        what += "." if step == 1 else ", and so is each record."
        skipped = [len(one.found.rejected) for one in self.replays]
        more = [f" {several(many, 'schedule')} more {'was' if many == 1 else 'were'} not measured."
                if many else "" for many in skipped]  # fmt: skip
        ways = " The line leads from record to record. Press at a dot to go there."
        found: list[Any] = [By("beam", [f"{what}{one}{ways}" for one in more])]
        if self.machine is None:
            return [*found, "No roofs: nothing is known of the machine of this search."]
        ran, of = {one.found.threads for one in self.replays}, self.machine.threads
        told = origin(self.machine)
        if of is not None and ran != {of}:
            listed = " and ".join(map(str, sorted(ran)))
            told += f" They are those of {several(of, 'thread')}; the search could use {listed}."
        return [*found, told]


class _Sheet:
    """The picture on a sheet of one width."""

    def __init__(self, told: _Told, wide: int) -> None:
        self.told, self.replays, self.levels = told, told.replays, told.levels
        self.numbers, self.step = numbers(self.replays)
        names, ways = list(told.by_name), [*(LEVELS[one] for one in self.levels), PREDICTION]
        stops = [str(one) for one in self.numbers]
        dims = [
            Dim("beam", names, names),
            Dim("across", ways, ways, start=self.telling(), glide=400),
            Dim("near", ["all", "the fastest"], [False, True], glide=400),
            Dim("candidate", stops, start=len(stops) - 1, glide=PACE),
        ]
        self.rows = 1 if wide == WIDE else 2  # of a name
        top = ROW * (self.rows + 3) + 14
        self.scene = Scene(wide, top + AXES + FOOT, dims)
        self.frame = Frame(LEFT, top, wide - RIGHT, top + AXES)
        self.draw_axes()
        self.draw_roofs()
        for number in self.numbers:
            self.draw_dot(number)
        self.draw_path()
        self.draw_marked()
        for across in range(len(self.levels) + 1):
            self.draw_words(across)
        self.draw_head()
        self.add_controls()
        self.scene.says = self.by("beam across candidate", told.said)
        for words in told.notes(self.step):
            self.scene.note(words)

    def telling(self) -> int:
        """The first level at which the schedules differ: small operands cross the memory once."""
        for at, level in enumerate(self.levels):
            found = [
                replay.intensity(place, level)
                for replay in self.replays
                for place in range(len(replay.tried))
            ]
            if np.nanmax(found) > DIFFERENT * np.nanmin(found):
                return at
        return 0

    def add_controls(self) -> None:
        scene = self.scene
        scene.choice("across", "what goes across", scene.dim("across").stops)
        if len(self.replays) > 1:
            widths = [f"width {name}" for name in scene.dim("beam").stops]
            scene.choice("beam", "width of the beam", widths)
        scene.switch("near", "closer")
        scene.play("candidate", "▶ replay")
        scene.slider("candidate", "candidates measured so far")
        scene.grip("candidate", *self.moving(Replay.at), area=self.frame.box)

    # Scales and places.

    def by(self, dims: str, value: Callable[..., Any]) -> By:
        """``value(replay, …)`` at every place; a candidate is given by its number."""
        last = dims.endswith("candidate")

        def found(beam: int, *places: int) -> Any:
            rest = [*places[:-1], self.numbers[places[-1]]] if last else places
            return value(self.replays[beam], *rest)

        return self.scene.each(dims, found)

    @cached_property
    def rates(self) -> list[Scale]:
        """FLOP/s to pixels, upwards: of all candidates, and of the fastest."""
        lines = [one.roof.peak for one in self.told.ceilings.values()]
        lines += self.told.peers.values()
        rates = [rate for one in self.replays for rate in one.rates]
        top = max(rates + lines)
        low = min(lines + [max(one.rates) for one in self.replays]) / CLOSE
        return [self.frame.y(min(rates) / ROOM, top * ROOM), self.frame.y(low, top * LID)]

    @cached_property
    def scales(self) -> list[Scale]:
        """What goes across to pixels: FLOP/byte of each level alike, then predicted FLOP/s."""
        known = [one.roof.ridge for one in self.told.ceilings.values()]
        known += [one.intensity(place, level) for one in self.replays
                  for place in range(len(one.tried)) for level in self.levels]  # fmt: skip
        bytes_ = self.frame.x(np.nanmin(known) / ROOM, np.nanmax(known) * ROOM)
        promised = [rate for one in self.replays for rate in one.promised if not math.isnan(rate)]
        rates = promised or [self.rates[0].lo, self.rates[0].hi]
        return [bytes_] * len(self.levels) + [self.frame.x(min(rates) / ROOM, max(rates) * ROOM)]

    def x(self, replay: Replay, across: int, place: int) -> float:
        """Pixels of a candidate, given by its place."""
        if across < len(self.levels):
            value = replay.intensity(place, self.levels[across])
        else:
            value = replay.promised[place]
        return float(self.scales[across](value))

    def y(self, replay: Replay, near: int, place: int) -> float:
        return float(self.rates[near](replay.rates[place]))

    def up(self, rate: float) -> By:
        """The height of a rate, from afar and close."""
        return By("near", [scale(rate) for scale in self.rates])

    def fixed(self, which: Callable[[Replay], int | None]) -> tuple[By, By]:
        """x and y of one candidate of each search, by its place; None for none."""

        def at(value: Callable[..., float], replay: Replay, view: int) -> float:
            place = which(replay)
            return math.nan if place is None else value(replay, view, place)

        across = self.by("beam across", partial(at, self.x))
        return across, self.by("beam near", partial(at, self.y))

    def moving(self, which: Callable[[Replay, int], int]) -> tuple[By, By]:
        """x and y of another candidate in each state, by its place."""
        return (
            self.by("beam across candidate", lambda one, n, to: self.x(one, n, which(one, to))),
            self.by("beam near candidate", lambda one, n, to: self.y(one, n, which(one, to))),
        )

    def only(self, across: int) -> By:
        """1 where that goes across, else 0."""
        return By("across", [float(one == across) for one in range(len(self.levels) + 1)])

    def shown(self, across: int, near: int) -> By:
        """1 where that goes across, from afar or close, else 0."""
        table = np.zeros((len(self.levels) + 1, 2))
        table[across, near] = 1
        return By("across near", table)

    # What is drawn.

    def draw_axes(self) -> None:
        """Ticks and names. All levels have the same ticks; the prediction has its own."""
        scene, frame, last = self.scene, self.frame, len(self.levels)
        for near, scale in enumerate(self.rates):
            seen = By("near", [float(near == 0), float(near == 1)])
            frame.y_ticks(scene, scale, _ticks(scale), _tick, opacity=seen)
        seen = self.only(last)
        levels = By("across", 1 - np.asarray(seen.values))
        for scale, write, opacity in (
            (self.scales[0], theme.intensity, levels), (self.scales[-1], _tick, seen)
        ):  # fmt: skip
            frame.x_ticks(scene, scale, _ticks(scale), write, opacity=opacity)
        words = [f"predicted FLOP per byte from {LEVELS[level]}" for level in self.levels]
        scene.text(frame.right, frame.bottom + 42, By("across", [*words, "predicted FLOP/s"]),
                   size=LETTERS, anchor="end", name="axis")  # fmt: skip
        scene.text(8, frame.top - 11, "measured FLOP/s", size=LETTERS, name="axis")
        frame.draw(scene)

    def draw_roofs(self) -> None:
        """A slope for each level, thick for the one that goes across; the peak; the peers."""
        scene, frame, count = self.scene, self.frame, len(self.levels)
        clip: Look = {"clip": frame.box}
        for level, one in self.told.ceilings.items():
            at = self.levels.index(level)
            thin = By("across", [float(n != at) for n in range(count)] + [0.0])
            slope = By("near", [self.slope(one, scale) for scale in self.rates])
            scene.line(slope, "carrying", 1.1, opacity=thin, name="thin", **clip)
            scene.line(slope, "carrying", 2.6, opacity=self.only(at), name="slope", **clip)
            flat = [(self.scales[0](one.roof.ridge), self.up(one.roof.peak)),
                    (frame.right, self.up(one.roof.peak))]  # fmt: skip
            scene.line(flat, "computing", 2.6, opacity=self.only(at), name="flat", **clip)
        for one in list(self.told.ceilings.values())[:1]:
            ends = [(x, self.up(one.roof.peak)) for x in (frame.left, frame.right)]
            scene.line(ends, "computing", 2.6, opacity=self.only(count), name="flat", **clip)
        diagonal = By("near", [self.diagonal(scale) for scale in self.rates])
        look: Look = {"dash": (5, 4), "opacity": self.only(count), "name": "diagonal"}
        scene.line(diagonal, "soft", 1.6, **look, **clip)
        for rate in self.told.peers.values():
            ends = [(x, self.up(rate)) for x in (frame.left, frame.right)]
            scene.line(ends, "ink", 1.6, dash=(8, 4), name="peer", **clip)

    def slope(self, one: Ceiling, rate: Scale) -> list[tuple[float, float]]:
        """The slanted part of a roof, from where it comes into sight."""
        x, width = self.scales[0], one.roof.bandwidth
        low = min(max(x.lo, rate.lo / width), one.roof.ridge)
        return [(x(at), rate(one.roof.attainable(at))) for at in (low, one.roof.ridge)]

    def diagonal(self, rate: Scale) -> list[tuple[float, float]]:
        """Measured as predicted, as far as that is in sight."""
        x = self.scales[-1]
        lo, hi = max(x.lo, rate.lo), min(x.hi, rate.hi)
        return [(x(at), rate(at)) for at in (lo, hi)] if lo < hi else [(math.nan, math.nan)] * 2

    def draw_dot(self, number: int) -> None:
        """A candidate, from its measurement on."""
        seen = By("candidate", [PALE * (one >= number) for one in self.numbers])
        there = self.fixed(lambda one: number - 1 if number <= len(one.tried) else None)
        self.scene.dot(*there, size=DOT, opacity=seen, clip=self.frame.box, name="candidate")

    def draw_path(self) -> None:
        """From the schedule as written to the fastest so far, record by record."""

        def end(n: int, replay: Replay) -> int | None:
            return replay.records[n][1] if last < len(replay.records) else None

        for last in range(1, max(len(one.records) for one in self.replays)):
            ends = [self.fixed(partial(end, n)) for n in (last - 1, last)]
            since = [one.records[last][0] + 1 if last < len(one.records) else math.inf
                     for one in self.replays]  # fmt: skip
            shown = [[float(number >= first) for number in self.numbers] for first in since]
            look: Look = {"opacity": By("beam candidate", shown), "clip": self.frame.box}
            self.scene.line(ends, "key", 2, name="path", **look)

    def draw_marked(self) -> None:
        """The schedule as written, the fastest, the one predicted fastest, the current one."""
        scene, clip = self.scene, self.frame.box
        look: Look = {"fill": "paper", "ink": "ink", "clip": clip, "name": "written"}
        scene.dot(*self.fixed(lambda one: 0), size=RECORD, **look)
        ring: Look = {"fill": None, "width": 2.4, "clip": clip}
        hope = self.moving(Replay.hope)
        scene.dot(*hope, "down", 9, ink="ink", name="predicted", **ring)
        best = self.moving(Replay.best)
        scene.dot(*best, "diamond", 7, ink="paper", width=1, clip=clip, name="fastest")
        scene.dot(*self.moving(Replay.at), size=9, ink="key", name="now", **ring)

    def draw_words(self, across: int) -> None:
        """Names of roofs and peers, where there is room, from afar and close."""
        for near, scale in enumerate(self.rates):
            room = Room(self.frame.box)
            look: Look = {"size": LETTERS, "opacity": self.shown(across, near), "halo": True,
                          "anchor": "middle", "name": "roof"}  # fmt: skip

            def write(words: FlatWords, room: Room = room, look: Look = look) -> None:
                text, ink, spots = words
                at = room.put(text, spots)
                if at:
                    self.scene.text(at[0], at[1], text, ink, **look)

            for words in self.peak_words(scale):
                write(words)  # it stands at the end of its line, whatever points are there
            self.add_points(room, across, near)
            for words in self.peer_words(scale):
                write(words)
            text, ink, path = self.slope_words(across, scale)
            along = room.put_along(text, path, -1) or room.put_along(text, path)
            if along:
                x, y, turn = along
                self.scene.text(x, y, text, ink, turn=turn, **look)

    def add_points(self, room: Room, across: int, near: int) -> None:
        """Points that words had better not cover."""
        for replay in self.replays:
            for place in range(len(replay.tried)):
                x, y = self.x(replay, across, place), self.y(replay, near, place)
                if not math.isnan(x):
                    room.lines.append((x - 4, y - 4, x + 4, y + 4))

    def peak_words(self, scale: Scale) -> list[FlatWords]:
        """The peak, with spots over and under the end of its line."""
        found = []
        for one in list(self.told.ceilings.values())[:1]:
            text, y = one.flat_text, scale(one.roof.peak)
            x = self.frame.right - width(text) / 2 - 4
            found.append((text, "computing", [(x, y + down) for down in (-13, -8, 20)]))
        return found

    def peer_words(self, scale: Scale) -> list[FlatWords]:
        """The libraries, each with spots over and under its line, from the left."""
        found = []
        for name, rate in self.told.peers.items():
            text, y = f"{name} {si(rate, 'FLOP/s')}", scale(rate)
            half = width(text) / 2 + 4
            left, right = self.frame.left + half, self.frame.right - half
            spots = [(x, y + down) for x in (left, (left + right) / 2, right)
                     for down in (-8, 18, -26, 36)]  # fmt: skip
            found.append((text, "ink", spots))
        return found

    def slope_words(self, across: int, rate: Scale) -> tuple[str, str, list[tuple[float, float]]]:
        """The bandwidth along its slope, or what the diagonal is."""
        if across == len(self.levels):
            path = self.diagonal(rate)
            return "as predicted", "soft", [] if math.isnan(path[0][0]) else path
        one = self.told.ceilings.get(self.levels[across])
        return (one.slope_text, "carrying", self.slope(one, rate)) if one else ("", "", [])

    def draw_head(self) -> None:
        """Rows over the axes: the fastest so far by name, and what was predicted to be."""
        scene, rows = self.scene, self.rows
        scene.dot(15, ROW - 6, "diamond", 7, name="key")
        told = self.by("beam candidate", Replay.headline)
        scene.text(30, ROW, told, bold=True, name="head")
        for row in range(rows):
            words = self.by("beam candidate", partial(self.name_row, row))
            scene.text(30, ROW * (row + 2), words, size=LETTERS, name="name")
        y = ROW * (rows + 2)
        scene.dot(15, y - 5, "down", 7, fill=None, ink="ink", width=2.2, name="key")
        told = self.by("beam candidate", Replay.hope_line)
        scene.text(30, y, told, size=LETTERS, name="head")

    def name_row(self, row: int, replay: Replay, number: int) -> str:
        """A row of the name of the fastest so far. A row is as long as fits; the last takes all."""
        found, room = [""], self.scene.width - 34
        for word in replay.names[replay.best(number)].split(" "):
            longer = f"{found[-1]} {word}".strip()
            if width(longer) * LETTERS / FONT <= room or len(found) == self.rows:
                found[-1] = longer
            else:
                found.append(word)
        return found[row] if row < len(found) else ""


def _ticks(scale: Scale) -> list[float]:
    """Round values, more of them to a decade the fewer decades there are."""
    decades = math.log10(scale.hi / scale.lo)
    if decades > 2.3:
        return scale.decades()
    return scale.steps((1, 3) if decades > 1.2 else (1, 1.5, 2, 3, 5, 7))


def _tick(rate: float) -> str:
    return short(rate, "")

"""The trail of a search: its candidates one after the other, and against their prediction.

Up goes what was measured. Across goes the order in which the candidates were measured, with a step
for each that was the fastest so far; or what was predicted. Beside it stands the fastest schedule
as loops. A slider replays the search.
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
from rooflab.show.captions import origin
from rooflab.show.rooflines.ceiling_lines import LEVELS, ceilings, roof
from rooflab.show.scene import By, Dim, Scene
from rooflab.show.scene.axes import LETTERS, Frame, Scale
from rooflab.show.scene.player import Player
from rooflab.show.time_to_roofline import short

WIDE, NARROW, AXES = 720, 400, 300  # pixels: widths of the sheets, height of the axes
LEFT, TOP, FOOT, RIGHT = 62, 84, 50, 26
LISTING, LINE = 250, 18  # pixels of the loops beside the plot, and of a line of them
CODE = {WIDE: 12, NARROW: 14}  # pixels of their letters
DOT, PALE = 3.5, 0.6
DIFFERENT = 2.0  # times: bytes that differ by less do not tell schedules apart
PACE = 60  # milliseconds of a candidate in a replay
ROOM = 1.7  # how many times as far as its values a scale reaches
CLOSE = 5.0  # times below the fastest from which on rates are seen against their prediction
VIEWS = {"order": "in order", "prediction": "against the prediction"}
Peer: TypeAlias = Measurement | float | Mapping[str, Measurement | float] | None
Look: TypeAlias = dict[str, Any]


def trail(
    found: Search | Mapping[int, Search],
    machine: Machine | str | None = None,
    *,
    peer: Peer = None,
    after: Any = None,
) -> Player:
    """Show the trail of a search, candidate by candidate.

    Parameters
    ----------
    found : Search or mapping of int to Search
        What ``rl.search.search`` returned, or ``Search.from_dict`` of a kept one. With several,
        under the width of their beams, a row of buttons chooses between them.
    machine : Machine or str, optional
        Whose peak is drawn. None takes the machine of the search if its roofs are stored or
        recorded; else there is no line.
    peer : Measurement, float or mapping of str to them, optional
        What a library reaches, in FLOP/s if it is a number: a line, under its name.
    after : GuessAxis, optional
        What ``rl.ask`` returned: the picture stays covered until there is a guess.

    Returns
    -------
    Player
        A widget. ``candidate`` is the stop of its slider, ``view`` is "order" or "prediction",
        ``beam`` is the width as text. ``sentence`` says what the picture shows.

    Notes
    -----
    A predicted rate is the FLOP over the predicted seconds. Of more than 150 candidates every
    second one is drawn, or every third. Each that was the fastest so far is drawn, and each that
    was predicted to be. Lines of the loops that the last step changed are in colour.

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
    where = _where(list(searches.values()), machine)
    replays = {str(name): Replay.of(one) for name, one in searches.items()}
    trails = _Trails(replays, where, _peers(peer))
    return Player(
        *(_Sheet(trails, wide).scene for wide in (WIDE, NARROW)), stem="trail", after=after
    )


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
class _Trails:
    """What all sheets show: searches by name, their machine, the rates of libraries."""

    by_name: Mapping[str, Replay]
    machine: Machine | None
    peers: Mapping[str, float]

    @cached_property
    def replays(self) -> list[Replay]:
        return list(self.by_name.values())

    @cached_property
    def level(self) -> str | None:
        """The first level, from the memory inwards, at which the schedules differ."""
        levels = [
            level for level in reversed(LEVELS) if np.isfinite(self._intensities(level)).any()
        ]
        apart = (np.nanmax(i) > DIFFERENT * np.nanmin(i) for i in map(self._intensities, levels))
        return next((level for level, far in zip(levels, apart) if far), next(iter(levels), None))

    def _intensities(self, level: str) -> list[float]:
        every = ((one, place) for one in self.replays for place in range(len(one.tried)))
        return [one.intensity(place, level) for one, place in every]

    @cached_property
    def lines(self) -> dict[str, tuple[float, Look]]:
        """Level lines: their words, FLOP/s and looks."""
        found: dict[str, tuple[float, Look]] = {}
        if self.machine is not None:
            peak = self.machine.peak("fp32")
            found[f"peak {si(peak, 'FLOP/s')}"] = peak, {"ink": "computing", "width": 2.6}
        for name, rate in self.peers.items():
            found[f"{name} {si(rate, 'FLOP/s')}"] = rate, {"ink": "ink", "dash": (8, 4)}
        return found

    def said(self, replay: Replay, view: int, number: int) -> str:
        """The sentence of a state."""
        said = [replay.said(number)]
        if view:
            said.append(replay.said_of_hope(number))
        elif self.level is not None:
            known = self.machine is not None and self.level in self.machine.levels
            over = roof(self.machine, "fp32", self.level) if known and self.machine else None
            said.append(replay.said_of_bytes(number, self.level, over))
        return " ".join(said)

    def notes(self, step: int) -> list[Any]:
        """What the dots are, which are left out, and where the peak comes from."""
        which = {1: "Each schedule that was measured", 2: "Every second schedule"}
        what = which.get(step, f"One in {step} schedules") + " is a dot"
        what += "." if step == 1 else ", and so is each record."
        skipped = [len(one.found.rejected) for one in self.replays]
        more = [f" {several(many, 'schedule')} more {'was' if many == 1 else 'were'} not measured."
                if many else "" for many in skipped]  # fmt: skip
        found: list[Any] = [By("beam", [f"{what}{one}" for one in more])]
        if self.machine is None:
            return [*found, "No peak: nothing is known of the machine of this search."]
        ran, of = {one.found.threads for one in self.replays}, self.machine.threads
        source = origin(self.machine)
        if of is not None and ran != {of}:
            listed = " and ".join(map(str, sorted(ran)))
            source += f" They are those of {several(of, 'thread')}; the search could use {listed}."
        return [*found, source]


class _Sheet:
    """The picture on a sheet of one width."""

    def __init__(self, trails: _Trails, wide: int) -> None:
        self.trails, self.replays = trails, trails.replays
        self.numbers, self.step = numbers(self.replays)
        names, stops = list(trails.by_name), [str(one) for one in self.numbers]
        dims = [
            Dim("beam", names, names),
            Dim("view", [*VIEWS.values()], [*VIEWS], glide=400),
            Dim("candidate", stops, start=len(stops) - 1, glide=PACE),
        ]
        self.rows = max(len(lines) for one in self.replays for lines in one.listings.values())
        beside, low = wide == WIDE, TOP + AXES
        high = low + FOOT + (0 if beside else LINE * (self.rows + 2))
        self.scene = scene = Scene(wide, high, dims)
        self.frame = Frame(LEFT, TOP, wide - (LISTING if beside else RIGHT), low)
        self.draw_axes()
        self.draw_lines()
        for number in self.numbers:
            self.draw_dot(number)
        self.draw_steps()
        self.draw_marked()
        self.draw_head()
        self.draw_loops(*((wide - LISTING + 16, TOP + 12) if beside else (8, low + FOOT + LINE)))
        scene.choice("view", "what goes across", scene.dim("view").stops)
        if len(self.replays) > 1:
            scene.choice("beam", "width of the beam", [f"width {name}" for name in names])
        scene.play("candidate", "▶ replay")
        scene.slider("candidate", "candidates measured so far")
        scene.grip("candidate", *self.moving(Replay.at), area=self.frame.box)
        scene.says = self.by("beam view candidate", trails.said)
        for words in trails.notes(self.step):
            scene.note(words)

    # Scales and places.

    def by(self, dims: str, value: Callable[..., Any]) -> By:
        """``value(replay, …)`` at every place; a candidate is given by its number."""
        last = dims.endswith("candidate")

        def found(beam: int, *places: int) -> Any:
            rest = [*places[:-1], self.numbers[places[-1]]] if last else places
            return value(self.replays[beam], *rest)

        return self.scene.each(dims, found)

    @cached_property
    def across(self) -> list[Scale]:
        """The candidates in order, and predicted FLOP/s, to pixels."""
        promised = [rate for one in self.replays for rate in one.promised if not math.isnan(rate)]
        promised = promised or [self.up[0].lo, self.up[0].hi]
        order = self.frame.x(0, max(len(one.tried) for one in self.replays) + 1, log=False)
        return [order, self.frame.x(min(promised) / ROOM, max(promised) * ROOM)]

    @cached_property
    def up(self) -> list[Scale]:
        """Measured FLOP/s to pixels: all of them, and close to the fastest."""
        rates = [rate for one in self.replays for rate in one.rates]
        lines = [rate for rate, _ in self.trails.lines.values()]
        low = min([*lines, *(max(one.rates) for one in self.replays)]) / CLOSE
        return [self.frame.y(at, max(rates + lines) * ROOM) for at in (min(rates) / ROOM, low)]

    def x(self, replay: Replay, view: int, place: int) -> float:
        return float(self.across[view](replay.promised[place] if view else place + 1))

    def y(self, replay: Replay, view: int, place: int) -> float:
        return float(self.up[view](replay.rates[place]))

    def fixed(self, place: int) -> tuple[By, By]:
        """x and y of one candidate of each search; of a shorter search, nowhere."""

        def at(value: Callable[..., float], replay: Replay, view: int) -> float:
            return value(replay, view, place) if place < len(replay.tried) else math.nan

        return self.by("beam view", partial(at, self.x)), self.by("beam view", partial(at, self.y))

    def moving(self, which: Callable[[Replay, int], int]) -> tuple[By, By]:
        """x and y of another candidate in each state, by its place."""
        return (
            self.by("beam view candidate", lambda one, v, to: self.x(one, v, which(one, to))),
            self.by("beam view candidate", lambda one, v, to: self.y(one, v, which(one, to))),
        )

    # What is drawn.

    def draw_axes(self) -> None:
        """Ticks and names of both views, and a stripe for every other round."""
        scene, frame = self.scene, self.frame
        for number in range(1, 1 + max(one.tried[-1].round for one in self.replays), 2):
            ends = [self._round(one, number) for one in self.replays]
            left, wide = (By("beam", column) for column in zip(*ends))
            scene.rect(left, frame.top, wide, AXES, "soft", radius=0, name="round",
                       opacity=By("view", [0.09, 0.0]))  # fmt: skip
        for number in range(1, 1 + max(one.tried[-1].round for one in self.replays)):
            spans = np.array([self._round(one, number) for one in self.replays])
            words = np.where(spans[:, 1] > 60, f"round {number}", str(number)).astype(object)
            scene.text(By("beam", spans @ [1, 0.5]), frame.bottom - 8, By("beam", words), "soft",
                       size=LETTERS - 1, anchor="middle", opacity=By("view", [1, 0]),
                       name="round name")  # fmt: skip
        for view, (x, y) in enumerate(zip(self.across, self.up)):
            seen = By("view", [float(view == one) for one in range(2)])
            frame.y_ticks(scene, y, _ticks(y), _tick, opacity=seen)
            places = _ticks(x) if view else [v for v in x.even(7) if v >= 1 and v == round(v)]
            frame.x_ticks(scene, x, places, _tick if view else "{:g}".format, opacity=seen)
        scene.text(frame.right, frame.bottom + 42, By("view", ["candidate", "predicted FLOP/s"]),
                   size=LETTERS, anchor="end", name="axis")  # fmt: skip
        scene.text(8, frame.top - 11, "measured FLOP/s", size=LETTERS, name="axis")
        frame.draw(scene)

    def _round(self, replay: Replay, number: int) -> tuple[float, float]:
        """Left end and width of a round in pixels; nowhere if the search ended before."""
        at = [place + 1 for place, one in enumerate(replay.tried) if one.round == number]
        if not at:
            return math.nan, math.nan
        left, right = (self.across[0](edge) for edge in (at[0] - 0.5, at[-1] + 0.5))
        return left, right - left

    def draw_lines(self) -> None:
        """The peak and the libraries, each under its name; what was measured as predicted."""
        scene, frame, last = self.scene, self.frame, -math.inf
        for words, (rate, look) in sorted(self.trails.lines.items(), key=lambda one: -one[1][0]):
            y = By("view", [scale(rate) for scale in self.up])
            scene.line([(frame.left, y), (frame.right, y)], name="level", **look)
            near = float(np.min(y.values)) < last + LETTERS + 6  # then its name stands below it
            last = float(np.max(y.values))
            foot = By("view", np.asarray(y.values) + (16 if near else -6))
            middle = (frame.left + frame.right) / 2
            scene.text(middle, foot, words, look["ink"], size=LETTERS, halo=True, anchor="middle",
                       name="level name")  # fmt: skip
        across, up = self.across[1], self.up[1]
        lo, hi = max(across.lo, up.lo), min(across.hi, up.hi)
        if lo < hi:
            ends = [(across(at), up(at)) for at in (lo, hi)]
            scene.line(
                ends, "soft", 1.6, dash=(5, 4), opacity=By("view", [0, 1]), name="as predicted"
            )

    def draw_dot(self, number: int) -> None:
        """A candidate, from its measurement on."""
        seen = By("candidate", [PALE * (one >= number) for one in self.numbers])
        self.scene.dot(*self.fixed(number - 1), size=DOT, opacity=seen, clip=self.frame.box,
                       name="candidate")  # fmt: skip

    def draw_steps(self) -> None:
        """The fastest so far over the candidates: a step for each record."""
        many = max(len(one.steps) for one in self.replays)

        def corners(replay: Replay, number: int) -> list[float]:
            end, found = float(self.across[0](replay.at(number) + 1)), list[float]()
            for place, rate in replay.steps:
                x, y = min(float(self.across[0](place + 1)), end), float(self.up[0](rate))
                if place <= replay.at(number):
                    found += [x, found[-1] if found else y, x, y]
            found += [end, found[-1]]
            return found + found[-2:] * ((4 * many + 2 - len(found)) // 2)

        self.scene.line(self.by("beam candidate", corners), "key", 2, opacity=By("view", [1, 0]),
                        name="steps")  # fmt: skip

    def draw_marked(self) -> None:
        """The schedule as written, the one predicted fastest, the fastest, the current one."""
        scene, f = self.scene, self.frame
        look = Look(clip=(f.left - 12, f.top - 12, f.right + 12, f.bottom + 12))
        scene.dot(*self.fixed(0), size=6.5, fill="paper", ink="ink", name="written", **look)
        ring: Look = {"fill": None, "width": 2.4, **look}
        scene.dot(*self.moving(Replay.hope), "down", 9, ink="ink", name="predicted", **ring)
        scene.dot(*self.moving(Replay.best), "diamond", 7, ink="paper", width=1, name="fastest",
                  **look)  # fmt: skip
        scene.dot(*self.moving(Replay.at), size=9, ink="key", name="now", **ring)

    def draw_head(self) -> None:
        """Over the axes: how fast the fastest so far is, and what was predicted to be."""
        scene = self.scene
        scene.dot(15, 15, "diamond", 7, name="key")
        words = self.by("beam candidate", Replay.headline)
        scene.text(30, 21, words, bold=True, name="head")
        scene.dot(15, 38, "down", 7, fill=None, ink="ink", width=2.2, name="key")
        words = self.by("beam candidate", Replay.hope_line)
        scene.text(30, 43, words, size=LETTERS, name="head")

    def draw_loops(self, x: float, y: float) -> None:
        """The fastest so far as loops; what the last step changed has the colour of the steps."""
        self.scene.text(
            x, y - 23, "the fastest so far; blue: new", "soft", size=LETTERS, name="loops of"
        )
        for row in range(self.rows):
            line, ink = (self.by("beam candidate", partial(one, row)) for one in (_line, _ink))
            self.scene.text(
                x,
                y + LINE * row,
                line,
                ink,
                size=CODE[round(self.scene.width)],
                mono=True,
                name="loops",
            )


def _line(row: int, replay: Replay, number: int) -> str:
    """A line of the loops of the fastest so far."""
    lines = replay.listings[replay.best(number)]
    return lines[row] if row < len(lines) else ""


def _ink(row: int, replay: Replay, number: int) -> str:
    """Its colour: "key" if the record before did not have it."""
    best = replay.best(number)
    before = [place for _, place in replay.records if place < best]
    old = [one.strip() for one in replay.listings[before[-1]]] if before else []
    line = _line(row, replay, number).strip()
    return "key" if before and line and line not in old else "ink"


def _ticks(scale: Scale) -> list[float]:
    """Round values, more of them to a decade the fewer decades there are."""
    decades = math.log10(scale.hi / scale.lo)
    if decades > 2.3:
        return scale.decades()
    return scale.steps((1, 3) if decades > 1.2 else (1, 1.5, 2, 3, 5, 7))


def _tick(rate: float) -> str:
    return short(rate, "")

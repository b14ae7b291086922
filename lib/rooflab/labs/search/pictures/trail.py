"""The trail of a search as a staircase: a step for each schedule that was clearly faster.

Up goes what was measured. Across goes the order in which the candidates were measured, or what was
predicted of them. Beside the plot stand the loops of a step, with what its move changed in colour.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from rooflab.count.si import several, si, times
from rooflab.count.validation import amount
from rooflab.labs.search.pictures.replay import Replay
from rooflab.labs.search.schedules.result import Search
from rooflab.measure.measurement import Measurement
from rooflab.predict.catalogue import machine as _machine
from rooflab.predict.machine import Machine
from rooflab.show.captions import origin
from rooflab.show.labels import Box, overlaps, width
from rooflab.show.scene import By, Dim, Scene
from rooflab.show.scene.axes import LETTERS, Frame, Scale
from rooflab.show.scene.player import Player
from rooflab.show.time_to_roofline import short

WIDE, NARROW, AXES = 820, 400, 340  # pixels: widths of the sheets, height of the axes
LEFT, TOP, FOOT, EDGE = 56, 40, 52, 12
LISTING, LINE = 270, 19  # pixels of the loops beside the plot, and of a line of them
CODE = {WIDE: 13, NARROW: 14}  # pixels of their letters
ROOM, BELOW = 1.12, 0.16  # of the highest value: how far the axes reach, above it and below zero
VIEWS = {"order": "in order", "prediction": "against the prediction"}


def trail(
    found: Search,
    machine: Machine | str | None = None,
    *,
    peer: Mapping[str, Measurement | float] | None = None,
    after: Any = None,
) -> Player:
    """Show the trail of a search as a staircase, step by step.

    Parameters
    ----------
    found : Search
        What ``rl.search.search`` returned, or ``Search.from_dict`` of a kept one.
    machine : Machine or str, optional
        Whose peak is drawn.
    peer : mapping of str to Measurement or float, optional
        What libraries reach, in FLOP/s if it is a number: a line for each, under its name.
    after : GuessAxis, optional
        What ``rl.ask`` returned: the picture stays covered until there is a guess.

    Returns
    -------
    Player
        A widget. ``step`` is the stop of its slider, 0 for the nest as written; ``view`` is "order"
        or "prediction". ``sentence`` says what the picture shows.

    Notes
    -----
    A step is a candidate that was at least 5 % faster than the step before, as measured in its
    turn. Its name is the move that made it. Whole runs at the end decide which candidate wins.

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
    >>> picture = rl.search.trail(replace(found, timed=True), mine, peer={"library": 4e10})
    >>> picture.step = 0
    >>> print(picture.sentence)
    As written, the loops reach 2.76 GFLOP/s.
    """
    if not isinstance(found, Search):
        raise TypeError(f"found={found!r} is no search; pass what rl.search.search returned")
    if not found.timed:
        raise ValueError("found: another measure than time decided this search, and a trail shows "
                         "FLOP/s; see its candidates instead")  # fmt: skip
    if peer is not None and not isinstance(peer, Mapping):
        raise TypeError(f"peer={peer!r} must be a mapping, such as {{'library': measurement}}")
    where = None if machine is None else _machine(machine)
    rates = {name: _rate(one) for name, one in (peer or {}).items()}
    sheets = (_Sheet(Replay(found), where, rates, wide).scene for wide in (WIDE, NARROW))
    return Player(*sheets, stem="trail", after=after)


def _rate(peer: Measurement | float) -> float:
    """FLOP/s of a library to compare with."""
    if isinstance(peer, Measurement):
        return peer.flop_per_s
    return amount("peer", peer, "a Measurement, or a positive number of FLOP/s")


class _Sheet:
    """The picture on a sheet of one width."""

    def __init__(
        self, replay: Replay, machine: Machine | None, peers: Mapping[str, float], wide: int
    ) -> None:
        self.replay, self.machine = replay, machine
        self.numbers = range(len(replay.steps))
        self.lines = {f"{name} {si(rate, 'FLOP/s')}": rate for name, rate in peers.items()}
        if machine is not None:
            peak = machine.peak("fp32")
            self.lines[f"peak {si(peak, 'FLOP/s')}"] = peak
        rows = max(len(replay.loops(number)) for number in self.numbers)
        beside, low = wide == WIDE, TOP + AXES
        stops = ["as written", *map(str, self.numbers[1:])]
        self.scene = scene = Scene(
            wide, low + FOOT + (0 if beside else LINE * (rows + 2)),
            [Dim("view", [*VIEWS.values()], [*VIEWS], glide=600),
             Dim("step", stops, start=len(stops) - 1, glide=400)],
        )  # fmt: skip
        self.frame = Frame(LEFT, TOP, wide - EDGE - (LISTING if beside else 0), low)
        most = max(*replay.rates, *self.lines.values())
        self.up = self.frame.y(-BELOW * most, ROOM * most, log=False)
        promised = [one for one in replay.promised if not math.isnan(one)] or [most]
        order = Scale(0, len(replay.tried) + 1, LEFT, self.frame.right, log=False)
        self.across = order, self.frame.x(0, ROOM * max(promised), log=False)
        self.in_order = By("view", [1, 0])
        self.draw_axes()
        names = self.names()
        self.draw_lines([_box(*at, width(words, LETTERS)) for words, at in names.values()])
        for place in range(len(replay.tried)):
            self.draw_dot(place)
        if replay.whole:
            self.draw_whole()
        scene.line(self.corners, "key", 2.2, opacity=self.in_order, name="stairs")
        self.draw_names(names)
        self.draw_now()
        self.draw_loops(rows, *((wide - LISTING + 6, TOP) if beside else (8, low + FOOT + LINE)))
        scene.choice("view", "what goes across", scene.dim("view").stops)
        scene.play("step")
        scene.slider("step", "step")
        scene.says = scene.each("view step", self.said)
        self.note()

    def said(self, view: int, number: int) -> str:
        """The sentence of a state."""
        return " ".join([self.replay.said(number), *([self.replay.hope] * view)])

    def note(self) -> None:
        """What the dots are, how many there are not, and where the peak comes from."""
        others = several(len(self.replay.found.rejected), "schedule")
        self.scene.note(
            f"A dot is a schedule that was measured; {others} more came out of moves and were not. "
            "A step is at least 5 % higher than the one before."
            + " The diamond: whole runs of the winner."
            * (self.replay.whole > 0)
        )
        if self.machine is None:
            return
        ran, of = self.replay.found.threads, self.machine.threads
        source = origin(self.machine)
        if of not in (None, ran):
            source += f" They are for {several(of or 1, 'thread')}; the search could use {ran}."
        self.scene.note(source)

    def place(self, place: int) -> tuple[By, float]:
        """x and y of a candidate."""
        found = self.across[0](place + 1), self.across[1](self.replay.promised[place])
        return By("view", [float(x) for x in found]), float(self.up(self.replay.rates[place]))

    # What is drawn.

    def draw_axes(self) -> None:
        """Ticks and names of both views, and where a round begins."""
        scene, frame, tried = self.scene, self.frame, self.replay.tried
        rounds = [one.round for one in tried]
        for number in range(1, max(rounds) + 1):
            first, many = rounds.index(number), rounds.count(number)
            left, right = (float(self.across[0](at + 0.5)) for at in (first, first + many))
            if number % 2:
                scene.rect(left, frame.top, right - left, AXES, "soft", radius=0, name="round",
                           opacity=By("view", [0.09, 0]))  # fmt: skip
            words = f"round {number}" if right - left > 58 else str(number)
            scene.text((left + right) / 2, frame.bottom + 18, words, "soft", size=LETTERS,
                       anchor="middle", opacity=self.in_order, name="round name")  # fmt: skip
        ticks, across = ([v for v in one.even() if v >= 0] for one in (self.up, self.across[1]))
        frame.y_ticks(scene, self.up, ticks, _tick)
        frame.x_ticks(scene, self.across[1], across, _tick, opacity=By("view", [0, 1]))
        names = By("view", ["schedules in the order of measuring, by round", "predicted FLOP/s"])
        scene.text(frame.right, frame.bottom + 40, names, size=LETTERS, anchor="end", name="axis")
        scene.text(8, frame.top - 16, "measured FLOP/s", size=LETTERS, name="axis")
        frame.draw(scene)

    def draw_lines(self, names: list[Box]) -> None:
        """The peak and the libraries, each under its name; what was measured as predicted."""
        scene, frame = self.scene, self.frame
        spots = [self.place(place) for place in range(len(self.replay.tried))]
        dots = ([(x.values[view] - 5, y - 5, x.values[view] + 5, y + 5) for x, y in spots]
                for view in (0, 1))  # fmt: skip
        stairs = [(x, v - 2, u, y + 2) for (x, y), (u, v) in pairwise(self.corners)]
        taken = [[*names, *stairs, *next(dots)], next(dots)]  # in each view
        for words, rate in self.lines.items():
            y, peak = float(self.up(rate)), words.startswith("peak ")
            ink = "computing" if peak else "ink"
            scene.line([(frame.left, y), (frame.right, y)], ink, 2.6 if peak else 1.5,
                       dash=() if peak else (8, 4), name="level")  # fmt: skip
            wide, found = width(words, LETTERS), []
            across = frame.left + 6, frame.right - wide - 6
            places = [(x, y + lift) for lift in (-6, 16, -24, 34) for x in across]
            boxes = [_box(*place, wide) for place in places]
            for view, others in enumerate(taken):
                over = [overlaps(box, np.array(others)) for box in boxes]
                at = over.index(min(over))
                taken[view] = [*others, boxes[at]]
                found.append(places[at])
            x, y_of = (By("view", [place[axis] for place in found]) for axis in (0, 1))
            scene.text(x, y_of, words, ink, size=LETTERS, halo=True, name="level name")
        end = min(self.across[1].hi, self.up.hi)
        ends = [(self.across[1](at), self.up(at)) for at in (0, end)]
        seen = By("view", [0, 1])
        scene.line(ends, "soft", 1.6, dash=(5, 4), opacity=seen, name="as predicted")
        (x, y), (u, v) = ends
        turn = math.degrees(math.atan2(v - y, u - x))
        scene.text(u - 8, v + 20, "measured = predicted", "soft", size=LETTERS, anchor="end",
                   turn=turn, halo=True, opacity=seen, name="diagonal")  # fmt: skip

    def draw_dot(self, place: int) -> None:
        """A candidate: large where it is a step, in colour where it has won."""
        step, won = place in self.replay.steps, place == self.replay.winner
        self.scene.dot(*self.place(place), size=6 if step or won else 3,
                       fill="key" if won else "ink" if step else "soft",
                       ink="paper" if step or won else None, opacity=1 if step or won else 0.6,
                       width=1, name="step" if step else "candidate")  # fmt: skip

    def draw_whole(self) -> None:
        """What whole runs of the winner reach, under its dot."""
        (x, top), y = self.place(self.replay.winner), float(self.up(self.replay.whole))
        self.scene.line([(x, top), (x, y)], "key", 1.5, name="tie")
        self.scene.text(By("view", [at + 12 for at in x.values]), y + 5, "whole runs", "key",
                        size=LETTERS, halo=True, name="whole name")  # fmt: skip
        self.scene.dot(x, y, "diamond", 7, fill="paper", ink="key", width=2, name="whole runs")

    @property
    def corners(self) -> list[tuple[float, float]]:
        """A line that climbs at each step, and goes on to the last candidate."""
        found, steps = list[tuple[float, float]](), self.replay.steps
        for before, place in zip([0, *steps], steps):
            x = float(self.across[0](place + 1))
            found += [(x, self.place(before)[1]), (x, self.place(place)[1])]
        return [*found, (float(self.across[0](len(self.replay.tried))), found[-1][1])]

    def names(self) -> dict[int, tuple[str, tuple[float, float]]]:
        """The moves of steps and where they stand: before a step, where no dot lies, or below it.

        Where there is no room for all below, those that gained least have none.
        """
        replay, found, low = self.replay, dict[int, tuple[str, tuple[float, float]]](), {}
        spots = [(float(x.values[0]), y) for x, y in map(self.place, replay.steps)]
        before, top = -math.inf, 0.0  # the end of the name before, and its line
        for number, (x, y) in enumerate(spots):
            words = replay.move(replay.steps[number])
            words += f" {times(replay.gain(number), 2)}" if number else ""
            left = x - 12 - width(words, LETTERS)
            if left < self.frame.left + 4:
                low[number] = words
                continue
            above = top - LINE if left < before else math.inf
            before, top = x, min(y + 5, spots[number - 1][1] - 11, above)
            found[number] = words, (left, top)
        while True:
            feet, foot = dict[int, float](), -math.inf
            for number in reversed(low):
                feet[number] = foot = max(spots[number][1] + 20, foot + LINE)
            if foot < self.frame.bottom - 4 or len(low) < 2:
                break
            del low[min([*low][1:], key=replay.gain)]
        return found | {n: (words, (spots[n][0] + 12, feet[n])) for n, words in low.items()}

    def draw_names(self, names: dict[int, tuple[str, tuple[float, float]]]) -> None:
        """The moves; that of the step that is read in the colour of the stairs."""
        for number, (words, at) in names.items():
            inks = By("step", ["key" if one == number else "ink" for one in self.numbers])
            self.scene.text(*at, words, inks, size=LETTERS, halo=True, opacity=self.in_order,
                            name="move")  # fmt: skip

    def draw_now(self) -> None:
        """A ring around the step that is read."""
        places = [self.place(one) for one in self.replay.steps]
        x = self.scene.each("view step", lambda view, n: float(places[n][0].values[view]))
        y = By("step", [one for _, one in places])
        self.scene.dot(x, y, size=10, fill=None, ink="key", width=2.4, name="now")
        self.scene.grip("step", x, y, area=self.frame.box)

    def draw_loops(self, rows: int, x: float, y: float) -> None:
        """The loops of the step; what its move changed has the colour of the stairs."""
        heads = [self.replay.move(place) for place in self.replay.steps]
        heads = [f"{n}. {one}" if n else one for n, one in enumerate(heads)]
        self.scene.text(x, y - 4, By("step", heads), "key", bold=True, name="head")
        listings = [self.replay.loops(number) for number in self.numbers]
        size = CODE[round(self.scene.width)]
        for row in range(rows):
            lines = [one[row] if row < len(one) else ("", False) for one in listings]
            words, inks = zip(*((line, "key" if new else "ink") for line, new in lines))
            self.scene.text(x, y + 24 + LINE * row, By("step", words), By("step", inks),
                            size=size, mono=True, name="loops")  # fmt: skip


def _box(x: float, foot: float, wide: float) -> Box:
    """Where words of this width stand."""
    return x - 2, foot - LETTERS, x + wide + 2, foot + 4


def _tick(rate: float) -> str:
    return short(rate, "") if rate else "0"

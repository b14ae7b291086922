"""Where the time of an operation goes: a ladder from what the roof allows to what was measured.

Each step of :func:`rooflab.explain` is a bar on a log axis, in the colour of what the time goes
into: equal factors have equal lengths, and each bar begins where the last one ended.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from rooflab.count.operation import Operation
from rooflab.predict.estimate import CACHES, predict
from rooflab.predict.explain import explain
from rooflab.predict.machine import Machine
from rooflab.show import falls
from rooflab.show.falls import REST, Fall, WaterfallStep
from rooflab.show.rooflines.ceiling_lines import PEAK, roof_word
from rooflab.show.scene import By, Dim, Fill, Scene, Words
from rooflab.show.waterfall_picture import INKS

if TYPE_CHECKING:
    from rooflab.measure.measurement import Measurement
    from rooflab.show.rooflines.values import RooflineValues

STEPS = ("level and mix", "call overhead", "routine efficiency", REST)  # of a measured machine
ROOFS = {"memory": roof_word("dram"), "compute": PEAK}  # by what limits it
LETTERS, BAR, NAMES = 13, 12, 218  # pixels of letters and bars, and of the words beside bars
LEAST = 0.05  # decades that a ladder is long at least
NO = math.nan


class Ladders:
    """The ladders of all operations, as tables by *case* and size; case 0 has none.

    A case is a machine on which something was timed, a number type, an operation and a side.
    """

    def __init__(self, values: RooflineValues) -> None:
        first, *_ = values.spec.sliders
        self.values, none = values, [None] * len(first.values)
        self.falls: list[list[Fall | None]] = [list(none)]
        self.ops: list[list[Operation | None]] = [list(none)]
        shape = (len(values.timed) + 1, len(values.kinds), len(values.spec.series), 3)
        self.numbers = np.zeros(shape, int)
        for who, kind, number in np.ndindex(shape[:3]):
            if who and values.has(values.timed[who - 1], values.kinds[kind], "cold"):
                self._add(who, kind, number)

    def _add(self, who: int, kind: int, number: int) -> None:
        offer, series = self.values.timed[who - 1], self.values.spec.series[number]
        if not (series.estimated and offer.known.routines) and not offer.measurements:
            return
        named = {id(m) for m in self.values.spec.rungs.values()}  # which are not of the library
        timed = {
            (m.op.label, m.cache): m for m in reversed(offer.measurements) if id(m) not in named
        }
        ops = self.values.ledgers[series.name][kind, :, 0, 0]
        ladders = [_both(op, offer.known, timed) for op in ops]
        self.numbers[who, kind, number] = range(len(self.falls), len(self.falls) + 3)
        self.falls += [list(one) for one in zip(*ladders)]
        self.ops += [list(ops)] * 3

    @property
    def dims(self) -> list[Dim]:
        """The case: that of the machine as it is, and of a single operation."""
        every = np.arange(len(self.falls))
        shown = np.zeros((2, len(self.values.spec.sliders[1].values), every.size))
        shown[1, 0] = every
        return [
            Dim("spot", [""] * every.size, of=By("who kind focus side", self.numbers)),
            Dim("case", [""] * every.size, of=By("real j spot", shown)),
        ]

    def each(self, value: Callable[[Fall, Operation], Any], none: Any) -> By:
        """A number or words of each ladder, by case and size; ``none`` where there is none."""
        rows = zip(self.falls, self.ops)
        table = [[none if f is None or op is None else value(f, op) for f, op in zip(*row)]
                 for row in rows]  # fmt: skip
        return By("case i", np.array(table, object if isinstance(none, str) else float))

    @property
    def x(self) -> By:
        """The decade of its intensity."""
        return _one(self.each(lambda _, op: math.log10(op.intensity), NO))

    @property
    def ends(self) -> tuple[By, By]:
        """The decades of FLOP/s that the bound allows, and that were reached."""
        start = self.each(lambda fall, op: math.log10(op.flops) - fall.start, NO)
        return _one(start), _one(self.each(lambda fall, op: math.log10(op.flops) - fall.end, NO))

    def place(self, which: Callable[[Fall], float], left: float, wide: float) -> By:
        """Where a decade of seconds lies from ``left`` on, in pixels that hold all of its case."""

        def pixels(fall: Fall, _: Operation) -> float:
            low, high = min(fall.places), max(fall.places)
            return left + wide * (which(fall) - low) / max(high - low, LEAST)

        return self.each(pixels, NO)

    def factor(self, name: str, arrow: str = "") -> Fill:
        """Name and factor of a step, with ``arrow`` where it makes the operation faster."""
        arrows = {"slower": "", "same": "", "faster": arrow}
        there = self._step(name, lambda step: f"{{name}} {{factor}}{arrows[step.kind]}")
        return Fill(there, name=name, factor=self._step(name, lambda step: step.factor))

    def so_far(self, name: str) -> By:
        """The time after a step."""
        return self._step(name, lambda step: step.seconds)

    def _step(self, name: str, value: Callable[[WaterfallStep], str]) -> By:
        return self.each(
            lambda fall, _: next((value(s) for s in fall.steps if s.name == name), ""), ""
        )

    def rows(self) -> tuple[Words, Words]:
        """What stands at the bound and at the time."""
        first = self.each(lambda fall, _: falls.seconds_of(fall.start), "")
        last = self.each(lambda fall, _: falls.seconds_of(fall.end), "")
        there = self.each(lambda *_: "the roof allows {time}", "")
        end = self.each(lambda fall, _: f"{fall.reached} {{time}}, {{total}}", "")
        return Fill(there, time=first), Fill(end, time=last, total=self.total)

    @property
    def total(self) -> By:
        """The product of all factors."""
        return self.each(lambda fall, _: fall.total, "")

    @property
    def words(self) -> Words:
        """The steps as a sentence."""
        steps: dict[str, Words] = {f"step{n}": self.factor(one) for n, one in enumerate(STEPS)}
        return Fill(
            self.each(lambda fall, _: _sentence(fall), ""), **steps,
            note=self.each(lambda fall, _: fall.note, ""),
            reached=self.each(lambda fall, _: fall.reached, ""),
            total=self.total,
        )  # fmt: skip


def draw_ladder(
    scene: Scene, ladders: Ladders, place: tuple[float, float, float], *, stacked: bool
) -> None:
    """Draw a row for each step at ``place`` (left, top, width).

    ``stacked``: bars lie below their words, else beside them.
    """
    left, top, wide = place
    start = left if stacked else left + NAMES
    room, row = wide - (start - left), 46 if stacked else 22
    series = ladders.values.spec.series
    name = By("focus", [one.label for one in series])
    title = ladders.each(lambda fall, _: f"{{name}}, {fall.note}: where time goes", "")
    scene.text(left, top, Fill(title, name=name), bold=True, size=LETTERS, name="ladder")
    bound, reached = ladders.rows()
    look: dict[str, Any] = {"size": LETTERS, "name": "ladder"}
    for n, words in enumerate((bound, *(ladders.factor(one, " ←") for one in STEPS), reached), 1):
        y = top + 4 + row * n - (22 if stacked else 0)
        scene.text(left, y, words, bold=n in (1, len(STEPS) + 2), **look)
        low = y + 8 if stacked else y - 11
        if 1 < n < len(STEPS) + 2:
            one = STEPS[n - 2]
            begin, end = (
                ladders.place(partial(_end, one, which), start, room) for which in ("start", "end")
            )
            dash = (4, 3) if one == REST else ()
            box = [(begin, low), (end, low), (end, low + BAR), (begin, low + BAR)]
            if stacked:
                scene.text(left + wide, y, ladders.so_far(one), "soft", size=LETTERS, anchor="end",
                           name="ladder time")  # fmt: skip
            scene.line(box, INKS[one], 2, fill="paper" if one == REST else INKS[one], closed=True,
                       dash=dash, name="ladder bar")  # fmt: skip
        else:
            which = "start" if n == 1 else "end"
            at = ladders.place(attrgetter(which), start, room)
            fill, ink = ("paper", "key") if n == 1 else ("ink", "ink")  # as its marks are
            scene.dot(at, low + BAR / 2, "diamond", 7, fill=fill, ink=ink, width=2.5, name="stop")


def _end(name: str, which: str, fall: Fall) -> float:
    """One end of a step, nowhere where it is not there."""
    return next((getattr(step, which) for step in fall.steps if step.name == name), NO)


def _sentence(fall: Fall) -> str:
    """The template of a sentence: the steps that there are."""
    steps = ", ".join(f"{{step{STEPS.index(one.name)}}}" for one in fall.steps)
    roof = ROOFS.get(fall.limit, "the bound")
    return f" The time, {{note}} and {{reached}}, is {{total}} that of {roof}: {steps}."


def _one(by: By) -> By:
    return By(by.dims, np.asarray(by.values)[..., None])


def _both(
    op: Operation, machine: Machine, timed: dict[tuple[str, str], Measurement]
) -> tuple[Fall | None, Fall | None, Fall | None]:
    """The ladder of a cold and of a warm operation; of both, the one that was measured."""

    def alone(cache: str) -> Fall | None:
        if (op.label, cache) in timed:
            fall = falls.of_explanation(explain(timed[op.label, cache], machine))
        elif machine.routines:
            fall = falls.of_prediction(op, machine, predict(op, machine, cache=cache))
        else:
            return None
        return replace(fall, note=cache)

    cold, warm = (alone(cache) for cache in CACHES)
    reached = [one.reached if one else "" for one in (cold, warm)]
    return cold, warm, warm if reached[1] == "measured" != reached[0] else cold

"""The thread of a live roofline: from the bound to the time of an operation, step by step.

Each step of :func:`rooflab.explain` has a lane of its own beside the operation's marks, in the
colour of what the time goes into, and a row with its factor in the corner where no roof comes.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rooflab.count.operation import Operation
from rooflab.predict.estimate import CACHES, predict
from rooflab.predict.explain import explain
from rooflab.predict.machine import Machine
from rooflab.show import falls
from rooflab.show.falls import REST, Fall, WaterfallStep
from rooflab.show.scene import By, Dim, Fill, Words

if TYPE_CHECKING:
    from rooflab.measure.measurement import Measurement
    from rooflab.show.rooflines.values import RooflineValues

STEPS = ("level and mix", "call overhead", "routine efficiency", REST)  # of a measured machine
ROOFS = {"memory": "the memory roof", "compute": "the peak"}  # by what limits it
NO = math.nan


class Threads:
    """The threads of all operations, as tables by *case* and size; case 0 has none.

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
        timed = {(m.op.label, m.cache): m for m in reversed(offer.measurements)}
        ops = self.values.ledgers[series.name][kind, :, 0, 0]
        threads = [_both(op, offer.known, timed) for op in ops]
        self.numbers[who, kind, number] = range(len(self.falls), len(self.falls) + 3)
        self.falls += [list(one) for one in zip(*threads)]
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
        """A number or words of each thread, by case and size; ``none`` where there is none."""
        rows = zip(self.falls, self.ops)
        table = [[none if f is None or op is None else value(f, op) for f, op in zip(*row)]
                 for row in rows]  # fmt: skip
        return By("case i", np.array(table, object if isinstance(none, str) else float))

    @property
    def x(self) -> By:
        """The decade of its intensity."""
        return _one(self.each(lambda _, op: math.log10(op.intensity), NO))

    def ends(self, name: str) -> tuple[By, By]:
        """The decades of FLOP/s between which a step lies, nowhere where it is not there."""

        def rate(which: str) -> By:
            return _one(self.each(
                lambda fall, op: next((math.log10(op.flops) - getattr(step, which)
                                       for step in fall.steps if step.name == name), NO), NO,
            ))  # fmt: skip

        return rate("start"), rate("end")

    def factor(self, name: str, arrow: str = "") -> Fill:
        """Name and factor of a step, with ``arrow`` where it makes the operation faster."""
        arrows = {"slower": "", "same": "", "faster": arrow}
        there = self._step(name, lambda step: f"{{name}} {{factor}}{arrows[step.kind]}")
        return Fill(there, name=name, factor=self._step(name, lambda step: step.factor))

    def shown(self, name: str) -> By:
        """1 where there is such a step, else 0."""
        has = self._step(name, lambda _: "1")
        return By(has.dims, (np.asarray(has.values) == "1").astype(float))

    def _step(self, name: str, value: Callable[[WaterfallStep], str]) -> By:
        return self.each(
            lambda fall, _: next((value(s) for s in fall.steps if s.name == name), ""), ""
        )

    @property
    def total(self) -> By:
        """What the factors make together: ``cold, measured: ×2.28``."""
        return self.each(lambda fall, _: f"{fall.note}, {fall.reached}: {fall.total}", "")

    @property
    def words(self) -> Words:
        """The steps as a sentence."""
        steps: dict[str, Words] = {f"step{n}": self.factor(one) for n, one in enumerate(STEPS)}
        return Fill(
            self.each(lambda fall, _: _sentence(fall), ""), **steps,
            note=self.each(lambda fall, _: fall.note, ""),
            reached=self.each(lambda fall, _: fall.reached, ""),
            total=self.each(lambda fall, _: fall.total, ""),
        )  # fmt: skip


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
    """The thread of a cold and of a warm operation; of both, the one that was measured."""

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

"""Where the time of an operation goes: a ladder from what the roof allows to what was measured.

The time that the roof allows is a bar, each step of :func:`rooflab.explain` another that begins
where the last one ended, and so are the times that were predicted and measured.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rooflab.count.operation import Operation
from rooflab.count.si import si
from rooflab.predict.estimate import CACHES, predict
from rooflab.predict.explain import explain
from rooflab.show import falls
from rooflab.show.falls import REST, Fall, WaterfallStep
from rooflab.show.rooflines.ceiling_lines import PEAK, roof_word
from rooflab.show.scene import By, Dim, Fill, Words

if TYPE_CHECKING:
    from rooflab.measure.measurement import Measurement
    from rooflab.predict.roofline import Roofline
    from rooflab.show.rooflines.machine_choices import Offer
    from rooflab.show.rooflines.values import RooflineValues

STEPS = ("level and mix", "call overhead", "routine efficiency", REST)  # of a measured machine
UNIT = 400  # of the longest time are all of it
NONE = (math.nan,) * 3
NEAR = math.log10(1.05)  # decades: a time that was predicted well


@dataclass(frozen=True)
class Ladder(Fall):
    """A waterfall from the roof over an operation, on one side.

    ``beside``: log10 of the seconds of its warm run, where this is the cold one of both.
    """

    beside: float = -math.inf


class Ladders:
    """The ladders of all operations, as tables by *case* and size; case 0 has none.

    A case is a machine on which something was timed, a number type, an operation and a side.
    """

    def __init__(self, values: RooflineValues) -> None:
        first, *_ = values.spec.sliders
        self.values, none = values, [None] * len(first.values)
        self.falls: list[list[Ladder | None]] = [list(none)]
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
        ladders = [_both(self.values, op, offer, timed) for op in ops]
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
            Dim("spot", [""] * every.size, of=By("who kind op side", self.numbers)),
            Dim("case", [""] * every.size, of=By("real j spot", shown)),
        ]

    def each(self, value: Callable[[Ladder, Operation], Any], none: Any) -> By:
        """A number or words of each ladder, by case and size; ``none`` where there is none."""
        rows = zip(self.falls, self.ops)
        table = [[none if f is None or op is None else value(f, op) for f, op in zip(*row)]
                 for row in rows]  # fmt: skip
        return By("case i", np.array(table, object if isinstance(none, str) else float))

    def shares(self, row: str) -> By:
        """Where the bar of a row begins and ends, and the time is then, UNIT being the longest."""

        def share(fall: Ladder, _: Operation) -> tuple[float, ...]:
            start, end, then = _ends(fall, row) or NONE
            longest = max(*fall.places, fall.beside)
            return tuple(UNIT * 10 ** (at - longest) for at in (start, end, then))

        return self.each(share, NONE)

    def heights(self, step: str) -> tuple[By, By, By]:
        """The decade of the intensity, and those of FLOP/s between which a step leads."""

        def rates(fall: Ladder, op: Operation) -> tuple[float, float, float]:
            work, (start, end, _) = math.log10(op.flops), _ends(fall, step) or NONE
            return math.log10(op.intensity), work - start, work - end

        table = self.each(rates, NONE)
        every = np.asarray(table.values)
        x, start, end = (By(table.dims, every[..., n : n + 1]) for n in range(3))
        return x, start, end

    def time(self, row: str) -> By:
        """The time of a mark, or the one that a step adds or saves, formatted."""
        return self.each(lambda ladder, _: _time(ladder, row), "")

    def step(self, name: str) -> tuple[By, By]:
        """The name of a step, and its factor."""

        def factor(fall: Ladder, _: Operation) -> str:
            return next((one.factor for one in fall.steps if one.name == name), "")

        table = self.each(factor, "")
        there = np.where(np.asarray(table.values) == "", "", name)
        return By(table.dims, there.astype(object)), table

    def headline(self, none: Words) -> Words:
        """What the time is of the one that the roof allows; ``none`` where there is no ladder."""
        series, (sizes, *_) = self.values.spec.series, self.values.spec.sliders
        return Fill(
            self.each(lambda ladder, _: _headline(ladder), "{none}"), none=none,
            op=By("op", [one.label for one in series]),
            n=By("i", [str(n) for n in sizes.values]), allowed=self.time("allowed"),
            time=self.each(lambda ladder, _: falls.seconds_of(ladder.end), ""),
            total=self.each(lambda ladder, _: ladder.total.removeprefix("×"), ""),
        )  # fmt: skip

    @property
    def words(self) -> Words:
        """What the steps come to: the largest of them, and what none explains."""
        return Fill(
            self.each(lambda ladder, _: _sentence(ladder), ""),
            whole=self.each(lambda ladder, _: falls.factor_text(10 ** _known(ladder)), ""),
            largest=self.each(lambda ladder, _: _largest(ladder).factor, ""),
            rest=self.each(lambda ladder, _: falls.factor_text(10 ** abs(_rest(ladder))), ""),
        )  # fmt: skip


def _ends(fall: Ladder, row: str) -> tuple[float, float, float] | None:
    """Where the bar of a row begins and ends, and what the time is then: decades of seconds.

    The bar of a mark begins at 0 s.
    """
    for step in fall.steps:
        if step.name == row:
            return step.start, step.end, step.end
    ends = {"allowed": fall.start, fall.reached: fall.end}
    if fall.beside > -math.inf:
        ends["warm"] = fall.beside
    if fall.steps and fall.steps[-1].name == REST:
        ends["predicted"] = fall.steps[-1].start
    return (-math.inf, ends[row], ends[row]) if row in ends else None


def _time(fall: Ladder, row: str) -> str:
    """The time of a mark, or how a step changes it, formatted."""
    for step in fall.steps:
        if step.name == row:
            change = 10**step.end - 10**step.start
            sign = {"slower": "+", "faster": "−"}.get(step.kind)
            return f"{sign}{si(abs(change), 's')}" if sign else ""
    ends = _ends(fall, row)
    return falls.seconds_of(ends[1]) if ends else ""


def _headline(fall: Ladder) -> str:
    """The template of what stands above the picture."""
    roof = PEAK if fall.limit == "compute" else roof_word(fall.limit)
    return (
        f"{{op}}, N = {{n}}, {fall.note}: {{time}} {fall.reached}, {{total}} times the {{allowed}} "
        f"that {roof} allows"
    )


def _sentence(fall: Ladder) -> str:
    """The template of what the steps say, with the names in their places."""
    largest, usual = _largest(fall), ""
    if _rest(fall) < -NEAR and fall.end < largest.end:  # then a step is larger than the whole
        usual = ", so this call cost less than usual" if largest.name == "call overhead" else ""
        text = f" {{whole}} was predicted, most of it {largest.name}, {{largest}}."
    else:
        text = f" The largest factor is {largest.name}, {{largest}}." if largest.name else ""
    if abs(_rest(fall)) <= NEAR:
        return text
    if _rest(fall) > 0:
        return f"{text} It took {{rest}} the predicted time."
    return f"{text} It was {{rest}} as fast as predicted{usual}."


def _largest(fall: Fall) -> WaterfallStep:
    """The known step with the largest factor; one without a name where none slows it."""
    slower = [step for step in fall.steps if step.explained and step.kind == "slower"]
    return max(slower, key=lambda s: s.end - s.start, default=WaterfallStep("", 0, 0, "", ""))


def _known(fall: Fall) -> float:
    """Decades from the roof to the prediction."""
    return fall.end - _rest(fall) - fall.start


def _rest(fall: Fall) -> float:
    """Decades that no step explains."""
    return sum(step.end - step.start for step in fall.steps if not step.explained)


def _both(
    values: RooflineValues, op: Operation, offer: Offer, timed: dict[tuple[str, str], Measurement]
) -> tuple[Ladder | None, Ladder | None, Ladder | None]:
    """The ladder of a cold and of a warm operation; of both, the one that was measured."""
    machine = offer.known

    def alone(cache: str) -> Ladder | None:
        if (op.label, cache) in timed:
            fall = falls.of_explanation(explain(timed[op.label, cache], machine))
        elif machine.routines:
            fall = falls.of_prediction(op, machine, predict(op, machine, cache=cache))
        else:
            return None
        return _from_roof(fall, op, *values.roof_of(offer, op, cache), cache)

    cold, warm = (alone(cache) for cache in CACHES)
    if cold and warm and warm.reached == "measured":
        both = warm if cold.reached != "measured" else replace(cold, beside=warm.end)
        return cold, warm, both
    return cold, warm, cold


def _from_roof(fall: Fall, op: Operation, level: str, roof: Roofline, cache: str) -> Ladder:
    """The ladder from the roof over the operation, which is that of a cache where it is warm.

    Its ``limit`` is that level, or "compute".
    """
    rate, steps = roof.attainable(op.intensity), fall.steps
    start, limit = math.log10(op.flops / rate), level if rate < roof.peak else "compute"
    none = WaterfallStep(STEPS[0], start, fall.start, "", "")
    first, *rest = steps if steps[:1] and steps[0].name == STEPS[0] else (none, *steps)
    first = replace(first, start=start, factor=falls.factor_text(10 ** (first.end - start)))
    return Ladder(fall.sentence, cache, start, (first, *rest), fall.reached, limit)

"""What a live roofline is made of: sliders, operations that they move, machines on offer."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rooflab.count.dtypes import DType, DTypeLike
from rooflab.count.operation import Operation
from rooflab.show.canvas import ABOVE, Frame, around, frame_for
from rooflab.show.rooflines import ceiling_lines
from rooflab.show.rooflines.machine_choices import Offer

if TYPE_CHECKING:
    from rooflab.measure.measurement import Measurement

FACTORS = tuple(2 ** (n / 2) for n in range(-2, 5))  # of next year's machine
KNOBS = (-1.4, 4.4)  # decades of FLOP/byte at which slope and flat roof can be grabbed


@dataclass(frozen=True)
class Slider:
    """A slider of a live picture: what it is called, its values, where it starts (an index)."""

    name: str
    label: str
    values: Sequence[int]
    start: int

    @property
    def options(self) -> list[tuple[str, int]]:
        """Its values with their texts; none where there is nothing to choose."""
        return [(str(value), value) for value in self.values] if len(self.values) > 1 else []


@dataclass(frozen=True)
class Series:
    """One moving marker: ``build(i-value, j-value, k-value, dtype)`` gives its operation.

    ``tags`` and ``why`` are its label and its reason at each value of the second slider;
    ``spread``: its place depends on that second slider; ``estimated``: predict() is asked for it
    at the first value of the second slider (a single problem), on machines with routines.
    """

    name: str
    label: str
    build: Callable[[int, int, int, DTypeLike], Operation]
    tags: Sequence[str]
    why: Sequence[str]
    spread: bool
    estimated: bool = True


@dataclass(frozen=True)
class Tables:
    """A live picture before it is packed: sliders (three), series, dtypes, machines on offer."""

    sliders: tuple[Slider, ...]
    series: tuple[Series, ...]
    dtypes: tuple[DType, ...]
    offers: tuple[Offer, ...]
    overhead: bool = False  # whether lines show what a call costs, where calls were timed
    band: tuple[float, float] | None = None  # intensities of a thumb rule
    mix: str = ceiling_lines.MIX  # of reading and writing, for which the memory roofs are drawn
    ladder: bool = False  # whether a ladder shows where the time goes
    rungs: Mapping[str, Measurement] = field(default_factory=dict)  # measurements with a name

    @property
    def frame(self) -> Frame:
        """The sheet that everything is placed on: axes that hold every machine on offer."""
        own = [self.frame_of(offer) for offer in self.offers if offer.machine]
        return Frame(*around(*own)) if own else frame_for(())

    def frame_of(self, offer: Offer) -> Frame:
        """Axes that fit ``offer``: its roofs in every dtype, and what was measured on it."""
        if offer.machine is None:
            return self.frame
        rates = offer.rates(self.dtypes)
        rates.append(max(rates, default=0) * FACTORS[-1] / 10**ABOVE)  # a peak that is pulled up
        if "dram" in offer.machine.levels:  # the slope's handle, with the least bandwidth
            rates.append(0.9 * offer.machine.bandwidth() * 10 ** KNOBS[0] * FACTORS[0])
        if self.overhead and offer.machine.routines:
            rates.append(ceiling_lines.LOWEST)
        return frame_for(rates)

    def points(self) -> Iterable[tuple[int, int, int]]:
        """Every combination of slider values, in table order."""
        i, j, k = (slider.values for slider in self.sliders)
        return itertools.product(i, j, k)

"""What a film shows in every state: times, roofs and scales, counted machine by machine.

A table has an axis for each of machine, weights, KV cache, batch and context, in this order, as far
as its numbers depend on them. It is not a number where a machine has no figure.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from rooflab.labs.llm.decode_loop import DecodeRun
from rooflab.labs.llm.film.grid import ATTENTION, COMPUTE, FEET, REST, DotKind, Grid, TimedRun, each
from rooflab.labs.llm.step_time import MIX, timing
from rooflab.labs.llm.steps import Step
from rooflab.labs.llm.workload import Workload
from rooflab.predict.machine import Machine
from rooflab.show.rooflines import ceiling_lines
from rooflab.show.rooflines.machine_choices import Offer

NEAR = 2.4  # times all but attention: what the bars' axis holds until a bar is higher
ROOM = 1.25  # times the highest bar, so that its value has room above it
# Decades that a roofline has below its lowest dot and above its highest peak, for their names.
BELOW, ABOVE = 1.1, 0.65
#: Seconds at which scales of time end, from a microsecond to a day.
TOPS = np.array([top * 10.0**e for e in range(-6, 5) for top in (1, 1.5, 2, 3, 4, 6, 8)])


def along(table: np.ndarray, many: int) -> np.ndarray:
    """A table with axes of length 1 behind its own, ``many`` in all."""
    return table.reshape(table.shape + (1,) * (many - table.ndim))


def crossing(contexts: Sequence[int], attention: np.ndarray, rest: float) -> float:
    """Context at which attention takes as long as the ``rest`` (seconds), on straight lines.

    0: it is so from the first one on; infinite: it is so at none of ``contexts``.
    """
    if attention[0] >= rest:
        return 0.0
    return math.inf if attention[-1] < rest else float(np.interp(rest, attention, contexts))


def ran_on(run: DecodeRun, machine: Machine | None) -> bool:
    """Whether ``run`` was made on ``machine``, with the threads of its roofs."""
    return bool(machine and machine.id == run.machine and machine.threads in (None, run.threads))


@dataclass(frozen=True)
class FilmTables:
    """The film of a ``grid`` on the machines of ``offers``, with what ``runs`` measured on them."""

    grid: Grid
    offers: tuple[Offer, ...]
    runs: tuple[DecodeRun, ...] = ()

    @cached_property
    def shape(self) -> tuple[int, int, int, int, int]:
        """How many machines, formats of weights and of the KV cache, batches, contexts."""
        return len(self.offers), *self.grid.shape

    @cached_property
    def no(self) -> list[list[str]]:
        """For each machine and format of weights, why there is no roof, or ""."""
        kinds = self.grid.computed
        return [
            [offer.reason or ceiling_lines.missing(offer.known, kind, "cold") for kind in kinds]
            for offer in self.offers
        ]

    @cached_property
    def usable(self) -> np.ndarray:
        """Whether a machine has a roof for a format of weights."""
        return np.array([[not reason for reason in row] for row in self.no])

    @cached_property
    def timed(self) -> list[TimedRun]:
        """What was measured on the machines."""
        return [
            self.grid.timed(run, m, offer.known)
            for m, offer in enumerate(self.offers)
            for run in self.runs
            if ran_on(run, offer.machine)
        ]

    def at(self, run: TimedRun) -> np.ndarray:
        """1 where a run was made, else 0: by machine, weights and batch."""
        on = np.zeros((self.shape[0], self.shape[1], self.shape[3]))
        on[run.place] = 1
        return on

    # Roofs.

    @cached_property
    def roofs(self) -> np.ndarray:
        """Byte/s of memory and FLOP/s of the peak, by machine and weights."""
        found = np.full((2, *self.shape[:2]), np.nan)
        for m, w in np.argwhere(self.usable):
            roof = ceiling_lines.roof(self.offers[m].known, self.grid.computed[w], mix=MIX)
            found[:, m, w] = roof.bandwidth, roof.peak
        return found

    @property
    def ridge(self) -> np.ndarray:
        """FLOP/byte at which both meet."""
        return np.asarray(self.roofs[1] / self.roofs[0])

    @cached_property
    def decades(self) -> np.ndarray:
        """Lowest and highest decade of FLOP/s that fit each machine, in half decades."""
        bandwidth, peak = self.roofs
        low = np.fmin.reduce(bandwidth, 1) * self.grid.ends[0] * 10**-BELOW
        for run in self.timed:
            m = run.place[0]
            low[m] = min(low[m], *(rate for _, rate in run.dots.values()))
        high = np.fmax.reduce(peak, 1) * 10**ABOVE
        ends = np.stack([np.floor(2 * np.log10(low)), np.ceil(2 * np.log10(high))], -1) / 2
        return np.where(np.isnan(ends), (9, 13), ends)

    def on_roof(self, kind: DotKind) -> np.ndarray:
        """FLOP/s that the roofs allow a kind of operation."""
        x = self.grid.intensities[kind.name][None]
        bandwidth, peak = (along(one, x.ndim) for one in self.roofs)
        return np.asarray(np.minimum(x * bandwidth, peak))

    def computes(self, kind: DotKind) -> np.ndarray:
        """Whether computing is what a kind of operation waits for, and not memory."""
        x = self.grid.intensities[kind.name][None]
        return np.asarray(x >= along(self.ridge, x.ndim))

    # Times.

    def _seconds(self, table: np.ndarray, count: Callable[..., float]) -> np.ndarray:
        """Seconds on each machine of what stands in a table whose first axis are the weights."""
        found = np.full((len(self.offers), *table.shape), np.nan)
        for m, w in enumerate(self.usable):
            if w.any():
                found[m, w] = each(table[w], partial(count, machine=self.offers[m].known))
        return found

    @cached_property
    def seconds(self) -> dict[str, np.ndarray]:
        """Seconds of each kind, by its dimensions, and of the prefill."""

        def count(steps: tuple[Step, ...], machine: Machine) -> float:
            return sum(part.seconds for part in timing(steps, machine).parts)

        found = {name: self._seconds(steps, count) for name, steps in self.grid.steps.items()}
        return found | {"prefill": self._seconds(self.grid.prompts, Workload.seconds)}

    @cached_property
    def feet(self) -> np.ndarray:
        """Seconds of all but attention, by machine, weights, batch, and part of :data:`FEET`."""
        found = np.zeros((*self.seconds["mlp"].shape, len(FEET)))
        for kind in REST:
            part = np.where(self.computes(kind), FEET.index(COMPUTE), FEET.index(kind.part))
            found += self.seconds[kind.name][..., None] * (part[..., None] == np.arange(len(FEET)))
        return found

    @cached_property
    def rest(self) -> np.ndarray:
        """Seconds of all but attention, by machine, weights and batch."""
        return np.asarray(self.feet.sum(-1))

    @cached_property
    def total(self) -> np.ndarray:
        """Seconds of the whole step, by all five."""
        return np.asarray(self.rest[:, :, None, :, None] + self.seconds[ATTENTION.name])

    @cached_property
    def crossing(self) -> np.ndarray:
        """Context at which attention takes as long as all the rest, by all but the context."""
        every = np.vectorize(partial(crossing, self.grid.contexts), signature="(j),()->()")
        return np.asarray(every(self.seconds[ATTENTION.name], self.rest[:, :, None]))

    # What the bars' axis holds.

    @cached_property
    def scale(self) -> np.ndarray:
        """Which of :data:`TOPS` the bars have: near, and far enough to hold every bar."""
        last = ROOM * self.total.max(-1)
        near = np.minimum(NEAR * self.rest[:, :, None], last)
        for run in self.timed:
            m, w, i = run.place
            near[m, w, :, i] = np.maximum(near[m, w, :, i], ROOM * run.seconds)
        tops = np.nan_to_num(np.stack([near, np.maximum(near, last)], -1))
        return np.asarray(np.searchsorted(TOPS[:-1], tops))

    @cached_property
    def far(self) -> np.ndarray:
        """Whether a bar is too high for the near scale, by all five."""
        tops = TOPS[self.scale[..., 0], None]
        return np.asarray(np.nan_to_num(self.total) * (ROOM + 1) / 2 > tops)

    # Memory.

    @cached_property
    def memory(self) -> np.ndarray:
        """Bytes of memory that each machine has."""
        machines = [offer.machine for offer in self.offers]
        return np.array([m.capacities.get("dram", math.nan) if m else math.nan for m in machines])

    @cached_property
    def fits(self) -> np.ndarray:
        """Whether the step fits: 2 yes, 1 no, 0 where that is not known; by all five."""
        memory = along(self.memory, 5)
        return np.asarray(np.where(np.isnan(memory), 0, 1 + (self.grid.needs <= memory)))

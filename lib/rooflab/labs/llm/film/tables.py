"""What a film shows in every state: times, roofs, scales and words, counted machine by machine.

A table has an axis for each of machine, weights, KV cache, batch and context, in this order, as far
as its numbers depend on them. It is not a number where a machine has no figure.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rooflab.count.dtypes import DType
from rooflab.count.si import si
from rooflab.labs.llm.decode_loop import DecodeRun
from rooflab.labs.llm.film import words
from rooflab.labs.llm.film.grid import (
    ATTENTION,
    COMPUTE,
    KINDS,
    KV,
    OTHER,
    WEIGHTS,
    DotKind,
    Grid,
    crossing,
    each,
    totals,
)
from rooflab.labs.llm.film.runs import TimedRun, timed
from rooflab.labs.llm.step_time import MIX
from rooflab.predict.machine import Machine
from rooflab.show.rooflines import ceiling_lines
from rooflab.show.rooflines.machine_choices import Offer

NEAR = 2.4  # times all but attention: what the bars' axis holds until a bar is higher
ROOM = 1.25  # times the highest bar, so that its value has room above it
# Decades that a roofline has below its lowest dot and above its highest peak, for their names.
# Above there are two rows of them where attention comes within a factor CLOSE of the ridge.
BELOW, ABOVE, TWO_ROWS, LEAST = 1.0, 0.65, 1.3, 3
CLOSE = 5
# Where a scale of time ends within a decade, and its ticks: all as far apart as 0 and the first.
STEPS = (
    (1, (0.5, 1)),
    (1.5, (0.5, 1, 1.5)),
    (2, (1, 2)),
    (3, (1, 2, 3)),
    (4, (2, 4)),
    (6, (2, 4, 6)),
)


@dataclass(frozen=True)
class TimeScale:
    """An axis of time from 0 to ``top`` seconds, with ``ticks`` of (seconds, label)."""

    top: float
    ticks: tuple[tuple[float, str], ...]


def _scale(decade: float, top: float, ticks: tuple[float, ...]) -> TimeScale:
    said = ((tick * decade, si(tick * decade, "s", 2 if tick == 1.5 else 1)) for tick in ticks)
    return TimeScale(top * decade, ((0.0, "0"), *said))


#: Scales of time from a microsecond to a day, and where they end.
SCALES = [_scale(10.0**e, top, ticks) for e in range(-6, 5) for top, ticks in STEPS]
TOPS = np.array([one.top for one in SCALES])


def fitting(seconds: np.ndarray) -> np.ndarray:
    """Which of :data:`SCALES` is the first that reaches ``seconds``, else the last."""
    found: np.ndarray = np.searchsorted(TOPS[:-1], np.nan_to_num(seconds))
    return found


def lacks(machine: Machine | None, kind: DType, reason: str) -> str:
    """What ``machine`` has no figure for, in a few words, or ""."""
    return reason if machine is None else ceiling_lines.missing(machine, kind, "cold")


def origin(offer: Offer) -> str:
    """Say where the roofs come from, and what a call is taken to cost."""
    known = offer.machine is None or offer.machine.routines
    return offer.says if known else f"{offer.says} {words.FREE}"


def written(values: np.ndarray, write: Callable[[float], str]) -> np.ndarray:
    """Each of ``values`` as a text; "" for what is not a number."""
    texts = ["" if math.isnan(value) else write(value) for value in np.ravel(values).tolist()]
    return np.array(texts, object).reshape(np.shape(values))


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
        return [
            [lacks(offer.machine, kind, offer.reason) for kind in self.grid.computed]
            for offer in self.offers
        ]

    @cached_property
    def usable(self) -> np.ndarray:
        """Whether a machine has a roof for a format of weights."""
        return np.array([[not reason for reason in row] for row in self.no])

    # Roofs.

    @cached_property
    def roofs(self) -> tuple[np.ndarray, np.ndarray]:
        """Byte/s of memory and FLOP/s of the peak, by machine and weights."""
        found = np.full((2, *self.shape[:2]), np.nan)
        for m, w in np.argwhere(self.usable):
            roof = ceiling_lines.roof(self.offers[m].known, self.grid.computed[w], mix=MIX)
            found[:, m, w] = roof.bandwidth, roof.peak
        return found[0], found[1]

    @property
    def ridge(self) -> np.ndarray:
        """FLOP/byte at which both meet."""
        ridge: np.ndarray = self.roofs[1] / self.roofs[0]
        return ridge

    @cached_property
    def timed(self) -> list[list[TimedRun]]:
        """What was measured on each machine."""
        return [
            timed(self.runs, offer.machine, self.grid) if offer.machine else []
            for offer in self.offers
        ]

    @cached_property
    def decades(self) -> np.ndarray:
        """Lowest and highest decade of FLOP/s that fit each machine, in half decades."""
        found = np.tile((9.0, 13.0), (self.shape[0], 1))
        for m in np.flatnonzero(self.usable.any(1)):
            bandwidth, peak = (np.nanmax(one[m]) for one in self.roofs)
            lowest = np.nanmin(self.roofs[0][m]) * self.grid.ends[0] * 10**-BELOW
            ran = [rate for run in self.timed[m] for _, rate in run.dots.values()]
            rates = [lowest, bandwidth * self.grid.ends[0], *filter(math.isfinite, ran)]
            low = math.floor(2 * math.log10(min(rates))) / 2
            above = TWO_ROWS if self.crowded[m].any() else ABOVE
            high = math.ceil(2 * (math.log10(peak) + above)) / 2
            found[m] = low, max(high, low + LEAST)
        return found

    @property
    def crowded(self) -> np.ndarray:
        """Whether attention comes near the flat roof, by machine and weights."""
        found: np.ndarray = CLOSE * np.nanmax(self.intensity(ATTENTION)) > self.ridge
        return found

    def intensity(self, kind: DotKind) -> np.ndarray:
        """FLOP/byte, by weights and batch, or all but the machine; the prefill has no batch."""
        return self.grid.intensities[kind.name]

    def on_roof(self, kind: DotKind) -> np.ndarray:
        """FLOP/s that the roofs allow a kind of operation."""
        x = self.intensity(kind)[None]
        bandwidth, peak = (self.along(one, x.ndim) for one in self.roofs)
        rates: np.ndarray = np.minimum(x * bandwidth, peak)
        return rates

    def computes(self, kind: DotKind) -> np.ndarray:
        """Whether computing is what a kind of operation waits for, and not memory."""
        x = self.intensity(kind)[None]
        found: np.ndarray = x >= self.along(self.ridge, x.ndim)
        return found

    @staticmethod
    def along(table: np.ndarray, many: int) -> np.ndarray:
        """A table with axes of length 1 behind its own, ``many`` in all."""
        return table.reshape(table.shape + (1,) * (many - table.ndim))

    # Times.

    @cached_property
    def seconds(self) -> dict[str, np.ndarray]:
        """Seconds of each kind, by machine, weights and batch; attention by all five."""
        tables = self.grid.steps.items()
        found = {name: np.full((len(self.offers), *one.shape), np.nan) for name, one in tables}
        for place, offer in enumerate(self.offers):
            usable = np.flatnonzero(self.usable[place]).tolist()
            if usable and offer.machine:
                for name, values in self.grid.seconds(offer.machine, usable).items():
                    found[name][place] = values
        return found

    @cached_property
    def parts(self) -> dict[str, np.ndarray]:
        """Seconds that all but attention carries weights, computes, or does something else."""
        found = {part: np.zeros(self.seconds["mlp"].shape) for part in (WEIGHTS, COMPUTE, OTHER)}
        for kind in KINDS:
            if kind is not ATTENTION:
                computes, seconds = self.computes(kind), self.seconds[kind.name]
                found[COMPUTE] += np.where(computes, seconds, 0)
                found[kind.part] += np.where(computes, 0, seconds)
        return found

    @cached_property
    def attention(self) -> dict[str, np.ndarray]:
        """Seconds in which attention carries the KV cache, and in which it computes."""
        computes, seconds = self.computes(ATTENTION), self.seconds[ATTENTION.name]
        return {KV: np.where(computes, 0, seconds), COMPUTE: np.where(computes, seconds, 0)}

    @cached_property
    def rest(self) -> np.ndarray:
        """Seconds of all but attention, by machine, weights and batch."""
        whole: np.ndarray = sum(self.seconds[kind.name] for kind in KINDS if kind is not ATTENTION)  # type: ignore[assignment]
        return whole

    @cached_property
    def total(self) -> np.ndarray:
        """Seconds of the whole step, by all five."""
        whole: np.ndarray = self.rest[:, :, None, :, None] + self.seconds["attention"]
        return whole

    @cached_property
    def prompt(self) -> np.ndarray:
        """Seconds of reading a prompt, by machine, weights, KV cache and context."""
        prompts = self.grid.prompts
        found = np.full((len(self.offers), *prompts.shape), np.nan)
        for m, w, kv, j in np.ndindex(found.shape):
            machine = self.offers[m].machine
            if machine and self.usable[m, w]:
                found[m, w, kv, j] = prompts.item(w, kv, j).seconds(machine)
        return found

    @cached_property
    def crossing(self) -> np.ndarray:
        """Context at which attention takes as long as all the rest, by all but the context.

        0 where it does so from the first one on, infinite where it never does.
        """
        found = np.full(self.shape[:4], np.nan)
        for m, w, kv, i in np.ndindex(found.shape):
            if self.usable[m, w]:
                turn = self.seconds["attention"][m, w, kv, i]
                found[m, w, kv, i] = crossing(self.grid.contexts, turn, float(self.rest[m, w, i]))
        return found

    # What the bars' axis holds.

    @cached_property
    def scale(self) -> np.ndarray:
        """Which of :data:`SCALES` the bars have: near, and far enough to hold every bar."""
        last = ROOM * self.total.max(-1)
        near = np.minimum(NEAR * self.rest[:, :, None], last)
        ran = np.zeros(self.rest.shape)
        for m, found in enumerate(self.timed):
            for one in found:
                if one.i >= 0:
                    ran[m, one.w, one.i] = max(ran[m, one.w, one.i], ROOM * one.seconds)
        return np.stack([fitting(np.maximum(top, ran[:, :, None])) for top in (near, last)], -1)

    @cached_property
    def far(self) -> np.ndarray:
        """Whether a bar is too high for the near scale, by all five."""
        tops = TOPS[self.scale[..., 0], None]
        found: np.ndarray = np.nan_to_num(self.total) * (ROOM + 1) / 2 > tops
        return found

    @cached_property
    def cut(self) -> np.ndarray:
        """How many bars go on beyond the axis, by all but the context, near and far."""
        found: np.ndarray = (self.total[..., None] > TOPS[self.scale][..., None, :]).sum(-2)
        return found

    # Memory and traffic.

    @cached_property
    def moved(self) -> np.ndarray:
        """Bytes of the step, by weights, KV cache, batch and context."""
        whole = np.zeros(self.grid.shape)
        for kind in KINDS:
            nbytes = each(self.grid.steps[kind.name], lambda steps: totals(steps)[1])
            whole += nbytes if kind is ATTENTION else nbytes[:, None, :, None]
        return whole

    @cached_property
    def memory(self) -> np.ndarray:
        """Bytes of memory that each machine has."""
        known = (offer.machine.capacities.get("dram") if offer.machine else None
                 for offer in self.offers)  # fmt: skip
        return np.array([np.nan if one is None else float(one) for one in known])

    @cached_property
    def fits(self) -> np.ndarray:
        """Whether the step fits: 2 yes, 1 no, 0 where that is not known; by all five."""
        memory = self.memory[:, None, None, None, None]
        found: np.ndarray = np.where(np.isnan(memory), 0, 1 + (self.grid.needs <= memory))
        return found

"""What a request film shows at one place of its sliders: the step, its times, its sentences."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rooflab.measure.decode_run import DecodeRun
from rooflab.predict.machine import Machine
from rooflab.predict.roofline import Roofline
from rooflab.predict.workload import Workload
from rooflab.predict.workload_time import MIX, timing
from rooflab.show import film_words as says
from rooflab.show import theme
from rooflab.show.film_grid import (
    COLOURS,
    COMPUTE,
    KINDS,
    Grid,
    Kind,
    by_kind,
    crossing,
    intensity,
)  # fmt: skip
from rooflab.show.film_pack import origin
from rooflab.show.film_runs import Timed, timed
from rooflab.show.offers import Offer
from rooflab.show.polylines import roof


@dataclass(frozen=True)
class Now:
    """What a film shows: machine ``offer``, and indices into the ``grid``'s formats and sizes."""

    grid: Grid
    offer: Offer
    w: int
    kv: int
    i: int
    j: int
    runs: tuple[DecodeRun, ...] = ()

    @cached_property
    def timed(self) -> list[Timed]:
        """What was measured with these weights and this batch on this machine."""
        found = timed(self.runs, self.machine, self.grid)
        return [one for one in found if (one.w, one.i) == (self.w, self.i)]

    @property
    def machine(self) -> Machine:
        """The machine; every film starts on one that has figures."""
        return self.offer.machine

    @cached_property
    def decode(self) -> Workload:
        """The decode step."""
        return self.grid.decode(self.w, self.kv, self.i, self.j)

    @cached_property
    def prefill(self) -> Workload:
        """The prompt that is read."""
        return self.grid.prefill(self.w, self.kv, self.j)

    def kinds(self, j: int | None = None) -> list[tuple[Kind, float, float]]:
        """Each kind of operation with its seconds and FLOP/byte; ``j``: at another context."""
        at = self.j if j is None else j
        steps = by_kind(self.grid.decode(self.w, self.kv, self.i, at).steps)
        return [
            (kind, sum(p.seconds for p in timing(mine, self.machine).parts), intensity(mine))
            for kind in KINDS
            if (mine := steps.get(kind.name))
        ]

    @property
    def roof(self) -> Roofline:
        """The roof that every dot lies on."""
        return roof(self.machine, self.grid.computed[self.w], mix=MIX)

    def parts(self, j: int) -> dict[str, float]:
        """Seconds of the step at context ``j``, by what the kinds of operation wait for."""
        found, ridge = dict.fromkeys(COLOURS, 0.0), self.roof.ridge
        for kind, seconds, x in self.kinds(j):
            found[COMPUTE if x >= ridge else kind.part] += seconds
        return found

    @cached_property
    def crossing(self) -> float | None:
        """Context at which attention takes as long as all the rest."""
        kinds = [self.kinds(j) for j in range(len(self.grid.contexts))]
        attention = [sum(s for kind, s, _ in one if kind.wide) for one in kinds]
        rest = sum(s for kind, s, _ in kinds[0] if not kind.wide)
        return crossing(self.grid.contexts, np.array(attention), rest)

    @property
    def values(self) -> dict[str, str]:
        """What the sentences say."""
        seconds, memory = self.decode.seconds(self.machine), self.machine.capacities.get("dram")
        return {
            "batch": theme.count(self.decode.batch), "context": theme.count(self.decode.context),
            "moved": says.size(self.decode.bytes), "total": says.seconds(seconds),
            "rate": says.rate(self.decode.batch / seconds), "each": says.rate(1 / seconds),
            "machine": self.offer.name,
            "need": says.size(self.decode.memory_bytes), "has": says.size(memory) if memory else "",
            "prompt": says.seconds(self.prefill.seconds(self.machine)),
        }  # fmt: skip

    @property
    def fits(self) -> bool | None:
        """Whether the step fits the machine's memory; None where that is not known."""
        memory = self.machine.capacities.get("dram")
        return None if memory is None else self.decode.memory_bytes <= memory

    @property
    def sentence(self) -> str:
        """What the film says."""
        values, limit = self.values, self.grid.model.context
        said = says.SAY["step"].format(**values)
        if self.fits is not None:
            said += says.SAY["fits" if self.fits else "full"].format(**values)
        said += says.crossing(self.crossing, self.grid.contexts[-1])
        if limit and self.decode.context > limit:
            said += says.SAY["beyond"].format(limit=theme.count(limit))
        said += "".join(one.sentence for one in self.timed)
        return f"{said}\n{origin(self.offer)}"

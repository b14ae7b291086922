"""Account for a step's time: from "the weights, read once" to the estimate and to a measurement.

weights → KV cache → activations → compute → measured roof → efficiency → calls → link →
unexplained; the product of the factors is (measured or predicted time) / (time to read the
weights).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING

from rooflab.count.si import percent, plain, si, times
from rooflab.predict.explain import Factor
from rooflab.predict.machine import Machine
from rooflab.predict.workload_bound import Bound
from rooflab.predict.workload_time import Timing

if TYPE_CHECKING:
    from rooflab.predict.workload import Workload


_IN_WORDS = {
    "memory:weights": "reading the weights",
    "memory:kv": "reading the KV cache",
    "memory:activations": "moving activations",
    "overhead": "the calls",
    "link": "the link between devices",
}


@dataclass(frozen=True, repr=False)
class Account:
    """Why a step of ``workload`` takes what it takes on ``devices`` of ``machine``.

    ``start``: seconds to read the weights once (``begins`` says so); ``factors``: steps from there
    whose product is ``seconds`` / start; ``estimate``: the predicted :class:`Timing`; ``bound``:
    the strict :class:`Bound`; ``measured``: tokens a second that were measured, or None.
    ``restricted``: the estimate leaves out what a published table does, ``traffic=``.
    """

    workload: Workload
    machine: Machine
    devices: int
    start: float
    estimate: Timing
    bound: Bound
    factors: tuple[Factor, ...]
    measured: float | None = None
    roofs: str = "catalogue"
    restricted: bool = False

    @property
    def seconds(self) -> float:
        """Seconds of the step: measured, or estimated where nothing was."""
        return self.workload.tokens / self.measured if self.measured else self.estimate.seconds

    @property
    def estimated_tokens_per_s(self) -> float:
        """Tokens a second of the estimate."""
        return self.workload.tokens / self.estimate.seconds

    @property
    def bound_tokens_per_s(self) -> float:
        """Tokens a second that the strict bound allows; infinite where it allows any rate."""
        return self.workload.tokens / self.bound.seconds if self.bound.seconds else math.inf

    @property
    def share(self) -> float:
        """Share of the strict bound that was reached, or that is estimated."""
        return self.bound.seconds / self.seconds

    @property
    def sentence(self) -> str:
        """The estimate and what limits it, the bound, and what was reached."""
        w, m = self.workload, self.machine
        many = f"{self.devices} × " if self.devices > 1 else ""
        text = (
            f"{w.model.name} {w.phase}, batch {w.batch}, context {w.context}, on {many}{m.name}: "
            f"about {plain(self.estimated_tokens_per_s, 3)} tokens/s{self._ideal} "
            f"({si(self.estimate.seconds, 's')} a step, limited by "
            f"{_IN_WORDS.get(self.estimate.limit, self.estimate.limit)}), {self._most}"
        )
        if self.measured is None:
            return f"{text}."
        moved = si(w.bytes / self.seconds, "B/s")
        return (
            f"{text}; measured {plain(self.measured, 4)} tokens/s, "
            f"{percent(self.estimate.seconds / self.seconds)} of the estimate, "
            f"{moved} of minimum traffic.{self._beyond}"
        )

    @property
    def _ideal(self) -> str:
        """What the estimate takes as perfect, so that no program will quite reach it."""
        rates = self.roofs == "catalogue" and self.machine.origin == "datasheet"
        calls = not any(part.call for part in self.estimate.parts)
        said = ["at the datasheet's full rates"] * rates + ["without launches"] * calls
        return f" {' and '.join(said)}" if said else ""

    @property
    def _most(self) -> str:
        if self.roofs == "measured":
            return f"{plain(self.bound_tokens_per_s, 3)} with everything overlapped"
        if not self.bound.seconds:
            return "with no figure here that bounds it"
        most = f"at most {plain(self.bound_tokens_per_s, 3)}"
        if self.restricted and self.estimate.seconds < self.bound.seconds:
            return f"{most} with all that the step must do"
        return most

    @property
    def _beyond(self) -> str:
        if self.share <= 1 or self.roofs == "measured":
            return ""
        return (
            " More than the bound allows: check the formats, the batch, the number of devices, "
            "whether the peak is a dense one, and whether several tokens came out of a step "
            "(speculative decoding)."
        )

    @property
    def fit(self) -> str:
        """What the step holds, and whether the memory there is enough."""
        w, capacity = self.workload, self.machine.capacities.get("dram")
        each = si(w.bytes_each(self.devices), "B")
        where = f"{f'each of {self.devices} × ' if self.devices > 1 else ''}{self.machine.name}"
        if capacity is None:
            return f"Whether it fits is not known: {each} on {where}."
        fits = "fits" if w.fits(self.machine, self.devices) else "does not fit"
        return f"It {fits}: {each} of the {si(capacity, 'B')} on {where}."

    @property
    def begins(self) -> str:
        """What ``start`` is the time of: the weights, unless a restricted ledger has none."""
        weighed = any(part.carry.get("weights") for part in self.estimate.parts)
        return "weights, read once" if weighed else "cache and activations, moved once"

    def __str__(self) -> str:
        rows = [self.sentence, f"  {self.begins:<20} {si(self.start, 's'):>9}"]
        rows += [f"  {f.name:<20} {times(f.factor):>9}  {f.note}" for f in self.factors]
        return "\n".join([*rows, *(f"  note: {text}" for text in self.notes)])

    __repr__ = __str__

    @property
    def notes(self) -> tuple[str, ...]:
        """What the estimate and the bound assume, each said of which."""
        return (*self.estimate.notes, *(f"bound: {text}" for text in self.bound.notes))


def account(
    w: Workload,
    m: Machine,
    tokens_per_s: float | None,
    devices: int,
    how: Mapping[str, object],
    bound: Bound,
) -> Account:
    """Account for the time of ``w``; see :meth:`Workload.explain`."""
    measured, there = _rate(tokens_per_s), w.on(m)
    full = {**how, "efficiency": None}
    best = w.time(m, devices, **{**full, "roofs": "catalogue"})
    to_published = measured is not None or how["roofs"] == "measured"
    roofs = "measured" if to_published else "catalogue"
    reached = w.time(m, devices, **{**full, "roofs": roofs})
    slowed = w.time(m, devices, **{**how, "roofs": roofs})
    carried = {role: sum(p.carry.get(role, 0.0) for p in best.parts) for role in there.traffic}
    extra = sum(p.call + p.send for p in best.parts)
    stages = []
    if carried["weights"]:  # else it begins with all that is moved
        both = carried["weights"] + carried["kv"]
        stages.append(("KV cache", both, si(there.traffic["kv"], "B")))
        moved = si(there.traffic["activations"], "B")
        stages.append(("activations", sum(carried.values()), moved))
    stages += [
        ("compute", best.seconds - extra, "where computing takes longer than carrying"),
        ("measured roof", reached.seconds - extra, _roof(m, best, reached)),
        ("efficiency", slowed.seconds - extra, "the shares of the roofs that were given"),
        ("calls", slowed.seconds - sum(p.send for p in best.parts), f"{w.launches} launches"),
        ("link", slowed.seconds, f"between {devices} devices"),
    ]
    if measured:
        stages.append(("unexplained", w.tokens / measured, "what none of the steps accounts for"))
    start = carried["weights"] or sum(carried.values())
    estimate = w.time(m, devices, **how)
    return Account(
        there, m, devices, start, estimate, bound, _factors(start, stages), measured, how["roofs"],
        restricted=how.get("traffic") is not None,
    )  # fmt: skip


def _factors(start: float, stages: list[tuple[str, float, str]]) -> tuple[Factor, ...]:
    """The steps from ``start`` through the ``stages``; one that changes nothing is no step."""
    factors, before = [], start
    for name, seconds, note in stages:
        if not math.isclose(seconds, before, rel_tol=1e-12) or name == "unexplained":
            factors.append(Factor(name, seconds / before, note))
        before = seconds
    return tuple(factors)


def _roof(m: Machine, best: Timing, reached: Timing) -> str:
    """The published figures that make the step longer, those that cost most first."""
    if m.origin != "datasheet":
        return "the roofs were measured on the machine itself"
    longer: dict[tuple[float, float, str], float] = {}
    for before, after in zip(best.parts, reached.parts, strict=True):
        roof = (after.rate, before.rate, "FLOP/s")
        if after.memory > after.compute:
            roof = (reached.bandwidth, best.bandwidth, "B/s")
        more = max(after.compute, after.memory) - max(before.compute, before.memory)
        longer[roof] = longer.get(roof, 0.0) + more
    if reached.bound == "max-of-sum":  # one roof is above the whole step
        unit = "FLOP/s" if reached.limit == "compute" else "B/s"
        longer = {roof: more for roof, more in longer.items() if roof[2] == unit}
    least = 0.02 * sum(longer.values())  # what adds less than that is no reason
    named = sorted((roof for roof, more in longer.items() if more > least), key=longer.get)
    said = [f"{si(got, unit)} of {si(stated, unit)}" for got, stated, unit in reversed(named)]
    return f"published runs reach {' and '.join(said) or 'what the datasheet states'}"


def _rate(tokens_per_s: float | None) -> float | None:
    if tokens_per_s is None:
        return None
    if isinstance(tokens_per_s, bool) or not isinstance(tokens_per_s, Real):
        raise TypeError(f"tokens_per_s={tokens_per_s!r} must be a number of tokens a second")
    if not 0 < tokens_per_s < math.inf:
        raise ValueError(f"tokens_per_s={tokens_per_s!r} must be a positive rate")
    return float(tokens_per_s)

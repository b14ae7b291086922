"""Explain a measured time: the multiplicative steps that lead from the bound to it.

catalogue roof → measured roof → level and mix → call overhead → routine efficiency → new pages →
unexplained; the product of the factors is measured time / bound.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from reprlib import repr as short
from typing import Protocol

from rooflab.count.dtypes import DTYPES, dtype
from rooflab.count.operation import LEVELS, Operation
from rooflab.count.si import percent, si, times
from rooflab.count.validation import amount
from rooflab.predict.catalogue import machine as _machine
from rooflab.predict.catalogue import machines
from rooflab.predict.estimate import Stage, limit_of, overhead, peak_of, predict
from rooflab.predict.machine import Machine

NEW_PAGES = "new pages"


@dataclass(frozen=True)
class Factor:
    """One step: it multiplies the time by ``factor`` (below 1 it makes it shorter)."""

    name: str
    factor: float
    note: str


@dataclass(frozen=True)
class Explanation:
    """Why ``op`` took ``seconds`` on ``machine``.

    Attributes
    ----------
    op : Operation
        What was timed.
    machine : Machine
        Where, with the roofs that the time is compared with.
    seconds : float
        The time, in seconds.
    bound : float
        Seconds that the DRAM roofline allows.
    limit : {"memory", "compute"}
        What sets the bound.
    rate : float
        Achieved rate of what limits, in byte/s or FLOP/s.
    factors : tuple of Factor
        Steps whose product is seconds / bound, each with its name, factor and note.
    call : float
        Seconds of the call itself, where that is most of the predicted time, else 0.
    cache : {"cold", "warm"}, optional
        Whether it was measured with emptied caches, or with its operands left in them; else None.
    share : float
        bound / seconds; above 1 means that the roof was not the one in use.
    sentence : str
        All of it in words.

    Examples
    --------
    >>> why = rl.explain(rl.gemv(8192, 8192, "bf16"), "h100-sxm", seconds=80e-6)
    >>> round(why.share, 2)
    0.5
    >>> print(why)
    gemv 8192×8192 bf16 in 80.0 µs on NVIDIA H100 SXM5 80 GB: 1.68 TB/s, 50 % of the ...
      measured roof           ×1.13  published runs reach 2.96 TB/s of 3.35 TB/s
      level and mix              ×1  134 MB moved, operands in DRAM, one roof for ...
      call overhead              ×1  0 s a cold call
      routine efficiency         ×1  not measured (gemv/bf16)
      unexplained             ×1.76  what none of the steps above accounts for
    """

    op: Operation
    machine: Machine
    seconds: float
    bound: float
    limit: str
    rate: float
    factors: tuple[Factor, ...]
    call: float = 0.0
    cache: str | None = field(default=None, compare=False)

    @property
    def share(self) -> float:
        """Share of the roof that was reached: bound / seconds, 1 being all of it."""
        return self.bound / self.seconds

    @property
    def sentence(self) -> str:
        """What was reached and what limits it; above 100 %, which level was timed instead."""
        unit = "B/s" if self.limit == "memory" else "FLOP/s"
        roof = "datasheet roof" if self.machine.origin == "datasheet" else "measured roof"
        text = (
            f"{self.op.label} in {si(self.seconds, 's')} on {self.machine.name}: "
            f"{si(self.rate, unit)}, {percent(self.share)} of the {roof}; limited by {self._by}."
        )
        return text if self.share <= 1 else f"{text} {beyond_the_roof(self)}"

    @property
    def _by(self) -> str:
        """What limits it: the bound's ``limit``, unless most of the time is the call itself."""
        if self.call <= self.seconds / 2:
            return self.limit
        if self.call < self.seconds:
            return f"the call ({si(self.call, 's')} of {si(self.seconds, 's')})"
        return f"the call (usually {si(self.call, 's')})"

    def __str__(self) -> str:
        lines = [self.sentence]
        lines += [f"  {f.name:<20} {times(f.factor):>8}  {f.note}" for f in self.factors]
        return "\n".join(lines)


class Measured(Protocol):
    """What a Measurement says of itself: the operation, where and how it was timed, its median."""

    @property
    def op(self) -> Operation: ...
    @property
    def machine(self) -> str: ...
    @property
    def cache(self) -> str: ...
    @property
    def median_s(self) -> float: ...


def explain(
    measured: Operation | Measured,
    machine: Machine | str | None = None,
    seconds: float | None = None,
    *,
    cache: str | None = None,
    pages: tuple[float, str] | None = None,
) -> Explanation:
    """Explain a Measurement, or an Operation that took ``seconds`` on ``machine``.

    ``cache``: "cold" or "warm"; a Measurement knows its own, an Operation is taken as cold. Its
    ``machine`` is looked up in the catalogue unless one is given. ``pages``: seconds that a call
    waits for new pages, beside what was predicted, and a note. Raises TypeError or ValueError
    naming the argument when something is missing or not positive.
    """
    op = measured if isinstance(measured, Operation) else getattr(measured, "op", None)
    if not isinstance(op, Operation):
        raise TypeError(f"measured={short(measured)} must be a Measurement or an Operation")
    left = cache if cache == "warm" else None
    if not isinstance(measured, Operation):
        seconds = measured.median_s if seconds is None else seconds
        left = cache = cache or measured.cache
        if machine is None and measured.machine in machines():
            machine = measured.machine
    if machine is None:
        raise TypeError("machine=None: say which, such as 'h100-sxm' or rl.this_machine()")
    seconds = amount("seconds", seconds, "a positive time in seconds")
    m = _machine(machine)
    prediction = predict(op, m, cache=cache or "cold")
    bound = prediction.bound
    limit = limit_of(op, m, bound)
    rate = (op.bytes_at("dram") if limit == "memory" else op.flops) / seconds
    stages = prediction.terms
    if pages is not None:
        stages = (*stages, Stage(NEW_PAGES, prediction.seconds + pages[0], pages[1]))
    factors = _factors(op, m, seconds, stages)
    call = overhead(op, m, cache or "cold") if prediction.limit == "overhead" else 0.0
    return Explanation(op, m, seconds, bound, limit, rate, factors, call, left)


def _factors(
    op: Operation, m: Machine, seconds: float, stages: Sequence[Stage]
) -> tuple[Factor, ...]:
    """Steps from the first stage, the bound, to ``seconds``; their product is seconds / bound.

    A catalogue machine's published achieved roof is a step of its own; it slows every later stage
    by as much.
    """
    factors = []
    reached = stages[0].seconds
    roof, note = _achieved_roof(op, m)
    if roof is not None:
        factors.append(Factor("measured roof", roof / reached, note))
    scale = 1.0 if roof is None else roof / reached
    for stage in stages[1:]:
        factors.append(Factor(stage.name, stage.seconds / reached, stage.note))
        reached = stage.seconds
    rest = seconds / (reached * scale)
    factors.append(Factor("unexplained", rest, "what none of the steps above accounts for"))
    return tuple(factors)


def _achieved_roof(op: Operation, m: Machine) -> tuple[float | None, str]:
    """Bound from the published achieved figures of a catalogue machine, if it has any."""
    bandwidth = m.measured.get("bandwidth_bytes_per_s")
    achieved = m.measured.get(op.compute_dtype.family)
    if m.origin != "datasheet" or (bandwidth is None and achieved is None):
        return None, ""
    peak, _ = peak_of(op, m)
    flops = achieved if achieved is not None and op.unit == "tensor" else peak
    rate = bandwidth or m.bandwidth()
    computing, carrying = op.flops / flops, op.bytes_at("dram") / rate
    got, stated, unit = (rate, m.bandwidth(), "B/s")
    if computing > carrying:
        got, stated, unit = (flops, peak, "FLOP/s")
    if got == stated:
        return max(computing, carrying), f"no published run is known against {si(got, unit)}"
    return max(computing, carrying), f"published runs reach {si(got, unit)} of {si(stated, unit)}"


def beyond_the_roof(e: Explanation) -> str:
    """How a time can be shorter than the bound allows: from a cache, or by a mistake."""
    if e.limit == "compute":
        return _beyond_the_peak(e)
    if e.cache == "cold" and e.machine.origin == "measured":
        return _beyond_cold(e)
    size, held = e.op.working_set, {k: v for k, v in e.machine.capacities.items() if k != "dram"}
    home = next((name for name in LEVELS[:-1] if size <= held.get(name, 0)), None)
    if home:
        return (
            f"No DRAM can do that: {si(size, 'B')} fits the {_binary(held[home])} "
            f"{home.upper()}: you timed {home.upper()}."
        )
    cached = _unpaid(e)
    level = max(held, key=held.__getitem__, default=None)
    if level and cached <= held[level]:
        cache = f"the {_binary(held[level])} {level.upper()} can hold that"
        why = f"{si(cached, 'B')} of {si(e.op.bytes_at('dram'), 'B')} cannot have come from DRAM"
        if e.cache == "warm":
            return f"The operands were left warm: {why}, and {cache}."
        return f"No DRAM can do that: {why}, and {cache}. Was it emptied before each call?"
    most = "and no cache is known here"
    if level:
        most = f"more than the {_binary(held[level])} {level.upper()} holds"
    return (
        f"Above 100 %: check the timing, the count, and whether the bandwidth is this machine's; "
        f"{si(cached, 'B')} cannot have come from DRAM, {most}."
    )


def _unpaid(e: Explanation) -> float:
    """Bytes of the traffic that the DRAM's best roof had no time for."""
    return e.op.bytes_at("dram") - e.seconds * e.machine.bandwidth("dram", "best")


def _beyond_cold(e: Explanation) -> str:
    """Why cold operands beat the bound: results were still in a cache, or the roof is too low."""
    cache = max((v for k, v in e.machine.capacities.items() if k != "dram"), default=0)
    written = sum(o.nbytes * o.writes for o in e.op.operands)
    if written and _unpaid(e) <= min(written, cache):
        return (
            f"The operands lay in no cache, but the results need not have left it: "
            f"{si(min(written, cache), 'B')} of them fit the {_binary(cache)} last-level cache, "
            "and whoever uses it next pays for writing them out."
        )
    return (
        "The operands lay in no cache, so the roof was measured in a busier moment; "
        "rl.this_machine(refresh=True) measures it again."
    )


def _beyond_the_peak(e: Explanation) -> str:
    """Why it beat the format's peak: the count is wrong, or the peak is not the one that counts."""
    kind, own = e.op.compute_dtype, e.machine.peaks
    families = {key.partition("_")[0] for key, rate in own.items() if rate >= e.rate}
    other = families & set(_FAMILIES) - {kind.family}
    narrow = sorted(name for name in other if _FAMILIES[name] <= kind.precision_bits)
    reasons = ["the timing", "the count"]
    if e.machine.backend == "gpu" and e.share > 2.05:
        reasons[0] += " (a launch returns at once: did the clock wait for the work?)"
    if narrow:
        reasons.append(f"the number format ({' and '.join(narrow)} can be that fast here)")
    if e.share <= 2.05:
        reasons.append("whether the figure is dense (sparse products count twice)")
    if e.share <= 1.5 and e.machine.origin == "datasheet":
        reasons.append(
            "the clock (a datasheet's peak is that of one, and a card may boost past it)"
        )
    said = f"Above 100 %: check {', '.join(reasons[:-1])} and {reasons[-1]}."
    reached = float(e.machine.measured.get(kind.family, 0.0))
    if e.machine.origin == "datasheet" and reached >= e.rate:
        said += (
            f" Published runs reach {si(reached, 'FLOP/s')}: the card boosts past its datasheet."
        )
    elif e.machine.origin == "measured":
        said += (
            " Or a library uses a unit that the roof was not measured on, or the roof was measured "
            "in a busier moment: rl.this_machine(refresh=True)."
        )
    return said


# Formats by the name of their peak, with the bits that they compute with.
_FAMILIES = {dtype(name).family: dtype(name).precision_bits for name in reversed(DTYPES)}


def _binary(size: float) -> str:
    """Cache sizes carry binary labels: 52428800 is "50 MB" on the box."""
    return f"{size / 2**20:.0f} MB" if size >= 2**20 else f"{size / 2**10:.0f} kB"

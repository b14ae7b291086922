"""A workload: one step of a language model, and what a machine makes of it."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from rooflab.count.dtypes import DTYPES, DType, dtype
from rooflab.count.operation import Operation
from rooflab.count.si import percent, plain, si, times
from rooflab.count.validation import amount, size, unknown
from rooflab.labs.llm.step_time import (
    ROOFS,
    StepTiming,
    dram_rate,
    formats_on,
    link_rate,
    narrowest,
    peak_for,
    timing,
)
from rooflab.labs.llm.steps import ROLES, Formats, Step, distinct, generate
from rooflab.predict.catalogue import disputed, machines, record
from rooflab.predict.catalogue import machine as _machine
from rooflab.predict.explain import Factor
from rooflab.predict.machine import Machine

if TYPE_CHECKING:
    from rooflab.labs.llm.model import Model


@dataclass(frozen=True, repr=False)
class Workload:
    """One step of ``model``: its operations, their FLOPs and bytes, their time on a machine.

    :meth:`Model.decode` and :meth:`Model.prefill` make it. ``queries`` are the new positions of
    each of ``batch`` sequences, ``context`` its positions in all. ``steps`` has one for each kind
    of operation: ``step.op`` is a single run, ``step.count`` how often it runs. A multiply-add
    counts 2 FLOP; ``bytes`` are the minimum traffic.

    >>> w = rl.model("llama-2-7b").decode(batch=1, context=1024)
    >>> w.flops, w.traffic["weights"], w.traffic["kv"]
    (13753843712, 13214695424, 536870912)
    >>> round(w.bound("h100-sxm") * 1e3, 2)  # ms that no program can beat
    4.09
    >>> round(w.tokens_per_s("h100-sxm"))  # the estimate
    243
    """

    model: Model
    phase: str
    batch: int
    queries: int
    context: int
    formats: Formats
    steps: tuple[Step, ...]
    options: tuple[tuple[str, object], ...] = ()

    @classmethod
    def of(
        cls, model: Model, phase: str, sizes: tuple[int, int, int], formats: Formats, **options: Any
    ) -> Workload:
        """Make the step of ``phase`` with ``sizes`` (batch, queries, context)."""
        steps = generate(model, *sizes, formats, **options)
        return cls(model, phase, *sizes, formats, steps, tuple(options.items()))

    def on(self, machine: Machine | str) -> Workload:
        """The step as ``machine`` runs it, its formats as :meth:`Model.decode` assumes them."""
        formats, _ = formats_on(_machine(machine), self.formats)
        if formats is self.formats:
            return self
        sizes = (self.batch, self.queries, self.context)
        return Workload.of(self.model, self.phase, sizes, formats, **dict(self.options))

    @cached_property
    def operations(self) -> tuple[Operation, ...]:
        """Every kind of operation, its runs together as one: ``op.batch`` is how many."""
        return tuple(step.whole for step in self.steps)

    @property
    def tokens(self) -> int:
        """Tokens that the step makes (decode) or takes in (prefill)."""
        return self.batch * self.queries

    @cached_property
    def flops(self) -> int:
        """FLOP of the step, a multiply-add counting 2."""
        return sum(step.count * step.op.flops for step in self.steps)

    @cached_property
    def traffic(self) -> Mapping[str, int]:
        """Minimum traffic in bytes of the weights, of the KV cache and of the activations."""
        return {role: sum(step.bytes_of(role) for step in self.steps) for role in ROLES}

    @property
    def bytes(self) -> int:
        """Minimum traffic in bytes."""
        return sum(self.traffic.values())

    @property
    def intensity(self) -> float:
        """FLOP per byte of minimum traffic."""
        return self.flops / self.bytes

    @property
    def launches(self) -> int:
        """Runs of operations in the step; each is a launch."""
        return sum(step.count for step in self.steps)

    @cached_property
    def memory(self) -> Mapping[str, int]:
        """Bytes to hold: weights, KV cache, activations.

        Held are the activations of the largest operation, and the residual stream.
        """
        weights = self.model.weight_bytes(self.formats.weights, self.formats.tables)
        kv = self.model.kv_bytes(self.batch, self.context, self.formats.kv)
        stream = self.tokens * self.model.hidden * self.formats.outer.bits // 8
        largest = max(
            sum(o.nbytes for o, role in step.operands if role == "activations")
            for step in self.steps
        )
        return {"weights": weights, "kv": kv, "activations": stream + largest}

    @property
    def memory_bytes(self) -> int:
        """Bytes to hold in all: weights, KV cache, activations."""
        return sum(self.memory.values())

    def fits(self, machine: Machine | str, devices: int = 1) -> bool | None:
        """Whether each of ``devices`` holds :meth:`bytes_each`; None where it is not known."""
        capacity = _machine(machine).capacities.get("dram")
        return None if capacity is None else self.bytes_each(devices) <= capacity

    def bytes_each(self, devices: int = 1) -> float:
        """Bytes that the fullest of ``devices`` holds, if they share each layer.

        That is its part of the weights, the activations, and whole heads of the KV cache: where
        there are fewer heads than devices, some hold the same. A latent cache cannot be split, so
        each holds all of it.
        """
        heads, held = (1 if self.model.latent else self.model.kv_heads), self.memory
        most = -(-heads // size("devices", devices)) / heads
        return held["activations"] + held["kv"] * most + held["weights"] / devices

    @property
    def warnings(self) -> tuple[str, ...]:
        """What to know about the step before believing its numbers; empty if there is nothing."""
        m, said = self.model, []
        if m.context and self.context > m.context:
            said.append(f"context={self.context} is beyond the {m.context} tokens of its training")
        if m.windowed_layers and m.window and self.context > m.window:
            said.append(f"{m.windowed_layers} layers look back over {m.window} positions only")
        if m.experts and self.tokens > 1:
            touched = distinct(m.experts, m.experts_active, self.tokens)
            said.append(
                f"{self.tokens} tokens that choose at random touch {touched:.3g} of "
                f"{m.experts} experts on average; real routers touch fewer"
            )
        return tuple(said)

    def bound(
        self,
        machine: Machine | str,
        devices: int = 1,
        link: float | None = None,
        roofs: str = "catalogue",
    ) -> float:
        """Seconds of the step that no program can beat: the longest of three sums over the step.

        Computing: the products' FLOPs at the highest dense peak of a format as wide as the weights
        (and as activations that were named), whatever it accumulates in. Carrying: the weights and
        the KV cache once, less what the caches hold, at the DRAM's bandwidth. Sending, with
        ``link``: the least that an all-reduce takes, each device its whole partial sum once.
        Nothing is added for launches, small operations or activations, everything overlaps, and
        ``devices`` divide it all without loss. A named format is bounded by its own peak. Where no
        peak of its width is published, computing is not bounded, and no sentence says "at most".

        One step makes a token for each sequence, with every weight and position in its format.
        Other steps are speculative decoding, sequences that share a prompt's cache, sparse
        products, and numbers that are rounded to fewer bits on their way.

        Parameters
        ----------
        machine : Machine or str
            A machine, or its name in the catalogue.
        devices : int, optional
            How many of it share the step.
        link : float, optional
            byte/s that a device sends; by default sending takes no time.
        roofs : {"catalogue", "measured"}, optional
            "measured": from published achieved figures, which a run may well beat.

        Returns
        -------
        float
            Seconds. What was assumed: ``w.explain(machine).bound.notes``.

        Examples
        --------
        >>> w = rl.model("llama-2-7b").decode(batch=1, context=1024)
        >>> round(w.bound("h100-sxm") * 1e3, 2)  # ms
        4.09
        """
        return strict(self, _machine(machine), devices, link, roofs).seconds

    def time(self, machine: Machine | str, devices: int = 1, **how: Any) -> StepTiming:
        """Time with its parts and what was assumed (notes); arguments as in :meth:`seconds`."""
        m, devices = _machine(machine), size("devices", devices)
        there, (_, assumed) = self.on(m), formats_on(m, self.formats)
        notes = [*filter(None, [assumed]), *self.warnings]
        if there.fits(m, devices) is False:
            holds = f"{si(m.capacities['dram'], 'B')} of {m.name}"
            notes.append(
                f"does not fit: {si(there.bytes_each(devices), 'B')} to hold in the {holds}"
            )
        split = devices > 1 and (self.model.latent or self.model.kv_heads % devices)
        if split:
            notes.append(f"the KV cache is counted as if its heads could be split {devices} ways")
        return timing(there.steps, m, devices, notes, **how)

    def seconds(
        self,
        machine: Machine | str,
        devices: int = 1,
        link: float | None = None,
        bound: str = "sum-of-max",
        roofs: str = "catalogue",
        overhead: float | None = None,
        link_latency: float = 0.0,
        efficiency: Mapping[str, float] | None = None,
    ) -> float:
        """Estimated time of the step in seconds: Σ max(compute, memory), with launches and sends.

        An estimate, not a bound: a program that fuses or overlaps more may be faster, most are
        slower (:meth:`bound` is what none can beat). At a datasheet's full rates and without
        launches, the default for a machine of the catalogue, the published runs of lesson 05 are
        1.2 to 2.5 times slower; with ``roofs="measured"`` and ``overhead=2e-6``, 1 to 2 times.

        Parameters
        ----------
        machine : Machine or str
            A machine, or its name in the catalogue.
        devices : int, optional
            They share every layer: weights, KV cache and FLOPs are divided, activations are not.
        link : float, optional
            byte/s that a device sends. What ends a block is then followed by a ring all-reduce, 2
            (devices − 1) / devices · the result's bytes / link.
        bound : {"sum-of-max", "max-of-sum", "no-overlap"}, optional
            How the parts are put together. "sum-of-max": an operation computes and carries at once,
            operations follow each other. "max-of-sum": the whole step overlaps. "no-overlap":
            nothing does.
        roofs : {"catalogue", "measured"}, optional
            "measured": published achieved figures.
        overhead : float, optional
            Seconds a launch; every operation is one, ``w.launches`` of them. By default what was
            measured on the machine, and nothing for one of the catalogue.
        link_latency : float, optional
            Seconds added for each all-reduce.
        efficiency : mapping of str to float, optional
            Shares of the roofs that are reached, as in {"compute": 0.75, "memory": 0.85}.

        Returns
        -------
        float
            Seconds. :meth:`time` has its parts, and says what was assumed.

        Examples
        --------
        >>> w = rl.model("llama-2-7b").decode(batch=1, context=1024)
        >>> round(w.seconds("h100-sxm") * 1e3, 2)  # ms
        4.11
        """
        return self.time(
            machine, devices, link=link, bound=bound, roofs=roofs, overhead=overhead,
            link_latency=link_latency, efficiency=efficiency,
        ).seconds  # fmt: skip

    def tokens_per_s(
        self, machine: Machine | str, devices: int = 1, link: float | None = None, **how: Any
    ) -> float:
        """Estimated tokens a second over the whole batch and all devices; see :meth:`seconds`."""
        return self.tokens / self.seconds(machine, devices, link, **how)

    def limits(self, machine: Machine | str, devices: int = 1, **how: Any) -> dict[str, str]:
        """What limits each operation: "compute", "memory:weights", "memory:kv", "link", … ."""
        return {part.name: part.limit for part in self.time(machine, devices, **how).parts}

    def limit(self, machine: Machine | str, devices: int = 1, **how: Any) -> str:
        """What most of the step's time goes to, in the words of :meth:`limits`."""
        return self.time(machine, devices, **how).limit

    def explain(
        self, machine: Machine | str, tokens_per_s: float | None = None, devices: int = 1,
        **how: Any,
    ) -> Account:  # fmt: skip
        """The steps that lead from "weights read once" to the estimate and to a measured rate.

        Parameters
        ----------
        machine : Machine or str
            A machine, or its name in the catalogue.
        tokens_per_s : float, optional
            What was measured, over the whole batch and all devices.
        devices : int, optional
            How many of the machine share the step.
        **how : object
            As in :meth:`seconds`.

        Returns
        -------
        Account
            Its factors multiply to measured (else estimated) time / time to read the weights.

        Examples
        --------
        >>> w = rl.model("llama-2-7b").decode(batch=1, context=1024)
        >>> why = w.explain("h100-sxm", tokens_per_s=150)
        >>> round(why.share, 2), why.factors[-1].name
        (0.61, 'unexplained')
        """
        m, measured = _machine(machine), tokens_per_s
        asked, there = how.get("roofs", "catalogue"), self.on(m)
        bound = strict(self, m, devices, how.get("link"), asked)
        if measured is not None:
            measured = amount("tokens_per_s", measured, "a positive number of tokens a second")
        full = {**how, "efficiency": None}
        best = self.time(m, devices, **(full | {"roofs": "catalogue"}))
        roofs = asked if measured is None else "measured"
        reached = self.time(m, devices, **(full | {"roofs": roofs}))
        slowed = self.time(m, devices, **{**how, "roofs": roofs})
        carried = {role: sum(p.carry[role] for p in best.parts) for role in there.traffic}
        sent = sum(p.send for p in best.parts)
        extra = sent + sum(p.call for p in best.parts)
        moved = {role: si(amount, "B") for role, amount in there.traffic.items()}
        stages = [
            ("KV cache", carried["weights"] + carried["kv"], moved["kv"]),
            ("activations", sum(carried.values()), moved["activations"]),
            ("compute", best.seconds - extra, "where computing takes longer than carrying"),
            ("measured roof", reached.seconds - extra, _roof(m, best, reached)),
            ("efficiency", slowed.seconds - extra, "the shares of the roofs that were given"),
            ("calls", slowed.seconds - sent, f"{self.launches} launches"),
            ("link", slowed.seconds, f"between {devices} devices"),
        ]
        if measured:
            taken = self.tokens / measured
            stages.append(("unexplained", taken, "what none of the steps accounts for"))
        start, estimate = carried["weights"], self.time(m, devices, **how)
        return Account(
            there, m, devices, start, estimate, bound, _factors(start, stages), measured, asked,
        )  # fmt: skip

    def __repr__(self) -> str:
        """What it is, what moves, and one line for each kind of operation."""
        moved = ", ".join(
            f"{role} {si(amount, 'B')} ({getattr(self.formats, role)})"
            for role, amount in self.traffic.items()
            if amount
        )
        lines = [
            f"{self.model.name} {self.phase}, batch {self.batch}, context {self.context}: "
            f"{self.tokens} token{'s' * (self.tokens > 1)}, {si(self.flops, 'FLOP')}, "
            f"{si(self.bytes, 'B')}, {self.intensity:.4g} FLOP/B",
            f"  moves {moved}; holds {si(self.memory_bytes, 'B')}",
            *(f"  note: {text}" for text in self.warnings),
        ]
        width = max(len(step.name) for step in self.steps)
        for step, op in zip(self.steps, self.operations, strict=True):
            lines.append(
                f"  {step.name:<{width}} ×{step.count:<4}{si(op.flops, 'FLOP'):>11}"
                f"{si(op.bytes, 'B'):>9} {op.intensity:>9.4g} FLOP/B"
            )
        return "\n".join(lines)


# The account of a step's time: from "the weights, read once" to the estimate and to a measurement.

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

    ``start``: seconds to read the weights once; ``factors``: steps from there whose product is
    ``seconds`` / start; ``measured``: tokens a second that were measured, or None.
    """

    workload: Workload
    machine: Machine
    devices: int
    start: float
    estimate: StepTiming
    bound: Bound
    factors: tuple[Factor, ...]
    measured: float | None = None
    roofs: str = "catalogue"

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
        if not self.bound.computing_known:
            alone = plain(self.bound_tokens_per_s, 3)
            return f"reading alone would allow {alone}, and no peak for computing is known"
        return f"at most {plain(self.bound_tokens_per_s, 3)}"

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

    def __str__(self) -> str:
        rows = [self.sentence, f"  {'weights, read once':<20} {si(self.start, 's'):>9}"]
        rows += [f"  {f.name:<20} {times(f.factor):>9}  {f.note}" for f in self.factors]
        return "\n".join([*rows, *(f"  note: {text}" for text in self.notes)])

    __repr__ = __str__

    @property
    def notes(self) -> tuple[str, ...]:
        """What the estimate and the bound assume, each said of which."""
        return (*self.estimate.notes, *(f"bound: {text}" for text in self.bound.notes))


def _factors(start: float, stages: list[tuple[str, float, str]]) -> tuple[Factor, ...]:
    """The steps from ``start`` through the ``stages``; one that changes nothing is no step."""
    factors, before = [], start
    for name, seconds, note in stages:
        if not math.isclose(seconds, before, rel_tol=1e-12) or name == "unexplained":
            factors.append(Factor(name, seconds / before, note))
        before = seconds
    return tuple(factors)


def _roof(m: Machine, best: StepTiming, reached: StepTiming) -> str:
    """The published figure that makes the step longer: that of what most of its time goes to."""
    if m.origin != "datasheet":
        return "the roofs were measured on the machine itself"
    got, stated, unit = reached.bandwidth, best.bandwidth, "B/s"
    if reached.limit == "compute":
        slow, fast = max(zip(reached.parts, best.parts), key=lambda pair: pair[0].compute)
        got, stated, unit = slow.rate, fast.rate, "FLOP/s"
    return f"published runs reach {si(got, unit)} of {si(stated, unit)}"


# The strict bound of a step, see :meth:`Workload.bound`. What a clever program can avoid is left
# out: the second half of a ring all-reduce, experts that no token need choose.

_FAMILIES = {dtype(name).family: dtype(name) for name in reversed(DTYPES)}


@dataclass(frozen=True)
class Bound:
    """Seconds that a step takes at least: to ``compute``, to ``carry``, to ``send``.

    ``notes``: what was assumed, most of it in favour of the program that is to be bounded.
    ``computing_known``: the machine has a peak for every product. Where it has not, ``compute``
    leaves those products out.
    """

    compute: float
    carry: float
    send: float
    notes: tuple[str, ...]
    computing_known: bool = True

    @property
    def seconds(self) -> float:
        """The longest of the three: they may all overlap."""
        return max(self.compute, self.carry, self.send)


def strict(w: Workload, m: Machine, devices: int, link: float | None, roofs: str) -> Bound:
    """Return the strict bound of ``w`` on ``devices`` of ``m``; see :meth:`Workload.bound`."""
    devices, link = size("devices", devices), link_rate(link)
    if roofs not in ROOFS:
        raise unknown("roofs", roofs, ROOFS)
    said: dict[str, None] = {}
    products = [s for s in w.steps if s.op.unit == "tensor"]
    computing, known = _computing(w, products, m, roofs, said)
    bandwidth = dram_rate(m, roofs, said)
    if roofs == "catalogue" and m.origin == "datasheet":  # or what a run has reached beyond it
        bandwidth = max(bandwidth, float(m.measured.get("bandwidth_bytes_per_s", 0.0)))
    cache = sum(m.capacities.get(level, 0) for level in ("l2", "l3"))  # neither may hold the other
    if cache:
        said[f"{si(cache, 'B')} may stay in the caches of {m.id} from step to step"] = None
    moved = max(0, _carried(w) - devices * cache)
    sending = 0.0
    if devices > 1 and link:
        narrower = narrowest(w.formats) / w.formats.outer.bits
        sending = sum(s.count * s.reduced for s in products) * min(1.0, narrower) / link
        said["a device sends its part of a sum once, as where the switch adds"] = None
    elif devices > 1:
        said["sending between devices takes no time: give link= in byte/s"] = None
    if w.model.experts and w.tokens > 1:
        said["all tokens choose the same experts, so that the others are not read"] = None
    return Bound(computing / devices, moved / bandwidth / devices, sending, tuple(said), known)


def _computing(
    w: Workload, products: list[Step], m: Machine, roofs: str, said: dict[str, None]
) -> tuple[float, bool]:
    """Return the seconds of the products' FLOPs on one device, and whether all peaks are known."""
    alike: dict[tuple[int, DType], float] = {}
    for step in products:
        key = _bits(step, w.formats), step.op.compute_dtype
        alike[key] = alike.get(key, 0.0) + step.count * step.op.flops
    named = [w.formats.weights, w.formats.kv, w.formats.activations]
    rates = {
        (bits, kind): _fastest(
            m, bits, kind, {f.family for f in named if f.bits == bits}, roofs, said
        )
        for bits, kind in alike
    }
    seconds = sum(flops / rates[key] for key, flops in alike.items())
    return seconds, all(map(math.isfinite, rates.values()))


def _bits(step: Step, formats: Formats) -> int:
    """Bits of the narrowest format in which a product may be computed.

    Scores may be as narrow as what is stored of either of their operands.
    """
    bits = narrowest(formats)
    if "weights" in step.roles:
        return bits
    return min(bits, formats.kv.bits) if formats.assumed else formats.activations.bits


def _fastest(
    m: Machine, bits: int, kind: DType, named: Collection[str], roofs: str, said: dict[str, None]
) -> float:
    """Highest dense peak of ``m`` in FLOP/s for a format of ``bits`` or more; infinite where none
    of the ``named`` formats has one, and one that may be higher is not published.

    Where the estimate computes ``kind`` in another format, because ``m`` lists no peak for it,
    that format counts too.
    """
    rates = _stated(m) if roofs == "catalogue" else m.peaks
    wide = {key: rate for key, rate in rates.items() if _width(key) >= bits}
    listed = {key.partition("_")[0] for key in wide}
    hidden = roofs == "catalogue" and not listed & set(named)
    unknown_peak = _unpublished(m, bits, wide) if hidden else ""
    if unknown_peak or not wide:
        peak = f"its {unknown_peak} peak" if unknown_peak else f"a peak of {m.id} for {bits} bits"
        said[f"{peak} is not known: computing is taken to cost nothing"] = None
        return float("inf")
    key = max(wide, key=lambda k: (wide[k], k in m.measured))
    rate = wide[key]
    if roofs == "measured" and m.origin == "datasheet":
        rate = float(m.measured.get(key, rate))
    if m.peaks and (instead := peak_for(m, kind, "tensor", roofs, {}))[0] > rate:
        rate, key = instead[0], str(instead[1])
    said[
        f"computed at {si(rate, 'FLOP/s')} ({key}), the highest that is known of {m.id} for "
        f"{bits} bits or more"
    ] = None
    return rate


def _record(m: Machine) -> Mapping[str, Any]:
    """What the catalogue says of ``m`` beyond its figures; nothing of a machine of one's own."""
    return record(m.id) if m.origin == "datasheet" and m.id in machines() else {}


def _stated(m: Machine) -> dict[str, float]:
    """The highest figure in FLOP/s of each of ``m``'s peaks.

    What a run has reached where that is more, because cards boost past their datasheets; at the
    boost clock what was worked out at the base clock, as for CPUs; and where sources dispute a
    figure that the catalogue leaves out, their highest.
    """
    row = _record(m)
    clocks = [row[key]["value"] for key in ("boost_clock_hz", "base_clock_hz") if key in row]
    faster = clocks[0] / clocks[1] if len(clocks) == 2 else 1.0
    rates = {
        key: rate * (faster if "base" in (rate.derived or "") else 1.0)
        for key, rate in m.peaks.items()
    }
    for key, reached in m.measured.items():
        rates[key] = max(float(reached), rates.get(key, 0.0))
    for key, values in disputed(m).items():
        rates[key] = max(*values, rates.get(key, 0.0))
    return rates


def _unpublished(m: Machine, bits: int, wide: Iterable[str]) -> str:
    """A format of ``bits`` or more whose peak nobody publishes and that may be the fastest.

    A format is ruled out where ``m`` lists a peak for fewer bits, or for as many of the same kind.
    """
    known = [_FAMILIES[key.partition("_")[0]] for key in wide]
    words = " ".join(map(str, _record(m).get("unsourced", ()))).split()
    named = [_FAMILIES[word] for word in words if word in _FAMILIES]
    open_ones = [
        kind for kind in named if kind.bits >= bits
        and not any(k.bits < kind.bits or (k.bits, k.kind) == (kind.bits, kind.kind) for k in known)
    ]  # fmt: skip
    return min(open_ones, key=lambda kind: kind.bits).family if open_ones else ""


def _width(key: str) -> int:
    """Bits of the format that a peak's ``key`` names: ``fp16_acc16`` has 16; 0 if it names none."""
    family = _FAMILIES.get(key.partition("_")[0])
    return family.bits if family else 0


def _carried(w: Workload) -> float:
    """Bytes of the weights, once, and of the KV cache.

    Rows of an embedding table are left out, and so are the experts that a token need not choose.
    """
    total = 0.0
    active = {p.name: p.active / p.experts for p in w.model.products}
    for step in w.steps:
        if step.name == "embed":
            continue
        for o, role in step.operands:
            if role == "kv":
                total += step.count * o.bytes
            elif role == "weights":
                chosen = replace(o, touched=None).bytes * active.get(step.name, 1)
                total += step.count * min(chosen, o.bytes)
    return total

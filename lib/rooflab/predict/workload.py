"""A workload: one step of a language model, and what a machine makes of it."""

from __future__ import annotations

import sys
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from rooflab.count.llm import Model
from rooflab.count.llm_steps import ROLES, Formats, Step, distinct, every_parameter, generate
from rooflab.count.llm_training import train
from rooflab.count.operation import Operation
from rooflab.count.si import si
from rooflab.count.sizes import size
from rooflab.predict.catalogue import machine as _machine
from rooflab.predict.catalogue import machines, record
from rooflab.predict.machine import Machine
from rooflab.predict.workload_bound import Bound, strict
from rooflab.predict.workload_explain import Account, account
from rooflab.predict.workload_formats import formats_on
from rooflab.predict.workload_time import Timing, roles_of, timing


@dataclass(frozen=True, repr=False)
class Workload:
    """One step of ``model``: its operations, their FLOPs and bytes, their time on a machine.

    ``phase``: "decode", "prefill" or "train"; ``batch`` sequences with ``queries`` new positions
    each and ``context`` positions in all. ``steps``: one :class:`Step` per kind of operation, a
    single run of it (``step.op``) with how often it runs (``step.count``). ``options``: how the
    steps were made, as pairs of name and value.
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
        cls,
        model: Model,
        phase: str,
        sizes: tuple[int, int, int],
        formats: Formats,
        options: Mapping[str, object],
    ) -> Workload:
        """Make the step of ``phase`` with ``sizes`` (batch, queries, context)."""
        batch, queries, context = sizes
        if phase == "train":  # nothing is cached: keys and values are activations
            formats = replace(formats, kv=formats.activations)
            steps = train(model, batch, queries, formats, **options)
        else:
            steps = generate(model, batch, queries, context, formats, **options)
        return cls(model, phase, *sizes, formats, steps, tuple(options.items()))

    def on(self, machine: Machine | str) -> Workload:
        """The step as ``machine`` runs it: activations that nobody named follow the weights where
        the machine has a peak for their format; see :meth:`Model.decode`."""
        formats, _ = formats_on(_machine(machine), self.formats)
        if formats is self.formats:
            return self
        sizes = (self.batch, self.queries, self.context)
        return Workload.of(self.model, self.phase, sizes, formats, dict(self.options))

    @cached_property
    def operations(self) -> tuple[Operation, ...]:
        """Every kind of operation with all of its runs together: their FLOPs and bytes add up to
        the step's, and ``op.batch`` is how often it runs."""
        return tuple(step.whole for step in self.steps)

    @property
    def tokens(self) -> int:
        """Tokens that the step makes (decode) or takes in (prefill, training)."""
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
        """Bytes to hold: weights, KV cache, activations (in training, gradients of the weights).

        A step of inference holds the activations of its largest operation and the residual stream;
        training keeps everything that forward writes.
        """
        weights = self.model.weight_bytes(self.formats.weights)
        if self.phase == "train":
            return {"weights": weights, "activations": self._kept, "gradients": weights}
        kv = self.model.kv_bytes(self.batch, self.context, self.formats.kv)
        return {"weights": weights, "kv": kv, "activations": self._largest}

    @property
    def _kept(self) -> int:
        forward = (s for s in self.steps if not s.name.endswith((" back", " dX", " dW")))
        return sum(s.count * sum(o.nbytes * o.writes for o in s.op.operands) for s in forward)

    @property
    def _largest(self) -> int:
        stream = self.tokens * self.model.hidden * self.formats.activations.bits // 8
        return stream + max(s.held("activations") for s in self.steps)

    @property
    def memory_bytes(self) -> int:
        """Bytes to hold in all: weights, KV cache, activations."""
        return sum(self.memory.values())

    def fits(self, machine: Machine | str, devices: int = 1) -> bool | None:
        """Whether the memory of ``devices`` holds the step; None where its size is not known.

        Weights, KV cache and gradients are divided among the devices, activations are not.
        """
        capacity = _machine(machine).capacities.get("dram")
        return None if capacity is None else self.bytes_each(devices) <= capacity

    def bytes_each(self, devices: int = 1) -> float:
        """Bytes that each of ``devices`` holds: its share, and activations as a whole."""
        shared = self.memory_bytes - self.memory["activations"]
        return shared / size("devices", devices) + self.memory["activations"]

    @property
    def warnings(self) -> tuple[str, ...]:
        """What to know about the step before believing its numbers; empty if there is nothing."""
        m, said = self.model, []
        if m.context and self.context > m.context:
            said.append(f"context={self.context} is beyond the {m.context} tokens of its training")
        if m.windowed_layers and self.context > m.window:
            said.append(f"{m.windowed_layers} layers look back over {m.window} positions only")
        if m.experts and self.tokens > 1:
            touched = distinct(m.experts, m.experts_active, self.tokens)
            said.append(
                f"{self.tokens} tokens that choose at random touch {touched:.3g} of "
                f"{m.experts} experts on average; real routers touch fewer"
            )
        if self.phase == "train":
            said.append("the optimiser is not counted, in time or in memory")
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
        ``link`` in byte/s: the least that an all-reduce takes, each device its whole partial sum
        once. Nothing is added for launches, small operations or activations, everything overlaps,
        and ``devices`` divide it all without loss. A peak that is there and that nobody publishes
        bounds nothing. One step makes a token for each sequence, with every weight and position in
        its format: speculative decoding, sequences that share a prompt's cache, sparse products,
        and numbers that are rounded to fewer bits on their way are other steps.
        ``roofs="measured"``: from published achieved figures, which a run may well beat. What was
        assumed: ``w.explain(machine).bound.notes``.
        """
        return self._strict(machine, devices, link, roofs).seconds

    def _strict(
        self, machine: Machine | str, devices: int, link: float | None, roofs: str
    ) -> Bound:
        self._timeable()
        return strict(self, _machine(machine), devices, link, roofs)

    def _timeable(self) -> None:
        if max(self.flops, self.bytes) > sys.float_info.max:
            raise ValueError(f"a step of {si(self.flops, 'FLOP')} is beyond any time")

    def time(self, machine: Machine | str, devices: int = 1, **how: object) -> Timing:
        """Time with its parts and what was assumed (notes); arguments as in :meth:`seconds`."""
        m, devices = _machine(machine), size("devices", devices)
        self._timeable()
        _, assumed = formats_on(m, self.formats)
        return self.on(m)._time(m, devices, [assumed] if assumed else [], how)

    def _time(
        self, m: Machine, devices: int, notes: list[str], how: Mapping[str, object]
    ) -> Timing:
        notes += self.warnings
        if self.fits(m, devices) is False:
            holds = f"{si(m.capacities['dram'], 'B')} of {m.name}"
            notes.append(
                f"does not fit: {si(self.bytes_each(devices), 'B')} to hold in the {holds}"
            )
        split = devices > 1 and (self.model.latent or self.model.kv_heads % devices)
        if split and self.phase != "train":
            notes.append(f"the KV cache is counted as if its heads could be split {devices} ways")
        steps, roles = self.steps, roles_of(how.get("traffic"))
        if roles != ROLES and "weights" in roles:
            steps = every_parameter(self.model, steps)
            if steps != self.steps:
                notes.append(
                    "every parameter is counted, bytes and FLOPs, as in published tables: "
                    "see w.traffic"
                )
        return timing(steps, m, devices=devices, notes=notes, **how)

    def seconds(
        self,
        machine: Machine | str,
        devices: int = 1,
        link: float | None = None,
        bound: str = "sum-of-max",
        roofs: str = "catalogue",
        traffic: Collection[str] | None = None,
        overhead: float | None = None,
        link_latency: float = 0.0,
        efficiency: Mapping[str, float] | None = None,
    ) -> float:
        """Estimated time of the step in seconds: Σ max(compute, memory), with launches and sends.

        An estimate, not a bound: a program that fuses or overlaps more may be faster, most are
        slower (:meth:`bound` is what none can beat). At a datasheet's full rates and without
        launches, the default for a machine of the catalogue, the published runs of lesson 05 are
        1.2 to 2.5 times slower; with ``roofs="measured"`` and ``overhead=2e-6``, 1 to 2 times.
        ``devices`` share every layer: weights, KV
        cache and FLOPs are divided, activations are not. ``link``: byte/s that a device sends; what
        ends a block is then followed by a ring all-reduce, 2 (devices − 1) / devices · the result's
        bytes / link, and by ``link_latency`` seconds for each. ``overhead``: seconds a launch, in
        place of what was measured on the machine (nothing for one of the catalogue); every
        operation is a launch, ``w.launches`` of them. ``efficiency``: shares of the roofs that are
        reached, as in {"compute": 0.75, "memory": 0.85}.

        ``bound``, how the parts are put together: "sum-of-max" (an operation computes and carries
        at once, operations follow each other), "max-of-sum" or "no-overlap". ``roofs``: "catalogue"
        or "measured" (published achieved figures). ``traffic``: the ledger of a published table,
        which counts only some of "weights", "kv" and "activations"; an operation that moves none of
        them is left out, FLOPs and all. Such tables take every parameter once, and 2 FLOP for each
        and a token, so the embedding table is then read and multiplied with as a whole
        (``w.traffic``, ``w.flops`` have what the step itself must do). :meth:`time` says what was
        assumed. Raises ValueError or TypeError naming the argument that does not fit.
        """
        how = {
            "link": link, "bound": bound, "roofs": roofs, "traffic": traffic,
            "overhead": overhead, "link_latency": link_latency, "efficiency": efficiency,
        }  # fmt: skip
        return self.time(machine, devices, **how).seconds

    def tokens_per_s(
        self, machine: Machine | str, devices: int = 1, link: float | None = None, **how: object
    ) -> float:
        """Estimated tokens a second over the whole batch and all devices; see :meth:`seconds`."""
        return self.tokens / self.seconds(machine, devices, link, **how)

    def limits(self, machine: Machine | str, devices: int = 1, **how: object) -> dict[str, str]:
        """What limits each operation: "compute", "memory:weights", "memory:kv", "link", … ."""
        return {part.name: part.limit for part in self.time(machine, devices, **how).parts}

    def limit(self, machine: Machine | str, devices: int = 1, **how: object) -> str:
        """What most of the step's time goes to, in the words of :meth:`limits`."""
        return self.time(machine, devices, **how).limit

    def joules(self, machine: Machine | str, devices: int = 1, **how: object) -> float | None:
        """Energy of the step at the devices' rated power (TDP), in joules; None if not known.

        A memory-bound step draws less than that, so it is an upper figure for the estimated time.
        """
        m = _machine(machine)
        power = record(m.id).get("tdp_w") if m.id in machines() else None
        if power is None:
            return None
        return self.seconds(m, devices, **how) * size("devices", devices) * power["value"]

    def explain(
        self,
        machine: Machine | str,
        tokens_per_s: float | None = None,
        devices: int = 1,
        **how: object,
    ) -> Account:
        """The steps that lead from "weights read once" to the estimate and to a measured rate.

        ``tokens_per_s``: what was measured, over the whole batch and all devices. The factors
        multiply to measured time / time to read the weights.
        """
        m = _machine(machine)
        how = {"link": None, "roofs": "catalogue", **how}
        bound = self._strict(m, devices, how["link"], how["roofs"])
        return account(self, m, tokens_per_s, devices, how, bound)

    def __repr__(self) -> str:
        return _as_text(self)


def _as_text(w: Workload) -> str:
    """The step as text: what it is, what moves, and one line for each kind of operation."""
    what = f"{w.tokens} token{'s' if w.tokens > 1 else ''}"
    moved = ", ".join(
        f"{role} {si(amount, 'B')} ({getattr(w.formats, role)})"
        for role, amount in w.traffic.items()
        if amount
    )
    lines = [
        f"{w.model.name} {w.phase}, batch {w.batch}, context {w.context}: {what}, "
        f"{si(w.flops, 'FLOP')}, {si(w.bytes, 'B')}, {w.intensity:.4g} FLOP/B",
        f"  moves {moved}; holds {si(w.memory_bytes, 'B')}",
        *(f"  note: {text}" for text in w.warnings),
    ]
    width = max(len(step.name) for step in w.steps)
    for step, op in zip(w.steps, w.operations, strict=True):
        lines.append(
            f"  {step.name:<{width}} ×{step.count:<4}{si(op.flops, 'FLOP'):>11}"
            f"{si(op.bytes, 'B'):>9} {op.intensity:>9.4g} FLOP/B"
        )
    return "\n".join(lines)

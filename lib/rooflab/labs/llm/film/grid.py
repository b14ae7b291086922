"""What a request film is counted over: batches, contexts, formats, and the kinds of operation.

Everything that a slider can reach is built once. Only attention depends on the context, so the
weight products are counted once a batch and format, attention once a batch, context and format.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np

from rooflab.count.dtypes import DType
from rooflab.count.dtypes import dtype as _dtype
from rooflab.labs.llm.decode_loop import DecodeRun
from rooflab.labs.llm.model import Model
from rooflab.labs.llm.step_time import sixteen_bits
from rooflab.labs.llm.steps import Formats, Step, attend
from rooflab.labs.llm.workload import Workload
from rooflab.predict.machine import Machine

BATCHES = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512)
CONTEXTS = tuple(n * 2**e for e in range(13) for n in (16, 24)) + (131072,)
WEIGHTS, KV, OTHER, COMPUTE = "weights", "kv", "other", "compute"
#: The dimensions of a film, and those that weight products depend on.
ALL, NARROW = "machine weights kv batch context", "machine weights batch"


@dataclass(frozen=True)
class DotKind:
    """Operations that share a dot: ``part`` is what they carry while memory is their limit.

    ``size``: pixels from the middle to the edge, so that dots in one place stay visible inside each
    other. ``dims``: what their times depend on.
    """

    name: str
    label: str
    part: str
    shape: str
    size: float
    dims: str = NARROW


ATTENTION = DotKind("attention", "attention", KV, "hexagon", 9, ALL)
KINDS = (
    DotKind("mlp", "MLP", WEIGHTS, "square", 11),
    DotKind("qkvo", "Q K V O", WEIGHTS, "circle", 7),
    DotKind("head", "head", WEIGHTS, "triangle", 3.8),
    ATTENTION,
    DotKind("other", "norms etc.", OTHER, "down", 7),
)
REST = tuple(kind for kind in KINDS if kind is not ATTENTION)
#: What all but attention waits for: the parts at the foot of a bar.
FEET = (WEIGHTS, COMPUTE, OTHER)
PREFILL = DotKind("prefill", "prefill", COMPUTE, "diamond", 8, "machine weights kv context")


def kind_of(step: Step) -> str:
    """Name of the kind that ``step`` belongs to."""
    if "kv" in step.roles or step.name in ("scores", "softmax", "values"):
        return "attention"
    if step.op.unit != "tensor":
        return "other"
    if step.name.endswith(("gate", "up", "down", "router")):
        return "mlp"
    return "head" if step.name == "head" else "qkvo"


@dataclass(frozen=True)
class TimedRun:
    """A decode loop that was really run: ``place`` are its machine, weights format and batch.

    ``context``: positions in the middle of the run; ``seconds``: of a step, measured and as an
    ``estimate``; ``per_second``: tokens; ``dots``: kind → (FLOP/byte, FLOP/s).
    """

    place: tuple[int, int, int]
    context: int
    seconds: float
    estimate: float
    per_second: float
    dots: dict[str, tuple[float, float]]


@dataclass(frozen=True)
class Grid:
    """``model`` over every batch, context, and format of ``weights`` and ``kvs``."""

    model: Model
    weights: tuple[DType, ...]
    kvs: tuple[DType, ...]
    batches: tuple[int, ...] = BATCHES
    contexts: tuple[int, ...] = CONTEXTS

    def decode(self, w: int, kv: int, i: int, j: int) -> Workload:
        """The decode step at four indices: weights, KV cache, batch, context."""
        formats = self.weights[w], self.kvs[kv], self.computed[w]
        return self.model.decode(self.batches[i], self.contexts[j], *formats)

    def prefill(self, w: int, kv: int, j: int) -> Workload:
        """Reading one prompt as long as the context at index ``j``."""
        formats = self.weights[w], self.kvs[kv], self.computed[w]
        return self.model.prefill(1, self.contexts[j], *formats)

    @property
    def computed(self) -> tuple[DType, ...]:
        """For each format of the weights, the one in which products are computed: of 16 bits."""
        return tuple(map(sixteen_bits, self.weights))

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """How many formats of weights and of the KV cache, batches, contexts."""
        return len(self.weights), len(self.kvs), len(self.batches), len(self.contexts)

    @cached_property
    def steps(self) -> dict[str, np.ndarray]:
        """The steps of each kind, by weights and batch; those of attention by all four."""
        weights, _, batches, _ = self.shape
        whole = table((weights, batches), lambda w, i: by_kind(self.decode(w, 0, i, 0).steps))
        names = [kind.name for kind in REST]
        found = {name: table(whole.shape, lambda *at, one=name: whole[at][one]) for name in names}
        # Weights of one width share their attention.
        formats = self.weights if self.model.latent else self.computed
        alike, shared = [formats.index(one) for one in formats], cache(self._attention)
        attention = table(self.shape, lambda w, *place: shared(alike[w], *place))
        return found | {ATTENTION.name: attention}

    def _attention(self, w: int, kv: int, i: int, j: int) -> tuple[Step, ...]:
        """The steps of a decode that depend on the context, without the others."""
        formats = Formats(self.weights[w], self.kvs[kv], self.computed[w])
        found = attend(self.model, self.batches[i], 1, self.contexts[j], formats, True, True)
        return by_kind(found)[ATTENTION.name]

    @cached_property
    def prompts(self) -> np.ndarray:
        """Prefills, by weights, KV cache and context."""
        weights, kvs, _, contexts = self.shape
        return table((weights, kvs, contexts), self.prefill)

    @cached_property
    def traffic(self) -> dict[str, np.ndarray]:
        """FLOP and bytes, along the last axis, of the steps of each kind."""
        return {name: each(steps, totals) for name, steps in self.steps.items()}

    @cached_property
    def intensities(self) -> dict[str, np.ndarray]:
        """FLOP per byte of every dot."""
        found = {name: one[..., 0] / one[..., 1] for name, one in self.traffic.items()}
        return found | {PREFILL.name: each(self.prompts, lambda prompt: prompt.intensity)}

    @property
    def ends(self) -> tuple[float, float]:
        """Lowest and highest FLOP per byte of any dot."""
        known = np.concatenate([one.ravel() for one in self.intensities.values()])
        return float(known.min()), float(known.max())

    @cached_property
    def moved(self) -> np.ndarray:
        """Bytes of each decode step, by all four."""
        rest = np.sum([self.traffic[kind.name][..., 1] for kind in REST], axis=0)
        return np.asarray(rest[:, None, :, None] + self.traffic[ATTENTION.name][..., 1])

    @cached_property
    def needs(self) -> np.ndarray:
        """Bytes of memory that each decode step needs, by all four."""
        m, (weights, _, batches, _) = self.model, self.shape
        steps = table((weights, batches), lambda w, i: self.decode(w, 0, i, 0))
        rest = each(steps, lambda step: step.memory_bytes - step.memory["kv"])
        sizes = itertools.product(self.kvs, self.batches, self.contexts)
        caches = [float(m.kv_bytes(batch, context, kv)) for kv, batch, context in sizes]
        return np.asarray(rest[:, None, :, None] + np.reshape(caches, self.shape[1:]))

    def timed(self, run: DecodeRun, m: int, machine: Machine) -> TimedRun:
        """Return what ``run`` measured on ``machine``, which is number ``m`` of those on offer."""
        kind, dots = _dtype(run.dtype), {}
        for name, steps in by_kind(run.ledger()).items():
            flops, moved = totals(steps)
            seconds = sum(run.seconds(step.name) for step in steps)
            if flops and seconds > 0:
                dots[name] = (flops / moved, flops / seconds)
        place = m, self.weights.index(kind), self.batches.index(run.batch)
        estimate = self.model.decode(run.batch, run.middle, kind, kind).seconds(machine)
        return TimedRun(place, run.middle, run.step_s, estimate, run.tokens_per_s, dots)


def table(shape: tuple[int, ...], make: Callable[..., Any]) -> np.ndarray:
    """``make(*place)`` at every place."""
    return np.asarray(np.frompyfunc(make, len(shape), 1)(*np.indices(shape)))


def each(found: np.ndarray, count: Callable[[Any], Any]) -> np.ndarray:
    """``count`` of everything in a table; what stands at several places is counted once."""
    known = {id(one): count(one) for one in {id(one): one for one in found.flat}.values()}
    counts = np.array([known[id(one)] for one in found.flat], float)
    return counts.reshape(found.shape + counts.shape[1:])


def by_kind(steps: Iterable[Step]) -> dict[str, tuple[Step, ...]]:
    """``steps`` sorted into the kinds that they belong to."""
    found: dict[str, tuple[Step, ...]] = {}
    for step in steps:
        name = kind_of(step)
        found[name] = (*found.get(name, ()), step)
    return found


def totals(steps: Sequence[Step]) -> tuple[int, int]:
    """FLOP and bytes of ``steps``, every run counted."""
    flops = sum(step.count * step.op.flops for step in steps)
    return flops, sum(step.count * step.op.bytes for step in steps)

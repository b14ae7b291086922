"""What a request film is counted over: batches, contexts, formats, and the kinds of operation.

Everything that a slider can reach is built once. Only attention depends on the context, so the
weight products are counted once a batch and format, attention once a batch, context and format.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np

from rooflab.count.dtypes import DType
from rooflab.labs.llm.model import Model
from rooflab.labs.llm.step_time import sixteen_bits, timing
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
class Grid:
    """``model`` over every batch, context, and format of ``weights`` and ``kvs``."""

    model: Model
    weights: tuple[DType, ...]
    kvs: tuple[DType, ...]
    batches: tuple[int, ...] = BATCHES
    contexts: tuple[int, ...] = CONTEXTS

    def decode(self, w: int, kv: int, i: int, j: int) -> Workload:
        """The decode step at four indices: weights, KV cache, batch, context."""
        return self.model.decode(self.batches[i], self.contexts[j], *self._formats(w, kv))

    def prefill(self, w: int, kv: int, j: int) -> Workload:
        """Reading one prompt as long as the context at index ``j``."""
        return self.model.prefill(1, self.contexts[j], *self._formats(w, kv))

    def _formats(self, w: int, kv: int) -> tuple[DType, DType, DType]:
        """Weights, KV cache and activations; the film's products are computed in 16 bits."""
        return self.weights[w], self.kvs[kv], sixteen_bits(self.weights[w])

    @cached_property
    def computed(self) -> tuple[DType, ...]:
        """For each format of the weights, the one in which products are computed."""
        return tuple(self.decode(w, 0, 0, 0).formats.activations for w in range(len(self.weights)))

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """How many formats of weights and of the KV cache, batches, contexts."""
        return len(self.weights), len(self.kvs), len(self.batches), len(self.contexts)

    @cached_property
    def steps(self) -> dict[str, np.ndarray]:
        """The steps of each kind, by weights and batch; those of attention by all four."""
        weights, _, batches, _ = self.shape
        mine = table((weights, batches), lambda w, i: by_kind(self.decode(w, 0, i, 0).steps))
        found = {}
        for name in (kind.name for kind in KINDS if kind is not ATTENTION):
            found[name] = table(mine.shape, lambda w, i, name=name: mine.item(w, i).get(name, ()))
        # Weights of one width share their attention.
        formats = self.weights if self.model.latent else self.computed
        alike, shared = [formats.index(one) for one in formats], cache(self._attention)
        found["attention"] = table(self.shape, lambda w, *place: shared(alike[w], *place))
        return found

    def _attention(self, w: int, kv: int, i: int, j: int) -> tuple[Step, ...]:
        """The steps of a decode that depend on the context, without the others."""
        formats = Formats(self.weights[w], self.kvs[kv], self.computed[w])
        found = attend(self.model, self.batches[i], 1, self.contexts[j], formats, True, True)
        return by_kind(found)["attention"]

    @cached_property
    def prompts(self) -> np.ndarray:
        """Prefills, by weights, KV cache and context."""
        weights, kvs, _, contexts = self.shape
        return table((weights, kvs, contexts), self.prefill)

    @cached_property
    def intensities(self) -> dict[str, np.ndarray]:
        """FLOP per byte of every dot; not a number where a kind has no operation."""
        found = {kind.name: each(self.steps[kind.name], intensity) for kind in KINDS}
        return found | {PREFILL.name: each(self.prompts, lambda prompt: prompt.intensity)}

    @property
    def ends(self) -> tuple[float, float]:
        """Lowest and highest FLOP per byte of any dot."""
        known = np.concatenate([one.ravel() for one in self.intensities.values()])
        return float(np.nanmin(known)), float(np.nanmax(known))

    @cached_property
    def needs(self) -> np.ndarray:
        """Bytes of memory that each decode step needs, by all four."""

        def cached(kv: int, i: int, j: int) -> int:
            return self.model.kv_bytes(self.batches[i], self.contexts[j], self.kvs[kv])

        def rest(w: int, i: int) -> int:
            step = self.decode(w, 0, i, 0)
            return step.memory_bytes - step.memory["kv"]

        narrow = table((len(self.weights), len(self.batches)), rest).astype(float)
        whole: np.ndarray = narrow[:, None, :, None] + table(self.shape[1:], cached).astype(float)
        return whole

    def seconds(self, machine: Machine, w: Sequence[int]) -> dict[str, np.ndarray]:
        """Seconds of each kind on ``machine``; not a number outside weights formats ``w``."""

        def time(steps: tuple[Step, ...]) -> float:
            return sum(part.seconds for part in timing(steps, machine).parts)

        found = {}
        for kind in KINDS:
            steps = self.steps[kind.name]
            found[kind.name] = np.full(steps.shape, np.nan)
            found[kind.name][list(w)] = each(steps[list(w)], time)
        return found


def table(shape: tuple[int, ...], make: Callable[..., Any]) -> np.ndarray:
    """``make(*place)`` at every place."""
    found = np.empty(shape, object)
    for place in np.ndindex(*shape):
        found[place] = make(*place)
    return found


def each(found: np.ndarray, count: Callable[[Any], float]) -> np.ndarray:
    """``count`` of everything in a table; what stands at several places is counted once."""
    known = {id(one): count(one) for one in {id(one): one for one in found.flat}.values()}
    return np.array([known[id(one)] for one in found.flat], float).reshape(found.shape)


def by_kind(steps: Iterable[Step]) -> dict[str, tuple[Step, ...]]:
    """``steps`` sorted into the kinds that they belong to."""
    found: dict[str, tuple[Step, ...]] = {}
    for step in steps:
        name = kind_of(step)
        found[name] = (*found.get(name, ()), step)
    return found


def intensity(steps: Iterable[Step]) -> float:
    """FLOP per byte of ``steps`` together; not a number where there are none."""
    flops, moved = totals(steps)
    return flops / moved if moved else math.nan


def totals(steps: Iterable[Step]) -> tuple[int, int]:
    """FLOP and bytes of ``steps``, every run counted."""
    flops = moved = 0
    for step in steps:
        flops += step.count * step.op.flops
        moved += step.count * step.op.bytes
    return flops, moved


def crossing(contexts: Iterable[int], attention: np.ndarray, rest: float) -> float:
    """Context at which attention takes as long as the ``rest`` (seconds).

    Between two contexts attention's time is a straight line. 0: it is so from the first one on;
    infinite: it is so at none of ``contexts``.
    """
    known = list(contexts)
    if attention[0] >= rest:
        return 0.0
    if attention[-1] < rest:
        return math.inf
    return float(np.interp(rest, attention, known))

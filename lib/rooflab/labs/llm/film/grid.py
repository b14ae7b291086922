"""What a request film is counted over: batches, contexts, formats, and the kinds of operation.

Everything that a slider can reach is built once. Only attention depends on the context, so the
weight products are counted once a batch and format, attention once a batch, context and format.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rooflab.count.dtypes import DType
from rooflab.labs.llm.model import Model
from rooflab.labs.llm.step_time import sixteen_bits, timing
from rooflab.labs.llm.steps import Formats, Step, attend
from rooflab.labs.llm.workload import Workload
from rooflab.predict.machine import Machine

BATCHES = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512)
CONTEXTS = tuple(n * 2**e for e in range(12) for n in (32, 48)) + (131072,)
WEIGHTS, KV, OTHER, COMPUTE = "weights", "kv", "other", "compute"


@dataclass(frozen=True)
class DotKind:
    """Operations that share a dot: ``part`` is what they carry while memory is their limit.

    ``wide``: they depend on the context. ``size``: pixels from the middle to the edge, so that dots
    in one place stay visible inside each other.
    """

    name: str
    label: str
    part: str
    shape: str
    size: float
    wide: bool = False


KINDS = (
    DotKind("mlp", "MLP", WEIGHTS, "square", 8),
    DotKind("qkvo", "Q K V O", WEIGHTS, "circle", 5),
    DotKind("head", "head", WEIGHTS, "triangle", 2.7),
    DotKind("attention", "attention", KV, "circle", 11, wide=True),
    DotKind("other", "norms etc.", OTHER, "down", 7),
)
PREFILL = DotKind("prefill", "prefill", COMPUTE, "diamond", 8, wide=True)


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

    def narrow(self) -> Iterator[tuple[int, int]]:
        """Indices (weights, batch) in table order."""
        return ((w, i) for w in range(len(self.weights)) for i in range(len(self.batches)))

    def wide(self) -> Iterator[tuple[int, int, int, int]]:
        """Indices (weights, KV cache, batch, context) in table order."""
        shape = (len(self.weights), len(self.kvs), len(self.batches), len(self.contexts))
        return ((w, kv, i, j) for w, kv, i, j in np.ndindex(*shape))

    @cached_property
    def steps(self) -> dict[str, list[tuple[Step, ...]]]:
        """The steps of each kind, in table order: narrow for most, wide for attention."""
        found: dict[str, list[tuple[Step, ...]]] = {kind.name: [] for kind in KINDS}
        for w, i in self.narrow():
            mine = by_kind(self.decode(w, 0, i, 0).steps)
            for kind in KINDS:
                if not kind.wide:
                    found[kind.name].append(mine.get(kind.name, ()))
        # Weights of one width share their attention.
        seen: dict[tuple[DType, int, int, int], tuple[Step, ...]] = {}
        for w, kv, i, j in self.wide():
            key = (self.weights[w] if self.model.latent else self.computed[w], kv, i, j)
            if key not in seen:
                seen[key] = self._attention(w, kv, i, j)
            found["attention"].append(seen[key])
        return found

    def _attention(self, w: int, kv: int, i: int, j: int) -> tuple[Step, ...]:
        """The steps of a decode that depend on the context, without the others."""
        formats = Formats(self.weights[w], self.kvs[kv], self.computed[w])
        found = attend(self.model, self.batches[i], 1, self.contexts[j], formats, True, True)
        return by_kind(found)["attention"]

    @cached_property
    def prompts(self) -> list[Workload]:
        """Prefills in table order (weights, KV cache, context)."""
        shape = (len(self.weights), len(self.kvs), len(self.contexts))
        return [self.prefill(*map(int, index)) for index in np.ndindex(*shape)]

    @cached_property
    def intensities(self) -> dict[str, np.ndarray]:
        """FLOP per byte of every dot, in table order; 0 where a kind has no operation."""
        known: dict[int, float] = {}

        def of(steps: tuple[Step, ...]) -> float:
            if id(steps) not in known:
                known[id(steps)] = intensity(steps)
            return known[id(steps)]

        found = {kind.name: np.array(list(map(of, self.steps[kind.name]))) for kind in KINDS}
        return found | {PREFILL.name: np.array([p.intensity for p in self.prompts])}

    @property
    def ends(self) -> tuple[float, float]:
        """Lowest and highest FLOP per byte of any dot."""
        known = np.concatenate(list(self.intensities.values()))
        return float(known[known > 0].min()), float(known.max())

    @cached_property
    def needs(self) -> np.ndarray:
        """Bytes of memory that each decode step needs, a wide table."""
        rest = []
        for w, i in self.narrow():
            step = self.decode(w, 0, i, 0)
            rest.append(float(step.memory_bytes - step.memory["kv"]))
        shape = (len(self.kvs), len(self.batches), len(self.contexts))
        cache = [
            float(self.model.kv_bytes(self.batches[i], self.contexts[j], self.kvs[kv]))
            for kv, i, j in np.ndindex(*shape)
        ]
        whole: np.ndarray = self.spread(np.array(rest)) + np.tile(cache, len(self.weights))
        return whole

    def seconds(self, machine: Machine, w: Iterable[int]) -> dict[str, np.ndarray]:
        """Seconds of each kind on ``machine``, in table order; NaN outside weights formats
        ``w``."""
        usable, each = set(w), {}
        for kind in KINDS:
            rows = self.steps[kind.name]
            span = len(rows) // len(self.weights)
            known: dict[int, float] = {}
            found = np.full(len(rows), np.nan)
            for place, steps in enumerate(rows):
                if place // span in usable:
                    if id(steps) not in known:
                        known[id(steps)] = sum(p.seconds for p in timing(steps, machine).parts)
                    found[place] = known[id(steps)]
            each[kind.name] = found
        return each

    def spread(self, values: np.ndarray) -> np.ndarray:
        """Values of a narrow table, repeated over KV formats and contexts: a wide table."""
        shape = (len(self.weights), 1, len(self.batches), 1)
        whole = (len(self.weights), len(self.kvs), len(self.batches), len(self.contexts))
        return np.broadcast_to(values.reshape(shape), whole).ravel()


def by_kind(steps: Iterable[Step]) -> dict[str, tuple[Step, ...]]:
    """``steps`` sorted into the kinds that they belong to."""
    found: dict[str, tuple[Step, ...]] = {}
    for step in steps:
        name = kind_of(step)
        found[name] = (*found.get(name, ()), step)
    return found


def intensity(steps: Iterable[Step]) -> float:
    """FLOP per byte of ``steps`` together."""
    flops, moved = totals(steps)
    return flops / moved if moved else 0.0


def totals(steps: Iterable[Step]) -> tuple[int, int]:
    """FLOP and bytes of ``steps``, every run counted."""
    flops = moved = 0
    for step in steps:
        flops += step.count * step.op.flops
        moved += step.count * step.op.bytes
    return flops, moved


def crossing(contexts: Iterable[int], attention: np.ndarray, rest: float) -> float | None:
    """Context at which attention takes as long as the ``rest`` (seconds); None beyond ``contexts``.

    Between two contexts attention's time is a straight line. 0: it is so from the first one on.
    """
    known = list(contexts)
    if attention[0] >= rest:
        return 0.0
    if attention[-1] < rest:
        return None
    return float(np.interp(rest, attention, known))

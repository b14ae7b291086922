"""A decode loop that was run: seconds of every operation in prefill and in each step."""

from __future__ import annotations

import dataclasses
import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np

from rooflab.count.dtypes import dtype as _dtype
from rooflab.count.llm_steps import Formats, Step, generate
from rooflab.count.si import si
from rooflab.count.sizes import size
from rooflab.count.suggest import unknown
from rooflab.measure.caveats import bimodal, noisy, slowing_down
from rooflab.measure.measurement import Measurement
from rooflab.measure.threads import with_threads
from rooflab.measure.timing import iqr
from rooflab.measure.transformer import ATTENTION
from rooflab.predict.workload_model import Model

SCHEMA = 1
PHASES = ("prefill", "decode")


def ledger(model: Model, batch: int, queries: int, context: int, dtype: str) -> tuple[Step, ...]:
    """The operations of one pass: one format for all, the scores of attention in memory.

    (A loop in halves multiplies halves, but keeps its few activations in fp32 between products.)
    """
    kind = _dtype(dtype)
    return generate(model, batch, queries, context, Formats(kind, kind, kind), streamed=False)


@dataclass(frozen=True, repr=False)
class DecodeRun:
    """What :func:`rooflab.decode_loop` measured. Times are seconds.

    ``prefill``, ``decode``: operation → one entry a run or step, all layers together; the
    parts of attention are scores, softmax, values. ``context``: cached tokens at the
    first timed step. ``sequences``: prompts that the prefill took (1: one, shared by the batch).
    ``forms``: how each weight product was computed, the fastest of ``trials`` (product → form →
    seconds a layer). ``tokens``: what was generated, the prefill's token first.
    """

    model: Model
    batch: int
    context: int
    steps: int
    dtype: str
    backend: str
    threads: int | None
    machine: str
    sequences: int
    forms: Mapping[str, str]
    trials: Mapping[str, Mapping[str, float]]
    prefill: Mapping[str, tuple[float, ...]]
    decode: Mapping[str, tuple[float, ...]]
    tokens: tuple[tuple[int, ...], ...]
    warnings: tuple[str, ...] = ()
    environment: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("forms", "trials", "prefill", "decode", "environment"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))

    def __reduce__(self) -> tuple[object, ...]:
        return (DecodeRun.from_dict, (self.to_dict(),))  # a mapping proxy does not pickle

    @property
    def operations(self) -> tuple[str, ...]:
        """Names of all that a decode step does, in the order it is done first."""
        return tuple(self.decode)

    @property
    def ways(self) -> tuple[str, ...]:
        """The forms in which products were computed, that of the most products first."""
        return tuple(form for form, _ in Counter(self.forms.values()).most_common())

    def samples(self, name: str | None = None, phase: str = "decode") -> tuple[float, ...]:
        """Seconds of operation ``name``, all layers together, one entry a step (prefill: a run);
        without a name, of everything."""
        if phase not in PHASES:
            raise unknown("phase", phase, PHASES)
        found = getattr(self, phase)
        if name is None:
            return _added(found.values())
        if name == "attention":
            return _added(found[part] for part in ATTENTION)
        if name not in found:
            raise unknown("name", name, (*found, "attention"))
        return found[name]

    def seconds(self, name: str | None = None, phase: str = "decode") -> float:
        """Median of :meth:`samples`."""
        return float(np.median(self.samples(name, phase)))

    @property
    def step_s(self) -> float:
        """Median seconds a decode step."""
        return self.seconds()

    @property
    def iqr_s(self) -> float:
        """Interquartile range of the steps, in seconds."""
        return iqr(self.samples())

    @property
    def tokens_per_s(self) -> float:
        """Tokens generated a second, over the whole batch."""
        return self.batch / self.step_s

    @property
    def prefill_s(self) -> float:
        """Median seconds of the prefill."""
        return self.seconds(phase="prefill")

    @property
    def prefill_tokens_per_s(self) -> float:
        """Prompt tokens taken in a second."""
        return self.sequences * self.context / self.prefill_s

    @property
    def middle(self) -> int:
        """Positions that the step in the middle of the run looked at, the new one included."""
        return self.context + 1 + (self.steps - 1) // 2

    def ledger(self, phase: str = "decode") -> tuple[Step, ...]:
        """The operations with their counts; a decode step in the middle of the run."""
        if phase not in PHASES:
            raise unknown("phase", phase, PHASES)
        if phase == "prefill":
            return ledger(self.model, self.sequences, self.context, self.context, self.dtype)
        return ledger(self.model, self.batch, 1, self.middle, self.dtype)

    def measurements(self, phase: str = "decode") -> dict[str, Measurement]:
        """Operation → Measurement of one run of it: the samples over the number of its runs."""
        return {step.name: self._measurement(step, phase) for step in self.ledger(phase)}

    def _measurement(self, step: Step, phase: str) -> Measurement:
        samples = tuple(s / step.count for s in self.samples(step.name, phase))
        general = [w for w in self.warnings if not w.startswith(("noisy", "bimodal", "slowing"))]
        own = (bimodal(samples), slowing_down(samples), noisy(samples))  # not those of whole steps
        return Measurement(
            step.op, self.machine, self.backend, "cold", self.threads, samples,
            (*general, *filter(None, own)),
            {**self.environment, "kernel": self.forms.get(step.name, "")},
        )  # fmt: skip

    def __repr__(self) -> str:
        how = with_threads(f"{self.backend}, {self.dtype}", self.threads)
        warned = f"warning: {'; '.join(self.warnings)}" if self.warnings else "no warnings"
        return (
            f"{self.model.name}, batch {self.batch}, context {self.context} on {self.machine} "
            f"({how}): {si(self.tokens_per_s, 'tokens/s')}, {si(self.step_s, 's')} a step, IQR "
            f"{100 * self.iqr_s / self.step_s:.1f} %, n = {self.steps}\n"
            f"  prefill {si(self.prefill_s, 's')} for {self.sequences * self.context} tokens · "
            f"products as {', '.join(self.ways)} · {warned}"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the run as plain JSON data, with the version of its schema."""
        plain = {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}
        return {
            "schema": SCHEMA, **plain, "model": dataclasses.asdict(self.model),
            "forms": dict(self.forms), "environment": dict(self.environment),
            "trials": {name: dict(each) for name, each in self.trials.items()},
            "prefill": {name: list(each) for name, each in self.prefill.items()},
            "decode": {name: list(each) for name, each in self.decode.items()},
            "tokens": [list(row) for row in self.tokens], "warnings": list(self.warnings),
        }  # fmt: skip

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> DecodeRun:
        """Inverse of :meth:`to_dict`; ValueError for another schema or damaged data."""
        if not isinstance(data, Mapping) or data.get("schema") != SCHEMA:
            found = data.get("schema") if isinstance(data, Mapping) else data
            raise ValueError(f"data: schema={found!r}; this rooflab reads decode runs of {SCHEMA}")
        try:
            model = {**data["model"], **{n: tuple(data["model"][n]) for n in ("biases", "source")}}
            rows = {
                phase: {name: tuple(map(float, each)) for name, each in data[phase].items()}
                for phase in PHASES
            }
            names = {f.name for f in dataclasses.fields(cls)} - {"model", "tokens", *PHASES}
            found = cls(
                model=Model(**model), tokens=tuple(tuple(row) for row in data["tokens"]), **rows,
                **{name: data[name] for name in names - {"warnings"}},
                warnings=tuple(data["warnings"]),
            )  # fmt: skip
            _require_sound(found)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise ValueError(f"data: damaged, {type(error).__name__} {error}") from error
        return found


def _require_sound(found: DecodeRun) -> None:
    """Raise TypeError or ValueError unless this can be a run: its sizes, its times, its tokens."""
    for name in ("batch", "context", "steps", "sequences"):
        size(name, getattr(found, name))
    if found.threads is not None:
        size("threads", found.threads)
    _dtype(found.dtype)
    if found.backend not in ("cpu", "gpu") or not isinstance(found.machine, str):
        raise ValueError(f"backend={found.backend!r}, machine={found.machine!r}")
    if found.sequences not in (1, found.batch):
        raise ValueError(f"sequences={found.sequences} of a batch of {found.batch}")
    times = [s for phase in PHASES for s in found.samples(phase=phase)]
    sound = all(0 < s < math.inf for s in times) and found.prefill
    if not sound or len(found.samples()) != found.steps:
        raise ValueError(f"steps={found.steps}, but not as many positive times")
    if [len(row) for row in found.tokens] != [found.steps + 1] * found.batch:
        raise ValueError(f"tokens: not {found.steps + 1} for each of {found.batch} sequences")


def _added(rows: Any) -> tuple[float, ...]:
    return tuple(sum(each) for each in zip(*rows, strict=True))

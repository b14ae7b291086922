"""``rl.predict_decode``: what the loop will take, from roofs and from other models' operations.

A weight product is the cost of its call, and its roofline bound over the share of the roof that the
library reached, with as many tokens, on a model of odd sizes (decode_calibrate.py). All else
(attention, norms, positions, activations) is a cost a call, a cost a problem and a time a byte,
fitted to those same runs.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rooflab.count.dtypes import dtype as _dtype
from rooflab.count.llm_steps import Step
from rooflab.count.operation import Operation
from rooflab.count.si import si
from rooflab.count.sizes import size
from rooflab.count.suggest import unknown
from rooflab.measure.backend import select
from rooflab.measure.decode import loop_thread_count
from rooflab.measure.decode_calibrate import loop_efficiency, problem
from rooflab.measure.decode_models import ODD
from rooflab.measure.decode_run import PHASES, ledger
from rooflab.measure.this_machine import this_machine
from rooflab.measure.transformer_weights import require_loop
from rooflab.predict.machine import Machine
from rooflab.predict.roofline import Roofline
from rooflab.predict.routines import overhead
from rooflab.predict.workload_model import Model
from rooflab.predict.workload_time import MIX

WEIGHED = ("q", "k", "v", "o", "gate", "up", "down", "head")


@dataclass(frozen=True)
class DecodePrediction:
    """Seconds of a decode step or a prefill: ``seconds`` by operation, and ``bounds``, the
    roofline's.

    ``tokens``: how many the pass generates (decode) or takes in (prefill).
    """

    phase: str
    batch: int
    context: int
    tokens: int
    seconds: Mapping[str, float]
    bounds: Mapping[str, float]

    @property
    def total_s(self) -> float:
        """Seconds of the pass."""
        return sum(self.seconds.values())

    @property
    def bound_s(self) -> float:
        """The bound: every operation at this machine's measured roof."""
        return sum(self.bounds.values())

    @property
    def tokens_per_s(self) -> float:
        """Tokens a second over the whole batch."""
        return self.tokens / self.total_s

    def __float__(self) -> float:
        return self.total_s

    def __str__(self) -> str:
        return (
            f"{self.phase}, batch {self.batch}, context {self.context}: "
            f"{si(self.tokens_per_s, 'tokens/s')}, {si(self.total_s, 's')} "
            f"(bound {si(self.bound_s, 's')})"
        )


def predict_decode(
    model: Model,
    batch: int = 1,
    context: int = 128,
    machine: Machine | None = None,
    *,
    phase: str = "decode",
    dtype: str = "fp32",
    threads: int | None = None,
    backend: str | None = "auto",
    efficiency: Mapping[str, Any] | None = None,
) -> DecodePrediction:
    """Predict a step of :func:`rooflab.decode_loop`: ``context`` positions, the new one included.

    ``phase``: "decode", or "prefill" of ``batch`` prompts of ``context`` tokens. ``machine``: its
    measured roofs, by default this machine's; ``efficiency``: what
    :func:`rooflab.measure.decode_calibrate.loop_efficiency` measured, by default here, once.

    Raises ValueError or TypeError naming the argument; a model must be one that the loop can run.
    """
    require_loop(model)
    batch, context, dtype = size("batch", batch), size("context", context), _dtype(dtype).name
    if phase not in PHASES:
        raise unknown("phase", phase, PHASES)
    if machine is None or efficiency is None:
        chosen = select(backend, threads)  # where decode_loop() runs, and with so many threads
        backend, threads = chosen.name, loop_thread_count(chosen, threads)
    machine = this_machine(backend, threads) if machine is None else _machine(machine)
    known = loop_efficiency(backend, threads, dtype) if efficiency is None else efficiency
    _require_habits(known, dtype)
    queries = context if phase == "prefill" else 1
    seconds, bounds = {}, {}
    everything, alike = _timed(known), _timed(known, phase)
    for step in ledger(model, batch, queries, context, dtype):
        bounds[step.name] = step.count * bound(step.op, machine)
        if step.name in WEIGHED:
            seconds[step.name] = _product(step, alike[step.name], machine)
        else:
            seconds[step.name] = _fitted(step, everything[step.name])
    seconds["sample"] = _sampling(known, batch * model.vocab)
    return DecodePrediction(phase, batch, context, batch * queries, seconds, bounds)


def _machine(given: Machine) -> Machine:
    if not isinstance(given, Machine):
        raise TypeError(f"machine={given!r} must be a Machine, such as rl.this_machine()")
    return given


def _require_habits(known: Mapping[str, Any], dtype: str) -> None:
    """Raise ValueError unless ``known`` is what :func:`loop_efficiency` gives for ``dtype``."""
    wrong = problem(known)
    if not wrong and known["dtype"] != dtype:
        wrong = f"it was measured in {known['dtype']}, not in {dtype}"
    if wrong:
        raise ValueError(f"efficiency: {wrong}; pass what loop_efficiency(…) returned")


def bound(op: Operation, machine: Machine) -> float:
    """The roofline's bound in seconds, at the machine's best peak for the format of ``op``."""
    return Roofline(machine, op.compute_dtype, mix=MIX).time(op)


def _timed(
    known: Mapping[str, Any], phase: str | None = None
) -> dict[str, list[tuple[Step, float]]]:
    """Every operation in every run (of one ``phase``) of the odd model, with its seconds there."""
    model = replace(ODD, layers=known["layers"])
    found: dict[str, list[tuple[Step, float]]] = {}
    for row in known["rows"]:
        if phase not in (None, row["phase"]):
            continue
        sizes = (row["batch"], row["queries"], row["context"])
        for step in ledger(model, *sizes, known["dtype"]):
            found.setdefault(step.name, []).append((step, row["seconds"][step.name]))
    return found


def _product(step: Step, timed: Sequence[tuple[Step, float]], machine: Machine) -> float:
    """Bound over the share of the roof that the odd model's product reached with as many rows.

    The cost of a call is taken off the odd model's seconds before, and added to the result after:
    the calls of a model of other sizes are no shorter.
    Between the row counts that were timed, the share is read off on a logarithmic scale.
    """
    shares: dict[int, list[float]] = {}
    for other, seconds in timed:
        working = max(seconds - _calls(other, machine), 0.1 * seconds)
        share = other.count * bound(other.op, machine) / working
        shares.setdefault(other.op.dims["m"], []).append(share)
    rows = sorted(shares)
    logs = [math.log(np.median(shares[m])) for m in rows]
    share = math.exp(np.interp(math.log(step.op.dims["m"]), np.log(rows), logs))
    return _calls(step, machine) + step.count * bound(step.op, machine) / share


def _calls(step: Step, machine: Machine) -> float:
    """Seconds that the calls of ``step`` cost before any work; on a GPU its empty kernels."""
    return step.count * overhead(step.op, machine)


def _fitted(step: Step, timed: Sequence[tuple[Step, float]]) -> float:
    """A cost a run and a time a byte; for attention's products a cost a problem (sequence and KV
    head) and a time a FLOP too.

    All are fitted to the odd model's runs, none below zero, relative errors counting alike.
    """
    rows = np.array([_features(other) for other, _ in timed])
    return _read_off(rows, [seconds for _, seconds in timed], _features(step))


def _read_off(rows: Any, seconds: Sequence[float], at: Sequence[float]) -> float:
    """Seconds at the features ``at``, from those at ``rows``: non-negative weights, fitted."""
    from scipy.optimize import nnls

    rows, times = np.asarray(rows, dtype=float), np.asarray(seconds)
    scale = rows.max(axis=0)
    weights, _ = nnls(rows / scale / times[:, None], np.ones(len(times)))
    return float(weights @ (np.asarray(at) / scale))


def _features(step: Step) -> tuple[float, ...]:
    op = step.op
    found = (1, op.bytes)
    if op.name in ("scores", "values"):
        rows = zip(op.operands, step.roles, strict=True)
        kv_heads = next(o.shape[1] for o, role in rows if role == "kv")
        found = (*found, op.dims["batch"] * kv_heads, op.flops)
    return tuple(step.count * each for each in found)


def _sampling(known: Mapping[str, Any], numbers: int) -> float:
    """The most likely token: a cost a run and a time a number for a pass over ``numbers`` logits,
    fitted to the odd model's."""
    rows = [row for row in known["rows"] if row["phase"] == "decode"]
    seconds = [row["seconds"]["sample"] for row in rows]
    return _read_off([(1, row["batch"] * ODD.vocab) for row in rows], seconds, (1, numbers))

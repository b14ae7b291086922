"""``rl.predict_decode``: what the loop will take, from roofs and from other models' operations.

A weight product is the cost of its call, and its roofline bound over the share of the roof that the
library reached, with as many tokens, on a model of odd sizes (``loop_efficiency``). All else
(attention, norms, positions, activations) is a cost a call, a cost a problem and a time a byte,
fitted to those same runs.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from rooflab.count.dtypes import dtype as _dtype
from rooflab.count.operation import Operation
from rooflab.count.si import rounded, si
from rooflab.count.validation import size, unknown
from rooflab.labs.llm.decode_loop import (
    PHASES,
    SCHEMA,
    DecodeRun,
    decode_loop,
    ledger,
    loop_thread_count,
    loop_weights,
)
from rooflab.labs.llm.model import Model
from rooflab.labs.llm.step_time import MIX
from rooflab.labs.llm.steps import Step
from rooflab.labs.llm.transformer import ODD, array_dtype, beyond, last_cache_bytes, require_loop
from rooflab.measure import store
from rooflab.measure.backend import Backend, host_id, now, select
from rooflab.measure.progress import Progress, progress_bar
from rooflab.measure.record import target_of
from rooflab.measure.recording import files, folders, in_rows, published
from rooflab.measure.store import replace_file
from rooflab.measure.this_machine import this_machine
from rooflab.measure.timing import MEASUREMENT_LOCK, evictor, quickest
from rooflab.optional import installed
from rooflab.predict.estimate import overhead
from rooflab.predict.machine import Machine
from rooflab.predict.roofline import Roofline

# Decode runs as a file, recorded on one machine and replayed on any other. It lies in a folder
# ``decode`` beside the machine recordings.

FOLDER = "decode"


@dataclass(frozen=True)
class DecodeRecording:
    """Decode runs of one machine. ``recorded_on``: UTC, as 2026-11-21T10:00:00Z."""

    name: str
    recorded_on: str
    environment: Mapping[str, Any] = field(repr=False)
    runs: tuple[DecodeRun, ...] = field(repr=False)

    def select(
        self, model: str | None = None, batch: int | None = None, dtype: str | None = None
    ) -> tuple[DecodeRun, ...]:
        """Return the runs of one model, batch and dtype."""
        return tuple(
            run
            for run in self.runs
            if model in (None, run.model.name)
            and batch in (None, run.batch)
            and dtype in (None, run.dtype)
        )


def record_decode(
    name: str,
    runs: Iterable[DecodeRun],
    *,
    folder: str | Path | None = None,
    overwrite: bool = False,
) -> DecodeRecording:
    """Keep ``runs`` of :func:`rooflab.decode_loop`, all of one machine, as ``name``.

    The file goes into the subfolder ``decode`` of ``folder``, by default the first recordings
    folder.

    >>> tiny = rl.Model(hidden=64, layers=2, heads=4, vocab=256, name="tiny")
    >>> runs = [rl.decode_loop(tiny, b, context=8, steps=3, backend="cpu") for b in (1, 2)]
    >>> kept = rl.record_decode("tiny-runs", runs, folder="my-runs")
    >>> [run.batch for run in kept.runs]
    [1, 2]
    """
    target = decode_file(name, folder, overwrite)
    kept = tuple(replace(run, machine=name, environment=published(run.environment)) for run in runs)
    if not kept:
        raise ValueError("runs is empty; give what rl.decode_loop returned, once or more")
    found = DecodeRecording(name, now(), kept[0].environment, kept)
    replace_file(target, _text(found))
    return found


def decode_file(name: str, folder: str | Path | None = None, overwrite: bool = False) -> Path:
    """Return the file that a recording ``name`` goes into; an error if it cannot."""
    where = folders()[0] if folder is None else Path(folder)
    return target_of(name, where / FOLDER, overwrite)


def decode_recording(name: str) -> DecodeRecording:
    """Return the decode recording ``name``.

    Parameters
    ----------
    name : str
        Its file's name, in the subfolder ``decode`` of a folder of recordings.

    Returns
    -------
    DecodeRecording
        ``runs`` holds every DecodeRun, and ``select`` finds those of a model, batch and dtype.

    Examples
    --------
    >>> runs = rl.decode_recording("epyc-2core-vm").select(model="small", dtype="fp32")
    >>> [run.batch for run in runs]
    [1, 2, 3, 4, 8, 16, 32, 64]
    """
    known = files(FOLDER)
    if name not in known:
        raise unknown("name", name, known)
    try:
        data = json.loads(known[name].read_text(encoding="utf-8"))
        surroundings = data["environment"]
        runs = tuple(
            DecodeRun.from_dict(
                {**run, "machine": name, "environment": {**surroundings, **run["environment"]}}
            )
            for run in data["runs"]
        )
        return DecodeRecording(name, data["recorded_on"], surroundings, runs)
    except (OSError, AttributeError, KeyError, TypeError, ValueError, RecursionError) as error:
        said = f"{known[name]}: no decode recording of schema {SCHEMA}, or a damaged one"
        raise ValueError(f"{said} ({type(error).__name__} {error}); record it again") from error


def _slim(run: DecodeRun) -> dict[str, Any]:
    """The run without what the recording as a whole already says."""
    plain = run.to_dict()
    for phase in PHASES:
        plain[phase] = {name: [rounded(s, 5) for s in each] for name, each in plain[phase].items()}
    plain["trials"] = {
        name: {form: rounded(s, 4) for form, s in each.items()}
        for name, each in plain["trials"].items()
    }
    del plain["machine"]
    return {**plain, "environment": {"clock": run.environment["clock"]}}


def _text(found: DecodeRecording) -> str:
    """JSON, one run a line, so that two recordings can be compared."""
    said = {
        "schema": SCHEMA, "name": found.name, "recorded_on": found.recorded_on,
        "environment": dict(found.environment), "runs": map(_slim, found.runs),
    }  # fmt: skip
    return in_rows(said, long=("runs",))


# Run the loop's operations on a model of odd sizes, for predictions of other models.

EFFICIENCY_SCHEMA = 2
RUNS = (
    (1, 44), (1, 404), (2, 108), (3, 44), (4, 108), (8, 204), (16, 108), (32, 44), (64, 108),
    (64, 20),
)  # fmt: skip
"""(batch, context) of the runs; the contexts are the prefills' tokens too."""
STEPS = 6
LARGE = 64 << 20
"""Bytes of a cache that is emptied between steps: a model that outgrows it would take minutes."""


@installed("rooflab.loop_efficiency")
def loop_efficiency(
    backend: str | None = "auto",
    threads: int | None = None,
    dtype: str = "fp32",
    *,
    refresh: bool = False,
    progress: Progress = True,
) -> dict[str, Any]:
    """What the loop's operations take on a model of odd sizes: plain data, a row a run.

    Measured once, in some ten seconds, and stored like the machine's roofs; ``refresh`` measures
    again. Its "rows" are {"phase", "batch", "queries", "context", "seconds": {operation: seconds}}.

    >>> habits = rl.loop_efficiency("cpu", threads=1, progress=False)
    >>> habits["dtype"], len(habits["rows"])
    ('fp32', 20)
    """
    chosen, dtype = select(backend, threads), _dtype(dtype).name
    count = loop_thread_count(chosen, threads)
    host = host_id(chosen.device if chosen.is_gpu else "")
    name = f"decode-{host}-{'gpu' if chosen.is_gpu else f'{count}t'}-{dtype}"
    with MEASUREMENT_LOCK:
        found = None if refresh else store.load(name, problem)
        if found is None:
            found = _measured(chosen, count, dtype, progress)
            store.save(name, found)
    return found


def _measured(
    backend: Backend, threads: int | None, dtype: str, progress: Progress
) -> dict[str, Any]:
    cache, model, evict = last_cache_bytes(backend), ODD, None
    if cache > LARGE and not backend.is_gpu:
        evict = evictor(0, threads or 1)
    else:
        model = beyond(ODD, cache, array_dtype(dtype, backend).itemsize)
    weights, rows = loop_weights(model, dtype, backend.name), []
    with progress_bar(progress, "timing a model's operations") as tell:
        for number, (batch, context) in enumerate(RUNS):
            run = decode_loop(
                model, batch, context, STEPS, backend.name, threads, weights, dtype, before=evict
            )
            rows += rows_of(run)
            tell((number + 1) / len(RUNS))
    return {
        "schema": EFFICIENCY_SCHEMA, "measured_on": now(), "dtype": dtype, "layers": model.layers,
        "rows": rows,
    }  # fmt: skip


def rows_of(run: DecodeRun) -> list[dict[str, Any]]:
    """The prefill and the decode step of ``run`` as two rows, quickest times."""
    return [
        {
            "phase": phase, **dict(zip(("batch", "queries", "context"), run.sizes(phase))),
            "seconds": {n: quickest(run.samples(n, phase)) for n in getattr(run, phase)},
        }
        for phase in PHASES
    ]  # fmt: skip


def problem(found: Any) -> str:
    """What is wrong with stored data, "" if nothing is."""
    sound = isinstance(found, Mapping) and found.get("schema") == EFFICIENCY_SCHEMA
    if sound and len(found.get("rows", ())) == 2 * len(RUNS):
        return ""
    return "it is damaged or of another version"


WEIGHED = ("q", "k", "v", "o", "gate", "up", "down", "head")


@dataclass(frozen=True)
class DecodePrediction:
    """Seconds that a decode step or a prefill is predicted to take.

    ``seconds`` and the roofline's ``bounds`` are by operation, all layers together; ``tokens`` is
    how many the pass generates (decode) or takes in (prefill).

    >>> step = rl.DecodePrediction("decode", batch=2, context=128, tokens=2,
    ...                            seconds={"gate": 3e-3, "scores": 1e-3},
    ...                            bounds={"gate": 2e-3, "scores": 0.5e-3})
    >>> step.total_s, step.tokens_per_s
    (0.004, 500.0)
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

    def __str__(self) -> str:
        return (
            f"{self.phase}, batch {self.batch}, context {self.context}: "
            f"{si(self.tokens_per_s, 'tokens/s')}, {si(self.total_s, 's')} "
            f"(bound {si(self.bound_s, 's')})"
        )


@installed("rooflab.predict_decode")
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

    Parameters
    ----------
    model : Model
        One that the loop can run.
    batch, context : int, optional
        Sequences, and positions of each.
    machine : Machine, optional
        Its measured roofs; by default this machine's.
    phase : {"decode", "prefill"}, optional
        A decode step, or the prefill of ``batch`` prompts of ``context`` tokens.
    dtype : {"fp32", "fp64", "fp16", "bf16"}, optional
        Number format of weights and KV cache.
    threads : int, optional
        CPU threads of the loop, 1 by default.
    backend : {"auto", "cpu", "gpu"}, optional
        Where the loop runs, as for :func:`rooflab.decode_loop`.
    efficiency : mapping, optional
        What :func:`loop_efficiency` measured; by default here, once.

    Returns
    -------
    DecodePrediction
        Seconds by operation, and the roofline's bounds.

    Examples
    --------
    >>> step = rl.predict_decode(rl.loop_model("small"), batch=4, threads=1)
    >>> step.tokens
    4
    >>> step.total_s > step.bound_s > 0
    True
    """
    require_loop(model)
    batch, context, dtype = size("batch", batch), size("context", context), _dtype(dtype).name
    if phase not in PHASES:
        raise unknown("phase", phase, PHASES)
    if machine is not None and not isinstance(machine, Machine):
        raise TypeError(f"machine={machine!r} must be a Machine, such as rl.this_machine()")
    if machine is None or efficiency is None:
        chosen = select(backend, threads)  # where decode_loop() runs, and with so many threads
        backend, threads = chosen.name, loop_thread_count(chosen, threads)
    machine = this_machine(backend, threads) if machine is None else machine
    known = loop_efficiency(backend, threads, dtype) if efficiency is None else efficiency
    wrong = problem(known)
    if not wrong and known["dtype"] != dtype:
        wrong = f"it was measured in {known['dtype']}, not in {dtype}"
    if wrong:
        raise ValueError(f"efficiency: {wrong}; pass what loop_efficiency(…) returned")
    queries = context if phase == "prefill" else 1
    seconds, bounds = {}, {}
    everything, alike = _timed(known), _timed(known, phase)
    for step in ledger(model, batch, queries, context, dtype):
        bounds[step.name] = step.count * bound(step.op, machine)
        if step.name in WEIGHED:
            seconds[step.name] = _product(step, alike[step.name], machine)
        else:
            others, times = zip(*everything[step.name])
            seconds[step.name] = _read_off([*map(_features, others)], times, _features(step))
    seconds["sample"] = _sampling(known, batch * model.vocab)
    return DecodePrediction(phase, batch, context, batch * queries, seconds, bounds)


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

    The cost of a call is taken off before, and added after: calls of a model of other sizes are no
    shorter. Between the row counts that were timed, the share is read off on a logarithmic scale.
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


def _read_off(rows: Any, seconds: Sequence[float], at: Sequence[float]) -> float:
    """Seconds at ``at``, from those at ``rows``: weights of 0 or more, relative errors alike."""
    from scipy.optimize import nnls

    rows, times = np.asarray(rows, dtype=float), np.asarray(seconds)
    scale = rows.max(axis=0)
    weights, _ = nnls(rows / scale / times[:, None], np.ones(len(times)))
    return float(weights @ (np.asarray(at) / scale))


def _features(step: Step) -> tuple[float, ...]:
    """What costs time: runs and bytes; in attention's products KV heads of sequences and FLOPs."""
    op = step.op
    found: tuple[float, ...] = (1, op.bytes)
    if op.name in ("scores", "values"):
        kv_heads = next(o.shape[1] for o, role in step.operands if role == "kv")
        found = (*found, op.dims["batch"] * kv_heads, op.flops)
    return tuple(step.count * each for each in found)


def _sampling(known: Mapping[str, Any], numbers: int) -> float:
    """The most likely of ``numbers`` logits: a cost a run and a time a number, fitted too."""
    rows = [row for row in known["rows"] if row["phase"] == "decode"]
    seconds = [row["seconds"]["sample"] for row in rows]
    return _read_off([(1, row["batch"] * ODD.vocab) for row in rows], seconds, (1, numbers))

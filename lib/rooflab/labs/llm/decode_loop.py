"""``rl.decode_loop``: how many tokens a second does a transformer really generate here?"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from time import perf_counter, perf_counter_ns
from typing import Any

import numpy as np

from rooflab.count.dtypes import dtype as _dtype
from rooflab.count.si import si
from rooflab.count.validation import saved, size, unknown
from rooflab.labs.llm.model import Model
from rooflab.labs.llm.steps import Formats, Step, generate
from rooflab.labs.llm.transformer import (
    ATTENTION,
    FORMS,
    Form,
    KVCache,
    Mark,
    Pass,
    Weights,
    activation_dtype,
    array_dtype,
    bind,
    by_columns,
    cache_for,
    flat,
    forward_pass,
    last_cache_bytes,
    pass_bytes,
    random_weights,
    relaid,
    require_loop,
    run,
    viewed,
)
from rooflab.measure.backend import Backend, available_cores, environment, host_id, power, select
from rooflab.measure.gpu import EVENT_STEP_S, GROUP_S, LEAST_S, MARGIN, MOST_S, Gate
from rooflab.measure.measure import bimodal, caveats, noisy, slowing_down
from rooflab.measure.measurement import Measurement
from rooflab.measure.operands import SPARE, OperandsTooLarge, available_bytes
from rooflab.measure.roofs import thread_count
from rooflab.measure.settings import fewer
from rooflab.measure.threads import thread_limit, with_threads
from rooflab.measure.timing import (
    MEASUREMENT_LOCK,
    SETTLE_S,
    Call,
    Timing,
    clock_step_s,
    iqr,
    quickest,
    undisturbed,
)
from rooflab.optional import installed

SCHEMA = 1
PHASES = ("prefill", "decode")


def ledger(model: Model, batch: int, queries: int, context: int, dtype: str) -> tuple[Step, ...]:
    """The operations of one pass: one format for all, the scores of attention in memory.

    A loop in halves multiplies halves, but keeps its few activations in fp32 between products.
    """
    kind = _dtype(dtype)
    return generate(model, batch, queries, context, Formats(kind, kind, kind), streamed=False)


@dataclass(frozen=True, repr=False)
class DecodeRun:
    """What :func:`rooflab.decode_loop` measured. Times are seconds.

    ``batch`` sequences, ``context`` cached tokens at the first timed step. ``forms`` names how each
    weight product was computed: the fastest of ``trials`` (seconds a layer). ``prefill`` and
    ``decode`` are operation → one time a run or a step, all layers together. ``tokens`` has a row a
    sequence, the prefill's token first. ``step_s`` is the median step; ``tokens_per_s`` is over the
    whole batch.

    >>> run = rl.decode_recording("epyc-2core-vm").select(batch=4)[0]
    >>> run.batch, run.context, len(run.samples("gate")) == run.steps
    (4, 128, True)
    >>> run.tokens_per_s == run.batch / run.step_s
    True
    """

    model: Model
    batch: int
    context: int
    steps: int
    dtype: str
    backend: str
    threads: int | None
    machine: str
    forms: Mapping[str, str]
    trials: Mapping[str, Mapping[str, float]]
    prefill: Mapping[str, tuple[float, ...]]
    decode: Mapping[str, tuple[float, ...]]
    tokens: tuple[tuple[int, ...], ...]
    warnings: tuple[str, ...] = ()
    environment: Mapping[str, Any] = field(default_factory=dict)

    @property
    def operations(self) -> tuple[str, ...]:
        """Names of all that a decode step does, in the order it is done first."""
        return tuple(self.decode)

    @property
    def ways(self) -> tuple[str, ...]:
        """The forms in which products were computed, that of the most products first."""
        return tuple(form for form, _ in Counter(self.forms.values()).most_common())

    def samples(self, name: str | None = None, phase: str = "decode") -> tuple[float, ...]:
        """Seconds a step (prefill: a run) of operation ``name``, all layers together, or of all."""
        if phase not in PHASES:
            raise unknown("phase", phase, PHASES)
        found: Mapping[str, tuple[float, ...]] = getattr(self, phase)
        if name not in (None, "attention", *found):
            raise unknown("name", name, (*found, "attention"))
        names = found if name is None else ATTENTION if name == "attention" else (name,)
        return tuple(sum(each) for each in zip(*(found[one] for one in names), strict=True))

    def seconds(self, name: str | None = None, phase: str = "decode") -> float:
        """Median of :meth:`samples`."""
        return float(np.median(self.samples(name, phase)))

    @property
    def step_s(self) -> float:
        """Median seconds a decode step."""
        return self.seconds()

    @property
    def tokens_per_s(self) -> float:
        """Tokens generated a second, over the whole batch."""
        return self.batch / self.step_s

    @property
    def middle(self) -> int:
        """Positions that the step in the middle of the run looked at, the new one included."""
        return self.context + 1 + (self.steps - 1) // 2

    def sizes(self, phase: str = "decode") -> tuple[int, int, int]:
        """Sequences, new positions of each and its positions in all, in the middle of the run."""
        if phase not in PHASES:
            raise unknown("phase", phase, PHASES)
        if phase == "prefill":
            return 1, self.context, self.context
        return self.batch, 1, self.middle

    def ledger(self, phase: str = "decode") -> tuple[Step, ...]:
        """The operations with their counts; a decode step in the middle of the run."""
        return ledger(self.model, *self.sizes(phase), self.dtype)

    def measurements(self, phase: str = "decode") -> dict[str, Measurement]:
        """Operation → Measurement of one run of it: the samples over the number of its runs."""
        general = [w for w in self.warnings if not w.startswith(("noisy", "bimodal", "slowing"))]
        found = {}
        for step in self.ledger(phase):
            samples = tuple(s / step.count for s in self.samples(step.name, phase))
            own = (bimodal(samples), slowing_down(samples), noisy(samples))  # not of whole steps
            found[step.name] = Measurement(
                step.op, self.machine, self.backend, "cold", self.threads, samples,
                (*general, *filter(None, own)),
                {**self.environment, "kernel": self.forms.get(step.name, "")},
            )  # fmt: skip
        return found

    def __repr__(self) -> str:
        how = with_threads(f"{self.backend}, {self.dtype}", self.threads)
        prefill = si(self.seconds(phase="prefill"), "s")
        warned = f"warning: {'; '.join(self.warnings)}" if self.warnings else "no warnings"
        return (
            f"{self.model.name}, batch {self.batch}, context {self.context} on {self.machine} "
            f"({how}): {si(self.tokens_per_s, 'tokens/s')}, {si(self.step_s, 's')} a step, IQR "
            f"{100 * iqr(self.samples()) / self.step_s:.1f} %, n = {self.steps}\n"
            f"  prefill {prefill} for {self.context} tokens · "
            f"products as {', '.join(self.ways)} · {warned}"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the run as plain JSON data, with the version of its schema."""
        plain: dict[str, Any] = json.loads(json.dumps(asdict(self)))
        return {"schema": SCHEMA, **plain}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> DecodeRun:
        """Inverse of :meth:`to_dict`; ValueError for another schema or a missing entry."""
        names = [f.name for f in fields(cls)]
        data = saved(data, "decode run", SCHEMA, names)
        kept: dict[str, Any] = {name: data[name] for name in names}
        lists = {name: tuple(kept["model"][name]) for name in ("biases", "source")}
        kept["model"] = Model(**{**kept["model"], **lists})
        for phase in PHASES:
            kept[phase] = {name: tuple(map(float, each)) for name, each in kept[phase].items()}
        kept["tokens"] = tuple(map(tuple, kept["tokens"]))
        kept["warnings"] = tuple(kept["warnings"])
        return cls(**kept)


@dataclass
class Clock:
    """Call :meth:`start`, then the clock itself with an operation's name whenever one has ended.

    On a GPU the marks are CUDA events in the queue, read once all have passed, so that timing an
    operation does not hold up the next one. Python queues the short operations of one token more
    slowly than the GPU runs them, so they wait behind gates (:class:`rooflab.measure.gpu.Gate`):
    the marks show the GPU's time, and Python's is said beside it.

    ``queueing``: seconds that Python took to queue each run that was read, all of them 0 on a CPU.
    ``late``: in how many of these runs the GPU may have waited for Python.
    """

    backend: Backend
    marks: list[tuple[str | None, Any]] = field(default_factory=list)
    queueing: list[float] = field(default_factory=list)
    late: int = 0
    _shut_s: float = max(LEAST_S, MARGIN * GROUP_S)
    _queued_s: float = 0.0
    _waited: bool = False
    _since: float = 0.0

    @property
    def name(self) -> str:
        """What it reads, as recordings say it."""
        return "CUDA events" if self.backend.is_gpu else "perf_counter_ns"

    @property
    def step_s(self) -> float:
        """The smallest difference that it can show, in seconds."""
        return EVENT_STEP_S if self.backend.is_gpu else clock_step_s()

    def start(self) -> None:
        """Forget all marks; time runs from here."""
        self.marks, self._queued_s, self._waited = [], 0.0, False
        if self.backend.is_gpu:
            self._close()
        self("")

    def __call__(self, name: str) -> None:
        self.marks.append((name, self._now()))
        if self.backend.is_gpu and perf_counter() - self._since >= GROUP_S:
            self._pass()  # the queue may soon be full, and Python would wait before a shut gate
            self._close()
            self.marks.append((None, self._now()))

    def _now(self) -> Any:
        if not self.backend.is_gpu:
            return perf_counter_ns()
        event = self.backend.xp.cuda.Event()
        event.record(self.backend.xp.cuda.get_current_stream())
        return event

    @cached_property
    def _gate(self) -> Gate:
        return Gate(self.backend.xp)

    def _close(self) -> None:
        self._gate.close(self._shut_s)
        self._since = perf_counter()

    def _pass(self) -> None:
        """Wait until all that is queued has run, and see whether the gate stayed shut long enough.

        If not, the next one does, unless the GPU had as much work left as queueing had taken.
        """
        early, took = self._gate.is_open, perf_counter() - self._since
        self._queued_s += took
        began = perf_counter()
        self.marks[-1][1].synchronize()
        if early and perf_counter() - began < took:
            self._waited = True
            self._shut_s = min(2 * self._shut_s, MOST_S)

    def seconds(self) -> dict[str, float]:
        """Seconds by name since :meth:`start`, an operation that ran often with all its runs."""
        found: dict[str, float] = {}
        if self.backend.is_gpu:
            self._pass()
            self.late += self._waited
        self.queueing.append(self._queued_s)
        for (_, before), (name, at) in pairwise(self.marks):
            if name is None:  # a gate stood here, which is nobody's time
                continue
            if self.backend.is_gpu:
                seconds = float(self.backend.xp.cuda.get_elapsed_time(before, at)) * 1e-3
            else:
                seconds = (at - before) * 1e-9
            found[name] = found.get(name, 0.0) + seconds
        return found


def unmarked(name: str) -> None:
    """A mark that no clock reads."""


# The form in which each weight product is computed (FORMS in transformer.py), found by measuring.
#
# All forms are timed on the model's own memory, sweep after sweep through all weights, so that each
# product finds them as cold as the loop will. A form that wants W stored otherwise reads the same
# memory as if it were: the numbers are then wrong, but the time is right.

ROUNDS, FEWEST, SECONDS = fewer(5), 2, 1.0  # sweeps through the weights; fewer after so long
HOPELESS = 1.6  # times the fastest, for every product: a form that need not be timed again


def try_forms(weights: Weights, batch: int, rounds: int = ROUNDS) -> dict[str, dict[str, float]]:
    """Return the seconds of every product (one layer) in every form, for ``batch`` tokens.

    Products of equal shape are timed together: they are the same call on other numbers.
    """
    clock = Clock(weights.backend)
    sweeps = {name: _sweep(weights, form, batch) for name, form in FORMS.items()}
    samples: dict[str, dict[str, list[float]]] = {name: {} for name in sweeps}
    alive = dict(sweeps)
    began = perf_counter()
    with undisturbed():
        for number in range(rounds):
            if number >= FEWEST and perf_counter() - began > SECONDS:
                break
            for form, sweep in alive.items():
                clock.start()
                for name, calls in sweep.items():
                    for call in calls:
                        call()
                    clock(name)
                for name, seconds in clock.seconds().items():
                    samples[form].setdefault(name, []).append(seconds / len(sweep[name]))
            alive = _promising(alive, samples)
    return _by_shape(weights, samples)


def lay(weights: Weights, forms: Mapping[str, str]) -> dict[str, Form]:
    """Store every product's weights as its form wants them, and return the forms."""
    for name, form in forms.items():
        columns, matrices = by_columns(FORMS[form], weights.backend), weights.arrays[name]
        matrices[:] = [relaid(matrix, columns, weights.backend.xp) for matrix in matrices]
    return {name: FORMS[form] for name, form in forms.items()}


def for_many(forms: Mapping[str, Form]) -> dict[str, Form]:
    """The forms of a prefill, on the weights as they lie: one GEMM for its many tokens.

    Only the last of them meets the head, which makes that a GEMV.
    """
    many = {name: replace(form, gemv=False) for name, form in forms.items()}
    return many | {"head": replace(forms["head"], gemv=True)}


def _sweep(weights: Weights, form: Form, batch: int) -> dict[str, list[Call]]:
    """The calls of all products in one form, a product's layers one after the other."""
    backend, model = weights.backend, weights.model
    xp, kind = backend.xp, activation_dtype(weights.dtype)
    columns, found = by_columns(form, backend), {}
    for p in model.products:
        x, y = xp.ones((batch, p.inputs), kind), xp.empty((batch, p.outputs), kind)
        found[p.name] = [
            bind(form, viewed(flat(matrix), matrix.shape, columns), x, y, backend)
            for matrix in weights.arrays[p.name]
        ]
    return found


def _promising(
    alive: Mapping[str, dict[str, list[Call]]], samples: Mapping[str, dict[str, list[float]]]
) -> dict[str, dict[str, list[Call]]]:
    """Drop a form that is far behind for every product; sweeps stay whole, and so cold."""
    names = next(iter(alive.values()))
    best = {name: min(min(samples[form][name]) for form in alive) for name in names}
    return {
        form: sweep
        for form, sweep in alive.items()
        if any(min(samples[form][name]) <= HOPELESS * best[name] for name in names)
    }


def _by_shape(
    weights: Weights, samples: Mapping[str, dict[str, list[float]]]
) -> dict[str, dict[str, float]]:
    """Quickest seconds by product and form; all products of a shape have the same."""
    alike: dict[tuple[int, int], list[str]] = {}
    for p in weights.model.products:
        alike.setdefault((p.outputs, p.inputs), []).append(p.name)
    return {
        p.name: {
            form: quickest([s for other in alike[p.outputs, p.inputs] for s in found[other]])
            for form, found in samples.items()
        }
        for p in weights.model.products
    }


# A transformer that generates: the prefill, the decode step, and the time of their operations.

PREFILLS, PREFILL_S = fewer(3), 1.0  # runs of the prefill, if they fit into so many seconds
Rows = list[dict[str, float]]  # seconds by operation, one dict a run


@dataclass(frozen=True, eq=False)
class Decoder:
    """A model ready to generate: its prefill, its decode step and the cache they share.

    ``forms``: of each product; ``trials``: the seconds on which that choice rests.
    """

    prefill: Pass
    step: Pass
    cache: KVCache
    forms: Mapping[str, str]
    trials: Mapping[str, Mapping[str, float]]


def decoder(
    weights: Weights, batch: int, context: int, steps: int, forms: str | None = None
) -> Decoder:
    """Choose the forms of the products, store the weights accordingly, make passes and cache."""
    model, positions = weights.model, context + steps
    if forms not in (None, *FORMS):
        raise unknown("forms", forms, FORMS)
    trials = try_forms(weights, batch) if forms is None else {}
    chosen = {
        p.name: forms or min(trials[p.name], key=trials[p.name].__getitem__) for p in model.products
    }
    laid = lay(weights, chosen)
    return Decoder(
        forward_pass(weights, for_many(laid), 1, context, context),
        forward_pass(weights, laid, batch, 1, positions),
        cache_for(model, batch, positions, weights.dtype, weights.backend),
        chosen,
        trials,
    )


def take_in(made: Decoder, prompt: Any, mark: Mark = unmarked) -> Any:
    """Run the prefill on ``prompt`` (1, context); return the first tokens (batch, 1).

    The prompt's cache is copied to every sequence, and sequence i goes on with its i-th most likely
    token.
    """
    xp, batch, context = made.step.weights.backend.xp, made.step.batch, made.prefill.tokens
    part = KVCache(made.cache.k[:, :1], made.cache.v[:, :1])
    logits = run(made.prefill, xp.asarray(prompt), part, 0, mark)
    if batch == 1:
        first = logits.argmax(axis=1)
    else:
        likely = xp.argsort(-logits[0])
        first = likely[xp.arange(batch) % len(likely)]
    mark("sample")
    for kept in (made.cache.k, made.cache.v):
        kept[:, 1:, :, :context] = kept[:, :1, :, :context]
    return first.reshape(batch, 1)


def step(made: Decoder, tokens: Any, at: int, mark: Mark = unmarked) -> Any:
    """Append ``tokens`` (batch, 1) to the ``at`` that are cached; return the next ones."""
    following = run(made.step, tokens, made.cache, at, mark).argmax(axis=1).reshape(-1, 1)
    mark("sample")
    return following


@contextmanager
def loop_threads(threads: int | None) -> Iterator[None]:
    """``threads`` threads for the weight products; one for NumPy's own products (attention).

    NumPy and SciPy each bring an OpenBLAS, whose idle threads spin and would slow the other's.
    """
    from threadpoolctl import ThreadpoolController

    with thread_limit(threads):
        if threads is None:
            yield
            return
        pools = ThreadpoolController()
        own = [path for each in pools.info() if of_numpy(path := each["filepath"])]
        with pools.select(filepath=own).limit(limits=1):
            yield


def of_numpy(path: str) -> bool:
    """Whether NumPy brought the library at ``path``; a folder further up may have any name."""
    return any(part.startswith("numpy") for part in Path(path).parts[-3:])


def timed_steps(
    made: Decoder, first: Any, steps: int, clock: Clock, before: Call | None = None
) -> tuple[list[Any], Rows]:
    """Generate ``steps`` tokens after ``first``; return all tokens and the seconds of each step."""
    context, began = made.prefill.tokens, perf_counter()
    while True:  # the same step, over and over: it changes nothing
        clock.start()  # on a GPU it learns here how long its gates must stay shut
        step(made, first, context, clock)
        clock.seconds()
        if perf_counter() - began >= SETTLE_S:
            break
    generated, rows = [first], []
    clock.queueing, clock.late = [], 0
    with undisturbed():
        for at in range(context, context + steps):
            if before is not None:
                before()
            clock.start()
            generated.append(step(made, generated[-1], at, clock))
            rows.append(clock.seconds())
    return generated, rows


def timed_prefill(made: Decoder, prompt: Any, clock: Clock) -> tuple[Any, Rows]:
    """Run the prefill a few times; return the first tokens (batch, 1) and the seconds of each."""
    rows: Rows = []
    began = perf_counter()
    prompt = made.step.weights.backend.xp.asarray(prompt)
    take_in(made, prompt)  # pages its buffers in
    with undisturbed():
        while not rows or (len(rows) < PREFILLS and perf_counter() - began < PREFILL_S):
            clock.start()
            first = take_in(made, prompt, clock)
            rows.append(clock.seconds())
    return first, rows


@installed("rooflab.decode_loop")
def decode_loop(
    model: Model,
    batch: int = 1,
    context: int = 128,
    steps: int = 20,
    backend: str | None = "auto",
    threads: int | None = None,
    weights: Weights | None = None,
    dtype: str = "fp32",
    *,
    forms: str | None = None,
    before: Callable[[], Any] | None = None,
) -> DecodeRun:
    """Generate ``steps`` tokens with a real transformer, and return the time of every operation.

    A random prompt of ``context`` tokens is taken in (the prefill) and serves ``batch`` sequences:
    number i goes on with its i-th most likely token. Then each grows by one token a step, the most
    likely one. Positions turn with base 10 000 and norms have ε = 1e-5, as in Llama 2.

    Parameters
    ----------
    model : Model
        A plain decoder, such as :func:`loop_model` gives.
    batch, context, steps : int, optional
        Sequences, tokens of a prompt, tokens to generate for each sequence.
    backend : {"auto", "cpu", "gpu"}, optional
        "auto" and None: what the environment variable ROOFLAB_BACKEND says, else the CPU if
        ``threads`` are given, else a GPU if one works, else the CPU.
    threads : int, optional
        CPU threads, 1 by default.
    weights : Weights, optional
        What :func:`loop_weights` made; random ones by default.
    dtype : {"fp32", "fp64", "fp16", "bf16"}, optional
        Number format of weights and KV cache; fp16 and bf16 on a GPU only.
    forms : {"gemv ×B", "gemv ×B on Wᵀ", "gemm", "gemm on Wᵀ"}, optional
        How to compute the weight products. By default all are timed, and each product takes the
        fastest.
    before : callable, optional
        Called without arguments, untimed, before every step; it may empty the caches.

    Returns
    -------
    DecodeRun
        Seconds of every operation, in the prefill and in each step, and the tokens.

    Raises
    ------
    OperandsTooLarge
        When model and cache do not fit memory, before they are allocated.

    Examples
    --------
    >>> tiny = rl.Model(hidden=64, layers=2, heads=4, vocab=256)
    >>> run = rl.decode_loop(tiny, batch=2, context=8, steps=3, backend="cpu")
    >>> len(run.tokens), len(run.tokens[0])
    (2, 4)
    >>> run.tokens_per_s > 0
    True
    """
    require_loop(model)
    batch, context, steps = size("batch", batch), size("context", context), size("steps", steps)
    chosen, dtype = select(backend, threads), _dtype(dtype).name
    count = loop_thread_count(chosen, threads)
    require_room(model, batch, context, steps, dtype, chosen, weights)
    held = random_weights(model, dtype, chosen) if weights is None else weights
    if not isinstance(held, Weights):
        raise TypeError(f"weights={type(held).__name__} must be what loop_weights(…) made")
    has = (held.model, held.dtype, held.backend.name)
    if has != (model, dtype, chosen.name):
        raise ValueError(
            f"weights are those of {held.model.name} in {held.dtype} on {held.backend.name}; the "
            f"loop is to run {model.name} in {dtype} on {chosen.name}"
        )
    prompt = np.random.default_rng(0).integers(0, model.vocab, (1, context))
    with MEASUREMENT_LOCK, loop_threads(count):
        made = decoder(held, batch, context, steps, forms)
        return _timed(made, prompt, steps, count, before)


def loop_thread_count(backend: Backend, threads: int | None) -> int | None:
    """``threads`` checked for a loop on ``backend``: by default 1 on a CPU, None on a GPU."""
    if backend.is_gpu:
        return None
    return thread_count(1 if threads is None else threads)


@installed("rooflab.loop_weights")
def loop_weights(model: Model, dtype: str = "fp32", backend: str | None = "auto") -> Weights:
    """Random weights to use in several loops, which may store them otherwise but keep the numbers.

    Parameters
    ----------
    model : Model
        A plain decoder, such as :func:`loop_model` gives.
    dtype, backend : optional
        As for :func:`decode_loop`.

    Returns
    -------
    Weights
        For ``decode_loop(…, weights=…)``.

    Examples
    --------
    >>> tiny = rl.Model(hidden=64, layers=2, heads=4, vocab=256)
    >>> rl.loop_weights(tiny, backend="cpu").nbytes
    656640
    """
    chosen, dtype = select(backend), _dtype(dtype).name
    require_room(require_loop(model), 1, 1, 1, dtype, chosen)
    return random_weights(model, dtype, chosen)


def require_room(
    model: Model, batch: int, context: int, steps: int, dtype: str, backend: Backend,
    weights: Weights | None = None,
) -> None:  # fmt: skip
    """Raise OperandsTooLarge, naming what is needed and what is there, if the loop does not fit."""
    item, positions = array_dtype(dtype, backend).itemsize, context + steps
    active_item = np.dtype(activation_dtype(dtype)).itemsize
    parts = {
        "weights": model.weight_bytes(dtype) if weights is None else 0,
        "KV cache": model.kv_bytes(batch, positions, dtype),
        "buffers": pass_bytes(model, batch, 1, positions, active_item)
        + pass_bytes(model, 1, context, context, active_item)
        + item * model.hidden * max(model.vocab, model.intermediate),  # a matrix being turned
    }
    needed, room = sum(parts.values()), available_bytes(backend)
    if needed <= SPARE * room:
        return
    listed = ", ".join(f"{name} {si(each, 'B')}" for name, each in parts.items() if each)
    where = f"GPU memory of {backend.device}" if backend.is_gpu else "memory"
    raise OperandsTooLarge(
        f"model: running {model.name} in {dtype} with batch={batch}, context={context} takes "
        f"{si(needed, 'B')} of {where} ({listed}), but {si(room, 'B')} are free; choose a smaller "
        "model, batch or context"
    )


def _timed(
    made: Decoder, prompt: Any, steps: int, threads: int | None, before: Callable[[], Any] | None
) -> DecodeRun:
    weights, batch, context = made.step.weights, made.step.batch, made.prefill.tokens
    backend = weights.backend
    clock = Clock(backend)
    first, prefill = timed_prefill(made, prompt, clock)
    generated, rows = timed_steps(made, first, steps, clock, before)
    timing = Timing(tuple(sum(row.values()) for row in rows), 1, clock.name, clock.step_s)
    cores = None if threads is None else available_cores()
    return DecodeRun(
        weights.model, batch, context, steps, weights.dtype, backend.name, threads,
        host_id(backend.device if backend.is_gpu else ""), made.forms,
        made.trials, _by_name(prefill), _by_name(rows),
        tuple(map(tuple, backend.to_numpy(backend.xp.concatenate(generated, 1)).tolist())),
        (
            *_doubts(weights, clock, timing.median_s),
            *caveats(timing, threads=threads, cores=cores, power=power()),
        ),
        {**environment(backend), "clock": clock.name},
    )  # fmt: skip


def _by_name(rows: Rows) -> dict[str, tuple[float, ...]]:
    return {name: tuple(row[name] for row in rows) for name in rows[0]}


def _doubts(weights: Weights, clock: Clock, step_s: float) -> Iterator[str]:
    """Warn of weights that a cache holds, and of a launch-bound GPU."""
    cache = last_cache_bytes(weights.backend)
    if weights.nbytes <= 2 * cache:
        yield (
            f"the weights ({si(weights.nbytes, 'B')}) are hardly larger than the last-level cache "
            f"({si(cache, 'B')}), which no real model's are"
        )
    host_s = float(np.median(clock.queueing))
    if host_s > step_s:
        doubt = ", and may hold some of Python's too" if clock.late else ""
        yield (
            f"launch-bound: host {si(host_s, 's')}, GPU {si(step_s, 's')} a step; Python queues "
            f"the work more slowly than the GPU does it. Times and tokens/s are the GPU's{doubt}"
        )

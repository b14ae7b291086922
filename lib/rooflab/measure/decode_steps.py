"""A transformer that generates: the prefill, the decode step, and the time of their operations."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

from rooflab.measure.decode_clock import Clock, unmarked
from rooflab.measure.decode_forms import Trial, for_many, given_forms, lay, try_forms
from rooflab.measure.threads import thread_limit
from rooflab.measure.timing import SETTLE_S, Call, undisturbed
from rooflab.measure.transformer import Cache, Mark, Pass, cache_for, forward_pass, run
from rooflab.measure.transformer_weights import Weights

PREFILLS, PREFILL_S = 3, 1.0  # runs of the prefill, if they fit into so many seconds
Rows = list[dict[str, float]]
"""Seconds by operation, one dict a run."""


@dataclass(frozen=True, eq=False)
class Decoder:
    """A model ready to generate: its prefill, its decode step and the cache they share."""

    prefill: Pass
    step: Pass
    cache: Cache
    sequences: int
    trial: Trial


def decoder(
    weights: Weights, batch: int, context: int, steps: int, forms: Any = None, sequences: int = 1
) -> Decoder:
    """Choose the forms of the products, store the weights accordingly, make passes and cache."""
    model, positions = weights.model, context + steps
    if forms is None:
        trial = try_forms(weights, batch)
    else:
        trial = Trial({}, given_forms(weights, forms))
    laid = lay(weights, trial.chosen)
    return Decoder(
        forward_pass(weights, for_many(laid, sequences), sequences, context, context),
        forward_pass(weights, laid, batch, 1, positions),
        cache_for(model, batch, positions, weights.dtype, weights.backend), sequences, trial,
    )  # fmt: skip


def take_in(made: Decoder, prompt: Any, mark: Mark = unmarked) -> Any:
    """Run the prefill on ``prompt`` (sequences, context); return the first tokens (batch, 1).

    One prompt for a whole batch is computed once, and its cache copied to every sequence.
    """
    xp, batch, context = made.step.weights.backend.xp, made.step.batch, made.prefill.tokens
    part = Cache(made.cache.k[:, : made.sequences], made.cache.v[:, : made.sequences])
    logits = run(made.prefill, xp.asarray(prompt), part, 0, mark)
    if made.sequences == batch:
        first = logits.argmax(axis=1)
    else:
        likely = xp.argsort(-logits[0])
        first = likely[xp.arange(batch) % len(likely)]
    mark("sample")
    if made.sequences < batch:
        for kept in (made.cache.k, made.cache.v):
            kept[:, 1:, :, :context] = kept[:, :1, :, :context]
    return first.reshape(batch, 1)


def step(made: Decoder, tokens: Any, at: int, mark: Mark = unmarked) -> Any:
    """One decode step with ``at`` tokens cached: append ``tokens`` and return the next ones,
    (batch, 1)."""
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
    """Generate ``steps`` tokens after ``first``; return all tokens and the seconds of each step.

    ``before`` is called, untimed, before every step.
    """
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
    began, rows = perf_counter(), []
    prompt = made.step.weights.backend.xp.asarray(prompt)
    take_in(made, prompt)  # pages its buffers in
    with undisturbed():
        while not rows or (len(rows) < PREFILLS and perf_counter() - began < PREFILL_S):
            clock.start()
            first = take_in(made, prompt, clock)
            rows.append(clock.seconds())
    return first, rows

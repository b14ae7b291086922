"""``rl.decode_loop``: how many tokens a second does a transformer really generate here?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from rooflab.count.dtypes import dtype as _dtype
from rooflab.count.si import si
from rooflab.count.sizes import size
from rooflab.measure.alone import ALONE
from rooflab.measure.backend import Backend, select
from rooflab.measure.caveats import caveats
from rooflab.measure.decode_clock import Clock
from rooflab.measure.decode_models import last_cache_bytes
from rooflab.measure.decode_run import DecodeRun
from rooflab.measure.decode_steps import Decoder, decoder, loop_threads, timed_prefill, timed_steps
from rooflab.measure.environment import available_cores, environment, host_id, power
from rooflab.measure.memory import SPARE, OperandsTooLarge, available_bytes
from rooflab.measure.roofs import thread_count
from rooflab.measure.timing import Timing
from rooflab.measure.transformer import activation_dtype, pass_bytes
from rooflab.measure.transformer_products import array_dtype
from rooflab.measure.transformer_weights import (
    Weights,
    given_weights,
    random_weights,
    require_loop,
)
from rooflab.predict.workload_model import Model


def decode_loop(
    model: Model,
    batch: int = 1,
    context: int = 128,
    steps: int = 20,
    backend: str | None = "auto",
    threads: int | None = None,
    weights: Weights | Mapping[str, Any] | None = None,
    dtype: str = "fp32",
    *,
    prompts: Any = None,
    forms: str | Mapping[str, str] | None = None,
    seed: int = 0,
    before: Callable[[], Any] | None = None,
) -> DecodeRun:
    """Generate ``steps`` tokens with a real transformer, and return the time of every operation.

    A prompt of ``context`` tokens is taken in (the prefill), then ``batch`` sequences grow by one
    token a step, the most likely one. ``prompts``: (batch, context) token ids; without them one
    random prompt serves all sequences, and sequence i goes on with its i-th most likely token.
    ``weights``: arrays by name (:func:`rooflab.measure.transformer_weights.shapes`), or what
    :func:`loop_weights` made, else random ones; positions turn with base 10 000 and norms have
    ε = 1e-5, as in Llama 2. ``forms``: how to compute the weight products
    ("gemv ×B", "gemv ×B on Wᵀ", "gemm", "gemm on Wᵀ", or a dict by product); without it all are
    timed and the fastest is taken. ``dtype``: fp32 or fp64, on a GPU also fp16 or bf16.
    ``threads``: of the CPU, which "auto" then is; None is 1 there.
    ``before()`` is called, untimed, before every step; it may empty the caches.

    Raises ValueError naming the argument: sizes, a model with parts that the loop has not; and
    OperandsTooLarge, before anything is allocated, when model and cache do not fit memory.
    """
    require_loop(model)
    batch, context, steps = size("batch", batch), size("context", context), size("steps", steps)
    require_positions(model, context + steps)
    seed = size("seed", seed, 0)
    if before is not None and not callable(before):
        raise TypeError(f"before={before!r} must be a function without arguments, or None")
    chosen, dtype = select(backend, threads), _dtype(dtype).name
    count = loop_thread_count(chosen, threads)
    prompt = _prompts(prompts, batch, context, model)
    sequences = 1 if prompt is None else len(prompt)
    require_room(model, batch, context, steps, dtype, chosen, weights, sequences)
    if prompt is None:  # only now: a prompt may be too long for memory as well
        prompt = np.random.default_rng(seed).integers(0, model.vocab, (1, context))
    held = _held(model, weights, dtype, chosen, seed)
    with ALONE, loop_threads(count):
        made = decoder(held, batch, context, steps, forms, sequences)
        return _timed(made, prompt, steps, count, before)


def loop_thread_count(backend: Backend, threads: int | None) -> int | None:
    """``threads`` checked for a loop on ``backend``: by default 1 on a CPU, None on a GPU."""
    if backend.is_gpu:
        return None
    return thread_count(1 if threads is None else threads)


def loop_weights(
    model: Model, dtype: str = "fp32", backend: str | None = "auto", seed: int = 0
) -> Weights:
    """Random weights to use in several loops, which may store them otherwise but keep the numbers.

    Raises OperandsTooLarge before allocating when they do not fit memory.
    """
    chosen, dtype, seed = select(backend), _dtype(dtype).name, size("seed", seed, 0)
    require_room(require_loop(model), 1, 1, 1, dtype, chosen)
    return random_weights(model, dtype, chosen, seed)


def require_room(
    model: Model, batch: int, context: int, steps: int, dtype: str, backend: Backend,
    weights: Any = None, sequences: int = 1,
) -> None:  # fmt: skip
    """Raise OperandsTooLarge, naming what is needed and what is there, if the loop does not fit."""
    item, positions = array_dtype(dtype, backend).itemsize, context + steps
    active_item = np.dtype(activation_dtype(dtype)).itemsize
    parts = {
        "weights": 0 if isinstance(weights, Weights) else model.weight_bytes(dtype),
        "KV cache": model.kv_bytes(batch, positions, dtype),
        "buffers": pass_bytes(model, batch, 1, positions, active_item)
        + pass_bytes(model, sequences, context, context, active_item)
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
        host_id(backend.device if backend.is_gpu else ""), made.sequences, made.trial.chosen,
        made.trial.seconds, _by_name(prefill), _by_name(rows),
        tuple(map(tuple, backend.to_numpy(backend.xp.concatenate(generated, 1)).tolist())),
        (
            *_held_in_cache(weights), *_beyond_training(weights.model, context + steps),
            *_launch_bound(clock, timing.median_s),
            *caveats(timing, threads=threads, cores=cores, power=power()),
        ),
        {**environment(backend), "clock": clock.name},
    )  # fmt: skip


def _by_name(rows: list[dict[str, float]]) -> dict[str, tuple[float, ...]]:
    return {name: tuple(row[name] for row in rows) for name in rows[0]}


def _held_in_cache(weights: Weights) -> tuple[str, ...]:
    """Warn of a model so small that its weights stay in the cache from step to step."""
    cache = last_cache_bytes(weights.backend)
    if weights.nbytes > 2 * cache:
        return ()
    return (
        f"the weights ({si(weights.nbytes, 'B')}) are hardly larger than the last-level cache "
        f"({si(cache, 'B')}), which no real model's are",
    )


def _launch_bound(clock: Clock, step_s: float) -> tuple[str, ...]:
    """Warn of a GPU that is done with a step before Python has queued it."""
    host_s = float(np.median(clock.queueing))
    if host_s <= step_s:
        return ()
    doubt = ", and may hold some of Python's too" if clock.late else ""
    return (
        f"launch-bound: host {si(host_s, 's')}, GPU {si(step_s, 's')} a step; Python queues the "
        f"work more slowly than the GPU does it. Times and tokens/s are the GPU's{doubt}",
    )


def _beyond_training(model: Model, positions: int) -> tuple[str, ...]:
    """Warn of positions that the model was not trained on, which take the same time."""
    if not model.context or positions <= model.context:
        return ()
    return (f"context + steps = {positions} is beyond the {model.context} tokens of its training",)


def require_positions(model: Model, positions: int) -> None:
    """Raise ValueError unless ``model`` knows so many positions; rotary ones never end."""
    if model.positions and positions > model.positions:
        raise ValueError(
            f"context + steps = {positions} must be at most {model.positions}, the positions that "
            f"{model.name} has learned"
        )


def _prompts(prompts: Any, batch: int, context: int, model: Model) -> np.ndarray | None:
    """``prompts`` as an array (batch, context) or (1, context) of token ids; None stays None."""
    if prompts is None:
        return None
    right = f"it must hold integers, ({batch}, {context}) or (1, {context})"
    try:
        found = np.asarray(prompts)
    except (TypeError, ValueError) as error:  # rows of several lengths, arrays of a GPU
        raise ValueError(f"prompts is no array ({error}); {right}") from error
    if found.dtype.kind not in "iu" or found.shape not in ((batch, context), (1, context)):
        raise ValueError(f"prompts: {found.dtype} of shape {found.shape}; {right}")
    if found.min() < 0 or found.max() >= model.vocab:
        raise ValueError(f"prompts: token ids must lie in 0 … {model.vocab - 1}")
    return found


def _held(model: Model, weights: Any, dtype: str, backend: Backend, seed: int) -> Weights:
    if weights is None:
        return random_weights(model, dtype, backend, seed)
    if not isinstance(weights, Weights):
        return given_weights(model, weights, dtype, backend)
    has = (weights.model, weights.dtype, weights.backend.name)
    if has != (model, dtype, backend.name):
        raise ValueError(
            f"weights are those of {weights.model.name} in {weights.dtype} on "
            f"{weights.backend.name}; the loop is to run {model.name} in {dtype} on {backend.name}"
        )
    return weights

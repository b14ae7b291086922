"""Run the loop's operations on a model of odd sizes, for predictions of other models.

No size of this model is one that anybody runs, so what is learned here (how well the library's
routines use this machine) is never what is predicted later: see decode_predict.py.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from rooflab.count.dtypes import dtype as _dtype
from rooflab.measure import store
from rooflab.measure.alone import ALONE
from rooflab.measure.backend import Backend, select
from rooflab.measure.ceiling import quickest
from rooflab.measure.cold import evictor
from rooflab.measure.decode import decode_loop, loop_thread_count, loop_weights
from rooflab.measure.decode_models import ODD, beyond, last_cache_bytes
from rooflab.measure.decode_run import DecodeRun
from rooflab.measure.environment import host_id, now
from rooflab.measure.progress import Progress, told
from rooflab.measure.transformer_products import array_dtype

SCHEMA = 1
RUNS = (
    (1, 44), (1, 404), (2, 108), (3, 44), (4, 108), (8, 204), (16, 108), (32, 44), (64, 108),
    (64, 20),
)  # fmt: skip
"""(batch, context) of the runs; the contexts are the prefills' tokens too."""
STEPS = 6
LARGE = 64 << 20
"""Bytes of a cache that is emptied between the steps: a model that outgrows it would take
minutes."""


def loop_efficiency(
    backend: str | None = "auto",
    threads: int | None = None,
    dtype: str = "fp32",
    *,
    refresh: bool = False,
    progress: Progress = True,
) -> dict[str, Any]:
    """What the loop's operations take on a model of odd sizes: plain data, a row a run.

    Measured once (some ten seconds) and stored like the machine's roofs; again with ``refresh``.
    A row is {"phase", "batch", "queries", "context", "seconds": {operation: seconds}}.
    """
    chosen, dtype = select(backend, threads), _dtype(dtype).name
    count = loop_thread_count(chosen, threads)
    host = host_id(chosen.device if chosen.is_gpu else "")
    name = f"decode-{host}-{'gpu' if chosen.is_gpu else f'{count}t'}-{dtype}"
    with ALONE:
        found = None if refresh else store.load(name, lambda kept: _stale(kept, chosen))
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
    with told(progress, "timing a model's operations") as tell:
        for number, (batch, context) in enumerate(RUNS):
            run = decode_loop(
                model, batch, context, STEPS, backend.name, threads, weights, dtype, seed=number,
                before=evict,
            )  # fmt: skip
            rows += rows_of(run)
            tell((number + 1) / len(RUNS))
    return {
        "schema": SCHEMA, "measured_on": now(), "dtype": dtype, "layers": model.layers,
        "gated": backend.is_gpu, "rows": rows,
    }  # fmt: skip


def rows_of(run: DecodeRun) -> list[dict[str, Any]]:
    """The prefill and the decode step of ``run`` as two rows, quickest times."""
    shapes = {
        "prefill": {"batch": run.sequences, "queries": run.context, "context": run.context},
        "decode": {"batch": run.batch, "queries": 1, "context": run.middle},
    }
    return [
        {
            "phase": phase, **shape,
            "seconds": {n: quickest(run.samples(n, phase)) for n in getattr(run, phase)},
        }
        for phase, shape in shapes.items()
    ]  # fmt: skip


def _stale(found: object, backend: Backend) -> str:
    """What is wrong with data stored for ``backend``, "" if nothing is."""
    wrong = problem(found)
    if not wrong and backend.is_gpu and not found.get("gated"):
        return "an older version of rooflab wrote it"  # it timed Python, not the GPU
    return wrong


def problem(found: object) -> str:
    """What is wrong with stored data, "" if nothing is."""
    if not isinstance(found, Mapping) or found.get("schema") != SCHEMA:
        return "it is of another version"
    rows = found.get("rows")
    try:
        times = [s for row in rows for s in row["seconds"].values()]
        sound = len(rows) == 2 * len(RUNS) and all(0 < s < math.inf for s in times)
        sound = sound and found["layers"] > 0 and isinstance(found["dtype"], str)
    except (TypeError, KeyError, AttributeError):
        sound = False
    return "" if sound else "it is damaged"

"""Models for the decode loop, small enough to run anywhere and larger than any cache."""

from __future__ import annotations

import math
from dataclasses import replace

from rooflab.count.sizes import size
from rooflab.count.suggest import unknown
from rooflab.measure.backend import Backend, select
from rooflab.measure.caches import last_level_bytes
from rooflab.measure.cold import MARGIN
from rooflab.predict.workload_model import Model

SIZES = {
    "small": Model(768, 6, 12, kv_heads=4, intermediate=2048, vocab=8192, name="small"),
    "large": Model(1536, 8, 16, kv_heads=4, intermediate=4096, vocab=16_384, name="large"),
}
ODD = Model(1048, 2, 12, kv_heads=6, head_dim=56, intermediate=2824, vocab=9016, name="odd sizes")
"""Sizes that nobody runs: predictions rest on this model, so that they rest on no other's
shapes."""


def loop_model(which: str = "small", itemsize: int = 4, backend: str = "cpu") -> Model:
    """A model of the Llama kind for :func:`rooflab.decode_loop`: "small" or "large".

    It gets as many more layers as its weights (``itemsize`` bytes each) need to be 4 × the last
    cache of where it will run (``backend``: "cpu", "gpu" or "auto"): smaller ones would stay there
    from step to step, which no real model's do.
    """
    if not isinstance(which, str) or which not in SIZES:
        raise unknown("which", which, SIZES)
    return beyond(SIZES[which], last_cache_bytes(select(backend)), size("itemsize", itemsize))


def last_cache_bytes(backend: Backend) -> int:
    """Bytes of the last cache before the memory of ``backend``."""
    if not backend.is_gpu:
        return last_level_bytes()
    from rooflab.measure.gpu import l2_bytes

    return l2_bytes(backend.xp)


def beyond(model: Model, cache: int, itemsize: int = 4) -> Model:
    """``model`` with the layers that 4 × ``cache`` bytes of weights take, or its own if more.

    The table of embeddings does not count: a step reads one row of it.
    """
    table = model.vocab * model.hidden
    one, two = (itemsize * (replace(model, layers=n).parameters - table) for n in (1, 2))
    layers = 1 + math.ceil(max(0, MARGIN * cache - one) / (two - one))
    return replace(model, layers=max(model.layers, layers))

"""Mountains made up from a machine that is known: its caches, latencies and bandwidths."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

import numpy as np

from rooflab.labs.memory.levels import Curves
from rooflab.labs.memory.mountain import Mountain

SIZES = tuple(int(4096 * 2 ** (i / 4)) for i in range(66))  # 4 KiB to 320 MB
KIB, MIB = 1 << 10, 1 << 20


def curves(
    caches: Sequence[int],
    latency: Sequence[float],
    rates: Sequence[float],
    *,
    noise: float = 0.0,
    seed: int = 0,
    soft: float = 1.0,
) -> Curves:
    """What a hierarchy of ``caches`` (bytes) shows; ``latency`` and ``rates`` have one more entry.

    Beyond a cache the share that it serves falls in a straight line, to none at ``1 + soft`` times
    its size. Noise has one sign: it slows.
    """
    rng = np.random.default_rng(seed)
    found = []
    for size in SIZES:
        left, seconds = 1.0, 0.0
        for cache, own in itertools.zip_longest(caches, latency):
            share = (
                1.0 if cache is None or size <= cache else max(0.0, 1 - (size / cache - 1) / soft)
            )
            seconds, left = seconds + left * share * own, left * (1 - share)
        rate = rates[sum(size > cache for cache in caches)]
        slow = 1 + noise * abs(rng.normal(size=2))
        found.append((seconds * slow[0], rate / slow[1], 0.8 * rate / slow[1]))
    return Curves(SIZES, *zip(*found))


def mountain(shape: Curves, told: Mapping[str, int | None], **more: object) -> Mountain:
    """A mountain with one sample of each figure of ``shape``."""
    samples = {
        name: tuple((value,) for value in getattr(shape, name))
        for name in ("read", "copy", "latency")
    }
    return Mountain(1, shape.sizes, samples, told, **more)


def zen(last: int, memory: float = 130e-9, **more: float) -> Curves:
    """A core like Zen 5's: 48 KiB, 1 MiB and a ``last`` cache in bytes, ``memory`` a hop away."""
    return curves(
        (48 * KIB, MIB, last), (1e-9, 3.5e-9, 14e-9, memory), (300e9, 150e9, 70e9, 40e9), **more
    )

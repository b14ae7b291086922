"""Exercises of lesson 05: the bound of one token, its KV cache, and decode(), for mine.py.

Weights count without the table of embeddings: a token reads one row of it.
"""

from __future__ import annotations

import random
from dataclasses import replace

from rooflab.exercises.exercise import Case, Exercise, Misconception
from rooflab.exercises.lesson03 import peak_and_bandwidth
from rooflab.exercises.lesson05_runs import INT4_GROUP_32, RUNS, SHAPES, kv_bytes
from rooflab.predict.catalogue import machine

GIB = 2**30
GIBIBYTES = "a bandwidth counts GB, 1e9 bytes, and so do the weights here; nothing is in GiB."
# Machines whose memory holds the model in 16 bits, with its parameters.
_BOUNDS = (
    ("rtx-4090", 7e9), ("a100-sxm-80", 13e9), ("h200-sxm", 70e9), ("m3-pro", 8e9),
    ("mi300x", 70e9), ("l4", 8e9),
)  # fmt: skip


def _bound(parameters: float, bits: int, bandwidth: float) -> float:
    return bandwidth / (parameters * bits / 8)


def _bound_cases(rng: random.Random) -> list[Case]:
    """A 7B model in 16 bits on a 4090, and four others in 4, 8, 16 and 32 bits."""
    drawn = [{"parameters": 7e9, "bits": 16, "bandwidth": float(machine("rtx-4090").bandwidth())}]
    for bits, (name, parameters) in zip((4, 8, 16, 32), rng.sample(_BOUNDS[1:], 4), strict=True):
        bandwidth = float(machine(name).bandwidth())
        drawn.append({"parameters": parameters, "bits": bits, "bandwidth": bandwidth})
    return drawn


BOUND = Exercise(
    "05-bound", "The fastest token there can be", 1,
    "One token needs every parameter once. How many tokens a second does this bandwidth allow?",
    "bound(parameters, bits, bandwidth)", _bound, cases=_bound_cases,
    derives=("Roofline", "predict", "model", "Model"),
    misconceptions=(
        Misconception("GiB", lambda n, b, w: _bound(n, b, w * 1e9 / GIB), GIBIBYTES),
        Misconception("one byte a weight", lambda n, b, w: w / n,
                      "a weight has `bits` bits; how many bytes is that?"),
        Misconception("bits for bytes", lambda n, b, w: w / (n * b),
                      "`bits` are bits, and a bandwidth counts bytes: 8 bits are one."),
        Misconception("16 bits always", lambda n, b, w: w / (2 * n),
                      "not every model stores its weights in 2 bytes; ask `bits`."),
        Misconception("read twice", lambda n, b, w: _bound(2 * n, b, w),
                      "a multiply-add is 2 FLOPs, but its weight is fetched once."),
        Misconception("seconds", lambda n, b, w: 1 / _bound(n, b, w),
                      "that is the time of one token; how many of them are there in a second?"),
        Misconception("parameters a second", lambda n, b, w: w * 8 / b,
                      "so many weights arrive in a second; a token needs all of the model's."),
    ),
)  # fmt: skip


def _kv_cases(rng: random.Random) -> list[Case]:
    """Five public models, at least two of which share their KV heads."""
    grouped = [name for name, shape in SHAPES.items() if shape[1] != shape[2]]
    chosen = [*rng.sample(grouped, 3), *rng.sample(sorted(set(SHAPES) - set(grouped)), 2)]
    keys = ("layers", "heads", "kv_heads", "head_dim")
    return [
        {**dict(zip(keys, SHAPES[name], strict=True)), "itemsize": size}
        for name, size in zip(chosen, rng.sample((1, 2, 2, 4, 2), 5), strict=True)
    ]


KV = Exercise(
    "05-kv-bytes", "What a token leaves behind", 1,
    "How many bytes does one token add to the KV cache?",
    "kv_bytes(layers, heads, kv_heads, head_dim, itemsize)", kv_bytes, cases=_kv_cases,
    derives=("model", "Model"),
    misconceptions=(
        Misconception("K alone", lambda n, h, g, d, s: kv_bytes(n, h, g, d, s) // 2,
                      "a key and a value are kept: K is one of them, V the other."),
        Misconception("every query head", lambda n, h, g, d, s: kv_bytes(n, h, h, d, s),
                      "query heads may share a KV head; what is stored once is read once."),
        Misconception("one layer", lambda n, h, g, d, s: kv_bytes(1, h, g, d, s),
                      "every layer has keys and values of its own."),
        Misconception("one head", lambda n, h, g, d, s: kv_bytes(n, h, 1, d, s),
                      "every KV head has a key of head_dim numbers of its own, and a value."),
        Misconception("numbers, not bytes", lambda n, h, g, d, s: kv_bytes(n, h, g, d, 1),
                      "so many numbers; each of them has `itemsize` bytes."),
        Misconception("queries too", lambda n, h, g, d, s: kv_bytes(n, h, g, d, s) + n * h * d * s,
                      "a query is used once, by its own token, and thrown away."),
    ),
)  # fmt: skip


def _takeover(weight_bytes: int, kv: int, context: int) -> float:
    return weight_bytes / (kv * context)


def _takeover_cases(rng: random.Random) -> list[Case]:
    drawn = []
    for run in rng.sample(RUNS, 5):
        context = rng.choice((300, 700, 1500, 3000, 6000))
        weight_bytes = round(run.parameters * run.itemsize)
        drawn.append({"weight_bytes": weight_bytes, "kv": run.kv, "context": context})
    return drawn


TAKEOVER = Exercise(
    "05-takeover", "When the cache outweighs the model", 1,
    "Every sequence has a context of this length. At which batch does a step read as many bytes "
    "from the KV cache as from the weights?",
    "takeover(weight_bytes, kv, context)", _takeover, cases=_takeover_cases, tolerance=1e-6,
    derives=("model", "Model"),
    misconceptions=(
        Misconception("tokens, not sequences", lambda w, k, c: w / k,
                      "that many tokens in all; each sequence holds `context` of them."),
        Misconception("share of one token", lambda w, k, c: k / w,
                      "that is one token's share of the weights; turn it round, and think of the "
                      "whole context."),
        Misconception("upside down", lambda w, k, c: k * c / w,
                      "that is the share of one sequence; how many of them make a whole?"),
        Misconception("K and V again", lambda w, k, c: w / (2 * k * c),
                      "`kv` counts key and value already."),
        Misconception("the mean context", lambda w, k, c: 2 * w / (k * c),
                      "each sequence has all of its context now; it is not on the way there."),
        Misconception("squared", lambda w, k, c: (w / (k * c)) ** 0.5,
                      "a sequence reads its own cache and nobody else's."),
    ),
)  # fmt: skip


def decode(
    parameters: float,
    itemsize: float,
    kv: int,
    batch: int,
    context: int,
    peak: float,
    bandwidth: float,
) -> float:
    """Tokens a second of a whole batch: the weights' products, then attention, no overhead.

    ``itemsize``: bytes a weight, scales included; ``kv``: bytes a token in the cache.
    """
    products = max(2 * parameters * batch / peak, parameters * itemsize / bandwidth)
    return batch / (products + batch * context * kv / bandwidth)


def _decode_cases(rng: random.Random) -> list[Case]:
    """Published runs: three of batch 1 (2 bytes, 1 byte and 4 bits a weight), two of large batches.

    And one limited by computing, twice: over its mean context, and a few tokens after its
    beginning, when there is hardly any cache to read yet.
    """
    single = [[r for r in RUNS if r.batch == 1 and r.itemsize == z] for z in (2, 1, INT4_GROUP_32)]
    many = [run for run in RUNS if 1 < run.batch < 300]
    busy = rng.choice([run for run in RUNS if run.batch >= 300])
    early = replace(busy, context=rng.randrange(24, 45))
    chosen = [*map(rng.choice, single), *rng.sample(many, 2), busy, early]
    rng.shuffle(chosen)
    drawn = []
    for run in chosen:
        peak, bandwidth = peak_and_bandwidth(run.machine, run.compute)
        drawn.append({"parameters": run.parameters, "itemsize": run.itemsize, "kv": run.kv,
                      "batch": run.batch, "context": run.context, "peak": peak,
                      "bandwidth": bandwidth})  # fmt: skip
    return drawn


DECODE = Exercise(
    "05-decode", "Tokens a second", 3,
    "How many tokens a second can the whole batch get? The products with the weights come one "
    "after the other with attention, and attention does nothing but read the KV cache.",
    "decode(parameters, itemsize, kv, batch, context, peak, bandwidth)", decode,
    cases=_decode_cases, mine="decode", lines=3, tolerance=1e-6,
    derives=("Roofline", "predict", "model", "Model"),
    misconceptions=(
        Misconception("GiB", lambda n, s, k, b, c, p, w: decode(n, s, k, b, c, p, w * 1e9 / GIB),
                      GIBIBYTES),
        Misconception("one byte a weight",
                      lambda n, s, k, b, c, p, w: decode(n, 1, k, b, c, p, w),
                      "a weight has `itemsize` bytes, which may be 2, or less than 1."),
        Misconception("no cache", lambda n, s, k, b, c, p, w: decode(n, s, 0, b, c, p, w),
                      "each sequence reads its own KV cache, all of its context, for each token."),
        Misconception("one cache for all",
                      lambda n, s, k, b, c, p, w: decode(n, s, k, b, c / b, p, w),
                      "the weights are shared, the KV caches are not: each sequence reads its "
                      "own."),
        Misconception("the newest token only",
                      lambda n, s, k, b, c, p, w: decode(n, s, k, b, 1, p, w),
                      "a token looks back at all of its context, not only at itself."),
        Misconception("tokens of one sequence",
                      lambda n, s, k, b, c, p, w: decode(n, s, k, b, c, p, w) / b,
                      "each of the `batch` sequences gets a token in every step; count them all."),
        Misconception("weights for each sequence",
                      lambda n, s, k, b, c, p, w: b / (
                          max(2 * n * b / p, b * n * s / w) + b * c * k / w),
                      "one trip of the weights serves the whole batch."),
        Misconception("one big operation",
                      lambda n, s, k, b, c, p, w: b / max(2 * n * b / p, (n * s + b * c * k) / w),
                      "attention waits for the products: its reading does not overlap with their "
                      "arithmetic. Add the two times."),
        Misconception("no overlap",
                      lambda n, s, k, b, c, p, w: b / (2 * n * b / p + (n * s + b * c * k) / w),
                      "within a product, carrying and computing overlap: the longer counts."),
        Misconception("always memory",
                      lambda n, s, k, b, c, p, w: b / ((n * s + b * c * k) / w),
                      "the arithmetic grows with the batch; at some batch it takes longer than "
                      "the weights."),
        Misconception("multiply-adds",
                      lambda n, s, k, b, c, p, w: decode(n, s, k, b, c, 2 * p, w),
                      "a multiply-add is 2 FLOPs for each parameter and each token."),
        Misconception("seconds", lambda *case: 1 / decode(*case),
                      "that is seconds for each token; how many are there in a second?"),
    ),
)  # fmt: skip

EXERCISES = (BOUND, KV, TAKEOVER, DECODE)

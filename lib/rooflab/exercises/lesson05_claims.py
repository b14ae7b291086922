"""Exercises of lesson 05 that put claims on trial: 64×, always memory, FlashAttention's stores.

The first is that of a public web lesson: 50 tokens/s alone and 800 in a batch of 64, on an RTX
4090. The second is nobody's own. The third begins with LLM-Viewer (hahnyuan/LLM-Viewer at 472f71f,
``model_analyzer.py``, prefill with FlashAttention), whose result has seqlen × seqlen numbers,
stored twice, while keys and values are read again for every block of queries.
"""

from __future__ import annotations

import math
import random

from rooflab.exercises.drawing import peak_and_bandwidth
from rooflab.exercises.exercise import Case, Exercise, Misconception
from rooflab.exercises.lesson05 import STRICT, decode, strict
from rooflab.exercises.lesson05_runs import (
    LLAMA_2_7B,
    LLAMA_2_70B,
    LLAMA_3_8B,
    SHAPES,
    kv_bytes,
)

# Parameters and bytes a token in the cache, at 2 bytes a number.
_MODELS = tuple(
    (read, kv_bytes(*SHAPES[name], 2))
    for name, read in (
        ("llama-2-7b", LLAMA_2_7B), ("llama-3-8b", LLAMA_3_8B), ("llama-2-70b", LLAMA_2_70B),
    )
)  # fmt: skip
_MACHINES = (("a100-sxm-80", "bf16"), ("h100-sxm", "bf16"), ("mi300x", "fp16"), ("l4", "fp16"))


def _speed_up(
    parameters: int, kv: int, batch: int, context: int, peak: float, bandwidth: float
) -> float:
    """Tokens a second at ``batch`` over those at batch 1, weights of 2 bytes."""
    many = decode(parameters, 2, kv, batch, context, peak, bandwidth)
    return many / decode(parameters, 2, kv, 1, context, peak, bandwidth)


def _speed_up_strict(n, k, b, c, p, w):
    return strict(n, 2, k, b, c, p, w) / strict(n, 2, k, 1, c, p, w)


def _speed_up_cases(rng: random.Random) -> list[Case]:
    """Where the promise nearly holds, where the cache breaks it, where the arithmetic does.

    In the last the caches take longer than the weights and longer than the arithmetic.
    """
    drawn = []
    places = ((8, 100), (64, 300), (64, 2000), (1024, 10), (1024, 1000), (256, 4000))
    for (batch, context), (parameters, kv) in zip(places, rng.choices(_MODELS, k=6), strict=True):
        peak, bandwidth = peak_and_bandwidth(*rng.choice(_MACHINES))
        drawn.append({"parameters": parameters, "kv": kv, "batch": batch, "context": context,
                      "peak": peak, "bandwidth": bandwidth})  # fmt: skip
    return drawn


def _by_step(step):
    """The factor by another ``step(parameters, cache, batch, peak, bandwidth)``, in seconds."""

    def answer(n, k, b, c, p, w):
        return b * step(n, k * c, 1, p, w) / step(n, k * c, b, p, w)

    return answer


def _without_cache(n, k, b, c, p, w):
    return _speed_up(n, 0, b, c, p, w)


CLAIM_BATCH = Exercise(
    "05-claim-batch", "“Batch 64 is 64 times as fast”", 2,
    "By what factor does this batch raise the tokens a second of batch 1? Weights have 2 bytes.",
    "speed_up(parameters, kv, batch, context, peak, bandwidth)", _speed_up, cases=_speed_up_cases,
    lines=3, tolerance=1e-6, derives=("Roofline", "predict", "model", "Model"),
    also=((STRICT, _speed_up_strict),),
    insight="A batch shares the weights and not the caches: the longer the context, the less it "
            "brings.",
    misconceptions=(
        Misconception("the claim", lambda n, k, b, c, p, w: b,
                      "the weights are shared by the whole batch; is anything else?"),
        Misconception("until the ridge", _without_cache,
                      "you left out the KV caches; they are read too, one for each sequence."),
        Misconception("the longest of three",
                      _by_step(lambda n, cache, b, p, w: max(2 * n * b / p, 2 * n / w,
                                                             b * cache / w)),
                      "weights and caches come from the same memory, one after the other: their "
                      "times add up."),
        Misconception("no overlap",
                      _by_step(lambda n, cache, b, p, w: 2 * n * b / p
                               + (2 * n + b * cache) / w),
                      "within a product, carrying and computing overlap: the longer counts."),
        Misconception("kv counted twice",
                      lambda n, k, b, c, p, w: _speed_up(n, 2 * k, b, c, p, w),
                      "`kv` is what a token leaves in the cache, its key and its value together."),
        Misconception("multiply-adds",
                      lambda n, k, b, c, p, w: _speed_up(n, k, b, c, 2 * p, w),
                      "a multiply-add is 2 FLOPs for each parameter and each token."),
        Misconception("the longer step",
                      lambda n, k, b, c, p, w: b / _speed_up(n, k, b, c, p, w),
                      "so many times longer a step takes, and it gives a token to each of `batch` "
                      "sequences."),
        Misconception("tokens a second",
                      lambda n, k, b, c, p, w: decode(n, 2, k, b, c, p, w),
                      "those are tokens a second of the batch; by what factor are they more than "
                      "those of batch 1?"),
        Misconception("until the cache", lambda n, k, b, c, p, w: _speed_up(n, k, b, c, p * 1e6, w),
                      "you left out the arithmetic: a large batch reaches the flat roof."),
        Misconception("one cache for all",
                      lambda n, k, b, c, p, w: decode(n, 2, k, b, c / b, p, w)
                      / decode(n, 2, k, 1, c, p, w),
                      "the sequences share the weights, not their caches."),
        Misconception("for one sequence", lambda n, k, b, c, p, w: _speed_up(n, k, b, c, p, w) / b,
                      "that is what each of them gets; the question is for all together."),
        Misconception("upside down", lambda *case: 1 / _speed_up(*case),
                      "that is batch 1 as a share of the batch; turn it round."),
        Misconception("batch 1 has no cache",
                      lambda n, k, b, c, p, w: decode(n, 2, k, b, c, p, w)
                      / decode(n, 2, 0, 1, c, p, w),
                      "a batch of 1 reads its cache as well."),
        Misconception("a difference",
                      lambda n, k, b, c, p, w: decode(n, 2, k, b, c, p, w)
                      - decode(n, 2, k, 1, c, p, w),
                      "a factor is wanted: how many times as many, not how many more.",
                      variants=(lambda *case: _speed_up(*case) - 1,)),
        Misconception("one byte a weight",
                      lambda n, k, b, c, p, w: decode(n, 1, k, b, c, p, w)
                      / decode(n, 1, k, 1, c, p, w),
                      "the weights have 2 bytes each."),
        Misconception("the newest token only",
                      lambda n, k, b, c, p, w: _speed_up(n, k, b, 1, p, w),
                      "attention reads the keys and values of every token of the context."),
    ),
)  # fmt: skip


def _enough(parameters: int, kv: int, context: int, peak: float, bandwidth: float) -> float:
    """Batch from which on a step's arithmetic takes longer than all its carrying; 0 if none."""
    left = 2 * parameters * bandwidth / peak - kv * context
    return 2 * parameters / left if left > 0 else 0


def _enough_cases(rng: random.Random) -> list[Case]:
    """Llama-3-8B and others on four machines: three contexts short enough, two too long."""
    drawn = []
    places = (0.15, 0.5, 1.4, 6.0, 0.85)
    models = [_MODELS[1], *rng.choices(_MODELS, k=4)]
    rng.shuffle(models)
    for place, (parameters, kv) in zip(places, models, strict=True):
        peak, bandwidth = peak_and_bandwidth(*rng.choice(_MACHINES))
        longest = 2 * parameters * bandwidth / peak / kv
        context = max(1, round(place * rng.uniform(0.95, 1.05) * longest))
        drawn.append({"parameters": parameters, "kv": kv, "context": context,
                      "peak": peak, "bandwidth": bandwidth})  # fmt: skip
    return drawn


def _unchecked(n, k, c, p, w):
    return 2 * n / (2 * n * w / p - k * c)


CLAIM_ALWAYS = Exercise(
    "05-claim-always", "“Decode is memory-bound at every batch”", 2,
    "Take a step as one operation. From which batch on does its arithmetic, 2 FLOPs for each "
    "parameter and token, take longer than the carrying of weights (2 bytes each) and caches? "
    "The batch need not be whole. Return 0 where it never does.",
    "enough(parameters, kv, context, peak, bandwidth)", _enough, cases=_enough_cases, lines=2,
    tolerance=1e-6, derives=("Roofline", "predict", "model", "Model"),
    insight="Without any context it is the ridge of the machine; a long context moves it out of "
            "reach.",
    misconceptions=(
        Misconception("the claim", lambda n, k, c, p, w: 0,
                      "each sequence adds arithmetic and cache; which of the two takes longer?"),
        Misconception("the ridge", lambda n, k, c, p, w: p / w,
                      "that is right as long as there is no KV cache to read."),
        Misconception("one sequence's cache", lambda n, k, c, p, w: (2 * n + k * c) * p / w / 2 / n,
                      "the caches grow with the batch, as the arithmetic does."),
        Misconception("a batch below zero", _unchecked,
                      "where each sequence carries longer than it computes, no batch is large "
                      "enough: say 0."),
        Misconception("the sign lost", lambda *case: abs(_unchecked(*case)),
                      "where each sequence carries longer than it computes, no batch is large "
                      "enough: say 0."),
        Misconception("without end",
                      lambda n, k, c, p, w: _enough(n, k, c, p, w) or math.inf,
                      "no batch is large enough there, not even an endless one: say 0."),
        Misconception("multiply-adds", lambda n, k, c, p, w: _enough(n, k, c, 2 * p, w),
                      "a parameter is 2 FLOPs for each token, a multiplication and an addition."),
        Misconception("one byte a weight", lambda n, k, c, p, w: _enough(n, k, c, p, w) / 2,
                      "weights have 2 bytes each here."),
        Misconception("the newest token only", lambda n, k, c, p, w: _enough(n, k, 1, p, w),
                      "a sequence reads its whole context for each token."),
        Misconception("plus for minus", lambda n, k, c, p, w: 2 * n / (2 * n * w / p + k * c),
                      "the caches are carried as well: do they make the batch that is needed "
                      "larger, or smaller?"),
    ),
)  # fmt: skip


def _stored(tokens: int, head_dim: int, itemsize: int) -> tuple[int, int]:
    """Bytes of one head's attention over a prompt: scores kept in memory, and never stored."""
    ends = 4 * tokens * head_dim  # Q, K and V read, the result written
    return itemsize * (ends + 4 * tokens * tokens), itemsize * ends


def _stored_cases(rng: random.Random) -> list[Case]:
    sizes = rng.sample((512, 1024, 2048, 4096, 16384), 4)
    dims = rng.sample((64, 80, 128, 256), 4)
    return [
        {"tokens": tokens, "head_dim": dim, "itemsize": size}
        for tokens, dim, size in zip(sizes, dims, rng.sample((2, 2, 4, 4), 4), strict=True)
    ]


def _traffic(squares: int, streamed_ends: int = 4, streamed_squares: int = 0):
    """Other counts: squares of tokens in memory, and what the streamed version moves."""

    def answer(tokens, head_dim, itemsize):
        side = tokens * head_dim
        first = itemsize * (4 * side + squares * tokens * tokens)
        return first, itemsize * (streamed_ends * side + streamed_squares * tokens * tokens)

    return answer


def _scores_for_result(s, d, z):
    return z * (3 * s * d + 4 * s * s), z * (3 * s * d + s * s)


CLAIM_FLASH = Exercise(
    "05-claim-flash", "“FlashAttention stores S² numbers”", 2,
    "Attention of one head over a prompt of `tokens`. Return the bytes with the scores in memory "
    "(written, read by the softmax, written again, read again), and those of a streamed one, which "
    "reads Q, K and V once and writes the result.",
    "attention_bytes(tokens, head_dim, itemsize)", _stored, cases=_stored_cases, lines=2,
    returns=("bytes with scores in memory", "streamed bytes"), tolerance=1e-6,
    derives=("attention", "model", "Model"),
    insight="What streaming saves grows with the square of the prompt, and the rest only with "
            "its length.",
    misconceptions=(
        Misconception("scores for a result", _traffic(4, 3, 2),
                      "the result has tokens × head_dim numbers; tokens × tokens would be scores, "
                      "and those never leave the chip.",
                      variants=(_scores_for_result,)),
        Misconception("nothing saved", _traffic(4, 4, 4),
                      "the streamed version keeps a tile of scores on the chip and stores none."),
        Misconception("scores once", _traffic(1), "scores make four trips: two out, two back."),
        Misconception("scores twice", _traffic(2),
                      "the softmax is a step of its own: scores go out and come back, and so do "
                      "its probabilities.", variants=(_traffic(3),)),
        Misconception("half of the scores",
                      lambda s, d, z: (z * (4 * s * d + 2 * s * (s + 1)), 4 * z * s * d),
                      "a mask hides scores and stores them all the same: there are tokens × tokens "
                      "of them."),
        Misconception("itemsize on one term",
                      lambda s, d, z: (4 * s * d + 4 * s * s * z, 4 * s * d * z),
                      "the numbers of both terms have itemsize bytes each: put parentheses around "
                      "their sum.",
                      variants=(lambda s, d, z: (4 * s * d * z + 4 * s * s, 4 * s * d * z),)),
        Misconception("a score for each place of a row",
                      lambda s, d, z: (z * (4 * s * d + 4 * s * s * d), 4 * z * s * d),
                      "a score is a sum over the places of a row: one number for a query and a "
                      "key."),
        Misconception("scores as wide as a head", lambda s, d, z: (8 * z * s * d, 4 * z * s * d),
                      "every query meets every key: the scores are tokens × tokens numbers."),
        Misconception("no result", _traffic(4, 3), "the streamed one writes its result as well."),
        Misconception("only the scores", lambda s, d, z: (4 * z * s * s, 4 * z * s * d),
                      "Q, K, V and the result travel in the first version too."),
        Misconception("numbers, not bytes", lambda s, d, z: _stored(s, d, 1),
                      "so many numbers; each has `itemsize` bytes."),
        Misconception("a decode step",
                      lambda s, d, z: (z * (2 * s * d + 2 * d + 4 * s), z * (2 * s * d + 2 * d)),
                      "that is one query; a prompt has as many as tokens."),
        Misconception("scores stored once after all", _traffic(4, streamed_squares=1),
                      "streamed, no score ever goes to memory.",
                      variants=(_traffic(4, streamed_squares=2),)),
    ),
)  # fmt: skip

EXERCISES = (CLAIM_BATCH, CLAIM_ALWAYS, CLAIM_FLASH)

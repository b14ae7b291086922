"""Exercises of lesson 05: what a KV cache buys, decode() for mine.py, and how to fill a machine.

Weights count without the table of embeddings: a token reads one row of it.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass

from rooflab.exercises.exercise import Case, Exercise, Misconception, cases_of
from rooflab.exercises.lessons.drawing import peak_and_bandwidth
from rooflab.labs.llm import catalogue
from rooflab.labs.llm.steps import distinct
from rooflab.predict.catalogue import machine

# Published runs of language models, with what their tables say and what the models' shapes are.
#
# Sources: the README of gpt-fast (batch 1, a prompt of 5 tokens, 200 new ones; A100 at 330 W), and
# TensorRT-LLM's docs/source/performance.md of v0.6.1 (L40S: v0.5; Input and Output Length there).
# ``context`` is the mean over a run, its prompt and half of what it wrote.


def _read(name: str) -> int:
    """Parameters that a token reads: all but the table of embeddings (vocabulary × width)."""
    m = catalogue.model(name)
    return m.parameters - m.vocab * m.hidden


def _shape(name: str) -> tuple[int, int, int, int]:
    """Layers, heads, KV heads, width of a head."""
    m = catalogue.model(name)
    return m.layers, m.heads, m.kv_heads, m.head_dim


LLAMA_2_7B, LLAMA_2_70B, LLAMA_3_8B = map(_read, ("llama-2-7b", "llama-2-70b", "llama-3-8b"))
SHAPES = {
    name: _shape(name)
    for name in (
        "llama-2-7b", "llama-2-13b", "llama-2-70b", "llama-3-8b", "gpt2", "gemma-2b", "qwen2.5-7b",
    )
}  # fmt: skip
INT4_GROUP_32 = 4 / 8 + 4 / 32  # 4 bits, and a 2-byte scale and zero for 32 weights


@dataclass(frozen=True)
class PublishedRun:
    """One published row. ``kv``: bytes a token in the cache; ``compute``: type of the products."""

    source: str
    machine: str
    model: str
    parameters: int
    itemsize: float
    kv: int
    batch: int
    context: int
    compute: str
    tokens_per_s: float


def kv_bytes(layers: int, heads: int, kv_heads: int, head_dim: int, itemsize: int) -> int:
    """Bytes that a token adds to the KV cache: a key and a value of every KV head and layer."""
    return 2 * layers * kv_heads * head_dim * itemsize


def _gpt_fast(
    machine: str, model: str, read: int, itemsize: float, tokens_per_s: float
) -> PublishedRun:
    kv = kv_bytes(*SHAPES[model], 2)
    return PublishedRun(
        "gpt-fast", machine, model, read, itemsize, kv, 1, 105, "bf16", tokens_per_s
    )


def _tensorrt(
    machine: str, itemsize: int, batch: int, prompt: int, new: int, tokens_per_s: float
) -> PublishedRun:
    """Llama 7B; where the weights have one byte (fp8), the KV cache has one too."""
    model, context = "llama-2-7b", prompt + new // 2
    kv, compute = kv_bytes(*SHAPES[model], itemsize), "fp8" if itemsize == 1 else "fp16"
    return PublishedRun(
        "TensorRT-LLM", machine, model, LLAMA_2_7B, itemsize, kv, batch, context, compute,
        tokens_per_s,
    )  # fmt: skip


RUNS = (
    _gpt_fast("a100-sxm-80", "llama-2-7b", LLAMA_2_7B, 2, 104.9),
    _gpt_fast("a100-sxm-80", "llama-2-7b", LLAMA_2_7B, 1, 155.58),
    _gpt_fast("a100-sxm-80", "llama-2-7b", LLAMA_2_7B, INT4_GROUP_32, 196.80),
    _gpt_fast("a100-sxm-80", "llama-2-70b", LLAMA_2_70B, 1, 19.13),
    _gpt_fast("a100-sxm-80", "llama-2-70b", LLAMA_2_70B, INT4_GROUP_32, 25.25),
    _gpt_fast("a100-sxm-80", "llama-3-8b", LLAMA_3_8B, 2, 93.89),
    _gpt_fast("a100-sxm-80", "llama-3-8b", LLAMA_3_8B, 1, 137.64),
    _gpt_fast("mi250x-gcd", "llama-2-7b", LLAMA_2_7B, 2, 76.33),
    _gpt_fast("mi250x-gcd", "llama-2-7b", LLAMA_2_7B, 1, 101.86),
    _tensorrt("a100-sxm-80", 2, 60, 128, 2048, 1928),
    _tensorrt("a100-sxm-80", 2, 384, 128, 128, 5586),
    _tensorrt("l40s", 1, 64, 128, 2048, 1622),
    _tensorrt("h100-sxm", 1, 112, 128, 2048, 6818),
    _tensorrt("h100-sxm", 1, 48, 2048, 2048, 2740),
    _tensorrt("h100-sxm", 1, 768, 128, 128, 19694),
)

GIB = 2**30
GIBIBYTES = "a bandwidth counts GB, 1e9 bytes, and so do the weights here; nothing is in GiB."


def _model(layers: int, width: int, vocabulary: int) -> tuple[int, int, int]:
    """Weights of the blocks and of the output matrix, and bytes that a token leaves in the cache:
    two numbers of 2 bytes for each layer and each place of a row."""
    return 12 * layers * width**2, vocabulary * width, 4 * layers * width


# GPT-2, GPT-2 medium and GPT-2 XL.
_GPT_2 = tuple(_model(n, d, 50_257) for n, d in ((12, 768), (24, 1024), (48, 1600)))
_SERVERS = (("a100-sxm-80", "bf16"), ("h100-sxm", "bf16"), ("mi300x", "fp16"), ("l4", "fp16"))


def _kept(
    blocks: int, head: int, kv: int, context: int, peak: float, bandwidth: float
) -> tuple[float, float]:
    """Tokens/s and FLOP/s with a KV cache; each 2-byte number that is read gives 2 FLOPs."""
    amount = 2 * (blocks + head) + kv * context
    seconds = max(amount / peak, amount / bandwidth)
    return 1 / seconds, amount / seconds


def _again(
    blocks: int, head: int, kv: int, context: int, peak: float, bandwidth: float
) -> tuple[float, float]:
    """Tokens/s and FLOP/s without one: all positions once more, the output matrix for the last."""
    looks = context * (context + 1) // 2
    flops = 2 * (blocks * context + head) + kv * looks
    return _at_once(flops, 2 * (blocks + head), peak, bandwidth)


def _at_once(flops: float, nbytes: float, peak: float, bandwidth: float) -> tuple[float, float]:
    seconds = max(flops / peak, nbytes / bandwidth)
    return 1 / seconds, flops / seconds


def _gauges(*case: float) -> tuple[float, float, float, float]:
    return (*_kept(*case), *_again(*case))


def _gauge_cases(rng: random.Random) -> list[Case]:
    """GPT-2 on an A100 at its longest context, and others; one context is short."""
    names = ("blocks", "head", "kv", "context", "peak", "bandwidth")
    drawn = [(*_GPT_2[0], 1024, *peak_and_bandwidth("a100-sxm-80", "bf16"))]
    for context in (rng.randrange(8, 40), rng.randrange(500, 700), rng.randrange(800, 1000)):
        drawn.append((*rng.choice(_GPT_2), context, *peak_and_bandwidth(*rng.choice(_SERVERS))))
    rng.shuffle(drawn)
    return [dict(zip(names, case, strict=True)) for case in drawn]


def _no_max(*case: float) -> tuple[float, float, float, float]:
    flops_per_token = _again(*case)[1] / _again(*case)[0]
    return (*_kept(*case), case[4] / flops_per_token, case[4])


def _looking(looks):
    """A wrong count of the tokens whose numbers are used without a cache: ``looks(context)``."""

    def answer(n, h, k, c, p, w):
        flops = 2 * (n * c + h) + k * looks(c)
        return (*_kept(n, h, k, c, p, w), *_at_once(flops, 2 * (n + h), p, w))

    return answer


def _no_attention(n, h, k, c, p, w):
    """Keys and values are carried, and nothing is computed with them."""
    amount = 2 * (n + h)
    seconds = max(amount / p, (amount + k * c) / w)
    return 1 / seconds, amount / seconds, *_again(n, h, 0, c, p, w)


def _fetching(nbytes):
    """Other ``nbytes(blocks, head, kv, context)`` that are fetched without a cache."""

    def answer(n, h, k, c, p, w):
        flops = 2 * (n * c + h) + k * c * (c + 1) // 2
        return (*_kept(n, h, k, c, p, w), *_at_once(flops, nbytes(n, h, k, c), p, w))

    return answer


def _no_output(n, h, k, c, p, w):
    return (*_kept(n, h, k, c, p, w), *_again(n, 0, k, c, p, w))


def _no_output_flops(n, h, k, c, p, w):
    flops = 2 * n * c + k * c * (c + 1) // 2
    return (*_kept(n, h, k, c, p, w), *_at_once(flops, 2 * (n + h), p, w))


def _kept_in_turns(n, h, k, c, p, w):
    amount = 2 * (n + h) + k * c
    seconds = amount / p + amount / w
    return 1 / seconds, amount / seconds


def _again_in_turns(n, h, k, c, p, w):
    rate, flop_per_s = _again(n, h, k, c, p, math.inf)
    seconds = 1 / rate + 2 * (n + h) / w
    return 1 / seconds, flop_per_s / rate / seconds


def _times_context(with_cache: bool):
    """Every position counts as a token: of both versions, or only of the one without a cache."""

    def answer(*case):
        (kept, kept_flops), (again, again_flops) = _kept(*case), _again(*case)
        context = case[3]
        return kept * (context if with_cache else 1), kept_flops, again * context, again_flops

    return answer


def _head_everywhere(n, h, k, c, p, w):
    flops = 2 * (n + h) * c + k * c * (c + 1) // 2
    return (*_kept(n, h, k, c, p, w), *_at_once(flops, 2 * (n + h), p, w))


def _by_name(*case):
    """The answer as two named pairs."""
    return {"with": list(_kept(*case)), "without": list(_again(*case))}


GAUGES = Exercise(
    "05-gauges", "Which gauge?", 3,
    "A token with a KV cache, and one for which all positions are computed once more: tokens a "
    "second and FLOP/s of both, in numbers of 2 bytes.",
    "gauges(blocks, head, kv, context, peak, bandwidth)", _gauges, cases=_gauge_cases,
    returns=("tokens/s with a cache", "FLOP/s with a cache", "tokens/s without", "FLOP/s without"),
    tolerance=1e-3, lines=6, derives=("Roofline", "predict", "model", "Model"),
    also=(("", _by_name),),
    fixed=cases_of("blocks head kv context peak bandwidth",
        (3_145_728, 50_000, 40_960, 1, 1.1e11, 1.9e10), (786_432, 49_920, 8192, 300, 6e9, 1.3e10),
        (301_000, 100, 60, 200, 2.25e15, 8e12), (1000, 2_000_000, 20, 7, 2e12, 1e12),
        (60_100_000_000, 1_050_673_152, 1_310_720, 131_072, 2.25e15, 8e12)),
    insight="The program with more FLOP/s may be the slower one. The gauge that counts shows "
            "tokens a second.",
    misconceptions=(
        Misconception("the cache is free",
                      lambda n, h, k, c, p, w: (
                          *_kept(n, h, 0, c, p, w), *_again(n, h, k, c, p, w)),
                      "what is kept has to be read again for every token: kv bytes for each "
                      "token of the context."),
        Misconception("the newest token left out",
                      lambda n, h, k, c, p, w: (
                          *_kept(n, h, k, c - 1, p, w), *_again(n, h, k, c, p, w)),
                      "the cached numbers of all `context` tokens are used, none of them left "
                      "out."),
        Misconception("full speed",
                      lambda *case: (_kept(*case)[0], case[4], *_again(*case)),
                      "with a cache the machine waits for bytes: what it computes in a second is "
                      "far below its peak."),
        Misconception("always computing", _no_max,
                      "a few positions are computed while the weights are still on their way; the "
                      "longer of the two times counts."),
        Misconception("the whole square", _looking(lambda c: c * c),
                      "position i looks back over i positions, so count them from 1 to context."),
        Misconception("a sum a little off", _looking(lambda c: c * c / 2),
                      "the first token uses the numbers of 1 token, the last one those of "
                      "`context`: what do 1, 2, …, context add up to?",
                      variants=(_looking(lambda c: c * (c - 1) / 2),
                                _looking(lambda c: (c - 1) * (c - 2) / 2))),
        Misconception("each token looks at itself", _looking(lambda c: c),
                      "token i uses the numbers of i tokens, not of itself alone."),
        Misconception("attention computes nothing", _no_attention,
                      "each number of the cache gives 2 FLOPs when it is used, as a weight does.",
                      variants=(_looking(lambda c: 0),)),
        Misconception("kv counted twice",
                      lambda n, h, k, c, p, w: _gauges(n, h, 2 * k, c, p, w),
                      "`kv` is in bytes, and a number has 2 of them and gives 2 FLOPs: as many "
                      "FLOPs as bytes."),
        Misconception("the cache fetched without one",
                      _fetching(lambda n, h, k, c: 2 * (n + h) + k * c),
                      "nothing is kept there, so nothing but weights has to be fetched."),
        Misconception("weights for each position",
                      _fetching(lambda n, h, k, c: 2 * (n * c + h) + k * c * (c + 1) // 2),
                      "all positions go through together, so the weights are fetched once."),
        Misconception("the output matrix left out", _no_output,
                      "the last position uses the output matrix as well, and it has to be fetched.",
                      variants=(_no_output_flops,)),
        Misconception("FLOPs, not FLOP/s",
                      lambda *case: tuple(
                          value / (_kept, _again)[at // 2](*case)[0] if at % 2 else value
                          for at, value in enumerate(_gauges(*case))),
                      "those are the FLOPs of a token; how many are done in a second?"),
        Misconception("the output for every position", _head_everywhere,
                      "only the last position says what comes next; the others skip the output "
                      "matrix."),
        Misconception("the context once more with a cache",
                      lambda *case: (*_again(*case), *_again(*case)),
                      "with a cache only the newest position goes through the model."),
        Misconception("multiply-adds",
                      lambda n, h, k, c, p, w: tuple(
                          value / (1, 2, 1, 2)[at] for at, value in enumerate(
                              (*_kept(n, h, k, c, 2 * p, w), *_again(n, h, k, c, 2 * p, w)))),
                      "a multiply-add is 2 FLOPs."),
        Misconception("without comes first", lambda *case: (*_again(*case), *_kept(*case)),
                      "the two figures with a cache come first."),
        Misconception("seconds a token",
                      lambda *case: tuple(
                          1 / value if at in (0, 2) else value
                          for at, value in enumerate(_gauges(*case))),
                      "that is seconds for each token; how many are there in a second?"),
        Misconception("one byte a number",
                      lambda n, h, k, c, p, w: (
                          *_kept(n, h, k, c, p, 2 * w), *_again(n, h, k, c, p, 2 * w)),
                      "a number has 2 bytes, and gives 2 FLOPs when it is used once."),
        Misconception("sum for max",
                      lambda *case: (*_kept_in_turns(*case), *_again_in_turns(*case)),
                      "carrying and computing overlap: the longer of the two times counts, not "
                      "their sum.",
                      variants=(lambda *case: (*_kept_in_turns(*case), *_again(*case)),
                                lambda *case: (*_kept(*case), *_again_in_turns(*case)))),
        Misconception("every position a token", _times_context(with_cache=False),
                      "however many positions are computed, only the newest one gives a token.",
                      variants=(_times_context(with_cache=True),)),
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


def strict(
    parameters: float,
    itemsize: float,
    kv: int,
    batch: int,
    context: int,
    peak: float,
    bandwidth: float,
) -> float:
    """Tokens a second that nobody can beat: all reading and all arithmetic overlap."""
    carried = parameters * itemsize + batch * context * kv
    return batch / max(2 * parameters * batch / peak, carried / bandwidth)


STRICT = (
    "this is the stricter bound, in which attention overlaps with the products; the lesson shows "
    "both"
)


def _decode_cases(rng: random.Random) -> list[Case]:
    """Published runs: three of batch 1 (2 bytes, 1 byte and 4 bits a weight), two of large batches,
    and two that are limited by computing."""
    single = [[r for r in RUNS if r.batch == 1 and r.itemsize == z] for z in (2, 1, INT4_GROUP_32)]
    many = [run for run in RUNS if 1 < run.batch < 300]
    busy = [run for run in RUNS if run.batch >= 300]
    chosen = [*map(rng.choice, single), *rng.sample(many, 2), *busy]
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
    "How many tokens a second does the whole batch get, if attention, which does nothing but read "
    "the KV cache, follows the products and does not overlap with them?",
    "decode(parameters, itemsize, kv, batch, context, peak, bandwidth)", decode,
    cases=_decode_cases, mine="decode", lines=3, tolerance=1e-6, also=((STRICT, strict),),
    fixed=cases_of("parameters itemsize kv batch context peak bandwidth",
        (6_607_343_616, 2, 524_288, 1, 1, 1.1e11, 1.9e10),
        (124_000_000, 4, 73_728, 12, 300, 9e10, 1.9e10),
        (27_100_000_000, 8, 2048, 1, 1_000_000, 6.7e13, 4.8e12),
        (405_000_000_000, 1, 516_096, 5000, 10, 4.5e15, 8e12),
        (700_000_001, 0.375, 100, 3, 12, 2e12, 1e11),
        (70_000_000, 0.625, 8192, 40, 7000, 2e12, 1e11)),
    derives=("Roofline", "predict", "model", "Model"),
    insight="With the bandwidth of your machine and the bytes of a model, it says how fast that "
            "model can write there at best.",
    misconceptions=(
        Misconception("GiB", lambda n, s, k, b, c, p, w: decode(n, s, k, b, c, p, w * 1e9 / GIB),
                      GIBIBYTES,
                      variants=(lambda n, s, k, b, c, p, w: decode(
                          n, s, k, b, c, p, w * GIB / 1e9),)),
        Misconception("2 bytes always", lambda n, s, k, b, c, p, w: decode(n, 2, k, b, c, p, w),
                      "not every weight has 2 bytes; itemsize says how many."),
        Misconception("kv counted twice",
                      lambda n, s, k, b, c, p, w: decode(n, s, 2 * k, b, c, p, w),
                      "`kv` is what a token leaves in the cache, its key and its value together."),
        Misconception("a batch of steps",
                      lambda n, s, k, b, c, p, w: b * decode(n, s, k, 1, c, p, w),
                      "a step of the whole batch takes longer than one of a single sequence: more "
                      "caches to read, and more to compute."),
        Misconception("always computing", lambda n, s, k, b, c, p, w: p / (2 * n),
                      "a small batch waits for the weights, and each sequence reads its cache."),
        Misconception("one byte a weight",
                      lambda n, s, k, b, c, p, w: decode(n, 1, k, b, c, p, w),
                      "a weight has `itemsize` bytes, which may be 2, or less than 1."),
        Misconception("no cache", lambda n, s, k, b, c, p, w: decode(n, s, 0, b, c, p, w),
                      "each sequence reads its own KV cache, all of its context, for each token.",
                      variants=(lambda n, s, k, b, c, p, w: b * w / (n * s),)),
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
        Misconception("no overlap",
                      lambda n, s, k, b, c, p, w: b / (2 * n * b / p + (n * s + b * c * k) / w),
                      "within a product, carrying and computing overlap: the longer counts."),
        Misconception("always memory",
                      lambda n, s, k, b, c, p, w: b / ((n * s + b * c * k) / w),
                      "the arithmetic grows with the batch; at some batch it takes longer than "
                      "the weights."),
        Misconception("the longest of three",
                      lambda n, s, k, b, c, p, w: b / max(2 * n * b / p, n * s / w, b * c * k / w),
                      "weights and caches come from the same memory, one after the other: their "
                      "times add up."),
        Misconception("multiply-adds",
                      lambda n, s, k, b, c, p, w: decode(n, s, k, b, c, 2 * p, w),
                      "a multiply-add is 2 FLOPs for each parameter and each token."),
        Misconception("kv times itemsize",
                      lambda n, s, k, b, c, p, w: decode(n, s, k * s, b, c, p, w),
                      "`kv` is in bytes already; itemsize is that of a weight.",
                      variants=(lambda n, s, k, b, c, p, w: strict(n, s, k * s, b, c, p, w),)),
        Misconception("seconds of a step", lambda n, s, k, b, *rest: b / decode(n, s, k, b, *rest),
                      "that is how long a step takes; how many tokens are there in a second?"),
        Misconception("seconds", lambda *case: 1 / decode(*case),
                      "that is seconds for each token; how many are there in a second?"),
        Misconception("min for max",
                      lambda n, s, k, b, c, p, w: b / (min(2 * n * b / p, n * s / w)
                                                       + b * c * k / w),
                      "the shorter of the two has to wait for the longer."),
    ),
)  # fmt: skip


def _most(
    parameters: int, kv: int, context: int, promised: float, peak: float, bandwidth: float,
    *, overlap: bool = False,
) -> float:  # fmt: skip
    """Batch at which a step takes 1 / ``promised`` seconds; below zero where none is that quick.

    The step: max(arithmetic, weights) + caches, or with ``overlap`` max(arithmetic, weights +
    caches). Each term has to be short enough, so the smaller of two batches counts.
    """
    seconds, weights = 1 / promised, 2 * parameters / bandwidth
    compute, cache = 2 * parameters / peak, kv * context / bandwidth
    return min((seconds - weights) / cache, seconds / (compute if overlap else compute + cache))


def _filled(room: float, most: float) -> tuple[int, int, str]:
    held, kept = max(0, math.floor(room)), max(0, math.floor(most))
    return held, kept, "memory" if held < kept else "promise"


def _room(parameters: int, kv: int, context: int, memory: float) -> float:
    return (memory - 2 * parameters) / (kv * context)


def _fill(
    parameters: int, kv: int, context: int, promised: float, memory: float, peak: float,
    bandwidth: float,
) -> tuple[int, int, str]:  # fmt: skip
    most = _most(parameters, kv, context, promised, peak, bandwidth)
    return _filled(_room(parameters, kv, context, memory), most)


def _fill_strict(n, k, c, r, m, p, w):
    return _filled(_room(n, k, c, m), _most(n, k, c, r, p, w, overlap=True))


# Llama-3-8B (8.03e9 parameters), 2 bytes: machine, type, context, tokens/s
# promised to each sequence. Memory binds in the first two, the promise in the others; in the fourth
# it is the arithmetic that breaks it, in the last no batch keeps it.
_PLACES = (
    ("h100-sxm", "bf16", 2048, 30), ("a100-sxm-80", "bf16", 6000, 20),
    ("h100-sxm", "bf16", 2048, 60), ("h100-sxm", "bf16", 300, 45),
    ("a100-sxm-80", "bf16", 1500, 160),
)  # fmt: skip
AIR = 0.9  # of the memory is for weights and caches; a server keeps a tenth for everything else


def _fill_cases(rng: random.Random) -> list[Case]:
    """Each place of ``_PLACES`` with a context near its own."""
    drawn: list[Case] = []
    for name, kind, context, promised in _PLACES:
        peak, bandwidth = peak_and_bandwidth(name, kind)
        drawn.append({"parameters": 8_030_261_248, "kv": 131_072,
                      "context": round(context * rng.uniform(0.95, 1.05)), "promised": promised,
                      "memory": AIR * machine(name).capacities["dram"], "peak": peak,
                      "bandwidth": bandwidth})  # fmt: skip
    rng.shuffle(drawn)
    return drawn


def _in_total(n, k, c, r, m, p, w):
    """The promise is shared among all that the memory holds, so each waits so much longer."""
    room = _room(n, k, c, m)
    return _filled(room, _most(n, k, c, r / math.floor(room), p, w) if room >= 1 else 0)


def _reached(n, k, c, r, m, p, w):
    """The batch whose tokens a second, all together, are the promised ones."""
    return _filled(_room(n, k, c, m), 2 * n / w / (1 / r - k * c / w))


def _total_shared(n, k, c, r, m, p, w):
    """The tokens a second of all that the memory holds, shared out in portions of the promise."""
    held = max(0, math.floor(_room(n, k, c, m)))
    return _filled(_room(n, k, c, m), decode(n, 2, k, held, c, p, w) / r)


def _total_within(n, k, c, r, m, p, w):
    """As many as the memory holds, if together they get what each of them is promised."""
    held = max(0, math.floor(_room(n, k, c, m)))
    enough = held > 0 and decode(n, 2, k, held, c, p, w) >= r
    return (held, held, "memory") if enough else (held, 0, "promise")


def _changed(change):
    """The right answer with ``change(held, kept, room, most)`` in place of its two batches."""

    def answer(*case):
        n, k, c, r, m, p, w = case
        held, kept, word = _fill(*case)
        room, most = _room(n, k, c, m), _most(n, k, c, r, p, w)
        return *change(held, kept, room, most), word

    return answer


def _bounds(n, k, c, r, p, w):
    """Batches by carrying and by computing that are in time: the two of ``_most``."""
    cache = k * c / w
    return (1 / r - 2 * n / w) / cache, 1 / r / (2 * n / p + cache)


def _other(room: float, most: float) -> tuple[int, int, str]:
    held, kept, binds = _filled(room, most)
    return held, kept, "promise" if binds == "memory" else "memory"


FILL = Exercise(
    "05-fill", "Fill the machine", 3,
    "Each sequence is promised so many tokens a second. Which batch fits the memory, which one "
    "keeps the promise, and which of the two binds?",
    "fill(parameters, kv, context, promised, memory, peak, bandwidth)", _fill, cases=_fill_cases,
    returns=("batch by memory", "batch by promise", "word for what binds"), lines=5,
    also=((STRICT, _fill_strict),), derives=("Roofline", "predict", "model", "Model"),
    # Weights that do not fit, a cache that just does not, two around a tie of both batches.
    fixed=cases_of("parameters kv context promised memory peak bandwidth",
        (68_710_000_000, 327_680, 4096, 10, 72e9, 9.9e14, 3.35e12),
        (27_100_000_000, 100_000, 300, 100, 54_229_999_999, 1.65e14, 1.008e12),
        (2**33, 2**17, 2048, 32, 2**34 + 192 * 2**28, 2.0**49, 2.0**41),
        (2**33, 2**17, 2048, 32, 2**34 + 192 * 2**28 - 1, 2.0**49, 2.0**41),
        (124_000_000, 36_864, 1, 50, 8e9, 1.1e11, 1.9e10),
        (3_000_000_000, 524_288, 131_072, 2, 6e9 + 2**37 - 1, 1.2e14, 1e12)),
    insight="Caches fill the memory and take time as well. Which of the two ends first depends "
            "on what was promised.",
    misconceptions=(
        Misconception("weights forgotten in the memory",
                      lambda n, k, c, r, m, p, w: _filled(m / (k * c), _most(n, k, c, r, p, w)),
                      "the weights lie in the same memory, and they come first."),
        Misconception("weights for each sequence",
                      lambda n, k, c, r, m, p, w: _filled(
                          m / (2 * n + k * c), 1 / r / (2 * n / w + k * c / w)),
                      "the whole batch shares the weights, in memory and on their way."),
        Misconception("caches take no time",
                      lambda n, k, c, r, m, p, w: _filled(
                          _room(n, k, c, m), p / (2 * n * r) if r * 2 * n < w else 0),
                      "each sequence reads its own cache in every step."),
        Misconception("arithmetic takes no time",
                      lambda n, k, c, r, m, p, w: _filled(
                          _room(n, k, c, m), (1 / r - 2 * n / w) * w / (k * c)),
                      "a large batch reaches the flat roof before it breaks the promise."),
        Misconception("nothing overlaps",
                      lambda n, k, c, r, m, p, w: _filled(
                          _room(n, k, c, m), (1 / r - 2 * n / w) / (2 * n / p + k * c / w)),
                      "within a product, carrying and computing overlap: the longer counts."),
        Misconception("one byte a weight",
                      lambda n, k, c, r, m, p, w: _filled(
                          (m - n) / (k * c), _most(n / 2, k, c, r, p / 2, w)),
                      "weights have 2 bytes each here."),
        Misconception("the other one binds",
                      lambda n, k, c, r, m, p, w: _other(
                          _room(n, k, c, m), _most(n, k, c, r, p, w)),
                      "the smaller of the two batches is the one that stops you.",
                      variants=(lambda *case: (lambda held, kept, _: (
                          held, kept, "memory" if held > kept else "promise"))(*_fill(*case)),)),
        Misconception("the promise as a total", _in_total,
                      "each sequence is promised so many tokens a second, not all of them "
                      "together.", variants=(_total_shared, _total_within)),
        Misconception("the speed of one shared out",
                      lambda n, k, c, r, m, p, w: _filled(
                          _room(n, k, c, m), decode(n, 2, k, 1, c, p, w) / r),
                      "a larger batch gives more tokens a second in all: one trip of the weights "
                      "serves every sequence."),
        Misconception("weights take no time",
                      lambda n, k, c, r, m, p, w: _filled(
                          _room(n, k, c, m), _bounds(n, k, c, r, p, w)[1]),
                      "the weights have to arrive within the promised time too, once in a step."),
        Misconception("the larger of two limits",
                      lambda n, k, c, r, m, p, w: _filled(
                          _room(n, k, c, m), max(_bounds(n, k, c, r, p, w))),
                      "the arithmetic and the weights both have to be in time, so the smaller of "
                      "the two batches counts."),
        Misconception("kv counted twice",
                      lambda n, k, c, r, m, p, w: _fill(n, 2 * k, c, r, m, p, w),
                      "`kv` is what a token leaves in the cache, its key and its value together."),
        Misconception("multiply-adds",
                      lambda n, k, c, r, m, p, w: _filled(
                          _room(n, k, c, m), _most(n, k, c, r, 2 * p, w)),
                      "a multiply-add is 2 FLOPs for each parameter and each token."),
        Misconception("a total to be reached", _reached,
                      "each sequence is promised so many tokens a second, not all of them "
                      "together: a larger batch makes each of them slower."),
        Misconception("one more",
                      lambda n, k, c, r, m, p, w: _filled(
                          _room(n, k, c, m) + 1, _most(n, k, c, r, p, w) + 1),
                      "a part of a sequence neither fits nor is in time: round down.",
                      variants=(lambda *case: (
                          _fill(*case)[0] + 1, _fill(*case)[1] + 1, _fill(*case)[2]),
                          _changed(lambda held, kept, room, most: (held + 1, kept)),
                          _changed(lambda held, kept, room, most: (held, kept + 1)),
                          lambda n, k, c, r, m, p, w: _filled(
                              math.ceil(_room(n, k, c, m)), _most(n, k, c, r, p, w)),
                          _changed(lambda held, kept, room, most: (
                              held, max(0, math.ceil(most)))))),
        Misconception("at least one",
                      _changed(lambda held, kept, room, most: (held, max(1, kept))),
                      "where even one sequence is too slow, no batch keeps the promise: say 0."),
        Misconception("not rounded down",
                      _changed(lambda held, kept, room, most: (room, most)),
                      "a part of a sequence neither fits nor is in time: round down.",
                      variants=(
                          _changed(lambda held, kept, room, most: (room, max(0, most))),
                          lambda n, k, c, r, m, p, w: _filled(
                              _room(n, k, c, m) + 0.5, _most(n, k, c, r, p, w) + 0.5))),
        Misconception("a batch below zero",
                      _changed(lambda held, kept, room, most: (
                          math.floor(room), math.floor(most))),
                      "where not even one sequence fits or is quick enough: say 0.",
                      variants=(
                          _changed(lambda held, kept, room, most: (math.floor(room), kept)),
                          _changed(lambda held, kept, room, most: (math.trunc(room), kept)),
                          _changed(lambda held, kept, room, most: (held, math.floor(most))))),
        Misconception("a tenth set aside twice",
                      lambda n, k, c, r, m, p, w: _filled(
                          _room(n, k, c, AIR * m), _most(n, k, c, r, p, w)),
                      "`memory` is what weights and caches may fill; the tenth of the card is out "
                      "of it already."),
        Misconception("the promise capped by the memory",
                      lambda *case: (lambda held, kept, word: (held, min(held, kept), word))(
                          *_fill(*case)),
                      "the batch by promise is the one that time allows, whether it fits or not.",
                      variants=(lambda *case: (lambda held, kept, _: (
                          held, min(held, kept), "promise"))(*_fill(*case)),)),
        Misconception("the newest token only",
                      lambda n, k, c, r, m, p, w: _fill(n, k, 1, r, m, p, w),
                      "a sequence keeps the keys and values of every token of its context.",
                      variants=(lambda n, k, c, r, m, p, w: _filled(
                          _room(n, k, 1, m), _most(n, k, c, r, p, w)),)),
    ),
)  # fmt: skip


# Exercises of lesson 05 on levers: product forms, shared KV heads, fewer bits, experts.


BATCHES = (1, 2, 3, 4, 6, 8, 12, 16, 32, 64)


def _switch(batches: Sequence[int], one_gemv: float, gemm: Sequence[float]) -> int:
    """The first batch at which a GEMM takes less time than that many GEMVs."""
    return next(b for b, t in zip(batches, gemm, strict=True) if t < b * one_gemv)


def _switch_cases(rng: random.Random) -> list[Case]:
    """A GEMM packs its matrix first, which costs 1.5 to 11 trips of it, then works per vector."""
    drawn = []
    for packing in (1.7, 2.4, 4.4, 7.0, 11.0):
        one_gemv = rng.uniform(0.002, 0.02)
        pack, work = packing * rng.uniform(0.97, 1.03), rng.uniform(0.06, 0.14)
        gemm = [round(one_gemv * (1.15 * pack + work * b), 6) for b in BATCHES]
        drawn.append({"batches": list(BATCHES), "one_gemv": round(one_gemv, 6), "gemm": gemm})
    rng.shuffle(drawn)
    return drawn


def _first(condition) -> object:
    """A wrong way to the batch: the first that fulfils ``condition(batch, seconds, gemv, all)``."""

    def answer(batches, one_gemv, gemm):
        rows = zip(batches, gemm, strict=True)
        return next((b for b, t in rows if condition(b, t, one_gemv, gemm)), batches[-1])

    return answer


def _last_gemv(batches, one_gemv, gemm):
    return batches[batches.index(_switch(batches, one_gemv, gemm)) - 1]


def _last_loss(batches, one_gemv, gemm):
    return max(b for b, t in zip(batches, gemm, strict=True) if t >= b * one_gemv)


def _for_good(batches, one_gemv, gemm):
    return batches[batches.index(_last_loss(batches, one_gemv, gemm)) + 1]


_NOT_ONE = (
    "no batch fulfils its condition: no GEMM is quicker than one GEMV. A batch of b needs b GEMVs; "
    "compare with all of them."
)

SWITCH = Exercise(
    "05-switch", "GEMM, or GEMV after GEMV?", 1,
    "Which is the smallest of these batches at which one GEMM takes less time than as many GEMVs "
    "one after the other?",
    "switch(batches, one_gemv, gemm)", _switch, cases=_switch_cases, lines=2,
    fixed=cases_of("batches one_gemv gemm", ([1, 2, 5], 0.01, [0.009, 0.03, 0.04]),
        ([2, 3, 7, 12], 0.5, [1.0, 1.5, 3.5, 5.75]),
        ([3, 10, 1000, 2000], 0.003, [0.0091, 0.0299, 1.4, 5.0]),
        ([7, 96, 100, 640], 2e-6, [13e-6, 2e-4, 1.9e-4, 1.2e-3]),
        ([6, 60, 600, 6000], 0.25, [2.0, 20.0, 200.0, 1499.0])),
    insight="Below this batch the copy of the matrix costs more than it brings. Where does that "
            "lie on your machine?",
    misconceptions=(
        Misconception("always a GEMM", lambda b, v, g: b[0],
                      "look at the times: a GEMM first copies the matrix into another order."),
        Misconception("from two on", lambda b, v, g: b[1],
                      "two GEMVs may still be faster than a GEMM that copies the matrix first."),
        Misconception("the last of the others", _last_gemv,
                      "at that batch the GEMVs still win; the question is for the first GEMM.",
                      variants=(_last_loss,)),
        Misconception("the largest batch", lambda b, v, g: b[-1],
                      "that is the last one of the list: either the largest batch at which a GEMM "
                      "wins, where the smallest is asked, or no GEMM was quicker than one GEMV, "
                      "where a batch of b needs b of them.",
                      variants=(_first(lambda b, t, v, g: t < v),)),
        Misconception("one GEMV",
                      lambda b, v, g: next((one for one, t in zip(b, g) if t < v), 0), _NOT_ONE,
                      variants=(lambda b, v, g: 0,)),
        Misconception("a tie wins", _first(lambda b, t, v, g: t <= b * v),
                      "in one case both take the same time; less time is asked."),
        Misconception("for good", _for_good,
                      "a GEMM may win at one batch and lose again at the next; the smallest at "
                      "which it wins is asked.",
                      variants=(lambda b, v, g: _last_loss(b, v, g) + 1,)),
        Misconception("the place, not the batch",
                      lambda b, v, g: b.index(_switch(b, v, g)),
                      "that is its place in the list; the batch itself is wanted."),
        Misconception("the fastest per vector",
                      lambda b, v, g: min(zip(b, g, strict=True),
                                          key=lambda row: row[1] / row[0])[0],
                      "there a vector costs least; asked is the smallest batch at which a GEMM "
                      "wins at all."),
        Misconception("twice as fast", _first(lambda b, t, v, g: t < b * v / 2),
                      "it does not have to win by a factor; the first batch at which it wins."),
    ),
    errors=(
        ("it returned None for every case", "one GEMV",
         "either it never comes to a return, or " + _NOT_ONE),
        *((raised, "one GEMV", _NOT_ONE) for raised in (
            "StopIteration", "IndexError: list index", "ValueError: .*(empty|zero-size)")),
    ),
    also=(("", lambda *case: {"batch": _switch(*case)}),),
)  # fmt: skip


def _attention(heads: int, kv_heads: int, itemsize: int, batch: int, context: int) -> float:
    return 2 * heads / kv_heads / itemsize


def _attention_cases(rng: random.Random) -> list[Case]:
    """Public models with numbers of 1 byte and of 2."""
    drawn = []
    sizes = rng.sample((1, 1, 2, 2, 2), 5)
    for name, itemsize in zip(rng.sample(sorted(SHAPES), 5), sizes, strict=True):
        _, heads, kv_heads, _ = SHAPES[name]
        drawn.append({
            "heads": heads, "kv_heads": kv_heads, "itemsize": itemsize,
            "batch": rng.choice((2, 8, 64)), "context": rng.choice((512, 4096, 100_000)),
        })  # fmt: skip
    return drawn


ATTENTION = Exercise(
    "05-attention", "The operation that batching does not move", 2,
    "What intensity, in FLOP/byte, has attention in a decode step? Count the reading of K and V "
    "only; the query and the result are small beside them.",
    "intensity(heads, kv_heads, itemsize, batch, context)", _attention, cases=_attention_cases,
    tolerance=1e-6, derives=("attention", "model", "Model"),
    fixed=cases_of("heads kv_heads itemsize batch context", (71, 1, 1, 1, 1), (12, 12, 8, 1, 300),
        (96, 6, 4, 3, 1), (1, 1, 2, 5000, 1_000_000), (40, 8, 8, 100, 7), (128, 128, 1, 12, 10)),
    insight="Neither the batch nor the context moves it: only the query heads that share a key, "
            "and the bytes of a number.",
    misconceptions=(
        Misconception("batch helps", lambda h, g, s, b, c: b * _attention(h, g, s, b, c),
                      "each sequence has keys and values of its own: more of them bring their own "
                      "bytes along."),
        Misconception("context helps", lambda h, g, s, b, c: c * _attention(h, g, s, b, c),
                      "every token of the context brings FLOPs, and bytes for them."),
        Misconception("one head for one", lambda h, g, s, b, c: 2 / s,
                      "several query heads may use the same key: it is read once for all of them."),
        Misconception("the group upside down", lambda h, g, s, b, c: 2 * g / h / s,
                      "fewer KV heads are fewer bytes for the same FLOPs."),
        Misconception("half the FLOPs", lambda h, g, s, b, c: h / g / s,
                      "either one of the two products is missing, the query with K and the scores "
                      "with V, or a multiply-add was counted as 1 FLOP."),
        Misconception("whole numbers", lambda h, g, s, b, c: 2 * h // (g * s),
                      "`//` and int() leave out what follows the point; an intensity need not be "
                      "whole.", variants=(lambda h, g, s, b, c: -(-2 * h // (g * s)),)),
        Misconception("2 bytes always", lambda h, g, s, b, c: h / g,
                      "that is right where a number has 2 bytes; itemsize says how many."),
        Misconception("K alone is read", lambda h, g, s, b, c: 4 * h / g / s,
                      "both products were counted, but the bytes of only one: V is read too."),
        Misconception("upside down", lambda *case: 1 / _attention(*case),
                      "that is bytes per FLOP; intensity is FLOPs per byte."),
        Misconception("per number", lambda h, g, s, b, c: 2 * h / g,
                      "that is FLOPs for each number; how many bytes has one?"),
        Misconception("all heads", lambda h, g, s, b, c: 2 * h / s,
                      "a key serves the query heads of its group, not all of them."),
    ),
)  # fmt: skip


def _gain(
    parameters: int, bits: int, group: int, scale_bytes: int, kv: int, batch: int, context: int
) -> float:
    """Bytes of a step with 2-byte weights over its bytes with ``bits``; the cache stays."""
    return _stepped(parameters, bits / 8 + scale_bytes / group, kv * batch * context)


def _stepped(parameters: float, itemsize: float, cache: float) -> float:
    return (2 * parameters + cache) / (parameters * itemsize + cache)


def _gain_cases(rng: random.Random) -> list[Case]:
    """Batch 1 with hardly any cache; then so much cache that fewer bits bring little."""
    drawn = []
    models = ((6.607e9, 524288), (68.71e9, 327680), (7.505e9, 131072), (12.85e9, 819200))
    places = ((4, 32, 4, 0.004), (8, 128, 2, 0.3), (4, 128, 4, 1.0), (3, 64, 2, 3.0))
    for (bits, group, scale, share), (n, kv) in zip(places, rng.sample(models, 4), strict=True):
        batch = 1 if share < 0.01 else rng.choice((4, 8, 16))
        context = round(share * rng.uniform(0.9, 1.1) * 2 * n / kv / batch)
        drawn.append({"parameters": round(n), "bits": bits, "group": group, "scale_bytes": scale,
                      "kv": kv, "batch": batch, "context": context})  # fmt: skip
    return drawn


QUANTISED = Exercise(
    "05-fewer-bits", "What fewer bits can bring", 2,
    "Weights of 2 bytes become weights of `bits` bits, and every `group` of them gets "
    "`scale_bytes` for its scale, and its offset if it has one. The KV cache stays as it is. How "
    "many times faster can a step get, where memory limits it?",
    "gain(parameters, bits, group, scale_bytes, kv, batch, context)", _gain, cases=_gain_cases,
    lines=3, tolerance=1e-6, derives=("model", "Model", "dtype"),
    fixed=cases_of("parameters bits group scale_bytes kv batch context",
        (124_000_000, 8, 1, 1, 36_864, 1, 1), (27_000_000_000, 2, 10, 4, 100, 300, 700),
        (405_000_000_000, 5, 1000, 8, 516_096, 1, 1_000_000), (1_000_000, 1, 100, 2, 8192, 12, 1),
        (700_000_000, 16, 50, 3, 524_288, 3, 300), (600_000, 3, 600_000, 2, 20, 1, 7)),
    insight="Scales and caches keep it below 16 ÷ bits. Where computing is the limit, fewer "
            "bytes bring nothing.",
    misconceptions=(
        Misconception("bits alone", lambda n, b, g, z, k, m, c: 16 / b,
                      "scales travel too, and so does the KV cache."),
        Misconception("no cache", lambda n, b, g, z, k, m, c: _stepped(n, b / 8 + z / g, 0),
                      "the KV cache is read in every step too, and it has not become smaller."),
        Misconception("no scales", lambda n, b, g, z, k, m, c: _stepped(n, b / 8, k * m * c),
                      "for every group of weights its scale is read as well."),
        Misconception("upside down", lambda *case: 1 / _gain(*case),
                      "that is the share of the time that is left; how many times faster is it?"),
        Misconception("as many caches as weights",
                      lambda n, b, g, z, k, m, c: _stepped(n, b / 8 + z / g, k * c),
                      "you count one cache for each trip of the weights: every sequence of the "
                      "batch reads a cache of its own, and one trip serves them all."),
        Misconception("one cache afterwards",
                      lambda n, b, g, z, k, m, c: (2 * n + k * m * c) / (
                          n * (b / 8 + z / g) + k * c),
                      "every sequence of the batch reads a cache of its own, before and after."),
        Misconception("no cache afterwards",
                      lambda n, b, g, z, k, m, c: (2 * n + k * m * c) / (n * (b / 8 + z / g)),
                      "the KV cache is read after the change as well."),
        Misconception("one token of context",
                      lambda n, b, g, z, k, m, c: _stepped(n, b / 8 + z / g, k * m),
                      "each sequence reads the keys and values of its whole context."),
        Misconception("kv counted twice",
                      lambda n, b, g, z, k, m, c: _stepped(n, b / 8 + z / g, 2 * k * m * c),
                      "`kv` is what a token leaves in the cache, its key and its value together."),
        Misconception("scales counted twice",
                      lambda n, b, g, z, k, m, c: _stepped(n, b / 8 + 2 * z / g, k * m * c),
                      "`scale_bytes` holds the scale and its offset already."),
        Misconception("scales before as well",
                      lambda n, b, g, z, k, m, c: (n * (2 + z / g) + k * m * c) / (
                          n * (b / 8 + z / g) + k * m * c),
                      "weights of 2 bytes need no scales."),
        Misconception("how much faster", lambda *case: _gain(*case) - 1,
                      "how many times as fast is asked: a step that stays as it is gives 1."),
        Misconception("the cache shrinks too",
                      lambda n, b, g, z, k, m, c: (2 * n + k * m * c) / (
                          n * (b / 8 + z / g) + k * m * c * b / 16),
                      "only the weights have fewer bits; the KV cache stays as it is."),
        Misconception("scales in bits",
                      lambda n, b, g, z, k, m, c: _stepped(n, (b + z / g) / 8, k * m * c),
                      "a scale has `scale_bytes` bytes; only the weights are given in bits."),
        Misconception("a scale for every weight",
                      lambda n, b, g, z, k, m, c: _stepped(n, b / 8 + z, k * m * c),
                      "a whole group of weights shares one scale."),
        Misconception("bits for bytes",
                      lambda n, b, g, z, k, m, c: _stepped(n, b + z / g, k * m * c),
                      "8 bits are one byte."),
        Misconception("one byte a scale",
                      lambda n, bits, g, z, kv, m, c: _gain(n, bits, g, 1, kv, m, c),
                      "a scale has scale_bytes bytes."),
        Misconception("one byte a weight before",
                      lambda n, bits, g, z, kv, m, c: (n + kv * m * c)
                      / (n * (bits / 8 + z / g) + kv * m * c),
                      "before, each weight has 2 bytes."),
    ),
)  # fmt: skip


def _expert_cases(rng: random.Random) -> list[Case]:
    """Mixtral's 8 experts of which 2 are used, and larger pools."""
    pools = ((8, 2), *rng.sample(((16, 4), (64, 6), (256, 8), (128, 8)), 3))
    return [{"experts": e, "active": k, "batch": rng.randrange(2, 41)} for e, k in pools]


EXPERTS = Exercise(
    "05-experts", "Experts for a batch", 2,
    "Each token of a batch uses `active` different ones of the `experts`, any of them with the "
    "same chance. How many experts does a step have to read, on average?",
    "experts_read(experts, active, batch)", distinct, cases=_expert_cases, tolerance=1e-6,
    fixed=cases_of("experts active batch", (1, 1, 1), (12, 12, 7), (12, 1, 150), (160, 6, 1),
        (384, 8, 300), (60, 4, 15), (2560, 100, 1000), (7, 3, 19)),
    insight="Already a small batch reads more experts than one token does, and each of them has "
            "weights to be carried.",
    misconceptions=(
        Misconception("those of one token", lambda e, k, b: k,
                      "the other tokens of the batch choose too, and not the same experts."),
        Misconception("all of them", lambda e, k, b: e,
                      "some experts may be chosen by no token; they stay where they are."),
        Misconception("never the same", lambda e, k, b: min(e, k * b),
                      "two tokens may choose the same expert, which is then read once.",
                      variants=(lambda e, k, b: k * b,)),
        Misconception("with repetition", lambda e, k, b: e * (1 - (1 - 1 / e) ** (k * b)),
                      "the experts of one token are different ones: it misses a given expert with "
                      "the chance 1 − active/experts."),
        Misconception("one expert a token", lambda e, k, b: e * (1 - (1 - 1 / e) ** b),
                      "a token has `active` experts, not one."),
        Misconception("those that are spared", lambda e, k, b: e * (1 - k / e) ** b,
                      "so many are chosen by no token; the others are read."),
        Misconception("a share", lambda e, k, b: distinct(e, k, b) / e,
                      "that is the share of all experts; how many are they?"),
        Misconception("used for spared", lambda e, k, b: e * (1 - (k / e) ** b),
                      "k / e is the chance that a token uses an expert; what is the chance that no "
                      "token of the batch does?"),
    ),
)  # fmt: skip


# Exercises of lesson 05 that put claims on trial: 64×, always memory, FlashAttention's stores.
#
# The first is that of a public web lesson: 50 tokens/s alone and 800 in a batch of 64, on an RTX
# 4090. The second is nobody's own. The third begins with LLM-Viewer (hahnyuan/LLM-Viewer at
# 472f71f, ``model_analyzer.py``, prefill with FlashAttention), whose result has seqlen × seqlen
# numbers, stored twice, while keys and values are read again for every block of queries.


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
    fixed=cases_of("parameters kv batch context peak bandwidth",
        (124_000_000, 36_864, 1, 300, 9e10, 1.9e10), (700_000_001, 100, 2, 131_072, 1.1e11, 1.9e10),
        (27_100_000_000, 524_288, 12, 1, 2e12, 1e11),
        (405_000_000_000, 516_096, 5000, 10, 2.25e15, 8e12),
        (1_000_000, 8192, 300, 700, 6e10, 1.3e10), (1_000_000, 8192, 50, 700, 1.2e12, 5e10)),
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
    fixed=cases_of("parameters kv context peak bandwidth", (124_000_000, 36_864, 1, 9e11, 1.9e10),
        (27_100_000_000, 100, 131_072, 4.5e15, 8e12), (1_000_000, 8192, 10, 1.2e12, 5e10),
        (1_000_000, 8192, 11, 1.2e12, 5e10), (405_000_000_000, 516_096, 1_000_000, 2e12, 1e11)),
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
    return [
        {"tokens": rng.randrange(500, 20_000), "head_dim": dim, "itemsize": rng.choice((2, 4))}
        for dim in (64, 80, 128, 256)
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
    fixed=cases_of("tokens head_dim itemsize", (1, 80, 1), (96, 96, 2), (7, 192, 4), (1000, 1, 8),
        (131_072, 576, 1), (12, 100, 2)),
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


EXERCISES = (
    SWITCH, DECODE, CLAIM_BATCH, FILL, GAUGES, CLAIM_ALWAYS, ATTENTION, QUANTISED, EXPERTS,
    CLAIM_FLASH,
)  # fmt: skip

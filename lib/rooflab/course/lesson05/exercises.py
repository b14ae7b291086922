"""Exercises of lesson 05: what a KV cache buys, decode() for mine.py, and how to fill a machine.

Weights count without the table of embeddings: a token reads one row of it.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rooflab.course.drawing import peak_and_bandwidth
from rooflab.exercises.exercise import ITEMSIZES, Case, any_length, at_least, cases_of
from rooflab.exercises.table import slip, table
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
}
INT4_GROUP_32 = 4 / 8 + 4 / 32  # 4 bits, and a 2-byte scale and zero for 32 weights


@dataclass(frozen=True)
class PublishedRun:
    """One published row. ``kv``: bytes a token in the cache; ``compute``: type of the products."""

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


def _gpt_fast(machine: str, model: str, itemsize: float, tokens_per_s: float) -> PublishedRun:
    read, kv = _read(model), kv_bytes(*SHAPES[model], 2)
    return PublishedRun(machine, model, read, itemsize, kv, 1, 105, "bf16", tokens_per_s)


def _tensorrt(
    machine: str, itemsize: int, batch: int, prompt: int, new: int, tokens_per_s: float
) -> PublishedRun:
    """Llama 7B; where the weights have one byte (fp8), the KV cache has one too."""
    model, context = "llama-2-7b", prompt + new // 2
    kv, compute = kv_bytes(*SHAPES[model], itemsize), "fp8" if itemsize == 1 else "fp16"
    return PublishedRun(
        machine, model, LLAMA_2_7B, itemsize, kv, batch, context, compute, tokens_per_s
    )


RUNS = (
    _gpt_fast("a100-sxm-80", "llama-2-7b", 2, 104.9),
    _gpt_fast("a100-sxm-80", "llama-2-7b", 1, 155.58),
    _gpt_fast("a100-sxm-80", "llama-2-7b", INT4_GROUP_32, 196.80),
    _gpt_fast("a100-sxm-80", "llama-2-70b", 1, 19.13),
    _gpt_fast("a100-sxm-80", "llama-2-70b", INT4_GROUP_32, 25.25),
    _gpt_fast("a100-sxm-80", "llama-3-8b", 2, 93.89),
    _gpt_fast("a100-sxm-80", "llama-3-8b", 1, 137.64),
    _gpt_fast("mi250x-gcd", "llama-2-7b", 2, 76.33),
    _gpt_fast("mi250x-gcd", "llama-2-7b", 1, 101.86),
    _tensorrt("a100-sxm-80", 2, 60, 128, 2048, 1928),
    _tensorrt("a100-sxm-80", 2, 384, 128, 128, 5586),
    _tensorrt("l40s", 1, 64, 128, 2048, 1622),
    _tensorrt("h100-sxm", 1, 112, 128, 2048, 6818),
    _tensorrt("h100-sxm", 1, 48, 2048, 2048, 2740),
    _tensorrt("h100-sxm", 1, 768, 128, 128, 19694),
)

# Slips of several exercises.
KV_TWICE = slip(
    "kv counted twice",
    "`kv` is what a token leaves in the cache, its key and its value together.",
    kv=lambda kv: 2 * kv,
)
MULTIPLY_ADDS = slip(
    "multiply-adds",
    "a multiply-add is 2 FLOPs for each parameter and each token.",
    peak=lambda peak: 2 * peak,
)


def _model(layers: int, width: int, vocabulary: int) -> tuple[int, int, int]:
    """Weights of the blocks and of the output matrix, and bytes that a token leaves in the cache:
    two numbers of 2 bytes for each layer and each place of a row."""
    return 12 * layers * width**2, vocabulary * width, 4 * layers * width


# GPT-2, GPT-2 medium and GPT-2 XL.
_GPT_2 = tuple(_model(n, d, 50_257) for n, d in ((12, 768), (24, 1024), (48, 1600)))
_SERVERS = (("a100-sxm-80", "bf16"), ("h100-sxm", "bf16"), ("mi300x", "fp16"), ("l4", "fp16"))


def _gauge_cases(rng: random.Random) -> list[Case]:
    """GPT-2 on an A100 at its longest context, and others; one context is short."""
    drawn = [(*_GPT_2[0], 1024, *peak_and_bandwidth("a100-sxm-80", "bf16"))]
    for context in (rng.randrange(8, 40), rng.randrange(500, 700), rng.randrange(800, 1000)):
        drawn.append((*rng.choice(_GPT_2), context, *peak_and_bandwidth(*rng.choice(_SERVERS))))
    rng.shuffle(drawn)
    return [*cases_of("blocks head kv context peak bandwidth", *drawn)]


def _by_name(*case: float) -> object:
    """The answer as two named pairs."""
    answer: Any = GAUGES.reference(*case)
    return {"with": [*answer[:2]], "without": [*answer[2:]]}


GAUGES = table(
    "05-gauges", "Which gauge?", 3,
    "A token with a KV cache, and one for which all positions are computed once more: tokens a "
    "second and FLOP/s of both, in numbers of 2 bytes.",
    "gauges(blocks, head, kv, context, peak, bandwidth)", cases=_gauge_cases,
    tolerance=1e-3, lines=6, derives=("Roofline", "predict", "model", "Model"),
    also=(("", _by_name),), domain={"context": at_least(1)},
    example=(3e8, 9e8, 4e7, 10, 1e12, 5.6e11),
    fixed=cases_of("blocks head kv context peak bandwidth",
        (3_145_728, 50_000, 40_960, 1, 1.1e11, 1.9e10), (786_432, 49_920, 8192, 300, 6e9, 1.3e10),
        (301_000, 100, 60, 200, 2.25e15, 8e12), (1000, 2_000_000, 20, 7, 2e12, 1e12),
        (60_100_000_000, 1_050_673_152, 1_310_720, 131_072, 2.25e15, 8e12)),
    insight="The program with more FLOP/s may be the slower one. The gauge that counts shows "
            "tokens a second.",
    answer={
        # With a cache each 2-byte number that is read gives 2 FLOPs: as many FLOPs as bytes.
        "_kept": lambda blocks, head, kv, context: 2 * (blocks + head) + kv * context,
        "_quick": lambda _kept, peak, bandwidth: max(_kept / peak, _kept / bandwidth),
        "_weights": lambda blocks, head: 2 * (blocks + head),
        "_looks": lambda context: context * (context + 1) // 2,
        "_flops": lambda blocks, head, kv, context, _looks:
            2 * (blocks * context + head) + kv * _looks,
        "_slow": lambda _flops, _weights, peak, bandwidth:
            max(_flops / peak, _weights / bandwidth),
        "tokens/s with a cache": lambda _quick: 1 / _quick,
        "FLOP/s with a cache": lambda _kept, _quick: _kept / _quick,
        "tokens/s without": lambda _slow: 1 / _slow,
        "FLOP/s without": lambda _flops, _slow: _flops / _slow,
    },
    slips=(
        slip("the cache is free",
             "what is kept has to be read again for every token: kv bytes for each token of the "
             "context.",
             _kept=lambda blocks, head: 2 * (blocks + head)),
        slip("always computing",
             "a few positions are computed while the weights are still on their way; the longer "
             "of the two times counts.",
             _slow=lambda _flops, peak: _flops / peak),
        slip("the whole square",
             "position i looks back over i positions, so count them from 1 to context.",
             _looks=lambda context: context * context),
        slip("a sum a little off",
             "the first token uses the numbers of 1 token, the last one those of `context`: what "
             "do 1, 2, …, context add up to?",
             _looks=[lambda context: context * context / 2,
                     lambda context: context * (context - 1) / 2,
                     lambda context: (context - 1) * (context - 2) / 2]),
        slip("kv counted twice",
             "`kv` is in bytes, and a number has 2 of them and gives 2 FLOPs: as many FLOPs as "
             "bytes.",
             kv=lambda kv: 2 * kv),
        slip("the cache fetched without one",
             "nothing is kept there, so nothing but weights has to be fetched.",
             _weights=lambda _kept: _kept),
        slip("weights for each position",
             "all positions go through together, so the weights are fetched once.",
             _slow=lambda _flops, peak, bandwidth: max(_flops / peak, _flops / bandwidth)),
        slip("the output for every position",
             "only the last position says what comes next; the others skip the output matrix.",
             _flops=lambda blocks, head, kv, context, _looks:
                 2 * (blocks + head) * context + kv * _looks),
        slip("sum for max",
             "carrying and computing overlap: the longer of the two times counts, not their sum.",
             _quick=lambda _kept, peak, bandwidth: _kept / peak + _kept / bandwidth,
             _slow=lambda _flops, _weights, peak, bandwidth: _flops / peak + _weights / bandwidth),
    ),
)


def strict(
    parameters: float, itemsize: float, kv: int, batch: int, context: int,
    peak: float, bandwidth: float,
) -> float:
    """Tokens a second that nobody can beat: all reading and all arithmetic overlap.

    ``itemsize``: bytes a weight, scales included; ``kv``: bytes a token in the cache.
    """
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
    rows = [
        (r.parameters, r.itemsize, r.kv, r.batch, r.context,
         *peak_and_bandwidth(r.machine, r.compute))
        for r in chosen
    ]
    return [*cases_of("parameters itemsize kv batch context peak bandwidth", *rows)]


DECODE = table(
    "05-decode", "Tokens a second", 3,
    "How many tokens a second does the whole batch get, if attention, which does nothing but read "
    "the KV cache, follows the products and does not overlap with them?",
    "decode(parameters, itemsize, kv, batch, context, peak, bandwidth)",
    cases=_decode_cases, mine="decode", lines=3, tolerance=1e-6, also=((STRICT, strict),),
    domain={"batch": at_least(1), "context": at_least(1)},
    example=(1e9, 2, 100_000, 5, 1000, 1e14, 1e12),
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
    answer={
        "_weights": lambda parameters, itemsize, bandwidth: parameters * itemsize / bandwidth,
        "_compute": lambda parameters, batch, peak: 2 * parameters * batch / peak,
        "_products": lambda _weights, _compute: max(_weights, _compute),
        "_caches": lambda kv, batch, context, bandwidth: kv * batch * context / bandwidth,
        "answer": lambda batch, _products, _caches: batch / (_products + _caches),
    },
    slips=(
        slip("GiB",
             "a bandwidth counts GB, 1e9 bytes, and so do the weights here; nothing is in GiB.",
             bandwidth=[lambda bandwidth: bandwidth * 1e9 / 2**30,
                        lambda bandwidth: bandwidth * 2**30 / 1e9]),
        slip("2 bytes always", "not every weight has 2 bytes; itemsize says how many.", itemsize=2),
        slip("one byte a weight", "a weight has `itemsize` bytes, which may be 2, or less than 1.",
             itemsize=1),
        KV_TWICE,
        slip("no cache",
             "each sequence reads its own KV cache, all of its context, for each token.",
             kv=0, answer=lambda batch, _weights: batch / _weights),
        slip("one cache for all",
             "the weights are shared, the KV caches are not: each sequence reads its own.",
             _caches=lambda kv, context, bandwidth: kv * context / bandwidth),
        slip("the newest token only",
             "a token looks back at all of its context, not only at itself.", context=1),
        slip("no overlap", "within a product, carrying and computing overlap: the longer counts.",
             _products=lambda _weights, _compute: _weights + _compute),
        slip("always memory",
             "the arithmetic grows with the batch; at some batch it takes longer than the weights.",
             _products=lambda _weights: _weights),
        MULTIPLY_ADDS,
    ),
)


def _room(parameters: int, kv: int, context: int, memory: float) -> float:
    """Sequences that fit beside the weights."""
    return (memory - 2 * parameters) / (kv * context)


def _carried(parameters: int, kv: int, context: int, promised: float, bandwidth: float) -> float:
    """Sequences whose caches can be read in time, after the weights."""
    return (1 / promised - 2 * parameters / bandwidth) / (kv * context / bandwidth)


def _whole(batch: float) -> int:
    return max(0, math.floor(batch))


def _binds(_held: int, _kept: int) -> str:
    return "memory" if _held < _kept else "promise"


def _fill_strict(
    n: int, k: int, c: int, r: float, m: float, p: float, w: float
) -> tuple[int, int, str]:
    """As ``strict``: the caches are read while the arithmetic is done."""
    held, kept = _whole(_room(n, k, c, m)), _whole(min(_carried(n, k, c, r, w), p / (2 * n * r)))
    return held, kept, _binds(held, kept)


# Llama-3-8B (8.03e9 parameters), 2 bytes: machine, type, context, tokens/s promised to each
# sequence. Memory binds in the first two, the promise in the others; in the fourth it is the
# arithmetic that breaks it, in the last no batch keeps it.
_PLACES = (
    ("h100-sxm", "bf16", 2048, 30), ("a100-sxm-80", "bf16", 6000, 20),
    ("h100-sxm", "bf16", 2048, 60), ("h100-sxm", "bf16", 300, 45),
    ("a100-sxm-80", "bf16", 1500, 160),
)
AIR = 0.9  # of the memory is for weights and caches; a server keeps a tenth for everything else


def _fill_cases(rng: random.Random) -> list[Case]:
    """Each place of ``_PLACES`` with a context near its own."""
    rows = [
        (8_030_261_248, 131_072, round(context * rng.uniform(0.95, 1.05)), promised,
         AIR * machine(name).capacities["dram"], *peak_and_bandwidth(name, kind))
        for name, kind, context, promised in _PLACES
    ]
    rng.shuffle(rows)
    return [*cases_of("parameters kv context promised memory peak bandwidth", *rows)]


FILL = table(
    "05-fill", "Fill the machine", 3,
    "Each sequence is promised so many tokens a second. Which batch fits the memory, which one "
    "keeps the promise, and which of the two binds?",
    "fill(parameters, kv, context, promised, memory, peak, bandwidth)", cases=_fill_cases,
    lines=5, also=((STRICT, _fill_strict),), derives=("Roofline", "predict", "model", "Model"),
    domain={"context": at_least(1)}, example=(1e9, 100_000, 1000, 300, 2.75e9, 1e14, 1e12),
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
    answer={
        "_room": _room,
        "_carried": _carried,
        "_computed": lambda parameters, kv, context, promised, peak, bandwidth:
            1 / promised / (2 * parameters / peak + kv * context / bandwidth),
        "_most": lambda _carried, _computed: min(_carried, _computed),
        "_held": lambda _room: _whole(_room),
        "_kept": lambda _most: _whole(_most),
        "batch by memory": lambda _held: _held,
        "batch by promise": lambda _kept: _kept,
        "word for what binds": _binds,
    },
    slips=(
        slip("weights forgotten in the memory",
             "the weights lie in the same memory, and they come first.",
             _room=lambda kv, context, memory: memory / (kv * context)),
        slip("arithmetic takes no time",
             "a large batch reaches the flat roof before it breaks the promise.",
             _computed=math.inf),
        KV_TWICE, MULTIPLY_ADDS,
        slip("the newest token only",
             "a sequence keeps the keys and values of every token of its context.",
             context=1, _room=lambda parameters, kv, memory: (memory - 2 * parameters) / kv),
        slip("the other one binds", "the smaller of the two batches is the one that stops you.",
             word_for_what_binds=[lambda _held, _kept: "promise" if _held < _kept else "memory",
                                  lambda _held, _kept: "memory" if _held > _kept else "promise"]),
        slip("one more", "a part of a sequence neither fits nor is in time: round down.",
             batch_by_memory=[lambda _held: _held + 1, lambda _room: _whole(_room + 1),
                              lambda _room: max(0, math.ceil(_room))],
             batch_by_promise=[lambda _kept: _kept + 1, lambda _most: _whole(_most + 1),
                               lambda _most: max(0, math.ceil(_most))]),
        slip("not rounded down", "a part of a sequence neither fits nor is in time: round down.",
             batch_by_memory=[lambda _room: _room, lambda _room: _whole(_room + 0.5)],
             batch_by_promise=[lambda _most: _most, lambda _most: max(0, _most),
                               lambda _most: _whole(_most + 0.5)]),
        slip("a batch below zero", "where not even one sequence fits or is quick enough: say 0.",
             batch_by_memory=[lambda _room: math.floor(_room), lambda _room: math.trunc(_room)],
             batch_by_promise=lambda _most: math.floor(_most)),
        slip("the promise capped by the memory",
             "the batch by promise is the one that time allows, whether it fits or not.",
             batch_by_promise=lambda _held, _kept: min(_held, _kept)),
    ),
)


# Exercises of lesson 05 on levers: product forms, shared KV heads, fewer bits, experts.


BATCHES = (1, 2, 3, 4, 6, 8, 12, 16, 32, 64)


def _switch(batches: Sequence[int], one_gemv: float, gemm: Sequence[float]) -> int:
    """The first batch at which a GEMM takes less time than that many GEMVs."""
    return next(b for b, t in zip(batches, gemm, strict=True) if t < b * one_gemv)


def _switch_cases(rng: random.Random) -> list[Case]:
    """A GEMM packs its matrix first, which costs 1.5 to 11 trips of it, then works per vector."""
    drawn: list[Case] = []
    for packing in (1.7, 2.4, 4.4, 7.0, 11.0):
        one_gemv = rng.uniform(0.002, 0.02)
        pack, work = packing * rng.uniform(0.97, 1.03), rng.uniform(0.06, 0.14)
        gemm = [round(one_gemv * (1.15 * pack + work * b), 6) for b in BATCHES]
        drawn.append({"batches": list(BATCHES), "one_gemv": round(one_gemv, 6), "gemm": gemm})
    rng.shuffle(drawn)
    return drawn


def _last_loss(batches: Sequence[int], one_gemv: float, gemm: Sequence[float]) -> int:
    return max(b for b, t in zip(batches, gemm, strict=True) if t >= b * one_gemv)


_NOT_ONE = (
    "no batch fulfils its condition: no GEMM is quicker than one GEMV. A batch of b needs b GEMVs; "
    "compare with all of them."
)

SWITCH = table(
    "05-switch", "GEMM, or GEMV after GEMV?", 1,
    "Which is the smallest of these batches at which one GEMM takes less time than as many GEMVs "
    "one after the other?",
    "switch(batches, one_gemv, gemm)", _switch, cases=_switch_cases, lines=2,
    domain={"batches": any_length(2), "gemm": any_length(2)},
    example=([2, 4, 8, 16], 0.003, [0.009, 0.010, 0.012, 0.016]),
    fixed=cases_of("batches one_gemv gemm", ([1, 2, 5], 0.01, [0.009, 0.03, 0.04]),
        ([2, 3, 7, 12], 0.5, [1.0, 1.5, 3.5, 5.75]),
        ([3, 10, 1000, 2000], 0.003, [0.0091, 0.0299, 1.4, 5.0]),
        ([7, 96, 100, 640], 2e-6, [13e-6, 2e-4, 1.9e-4, 1.2e-3]),
        ([6, 60, 600, 6000], 0.25, [2.0, 20.0, 200.0, 1499.0]),
        ([1, 4], 0.02, [0.03, 0.05])),
    insight="Below this batch the copy of the matrix costs more than it brings. Where does that "
            "lie on your machine?",
    slips=(
        slip("always a GEMM",
             "look at the times: a GEMM first copies the matrix into another order.",
             answer=lambda batches: batches[0]),
        slip("from two on",
             "two GEMVs may still be faster than a GEMM that copies the matrix first.",
             answer=lambda batches: batches[1]),
        slip("the last of the others",
             "at that batch the GEMVs still win; the question is for the first GEMM.",
             answer=[lambda batches, one_gemv, gemm:
                         batches[batches.index(_switch(batches, one_gemv, gemm)) - 1],
                     _last_loss]),
        slip("the largest batch",
             "that is the last one of the list: either the largest batch at which a GEMM wins, "
             "where the smallest is asked, or no GEMM was quicker than one GEMV, where a batch of "
             "b needs b of them.",
             answer=[lambda batches: batches[-1],
                     lambda batches, one_gemv, gemm: next(
                         (b for b, t in zip(batches, gemm) if t < one_gemv), batches[-1])]),
        slip("one GEMV", _NOT_ONE,
             answer=[lambda batches, one_gemv, gemm: next(
                         (b for b, t in zip(batches, gemm) if t < one_gemv), 0),
                     0]),
        slip("a tie wins", "in one case both take the same time; less time is asked.",
             answer=lambda batches, one_gemv, gemm: next(
                 b for b, t in zip(batches, gemm) if t <= b * one_gemv)),
        slip("for good",
             "a GEMM may win at one batch and lose again at the next; the smallest at which it "
             "wins is asked.",
             answer=[lambda batches, one_gemv, gemm:
                         batches[batches.index(_last_loss(batches, one_gemv, gemm)) + 1],
                     lambda batches, one_gemv, gemm: _last_loss(batches, one_gemv, gemm) + 1]),
    ),
    errors=(
        ("it returned None for every case", "one GEMV",
         "either it never comes to a return, or " + _NOT_ONE),
        *((raised, "one GEMV", _NOT_ONE) for raised in (
            "StopIteration", "IndexError: list index", "ValueError: .*(empty|zero-size)")),
    ),
    also=(("", lambda *case: {"batch": _switch(*case)}),),
)


def _attention_cases(rng: random.Random) -> list[Case]:
    """Public models with numbers of 1 byte and of 2."""
    sizes = rng.sample((1, 1, 2, 2, 2), 5)
    rows = [
        (*SHAPES[name][1:3], itemsize, rng.choice((2, 8, 64)), rng.choice((512, 4096, 100_000)))
        for name, itemsize in zip(rng.sample(sorted(SHAPES), 5), sizes, strict=True)
    ]
    return [*cases_of("heads kv_heads itemsize batch context", *rows)]


ATTENTION = table(
    "05-attention", "The operation that batching does not move", 2,
    "What intensity, in FLOP/byte, has attention in a decode step? Count the reading of K and V "
    "only; the query and the result are small beside them.",
    "intensity(heads, kv_heads, itemsize, batch, context)", cases=_attention_cases,
    tolerance=1e-6, derives=("attention", "model", "Model"), example=(12, 3, 1, 5, 100),
    domain={"heads": at_least(1), "kv_heads": at_least(1), "itemsize": ITEMSIZES,
            "batch": at_least(1), "context": at_least(1)},
    fixed=cases_of("heads kv_heads itemsize batch context", (71, 1, 1, 1, 1), (12, 12, 8, 1, 300),
        (96, 6, 4, 3, 1), (1, 1, 2, 5000, 1_000_000), (40, 8, 8, 100, 7), (128, 128, 1, 12, 10)),
    insight="Neither the batch nor the context moves it: only the query heads that share a key, "
            "and the bytes of a number.",
    answer=lambda heads, kv_heads, itemsize: 2 * heads / kv_heads / itemsize,
    slips=(
        slip("batch helps",
             "each sequence has keys and values of its own: more of them bring their own bytes "
             "along.",
             answer=lambda heads, kv_heads, itemsize, batch:
                 batch * 2 * heads / kv_heads / itemsize),
        slip("context helps", "every token of the context brings FLOPs, and bytes for them.",
             answer=lambda heads, kv_heads, itemsize, context:
                 context * 2 * heads / kv_heads / itemsize),
        slip("one head for one",
             "several query heads may use the same key: it is read once for all of them.",
             answer=lambda itemsize: 2 / itemsize),
        slip("the group upside down", "fewer KV heads are fewer bytes for the same FLOPs.",
             answer=lambda heads, kv_heads, itemsize: 2 * kv_heads / heads / itemsize),
        slip("half the FLOPs",
             "either one of the two products is missing, the query with K and the scores with V, "
             "or a multiply-add was counted as 1 FLOP.",
             answer=lambda heads, kv_heads, itemsize: heads / kv_heads / itemsize),
        slip("whole numbers",
             "`//` and int() leave out what follows the point; an intensity need not be whole.",
             answer=[lambda heads, kv_heads, itemsize: 2 * heads // (kv_heads * itemsize),
                     lambda heads, kv_heads, itemsize: -(-2 * heads // (kv_heads * itemsize))]),
        slip("2 bytes always",
             "that is right where a number has 2 bytes; itemsize says how many.", itemsize=2),
        slip("K alone is read",
             "both products were counted, but the bytes of only one: V is read too.",
             answer=lambda heads, kv_heads, itemsize: 4 * heads / kv_heads / itemsize),
        slip("upside down", answer=lambda heads, kv_heads, itemsize:
             kv_heads * itemsize / heads / 2),
    ),
)


def _gain_cases(rng: random.Random) -> list[Case]:
    """Batch 1 with hardly any cache; then so much cache that fewer bits bring little."""
    rows = []
    models = ((6.607e9, 524288), (68.71e9, 327680), (7.505e9, 131072), (12.85e9, 819200))
    places = ((4, 32, 4, 0.004), (8, 128, 2, 0.3), (4, 128, 4, 1.0), (3, 64, 2, 3.0))
    for (bits, group, scale, share), (n, kv) in zip(places, rng.sample(models, 4), strict=True):
        batch = 1 if share < 0.01 else rng.choice((4, 8, 16))
        context = round(share * rng.uniform(0.9, 1.1) * 2 * n / kv / batch)
        rows.append((round(n), bits, group, scale, kv, batch, context))
    return [*cases_of("parameters bits group scale_bytes kv batch context", *rows)]


QUANTISED = table(
    "05-fewer-bits", "What fewer bits can bring", 2,
    "Weights of 2 bytes become weights of `bits` bits, and every `group` of them gets "
    "`scale_bytes` for its scale, and its offset if it has one. The KV cache stays as it is. How "
    "many times faster can a step get, where memory limits it?",
    "gain(parameters, bits, group, scale_bytes, kv, batch, context)", cases=_gain_cases,
    lines=3, tolerance=1e-6, derives=("model", "Model", "dtype"),
    example=(1e9, 4, 40, 2, 175_000, 1, 1000),
    domain=dict.fromkeys(("bits", "group", "scale_bytes", "batch", "context"), at_least(1)),
    fixed=cases_of("parameters bits group scale_bytes kv batch context",
        (124_000_000, 8, 1, 1, 36_864, 1, 1), (27_000_000_000, 2, 10, 4, 100, 300, 700),
        (405_000_000_000, 5, 1000, 8, 516_096, 1, 1_000_000), (1_000_000, 1, 100, 2, 8192, 12, 1),
        (700_000_000, 16, 50, 3, 524_288, 3, 300), (600_000, 3, 600_000, 2, 20, 1, 7)),
    insight="Scales and caches keep it below 16 ÷ bits. Where computing is the limit, fewer "
            "bytes bring nothing.",
    answer={
        "_itemsize": lambda bits, group, scale_bytes: bits / 8 + scale_bytes / group,
        "_cache": lambda kv, batch, context: kv * batch * context,
        "_before": lambda parameters, _cache: 2 * parameters + _cache,
        "_after": lambda parameters, _itemsize, _cache: parameters * _itemsize + _cache,
        "answer": lambda _before, _after: _before / _after,
    },
    slips=(
        slip("bits alone", "scales travel too, and so does the KV cache.",
             answer=lambda bits: 16 / bits),
        slip("no cache",
             "the KV cache is read in every step too, and it has not become smaller.", _cache=0),
        slip("no scales", "for every group of weights its scale is read as well.",
             _itemsize=lambda bits: bits / 8),
        slip("as many caches as weights",
             "you count one cache for each trip of the weights: every sequence of the batch reads "
             "a cache of its own, and one trip serves them all.",
             batch=1),
        KV_TWICE,
        slip("the cache shrinks too",
             "only the weights have fewer bits; the KV cache stays as it is.",
             _after=lambda parameters, _itemsize, _cache, bits:
                 parameters * _itemsize + _cache * bits / 16),
        slip("scales in bits",
             "a scale has `scale_bytes` bytes; only the weights are given in bits.",
             scale_bytes=lambda scale_bytes: scale_bytes / 8),
        slip("a scale for every weight", "a whole group of weights shares one scale.", group=1),
    ),
)


def _expert_cases(rng: random.Random) -> list[Case]:
    """Mixtral's 8 experts of which 2 are used, and larger pools."""
    pools = ((8, 2), *rng.sample(((16, 4), (64, 6), (256, 8), (128, 8)), 3))
    return [*cases_of("experts active batch", *((*pool, rng.randrange(2, 41)) for pool in pools))]


EXPERTS = table(
    "05-experts", "Experts for a batch", 2,
    "Each token of a batch uses `active` different ones of the `experts`, any of them with the "
    "same chance. How many experts does a step have to read, on average?",
    "experts_read(experts, active, batch)", cases=_expert_cases, tolerance=1e-6,
    domain=dict.fromkeys(("experts", "active", "batch"), at_least(1)), example=(8, 4, 2),
    fixed=cases_of("experts active batch", (1, 1, 1), (12, 12, 7), (12, 1, 150), (160, 6, 1),
        (384, 8, 300), (60, 4, 15), (2560, 100, 1000), (7, 3, 19)),
    insight="Already a small batch reads more experts than one token does, and each of them has "
            "weights to be carried.",
    answer=lambda experts, active, batch: distinct(experts, active, batch),
    slips=(
        slip("those of one token",
             "the other tokens of the batch choose too, and not the same experts.",
             answer=lambda active: active),
        slip("all of them", "some experts may be chosen by no token; they stay where they are.",
             answer=lambda experts: experts),
        slip("never the same", "two tokens may choose the same expert, which is then read once.",
             answer=[lambda experts, active, batch: min(experts, active * batch),
                     lambda active, batch: active * batch]),
        slip("with repetition",
             "the experts of one token are different ones: it misses a given expert with the "
             "chance 1 − active/experts.",
             answer=lambda experts, active, batch: distinct(experts, 1, active * batch)),
        slip("one expert a token", "a token has `active` experts, not one.", active=1),
        slip("those that are spared", "so many are chosen by no token; the others are read.",
             answer=lambda experts, active, batch: experts * (1 - active / experts) ** batch),
        slip("a share", "that is the share of all experts; how many are they?",
             answer=lambda experts, active, batch: distinct(experts, active, batch) / experts),
        slip("used for spared",
             "k / e is the chance that a token uses an expert; what is the chance that no token "
             "of the batch does?",
             answer=lambda experts, active, batch: experts * (1 - (active / experts) ** batch)),
    ),
)


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
)


def _speed_up_strict(n: int, k: int, b: int, c: int, p: float, w: float) -> float:
    return strict(n, 2, k, b, c, p, w) / strict(n, 2, k, 1, c, p, w)


def _speed_up_cases(rng: random.Random) -> list[Case]:
    """Where the promise nearly holds, where the cache breaks it, where the arithmetic does.

    In the last the caches take longer than the weights and longer than the arithmetic.
    """
    places = ((8, 100), (64, 300), (64, 2000), (1024, 10), (1024, 1000), (256, 4000))
    rows = [
        (*model, *place, *peak_and_bandwidth(*rng.choice(_SERVERS)))
        for place, model in zip(places, rng.choices(_MODELS, k=6), strict=True)
    ]
    return [*cases_of("parameters kv batch context peak bandwidth", *rows)]


CLAIM_BATCH = table(
    "05-claim-batch", "“Batch 64 is 64 times as fast”", 2,
    "By what factor does this batch raise the tokens a second of batch 1? Weights have 2 bytes.",
    "speed_up(parameters, kv, batch, context, peak, bandwidth)", cases=_speed_up_cases,
    lines=3, tolerance=1e-6, derives=("Roofline", "predict", "model", "Model"),
    also=((STRICT, _speed_up_strict),), example=(1e9, 100_000, 10, 1000, 1e14, 1e12),
    domain={"batch": at_least(1), "context": at_least(1)},
    fixed=cases_of("parameters kv batch context peak bandwidth",
        (124_000_000, 36_864, 1, 300, 9e10, 1.9e10), (700_000_001, 100, 2, 131_072, 1.1e11, 1.9e10),
        (27_100_000_000, 524_288, 12, 1, 2e12, 1e11),
        (405_000_000_000, 516_096, 5000, 10, 2.25e15, 8e12),
        (1_000_000, 8192, 300, 700, 6e10, 1.3e10), (1_000_000, 8192, 50, 700, 1.2e12, 5e10)),
    insight="A batch shares the weights and not the caches: the longer the context, the less it "
            "brings.",
    answer={
        "_weights": lambda parameters, bandwidth: 2 * parameters / bandwidth,
        "_compute": lambda parameters, peak: 2 * parameters / peak,  # for a token
        "_cache": lambda kv, context, bandwidth: kv * context / bandwidth,  # of a sequence
        "_one": lambda _weights, _compute, _cache: max(_compute, _weights) + _cache,
        "_step": lambda batch, _weights, _compute, _cache:
            max(batch * _compute, _weights) + batch * _cache,
        "answer": lambda batch, _one, _step: batch * _one / _step,
    },
    slips=(
        slip("the claim", "the weights are shared by the whole batch; is anything else?",
             answer=lambda batch: batch),
        slip("until the ridge",
             "you left out the KV caches; they are read too, one for each sequence.", kv=0),
        slip("until the cache",
             "you left out the arithmetic: a large batch reaches the flat roof.", _compute=0),
        slip("the longest of three",
             "weights and caches come from the same memory, one after the other: their times add "
             "up.",
             ways=[{"_one": lambda _compute, _weights, _cache: max(_compute, _weights, _cache),
                    "_step": lambda batch, _compute, _weights, _cache:
                        max(batch * _compute, _weights, batch * _cache)}]),
        slip("no overlap", "within a product, carrying and computing overlap: the longer counts.",
             ways=[{"_one": lambda _compute, _weights, _cache: _compute + _weights + _cache,
                    "_step": lambda batch, _compute, _weights, _cache:
                        batch * _compute + _weights + batch * _cache}]),
        KV_TWICE, MULTIPLY_ADDS,
        slip("one cache for all", "the sequences share the weights, not their caches.",
             _step=lambda batch, _compute, _weights, _cache:
                 max(batch * _compute, _weights) + _cache),
    ),
)


def _enough_cases(rng: random.Random) -> list[Case]:
    """Llama-3-8B and others on four machines: three contexts short enough, two too long."""
    rows = []
    places = (0.15, 0.5, 1.4, 6.0, 0.85)
    models = [_MODELS[1], *rng.choices(_MODELS, k=4)]
    rng.shuffle(models)
    for place, (parameters, kv) in zip(places, models, strict=True):
        peak, bandwidth = peak_and_bandwidth(*rng.choice(_SERVERS))
        longest = 2 * parameters * bandwidth / peak / kv
        context = max(1, round(place * rng.uniform(0.95, 1.05) * longest))
        rows.append((parameters, kv, context, peak, bandwidth))
    return [*cases_of("parameters kv context peak bandwidth", *rows)]


CLAIM_ALWAYS = table(
    "05-claim-always", "“Decode is memory-bound at every batch”", 2,
    "Take a step as one operation. From which batch on does its arithmetic, 2 FLOPs for each "
    "parameter and token, take longer than the carrying of weights (2 bytes each) and caches? "
    "The batch need not be whole. Return 0 where it never does.",
    "enough(parameters, kv, context, peak, bandwidth)", cases=_enough_cases, lines=2,
    tolerance=1e-6, derives=("Roofline", "predict", "model", "Model"),
    domain={"context": at_least(1)}, example=(1e9, 100_000, 100, 1e14, 1e12),
    fixed=cases_of("parameters kv context peak bandwidth", (124_000_000, 36_864, 1, 9e11, 1.9e10),
        (27_100_000_000, 100, 131_072, 4.5e15, 8e12), (1_000_000, 8192, 10, 1.2e12, 5e10),
        (1_000_000, 8192, 11, 1.2e12, 5e10), (405_000_000_000, 516_096, 1_000_000, 2e12, 1e11)),
    insight="Without any context it is the ridge of the machine; a long context moves it out of "
            "reach.",
    answer={  # left: what one more sequence computes, in bytes of the same time, less its cache
        "_left": lambda parameters, kv, context, peak, bandwidth:
            2 * parameters * bandwidth / peak - kv * context,
        "answer": lambda parameters, _left: 2 * parameters / _left if _left > 0 else 0,
    },
    slips=(
        slip("the claim",
             "each sequence adds arithmetic and cache; which of the two takes longer?", answer=0),
        slip("the ridge", "that is right as long as there is no KV cache to read.",
             answer=lambda peak, bandwidth: peak / bandwidth),
        slip("one sequence's cache", "the caches grow with the batch, as the arithmetic does.",
             answer=lambda parameters, kv, context, peak, bandwidth:
                 (2 * parameters + kv * context) * peak / bandwidth / 2 / parameters),
        slip("a batch below zero",
             "where each sequence carries longer than it computes, no batch is large enough: say "
             "0.",
             answer=[lambda parameters, _left: 2 * parameters / _left,
                     lambda parameters, _left: 2 * parameters / abs(_left)]),
        slip("without end", "no batch is large enough there, not even an endless one: say 0.",
             answer=lambda parameters, _left: 2 * parameters / _left if _left > 0 else math.inf),
        slip("multiply-adds",
             "a parameter is 2 FLOPs for each token, a multiplication and an addition.",
             peak=lambda peak: 2 * peak),
        slip("the newest token only", "a sequence reads its whole context for each token.",
             context=1),
        slip("plus for minus",
             "the caches are carried as well: do they make the batch that is needed larger, or "
             "smaller?",
             _left=lambda parameters, kv, context, peak, bandwidth:
                 2 * parameters * bandwidth / peak + kv * context),
    ),
)


def _stored_cases(rng: random.Random) -> list[Case]:
    return [
        {"tokens": rng.randrange(500, 20_000), "head_dim": dim, "itemsize": rng.choice((2, 4))}
        for dim in (64, 80, 128, 256)
    ]


CLAIM_FLASH = table(
    "05-claim-flash", "“FlashAttention stores S² numbers”", 2,
    "Attention of one head over a prompt of `tokens`. Return the bytes with the scores in memory "
    "(written, read by the softmax, written again, read again), and those of a streamed one, which "
    "reads Q, K and V once and writes the result.",
    "attention_bytes(tokens, head_dim, itemsize)", cases=_stored_cases, lines=2, tolerance=1e-6,
    domain={"tokens": at_least(1), "head_dim": at_least(1), "itemsize": ITEMSIZES},
    example=(10, 5, 1),
    fixed=cases_of("tokens head_dim itemsize", (1, 80, 1), (96, 96, 2), (7, 192, 4), (1000, 1, 8),
        (131_072, 576, 1), (12, 100, 2)),
    derives=("attention", "model", "Model"),
    insight="What streaming saves grows with the square of the prompt, and the rest only with "
            "its length.",
    answer={
        "_rows": lambda tokens, head_dim, itemsize: tokens * head_dim * itemsize,  # of Q, K or V
        "_scores": lambda tokens, itemsize: tokens * tokens * itemsize,
        "bytes with scores in memory": lambda _rows, _scores: 4 * _rows + 4 * _scores,
        "streamed bytes": lambda _rows: 4 * _rows,
    },
    slips=(
        slip("scores for a result",
             "the result has tokens × head_dim numbers; tokens × tokens would be scores, and those "
             "never leave the chip.",
             streamed_bytes=[lambda _rows, _scores: 3 * _rows + 2 * _scores,
                             lambda _rows, _scores: 3 * _rows + _scores]),
        slip("nothing saved",
             "the streamed version keeps a tile of scores on the chip and stores none.",
             streamed_bytes=lambda _rows, _scores: 4 * _rows + 4 * _scores),
        slip("scores once", "scores make four trips: two out, two back.",
             bytes_with_scores_in_memory=lambda _rows, _scores: 4 * _rows + _scores),
        slip("scores twice",
             "the softmax is a step of its own: scores go out and come back, and so do its "
             "probabilities.",
             bytes_with_scores_in_memory=[lambda _rows, _scores: 4 * _rows + 2 * _scores,
                                          lambda _rows, _scores: 4 * _rows + 3 * _scores]),
        slip("half of the scores",
             "a mask hides scores and stores them all the same: there are tokens × tokens of them.",
             _scores=lambda tokens, itemsize: tokens * (tokens + 1) / 2 * itemsize),
        slip("itemsize on one term",
             "the numbers of both terms have itemsize bytes each: put parentheses around their "
             "sum.",
             bytes_with_scores_in_memory=[
                 lambda tokens, head_dim, _scores: 4 * tokens * head_dim + 4 * _scores,
                 lambda tokens, _rows: 4 * _rows + 4 * tokens * tokens]),
        slip("no result", "the streamed one writes its result as well.",
             streamed_bytes=lambda _rows: 3 * _rows),
        slip("numbers, not bytes", "so many numbers; each has `itemsize` bytes.", itemsize=1),
        slip("scores stored once after all", "streamed, no score ever goes to memory.",
             streamed_bytes=[lambda _rows, _scores: 4 * _rows + _scores,
                             lambda _rows, _scores: 4 * _rows + 2 * _scores]),
    ),
)


EXERCISES = (
    SWITCH, DECODE, CLAIM_BATCH, FILL, GAUGES, CLAIM_ALWAYS, ATTENTION, QUANTISED, EXPERTS,
    CLAIM_FLASH,
)

"""Exercises of lesson 05: what a KV cache buys, decode() for mine.py, and how to fill a machine.

Weights count without the table of embeddings: a token reads one row of it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from rooflab.course.drawing import peak_and_bandwidth
from rooflab.exercises.exercise import ITEMSIZES, any_length, at_least, cases_of
from rooflab.exercises.table import drawn, slip, table
from rooflab.labs.llm.catalogue import model
from rooflab.labs.llm.steps import distinct
from rooflab.predict.catalogue import machine

MODELS = ("llama-2-7b", "llama-2-13b", "llama-2-70b", "llama-3-8b", "qwen2.5-7b")
A100, H100 = ("a100-sxm-80", "bf16"), ("h100-sxm", "bf16")


def parameters_read(name: str) -> int:
    """Parameters that a token reads of a model whose output matrix is not its embeddings."""
    found = model(name)
    return found.parameters - found.vocab * found.hidden


SIZES = {  # of one of these models, in numbers of 2 bytes
    "parameters": lambda _model: parameters_read(_model),
    "kv": lambda _model: model(_model).kv_bytes(1, 1),
    "_model": lambda rng: rng.choice(MODELS),
}
ROOFS = {  # of these machines in turn
    "peak": lambda _of: peak_and_bandwidth(*_of)[0],
    "bandwidth": lambda _of: peak_and_bandwidth(*_of)[1],
    "_of": [A100, H100, ("mi300x", "fp16"), ("l4", "fp16")],
}

# Slips of several exercises.
KV_TWICE = slip(
    "kv counted twice", "`kv` is what a token leaves in the cache, its key and its value together.",
    kv=lambda kv: 2 * kv)
MULTIPLY_ADDS = slip(
    "multiply-adds", "a multiply-add is 2 FLOPs for each parameter and each token.",
    peak=lambda peak: 2 * peak)


def _by_name(*case: float) -> object:
    """The answer as two named pairs."""
    found = GAUGES.reference(*case)
    return {"with": [*found[:2]], "without": [*found[2:]]}


GAUGES = table(
    "05-gauges", "Which gauge?", 3,
    "A token with a KV cache, and one for which all positions are computed once more: tokens a "
    "second and FLOP/s of both, in numbers of 2 bytes.",
    "gauges(blocks, head, kv, context, peak, bandwidth)",
    cases=drawn(
        4, blocks=lambda _layers, _width: 12 * _layers * _width**2,
        head=lambda _width: 50_257 * _width, kv=lambda _layers, _width: 4 * _layers * _width,
        context=lambda rng, _contexts: rng.choice(_contexts), **ROOFS,
        _layers=[12, 24, 48, 12], _width=[768, 1024, 1600, 768],  # GPT-2, medium and XL
        _contexts=[[1024], range(500, 1000), range(8, 40), range(500, 1000)]),
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


@dataclass(frozen=True)
class PublishedRun:
    """One published row.

    ``compute``: type of the products, whose size a number in the KV cache has too; ``itemsize``:
    bytes a weight, scales included; ``context``: the mean over a run, its prompt and half of what
    it wrote.
    """

    machine: str
    compute: str
    model: str
    itemsize: float
    batch: int
    context: int
    tokens_per_s: float


INT4_GROUP_32 = 4 / 8 + 4 / 32  # 4 bits, and a 2-byte scale and zero for 32 weights
# Sources: the README of gpt-fast (batch 1, a prompt of 5 tokens, 200 new ones; A100 at 330 W), and
# TensorRT-LLM's docs/source/performance.md of v0.6.1 (L40S: v0.5; Input and Output Length there).
RUNS = tuple(PublishedRun(*row) for row in (
    ("a100-sxm-80", "bf16", "llama-2-7b", 2, 1, 105, 104.9),
    ("a100-sxm-80", "bf16", "llama-2-7b", 1, 1, 105, 155.58),
    ("a100-sxm-80", "bf16", "llama-2-7b", INT4_GROUP_32, 1, 105, 196.80),
    ("a100-sxm-80", "bf16", "llama-2-70b", 1, 1, 105, 19.13),
    ("a100-sxm-80", "bf16", "llama-2-70b", INT4_GROUP_32, 1, 105, 25.25),
    ("a100-sxm-80", "bf16", "llama-3-8b", 2, 1, 105, 93.89),
    ("a100-sxm-80", "bf16", "llama-3-8b", 1, 1, 105, 137.64),
    ("mi250x-gcd", "bf16", "llama-2-7b", 2, 1, 105, 76.33),
    ("mi250x-gcd", "bf16", "llama-2-7b", 1, 1, 105, 101.86),
    ("a100-sxm-80", "fp16", "llama-2-7b", 2, 60, 128 + 2048 // 2, 1928),
    ("a100-sxm-80", "fp16", "llama-2-7b", 2, 384, 128 + 128 // 2, 5586),
    ("l40s", "fp8", "llama-2-7b", 1, 64, 128 + 2048 // 2, 1622),
    ("h100-sxm", "fp8", "llama-2-7b", 1, 112, 128 + 2048 // 2, 6818),
    ("h100-sxm", "fp8", "llama-2-7b", 1, 48, 2048 + 2048 // 2, 2740),
    ("h100-sxm", "fp8", "llama-2-7b", 1, 768, 128 + 128 // 2, 19694),
))


def strict(
    parameters: float, itemsize: float, kv: int, batch: int, context: int,
    peak: float, bandwidth: float,
) -> float:
    """Tokens a second that nobody can beat: all reading and all arithmetic overlap."""
    carried = parameters * itemsize + batch * context * kv
    return batch / max(2 * parameters * batch / peak, carried / bandwidth)


STRICT = ("this is the stricter bound, in which attention overlaps with the products; the lesson "
          "shows both")


DECODE = table(
    "05-decode", "Tokens a second", 3,
    "How many tokens a second does the whole batch get, if attention, which does nothing but read "
    "the KV cache, follows the products and does not overlap with them?",
    "decode(parameters, itemsize, kv, batch, context, peak, bandwidth)",
    cases=drawn(
        5, parameters=lambda _run: parameters_read(_run.model),
        itemsize=lambda _run: _run.itemsize,
        kv=lambda _run: model(_run.model).kv_bytes(1, 1, _run.compute),
        batch=lambda _run: _run.batch, context=lambda _run: _run.context,
        **ROOFS | {"_of": lambda _run: (_run.machine, _run.compute)},
        _run=lambda rng, _bytes, _batches: rng.choice(
            [run for run in RUNS if run.itemsize == _bytes and run.batch in _batches]),
        _bytes=[2, 1, INT4_GROUP_32, 1, 2],  # the last one is limited by computing
        _batches=[[1], [1], [1], range(2, 300), range(300, 1000)]),
    mine="decode", lines=3, tolerance=1e-6, also=((STRICT, strict),),
    domain={"batch": at_least(1), "context": at_least(1)},
    example=(1e9, 2, 100_000, 5, 1000, 1e14, 1e12),
    fixed=cases_of("parameters itemsize kv batch context peak bandwidth",
        (6_607_343_616, 2, 524_288, 1, 1, 1.1e11, 1.9e10),
        (124_000_000, 4, 73_728, 12, 300, 9e10, 1.9e10),
        (27_100_000_000, 8, 2048, 1, 1_000_000, 6.7e13, 4.8e12),
        (405_000_000_000, 1, 516_096, 5000, 10, 4.5e15, 8e12),
        (700_000_001, 0.375, 100, 3, 12, 2e12, 1e11),
        (70_000_000, 0.625, 8192, 12, 7000, 2e12, 1e11)),
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


def _whole(batch: float) -> int:
    return max(0, math.floor(batch))


def _fill_strict(
    n: int, k: int, c: int, r: float, m: float, p: float, w: float
) -> tuple[int, int, str]:
    """As ``strict``: the caches are read while the arithmetic is done."""
    held, carried, _ = FILL.reference(n, k, c, r, m, math.inf, w)
    kept = min(carried, _whole(p / (2 * n * r)))
    return held, kept, "memory" if held < kept else "promise"


FILL = table(
    "05-fill", "Fill the machine", 3,
    "Each sequence is promised so many tokens a second. Which batch fits the memory, which one "
    "keeps the promise, and which of the two binds?",
    "fill(parameters, kv, context, promised, memory, peak, bandwidth)",
    # Llama-3-8B. Memory binds in the first two, then the promise: in the fourth it is the
    # arithmetic that breaks it, in the last no batch keeps it. A server keeps a tenth of the
    # memory for everything else.
    cases=drawn(
        5, parameters=8_030_261_248, kv=131_072,
        context=lambda rng, _near: round(_near * rng.uniform(0.95, 1.05)),
        promised=[30, 20, 60, 45, 160], memory=lambda _of: 0.9 * machine(_of[0]).capacities["dram"],
        **ROOFS | {"_of": [H100, A100, H100, H100, A100]},
        _near=[2048, 6000, 2048, 300, 1500]),
    lines=5, also=((STRICT, _fill_strict),), derives=("Roofline", "predict", "model", "Model"),
    domain={"context": at_least(1)}, example=(1e9, 100_000, 1000, 300, 2.75e9, 1e14, 1e12),
    # Weights that do not fit, a cache that just does not, two around a tie of both batches.
    fixed=cases_of("parameters kv context promised memory peak bandwidth",
        (68_710_000_000, 327_680, 4096, 10, 72e9, 9.9e14, 3.35e12),
        (27_100_000_000, 100_000, 300, 100, 54_229_999_999, 1.65e14, 1.008e12),
        (2**33, 2**17, 2048, 32, 2**34 + 192 * 2**28, 2.0**49, 2.0**41),
        (2**33, 2**17, 2048, 32, 2**34 + 192 * 2**28 - 1, 2.0**49, 2.0**41),
        (124_000_000, 36_864, 1, 750, 8e9, 9.9e14, 3.35e12),
        (3_000_000_000, 524_288, 131_072, 2, 6e9 + 2**37 - 1, 1.2e14, 1e12)),
    insight="Caches fill the memory and take time as well. Which of the two ends first depends "
            "on what was promised.",
    answer={
        # Sequences that fit beside the weights, and those whose caches can be read after them.
        "_room": lambda parameters, kv, context, memory: (memory - 2 * parameters) / (kv * context),
        "_carried": lambda parameters, kv, context, promised, bandwidth:
            (1 / promised - 2 * parameters / bandwidth) / (kv * context / bandwidth),
        "_computed": lambda parameters, kv, context, promised, peak, bandwidth:
            1 / promised / (2 * parameters / peak + kv * context / bandwidth),
        "_most": lambda _carried, _computed: min(_carried, _computed),
        "_held": lambda _room: _whole(_room),
        "_kept": lambda _most: _whole(_most),
        "batch by memory": lambda _held: _held,
        "batch by promise": lambda _kept: _kept,
        "word for what binds": lambda _held, _kept: "memory" if _held < _kept else "promise",
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


_NOT_ONE = ("no batch fulfils its condition: no GEMM is quicker than one GEMV. A batch of b needs "
            "b GEMVs; compare with all of them.")

SWITCH = table(
    "05-switch", "GEMM, or GEMV after GEMV?", 1,
    "Which is the smallest of these batches at which one GEMM takes less time than as many GEMVs "
    "one after the other?",
    "switch(batches, one_gemv, gemm)", lines=2,
    cases=drawn(  # a GEMM packs its matrix first, which costs some trips of it
        4, batches=lambda: [1, 2, 3, 4, 6, 8, 12, 16, 32, 64],
        one_gemv=lambda rng: rng.randrange(2000, 20_000) / 1e6,
        gemm=lambda batches, one_gemv, _packing, _work:
            [round(one_gemv * (_packing + _work * b), 6) for b in batches],
        _packing=lambda rng: rng.choice((2, 3.2, 5, 9, 12.6)), _work=(0.06, 0.14)),
    domain={"batches": any_length(2), "gemm": any_length(2)},
    example=([2, 4, 8, 16], 0.003, [0.009, 0.010, 0.012, 0.016]),
    fixed=cases_of("batches one_gemv gemm", ([1, 2, 5], 0.01, [0.009, 0.03, 0.04]),
        ([2, 3, 7, 12], 0.5, [1.0, 1.5, 3.5, 5.75]),
        ([3, 10, 1000, 2000], 0.003, [0.0091, 0.0299, 1.4, 5.0]),
        ([7, 96, 100, 640], 3e-8, [2.095e-7, 3e-6, 2.9e-6, 1.8e-5]),
        ([6, 60, 600, 6000], 0.25, [2.0, 20.0, 200.0, 1499.0]),
        ([1, 4], 0.02, [0.03, 0.05])),
    insight="Below this batch the copy of the matrix costs more than it brings. Where does that "
            "lie on your machine?",
    answer={
        "_wins": lambda batches, one_gemv, gemm:
            [b for b, t in zip(batches, gemm) if t < b * one_gemv],
        "_losses": lambda batches, _wins: [b for b in batches if b not in _wins],
        "answer": lambda _wins: _wins[0],
    },
    slips=(
        slip("always a GEMM",
             "look at the times: a GEMM first copies the matrix into another order.",
             answer=lambda batches: batches[0]),
        slip("from two on",
             "two GEMVs may still be faster than a GEMM that copies the matrix first.",
             answer=lambda batches: batches[1]),
        slip("the last of the others",
             "at that batch the GEMVs still win; the question is for the first GEMM.",
             answer=[lambda batches, _wins: batches[batches.index(_wins[0]) - 1],
                     lambda _losses: _losses[-1]]),
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
             answer=[lambda batches, _losses: batches[batches.index(_losses[-1]) + 1],
                     lambda _losses: _losses[-1] + 1]),
    ),
    errors=(
        ("it returned None for every case", "one GEMV",
         "either it never comes to a return, or " + _NOT_ONE),
        *((raised, "one GEMV", _NOT_ONE) for raised in (
            "StopIteration", "IndexError: list index", "ValueError: .*(empty|zero-size)")),
    ),
    also=(("", lambda *case: {"batch": SWITCH.reference(*case)}),),
)


ATTENTION = table(
    "05-attention", "The operation that batching does not move", 2,
    "What intensity, in FLOP/byte, has attention in a decode step? Count the reading of K and V "
    "only; the query and the result are small beside them.",
    "intensity(heads, kv_heads, itemsize, batch, context)",
    cases=drawn(5, heads=lambda _model: model(_model).heads,
                kv_heads=lambda _model: model(_model).kv_heads, itemsize=[1, 2],
                batch=[2, 8, 64], context=range(500, 100_000),
                _model=lambda rng: rng.choice((*MODELS, "gpt2", "gemma-2b"))),
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


QUANTISED = table(
    "05-fewer-bits", "What fewer bits can bring", 2,
    "Weights of 2 bytes become weights of `bits` bits, and every `group` of them gets "
    "`scale_bytes` for its scale, and its offset if it has one. The KV cache stays as it is. How "
    "many times faster can a step get, where memory limits it?",
    "gain(parameters, bits, group, scale_bytes, kv, batch, context)",
    cases=drawn(  # hardly any cache, then so much of it that fewer bits bring little
        4, parameters=SIZES["parameters"], bits=[4, 8, 4, 3], group=[32, 128, 128, 64],
        scale_bytes=[4, 2, 4, 2], kv=SIZES["kv"], batch=[1, 8, 4, 16],
        context=lambda rng, parameters, kv, batch, _cache:
            round(_cache * rng.uniform(0.9, 1.1) * 2 * parameters / kv / batch),
        _model=SIZES["_model"], _cache=[0.004, 0.3, 1, 3]),
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


EXPERTS = table(
    "05-experts", "Experts for a batch", 2,
    "Each token of a batch uses `active` different ones of the `experts`, any of them with the "
    "same chance. How many experts does a step have to read, on average?",
    "experts_read(experts, active, batch)", tolerance=1e-6,
    cases=drawn(5, experts=[8, 16, 64, 128, 256], active=[2, 4, 6, 8, 8], batch=range(2, 41)),
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


# Claim of a public web lesson: 50 tokens/s alone and 800 in a batch of 64, on an RTX 4090.
CLAIM_BATCH = table(
    "05-claim-batch", "“Batch 64 is 64 times as fast”", 2,
    "By what factor does this batch raise the tokens a second of batch 1? Weights have 2 bytes.",
    "speed_up(parameters, kv, batch, context, peak, bandwidth)",
    cases=drawn(  # the claim nearly holds, the cache breaks it, the arithmetic does
        5, **SIZES, batch=[8, 64, 64, 1024, 256],
        context=lambda rng, _near: round(_near * rng.uniform(0.9, 1.1)), **ROOFS,
        _near=[100, 300, 2000, 10, 4000]),
    lines=3, tolerance=1e-6, derives=("Roofline", "predict", "model", "Model"),
    also=((STRICT, lambda n, k, b, c, p, w:
           strict(n, 2, k, b, c, p, w) / strict(n, 2, k, 1, c, p, w)),),
    example=(1e9, 100_000, 10, 1000, 1e14, 1e12),
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


CLAIM_ALWAYS = table(
    "05-claim-always", "“Decode is memory-bound at every batch”", 2,
    "Take a step as one operation. From which batch on does its arithmetic, 2 FLOPs for each "
    "parameter and token, take longer than the carrying of weights (2 bytes each) and caches? "
    "The batch need not be whole. Return 0 where it never does.",
    "enough(parameters, kv, context, peak, bandwidth)", lines=2,
    cases=drawn(  # contexts short enough and, from 1 on, too long
        5, **SIZES, context=lambda rng, parameters, kv, peak, bandwidth, _place:
            round(_place * rng.uniform(0.95, 1.05) * 2 * parameters * bandwidth / peak / kv),
        **ROOFS, _place=[0.15, 6, 0.5, 1.4, 0.85]),
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


# Claim of LLM-Viewer (hahnyuan/LLM-Viewer at 472f71f, ``model_analyzer.py``, prefill with
# FlashAttention): its result has seqlen × seqlen numbers, stored twice, while keys and values are
# read again for every block of queries.
CLAIM_FLASH = table(
    "05-claim-flash", "“FlashAttention stores S² numbers”", 2,
    "Attention of one head over a prompt of `tokens`. Return the bytes with the scores in memory "
    "(written, read by the softmax, written again, read again), and those of a streamed one, which "
    "reads Q, K and V once and writes the result.",
    "attention_bytes(tokens, head_dim, itemsize)", lines=2, tolerance=1e-6,
    cases=drawn(4, tokens=range(500, 20_000), head_dim=[64, 80, 128, 256], itemsize=[2, 4]),
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

"""Exercises of lesson 05: what a KV cache buys, decode() for mine.py, and how to fill a machine.

Weights count without the table of embeddings: a token reads one row of it.
"""

from __future__ import annotations

import math
import random
from dataclasses import replace

from rooflab.exercises.drawing import peak_and_bandwidth
from rooflab.exercises.exercise import Case, Exercise, Misconception
from rooflab.exercises.lesson05_runs import INT4_GROUP_32, RUNS
from rooflab.predict.catalogue import machine

GIB = 2**30
GIBIBYTES = "a bandwidth counts GB, 1e9 bytes, and so do the weights here; nothing is in GiB."


def _model(layers: int, width: int, vocabulary: int) -> tuple[int, int, int]:
    """Weights of the blocks and of the output matrix, and bytes that a token leaves in the cache:
    two numbers of 2 bytes for each layer and each place of a row."""
    return 12 * layers * width**2, vocabulary * width, 4 * layers * width


# GPT-2, GPT-2 medium and GPT-2 XL.
_GPT_2 = tuple(_model(n, d, 50_257) for n, d in ((12, 768), (24, 1024), (48, 1600)))
_TINY = _model(4, 16, 65)  # made up: of all that it reads, a good part is its cache
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
    """GPT-2 on an A100 at its longest context, and others; one context is short, and so is that
    of a tiny model, in which a single token of the cache counts."""
    names = ("blocks", "head", "kv", "context", "peak", "bandwidth")
    drawn = [(*_GPT_2[0], 1024, *peak_and_bandwidth("a100-sxm-80", "bf16"))]
    for context in (rng.randrange(8, 40), rng.randrange(500, 700), rng.randrange(800, 1000)):
        drawn.append((*rng.choice(_GPT_2), context, *peak_and_bandwidth(*rng.choice(_SERVERS))))
    drawn.append((*_TINY, rng.randrange(12, 40), *peak_and_bandwidth(*rng.choice(_SERVERS))))
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
                      "the cached numbers of all `context` tokens are used, none of them left out."),
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
    "How many tokens a second does the whole batch get, if attention, which does nothing but read "
    "the KV cache, follows the products and does not overlap with them?",
    "decode(parameters, itemsize, kv, batch, context, peak, bandwidth)", decode,
    cases=_decode_cases, mine="decode", lines=3, tolerance=1e-6, also=((STRICT, strict),),
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


# Llama-3-8B (8.03e9 parameters) and Llama-2-7B (6.74e9), 2 bytes: machine, type, context, tokens/s
# promised to each sequence. Memory binds in the first two, the promise in the others; in the fourth
# it is the arithmetic that breaks it, in the last no batch keeps it.
_PLACES = (
    ("h100-sxm", "bf16", 2048, 30), ("a100-sxm-80", "bf16", 6000, 20),
    ("h100-sxm", "bf16", 2048, 60), ("h100-sxm", "bf16", 300, 45),
    ("a100-sxm-80", "bf16", 1500, 160),
)  # fmt: skip
_SERVED = ((8_030_261_248, 131_072), (6_738_415_616, 524_288))
AIR = 0.9  # of the memory is for weights and caches; a server keeps a tenth for everything else


def _fill_cases(rng: random.Random) -> list[Case]:
    """Each place of ``_PLACES`` with a context near its own, no answer close to a whole number.

    The nearest whole numbers lie above both answers in the first two, below both in the third.
    """
    drawn = []
    for name, kind, context, promised in _PLACES:
        peak, bandwidth = peak_and_bandwidth(name, kind)
        memory = AIR * machine(name).capacities["dram"]
        parameters, kv = _SERVED[0]
        case: Case = {}
        nearest = (ABOVE, ABOVE, BELOW, ANY, ANY)[len(drawn)]
        while not case or _delicate(*case.values()) or _nearest(*case.values()) not in nearest:
            near = round(context * rng.uniform(0.95, 1.05))
            case = {"parameters": parameters, "kv": kv, "context": near, "promised": promised,
                    "memory": memory, "peak": peak, "bandwidth": bandwidth}  # fmt: skip
        drawn.append(case)
    rng.shuffle(drawn)
    return drawn


def _delicate(n: int, k: int, c: int, r: float, m: float, p: float, w: float) -> bool:
    """Whether a rounding error could move an answer by one."""
    answers = (_room(n, k, c, m), *(_most(n, k, c, r, p, w, overlap=o) for o in (False, True)))
    return any(abs(answer - round(answer)) < 0.01 for answer in answers)


ABOVE, BELOW = [(True, True)], [(False, False)]
ANY = [*ABOVE, *BELOW, (True, False), (False, True)]


def _nearest(n: int, k: int, c: int, r: float, m: float, p: float, w: float) -> tuple[bool, bool]:
    """Whether the whole number nearest to each answer lies above it."""
    return _room(n, k, c, m) % 1 > 0.5, _most(n, k, c, r, p, w) % 1 > 0.5


def _in_total(n, k, c, r, m, p, w):
    """The promise is shared among all that the memory holds, so each waits so much longer."""
    room = _room(n, k, c, m)
    return _filled(room, _most(n, k, c, r / max(1, math.floor(room)), p, w))


def _reached(n, k, c, r, m, p, w):
    """The batch whose tokens a second, all together, are the promised ones."""
    return _filled(_room(n, k, c, m), 2 * n / w / (1 / r - k * c / w))


def _total_shared(n, k, c, r, m, p, w):
    """The tokens a second of all that the memory holds, shared out in portions of the promise."""
    held = max(1, math.floor(_room(n, k, c, m)))
    return _filled(_room(n, k, c, m), decode(n, 2, k, held, c, p, w) / r)


def _total_within(n, k, c, r, m, p, w):
    """As many as the memory holds, if together they get what each of them is promised."""
    held = math.floor(_room(n, k, c, m))
    enough = [b for b in range(1, held + 1) if decode(n, 2, k, b, c, p, w) >= r]
    return held, max(enough, default=0), "memory" if enough else "promise"


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
                      "the smaller of the two batches is the one that stops you."),
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
                          _changed(lambda held, kept, room, most: (
                              held, max(0, math.ceil(most)))))),
        Misconception("at least one",
                      _changed(lambda held, kept, room, most: (held, max(1, kept))),
                      "where even one sequence is too slow, no batch keeps the promise: say 0."),
        Misconception("not rounded down",
                      lambda n, k, c, r, m, p, w: (
                          _room(n, k, c, m), _most(n, k, c, r, p, w),
                          _fill(n, k, c, r, m, p, w)[2]),
                      "a part of a sequence neither fits nor is in time: round down.",
                      variants=(
                          _changed(lambda held, kept, room, most: (room, max(0, most))),
                          _changed(lambda held, kept, room, most: (
                              round(room), max(0, round(most)))))),
        Misconception("a batch below zero",
                      lambda n, k, c, r, m, p, w: (
                          math.floor(_room(n, k, c, m)), math.floor(_most(n, k, c, r, p, w)),
                          _fill(n, k, c, r, m, p, w)[2]),
                      "where even one sequence is too slow, no batch keeps the promise: say 0."),
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

EXERCISES = (GAUGES, DECODE, FILL)

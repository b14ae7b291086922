"""Exercises of lesson 05 on levers: product forms, shared KV heads, fewer bits, experts."""

from __future__ import annotations

import random
from collections.abc import Sequence

from rooflab.count.llm_steps import distinct
from rooflab.exercises.exercise import Case, Exercise, Misconception
from rooflab.exercises.lesson05_runs import SHAPES

BATCHES = (1, 2, 3, 4, 6, 8, 12, 16, 32, 64)


def _switch(batches: Sequence[int], one_gemv: float, gemm: Sequence[float]) -> int:
    """The first batch at which a GEMM takes less time than that many GEMVs."""
    return next(b for b, t in zip(batches, gemm, strict=True) if t < b * one_gemv)


def _switch_cases(rng: random.Random) -> list[Case]:
    """A GEMM packs its matrix first, which costs 1.5 to 11 trips of it, then works per vector.

    And two made up: a tie before the first win, in powers of two, so that no rounding decides; and
    a routine that wins, loses again with other batches, then wins for good, and gets slower at the
    end.
    """
    drawn = [_tied(rng.randrange(2, 6)), _not_for_good(rng, rng.randrange(2, 5))]
    for packing in (1.7, 2.4, 4.4, 7.0, 11.0):
        one_gemv = rng.uniform(0.002, 0.02)
        pack, work = packing * rng.uniform(0.97, 1.03), rng.uniform(0.06, 0.14)
        gemm = [round(one_gemv * (1.15 * pack + work * b), 6) for b in BATCHES]
        drawn.append({"batches": list(BATCHES), "one_gemv": round(one_gemv, 6), "gemm": gemm})
    rng.shuffle(drawn)
    return drawn


def _tied(at: int) -> Case:
    """At the batch in place ``at`` both ways take the same time; from the next on a GEMM wins."""
    one_gemv = 2.0**-7
    gemm = [one_gemv * (b + BATCHES[at]) / 2 for b in BATCHES]
    return {"batches": list(BATCHES), "one_gemv": one_gemv, "gemm": gemm}


def _not_for_good(rng: random.Random, at: int) -> Case:
    """A GEMM wins at the batch in place ``at``, and not at the next two."""
    one_gemv = round(rng.uniform(0.002, 0.02), 6)
    shares = [1.4] * at + [0.8, 1.2, 1.1] + [0.6] * (len(BATCHES) - at - 5) + [0.5, 0.7]
    gemm = [round(share * one_gemv * b, 6) for share, b in zip(shares, BATCHES, strict=True)]
    return {"batches": list(BATCHES), "one_gemv": one_gemv, "gemm": gemm}


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
                      "where a batch of b needs b of them."),
        Misconception("one GEMV", lambda b, v, g: 0, _NOT_ONE),
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
                      lambda b, v, g: min(zip(b, g, strict=True), key=lambda row: row[1] / row[0])[0],
                      "there a vector costs least; asked is the smallest batch at which a GEMM wins "
                      "at all."),
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
    """Public models, and one in fp32 whose intensity is no whole number."""
    drawn = []
    sizes = rng.sample((1, 1, 2, 2, 2), 5)
    for name, itemsize in zip(rng.sample(sorted(SHAPES), 5), sizes, strict=True):
        _, heads, kv_heads, _ = SHAPES[name]
        drawn.append({
            "heads": heads, "kv_heads": kv_heads, "itemsize": itemsize,
            "batch": rng.choice((2, 8, 64)), "context": rng.choice((512, 4096, 100_000)),
        })  # fmt: skip
    heads, kv_heads = rng.choice(((28, 4), (12, 12), (40, 8)))
    drawn.append({"heads": heads, "kv_heads": kv_heads, "itemsize": 4, "batch": 32,
                  "context": 8192})  # fmt: skip
    return drawn


ATTENTION = Exercise(
    "05-attention", "The operation that batching does not move", 2,
    "What intensity, in FLOP/byte, has attention in a decode step? Count the reading of K and V "
    "only; the query and the result are small beside them.",
    "intensity(heads, kv_heads, itemsize, batch, context)", _attention, cases=_attention_cases,
    tolerance=1e-6, derives=("attention", "model", "Model"),
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
    """Mixtral's 8 experts of which 2 are used, and larger pools, at small and large batches."""
    pools = ((8, 2), (16, 4), (64, 6), (256, 8), (128, 8))
    chosen = [(8, 2), *rng.sample(pools[1:], 3)]
    batches = (3, *rng.sample((2, 5, 12, 40), 3))
    return [
        {"experts": experts, "active": active, "batch": batch}
        for (experts, active), batch in zip(chosen, batches, strict=True)
    ]


EXPERTS = Exercise(
    "05-experts", "Experts for a batch", 2,
    "Each token of a batch uses `active` different ones of the `experts`, any of them with the "
    "same chance. How many experts does a step have to read, on average?",
    "experts_read(experts, active, batch)", distinct, cases=_expert_cases, tolerance=1e-6,
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

EXERCISES = (SWITCH, ATTENTION, QUANTISED, EXPERTS)

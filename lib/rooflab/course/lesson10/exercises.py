"""Exercises of lesson 10, fusion: what one loop no longer moves, and what is computed again.

The wrong answers are slips of public teaching material: an L2 norm that moves 36 or 48 bytes for
each number, a gain of a chain that is promised for the whole model, a softmax in pieces that are
not rescaled.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from typing import Any

from rooflab.exercises.exercise import (
    ITEMSIZES,
    Case,
    Domain,
    any_length,
    at_least,
    cases_of,
    one_of,
)
from rooflab.exercises.table import drawn, slip, table

Steps = Sequence[Sequence[Any]]  # pairs: an array's name, and the names it is made of
Blocks = Sequence[Sequence[Sequence[float]]]  # pairs: scores, and as many values


# ---- 10-moves ------------------------------------------------------------------------------------
def _outside(steps: Steps) -> list[str]:
    """What the steps read that none of them made, as often as it is written down."""
    made = {result for result, _ in steps}
    return [name for _, inputs in steps for name in inputs if name not in made]


def _chain(rng: random.Random) -> Case:
    """Some steps, each of which reads the one before and perhaps others, also twice."""
    steps: list[list[Any]] = []
    for result in "bcdefg"[: rng.randrange(3, 7)]:
        known = [one for one, _ in steps]
        inputs = [known[-1] if known else "x", rng.choice(["x", "w", *known])]
        if rng.random() < 0.4:
            inputs.append(inputs[rng.randrange(2)])
        steps.append([result, inputs[: rng.randrange(1, 4)]])
    return {"steps": steps}


MOVES = table(
    "10-moves", "What a chain moves", 4,
    "`steps` lists pairs: the array that a step makes, and the arrays that it works on. All "
    "arrays are of one size, each step's name is new, and only the last array is needed "
    "afterwards. Count the arrays read plus the arrays written, twice: (1) each step is its own "
    "loop, and reads each of its arrays once, even if it is named twice; nothing stays in a "
    "cache; (2) one loop does it all.",
    "moves(steps)", lines=6,
    cases=lambda rng: [_chain(rng) for _ in range(4)],
    domain={"steps": any_length(1)},
    example=([["q", ["x"]], ["y", ["q", "x"]]],),
    fixed=cases_of("steps",
        ([["y", ["x"]]],),
        ([["y", ["x", "x"]]],),
        ([["a", ["x"]], ["b", ["a", "x"]], ["y", ["b", "a", "a"]]],),
        ([["a", ["x", "w"]], ["b", ["a", "v"]], ["y", ["b", "w", "v"]]],),
        ([["a", ["x"]], ["b", ["a"]], ["c", ["b"]], ["d", ["c"]], ["y", ["d"]]],),
        ([["a", ["u"]], ["b", ["v"]], ["c", ["a", "b"]], ["y", ["c", "u", "c"]]],),
        ([["a", ["x"]], ["b", ["a"]], ["y", ["a"]]],),
        ([["a", ["x"]], ["b", ["a"]], ["c", ["b"]], ["d", ["c"]], ["y", ["d", "a"]]],)),
    insight="One loop moves what it reads from outside and its result, however many steps it has.",
    answer={
        "step by step": lambda steps: sum(len(set(inputs)) + 1 for _, inputs in steps),
        "in one loop": lambda steps: len(set(_outside(steps))) + 1,
    },
    slips=(
        slip("read as often as it is written down",
             "a number that a step needs twice is read once.",
             ways=[{"step_by_step": lambda steps: sum(len(inputs) + 1 for _, inputs in steps)}]),
        slip("results are free", "every step writes its result, too.",
             ways=[{"step_by_step": lambda steps: sum(len(set(inputs)) for _, inputs in steps)}]),
        slip("one array in, one out", "a step may work on several arrays.",
             ways=[{"step_by_step": lambda steps: 2 * len(steps)}]),
        slip("only what the first step reads", "a later step may need an array from outside, too.",
             ways=[{"in_one_loop": lambda steps: len(set(steps[0][1])) + 1}]),
        slip("read again by every step",
             "in one loop, a number that is there need not be fetched again.",
             ways=[{"in_one_loop": lambda steps: len(_outside(steps)) + 1},
                   {"in_one_loop": lambda steps: 1 + sum(
                       len({*_outside([(result, inputs)])} - {name for name, _ in steps})
                       for result, inputs in steps)}]),
        slip("results are still written",
             "what only a later step of the same loop needs stays in a register.",
             ways=[{"in_one_loop": lambda steps: len(set(_outside(steps))) + len(steps)}]),
        slip("x in, y out", "count every array from outside, not only the first one.",
             ways=[{"in_one_loop": 2}]),
        slip("the last result is not written", "the last array is needed afterwards.",
             ways=[{"in_one_loop": lambda steps: len(set(_outside(steps)))}]),
    ),
)  # fmt: skip


# ---- 10-claim-norm -------------------------------------------------------------------------------
NORM = table(
    "10-claim-norm", "36 bytes", 4,
    "Every number of x is divided by the norm of its row; x has `rows` × `columns` numbers. Three "
    "kernels: the first writes the squares, the second the norm of each row, one number, and the "
    "third reads x and the norms and writes y. Between kernels nothing stays in a cache. Fused, "
    "one kernel reads a row to find its norm, which it keeps, and a second time to divide; the "
    "second time the row comes from the cache if a row fits in `cache` bytes. Return the bytes "
    "from and to memory, for three kernels and for one.",
    "norm_bytes(rows, columns, itemsize, cache)", lines=3,
    cases=drawn(4, rows=range(100, 5000), columns=range(1000, 9000), itemsize=[4, 8, 2, 1],
                cache=lambda columns, itemsize, rng: columns * itemsize * rng.choice([1, 3, 5]) // 2
                + rng.choice([0, 700])),
    domain=dict.fromkeys(("rows", "columns", "cache"), at_least(1)) | {"itemsize": ITEMSIZES},
    example=(10, 1000, 4, 32_768),
    fixed=cases_of("rows columns itemsize cache",
        (3, 1024, 4, 4096), (3, 1024, 4, 4095), (1, 1, 8, 1), (1, 5, 1, 5), (10, 9000, 4, 36_500),
        (900, 1, 2, 64),
        (4096, 4096, 4, 49_152), (64, 100_000, 4, 49_152), (5000, 20, 8, 1000)),
    insight="In fp32 it is 20 bytes a number, not 36: no kernel reads two arrays as large as x. "
            "One kernel moves 8, or 12 where a row does not fit.",
    answer={
        "_n": lambda rows, columns: rows * columns,
        "_again": lambda columns, itemsize, cache: columns * itemsize > cache,
        "three kernels": lambda _n, rows, itemsize: (5 * _n + 2 * rows) * itemsize,
        "one kernel": lambda _n, _again, itemsize: (2 + _again) * _n * itemsize,
    },
    slips=(
        slip("two reads and a write each",
             "which two arrays would a kernel that squares x read?",
             ways=[{"three_kernels": lambda _n, itemsize: 9 * _n * itemsize}]),
        slip("the norms are left out",
             "the second kernel writes a number for each row, and the third reads it.",
             ways=[{"three_kernels": lambda _n, itemsize: 5 * _n * itemsize}]),
        slip("the norms travel once", "one kernel writes them, and another one reads them.",
             ways=[{"three_kernels": lambda _n, rows, itemsize: (5 * _n + rows) * itemsize}]),
        slip("a norm for every number",
             "there is one norm for each row, not one for each number.",
             ways=[{"three_kernels": lambda _n, itemsize: 7 * _n * itemsize},
                   {"three_kernels": lambda _n, itemsize: 6 * _n * itemsize}]),
        slip("always read twice", "does the row still lie in the cache?",
             ways=[{"one_kernel": lambda _n, itemsize: 3 * _n * itemsize}]),
        slip("always read once", "a row that is larger than the cache is gone when it is needed.",
             ways=[{"one_kernel": lambda _n, itemsize: 2 * _n * itemsize}]),
        slip("all of x has to fit",
             "the second time it needs this row only, not all of x.",
             _again=lambda _n, itemsize, cache: _n * itemsize > cache),
        slip("columns for bytes", "a row of so many columns has columns · itemsize bytes.",
             _again=lambda columns, cache: columns > cache),
        slip("just full is too full", "a row that is as large as the cache fits.",
             _again=lambda columns, itemsize, cache: columns * itemsize >= cache),
        slip("elements for bytes", itemsize=1),
    ),
)  # fmt: skip


# ---- 10-share ------------------------------------------------------------------------------------
SHARE = table(
    "10-share", "What share was it?", 3,
    "A chain became `chain` times as fast, and the part of the model around it `whole` times as "
    "fast. Nothing else in it has changed. Return the share of that part's *old* time that the "
    "chain took, from 0 to 1.",
    "share(chain, whole)", lines=1,
    cases=drawn(4, chain=(1.5, 12.0), whole=lambda chain, rng: chain ** rng.uniform(0.02, 0.9)),
    domain={"chain": Domain("more than 1", (1.25,)), "whole": Domain("above 1, chain at most", ())},
    example=(4.0, 1.6),
    fixed=cases_of("chain whole", (1.25, 1.001), (3.0, 3.0), (2.0, 1.01), (9.0, 1.5), (40.0, 2.0),
                   (2.5, 1.01)),
    insight="Counted, SwiGLU's chain takes 6 % of the time around it and becomes 5/3 times as "
            "fast. So that part gains 2 %, and 1 % was published.",
    answer=lambda chain, whole: (1 - 1 / whole) / (1 - 1 / chain),
    slips=(
        slip("share of the new time",
             "the chain takes less of the time afterwards; the old time is asked for.",
             answer=lambda chain, whole: (whole - 1) / (chain - 1)),
        slip("the chain vanishes",
             "that would be its share if it took no time any more; it still takes some.",
             answer=lambda whole: 1 - 1 / whole),
        slip("one over the other", "add up the time of both parts, before and after.",
             answer=[lambda chain, whole: whole / chain,
                     lambda chain, whole: (1 / whole) / (1 / chain) / chain**2]),
        slip("of the rest", "that is the share of all that did not become faster.",
             answer=lambda chain, whole: 1 - (1 - 1 / whole) / (1 - 1 / chain)),
        slip("in per cent", "the share goes from 0 to 1.",
             answer=lambda chain, whole: 100 * (1 - 1 / whole) / (1 - 1 / chain)),
    ),
)  # fmt: skip


# ---- 10-stream -----------------------------------------------------------------------------------
def _streamed(blocks: Blocks, *, sums: bool = True, values: bool = True) -> float:
    """The weighted mean in one pass; ``sums``, ``values``: what is rescaled at a new maximum."""
    most, total, mean = -math.inf, 0.0, 0.0
    for scores, numbers in blocks:
        now = max(most, *scores)
        shrink = math.exp(most - now)
        weights = [math.exp(score - now) for score in scores]
        total = total * (shrink if sums else 1) + math.fsum(weights)
        mean = mean * (shrink if values else 1) + math.fsum(map(math.prod, zip(weights, numbers)))
        most = now
    return mean / total


def _each(blocks: Blocks, **shrinks: bool) -> float:
    """The same, one score at a time."""
    pairs = [pair for one in blocks for pair in zip(*one)]
    return _streamed([[[score], [value]] for score, value in pairs], **shrinks)


def _at_maxima(blocks: Blocks, maxima: Sequence[float]) -> float:
    """Each block with this maximum, and nothing brought to one scale."""
    pairs = [(math.exp(min(s - most, 700)), v) for (scores, values), most in zip(blocks, maxima)
             for s, v in zip(scores, values)]  # fmt: skip
    return math.fsum(map(math.prod, pairs)) / math.fsum(weight for weight, _ in pairs)


def _blocks(rng: random.Random) -> Case:
    level, blocks = rng.uniform(-900, 900), []
    for _ in range(rng.randrange(3, 6)):
        level += rng.uniform(-3, 3)
        many = rng.randrange(1, 5)
        blocks.append([[level + rng.uniform(-2, 2) for _ in range(many)],
                       [rng.uniform(-5, 5) for _ in range(many)]])  # fmt: skip
    return {"blocks": blocks}


STREAM = table(
    "10-stream", "Softmax in one pass", 5,
    "`blocks` is a list of pairs: some scores, and as many values. Return the mean of all values, "
    "each weighted by the softmax of its score over all blocks: e to the score, divided by the "
    "sum of all of these. Go through the blocks once, and keep only three numbers: the largest "
    "score so far, the sum of the weights, and the weighted sum of the values. Scores may be as "
    "large as ±1000, so subtract the largest one before math.exp.",
    "streamed(blocks)", lines=10,
    cases=lambda rng: [_blocks(rng) for _ in range(4)],
    domain={"blocks": any_length(1)},
    example=([[[1.0, 2.0], [10.0, 20.0]], [[3.0], [30.0]]],),
    fixed=cases_of("blocks",
        ([[[0.0], [4.0]]],),
        ([[[999.0, 998.0], [1.0, 3.0]], [[1000.0, 997.0], [7.0, -2.0]]],),
        ([[[-999.0], [2.0]], [[-1000.0, -998.5], [5.0, 6.0]], [[-999.0], [9.0]]],),
        ([[[3.0, 3.0], [1.0, 5.0]], [[3.0], [9.0]]],),
        ([[[900.0], [2.0]], [[-900.0], [1.0]]],),
        ([[[0.0], [1.0]], [[-900.0, 900.0, 899.0], [1.0, 2.0, 4.0]]],),
        ([[[2.0, 1.0], [3.0, -1.0]], [[0.0], [2.0]], [[1.5], [8.0]], [[4.0], [1.0]]],),
        ([[[-900.0], [1.0]], [[900.0], [2.0]], [[899.0], [4.0]]],)),
    errors=(("OverflowError", "a difference too large",
             "e to 1000 is no number any more: subtract the largest score so far, of all blocks."),
            ("ZeroDivisionError", "all weights are 0",
             "the largest score so far has to begin below every score, at −inf, and be "
             "subtracted.")),
    insight="FlashAttention is this, with blocks of a matrix: the scores are never in memory.",
    answer=lambda blocks: _streamed(blocks),
    slips=(
        slip("every block has its own scale",
             "weights of different blocks can be added when the same maximum is taken off.",
             answer=lambda blocks: _at_maxima(blocks, [max(scores) for scores, _ in blocks])),
        slip("the sum is not rescaled",
             "when a larger score comes, the old sum of weights shrinks by e to the difference.",
             answer=[lambda blocks: _streamed(blocks, sums=False),
                     lambda blocks: _each(blocks, sums=False)]),
        slip("the values are not rescaled",
             "when a larger score comes, the old sum of weighted values shrinks, too.",
             answer=[lambda blocks: _streamed(blocks, values=False),
                     lambda blocks: _each(blocks, values=False)]),
        slip("nothing is rescaled", "when a larger score comes, both old sums shrink.",
             answer=[lambda blocks: _streamed(blocks, sums=False, values=False),
                     lambda blocks: _each(blocks, sums=False, values=False)]),
        slip("mean of the blocks' means",
             "a block with larger scores weighs more.",
             answer=lambda blocks: math.fsum(_streamed([one]) for one in blocks) / len(blocks)),
        slip("the first block's maximum",
             "a later score may be far above it; then e to the difference overflows.",
             answer=lambda blocks: _at_maxima(blocks, [max(blocks[0][0])] * len(blocks))),
        slip("scores as weights", "the weights are e to the scores.",
             answer=lambda blocks: sum(s * v for one in blocks for s, v in zip(*one))
             / (sum(s for one in blocks for s in one[0]) or 1.0)),
        slip("weights without the sum", "the weights have to add up to 1: divide by their sum.",
             answer=lambda blocks: _streamed(blocks) * sum(
                 math.exp(s - max(map(max, (b[0] for b in blocks))))
                 for one in blocks for s in one[0])),
    ),
)  # fmt: skip


# ---- 10-attention --------------------------------------------------------------------------------
ATTENTION = table(
    "10-attention", "The intensity of attention", 3,
    "One head: Q, K, V and the result are s × d, the scores s × s. Written out, the scores are "
    "written by QKᵀ, read and written by a pass that masks them if there is one, read and written "
    "by softmax, and read by the product with V; Q, K and V are read and the result is written "
    "once. Streamed, no score is ever in memory. Both products count in full, also with a mask; "
    "softmax does not count. Return the FLOP/byte of both.",
    "attention(s, d, itemsize, masked)", lines=3,
    cases=drawn(3, s=range(500, 9000), d=[64, 128, 80], itemsize=[2, 4, 1],
                masked=[False, True, True]),
    domain={"s": at_least(1), "d": at_least(1), "itemsize": ITEMSIZES,
            "masked": one_of(False, True)},
    example=(100, 64, 2, False),
    fixed=cases_of("s d itemsize masked",
        (8192, 128, 2, False), (8192, 128, 2, True), (1, 128, 4, False), (700, 1, 8, True),
        (16, 512, 1, False), (1, 1, 2, True)),
    insight="With fp16 and long contexts it is nearly d/2 written out, d/3 with a mask: 64 for "
            "d = 128. Streamed, it grows with s, past any ridge.",
    answer={
        "_flops": lambda s, d: 4 * s * s * d,
        "_passes": lambda masked: 6 if masked else 4,
        "written out": lambda _flops, _passes, s, d, itemsize:
            _flops / ((_passes * s * s + 4 * s * d) * itemsize),
        "streamed": lambda _flops, s, d, itemsize: _flops / (4 * s * d * itemsize),
    },
    slips=(
        slip("half of the FLOPs",
             "there are two products, QKᵀ and the one with V, and a multiply-add is 2 FLOPs.",
             _flops=lambda s, d: 2 * s * s * d),
        slip("softmax is free", "softmax reads the scores and writes them, too.",
             _passes=lambda masked: 4 if masked else 2),
        slip("the mask is free", "the pass that masks reads the scores and writes them.",
             _passes=4),
        slip("the mask only writes", "it has to read the scores, too.",
             _passes=lambda masked: 5 if masked else 4),
        slip("a mask halves the work",
             "this mask sets scores that were computed; it saves no product.",
             _flops=lambda s, d, masked: (2 if masked else 4) * s * s * d),
        slip("only scores travel", "Q, K, V and the result travel, too.",
             ways=[{"written_out": lambda _flops, _passes, s, itemsize:
                    _flops / (_passes * s * s * itemsize)}]),
        slip("scores written once", "count each time that they are read or written.",
             _passes=lambda masked: 1),
        slip("elements for bytes", itemsize=1),
        slip("upside down", ways=[
            {"written_out": lambda _flops, _passes, s, d, itemsize:
                (_passes * s * s + 4 * s * d) * itemsize / _flops},
            {"streamed": lambda _flops, s, d, itemsize: 4 * s * d * itemsize / _flops}]),
    ),
)  # fmt: skip


# ---- 10-recompute --------------------------------------------------------------------------------
def _least(layers: int, all_: int, kept: int, memory: int) -> int:
    """The least number of layers of which only ``kept`` of ``all_`` bytes stay; -1: no number."""
    over = layers * all_ - memory
    needed = max(0, -(-over // (all_ - kept)))
    return needed if needed <= layers else -1


RECOMPUTE = table(
    "10-recompute", "Which layers forget", 4,
    "For s positions, b texts, width h and a heads, a layer keeps 34·s·b·h + 5·a·b·s² bytes for "
    "the way back. A layer that is recomputed keeps its input only, 2·s·b·h bytes; what it needs "
    "while it is computed again is not counted. There are `layers` layers, and room for `memory` "
    "bytes. Return the least number of layers that have to be recomputed, or -1 if recomputing "
    "all of them is not enough.",
    "recomputed(layers, s, b, h, a, memory)", lines=5,
    cases=drawn(4, layers=range(20, 100), s=[2048, 1024, 4096, 2000], b=[1, 2, 4, 3],
                h=[4096, 1024, 2048, 6000], a=[32, 16, 8, 60],
                memory=lambda rng, layers, s, b, h, a: rng.randrange(
                    2 * s * b * h * layers, layers * (34 * s * b * h + 5 * a * b * s * s))),
    domain=dict.fromkeys(("layers", "s", "b", "h", "a", "memory"), at_least(1)),
    example=(12, 100, 1, 50, 4, 2_000_000),
    fixed=cases_of("layers s b h a memory",
        (96, 2048, 1, 12288, 96, 80 * 10**9), (96, 2048, 1, 12288, 96, 10**12),
        (96, 2048, 1, 12288, 96, 10**9), (1, 1, 1, 1, 1, 39), (1, 1, 1, 1, 1, 38),
        (7, 1, 1, 1, 1, 7 * 2), (7, 1, 1, 1, 1, 7 * 2 - 1), (12, 100, 1, 50, 4, 1_919_999),
        (5, 10, 2, 8, 3, 1),
        (2, 3, 1, 5, 1, 1200),
        (40, 512, 8, 1024, 16, 9 * 10**9)),
    insight="For GPT-3's layer the two terms are 34 and 80 s·b·h: most of it comes from the "
            "scores, which cost the least to compute again.",
    answer={
        "_all": lambda s, b, h, a: 34 * s * b * h + 5 * a * b * s * s,
        "_kept": lambda s, b, h: 2 * s * b * h,
        "answer": lambda layers, _all, _kept, memory: _least(layers, _all, _kept, memory),
    },
    slips=(
        slip("a recomputed layer keeps nothing",
             "it has to begin somewhere: it keeps its input.", _kept=0),
        slip("rounded down", "then they do not quite fit.",
             answer=[lambda layers, _all, _kept, memory:
                     -1 if layers * _kept > memory
                     else max(0, (layers * _all - memory) // (_all - _kept)),
                     lambda layers, _all, _kept, memory:
                     n if (n := max(0, (layers * _all - memory) // (_all - _kept))) <= layers
                     else -1]),
        slip("the scores are left out", "5·a·b·s² bytes of scores are kept, too.",
             _all=lambda s, b, h: 34 * s * b * h),
        slip("only the scores are forgotten",
             "a layer that is recomputed keeps its input only, not 34·s·b·h.",
             _kept=lambda s, b, h: 34 * s * b * h),
        slip("never impossible", "even the inputs of all layers may be too much.",
             answer=[lambda layers, _all, _kept, memory:
                     max(0, -(-(layers * _all - memory) // (_all - _kept))),
                     lambda layers, _all, _kept, memory:
                     layers if (n := _least(layers, _all, _kept, memory)) < 0 else n]),
        slip("how many stay", "count the layers that are recomputed.",
             answer=lambda layers, _all, _kept, memory:
                 -1 if (n := _least(layers, _all, _kept, memory)) < 0 else layers - n),
        slip("scores without heads", "every one of the a heads has s × s scores.",
             _all=lambda s, b, h: 34 * s * b * h + 5 * b * s * s),
        slip("less than nothing", "if everything fits, no layer is recomputed: 0.",
             answer=lambda layers, _all, _kept, memory:
                 -1 if layers * _kept > memory
                 else -(-(layers * _all - memory) // (_all - _kept))),
    ),
)  # fmt: skip


# ---- 10-segments ---------------------------------------------------------------------------------
def _divisors(number: int) -> list[int]:
    return [d for d in range(1, number + 1) if number % d == 0]


SEGMENTS = table(
    "10-segments", "How long a segment?", 3,
    "`layers` layers are cut into segments of c layers, where c divides `layers`. The input of "
    "each segment is kept. On the way back one segment at a time is computed again, and all "
    "`inner` numbers of each of its layers are kept while it is needed; the input of a segment "
    "counts as one number. Return the c for which the peak is lowest, the smaller one if there "
    "are two.",
    "segment(layers, inner)", lines=2,
    cases=drawn(4, layers=[96, 64, 120, 36], inner=range(1, 40)),
    domain={"layers": at_least(1), "inner": at_least(1)},
    example=(12, 5),
    fixed=cases_of("layers inner", (1, 9), (100, 1), (96, 17), (7, 1), (13, 40), (48, 3), (16, 4),
                   (6, 1), (720, 7), (49, 4), (110, 2)),
    insight="Without `inner` it is the square root of the layers; the fatter a layer, the shorter "
            "the segment.",
    answer={
        "_cost": lambda layers, inner: {
            c: layers // c + inner * c for c in _divisors(layers)},
        "answer": lambda _cost: min(_cost, key=_cost.__getitem__),
    },
    slips=(
        slip("the square root of the layers",
             "a layer that is computed again keeps `inner` numbers.",
             ways=[{"_cost": lambda layers: {c: layers // c + c for c in _divisors(layers)}}]),
        slip("not a divisor", "segments are of one length: c divides `layers`.",
             answer=[lambda layers, inner: round(math.sqrt(layers / inner)),
                     lambda layers, inner: math.sqrt(layers / inner),
                     lambda layers, inner: math.isqrt(layers // inner),
                     lambda layers: round(math.sqrt(layers)), lambda layers: math.isqrt(layers)]),
        slip("how many segments", "c is the length of a segment, not their number.",
             answer=lambda _cost, layers: layers // min(_cost, key=_cost.__getitem__)),
        slip("the larger of two", "of two that are equally good, take the smaller one.",
             answer=lambda _cost: min(reversed(_cost), key=_cost.__getitem__)),
        slip("the least that is kept", "that is how much is kept; the length c is asked for.",
             answer=lambda _cost: min(_cost.values())),
        slip("inputs of all layers", "only the input of each segment is kept.",
             ways=[{"_cost": lambda layers, inner: {
                 c: layers + inner * c for c in _divisors(layers)}}]),
    ),
)  # fmt: skip

EXERCISES = (MOVES, SHARE, NORM, STREAM, ATTENTION, RECOMPUTE, SEGMENTS)

"""Exercises of lesson 04: M, N, K of a layer, its intensity, time and knee, and who is last.

Throughout, a linear layer turns tokens × inputs numbers into tokens × outputs: M = tokens,
N = outputs, K = inputs. Machines are those of the catalogue; the learner sees figures, not names.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from math import floor, inf
from pathlib import Path

from rooflab.course.drawing import peak_and_bandwidth
from rooflab.course.timed_cases import TimedCase, read_timed_cases
from rooflab.exercises.exercise import ITEMSIZES, Case, any_length, at_least, cases_of
from rooflab.exercises.table import drawn, slip, table

# (inputs, outputs) of layers in public models: Llama-2-7B up and down, Llama-3-8B, GPT-2 both ways.
LAYERS = ((4096, 11008), (11008, 4096), (4096, 14336), (768, 3072), (3072, 768), (1600, 6400))
EDGES = {  # one of them
    "inputs": lambda _layer: _layer[0],
    "outputs": lambda _layer: _layer[1],
    "_layer": lambda rng: rng.choice(LAYERS),
}
# Machine, number type and bytes a number; ridges from 8 to 300 FLOP/byte.
MACHINES = (
    ("mi300x", "fp16", 2), ("h100-sxm", "bf16", 2), ("h200-sxm", "bf16", 2),
    ("rtx-4090", "fp16", 2), ("m3-pro", "fp32", 4), ("a100-sxm-80", "fp32", 4),
    ("h200-sxm", "fp32", 4), ("a100-sxm-80", "fp64", 8), ("h200-sxm", "fp64", 8),
)
ROOFS = {  # of one of them, and the tokens with which a very large layer reaches its ridge
    "itemsize": lambda _of: _of[2],
    "peak": lambda _of: peak_and_bandwidth(*_of[:2])[0],
    "bandwidth": lambda _of: peak_and_bandwidth(*_of[:2])[1],
    "_of": lambda rng: rng.choice(MACHINES),
    "_ridge": lambda itemsize, peak, bandwidth: itemsize * peak / bandwidth / 2,
}


SHAPES = table(
    "04-shapes", "M, N and K", 1,
    "A linear layer as one matrix product, when it reads a prompt and when it writes: M, N, K?",
    "shape(batch, length, inputs, outputs, decode)", lines=2,
    cases=drawn(4, batch=range(2, 30), length=range(33, 500), **EDGES, decode=[False, True]),
    fixed=cases_of("batch length inputs outputs decode", (1, 300, 768, 2304, True),
        (1, 300, 2304, 768, False), (12, 1, 5120, 13824, False), (3, 1, 1, 7, True),
        (96, 96, 640, 640, True), (300, 131_072, 28_672, 53_248, False), (2000, 5, 100, 1, True)),
    domain=dict.fromkeys(("batch", "length", "inputs", "outputs"), at_least(1)),
    example=(3, 10, 20, 50, False),
    insight="The weights are the same matrix both times. Only M, the number of tokens, tells "
            "reading from writing.",
    answer={
        "M": lambda batch, length, decode: batch if decode else batch * length,
        "N": lambda outputs: outputs,
        "K": lambda inputs: inputs,
    },
    slips=(
        slip("N and K exchanged", "N is the last edge of the result, so the outputs; K is summed "
             "over.", ways=[{"N": lambda inputs: inputs, "K": lambda outputs: outputs}]),
        slip("K from the wrong edge",
             "the rows of X are tokens; each output is a sum over the inputs.", K=lambda M: M),
        slip("every position again", "in decode only the newest token of each sequence goes "
             "through the layer.", decode=False),
        slip("only the newest", "a prompt goes through the layer with all its tokens at once.",
             decode=True),
        slip("one sequence", "all sequences of the batch go through the layer together.", batch=1),
        slip("one token at a time",
             "the same weights serve all tokens, so they are rows of one product.", M=1),
        slip("reading and writing exchanged", "a prompt is read with all its tokens at once; with "
             "decode=True each sequence writes one.", decode=lambda decode: not decode),
        slip("one edge twice", "the weights have two edges: what goes in, and what comes out.",
             N=lambda inputs: inputs, K=lambda outputs: outputs),
    ),
)


INTENSITIES = table(
    "04-intensities", "Reading and writing", 2,
    "The same layer in prefill (all tokens of all prompts) and in decode (one token of each): how "
    "many FLOPs a byte?",
    "intensities(batch, length, inputs, outputs, itemsize)", lines=4, derives=("gemm", "gemv"),
    cases=drawn(4, batch=range(2, 40), length=range(64, 1000), **EDGES, itemsize=[1, 2, 4, 8]),
    fixed=cases_of("batch length inputs outputs itemsize", (1, 900, 5120, 640, 1), (3, 1, 7, 1, 8),
        (1, 1, 1000, 1000, 4), (640, 131_072, 28_672, 53_248, 2), (100, 12, 1, 300, 1),
        (48, 48, 48, 96, 8)),
    domain={**dict.fromkeys(("batch", "length", "inputs", "outputs"), at_least(1)),
            "itemsize": ITEMSIZES},
    example=(3, 10, 60, 20, 1),
    insight="Compare both with the ridge of your machine: which of them waits for memory there?",
    answer={
        "_work": lambda inputs, outputs: 2 * inputs * outputs,  # FLOPs of a token
        "_weights": lambda inputs, outputs: inputs * outputs,
        "_each": lambda inputs, outputs: inputs + outputs,  # numbers that a token brings and takes
        "_of": lambda _work, _weights, _each, itemsize: lambda tokens:
            tokens * _work / ((_weights + tokens * _each) * itemsize),
        "prefill intensity": lambda _of, batch, length: _of(batch * length),
        "decode intensity": lambda _of, batch: _of(batch),
    },
    slips=(
        slip("only the weights travel",
             "what goes in and what comes out travels too, more of it with every token.", _each=0),
        slip("the weights forgotten",
             "the layer's own matrix travels too, inputs × outputs weights.", _weights=0),
        slip("weights again for every token", "one product reads the weights once, however many "
             "tokens they serve.", ways=[{"batch": 1, "length": 1}]),
        slip("the result forgotten", "what comes out travels too: it is written.",
             _each=lambda inputs: inputs),
        slip("M·K twice", "three different faces travel: M×K, K×N, and the result, M×N.",
             _each=lambda inputs: 2 * inputs),
        slip("per number", "that is FLOPs per number; each has `itemsize` bytes.", itemsize=1),
        slip("multiply-adds", _work=lambda inputs, outputs: inputs * outputs),
        slip("every position in decode", "in decode only the newest token of each sequence goes "
             "through the layer.", decode_intensity=lambda prefill_intensity: prefill_intensity),
    ),
)


LAYER = table(
    "04-layer", "The time of a layer", 2,
    "How many seconds does a linear layer take at least, for any number of tokens?",
    "layer(tokens, inputs, outputs, itemsize, peak, bandwidth)", lines=3, mine="layer",
    derives=("gemm", "gemv", "Roofline", "predict"),
    cases=drawn(
        5, tokens=lambda rng, _ridge: round(_ridge * rng.uniform(0.2, 3)), **EDGES, **ROOFS),
    fixed=cases_of("tokens inputs outputs itemsize peak bandwidth",
        (1, 3072, 768, 1, 3.1e10, 2.7e10), (40, 100, 12, 8, 9e10, 1.9e10),
        (300, 640, 2304, 2, 2.25e15, 8e12), (5000, 7, 1, 4, 6.5e10, 3.1e10),
        (131_072, 28_672, 53_248, 1, 4.5e15, 8e12), (300, 300, 300, 4, 2e9, 3e9),
        (1, 1, 1, 2, 5e10, 4e10)),
    domain={**dict.fromkeys(("tokens", "inputs", "outputs"), at_least(1)), "itemsize": ITEMSIZES},
    example=(5, 20, 10, 2, 2e9, 1e9),
    insight="With few tokens nearly all of it is the time of the weights, and further tokens "
            "ride along.",
    answer={
        "_computing": lambda tokens, inputs, outputs, peak: 2 * tokens * inputs * outputs / peak,
        "_numbers": lambda tokens, inputs, outputs:
            tokens * inputs + inputs * outputs + tokens * outputs,
        "_carrying": lambda _numbers, itemsize, bandwidth: _numbers * itemsize / bandwidth,
        "seconds": lambda _computing, _carrying: max(_computing, _carrying),
    },
    slips=(
        slip("weights again for every token",
             "the weights are read once, however many tokens they serve.",
             _numbers=lambda tokens, inputs, outputs:
                 tokens * (inputs + inputs * outputs + outputs)),
        slip("only the weights travel", "what goes in and what comes out travels too; in a small "
             "layer it shows.", _numbers=lambda inputs, outputs: inputs * outputs),
        slip("one token's time",
             "more tokens are free for a while only; then they are computed.", tokens=1),
        slip("sum for max", "carrying and computing happen at the same time: the longer, not the "
             "sum.", seconds=lambda _computing, _carrying: _computing + _carrying),
        slip("only computing",
             "with few tokens the weights take longer to arrive than to be used.", _carrying=0),
        slip("only carrying", "with many tokens the arithmetic, 2 FLOPs for each weight and token, "
             "takes longer than the bytes.", _computing=0),
        slip("multiply-adds", peak=lambda peak: 2 * peak),
        slip("the result forgotten", "what comes out travels too: it is written.",
             _numbers=lambda tokens, inputs, outputs: tokens * inputs + inputs * outputs),
        slip("elements for bytes", itemsize=1),
        slip("2 bytes always", itemsize=2),
    ),
)


def _knee(inputs: int, outputs: int, itemsize: int, peak: float, bandwidth: float) -> float:
    """Tokens at which 2/s ÷ (1/M + 1/N + 1/K) is the ridge."""
    return 1 / (2 * bandwidth / (itemsize * peak) - 1 / inputs - 1 / outputs)


KNEE = table(
    "04-knee", "The knee", 2,
    "With how many tokens does a layer reach the ridge, so that more of them are no longer free?",
    "knee(inputs, outputs, itemsize, peak, bandwidth)", lines=2,
    cases=drawn(5, **EDGES, **ROOFS), derives=("gemm", "gemv", "Roofline"),
    fixed=cases_of("inputs outputs itemsize peak bandwidth", (640, 640, 1, 1.979e15, 3.1e12),
        (100, 28_672, 8, 9e10, 1.9e10), (53_248, 300, 2, 6.5e11, 9e9),
        (100_000, 1_282_560, 1, 4.5e15, 8e12), (12, 30, 4, 2.4e10, 7e9)),
    domain={"itemsize": ITEMSIZES}, example=(32, 128, 2, 1.6e10, 1e9),
    insight="With the roofs of your own machine it says how many tokens at once are nearly free "
            "there.",
    answer=_knee,
    slips=(
        slip("large-layer shortcut",
             "that lets only the weights travel; in small layers what comes in and goes out "
             "counts.",
             answer=[lambda itemsize, peak, bandwidth: itemsize * peak / bandwidth / 2,
                     lambda itemsize, peak, bandwidth: itemsize * peak / bandwidth,
                     lambda peak, bandwidth: peak / bandwidth / 2]),
        slip("the ridge itself", "that is a number of FLOPs per byte, and the question is for "
             "tokens.", answer=lambda peak, bandwidth: peak / bandwidth),
        slip("results or 1/inputs forgotten", "one term is missing: the M×N numbers that are "
             "written, which 1/inputs stands for; their bytes grow with every token.", inputs=inf),
        slip("inputs or 1/outputs forgotten", "one term is missing: the M×K numbers that are "
             "read, which 1/outputs stands for; their bytes grow with every token.", outputs=inf),
        slip("itemsize multiplied", "larger numbers are more bytes: do they take more tokens to "
             "reach the ridge, or fewer?", itemsize=lambda itemsize: 1 / itemsize),
        slip("the wrong sign", "what comes in and goes out lowers the intensity: does that take "
             "more tokens, or fewer?",
             ways=[{"inputs": lambda inputs: -inputs, "outputs": lambda outputs: -outputs}]),
        slip("multiply-adds", peak=lambda peak: 2 * peak),
        slip("2 bytes always", itemsize=2),
        slip("elements for bytes", itemsize=1),
    ),
)


def _least(of: Callable[[int, int], float]) -> Callable[..., int]:
    """The place of the product with the least of ``of(inputs, outputs)``."""
    return lambda products: min(range(len(products)), key=lambda at: of(*products[at]))


LAST = table(
    "04-last", "Who is last?", 3,
    "Several products of a model share a batch. Which of them leaves the memory side last, from "
    "which batch on are all limited by computing, and how much of the peak has the last one now?",
    "last(products, batch, itemsize, peak, bandwidth)", lines=4,
    derives=("gemm", "gemv", "Roofline"),
    cases=drawn(
        4, products=lambda rng, _model: [*map(list, rng.sample(_model, len(_model)))],
        batch=lambda rng, _ridge: round(_ridge * rng.uniform(0.2, 2)),
        **ROOFS | {"_of": lambda rng: rng.choice(MACHINES[:4])},  # small knees share a batch
        _model=[  # its q, k, up and output, as far as they differ in their knee
            ((4096, 4096), (4096, 1024), (4096, 14336), (4096, 128_256)),  # Llama-3-8B
            ((8192, 8192), (8192, 1024), (8192, 28672), (8192, 32_000)),  # Llama-2-70B
            ((4096, 4096), (4096, 11008), (4096, 32_000)),  # Llama-2-7B
            ((768, 768), (768, 3072), (768, 50_257))]),  # GPT-2
    fixed=cases_of("products batch itemsize peak bandwidth",
        ([[576, 640], [300, 100_000], [1_282_560, 768], [640, 576], [1536, 16_384],
         [576, 1_282_560]], 1, 1, 4.5e15, 8e12),
        ([[28_672, 768], [3072, 7168], [640, 10_000], [10_000, 5120], [12, 1536], [768, 12]], 579,
         4, 1.1e11, 1.9e10),
        ([[28_672, 768], [3072, 576], [300, 28_672], [3072, 16_384], [28_672, 100]], 30, 8, 1.1e11,
         1.9e10), ([[300, 7168]], 3000, 8, 6.7e13, 4.8e12),
        ([[16_384, 1_282_560], [17_000, 18_000]], 290, 2, 2.25e15, 8e12)),
    domain={"products": any_length(1), "batch": at_least(1), "itemsize": ITEMSIZES},
    example=([[32, 128], [100, 50]], 16, 2, 1.6e10, 1e9),
    insight="One narrow product may stay below the peak when all others have arrived. In a "
            "model of your own, look for it first.",
    answer={
        "_knees": lambda products, itemsize, peak, bandwidth:
            [_knee(*edges, itemsize, peak, bandwidth) for edges in products],
        "_last": lambda _knees: _knees.index(max(_knees)),
        "_intensity": lambda products, _last, batch, itemsize:
            2 / itemsize / (1 / batch + sum(1 / edge for edge in products[_last])),
        "_slope": lambda _intensity, peak, bandwidth: _intensity * bandwidth / peak,
        "place of the last": lambda _last: _last,
        "batch for all": lambda _knees, _last: floor(_knees[_last]) + 1,
        "share of the peak": lambda _slope: min(1, _slope),
    },
    slips=(
        slip("the largest", "more weights are more to load and more to compute; what lifts a knee "
             "is a narrow edge.", _last=_least(lambda inputs, outputs: -inputs * outputs)),
        slip("the smallest", "a product with more weights or more outputs may come later: both of "
             "its edges count, and the narrower one most.",
             _last=[_least(lambda inputs, outputs: inputs * outputs),
                    _least(lambda inputs, outputs: outputs),
                    _least(lambda inputs, outputs: inputs + outputs)]),
        slip("the narrowest edge", "the narrower edge counts most, and the other one still counts.",
             _last=_least(min)),
        slip("the first, not the last", "from that batch on one of them is limited by computing; "
             "when are all?", batch_for_all=lambda _knees: floor(min(_knees)) + 1,
             _last=lambda _knees: _knees.index(min(_knees))),
        slip("counted from 1", "places in a list begin with 0.",
             place_of_the_last=lambda _last: _last + 1),
        slip("batch = ridge", "what comes in and goes out counts as well, and most of all where an "
             "edge is narrow.", batch_for_all=lambda itemsize, peak, bandwidth:
                 floor(itemsize * peak / bandwidth / 2) + 1),
        slip("rounded down", "at that batch the last one is still left of the ridge.",
             batch_for_all=lambda _knees, _last: floor(_knees[_last])),
        slip("not rounded", "a batch is a whole number: which is the first at which all of them "
             "are limited by computing?", batch_for_all=lambda _knees, _last: _knees[_last]),
        slip("per cent", "a share is between 0 and 1; that is in per cent.",
             share_of_the_peak=lambda _slope: 100 * min(1, _slope)),
        slip("above the roof", "beyond the knee the roof is flat: nothing gets more than the whole "
             "peak.", share_of_the_peak=lambda _slope: _slope),
    ),
)


def _near(share: float) -> Callable[[int, int, int], bool]:
    """A test that lets a difference of this ``share`` of the true count pass."""
    return lambda m, n, k: abs(m * k - m * n) > share * (m * k + k * n + m * n)


CONVICTS = table(
    "04-convicts", "“M·K + K·N + M·K”", 2,
    "A published count of what travels is M·K + K·N + M·K. Does a test with this shape notice?",
    "convicts(m, n, k)", derives=("gemm",),
    cases=drawn(5, m=range(1, 5), n=range(1, 5), k=range(1, 5)),
    fixed=cases_of("m n k", (1, 1, 1), (1, 2, 1), (1, 7, 7), (7, 1, 7), (7, 7, 1), (300, 301, 300),
        (300, 300, 301), (5, 100, 100), (1, 30_000_000, 30_000_001), (16, 4253, 4096)),
    domain=dict.fromkeys("mnk", at_least(1)), example=(2, 3, 5),
    insight="A square test passes a wrong count. Try your own formulas on three different "
            "edges.",
    answer=lambda n, k: n != k,
    slips=(
        slip("all but the cube", "put a shape with two equal edges into both counts; the pair "
             "matters.", answer=lambda m, n, k: not m == n == k),
        slip("all edges different", "one difference is enough, if it is the right one.",
             answer=lambda m, n, k: len({m, n, k}) == 3),
        slip("M against N", "M·K stands where M·N belongs. Put in M = N = 2 and K = 3: are they "
             "alike?", answer=lambda m, n: m != n),
        slip("M against K", "M is an edge of both faces that were mixed up; it cannot tell them "
             "apart.", answer=lambda m, k: m != k),
        slip("one token hides it", "with one token the difference is small, but a count is exact.",
             answer=lambda m, n, k: m > 1 and n != k),
        slip("only when it is too small", "a count that is too large is wrong as well.",
             answer=lambda n, k: n > k),
        slip("only when it is too large", "a count that comes out too small is a wrong one too.",
             answer=lambda n, k: k > n),
        slip("the opposite", "with such a shape the two counts are alike: does a test notice that?",
             answer=lambda n, k: n == k),
        slip("every test", "try a cube: its three faces are all alike.", answer=True),
        slip("nearly the same",
             "the test compares exactly: a count that is off by a single number is a wrong one.",
             answer=[*map(_near, (1e-2, 5e-3, 3e-3, 1e-3, 1e-4, 1e-5, 1e-6, 1e-9))]),
    ),
)

SWAPPED = table(
    "04-swapped", "“N = d_model, K = d_ff”", 2,
    "A published table has N and K of the up projection exchanged. Which of six checks notice?",
    "(flops, bytes, intensity, weights, shape, terms)", kind="value", derives=("gemm",),
    insight="Counts hide an exchange that shapes show. Look at the shapes of a table first.",
    answer={
        "FLOPs": False, "bytes": False, "intensity": False,
        "weights": False, "result's shape": True, "terms of each sum": True,
    },
    slips=(
        slip("everything notices",
             "work the counts out once with N and K, and once with K and N.", whole=(True,) * 6),
        slip("the opposite", "True where a check notices the exchange; you say where it does not.",
             whole=(True, True, True, True, False, False)),
        slip("nothing notices", "give each product a cell of its own, and compare what comes out.",
             whole=(False,) * 6),
        slip("the bytes notice", "MK + KN + MN: exchange the letters N and K, and look at what is "
             "there.", ways=[{"bytes": True, "intensity": True}], bytes=True),
        slip("the ratio notices", "a ratio of two numbers that stay the same stays the same.",
             intensity=True),
        slip("more weights", "a matrix has as many numbers standing as lying.", weights=True),
        slip("the FLOPs notice", "2MNK: a product does not care for the order of its factors.",
             FLOPs=True),
        slip("sums of the same length", "each number of the result is a sum over K: what is K in "
             "either product?", terms_of_each_sum=False),
        slip("the same result", "the result is M×N: write it down for both products.",
             ways=[{"result's_shape": False}]),
    ),
)


def _with_tokens(tokens: float) -> Callable[[int, int, int], float]:
    """The intensity with so many tokens."""
    return lambda inputs, outputs, itemsize: 2 / itemsize / (1 / tokens + 1 / inputs + 1 / outputs)


CEILING = table(
    "04-ceiling", "The ceiling of a layer", 1,
    "Which intensity does a layer come near to, and never reach, with more and more tokens?",
    "ceiling(inputs, outputs, itemsize)", derives=("gemm",),
    cases=drawn(4, inputs=range(768, 8193, 256), outputs=lambda rng, _least:
                _least * rng.randrange(1, 5), itemsize=[2, 4, 1, 8], _least=[4, 768, 4096, 32]),
    fixed=cases_of("inputs outputs itemsize", (640, 640, 8), (1, 300, 4), (53_248, 1, 1),
        (1_282_560, 286_720, 2), (100, 700, 1)),
    domain={"inputs": at_least(1), "outputs": at_least(1), "itemsize": ITEMSIZES},
    example=(60, 30, 1),
    insight="Where it lies below the ridge of a machine, that layer never reaches the peak "
            "there, with however many tokens.",
    answer=_with_tokens(inf),
    slips=(
        slip("the shorter edge rules alone",
             "the shorter edge rules, but the longer one still counts.",
             ways=[{"inputs": lambda inputs, outputs: min(inputs, outputs), "outputs": inf}]),
        slip("one edge alone", "inputs come in and results go out: both edges count.",
             inputs=inf, outputs=inf),
        slip("without end", "every token brings its own numbers in and out, so there is an end.",
             answer=inf),
        slip("the weights stay", "that is one token; with endless tokens the weights are as good "
             "as nothing.", answer=_with_tokens(1)),
        slip("many for endless", "with so many tokens it comes near; what is left when their "
             "number has no end?", answer=[*map(_with_tokens, (1e6, 1e4, 1e5, 1e7, 1e8, 1e9))]),
        slip("multiply-adds", answer=lambda inputs, outputs, itemsize:
             1 / itemsize / (1 / inputs + 1 / outputs)),
        slip("per number", "that is FLOPs per number; each has `itemsize` bytes.", itemsize=1),
    ),
)


GRADIENTS = table(
    "04-gradients", "The way back", 2,
    "M, N and K of the two products of the backward pass: of dX, then of dW?",
    "gradients(m, n, k)",
    form="(M of dX, N of dX, K of dX, M of dW, N of dW, K of dW)",
    cases=drawn(3, m=range(8, 2049), n=range(64, 4097, 64), k=range(96, 4097, 96)),
    also=(("", lambda m, n, k: {"dX": [m, k, n], "dW": [n, k, m]}),
          ("", lambda m, n, k: {"dX": {"M": m, "N": k, "K": n}, "dW": {"M": n, "N": k, "K": m}})),
    fixed=cases_of("m n k", (1, 3072, 768), (5, 1, 9), (9, 5, 1), (96, 96, 100), (100, 96, 96),
        (96, 100, 96), (1_310_720, 53_248, 16_384)),
    domain=dict.fromkeys("mnk", at_least(1)), example=(1, 2, 3),
    insight="Each of the two has as many FLOPs as the product of the forward pass: a training "
            "step has three times as many as a forward pass.",
    answer={  # dX = dY·W and dW = dYᵀ·X for Y = X·Wᵀ, X [M, K], W [N, K]
        "M of dX": lambda m: m, "N of dX": lambda k: k, "K of dX": lambda n: n,
        "M of dW": lambda n: n, "N of dW": lambda k: k, "K of dW": lambda m: m,
    },
    slips=(
        slip("as forward", "a gradient has the shape of what it belongs to: dX that of X, dW that "
             "of W.", whole=lambda m, n, k: (m, n, k, m, n, k)),
        slip("order M, K, N", "the two edges of the result come first, the edge summed over last.",
             whole=lambda m, n, k: (m, n, k, n, m, k)),
        slip("dW first", "dX comes first, then dW.", whole=lambda m, n, k: (n, k, m, m, k, n)),
        slip("dW lying on its side", "W has a row for each output, so dW has too.",
             whole=lambda m, n, k: (m, k, n, k, n, m)),
        slip("dW as forward", "dW has the shape of W, outputs × inputs, and sums over the tokens.",
             whole=lambda m, n, k: (m, k, n, m, n, k)),
        slip("dX lying on its side", "X has a row for each token, so dX has too.",
             whole=lambda m, n, k: (k, m, n, n, k, m)),
        slip("dW is not summed over tokens", "every token has a say in every weight: that is what "
             "dW sums over.", K_of_dW=[1, lambda k: k]),
        slip("dX is summed over tokens", "an input fed all outputs of its own token: that is what "
             "dX sums over.", K_of_dX=lambda m: m),
        slip("dX as forward", "dX has the shape of X, tokens × inputs, and sums over the outputs.",
             whole=lambda m, n, k: (m, n, k, n, k, m)),
    ),
)


# ---- 04-predict ----------------------------------------------------------------------------------
# It asks products of a layer that a recorded decode loop did in the quicker of two ways, one GEMV
# after the other or one GEMM. What either costs a weight is read off one layer of the model, the
# *known* one; asked is another one, where the model of the lesson comes well within what is allowed
# beside the clock. ``recorded.json`` holds what this rule found in a recording, see timed_cases.py.
FROZEN = Path(__file__).with_name("recorded.json")
KINDS = {"one": 1, "few": 2, "many": 2}  # cases of a draw beside the fixed ones
FEWEST = 8  # of a kind: enough for a draw to differ from the next
INPUTS = "tokens inputs outputs first again copy peak"


@dataclass(frozen=True)
class TimedLayer(TimedCase):
    """A product that was timed.

    ``case``: the edges; seconds a weight of the first vector, of each further one and of a copy;
    FLOP/s. ``asked`` and ``known`` name the layers.
    """

    asked: str
    known: str

    @property
    def kind(self) -> str:
        """One token; a few, vector by vector; or many, all at once."""
        vectors, at_once = ways(*self.case.values())
        if at_once < vectors:
            return "many"
        return "few" if self.case["tokens"] > 1 else "one"


def ways(
    tokens: int, inputs: int, outputs: int, first: float, again: float, copy: float, peak: float
) -> tuple[float, float]:
    """Seconds vector by vector, and all at once: a copy of the weights, then the arithmetic."""
    weights = inputs * outputs
    return (weights * (first + (tokens - 1) * again), weights * copy + 2 * tokens * weights / peak)


def model(*case: float) -> float:
    """The lesson's model: the quicker of the two ways, in seconds."""
    return min(ways(*case))


@cache
def recorded() -> Mapping[tuple[float, ...], TimedLayer]:
    """The frozen products by their inputs."""
    found = {}
    for row in read_timed_cases(FROZEN):
        case = {name: row[name] for name in INPUTS.split()}
        found[tuple(case.values())] = TimedLayer(
            case, row["seconds"], row["spread"], row["asked"], row["known"])
    return found


def _cases(rng: random.Random) -> list[Case]:
    """Some of each kind, other ones than the fixed."""
    left = [entry for entry in recorded().values() if entry.case not in PREDICT.fixed]
    return [
        entry.case for kind, count in KINDS.items()
        for entry in rng.sample([e for e in left if e.kind == kind], count)
    ]


def _measured(
    tokens: int, inputs: int, outputs: int, first: float, again: float, copy: float, peak: float
) -> float:
    """What the clock said; the lesson's model of what nobody timed, as in the example."""
    case = tokens, inputs, outputs, first, again, copy, peak
    return recorded()[case].seconds if case in recorded() else model(*case)


PREDICT = table(
    "04-predict", "Predict another layer", 3,
    "A recorded loop did each product of a layer in the quicker of two ways. Predict the seconds "
    "of another layer, from one token to 64. Right is what comes as close to the clock as its "
    "spread and a quarter allow.",
    "predict(tokens, inputs, outputs, first, again, copy, peak)", cases=_cases, lines=4,
    margin=lambda *case: recorded()[case].allowed,
    # Of the recording: close to the switch on both sides; each usual mistake is beyond one of them.
    fixed=cases_of(INPUTS,
        (1, 2048, 768, 2.576e-10, 4.771e-11, 4.584e-10, 117900000000.0),
        (8, 768, 768, 1.897e-10, 6.255e-11, 7.798e-10, 117900000000.0),
        (8, 768, 768, 1.558e-10, 1.071e-10, 5.174e-10, 117900000000.0),
        (32, 768, 8192, 2.087e-10, 4.914e-11, 4.706e-10, 117900000000.0)),
    domain={"tokens": at_least(1)}, example=(2, 200, 500, 2e-10, 1e-10, 4e-10, 1e11),
    derives=("predict", "predict_decode", "Roofline", "decode_recording", "recording"),
    insight="The roof alone would not have told: a product takes as long as the quicker way of "
            "doing it.",
    answer={"_ways": ways, "seconds": _measured},
    slips=(
        slip("the roof",
             "that is a bound; between one token and many neither way comes near it.",
             seconds=lambda tokens, inputs, outputs, first, peak:
                 inputs * outputs * max(first, 2 * tokens / peak)),
        slip("further vectors are free",
             "a further vector finds the weights nearer, but it has to meet all of them.", again=0),
        slip("every vector from memory", "only the first vector waits for the weights to come "
             "from memory.", again=lambda first: first),
        slip("every vector again", "the first vector has to wait for the weights to come from "
             "memory.", first=lambda again: again),
        slip("one vector too many", "the first vector is one of the `tokens`; so many less one "
             "are left.", first=lambda first, again: first + again),
        slip("all at once never wins",
             "with many tokens one copy is cheaper than meeting the weights each time; the copy is "
             "made once, however many tokens it serves.", seconds=lambda _ways: _ways[0]),
        slip("always all at once", "with few tokens the copy costs more than it saves.",
             seconds=lambda _ways: _ways[1]),
        slip("no copy", "all at once begins with a copy of every weight.", copy=0),
        slip("multiply-adds", peak=lambda peak: 2 * peak),
        slip("time per token", "the seconds of the whole product are wanted, for all its tokens "
             "together.", seconds=lambda tokens, _ways: min(_ways) / tokens),
    ),
)


# ---- 04-published --------------------------------------------------------------------------------
# Products that others timed on an H100 (published.json), none of whose (n, k) rl.published() shows.
# Right is what is close in half of the rows and in nine of ten: see kinds/prediction.py. Learners
# choose constants of their own, so a slip is tried with several.
HIDDEN = Path(__file__).with_name("published.json")
PAR = (3.5, 0.8, 0.85)  # µs of a start, shares of the peak and the bandwidth: fitted on rows shown
TYPICAL = ((3.0, 0.75, 0.8), (2.0, 0.8, 0.85), (4.0, 0.7, 0.75), PAR)  # what others may find


@cache
def clock() -> Mapping[tuple[int, int, int], float]:
    """µs of each hidden product."""
    return {(row["m"], row["n"], row["k"]): row["us"] for row in read_timed_cases(HIDDEN)}


def three_constants(
    start: float, of_peak: float, of_bandwidth: float, *, itemsize: int = 2, flops: int = 2,
    joined: Callable[[float, float], float] = max, scale: float = 1, gpu: str = "h100-sxm",
) -> Callable[[int, int, int], float]:
    """A start, then the longer of arithmetic and bytes, each at a share of its roof; in µs."""
    def microseconds(m: int, n: int, k: int) -> float:
        peak, bandwidth = peak_and_bandwidth(gpu, "bf16")
        computing = flops * m * n * k / (of_peak * peak)
        carrying = itemsize * (m * k + k * n + m * n) / (of_bandwidth * bandwidth)
        return scale * (start + 1e6 * joined(computing, carrying))
    return microseconds


def _each(**slip: object) -> list[Callable[[int, int, int], float]]:
    return [three_constants(*constants, **slip) for constants in TYPICAL]


PUBLISHED = table(
    "04-published", "Predict what others measured", 3,
    "Products in bf16 on an H100, timed by others: how many µs? Half of 60 products that you have "
    "not seen must come within 1.25 times of the clock, and nine of ten within 1.5 times.",
    "microseconds(m, n, k)", kind="prediction", par=1.25, lines=3,
    cases=lambda rng: [{"rows": [*map(list, clock())]}], derives=("predict", "Roofline"),
    example=(1024, 3584, 1536), form="17.02 by the clock",
    insight="Three constants, fitted by trying, come within 7 % in half of these rows and within "
            "40 % in nine of ten. On another GPU they would be others.",
    answer=lambda m, n, k: clock().get((m, n, k)) or three_constants(*PAR)(m, n, k),
    slips=(
        slip("the bare bound", "the smallest products take a few µs, whatever their roof says: "
             "every call has to start.", answer=[
                 three_constants(0, 1, 1), *(three_constants(0, *rest) for _, *rest in TYPICAL)]),
        slip("sum for max", "near the ridge the sum is too long: arithmetic and bytes go on at "
             "the same time.", answer=_each(joined=lambda a, b: a + b)),
        slip("1 byte a number", "a number in bf16 has 2 bytes.", answer=_each(itemsize=1)),
        slip("multiply-adds", answer=_each(flops=1)),
        slip("another unit", "µs are wanted: a second has 1e6 of them, a ms has 1000.",
             answer=[way for scale in (1e-6, 1e-3, 1e3) for way in _each(scale=scale)]),
    ),
)


EXERCISES = (
    SHAPES, INTENSITIES, LAYER, PREDICT, KNEE, LAST, CONVICTS, SWAPPED, CEILING, GRADIENTS,
    PUBLISHED,
)

"""Deeper exercises of lesson 04: the ceiling of a layer, the backward pass."""

from __future__ import annotations

import math
import random
from collections.abc import Callable

from rooflab.exercises.exercise import Case, Exercise, Misconception


def _ceiling(inputs: int, outputs: int, itemsize: int) -> float:
    """2/s ÷ (1/N + 1/K), the intensity for infinitely many tokens."""
    return 2 * inputs * outputs / ((inputs + outputs) * itemsize)


def _ceiling_cases(rng: random.Random) -> list[Case]:
    """A layer of low rank, a small one, two large ones; every number has another size."""
    wide = rng.sample((2048, 4096, 5120, 8192), 2)
    layers = [(wide[0], rng.choice((4, 8, 16, 32))), (768, rng.choice((2304, 3072))),
              (wide[1], rng.choice((11008, 14336))), (rng.choice((64, 128)), 4096)]  # fmt: skip
    return [
        {"inputs": inputs, "outputs": outputs, "itemsize": size}
        for (inputs, outputs), size in zip(layers, rng.sample((1, 2, 4, 8), 4), strict=True)
    ]


def _with_tokens(tokens: float) -> Callable[[int, int, int], float]:
    """The intensity with so many tokens, instead of endlessly many."""
    return lambda i, o, s: 2 / s / (1 / tokens + 1 / i + 1 / o)


CEILING = Exercise(
    "04-ceiling", "The ceiling of a layer", 1,
    "Which intensity does a layer come near to, and never reach, with more and more tokens?",
    "ceiling(inputs, outputs, itemsize)", _ceiling, cases=_ceiling_cases, derives=("gemm",),
    insight="Where it lies below the ridge of a machine, that layer never reaches the peak "
            "there, with however many tokens.",
    misconceptions=(
        Misconception("no end", lambda i, o, s: 2 * i * o / s,
                      "the weights fade away, but every token brings its own numbers in and out."),
        Misconception("the shorter edge rules alone", lambda i, o, s: 2 * min(i, o) / s,
                      "the shorter edge rules, but the longer one still counts."),
        Misconception("one edge alone", lambda i, o, s: 2 * i / s,
                      "inputs come in and results go out: both edges count.",
                      variants=(lambda i, o, s: 2 * o / s,)),
        Misconception("upside down", lambda i, o, s: 1 / _ceiling(i, o, s),
                      "that is bytes per FLOP; intensity is FLOPs per byte."),
        Misconception("not turned over", lambda i, o, s: 2 / s * (1 / i + 1 / o),
                      "a larger edge raises the ceiling, so 1/N + 1/K stands below the line."),
        Misconception("without end", lambda i, o, s: math.inf,
                      "every token brings its own numbers in and out, so there is an end."),
        Misconception("as if square", lambda i, o, s: 2 * min(i, o) / (3 * s),
                      "a third is for a cube; with endless tokens only two faces are left."),
        Misconception("the weights stay", lambda i, o, s: 2 * i * o / ((i + o + i * o) * s),
                      "that is one token; with endless tokens the weights are as good as nothing."),
        Misconception("many for endless", _with_tokens(1e6),
                      "with so many tokens it comes near; what is left when their number has no "
                      "end?", variants=tuple(map(_with_tokens, (1e4, 1e5, 1e7, 1e8, 1e9)))),
        Misconception("multiply-adds", lambda i, o, s: _ceiling(i, o, 2 * s),
                      "a multiply-add is 2 FLOPs."),
        Misconception("per number", lambda i, o, s: _ceiling(i, o, 1),
                      "that is FLOPs per number; each has `itemsize` bytes."),
        Misconception("added, not taken together", lambda i, o, s: (i + o) * 2 / s,
                      "1/N and 1/K add up, not N and K: the bytes are in the denominator."),
        Misconception("the longer edge", lambda i, o, s: 2 * max(i, o) / s,
                      "a long edge helps little where the other one is short."),
        Misconception("the sum of the edges", lambda i, o, s: (i + o) / s,
                      "FLOPs are a product of the edges, bytes a sum of faces; divide them and let "
                      "the tokens grow."),
    ),
)  # fmt: skip


def _gradients(m: int, n: int, k: int) -> tuple[int, ...]:
    """dX = dY·W and dW = dYᵀ·X for Y = X·Wᵀ, X [M, K], W [N, K]."""
    return m, k, n, n, k, m


def _named(m: int, n: int, k: int) -> dict[str, list[int]]:
    """The same two by name."""
    return {"dX": [m, k, n], "dW": [n, k, m]}


def _named_twice(m: int, n: int, k: int) -> dict[str, dict[str, int]]:
    return {name: dict(zip("MNK", edges, strict=True)) for name, edges in _named(m, n, k).items()}


def _gradient_cases(rng: random.Random) -> list[Case]:
    return [
        dict(zip("mnk", rng.sample((3, 8, 64, 96, 768, 2048, 3072, 4096), 3), strict=True))
        for _ in range(3)
    ]


GRADIENTS = Exercise(
    "04-gradients", "The way back", 2,
    "M, N and K of the two products of the backward pass: of dX, then of dW?",
    "gradients(m, n, k)", _gradients, cases=_gradient_cases,
    returns=("M of dX", "N of dX", "K of dX", "M of dW", "N of dW", "K of dW"),
    also=(("", _named), ("", _named_twice)),
    insight="Each of the two has as many FLOPs as the product of the forward pass: a training "
            "step has three times as many as a forward pass.",
    misconceptions=(
        Misconception("as forward", lambda m, n, k: (m, n, k, m, n, k),
                      "a gradient has the shape of what it belongs to: dX that of X, dW that of "
                      "W."),
        Misconception("order M, K, N", lambda m, n, k: (m, n, k, n, m, k),
                      "the two edges of the result come first, the edge summed over last."),
        Misconception("dW first", lambda m, n, k: (n, k, m, m, k, n),
                      "dX comes first, then dW."),
        Misconception("dW lying on its side", lambda m, n, k: (m, k, n, k, n, m),
                      "W has a row for each output, so dW has too."),
        Misconception("dW as forward", lambda m, n, k: (m, k, n, m, n, k),
                      "dW has the shape of W, outputs × inputs, and sums over the tokens."),
        Misconception("dX lying on its side", lambda m, n, k: (k, m, n, n, k, m),
                      "X has a row for each token, so dX has too."),
        Misconception("dW is not summed over tokens", lambda m, n, k: (m, k, n, n, k, k),
                      "every token has a say in every weight: that is what dW sums over."),
        Misconception("dX is summed over tokens", lambda m, n, k: (m, k, m, n, k, m),
                      "an input fed all outputs of its own token: that is what dX sums over."),
        Misconception("dX as forward", lambda m, n, k: (m, n, k, n, k, m),
                      "dX has the shape of X, tokens × inputs, and sums over the outputs."),
    ),
)  # fmt: skip

EXERCISES = (CEILING, GRADIENTS)

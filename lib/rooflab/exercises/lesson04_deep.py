"""Deeper exercises of lesson 04: the ceiling of a layer, padded edges, the backward pass."""

from __future__ import annotations

import random
from collections.abc import Callable

from rooflab.exercises.exercise import Case, Exercise, Misconception


def _ceiling(inputs: int, outputs: int, itemsize: int) -> float:
    """2/s ÷ (1/N + 1/K), the intensity for infinitely many tokens (facts/001, section 6)."""
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


CEILING = Exercise(
    "04-ceiling", "The ceiling of a layer", 1,
    "Which intensity does a layer come near to, and never reach, with more and more tokens?",
    "ceiling(inputs, outputs, itemsize)", _ceiling, cases=_ceiling_cases, derives=("gemm",),
    misconceptions=(
        Misconception("no end", lambda i, o, s: 2 * i * o / s,
                      "the weights fade away, but every token brings its own numbers in and out."),
        Misconception("the shorter edge rules alone", lambda i, o, s: 2 * min(i, o) / s,
                      "the shorter edge rules, but the longer one still counts."),
        Misconception("as if square", lambda i, o, s: 2 * min(i, o) / (3 * s),
                      "a third is for a cube; with endless tokens only two faces are left."),
        Misconception("the weights stay", lambda i, o, s: 2 * i * o / ((i + o + i * o) * s),
                      "that is one token; with endless tokens the weights are nothing beside them."),
        Misconception("multiply-adds", lambda i, o, s: _ceiling(i, o, 2 * s),
                      "a multiply-add is 2 FLOPs."),
        Misconception("per number", lambda i, o, s: _ceiling(i, o, 1),
                      "that is FLOPs per number; each has `itemsize` bytes."),
        Misconception("added, not taken together", lambda i, o, s: (i + o) * 2 / s,
                      "1/N and 1/K add up, not N and K: the bytes are in the denominator."),
    ),
)  # fmt: skip


def _up(edge: int, multiple: int) -> int:
    return -(-edge // multiple) * multiple


def _padded(
    m: int, n: int, k: int, multiple: int, rounded: Callable[[int, int], int] = _up
) -> float:
    """FLOPs with all edges ``rounded``, as a multiple of the useful ones."""
    return rounded(m, multiple) * rounded(n, multiple) * rounded(k, multiple) / (m * n * k)


def _pad_cases(rng: random.Random) -> list[Case]:
    """Edges just above, well above and on a multiple, in every order."""
    drawn = []
    for turn, multiple in enumerate(rng.sample((8, 16, 64, 128), 4)):
        whole = [multiple * rng.randrange(2, 12) for _ in range(3)]
        off = [rng.randrange(1, multiple // 2), rng.randrange(multiple // 2 + 1, multiple), 0]
        edges = [edge + off[(place + turn) % 3] for place, edge in enumerate(whole)]
        drawn.append({**dict(zip("mnk", edges, strict=True)), "multiple": multiple})
    return drawn


def _added(m: int, n: int, k: int, multiple: int) -> float:
    return sum(_up(edge, multiple) / edge - 1 for edge in (m, n, k))


PADDED = Exercise(
    "04-padded", "The price of padding", 1,
    "All three edges are filled up with zeros to the next multiple: how many FLOPs are added, as a "
    "share of the useful ones?",
    "extra(m, n, k, multiple)", lambda *case: _padded(*case) - 1, cases=_pad_cases, lines=3,
    misconceptions=(
        Misconception("always one more",
                      lambda *case: _padded(*case, lambda e, p: (e // p + 1) * p) - 1,
                      "an edge that is a multiple already needs no zeros."),
        Misconception("rounded down", lambda *case: _padded(*case, lambda e, p: e // p * p) - 1,
                      "that cuts numbers off; padding goes up to the next multiple."),
        Misconception("to the nearest",
                      lambda *case: _padded(*case, lambda e, p: (e + p // 2) // p * p) - 1,
                      "an edge just above a multiple has to go all the way up to the next."),
        Misconception("all the work", lambda *case: _padded(*case),
                      "that counts the useful FLOPs too; the question is for what is added."),
        Misconception("share of all the work", lambda *case: 1 - 1 / _padded(*case),
                      "that is the added share of everything done; divide by the useful FLOPs."),
        Misconception("edges added up", _added,
                      "the FLOPs are the product of three edges: their factors multiply."),
        Misconception("only M", lambda m, n, k, p: _up(m, p) / m - 1,
                      "N and K are padded as well."),
        Misconception("the last edge forgotten",
                      lambda m, n, k, p: _up(m, p) * _up(n, p) / (m * n) - 1,
                      "K is padded as well: zeros that are multiplied and added."),
    ),
)  # fmt: skip


def _gradients(m: int, n: int, k: int) -> tuple[int, ...]:
    """dX = dY·W and dW = dYᵀ·X for Y = X·Wᵀ, X [M, K], W [N, K] (facts/001, section 4)."""
    return m, k, n, n, k, m


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
    misconceptions=(
        Misconception("as forward", lambda m, n, k: (m, n, k, m, n, k),
                      "a gradient has the shape of what it belongs to: dX that of X, dW that of W."),
        Misconception("order M, K, N", lambda m, n, k: (m, n, k, n, m, k),
                      "the two edges of the result come first, the edge summed over last."),
        Misconception("dW first", lambda m, n, k: (n, k, m, m, k, n),
                      "dX comes first, then dW."),
        Misconception("dW lying on its side", lambda m, n, k: (m, k, n, k, n, m),
                      "W has a row for each output, so dW has too."),
        Misconception("dX lying on its side", lambda m, n, k: (k, m, n, n, k, m),
                      "X has a row for each token, so dX has too."),
        Misconception("dW is not summed over tokens", lambda m, n, k: (m, k, n, n, k, k),
                      "every token has a say in every weight: that is what dW sums over."),
        Misconception("dX is summed over tokens", lambda m, n, k: (m, k, m, n, k, m),
                      "an input fed all outputs of its own token: that is what dX sums over."),
    ),
)  # fmt: skip

EXERCISES = (CEILING, PADDED, GRADIENTS)

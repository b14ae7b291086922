"""Predict the products of a layer, from one token to 64, then compare with what was measured.

The right answer of a case is the recorded median; what is allowed beside it is its own spread plus
a margin. Which products may be asked, and of what they are told, is in lesson04_timed.py.
"""

from __future__ import annotations

import random

from rooflab.exercises.exercise import Case, Exercise, Misconception
from rooflab.exercises.lesson04_timed import model, recorded, ways

DRAWN = {"one": 1, "few": 3, "many": 3}  # cases of each kind
MOST_DRAWS = 1000


def _cases(rng: random.Random) -> list[Case]:
    """Some of each kind, and for every usual mistake at least one that tells it from the clock.

    A draw in which a mistake would pass is drawn again; about every third one is kept.
    """
    entries = list(recorded().values())
    for _ in range(MOST_DRAWS):
        drawn = [
            entry for kind, count in DRAWN.items()
            for entry in rng.sample([e for e in entries if e.kind == kind], count)
        ]  # fmt: skip
        if all(any(e.beyond(m.wrong) for e in drawn) for m in PREDICT.misconceptions):
            rng.shuffle(drawn)
            return [entry.case for entry in drawn]
    raise ValueError("lesson04_recorded.json tells a mistake of 04-predict too rarely: freeze anew")


def _measured(*inputs: float) -> float:
    return recorded()[inputs].seconds


def _allowed(*inputs: float) -> float:
    return recorded()[inputs].allowed


def _copy_inside(
    tokens: int, inputs: int, outputs: int, first: float, again: float, copy: float, peak: float
) -> float:
    weights = inputs * outputs
    vectors, _ = ways(tokens, inputs, outputs, first, again, copy, peak)
    return min(vectors, weights * max(copy, 2 * tokens / peak))


def _first_extra(
    tokens: int, inputs: int, outputs: int, first: float, again: float, copy: float, peak: float
) -> float:
    return model(tokens, inputs, outputs, first + again, again, copy, peak)


PREDICT = Exercise(
    "04-predict", "Predict another layer", 3,
    "A recorded loop did each product of a layer in the quicker of two ways. Predict the seconds "
    "of another layer, from one token to 64. Right is what comes as close to the clock as its "
    "spread and a quarter allow.",
    "predict(tokens, inputs, outputs, first, again, copy, peak)", _measured, cases=_cases, lines=4,
    margin=_allowed,
    derives=("predict", "predict_decode", "Roofline", "decode_recording", "recording"),
    insight="The roof alone would not have told: a product takes as long as the quicker way of "
            "doing it.",
    misconceptions=(
        Misconception("the roof", lambda t, i, o, f, a, c, p: i * o * max(f, 2 * t / p),
                      "that is a bound; between one token and many neither way comes near it."),
        Misconception("further vectors are free",
                      lambda t, i, o, f, a, c, p: model(t, i, o, f, 0, c, p),
                      "a further vector finds the weights nearer, but it has to meet all of them."),
        Misconception("every vector from memory",
                      lambda t, i, o, f, a, c, p: model(t, i, o, f, f, c, p),
                      "only the first vector waits for the weights to come from memory."),
        Misconception("every vector again",
                      lambda t, i, o, f, a, c, p: model(t, i, o, a, a, c, p),
                      "the first vector has to wait for the weights to come from memory."),
        Misconception("the arithmetic of one token",
                      lambda t, i, o, f, a, c, p: min(
                          ways(t, i, o, f, a, c, p)[0], ways(1, i, o, f, a, c, p)[1]),
                      "all at once, each token needs its own 2 FLOPs for each weight."),
        Misconception("one vector too many", _first_extra,
                      "the first vector is one of the `tokens`; so many less one are left."),
        Misconception("all at once never wins", lambda *case: ways(*case)[0],
                      "with many tokens one copy is cheaper than meeting the weights each time; the "
                      "copy is made once, however many tokens it serves."),
        Misconception("always all at once", lambda *case: ways(*case)[1],
                      "with few tokens the copy costs more than it saves."),
        Misconception("the slower way", lambda *case: max(ways(*case)),
                      "the loop has tried both ways, and takes the quicker one."),
        Misconception("the copy overlaps", _copy_inside,
                      "the arithmetic works on the copy: first the one, then the other."),
        Misconception("no copy", lambda t, i, o, f, a, c, p: model(t, i, o, f, a, 0, p),
                      "all at once begins with a copy of every weight."),
        Misconception("multiply-adds", lambda t, i, o, f, a, c, p: model(t, i, o, f, a, c, 2 * p),
                      "a multiply-add is 2 FLOPs."),
        Misconception("the wrong face",
                      lambda t, i, o, *figures: model(t, i, t, *figures),
                      "each figure is for one weight, and W has inputs × outputs of them."),
        Misconception("time per token", lambda t, *rest: model(t, *rest) / t,
                      "the seconds of the whole product are wanted, for all its tokens together."),
    ),
)  # fmt: skip

EXERCISES = (PREDICT,)

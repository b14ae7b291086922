"""Exercises of lesson 03 on figures that cannot be: rows of a log, and published figures.

The log is made up; its rows are judged with the catalogue's figures, which a test does again from
the lesson's table. The published figures are disputed ones of machines.yaml, each with its
resolution there.
"""

from __future__ import annotations

import random

from rooflab.exercises.drawing import peak_and_bandwidth
from rooflab.exercises.exercise import Case, Exercise, Misconception

WARM, OTHER_TYPE, GIB, MULTIPLY_ADDS = "warm cache", "other type", "GiB", "multiply-adds"
SPARSE_PEAK_USED, CANNOT_TELL, IN_ORDER = "sparse peak", "cannot tell", "in order"
LOG = (IN_ORDER, WARM, OTHER_TYPE, GIB, IN_ORDER, MULTIPLY_ADDS, SPARSE_PEAK_USED, CANNOT_TELL)


def _log_with(**said: str) -> tuple[str, ...]:
    """The right verdicts with those of some rows (row3=…) replaced."""
    return tuple(said.get(f"row{place}", true) for place, true in enumerate(LOG, 1))


IMPOSSIBLE = Exercise(
    "03-log", "The impossible rows", 3,
    "Eight rows of a benchmark log: which are in order, and what went wrong in the others?",
    "(row 1, …, row 8)", lambda: LOG, kind="value",
    returns=tuple(f"verdict on row {place}" for place in range(1, 9)),
    insight="Each row could be tried with arithmetic alone. The next table that you are shown "
            "can, too.",
    misconceptions=(
        Misconception("the log is believed", lambda: (IN_ORDER,) * 8,
                      "two rows are faster than their machine can be. Compute each rate from "
                      "operation and time before you read what the log says."),
        Misconception("only the roof is asked",
                      lambda: _log_with(row4=IN_ORDER, row6=IN_ORDER, row7=IN_ORDER, row8=IN_ORDER),
                      "the rows above the roof are not the only wrong ones: does each rate follow "
                      "from its time, and each share from its rate?"),
        Misconception("above the roof means warm", lambda: _log_with(row3=WARM),
                      "a cache brings bytes sooner; it does not make the arithmetic faster. Which "
                      "peak of this machine is above that rate?"),
        Misconception("another type moved the bytes", lambda: _log_with(row2=OTHER_TYPE),
                      "half the bytes would still be too fast for this memory. How much room do "
                      "the two vectors take?"),
        Misconception("half must have a cause", lambda: _log_with(row8=MULTIPLY_ADDS),
                      "AXPY's byte/s contain no FLOPs, and this rate follows from its time. "
                      "Nothing in the row says why it is slow."),
        Misconception("GiB once more", lambda: _log_with(row8=GIB),
                      "a GiB is 7 % more than a GB, not twice as much, and this rate follows from "
                      "its time."),
        Misconception("half a rate, half a share",
                      lambda: _log_with(row6=SPARSE_PEAK_USED, row7=MULTIPLY_ADDS),
                      "in one of these two rows the rate itself is half of what the time gives; "
                      "in the other the rate is right and the share is not."),
        Misconception("nothing to see in row 6", lambda: _log_with(row6=CANNOT_TELL),
                      "work out this product's FLOP/s from its shape and its time, and hold them "
                      "against the rate in the log.",
                      variants=(lambda: _log_with(row6=IN_ORDER),)),
        Misconception("nothing to see in row 7", lambda: _log_with(row7=CANNOT_TELL),
                      "the rate follows from the time; which peak makes it that share?",
                      variants=(lambda: _log_with(row7=IN_ORDER),)),
        Misconception("a share of twice the peak", lambda: _log_with(row3=SPARSE_PEAK_USED),
                      "of twice the peak the share comes out too low, and this one is far above "
                      "100 %. Which peak of this machine is above that rate?"),
        Misconception("half the roof is no fault", lambda: _log_with(row8=IN_ORDER),
                      "its rate follows from its time, and nothing in the row says why it is half "
                      "of what this memory can do: there is a word for that."),
        Misconception("faster than the peak", lambda: _log_with(row3=IN_ORDER),
                      "compute the FLOP/s of that product, and look for a peak of this machine "
                      "that allows them."),
        Misconception("faster than the memory", lambda: _log_with(row2=IN_ORDER),
                      "compute the byte/s of that row, and hold them against this memory."),
        Misconception("7 % is noise", lambda: _log_with(row4=IN_ORDER),
                      "the log computes its rate from its time, so the two agree to the last "
                      "digit or the unit is another.",
                      variants=(lambda: _log_with(row4=CANNOT_TELL),)),
        Misconception("half a share must be half a rate", lambda: _log_with(row7=MULTIPLY_ADDS),
                      "a multiply-add counted as 1 FLOP would make the rate too low; this one "
                      "follows from its time. What was its share taken of?"),
        Misconception("half a rate must be half a share", lambda: _log_with(row6=SPARSE_PEAK_USED),
                      "a wrong peak spoils the share and leaves the rate alone; does this rate "
                      "follow from its time?"),
    ),
)  # fmt: skip

RIGHT, SPARSE, TWO_DIES, OTHER_PART = "right", "sparse", "two dies", "other part"
_TRUE = (SPARSE, TWO_DIES, OTHER_PART, OTHER_PART, RIGHT, OTHER_PART)
ROWS = ("first row", "second row", "third row", "fourth row", "fifth row", "sixth row")


def _with(**said: str) -> tuple[str, ...]:
    """The right answers with some rows (first=…) replaced."""
    places = ("first", "second", "third", "fourth", "fifth", "sixth")
    return tuple(said.get(place, true) for place, true in zip(places, _TRUE, strict=True))


CATALOGUE = Exercise(
    "03-catalogue", "Figures that are true of something else", 2,
    "Six figures as published: which are right, and which belong to sparse products, to two dies, "
    "or to another part?",
    "(first, second, third, fourth, fifth, sixth)", lambda: _TRUE, kind="value", returns=ROWS,
    insight="Five of six figures were true of something else. Those of your own machine deserve "
            "the same look.",
    misconceptions=(
        Misconception("all of them right", lambda: (RIGHT,) * 6,
                      "each was found in a public table, and most are true of something else; "
                      "compare them with rl.machine(…)."),
        Misconception("twice as much means sparse", lambda: _with(second=SPARSE),
                      "the MI250X has no 2:4 sparsity; how many GPUs does software see on it?"),
        Misconception("two dies in an H100", lambda: _with(first=TWO_DIES),
                      "an H100 has one die; what else doubles a rate on paper?"),
        Misconception("another H100", lambda: _with(first=OTHER_PART),
                      "it is twice the catalogue's figure of this very part; what doubles a rate "
                      "on paper?"),
        Misconception("same die, same machine", lambda: _with(third=RIGHT),
                      "GH100 is the name of the die; two products have it, with other memories."),
        Misconception("same family, same figure", lambda: _with(fourth=RIGHT),
                      "GB200 and B200 have the same dies and not the same clocks or power."),
        Misconception("two GPUs as one", lambda: _with(fourth=TWO_DIES),
                      "two GPUs would have twice the figure of one. This one is lower: of which "
                      "GPU is it?"),
        Misconception("sparse once more", lambda: _with(fourth=SPARSE),
                      "a sparse figure would be twice that of the catalogue; what is the factor "
                      "here?"),
        Misconception("suspicious of everything", lambda: _with(fifth=SPARSE),
                      "compare this one with the dense figure of the catalogue."),
        Misconception("the larger figure believed", lambda: _with(first=RIGHT),
                      "which peak does the catalogue give for it, and what is the factor?"),
        Misconception("two dies as one", lambda: _with(second=RIGHT),
                      "how many GPUs does software see on an MI250X, and whose peak is this?"),
        Misconception("three terabytes", lambda: _with(sixth=RIGHT),
                      "look at the bandwidth of an L4; whose figure is this?"),
    ),
)  # fmt: skip


def _sparse_cases(rng: random.Random) -> list[Case]:
    """Left of the true ridge, between it and the claimed one (twice), and right of both."""
    machines = (("h100-sxm", "bf16"), ("l4", "fp16"), ("a100-sxm-80", "bf16"), ("b200", "bf16"))
    drawn = []
    for place, which in zip((0.3, 1.25, 1.6, 3), rng.sample(machines, 4), strict=True):
        dense, bandwidth = peak_and_bandwidth(*which)
        at = round(place * rng.uniform(0.9, 1.1) * dense / bandwidth, 1)
        drawn.append({"intensity": at, "claimed": 2 * dense, "bandwidth": bandwidth})
    return drawn


def _too_fast(intensity: float, claimed: float, bandwidth: float) -> float:
    slope = intensity * bandwidth
    return min(claimed, slope) / min(claimed / 2, slope)


SPARSE_PEAK = Exercise(
    "03-sparse-peak", "How wrong is a wrong peak?", 1,
    "A table lists a peak that is twice the dense one. How many times too short is the time that "
    "you compute with it?",
    "too_short(intensity, claimed, bandwidth)", _too_fast, cases=_sparse_cases, lines=2,
    derives=("Roofline",),
    insight="On the slope a doubled peak changes nothing; well beyond the ridge every predicted time "
            "is half of the true one.",
    misconceptions=(
        Misconception("always double", lambda i, c, b: 2,
                      "left of the ridge the peak plays no part, right or wrong.",
                      variants=(lambda i, c, b: 1 / 2,)),
        Misconception("a promise without a slope", lambda i, c, b: c / min(c / 2, i * b),
                      "with the claimed peak too, an operation gets no more than intensity × "
                      "bandwidth."),
        Misconception("never", lambda i, c, b: 1,
                      "right of the ridge the peak is all that counts."),
        Misconception("all or nothing", lambda i, c, b: 2 if i > c / 2 / b else 1,
                      "between the true ridge and the claimed one it is something in between."),
        Misconception("beyond the claimed ridge", lambda i, c, b: 2 if i > c / b else 1,
                      "left of the claimed ridge the promise is too high already."),
        Misconception("upside down", lambda i, c, b: 1 / _too_fast(i, c, b),
                      "that is the share of the true time; the question is for the factor."),
        Misconception("claimed is dense", lambda i, c, b: _too_fast(i, 2 * c, b),
                      "the claimed figure is the doubled one; the dense one is half of it."),
        Misconception("no roof", lambda i, c, b: i * b / (c / 2),
                      "the answer lies between 1 and 2: on the slope both peaks promise the same "
                      "time.", variants=(lambda i, c, b: min(c, i * b) / (c / 2),
                                         lambda i, c, b: max(1, 2 * i * b / c))),
        Misconception("how much too short", lambda i, c, b: _too_fast(i, c, b) - 1,
                      "how many times is asked: a time that is right would give 1."),
    ),
)  # fmt: skip

EXERCISES = (IMPOSSIBLE, CATALOGUE, SPARSE_PEAK)

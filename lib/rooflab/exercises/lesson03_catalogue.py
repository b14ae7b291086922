"""Exercises of lesson 03 on catalogue traps: published figures that are true of something else.

The rows are disputed figures of machines.yaml, each with its resolution there.
"""

from __future__ import annotations

import random

from rooflab.exercises.exercise import Case, Exercise, Misconception
from rooflab.exercises.lesson03 import peak_and_bandwidth

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
    misconceptions=(
        Misconception("all of them right", lambda: (RIGHT,) * 6,
                      "each was found in a public table, and most are true of something else; "
                      "compare them with rl.machine(…)."),
        Misconception("twice as much means sparse", lambda: _with(second=SPARSE),
                      "the MI250X has no 2:4 sparsity; how many GPUs does software see on it?"),
        Misconception("two dies in an H100", lambda: _with(first=TWO_DIES),
                      "an H100 has one die; what else doubles a rate on paper?"),
        Misconception("same die, same machine", lambda: _with(third=RIGHT),
                      "GH100 is the name of the die; two products have it, with other memories."),
        Misconception("same family, same figure", lambda: _with(fourth=RIGHT),
                      "GB200 and B200 have the same dies and not the same clocks or power."),
        Misconception("suspicious of everything", lambda: _with(fifth=SPARSE),
                      "compare this one with the dense figure of the catalogue."),
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
    misconceptions=(
        Misconception("always double", lambda i, c, b: 2,
                      "left of the ridge the peak plays no part, right or wrong."),
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
    ),
)  # fmt: skip

EXERCISES = (CATALOGUE, SPARSE_PEAK)

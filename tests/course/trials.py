"""What every sentence is tried on: the lessons' trials, drawn on the five simulated machines.

A lesson's test module has ``TRIALS``: name of a sentence → what it is given on a machine, drawn.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module

from rooflab.exercises.sentences import Conclusion, conclude
from tests.course.machines import MACHINES, Simulated

Trial = Callable[[Simulated, random.Random], tuple[object, ...]]


def trials_of(lesson: str) -> Mapping[str, Trial]:
    return import_module(f"tests.course.test_lesson{lesson}").TRIALS


def told(lesson: str, draws: int) -> Iterator[tuple[str, str, Conclusion]]:
    """Sentence, machine and what was said, ``draws`` times on each machine; always the same."""
    for name, trial in trials_of(lesson).items():
        for machine, here in MACHINES.items():
            rng = random.Random(f"{name} {machine}")
            for _ in range(draws):
                yield name, machine, conclude(name, *trial(here, rng))

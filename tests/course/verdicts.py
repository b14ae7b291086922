"""Verdicts on answers to the lessons' exercises, on the cases of any seed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from rooflab.exercises.judge import judge
from rooflab.exercises.observe.collect import collect
from rooflab.exercises.registry import exercise
from rooflab.exercises.verdict import Verdict


def answer(id: str) -> Callable[..., Any]:
    """The function that gives an exercise's right answer."""
    return exercise(id).reference


def verdict(id: str, answer: object, seed: int) -> Verdict:
    asked = exercise(id)
    cases = asked.draw(seed)
    return judge(asked, cases, collect(asked.kind, cases, answer))


def refused(ways: Mapping[str, object], seeds: Iterable[int]) -> list[tuple[int, Verdict]]:
    """The ``ways`` to an exercise's right answer that do not pass, each with its seed."""
    verdicts = [(seed, verdict(id, way, seed)) for seed in seeds for id, way in ways.items()]
    return [(seed, one) for seed, one in verdicts if not one.passed]

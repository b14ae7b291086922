"""An exercise judged on cases that the learner has not seen, for graders that run assertions."""

from __future__ import annotations

from rooflab.exercises.judge import judge
from rooflab.exercises.observe.collect import collect
from rooflab.exercises.registry import exercise


def hidden(id: str, answer: object, seed: object) -> None:
    """Raise AssertionError, with the verdict as its text, unless ``answer`` is right.

    ``seed`` draws the cases; 0 would draw those of ``rl.check``. The answer runs in this process,
    so an answer that means harm can fool it: ``rooflab grade`` cannot be fooled that way.
    """
    asked = exercise(id)
    cases = asked.draw(seed)
    verdict = judge(asked, cases, collect(asked.kind, cases, answer))
    if not verdict.passed:
        raise AssertionError(repr(verdict))

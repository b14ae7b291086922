"""Guess first: ``rl.guess`` keeps the learner's number, ``rl.reveal`` uncovers the measured one.

The first guess counts; later ones are kept as history. A score is never graded by its size.
"""

from __future__ import annotations

from dataclasses import dataclass

from rooflab.count.si import plain, times
from rooflab.exercises.guess_store import Record, store
from rooflab.exercises.questions import QUESTIONS, Question, positive, question

SPOT_ON = 1.1  # off by less than this is right
WORDS = {"×": "times"}  # a unit as a sentence says it, where that is not the sign itself


@dataclass(frozen=True)
class Guess:
    """A learner's guess. ``value`` is the first one, ``later`` those after it, in order.

    ``measured`` is the latest measured value or None; ``shown`` tells that the result was looked
    at before any guess, and ``value`` is None as long as there is none.
    """

    id: str
    value: float | None
    later: tuple[float, ...] = ()
    measured: float | None = None
    shown: bool = False

    @property
    def question(self) -> Question:
        """What was asked."""
        return question(self.id)

    @property
    def off_by(self) -> float | None:
        """Factor ≥ 1 between guess and measurement, None as long as one is missing."""
        if self.value is None or self.measured is None:
            return None
        return max(self.value / self.measured, self.measured / self.value)

    def __repr__(self) -> str:
        return sentence(self)


@dataclass(frozen=True)
class Asked:
    """The question, for as long as no guess was made."""

    question: Question

    def __repr__(self) -> str:
        return f"{self.question.text}\nGuess: {how_to(self.question)}"


def guess(id: str, value: object = ...) -> Guess | Asked:
    """Record the learner's guess for ``id``, a positive number in the question's unit.

    The first guess counts. With ``...`` in the value's place nothing is recorded and the question
    comes back, so that an unanswered cell runs. Raises ValueError for an unknown id (with
    suggestions), and for a value that is no positive finite number.
    """
    asked = question(id)
    if value is ...:
        return get(asked.id) or Asked(asked)
    record(asked.id, value)
    return get(asked.id)


def record(id: str, value: object) -> None:
    """Keep ``value`` as a guess for ``id``; the same again (a cell run twice) adds nothing."""
    asked, number = question(id), positive("guess", value)
    known = get(asked.id)
    latest = None if known is None else (*_first(known), *known.later)[-1:]
    if latest != (number,):
        store().add(asked.id, "guess", number)


def get(id: str) -> Guess | None:
    """Return what is known of ``id``: None when it was neither guessed nor looked at."""
    asked = question(id)
    return _gather(asked.id, [r for r in store().records() if r.id == asked.id])


def reveal_without_guess(id: str) -> Guess:
    """Record that the learner asked to be shown the result without guessing."""
    asked = question(id)
    known = get(asked.id)
    if known is None:
        store().add(asked.id, "shown")
        known = get(asked.id)
    return known


def outcome(id: str, measured: object) -> Guess | None:
    """Record the measured value of ``id``; ``off_by`` follows. The latest one counts."""
    asked, number = question(id), positive("measured", measured)
    store().add(asked.id, "outcome", number)
    return get(asked.id)


def everything() -> tuple[Guess, ...]:
    """Return all guesses of this learner in the order of the lessons."""
    records = store().records()
    found = [_gather(id, [r for r in records if r.id == id]) for id in QUESTIONS]
    return tuple(guess for guess in found if guess is not None)


def _first(known: Guess) -> tuple[float, ...]:
    return () if known.value is None else (known.value,)


def _gather(id: str, records: list[Record]) -> Guess | None:
    guessed = [r.value for r in records if r.what == "guess"]
    measured = [r.value for r in records if r.what == "outcome"]
    shown = any(r.what == "shown" for r in records)
    if not guessed and not shown:
        return None
    return Guess(
        id, guessed[0] if guessed else None, tuple(guessed[1:]),
        measured[-1] if measured else None, shown,
    )  # fmt: skip


def how_to(asked: Question) -> str:
    """Return how to guess or to look, as code."""
    return f'rl.guess("{asked.id}", …) with a number ({asked.unit}), or rl.show_me("{asked.id}")'


def sentence(known: Guess) -> str:
    """Return the guess, and how far it was off, in one sentence."""
    unit = WORDS.get(known.question.unit, known.question.unit)
    if known.value is None:
        seen = "" if known.measured is None else f"; it is {plain(known.measured, 3)} {unit}"
        return f"You looked without a guess{seen}."
    if known.measured is None:
        return f"You guessed {plain(known.value, 3)} {unit}."
    if known.off_by < SPOT_ON:
        how_far = "spot on"
    else:
        side = "too high" if known.value > known.measured else "too low"
        how_far = f"off by {times(known.off_by, digits=2)}, {side}"
    said = f"You guessed {plain(known.value, 3)}, it is {plain(known.measured, 3)} {unit}"
    return f"{said}: {how_far}."

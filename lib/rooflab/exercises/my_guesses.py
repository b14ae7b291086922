"""``rl.my_guesses()``: how far off one's guesses were, over all lessons. Never graded by size."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Any

from rooflab.count.si import times
from rooflab.exercises.guesses import WORDS, Guess, everything, sentence

if TYPE_CHECKING:
    from rooflab.show.gauges import Gauges

ENOUGH = 4  # guesses from which on all of them are drawn on one axis
NONE = "No guesses yet. The lessons ask for one before their main measurements."


@dataclass(frozen=True)
class MyGuesses:
    """All guesses of one learner. Shows itself with a gauge for each, in its question's unit."""

    guesses: tuple[Guess, ...]

    def __len__(self) -> int:
        return len(self.guesses)

    def __iter__(self) -> Iterator[Guess]:
        return iter(self.guesses)

    @property
    def off_by(self) -> dict[str, float]:
        """×k of every guess whose outcome is known, in the order of the lessons."""
        return {g.id: g.off_by for g in self.guesses if g.off_by is not None}

    @property
    def summary(self) -> str:
        """All guesses in one sentence; "" as long as there are only a few."""
        if len(self.off_by) < ENOUGH:
            return ""
        middle = times(median(self.off_by.values()), digits=2)
        return f"Half of your {len(self.off_by)} guesses were off by {middle} or less."

    def __repr__(self) -> str:
        if not self.guesses:
            return NONE
        rows = [f"{g.question.text}\n    {sentence(g)}" for g in self.guesses]
        return "\n".join([*rows, self.summary]).rstrip()

    @property
    def picture(self) -> Gauges:
        """A gauge for each guess, and from a few on all of them on one axis."""
        from rooflab.show.gauges import Gauge, Gauges

        rows = [
            Gauge(
                one.question.text, sentence(one), WORDS.get(one.question.unit, one.question.unit),
                one.question.low, one.question.high, one.value, one.measured,
            )
            for one in self.guesses
            if not one.question.answers
        ]  # fmt: skip
        return Gauges(rows, self.summary, repr(self))

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        if not self.guesses:
            return {"text/plain": NONE}, {}
        return self.picture._repr_mimebundle_(**kwargs)


def my_guesses(lesson: str = "") -> MyGuesses:
    """Return all guesses of this learner: ×k a guess, a score one wants to lower.

    Parameters
    ----------
    lesson : str, optional
        The number of a lesson whose guesses come first, such as "03".

    Returns
    -------
    MyGuesses
        The guesses in the order of the lessons; ``off_by`` has ×k of those whose outcome is known.

    Examples
    --------
    >>> _ = rl.guess("01-speed-ratio", 300)
    >>> axis = rl.ask("01-speed-ratio", 100.0)  # the outcome: what was measured
    >>> rl.my_guesses().off_by
    {'01-speed-ratio': 3.0}
    """
    return MyGuesses(tuple(sorted(everything(), key=lambda g: g.id[: len(lesson)] != lesson)))

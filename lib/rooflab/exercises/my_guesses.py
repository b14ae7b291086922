"""``rl.my_guesses()``: how far off one's guesses were, over all lessons. Never graded by size."""

from __future__ import annotations

import html
import math
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median

from rooflab.count.si import plain, times
from rooflab.exercises.guesses import WORDS, Guess, everything, sentence

ENOUGH = 4  # guesses from which on all of them are drawn on one axis
WIDTH, EDGE = 560, 12  # of a gauge, and of the room at its ends, in CSS pixels
MINE = "#E69F00"  # the learner's own guess, as in every picture
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

    def _repr_html_(self) -> str | None:
        if not self.guesses:
            return None
        rows = "".join(
            f'<div style="margin:0 0 1em"><b>{html.escape(g.question.text)}</b><br>'
            f"{gauge(g)}{html.escape(sentence(g))}</div>"
            for g in self.guesses
        )
        total = f"{self._overview()}<b>{self.summary}</b>" if self.summary else ""
        return f'<div style="color:inherit;background:transparent">{rows}{total}</div>'

    def _overview(self) -> str:
        """One dot for each guess on an axis of ×k. Questions have nothing to do with each other."""
        top = max(10.0, *self.off_by.values())
        place = _axis(1, top)
        ticks = [t for t in (1, 2, 5, 10, 20, 50, 100, 1000, 10_000, 1e5, 1e6) if t <= top]
        dots = "".join(_ring(place(k)) for k in self.off_by.values())
        marks = "".join(_tick(place(t), f"×{t:,.0f}") for t in ticks)
        return _svg(_line() + marks + dots, f"How far off each guess was. {self.summary}")


def gauge(guess: Guess) -> str:
    """The guess, an orange ring, and the truth, a dot, on the axis that the question was asked on.

    What lies beyond that axis makes it longer. An SVG without a colour of paper of its own.
    """
    asked, seen = guess.question, [v for v in (guess.value, guess.measured) if v is not None]
    if not seen:
        return ""
    low, high = min(asked.low, *seen), max(asked.high, *seen)
    place = _axis(low, high)
    unit = WORDS.get(asked.unit, asked.unit)
    ends = _tick(place(low), plain(low)), _tick(place(high), f"{plain(high)} {unit}")
    parts = [_line(), *ends]
    if guess.off_by is not None:
        parts.append(_line(place(guess.value), place(guess.measured), MINE, 5))
    if guess.measured is not None:
        x = place(guess.measured)
        parts.append(f'<circle cx="{x:.1f}" cy="14" r="5.5" fill="currentColor"/>')
    if guess.value is not None:
        parts.append(_ring(place(guess.value)))
    return _svg("".join(parts), sentence(guess))


def _axis(low: float, high: float):
    """The place of a number on a log axis from ``low`` to ``high``, in CSS pixels."""
    room = (WIDTH - 2 * EDGE) / math.log(high / low)
    return lambda value: EDGE + room * math.log(value / low)


def _line(start: float = EDGE, end: float = WIDTH - EDGE, colour="currentColor", wide=1) -> str:
    look = f'stroke="{colour}" stroke-width="{wide}" opacity="0.55"'
    return f'<line x1="{start:.1f}" x2="{end:.1f}" y1="14" y2="14" {look}/>'


def _tick(x: float, words: str) -> str:
    anchor = "start" if x < 40 else "end" if x > WIDTH - 40 else "middle"
    return (
        f'<line x1="{x:.1f}" x2="{x:.1f}" y1="14" y2="20" stroke="currentColor" opacity="0.55"/>'
        f'<text x="{x:.1f}" y="34" text-anchor="{anchor}" fill="currentColor">{words}</text>'
    )


def _ring(x: float) -> str:
    look = f'fill="none" stroke="{MINE}" stroke-width="3"'
    return f'<circle cx="{x:.1f}" cy="14" r="8" {look}/>'


def _svg(inside: str, words: str) -> str:
    return (
        f'<svg role="img" aria-label="{html.escape(words)}" viewBox="0 0 {WIDTH} 40" '
        f'style="display:block;width:100%;max-width:{WIDTH}px;font:13px system-ui,sans-serif">'
        f"{inside}</svg>"
    )


def my_guesses() -> MyGuesses:
    """Return all guesses of this learner: ×k a guess, a score one wants to lower.

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
    return MyGuesses(everything())

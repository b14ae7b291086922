"""The verdict on an answer: plain data, readable as text and in a notebook."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING

from rooflab.exercises.observe.plaindata import Plain

if TYPE_CHECKING:
    from rooflab.exercises.exercise import Case, Exercise, Misconception

UNANSWERED, UNASKED = "not answered yet", "not asked any more"
COLOURS = {"✓": "#009E73", "✗": "#D55E00", "○": "#6B6B6B"}  # of the marks


@dataclass(frozen=True)
class Verdict:
    """What ``check`` says. ``case`` holds the inputs of the first failing case, ``yours`` what the
    answer gave there; the right value is never in here. ``note`` is something to know besides,
    ``insight`` what a right answer means. ``picture`` has a ``_repr_html_`` and is shown below the
    words; it is no part of the data.
    """

    exercise: str
    passed: bool
    points: int
    max: int
    reason: str
    case: Mapping[str, Plain] | None = None
    yours: str | None = None
    misconception: str | None = None
    hint: str | None = None
    note: str | None = None
    insight: str | None = None
    picture: object = field(default=None, compare=False, repr=False)

    def __bool__(self) -> bool:
        return self.passed

    def to_dict(self) -> dict[str, Plain]:
        """Return the verdict as plain JSON data."""
        data = asdict(replace(self, picture=None))
        del data["picture"]
        return data

    @property
    def unanswered(self) -> bool:
        """Whether there was nothing to judge yet."""
        return self.reason.startswith((UNANSWERED, UNASKED))

    @property
    def mark(self) -> str:
        """✓ right, ✗ not right, ○ not answered."""
        return "✓" if self.passed else "○" if self.unanswered else "✗"

    @property
    def _score(self) -> str:
        return (
            f"{self.exercise} · {self.points} of {self.max} points" if self.max else self.exercise
        )

    @property
    def _besides(self) -> list[str]:
        """The named mistake, what to know besides, what the right answer means."""
        usual = f"A usual mistake, “{self.misconception}”: {self.hint}" if self.hint else None
        return [line for line in (usual, self.note, self.insight) if line]

    def __repr__(self) -> str:
        first = f"{self.mark} {self._score}: {self.reason}"
        return "\n".join([first, *(f"  {line}" for line in self._besides)])

    def _repr_html_(self) -> str:
        """The verdict in bold, the call in a monospaced font, each hint a paragraph of its own."""
        word = {"✓": "right", "✗": "not right", "○": self.reason.partition(":")[0]}[self.mark]
        more = self.reason.removeprefix(f"{word}: ").removesuffix(f": that is {word}")
        more = "" if more == word else more.removeprefix(f"{word}; ")  # it stands above already
        paragraphs = "".join(
            f'<div style="margin-top:.4em;max-width:48em;line-height:1.5">{_marked(text)}</div>'
            for text in (more, *self._besides)
            if text
        )
        picture = "" if self.picture is None else self.picture._repr_html_()
        return (
            f'<div style="border-left:4px solid {COLOURS[self.mark]};padding:.3em .8em">'
            f"<b>{self.mark} {word}</b> · {html.escape(self._score)}{paragraphs}{picture}</div>"
        )


def _marked(text: str) -> str:
    """HTML of a text in which `code` stands between backticks."""
    return re.sub(r"`([^`]*)`", r"<code>\1</code>", html.escape(text))


def passed(exercise: Exercise, reason: str) -> Verdict:
    """Return a verdict with full points."""
    points, insight = exercise.points, exercise.insight or None
    return Verdict(exercise.id, True, points, points, reason, insight=insight)


def failed(
    exercise: Exercise,
    reason: str,
    *,
    case: Case | None = None,
    yours: str | None = None,
    mistake: Misconception | None = None,
) -> Verdict:
    """Return a verdict without points, with the named mistake's hint if there is one."""
    return Verdict(
        exercise.id, False, 0, exercise.points, reason,
        case=dict(case) if case is not None else None,
        yours=yours,
        misconception=mistake.name if mistake else None,
        hint=mistake.hint if mistake else None,
    )  # fmt: skip


def unanswered(exercise: Exercise) -> str:
    """Return what an untouched answer cell is told."""
    lines = "1 line" if exercise.lines == 1 else f"{exercise.lines} lines"
    return f"{UNANSWERED}: ours has {lines}"

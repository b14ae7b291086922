"""The verdict on an answer: plain data, readable as text and in a notebook."""

from __future__ import annotations

import html
from collections.abc import Mapping
from dataclasses import asdict, dataclass

from rooflab.exercises.plaindata import Plain

UNANSWERED = "not answered yet"
COLOURS = {"✓": "#009E73", "✗": "#D55E00", "○": "#6B6B6B"}  # of the marks


@dataclass(frozen=True)
class Verdict:
    """What ``check`` says. ``case`` holds the inputs of the first failing case, ``yours`` what the
    answer gave there; the right value is never in here. ``note`` is something to know besides,
    ``insight`` what a right answer means.
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

    def __bool__(self) -> bool:
        return self.passed

    def to_dict(self) -> dict[str, Plain]:
        """Return the verdict as plain JSON data."""
        return asdict(self)

    @property
    def unanswered(self) -> bool:
        """Whether there was nothing to judge yet."""
        return self.reason.startswith(UNANSWERED)

    @property
    def mark(self) -> str:
        """✓ right, ✗ not right, ○ not answered."""
        return "✓" if self.passed else "○" if self.unanswered else "✗"

    @property
    def _lines(self) -> list[str]:
        score = f" · {self.points} of {self.max} points" if self.max else ""
        lines = [f"{self.mark} {self.exercise}{score}: {self.reason}"]
        if self.hint:
            lines.append(f"  A usual mistake, “{self.misconception}”: {self.hint}")
        if self.note:
            lines.append(f"  {self.note}")
        return lines

    def __repr__(self) -> str:
        return "\n".join(self._lines)

    def _repr_html_(self) -> str:
        first, *rest = (html.escape(line.strip()) for line in self._lines)
        body = "".join(f"<br>{line}" for line in rest)
        return (
            f'<div style="border-left:4px solid {COLOURS[self.mark]};padding:.3em .8em">'
            f"<b>{first}</b>{body}</div>"
        )

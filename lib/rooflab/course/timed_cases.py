"""Timed cases that predict-then-measure exercises ask, frozen: a new recording changes none.

A frozen file is JSON: where the times are from, then one case a line. ``python -m tools.freeze``
writes it from a recording; a class is asked the same tomorrow, whatever was recorded since.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rooflab.exercises.exercise import Case

SCHEMA = 1
MARGIN = 0.25  # of a lesson's model: routines reach 75 to 100 % of a roof, no two layers are alike
WITHIN = 0.9  # a case is asked where the model needs no more of the allowance than this


@dataclass(frozen=True)
class TimedCase:
    """What the learner's function gets, and what the clock said: ``seconds``, the median.

    ``spread``: its IQR ÷ median, 0 where none was published.
    """

    case: Case
    seconds: float
    spread: float

    @property
    def allowed(self) -> float:
        """Relative distance from ``seconds`` that still counts as right."""
        return self.spread + MARGIN

    def off(self, formula: Callable[..., float]) -> float:
        """How far ``formula`` is from the clock, as a share of what the clock said."""
        return abs(formula(*self.case.values()) / self.seconds - 1)

    def close(self, formula: Callable[..., float]) -> bool:
        """Whether ``formula`` comes well within what is allowed."""
        return self.off(formula) <= WITHIN * self.allowed

    def beyond(self, formula: Callable[..., float]) -> bool:
        """Whether ``formula`` is clearly too far from the clock to count as right."""
        return self.off(formula) > self.allowed / WITHIN


def read_timed_cases(path: Path) -> list[Mapping[str, Any]]:
    """The cases of a frozen file. Raises ValueError for a file of another schema."""
    data = json.loads(path.read_text(encoding="utf-8"))
    if data["schema"] != SCHEMA:
        raise ValueError(f"{path}: schema {data['schema']!r}; this rooflab reads {SCHEMA}")
    return data["asked"]

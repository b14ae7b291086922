"""The guesses that the lessons ask for: question, unit and plausible range of each."""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from rooflab.count.validation import unknown


@dataclass(frozen=True)
class Question:
    """A number to guess before it is measured. ``low`` and ``high`` are the ends of its axis.

    ``slips``: how many times the number marked on the axis a usual slip leads to, and what is then
    said.
    """

    id: str
    text: str
    unit: str
    low: float
    high: float
    slips: tuple[tuple[float, str], ...] = ()

    @property
    def lesson(self) -> str:
        """Number of the lesson, "01"."""
        return self.id[:2]


_TABLE = (
    Question(
        "00-nine",
        "You have seen how long one multiply-add on each number takes. How long do 9 take?",
        "ms", 1, 1000, ((9, "You multiplied: nine times as long as one."),),
    ),
    Question(
        "00-bend", "From how many multiply-adds per number on does the time begin to rise?",
        "multiply-adds", 1, 1000,
    ),
    Question(
        "01-speed-ratio",
        "All data start in memory. By what factor is GEMM faster than AXPY, in FLOP/s?",
        "×", 1, 10_000,
    ),
    Question(
        "01-gemv-ratio",
        "All data start in memory. By what factor is GEMV faster than AXPY, in FLOP/s?",
        "×", 0.5, 1000,
    ),
    Question(
        "01-small-ratio",
        "And with AXPY on N numbers only: by what factor is GEMM faster, in FLOP/s?",
        "×", 1, 10_000,
    ),
    Question(
        "02-expression",
        "The same arithmetic: how many times AXPY's time does NumPy's 0.5 * x + y take?",
        "×", 0.5, 50,
    ),
    Question(
        "02-out",
        "No new array is made any more: how many times AXPY's time does it take now?",
        "×", 0.5, 50,
    ),
    Question(
        "02-chunked",
        "In pieces of the best size: how many times AXPY's time does it take?",
        "×", 0.5, 50,
    ),
    Question(
        "02-warm",
        "AXPY on vectors that stay in the cache: how many times the bandwidth of memory?",
        "×", 0.1, 100,
    ),
    Question(
        "03-tiny",
        "An 8×8 matrix times an 8×8 matrix, 1024 FLOPs, all in the nearest cache: how long does "
        "the call take on one core?",
        "ns", 1, 10_000,
    ),
    Question(
        "03-stream",
        "The long AXPY in fp32, its vectors in memory: how long does it take on one core?",
        "ms", 0.1, 1000,
    ),
    Question(
        "03-many",
        "A 2048×2048 matrix from memory, times 64 vectors at once: how long does it take on one "
        "core?",
        "ms", 0.1, 1000,
    ),
    Question(
        "04-tokens",
        "The same layer for 64 tokens at once, not for one: by what factor does its time grow, on "
        "one core?",
        "×", 0.5, 500,
    ),
    Question(
        "04-ridges",
        "One core of this computer in fp32, an H200 in bf16: the ridge of the H200 lies further "
        "right. By what factor?",
        "×", 1, 1000,
    ),
    Question(
        "04-thin",
        "The shape 16×8192×8192 has the FLOPs of a cube of 1024. What is its time ÷ the time of "
        "the cube, on one core?",
        "×", 0.1, 1000,
    ),
    Question(
        "04-padding",
        "The edges of 1000 filled up with zeros to 1024: what is the new time ÷ the old one?",
        "×", 0.1, 10,
    ),
    Question(
        "05-small",
        "A model of this size, from its weights and your bandwidth: how many tokens a second does "
        "one core make?",
        "tokens/s", 0.1, 10_000,
    ),
    Question(
        "05-two",
        "Two sequences in every step, not one: by what factor do the tokens a second grow?",
        "×", 0.1, 10,
    ),
    Question(
        "05-many",
        "Sixty-four sequences in every step, not one: by what factor do the tokens a second grow?",
        "×", 0.5, 500,
    ),
    Question(
        "05-long",
        "Every sequence has a long past now: by what factor does a step take longer?",
        "×", 0.5, 100,
    ),
)  # fmt: skip

QUESTIONS: Mapping[str, Question] = MappingProxyType({q.id: q for q in _TABLE})


def question(id: object) -> Question:
    """Return the question ``id``; ValueError with suggestions when there is none."""
    if not isinstance(id, str):
        raise TypeError(f"id={id!r} must be a text such as '01-speed-ratio'")
    key = id.strip().lower()
    if key not in QUESTIONS:
        raise unknown("guess", id, QUESTIONS)
    return QUESTIONS[key]


def positive(argument: str, value: object) -> float:
    """Return ``value`` as a positive, finite float; ValueError naming ``argument`` otherwise."""
    wanted = "it must be a positive number"
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise ValueError(f"{argument}={_brief(value)} is a {type(value).__name__}; {wanted}")
    try:
        number = float(value)
    except OverflowError:
        raise ValueError(f"{argument}: a number too large for a float; {wanted}") from None
    if math.isnan(number) or math.isinf(number):
        raise ValueError(f"{argument}={number!r} is not finite; {wanted}")
    if number <= 0:
        raise ValueError(
            f"{argument}={number!r} is not above zero; {wanted} (the axis is a log axis)"
        )
    return number


def _brief(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "…"

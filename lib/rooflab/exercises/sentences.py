"""Sentences about a machine, chosen by code from what was measured on it: one module a lesson.

``rl.conclude("01-ratio", …)`` finds that name in ``course/lesson01/sentences.py`` and shows its
sentence as Markdown. A lesson states nothing about the reader's machine in any other way: what
holds on one machine is false on the next, and a test tries each function on simulated ones.
"""

from __future__ import annotations

import inspect
import re
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from numbers import Integral, Real
from string import Formatter

from rooflab.count.si import percent, plain, several, si
from rooflab.count.validation import LONGEST, unknown
from rooflab.exercises.discovery import lessons, of_lesson
from rooflab.exercises.table import value_of
from rooflab.measure.measurement import Measurement
from rooflab.predict.machine import Machine

if typing.TYPE_CHECKING:
    from rooflab.labs.llm.decode_loop import DecodeRun
    from rooflab.labs.memory.concurrency import Concurrency
    from rooflab.labs.memory.mountain import Mountain
    from rooflab.measure.free_lunch import FreeLunch

    Measured = Measurement | DecodeRun | FreeLunch | Mountain | Concurrency

#: Of each row its case, when it holds (None: where no other does), and what is then said. The
#: parameters of a condition and the holes of a text are names of the figures given to `choose`.
Rows = Sequence[tuple[str, Callable[..., bool] | None, str]]
_NUMBERS = {float: Real, int: Integral}  # those of NumPy are as good as Python's own


@dataclass(frozen=True)
class Conclusion:
    """A sentence (``text``, Markdown) and the name of the case it was chosen for (``case``)."""

    case: str
    text: str

    def _repr_markdown_(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return self.text


class _Holes(Formatter):
    """Fills ``{ratio:times}``, ``{share:percent}``, ``{size:B}``, ``{ridge:3}``, ``{n:of token}``.

    A number alone is how many digits count, "of" counts a noun, and a unit takes its prefix.
    """

    def format_field(self, value: typing.Any, spec: str) -> str:
        if spec.isdigit():
            return plain(value, int(spec))
        if spec.startswith("of "):
            return several(value, spec.removeprefix("of "))
        return _FORMATS[spec](value) if spec in _FORMATS else format(value, spec)


def choose(*parts: str | Rows, of: Iterable[Measured] = (), **figures: object) -> Conclusion:
    """Return the sentence made of ``parts``: of each table the row that holds, its holes filled.

    A text is said always, a table without a row that holds says nothing. ``of``: what was
    measured, whose warnings come at the end.
    """
    cases, text = [], ""
    for part in parts:
        try:
            case, words = ("", part) if isinstance(part, str) else row(part, figures)
            filled = _Holes().vformat(words, (), figures)
        except KeyError as missing:
            raise ValueError(f"no figure {missing} among {', '.join(figures)}") from None
        joined = not text or not filled or text[-1].isspace() or filled[0] in ".,:;"
        text += filled if joined else f" {filled}"
        cases += [case] if case else []
    return Conclusion(", ".join(cases), text + cautions(*of))


def row(rows: Rows, figures: Mapping[str, object]) -> tuple[str, str]:
    """Return case and text of the row that holds; ``("", "")`` where none does."""
    for case, when, words in rows:
        if when is None or value_of(when, figures):
            return case, words
    return "", ""


def cautions(*measured: Measured) -> str:
    """Return what the clock warned of while ``measured`` was measured, as the end of a sentence.

    A number is never shown without its warning, and a warning says of which operations or decode
    runs it is. Warnings that differ in their share alone are one. "" where nothing was to be
    distrusted.
    """
    told: dict[tuple[str, str, bool], tuple[dict[str, None], set[int]]] = {}
    for one in measured:
        whose = _whose(one)
        for text in getattr(one, "warnings", ()):
            before, share, after = _parted(text)
            labels, shares = told.setdefault((before, after, bool(whose)), ({}, set()))
            labels[whose] = None
            shares |= {int(share)} if share else set()
    said = []
    for (before, after, named), (labels, shares) in told.items():
        ends = sorted({min(shares), max(shares)} if shares else ())
        text = before + " to ".join(map(str, ends)) + after
        said.append(f"{', '.join(labels)}{': ' if named else ''}{text}")
    return "".join(f"\n\n*Warning: {one}{'' if one.endswith('?') else '.'}*" for one in said)


def _parted(text: str) -> tuple[str, str, str]:
    """A warning before its first whole share in per cent, that number, and what comes after it."""
    found = re.search(r"\b\d+(?= %)", text)
    if not found:
        return text, "", ""
    return text[: found.start()], found.group(), text[found.end() :]


def _whose(one: Measured) -> str:
    """The operation that was measured, with the reader's own code for it if there is any, or the
    batch and context of a decode run; "" for a curve."""
    if isinstance(one, Measurement):
        _, own, code = one.environment.get("kernel", "").partition("run: ")
        return f"{one.op.label} by {code}" if own else one.op.label
    if hasattr(one, "batch") and hasattr(one, "context"):
        return f"batch {one.batch} at context {one.context}"
    return ""


def fold(factor: float) -> str:
    """A ratio as a sentence says it: ``"2.5 times"``. A table says ``"×2.5"``."""
    return f"{plain(factor, 3)} times"


_FORMATS = {"times": fold, "percent": percent} | {
    unit: partial(si, unit=unit) for unit in ("B", "s", "B/s", "FLOP/s")
}


def matrix_unit(timed: Measurement, core: Machine) -> str:
    """Whose the peak of a table is that loops in vectors cannot reach, as a sentence, or ""."""
    if not core.has_peak(timed.op.compute_dtype.name, "tensor"):
        return ""
    return "The peak in the table is that of a matrix unit, which none of these loops uses."


TOO_MUCH = 1.02  # of the peak: more than two moments of one clock differ by
ABOVE_THE_PEAK: Rows = (
    (
        "",
        lambda share: share > TOO_MUCH,
        "More than the peak cannot be. The peak was measured in another moment, and the clock of a "
        "core does not always run at the same speed.",
    ),
)


def speed_table(head: str, timed: Mapping[str, Measurement], core: Machine) -> list[str]:
    """The lines of a Markdown table: each way by its name, its time, its rate, its share of the
    peak of ``core``."""
    first = f"| {head} " if head else "| "
    lines = [f"{first}| time | GFLOP/s | of the peak |", "|---|---|---|---|"]
    for name, one in timed.items():
        share = one.flop_per_s / core.peak(one.op.compute_dtype.name)
        rate = plain(one.flop_per_s / 1e9, 3)
        lines.append(f"| {name} | {si(one.median_s, 's')} | {rate} | {percent(share)} |")
    return lines


def largest_cache(machine: Machine) -> float:
    """Bytes of the largest cache of ``machine``; 0 where none is told of."""
    return max((n for level, n in machine.capacities.items() if level != "dram"), default=0)


def conclusions_of(lesson: str) -> Mapping[str, Callable[..., Conclusion]]:
    """Return the conclusions of one lesson by their names."""
    return dict(of_lesson(lesson, "sentences", "CONCLUSIONS"))


@cache
def conclusions() -> Mapping[str, Callable[..., Conclusion]]:
    """Return every conclusion by its name, in the order of the lessons."""
    return {name: told for one in lessons() for name, told in conclusions_of(one).items()}


def conclude(name: str, *measured: object, **more: object) -> Conclusion:
    """Return the sentence that what was ``measured`` supports.

    Parameters
    ----------
    name : str
        The lesson and what it is about, as in "01-ratio".
    *measured : object
        What the sentence is about. The functions of ``rooflab.course.lessonNN.sentences`` say which
        values they take, and in which units.
    **more : object
        Values given by name.

    Returns
    -------
    Conclusion
        A sentence in Markdown, and the name of the case it was chosen for.

    Examples
    --------
    >>> core = rl.gemm(1, 4096, 4096, "bf16"), rl.Roofline(rl.machine("H100-SXM"), "bf16")
    >>> other = rl.gemm(4096, 4096, 4096, "bf16"), rl.Roofline(rl.machine("H200-SXM"), "bf16")
    >>> rl.conclude("04-sides", core, other).text.split(". ")[0]
    'Here 1 token is left of the ridge of this core, and time is bytes'
    """
    if not isinstance(name, str) or name not in (there := conclusions_of(name[:2])):
        raise unknown("conclusion", name, list(conclusions()))
    _require_taken(name, there[name], measured, more)
    return there[name](*measured, **more)


def _require_taken(
    name: str,
    function: Callable[..., Conclusion],
    measured: tuple[object, ...],
    more: Mapping[str, object],
) -> None:
    """Raise TypeError where ``function`` does not take these values, saying which it takes."""
    signature = inspect.signature(function)
    takes = ", ".join(f"{p.name}: {p.annotation}" for p in signature.parameters.values())
    try:
        given = signature.bind(*measured, **more).arguments
    except TypeError as error:
        raise TypeError(f"conclude({name!r}): {error}; it takes {takes}") from None
    kinds = typing.get_type_hints(function)
    for argument, value in given.items():
        if not _is(value, kinds[argument]):
            text = " ".join(repr(value).split())
            short = text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
            wanted = signature.parameters[argument].annotation
            raise TypeError(
                f"conclude({name!r}): {argument}={short} is no {wanted}; it takes {takes}"
            )


def _is(value: object, kind: typing.Any) -> bool:
    """Whether ``value`` is of an annotated ``kind``: a class, or a container of such values."""
    container, parts = typing.get_origin(kind), typing.get_args(kind)
    if container is None:
        return isinstance(value, _NUMBERS.get(kind, kind))
    if container is tuple:  # a list of as many values will do
        return (
            isinstance(value, (tuple, list))
            and len(value) == len(parts)
            and all(map(_is, value, parts))
        )
    if container is Mapping:
        key, item = parts
        return isinstance(value, Mapping) and all(
            _is(k, key) and _is(v, item) for k, v in value.items()
        )
    if container is Sequence:
        return isinstance(value, Sequence) and all(_is(one, parts[0]) for one in value)
    raise TypeError(f"{kind} is no kind of argument that a conclusion may have")

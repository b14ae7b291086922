"""Guess first: ``rl.guess`` keeps the learner's number, ``rl.reveal`` uncovers the measured one.

The first guess counts; later ones are kept as history. A score is never graded by its size.
"""

from __future__ import annotations

import json
import math
import os
import secrets
import time
import warnings
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cache
from itertools import combinations, permutations
from pathlib import Path
from types import MappingProxyType

from rooflab.count.si import plain, several, times
from rooflab.count.validation import amount, unknown
from rooflab.exercises.discovery import lessons, of_lesson
from rooflab.measure.settings import path_setting, user_folder
from rooflab.measure.store import replace_file

# Where guesses are kept: one small JSON file a record, under the user's data directory.
#
# One file a record means that nothing is ever rewritten: two kernels that guess at the same moment
# both keep what they wrote, without a lock, on any file system. A file appears in one step, so a
# killed kernel leaves none half-written.


SCHEMA, WORDY = 1, 2  # of a record whose value is a number, and of one whose value is a text
GUESSES = "ROOFLAB_GUESSES"  # another folder for guesses alone, such as that of one lecture
WHATS = ("guess", "shown", "outcome")


@dataclass(frozen=True)
class Record:
    """Something that happened to a guess: "guess", "shown" (without a guess) or "outcome"."""

    id: str
    what: str
    value: float | str | None
    at_ns: int

    def to_dict(self) -> dict[str, object]:
        """Return the record as it is stored."""
        return {"schema": WORDY if isinstance(self.value, str) else SCHEMA, **asdict(self)}


@dataclass
class Store:
    """Records of one directory, and those of this session that could not be written there."""

    directory: Path
    unwritten: list[Record] = field(default_factory=list)
    _told: set[str] = field(default_factory=set)

    def add(self, id: str, what: str, value: float | str | None = None) -> Record:
        """Keep a record; in memory, with one warning, where the directory cannot be written."""
        record = Record(id, what, value, time.time_ns())
        try:
            self.directory.mkdir(parents=True, exist_ok=True)
            name = f"{record.id}.{record.at_ns}.{secrets.token_hex(4)}.json"
            replace_file(self.directory / name, json.dumps(record.to_dict()))
        except OSError as error:
            self.unwritten.append(record)
            self._tell(
                "unwritten",
                f"guesses are kept for this session only: {self.directory} cannot be written "
                f"({error.strerror or type(error).__name__}); set ROOFLAB_HOME to another folder",
            )
        return record

    def records(self) -> list[Record]:
        """Return all records, oldest first."""
        try:
            paths = sorted(self.directory.glob("*.json"))
        except OSError:
            paths = []
        found = [record for path in paths if (record := self._read(path)) is not None]
        return sorted([*found, *self.unwritten], key=lambda record: record.at_ns)

    def _read(self, path: Path) -> Record | None:
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
            if isinstance(data, dict) and _newer(data):
                self._tell(path.name, f"{path} was written by a newer rooflab; left as it is")
                return None
            return _parse(data)
        except FileNotFoundError:
            return None  # set aside by another kernel since it was listed
        except OSError as error:
            self._tell(path.name, f"{path} cannot be read ({error.strerror}); skipped")
            return None
        except (ValueError, TypeError, KeyError, OverflowError, RecursionError):
            self._set_aside(path)
            return None

    def _set_aside(self, path: Path) -> None:
        kept = path.with_name(path.name + ".bak")
        try:
            os.replace(path, kept)
            where = f"kept as {kept.name}"
        except OSError:
            where = "left where it is"
        self._tell(path.name, f"{path} is not a guess that rooflab can read; {where}")

    def _tell(self, about: str, message: str) -> None:
        if about not in self._told:
            self._told.add(about)
            warnings.warn(message, RuntimeWarning, stacklevel=2)


def _newer(data: Mapping[str, object]) -> bool:
    schema = data.get("schema")
    return isinstance(schema, int) and not isinstance(schema, bool) and schema > WORDY


def _parse(data: object) -> Record:
    """Read a record; one without a schema number is taken for schema 1 if it has its fields."""
    if not isinstance(data, dict) or data.get("schema", SCHEMA) not in (SCHEMA, WORDY):
        raise ValueError("no record")
    value = data["value"]
    wordy = data.get("schema") == WORDY and isinstance(value, str)
    kept = value if wordy or value is None else float(value)
    record = Record(str(data["id"]), data["what"], kept, int(data["at_ns"]))
    sound = wordy or record.value is None or 0 < record.value < float("inf")
    if record.what not in WHATS or not sound or (record.value is None) != (record.what == "shown"):
        raise ValueError("no record")
    return record


def home() -> Path:
    """Directory of the learner's data: ROOFLAB_HOME, else the platform's own place for it."""
    return path_setting("ROOFLAB_HOME") or user_folder("data")


_store = cache(Store)


def store() -> Store:
    """Return the store of ROOFLAB_GUESSES, else that of the current home.

    There is one object a directory, so that warnings come once.
    """
    return _store(path_setting(GUESSES) or home() / "guesses")


# The guesses that the lessons ask for: question, unit and plausible range of each.


@dataclass(frozen=True)
class Question:
    """What is guessed before it is measured: a number, or one of ``answers`` (see below).

    ``low`` and ``high`` are the ends of a number's axis. ``slips``: how many times the number
    marked on the axis a usual slip leads to, and what is then said.
    """

    id: str
    text: str
    unit: str = ""
    low: float = 1.0
    high: float = 100.0
    slips: tuple[tuple[float, str], ...] = ()
    answers: tuple[str, ...] = ()

    @property
    def lesson(self) -> str:
        """Number of the lesson, "01"."""
        return self.id[:2]

    def answer(self, argument: str, value: object) -> float | str:
        """Return ``value`` as it is kept: a positive number, or one of the answers as a text."""
        if self.answers:
            text = BEFORE.join(map(str, value)) if isinstance(value, (list, tuple)) else value
            if text not in self.answers:
                raise ValueError(f"{argument}={value!r} must be one of {', '.join(self.answers)}")
            return str(text)
        if self.unit == "%":
            return amount(argument, value, "a share above 0 and at most 100 %", most=100)
        return amount(argument, value, "a number above 0")


BEFORE = " < "  # between the things of an order


def share(id: str, text: str, low: float = 1.0) -> Question:
    """Return the question for a share in per cent."""
    return Question(id, text, "%", low, 100.0)


def choice(id: str, text: str, *options: str) -> Question:
    """Return the question which of ``options`` it will be."""
    return Question(id, text, answers=options)


def order(id: str, text: str, *things: str) -> Question:
    """Return the question for the order of two or three ``things``: "a < b < c", or a list."""
    if not 2 <= len(things) <= 3:
        raise ValueError(f"things={things!r} must be two or three; rl.sort has cards for more")
    return Question(id, text, answers=tuple(map(BEFORE.join, permutations(things))))


@cache
def questions() -> Mapping[str, Question]:
    """Return every question of the course, id → Question, in the order of the lessons."""
    asked = [one for number in lessons() for one in of_lesson(number, "guesses", "QUESTIONS")]
    return MappingProxyType({one.id: one for one in asked})


def question(id: object) -> Question:
    """Return the question ``id``; ValueError with suggestions when there is none."""
    if not isinstance(id, str):
        raise TypeError(f"id={id!r} must be a text such as '01-speed-ratio'")
    key = id.strip().lower()
    for one in of_lesson(key[:2], "guesses", "QUESTIONS"):
        if one.id == key:
            return one
    raise unknown("guess", id, questions())


SPOT_ON = 1.1  # off by less than this is right
WORDS = {"×": "times"}  # a unit as a sentence says it, where that is not the sign itself


@dataclass(frozen=True)
class Guess:
    """A learner's guess. ``value`` is the first one, ``later`` those after it, in order.

    ``measured`` is the latest measured value or None; ``shown`` tells that the result was looked
    at before any guess, and ``value`` is None as long as there is none.
    """

    id: str
    value: float | str | None
    later: tuple[float | str, ...] = ()
    measured: float | str | None = None
    shown: bool = False

    @property
    def question(self) -> Question:
        """What was asked."""
        return question(self.id)

    @property
    def off_by(self) -> float | None:
        """Factor ≥ 1 between guess and measurement; None while one is missing, or for a text."""
        if not isinstance(self.value, float) or not isinstance(self.measured, float):
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

    The first guess counts.

    Parameters
    ----------
    id : str
        A question of the lessons, such as "01-speed-ratio".
    value : float
        The guess. With ``...`` in its place nothing is recorded and the question comes back, so
        that an unanswered cell runs.

    Returns
    -------
    Guess or Asked
        The guess, with ``off_by`` as soon as the number was measured; the question before a guess.

    Examples
    --------
    >>> rl.guess("01-speed-ratio")
    All data start in memory. How many times faster is GEMM than AXPY, in FLOP/s?
    Guess: rl.guess("01-speed-ratio", …) with a number (×), or rl.show_me("01-speed-ratio")
    >>> rl.guess("01-speed-ratio", 300)
    You guessed 300 times.
    """
    asked = question(id)
    if value is ...:
        return get(asked.id) or Asked(asked)
    record(asked.id, value)
    return get(asked.id)


def record(id: str, value: object) -> None:
    """Keep ``value`` as a guess for ``id``; the same again (a cell run twice) adds nothing."""
    asked = question(id)
    number = asked.answer("guess", value)
    known = get(asked.id)
    if known is None or (known.value, *known.later)[-1] != number:
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
    asked = question(id)
    store().add(asked.id, "outcome", asked.answer("measured", measured))
    return get(asked.id)


def everything() -> tuple[Guess, ...]:
    """Return all guesses of this learner in the order of the lessons."""
    records = store().records()
    found = [_gather(id, [r for r in records if r.id == id]) for id in questions()]
    return tuple(guess for guess in found if guess is not None)


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
    what = f"one of {', '.join(asked.answers)}" if asked.answers else f"a number ({asked.unit})"
    return f'rl.guess("{asked.id}", …) with {what}, or rl.show_me("{asked.id}")'


def sentence(known: Guess) -> str:
    """Return the guess, and how far it was off, in one sentence."""
    if known.question.answers:
        return _sentence_of_words(known)
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
    said = f"You guessed {plain(known.value, 3)} {unit}, it is {plain(known.measured, 3)} {unit}"
    return f"{said}: {how_far}."


def _sentence_of_words(known: Guess) -> str:
    """Return which answer was guessed, and which it is; of an order, how many pairs are turned."""
    guess, right = known.value, known.measured
    if guess is None:
        return f"You looked without a guess{'' if right is None else f'; it is {right}'}."
    if right in (None, guess):
        return f"You guessed {guess}{'.' if right is None else ', and so it is.'}"
    mine, theirs = guess.split(BEFORE), right.split(BEFORE)
    turned = sum(mine.index(a) > mine.index(b) for a, b in combinations(theirs, 2) if b in mine)
    pairs = f": {several(turned, 'pair')} of {math.comb(len(mine), 2)} the other way round"
    return f"You guessed {guess}, it is {right}{pairs if len(mine) > 1 else ''}."


# Keep a result covered until the learner has guessed it.


@dataclass(frozen=True)
class Covered:
    """Stands where the result will be."""

    question: Question

    def __repr__(self) -> str:
        return f"Covered. First guess: {self.question.text}\n{how_to(self.question)}"


@dataclass(frozen=True)
class Revealed:
    """A result with the learner's guess beside it; shows itself like the result does."""

    guess: Guess
    result: object

    def __repr__(self) -> str:
        return f"{self.guess!r}\n{self.result!r}"

    def _ipython_display_(self) -> None:
        from IPython.display import display

        print(repr(self.guess))
        if self.result is not None:
            display(self.result)


def reveal(id: str, result: object = None, *, measured: object = None) -> Covered | Revealed:
    """Show ``result`` if ``id`` was guessed (or the learner asked to be shown), else cover it.

    Parameters
    ----------
    id : str
        A question of the lessons, such as "01-speed-ratio".
    result : object
        What to show. It may be a function without arguments, called only when the result is shown.
        None shows the guess alone.
    measured : float, optional
        The number that the guess was about, in the question's unit; it is recorded, so that
        "off by ×k" follows. None records nothing.

    Returns
    -------
    Covered or Revealed
        The question as long as there is no guess; then the guess and the result.

    Examples
    --------
    >>> rl.reveal("01-speed-ratio", "198 GFLOP/s against 2", measured=99)
    Covered. First guess: All data start in memory. How many times faster is GEMM than AXPY, ...
    rl.guess("01-speed-ratio", …) with a number (×), or rl.show_me("01-speed-ratio")
    >>> _ = rl.guess("01-speed-ratio", 33)
    >>> rl.reveal("01-speed-ratio", "198 GFLOP/s against 2", measured=99)
    You guessed 33 times, it is 99 times: off by ×3, too low.
    '198 GFLOP/s against 2'
    """
    asked = question(id)
    if measured is not None:
        outcome(asked.id, measured)
    known = get(asked.id)
    if known is None:
        return Covered(asked)
    plain_function = callable(result) and not hasattr(result, "_repr_mimebundle_")
    return Revealed(known, result() if plain_function else result)


def show_me(id: str) -> str:
    """Allow the result of ``id`` to be shown without a guess; this is recorded.

    Parameters
    ----------
    id : str
        A question of the lessons, such as "01-speed-ratio".

    Returns
    -------
    str
        What to do next.

    Examples
    --------
    >>> rl.show_me("01-speed-ratio")
    'Recorded: shown without a guess. Run the covered cell again to see the result.'
    >>> rl.guess("01-speed-ratio")
    You looked without a guess.
    """
    known = reveal_without_guess(question(id).id)
    if known.value is not None:
        return f"{known!r} Run the covered cell again to see the result."
    return "Recorded: shown without a guess. Run the covered cell again to see the result."

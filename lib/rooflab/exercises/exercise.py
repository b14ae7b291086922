"""What an exercise is: a question, a generator of cases, the right answer and the usual wrong ones.

Cases and answers are plain data, so the same entry serves ``check`` in a notebook and a grader
that computes the verdict outside the learner's process.
"""

from __future__ import annotations

import ast
import copy
import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from inspect import Parameter, Signature
from typing import Any

from rooflab.exercises.observe.collect import RUNNERS
from rooflab.exercises.observe.observation import Case as Case
from rooflab.exercises.observe.observation import Observation as Observation

KINDS = ("value", *RUNNERS)
EITHER = Parameter.POSITIONAL_OR_KEYWORD
COMPARED = ("value", "function", "arrays")  # judged by comparing what comes out with what is right


@dataclass(frozen=True)
class Misconception:
    """A usual mistake. ``wrong`` takes a case's inputs and returns what the mistake gives.

    ``name`` and ``hint`` say what was thought, never the right value. In timing, golf and
    schedules ``wrong`` is a whole wrong function, and ``shows`` recognises the mistake in what was
    observed: (case, observation) → bool. A schedule without ``shows`` has the mistake whose
    ``wrong`` fails in the same way. ``variants`` are other ways to make the same mistake.
    """

    name: str
    wrong: Callable[..., object]
    hint: str
    shows: Callable[[Case, Observation], bool] | None = None
    variants: tuple[Callable[..., object], ...] = ()


@dataclass(frozen=True)
class Domain:
    """What an input may be, in words, and its edges, each of which some fixed case has.

    The edges of a list are lengths.
    """

    text: str
    edges: tuple[Any, ...]


def one_of(*values: Any) -> Domain:
    """Return the domain of an input that takes one of ``values``."""
    *others, last = map(str, values)
    return Domain(f"{', '.join(others)} or {last}", values)


def at_least(least: int) -> Domain:
    """Return the domain of numbers from ``least`` on."""
    return Domain(f"{least} or more", (least,))


def any_length(least: int = 1) -> Domain:
    """Return the domain of lists of ``least`` or more."""
    words = f"with {least} or more entries" if least else "that may be empty"
    return Domain(f"a list {words}", (least,))


ARRAY, ITEMSIZES = Domain("an array", ()), one_of(1, 2, 4, 8)


@dataclass(frozen=True)
class Exercise:
    """One graded exercise.

    ``signature``: what the learner writes, e.g. "flops(m, n, k)"; ``lines``: how many lines that
    takes; ``returns``: names of the parts when the answer has several. ``cases``: (random.Random)
    → list of cases; a "value" exercise has one case without inputs. ``fixed``: cases that every
    draw ends with: alone they separate the truth and all misconceptions, and they take each input
    to the edges of what the question allows. ``example``: the inputs of one call that the answer
    cell shows with its value; ``form``: what it shows instead, in words, where there is no call or
    its value would tell the answer. ``domain``: what an input may be. ``tolerance`` is relative.
    ``mine``: the name under which the function goes into the learner's mine.py; ``given``:
    functions that its lesson writes down beside it, which go there too. ``derives``: names of
    rooflab functions that the exercise asks to derive, for a grader to lock. ``timed``: the
    operation that a "timing" exercise times. ``par``: bytes over the least possible with which a
    "golf" exercise is solved; bytes over those of the case or of the reference with which a
    "schedule" is. ``margin``: (inputs of a case) → relative tolerance, where the right
    answer was measured and every case has a spread of its own. ``errors``: exception, name and hint
    of the usual mistakes that give no value but raise; in place of the exception, the beginning of
    what collect.py says of a result that is no value, or "None" where a case gave None. ``also``:
    other answers that are right too, each a remark and a function of a case's inputs: a stricter
    bound where a bound is asked. ``remarks``: sentences on a timing whose number is right, and what
    shows in an observation that its way is another one than asked.
    ``insight``: a sentence for those who have solved it: what their number means on their machine.

    Of the kinds, "arrays" is a function too. What is a list in its cases reaches it as a NumPy
    array.
    """

    id: str
    title: str
    points: int
    question: str
    signature: str
    reference: Callable[..., object]
    misconceptions: tuple[Misconception, ...]
    cases: Callable[[random.Random], list[Case]] = lambda rng: [{}]
    fixed: tuple[Case, ...] = ()
    example: tuple[object, ...] = ()
    form: str = ""
    domain: Mapping[str, Domain] = field(default_factory=dict)
    kind: str = "function"
    returns: tuple[str, ...] = ()
    tolerance: float = 1e-9
    lines: int = 1
    mine: str | None = None
    given: tuple[Callable[..., object], ...] = ()
    derives: tuple[str, ...] = ()
    timed: str | None = None
    margin: Callable[..., float] | None = None
    par: float = 1.0
    errors: tuple[tuple[str, str, str], ...] = ()
    also: tuple[tuple[str, Callable[..., object]], ...] = ()
    insight: str = ""
    remarks: tuple[tuple[str, Callable[[Case, Observation], bool]], ...] = ()

    def __post_init__(self) -> None:
        if not re.fullmatch(r"\d\d-[a-z0-9]+(-[a-z0-9]+)*", self.id):
            raise ValueError(f"id={self.id!r} must look like '01-speed-limit'")
        if self.kind not in KINDS:
            raise ValueError(f"kind={self.kind!r} must be one of {', '.join(KINDS)}")
        if self.points < 1:
            raise ValueError(f"points={self.points!r} of {self.id} must be 1 or more")
        names = [m.name for m in self.misconceptions]
        if len(set(names)) < 3 or len(set(names)) != len(names):
            raise ValueError(f"{self.id} needs 3 or more misconceptions with different names")

    @property
    def lesson(self) -> str:
        """Number of the lesson, "01"."""
        return self.id[:2]

    @property
    def name(self) -> str:
        """Name of the function that the learner writes."""
        return self.signature.partition("(")[0]

    def allowed(self, case: Case) -> float:
        """Relative distance from the right answer that is still right in ``case``."""
        return self.tolerance if self.margin is None else self.margin(*case.values())

    def draw(self, seed: object = 0) -> list[Case]:
        """Return the cases of ``seed``, the fixed ones last; alike on every machine."""
        return [*self.cases(random.Random(f"{self.id}/{seed}")), *copy.deepcopy(self.fixed)]


def call_of(text: str) -> Signature:
    """Return what a call such as "flops(m, n, accumulate=False)" takes."""
    head = ast.parse(f"def {text}: ...").body[0]
    assert isinstance(head, ast.FunctionDef)
    needed = len(head.args.args) - len(head.args.defaults)
    values = [*[Parameter.empty] * needed, *map(ast.literal_eval, head.args.defaults)]
    pairs = zip(head.args.args, values, strict=True)
    return Signature([Parameter(one.arg, EITHER, default=value) for one, value in pairs])


def cases_of(names: str, *rows: Sequence[object]) -> tuple[Case, ...]:
    """Return one case a row: ``names`` of the inputs, separated by blanks, with a row's values."""
    return tuple(dict(zip(names.split(), row, strict=True)) for row in rows)

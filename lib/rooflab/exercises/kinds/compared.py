"""Judge values: compare them with the right ones, and name the mistake behind a wrong one."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from rooflab.exercises import compare
from rooflab.exercises.compare import parts, same, show
from rooflab.exercises.exercise import Case, Exercise, Misconception, Observation
from rooflab.exercises.observe.plaindata import Plain, to_plain
from rooflab.exercises.verdict import Verdict, failed, passed

Part = tuple[Plain, Plain, float]  # right, given, and the tolerance of the case

NEARLY, ROUNDED, IN_SINGLE = "a little off", "rounded", "single precision"
STOPPED = "Stopped"  # kind of what a function is stopped by that does not end
_SLIPS = (
    (compare.as_text, "digits in a text", "a text is no number; take the quotes or the f\"…\" "
     "away. Where one value is a word, np.array makes texts of all of them: return a tuple."),
    (compare.other_unit, "another unit", "check the unit: is there a kilo, mega or giga in it, or "
     "a GiB for a GB, that nobody asked for?"),
    (compare.only_rounded, ROUNDED,
     "return the number as it comes out; it need not be whole or short."),
    (compare.in_single, IN_SINGLE, "these are numbers of single precision (np.float32), which "
     "keeps 7 digits and loses some of them at every step; compute with Python's numbers or "
     "np.float64."),
    (compare.nearly, NEARLY, "was it computed in single precision or rounded on the way, or is "
     "something small left out?"),
    (compare.upside_down, "upside down",
     "which of the two belongs above the line, and which below?"),
    (compare.same_factor, "a constant factor", "you are off by the same factor in every case: what "
     "is counted too often, or left out?"),
)  # fmt: skip
_STUMBLES = (  # what is raised, the mistake that usually raises it, and its hint
    (r"Stopped: was stopped", "no end",
     "does its loop end? A loop needs a step that brings its end nearer."),
    (r"Stopped: took longer", "too slow",
     "what in it takes so long: a pause, or one call on far too many numbers?"),
    (r"RecursionError", "no end", "the function calls itself, and never stops doing so."),
    (r"TypeError: .*'(function|builtin_function_or_method|method|type)'", "a function, not called",
     "one of the operands is a function; call it: f(…) is its result, f alone is not."),
    (r"AttributeError: 'numpy.ndarray' object", "an array for a list",
     "this is a NumPy array, which has other methods than a list; list(…) makes a list of it."),
    (r"ValueError: The truth value of an array", "an array for a number",
     "an array has many truth values; compare single numbers, or use np.maximum and the like."),
    (r"TypeError: .*(operand|can't multiply sequence|concatenate).*(list|non-int)",
     "a list for a number",
     "a list has no arithmetic; take numbers out of it, or use np.array(…)."),
)  # fmt: skip


@dataclass(frozen=True)
class Comparison:
    """What came out of every case, beside what is right."""

    exercise: Exercise
    cases: Sequence[Case]
    expected: Sequence[Plain]
    observations: Sequence[Observation]

    @property
    def wrong(self) -> list[int]:
        """Numbers of the cases that are not right."""
        return [
            number
            for number, (case, right, seen) in enumerate(self)
            if not ("value" in seen and same(right, seen["value"], self.exercise.allowed(case)))
        ]

    @property
    def several(self) -> bool:
        """Whether the right answer has several parts."""
        return isinstance(self.expected[0], (list, tuple, dict))

    def __iter__(self) -> Iterator[tuple[Case, Plain, Observation]]:
        return zip(self.cases, self.expected, self.observations, strict=True)

    def rows(self) -> list[list[Part]]:
        """The parts of each case; empty where an answer has another shape than the right one."""
        rows = []
        for case, right, seen in self:
            pairs = parts(right, seen["value"]) if "value" in seen else None
            if pairs is None:
                return []
            rows.append([(*pair, self.exercise.allowed(case)) for pair in pairs])
        return rows

    def parts(self) -> list[list[Part]]:
        """The rows, where every case has as many parts; else empty."""
        rows = self.rows()
        return rows if len({len(row) for row in rows}) == 1 else []

    def first_wrong(self, among: Collection[int] = ()) -> tuple[int, int | None]:
        """The first case that is wrong and the first part that is wrong there.

        Those of the parts ``among`` come first, if one of them is wrong anywhere.
        """
        wrong = [
            (number, at)
            for number, row in enumerate(self.parts())
            for at, part in enumerate(row)
            if not same(*part)
        ]
        chosen = [place for place in wrong if place[1] in among]
        return next(iter([*chosen, *wrong]), (self.wrong[0], None))

    def wrong_parts(self) -> list[tuple[Part, ...]]:
        """Every part that is wrong somewhere, in all cases."""
        columns = zip(*self.parts(), strict=True)
        return [column for column in columns if not all(same(*each) for each in column)]

    def mistake(self, text: tuple[str, str]) -> Misconception:
        """A mistake that is not the exercise's own, from its name and its hint."""
        name, hint = text
        return Misconception(name, self.exercise.reference, hint)


def diagnose(found: Comparison) -> tuple[Misconception | None, int, int | None]:
    """Return the mistake that explains most of a wrong answer, the case and the part it shows in.

    The part is None where the answer has not the parts that are wanted. A misconception has to
    give the learner's values on every case. Only the parts of an answer that it changes count, so
    that a second slip in another part does not hide it.
    """
    changed, named = _closest(found)
    if compare.reordered(found.parts()) and len(changed) < len(found.wrong_parts()):
        labels = ", ".join(found.exercise.returns)
        text = "another order", f"these are the right values in another order: {labels}."
        return found.mistake(text), *found.first_wrong()
    if named:
        return named, *found.first_wrong(changed)
    text = _stumble(found) or _slip(found)
    return found.mistake(text) if text else None, *found.first_wrong()


def _closest(found: Comparison) -> tuple[set[int], Misconception | None]:
    """The parts that the best fitting misconception changes, and which one that is.

    Of two that change as many, the one that changes the first wrong part.
    """
    _, first = found.first_wrong()
    best: tuple[tuple[int, bool], set[int], Misconception | None] = ((0, True), set(), None)
    for mistake in found.exercise.misconceptions:
        for wrong in (mistake.wrong, *mistake.variants):
            changed = _changed(found, wrong)
            if (fit := (len(changed), first in changed)) > best[0]:
                best = (fit, changed, mistake)
    return best[1], best[2]


def _changed(found: Comparison, wrong: Callable[..., object]) -> set[int]:
    """The parts that ``wrong`` changes, if the learner's agree with it there; else none."""
    rows, tolerance, silent = [], found.exercise.tolerance, set[int]()
    for case, right, seen in found:
        value = wrong(*case.values())
        if value is None and "value" not in seen:
            silent = {0}  # neither has an answer there, which is wrong as well
            continue
        if value is None or "value" not in seen:
            return set()
        mine, theirs = parts(right, seen["value"]), parts(right, value)
        pairs = zip(theirs or (), mine or ())
        rows.append([(same(r, w, tolerance), same(w, m, tolerance)) for (r, w), (_, m) in pairs])
        if (False, False) in rows[-1]:  # changed, and not to the learner's
            return set()
    if not rows:
        return silent
    if not rows[0] or len({len(row) for row in rows}) > 1:
        return {0} if _as_a_whole(found, wrong) else set()
    changed = {at for row in rows for at, (kept, _) in enumerate(row) if not kept}
    agree = all(row[at][1] for row in rows for at in changed)
    return (changed or silent) if agree else set()


def _as_a_whole(found: Comparison, wrong: Callable[..., object]) -> bool:
    """Whether ``wrong`` gives the learner's values, for answers that have not parts alike."""
    pairs = [
        (to_plain(wrong(*case.values())), seen["value"]) for case, _, seen in found
        if "value" in seen
    ]  # fmt: skip
    return all(same(theirs, mine, found.exercise.tolerance) for theirs, mine in pairs)


def _stumble(found: Comparison) -> tuple[str, str] | None:
    """Name and hint of what raises what the first failing case raised."""
    exercise, seen = found.exercise, found.observations[found.wrong[0]]
    raised = "None" if seen.get("missing") else str(seen.get("error", seen.get("unreadable", "")))
    if seen.get("entered") is False and raised.startswith("TypeError"):
        hint = f"it is called as {exercise.signature}, with the arguments in this order."
        return "other arguments", hint
    known = [(rf"{kind}\b", name, hint) for kind, name, hint in exercise.errors]
    fits = (
        (name, hint) for pattern, name, hint in (*known, *_STUMBLES) if re.match(pattern, raised)
    )
    return next(fits, None)


def _slip(found: Comparison) -> tuple[str, str] | None:
    """Name and hint of a slip that any answer of numbers may have."""
    if not found.parts():
        every = [part for row in found.rows() for part in row]
        known = ((name, hint) for shows, name, hint in _SLIPS if every and shows(every))
        return next(known, None) or _several(found)
    first, shown = found.first_wrong()
    if isinstance(found.observations[first]["value"], list) and not found.several:
        kind = "word" if isinstance(found.expected[first], str) else "number"
        return "a list of one", f"the {kind} alone is wanted, without brackets around it."
    part = [row[shown] for row in found.parts()]
    known = next(((name, hint) for shows, name, hint in _SLIPS if shows(part)), None)
    return known or _itemsize(found, part)


def _itemsize(found: Comparison, part: Sequence[Part]) -> tuple[str, str] | None:
    """The slip of a factor of itemsize that is missing, or there once too often."""
    sizes = [case.get("itemsize") for case in found.cases]
    numbers = [mine for _, mine, _ in part]
    if not all(sizes) or not all(isinstance(n, (int, float)) for n in numbers):
        return None
    for power in (1, -1, 2, -2):
        if all(
            same(right, float(mine) * size**power, max(allowed, compare.SINGLE))
            for (right, mine, allowed), size in zip(part, sizes, strict=True)
        ):
            return "itemsize", "itemsize is left out, or it stands in the wrong place."
    return None


def _several(found: Comparison) -> tuple[str, str] | None:
    """The slip of several numbers where one is wanted."""
    case, _, seen = next(iter(found))
    mine = seen.get("value")
    if found.several or not isinstance(mine, list) or len(mine) < 2:
        return None
    if len(mine) in [len(given) for given in case.values() if isinstance(given, list)]:
        hint = "which point tells the one number that is wanted, or which of them together?"
        return "a value for each point", hint
    return "several for one", "one value is wanted; which of these is it?"


INPUT_DIGITS = 7  # a longer input is rounded in what a learner reads; ``case`` holds all of it

NOT_RIGHT = "that is not right"


def judge(
    exercise: Exercise, cases: Sequence[Case], observations: Sequence[Observation]
) -> Verdict:
    """The verdict on values: those of the reference are right, and those of ``exercise.also``."""
    right = "right" if len(cases) == 1 else f"all {len(cases)} cases right"
    for remark, function in (("", exercise.reference), *exercise.also):
        expected = [function(*case.values()) for case in cases]
        if not Comparison(exercise, cases, expected, observations).wrong:
            return passed(exercise, f"{right}; {remark}" if remark else right)
    expected = [exercise.reference(*case.values()) for case in cases]
    found = Comparison(exercise, cases, expected, observations)
    mistake, number, at = diagnose(found)
    seen = observations[number]
    reason = complaint(found, mistake, number, at)
    yours = show(seen["value"]) if "value" in seen else None
    return failed(exercise, reason, case=cases[number], yours=yours, mistake=mistake)


def call_text(exercise: Exercise, case: Case) -> str:
    """Return the failing call as the learner would write it: ``flops(m=3, n=5, k=7)``."""
    if exercise.kind == "value":
        return "your answer"
    inputs = ", ".join(f"{name}={show(value, exact=INPUT_DIGITS)}" for name, value in case.items())
    return f"`{exercise.name}({inputs})`"


def complaint(found: Comparison, mistake: Misconception | None, number: int, at: int | None) -> str:
    """Say what is wrong with a case that fails, and with which part, never what would be right."""
    exercise = found.exercise
    case, right, seen = found.cases[number], found.expected[number], found.observations[number]
    call = call_text(exercise, case)
    if seen.get("missing"):
        return f"{call} returned None for this case"
    if "error" in seen:
        kind, _, told = str(seen["error"]).partition(": ")
        return f"{call} {told}" if kind == STOPPED else f"{call} raised {seen['error']}"
    if "unreadable" in seen or "value" not in seen:
        return f"{call}: {seen.get('unreadable', 'nothing came back')}"
    got, labels = seen["value"], exercise.returns
    subject = f"{call} is" if exercise.kind == "value" else f"{call} gave"
    pairs = parts(right, got)
    if pairs is None or (isinstance(got, list) and not isinstance(right, (list, tuple))):
        several = "keys" if isinstance(got, dict) else "values"
        wanted = f"{len(labels)} {several} are wanted: {', '.join(labels)}"
        wanted = wanted if labels else _kind(right, got)
        return f"{subject} {show(got)}; {wanted}"
    if at is None:  # another case has not the parts that are wanted
        at = next(n for n, pair in enumerate(pairs) if not same(*pair, exercise.allowed(case)))
    if labels and len(pairs) > 1:
        value = exercise.kind == "value"
        subject = f"{labels[at]}: {subject}" if value else f"the {labels[at]} of {subject}"
    elif len(pairs) > 1 and isinstance(got, list):
        subject = f"at [{at}] {subject}"
    also = [label for label, pair in zip(labels[:at], pairs)
            if mistake and not same(*pair, exercise.allowed(case))]  # fmt: skip
    close = mistake is not None and mistake.name in (NEARLY, ROUNDED, IN_SINGLE)
    problem = _problem(exercise, found.cases, *pairs[at]) or (
        "nearly right" if close else NOT_RIGHT
    )
    problem += f"; not right either: {', '.join(also)}" if also else ""
    return f"{subject} {show(pairs[at][1])}: {problem}"


def _problem(exercise: Exercise, cases: Sequence[Case], right: Plain, mine: Plain) -> str | None:
    """Say what kind of value is wanted, where ``mine`` is of another kind."""
    if isinstance(right, bool):
        return None if compare.truth(mine) is not None else _kind(right)
    if isinstance(right, (int, float)) and (problem := compare.flaw(mine)):
        return problem
    if isinstance(right, (list, tuple)):
        return None if parts(right, mine) else f"{len(right)} values are wanted here"
    if isinstance(mine, str) != isinstance(right, str) or isinstance(mine, (list, dict)):
        return _kind(right)
    if not isinstance(right, str):
        return None
    words = _vocabulary(exercise, cases)
    texts = {*_texts([[*case.values()] for case in cases])}
    # What stands in a text of the cases is no foreign word: a loop of "ikj".
    given = isinstance(mine, str) and any(mine in text for text in texts)
    if given or any(same(word, mine, 0) for word in words):
        return None
    if words and {*words} <= texts:
        return "one of the texts in its arguments is wanted"  # a list would tell the right ones
    apart = any("," in word for word in words)  # then commas do not tell where a word ends
    return f"one of these words is wanted: {', '.join(map(repr, words) if apart else words)}"


def _texts(given: object) -> Iterator[str]:
    """Every text in a value, the keys of mappings among them."""
    if isinstance(given, str):
        yield given
    elif isinstance(given, Mapping):
        for key, value in given.items():
            yield from (*_texts(key), *_texts(value))
    elif isinstance(given, (list, tuple)):
        for value in given:
            yield from _texts(value)


def _vocabulary(exercise: Exercise, cases: Sequence[Case]) -> list[str]:
    """The words that an answer may hold.

    Where there are several cases they are the right ones of all cases: a wrong answer may hold a
    word that nobody asked for.
    """
    functions = [exercise.reference]
    if exercise.kind == "value":
        functions += [mistake.wrong for mistake in exercise.misconceptions]
    found = set()
    for case in cases:
        for function in functions:
            value = function(*case.values())
            several = value if isinstance(value, (list, tuple)) else [value]
            found |= {word for word in several if isinstance(word, str)}
    return sorted(found)


def _kind(expected: Plain, mine: Plain = None) -> str:
    if isinstance(expected, (list, tuple)):
        several = isinstance(mine, (list, tuple)) and len(mine) != len(expected)
        return "a list of another length is wanted" if several else "a list of numbers is wanted"
    if isinstance(expected, bool):
        return "True or False is wanted"
    return "a text is wanted" if isinstance(expected, str) else "one number is wanted"

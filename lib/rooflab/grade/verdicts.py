"""From an outcome to verdicts: plain data from an untrusted process, judged outside the sandbox."""

from __future__ import annotations

import contextlib
import dataclasses
import re
import textwrap
from collections.abc import Iterable, Mapping, Sequence

from rooflab.exercises.exercise import Exercise, Observation
from rooflab.exercises.judge import judge as judge_here
from rooflab.exercises.observe.lock import DERIVE
from rooflab.exercises.observe.observation import describe
from rooflab.exercises.registry import exercises
from rooflab.exercises.verdict import Verdict, failed
from rooflab.grade.display_names import clean
from rooflab.grade.intake import CodeCell
from rooflab.grade.judge_process import Judge
from rooflab.grade.lesson_notebook import Lesson
from rooflab.grade.locked_notebook import ANSWER, ENDED, FOLLOW, Locked, Outcome
from rooflab.grade.notebook_code import names

# Right answers that take the place of a learner's own, each as plain Python.
#
# A later answer may call an earlier one. Where the earlier one is wrong, the right one takes its
# place at the end of the run: the mistake has cost its points. ``rl.mine.time`` finds in the grade
# what it finds in a notebook without a mine.py, but never the answer to an exercise of the same
# lesson.


RIGHT: Mapping[str, str] = {  # exercise → its answer
    "01-product": """
def answer(m, n, k, itemsize, accumulate=False):
    flops = 2 * m * n * k
    moved = (m * k + k * n + (2 if accumulate else 1) * m * n) * itemsize
    return flops, moved, flops / moved""",
    "03-time": """
def answer(flops, bytes, peak, bandwidth):
    return max(flops / peak, bytes / bandwidth)""",
    "04-layer": """
def answer(tokens, inputs, outputs, itemsize, peak, bandwidth):
    flops = 2 * tokens * inputs * outputs
    numbers = tokens * inputs + inputs * outputs + tokens * outputs
    return max(flops / peak, numbers * itemsize / bandwidth)""",
    "04-knee": """
def answer(inputs, outputs, itemsize, peak, bandwidth):
    return 1 / (2 * bandwidth / (itemsize * peak) - 1 / inputs - 1 / outputs)""",
    "05-decode": """
def answer(parameters, itemsize, kv, batch, context, peak, bandwidth):
    products = max(2 * parameters * batch / peak, parameters * itemsize / bandwidth)
    return batch / (products + kv * context * batch / bandwidth)""",
}
WRITTEN: Mapping[str, str] = {  # functions that a lesson writes down itself
    "ridge": """
def answer(peak, bandwidth):
    return peak / bandwidth""",
    "attainable": """
def answer(intensity, peak, bandwidth):
    return min(peak, intensity * bandwidth)""",
}
_ASKED = re.compile(r"\bmine\s*\.\s*(\w+)")


def right(exercise: str, name: str) -> str:
    """Return the right answer to ``exercise`` under the name ``name``; "" if there is none."""
    return _named(RIGHT[exercise], name) if exercise in RIGHT else ""


def mine_source(lesson: Lesson, cells: Iterable[CodeCell]) -> str:
    """Return the source of a cell that gives ``rl.mine`` what ``cells`` ask of it; "" if nothing.

    Answers to exercises of ``lesson`` are not given away: there the learner's own function counts.
    """
    asked = {name for cell in cells for name in _ASKED.findall(cell.source)}
    # Nor those of later lessons, in which they may be hidden.
    earlier = [id for id in RIGHT if id[:2] < lesson.number]
    named = {exercises()[id].mine: RIGHT[id] for id in earlier}
    texts = {name: text for name, text in {**named, **WRITTEN}.items() if name in asked}
    if not texts:
        return ""
    functions = [textwrap.indent(_named(text, name), "    ") for name, text in texts.items()]
    table = ", ".join(f"{name!r}: {name}" for name in texts)
    return "\n\n".join([
        "def _mine():", *functions, f"    return {{{table}}}\n",
        "from rooflab.exercises.mine import mine as _own\n_own.stand_in(_mine())\ndel _mine, _own",
    ])  # fmt: skip


def _named(text: str, name: str) -> str:
    return text.strip().replace("def answer(", f"def {name}(", 1)


# A wrong earlier answer does not cost twice: the later one is run once more at the end, with the
# right answer in its place. A right but slow answer may be replaced too: one that counts in loops
# would take hours for the sizes of a claim.


CUT_OFF = re.compile("was stopped|KeyboardInterrupt")  # in the reason of an answer without an end
NOTE = "The mistake in it has cost its points already, and costs none here."


def carry(
    locked: Locked,
    lesson: Lesson,
    verdicts: Mapping[str, Verdict],
    again: Mapping[str, Mapping[int, Sequence[Observation]]],
    judge: Judge = judge_here,
) -> dict[str, Verdict]:
    """Return ``verdicts`` with the points that mistakes of earlier answers had cost.

    ``again``: the further tries of a run, as in an Outcome.
    """
    table = {exercise.id: exercise for exercise in lesson.exercises}
    called = locked.names
    carried = dict(verdicts)
    for id, tries in again.items():
        if FOLLOW not in tries or verdicts[id].passed:
            continue
        read = _read(locked, id)
        parts = [part for part in RIGHT if part in called and part != id and called[part] in read]
        wrong = [called[part] for part in parts if not verdicts[part].passed]
        if not wrong and not CUT_OFF.search(verdicts[id].reason):
            continue
        found = judge(table[id], locked.cases[id], tries[FOLLOW])
        if found.passed:
            own = " and ".join(wrong or [called[part] for part in parts])
            told = f"right, with {'a right' if wrong else 'a quick'} {own} in place of yours"
            carried[id] = dataclasses.replace(found, reason=told, note=NOTE if wrong else None)
    return carried


def _read(locked: Locked, exercise: str) -> frozenset[str]:
    """Names that the learner's answer reads."""
    found: frozenset[str] = frozenset()
    for cell in locked.notebook.cells:
        mark = cell.metadata["rooflab"]
        if mark["role"] == ANSWER and mark.get("exercise") == exercise:
            found |= names(cell.source)
    return found


LONGEST = 400  # characters of a reason
STOPPED = "KeyboardInterrupt"  # what a cell sees when its time is over
ENDLESS = "did not end in time and was stopped"
MISSING = "its answer cell is missing; was it deleted, or turned into text?"
EARLY = "Its cell stopped with {}; what it defines counted all the same."
LOCKED = (
    "Its cell also calls rooflab's own function, beside the answer. That is locked in the grade, "
    "so the cell stopped there. It cost nothing."
)
_RAISED = re.compile(r"[A-Z]\w*(Error|Exception|Interrupt|Exit)\b")
_CELL = re.compile(r"\(\S+\.py, line (\d+)\)")  # how Python names a notebook's cell
_ADDRESS = re.compile(r"0x[0-9a-fA-F]{5,}")


def judge_outcome(
    locked: Locked, outcome: Outcome, lesson: Lesson, judge: Judge = judge_here
) -> dict[str, Verdict]:
    """Return the verdict on every exercise of the lesson, in its order. Never raises.

    What came back is judged; what did not come back has no points, with the run's reason.
    ``judge``: for what strangers hand in, one of :func:`rooflab.grade.judge_process.judging`.
    """
    verdicts = {}
    for exercise in lesson.exercises:
        seen = outcome.observations.get(exercise.id)
        if exercise.id not in locked.cases:
            verdict = failed(exercise, MISSING)
        elif seen is None and min(outcome.again.get(exercise.id, ()), default=FOLLOW) >= FOLLOW:
            told = outcome.reasons.get(exercise.id) or outcome.stopped
            ends = (told, ENDED.format(told))
            at = next((id for id, one in verdicts.items() if told and one.reason in ends), None)
            late = at is not None and told == outcome.stopped
            told = f"not run: {told}, in {at}" if late else told
            verdict = failed(exercise, told or "nothing came back from its check")
        else:
            name = locked.names.get(exercise.id, exercise.name)
            verdict = _best(exercise, locked, outcome, name, judge)
        verdicts[exercise.id] = verdict
    with contextlib.suppress(Exception):  # it only adds points; without it the verdicts stand
        verdicts = carry(locked, lesson, verdicts, outcome.again, judge)
    return {id: tidy(verdict) for id, verdict in verdicts.items()}


def _best(exercise: Exercise, locked: Locked, outcome: Outcome, name: str, judge: Judge) -> Verdict:
    """Return the verdict on the first try that is right, else on the first that came back."""
    more = outcome.again.get(exercise.id, {})
    tries = [seen for number, seen in sorted(more.items()) if number < FOLLOW]
    if exercise.id in outcome.observations:
        tries.insert(0, outcome.observations[exercise.id])
    printed = outcome.printed.get(exercise.id, "")
    raised = _raised(printed)
    first = None
    for seen in tries:
        why = _undefined(seen, name, printed)
        found = failed(exercise, why) if why else _judged(exercise, locked, seen, judge)
        if found.passed and raised and found.note is None:
            note = LOCKED if f": {DERIVE}: " in raised else EARLY.format(told(raised))
            found = dataclasses.replace(found, note=note)
        if found.passed:
            return found
        first = found if first is None else first
    return failed(exercise, "nothing came back from its check") if first is None else first


def _judged(
    exercise: Exercise, locked: Locked, seen: Sequence[Observation], judge: Judge
) -> Verdict:
    try:
        return judge(exercise, locked.cases[exercise.id], seen)
    except Exception as error:  # malformed in a way that no honest answer is
        return failed(exercise, f"what came back cannot be judged ({describe(error)})")


def _undefined(seen: Sequence[Observation], name: str, printed: str) -> str | None:
    """Say what happened to an answer that does not exist: most often its cell raised an error."""
    lost = {"error": f"NameError: name {name!r} is not defined"}
    if not seen or any(one != lost for one in seen):
        return None
    last = _raised(printed)
    raised = f"its answer cell raised {last}" if last else "its answer cell does not make it"
    if last.startswith(STOPPED):
        raised = f"its answer cell {ENDLESS}"
    return f"there is no {name}: {raised}"


def _raised(printed: str) -> str:
    """The error in what an answer cell printed, "" if there is none."""
    return next((line for line in reversed(printed.splitlines()) if _RAISED.match(line)), "")


def tidy(verdict: Verdict) -> Verdict:
    """Return ``verdict`` with texts of one line, the same in every run, of bearable length."""
    reason = verdict.reason.replace(f"raised {STOPPED}", ENDLESS)
    verdict = dataclasses.replace(verdict, reason=reason)
    texts = {
        field: told(value)
        for field in ("reason", "yours", "misconception", "hint", "note")
        if isinstance(value := getattr(verdict, field), str)
    }
    return dataclasses.replace(verdict, **texts)


def told(text: str) -> str:
    """Return a text on one line, without control marks and without addresses in memory."""
    short = _CELL.sub(r"(line \1)", without_addresses(text[: 10 * LONGEST]))
    return clean(short, LONGEST)


def without_addresses(text: str) -> str:
    """Return what an object shows of itself, the same in every run: ``<function f at 0x…>``."""
    return _ADDRESS.sub("0x…", text)

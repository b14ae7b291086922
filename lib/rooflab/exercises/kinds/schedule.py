"""Judge schedules: legal, right, as it was asked, and few bytes between the caches.

Of an answer only the log of transformations is believed. The judge replays it on a nest of its own,
within limits: the log may come from a process that is not trusted.

A case says the nest (observe/schedule.py), and for the judge:

* "caches": arguments of each ``rl.cache.Cache``, the nearest first, and "itemsize", 4 by default;
* "bytes": the goal below each cache by name, {} for none, by default what the reference moves; the
  exercise's par times the goal is allowed;
* "small": extents on which the code is run in Python, by default those of the nest;
* "lanes": those of the vectors that are asked for, by default none.
"""

from __future__ import annotations

import functools
import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from rooflab.count.si import grouped, si
from rooflab.exercises.exercise import Case, Exercise, Misconception, Observation
from rooflab.exercises.observe.observation import stopped
from rooflab.exercises.observe.schedule import nest_of, run
from rooflab.exercises.verdict import Verdict, failed, passed
from rooflab.labs.cache.hierarchy import Cache, Hierarchy
from rooflab.labs.cache.simulator import simulate
from rooflab.labs.loops.code.packing import stored_shape
from rooflab.labs.loops.code.program import lanes, program
from rooflab.labs.loops.language import tree as trees
from rooflab.labs.loops.language.expression import Affine, Quotient
from rooflab.labs.loops.language.statement import accesses
from rooflab.labs.loops.language.tree import Leaf, Loop
from rooflab.labs.loops.legality.points import count
from rooflab.labs.loops.nest import Nest

MOST_STEPS, MOST_LOOPS, MOST_NUMBER = 64, 16, 1_000_000
MOST_TERMS = 1000  # of all expressions of a schedule; honest ones have a hundred
MOST_TURNS = 2_000_000  # of the innermost loop, those included in which nothing runs
PADDED = 2  # turns over iterations up to which the bytes are those of the affine stream
MOST_REGISTERS = 4  # of the machine, side by side, that one vector of a schedule may take
AS_GIVEN = "the nest came back as given; each step returns a new one, so keep what it returns"
CLOSE = 1e-9  # relative; the judge's own arrays are fp64

_NAME = re.compile(r"(?:[S-Z]\.)?[A-Za-z][A-Za-z0-9_]{0,99}", re.ASCII)
_ARGUMENTS = {  # step of a log → its arguments: a name, a whole number, or one of them or None
    "split": "nw", "interchange": "nn", "reverse": "n", "skew": "nnw", "shift": "nwN",
    "coalesce": "nnn", "fuse": "nnW", "distribute": "n", "unroll": "n", "vectorize": "n",
    "parallel": "n", "pack": "n",
}  # fmt: skip
Log = list[list[Any]]


@dataclass(frozen=True)
class Finding:
    """What the judge found of a log on a case.

    ``said``: the problem in words, "" if there is none. ``mark``: equal for answers that fail in
    the same way. ``moved``: the bytes below each cache, where it came so far.
    """

    said: str = ""
    mark: tuple[object, ...] = ()
    moved: Mapping[str, int] = field(default_factory=dict)


def judge(
    exercise: Exercise, cases: Sequence[Case], observations: Sequence[Observation]
) -> Verdict:
    """Return the verdict: every case's schedule must be legal, right, as asked and at par."""
    worst, said = -1.0, ""
    for case, seen in zip(cases, observations, strict=True):
        found = examined(exercise, case, seen)
        if found.said:
            return failed(
                exercise, f"{exercise.name} on {_nest_said(case)}: {found.said}",
                case={name: case[name] for name in ("text", "extents")},
                yours=_log_said(seen),
                mistake=_mistake(exercise, case, seen, found),
            )  # fmt: skip
        limits = _limits(exercise, case)
        share = max((found.moved[level] / limits[level] for level in limits), default=0.0)
        if share > worst:
            worst, said = share, _moved_said(case, found.moved, limits)
    return passed(exercise, f"legal and right{said}")


def scheduled(case: Case, seen: Observation) -> Nest:
    """Return the nest of a case after the log in an observation, for a mistake's ``shows``.

    Raises ValueError for a log that cannot be replayed within the limits.
    """
    return _replayed(nest_of(case), seen.get("value"))


def legal(case: Case, seen: Observation) -> bool:
    """Return whether the schedule in an observation is legal, for a mistake's ``shows``.

    Raises ValueError as :func:`scheduled`.
    """
    found = _checked(json.dumps(case), json.dumps(_log_in(seen.get("value"))))
    return found.mark[:1] != ("legal",)


def examined(exercise: Exercise, case: Case, seen: Observation) -> Finding:
    """Return what is wrong with an observation, and what its schedule moves."""
    if problem := _unfit(seen):
        return Finding(problem, ("unfit", problem))
    try:
        log = _log_in(seen.get("value"))
        found = _checked(json.dumps(case), json.dumps(log))
        found = found if found.said else _weighed(exercise, case, log)
        return found if log or not found.said else replace(found, said=f"{AS_GIVEN}; {found.said}")
    except (ValueError, OverflowError, MemoryError, RecursionError) as error:
        return Finding(f"its transformations cannot be done once more: {error}", ("log",))


def _unfit(seen: Observation) -> str:
    """Say why an observation holds no log, or nothing."""
    error = str(seen.get("error", ""))
    if stopped(error):
        return f"it {error.partition(': ')[2] or error}"
    if error:
        return f"it raised {error}"
    if "unreadable" in seen:
        return str(seen["unreadable"])
    if seen.get("missing"):
        return "it returned None; does it reach a return?"
    return "" if "value" in seen else "what came back cannot be read"


# The log, replayed within limits.


def _log_in(log: object) -> Log:
    """The log that came back. Raises ValueError for what is no log of transformations."""
    if not isinstance(log, list):
        raise ValueError("this is no list of transformations")
    if len(log) > MOST_STEPS:
        raise ValueError(f"there are {grouped(len(log))} of them; {MOST_STEPS} are the most")
    for number, step in enumerate(log, 1):
        whole = isinstance(step, list) and len(step) == 2 and isinstance(step[1], list)
        if not whole or not isinstance(step[0], str) or not _fits(step[0], step[1]):
            raise ValueError(f"number {number} is none that a nest writes into its log")
    return log


def _fits(name: str, arguments: list[object]) -> bool:
    kinds = _ARGUMENTS.get(name)
    if name == "reorder":
        kinds = "n" * min(len(arguments), MOST_LOOPS)
    if not kinds or len(kinds) != len(arguments):
        return False
    for kind, value in zip(kinds, arguments, strict=True):
        if kind.lower() == "n":
            good = isinstance(value, str) and _NAME.fullmatch(value) is not None
        else:
            good = type(value) is int and abs(value) <= MOST_NUMBER
        if not good and not (value is None and kind.isupper()):
            return False
    return True


def _replayed(nest: Nest, log: object) -> Nest:
    """The nest after a log. Raises ValueError that names the step which cannot be done."""
    made = nest
    for number, (name, arguments) in enumerate(_log_in(log), 1):
        try:
            made = made.replay([(name, tuple(arguments))])
        except (ValueError, TypeError) as error:
            call = f"{name}({', '.join(map(repr, arguments))})"
            raise ValueError(f"number {number}, {call}: {error}") from None
        if problem := _excess(made):
            raise ValueError(f"after number {number} {problem}")
    return made


def _excess(nest: Nest) -> str:
    """Say in what a schedule is too large to be judged, or nothing."""
    terms = 0
    for leaf, around, _ in trees.leaves(nest.tree):
        if len(around) > MOST_LOOPS:
            return f"{leaf.statement} stands in {len(around)} loops; {MOST_LOOPS} are the most"
        every = (*leaf.index.values(), *leaf.time.values(), *leaf.guards)
        terms += sum(map(_terms, every))
        if _turns(around) > MOST_TURNS:
            return f"its loops run {si(_turns(around))} turns; most of them would do nothing"
    return "" if terms <= MOST_TERMS else "the loops are cut and joined too often to be followed"


def _terms(value: Affine) -> int:
    return 1 + sum(
        1 + (_terms(atom.inner) if isinstance(atom, Quotient) else 0) for atom, _ in value.terms
    )


def _turns(around: Sequence[Loop]) -> int:
    return math.prod(loop.extent for loop in around)


# One schedule on one case.


@functools.lru_cache(maxsize=256)
def _checked(case_text: str, log_text: str) -> Finding:
    """What is wrong with a log, but for its bytes."""
    case, log = json.loads(case_text), json.loads(log_text)
    nest = _replayed(nest_of(case), log)
    verdict = nest.check()
    if not verdict:
        why = f"not legal: {verdict.why}"
        pair = (verdict.kind, verdict.first, verdict.second, verdict.cell, bool(verdict.loop))
        return Finding(why, ("legal", *pair))
    try:
        width = lanes(program(nest))
        _copied(nest, 1)
    except ValueError as error:
        return Finding(f"legal, but no code can be made of it: {error}", ("code",))
    if problem := _wrong(case, log):
        return Finding(problem, ("result",))
    if lack := _vector(nest, width, case["lanes"]) if "lanes" in case else None:
        return Finding(f"legal and right, but {lack[0]}", ("lanes", *lack[1]))
    return Finding()


def _wrong(case: Case, log: Log) -> str:
    """Say that the generated code gives another result than the nest as written, or nothing."""
    nest = _small(case, log)
    draw = np.random.default_rng(0)
    arrays: dict[str, Any] = {
        name: draw.uniform(1, 2, sizes) for name, sizes in nest.shapes.items()
    }
    right, mine = nest.reference(**arrays), nest.run("python", **arrays)
    if all(np.allclose(mine[name], right[name], CLOSE, 0) for name in right):
        return ""
    return "its code gives another result than the nest as written"


def _small(case: Case, log: Log) -> Nest:
    """The schedule on the least extents, from "small" on, on which it can be done and is legal.

    A tile, say, may be longer than a small loop. Then loops are twice or four times as long, or as
    long as in the case.
    """
    entry: Mapping[str, Any] = case
    full = entry["extents"]
    small = entry.get("small", full)
    for many in (1, 2, 4):
        extents = {name: _longer(small[name], many, full[name]) for name in full}
        with suppress(ValueError):
            nest = _replayed(nest_of(case, extents), log)
            if nest.check():
                return nest
    return _replayed(nest_of(case), log)


def _longer(small: Any, many: int, full: Any) -> Any:
    """An extent that is so many times as long, but no longer than the full one."""
    turns = min(many * _turns_of(small), _turns_of(full))
    return [small[0], small[0] + turns] if isinstance(small, list) else turns


def _turns_of(extent: Any) -> int:
    return int(extent[1] - extent[0] if isinstance(extent, list) else extent)


# The lanes that a case may ask for.

Lack = tuple[str, tuple[object, ...]] | None  # in words, and what makes two of them the same


def _vector(nest: Nest, width: int, wanted: int) -> Lack:
    """Vectors of ``wanted`` lanes, or of a few times as many, which compilers cut."""
    found = [loop for loop, _ in trees.loops(nest.tree) if loop.kind == "vectorize"]
    if not found:
        return "no loop is vectorised", ("none",)
    if width > 1:
        if width % wanted == 0 and width <= MOST_REGISTERS * wanted:
            return None
        return f"its vectors have {width} lanes, and the machine's have {wanted}", ("lanes", width)
    for loop in found:
        inner = [one for one, _ in trees.loops(loop.children) if one.kind != "unroll"]
        if inner:
            dims = sorted({d for leaf, _, _ in trees.leaves((loop,)) for one in inner
                           for d in _dims(leaf, one)})  # fmt: skip
            said = f"inside the vector loop {loop.name} runs another loop, {inner[0].name}: only "
            return f"{said}an innermost loop becomes vector instructions", ("inside", *dims)
        if stride := _stride(nest, loop):
            return stride
    return "no vector instruction comes out of its vector loop", ("nothing",)


def _dims(leaf: Leaf, loop: Loop) -> list[str]:
    """The original loops that a loop is a part of."""
    return [dim for dim, value in leaf.index.items() if loop.name in value.names()]


def _stride(nest: Nest, loop: Loop) -> Lack:
    """An access whose elements are neither neighbours in the lanes of ``loop`` nor all one."""
    for leaf, _, _ in trees.leaves((loop,)):
        one = next(s for s in nest.statements if s.name == leaf.statement)
        for access in dict.fromkeys((*accesses(one.value), one.target)):
            *outer, last = access.replace(leaf.index).subscripts
            far = any(loop.name in e.names() for e in outer)
            step = last.factor(loop.name) if loop.name in last.names() else 0
            if not far and step in ((1,) if access == one.target else (0, 1)):
                continue
            said = f"{access.text()} does not go to neighbours in the lanes of loop {loop.name}"
            return f"{said}; vectors are loaded and stored as neighbours", ("stride", access.text())
    return None


# Bytes.


def _weighed(exercise: Exercise, case: Case, log: Log) -> Finding:
    """What a right schedule moves, and whether that is too much."""
    moved, limits = moved_bytes(case, log), _limits(exercise, case)
    for level, limit in limits.items():
        if moved[level] > limit:
            said = f"legal and right, but it moves {si(moved[level], 'B')} below {level}"
            before = si(moved_bytes(case, [])[level], "B")
            asked = f"the nest as written moves {before}, and at most {si(limit, 'B')} are asked"
            return Finding(f"{said}; {asked}", ("bytes", *moved.items()), moved)
    return Finding(moved=moved)


def moved_bytes(case: Case, log: Log) -> dict[str, int]:
    """Return the bytes below each cache of a case, after the transformations of a log.

    Packing an array reads it and writes the copy, once. Raises ValueError as :func:`scheduled`.
    """
    return _moved(json.dumps(case), json.dumps(log))


@functools.lru_cache(maxsize=256)
def _moved(case_text: str, log_text: str) -> dict[str, int]:
    case = json.loads(case_text)
    nest = _replayed(nest_of(case), json.loads(log_text))
    caches, width = Hierarchy(*(Cache(**one) for one in case["caches"])), case.get("itemsize", 4)
    ledger = None
    turns = sum(_turns(around) for _, around, _ in trees.leaves(nest.tree))
    if turns <= PADDED * count(nest):
        with suppress(ValueError):  # of what has no stream
            ledger = simulate(nest.stream(width), caches)
    if ledger is None:
        addresses, writes = nest.trace(width)
        ledger = simulate(addresses, caches, writes=writes, width=width)
    return {level: ledger.bytes(level) + _copied(nest, width) for level in caches.names}


def _copied(nest: Nest, itemsize: int) -> int:
    """Bytes of packed arrays and of their copies. Raises ValueError for one far too large."""
    sizes = ((nest.shapes[name], stored_shape(nest, name)) for name in nest.packed)
    return sum(itemsize * (math.prod(one) + math.prod(other)) for one, other in sizes)


def _limits(exercise: Exercise, case: Case) -> dict[str, float]:
    """Cache → the most bytes below it: par times those of the case, or of the reference."""
    entry: Mapping[str, Any] = case
    goals = entry.get("bytes")
    if goals is None:
        goals = moved_bytes(case, _log(case, exercise.reference))
    return {level: exercise.par * goal for level, goal in goals.items()}


def _log(case: Case, answer: Callable[..., object]) -> Log:
    """Return the log that an answer of ours leaves on a case."""
    seen: Mapping[str, Any] = run(case, answer)
    if "value" not in seen:
        raise ValueError(f"this answer of ours gives no nest: {_unfit(seen)}")
    return list(seen["value"])


def _moved_said(case: Case, moved: Mapping[str, int], limits: Mapping[str, float]) -> str:
    before = moved_bytes(case, [])
    return "".join(
        f"; below {level} it moves {si(moved[level], 'B')} (as written {si(before[level], 'B')}, "
        f"asked at most {si(limit, 'B')})"
        for level, limit in limits.items()
    )


def _log_said(seen: Observation) -> str | None:
    """The transformations as they are written, .split('i', 8).unroll('ii'), or None."""
    try:
        log = _log_in(seen.get("value"))
    except ValueError:
        return None
    return "".join(f".{name}({', '.join(map(repr, args))})" for name, args in log) or "as written"


def _nest_said(case: Case) -> str:
    """The nest of a case in words: C[i,j] += A[i,k]*B[k,j], i = 40, j = 48."""
    entry: Mapping[str, Any] = case
    loops = (
        f"{name} = {value[0]} to {value[1] - 1}" if isinstance(value, list) else f"{name} = {value}"
        for name, value in entry["extents"].items()
    )
    return f"{entry['text']} with {', '.join(loops)}"


# The mistake behind a schedule.


def _mistake(
    exercise: Exercise, case: Case, seen: Observation, found: Finding
) -> Misconception | None:
    """The usual mistake that raises what was raised, that shows, or that fails in the same way."""
    told = str(seen.get("error", ""))
    for raised, name, hint in exercise.errors:
        if told and told.startswith(raised):
            return Misconception(name, exercise.reference, hint)
    for one in exercise.misconceptions:
        if one.shows is not None:
            with suppress(ValueError):  # a log that cannot be replayed shows nothing
                if "value" in seen and one.shows(case, seen):
                    return one
        elif any(_alike(exercise, case, found, each) for each in (one.wrong, *one.variants)):
            return one
    return None


def _alike(exercise: Exercise, case: Case, found: Finding, wrong: Callable[..., object]) -> bool:
    """Whether a wrong answer of ours fails as this one does."""
    return examined(exercise, case, run(case, wrong)).mark == found.mark

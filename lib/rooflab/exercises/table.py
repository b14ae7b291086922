"""Exercises as tables: the right answer as named parts, and each slip as what it changes.

A part is a plain function, whose parameters are inputs of the call or parts that stand before it,
or a constant. A slip gives another one for a part, or another value for an input.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from inspect import Signature
from types import FunctionType
from typing import Any

from rooflab.exercises.exercise import Case, Exercise, Misconception, call_of

Formula = Callable[..., Any]
ANSWER, WHOLE = "answer", "whole"  # the only part of an answer that has one; all parts at once
COMMON = {  # hints of slips that any lesson may meet
    "multiply-adds": "you counted multiply-adds; each is 2 FLOPs.",
    "elements for bytes": "you counted elements; each has itemsize bytes.",
    "bits for bytes": "you counted bits; itemsize is already in bytes.",
    "4 bytes always": "not every number has 4 bytes; itemsize says how many.",
    "2 bytes always": "not every number has 2 bytes; itemsize says how many.",
    "min for max": "the shorter of the two has to wait for the longer.",
    "upside down": "that is bytes per FLOP; intensity is FLOPs per byte.",
    "// for /": "// drops what stands after the point; divide with /.",
}


@dataclass(frozen=True)
class Slip:
    """A usual mistake: what it changes, one way after the other, and the hint that names it."""

    name: str
    hint: str
    ways: tuple[Mapping[str, Any], ...]


def slip(
    name: str, hint: str = "", *, ways: Sequence[Mapping[str, Any]] = (), **changes: Any
) -> Slip:
    """Return a slip that changes a part or an input, each by its name; "_" stands for a blank.

    A change is a function, or the value that it takes in every case; a list of changes is the same
    slip made in several ways; ``ways`` are more of them, each of which may change several things.
    ``whole`` changes all parts at once. Without a hint it has the one of its name in ``COMMON``.
    """
    several = [
        {part: one}
        for part, change in changes.items()
        for one in (change if isinstance(change, list) else [change])
    ]
    if not hint and name not in COMMON:
        raise ValueError(f"slip {name!r} needs a hint: COMMON has none of that name")
    return Slip(name, hint or COMMON[name], (*several, *ways))


def table(
    id: str, title: str, points: int, question: str, call: str,
    answer: Formula | Mapping[str, Any], slips: Sequence[Slip], **more: Any,
) -> Exercise:  # fmt: skip
    """Return the exercise whose right answer is ``answer`` and whose misconceptions are ``slips``.

    ``answer``: its parts by name, or one function. What begins with "_" is a step on the way: a
    slip in it runs through to the parts that use it. A slip in any other part changes that part
    alone, so that two slips at once have a name each. ``call`` is what the learner writes, such as
    "product(m, n, k, itemsize, accumulate=False)"; ``more`` goes to :class:`Exercise`.
    """
    parts = answer if isinstance(answer, Mapping) else {ANSWER: answer}
    takes = Signature() if more.get("kind") == "value" else call_of(call)
    of = _Answers(takes, {name.replace(" ", "_"): f for name, f in parts.items()})
    returns = tuple(name for name in parts if not name.startswith("_"))
    for name, instead in (("answer", {}), *((one.name, way) for one in slips for way in one.ways)):
        of.check(f"{id}, {name}", instead)
    return Exercise(
        id, title, points, question, call, of.function({}),
        tuple(map(of.misconception, slips)),
        returns=returns if len(returns) > 1 else (), **more,
    )  # fmt: skip


@dataclass(frozen=True)
class _Answers:
    """Makes answers, right and wrong, of one call."""

    call: Signature
    parts: Mapping[str, Any]

    def misconception(self, one: Slip) -> Misconception:
        first, *others = map(self.function, one.ways)
        return Misconception(one.name, first, one.hint, variants=tuple(others))

    def check(self, where: str, instead: Mapping[str, Any]) -> None:
        """Raise ValueError, saying ``where``, for a name that is no input or part."""
        known = [*self.call.parameters, *self.parts, WHOLE]
        for name, formula in (*self.parts.items(), *instead.items()):
            for unknown in (one for one in (name, *_needs(formula)) if one not in known):
                raise ValueError(f"{where}: {unknown!r} is none of {', '.join(known)}")

    def function(self, instead: Mapping[str, Any]) -> Formula:
        """The answer with other parts or other inputs ``instead``."""

        def answer(*values: object, **named: object) -> object:
            call = self.call.bind(*values, **named)
            call.apply_defaults()
            right = dict(call.arguments)
            if WHOLE in instead:
                return value_of(instead[WHOLE], right)
            inputs = {name: instead[name] for name in right if name in instead}
            slipped = right | {name: value_of(formula, right) for name, formula in inputs.items()}
            found = []
            for name, formula in self.parts.items():
                right[name] = value_of(formula, right)
                value = value_of(instead.get(name, formula), slipped) if instead else right[name]
                slipped[name] = value if name.startswith("_") else right[name]
                found += [] if name.startswith("_") else [value]
            return tuple(found) if len(found) > 1 else found[0]

        return answer


def drawn(count: int, /, **inputs: Any) -> Callable[[random.Random], list[Case]]:
    """Return a generator of ``count`` cases of these ``inputs``; "_" begins a step on the way.

    A range gives one of its numbers, a tuple of two a number between them, a list its entries one
    case after the other, and a formula what it makes of ``rng`` and of other inputs.
    """

    def case(rng: random.Random, number: int) -> Case:
        values: dict[str, Any] = {"rng": rng}

        def value(name: str) -> Any:
            if name not in values:
                values[name] = _drawn(inputs[name], rng, number, value)
            return values[name]

        return {name: value(name) for name in inputs if not name.startswith("_")}

    return lambda rng: [case(rng, number) for number in range(count)]


def _drawn(one: Any, rng: random.Random, number: int, value: Callable[[str], Any]) -> Any:
    if isinstance(one, range):
        return rng.choice(one)
    if isinstance(one, tuple):
        return rng.uniform(*one)
    if isinstance(one, list):
        return one[number % len(one)]
    return one(*map(value, _needs(one))) if callable(one) else one


def _needs(formula: Any) -> tuple[str, ...]:
    """Names of the parameters that a formula takes by their places."""
    if isinstance(formula, FunctionType):
        return formula.__code__.co_varnames[: formula.__code__.co_argcount]
    return ()


def value_of(formula: Any, values: Mapping[str, object]) -> Any:
    """Return a constant, or what a formula gives whose parameters are names of ``values``."""
    return formula(*(values[name] for name in _needs(formula))) if callable(formula) else formula

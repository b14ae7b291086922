"""The dresses in which a right answer comes: as what it is called, and as what it returns."""

from __future__ import annotations

import functools
import math
from collections import namedtuple
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction

import numpy as np

from rooflab.exercises.exercise import Exercise
from rooflab.exercises.observe.plaindata import to_plain

Answer = Callable[..., object]


def each(change: Callable[[object], object]) -> Callable[[object], object]:
    """``change`` for a value and for every item of a list, however deep."""

    def dressed(value: object) -> object:
        return [dressed(item) for item in value] if isinstance(value, list) else change(value)

    return dressed


def number(kind: Callable[[object], object]) -> Callable[[object], object]:
    """``kind`` for every number that is no truth value."""
    return each(lambda v: v if isinstance(v, (bool, str)) else kind(v))


def _numpy(value: object) -> object:
    if isinstance(value, bool):
        return np.bool_(value)
    return np.int64(value) if isinstance(value, int) and value < 2**63 else np.float64(value)


def _array(value: object) -> object:
    """An array where NumPy makes one without changing what is in it."""
    if not isinstance(value, list):
        return np.array(value)
    plain = all(isinstance(item, (int, float)) and type(item) is not bool for item in value)
    return np.array(value, float) if plain else [_array(item) for item in value]


def _objects(value: object) -> object:
    array = np.empty(len(value), dtype=object)
    array[:] = value
    return array


def _float(value: object) -> object:
    return float(value) if isinstance(value, int) and value == float(value) else value


RESULTS: dict[str, Callable[[object], object]] = {
    "NumPy scalars": each(lambda v: v if isinstance(v, str) else _numpy(v)),
    "arrays without dimensions": each(lambda v: v if isinstance(v, str) else np.array(v)),
    "arrays": _array,
    "single precision": number(np.float32),
    "fractions": number(lambda v: Fraction(v) if math.isfinite(v) else v),
    "decimals": number(Decimal),
    "whole numbers as floats": number(_float),
    "truth values as 1 and 0": each(lambda v: int(v) if isinstance(v, bool) else v),
    "words in capitals": each(lambda v: f" {v.upper()} " if isinstance(v, str) else v),
    "joined words": each(lambda v: v.replace(" ", "_") if isinstance(v, str) else v),
}
PARTS: dict[str, Callable[[list, tuple[str, ...]], object]] = {  # of an answer of several parts
    "a tuple": lambda value, names: tuple(value),
    "a named tuple": lambda value, names: namedtuple("Parts", map("p{}".format, range(len(value))))(
        *value
    ),
    "an array of objects": lambda value, names: _objects(value),
    "by their names": lambda value, names: dict(zip(names, value, strict=True)),
    "by their names, backwards": lambda value, names: dict([*zip(names, value, strict=True)][::-1]),
    "by names in capitals": lambda value, names: {
        name.upper(): part for name, part in zip(names, value, strict=True)
    },
    "in two groups": lambda value, names: [value[:1], value[1:]] if len(value) > 2 else value,
}  # fmt: skip


def _object(answer: Answer) -> Answer:
    class Callable:
        def __call__(self, *given):
            return answer(*given)

        def method(self, *given):
            return answer(*given)

    return Callable()


def _class(answer: Answer) -> Answer:
    class Made:
        def __new__(cls, *given):
            return answer(*given)

    return Made


def _decorated(answer: Answer) -> Answer:
    @functools.wraps(answer)
    def outer(*given, **named):
        return answer(*given, **named)

    return outer


def _written(answer: Answer, head: str, call: str) -> Answer:
    scope = {"function": answer}
    exec(f"def answer({head}): return function({call})", scope)
    return scope["answer"]


#: What is done to a function, from the names of its arguments.
FUNCTIONS: dict[str, Callable[[Answer, list[str]], Answer]] = {
    "a lambda": lambda answer, names: lambda *given: answer(*given),
    "a partial function": lambda answer, names: functools.partial(
        lambda zero, *given: answer(*given), 0
    ),
    "an object": lambda answer, names: _object(answer),
    "a method": lambda answer, names: _object(answer).method,
    "a class": lambda answer, names: _class(answer),
    "a decorated function": lambda answer, names: _decorated(answer),
    "other names": lambda answer, names: _written(
        answer, ", ".join(f"_{n}" for n in names), ", ".join(f"_{n}" for n in names)
    ),
    "with defaults": lambda answer, names: _written(
        answer, ", ".join(f"{n}=None" for n in names), ", ".join(names)
    ),
    "named arguments alone": lambda answer, names: _written(
        answer, ", ".join([names[0], *(["*"] if names[1:] else []), *names[1:]]), ", ".join(names)
    ),
}  # fmt: skip


def dressed(found: Exercise, dress: str) -> Answer | None:
    """The reference of ``found`` in that dress; None where it cannot wear it."""
    right = found.reference
    if dress in FUNCTIONS:
        names = [*found.draw(0)[0]]
        return FUNCTIONS[dress](right, names) if names else None
    if dress in RESULTS:
        return lambda *given: RESULTS[dress](to_plain(right(*given)))
    if len(found.returns) < 2:
        alone = {"by their names": lambda *given: {"it": right(*given)}}
        return alone.get(dress)
    return lambda *given: PARTS[dress](to_plain(right(*given)), found.returns)


def put(source: str, **parts: object) -> str:
    """``source`` with each name in it replaced by its part."""
    for name, part in parts.items():
        source = source.replace(name, str(part))
    return source

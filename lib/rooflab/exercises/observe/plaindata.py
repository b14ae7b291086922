"""Turn whatever a learner hands in into plain data, without running any of its own code.

Verdicts are computed on numbers, strings, lists and dictionaries only: an object whose ``__eq__``
says yes to everything, or whose ``__float__`` lies, must not be able to judge itself. Subclasses
are therefore read through the built-in type's own methods, and anything else is refused.
"""

from __future__ import annotations

import decimal
import fractions
import inspect
import sys
import types
from typing import Any

MOST_BITS = 4096
MOST_DIGITS = 1234  # of an integer with so many bits
MOST_ITEMS = 10_000
MOST_CHARACTERS = 10_000
MOST_LEVELS = 6
_LATER = (types.GeneratorType, map, filter, zip, range)
_ASYNC = (types.CoroutineType, types.AsyncGeneratorType)

Plain = object  # None, bool, int, float, str, list[Plain] or dict[str, Plain]


class Unreadable(Exception):
    """The answer is not plain data; the message says what it is and what would do."""


def to_plain(answer: object) -> Plain:
    """Return ``answer`` as None, bool, int, float, str, list or dict of these.

    NumPy scalars and arrays (also a single-element or 0-d one, or one of objects), Fraction,
    Decimal and tuples are converted. Raises Unreadable for everything else, and for integers beyond
    4096 bits, more than 10 000 items, or deeper nesting than 6 levels.
    """
    return _convert(answer, MOST_LEVELS, [MOST_ITEMS])


def _convert(item: object, levels: int, room: list[int]) -> Plain:
    room[0] -= 1
    if room[0] < 0:
        raise Unreadable(f"more than {MOST_ITEMS} items; the answer is shorter")
    kind = type(item)
    if item is None or kind is bool:
        return item
    if issubclass(kind, (int, float, str)):
        return _scalar(item)
    if issubclass(kind, (fractions.Fraction, decimal.Decimal)):
        return _rational(item)
    if kind.__module__.partition(".")[0] == "numpy" or _is_numpy(item):
        return _numpy(item, levels, room)
    return _container(item, levels, room)


def _scalar(item: object) -> Plain:
    if isinstance(item, int):
        number = int.__add__(item, 0)  # int's own addition: a subclass cannot interfere
        if number.bit_length() > MOST_BITS:
            raise Unreadable(f"an integer of {number.bit_length()} bits; no answer is that large")
        return number
    if isinstance(item, float):
        return float.__float__(item)
    text = str.__str__(item)
    if len(text) > MOST_CHARACTERS:
        raise Unreadable(f"a text of {len(text)} characters; the answer is shorter")
    return text


def _rational(item: object) -> Plain:
    if type(item) not in (fractions.Fraction, decimal.Decimal):
        raise Unreadable(f"a {type(item).__name__}; a plain number is wanted")
    if isinstance(item, decimal.Decimal) and item.is_finite() and item.adjusted() > MOST_DIGITS:
        raise Unreadable("a number too large for a float")  # as an int it would fill the memory
    try:
        return _scalar(int(item)) if item == int(item) else float(item)
    except (OverflowError, ValueError, ArithmeticError):
        try:
            return float(item)  # Decimal infinities and NaN
        except (OverflowError, ValueError):
            raise Unreadable("a number too large for a float") from None


def _is_numpy(item: object) -> bool:
    numpy = sys.modules.get("numpy")  # nobody can hold a NumPy object before importing NumPy
    return numpy is not None and isinstance(item, (numpy.generic, numpy.ndarray))


def _numpy(item: object, levels: int, room: list[int]) -> Plain:
    numpy = sys.modules["numpy"]
    if isinstance(item, numpy.ndarray):
        # A subclass may lie about dtype and size.
        return _array(numpy.ndarray.view(item, numpy.ndarray), levels, room)
    known = type(item) in set(numpy.sctypeDict.values())
    if known and item.dtype.kind in "biuf":
        value = item.item()
        return value if isinstance(value, (bool, int, float)) else float(value)
    raise Unreadable(f"a {type(item).__name__}; a plain number is wanted")


def _array(item: Any, levels: int, room: list[int]) -> Plain:
    kind = item.dtype.kind
    if kind not in "biufUVO" or item.dtype.names:
        raise Unreadable(f"an array of {item.dtype}; an array of numbers is wanted")
    if kind == "U" and item.dtype.itemsize > 4 * MOST_CHARACTERS:
        raise Unreadable("an array of long texts; the answer is shorter")
    if item.size > MOST_ITEMS:
        raise Unreadable(f"an array of {item.size} elements; the answer is shorter")
    if item.size != 1 and item.ndim > levels:
        raise Unreadable(f"nested deeper than {MOST_LEVELS} levels")
    if kind == "O":  # an object is read as it would be outside the array
        return _nested(_convert([item.tolist()], levels, room))
    room[0] -= item.size
    if room[0] < 0:
        raise Unreadable(f"more than {MOST_ITEMS} items; the answer is shorter")
    wide = item.astype(float) if kind == "V" else item  # V: bfloat16 and kin
    return _nested(wide.tolist())


def _nested(value: object) -> Plain:
    """Lists from ``tolist``: a single element, however wrapped, is that element."""
    while isinstance(value, list) and len(value) == 1:
        value = value[0]
    return value


def _container(item: object, levels: int, room: list[int]) -> Plain:
    kind = type(item)
    if levels == 0:
        raise Unreadable(f"nested deeper than {MOST_LEVELS} levels")
    if issubclass(kind, (list, tuple)):
        base = list if issubclass(kind, list) else tuple
        return [_convert(part, levels - 1, room) for part in base.__iter__(item)]
    if issubclass(kind, dict):
        pairs = [
            (_convert(key, levels - 1, room), _convert(value, levels - 1, room))
            for key, value in list(dict.items(item))
        ]
        if not all(isinstance(key, str) for key, _ in pairs):
            raise Unreadable("a dictionary whose keys are not all text")
        return dict(pairs)
    if kind.__module__.partition(".")[0] == "cupy":
        raise Unreadable("an array on the GPU; bring it back with float(x) or x.get()")
    if issubclass(kind, _ASYNC):
        if inspect.iscoroutine(item) and inspect.getcoroutinestate(item) == inspect.CORO_CREATED:
            item.close()  # or Python warns that nobody has waited for it
        raise Unreadable(
            f"a {kind.__name__}, which runs nothing by itself; write def, not async def"
        )
    if issubclass(kind, _LATER):
        raise Unreadable(f"a {kind.__name__}, which has not run yet; list(…) runs it")
    if callable(item):
        raise Unreadable(_uncalled(item))
    raise Unreadable(f"a {kind.__name__}; a plain number, text, list or dictionary is wanted")


def _uncalled(item: object) -> str:
    """Say that a function was handed in where its result is wanted."""
    kind = type(item)
    if kind not in (types.FunctionType, types.BuiltinFunctionType, type):
        return "something that can be called, and was not; call it"
    name = str.__str__(kind.__dict__["__name__"].__get__(item))
    if name == "<lambda>":
        return "the function itself; call it"
    return f"the function {name} itself; call it: {name}(…)"

"""Check arguments: sizes, yes or no, names, and saved data. Errors say what would be right."""

from __future__ import annotations

import difflib
import math
import operator
import sys
from collections.abc import Iterable, Mapping
from numbers import Real
from reprlib import repr as short
from typing import Any, Generic, TypeVar

Given = TypeVar("Given", contravariant=True)
Kept = TypeVar("Kept", covariant=True)


class As(Generic[Given, Kept]):
    """The annotation of a field that takes a ``Given`` and keeps it as a ``Kept``."""

    def __set__(self, instance: object, value: Given) -> None: ...
    def __get__(self, instance: object, owner: Any) -> Kept: ...  # type: ignore[empty-body]


# One check for every size, and for every yes or no, that enters the package.

_BOOLS = ("bool", "bool_")  # Python's and NumPy's; an older NumPy's is an integer too


def size(name: str, value: object, least: int = 1) -> int:
    """Return ``value`` as an ``int`` of ``least`` or more; NumPy integers are fine, bool is not.

    Raises TypeError or ValueError that names the argument, its value and what would be right.
    """
    right = "a positive integer" if least == 1 else "an integer"
    if type(value).__name__ in _BOOLS:
        raise TypeError(f"{name}={value!r} is a bool; it must be {right}")
    try:
        number = operator.index(value)  # type: ignore[arg-type]  # what has no index raises
    except TypeError:
        kind = type(value).__name__
        raise TypeError(f"{name}={short(value)} is a {kind}; it must be {right}") from None
    if number < least:
        raise ValueError(f"{name}={number} must be {right}, {least} or more")
    return number


def amount(
    name: str, value: object, right: str, *, zero: bool = False, most: float = sys.float_info.max
) -> float:
    """Return ``value`` as a float above 0, or from 0 on if ``zero`` is one too, up to ``most``.

    Raises TypeError for what is no number, else ValueError; both say what would be ``right``.
    """
    if type(value).__name__ in _BOOLS or not isinstance(value, Real):
        raise TypeError(f"{name}={short(value)} must be {right}")
    try:
        number = float(value)
    except OverflowError:  # an integer that no float can hold
        number = math.inf
    if not 0 <= number <= most or (number == 0 and not zero):
        raise ValueError(f"{name}={short(value)} must be {right}")
    return number


def shape(name: str, value: object) -> tuple[int, ...]:
    """Return ``value`` (an integer, or a sequence of them) as a tuple of positive integers."""
    if isinstance(value, (tuple, list)):
        if not value:
            raise ValueError(f"{name}={value!r} is empty; give at least one size")
        return tuple(size(f"{name}[{axis}]", item) for axis, item in enumerate(value))
    return (size(name, value),)


def flag(name: str, value: object) -> bool:
    """Return ``value`` as a bool; TypeError for anything but True and False (NumPy's too)."""
    if type(value).__name__ not in _BOOLS:
        raise TypeError(f"{name}={value!r} must be True or False")
    return bool(value)


def saved(data: object, what: str, schema: int, names: Iterable[str]) -> Mapping[str, Any]:
    """Return ``data`` if it can be a saved ``what``: of this schema, with an entry of each name.

    Raises TypeError for what is no mapping, and ValueError for another schema or a missing entry.
    """
    if not isinstance(data, Mapping):
        raise TypeError(f"data={short(data)} must be a dict, as to_dict() makes it")
    version = data.get("schema")
    if version != schema:
        age = "newer" if isinstance(version, int) and version > schema else "unknown"
        raise ValueError(
            f"data: schema={version!r} is {age}; this rooflab reads a {what} of schema {schema}, "
            f"so update rooflab or make the {what} again"
        )
    missing = [name for name in names if name not in data]
    if missing:
        raise ValueError(f"data: a {what} needs {', '.join(missing)}, which are missing")
    return data


# Turn an unknown name into an error that says which names would have been right.


LONGEST = 80  # characters of a wrong value that an error repeats


def unknown(argument: str, value: object, known: Iterable[str]) -> ValueError:
    """Return a ValueError naming ``argument``, its ``value``, the closest and the known names."""
    names = list(known)
    close = difflib.get_close_matches(str(value)[:LONGEST].lower(), names, n=3, cutoff=0.5)
    hint = f"did you mean {' or '.join(map(repr, close))}? " if close else ""
    listed = ", ".join(names[:16]) + (f", … ({len(names)} in all)" if len(names) > 16 else "")
    return ValueError(f"{argument}={_brief(value)} is unknown; {hint}Known: {listed}")


def _brief(value: object) -> str:
    text = repr(value)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"

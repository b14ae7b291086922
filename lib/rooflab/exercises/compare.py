"""Compare plain data with the right answer, part by part."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from fractions import Fraction

from rooflab.exercises.plaindata import Plain

PREFIXES = tuple(
    Fraction(base) ** power for base in (1000, 1024) for power in (*range(-4, 0), *range(1, 5))
)
BINARY = tuple(Fraction(1024, 1000) ** power for power in (*range(-4, 0), *range(1, 5)))
FINE = 0.005  # relative: of a tolerance within which GB are no GiB
LARGE = 10  # from here on a whole number within 1 is likely to be the right one, rounded


def parts(expected: Plain, got: Plain) -> list[tuple[Plain, Plain]] | None:
    """Pair the parts of the right answer with those of ``got``; None when the shapes differ.

    A number or text has one part; a sequence or dictionary one per item. A list of one number
    counts as that number, and groups of numbers, ((1, 2), (3, 4)), as the numbers in a row.
    """
    if isinstance(expected, dict):
        if not isinstance(got, dict) or set(got) != set(expected):
            return None
        return [(expected[key], got[key]) for key in expected]
    if isinstance(expected, (list, tuple)):
        if not isinstance(got, (list, tuple)):
            return None
        if len(got) != len(expected):
            got = _in_a_row(got)
        return list(zip(expected, got, strict=True)) if len(got) == len(expected) else None
    if isinstance(got, list) and len(got) == 1:
        got = got[0]
    return None if isinstance(got, (list, dict)) else [(expected, got)]


def _in_a_row(groups: Sequence[Plain]) -> list[Plain]:
    """The items of ``groups`` one after the other; what is no group counts as one of itself."""
    return [
        item
        for group in groups
        for item in (group if isinstance(group, (list, tuple)) else [group])
    ]


def truth(value: Plain) -> bool | None:
    """The truth value that ``value`` is: True and False, and 1 and 0 for them; else None."""
    return bool(value) if isinstance(value, int) and value in (0, 1) else None


def same(expected: Plain, got: Plain, tolerance: float) -> bool:
    """Whether two plain values agree; numbers within the relative ``tolerance``."""
    if isinstance(expected, bool):
        return truth(got) is expected
    if isinstance(got, bool):
        return False
    if isinstance(expected, (int, float)):
        return isinstance(got, (int, float)) and close(expected, got, tolerance)
    if isinstance(expected, str):
        return isinstance(got, str) and _words(got) == _words(expected)
    paired = parts(expected, got)
    if paired is None or isinstance(expected, (int, float, str)) or expected is None:
        return expected is None and got is None
    return all(same(right, mine, tolerance) for right, mine in paired)


def _words(text: str) -> list[str]:
    """The words of a text; "in_order" and "In-order" are the words "in order"."""
    return text.casefold().replace("_", " ").replace("-", " ").split()


def close(expected: float, got: float, tolerance: float) -> bool:
    """|got − expected| ≤ tolerance·|expected|, exact for integers of any size; never for NaN."""
    if not _finite(expected) or not _finite(got):
        return _infinite(expected) and _infinite(got) and expected == got
    right, mine = Fraction(expected), Fraction(got)  # floats overflow on large integers
    return abs(mine - right) <= Fraction(tolerance) * abs(right)


Pairs = Collection[tuple[Plain, Plain, float]]  # right, given, and the tolerance of a case


def other_unit(pairs: Pairs) -> bool:
    """Whether every number given is the right one in the same other unit.

    The factor is a power of 1000 or of 1024, or GB for GiB: a power of 1024/1000. That one is
    asked only where the tolerance is far smaller than 2.4 %, or a rough answer would look like it.
    """
    ratios = _ratios(pairs)
    exact = all(allowed <= FINE for _, allowed in ratios)
    return bool(ratios) and any(
        all(abs(ratio / factor - 1) <= Fraction(allowed) for ratio, allowed in ratios)
        for factor in (*PREFIXES, *(BINARY if exact else ()))
    )


def _ratios(pairs: Pairs) -> list[tuple[Fraction, float]]:
    """What was given over what is right, where neither is 0; none where one has no ratio."""
    found = []
    for right, mine, allowed in pairs:
        if not (_number(right) and _number(mine)) or bool(right) != bool(mine):
            return []
        if right:
            found.append((Fraction(mine) / Fraction(right), allowed))
    return found


def only_rounded(pairs: Pairs) -> bool:
    """Whether every number given is the right one rounded, up or down, to a whole number.

    Numbers below 10 do not count: a wrong small number is soon within 1 of the right one.
    """
    off = [(right, mine) for right, mine, allowed in pairs if not same(right, mine, allowed)]
    return bool(off) and all(
        isinstance(right, float)
        and _number(right)
        and _number(mine)
        and abs(right) >= LARGE
        and mine == int(mine)
        and abs(Fraction(mine) - Fraction(right)) < 1
        for right, mine in off
    )


def _number(value: Plain) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and _finite(value)


def flaw(got: Plain) -> str | None:
    """Say what makes ``got`` no number at all (NaN, infinity, True), or None."""
    if isinstance(got, bool):
        return f"{got} where a number belongs"
    if isinstance(got, float) and math.isnan(got):
        return "not a number (NaN)"
    if _infinite(got):
        return "infinite"
    return None


def show(value: Plain, digits: int = 6, exact: int = 18) -> str:
    """Write plain data briefly and the same on every machine.

    Floats get ``digits`` digits; whole numbers of more than ``exact`` digits are rounded to three.
    """
    if isinstance(value, bool) or value is None:
        return str(value)
    if isinstance(value, int):
        if abs(value) >= 10**18:
            return f"about {_power(value)}"
        return str(value) if abs(value) < 10**exact else _rounded(value)
    if isinstance(value, float):
        return f"{value:.{digits}g}"
    if isinstance(value, str):
        return repr(value if len(value) <= 60 else value[:57] + "…")
    if isinstance(value, dict):
        return "{" + _some([f"{k}: {show(v, digits, exact)}" for k, v in value.items()]) + "}"
    if isinstance(value, Sequence):
        return "(" + _some([show(v, digits, exact) for v in value]) + ")"
    return type(value).__name__


def _some(texts: list[str]) -> str:
    return ", ".join(texts if len(texts) <= 7 else [*texts[:3], "…", *texts[-2:]])


def _power(value: int) -> str:
    exponent = len(str(abs(value))) - 1
    return f"{'-' if value < 0 else ''}10^{exponent}"


def _rounded(value: int) -> str:
    digits, _, exponent = f"{value:.2e}".partition("e")
    return f"{float(digits):g}e{int(exponent)}"


def _finite(value: float) -> bool:
    return isinstance(value, int) or math.isfinite(value)


def _infinite(value: Plain) -> bool:
    return isinstance(value, float) and math.isinf(value)

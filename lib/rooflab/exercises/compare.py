"""Compare plain data with the right answer, part by part."""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Collection, Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import chain, permutations

from rooflab.exercises.observe.plaindata import Plain

POWERS = (*range(-4, 0), *range(1, 5))  # of kilo: from pico to tera
PREFIXES = tuple(Fraction(base) ** power for base in (1000, 1024) for power in POWERS)
SINGLE = 1e-6  # relative: what a result in single precision may be off, a few roundings of 6e-8
EXACT_IN_SINGLE = 2**24  # up to this one, single precision holds every whole number
MOST_PLACES = 13  # after the point, to which a number may have been rounded
MOST_REORDERED = 6  # parts of an answer that are tried in every order
MOST_TYPED = 8  # digits of a number that somebody typed
NEAR = 1e-3  # relative: so close to the right number, it is that number, badly kept
BINARY = tuple(Fraction(1024, 1000) ** power for power in POWERS)
COARSE = 0.05  # relative: of a tolerance within which a factor is none
LEAST_CASES = 3  # in which the same factor is no accident
FINE = 0.005  # relative: of a tolerance within which GB are no GiB


def parts(expected: Plain, got: Plain) -> list[tuple[Plain, Plain]] | None:
    """Pair the parts of the right answer with those of ``got``; None when the shapes differ.

    A number or text has one part; a sequence or dictionary one per item. A list of one number
    counts as that number, a number as a list of one (so an array of one is read), and groups of
    numbers, ((1, 2), (3, 4)), as the numbers in a row.
    """
    if isinstance(expected, dict):
        if not isinstance(got, dict) or set(got) != set(expected):
            return None
        return [(expected[key], got[key]) for key in expected]
    if isinstance(expected, (list, tuple)):
        if not isinstance(got, (list, tuple)):
            alone = len(expected) == 1 and not isinstance(got, dict)
            return [(expected[0], got)] if alone else None
        if len(got) != len(expected):
            groups = (part if isinstance(part, (list, tuple)) else [part] for part in got)
            got = [*chain.from_iterable(groups)]
        return list(zip(expected, got, strict=True)) if len(got) == len(expected) else None
    if isinstance(got, list) and len(got) == 1:
        got = got[0]
    return None if isinstance(got, (list, dict)) else [(expected, got)]


def by_name(value: Plain, labels: Sequence[str], others: Sequence[str] = ()) -> Plain:
    """Return a dictionary's values in the order of ``labels``, if its keys tell which is which.

    A key names a label, or has a word of one label alone: "axpy" for "AXPY intensity". ``others``
    are second names of the same parts. One key that nothing tells gets the place that is left.
    Several get theirs in order, unless a key that tells its place stands elsewhere.
    Everything else is returned as it is.
    """
    if not labels or not isinstance(value, dict) or len(value) != len(labels):
        return value
    known = [[_stems(name) for name in names] for names in zip(labels, others or labels)]
    told = [_place(_stems(key), known) for key in value]
    places = [at for at in told if at is not None]
    in_order = all(at in (None, number) for number, at in enumerate(told))
    if len(set(places)) < len(places) or not (in_order or len(labels) - len(places) < 2):
        return value
    left = iter(sorted({*range(len(labels))} - {*places}))
    whole = {next(left) if at is None else at: v for at, v in zip(told, value.values())}
    return [whole[at] for at in range(len(labels))]


def _place(key: list[str], known: Sequence[Sequence[list[str]]]) -> int | None:
    """The one place whose names ``key`` is, lies in, or shares a word with; else None."""
    for fits in (
        lambda name: key == name,
        lambda name: {*key} <= {*name},
        lambda name: {*key} & {*name},
    ):
        found = [at for at, names in enumerate(known) if any(map(fits, names))]
        if found:
            return found[0] if len(found) == 1 else None
    return None


def _stems(text: str) -> list[str]:
    """The words of a name without an s at their ends: "byte/s" and "Bytes" have "byte"."""
    words = re.split(r"[\W_]+", text.casefold())
    return [word.removesuffix("s") for word in words if word.removesuffix("s")]


def reordered(rows: Sequence[Sequence[tuple[Plain, Plain, float]]]) -> bool:
    """Whether the values of an answer are the right ones in another order, in every case.

    ``rows``: for each case (right, given, tolerance) of each part.
    """
    count = len(rows[0]) if rows else 0
    if not 1 < count <= MOST_REORDERED:
        return False
    fits = [
        [all(_fits(row[there], row[here]) for row in rows) for there in range(count)]
        for here in range(count)
    ]
    return any(
        all(fits[here][there] for here, there in enumerate(order))
        for order in permutations(range(count))
        if order != tuple(range(count))
    )


def _fits(asked: tuple[Plain, Plain, float], given: tuple[Plain, Plain, float]) -> bool:
    """Whether what is given in one place is the right value of another place.

    Words come from a small set, so that one is right elsewhere by chance: a word may come from a
    place where a number is wanted, but not from that of another word.
    """
    (right, _, allowed), (there, mine, _) = asked, given
    small = (str, bool)
    if isinstance(right, small) and isinstance(there, small) and asked is not given:
        return False
    return _number(right) == _number(mine) and same(right, mine, allowed)


def truth(value: Plain) -> bool | None:
    """The truth value that ``value`` is: True and False, and 1 and 0 for them; else None."""
    return bool(value) if isinstance(value, int) and value in (0, 1) else None


def same(expected: Plain, got: Plain, tolerance: float) -> bool:
    """Whether two plain values agree; numbers within the relative ``tolerance``.

    A result in single precision is right as well; of a whole number only if it was kept in single
    precision, where it was too large to be exact: a count in whole numbers has to be exact.
    """
    if isinstance(expected, bool):
        return truth(got) is expected
    if isinstance(got, bool):
        return False
    if isinstance(expected, (int, float)):
        kept = isinstance(got, float) and abs(got) >= EXACT_IN_SINGLE and _held("f", got)
        exact = isinstance(expected, int) and not kept
        allowed = tolerance if exact else max(tolerance, SINGLE)
        return isinstance(got, (int, float)) and close(expected, got, allowed)
    if isinstance(expected, str):
        return isinstance(got, str) and _words(got) == _words(expected)
    paired = parts(expected, got)
    if paired is None or isinstance(expected, (int, float, str)) or expected is None:
        return expected is None and got is None
    return all(same(right, mine, tolerance) for right, mine in paired)


def _held(precision: str, got: float) -> bool:
    """Whether single ("f") or half precision ("e") holds this float exactly."""
    try:
        return struct.unpack(precision, struct.pack(precision, got))[0] == got
    except OverflowError:
        return False


def _words(text: str) -> list[str]:
    """The words of a text; "in_order" and "In-order" are the words "in order", "a,b" is "a, b"."""
    return text.casefold().replace("_", " ").replace("-", " ").replace(",", ", ").split()


def close(expected: float, got: float, tolerance: float) -> bool:
    """|got − expected| ≤ tolerance·|expected|, exact for integers of any size; never for NaN."""
    if expected == got or not _finite(expected) or not _finite(got):
        return expected == got
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


def upside_down(pairs: Pairs) -> bool:
    """Whether every number given is 1 over the right one."""
    ratios = _ratios([(1 / right, mine, room) for right, mine, room in pairs if _number(right)
                      and right])  # fmt: skip
    return len(ratios) > 1 and all(abs(ratio - 1) <= room + SINGLE for ratio, room in ratios)


def same_factor(pairs: Pairs) -> bool:
    """Whether every number given is off by the same factor, in three cases or more.

    Right numbers that are all alike tell no factor from a number that is simply wrong, nor does a
    tolerance that many factors fit into.
    """
    ratios = _ratios(pairs)
    rights = [abs(right) for right, _, _ in pairs if _number(right) and right]
    if any(room > COARSE for _, room in ratios):
        return False
    if len(ratios) < LEAST_CASES or max(rights) < 1.1 * min(rights):
        return False
    factors = [ratio for ratio, _ in ratios]
    room = max(room for _, room in ratios) + SINGLE
    return max(factors) - min(factors) <= 2 * room * abs(min(factors))


def _ratios(pairs: Pairs) -> list[tuple[Fraction, float]]:
    """What was given over what is right, where neither is 0; none where one has no ratio.

    What is infinite, as it should be, tells nothing.
    """
    found = []
    for right, mine, allowed in pairs:
        if isinstance(right, float) and math.isinf(right) and mine == right:
            continue
        if not (_number(right) and _number(mine)) or bool(right) != bool(mine):
            return []
        if right:
            found.append((Fraction(mine) / Fraction(right), allowed))
    return found


def only_rounded(pairs: Pairs) -> bool:
    """Whether every number given is the right one with fewer digits, rounded up or down.

    One digit is not enough to tell, nor is a whole number where a whole one is right.
    """
    off = _off(pairs)
    if not off or not all(isinstance(right, float) and _number(mine) for right, mine in off):
        return False
    short = [_shortened(right, mine) for right, mine in off]
    return all(short) or (any(short) and any(
        all(mine == round(right, places) for right, mine in off) for places in range(MOST_PLACES)
    ))  # fmt: skip


def _shortened(right: float, mine: int | float) -> bool:
    """Whether ``mine``, written out, is less than one in its last digit from ``right``."""
    if isinstance(mine, int):
        digits, exponent = str(abs(mine)), 0
    else:
        _, digits, exponent = Decimal(repr(mine)).normalize().as_tuple()
    unit = Fraction(10) ** exponent
    return _finite(right) and len(digits) > 1 and abs(Fraction(mine) - Fraction(right)) < unit


def as_text(pairs: Pairs) -> bool:
    """Whether texts with digits were given where numbers are right."""
    off = _off(pairs)
    return bool(off) and all(_number(right) and _digits(mine) for right, mine in off)


def _digits(value: Plain) -> bool:
    try:
        return isinstance(value, str) and math.isfinite(float(value))
    except ValueError:
        return False


def in_single(pairs: Pairs) -> bool:
    """Whether every number given is very close to the right one, and was kept as a float32."""
    given = [mine for _, mine in _off(pairs)]
    return nearly(pairs) and all(_held("f", mine) for mine in given) and any(map(_made, given))


def _made(mine: float) -> bool:
    """Whether a float32 came out of arithmetic: 1365.25 may be typed, half precision is another."""
    _, digits, _ = Decimal(repr(mine)).normalize().as_tuple()
    return len(digits) > MOST_TYPED and not _held("e", mine)


def nearly(pairs: Pairs) -> bool:
    """Whether every number given is very close to the right one, and not a wrong whole one."""
    off = _off(pairs)
    return bool(off) and all(
        _number(right) and isinstance(mine, float) and close(right, mine, NEAR)
        for right, mine in off
    )


def _off(pairs: Pairs) -> list[tuple[Plain, Plain]]:
    """Those of the pairs that do not agree."""
    return [(right, mine) for right, mine, allowed in pairs if not same(right, mine, allowed)]


def _number(value: Plain) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and _finite(value)


def flaw(got: Plain) -> str | None:
    """Say what makes ``got`` no number at all (NaN, infinity, True), or None."""
    if isinstance(got, bool):
        return f"{got} where a number belongs"
    if isinstance(got, float) and not math.isfinite(got):
        return "not a number (NaN)" if math.isnan(got) else "infinite"
    return None


def show(value: Plain, digits: int = 6, exact: int = 18) -> str:
    """Write plain data briefly and the same on every machine.

    Floats get ``digits`` digits; whole numbers of more than ``exact`` digits are rounded to three.
    """
    if isinstance(value, bool) or value is None:
        return str(value)
    if isinstance(value, int):
        if abs(value) >= 10**18:
            return f"about {'-' if value < 0 else ''}10^{len(str(abs(value))) - 1}"
        return str(value) if abs(value) < 10**exact else _rounded(value)
    if isinstance(value, float):
        return f"{value:.{digits}g}"
    if isinstance(value, str):
        return repr(value if len(value) <= 60 else value[:57] + "…")
    if isinstance(value, dict):
        return "{" + _some([f"{k}: {show(v, digits, exact)}" for k, v in value.items()]) + "}"
    if isinstance(value, Sequence):
        items = _some([show(v, digits, exact) for v in value])
        return f"({items},)" if len(value) == 1 else f"({items})"
    return type(value).__name__


def _some(texts: list[str]) -> str:
    return ", ".join(texts if len(texts) <= 7 else [*texts[:3], "…", *texts[-2:]])


def _rounded(value: int) -> str:
    digits, _, exponent = f"{value:.2e}".partition("e")
    return f"{float(digits):g}e{int(exponent)}"


def _finite(value: float) -> bool:
    return isinstance(value, int) or math.isfinite(value)

"""Numbers as people read them: three significant digits and an SI prefix (GB = 1e9 bytes)."""

from __future__ import annotations

import math
import sys
from decimal import Decimal

_PREFIXES = {3 * step - 18: prefix for step, prefix in enumerate("afpnµm kMGTPEZYRQ")}


def si(value: float, unit: str = "", digits: int = 3) -> str:
    """Format ``value`` in ``unit``: ``si(2.92e12, "B/s")`` is ``"2.92 TB/s"``.

    Parameters
    ----------
    value : float
        Any number. Zero, infinities and NaN keep their plain form.
    unit : str, default none
        What ``value`` counts, without a prefix, such as "B/s" or "FLOP".
    digits : int, default 3
        Significant digits.

    Returns
    -------
    str
        The rounded number, the prefix and the unit. The prefix goes from atto to quetta (1e30),
        and what lies beyond keeps its power of ten. Prefixes are decimal: 1 GB is 1e9 B.

    Examples
    --------
    >>> rl.si(2.92e12, "B/s")
    '2.92 TB/s'
    >>> rl.si(999.7e9, "FLOP/s")
    '1.00 TFLOP/s'
    """
    if isinstance(value, int) and abs(value) > sys.float_info.max:
        sign = "-" if value < 0 else ""
        return f"{sign}1e{_decade(abs(value))} {unit}".rstrip()
    if value == 0 or not math.isfinite(value):
        return f"{value:g} {unit}".rstrip()
    # Round first: 999.7e9 with three digits is 1.00 T, not 1000 G.
    rounded = float(f"{value:.{digits - 1}e}")
    exponent = 3 * math.floor(math.log10(abs(rounded)) / 3 + 1e-12)
    if exponent not in _PREFIXES:
        return f"{value:.{digits - 1}e} {unit}".rstrip()
    scaled = rounded / 10**exponent
    decimals = max(0, digits - 1 - max(0, math.floor(math.log10(abs(scaled)) + 1e-12)))
    return f"{scaled:.{decimals}f} {_PREFIXES[exponent].strip()}{unit}".rstrip()


def _decade(value: int) -> int:
    """The largest n with 10**n ≤ ``value``; the logarithm alone is one off beside a power."""
    near = round(math.log10(value))
    return near if 10**near <= value else near - 1


def rounded(value: float, digits: int) -> float:
    """Return ``value`` with ``digits`` significant digits."""
    return float(f"{value:.{digits}g}")


def grouped(value: int) -> str:
    """Format a whole number, from 10 000 on with thin spaces: ``"4096"``, ``"16 384"``.

    The space is U+202F: it is narrow, and no line ends there.
    """
    return f"{value:,}".replace(",", "\u202f") if abs(value) > 9999 else str(value)


def plain(value: float, digits: int = 4) -> str:
    """Format a number without prefix or exponent: ``"0.5"``, ``"4096"``, ``"12 350"``.

    It has ``digits`` significant digits, and from 1000 on no decimals.
    """
    short = rounded(value, digits)
    if not math.isfinite(short):
        return f"{short:.0f}"
    if abs(short) >= 1000:
        # Rounded once, from the value itself: by way of 1001.5, 1001.47 would become 1002.
        return grouped(round(value if abs(value) < 10**digits else short))
    text = format(Decimal(repr(short)), "f")  # 0.00001, where a float would say 1e-05
    return text.rstrip("0").rstrip(".") if "." in text else text


def times(factor: float, digits: int = 3) -> str:
    """Format a ratio: ``"×1.24"``, ``"×310"``, ``"×12 000"``."""
    return f"×{plain(factor, digits)}"


def percent(share: float) -> str:
    """Format a share of one: 0.87 is ``"87 %"``; below 10 % one decimal is kept."""
    return f"{100 * share:.0f} %" if share >= 0.0995 else f"{100 * share:.2g} %"


def several(number: int, noun: str) -> str:
    """A number and its ``noun``, in the plural unless it is one: ``"1 token"``, ``"64 tokens"``."""
    return f"{grouped(number)} {noun}{'' if number == 1 else 's'}"

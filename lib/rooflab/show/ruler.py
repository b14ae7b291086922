"""Rulers: tables that read a distance on a log axis as a formatted number.

The browser knows pixels only. To say "3.24 TFLOP/s" it lays a ruler on the axis: the marks are
the places where the rounded number changes, and beside each mark stands the text that Python's
own formatting gives. No value is computed or formatted in the browser.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from rooflab.count.si import percent, si, times


def _ruler(
    digits: int, decades: range, label: Callable[[float], str], suffixes: tuple[str, ...] = ("",)
) -> dict[str, object]:
    """Marks within a decade, one label a mark over ``decades``, and a suffix each time they
    repeat."""
    lo, hi = 10 ** (digits - 1), 10**digits
    marks = [math.log10((mantissa + 0.5) / lo) for mantissa in range(lo, hi)]
    labels = [
        label(mantissa / lo * 10.0**decade) for decade in decades for mantissa in range(lo, hi)
    ]
    return {
        "marks": np.array(marks, "<f4").tobytes(),
        "labels": labels,
        "lo": decades.start,
        "suffixes": list(suffixes),
    }


def rates(unit: str = "FLOP/s") -> dict[str, object]:
    """Ruler from 1 to 10¹⁸ in ``unit``, three digits: the labels repeat every three decades."""
    suffixes = tuple(si(10.0**decade, unit).partition(" ")[2] for decade in range(0, 18, 3))
    return _ruler(3, range(3), si, tuple(f" {suffix}" for suffix in suffixes))


def seconds() -> dict[str, object]:
    """Ruler from 1 ps to 1 Ms, three digits: the labels repeat every three decades."""
    suffixes = tuple(si(10.0**decade, "s").partition(" ")[2] for decade in range(-12, 6, 3))
    return _ruler(3, range(3), si, tuple(f" {suffix}" for suffix in suffixes)) | {"lo": -12}


def shares() -> dict[str, object]:
    """Ruler of a share of the peak, from one millionth to ten times, two digits."""
    return _ruler(2, range(-6, 1), percent)


def gaps() -> dict[str, object]:
    """Ruler of a ratio from 1 to 99,900, three digits, without the × of :func:`times`."""
    return _ruler(3, range(5), lambda ratio: times(ratio).removeprefix("×"))

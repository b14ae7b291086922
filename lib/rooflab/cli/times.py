"""Times as people write them: 31us, 31µs, 1.2ms, 3s, 31e-6."""

from __future__ import annotations

import math
import re

# Both letters that keyboards and papers use for micro: U+00B5 and the Greek U+03BC.
_UNITS = {"": 1.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ns": 1e-9}
_TIME = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*([a-zA-Zµμ]*)")


def seconds(text: str, option: str = "--time") -> float:
    """Return ``text`` in seconds; raise ValueError naming the ``option`` for anything else."""
    value = _value(text, option)
    if not 0 < value < math.inf:
        raise ValueError(f"{option}={text!r} must be more than zero and finite")
    return value


def duration(text: str, option: str) -> float:
    """Return ``text`` in seconds as :func:`seconds` does, but 0 is a duration too."""
    value = _value(text, option)
    if not 0 <= value < math.inf:
        raise ValueError(f"{option}={text!r} must be zero or more, and finite")
    return value


def _value(text: str, option: str) -> float:
    found = _TIME.fullmatch(text.strip())
    unit = found.group(2) if found else None
    if found is None or unit.lower() not in _UNITS or unit == "MS":
        raise ValueError(
            f"{option}={text!r} is not a time; write 31us, 31µs, 1.2ms, 3s, or seconds as 31e-6"
        )
    return float(found.group(1)) * _UNITS[unit.lower()]


def doubt(text: str, expected: float) -> str:
    """What to ask about a time without a unit that is far from ``expected`` seconds; "" if nothing.

    "31" is 31 seconds, which nobody means who timed a call of 40 µs. An expectation of 0 seconds
    says nothing.
    """
    found = _TIME.fullmatch(text.strip())
    if found is None or found.group(2):
        return ""
    value = float(found.group(1))
    if not value > _ABSURD * expected > 0:
        return ""
    unit = min(("ms", "us", "ns"), key=lambda u: abs(math.log(value * _UNITS[u] / expected)))
    number = found.group(1)
    return f"{number} without a unit is {number} seconds; write {number}{unit} if you meant that"


_ABSURD = 1e3  # times the bound: hardly a program that anybody times is that slow

"""What the free lunch's picture says of a measured curve, and at which k it can say it."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from rooflab.count.si import several, si
from rooflab.measure.free_lunch import FreeLunch


def ms(seconds: float) -> str:
    """Milliseconds with two significant digits, in the one unit the whole picture uses."""
    value = 1e3 * seconds
    decimals = max(0, 1 - math.floor(math.log10(value)))
    return f"{value:.{decimals}f} ms"


def stops(curve: FreeLunch) -> list[int]:
    """The k the slider stops at: whole, even on the log axis, every measured one among them."""
    between = np.rint(np.geomspace(curve.k[0], curve.k[-1], 150)).astype(int)
    return sorted({*between.tolist(), *curve.k.tolist()})


def sentences(curve: FreeLunch, k: int) -> tuple[str, str]:
    """What the picture says at k: of the time, and of the work per second."""
    carry, compute = curve.carry_s, k * curve.compute_s
    moral, verdict = _moral(compute / carry)
    adds = several(k, "multiply-add")
    slower = max(carry, compute)
    time = f"{adds}: carrying {ms(carry)}, computing {ms(compute)} → {ms(slower)}. {moral}"
    by_carry, by_compute, least = (rate_text(curve, k, t) for t in (carry, compute, slower))
    allowed = f"carrying allows {by_carry}, computing {by_compute} → {least}, the smaller one"
    rate = f"{adds} ({2 * k} FLOP): {allowed}. {verdict}"
    seen = seen_at(curve).get(k)
    if seen is None:
        return time, rate
    return f"{time} You measured {ms(seen)}.", f"{rate} You measured {rate_text(curve, k, seen)}."


def seen_at(curve: FreeLunch) -> dict[int, float]:
    """k → seconds measured."""
    return dict(zip(curve.k.tolist(), curve.seconds.tolist(), strict=True))


def rate_of(curve: FreeLunch, k: Any, seconds: Any) -> Any:
    """FLOP/s when k multiply-adds on each number take that long."""
    return 2 * curve.n * np.asarray(k) / np.asarray(seconds)


def rate_text(curve: FreeLunch, k: int, seconds: float) -> str:
    """The work per second when k multiply-adds on each number take that long."""
    return text_of("rate", float(rate_of(curve, k, seconds)))


def text_of(view: str, value: float) -> str:
    """A bar's time or rate; nothing for what was not measured."""
    if math.isnan(value):
        return ""
    return ms(value) if view == "time" else si(value, "FLOP/s")


def _moral(share: float) -> tuple[str, str]:
    """The lesson where computing takes ``share`` of carrying: for the time, for the rate."""
    if share < 0.8:
        return "The arithmetic is free.", "Carrying decides."
    if share <= 1.25:
        return "Both take about as long: here the curve bends.", "Here the roof bends."
    return "Now you pay for the arithmetic, and the carrying is free.", "Computing decides."


def check(curve: Any) -> None:
    """Raise TypeError for what is no measured curve, ValueError for one that cannot be drawn."""
    if not isinstance(curve, FreeLunch):
        raise TypeError(f"curve={curve!r} is no measured curve; pass what rl.free_lunch() returned")
    k, seconds = curve.k.tolist(), curve.seconds.tolist()
    if len(k) != len(seconds) or len(k) < 2:
        raise ValueError(f"curve has {len(k)} k and {len(seconds)} seconds; give 2 or more of both")
    if k[0] < 1 or any(a >= b for a, b in itertools.pairwise(k)):
        raise ValueError(f"curve.k={tuple(k)} must rise and start at 1 or more")
    if not all(math.isfinite(t) and t > 0 for t in seconds):
        raise ValueError(f"curve.seconds={tuple(seconds)} must be positive times in seconds")

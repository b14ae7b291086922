"""Conclusions of lesson 00, the free lunch: where the curve bends, and how far to trust it.

Two models stand beside each point: the longer bar, where carrying and computing overlap, and the
sum of both, where they take turns. A core may do either, or something between the two.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType

from rooflab.conclusions import Conclusion, cautions
from rooflab.count.si import percent, plain, several
from rooflab.measure.free_lunch import FreeLunch
from rooflab.predict.machine import Machine
from rooflab.predict.roofline import Roofline

FLAT = 1.1  # times the fastest point: what the eye still takes for flat
STEEP = 0.85  # of "twice the arithmetic, twice the time": the rising end of a curve
AGREEMENT = 1.2  # two ways of measuring one figure on a quiet computer
ROUND = 1.25  # times the fastest point, at half the way to the bend
NEAR_THE_BEND = 2.5  # times the bend, up or down: where both bars are of a length
MISFIT = 1.05  # times the model: beyond the noise of a quiet computer
BEYOND_THE_SUM = 1.1  # times the sum of both bars: more than taking turns could cost


def nine(curve: FreeLunch) -> Conclusion:
    """What nine multiply-adds cost beside one, and how far the flat part of ``curve`` reaches."""
    ratio, outlier = curve.at(9) / curve.at(1), _outlier(curve, (1, 9))
    if outlier:
        slower, quicker = outlier
        case = "disturbed"
        text = (
            f"But {several(quicker, 'multiply-add')} took less time than {slower}. Less arithmetic "
            "cannot take longer, so something else had the core while that point was measured."
        )
    elif ratio <= FLAT * FLAT:
        case, text = "free", "Eight more multiply-adds cost next to nothing here."
    elif ratio <= 1.5:
        case, text = "free", f"Eight more multiply-adds cost only {percent(ratio - 1)} more time."
    elif ratio <= 5:
        case, text = "partly", "Of the eight more you pay for some, and some are free."
    else:
        case, text = "mostly", "You pay for most of the eight more here."
    said = f"9 times the arithmetic took **{ratio:.1f} times** the time. {text} {_turn(curve)}"
    return Conclusion(case, said + cautions(curve))


def _outlier(curve: FreeLunch, counts: tuple[int, ...]) -> tuple[int, int] | None:
    """The first of ``counts`` that is slower than a point with more arithmetic, and that point."""
    for k in counts:
        quickest = min((more for more in curve.k if more >= k), key=curve.at)
        if curve.at(k) > FLAT * curve.at(quickest):
            return k, quickest
    return None


def _turn(curve: FreeLunch) -> str:
    """Where ``curve`` leaves its flat part, and whether it reaches its steep one."""
    last = _flat_to(curve)
    if last == curve.k[-1]:
        return f"Up to **{last}**, the last point, the clock hardly notices: the curve never turns."
    if last == curve.k[0]:
        return "On this core the curve begins to rise with its second point already."
    said = f"Up to **{last}** the clock hardly notices; then the curve turns"
    (k1, k2), (s1, s2) = curve.k[-2:], curve.seconds[-2:]
    if STEEP <= (s2 / s1) / (k2 / k1) <= 1 / STEEP:
        return f"{said}, and in the end twice the arithmetic takes twice the time."
    return f"{said}."


def free(curve: FreeLunch) -> Conclusion:
    """The answer to the lesson's title on this core: the itemsize times the ridge of ``curve``."""
    number, size, doubts = _free(curve), curve.itemsize, _few(curve) + cautions(curve)
    counted = (
        f"A number of {size} bytes makes {2 * size} bytes of travel, and a multiply-add is 2 "
        f"FLOPs. So {size} times the ridge of {plain(curve.ridge, 3)} FLOP/byte is the end of the "
        "free lunch"
    )
    if number < 1.5:
        text = f"{counted}. Here that is **{plain(number, 2)}**: this core gives nothing away."
        return Conclusion("none", text + doubts)
    text = f"{counted}: about **{number:.0f} multiply-adds on each number** on this core."
    inside = [s for k, s in zip(curve.k, curve.seconds, strict=True) if k <= number / 2]
    if inside and inside[-1] > ROUND * min(curve.seconds):
        cause = "yours is round, or the computer was busy"
        if _turns(curve):
            cause = "on this core carrying and computing overlap only partly"
        text += (
            f" Your curve rises sooner: it leaves the flat part after {_flat_to(curve)}. So much "
            f"would be free if it had a sharp corner, and {cause}. *Deeper: why is the corner "
            "round?* looks into that."
        )
        return Conclusion("round", text + doubts)
    return Conclusion("some", text + doubts)


def _few(curve: FreeLunch) -> str:
    """A doubt where fewer than three points carry the peak of ``curve``; else ""."""
    points, longest = curve.rising, curve.k[-1]
    if len(points) >= 3:
        return ""
    text = (
        "Fewer than two points are on the rising end, so the peak is only a lower bound, and the "
        "bend may lie later."
    )
    if len(points) == 2:
        text = (
            f"Only two points, {points[0]} and {points[1]}, carry the peak and with it the bend: "
            "if one of them was disturbed, both figures are off."
        )
    return f" {text} `curve = rl.free_lunch((*curve.k, {2 * longest}, {4 * longest}))` has more."


def agree(curve: FreeLunch, here: Machine) -> Conclusion:
    """Whether the curve and the two extreme programs give the same bandwidth and peak."""
    apart = {
        "bandwidth": _apart(curve.bandwidth, here.bandwidth(mix="update")),
        "peak": _apart(curve.peak, here.peak(curve.dtype, "vector")),
    }
    if len(curve.rising) < 2:
        del apart["peak"]  # the curve gives only a lower bound
    off = [name for name, factor in apart.items() if factor > AGREEMENT]
    doubts = cautions(curve)
    if "peak" in off or "peak" not in apart:
        doubts = _few(curve) + doubts
    shown = ", ".join(f"{name} ×{factor:.2f}" for name, factor in apart.items())
    if not off:
        text = f"The two ways agree. Between the larger and the smaller figure: {shown}."
        return Conclusion("agree", text + doubts)
    text = (
        f"The two ways do **not** agree about the {' and the '.join(off)} ({shown}). One of them "
        "was disturbed. Another program had the computer, the processor changed its clock, or the "
        "work moved to a core of another kind, as laptops have. Close what you can, run the cell "
        "with `curve = rl.free_lunch()` again, and then "
        "`roofs = rl.this_machine_async(threads=1, refresh=True)`."
    )
    return Conclusion(" and ".join(off), text + doubts)


def elsewhere(curve: FreeLunch, other: Roofline) -> Conclusion:
    """How the free lunch of this core compares with that under ``other``, a datasheet's roof."""
    factor = other.ridge / curve.ridge
    if factor > 1.25:
        case, text = "more there", f"That is {plain(factor, 2)} times as many as on your core."
    elif factor >= 0.8:
        case, text = "alike", "That is about as many as on your core."
    else:
        case, text = "more here", f"Your core gives away {plain(1 / factor, 2)} times as many."
    peaks, rates = other.peak / curve.peak, other.bandwidth / curve.bandwidth
    reason = (
        f"The peak there is {plain(peaks, 2)} times yours and the bandwidth {plain(rates, 2)} "
        "times. How long the lunch is depends on the first divided by the second."
    )
    doubts = (_few(curve) if len(curve.rising) < 2 else "") + cautions(curve)
    return Conclusion(case, f"{text} {reason}" + doubts)


def corner(curve: FreeLunch) -> Conclusion:
    """Where ``curve`` lies farthest above the longer bar, and whether the sum fits better."""
    bend, points, doubts = _free(curve), _points(curve), _few(curve) + cautions(curve)
    if len(curve.rising) < 2:
        return Conclusion("not reached", f"Nothing can be said of the corner.{doubts}")
    misfits = {k: seconds / longer for k, (seconds, longer, _) in points.items()}
    worst = max(misfits, key=misfits.__getitem__)
    if misfits[worst] <= MISFIT:
        text = (
            "No point lies more than 5 % above the model. On this core carrying and computing "
            "overlap almost perfectly, even where both take equally long."
        )
        return Conclusion("nowhere", text + doubts)
    said = (
        f"The model is worst at {several(worst, 'multiply-add')}, {misfits[worst]:.2f} times the "
        f"model, and the bend is at about {bend:.0f}"
    )
    seconds, _, both = points[worst]
    if not bend / NEAR_THE_BEND <= worst <= bend * NEAR_THE_BEND and (
        seconds > BEYOND_THE_SUM * both or not _turns(curve)
    ):
        text = (
            f"{said}, far from there. The corner is not what fails here: something else had the "
            "computer while that point was measured. Measure the curve again and see whether it "
            "stays."
        )
        return Conclusion("elsewhere", text + doubts)
    case, text = _why_round(seconds / both, _turns(curve), sorted(_near(curve)))
    return Conclusion(case, f"{said}. {text}" + doubts)


def _why_round(beside_the_sum: float, turns: bool, near: list[int]) -> tuple[str, str]:
    """Case and sentence of a corner that is not sharp; ``near``: the points close to the bend."""
    if beside_the_sum > BEYOND_THE_SUM:
        return "above the sum", (
            f"That is even {plain(beside_the_sum, 3)} times the sum of both bars. Taking turns "
            "cannot cost so much: something else had the core. Run `curve = rl.free_lunch()` "
            "again."
        )
    if turns:
        return "sum", (
            f"On this core carrying and computing overlap only partly: close to the bend, at "
            f"{' and '.join(map(str, near))} multiply-add{'' if near == [1] else 's'}, the *sum* "
            "of the two bars is nearer to the measured times than the longer bar is. Far from the "
            "bend one bar is so much longer that the two models hardly differ."
        )
    return "bend", (
        "Far from it one of the two bars is much longer than the other, and a delay in the shorter "
        "one hides behind the longer. Near it both are nearly equally long, and would have to "
        "overlap perfectly. They don't: now and then the processor has to wait for a number, or "
        "the memory for a free place to put one. Right at the bend, taking turns would make it 2 "
        "times the model."
    )


def _points(curve: FreeLunch) -> dict[int, tuple[float, float, float]]:
    """k → the measured seconds, those of the longer bar, and those of the sum of both bars."""
    carrying = curve.bytes / curve.bandwidth
    computing = {k: 2 * k * curve.n / curve.peak for k in curve.k}
    return {
        k: (seconds, max(carrying, computing[k]), carrying + computing[k])
        for k, seconds in zip(curve.k, curve.seconds, strict=True)
    }


def _near(curve: FreeLunch) -> set[int]:
    """The measured k close to the bend; all of them where the curve has none there."""
    bend = _free(curve)
    return {k for k in curve.k if bend / NEAR_THE_BEND <= k <= bend * NEAR_THE_BEND} or set(curve.k)


def _turns(curve: FreeLunch) -> bool:
    """Whether the sum of both bars fits the points near the bend better than the longer bar."""
    near = [point for k, point in _points(curve).items() if k in _near(curve)]
    longer = sum(abs(math.log(seconds / bar)) for seconds, bar, _ in near)
    both = sum(abs(math.log(seconds / bars)) for seconds, _, bars in near)
    return both < longer


def _flat_to(curve: FreeLunch) -> int:
    """The largest measured k within FLAT of the fastest point.

    A point before it that is slower was disturbed: less arithmetic cannot take longer.
    """
    fastest = min(curve.seconds)
    return int(max(curve.k[curve.seconds <= FLAT * fastest]))


def _free(curve: FreeLunch) -> float:
    """Multiply-adds on a number that fit under its trip: 2k FLOP on 2 items of ``itemsize``."""
    return curve.itemsize * curve.ridge


def _apart(one: float, other: float) -> float:
    """The larger over the smaller."""
    return max(one, other) / min(one, other)


CONCLUSIONS: Mapping[str, Callable[..., Conclusion]] = MappingProxyType({
    "00-nine": nine, "00-free": free, "00-agree": agree, "00-elsewhere": elsewhere,
    "00-corner": corner,
})  # fmt: skip

"""Conclusions of lesson 00, the free lunch: where the curve bends, and how far to trust it.

Two models stand beside each point: the longer bar, where carrying and computing overlap, and the
sum of both, where they take turns. A core may do either, or something between the two.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType

from rooflab.conclusions import Conclusion, cautions
from rooflab.count.si import plain
from rooflab.measure.freelunch import FreeLunch
from rooflab.predict.machine import Machine
from rooflab.predict.roofline import Roofline

FLAT = 1.1  # times the fastest point: what the eye still takes for flat
AGREEMENT = 1.2  # two ways of measuring one figure on a quiet computer
ROUND = 1.25  # times the fastest point, at half the way to the bend
NEAR = 2.5  # times the bend, up or down: where both bars are of a length
MISFIT = 1.05  # times the model: beyond the noise of a quiet computer
BEYOND = 1.1  # times the sum of both bars: more than taking turns could cost


def nine(curve: FreeLunch) -> Conclusion:
    """What nine multiply-adds cost beside one, and how far the flat part of ``curve`` reaches."""
    ratio, last = curve.at(9) / curve.at(1), _flat_to(curve)
    flat = (
        f"Up to **{last}** the clock hardly notices; then the curve turns, and in the end twice "
        "the arithmetic takes twice the time."
    )
    if last == curve.k[0]:
        flat = "On this core the curve begins to rise with the second multiply-add already."
    if ratio <= 1.5:
        case, text = "free", "Eight more multiply-adds cost next to nothing here."
    elif ratio <= 5:
        case, text = "partly", "Of the eight more you pay for some, and some are free."
    else:
        case, text = "mostly", "You pay for most of the eight more here."
    said = f"9 times the arithmetic took **{ratio:.1f} times** the time. {text} {flat}"
    return Conclusion(case, said + cautions(curve))


def free(curve: FreeLunch) -> Conclusion:
    """The answer to the lesson's title on this core: the itemsize times the ridge of ``curve``."""
    number, size = _free(curve), curve.itemsize
    counted = (
        f"A number of {size} bytes makes {2 * size} bytes of travel, and a multiply-add is 2 "
        f"FLOPs. So {size} times the ridge of {plain(curve.ridge, 3)} FLOP/byte is the end of the "
        "free lunch"
    )
    if number < 1.5:
        text = f"{counted}. Here that is **{plain(number, 2)}**: this core gives nothing away."
        return Conclusion("none", text + cautions(curve))
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
        return Conclusion("round", text + cautions(curve))
    return Conclusion("some", text + cautions(curve))


def agree(curve: FreeLunch, here: Machine) -> Conclusion:
    """Whether the curve and the two extreme programs give the same bandwidth and peak."""
    apart = {
        "bandwidth": _apart(curve.bandwidth, here.bandwidth(mix="update")),
        "peak": _apart(curve.peak, here.peak(curve.dtype, "vector")),
    }
    off = [name for name, factor in apart.items() if factor > AGREEMENT]
    shown = ", ".join(f"{name} ×{factor:.2f}" for name, factor in apart.items())
    if not off:
        text = f"The two ways agree. Between the larger and the smaller figure: {shown}."
        return Conclusion("agree", text + cautions(curve))
    text = (
        f"The two ways do **not** agree about the {' and the '.join(off)} ({shown}). One of them "
        "was disturbed. Another program had the computer, the processor changed its clock, or the "
        "work moved to a core of another kind, as laptops have. Close what you can, run the cell "
        "with `curve = rl.free_lunch()` again, and then "
        "`roofs = rl.this_machine_async(threads=1, refresh=True)`."
    )
    return Conclusion(" and ".join(off), text + cautions(curve))


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
    return Conclusion(case, f"{text} {reason}" + cautions(curve))


def corner(curve: FreeLunch) -> Conclusion:
    """Where ``curve`` lies farthest above the longer bar, and whether the sum fits better."""
    bend, points = _free(curve), _points(curve)
    misfits = {k: seconds / longer for k, (seconds, longer, _) in points.items()}
    worst = max(misfits, key=misfits.__getitem__)
    if misfits[worst] <= MISFIT:
        text = (
            "No point lies more than 5 % above the model. On this core carrying and computing "
            "overlap almost perfectly, even where both take equally long."
        )
        return Conclusion("nowhere", text + cautions(curve))
    said = (
        f"The model is worst at {worst} multiply-adds, {misfits[worst]:.2f} times the model, and "
        f"the bend is at about {bend:.0f}"
    )
    seconds, _, both = points[worst]
    if not bend / NEAR <= worst <= bend * NEAR and (seconds > BEYOND * both or not _turns(curve)):
        text = (
            f"{said}, far from there. The corner is not what fails here: something else had the "
            "computer while that point was measured. Measure the curve again and see whether it "
            "stays."
        )
        return Conclusion("elsewhere", text + cautions(curve))
    case, text = _why_round(seconds / both, _turns(curve), sorted(_near(curve)))
    return Conclusion(case, f"{said}. {text}" + cautions(curve))


def _why_round(beside_the_sum: float, turns: bool, near: list[int]) -> tuple[str, str]:
    """Case and sentence of a corner that is not sharp; ``near``: the points close to the bend."""
    if beside_the_sum > BEYOND:
        return "above the sum", (
            f"That is even {plain(beside_the_sum, 3)} times the sum of both bars. Taking turns "
            "cannot cost so much: something else had the core. Run `curve = rl.free_lunch()` "
            "again."
        )
    if turns:
        return "sum", (
            f"On this core carrying and computing overlap only partly: close to the bend, at "
            f"{' and '.join(map(str, near))} multiply-adds, the *sum* of the two bars is nearer to "
            "the measured times than the longer bar is. Far from the bend one bar is so much "
            "longer that the two models hardly differ."
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
    return {k for k in curve.k if bend / NEAR <= k <= bend * NEAR} or set(curve.k)


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
    return max(k for k, s in zip(curve.k, curve.seconds, strict=True) if s <= FLAT * fastest)


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

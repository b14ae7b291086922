"""Sentences of lesson 00, the free lunch: where the curve bends, and how far to trust it.

Two models stand beside each point: the longer bar, where carrying and computing overlap, and the
sum of both, where they take turns. A core may do either, or something between the two.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from rooflab.exercises.sentences import Conclusion, Rows, choose
from rooflab.measure.free_lunch import FreeLunch
from rooflab.predict.machine import Machine
from rooflab.predict.roofline import Roofline

FLAT = 1.1  # times the fastest point: what the eye still takes for flat
STEEP = 0.85  # of "twice the arithmetic, twice the time": the rising end of a curve
AGREEMENT = 1.2  # two ways of measuring one figure on a quiet computer
ALIKE_LUNCHES = 1.25  # two free lunches within this factor are called alike
ROUND = 1.25  # times the fastest point, at half the way to the bend
NEAR_THE_BEND = 2.5  # times the bend, up or down: where both bars are of a length
MISFIT = 1.05  # times the model: beyond the noise of a quiet computer
BEYOND_THE_SUM = 1.1  # times the sum of both bars: more than taking turns could cost

NINE_TIMES = "9 times the arithmetic took **{ratio:.1f} times** the time."
NINE: Rows = (
    ("disturbed", lambda slower: slower,
     "But {quicker:of multiply-add} took less time than {slower}. Less arithmetic cannot take "
     "longer, so something else had the core while that point was measured."),
    ("free", lambda slower, ratio: not slower and ratio <= FLAT * FLAT,
     "Eight more multiply-adds cost next to nothing here."),
    ("free", lambda slower, ratio: not slower and FLAT * FLAT < ratio <= 1.5,
     "Eight more multiply-adds cost only {more:percent} more time."),
    ("partly", lambda slower, ratio: not slower and 1.5 < ratio <= 5,
     "You pay for some of the eight extra ones; the rest are free."),
    ("mostly", lambda slower, ratio: not slower and ratio > 5,
     "You pay for most of the eight more here."),
)
TURN: Rows = (
    ("", lambda flat_to, last: flat_to == last,
     "Up to **{flat_to}**, the last point, the clock hardly notices: the curve never turns."),
    ("", lambda flat_to, first: flat_to == first,
     "On this core the curve begins to rise at its second point."),
    ("", lambda flat_to, first, last, slope: (
        first < flat_to < last and STEEP <= slope <= 1 / STEEP),
     "Up to **{flat_to}** the clock hardly notices; then the curve turns, and in the end twice the "
     "arithmetic takes twice the time."),
    ("", None, "Up to **{flat_to}** the clock hardly notices; then the curve turns."),
)


def nine(curve: FreeLunch) -> Conclusion:
    """What nine multiply-adds cost beside one, and how far the flat part of ``curve`` reaches."""
    ratio = curve.at(9) / curve.at(1)
    slower, quicker = _outlier(curve, (1, 9)) or (0, 0)
    return choose(
        NINE_TIMES, NINE, TURN, of=(curve,), ratio=ratio, more=ratio - 1, slower=slower,
        quicker=quicker, flat_to=_flat_to(curve), first=curve.k[0], last=curve.k[-1],
        slope=(curve.seconds[-1] / curve.seconds[-2]) / (curve.k[-1] / curve.k[-2]),
    )


def _outlier(curve: FreeLunch, counts: tuple[int, ...]) -> tuple[int, int] | None:
    """The first of ``counts`` that is slower than a point with more arithmetic, and that point."""
    for k in counts:
        quickest = min((more for more in curve.k if more >= k), key=curve.at)
        if curve.at(k) > FLAT * curve.at(quickest):
            return k, quickest
    return None


LUNCH = (
    "A number of {size} bytes makes {travel} bytes of travel, and a multiply-add is 2 FLOPs. So "
    "{size} times the ridge of {ridge:3} FLOP/byte is the end of the free lunch"
)
FREE: Rows = (
    ("none", lambda number: number < 1.5,
     ". Here that is **{number:2}**: this core gives nothing away."),
    ("some", lambda number, early: number >= 1.5 and not early,
     ": about **{number:.0f} multiply-adds on each number** on this core."),
    ("round", lambda early: early,
     ": about **{number:.0f} multiply-adds on each number** on this core. Your curve rises sooner: "
     "it leaves the flat part after {flat_to}. That many would be free with a sharp corner, but "
     "{cause}. *Deeper: why is the corner round?* looks into that."),
)
CAUSE = {
    True: "on this core carrying and computing overlap only partly",
    False: "yours is round, or the computer was busy",
}


def free(curve: FreeLunch) -> Conclusion:
    """The answer to the lesson's title on this core: the itemsize times the ridge of ``curve``."""
    inside, size = curve.seconds[curve.k <= curve.bend / 2], curve.itemsize
    return choose(
        LUNCH, FREE, "{few}", of=(curve,), number=curve.bend, size=size, travel=2 * size,
        ridge=curve.ridge, early=inside.size and inside[-1] > ROUND * min(curve.seconds),
        flat_to=_flat_to(curve), cause=CAUSE[_turns(curve)], few=_few(curve),
    )


FEW: Rows = (
    ("", lambda rising: len(rising) < 2,
     "Fewer than two points are on the rising end, so the peak is only a lower bound, and the bend "
     "may lie later. `curve = rl.free_lunch((*curve.k, {twice}, {fourfold}))` has more."),
    ("", lambda rising: len(rising) == 2,
     "Only two points, {rising[0]} and {rising[1]}, carry the peak and with it the bend: if one of "
     "them was disturbed, both figures are off. "
     "`curve = rl.free_lunch((*curve.k, {twice}, {fourfold}))` has more."),
)


def _few(curve: FreeLunch) -> str:
    """A doubt where fewer than three points carry the peak of ``curve``; else ""."""
    longest = curve.k[-1]
    return choose(FEW, rising=curve.rising, twice=2 * longest, fourfold=4 * longest).text


APART = (
    "The two ways do **not** agree about the {off} ({factors}). One of them was disturbed. Another "
    "program had the computer, the processor changed its clock, or the work moved to a core of "
    "another kind, as laptops have. Close what you can, run the cell with "
    "`curve = rl.free_lunch()` again, and then "
    "`roofs = rl.this_machine_async(threads=1, refresh=True)`."
)
AGREE: Rows = (
    ("agree", lambda off: not off,
     "The two ways agree. Between the larger and the smaller figure: {factors}."),
    ("bandwidth", lambda off: off == "bandwidth", APART),
    ("peak", lambda off: off == "peak", APART),
    ("bandwidth and peak", lambda off: off == "bandwidth and the peak", APART),
)


def agree(curve: FreeLunch, here: Machine) -> Conclusion:
    """Whether the curve and the two extreme programs give the same bandwidth and peak."""
    apart = {"bandwidth": _apart(curve.bandwidth, here.bandwidth(mix="update"))}
    if len(curve.rising) >= 2:  # with fewer the curve gives only a lower bound
        apart["peak"] = _apart(curve.peak, here.peak(curve.dtype, "vector"))
    off = [name for name, factor in apart.items() if factor > AGREEMENT]
    return choose(
        AGREE, "{few}", of=(curve,), off=" and the ".join(off),
        factors=", ".join(f"{name} ×{factor:.2f}" for name, factor in apart.items()),
        few=_few(curve) if "peak" in off or "peak" not in apart else "",
    )


ELSEWHERE: Rows = (
    ("more there", lambda longer: longer > ALIKE_LUNCHES,
     "That is {longer:2} times as many as on your core."),
    ("alike", lambda longer: 1 / ALIKE_LUNCHES <= longer <= ALIKE_LUNCHES,
     "That is about as many as on your core."),
    ("more here", lambda longer: longer < 1 / ALIKE_LUNCHES,
     "Your core gives away {shorter:2} times as many."),
)
PEAK_AND_BANDWIDTH = (
    "The peak there is {peaks:2} times yours and the bandwidth {rates:2} times. How long the lunch "
    "is depends on the first divided by the second."
)


def elsewhere(curve: FreeLunch, other: Roofline) -> Conclusion:
    """How the free lunch of this core compares with that under ``other``, a datasheet's roof."""
    longer = other.ridge / curve.ridge
    return choose(
        ELSEWHERE, PEAK_AND_BANDWIDTH, "{few}", of=(curve,), longer=longer, shorter=1 / longer,
        peaks=other.peak / curve.peak, rates=other.bandwidth / curve.bandwidth,
        few=_few(curve) if len(curve.rising) < 2 else "",
    )


SHARP: Rows = (
    ("not reached", lambda reached: not reached, "The curve says nothing about the corner."),
    ("nowhere", lambda reached: reached,
     "No point lies more than 5 % above the model. On this core carrying and computing overlap "
     "almost perfectly, even where both take equally long."),
)
WORST = (
    "The model is worst at {worst:of multiply-add}, {misfit:.2f} times the model, and the bend is "
    "at about {bend:.0f}"
)
CORNER: Rows = (
    ("elsewhere", lambda far, excess, turns: far and (excess > BEYOND_THE_SUM or not turns),
     ", far from there. The corner is not what fails here: something else had the computer while "
     "that point was measured. Measure the curve again and see whether it stays."),
    ("above the sum", lambda far, excess: not far and excess > BEYOND_THE_SUM,
     ". That is even {excess:3} times the sum of both bars. Taking turns cannot cost so much: "
     "something else had the core. Run `curve = rl.free_lunch()` again."),
    ("sum", lambda excess, turns: excess <= BEYOND_THE_SUM and turns,
     ". On this core carrying and computing overlap only partly: close to the bend, at {near}, the "
     "*sum* of the two bars is nearer to the measured times than the longer bar is. Far from the "
     "bend one bar is so much longer that the two models hardly differ."),
    ("bend", lambda far, excess, turns: not far and excess <= BEYOND_THE_SUM and not turns,
     ". Far from it one of the two bars is much longer than the other, and a delay in the shorter "
     "one hides behind the longer. Near it both are nearly equally long, and would have to overlap "
     "perfectly. They don't: now and then the processor has to wait for a number, or the memory "
     "for a free place to put one. Right at the bend, taking turns would make it 2 times the "
     "model."),
)


def corner(curve: FreeLunch) -> Conclusion:
    """Where ``curve`` lies farthest above the longer bar, and whether the sum fits better."""
    bend, few, reached = curve.bend, _few(curve), len(curve.rising) >= 2
    points, near = _points(curve), [str(k) for k in _near(curve)]
    misfits = {k: seconds / longer for k, (seconds, longer, _) in points.items()}
    worst = max(misfits, key=misfits.__getitem__)
    if not reached or misfits[worst] <= MISFIT:
        return choose(SHARP, "{few}", of=(curve,), reached=reached, few=few)
    seconds, _, both = points[worst]
    return choose(
        WORST, CORNER, "{few}", of=(curve,), worst=worst, misfit=misfits[worst], bend=bend,
        far=not bend / NEAR_THE_BEND <= worst <= bend * NEAR_THE_BEND, excess=seconds / both,
        turns=_turns(curve), few=few,
        near=f"{' and '.join(near)} multiply-add{'' if near == ['1'] else 's'}",
    )


def _points(curve: FreeLunch) -> dict[int, tuple[float, float, float]]:
    """k → the measured seconds, those of the longer bar, and those of the sum of both bars."""
    carrying, computing = curve.carry_s, 2 * curve.k * curve.n / curve.peak
    return {
        k: (seconds, max(carrying, own), carrying + own)
        for k, seconds, own in zip(curve.k, curve.seconds, computing, strict=True)
    }


def _near(curve: FreeLunch) -> list[int]:
    """The measured k close to the bend; all of them where the curve has none there."""
    low, high = curve.bend / NEAR_THE_BEND, curve.bend * NEAR_THE_BEND
    return sorted(k for k in curve.k if low <= k <= high) or sorted(curve.k)


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
    return int(max(curve.k[curve.seconds <= FLAT * min(curve.seconds)]))


def _apart(one: float, other: float) -> float:
    """The larger over the smaller."""
    return max(one, other) / min(one, other)


CONCLUSIONS: Mapping[str, Callable[..., Conclusion]] = {
    "00-nine": nine, "00-free": free, "00-agree": agree, "00-elsewhere": elsewhere,
    "00-corner": corner,
}

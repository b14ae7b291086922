"""Conclusions of lesson 01, three operations: how far apart AXPY and GEMM are, and by whose doing.

Were both at their roofs, GEMM would be ridge ÷ (intensity of AXPY) times as fast as AXPY. The ridge
is that of the bandwidth for AXPY's own mix, two reads to a write. Each reaches a share of its roof,
so the measured ratio is that one × GEMM's share ÷ AXPY's share. It may be smaller or larger.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from rooflab.conclusions import Conclusion, cautions, largest_cache
from rooflab.count.operation import Operation
from rooflab.count.si import percent, plain, si
from rooflab.measure.measurement import Measurement
from rooflab.predict.estimate import mix_of, peak_of
from rooflab.predict.machine import Machine
from rooflab.predict.roofline import Roofline

ABOVE = 1.1  # times a roof: more than the noise with which the roof itself was measured
FAR_BELOW = 1.5  # one share of a roof over another: no two good routines differ so much
LOW_SHARE = 0.8  # of a roof: below it a routine's distance from the roof wants a reason
ALIKE_RATIOS = 1.15  # two ratios of times, each of which is good to a few per cent
AGAIN = "`rl.this_machine(threads=1, refresh=True)` measures it again."


def ratio(axpy: Measurement, gemm: Measurement, here: Machine) -> Conclusion:
    """How many times AXPY's speed GEMM reached, and what the roofs of ``here`` cut off."""
    intensities = gemm.op.intensity / axpy.op.intensity
    speeds = gemm.flop_per_s / axpy.flop_per_s
    said = (
        f"**{plain(intensities)} times the intensity, {plain(speeds, 3)} times the speed.** A "
        f"factor of {plain(intensities / speeds, 3)} is missing."
    )
    slow, fast = _share(axpy, here), _share(gemm, here)
    above = _above_a_roof(slow, fast, axpy.op, here)
    if above:
        case, text = above
        return Conclusion(case, f"{said} And something is odd. {text}" + cautions(axpy, gemm))
    dtype = gemm.op.compute_dtype
    if here.has_peak(dtype, "tensor") and here.has_peak(dtype, "vector"):
        higher = here.peak(dtype, "tensor") / here.peak(dtype, "vector")
        said += (
            " Here the library hands products of matrices to a *matrix unit*, a circuit that does "
            f"nothing else. Its flat roof is {plain(higher, 2)} times as high as that of the "
            "ordinary instructions."
        )
    case, text = _cut_off(intensities / _ratio_at_the_roofs(axpy.op, gemm.op, here), slow / fast)
    return Conclusion(case, f"{said} {text}" + cautions(axpy, gemm))


def _cut_off(roof: float, losses: float) -> tuple[str, str]:
    """Case and sentence: which part of the missing factor the roofs alone explain.

    ``roof``: the factor that the flat roof cuts off; ``losses``: what GEMM loses below its roof,
    divided by what AXPY loses below the roof of its own mix. Their product is what is missing.
    """
    flat, later = plain(roof, 3), "Farther down you will tell one from the other."
    if losses > FAR_BELOW:
        return "gemm loses", (
            f"The flat roof cuts off a factor of {flat}, and GEMM stays far below even that roof. "
            f"{later}"
        )
    if losses < 1 / FAR_BELOW:
        return "axpy loses", (
            f"The flat roof cuts off even more, a factor of {flat}. But AXPY stays far below a "
            f"roof of its own, and that makes GEMM look better. {later}"
        )
    if losses > ALIKE_RATIOS:
        return "mostly", (
            f"The flat roof has cut off most of it, a factor of {flat}. The rest is that GEMM "
            "reaches a smaller share of its roof than AXPY reaches of the roof of its own mix. "
            f"{later}"
        )
    if losses < 1 / ALIKE_RATIOS:
        return "more than all", (
            f"The flat roof alone would cut off more, a factor of {flat}. But AXPY reaches a "
            f"smaller share of the roof of its own mix than GEMM reaches of the flat one. {later}"
        )
    return "cut off", "The flat roof has cut it off."


def _above_a_roof(
    slow: float, fast: float, axpy: Operation, here: Machine
) -> tuple[str, str] | None:
    """Case and sentence where AXPY (``slow``) or GEMM (``fast``) is above its roof, else None."""
    cache = largest_cache(here)
    busier = f"or the roof was measured in a busier moment. {AGAIN}"
    if fast > ABOVE:
        both = f" And AXPY is at {percent(slow)} of its own." if slow > ABOVE else ""
        return "above the roof", (
            f"GEMM ran {plain(fast, 2)} times as fast as the flat roof allows. Nothing passes its "
            "own roof, so this is not GEMM's. The library may use a matrix unit, a circuit that "
            f"does nothing but products of matrices, {busier}{both}"
        )
    if slow > ABOVE and cache >= axpy.bytes / 3:  # as large as the vector that it writes
        return "unwritten", (
            f"AXPY ran {plain(slow, 3)} times as fast as memory carries. A cache of this machine "
            f"has {si(cache, 'B')}, room enough for all results. What still lies there when the "
            "clock stops has not yet been written back, and an operand that lies there need not be "
            "fetched."
        )
    if slow > ABOVE:
        return "above the roof", (
            f"AXPY ran {plain(slow, 3)} times as fast as memory carries, and no cache that the "
            "system tells of has room for its results. So the roof was measured in a busier "
            f"moment. {AGAIN}"
        )
    return None


def roofs(axpy: Measurement, gemm: Measurement, here: Machine) -> Conclusion:
    """The ratio at the roofs of ``here`` beside the measured one, and which operation loses."""
    by_roofs = _ratio_at_the_roofs(axpy.op, gemm.op, here)
    slow, fast = _share(axpy, here), _share(gemm, here)
    said = (
        f"At the roofs **{plain(by_roofs, 3)} times**, measured "
        f"**{plain(gemm.flop_per_s / axpy.flop_per_s, 3)} times**. AXPY reached {percent(slow)} of "
        f"the roof of its own mix, and GEMM {percent(fast)} of the flat roof."
    )
    case, text = _above_a_roof(slow, fast, axpy.op, here) or _loser(slow, fast)
    if min(slow, fast) < LOW_SHARE:
        text += " *Deeper: why not exactly?* takes each of them apart."
    return Conclusion(case, f"{said} {text}" + cautions(axpy, gemm))


def _loser(slow: float, fast: float) -> tuple[str, str]:
    """Case and sentence from the shares of their roofs that AXPY (slow) and GEMM (fast) reach."""
    if fast > ALIKE_RATIOS * slow:
        return "axpy loses", (
            "AXPY reaches a smaller share of its roof than GEMM, so the measured ratio is the "
            "larger one. The ratio at the roofs is no limit."
        )
    if slow > ALIKE_RATIOS * fast:
        return "gemm loses", (
            "GEMM reaches a smaller share of its roof than AXPY, so the measured ratio is the "
            "smaller one."
        )
    return "alike", "Both reach about the same share of their roofs, and so the two ratios agree."


def elsewhere(axpy: Operation, gemm: Operation, here: Machine, other: Roofline) -> Conclusion:
    """How the ratio at the roofs of ``here`` compares with that under ``other``, a datasheet's."""
    mine = _ratio_at_the_roofs(axpy, gemm, here)
    theirs = other.ridge / axpy.intensity
    name = other.machine.name
    said = f"At the roofs of your core it is {plain(mine, 3)} times, at those of the {name}"
    if theirs > 1.25 * mine:
        reason = "Its peak is higher compared with its bandwidth, and that leaves more room."
        return Conclusion("more room", f"{said} **{plain(theirs, 3)} times**. {reason}")
    if theirs >= 0.8 * mine:
        reason = "It is faster in everything, but its peak and its bandwidth stand in nearly the "
        return Conclusion("alike", f"{said} **{plain(theirs, 3)} times**. {reason}same ratio.")
    reason = "Your core has the higher peak, if you compare each with its own bandwidth."
    return Conclusion("less room", f"{said} **{plain(theirs, 3)} times**. {reason}")


def small(large: Measurement, few: Measurement, here: Machine) -> Conclusion:
    """What short vectors change: AXPY on a ``few`` numbers in a cache beside a ``large`` one."""
    factor, working_set = few.flop_per_s / large.flop_per_s, few.op.working_set
    where = next((n for n in here.levels if working_set <= here.capacities.get(n, 0)), "dram")
    place = {
        "l1": "in the cache nearest to the core", "l2": "in the second of its caches",
        "l3": "in the last of its caches", "dram": "in no cache of which we know",
    }[where]  # fmt: skip
    said = f"These vectors have {si(working_set, 'B')} together, and fit {place}."
    if factor > ALIKE_RATIOS:
        text = (
            f"{said} AXPY ran {plain(factor, 2)} times as fast as from memory, and so the "
            "ratio of GEMM to AXPY is smaller. The counts have not changed, only the place of the "
            "data."
        )
        return Conclusion("faster", text + cautions(large, few))
    if factor >= 1 / ALIKE_RATIOS:
        text = (
            f"{said} AXPY is about as fast as from memory all the same. What the cache saves, the "
            f"call costs again: all of it took {si(few.median_s, 's')}."
        )
        return Conclusion("alike", text + cautions(large, few))
    text = (
        f"{said} AXPY was {plain(1 / factor, 2)} times *slower* than on long vectors. What you "
        f"timed is the cost of a call: all of it took {si(few.median_s, 's')}."
    )
    return Conclusion("slower", text + cautions(large, few))


def _ratio_at_the_roofs(axpy: Operation, gemm: Operation, here: Machine) -> float:
    """Peak of the unit that GEMM runs on ÷ (AXPY's intensity × bandwidth of AXPY's own mix)."""
    peak, _ = peak_of(gemm, here)
    return peak / (axpy.intensity * here.bandwidth(mix=mix_of(axpy, here, "dram")))


def _share(one: Measurement, here: Machine) -> float:
    """Share of its roof, from memory and with its own mix, that ``one`` reached."""
    peak, _ = peak_of(one.op, here)
    bandwidth = here.bandwidth(mix=mix_of(one.op, here, "dram"))
    return max(one.op.flops / peak, one.op.bytes / bandwidth) / one.median_s


CONCLUSIONS: Mapping[str, Callable[..., Conclusion]] = MappingProxyType(
    {"01-ratio": ratio, "01-roofs": roofs, "01-elsewhere": elsewhere, "01-small": small}
)

"""Conclusions of lesson 01, three operations: how far apart AXPY and GEMM are, and by whose doing.

At the roofs GEMM is ridge ÷ intensity of AXPY times as fast, with the bandwidth that this memory
has for AXPY's own mix of two reads to a write. The measured ratio is that times the share of its
roof that GEMM reaches, divided by the share that AXPY reaches: it may be smaller or larger.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from rooflab.conclusions import Conclusion, cautions
from rooflab.count.operation import Operation
from rooflab.count.si import percent, plain, si
from rooflab.measure.measurement import Measurement
from rooflab.predict.estimate import mix_of, peak_of
from rooflab.predict.machine import Machine
from rooflab.predict.roofline import Roofline

ABOVE = 1.1  # times a roof: more than the noise with which the roof itself was measured
OFTEN = 1.5  # what two good routines may lose beside each other without another word
FAR = 0.8  # of a roof: below it a routine's distance from the roof wants a reason
ALIKE = 1.15  # two ratios of times, each of which is good to a few per cent
AGAIN = "`rl.this_machine(threads=1, refresh=True)` measures it again."


def ratio(axpy: Measurement, gemm: Measurement, here: Machine) -> Conclusion:
    """How many times AXPY's speed GEMM reached, and what the roofs of ``here`` cut off."""
    intensities = gemm.op.intensity / axpy.op.intensity
    speeds = gemm.flop_per_s / axpy.flop_per_s
    peak, _ = peak_of(gemm.op, here)
    said = (
        f"**{plain(intensities)} times the intensity, {plain(speeds, 3)} times the speed.** A "
        f"factor of {plain(intensities / speeds, 3)} is missing."
    )
    if gemm.flop_per_s > ABOVE * peak:
        text = (
            f"{said} And something is odd: GEMM ran {plain(gemm.flop_per_s / peak, 2)} times as "
            "fast as the flat roof allows. Nothing passes its own roof, so this is not GEMM's. The "
            "library may use a matrix unit, a circuit that does nothing but products of matrices, "
            f"or the roof was measured in a busier moment. {AGAIN}"
        )
        return Conclusion("above the roof", text + cautions(axpy, gemm))
    unit = here.has_peak(gemm.op.compute_dtype, "tensor")
    if unit and here.has_peak(gemm.op.compute_dtype, "vector"):
        ordinary = here.peak(gemm.op.compute_dtype, "vector")
        text = (
            f"{said} Here the library hands products of matrices to a *matrix unit*, a circuit "
            f"that does nothing else. Its flat roof is {plain(peak / ordinary, 2)} times as high "
            "as that of the ordinary instructions, and the rest is cut off there."
        )
        return Conclusion("matrix unit", text + cautions(axpy, gemm))
    by_roofs = _ratio_at_the_roofs(axpy.op, gemm.op, here)
    case, text = _cut_off(intensities / by_roofs, by_roofs / speeds)
    return Conclusion(case, f"{said} {text}" + cautions(axpy, gemm))


def _cut_off(roof: float, losses: float) -> tuple[str, str]:
    """Case and sentence: which part of the missing factor the roofs alone explain.

    ``roof``: the factor that the flat roof cuts off; ``losses``: what GEMM loses below its roof,
    divided by what AXPY loses below the roof of its own mix. Their product is what is missing.
    """
    below = "Farther down you will tell one from the other."
    if losses > OFTEN:
        return "gemm loses", (
            "The flat roof has cut off the larger part, and GEMM stays far below even that roof. "
            f"{below}"
        )
    if losses < 1 / OFTEN:
        return "axpy loses", (
            "The flat roof cuts off even more, but AXPY stays far below a roof of its own. That "
            f"makes GEMM look better. {below}"
        )
    if losses > ALIKE:
        return "mostly", (
            f"The flat roof has cut off most of it, a factor of {plain(roof, 3)}. The rest is that "
            "GEMM stays farther below its roof than AXPY below the roof of its own mix. "
            f"{below}"
        )
    if losses < 1 / ALIKE:
        return "more than all", (
            f"The flat roof alone would cut off more, a factor of {plain(roof, 3)}. But AXPY stays "
            f"farther below the roof of its own mix than GEMM below the flat one. {below}"
        )
    return "cut off", "The flat roof has cut it off."


def roofs(axpy: Measurement, gemm: Measurement, here: Machine) -> Conclusion:
    """The ratio at the roofs of ``here`` beside the measured one, and which operation loses."""
    by_roofs = _ratio_at_the_roofs(axpy.op, gemm.op, here)
    slow, fast = _share(axpy, here), _share(gemm, here)
    said = (
        f"At the roofs **{plain(by_roofs, 3)} times**, measured "
        f"**{plain(gemm.flop_per_s / axpy.flop_per_s, 3)} times**. AXPY reached {percent(slow)} of "
        f"the roof of its own mix, and GEMM {percent(fast)} of the flat roof."
    )
    case, text = _verdict(slow, fast, axpy, here)
    if min(slow, fast) < FAR:
        text += " *Deeper: why not exactly?* takes each of them apart."
    return Conclusion(case, f"{said} {text}" + cautions(axpy, gemm))


def _verdict(slow: float, fast: float, axpy: Measurement, here: Machine) -> tuple[str, str]:
    """Case and sentence from the shares of their roofs that AXPY (slow) and GEMM (fast) reach."""
    cache = max((size for where, size in here.capacities.items() if where != "dram"), default=0)
    if slow > ABOVE and cache >= axpy.op.bytes / 3:  # as large as the vector that it writes
        return "unwritten", (
            "More than the roof is more than memory carries. A cache of this machine has "
            f"{si(cache, 'B')}, room enough for all results, and those that still lie there had "
            "not yet been written back when the clock stopped."
        )
    if max(slow, fast) > ABOVE:
        name = "AXPY" if slow > fast else "GEMM"
        return "above the roof", (
            f"{name} lies above its roof, which nothing can. Then the roof was measured in a "
            f"busier moment, or by other means than the library has. {AGAIN}"
        )
    if fast > ALIKE * slow:
        return "axpy loses", (
            "AXPY stays farther below its roof than GEMM, so the measured ratio is the larger one. "
            "The ratio at the roofs is no limit."
        )
    if slow > ALIKE * fast:
        return "gemm loses", (
            "GEMM stays farther below its roof than AXPY, so the measured ratio is the smaller one."
        )
    return "alike", (
        "Both keep about the same distance from their roofs. So the two ratios agree, though only "
        "one of them needed a clock."
    )


def elsewhere(axpy: Operation, gemm: Operation, here: Machine, other: Roofline) -> Conclusion:
    """How the ratio at the roofs of ``here`` compares with that under ``other``, a datasheet's."""
    mine = _ratio_at_the_roofs(axpy, gemm, here)
    theirs = other.ridge / axpy.intensity
    name = other.machine.name
    said = f"At the roofs of your core it is {plain(mine, 3)} times, at those of the {name}"
    if theirs > 1.25 * mine:
        reason = "Its peak is higher beside its bandwidth, and that leaves more room."
        return Conclusion("more room", f"{said} **{plain(theirs, 3)} times**. {reason}")
    if theirs >= 0.8 * mine:
        reason = "It is faster in everything, but its peak and its bandwidth stand in nearly the "
        return Conclusion("alike", f"{said} **{plain(theirs, 3)} times**. {reason}same ratio.")
    reason = "Your core has the higher peak, if you compare each with its own bandwidth."
    return Conclusion("less room", f"{said} **{plain(theirs, 3)} times**. {reason}")


def small(large: Measurement, few: Measurement, here: Machine) -> Conclusion:
    """What short vectors change: AXPY on a ``few`` numbers in a cache beside a ``large`` one."""
    factor, kept = few.flop_per_s / large.flop_per_s, few.op.working_set
    where = next((n for n in here.levels if kept <= here.capacities.get(n, 0)), "dram")
    place = {
        "l1": "in the cache nearest to the core", "l2": "in the second of its caches",
        "l3": "in the last of its caches", "dram": "in no cache of which we know",
    }[where]  # fmt: skip
    said = f"These vectors have {si(kept, 'B')} together, and fit {place}."
    if factor > ALIKE:
        text = (
            f"{said} AXPY ran {plain(factor, 2)} times as fast as from memory, and so GEMM's lead "
            "is smaller. The counts have not changed, only the place of the data."
        )
        return Conclusion("faster", text + cautions(large, few))
    if factor >= 1 / ALIKE:
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


CONCLUSIONS: Mapping[str, Callable[..., Conclusion]] = MappingProxyType({
    "01-ratio": ratio, "01-roofs": roofs, "01-elsewhere": elsewhere, "01-small": small,
})  # fmt: skip

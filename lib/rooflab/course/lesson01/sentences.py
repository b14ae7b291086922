"""Sentences of lesson 01, three operations: how far apart AXPY and GEMM are, and by whose doing.

Were both at their roofs, GEMM would be ridge ÷ (intensity of AXPY) times as fast as AXPY. The ridge
is that of the bandwidth for AXPY's own mix, two reads to a write. Each reaches a share of its roof,
so the measured ratio is that one × GEMM's share ÷ AXPY's share. It may be smaller or larger.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from rooflab.count.operation import Operation
from rooflab.exercises.sentences import Conclusion, Rows, choose, largest_cache
from rooflab.measure.measurement import Measurement
from rooflab.predict.estimate import mix_of, peak_of
from rooflab.predict.machine import Machine
from rooflab.predict.roofline import Roofline

ABOVE = 1.1  # times a roof: more than the noise with which the roof itself was measured
FAR_BELOW = 1.5  # one share of a roof over another: no two good routines differ so much
LOW_SHARE = 0.8  # of a roof: below it a routine's distance from the roof wants a reason
ALIKE_RATIOS = 1.15  # two ratios of times, each of which is good to a few per cent
ALIKE_ROOFS = 1.25  # two ratios of roofs within this factor are called alike
AGAIN = "`rl.this_machine(threads=1, refresh=True)` measures it again."
LATER = "Further down you will see which is which."

# Shares of their roofs: ``slow`` is AXPY's, ``fast`` GEMM's.
ABOVE_A_ROOF: Rows = (
    ("above the roof", lambda fast: fast > ABOVE,
     "GEMM ran {fast:2} times as fast as the flat roof allows. Nothing passes its own roof, so "
     "this is not GEMM's. The library may use a matrix unit, a circuit that does nothing but "
     f"products of matrices, or the roof was measured in a busier moment. {AGAIN}"),
    ("unwritten", lambda slow, fast, room: fast <= ABOVE < slow and room,
     "AXPY ran {slow:3} times as fast as memory carries. A cache of this machine has {cache:B}, "
     "room enough for all results. What still lies there when the clock stops has not yet been "
     "written back, and an operand that lies there need not be fetched."),
    ("above the roof", lambda slow, fast, room: fast <= ABOVE < slow and not room,
     "AXPY ran {slow:3} times as fast as memory carries, and no cache that the system reports has "
     f"room for its results. So the roof was measured in a busier moment. {AGAIN}"),
)
BOTH_ABOVE: Rows = (
    ("", lambda slow, fast: slow > ABOVE and fast > ABOVE,
     "And AXPY is at {slow:percent} of its own."),
)
MISSING = (
    "**{intensities:4} times the intensity, {speeds:3} times the speed.** A factor of {missing:3} "
    "is missing."
)
MATRIX_UNIT: Rows = (
    ("", lambda higher: higher,
     "Here the library hands products of matrices to a *matrix unit*, a circuit that does nothing "
     "else. Its flat roof is {higher:2} times as high as the roof of the ordinary instructions."),
)
# Their product is what is missing: ``cut``, the factor that the flat roof cuts off, and
# ``losses``, what GEMM loses below it by what AXPY loses below the roof of its own mix.
CUT_OFF: Rows = (
    ("gemm loses", lambda losses: losses > FAR_BELOW,
     "The flat roof cuts off a factor of {cut:3}, and GEMM stays far below even that roof. "
     f"{LATER}"),
    ("mostly", lambda losses: ALIKE_RATIOS < losses <= FAR_BELOW,
     "The flat roof has cut off most of it, a factor of {cut:3}. The rest is that GEMM reaches a "
     f"smaller share of its roof than AXPY reaches of the roof of its own mix. {LATER}"),
    ("cut off", lambda losses: 1 / ALIKE_RATIOS <= losses <= ALIKE_RATIOS,
     "The flat roof has cut it off."),
    ("more than all", lambda losses: 1 / FAR_BELOW <= losses < 1 / ALIKE_RATIOS,
     "The flat roof alone would cut off more, a factor of {cut:3}. But AXPY reaches a smaller "
     f"share of the roof of its own mix than GEMM reaches of the flat one. {LATER}"),
    ("axpy loses", lambda losses: losses < 1 / FAR_BELOW,
     "The flat roof cuts off even more, a factor of {cut:3}. But AXPY stays far below a roof of "
     f"its own, and that makes GEMM look better. {LATER}"),
)


def ratio(axpy: Measurement, gemm: Measurement, here: Machine) -> Conclusion:
    """How many times AXPY's speed GEMM reached, and what the roofs of ``here`` cut off."""
    slow, fast = _share(axpy, here), _share(gemm, here)
    speeds, intensities = gemm.flop_per_s / axpy.flop_per_s, gemm.op.intensity / axpy.op.intensity
    dtype, higher = gemm.op.compute_dtype, 0.0
    if here.has_peak(dtype, "tensor") and here.has_peak(dtype, "vector"):
        higher = here.peak(dtype, "tensor") / here.peak(dtype, "vector")
    odd = ("And something is odd.", ABOVE_A_ROOF, BOTH_ABOVE)
    return choose(
        MISSING, *(odd if max(slow, fast) > ABOVE else (MATRIX_UNIT, CUT_OFF)), of=(axpy, gemm),
        slow=slow, fast=fast, losses=slow / fast, intensities=intensities, speeds=speeds,
        missing=intensities / speeds, cut=intensities / _ratio_at_the_roofs(axpy.op, gemm.op, here),
        higher=higher, **_room(axpy.op, here),
    )


def _room(axpy: Operation, here: Machine) -> dict[str, object]:
    """The largest cache of ``here``, and whether it has room for the vector that AXPY writes."""
    cache = largest_cache(here)
    return {"cache": cache, "room": cache >= axpy.bytes / 3}


AT_THE_ROOFS = (
    "At the roofs **{by_roofs:3} times**, measured **{speeds:3} times**. AXPY reached "
    "{slow:percent} of the roof of its own mix, and GEMM {fast:percent} of the flat roof."
)
LOSER: Rows = (
    ("axpy loses", lambda slow, fast: fast > ALIKE_RATIOS * slow,
     "AXPY reaches a smaller share of its roof than GEMM, so the measured ratio is the larger one. "
     "The ratio at the roofs is no limit."),
    ("gemm loses", lambda slow, fast: slow > ALIKE_RATIOS * fast,
     "GEMM reaches a smaller share of its roof than AXPY, so the measured ratio is the smaller "
     "one."),
    ("alike", None,
     "Both reach about the same share of their roofs, and so the two ratios agree."),
)
DEEPER: Rows = (
    ("", lambda slow, fast: min(slow, fast) < LOW_SHARE,
     "*Deeper: why not exactly?* takes each of them apart."),
)


def roofs(axpy: Measurement, gemm: Measurement, here: Machine) -> Conclusion:
    """The ratio at the roofs of ``here`` beside the measured one, and which operation loses."""
    slow, fast = _share(axpy, here), _share(gemm, here)
    odd = (ABOVE_A_ROOF, BOTH_ABOVE)
    return choose(
        AT_THE_ROOFS, *(odd if max(slow, fast) > ABOVE else (LOSER,)), DEEPER, of=(axpy, gemm),
        slow=slow, fast=fast, speeds=gemm.flop_per_s / axpy.flop_per_s,
        by_roofs=_ratio_at_the_roofs(axpy.op, gemm.op, here), **_room(axpy.op, here),
    )


AT_BOTH_ROOFS = (
    "At the roofs of your core it is {mine:3} times, at those of the {name} **{theirs:3} times**."
)
ELSEWHERE: Rows = (
    ("more room", lambda mine, theirs: theirs > ALIKE_ROOFS * mine,
     "Its peak is higher compared with its bandwidth, and that leaves more room."),
    ("alike", lambda mine, theirs: mine / ALIKE_ROOFS <= theirs <= ALIKE_ROOFS * mine,
     "Its peak and its bandwidth stand in nearly the same ratio as yours, however fast it is."),
    ("less room", lambda mine, theirs: theirs < mine / ALIKE_ROOFS,
     "Your core has the higher peak, if you compare each with its own bandwidth."),
)


def elsewhere(axpy: Operation, gemm: Operation, here: Machine, other: Roofline) -> Conclusion:
    """How the ratio at the roofs of ``here`` compares with that under ``other``, a datasheet's."""
    return choose(
        AT_BOTH_ROOFS, ELSEWHERE, mine=_ratio_at_the_roofs(axpy, gemm, here),
        theirs=other.ridge / axpy.intensity, name=other.machine.name,
    )


FITS = "These vectors have {size:B} together, and fit {place}."
PLACE = {
    "l1": "in the cache nearest to the core", "l2": "in the second of its caches",
    "l3": "in the last of its caches", "dram": "in no cache that we know of",
}
SMALL: Rows = (
    ("faster", lambda speedup: speedup > ALIKE_RATIOS,
     "AXPY ran {speedup:2} times as fast as from memory, and so the ratio of GEMM to AXPY is "
     "smaller. The counts have not changed, only the place of the data."),
    ("alike", lambda speedup: 1 / ALIKE_RATIOS <= speedup <= ALIKE_RATIOS,
     "AXPY is about as fast as from memory all the same. What the cache saves, the call costs "
     "again: all of it took {call:s}."),
    ("slower", lambda speedup: speedup < 1 / ALIKE_RATIOS,
     "AXPY was {slowdown:2} times *slower* than on long vectors. What you timed is the cost of a "
     "call: all of it took {call:s}."),
)


def small(large: Measurement, few: Measurement, here: Machine) -> Conclusion:
    """What short vectors change: AXPY on a ``few`` numbers in a cache beside a ``large`` one."""
    speedup, size = few.flop_per_s / large.flop_per_s, few.op.working_set
    where = next((n for n in here.levels if size <= here.capacities.get(n, 0)), "dram")
    return choose(
        FITS, SMALL, of=(large, few), size=size, place=PLACE[where], speedup=speedup,
        slowdown=1 / speedup, call=few.median_s,
    )


def _ratio_at_the_roofs(axpy: Operation, gemm: Operation, here: Machine) -> float:
    """Peak of the unit that GEMM runs on ÷ (AXPY's intensity × bandwidth of AXPY's own mix)."""
    peak, _ = peak_of(gemm, here)
    return peak / (axpy.intensity * here.bandwidth(mix=mix_of(axpy, here, "dram")))


def _share(one: Measurement, here: Machine) -> float:
    """Share of its roof, from memory and with its own mix, that ``one`` reached."""
    peak, _ = peak_of(one.op, here)
    bandwidth = here.bandwidth(mix=mix_of(one.op, here, "dram"))
    return max(one.op.flops / peak, one.op.bytes / bandwidth) / one.median_s


CONCLUSIONS: Mapping[str, Callable[..., Conclusion]] = {
    "01-ratio": ratio, "01-roofs": roofs, "01-elsewhere": elsewhere, "01-small": small,
}

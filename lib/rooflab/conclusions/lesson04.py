"""Lesson 04: what a layer's clock and its roofs say, on the machine that was measured."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import takewhile

from rooflab.conclusions import Conclusion
from rooflab.count.operation import Operation
from rooflab.count.si import plain
from rooflab.measure.measurement import Measurement
from rooflab.predict.roofline import Roofline

NEAR = 1.6  # a routine within this factor of its bound is called near it
FAR = 2.5  # no routine is as far from its bound with every number of tokens
ALIKE = 1.25  # two times within this factor are called alike

TOO_LOW = (
    "your clock is faster than the bound, and no program can beat a bound that is right. So a roof "
    "is too low: it was measured in a busier moment, or the library computes in a matrix unit that "
    "the roof does not know. Measure again with `rl.this_machine(threads=1, refresh=True)`."
)


def second_token(walk: Mapping[int, Measurement]) -> Conclusion:
    """What the second token costs, and the next. ``walk``: tokens → measurement, 1 and 2 too."""
    ratio = walk[2].median_s / walk[1].median_s
    said = f"Here two tokens take {_times(ratio)} as long as one"
    if ratio < ALIKE:
        case, text = "free", f"{said}. The second one is as good as free, as the roof says."
    elif ratio < 2.2:
        case = "paid"
        text = (
            f"{said}, although hardly a byte more has to travel. Your library pays a price for the "
            "second vector, and no roof knows of it."
        )
    else:
        case = "jump"
        text = (
            f"{said}: more than twice. The library does one vector with one routine, GEMV, and "
            "several with another one, GEMM. The second pays a price before it starts. No roof "
            "knows of that."
        )
    later = (tokens for tokens in sorted(walk) if tokens > 2)
    alike = list(takewhile(lambda tokens: walk[tokens].median_s < ALIKE * walk[2].median_s, later))
    if case != "free" and alike:
        text += (
            f" The tokens after the second are nearly free on this core: {alike[-1]} take "
            f"{_times(walk[alike[-1]].median_s / walk[2].median_s)} as long as two."
        )
    return Conclusion(case, text + doubt(walk[1], walk[2]))


def sides(core: tuple[Operation, Roofline], other: tuple[Operation, Roofline]) -> Conclusion:
    """On which side of its ridge a product of 64 tokens lies: on this core, and on the H200."""
    limits = [roof.limit(op) for op, roof in (core, other)]
    texts = {
        (
            "compute",
            "memory",
        ): "On this core 64 tokens are right of the ridge, limited by computing. "
        "On the H200 they are left of it. There time is bytes: 2 per cent more bytes, 2 per cent "
        "more time.",
        ("memory", "memory"): "They are left of both ridges. On this core, too, the roof gives 64 "
        "tokens little more than the time of one. What your clock says beyond that is the library.",
        ("compute", "compute"): "They are right of both ridges: both machines are busy computing.",
        (
            "memory",
            "compute",
        ): "On the H200 64 tokens are right of the ridge, limited by computing. "
        "On this core they are left of it, and there time is bytes.",
    }
    return Conclusion(", ".join(limits), texts[limits[0], limits[1]])


def gaps(walk: Mapping[int, Measurement], bounds: Mapping[int, float]) -> Conclusion:
    """How far a layer is from its bound. By tokens: measurements, and bounds in seconds."""
    over = {tokens: one.median_s / bounds[tokens] for tokens, one in walk.items()}
    above = [tokens for tokens, ratio in over.items() if ratio < 0.95]
    worst = max(over, key=over.__getitem__)
    first, last = over[min(over)], over[max(over)]
    if above:
        case, text = "above", f"With {_listed(above)} tokens {TOO_LOW}"
    elif over[worst] <= NEAR:
        case = "near"
        text = (
            "Your library comes near its bound with every number of tokens. The longest, with "
            f"{worst}, takes {_times(over[worst])} its bound."
        )
    elif min(over.values()) > FAR:
        nearest = min(over, key=over.__getitem__)
        case = "busy"
        text = (
            f"Nearest to its bound is the walk at {nearest}, and even there it takes "
            f"{_times(over[nearest])} as long. So it is not the shape of the products. Something "
            "else kept the computer busy; close it, and measure again."
        )
    elif over[worst] > ALIKE * max(first, last):
        case = "middle"
        text = (
            f"A single token takes {_times(first)} its bound, {max(over)} tokens {_times(last)}. "
            f"Between them the library does worse, {_times(over[worst])} its bound with {worst} "
            "tokens: the product is too thin for a routine that was made for large ones."
        )
    else:
        which = "a single token" if first >= last else f"{max(over)} tokens"
        case, text = "end", f"Furthest from the bound is {which}: {_times(over[worst])} its time."
    return Conclusion(case, text + doubt(*walk.values()))


def beyond_the_knee(walk: Mapping[int, Measurement], roof: Roofline) -> Conclusion:
    """Whether tokens go on getting cheaper beyond the knee. ``walk``: tokens → measurement."""
    right = [tokens for tokens, one in sorted(walk.items()) if roof.limit(one.op) == "compute"]
    if len(right) < 2:
        return Conclusion(
            "not reached",
            f"The walk ends at {max(walk)} tokens, and the knee of this core lies there or beyond. "
            "Up to the knee company helps.",
        )
    first, last = right[0], right[-1]
    cheaper = (walk[first].median_s / first) / (walk[last].median_s / last)
    if cheaper > ALIKE:
        case = "goes on"
        text = (
            f"They go on falling beyond the knee: with {last} tokens each costs "
            f"{100 / cheaper:.0f} % of what it costs with {first}. They began further from the "
            "roof than they end; *Deeper: predict another layer* says why."
        )
    elif cheaper < 1 / ALIKE:
        case = "rises"
        text = (
            f"They rise beyond the knee: with {last} tokens each costs {_times(1 / cheaper)} what "
            f"it costs with {first}. No roof says so. Was the computer busy?"
        )
    else:
        case = "flat"
        text = (
            f"They agree: from {first} tokens to {last} the price of a token stays the same to a "
            "quarter."
        )
    return Conclusion(case, text + doubt(walk[first], walk[last]))


def thin_sides(ops: Sequence[Operation], roof: Roofline) -> Conclusion:
    """On which side of the ridge products of equally many FLOPs lie, the first of them a cube."""
    left = [op for op in ops if roof.limit(op) == "memory"]
    ridge = f"The ridge of this core is at {plain(roof.ridge, 3)} FLOP/byte."
    if not left:
        return Conclusion(
            "all right of it",
            f"{ridge} All four lie right of it, so the roof gives them the same time: as many "
            "FLOPs, the same peak.",
        )
    if ops[0] in left:
        return Conclusion(
            "cube left of it", f"{ridge} Even the cube lies left of it: time is bytes."
        )
    slower = max(roof.time(op) for op in left) / roof.time(ops[0])
    return Conclusion(
        "thin left of it",
        f"{ridge} The thin ones lie left of it: the roof gives them {_times(slower)} the time of "
        "the cube, because they wait for bytes.",
    )


def thin(cube: Measurement, sheet: Measurement, roof: Roofline) -> Conclusion:
    """Why a thin product took as long as it did beside a cube of as many FLOPs."""
    clock, said = sheet.median_s / cube.median_s, roof.time(sheet.op) / roof.time(cube.op)
    pair = (
        f"By the clock the third one takes {_times(clock)} as long as the cube, by the roof "
        f"{_times(said)}."
    )
    if clock > 1.3 * said:
        case = "library"
        text = (
            f"{pair} What the roof does not know is the routine. A GEMM copies its operands into "
            "small blocks first, in the order in which it will need them. In a cube each copied "
            "number is used a thousand times. In the third product each of 67 million weights is "
            "copied and then used sixteen times: the copy is a good part of the work."
        )
    elif clock < said / 1.3:
        case, text = "faster", f"{pair} So the cube is further from its roof than the thin one."
    else:
        case, text = "roof", f"{pair} They agree: your library does this shape as well as the cube."
    return Conclusion(case, text + doubt(cube, sheet))


def padding(bare: Measurement, padded: Measurement) -> Conclusion:
    """Whether padding paid: a product as it is, and with its edges filled up."""
    ratio = padded.median_s / bare.median_s
    spread = (bare.iqr_s / bare.median_s + padded.iqr_s / padded.median_s) / 2
    said = f"The padded product takes {_times(ratio)} as long"
    if abs(ratio - 1) <= max(0.05, spread):
        case, text = "neither", f"{said}, which is no more than the samples differ by: no verdict."
    elif ratio > 1:
        case, text = "loses", f"{said}: here padding loses."
    else:
        case, text = "pays", f"{said}: here padding pays."
    return Conclusion(case, text + doubt(bare, padded))


def doubt(*measured: Measurement) -> str:
    """A sentence to add where one of the measurements carries a warning, else nothing."""
    if not any(one.warnings for one in measured):
        return ""
    return " A measurement behind this carries a warning: measure again before you believe it."


def _listed(numbers: Sequence[int]) -> str:
    *most, last = map(str, numbers)
    return f"{', '.join(most)} and {last}" if most else last


def _times(factor: float) -> str:
    return f"{plain(factor, 3)} times"


CONCLUSIONS: Mapping[str, Callable[..., Conclusion]] = {
    "04-second-token": second_token,
    "04-sides": sides,
    "04-gaps": gaps,
    "04-beyond": beyond_the_knee,
    "04-thin-sides": thin_sides,
    "04-thin": thin,
    "04-padding": padding,
}

"""Lesson 04: what a layer's clock and its roofs say, on the machine that was measured."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from rooflab.conclusions import Conclusion
from rooflab.count.operation import Operation
from rooflab.count.si import plain
from rooflab.measure.measurement import Measurement
from rooflab.predict.roofline import Roofline

NEAR = 1.6  # a routine within this factor of its bound is called near it
APART = 1.25  # two figures within this factor are called alike


def second_token(walk: Mapping[int, Measurement]) -> Conclusion:
    """What the second token costs. ``walk``: tokens → measurement, 1 and 2 among them."""
    ratio = walk[2].median_s / walk[1].median_s
    if ratio < APART:
        return Conclusion(
            "free",
            f"Here two tokens take {_times(ratio)} as long as one. The second one is as good as "
            "free, as the roof says.",
        )
    if ratio < 2.2:
        return Conclusion(
            "paid",
            f"Here two tokens take {_times(ratio)} as long as one, although hardly a byte more has "
            "to travel. The library does not serve two vectors with one trip of the weights, or it "
            "pays something else for it. No roof knows of that.",
        )
    return Conclusion(
        "jump",
        f"Here two tokens take {_times(ratio)} as long as one: more than twice. The library does "
        "one vector with one routine, GEMV, and several with another one, GEMM. The second pays a "
        "price before it starts. No roof knows of that.",
    )


def sides(core: tuple[Operation, Roofline], other: tuple[Operation, Roofline]) -> Conclusion:
    """On which side of its ridge a product lies, on two machines: (operation, roof) of each."""
    limits = [roof.limit(op) for op, roof in (core, other)]
    names = [roof.machine.name for _, roof in (core, other)]
    case = f"{limits[0]}, {limits[1]}"
    if limits == ["compute", "memory"]:
        text = (
            f"On {names[0]} they are right of the ridge, limited by computing. On {names[1]} they "
            "are left of it. There time is bytes: 2 per cent more bytes, 2 per cent more time."
        )
    elif limits == ["memory", "memory"]:
        text = (
            f"They are left of both ridges. On {names[0]} as on {names[1]} the roof gives 64 tokens "
            "for little more than the time of one. What your clock says beyond that is the "
            "library."
        )
    elif limits == ["compute", "compute"]:
        text = "They are right of both ridges: both machines are busy computing."
    else:
        text = (
            f"On {names[1]} they are right of the ridge, limited by computing. On {names[0]} they "
            "are left of it, and there time is bytes."
        )
    return Conclusion(case, text)


def gaps(over: Mapping[int, float]) -> Conclusion:
    """How far a layer is from its bound. ``over``: tokens → measured time ÷ bound."""
    above = [tokens for tokens, ratio in over.items() if ratio < 0.95]
    worst = max(over, key=over.__getitem__)
    first, last = over[min(over)], over[max(over)]
    if above:
        return Conclusion(
            "above",
            f"With {_listed(above)} tokens your clock is faster than the bound, and no program can "
            "beat a bound that is right. So a roof is too low: it was measured in a busier moment, "
            "or the library computes in a matrix unit that the roof does not know. Measure again "
            "with `rl.this_machine(threads=1, refresh=True)`.",
        )
    if over[worst] <= NEAR:
        return Conclusion(
            "near",
            f"Your library comes near its bound with every number of tokens. The longest, with "
            f"{worst}, takes {_times(over[worst])} its bound.",
        )
    if over[worst] > APART * max(first, last):
        return Conclusion(
            "middle",
            f"A single token takes {_times(first)} its bound, {max(over)} tokens {_times(last)}. "
            f"Between them the library does worse, {_times(over[worst])} its bound with {worst} "
            "tokens: the product is too thin for a routine that was made for large ones.",
        )
    which = "a single token" if first >= last else f"{max(over)} tokens"
    return Conclusion(
        "end",
        f"The longest way from the bound is that of {which}, {_times(over[worst])}. If a line has "
        "a warning, something else kept the computer busy; measure again before you believe it.",
    )


def beyond_the_knee(walk: Mapping[int, Measurement], roof: Roofline) -> Conclusion:
    """Whether tokens go on getting cheaper beyond the knee. ``walk``: tokens → measurement."""
    right = [tokens for tokens, one in sorted(walk.items()) if roof.limit(one.op) == "compute"]
    if len(right) < 2:
        return Conclusion(
            "not reached",
            f"The knee of this core lies beyond the {max(walk)} tokens that were measured, or just "
            "before them. Up to there company helps.",
        )
    first, last = right[0], right[-1]
    cheaper = (walk[first].median_s / first) / (walk[last].median_s / last)
    if cheaper > APART:
        return Conclusion(
            "goes on",
            f"Your squares go on falling beyond the knee: with {last} tokens each costs "
            f"{100 / cheaper:.0f} % of what it costs with {first}. They began further from the roof "
            "than they end; *Deeper: predict another layer* says why.",
        )
    return Conclusion(
        "flat",
        f"Your squares agree: from {first} tokens to {last} the price of a token stays the same "
        "to a quarter.",
    )


def thin_sides(ops: Sequence[Operation], roof: Roofline) -> Conclusion:
    """What the roof says of products of equally many FLOPs: all on one side of the ridge or not."""
    left = [op for op in ops if roof.limit(op) == "memory"]
    ridge = f"The ridge of this core is at {plain(roof.ridge, 3)} FLOP/byte."
    if not left:
        return Conclusion(
            "all right of it",
            f"{ridge} All four lie right of it, so the roof gives them the same time: as many "
            "FLOPs, the same peak.",
        )
    if len(left) == len(ops):
        return Conclusion("all left of it", f"{ridge} All four lie left of it: time is bytes.")
    slower = max(roof.time(op) for op in left) / min(roof.time(op) for op in ops)
    return Conclusion(
        "thin left of it",
        f"{ridge} The thin ones lie left of it: the roof gives them {_times(slower)} the time of "
        "the cube, because they wait for bytes.",
    )


def thin(cube: Measurement, sheet: Measurement, roof: Roofline) -> Conclusion:
    """Why a thin product took as long as it did beside a cube of as many FLOPs."""
    clock, said = sheet.median_s / cube.median_s, roof.time(sheet.op) / roof.time(cube.op)
    pair = f"By the clock it takes {_times(clock)} as long as the cube, by the roof {_times(said)}."
    if clock > 1.3 * said:
        return Conclusion(
            "library",
            f"{pair} The difference is not in the roof, it is in the routine. A GEMM copies its "
            "operands into small blocks first, in the order in which it will need them. In a cube "
            "each copied number is used a thousand times. In the third product each of 67 million "
            "weights is copied and then used sixteen times: the copy is a good part of the work.",
        )
    if clock < said / 1.3:
        return Conclusion(
            "faster",
            f"{pair} The cube is further from its roof than the thin product. Look for a warning "
            "in its line: was the computer busy?",
        )
    return Conclusion(
        "roof",
        f"{pair} They agree: your library does this thin shape as well as the cube.",
    )


def padding(ratio: float) -> Conclusion:
    """Whether padding paid. ``ratio``: seconds of the padded product ÷ those of the plain one."""
    if ratio > 1.05:
        return Conclusion(
            "loses", f"Here padding loses: the padded product takes {_times(ratio)} as long."
        )
    if ratio < 0.95:
        return Conclusion(
            "wins", f"Here padding pays: the padded product takes {_times(ratio)} as long."
        )
    return Conclusion(
        "neither",
        f"Here padding neither pays nor loses: the padded product takes {_times(ratio)} as long.",
    )


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

"""Lesson 04: what a layer's clock and its roofs say, on the machine that was measured."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import takewhile

from rooflab.conclusions import Conclusion, cautions, fold
from rooflab.count.operation import Operation
from rooflab.count.si import percent, plain
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
    said = f"Here two tokens take {fold(ratio)} as long as one"
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
            f"{fold(walk[alike[-1]].median_s / walk[2].median_s)} as long as two."
        )
    return Conclusion(case, text + cautions(walk[1], walk[2]))


def sides(core: tuple[Operation, Roofline], other: tuple[Operation, Roofline]) -> Conclusion:
    """On which side of its ridge a layer's product lies: on this core, and on another machine."""
    limits = tuple(roof.limit(op) for op, roof in (core, other))
    here, there = (_tokens(op) for op, _ in (core, other))
    name = other[1].machine.name
    if limits == ("compute", "compute"):
        text = (
            f"Here {here} right of the ridge of this core, and there {there} right of that of the "
            f"{name}. Both machines are busy computing."
        )
    elif limits == ("memory", "memory"):
        op, _ = core
        longer = op.bytes / max(operand.bytes for operand in op.operands)
        text = (
            f"Here {here} left of the ridge of this core, and there {there} left of that of the "
            f"{name}. So on this core, too, time is bytes: {fold(longer)} those of the largest "
            "matrix alone. What your clock says beyond that is the library."
        )
    elif limits == ("compute", "memory"):
        text = (
            f"Here {here} right of the ridge of this core, limited by computing. There {there} "
            f"left of the ridge of the {name}, and time is bytes: 2 per cent more bytes, 2 per "
            "cent more time."
        )
    else:
        text = (
            f"Here {here} left of the ridge of this core, and time is bytes. There {there} right "
            f"of the ridge of the {name}, limited by computing."
        )
    return Conclusion(", ".join(limits), text)


def _tokens(op: Operation) -> str:
    """Return "64 tokens are": as many as a GEMV has vectors, and a GEMM rows."""
    if op.name not in ("gemv", "gemm"):
        raise ValueError(f"{op.label} is no product of a layer: it must be a gemv or a gemm")
    tokens = op.batch if op.name == "gemv" else op.dims["m"]
    return f"{tokens:,} tokens are" if tokens > 1 else "1 token is"


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
            f"{worst}, takes {fold(over[worst])} its bound."
        )
    elif min(over.values()) > FAR:
        nearest = min(over, key=over.__getitem__)
        case = "busy"
        text = (
            f"Nearest to its bound is the walk at {nearest}, and even there it takes "
            f"{fold(over[nearest])} as long. So it is not the shape of the products. Something "
            "else kept the computer busy; close it, and measure again."
        )
    elif over[worst] > ALIKE * max(first, last):
        case = "middle"
        text = (
            f"A single token takes {fold(first)} its bound, {max(over)} tokens {fold(last)}. "
            f"Between them the library does worse, {fold(over[worst])} its bound with {worst} "
            "tokens: the product is too thin for a routine that was made for large ones."
        )
    else:
        which = "a single token" if first >= last else f"{max(over)} tokens"
        case, text = "end", f"Furthest from the bound is {which}: {fold(over[worst])} its time."
    return Conclusion(case, text + cautions(*walk.values()))


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
            f"{percent(1 / cheaper)} of what it costs with {first}. They began further from the "
            "roof than they end; *Deeper: predict another layer* says why."
        )
    elif cheaper < 1 / ALIKE:
        case = "rises"
        text = (
            f"They rise beyond the knee: with {last} tokens each costs {fold(1 / cheaper)} what "
            f"it costs with {first}. No roof says so. Was the computer busy?"
        )
    else:
        case = "flat"
        text = (
            f"They agree: from {first} tokens to {last} the price of a token stays the same to a "
            "quarter."
        )
    return Conclusion(case, text + cautions(walk[first], walk[last]))


def thin_sides(ops: Sequence[Operation], roof: Roofline) -> Conclusion:
    """On which side of the ridge products of equally many FLOPs lie, the first of them a cube."""
    left = [op for op in ops if roof.limit(op) == "memory"]
    ridge = f"The ridge of this core is at {plain(roof.ridge, 3)} FLOP/byte."
    if not left:
        return Conclusion(
            "all right of it",
            f"{ridge} All {len(ops)} lie right of it, so the roof gives them the same time: as "
            "many FLOPs, the same peak.",
        )
    if ops[0] in left:
        return Conclusion(
            "cube left of it", f"{ridge} Even the cube lies left of it: time is bytes."
        )
    named = _listed([
        f"`{op.label}` takes {fold(roof.time(op) / roof.time(ops[0]))}" for op in left
    ])  # fmt: skip
    return Conclusion(
        "thin left of it",
        f"{ridge} Those left of it wait for bytes. By the roof, {named} as long as the cube.",
    )


def thin(cube: Measurement, sheet: Measurement, roof: Roofline) -> Conclusion:
    """Why a thin product took as long as it did beside a cube of as many FLOPs."""
    clock, said = sheet.median_s / cube.median_s, roof.time(sheet.op) / roof.time(cube.op)
    pair = (
        f"By the clock `{sheet.op.label}` takes {fold(clock)} as long as the cube, by the roof "
        f"{fold(said)}."
    )
    if clock > 1.3 * said:
        case, text = "library", f"{pair} What the roof does not know is the routine. "
        text += _routine(cube.op, sheet.op)
    elif clock < said / 1.3:
        case, text = "faster", f"{pair} So the cube is further from its roof than the thin one."
    else:
        case, text = "roof", f"{pair} They agree: your library does this shape as well as the cube."
    return Conclusion(case, text + cautions(cube, sheet))


def _routine(cube: Operation, sheet: Operation) -> str:
    """What a routine for large products loses on a thin one: copies, or sums that are short."""
    _, often = _larger_operand(cube)
    numbers, seldom = _larger_operand(sheet)
    if seldom < often:
        return (
            "A GEMM copies its operands into small blocks first, in the order in which it will "
            f"need them. In the cube each copied number is used {often:,} times. In the thin "
            f"product each of the {numbers:,} numbers of the larger operand is copied and then "
            f"used {f'{seldom:,} times' if seldom > 1 else 'once'}: the copy is a good part of the "
            "work."
        )
    return (
        f"Each number of the result is a sum of {sheet.dims['k']:,} products here, and of "
        f"{cube.dims['k']:,} in the cube. The shorter the sum, the more of the work is to fetch "
        "the result and to put it back."
    )


def _larger_operand(op: Operation) -> tuple[int, int]:
    """Numbers in the larger operand of a GEMM, and how often the product uses each of them."""
    if op.name != "gemm":
        raise ValueError(f"{op.label} is no product of two matrices: it must be a gemm")
    m, n, k = (op.dims[edge] for edge in "mnk")
    return max((m * k, n), (k * n, m))


def padding(bare: Measurement, padded: Measurement) -> Conclusion:
    """Whether padding paid: a product as it is, and with its edges filled up."""
    ratio = padded.median_s / bare.median_s
    spread = (bare.iqr_s / bare.median_s + padded.iqr_s / padded.median_s) / 2
    said = f"The padded product takes {fold(ratio)} as long"
    if abs(ratio - 1) <= max(0.05, spread):
        case, text = "neither", f"{said}, which is no more than the samples differ by: no verdict."
    elif ratio > 1:
        case, text = "loses", f"{said}: here padding loses."
    else:
        case, text = "pays", f"{said}: here padding pays."
    return Conclusion(case, text + cautions(bare, padded))


def _listed(items: Sequence[object]) -> str:
    *most, last = map(str, items)
    return f"{', '.join(most)} and {last}" if most else last


CONCLUSIONS: Mapping[str, Callable[..., Conclusion]] = {
    "04-second-token": second_token,
    "04-sides": sides,
    "04-gaps": gaps,
    "04-beyond": beyond_the_knee,
    "04-thin-sides": thin_sides,
    "04-thin": thin,
    "04-padding": padding,
}

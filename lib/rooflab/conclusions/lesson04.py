"""Lesson 04: what a layer's clock and its roofs say, on the machine that was measured."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from itertools import takewhile

from rooflab.conclusions import Conclusion, cautions, fold, largest_cache
from rooflab.count.operation import Operation
from rooflab.count.si import percent, plain, several, si
from rooflab.measure.measurement import Measurement
from rooflab.predict.estimate import mix_of
from rooflab.predict.roofline import Roofline

NEAR_ITS_BOUND = 1.6  # a routine within this factor of its bound is called near it
FAR_FROM_ALL = 2.5  # a good library comes nearer to its bound with some number of tokens
ALIKE_TIMES = 1.25  # two times within this factor are called alike
LESS = 0.9  # of a time, for more work: beyond the noise of a quiet computer
BELOW = 0.95  # of a bound: a time below it is no noise
BESIDE = 2  # times a cache: what is larger leaves nothing in it that counts

AGAIN = "Measure again with `rl.this_machine(threads=1, refresh=True)`."


def second_token(walk: Mapping[int, Measurement]) -> Conclusion:
    """What the second token costs, and the next. ``walk``: tokens → measurement, 1 and 2 too."""
    _require("walk", walk, (1, 2))
    ratio = walk[2].median_s / walk[1].median_s
    said = f"Here two tokens take {fold(ratio)} as long as one"
    if ratio < LESS:
        case = "less"
        text = (
            f"{said}. With one routine, more work cannot take less time. Either something "
            "disturbed the single token, or the library's routine for one vector is worse than "
            "the one for several. Measure `walk` again and see whether it stays."
        )
    elif ratio < ALIKE_TIMES:
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
    beside_two = {n: walk[n].median_s / walk[2].median_s for n in sorted(walk) if n > 2}
    alike = list(takewhile(lambda n: LESS < beside_two[n] < ALIKE_TIMES, beside_two))
    if case in ("paid", "jump") and alike:
        text += (
            f" The tokens after the second are nearly free on this core: {alike[-1]} take "
            f"{fold(beside_two[alike[-1]])} as long as two."
        )
    return Conclusion(case, text + cautions(walk[1], walk[2]))


def _require(name: str, found: Collection[int], wanted: Collection[int]) -> None:
    """Raise ValueError where the argument ``name`` lacks a ``wanted`` number of tokens."""
    missing = sorted(set(wanted) - set(found))
    if missing:
        there = _listed(sorted(found)) if found else "none"
        raise ValueError(f"{name} must have {_of_tokens(missing)} too; it has {there}")


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
            f"left of the ridge of the {name}, and time is bytes{_more_bytes(other[0])}."
        )
    else:
        text = (
            f"Here {here} left of the ridge of this core, and time is bytes. There {there} right "
            f"of the ridge of the {name}, limited by computing."
        )
    return Conclusion(", ".join(limits), text)


def _tokens(op: Operation) -> str:
    """Return "64 tokens are"."""
    return f"{several(_tokens_of(op), 'token')} {'is' if _tokens_of(op) == 1 else 'are'}"


def _tokens_of(op: Operation) -> int:
    """Tokens of a layer's product: as many as a GEMV has vectors, and a GEMM rows."""
    if op.name not in ("gemv", "gemm"):
        raise ValueError(f"{op.label} is no product of a layer: it must be a gemv or a gemm")
    return op.batch if op.name == "gemv" else op.dims["m"]


def _more_bytes(op: Operation) -> str:
    """The end of a sentence: how many more bytes a layer's product moves than for one token."""
    tokens = _tokens_of(op)
    if tokens == 1:
        return ""
    weights = next(o.bytes for o in op.operands if o.name == ("a" if op.name == "gemv" else "b"))
    each = (op.bytes - weights) / tokens
    more = percent((tokens - 1) * each / (weights + each))
    return f": {more} more bytes than for one token, {more} more time"


def gaps(
    walk: Mapping[int, Measurement], bounds: Mapping[int, float], roof: Roofline
) -> Conclusion:
    """How far a layer is from its bound. By tokens: measurements, and bounds in seconds.

    ``roof``: the one that the bounds were computed with.
    """
    _require("bounds", bounds, walk)
    over = {tokens: one.median_s / bounds[tokens] for tokens, one in walk.items()}
    worst, nearest = max(over, key=over.__getitem__), min(over, key=over.__getitem__)
    first, last = over[min(over)], over[max(over)]
    if over[nearest] < BELOW:
        case, text = _below_the_bound({t: r for t, r in over.items() if r < BELOW}, walk, roof)
    elif over[worst] <= NEAR_ITS_BOUND:
        case = "near"
        text = (
            "Your library comes near its bound with every number of tokens. It is furthest with "
            f"{several(worst, 'token')}: {fold(over[worst])} its bound."
        )
    elif over[nearest] > FAR_FROM_ALL:
        case = "far"
        text = (
            f"Nearest to its bound is the walk at {several(nearest, 'token')}, and even there it "
            f"takes {fold(over[nearest])} as long. Either the library has no good routine for this "
            "core, or its roofs and the walk were not measured alike: another program had the "
            "computer, the processor changed its clock, or the work moved to a core of another "
            f"kind, as laptops have. {AGAIN} Then run this section again: what stays is the "
            "library."
        )
    elif over[worst] > ALIKE_TIMES * max(first, last):
        case = "middle"
        text = (
            f"{several(min(over), 'token')} takes {fold(first)} its bound, {max(over)} tokens "
            f"{fold(last)}. Between them the library does worse, {fold(over[worst])} its bound "
            f"with {worst} tokens: {_thin(roof.limit(walk[worst].op))}."
        )
    else:
        case = "end"
        text = (
            f"It is furthest from its bound with {several(worst, 'token')}: {fold(over[worst])} it."
        )
    return Conclusion(case, text + cautions(*walk.values()))


def _thin(limit: str) -> str:
    """Why a library is far from its bound at a middling number of tokens."""
    if limit == "memory":
        return "the product is too thin for a routine that was made for large ones"
    return "the roof allows the peak there, and the routine does not come near it"


def _below_the_bound(
    over: Mapping[int, float], walk: Mapping[int, Measurement], roof: Roofline
) -> tuple[str, str]:
    """Case and sentence where the clock beats the bound. ``over``: tokens → clock ÷ bound."""
    cache, said = largest_cache(roof.machine), []
    ops = {tokens: walk[tokens].op for tokens in over}
    cached = [
        tokens
        for tokens, op in ops.items()
        if roof.limit(op) == "memory"
        and op.bytes < BESIDE * cache
        and op.bytes - cache <= over[tokens] * op.bytes
    ]
    low = [tokens for tokens in over if tokens not in cached]
    if low:
        unit = any(roof.limit(ops[tokens]) == "compute" for tokens in low)
        cause = ", or the library computes in a matrix unit that the roof does not know"
        said.append(
            f"With {_of_tokens(low)} your clock is faster than the bound, and no program can beat "
            "a bound that is right. So a roof is too low: it was measured in a busier moment"
            f"{cause if unit else ''}. {AGAIN}"
        )
    if cached:
        said.append(
            f"With {_of_tokens(cached)} your clock is faster than the bound, which takes all bytes "
            f"from memory. The layer has {si(ops[cached[0]].bytes, 'B')} and the largest cache of "
            f"this processor {si(cache, 'B')}, so part of it may have stayed there."
        )
    return "above" if low else "cache", " ".join(said)


def beyond_the_knee(walk: Mapping[int, Measurement], roof: Roofline) -> Conclusion:
    """Whether tokens go on getting cheaper beyond the knee. ``walk``: tokens → measurement."""
    right = [tokens for tokens, one in sorted(walk.items()) if roof.limit(one.op) == "compute"]
    if len(right) < 2:
        return Conclusion(
            "not reached",
            f"The walk ends at {several(max(walk), 'token')}, and the knee of this core lies there "
            "or beyond. Up to the knee company helps.",
        )
    first, last = right[0], right[-1]
    cheaper = (walk[first].median_s / first) / (walk[last].median_s / last)
    if cheaper > ALIKE_TIMES:
        case = "goes on"
        text = (
            f"They go on falling beyond the knee: with {last} tokens each costs "
            f"{percent(1 / cheaper)} of what it costs with {first}. They began further from the "
            "roof than they end; *Deeper: predict another layer* says why."
        )
    elif cheaper < 1 / ALIKE_TIMES:
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
    roofs = [_own(roof, op) for op in ops]
    left = [op for op, own in zip(ops, roofs, strict=True) if own.limit(op) == "memory"]
    lowest, highest = (plain(f(own.ridge for own in roofs), 3) for f in (min, max))
    ridge = f"The ridge of this core is at {lowest} FLOP/byte."
    if lowest != highest:
        ridge = (
            f"The ridge of this core lies between {lowest} and {highest} FLOP/byte, by how much a "
            "product writes beside what it reads."
        )
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
        f"`{op.label}` takes {fold(_own(roof, op).time(op) / _own(roof, ops[0]).time(ops[0]))}"
        for op in left
    ])  # fmt: skip
    return Conclusion(
        "thin left of it",
        f"{ridge} Those left of it wait for bytes. By the roof, {named} as long as the cube.",
    )


def _own(roof: Roofline, op: Operation) -> Roofline:
    """``roof`` with the bandwidth for the mix of reading and writing that ``op`` has."""
    return replace(roof, mix=mix_of(op, roof.machine, roof.level))


def thin(cube: Measurement, sheet: Measurement, roof: Roofline) -> Conclusion:
    """Why a thin product took as long as it did beside a cube of as many FLOPs."""
    clock = sheet.median_s / cube.median_s
    said = _own(roof, sheet.op).time(sheet.op) / _own(roof, cube.op).time(cube.op)
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


def _of_tokens(counts: Sequence[int]) -> str:
    """``"1 token"``, ``"1 and 64 tokens"``."""
    return f"{_listed(counts)} token{'' if list(counts) == [1] else 's'}"


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

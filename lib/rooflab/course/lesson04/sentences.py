"""Lesson 04: what a layer's clock and its roofs say, on the machine that was measured."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from itertools import takewhile

from rooflab.count.operation import Operation
from rooflab.count.si import plain
from rooflab.exercises.sentences import Conclusion, Rows, choose, fold, largest_cache
from rooflab.measure.measurement import Measurement
from rooflab.predict.estimate import mix_of
from rooflab.predict.roofline import Roofline

NEAR_ITS_BOUND = 1.6  # a routine within this factor of its bound is called near it
FAR_FROM_ALL = 2.5  # a good library comes nearer to its bound with some number of tokens
ALIKE_TIMES = 1.25  # two times within this factor are called alike
LESS = 0.9  # of a time, for more work: beyond the noise of a quiet computer
BELOW = 0.95  # of a bound: a time below it is no noise
BESIDE = 2  # times a cache: what is larger leaves nothing in it that counts
TWICE = 2.2  # times one token's: no byte travels twice, so it is another routine
BEYOND_THE_ROOF = 1.3  # times what the roof says of two shapes: more than a good library loses
AGAIN = "Measure again with `rl.this_machine(threads=1, refresh=True)`."

SECOND_TOKEN: Rows = (
    ("less", lambda ratio: ratio < LESS,
     "{two}. With one routine, more work cannot take less time. Either something disturbed the "
     "single token, or the library's routine for one vector is worse than the one for several. "
     "Measure `walk` again and see whether it stays."),
    ("free", lambda ratio: LESS <= ratio < ALIKE_TIMES,
     "{two}. The second one is as good as free, as the roof says."),
    ("paid", lambda ratio: ALIKE_TIMES <= ratio < TWICE,
     "{two}, although hardly a byte more has to travel. Your library pays a price for the second "
     "vector, and no roof knows of it."),
    ("jump", lambda ratio: ratio >= TWICE,
     "{two}: more than twice. The library handles one vector with one routine, GEMV, and several "
     "with another, GEMM. The second pays a price before it starts. No roof knows of that."),
)
NEXT_TOKENS: Rows = (
    ("", lambda ratio, alike: ratio >= ALIKE_TIMES and alike,
     "The tokens after the second are nearly free on this core: {last} take {as_long:times} as "
     "long as two."),
)


def second_token(walk: Mapping[int, Measurement]) -> Conclusion:
    """What the second token costs, and the next. ``walk``: tokens → measurement, 1 and 2 too."""
    _require("walk", walk, (1, 2))
    ratio = walk[2].median_s / walk[1].median_s
    beside_two = {n: walk[n].median_s / walk[2].median_s for n in sorted(walk) if n > 2}
    alike = list(takewhile(lambda n: LESS < beside_two[n] < ALIKE_TIMES, beside_two))
    last = alike[-1] if alike else 2
    return choose(
        SECOND_TOKEN, NEXT_TOKENS, of=(walk[1], walk[2]), ratio=ratio, alike=alike, last=last,
        as_long=beside_two.get(last), two=f"Here two tokens take {fold(ratio)} as long as one",
    )


def _require(name: str, there: Collection[int], wanted: Collection[int]) -> None:
    """Raise ValueError where the argument ``name`` lacks a ``wanted`` number of tokens."""
    missing = sorted(set(wanted) - set(there))
    if missing:
        has = _listed(sorted(there)) if there else "none"
        raise ValueError(f"{name} must have {_of_tokens(missing)} too; it has {has}")


SIDES: Rows = (
    ("compute, compute", lambda limits: limits == ("compute", "compute"),
     "Here {here} right of the ridge of this core, and there {there} right of the {name}'s. "
     "Both machines are busy computing."),
    ("memory, memory", lambda limits: limits == ("memory", "memory"),
     "Here {here} left of the ridge of this core, and there {there} left of the {name}'s. "
     "So on this core, too, time is bytes: {longer:times} those of the largest matrix alone. What "
     "your clock says beyond that is the library."),
    ("compute, memory", lambda limits: limits == ("compute", "memory"),
     "Here {here} right of the ridge of this core, limited by computing. There {there} left of the "
     "ridge of the {name}, and time is bytes{more}."),
    ("memory, compute", lambda limits: limits == ("memory", "compute"),
     "Here {here} left of the ridge of this core, and time is bytes. There {there} right of the "
     "ridge of the {name}, limited by computing."),
)
MORE_BYTES: Rows = (
    ("", lambda tokens: tokens > 1,
     ": {share:percent} more bytes than for one token, {share:percent} more time"),
)


def sides(core: tuple[Operation, Roofline], other: tuple[Operation, Roofline]) -> Conclusion:
    """On which side of its ridge a layer's product lies: on this core, and on another machine."""
    here, there = (_tokens_of(op) for op, _ in (core, other))
    return choose(
        SIDES, limits=tuple(roof.limit(op) for op, roof in (core, other)),
        here=f"{_of_tokens([here])} {_are(here)}", there=f"{_of_tokens([there])} {_are(there)}",
        name=other[1].machine.name, more=_more_bytes(other[0]),
        longer=core[0].bytes / max(operand.bytes for operand in core[0].operands),
    )


def _are(count: int) -> str:
    return "is" if count == 1 else "are"


def _tokens_of(op: Operation) -> int:
    """Tokens of a layer's product: as many as a GEMV has vectors, and a GEMM rows."""
    if op.name not in ("gemv", "gemm"):
        raise ValueError(f"{op.label} is no product of a layer: it must be a gemv or a gemm")
    return op.batch if op.name == "gemv" else op.dims["m"]


def _more_bytes(op: Operation) -> str:
    """The end of a sentence: how many more bytes a layer's product moves than for one token."""
    tokens = _tokens_of(op)
    weights = next(o.bytes for o in op.operands if o.name == ("a" if op.name == "gemv" else "b"))
    each = (op.bytes - weights) / tokens
    return choose(MORE_BYTES, tokens=tokens, share=(tokens - 1) * each / (weights + each)).text


GAPS: Rows = (
    ("near", lambda worst: worst <= NEAR_ITS_BOUND,
     "Your library comes near its bound with every number of tokens. It is furthest with "
     "{at_worst:of token}: {worst:times} its bound."),
    ("far", lambda nearest: nearest > FAR_FROM_ALL,
     "Nearest to its bound is the walk at {at_nearest:of token}, and even there it takes "
     "{nearest:times} as long. Either the library has no good routine for this core, or its roofs "
     "and the walk were not measured alike: another program had the computer, the processor "
     "changed its clock, or the work moved to a core of another kind, as laptops have. "
     f"{AGAIN} Then run this section again: what stays is the library."),
    ("middle", lambda nearest, worst, ends: (
        nearest <= FAR_FROM_ALL and worst > max(NEAR_ITS_BOUND, ALIKE_TIMES * ends)),
     "{fewest:of token} takes {first:times} its bound, {most} tokens {last:times}. Between them "
     "the library does worse, {worst:times} its bound with {at_worst} tokens: {thin}."),
    ("end", lambda nearest, worst, ends: (
        nearest <= FAR_FROM_ALL and NEAR_ITS_BOUND < worst <= ALIKE_TIMES * ends),
     "It is furthest from its bound with {at_worst:of token}: {worst:times} it."),
)
THIN = {
    "memory": "the product is too thin for a routine that was made for large ones",
    "compute": "the roof allows the peak there, and the routine does not come near it",
}
TOO_LOW: Rows = (
    ("above", lambda low: low,
     "With {tokens} your clock is faster than the bound, and no program can beat a bound that is "
     f"right. So a roof is too low: it was measured in a busier moment{{unit}}. {AGAIN}"),
)
CACHED: Rows = (
    ("", lambda cached: cached,
     "With {tokens_cached} your clock is faster than the bound, which takes all bytes from memory. "
     "The layer has {layer:B} and the largest cache of this processor {cache:B}, so part of it may "
     "have stayed there."),
)


def gaps(
    walk: Mapping[int, Measurement], bounds: Mapping[int, float], roof: Roofline
) -> Conclusion:
    """How far a layer is from its bound. By tokens: measurements, and bounds in seconds.

    ``roof``: the one that the bounds were computed with.
    """
    _require("bounds", bounds, walk)
    over = {tokens: one.median_s / bounds[tokens] for tokens, one in walk.items()}
    worst, nearest = max(over, key=over.__getitem__), min(over, key=over.__getitem__)
    if over[nearest] < BELOW:
        return _below_the_bound({t: r for t, r in over.items() if r < BELOW}, walk, roof)
    first, last = over[min(over)], over[max(over)]
    return choose(
        GAPS, of=walk.values(), nearest=over[nearest], at_nearest=nearest, worst=over[worst],
        at_worst=worst, fewest=min(over), most=max(over), first=first, last=last,
        ends=max(first, last), thin=THIN[roof.limit(walk[worst].op)],
    )


def _below_the_bound(
    over: Mapping[int, float], walk: Mapping[int, Measurement], roof: Roofline
) -> Conclusion:
    """What is said where the clock beats the bound. ``over``: tokens → clock ÷ bound."""
    cache, ops = largest_cache(roof.machine), {tokens: walk[tokens].op for tokens in over}
    cached = [
        tokens
        for tokens, op in ops.items()
        if roof.limit(op) == "memory"
        and op.bytes < BESIDE * cache
        and op.bytes - cache <= over[tokens] * op.bytes
    ]
    low = [tokens for tokens in over if tokens not in cached]
    unit = any(roof.limit(ops[tokens]) == "compute" for tokens in low)
    told = choose(
        TOO_LOW, CACHED, of=walk.values(), low=low, tokens=low and _of_tokens(low),
        unit=", or the library computes in a matrix unit that the roof does not know" * unit,
        cached=cached, tokens_cached=cached and _of_tokens(cached), cache=cache,
        layer=cached and ops[cached[0]].bytes,
    )
    return replace(told, case=told.case or "cache")


BEYOND: Rows = (
    ("not reached", lambda right: len(right) < 2,
     "The walk ends at {most:of token}, and the knee of this core lies there or beyond. Up to the "
     "knee company helps."),
    ("goes on", lambda right, cheaper: len(right) >= 2 and cheaper > ALIKE_TIMES,
     "They go on falling beyond the knee: with {last} tokens each costs {dearer:percent} of what "
     "it costs with {first}. They began further from the roof than they end; *Deeper: predict "
     "another layer* says why."),
    ("rises", lambda right, dearer: len(right) >= 2 and dearer > ALIKE_TIMES,
     "They rise beyond the knee: with {last} tokens each costs {dearer:times} what it costs with "
     "{first}. No roof says so. Was the computer busy?"),
    ("flat", None,
     "They agree: from {first} tokens to {last} a token's price is the same to within a quarter."),
)


def beyond_the_knee(walk: Mapping[int, Measurement], roof: Roofline) -> Conclusion:
    """Whether tokens go on getting cheaper beyond the knee. ``walk``: tokens → measurement."""
    right = [tokens for tokens, one in sorted(walk.items()) if roof.limit(one.op) == "compute"]
    first, last = (right or [max(walk)])[0], max(walk)
    cheaper = (walk[first].median_s / first) / (walk[last].median_s / last)
    return choose(
        BEYOND, of=(walk[first], walk[last]) if len(right) > 1 else (), right=right, first=first,
        last=last, most=max(walk), cheaper=cheaper, dearer=1 / cheaper,
    )


RIDGES: Rows = (
    ("", lambda lowest, highest: lowest == highest,
     "The ridge of this core is at {lowest} FLOP/byte."),
    ("", lambda lowest, highest: lowest != highest,
     "The ridge of this core lies between {lowest} and {highest} FLOP/byte, depending on how much "
     "a product writes beside what it reads."),
)
THIN_SIDES: Rows = (
    ("all right of it", lambda left: not left,
     "All {count} lie right of it, so the roof gives them the same time: as many FLOPs, the same "
     "peak."),
    ("cube left of it", lambda left, cube: cube in left,
     "Even the cube lies left of it: time is bytes."),
    ("thin left of it", lambda left, cube: left and cube not in left,
     "Those left of it wait for bytes. By the roof, {products} as long as the cube."),
)


def thin_sides(ops: Sequence[Operation], roof: Roofline) -> Conclusion:
    """On which side of the ridge products of equally many FLOPs lie, the first of them a cube."""
    roofs = [_own(roof, op) for op in ops]
    left = [op for op, own in zip(ops, roofs, strict=True) if own.limit(op) == "memory"]
    lowest, highest = (plain(f(own.ridge for own in roofs), 3) for f in (min, max))
    longer = [_own(roof, op).time(op) / roofs[0].time(ops[0]) for op in left]
    takes = [f"`{op.label}` takes {fold(n)}" for op, n in zip(left, longer, strict=True)]
    return choose(
        RIDGES, THIN_SIDES, lowest=lowest, highest=highest, left=left, cube=ops[0],
        count=len(ops), products=takes and _listed(takes),
    )


def _own(roof: Roofline, op: Operation) -> Roofline:
    """``roof`` with the bandwidth for the mix of reading and writing that ``op`` has."""
    return replace(roof, mix=mix_of(op, roof.machine, roof.level))


CLOCK_AND_ROOF = (
    "By the clock `{thin}` takes {clock:times} as long as the cube, by the roof {by_roof:times}."
)
THIN_PRODUCT: Rows = (
    ("library", lambda worse: worse > BEYOND_THE_ROOF,
     "What the roof does not know is the routine."),
    ("faster", lambda worse: worse < 1 / BEYOND_THE_ROOF,
     "So the cube is further from its roof than the thin one."),
    ("roof", None, "They agree: your library handles this shape as well as the cube."),
)
ROUTINE: Rows = (
    ("", lambda seldom, often: seldom < often,
     "A GEMM copies its operands into small blocks first, in the order in which it will need them. "
     "In the cube each copied number is used {often:,} times. In the thin product each of the "
     "{numbers:,} numbers of the larger operand is copied and then used {uses}: the copy is a good "
     "part of the work."),
    ("", lambda seldom, often: seldom >= often,
     "Each number of the result is a sum of {terms:,} products here, and of {cube_terms:,} in the "
     "cube. The shorter the sum, the more of the work is fetching the result and putting it back."),
)


def thin(cube: Measurement, sheet: Measurement, roof: Roofline) -> Conclusion:
    """Why a thin product took as long as it did beside a cube of as many FLOPs."""
    clock = sheet.median_s / cube.median_s
    by_roof = _own(roof, sheet.op).time(sheet.op) / _own(roof, cube.op).time(cube.op)
    worse = clock / by_roof
    return choose(
        CLOCK_AND_ROOF, THIN_PRODUCT, "{routine}", of=(cube, sheet), thin=sheet.op.label,
        clock=clock, by_roof=by_roof, worse=worse,
        routine=_routine(cube.op, sheet.op) if worse > BEYOND_THE_ROOF else "",
    )


def _routine(cube: Operation, sheet: Operation) -> str:
    """What a routine for large products loses on a thin one: copies, or sums that are short."""
    (_, often), (numbers, seldom) = _larger_operand(cube), _larger_operand(sheet)
    return choose(
        ROUTINE, often=often, numbers=numbers, seldom=seldom, terms=sheet.dims["k"],
        uses=f"{seldom:,} times" if seldom > 1 else "once", cube_terms=cube.dims["k"],
    ).text


def _larger_operand(op: Operation) -> tuple[int, int]:
    """Numbers in the larger operand of a GEMM, and how often the product uses each of them."""
    if op.name != "gemm":
        raise ValueError(f"{op.label} is no product of two matrices: it must be a gemm")
    m, n, k = (op.dims[edge] for edge in "mnk")
    return max((m * k, n), (k * n, m))


PADDING: Rows = (
    ("neither", lambda ratio, spread: abs(ratio - 1) <= max(0.05, spread),
     "The padded product takes {ratio:times} as long, which is no more than the samples differ by: "
     "no verdict."),
    ("loses", lambda ratio, spread: ratio - 1 > max(0.05, spread),
     "The padded product takes {ratio:times} as long: here padding loses."),
    ("pays", lambda ratio, spread: 1 - ratio > max(0.05, spread),
     "The padded product takes {ratio:times} as long: here padding pays."),
)


def padding(bare: Measurement, padded: Measurement) -> Conclusion:
    """Whether padding paid: a product as it is, and with its edges filled up."""
    spread = (bare.iqr_s / bare.median_s + padded.iqr_s / padded.median_s) / 2
    return choose(PADDING, of=(bare, padded), ratio=padded.median_s / bare.median_s, spread=spread)


def _of_tokens(counts: Sequence[int]) -> str:
    """``"1 token"``, ``"1 and 64 tokens"``."""
    return f"{_listed(counts)} token{'' if list(counts) == [1] else 's'}"


def _listed(items: Sequence[object]) -> str:
    *most, last = map(str, items)
    return f"{', '.join(most)} and {last}" if most else last


CONCLUSIONS: Mapping[str, Callable[..., Conclusion]] = {
    "04-second-token": second_token, "04-sides": sides, "04-gaps": gaps,
    "04-beyond": beyond_the_knee, "04-thin-sides": thin_sides, "04-thin": thin,
    "04-padding": padding,
}

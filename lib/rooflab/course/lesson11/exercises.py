"""Exercises of lesson 11, precision: what rounding loses, and what fewer bits gain.

The wrong answers are slips of public teaching material: "16 bits make a kernel compute-bound", a
block of 4-bit numbers that is scaled to its largest number, a sum in bf16 that stops growing.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from typing import Any

from rooflab.exercises.exercise import Case, Domain, any_length, at_least, cases_of, one_of
from rooflab.exercises.table import drawn, slip, table

ANY, PAIR = Domain("any number", ()), Domain("bytes a number, and FLOP/s", ())


# ---- 11-round ------------------------------------------------------------------------------------
def _step(x: float, mantissa: int, smallest: float) -> float:
    """How far apart the numbers of a format are at ``x``; with ``smallest`` 0, without an end."""
    return math.ldexp(1.0, math.frexp(max(abs(x), smallest))[1] - 1 - mantissa) if x else 1.0


def _overflows(result: float, largest: float) -> float:
    return result if abs(result) <= largest else math.copysign(math.inf, result)


def _floats(rng: random.Random) -> Case:
    """A format of 4 to 12 bits, and a number that it has to round."""
    mantissa, lowest, highest = rng.randrange(1, 6), -rng.randrange(2, 9), rng.randrange(2, 9)
    largest = math.ldexp(2 - 2.0**-mantissa, highest)
    x = rng.choice((1, -1)) * math.ldexp(rng.uniform(1, 2), rng.randrange(lowest, highest))
    return {"x": x, "mantissa": mantissa, "smallest": 2.0**lowest, "largest": largest}


ROUND = table(
    "11-round", "Round it", 5,
    "Round `x` to a format. From 2**e up to 2**(e+1) its numbers lie 2**(e - mantissa) apart. "
    "`smallest` is a power of two: below it, down to 0, they lie as far apart as just above it. "
    "Take the nearer of the two neighbours, and in a tie the even one, which is an even "
    "multiple of the step. If the rounded number is beyond `largest` or -`largest`, return "
    "math.inf or -math.inf.",
    "rounded(x, mantissa, smallest, largest)", lines=5,
    cases=lambda rng: [_floats(rng) for _ in range(5)],
    domain={"x": ANY, "mantissa": at_least(0), "smallest": Domain("a power of two", ()),
            "largest": Domain("above smallest", ())},
    example=(2.7, 2, 0.25, 14.0),
    fixed=cases_of("x mantissa smallest largest",
        (2.25, 2, 0.25, 14.0), (2.75, 2, 0.25, 14.0), (-2.25, 2, 0.25, 14.0), (0.0, 3, 0.5, 240.0),
        (15.2, 2, 0.25, 14.0), (-14.9, 2, 0.25, 14.0), (14.9, 2, 0.25, 14.0), (3.9, 0, 0.5, 64.0),
        (-3e5, 10, 2.0**-14, 65504.0), (2.9e-7, 10, 2.0**-14, 65504.0), (0.19, 2, 0.25, 14.0),
        (0.07, 2, 0.25, 14.0), (-0.02, 2, 0.25, 14.0), (5.5, 2, 0.25, 14.0), (8.0, 3, 0.5, 240.0),
        (257.0, 7, 2.0**-126, 3.38e38), (259.0, 7, 2.0**-126, 3.38e38), (15.0, 2, 0.25, 14.0),
        (7.9, 3, 0.5, 240.0), (0.9999, 3, 2.0**-6, 448.0), (1e-9, 3, 2.0**-6, 448.0),
        (-0.11, 2, 0.25, 14.0), (0.05, 2, 0.25, 14.0), (0.03125, 2, 0.25, 14.0),
        (0.15625, 2, 0.25, 14.0), (-2.75, 2, 0.25, 14.0), (3.0, 0, 0.5, 64.0),
        (2.74995, 2, 0.25, 14.0), (14.0, 2, 0.25, 14.0)),
    insight="With 7 bits and bf16's range this is bf16: 257 becomes 256, and 259 becomes 260.",
    answer={
        "_step": lambda x, mantissa, smallest: _step(x, mantissa, smallest),
        "_nearest": lambda x, _step: round(x / _step) * _step,
        "answer": lambda _nearest, largest: _overflows(_nearest, largest),
    },
    slips=(
        slip("halfway goes up", "exactly between two it is the even one.",
             ways=[{"_nearest": lambda x, _step: math.floor(x / _step + 0.5) * _step},
                   {"_nearest": lambda x, _step:
                    math.copysign(math.floor(abs(x) / _step + 0.5) * _step, x)}]),
        slip("cut off", "take the nearer one of two neighbours, not the one nearer to 0.",
             ways=[{"_nearest": lambda x, _step: math.trunc(x / _step) * _step},
                   {"_nearest": lambda x, _step: math.floor(x / _step) * _step},
                   {"_nearest": lambda x, _step: math.ceil(x / _step) * _step}]),
        slip("no last step", "below `smallest` the steps stop getting smaller.",
             ways=[{"_step": lambda x, mantissa: _step(x, mantissa, 0.0)}]),
        slip("nothing below smallest",
             "below `smallest` there are numbers, too, as far apart as just above it.",
             ways=[{"answer": lambda x, smallest, _nearest, largest:
                    0.0 if abs(x) < smallest else _overflows(_nearest, largest)}]),
        slip("stops at the largest", "what is rounded to more than `largest` becomes infinite.",
             ways=[{"answer": lambda _nearest, largest:
                    max(-largest, min(largest, _nearest))}]),
        slip("too large before it is rounded", "round first: it may come down to `largest`.",
             ways=[{"answer": lambda x, _nearest, largest: _nearest if abs(x) <= largest
                    else math.copysign(math.inf, x)}]),
        slip("infinity without its sign", "a negative number becomes -math.inf.",
             ways=[{"answer": lambda _nearest, largest:
                    _nearest if abs(_nearest) <= largest else math.inf}]),
        slip("a bit too many or too few",
             "math.frexp gives a fraction from 0.5 to 1, so e is one less than its exponent.",
             ways=[{"_step": lambda x, mantissa, smallest: 2 * _step(x, mantissa, smallest)},
                   {"_step": lambda x, mantissa, smallest: _step(x, mantissa, smallest) / 2}]),
        slip("the same step everywhere", "the step doubles at every power of two.",
             ways=[{"_step": lambda mantissa: 2.0**-mantissa},
                   {"_step": lambda mantissa, smallest: smallest * 2.0**-mantissa}]),
    ),
)  # fmt: skip


# ---- 11-pieces -----------------------------------------------------------------------------------
def _narrow_total(n: int, chunk: int, mantissa: int) -> float:
    """The sum of the pieces, in a total of the same format."""
    stops, total = 2 ** (mantissa + 1), 0.0
    for piece in [chunk] * (n // chunk) + [n % chunk]:
        exact = total + min(piece, stops)
        step = _step(exact, mantissa, 0.0)
        total = round(exact / step) * step
    return total


PIECES = table(
    "11-pieces", "A sum in pieces", 3,
    "Add the number 1 `n` times. After each addition the sum is rounded to a format with "
    "`mantissa` bits of mantissa, to the nearest number, in a tie to the even one. After every "
    "`chunk` ones, and after the last, the sum goes into an exact total, and a new sum begins at "
    "0. Return the total.",
    "reached(n, chunk, mantissa)", lines=3,
    cases=drawn(4, n=range(200, 9000), chunk=[16, 700, 50, 3000], mantissa=[7, 3, 2, 10]),
    domain=dict.fromkeys(("n", "chunk", "mantissa"), at_least(1)),
    example=(1000, 300, 7),
    fixed=cases_of("n chunk mantissa",
        (10_000, 10_000, 7), (1000, 256, 7), (1000, 257, 7), (1, 9, 1), (9, 1, 3), (700, 600, 8),
        (100, 15, 3), (100, 17, 3), (5000, 4096, 10), (40, 64, 2), (513, 512, 7)),
    insight="In bf16 a sum of ones stops at 256, so GPUs add up the products of 16-bit numbers "
            "in fp32.",
    answer={
        "_stops": lambda mantissa: 2 ** (mantissa + 1),
        "answer": lambda n, chunk, _stops:
            n // chunk * min(chunk, _stops) + min(n % chunk, _stops),
    },
    slips=(
        slip("a bit too early",
             "from 2**mantissa on the step is 1, so 1 can still be added.",
             ways=[{"_stops": lambda mantissa: 2**mantissa}]),
        slip("a bit too late", "where the step is 2, adding 1 falls exactly between two numbers.",
             ways=[{"_stops": lambda mantissa: 2 ** (mantissa + 2)},
                   {"_stops": lambda mantissa: 2 ** (mantissa + 1) + 1}]),
        slip("it never stops", "once the step is too large, adding 1 changes nothing.",
             answer=lambda n: n),
        slip("one long sum", "after `chunk` ones a new sum begins at 0.",
             answer=lambda n, _stops: min(n, _stops)),
        slip("the total is rounded, too", "the total is exact.",
             answer=lambda n, chunk, mantissa: _narrow_total(n, chunk, mantissa)),
        slip("the last piece is lost", "what is left over at the end is a piece, too.",
             answer=lambda n, chunk, _stops: n // chunk * min(chunk, _stops)),
        slip("the last piece is full", "the last piece may be shorter.",
             answer=lambda n, chunk, _stops: -(-n // chunk) * min(chunk, _stops)),
        slip("one piece only", "add the sums of all pieces.",
             answer=lambda n, chunk, _stops: min(chunk, _stops)),
    ),
)  # fmt: skip


# ---- 11-chance -----------------------------------------------------------------------------------
Rounding = Callable[[float, float], float]  # a sum in steps, and a chance → steps


def _by_chance(total: float, chance: float) -> float:
    low = math.floor(total)
    return low + (chance < total - low)


def _summed(values: Sequence[float], step: float, chances: Sequence[float], how: Rounding) -> float:
    total = 0.0
    for value, chance in zip(values, chances):
        total = how(total + value / step, chance)
    return total * step


def _chances(rng: random.Random) -> Case:
    many, step = rng.randrange(4, 9), rng.choice((0.5, 2.0, 4.0))
    return {"values": [rng.randrange(-60, 200) / 32 for _ in range(many)], "step": step,
            "chances": [rng.random() for _ in range(many)]}  # fmt: skip


CHANCE = table(
    "11-chance", "Round by chance", 4,
    "Add up `values`. The sum begins at 0, and can only be a multiple of `step`. After each "
    "addition, take the multiple below or the one above. The chance of going up is the share of "
    "the way that lies behind: a quarter of the way up, a chance of a quarter. `chances` "
    "holds a number between 0 and 1 for each value: go up if it is below that share.",
    "summed(values, step, chances)", lines=6,
    cases=lambda rng: [_chances(rng) for _ in range(4)],
    domain={"values": any_length(1), "step": Domain("above 0", ()), "chances": any_length(1)},
    example=([1.0, 0.5], 2.0, [0.75, 0.125]),
    fixed=cases_of("values step chances",
        ([0.25, 0.25, 0.25, 0.25], 1.0, [0.2, 0.3, 0.9, 0.1]),
        ([3.0], 2.0, [0.4]), ([3.0], 2.0, [0.6]), ([-0.5, -0.5], 2.0, [0.9, 0.5]),
        ([4.0, 4.0], 2.0, [0.01, 0.99]), ([-3.5, 9.0, 0.25], 4.0, [0.05, 0.2, 0.05]),
        ([0.75, 0.75, 0.75, 0.75], 2.0, [0.3, 0.7, 0.39, 0.9]),
        ([1.5, 1.5, 1.5], 4.0, [0.4, 0.4, 0.35]), ([0.25, 0.5], 1.0, [0.6, 0.9]),
        ([1.0], 2.0, [0.5]), ([4.0], 2.0, [0.0]), ([2.0, 1.0], 2.0, [0.1, 0.9])),
    insight="On average it is right: where rounding to the nearest stops a sum in bf16, this one "
            "goes on growing.",
    answer=lambda values, step, chances: _summed(values, step, chances, _by_chance),
    slips=(
        slip("to the nearest", "the chance decides, not which one is nearer.",
             answer=lambda values, step, chances: _summed(
                 values, step, chances, lambda total, _: round(total))),
        slip("a coin", "the further up, the more likely it is the one above.",
             answer=lambda values, step, chances: _summed(
                 values, step, chances, lambda total, chance: math.floor(total)
                 + (chance < 0.5 and total > math.floor(total)))),
        slip("the wrong way round", "above if the chance is *smaller* than the share of the way.",
             answer=lambda values, step, chances: _summed(
                 values, step, chances, lambda total, chance: math.floor(total)
                 + (chance > total - math.floor(total)))),
        slip("the other share", "the share counts from the multiple *below* the sum.",
             answer=lambda values, step, chances: _summed(
                 values, step, chances, lambda total, chance: math.floor(total)
                 + (chance < math.floor(total) + 1 - total < 1))),
        slip("towards 0", "int() goes towards 0; for a negative sum that is up.",
             answer=lambda values, step, chances: _summed(
                 values, step, chances, lambda total, chance: math.trunc(total)
                 + (chance < total - math.trunc(total)))),
        slip("only at the end", "round after each addition.",
             answer=lambda values, step, chances:
                 step * _by_chance(sum(values) / step, chances[-1])),
        slip("not rounded", "the sum can only be a multiple of `step`.",
             answer=lambda values: sum(values)),
        slip("in steps", "multiply by `step` again.",
             answer=lambda values, step, chances:
                 _summed(values, step, chances, _by_chance) / step),
    ),
)  # fmt: skip


# ---- 11-claim-bound ------------------------------------------------------------------------------
BOUND = table(
    "11-claim-bound", "Fewer bits, more computing?", 4,
    "A product of m × k and k × n numbers, all three matrices in one format. `wide` and `narrow` "
    "are lists: bytes a number, and the peak in FLOP/s. `bandwidth` is in byte/s. Each operand is "
    "read once, and the result is written once. Return two values: how many times as fast the "
    "roofline allows the narrow product to be, and whether it is bound by memory.",
    "narrower(m, n, k, bandwidth, wide, narrow)", lines=4,
    cases=drawn(4, m=[8, 128, 400, 3000], n=range(500, 9000), k=range(500, 9000),
                bandwidth=[2e12, 3.35e12, 8e12],
                wide=lambda rng: [rng.choice((4, 8)), rng.choice((2e13, 6.7e13))],
                narrow=lambda rng: [rng.choice((1, 2)), rng.choice((3e14, 9.894e14))]),
    domain=dict.fromkeys(("m", "n", "k"), at_least(1))
        | {"bandwidth": Domain("above 0", ())} | dict.fromkeys(("wide", "narrow"), PAIR),
    example=(100, 1000, 2000, 1e12, [4, 2e14], [2, 4e14]),
    fixed=cases_of("m n k bandwidth wide narrow",
        (128, 4096, 4096, 3.35e12, [4, 6.7e13], [2, 9.894e14]),
        (1, 4096, 4096, 3.35e12, [4, 6.7e13], [2, 9.894e14]),
        (4096, 4096, 4096, 3.35e12, [4, 6.7e13], [2, 9.894e14]),
        (128, 4096, 4096, 3.35e12, [4, 6.7e13], [4, 4.945e14]),
        (1, 1, 1, 8e12, [2, 2.25e15], [1, 4.5e15]), (4000, 3000, 100, 1e13, [4, 1e14], [2, 1e15]),
        (4000, 300, 300, 1e12, [4, 1e14], [2, 1e14]), (60, 50, 9000, 1e12, [8, 1e13], [2, 3e13])),
    insight="On an H100 with M = 128, fp32 is bound by computing and bf16 by memory, and yet it is "
            "6 times as fast.",
    answer={
        "_numbers": lambda m, n, k: m * k + k * n + m * n,
        "_work": lambda m, n, k: 2 * m * n * k,
        "_before": lambda _work, _numbers, bandwidth, wide:
            max(_work / wide[1], _numbers * wide[0] / bandwidth),
        "_computing": lambda _work, narrow: _work / narrow[1],
        "_carrying": lambda _numbers, bandwidth, narrow: _numbers * narrow[0] / bandwidth,
        "times as fast": lambda _before, _computing, _carrying:
            _before / max(_computing, _carrying),
        "by memory": lambda _computing, _carrying: _computing < _carrying,
    },
    slips=(
        slip("as the peaks", "that holds only if both are bound by computing.",
             ways=[{"times_as_fast": lambda wide, narrow: narrow[1] / wide[1]}]),
        slip("as the bytes", "that holds only if both are bound by memory.",
             ways=[{"times_as_fast": lambda wide, narrow: wide[0] / narrow[0]}]),
        slip("the old side", "a narrow format moves the ridge; compare with its own ridge.",
             ways=[{"by_memory": lambda _work, _numbers, bandwidth, wide:
                    _work / wide[1] < _numbers * wide[0] / bandwidth}]),
        slip("the ridge stays", "the peak is another one, so the ridge is, too.",
             ways=[{"by_memory": lambda _work, _numbers, bandwidth, wide, narrow:
                    _work / wide[1] < _numbers * narrow[0] / bandwidth}]),
        slip("sum for max", "carrying and computing overlap: the longer one is the time.",
             ways=[{"times_as_fast": lambda _work, _numbers, bandwidth, wide, narrow:
                    (_work / wide[1] + _numbers * wide[0] / bandwidth)
                    / (_work / narrow[1] + _numbers * narrow[0] / bandwidth)}]),
        slip("min for max", ways=[
            {"times_as_fast": lambda _work, _numbers, bandwidth, wide, _computing, _carrying:
             min(_work / wide[1], _numbers * wide[0] / bandwidth) / min(_computing, _carrying)}]),
        slip("multiply-adds", _work=lambda m, n, k: m * n * k),
        slip("the result is not written", "m · n numbers are written, too.",
             _numbers=lambda m, n, k: m * k + k * n),
        slip("upside down", "that is how many times as *long*.",
             ways=[{"times_as_fast": lambda _before, _computing, _carrying:
                    max(_computing, _carrying) / _before}]),
        slip("by computing", "True stands for memory.",
             ways=[{"by_memory": lambda _computing, _carrying: _computing >= _carrying}]),
    ),
)  # fmt: skip


# ---- 11-blocks -----------------------------------------------------------------------------------
E2M1 = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)


def _octave(most: float, up: bool = False) -> float:
    """The power of two that is ``most`` or the next one below, or above."""
    part, exponent = math.frexp(most)
    return math.ldexp(1.0, exponent - 1 + (up and part > 0.5))


def _nearest(x: float) -> int:
    return min(range(8), key=lambda n: (abs(E2M1[n] - abs(x)), n % 2))


def _blocked(
    block: Sequence[float], scale: float, place: Callable[[float], int] = _nearest
) -> list[float]:
    """The block in E2M1 with this scale; ``place`` chooses one of its numbers for a magnitude."""
    if not scale:
        return [0.0 for _ in block]
    return [math.copysign(E2M1[place(abs(x) / scale)], x) * scale for x in block]


def _block(rng: random.Random) -> Case:
    size = 2.0 ** rng.randrange(-9, 9)
    return {"block": [rng.choice((1, 1, 0.1)) * size * rng.uniform(-1, 1)
                      for _ in range(rng.randrange(3, 9))]}  # fmt: skip


BLOCKS = table(
    "11-blocks", "A block of MXFP4", 5,
    "Round a `block` of numbers to MXFP4. Each becomes one of 0, 0.5, 1, 1.5, 2, 3, 4, 6, or its "
    "negative, times a scale that the block shares. Take the block's largest magnitude, and the "
    "largest power of two that is not above it. A quarter of that is the scale. Divide by the "
    "scale and take the nearest number. In a tie take the one at an even place in the list, "
    "counted from 0; beyond 6 take 6. Multiply by the scale again. All zeros stay zeros.",
    "mxfp4(block)", lines=8,
    cases=lambda rng: [_block(rng) for _ in range(4)],
    domain={"block": any_length(1)},
    example=([1.0, -7.0, 0.3],),
    fixed=cases_of("block",
        ([0.0, 0.0, 0.0],), ([6.0, 5.0, 3.5, 2.5, 1.75, 1.25, 0.75, 0.25],), ([1.0],),
        ([-4.0, 0.2, 0.3],), ([7.9, -0.26, 5.0],), ([0.001, -0.0007, 0.0001, 0.0],),
        ([100.0, 1.0, -30.0, 3.0],), ([-9.0, 1.0, 2.0, 3.0],), ([3.9, 3.2, -2.6, 0.4],),
        ([0.6, -1.0, 0.9, 0.2],), ([6.5, -5.1, 2.9, 0.5],), ([-0.11, 0.04, 0.012],),
        ([-6.0, -5.0, -3.5, -2.5, -1.75, -1.25, -0.75, -0.25],), ([0.3, 1.0, -5.0],)),
    insight="A block is 32 numbers of 4 bits and a scale of 8: 4¼ bits a number. A 1 beside 100 "
            "becomes 0.",
    answer={
        "_most": lambda block: max(map(abs, block)),
        "_scale": lambda _most: _octave(_most) / 4 if _most else 0.0,
        "answer": lambda block, _scale: _blocked(block, _scale),
    },
    slips=(
        slip("the largest becomes 6", "the scale is a quarter of a power of two.",
             _scale=lambda _most: _most / 6),
        slip("the power above", "take the largest power of two that is not above.",
             _scale=lambda _most: _octave(_most, up=True) / 4 if _most else 0.0),
        slip("not a quarter", "the scale is a quarter of that power of two.",
             _scale=lambda _most: _octave(_most) if _most else 0.0),
        slip("the largest, not its magnitude", "a negative number may be the largest in magnitude.",
             _most=lambda block: max(0.0, *block, 0.0)),
        slip("halfway goes up", "halfway take the one at an even place of the list.",
             answer=lambda block, _scale: _blocked(block, _scale, lambda x: min(
                 range(8), key=lambda n: (abs(E2M1[n] - x), -n)))),
        slip("halfway goes down", "halfway take the one at an even place of the list.",
             answer=lambda block, _scale: _blocked(block, _scale, lambda x: min(
                 range(8), key=lambda n: (abs(E2M1[n] - x), n)))),
        slip("rounded down", "take the nearest number.",
             answer=lambda block, _scale: _blocked(block, _scale, lambda x: max(
                 n for n in range(8) if E2M1[n] <= x))),
        slip("signs are lost", "a negative number stays negative.",
             answer=lambda block, _scale: [abs(x) for x in _blocked(block, _scale)]),
        slip("still divided", "multiply by the scale again.",
             answer=lambda block, _scale: [x / (_scale or 1) for x in _blocked(block, _scale)]),
    ),
)  # fmt: skip


# ---- 11-expected ---------------------------------------------------------------------------------
LAUNCH, PEAK, BANDWIDTH = 2e-6, 0.78 * 2.25e15, 0.92 * 8e12  # of torchao's model of a B200


def _kernel(flops: float, peak: float, moved: float, least: float = LAUNCH) -> float:
    return max(flops / peak, moved / BANDWIDTH, least)


def _layer(m: int, n: int, k: int, width: float, times: float, **more: Any) -> float:
    """Seconds of a ReLU and a product whose operands have ``width`` bytes a number."""
    written, least = more.get("writes", width), more.get("least", LAUNCH)
    relu = _kernel(0, 1, m * k * (2 * more.get("passes", 1) + written), least)
    moved = (m * k + k * n) * width + m * n * more.get("result", 2)
    product = _kernel(2 * m * k * n, PEAK * times, moved, least)
    return product + relu * more.get("relu", 1)


def _fast(m: int, n: int, k: int, width: float, times: float, passes: int, **more: Any) -> float:
    both = {key: value for key, value in more.items() if key in ("least", "relu")}
    small = _layer(m, n, k, width, times, **{"passes": passes, **more})
    return _layer(m, n, k, 2, 1, **both) / small


EXPECTED = table(
    "11-expected", "What torchao expects", 4,
    "Two kernels: a ReLU of m × k numbers, then their product with k × n numbers. In bf16 each "
    "number has 2 bytes; ReLU reads its input and writes its result, and the product reads both "
    "operands and writes m × n numbers. Quantised, ReLU reads its input `passes` times, 2 bytes a "
    "number, and writes `bits` bits a number. The product reads operands of `bits` bits, still "
    "writes 2 bytes a number, and its peak is multiplied by `times`. A kernel takes the longest "
    "of three times: FLOPs ÷ 1.755e15, bytes ÷ 7.36e12, and 2e-6 s. Only the product has FLOPs. "
    "Return how many times as fast the quantised pair is.",
    "expected(m, n, k, bits, times, passes)", lines=5,
    cases=drawn(4, m=[4096, 64, 9000, 1500], n=range(2000, 9000), k=range(2000, 9000),
                bits=[8.25, 4.5, 8, 4.25], times=[2, 4, 2, 4], passes=[1, 2, 1, 2]),
    domain=dict.fromkeys(("m", "n", "k"), at_least(1)) | {"bits": ANY, "times": ANY}
        | {"passes": one_of(1, 2)},
    example=(3000, 5000, 4000, 8.25, 2, 1),
    fixed=cases_of("m n k bits times passes",
        (1024, 1024, 1024, 8.25, 2, 1), (4096, 4096, 4096, 8.25, 2, 1),
        (4096, 4096, 4096, 4.5, 4, 2), (1, 1, 1, 4.5, 4, 1), (16384, 16384, 16384, 4.5, 4, 2),
        (8, 16384, 16384, 8.25, 2, 1), (20_000, 200, 9000, 4.5, 4, 2),
        (2048, 2048, 2048, 8.25, 2, 1), (8, 16384, 16384, 4.25, 2, 1)),
    insight="At 4096³ it gives nearly 2 for MXFP8 and nearly 3 for NVFP4, where a B200 was about "
            "one and a half times as fast.",
    answer={
        "_width": lambda bits: bits / 8,
        "answer": lambda m, n, k, _width, times, passes: _fast(m, n, k, _width, times, passes),
    },
    slips=(
        slip("no least time", "a kernel takes 2e-6 s at least.",
             answer=lambda m, n, k, _width, times, passes:
                 _fast(m, n, k, _width, times, passes, least=0.0)),
        slip("one least time for both", "each of the two kernels takes 2e-6 s at least.",
             answer=lambda m, n, k, _width, times, passes:
                 max(LAUNCH, _layer(m, n, k, 2, 1, least=0.0))
                 / max(LAUNCH, _layer(m, n, k, _width, times, passes=passes, least=0.0))),
        slip("without the ReLU", "the ReLU takes time, too.",
             answer=lambda m, n, k, _width, times, passes:
                 _fast(m, n, k, _width, times, passes, relu=0)),
        slip("read once", "quantised, ReLU reads its input `passes` times.",
             answer=lambda m, n, k, _width, times: _fast(m, n, k, _width, times, 1)),
        slip("the result is small, too", "the product still writes 2 bytes for each number.",
             answer=lambda m, n, k, _width, times, passes:
                 _fast(m, n, k, _width, times, passes, result=_width)),
        slip("ReLU writes bf16", "quantised, ReLU writes `bits` bits for each number.",
             answer=lambda m, n, k, _width, times, passes:
                 _fast(m, n, k, _width, times, passes, writes=2)),
        slip("the peak stays", "the quantised product has `times` the peak.",
             answer=lambda m, n, k, _width, passes: _fast(m, n, k, _width, 1, passes)),
        slip("the bytes stay", "the operands have `bits` bits for each number.", _width=2),
        slip("bits for bytes", "8 bits are a byte.", _width=lambda bits: bits),
        slip("as the peaks", "only a product that is bound by computing gains that much.",
             answer=lambda times: times),
        slip("n and k in each other's place", "ReLU works on m × k numbers: the order is m, n, k.",
             answer=lambda m, n, k, _width, times, passes: _fast(m, k, n, _width, times, passes)),
        slip("upside down", "that is how many times as *long*.",
             answer=lambda m, n, k, _width, times, passes:
                 1 / _fast(m, n, k, _width, times, passes)),
    ),
)  # fmt: skip


# ---- 11-slices -----------------------------------------------------------------------------------
Pairs = Callable[[int, int], bool]


def _sliced(
    a: Sequence[int], b: Sequence[int], bits: int, count: int,
    pairs: Pairs, shift: Callable[[int, int], int], place: Callable[[int], int],
) -> int:  # fmt: skip
    """The sum of the products of slices i and j, 1 the highest, for ``pairs`` (i, j)."""
    mask = 2**bits - 1
    return sum(
        (x >> place(i) & mask) * (y >> place(j) & mask) * 2 ** shift(i, j)
        for x, y in zip(a, b) for i in range(1, count + 1) for j in range(1, count + 1)
        if pairs(i, j)
    )  # fmt: skip


def _numbers(rng: random.Random) -> Case:
    bits, count, many = rng.randrange(2, 8), rng.randrange(2, 5), rng.randrange(2, 5)
    most = 2 ** (bits * count)
    return {"a": [rng.randrange(most) for _ in range(many)],
            "b": [rng.randrange(most) for _ in range(many)],
            "bits": bits, "count": count}  # fmt: skip


def _slices(pairs: Pairs, **more: Any) -> Callable[..., int]:
    """The answer over these pairs; ``shift`` and ``low`` are the slips of places."""
    return lambda a, b, bits, count: _sliced(
        a, b, bits, count, lambda i, j: pairs(i + j, count),
        lambda i, j: bits * (2 * count - i - j - more.get("shift", 0)),
        lambda i: bits * (i - 1 if more.get("low") else count - i),
    )


SLICES = table(
    "11-slices", "Exact enough, by slices", 5,
    "`a` and `b` are lists of whole numbers from 0 to 2**(bits * count) - 1. Cut each number into "
    "`count` slices of `bits` bits; slice 1 is the highest. Slice i of a number in `a` times slice "
    "j of its partner in `b` counts 2**(bits * (2 * count - i - j)) times. Return a[0]·b[0] + "
    "a[1]·b[1] + …, but leave out the pairs of slices with i + j above count + 1.",
    "sliced(a, b, bits, count)", lines=8,
    cases=lambda rng: [_numbers(rng) for _ in range(4)],
    domain={"a": any_length(1), "b": any_length(1), "bits": at_least(1), "count": at_least(1)},
    example=([9, 40], [16, 25], 3, 2),
    fixed=cases_of("a b bits count",
        ([255], [255], 4, 2), ([5], [7], 3, 1), ([1, 2, 3], [3, 2, 1], 1, 2),
        ([0, 9], [4, 0], 2, 2), ([123_456, 654_321], [999_999, 1_000_003], 7, 3),
        ([200, 77], [13, 254], 2, 4), ([2**21 - 1], [2**21 - 2], 7, 3), ([16, 15], [1, 240], 4, 2)),
    insight="Eight slices hold 56 bits, fp64 has 53. They take 36 products: by the peaks that "
            "pays on a B200, not on an H100.",
    answer=_slices(lambda place, count: place <= count + 1),
    slips=(
        slip("nothing is left out", "pairs with i + j above count + 1 are left out.",
             answer=_slices(lambda place, count: True)),
        slip("one too few", "i + j = count + 1 still counts.",
             answer=_slices(lambda place, count: place <= count)),
        slip("one too many", "i + j = count + 2 is left out.",
             answer=_slices(lambda place, count: place <= count + 2)),
        slip("only equal slices", "slice 1 meets slice 2 of its partner, too.",
             answer=lambda a, b, bits, count: _sliced(
                 a, b, bits, count, lambda i, j: i == j and 2 * i <= count + 1,
                 lambda i, j: bits * (2 * count - i - j), lambda i: bits * (count - i))),
        slip("counted from 0", "with slices 0 to count − 1 the limits and the worth change.",
             answer=_slices(lambda place, count: place <= count + 1, shift=-2)),
        slip("from the lowest", "slice 1 is the highest.",
             answer=_slices(lambda place, count: place <= count + 1, low=True)),
        slip("all worth the same", "a product of slices has a place: multiply by its worth.",
             answer=lambda a, b, bits, count: _sliced(
                 a, b, bits, count, lambda i, j: i + j <= count + 1, lambda i, j: 0,
                 lambda i: bits * (count - i))),
        slip("the first slices only", "that is one product of count · (count + 1) / 2.",
             answer=_slices(lambda place, count: place == 2)),
    ),
)  # fmt: skip

EXERCISES = (ROUND, PIECES, CHANCE, BOUND, BLOCKS, EXPECTED, SLICES)

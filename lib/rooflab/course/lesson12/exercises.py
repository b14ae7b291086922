"""Exercises of lesson 12, smaller weights: what packing saves, what unpacking costs, who gains.

The wrong answers are slips of public teaching material and of bug reports: "4-bit is 4 times as
fast", "2:4 halves the traffic", a gain that is promised for every batch.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

from rooflab.exercises.exercise import Case, Domain, any_length, at_least, cases_of
from rooflab.exercises.table import drawn, slip, table

ABOVE_0 = Domain("above 0", ())
FOURS = Domain("a list of 4, 8, 12, … numbers", (4,))


# ---- 12-nibbles ----------------------------------------------------------------------------------
def _signed(nibble: int) -> int:
    return nibble - 16 if nibble > 7 else nibble


def _unpacked(
    data: Sequence[int], sign: Callable[[int], int] = _signed, low_first: bool = True
) -> list[int]:
    """Two numbers of 4 bits a byte; ``sign`` makes a number from -8 to 7 of one from 0 to 15."""
    pairs = [(byte & 15, byte >> 4) for byte in data]
    return [sign(one) for pair in pairs for one in (pair if low_first else pair[::-1])]


NIBBLES = table(
    "12-nibbles", "Unpack int4", 3,
    "Each byte of `data`, from 0 to 255, holds two whole numbers from -8 to 7 in 4 bits each. The "
    "low 4 bits are the first of them, the high 4 bits the second. In 4 bits, 8 to 15 stand for "
    "-8 to -1. Return the list of all numbers in their order.",
    "unpacked(data)", lines=5,
    cases=lambda rng: [{"data": [rng.randrange(256) for _ in range(rng.randrange(2, 7))]}
                       for _ in range(4)],
    domain={"data": any_length(1)},
    example=([33, 7],),
    fixed=cases_of("data", ([0],), ([128, 8],), ([255],), ([127, 240, 15],), ([24, 129],),
                   ([200, 100, 50],)),
    insight="A mask, a shift and a sign for each number, before it can be multiplied.",
    answer=lambda data: _unpacked(data),
    slips=(
        slip("no signs", "8 to 15 stand for -8 to -1.",
             answer=lambda data: _unpacked(data, lambda n: n)),
        slip("high bits first", "the low 4 bits are the first number of a byte.",
             answer=lambda data: _unpacked(data, low_first=False)),
        slip("8 less", "only 8 to 15 stand for something else, and 0 to 7 for themselves.",
             answer=lambda data: _unpacked(data, lambda n: n - 8)),
        slip("a bit for the sign", "8 stands for -8, and 15 for -1: 16 less.",
             answer=lambda data: _unpacked(data, lambda n: -(n - 8) if n > 7 else n)),
        slip("15 less", "15 stands for -1, so 16 less.",
             answer=lambda data: _unpacked(data, lambda n: n - 15 if n > 7 else n)),
        slip("8 stays 8", "the largest number is 7; 8 stands for -8.",
             answer=lambda data: _unpacked(data, lambda n: n - 16 if n > 8 else n)),
        slip("all low ones first", "the two numbers of a byte follow each other.",
             answer=lambda data: [_signed(byte & 15) for byte in data]
             + [_signed(byte >> 4) for byte in data]),
        slip("one number a byte", "the high 4 bits are a number, too.",
             answer=lambda data: [_signed(byte & 15) for byte in data]),
    ),
)  # fmt: skip


# ---- 12-small ------------------------------------------------------------------------------------
Point = Sequence[float]  # bytes, seconds


def _line(first: Point, second: Point) -> tuple[float, float]:
    """Seconds of a call that reads nothing, and seconds a byte, through two measured points."""
    each = (second[1] - first[1]) / (second[0] - first[0])
    return first[1] - each * first[0], each


def _points(rng: random.Random) -> Case:
    start, bandwidth = rng.uniform(2e-6, 9e-6), rng.uniform(3e11, 4e12)
    few, many = rng.uniform(1e5, 4e6), rng.uniform(3e7, 9e8)
    return {"first": [few, start + few / bandwidth], "second": [many, start + many / bandwidth],
            "other": rng.uniform(3e-6, 2e-5), "size": 10 ** rng.uniform(5, 9),
            "times": rng.choice((2, 3.88, 4))}  # fmt: skip


SMALL = table(
    "12-small", "A layer that does not gain", 4,
    "A product of one vector takes a constant time, and the time to read its weights. `first` and "
    "`second` are measurements: the bytes of a matrix, and the seconds of its product. Another "
    "matrix has `size` bytes. With int4 it shrinks to size / times bytes, which are read as fast, "
    "and the constant time is `other` seconds. Return how many times as fast its product becomes.",
    "gain(first, second, other, size, times)", lines=4,
    cases=lambda rng: [_points(rng) for _ in range(4)],
    domain=dict.fromkeys(("first", "second"), Domain("bytes, and seconds", ()))
        | dict.fromkeys(("other", "size"), ABOVE_0) | {"times": Domain("1 or more", (1,))},
    example=([0, 5e-6], [1e8, 105e-6], 1e-5, 2e7, 4),
    fixed=cases_of("first second other size times",
        ([1e6, 4e-6], [3e8, 160e-6], 1.1e-5, 1e5, 4), ([1e6, 4e-6], [3e8, 160e-6], 1.1e-5, 2e9, 4),
        ([2e8, 108e-6], [1e6, 8.5e-6], 9e-6, 1e7, 2), ([1e7, 1e-5], [2e7, 1.5e-5], 4e-6, 3e7, 3.5),
        ([1e6, 6e-6], [1e8, 105e-6], 2e-5, 5e6, 1), ([0, 1e-9], [1e6, 2e-6], 1e-9, 1000, 3.88)),
    insight="On an A100, for one vector, the median of 288 shapes gained nothing from int4, and "
            "large matrices 3.1 times.",
    answer={
        "_start": lambda first, second: _line(first, second)[0],
        "_each": lambda first, second: _line(first, second)[1],
        "_other": lambda other: other,
        "answer": lambda _start, _each, _other, size, times:
            (_start + _each * size) / (_other + _each * size / times),
    },
    slips=(
        slip("bytes alone",
             "a product has a constant time, too; `first` and `second` are bytes and seconds each.",
             answer=lambda times: times),
        slip("one constant for both", "with int4 the constant time is `other` seconds.",
             _other=lambda first, second: _line(first, second)[0]),
        slip("only one has a constant", "both products have a constant time.",
             ways=[{"_other": 0.0}, {"_start": 0.0}]),
        slip("the first point's time is the constant",
             "the first matrix was read, too, and that took some of its time.",
             _start=lambda first: first[1]),
        slip("bandwidth of one point", "a time over its bytes holds the constant time, too.",
             ways=[{"_each": lambda second: second[1] / second[0]},
                   {"_each": lambda first: first[1] / (first[0] or 1)}]),
        slip("the old size", "the new product reads `times` times fewer bytes.",
             answer=lambda _start, _each, _other, size:
                 (_start + _each * size) / (_other + _each * size)),
        slip("times more", "the weights become fewer bytes, not more.",
             answer=lambda _start, _each, _other, size, times:
                 (_start + _each * size) / (_other + _each * size * times)),
        slip("upside down", "that is how many times as *long*.",
             answer=lambda _start, _each, _other, size, times:
                 (_other + _each * size / times) / (_start + _each * size)),
    ),
)  # fmt: skip


# ---- 12-knee -------------------------------------------------------------------------------------
def _time(
    batch: int, n: int, k: int, bits: float, peak: float, bandwidth: float, *,
    vectors: float = 2, flops: float = 2, summed: bool = False,
) -> float:  # fmt: skip
    """Seconds of a product of ``batch`` vectors with weights of ``bits`` bits, by the roofline."""
    computing = flops * batch * n * k / peak
    carrying = (n * k * bits / 8 + vectors * batch * (n + k)) / bandwidth
    return computing + carrying if summed else max(computing, carrying)


def _last(
    n: int, k: int, bits: float, peak: float, bandwidth: float, wanted: float, **more: Any
) -> int:
    """The largest batch that gains ``wanted`` times, by doubling and halving."""

    def gains(batch: int) -> bool:
        wide, narrow = (_time(batch, n, k, b, peak, bandwidth, **more) for b in (16, bits))
        return wide >= wanted * narrow

    low, high = 0, 1
    while gains(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if gains(middle) else (low, middle)
    return low


KNEE = table(
    "12-knee", "Up to which batch?", 4,
    "Weights of n × k numbers meet `batch` vectors of k numbers at once, and give as many vectors "
    "of n numbers. Vectors and results have 16 bits a number. A weight has 16 bits, or `bits` "
    "bits, its scale included; computing is the same in both cases, at `peak` FLOP/s. By the "
    "roofline, with `bandwidth` in byte/s, return the largest batch for which the small weights "
    "are at least `wanted` times as fast, or 0.",
    "knee(n, k, bits, peak, bandwidth, wanted)", lines=7,
    cases=drawn(4, n=range(1000, 9000), k=range(1000, 9000), bits=[4.125, 8, 4.5, 3],
                peak=[1.25e14, 3.12e14, 9.894e14], bandwidth=[6e11, 2.039e12, 3.35e12],
                wanted=lambda rng, bits: rng.uniform(1.1, 0.97 * 16 / bits)),
    domain=dict.fromkeys(("n", "k"), at_least(1))
        | dict.fromkeys(("bits", "peak", "bandwidth"), ABOVE_0)
        | {"wanted": Domain("more than 1", ())},
    example=(4000, 5000, 8, 1e14, 1e12, 1.9),
    fixed=cases_of("n k bits peak bandwidth wanted",
        (18432, 73728, 4.125, 1.25e14, 6e11, 3.0), (18432, 73728, 4.125, 1.25e14, 6e11, 3.87),
        (4096, 4096, 4.5, 9.894e14, 3.35e12, 3.5), (1, 1, 8, 1e14, 1e12, 1.5),
        (4096, 4096, 4, 9.894e14, 3.35e12, 4.5), (512, 512, 8, 3.12e14, 2.039e12, 1.49),
        (100, 90, 4.125, 1e14, 1e12, 2.0)),
    insight="For the A10 of Marlin's authors this count says 3 or more up to batch 69.",
    answer=_last,
    slips=(
        slip("the first that does not", "return the last batch that still gains that much.",
             answer=lambda n, k, bits, peak, bandwidth, wanted:
                 _last(n, k, bits, peak, bandwidth, wanted) + 1),
        slip("only weights travel", "vectors and results travel, too, 2 bytes a number.",
             answer=lambda n, k, bits, peak, bandwidth, wanted:
                 _last(n, k, bits, peak, bandwidth, wanted, vectors=0)),
        slip("vectors of 4 bytes", "vectors and results have 16 bits a number: 2 bytes.",
             answer=lambda n, k, bits, peak, bandwidth, wanted:
                 _last(n, k, bits, peak, bandwidth, wanted, vectors=4)),
        slip("vectors of 1 byte", "vectors and results have 16 bits a number: 2 bytes.",
             answer=lambda n, k, bits, peak, bandwidth, wanted:
                 _last(n, k, bits, peak, bandwidth, wanted, vectors=1)),
        slip("multiply-adds", answer=lambda n, k, bits, peak, bandwidth, wanted:
             _last(n, k, bits, peak, bandwidth, wanted, flops=1)),
        slip("sum for max", "carrying and computing overlap: the longer one is the time.",
             answer=lambda n, k, bits, peak, bandwidth, wanted:
                 _last(n, k, bits, peak, bandwidth, wanted, summed=True)),
        slip("where it begins to compute",
             "that is the first batch that is bound by computing; some gain is left.",
             answer=lambda n, k, bits, peak, bandwidth: next(
                 batch for batch in range(1, 10**6)
                 if 2 * batch * n * k / peak * bandwidth >= n * k * bits / 8 + 2 * batch * (n + k)
                 or batch > 9999)),
    ),
)  # fmt: skip


# ---- 12-prune ------------------------------------------------------------------------------------
def _pruned(
    row: Sequence[float], key: Callable[[float, int], float] = lambda x, place: -abs(x),
    order: Callable[[int], float] = float,
) -> tuple[list[float], list[int]]:  # fmt: skip
    """Two of each four numbers, the first by ``key``, and their places; in this ``order``."""
    values, places = [], []
    for start in range(0, len(row), 4):
        four = row[start : start + 4]
        best = sorted(range(len(four)), key=lambda place: key(four[place], place))[:2]
        for place in sorted(best, key=order) if order else best:
            values.append(four[place])
            places.append(place)
    return values, places


def _row(rng: random.Random) -> Case:
    return {"row": [rng.randrange(-90, 91) / 10 for _ in range(4 * rng.randrange(1, 4))]}


PRUNE = table(
    "12-prune", "Two of four", 4,
    "Of each four numbers in `row`, keep the two with the largest magnitude, and of equal ones "
    "the earlier. Return two lists: the numbers that are kept, in their order, and the place of "
    "each among its four, from 0 to 3.",
    "pruned(row)", lines=8,
    cases=lambda rng: [_row(rng) for _ in range(4)],
    domain={"row": FOURS},
    example=([0.5, 2.0, -1.0, -3.0],),
    fixed=cases_of("row",
        ([1.0, -9.0, 3.0, -4.0],), ([2.0, -2.0, 2.0, 2.0],), ([0.0, 0.0, 0.0, 5.0],),
        ([0.0, 0.0, 0.0, 0.0, 1.0, 2.0, 3.0, 4.0],), ([9.0, 8.0, 7.0, 6.0, 1.0, 2.0, 4.0, 3.0],),
        ([-5.0, 1.0, 2.0, 6.0, 3.0, -7.0, 0.5, 7.0],), ([5.0, 4.0, -6.0, 1.0],),
        ([1.2, 1.4, 1.3, 1.1],)),
    insight="The kept half of the numbers, and 2 bits for each place: in fp16 that is 9/16 of the "
            "bytes, not half.",
    answer={
        "_kept": lambda row: _pruned(row),
        "numbers": lambda _kept: _kept[0],
        "places": lambda _kept: _kept[1],
    },
    slips=(
        slip("the largest, not their magnitudes", "-9 is larger in magnitude than 3.",
             _kept=lambda row: _pruned(row, lambda x, place: -x)),
        slip("the smallest", "keep the two with the largest magnitude.",
             _kept=lambda row: _pruned(row, lambda x, place: abs(x))),
        slip("the later of equal ones", "of equal ones keep the earlier.",
             _kept=lambda row: _pruned(row, lambda x, place: (-abs(x), -place))),  # type: ignore
        slip("by size", "the kept numbers stay in their order.",
             _kept=lambda row: _by_size(row)),
        slip("places in the row", "a place counts from the first of its four.",
             places=lambda row: [4 * (n // 2) + place for n, place in enumerate(_pruned(row)[1])]),
        slip("places from 1", "places go from 0 to 3.",
             places=lambda row: [place + 1 for place in _pruned(row)[1]]),
        slip("magnitudes", "the numbers keep their signs.",
             numbers=lambda row: [abs(x) for x in _pruned(row)[0]]),
        slip("half of the row", "two of each four, wherever the largest are.",
             _kept=lambda row: _largest_half(row)),
    ),
)  # fmt: skip


def _by_size(row: Sequence[float]) -> tuple[list[float], list[int]]:
    values, places = _pruned(row)
    pairs = list(zip(values, places))
    swapped = [one for n in range(0, len(pairs), 2)
               for one in sorted(pairs[n : n + 2], key=lambda pair: -abs(pair[0]))]  # fmt: skip
    return [value for value, _ in swapped], [place for _, place in swapped]


def _largest_half(row: Sequence[float]) -> tuple[list[float], list[int]]:
    best = sorted(sorted(range(len(row)), key=lambda n: -abs(row[n]))[: len(row) // 2])
    return [row[n] for n in best], [n % 4 for n in best]


# ---- 12-claim-half -------------------------------------------------------------------------------
HALF = table(
    "12-claim-half", "Two of four, half the time?", 4,
    "A matrix of k × n weights turns m vectors of k numbers into m vectors of n numbers. All "
    "have `bits` bits a number. Sparse weights keep two of each four numbers, and 2 bits for "
    "the place of each that is kept; k is a multiple of 4. Count the FLOPs of the dense product "
    "in both cases; the sparse unit skips zeros, so its peak is twice as high. By the roofline, "
    "return how many times as fast the sparse product is.",
    "sparser(m, n, k, bits, peak, bandwidth)", lines=5,
    cases=drawn(4, m=[1, 200, 345, 5000], n=range(1000, 9000),
                k=lambda rng: 4 * rng.randrange(300, 2000), bits=[16, 8, 16, 32],
                peak=[9.894e14, 1.979e15, 3.12e14], bandwidth=[3.35e12, 4.8e12, 2.039e12]),
    domain=dict.fromkeys(("m", "n"), at_least(1)) | {"k": Domain("4, 8, 12, …", (4,))}
        | dict.fromkeys(("bits", "peak", "bandwidth"), ABOVE_0),
    example=(300, 5000, 4000, 16, 1e15, 2e12),
    fixed=cases_of("m n k bits peak bandwidth",
        (1, 4096, 4096, 16, 9.894e14, 3.35e12), (345, 4096, 4096, 16, 9.894e14, 3.35e12),
        (467, 4096, 4096, 16, 9.894e14, 3.35e12), (4096, 4096, 4096, 16, 9.894e14, 3.35e12),
        (128, 4096, 4096, 8, 1.979e15, 3.35e12), (1, 1, 4, 16, 1e14, 1e12),
        (400, 300, 8000, 16, 1e14, 1e12), (400, 4096, 4096, 16, 9.894e14, 3.35e12)),
    insight="On an H100 with 4096 × 4096 weights in fp16 the gain is least for 345 vectors, and 2 "
            "from 467 on.",
    answer={
        "_vectors": lambda m, n, k, bits: m * (n + k) * bits,
        "_packed": lambda n, k, bits: n * k * (bits + 2) / 2,
        "_fewer": lambda m, n, k, peak: 2 * m * n * k / (2 * peak),
        "_dense": lambda m, n, k, bits, peak, bandwidth, _vectors:
            max(2 * m * n * k / peak, (n * k * bits + _vectors) / 8 / bandwidth),
        "_sparse": lambda _fewer, _packed, _vectors, bandwidth:
            max(_fewer, (_packed + _vectors) / 8 / bandwidth),
        "answer": lambda _dense, _sparse: _dense / _sparse,
    },
    slips=(
        slip("places are free", "2 bits are kept for the place of each number that stays.",
             _packed=lambda n, k, bits: n * k * bits / 2),
        slip("a place for every weight", "only kept numbers need a place: 2 bits for half of them.",
             _packed=lambda n, k, bits: n * k * (bits / 2 + 2)),
        slip("a bit for each place", "a place is one of four: 2 bits for each number that is kept.",
             _packed=lambda n, k, bits: n * k * (bits + 1) / 2),
        slip("vectors are sparse, too", "vectors and results stay as they are.",
             answer=lambda m, n, k, bits, peak, bandwidth, _dense:
                 _dense / max(m * n * k / peak,
                              (n * k * (bits + 2) / 2 + m * (n + k) * bits / 2) / 8 / bandwidth)),
        slip("the peak stays", "the unit skips the zeros: its peak is twice as high.",
             _fewer=lambda m, n, k, peak: 2 * m * n * k / peak),
        slip("four times the peak",
             "half of the FLOPs, or twice the peak for all of them; not both.",
             _fewer=lambda m, n, k, peak: 2 * m * n * k / (4 * peak)),
        slip("only weights travel", "vectors and results travel, too.", _vectors=0),
        slip("as the bytes", "a product of many vectors is bound by computing.",
             answer=lambda bits: 2 * bits / (bits + 2)),
        slip("twice", "not where it waits for memory.", answer=2),
        slip("one decides for both",
             "dense may be bound by computing where sparse still waits for memory.",
             answer=lambda m, n, k, bits, peak, bandwidth, _vectors, _packed:
                 2.0 if 2 * m * n * k / peak > (n * k * bits + _vectors) / 8 / bandwidth
                 else (n * k * bits + _vectors) / (_packed + _vectors)),
        slip("sum for max", "carrying and computing overlap: the longer one is the time.",
             answer=lambda m, n, k, bits, peak, bandwidth, _vectors, _packed:
                 (2 * m * n * k / peak + (n * k * bits + _vectors) / 8 / bandwidth)
                 / (m * n * k / peak + (_packed + _vectors) / 8 / bandwidth)),
        slip("multiply-adds", answer=lambda m, n, k, bits, peak, bandwidth, _vectors, _packed:
             max(m * n * k / peak, (n * k * bits + _vectors) / 8 / bandwidth)
             / max(m * n * k / 2 / peak, (_packed + _vectors) / 8 / bandwidth)),
    ),
)  # fmt: skip


# ---- 12-claim-bits -------------------------------------------------------------------------------
BITS = table(
    "12-claim-bits", "The small print", 4,
    "A weight has a sign, `exponent` bits of exponent and `mantissa` bits of mantissa. Of each "
    "`of` weights `kept` are stored. Where that is not all of them, each stored weight also has "
    "its place, a number from 0 to `of` - 1; `of` is a power of two. Each `block` weights, stored "
    "or not, share a scale of `scale` bits. Return the bits that a weight takes on average.",
    "weight_bits(exponent, mantissa, kept, of, block, scale)", lines=2,
    cases=drawn(5, exponent=range(6), mantissa=range(1, 8), kept=[1, 2, 3], of=[4, 8, 16],
                block=[16, 32, 64, 128], scale=[8, 16, 32]),
    domain=dict.fromkeys(("exponent", "mantissa", "scale"), at_least(0))
        | dict.fromkeys(("kept", "of", "block"), at_least(1)),
    example=(2, 3, 1, 4, 64, 16),
    fixed=cases_of("exponent mantissa kept of block scale",
        (3, 2, 1, 1, 1, 0), (2, 1, 4, 4, 32, 8), (2, 1, 4, 4, 16, 8), (0, 3, 2, 4, 128, 16),
        (0, 3, 4, 4, 128, 16), (5, 10, 2, 4, 1, 0), (8, 0, 1, 1, 1, 0), (4, 3, 2, 4, 32, 8),
        (8, 7, 1, 2, 64, 32)),
    insight="Sparse-Marlin stores 3 1/8 bits a weight, and 16 bits are 5.12 times as many.",
    answer={
        "_number": lambda exponent, mantissa: 1 + exponent + mantissa,
        "_place": lambda kept, of: (of - 1).bit_length() if kept < of else 0,
        "_stored": lambda kept, of: kept / of,
        "_scale": lambda block, scale: scale / block,
        "answer": lambda _number, _place, _stored, _scale: (_number + _place) * _stored + _scale,
    },
    slips=(
        slip("no sign", "a weight has a sign, too.",
             _number=lambda exponent, mantissa: exponent + mantissa),
        slip("scales are free", "the scale of a block is shared, not free.", _scale=0),
        slip("places are free", "a stored weight needs its place, if some are left out.", _place=0),
        slip("a place for every weight", "only stored weights have a place.",
             answer=lambda _number, _place, _stored, _scale: _number * _stored + _place + _scale),
        slip("places where all are kept", "if all weights are stored, none needs a place.",
             _place=lambda of: (of - 1).bit_length()),
        slip("a bit for each place", "to tell `of` places apart takes log2(of) bits.",
             _place=lambda kept, of: int(kept < of)),
        slip("a bit for every weight of the group",
             "a place is a number from 0 to `of` - 1; a mask of `of` bits is another way.",
             answer=lambda _number, _stored, _scale, kept, of:
                 _number * _stored + (kept < of) + _scale),
        slip("only stored weights share", "a block counts weights that are left out, too.",
             _scale=lambda block, scale, _stored: scale / block * _stored),
        slip("a scale for each weight", "`block` weights share the scale.",
             _scale=lambda scale: scale),
        slip("nothing is left out", "of each `of` weights only `kept` are stored.", _stored=1),
    ),
)  # fmt: skip


# ---- 12-best -------------------------------------------------------------------------------------
Options = Sequence[Sequence[float]]  # bytes of the weights, seconds of computing for a sequence


def _step(option: Sequence[float], batch: int, kv: float, bandwidth: float) -> float:
    return max((option[0] + batch * kv) / bandwidth, batch * option[1])


def _batch(
    option: Sequence[float], kv: float, room: float, bandwidth: float, deadline: float
) -> int:
    """The largest batch that fits and is in time; 0 if none is."""
    most = max(0, int((room - option[0]) // kv))
    most = min(most, int(deadline // option[1]), int((deadline * bandwidth - option[0]) // kv))
    while most > 0 and _step(option, most, kv, bandwidth) > deadline:
        most -= 1
    return max(0, most)


def _best(
    options: Options, kv: float, room: float, bandwidth: float, deadline: float,
    rate: Callable[[int, float], float] = lambda batch, seconds: batch / seconds,
) -> tuple[int, float]:  # fmt: skip
    """The place of the best option, and its tokens a second; (-1, 0) if none is possible."""
    place, most, tokens = -1, 0.0, 0.0
    for n, option in enumerate(options):
        batch = _batch(option, kv, room, bandwidth, deadline)
        if batch < 1:
            continue
        seconds = _step(option, batch, kv, bandwidth)
        if rate(batch, seconds) > most:
            place, most, tokens = n, rate(batch, seconds), batch / seconds
    return place, tokens


def _serving(rng: random.Random) -> Case:
    """16 bits, int8 for weights and vectors, int4 for weights alone: which computes slowly."""
    size, kv = rng.uniform(6e9, 2.4e10), rng.uniform(5e7, 6e8)
    bandwidth, each = rng.uniform(1e12, 4e12), rng.uniform(2e-5, 3e-4)
    options = [[size, each], [size / 2, each / 2], [0.28 * size, rng.uniform(1, 3) * each]]
    return {"options": options, "kv": kv, "room": rng.uniform(1.1, 5) * size,
            "bandwidth": bandwidth, "deadline": rng.uniform(0.4, 4) * size / bandwidth}  # fmt: skip


BEST = table(
    "12-best", "Which lever first?", 5,
    "A model is served with one of several kinds of weights. Each of `options` is a list: the "
    "bytes of its weights, and the seconds of computing for one sequence in a step. A step makes "
    "one token for each of `batch` sequences. It reads the weights once, and `kv` bytes for each "
    "sequence, at `bandwidth` byte/s, and computes at the same time. Weights and `kv` bytes for "
    "each sequence have to fit into `room` bytes, and a step may take `deadline` seconds. Each "
    "option takes the largest batch that is possible. Return the place, from 0, of the option that "
    "makes the most tokens a second (the first of equal ones), and its tokens a second; "
    "(-1, 0.0) if no option can make any.",
    "best(options, kv, room, bandwidth, deadline)", lines=10,
    cases=lambda rng: [_serving(rng) for _ in range(6)],
    domain={"options": any_length(1)}
        | dict.fromkeys(("kv", "room", "bandwidth", "deadline"), ABOVE_0),
    example=([[1.6e10, 4e-5], [8e9, 2e-5]], 2.5e8, 2e10, 2e12, 0.02),
    fixed=cases_of("options kv room bandwidth deadline",
        ([[1.4e10, 1e-4], [7e9, 5e-5], [4e9, 4e-4]], 2.5e8, 2.0e10, 2e12, 0.05),
        ([[1.4e10, 1e-4], [7e9, 1e-4], [4e9, 1.1e-4]], 1.3e8, 7.9e10, 2e12, 0.0034),
        ([[1.4e10, 1e-4]], 2.5e8, 1.0e10, 2e12, 0.05),
        ([[1.4e10, 1e-4], [7e9, 5e-5]], 2.5e8, 8e10, 2e12, 0.001),
        ([[1.4e10, 1e-4], [7e9, 3e-3]], 2.5e8, 8e10, 2e12, 0.02),
        ([[6e9, 2e-4], [6e9, 2e-4]], 3e8, 2.4e10, 1e12, 0.1),
        ([[1.4e10, 1e-5], [4e9, 9e-4]], 2e8, 4e10, 2e12, 0.03),
        ([[1e9, 0.05]], 3e8, 3e10, 1e12, 0.03), ([[1e9, 0.02]], 3e8, 3e10, 1e12, 0.03),
        ([[9e9, 1e-3], [8e9, 1e-3], [7e9, 2e-3], [3e9, 1e-3]], 3e8, 2e10, 1e12, 0.05),
        ([[5e9, 1.3e-3], [9e9, 2e-4]], 3e8, 3e10, 1e12, 0.0305)),
    insight="Smaller weights gain twice: they are read sooner, and leave room for more sequences.",
    answer={
        "_best": lambda options, kv, room, bandwidth, deadline:
            _best(options, kv, room, bandwidth, deadline),
        "place": lambda _best: _best[0],
        "tokens a second": lambda _best: _best[1],
    },
    slips=(
        slip("the deadline is forgotten", "a step may take `deadline` seconds.",
             _best=lambda options, kv, room, bandwidth:
                 _best(options, kv, room, bandwidth, 1e9)),
        slip("the room is forgotten", "weights and all sequences have to fit into `room`.",
             _best=lambda options, kv, bandwidth, deadline:
                 _best(options, kv, 1e18, bandwidth, deadline)),
        slip("computing is free", "a step takes the longer one of reading and computing.",
             _best=lambda options, kv, room, bandwidth, deadline: _best(
                 [[size, 1e-12] for size, _ in options], kv, room, bandwidth, deadline)),
        slip("steps a second", "a step makes a token for each sequence.",
             ways=[{"tokens_a_second": lambda options, kv, room, bandwidth, deadline, _best:
                    0.0 if _best[0] < 0 else 1 / _step(
                        options[_best[0]],
                        _batch(options[_best[0]], kv, room, bandwidth, deadline), kv, bandwidth)}]),
        slip("the shortest step", "most tokens a second are asked for, not the shortest step.",
             _best=lambda options, kv, room, bandwidth, deadline: _best(
                 options, kv, room, bandwidth, deadline, lambda batch, seconds: 1 / seconds)),
        slip("the smallest weights", "small weights may compute slowly.",
             _best=lambda options, kv, room, bandwidth, deadline: _only(
                 options, min(range(len(options)), key=lambda n: options[n][0]), kv, room,
                 bandwidth, deadline)),
        slip("a batch of one", "take the largest batch that is possible.",
             ways=[{"tokens_a_second": lambda options, kv, bandwidth, _best:
                    0.0 if _best[0] < 0 else 1 / _step(options[_best[0]], 1, kv, bandwidth)}]),
        slip("never impossible", "if no option can make a token, it is (-1, 0.0).",
             place=lambda options, kv, room, bandwidth, deadline, _best: max(0, _best[0])),
    ),
)  # fmt: skip


def _only(options: Options, place: int, *more: float) -> tuple[int, float]:
    """The same for one option alone."""
    chosen, tokens = _best([options[place]], *more)
    return (place, tokens) if chosen == 0 else (-1, 0.0)


EXERCISES = (NIBBLES, SMALL, KNEE, PRUNE, BEST, HALF, BITS)

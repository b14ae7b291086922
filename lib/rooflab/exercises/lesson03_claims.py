"""Exercises of lesson 03 that put published sentences on trial.

Thumb rules, "the ridge grows each generation", "raise the intensity".
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from itertools import pairwise, permutations

from rooflab.count import gemm
from rooflab.exercises.drawing import peak_and_bandwidth
from rooflab.exercises.exercise import Case, Exercise, Misconception

# Two of each band: the ridge below 4 FLOP/byte, between 4 and 8, above 8.
BANDS = (
    (("rtx-4090", "fp64"), ("rtx-5090", "fp64"), ("b300", "fp64")),
    (("a100-sxm-80", "fp64"), ("a100-sxm-40", "fp64"), ("h200-sxm", "fp64"), ("b200", "fp64")),
    (("a100-sxm-80", "fp32"), ("rtx-4090", "fp32"), ("mi300x", "fp16"), ("m3-pro", "fp32")),
)


def _thumb_cases(rng: random.Random) -> list[Case]:
    which = [one for band in BANDS for one in rng.sample(band, 2)]
    rng.shuffle(which)
    return [
        dict(zip(("peak", "bandwidth"), peak_and_bandwidth(*one), strict=True)) for one in which
    ]


THUMB = Exercise(
    "03-thumb-rules", "“Below 4 memory, above 8 compute”", 2,
    "Two thumb rules: below 4 FLOP/byte everything waits for memory; above 8 everything is limited "
    "by computing. Which of them holds on this machine?",
    "holds(peak, bandwidth)", lambda p, b: (p / b >= 4, p / b <= 8), cases=_thumb_cases,
    returns=("first rule", "second rule"), lines=2, derives=("Roofline",),
    insight="Both rules hold only on machines whose ridge lies between 4 and 8 FLOP/byte. Does "
            "yours?",
    misconceptions=(
        Misconception("a law of nature", lambda p, b: (True, True),
                      "4 and 8 stay, the ridge does not: ask where the ridge of this machine is."),
        Misconception("exchanged", lambda p, b: (p / b <= 8, p / b >= 4),
                      "the rule “below 4” needs a slope up to 4: compare the ridge with 4 first."),
        Misconception("the other way", lambda p, b: (p / b <= 4, p / b >= 8),
                      "memory limits what is left of the ridge, computing what is right of it."),
        Misconception("the second the other way", lambda p, b: (p / b >= 4, p / b >= 8),
                      "the second rule is about what lies right of 8: it is limited by computing "
                      "if the ridge lies left of it."),
        Misconception("the first the other way", lambda p, b: (p / b <= 4, p / b <= 8),
                      "the first rule is about what lies left of 4: it is limited by memory if the "
                      "ridge lies right of it."),
        Misconception("upside down", lambda p, b: (b / p >= 4, b / p <= 8),
                      "that compares bytes per FLOP with 4 and 8 FLOPs per byte."),
        Misconception("both or neither", lambda p, b: (4 <= p / b <= 8,) * 2,
                      "judge each rule alone: one may hold where the other fails."),
        Misconception("one border for both", lambda p, b: (p / b >= 8, p / b <= 8),
                      "each rule has a figure of its own: 4 for the first, 8 for the second.",
                      variants=(lambda p, b: (p / b >= 4, p / b <= 4),)),
        Misconception("4 and 8 exchanged", lambda p, b: (p / b >= 8, p / b <= 4),
                      "the first rule is about what lies below 4, the second about what lies "
                      "above 8."),
        Misconception("never", lambda p, b: (False, False),
                      "a rule may hold by luck: ask where the ridge of this machine is."),
    ),
)  # fmt: skip


def _kernel_cases(rng: random.Random) -> list[Case]:
    """Six machines with four kernels each, drawn again until the usual mistakes about the time
    lead to different pairs."""
    drawn = _six_jobs(rng)
    while not _told_apart(drawn):
        drawn = _six_jobs(rng)
    return drawn


def _six_jobs(rng: random.Random) -> list[Case]:
    """Four kernels for one job, faster from one intensity to the next but for one neighbour
    pair."""
    drawn = []
    for number, which in enumerate(rng.sample([one for band in BANDS for one in band], 6)):
        peak, bandwidth = peak_and_bandwidth(*which)
        shares = [place * rng.uniform(0.8, 1.2) for place in (0.1, 0.4, 1.2, 4)]
        seconds = [1e-3 * rng.uniform(0.9, 1.1) / 1.8**step for step in range(4)]
        swap = number % 3
        seconds[swap], seconds[swap + 1] = seconds[swap + 1], seconds[swap]
        kernels = [
            (round(t * peak * min(1, share)),
             round(t * peak * min(1, share) / share / peak * bandwidth))
            for share, t in zip(shares, seconds, strict=True)
        ]  # fmt: skip
        rng.shuffle(kernels)
        flops, nbytes = (list(column) for column in zip(*kernels, strict=True))
        drawn.append({"flops": flops, "bytes": nbytes, "peak": peak, "bandwidth": bandwidth})
    return drawn


def _times(
    flops: Sequence[int], bytes: Sequence[int], peak: float, bandwidth: float
) -> list[float]:
    return [max(f / peak, n / bandwidth) for f, n in zip(flops, bytes, strict=True)]


def _intensities(flops: Sequence[int], bytes: Sequence[int]) -> list[float]:
    return [f / n for f, n in zip(flops, bytes, strict=True)]


def _first_pair(high: Sequence[float], slow: Sequence[float]) -> tuple[int, int]:
    """The first pair (i, j) in which i has more of both; (0, 0) if there is none."""
    pairs = permutations(range(len(high)), 2)
    return next(((i, j) for i, j in pairs if high[i] > high[j] and slow[i] > slow[j]), (0, 0))


def _pair(
    flops: Sequence[int], bytes: Sequence[int], peak: float, bandwidth: float
) -> tuple[int, int]:
    """The pair (i, j) in which i has the higher intensity and takes longer; there is one."""
    return _first_pair(_intensities(flops, bytes), _times(flops, bytes, peak, bandwidth))


def _ends(values: Sequence[float]) -> tuple[int, int]:
    return values.index(max(values)), values.index(min(values))


Pair = Callable[[Sequence[int], Sequence[int], float, float], tuple[int, int]]


def _by(times: Callable[..., Sequence[float]]) -> Pair:
    """The first pair in which i has the higher intensity and more of ``times``."""
    return lambda *case: _first_pair(_intensities(*case[:2]), times(*case))


def _widest(f: Sequence[int], n: Sequence[int], p: float, b: float) -> tuple[int, int]:
    return _ends(_intensities(f, n))


_no_times = _by(lambda f, n, p, b: _intensities(f, n))
_by_flops = _by(lambda f, n, p, b: f)
_by_shorter = _by(lambda f, n, p, b: [min(x / p, y / b) for x, y in zip(f, n, strict=True)])


_by_sum = _by(lambda f, n, p, b: [x / p + y / b for x, y in zip(f, n, strict=True)])


def _told_apart(drawn: Sequence[Case]) -> bool:
    """Whether no two of these answers, of which the first is right, are alike in all cases.

    Each of them finds a pair in every case, so that there is something to tell them by.
    """
    answers = (_pair, _widest, _no_times, _by_flops, _by_shorter, _by_sum)
    pairs = {tuple(answer(*case.values()) for case in drawn) for answer in answers}
    return len(pairs) == len(answers) and all((0, 0) not in found for found in pairs)


_NO_SLOWER = (
    "a search for a lower speed finds no pair, because a roof never falls. The claim is about "
    "time: which kernel takes longer?"
)

COUNTEREXAMPLE = Exercise(
    "03-counterexample", "“Higher intensity is faster”", 2,
    "Four kernels do the same job. Find the one pair (i, j), counted from 0, in which kernel i has "
    "the higher intensity and yet takes longer than kernel j.",
    "counterexample(flops, bytes, peak, bandwidth)", _pair, cases=_kernel_cases, lines=6,
    returns=("i", "j"), derives=("Roofline",),
    insight="Intensity tells which roof an operation meets, and not how much work it is. "
            "Compare times.",
    misconceptions=(
        Misconception("exchanged", lambda *case: _pair(*case)[::-1],
                      "i comes first, the one with the higher intensity."),
        Misconception("highest and lowest intensity", _widest,
                      "of that pair the claim is true; look at the times as well."),
        Misconception("slowest and fastest", lambda f, n, p, b: _ends(_times(f, n, p, b)),
                      "slower, yes, but its intensity is lower: the claim is true of that pair."),
        Misconception("most and least FLOPs", lambda f, n, p, b: _ends(f),
                      "FLOPs alone are neither intensity nor time."),
        Misconception("most and least bytes", lambda f, n, p, b: _ends(n),
                      "bytes alone are neither intensity nor time."),
        Misconception("the times not compared", _no_times,
                      "that pair is the first with intensities in this order; which of its two "
                      "kernels takes longer?"),
        Misconception("FLOPs for time", _by_flops,
                      "FLOPs alone are no time: some of these kernels wait for their bytes."),
        Misconception("min for max", _by_shorter,
                      "the shorter of the two has to wait for the longer."),
        Misconception("sum for max", _by_sum,
                      "carrying and computing happen at the same time: the longer, not the sum."),
        Misconception("highest intensity and fastest",
                      lambda *case: (_widest(*case)[0], _ends(_times(*case))[1]),
                      "i and j are a pair: of the same two kernels, one has the higher intensity "
                      "and takes longer."),
        Misconception("intensity upside down",
                      lambda f, n, p, b: _first_pair(_intensities(n, f), _times(f, n, p, b)),
                      "bytes ÷ FLOPs is not the intensity but its reciprocal."),
        Misconception("counted from 1", lambda *case: tuple(k + 1 for k in _pair(*case)),
                      "Python counts from 0."),
    ),
    errors=(
        ("it returned None for every case", "no pair found", "either it never comes to a return, "
         "or its search finds no pair: " + _NO_SLOWER),
        ("StopIteration", "no pair found", _NO_SLOWER),
    ),
)  # fmt: skip

# In the order in which they were sold. 16-bit floating point (fp16) on the matrix unit of each.
NVIDIA = (
    "nvidia-v100-sxm2", "a100-sxm-40", "a100-sxm-80", "h100-sxm", "h200-sxm", "b200", "gb200",
)  # fmt: skip
AMD = ("mi100", "mi210", "mi250x-gcd", "mi300x", "mi325x", "mi355x")
EDGE = 4096  # of the matrix that the m rows are multiplied with


def _sold(names: Sequence[str], m: int) -> Case:
    peaks, bandwidths = zip(*(peak_and_bandwidth(name, "fp16") for name in names), strict=True)
    return {"peaks": list(peaks), "bandwidths": list(bandwidths), "m": m}


def _row_cases(rng: random.Random) -> list[Case]:
    """All of NVIDIA's and of AMD's, and generations that follow each other with some left out, one
    of them sold again under another name.

    AMD's with m just below and above two ridges (m FLOP/byte is on the other side of one of them
    than the product is), and with an m whose doubled intensity is still below the highest ridge.
    """
    left_out = rng.choice(("h200-sxm", "a100-sxm-80"))
    fewer = sorted(rng.sample(range(len(AMD)), 4))
    drawn = [
        _sold(NVIDIA, 256), _sold(AMD, rng.randrange(236, 243)),
        _sold(AMD, rng.randrange(248, 262)), _sold(AMD, rng.randrange(120, 132)),
        _sold([name for name in NVIDIA if name != left_out], rng.randrange(150, 330)),
        _sold([AMD[place] for place in (*fewer[:2], *fewer[1:])], rng.randrange(110, 280)),
    ]  # fmt: skip
    return [drawn[0], *rng.sample(drawn[1:], 5)]


def _intensity_of_rows(m: int) -> float:
    """FLOP/byte of m rows of 4096 numbers times a 4096×4096 matrix, two bytes a number."""
    return gemm(m, EDGE, EDGE, "fp16").intensity


def _falls(values: Sequence[float]) -> list[bool]:
    """For each value but the first, whether it is below the one before."""
    return [b < a for a, b in pairwise(values)]


def _flips(ridges: Sequence[float], at: float) -> list[bool]:
    """For each ridge but the first, whether ``at`` FLOP/byte lie on another side than before."""
    return [(at < a) is not (at < b) for a, b in pairwise(ridges)]


def _ridges(peaks: Sequence[float], bandwidths: Sequence[float]) -> list[float]:
    return [p / b for p, b in zip(peaks, bandwidths, strict=True)]


def _grew(
    peaks: Sequence[float], bandwidths: Sequence[float], m: int
) -> tuple[list[bool], list[bool]]:
    ridges = _ridges(peaks, bandwidths)
    return _falls(ridges), _flips(ridges, _intensity_of_rows(m))


def _grew_if(
    fell: Callable[..., list[bool]] = lambda p, b: _falls(_ridges(p, b)),
    at: Callable[[int], float] = _intensity_of_rows,
) -> Callable[..., tuple[list[bool], list[bool]]]:
    """A wrong answer: other steps at which the ridge fell, or another intensity of the product."""
    return lambda p, b, m: (fell(p, b), _flips(_ridges(p, b), at(m)))


GREW = Exercise(
    "03-ridge-grew", "“The ridge grows with each generation”", 3,
    "GPUs in the order in which they were sold. For each step to the next: did the ridge fall, and "
    "did the verdict change on m rows times a 4096×4096 matrix, in 2-byte numbers?",
    "grew(peaks, bandwidths, m)", _grew, cases=_row_cases, lines=4,
    returns=("steps at which it fell", "steps at which the verdict changed"),
    derives=("gemm", "Roofline"),
    insight="A newer machine may take a program of yours to the other roof, in either "
            "direction: both of its figures tell, one does not.",
    misconceptions=(
        Misconception("the claim", _grew_if(lambda p, b: [False for _ in pairwise(p)]),
                      "at some of these steps only the memory became faster: compute the ridges."),
        Misconception("the peak fell", _grew_if(lambda p, b: _falls(p)),
                      "the ridge is peak ÷ bandwidth; a peak alone says nothing of it."),
        Misconception("upside down", _grew_if(lambda p, b: _falls(_ridges(b, p))),
                      "those are the steps at which it rose: bandwidth ÷ peak is its reciprocal."),
        Misconception("the rows are the intensity", _grew_if(at=float),
                      "m rows come close to m FLOP/byte only while m is small beside 4096: the "
                      "rows and the result travel too."),
        Misconception("rows or result forgotten",
                      _grew_if(at=lambda m: 1 / (1 / m + 1 / EDGE)),
                      "as many numbers go out as come in, and both travel: the rows and the "
                      "result."),
        Misconception("numbers, not bytes", _grew_if(at=lambda m: 2 * _intensity_of_rows(m)),
                      "each number has two bytes: FLOPs per number are not FLOPs per byte."),
        Misconception("multiply-adds", _grew_if(at=lambda m: _intensity_of_rows(m) / 2),
                      "a product of m, n, k has 2·m·n·k FLOPs: a multiply-add is 2."),
        Misconception("only to memory",
                      lambda p, b, m: (_falls(_ridges(p, b)),
                                       [a > _intensity_of_rows(m) > c
                                        for c, a in pairwise(_ridges(p, b))]),
                      "a verdict changes either way: from computing to memory, or back."),
        Misconception("the verdicts themselves",
                      lambda p, b, m: (_falls(_ridges(p, b)),
                                       [_intensity_of_rows(m) < r for r in _ridges(p, b)[1:]]),
                      "that says what limits the product after each step; did it change there?"),
        Misconception("only to computing",
                      lambda p, b, m: (_falls(_ridges(p, b)),
                                       [a < _intensity_of_rows(m) < c
                                        for c, a in pairwise(_ridges(p, b))]),
                      "a verdict changes either way: from computing to memory, or back."),
        Misconception("no change is a fall",
                      _grew_if(lambda p, b: [y <= x for x, y in pairwise(_ridges(p, b))]),
                      "one of these GPUs has the ridge of the one before: it did not fall there."),
        Misconception("compared with the first one",
                      lambda p, b, m: (
                          [each < _ridges(p, b)[0] for each in _ridges(p, b)[1:]],
                          [any(_flips([_ridges(p, b)[0], each], _intensity_of_rows(m)))
                           for each in _ridges(p, b)[1:]]),
                      "a step goes from one GPU to the next, not from the first one."),
        Misconception("any change of the ridge",
                      lambda p, b, m: (_falls(_ridges(p, b)),
                                       [x != y for x, y in pairwise(_ridges(p, b))]),
                      "a verdict changes only where the ridge passes the product's intensity."),
    ),
)  # fmt: skip

EXERCISES = (THUMB, GREW, COUNTEREXAMPLE)

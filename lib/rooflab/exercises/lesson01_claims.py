"""Exercises of lesson 01 that put witnesses and published sentences on trial.

The sentences are of one public web lesson on AXPY, GEMV and GEMM; none of the wrong ones is made
up. The witnesses are measurements of hidden machines, one of which may have timed a cache.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from rooflab.count import axpy, gemm, gemv
from rooflab.count.si import rounded
from rooflab.exercises.exercise import Case, Exercise, Misconception
from rooflab.predict.catalogue import machine

MACHINES = ("h200-sxm", "a100-sxm-80", "rtx-4090", "mi300x", "m3-pro")
LEAVES_TWO = (1025, 1040, 1055, 1088, 1100, 1127)  # divided by 3: n // 3 is off by 2/n
SHOWN = 0.0016  # relative: less than that, and more than the 1/n of either value of GEMV


def _large(rng: random.Random) -> list[Case]:
    sizes = [rng.choice(LEAVES_TWO), *rng.sample((1536, 2048, 3072, 4096, 6144, 8192), 3)]
    rng.shuffle(sizes)
    return [{"n": n} for n in sizes]


def _three(n: int) -> tuple[float, float, float]:
    """GEMV's is halfway between its value at n and the limit for large n: both are right."""
    return (
        axpy(n * n, "fp16").intensity,
        (gemv(n, n, "fp16").intensity + 1) / 2,
        gemm(n, n, n, "fp16").intensity,
    )


THREE = Exercise(
    "01-three-intensities", "Three intensities", 2,
    "Large N, 2-byte numbers: the intensity of AXPY on N² numbers, of GEMV and of GEMM on N×N "
    "matrices?",
    "intensities(n)", _three, cases=_large, tolerance=SHOWN,
    returns=("AXPY intensity", "GEMV intensity", "GEMM intensity"), lines=3,
    derives=("axpy", "gemv", "gemm"),
    also=(("0.33 stands for 1/3", lambda n: (0.33, *_three(n)[1:])),),
    insight="The first two are the same for every N. Of the three, only GEMM walks towards the "
            "ridge of your machine as N grows.",
    misconceptions=(
        Misconception("AXPY has about 1", lambda n: (1, 1, n / 3),
                      "AXPY does 2 FLOPs on 3 numbers that travel, and a number has 2 bytes."),
        Misconception("GEMV has about 2", lambda n: (1 / 3, 2, n / 3),
                      "2 FLOPs per number of the matrix, yes, but a number has 2 bytes."),
        Misconception("GEMM has N", lambda n: (1 / 3, 1, n),
                      "2N FLOPs for every 3 numbers that travel, and a number has 2 bytes."),
        Misconception("4-byte elements", lambda n: (1 / 6, 1 / 2, n / 6),
                      "either your numbers have 4 bytes, or you counted a multiply-add as 1 FLOP.",
                      variants=(lambda n: (1 / 3, 1, n / 6), lambda n: (1 / 3, 1 / 2, n / 3))),
        Misconception("8-byte elements", lambda n: (1 / 12, 1 / 4, n / 12),
                      "your numbers have 8 bytes, or 4 with a multiply-add counted as 1 FLOP."),
        Misconception("y not read", lambda n: (1 / 2, 1, n / 3),
                      "AXPY reads x, reads y and writes y: three numbers travel, not two."),
        Misconception("four trips", lambda n: (1 / 4, 1, n / 3),
                      "AXPY reads x, reads y and writes y: three numbers travel, not four."),
        Misconception("C forgotten", lambda n: (1 / 3, 1, n / 2),
                      "three matrices travel: A and B are read, C is written."),
        Misconception("FLOPs per number", lambda n: (2 / 3, 2, 2 * n / 3),
                      "that is FLOPs for each number that travels; a number has 2 bytes.",
                      variants=(lambda n: (2 / 3, 1, n / 3), lambda n: (1 / 3, 1, 2 * n / 3))),
        Misconception("another power of N", lambda n: (n / 3, 1, n / 3),
                      "divide all FLOPs by all bytes: AXPY and GEMV have N² above and below, GEMM "
                      "N³ above and N² below.",
                      variants=(lambda n: (n * n / 3, 1, n / 3), lambda n: (1 / 3, n, n / 3),
                                lambda n: (n / 3, n, n / 3), lambda n: (1 / 3, 1, n * n / 3),
                                lambda n: (1 / 3, n / 2, n / 3), lambda n: (1 / 3, n / 3, n / 3))),
        Misconception("// for /", lambda n: (1 / 3, 1, n // 3),
                      "// and int() drop what stands after the point; divide with /.",
                      variants=(lambda n: (0, 1, n // 3), lambda n: (0, 0, n // 3))),
        Misconception("GEMV like AXPY", lambda n: (1 / 3, 1 / 3, n / 3),
                      "GEMV reads each number of its matrix once and writes none of them: one "
                      "number travels for a multiply-add, where AXPY has three."),
        Misconception("4096 for every N", lambda n: (1 / 3, 1, 4096 / 3),
                      "that is the intensity of one size; n says which N is asked."),
        Misconception("upside down", lambda n: (3, 1, 3 / n),
                      "that is bytes per FLOP; intensity is FLOPs per byte.",
                      variants=(lambda n: (6, 2, 6 / n), lambda n: (12, 4, 12 / n))),
        Misconception("vector add", lambda n: (1 / 6, 1, n / 3),
                      "that is x + y; AXPY multiplies as well."),
        Misconception("C read too", lambda n: (1 / 3, 1, n / 4),
                      "for C = A·B the old C is not read; that would be β ≠ 0."),
    ),
)  # fmt: skip


def _roofs(rng: random.Random) -> list[Case]:
    """Hidden catalogue machines with different element sizes."""
    drawn = []
    for name in rng.sample(MACHINES, 4):
        for itemsize, kind in ((4, "fp32"), (2, "fp16")):
            hidden = machine(name)
            if hidden.has_peak(kind):
                peak, bandwidth = float(hidden.peak(kind)), float(hidden.bandwidth())
                drawn.append({"peak": peak, "bandwidth": bandwidth, "itemsize": itemsize})
    return drawn


LIMIT = Exercise(
    "01-speed-limit", "The ratio at the roofs", 2,
    "GEMM on the flat roof, AXPY on the slope: how many times as fast is GEMM, in FLOP/s, on "
    "machines you have not seen?",
    "speed_limit(peak, bandwidth, itemsize)",
    lambda peak, bandwidth, itemsize: peak / bandwidth * 3 * itemsize / 2, cases=_roofs, lines=2,
    derives=("axpy", "Roofline"),
    insight="With the peak and the bandwidth of your machine, this is the most by which a GEMM can "
            "beat an AXPY there, however much larger its intensity is.",
    misconceptions=(
        Misconception("the ridge alone", lambda p, b, s: p / b,
                      "that is GEMM against 1 FLOP per byte; AXPY has less than that."),
        Misconception("one speed alone", lambda p, b, s: p,
                      "that is how fast one of the two is; divide GEMM's FLOP/s by AXPY's.",
                      variants=(lambda p, b, s: b * 2 / (3 * s),)),
        Misconception("times for divided by", lambda p, b, s: p / b * 2 / (3 * s),
                      "AXPY's speed is its intensity times the bandwidth; divide the peak by it.",
                      variants=(lambda p, b, s: p / b / 6,)),
        Misconception("no parentheses", lambda p, b, s: p / (b * 2 / 3 * s),
                      "2 / 3 * itemsize divides by 3 alone; larger numbers are more bytes."),
        Misconception("divided by the element size", lambda p, b, s: p / (b * s),
                      "larger elements mean fewer FLOPs per byte for AXPY, and a larger ratio."),
        Misconception("the ratio of the intensities", lambda p, b, s: 4096,
                      "GEMM would be that much faster if its slope did not end at the roof."),
        Misconception("elements for bytes", lambda p, b, s: 1.5 * p / b,
                      "AXPY has 2 FLOPs for 3 numbers; each has itemsize bytes."),
        Misconception("4 bytes always", lambda p, b, s: p / b * 6,
                      "you took AXPY's intensity in fp32; itemsize may be another."),
        Misconception("vector add", lambda p, b, s: p / b * 3 * s,
                      "AXPY does 2 FLOPs an element, a multiplication and an addition."),
        Misconception("y not read", lambda p, b, s: p / b * s,
                      "AXPY reads x, reads y and writes y: three numbers travel, not two."),
        Misconception("GEMV's intensity", lambda p, b, s: p / b * s / 2,
                      "2 FLOPs a number is GEMV; AXPY moves 3 numbers for its 2 FLOPs."),
        Misconception("upside down", lambda p, b, s: 2 * b / (3 * s * p),
                      "that is AXPY's speed over GEMM's.", variants=(lambda p, b, s: b / p,)),
    ),
)  # fmt: skip

_TRUE = gemm(4096, 4096, 4096).intensity

CLAIM_1365 = Exercise(
    "01-claim-1365", "“A 4096 fp32 GEMM has 1365 FLOP/byte”", 2,
    "Find the error: which intensity is right, and with how many bytes an element would 1365 be?",
    "(intensity, itemsize)", lambda: (_TRUE, 2), kind="value", tolerance=0.001,
    returns=("intensity", "element size"), derives=("gemm",),
    insight="On your roofline too, the page's dot would stand at twice the intensity that the "
            "product has.",
    misconceptions=(
        Misconception("the claim", lambda: (4096 / 3, 2),
                      "that is what the page printed; run its formula with 4-byte elements."),
        Misconception("fp64 for fp32", lambda: (_TRUE / 2, 2),
                      "that is 8-byte elements (or a multiply-add counted as 1 FLOP)."),
        Misconception("C read too", lambda: (512, 2),
                      "that is C += A·B; the claim has three matrices, each moved once."),
        Misconception("FLOPs per number", lambda: (_TRUE * 4, 2),
                      "that is FLOPs for each number that travels; a number has 4 bytes."),
        Misconception("C forgotten", lambda: (1024, 2),
                      "three matrices travel: A and B are read, C is written."),
        Misconception("upside down", lambda: (1 / _TRUE, 2),
                      "that is bytes per FLOP; intensity is FLOPs per byte."),
        Misconception("N", lambda: (4096, 2),
                      "“N FLOP/byte” forgets the 2, the 3 matrices and the bytes."),
        Misconception("fp32 after all", lambda: (_TRUE, 4),
                      "with 4 bytes the formula does not give 1365; try other element sizes."),
        Misconception("the wrong way", lambda: (_TRUE, 8),
                      "larger elements mean more bytes and a lower intensity."),
        Misconception("1 byte", lambda: (_TRUE, 1),
                      "with elements of 1 byte the formula gives twice the claim."),
        Misconception("half a byte", lambda: (_TRUE, 0.5),
                      "with elements of half a byte the formula gives four times the claim."),
        Misconception("bits for bytes", lambda: (_TRUE, 16),
                      "that many bits; how many bytes are they?"),
        Misconception("one matrix of three", lambda: (2048, 2),
                      "that is 2N FLOPs for each number of a single matrix; how many travel?"),
    ),
)  # fmt: skip


APART = 2.0  # the two mixes of reading and writing differ by less than that on these machines
HONEST, CACHED = (0.58, 0.95), (2.3, 5.0)  # one byte/s over the other's: of two mixes, of a cache


def _work(n: int, itemsize: int, trips: float = 3) -> tuple[float, float, float]:
    """Bytes of an AXPY on n² numbers, bytes of a GEMV and FLOPs of a GEMM on n×n matrices.

    ``trips``: how often a number of AXPY's vectors crosses the bus.
    """
    return trips * n * n * itemsize, (n * n + 2 * n) * itemsize, 2 * n**3


def _rates(
    n: int, itemsize: int, axpy: float, gemv: float, gemm: float, trips: float = 3
) -> tuple[float, float, float]:
    """Byte/s of AXPY, byte/s of GEMV and FLOP/s of GEMM, from the seconds of each."""
    by_axpy, by_gemv, flops = _work(n, itemsize, trips)
    return by_axpy / axpy, by_gemv / gemv, flops / gemm


def _reports(rng: random.Random) -> list[Case]:
    """Three timings each of six hidden machines: AXPY lies on two, GEMV on two, nobody on two."""
    drawn, slower = [], rng.sample(("axpy", "gemv"), 2)  # of two who both tell the truth
    for itemsize, liar in zip((4, 8, 4, 8, 2, 4), ("axpy", "gemv", "nobody") * 2, strict=True):
        n = rng.randrange(3000, 9000)
        bandwidth = rng.uniform(1e10, 4e11)
        rates = {"axpy": bandwidth, "gemv": bandwidth}
        if liar == "nobody":
            rates[slower.pop()] *= rng.uniform(*HONEST)
        else:
            rates[liar] *= rng.uniform(*CACHED)
        peak = rng.uniform(20, 90) * bandwidth / itemsize
        rates["gemm"] = peak
        work = dict(zip(("axpy", "gemv", "gemm"), _work(n, itemsize), strict=True))
        seconds = {name: work[name] / rates[name] for name in work}
        drawn.append({
            "n": n, "itemsize": itemsize,
            **{f"t_{name}": rounded(t, 6) for name, t in seconds.items()},
        })  # fmt: skip
    rng.shuffle(drawn)
    return drawn


def _witnesses(
    n: int, itemsize: int, t_axpy: float, t_gemv: float, t_gemm: float, axpy_trips: float = 3
) -> tuple[float, float, str]:
    by_axpy, by_gemv, peak = _rates(n, itemsize, t_axpy, t_gemv, t_gemm, axpy_trips)
    if by_axpy > APART * by_gemv:
        return peak, by_gemv, "axpy"
    if by_gemv > APART * by_axpy:
        return peak, by_axpy, "gemv"
    return peak, max(by_axpy, by_gemv), "nobody"


def _by_flops(honest: Callable[[float, float], float]) -> Callable[..., tuple[float, float, str]]:
    """Compare FLOP/s in place of byte/s: GEMV's are three times as high on any machine.

    ``honest(by_axpy, by_gemv)``: the bandwidth where nobody seems to lie.
    """

    def answer(n: int, s: int, axpy: float, gemv: float, gemm: float) -> tuple[float, float, str]:
        by_axpy, by_gemv, peak = _rates(n, s, axpy, gemv, gemm)
        if axpy > APART * gemv:  # as many FLOPs, so the times tell
            return peak, by_axpy, "gemv"
        if gemv > APART * axpy:
            return peak, by_gemv, "axpy"
        return peak, honest(by_axpy, by_gemv), "nobody"

    return answer


def _flops_for_bytes(
    pick: Callable[[float, float], float], liars: bool
) -> Callable[..., tuple[float, float, str]]:
    """FLOP/s in place of the bandwidth; ``liars``: they are compared to find the liar as well."""

    def answer(n: int, s: int, axpy: float, gemv: float, gemm: float) -> tuple[float, float, str]:
        judged = _by_flops(pick) if liars else _witnesses
        peak, _, liar = judged(n, s, axpy, gemv, gemm)
        by_axpy, by_gemv = 2 * n * n / axpy, 2 * n * n / gemv
        honest = {"axpy": by_gemv, "gemv": by_axpy}
        return peak, honest.get(liar, pick(by_axpy, by_gemv)), liar

    return answer


def _believed(n: int, s: int, axpy: float, gemv: float, gemm: float) -> tuple[float, float, str]:
    """Everybody tells the truth, and the highest byte/s are the memory's."""
    by_axpy, by_gemv, peak = _rates(n, s, axpy, gemv, gemm)
    return peak, max(by_axpy, by_gemv), "nobody"


def _nobody(pick: Callable[[float, float], float]) -> Callable[..., tuple[float, float, str]]:
    """Everybody tells the truth, and ``pick(by_axpy, by_gemv)`` is the bandwidth."""

    def answer(*case: float) -> tuple[float, float, str]:
        by_axpy, by_gemv, peak = _rates(*case)
        return peak, pick(by_axpy, by_gemv), "nobody"

    return answer


def _faster_lies(n: int, s: int, axpy: float, gemv: float, gemm: float) -> tuple[float, float, str]:
    """Any difference is a lie."""
    by_axpy, by_gemv, peak = _rates(n, s, axpy, gemv, gemm)
    return peak, min(by_axpy, by_gemv), "axpy" if by_axpy > by_gemv else "gemv"


def _slower_lies(n: int, s: int, axpy: float, gemv: float, gemm: float) -> tuple[float, float, str]:
    """The right suspicion, and the wrong one of the two."""
    peak, bandwidth, liar = _witnesses(n, s, axpy, gemv, gemm)
    swapped = {"axpy": "gemv", "gemv": "axpy"}
    return (peak, _believed(n, s, axpy, gemv, gemm)[1], swapped.get(liar, "nobody"))


def _liar_believed(*case: float) -> tuple[float, float, str]:
    peak, bandwidth, liar = _witnesses(*case)
    by_axpy, by_gemv, _ = _rates(*case)
    return peak, {"axpy": by_axpy, "gemv": by_gemv}.get(liar, bandwidth), liar


def _mean_of_honest(*case: float) -> tuple[float, float, str]:
    peak, bandwidth, liar = _witnesses(*case)
    return peak, sum(_rates(*case)[:2]) / 2 if liar == "nobody" else bandwidth, liar


def _other_name(*case: float) -> tuple[float, float, str]:
    peak, bandwidth, liar = _witnesses(*case)
    return peak, bandwidth, {"axpy": "gemv", "gemv": "axpy"}.get(liar, liar)


def _by_time(n: int, s: int, axpy: float, gemv: float, gemm: float) -> tuple[float, float, str]:
    """Whoever needs fewer seconds timed a cache."""
    by_axpy, by_gemv, peak = _rates(n, s, axpy, gemv, gemm)
    return (peak, by_gemv, "axpy") if axpy < gemv else (peak, by_axpy, "gemv")


WITNESSES = Exercise(
    "01-witnesses", "Three witnesses", 4,
    "Three timings of an unknown machine: its peak, its memory's bandwidth, and who timed a cache?",
    "witnesses(n, itemsize, t_axpy, t_gemv, t_gemm)", _witnesses, cases=_reports, lines=8,
    returns=("peak", "bandwidth", "liar"), tolerance=0.001,
    insight="Put your own three timings of this lesson to the same test: is one byte/s more than "
            "twice the other?",
    misconceptions=(
        Misconception("everybody believed", _believed,
                      "two mixes differ by less than a factor of 2; a rate above that is a "
                      "cache's.",
                      variants=(lambda *case: (*_witnesses(*case)[:2], "nobody"), _nobody(min),
                                _nobody(lambda a, v: a), _nobody(lambda a, v: v))),
        Misconception("FLOP/s compared", _by_flops(lambda a, v: v),
                      "GEMV does three times AXPY's FLOPs per byte; compare byte/s, not FLOP/s.",
                      variants=(_by_flops(lambda a, v: a), _by_flops(max), _by_flops(min),
                                lambda *case: (_rates(*case)[2], min(_rates(*case)[:2]),
                                               _by_flops(min)(*case)[2]))),
        Misconception("FLOP/s for byte/s", _flops_for_bytes(max, liars=True),
                      "a bandwidth is in bytes per second; AXPY and GEMV count FLOPs as well, but "
                      "not here.",
                      variants=(_flops_for_bytes(lambda a, v: v, liars=True),
                                _flops_for_bytes(lambda a, v: a, liars=True),
                                _flops_for_bytes(max, liars=False),
                                _flops_for_bytes(min, liars=False),
                                _flops_for_bytes(lambda a, v: v, liars=False),
                                _flops_for_bytes(lambda a, v: a, liars=False))),
        Misconception("the slower one accused", _slower_lies,
                      "a cache is faster than memory: it is too many byte/s that are suspicious."),
        Misconception("y not read", lambda n, s, a, v, m: _witnesses(n, s, a, v, m, 2),
                      "AXPY reads x and y and writes y: three trips."),
        Misconception("NumPy's trips", lambda n, s, a, v, m: _witnesses(n, s, a, v, m, 5),
                      "that is NumPy's a*x + y, which stores a*x first; AXPY makes three trips."),
        Misconception("multiply-adds",
                      lambda n, s, a, v, m: (n**3 / m, *_witnesses(n, s, a, v, m)[1:]),
                      "you counted multiply-adds; each is 2 FLOPs."),
        Misconception("AXPY on n numbers",
                      lambda n, s, a, v, m: (_rates(n, s, a, v, m)[2], 3 * n * s / a, "gemv"),
                      "all three work on n × n numbers: AXPY's vectors are that long."),
        Misconception("the slower one always",
                      lambda n, s, a, v, m: (_rates(n, s, a, v, m)[2], min(_rates(n, s, a, v, m)[:2]),
                                             _witnesses(n, s, a, v, m)[2]),
                      "where nobody timed a cache both rates are the memory's, and it can do the "
                      "higher one."),
        Misconception("the right liar, its own byte/s", _liar_believed,
                      "you found who timed a cache, and took the bandwidth from that one; take the "
                      "other's."),
        Misconception("the mean where nobody lies", _mean_of_honest,
                      "where nobody timed a cache both rates are the memory's, and it can do the "
                      "higher one."),
        Misconception("the wrong name for the liar", _other_name,
                      "the bandwidth is the honest one's, and the third value is the name of the "
                      "other, who timed a cache."),
        Misconception("times for rates", _by_time,
                      "AXPY carries three times GEMV's bytes, so its seconds are longer on an "
                      "honest clock too; compare byte/s."),
        Misconception("the mean of both",
                      lambda n, s, a, v, m: (_rates(n, s, a, v, m)[2],
                                             sum(_rates(n, s, a, v, m)[:2]) / 2, "nobody"),
                      "a cache's rate has no place in the memory's bandwidth; who is the liar?",
                      variants=(lambda n, s, a, v, m: (_rates(n, s, a, v, m)[2],
                                                       sum(_rates(n, s, a, v, m)[:2]) / 2,
                                                       _witnesses(n, s, a, v, m)[2]),)),
        Misconception("4 bytes always", lambda n, s, a, v, m: _witnesses(n, 4, a, v, m),
                      "not every number has 4 bytes; itemsize says how many."),
        Misconception("n² for n³",
                      lambda n, s, a, v, m: (2 * n * n / m, *_witnesses(n, s, a, v, m)[1:]),
                      "GEMM has n × n results, and each is a sum over n products."),
        Misconception("elements for bytes",
                      lambda n, s, a, v, m: (*_scaled(_witnesses(n, s, a, v, m), s),),
                      "you counted numbers; each has itemsize bytes."),
        Misconception("the faster one always lies", _faster_lies,
                      "two honest witnesses need not agree: how far apart may their rates be?"),
    ),
)  # fmt: skip


def _scaled(answer: tuple[float, float, str], itemsize: int) -> tuple[float, float, str]:
    peak, bandwidth, liar = answer
    return peak, bandwidth / itemsize, liar


# The page's sentences as the lesson prints them, A to F; B and C hold for some shapes only.
_VERDICTS = ("wrong", "sometimes", "sometimes", "wrong", "right", "wrong")


def _but(**changed: str) -> tuple[str, ...]:
    """The right verdicts with those of some letters changed."""
    return tuple(
        changed.get(letter, word) for letter, word in zip("ABCDEF", _VERDICTS, strict=True)
    )


CLAIMS = Exercise(
    "01-claims", "Six sentences of one page", 3,
    "A to F: right, wrong, or sometimes (right for some shapes only)?",
    '("…", "…", "…", "…", "…", "…")', lambda: _VERDICTS, kind="value",
    returns=tuple("ABCDEF"), derives=("axpy", "gemm"),
    insight="Five of six sentences did not survive a count. It is the same count on every machine, "
            "and takes a minute.",
    misconceptions=(
        Misconception("the page believed", lambda: ("right",) * 6,
                      "only one of the six holds for every shape."),
        Misconception("nothing believed", lambda: ("wrong",) * 6,
                      "one of the six holds for every shape, and others hold for some."),
        Misconception("D depends on the shape", lambda: _but(D="sometimes"),
                      "AXPY has as many FLOPs for each byte at every n: right or wrong for all."),
        Misconception("F depends on the shape", lambda: _but(F="sometimes"),
                      "which type NumPy's random numbers have does not depend on their shape."),
        Misconception("A @ x adds to y", lambda: _but(A="right"),
                      "does A @ x look at what y was before?"),
        Misconception("attention is always GEMM", lambda: _but(B="right"),
                      "count the rows of Q when a model writes one token after another."),
        Misconception("attention is never GEMM", lambda: _but(B="wrong"),
                      "count the rows of Q when a whole text is read at once."),
        Misconception("one K for all", lambda: _but(C="right"),
                      "an element of A is used once for each column of B; how many are there?"),
        Misconception("no K at all", lambda: _but(C="wrong"),
                      "with square matrices the three counts are the same number."),
        Misconception("vector add for AXPY", lambda: _but(D="right"),
                      "0.083 is 1 FLOP for 12 bytes; how many FLOPs has AXPY on each element?"),
        Misconception("N³ over N² is N", lambda: _but(E="wrong"),
                      "FLOPs grow with N³ and bytes with N²; divide them, and compare two sizes."),
        Misconception("only for large N", lambda: _but(E="sometimes"),
                      "the counts are exact for every N; take the quotient at 2 and at 16."),
        Misconception("two types on one page", lambda: _but(F="right"),
                      "look which type NumPy's random numbers have, and how many bytes that is."),
    ),
)  # fmt: skip

EXERCISES = (THREE, LIMIT, CLAIM_1365, WITNESSES, CLAIMS)

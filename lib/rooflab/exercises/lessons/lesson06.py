"""Exercises of lesson 06, where data lives: levels, lines in flight, bytes on the bus, energy.

The wrong answers are slips of public teaching material: a random array taken for one chain, a
latency taken for a rate, a copy counted once, an energy per access taken for one per number.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from math import ceil, floor

from rooflab.count.blas import gemm
from rooflab.exercises.exercise import Case, Exercise, Misconception, cases_of
from rooflab.exercises.lessons.drawing import DTYPES

LINE = 64  # bytes
STEP = 1.5  # a hop that takes so many times the one before belongs to another level
WOBBLES = (1.001, 1.005, 1.01, 1.015, 1.02, 1.025, 1.03, 1.04, 1.05)  # times: the clock's own
WAITS = (1e-9, 2e-9, 3e-9, 1e-8, 2e-8, 5e-8, 1e-7)  # seconds that somebody may call a step


# ---- 06-levels -----------------------------------------------------------------------------------
def _mountain(rng: random.Random, caches: int, base_s: float) -> Case:
    """Working sets and the seconds of a hop on a made-up machine with so many caches.

    The first two sizes lie in the first cache, the last three beyond the last one. Within a level
    the seconds go up and down by 3 to 5 %; from one level to the next they grow 2.5 to 5 times, and
    by less at the first step.
    """
    lengths = [*(rng.randrange(2, 5) for _ in range(caches)), rng.randrange(3, 5)]
    base = 4096 * 2 ** rng.randrange(3)
    sizes = [base * 2**step for step in range(sum(lengths))]
    level, hops = base_s * rng.uniform(0.8, 1.0), []
    for number, length in enumerate(lengths):
        hops += [level * (1 + (-1) ** i * rng.uniform(-0.022, -0.016)) for i in range(length)]
        level *= rng.uniform(2.5, 5 if number else 3)
    return {"sizes": sizes, "seconds": hops}


def _mountains(rng: random.Random) -> list[Case]:
    """Two fast machines and a slow one, whose clock wobbles by more than a fast one's step."""
    return [_mountain(rng, caches, base) for caches, base in ((3, 1e-9), (2, 3e-8), (4, 1.5e-9))]


def _steps(sizes: Sequence[int], seconds: Sequence[float]) -> list[int]:
    """Places in ``sizes`` after which the next size takes much longer."""
    return [at for at, (one, more) in enumerate(pairwise(seconds)) if more > STEP * one]


def _levels(sizes: Sequence[int], seconds: Sequence[float]) -> list[int]:
    return [sizes[at] for at in _steps(sizes, seconds)]


def _higher(sizes: Sequence[int], seconds: Sequence[float], least: float) -> list[int]:
    """Sizes after which the next one takes more than ``least`` times as long."""
    return [size for size, (a, b) in zip(sizes, pairwise(seconds)) if b > least * a]


def _later(sizes: Sequence[int], seconds: Sequence[float], least: float) -> list[int]:
    """Sizes after which the next one takes more than ``least`` seconds longer."""
    return [size for size, (a, b) in zip(sizes, pairwise(seconds)) if b - a > least]


LEVELS = Exercise(
    "06-levels", "Find the caches", 3,
    "A chain was followed through working sets of these `sizes`, and a hop took these `seconds`. "
    "Return the list of the caches' capacities, the nearest first, as far as these sizes tell.",
    "caches(sizes, seconds)", _levels, lines=2,
    cases=_mountains,
    fixed=cases_of("sizes seconds",
        ([20_000, 32_768, 49_152, 65_536, 1_000_000, 1_250_000, 3_000_000],
         [1e-9, 1.06e-9, 1e-9, 2e-9, 2.04e-9, 4.2e-9, 4.3e-9]),
        ([1000, 3000, 7000, 21_000, 60_000, 200_000], [3e-8, 6.3e-8, 6.3e-7, 1.4e-6, 2.9e-6, 3e-4]),
        ([65_536, 131_072, 262_144, 300_000, 600_000, 1_000_000],
         [2e-7, 2.12e-7, 2.02e-7, 4.3e-7, 4.4e-7, 9e-7]),
        ([4096, 8192, 70_000], [5e-7, 1e-6, 1.1e-5])),
    insight="That is how caches are measured where nobody prints their sizes. On your own mountain "
            "it may miss one: a real level can end in many small steps, so the mountain looks for "
            "the flat stretches between them.",
    misconceptions=(
        Misconception("first size beyond", lambda z, t: [z[at + 1] for at in _steps(z, t)],
                      "that size is already too large for the cache; which one did it still hold?"),
        Misconception("memory too", lambda z, t: [*_levels(z, t), z[-1]],
                      "the last stretch is main memory, and no cache ends there."),
        Misconception("the last cache only", lambda z, t: _levels(z, t)[-1:],
                      "the curve has more than one step."),
        Misconception("every rise is a step", lambda z, t: _higher(z, t, 1),
                      "a clock wobbles by some per cent; a step to the next level is much larger.",
                      variants=tuple(partial(_higher, least=one) for one in WOBBLES)),
        Misconception("more than twice", lambda z, t: _higher(z, t, 2),
                      "a hop that takes exactly twice as long belongs to the next level, too.",
                      variants=(lambda z, t: _higher(z, t, 2.2), lambda z, t: _higher(z, t, 2.4))),
        Misconception("nanoseconds, not factors", lambda z, t: _later(z, t, 5e-9),
                      "on a fast machine a step is smaller than what a slow one's clock wobbles "
                      "by; compare a hop with the one before it as a ratio.",
                      variants=(*(partial(_later, least=one) for one in WAITS),
                                lambda z, t: _later(z, t, 0.05 * (t[-1] - t[0])),
                                lambda z, t: _later(z, t, t[0]))),
        Misconception("between two sizes",
                      lambda z, t: [(z[at] * z[at + 1]) ** 0.5 for at in _steps(z, t)],
                      "the capacity does lie between two sizes; which of them did the cache "
                      "still hold?",
                      variants=(lambda z, t: [(z[at] + z[at + 1]) / 2 for at in _steps(z, t)],)),
        Misconception("all beyond the first",
                      lambda z, t: [a for a, b in zip(z, t) if b > STEP * t[0]],
                      "these are all sizes that are slower than the first cache; compare each hop "
                      "with the one before it.",
                      variants=(lambda z, t: [a for a, b in zip(z, t) if b > 2 * t[0]],)),
        Misconception("seconds, not sizes", lambda z, t: [t[at] for at in _steps(z, t)],
                      "these are the seconds of a hop; return the sizes that belong to them."),
        Misconception("where each level begins",
                      lambda z, t: [z[0], *(z[at + 1] for at in _steps(z, t))],
                      "these are the smallest sizes of every level; a capacity is the largest size "
                      "that a cache holds."),
        Misconception("places, not sizes", lambda z, t: _steps(z, t),
                      "these are places in the list; return the sizes that stand there."),
        Misconception("farthest first", lambda z, t: _levels(z, t)[::-1],
                      "the nearest cache comes first."),
    ),
)  # fmt: skip


# ---- 06-claim-chain ------------------------------------------------------------------------------
def _cycles(rng: random.Random, lengths: Sequence[int]) -> list[int]:
    """A permutation of ``range(sum(lengths))``: cycles of these lengths, 0 in the first."""
    lines = list(range(1, sum(lengths)))
    rng.shuffle(lines)
    lines.insert(0, 0)
    follows, start = [0] * len(lines), 0
    for length in lengths:
        cycle = lines[start : start + length]
        for here, there in zip(cycle, [*cycle[1:], cycle[0]]):
            follows[here] = there
        start += length
    return follows


def _chains(rng: random.Random) -> list[Case]:
    """Permutations in which the cycle of 0 has not half, not all and not the most of the lines."""
    few = rng.randrange(5, 9)
    lengths = [
        (rng.randrange(11, 16), rng.randrange(20, 28), 3),
        (few, 3 * few + 2),
        (rng.randrange(30, 40),),
        (rng.randrange(18, 24), rng.randrange(6, 9), 1, 1),
    ]
    return [{"follows": _cycles(rng, each)} for each in lengths]


def _walk(follows: Sequence[int]) -> list[int]:
    """The lines that a walk from line 0 visits before it is there again."""
    seen, at = [0], follows[0]
    while at != 0:
        seen.append(at)
        at = follows[at]
    return seen


def _chain(follows: Sequence[int]) -> int:
    return LINE * len(_walk(follows))


def _largest(follows: Sequence[int]) -> int:
    """Lines of the largest cycle."""
    left, most = set(range(len(follows))), 0
    while left:
        at, length = min(left), 0
        while at in left:
            left.discard(at)
            at, length = follows[at], length + 1
        most = max(most, length)
    return most


CHAIN = Exercise(
    "06-claim-chain", "Claim court: shuffled is a chain", 3,
    "Line i of an array holds follows[i], the number of the line to go to next. Every line has 64 "
    "bytes. What is the working set of the walk that begins at line 0, in bytes? All of each line "
    "counts.",
    "working_set(follows)", _chain, cases=_chains, lines=4,
    fixed=cases_of("follows", ([0],), ([0, 2, 1],), ([1, 0],), ([5, 0, 1, 2, 3, 4],),
        ([3, 2, 1, 4, 0, 6, 5],), ([*range(1, 300), 0],), ([2, 3, 0, 4, 5, 1, 6],)),
    insight="A shuffled array falls into several rings, and a walk stays in its own: half of the "
            "lines on average, and often far less. So the clock may show a cache where its owner "
            "takes it for the memory.",
    misconceptions=(
        Misconception("all lines", lambda f: LINE * len(f),
                      "the walk comes back to line 0 before it has been everywhere: where a chain "
                      "was shuffled together, it may be several rings."),
        Misconception("lines, not bytes", lambda f: len(_walk(f)), "a line has 64 bytes."),
        Misconception("8 bytes a line", lambda f: 8 * len(_walk(f)),
                      "the number takes 8 bytes, but memory travels in lines of 64."),
        Misconception("line 0 left out", lambda f: LINE * (len(_walk(f)) - 1),
                      "one line is missing: line 0 is touched, and so is the one that leads back "
                      "to it."),
        Misconception("line 0 twice", lambda f: LINE * (len(_walk(f)) + 1),
                      "the walk ends where it began; line 0 is one line."),
        Misconception("half of it", lambda f: LINE * len(f) / 2,
                      "half is the average over many shuffled arrays; this one is given.",
                      variants=(lambda f: LINE * (len(f) // 2),
                                lambda f: LINE * (len(f) + 1) / 2)),
        Misconception("the largest ring", lambda f: LINE * _largest(f),
                      "the walk begins at line 0 and stays in the ring that line 0 is in."),
        Misconception("lines that stay", lambda f: LINE * sum(i != j for i, j in enumerate(f)),
                      "not only a line that leads to itself is left out: whatever belongs to "
                      "another ring is."),
    ),
)  # fmt: skip


# ---- 06-underway ---------------------------------------------------------------------------------
def _memories(rng: random.Random) -> list[Case]:
    """Memories and cores: each needs 2 to 9 cores, but for one that a single core can fill."""
    drawn: list[Case] = []
    for cores in (*rng.sample(range(2, 10), 3), 1):
        latency, lines = rng.uniform(60e-9, 140e-9), rng.randrange(10, 49)
        bandwidth = lines * LINE / latency * (cores - rng.uniform(0.1, 0.45))
        drawn.append({"bandwidth": bandwidth, "latency": latency, "lines": lines})
    return drawn


def _underway(bandwidth: float, latency: float, lines: int) -> tuple[float, float, int]:
    each = lines * LINE / latency
    return bandwidth * latency / LINE, min(each, bandwidth), ceil(bandwidth / each)


UNDERWAY = Exercise(
    "06-underway", "How many cores fill a memory?", 3,
    "A memory gives `bandwidth` byte/s, and a line of 64 bytes arrives `latency` seconds after it "
    "was asked for. A core can have `lines` lines in flight at a time. Return (1) how many lines "
    "must be in flight on average to use the whole bandwidth, (2) the byte/s that one core "
    "alone gets from this memory, (3) the least number of cores that use all of it.",
    "cores_needed(bandwidth, latency, lines)", _underway, cases=_memories, lines=2,
    returns=("lines in flight", "byte/s of one core", "cores"), tolerance=1e-6,
    # The first three: exactly three cores, exactly one, and a little more than three.
    fixed=cases_of("bandwidth latency lines", (3 * 2.0**33, 2.0**-24, 8), (2.0**33, 2.0**-24, 8),
        (2.5805e10, 2.0**-24, 8), (2.574e10, 2.0**-24, 8), (2e10, 9e-8, 1), (2.2e10, 9e-8, 48),
        (8e12, 5e-7, 12)),
    insight="Nothing in it computes. A core with faster arithmetic would not get one byte more.",
    misconceptions=(
        Misconception("one line at a time",
                      lambda b, t, n: (b * t / LINE, min(LINE / t, b), ceil(b * t / LINE)),
                      "a core asks for the next lines before the first one is there; it can have "
                      "`lines` of them in flight."),
        Misconception("bytes in flight",
                      lambda b, t, n: (b * t, min(n * LINE / t, b), ceil(b * t / (n * LINE))),
                      "bandwidth × latency is in bytes; how many lines is that?"),
        Misconception("a line is a byte",
                      lambda b, t, n: (b * t, min(n / t, b), ceil(b * t / n)),
                      "lines are in flight, and each carries 64 bytes."),
        Misconception("more than the memory has",
                      lambda b, t, n: (b * t / LINE, n * LINE / t, ceil(b * t / (n * LINE))),
                      "no core gets more bytes than the memory gives."),
        Misconception("cores rounded down",
                      lambda b, t, n: (b * t / LINE, min(n * LINE / t, b),
                                       max(1, floor(b * t / (n * LINE)))),
                      "that many cores leave a part of the bandwidth unused; the next whole number "
                      "uses all of it."),
        Misconception("cores rounded",
                      lambda b, t, n: (b * t / LINE, min(n * LINE / t, b),
                                       max(1, round(b * t / (n * LINE)))),
                      "a little more than three cores are not three: the last part needs a core "
                      "as well."),
        Misconception("one core too many",
                      lambda b, t, n: (b * t / LINE, min(n * LINE / t, b),
                                       floor(b * t / (n * LINE)) + 1),
                      "where some cores use all of the bandwidth, and no part is left over, one "
                      "more gets nothing."),
        Misconception("divided by the latency",
                      lambda b, t, n: (b / t / LINE, min(n * LINE / t, b),
                                       ceil(b * t / (n * LINE))),
                      "the longer each line takes, the more of them are in flight."),
        Misconception("half a core",
                      lambda b, t, n: (b * t / LINE, min(n * LINE / t, b), b * t / (n * LINE)),
                      "there are only whole cores."),
        Misconception("what this core has in flight",
                      lambda b, t, n: (n, min(n * LINE / t, b), ceil(b * t / (n * LINE))),
                      "`lines` is what one core can have; how many does the memory need?"),
        Misconception("latency for every byte",
                      lambda b, t, n: (b * t / LINE, min(n / t, b), ceil(b * t / n)),
                      "a line brings 64 bytes after one latency, not one."),
    ),
)  # fmt: skip


# ---- 06-bus --------------------------------------------------------------------------------------
# Arrays that are read and written: copy, AXPY, triad, fill, sum, scale in place, sort into two.
MIXES = (("x", "y"), ("xy", "y"), ("bc", "a"), ("", "x"), ("x", ""), ("x", "x"), ("x", "yz"))


def _loops(rng: random.Random) -> list[Case]:
    drawn: list[Case] = [
        {
            "rate": float(rng.randrange(8, 60)) * 1e9 + rng.randrange(10**8),
            "read": [*read], "written": [*written], "fetches": True,
        }
        for read, written in MIXES
    ]  # fmt: skip
    rng.shuffle(drawn)
    return [*drawn, {**drawn[0], "fetches": False}]


def _fetched(read: Sequence[str], written: Sequence[str]) -> int:
    """Arrays that are written and were not read: their lines are fetched all the same."""
    return len([one for one in written if one not in read])


def _bus(rate: float, read: Sequence[str], written: Sequence[str], fetches: bool) -> float:
    told = len(read) + len(written)
    return rate * (told + (_fetched(read, written) if fetches else 0)) / told


def _counted(rate: float, told: int, moved: int) -> float:
    return rate * moved / told


BUS = Exercise(
    "06-bus", "What crosses the bus", 3,
    "A benchmark reports `rate` byte/s. It counts each array of the list `read` once and each of "
    "`written` once. If `fetches` is true, the processor fetches every line that it is going to "
    "write and has not read. All arrays have the same length. Return the byte/s that really cross "
    "the bus, in both directions together.",
    "bus_rate(rate, read, written, fetches)", _bus, cases=_loops, lines=3, tolerance=1e-6,
    fixed=cases_of("rate read written fetches", (1.7e10, ["x", "y"], ["y", "z"], True),
        (2.5e10, ["x", "y"], ["x"], True), (3.1e9, ["x1"], ["x"], True),
        (123.0, ["b", "abc"], ["c", "ab", "b", "a"], True),
        (4.4e12, ["a", "b", "c", "d", "e"], ["f", "a"], True), (9e9, ["x"], ["y", "z"], False),
        (8e9, [], ["x", "y"], True), (7e9, [], ["x"], False)),
    insight="Count all that travels, and bandwidths of one memory that looked far apart come "
            "closer to each other. That is why a bandwidth without its loop is half a number.",
    misconceptions=(
        Misconception("as reported", lambda r, a, b, f: r,
                      "an array that is only written is fetched as well, if `fetches` is true."),
        Misconception("every write fetched",
                      lambda r, a, b, f: _counted(r, len(a) + len(b),
                                                  len(a) + len(b) * (2 if f else 1)),
                      "what was read a moment ago is there; its line is not fetched once more."),
        Misconception("always fetched", lambda r, a, b, f: _bus(r, a, b, True),
                      "one of these loops ran on a processor that does not fetch."),
        Misconception("both directions are double", lambda r, a, b, f: 2 * r,
                      "the reported rate has both directions in it already."),
        Misconception("reads only",
                      lambda r, a, b, f: _counted(r, len(a) + len(b),
                                                  len(a) + (_fetched(a, b) if f else 0)),
                      "what is written goes over the bus as well."),
        Misconception("each array once",
                      lambda r, a, b, f: _counted(r, len(a) + len(b), len({*a, *b})),
                      "an array that is read and written crosses the bus twice."),
        Misconception("a copy's factor", lambda r, a, b, f: 1.5 * r if f else r,
                      "three lines for two is what a copy moves; count the lines of this loop."),
        Misconception("upside down",
                      lambda r, a, b, f: r * r / _bus(r, a, b, f),
                      "more lines travel than the benchmark counts, so the rate of all is higher."),
        Misconception("not divided by the count",
                      lambda r, a, b, f: _bus(r, a, b, f) * (len(a) + len(b)),
                      "`rate` is that of all counted arrays together, not of each."),
        Misconception("all fetched once more",
                      lambda r, a, b, f: _counted(r, len(a) + len(b),
                                                  len(a) + len(b) + f * len({*a, *b})),
                      "what is read is counted already; only what is written without being read "
                      "is fetched on top."),
        Misconception("one fetch at most",
                      lambda r, a, b, f: _counted(r, len(a) + len(b),
                                                  len(a) + len(b) + min(1, f * _fetched(a, b))),
                      "every array that is written without being read is fetched."),
    ),
)  # fmt: skip


# ---- 06-joules -----------------------------------------------------------------------------------
def _energies(rng: random.Random) -> Case:
    """pJ of a byte from memory, of an addition and of a multiplication, on a made-up process."""
    add = rng.uniform(0.2, 0.9)
    return {"byte": rng.uniform(30, 160), "add": add, "multiply": add * rng.uniform(2, 5)}


def _products(rng: random.Random) -> list[Case]:
    """Matrix products: a GEMV, a small, a thin and a large GEMM, with their pJ."""
    sizes = [
        (rng.randrange(1000, 4000), 1, rng.randrange(1000, 4000)),
        (rng.randrange(40, 90), rng.randrange(100, 140), rng.randrange(50, 90)),
        (rng.randrange(2000, 4000), rng.randrange(4, 9), rng.randrange(500, 900)),
        (rng.randrange(2000, 3000), rng.randrange(3000, 5000), rng.randrange(1500, 1900)),
    ]
    return [
        {"m": m, "n": n, "k": k, "itemsize": size, **_energies(rng)}
        for (m, n, k), size in zip(sizes, (4, 8, 4, 2))
    ]


def _joules(
    m: int, n: int, k: int, itemsize: int, byte: float, add: float, multiply: float
) -> tuple[float, float]:
    op = gemm(m, n, k, DTYPES[itemsize])
    carried = op.bytes * byte * 1e-12
    return carried, m * n * k * (add + multiply) * 1e-12


JOULES = Exercise(
    "06-joules", "Carried and computed", 3,
    "A product of an m×k and a k×n matrix. The two matrices and their product are carried once "
    "each. A byte to or from memory takes `byte` picojoules, an addition `add`, a multiplication "
    "`multiply`. Count k multiplications and k additions for each result, as lesson 01 does. "
    "Return the joules of carrying and those of computing.",
    "joules(m, n, k, itemsize, byte, add, multiply)", _joules, cases=_products, lines=3,
    fixed=cases_of("m n k itemsize byte add multiply", (1, 1, 1, 1, 100.0, 0.5, 2.0),
        (7, 300, 1, 8, 31.25, 1.5, 1.5), (1, 53_248, 16_384, 1, 650.0, 0.05, 7.0),
        (96, 96, 100, 2, 4.0, 0.9, 4.0), (300_000, 12, 1000, 4, 0.5, 20.0, 5.0)),
    returns=("carried", "computed"), tolerance=1e-6, derives=("gemm", "gemv"),
    insight="Times overlap, and the longer one counts; energies add up, and both are paid. So an "
            "energy roofline has no bend, only an arch.",
    misconceptions=(
        Misconception("picojoules",
                      lambda *a: tuple(1e12 * x for x in _joules(*a)),
                      "a picojoule is 1e-12 joules."),
        Misconception("numbers for bytes",
                      lambda m, n, k, s, b, p, q: (_joules(m, n, k, s, b, p, q)[0] / s,
                                                   _joules(m, n, k, s, b, p, q)[1]),
                      "`byte` is paid for every byte, and a number has itemsize of them."),
        Misconception("an addition is free",
                      lambda m, n, k, s, b, p, q: (_joules(m, n, k, s, b, p, q)[0],
                                                   m * n * k * q * 1e-12),
                      "a multiply-add is a multiplication and an addition, and both are paid."),
        Misconception("one addition less",
                      lambda m, n, k, s, b, p, q: (_joules(m, n, k, s, b, p, q)[0],
                                                   m * n * (k * q + (k - 1) * p) * 1e-12),
                      "the first product is added to a zero: there are k additions, as many as "
                      "multiplications."),
        Misconception("two multiply-adds",
                      lambda m, n, k, s, b, p, q: (_joules(m, n, k, s, b, p, q)[0],
                                                   2 * m * n * k * (p + q) * 1e-12),
                      "2mnk counts FLOPs; half of them are additions, half multiplications."),
        Misconception("result not carried",
                      lambda m, n, k, s, b, p, q: ((m * k + k * n) * s * b * 1e-12,
                                                   _joules(m, n, k, s, b, p, q)[1]),
                      "the result is carried to memory, too."),
        Misconception("result carried twice",
                      lambda m, n, k, s, b, p, q: ((m * k + k * n + 2 * m * n) * s * b * 1e-12,
                                                   _joules(m, n, k, s, b, p, q)[1]),
                      "nothing is added to an old result here, so it is only written."),
        Misconception("operands fetched every time",
                      lambda m, n, k, s, b, p, q: ((2 * m * n * k + m * n) * s * b * 1e-12,
                                                   _joules(m, n, k, s, b, p, q)[1]),
                      "each operand is carried once here; its reuse costs no trip to memory."),
        Misconception("the longer one counts",
                      lambda *a: (max(_joules(*a)), max(_joules(*a))),
                      "that is a rule for times; return what is paid for each."),
        Misconception("computed first", lambda *a: _joules(*a)[::-1],
                      "carried comes first, then computed."),
    ),
)  # fmt: skip


# ---- 06-break-even -------------------------------------------------------------------------------
def _processes(rng: random.Random) -> list[Case]:
    """Energies and speeds of made-up machines, of which the second saves time late."""
    drawn: list[Case] = []
    for size in (4, 8, 2):
        bandwidth = rng.uniform(2e10, 3e12)
        ridge = rng.uniform(3, 250)
        drawn.append({"itemsize": size, **_energies(rng), "peak": ridge * bandwidth,
                      "bandwidth": bandwidth})  # fmt: skip
    return drawn


def _even(
    itemsize: int, byte: float, add: float, multiply: float, peak: float, bandwidth: float
) -> tuple[float, float]:
    return 3 * itemsize * byte / (add + multiply), 1.5 * itemsize * peak / bandwidth


BREAK_EVEN = Exercise(
    "06-break-even", "Two break-evens", 3,
    "A product of two N×N matrices; all three are carried once. Return (1) the N at which "
    "computing costs as much energy as carrying, (2) the N at which it takes as much time. Neither "
    "need be a whole number. `byte`, `add`, `multiply` are in pJ, `peak` in FLOP/s, `bandwidth` in "
    "byte/s.",
    "break_even(itemsize, byte, add, multiply, peak, bandwidth)", _even, cases=_processes, lines=3,
    fixed=cases_of("itemsize byte add multiply peak bandwidth", (1, 650.0, 0.1, 0.2, 4.5e15, 8e12),
        (8, 0.5, 20.0, 5.0, 6e9, 1.3e10), (2, 31.25, 1.5, 1.5, 1.1e11, 1.9e10),
        (4, 100.0, 2.0, 1.0, 3e12, 3e12)),
    returns=("N of equal energy", "N of equal time"), tolerance=1e-6,
    derives=("gemm", "Roofline"),
    insight="The two are set by different things, one by a process and its wires, the other by how "
            "many units a chip has. For an N between the two, memory rules the one and computing "
            "the other.",
    misconceptions=(
        Misconception("one N for both", lambda s, b, a, q, p, w: (1.5 * s * p / w,) * 2,
                      "energy knows no bandwidth and no peak: set joules equal to joules."),
        Misconception("upside down",
                      lambda s, b, a, q, p, w: tuple(1 / x for x in _even(s, b, a, q, p, w)),
                      "which grows with N³, and which with N²?"),
        Misconception("result not carried",
                      lambda s, b, a, q, p, w: tuple(2 / 3 * x for x in _even(s, b, a, q, p, w)),
                      "three matrices are carried: two in, one out."),
        Misconception("2 FLOPs, two multiply-adds",
                      lambda s, b, a, q, p, w: (1.5 * s * b / (a + q), 1.5 * s * p / w),
                      "N³ multiply-adds are N³ additions and N³ multiplications."),
        Misconception("a multiply-add is one FLOP",
                      lambda s, b, a, q, p, w: (_even(s, b, a, q, p, w)[0], 3 * s * p / w),
                      "the peak counts a multiply-add as 2 FLOPs."),
        Misconception("numbers for bytes",
                      lambda s, b, a, q, p, w: tuple(x / s for x in _even(s, b, a, q, p, w)),
                      "a number has itemsize bytes."),
        Misconception("an intensity, not N",
                      lambda s, b, a, q, p, w: (2 * b / (a + q), p / w),
                      "that is in FLOP/byte; at which N does a product have it?",
                      variants=(lambda s, b, a, q, p, w: (b / (a + q), p / w),)),
        Misconception("only the multiplication",
                      lambda s, b, a, q, p, w: (3 * s * b / q, _even(s, b, a, q, p, w)[1]),
                      "the addition is paid as well."),
    ),
)  # fmt: skip


# ---- 06-token ------------------------------------------------------------------------------------
def _servers(rng: random.Random) -> list[Case]:
    drawn: list[Case] = []
    for size, batch in ((2, rng.randrange(2, 9)), (1, rng.randrange(20, 60)), (2, 1)):
        weights = rng.randrange(1, 80) * 10**9 + rng.randrange(10**8)
        drawn.append({
            "weights": weights, "itemsize": size, "batch": batch,
            "kv_bytes": rng.randrange(10**8, 2 * 10**9), **_energies(rng),
        })  # fmt: skip
    return drawn


def _token(
    weights: int, itemsize: int, batch: int, kv_bytes: int, byte: float, add: float, multiply: float
) -> tuple[float, float]:
    carried = (weights * itemsize / batch + kv_bytes) * byte
    return (carried + weights * (add + multiply)) * 1e-12, itemsize * byte / (add + multiply)


TOKEN = Exercise(
    "06-token", "Joules for each token", 3,
    "A language model makes one token for each of `batch` sequences at once. All `weights`, of "
    "`itemsize` bytes, are read once for all sequences; each sequence uses every weight in one "
    "multiply-add, and reads `kv_bytes` of its own. Energies are in pJ, as before. Return (1) the "
    "joules for each token, (2) the batch at which the weights' arithmetic costs as much as "
    "carrying them.",
    "token(weights, itemsize, batch, kv_bytes, byte, add, multiply)", _token, cases=_servers,
    fixed=cases_of("weights itemsize batch kv_bytes byte add multiply",
        (124_000_000, 4, 1, 1000, 31.25, 1.5, 1.5), (1_000_000, 8, 12, 1, 0.5, 20.0, 5.0),
        (405_000_000_000, 1, 5000, 20_000_000_000, 650.0, 0.1, 0.2),
        (700_000_001, 2, 3, 500_000_000, 100.0, 2.0, 1.0)),
    lines=3, returns=("J for each token", "batch of equal energy"), tolerance=1e-6,
    insight="The second number has no model in it: below that batch, weights cost more to carry "
            "than to use. The past of each sequence comes on top, and no batch makes it cheaper.",
    misconceptions=(
        Misconception("of the whole batch",
                      lambda w, s, n, c, b, a, q: (n * _token(w, s, n, c, b, a, q)[0],
                                                   _token(w, s, n, c, b, a, q)[1]),
                      "that is a step; it makes `batch` tokens.",
                      variants=(lambda w, s, n, c, b, a, q: (
                          ((w * s + n * c) * b + n * w * (a + q)) * 1e-12,
                          s * b / (a + q)),)),
        Misconception("weights for each sequence",
                      lambda w, s, n, c, b, a, q: (_token(w, s, 1, c, b, a, q)[0],
                                                   _token(w, s, n, c, b, a, q)[1]),
                      "the weights are read once for all sequences."),
        Misconception("the cache shared",
                      lambda w, s, n, c, b, a, q: (_token(w, s, n, c / n, b, a, q)[0],
                                                   _token(w, s, n, c, b, a, q)[1]),
                      "every sequence reads kv_bytes of its own."),
        Misconception("no past",
                      lambda w, s, n, c, b, a, q: (_token(w, s, n, 0, b, a, q)[0],
                                                   _token(w, s, n, c, b, a, q)[1]),
                      "each sequence also reads kv_bytes of its own."),
        Misconception("carrying only",
                      lambda w, s, n, c, b, a, q: ((w * s / n + c) * b * 1e-12,
                                                   _token(w, s, n, c, b, a, q)[1]),
                      "the multiply-adds are paid as well."),
        Misconception("arithmetic shared",
                      lambda w, s, n, c, b, a, q: (
                          ((w * s / n + c) * b + w * (a + q) / n) * 1e-12, s * b / (a + q)),
                      "reading is shared; the arithmetic is done for every sequence."),
        Misconception("2 FLOPs, two multiply-adds",
                      lambda w, s, n, c, b, a, q: (
                          ((w * s / n + c) * b + 2 * w * (a + q)) * 1e-12, s * b / (2 * (a + q))),
                      "2 FLOPs a weight are one addition and one multiplication."),
        Misconception("kv in the batch",
                      lambda w, s, n, c, b, a, q: (_token(w, s, n, c, b, a, q)[0],
                                                   (w * s + c) * b / (w * (a + q))),
                      "the second number compares the weights alone; no batch spreads the cache "
                      "over several sequences."),
        Misconception("only the multiplication",
                      lambda w, s, n, c, b, a, q: (
                          ((w * s / n + c) * b + w * q) * 1e-12, s * b / q),
                      "a multiply-add has an addition in it, too."),
    ),
)  # fmt: skip

EXERCISES = (LEVELS, CHAIN, UNDERWAY, BUS, JOULES, BREAK_EVEN, TOKEN)

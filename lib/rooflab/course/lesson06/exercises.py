"""Exercises of lesson 06, where data lives: levels, lines in flight, bytes on the bus, energy.

The wrong answers are slips of public teaching material: a random array taken for one chain, a
latency taken for a rate, a copy counted once, an energy per access taken for one per number.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from itertools import accumulate, pairwise
from math import ceil, floor
from operator import mul

from rooflab.exercises.exercise import ITEMSIZES, any_length, at_least, cases_of, one_of
from rooflab.exercises.table import drawn, slip, table

LINE = 64  # bytes
ENERGIES = {  # pJ of a byte from memory, of an addition and of a multiplication
    "byte": (30, 160), "add": (0.2, 0.9), "multiply": lambda rng, add: add * rng.uniform(2, 5),
}


# ---- 06-levels -----------------------------------------------------------------------------------
STEP = 1.5  # a hop that takes so many times the one before belongs to another level


def _hops(rng: random.Random, _caches: int, _nearest: float) -> list[float]:
    """Seconds of a hop: 3 to 5 % apart within a level, several times as many in the next."""
    slower = (rng.uniform(2.5, 4) for _ in range(_caches))
    return [level * (1 - (-1) ** i * rng.uniform(0.016, 0.022))
            for level in accumulate(slower, mul, initial=_nearest)
            for i in range(rng.randrange(2, 4))]


def _above(least: float) -> Callable[..., list[int]]:
    """Places in the list after which a hop takes more than ``least`` times as long."""
    return lambda seconds: [at for at, (a, b) in enumerate(pairwise(seconds)) if b > least * a]


def _later(least: float) -> Callable[..., list[int]]:
    """Places after which a hop takes more than ``least`` seconds longer."""
    return lambda seconds: [at for at, (a, b) in enumerate(pairwise(seconds)) if b - a > least]


LEVELS = table(
    "06-levels", "Find the caches", 3,
    "A chain was followed through working sets of these `sizes`, and a hop took these `seconds`. "
    "Return the list of the caches' capacities, the nearest first, as far as these sizes tell.",
    "caches(sizes, seconds)", lines=2,
    cases=drawn(3, sizes=lambda _least, seconds: [_least << at for at in range(len(seconds))],
                seconds=_hops, _least=[4096, 16384, 8192], _caches=[3, 2, 4],
                _nearest=[1e-9, 3e-8, 1.5e-9]),
    domain={"sizes": any_length(2), "seconds": any_length(2)},
    example=([16_000, 32_000, 64_000, 256_000, 10**6], [1e-9, 1e-9, 3e-9, 3e-9, 1e-8]),
    fixed=cases_of("sizes seconds",
        ([20_000, 32_768, 49_152, 65_536, 1_000_000, 1_250_000, 3_000_000],
         [1e-9, 1.06e-9, 1e-9, 2e-9, 2.04e-9, 4.2e-9, 4.3e-9]),
        ([1000, 3000, 7000, 21_000, 60_000, 200_000], [3e-8, 6.3e-8, 6.3e-7, 1.4e-6, 2.9e-6, 3e-4]),
        ([65_536, 131_072, 262_144, 300_000, 600_000, 1_000_000],
         [1.65e-7, 1.75e-7, 1.67e-7, 4.7e-7, 4.85e-7, 1e-6]),
        ([4096, 8192, 70_000], [5e-7, 1e-6, 1.1e-5]), ([5000, 20_000], [4e-8, 4.1e-8])),
    insight="That is how caches are measured where nobody prints their sizes. On your own mountain "
            "it may miss one: a real level can end in many small steps, so the mountain looks for "
            "the flat stretches between them.",
    answer={
        "_steps": _above(STEP),
        "caches": lambda sizes, _steps: [sizes[at] for at in _steps],
    },
    slips=(
        slip("first size beyond", "that size is already too large for the cache; which one did it "
             "still hold?", caches=lambda sizes, _steps: [sizes[at + 1] for at in _steps]),
        slip("memory too", "the last stretch is main memory, and no cache ends there.",
             _steps=lambda seconds: [*_above(STEP)(seconds), len(seconds) - 1]),
        slip("the last cache only", "the curve has more than one step.",
             _steps=lambda seconds: _above(STEP)(seconds)[-1:]),
        slip("every rise is a step", "a clock wobbles by some per cent; a step to the next level "
             "is much larger.", _steps=[*map(_above, (1, 1.001, 1.005, 1.01, 1.015, 1.02,
                                                     1.025, 1.03, 1.04, 1.05))]),
        slip("more than twice", "a hop that takes exactly twice as long belongs to the next "
             "level, too.", _steps=[*map(_above, (2, 2.2, 2.4))]),
        slip("nanoseconds, not factors", "on a fast machine a step is smaller than what a slow "
             "one's clock wobbles by; compare a hop with the one before it as a ratio.",
             _steps=[*map(_later, (5e-9, 1e-9, 2e-9, 3e-9, 1e-8, 2e-8, 5e-8, 1e-7)),
                     lambda seconds: _later(0.05 * (seconds[-1] - seconds[0]))(seconds),
                     lambda seconds: _later(seconds[0])(seconds)]),
        slip("between two sizes",
             "the capacity does lie between two sizes; which of them did the cache still hold?",
             caches=[lambda sizes, _steps: [(sizes[at] * sizes[at + 1]) ** 0.5 for at in _steps],
                     lambda sizes, _steps: [(sizes[at] + sizes[at + 1]) / 2 for at in _steps]]),
        slip("all beyond the first", "these are all sizes that are slower than the first cache; "
             "compare each hop with the one before it.",
             caches=[lambda sizes, seconds: [a for a, b in zip(sizes, seconds)
                                             if b > STEP * seconds[0]],
                     lambda sizes, seconds: [a for a, b in zip(sizes, seconds)
                                             if b > 2 * seconds[0]]]),
        slip("places, not sizes", "these are places in the list; return the sizes that stand "
             "there.", caches=lambda _steps: _steps),
    ),
)


# ---- 06-claim-chain ------------------------------------------------------------------------------
def _walk(follows: Sequence[int], start: int = 0) -> list[int]:
    """The lines that a walk visits before it is at ``start`` again."""
    seen = [start]
    while follows[seen[-1]] != start:
        seen.append(follows[seen[-1]])
    return seen


CHAIN = table(
    "06-claim-chain", "Claim court: shuffled is a chain", 3,
    "Line i of an array leads to line follows[i]. How many bytes does the walk from line 0 touch? "
    "Count every line that it visits as 64 bytes.",
    "working_set(follows)", lines=4,
    cases=drawn(4, follows=lambda rng, _lines: rng.sample(range(_lines), _lines),
                _lines=range(20, 50)),
    domain={"follows": any_length()}, example=([2, 0, 1, 4, 3],),
    fixed=cases_of("follows", ([0],), ([0, 2, 1],), ([1, 0],), ([5, 0, 1, 2, 3, 4],),
        ([3, 2, 1, 4, 0, 6, 5],), ([*range(1, 300), 0],), ([2, 3, 0, 4, 5, 1, 6],)),
    insight="A shuffled array falls into several rings, and a walk stays in its own: half of the "
            "lines on average, and often far less. So the clock may show a cache where its owner "
            "takes it for the memory.",
    answer={
        "_walk": lambda follows: _walk(follows),
        "bytes": lambda _walk: LINE * len(_walk),
    },
    slips=(
        slip("all lines",
             "the walk comes back to line 0 before it has been everywhere: where a chain was "
             "shuffled together, it may be several rings.", _walk=lambda follows: follows),
        slip("lines, not bytes", "a line has 64 bytes.", bytes=lambda _walk: len(_walk)),
        slip("8 bytes a line", "the number takes 8 bytes, but memory travels in lines of 64.",
             bytes=lambda _walk: 8 * len(_walk)),
        slip("line 0 left out", "one line is missing: line 0 is touched, and so is the one that "
             "leads back to it.", bytes=lambda _walk: LINE * (len(_walk) - 1)),
        slip("line 0 twice", "the walk ends where it began; line 0 is one line.",
             bytes=lambda _walk: LINE * (len(_walk) + 1)),
        slip("half of it", "half is the average over many shuffled arrays; this one is given.",
             bytes=[lambda follows: LINE * len(follows) / 2,
                    lambda follows: LINE * (len(follows) // 2),
                    lambda follows: LINE * (len(follows) + 1) / 2]),
        slip("the largest ring", "the walk begins at line 0 and stays in the ring that line 0 is "
             "in.", _walk=lambda follows: max((_walk(follows, at) for at in follows), key=len)),
        slip("lines that stay",
             "not only a line that leads to itself is left out: whatever belongs to another ring "
             "is.", _walk=lambda follows: [at for at, to in enumerate(follows) if at != to]),
    ),
)


# ---- 06-underway ---------------------------------------------------------------------------------
UNDERWAY = table(
    "06-underway", "How many cores fill a memory?", 3,
    "A memory gives `bandwidth` byte/s, and a line of 64 bytes arrives `latency` seconds after it "
    "was asked for. A core can have `lines` lines in flight at a time. Return (1) how many lines "
    "must be in flight on average to use the whole bandwidth, (2) the byte/s that one core "
    "alone gets from this memory, (3) the least number of cores that use all of it.",
    "cores_needed(bandwidth, latency, lines)", lines=2, tolerance=1e-6,
    cases=drawn(4, bandwidth=(2e10, 2e11), latency=(60e-9, 140e-9), lines=range(10, 49)),
    domain={"lines": at_least(1)}, example=(2.4e10, 1e-7, 10),
    # The first three: exactly three cores, exactly one, and a little more than three.
    fixed=cases_of("bandwidth latency lines", (3 * 2.0**33, 2.0**-24, 8), (2.0**33, 2.0**-24, 8),
        (2.5805e10, 2.0**-24, 8), (2.574e10, 2.0**-24, 8), (2e10, 9e-8, 1), (2.2e10, 9e-8, 48),
        (8e12, 5e-7, 12)),
    insight="Nothing in it computes. A core with faster arithmetic would not get one byte more.",
    answer={
        "_core": lambda latency, lines: lines * LINE / latency,  # byte/s that it could take
        "lines in flight": lambda bandwidth, latency: bandwidth * latency / LINE,
        "byte/s of one core": lambda _core, bandwidth: min(_core, bandwidth),
        "cores": lambda bandwidth, _core: ceil(bandwidth / _core),
    },
    slips=(
        slip("one line at a time", "a core asks for the next lines before the first one is there; "
             "it can have `lines` of them in flight.", lines=1),
        slip("bytes in flight", "bandwidth × latency is in bytes; how many lines is that?",
             lines_in_flight=lambda bandwidth, latency: bandwidth * latency),
        slip("more than the memory has", "no core gets more bytes than the memory gives.",
             ways=[{"byte/s_of_one_core": lambda _core: _core}]),
        slip("cores rounded down",
             "that many cores leave a part of the bandwidth unused; the next whole number uses "
             "all of it.", cores=lambda bandwidth, _core: max(1, floor(bandwidth / _core))),
        slip("cores rounded", "a little more than three cores are not three: the last part needs "
             "a core as well.", cores=lambda bandwidth, _core: max(1, round(bandwidth / _core))),
        slip("one core too many",
             "where some cores use all of the bandwidth, and no part is left over, one more gets "
             "nothing.", cores=lambda bandwidth, _core: floor(bandwidth / _core) + 1),
        slip("half a core",
             "there are only whole cores.", cores=lambda bandwidth, _core: bandwidth / _core),
        slip("what this core has in flight", "`lines` is what one core can have; how many does "
             "the memory need?", lines_in_flight=lambda lines: lines),
        slip("latency for every byte", "a line brings 64 bytes after one latency, not one.",
             _core=lambda latency, lines: lines / latency),
    ),
)


# ---- 06-bus --------------------------------------------------------------------------------------
BUS = table(
    "06-bus", "What crosses the bus", 3,
    "A benchmark reports `rate` byte/s. It counts each array of the list `read` once and each of "
    "`written` once. If `fetches` is true, the processor also fetches each line that is written "
    "but was not read. All arrays have the same length. Return the byte/s that really cross the "
    "bus, in both directions together.",
    "bus_rate(rate, read, written, fetches)", lines=3, tolerance=1e-6,
    cases=drawn(5, rate=(8e9, 6e10), read=lambda _loop: [*_loop[0]],
                written=lambda _loop: [*_loop[1]], fetches=[True, True, False, True, True],
                # copy, AXPY, triad, fill, sum, scale in place, sort into two
                _loop=lambda rng: rng.choice((("x", "y"), ("xy", "y"), ("bc", "a"), ("", "x"),
                                              ("x", ""), ("x", "x"), ("x", "yz")))),
    domain={"read": any_length(0), "written": any_length(0), "fetches": one_of(True, False)},
    example=(2.4e10, ["b", "c"], ["a"], True),
    fixed=cases_of("rate read written fetches", (1.7e10, ["x", "y"], ["y", "z"], True),
        (2.5e10, ["x", "y"], ["x"], True), (3.1e9, ["x1"], ["x"], True),
        (123.0, ["b", "abc"], ["c", "ab", "b", "a"], True),
        (4.4e12, ["a", "b", "c", "d", "e"], ["f", "a"], True), (9e9, ["x"], ["y", "z"], False),
        (8e9, [], ["x", "y"], True), (7e9, [], ["x"], False), (6e9, ["x", "y"], [], True)),
    insight="A bandwidth without its loop is half a number: where a core's own buffers are the "
            "limit, what it *fetches* a second is alike in all loops; where one bus carries both "
            "ways, all that travels is.",
    answer={
        "_counted": lambda read, written: len(read) + len(written),
        "_fetched": lambda read, written, fetches: fetches * len({*written} - {*read}),
        "_moved": lambda _counted, _fetched: _counted + _fetched,
        "bus rate": lambda rate, _moved, _counted: rate * _moved / _counted,
    },
    slips=(
        slip("as reported",
             "an array that is only written is fetched as well, if `fetches` is true.", _fetched=0),
        slip("every write fetched", "what was read a moment ago is there; its line is not fetched "
             "once more.", _fetched=lambda written, fetches: fetches * len(written)),
        slip("always fetched",
             "one of these loops ran on a processor that does not fetch.", fetches=True),
        slip("both directions are double", "the reported rate has both directions in it already.",
             _moved=lambda _counted: 2 * _counted),
        slip("reads only", "what is written goes over the bus as well.",
             _moved=lambda read, _fetched: len(read) + _fetched),
        slip("each array once", "an array that is read and written crosses the bus twice.",
             _moved=lambda read, written: len({*read, *written})),
        slip("a copy's factor",
             "three lines for two is what a copy moves; count the lines of this loop.",
             _moved=lambda _counted, fetches: 1.5 * _counted if fetches else _counted),
        slip("all fetched once more",
             "what is read is counted already; only what is written without being read is fetched "
             "on top.", _fetched=lambda read, written, fetches: fetches * len({*read, *written})),
        slip("one fetch at most", "every array that is written without being read is fetched.",
             _moved=lambda _counted, _fetched: _counted + min(1, _fetched)),
    ),
)


# ---- 06-break-even -------------------------------------------------------------------------------
BREAK_EVEN = table(
    "06-break-even", "Two break-evens", 3,
    "A product of two N×N matrices needs N³ multiplications and N³ additions; all three matrices "
    "are carried once. Return (1) the N at which computing costs as much energy as carrying, (2) "
    "the N at which it takes as much time. Neither need be a whole number. `byte`, `add`, "
    "`multiply` are in pJ, `peak` in FLOP/s, `bandwidth` in byte/s.",
    "break_even(itemsize, byte, add, multiply, peak, bandwidth)", lines=3,
    cases=drawn(3, itemsize=[4, 8, 2], **ENERGIES,
                peak=lambda rng, bandwidth: bandwidth * rng.uniform(3, 250),
                bandwidth=(2e10, 3e12)),
    domain={"itemsize": ITEMSIZES}, example=(4, 100.0, 1.0, 3.0, 2e12, 1e11),
    tolerance=1e-6, derives=("gemm", "Roofline"),
    fixed=cases_of("itemsize byte add multiply peak bandwidth", (1, 650.0, 0.1, 0.2, 4.5e15, 8e12),
        (8, 0.5, 20.0, 5.0, 6e9, 1.3e10), (2, 31.25, 1.5, 1.5, 1.1e11, 1.9e10),
        (4, 100.0, 2.0, 1.0, 3e12, 3e12)),
    insight="The two are set by different things, one by a process and its wires, the other by how "
            "many units a chip has. For an N between the two, memory rules the one and computing "
            "the other.",
    answer={
        "_matrices": 3,
        "_flops": 2,  # times N³
        "_energy": lambda add, multiply: add + multiply,
        "N of equal energy": lambda _matrices, itemsize, byte, _energy:
            _matrices * itemsize * byte / _energy,
        "N of equal time": lambda _matrices, _flops, itemsize, peak, bandwidth:
            _matrices * itemsize * peak / bandwidth / _flops,
    },
    slips=(
        slip("one N for both", "energy knows no bandwidth and no peak: set joules equal to joules.",
             N_of_equal_energy=lambda itemsize, peak, bandwidth: 1.5 * itemsize * peak / bandwidth),
        slip("result not carried", "three matrices are carried: two in, one out.", _matrices=2),
        slip("2 FLOPs, two multiply-adds", "N³ multiply-adds are N³ additions and N³ "
             "multiplications.", _energy=lambda add, multiply: 2 * (add + multiply)),
        slip("a multiply-add is one FLOP", "the peak counts a multiply-add as 2 FLOPs.", _flops=1),
        slip("numbers for bytes", "a number has itemsize bytes.", itemsize=1),
        slip("4 bytes always", itemsize=4),
        slip("an intensity, not N", "that is in FLOP/byte; at which N does a product have it?",
             ways=[{"N_of_equal_energy": energy,
                    "N_of_equal_time": lambda peak, bandwidth: peak / bandwidth}
                   for energy in (lambda byte, _energy: 2 * byte / _energy,
                                  lambda byte, _energy: byte / _energy)]),
        slip("only the multiplication", "the addition is paid as well.", add=0),
    ),
)


# ---- 06-token ------------------------------------------------------------------------------------
TOKEN = table(
    "06-token", "Joules for each token", 3,
    "A language model makes one token for each of `batch` sequences at once. All `weights`, of "
    "`itemsize` bytes, are read once for all sequences; each sequence uses every weight in one "
    "multiply-add, and reads `kv_bytes` of its own. Energies are in pJ, as before. Return (1) the "
    "joules for each token, (2) the batch at which the weights' arithmetic costs as much as "
    "carrying them.",
    "token(weights, itemsize, batch, kv_bytes, byte, add, multiply)", lines=3,
    cases=drawn(3, weights=range(10**9, 80 * 10**9), itemsize=[2, 1, 2],
                batch=lambda rng, _most: rng.randrange(1, _most), kv_bytes=range(10**8, 2 * 10**9),
                **ENERGIES, _most=[9, 60, 2]),
    domain={"itemsize": ITEMSIZES, "batch": at_least(1)},
    example=(1e9, 4, 10, 1e8, 50.0, 1.0, 3.0), tolerance=1e-6,
    fixed=cases_of("weights itemsize batch kv_bytes byte add multiply",
        (124_000_000, 4, 1, 1000, 31.25, 1.5, 1.5), (1000, 8, 12, 1, 0.5, 20.0, 5.0),
        (405_000_000_000, 1, 5000, 20_000_000_000, 650.0, 0.1, 0.2),
        (700_000_001, 2, 3, 500_000_000, 100.0, 2.0, 1.0)),
    insight="The second number has no model in it: below that batch, weights cost more to carry "
            "than to use. The past of each sequence comes on top, and no batch makes it cheaper.",
    answer={
        "_read": lambda weights, itemsize, batch, kv_bytes: weights * itemsize / batch + kv_bytes,
        "_energy": lambda add, multiply: add + multiply,
        "_computed": lambda weights, _energy: weights * _energy,
        "J for each token": lambda _read, byte, _computed: (_read * byte + _computed) * 1e-12,
        "batch of equal energy": lambda itemsize, byte, _energy: itemsize * byte / _energy,
    },
    slips=(
        slip("of the whole batch", "that is a step; it makes `batch` tokens.",
             J_for_each_token=lambda batch, _read, byte, _computed:
                 batch * (_read * byte + _computed) * 1e-12),
        slip("weights for each sequence", "the weights are read once for all sequences.", batch=1),
        slip("4 bytes always", itemsize=4),
        slip("the cache shared", "every sequence reads kv_bytes of its own.",
             kv_bytes=lambda kv_bytes, batch: kv_bytes / batch),
        slip("no past", "each sequence also reads kv_bytes of its own.", kv_bytes=0),
        slip("carrying only", "the multiply-adds are paid as well.", _computed=0),
        slip("arithmetic shared", "reading is shared; the arithmetic is done for every sequence.",
             _computed=lambda weights, _energy, batch: weights * _energy / batch),
        slip("2 FLOPs, two multiply-adds", "2 FLOPs a weight are one addition and one "
             "multiplication.", _energy=lambda add, multiply: 2 * (add + multiply)),
        slip("kv in the batch", "the second number compares the weights alone; no batch spreads "
             "the cache over several sequences.",
             batch_of_equal_energy=lambda weights, itemsize, kv_bytes, byte, _energy:
                 (weights * itemsize + kv_bytes) * byte / (weights * _energy)),
        slip("only the multiplication", "a multiply-add has an addition in it, too.", add=0),
    ),
)

EXERCISES = (LEVELS, CHAIN, UNDERWAY, BUS, BREAK_EVEN, TOKEN)
RETIRED = {"06-joules": "06-break-even asks for the same two sums"}

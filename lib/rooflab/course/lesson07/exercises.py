"""Exercises of lesson 07, tiling: what a cache keeps, what a tile saves, where it fits.

The wrong answers are slips of public teaching material: a saving of T² for a tile of T×T, three
tiles that fit and so are said to stay, a gain of the cache that a tile is praised for.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Iterable, Sequence
from math import gcd

from rooflab.exercises.exercise import ITEMSIZES, any_length, at_least, cases_of
from rooflab.exercises.table import drawn, slip, table


# ---- 07-lru --------------------------------------------------------------------------------------
def _replaced(
    lines: Sequence[int], capacity: int, *, refreshed: bool = True, newest: bool = False
) -> int:
    """Misses of a cache that throws out its oldest line, or its newest.

    ``refreshed``: a line that is found counts as touched now, and not when it came.
    """
    held: OrderedDict[int, None] = OrderedDict()
    misses = 0
    for line in lines:
        if line in held:
            if refreshed:
                held.move_to_end(line)
            continue
        misses += 1
        if len(held) >= max(capacity, 1):
            held.popitem(last=newest)
        held[line] = None
    return misses


def _window(lines: Sequence[int], capacity: int) -> int:
    """Misses of a cache that keeps the last touches, and a line as often as it was touched."""
    return sum(x not in lines[max(0, now - capacity) : now] for now, x in enumerate(lines))


LRU = table(
    "07-lru", "A cache in ten lines", 4,
    "A cache holds `capacity` lines, 1 or more. A line that is not there is fetched, and if the "
    "cache is full the line leaves that was touched longest ago. The cache is empty at first. The "
    "list `lines` says which lines are touched, in order. Return how many of these touches miss.",
    "misses(lines, capacity)", lines=9,
    cases=drawn(4, lines=lambda rng, capacity: rng.choices(range(capacity + 3), k=40),
                capacity=[3, 5, 4, 7]),
    domain={"lines": any_length(1), "capacity": at_least(1)}, example=([4, 9, 4, 7, 9, 7], 2),
    fixed=cases_of(
        "lines capacity",
        ([4, 4, 7, 4, 7, 7], 1),
        ([900, 17, 900, 3, 17], 64),  # nothing has to leave
        ([5, *[8] * 60, 5], 2),  # long ago, and still there
        ([*range(70, 83)] * 3, 13),  # just enough room
        ([*range(40, 52), 40] * 2, 11),  # one line too many
        ([21, 26, 23, 21, 27, 22, 22, 28, 28, 28, 25, 23, 24, 21, 22, 27, 25, 27, 23, 26, 20, 24,
          24, 20, 25, 22], 6),
        ([6], 2),
    ),
    insight="That is all a first cache does, and you have written one. The simulator of this "
            "lesson does the same tens of millions of times a second.",
    answer=lambda lines, capacity: _replaced(lines, capacity),
    slips=(
        slip("first in, first out",
             "a line that is found has been touched just now: it is not the oldest any more.",
             answer=lambda lines, capacity: _replaced(lines, capacity, refreshed=False)),
        slip("the newest leaves", "the line that was touched longest ago leaves, not the last one.",
             answer=[lambda lines, capacity: _replaced(lines, capacity, newest=True),
                     lambda lines, capacity:
                         _replaced(lines, capacity, newest=True, refreshed=False)]),
        slip("first touches are free",
             "the cache is empty at first, so the first touch of a line misses, too.",
             answer=lambda lines, capacity: _replaced(lines, capacity) - len({*lines})),
        slip("hits", "these are the touches that find their line.",
             answer=lambda lines, capacity: len(lines) - _replaced(lines, capacity)),
        slip("nothing leaves",
             "the cache holds `capacity` lines; when it is full, one has to leave.",
             answer=lambda lines: len({*lines})),
        slip("one line more", "the cache has room for `capacity` lines, not for one more.",
             capacity=lambda capacity: capacity + 1),
        slip("one line less", "`capacity` lines fit; the cache is full when all of them are there.",
             capacity=[lambda capacity: capacity - 1,
                       lambda lines, capacity: capacity - 1 or len(lines)]),
        slip("only the last line is kept",
             "the cache keeps several lines, not just the one before.", capacity=1),
        slip("the last touches",
             "the cache holds `capacity` different lines; a line that was touched twice takes one "
             "place.",
             answer=_window),
    ),
)


# ---- 07-tiles ------------------------------------------------------------------------------------
TILES = table(
    "07-tiles", "What a tile fetches", 3,
    "A product of an m×k and a k×n matrix. tm divides m, and tn divides n. A tile of tm × tn of "
    "the result is finished before the next one begins, and stays near meanwhile; for each tile "
    "the rows of A and the columns of B that it needs are fetched once. Every result is written "
    "once. Return the bytes from and to memory.",
    "tiled_bytes(m, n, k, tm, tn, itemsize)", lines=3,
    cases=drawn(3, m=lambda rng, tm: tm * rng.randrange(5, 30),
                n=lambda rng, tn: tn * rng.randrange(31, 60), k=range(200, 900),
                tm=range(8, 24, 4), tn=range(24, 52, 4), itemsize=[4, 8, 2]),
    domain=dict.fromkeys(("m", "n", "k", "tm", "tn"), at_least(1)) | {"itemsize": ITEMSIZES},
    example=(20, 50, 6, 4, 10, 8),
    fixed=cases_of("m n k tm tn itemsize",
        (7, 12, 5, 7, 4, 8), (9, 10, 1, 3, 10, 1), (6, 4, 11, 1, 1, 2), (1, 36, 50, 1, 9, 4),
        (12_000, 35_000, 7_500, 120, 500, 8), (6, 1, 9, 2, 1, 4)),
    insight="A is fetched n/tn times and B m/tm times: the other side of the tile is what saves. "
            "So a square tile saves most for the room that it takes.",
    answer={
        "_A": lambda m, n, k, tn: m * k * (n // tn),
        "_B": lambda m, n, k, tm: k * n * (m // tm),
        "_C": lambda m, n: m * n,
        "answer": lambda _A, _B, _C, itemsize: (_A + _B + _C) * itemsize,
    },
    slips=(
        slip("each matrix once",
             "that is the least; the rows of A are fetched again for every tile of a row of tiles.",
             ways=[{"tm": lambda m: m, "tn": lambda n: n}]),
        slip("sides swapped",
             "which tiles need the same rows of A: those above each other or those beside each "
             "other?",
             ways=[{"_A": lambda m, k, tm: m * k * (m // tm),
                    "_B": lambda n, k, tn: k * n * (n // tn)}]),
        slip("divided by the area",
             "a tile has tm·tn results, but it fetches tm rows and tn columns for them.",
             ways=[{"_A": lambda m, n, k, tm, tn: 2 * m * n * k // (tm * tn), "_B": 0}]),
        slip("result left out", "the results have to be written to memory as well.", _C=0),
        slip("result read, too",
             "the tile begins with zeros; nothing of the result is fetched here.",
             _C=lambda m, n: 2 * m * n),
        slip("numbers, not bytes", "a number has itemsize bytes.", itemsize=1),
        slip("one matrix again",
             "A and B are both fetched again: one for each tile of a row of tiles, one for each "
             "tile of a column.",
             tm=lambda m: m, tn=lambda n: n),
    ),
)


# ---- 07-claim-thousand ---------------------------------------------------------------------------
THOUSAND = table(
    "07-claim-thousand", "Claim court: 1024 times less", 3,
    "A product of two n×n matrices in tiles of t × t of the result, where t divides n, against the "
    "same product without any reuse, which fetches two numbers for every multiply-add. Both write "
    "every result once. Return by what factor the tile lowers (1) the traffic of A and B, (2) all "
    "the traffic.",
    "saving(n, t)", lines=2, tolerance=1e-6, example=(8, 4),
    cases=drawn(3, n=lambda rng, t: t * rng.randrange(3, 20), t=range(8, 90)),
    domain={"n": at_least(1), "t": at_least(1)},
    fixed=cases_of("n t", (35, 1), (60, 60), (63, 9), (12, 4), (48_000, 750), (1, 1)),
    insight="A tile with 1024 results saves a factor of 32. Its area is what you pay for, in room; "
            "its side is what you get.",
    answer={
        "_without": lambda n: 2 * n**3,
        "_with": lambda n, t: 2 * n**3 / t,
        "_results": lambda n: n * n,
        "factor of A and B": lambda _without, _with: _without / _with,
        "factor of all": lambda _without, _with, _results:
            (_without + _results) / (_with + _results),
    },
    slips=(
        slip("the area", "every row that is fetched serves t results of the tile, not t·t.",
             _with=lambda n, t: 2 * n**3 / t**2, factor_of_A_and_B=lambda t: t * t),
        slip("both added",
             "each of the two is fetched less by the same factor, and so are both together.",
             _with=lambda n, t: n**3 / t, factor_of_A_and_B=lambda t: 2 * t),
        slip("results twice", "each result is written once in both programs, and never read.",
             _results=lambda n: 2 * n * n),
        slip("how often it is fetched",
             "n/t is how often a number is fetched with tiles; how often is it without?",
             _with=lambda n, t: 2 * n**2 * t, factor_of_A_and_B=lambda n, t: n / t),
        slip("results forgotten",
             "the results are written in both cases, and that does not become less.", _results=0),
        slip("half the side", "A and B are each fetched n/t times.",
             _with=lambda n, t: 4 * n**3 / t),
        slip("A alone", "the tile's other side saves for B what this side saves for A.",
             _with=lambda n, t: n**3 / t + n**3),
        slip("the number of tiles", "that is how many tiles there are; how often is A fetched?",
             _with=lambda n, t: 2 * n * t**2),
    ),
)


# ---- 07-fits -------------------------------------------------------------------------------------
SIDES = (720, 840, 1008, 1200, 1260, 1440, 1680, 2520)  # of matrices: with many divisors


def _divisors(n: int, most: float) -> int:
    return max(t for t in range(1, n + 1) if n % t == 0 and t <= most)


def _beyond(n: int, most: float) -> int | None:
    return min((t for t in range(1, n + 1) if n % t == 0 and t > most), default=None)


FITS = table(
    "07-fits", "The largest tile", 3,
    "A cache of `cache` bytes has to hold the room of `tiles` tiles of T × T numbers of `itemsize` "
    "bytes. Return the largest T that fits and divides n.",
    "largest_tile(n, cache, itemsize, tiles)", lines=2,
    cases=drawn(3, n=lambda rng: rng.choice(SIDES), cache=range(24 << 10, 257 << 10, 8 << 10),
                itemsize=[4, 8, 2], tiles=[4.1, 1.4, 4.1]),
    domain={"n": at_least(1), "itemsize": ITEMSIZES}, example=(60, 5000, 4, 3.0),
    fixed=cases_of(
        "n cache itemsize tiles",
        (128, 16_384, 4, 4.0),  # an exact fit, and a byte less
        (90, 10_800, 8, 1.5),
        (90, 10_799, 8, 1.5),
        (97, 98_600, 8, 1.31),  # a prime that just does not fit
        (24, 65_536, 2, 1.0),  # all of it
        (360, 4096, 1, 3.0),
        (25_200, 10_485_760, 2, 1.31),
        (1, 4096, 8, 2.0),
    ),
    insight="Three tiles take part at a time, one of each matrix. How many a cache needs room for "
            "depends on the order within them: more than four, or hardly more than one.",
    answer={
        "_side": lambda cache, itemsize, tiles: (cache / itemsize / tiles) ** 0.5,
        "answer": lambda n, _side: _divisors(n, _side),
    },
    slips=(
        slip("need not divide", "the largest that fits leaves a rest here; T has to divide n.",
             answer=lambda _side: int(_side)),
        slip("one tile", "the room of `tiles` tiles is needed, not that of one.", tiles=1),
        slip("three tiles", "how many tiles need room is given; it need not be three.", tiles=3),
        slip("numbers for bytes", "a number takes itemsize bytes of the cache.", itemsize=1),
        slip("no root", "that is how many numbers a tile may have; T is its side.",
             _side=lambda cache, itemsize, tiles: cache / itemsize / tiles),
        slip("the smallest too large", "this tile does not fit any more.",
             answer=lambda n, _side: _beyond(n, _side)),
    ),
)


# ---- 07-claim-forty -----------------------------------------------------------------------------
FORTY = table(
    "07-claim-forty", "Claim court: 4.0 to 0.04", 3,
    "A talk multiplies matrices of 100 × 100 two-byte numbers. Without optimisation it counts 4.0 "
    "byte/FLOP, with tiles and a cache of 8 MB 0.04. What was counted before, what after, and what "
    "made the difference?",
    '("…", "…", "…")', kind="value",
    insight="All three matrices have 60 kB, so the cache keeps them without any tile. A result "
            "that is a hundred times better deserves the question which part of it did that.",
    answer={
        "before": "A, B, C read and written",
        "after": "each matrix once, C twice",
        "cause": "the cache",
    },
    slips=(
        slip("C stays in a register",
             "two fetches of 2 bytes for every multiply-add, which is 2 FLOPs: how many bytes for "
             "each FLOP is that?",
             before="A, B"),
        slip("C is only read", "three times 2 bytes for 2 FLOPs are not 4.0.",
             before="A, B, C read"),
        slip("the tile of 10",
             "with tiles of 10, A and B alone are fetched ten times each; compute it.",
             after="tiles of 10"),
        slip("the tile of 25", "with tiles of 25, A and B are fetched four times each; compute it.",
             after="tiles of 25"),
        slip("C once", "three matrices of 20 kB for 2 million FLOPs are 0.03.",
             after="each matrix once"),
        slip("the tile did it",
             "take the tile away: how much room do the three matrices need, and what does the "
             "cache have?",
             cause="the tile"),
        slip("the number type did it", "both figures are for two-byte numbers.",
             cause="the number type"),
    ),
)


# ---- 07-column -----------------------------------------------------------------------------------
def _counts(numbers: Iterable[int], sets: int) -> list[int]:
    """How many of these lines each set gets that gets any."""
    return [*Counter(number % sets for number in numbers).values()]


COLUMN = table(
    "07-column", "A column that does not fit", 3,
    "A cache has `sets` sets of `ways` lines each; line number a of memory may only lie in set a "
    "modulo `sets`. A program reads the first number of each of `rows` rows, which are `row_bytes` "
    "apart; the first begins at address 0. Rows in one line share it. Return (1) how many sets its "
    "lines fall into, (2) how many of its lines the cache can hold at a time.",
    "room_for_column(rows, row_bytes, line, sets, ways)", lines=5,
    cases=drawn(4, rows=range(200, 1300), row_bytes=[2048, 2112, 6144, 328], line=64,
                sets=[64, 128], ways=[8, 12, 2, 4]),
    domain=dict.fromkeys(("rows", "sets", "ways"), at_least(1)), example=(6, 256, 64, 8, 2),
    fixed=cases_of(
        "rows row_bytes line sets ways",
        (200, 1200, 64, 64, 3),  # rows that end within a line, more in some sets than in others
        (100, 24, 64, 12, 2),  # several rows in a line
        (32, 8, 128, 12, 3),  # up to its end
        (1, 96, 32, 4, 1),
        (50, 640, 128, 1, 12),
        (2000, 4096, 64, 64, 1),  # all in one set
        (3000, 12_320, 32, 2048, 16),
    ),
    insight="Rows of a power of two put a whole column into a few sets. One line of padding at the "
            "end of each row spreads it over all of them.",
    answer={
        "_numbers": lambda rows, row_bytes, line: {i * row_bytes // line for i in range(rows)},
        "_counts": lambda _numbers, sets: _counts(_numbers, sets),
        "_most": lambda sets, ways: sets * ways,  # that the whole cache can hold
        "sets": lambda _counts: len(_counts),
        "lines held": lambda _counts, ways: sum(min(ways, count) for count in _counts),
    },
    slips=(
        slip("any line anywhere",
             "a line may lie in one set only, and several lines of the column share it: two rows "
             "are row_bytes apart.",
             whole=lambda rows, sets, ways: (min(rows, sets), min(rows, sets * ways))),
        slip("all of its sets are full",
             "a set that gets fewer lines than it has ways holds no more than it gets.",
             lines_held=lambda _counts, ways: ways * len(_counts),
             whole=lambda row_bytes, line, sets, ways: tuple(
                 most // gcd(sets, row_bytes // line) for most in (sets, sets * ways))),
        slip("one line a set", "a set has `ways` lines.", lines_held=lambda _counts: len(_counts)),
        slip("addresses for lines",
             "the set follows from the number of the line: address // line.", line=1),
        slip("every line is held", "what is too much for a set throws out what lies there.",
             lines_held=[lambda _numbers: len(_numbers), lambda rows: rows,
                         lambda rows, _most: min(rows, _most)]),
        slip("a line for every row",
             "where rows are shorter than a line, several of them begin in the same one.",
             _numbers=lambda rows, row_bytes, line: [i * row_bytes // line for i in range(rows)]),
        slip("rows of whole lines",
             "a row may end within a line: which line holds the address row · row_bytes?",
             _numbers=[
                 lambda rows, row_bytes, line: {i * (row_bytes // line) for i in range(rows)},
                 lambda rows, row_bytes, line: [i * (row_bytes // line) for i in range(rows)]]),
        slip("the whole cache",
             "that is all of the cache; the lines of the column reach some sets only.",
             whole=lambda sets, ways: (sets, sets * ways)),
    ),
)


EXERCISES = (LRU, TILES, THOUSAND, FITS, COLUMN, FORTY)
RETIRED = {"07-two-levels": "09-tiles asks for tiles in tiles, on a nest that runs"}

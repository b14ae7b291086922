"""Exercises of lesson 07, tiling: what a cache keeps, what a tile saves, where it fits.

The wrong answers are slips of public teaching material: a saving of T² for a tile of T×T, three
tiles that fit and so are said to stay, a gain of the cache that a tile is praised for.
"""

from __future__ import annotations

import random
from collections import Counter, OrderedDict
from collections.abc import Callable, Sequence
from math import gcd

from rooflab.exercises.exercise import Case, Exercise, Misconception, cases_of

ITEMSIZES = (4, 8, 2)


# ---- 07-lru --------------------------------------------------------------------------------------
def _traces(rng: random.Random) -> list[Case]:
    return [
        {"lines": [rng.randrange(capacity + 3) for _ in range(40)], "capacity": capacity}
        for capacity in (3, 5, 4, 7)
    ]


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


def _seldom(lines: Sequence[int], capacity: int) -> int:
    """Misses of a cache that throws out the line that was touched least often."""
    held: Counter[int] = Counter()
    misses = 0
    for line in lines:
        if line not in held:
            misses += 1
            if len(held) >= capacity:
                del held[min(held, key=lambda one: held[one])]
        held[line] += 1
    return misses


def _window(lines: Sequence[int], capacity: int) -> int:
    """Misses of a cache that keeps the last touches, and a line as often as it was touched."""
    return sum(x not in lines[max(0, now - capacity) : now] for now, x in enumerate(lines))


def _emptied(lines: Sequence[int], capacity: int) -> int:
    """Misses of a cache that throws out everything when it is full."""
    held: set[int] = set()
    misses = 0
    for line in lines:
        if line not in held:
            misses += 1
            held = {line} if len(held) >= capacity else held | {line}
    return misses


LRU_CASES = cases_of(
    "lines capacity",
    ([4, 4, 7, 4, 7, 7], 1),
    ([900, 17, 900, 3, 17], 64),  # nothing has to leave
    ([5, *[8] * 60, 5], 2),  # long ago, and still there
    ([*range(70, 83)] * 3, 13),  # just enough room
    ([*range(40, 52), 40] * 2, 11),  # one line too many
    ([21, 26, 23, 21, 27, 22, 22, 28, 28, 28, 25, 23, 24, 21, 22, 27, 25, 27, 23, 26, 20, 24, 24,
      20, 25, 22], 6),
)  # fmt: skip

LRU = Exercise(
    "07-lru", "A cache in ten lines", 4,
    "A cache holds `capacity` lines, 1 or more. A line that is not there is fetched, and if the "
    "cache is full the line leaves that was touched longest ago. The cache is empty at first. The "
    "list `lines` says which lines are touched, in order. Return how many of these touches miss.",
    "misses(lines, capacity)", _replaced, cases=_traces, fixed=LRU_CASES, lines=9,
    insight="That is all a cache does, and you have written one. The simulator of this lesson does "
            "the same tens of millions of times a second.",
    misconceptions=(
        Misconception("first in, first out", lambda x, c: _replaced(x, c, refreshed=False),
                      "a line that is found has been touched just now: it is not the oldest any "
                      "more."),
        Misconception("the newest leaves", lambda x, c: _replaced(x, c, newest=True),
                      "the line that was touched longest ago leaves, not the last one.",
                      variants=(lambda x, c: _replaced(x, c, newest=True, refreshed=False),)),
        Misconception("first touches are free", lambda x, c: _replaced(x, c) - len(set(x)),
                      "the cache is empty at first, so the first touch of a line misses, too."),
        Misconception("hits", lambda x, c: len(x) - _replaced(x, c),
                      "these are the touches that find their line."),
        Misconception("nothing leaves", lambda x, c: len(set(x)),
                      "the cache holds `capacity` lines; when it is full, one has to leave."),
        Misconception("one line more", lambda x, c: _replaced(x, c + 1),
                      "the cache has room for `capacity` lines, not for one more."),
        Misconception("one line less", lambda x, c: _replaced(x, c - 1),
                      "`capacity` lines fit; the cache is full when all of them are there.",
                      variants=(lambda x, c: _replaced(x, c - 1) if c > 1 else len(set(x)),)),
        Misconception("only the last line is kept",
                      lambda x, c: sum(a != b for a, b in zip(x, [None, *x])),
                      "the cache keeps several lines, not just the one before."),
        Misconception("the least often touched leaves", _seldom,
                      "it matters when a line was touched last, not how often."),
        Misconception("the last touches", _window,
                      "the cache holds `capacity` different lines; a line that was touched twice "
                      "takes one place."),
        Misconception("everything leaves", _emptied,
                      "when the cache is full, one line leaves, and the others stay."),
        Misconception("only what throws a line out",
                      lambda x, c: _replaced(x, c) - min(c, len(set(x))),
                      "a touch that finds an empty place does not find its line: it misses, too."),
    ),
)  # fmt: skip


# ---- 07-tiles ------------------------------------------------------------------------------------
def _tilings(rng: random.Random) -> list[Case]:
    """Products whose rows and columns are multiples of a tile's."""
    drawn: list[Case] = []
    for size in ITEMSIZES:
        tm, tn = rng.sample((8, 12, 16, 20, 24, 48), 2)
        m, n = tm * rng.randrange(5, 30), tn * rng.randrange(31, 60)
        k = rng.randrange(200, 900)
        drawn.append({"m": m, "n": n, "k": k, "tm": tm, "tn": tn, "itemsize": size})
    return drawn


def _tiled(m: int, n: int, k: int, tm: int, tn: int, itemsize: int) -> int:
    return (m * k * (n // tn) + k * n * (m // tm) + m * n) * itemsize


TILES_CASES = cases_of(
    "m n k tm tn itemsize",
    (7, 12, 5, 7, 4, 8),
    (9, 10, 1, 3, 10, 1),
    (6, 4, 11, 1, 1, 2),
    (1, 36, 50, 1, 9, 4),
    (12_000, 35_000, 7_500, 120, 500, 8),
)

TILES = Exercise(
    "07-tiles", "What a tile fetches", 3,
    "A product of an m×k and a k×n matrix. tm divides m, and tn divides n. A tile of tm × tn of "
    "the result is finished before the next one begins, and stays near meanwhile; for each tile "
    "the rows of A and the columns of B that it needs are fetched once. Every result is written "
    "once. Return the bytes from and to memory.",
    "tiled_bytes(m, n, k, tm, tn, itemsize)", _tiled, cases=_tilings,
    fixed=TILES_CASES, lines=3,
    insight="A is fetched n/tn times and B m/tm times: the other side of the tile is what saves. "
            "So a square tile saves most for the room that it takes.",
    misconceptions=(
        Misconception("each matrix once",
                      lambda m, n, k, p, q, s: (m * k + k * n + m * n) * s,
                      "that is the least; the rows of A are fetched again for every tile of a row "
                      "of tiles."),
        Misconception("sides swapped",
                      lambda m, n, k, p, q, s: (m * k * (m // p) + k * n * (n // q) + m * n) * s,
                      "which tiles need the same rows of A: those above each other or those beside "
                      "each other?"),
        Misconception("no tile",
                      lambda m, n, k, p, q, s: (2 * m * n * k + m * n) * s,
                      "that is what a program without any reuse fetches: two numbers for every "
                      "multiply-add."),
        Misconception("divided by the area",
                      lambda m, n, k, p, q, s: (2 * m * n * k // (p * q) + m * n) * s,
                      "a tile has tm·tn results, but it fetches tm rows and tn columns for them."),
        Misconception("result for every step",
                      lambda m, n, k, p, q, s: (m * k * (n // q) + k * n * (m // p)
                                                + 2 * m * n * k) * s,
                      "the tile of the result stays near until it is finished."),
        Misconception("result left out",
                      lambda m, n, k, p, q, s: (m * k * (n // q) + k * n * (m // p)) * s,
                      "the results have to be written to memory as well."),
        Misconception("result read, too",
                      lambda m, n, k, p, q, s: _tiled(m, n, k, p, q, s) + m * n * s,
                      "the tile begins with zeros; nothing of the result is fetched here."),
        Misconception("numbers, not bytes",
                      lambda m, n, k, p, q, s: _tiled(m, n, k, p, q, 1),
                      "a number has itemsize bytes."),
        Misconception("one tile",
                      lambda m, n, k, p, q, s: (p * k + k * q + p * q) * s,
                      "that is one tile; how many are there?"),
        Misconception("one matrix again",
                      lambda m, n, k, p, q, s: (m * k * (n // q) + k * n + m * n) * s,
                      "A and B are both fetched again: one for each tile of a row of tiles, one "
                      "for each tile of a column.",
                      variants=(lambda m, n, k, p, q, s: (m * k + k * n * (m // p) + m * n) * s,)),
        Misconception("one tile written",
                      lambda m, n, k, p, q, s: (m * k * (n // q) + k * n * (m // p) + p * q) * s,
                      "every tile of the result is written, not only one."),
        Misconception("times the side",
                      lambda m, n, k, p, q, s: (m * k * q + k * n * p + m * n) * s,
                      "a longer side makes fewer tiles: how many lie along n, and along m?"),
    ),
)  # fmt: skip


# ---- 07-claim-thousand ---------------------------------------------------------------------------
def _savings(rng: random.Random) -> list[Case]:
    return [
        {"n": t * rng.randrange(low, 2 * low), "t": t}
        for t, low in ((32, 3), (rng.randrange(8, 14), 5), (rng.randrange(60, 90), 11))
    ]


def _saving(n: int, t: int) -> tuple[float, float]:
    return float(t), (2 * n**3 + n**2) / (2 * n**3 / t + n**2)


THOUSAND = Exercise(
    "07-claim-thousand", "Claim court: 1024 times less", 3,
    "A product of two n×n matrices in tiles of t × t of the result, where t divides n, against the "
    "same product without any reuse, which fetches two numbers for every multiply-add. Both write "
    "every result once. Return by what factor the tile lowers (1) the traffic of A and B, (2) all "
    "the traffic.",
    "saving(n, t)", _saving, cases=_savings, lines=2,
    fixed=cases_of("n t", (35, 1), (60, 60), (63, 9), (12, 4), (48_000, 750)),
    returns=("factor of A and B", "factor of all"), tolerance=1e-6,
    insight="A tile with 1024 results saves a factor of 32. Its area is what you pay for, in room; "
            "its side is what you get.",
    misconceptions=(
        Misconception("the area", lambda n, t: (float(t * t), (2 * n**3 + n**2)
                                                / (2 * n**3 / t**2 + n**2)),
                      "every row that is fetched serves t results of the tile, not t·t.",
                      variants=(lambda n, t: (float(t * t), float(t * t)),
                                lambda n, t: (float(t * t), _saving(n, t)[1]))),
        Misconception("both added", lambda n, t: (2.0 * t, (2 * n**3 + n**2)
                                                  / (n**3 / t + n**2)),
                      "each of the two is fetched less by the same factor, and so are both "
                      "together.",
                      variants=(lambda n, t: (2.0 * t, _saving(n, t)[1]),
                                lambda n, t: (2.0 * t, 2.0 * t))),
        Misconception("results twice", lambda n, t: (float(t), (2 * n**3 + 2 * n**2)
                                                     / (2 * n**3 / t + 2 * n**2)),
                      "each result is written once in both programs, and never read."),
        Misconception("how often it is fetched", lambda n, t: (n / t, (2 * n**3 + n**2)
                                                               / (2 * n**2 * t + n**2)),
                      "n/t is how often a number is fetched with tiles; how often is it without?",
                      variants=(lambda n, t: (n / t, _saving(n, t)[1]),)),
        Misconception("results forgotten", lambda n, t: (float(t), float(t)),
                      "the results are written in both cases, and that does not become less."),
        Misconception("half the side", lambda n, t: (t / 2, (2 * n**3 + n**2)
                                                     / (4 * n**3 / t + n**2)),
                      "A and B are each fetched n/t times."),
        Misconception("upside down", lambda n, t: tuple(1 / x for x in _saving(n, t)),
                      "by what factor is it less? Divide what was by what is."),
        Misconception("A alone", lambda n, t: (2 * t / (t + 1), (2 * n**3 + n**2)
                                               / (n**3 / t + n**3 + n**2)),
                      "the tile's other side saves for B what this side saves for A."),
        Misconception("the number of tiles", lambda n, t: ((n / t) ** 2, (2 * n**3 + n**2)
                                                          / (2 * n * t**2 + n**2)),
                      "that is how many tiles there are; how often is A fetched?"),
    ),
)  # fmt: skip


# ---- 07-fits -------------------------------------------------------------------------------------
SIDES = (720, 840, 1008, 1200, 1260, 1440, 1680, 2520)  # of matrices: with many divisors


def _rooms(rng: random.Random) -> list[Case]:
    """Caches and matrices with many divisors, so that a mistake about the room shows."""
    return [
        {"n": rng.choice(SIDES), "cache": 1024 * rng.choice((24, 32, 48, 64, 96, 128, 192, 256)),
         "itemsize": size, "tiles": tiles}
        for size, tiles in zip(ITEMSIZES, (4.1, 1.4, 4.1))
    ]  # fmt: skip


def _divisors(n: int, most: float) -> int:
    return max(t for t in range(1, n + 1) if n % t == 0 and t <= most)


def _beyond(n: int, most: float) -> int | None:
    return min((t for t in range(1, n + 1) if n % t == 0 and t > most), default=None)


def _side(cache: float, itemsize: int, tiles: float) -> float:
    return float((cache / itemsize / tiles) ** 0.5)


def _fits(n: int, cache: int, itemsize: int, tiles: float) -> int:
    return _divisors(n, _side(cache, itemsize, tiles))


FITS_CASES = cases_of(
    "n cache itemsize tiles",
    (128, 16_384, 4, 4.0),  # an exact fit, and a byte less
    (90, 10_800, 8, 1.5),
    (90, 10_799, 8, 1.5),
    (97, 40_000, 8, 2.0),  # a prime
    (24, 65_536, 2, 1.0),  # all of it
    (360, 4096, 1, 3.0),
    (25_200, 10_485_760, 2, 1.31),
)

FITS = Exercise(
    "07-fits", "The largest tile", 3,
    "A cache of `cache` bytes has to hold the room of `tiles` tiles of T × T numbers of `itemsize` "
    "bytes. Return the largest T that fits and divides n.",
    "largest_tile(n, cache, itemsize, tiles)", _fits, cases=_rooms,
    fixed=FITS_CASES, lines=2,
    insight="Three tiles take part at a time, one of each matrix. How many a cache needs room for "
            "depends on the order within them: more than four, or hardly more than one.",
    misconceptions=(
        Misconception("need not divide", lambda n, c, s, f: int(_side(c, s, f)),
                      "the largest that fits leaves a rest here; T has to divide n."),
        Misconception("one tile", lambda n, c, s, f: _divisors(n, _side(c, s, 1)),
                      "the room of `tiles` tiles is needed, not that of one."),
        Misconception("three tiles", lambda n, c, s, f: _divisors(n, _side(c, s, 3)),
                      "how many tiles need room is given; it need not be three."),
        Misconception("numbers for bytes", lambda n, c, s, f: _divisors(n, _side(c, 1, f)),
                      "a number takes itemsize bytes of the cache."),
        Misconception("no root", lambda n, c, s, f: _divisors(n, c / s / f),
                      "that is how many numbers a tile may have; T is its side."),
        Misconception("the smallest too large",
                      lambda n, c, s, f: _beyond(n, _side(c, s, f)),
                      "this tile does not fit any more."),
    ),
)  # fmt: skip


# ---- 07-claim-forty ------------------------------------------------------------------------------
COUNTED = ("A, B", "A, B, C read", "A, B, C read and written")
CARRIED = ("tiles of 10", "tiles of 25", "each matrix once", "each matrix once, C twice")
CAUSES = ("the tile", "the cache", "the number type")
_TRUE = (COUNTED[2], CARRIED[3], CAUSES[1])


def _said(
    before: str = _TRUE[0], after: str = _TRUE[1], cause: str = _TRUE[2]
) -> Callable[[], tuple[str, str, str]]:
    return lambda: (before, after, cause)


FORTY = Exercise(
    "07-claim-forty", "Claim court: 4.0 to 0.04", 3,
    "A talk multiplies matrices of 100 × 100 two-byte numbers. Without optimisation it counts 4.0 "
    "byte/FLOP, with tiles and a cache of 8 MB 0.04. What was counted before, what after, and what "
    "made the difference?",
    '("…", "…", "…")', lambda: _TRUE, kind="value", returns=("before", "after", "cause"),
    insight="All three matrices have 60 kB, so the cache keeps them without any tile. A result "
            "that is a hundred times better deserves the question which part of it did that.",
    misconceptions=(
        Misconception("C stays in a register", _said(before=COUNTED[0]),
                      "two fetches of 2 bytes for every multiply-add, which is 2 FLOPs: how many "
                      "bytes for each FLOP is that?"),
        Misconception("C is only read", _said(before=COUNTED[1]),
                      "three times 2 bytes for 2 FLOPs are not 4.0."),
        Misconception("the tile of 10", _said(after=CARRIED[0]),
                      "with tiles of 10, A and B alone are fetched ten times each; compute it."),
        Misconception("the tile of 25", _said(after=CARRIED[1]),
                      "with tiles of 25, A and B are fetched four times each; compute it."),
        Misconception("C once", _said(after=CARRIED[2]),
                      "three matrices of 20 kB for 2 million FLOPs are 0.03."),
        Misconception("the tile did it", _said(cause=CAUSES[0]),
                      "take the tile away: how much room do the three matrices need, and what does "
                      "the cache have?"),
        Misconception("the number type did it", _said(cause=CAUSES[2]),
                      "both figures are for two-byte numbers."),
    ),
)  # fmt: skip


# ---- 07-column -----------------------------------------------------------------------------------
def _columns(rng: random.Random) -> list[Case]:
    """Columns of matrices: rows of a power of two, the same padded, odd ones, short ones."""
    sets, ways = rng.choice((64, 128)), rng.choice((8, 12))
    power = sets * 64 // rng.choice((2, 4))
    return [
        {"rows": rng.randrange(200, 1300), "row_bytes": row_bytes, "line": 64, "sets": sets,
         "ways": each}
        for row_bytes, each in ((power, ways), (power + 64, ways), (3 * power // 2, 2), (328, 4))
    ]  # fmt: skip


def _column(
    rows: int, row_bytes: int, line: int, sets: int, ways: int, *,
    once: bool = True, whole: bool = False,
) -> tuple[int, int]:  # fmt: skip
    """``once``: rows within one line share it; ``whole``: a row is taken for whole lines."""
    every = [i * (row_bytes // line) if whole else i * row_bytes // line for i in range(rows)]
    fallen = Counter(number % sets for number in ({*every} if once else every))
    return len(fallen), sum(min(ways, count) for count in fallen.values())


COLUMN_CASES = cases_of(
    "rows row_bytes line sets ways",
    (300, 1200, 64, 64, 8),  # rows that end within a line
    (100, 24, 64, 8, 2),  # several rows in a line
    (40, 8, 128, 12, 3),
    (1, 96, 32, 4, 1),
    (50, 640, 128, 1, 12),
    (2000, 4096, 64, 64, 1),  # all in one set
    (3000, 12_320, 32, 2048, 16),
)


COLUMN = Exercise(
    "07-column", "A column that does not fit", 3,
    "A cache has `sets` sets of `ways` lines each; line number a of memory may only lie in set a "
    "modulo `sets`. A program reads the first number of each of `rows` rows, which are `row_bytes` "
    "apart; the first begins at address 0. Rows in one line share it. Return (1) how many sets its "
    "lines fall into, (2) how many of its lines the cache can hold at a time.",
    "room_for_column(rows, row_bytes, line, sets, ways)", _column, cases=_columns,
    fixed=COLUMN_CASES, lines=5,
    returns=("sets", "lines held"),
    insight="Rows of a power of two put a whole column into a few sets. One line of padding at the "
            "end of each row spreads it over all of them.",
    misconceptions=(
        Misconception("any line anywhere",
                      lambda r, b, n, s, w: (min(r, s), min(r, s * w)),
                      "a line may lie in one set only, and several lines of the column share it: "
                      "two rows are row_bytes apart."),
        Misconception("all of its sets are full",
                      lambda r, b, n, s, w: (_column(r, b, n, s, w)[0],
                                             w * _column(r, b, n, s, w)[0]),
                      "a set that gets fewer lines than it has ways holds no more than it gets.",
                      variants=(lambda r, b, n, s, w: (s // gcd(s, b // n),
                                                       w * (s // gcd(s, b // n))),)),
        Misconception("one line a set",
                      lambda r, b, n, s, w: (_column(r, b, n, s, w)[0],) * 2,
                      "a set has `ways` lines."),
        Misconception("addresses for lines",
                      lambda r, b, n, s, w: _column(r, b, 1, s, w),
                      "the set follows from the number of the line: address // line."),
        Misconception("ways for sets",
                      lambda r, b, n, s, w: _column(r, b, n, w, s),
                      "the line's number modulo `sets` tells the set; a set has `ways` lines.",
                      variants=(lambda r, b, n, s, w: _column(r, b, n, w, s, once=False),)),
        Misconception("every line is held",
                      lambda r, b, n, s, w: (_column(r, b, n, s, w)[0], _column(r, b, n, s, r)[1]),
                      "what is too much for a set throws out what lies there.",
                      variants=(lambda r, b, n, s, w: (_column(r, b, n, s, w)[0], r),
                                lambda r, b, n, s, w: (_column(r, b, n, s, w)[0],
                                                       min(r, s * w)))),
        Misconception("a line for every row",
                      lambda r, b, n, s, w: _column(r, b, n, s, w, once=False),
                      "where rows are shorter than a line, several of them begin in the same one."),
        Misconception("rows of whole lines",
                      lambda r, b, n, s, w: _column(r, b, n, s, w, whole=True),
                      "a row may end within a line: which line holds the address row · row_bytes?",
                      variants=(lambda r, b, n, s, w: _column(r, b, n, s, w, once=False,
                                                              whole=True),)),
        Misconception("the whole cache", lambda r, b, n, s, w: (s, s * w),
                      "that is all of the cache; the lines of the column reach some sets only."),
    ),
)  # fmt: skip


# ---- 07-two-levels -------------------------------------------------------------------------------
def _nests(rng: random.Random) -> list[Case]:
    """Tiles in tiles on machines that wait for memory, for the cache, and for arithmetic."""
    drawn: list[Case] = []
    for slow in range(3):
        inner = rng.choice((16, 24, 32))
        outer = inner * rng.randrange(6, 11)
        n = outer * rng.randrange(4, 9)
        moved = (*_two(n, inner, outer, 4), 2.0 * n**3)
        rates = [one * rng.uniform(2, 9) ** (at != slow) for at, one in enumerate(moved)]
        drawn.append({"n": n, "inner": inner, "outer": outer, "itemsize": 4,
                      "bandwidths": rates[:2], "peak": rates[2]})  # fmt: skip
    return drawn


def _two(n: int, inner: int, outer: int, itemsize: int) -> tuple[int, int]:
    return tuple((2 * n**3 // side + n * n) * itemsize for side in (inner, outer))  # type: ignore[return-value]


def _nest(
    n: int, inner: int, outer: int, itemsize: int, bandwidths: Sequence[float], peak: float
) -> tuple[int, int, float]:
    near, far = _two(n, inner, outer, itemsize)
    return near, far, max(near / bandwidths[0], far / bandwidths[1], 2 * n**3 / peak)


def _changed(
    near: float = 1, far: float = 1, *, swap: bool = False, add: bool = False
) -> Callable[..., tuple[float, float, float]]:
    def wrong(
        n: int, inner: int, outer: int, itemsize: int, bandwidths: Sequence[float], peak: float
    ) -> tuple[float, float, float]:
        inside, behind = _two(n, inner, outer, itemsize)[:: -1 if swap else 1]
        one, two = inside * near, behind * far
        times = one / bandwidths[0], two / bandwidths[1], 2 * n**3 / peak
        return one, two, sum(times) if add else max(times)

    return wrong


def _areas(
    n: int, inner: int, outer: int, itemsize: int, bandwidths: Sequence[float], peak: float
) -> tuple[int, int, float]:
    near, far = ((2 * n**3 // side**2 + n * n) * itemsize for side in (inner, outer))
    return near, far, max(near / bandwidths[0], far / bandwidths[1], 2 * n**3 / peak)


TWO_CASES = cases_of(
    "n inner outer itemsize bandwidths peak",
    (60, 1, 12, 8, [3e9, 1e8], 1e9),
    (48, 6, 6, 1, [4e9, 5e8], 2e10),  # one tile is the other
    (90, 9, 90, 2, [5e11, 2e7], 7e10),  # memory takes longest
    (66, 11, 33, 4, [1e8, 9e7], 3e10),  # the cache
    (6400, 40, 800, 8, [1e12, 5e11], 1e10),
)

TWO_LEVELS = Exercise(
    "07-two-levels", "Tiles in tiles", 4,
    "A product of two n×n matrices. inner divides outer, and outer divides n. Tiles of outer × "
    "outer of the result stay in a cache, and inside each of them tiles of inner × inner in the "
    "registers. For each tile the rows and columns that it needs are fetched once from the level "
    "behind, and its results go back once. `bandwidths` are those of the cache and of the memory. "
    "Return (1) the bytes between registers and cache, (2) those between cache and memory, (3) the "
    "least time, with everything overlapping.",
    "two_levels(n, inner, outer, itemsize, bandwidths, peak)", _nest, cases=_nests,
    fixed=TWO_CASES, lines=3,
    returns=("bytes of the cache", "bytes of memory", "seconds"), tolerance=1e-6,
    insight="Each level has a tile of its own, and a roof of its own. The smallest tile is at the "
            "level with the largest bandwidth, and that is no accident.",
    misconceptions=(
        Misconception("sides swapped", _changed(swap=True),
                      "the small tile is in the registers: which level does it fetch from?"),
        Misconception("times added", _changed(add=True),
                      "everything overlaps, so the longest of the times counts."),
        Misconception("the areas", _areas,
                      "a row that is fetched serves as many results as the tile has columns."),
        Misconception("numbers for bytes", lambda n, i, o, s, w, p: _nest(n, i, o, 1, w, p),
                      "a number has itemsize bytes."),
        Misconception("memory alone",
                      lambda n, i, o, s, w, p: (*_two(n, i, o, s),
                                                max(_two(n, i, o, s)[1] / w[1], 2 * n**3 / p)),
                      "the cache has a bandwidth, too, and more bytes to carry."),
        Misconception("the shortest time",
                      lambda n, i, o, s, w, p: (*_two(n, i, o, s),
                                                min(_two(n, i, o, s)[0] / w[0],
                                                    _two(n, i, o, s)[1] / w[1], 2 * n**3 / p)),
                      "when things overlap, all of them have to end, the longest, too."),
        Misconception("bandwidths swapped",
                      lambda n, i, o, s, w, p: _nest(n, i, o, s, w[::-1], p),
                      "`bandwidths` has that of the cache first."),
        Misconception("a multiply-add as one FLOP",
                      lambda n, i, o, s, w, p: _nest(n, i, o, s, w, 2 * p),
                      "a multiply-add is two FLOPs."),
        Misconception("results read, too",
                      lambda n, i, o, s, w, p: tuple(
                          a + b for a, b in zip(_two(n, i, o, s), (n * n * s,) * 2)
                      ) + (max((_two(n, i, o, s)[0] + n * n * s) / w[0],
                               (_two(n, i, o, s)[1] + n * n * s) / w[1], 2 * n**3 / p),),
                      "the results go back once, and none of them is fetched."),
        Misconception("no arithmetic",
                      lambda n, i, o, s, w, p: (*_two(n, i, o, s),
                                                max(b / v for b, v in zip(_two(n, i, o, s), w))),
                      "the arithmetic takes its time, whatever is carried."),
        Misconception("results left out",
                      lambda n, i, o, s, w, p: (
                          2 * n**3 // i * s, 2 * n**3 // o * s,
                          max(2 * n**3 // i * s / w[0], 2 * n**3 // o * s / w[1], 2 * n**3 / p)),
                      "the results of every tile go back, too."),
        Misconception("A alone",
                      lambda n, i, o, s, w, p: (
                          (n**3 // i + n * n) * s, (n**3 // o + n * n) * s,
                          max((n**3 // i + n * n) * s / w[0], (n**3 // o + n * n) * s / w[1],
                              2 * n**3 / p)),
                      "rows of A and columns of B are fetched."),
    ),
)  # fmt: skip

EXERCISES = (LRU, TILES, THOUSAND, FITS, COLUMN, FORTY, TWO_LEVELS)

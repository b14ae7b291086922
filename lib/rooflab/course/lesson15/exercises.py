"""Exercises of lesson 15: who receives what in a cluster, what it saves, and which shape to take.

The wrong answers are those of published texts: a 2 × 2 cluster reads 4 times less, 16 blocks 16
times, every tile goes to all blocks, all SMs can hold clusters.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from itertools import count
from typing import Any

from rooflab.exercises.exercise import Case, Domain, any_length, at_least, cases_of, one_of
from rooflab.exercises.table import Formula, slip, table

Pair = Sequence[int]  # rows and columns: of a tile in numbers, of a cluster in blocks
SHAPES = ((1, 1), (1, 2), (2, 1), (2, 2), (1, 4), (4, 1), (3, 2), (2, 4), (4, 2), (4, 4), (2, 8))
TILES = ([128, 128], [128, 256], [256, 64], [64, 128])


# ---- 15-mask -------------------------------------------------------------------------------------
def _row(rank: int, b: int) -> int:
    """The mask of a block's row."""
    return ((1 << b) - 1) << (rank // b * b)


def _column(rank: int, a: int, b: int) -> int:
    return sum(1 << (rank % b + b * n) for n in range(a))


def _in_columns(rank: int, a: int, b: int) -> tuple[int, int]:
    """Both masks where ranks go down the columns."""
    return _column(rank, b, a), _row(rank, a)


def _placed(rng: random.Random) -> Case:
    a, b = rng.choice(SHAPES[5:])
    return {"rank": rng.randrange(a * b), "a": a, "b": b}


MASK = table(
    "15-mask", "Who receives it?", 3,
    "A cluster has a × b blocks: `a` rows of `b`. Their ranks go along the rows, from 0 on. Blocks "
    "of a row need the same rows of A, blocks of a column the same columns of B. Each block "
    "fetches a part of each and sends it to all that need it, itself included.\n\n"
    "Bit r of a mask is 1 if block r receives the part. Return the two masks of block `rank`, as "
    "integers: for its part of A, and for its part of B.",
    "masks(rank, a, b)", lines=3,
    cases=lambda rng: [_placed(rng) for _ in range(5)],
    domain={"rank": Domain("0 to a·b - 1", (0, 15)), "a": at_least(1), "b": at_least(1)},
    example=(4, 1, 6),
    fixed=cases_of("rank a b", (0, 2, 2), (3, 2, 2), (5, 2, 4), (7, 4, 2), (4, 2, 3), (15, 1, 16),
                   (9, 2, 8), (2, 3, 1)),
    insight="In a 2 × 2 cluster no tile goes to all four blocks: each goes to two.",
    answer={"mask for A": lambda rank, b: _row(rank, b),
            "mask for B": lambda rank, a, b: _column(rank, a, b)},
    slips=(
        slip("A and B exchanged", "a row of the cluster shares A, a column shares B.",
             whole=lambda rank, a, b: (_column(rank, a, b), _row(rank, b))),
        slip("to all blocks", "A goes to blocks of its row only, and B to those of its column.",
             ways=[{"mask_for_A": lambda a, b: 2 ** (a * b) - 1},
                   {"mask_for_B": lambda a, b: 2 ** (a * b) - 1},
                   {"whole": lambda a, b: (2 ** (a * b) - 1,) * 2}]),
        slip("itself left out", "the block needs its own part, too.",
             whole=lambda rank, a, b: (_row(rank, b) - 2**rank, _column(rank, a, b) - 2**rank)),
        slip("ranks down the columns", "ranks go along the rows: 1 is beside 0.",
             whole=lambda rank, a, b: _in_columns(rank, a, b)),
        slip("bits from 1 on", "bit 0, which counts 1, stands for block 0.",
             whole=lambda rank, a, b: (2 * _row(rank, b), 2 * _column(rank, a, b))),
        slip("the first row and column", "take the row and the column of block `rank`.",
             whole=lambda a, b: (_row(0, b), _column(0, a, b))),
        slip("how many", "a mask has a bit for each block; how many there are is not enough.",
             whole=lambda a, b: (b, a)),
        slip("ranks added up", "block r counts 2 to the power of r.",
             whole=lambda rank, a, b: (sum(range(rank // b * b, rank // b * b + b)),
                                       sum(range(rank % b, a * b, b)))),
    ),
)  # fmt: skip


# ---- 15-cluster ----------------------------------------------------------------------------------
def _reads(whole: int, tile: int, blocks: int) -> int:
    """How many clusters lie along an edge of C."""
    return math.ceil(whole / (tile * blocks))


def _product(rng: random.Random) -> Case:
    return {"m": rng.randrange(300, 5000), "n": rng.randrange(300, 5000),
            "k": rng.randrange(64, 5000), "tile": list(rng.choice(TILES)),
            "cluster": list(rng.choice(SHAPES)), "itemsize": rng.choice((1, 2, 4))}  # fmt: skip


PAIR = Domain("rows and columns", ())
CLUSTER = table(
    "15-cluster", "What a whole product fetches", 4,
    "A product computes m × n numbers of C in k steps. A block computes a tile of tile[0] × "
    "tile[1] of them, rows × columns, and a cluster has cluster[0] rows of cluster[1] blocks. From "
    "L2 a cluster fetches once each row of A and each column of B that its tiles need: k numbers "
    "of `itemsize` bytes. At the edges of C it fetches nothing outside the matrices.\n\n"
    "Return two values: the bytes of A and the bytes of B that all clusters fetch.",
    "fetched(m, n, k, tile, cluster, itemsize)", lines=3,
    cases=lambda rng: [_product(rng) for _ in range(5)],
    domain=dict.fromkeys(("m", "n", "k"), at_least(1)) | {"tile": PAIR, "cluster": PAIR}
        | {"itemsize": one_of(1, 2, 4)},
    example=(256, 576, 40, [128, 64], [1, 3], 2),
    fixed=cases_of("m n k tile cluster itemsize",
        (4096, 4096, 4096, [128, 256], [2, 1], 2), (1000, 3000, 512, [128, 128], [2, 2], 2),
        (3000, 1000, 512, [64, 256], [1, 4], 1), (700, 900, 100, [256, 64], [4, 2], 4),
        (1, 5000, 77, [128, 128], [2, 4], 2), (5000, 1, 1, [128, 64], [1, 1], 4),
        (1025, 2049, 333, [128, 128], [4, 4], 2)),
    insight="For 4096 × 4096 numbers, tiles of 128 × 256 and pairs that share B it is 1.5 times "
            "less than without clusters.",
    answer={
        "_across": lambda n, tile, cluster: _reads(n, tile[1], cluster[1]),
        "_down": lambda m, tile, cluster: _reads(m, tile[0], cluster[0]),
        "bytes of A": lambda m, k, itemsize, _across: m * k * itemsize * _across,
        "bytes of B": lambda n, k, itemsize, _down: n * k * itemsize * _down,
    },
    slips=(
        slip("the other edge", "A is fetched anew along a row of C, and B along a column.",
             bytes_of_A=lambda m, k, itemsize, _down: m * k * itemsize * _down,
             bytes_of_B=lambda n, k, itemsize, _across: n * k * itemsize * _across),
        slip("cluster turned", "a cluster has cluster[0] rows.",
             cluster=lambda cluster: cluster[::-1]),
        slip("tile turned", "a tile has tile[0] rows and tile[1] columns.",
             tile=lambda tile: tile[::-1]),
        slip("all blocks share all", "blocks of a row share A, and blocks of a column share B.",
             ways=[{"_across": lambda n, tile, cluster: _reads(n, tile[1], 1) / math.prod(cluster),
                    "_down": lambda m, tile, cluster: _reads(m, tile[0], 1) / math.prod(cluster)},
                   {"_across": lambda n, tile, cluster: _reads(n, tile[1], math.prod(cluster)),
                    "_down": lambda m, tile, cluster: _reads(m, tile[0], math.prod(cluster))}]),
        slip("no cluster", "what one block of a cluster fetches, its neighbours need not.",
             cluster=lambda: [1, 1]),
        slip("parts of a cluster", "a cluster at the edge still fetches all rows of A in it.",
             _across=lambda n, tile, cluster: n / (tile[1] * cluster[1]),
             _down=lambda m, tile, cluster: m / (tile[0] * cluster[0])),
        slip("rounded down", "a cluster that reaches beyond the edge fetches, too.",
             _across=lambda n, tile, cluster: max(1, n // (tile[1] * cluster[1])),
             _down=lambda m, tile, cluster: max(1, m // (tile[0] * cluster[0]))),
        slip("full tiles at the edge", "what is outside the matrices is not fetched.",
             ways=[{"m": lambda m, tile, cluster:
                        _reads(m, tile[0], cluster[0]) * tile[0] * cluster[0],
                    "n": lambda n, tile, cluster:
                        _reads(n, tile[1], cluster[1]) * tile[1] * cluster[1]}]),
        slip("elements for bytes", itemsize=1),
    ),
)  # fmt: skip


# ---- 15-claim-four -------------------------------------------------------------------------------
def _times(a: int, b: int, bm: int, bn: int) -> float:
    """How many times fewer numbers a cluster fetches than its blocks alone."""
    return a * b * (bm + bn) / (a * bm + b * bn)


def _enough(claim: int, bm: int, bn: int, *, square: bool = False, more: bool = False) -> int:
    """The fewest blocks that fetch ``claim`` times fewer numbers, or more than that."""
    for blocks in count(1):
        for a in range(1, blocks + 1):
            if blocks % a or (square and a * a != blocks):
                continue
            saved = blocks * (bm + bn) - claim * (a * bm + blocks // a * bn)
            if saved > 0 or (saved == 0 and not more):
                return blocks
    raise AssertionError


FOUR = table(
    "15-claim-four", "Four blocks, four times?", 4,
    "Blocks compute tiles of bm × bn numbers of C, rows × columns. A cluster has `a` rows of `b` "
    "blocks. Somebody claims that it fetches a·b times fewer numbers than its blocks would "
    "alone.\n\n"
    "Return two values: how many times fewer it really fetches, and the fewest blocks with which a "
    "cluster of any shape fetches at least a·b times fewer, even if it is larger than the hardware "
    "allows.",
    "court(a, b, bm, bn)", lines=6,
    cases=lambda rng: [dict(zip(("a", "b", "bm", "bn"), (*shape, *rng.choice(TILES))))
                       for shape in rng.sample(SHAPES[1:9], 4)],
    domain=dict.fromkeys(("a", "b", "bm", "bn"), at_least(1)),
    example=(1, 3, 64, 192),
    fixed=cases_of("a b bm bn", (2, 2, 128, 128), (4, 4, 128, 128), (1, 4, 128, 128),
                   (2, 1, 128, 256), (1, 2, 128, 256), (2, 4, 64, 256), (1, 1, 128, 64),
                   (4, 2, 256, 128), (1, 1, 1, 1), (3, 1, 200, 120)),
    insight="With square tiles four times fewer takes 16 blocks, the most that a cluster can have; "
            "16 times fewer would take 256.",
    answer={"times fewer": lambda a, b, bm, bn: _times(a, b, bm, bn),
            "blocks": lambda a, b, bm, bn: _enough(a * b, bm, bn)},
    slips=(
        slip("as many times as blocks", "A is shared in a row only, and B in a column only.",
             ways=[{"times_fewer": lambda a, b: a * b}, {"blocks": lambda a, b: a * b},
                            {"whole": lambda a, b: (a * b, a * b)}]),
        slip("all tiles are square", "if bm and bn differ, rows save more or less than columns.",
             ways=[{"times_fewer": lambda a, b: _times(a, b, 1, 1)},
                   {"whole": lambda a, b: (_times(a, b, 1, 1), (a * b) ** 2)}]),
        slip("rows for columns", "a·bm rows of A and b·bn columns of B lie in the cluster.",
             times_fewer=lambda a, b, bm, bn: _times(a, b, bn, bm)),
        slip("only squares", "a cluster may have any shape, such as 2 × 3.",
             blocks=lambda a, b, bm, bn: _enough(a * b, bm, bn, square=True)),
        slip("16 blocks at most", "the claim may take a cluster larger than the hardware allows.",
             blocks=lambda a, b, bm, bn: min(16, _enough(a * b, bm, bn))),
        slip("more than claimed", "exactly a·b times fewer is enough.",
             blocks=lambda a, b, bm, bn: _enough(a * b, bm, bn, more=True)),
        slip("upside down for fewer", "that is the share that is left; return how many times "
             "fewer.", times_fewer=lambda a, b, bm, bn: 1 / _times(a, b, bm, bn)),
        slip("saved numbers", "divide what all blocks fetch alone by what the cluster fetches.",
             times_fewer=lambda a, b, bm, bn: a * b * (bm + bn) - (a * bm + b * bn)),
    ),
)  # fmt: skip


# ---- 15-shape ------------------------------------------------------------------------------------
Options = Iterator[tuple[float, int, int, int]]  # seconds, blocks, rows, columns of a cluster


def _options(
    down: int, across: int, tile: Pair, groups: Sequence[int], most: int, computing: float,
    fetching: float, *, divides: bool = True, pool: bool = False, whole: bool = True,
    all_share: bool = False, summed: bool = False, blockwise: bool = False,
) -> Options:  # fmt: skip
    """The time of every shape that is allowed, and of some that are not."""
    for a in range(1, down + 1):
        for b in range(1, across + 1):
            size = a * b
            room = sum(groups) // size if pool else sum(one // size for one in groups)
            if size > most or not room or (divides and (down % a or across % b)):
                continue
            clusters = math.ceil(down / a) * math.ceil(across / b)
            rounds = clusters / room
            if blockwise:
                rounds = down * across / sum(groups)
            if whole:
                rounds = math.ceil(rounds)
            times = size if all_share else _times(a, b, *tile)
            parts = computing, fetching / times
            yield rounds * (sum(parts) if summed else max(parts)), size, a, b


def _best(*case: Any, **more: Any) -> tuple[int, int, float]:
    seconds, _, a, b = min(_options(*case, **more))
    return a, b, seconds


def _widest(*case: Any) -> tuple[int, int, float]:
    """The shape that fetches least, whatever its rounds take."""
    seconds, _, a, b = max(_options(*case), key=lambda one: (_times(*one[2:], *case[2]), -one[1]))
    return a, b, seconds


def _largest(*case: Any) -> tuple[int, int, float]:
    seconds, _, a, b = min(_options(*case), key=lambda one: (one[0], -one[1], one[2]))
    return a, b, seconds


def _by(choose: Formula = _best, **more: Any) -> Formula:
    """The whole answer, as one part of a table."""
    return lambda down, across, tile, groups, most, computing, fetching: choose(
        down, across, tile, groups, most, computing, fetching, **more)  # fmt: skip


def _case(rng: random.Random) -> Case:
    computing = rng.uniform(5e-6, 5e-5)
    return {
        "down": rng.choice((8, 12, 16)), "across": rng.choice((8, 10, 16)),
        "tile": list(rng.choice(TILES)), "groups": list(rng.choice(GROUPS)),
        "most": rng.choice((8, 16)), "computing": computing,
        "fetching": computing * rng.uniform(1.05, 3),
    }  # fmt: skip


GROUPS = ([18] * 3 + [16] * 4 + [14], [18] * 2 + [16] * 6, [18, 18, 16, 16, 16, 14, 8], [9] * 8)
CALL = "down across tile groups most computing fetching"
SHAPE = table(
    "15-shape", "Which shape?", 5,
    "C has down × across tiles of tile[0] × tile[1] numbers. A block computes a tile and has an SM "
    "for itself. `groups` lists how many SMs each group of a GPU has.\n\n"
    "- A cluster of a × b blocks lies in one group and has at most `most` blocks.\n"
    "- a divides `down`, and b divides `across`.\n"
    "- Clusters run in rounds, each with as many as there is room for.\n"
    "- A block computes for `computing` seconds. Meanwhile it fetches: alone for `fetching` "
    "seconds, in a cluster that fetches x times fewer numbers, for `fetching` ÷ x.\n"
    "- time = rounds × the longer of computing and fetching ÷ x.\n\n"
    "Return a, b and the time in seconds for the fastest shape; if several are equally fast, the "
    "one with the fewest blocks, and then with the smallest a.",
    f"shape({', '.join(CALL.split())})", lines=10,
    cases=lambda rng: [_case(rng) for _ in range(5)],
    domain=dict.fromkeys(("down", "across", "most"), at_least(1))
        | {"tile": PAIR, "groups": any_length(1)}
        | dict.fromkeys(("computing", "fetching"), Domain("above 0", ())),
    example=(4, 6, [128, 128], [9, 7], 8, 2e-5, 2.5e-5),
    fixed=cases_of(CALL,
        (16, 8, [128, 128], GROUPS[0], 8, 2e-5, 3e-5),
        (16, 8, [128, 256], GROUPS[0], 8, 2e-5, 5e-5),
        (16, 16, [128, 128], GROUPS[1], 16, 1e-5, 3e-5), (12, 10, [128, 128], [16], 8, 1e-5, 2e-5),
        (8, 8, [256, 128], [16, 16], 16, 1e-5, 1e-5), (1, 1, [128, 128], [18], 8, 1e-5, 3e-5),
        (16, 8, [128, 128], GROUPS[0], 1, 2e-5, 3e-5), (6, 8, [128, 64], [9, 9], 8, 2e-5, 5e-5),
        (5, 7, [128, 128], [18, 18], 16, 1e-5, 2.5e-5),
        (8, 6, [64, 128], GROUPS[3], 8, 1e-5, 4e-5)),
    insight="In groups of 18, 18, 18, 16, 16, 16, 16 and 14 SMs, 128 tiles take one round in "
            "pairs, and two in clusters of four.",
    answer={"_all": _by(), "_round": lambda tile, computing, fetching, _all:
                max(computing, fetching / _times(*_all[:2], *tile)),
            "a": lambda _all: _all[0], "b": lambda _all: _all[1],
            "seconds": lambda _all: _all[2]},
    slips=(
        slip("a·b times less", "a cluster of a × b blocks does not fetch a·b times fewer numbers.",
             _all=_by(all_share=True)),
        slip("all SMs in one group", "a cluster lies in one group: SMs that are left over in each "
             "stay idle.", _all=[_by(pool=True), _by(blockwise=True)]),
        slip("parts of a round", "a round that is not full takes as long as a full one.",
             _all=_by(whole=False)),
        slip("need not divide", "a divides `down`, and b divides `across`.",
             _all=_by(divides=False)),
        slip("too many blocks", "a cluster has at most `most` blocks.", most=1000),
        slip("one after the other", "fetching and computing overlap: the longer one is the time.",
             _all=_by(summed=True),
             seconds=lambda tile, computing, fetching, _all, _round: _all[2] / _round * (
                 computing + fetching / _times(*_all[:2], *tile))),
        slip("fetches least", "the shape that fetches least may leave SMs idle.",
             _all=_by(_widest)),
        slip("the largest of equal ones", "of equally fast shapes take the one with the fewest "
             "blocks.", _all=_by(_largest)),
        slip("tile turned", "a tile has tile[0] rows and tile[1] columns.",
             tile=lambda tile: tile[::-1]),
        slip("cluster turned", "a cluster has `a` rows of `b` blocks.",
             a=lambda _all: _all[1], b=lambda _all: _all[0]),
        slip("of one round", "the time is that of all rounds.",
             seconds=lambda _round: _round),
    ),
)  # fmt: skip

EXERCISES = (MASK, FOUR, SHAPE, CLUSTER)

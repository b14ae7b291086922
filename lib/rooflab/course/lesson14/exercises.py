"""Exercises of lesson 14: fragments, budgets of tiles, pipelines, waves, and the order of tiles.

The court's table is the ledger's C76; fragments are those of the PTX ISA, mma.m16n8k16.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from typing import Any

from rooflab.course.kernels import kernel_exercise, launch_case
from rooflab.exercises.exercise import Case, Domain, any_length, at_least, cases_of, one_of
from rooflab.exercises.table import drawn, slip, table

ROOM, REGISTERS, FILE, OTHERS = 232_448, 255, 65_536, 40  # of a block on an H100
POSITIVE = Domain("above 0", ())


# ---- 14-fragment ---------------------------------------------------------------------------------
def _lane(operand: str, row: int, column: int) -> int:
    along, inside = (column, row) if operand == "B" else (row, column)
    return along % 8 * 4 + inside % 8 // 2


def _number(operand: str, row: int, column: int) -> int:
    if operand == "B":
        return row % 2 + row // 8 * 2
    return column % 2 + row // 8 * 2 + column // 8 * 4


def _cell(rng: random.Random, operand: str) -> Case:
    column = rng.randrange(16 if operand == "A" else 8)
    return {"operand": operand, "row": rng.randrange(16), "column": column}


FRAGMENT = table(
    "14-fragment", "Who holds this number?", 4,
    "A is 16 × 16, B is 16 × 8 and C is 16 × 8 numbers. Lanes 4·g to 4·g + 3 of a warp hold rows g "
    "and g + 8 of A and of C, and column g of B. They hold two neighbours at a time, as in the "
    "picture; in B one is below the other.\n\n"
    "Return two values: the lane that holds the number in `row` and `column` of `operand`, which "
    "is 'A', 'B' or 'C', and which of the lane's numbers of that operand it is, from 0, in the "
    "picture's order.",
    "holder(operand, row, column)", lines=4,
    cases=lambda rng: [_cell(rng, operand) for operand in "AABBC"],
    domain={"operand": one_of("A", "B", "C"), "row": at_least(0), "column": at_least(0)},
    example=("A", 9, 3),
    fixed=cases_of("operand row column",
        ("A", 0, 0), ("A", 15, 15), ("A", 2, 13), ("A", 11, 6), ("A", 3, 7), ("B", 0, 5),
        ("B", 5, 0), ("B", 15, 7), ("B", 10, 3), ("B", 7, 2), ("C", 13, 5), ("C", 4, 6),
        ("C", 8, 1), ("C", 1, 7)),
    insight="Four lanes together hold a whole row of A: no lane could compute a sum alone.",
    answer={
        "lane": lambda operand, row, column: _lane(operand, row, column),
        "number": lambda operand, row, column: _number(operand, row, column),
    },
    slips=(
        slip("B lies like A", "in B one neighbour is below the other.",
             ways=[{"lane": lambda row, column: _lane("A", row, column)},
                   {"number": lambda row, column: _number("A", row, column)}]),
        slip("A lies like B", "in A and C the two neighbours are side by side.",
             ways=[{"lane": lambda row, column: _lane("B", row, column)}]),
        slip("one number at a time", "a lane holds two neighbours.",
             lane=lambda operand, row, column:
                 column % 8 * 4 + row % 4 if operand == "B" else row % 8 * 4 + column % 4),
        slip("row after row", "the numbers are not dealt one row after the other.",
             lane=lambda operand, row, column:
                 (row * 16 + column) // 8 if operand == "A" else (row * 8 + column) // 4),
        slip("lanes from 0 to 15 only", "rows 8 to 15 lie in the same lanes as rows 0 to 7.",
             lane=lambda operand, row, column: (
                 column * 2 + row // 8 if operand == "B" else row * 2 + column // 8)),
        slip("right before below", "the numbers of rows 8 to 15 come before the columns from 8 on.",
             number=lambda operand, row, column: _number(operand, row, column)
                 if operand != "A" else column % 2 + column // 8 * 2 + row // 8 * 4),
        slip("registers for numbers", "a register holds two numbers of fp16; count numbers.",
             number=lambda operand, row, column: _number(operand, row, column) // 2),
        slip("the second half forgotten", "a lane holds numbers of rows 8 to 15, too.",
             number=lambda operand, row, column: (row if operand == "B" else column) % 2),
    ),
)  # fmt: skip


# ---- 14-budget -----------------------------------------------------------------------------------
Option = Sequence[int]  # bm, bn, bk, stages, threads


def _fits(
    option: Option, *, itemsize: float = 2, both: bool = True, staged: bool = True,
    room: float = ROOM, most: float = REGISTERS, file: float = FILE, others: int = OTHERS,
) -> bool:  # fmt: skip
    m, n, k, stages, threads = option
    registers = m * n / threads + others
    shared = (m + n if both else max(m, n)) * k * itemsize * (stages if staged else 1)
    return shared <= room and registers <= most and registers * threads <= file


def _intensity(option: Option) -> float:
    return option[0] * option[1] / (option[0] + option[1])


def _best(
    options: Sequence[Option], score: Callable[[Option], float] = _intensity, **rules: Any
) -> int:
    fit = [n for n, option in enumerate(options) if _fits(option, **rules)]
    return max(fit, key=lambda n: score(options[n])) if fit else -1


def _bytes_per_s(options: Sequence[Option], choice: int, rate: float, factor: float = 1) -> float:
    return rate / _intensity(options[choice]) * factor if choice >= 0 else 0.0


def _options(rng: random.Random) -> list[list[int]]:
    return [[64 * rng.randrange(1, 5), 64 * rng.randrange(1, 5), rng.choice((32, 64, 128)),
             rng.randrange(1, 6), rng.choice((128, 256, 384, 512))] for _ in range(7)]  # fmt: skip


SMALL, WIDE = [64, 64, 64, 4, 128], [128, 256, 64, 3, 256]
BUDGET = table(
    "14-budget", "A tile that fits", 5,
    "`options` lists kernels for an H100, each as `[bm, bn, bk, stages, threads]`. A block "
    "computes a tile of C of bm × bn numbers. It fits if\n\n"
    "- its shared memory, bm × bk numbers of A and bk × bn of B in fp16 for each stage, is at most "
    "232,448 bytes,\n"
    "- each thread needs at most 255 registers, one for each of its sums and 40 more,\n"
    "- all its threads together need at most 65,536.\n\n"
    "Of the kernels that fit, take the one that reads the fewest bytes from L2 per FLOP; if "
    "several tie, the first. Return two values: its index in the list, from 0, and the byte/s that "
    "it reads at `rate` FLOP/s. If none fits, return -1 and 0.",
    "choose(options, rate)", lines=8,
    cases=lambda rng: [{"options": _options(rng), "rate": rng.choice((4e14, 6e14, 9e14))}
                       for _ in range(6)],
    domain={"options": any_length(), "rate": POSITIVE},
    example=([[64, 128, 64, 4, 128], [192, 128, 64, 6, 384], [128, 128, 32, 5, 256]], 5e14),
    fixed=cases_of("options rate",
        ([SMALL, [128, 128, 64, 5, 128], WIDE, [256, 256, 64, 2, 256], [256, 256, 64, 2, 512]],
         8e14),
        ([SMALL, [128, 256, 64, 5, 256], [128, 128, 64, 6, 256]], 8e14),
        ([SMALL, [256, 256, 64, 2, 512]], 5e14), ([SMALL, [256, 256, 32, 2, 256]], 5e14),
        ([[256, 128, 128, 3, 256]], 9e14), ([[192, 192, 64, 4, 384], WIDE], 9e14),
        ([[64, 256, 64, 2, 256], [128, 128, 64, 2, 256]], 7e14),
        ([[128, 128, 128, 4, 256], [128, 64, 64, 4, 256]], 7e14),
        ([[128, 128, 64, 7, 256], [64, 192, 64, 2, 128]], 7e14),
        ([[128, 192, 64, 2, 128], [128, 192, 64, 3, 256], [192, 128, 64, 2, 256]], 7e14),
        ([[64, 320, 64, 2, 128], [128, 128, 64, 2, 128]], 7e14),
        ([[64, 192, 32, 2, 512], [256, 192, 128, 5, 384], [64, 128, 64, 6, 512]], 6e14),
        ([[256, 64, 128, 5, 384], [256, 192, 64, 4, 128], [192, 256, 32, 2, 512]], 6e14),
        ([[128, 128, 512, 1, 256], SMALL], 5e14), ([[64, 256, 128, 5, 256], SMALL], 6e14),
        ([[128, 216, 64, 2, 128], SMALL], 6e14), ([[128, 256, 64, 4, 256], SMALL], 6e14)),
    insight="A tile of 256 × 256 reads least from L2, but an H100 has no registers for it. On a "
            "B200 its sums lie in tensor memory.",
    answer={
        "_choice": lambda options: _best(options),
        "index": lambda _choice: _choice,
        "byte per s": lambda options, _choice, rate: _bytes_per_s(options, _choice, rate),
    },
    slips=(
        slip("one stage", "shared memory holds `stages` pairs of tiles.",
             index=lambda options: _best(options, staged=False)),
        slip("one operand", "shared memory holds tiles of A and of B.",
             index=lambda options: _best(options, both=False)),
        slip("numbers for bytes", "a number of fp16 has 2 bytes.",
             ways=[{"index": lambda options: _best(options, itemsize=1)},
                   {"byte_per_s": lambda options, _choice, rate:
                    _bytes_per_s(options, _choice, rate, 0.5)}]),
        slip("4 bytes", "a number of fp16 has 2 bytes.",
             ways=[{"index": lambda options: _best(options, itemsize=4)},
                   {"byte_per_s": lambda options, _choice, rate:
                    _bytes_per_s(options, _choice, rate, 2)}]),
        slip("unlimited shared memory", "232,448 bytes are the most.",
             index=lambda options: _best(options, room=math.inf)),
        slip("unlimited registers for a thread", "a thread has at most 255 registers.",
             index=lambda options: _best(options, most=math.inf)),
        slip("unlimited registers for a block", "the threads of a block share 65,536 registers.",
             index=lambda options: _best(options, file=math.inf)),
        slip("only the sums", "a thread needs 40 registers besides its sums.",
             index=lambda options: _best(options, others=0)),
        slip("the largest tile", "of tiles with as many numbers the square one reads least.",
             index=lambda options: _best(options, score=lambda one: one[0] * one[1])),
        slip("the longest step", "a longer step along k loads bytes in proportion to the FLOPs.",
             index=lambda options: _best(
                 options, score=lambda one: one[0] * one[1] * one[2] / (one[0] + one[1]))),
        slip("the last of equals", "if several tie, the first counts.",
             index=lambda options: len(options) - 1 - _best(options[::-1])
                 if _best(options) >= 0 else -1),
    ),
)  # fmt: skip


# ---- 14-claim-table ------------------------------------------------------------------------------
CLAIM = table(
    "14-claim-table", "In court: 98 % from 4 KB", 4,
    "A kernel multiplies matrices in fp16. A block computes a tile of C of b × b numbers. Its "
    "shared memory of `shared` bytes holds b × bk numbers of A and bk × b of B for each of "
    "`stages` stages. Return two values: the largest whole b, and the byte/s that all blocks "
    "together read from L2 when they compute at `rate` FLOP/s.",
    "feed(shared, stages, bk, rate)", lines=2,
    cases=drawn(5, shared=[2048, 4096, 8192, 49152, 98304], stages=[2, 3, 2, 4],
                bk=[16, 32, 8, 64, 16], rate=(1e14, 9e14)),
    domain={"shared": POSITIVE, "stages": at_least(1), "bk": POSITIVE, "rate": POSITIVE},
    example=(12_288, 3, 8, 5e13),
    fixed=cases_of("shared stages bk rate",
        (4096, 2, 16, 0.98 * 989.4e12), (2048, 2, 16, 0.98 * 989.4e12), (131072, 4, 64, 8e14),
        (232448, 3, 64, 8e14), (6000, 1, 16, 1e14), (49152, 4, 32, 7e14)),
    insight="The table's kernel would need 61 TB/s from an L2 that gives about 10.",
    answer={
        "_b": lambda shared, stages, bk: shared // (stages * 2 * bk * 2),
        "b": lambda _b: _b,
        "byte per s": lambda _b, rate: rate / (_b / 2),
    },
    slips=(
        slip("one stage", "shared memory holds `stages` pairs of tiles.",
             _b=lambda shared, bk: shared // (4 * bk)),
        slip("one operand", "there are tiles of A and of B, with 2 bytes a number.",
             _b=lambda shared, stages, bk: shared // (stages * 2 * bk)),
        slip("numbers for bytes", "a number of fp16 has 2 bytes.",
             ways=[{"byte_per_s": lambda _b, rate: rate / _b}]),
        slip("4 bytes", "a number of fp16 has 2 bytes.",
             _b=lambda shared, stages, bk: shared // (stages * 8 * bk)),
        slip("C lies there", "the sums lie in registers; shared memory holds tiles of A and B.",
             _b=lambda shared, stages: math.isqrt(int(shared / stages / 2))),
        slip("not a whole number", "b is a whole number.",
             ways=[{"b": lambda shared, stages, bk: shared / (stages * 4 * bk)}]),
        slip("a longer step", "a longer step along k loads bytes in proportion to the FLOPs.",
             ways=[{"byte_per_s": lambda _b, bk, rate: rate / (_b / 2 * bk)}]),
        slip("multiply-adds", ways=[{"byte_per_s": lambda _b, rate: rate * 4 / _b}]),
        slip("upside down", "byte/s are FLOP/s divided by the FLOPs for each byte.",
             ways=[{"byte_per_s": lambda _b, rate: rate * _b / 2}]),
        slip("each number once", "a tile of A is read for each tile of C beside it.",
             ways=[{"byte_per_s": lambda _b, rate: rate / (_b * _b / 2)}]),
    ),
)  # fmt: skip


# ---- 14-pipeline ---------------------------------------------------------------------------------
def _finish(
    tiles: int, stages: float, copy: float, compute: float, at_once: float, freed: int = 1
) -> float:
    """Simulate: when the last tile is computed. ``freed``: 1 after arithmetic, 0 after the copy."""
    done: list[tuple[float, float]] = []  # end of copy and of arithmetic
    for tile in range(tiles):
        free = done[int(tile - stages)][freed] if tile >= stages else 0.0
        door = done[int(tile - at_once)][0] if tile >= at_once else 0.0
        arrived = max(free, door) + copy
        done.append((arrived, max(arrived, done[-1][1] if done else 0.0) + compute))
    return done[-1][1]


PIPELINE = table(
    "14-pipeline", "A pipeline of tiles", 5,
    "A block computes `tiles` tiles one after the other, `compute` seconds each. Each tile is "
    "first copied to one of `stages` buffers, in `copy` seconds: tile t to buffer t mod stages. A "
    "buffer is free again when its tile has been computed.\n\n"
    "Copies begin in the order of the tiles, each as soon as its buffer is free, but at most "
    "`at_once` copies are on their way at a time. Return the seconds from the first copy to the "
    "last result.",
    "seconds(tiles, stages, copy, compute, at_once)", lines=8,
    cases=lambda rng: [
        {"tiles": rng.randrange(3, 20), "stages": rng.randrange(1, 6),
         "copy": float(rng.randrange(1, 12)), "compute": float(rng.randrange(1, 8)),
         "at_once": rng.randrange(1, 5)} for _ in range(6)],
    domain={"tiles": at_least(1), "stages": at_least(1), "copy": POSITIVE, "compute": POSITIVE,
            "at_once": at_least(1)},
    example=(7, 3, 10.0, 4.0, 2),
    fixed=cases_of("tiles stages copy compute at_once",
        (1, 1, 2.0, 3.0, 1), (8, 1, 2.0, 3.0, 2), (8, 2, 5.0, 3.0, 1), (9, 3, 7.0, 2.0, 2),
        (10, 4, 7.0, 2.0, 4), (7, 2, 3.0, 3.0, 2), (12, 3, 6.0, 1.0, 8), (6, 5, 9.0, 2.0, 1)),
    insight="With one copy at a time two buffers are enough. If copies can share the way, more "
            "buffers help until copies or arithmetic fill all the time.",
    answer=lambda tiles, stages, copy, compute, at_once:
        _finish(tiles, stages, copy, compute, at_once),
    slips=(
        slip("one after the other", "a copy may run while an earlier tile is computed.", stages=1),
        slip("unlimited buffers", "a copy waits until its buffer is free.", stages=math.inf),
        slip("unlimited copies", "at most `at_once` copies are on their way.",
             at_once=math.inf),
        slip("one copy at a time", "up to `at_once` copies are on their way.", at_once=1),
        slip("free once it is copied", "a buffer is free when its tile has been computed.",
             answer=lambda tiles, stages, copy, compute, at_once:
                 _finish(tiles, stages, copy, compute, at_once, freed=0)),
        slip("two buffers always", "`stages` says how many buffers there are.", stages=2),
        slip("the first copy is free", "nothing can be computed before the first copy is there.",
             answer=lambda tiles, stages, copy, compute, at_once:
                 _finish(tiles, stages, copy, compute, at_once) - copy),
        slip("spread evenly", "copies that begin together end together: follow them one by one.",
             answer=lambda tiles, stages, copy, compute, at_once:
                 copy + (tiles - 1) * max(copy / min(stages, at_once), compute) + compute),
        slip("all of it overlaps", "the first copy and the last tile overlap with nothing.",
             answer=lambda tiles, copy, compute: tiles * max(copy, compute)),
    ),
)  # fmt: skip


# ---- 14-buffers ----------------------------------------------------------------------------------
BUFFERS_TEXT = """\
def at(A, row, column):
    return A[row, column] if row < A.shape[0] and column < A.shape[1] else 0.0


T = 8


def buffered(A, B, C, K):
    As = cuda.shared.array((2, T, T), float32)
    Bs = cuda.shared.array((2, T, T), float32)
    x, y, total = cuda.threadIdx.x, cuda.threadIdx.y, float32(0)
    column, row = cuda.grid(2)
    As[0, y, x], Bs[0, y, x] = A[row, x], B[y, column]
    cuda.syncthreads()
    for k in range(0, K, T):
        now, after = k // T % 2, k + T
        As[1 - now, y, x], Bs[1 - now, y, x] = at(A, row, after + x), at(B, after + y, column)
        for i in range(T):
            total += As[now, y, i] * Bs[now, i, x]
        cuda.syncthreads()
    C[row, column] = total
"""


def _product(m: int, n: int, k: int) -> Case:
    sizes = {"A": [8 * m, 8 * k], "B": [8 * k, 8 * n], "C": [8 * m, 8 * n], "K": 8 * k}
    return launch_case((n, m), (8, 8), sizes, "C", counts=("sectors", "wavefronts", "barriers"))


BARRIER = "        cuda.syncthreads()\n"
LOOP = "        for i in range(T):\n            total += As[now, y, i] * Bs[now, i, x]\n"
FIRST, LAST = "    cuda.syncthreads()\n    for k", LOOP + BARRIER
BUFFERS = kernel_exercise(
    "14-buffers", "Two buffers, one barrier", 6,
    "Write the tiled product C = A·B with two buffers for each tile, so that a step needs one "
    "barrier. All sizes are multiples of `T`, which is 8; K is the length along k. A block of 8 × "
    "8 threads computes a tile of C, and x goes along a row.\n\n"
    "Load the first pair of tiles before the loop. In each step load the next pair into the other "
    "buffers and multiply the current pair. `at(A, row, column)` returns 0 outside A, because the "
    "last step has no next pair.",
    "buffered(A, B, C, K)", BUFFERS_TEXT,
    [
        ("two barriers", "a step needs one barrier: nobody writes to the buffers that are read.",
         (LOOP, BARRIER + LOOP), ("        now,", BARRIER + "        now,"),
         (BUFFERS_TEXT, BUFFERS_TEXT.replace(FIRST, "    for k").replace(LOOP, BARRIER + LOOP))),
        ("written and read in one step", "a buffer is written and read with no barrier between: "
         "load the next pair into the other buffer, and wait for the first pair before it is used.",
         (FIRST, "    for k"), ("As[1 - now, y, x], Bs", "As[now, y, x], Bs"), ("1 - now", "now")),
        ("nothing between writing and reading", "what is read in one step is written to in the "
         "next: put a barrier between two steps.", (LAST, LOOP)),
        ("the same buffer always", "this step's pair lies in buffer 0 and 1 in turn.",
         ("k // T % 2", "0"), ("k // T % 2", "k % 2")),
        ("no guard", "in the last step there is no next pair; `at` looks.",
         ("at(A, row, after + x)", "A[row, after + x]"),
         ("at(B, after + y, column)", "B[after + y, column]"),
         ("at(A, row, after + x), at(B, after + y, column)",
          "A[row, after + x], B[after + y, column]")),
        ("the same pair again", "the next pair lies T further along k.",
         ("at(A, row, after + x)", "at(A, row, k + x)"),
         ("at(B, after + y, column)", "at(B, k + y, column)")),
        ("the last step is left out", "the last pair has to be multiplied, too.",
         ("range(0, K, T)", "range(0, K - T, T)")),
        ("one tile is transposed", "a thread multiplies a row of one tile with a column of the "
         "other.", ("Bs[now, i, x]", "Bs[now, x, i]"), ("As[now, y, i]", "As[now, i, y]")),
    ],
    cases=lambda rng: [_product(rng.randrange(1, 4), rng.randrange(1, 4), rng.randrange(2, 6))],
    fixed=(_product(2, 3, 4), _product(1, 2, 3), _product(2, 1, 1)),
    lines=7,
    insight="While this pair is multiplied, nobody reads the other one: a step needs one barrier.",
)  # fmt: skip


# ---- 14-waves ------------------------------------------------------------------------------------
Kernel = Sequence[float]  # bm, bn, seconds of a tile


def _tiles(m: int, n: int, one: Kernel) -> int:
    return math.ceil(m / one[0]) * math.ceil(n / one[1])


def _times(m: int, n: int, sms: int, kernels: Sequence[Kernel]) -> list[float]:
    return [math.ceil(_tiles(m, n, one) / sms) * one[2] for one in kernels]


def _least(values: Sequence[float]) -> tuple[int, float]:
    return values.index(min(values)), min(values)


def _kernels(rng: random.Random) -> list[list[float]]:
    tiles = [(128, 256), (128, 128), (192, 192), (256, 128), (64, 256), (64, 64), (128, 192)]
    return [[m, n, round(m * n / 128**2 * rng.uniform(20, 28)) * 1e-6]
            for m, n in rng.sample(tiles, 4)]  # fmt: skip


SETS: list[list[float]] = [[128, 256, 43e-6], [128, 128, 28e-6], [192, 192, 46e-6]]
WAVES = table(
    "14-waves", "Which kernel of a library?", 4,
    "A library has several `kernels` for the same product, each as `[bm, bn, seconds]`: its tile "
    "of C has bm × bn numbers, and an SM takes `seconds` for each tile. C has m × n numbers. Tiles "
    "at its edges take as long as whole ones. Each of `sms` SMs works on one tile at a time, and "
    "all begin together.\n\n"
    "Find the kernel that finishes first. If several tie, take the first. Return two values: the "
    "kernel's index in the list, from 0, and the seconds that it takes.",
    "library(m, n, sms, kernels)", lines=6,
    cases=lambda rng: [
        {"m": rng.randrange(64, 5000), "n": 64 * rng.randrange(4, 100),
         "sms": rng.choice((84, 108, 132, 148)), "kernels": _kernels(rng)} for _ in range(6)],
    domain={"m": at_least(1), "n": at_least(1), "sms": at_least(1), "kernels": any_length()},
    example=(1000, 3000, 100, [[96, 256, 4e-5], [160, 160, 5e-5]]),
    fixed=cases_of("m n sms kernels",
        (1024, 4096, 132, SETS), (1025, 4096, 132, SETS), (1025, 5120, 132, SETS),
        (2049, 4096, 132, SETS), (1, 1, 1, SETS[:1]), (300, 300, 4, SETS), (130, 520, 8, SETS),
        (4096, 4096, 132, [[128, 256, 43e-6], [64, 64, 7e-6]]),
        (1056, 4096, 132, [[64, 64, 8e-6], [256, 256, 90e-6], [128, 256, 43e-6]]),
        (1000, 2100, 16, [[256, 256, 80e-6], [128, 256, 43e-6], [128, 64, 15e-6]])),
    insight="One row more makes 128 tiles 144, and a second wave of 12. Tiles of 192 × 192 fill "
            "the 132 SMs of an H100 in one wave.",
    answer={
        "_least": lambda m, n, sms, kernels: _least(_times(m, n, sms, kernels)),
        "index": lambda _least: _least[0],
        "seconds": lambda _least: _least[1],
    },
    slips=(
        slip("waves in parts", "a wave with one tile takes as long as a full one.",
             seconds=lambda m, n, sms, kernels:
                 min(_tiles(m, n, one) / sms * one[2] for one in kernels)),
        slip("tiles by area", "tiles at both edges are whole ones: round up in each direction.",
             seconds=lambda m, n, sms, kernels:
                 min(math.ceil(m * n / one[0] / one[1] / sms) * one[2] for one in kernels)),
        slip("edges left out", "the edges of C need tiles, too.",
             seconds=lambda m, n, sms, kernels: min(
                 math.ceil((m // one[0]) * (n // one[1]) / sms) * one[2] for one in kernels)),
        slip("a wave too many", "a number of tiles that the SMs divide needs no extra wave.",
             seconds=lambda m, n, sms, kernels:
                 min((_tiles(m, n, one) // sms + 1) * one[2] for one in kernels)),
        slip("one SM", "the SMs work side by side.",
             seconds=lambda m, n, kernels: min(_times(m, n, 1, kernels))),
        slip("the fewest waves", "a wave of small tiles is shorter.",
             index=lambda m, n, sms, kernels: min(
                 range(len(kernels)), key=lambda at: math.ceil(_tiles(m, n, kernels[at]) / sms))),
        slip("the quickest tile", "a quick tile may need many waves.",
             index=lambda kernels: min(range(len(kernels)), key=lambda at: kernels[at][2])),
    ),
)  # fmt: skip


# ---- 14-order ------------------------------------------------------------------------------------
def _rows_and_columns(tiles: Sequence[int], across: int) -> tuple[set[int], set[int]]:
    return {tile // across for tile in tiles}, {tile % across for tile in tiles}


def _span(numbers: set[int]) -> int:
    return max(numbers) - min(numbers) + 1


def _wave(rng: random.Random) -> Case:
    across, down = rng.randrange(4, 20), rng.randrange(6, 30)
    step, many = rng.choice((1, 1, 3, 4, 5)), rng.randrange(5, 30)
    tiles = [step * n for n in range(many) if step * n < across * down]
    return {"tiles": tiles, "across": across, "bm": rng.choice((64, 128)),
            "bn": rng.choice((192, 256)), "k": rng.choice((1024, 4096))}  # fmt: skip


KERNEL_7 = [4 * sm if sm < 116 else 116 + 3 * sm for sm in range(132)]
GROUP = [16 * row + column for row in range(16) for column in range(8)]
ORDER = table(
    "14-order", "What a wave reads", 4,
    "C has rows of `across` tiles. Tile t is in row t // across and column t % across. A tile of "
    "bm × bn numbers needs bm rows of A and bn columns of B, of `k` numbers each, in bf16. `tiles` "
    "lists the tiles that run at one time, and L2 keeps what they share: each row of A and each "
    "column of B is read once.\n\n"
    "Return how many bytes of A and B they read from memory. `[0, 5, 10, 11]` with 4 tiles across "
    "lies in 3 rows and 4 columns.",
    "wave_bytes(tiles, across, bm, bn, k)", lines=3,
    cases=lambda rng: [_wave(rng) for _ in range(5)],
    domain={"tiles": any_length(), "across": at_least(1), "bm": POSITIVE, "bn": POSITIVE,
            "k": POSITIVE},
    example=([0, 5, 10, 11], 4, 64, 96, 512),
    fixed=cases_of("tiles across bm bn k",
        (KERNEL_7, 16, 128, 256, 4096), (GROUP, 16, 128, 256, 4096),
        ([*range(132)], 16, 128, 256, 4096), ([7], 1, 64, 128, 1024),
        ([3, 35, 67], 16, 64, 192, 256),
        ([0, 9, 18, 27], 8, 128, 192, 512), ([20, 23, 26], 32, 64, 128, 64)),
    insight="Kernel 7's wave touches all of A and all of B; the group of 16 × 8, half of each.",
    answer={
        "_lines": lambda tiles, across: [len(one) for one in _rows_and_columns(tiles, across)],
        "bytes": lambda _lines, bm, bn, k: (_lines[0] * bm + _lines[1] * bn) * k * 2,
    },
    slips=(
        slip("each reads its own", "tiles in one row of C share rows of A; those in one column "
             "share columns of B.", _lines=lambda tiles: [len(tiles), len(tiles)]),
        slip("gaps count", "rows and columns without a tile are not read.",
             _lines=lambda tiles, across: [_span(one) for one in _rows_and_columns(tiles, across)]),
        slip("columns of tiles", "tiles are numbered along the rows of C.",
             _lines=lambda tiles, across: [len(one) for one in
                                           _rows_and_columns(tiles, across)][::-1]),
        slip("all the columns", "a wave need not have tiles in all columns.",
             _lines=lambda tiles, across: [len(_rows_and_columns(tiles, across)[0]), across]),
        slip("numbers for bytes", "a number of bf16 has 2 bytes.",
             ways=[{"bytes": lambda _lines, bm, bn, k: (_lines[0] * bm + _lines[1] * bn) * k}]),
        slip("4 bytes", "a number of bf16 has 2 bytes.",
             ways=[{"bytes": lambda _lines, bm, bn, k: (_lines[0] * bm + _lines[1] * bn) * k * 4}]),
        slip("only A", "columns of B are read, too.",
             ways=[{"bytes": lambda _lines, bm, k: _lines[0] * bm * k * 2}]),
        slip("rows times columns", "rows of A and columns of B are read, not tiles of C.",
             ways=[{"bytes": lambda _lines, bm, bn: _lines[0] * bm * _lines[1] * bn * 2}]),
    ),
)  # fmt: skip

EXERCISES = (FRAGMENT, BUDGET, CLAIM, PIPELINE, BUFFERS, WAVES, ORDER)

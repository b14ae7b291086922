"""Exercises of lesson 13: sectors, banks, tiles in shared memory and in registers, occupancy.

The wrong answers are those of public courses on CUDA: a missing second barrier, a thread that
returns before a barrier, a tile without padding, "a 32 × 32 tile is read 1,024 times less often".
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence

from rooflab.course.kernels import kernel_exercise, launch_case
from rooflab.course.lesson13.cuda_text import DOT, WIDE
from rooflab.exercises.exercise import Case, Domain, at_least, cases_of, one_of
from rooflab.exercises.table import drawn, slip, table

WARP, SECTOR, BANKS = 32, 32, 32


# ---- 13-sectors ----------------------------------------------------------------------------------
def _sectors(first: int, stride: int, itemsize: int, size: int = SECTOR) -> int:
    """Distinct sectors of the bytes that the lanes read."""
    starts = [first + lane * stride * itemsize for lane in range(WARP)]
    return len({byte // size for at in starts for byte in (at, at + itemsize - 1)})


SECTORS = table(
    "13-sectors", "Sectors of a warp", 3,
    "The 32 threads of a warp each read one number of `itemsize` bytes. The first reads at byte "
    "`first`, a multiple of itemsize; each after it reads `stride` numbers further on. Sectors of "
    "32 bytes begin at multiples of 32. Return how many different sectors the warp touches.",
    "sectors(first, stride, itemsize)", lines=2,
    cases=lambda rng: [
        {"first": rng.randrange(0, 65) * size, "stride": rng.randrange(0, 12), "itemsize": size}
        for size in rng.choices((1, 2, 4, 8, 16), k=6)
    ],
    domain={"first": Domain("a multiple of itemsize", ()), "stride": at_least(0),
            "itemsize": one_of(1, 2, 4, 8, 16)},
    example=(8, 3, 4),
    fixed=cases_of("first stride itemsize",
        (0, 1, 4), (4, 1, 4), (0, 2, 4), (12, 8, 4), (0, 32, 4), (0, 0, 4), (0, 1, 16), (16, 1, 16),
        (0, 1, 1), (31, 1, 1), (0, 5, 8), (6, 1, 2), (0, 4096, 2), (64, 3, 8)),
    insight="A warp that begins one number late touches one sector more; with stride 8 and fp32 "
            "each thread has a sector of its own.",
    answer=lambda first, stride, itemsize: _sectors(first, stride, itemsize),
    slips=(
        slip("a sector for each thread", "neighbours may share a sector.", answer=WARP),
        slip("bytes asked for", "count the sectors that are touched, not the bytes that are used.",
             answer=lambda itemsize: -(-WARP * itemsize // SECTOR)),
        slip("begins where a sector begins", "`first` may lie inside a sector.", first=0),
        slip("gaps count", "a sector that no thread touches is not asked for.",
             answer=lambda first, stride, itemsize:
                 (first + 31 * stride * itemsize + itemsize - 1) // SECTOR - first // SECTOR + 1),
        slip("lines of 128 bytes", "a sector has 32 bytes.",
             answer=lambda first, stride, itemsize: _sectors(first, stride, itemsize, size=128)),
        slip("stride in bytes", "`stride` counts numbers.",
             answer=lambda first, stride, itemsize: len(
                 {(first + lane * stride) // SECTOR for lane in range(WARP)})),
        slip("the whole span", "count sectors that are touched; a thread touches one at most.",
             answer=lambda stride, itemsize: -(-WARP * stride * itemsize // SECTOR)),
    ),
)  # fmt: skip


# ---- 13-coalesce ---------------------------------------------------------------------------------
SCALE_TEXT = """\
def scale(A, s, B, rows, columns):
    column, row = cuda.grid(2)
    if row < rows and column < columns:
        B[row, column] = A[row, column] * s[row]
"""


def _scaled(rows: int, columns: int, x: int, y: int) -> Case:
    grid = (-(-max(rows, columns) // x), -(-max(rows, columns) // y))
    sizes = {"A": [rows, columns], "s": [rows], "B": [rows, columns], "rows": rows,
             "columns": columns}  # fmt: skip
    return launch_case(grid, (x, y), sizes, "B")


GUARD = "if row < rows and column < columns:"
COALESCE = kernel_exercise(
    "13-coalesce", "Neighbours side by side", 3,
    "Write a kernel: `B[row, column] = A[row, column] * s[row]` for matrices of `rows` × `columns` "
    "numbers, stored row by row. Each thread computes one number. `cuda.grid(2)` is the place of "
    "the thread in the whole grid, as (x, y). The grid is at least as large as the matrix in both "
    "directions, and often larger. The threads of a warp have neighbouring x. Let a warp touch no "
    "more sectors than it must.",
    "scale(A, s, B, rows, columns)", SCALE_TEXT,
    [
        ("a warp walks down a column", "the threads of a warp have neighbouring x, so x has to "
         "be the column.", ("column, row = cuda", "row, column = cuda")),
        ("no guard", "the grid is larger: only row < rows and column < columns may work.",
         (GUARD, "if row >= 0:"), (GUARD, "if column < columns:"), (GUARD, "if row < rows:"),
         ("row < rows and", "row <= rows and"), (GUARD, "if row < columns and column < rows:")),
        ("scaled by column", "s has a number for each row.",
         ("s[row]", "s[column % rows]"), ("s[row]", "s[column]")),
        ("not written", "B is to be written.", ("B[row, column] =", "value =")),
    ],
    cases=lambda rng: [_scaled(rng.randrange(20, 70), rng.randrange(33, 120), 32, 8)],
    fixed=(_scaled(64, 96, 32, 8), _scaled(37, 65, 64, 4), _scaled(90, 17, 32, 4)),
    lines=3, par=1.3,
    insight="x along a row, and a warp asks for 4 sectors where it could ask for 32.",
)  # fmt: skip


# ---- 13-tiled ------------------------------------------------------------------------------------
AT = """\
def at(A, row, column):
    return A[row, column] if row < A.shape[0] and column < A.shape[1] else 0.0


T = 8


"""
TILED_TEXT = AT + """\
def tiled(A, B, C, M, N, K):
    As = cuda.shared.array((T, T), float32)
    Bs = cuda.shared.array((T, T), float32)
    x, y, total = cuda.threadIdx.x, cuda.threadIdx.y, float32(0)
    column, row = cuda.grid(2)
    for k in range(0, K, T):
        As[y, x], Bs[y, x] = at(A, row, k + x), at(B, k + y, column)
        cuda.syncthreads()
        for i in range(T):
            total += As[y, i] * Bs[i, x]
        cuda.syncthreads()
    if row < M and column < N:
        C[row, column] = total
"""


def _product(m: int, n: int, k: int, tile: int = 8, **more: object) -> Case:
    sizes = {"A": [m, k], "B": [k, n], "C": [m, n], "M": m, "N": n, "K": k}
    return launch_case((-(-n // tile), -(-m // tile)), (8, 8), sizes, "C", **more)


LAST = "        cuda.syncthreads()\n    if row"
TILED = kernel_exercise(
    "13-tiled", "A tile in shared memory", 6,
    "Write the tiled product C = A·B, with A of M × K and B of K × N numbers. A block of 8 × 8 "
    "threads computes a tile of C of 8 × 8 numbers, and `T` is 8; x runs along a row of C, for "
    "blocks as for threads.\n\n"
    "In each step the threads load a tile of A and a tile of B into shared memory, one number of "
    "each per thread. Then each thread multiplies a row by a column. `at(A, row, column)` is 0 "
    "outside of A. M, N and K can be any size. When may a tile be overwritten?",
    "tiled(A, B, C, M, N, K)", TILED_TEXT,
    [
        ("no second barrier", "a fast warp loads the next tile while a slow one still multiplies "
         "this one.", (LAST, "    if row")),
        ("no first barrier", "a thread multiplies numbers that others load; wait for them.",
         ("column)\n        cuda.syncthreads()\n", "column)\n")),
        ("returns early", "a thread outside of C still has to load its numbers of both tiles.",
         ("    for k", "    if row >= M or column >= N:\n        return\n    for k")),
        ("C has no guard", "the last blocks reach beyond the edge of C.",
         ("    if row < M and column < N:\n        C", "    C")),
        ("the last step is left out", "K need not be a multiple of T.",
         ("range(0, K, T)", "range(0, K - T + 1, T)")),
        ("the tile of A stays", "the tile of A moves along the row.", ("row, k + x)", "row, x)")),
        ("one tile is transposed", "a thread multiplies a row of one tile with a column of "
         "the other.", ("Bs[i, x]", "Bs[x, i]")),
        ("from memory after all", "once it is in shared memory, take it from there.",
         ("total += As[y, i] * Bs[i, x]", "total += at(A, row, k + i) * Bs[i, x]")),
        ("a warp walks down a column", "x goes along a row of C.",
         ("column, row = cuda.grid(2)",
          "row, column = x + T * cuda.blockIdx.y, y + T * cuda.blockIdx.x")),
    ],
    cases=lambda rng: [_product(rng.randrange(9, 30), rng.randrange(9, 30), rng.randrange(9, 30))],
    fixed=(_product(24, 16, 32), _product(19, 21, 13), _product(8, 8, 7), _product(5, 30, 17)),
    lines=8, par=1.1,
    insight="Each number is loaded once for 8 uses; a tile of 32 × 32 would make it 32.",
)  # fmt: skip


# ---- 13-turns ------------------------------------------------------------------------------------
def _turns(words: Sequence[int], banks: int = BANKS) -> int:
    lines: dict[int, set[int]] = {}
    for word in words:
        lines.setdefault(word % banks, set()).add(word)
    return max(map(len, lines.values()))


def _warp(rng: random.Random) -> Case:
    """Words of a column, of a row with gaps, of a pattern with repeats, or of chance."""
    length, first = rng.choice((31, 32, 33, 34, 36, 40, 48, 64)), rng.randrange(64)
    shape = rng.randrange(3)
    lanes = range(WARP)
    words = ([first + lane * length for lane in lanes] if shape == 0
             else [first + lane // 4 * length + lane % 4 for lane in lanes] if shape == 1
             else [rng.randrange(256) for _ in lanes])  # fmt: skip
    return {"words": words}


TURNS = table(
    "13-turns", "Turns at the banks", 3,
    "Shared memory has 32 banks. Word w, of 4 bytes, lies in bank w mod 32. In one turn each bank "
    "gives out one word, to as many threads as want it. `words` lists the words that the threads "
    "of a warp want, one for each. Return how many turns it takes.",
    "turns(words)", lines=2,
    cases=lambda rng: [_warp(rng) for _ in range(6)],
    domain={"words": Domain("1 to 32 whole numbers", ())},
    example=([3, 35, 67, 35, 8],),
    fixed=tuple({"words": words} for words in (
        list(range(32)), [32 * lane for lane in range(32)], [33 * lane for lane in range(32)],
        [7] * 32, [2 * lane for lane in range(32)], [lane // 2 * 64 for lane in range(32)], [5],
        [0, 32, 0, 32, 1, 2, 3], [34 * lane for lane in range(32)],
        [0, 16, 32, 48, 64] + [1] * 20)),
    insight="Rows of 33 words put a column into 32 different banks.",
    answer=lambda words: _turns(words),
    slips=(
        slip("a word for each thread", "threads that want the same word get it in the same turn.",
             answer=lambda words: max(
                 sum(w % BANKS == bank for w in words) for bank in range(BANKS))),
        slip("16 banks", "there are 32 banks.", answer=lambda words: _turns(words, 16)),
        slip("banks in use", "the fullest bank decides, not how many are in use.",
             answer=lambda words: len({w % BANKS for w in words})),
        slip("different words", "banks work side by side.", answer=lambda words: len(set(words))),
        slip("shared among the banks", "the words need not be spread evenly.",
             answer=lambda words: -(-len(set(words)) // BANKS)),
        slip("conflicts", "a warp without a conflict takes one turn, not none.",
             answer=lambda words: _turns(words) - 1),
    ),
)  # fmt: skip


# ---- 13-transpose --------------------------------------------------------------------------------
TRANSPOSE_TEXT = """\
def transpose(A, B, N):
    tile = cuda.shared.array((32, 33), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    left, top = 32 * cuda.blockIdx.x, 32 * cuda.blockIdx.y
    for i in range(y, 32, cuda.blockDim.y):
        tile[i, x] = A[top + i, left + x]
    cuda.syncthreads()
    for i in range(y, 32, cuda.blockDim.y):
        B[left + i, top + x] = tile[x, i]
"""


TURN = TRANSPOSE_TEXT[TRANSPOSE_TEXT.index("    for") :]


def _square(n: int, y: int) -> Case:
    return launch_case((n // 32, n // 32), (32, y), {"A": [n, n], "B": [n, n], "N": n}, "B",
                    counts=("sectors", "wavefronts"))  # fmt: skip


TRANSPOSE = kernel_exercise(
    "13-transpose", "Transpose a matrix", 5,
    "Write a kernel that makes `B` the transpose of `A`, both of N × N numbers, with N a multiple "
    "of 32. Block (x, y) of the grid takes 32 × 32 numbers of A, from column 32·x and row 32·y on. "
    "It has 32 threads along x and 4, 8 or 32 along y (`cuda.blockDim.y`), so a thread may have to "
    "move several numbers. Read and write both matrices row by row, and cause no bank conflict.",
    "transpose(A, B, N)", TRANSPOSE_TEXT,
    [
        ("no padding", "a column of 32 × 32 words lies in one bank.", ("(32, 33)", "(32, 32)")),
        ("column by column", "touch both matrices row by row, through shared memory.",
         (TURN, "    for i in range(y, 32, cuda.blockDim.y):\n"
                "        B[left + x, top + i] = A[top + i, left + x]\n"),
         (TURN, "    for i in range(y, 32, cuda.blockDim.y):\n"
                "        B[left + i, top + x] = A[top + x, left + i]\n"),
         ("B[left + i, top + x] = tile[x, i]", "B[left + x, top + i] = tile[i, x]")),
        ("no barrier", "a thread reads numbers that others wrote; wait for them.",
         ("    cuda.syncthreads()\n", "")),
        ("blocks stay where they are", "what block (x, y) takes from A belongs in B from column "
         "32·y and row 32·x on.", ("B[left + i, top + x]", "B[top + i, left + x]")),
        ("not transposed", "read the tile along a column, or write it that way.",
         ("= tile[x, i]", "= tile[i, x]")),
        ("one number a thread", "a block may have fewer than 32 threads along y.",
         ("for i in range(y, 32, cuda.blockDim.y):", "for i in range(y, y + 1):")),
    ],
    cases=lambda rng: [_square(32 * rng.randrange(2, 4), rng.choice((4, 8)))],
    fixed=(_square(64, 8), _square(32, 32), _square(96, 4)),
    lines=8,
    insight="One number more in a row of the tile, and a column lies in 32 different banks.",
)  # fmt: skip


# ---- 13-registers --------------------------------------------------------------------------------
def _least(bandwidth: float, fmas: float, itemsize: float = 4, both: int = 2) -> int:
    """The least r for which r + r numbers a step come as fast as r · r multiply-adds go."""
    return next(r for r in range(1, 10_000) if both * r * itemsize * fmas <= r * r * bandwidth)


REGISTERS = table(
    "13-registers", "How large a tile for a thread?", 4,
    "A thread keeps r × r numbers of C in registers. In each step it reads r numbers of A and r of "
    "B from shared memory, in fp32, and does r·r multiply-adds. A multiprocessor does `fmas` "
    "multiply-adds a clock, and its shared memory gives out `bandwidth` bytes a clock. Count each "
    "thread's reads for itself.\n\n"
    "Return two values: the smallest whole r for which reading takes no longer than computing, and "
    "the FLOPs per byte of shared memory with that r.",
    "register_tile(fmas, bandwidth)", lines=3,
    cases=drawn(5, fmas=lambda rng: rng.choice((16, 32, 64, 128, 256, 512)),
                bandwidth=lambda rng: rng.choice((32, 64, 96, 128, 200, 256))),
    domain=dict.fromkeys(("fmas", "bandwidth"), Domain("above 0", ())),
    example=(48, 100),
    fixed=cases_of("fmas bandwidth", (128, 128), (64, 128), (128, 256), (4, 128), (100, 96),
                   (512, 128), (1, 1), (192, 64)),
    insight="With 128 multiply-adds and 128 bytes a clock, r is 8: 64 registers for C alone.",
    answer={
        "_r": lambda fmas, bandwidth: _least(bandwidth, fmas),
        "r": lambda _r: _r,
        "flop per byte": lambda _r: 2 * _r * _r / (8 * _r),
    },
    slips=(
        slip("one operand", "r numbers of A and r of B are read.",
             _r=lambda fmas, bandwidth: _least(bandwidth, fmas, both=1)),
        slip("numbers for bytes", "a number of fp32 has 4 bytes.",
             _r=lambda fmas, bandwidth: _least(bandwidth, fmas, 1)),
        slip("not a whole number", "r is a whole number, the next one up.",
             ways=[{"r": lambda fmas, bandwidth: 8 * fmas / bandwidth}]),
        slip("one more than needed", "where it divides exactly, that r is enough.",
             _r=lambda fmas, bandwidth: math.floor(8 * fmas / bandwidth) + 1),
        slip("rounded down", "the next smaller tile still waits for shared memory.",
             _r=lambda fmas, bandwidth: max(1, math.floor(8 * fmas / bandwidth))),
        slip("multiply-adds", ways=[{"flop_per_byte": lambda _r: _r / 8}]),
        slip("upside down", ways=[{"flop_per_byte": lambda _r: 4 / _r}]),
        slip("each product reads twice", "in registers a number is used r times.",
             ways=[{"flop_per_byte": 0.25}]),
    ),
)  # fmt: skip


# ---- 13-occupancy --------------------------------------------------------------------------------
def _blocks(
    threads: int, registers: int, shared: int, *, unit: int = 256, most: int = 2048,
    limit: int = 32, reserve: int = 1024, room: int = 233_472, file: int = 65_536, parts: int = 4,
) -> int:  # fmt: skip
    """Blocks that an H100's multiprocessor holds at once; its registers lie in ``parts``."""
    warps = threads // WARP
    held = parts * (file // parts // (-(-registers * WARP // unit) * unit))
    return min(most // threads, limit, held // warps, room // (shared + reserve))


OCCUPANCY = table(
    "13-occupancy", "How many blocks at once?", 4,
    "A multiprocessor of an H100 holds at most 2,048 threads and 32 blocks. It has 233,472 bytes "
    "of shared memory, and registers in four quarters of 16,384. A warp takes all its registers "
    "from one quarter, whichever has room: 32 times the `registers` of a thread, rounded up to a "
    "multiple of 256.\n\n"
    "A block of `threads` threads, a multiple of 32, takes `shared` bytes of shared memory and "
    "1,024 more for the system. Return how many such blocks a multiprocessor holds at once.",
    "blocks(threads, registers, shared)", lines=3,
    cases=drawn(6, threads=[64, 96, 128, 256, 384, 512], registers=range(24, 256),
                shared=[0, 4096, 8192, 16384, 33792, 66560, 99328]),
    domain={"threads": Domain("a multiple of 32", ()), "registers": at_least(16),
            "shared": at_least(0)},
    example=(192, 50, 20_000),
    fixed=cases_of("threads registers shared",
        (256, 60, 0), (128, 52, 4096), (128, 60, 4096), (32, 16, 0), (1024, 32, 0), (1024, 33, 0),
        (256, 128, 16640), (64, 255, 0), (128, 40, 50000), (96, 40, 1024), (32, 16, 6272),
        (256, 255, 232448), (512, 16, 0), (128, 36, 0), (96, 60, 0), (64, 16, 8192),
        (64, 40, 0), (32, 255, 0)),
    insight="One register more than 32 halves the number of blocks of 1,024 threads.",
    answer=lambda threads, registers, shared: _blocks(threads, registers, shared),
    slips=(
        slip("one pool of registers", "a warp's registers all lie in one quarter.",
             answer=lambda threads, registers, shared:
                 _blocks(threads, registers, shared, parts=1)),
        slip("registers by the thread", "registers are given to warps, from one quarter each.",
             answer=lambda threads, registers, shared:
                 _blocks(threads, registers, shared, unit=1, parts=1)),
        slip("registers to the letter", "a warp's registers come in portions of 256.",
             answer=lambda threads, registers, shared:
                 _blocks(threads, registers, shared, unit=1)),
        slip("nothing for the system", "each block takes 1,024 bytes of shared memory more.",
             answer=lambda threads, registers, shared:
                 _blocks(threads, registers, shared or 1, reserve=0)),
        slip("unlimited threads", "2,048 threads are the most.",
             answer=lambda threads, registers, shared:
                 _blocks(threads, registers, shared, most=10**6)),
        slip("unlimited blocks", "32 blocks are the most.",
             answer=lambda threads, registers, shared:
                 _blocks(threads, registers, shared, limit=10**6)),
        slip("unlimited registers", "65,536 registers are the most.",
             answer=lambda threads, registers, shared:
                 _blocks(threads, registers, shared, file=10**9)),
        slip("unlimited shared memory", "233,472 bytes of shared memory are the most.",
             answer=lambda threads, registers, shared: _blocks(threads, registers, 0)),
        slip("warps", "blocks are asked for, not warps.",
             answer=lambda threads, registers, shared:
                 _blocks(threads, registers, shared) * threads // WARP),
    ),
)  # fmt: skip


# ---- 13-rung -------------------------------------------------------------------------------------
def _longest(work: Sequence[float], roofs: Sequence[float], factors: Sequence[float]) -> float:
    return max(w * f / r for w, f, r in zip(work, factors, roofs, strict=True))


def _first(values: Sequence[float]) -> int:
    return list(values).index(min(values))


def _rung(rng: random.Random) -> Case:
    """A kernel whose L1 and shared memory, or L2, hold it back, and three or four changes."""
    n, tile, r = rng.choice((2048, 4096)), rng.choice((16, 32, 64)), rng.choice((1, 1, 4))
    work = [2 * n**3, 12 * n * n * rng.choice((1, 4, 16)), 8 * n**3 // tile, 8 * n**3 // r]
    changes = [[1, 1, 0.5, 1], [1, 1, 1, rng.choice((0.125, 0.25, 0.5))], [1, 0.25, 1, 1],
               [1, 1, 0.25, 1.5]]  # fmt: skip
    rng.shuffle(changes)
    return {"work": work, "roofs": [rng.choice((1.95e13, 3.87e13)), 7.68e11,
                                    rng.choice((2e12, 5.5e12)), 1.9e13],
            "changes": changes[: rng.choice((3, 4))]}  # fmt: skip


ONE, A6000 = [1, 1, 1, 1], [3.87e13, 7.68e11, 5.6e12, 1.9e13]
SHARED_TILE = [2 * 4096**3, 12 * 4096**2, 8 * 4096**3 // 32, 8 * 4096**3]
RUNG = table(
    "13-rung", "Which change comes next?", 5,
    "`work` lists what a kernel does: FLOPs, bytes from and to memory, bytes from L2, and bytes "
    "from L1 and shared memory. `roofs` lists FLOP/s and byte/s in the same order, and everything "
    "overlaps. Each of `changes` lists four factors by which a change would multiply the work.\n\n"
    "Return two values: the place, from 0, of the change that makes the kernel fastest (the first "
    "of equal ones), and how many times as fast as now that is.",
    "next_rung(work, roofs, changes)", lines=4,
    cases=lambda rng: [_rung(rng) for _ in range(6)],
    domain=dict.fromkeys(("work", "roofs"), Domain("four numbers above 0", ()))
        | {"changes": Domain("1 or more lists of four factors above 0", ())},
    example=([1e12, 4e9, 3e10, 3e11], [2e13, 1e12, 3e12, 4e12],
             [[1, 1, 0.5, 1], [1, 1, 1, 0.5], [1, 0.5, 1, 1]]),
    fixed=cases_of("work roofs changes",
        (SHARED_TILE, A6000, [[1, 1, 0.25, 1], [1, 1, 1, 0.125], [1, 0.1, 1, 1]]),
        (SHARED_TILE, A6000, [[1, 1, 1, 0.5], [1, 1, 3, 0.125], [1, 1, 1, 0.25]]),
        ([2e12, 1e10, 3e11, 1e11], A6000, [[1, 1, 0.5, 1], [0.5, 1, 2, 1], [0.9, 1, 1, 1]]),
        ([1e9, 1e9, 1e9, 1e9], [1e12, 1e9, 1e10, 1e11], [[1, 0.5, 1, 1], [0.1, 1, 0.1, 0.1]]),
        ([1e12, 1e9, 1e9, 1e9], [1e12, 1e12, 1e12, 1e12], [[1, 0.1, 1, 1], [1, 1, 0.1, 1]]),
        (SHARED_TILE, A6000, [[1, 1, 1, 2], [1, 8, 1, 1]]),
        (SHARED_TILE, A6000, [[1, 1, 1, 0.5], [1, 1, 1, 0.5]])),
    insight="Kernel 3 needs 8 × 8 numbers a thread. Then arithmetic takes longest, and no further "
            "saving of bytes helps.",
    answer={
        "_times": lambda work, roofs, changes: [_longest(work, roofs, c) for c in changes],
        "_now": lambda work, roofs: _longest(work, roofs, ONE),
        "place": lambda _times: _first(_times),
        "times as fast": lambda _now, _times: _now / min(_times),
    },
    slips=(
        slip("sum for max", "everything overlaps: the longest time decides.",
             ways=[{"times_as_fast": lambda work, roofs, changes, _times:
                    sum(w / r for w, r in zip(work, roofs))
                    / min(sum(w * f / r for w, f, r in zip(work, c, roofs)) for c in changes)}]),
        slip("the strongest on what takes longest now", "another time may take over.",
             ways=[{"place": lambda work, roofs, changes: _first(
                    [c[_first([-w / r for w, r in zip(work, roofs)])] for c in changes])}]),
        slip("all of the change is gained", "another time may take over.",
             ways=[{"times_as_fast": lambda work, roofs, changes:
                    1 / min(c[_first([-w / r for w, r in zip(work, roofs)])] for c in changes)}]),
        slip("the most bytes saved", "what counts is the time: bytes divided by their roof.",
             ways=[{"place": lambda work, changes: _first(
                    [sum(w * f for w, f in zip(work[1:], c[1:])) for c in changes])}]),
        slip("the last of equal ones", "of equal changes take the first.",
             ways=[{"place": lambda _times: len(_times) - 1 - _first(_times[::-1])}]),
        slip("upside down", "that is how many times as *long*.",
             ways=[{"times_as_fast": lambda _now, _times: min(_times) / _now}]),
    ),
)  # fmt: skip

EXERCISES = (
    SECTORS, COALESCE, TILED, TURNS, REGISTERS, OCCUPANCY, RUNG, TRANSPOSE, WIDE, DOT,
)  # fmt: skip

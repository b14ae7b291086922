"""Exercises of lesson 16: read a listing, share out registers, judge a prefetch and a table.

The wrong answers are those of published texts (a prefetch of the next line at addresses that are
not aligned, "fewer instructions, 7 % faster") and of quick readings of a listing.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from typing import Any

from rooflab.exercises.exercise import Case, Domain, any_length, at_least, cases_of
from rooflab.exercises.table import Formula, drawn, slip, table

# ---- 16-listing ----------------------------------------------------------------------------------
BYTES = {"64": 8, "128": 16}
_BACK = re.compile(r"@.*BRA.*(\.L_x_\d+)")


def _names(lines: Sequence[str], predicates: bool = True) -> list[str]:
    """The instructions' names with what modifies them, without labels."""
    return [words[words[0].startswith("@")] for line in lines
            if (words := line.split()) and not line.startswith(".L")
            and (predicates or not line.startswith("@"))]  # fmt: skip


def _loop(lines: Sequence[str]) -> Sequence[str]:
    """The lines from a label to the branch with a condition that goes back to it."""
    for at, line in enumerate(lines):
        if (branch := _BACK.match(line)) and branch[1] in lines[:at]:
            return lines[lines.index(branch[1]) : at + 1]
    return lines


def _reading(
    lines: Sequence[str], *, all_lines: bool = False, predicates: bool = True, start: bool = False,
    widths: bool = True, other: Sequence[str] = (), factor: int = 1,
) -> tuple[float, int]:  # fmt: skip
    """FFMA for each LDS, and the bytes that a thread loads from shared memory in the loop."""
    names = _names(lines if all_lines else _loop(lines), predicates)
    loads = [name for name in names if name.split(".")[0] in ("LDS", *other)
             or (start and name.startswith("LDS"))]  # fmt: skip
    sizes = [BYTES.get(name.rsplit(".", 1)[-1], 4) if widths else 4 for name in loads]
    ffma = sum(name.split(".")[0] == "FFMA" for name in names)
    return ffma / max(1, len(loads)), factor * sum(sizes)


def _listing(rng: random.Random) -> Case:
    """A kernel with one loop, and loads and multiply-adds outside of it."""
    def some(many: int, *kinds: str) -> list[str]:
        return [f"{'@P1 ' * (rng.random() < 0.2)}{rng.choice(kinds)} R{n}, [R{n + 7}]"
                for n in range(many)]  # fmt: skip

    loads = ("LDS", "LDS.64", "LDS.128")
    inside = [*some(rng.randrange(2, 6), *loads), *some(rng.randrange(4, 12), "FFMA"),
              *some(rng.randrange(3), "LDG.E.128", "LDSM.16.M88.4", "STS.128", "FADD"),
              "LDS R1, [R2]", "FFMA R1, R2, R3, R1"]  # fmt: skip
    rng.shuffle(inside)
    return {"lines": [
        "S2R R0, SR_TID.X", *some(rng.randrange(1, 4), *loads), "@P2 BRA `(.L_x_1)", ".L_x_0",
        *inside, "@!P0 BRA `(.L_x_0)", ".L_x_1", *some(rng.randrange(2, 5), "FFMA", "LDS.128"),
        "EXIT", ".L_x_2", "BRA `(.L_x_2)",
    ]}  # fmt: skip


EXAMPLE = ["LDS.64 R2, [R9]", ".L_x_0", "LDS.128 R4, [R8]", "FFMA R1, R4, R5, R1",
           "@P1 FFMA R1, R6, R7, R1", "@P0 BRA `(.L_x_0)", "EXIT"]  # fmt: skip
LISTING = table(
    "16-listing", "Read a listing", 4,
    "`lines` is a listing in SASS. Each line is a label, which begins with '.L', or an "
    "instruction. An instruction may have a condition before its name: a word that begins with "
    "'@'. What stands after a dot modifies the name: 'LDS.128' is an LDS that loads 16 bytes for "
    "each thread, 'LDS.64' one that loads 8, and a plain LDS loads 4. LDSM is a different "
    "instruction.\n\n"
    "The loop runs from a label down to a BRA that has a condition and names this label; there is "
    "one such loop. Return two values: how many FFMA the loop has for each LDS in it, and how many "
    "bytes its LDS instructions load for each thread.",
    "reading(lines)", lines=8,
    cases=lambda rng: [_listing(rng) for _ in range(5)],
    domain={"lines": any_length(5)},
    example=(EXAMPLE,),
    fixed=({"lines": [".L_x_7", "LDS R1, [R2]", "FFMA R3, R1, R1, R3", "FFMA R3, R1, R1, R3",
                      "@P0 BRA `(.L_x_7)"]},
           {"lines": _listing(random.Random(16))["lines"]},
           {"lines": ["FFMA R1, R2, R3, R1", "@P0 BRA `(.L_x_1)", ".L_x_0", "@!P1 LDS.128 R4, [R8]",
                      "LDSM.16.M88.4 R8, [R20]", "FFMA.FTZ R1, R4, R5, R1", "LDG.E.128 R2, [R4]",
                      "@P3 FFMA R1, R6, R7, R1", "LDS R4, [R9]", "FADD R1, R1, R2",
                      "FFMA R9, R8, R7, R9", "@!P0 BRA `(.L_x_0)", ".L_x_1", "LDS.64 R4, [R8]",
                      "EXIT", ".L_x_2", "BRA `(.L_x_2)"]}),
    insight="The loop of `sgemm_float4` has 16 FFMA for each LDS, and each LDS loads 16 bytes.",
    answer={"_both": lambda lines: _reading(lines),
            "FFMA for each LDS": lambda _both: _both[0], "bytes": lambda _both: _both[1]},
    slips=(
        slip("the whole listing", "count between the label and the branch back to it only.",
             _both=lambda lines: _reading(lines, all_lines=True)),
        slip("lines with a condition left out", "they count, too; the name follows the @ word.",
             _both=lambda lines: _reading(lines, predicates=False)),
        slip("LDSM for LDS", "LDSM is a different instruction; compare names up to the first dot.",
             _both=[lambda lines: _reading(lines, start=True),
                    lambda lines: _reading(lines, other=("LDSM",))]),
        slip("all loads", "LDG loads from memory, not from shared memory.",
             _both=lambda lines: _reading(lines, other=("LDG",))),
        slip("4 bytes each", "an LDS.64 loads 8 bytes, and an LDS.128 loads 16.",
             bytes=lambda lines: _reading(lines, widths=False)[1]),
        slip("words for bytes", "a word has 4 bytes.", bytes=lambda _both: _both[1] / 4),
        slip("bits", "128 counts bits: that is 16 bytes.", bytes=lambda _both: 8 * _both[1]),
        slip("of a warp", "count for a thread, not for the 32 of a warp.",
             bytes=lambda _both: 32 * _both[1]),
        slip("FLOPs", "an FFMA counts as one here.", FFMA_for_each_LDS=lambda _both: 2 * _both[0]),
        slip("LDS for each FFMA", "divide the FFMA by the LDS.",
             FFMA_for_each_LDS=lambda _both: 1 / _both[0]),
    ),
)  # fmt: skip


# ---- 16-accumulators -----------------------------------------------------------------------------
def _groups(
    bm: int, bn: int, other: int, fetcher: int, *, most: int = 255, unit: int = 8,
    per_register: int = 1, strips: bool = True, file: int = 65_536,
) -> tuple[int, int]:  # fmt: skip
    """The fewest consumer warpgroups whose registers suffice, and the registers of the block."""
    for groups in range(1, bm // 64 + 1):
        if strips and bm % (64 * groups):
            continue
        each = -(-bm * bn // (groups * 128 * per_register)) + other
        taken = 128 * (groups * (-(-each // unit) * unit) + fetcher)
        if each <= most and taken <= file:
            return groups, taken
    return 0, 0


def _shared(**more: Any) -> Formula:
    """The whole answer, as one part of a table."""
    return lambda bm, bn, other, fetcher: _groups(bm, bn, other, fetcher, **more)


ACCUMULATORS = table(
    "16-accumulators", "Why 123 TFLOP/s?", 4,
    "A block keeps its tile of C, bm × bn numbers in fp32, in registers. One or more warpgroups of "
    "128 threads share the tile: each takes the same number of strips of 64 rows. Each of their "
    "threads needs `other` registers besides its part of C, 255 at most in all. It is given what "
    "it needs, rounded up to a multiple of 8, even to 256.\n\n"
    "One more warpgroup fetches; each of its threads is given `fetcher` registers. All threads of "
    "the block together may have at most 65,536. Return two values: the fewest warpgroups that can "
    "share the tile, and the registers that the block is given, or (0, 0) if it cannot be done.",
    "warpgroups(bm, bn, other, fetcher)", lines=7,
    cases=drawn(6, bm=[64, 128, 192, 256, 384], bn=[64, 96, 128, 192, 224, 256],
                other=range(30, 61), fetcher=[24, 32, 40]),
    domain={"bm": Domain("64, 128, 192, …", (64,)), "bn": Domain("a multiple of 8", ())}
        | dict.fromkeys(("other", "fetcher"), at_least(1)),
    example=(64, 256, 44, 24),
    fixed=cases_of("bm bn other fetcher", (128, 256, 40, 24), (128, 128, 40, 24), (64, 8, 1, 1),
                   (256, 256, 40, 24), (256, 192, 37, 24), (192, 256, 40, 40), (384, 128, 50, 32),
                   (64, 512, 40, 24), (128, 216, 39, 24), (128, 216, 40, 24), (256, 224, 31, 8),
                   (384, 128, 34, 24)),
    insight="With 128 × 256 and one warpgroup, C alone would need 256 registers a thread.",
    answer={"_both": _shared(),
            "warpgroups": lambda _both: _both[0], "registers": lambda _both: _both[1]},
    slips=(
        slip("C alone", "a thread needs `other` registers, too.", other=0),
        slip("registers without an end", "a thread can have 255 registers at most.",
             _both=_shared(most=10**6)),
        slip("blocks without an end", "all threads of the block together may have at most 65,536.",
             _both=_shared(file=10**9)),
        slip("parts of a strip", "each warpgroup takes the same number of strips of 64 rows.",
             _both=_shared(strips=False)),
        slip("who fetches has none", "the warpgroup that fetches has registers, too.", fetcher=0),
        slip("who fetches has as many", "each of its threads is given `fetcher` registers.",
             registers=lambda _both, fetcher: 0 if not _both[0] else
                 (_both[1] - 128 * fetcher) // _both[0] * (_both[0] + 1)),
        slip("not rounded", "registers are given out in multiples of 8.",
             _both=_shared(unit=1)),
        slip("two numbers a register", "C is kept in fp32: a register holds one number.",
             _both=_shared(per_register=2)),
        slip("of a thread", "the registers of the whole block are asked for.",
             registers=lambda _both, fetcher: 0 if not _both[0] else
                 (_both[1] - 128 * fetcher) // _both[0] // 128),
    ),
)  # fmt: skip


# ---- 16-claim-prefetch ---------------------------------------------------------------------------
def _late(n: int, ahead: int, size: int) -> int:
    """Threads that ask for bytes beyond the end of the array."""
    return sum(4 * (i + ahead) + size > 4 * n for i in range(n))


def _asked(n: int, size: int, step: int = 4) -> float:
    """Bytes asked for over different bytes, by n requests, ``step`` bytes from one to the next."""
    return n * size / (step * (n - 1) + size)


def _allowed(n: int, ahead: int) -> int:
    """Threads whose address is a multiple of 16 bytes."""
    return sum((i + ahead) % 4 == 0 for i in range(n))


PREFETCH = table(
    "16-claim-prefetch", "The next line?", 4,
    "An array of n numbers in fp32 begins at a multiple of 128 bytes. Each of n threads, i from 0 "
    "to n - 1, asks L2 to fetch `size` bytes, starting at number i + ahead. This address must be a "
    "multiple of 16 bytes, and so must `size`.\n\n"
    "Return three values: how many threads give an address that is not allowed, how many ask for "
    "bytes beyond the end of the array, and all bytes asked for, divided by the number of "
    "different bytes among them. Requests that are not allowed count, too.",
    "prefetches(n, ahead, size)", lines=4,
    cases=drawn(5, n=range(100, 3000), ahead=range(0, 300), size=[16, 32, 64, 128, 256]),
    domain={"n": at_least(1), "ahead": at_least(0), "size": Domain("16, 32, 48, …", (16,))},
    example=(12, 4, 16),
    fixed=cases_of("n ahead size", (32, 32, 128), (1000, 32, 128), (1001, 33, 64), (1, 0, 16),
                   (500, 0, 256), (203, 30, 128), (100, 400, 32), (4096, 1023, 48)),
    insight="A warp of 32 threads asks for 4,096 bytes, and 252 of them are different.",
    answer={
        "not allowed": lambda n, ahead: n - _allowed(n, ahead),
        "beyond the end": lambda n, ahead, size: _late(n, ahead, size),
        "times asked for": lambda n, size: _asked(n, size),
    },
    slips=(
        slip("multiples of 4", "the address must be a multiple of 16 bytes: of four numbers.",
             not_allowed=lambda: 0),
        slip("lines of 128 bytes", "a multiple of 16 bytes is enough.",
             not_allowed=lambda n, ahead: sum((i + ahead) % 32 > 0 for i in range(n))),
        slip("numbers for bytes", "16 bytes are four numbers.",
             not_allowed=lambda n, ahead: sum((i + ahead) % 16 > 0 for i in range(n))),
        slip("counts the right ones", "count addresses that are not allowed.",
             not_allowed=lambda n, ahead: _allowed(n, ahead)),
        slip("only allowed requests", "invalid requests count, too.",
             beyond_the_end=lambda n, ahead, size: sum(
                 (i + ahead) % 4 == 0 and 4 * (i + ahead) + size > 4 * n for i in range(n)),
             times_asked_for=lambda n, ahead, size: _asked(_allowed(n, ahead), size, 16)),
        slip("from number i on", "thread i asks from number i + ahead on.",
             ways=[{"not_allowed": lambda n: sum(i % 4 > 0 for i in range(n))},
                   {"beyond_the_end": lambda n, size: _late(n, 0, size)}, {"ahead": 0}]),
        slip("only where it begins", "it ends `size` bytes further on.",
             beyond_the_end=lambda n, ahead: _late(n, ahead, 4)),
        slip("one too many", "the last byte of the array may be asked for.",
             beyond_the_end=lambda n, ahead, size: _late(n, ahead, size + 4)),
        slip("size in numbers", "`size` counts bytes; a number has four.",
             beyond_the_end=lambda n, ahead, size: _late(n, ahead, 4 * size)),
        slip("ahead in bytes", "`ahead` counts numbers.",
             beyond_the_end=lambda n, ahead, size: sum(4 * i + ahead + size > 4 * n
                                                       for i in range(n))),
        slip("different bytes of the array", "the last request ends `size` bytes after its "
             "beginning.", times_asked_for=lambda size: size / 4),
        slip("upside down for times", "divide what is asked for by what is different.",
             times_asked_for=lambda n, size: 1 / _asked(n, size)),
        slip("nothing twice", "neighbours ask for bytes that overlap.", times_asked_for=1),
    ),
)  # fmt: skip


# ---- 16-table ------------------------------------------------------------------------------------
Row = Sequence[float]  # share of stalls, instructions a clock, milliseconds


def _rows(rng: random.Random) -> Case:
    stall, ipc, time = rng.uniform(0.2, 0.6), rng.uniform(0.8, 2.5), rng.uniform(0.5, 5)
    return {"before": [stall, ipc, time], "after": [stall * rng.uniform(0.4, 0.95), ipc
            * rng.uniform(0.9, 1.3), time * rng.uniform(0.75, 0.98)]}  # fmt: skip


ROW = Domain("three numbers above 0", ())
TABLE = table(
    "16-table", "Audit a table", 4,
    "A kernel was measured before and after a change. Each of `before` and `after` is a list: the "
    "share of all clocks in which it was stalled by memory, the instructions for each clock, and "
    "the milliseconds. The clock rate did not change. Return three values: the share of the time "
    "that is saved, instructions afterwards divided by instructions before, and the same for the "
    "time that is *not* stalled.",
    "audit(before, after)", lines=4,
    cases=lambda rng: [_rows(rng) for _ in range(5)],
    domain={"before": ROW, "after": ROW},
    example=([0.5, 2.0, 2.0], [0.5, 2.2, 1.5]),
    fixed=cases_of("before after",
        ([0.35, 1.5, 1.07], [0.20, 1.6, 1.00]), ([0.4, 1.0, 2.0], [0.1, 1.1, 1.5]),
        ([0.3, 2.2, 0.8], [0.25, 2.1, 0.6])),
    insight="In the book's table instructions fell by 0.3 %, and the time that is not stalled grew "
            "by 15 %.",
    answer={
        "saved": lambda before, after: 1 - after[2] / before[2],
        "instructions": lambda before, after: after[1] * after[2] / (before[1] * before[2]),
        "not stalled": lambda before, after:
            (1 - after[0]) * after[2] / ((1 - before[0]) * before[2]),
    },
    slips=(
        slip("speed-up for saving", "how many times as fast is one thing, the share of time that "
             "is saved another.", saved=lambda before, after: before[2] / after[2] - 1),
        slip("what is left", "the share that is saved, not what is left.",
             saved=lambda before, after: after[2] / before[2]),
        slip("instructions a clock for instructions", "instructions are the rate times the time.",
             instructions=lambda before, after: after[1] / before[1]),
        slip("instructions as time", "the rate changed, too.",
             instructions=lambda before, after: after[2] / before[2]),
        slip("before for each one after", "divide what is after by what is before.",
             ways=[{"instructions": lambda before, after:
                        before[1] * before[2] / (after[1] * after[2])},
                   {"not_stalled": lambda before, after:
                        (1 - before[0]) * before[2] / ((1 - after[0]) * after[2])}]),
        slip("clocks for instructions", "instructions are the rate times the time.",
             instructions=lambda before, after: after[2] / after[1] / (before[2] / before[1])),
        slip("stalled time", "the time that is *not* stalled: 1 less the share.",
             not_stalled=lambda before, after: after[0] * after[2] / (before[0] * before[2])),
        slip("shares for times", "the whole time changed, too.",
             not_stalled=lambda before, after: (1 - after[0]) / (1 - before[0])),
    ),
)  # fmt: skip

EXERCISES = (LISTING, ACCUMULATORS, PREFETCH, TABLE)

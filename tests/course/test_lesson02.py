"""Facts of lesson 02, its exercises and its sentences."""

from __future__ import annotations

import math
import random
import re
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import rooflab as rl
from rooflab.count import axpy, elementwise, gemv, pool2d
from rooflab.course.lesson02.exercises import smallest
from rooflab.course.lesson02.sentences import counted
from rooflab.exercises.guesses import question
from rooflab.exercises.registry import exercise
from rooflab.exercises.sentences import conclude
from rooflab.labs.golf import ChunkSweep, Golf
from rooflab.measure import caches
from rooflab.measure.measurement import Measurement
from rooflab.predict.catalogue import machine
from tests.course.machines import MACHINES, Simulated, unsaid
from tests.course.verdicts import refused
from tests.support.rows import each_row

SEEDS = [0, *range(40, 60)]


def other_lines(address, count, stride, itemsize, line):
    first, seen = None, 0
    for i in range(count):
        at = (address + i * stride * itemsize) // line
        seen, first = seen + (at != first), at
    return seen * line


OTHER_WAYS = {
    "02-numpy-bytes": lambda n, s: [(2 + 3) * n * s, axpy(n, {8: "fp64", 4: "fp32", 2: "fp16",
                                                               1: "fp8_e4m3"}[s]).bytes],
    "02-balance": lambda f, b, p, w: [
        b / f, 1 / (p / w), " Memory" if f / b < p / w else "COMPUTE"
    ],
    "02-claim-bias": lambda m, n, s: (sum(n for _ in range(m)), s * (m * n + n + m * n),
                                      Fraction(1, 2) / s),
    "02-claim-warm": lambda n, s, t, w, c: (
        24 * n * s / 8 / t, 3 * n * s / t / w,
        min((size, name) for name, size in [*c.items(), ("dram", math.inf)]
            if size >= 2 * n * s)[1],
    ),
    "02-pooling": lambda h, w, c, k, d: (
        (k * k - 1) * c * math.ceil((h - k + 1) / d) * math.ceil((w - k + 1) / d),
        4 * c * (h * w + math.ceil((h - k + 1) / d) * math.ceil((w - k + 1) / d)),
    ),
    "02-lines": other_lines,
}  # fmt: skip


def test_other_right_ways_are_accepted():
    assert not refused(OTHER_WAYS, SEEDS)


def test_the_formulas_are_those_of_the_ledger():
    for itemsize, dtype in {8: "fp64", 4: "fp32", 2: "fp16", 1: "fp8_e4m3"}.items():
        for m, n in ((1, 1), (3, 512), (4096, 40)):
            vectors = exercise("02-numpy-bytes").reference(n, itemsize)
            assert vectors[1] == axpy(n, dtype).bytes
            added = elementwise("add", (m, n), dtype, inputs={"x": (m, n), "b": (n,)})
            bias = exercise("02-claim-bias").reference(m, n, itemsize)
            assert bias[:2] == (added.flops, added.bytes)
    for h, w, c, k, stride in ((1, 1, 2, 1, 1), (57, 31, 16, 3, 2), (9, 12, 5, 3, 3)):
        pool = pool2d(1, h, w, c, k, "fp32", stride=stride)
        found = exercise("02-pooling").reference(h, w, c, k, stride)
        assert found == (pool.flops, pool.bytes)


def test_published_bytes():
    """40 and 24 bytes in fp64."""
    assert exercise("02-numpy-bytes").reference(1, 8) == (40, 24)


def test_a_bias_add_is_neither_axpy_nor_a_vector_add():
    """Bias add: s(2MN + N) bytes for MN FLOP, 0.12498 FLOP/byte at 4096² in fp32."""
    flops, nbytes, limit = exercise("02-claim-bias").reference(4096, 4096, 4)
    assert (flops, nbytes, limit) == (4096**2, 4 * (2 * 4096**2 + 4096), 1 / 8)
    assert flops / nbytes == pytest.approx(0.12498, abs=5e-6)
    assert limit not in (axpy(4096).intensity, axpy(4096).intensity / 2)


@given(st.integers(1, 5000), st.integers(1, 5000), st.sampled_from((1, 2, 4, 8)))
def test_the_intensity_of_a_bias_add_rises_with_the_rows_alone(m, n, itemsize):
    bias = exercise("02-claim-bias").reference
    flops, nbytes, limit = bias(m, n, itemsize)
    assert flops / nbytes < limit
    assert flops / nbytes == pytest.approx(m / ((2 * m + 1) * itemsize)), "whatever n is"


def test_published_balances():
    """An A100 with 2.0 TB/s and 19.5 TFLOP/s has about 0.10 B/F; a vector add asks 12."""
    asked, offered, limit = exercise("02-balance").reference(1, 12, 19.5e12, 2.0e12)
    assert (asked, limit) == (12, "memory") and offered == pytest.approx(0.1026, abs=1e-4)
    m = machine("a100-sxm-80")
    assert m.bandwidth() / m.peak("fp32") == pytest.approx(0.1046, abs=1e-4)


def test_published_pooling():
    """Three max-pools in fp32, by hand: comparisons of a window, 4 bytes a number in and out."""
    pooling = exercise("02-pooling").reference
    assert pooling(57, 57, 64, 2, 1) == (602_112, 1_634_560)
    assert pooling(58, 58, 64, 3, 1) == (1_605_632, 1_664_000)
    assert pooling(56, 56, 64, 2, 2) == (150_528, 1_003_520)
    assert pool2d(1, 57, 57, 64, 2, stride=1).intensity == pytest.approx(0.368, abs=5e-4)


def test_the_sizes_of_the_court_fit_the_cards_cache():
    """67.1 MB and 8 MB in 72 MB of L2; 32 MB of vectors stay there too, 96 do not."""
    l2 = machine("rtx-4090").capacities["l2"]
    assert l2 == 72 * 2**20 > gemv(4096, 4096).working_set > 67e6
    assert axpy(10**6).working_set == 8_000_000
    gpu, witness = {"l2": l2}, exercise("02-claim-warm").reference
    assert witness(4_000_000, 4, 48e6 / 2.9e12, 1.008e12, gpu)[1:] == (
        pytest.approx(2.877, abs=1e-3), "l2",
    )  # fmt: skip
    assert smallest(96_000_000, gpu) == "dram"


def test_every_level_is_on_trial():
    for seed in SEEDS:
        found = exercise("02-claim-warm")
        cases = found.draw(seed)
        levels = [found.reference(*case.values())[2] for case in cases]
        assert {"l1", "l2", "l3", "dram"} <= set(levels)
        faster = [c["bandwidth"] < 3 * c["n"] * c["itemsize"] / c["seconds"] for c in cases]
        slow = [level for level, above in zip(levels, faster, strict=True) if not above]
        assert sorted(slow) == ["dram", "l2", "l3"], "the memory, and slow loops on caches"


@given(
    st.integers(0, 10**6), st.integers(1, 300), st.integers(1, 100), st.sampled_from((1, 2, 4, 8)),
    st.sampled_from((32, 64, 128)),
)  # fmt: skip
def test_lines_lie_between_what_is_used_and_a_line_each(block, count, stride, itemsize, line):
    travelling = exercise("02-lines").reference
    moved = travelling(block * itemsize, count, stride, itemsize, line)
    assert count * itemsize <= moved <= count * line and moved % line == 0
    assert travelling(block * itemsize + line, count, stride, itemsize, line) == moved


def test_the_questions_have_room_on_both_sides():
    for id in ("02-expression", "02-out", "02-chunked", "02-warm"):
        asked = question(id)
        assert asked.low < 1 < 5 < asked.high and asked.text.endswith("?")


SOURCE = Path(__file__).parents[2] / "notebooks" / "source" / "02_bytes.py"
CALL = 3e-6  # seconds of a piece in Python: two calls and some slicing, made up


def numbers(sim: Simulated) -> int:
    """N of the lesson on this machine, from the lesson's own line."""
    (line,) = re.findall(r"^N = (.+)$", SOURCE.read_text("utf-8"), re.MULTILINE)
    return eval(line, {"largest": sim.last_level})


def beside(sim: Simulated, *times: float, dtype: str = "fp64") -> tuple[Measurement, ...]:
    """Programs that take so many ``times`` as long as AXPY in fp64, and AXPY in ``dtype``."""
    wide = rl.axpy(numbers(sim), "fp64")
    return (*(sim.clock(wide, share=0.9 / each) for each in times),
            sim.clock(rl.axpy(numbers(sim), dtype)))  # fmt: skip


def rows(*table: tuple[int, float, float]) -> ChunkSweep:
    """A sweep: pieces, bytes for each number, seconds; the last is all at once."""
    sizes, per, seconds = zip(*table, strict=True)
    n = sizes[-1]
    golfs = tuple(Golf(each * n, 24 * n, (), None, elements=n) for each in per)
    return ChunkSweep(sizes, golfs, seconds, n)


def swept(sim: Simulated, call: float = CALL, held: float = 1, odd: int = 0) -> ChunkSweep:
    """Chunk sizes of the lesson: 24 or 40 bytes a number over memory, and the calls.

    ``held``: share of the 40 bytes that really travel, less than 1 where a larger cache than golf
    was told of holds the products, more where fresh memory costs extra. The piece at ``odd``, if
    there is any, takes half as long again.
    """
    n, table = numbers(sim), []
    for size in [4**k for k in range(5, 16) if 4**k < n] + [n]:
        each = 24 if 8 * size <= sim.last_level // 4 else 40
        moved = n * (24 if each == 24 else max(24, 40 * held)) / sim.machine.bandwidth(mix="axpy")
        late = 1.5 if 0 < odd == len(table) else 1
        table.append((size, each, late * moved + -(-n // size) * call))
    return rows(*table)


def warm(sim: Simulated, times: float = 1) -> tuple[object, ...]:
    level = "cold" if sim.machine.kind == "gpu" else "warm"  # no bandwidth of its caches is known
    measured = sim.clock(rl.axpy(10_000, "fp64"), cache=level, share=0.9 / times)
    return rl.explain(measured, sim.machine), measured


def played(rng: random.Random) -> list[tuple[str, float, float]]:
    """Ways to play two holes, the worst first; the last two are of two holes."""
    ways = (("hole 1", 3), ("hole 1", rng.choice((1.67, 2.9))), ("hole 1", 1.6), ("hole 2", 1))
    return [(*way, way[1] * rng.uniform(0.5, 1.5)) for way in ways[-rng.choice((2, 4)) :]]


TRIALS = {
    "02-cache": lambda on, rng: (),
    "02-expression": lambda on, rng: beside(on, rng.uniform(1, 3)),
    "02-out": lambda on, rng: beside(on, rng.uniform(1.2, 4), rng.uniform(1.2, 4)),
    "02-pieces": lambda on, rng: (
        swept(on, rng.choice((1e-9, CALL)), rng.choice((0.6, 0.8, 1, 1.4, 2)), rng.randrange(9)),
        rng.choice(("numbers", "rows"))),
    "02-warm": lambda on, rng: warm(on, rng.choice((1, 1.2, 2, 4, 9)) * rng.uniform(0.7, 1.4)),
    "02-holes": lambda on, rng: (played(rng),),
    "02-types": lambda on, rng: beside(on, rng.uniform(0.6, 1.4), dtype="fp32"),
    "02-write-allocate": lambda on, rng: (
        *beside(on, rng.uniform(1.2, 4), rng.choice((1.2, 2, 3)) * rng.uniform(0.9, 1.1)),
        rng.randrange(4)),
}  # fmt: skip


LAPTOP, SMALL, XEON = (MACHINES[name] for name in ("hybrid laptop", "4 MB of L3", "300 MB of L3"))


@each_row(
    (480 << 20, "", "shown", "Your largest cache has 503 MB."),
    (480 << 20, "128M", "told", "134 MB, as `ROOFLAB_LAST_LEVEL` says; the system shows 503 MB."),
    (None, "128M", "told", "134 MB, as `ROOFLAB_LAST_LEVEL` says; the system shows none."),
    (None, "", "assumed", "33.6 MB, an assumption"),
)
def test_who_tells_of_the_largest_cache_is_said(l3, told, case, words, monkeypatch):
    monkeypatch.setenv(caches.TOLD, told)
    monkeypatch.setattr(caches, "system_sizes", lambda: (("l1", None), ("l3", l3)))
    assert not unsaid(conclude("02-cache"), case, [words])


@each_row(*MACHINES.values())
def test_the_vectors_of_the_lesson_fit_no_cache(sim):
    assert 16 * numbers(sim) >= 4 * sim.last_level * 0.999
    assert numbers(sim) >= 4_000_000 and 8 * numbers(sim) > sim.last_level


def test_the_bytes_of_the_expression_are_golfs():
    """40 and 24 bytes by hand: five trips of 8 bytes beside AXPY's three."""
    assert counted() == 40 / 24


@each_row(
    ("expression", beside(SMALL, 5 / 3), "as counted", ["the bytes say 1.67 times"], []),
    ("expression", beside(SMALL, 2), "more than the bytes", [], []),
    ("expression", beside(SMALL, 1.4), "less than the bytes", [], []),
    # A cause is named only where the clock shows it: five trips are 1.67, six are 2.
    ("out", beside(LAPTOP, 1.67, 1.67), "no difference", [], ["fetched", "fresh", "held a part"]),
    ("out", beside(LAPTOP, 2, 2), "no difference", ["fetched"], ["fresh", "held a part", "left"]),
    ("out", beside(LAPTOP, 2.7, 2), "helps", ["fetched", "fresh"], ["held a part", "unexplained"]),
    ("out", beside(LAPTOP, 2.5, 1.7), "helps", ["fresh"], ["fetched", "held a part"]),
    ("out", beside(LAPTOP, 1.3, 1.3), "no difference", ["held a part"], ["fetched", "fresh"]),
    ("out", beside(LAPTOP, 1.67, 2.2), "hurts", ["fetched"], ["fresh"]),
    # 4 times is 2 times what bytes and lines give.
    ("out", beside(LAPTOP, 4, 4), "no difference", ["×1.2; ×2 is left unexplained"], ["fresh"]),
    # Where a larger cache holds the products, the text does not blame them.
    ("pieces", [swept(XEON, held=0.6)], "calls decide", ["no smaller piece is faster"], []),
    ("pieces", [swept(SMALL), "rows"], "a valley", [" rows"], ["numbers"]),
    ("pieces", [swept(SMALL, call=1e-8)], "bytes decide", ["falls with the bytes"], []),
    ("pieces", [swept(SMALL, call=1e-8, held=0.6)], "flat", [], []),
    # 20 ms more for 9766 − 2442 more pieces are 2.73 µs each.
    ("pieces", [rows((1024, 24, 0.05), (4096, 24, 0.03), (65_536, 24, 0.04), (262_144, 24, 0.045),
                     (10_000_000, 40, 0.11))], "a valley, more than the bytes",
     ["factor of 1.67, the time by 3.67. Most of that is not the bytes.", "2.73 µs here",
      "Pieces of 65,536 and 262,144 numbers move as few bytes"], ["falls with the bytes"]),
    # A nearer cache may be all that the bytes do not say.
    ("pieces", [rows((8, 16, 0.03), (512, 16, 0.036), (19_531, 40, 0.07)), "rows"],
     "bytes decide, a nearer cache", ["Pieces of 512 rows move as few bytes"], ["fresh memory"]),
    ("pieces", [rows((1024, 24, 0.03), (4096, 24, 0.03), (9_999, 40, 0.037))], "bytes decide",
     ["too, but less than the bytes"], []),
    ("warm", warm(SMALL), "above the roof", ["hangs *above*"], []),
    ("warm", warm(MACHINES["M-series Mac"], 4), "below the roof", ["*below* the roof"], ["above"]),
    # A gain of less than a twentieth is not called better, and holes are not compared.
    ("holes", [[("1", 1.67, 0.03), ("1", 1, 0.0297)]], "not always", ["1, 1.00"], []),
    ("holes", [[("3", 1.5, 0.03), ("3", 1, 0.035), ("4", 0.5, 0.02)]], "not always",
     ["In 0 of 1 rows", "in these: 3, 1.00."], []),
    ("holes", [[("3", 1, 0.035), ("4", 0.5, 0.001)]], "nothing to compare", [], []),
    ("holes", [[("3", 1.5, 0.03), ("3", 1, 0.028)]], "in order", [], []),
    ("types", beside(LAPTOP, 1, dtype="fp32"), "half", [], []),
    ("types", beside(LAPTOP, 0.6, dtype="fp32"), "less", ["1.2 times"], []),
    ("types", beside(LAPTOP, 1.5, dtype="fp32"), "more", ["3 times"], []),
    # One new array makes six trips, as `out=` does; two make seven.
    ("write-allocate", [*beside(SMALL, 2.6, 1.5), 1], "fetching avoided, fresh memory",
     ["1.73 times", "1 new array at"], []),
    ("write-allocate", [*beside(SMALL, 3, 3), 1], "more than the trips", [], ["both cost"]),
    ("write-allocate", [*beside(SMALL, 3, 2), 1], "fresh memory", ["1.5 times as long"], []),
    ("write-allocate", [*beside(SMALL, 2, 2), 1], "the trips", ["6 trips, 2 times those"], []),
    ("write-allocate", [*beside(SMALL, 2.33, 2), 2], "the trips", ["7 trips, 2.33 times"], []),
    ("write-allocate", [*beside(SMALL, 1.4, 2), 1], "out= slower", ["1.43 times as fast"], []),
    ("write-allocate", [*beside(SMALL, 3.9, 2.8), 1], "fresh memory, more than the trips", [], []),
    ("write-allocate", [*beside(SMALL, 2.8, 3.9), 1], "more than the trips, out= slower", [], []),
)  # fmt: skip
def test_what_is_said_and_what_is_not(name, given, case, words, never):
    assert not unsaid(conclude(f"02-{name}", *given), case, words, never)

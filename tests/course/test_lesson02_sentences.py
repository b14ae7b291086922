"""The sentences of lesson 02: drawn on simulated machines, and facts that they must say."""

from __future__ import annotations

import random
import re
from pathlib import Path

import rooflab as rl
from rooflab.course.lesson02.sentences import counted
from rooflab.exercises.sentences import conclude
from rooflab.labs.golf import ChunkSweep, Golf
from rooflab.measure import caches
from rooflab.measure.measurement import Measurement
from tests.course.machines import MACHINES, Simulated, unsaid
from tests.support.rows import each_row

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
    assert numbers(sim) >= 10_000_000 and 8 * numbers(sim) > sim.last_level


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

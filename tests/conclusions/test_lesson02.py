"""Sentences of lesson 02 on simulated machines: each machine gets the one that is true of it."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

import rooflab as rl
from rooflab.conclusions import conclude
from rooflab.conclusions.lesson02 import counted
from rooflab.labs.golf import ChunkSweep, Golf
from rooflab.measure import caches
from rooflab.measure.measurement import Measurement
from tests.conclusions.machines import MACHINES, Simulated, faults
from tests.support.rows import each_row

SOURCE = Path(__file__).parents[2] / "notebooks" / "source" / "02_bytes.py"
CALL = 3e-6  # seconds of a piece in Python: two calls and some slicing, made up


def numbers(sim: Simulated) -> int:
    """N of the lesson on this machine, from the lesson's own line."""
    (line,) = re.findall(r"^N = (.+)$", SOURCE.read_text("utf-8"), re.MULTILINE)
    return eval(line, {"largest": sim.last_level})


def axpy(sim: Simulated) -> Measurement:
    return sim.clock(rl.axpy(numbers(sim), "fp64"))


def slower(measured: Measurement, factor: float) -> Measurement:
    return replace(measured, samples=tuple(factor * s for s in measured.samples))


def swept(sim: Simulated, call: float = CALL, held: float = 1.0) -> ChunkSweep:
    """Chunk sizes of the lesson: 24 or 40 bytes a number over memory, and the calls.

    ``held``: share of the 40 bytes that really travel, less than 1 where a larger cache than
    golf was told of holds the products.
    """
    n, bandwidth = numbers(sim), sim.machine.bandwidth(mix="axpy")
    sizes = [4**k for k in range(5, 16) if 4**k < n] + [n]
    per = [24 if 8 * size <= sim.last_level // 4 else 40 for size in sizes]
    seconds = [
        n * (24 if each == 24 else max(24, 40 * held)) / bandwidth + -(-n // size) * call
        for size, each in zip(sizes, per)
    ]
    golfs = tuple(Golf(each * n, 24 * n, (), None, elements=n) for each in per)
    return ChunkSweep(tuple(sizes), golfs, tuple(seconds), n)


def warm(sim: Simulated) -> tuple[object, ...]:
    level = "cold" if sim.machine.kind == "gpu" else "warm"  # no bandwidth of its caches is known
    measured = sim.clock(rl.axpy(10_000, "fp64"), cache=level)
    return rl.explain(measured, sim.machine), measured


def played(sim: Simulated) -> tuple[object, ...]:
    """Hole 1: copies, the expression, chunks; chunks of 4096 numbers pay a call each."""
    n, bandwidth = numbers(sim), sim.machine.bandwidth(mix="axpy")
    rows = [("hole 1", bytes_ / 24, n * bytes_ / bandwidth) for bytes_ in (72, 40)]
    return ([*rows, ("hole 1", 1.0, n * 24 / bandwidth + n / 4096 * CALL)],)


def types(sim: Simulated) -> tuple[object, ...]:
    n = numbers(sim)
    return tuple(sim.clock(rl.axpy(n, kind)) for kind in ("fp64", "fp32"))


EVERYWHERE = tuple(MACHINES)
# NumPy's line as a multiple of AXPY: fresh memory on Linux laptops, none to speak of on others
LINE = dict(zip(EVERYWHERE, (2.7, 2.25, 2.4, 1.3, 1.67), strict=True))
OUT = dict(zip(EVERYWHERE, (2.0, 2.0, 2.05, 1.45, 2.2), strict=True))
FRESH = dict(zip(EVERYWHERE, (1, 2, 1, 1, 2), strict=True))


def line(sim: Simulated) -> Measurement:
    return slower(axpy(sim), LINE[sim.name])


def out(sim: Simulated) -> Measurement:
    return slower(axpy(sim), OUT[sim.name])


def on(*cases: str) -> dict[str, str]:
    return dict(zip(EVERYWHERE, cases, strict=True))


TABLE = {
    "02-cache": (lambda sim: (), on(*["shown"] * 5)),
    "02-expression": (
        lambda sim: (line(sim), axpy(sim)),
        on(*["more than the bytes"] * 3, "less than the bytes", "as counted"),
    ),
    "02-out": (
        lambda sim: (line(sim), out(sim), axpy(sim)),
        on("helps", "no difference", "helps", "no difference", "hurts"),
    ),
    "02-pieces": (
        lambda sim: (swept(sim),),
        on("a valley", "a valley", "a valley", "a valley", "calls decide"),
    ),
    "02-warm": (warm, on(*["above the roof"] * 4, "at the roof")),
    "02-holes": (played, on("not always", "not always", "in order", "in order", "not always")),
    "02-types": (types, on(*["half"] * 5)),
    "02-write-allocate": (
        lambda sim: (line(sim), out(sim), axpy(sim), FRESH[sim.name]),
        on("fresh memory", "the trips", "fresh memory", "fetching avoided", "out= slower"),
    ),
}


@pytest.fixture(autouse=True)
def shown(monkeypatch: pytest.MonkeyPatch) -> None:
    """A system that shows an L3 of 503 316 480 bytes, and no environment variable beside it."""
    monkeypatch.delenv(caches.TOLD, raising=False)
    monkeypatch.setattr(
        caches, "system_sizes", lambda: (("l1", 32768), ("l2", None), ("l3", 480 << 20))
    )


def test_who_tells_of_the_largest_cache_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    assert conclude("02-cache").text == "Your largest cache has 503 MB."
    monkeypatch.setenv(caches.TOLD, "128M")
    found = conclude("02-cache")
    assert found.case == "told"
    assert "134 MB, as `ROOFLAB_LAST_LEVEL` says; the system shows 503 MB." in found.text
    monkeypatch.setattr(caches, "system_sizes", lambda: (("l1", None), ("l2", None), ("l3", None)))
    assert conclude("02-cache").case == "told" and "shows none" in conclude("02-cache").text
    monkeypatch.delenv(caches.TOLD)
    found = conclude("02-cache")
    assert found.case == "assumed" and "33.6 MB, an assumption" in found.text


def test_every_machine_gets_its_sentence():
    assert faults("02", TABLE) == []


@each_row(*MACHINES.values())
def test_the_vectors_of_the_lesson_fit_no_cache(sim) -> None:
    assert 16 * numbers(sim) >= 4 * sim.last_level * 0.999
    assert numbers(sim) >= 10_000_000 and 8 * numbers(sim) > sim.last_level


def test_where_a_larger_cache_holds_the_products_the_text_does_not_blame_them() -> None:
    found = conclude("02-pieces", swept(MACHINES["300 MB of L3"], held=0.6))
    assert found.case == "calls decide" and "no smaller piece is faster" in found.text


def test_cheap_calls_and_nothing_at_all_are_told_apart() -> None:
    sim = MACHINES["4 MB of L3"]
    assert conclude("02-pieces", swept(sim, call=1e-8)).case == "bytes decide"
    assert conclude("02-pieces", swept(sim, call=1e-8, held=0.6)).case == "flat"


def rows(*table: tuple[int, float, float]) -> ChunkSweep:
    """A sweep: pieces, bytes for each number, seconds; the last is all at once."""
    sizes, per, seconds = zip(*table, strict=True)
    n = sizes[-1]
    golfs = tuple(Golf(each * n, 24 * n, (), None, elements=n) for each in per)
    return ChunkSweep(sizes, golfs, seconds, n)


def test_pieces_of_equal_bytes_that_differ_in_time_are_named() -> None:
    table = rows(
        (1024, 24, 0.050), (4096, 24, 0.030), (65_536, 24, 0.040), (262_144, 24, 0.045),
        (10_000_000, 40, 0.110),
    )  # fmt: skip
    found = conclude("02-pieces", table)
    assert found.case == "a valley, more than the bytes"
    assert "factor of 1.67, the time by 3.67. Most of that is not the bytes." in found.text
    assert "Pieces of 65,536 and 262,144 numbers move as few bytes" in found.text
    assert "2.73 µs here" in found.text, "20 ms more for 9766 - 2442 more pieces"
    assert "falls with the bytes" not in found.text


def test_a_nearer_cache_may_be_all_that_the_bytes_do_not_say() -> None:
    found = conclude("02-pieces", rows((8, 16, 0.03), (512, 16, 0.036), (19_531, 40, 0.07)), "rows")
    assert found.case == "bytes decide, a nearer cache" and "fresh memory" not in found.text
    assert "Pieces of 512 rows move as few bytes" in found.text


def test_a_fall_as_the_bytes_say_is_put_down_to_them() -> None:
    found = conclude("02-pieces", rows((1024, 24, 0.03), (4096, 24, 0.03), (9_999, 40, 0.05)))
    assert found.case == "bytes decide" and "falls with the bytes" in found.text
    found = conclude("02-pieces", rows((1024, 24, 0.03), (4096, 24, 0.03), (9_999, 40, 0.037)))
    assert "too, but less than the bytes" in found.text


def test_a_gain_of_less_than_a_twentieth_is_not_called_better() -> None:
    found = conclude("02-holes", [("hole 1", 1.67, 0.0300), ("hole 1", 1.0, 0.0297)])
    assert found.case == "not always" and "hole 1, 1.00" in found.text


def test_pieces_counts_what_it_was_told_to_count() -> None:
    text = conclude("02-pieces", swept(MACHINES["4 MB of L3"]), "rows").text
    assert "numbers" not in text and " rows" in text


def test_a_short_call_below_the_roof_is_not_said_to_hang_above_it() -> None:
    sim = MACHINES["M-series Mac"]
    slow = slower(sim.clock(rl.axpy(10_000, "fp64"), cache="warm"), 4.0)
    found = conclude("02-warm", rl.explain(slow, sim.machine), slow)
    assert found.case == "below the roof" and "*below* the roof" in found.text


def test_a_hole_whose_time_does_not_follow_is_named() -> None:
    table = [("hole 3", 1.5, 0.030), ("hole 3", 1.0, 0.035), ("hole 4", 3.0, 0.001)]
    found = conclude("02-holes", table)
    assert found.case == "not always" and "hole 3, 1.00" in found.text and "0 of 1" in found.text
    assert conclude("02-holes", table[1:]).case == "nothing to compare", "holes are not compared"


@each_row((0.6, "less"), (1.5, "more"))
def test_types_that_do_not_halve_the_time_say_so(factor, case) -> None:
    sim = MACHINES["hybrid laptop"]
    wide, narrow = types(sim)
    assert conclude("02-types", slower(wide, factor), narrow).case == case


def test_the_bytes_of_the_expression_are_golfs() -> None:
    """40 and 24 bytes by hand: five trips of 8 bytes beside AXPY's three."""
    assert counted() == 40 / 24
    sim = MACHINES["4 MB of L3"]
    found = conclude("02-expression", slower(axpy(sim), 5 / 3), axpy(sim))
    assert found.case == "as counted" and "the bytes say 1.67 times" in found.text


def test_two_causes_are_both_said() -> None:
    sim = MACHINES["hybrid laptop"]
    found = conclude(
        "02-write-allocate", slower(axpy(sim), 2.6), slower(axpy(sim), 1.5), axpy(sim), 1
    )
    assert found.case == "fetching avoided and fresh memory"
    assert "1.73 times" in found.text, "2.6 ÷ 1.5: both make six trips"


@each_row(
    (3.0, 3.0, "more than the trips"), (2.0, 3.0, "fresh memory"), (2.0, 2.0, "the trips"),
    (1.2, 2.0, "fetching avoided and fresh memory"), (2.0, 1.4, "out= slower"),
    (2.79, 3.85, "fresh memory and more than the trips"),
    (3.85, 2.79, "more than the trips and out= slower"),
)  # fmt: skip
def test_times_beyond_the_trips_are_not_called_the_trips(two_calls, one_line, case) -> None:
    sim = MACHINES["4 MB of L3"]
    quick = axpy(sim)
    given = slower(quick, one_line), slower(quick, two_calls), quick
    assert conclude("02-write-allocate", *given, 1).case == case


def test_warnings_stand_below_the_sentence() -> None:
    sim = MACHINES["4 MB of L3"]
    noisy = replace(line(sim), warnings=("noisy: made up",))
    for name, given in {
        "02-expression": (noisy, axpy(sim)), "02-out": (noisy, out(sim), axpy(sim)),
        "02-types": (noisy, types(sim)[1]),
        "02-write-allocate": (noisy, out(sim), axpy(sim), 1),
        "02-warm": (warm(sim)[0], noisy),
    }.items():  # fmt: skip
        assert "noisy: made up" in conclude(name, *given).text, name


def test_a_cause_is_named_only_where_the_clock_shows_it() -> None:
    sim = MACHINES[EVERYWHERE[0]]
    quick = axpy(sim)
    for line_, out_, named in (
        (1.67, 1.67, ()), (2.0, 2.0, ("fetched lines",)), (2.7, 2.0, ("fetched lines", "fresh")),
        (2.5, 1.7, ("fresh",)), (1.3, 1.3, ("a cache held a part",)),
    ):  # fmt: skip
        text = conclude("02-out", slower(quick, line_), slower(quick, out_), quick).text
        for cause in ("fetched lines", "fresh", "a cache held a part"):
            assert (cause in text) == (cause in named), (line_, out_, cause)
        assert "left unexplained" not in text
    text = conclude("02-out", slower(quick, 4.0), slower(quick, 4.0), quick).text
    assert "×1.2; ×2 is left unexplained" in text, "4 times is 2 times what bytes and lines give"

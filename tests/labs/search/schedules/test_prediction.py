"""Predictions: bytes as the cache lab's formula and simulator have them, and what ranks what."""

from __future__ import annotations

import pytest

import rooflab as rl
from rooflab.labs.cache.formula import tile_ledger
from rooflab.labs.loops.nest import Nest
from rooflab.labs.search.schedules.prediction import (
    flops,
    ledger,
    misfit,
    padded,
    predicted,
    traffic,
)
from tests.labs.search.support.machines import ARM, NARROW, PLAIN, WIDE
from tests.support.rows import each_row


def gemm(n: int) -> Nest:
    return Nest({"i": n, "j": n, "k": n}, "C[i,j] += A[i,k]*B[k,j]")


def tiled(n: int, rows: int = 8, lanes: int = 32) -> Nest:
    made = gemm(n).split("i", rows).split("j", lanes).reorder("jo", "io", "k", "ii", "ji")
    return made.unroll("ii").vectorize("ji")


BIGGEST = rl.cache.Hierarchy(rl.cache.Cache("L1", 1 << 24))


def test_a_cache_for_all_reads_every_operand_once() -> None:
    # Three matrices of 4·96² bytes are read and one is written.
    assert ledger(gemm(96).stream(), BIGGEST)["dram"] == 4 * 4 * 96**2


@each_row(*range(4))
def test_bytes_are_those_of_the_formula(depth: int) -> None:
    # All boxes are whole lines here, so that counting lines changes nothing.
    stream = tiled(128).split("k", 16).reorder("ko", "jo", "io", "ki").stream()
    formula = sum(moved.bytes for moved in tile_ledger(stream, depth).values())
    assert traffic(stream, depth) == formula


@each_row(gemm, tiled, lambda n: gemm(n).reorder("i", "k", "j"))
def test_bytes_are_about_those_of_the_simulator(make: object) -> None:
    for n in (64, 96):
        stream = make(n).stream()
        caches = rl.cache.Hierarchy(rl.cache.Cache("L1", 8192, 8))
        simulated = rl.cache.simulate(stream, caches).bytes("L1")
        assert 0.5 < ledger(stream, caches)["dram"] / simulated < 2


def test_steps_of_a_power_of_two_cost_more_than_their_neighbours() -> None:
    each = {n: ledger(gemm(n).stream(), rl.cache.Hierarchy.like(PLAIN))["l3"] for n in (512, 520)}
    assert each[512] > 4 * each[520]
    packed = ledger(tiled(512).pack("B").stream(), rl.cache.Hierarchy.like(PLAIN))["l3"]
    assert packed < ledger(tiled(512).stream(), rl.cache.Hierarchy.like(PLAIN))["l3"]


def test_the_textbook_order_of_schedules() -> None:
    # Naive is slower than one with adjacent accesses, that than a register tile, that than a
    # register tile with a packed operand.
    nests = gemm(512), gemm(512).reorder("i", "k", "j"), tiled(512), tiled(512).pack("B")
    seconds = [predicted(nest, PLAIN, WIDE).seconds for nest in nests]
    assert seconds == sorted(seconds, reverse=True) and seconds[0] > 50 * seconds[-1]
    assert seconds[-1] > 2 * 512**3 / PLAIN.peak("fp32"), "none is faster than the peak"


def test_threads_count_for_a_parallel_schedule_only() -> None:
    two = rl.Machine(
        "two", kind="cpu", threads=2, peaks={"fp32": 512e9},
        bandwidths={level: 2 * PLAIN.bandwidth(level) for level in PLAIN.levels},
        capacities=PLAIN.capacities,
    )  # fmt: skip
    one = predicted(tiled(256), PLAIN, WIDE).seconds
    assert predicted(tiled(256), two, WIDE).seconds == pytest.approx(one)
    assert predicted(tiled(256).parallel("jo"), two, WIDE).seconds == pytest.approx(one / 2)


def test_operations_are_counted() -> None:
    assert flops(gemm(10)) == 2000
    assert flops(Nest({"i": 5}, "C[i] = A[i]*B[i] + 1; D[i] += sqrt(C[i])")) == 5 * 2 + 5 * 2
    two = Nest({"i": 5, "j": 3}, "C[i] += A[i]; D[i,j] = B[i,j]*2", order="nests")
    assert flops(two) == 5 + 15


@each_row(
    ("y[i] = -x[i]", {"i": 4}, rl.elementwise("neg", 4).flops),
    ("y[i] = max(x[i], 0)", {"i": 4}, rl.elementwise("relu", 4).flops),
    ("y[i] = -2*x[i]", {"i": 4}, 4),
    ("y[i] = max(y[i], a[i,j])", {"i": 8, "j": 5}, 8 * 4),
    ("y[i+j] = min(y[i+j], a[i]*b[j])", {"i": 3, "j": 4}, 2 * 12 - 6),
    ("y[i] += exp(x[i])*a[i]", {"i": 4}, 3 * 4),
)
def test_a_nest_and_an_operator_have_the_flop_of_count(text, extents, counted) -> None:
    assert flops(Nest(extents, text)) == rl.search.operator(text, extents).flops == counted


def test_pooling_compares_one_less_than_a_window_holds() -> None:
    pool = rl.search.operators.max_pool(1, 8, 8, 4, 2)
    assert flops(pool.nest()) == pool.flops == rl.pool2d(1, 8, 8, 4, 2).flops == 192
    shifted = Nest({"i": (2, 10), "j": (1, 6)}, "y[i] = max(y[i], a[i,j])")
    assert flops(shifted) == 8 * 4


def test_a_split_that_does_not_divide_is_predicted_as_if_it_did() -> None:
    nest = tiled(100)
    whole = padded(nest)
    assert whole.extents == {"i": (0, 104), "j": (0, 128), "k": (0, 100)}
    assert whole.loops == nest.loops
    assert padded(gemm(100)) is not None and padded(gemm(100)).extents == gemm(100).extents
    assert predicted(nest, PLAIN, WIDE).flops == 2 * 100**3


def test_tiles_beyond_the_registers_are_refused() -> None:
    assert not misfit(tiled(64, 8, 32), WIDE)  # 16 sums
    assert misfit(tiled(64, 16, 32), WIDE).startswith("32 vectors of sums do not fit")
    assert misfit(tiled(64, 8, 32), NARROW) and not misfit(tiled(64, 4, 16), NARROW)
    assert not misfit(tiled(64, 6, 16), ARM)  # 24 of 32 registers
    long = tiled(64, 8, 32).split("k", 8).reorder("ki", "ii", "ji").unroll("ki")
    assert "in one turn" in misfit(long, WIDE)

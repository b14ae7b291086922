"""A published simulation: 4.0 bytes per FLOP before tiling a product of 100×100, 0.04 after.

Both numbers are right for elements of 2 bytes, and tiling has no part in them.
"""

from __future__ import annotations

import pytest

import rooflab as rl
from rooflab.labs.cache import Cache, gemm_stream, simulate
from tests.support.rows import each_row

N = 100
FLOPS = 2 * N**3


def test_before_without_a_cache():
    """A load of A, of B and of C, and a store of C, for every multiply-add."""
    stream = gemm_stream(N, N, N, "bf16", c="memory")
    assert sum(stream.requested.values()) / FLOPS == 4.0
    fp32 = gemm_stream(N, N, N, "fp32", c="register")
    assert (fp32.requested["A"] + fp32.requested["B"]) / FLOPS == 4.0


@each_row(None, 25)
@each_row(64 << 10, 512 << 10)
def test_after_with_a_cache_and_no_tiles(capacity: int, tile: int | None) -> None:
    """Each matrix once: 313 lines of each read, and those of C written."""
    op = rl.gemm(N, N, N, "bf16")
    ledger = simulate(gemm_stream(N, N, N, "bf16", tile), Cache("L2", capacity))
    assert ledger.bytes() == 4 * 313 * 64 == 80_128
    assert ledger.bytes_per_flop(op) == pytest.approx(0.0401, abs=5e-5)


def test_without_tiles_half_of_the_matrices_is_room_enough():
    """B and a row of A and C: 32 KiB hold them, and tiles of 25 only do harm there."""
    op = rl.gemm(N, N, N, "bf16")
    small = Cache("L1", 32 << 10)
    assert simulate(gemm_stream(N, N, N, "bf16"), small).bytes() == 80_128
    tiled = simulate(gemm_stream(N, N, N, "bf16", 25), small)
    assert tiled.bytes_per_flop(op) == pytest.approx(0.0563, abs=5e-5)


def test_the_published_model_of_the_program():
    """Three inclusive levels; C is touched once before the tiles along k, and written after."""
    stream = gemm_stream(N, N, N, "bf16", 25, order="kij", c="tile")
    levels = Cache("L1", 32 << 10), Cache("L2", 512 << 10), Cache("L3", 8 << 20)
    ledger = simulate(stream, rl.cache.Hierarchy(*levels, inclusive=True))
    assert ledger.traffic("L3").bytes_in == 60_096
    assert ledger.traffic("L3").bytes_out == 20_032


TILES = (None, 10, 20, 25, 50)
TABLE = [  # capacity in KiB, bytes per FLOP for each tile
    (4, (33.93, 0.530, 0.480, 0.358, 1.696)),
    (8, (1.034, 0.530, 0.199, 0.357, 0.832)),
    (16, (1.034, 0.138, 0.098, 0.150, 0.128)),
    (32, (0.0401, 0.0401, 0.0543, 0.0563, 0.0569)),
]


@each_row(*[(capacity, *pair) for capacity, values in TABLE for pair in zip(TILES, values)])
def test_where_tiling_pays(capacity: int, tile: int | None, expected: float) -> None:
    """One level, fully associative; another simulator found these numbers."""
    ledger = simulate(gemm_stream(N, N, N, "bf16", tile), Cache("L1", capacity << 10))
    found = ledger.bytes_per_flop(rl.gemm(N, N, N, "bf16"))
    assert found == pytest.approx(expected, rel=2e-3, abs=6e-4)


def test_lines_make_a_tiny_cache_worse_than_none():
    """A line of 64 bytes for 2 that are used: without lines it is 1.03 instead of 33.9."""
    stream = gemm_stream(N, N, N, "bf16")
    op = rl.gemm(N, N, N, "bf16")
    assert simulate(stream, Cache("L1", 4096)).bytes_per_flop(op) > 33
    words = simulate(stream, Cache("L1", 512, line=2))
    assert words.bytes_per_flop(op) == pytest.approx(1.03, abs=0.005)

"""Facts of lesson 14: fragments, tiles, pipelines, waves, the order of tiles, and its pictures."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

import rooflab as rl
from rooflab.course.lesson14.exercises import GROUP, KERNEL_7
from rooflab.labs.cuda.fragments_picture import LANES, NUMBERS, SHAPES, holders, place
from rooflab.labs.cuda.kernels import source_of
from rooflab.labs.cuda.order_picture import ORDERS, WAVES, tiles
from rooflab.labs.cuda.pipeline_picture import schedule
from rooflab.labs.cuda.waves_picture import COLUMNS, TILES, tile_seconds, wave_seconds
from rooflab.predict.catalogue import tables
from tests.course.verdicts import answer

H100 = rl.cuda.staircase("h100")


def test_each_number_of_a_fragment_lies_in_one_register_of_one_lane():
    for operand, (rows, columns) in SHAPES.items():
        cells = {place(operand, lane, n): (lane, n)
                 for lane in range(LANES) for n in range(NUMBERS[operand])}  # fmt: skip
        assert len(cells) == rows * columns == LANES * NUMBERS[operand]
        for (row, column), held in cells.items():
            assert answer("14-fragment")(operand, row, column) == held


def test_the_kernel_writes_its_sums_where_the_fragment_says():
    """hgemm_mma.cu: row lane / 4 + 8 * half, column lane % 4 * 2, two sums at once."""
    source = source_of("hgemm_mma")
    row, column = (
        re.search(rf"int {name} = .* (lane [^;]*);", source)[1] for name in ("row", "col")
    )
    for lane in range(LANES):
        for half in range(2):
            scope = {"lane": lane, "half": half}
            at = [eval(text.replace("/", "//"), {}, scope) for text in (row, column)]
            assert [place("C", lane, 2 * half + n) for n in range(2)] == [
                (at[0], at[1]), (at[0], at[1] + 1)]  # fmt: skip


def test_fragments_multiply_like_matrices():
    """Each lane's sums, from numbers that only the lanes in ``holders`` hold, are those of A·B."""
    a, b = (np.random.default_rng(14).normal(size=SHAPES[name]) for name in "AB")
    for lane in range(LANES):
        known = {"A": np.full(a.shape, np.nan), "B": np.full(b.shape, np.nan)}
        for other in holders(lane):
            for name, matrix in (("A", a), ("B", b)):
                for n in range(NUMBERS[name]):
                    known[name][place(name, other, n)] = matrix[place(name, other, n)]
        c = known["A"] @ known["B"]
        for n in range(NUMBERS["C"]):
            cell = place("C", lane, n)
            assert c[cell] == pytest.approx((a @ b)[cell])


def test_no_tile_of_256_by_256_fits_on_an_h100_and_kernel_5_does():
    choose = answer("14-budget")
    for threads in (128, 256, 384, 512, 1024):
        assert choose([[256, 256, 32, 1, threads]], 8e14) == (-1, 0)
    assert choose([[128, 256, 64, 3, 128]], 8e14) == (-1, 0)  # kernel 4: spills
    assert choose([[128, 256, 64, 3, 256]], 8e14)[0] == 0


def test_the_books_table_needs_61_terabytes_a_second():
    b, needed = answer("14-claim-table")(4096, 2, 16, 0.98 * 989.4e12)
    l2 = math.prod(H100.machine[name] for name in ("l2_bytes_per_clock", "sms", "clock_hz"))
    assert (b, round(needed / 1e12)) == (32, 61) and 6 < needed / l2 < 6.5


def test_two_buffers_are_bounded_by_two_and_follow_the_published_formula():
    """T (l + c) against l + (T - 1) max(l, c) + c: 1.60, 1.88, 1.97 for 4, 16, 64 tiles."""
    play = answer("14-pipeline")
    gains = [play(n, 1, 1.0, 1.0, 1) / play(n, 2, 1.0, 1.0, 1) for n in (1, 4, 16, 64)]
    assert [round(gain, 2) for gain in gains] == [1.0, 1.6, 1.88, 1.97]
    for copy in (0.3, 1.0, 3.0):
        two = copy + 99 * max(copy, 1.0) + 1.0
        assert play(100, 2, copy, 1.0, 1) == pytest.approx(two)
        assert play(100, 7, copy, 1.0, 1) == pytest.approx(two)  # a third buffer is of no use
    for stages, at_once in ((1, 1), (2, 3), (4, 4)):
        ends = [end for *_, end in schedule(9, stages, 2.5, 1.0, at_once)]
        assert ends[-1] == play(9, stages, 2.5, 1.0, at_once)


def test_one_row_more_by_counting_and_as_published():
    assert [wave_seconds(m, 4096, TILES[0])[0] for m in (1024, 1025)] == [128, 144]
    assert wave_seconds(1025, 4096, (192, 192))[0] == 132
    assert [wave_seconds(m, 5120, (256, 160))[0] for m in (1024, 1025)] == [128, 160]  # guessed
    assert len({wave_seconds(m, 5120, TILES[0])[1] for m in (1024, 1025)}) == 1  # no more waves
    assert tile_seconds((128, 128)) * 3 == pytest.approx(tile_seconds((128, 256)) * 2)
    more = tables("labs.cuda", "waves")["one_row_more"]
    assert (more["pairs"], more["median"], more["most"]) == (483, 1.04, 1.79)
    gains = [(times := rl.cuda.library_times(n))[1025] / times[1024] for n in COLUMNS]
    assert [round(gain, 2) for gain in gains] == [1.01, 1.57]
    for columns in COLUMNS:  # no row is faster than the peak
        for rows, seconds in rl.cuda.library_times(columns).items():
            assert 2 * rows * columns * 4096 / seconds < rl.machine("h100-sxm").peak("bf16")
    with pytest.raises(ValueError, match="columns=4095"):
        rl.cuda.library_times(4095)


def test_kernel_7_reads_twice_as_much_and_that_does_not_explain_what_it_lost():
    once, size = answer("14-order"), (16, 128, 256, 4096)
    assert (tiles("kernel 7", 0), tiles("kernel 8", 0)) == (KERNEL_7, GROUP)
    assert once(KERNEL_7, *size) == 2 * once(GROUP, *size) == 2 * 4096 * 4096 * 2
    total = {}
    for order in ORDERS:
        waves = [tiles(order, wave) for wave in range(WAVES)]
        assert sorted(sum(waves, [])) == [*range(512)], order
        total[order] = sum(once(wave, *size) for wave in waves)
    slow, fast = (2 * 4096**3 / rung.published for rung in H100.rungs[6:8])
    assert [round(total[order] / 1e6) for order in ("kernel 7", "kernel 8")] == [240, 134]
    seven, eight = (rung.flop_per_s for rung in H100.rungs[6:8])
    assert abs(eight / seven - 1) < 0.002 and slow - fast > 130e-6


def test_every_state_of_the_pictures_has_its_sentence():
    pipeline, waves = rl.cuda.pipeline(), rl.cuda.waves()
    pipeline.copy, pipeline.stages, pipeline.together = 3.0, 4, 4
    assert "8 tiles take 11 units of time instead of 32, 2.91 times as fast" in pipeline.sentence
    waves.columns, waves.rows, waves.tile = 5120, 2304, "128x128"
    assert waves.sentence.startswith("2,304 rows: 720 tiles, 6 waves; in the last one 60 of 132")
    order = rl.cuda.order()
    order.order, order.wave = "kernel 8", 2
    assert order.sentence.endswith("need 33.6 MB of A and B; all four waves need 134 MB.")

"""Facts of lesson 15: what clusters save, who receives what, how many fit, what was published."""

from __future__ import annotations

import re
from math import prod
from pathlib import Path

import numpy as np
import pytest

import rooflab as rl
from rooflab.labs.cuda.cluster_picture import SHAPES, TILES
from rooflab.labs.cuda.compiler import compile, nvidia_file
from rooflab.labs.cuda.cubin import sass
from rooflab.labs.cuda.kernels import source_of
from tests.course.verdicts import answer
from tests.support.scene_texts import faults
from tests.support.scenes import named, some_states


def test_the_savings_are_those_of_the_ledger():
    """2ab ÷ (a + b): 2, 1.6, 2.67, 4, 3.2 and 1.88 for square tiles; a square saves its side."""
    known = {(2, 2): 2, (1, 4): 1.6, (2, 4): 8 / 3, (4, 4): 4, (2, 8): 3.2, (1, 16): 32 / 17}
    for shape, saving in known.items():
        assert rl.cuda.cluster_saving(*shape) == pytest.approx(saving)
        assert answer("15-claim-four")(*shape, 64, 64)[0] == pytest.approx(saving)
    assert [rl.cuda.cluster_saving(n, n, (128, 256)) for n in (1, 3, 7)] == [1, 3, 7]
    assert rl.cuda.cluster_saving(8, 2, (64, 256)) == 5, "more than 4 with 16 blocks"
    with pytest.raises(ValueError, match="a=0"):
        rl.cuda.cluster_saving(0, 2)


def test_a_cluster_saves_at_most_as_the_larger_tile_that_it_is():
    """A cluster fetches what one block with a tile of its size would fetch."""
    count = answer("15-cluster")
    for a, b in SHAPES:
        together = count(4096, 8192, 512, [128, 128], [a, b], 2)
        assert together == count(4096, 8192, 512, [128 * a, 128 * b], [1, 1], 2)
        alone = count(4096, 8192, 512, [128, 128], [1, 1], 2)
        assert sum(alone) / sum(together) == pytest.approx(rl.cuda.cluster_saving(a, b))


def test_the_masks_cover_the_cluster_and_meet_in_one_block():
    for a, b in ((2, 2), (2, 4), (3, 5), (1, 16), (16, 1)):
        for rank in range(a * b):
            for_a, for_b = answer("15-mask")(rank, a, b)
            assert for_a & for_b == 1 << rank
            assert (for_a.bit_count(), for_b.bit_count()) == (b, a)
    (mask,) = re.findall(r"&arrived, (\d+)\)", source_of("sgemm_multicast"))
    assert {answer("15-mask")(rank, 1, 2)[0] for rank in (0, 1)} == {int(mask)}


def test_clusters_of_eight_reach_120_sms_and_full_groups_say_112():
    """Of 132 SMs: measured on an H100, and counted by CUTLASS (NVIDIA/cutlass#1921)."""
    groups = [18, 18, 18, 16, 16, 16, 16, 14]
    assert sum(groups) == 132 and 8 * sum(one // 8 for one in groups) == 120
    assert (132 // 18) * (18 // 8 * 8) == 7 * 16 == 112
    best = answer("15-shape")
    assert best(16, 8, [128, 256], groups, 8, 2e-5, 3e-5)[:2] == (2, 1)  # pairs, as on the H100
    assert best(16, 8, [128, 256], [16] * 8, 8, 2e-5, 4e-5)[:2] == (2, 2)  # the decision flips
    assert best(16, 8, [128, 256], groups, 8, 2e-5, 2e-5)[:2] == (1, 1)  # nothing to gain


def test_the_published_pair_gains_4_3_per_cent_where_7_4_were_predicted():
    before, pair = rl.cuda.staircase("h100").rungs[8:10]
    assert pair.title.startswith("cluster of two")
    assert pair.published / before.published == pytest.approx(1.043, abs=5e-4)
    assert pair.flop_per_s / before.flop_per_s == pytest.approx(1.074, abs=5e-4)
    assert (before.predict().limit, pair.predict().limit) == ("l2", "compute")
    assert rl.cuda.cluster_saving(2, 1, pair.numbers["tile"][:2]) == 1.5
    source = Path(__file__).parents[2] / "notebooks/source/15_clusters.py"
    assert str(pair.numbers["tile"][1]) in source.read_text("utf-8")


def test_a_multicast_is_one_instruction():
    if nvidia_file("lib/libnvrtc.so.*") is None or nvidia_file("bin/nvdisasm") is None:
        pytest.skip("NVIDIA's compiler is not installed")
    lines = sass(compile("sgemm_multicast", "sm_90a")).lines
    copies = [line.split()[0] for line in lines if line.startswith("UBLKCP")]
    assert copies == ["UBLKCP.S.G.MULTICAST", "UBLKCP.S.G"]


def test_the_picture_paints_and_says_what_is_counted():
    picture = rl.cuda.cluster()
    assert len(picture.scenes) + len(picture.numbers) * 4 / 3 < 100_000
    for scene in picture.sheets:
        for state in some_states(scene, most=10):
            assert faults(scene, **state)[0] == [], (scene.width, state)
            a, b = map(int, state["shape"].split("x"))
            tile = next(one for one in TILES if state["tile"] == f"{one[0]}x{one[1]}")
            bars = [scene.value(mark, "box", **state)[2] for mark in named(scene, "bar")
                    if mark.kind == "rect"]  # fmt: skip
            saving = rl.cuda.cluster_saving(a, b, tile)
            assert bars[0] / bars[1] == pytest.approx(a * b / saving), state
            _, _, wide, high = scene.value(named(scene, "cluster")[0], "box", **state)
            whole = next(mark for mark in named(scene, "C") if mark.kind == "rect")
            every = scene.value(whole, "box", **state)
            assert wide * high / prod(every[2:]) == pytest.approx(a * b / 256)
            painted = [np.reshape(scene.value(named(scene, name)[0], "points", **state), (-1, 2))
                       for name in ("rows", "columns")]  # fmt: skip
            shares = (
                np.ptp(painted[0][[0, 3], 1]) / every[3],
                np.ptp(painted[1][[0, 3], 0]) / every[2],
            )
            assert shares == pytest.approx((a / 16, b / 16))

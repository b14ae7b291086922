"""Facts of lesson 13: sectors, banks and tiles by formula, and the figures of its text."""

from __future__ import annotations

import math

import numpy as np

import rooflab as rl
from tests.course.verdicts import answer


def test_the_rungs_move_what_formulas_say():
    """Naive: 33 sectors a warp and step; coalesced 5; tiles 2·N³/T numbers, 8 to a sector."""
    n, rungs = 64, rl.cuda.rungs()
    warps = n * n // 32
    sectors = {name: rung.run(n).global_loads.sectors for name, rung in rungs.items()}
    assert sectors["naive"] == 33 * n * warps and sectors["coalesced"] == 5 * n * warps
    for name in ("shared", "registers"):
        assert sectors[name] == 2 * n**3 // rungs[name].tile // 8
    for name, rung in rungs.items():
        run = rung.run(n)
        assert run.flops == 2 * n**3 and run.shared.conflicts == 0, name
    turns = {name: rungs[name].run(n).shared.wavefronts for name in ("shared", "registers")}
    reads = {"shared": 2 * n * warps, "registers": 16 * n * warps // 64}
    stores = {name: 2 * n**3 // rungs[name].tile // 32 for name in turns}
    assert turns == {name: reads[name] + stores[name] for name in turns}


def test_the_rungs_multiply():
    a, b = np.random.default_rng(5).uniform(-1, 1, (2, 64, 64)).astype(np.float32)
    for rung in rl.cuda.rungs().values():
        c = np.full_like(a, np.nan)
        rl.cuda.launch(rung.source, (64 // rung.tile,) * 2, rung.block, a, b, c, 64)
        assert np.allclose(c, a @ b, atol=1e-4), rung.name


def test_the_exercises_agree_with_the_emulator_and_the_compiler():
    """Sectors of a strided read; turns of a column: gcd(length, 32); blocks as NVIDIA counts."""
    kernel = "def read(A, B, s, f):\n    B[cuda.threadIdx.x] = A[f + cuda.threadIdx.x * s]"
    for stride in (1, 2, 3, 8, 9):
        for first in (0, 1, 5):
            a, b = np.zeros(400, np.float32), np.zeros(32, np.float32)
            run = rl.cuda.launch(kernel, 1, 32, a, b, stride, first)
            assert answer("13-sectors")(4 * first, stride, 4) == run.arrays["A"].loads.sectors
    for length in range(1, 70):
        assert answer("13-turns")([lane * length for lane in range(32)]) == math.gcd(length, 32)
    for threads in (64, 256, 1024):
        for registers in (24, 40, 60, 128):
            for shared in (0, 8192, 50_000):
                if registers * threads <= 65_536:
                    blocks = rl.cuda.occupancy(registers, shared, threads, "sm_90").blocks
                    assert answer("13-occupancy")(threads, registers, shared) == blocks


def test_an_a6000_needs_8_by_8_and_the_text_its_figures():
    assert answer("13-registers")(128, 128) == (8, 2.0)
    stairs = rl.cuda.staircase("a6000").rungs
    assert round(stairs[-1].published / stairs[0].published) == 70
    rungs = {name: rung.run() for name, rung in rl.cuda.rungs().items()}
    assert rungs["coalesced"].global_loads.sectors == 20 * rungs["shared"].global_loads.sectors
    turns = rungs["shared"].shared.wavefronts / rungs["registers"].shared.wavefronts
    assert round(turns, 1) == 7.3
    warps = [rung.numbers["resident"] * rung.numbers["threads"] // 32 for rung in stairs]
    assert (round(100 * warps[2] / 48), round(100 * warps[9] / 48)) == (67, 25)  # occupancies
    assert round(stairs[2].published / stairs[1].published, 1) == 1.5


def test_the_picture_of_the_stairs_says_what_was_published():
    picture = rl.cuda.stairs("h100")
    picture.kernel = 3
    assert picture.sentence.startswith(
        "4, tile 128 x 256, one consumer: 123 TFLOP/s published, 365"
    )
    rows = rl.cuda.summary("sgemm_float4").rows
    assert rows["sgemm_float4"].loop["FFMA"] == 16 * rows["sgemm_float4"].loop["LDS.128"]

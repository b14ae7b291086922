"""Facts of lesson 16: hot loops as compiled, registers, a prefetch, a table, hints in PTX."""

from __future__ import annotations

import importlib
from collections import Counter
from unittest.mock import Mock

import numpy as np
import pytest

import rooflab as rl
from rooflab.labs.cuda import listing_picture
from rooflab.labs.cuda.compiler import CompilationError, compile, nvidia_file
from rooflab.labs.cuda.cubin import sass
from rooflab.predict.catalogue import tables
from tests.course.verdicts import answer
from tests.support.scene_texts import faults
from tests.support.scenes import named

needs_compiler = pytest.mark.skipif(
    nvidia_file("lib/libnvrtc.so.*") is None or nvidia_file("bin/nvdisasm") is None,
    reason="nvidia-cuda-nvrtc or nvidia-cuda-nvdisasm is not installed",
)
HEAD = 'extern "C" __global__ void k(const float* x, float* y, float a) { int i = threadIdx.x; '
LOAD = 'asm volatile("{} %0, [%1];" : "=f"({}) : "l"(x + i + {}));'


def compiled(body: str, arch: str = "sm_90a") -> list[str]:
    """The instructions of a small kernel, with what stands after their points."""
    return [line.split()[0] for line in sass(compile(f"{HEAD}{body}}}", arch)).lines]


def load(words: str) -> str:
    return f"float v; {LOAD.format(words, 'v', 0)} y[i] = v;"


def test_the_recorded_loops_have_the_counts_of_the_summary():
    summary = tables("labs.cuda", "summary")
    for name in listing_picture.KERNELS:
        counts, row = Counter(rl.cuda.loop_kinds(name)), summary[name]["loop"]
        for letter, word in (("f", "FFMA"), ("s", "LDS"), ("m", "LDG")):
            assert counts[letter] == sum(n for key, n in row.items() if key.split(".")[0] == word)
    shares = [100 * kinds.count("f") / len(kinds)
              for kinds in map(rl.cuda.loop_kinds, listing_picture.KERNELS)]  # fmt: skip
    assert np.round(shares).tolist() == [34, 69, 89]
    loop = summary["sgemm_shared"]["loop"]  # shared memory: a load a clock, four FFMA
    assert loop["FFMA"] / 4 / (loop["LDS"] + loop["LDS.128"]) == 0.2 < shares[0] / 100
    with pytest.raises(ValueError, match="name='sgemm'"):
        rl.cuda.loop_kinds("sgemm")


def test_without_the_compiler_what_was_recorded_is_shown(monkeypatch):
    missing = Mock(side_effect=ModuleNotFoundError)
    monkeypatch.setattr(importlib.import_module("rooflab.labs.cuda.summary"), "compile", missing)
    shared = str(tables("labs.cuda", "summary")["sgemm_float4"]["shared"])
    assert {"(recorded:", shared} <= {*repr(rl.cuda.summary("sgemm_float4")).split()}


@needs_compiler
def test_the_exercise_reads_what_the_compiler_writes():
    for name, moved in (("sgemm_shared", 32 * 4 + 8 * 16), ("sgemm_float4", 32 * 16)):
        code = sass(compile(name, "sm_90a"))
        ratio = code.loop["FFMA"] / sum(code.loop.get(word, 0) for word in ("LDS", "LDS.128"))
        assert answer("16-listing")([*code.lines]) == (ratio, moved)


def test_a_tile_of_128_by_256_takes_two_warpgroups_as_published():
    """168 registers a thread, printed for two consumers; 65,536 of a block are not exceeded."""
    share = answer("16-accumulators")
    assert share(128, 256, 40, 168) == (2, 3 * 128 * 168)
    assert share(128, 128, 40, 24)[0] == 1 and share(256, 256, 40, 24) == (0, 0)
    titles = {rung.title: rung.published for rung in rl.cuda.staircase("h100").rungs}
    assert titles["tile 128 x 256, one consumer"] == 123e12
    assert titles["producer and consumer"] == 498e12 and titles["two consumers"] == 610e12


def test_a_warp_asks_for_252_bytes_sixteen_times_on_average():
    """Three of four addresses are not allowed; the last 63 threads reach beyond the end."""
    assert answer("16-claim-prefetch")(32, 32, 128)[2] == 4096 / 252
    for n in (1024, 4096):
        assert answer("16-claim-prefetch")(n, 32, 128)[:2] == (3 * n // 4, 63)


def test_the_table_saves_6_5_per_cent_with_as_many_instructions():
    saved, instructions, rest = answer("16-table")([0.35, 1.5, 1.07], [0.20, 1.6, 1.00])
    assert (saved, instructions, rest) == pytest.approx((0.0654, 0.9969, 1.1503), abs=1e-4)


@needs_compiler
def test_hints_of_ptx_are_documented_words_and_become_sass():
    words = "ld.global.nc.L1::no_allocate.L2::256B.f32"
    assert "LDG.E.NA.LTC256B.CONSTANT" in compiled(load(words))
    assert "LDG.E.NA.LTC128B.CONSTANT" in compiled(load(words), "sm_80")
    with pytest.raises(CompilationError, match="Unknown modifier"):
        compiled(load(words.lower()))
    by_hand = compiled(load("ld.global.cg.f32"))
    assert by_hand == compiled("y[i] = __ldcg(x + i);") and "LDG.E.STRONG.GPU" in by_hand


@needs_compiler
def test_the_assembler_orders_loads_and_uses_not_the_author():
    body = (f"float u, v; {LOAD.format('ld.global.f32', 'u', 0)} float s = a * u + 1.0f;"
            f"{LOAD.format('ld.global.f32', 'v', 32)} y[i] = s * v + a;")  # fmt: skip
    order = [word.split(".")[0] for word in compiled(body) if word.startswith(("LDG", "FFMA"))]
    assert order == ["LDG", "LDG", "FFMA", "FFMA"]


@needs_compiler
def test_the_books_prefetch_is_a_loop_on_an_h100_and_illegal_for_l1():
    prefetch = 'asm volatile("cp.async.bulk.prefetch.{}.global [%0], 128;" :: "l"(x + i + 32));'
    assert "UBLKPF.L2" in compiled(prefetch.format("L2"))
    for level, arch, message in (("L1", "sm_90a", "Illegal modifier"), ("L2", "sm_80", "sm_90")):
        with pytest.raises(CompilationError, match=message):
            compiled(prefetch.format(level), arch)


def test_the_picture_draws_a_cell_for_each_instruction():
    picture = rl.cuda.listing()
    assert len(picture.scenes) + len(picture.numbers) * 4 / 3 < 300_000
    for scene in picture.sheets:
        for kernel in listing_picture.KERNELS:
            assert faults(scene, kernel=kernel)[0] == [], (scene.width, kernel)
            loop = rl.cuda.loop_kinds(kernel)
            turns = 512 // loop.count("f")
            for letter in listing_picture.KINDS:
                (mark,) = (one for one in named(scene, letter)
                           if float(scene.value(one, "opacity", kernel=kernel)))  # fmt: skip
                corners = np.reshape(scene.value(mark, "points", kernel=kernel), (-1, 2))
                cells = (len(corners) - 2 * len(np.unique(corners[:, 1])) // 2) // 4
                assert cells == turns * loop.count(letter), (kernel, letter)
            assert f"512 multiply-adds take {turns * len(loop)} " in scene.sentence(kernel=kernel)

"""The figures that lessons ask to be kept are those that the package computes."""

from __future__ import annotations

import rooflab as rl
from rooflab.exercises.registry import exercise
from tests.notebooks.test_words import SOURCES, markdown

ONE, MANY = (rl.gemv(11008, 4096, "fp32", batch=n, shared=("a",)) for n in (1, 64))
TILED = rl.cache.tile_ledger(rl.cache.gemm_stream(64, 64, 64, tile=32), depth=3)
H100 = rl.machine("h100-sxm")
RIDGES = {kind: rl.Roofline("h200-sxm", kind).ridge for kind in ("fp32", "bf16")}
KEPT = {
    "00": ("fp32` number; {:.0f} by an H200", 4 * RIDGES["fp32"]),
    "01": ("**{:.0f} times**: GEMM's", RIDGES["fp32"] / rl.axpy(4096).intensity),
    "03": ("**{:.1f} and {:.0f} FLOP/byte**", *RIDGES.values()),
    "04": ("**{:.0f} times the FLOPs, {:.0%} more", MANY.flops / ONE.flops,
           MANY.bytes / ONE.bytes - 1),
    "05": ("**{:.0f} tokens a second**", rl.machine("rtx-4090").bandwidth() / (7e9 * 2)),
    "11": ("bf16 has {:.1f} times the peak of fp32",
           H100.peak("bf16") / H100.peak("fp32", "vector")),
    "12": ("From {} on it is less than 2", rl.sparse.marlin_batch(2)),
    "13": ("of fp32 asks for {} sectors, a column for {}",
           *(exercise("13-sectors").reference(0, stride, 4) for stride in (1, 4096))),
    "15": ("2 × 2 **{:.0f} times**, 2 × 4 **{:.2f}**, 4 × 4 **{:.0f}**, 1 × 16 **{:.2f}**",
           *(rl.cuda.cluster_saving(a, b) for a, b in ((2, 2), (2, 4), (4, 4), (1, 16)))),
    "16": ("- {:.0f}, {:.0f} and **{:.0f}%** of the instructions", *(
        100 * kinds.count("f") / len(kinds) for kinds in map(
            rl.cuda.loop_kinds, ("sgemm_shared", "sgemm_registers_2d", "sgemm_float4")))),
    "08": ("**2, 1.0625, {}**", exercise("08-innermost").reference(["ik", "kj", "ij"], 4, 64)[1]),
}  # fmt: skip


def test_they_are_computed() -> None:
    for number, (words, *figures) in KEPT.items():
        (source,) = (path for path in SOURCES if path.stem.startswith(number))
        kept = " ".join("".join(markdown(source)).split("## Numbers worth keeping")[1].split())
        assert words.format(*figures).replace("%", " %") in kept, number


def test_what_they_say_of_all_machines_and_tiles() -> None:
    known = (rl.machine(name) for name in rl.machines())
    assert min(rl.Roofline(one, "fp32").ridge for one in known if one.has_peak("fp32")) > 8
    assert 2 * 64**3 * 4 / (TILED["A"].bytes + TILED["B"].bytes) == 32
    assert exercise("09-register-tile").reference(16, 8, 5, 2) == (4, 24)  # 12 vectors, 10 needed
    assert rl.model("llama-2-7b").kv_bytes(1, 1) == 2**19
    knee = 1 / (2 / (2 * rl.Roofline("mi300x", "fp16").ridge) - 1 / 768 - 1 / 3072)
    assert (round(knee), round(rl.Roofline("mi300x", "fp16").ridge)) == (412, 247)
    assert round(rl.Roofline("h100-sxm", "bf16").ridge) == 295
    assert round(RIDGES["bf16"] / rl.axpy(4096, "bf16").intensity) == 618

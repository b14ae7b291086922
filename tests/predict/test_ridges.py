"""Published ridges of all 45 machines, and what follows from them."""

from __future__ import annotations

import pytest

import rooflab as rl
from tests.support.rows import each_row

# Dense 16-bit ridges, FLOP/byte (machines.md); a machine without bf16 is meant in fp16.
SIXTEEN_BIT = {
    "v100-sxm2": 139, "t4": 203, "a100-sxm-40": 201, "a100-sxm-80": 153, "a10g": 117,
    "rtx-a6000": 202, "l4": 403, "l40s": 419, "rtx-3090": 76, "rtx-4090": 164, "rtx-5090": 117,
    "h100-sxm": 295, "h100-pcie": 378, "h200-sxm": 206, "gh200": 247, "b200": 281, "gb200": 312,
    "b300": 281, "jetson-agx-orin": 208, "mi100": 75, "mi210": 110, "mi250x-gcd": 117,
    "mi300x": 247, "mi325x": 218, "mi355x": 315, "rx-7900-xtx": 128, "gaudi2": 176, "gaudi3": 500,
    "max-1550": 256, "tpu-v4": 229, "tpu-v5e": 241, "tpu-v5p": 166, "tpu-v6e": 560,
    "tpu-v7x": 313, "trainium2": 230,
}  # fmt: skip
SINGLE = {"m1": 38, "m2": 35, "m3": 34, "m3-pro": 41, "m3-max": 34, "m4": 31, "ryzen-7950x": 28,
          "xeon-8480p": 23, "epyc-9654": 16, "raspberry-pi-5": 9}  # fmt: skip


def ridge(name, dtype):
    return rl.Roofline(rl.machine(name), dtype).ridge


@each_row(*SIXTEEN_BIT.items())
def test_sixteen_bit_ridges(name, printed):
    dtype = "bf16" if "bf16" in rl.machine(name).peaks else "fp16"
    assert ridge(name, dtype) == pytest.approx(printed, abs=0.51)


@each_row(*SINGLE.items())
def test_single_precision_ridges(name, printed):
    assert ridge(name, "fp32") == pytest.approx(printed, abs=0.51)


def test_every_machine_of_the_catalogue_has_a_published_ridge():
    named = {rl.machine(name).id for name in (*SIXTEEN_BIT, *SINGLE)}
    assert named == set(rl.machines())


@each_row(
    ("h100-sxm", "bf16", 295.3), ("h100-sxm", "fp8", 590.7), ("h100-sxm", "tf32", 147.7),
    ("h100-sxm", "fp32", 20.0), ("h200-sxm", "bf16", 206.1), ("h200-sxm", "fp8", 412.3),
    ("a100-sxm-80", "bf16", 153.0), ("a100-sxm-80", "tf32", 76.5), ("a100-sxm-80", "fp32", 9.6),
    ("a100-sxm-40", "tf32", 100.3), ("v100-sxm2", "fp16", 138.9), ("v100-sxm2", "fp32", 17.4),
    ("b200", "fp8", 562.5), ("b200", "nvfp4", 1125.0), ("gb200", "bf16", 312.5),
    ("gb200", "fp8", 625.0), ("mi300x", "fp64", 30.8), ("mi300x", "tf32", 123.3),
    ("mi300x", "fp8", 493.4), ("rtx-4090", "fp64", 1.28), ("rtx-4090", "fp32", 81.9),
)  # fmt: skip
def test_ridges_of_other_formats(name, dtype, printed):
    decimals = len(str(printed).partition(".")[2])
    assert ridge(name, dtype) == pytest.approx(printed, abs=0.5001 * 10.0**-decimals)


def test_mi300x_ridge_from_its_printed_figures():
    """1307 TFLOP/s over 5.3 TB/s is 246.6; the catalogue keeps AMD's 1307.4."""
    assert round(1307 / 5.3, 1) == 246.6
    assert ridge("mi300x", "fp16") == pytest.approx(246.6, abs=0.08)


def test_the_ridge_fell_from_h100_to_h200_and_to_b200():
    assert ridge("h200-sxm", "bf16") < ridge("b200", "bf16") < ridge("h100-sxm", "bf16")


@each_row(
    ((4096, 11008), {"mi300x": 268.8, "rtx-4090": 173.4, "h100-sxm": 327.6, "h200-sxm": 221.4}),
    ((4096, 14336), {"mi300x": 267.3, "rtx-4090": 172.7, "h100-sxm": 325.4, "h200-sxm": 220.4}),
    ((768, 3072), {"mi300x": 412.0, "rtx-4090": 223.4, "h100-sxm": 568.3, "h200-sxm": 310.2}),
)
def test_the_batch_at_which_a_layer_becomes_compute_bound(layer, batches):
    k, n = layer
    for name, printed in batches.items():
        roof = rl.Roofline(name, "fp16")
        limits = [roof.limit(rl.gemm(batch, n, k, "fp16")) for batch in range(1, 700)]
        first = limits.index("compute") + 1
        assert limits == ["memory"] * (first - 1) + ["compute"] * (700 - first)
        assert first == pytest.approx(printed, abs=1.5)

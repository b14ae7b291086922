"""The sentences: right values, right side of the ridge, right origin."""

from __future__ import annotations

import dataclasses
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

import rooflab as rl
from rooflab.measure.backend import host_id
from rooflab.show import captions, theme


def test_published_figures_appear_as_published() -> None:
    said = captions.bound(rl.gemm(8192, 8192, 128, "fp16"), rl.Roofline("h100-sxm", "fp16"))
    assert "124.1 FLOP/byte" in said and "ridge (295)" in said and "Memory is the limit" in said
    said = captions.bound(rl.axpy(2**24), rl.Roofline("h200-sxm", "fp32"))
    assert "0.1667 FLOP/byte" in said and "by this roof 800 GFLOP/s" in said


@given(st.integers(1, 5000), st.integers(1, 5000), st.integers(1, 5000))
def test_the_limit_is_the_rooflines(m: int, n: int, k: int) -> None:
    op, roof = rl.gemm(m, n, k, "bf16"), rl.Roofline("mi300x", "bf16")
    said = captions.bound(op, roof)
    assert ("Memory is the limit" in said) == (roof.limit(op) == "memory")
    assert ("left of the ridge" in said) == (op.intensity < roof.ridge)
    assert "{" not in said


def test_above_and_below_the_roof() -> None:
    assert captions.measured(2e9, 8e9) == " Measured 2.00 GFLOP/s, ×4 below this roof."
    assert captions.measured(8e9, 4e9) == " Measured 8.00 GFLOP/s, ×2 above this roof."
    assert "cache" in captions.measured(8e9, 4e9, "warm"), "operands may come from a nearer one"


def test_a_promise_is_not_called_a_measurement(here: rl.Machine) -> None:
    assert "datasheet" in captions.origin(rl.machine("a100-sxm-80"))
    assert captions.origin(here) == "Roofs of A test machine, a recording of 2026-11-21."
    own = dataclasses.replace(here, id=host_id())
    assert captions.origin(own) == "Roofs of A test machine, measured on 2026-11-21."


def test_solids() -> None:
    for edges, word in [
        ((1, 4096, 1), "stick"), ((4096, 1, 4096), "sheet"), ((64, 64, 64), "cube"),
        ((1024, 16, 1024), "slab"), ((8, 16, 32), "box"), ((1, 1, 1), "point"),
    ]:  # fmt: skip
        assert captions.solid(*edges) == word


def test_the_box_counts_what_the_ledger_counts() -> None:
    said = captions.box(rl.gemm(256, 256, 256), 256, 256, 256)
    assert said["volume"] == "16.8 million" and said["painted"] == theme.count(3 * 256**2)
    assert float(said["reuse"]) == pytest.approx(256 / 3, rel=1e-3)


def test_browser_and_python_share_the_templates() -> None:
    names = {
        name for template in captions.SAY.values() for name in re.findall(r"{(\w+)}", template)
    }
    assert names == {"name", "sizes", "batch", "dtype", "flops", "bytes", "intensity", "ridge",
                     "level", "rate", "share", "gap", "what"}  # fmt: skip


def test_intensities() -> None:
    for value, text in [(1 / 6, "0.1667"), (682.6667, "682.7"), (10922.67, "10\u202f923")]:
        assert theme.intensity(value) == text

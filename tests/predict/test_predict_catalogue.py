"""predict() where nothing was calibrated: on a catalogue machine the estimate is the bound."""

from __future__ import annotations

import pytest

import rooflab as rl
from tests.support.rows import each_row


@each_row("h100-sxm", "mi300x", "rtx-4090", "epyc-9654")
@each_row(rl.axpy(10**7), rl.gemv(4096, 4096), rl.gemm(2048, 2048, 2048))
def test_the_estimate_on_a_datasheet_is_its_roofline(op, name):
    p = rl.predict(op, name)
    m = rl.machine(name)
    unit = op.unit if m.has_peak("fp32", op.unit) else None
    assert float(p) == p.seconds == pytest.approx(rl.Roofline(m, "fp32", unit=unit).time(op))
    assert p.level == "dram"
    assert p.terms and p.terms[-1].seconds == p.seconds


def test_limit_words():
    assert rl.predict(rl.axpy(10**8), "h100-sxm").limit == "memory:dram"
    assert rl.predict(rl.gemm(8192, 8192, 8192, "bf16"), "h100-sxm").limit == "compute"


def test_the_unit_of_the_operation_picks_the_peak():
    """fp64 on H100: matrix products on the tensor cores at 66.9, vectors at 33.5 TFLOP/s."""
    op = rl.gemm(8192, 8192, 8192, "fp64")
    assert rl.predict(op, "h100-sxm").seconds == pytest.approx(op.flops / 66.9e12)
    heavy = rl.elementwise("exp", 10**8, "fp64", cost={"exp": 1000})
    assert rl.predict(heavy, "h100-sxm").seconds == pytest.approx(heavy.flops / 33.5e12)


def test_a_missing_vector_figure_falls_back_with_a_note():
    p = rl.predict(rl.axpy(10**8, "bf16"), "h100-sxm")
    assert any("no vector peak for bf16" in term.note for term in p.terms)
    assert p.seconds == pytest.approx(6e8 / 3.35e12)


def test_warm_operands_live_where_a_bandwidth_is_known():
    warm = rl.predict(rl.axpy(10**5, "fp16"), "mi250x-gcd", cache="warm")
    assert (warm.level, warm.limit) == ("l2", "memory:l2")
    assert warm.seconds < rl.predict(rl.axpy(10**5, "fp16"), "mi250x-gcd").seconds
    h100 = rl.predict(rl.axpy(10**5), "h100-sxm", cache="warm")  # no L2 bandwidth is published
    assert h100.level == "dram"


@each_row(
    ((3, "h100-sxm"), {}, TypeError, "op=3 must be an Operation"),
    ((rl.axpy(8), "h100"), {}, ValueError, "machine='h100' is vague"),
    ((rl.axpy(8), None), {}, TypeError, "machine=None must be a machine's name"),
    ((rl.axpy(8), "h100-sxm"), {"cache": "luke"}, ValueError, "cache='luke' is unknown"),
    ((rl.gemm(8, 8, 8, "fp8"), "a100-sxm-80"), {}, ValueError, "no fp8_e4m3 peak; it has fp64"),
    ((rl.axpy(8, "bf16"), "apple-m4"), {}, ValueError, "no bf16 peak; it has fp32"),
)
def test_bad_questions_are_named(arguments, options, error, message):
    with pytest.raises(error, match=message):
        rl.predict(*arguments, **options)

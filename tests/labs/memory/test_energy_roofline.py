"""The energy roofline against its paper: balance, arch, and bad input."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rooflab as rl
from tests.support.rows import each_row

COSTS = st.floats(1e-13, 1e-9)
INTENSITIES = st.floats(1e-3, 1e5)


# What follows from the paper's E = W ε_flop + Q ε_mem (Choi, Bedard, Fowler, Vuduc, 2013).


@given(COSTS, COSTS, INTENSITIES)
def test_the_arch_is_its_best_divided_by_one_plus_balance_over_intensity(flop, byte, at) -> None:
    arch = rl.memory.EnergyRoofline(flop, byte)
    assert (arch.balance, arch.best) == pytest.approx((byte / flop, 1 / flop))
    assert arch.efficiency(at) == pytest.approx(arch.best / (1 + arch.balance / at))
    assert arch.efficiency(arch.balance) == pytest.approx(arch.best / 2)


def test_it_bends_nowhere_where_the_times_roofline_does() -> None:
    """A smooth arch: its slope changes least of all abruptly at the balance of time."""
    arch = rl.memory.EnergyRoofline(1e-10, 5e-10, peak=1.5e12, bandwidth=1.9e11)
    at = np.geomspace(0.01, 1000, 4001)
    slope = np.diff(np.log(arch.efficiency(at))) / np.diff(np.log(at))
    assert (slope[:-1] - slope[1:] > 0).all()  # always flatter, as an arch is
    assert (slope[:-1] - slope[1:]).max() < 1e-3  # and never at once, as at a bend
    rates = np.minimum(arch.peak, at * arch.bandwidth)
    bend = np.diff(np.log(rates)) / np.diff(np.log(at))
    assert (bend[:-1] - bend[1:]).max() > 0.1


# What holds for all, and what follows for our tables.


@each_row(rl.axpy(1000), rl.gemv(300, 200), rl.gemm(64, 48, 32))
@each_row("horowitz-45nm", "tpuv4i-7nm")
def test_it_agrees_with_the_bill(table: str, op: rl.Operation) -> None:
    arch, bill = rl.memory.energy_roofline(table), rl.memory.energy(op, table)
    assert arch.joules_per_flop(op.intensity) == pytest.approx(bill.per_flop)


def test_gemm_meets_its_balance_where_its_parts_are_equal() -> None:
    """N/6 FLOP/byte in fp32: the published N = 392 is a balance of 65.3 FLOP/byte."""
    arch = rl.memory.energy_roofline("rounded-45nm")
    assert arch.balance == pytest.approx(3 * 640 / 4.9 / 6)
    assert rl.gemm(392, 392, 392).intensity == pytest.approx(arch.balance, rel=1e-3)


def test_a_machine_brings_the_rates() -> None:
    arch = rl.memory.energy_roofline("tpuv4i-7nm", "bf16", machine="h100-sxm")
    roof = rl.Roofline("h100-sxm", "bf16")
    assert (arch.peak, arch.bandwidth, arch.time_balance) == (roof.peak, roof.bandwidth, roof.ridge)


def test_numbers_and_arrays() -> None:
    arch = rl.memory.energy_roofline()
    assert isinstance(arch.joules_per_flop(1.0), float)
    assert isinstance(arch.efficiency(np.float64(1.0)), float)
    assert arch.efficiency([1.0, 2.0]).shape == (2,)
    assert "balance at 70.7 FLOP/byte" in repr(arch)


# Bad input.


@each_row(
    (lambda: rl.memory.EnergyRoofline(0, 1e-12), ValueError, "per_flop=0"),
    (lambda: rl.memory.EnergyRoofline(1e-12, "1"), TypeError, "per_byte='1'"),
    (lambda: rl.memory.energy_roofline(dtype="fp4"), ValueError, "dtype='fp4'"),
    (lambda: rl.memory.energy_roofline().joules_per_flop(0), ValueError, "intensity=0"),
    (lambda: rl.memory.energy_roofline().efficiency("much"), TypeError, "intensity='much'"),
)
def test_bad_input(make: Any, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        make()

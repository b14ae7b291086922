"""The energy roofline against its paper: balance, arch, constant power, and bad input."""

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


def with_power(watts: float = 122.0) -> rl.memory.EnergyRoofline:
    return rl.memory.EnergyRoofline(1e-10, 5e-10, watts, 1.5e12, 1.9e11, "a GPU")


# What follows from the paper's E = W ε_flop + Q ε_mem + π₀ T (Choi, Bedard, Fowler, Vuduc, 2013).


@given(COSTS, COSTS)
def test_at_the_balance_half_of_the_best_efficiency_is_reached(flop: float, byte: float) -> None:
    arch = rl.memory.EnergyRoofline(flop, byte)
    assert arch.balance == pytest.approx(byte / flop)
    assert arch.efficiency(arch.balance) == pytest.approx(arch.best / 2)


@given(INTENSITIES)
def test_the_arch_is_ideal_divided_by_one_plus_balance_over_intensity(intensity: float) -> None:
    arch = rl.memory.EnergyRoofline(25e-12, 360e-12)
    ideal = 1 / (1 + arch.balance / intensity)
    assert arch.efficiency(intensity) == pytest.approx(ideal / 25e-12)


@given(INTENSITIES)
def test_constant_power_is_an_effective_balance(intensity: float) -> None:
    """E = W ε̂ (1 + B̂(I) / I) with ε̂ = ε + ε₀, η = ε / ε̂, B̂ = η B_ε + (1 − η) max(0, B_τ − I)."""
    arch = with_power()
    constant = arch.watts / arch.peak
    whole = arch.per_flop + constant
    eta, late = arch.per_flop / whole, max(0.0, arch.time_balance - intensity)
    effective = eta * arch.balance + (1 - eta) * late
    assert arch.joules_per_flop(intensity) == pytest.approx(whole * (1 + effective / intensity))


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


def test_power_is_highest_at_the_balance_of_time() -> None:
    """There both the memory and the arithmetic work all the time: P = π₀ + peak ε + bandwidth ε."""
    arch = with_power()
    at = np.geomspace(0.01, 1000, 2001)
    most = arch.watts + arch.peak * arch.per_flop + arch.bandwidth * arch.per_byte
    assert arch.power(arch.time_balance) == pytest.approx(most)
    assert arch.power(at).max() <= most * (1 + 1e-9)


def test_without_reuse_power_falls_towards_that_of_the_memory() -> None:
    arch = with_power()
    assert arch.power(1e-6) == pytest.approx(arch.watts + arch.bandwidth * arch.per_byte, rel=1e-4)
    assert arch.power(1e9) == pytest.approx(arch.watts + arch.peak * arch.per_flop, rel=1e-4)


# What holds for all, and what follows for our tables.


@each_row(rl.axpy(1000), rl.gemv(300, 200), rl.gemm(64, 48, 32))
@each_row("horowitz-45nm", "tpuv4i-7nm")
def test_it_agrees_with_the_bill(table: str, op: rl.Operation) -> None:
    arch, bill = rl.memory.energy_roofline(table), rl.memory.energy(op, table)
    assert arch.joules_per_flop(op.intensity) == pytest.approx(bill.per_flop)
    assert arch.energy(op).parts == pytest.approx(bill.parts)


def test_constant_power_is_a_part_of_its_own() -> None:
    op, arch = rl.gemm(512, 512, 512), with_power()
    bill = arch.energy(op)
    assert [*bill.parts] == ["dram", "arithmetic", "constant power"]
    assert bill.per_flop == pytest.approx(arch.joules_per_flop(op.intensity))
    assert bill.movement == bill.parts["dram"]


def test_gemm_meets_its_balance_where_its_parts_are_equal() -> None:
    """N/6 FLOP/byte in fp32: the published N = 392 is a balance of 65.3 FLOP/byte."""
    arch = rl.memory.energy_roofline("rounded-45nm")
    assert arch.balance == pytest.approx(3 * 640 / 4.9 / 6)
    assert rl.gemm(392, 392, 392).intensity == pytest.approx(arch.balance, rel=1e-3)


def test_a_machine_brings_the_rates() -> None:
    arch = rl.memory.energy_roofline("tpuv4i-7nm", "bf16", machine="h100-sxm", watts=100)
    roof = rl.Roofline("h100-sxm", "bf16")
    assert (arch.peak, arch.bandwidth, arch.time_balance) == (roof.peak, roof.bandwidth, roof.ridge)
    hbm = rl.memory.energy_roofline("tpuv4i-7nm", "bf16", memory="hbm3e")
    assert hbm.balance < arch.balance
    inner = rl.memory.energy_roofline("tpuv4i-7nm", "bf16", level="l1")
    assert inner.balance < hbm.balance


def test_numbers_and_arrays() -> None:
    arch = rl.memory.energy_roofline()
    assert isinstance(arch.joules_per_flop(1.0), float)
    assert isinstance(arch.efficiency(np.float64(1.0)), float)
    assert arch.efficiency([1.0, 2.0]).shape == (2,)
    assert "balance at 70.7 FLOP/byte" in repr(arch)
    assert "always" in repr(with_power())


# Bad input.


@each_row(
    (lambda: rl.memory.EnergyRoofline(0, 1e-12), ValueError, "per_flop=0"),
    (lambda: rl.memory.EnergyRoofline(1e-12, "1"), TypeError, "per_byte='1'"),
    (lambda: rl.memory.EnergyRoofline(1e-12, 1e-12, -1), ValueError, "watts=-1"),
    (lambda: rl.memory.EnergyRoofline(1e-12, 1e-12, 5), ValueError, "peak= and bandwidth="),
    (lambda: rl.memory.energy_roofline(watts=5), ValueError, "machine= says"),
    (lambda: rl.memory.energy_roofline(dtype="fp4"), ValueError, "dtype='fp4'"),
    (lambda: rl.memory.energy_roofline(level="l3"), ValueError, "level='l3'"),
    (lambda: rl.memory.energy_roofline().joules_per_flop(0), ValueError, "intensity=0"),
    (lambda: rl.memory.energy_roofline().efficiency("much"), TypeError, "intensity='much'"),
    (lambda: rl.memory.energy_roofline().power(1.0), ValueError, "not known"),
)
def test_bad_input(make: Any, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        make()

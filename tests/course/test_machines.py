"""The simulated machines are what their names say, and their clock is the roofline."""

from __future__ import annotations

import pytest

import rooflab as rl
from tests.course.machines import MACHINES
from tests.support.rows import each_row

N = 4096


def test_they_differ_in_what_the_lessons_speak_of():
    ridges = {name: rl.Roofline(m.machine, "fp32").ridge for name, m in MACHINES.items()}
    assert 10 < ridges["300 MB of L3"] < 15 and ridges["hybrid laptop"] < 4
    assert (
        MACHINES["300 MB of L3"].last_level > 300e6 > 16e6 == MACHINES["hybrid laptop"].last_level
    )
    mac = MACHINES["M-series Mac"]
    assert mac.told["l3"] is None and mac.machine.peak("fp32") == 10 * mac.machine.peak(
        "fp32", "vector"
    )
    assert MACHINES["H200"].machine.origin == "datasheet", "its figures are the catalogue's"


@each_row(*MACHINES)
def test_the_clock_is_the_roofline_with_the_operations_own_mix(name):
    here = MACHINES[name]
    axpy, gemm = here.clock(rl.axpy(N * N)), here.clock(rl.gemm(N, N, N))
    assert axpy.byte_per_s == pytest.approx(0.9 * here.machine.bandwidth(mix="axpy"))
    assert gemm.flop_per_s == pytest.approx(0.9 * here.machine.peak("fp32"))
    warm = here.clock(rl.axpy(1000), cache="warm")
    assert warm.byte_per_s == pytest.approx(
        0.9 * here.machine.bandwidth(here.machine.levels[0], "axpy")
    )


@each_row(*MACHINES)
def test_the_curve_gives_back_the_figures_of_its_machine(name):
    here = MACHINES[name]
    curve = here.curve()
    assert curve.n * curve.itemsize >= 4 * here.last_level
    assert curve.bandwidth == pytest.approx(here.machine.bandwidth(mix="update"))
    assert curve.peak == pytest.approx(here.machine.peak("fp32", "vector"), rel=0.01)

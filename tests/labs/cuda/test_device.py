"""The figures of a simulated GPU: a small roofline, made of what was published."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

import rooflab as rl
from rooflab.labs.cuda import Device
from rooflab.labs.cuda.device import UNTESTED_SHARE
from tests.labs.cuda.conftest import DEVICE
from tests.support.rows import each_row

NAMES = list(rl.machines())
AMOUNTS = st.floats(0, 1e13)
KINDS = st.sampled_from(["float32", "float64"])


@given(AMOUNTS, KINDS, AMOUNTS, AMOUNTS)
def test_a_kernel_takes_its_fixed_cost_and_the_longest_of_its_three_parts(flops, kind, dram, l2):
    took = DEVICE.kernel_seconds(flops, kind, dram, l2) - DEVICE.kernel_s
    parts = flops / DEVICE.peak[kind], dram / 1e12, (dram + l2) / 4e12
    assert took == pytest.approx(max(parts), abs=1e-15)  # what is lost beside the fixed cost


@given(st.integers(1 << 10, 1 << 26), KINDS)
def test_it_agrees_with_the_roofline_of_the_course(n, kind):
    """AXPY from memory: its bytes over the bandwidth, as rl.Roofline has it."""
    op = rl.axpy(n, kind)
    took = DEVICE.kernel_seconds(op.flops, kind, op.bytes) - DEVICE.kernel_s
    assert took == pytest.approx(op.bytes / 1e12) and op.bytes / 1e12 > op.flops / 5e12


def simulable() -> list[str]:
    """Machines whose L2 bandwidth somebody measured."""
    return [
        name for name in NAMES
        if "l2_bandwidth_bytes_per_s" in rl.machine(name).measured
        and "l2" in rl.machine(name).capacities
    ]  # fmt: skip


def test_there_are_machines_to_simulate_and_others():
    assert {"nvidia-h200-sxm", "nvidia-a100-sxm-80"} & set(simulable())
    assert len(simulable()) < len(NAMES)


def test_a_device_takes_published_achieved_figures():
    device = Device.from_machine(rl.machine("h200-sxm"))
    assert (device.bandwidth, device.peak["float32"]) == (4.028e12, 5.95e13)


@each_row(*simulable())
def test_a_device_is_no_faster_than_its_datasheet(name):
    machine = rl.machine(name)
    device = Device.from_machine(machine)
    assert device.name == machine.name and device.l2_bytes == machine.capacities["l2"]
    assert 0.5 * machine.bandwidth() < device.bandwidth <= machine.bandwidth()
    assert device.l2_bandwidth > device.bandwidth
    assert device.peak and set(device.peak) <= {"float32", "float64"}
    for kind, short in (("float32", "fp32"), ("float64", "fp64")):
        if machine.has_peak(short, "vector"):
            sheet = machine.peak(short, "vector")
            assert 0.5 * sheet < device.peak[kind] <= sheet
            if short not in machine.measured:
                assert device.peak[kind] == UNTESTED_SHARE * sheet
    assert Device(**json.loads(json.dumps(device.to_dict()))) == device


@each_row(*[n for n in NAMES if n not in simulable()])
def test_what_nobody_measured_is_not_simulated(name):
    with pytest.raises(ValueError, match=f"machine='{name}' has no measured L2 bandwidth"):
        Device.from_machine(rl.machine(name))


def test_figures_cannot_be_changed_on_the_way():
    with pytest.raises(AttributeError):
        DEVICE.bandwidth = 1.0
    assert set(DEVICE.to_dict()) == set(Device.__dataclass_fields__)

"""The time of a step by hand: what a transformer was metered to do, over a machine's two roofs.

The rules are those of `Workload.seconds` and `Workload.bound`, written here a second time. Counts
are the meter's, so nothing of the ledger is taken for granted either.
"""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rooflab as rl
from rooflab.labs.llm.model import Model
from tests.labs.llm.support.metered import Meter, Metered
from tests.labs.llm.test_metered import models, words

FORMATS = {"weights": "bf16", "kv": "int8", "activations": "bf16"}
WIDTH = {"weights": 2, "kv": 1, "activations": 2}
ATTENTION = ("attention", "local attention", "absorb k", "absorb v")
RATES = st.sampled_from([1e6, 3e7, 1e9, 5e10])
SHARES = st.sampled_from([1.0, 0.75, 0.1])


def metered(m: Model, batch: int, old: int, new: int = 1) -> Meter:
    machine = Metered(m, Meter(WIDTH))
    if old:
        machine.step(words(batch, old))
    machine.meter = Meter(WIDTH)
    machine.step(words(batch, new))
    return machine.meter


@dataclass(frozen=True)
class Setting:
    """A machine of two peaks and a bandwidth, and all that may be assumed of a run on it."""

    peak: float
    vectors: float
    bandwidth: float
    devices: int
    link: float | None
    latency: float
    overhead: float
    compute: float
    memory: float

    @property
    def machine(self) -> rl.Machine:
        peaks = {"bf16": self.peak, "fp32": rl.Figure(self.vectors, unit="vector")}
        return rl.Machine("own", "Own", peaks=peaks, bandwidths=self.bandwidth)

    @property
    def how(self) -> dict:
        return {
            "link": self.link, "link_latency": self.latency, "overhead": self.overhead,
            "efficiency": {"compute": self.compute, "memory": self.memory},
        }  # fmt: skip


SETTINGS = st.builds(
    Setting, RATES, RATES, RATES, st.sampled_from([1, 2, 4]), st.none() | RATES,
    st.sampled_from([0.0, 1e-3]), st.sampled_from([0.0, 2e-3]), SHARES, SHARES,
)  # fmt: skip


def is_product(meter: Meter, name: str) -> bool:
    """Whether a matrix unit does it: products with weights, and those of attention."""
    return name in meter.weighed or name in ATTENTION


def ends_a_block(name: str) -> bool:
    """Behind these, devices that share a layer add up what each of them has of the result."""
    return name == "o" or (name.endswith("down") and name != "shared down")


def parts(meter: Meter, s: Setting, result: int) -> dict[str, tuple[float, ...]]:
    """Seconds of each operation: to compute, to carry, to call, to send ``result`` bytes."""
    found = {}
    for name, runs in meter.runs.items():
        peak = s.peak if is_product(meter, name) else s.vectors
        computing = meter.flops[name] / (peak * s.compute * s.devices)
        shared = meter.moved[name, "weights"] + meter.moved[name, "kv"]
        whole = meter.moved[name, "activations"]  # every device has them all
        carrying = (shared / s.devices + whole) / (s.bandwidth * s.memory)
        sending = 0.0
        if s.devices > 1 and ends_a_block(name):
            ring = 2 * (s.devices - 1) / s.devices * result
            sending = runs * ((ring / s.link if s.link else 0.0) + s.latency)
        found[name] = (computing, carrying, runs * s.overhead, sending)
    return found


def compared(m: Model, w: rl.Workload, meter: Meter, s: Setting) -> None:
    result = w.tokens * m.hidden * 2
    each = parts(meter, s, result)
    computing, carrying, calling, sending = (sum(p[i] for p in each.values()) for i in range(4))
    right = {
        "sum-of-max": sum(max(p[:2]) + p[2] + p[3] for p in each.values()),
        "max-of-sum": max(computing, carrying) + calling + sending,
        "no-overlap": computing + carrying + calling + sending,
    }
    for bound, seconds in right.items():
        told = w.seconds(s.machine, s.devices, bound=bound, **s.how)
        assert told == pytest.approx(seconds, rel=1e-9), bound
    for name, limit in w.limits(s.machine, s.devices, **s.how).items():
        seconds = dict(zip(("compute", "memory", "overhead", "link"), each[name], strict=True))
        assert seconds[limit.partition(":")[0]] >= max(seconds.values()) * (1 - 1e-9), name
    rate = w.tokens_per_s(s.machine, s.devices, **s.how)
    assert rate == pytest.approx(w.tokens / right["sum-of-max"])


@settings(max_examples=40)
@given(models(), st.integers(1, 3), st.integers(0, 6), SETTINGS)
def test_a_decode_step_takes_what_its_operations_take(m, batch, old, s):
    compared(m, m.decode(batch, old + 1, **FORMATS), metered(m, batch, old), s)


@settings(max_examples=20)
@given(models() | models(latent=True), st.integers(1, 3), st.integers(2, 7), SETTINGS)
def test_so_does_a_prefill(m, batch, tokens, s):
    meter = metered(m, batch, 0, tokens)
    w = m.prefill(batch, tokens, **FORMATS)
    result = {"o": w.tokens * m.hidden * 2}
    assert {step.name: step.reduced for step in w.steps if step.name == "o"} == result
    compared(m, w, meter, s)


@settings(max_examples=40)
@given(models() | models(latent=True), st.integers(1, 3), st.integers(0, 6), SETTINGS)
def test_the_strict_bound_is_the_longest_of_three_sums(m, batch, old, s):
    """Products at the highest peak there is, weights and cache once, half a ring: no more."""
    meter = metered(m, batch, old)
    w = m.decode(batch, old + 1, **FORMATS)
    flops = sum(meter.flops[name] for name in meter.runs if is_product(meter, name))
    carried = sum(
        moved for (name, role), moved in meter.moved.items()
        if role != "activations" and name != "embed"
    )  # fmt: skip
    blocks = sum(runs for name, runs in meter.runs.items() if ends_a_block(name))
    sums = [flops / max(s.peak, s.vectors) / s.devices, carried / s.bandwidth / s.devices]
    if s.devices > 1 and s.link:
        sums.append(blocks * batch * m.hidden * 2 / s.link)
    assert w.bound(s.machine, s.devices, s.link) == pytest.approx(max(sums), rel=1e-9)
    assert w.bound(s.machine, s.devices, s.link) <= w.seconds(s.machine, s.devices, **s.how) * 1.001


@settings(max_examples=40)
@given(models(), st.integers(1, 3), st.integers(0, 6), SETTINGS, st.none() | st.just(7.0))
def test_factors_lead_from_the_weights_to_the_time(m, batch, old, s, measured):
    """Start · factors = the time that was measured, or else the estimate."""
    w = m.decode(batch, old + 1, **FORMATS)
    told = w.explain(s.machine, measured, s.devices, **s.how)
    reached = told.start
    for factor in told.factors:
        reached *= factor.factor
    wanted = w.tokens / measured if measured else w.seconds(s.machine, s.devices, **s.how)
    assert reached == pytest.approx(wanted, rel=1e-9)
    meter = metered(m, batch, old)
    weights = sum(moved for (_, role), moved in meter.moved.items() if role == "weights")
    assert told.start == pytest.approx(weights / s.bandwidth / s.devices)

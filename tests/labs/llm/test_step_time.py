"""Workloads on machines: bounds, devices, links, roofs, and clear errors."""

from __future__ import annotations

from dataclasses import replace

import pytest

import rooflab as rl
from tests.support.rows import each_row

LLAMA = rl.model("llama-2-7b")
A100, H100 = rl.machine("a100-sxm-80"), rl.machine("h100-sxm")


def test_the_step_itself_reads_rows_of_the_embedding_table():
    for name, tokens in (("llama-3-8b", 1), ("llama-3-8b", 64), ("gpt2", 1)):
        m = rl.model(name)
        w = m.decode(tokens, 9)
        table = 0 if m.tied else (m.vocab - tokens) * m.hidden
        places = max(0, m.positions - tokens) - (tokens if m.tied else 0)  # a tied row comes again
        unread = 2 * (table + places * m.hidden)
        assert w.traffic["weights"] == m.weight_bytes() - unread


def test_a_link_adds_a_ring_all_reduce_after_every_block():
    w, link = rl.model("llama-3-70b").decode(16, 4096), 450e9
    sent = 2 * 80 * 2 * (8 - 1) / 8 * 16 * 8192 * 2
    extra = w.seconds(H100, 8, link=link) - w.seconds(H100, 8)
    assert extra == pytest.approx(sent / link)
    assert not any("communication" in note for note in w.time(H100, 8, link=link).notes)


@each_row((1, "memory:weights"), (1024, "compute"))
def test_weight_products_turn_compute_bound_with_the_batch(batch, limit):
    """Llama-3-8B is not memory-bound at every batch, as one calculator has it."""
    limits = rl.model("llama-3-8b").decode(batch, 64).limits(H100)
    assert limits["up"] == limits["q"] == limits["head"] == limit
    assert limits["attention"] == "memory:kv"
    assert limits["norm"] == "memory:activations"


def test_measured_roofs_are_slower_than_the_datasheet():
    w = LLAMA.decode(1, 512)
    slower = w.seconds(A100, roofs="measured") / w.seconds(A100)
    assert slower == pytest.approx(2.039 / 1.794, rel=1e-3)
    timing = w.time("apple-m3", roofs="measured")
    assert any("no measured bandwidth" in note for note in timing.notes)


def test_overheads_come_from_a_recording():
    m = rl.recording("epyc-2core-vm").machine
    small = rl.Model(hidden=16, layers=2, heads=4, vocab=100)
    w = small.decode(1, 16, weights="fp32", kv="fp32")
    called = [part for part in w.time(m).parts if part.call]
    assert {part.name for part in called} == {"q", "k", "v", "o", "gate", "up", "down", "head"}
    assert any("known for products" in note for note in w.time(m).notes)
    assert w.limits(m)["q"] == "overhead"
    quiet = replace(m, routines={})
    assert w.seconds(quiet) + sum(p.call for p in called) == pytest.approx(w.seconds(m))
    assert any("counted as zero" in note for note in w.time(quiet).notes)


@each_row(
    ("a100-sxm-80", "fp8", None), ("v100-sxm2", "bf16", "fp16"), ("apple-m3", "bf16", "fp32"),
    ("a10g", "fp32", "bf16")
)  # fmt: skip
def test_a_missing_peak_is_replaced_and_said(name, weights, computed):
    timing = LLAMA.decode(1, 5, weights=weights).time(name)
    said = [note for note in timing.notes if "computed in" in note]
    assert timing.seconds > 0
    assert bool(said) == bool(computed)
    assert not said or computed in said[0]


@each_row(
    ({"devices": 0}, ValueError, "devices=0 must be a positive integer"),
    ({"devices": 1.5}, TypeError, "devices=1.5 is a float"),
    ({"link": -1}, ValueError, "link=-1 must be a positive rate"),
    ({"link": 450}, ValueError, "link=450 is in byte/s; 450 GB/s is 450e9"),
    ({"overhead": 2}, ValueError, "overhead=2 is in seconds; 2 µs is 2e-6"),
    ({"link_latency": 10}, ValueError, "link_latency=10 is in seconds; 10 µs is 10e-6"),
    ({"link": "fast"}, TypeError, "link='fast' must be a pos"),
    ({"bound": "max"}, ValueError, "bound='max' is unknown"),
    ({"roofs": "real"}, ValueError, "roofs='real' is unknown"),
    ({"devices": "2", "machine": "amd-epyc-9654"}, TypeError, "devices='2' is a str"),
    ({"machine": "a100"}, ValueError, "is vague; it could mean"),
    ({"overhead": "5us"}, TypeError, "overhead='5us'"),
    ({"efficiency": 0.8}, TypeError, "efficiency=0.8 must be a mapping"),
    ({"efficiency": {"cpu": 1}}, ValueError, "efficiency='cpu' is unknown"),
    ({"efficiency": {"memory": 1.2}}, ValueError, r"\['memory'\]=1.2 must be .*at most 1"),
)
def test_bad_questions_are_told(wrong, error, said):
    w = LLAMA.decode(1, 8)
    asked = [w.seconds, w.explain, *[w.bound] * (wrong.keys() <= {"devices", "link", "roofs"})]
    for ask in asked:
        with pytest.raises(error, match=said):
            ask(**{"machine": A100, **wrong})


def test_the_limit_of_a_step_is_that_of_its_bound():
    """Compute takes most of the time one operation after the other, and memory of all together."""
    w = rl.model("llama-3-8b").decode(288, 300)
    assert w.limit("rtx-4090") == "compute"
    timing = w.time("rtx-4090", bound="max-of-sum")
    carrying = {role: sum(p.carry[role] for p in timing.parts) for role in w.traffic}
    assert sum(carrying.values()) > sum(p.compute for p in timing.parts)
    assert timing.limit == f"memory:{max(carrying, key=carrying.get)}"
    assert timing.limit == w.limit("rtx-4090", bound="no-overlap")

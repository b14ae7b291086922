"""Workloads on machines: bounds, restricted ledgers, devices, links, roofs, and clear errors."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import strategies as st

import rooflab as rl
from tests.support.rows import each_row

LLAMA = rl.model("llama-2-7b")
A100, H100 = rl.machine("a100-sxm-80"), rl.machine("h100-sxm")
machines = st.sampled_from(["a100-sxm-80", "h100-sxm", "rtx-4090", "tpu-v5e", "mi300x"])


def test_a_restricted_ledger_is_that_of_a_published_table():
    """Such tables divide the model's size and the cache's by the bandwidth."""
    w, bandwidth = LLAMA.decode(8, 2000), A100.bandwidth()
    weights, kv = LLAMA.weight_bytes(), LLAMA.kv_bytes(8, 2000)
    only, cached = (w.seconds(A100, traffic=traffic) for traffic in ({"weights"}, "kv"))
    assert only == pytest.approx(weights / bandwidth, rel=1e-4)
    assert cached == pytest.approx(kv / bandwidth)
    assert w.seconds(A100, traffic=("weights", "kv")) == pytest.approx(only + cached)
    parts = {part.name for part in w.time(A100, traffic={"weights"}).parts}
    assert not parts & {"attention", "rope", "residual"}
    assert w.seconds(A100, traffic={"weights", "kv", "activations"}) == w.seconds(A100)


@each_row("llama-3-70b", "gpt2")
@each_row(1, 200, 10_000)
@each_row(("bf16", 2), ("int8", 1), ("int4", 0.5))
def test_a_restricted_ledger_is_the_formula_of_published_tables(kind, nbytes, batch, name):
    """KV / bandwidth + max(bytes of all parameters / bandwidth, 2 N batch / peak), over devices."""
    m = replace(rl.model(name), biases=())
    w = m.decode(batch, 500, weights=kind, kv=kind, activations="bf16")
    weights, kv = nbytes * m.parameters / H100.bandwidth(), m.kv_bytes(batch, 500, kind)
    by_hand = kv / H100.bandwidth() + max(weights, 2 * m.parameters * batch / H100.peak("bf16"))
    assert w.seconds(H100, 4, traffic={"weights", "kv"}) == pytest.approx(by_hand / 4, rel=4e-3)


def test_a_restricted_ledger_counts_2_n_flop_a_token_and_6_n_in_training():
    for name in ("llama-3-8b", "gpt2", "gemma-2b"):
        m = replace(rl.model(name), biases=())
        each = m.parameters / H100.peak("bf16")
        how = {"traffic": "weights", "bound": "max-of-sum"}
        scored = m.prefill(4, 1000, logits="all").seconds(H100, **how)
        assert scored == pytest.approx(2 * each * 4000, rel=5e-3)  # norms take the rest
        trained = m.train_step(4, 1000).seconds(H100, **how)
        assert trained == pytest.approx(6 * each * 4000, rel=5e-3)


def test_the_step_itself_reads_rows_of_the_embedding_table():
    for name, tokens in (("llama-3-8b", 1), ("llama-3-8b", 64), ("gpt2", 1)):
        m = rl.model(name)
        w = m.decode(tokens, 9)
        table = 0 if m.tied else (m.vocab - tokens) * m.hidden
        places = max(0, m.positions - tokens) - (tokens if m.tied else 0)  # a tied row comes again
        unread = 2 * (table + places * m.hidden)
        assert w.traffic["weights"] == m.weight_bytes() - unread
        notes = w.time(H100, traffic={"weights", "kv"}).notes
        assert any("every parameter is counted" in note for note in notes)
        assert not any("every parameter" in note for note in w.time(H100).notes)


def test_a_link_adds_a_ring_all_reduce_after_every_block():
    w, link = rl.model("llama-3-70b").decode(16, 4096), 450e9
    sent = 2 * 80 * 2 * (8 - 1) / 8 * 16 * 8192 * 2
    extra = w.seconds(H100, 8, link=link) - w.seconds(H100, 8)
    assert extra == pytest.approx(sent / link)
    assert not any("communication" in note for note in w.time(H100, 8, link=link).notes)


def test_training_adds_up_in_both_directions():
    w, link = LLAMA.train_step(1, 1024), 100e9
    result = 1024 * 4096 * 2
    sent = 4 * 32 * 2 * (2 - 1) / 2 * result
    extra = w.seconds(H100, 2, link=link) - w.seconds(H100, 2)
    assert extra == pytest.approx(sent / link)


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
    ({"traffic": {"weight"}}, ValueError, "did you mean 'weights'"),
    ({"traffic": 3}, TypeError, "traffic=3 must be a set"),
    ({"traffic": iter(("kv",))}, TypeError, "traffic=<.*> must be a set"),
    ({"traffic": [["kv"]]}, ValueError, r"traffic=\['kv'\] is unknown"),
    ({"devices": "2", "machine": "amd-epyc-9654"}, TypeError, "devices='2' is a str"),
    ({"traffic": ()}, ValueError, r"traffic=\(\) is empty; give names out of"),
    ({"machine": "a100"}, ValueError, "is vague; it could mean"),
)
def test_bad_questions_are_told(wrong, error, said):
    with pytest.raises(error, match=said):
        LLAMA.decode(1, 8).seconds(**{"machine": A100, **wrong})


def test_a_ledger_in_which_a_step_moves_nothing_is_told():
    with pytest.raises(ValueError, match="traffic='kv': this step moves none of it"):
        LLAMA.train_step(1, 8).tokens_per_s(A100, traffic="kv")


def test_the_limit_of_a_step_is_that_of_its_bound():
    """Compute takes most of the time one operation after the other, and memory of all together."""
    w = rl.model("llama-3-8b").decode(288, 300)
    assert w.limit("rtx-4090") == "compute"
    timing = w.time("rtx-4090", bound="max-of-sum")
    carrying = {role: sum(p.carry[role] for p in timing.parts) for role in w.traffic}
    assert sum(carrying.values()) > sum(p.compute for p in timing.parts)
    assert timing.limit == f"memory:{max(carrying, key=carrying.get)}"
    assert timing.limit == w.limit("rtx-4090", bound="no-overlap")

"""Workloads: memory, warnings, energy, explanations, and what they say of themselves."""

from __future__ import annotations

import math
import pickle
from dataclasses import replace

import pytest

import rooflab as rl
from tests.support.rows import each_row

LLAMA = rl.model("llama-2-7b")
A100, H100 = rl.machine("a100-sxm-80"), rl.machine("h100-sxm")


def test_fitting_in_memory():
    big = rl.model("llama-3-70b").decode(1, 1000)
    assert big.fits(A100) is False
    assert big.fits(A100, devices=2) is True
    assert LLAMA.decode(1, 512).fits("rtx-4090") is True
    assert LLAMA.decode(64, 512).fits("rtx-4090") is False  # 31 GB
    assert LLAMA.decode(1, 1).fits("amd-epyc-9654") is None  # its memory is what one buys
    assert big.seconds(A100) > 0
    assert any("does not fit: 141 GB" in note for note in big.time(A100).notes)


def test_fewer_heads_than_devices_are_held_more_than_once():
    """Reported: 4 KV heads on 8 cards, and a latent cache that no card can hold a part of."""
    four = rl.model("qwen3-30b-a3b").decode(32, 32768)
    assert four.bytes_each(8) == pytest.approx(33.4e9, rel=1e-3)
    assert four.fits("rtx-3090", 8) is False
    latent = rl.model("deepseek-v3").decode(64, 32768, weights="fp8", kv="fp8")
    assert latent.bytes_each(8) == pytest.approx(157.6e9, rel=1e-3)
    assert "does not fit" in latent.explain("h200-sxm", devices=8).fit
    three = LLAMA.decode(8, 4096)  # 32 heads on 3 cards: one has 11
    kv = three.memory["kv"]
    rest = three.memory["weights"] / 3 + three.memory["activations"]
    assert three.bytes_each(3) == pytest.approx(rest + kv * 11 / 32)


def test_memory_has_its_parts():
    w = LLAMA.decode(4, 1000, weights="int8", kv="int8")
    assert w.memory["weights"] == LLAMA.parameters
    assert w.memory["kv"] == LLAMA.kv_bytes(4, 1000, "int8")
    assert 0 < w.memory["activations"] < 2e6
    assert w.memory_bytes == sum(w.memory.values())


def test_beyond_the_trained_context_is_said_and_timed():
    w = LLAMA.decode(1, 8192)
    assert w.warnings == ("context=8192 is beyond the 4096 tokens of its training",)
    assert w.seconds(A100) > 0
    assert LLAMA.decode(1, 4096).warnings == ()
    assert any("look back" in text for text in rl.model("gemma-2-9b").decode(1, 8000).warnings)
    assert any("7.92 of 8" in text for text in rl.model("mixtral-8x7b").decode(16, 8).warnings)


def test_heads_that_cannot_be_split_are_said():
    notes = rl.model("llama-3-70b").decode(1, 8).time(H100, 16).notes
    assert any("16 ways" in note for note in notes)


def test_an_explanation_multiplies_out():
    w = LLAMA.decode(1, 512)
    told = w.explain(A100, tokens_per_s=104.9)
    assert told.start * math.prod(f.factor for f in told.factors) == pytest.approx(1 / 104.9)
    assert told.estimated_tokens_per_s == pytest.approx(w.tokens_per_s(A100))
    assert told.bound_tokens_per_s == pytest.approx(1 / w.bound(A100))
    assert told.share == pytest.approx(104.9 * w.bound(A100))
    assert [f.name for f in told.factors] == [
        "KV cache", "activations", "measured roof", "unexplained",
    ]  # fmt: skip
    assert "about 151 tokens/s" in told.sentence
    assert "at most 152; measured 104.9 tokens/s, 69 % of the estimate" in str(told)
    assert "limited by reading the weights" in repr(told)


def test_an_explanation_without_a_measurement_leads_to_the_estimate():
    w = LLAMA.prefill(1, 2048)
    told = w.explain("rtx-4090")
    assert told.measured is None
    assert told.seconds == w.seconds("rtx-4090")
    assert told.share == w.bound("rtx-4090") / w.seconds("rtx-4090")
    assert told.start * math.prod(f.factor for f in told.factors) == pytest.approx(told.seconds)
    assert "unexplained" not in str(told)
    assert "limited by compute), at most " in told.sentence
    assert told.sentence.count("at most") == 1


def test_more_than_the_bound_is_doubted():
    told = LLAMA.decode(1, 512).explain(A100, 400)
    assert told.share > 1
    assert "More than the bound allows" in told.sentence


def test_what_a_workload_says_of_itself():
    said = repr(LLAMA.decode(2, 512))
    assert said.startswith("llama-2-7b decode, batch 2, context 512: 2 tokens")
    assert "weights 13.2 GB (bf16)" in said
    assert len(said.splitlines()) == 2 + len(LLAMA.decode(2, 512).steps)


@each_row(0, -5, float("nan"))
def test_a_measured_rate_must_be_positive(rate):
    with pytest.raises(ValueError, match="tokens_per_s"):
        LLAMA.decode(1, 8).explain(A100, rate)
    with pytest.raises(TypeError, match="tokens_per_s"):
        LLAMA.decode(1, 8).explain(A100, "fast")


def test_an_explanation_from_published_roofs():
    w = LLAMA.decode(1, 105)
    told = w.explain(A100, 104.9, roofs="measured")
    assert told.estimate.seconds == w.seconds(A100, roofs="measured")
    assert told.bound.seconds == w.bound(A100, roofs="measured")
    assert "at most" not in told.sentence  # what somebody reached is no bound of what one can
    assert told.share > w.explain(A100, 104.9).share


def test_every_limit_has_its_words():
    m = rl.recording("epyc-2core-vm").machine
    tiny = rl.Model(hidden=8, layers=2, heads=2, vocab=8).decode(1, 2, "fp32", "fp32")
    assert "limited by the calls" in tiny.explain(m).sentence
    far = rl.model("llama-3-8b").decode(64, 8)
    assert "the link between devices" in far.explain(H100, devices=8, link=1e6).sentence
    cached = LLAMA.decode(64, 4096)
    assert "reading the KV cache" in cached.explain(A100).sentence
    assert "8 × NVIDIA" in far.explain(H100, devices=8).sentence


def test_a_workload_survives_pickle_and_replace():
    w = LLAMA.decode(2, 64)
    again = pickle.loads(pickle.dumps(w))
    assert (again.flops, again.bytes, again.model) == (w.flops, w.bytes, w.model)
    assert replace(w, phase="other").flops == w.flops


def test_activations_held_are_those_of_the_largest_operation():
    w = LLAMA.prefill(1, 2048)
    widest = 3 * 2048 * 11008 * 2  # gate and up read, their product written
    assert w.memory["activations"] == 2048 * 4096 * 2 + widest
    stored = LLAMA.prefill(1, 2048, attention="materialised")
    scores, queries = 32 * 2048**2 * 2, 2048 * 4096 * 2
    assert stored.memory["activations"] == queries + scores + 2 * queries  # q and k, or v and out


def test_logits_of_all_positions_pass_the_head():
    last, every = (LLAMA.prefill(2, 100, logits=logits) for logits in ("last", "all"))
    head = 2 * LLAMA.vocab * LLAMA.hidden
    assert every.flops - last.flops == 2 * 99 * head
    with pytest.raises(ValueError, match="logits='first' is unknown; .*Known: last, all"):
        LLAMA.prefill(1, 8, logits="first")

"""The decode loop: its tokens, its times, what it refuses."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace

import numpy as np
import pytest

import rooflab as rl
from rooflab.labs.llm import decode_loop as decode
from rooflab.labs.llm.decode_loop import Clock, DecodeRun, _promising, decode_loop, loop_weights
from rooflab.labs.llm.transformer import FORMS, SIZES, beyond, loop_model
from rooflab.measure.operands import OperandsTooLarge
from tests.labs.llm.support.plain_transformer import SMALL, WIDE, arrays, grown, held
from tests.support.rows import each_row

CPU = {"backend": "cpu", "threads": 1}


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """No settling, one prefill, and caches as small as the models."""
    monkeypatch.setattr(decode, "SETTLE_S", 0.0)
    monkeypatch.setattr(decode, "PREFILLS", 1)


@pytest.fixture(scope="module")
def run() -> DecodeRun:
    model = rl.Model(24, 2, 4, kv_heads=2, head_dim=6, intermediate=40, vocab=50, name="tiny")
    return decode_loop(model, 3, 5, 4, **CPU)


@each_row(SMALL, WIDE)
@each_row(None, *FORMS)
def test_tokens_equal_those_of_a_full_recompute(form, model):
    weights = arrays(model, seed=4)
    found = decode_loop(
        model, 3, 6, 5, weights=held(model, weights), dtype="fp64", forms=form, **CPU
    )
    assert [list(row) for row in found.tokens] == grown(model, weights, 3, 6, 5)
    if form:
        assert set(found.forms.values()) == {form}


def test_the_same_loop_gives_the_same_tokens():
    runs = [decode_loop(SMALL, 2, 4, 3, dtype="fp64", **CPU).tokens for _ in range(2)]
    assert runs[0] == runs[1]


def test_every_operation_of_the_ledger_is_timed(run):
    for phase in ("decode", "prefill"):
        names = {step.name for step in run.ledger(phase)}
        assert names | {"sample"} == set(getattr(run, phase))
        measured = run.measurements(phase)
        for step in run.ledger(phase):
            found = measured[step.name]
            assert found.op == step.op
            assert found.median_s * step.count == pytest.approx(run.seconds(step.name, phase))


def test_each_operation_has_its_own_doubts(run):
    calm = replace(run, decode={**run.decode, "q": (1.0,) * 4, "k": (1.0, 2.0, 3.0, 4.0)})
    found = replace(calm, warnings=("on battery: …", "noisy: whole steps")).measurements()
    assert found["q"].warnings == ("on battery: …",)
    assert found["k"].warnings[1].startswith("noisy: the middle half")


def test_what_happens_before_a_step_is_not_timed(monkeypatch):
    order, start = [], Clock.start
    monkeypatch.setattr(Clock, "start", lambda clock: (order.append("clock"), start(clock)))
    decode_loop(SMALL, 2, 4, 3, **CPU, before=lambda: order.append("before"))
    assert order.count("before") == 3
    assert order[-6:] == ["before", "clock"] * 3


def test_seconds_add_up(run):
    parts = sum(np.array(run.samples(name)) for name in run.operations)
    np.testing.assert_allclose(parts, run.samples())
    assert run.tokens_per_s == pytest.approx(3 / run.step_s)
    attention = [run.seconds(name) for name in ("scores", "softmax", "values")]
    assert run.seconds("attention") == pytest.approx(sum(attention), rel=0.5)
    assert len(run.samples()) == 4 and {len(row) for row in run.tokens} == {5}
    assert run.middle == 5 + 1 + 1


def test_the_ledger_is_that_of_the_models_own_decode(run):
    flops = run.model.decode(3, run.middle, "fp32", "fp32", attention="materialised").flops
    assert sum(step.count * step.op.flops for step in run.ledger()) == flops


def test_products_are_chosen_by_measurement(run):
    for name in (p.name for p in run.model.products):
        assert run.forms[name] == min(run.trials[name], key=run.trials[name].get)
        assert set(run.trials[name]) == set(FORMS)


def test_only_a_form_that_is_far_behind_everywhere_is_dropped():
    sweeps = dict.fromkeys(("gemm", "gemv ×B", "gemm on Wᵀ"), {"q": [], "up": []})
    samples = {
        "gemm": {"q": [1.0, 1.2], "up": [5.0]},
        "gemv ×B": {"q": [9.0], "up": [3.0]},  # the best for one product: it stays
        "gemm on Wᵀ": {"q": [1.7], "up": [4.9, 5.5]},
    }
    assert list(_promising(sweeps, samples)) == ["gemm", "gemv ×B"]


def test_a_run_says_all_it_knows_in_two_lines(run):
    first, second = repr(run).split("\n")
    assert "tiny, batch 3, context 5" in first and "tokens/s" in first and "n = 4" in first
    assert "prefill" in second and "5 tokens" in second
    assert "hardly larger than the last-level cache" in second


def test_a_run_survives_the_way_through_json_and_pickle(run):
    plain = json.loads(json.dumps(run.to_dict()))
    for again in (DecodeRun.from_dict(plain), pickle.loads(pickle.dumps(run))):
        assert again.to_dict() == run.to_dict()
        assert again.model == run.model and again.step_s == run.step_s


def test_unknown_operations_come_with_suggestions(run):
    with pytest.raises(ValueError, match="gate"):
        run.seconds("gates")


def test_weights_of_another_model_are_refused():
    held = loop_weights(SMALL, backend="cpu")
    with pytest.raises(ValueError, match="weights are those of small in fp32"):
        decode_loop(SMALL, 1, 4, 2, weights=held, dtype="fp64", **CPU)


def test_what_does_not_fit_is_refused_before_anything_is_allocated(monkeypatch):
    monkeypatch.setattr(decode, "random_weights", lambda *_: pytest.fail("allocated"))
    with pytest.raises(OperandsTooLarge, match=r"llama-2-70b .* TB|GB .*weights 276 GB.* are free"):
        decode_loop(rl.model("llama-2-70b"), 1, 128, 2, **CPU)
    with pytest.raises(OperandsTooLarge, match=r"KV cache .* GB"):
        decode_loop(SMALL, 1_000_000, 100_000, 2, **CPU)


def test_models_of_the_loop_are_larger_than_the_cache():
    for which, model in SIZES.items():
        assert loop_model(which).weight_bytes("fp32") >= model.weight_bytes("fp32")
        for cache in (1 << 20, 64 << 20, 1 << 30):
            assert beyond(model, cache).weight_bytes("fp32") >= 4 * cache


def test_a_hurry_takes_fewer_layers_and_still_more_than_the_cache(monkeypatch):
    whole = loop_model("large")
    monkeypatch.setenv("ROOFLAB_QUICK", "1")
    monkeypatch.setenv("ROOFLAB_LAST_LEVEL", "8M")
    quick = loop_model("large")
    assert quick.layers == 2 < whole.layers and quick.hidden == whole.hidden
    monkeypatch.setenv("ROOFLAB_LAST_LEVEL", "256M")
    model = loop_model("large")
    table = model.vocab * model.hidden
    assert 4 * (model.parameters - table) >= 4 * (256 << 20) and model.layers > 2

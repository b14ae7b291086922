"""Prediction of the loop: what a machine of invented habits gives, and where habits are kept."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rooflab as rl
from rooflab.labs.llm import decode_loop as decode_steps
from rooflab.labs.llm import decode_prediction, transformer
from rooflab.labs.llm.decode_loop import decode_loop, ledger
from rooflab.labs.llm.decode_prediction import (
    WEIGHED,
    bound,
    loop_efficiency,
    predict_decode,
    problem,
)
from rooflab.labs.llm.transformer import ODD, SIZES
from rooflab.measure.backend import select
from tests.labs.llm.support.habits import BYTE, CALL, HERE, habits
from tests.labs.llm.support.plain_transformer import SMALL
from tests.support.rows import each_row


@settings(max_examples=8, deadline=None)
@given(
    st.sampled_from([*SIZES.values(), SMALL]), st.sampled_from([1, 2, 5, 16, 64]),
    st.integers(20, 500), st.sampled_from(["decode", "prefill"]),
)  # fmt: skip
def test_habits_are_found_in_any_other_model(model, batch, context, phase):
    batch = 1 if phase == "prefill" else batch
    told = predict_decode(model, batch, context, HERE, phase=phase, efficiency=habits())
    steps = ledger(model, batch, context if phase == "prefill" else 1, context, "fp32")
    for step in steps:
        expected = step.count * (CALL + BYTE * step.op.bytes)
        if step.name in WEIGHED:
            expected = 2 * step.count * bound(step.op, HERE)
        # attention has a cost a problem too, which other shapes need not tell from one a byte
        close = 0.5 if step.name in ("scores", "values") else 1e-3
        assert told.seconds[step.name] == pytest.approx(expected, rel=close), step.name
    assert told.seconds["sample"] == pytest.approx(1e-9 * batch * model.vocab)
    assert told.total_s == pytest.approx(sum(told.seconds.values()))
    assert told.total_s > told.bound_s


def test_the_bound_is_the_roofline_of_every_operation():
    told = predict_decode(SIZES["small"], 4, 100, HERE, efficiency=habits())
    steps = ledger(SIZES["small"], 4, 1, 100, "fp32")
    expected = sum(s.count * max(s.op.flops / 1e11, s.op.bytes / 2e10) for s in steps)
    assert told.bound_s == pytest.approx(expected)
    assert told.tokens_per_s == pytest.approx(4 / told.total_s) and told.tokens == 4


@each_row(1, 8)
def test_the_cost_of_a_call_does_not_grow_with_the_bytes(batch):
    """Empty kernels take as long in a large model as in the odd one."""
    floor, share = 4e-6, 0.5
    known = {"overhead_s": floor, "cold_overhead_s": floor, "points": []}
    card = replace(HERE, routines={"gemm/fp32": known, "gemv/fp32": known})
    told = habits(lambda rows: share)
    rows = []
    for row in told["rows"]:
        steps = ledger(ODD, row["batch"], row["queries"], row["context"], "fp32")
        counts = {step.name: step.count for step in steps if step.name in WEIGHED}
        seconds = {n: s + floor * counts.get(n, 0) for n, s in row["seconds"].items()}
        rows.append({**row, "seconds": {**seconds, "sample": seconds["sample"] + floor}})
    found = predict_decode(SIZES["large"], batch, 99, card, efficiency={**told, "rows": rows})
    for step in ledger(SIZES["large"], batch, 1, 99, "fp32"):
        if step.name in WEIGHED:
            expected = step.count * (floor + bound(step.op, card) / share)
            assert found.seconds[step.name] == pytest.approx(expected, rel=1e-3), step.name
    expected = floor + 1e-9 * batch * SIZES["large"].vocab
    assert found.seconds["sample"] == pytest.approx(expected, rel=1e-3)


def test_between_the_batches_that_were_timed_lies_what_lies_between():
    known = habits(lambda rows: 0.8 if rows <= 4 else 0.2)
    step = {n: predict_decode(SIZES["small"], n, 99, HERE, efficiency=known) for n in (4, 6, 8)}
    shares = [step[n].bounds["up"] / step[n].seconds["up"] for n in (4, 6, 8)]
    assert shares[0] == pytest.approx(0.8) and shares[2] == pytest.approx(0.2)
    assert shares[0] > shares[1] > shares[2]


@pytest.fixture
def quick(monkeypatch, tmp_path):
    """A tiny odd model, two runs, and a cache folder of its own."""
    tiny = rl.Model(20, 2, 2, head_dim=6, intermediate=28, vocab=44, name="odd sizes")
    monkeypatch.setenv("ROOFLAB_CACHE", str(tmp_path))
    monkeypatch.setattr(decode_prediction, "ODD", tiny)
    monkeypatch.setattr(transformer, "last_level_bytes", lambda: 1 << 10)
    monkeypatch.setattr(decode_prediction, "RUNS", ((1, 4), (3, 6)))
    monkeypatch.setattr(decode_steps, "SETTLE_S", 0.0)
    return tmp_path


def test_habits_are_measured_once_and_kept(quick, monkeypatch):
    shares = []
    found = loop_efficiency("cpu", 1, progress=shares.append)
    assert [(row["phase"], row["batch"]) for row in found["rows"]] == [
        ("prefill", 1), ("decode", 1), ("prefill", 1), ("decode", 3)
    ]  # fmt: skip
    assert shares[-1] == 1.0 and not problem(found)
    monkeypatch.setattr(decode_prediction, "decode_loop", lambda *_: pytest.fail("measured again"))
    assert loop_efficiency("cpu", 1, progress=False) == json.loads(json.dumps(found))


def test_damaged_habits_are_measured_again(quick):
    loop_efficiency("cpu", 1, progress=False)
    (file,) = quick.glob("decode-*.json")
    file.write_text('{"schema": 2, "rows": [{"seconds": {"q": -1}}]}')
    with pytest.warns(UserWarning, match="damaged or of another version: measuring"):
        assert len(loop_efficiency("cpu", 1, progress=False)["rows"]) == 4
    assert problem({"schema": 1}) and problem([]) and problem({"schema": 2, "rows": [3]})


def test_a_large_cache_is_emptied_instead_of_outgrown(monkeypatch):
    calls = []

    def loop(model, *arguments, before, **more):
        calls.append((model.layers, before))
        return decode_loop(SMALL, 1, 4, 1, backend="cpu", threads=1)

    monkeypatch.setattr(decode_prediction, "decode_loop", loop)
    monkeypatch.setattr(decode_prediction, "loop_weights", lambda *_: None)
    monkeypatch.setattr(decode_prediction, "evictor", lambda *_: "evict")
    for mib, before in ((300, "evict"), (48, None)):
        monkeypatch.setattr(decode_prediction, "last_cache_bytes", lambda _, n=mib: n << 20)
        decode_prediction._measured(select("cpu"), 1, "fp32", False)
        layers, told = calls[-1]
        assert told == before and (layers == ODD.layers) == (mib == 300)

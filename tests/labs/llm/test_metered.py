"""The ledger of a step against a transformer that was run, and metered while it ran."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rooflab.labs.llm.model import Model
from tests.labs.llm.support.metered import Meter, Metered

FORMATS = {"weights": "fp16", "kv": "int8", "activations": "fp32"}
WIDTH = {"weights": 2, "kv": 1, "activations": 4}  # three widths, so that no role hides another


@st.composite
def models(draw, latent: bool = False) -> Model:
    """A small transformer of any of the kinds that the catalogue has."""
    group, kv_heads, half = (
        draw(st.integers(1, 3)),
        draw(st.integers(1, 2)),
        draw(st.integers(1, 3)),
    )
    heads, layers = group * kv_heads, draw(st.integers(1, 3))
    how = {
        "hidden": draw(st.integers(4, 12)), "layers": layers, "heads": heads,
        "kv_heads": kv_heads, "head_dim": 2 * half, "intermediate": draw(st.integers(3, 9)),
        "vocab": 97, "tied": draw(st.booleans()), "gated": draw(st.booleans()),
        "norm": draw(st.sampled_from(["rms", "layer"])), "norms": draw(st.sampled_from([2, 4])),
        "positions": draw(st.sampled_from([0, 64])),
    }  # fmt: skip
    if latent:
        sizes = {name: draw(st.integers(2, 5)) for name in ("kv_rank", "nope", "value")}
        how |= {"latent": sizes | {"rope": 2 * half}, "positions": 0, "kv_heads": heads}
        return Model(**how)
    names = ("q", "k", "v", "o", "up", "down") + (("gate",) if how["gated"] else ())
    how["biases"] = tuple(draw(st.sets(st.sampled_from(names))))
    if draw(st.booleans()):
        how["window"] = draw(st.integers(1, 6))
        how["windowed_layers"] = draw(st.integers(1, layers))
    return Model(**how)


def mixture(draw, m: Model) -> Model:
    """``m`` with experts in place of its MLP, in some of its layers."""
    experts = draw(st.integers(1, 5))
    return replace(
        m, biases=(), experts=experts, experts_active=draw(st.integers(1, experts)),
        shared_intermediate=draw(st.sampled_from([0, 3])),
        dense_layers=draw(st.integers(0, m.layers)), dense_intermediate=7,
    )  # fmt: skip


def words(batch: int, count: int) -> np.ndarray:
    """Tokens of which no two are the same, as the ledger takes them."""
    assert batch * count <= 97
    return np.arange(batch * count).reshape(batch, count)


def ran(m: Model, tokens: np.ndarray, old: int = 0, every_logit: bool = False):
    """The meter of one step over ``tokens``, behind ``old`` positions of which nothing is metered,
    and its logits."""
    machine = Metered(m, Meter(WIDTH))
    if old:
        machine.step(np.arange(97)[::-1][: len(tokens) * old].reshape(len(tokens), old))
    machine.meter = Meter(WIDTH)
    return machine.meter, machine.step(tokens, every_logit)


def same(w, meter: Meter) -> None:
    """Name by name: runs, FLOP, and bytes of each role."""
    steps = {step.name: step for step in w.steps}
    assert set(steps) == set(meter.runs)
    for name, step in steps.items():
        assert step.count == meter.runs[name], name
        assert step.whole.flops == meter.flops[name], name
        for role in WIDTH:
            assert step.bytes_of(role) == meter.moved[name, role], (name, role)
    assert w.flops == sum(meter.flops.values())
    assert w.traffic == {
        role: sum(n for (_, its), n in meter.moved.items() if its == role) for role in WIDTH
    }
    assert w.launches == sum(meter.runs.values())


@settings(max_examples=60)
@given(models(), st.integers(1, 3), st.integers(0, 8))
def test_a_decode_step_is_what_a_transformer_did(m, batch, old):
    meter, _ = ran(m, words(batch, 1), old)
    same(m.decode(batch, old + 1, **FORMATS), meter)


@settings(max_examples=60)
@given(models(), st.integers(1, 3), st.integers(1, 9), st.booleans())
def test_a_prefill_is_what_a_transformer_did(m, batch, tokens, every):
    meter, _ = ran(m, words(batch, tokens), every_logit=every)
    same(m.prefill(batch, tokens, **FORMATS, logits="all" if every else "last"), meter)


@settings(max_examples=30)
@given(models(latent=True), st.integers(1, 3), st.integers(0, 6))
def test_so_it_is_with_latent_attention(m, batch, old):
    meter, _ = ran(m, words(batch, 1), old)
    same(m.decode(batch, old + 1, **FORMATS), meter)
    meter, _ = ran(m, words(batch, old + 2))
    same(m.prefill(batch, old + 2, **FORMATS), meter)


@settings(max_examples=40)
@given(models(), st.integers(0, 5), st.data())
def test_so_it_is_with_experts_for_one_token(m, old, data):
    """One token meets exactly its active ones; for more the ledger is a mean, see below."""
    m = mixture(data.draw, m)
    meter, _ = ran(m, words(1, 1), old)
    same(m.decode(1, old + 1, **FORMATS), meter)


@settings(max_examples=40)
@given(models() | models(latent=True), st.integers(1, 2), st.integers(1, 6))
def test_the_metered_transformer_is_one(m, batch, old):
    """Its steps with a cache give the logits of one pass over everything: it computes rightly."""
    tokens = words(batch, old + 2)
    whole = Metered(m, Meter(WIDTH)).step(tokens)
    parts = Metered(m, Meter(WIDTH))
    if old > 1 and not m.latent:
        parts.step(tokens[:, :1])
        parts.step(tokens[:, 1:old])
    else:
        parts.step(tokens[:, :old])
    parts.step(tokens[:, old : old + 1])
    np.testing.assert_allclose(parts.step(tokens[:, old + 1 :]), whole, rtol=1e-7, atol=1e-9)


@settings(max_examples=40)
@given(models() | models(latent=True))
def test_the_weights_that_it_holds_are_the_models(m):
    """Parameters, and bytes of the cache, counted from the arrays that exist."""
    machine = Metered(m, Meter(WIDTH))
    machine.step(words(2, 5))
    arrays = [array for layer in machine.layers for array in layer.values()] + [machine.table]
    arrays += [machine.rows] if m.positions else []
    arrays += [] if m.tied else [machine.head]
    norms = (m.layers * m.norms + 1) * m.hidden * (2 if m.norm == "layer" else 1)
    held = sum(array.size for array in arrays) + norms
    assert m.parameters == held and m.weight_bytes("fp32") == 4 * held
    parts = 1 if m.latent else 2  # of latent attention only the latent vectors
    reach = [min(5, m.window) if n < m.windowed_layers else 5 for n in range(m.layers)]
    kept = sum(
        part[:, -most:].size
        for layer, most in zip(machine.cache, reach, strict=True) for part in layer[:parts]
    )  # fmt: skip
    assert m.kv_bytes(2, 5, "int8") == kept


def test_a_mixtures_ledger_is_the_mean_of_what_was_metered():
    """200 batches of a random router, whose experts' reads the ledger has on average."""
    m = Model(6, 1, 1, head_dim=2, intermediate=4, vocab=97, experts=8, experts_active=2)
    rng = np.random.default_rng(0)
    read = []
    for _ in range(200):
        machine = Metered(m, Meter(WIDTH))
        chosen = np.array([rng.choice(8, 2, replace=False) for _ in range(5)])
        machine.experts(machine.layers[0], rng.normal(size=(5, 6)), chosen)
        read.append(machine.meter.moved["up", "weights"])
    step = next(s for s in m.decode(5, 1, **FORMATS).steps if s.name == "up")
    assert step.bytes_of("weights") == pytest.approx(np.mean(read), rel=0.03)
    assert step.whole.flops == machine.meter.flops["up"]

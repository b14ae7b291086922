"""The transformer against one written the long way, and against PyTorch's own layers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rooflab.labs.llm import transformer as layers
from rooflab.labs.llm.decode_loop import lay, unmarked
from rooflab.labs.llm.model import Model
from rooflab.labs.llm.transformer import (
    FORMS,
    by_columns,
    cache_for,
    forward_pass,
    random_weights,
    require_loop,
    run,
    shapes,
)
from rooflab.measure.backend import select
from tests.labs.llm.support.plain_transformer import SMALL, WIDE, arrays, held, logits
from tests.support.rows import each_row

CPU = select("cpu")


def passed(model, weights, tokens, cut, form="gemm", dtype="fp64"):
    """Logits of the last tokens: ``cut`` of them as a prefill, the others one by one."""
    own = held(model, weights, dtype)
    forms = lay(own, {p.name: form for p in model.products})
    batch, total = tokens.shape
    cache = cache_for(model, batch, total, dtype, CPU)
    found = run(
        forward_pass(own, forms, batch, cut, cut), tokens[:, :cut], cache, 0, unmarked
    ).copy()
    one = forward_pass(own, forms, batch, 1, total)
    for at in range(cut, total):
        found = run(one, tokens[:, at : at + 1], cache, at, unmarked)
    return found


@each_row(SMALL, WIDE)
@each_row(*FORMS)
def test_cached_passes_equal_a_full_recompute(form, model):
    weights = arrays(model)
    tokens = np.random.default_rng(1).integers(0, model.vocab, (3, 8))
    expected = np.array([logits(model, weights, row)[-1] for row in tokens])
    for cut in (1, 5, 8):
        found = passed(model, weights, tokens, cut, form)
        np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-10)


def test_fp32_agrees_to_its_rounding():
    weights = arrays(SMALL)
    tokens = np.random.default_rng(2).integers(0, SMALL.vocab, (2, 6))
    expected = np.array([logits(SMALL, weights, row)[-1] for row in tokens])
    np.testing.assert_allclose(passed(SMALL, weights, tokens, 3, dtype="fp32"), expected, atol=2e-4)


@settings(max_examples=25, deadline=None)
@given(
    kv_heads=st.integers(1, 3), group=st.integers(1, 3), half=st.integers(1, 4),
    batch=st.integers(1, 3), cut=st.integers(1, 5),
)  # fmt: skip
def test_any_small_model_equals_its_recompute(kv_heads, group, half, batch, cut):
    model = Model(
        10, 1, kv_heads * group, kv_heads=kv_heads, head_dim=2 * half, intermediate=7, vocab=11,
    )  # fmt: skip
    weights = arrays(model, seed=half)
    tokens = np.random.default_rng(cut).integers(0, 11, (batch, 5))
    expected = np.array([logits(model, weights, row)[-1] for row in tokens])
    np.testing.assert_allclose(passed(model, weights, tokens, cut), expected, atol=1e-10)


def test_softmax_rows_add_up_to_one_however_large_they_are():
    scores = np.random.default_rng(0).normal(size=(3, 4, 9)) * 1e3
    layers.softmax(scores, np)
    np.testing.assert_allclose(scores.sum(-1), 1)


def test_swiglu_cannot_overflow():
    gate, up = np.array([-1e4, -3.0, 0.0, 3.0, 1e4], "f"), np.ones(5, "f")
    with np.errstate(all="raise"):
        layers.swiglu(gate, up, np.empty(5, "f"), np)
    sigmoid = 1 / (1 + np.exp(3))
    np.testing.assert_allclose(
        up, [0, -3 * sigmoid, 0, 3 * (1 - sigmoid), 1e4], rtol=1e-5, atol=1e-6
    )


@each_row("gemm", "gemm on Wᵀ")
def test_laying_weights_otherwise_keeps_the_numbers_and_the_memory(form):
    weights = random_weights(SMALL, "fp32", CPU)
    before = [matrix.copy() for matrix in weights.arrays["up"]]
    where = [matrix.ctypes.data for matrix in weights.arrays["up"]]
    lay(weights, {"up": form})
    for matrix, old, place in zip(weights.arrays["up"], before, where, strict=True):
        assert (matrix == old).all() and matrix.ctypes.data == place
        assert matrix.flags.f_contiguous == (form == "gemm")


def test_the_order_of_a_form_is_the_librarys_own():
    assert by_columns(FORMS["gemm"], CPU) and not by_columns(FORMS["gemm on Wᵀ"], CPU)


def test_random_weights_have_the_parameters_of_the_model():
    for model in (SMALL, WIDE):
        drawn = random_weights(model, "fp32", CPU)
        assert drawn.nbytes == 4 * model.parameters
        assert {*drawn.arrays} == {*shapes(model)}
    twice = [random_weights(SMALL, "fp64", CPU).arrays["q"][0] for _ in range(2)]
    assert (twice[0] == twice[1]).all()


def test_random_weights_keep_the_size_of_activations():
    drawn = random_weights(Model(256, 1, 4, vocab=300), "fp32", CPU)
    assert np.std(drawn.arrays["up"][0]) == pytest.approx(1 / 16, rel=0.02)


@each_row(
    ({"experts": 4, "experts_active": 2}, "experts=4"),
    ({"window": 8}, "window=8"),
    ({"positions": 64}, "Llama kind, and model has positions=64"),
)
def test_parts_that_the_loop_has_not_are_named(wrong, said):
    with pytest.raises(ValueError, match=said):
        require_loop(Model(24, 2, 4, **wrong))

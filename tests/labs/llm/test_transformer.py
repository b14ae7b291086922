"""The transformer against one written the long way, and against PyTorch's own layers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rooflab.labs.llm import transformer as layers
from rooflab.labs.llm.decode_loop import given_forms, lay, unmarked
from rooflab.labs.llm.model import Model
from rooflab.labs.llm.transformer import (
    FORMS,
    by_columns,
    cache_for,
    forward_pass,
    given_weights,
    random_weights,
    relaid,
    require_loop,
    run,
    shapes,
)
from rooflab.measure.backend import select
from tests.labs.llm.support.plain_transformer import PLAIN, SMALL, arrays, logits
from tests.support.rows import each_row

CPU = select("cpu")


def passed(model, weights, tokens, cut, form="gemm", dtype="fp64"):
    """Logits of the last tokens: ``cut`` of them as a prefill, the others one by one."""
    held = given_weights(model, weights, dtype, CPU)
    forms = lay(held, given_forms(held, form))
    batch, total = tokens.shape
    cache = cache_for(model, batch, total, dtype, CPU)
    found = run(
        forward_pass(held, forms, batch, cut, cut), tokens[:, :cut], cache, 0, unmarked
    ).copy()
    one = forward_pass(held, forms, batch, 1, total)
    for at in range(cut, total):
        found = run(one, tokens[:, at : at + 1], cache, at, unmarked)
    return found


@each_row(SMALL, PLAIN)
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
    gated=st.booleans(), tied=st.booleans(), batch=st.integers(1, 3), cut=st.integers(1, 5),
)  # fmt: skip
def test_any_small_model_equals_its_recompute(kv_heads, group, half, gated, tied, batch, cut):
    model = Model(
        10, 1, kv_heads * group, kv_heads=kv_heads, head_dim=2 * half, intermediate=7, vocab=11,
        gated=gated, tied=tied,
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


@each_row(True, False)
def test_laying_weights_otherwise_keeps_the_numbers_and_the_memory(columns):
    weights = random_weights(SMALL, "fp32", CPU)
    before = [matrix.copy() for matrix in weights.matrices("up")]
    where = [matrix.ctypes.data for matrix in weights.matrices("up")]
    weights.lay("up", columns)
    for matrix, old, place in zip(weights.matrices("up"), before, where, strict=True):
        assert (matrix == old).all() and matrix.ctypes.data == place
        assert matrix.flags.f_contiguous == columns
        assert (relaid(matrix, not columns, np) == old).all()


def test_the_order_of_a_form_is_the_librarys_own():
    assert by_columns(FORMS["gemm"], CPU) and not by_columns(FORMS["gemm on Wᵀ"], CPU)


def test_random_weights_have_the_parameters_of_the_model():
    for model in (SMALL, PLAIN):
        held = random_weights(model, "fp32", CPU)
        assert held.nbytes == 4 * model.parameters
        assert {*held.arrays} == {*shapes(model)}
    twice = [random_weights(SMALL, "fp64", CPU, seed=7).arrays["q"][0] for _ in range(2)]
    assert (twice[0] == twice[1]).all()


def test_random_weights_keep_the_size_of_activations():
    held = random_weights(Model(256, 1, 4, vocab=300), "fp32", CPU)
    assert np.std(held.arrays["up"][0]) == pytest.approx(1 / 16, rel=0.02)


@each_row(
    ({"experts": 4, "experts_active": 2}, "experts=4"),
    ({"window": 8}, "window=8"),
    ({"qk_norm": 2}, "qk_norm=2"),
    ({"norms": 4}, "norms=4"),
    ({"head_dim": 5}, "head_dim=5 must be even"),
)
def test_parts_that_the_loop_has_not_are_named(wrong, said):
    with pytest.raises(ValueError, match=said):
        require_loop(Model(24, 2, 4, **wrong))


def test_given_weights_are_checked():
    right = arrays(SMALL)
    with pytest.raises(ValueError, match="'down' is missing; there are embed, q"):
        given_weights(SMALL, {k: v for k, v in right.items() if k != "down"}, "fp32", CPU)
    with pytest.raises(ValueError, match="'extra' is unknown"):
        given_weights(SMALL, {**right, "extra": 1}, "fp32", CPU)
    with pytest.raises(
        ValueError, match=r"'q'\] has shape \(2, 24, 25\); it must be \(2, 24, 24\)"
    ):
        given_weights(SMALL, {**right, "q": np.zeros((2, 24, 25))}, "fp32", CPU)
    with pytest.raises(TypeError, match="dict of arrays"):
        given_weights(SMALL, [1], "fp32", CPU)
    held = given_weights(SMALL, right, "fp64", CPU)
    held.arrays["q"][0][0, 0] = 99
    assert right["q"][0, 0, 0] != 99

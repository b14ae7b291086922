"""The parts of a transformer: published values, symmetries, limits."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rooflab.labs.llm import transformer as layers
from tests.support.rows import each_row

ROWS = np.random.default_rng(0).normal(size=(4, 6)) * 5 + 2


@given(st.floats(0.1, 1e3))
def test_rms_norm_forgets_the_scale_of_its_input(scale):
    found, scaled = np.empty((2, *ROWS.shape))
    layers.rms_norm(ROWS, np.ones(6), found, np)
    layers.rms_norm(ROWS * scale, np.ones(6), scaled, np)
    np.testing.assert_allclose(scaled, found, rtol=1e-3)
    np.testing.assert_allclose((found**2).mean(1), 1, rtol=1e-4)


@given(st.floats(-100, 100))
def test_layer_norm_forgets_a_shift_too(shift):
    found, shifted = np.empty((2, *ROWS.shape))
    layers.layer_norm(ROWS, np.ones(6), np.zeros(6), found, np)
    layers.layer_norm(ROWS + shift, np.ones(6), np.zeros(6), shifted, np)
    np.testing.assert_allclose(shifted, found, atol=1e-9)
    np.testing.assert_allclose(found.mean(1), 0, atol=1e-12)
    np.testing.assert_allclose(found.std(1), 1, rtol=1e-4)


def test_norms_weigh_and_shift():
    found = np.empty(ROWS.shape)
    layers.layer_norm(ROWS, np.zeros(6), np.arange(6.0), found, np)
    np.testing.assert_allclose(found, np.arange(6.0)[None].repeat(4, 0))
    layers.rms_norm(ROWS, np.arange(6.0), found, np)
    assert (found[:, 0] == 0).all()


@each_row((0, 0), (1, 0.841192), (-1, -0.158808), (3, 2.996363))
def test_gelu_has_its_published_values(x, y):
    """The tanh form, as PyTorch's gelu(approximate="tanh") gives it."""
    up = np.array([float(x)])
    layers.gelu(up, np.empty(1), np)
    assert up[0] == pytest.approx(y, abs=2e-6)


@each_row((0, 0), (1, 0.731059), (-1, -0.268941), (5, 4.966536))
def test_silu_has_its_published_values(x, y):
    up = np.ones(1)
    layers.swiglu(np.array([float(x)]), up, np.empty(1), np)
    assert up[0] == pytest.approx(y, abs=1e-6)


def test_position_zero_turns_nothing():
    cos, sin = layers.turns(3, 8, np.float64, np)
    assert (cos[0] == 1).all() and (sin[0] == 0).all()
    x = np.random.default_rng(1).normal(size=(1, 1, 2, 8))
    turned = x.copy()
    layers.rope(turned, cos[:1], sin[:1])
    np.testing.assert_array_equal(turned, x)


def test_the_first_pair_turns_by_one_radian_a_position():
    cos, sin = layers.turns(4, 6, np.float64, np)
    np.testing.assert_allclose(np.arctan2(sin, cos)[:, 0], [0, 1, 2, 3])
    assert (np.diff(np.arctan2(sin, cos)[1]) < 0).all()  # later pairs turn more slowly


def test_each_query_sees_itself_and_what_came_before():
    scores = np.zeros((2, 3, 5))
    layers.hide_future(scores, 2, np)  # three queries after two cached positions
    assert np.isfinite(scores).sum(-1).tolist() == [[3, 4, 5]] * 2
    one = np.zeros((2, 1, 5))
    layers.hide_future(one, 4, np)
    assert np.isfinite(one).all()

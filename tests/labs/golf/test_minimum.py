"""The default minimum never exceeds what the function's own trips move."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rooflab.labs.golf import golf
from rooflab.labs.golf.buffers import Coverage, distinct_bytes
from tests.labs.golf.conftest import SMALL
from tests.labs.golf.support import programs
from tests.support.rows import each_row

N = 1 << 16
PICKS = st.tuples(
    st.integers(0, len(programs.OPERATIONS) - 1), st.integers(0, 40), st.integers(0, 40),
    st.integers(0, programs.N - 1),
)  # fmt: skip


@settings(max_examples=75, deadline=None)
@given(
    picks=st.lists(PICKS, max_size=15),
    returned=st.lists(st.integers(0, 40), max_size=3),
    cache=st.sampled_from([0, 200, 1024, 5000]),
    seed=st.integers(0, 5),
)
def test_no_random_program_scores_below_one(picks, returned, cache, seed):
    f, arrays = programs.program(picks, returned), programs.inputs(seed)
    done = golf(f, *arrays, cache=cache)
    assert done.score >= 1
    plain = f(*[array.copy() for array in arrays])
    for traced, right in zip(done.result, plain, strict=True):
        np.testing.assert_array_equal(traced, right)


def mask(x, i, y):
    x[x < 0.5] = 0


def scatter(x, i, y):
    x[i] = y


def one_by_one(x, i, y):
    np.add.at(x, i, y)


@each_row(
    (mask, 14 / 12),  # reads x, writes the mask, reads it, writes half of x; needs x and half
    (scatter, 1),
    (one_by_one, 1),
    (lambda x, i, y: x[i], 1),
    (lambda x, i, y: np.take(x, i), 1),
    (lambda x, i, y: x[np.arange(0, N, 8)], 2),  # x[::8].copy() needs no index
    (lambda x, i, y: x.item(3) + x[4], 1),
    (lambda x, i, y: np.zeros(N), 1),  # nothing written, nothing moved
)
def test_an_index_needs_what_it_names(function, score):
    random = np.random.default_rng(5)
    arrays = random.random(N), random.integers(0, N, N), random.random(N)
    assert golf(function, *arrays, cache=SMALL).score == pytest.approx(score, rel=0.01)


def test_naming_everything_twice_needs_it_once():
    x, i = np.ones(N), np.arange(N)
    done = golf(lambda x, i: (x[i].sum(), x[i].sum()), x, i, cache=SMALL)
    assert done.minimum == 2 * 8 * N  # x and i
    assert done.bytes == pytest.approx(2 * (3 + 1) * 8 * N, rel=0.03)


@settings(max_examples=30, deadline=None)
@given(
    shape=st.lists(st.integers(1, 9), min_size=1, max_size=4),
    strides=st.lists(st.integers(-5, 5), min_size=4, max_size=4),
)
def test_distinct_bytes_of_any_strides(shape, strides):
    base = np.zeros(400, np.int16)
    steps = tuple(2 * step for step in strides[: len(shape)])
    view = np.ndarray(shape, np.int16, base, 400, steps)
    places = {200 + int(np.dot(at, steps)) // 2 for at in np.ndindex(*shape)}
    assert distinct_bytes(view) == Coverage(view).bytes() == 2 * len(places)


def test_huge_windows_are_counted_without_walking_through_them():
    done = golf(lambda x: np.lib.stride_tricks.sliding_window_view(x, N // 2)[0, 0], np.ones(N))
    assert done.bytes == done.minimum == 8

"""The strict rule: near is what the function makes and has room for, and nothing else."""

from __future__ import annotations

import functools

import numpy as np
import pytest

from rooflab.labs.golf import golf as golf_
from tests.support.rows import each_row

PAD, N, P = 32 * 1024, 1 << 16, 1024
golf = functools.partial(golf_, memory="scratchpad", cache=PAD)
X = np.arange(1.0, N + 1).reshape(-1, 8)


def rows_in_place(x):
    for i in range(0, len(x), 128):
        rows = x[i : i + 128]
        rows /= np.sqrt(np.vecdot(rows, rows))[:, None]
    return x


def rows_copied(x):
    for i in range(0, len(x), 128):
        rows = x[i : i + 128].copy()
        rows /= np.sqrt(np.vecdot(rows, rows))[:, None]
        x[i : i + 128] = rows
    return x


def test_only_a_copy_is_near():
    assert golf(rows_in_place, X).score == pytest.approx(1.5)
    assert golf(rows_copied, X).score == 1
    assert golf_(rows_in_place, X, cache=PAD).score == 1  # a cache keeps what was touched


@each_row((4, 4), (5, 4), (9, 4))
def test_what_lives_at_the_same_time_shares_the_room(alive, near):
    def f(x):
        kept = [x[:P, 0] * i for i in range(alive)]
        return float(sum(one.sum() for one in kept))

    trips = [t for step in golf(f, X).steps for t in step.operands if t.way == "write"]
    assert [t.where for t in trips[:alive]] == ["cache"] * near + ["memory"] * (alive - near)


def test_room_comes_back_when_an_array_is_gone():
    def f(x):
        return sum(float((x[:P, 0] * i).sum()) for i in range(50))

    assert all(t.where == "cache" for s in golf(f, X).steps for t in s.operands if t.name != "x")


def test_a_list_of_small_pieces_saves_nothing():
    def f(x):
        kept = [x[i : i + 128] * 2 for i in range(0, len(x), 128)]
        for i, one in enumerate(kept):
            x[i * 128 : (i + 1) * 128] += one
        return x

    assert golf(f, X).score == pytest.approx((16 + 24) / 16, rel=0.05)

"""golf counts what a person counts by hand, step by step, and computes what NumPy computes."""

from __future__ import annotations

import inspect
from collections import defaultdict

import numpy as np
import pytest

from rooflab.labs.golf import golf
from tests.labs.golf.conftest import SMALL, N
from tests.labs.golf.support.functions_by_hand import BY_HAND
from tests.support.rows import each_row

EDGES = 0.15  # of a byte: what small arrays move once, first and last elements, a mask's quarter


def inputs(function, arrays) -> list:
    return [
        arrays[name].copy() for name in inspect.signature(function).parameters if name in arrays
    ]


@each_row(*BY_HAND)
def test_bytes_by_hand(name, arrays):
    function, by_hand = BY_HAND[name]
    counted = golf(function, *inputs(function, arrays), cache=SMALL)
    per_line: dict[tuple, float] = defaultdict(float)
    for step in counted.steps:  # the turns of a loop add up
        per_line[step.call, step.line, _visits(counted, step)] += step.bytes / N
    moved = sorted(each for each in per_line.values() if each > EDGES)
    assert moved == pytest.approx(sorted(by_hand), abs=EDGES)
    assert counted.bytes / N == pytest.approx(sum(by_hand), abs=EDGES)


def _visits(counted, step) -> int:
    """Number of the same call on the same line: an expression may call a ufunc twice."""
    same = [s for s in counted.steps if (s.call, s.line) == (step.call, step.line)]
    return 0 if len(same) > 8 else next(n for n, s in enumerate(same) if s is step)


@each_row(*BY_HAND)
def test_the_traced_run_computes_what_numpy_computes(name, arrays):
    function, _ = BY_HAND[name]
    given = inputs(function, arrays)
    before = [array.copy() for array in given]
    traced = golf(function, *given).result
    for array, old in zip(given, before):
        np.testing.assert_array_equal(array, old)  # golf works on copies of what f writes to
    plain = function(*given)
    if isinstance(plain, tuple):
        for one, other in zip(traced, plain, strict=True):
            np.testing.assert_array_equal(one, other)
    elif plain is not None:
        np.testing.assert_array_equal(traced, plain)
        assert np.asarray(traced).dtype == np.asarray(plain).dtype
    assert (plain is None) == (traced is None)


def test_forty_bytes_not_twenty_four(arrays):
    """NumPy's 0.5·x + y finishes 0.5·x first; BLAS axpy moves 24 bytes."""
    counted = golf(lambda x, y: 0.5 * x + y, arrays["x"], arrays["y"])
    assert (counted.per_element, counted.minimum_per_element) == (40, 24)
    assert counted.score == pytest.approx(40 / 24)
    scale, add = counted.steps
    assert [(t.name, t.way, t.where) for t in scale.operands] == [
        ("x", "read", "memory"),
        ("tmp1", "write", "memory"),
    ]
    assert [t.name for t in add.operands] == ["tmp1", "y", "result"]
    assert all(t.moved == t.bytes == 8 * N for t in (*scale.operands, *add.operands))
    assert all(t.shape == (N,) and t.dtype == "float64" for t in add.operands)

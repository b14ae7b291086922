"""The arrays that the tests draw once are those that golf draws, and no answer spoils them."""

from __future__ import annotations

import numpy as np
import pytest

from rooflab.labs.golf.holes import HOLES
from tests.support.golf_arrays import drawn_once


@pytest.fixture(scope="module", autouse=True)
def golf_arrays() -> None:
    """Not as in the other modules: what is right is drawn anew here."""


@pytest.mark.parametrize("hole", HOLES.values(), ids=lambda hole: hole.name)
def test_what_is_kept_is_what_is_drawn_and_nobody_writes_over_it(hole):
    wanted = hole.make(512, "float32", 3)
    with drawn_once():
        for _ in range(2):
            given = hole.make(512, "float32", 3)
            for one, other in zip(given, wanted, strict=True):
                np.testing.assert_array_equal(one, other)
                if isinstance(one, np.ndarray):
                    one.fill(0)


def test_another_size_type_or_seed_is_another_draw():
    with drawn_once():
        draw = HOLES["sum-of-squares"].make
        rows = [(512, "float32", 3), (1024, "float32", 3), (512, "float64", 3), (512, "float32", 4)]
        found = [draw(*row)[0] for row in rows]
    assert len({(a.size, a.dtype, float(a[0])) for a in found}) == len(rows)

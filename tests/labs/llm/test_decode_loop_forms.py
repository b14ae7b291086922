"""Which form is taken: the fastest, products of one shape together, without storing twice."""

from __future__ import annotations

import numpy as np
import pytest

from rooflab.labs.llm import decode_loop as room
from rooflab.labs.llm.decode_loop import (
    Clock,
    decoder,
    for_many,
    loop_threads,
    of_numpy,
    step,
    take_in,
    try_forms,
    unmarked,
)
from rooflab.labs.llm.transformer import FORMS, products_only, random_weights
from rooflab.measure.backend import select
from tests.labs.llm.support.plain_transformer import SMALL
from tests.support.rows import each_row

CPU = select("cpu")


@pytest.fixture
def weights():
    return random_weights(SMALL, "fp32", CPU)


def test_trying_changes_no_number(weights):
    before = {name: [a.copy() for a in arrays] for name, arrays in weights.arrays.items()}
    trials = try_forms(weights, 3, rounds=2)
    for name, arrays in weights.arrays.items():
        assert all((a == b).all() for a, b in zip(arrays, before[name], strict=True))
    assert {p.name for p in SMALL.products} == {*trials}
    assert all({*each} <= {*FORMS} for each in trials.values())


def test_the_fastest_form_is_chosen_for_all_products_of_a_shape(weights):
    slow, fast = [5.0, 5.0], [2.0, 2.0]
    samples = {
        "gemm": {p.name: list(slow) for p in SMALL.products},
        "gemv ×B": {p.name: list(fast if p.name in ("q", "k") else slow) for p in SMALL.products},
    }
    samples["gemm"]["v"] = [1.0, 9.0]  # one slip of the clock does not decide
    found = room._by_shape(weights, samples)
    assert found["k"] == found["v"]  # one shape, so timed together
    assert min(found["v"], key=found["v"].get) == "gemv ×B"


def test_a_prefill_is_gemms_but_for_the_head():
    many = for_many(dict.fromkeys([p.name for p in SMALL.products], FORMS["gemv ×B on Wᵀ"]))
    assert many["q"] == FORMS["gemm on Wᵀ"] and many["head"] == FORMS["gemv ×B on Wᵀ"]


def test_products_alone_are_those_of_the_step(weights):
    made = decoder(weights, 3, 4, 2, "gemm")
    first = take_in(made, np.arange(4)[None])
    marks, alone = [], []
    step(made, first, 4, marks.append)
    products_only(made.step, made.cache, 5, alone.append)
    weighed = [p.name for p in SMALL.products]
    assert [m for m in marks if m in weighed] == [m for m in alone if m in weighed]
    assert alone.count("attention") == marks.count("scores") == SMALL.layers


def test_a_step_repeated_changes_nothing(weights):
    made = decoder(weights, 2, 4, 2, "gemm")
    first = take_in(made, np.arange(4)[None])
    assert (step(made, first, 4) == step(made, first, 4)).all()


def test_a_clock_leaves_nothing_out():
    clock = Clock(CPU)
    clock.start()
    for name in ("a", "b", "a"):
        sum(range(1000))
        clock(name)
    found = clock.seconds()
    (_, began), (_, ended) = clock.marks[0], clock.marks[-1]
    assert list(found) == ["a", "b"] and all(s > 0 for s in found.values())
    assert sum(found.values()) == pytest.approx((ended - began) * 1e-9)
    assert clock.step_s > 0 and unmarked("anything") is None


def test_a_clock_on_a_gpu_waits_once(fake):
    clock = Clock(select("gpu"))
    fake.log.clear()
    clock.start()
    for name in "abcdef":
        fake.launch(name, 3e-6)
        clock(name)
    assert clock.seconds() == pytest.approx(dict.fromkeys("abcdef", 3e-6))
    assert fake.log.count("event.synchronize") <= 2, "not at every mark; again where Python is late"
    assert clock.name == "CUDA events"


def test_numpys_own_products_stay_on_one_thread():
    from threadpoolctl import threadpool_info

    def threads():
        pools = [pool for pool in threadpool_info() if pool["user_api"] == "blas"]
        return {p["num_threads"] for p in pools if "numpy" in p["filepath"]}

    before = threads()
    with loop_threads(2):
        assert threads() <= {1}
    assert threads() == before
    with loop_threads(None):
        assert threads() == before


@each_row(
    ("lib/site-packages/numpy.libs/libscipy_openblas64_-1a.so", True),
    ("lib/site-packages/numpy/.dylibs/libscipy_openblas64_.dylib", True),
    ("lib/site-packages/scipy.libs/libscipy_openblas-2b.so", False),
    ("/home/ann/numpy-course/.venv/lib/site-packages/scipy.libs/libscipy_openblas.so", False),
    ("/opt/conda/lib/libopenblasp-r0.3.so", False),
)
def test_a_pool_is_numpys_by_the_folder_it_came_in(path, numpys):
    assert of_numpy(path) == numpys

"""rl.measure from end to end: what it returns, and how many threads it lets run."""

from __future__ import annotations

import threading

import pytest
from threadpoolctl import threadpool_info

import rooflab.count as rl
from rooflab.measure import measure as room
from rooflab.measure import roofs
from rooflab.measure.measure import measure
from rooflab.measure.measurement import Measurement
from rooflab.measure.timing import MEASUREMENT_LOCK
from tests.support.products import GEMM
from tests.support.rows import each_row

pytestmark = pytest.mark.usefixtures("quick")


@each_row("cold", "warm")
@each_row(rl.axpy(5000), rl.dot(50), rl.gemv(40, 30, "fp64"), GEMM)
def test_it_measures(op, cache):
    found = measure(op, cache=cache, threads=1)
    assert isinstance(found, Measurement) and found.op == op and found.cache == cache
    assert found.backend == "cpu" and found.threads == 1
    assert len(found.samples) == 20 and all(s > 0 for s in found.samples)
    assert found.environment["kernel"].startswith("scipy.linalg.blas.")
    assert Measurement.from_dict(found.to_dict()) == found


def test_the_bounds_are_parameters():
    assert len(measure(GEMM, threads=1, samples=5).samples) == 5
    assert len(measure(GEMM, threads=1, samples=10**6, seconds=1e-9, cache="warm").samples) == 3


def test_threads_are_set_while_timing_recorded_and_given_back():
    before = {p["filepath"]: p["num_threads"] for p in threadpool_info()}
    seen = set()

    def run(a, b, c):
        seen.update(p["num_threads"] for p in threadpool_info() if p["user_api"] == "blas")
        return a @ b

    found = measure(GEMM, run, threads=1, cache="warm", samples=3)
    assert seen == {1} and found.threads == 1
    pools = found.environment["blas"]
    assert {p["num_threads"] for p in pools if p["user_api"] == "blas"} == {1}
    assert {p["filepath"]: p["num_threads"] for p in threadpool_info()} == before


def test_numba_keeps_to_the_threads_too():
    numba = pytest.importorskip("numba")
    usual, seen = numba.get_num_threads(), set()

    def run(a, b, c):
        seen.add(numba.get_num_threads())
        return a @ b

    measure(GEMM, run, threads=1, cache="warm", samples=3)
    assert seen == {1} and numba.get_num_threads() == usual


def test_a_blas_that_cannot_be_limited_is_a_warning(monkeypatch):
    monkeypatch.setattr("threadpoolctl.threadpool_info", lambda: [])
    assert measure(GEMM, threads=1, samples=3).warnings[0].startswith("threads not set")


def test_threads_default_to_every_core_and_more_are_warned_of(monkeypatch):
    for module in (room, roofs):
        monkeypatch.setattr(module, "available_cores", lambda: 1)
    assert measure(GEMM, samples=3).threads == 1
    found = measure(GEMM, threads=2, samples=3)
    assert any("2 threads share 1" in text for text in found.warnings)


@each_row(
    ("cold", 300 << 20, True),  # the results of one call rest in such a cache
    ("cold", 1 << 16, False),  # each call pushes out the results of the one before
    ("warm", 300 << 20, False),  # nobody takes a warm call for one that goes to memory
)
def test_cold_results_that_a_large_cache_keeps_are_a_caveat(cache, level, said, monkeypatch):
    monkeypatch.setattr(room, "last_level_bytes", lambda: level)
    monkeypatch.setattr(room, "copies_needed", lambda *_, **__: 2)
    monkeypatch.setattr(room, "evictor", lambda *_: lambda: None)
    found = measure(rl.axpy(1 << 20), threads=1, samples=3, cache=cache)
    assert any(text.startswith("its results, 4.19 MB, may stay") for text in found.warnings) == said


def test_a_measurement_waits_for_the_one_that_is_running():
    entered, found = threading.Event(), []

    def run(x, y):
        entered.set()
        return 2 * x + y

    worker = threading.Thread(target=lambda: found.append(measure(rl.axpy(8), run, samples=3)))
    with MEASUREMENT_LOCK:
        worker.start()
        worker.join(timeout=0.2)
        assert worker.is_alive() and not entered.is_set()
    worker.join(timeout=60)
    assert entered.is_set() and len(found) == 1


def test_a_measurement_inside_another_one_does_not_wait_for_itself():
    inner = []

    def run(x, y):
        inner.append(measure(rl.axpy(4), samples=3, threads=1))
        return 2 * x + y

    assert measure(rl.axpy(8), run, samples=3, seconds=1e-9, cache="warm", threads=1).samples
    assert inner

"""One measurement at a time, whoever asks."""

from __future__ import annotations

import threading

import pytest

import rooflab.count as rl
from rooflab.measure.measure import measure
from rooflab.measure.timing import MEASUREMENT_LOCK

pytestmark = pytest.mark.usefixtures("quick")


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

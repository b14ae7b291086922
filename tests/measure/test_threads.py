"""The stop-watch for work on several cores."""

from __future__ import annotations

import os
import threading

import pytest

from rooflab.measure.threads import Crew


def test_a_crew_of_one_is_the_caller():
    seen = []
    with Crew(1) as crew:
        crew.run([(lambda: seen.append(threading.get_ident()), ())])
    assert seen == [threading.get_ident()]


def test_a_crew_of_several_works_at_the_same_time_on_threads_of_its_own():
    """Each waits for the others inside its job: one after the other would never end."""
    meeting = threading.Barrier(3, timeout=30)
    seen = []

    def job(number: int) -> None:
        meeting.wait()
        seen.append((number, threading.get_ident()))

    with Crew(3) as crew:
        for _ in range(2):
            crew.run([(job, (i,)) for i in range(3)])
    assert sorted(number for number, _ in seen) == [0, 0, 1, 1, 2, 2]
    assert len({(number, thread) for number, thread in seen}) == 3  # the same thread both times
    assert threading.get_ident() not in {thread for _, thread in seen}


def test_an_error_in_a_worker_reaches_the_caller():
    with Crew(2) as crew, pytest.raises(ZeroDivisionError):
        crew.run([(lambda: 1 / 0, ()), (lambda: None, ())])


def test_binding_to_cores_leaves_the_calling_thread_alone():
    if not hasattr(os, "sched_getaffinity"):
        pytest.skip("this system has no affinity")
    before = os.sched_getaffinity(0)
    with Crew(len(before)) as crew:
        crew.run([(lambda: None, ())] * len(before))
    assert os.sched_getaffinity(0) == before


def test_crew_works_without_affinity(monkeypatch):
    monkeypatch.delattr(os, "sched_setaffinity", raising=False)
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    with Crew(2) as crew:
        assert len(crew.run([(lambda: None, ())] * 2)) == 2

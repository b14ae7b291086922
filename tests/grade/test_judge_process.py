"""The judge of programs: in a process of its own, which may die without harm."""

from __future__ import annotations

import os
import signal
import threading

import numpy as np
import psutil
import pytest

from rooflab.exercises.judge import judge
from rooflab.exercises.observe.collect import collect
from rooflab.exercises.observe.golf import packed, unpacked
from rooflab.exercises.registry import exercise
from rooflab.grade import judge_process
from rooflab.grade.judge_process import judging

SQUARES = exercise("02-golf-squares")
CASES = SQUARES.draw("apart")[:1]


def seen(*more):
    """Observations of a right answer, its programs with ``more`` calls at the end."""
    found = collect("golf", CASES, lambda x: np.dot(x, x))
    for one in found if more else ():
        program = unpacked(one["program"])
        program["calls"] += more
        one["program"] = packed(program)
    return found


@pytest.fixture(scope="module")
def apart():
    with judging() as judge:
        yield judge


def test_verdicts_are_the_same_as_here(apart):
    for answer in (lambda x: np.dot(x, x), lambda x: np.sum(x * x), np.sin):
        came = collect("golf", CASES, answer)
        assert apart(SQUARES, CASES, came) == judge(SQUARES, CASES, came)
    other = exercise("00-time")
    cases = other.draw(0)
    came = collect(other.kind, cases, other.reference)
    assert apart(other, cases, came).passed


MUCH = ["ones", [[1 << 36]], {}, 1000]  # 512 GiB
LONG = [["ones", [[20_000, 20_000]], {}, 1000], *[["matmul.__call__", [{"at": 1000}] * 2, {}, 1000]
        for _ in range(200)]]  # fmt: skip


def test_memory_is_limited(apart):
    assert not apart(SQUARES, CASES, seen(MUCH)).passed
    assert apart(SQUARES, CASES, seen()).passed


def test_time_is_limited(apart, monkeypatch):
    with monkeypatch.context() as short:
        short.setattr(judge_process, "SECONDS", 0.2)
        verdict = apart(SQUARES, CASES, seen(*LONG))
    assert not verdict.passed and verdict.reason == judge_process.TOO_MUCH["golf"]


def children():
    """Those of this process's children that judge."""
    mine = psutil.Process().children()
    return {child.pid for child in mine if "judge_process" in " ".join(child.cmdline())}


def test_a_process_that_was_killed_costs_nothing_and_none_is_left():
    others = children()
    with judging() as apart:
        assert apart(SQUARES, CASES, seen()).passed
        (pid,) = children() - others
        assert psutil.Process(pid).environ()["OPENBLAS_NUM_THREADS"] == "1"
        os.kill(pid, signal.SIGKILL)
        assert apart(SQUARES, CASES, seen()).passed
        assert children() - others - {pid}
    assert children() == others


def test_several_threads_at_once(apart):
    came, found = seen(), []
    threads = [
        threading.Thread(target=lambda: found.append(apart(SQUARES, CASES, came))) for _ in "ab"
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [verdict.passed for verdict in found] == [True] * 2

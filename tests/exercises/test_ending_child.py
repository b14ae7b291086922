"""The child in which ``rl.check`` runs an answer: it ends, whatever that does, and reports."""

from __future__ import annotations

import ctypes
import faulthandler
import os
import re
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import psutil
import pytest

from rooflab.exercises import ending
from rooflab.exercises.check import check
from rooflab.exercises.observe.collect import collect
from rooflab.exercises.registry import exercise
from rooflab.labs.golf import watchdog

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="no fork is safe here")
POSSIBLE = ending.possible
SPEED, SQUARES = "01-speed-limit", "02-golf-squares"
good = exercise(SPEED).reference


@pytest.fixture(autouse=True)
def in_a_child(monkeypatch):
    """Other tests of this process may have loaded OpenMP; without a child, some never end."""
    monkeypatch.setattr(ending, "possible", lambda: True)


@pytest.fixture
def short(monkeypatch):
    """A limit of 0.3 s of processor time, or many more by the clock: the machine may be busy."""
    monkeypatch.setattr(ending, "LIMIT_S", 0.3)
    monkeypatch.setattr(watchdog, "PATIENCE", 200)


def waits_for_a_lock(*_):
    lock = threading.Lock()
    lock.acquire()
    lock.acquire()


def prints_for_ever(*_):
    while True:
        print("still here")


def closes_its_files_and_sleeps(*_):
    os.closerange(3, 1000)
    time.sleep(60)


LOOP, SLOW = "was stopped after 0.3 s", "took longer than 0.3 s"
WAITED = "took longer than 0.5 s and waited most of that time"
IN_C = {
    "sum": (lambda *_: sum(range(10**12)), SLOW),
    "pattern": (lambda *_: re.match("(a+)+$", "a" * 60 + "b"), SLOW),
    "output": (prints_for_ever, LOOP),
    "lock": (waits_for_a_lock, WAITED),
    "program": (lambda *_: subprocess.run(["sleep", "100"]), WAITED),
}


def test_one_long_call_is_stopped(short, monkeypatch):
    verdicts = {}
    for name, (answer, reason) in IN_C.items():
        if reason is WAITED:
            monkeypatch.setattr(watchdog, "PATIENCE", 1)
            monkeypatch.setattr(watchdog, "LEAST_S", 0.5)
        verdicts[name] = check(SPEED, answer)
    faults = {name: one for name, one in verdicts.items() if IN_C[name][1] not in one.reason}
    assert not faults
    hints = {name: one.hint.partition("?")[0] for name, one in verdicts.items()}
    assert hints.pop("output") == "does its loop end"
    assert all(hint.startswith("what in it takes so long") for hint in hints.values())


def test_in_golf_in_a_timing_and_in_a_thread_too(short):
    told = []
    asked = [SQUARES, "01-cuda-axpy", SPEED]
    thread = threading.Thread(
        target=lambda: told.extend(check(id, IN_C["sum"][0]).reason for id in asked)
    )
    thread.start()
    thread.join(60)
    assert len(told) == len(asked) and all(SLOW in reason for reason in told)


def test_cases_that_ended_are_kept(short):
    def slow_at_three(n):
        return n if n < 3 else sum(range(10**12))

    cases = [{"n": n} for n in range(1, 6)]
    seen = ending.Ending().observe("function", cases, slow_at_three)
    assert seen == [{"value": 1}, {"value": 2}, *[{"error": f"Stopped: {SLOW}"}] * 3]


def crashes(*_):
    faulthandler.disable()
    ctypes.string_at(0)


DEATHS = {
    "exit": (lambda *_: os._exit(0), "exit code 0"),
    "crash": (crashes, "SIGSEGV"),
    "killed": (lambda *_: os.kill(os.getpid(), signal.SIGKILL), "memory"),
}


def test_an_answer_that_ends_the_process_is_told_so():
    faults = []
    for id in (SPEED, "01-cuda-axpy"):
        for name, (answer, why) in DEATHS.items():
            verdict = check(id, answer)
            told = "ended the process in which rl.check ran it" in verdict.reason
            if not told or why not in verdict.reason or verdict.hint or "loop" in verdict.reason:
                faults.append((id, name, verdict))
    assert not faults


def test_what_exits_politely_or_forks_gets_its_verdict():
    def forks(*case):
        os.fork()
        return good(*case)

    assert "raised SystemExit" in check(SPEED, lambda *_: sys.exit()).reason
    assert check(SPEED, forks).passed


def test_an_answer_that_writes_into_the_pipe_gets_its_verdict(monkeypatch):
    pipe, ends = os.pipe, []
    monkeypatch.setattr(os, "pipe", lambda: ends.append(pipe()) or ends[-1])
    noise = b'\n["all", 3]\n["case"]\n{"a": 1}\n["displayed", 7]\n["stdout", 7]\n\xff\n[[[[\n"x'

    def writes(*case):
        assert os.write(ends[-1][1], noise)
        return good(*case)

    assert check(SPEED, writes).passed


def test_a_child_that_closes_its_pipe_is_stopped_or_ended(short, monkeypatch):
    monkeypatch.setattr(watchdog, "PATIENCE", 1)
    monkeypatch.setattr(watchdog, "LEAST_S", 0.5)
    reason = check(SPEED, closes_its_files_and_sleeps).reason
    assert WAITED in reason or "ended the process" in reason


def test_programs_that_it_started_end_with_it(capfd):
    def starts(*case):
        print(subprocess.Popen(["sleep", "100"]).pid)
        return good(*case)

    before = psutil.Process().children()  # of other tests
    assert check(SPEED, starts).passed
    started = [int(line) for line in capfd.readouterr().out.split()]
    assert started and all(_ends(pid) for pid in started)
    assert psutil.Process().children() == before


def _runs(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def _ends(pid: int) -> bool:
    """Whether it ends within seconds, as what is killed does."""
    until = time.monotonic() + 5
    while _runs(pid) and time.monotonic() < until:
        time.sleep(0.02)
    return not _runs(pid)


def test_files_stay_open_only_as_long_as_the_child(short):
    check(SPEED, good)
    before = psutil.Process().num_fds()
    for answer in (good, IN_C["sum"][0], DEATHS["exit"][0]):
        check(SPEED, answer)
    assert psutil.Process().num_fds() == before


def test_what_it_prints_is_printed_in_order_and_cut(monkeypatch, capsys):
    def talks(*case):
        print("one", "two")
        print("äöü ✓", file=sys.stderr)
        sys.stdout.writelines(["three\n"])
        return good(*case)

    assert check(SPEED, talks).passed
    out, err = capsys.readouterr()
    assert out.startswith("one two\nthree\none two\n") and "äöü ✓\n" in err
    monkeypatch.setattr(ending, "MOST_PRINTED", 100)
    check(SPEED, lambda *_: print("12345678\n" * 1000))
    out, _ = capsys.readouterr()
    assert len(out) < 200 and out.endswith("the rest of what it printed is left out)\n")


def test_nobody_waits_for_the_keyboard():
    assert "raised EOFError: nobody answers" in check(SPEED, lambda *_: input("n? ")).reason
    assert check(SPEED, lambda *case: sys.stdin.read() or good(*case)).passed


def test_what_it_changes_stays_unchanged_here():
    calls = []

    def counts(*case):
        calls.append(case)
        os.environ["ROOFLAB_CHANGED"] = "1"
        return good(*case)

    assert check(SPEED, counts).passed
    assert calls == [] and "ROOFLAB_CHANGED" not in os.environ


def test_too_much_memory_is_a_memory_error(monkeypatch):
    monkeypatch.setattr(ending, "ROOM", 0.1)
    much = psutil.virtual_memory().available // 4
    assert "raised MemoryError" in check(SPEED, lambda *_: bytearray(much)).reason


KINDS = ["01-product", "04-layer", SQUARES, "08-vectorise"]


def test_the_child_sees_what_is_seen_here():
    assert {exercise(id).kind for id in KINDS} >= {"function", "golf", "schedule"}
    for found in map(exercise, KINDS):
        cases, running = found.draw(0), ending.Ending()
        seen = running.observe(found.kind, cases, found.reference)
        assert seen == collect(found.kind, cases, found.reference), found.id
        assert running.over == "" and running.used > 0


ODD = [float("nan"), float("inf"), -0.0, 2**4000, True, "ä\ud800\n", [1, [2.5, "x"]], {"a": [None]},
       5e-324, np.float32(0.1), (1, 2), [], None, ..., object(), 10**5000]  # fmt: skip


def test_odd_values_arrive_as_they_are():
    cases = [{"n": n} for n in range(len(ODD) + 1)]

    def answer(n):
        return [*ODD, 7][n]

    seen = ending.Ending().observe("function", cases, answer)
    assert repr(seen) == repr(collect("function", cases, answer))


def test_a_learner_may_have_very_many_files_open():
    import resource

    usual = resource.getrlimit(resource.RLIMIT_NOFILE)
    if usual[1] < 1200:
        pytest.skip("so many are not allowed here")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(1200, usual[0]), usual[1]))
    held = [os.open(os.devnull, os.O_RDONLY) for _ in range(1100)]
    try:
        assert check(SPEED, good).passed
    finally:
        for number in held:
            os.close(number)
        resource.setrlimit(resource.RLIMIT_NOFILE, usual)


def test_where_no_process_is_granted_it_runs_here(monkeypatch):
    def refuses():
        raise BlockingIOError("no process is left")

    monkeypatch.setattr(os, "fork", refuses)
    ran = []
    assert check(SPEED, lambda *case: ran.append(case) or good(*case)).passed and ran


def test_there_is_no_fork_where_it_is_not_safe(monkeypatch, tmp_path):
    maps = tmp_path / "maps"
    monkeypatch.setattr(ending, "_MAPPED", maps)
    maps.write_text("7f3c r-xp /usr/lib/x86_64-linux-gnu/libgomp.so.1.0.0")
    assert not POSSIBLE()
    maps.write_text("7f3c r-xp /usr/lib/x86_64-linux-gnu/libc.so.6")
    with monkeypatch.context() as patch:
        patch.setattr(sys, "platform", "darwin")
        assert not POSSIBLE()
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "polars", sys)
        assert not POSSIBLE()
    with monkeypatch.context() as patch, open(tmp_path / "nvidia0", "w"):
        assert POSSIBLE()
        patch.setattr(ending, "_GPUS", (str(tmp_path / "nvidia"),))
        assert not POSSIBLE()
    usual = sys.gettrace()
    sys.settrace(lambda *_: None)
    possible = POSSIBLE()
    sys.settrace(usual)
    assert not possible


LEFT_ALONE = """
import os, rooflab as rl
def answer(*_):
    print(os.getpid(), flush=True)
    return sum(range(10**12))
rl.check("01-speed-limit", answer)
"""


def test_it_dies_with_the_notebook():
    notebook = subprocess.Popen(
        [sys.executable, "-u", "-c", LEFT_ALONE], stdout=subprocess.PIPE, text=True
    )
    with notebook:
        pid = int(notebook.stdout.readline())
        assert pid != notebook.pid and _runs(pid)
        notebook.kill()
    assert _ends(pid)

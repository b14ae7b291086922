"""Functions that will not stop, and functions that come from odd places."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from rooflab.labs.golf import GolfError, Limits, golf, watchdog
from rooflab.labs.golf.watchdog import may_loop
from tests.support.rows import each_row

X = np.arange(10_000.0)
TIMER = hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()


@pytest.fixture(autouse=True)
def on_a_busy_machine(monkeypatch):
    """What computes has its limit, however long that takes by the clock."""
    monkeypatch.setattr(watchdog, "PATIENCE", 1000)


SWALLOWS = {
    "in Python": """
        def f(x):
            while True:
                try:
                    sum(range(1000))
                except:
                    pass
    """,
    "twice": """
        def f(x):
            while True:
                try:
                    while True:
                        try:
                            sum(range(1000))
                        except:
                            continue
                except BaseException:
                    pass
    """,
    "in NumPy": """
        def f(x):
            while True:
                try:
                    x = x + 1
                except:
                    pass
    """,
    "in views": """
        def f(x):
            while True:
                try:
                    x.shape, x[1:]
                except:
                    pass
    """,
}


def made(source: str, **names: object):
    lines = source.strip("\n").splitlines()
    margin = len(lines[0]) - len(lines[0].lstrip())
    scope = {"np": np, **names}
    exec("\n".join(line[margin:] for line in lines), scope)
    return scope["f"]


@pytest.mark.skipif(not TIMER, reason="needs an interval timer")
@each_row(*SWALLOWS)
def test_a_loop_that_swallows_everything_is_stopped(name):
    usual = signal.getsignal(signal.SIGALRM)
    for _ in range(3):
        with pytest.raises(GolfError, match="stopped after"):
            golf(made(SWALLOWS[name]), X, limits=Limits(seconds=0.02))
        assert signal.getsignal(signal.SIGALRM) is usual
        assert signal.getitimer(signal.ITIMER_REAL)[0] == 0


@pytest.mark.skipif(not TIMER, reason="needs an interval timer")
@each_row(lambda x: [x[0] for _ in iter(int, 1)], lambda x: [x.T for _ in iter(int, 1)])
def test_loops_without_a_loop(function):
    with pytest.raises(GolfError, match="stopped after"):
        golf(function, X, limits=Limits(seconds=0.05))


@each_row(
    (made("def f(x):\n time.sleep(3600)", time=time), "waited most of that time .*line 2"),
    (made("def f(x):\n while True: time.sleep(0.01)", time=time), "waited most of that time"),
    (made("def f(x):\n sum(map(lambda v: v, range(10**12)))"), "line 2.*need all that work"),
)
def test_a_pause_is_no_long_computation(function, told, monkeypatch):
    seconds = "0.2"
    if "waited" in told:  # what only waits is stopped by the clock
        monkeypatch.setattr(watchdog, "PATIENCE", 6)
        monkeypatch.setattr(watchdog, "LEAST_S", 1.2)
        seconds = "1.2"
    with pytest.raises(GolfError, match=f"took longer than {seconds} s.*{told}"):
        golf(function, X, limits=Limits(seconds=0.2))


@each_row(None, 7, "")
def test_functions_of_no_module(name):
    assert golf(made("def f(x): return 2 * x", __name__=name), X).score == 1
    with pytest.raises(GolfError, match="np.sort"):
        golf(made("def f(x): return np.sort(x)", __name__=name), X)
    with pytest.raises(GolfError, match="takes the numbers out"):
        golf(made("def f(x): return np.ma.sum(x)", __name__=name), X)
    with pytest.raises(GolfError, match="TypeError"):
        golf(made("def f(x): return memoryview(x)", __name__=name), X)
    f = made("def f(x): return x + 1")
    f.__module__ = None
    assert golf(f, X).per_element == 16


AFTER_GOLF_IN_A_THREAD = """
import subprocess
import sys, threading
import numpy as np, rooflab as rl
player = threading.Thread(target=lambda: rl.golf(lambda x: x + x, np.ones(1000)))
player.start(); player.join()
rl.golf(lambda x: x + x, np.ones(1000))
def trace(frame, event, argument): return trace
sys.settrace(trace)
(lambda: None)()
sys.settrace(None)
print("got past it")
"""


def test_a_debugger_still_works_after_golf_in_a_thread():
    """CPython would look for the watchdog's exception for ever."""
    command = [sys.executable, "-c", AFTER_GOLF_IN_A_THREAD]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.stdout == "got past it\n", done.stderr


def helper(x):
    while len(x):
        x[0]


@each_row(
    (lambda x: time.sleep(3600), False),
    (lambda x: sum(range(10**12)), False),
    (lambda x: [x[0] for _ in iter(int, 1)], True),
    (lambda x: helper(x), True),
    (lambda x: max(y for y in x), True),
    (time.sleep, True),  # who knows
)
def test_a_loop_is_spoken_of_only_where_there_may_be_one(function, loops):
    assert may_loop(function) is loops

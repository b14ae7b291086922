"""``rl.check`` ends, whatever the answer does, and a pressed stop button stops what comes after."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time

import pytest
from jupyter_client.manager import start_new_kernel

from rooflab.exercises import ending, on_gpu
from rooflab.exercises.check import check
from rooflab.exercises.observe.observation import observe
from rooflab.exercises.registry import exercise
from rooflab.labs.golf import watchdog

TIMER = hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()
SPEED = "01-speed-limit"
good = exercise(SPEED).reference


def spins(*_):
    while True:
        pass


def swallows(*_):
    while True:
        try:
            sum(range(1000))
        except BaseException:
            continue


def sleeps(*_):
    time.sleep(3600)


def iterates(*_):
    return sum(1 for _ in iter(int, 1))


class Telling(Exception):
    def __str__(self):
        spins()


def tells_for_ever(*_):
    raise Telling


@pytest.fixture
def short(monkeypatch):
    """A limit of 0.2 s of processor time, or many more by the clock: the machine may be busy."""
    monkeypatch.setattr(ending, "LIMIT_S", 0.2)
    monkeypatch.setattr(watchdog, "PATIENCE", 300)


WAYS = ["here", "child"] if sys.platform == "linux" else ["here"]


@pytest.fixture(params=WAYS)
def way(request, monkeypatch):
    """Both ways to run an answer; test_ending_child.py has what only the child can stop."""
    child = request.param == "child"  # whatever other tests have loaded
    monkeypatch.setattr(ending, "possible", lambda: child)
    return request.param


LOOP = ("was stopped after 0.2 s", "does its loop end?")
SLOW = ("took longer than 0.2 s", "what in it takes so long")
WAITED = ("took longer than 0.5 s and waited most of that time", "a pause")
NEVER = {
    spins: LOOP, swallows: LOOP, iterates: LOOP, tells_for_ever: SLOW, sleeps: WAITED,
}  # fmt: skip


@pytest.mark.skipif(not TIMER, reason="needs an interval timer")
def test_what_never_ends_is_stopped_and_told_so(short, way, monkeypatch):
    usual, faults = signal.getsignal(signal.SIGALRM), []
    for answer, (reason, hint) in NEVER.items():
        if reason is WAITED[0]:
            monkeypatch.setattr(watchdog, "PATIENCE", 1)
            monkeypatch.setattr(watchdog, "LEAST_S", 0.5)
        verdict = check(SPEED, answer)
        told = reason in verdict.reason and hint in (verdict.hint or "")
        unread = answer is tells_for_ever and way == "here"  # its message is asked for once more
        if verdict.passed or not (told or unread):
            faults.append((answer.__name__, verdict))
        assert signal.getsignal(signal.SIGALRM) is usual
        assert signal.getitimer(signal.ITIMER_REAL)[0] == 0
    assert not faults


def test_a_busy_machine_refuses_nobody_and_a_pause_costs_nothing(monkeypatch, way):
    monkeypatch.setattr(ending, "LIMIT_S", 0.6)
    monkeypatch.setattr(watchdog, "PATIENCE", 100)
    spin = [sys.executable, "-c", "while True: pass"]
    others = [subprocess.Popen(spin) for _ in range(2 * (os.cpu_count() or 1))]
    ran = []

    def long(*case):
        if not ran:  # the first case takes long: by the clock more than the limit
            ran.append(case)
            begun = time.thread_time()
            while time.thread_time() < begun + 0.3:
                pass
        return good(*case)

    try:
        assert check(SPEED, long).passed
    finally:
        for other in others:
            other.kill()
            other.wait()
    paused = iter([1.0])
    assert check(SPEED, lambda *case: time.sleep(next(paused, 0)) or good(*case)).passed


def test_a_timing_exercise_ends_too_and_keeps_its_verdict_without_a_gpu_that_ends(
    short, way, monkeypatch
):
    verdict = check("01-cuda-axpy", spins)
    assert not verdict.passed and "it was stopped after 0.2 s; does its loop" in verdict.reason
    monkeypatch.setattr(ending, "LIMIT_S", 1.5)
    monkeypatch.setattr(on_gpu, "confirm", lambda *_: observe(spins))
    verdict = check("01-cuda-axpy", exercise("01-cuda-axpy").reference)
    assert verdict.passed and verdict.note == "Not compared on the GPU: it was stopped after 1.5 s."


def test_the_limit_is_ten_seconds_of_work_and_sixty_by_the_clock():
    assert (ending.LIMIT_S, ending.by_the_clock(ending.LIMIT_S)) == (10, 60)
    assert [ending.by_the_clock(seconds) for seconds in (0.1, 0.5, 5, 90)] == [2, 3, 30, 90]


PRESSED = """
import os, signal, threading, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background ignores it
import rooflab as rl
from rooflab.exercises import ending
notebook = os.getpid()
def press():
    threading.Timer(0.3, os.kill, (notebook, signal.SIGINT)).start()
def sleeps(*_): press(); time.sleep(60)
def spins(*_):
    press()
    while True: pass
def sums(*_): os.kill(notebook, signal.SIGINT); sum(range(10**12))
def goes_on(*_): raise KeyboardInterrupt
def cases():
    for id in ("01-speed-limit", "02-golf-squares"):
        for child in ({ways}):
            for answer in (sleeps, spins, sums)[: 3 if child else 2]:
                ending.possible = lambda child=child: child
                yield id, answer
for id, answer in cases():
    try:
        rl.check(id, answer)
    except KeyboardInterrupt as error:
        print("raised again:", *error._render_traceback_())
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
print("its own:", rl.check("01-speed-limit", goes_on).reason)
"""


@pytest.mark.skipif(os.name == "nt", reason="no signal can be sent to oneself there")
def test_a_pressed_stop_button_shows_the_verdict_and_is_passed_on():
    ways = ", ".join(str(way == "child") for way in WAYS) + ","
    done = subprocess.run(
        [sys.executable, "-c", PRESSED.format(ways=ways)], capture_output=True, text=True,
        timeout=120,
    )  # fmt: skip
    number = 4 + 6 * ("child" in WAYS)
    assert done.stdout.count("was stopped by the stop button") == number, done
    assert done.stdout.count("raised again: KeyboardInterrupt") == number
    own = done.stdout.partition("its own: ")[2]
    assert "it raised" not in done.stdout.partition("its own: ")[0]
    assert "raised KeyboardInterrupt" in own, "an answer that raises it itself gets a verdict"


RUN = """
import rooflab as rl, time
from rooflab.exercises import ending
from rooflab.labs.golf import watchdog
ending.LIMIT_S, watchdog.PATIENCE = 1, 60
def answer(*_):
    print("begun", flush=True)
    from IPython.display import HTML, display
    display(HTML("<i>drawn</i>"))
    {}
verdict = rl.check("01-speed-limit", answer)
print(verdict.reason)
"""
ENDS = {
    "return sum(range(10**12))": "took longer than 1 s",
    "import os; os._exit(3)": "with exit code 3",
    "exit()": "it returned None for every case",
}
STOPPED = ["time.sleep(60)", "sum(range(10**12))"]


@pytest.mark.skipif(sys.platform != "linux", reason="no fork is safe here")
def test_in_jupyter_the_kernel_lives_on_and_a_stop_button_stops_the_cells_that_wait():
    manager, client = start_new_kernel(kernel_name="python3")
    try:
        for body, why in ENDS.items():
            shown: list[str] = []

            def hook(message, shown=shown):
                content = message["content"]
                shown.append(content.get("text", ""))
                shown.append(content.get("data", {}).get("text/html", ""))

            client.execute_interactive(RUN.format(body), output_hook=hook, timeout=60)
            told = "".join(shown)
            assert told.index("begun") < told.index("<i>drawn</i>") < told.index(why)
        for body in STOPPED:
            replies, shown = _interrupted(manager, client, RUN.format(body))
            assert any("was stopped by the stop button" in text for text in shown)
            assert replies == ["error", "aborted"]
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def _interrupted(manager, client, source):
    """Press the stop button once the answer prints; replies to its cell and to a waiting one."""
    shown: list[str] = []
    asked = [client.execute(source), client.execute("print('ran all the same')")]
    while not any("cells that were waiting" in text for text in shown):
        content = client.get_iopub_msg(timeout=60)["content"]
        if content.get("text", "").startswith("begun"):
            manager.interrupt_kernel()
        shown.append(str(content.get("data", {}).get("text/html", "")))
        shown.extend(content.get("traceback", []))
    replies: dict[str, str] = {}
    while {*asked} - replies.keys():
        reply = client.get_shell_msg(timeout=60)
        replies[reply["parent_header"]["msg_id"]] = reply["content"]["status"]
    return [replies[one] for one in asked], shown

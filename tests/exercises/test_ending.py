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

TIMER = hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()
SPEED = "01-speed-limit"


def spins(*_):
    while True:
        pass


def swallows(*_):
    while True:
        try:
            sum(range(1000))
        except BaseException:
            continue


def swallows_in_its_sleep(*_):
    while True:
        try:
            time.sleep(1)
        except BaseException:
            continue


def swallows_once_and_answers(peak, bandwidth, itemsize):
    try:
        spins()
    except BaseException:
        return peak / bandwidth * 1.5 * itemsize


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
    monkeypatch.setattr(ending, "LIMIT_S", 0.2)


@pytest.fixture(params=["here", "child"])
def way(request, monkeypatch):
    """Both ways to run an answer; test_ending_child.py has what only the child can stop."""
    if request.param == "here":
        monkeypatch.setattr(ending, "possible", lambda: False)
    elif sys.platform == "linux":  # whatever other tests have loaded
        monkeypatch.setattr(ending, "possible", lambda: True)
    else:
        pytest.skip("no fork is safe here")
    return request.param


NEVER = [
    spins, swallows, swallows_in_its_sleep, swallows_once_and_answers, sleeps, iterates,
    tells_for_ever,
]  # fmt: skip


LOOP = ("was stopped after 0.2 s", "does its loop end?")
SLOW = ("took longer than 0.2 s", "what in it takes so long")


@pytest.mark.skipif(not TIMER, reason="needs an interval timer")
@pytest.mark.parametrize("answer", NEVER, ids=lambda a: a.__name__)
def test_what_never_ends_is_stopped_and_told_so(answer, short, way):
    began, usual = time.monotonic(), signal.getsignal(signal.SIGALRM)
    verdict = check(SPEED, answer)
    assert not verdict.passed and time.monotonic() - began < 5
    if answer is not tells_for_ever or way == "child":
        words = {sleeps: SLOW, tells_for_ever: SLOW}.get(answer, LOOP)
        assert words[0] in verdict.reason and words[1] in verdict.hint
    assert signal.getsignal(signal.SIGALRM) is usual
    assert signal.getitimer(signal.ITIMER_REAL)[0] == 0


@pytest.mark.parametrize("answer", [spins, iterates], ids=lambda a: a.__name__)
def test_in_a_thread_too(answer, short, way):
    told = []
    thread = threading.Thread(target=lambda: told.append(check(SPEED, answer)), daemon=True)
    thread.start()
    thread.join(20)
    assert told and not told[0].passed and "was stopped after 0.2 s" in told[0].reason


def test_a_timing_exercise_ends_too(short, way):
    verdict = check("01-cuda-axpy", spins)
    assert not verdict.passed and "it was stopped after 0.2 s; does its loop" in verdict.reason


def test_a_timing_that_never_ends_on_a_real_gpu_keeps_its_verdict(monkeypatch):
    monkeypatch.setattr(ending, "LIMIT_S", 3)
    monkeypatch.setattr(on_gpu, "confirm", lambda *_: observe(spins))
    verdict = check("01-cuda-axpy", exercise("01-cuda-axpy").reference)
    assert verdict.passed and verdict.note == "Not compared on the GPU: it was stopped after 3 s."


def test_the_limit_is_ten_seconds_and_a_slow_answer_has_them(way):
    assert ending.LIMIT_S == 10

    def slow(peak, bandwidth, itemsize):
        time.sleep(0.05)
        return peak / bandwidth * 1.5 * itemsize

    assert check(SPEED, slow).passed


PRESSED = """
import os, signal, threading, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background ignores it
import rooflab as rl
from rooflab.exercises import ending
{way}
notebook = os.getpid()
def answer(*_):
    threading.Timer(0.3, os.kill, (notebook, signal.SIGINT)).start()
    {body}
try:
    rl.check("{id}", answer)
except KeyboardInterrupt as error:
    print("raised again:", *error._render_traceback_())
print("usual:", signal.getsignal(signal.SIGINT) is signal.default_int_handler)
"""
HERE, IN_CHILD = "ending.possible = lambda: False", ""
BODIES = [
    (HERE, "time.sleep(60)"), (HERE, "while True: pass"),
    (IN_CHILD, "time.sleep(60)"), (IN_CHILD, "while True: pass"),
    (IN_CHILD, "os.kill(notebook, signal.SIGINT); sum(range(10**12))"),
]  # fmt: skip


@pytest.mark.skipif(os.name == "nt", reason="no signal can be sent to oneself there")
@pytest.mark.parametrize("id", ["01-speed-limit", "02-golf-squares"])
@pytest.mark.parametrize(("way", "body"), BODIES)
def test_a_pressed_stop_button_shows_the_verdict_and_is_passed_on(way, body, id):
    if way == IN_CHILD and sys.platform != "linux":
        pytest.skip("no fork is safe here")
    done = subprocess.run(
        [sys.executable, "-c", PRESSED.format(way=way, body=body, id=id)],
        capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert "was stopped by the stop button" in done.stdout and "it raised" not in done.stdout
    assert "raised again: KeyboardInterrupt" in done.stdout and "usual: True" in done.stdout


def test_an_answer_that_raises_keyboardinterrupt_itself_gets_a_verdict(way):
    def answer(*_):
        raise KeyboardInterrupt

    assert "raised KeyboardInterrupt" in check(SPEED, answer).reason


@pytest.mark.skipif(os.name == "nt", reason="a kernel is interrupted by a signal elsewhere")
@pytest.mark.parametrize("body", ["time.sleep(60)", "sum(range(10**12))"])
def test_in_jupyter_the_verdict_is_shown_and_the_cells_that_wait_are_not_run(body):
    if "sum" in body and sys.platform != "linux":
        pytest.skip("no fork is safe here")
    manager, client = start_new_kernel(kernel_name="python3")
    try:
        client.execute_interactive("import rooflab as rl, time; rl.check('01-speed-limit')")
        shown: list[str] = []
        asked = f"print('begun', flush=True); {body}"
        answer = f"def answer(*_):\n    {asked}\nrl.check('01-speed-limit', answer)"

        def hook(message):
            content = message["content"]
            if content.get("text", "").startswith("begun"):
                manager.interrupt_kernel()
            shown.append(str(content.get("data", {}).get("text/html", "")))
            shown.extend(content.get("traceback", []))

        first = client.execute(answer)
        second = client.execute("print('ran all the same')")
        while not any("cells that were waiting" in text for text in shown):
            hook(client.get_iopub_msg(timeout=60))
        replies = {}
        while {first, second} - replies.keys():
            reply = client.get_shell_msg(timeout=60)
            replies[reply["parent_header"]["msg_id"]] = reply["content"]["status"]
        assert any("was stopped by the stop button" in text for text in shown)
        assert (replies[first], replies[second]) == ("error", "aborted")
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)

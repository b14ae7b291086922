"""Timings that were never measured: another kernel, a clock or a log that was tampered with."""

from __future__ import annotations

import json
import time

from rooflab.exercises.judge import judge
from rooflab.exercises.observe.collect import collect
from rooflab.exercises.observe.timing import prepared
from rooflab.exercises.registry import exercise
from rooflab.labs.cuda.device import replay
from tests.grade.attacks.forgeries import FORMULA, TIMING
from tests.support.rows import each_row


def timed(launch):
    def answer(cp, a, b, c, peak):
        n = a.shape[0]
        again = launch(cp, a, b, c)
        again()
        start, stop = cp.cuda.Event(), cp.cuda.Event()
        start.record()
        again()
        again()
        stop.record()
        stop.synchronize()
        seconds = cp.cuda.get_elapsed_time(start, stop) / 2e3
        rate = 2 * n**3 / seconds
        return seconds, rate, rate / peak

    return answer


def matmul(cp, a, b, c):
    return lambda: cp.matmul(a, b, out=c)


def elementwise(cp, a, b, c):
    """As many FLOPs and bytes as the product, in a kernel that computes something else."""
    terms = "(a*b)"
    for _ in range(12):
        terms = f"({terms}+{terms})"
    kernel = cp.ElementwiseKernel("T a, T b", "T c", f"c = {terms} + a", "gemm")
    return lambda: kernel(a, b, c)


def verdict(id, answer):
    asked = exercise(id)
    cases = asked.draw("forged")
    return judge(asked, cases, collect(asked.kind, cases, answer))


def test_only_a_product_counts_as_one():
    assert verdict("01-cuda-gemm", timed(matmul)).passed
    forged = verdict("01-cuda-gemm", timed(elementwise))
    assert not forged.passed
    assert "enclose one gemm" in forged.reason


@each_row(
    TIMING["not measured"],
    TIMING["a log of its own"],
    FORMULA.format(before="cp.gpu.now = 0; cp.gpu.look = lambda: None", after="cp.gpu.now = 0"),
    FORMULA.format(before="cp.gpu.elapsed = lambda start, stop: 1.0", after="pass"),
)
def test_right_seconds_without_their_measurement_do_not_count(source):
    names = {}
    exec(source, names)
    found = verdict("01-cuda-axpy", names["time_axpy"])
    assert not found.passed
    assert "enclose one axpy" in found.reason


def test_a_warm_launch_beside_seconds_from_a_formula():
    """The GEMV is there, but it reads its matrix from L2: it cannot have taken those seconds."""

    def answer(cp, matrix, x, y, roof):
        device = cp.gpu.device
        cp.matmul(matrix, x, out=y)
        cp.matmul(matrix, x, out=y)
        start, stop = cp.cuda.Event(), cp.cuda.Event()
        start.record()
        cp.matmul(matrix, x, out=y)
        stop.record()
        stop.synchronize()
        cp.cuda.get_elapsed_time(start, stop)
        moved = matrix.nbytes + x.nbytes + y.nbytes
        seconds = moved / device.bandwidth + device.kernel_s
        return seconds, moved / seconds, moved / seconds / roof

    found = verdict("01-cuda-gemv", answer)
    assert not found.passed
    assert "took them" in found.reason


def test_a_device_that_is_not_tampered_with_is_replayed_to_the_bit():
    asked = exercise("01-cuda-gemm")
    for case in asked.draw("replayed"):
        cp, given, before = prepared(case)
        asked.reference(*given)
        mine = cp.gpu.log[:]
        other, *_ = prepared(case)
        replay(other.gpu, json.loads(json.dumps(cp.gpu.commands[before:])))
        assert other.gpu.log == mine and any(entry["what"] == "elapsed" for entry in mine)


# Commands that no program has given, or that would keep the judge busy for minutes

LAUNCH = ["launch", "axpy", 0, 2.0, "float32", [], [], ""]
MANY = 20_000
COMMANDS = {
    "more FLOPs than a float holds": [["launch", "axpy", 0, 10**400, "float32", [], [], ""]],
    "arrays of a launch": [["launch", "axpy", 0, 2.0, "float32", [[1, 0, 0]] * 1_100_000, [], ""]],
    "bytes": [["launch", "axpy", 0, 2.0, "float32", [[1, 0, 1 << 60]], [], ""]],
    **{
        f"the time from {begin} to {end}, again and again": [
            ["record", 1, 0], *[LAUNCH] * MANY, ["record", 2, 0], ["wait_all"],
            *[["elapsed", begin, end]] * MANY,
        ] for begin, end in ((1, 2), (2, 1), (2, 2))
    },
    "no list": "nothing", "no commands": [3], "an empty one": [[]], "unknown": [["explode"]],
    "too much": [["look", 1]], "half an event": [["record", 1.5, 0]],
    "no stream": [["record", 1, 7]],
    "half an array": [["launch", "axpy", 0, 1.0, "float32", [[1, 0]], [], ""]],
    "no number": [["launch", "axpy", 0, float("nan"), "float32", [], [], ""]],
    "too far": [["launch", "axpy", 0, 1.0, "float32", [[1, 0, 2**70]], [], ""]],
    "backwards": [["launch", "axpy", 0, 1.0, "float32", [], [[1, -5, 3]], ""]],
    "looks without end": [["look"]] * 200_001,
}  # fmt: skip


def judged(commands, seconds):
    """The verdict on the commands, which is there soon."""
    asked = exercise("01-cuda-axpy")
    cases = asked.draw("forged")
    begin = time.process_time()
    found = judge(asked, cases, [{"value": 1e-3, "commands": commands} for _ in cases])
    assert time.process_time() - begin < seconds
    return found


def test_commands_that_cannot_be_fail_soon():
    for name, commands in COMMANDS.items():
        found = judged(commands, 10)
        assert not found.passed and "what cannot be done" in found.reason, name


def test_many_events_streams_and_arrays_are_judged_in_good_time():
    apart = [[buffer, 0, 4] for buffer in range(60_000)]
    for commands in (
        [*(["record", k, 0] for k in range(MANY)), ["wait_all"],
         *(["elapsed", k, k + 1] for k in range(MANY - 1))],
        [["new_stream", True]] * MANY + [["wait_all"], ["wait_stream", 0]] * MANY,
        [["launch", "axpy", 0, 2.0, "float32", apart, [], ""]],
    ):  # fmt: skip
        assert not judged(commands, 20).passed

"""GPU timing on the stand-in: right procedures pass in any form, wrong ones are seen in the log."""

from __future__ import annotations

import importlib
import statistics
import time
from dataclasses import replace

import pytest

from rooflab.course.lesson01.exercises import timing_with
from rooflab.exercises import on_gpu
from rooflab.exercises.check import check
from rooflab.exercises.judge import judge
from rooflab.exercises.kinds.timing import derived, operation, regions, truth, with_log
from rooflab.exercises.observe.timing import arguments, run
from rooflab.exercises.registry import exercise
from rooflab.exercises.verdict import Verdict
from rooflab.labs.cuda import Device, StandIn

BACKEND = importlib.import_module("rooflab.measure.backend")


@pytest.fixture(autouse=True)
def no_gpu(monkeypatch):
    monkeypatch.setenv("ROOFLAB_BACKEND", "cpu")


def flusher(cp):
    big = cp.ones(cp.cuda.Device().attributes["L2CacheSize"], dtype=cp.float32)
    return lambda: big.sum()


def elementwise(cp, x, y, a):
    """One fused kernel instead of cuBLAS, one launch a sample, on a stream of its own."""
    kernel = cp.ElementwiseKernel("float32 a, float32 x", "float32 y", "y = a * x + y", "axpy")
    stream = cp.cuda.Stream(non_blocking=True)
    with stream:
        kernel(a, x, y)
        times = []
        for _ in range(9):
            start = stream.record()
            kernel(a, x, y)
            stop = stream.record()
            stream.synchronize()
            times.append(cp.cuda.get_elapsed_time(start, stop))
    return statistics.median(times) * 1e-3


def median_forgives_a_cold_start(cp, x, y, a):
    """No separate warm-up, but a median over samples that the first one cannot move."""
    times = []
    start, stop = cp.cuda.Event(), cp.cuda.Event()
    for _ in range(9):
        start.record()
        cp.cublas.axpy(a, x, y)
        stop.record()
        cp.cuda.runtime.deviceSynchronize()
        times.append(cp.cuda.get_elapsed_time(start, stop) / 1e3)
    return sorted(times)[4]


def test_other_right_ways_to_time_axpy_pass():
    for answer in (elementwise, median_forgives_a_cold_start):
        verdict = check("01-cuda-axpy", answer)
        assert verdict.passed, verdict


def rotating(cp, matrix, x, y, bandwidth):
    """Cold by rotation over copies instead of a flush; one queue, one pair of events."""
    copies = [matrix.copy() for _ in range(8)]
    matrix @ x
    start, stop = cp.cuda.Event(), cp.cuda.Event()
    start.record()
    for k in range(24):
        cp.matmul(copies[k % 8], x, out=y)
    stop.record()
    cp.cuda.Device().synchronize()
    seconds = cp.cuda.get_elapsed_time(start, stop) / 24 / 1000
    rate = 4 * (matrix.size + x.size + y.size) / seconds
    return [seconds, rate, rate / bandwidth]


def cublas_gemv(cp, matrix, x, y, bandwidth):
    flush, times = flusher(cp), []
    for _ in range(6):
        flush()
        start, stop = cp.cuda.Event(), cp.cuda.Event()
        start.record()
        cp.cublas.gemv("N", 1.0, matrix, x, 0.0, y)
        stop.record()
        stop.synchronize()
        times.append(cp.cuda.get_elapsed_time(start, stop) / 1e3)
    seconds = min(times)
    rate = operation({"op": "gemv", "m": y.size, "n": x.size}).bytes / seconds
    return seconds, rate, rate / bandwidth


def test_other_right_ways_to_time_a_cold_gemv_pass():
    for answer in (rotating, cublas_gemv):
        verdict = check("01-cuda-gemv", answer)
        assert verdict.passed, verdict


def test_the_right_formula_without_timing_does_not_pass():
    def from_the_data_sheet(cp, matrix, x, y, bandwidth):
        case = exercise("01-cuda-gemv").draw(0)[0]
        seconds = truth(case)
        return seconds, *derived(case, seconds)

    assert not check("01-cuda-gemv", from_the_data_sheet).passed


def slices_of_one_array(cp, x, y, a):
    """Two halves, each timed, added up: that is not one AXPY."""
    half = x.size // 2
    parts = [(x[:half], y[:half]), (x[half:], y[half:])]
    return sum(exercise("01-cuda-axpy").reference(cp, p, q, a) for p, q in parts)


def test_timing_another_operation_does_not_pass():
    def half(cp, x, y, a):
        return exercise("01-cuda-axpy").reference(cp, x[: x.size // 2], y[: y.size // 2], a) * 2

    verdict = check("01-cuda-axpy", half)
    assert not verdict.passed and "enclose one axpy of the right size" in verdict.reason
    assert "right size" in check("01-cuda-axpy", slices_of_one_array).reason


def test_host_time_never_appears_in_the_verdict():
    def host(cp, x, y, a):
        began = time.perf_counter()
        cp.cublas.axpy(a, x, y)
        return time.perf_counter() - began

    verdict = check("01-cuda-axpy", host)
    assert verdict.misconception == "host timer" and verdict.yours is None
    assert repr(check("01-cuda-axpy", host)) == repr(verdict)


def test_what_follows_must_follow_from_the_own_seconds():
    right = exercise("01-cuda-gemm").reference

    def bad_share(cp, a, b, c, peak):
        seconds, rate, share = right(cp, a, b, c, peak)
        return seconds, rate, 3 * share

    verdict = check("01-cuda-gemm", bad_share)
    assert "share of the roof does not follow" in verdict.reason and verdict.hint is None
    for place in range(3):  # whatever number it is, nothing is said of it but that it is alone
        alone = check("01-cuda-gemm", lambda *a, at=place: right(*a)[at])
        assert "3 numbers are wanted" in alone.reason and alone.hint is None


def test_wrong_procedures_give_visibly_wrong_numbers():
    """Not only the log: the number itself is off, in the direction that the mistake pushes."""
    found = exercise("01-cuda-gemv")
    case = found.draw(0)[0]
    wrong = {m.name: m.wrong for m in found.misconceptions}
    names = ("warm L2", "idle GPU", "flush inside", "no warm-up")
    seconds = {name: run(case, wrong[name])["value"][0] for name in names}
    assert seconds["warm L2"] < 0.9 * truth(case) < 1.1 * truth(case) < seconds["idle GPU"]
    assert seconds["flush inside"] > 3 * truth(case) and seconds["no warm-up"] > 100 * truth(case)


def test_a_region_holds_what_ran_between_its_events():
    case = exercise("01-cuda-axpy").draw(0)[0]
    seen = with_log(case, run(case, exercise("01-cuda-axpy").reference))
    assert len(regions(seen)) == 7
    assert all(len(r.kernels) == len(r.of(operation(case))) == 10 for r in regions(seen))


class _Backend:
    name, device = "gpu", "pretended GPU"

    def __init__(self, cp):
        self.xp = cp


@pytest.fixture
def pretended(monkeypatch):
    """A simulated GPU where the real one would be."""
    monkeypatch.setattr(on_gpu, "LOAD_S", 0)
    cp = StandIn(Device(**exercise("01-cuda-gemv").draw(0)[0]["device"]))
    monkeypatch.setattr(BACKEND, "select", lambda name: _Backend(cp))
    return cp


def scaled(reference, factor, turns=()):
    """The reference with other seconds, in the calls ``turns`` or in all."""
    calls = []

    def answer(*given):
        calls.append(given)
        value = reference(*given)
        wrong = factor if not turns or len(calls) in turns else 1.0
        return (value[0] * wrong, *value[1:]) if isinstance(value, tuple) else value * wrong

    return answer


RIGHT = Verdict("01-cuda-gemv", True, 3, 3, "timed right on the stand-ins for 2 GPUs")


def test_with_a_gpu_it_runs_there_too_and_must_agree_with_the_reference(pretended):
    for id in ("01-cuda-axpy", "01-cuda-gemv", "01-cuda-gemm"):
        for factor, agrees in ((1.0, True), (1.05, True), (1.5, False)):
            found = exercise(id)
            verdict = on_gpu.confirm(found, scaled(found.reference, factor), RIGHT)
            assert verdict.passed is agrees, verdict
            assert "course's own" in (verdict.note if agrees else verdict.reason)


def test_the_reason_says_which_way_it_differs(pretended):
    for factor, why in ((2.0, "waited for Python"), (0.5, "still have been in L2")):
        found = exercise("01-cuda-gemv")
        assert why in on_gpu.confirm(found, scaled(found.reference, factor), RIGHT).reason


def test_one_disturbed_round_is_forgiven_a_whole_one_is_measured_again(pretended):
    """Of the answer's calls 1 is for compilation, 2 and 3 are the first try, 4 and 5 the second."""
    found = exercise("01-cuda-gemm")
    assert on_gpu.confirm(found, scaled(found.reference, 3.0, turns=(2,)), RIGHT).passed
    assert on_gpu.confirm(found, scaled(found.reference, 3.0, turns=(2, 3)), RIGHT).passed
    assert not on_gpu.confirm(found, scaled(found.reference, 3.0, turns=(2, 3, 4, 5)), RIGHT).passed


def test_both_run_by_turns_on_the_same_arrays_after_a_load(pretended, monkeypatch):
    found, turns = exercise("01-cuda-axpy"), []

    def told(name):
        def timing(cp, x, y, a):
            turns.append((name, (id(x), id(y))))
            return found.reference(cp, x, y, a)

        return timing

    on_gpu.confirm(replace(found, reference=told("ours")), told("mine"), RIGHT)
    assert [name for name, _ in turns] == ["ours", "mine"] * 3
    assert len({arrays for _, arrays in turns}) == 1
    turns.clear()
    clock = iter(range(99))
    monkeypatch.setattr(on_gpu.time, "perf_counter", lambda: next(clock) / 10)
    monkeypatch.setattr(on_gpu, "LOAD_S", 0.35)
    on_gpu.confirm(replace(found, reference=told("ours")), told("mine"), RIGHT)
    assert [name for name, _ in turns] == ["ours", "mine"] + ["ours"] * 3 + ["ours", "mine"] * 2


@pytest.mark.parametrize(("peak", "n"), [(6e13, 4096), (1e11, 1024)])
def test_a_slow_gpu_gets_a_smaller_product(pretended, monkeypatch, peak, n):
    """4096³ takes 2 ms at 60 TFLOP/s, and 1.4 s at 0.1."""
    device = replace(pretended.gpu.device, peak={"float32": peak})
    monkeypatch.setattr(BACKEND, "select", lambda name: _Backend(StandIn(device)))
    found, seen = exercise("01-cuda-gemm"), []

    def answer(cp, a, b, c, roof):
        seen.append(a.shape)
        return found.reference(cp, a, b, c, roof)

    assert on_gpu.confirm(found, answer, RIGHT).passed
    assert set(seen) == {(n, n)}


def test_a_failure_on_the_real_gpu_is_told(pretended):
    found = exercise("01-cuda-axpy")
    broken = on_gpu.confirm(found, lambda *a: 1 / 0, RIGHT)
    assert "pretended GPU: ZeroDivisionError" in broken.reason and not broken.passed
    assert "gave no seconds" in on_gpu.confirm(found, lambda *a: "soon", RIGHT).reason


def test_a_fault_of_ours_takes_no_points(pretended):
    def too_large(*given):
        raise MemoryError("out of memory allocating 1 byte")

    found = replace(exercise("01-cuda-axpy"), reference=too_large)
    verdict = on_gpu.confirm(found, lambda *a: 1.0, RIGHT)
    assert verdict.passed and "Not compared on pretended GPU: MemoryError" in verdict.note


def test_without_a_gpu_the_verdict_says_so():
    found = exercise("01-cuda-axpy")
    assert "not measured" in check(found.id, found.reference).note


def test_a_backend_that_cannot_be_had_is_a_note(monkeypatch):
    monkeypatch.setenv("ROOFLAB_BACKEND", "abacus")
    verdict = check("01-cuda-axpy", exercise("01-cuda-axpy").reference)
    assert verdict.passed and "Not run for real" in verdict.note


def test_the_arguments_are_real_arrays_of_the_stated_sizes():
    case = exercise("01-cuda-gemv").draw(0)[0]
    cp, matrix, x, y, roof = arguments(StandIn(Device(**case["device"])), case)
    assert matrix.shape == (case["m"], case["n"]) and x.shape == (case["n"],)
    assert roof == case["roof"]
    assert matrix.nbytes < cp.cuda.Device().attributes["L2CacheSize"]
    assert float((matrix @ x)[0]) == case["n"]


def test_commands_that_no_stand_in_wrote_fail_their_case():
    for commands in (
        "nothing", [3], [[]], [["explode"]], [["look", 1]], [["record", 1.5, 0]], [["hold", 7, 1]],
        [["launch", "axpy", 0, 1.0, "float32", [[1, 0]], [], ""]],
        [["launch", "axpy", 0, float("nan"), "float32", [], [], ""]],
        [["launch", "axpy", 0, 1.0, "float32", [[1, 0, 2**70]], [], ""]],
        [["launch", "axpy", 0, 1.0, "float32", [], [[1, -5, 3]], ""]], [["look"]] * 200_001,
    ):  # fmt: skip
        asked = exercise("01-cuda-axpy")
        cases = asked.draw(3)
        verdict = judge(asked, cases, [{"value": 1e-3, "commands": commands} for _ in cases])
        assert not verdict.passed and "what cannot be done" in verdict.reason


def test_swapped_events_are_wrong_seconds_not_a_malformed_log():
    def swapped(cp, x, y, a):
        start, stop = cp.cuda.Event(), cp.cuda.Event()
        start.record()
        cp.cublas.axpy(a, x, y)
        stop.record()
        stop.synchronize()
        return cp.cuda.get_elapsed_time(stop, start) * 1e-3

    verdict = check("01-cuda-axpy", swapped)
    assert not verdict.passed and "cannot be done" not in verdict.reason
    assert "negative" in verdict.reason and verdict.misconception == "events exchanged"


def single_launches(cp, x, y, a):
    return timing_with(cp, lambda: cp.cublas.axpy(a, x, y))


def waiting_each_time(cp, x, y, a):
    def launch():
        cp.cublas.axpy(a, x, y)
        cp.cuda.Device().synchronize()

    return timing_with(cp, launch, queue=10)


def new_arrays(cp, A, B, C, peak):
    seconds = timing_with(cp, lambda: A @ B, queue=2)
    rate = 2 * len(A) ** 3 / seconds
    return seconds, rate, rate / peak


def small_flush(cp, A, x, y, bandwidth):
    big = cp.ones(cp.cuda.Device().attributes["L2CacheSize"] // 4, dtype=cp.float32)
    cp.matmul(A, x, out=y)
    times = []
    for _ in range(5):
        start, stop = cp.cuda.Event(), cp.cuda.Event()
        big.sum()
        start.record()
        cp.matmul(A, x, out=y)
        stop.record()
        stop.synchronize()
        times.append(cp.cuda.get_elapsed_time(start, stop) / 1e3)
    seconds = sorted(times)[2]
    rate = (A.nbytes + x.nbytes + y.nbytes) / seconds
    return seconds, rate, rate / bandwidth


def test_another_way_than_asked_is_named_and_costs_nothing():
    for id, answer, words in (
        ("01-cuda-axpy", single_launches, "asked to queue ten launches"),
        ("01-cuda-axpy", waiting_each_time, "Python waited inside the queue"),
        ("01-cuda-gemv", small_flush, "your flush carries less than 4 × L2"),
        ("01-cuda-gemm", new_arrays, "your product made a new array between the two events"),
    ):
        verdict = check(id, answer)
        assert verdict.passed and words in verdict.reason, verdict
        assert "; but" not in check(id, exercise(id).reference).reason

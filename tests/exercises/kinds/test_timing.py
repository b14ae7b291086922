"""GPU timing on the stand-in: right procedures pass in any form, wrong ones are seen in the log."""

from __future__ import annotations

import importlib
import time
from dataclasses import replace
from xml.etree import ElementTree

import pytest

from rooflab.exercises import on_gpu
from rooflab.exercises.check import check
from rooflab.exercises.kinds.timing import operation, regions, truth, with_log
from rooflab.exercises.observe.timing import arguments, run
from rooflab.exercises.registry import exercise
from rooflab.exercises.verdict import Verdict
from rooflab.labs.cuda import Device, StandIn

BACKEND = importlib.import_module("rooflab.measure.backend")


@pytest.fixture(autouse=True)
def no_gpu(monkeypatch):
    monkeypatch.setenv("ROOFLAB_BACKEND", "cpu")


def test_timing_another_operation_does_not_pass():
    def half(cp, x, y, a):
        return exercise("01-cuda-axpy").reference(cp, x[: x.size // 2], y[: y.size // 2], a) * 2

    verdict = check("01-cuda-axpy", half)
    assert not verdict.passed and "enclose one axpy of the right size" in verdict.reason


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
    found = exercise("01-cuda-gemv")
    for factor, agrees in ((1.05, True), (1.5, False)):
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


# The timeline below a timing verdict: what the simulated GPU did, drawn from its log.


def mistaken(id, name):
    return next(m.wrong for m in exercise(id).misconceptions if m.name == name)


def test_the_words_say_what_lies_between_the_events():
    for id, mistake, said in (
        ("01-cuda-axpy", "no synchronise", "before the GPU had come to the second event"),
        ("01-cuda-axpy", "two kernels", "20 other kernels"),
        ("01-cuda-gemv", "warm L2", "100 % of the bytes came from L2"),
    ):
        assert said in check(id, mistaken(id, mistake)).picture.words


def test_the_time_above_the_two_lines_is_what_the_answer_read():
    verdict = check("01-cuda-gemv", exercise("01-cuda-gemv").reference)
    assert "29.0 µs" in ElementTree.fromstring(verdict.picture.svg).itertext()


def test_the_picture_is_no_part_of_the_data():
    verdict = check("01-cuda-axpy", exercise("01-cuda-axpy").reference)
    assert "picture" not in verdict.to_dict() and "<svg" not in repr(verdict)
    assert "<svg" in verdict._repr_html_()


def test_without_a_launch_there_is_nothing_to_draw():
    for answer in (..., 3, lambda *given: 1 / 0, lambda *given: 1e-3):
        assert check("01-cuda-axpy", answer).picture is None

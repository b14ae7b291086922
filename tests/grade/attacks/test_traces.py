"""Byte golf, timing and what is to be derived: attacks nobody had thought of, and the honest."""

import numpy as np
import pytest

import rooflab as rl
from rooflab.course.lesson01.exercises import GPUS
from rooflab.exercises.judge import judge
from rooflab.exercises.observe.collect import collect
from rooflab.exercises.registry import exercise
from rooflab.grade.inside import kernel
from rooflab.grade.intake import CodeCell, Submission
from rooflab.grade.lesson_notebook import lesson
from rooflab.grade.merge import merge
from rooflab.labs.cuda import Device
from rooflab.predict.catalogue import machine
from tests.grade.attacks import traces as attacks_traced
from tests.grade.support.small import RIGHT, SOON, honest, locked


def test_a_line_without_its_percent_is_no_magic(runner):
    """A cell that is no Python must not run as something else."""
    outcome = runner.run(locked(honest(0), "time f1 = lambda m, n: m * n"), SOON)
    assert outcome.observations["01-e1"] != RIGHT


def test_numbers_do_not_leave_the_trace():
    asked = exercise("02-golf-squares")
    cases = [{**case, "n": 9000} for case in asked.draw("escape")[:2]]
    for name, source in attacks_traced.ESCAPES.items():
        names = {"np": np}
        exec(compile(source, "cell", "exec"), names)
        found = judge(asked, cases, collect(asked.kind, cases, names["squares"]))
        assert not found.passed, (name, found)


def test_a_scratch_array_of_ones_own_is_no_escape():
    def squares(x):
        part, total = np.empty(2048, x.dtype), 0
        for i in range(0, len(x), 2048):
            k = len(x[i : i + 2048])
            np.multiply(x[i : i + 2048], x[i : i + 2048], out=part[:k])
            total += np.sum(part[:k])
        return total

    asked = exercise("02-golf-squares")
    cases = asked.draw("scratch")[:1]
    assert judge(asked, cases, collect(asked.kind, cases, squares)).passed


def test_the_numbers_of_golf_cannot_be_found_by_trying_all_seeds():
    asked = exercise("02-golf-axpy")
    drawn = asked.draw("x")[: -len(asked.fixed)]
    assert len(drawn) > 1 and min(case["seed"] for case in drawn) > 1 << 32


def test_published_figures_do_not_tell_what_a_stand_in_needs():
    """Whoever multiplies instead of timing is more than 10 % off on some device."""
    asked = exercise("01-cuda-axpy")
    shares = [
        case["device"]["bandwidth"] / published
        for seed in range(20)
        for case in asked.draw(seed)[: -len(asked.fixed)]  # the fixed ones are of no card
        for published in [_published(case["device"]["name"])]
    ]
    assert max(shares) / min(shares) > 1.4
    assert max(shares) < 0.9


def _published(name: str) -> float:
    devices = [Device.from_machine(machine(each)) for each in GPUS]
    return next(each.bandwidth for each in devices if each.name == name)


def handed_in(number, *cells):
    """The locked notebook of (source, exercise) cells."""
    made = tuple(CodeCell(source, n, id) for n, (source, id) in enumerate(cells, 1))
    return merge(Submission("f", "d", number, "Ada", made), lesson(number), 1)


def test_every_count_is_locked_with_one():
    kernel.lock(["gemm"])
    try:
        with pytest.raises(NotImplementedError, match="conv2d is locked"):
            rl.conv2d(1, 8, 8, 8, 8, 1)
    finally:
        kernel.unlock()
    assert rl.gemm(2, 3, 4).flops == 48


def test_what_an_answer_does_not_need_is_not_run():
    around = "slow = rl.this_machine()\ntable = make()\nother = make()\np = load()"
    answer = "def speed_limit(p, b, s):\n    return table[p] + slow"
    one = handed_in("01", (around, None), (answer, "01-speed-limit"))
    text = "\n".join(c.source for c in one.notebook.cells)
    assert "table = make()" in text
    assert "other" not in text and "load" not in text and "this_machine" not in text

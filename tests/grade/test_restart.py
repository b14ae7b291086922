"""A cell that ends its kernel costs its own exercise; the notebook goes on in a new kernel."""

from __future__ import annotations

import time
from dataclasses import replace

from nbformat.v4 import new_code_cell

from rooflab.grade import lesson_notebook, verdicts
from rooflab.grade.locked_notebook import CHECK, ENDED, check_source
from tests.grade.support.notebooks import changed, merged
from tests.grade.support.small import CASES, RIGHT, SOON, honest, left_over, locked

IN_THE_FUNCTION = "import os\ndef {}(*inputs):\n    os._exit(1)"
IN_THE_CELL = "import os\nos._exit(1)\ndef {}(*inputs): ..."


def graded(runner, answers, tmp_path):
    """The verdicts on lesson 01 with these answers in place of right ones, and the outcome."""
    outcome = runner.run(one := merged(tmp_path, changed(answers), 42))
    return verdicts.judge_outcome(one, outcome, lesson_notebook.lesson("01")), outcome


def again(made, name, number=10):
    """Add another try of the exercise ``name`` at the end of a notebook."""
    source = check_source(made.word(name), name, "function", CASES, f"f{name[-1]}", again=True)
    mark = {"role": CHECK, "exercise": name, "try": number}
    made.notebook.cells.append(new_code_cell(source, metadata={"rooflab": mark}))
    return made


def test_every_other_answer_of_a_lesson_keeps_its_points(runner, tmp_path):
    """What is to be derived is locked in the new kernel too."""
    borrowed = "def name(flops, nbytes, itemsize):\n    return rl.gemm(8, 8, 8).flops"
    answers = {
        "01-product": IN_THE_FUNCTION.format("product"),
        "01-speed-limit": IN_THE_CELL.format("speed_limit"),
        "01-name": borrowed,
    }
    found, outcome = graded(runner, answers, tmp_path)
    lost = {id: one.reason for id, one in found.items() if not one.passed}
    assert "derive this yourself" in lost.pop("01-name")
    assert lost == dict.fromkeys(
        ["01-product", "01-speed-limit"], ENDED.format("the kernel died (code 1)")
    )
    assert outcome.stopped is None


ENDS = [
    "import os\ndef f{0}(m, n):\n    os._exit({0})",
    "import os, threading\nthreading.Timer(0.3, os._exit, [{0}]).start()",
    "def f{0}(m, n):\n    while True:\n        try: f{0}(m, n)\n        except BaseException: pass",
]


def test_an_answer_that_ends_every_kernel_gains_no_time(runner):
    begin = time.monotonic()
    sources = [ENDS[number % 3].format(number) for number in range(12)]
    outcome = runner.run(locked(*sources), replace(SOON, wall=4))
    assert time.monotonic() - begin < 4 + 8
    assert not [id for id, seen in outcome.observations.items() if seen == RIGHT]
    assert len({*outcome.reasons} | {*outcome.observations}) == 12
    assert left_over(runner) == 0


def test_there_is_no_second_try_for_who_ended_the_kernel(runner):
    remembers = """
import os
def f1(m, n):
    if os.path.exists("been"): return m * n
    open("been", "w").close()
    os._exit(1)"""
    outcome = runner.run(again(locked(honest(0), remembers, honest(2)), "01-e1"), SOON)
    assert outcome.reasons["01-e1"].startswith(ENDED.format(""))
    assert outcome.observations == {"01-e0": RIGHT, "01-e2": RIGHT} and not outcome.again


def test_nor_for_who_had_answered_before(runner):
    """What was checked is not checked again, unless it raised: its helper may come later."""
    early = "def f0(m, n):\n    return helper(m, n)"
    late = f"{honest(3)}\nhelper = f3"
    made = locked(early, "def f1(m, n):\n    return 0", IN_THE_FUNCTION.format("f2"), late)
    outcome = runner.run(again(again(made, "01-e0"), "01-e1"), SOON)
    assert outcome.again == {"01-e0": {10: RIGHT}}
    assert outcome.observations["01-e3"] == RIGHT


def test_a_cell_that_did_not_end_in_time_is_not_run_in_the_new_kernel(runner):
    slow, look = "left = 1\nwhile True: pass", "return 0 if 'left' in globals() else m * n"
    last = f"def f4(m, n):\n    {look}"
    sources = [slow, slow + " ", slow + "  ", IN_THE_CELL.format("f3"), last]
    outcome = runner.run(locked(*sources), replace(SOON, wall=20, cell=0.3))
    assert outcome.observations["01-e4"] == RIGHT
    assert "01-e3" in outcome.reasons and outcome.stopped is None


def test_exit_costs_nothing_that_depends_on_how_busy_the_machine_is(runner):
    nap = "import time\ntime.sleep(0.3)\n"
    shuts = "get_ipython().kernel.do_shutdown(True)\n"
    answers = ("exit()\n" + honest(0), nap + honest(1), "quit()\n" + nap, shuts + nap, honest(4))
    outcome = runner.run(locked(*answers), SOON)
    assert [outcome.observations[f"01-e{n}"] == RIGHT for n in range(5)] == [1, 1, 0, 0, 1]
    assert not outcome.reasons and outcome.stopped is None

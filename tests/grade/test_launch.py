"""The runner with answers that are meant well, its limits, and its end."""

import contextlib
import json
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import psutil
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rooflab.grade import launch
from rooflab.grade.inside.limits import Limits
from rooflab.grade.launch import NotebookRunner, read_outcome
from rooflab.grade.locked_notebook import ENDED, LOST
from tests.grade.support.small import RIGHT, SOON, honest, left_over, locked

needs_bubblewrap = pytest.mark.skipif(launch.missing() is not None, reason="no bubblewrap")


SAID = "import rooflab as rl\nrl.mine.save(f5); rl.check('01-product', f5); rl.ask('x', 1)\n"


@pytest.fixture(scope="module")
def outcome(runner):
    """Of answers that are right, for the most part, and of what cells show and say beside them."""
    return runner.run(locked(
        honest(0),
        "def f1(m, n): return np.float64(m * n)",
        "print('\\x1b[31mred\\x1b[0m', '<b>'); print('x' * 20_000); 1 / 0",
        f'{honest(3)}\n"x" * 3_000_000',
        f'{honest(4)}\ndisplay("x" * 3_000_000)',
        f"{honest(5)}\n{SAID}f5 = rl.mine.f5",
    ), SOON)  # fmt: skip


def test_right_answers_come_back_as_plain_data(outcome):
    assert outcome.observations["01-e0"] == RIGHT
    assert outcome.observations["01-e1"] == [{"value": 6.0}, {"value": 35.0}]
    assert outcome.observations["01-e5"] == RIGHT, "what is said to learners does nothing here"
    assert not outcome.reasons
    assert outcome.stopped is None


def test_an_answer_cell_s_output_is_kept_without_colours_and_cut(outcome):
    assert outcome.printed["01-e2"].startswith("red <b>")
    assert outcome.printed["01-e2"].endswith("ZeroDivisionError: division by zero\n")
    assert len(outcome.printed["01-e2"]) < 5000
    assert outcome.observations["01-e2"][0]["error"] == "NameError: name 'f2' is not defined"


def test_a_huge_value_on_show_costs_nothing(outcome):
    assert outcome.observations["01-e3"] == outcome.observations["01-e4"] == RIGHT
    assert "…" in outcome.printed["01-e3"] and "…" in outcome.printed["01-e4"]


def test_submissions_share_nothing(runner):
    leave = f"import os, builtins\nbuiltins.left = open('/box/left', 'w').write('x')\n{honest(0)}"
    look = "import os\nf0 = lambda m, n: [hasattr(__builtins__, 'left'), os.listdir('/box')]"
    runner.run(locked(leave), SOON)
    seen = runner.run(locked(look), SOON).observations["01-e0"]
    assert seen[0]["value"][0] is False
    assert "left" not in seen[0]["value"][1]


def test_neighbours_at_the_same_time_do_not_disturb_each_other(runner):
    loop, bomb = "while True: pass", "import os\nwhile True: os.fork()"
    jobs = [locked(honest(0)), locked(loop), locked(honest(0)), locked(bomb), locked(honest(0))]
    with ThreadPoolExecutor(3) as pool:
        outcomes = list(pool.map(lambda job: runner.run(job, SOON), jobs))
    assert [o.observations.get("01-e0") == RIGHT for o in outcomes] == [1, 0, 1, 0, 1]
    assert left_over(runner) == 0


def test_the_same_random_numbers_are_not_drawn_in_every_kernel(runner):
    draw = locked("import random\nf0 = lambda m, n: [random.random(), np.random.rand()]")
    first, second = (runner.run(draw, SOON).observations["01-e0"] for _ in range(2))
    assert first != second


def test_the_wall_limit_ends_a_submission_and_keeps_what_came_before(runner):
    nap = "import time\n" + "try: time.sleep(0.9)\nexcept KeyboardInterrupt: time.sleep(0.9)\n" * 2
    begin = time.monotonic()
    outcome = runner.run(locked(honest(0), nap, nap, nap), replace(SOON, wall=2))
    assert outcome.observations["01-e0"] == RIGHT
    assert outcome.stopped and outcome.reasons["01-e3"] == outcome.stopped
    assert time.monotonic() - begin < 6 + SOON.wall


def test_functions_that_are_derived_are_locked_until_the_check(runner):
    use = "import rooflab as rl\nkept = rl.gemm\ndef f0(m, n): return kept(m, n, 1).flops / 2"
    lock = "from rooflab.grade.inside.kernel import lock\nimport numpy as np\nlock(['gemm'])"
    outcome = runner.run(locked(use, use.replace("f0", "f1"), given=lock), SOON)
    assert "derive this yourself" in outcome.observations["01-e0"][0]["error"]
    assert outcome.observations["01-e1"] == RIGHT, "unlocked by the check before"


@needs_bubblewrap
def test_without_nests_every_submission_gets_a_sandbox_of_its_own():
    with NotebookRunner(nested=False) as runner:
        assert not runner.nested
        orphan = "import subprocess\nsubprocess.Popen(['sleep', '99'], start_new_session=True)"
        bomb = "import os\nwhile True: os.fork()"
        long = replace(SOON, wall=30)  # every kernel takes seconds to start here
        outcome = runner.run(locked(honest(0), orphan, bomb, honest(3)), long)
        assert outcome.observations["01-e0"] == outcome.observations["01-e3"] == RIGHT
        assert "the kernel was stopped" in outcome.reasons["01-e2"]
        assert left_over(runner) == 0


def test_without_a_sandbox_limits_and_cleaning_up_still_hold():
    with NotebookRunner(unsafe=True) as runner:
        orphan = """
import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0: time.sleep(99)
    os._exit(0)"""
        ends = "import os; os._exit(3)"
        outcome = runner.run(locked(honest(0), orphan, ends, honest(3)), replace(SOON, wall=30))
        assert outcome.observations["01-e0"] == outcome.observations["01-e3"] == RIGHT
        assert outcome.reasons["01-e2"] == ENDED.format("the kernel died (code 3)")
        assert left_over(runner) == 0
    assert runner.run(locked(honest(0)), SOON).stopped == LOST, "closed, it starts nothing again"
    assert runner._child is None


GRADER = """
import sys
from rooflab.grade.launch import NotebookRunner
from tests.grade.support.small import locked
with NotebookRunner() as runner:
    print(runner.process_id, flush=True)
    runner.run(locked("while True: pass"))
"""


@needs_bubblewrap
def test_a_grader_that_is_killed_leaves_no_process_and_no_folder(tmp_path):
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    grader = subprocess.Popen([sys.executable, "-c", GRADER], stdout=subprocess.PIPE,
                              env=environment)  # fmt: skip
    worker = psutil.Process(int(grader.stdout.readline()))
    until = time.monotonic() + 20
    while len(family := worker.children(recursive=True)) < 6 and time.monotonic() < until:
        with contextlib.suppress(subprocess.TimeoutExpired):  # a look costs the grader its time
            grader.wait(0.05)
    grader.kill()
    grader.wait()
    gone, alive = psutil.wait_procs([worker, *family], timeout=10)
    assert len(gone) >= 7
    assert not alive
    assert not list(tmp_path.iterdir())


def test_an_answer_that_was_cut_off_is_nobodys_mistake():
    events = b'{"id": "01-a", "observations": [{"value": 1}]}\n' * 2
    head = json.dumps({"killed": None, "size": len(events)}).encode() + b"\n"
    assert read_outcome(head + events, ["01-a"]).observations
    cut = read_outcome((head + events)[:-1], ["01-a", "01-b"])
    assert (cut.stopped, set(cut.reasons)) == (LOST, {"01-a", "01-b"})


@settings(max_examples=30)
@given(st.binary(max_size=300))
def test_whatever_a_worker_says_every_exercise_has_an_outcome(noise):
    outcome = read_outcome(noise, ["01-a", "01-b"])
    assert set(outcome.observations) | set(outcome.reasons) == {"01-a", "01-b"}


@settings(max_examples=30)
@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text() | st.integers(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_observations_can_be_written_as_json_again(value):
    line = json.dumps({"id": "01-a", "observations": [{"value": value}, {"v": "\ud800"}]})
    outcome = read_outcome(b'{"killed": null}\n' + line.encode(), ["01-a"])
    json.dumps(outcome.observations["01-a"], ensure_ascii=False).encode("utf-8")


def test_limits_are_positive():
    for name in vars(Limits()):
        with pytest.raises(ValueError, match=name):
            Limits(**{name: 0})

"""The locked notebook: the lesson's order, the learner's answers, nothing that measures."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rooflab.exercises.check import check
from rooflab.exercises.registry import exercise, exercises
from rooflab.grade import lesson_notebook, verdicts
from rooflab.grade.locked_notebook import ANSWER, CHECK, ENDED, Outcome
from rooflab.grade.merge import secret
from rooflab.grade.notebook_code import kept, names
from rooflab.grade.verdicts import RIGHT, WRITTEN, right
from tests.grade.support import in_process
from tests.grade.support.notebooks import HALF, answer, changed, code, merged, solution
from tests.grade.support.small import one_long_case

LESSONS = sorted({each.lesson for each in exercises().values()})

PRODUCT = """def product(m, n, k, itemsize, accumulate=False):
    flops = 2 * m * n * k
    c = 2 if accumulate else 1
    moved = (m * k + k * n + c * m * n) * itemsize
    return flops, moved, flops / moved"""
KNOWN = {  # misconception → the change in the right answer that makes it
    "multiply-adds": ("2 * m * n * k", "m * n * k"),
    "elements for bytes": (" * itemsize", ""),
    "C always read": ("else 1", "else 2"),
    "upside down": ("flops / moved", "moved / flops"),
}


@pytest.fixture
def locked(tmp_path, monkeypatch):
    one_long_case(monkeypatch)

    return lambda notebook, seed=7: merged(tmp_path, notebook, seed)


def judged(one):
    return verdicts.judge_outcome(one, in_process.run(one), lesson_notebook.lesson(one.lesson))


def roles(one, role):
    return [c for c in one.notebook.cells if c.metadata["rooflab"]["role"] == role]


NOT_RUN = ("rl.measure(", "rl.ask(", "rl.live.", "rl.show.", "this_machine", "rl.check(")


@pytest.mark.parametrize("lesson", LESSONS)
def test_every_solution_gets_full_points_and_nothing_is_run_that_measures(lesson, locked):
    made = locked(solution(lesson), 12345)
    found = judged(made)
    assert {id: one.reason for id, one in found.items() if not one.passed} == {}
    source = "\n".join(c.source for c in made.notebook.cells)
    assert not [call for call in NOT_RUN if call in source]


def test_every_exercise_has_a_check_cell_with_a_word_of_its_own(locked):
    one = locked(solution("01"))
    checks = [c for c in roles(one, CHECK) if not c.metadata["rooflab"].get("try")]
    ids = [cell.metadata["rooflab"]["exercise"] for cell in checks]
    assert ids == list(lesson_notebook.lesson("01").order) == list(one.cases)
    words = {one.word(id) for id in ids}
    assert len(words) == len(ids)
    for cell, id in zip(checks, ids, strict=True):
        assert [word for word in words if word in cell.source] == [one.word(id)]
    assert locked(solution("01")).nonce != one.nonce


def test_hidden_cases_are_the_seeds_and_never_the_public_ones(locked):
    public = exercises()["01-product"].draw(0)
    assert locked(solution("01"), 0).cases["01-product"] != public
    assert locked(solution("01"), None).cases["01-product"] == public
    assert locked(solution("01"), 5).cases == locked(solution("01"), 5).cases
    assert locked(solution("01"), 5).cases != locked(solution("01"), 6).cases
    assert secret(5, "01-product") != secret(5, "01-name")


def test_a_deleted_answer_costs_itself_only(locked):
    notebook = solution("01")
    notebook["cells"].remove(answer(notebook, "01-name"))
    one = locked(notebook)
    assert "answer cell 01-name missing" in one.flags
    found = judged(one)
    assert [id for id, verdict in found.items() if not verdict.passed] == ["01-name"]
    assert "missing" in found["01-name"].reason


def test_of_two_answer_cells_the_last_one_counts(locked):
    for first, passes in ((True, True), (False, False)):
        notebook = solution("01")
        right = answer(notebook, "01-product")
        wrong = code(HALF, rooflab={"exercise": "01-product"})
        notebook["cells"].insert(notebook["cells"].index(right) + (not first), wrong)
        one = locked(notebook)
        assert any("the last one counts" in flag for flag in one.flags)
        assert judged(one)["01-product"].passed is passes


def test_an_answer_cell_may_be_split(locked):
    notebook = solution("01")
    whole = answer(notebook, "01-product")
    notebook["cells"].insert(
        notebook["cells"].index(whole), code("two = 2 * 1", rooflab={"exercise": "01-product"})
    )
    whole["source"] = "".join(whole["source"]).replace("2 * m * n * k", "two * m * n * k")
    assert judged(locked(notebook))["01-product"].passed


def test_strange_exercise_ids_are_left_out_with_a_remark(locked):
    notebook = solution("01")
    for id in ("03-time", "99-x", "09-count", "__proto__", ["01-product"], None, 3):
        notebook["cells"].append(code("raise SystemExit", rooflab={"exercise": id}))
    one = locked(notebook)
    assert any(flag.startswith("99-x") for flag in one.flags)
    assert any(flag.startswith("09-count: not asked any more") for flag in one.flags)
    assert all(verdict.passed for verdict in judged(one).values())


def limit(expression):
    """The lesson with that answer to 01-speed-limit."""
    return changed({"01-speed-limit": f"def speed_limit(p, b, s):\n    return {expression}"})


def test_the_lessons_imports_are_there_even_if_the_learner_deleted_them(locked):
    notebook = limit("p / b / rl.axpy(9).intensity * s / 4")
    notebook["cells"] = [c for c in notebook["cells"] if "import" not in "".join(c["source"])]
    assert judged(locked(notebook))["01-speed-limit"].passed


def test_a_learners_own_imports_constants_and_functions_are_there(locked):
    notebook = limit("math.prod([3, p, SIZE(s)]) / twice(b)")
    at = notebook["cells"].index(answer(notebook, "01-speed-limit"))
    size = code("%time\nSIZE = lambda size: int(size)\nx = open('/etc/x')")
    notebook["cells"].insert(at + 1, size)
    twice = code("import math\n\n\ndef twice(n):\n    return 2 * n\n\nprint(1)")
    notebook["cells"].insert(0, twice)
    assert judged(locked(notebook))["01-speed-limit"].passed


def test_a_known_mistake_costs_once(locked):
    for mistake, change in KNOWN.items():
        found = judged(locked(changed({"01-product": PRODUCT.replace(*change)})))
        assert [id for id, one in found.items() if not one.passed] == ["01-product"], mistake
        assert found["01-product"].misconception == mistake
        assert "a right product in place of yours" in found["01-claim-1365"].reason


WRONG = {
    "two at once": PRODUCT.replace(*KNOWN["multiply-adds"]).replace(*KNOWN["elements for bytes"]),
    "a slip of one's own": "def product(m, n, k, s, acc=False):\n    return 0, 1, 0",
    "no colon": "def product(m, n, k, s, acc=False)\n    return 0, 1, 0",
    "not answered": "def product(m, n, k, s, acc=False):\n    ...",
}


def test_any_mistake_costs_once(locked):
    for kind, product in WRONG.items():
        found = judged(locked(changed({"01-product": product})))
        assert [id for id, one in found.items() if not one.passed] == ["01-product"], kind
        assert (found["01-product"].misconception in KNOWN) is (kind == "two at once"), kind


def test_a_wrong_answer_costs_no_answer_that_calls_it(locked):
    for id in RIGHT:
        wrong = f"def {exercises()[id].name}(*inputs):\n    return -1"
        found = judged(locked(changed({id: wrong}, id[:2])))
        assert [each for each, one in found.items() if not one.passed] == [id]


def test_what_stands_in_for_an_answer_is_never_the_answer(locked):
    """Each takes what may stand in for it in another's last try."""
    thief = "_kept = {0}\ndef {0}(*inputs):\n    {1}\n    return _kept(*inputs)"
    answers = {"04-layer": thief.format("layer", "knee"), "04-knee": thief.format("knee", "layer")}
    found = judged(locked(changed(answers, "04")))
    assert not found["04-layer"].passed and not found["04-knee"].passed


def test_what_stands_in_is_right():
    names: dict = {}
    for id in RIGHT:
        exec(right(id, "f"), names)
        assert check(id, names["f"]).passed, id
    for text in WRITTEN.values():
        exec(text.replace("def answer", "def f"), names)
        count = names["f"].__code__.co_argcount
        assert names["f"](*(2.0, 3.0, 5.0)[:count]) == (2 / 3 if count == 2 else 3.0)


def test_points_are_carried_on_only_where_the_mistake_is_called(locked):
    """Not where the function is not called, nor where the claim has a mistake of its own."""
    for claim in ("4096**3 / (3 * 4096**2 * 4), 2", "product(4096, 4096, 4096, 4)[2], 4"):
        answers = {"01-product": HALF, "01-claim-1365": f"claim = {claim}"}
        found = judged(locked(changed(answers)))
        assert not found["01-product"].passed and not found["01-claim-1365"].passed


def test_what_is_kept_of_a_cell_calls_nothing():
    source = (
        "import os; import sys\n"
        "x = 3\n"
        "y = [z * 2 for z in 'ab']\n"
        "q = open('f')\n"
        "os.x = 1\n"
        "@d\n"
        "def f():\n"
        "    return 1\n"
        "x[0] = 2\n"
        "print(f())\n"
        "for i in x: pass\n"
        "w: int = 3\n"
        "v = x[0]\n"
        "g = lambda: open('f')"
    )
    assert kept(source).splitlines() == [
        "import os", "import sys", "x = 3", "y = [z * 2 for z in 'ab']",
        "@d", "def f():", "    return 1", "w: int = 3", "g = lambda: open('f')",
    ]  # fmt: skip
    assert kept("%%bash\nrm -rf x") == "" and kept("def f(:") == ""
    assert kept("x = " + "(" * 5000) == "" and kept("-" * 19_000 + "1") == ""
    python = 'x = (17\n% 5)\ny = """\n!no command\n"""'  # each line begins as a magic does
    assert kept(python) == python and kept(f"%time\n{'x = 3'}") == "x = 3"
    assert names("def f(n):\n    return flops(n) + g.h") >= {"flops", "g"}


def test_outcomes_from_nowhere_are_zeros_with_a_reason(locked):
    one, lesson = locked(solution("01")), lesson_notebook.lesson("01")
    cases = len(exercise("01-product").draw(0))
    for outcome, told in (
        (Outcome({}, {}, {}, "stopped after 45 s"), "stopped after 45 s"),
        (Outcome({}, {"01-product": "the kernel died"}), "the kernel died"),
        (Outcome({"01-product": [{"value": {"__class__": "x"}}] * cases}), "gave"),
        (Outcome({"01-product": []}), f"0 of {cases} cases"),
        (Outcome({"01-product": [{"error": "E: at 0x7f33aa " + "z" * 9000}] * cases}), "0x… "),
        (Outcome({"01-product": [3, None, [], "x", *[{}] * (cases - 4)]}), "nothing came back"),
    ):
        verdict = verdicts.judge_outcome(one, outcome, lesson)["01-product"]
        assert not verdict.passed and told in verdict.reason
        assert len(verdict.reason) <= verdicts.LONGEST and "\n" not in verdict.reason


def test_what_was_not_run_any_more_says_where_the_run_ended(locked):
    one, lesson = locked(solution("01")), lesson_notebook.lesson("01")
    gone = dict.fromkeys(lesson.order[2:], "the kernel died")
    seen = in_process.run(one).observations
    outcome = Outcome({id: seen[id] for id in lesson.order[:2]}, gone, {}, "the kernel died")
    found = list(verdicts.judge_outcome(one, outcome, lesson).values())
    assert [verdict.passed for verdict in found[:3]] == [True, True, False]
    assert found[2].reason == "the kernel died"
    gone[lesson.order[2]] = ENDED.format("the kernel died")
    assert verdicts.judge_outcome(one, outcome, lesson) == {v.exercise: v for v in found} | {
        lesson.order[2]: replace(found[2], reason=ENDED.format("the kernel died"))
    }
    assert {verdict.reason for verdict in found[3:]} == {
        "not run: the kernel died, in 01-speed-limit"
    }


def test_an_answer_cell_that_raised_or_did_not_end_is_told_so(locked):
    """Of a key that nobody pressed nothing is said."""
    one, no_name = locked(solution("00")), "NameError: name 'time' is not defined"
    outcome = in_process.run(one)

    def reason(error, printed=""):
        outcome.observations["00-time"] = [{"error": error}] * len(one.cases["00-time"])
        outcome.printed["00-time"] = printed
        found = verdicts.judge_outcome(one, outcome, lesson_notebook.lesson("00"))
        return found["00-time"].reason

    told = reason("KeyboardInterrupt")
    assert told.startswith("`time(k=") and told.endswith(verdicts.ENDLESS)
    there_is_none = "there is no time: its answer cell"
    assert reason(no_name, "so far\nKeyboardInterrupt: ") == f"{there_is_none} {verdicts.ENDLESS}"
    told = reason(no_name, "hello\nSyntaxError: expected ':' (3512.py, line 1)")
    assert told == f"{there_is_none} raised SyntaxError: expected ':' (line 1)"
    assert "answer cell raised ValueError: no" in reason(no_name, "ValueError: no")


def test_without_the_lessons_notebook_the_registry_gives_the_order(locked, tmp_path, monkeypatch):
    monkeypatch.setenv(lesson_notebook.ENV, str(tmp_path / "nothing"))
    assert all(one.passed for one in judged(locked(solution("01"))).values())
    assert len(roles(locked(solution("01")), ANSWER)) == 10

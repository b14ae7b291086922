"""A class that a script made: what it holds, how its faults are found, and how it survives kills.

The class of 200 and its twenty kills are ``python -m benchmarks.grading_class``; this one is small.
"""

from __future__ import annotations

import copy
import json
import sys
from contextlib import nullcontext
from functools import partial

import pytest

from rooflab.exercises.judge import judge
from rooflab.exercises.observe.collect import collect
from rooflab.exercises.registry import exercise
from rooflab.grade import lesson_notebook, report
from rooflab.grade import results as table
from rooflab.grade.inside.limits import Limits
from rooflab.grade.pipeline import grade as graded
from rooflab.grade.results import Results
from tests.grade.support import in_process
from tests.grade.support.bad_files import MISHANDLED, REFUSED
from tests.grade.support.classroom import LESSONS, classroom, faults, hand_in, tally
from tests.grade.support.interrupted import Kill, differing, killed_runs
from tests.grade.support.notebooks import answer, solution
from tests.grade.support.pupils import ATTACKS, MISTAKES, mistaken, spoiled
from tests.grade.support.watching import watch

FEW = ("os._exit in the function (ends the kernel)", "always equal (costs one exercise)")


def verdict_of(id, source):
    """The verdict on an answer cell, run right here."""
    names = {}
    exec("import math\nimport numpy as np\n" + source, names)
    cases = exercise(id).draw(7)
    answer = names[lesson_notebook.lesson(id[:2]).names[id]]
    return judge(exercise(id), cases, collect("function", cases, answer))


def test_a_class_of_200_holds_everything_once_and_mostly_honest_people():
    pupils = classroom(200)
    stories = [one.story for one in pupils if one.story]
    assert len(pupils) == 200 and len(stories) == len(set(stories))
    assert set(stories) == {*ATTACKS, *REFUSED, *MISHANDLED}
    counts = tally(pupils, [])
    assert counts["attack"] == len(ATTACKS) >= 40
    assert counts["honest"] >= 40 and counts["partly"] >= 30
    assert {one.lesson for one in pupils if one.kind == "attack"} == set(LESSONS)
    with pytest.raises(ValueError, match="count=20"):
        classroom(20)


def test_the_usual_mistakes_of_the_class_are_known_by_name():
    for id in MISTAKES:
        right = "".join(answer(solution(id[:2]), id)["source"])
        assert verdict_of(id, right).passed
        verdict = verdict_of(id, mistaken(id, right))
        assert not verdict.passed and verdict.misconception == MISTAKES[id][2]
        assert not verdict_of(id, spoiled(id, right)).passed
        with pytest.raises(ValueError, match="MISTAKES"):
            mistaken(id, "nothing of the kind")


def in_this_process(pupils, folder, out):
    files = sorted(hand_in(pupils, folder).glob("*.ipynb"))
    rows = graded(files, out, 3, lambda: nullcontext(in_process.run), limits=Limits())
    return Results.of(3, rows).to_dict()


@pytest.fixture(scope="module")
def peaceful(tmp_path_factory):
    """A class without attacks, and its results."""
    top = tmp_path_factory.mktemp("class")
    pupils = classroom(40, 1, lessons=("00", "01", "03"), attacks=())
    return pupils, top / "in", in_this_process(pupils, top / "in", top / "out")


def test_a_class_without_attacks_gets_what_it_deserves(peaceful):
    pupils, folder, results = peaceful
    assert faults(pupils, folder, results) == []
    assert len(results["submissions"]) == 40


def test_faults_of_a_grader_are_found(peaceful):
    pupils, folder, results = peaceful
    by_kind = {one.kind: one for one in pupils}

    def found(kind, change):
        bent = copy.deepcopy(results)
        row = next(r for r in bent["submissions"] if r["file"].endswith(by_kind[kind].file))
        change(row, bent["submissions"])
        return faults(pupils, folder, bent)

    def all_points(row, _):
        for mark in row["exercises"].values():
            mark["points"] = mark["max"]

    def none(row, _):
        next(iter(row["exercises"].values()))["points"] = 0

    assert "wrongly passed" in found("nothing", all_points)[0]
    assert "lost" in found("honest", none)[0]
    assert "lost" in found("honest", lambda row, _: row.update(error="the kernel died"))[0]
    assert "wrongly passed" in found("bad", lambda row, _: row.update(error=None))[0]
    assert "no row" in found("odd", lambda row, rows: rows.remove(row))[0]


ORPHAN = """
import subprocess, sys
subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
"""


def test_a_process_that_stays_is_seen_and_ended(tmp_path, monkeypatch):
    monkeypatch.setattr("tests.grade.support.watching.GONE", 0.2)
    seen = watch([sys.executable, "-c", ORPHAN], mark=tmp_path)
    assert (seen.code, seen.left) == (0, 1) and not seen.killed
    assert watch([sys.executable, "-c", "print('hello')"], mark=tmp_path).left == 0


def test_a_run_is_killed_at_its_moment(tmp_path):
    forever = [sys.executable, "-c", "import time; time.sleep(600)"]
    for when in ({"kill_after": 0.3}, {"look": lambda seconds: seconds > 0.3}):
        seen = watch(forever, mark=tmp_path, **when)
        assert seen.killed and seen.code == -9 and seen.left == 0 and seen.outside > 1e6


def test_killed_twice_nothing_is_lost_repeated_or_left(runner, tmp_path):
    pupils = classroom(6, 2, lessons=("00",), attacks=FEW, bad=("truncated", "cells moved"))
    files = hand_in(pupils, tmp_path / "in")
    words = ("--seed", "4", "--jobs", "2", "--timeout", "20")
    moments = (Kill(0, 1.0), Kill(2, 0.1))
    out, scratch = tmp_path / "out", tmp_path / "scratch"
    runs = list(killed_runs(files, out, scratch, *words, moments=moments, memory=False))
    assert [run.seen.left for run in runs] == [0, 0, 0]
    assert [run.seen.code for run in runs] == [-9, -9, 0]
    assert [run.again for run in runs] == [0, 0, 0]
    assert sum(run.finished for run in runs) == 5, "all but the refused one, each once"
    assert not list(scratch.iterdir()), "the last run clears up after the killed"

    whole = tmp_path / "whole"
    paths = sorted(files.glob("*.ipynb"))
    rows = graded(paths, whole, 4, lambda: nullcontext(runner.run), limits=Limits(wall=20))
    results = Results.of(4, rows)
    for write in (results.write, partial(table.write, results), partial(report.write, results)):
        write(whole)
    assert differing(whole, out) == []
    document = json.loads((out / "results.json").read_text("utf-8"))
    assert faults(pupils, files, document) == []

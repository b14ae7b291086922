"""The journal: a kill, a stop, a fault or a second grader loses nothing and repeats nothing."""

from __future__ import annotations

import gc
import json
import shutil
import subprocess
import sys
import threading
import weakref

import pytest

from rooflab.grade import intake, lesson_notebook, pipeline
from rooflab.grade.locked_notebook import LOST, Outcome
from rooflab.grade.pipeline import FOLDER, Journal, seed_for
from tests.grade.support import in_process
from tests.grade.support.in_process import counting, grade
from tests.grade.support.notebooks import HALF, REPOSITORY, changed

WRONG = {"01-product": HALF}


def test_what_is_finished_is_not_run_again(handed_in, tmp_path):
    calls = []
    first = grade(handed_in, tmp_path / "out", runner=counting(calls))
    assert len(calls) == 4
    assert grade(handed_in, tmp_path / "out", runner=None) == first, "no runner is even opened"
    handed_in[0].write_text(json.dumps(changed(WRONG)), encoding="utf-8")
    again = grade(handed_in, tmp_path / "out", runner=counting(calls))
    assert len(calls) == 5 and again[0].points == 24 and again[1:] == first[1:]
    grade(handed_in, tmp_path / "out", seed=8, runner=counting(calls))
    assert len(calls) == 9


def test_a_damaged_entry_is_graded_again(handed_in, tmp_path):
    first = grade(handed_in, tmp_path / "out")
    entries = sorted((tmp_path / "out" / FOLDER).glob("*.json"))
    for entry, text in zip(entries, ("", '{"file": 3}', "[1]", '{"verdicts": {"x": {}}}')):
        entry.write_text(text, encoding="utf-8")
    assert grade(handed_in, tmp_path / "out") == first


def test_a_stop_keeps_what_was_finished(handed_in, tmp_path):
    seen = []

    def stop(row):
        seen.append(row)
        if len(seen) == 3:  # the torn one and two that ran
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        grade(handed_in, tmp_path / "out", progress=stop)
    calls = []
    rows = grade(handed_in, tmp_path / "out", runner=counting(calls))
    assert len(calls) == 2 and [row.points for row in rows[:2]] == [28, 24]


def test_two_writers_leave_whole_entries(handed_in, tmp_path):
    ways = [threading.Thread(target=grade, args=(handed_in, tmp_path / "out")) for _ in range(2)]
    for way in ways:
        way.start()
    for way in ways:
        way.join()
    for entry in (tmp_path / "out" / FOLDER).iterdir():
        json.loads(entry.read_text("utf-8"))
    assert grade(handed_in, tmp_path / "out", runner=None)[0].points == 28


def test_a_runner_that_was_killed_gets_a_second_try(handed_in, tmp_path):
    lost = []

    def fragile(locked, limits):
        if len(locked.cases) > 1 and not lost:
            lost.append(True)
            return Outcome({}, {}, {}, LOST)
        return in_process.run(locked)

    assert grade(handed_in[:1], tmp_path / "out", runner=fragile)[0].points == 28


def test_who_was_lost_beside_others_is_run_alone_at_the_end(handed_in, tmp_path):
    order = []

    def fragile(locked, limits):
        if len(locked.cases) > 1:
            order.append(locked.lesson)
            if locked.lesson == "00" or order == ["03"]:
                return Outcome({}, {}, {}, LOST)
        return in_process.run(locked)

    files = [handed_in[3], handed_in[2], handed_in[0]]  # lost for a while, for good, right
    rows = grade(files, tmp_path / "out", runner=fragile)
    assert order == ["03", "00", "01", "03", "00"]
    assert [row.points for row in rows] == [22, 0, 28]
    assert rows[1].error == f"{LOST}, a second time with nothing beside it"
    assert grade(files, tmp_path / "out", runner=None) == rows, "and that is final"


def test_a_file_that_goes_away_is_a_row(handed_in, tmp_path):
    def remove(locked, limits):
        if len(locked.cases) > 1:
            handed_in[1].unlink(missing_ok=True)
        return in_process.run(locked)

    rows = grade(handed_in[:2], tmp_path / "out", runner=remove)
    assert [row.error for row in rows] == [None, "there is no such file"]


def test_of_a_class_only_one_notebook_a_job_is_held(handed_in, tmp_path, monkeypatch):
    held = []
    original = intake.Submission.__init__

    def counted(self, *told):
        original(self, *told)
        held.append(weakref.ref(self))

    monkeypatch.setattr(intake.Submission, "__init__", counted)
    most, kept = [], threading.Semaphore(2)  # for the known right answer and the first hand-in

    def run(locked, limits):
        assert kept.acquire(timeout=30)  # the thread that keeps rows may be late on a full machine
        gc.collect()  # a notebook's cells know their notebook: only the collector lets go of it
        most.append(sum(each() is not None for each in held))
        return in_process.run(locked)

    gc.freeze()  # what was there before takes no time
    grade(handed_in[:4], tmp_path / "out", runner=run, progress=lambda row: kept.release())
    gc.unfreeze()
    assert max(most) <= 3, "the known right answer's, the one that runs, the one just kept"


def test_a_grader_waits_for_another_one_in_the_same_folder(tmp_path):
    waited, went_on = threading.Event(), threading.Event()

    def second():
        with pipeline.alone(tmp_path, waited.set):
            went_on.set()

    with pipeline.alone(tmp_path):
        other = threading.Thread(target=second)
        other.start()
        assert waited.wait(10) and not went_on.is_set()
    other.join()
    assert went_on.is_set()


def test_the_lock_of_a_killed_grader_is_free_at_once(tmp_path):
    code = (
        "import sys, time; from pathlib import Path; from rooflab.grade import pipeline\n"
        "with pipeline.alone(Path(sys.argv[1])):\n    print('locked', flush=True); time.sleep(600)"
    )
    waited = []
    with subprocess.Popen([sys.executable, "-c", code, tmp_path], stdout=subprocess.PIPE) as other:
        try:
            assert other.stdout.readline() == b"locked\n"
            with pytest.raises(ZeroDivisionError), pipeline.alone(tmp_path, lambda: 1 / 0):
                pass
        finally:
            other.kill()
    with pipeline.alone(tmp_path, lambda: waited.append(1)):
        assert waited == []


def test_half_written_files_of_a_killed_grader_are_cleared_away(tmp_path):
    own = tmp_path / "mine.new"
    torn = [tmp_path / "results.json.0123abcd.new", tmp_path / FOLDER / "x.json.89abcdef.new"]
    (tmp_path / FOLDER).mkdir()
    for path in (own, *torn):
        path.touch()
    with pipeline.alone(tmp_path):
        assert own.exists() and not any(path.exists() for path in torn)


def test_a_lesson_that_was_run_and_saved_counts_as_the_same(handed_in, tmp_path, monkeypatch):
    notebooks = tmp_path / "notebooks"
    shutil.copytree(REPOSITORY / "notebooks", notebooks, ignore=shutil.ignore_patterns("sol*"))
    monkeypatch.setenv("ROOFLAB_NOTEBOOKS", str(notebooks))
    first = grade(handed_in, tmp_path / "out")
    (lesson,) = notebooks.glob("01_*.ipynb")
    notebook = json.loads(lesson.read_text("utf-8"))
    notebook["cells"] = [{**cell, "outputs": []} if "outputs" in cell else cell
                         for cell in notebook["cells"]]  # fmt: skip
    lesson.write_text(json.dumps(notebook), encoding="utf-8")
    lesson_notebook._lesson.cache_clear()
    pipeline._asked.cache_clear()
    assert grade(handed_in, tmp_path / "out", runner=None) == first


def test_a_drawn_seed_stays_for_the_next_run(tmp_path):
    drawn = seed_for(tmp_path, None)
    assert seed_for(tmp_path, None) == drawn < 2**53
    assert seed_for(tmp_path, 3) == 3 == seed_for(tmp_path, None)
    assert seed_for(tmp_path / "other", None) != drawn
    (tmp_path / FOLDER / "seed.json").write_text("torn{", encoding="utf-8")
    assert isinstance(seed_for(tmp_path, None), int)


def test_a_folder_that_cannot_be_written_is_said_at_once(tmp_path):
    (tmp_path / "out").write_text("a file")
    with pytest.raises(OSError, match="out"):
        Journal(tmp_path / "out", {})

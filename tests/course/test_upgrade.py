"""What learners have of rooflab 0.2.0 still opens, checks and grades; nothing of it is moved.

``learner_of_0_2_0`` was made with that version: guesses, mine.py, and lesson 01 to be handed in,
whole but for 01-speed-limit, where every number has 4 bytes.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import nbformat
import pytest

import rooflab as rl
from rooflab.exercises import discovery, guesses
from tests.grade.support.in_process import grade

LEARNER = Path(__file__).with_name("learner_of_0_2_0")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(LEARNER, tmp_path / "home")
    monkeypatch.setenv("ROOFLAB_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path / "home")
    return tmp_path / "home"


def test_guesses_are_read_where_they_lie(home: Path) -> None:
    files = sorted((home / "guesses").iterdir())
    assert rl.my_guesses().off_by == pytest.approx({"00-nine": 2.25, "01-speed-ratio": 300 / 99})
    assert [one.id for one in rl.my_guesses() if one.shown] == ["00-bend"]
    assert guesses.get("01-speed-ratio").later == (80,) and guesses.get("02-out").value == 1.5
    assert sorted((home / "guesses").iterdir()) == files


def test_mine_is_used(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ROOFLAB_MINE", raising=False)
    text = (home / "mine.py").read_text("utf-8")
    mine = type(rl.mine)()
    assert mine.product(2, 3, 5, 4)[0] == 60 and mine.time(8, 6, 2, 3) == 4
    assert (home / "mine.py").read_text("utf-8") == text


def test_a_hand_in_is_graded_and_checked_alike(tmp_path: Path) -> None:
    file = LEARNER / "01_three_operations.ipynb"
    (row,) = grade([file], tmp_path / "out")
    names: dict[str, object] = {}
    checked = {}
    for cell in nbformat.read(file, 4).cells:
        if "answer" in cell.metadata.get("tags", ()) or cell.source.startswith(("from", "import")):
            exec(cell.source, names)
        elif cell.source.startswith("rl.check("):
            verdict = eval(cell.source, names)
            checked[verdict.exercise] = verdict.passed
    assert checked == {id: one.passed for id, one in row.verdicts.items()}
    assert [id for id, passed in checked.items() if not passed] == ["01-speed-limit"]
    assert row.verdicts["01-speed-limit"].misconception == "4 bytes always"


def test_a_lesson_in_the_old_place_is_told_where_lessons_live(tmp_path, monkeypatch) -> None:
    old = tmp_path / "exercises" / "lessons" / "lesson42.py"
    old.parent.mkdir(parents=True)
    old.touch()
    monkeypatch.setattr(discovery, "_HOME", tmp_path)
    with pytest.raises(ImportError, match=r"lesson42.py is where .* rooflab/course/lesson42/ now"):
        discovery.lessons.__wrapped__()

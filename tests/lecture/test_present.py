"""A lecture keeps its own guesses: covered at first, and nothing reaches the lecturer's own."""

from __future__ import annotations

from pathlib import Path

import pytest

import rooflab as rl
from rooflab.exercises import guesses
from rooflab.lecture.present import lecture
from rooflab.show.waiting import say


def files(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in folder.glob("*.json")}


def confirm(axis, place: int) -> None:
    """What the browser sends when a guess is confirmed."""
    axis.set_trait("guess_at", place)
    axis.covered = False


def test_what_was_guessed_at_home_is_covered_when_the_lecture_begins(home) -> None:
    confirm(rl.ask("00-nine", 6.6), 120)
    asked = rl.ask("00-nine", 6.6)
    words = say("6.6 ms", after=asked)
    assert not asked.covered and not words.covered
    lecture()
    assert asked.covered and asked.value is None and words.covered
    assert rl.ask("00-nine", 6.6).covered, "a cell that is run again asks again"


def test_a_lecture_writes_nothing_into_ones_own_guesses(home) -> None:
    asked, looked = rl.ask("00-nine", 6.6), rl.ask("02-warm", 4)
    before = files(home)
    lecture()
    confirm(asked, 120)
    looked.covered = False  # R: shown without a guess
    rl.guess("01-speed-ratio", 4096)
    rl.ask("00-nine", 7.7)
    assert files(home) == before
    kept = guesses.get("00-nine")
    assert kept.value == asked.value and kept.measured == 7.7, "the lecture has them"
    assert guesses.get("02-warm").shown


def test_a_second_group_begins_covered_again(home) -> None:
    asked = rl.ask("00-nine", 6.6)
    lecture()
    confirm(asked, 120)
    lecture()
    assert asked.covered and guesses.get("00-nine") is None
    confirm(asked, 10)
    assert guesses.get("00-nine").measured == 6.6, "what was measured is known to every group"


def test_the_sorting_is_covered_too_and_says_how_many_cards_were_sorted(home) -> None:
    machine = rl.machine("h100-sxm")
    ops = [rl.axpy(2**28), rl.gemm(8192, 8192, 8192), rl.gemv(4096, 4096)]
    cards = rl.sort("03-ten", ops, machine=machine)
    lecture()
    assert cards.covered
    cards.placed = [face.bin for face in cards.faces][:2] + [-1]
    assert cards.show().head == "2 of the 2 sorted lie where the model puts them."
    assert [line[0] for line in cards.words.splitlines() if line[0] in "✓✗·"] == ["✓", "✓", "·"]
    assert not home.exists()
    lecture()
    assert cards.covered and cards.placed == [-1] * 3


def test_a_lecture_that_is_refused_covers_nothing(home) -> None:
    asked = rl.ask("00-nine", 6.6)
    confirm(asked, 120)
    with pytest.raises(ValueError, match="notebook='slides.pdf'"):
        lecture("slides.pdf")
    assert not asked.covered

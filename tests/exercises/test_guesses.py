"""Guesses: the first counts, and how far it was off is said."""

from __future__ import annotations

import math

import numpy as np
import pytest

from rooflab.exercises import ask, guesses
from rooflab.exercises.guesses import (
    Asked,
    Covered,
    Guess,
    Revealed,
    get,
    guess,
    outcome,
    question,
    questions,
    reveal,
    show_me,
)
from rooflab.exercises.my_guesses import my_guesses
from rooflab.show.guess_axis import SIDE, verdict
from rooflab.show.scene import Scene
from tests.support.scenes import named

ID = "01-speed-ratio"
pytestmark = pytest.mark.usefixtures("home")


def test_the_first_guess_counts_and_later_ones_are_history():
    assert guess(ID, 4096).value == 4096
    guess(ID, 13)
    known = guess(ID, 14)
    assert (known.value, known.later, known.shown) == (4096, (13, 14), False)
    guesses._store.cache_clear()  # like a restarted kernel
    assert get(ID) == known


def test_running_a_cell_twice_adds_nothing(home):
    guess(ID, 5), guess(ID, 5)
    assert get(ID).later == () and len(list(home.glob("*.json"))) == 1


def test_what_is_no_positive_number_is_refused_by_name(home):
    nothing = (0, -1, 0.0, math.inf, -math.inf, math.nan, np.nan, 10**400)
    others = (True, False, "12", None, [1], 1j)
    for value, error in (*((n, ValueError) for n in nothing), *((n, TypeError) for n in others)):
        with pytest.raises(error, match="guess"):
            guess(ID, value)
        with pytest.raises(error, match="measured"):
            outcome(ID, value)
        assert get(ID) is None and not home.exists()


@pytest.mark.parametrize("value", [1, 2.5, np.float32(4), np.int64(7)])
def test_numbers_of_any_kind_are_guesses(value):
    assert guess(ID, value).value == float(value)


def test_an_unknown_id_comes_with_suggestions():
    for call in (lambda: guess("01-speed-ration", 3), lambda: get("01-speed-ration")):
        with pytest.raises(ValueError, match="did you mean '01-speed-ratio'"):
            call()
    with pytest.raises(TypeError, match="id=3"):
        guess(3, 3)


def test_an_unanswered_cell_asks_and_records_nothing(home):
    asked = guess(ID, ...)
    assert isinstance(asked, Asked) and question(ID).text in repr(asked) and ID in repr(asked)
    assert not home.exists()


def test_off_by_is_a_factor_in_either_direction():
    guess(ID, 130)
    assert outcome(ID, 13).off_by == pytest.approx(10)
    assert outcome(ID, 1300).off_by == pytest.approx(10)
    assert "off by ×10, too low" in repr(get(ID)) and "1300" in repr(get(ID))
    assert "spot on" in repr(outcome(ID, 131))


def test_without_a_guess_there_is_no_score():
    assert outcome(ID, 13) is None
    known = guesses.reveal_without_guess(ID)
    assert known.shown and known.value is None and known.off_by is None
    assert repr(known) == "You looked without a guess; it is 13 times."
    assert guess(ID, 13).shown, "a guess after looking is still marked"


def test_run_all_leaves_the_result_covered():
    covered = reveal(ID, lambda: pytest.fail("computed for nothing"), measured=13)
    assert isinstance(covered, Covered)
    assert "13" not in repr(covered) and f'rl.guess("{ID}"' in repr(covered)


def test_a_guess_or_show_me_uncovers_it():
    guess(ID, 26)
    shown = reveal(ID, lambda: "the picture", measured=13)
    assert isinstance(shown, Revealed) and "the picture" in repr(shown)
    assert "off by ×2, too high" in repr(shown)
    other = "00-bend"
    assert "shown without a guess" in show_me(other)
    assert isinstance(reveal(other, 5), Revealed) and get(other).shown
    assert "You guessed" in show_me(ID) and not get(ID).shown


def test_a_result_shows_itself_in_a_notebook(capsys, monkeypatch):
    import IPython.display

    displayed = []
    monkeypatch.setattr(IPython.display, "display", displayed.append)
    guess(ID, 26)
    reveal(ID, 42)._ipython_display_()
    assert displayed == [42] and "You guessed 26" in capsys.readouterr().out


def spots(scene: Scene, name: str) -> list[float]:
    """The x of all marks of that name, in the order drawn."""
    return [float(mark.channels["at"][0]) for mark in scene.marks if mark.name == name]


def said(scene: Scene, name: str) -> str:
    """All words of that name, one after the other."""
    return " ".join(mark.channels["text"] for mark in scene.marks if mark.name == name)


def test_my_guesses_show_question_unit_guess_and_truth_on_a_gauge_each():
    assert "No guesses yet" in repr(my_guesses())
    assert my_guesses()._repr_mimebundle_() == ({"text/plain": repr(my_guesses())}, {})
    guess("00-nine", 54.64), outcome("00-nine", 6.6)
    guess("01-gemv-ratio", 30), outcome("01-gemv-ratio", 3)
    show_me("01-small-ratio"), outcome("01-small-ratio", 4)
    mine = my_guesses()
    assert mine.off_by == {"00-nine": pytest.approx(8.279, abs=1e-3), "01-gemv-ratio": 10}
    assert repr(mine).splitlines() == [
        question("00-nine").text,
        "    You guessed 54.6 ms, it is 6.6 ms: off by ×8.3, too high.",
        question("01-gemv-ratio").text,
        "    You guessed 30 times, it is 3 times: off by ×10, too high.",
        question("01-small-ratio").text,
        "    You looked without a guess; it is 4 times.",
    ]
    for scene in mine.picture.sheets:
        assert "00-nine" not in said(scene, "question")
        assert said(scene, "question").startswith(question("00-nine").text)
        assert said(scene, "sentence").endswith("You looked without a guess; it is 4 times.")
        assert len(spots(scene, "truth")) == 3 and len(spots(scene, "mine")) == 2
        assert len(named(scene, "axis")) == 3, "no axis of all as long as there are fewer than four"
    data, _ = mine._repr_mimebundle_()
    assert data["text/plain"] == repr(mine) and data["image/png"]
    assert len(mine) == 3 and all(isinstance(g, Guess) for g in mine)


def test_a_gauge_is_the_questions_own_log_axis_and_grows_for_what_lies_beyond():
    guess("00-nine", 10), outcome("00-nine", 100)
    drawn = my_guesses().picture.scene
    low, high = SIDE, drawn.width - SIDE
    third = (high - low) / 3
    assert spots(drawn, "mine") == pytest.approx([low + third], abs=0.1)
    assert spots(drawn, "truth") == pytest.approx([low + 2 * third], abs=0.1)
    assert said(drawn, "mine-says") == "your guess: 10 ms"
    assert said(drawn, "sentence") == "You guessed 10 ms, it is 100 ms: off by ×10, too low."
    outcome("00-nine", 1e5)
    assert spots(my_guesses().picture.scene, "truth") == [high]


def test_four_guesses_are_summed_up_and_each_ring_says_which_it_is():
    for id, value in {"00-nine": 20, "01-gemv-ratio": 30, "02-warm": 4, "02-out": 8}.items():
        guess(id, value), outcome(id, 10)
    assert [g.id for g in my_guesses("02")][:2] == ["02-out", "02-warm"]
    mine = my_guesses()
    assert mine.summary == "Half of your 4 guesses were off by ×2.2 or less."
    scene = mine.picture.scene
    assert scene.sentence() == mine.summary
    assert len(named(scene, "axis")) == 5 and len(named(scene, "gap")) == 4, "no line joins them"
    rings = [mark for mark in named(scene, "mine") if "point" in mark.look]
    told = [mark.look["point"] for mark in rings]
    assert all(one.endswith(verdict(g.value, 10, g.question.unit)) for one, g in zip(told, mine))
    off = np.log([mine.off_by[g.id] for g in mine])
    at = [float(mark.channels["at"][0]) for mark in rings]
    assert np.argsort(at).tolist() == np.argsort(off).tolist()


def test_looking_without_an_outcome_gives_words_without_a_gauge():
    show_me("00-bend")
    scene = my_guesses().picture.scene
    assert {mark.name for mark in scene.marks} == {"question", "sentence"}


def test_every_question_has_a_sensible_axis():
    for id, asked in questions().items():
        assert asked.lesson == id[:2] and 0 < asked.low < asked.high and asked.text.endswith("?")
        assert asked.high / asked.low >= 100, "too short an axis gives the answer away"


def test_the_axis_to_click_on_writes_into_the_same_store():
    axis = ask.ask(ID, 13.2)
    assert axis.covered and get(ID) is None
    axis.guess_at = 120
    axis.covered = False
    assert get(ID).value == axis.value and get(ID).measured == 13.2
    assert not ask.ask(ID, 13.2).covered, "a guess of an earlier session uncovers at once"
    with pytest.raises(ValueError, match="result"):
        ask.ask(ID, 0)


def test_who_multiplies_what_is_marked_is_told_so_after_the_guess():
    axis = ask.ask("00-nine", 6.6, marks={"one multiply-add": 5.4})
    said = {value: axis.plan.verdict(value) for value in axis.geometry["values"]}
    near = [at for at, words in said.items() if words.endswith("nine times as long as one.")]
    assert 40 < min(near) < 9 * 5.4 < max(near) < 59 and len(near) < len(said) / 10
    plan = ask.ask("00-nine", 6.6).plan
    bare = [plan.verdict(value) for value in plan.values]
    assert not any("multiplied" in words for words in bare), "of what, if nothing is marked?"

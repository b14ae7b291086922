"""Sorting operations into memory, compute and overhead: truth, score, store, bad input."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

import rooflab as rl
from rooflab.exercises.sorting import BINS, MOST, _packed, _unpacked, card, name, sort
from rooflab.measure.measurement import Measurement
from tests.support.machine import ROOFS

HERE = rl.Machine.from_roofs(
    ROOFS, id="here", name="A test machine",
    routines={
        f"{routine}/fp32": {"overhead_s": 2e-7, "cold_overhead_s": 2e-6, "points": []}
        for routine in ("axpy", "gemv", "gemm")
    },
)  # fmt: skip
# Known before any measuring: AXPY beyond every cache carries, a large product computes,
# 8³ is a call.
KNOWN = {
    (rl.axpy(2**24), "cold"): "memory", (rl.gemv(4096, 4096), "cold"): "memory",
    (rl.gemv(1024, 1024), "warm"): "memory", (rl.axpy(100_000), "warm"): "memory",
    (rl.gemm(1024, 1024, 1024), "cold"): "compute", (rl.gemm(256, 256, 256), "warm"): "compute",
    (rl.gemv(2048, 2048, batch=64, shared=("a",)), "cold"): "compute",
    (rl.axpy(256), "warm"): "overhead", (rl.gemv(32, 32), "warm"): "overhead",
    (rl.gemm(8, 8, 8), "warm"): "overhead",
}  # fmt: skip


def measured(op: rl.Operation, cache: str, factor: float = 1.0) -> Measurement:
    seconds = factor * float(rl.predict(op, HERE, cache=cache))
    return Measurement(op, "here", "cpu", cache, 1, (seconds,) * 5)


TEN = [measured(op, cache) for op, cache in KNOWN]
TRUTH = {name(op, cache): limit for (op, cache), limit in KNOWN.items()}


def test_the_truth_is_what_the_roofline_says_of_well_known_operations(home) -> None:
    cards = sort("03-ten", TEN, machine=HERE)
    assert {face.name: BINS[face.bin] for face in cards.faces} == TRUTH
    assert Counter(TRUTH.values()) == {"memory": 4, "compute": 3, "overhead": 3}


def test_cards_are_shuffled_alike_for_everybody(home) -> None:
    there = [face.name for face in sort("03-ten", TEN, machine=HERE).faces]
    back = [face.name for face in sort(" 03-TEN ", TEN[::-1], machine=HERE).faces]
    assert there == back != sorted(there)
    assert sorted(there) == sorted(TRUTH)
    limits = [TRUTH[each] for each in there]
    assert limits != sorted(limits), "the order does not give the bins away"


def test_run_all_leaves_it_covered_and_says_how_to_answer(home) -> None:
    cards = sort("03-ten", TEN, machine=HERE)
    text = repr(cards)
    assert cards.covered and cards.score == ""
    assert 'rl.sort("03-ten", …, answers=[…])' in text
    assert all(each in text for each in TRUTH)
    assert "GFLOP/s" not in text and "Carrying" not in text
    data, _ = cards._repr_mimebundle_()
    assert data["text/plain"] == text and data["image/png"]
    assert not home.exists(), "nothing was recorded"


def test_all_right_is_ten_of_ten_and_every_card_tells_time_rate_and_reason(home) -> None:
    cards = sort("03-ten", TEN, answers=TRUTH, machine=HERE)
    assert not cards.covered and cards.score == "10 of 10"
    text = repr(cards)
    assert text.startswith("10 of 10 lie where the model puts them.")
    assert text.count("Measured ") == 10 == text.count("FLOP/s")
    assert "✗" not in text
    assert "The call alone costs 200 ns, the work" in text
    assert "Carrying 4.20 MB from the L3 cache takes 70.0 µs" in text
    assert "Computing 2.15 GFLOP takes 17.9 ms" in text


def test_a_part_longer_than_the_whole_is_doubted():
    for op, cache, factor, doubt in (
        (rl.gemm(8, 8, 8), "warm", 0.6, "the usual call was timed in a busier moment"),
        (rl.gemv(1024, 1024), "warm", 0.5, "the bandwidth was measured in a busier moment"),
        (rl.gemm(1024, 1024, 1024), "cold", 0.1, "the library computes on a faster unit"),
    ):
        seen = measured(op, cache, factor)
        reason = card(op, cache, seen, HERE).reason
        assert f"But all of it took only {rl.si(seen.median_s, 's')} here: {doubt}" in reason
        assert "But all of it" not in card(op, cache, measured(op, cache, 1.1), HERE).reason


def test_less_than_a_tenth_of_difference_is_no_doubt() -> None:
    """The call of 200 ns beside a measured 190 ns, and beside 150 ns."""
    op, whole = rl.gemm(8, 8, 8), float(rl.predict(rl.gemm(8, 8, 8), HERE, cache="warm"))
    near, far = (card(op, "warm", measured(op, "warm", s / whole), HERE) for s in (19e-8, 15e-8))
    assert "busier" not in near.reason and "busier" in far.reason


def test_the_routine_is_blamed_where_it_accounts_for_the_clock_and_else_nobody() -> None:
    op = rl.gemm(1024, 1024, 1024)
    points = [{"smallest": 1024, "efficiency": 0.3}]
    slow = {"gemm/fp32": {"overhead_s": 0.0, "cold_overhead_s": 0.0, "points": points}}
    known = card(op, "cold", measured(op, "cold", 3.4), replace(HERE, routines=slow)).reason
    assert "none of the three alone, but the routine." in known
    unknown = card(op, "cold", measured(op, "cold", 3.4), HERE).reason
    assert "nothing that was measured explains it" in unknown and "routine" not in unknown
    assert "But" not in card(op, "cold", measured(op, "cold", 1.6), HERE).reason


def test_a_warning_stands_beside_the_number_it_is_about() -> None:
    seen = measured(rl.gemm(8, 8, 8), "warm")
    noisy = replace(seen, warnings=("noisy: the middle half spreads", "on battery: plug in"))
    assert card(seen.op, "warm", noisy, HERE).fact.endswith("FLOP/s, ⚠ noisy, ⚠ on battery")
    assert "⚠" not in card(seen.op, "warm", seen, HERE).fact


def test_answers_may_be_first_letters_in_the_printed_order(home) -> None:
    faces = sort("03-ten", TEN, machine=HERE).faces
    letters = [BINS[face.bin][0] for face in faces]
    assert sort("a", TEN, letters, machine=HERE).right < 11
    for given_answers in (
        letters,
        " ".join(letters),
        "".join(letters),
        [x.upper() for x in letters],
    ):
        assert sort("03-ten", TEN, given_answers, machine=HERE).score == "10 of 10"


def test_an_incomplete_sorting_stays_covered_and_is_not_kept(home) -> None:
    some = dict(list(TRUTH.items())[:4])
    cards = sort("03-ten", TEN, some, machine=HERE)
    assert cards.covered and cards.placed.count(-1) == 6
    assert sort("03-ten", TEN, dict.fromkeys(TRUTH, ...), machine=HERE).covered
    assert sort("03-ten", TEN, ..., machine=HERE).covered
    assert not home.exists()


def test_the_sorting_is_kept_and_comes_back_uncovered(home) -> None:
    wrong = dict.fromkeys(TRUTH, "memory")
    sort("03-ten", TEN, wrong, machine=HERE)
    again = sort("03-ten", TEN, machine=HERE)
    assert again.score == "4 of 10" and not again.covered
    sort("03-ten", TEN, wrong, machine=HERE)
    assert len(list(home.glob("03-ten.*.json"))) == 1, "the same again adds nothing"
    assert sort("03-ten", TEN[1:], machine=HERE).covered, "other cards are another question"
    assert sort("03-other", TEN, machine=HERE).covered


def test_what_the_browser_uncovers_reaches_the_store(home) -> None:
    cards = sort("03-ten", TEN, machine=HERE)
    cards.placed = [face.bin for face in cards.faces]  # what the browser sends, in this order
    cards.covered = False
    kept = json.loads(next(home.glob("*.json")).read_text())
    assert kept["what"] == "guess"
    assert sort("03-ten", TEN, machine=HERE).score == "10 of 10"


def test_looking_without_sorting_is_allowed_and_recorded(home) -> None:
    cards = sort("03-ten", TEN, machine=HERE).show()
    assert repr(cards).startswith("Shown without a sorting.")
    assert json.loads(next(home.glob("*.json")).read_text())["what"] == "shown"
    assert not sort("03-ten", TEN, machine=HERE).covered


def test_a_cell_that_is_run_again_opens_what_waits_for_its_first_cards(home) -> None:
    first, again = (sort("03-ten", [rl.axpy(256)], machine=HERE) for _ in range(2))
    other = sort("03-ten", [rl.axpy(512)], machine=HERE)
    again.placed = [2]
    again.covered = False
    assert not first.covered and first.placed == [2]
    assert other.covered, "other cards are another question"
    again.forget()
    assert first.covered and first.placed == [-1]


@given(st.lists(st.integers(0, 2), min_size=1, max_size=MOST))
def test_a_sorting_survives_being_stored_as_one_number(placed: list[int]) -> None:
    number = float(_packed(placed))
    assert number > 0 and number < 2**53
    assert _unpacked(number, len(placed)) == placed
    assert _unpacked(number, len(placed) + 1) is None
    assert _unpacked(-number, len(placed)) is None


def test_wrong_answers_are_named(home) -> None:
    for answers, error, message in (
        (["memory"], ValueError, "answers has 1 bins; there are 10 cards"),
        ({"GEMM 8×8×9, fp32, warm": "memory"}, ValueError, "the card.*did you mean"),
        (["menory"] * 10, ValueError, "answers: the bin='menory'.*did you mean 'memory'"),
        ([""] * 10, ValueError, "answers: the bin"),
        ([3] * 10, ValueError, "answers: the bin=3"),
        (7, TypeError, "answers=7 must be a list"),
    ):
        with pytest.raises(error, match=message):
            sort("03-ten", TEN, answers, machine=HERE)


def test_bad_input_is_named(home) -> None:
    for id, measurements, error, message in (
        (3, TEN, TypeError, "id=3 must be a text"),
        ("03-ten", [], ValueError, "0 cards; 1 to 20"),
        ("03-ten", [TEN[0], TEN[0]], ValueError, "is there twice"),
        ("03-ten", ["gemm"], TypeError, "'gemm' must be in a list of measurements"),
        ("03-ten", "gemm", TypeError, "measurements='gemm'"),
        ("03-ten", [(rl.axpy(8), "hot")], ValueError, "measurements: cache='hot' is unknown"),
    ):
        with pytest.raises(error, match=message):
            sort(id, measurements, machine=HERE)


def test_measurements_of_an_unknown_machine_ask_for_it(home, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("ROOFLAB_CACHE", str(tmp_path / "cache"))
    with pytest.raises(ValueError, match="the roofs of here are unknown; pass machine="):
        sort("03-ten", TEN)

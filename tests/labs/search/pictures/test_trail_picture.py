"""The trail of a search as a picture: what stands where is what was predicted and measured."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path

import numpy as np
import pytest

import rooflab as rl
from rooflab.labs.search.pictures.replay import MOST, Replay, numbers
from rooflab.labs.search.schedules.result import Search
from rooflab.show.scene import drawn
from rooflab.show.scene.player import Player
from tests.labs.search.support.machines import PLAIN
from tests.labs.search.support.searches import searched
from tests.support.machine import measurement
from tests.support.scenes import named, some_states, texts


@pytest.fixture(scope="module")
def picture() -> Player:
    return rl.search.trail(searched(), PLAIN)


def place(picture: Player, name: str, **state: object) -> np.ndarray:
    (mark,) = named(picture.scene, name)
    return picture.scene.value(mark, "at", **state)[:2]


def long_search(many: int, seed: int = 0) -> Search:
    """A search of many candidates, all of one schedule, that take seconds drawn by lot."""
    found, dice = searched(), np.random.default_rng(seed)
    like = found.measured[1]
    more = [
        dataclasses.replace(like, predicted=float(p), measured=float(m), round=n // 48)
        for n, (p, m) in enumerate(dice.uniform(1e-6, 9e-6, (many - 1, 2)))
    ]
    return dataclasses.replace(found, candidates=(found.naive, *more))


# What stands where.


def test_heights_are_measured_rates_on_a_log_axis(picture: Player) -> None:
    found = searched()
    ys = [place(picture, "now", candidate=n)[1] for n in range(len(found.measured))]
    rates = np.log([found.flops / one.measured for one in found.measured])
    slope, _ = np.polyfit(rates, ys, 1)
    assert slope < 0
    np.testing.assert_allclose(ys - ys[0], slope * (rates - rates[0]), atol=1e-6)


# A replay.


def test_the_favourite_and_the_fastest_are_those_of_all_so_far() -> None:
    found = searched()
    one = Replay.of(found)
    for n in range(1, len(found.measured) + 1):
        known = found.measured[:n]
        assert known[one.best(n)].measured == min(c.measured for c in known)
        assert known[one.hope(n)].predicted == min(c.predicted for c in known)


def test_a_predicted_winner_that_loses_is_named(picture: Player) -> None:
    found = searched()
    hope = min(found.measured, key=lambda one: one.predicted)
    assert hope is not found.winner
    said = picture.scene.sentence(view="prediction", candidate=60)
    rate = rl.si(found.flops / hope.measured, "FLOP/s")
    assert said.endswith(f"The one predicted fastest is {found.short(hope)}: it reaches {rate}.")
    at = found.measured.index(hope)
    np.testing.assert_array_equal(
        place(picture, "predicted", view="prediction"),
        place(picture, "now", view="prediction", candidate=at),
    )


def test_whole_runs_decide_at_the_end() -> None:
    found = searched()
    first, second = sorted(found.measured, key=lambda one: one.measured)[:2]
    finals = {first.log: 3e-6, second.log: 2e-6}
    changed = tuple(dataclasses.replace(one, final=finals.get(one.log)) for one in found.candidates)
    kept = dataclasses.replace(found, candidates=changed)
    assert kept.winner.log == second.log
    shown = rl.search.trail(kept, PLAIN)
    assert "It is the fastest so far." in shown.scene.sentence(candidate=0)
    assert f"Whole runs decide: the fastest is {kept.short(second)}, " in shown.sentence
    assert texts(shown, "head")[0] == f"fastest in whole runs: {rl.si(kept.flops / 2e-6, 'FLOP/s')}"


def test_every_state_has_its_sentence(picture: Player) -> None:
    for state in some_states(picture.scene):
        said = picture.scene.sentence(**state)
        assert said.startswith(f"Candidate {state['candidate'] + 1} of 61, ")
        assert said.endswith(".") and "nan" not in said
    assert picture.scene.sentence(candidate=0).startswith(
        "Candidate 1 of 61, as written: 3.28 GFLOP/s, predicted "
    )


def test_several_widths_have_a_button_each_and_a_short_search_stays_at_its_end() -> None:
    both = rl.search.trail({1: searched(1), 2: searched()}, PLAIN)
    last = len(both.scene.dim("candidate").stops) - 1
    assert both.scene.dim("beam").names == ["1", "2"]
    assert both.scene.sentence(beam="1", candidate=last).startswith("Candidate 10 of 10, ")
    assert both.scene.sentence(beam="2", candidate=last).startswith("Candidate 61 of 61, ")
    names = [mark.name for mark, _ in drawn(both.scene, beam="1", candidate=last)]
    assert names.count("candidate") == 10


# Many candidates, and those of others.


def test_of_many_candidates_every_record_stays() -> None:
    found = long_search(1000)
    one = Replay.of(found)
    kept, step = numbers([one])
    assert step == 7 and len(kept) <= MOST + 2 * (len(one.records) + 10)
    assert {place + 1 for place in one.fastest} | {place + 1 for place in one.favourite} <= {*kept}
    assert kept[-1] == 1000 and {n for n in kept if n % 7 == 0} == {*range(7, 1001, 7)}
    assert numbers([Replay.of(searched())]) == ([*range(1, 62)], 1)


def test_without_a_known_machine_there_is_no_peak() -> None:
    shown = rl.search.trail(searched())
    assert "level" not in {mark.name for mark in shown.scene.marks}
    assert shown.scene.notes[-1][1].startswith("No peak: ")
    assert shown.sentence.endswith("FLOP/byte.")
    assert shown.still().startswith(b"\x89PNG")


def test_the_machine_of_the_search_is_found_where_it_was_recorded(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("ROOFLAB_CACHE", str(tmp_path))  # this computer may have the same name
    recorded = rl.recording("epyc-2core-vm").machine
    found = dataclasses.replace(searched(1), machine=recorded.name, threads=recorded.threads)
    assert "a recording of" in rl.search.trail(found).scene.notes[-1][1]


def test_threads_that_differ_from_those_of_the_roofs_are_said() -> None:
    found = dataclasses.replace(searched(1), threads=2)
    told = rl.search.trail(found, PLAIN).scene.notes[-1][1]
    assert told.endswith("They are those of 1 thread; the search could use 2.")


def test_a_peer_is_a_line_at_its_rate() -> None:
    found = searched(1)
    timed = measurement(rl.gemm(32, 32, 32), "here", 65536 / 5e10)
    for peer, says in (
        (5e10, "library 50.0 GFLOP/s"),
        (timed, "50.0 GFLOP/s"),
        ({"OpenBLAS": timed}, "OpenBLAS 50.0 GFLOP/s"),
    ):
        shown = rl.search.trail(found, PLAIN, peer=peer)
        assert texts(shown, "level name")[0].startswith("peak ")
        assert texts(shown, "level name")[1].endswith(says)
        _, line = named(shown.scene, "level")
        y = shown.scene.value(line, "points")[1]
        naive = place(shown, "now", candidate=0)[1]
        fastest = place(shown, "fastest")[1]
        share = math.log(5e10 / (found.flops / found.naive.measured))
        whole = math.log(found.naive.measured / found.winner.measured)
        assert y == pytest.approx(naive + share / whole * (fastest - naive))


def test_a_search_of_one_candidate_is_a_point() -> None:
    found = searched()
    shown = rl.search.trail(dataclasses.replace(found, candidates=(found.naive,)), PLAIN)
    assert shown.sentence.startswith("Candidate 1 of 1, as written: ")
    assert shown.still().startswith(b"\x89PNG")


def test_a_candidate_without_a_prediction_stands_nowhere_across() -> None:
    found = searched(1)
    bare = dataclasses.replace(found.winner, predicted=None, bytes={})
    kept = tuple(bare if one is found.winner else one for one in found.candidates)
    shown = rl.search.trail(dataclasses.replace(found, candidates=kept), PLAIN)
    assert np.isnan(place(shown, "fastest", view="prediction")[0])
    assert not np.isnan(place(shown, "fastest")).any()
    assert shown.sentence.endswith("Nothing says how many bytes it takes.")


def test_the_note_says_what_is_left_out() -> None:
    def told(found: Search) -> str:
        (words,) = rl.search.trail(found, PLAIN).scene.notes[0][1].values
        return words

    assert told(searched()).startswith("Each schedule that was measured is a dot. 1 schedule more")
    assert told(long_search(600)).startswith("One in 4 schedules is a dot, and so is each record.")


# What cannot be drawn.


def test_refused_with_a_reason() -> None:
    found, bare = searched(), rl.Machine("bare", kind="cpu", peaks={"fp64": 1e9}, bandwidths=1e9)
    other = dataclasses.replace(searched(1), text="C[i,j] += B[i,k]*A[k,j]")
    for wrong, said in (
        (lambda: rl.search.trail(dataclasses.replace(found, timed=False)), "another measure than"),
        (lambda: rl.search.trail({}), "is empty"),
        (lambda: rl.search.trail({2: found, 1: other}), "of different nests"),
        (lambda: rl.search.trail(found, bare), "no fp32 figure"),
        (lambda: rl.search.trail(found, PLAIN, peer=0), "peer=0 must be a positive"),
    ):
        with pytest.raises(ValueError, match=said):
            wrong()
    for wrong, said in (
        (lambda: rl.search.trail(7), "found=7 is no search"),
        (lambda: rl.search.trail({1: 7}), "found\\[1\\]=7 is no search"),
        (lambda: rl.search.trail(found, PLAIN, peer="fast"), "peer='fast' must be a Measurement"),
    ):
        with pytest.raises(TypeError, match=said):
            wrong()


def test_the_bytes_are_those_of_a_level_at_which_schedules_differ() -> None:
    """Operands that fit a cache cross the memory once in every schedule."""
    for step, said in ((0, "from L"), (1, "from memory")):
        found = searched(1)
        moved = [
            {**one.bytes, "dram": 1e6 * (1 + step * n)} for n, one in enumerate(found.candidates)
        ]
        several = [dataclasses.replace(one, bytes=b) for one, b in zip(found.candidates, moved)]
        assert (
            said in rl.search.trail(dataclasses.replace(found, candidates=tuple(several))).sentence
        )


def test_the_steps_rise_with_each_record_and_end_at_the_current_candidate(picture: Player) -> None:
    one, (line,) = Replay.of(searched()), named(picture.scene, "steps")
    for n in range(0, len(one.tried), 7):
        corners = np.reshape(picture.scene.value(line, "points", candidate=n), (-1, 2))
        assert (np.diff(corners[:, 0]) >= 0).all() and (np.diff(corners[:, 1]) <= 0).all()
        levels = np.unique(corners[:, 1])
        assert len(levels) == sum(place <= n for place, _ in one.steps)
        assert corners[-1, 0] == place(picture, "now", candidate=n)[0]


def test_the_loops_are_those_of_the_fastest_and_what_the_last_step_changed_is_in_colour() -> None:
    picture, one = rl.search.trail(searched(), PLAIN), Replay.of(searched())
    first, second = one.records[:2]
    rows = named(picture.scene, "loops")
    assert [picture.scene.value(row, "text", candidate=0) for row in rows[:4]] == [
        "for i in range(32):", " for j in range(32):", "  for k in range(32):",
        "   C[i,j] += A[i,k]*B[k,j]",
    ]  # fmt: skip
    inks = {picture.scene.value(row, "fill", candidate=0) for row in rows}
    assert inks == {"ink"}
    now = [(picture.scene.value(row, "text", candidate=second[0]).strip(),
            picture.scene.value(row, "fill", candidate=second[0])) for row in rows]  # fmt: skip
    old = {line.strip() for line in one.listings[first[1]]}
    assert {line for line, ink in now if ink == "key"} == {line for line, _ in now} - old - {""}
